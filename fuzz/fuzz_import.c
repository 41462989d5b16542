/* Whatever is read of a log becomes requests that are read in every dialect, with every call
 * answered once, right behind it, and that grow as the session does.
 *
 * 1. a failure says what it is; sessions have requests
 * 2. pairing is lawful in every request: no breach of the rules about calls and results
 * 3. a body that grows is the body written at once
 * 4. the same bytes give the same sessions; gzip around them changes nothing
 */
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/limits.h"
#include "base/span.h"
#include "api/lawful.h"
#include "lab/import.h"
#include "api/api.h"

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

enum { LOG_BYTES_MAX = 64 * 1024, REQUESTS_MAX = 8, SESSIONS_MAX = 4 };

static bool is_about_pairs(enum wr_rule rule)
{
    return rule == WR_RULE_CALL_UNANSWERED || rule == WR_RULE_RESULT_ORPHAN ||
           rule == WR_RULE_RESULT_REPEATED || rule == WR_RULE_RESULT_NOT_NEXT ||
           rule == WR_RULE_RESULT_AFTER_TEXT || rule == WR_RULE_LIST_EMPTY;
}

static void check_body(weir_span body, weir_dialect dialect, const char *name)
{
    struct wr_api_options options = {.dialect = name};
    struct wr_transcript transcript;
    struct wr_breaches breaches;
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    MUST(!wr_json_parse(&doc, &arena, body, NULL, NULL));
    MUST(!wr_api_read(&transcript, &arena, &doc, &options, NULL));
    MUST(transcript.dialect == dialect && transcript.segments_count);
    MUST(!wr_lawful_check(&transcript, &arena, &breaches));
    for (uint32_t i = 0; i < breaches.count; i++)
        MUST(!is_about_pairs(breaches.items[i].rule));
    wr_arena_release(&arena);
}

static void check_requests(const struct wr_session *s, weir_dialect dialect)
{
    struct wr_session_request request = {dialect, 0, "m", WR_SESSION_TOOLS};
    uint32_t step = 1 + s->requests_count / REQUESTS_MAX;
    struct wr_session_body body;

    wr_session_body_init(&body, s, &request);
    for (uint32_t n = 0; n < s->requests_count; n += step) {
        struct wr_buf whole;
        wr_buf_init(&whole, WR_OUTPUT_BYTES_MAX);
        request.messages_count = s->requests[n];
        wr_session_write(s, &request, &whole);
        MUST(!whole.status && wr_span_eq(wr_buf_view(&whole), wr_session_body_at(&body, n)));
        check_body(wr_buf_view(&whole), dialect, weir_dialect_name(dialect));
        wr_buf_release(&whole);
    }
    wr_session_body_release(&body);
}

static void check_views(const struct wr_session *s)
{
    for (uint32_t n = 0; n < s->requests_count; n++) {
        struct wr_session_view view = wr_session_view(s, n);
        MUST(s->requests[n] < s->messages_count && (!n || s->requests[n] > s->requests[n - 1]));
        MUST(wr_session_view_count(&view) && view.shared_count <= wr_session_view_count(&view));
        MUST(n ? view.is_compacted || view.shared_count : !view.shared_count);
        MUST(wr_json_text_is(view.answer, wr_json_find(view.answer, 0, "role"), "assistant"));
        MUST(s->has_times || view.sent_ms == WR_SESSION_NO_TIME);
    }
    for (uint32_t k = 1; k < s->compactions_count; k++)
        MUST(s->compactions[k].at >= s->compactions[k - 1].at);
}

static void check_session(const struct wr_session *s)
{
    MUST(s->requests_count && s->agent.len);
    check_views(s);
    for (int d = WEIR_DIALECT_CHAT; d <= WEIR_DIALECT_CONVERSE; d++)
        check_requests(s, (weir_dialect)d);
}

static void check_same(const struct wr_import *a, const struct wr_import *b)
{
    MUST(a->sessions_count == b->sessions_count && a->agent == b->agent);
    for (int i = 0; i < WR_IMPORT_NOTES; i++)
        MUST(a->notes[i] == b->notes[i]);
    for (uint32_t i = 0; i < a->sessions_count; i++) {
        const struct wr_session *x = &a->sessions[i], *y = &b->sessions[i];
        MUST(x->messages_count == y->messages_count && x->requests_count == y->requests_count);
        for (uint32_t m = 0; m < x->messages_count; m++)
            MUST(wr_span_eq(wr_json_raw(&x->messages[m], 0), wr_json_raw(&y->messages[m], 0)));
    }
}

