/* Anthropic Messages: several answers shown as one, and exchanges put back into requests.
 *
 * An answer is a list of blocks. A block says what it is when it begins, so nothing has to be held
 * but the end: message_delta, which has the stop reason and the usage, and message_stop. Blocks are
 * numbered; those behind a hidden one, and those of later legs, get the numbers that follow.
 * What exchanges become in requests is in join_blocks.c.
 */
#include "api/join_api.h"
#include "api/own_api.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

static bool is_type(const struct wr_json *doc, wr_json_id object, const char *type)
{
    return wr_json_text_is(doc, wr_json_find(doc, object, "type"), type);
}

static bool is_own_block(const struct wr_json *doc, wr_json_id block)
{
    return is_type(doc, block, "tool_use") && wr_join_is_own(doc, wr_json_find(doc, block, "name"));
}

/* ---- events ---- */

static void join_block_event(struct wr_join *j, const struct wr_join_event *event)
{
    wr_json_id index = wr_json_find(event->doc, 0, "index");
    struct wr_splice splice;
    int64_t from;

    if (!wr_json_i64(event->doc, index, &from)) {
        wr_join_show(j, event, NULL);
        return;
    }
    struct wr_join_number *number = wr_join_number_find(j, from);
    if (is_type(event->doc, 0, "content_block_start")) {
        bool is_own = is_own_block(event->doc, wr_json_find(event->doc, 0, "content_block"));
        number = wr_join_number_add(j, from, is_own);
        j->has_hidden |= is_own;
    }
    if (number && number->to < 0)
        return;
    wr_splice_init(&splice, event->doc, &j->scratch);
    if (number)
        wr_join_set_number(j, &splice, index, number->to);
    wr_join_show(j, event, &splice);
}

/* What the last leg took in. Its beginning said so, which was not shown; most ends say it again. */
static void set_input(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                      wr_json_id usage)
{
    const struct wr_seen_usage *last = &j->legs[j->legs_count - 1].usage;
    struct {
        const char *key;
        int64_t tokens;
    } const rows[] = {{"input_tokens", last->input_tokens},
                      {"cache_creation_input_tokens", last->cache_write_tokens},
                      {"cache_read_input_tokens", last->cache_read_tokens}};

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        wr_json_id now = wr_json_find(doc, usage, rows[i].key);
        struct wr_buf member;
        weir_span text;
        if (rows[i].tokens < 0 || wr_json_is(doc, now, WR_JSON_NUMBER))
            continue;
        if (now != WR_JSON_NONE) {
            wr_join_set_number(j, splice, now, rows[i].tokens);
            continue;
        }
        wr_buf_init(&member, WR_OUTPUT_BYTES_MAX);
        wr_buf_printf(&member, "\"%s\":%lld", rows[i].key, (long long)rows[i].tokens);
        wr_join_fail_with(j, wr_text_keep(&j->scratch, &member, &text));
        if (!j->is_broken)
            wr_splice_insert(splice, usage, WR_JSON_NONE, text);
    }
}

static void join_end(struct wr_join *j, const struct wr_join_event *event)
{
    wr_json_id usage = wr_json_find(event->doc, 0, "usage");
    struct wr_splice splice;

    if (!j->is_ending && !wr_join_is_plain(j)) {
        wr_join_hold(j, event, NULL);
        return;
    }
    wr_splice_init(&splice, event->doc, &j->scratch);
    if (!wr_join_is_first(j) && wr_json_is(event->doc, usage, WR_JSON_OBJECT)) {
        wr_join_edit_usage(j, &splice, event->doc, usage);
        set_input(j, &splice, event->doc, usage);
    }
    wr_join_show(j, event, &splice);
}

static void join_messages_event(struct wr_join *j, const struct wr_join_event *event)
{
    const struct wr_json *doc = event->doc;

    if (!doc) { /* some gateways end every stream with [DONE] */
        if (!j->is_ending && !wr_join_is_plain(j))
            wr_join_hold(j, event, NULL);
        else
            wr_join_show(j, event, NULL);
    } else if (is_type(doc, 0, "message_start")) {
        wr_join_envelope(j, NULL, doc, wr_json_find(doc, 0, "message"));
        if (wr_join_is_first(j))
            wr_join_show(j, event, NULL);
    } else if (is_type(doc, 0, "message_delta") || is_type(doc, 0, "message_stop")) {
        join_end(j, event);
    } else if (is_type(doc, 0, "error") && !wr_join_is_first(j)) {
        j->has_error = true;
    } else {
        join_block_event(j, event);
    }
}

/* ---- a leg ---- */

static void write_call(struct wr_join *j, struct wr_json_writer *w, const struct wr_part *part)
{
    wr_json_write_object(w);
    wr_json_member_word(w, "type", "tool_use");
    wr_json_member_text(w, "id", wr_buf_view(&part->id));
    wr_json_member_text(w, "name", wr_buf_view(&part->name));
    wr_json_write_key(w, "input");
    wr_json_write_raw(w, wr_leg_input(j, part));
    wr_json_write_object_end(w);
}

