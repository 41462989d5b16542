#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "weir/weir.h"

/* ---- changing ---- */

/* Changing and writing by the public interface. */

enum { BYTES_MAX = 256 << 20, MANY = 100 * 1000 };

#define MODEL_AND_RESULT(blocks)                                                              \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"u\"},"                   \
    "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"n\"}}]}," \
    "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[" blocks "]}]}"
#define TEXT(t)        "{\"type\":\"text\",\"text\":\"" t "\"}"
#define BODY           MODEL_AND_RESULT(TEXT("one\\n") "," TEXT("two"))
#define BODY_EDITED(t) MODEL_AND_RESULT(TEXT(t))

static struct weir_request *read_body(weir_span body)
{
    struct weir_request *request;
    struct weir_err err = {0};
    if (weir_request_new(body, NULL, &request, &err))
        fail_msg("%s at byte %zu", err.text, err.at_byte);
    return request;
}

static const struct {
    const char *behaviour, *body, *dialect;
    weir_status status;
    const char *text;
} refused[] = {
    {"nothing is no request", "", NULL, WEIR_SYNTAX, ""},
    {"half a body is no request", "{\"messages\":[", NULL, WEIR_SYNTAX, ""},
    {"a list is no request", "[]", NULL, WEIR_INVALID, "JSON object"},
    {"an empty object is no request", "{}", NULL, WEIR_INVALID, "no `messages`"},
    {"messages must be a list", "{\"messages\":{}}", "chat", WEIR_INVALID, "must be an array"},
    {"a dialect must be one of ours", "{\"messages\":[]}", "hermes", WEIR_INVALID, "no dialect"},
};

static void wrong_bodies_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(refused); i++) {
        struct weir_request_options options = {.dialect = refused[i].dialect};
        struct weir_request *request = NULL;
        struct weir_err err = {0};
        weir_span body = wr_span_of(refused[i].body);
        weir_status status = weir_request_new(body, &options, &request, &err);
        if (status != refused[i].status || request || err.code != status ||
            !strstr(err.text, refused[i].text))
            fail_msg("not so: %s: %s", refused[i].behaviour, err.text);
        assert_int_equal(weir_request_new(body, &options, &request, NULL), status);
    }
    weir_request_free(NULL);
}

static void no_edit_gives_the_very_bytes(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    struct weir_write_report report;
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_write(request, &body, &report, NULL), WEIR_OK);
    assert_true(wr_span_is(body, BODY));
    assert_int_equal(report.rolled_back_count, 0);
    assert_int_equal(report.first_segment, WEIR_NONE);
    assert_null(report.first_reason);
    weir_request_free(request);
}

static void edits_are_copied_and_written(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    char mine[] = "short";
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_edit(request, 2, wr_span_of(mine), NULL), WEIR_OK);
    memset(mine, 'x', sizeof(mine) - 1);
    assert_int_equal(weir_request_write(request, &body, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(body, BODY_EDITED("short")));
    weir_request_free(request);
}

static void what_was_written_can_be_taken_out(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    struct wr_buf taken, nothing;
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_edit(request, 2, WR_LIT("short"), NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &body, NULL, NULL), WEIR_OK);
    assert_true(wr_request_take_output(request, body, &taken));
    assert_false(wr_request_take_output(request, body, &nothing)); /* it has gone */
    assert_false(wr_request_take_output(request, wr_span_of(BODY), &nothing));
    weir_request_free(request);
    assert_true(wr_span_is(wr_buf_view(&taken), BODY_EDITED("short")));
    wr_buf_release(&taken);
}

