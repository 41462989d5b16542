/* Gemini: exchanges of the proxy's own recall, put back into requests.
 *
 * A client sends an answer back as one content of the model, or, where it keeps every chunk of a
 * stream, as several that follow each other; either is read as one row of parts. Calls often have
 * no ids, and clients make up ids of their own, so an answer is known by what its calls say. Our
 * result needs no id to find our call: the service pairs by name and order, and no other tool is
 * called as ours is.
 */
#include "api/gemini.h"
#include "api/own_api.h"
#include "api/read.h"
#include "base/span.h"
#include "base/text.h"

/* ---- what a request says ---- */

static wr_json_id find_in(const struct wr_json *doc, const char *name, const char *other)
{
    return wr_gemini_find(doc, wr_api_root_of(doc, &wr_api_gemini), name, other);
}

/* One answer, and a history that is all here. */
bool wr_own_gemini_may_join(const struct wr_json *doc)
{
    wr_json_id config = find_in(doc, "generationConfig", "generation_config");
    wr_json_id cached = find_in(doc, "cachedContent", "cached_content");
    int64_t answers = 1;

    (void)wr_json_i64(doc, wr_gemini_find(doc, config, "candidateCount", "candidate_count"),
                      &answers);
    return answers == 1 &&
           !(wr_json_is(doc, cached, WR_JSON_STRING) && wr_json_inner(doc, cached).len);
}

bool wr_own_gemini_bars_calls(const struct wr_json *doc)
{
    wr_json_id config = find_in(doc, "toolConfig", "tool_config");
    wr_json_id calling =
        wr_gemini_find(doc, config, "functionCallingConfig", "function_calling_config");

    return wr_json_text_is(doc, wr_json_find(doc, calling, "mode"), "NONE");
}

/* Of what stands in a list of declarations none is. */
bool wr_own_gemini_is_hosted(const struct wr_json *doc, wr_json_id tool)
{
    return wr_json_find(doc, tool, "name") == WR_JSON_NONE;
}

wr_json_id wr_own_gemini_find_tools(const struct wr_transcript *t)
{
    const struct wr_json *doc = t->doc;
    wr_json_id tools = wr_json_find(doc, wr_api_root(t), "tools");

    if (!wr_json_is(doc, tools, WR_JSON_ARRAY))
        return WR_JSON_NONE;
    for (wr_json_id tool = wr_json_first(doc, tools); tool != WR_JSON_NONE;
         tool = wr_json_next(doc, tools, tool)) {
        wr_json_id list =
            wr_gemini_find(doc, tool, "functionDeclarations", "function_declarations");
        if (wr_json_is(doc, list, WR_JSON_ARRAY) && wr_json_first(doc, list) != WR_JSON_NONE)
            return list;
    }
    return WR_JSON_NONE;
}

uint64_t wr_own_gemini_mark_call(const struct wr_json *doc, wr_json_id part, struct wr_arena *arena)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(doc, part, fields);
    uint64_t name = wr_own_likeness(doc, wr_json_find(doc, fields[P_CALL], "name"), arena);
    uint64_t args = wr_own_likeness(doc, wr_json_find(doc, fields[P_CALL], "args"), arena);
    return name * 0x9e3779b97f4a7c15u + args;
}

/* ---- what earlier legs have said ---- */

struct fronts {
    struct wr_own_front words, thoughts;
};

static uint64_t mark_signature(const struct wr_json *doc, const wr_json_id *fields)
{
    bool is_signed = wr_json_is(doc, fields[P_SIGNATURE], WR_JSON_STRING);
    return is_signed ? wr_hash64(wr_json_inner(doc, fields[P_SIGNATURE])) : 0;
}

