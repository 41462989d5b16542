/* What the writers of the APIs share. A session writes its next request with this, the laboratory
 * recorded sessions in an API of its choice, the engine a summary or a notice that it puts in.
 *
 * The laboratory's texts are JSON already and keep their spelling (`is_raw`): decoding and encoding
 * again would cost it a third of its time, and change how a text is escaped.
 */
#include "api/write.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { CALLS_FIRST_COUNT = 32, IMAGES_FIRST_COUNT = 4 };

void wr_body_init(struct wr_body *b, const struct wr_api *api, struct wr_buf *out)
{
    *b = (struct wr_body){.api = api};
    wr_json_write_init(&b->w, out);
    wr_arena_init(&b->scratch, WR_ARENA_BYTES_MAX);
    wr_arena_init(&b->kept, WR_ARENA_BYTES_MAX);
    wr_buf_init(&b->words, WR_OUTPUT_BYTES_MAX);
}

void wr_body_release(struct wr_body *b)
{
    wr_buf_release(&b->words);
    wr_arena_release(&b->scratch);
    wr_arena_release(&b->kept);
}

static void note_status(struct wr_body *b, weir_status status)
{
    if (status && !b->w.out->status)
        b->w.out->status = status;
}

/* ---- parts ---- */

void wr_body_text(struct wr_body *b, const char *key, weir_span text)
{
    wr_json_write_key(&b->w, key);
    if (b->is_raw)
        wr_json_write_raw(&b->w, text.len ? text : WR_LIT("\"\""));
    else
        wr_json_write_text(&b->w, text);
}

/* Ids that a provider would refuse: the letters of Messages are letters everywhere. */
static weir_span safe_id(weir_span id, char room[24])
{
    bool is_good = id.len > 0 && id.len <= 64;
    for (size_t i = 0; i < id.len && is_good; i++)
        is_good = wr_is_word(id.ptr[i]) || id.ptr[i] == '-';
    if (is_good)
        return id;
    (void)snprintf(room, 24, "call_%016llx", (unsigned long long)wr_hash64(id));
    return wr_span_of(room);
}

void wr_body_id(struct wr_body *b, const char *key, weir_span id)
{
    char room[24];
    wr_body_text(b, key, b->api->checks_ids && !b->is_raw ? safe_id(id, room) : id);
}

void wr_body_block(struct wr_body *b, const char *type, weir_span text)
{
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "type", type);
    wr_body_text(b, "text", text);
    wr_json_write_object_end(&b->w);
}

void wr_body_items(struct wr_body *b, const struct wr_line *line)
{
    for (size_t i = 0; i < line->items_count; i++)
        wr_json_write_raw(&b->w, line->items[i]);
}

void wr_body_images(struct wr_body *b, const struct wr_line *line)
{
    for (size_t i = 0; i < line->images_count; i++)
        b->api->write_image(b, &line->images[i]);
}

void wr_body_keep_images(struct wr_body *b, const struct wr_line *line)
{
    for (size_t i = 0; i < line->images_count; i++) {
        if (!WR_ARENA_ROOM(&b->kept, b->images, b->images_count, b->images_cap,
                           IMAGES_FIRST_COUNT)) {
            note_status(b, wr_arena_status(&b->kept));
            return;
        }
        b->images[b->images_count++] = &line->images[i];
    }
}

void wr_body_schema(struct wr_body *b, const char *key, const struct weir_tool *tool)
{
    wr_json_write_key(&b->w, key);
    wr_json_write_raw(&b->w, tool->schema.len ? tool->schema : WR_LIT("{\"type\":\"object\"}"));
}

/* The text of a JSON string as it stands. */
static weir_span text_of_raw(struct wr_body *b, weir_span raw)
{
    struct wr_json *doc = WR_ARENA_ARRAY(&b->scratch, struct wr_json, 1);
    weir_span text = {NULL, 0};

    if (doc && !wr_json_parse(doc, &b->scratch, raw, NULL, NULL))
        text = wr_json_text(doc, &b->scratch, 0);
    if (!text.ptr)
        note_status(b, wr_arena_status(&b->scratch));
    return text.ptr ? text : (weir_span){"", 0};
}

void wr_body_object(struct wr_body *b, const char *key, weir_span arguments)
{
    struct wr_json doc;

    wr_arena_reset(&b->scratch);
    weir_span text = b->is_raw ? text_of_raw(b, arguments) : arguments;
    weir_status status =
        text.len ? wr_json_parse(&doc, &b->scratch, text, NULL, NULL) : WEIR_SYNTAX;
    note_status(b, status == WEIR_NOMEM ? status : WEIR_OK);
    wr_json_write_key(&b->w, key);
    if (!status && wr_json_is(&doc, 0, WR_JSON_OBJECT)) {
        wr_json_write_raw(&b->w, wr_json_raw(&doc, 0));
        return;
    }
    wr_json_write_object(&b->w);
    if (!wr_text_is_blank(text))
        wr_body_text(b, "input", arguments);
    wr_json_write_object_end(&b->w);
}

