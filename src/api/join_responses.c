/* OpenAI Responses: several answers shown as one.
 *
 * An answer is a list of items. Every event has a number, and those about an item the item's place.
 * An item says what it is when it is added; what comes about a hidden one is hidden by its place,
 * or by its id where a server leaves the place out.
 *
 * The first and the last events hold the whole response: its id, the tools of the request, at the
 * end all items. The last is held, and shown with the items of all legs, as far as the legs' own
 * ends listed them: some servers leave that list empty.
 */
#include "api/own_api.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"

static bool is_type(const struct wr_json *doc, wr_json_id object, const char *type)
{
    return wr_json_text_is(doc, wr_json_find(doc, object, "type"), type);
}

static bool is_own_item(const struct wr_json *doc, wr_json_id item)
{
    return is_type(doc, item, "function_call") &&
           wr_join_is_own(doc, wr_json_find(doc, item, "name"));
}

/* ---- events ---- */

/* Shows an event with the number that follows. Until something was hidden that is its own. */
static void show_numbered(struct wr_join *j, const struct wr_join_event *event,
                          struct wr_splice *splice)
{
    wr_json_id id = wr_json_find(event->doc, 0, "sequence_number");
    int64_t number;

    if (wr_json_i64(event->doc, id, &number)) {
        if (wr_join_is_plain(j))
            j->sequence_next = number;
        wr_join_set_number(j, splice, id, j->sequence_next++);
    }
    wr_join_show(j, event, splice);
}

/* The tools that a response repeats, without ours. */
static void hide_tool(struct wr_splice *splice, const struct wr_json *doc, wr_json_id response)
{
    wr_join_remove_own(splice, doc, wr_json_find(doc, response, "tools"));
}

static void edit_response(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                          wr_json_id response)
{
    wr_json_id output = wr_json_find(doc, response, "output");
    wr_json_id first = wr_json_first(doc, output);

    wr_join_envelope(j, splice, doc, response);
    hide_tool(splice, doc, response);
    if (!wr_json_is(doc, output, WR_JSON_ARRAY))
        return;
    for (size_t i = 0; i + 1 < j->legs_count; i++)
        for (size_t at = 0; at < j->legs[i].parts_count && j->legs[i].lists_items; at++)
            if (j->legs[i].parts[at].kind != WR_LEG_OWN)
                wr_splice_insert(splice, output, first, j->legs[i].parts[at].json);
    wr_join_remove_own(splice, doc, output);
    wr_join_edit_usage(j, splice, doc, wr_json_find(doc, response, "usage"));
}

static void join_response(struct wr_join *j, const struct wr_join_event *event, bool is_end)
{
    wr_json_id response = wr_json_find(event->doc, 0, "response");
    struct wr_splice splice;

    if (is_end && !j->is_ending && !wr_join_is_plain(j)) {
        wr_json_id output = wr_json_find(event->doc, response, "output");
        j->legs[j->legs_count - 1].lists_items = wr_json_first(event->doc, output) != WR_JSON_NONE;
        wr_join_hold(j, event, NULL);
        return;
    }
    if (!is_end && !wr_join_is_first(j)) /* the client knows that it has begun */
        return;
    wr_splice_init(&splice, event->doc, &j->scratch);
    if (is_end) {
        edit_response(j, &splice, event->doc, response);
    } else {
        wr_join_envelope(j, NULL, event->doc, response);
        hide_tool(&splice, event->doc, response);
    }
    show_numbered(j, event, &splice);
}

static bool is_hidden_id(const struct wr_join *j, const struct wr_json *doc, wr_json_id id)
{
    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return false;
    for (size_t i = 0; i < j->numbers_count; i++)
        if (j->numbers[i].id.len && wr_span_eq(j->numbers[i].id, wr_json_inner(doc, id)))
            return true;
    return false;
}

/* The row of the item that an event is about. An item may be done without having been added. */
static struct wr_join_number *number_of(struct wr_join *j, const struct wr_json *doc, int64_t from)
{
    wr_json_id item = wr_json_find(doc, 0, "item");
    wr_json_id id = wr_json_find(doc, item, "id");
    struct wr_join_number *number = wr_join_number_find(j, from);
    bool is_item = wr_json_is(doc, item, WR_JSON_OBJECT);

