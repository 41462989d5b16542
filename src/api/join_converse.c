/* Bedrock's Converse: several answers shown as one.
 *
 * An answer is a list of numbered blocks, as in Anthropic Messages. A call says its name when it
 * begins, and nothing else has an event that begins it: a text is there with its first piece. So
 * nothing has to be held but the end, messageStop with the stop reason and metadata with the usage.
 * Events come out of frames (events.h) and go back into them.
 *
 * What exchanges become in requests is in join_blocks.c.
 */
#include "api/join_api.h"
#include "api/own_api.h"
#include "base/span.h"

/* ---- events ---- */

static void join_block_event(struct wr_join *j, const struct wr_join_event *event, wr_json_id index)
{
    wr_json_id start = wr_json_find(event->doc, 0, "start");
    struct wr_splice splice;
    int64_t from;

    if (!wr_json_i64(event->doc, index, &from)) {
        wr_join_show(j, event, NULL);
        return;
    }
    struct wr_join_number *number = wr_join_number_find(j, from);
    if (!number || start != WR_JSON_NONE) { /* a block begins, whatever had its number before */
        wr_json_id use = wr_json_find(event->doc, start, "toolUse");
        bool is_own = wr_join_is_own(event->doc, wr_json_find(event->doc, use, "name"));
        number = wr_join_number_add(j, from, is_own);
        j->has_hidden |= is_own;
    }
    if (!number || number->to < 0)
        return;
    wr_splice_init(&splice, event->doc, &j->scratch);
    wr_join_set_number(j, &splice, index, number->to);
    wr_join_show(j, event, &splice);
}

static void join_end(struct wr_join *j, const struct wr_join_event *event)
{
    struct wr_splice splice;

    if (!j->is_ending && !wr_join_is_plain(j)) {
        wr_join_hold(j, event, NULL);
        return;
    }
    wr_splice_init(&splice, event->doc, &j->scratch);
    if (!wr_join_is_first(j))
        wr_join_edit_usage(j, &splice, event->doc, wr_json_find(event->doc, 0, "usage"));
    wr_join_show(j, event, &splice);
}

static void join_converse_event(struct wr_join *j, const struct wr_join_event *event)
{
    static const char *const names[] = {"contentBlockIndex", "stopReason", "usage", "role",
                                        "error"};
    wr_json_id fields[5];

    if (!event->doc) {
        wr_join_show(j, event, NULL);
        return;
    }
    (void)wr_json_pick(event->doc, 0, names, 5, fields);
    if (fields[0] != WR_JSON_NONE)
        join_block_event(j, event, fields[0]);
    else if (fields[1] != WR_JSON_NONE || fields[2] != WR_JSON_NONE)
        join_end(j, event);
    else if (fields[4] != WR_JSON_NONE && !wr_join_is_first(j))
        j->has_error = true;
    else if (fields[3] == WR_JSON_NONE || wr_join_is_first(j)) /* a message begins once */
        wr_join_show(j, event, NULL);
}

/* ---- a leg ---- */

static void write_block(struct wr_join *j, struct wr_buf *out, const struct wr_part *part)
{
    struct wr_json_writer writer;

    wr_json_write_init(&writer, out);
    wr_converse_write_part(&writer, part,
                           part->kind == WR_PART_CALL ? wr_leg_input(j, part) : WR_LIT("{}"));
}

static void read_leg(struct wr_join *j, struct wr_leg *leg)
{
    wr_leg_read_blocks(j, leg, write_block);
}

static void edit_whole(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc)
{
    wr_json_id message = wr_json_find(doc, wr_json_find(doc, 0, "output"), "message");
    wr_json_id content = wr_json_find(doc, message, "content");

    wr_leg_edit_blocks(j, splice, doc, content);
}

static void write_joined_converse_result(struct wr_json_writer *w, const struct wr_own_call *call,
                                         weir_span text, bool is_error)
{
    wr_json_write_object(w);
    wr_json_write_key(w, "toolResult");
    wr_json_write_object(w);
    wr_json_member_text(w, "toolUseId", call->id);
    wr_json_write_key(w, "content");
    wr_json_write_array(w);
    wr_json_write_object(w);
    wr_json_member_text(w, "text", text);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
    if (is_error)
        wr_json_member_word(w, "status", "error");
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

/* As the bridge takes it for an exception. */
static void write_joined_converse_error(struct wr_join *j, const char *message, struct wr_buf *out)
{
    struct wr_json_writer writer;

    wr_buf_text(out, "event: error\ndata: ");
    wr_json_write_init(&writer, out);
    wr_json_write_object(&writer);
    wr_json_write_key(&writer, "error");
    wr_json_write_object(&writer);
    j->api->write_error(&writer, 500, message);
    wr_json_write_object_end(&writer);
    wr_json_write_object_end(&writer);
    wr_buf_text(out, "\n\n");
}

/* ---- requests ---- */

static bool may_join(const struct wr_json *doc)
{
    (void)doc;
    return true;
}

/* A cache point, or a tool that the provider runs. */
static bool is_hosted(const struct wr_json *doc, wr_json_id tool)
{
    return wr_json_find(doc, tool, "toolSpec") == WR_JSON_NONE;
}

/* A choice may force a call, and none bars it. */
static bool bars_calls(const struct wr_json *doc)
{
    (void)doc;
    return false;
}

static wr_json_id find_tools(const struct wr_transcript *t)
{
    wr_json_id list = wr_json_find(t->doc, wr_json_find(t->doc, 0, "toolConfig"), "tools");

    return wr_json_is(t->doc, list, WR_JSON_ARRAY) && wr_json_first(t->doc, list) != WR_JSON_NONE
               ? list
               : WR_JSON_NONE;
}

/* ---- the table ---- */

static const char *const call_words[] = {"tool_use", NULL};

const struct wr_joiner wr_joiner_converse = {
    .join_event = join_converse_event,
    .read_leg = read_leg,
    .edit_whole = edit_whole,
    .write_elements = wr_leg_write_blocks,
    .write_result = write_joined_converse_result,
    .write_error = write_joined_converse_error,
    .ping = "",
    .call_words = call_words,
    .may_join = may_join,
    .is_hosted = is_hosted,
    .bars_calls = bars_calls,
    .find_tools = find_tools,
    .put_back = wr_own_blocks_put_back,
};