void wr_body_arguments(struct wr_body *b, weir_span arguments)
{
    bool is_blank = !b->is_raw && wr_text_is_blank(arguments);
    wr_body_text(b, "arguments", is_blank ? WR_LIT("{}") : arguments);
}

void wr_body_note_call(struct wr_body *b, weir_span id, weir_span name)
{
    if (!WR_ARENA_ROOM(&b->kept, b->calls, b->calls_count, b->calls_cap, CALLS_FIRST_COUNT)) {
        note_status(b, wr_arena_status(&b->kept));
        return;
    }
    struct wr_written_call call = {wr_arena_copy(&b->kept, id), wr_arena_copy(&b->kept, name)};
    note_status(b, wr_arena_status(&b->kept));
    if (call.id.ptr && call.name.ptr)
        b->calls[b->calls_count++] = call;
}

/* The newest first: results stand right behind their calls. */
weir_span wr_body_tool_of(const struct wr_body *b, weir_span call_id)
{
    for (uint32_t i = b->calls_count; i > 0; i--)
        if (wr_span_eq(b->calls[i - 1].id, call_id))
            return b->calls[i - 1].name;
    return (weir_span){"", 0};
}

/* ---- messages ---- */

/* Images stand behind the words, in a list of blocks or beside them (`images_key`). */
static void write_words(struct wr_body *b)
{
    bool has_blocks = b->images_count && !b->api->images_key;

    note_status(b, wr_buf_status(&b->words));
    if (!b->words.len)
        return;
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "role", "user");
    if (has_blocks) {
        wr_json_write_key(&b->w, "content");
        wr_json_write_array(&b->w);
        wr_body_block(b, "text", wr_buf_view(&b->words));
    } else {
        wr_json_member_text(&b->w, "content", wr_buf_view(&b->words));
    }
    if (b->images_count && !has_blocks) {
        wr_json_write_key(&b->w, b->api->images_key);
        wr_json_write_array(&b->w);
    }
    for (uint32_t i = 0; i < b->images_count; i++)
        b->api->write_image(b, b->images[i]);
    if (b->images_count)
        wr_json_write_array_end(&b->w);
    wr_json_write_object_end(&b->w);
    wr_buf_reset(&b->words);
    b->images_count = 0;
}

void wr_body_close(struct wr_body *b)
{
    write_words(b);
    if (!b->open_role)
        return;
    wr_json_write_array_end(&b->w);
    wr_json_write_object_end(&b->w);
    b->open_role = NULL;
}

void wr_body_open(struct wr_body *b, const char *role)
{
    if (b->open_role && !strcmp(b->open_role, role))
        return;
    wr_body_close(b);
    wr_json_write_object(&b->w);
    if (b->api->types_messages)
        wr_json_member_word(&b->w, "type", "message");
    wr_json_member_word(&b->w, "role", role);
    wr_json_write_key(&b->w, b->api->content_key);
    wr_json_write_array(&b->w);
    b->open_role = role;
}

void wr_body_line(struct wr_body *b, const struct wr_line *line)
{
    b->api->write_line(b, line);
}

void wr_body_mark(struct wr_body *b)
{
    struct wr_buf *out = b->w.out;
    if (!b->api->marker || out->status || !out->len || out->bytes[out->len - 1] != '}')
        return;
    if (!b->api->marks_with_blocks)
        out->len--;
    wr_buf_text(out, b->api->marks_with_blocks ? ",{" : ",");
    wr_buf_text(out, b->api->marker);
    wr_buf_byte(out, '}');
}

/* ---- messages whose content is a text ---- */

void wr_body_plain(struct wr_body *b, const char *role, weir_span text)
{
    wr_body_close(b);
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "role", role);
    wr_body_text(b, "content", text);
    wr_json_write_object_end(&b->w);
}

void wr_body_words(struct wr_body *b, weir_span text)
{
    if (!b->joins)
        wr_body_close(b);
    if (b->words.len)
        wr_buf_text(&b->words, "\n\n");
    wr_buf_append(&b->words, text);
}

void wr_body_prompts(struct wr_body *b, const struct wr_body_head *head)
{
    for (size_t i = 0; i < head->prompts_count; i++)
        wr_body_plain(b, "system", head->prompts[i]);
}

