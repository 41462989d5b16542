/* Cases are read from JSON into structs that point into it, each function failing with the byte of
 * the value that is wrong: cases are written by hand, and their author must find the place. At the
 * end JSON pointers (RFC 6901), by which a case names values that must stay as they are. */
#include "lab/strict_case.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

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
    for (wr_json_id id = wr_json_first(r->doc, list); id != WR_JSON_NONE;
         id = wr_json_next(r->doc, list, id)) {
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
    for (wr_json_id id = wr_json_first(r->doc, list); id != WR_JSON_NONE;
         id = wr_json_next(r->doc, list, id)) {
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
    for (wr_json_id key = wr_json_first(doc, object); key != WR_JSON_NONE;
         key = wr_json_next(doc, object, key)) {
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
