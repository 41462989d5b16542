/* Walks every string that may be edited, of requests built from every session and of recorded
 * request bodies, and proves with a walker of its own that none of them is control plane: ids,
 * order, signatures, encrypted content, names, arguments. */
#include "tests/control_plane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "tests/traces.h"
#include "weir/weir.h"

struct counts {
    size_t requests, segments, parts, results, control_values, editable_bytes;
};

/* The string node between whose quotes `range` lies, or NONE; `from` is where the search begins. */
static wr_json_id node_at(const struct wr_json *doc, weir_range range, wr_json_id *from)
{
    wr_json_id i = *from;
    while (i < doc->nodes_count && doc->nodes[i].start + 1 < range.start)
        i++;
    *from = i;
    if (i == doc->nodes_count || doc->nodes[i].kind != WR_JSON_STRING)
        return WR_JSON_NONE;
    bool is_same = doc->nodes[i].start + 1 == range.start && doc->nodes[i].end - 1 == range.end;
    return is_same ? i : WR_JSON_NONE;
}

static void check_segment(const struct wr_json *doc, const bool *is_control,
                          const struct weir_segment *segment, weir_dialect dialect,
                          wr_json_id *from, struct counts *counts)
{
    assert_true(segment->span.start <= segment->span.end && segment->span.end <= doc->text.len);
    counts->results += segment->kind == WEIR_KIND_TOOL_RESULT;
    for (uint32_t i = 0; i < segment->parts_count; i++) {
        weir_range part = segment->parts[i];
        wr_json_id node = node_at(doc, part, from);
        if (node == WR_JSON_NONE)
            fail_msg("bytes %u to %u may be edited and are no string", part.start, part.end);
        bool is_payload = dialect == WEIR_DIALECT_GEMINI ? control_is_gemini_payload(doc, node)
                          : dialect == WEIR_DIALECT_CONVERSE
                              ? control_is_converse_payload(doc, node)
                              : !is_control[node] && control_is_payload_path(doc, node);
        if (!is_payload)
            fail_msg("the string at byte %u may be edited and is control plane: %.*s", part.start,
                     (int)(part.end - part.start), doc->text.ptr + part.start);
        counts->parts++;
        counts->editable_bytes += part.end - part.start;
    }
}

static void check_segments(struct weir_request *request, const struct wr_json *doc,
                           const bool *is_control, struct counts *counts)
{
    wr_json_id from =
        0; /* segments come in the order of the body but for what stands beside the list */
    size_t results_before = counts->results;

    for (uint32_t i = 0; i < weir_request_segments(request); i++) {
        struct weir_segment segment;
        assert_int_equal(weir_request_segment(request, i, &segment), WEIR_OK);
        if (segment.parts_count && segment.parts[0].start < doc->nodes[from].start)
            from = 0;
        check_segment(doc, is_control, &segment, weir_request_dialect(request), &from, counts);
        counts->segments++;
    }
    struct control_results expected = control_count_results(doc, weir_request_dialect(request));
    assert_int_equal(expected.count_min, expected.count_max);
    assert_int_equal(counts->results - results_before, expected.count_min);
}

static void check_body(weir_span body, const char *dialect, struct counts *counts)
{
    struct weir_request_options options = {.dialect = dialect};
    struct weir_request *request;
    struct weir_err err;
    struct wr_arena arena;
    struct wr_json doc;
    weir_span written;

    if (weir_request_new(body, &options, &request, &err))
        fail_msg("%s, byte %zu", err.text, err.at_byte);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, body, NULL, NULL), WEIR_OK);
    bool *is_control = WR_ARENA_ARRAY(&arena, bool, doc.nodes_count);
    assert_non_null(is_control);
    control_plane_mark(&doc, is_control);
    for (wr_json_id i = 0; i < doc.nodes_count; i++)
        counts->control_values += is_control[i] && !doc.nodes[i].is_key;
    check_segments(request, &doc, is_control, counts);
    counts->requests++;

    assert_int_equal(weir_request_write(request, &written, NULL, NULL), WEIR_OK);
    assert_true(wr_span_eq(written, body));
    wr_arena_release(&arena);
    weir_request_free(request);
}

static void print_counts(const char *of, const struct counts *c)
{
    printf("note: %s: %zu requests, %zu segments, %zu of them results; %zu editable strings (%zu "
           "bytes) "
           "beside %zu control-plane values\n",
           of, c->requests, c->segments, c->results, c->parts, c->editable_bytes,
           c->control_values);
}

