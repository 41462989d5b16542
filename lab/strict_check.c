/* What was sent is judged from its bytes: both bodies are parsed here, and the engine is not asked
 * what it did. A check that asks the checked would pass whatever the engine believes of itself.
 *
 * First the structure (members, pointers, calls and results), then handles and signals, at last
 * coverage: which hard cases the requests hold. */
#include "lab/strict_check.h"

#include "api/api.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/signal.h"
#include "policy/stage.h"
#include "transcript/tool.h"

/* From which on a case counts as covered. */
enum { TURNS_MIN = 30, DIFF_BYTES_MIN = 6000, SEARCHES_MIN = 3, FILES_MIN = 3 };

static weir_status join_words(struct wr_strict_body *body, struct wr_arena *arena)
{
    const struct wr_transcript *t = &body->transcript;
    struct wr_buf words;

    wr_buf_init(&words, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        wr_buf_append(&words, wr_segment_text(t, &t->segments[i], arena));
        wr_buf_byte(&words, '\n');
    }
    weir_status status = wr_buf_status(&words);
    if (!status)
        body->words = wr_arena_copy(arena, wr_buf_view(&words));
    wr_buf_release(&words);
    return status ? status : wr_arena_status(arena);
}

weir_status wr_strict_body_read(struct wr_strict_body *body, struct wr_arena *arena,
                                weir_span bytes, const char *dialect, struct wr_memo *memo)
{
    struct wr_api_options options = {.dialect = dialect, .memo = memo, .structure_only = !memo};
    weir_status status = wr_json_parse(&body->doc, arena, bytes, NULL, NULL);
    if (!status)
        status = wr_api_read(&body->transcript, arena, &body->doc, &options, NULL);
    return status ? status : join_words(body, arena);
}

/* ---- structure ---- */

bool wr_strict_same_root(const struct wr_strict_body *in, const struct wr_strict_body *out)
{
    wr_json_id a = wr_json_first(&in->doc, 0), b = wr_json_first(&out->doc, 0);

    while (a != WR_JSON_NONE && b != WR_JSON_NONE) {
        bool is_list = wr_json_value(a) == in->transcript.list;
        if (!wr_span_eq(wr_json_raw(&in->doc, a), wr_json_raw(&out->doc, b)))
            return false;
        if (is_list != (wr_json_value(b) == out->transcript.list))
            return false;
        if (!is_list && !wr_span_eq(wr_json_raw(&in->doc, wr_json_value(a)),
                                    wr_json_raw(&out->doc, wr_json_value(b))))
            return false;
        a = wr_json_next(&in->doc, 0, a);
        b = wr_json_next(&out->doc, 0, b);
    }
    return a == b;
}

bool wr_strict_same_value(const struct wr_strict_body *in, const struct wr_strict_body *out,
                          struct wr_arena *arena, weir_span pointer)
{
    wr_json_id a = wr_json_pointer(&in->doc, arena, pointer);
    wr_json_id b = wr_json_pointer(&out->doc, arena, pointer);
    return a != WR_JSON_NONE && b != WR_JSON_NONE &&
           wr_span_eq(wr_json_raw(&in->doc, a), wr_json_raw(&out->doc, b));
}

static bool is_link(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOL_CALL || s->kind == WEIR_KIND_TOOL_RESULT;
}

static bool is_same_link(const struct wr_segment *a, const struct wr_segment *b)
{
    return a->kind == b->kind && wr_span_eq(a->call_id, b->call_id) &&
           (a->pair == WR_SEGMENT_NONE) == (b->pair == WR_SEGMENT_NONE);
}

bool wr_strict_same_calls(const struct wr_strict_body *in, const struct wr_strict_body *out)
{
    const struct wr_transcript *a = &in->transcript, *b = &out->transcript;
    uint32_t at = 0;

    for (uint32_t i = 0; i < b->segments_count; i++) {
        if (!is_link(&b->segments[i]))
            continue;
        while (at < a->segments_count && !is_same_link(&a->segments[at], &b->segments[i]))
            at++;
        if (at++ == a->segments_count)
            return false;
    }
    return true;
}

bool wr_strict_offers_recall(const struct wr_strict_body *body)
{
    wr_json_id tools = wr_json_find(&body->doc, 0, "tools");
    for (wr_json_id id = wr_json_first(&body->doc, tools); id != WR_JSON_NONE;
         id = wr_json_next(&body->doc, tools, id)) {
        wr_json_id function = wr_json_find(&body->doc, id, "function");
        wr_json_id name =
            wr_json_find(&body->doc, function == WR_JSON_NONE ? id : function, "name");
        if (wr_json_is(&body->doc, name, WR_JSON_STRING) &&
            wr_tool_is_recall(wr_json_inner(&body->doc, name)))
            return true;
    }
    return false;
}