void wr_body_function(struct wr_body *b, const struct weir_tool *tool)
{
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "type", "function");
    wr_json_write_key(&b->w, "function");
    wr_json_write_object(&b->w);
    wr_json_member_text(&b->w, "name", tool->name);
    if (tool->description.len)
        wr_json_member_text(&b->w, "description", tool->description);
    wr_body_schema(b, "parameters", tool);
    wr_json_write_object_end(&b->w);
    wr_json_write_object_end(&b->w);
}

/* ---- a whole body ---- */

static void write_model(struct wr_body *b, weir_span model)
{
    const char *front = b->api->model_front;

    wr_arena_reset(&b->scratch);
    if (front && !memchr(model.ptr, '/', model.len)) {
        size_t bytes = strlen(front) + model.len;
        char *whole = wr_arena_alloc(&b->scratch, bytes);
        note_status(b, wr_arena_status(&b->scratch));
        if (!whole)
            return;
        memcpy(whole, front, strlen(front));
        memcpy(whole + strlen(front), model.ptr, model.len);
        model = (weir_span){whole, bytes};
    }
    wr_json_member_text(&b->w, "model", model);
}

/* In some APIs all definitions stand in one tool. */
static void write_tools(struct wr_body *b, const struct wr_body_head *h)
{
    const struct wr_api *api = b->api;

    if (api->tools_object_key && !h->tools_count)
        return; /* it may not be empty */
    if (api->tools_object_key) {
        wr_json_write_key(&b->w, api->tools_object_key);
        wr_json_write_object(&b->w);
    }
    wr_json_write_key(&b->w, "tools");
    wr_json_write_array(&b->w);
    if (api->tools_key) {
        wr_json_write_object(&b->w);
        wr_json_write_key(&b->w, api->tools_key);
        wr_json_write_array(&b->w);
    }
    for (size_t i = 0; i < h->tools_count; i++)
        api->write_tool(b, &h->tools[i]);
    if (h->has_marked_tools)
        wr_body_mark(b);
    if (api->tools_key) {
        wr_json_write_array_end(&b->w);
        wr_json_write_object_end(&b->w);
    }
    wr_json_write_array_end(&b->w);
    if (api->tools_object_key)
        wr_json_write_object_end(&b->w);
}

static void write_head(struct wr_body *b, const struct wr_body_head *h)
{
    const struct wr_api *api = b->api;
    uint64_t tokens = h->output_tokens_max;

    write_model(b, h->model);
    if (!tokens && !h->is_bare)
        tokens = api->output_tokens_default;
    if (tokens && api->output_max_key)
        wr_json_member_number(
            &b->w, h->is_for_provider ? api->provider_max_key : api->output_max_key, tokens);
    if (api->must_not_store && !h->is_bare)
        wr_json_member_bool(&b->w, "store", false);
    if (h->extra.len) {
        wr_buf_byte(b->w.out, ',');
        wr_buf_append(b->w.out, h->extra);
    }
    if (h->has_tools || h->tools_count)
        write_tools(b, h);
}

void wr_body_begin(struct wr_body *b, const struct wr_body_head *h)
{
    wr_json_write_object(&b->w);
    write_head(b, h);
    if (!b->api->has_prompt_in_list)
        b->api->write_prompt(b, h);
    wr_json_write_key(&b->w, b->api->list_key);
    wr_json_write_array(&b->w);
    if (b->api->has_prompt_in_list)
        b->api->write_prompt(b, h);
}

void wr_body_end(struct wr_body *b)
{
    wr_body_close(b);
    wr_json_write_array_end(&b->w);
    wr_json_write_object_end(&b->w);
}

/* A list that is not written from its start: the writer puts the commas between its items. */
void wr_body_list(struct wr_body *b)
{
    wr_json_write_array(&b->w);
}

void wr_body_list_end(struct wr_body *b)
{
    wr_body_close(b);
    wr_json_write_array_end(&b->w);
}

weir_span wr_body_message(const struct wr_api *api, const struct wr_line *line,
                          struct wr_arena *arena)
{
    weir_span json = {NULL, 0};
    struct wr_body body;
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_body_init(&body, api, &out);
    body.is_single = true;
    wr_body_line(&body, line);
    wr_body_close(&body);
    wr_body_release(&body);
    if (!wr_buf_status(&out))
        json = wr_arena_copy(arena, wr_buf_view(&out));
    wr_buf_release(&out);
    return json;
}

void wr_body_reply(struct wr_body *b, const struct wr_line *line)
{
    wr_json_write_object(&b->w);
    b->api->write_reply(b, line);
    wr_json_member_word(&b->w, "model", "meter");
    wr_json_write_object_end(&b->w);
}
