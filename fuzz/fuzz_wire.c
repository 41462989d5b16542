/* Any JSON as a request of each dialect, by shape and by name. What the reader accepts must hold:
 *   ranges    every span lies in the body; parts are distinct strings, in order
 *   control   no part is control plane, by a walker that knows nothing of the readers
 *   results   as many tool_result segments as the walker counts results
 *   order     pairs are mutual, groups shared, turns and loops never go back
 *   exact     written without edits the body is the same bytes
 *   twice     a second reading of a copy says the same
 *   api       weir_request_* shows what is inside
 * Inputs are mutated as JSON half of the time: values replaced, copied and removed.
 */
#include <stdint.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "json/splice.h"
#include "tests/control_plane.h"

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

enum { BODY_BYTES_MAX = 64 * 1024 };

static void check_ranges(const struct weir_request *r)
{
    const struct wr_transcript *t = &r->transcript;
    uint32_t bytes = (uint32_t)t->doc->text.len;

    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        weir_range range = wr_segment_range(t, s);
        MUST(range.start <= range.end && range.end <= bytes);
        MUST(wr_json_is(t->doc, s->payload, WR_JSON_STRING) || range.end > range.start);
        for (uint32_t p = 0; p < s->parts_count; p++) {
            MUST(wr_json_is(t->doc, s->parts[p], WR_JSON_STRING));
            MUST(!p || s->parts[p] > s->parts[p - 1]);
            const struct wr_json_node *part = &t->doc->nodes[s->parts[p]];
            MUST(part->start + 1 >= range.start && part->end - 1 <= range.end);
        }
    }
}

static void check_control(const struct weir_request *r)
{
    const struct wr_transcript *t = &r->transcript;
    bool *is_control = calloc(t->doc->nodes_count, sizeof(*is_control));
    bool *is_part = calloc(t->doc->nodes_count, sizeof(*is_part));

    MUST(is_control && is_part);
    control_plane_mark(t->doc, is_control);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        for (uint32_t p = 0; p < s->parts_count; p++) {
            MUST(!is_part[s->parts[p]]);
            is_part[s->parts[p]] = true;
            if (t->dialect == WEIR_DIALECT_GEMINI) {
                MUST(control_is_gemini_payload(t->doc, s->parts[p]));
                continue;
            }
            if (t->dialect == WEIR_DIALECT_CONVERSE) {
                MUST(control_is_converse_payload(t->doc, s->parts[p]));
                continue;
            }
            MUST(!is_control[s->parts[p]]);
            MUST(control_is_payload_path(t->doc, s->parts[p]));
        }
    }
    free(is_control);
    free(is_part);
}

static void check_results(const struct weir_request *r)
{
    const struct wr_transcript *t = &r->transcript;
    struct control_results expected = control_count_results(t->doc, t->dialect);
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->segments_count; i++)
        count += t->segments[i].kind == WEIR_KIND_TOOL_RESULT;
    MUST(count >= expected.count_min && count <= expected.count_max);
}

static void check_pair(const struct wr_transcript *t, uint32_t i)
{
    const struct wr_segment *s = &t->segments[i];
    if (s->pair == WR_SEGMENT_NONE)
        return;
    MUST(s->pair < t->segments_count && s->pair != i);
    const struct wr_segment *other = &t->segments[s->pair];
    bool asks = s->kind == WEIR_KIND_TOOL_CALL || s->link == WR_LINK_ASKS;
    bool answers = s->kind == WEIR_KIND_TOOL_RESULT || s->link == WR_LINK_ANSWERS;
    MUST(asks != answers && other->group == s->group && s->group != WR_SEGMENT_NONE);
    MUST((s->kind == WEIR_KIND_TOOL_CALL) == (other->kind == WEIR_KIND_TOOL_RESULT));
    MUST(s->kind != WEIR_KIND_TOOL_RESULT || (other->pair == i) == !s->is_repeated_result);
    MUST(answers || other->pair == i);
    MUST(other->pair != WR_SEGMENT_NONE);
}

static void check_order(const struct wr_transcript *t)
{
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i], *before = i ? s - 1 : NULL;
        check_pair(t, i);
        MUST(s->group == WR_SEGMENT_NONE ||
             (s->group <= i && t->segments[s->group].group == s->group));
        MUST(!s->from_model || s->group != WR_SEGMENT_NONE);
        MUST(s->kind != WEIR_KIND_TOOL_RESULT || !s->from_model);
        MUST(s->turn < t->turns_count && (s->loop == WR_SEGMENT_NONE || s->loop < t->loops_count));
        MUST(s->why && (s->why_other == WR_SEGMENT_NONE || s->why_other < i));
        MUST(!s->is_signed || t->binds_prefix);
        MUST(!s->is_opaque || !s->parts_count);
        if (!before)
            continue;
        MUST(s->turn >= before->turn && s->turn <= before->turn + 1);
        MUST(before->loop == WR_SEGMENT_NONE ||
             (s->loop >= before->loop && s->loop <= before->loop + 1));
        MUST(!s->from_model || !before->from_model || s->group == before->group);
    }
}