const struct wr_segment *wr_strict_result_of(const struct wr_strict_body *body, weir_span call_id)
{
    const struct wr_transcript *t = &body->transcript;
    for (uint32_t i = 0; i < t->segments_count; i++)
        if (t->segments[i].kind == WEIR_KIND_TOOL_RESULT &&
            wr_span_eq(t->segments[i].call_id, call_id))
            return &t->segments[i];
    return NULL;
}

/* ---- handles ---- */

static bool has_handle(const struct wr_strict_handles *handles, weir_handle handle)
{
    for (uint32_t i = 0; i < handles->count; i++)
        if (!memcmp(&handles->items[i], &handle, sizeof(handle)))
            return true;
    return false;
}

weir_status wr_strict_handles(struct wr_strict_handles *handles, struct wr_arena *arena,
                              weir_span words)
{
    uint32_t cap = 0;
    weir_handle handle;

    *handles = (struct wr_strict_handles){NULL, 0};
    for (size_t at = 0; (at = weir_handle_find(words, at, &handle)) != SIZE_MAX;
         at += WEIR_HANDLE_TEXT_BYTES) {
        if (has_handle(handles, handle))
            continue;
        if (!WR_ARENA_ROOM(arena, handles->items, handles->count, cap, 16))
            return wr_arena_status(arena);
        handles->items[handles->count++] = handle;
    }
    return WEIR_OK;
}

/* ---- signals ---- */

static bool is_critical(enum wr_signal_kind kind)
{
    return kind == WR_SIGNAL_CRITICAL || kind == WR_SIGNAL_ERROR || kind == WR_SIGNAL_EXIT ||
           kind == WR_SIGNAL_FAILED_TEST;
}

weir_status wr_strict_count_signals(struct wr_strict_signals *signals, struct wr_arena *arena,
                                    const struct wr_strict_body *in,
                                    const struct wr_strict_body *out,
                                    const struct wr_segment *result, bool is_recallable)
{
    const struct wr_segment *sent = wr_strict_result_of(out, result->call_id);
    weir_span text = wr_segment_text(&in->transcript, result, arena);
    weir_span form = sent ? wr_segment_text(&out->transcript, sent, arena) : WR_LIT("");
    struct wr_signal_set before, after;

    if (!text.ptr || !form.ptr)
        return wr_arena_status(arena);
    enum wr_output_kind kind = wr_output_kind_of(result, text);
    weir_status status = wr_signal_scan(&before, arena, text, kind);
    if (!status)
        status = wr_signal_scan(&after, arena, form, kind);
    for (uint32_t i = 0; !status && i < before.count; i++) {
        const struct wr_signal *s = &before.signals[i];
        if (!is_critical(s->kind))
            continue;
        bool is_kept = is_recallable || wr_signal_set_find(&after, s->kind, s->text) ||
                       wr_span_find(out->words, s->text, 0) != SIZE_MAX;
        signals->count++;
        signals->kept += is_kept;
        if (!is_kept && !signals->lost.len)
            signals->lost = s->text;
    }
    return status;
}

/* ---- coverage ---- */

const char *wr_cover_text(enum wr_cover cover)
{
    static const char *const texts[] = {
#define X(name, text) text,
        WR_COVER_MAP(X)
#undef X
    };
    return (unsigned)cover < WR_COVERS ? texts[cover] : "unknown";
}

uint32_t wr_cover_case(const struct wr_case *c)
{
    uint32_t covered = 0;
    if (c->turns_count >= TURNS_MIN)
        covered |= WR_COVER_BIT(CONTINUATION);
    if (c->window_tokens == 16000 || c->window_tokens == 16384)
        covered |= WR_COVER_BIT(WINDOW_16K);
    if (c->window_tokens == 32000 || c->window_tokens == 32768)
        covered |= WR_COVER_BIT(WINDOW_32K);
    if (c->window_tokens == 128000 || c->window_tokens == 131072)
        covered |= WR_COVER_BIT(WINDOW_128K);
    if (c->window_tokens == 200000)
        covered |= WR_COVER_BIT(WINDOW_200K);
    return covered;
}

struct look {
    const struct wr_transcript *transcript;
    struct wr_arena *arena;
    uint32_t covered, searches;
    uint64_t *failed; /* hashes of the commands that failed so far */
    uint32_t failed_count;
};

static bool is_printed(enum wr_output_kind kind)
{
    return kind == WR_OUTPUT_PROCESS || kind == WR_OUTPUT_TEST || kind == WR_OUTPUT_LOG;
}

static bool has_kind(const struct wr_signal_set *set, enum wr_signal_kind kind)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->signals[i].kind == kind)
            return true;
    return false;
}

static bool has_failed(const struct wr_segment *s, const struct wr_signal_set *signals)
{
    return s->is_error || (s->handles->has_exit_code && s->handles->exit_code) ||
           has_kind(signals, WR_SIGNAL_ERROR) || has_kind(signals, WR_SIGNAL_FAILED_TEST);
}

