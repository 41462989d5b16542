/* OpenAI Responses: exchanges of the proxy's own recall, put back into requests.
 *
 * An answer is a run of items in the list. Where the provider holds the history, the list has only
 * what is new: then results of ours go before, between or behind the client's.
 */
#include "api/join_responses.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"

static bool is_type(const struct wr_json *doc, wr_json_id object, const char *type)
{
    return wr_json_text_is(doc, wr_json_find(doc, object, "type"), type);
}

static bool is_set(const struct wr_json *doc, wr_json_id id)
{
    return id != WR_JSON_NONE && wr_json_kind(doc, id) != WR_JSON_NULL;
}

bool wr_own_responses_may_join(const struct wr_json *doc)
{
    return !wr_json_is(doc, wr_json_find(doc, 0, "background"), WR_JSON_TRUE) &&
           !is_set(doc, wr_json_find(doc, 0, "conversation"));
}

bool wr_own_responses_is_hosted(const struct wr_json *doc, wr_json_id tool)
{
    static const char *const own[] = {"function", "custom",      "local_shell",
                                      "shell",    "apply_patch", "namespace"};
    wr_json_id type = wr_json_find(doc, tool, "type");

    for (size_t i = 0; i < WR_COUNT_OF(own); i++)
        if (wr_json_text_is(doc, type, own[i]))
            return false;
    return !wr_json_is(doc, type, WR_JSON_STRING) ||
           !wr_span_starts(wr_json_inner(doc, type), WR_LIT("computer"));
}

/* ---- an answer's items ---- */

static bool is_message(const struct wr_json *doc, wr_json_id item)
{
    wr_json_id type = wr_json_find(doc, item, "type");

    return wr_json_text_is(doc, type, "message") ||
           (type == WR_JSON_NONE && wr_json_find(doc, item, "role") != WR_JSON_NONE);
}

static void read_element(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text)
{
    wr_json_id content = wr_json_find(doc, element, "content");

    if (wr_responses_is_call(doc, element) || wr_responses_is_result(doc, element))
        return;
    if (!is_type(doc, element, "message")) {
        wr_own_add_mark(e, front, wr_own_mark(doc, element, e->arena));
        wr_own_add_mark(e, front, wr_own_mark_without_id(doc, element, e->arena));
        return;
    }
    for (wr_json_id part = wr_json_first(doc, content); part != WR_JSON_NONE;
         part = wr_json_next(doc, content, part))
        if (wr_own_is_text_part(doc, part))
            wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, part, "text")));
}

/* Whether an item stands in an earlier leg: then it leaves, or a part of it. */
static bool cut_item(struct wr_own_edits *e, struct wr_own_front *front, wr_json_id item,
                     bool *fits)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id content = wr_json_find(doc, item, "content");

    if (wr_responses_is_call(doc, item))
        return false;
    if (!is_message(doc, item)) {
        bool is_known = wr_own_has_mark(front, wr_own_mark(doc, item, e->arena));
        if (is_known)
            wr_own_remove(e, e->t->list, item);
        return is_known;
    }
    if (wr_own_front_is_over(front))
        return false;
    bool has_text =
        wr_json_is(doc, content, WR_JSON_STRING) || wr_json_first(doc, content) != WR_JSON_NONE;
    switch (has_text ? wr_own_cut_content(e, front, content) : WR_OWN_GONE) {
    case WR_OWN_FITS_NOT:
        *fits = false;
        return false;
    case WR_OWN_STAYS:
        return false;
    case WR_OWN_GONE:
        wr_own_remove(e, e->t->list, item);
        return true;
    }
    return false;
}

/* The items of an answer, and of them the first that is no earlier leg's. */
struct items {
    wr_json_id first, end; /* `end`: the one behind them, or NONE */
    uint32_t count;        /* from the first on */
    bool has_text;
};

static bool cut_items(struct wr_own_edits *e, struct items *items)
{
    const struct wr_json *doc = e->t->doc;
    struct wr_own_front front;
    bool fits = wr_own_read_front(e, read_element, &front);

    items->has_text = false;
    for (wr_json_id at = items->first; at != items->end; at = wr_json_next(doc, e->t->list, at))
        items->has_text |= is_message(doc, at);
    while (fits && items->first != items->end && cut_item(e, &front, items->first, &fits))
        items->first = wr_json_next(doc, e->t->list, items->first);
    items->count = 0;
    for (wr_json_id at = items->first; at != items->end; at = wr_json_next(doc, e->t->list, at))
        items->count++;
    return fits && (wr_own_front_is_over(&front) || !items->has_text);
}

static bool has_ids(const struct wr_own_edits *e, const struct items *items)
{
    const struct wr_json *doc = e->t->doc;

    for (wr_json_id at = items->first; at != items->end; at = wr_json_next(doc, e->t->list, at))
        if (wr_json_find(doc, at, "id") != WR_JSON_NONE)
            return true;
    return false;
}

/* Some clients send items back without their ids. One with its id among them would be taken for the
 * provider's own, whose reasoning must then be there under its id too. */
static weir_span without_id(struct wr_own_edits *e, weir_span call)
{
    struct wr_json_writer w;
    struct wr_json doc;
    struct wr_buf out;
    weir_span text = call;

    e->status = wr_json_parse(&doc, e->arena, call, NULL, NULL);
    if (e->status)
        return call;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&w, &out);
    wr_json_write_object(&w);
    for (wr_json_id key = wr_json_first(&doc, 0); key != WR_JSON_NONE;
         key = wr_json_next(&doc, 0, key)) {
        if (wr_json_text_is(&doc, key, "id"))
            continue;
        weir_span name = wr_json_raw(&doc, key), value = wr_json_raw(&doc, wr_json_value(key));
        name.len = (size_t)(value.ptr - name.ptr);
        wr_json_write_raw_key(&w, name);
        wr_json_write_raw(&w, value);
    }
    wr_json_write_object_end(&w);
    e->status = wr_text_keep(e->arena, &out, &text);
    return text;
}