static void check_same(const struct wr_transcript *a, const struct wr_transcript *b)
{
    MUST(a->dialect == b->dialect && a->is_delta == b->is_delta && a->list == b->list);
    MUST(a->segments_count == b->segments_count && wr_span_eq(a->model, b->model));
    for (uint32_t i = 0; i < a->segments_count; i++) {
        const struct wr_segment *x = &a->segments[i], *y = &b->segments[i];
        MUST(x->role == y->role && x->kind == y->kind && x->class_ == y->class_ &&
             x->why == y->why);
        MUST(x->payload == y->payload && x->element == y->element && x->array == y->array);
        MUST(x->message == y->message && x->block == y->block && x->marker == y->marker);
        MUST(x->turn == y->turn && x->loop == y->loop && x->group == y->group &&
             x->pair == y->pair);
        MUST(wr_span_eq(x->tool, y->tool) && wr_span_eq(x->call_id, y->call_id));
        MUST(x->parts_count == y->parts_count);
        for (uint32_t p = 0; p < x->parts_count; p++)
            MUST(x->parts[p] == y->parts[p]);
    }
}

static void check_twice(const struct weir_request *r, const struct weir_request_options *options)
{
    struct weir_request *again;
    weir_span body = r->doc.text;
    char *copy = malloc(body.len + 1);

    MUST(copy);
    memcpy(copy, body.ptr, body.len);
    MUST(!weir_request_new((weir_span){copy, body.len}, options, &again, NULL));
    check_same(&r->transcript, &again->transcript);
    weir_request_free(again);
    free(copy);
}

static void check_view(struct weir_request *r, uint32_t i)
{
    const struct wr_segment *s = &r->transcript.segments[i];
    weir_range range = wr_segment_range(&r->transcript, s);
    struct weir_segment view;
    weir_span text;

    MUST(!weir_request_segment(r, i, &view));
    MUST(view.index == i && view.turn == s->turn && view.loop == s->loop && view.group == s->group);
    MUST(view.pair == s->pair && view.role == s->role && view.kind == s->kind);
    MUST(view.class_ == s->class_ && view.why == s->why && view.why_other == s->why_other);
    MUST(view.span.start == range.start && view.span.end == range.end);
    MUST(view.parts_count == s->parts_count && view.stale && (!s->is_error || view.is_error));
    for (uint32_t p = 0; p < view.parts_count; p++) {
        const char *bytes = r->doc.text.ptr;
        MUST(bytes[view.parts[p].start - 1] == '"' && bytes[view.parts[p].end] == '"');
    }
    MUST(!weir_request_text(r, i, &text) && text.ptr);
    MUST(!s->handles == !view.handles.effect);
}

static void check_api(struct weir_request *r)
{
    struct weir_segment view;
    struct weir_write_report report;
    weir_span body, input = r->doc.text;
    uint32_t count = weir_request_segments(r);

    MUST(count == r->transcript.segments_count);
    for (uint32_t i = 0; i < count; i++)
        check_view(r, i);
    MUST(weir_request_segment(r, count, &view) == WEIR_NOTFOUND);
    MUST(weir_request_text(r, count, &body) == WEIR_NOTFOUND);
    MUST(!weir_request_write(r, &body, &report, NULL));
    MUST(body.len == input.len && !memcmp(body.ptr, input.ptr, input.len));
    MUST(!report.rolled_back_count && !report.is_fallback && !report.first_reason);
}

static void check_request(weir_span body, const char *dialect)
{
    struct weir_request_options options = {.dialect = dialect};
    struct weir_request *r;
    struct weir_err err = {0};

    if (weir_request_new(body, &options, &r, &err)) {
        MUST(!r && err.text[0] && err.at_byte <= body.len);
        return;
    }
    MUST(!dialect || !strcmp(weir_dialect_name(weir_request_dialect(r)), dialect));
    check_ranges(r);
    check_control(r);
    check_results(r);
    check_order(&r->transcript);
    check_twice(r, &options);
    check_api(r);
    weir_request_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const char *const dialects[] = {NULL,     "chat",   "responses", "messages",
                                           "gemini", "ollama", "converse"};
    weir_span body = {(const char *)bytes, len};

    if (len > BODY_BYTES_MAX)
        return 0;
    for (size_t i = 0; i < WR_COUNT_OF(dialects); i++)
        check_request(body, dialects[i]);
    return 0;
}

/* ---- mutation ---- */