static size_t pack(weir_span log, unsigned char *out, size_t out_bytes)
{
    z_stream z = {.next_in = (z_const Bytef *)log.ptr, .avail_in = (uInt)log.len};
    z.next_out = out;
    z.avail_out = (uInt)out_bytes;
    MUST(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    MUST(deflate(&z, Z_FINISH) == Z_STREAM_END);
    (void)deflateEnd(&z);
    return out_bytes - z.avail_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static unsigned char packed[LOG_BYTES_MAX + 1024];
    weir_span log = {(const char *)bytes, len};
    struct wr_import import, again;
    struct wr_arena arena;
    struct weir_err err = {0};

    if (len > LOG_BYTES_MAX)
        return 0;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_import_read(&import, &arena, log, &err);
    MUST(!status == (import.sessions_count > 0) || status == WEIR_LIMIT);
    MUST(!status || (err.code == status && err.text[0] && err.at_byte <= len));
    for (uint32_t i = 0; i < import.sessions_count && i < SESSIONS_MAX && !status; i++)
        check_session(&import.sessions[i]);
    if (len < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b) {
        size_t packed_bytes = pack(log, packed, sizeof(packed));
        weir_span zipped = {(const char *)packed, packed_bytes};
        MUST(wr_import_read(&again, &arena, zipped, NULL) == status);
        if (!status)
            check_same(&import, &again);
    }
    wr_arena_release(&arena);
    return 0;
}

/* ---- mutation: logs stay JSON, so that what is inside them changes ---- */

static const char *const fragments[] = {
    "null",
    "\"\"",
    "\"t1\"",
    "\"c1\"",
    "\"x\"",
    "[]",
    "{}",
    "0",
    "2",
    "true",
    "false",
    "\"user\"",
    "\"assistant\"",
    "\"tool\"",
    "\"system\"",
    "1767225605000",
    "\"2026-01-01T00:00:00Z\"",
    "\"compact_boundary\"",
    "\"microcompact_boundary\"",
    "[{\"type\":\"text\",\"text\":\"a\"}]",
    "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{}}",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"ok\"}",
    "{\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
    "{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"{}\",\"call_id\":\"c1\"}",
    "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"ok\"}",
    "{\"type\":\"image\",\"source\":{}}",
    "{\"content\":[{\"content\":[{\"text\":\"deep\"}]}]}",
    "\"```bash\\nls\\n```\"",
};

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, size_t sides)
{
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((dice->state >> 33) % sides);
}

/* The whole log where it is one value, else one of its lines. */
static weir_span some_part(weir_span log, struct dice *dice, struct wr_arena *arena,
                           struct wr_json *doc)
{
    if (!wr_json_parse(doc, arena, log, NULL, NULL))
        return log;
    size_t from = roll(dice, log.len), to;
    while (from && log.ptr[from - 1] != '\n')
        from--;
    for (to = from; to < log.len && log.ptr[to] != '\n';)
        to++;
    weir_span line = wr_span_cut(log, from, to);
    return wr_json_parse(doc, arena, line, NULL, NULL) ? (weir_span){NULL, 0} : line;
}

static weir_span some_value(const struct wr_json *doc, struct dice *dice)
{
    if (roll(dice, 2))
        return wr_span_of(fragments[roll(dice, WR_COUNT_OF(fragments))]);
    return wr_json_raw(doc, roll(dice, doc->nodes_count));
}

/* Replaces a value of the log, or writes a line or an element once more. */
static void mutate(weir_span log, struct dice *dice, struct wr_arena *arena, struct wr_buf *out)
{
    struct wr_json doc;
    weir_span part = some_part(log, dice, arena, &doc);
    if (!part.ptr)
        return;
    const struct wr_json_node *node = &doc.nodes[roll(dice, doc.nodes_count)];
    size_t base = (size_t)(part.ptr - log.ptr);
    weir_span value = some_value(&doc, dice);
    if (node->is_key && value.ptr[0] != '"')
        value = WR_LIT("\"type\"");
    size_t from = base + node->start, to = base + node->end;
    bool again = !roll(dice, 3);
    if (again) { /* a line once more, or a value twice in its array */
        value = part.len == log.len ? wr_json_raw(&doc, (wr_json_id)(node - doc.nodes)) : part;
        from = to = part.len == log.len ? base + node->end : base + part.len;
    }
    wr_buf_append(out, wr_span_cut(log, 0, from));
    if (again)
        wr_buf_byte(out, part.len == log.len ? ',' : '\n');
    wr_buf_append(out, value);
    wr_buf_append(out, wr_span_cut(log, to, log.len));
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t len, size_t len_max);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t len, size_t len_max, unsigned int seed);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t len, size_t len_max, unsigned int seed)
{
    struct dice dice = {seed};
    struct wr_arena arena;
    struct wr_buf out;
    size_t bytes_new = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (len && roll(&dice, 4))
        mutate((weir_span){(const char *)bytes, len}, &dice, &arena, &out);
    if (out.len && out.len <= len_max && !out.status) {
        bytes_new = out.len;
        memcpy(bytes, out.bytes, bytes_new);
    }
    wr_buf_release(&out);
    wr_arena_release(&arena);
    return bytes_new ? bytes_new : LLVMFuzzerMutate(bytes, len, len_max);
}
