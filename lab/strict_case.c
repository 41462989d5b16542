/* Cases are read from JSON into structs that point into it, each function failing with the byte of
 * the value that is wrong: cases are written by hand, and their author must find the place. At the
 * end JSON pointers (RFC 6901), by which a case names values that must stay as they are. */
#include "lab/strict_case.h"

#include "api/api.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/signal.h"
#include "policy/stage.h"
#include "transcript/tool.h"

/* Reading is flat: each function fails with the byte of the value that is wrong. */
struct reader {
    struct wr_json *doc;
    struct wr_arena *arena;
    struct weir_err *err;
};

static weir_status wrong(struct reader *r, wr_json_id id, const char *what)
{
    size_t at_byte = id == WR_JSON_NONE ? 0 : r->doc->nodes[id].start;
    return wr_fail(r->err, WEIR_INVALID, at_byte, "%s", what);
}

/* ---- small values ---- */

/* Which of `words` the member is; `*word` stays where there is no such member. */
static weir_status read_word(struct reader *r, wr_json_id object, const char *key,
                             const char *const *words, uint32_t count, uint32_t *word)
{
    wr_json_id id = wr_json_find(r->doc, object, key);
    if (id == WR_JSON_NONE)
        return WEIR_OK;
    for (uint32_t i = 0; i < count; i++)
        if (wr_json_text_is(r->doc, id, words[i])) {
            *word = i;
            return WEIR_OK;
        }
    return wr_fail(r->err, WEIR_INVALID, r->doc->nodes[id].start, "`%s` has an unknown value", key);
}

static weir_status read_number(struct reader *r, wr_json_id object, const char *key, int64_t max,
                               int64_t *number)
{
    wr_json_id id = wr_json_find(r->doc, object, key);
    if (id == WR_JSON_NONE)
        return WEIR_OK;
    if (wr_json_i64(r->doc, id, number) && *number >= 0 && *number <= max)
        return WEIR_OK;
    return wr_fail(r->err, WEIR_INVALID, r->doc->nodes[id].start,
                   "`%s` is no whole number from 0 to %lld", key, (long long)max);
}

static weir_status read_texts(struct reader *r, wr_json_id object, const char *key,
                              struct wr_case_texts *texts)
{
    wr_json_id list = wr_json_find(r->doc, object, key);
    if (list == WR_JSON_NONE)
        return WEIR_OK;
    if (!wr_json_is(r->doc, list, WR_JSON_ARRAY))
        return wr_fail(r->err, WEIR_INVALID, r->doc->nodes[list].start, "`%s` is no list", key);
    texts->items = WR_ARENA_ARRAY(r->arena, weir_span, wr_json_count(r->doc, list));
    if (!texts->items)
        return wr_arena_status(r->arena);
    WR_JSON_EACH(id, r->doc, list) {
        if (!wr_json_is(r->doc, id, WR_JSON_STRING) || !wr_json_inner(r->doc, id).len)
            return wr_fail(r->err, WEIR_INVALID, r->doc->nodes[id].start,
                           "`%s` holds something that is no text", key);
        weir_span text = wr_json_text(r->doc, r->arena, id);
        if (!text.ptr)
            return wr_arena_status(r->arena);
        texts->items[texts->count++] = text;
    }
    return WEIR_OK;
}

/* ---- turns ---- */

static weir_status read_expectations(struct reader *r, wr_json_id object, struct wr_case_turn *turn)
{
    static const char *const outcomes[] = {"any", "rewrite", "pass_through"};
    static const char *const troubles[] = {"sound", "missing", "corrupt", "locked"};
    uint32_t outcome = 0, trouble = 0;
    int64_t pause_ms = 0;

    weir_status status = read_word(r, object, "expected_outcome", outcomes, 3, &outcome);
    if (!status)
        status = read_word(r, object, "store", troubles, 4, &trouble);
    if (!status)
        status = read_number(r, object, "pause_ms", INT32_MAX, &pause_ms);
    turn->outcome = (enum wr_case_outcome)outcome;
    turn->trouble = (enum wr_case_trouble)trouble;
    turn->pause_ms = (uint64_t)pause_ms;
    return status;
}