static void read_element(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text, bool wants_thoughts)
{
    wr_json_id parts = wr_json_find(doc, element, "parts"), fields[WR_GEMINI_FIELDS];

    if (!wr_json_text_is(doc, wr_json_find(doc, element, "role"), "model"))
        return;
    for (wr_json_id part = wr_json_first(doc, parts); part != WR_JSON_NONE;
         part = wr_json_next(doc, parts, part)) {
        (void)wr_gemini_pick(doc, part, fields);
        bool is_thought = wr_json_is(doc, fields[P_THOUGHT], WR_JSON_TRUE);
        if (!wr_json_is(doc, fields[P_TEXT], WR_JSON_STRING))
            wr_own_add_mark(e, front, wr_own_likeness(doc, part, e->arena));
        else if (is_thought == wants_thoughts)
            wr_buf_append(text, wr_own_text(e, doc, fields[P_TEXT]));
        if (fields[P_SIGNATURE] != WR_JSON_NONE)
            wr_own_add_mark(e, front, mark_signature(doc, fields));
    }
}

static void read_words(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                       struct wr_own_front *front, struct wr_buf *text)
{
    read_element(e, doc, element, front, text, false);
}

static void read_thoughts(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                          struct wr_own_front *front, struct wr_buf *text)
{
    read_element(e, doc, element, front, text, true);
}

/* ---- the client's answer ---- */

/* Its contents, up to `end`, the one behind them or NONE. */
struct answer {
    wr_json_id first, end;
    bool has_words;
};

static wr_json_id parts_of(const struct wr_json *doc, wr_json_id content)
{
    wr_json_id parts = wr_json_find(doc, content, "parts");
    return wr_json_is(doc, parts, WR_JSON_ARRAY) ? parts : WR_JSON_NONE;
}

static wr_json_id first_of(const struct wr_json *doc, wr_json_id parts)
{
    return parts == WR_JSON_NONE ? WR_JSON_NONE : wr_json_first(doc, parts);
}

static bool has_field(const struct wr_json *doc, wr_json_id part, enum part_field field)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(doc, part, fields);
    return fields[field] != WR_JSON_NONE;
}

/* A thought that an earlier leg has not had stays: some clients shorten them. */
static enum wr_own_fate cut_text(struct wr_own_edits *e, struct fronts *f, struct answer *answer,
                                 const wr_json_id *fields)
{
    const struct wr_json *doc = e->t->doc;
    bool is_thought = wr_json_is(doc, fields[P_THOUGHT], WR_JSON_TRUE);
    struct wr_own_front *front = is_thought ? &f->thoughts : &f->words;
    weir_span said = wr_own_text(e, doc, fields[P_TEXT]), rest;

    if (wr_text_is_blank(said)) {
        bool is_known = fields[P_SIGNATURE] != WR_JSON_NONE &&
                        wr_own_has_mark(&f->words, mark_signature(doc, fields));
        return is_known ? WR_OWN_GONE : WR_OWN_STAYS;
    }
    answer->has_words |= !is_thought;
    if (wr_own_front_is_over(front))
        return WR_OWN_STAYS;
    switch (wr_own_match_text(front, said, &rest)) {
    case WR_OWN_NO_MATCH:
        return is_thought ? WR_OWN_STAYS : WR_OWN_FITS_NOT;
    case WR_OWN_ALL:
        return WR_OWN_GONE;
    case WR_OWN_CUT:
        break;
    }
    if (wr_text_is_blank(rest))
        return WR_OWN_GONE;
    if (rest.len < said.len)
        wr_own_set_text(e, fields[P_TEXT], rest);
    return WR_OWN_STAYS;
}

static enum wr_own_fate cut_part(struct wr_own_edits *e, struct fronts *f, struct answer *answer,
                                 wr_json_id part)
{
    wr_json_id fields[WR_GEMINI_FIELDS];

    (void)wr_gemini_pick(e->t->doc, part, fields);
    if (wr_json_is(e->t->doc, fields[P_TEXT], WR_JSON_STRING))
        return cut_text(e, f, answer, fields);
    bool is_known = wr_own_has_mark(&f->words, wr_own_likeness(e->t->doc, part, e->arena));
    return is_known ? WR_OWN_GONE : WR_OWN_STAYS;
}

/* Cuts what earlier legs have off the front; they had no calls of the client's. A content that has
 * nothing left leaves, not its parts. */