    if (!is_item || (number && !is_type(doc, 0, "response.output_item.added")))
        return number;
    number = wr_join_number_add(j, from, is_own_item(doc, item));
    if (!number || number->to >= 0)
        return number;
    j->has_hidden = true;
    if (wr_json_is(doc, id, WR_JSON_STRING))
        number->id = wr_join_keep(j, wr_json_inner(doc, id));
    return number;
}

static void join_item_event(struct wr_join *j, const struct wr_join_event *event)
{
    const struct wr_json *doc = event->doc;
    wr_json_id index = wr_json_find(doc, 0, "output_index");
    wr_json_id item = wr_json_find(doc, 0, "item");
    struct wr_join_number *number = NULL;
    struct wr_splice splice;
    int64_t from;

    if (wr_json_i64(doc, index, &from)) {
        number = number_of(j, doc, from);
    } else if (is_own_item(doc, item)) { /* no place: it is hidden by its id alone */
        number = number_of(j, doc, -1 - (int64_t)j->numbers_count);
    }
    if ((number && number->to < 0) || is_hidden_id(j, doc, wr_json_find(doc, 0, "item_id")))
        return;
    wr_splice_init(&splice, doc, &j->scratch);
    if (number)
        wr_join_set_number(j, &splice, index, number->to);
    show_numbered(j, event, &splice);
}

static bool is_end(const struct wr_json *doc)
{
    return is_type(doc, 0, "response.completed") || is_type(doc, 0, "response.incomplete") ||
           is_type(doc, 0, "response.failed");
}

static void join_responses_event(struct wr_join *j, const struct wr_join_event *event)
{
    const struct wr_json *doc = event->doc;

    if (!doc) { /* some gateways end every stream with [DONE] */
        if (!j->is_ending && !wr_join_is_plain(j))
            wr_join_hold(j, event, NULL);
        else
            wr_join_show(j, event, NULL);
    } else if (wr_json_is(doc, wr_json_find(doc, 0, "response"), WR_JSON_OBJECT)) {
        join_response(j, event, is_end(doc));
    } else if (is_type(doc, 0, "error") && !wr_join_is_first(j)) {
        j->has_error = true;
    } else {
        join_item_event(j, event);
    }
}

/* ---- a leg ---- */

/* All that a message says; parts of it that refuse are no text. */
static weir_span text_of(struct wr_join *j, const struct wr_json *doc, wr_json_id message)
{
    wr_json_id content = wr_json_find(doc, message, "content");
    struct wr_buf text;

    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    for (wr_json_id part = wr_json_first(doc, content); part != WR_JSON_NONE;
         part = wr_json_next(doc, content, part))
        if (wr_own_is_text_part(doc, part)) {
            weir_span said = wr_json_text(doc, &j->scratch, wr_json_find(doc, part, "text"));
            if (!said.ptr)
                wr_join_fail_with(j, wr_arena_status(&j->scratch));
            wr_buf_append(&text, said.ptr ? said : (weir_span){"", 0});
        }
    wr_join_fail_with(j, wr_buf_status(&text));
    weir_span kept = wr_join_keep(j, wr_buf_view(&text));
    wr_buf_release(&text);
    return kept;
}

static weir_span text_at(struct wr_join *j, const struct wr_json *doc, wr_json_id id)
{
    weir_span text = {"", 0};

    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, &j->scratch, id);
    if (!text.ptr)
        wr_join_fail_with(j, wr_arena_status(&j->scratch));
    return wr_join_keep(j, text.ptr ? text : (weir_span){"", 0});
}

static void add_item(struct wr_join *j, struct wr_leg *leg, weir_span raw)
{
    struct wr_json doc;

    wr_arena_reset(&j->scratch);
    weir_status status = wr_json_parse(&doc, &j->scratch, raw, NULL, NULL);
    wr_join_fail_with(j, status);
    if (status)
        return;
    bool is_own = is_own_item(&doc, 0), is_call = wr_responses_is_call(&doc, 0);
    bool is_text = is_type(&doc, 0, "message");
    struct wr_leg_part *part = wr_leg_add(j, leg,
                                          is_own    ? WR_LEG_OWN
                                          : is_call ? WR_LEG_CALL
                                          : is_text ? WR_LEG_TEXT
                                                    : WR_LEG_OTHER);
    if (!part)
        return;
    part->json = wr_join_keep(j, raw);
    if (is_text)
        part->text = text_of(j, &doc, 0);
    part->is_dropped = is_text && wr_text_is_blank(part->text);
    if (!is_call)
        return;
    part->id = text_at(j, &doc, wr_json_find(&doc, 0, "call_id"));
    if (!part->id.len)
        part->id = text_at(j, &doc, wr_json_find(&doc, 0, "id"));
    if (is_own)
        part->text = text_at(j, &doc, wr_json_find(&doc, 0, "arguments"));
    if (is_own && !part->text.len)
        part->text = WR_LIT("{}");
}