static void put_calls(struct wr_own_edits *e, const struct wr_own_leg *beside,
                      const struct items *items)
{
    const struct wr_json *doc = e->t->doc;
    bool is_same = items->count == beside->parts_count, keeps_id = has_ids(e, items);

    for (uint32_t i = 0; i < beside->hidden_count; i++) {
        const struct wr_own_hidden *h = &beside->hidden[i];
        uint32_t before = is_same ? h->parts_before : h->calls_before;
        wr_json_id at = items->first, behind = items->end;
        for (; at != items->end; at = wr_json_next(doc, e->t->list, at)) {
            bool counts = is_same || wr_responses_is_call(doc, at);
            if (counts && !before--)
                break;
            if (counts)
                behind = wr_json_next(doc, e->t->list, at);
        }
        wr_own_insert(e, e->t->list, at != items->end ? at : behind,
                      keeps_id ? h->call : without_id(e, h->call));
    }
}

static void put_results(struct wr_own_edits *e, const struct wr_own_leg *beside, wr_json_id first)
{
    const struct wr_json *doc = e->t->doc;

    for (uint32_t i = 0; i < beside->hidden_count; i++) {
        wr_json_id at = first;
        for (uint32_t before = beside->hidden[i].calls_before;
             before && at != WR_JSON_NONE && wr_responses_is_result(doc, at); before--)
            at = wr_json_next(doc, e->t->list, at);
        wr_own_insert(e, e->t->list, at, beside->hidden[i].result);
    }
}

/* ---- answers that are asked for ---- */

static bool is_own_call(const struct wr_json *doc, wr_json_id item)
{
    return wr_responses_is_call(doc, item) && wr_join_is_own(doc, wr_json_find(doc, item, "name"));
}

/* Whether an item answers a call of ours that stands in the same list. */
static bool answers_own(const struct wr_json *doc, wr_json_id list, wr_json_id item)
{
    wr_json_id id = wr_json_find(doc, item, "call_id");

    if (!wr_responses_is_result(doc, item) || !wr_json_is(doc, id, WR_JSON_STRING))
        return false;
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id call = wr_json_find(doc, at, "call_id");
        if (is_own_call(doc, at) && wr_json_is(doc, call, WR_JSON_STRING) &&
            wr_span_eq(wr_json_inner(doc, call), wr_json_inner(doc, id)))
            return true;
    }
    return false;
}

static void remove_own_items(struct wr_splice *splice, const struct wr_json *doc, wr_json_id list)
{
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at))
        if (is_own_call(doc, at) || answers_own(doc, list, at))
            wr_splice_remove(splice, list, at);
}

/* What the legs before the last one said stands before what it said. */
static void insert_earlier(struct wr_splice *splice, const struct wr_json *doc, wr_json_id output,
                           const struct wr_own_stored *stored)
{
    struct wr_own_exchange exchange;
    struct wr_json legs;

    if (!stored->exchange.len ||
        wr_own_decode(WEIR_DIALECT_RESPONSES, stored->exchange, stored->arena, &exchange))
        return;
    for (uint32_t i = 0; i < exchange.legs_count; i++) {
        if (!exchange.legs[i].elements.len ||
            wr_own_parse_elements(stored->arena, exchange.legs[i].elements, &legs))
            continue;
        for (wr_json_id at = wr_json_first(&legs, 0); at != WR_JSON_NONE;
             at = wr_json_next(&legs, 0, at))
            if (!is_own_call(&legs, at) && !wr_responses_is_result(&legs, at))
                wr_splice_insert(splice, output, wr_json_first(doc, output),
                                 wr_json_raw(&legs, at));
    }
}

void wr_own_responses_show_stored(struct wr_splice *splice, const struct wr_json *doc,
                                  const struct wr_own_stored *stored)
{
    wr_json_id id = wr_json_find(doc, 0, "id"), object = wr_json_find(doc, 0, "object");
    wr_json_id output = wr_json_find(doc, 0, "output"), data = wr_json_find(doc, 0, "data");
    bool is_list = wr_json_text_is(doc, object, "list");

    if (wr_json_is(doc, id, WR_JSON_STRING) && !is_list)
        wr_splice_set_text(splice, id, stored->id);
    wr_join_remove_own(splice, doc, wr_json_find(doc, 0, "tools"));
    if (wr_json_is(doc, output, WR_JSON_ARRAY)) {
        insert_earlier(splice, doc, output, stored);
        remove_own_items(splice, doc, output);
    }
    if (is_list && wr_json_is(doc, data, WR_JSON_ARRAY))
        remove_own_items(splice, doc, data);
}

bool wr_own_responses_put_back(struct wr_own_edits *e)
{
    const struct wr_json *doc = e->t->doc;
    const struct wr_own_leg *beside = wr_own_beside(e);

    if (!wr_json_is(doc, e->t->list, WR_JSON_ARRAY))
        return false;
    if (!e->answer) {
        if (beside)
            put_results(e, beside, wr_json_first(doc, e->t->list));
        return true;
    }
    wr_json_id first = e->t->segments[e->answer->first].message;
    wr_json_id last = e->t->segments[e->answer->last].message;
    if (first == WR_JSON_NONE || last == WR_JSON_NONE)
        return false;
    struct items items = {.first = first, .end = wr_json_next(doc, e->t->list, last)};
    if (!cut_items(e, &items))
        return false;
    wr_own_insert_elements(e, first);
    if (beside) {
        put_calls(e, beside, &items);
        put_results(e, beside, items.end);
    }
    return true;
}