static weir_status read_turn(struct reader *r, wr_json_id object, bool is_first,
                             struct wr_case_turn *turn)
{
    turn->request = wr_json_find(r->doc, object, "request");
    turn->append = wr_json_find(r->doc, object, "append");
    if (turn->request != WR_JSON_NONE && !wr_json_is(r->doc, turn->request, WR_JSON_OBJECT))
        return wrong(r, turn->request, "`request` is no object");
    if (turn->append != WR_JSON_NONE && !wr_json_is(r->doc, turn->append, WR_JSON_ARRAY))
        return wrong(r, turn->append, "`append` is no list");
    if ((turn->request == WR_JSON_NONE) == (turn->append == WR_JSON_NONE))
        return wrong(r, object, "a turn has either `request` or `append`");
    if (is_first && turn->request == WR_JSON_NONE)
        return wrong(r, object, "the first turn of a case has a `request`");
    weir_status status = read_texts(r, object, "required_text", &turn->required);
    if (!status)
        status = read_texts(r, object, "kept_text", &turn->kept);
    if (!status)
        status = read_texts(r, object, "preserve_json_pointers", &turn->pointers);
    if (!status)
        status = read_texts(r, object, "unresolved_handles", &turn->unresolved);
    if (!status)
        status = read_texts(r, object, "resolved_handles", &turn->resolved);
    return status ? status : read_expectations(r, object, turn);
}

static weir_status read_restarts(struct reader *r, wr_json_id object, struct wr_case *c)
{
    wr_json_id list = wr_json_find(r->doc, object, "restart_before_turns");
    WR_JSON_EACH(id, r->doc, list) {
        int64_t turn;
        if (!wr_json_i64(r->doc, id, &turn) || turn < 0 || turn >= c->turns_count)
            return wrong(r, id, "`restart_before_turns` names a turn that is not there");
        c->turns[turn].restarts = true;
    }
    return WEIR_OK;
}

/* ---- cases ---- */

static weir_status read_route(struct reader *r, wr_json_id object, struct wr_case *c)
{
    static const char *const routes[] = {"responses", "chat", "messages"};
    wr_json_id route = wr_json_find(r->doc, object, "route");
    if (route == WR_JSON_NONE)
        return WEIR_OK;
    if (!wr_json_is(r->doc, route, WR_JSON_STRING))
        return wrong(r, route, "`route` is no text");
    for (size_t i = 0; i < WR_COUNT_OF(routes); i++)
        if (wr_json_text_is(r->doc, route, routes[i]))
            c->dialect = routes[i];
    c->is_foreign = !c->dialect;
    return WEIR_OK;
}

static weir_status read_head(struct reader *r, wr_json_id object, struct wr_case *c)
{
    static const char *const modes[] = {"active", "shadow", "exact"};
    wr_json_id id = wr_json_find(r->doc, object, "id");
    uint32_t mode = 0;
    int64_t window = 0;

    if (!wr_json_is(r->doc, id, WR_JSON_STRING) || !wr_json_inner(r->doc, id).len)
        return wrong(r, object, "a case has an `id`");
    c->id = wr_json_text(r->doc, r->arena, id);
    if (!c->id.ptr)
        return wr_arena_status(r->arena);
    if (c->id.len > WR_STORE_NAME_BYTES_MAX)
        return wrong(r, id, "the `id` is too long");
    weir_status status = read_route(r, object, c);
    if (!status)
        status = read_word(r, object, "mode", modes, 3, &mode);
    if (!status)
        status = read_number(r, object, "context_window_tokens", WR_MODEL_TOKENS_MAX, &window);
    c->mode = (enum wr_case_mode)mode;
    c->window_tokens = (uint32_t)window;
    return status;
}

static weir_status read_case(struct reader *r, wr_json_id object, struct wr_case *c)
{
    wr_json_id turns = wr_json_find(r->doc, object, "turns");

    c->doc = r->doc;
    if (!wr_json_is(r->doc, object, WR_JSON_OBJECT))
        return wrong(r, object, "a case is no object");
    weir_status status = read_head(r, object, c);
    if (status)
        return status;
    if (!wr_json_is(r->doc, turns, WR_JSON_ARRAY) || !wr_json_count(r->doc, turns))
        return wrong(r, turns == WR_JSON_NONE ? object : turns, "a case has a list of `turns`");
    c->turns = WR_ARENA_ARRAY(r->arena, struct wr_case_turn, wr_json_count(r->doc, turns));
    if (!c->turns)
        return wr_arena_status(r->arena);
    for (wr_json_id id = wr_json_first(r->doc, turns); id != WR_JSON_NONE && !status;
         id = wr_json_next(r->doc, turns, id), c->turns_count++)
        status = read_turn(r, id, !c->turns_count, &c->turns[c->turns_count]);
    return status ? status : read_restarts(r, object, c);
}