static void read_leg(struct wr_join *j, struct wr_leg *leg)
{
    struct wr_arena arena;
    struct wr_reply reply;

    wr_leg_read_answer(j, leg, &arena, &reply);
    leg->lists_items |= leg->bytes.len > 0;
    for (size_t i = 0; i < reply.parts_count && !j->is_broken; i++)
        add_item(j, leg, wr_buf_view(&reply.parts[i].raw));
    wr_answer_release(&reply);
    wr_arena_release(&arena);
}

static void edit_whole(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc)
{
    edit_response(j, splice, doc, 0);
}

static void write_elements(const struct wr_leg *leg, struct wr_buf *out)
{
    wr_leg_write_parts(leg, out);
    for (size_t i = 0; i < leg->calls_count; i++) {
        wr_buf_byte(out, ',');
        wr_buf_append(out, leg->results[i]);
    }
}

static void write_joined_responses_result(struct wr_json_writer *w, const struct wr_own_call *call,
                                          weir_span text, bool is_error)
{
    (void)is_error; /* the API has no word for it */
    wr_json_write_object(w);
    wr_json_member_word(w, "type", "function_call_output");
    wr_json_member_text(w, "call_id", call->id);
    wr_json_member_text(w, "output", text);
    wr_json_write_object_end(w);
}

/* A response that has begun fails as one: a client that waits for its end hears of it. */
static void write_joined_responses_error(struct wr_join *j, const char *message, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_buf_text(out, "event: response.failed\ndata: ");
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "type", "response.failed");
    wr_json_member_i64(&w, "sequence_number", j->sequence_next++);
    wr_json_write_key(&w, "response");
    wr_json_write_object(&w);
    wr_json_write_key(&w, "id");
    wr_json_write_raw(&w, j->id.len ? j->id : WR_LIT("\"\""));
    wr_json_member_word(&w, "object", "response");
    wr_json_write_key(&w, "created_at");
    wr_json_write_raw(&w, j->created.len ? j->created : WR_LIT("0"));
    wr_json_write_key(&w, "model");
    wr_json_write_raw(&w, j->model.len ? j->model : WR_LIT("\"\""));
    wr_json_member_word(&w, "status", "failed");
    wr_json_write_key(&w, "error");
    wr_json_write_object(&w);
    wr_json_member_word(&w, "code", "server_error");
    wr_json_member_word(&w, "message", message);
    wr_json_write_object_end(&w);
    wr_json_write_key(&w, "output");
    wr_json_write_array(&w);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
    wr_buf_text(out, "\n\n");
}

/* ==== exchanges put back into requests ====
 *
 * An answer is a run of items in the list. Where the provider holds the history, the list has only
 * what is new: then results of ours go before, between or behind the client's.
 */

static bool is_set(const struct wr_json *doc, wr_json_id id)
{
    return id != WR_JSON_NONE && wr_json_kind(doc, id) != WR_JSON_NULL;
}

static bool may_join(const struct wr_json *doc)
{
    return !wr_json_is(doc, wr_json_find(doc, 0, "background"), WR_JSON_TRUE) &&
           !is_set(doc, wr_json_find(doc, 0, "conversation"));
}

static bool is_hosted(const struct wr_json *doc, wr_json_id tool)
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

static void show_stored(struct wr_splice *splice, const struct wr_json *doc,
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

static bool put_back(struct wr_own_edits *e)
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

/* ---- the table ---- */

static const char *const call_words[] = {"completed", NULL};

const struct wr_joiner wr_joiner_responses = {
    .join_event = join_responses_event,
    .read_leg = read_leg,
    .edit_whole = edit_whole,
    .write_elements = write_elements,
    .write_result = write_joined_responses_result,
    .write_error = write_joined_responses_error,
    .ping = ": ping\n\n",
    .call_words = call_words,
    .may_join = may_join,
    .is_hosted = is_hosted,
    .put_back = put_back,
    .show_stored = show_stored,
};