/* The last request a session has: everything before its last answer. */
static void check_session(const struct wr_session *session, struct counts *counts)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};

    for (size_t i = 0; i < WR_COUNT_OF(dialects) && session->requests_count; i++) {
        struct wr_session_request request = {
            .dialect = dialects[i],
            .messages_count = session->requests[session->requests_count - 1],
            .model = "m",
            .with_tools = true,
        };
        struct wr_buf body;
        wr_buf_init(&body, WR_JSON_BODY_BYTES_MAX);
        wr_session_write(session, &request, &body);
        assert_int_equal(wr_buf_status(&body), WEIR_OK);
        check_body(wr_buf_view(&body), weir_dialect_name(dialects[i]), counts);
        wr_buf_release(&body);
    }
}

static void no_editable_string_of_a_session_is_control_plane(void **state)
{
    struct traces traces;
    struct counts counts = {0};
    (void)state;

    traces_open(&traces);
    for (size_t i = 0; i < traces.count; i++) {
        struct wr_arena arena;
        struct wr_buf text;
        struct wr_session session;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        traces_read(&traces, i, &text, &arena, &session);
        check_session(&session, &counts);
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
    traces_close(&traces);
    print_counts("sessions", &counts);
    assert_true(counts.requests && counts.parts && counts.results);
}

/* Scenarios with turns, each with the request body it sent. */
static void check_scenarios(const struct wr_json *doc, struct counts *counts)
{
    wr_json_id scenarios = wr_json_find(doc, 0, "scenarios");
    for (wr_json_id s = wr_json_first(doc, scenarios); s != WR_JSON_NONE;
         s = wr_json_next(doc, scenarios, s)) {
        wr_json_id turns = wr_json_find(doc, s, "turns");
        for (wr_json_id t = wr_json_first(doc, turns); t != WR_JSON_NONE;
             t = wr_json_next(doc, turns, t)) {
            wr_json_id request = wr_json_find(doc, t, "request");
            if (wr_json_is(doc, request, WR_JSON_OBJECT))
                check_body(wr_json_raw(doc, request), NULL, counts);
        }
    }
}

static void no_editable_string_of_a_recorded_body_is_control_plane(void **state)
{
    struct wr_arena arena;
    struct wr_buf text;
    struct wr_json doc;
    struct counts counts = {0};
    (void)state;

    wr_buf_init(&text, WR_JSON_BODY_BYTES_MAX);
    if (!wr_test_file("../shared/fixtures/prodex-replay.json", &text)) {
        wr_buf_release(&text);
        skip();
    }
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&text), NULL, NULL), WEIR_OK);
    check_scenarios(&doc, &counts);
    wr_arena_release(&arena);
    wr_buf_release(&text);
    print_counts("recorded bodies", &counts);
    assert_true(counts.requests && counts.parts && counts.results);
}

/* The walker itself: what it must call control plane, and what not. */
static void the_walker_knows_the_control_plane(void **state)
{
    static const struct {
        const char *json;
        wr_json_id node;
        bool is_control, is_payload;
    } rows[] = {
        {"{\"messages\":[{\"content\":\"a\"}]}", 5, false, true},
        {"{\"messages\":[{\"content\":\"a\"}]}", 4, true, false},
        {"{\"messages\":[{\"id\":\"a\"}]}", 5, true, false},
        {"{\"messages\":[{\"x\":\"a\"}]}", 5, false, false},
        {"{\"messages\":[{\"data\":[[\"a\"]]}]}", 7, true, false},
        {"{\"input\":[\"a\"]}", 3, false, true},
        {"{\"input\":[{\"input\":\"a\"}]}", 5, true, true},
        {"{\"input\":[{\"text\":\"a\",\"type\":\"reasoning\"}]}", 5, true, true},
        {"{\"input\":[{\"type\":\"thinking\",\"type\":\"text\",\"text\":\"a\"}]}", 9, true, true},
        {"{\"messages\":[{\"type\":\"thinking\",\"content\":\"a\"}]}", 7, false, true},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_arena arena;
        struct wr_json doc;
        bool is_control[32];
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_json_parse(&doc, &arena, wr_span_of(rows[i].json), NULL, NULL),
                         WEIR_OK);
        control_plane_mark(&doc, is_control);
        bool is_payload =
            !doc.nodes[rows[i].node].is_key && control_is_payload_path(&doc, rows[i].node);
        if (is_control[rows[i].node] != rows[i].is_control || is_payload != rows[i].is_payload)
            fail_msg("%s, node %u", rows[i].json, rows[i].node);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_walker_knows_the_control_plane),
        cmocka_unit_test(no_editable_string_of_a_session_is_control_plane),
        cmocka_unit_test(no_editable_string_of_a_recorded_body_is_control_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