static void look_at_command(struct look *look, const struct wr_segment *s,
                            const struct wr_signal_set *signals)
{
    if (!s->handles || !s->handles->command.len)
        return;
    uint64_t hash = wr_hash64(s->handles->command);
    bool is_failure = has_failed(s, signals);
    if (is_failure)
        look->failed[look->failed_count++] = hash;
    for (uint32_t i = 0; i < look->failed_count && !is_failure; i++)
        if (look->failed[i] == hash)
            look->covered |= WR_COVER_BIT(FAILURE_RECOVERY);
}

static weir_status look_at_printed(struct look *look, const struct wr_segment *s, weir_span text,
                                   enum wr_output_kind kind)
{
    struct wr_signal_set signals;
    weir_status status = wr_signal_scan(&signals, look->arena, text, kind);
    if (status)
        return status;
    if (s->class_ == WEIR_CLASS_DROPPABLE_DUPLICATE)
        look->covered |= WR_COVER_BIT(REPEATED_BUILD);
    if (has_kind(&signals, WR_SIGNAL_ERROR) && has_kind(&signals, WR_SIGNAL_LOCATION))
        look->covered |= WR_COVER_BIT(COMPILER_ERROR);
    if (has_kind(&signals, WR_SIGNAL_FRAME))
        look->covered |= WR_COVER_BIT(RUNTIME_ERROR);
    look_at_command(look, s, &signals);
    return WEIR_OK;
}

static weir_status look_at_result(struct look *look, const struct wr_segment *s)
{
    weir_span text = wr_segment_text(look->transcript, s, look->arena);
    if (!text.ptr)
        return wr_arena_status(look->arena);
    enum wr_output_kind kind = wr_output_kind_of(s, text);
    if (kind == WR_OUTPUT_DIFF && text.len >= DIFF_BYTES_MIN)
        look->covered |= WR_COVER_BIT(LARGE_DIFF);
    if (kind == WR_OUTPUT_BLOB)
        look->covered |= WR_COVER_BIT(BINARY_NOISE);
    if ((kind == WR_OUTPUT_SEARCH || kind == WR_OUTPUT_LIST) && ++look->searches == SEARCHES_MIN)
        look->covered |= WR_COVER_BIT(NAVIGATION);
    return is_printed(kind) ? look_at_printed(look, s, text, kind) : WEIR_OK;
}

static void count_files(struct look *look)
{
    const struct wr_transcript *t = look->transcript;
    weir_span paths[FILES_MIN];
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        const struct wr_effect *write;
        if (s->kind != WEIR_KIND_TOOL_CALL || !s->handles)
            continue;
        for (size_t at = 0; (write = wr_tool_next_write(s->handles, &at)) != NULL;) {
            uint32_t k = 0;
            while (k < count && !wr_span_eq(paths[k], write->path))
                k++;
            if (k == count && write->path.len)
                paths[count++] = write->path;
            if (count == FILES_MIN) {
                look->covered |= WR_COVER_BIT(REFACTORING);
                return;
            }
        }
    }
}

static weir_status find_duplicate_calls(struct look *look)
{
    const struct wr_transcript *t = look->transcript;
    uint64_t *calls = WR_ARENA_ARRAY(look->arena, uint64_t, t->segments_count);
    uint32_t count = 0;

    if (!calls)
        return wr_arena_status(look->arena);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOL_CALL)
            continue;
        uint64_t hash = wr_hash64_seeded(wr_segment_text(t, s, look->arena), wr_hash64(s->tool));
        for (uint32_t k = 0; k < count; k++)
            if (calls[k] == hash)
                look->covered |= WR_COVER_BIT(DUPLICATE_CALLS);
        calls[count++] = hash;
    }
    return WEIR_OK;
}

weir_status wr_cover_request(const struct wr_strict_body *in, struct wr_arena *arena,
                             uint32_t *covered)
{
    const struct wr_transcript *t = &in->transcript;
    struct look look = {.transcript = t, .arena = arena};

    look.failed = WR_ARENA_ARRAY(arena, uint64_t, t->segments_count);
    weir_status status = look.failed ? WEIR_OK : wr_arena_status(arena);
    for (uint32_t i = 0; i < t->segments_count && !status; i++)
        if (t->segments[i].kind == WEIR_KIND_TOOL_RESULT)
            status = look_at_result(&look, &t->segments[i]);
    if (!status)
        status = find_duplicate_calls(&look);
    count_files(&look);
    *covered |= look.covered;
    return status;
}

uint64_t wr_cover_instructions(const struct wr_strict_body *in, struct wr_arena *arena)
{
    const struct wr_transcript *t = &in->transcript;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->role == WEIR_ROLE_SYSTEM || s->role == WEIR_ROLE_DEVELOPER)
            hash = wr_hash64_seeded(wr_segment_text(t, s, arena), hash);
    }
    return hash;
}