static const char *const fragments[] = {
    "null",
    "\"\"",
    "\"go\"",
    "[]",
    "{}",
    "7",
    "true",
    "{\"role\":\"user\",\"content\":\"go\"}",
    "{\"role\":\"user\",\"content\":\"[steering] go\"}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}",
    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"ok\"}",
    "{\"role\":\"assistant\",\"content\":[{\"toolUse\":{\"toolUseId\":\"c1\",\"name\":\"f\","
    "\"input\":{}}}]}",
    "{\"role\":\"user\",\"content\":[{\"toolResult\":{\"toolUseId\":\"c1\",\"content\":[{\"text\":"
    "\"ok\"}]}},{\"cachePoint\":{\"type\":\"default\"}}]}",
    "{\"toolResult\":{\"toolUseId\":\"c1\",\"content\":[{\"json\":{\"a\":\"ok\"}}]}}",
    "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"t\",\"signature\":\"s\"}}}",
    "{\"role\":\"tool\",\"tool_name\":\"f\",\"content\":\"ok\"}",
    "{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":\"b\"}}}",
    "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
    "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":{}}",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"ok\"}",
    "{\"type\":\"server_tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":{}}",
    "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"c1\",\"content\":[]}",
    "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"}",
    "{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[],\"encrypted_content\":\"e\"}",
    "{\"type\":\"compaction\",\"encrypted_content\":\"e\"}",
    "{\"type\":\"item_reference\",\"id\":\"r\"}",
    "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"}",
    "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"ok\"}",
    "{\"type\":\"local_shell_call\",\"id\":\"l1\",\"call_id\":\"c1\",\"action\":{}}",
    "{\"type\":\"local_shell_call_output\",\"id\":\"l1\",\"output\":\"{}\"}",
    "{\"type\":\"shell_call_output\",\"call_id\":\"c1\",\"output\":[{\"stdout\":\"o\"}]}",
    "{\"type\":\"program\",\"call_id\":\"c1\"}",
    "{\"type\":\"program_output\",\"call_id\":\"c1\"}",
    "{\"type\":\"dream\",\"call_id\":\"c1\"}",
    "{\"type\":\"input_text\",\"text\":\"a\",\"cache_control\":{\"type\":\"ephemeral\"}}",
};

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t sides)
{
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice->state >> 33) % sides;
}

static weir_span some_value(const struct wr_json *doc, struct dice *dice)
{
    wr_json_id id = roll(dice, doc->nodes_count);
    if (roll(dice, 2))
        return wr_span_of(fragments[roll(dice, WR_COUNT_OF(fragments))]);
    return wr_json_raw(doc, id);
}

/* Replaces a random value with another; a key only with a string. */
static void replace_value(const struct wr_json *doc, struct dice *dice, struct wr_buf *out)
{
    const struct wr_json_node *node = &doc->nodes[roll(dice, doc->nodes_count)];
    weir_span value = some_value(doc, dice);
    if (node->is_key && value.ptr[0] != '"')
        value = WR_LIT("\"type\"");
    wr_buf_append(out, wr_span_cut(doc->text, 0, node->start));
    wr_buf_append(out, value);
    wr_buf_append(out, wr_span_cut(doc->text, node->end, doc->text.len));
}

/* Removes, copies or inserts a child of a random container. */
static void change_children(const struct wr_json *doc, struct dice *dice, struct wr_arena *arena,
                            struct wr_buf *out)
{
    struct wr_splice splice;
    wr_json_id container = roll(dice, doc->nodes_count), child;
    uint32_t count, steps;

    while (container && !(wr_json_is(doc, container, WR_JSON_ARRAY) ||
                          wr_json_is(doc, container, WR_JSON_OBJECT)))
        container--;
    count = wr_json_count(doc, container);
    if (!count)
        return;
    child = wr_json_first(doc, container);
    for (steps = roll(dice, count); steps; steps--)
        child = wr_json_next(doc, container, child);
    wr_splice_init(&splice, doc, arena);
    if (!roll(dice, 3))
        wr_splice_remove(&splice, container, child);
    else if (doc->nodes[child].is_key)
        wr_splice_insert(&splice, container, WR_JSON_NONE, wr_json_member(doc, child));
    else
        wr_splice_insert(&splice, container, child, some_value(doc, dice));
    if (wr_splice_apply(&splice, out, NULL))
        wr_buf_reset(out);
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t len, size_t len_max);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t len, size_t len_max, unsigned int seed);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t len, size_t len_max, unsigned int seed)
{
    struct dice dice = {seed};
    struct wr_arena arena;
    struct wr_buf out;
    struct wr_json doc;
    size_t bytes_new = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    weir_span text = {(const char *)bytes, len};
    if (roll(&dice, 4) && !wr_json_parse(&doc, &arena, text, NULL, NULL)) {
        if (roll(&dice, 2))
            replace_value(&doc, &dice, &out);
        else
            change_children(&doc, &dice, &arena, &out);
        if (out.len && out.len <= len_max && !out.status) {
            bytes_new = out.len;
            memcpy(bytes, out.bytes, bytes_new);
        }
    }
    wr_buf_release(&out);
    wr_arena_release(&arena);
    return bytes_new ? bytes_new : LLVMFuzzerMutate(bytes, len, len_max);
}