static bool cut_answer(struct wr_own_edits *e, struct answer *answer)
{
    const struct wr_json *doc = e->t->doc;
    struct fronts f;
    bool has_called = false;

    if (!wr_own_read_front(e, read_words, &f.words) ||
        !wr_own_read_front(e, read_thoughts, &f.thoughts))
        return false;
    for (wr_json_id at = answer->first; at != answer->end; at = wr_json_next(doc, e->t->list, at)) {
        wr_json_id parts = parts_of(doc, at);
        size_t edits_count = e->count, count = 0, gone = 0;
        for (wr_json_id part = first_of(doc, parts); part != WR_JSON_NONE;
             part = wr_json_next(doc, parts, part)) {
            has_called |= has_field(doc, part, P_CALL);
            enum wr_own_fate fate = has_called ? WR_OWN_STAYS : cut_part(e, &f, answer, part);
            if (fate == WR_OWN_FITS_NOT)
                return false;
            if (fate == WR_OWN_GONE)
                wr_own_remove(e, parts, part);
            gone += fate == WR_OWN_GONE;
            count++;
        }
        if (!count || gone < count)
            continue;
        e->count = edits_count;
        wr_own_remove(e, e->t->list, at);
    }
    /* Some clients drop what was said beside calls. */
    return wr_own_front_is_over(&f.words) || !answer->has_words;
}

/* ---- calls and results ---- */

/* The place in a list behind so many of a kind: before the next of them, else behind the last.
 * False: it has none. `*before` has what is left to count. */
static bool find_place(const struct wr_json *doc, wr_json_id parts, enum part_field field,
                       uint32_t *before, wr_json_id *place, bool *is_found)
{
    bool has_any = false;

    for (wr_json_id part = first_of(doc, parts); part != WR_JSON_NONE;
         part = wr_json_next(doc, parts, part)) {
        if (!has_field(doc, part, field))
            continue;
        has_any = true;
        if (!*before) {
            *place = part;
            *is_found = true;
            return true;
        }
        --*before;
        *place = wr_json_next(doc, parts, part);
    }
    return has_any;
}

static bool put_call(struct wr_own_edits *e, const struct answer *answer,
                     const struct wr_own_hidden *h)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id list = WR_JSON_NONE, place = WR_JSON_NONE;
    uint32_t before = h->calls_before;
    bool is_found = false;

    for (wr_json_id at = answer->first; at != answer->end && !is_found;
         at = wr_json_next(doc, e->t->list, at)) {
        wr_json_id parts = parts_of(doc, at);
        if (find_place(doc, parts, P_CALL, &before, &place, &is_found))
            list = parts;
    }
    if (list == WR_JSON_NONE)
        return false;
    wr_own_insert(e, list, place, h->call);
    return true;
}

static bool put_beside(struct wr_own_edits *e, const struct wr_own_leg *beside,
                       const struct answer *answer)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id results = answer->end == WR_JSON_NONE ? WR_JSON_NONE : parts_of(doc, answer->end);

    for (uint32_t i = 0; i < beside->hidden_count; i++) {
        uint32_t before = beside->hidden[i].calls_before;
        wr_json_id place = WR_JSON_NONE;
        bool is_found = false;
        if (!put_call(e, answer, &beside->hidden[i]) ||
            !find_place(doc, results, P_RESPONSE, &before, &place, &is_found))
            return false;
        wr_own_insert(e, results, place, beside->hidden[i].result);
    }
    return true;
}

bool wr_own_gemini_put_back(struct wr_own_edits *e)
{
    const struct wr_json *doc = e->t->doc;
    const struct wr_own_leg *beside = wr_own_beside(e);

    if (!e->answer || !wr_json_is(doc, e->t->list, WR_JSON_ARRAY))
        return false;
    wr_json_id first = e->t->segments[e->answer->first].message;
    wr_json_id last = e->t->segments[e->answer->last].message;
    if (first == WR_JSON_NONE || last == WR_JSON_NONE)
        return false;
    struct answer answer = {.first = first, .end = wr_json_next(doc, e->t->list, last)};
    if (!cut_answer(e, &answer))
        return false;
    wr_own_insert_elements(e, first);
    return !beside || put_beside(e, beside, &answer);
}