static void what_cannot_be_edited_is_refused(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    struct weir_err err = {0};
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_edit(request, 1, WR_LIT("x"), &err), WEIR_INVALID);
    assert_int_equal(weir_request_edit(request, 7, WR_LIT("x"), &err), WEIR_INVALID);
    assert_int_equal(weir_request_edit(request, 2, WR_LIT("ab\xFF"), &err), WEIR_INVALID);
    assert_non_null(strstr(err.text, "not UTF-8 from its byte 2 on"));
    assert_int_equal(weir_request_drop(request, 7, &err), WEIR_INVALID);
    assert_int_equal(weir_request_edit(request, 2, WR_LIT("x"), NULL), WEIR_OK);
    assert_int_equal(weir_request_drop(request, 1, NULL), WEIR_INVALID);
    assert_int_equal(weir_request_write(request, &body, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(body, BODY_EDITED("x")));
    weir_request_free(request);
}

/* A refused edit costs nothing but itself; corrected, the request can be written again. What was
 * written before lives on. */
static void a_request_is_written_again(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    struct weir_write_report report;
    weir_span first, second, third;
    (void)state;

    assert_int_equal(weir_request_edit(request, 2, WR_LIT(""), NULL), WEIR_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(weir_request_write(request, &first, &report, NULL), WEIR_OK);
        assert_true(wr_span_is(first, BODY));
        assert_int_equal(report.rolled_back_count, 1);
        assert_false(report.is_fallback);
        assert_int_equal(report.first_segment, 2);
        assert_string_equal(report.first_reason, "its text became empty");
    }
    assert_int_equal(weir_request_edit(request, 2, WR_LIT("x"), NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &second, &report, NULL), WEIR_OK);
    assert_null(report.first_reason);
    assert_int_equal(weir_request_edit(request, 0, WR_LIT("another text of the user"), NULL),
                     WEIR_OK);
    assert_int_equal(weir_request_write(request, &third, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(first, BODY));
    assert_true(wr_span_is(second, BODY_EDITED("x")));
    assert_int_equal(third.len, second.len + strlen("another text of the user") - 1);
    weir_request_free(request);
}

static void a_structure_that_would_be_wrong_falls_back(void **state)
{
    static const char one[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"}]}";
    struct weir_request *request = read_body(wr_span_of(one));
    struct weir_write_report report;
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_drop(request, 0, NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &body, &report, NULL), WEIR_OK);
    assert_true(report.is_fallback);
    assert_int_equal(report.rolled_back_count, 1);
    assert_int_equal(report.first_segment, WEIR_NONE);
    assert_string_equal(report.first_reason, "no message is left");
    assert_true(wr_span_is(body, one));
    weir_request_free(request);
}

/* ---- size: what grows with the square of a request would be seen here by the time it takes ----
 */

static void put_many(struct wr_buf *out, const char *first, const char *before_number,
                     const char *after_number, const char *last)
{
    wr_buf_init(out, BYTES_MAX);
    wr_buf_text(out, first);
    for (int i = 0; i < MANY; i++)
        wr_buf_printf(out, "%s%s%d%s", i ? "," : "", before_number, i, after_number);
    wr_buf_text(out, last);
    assert_int_equal(wr_buf_status(out), WEIR_OK);
}

static void many_groups_are_edited_and_dropped(void **state)
{
    struct wr_buf body;
    struct weir_write_report report;
    weir_span written;
    (void)state;

    /* Every result answers the only call that is open, so that one id does for all. */
    put_many(&body, "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},",
             "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"",
             "\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"result\"}", "]}");
    struct weir_request *request = read_body(wr_buf_view(&body));
    assert_int_equal(weir_request_segments(request), 1 + 2 * MANY);
    for (uint32_t i = 1; i < 2 * MANY; i += 4) {
        assert_int_equal(weir_request_drop(request, i, NULL), WEIR_OK);
        assert_int_equal(weir_request_edit(request, i + 3, WR_LIT("x"), NULL), WEIR_OK);
    }
    assert_int_equal(weir_request_write(request, &written, &report, NULL), WEIR_OK);
    assert_null(report.first_reason);
    struct weir_request *again = read_body(written);
    assert_int_equal(weir_request_segments(again), 1 + MANY);
    weir_request_free(again);
    weir_request_free(request);
    wr_buf_release(&body);
}

static void many_marked_blocks_are_dropped(void **state)
{
    struct wr_buf body;
    struct weir_write_report report;
    weir_span written;
    (void)state;

    put_many(&body,
             "{\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":[" TEXT("u") ",",
             "{\"type\":\"text\",\"text\":\"", "\",\"cache_control\":{}}", "]}]}");
    struct weir_request *request = read_body(wr_buf_view(&body));
    for (uint32_t i = 2; i < 2 + MANY; i++)
        assert_int_equal(weir_request_drop(request, i, NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &written, &report, NULL), WEIR_OK);
    assert_null(report.first_reason);
    assert_true(wr_span_is(written,
                           "{\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":["
                           "{\"type\":\"text\",\"text\":\"u\",\"cache_control\":{}}]}]}"));
    weir_request_free(request);
    wr_buf_release(&body);
}

static void a_result_of_many_parts_is_edited(void **state)
{
    struct wr_buf body;
    weir_span written;
    (void)state;

    put_many(
        &body,
        "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[",
        "{\"type\":\"text\",\"text\":\"", "\"}", "]}]}");
    struct weir_request *request = read_body(wr_buf_view(&body));
    assert_int_equal(weir_request_edit(request, 1, WR_LIT("x"), NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &written, NULL, NULL), WEIR_OK);
    assert_true(wr_span_ends(written, WR_LIT("\"content\":[" TEXT("x") "]}]}")));
    weir_request_free(request);
    wr_buf_release(&body);
}

/* ---- looking ---- */

static const char body[] =
    "{\"model\":\"m\\/1\",\"messages\":[{\"role\":\"user\",\"content\":\"read it\"},"
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
    "\"function\":"
    "{\"name\":\"Read\",\"arguments\":\"{\\\"file_path\\\":\\\"/"
    "a.c\\\",\\\"offset\\\":5,\\\"limit\\\":2}\"}}]},"
    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":[{\"type\":\"text\",\"text\":\"5\\tx\"}"
    ","
    "{\"type\":\"text\",\"text\":\"6\\ty\"}]}]}";

static struct weir_request *looking_read_body(const char *text)
{
    struct weir_request *request;
    struct weir_err err;
    if (weir_request_new(wr_span_of(text), NULL, &request, &err))
        fail_msg("%s, byte %zu", err.text, err.at_byte);
    return request;
}

static void assert_bytes(weir_range range, const char *expected)
{
    weir_span bytes = wr_span_cut(wr_span_of(body), range.start, range.end);
    if (!wr_span_is(bytes, expected))
        fail_msg("bytes %u to %u are %.*s, should be %s", range.start, range.end, (int)bytes.len,
                 bytes.ptr, expected);
}

static void a_request_tells_what_it_is(void **state)
{
    struct weir_request *r = looking_read_body(body);
    (void)state;
    assert_int_equal(weir_request_dialect(r), WEIR_DIALECT_CHAT);
    assert_true(wr_span_is(weir_request_model(r), "m/1"));
    assert_int_equal(weir_request_turns(r), 2);
    assert_int_equal(weir_request_loops(r), 1);
    assert_int_equal(weir_request_segments(r), 3);
    assert_false(weir_request_is_delta(r));
    weir_request_free(r);
    weir_request_free(NULL);

    r = looking_read_body("{\"previous_response_id\":\"resp_1\",\"input\":\"go\"}");
    assert_true(weir_request_is_delta(r));
    assert_int_equal(weir_request_dialect(r), WEIR_DIALECT_RESPONSES);
    weir_request_free(r);
}

static void a_view_shows_a_segment(void **state)
{
    struct weir_request *r = looking_read_body(body);
    struct weir_segment s;
    (void)state;

    assert_int_equal(weir_request_segment(r, 0, &s), WEIR_OK);
    assert_int_equal(s.pair, WEIR_NONE);
    assert_int_equal(s.group, WEIR_NONE);
    assert_int_equal(s.why_other, WEIR_NONE);
    assert_int_equal(s.parts_count, 1);
    assert_bytes(s.span, "read it");
    assert_bytes(s.parts[0], "read it");
    assert_null(s.handles.effect);
    assert_int_equal(s.handles.offset, -1);
    assert_int_equal(s.handles.total_lines, -1);
    assert_string_equal(s.stale, "no");

    assert_int_equal(weir_request_segment(r, 1, &s), WEIR_OK);
    assert_int_equal(s.kind, WEIR_KIND_TOOL_CALL);
    assert_int_equal(s.parts_count, 0);
    assert_true(wr_span_is(s.tool, "Read") && wr_span_is(s.call_id, "c1"));
    assert_bytes(s.span, "{\\\"file_path\\\":\\\"/a.c\\\",\\\"offset\\\":5,\\\"limit\\\":2}");

    assert_int_equal(weir_request_segment(r, 2, &s), WEIR_OK);
    assert_int_equal(s.index, 2);
    assert_int_equal(s.pair, 1);
    assert_int_equal(s.group, 1);
    assert_int_equal(s.turn, 1);
    assert_int_equal(s.parts_count, 2);
    assert_bytes(s.parts[0], "5\\tx");
    assert_bytes(s.parts[1], "6\\ty");
    assert_string_equal(s.handles.effect, "read");
    assert_true(wr_span_is(s.handles.path, "/a.c"));
    assert_int_equal(s.handles.offset, 5);
    assert_int_equal(s.handles.limit, 2);
    assert_string_equal(s.handles.truncated, "none");

    assert_int_equal(weir_request_segment(r, 3, &s), WEIR_NOTFOUND);
    weir_request_free(r);
}

static void a_text_is_unescaped_and_joined(void **state)
{
    struct weir_request *r = looking_read_body(body);
    weir_span text;
    (void)state;
    assert_int_equal(weir_request_text(r, 2, &text), WEIR_OK);
    assert_true(wr_span_is(text, "5\tx\n6\ty"));
    assert_int_equal(weir_request_text(r, 1, &text), WEIR_OK);
    assert_true(wr_span_is(text, "{\"file_path\":\"/a.c\",\"offset\":5,\"limit\":2}"));
    assert_int_equal(weir_request_text(r, 3, &text), WEIR_NOTFOUND);
    weir_request_free(r);
}

static void without_an_edit_the_bytes_are_the_same(void **state)
{
    struct weir_request *r = looking_read_body(body);
    struct weir_write_report report;
    weir_span out;
    (void)state;
    assert_int_equal(weir_request_write(r, &out, &report, NULL), WEIR_OK);
    assert_true(wr_span_is(out, body));
    assert_int_equal(report.rolled_back_count, 0);
    assert_int_equal(report.first_segment, WEIR_NONE);
    assert_null(report.first_reason);
    weir_request_free(r);
}

static void an_edit_changes_its_segment_only(void **state)
{
    struct weir_request *r = looking_read_body(body);
    char text[] = "say \"hi\"";
    weir_span out;
    (void)state;
    assert_int_equal(weir_request_edit(r, 2, wr_span_of(text), NULL), WEIR_OK);
    memset(text, '?', sizeof(text) - 1); /* what was handed in was borrowed for the call only */
    assert_int_equal(weir_request_write(r, &out, NULL, NULL), WEIR_OK);

    weir_span input = wr_span_of(body);
    size_t at = wr_span_find(input, WR_LIT("5\\tx"), 0);
    assert_true(wr_span_starts(out, wr_span_cut(input, 0, at)));
    assert_true(wr_span_ends(out, WR_LIT("\"text\":\"say \\\"hi\\\"\"}]}]}")));
    assert_int_equal(weir_request_write(r, &out, NULL, NULL), WEIR_OK); /* again: the same */
    assert_true(wr_span_ends(out, WR_LIT("\"text\":\"say \\\"hi\\\"\"}]}]}")));
    weir_request_free(r);
}

static void what_may_not_be_edited_is_refused(void **state)
{
    static const struct {
        uint32_t segment;
        const char *says;
    } rows[] = {{1, "no text that may be edited"}, {3, "no segment 3"}, {UINT32_MAX, "no segment"}};
    struct weir_request *r = looking_read_body(body);
    weir_span out;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_err err;
        assert_int_equal(weir_request_edit(r, rows[i].segment, WR_LIT("x"), &err), WEIR_INVALID);
        assert_non_null(strstr(err.text, rows[i].says));
    }
    assert_int_equal(weir_request_drop(r, 3, NULL), WEIR_INVALID);
    assert_int_equal(weir_request_write(r, &out, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(out, body));
    weir_request_free(r);
}

static void dropping_a_result_drops_its_group(void **state)
{
    struct weir_request *r = looking_read_body(body);
    weir_span out;
    (void)state;
    assert_int_equal(weir_request_drop(r, 2, NULL), WEIR_OK);
    assert_int_equal(weir_request_write(r, &out, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(
        out, "{\"model\":\"m\\/1\",\"messages\":[{\"role\":\"user\",\"content\":\"read it\"}]}"));
    weir_request_free(r);
}

static void what_cannot_be_read_is_told(void **state)
{
    static const struct {
        const char *text;
        const char *dialect;
        weir_status status;
        size_t at_byte;
    } rows[] = {
        {"{\"messages\":[}", NULL, WEIR_SYNTAX, 13},
        {"", NULL, WEIR_SYNTAX, 0},
        {"[]", NULL, WEIR_INVALID, 0},
        {"{\"messages\":[]}", "latin", WEIR_INVALID, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_request_options options = {.dialect = rows[i].dialect};
        struct weir_request *r = (struct weir_request *)&options;
        struct weir_err err;
        assert_int_equal(weir_request_new(wr_span_of(rows[i].text), &options, &r, &err),
                         rows[i].status);
        assert_null(r);
        assert_int_equal(err.at_byte, rows[i].at_byte);
        assert_int_equal(err.code, rows[i].status);
        assert_true(err.text[0]);
        assert_int_equal(weir_request_new(wr_span_of(rows[i].text), &options, &r, NULL),
                         rows[i].status);
    }
}

static void a_path_names_the_dialect(void **state)
{
    struct weir_request_options options = {.path = "/v1/messages?beta=true"};
    struct weir_request *r;
    (void)state;
    assert_int_equal(weir_request_new(WR_LIT("{\"messages\":[]}"), &options, &r, NULL), WEIR_OK);
    assert_int_equal(weir_request_dialect(r), WEIR_DIALECT_MESSAGES);
    assert_int_equal(weir_request_segments(r), 0);
    assert_int_equal(weir_request_turns(r), 0);
    weir_request_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_bodies_are_refused),
        cmocka_unit_test(no_edit_gives_the_very_bytes),
        cmocka_unit_test(edits_are_copied_and_written),
        cmocka_unit_test(what_was_written_can_be_taken_out),
        cmocka_unit_test(what_cannot_be_edited_is_refused),
        cmocka_unit_test(a_request_is_written_again),
        cmocka_unit_test(a_structure_that_would_be_wrong_falls_back),
        cmocka_unit_test(many_groups_are_edited_and_dropped),
        cmocka_unit_test(many_marked_blocks_are_dropped),
        cmocka_unit_test(a_result_of_many_parts_is_edited),
        cmocka_unit_test(a_request_tells_what_it_is),
        cmocka_unit_test(a_view_shows_a_segment),
        cmocka_unit_test(a_text_is_unescaped_and_joined),
        cmocka_unit_test(without_an_edit_the_bytes_are_the_same),
        cmocka_unit_test(an_edit_changes_its_segment_only),
        cmocka_unit_test(what_may_not_be_edited_is_refused),
        cmocka_unit_test(dropping_a_result_drops_its_group),
        cmocka_unit_test(what_cannot_be_read_is_told),
        cmocka_unit_test(a_path_names_the_dialect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