weir_status wr_cases_read(struct wr_cases *cases, struct wr_arena *arena, weir_span text,
                          struct weir_err *err)
{
    struct reader r = {&cases->doc, arena, err};

    *cases = (struct wr_cases){.count = 0};
    weir_status status = wr_json_parse(&cases->doc, arena, text, NULL, err);
    if (status)
        return status;
    wr_json_id list = wr_json_find(&cases->doc, 0, "scenarios");
    if (!wr_json_is(&cases->doc, list, WR_JSON_ARRAY) || !wr_json_count(&cases->doc, list))
        return wrong(&r, list, "no file of cases: `scenarios` is missing or empty");
    cases->items = WR_ARENA_ARRAY(arena, struct wr_case, wr_json_count(&cases->doc, list));
    if (!cases->items)
        return wr_arena_status(arena);
    for (wr_json_id id = wr_json_first(&cases->doc, list); id != WR_JSON_NONE && !status;
         id = wr_json_next(&cases->doc, list, id), cases->count++)
        status = read_case(&r, id, &cases->items[cases->count]);
    return status;
}

/* ---- pointers ---- */

/* Whether a key, unescaped, is the pointer's part, in which `~1` is a slash and `~0` a tilde. */
static bool is_part(weir_span key, weir_span part)
{
    size_t at = 0;
    for (size_t i = 0; i < part.len; i++, at++) {
        char c = part.ptr[i];
        if (c == '~' && i + 1 < part.len && (part.ptr[i + 1] == '0' || part.ptr[i + 1] == '1'))
            c = part.ptr[++i] == '0' ? '~' : '/';
        if (at >= key.len || key.ptr[at] != c)
            return false;
    }
    return at == key.len;
}

static wr_json_id find_member(const struct wr_json *doc, struct wr_arena *arena, wr_json_id object,
                              weir_span part)
{
    WR_JSON_EACH(key, doc, object) {
        weir_span name = wr_json_text(doc, arena, key);
        if (name.ptr && is_part(name, part))
            return wr_json_value(key);
    }
    return WR_JSON_NONE;
}

static wr_json_id find_element(const struct wr_json *doc, wr_json_id list, weir_span part)
{
    uint64_t index;
    if (!wr_span_u64(part, &index))
        return WR_JSON_NONE;
    wr_json_id id = wr_json_first(doc, list);
    while (id != WR_JSON_NONE && index--)
        id = wr_json_next(doc, list, id);
    return id;
}

wr_json_id wr_json_pointer(const struct wr_json *doc, struct wr_arena *arena, weir_span pointer)
{
    wr_json_id at = 0;
    if (pointer.len && pointer.ptr[0] != '/')
        return WR_JSON_NONE;
    for (size_t from = 0; from < pointer.len && at != WR_JSON_NONE;) {
        size_t end = wr_span_find(pointer, WR_LIT("/"), from + 1);
        if (end == SIZE_MAX)
            end = pointer.len;
        weir_span part = wr_span_cut(pointer, from + 1, end);
        if (wr_json_is(doc, at, WR_JSON_OBJECT))
            at = find_member(doc, arena, at, part);
        else if (wr_json_is(doc, at, WR_JSON_ARRAY))
            at = find_element(doc, at, part);
        else
            at = WR_JSON_NONE;
        from = end;
    }
    return at;
}

/* ---- strict check ----
 *
 * What was sent is judged from its bytes: both bodies are parsed here, and the engine is not asked
 * what it did. A check that asks the checked would pass whatever the engine believes of itself.
 *
 * First the structure (members, pointers, calls and results), then handles and signals, at last
 * coverage: which hard cases the requests hold.
 */

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
    WR_JSON_EACH(id, &body->doc, tools) {
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
    static const char *const texts[] = WR_NAMES_OF(WR_COVER_MAP);
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
