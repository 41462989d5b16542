/* OpenHands: published runs, each a record with the `messages` that its model was sent.
 *
 * An array of records, one a line, or a single one: instance_id or run_id, messages (or
 * trajectory), resolved, and more. Where the model calls no tools by API, it writes
 *
 *     <function=execute_bash>
 *     <parameter=command>ls</parameter>
 *     </function>
 *
 * behind its words, and the user's next message is the result: these become a call and its result.
 * The closing tag may be missing: it is where the model was stopped.
 */
#include "lab/import_reader.h"

#include "base/limits.h"
#include "base/span.h"

static wr_node list_of(wr_node record)
{
    wr_node messages = wr_node_get(record, "messages");
    return wr_node_is(messages, WR_JSON_ARRAY) ? messages : wr_node_get(record, "trajectory");
}

static bool is_record(wr_node record)
{
    return wr_import_is_chat(wr_node_first(list_of(record))) &&
           (wr_node_has(record, "instance_id", WR_JSON_STRING) ||
            wr_node_has(record, "run_id", WR_JSON_STRING));
}

static bool claims_openhands_messages(wr_node document)
{
    return is_record(document) || is_record(wr_node_first(document));
}

/* ---- calls in words ---- */

struct text_call {
    weir_span before, name, parameters;
};

/* Cuts `text` at `mark`, which both sides lose. False: it is not there. */
static bool split_at(weir_span text, weir_span mark, weir_span *before, weir_span *behind)
{
    size_t at = wr_span_find(text, mark, 0);
    if (at == SIZE_MAX)
        return false;
    *before = wr_span_cut(text, 0, at);
    *behind = wr_span_cut(text, at + mark.len, text.len);
    return true;
}

static bool find_call(weir_span text, struct text_call *call)
{
    weir_span rest, unused;
    if (!split_at(text, WR_LIT("<function="), &call->before, &rest) ||
        !split_at(rest, WR_LIT(">"), &call->name, &call->parameters))
        return false;
    (void)split_at(call->parameters, WR_LIT("</function"), &call->parameters, &unused);
    call->before = wr_span_trim(call->before);
    return call->name.len > 0;
}

/* A value stands alone on its lines, or on the line of its tags. */
static weir_span without_breaks(weir_span value)
{
    if (value.len && value.ptr[0] == '\n')
        value = wr_span_cut(value, 1, value.len);
    if (value.len && value.ptr[value.len - 1] == '\n')
        value.len--;
    return value;
}

/* `{"NAME":"VALUE",...}`. */
static weir_span arguments_of(struct wr_draft *draft, weir_span parameters)
{
    struct wr_buf out;
    weir_span unused, name, value, rest = parameters;
    wr_buf_init(&out, WR_JSON_BODY_BYTES_MAX);
    wr_buf_byte(&out, '{');
    while (split_at(rest, WR_LIT("<parameter="), &unused, &rest) &&
           split_at(rest, WR_LIT(">"), &name, &rest)) {
        if (!split_at(rest, WR_LIT("</parameter>"), &value, &rest)) {
            value = rest;
            rest = WR_LIT("");
        }
        wr_buf_text(&out, out.len > 1 ? ",\"" : "\"");
        wr_json_escape(&out, name);
        wr_buf_text(&out, "\":\"");
        wr_json_escape(&out, without_breaks(value));
        wr_buf_byte(&out, '"');
    }
    wr_buf_byte(&out, '}');
    return wr_draft_take_escaped(draft, &out);
}

/* The plain text of content that may be blocks. */
static weir_span plain_text(struct wr_importer *in, weir_span content)
{
    struct wr_buf quoted;
    struct wr_json doc;
    wr_buf_init(&quoted, WR_JSON_BODY_BYTES_MAX);
    wr_buf_byte(&quoted, '"');
    wr_buf_append(&quoted, content);
    wr_buf_byte(&quoted, '"');
    weir_span text = wr_arena_copy(&in->scratch, wr_buf_view(&quoted));
    bool ok = text.ptr && !quoted.status && !wr_json_parse(&doc, &in->scratch, text, NULL, NULL);
    wr_buf_release(&quoted);
    return ok ? wr_json_text(&doc, &in->scratch, 0) : WR_LIT("");
}

static void read_openhands_messages_output(struct wr_importer *in, struct wr_draft *draft,
                                           wr_node message)
{
    weir_span content = wr_import_content(in, draft, wr_node_get(message, "content"), NULL);
    struct text_call call;
    if (!find_call(plain_text(in, content), &call)) {
        wr_draft_answer(draft, content, WR_SESSION_NO_TIME);
        return;
    }
    uint32_t output =
        wr_draft_answer(draft, wr_draft_escape(draft, call.before), WR_SESSION_NO_TIME);
    wr_draft_call(draft, output, WR_LIT(""), call.name, arguments_of(draft, call.parameters));
}

static void read_openhands_messages_words(struct wr_importer *in, struct wr_draft *draft,
                                          wr_node message)
{
    wr_node role = wr_node_get(message, "role");
    if (wr_node_text_is(role, "assistant"))
        read_openhands_messages_output(in, draft, message);
    else if (wr_node_text_is(role, "user") && wr_draft_has_open(draft))
        wr_draft_result(draft, WR_LIT(""),
                        wr_import_content(in, draft, wr_node_get(message, "content"), NULL),
                        WR_SESSION_NO_TIME);
    else
        wr_import_chat_message(in, draft, message);
}

/* ---- records ---- */

static bool has_calls(wr_node messages)
{
    WR_NODE_EACH(message, messages)
    if (wr_node_first(wr_node_get(message, "tool_calls")).id != WR_JSON_NONE)
        return true;
    return false;
}

/* `model`, or what a run is named after: MODEL_maxiter_100_N_... */
static weir_span model_of(struct wr_importer *in, wr_node record)
{
    weir_span model = wr_node_text(in, wr_node_get(record, "model")), unused;
    if (!model.len && !split_at(wr_node_text(in, wr_node_get(record, "run_id")), WR_LIT("_maxiter"),
                                &model, &unused))
        return WR_LIT("");
    return model;
}

static void read_record(struct wr_importer *in, wr_node record)
{
    wr_node messages = list_of(record);
    bool is_by_api = has_calls(messages);
    struct wr_draft draft;
    wr_import_begin_draft(in, &draft);
    wr_draft_model(&draft, model_of(in, record));
    WR_NODE_EACH(message, messages)
    {
        if (is_by_api)
            wr_import_chat_message(in, &draft, message);
        else
            read_openhands_messages_words(in, &draft, message);
    }
    wr_import_end_draft(in, &draft);
}

static weir_status read_openhands_messages_log(struct wr_importer *in)
{
    wr_node root = wr_import_root(in), entry;
    if (!in->is_lines && wr_node_is(root, WR_JSON_OBJECT)) {
        read_record(in, root);
        return in->status;
    }
    wr_import_walk_list(in, root);
    while (wr_import_next(in, &entry))
        read_record(in, entry);
    return in->status;
}

const struct wr_import_format wr_import_openhands_messages = {
    "openhands", is_record, claims_openhands_messages, read_openhands_messages_log,
    WEIR_DIALECT_CHAT};