static weir_span signature_member(struct wr_join *j, weir_span signature)
{
    struct wr_buf member;
    weir_span text = {"", 0};

    wr_buf_init(&member, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&member, "\"signature\":\"");
    wr_json_escape(&member, signature);
    wr_buf_byte(&member, '"');
    wr_join_fail_with(j, wr_text_keep(&j->scratch, &member, &text));
    return text;
}

static bool is_json(struct wr_join *j, weir_span text)
{
    struct wr_json doc;
    weir_status status = wr_json_parse(&doc, &j->scratch, text, NULL, NULL);

    if (status == WEIR_NOMEM)
        wr_join_fail_with(j, status);
    return !status;
}

/* A block as it began, with what came behind. Blocks of the provider's own tools say what they were
 * called with in pieces, as calls do. */
static void write_grown(struct wr_join *j, struct wr_buf *out, const struct wr_part *part)
{
    static const char *const names[] = {"text", "thinking", "signature", "input"};
    weir_span text = wr_buf_view(&part->text), signature = wr_buf_view(&part->signature);
    struct wr_splice splice;
    wr_json_id values[4];
    struct wr_json doc;

    wr_arena_reset(&j->scratch);
    weir_status status = wr_json_parse(&doc, &j->scratch, wr_buf_view(&part->raw), NULL, NULL);
    wr_join_fail_with(j, status);
    if (status)
        return;
    (void)wr_json_pick(&doc, 0, names, 4, values);
    wr_splice_init(&splice, &doc, &j->scratch);
    wr_json_id grown = part->kind == WR_PART_TEXT       ? values[0]
                       : part->kind == WR_PART_THINKING ? values[1]
                                                        : WR_JSON_NONE;
    if (wr_json_is(&doc, grown, WR_JSON_STRING))
        wr_splice_set_text(&splice, grown, text);
    if (wr_json_is(&doc, values[2], WR_JSON_STRING))
        wr_splice_set_text(&splice, values[2], signature);
    else if (signature.len && values[2] == WR_JSON_NONE)
        wr_splice_insert(&splice, 0, WR_JSON_NONE, signature_member(j, signature));
    if (part->kind == WR_PART_OTHER && values[3] != WR_JSON_NONE && text.len && is_json(j, text))
        wr_splice_set_json(&splice, values[3], text);
    wr_join_fail_with(j, wr_splice_apply(&splice, out, NULL));
}

static void write_block(struct wr_join *j, struct wr_buf *out, const struct wr_part *part)
{
    struct wr_json_writer writer;

    wr_json_write_init(&writer, out);
    if (part->kind == WR_PART_CALL)
        write_call(j, &writer, part);
    else
        write_grown(j, out, part);
}

static void read_leg(struct wr_join *j, struct wr_leg *leg)
{
    wr_leg_read_blocks(j, leg, write_block);
}

static void edit_whole(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc)
{
    wr_json_id content = wr_json_find(doc, 0, "content");

    wr_join_envelope(j, splice, doc, 0);
    wr_leg_edit_blocks(j, splice, doc, content);
}

static void write_joined_messages_result(struct wr_json_writer *w, const struct wr_own_call *call,
                                         weir_span text, bool is_error)
{
    wr_json_write_object(w);
    wr_json_member_word(w, "type", "tool_result");
    wr_json_member_text(w, "tool_use_id", call->id);
    wr_json_member_text(w, "content", text);
    if (is_error)
        wr_json_member_bool(w, "is_error", true);
    wr_json_write_object_end(w);
}

/* ---- requests ---- */

/* History that the provider holds cannot be gone back to for a second leg. */
static bool may_join(const struct wr_json *doc)
{
    return wr_json_find(doc, 0, "thread") == WR_JSON_NONE;
}

/* Tools with a type are Anthropic's; some of them the client runs. */
static bool is_hosted(const struct wr_json *doc, wr_json_id tool)
{
    static const char *const fronts[] = {"bash_", "text_editor_", "computer_", "memory_", "custom"};
    wr_json_id type = wr_json_find(doc, tool, "type");

    if (!wr_json_is(doc, type, WR_JSON_STRING))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(fronts); i++)
        if (wr_span_starts(wr_json_inner(doc, type), wr_span_of(fronts[i])))
            return false;
    return true;
}

/* ---- the table ---- */

static const char *const call_words[] = {"tool_use", NULL};

const struct wr_joiner wr_joiner_messages = {
    .join_event = join_messages_event,
    .read_leg = read_leg,
    .edit_whole = edit_whole,
    .write_elements = wr_leg_write_blocks,
    .write_result = write_joined_messages_result,
    .error_front = "event: error\ndata: ",
    .error_back = "\n\n",
    .ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    .call_words = call_words,
    .may_join = may_join,
    .is_hosted = is_hosted,
    .put_back = wr_own_blocks_put_back,
};
