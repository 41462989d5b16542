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
#include "api/join_responses.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

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
    .may_join = wr_own_responses_may_join,
    .is_hosted = wr_own_responses_is_hosted,
    .put_back = wr_own_responses_put_back,
    .show_stored = wr_own_responses_show_stored,
};
