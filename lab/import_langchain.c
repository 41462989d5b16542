/* LangChain: lists of messages as messages_to_dict() gives them ({type, data}), as dumpd() does
 * ({lc, id, kwargs}), or dumped flat ({type, content}); an array, one a line, or under `messages`.
 */
#include "lab/import_reader.h"

#include "base/span.h"

/* A message's fields and what it is called. */
struct message {
    wr_node fields;
    weir_span type;
};

static bool is_type(weir_span type, const char *name, const char *class_name)
{
    /* A chunk is a message that came as a stream and was put together. */
    static const char chunk[] = "Chunk";
    if (wr_span_ends(type, wr_span_of(chunk)))
        type.len -= sizeof(chunk) - 1;
    return wr_span_is(type, name) || wr_span_is(type, class_name);
}

static struct message message_of(wr_node value)
{
    wr_node data = wr_node_get(value, "data"), kwargs = wr_node_get(value, "kwargs");
    struct message m = {value, wr_node_inner(wr_node_get(value, "type"))};
    if (wr_node_is(kwargs, WR_JSON_OBJECT) && wr_node_has(value, "lc", WR_JSON_NUMBER)) {
        m.fields = kwargs;
        m.type = WR_LIT("");
        WR_NODE_EACH(name, wr_node_get(value, "id"))
            m.type = wr_node_inner(name);
    } else if (wr_node_is(data, WR_JSON_OBJECT)) {
        m.fields = data;
    }
    return m;
}

static bool is_message(wr_node value)
{
    static const char *const types[][2] = {
        {"human", "HumanMessage"}, {"ai", "AIMessage"},     {"system", "SystemMessage"},
        {"tool", "ToolMessage"},   {"chat", "ChatMessage"}, {"function", "FunctionMessage"}};
    struct message m = message_of(value);
    if (wr_node_get(m.fields, "content").id == WR_JSON_NONE ||
        wr_node_has(value, "role", WR_JSON_STRING))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(types); i++)
        if (is_type(m.type, types[i][0], types[i][1]))
            return true;
    return false;
}

static wr_node list_of(wr_node document)
{
    return wr_node_is(document, WR_JSON_ARRAY) ? document : wr_node_get(document, "messages");
}

static bool claims_langchain(wr_node document)
{
    return is_message(wr_node_first(list_of(document)));
}

static void read_langchain_calls(struct wr_importer *in, struct wr_draft *d, uint32_t output,
                                 wr_node fields)
{
    wr_node calls = wr_node_get(fields, "tool_calls");
    wr_node as_sent = wr_node_get(wr_node_get(fields, "additional_kwargs"), "tool_calls");
    if (wr_node_first(calls).id == WR_JSON_NONE)
        calls = as_sent;
    WR_NODE_EACH(call, calls) {
        wr_node function = wr_node_get(call, "function"), arguments = wr_node_get(call, "args");
        if (wr_node_is(function, WR_JSON_OBJECT))
            arguments = wr_node_get(function, "arguments");
        else
            function = call;
        wr_draft_call(d, output, wr_node_text(in, wr_node_get(call, "id")),
                      wr_node_text(in, wr_node_get(function, "name")),
                      wr_import_arguments(d, arguments));
    }
}

static void read_langchain_output(struct wr_importer *in, struct wr_draft *d, wr_node fields)
{
    wr_node content = wr_node_get(fields, "content");
    wr_node metadata = wr_node_get(fields, "response_metadata");
    wr_node model = wr_node_get(metadata, "model_name");
    uint32_t output = wr_draft_answer(d, wr_node_inner(content), WR_SESSION_NO_TIME);
    if (model.id == WR_JSON_NONE)
        model = wr_node_get(metadata, "model");
    wr_draft_model(d, wr_node_text(in, model));
    WR_NODE_EACH(block, content) {
        wr_node text = wr_node_get(block, "text");
        wr_draft_append(d, output, wr_node_inner(wr_node_is(block, WR_JSON_STRING) ? block : text));
    }
    read_langchain_calls(in, d, output, fields);
}

static void read_langchain_message(struct wr_importer *in, struct wr_draft *d, wr_node value)
{
    struct message m = message_of(value);
    wr_node role = wr_node_get(m.fields, "role"), content = wr_node_get(m.fields, "content");
    bool is_chat = is_type(m.type, "chat", "ChatMessage");
    if (is_type(m.type, "ai", "AIMessage") || (is_chat && wr_node_text_is(role, "assistant")))
        read_langchain_output(in, d, m.fields);
    else if (is_type(m.type, "tool", "ToolMessage") ||
             is_type(m.type, "function", "FunctionMessage"))
        wr_draft_result(d, wr_node_text(in, wr_node_get(m.fields, "tool_call_id")),
                        wr_import_content(in, d, content, NULL), WR_SESSION_NO_TIME);
    else if (is_type(m.type, "system", "SystemMessage") ||
             (is_chat && wr_node_text_is(role, "system")))
        wr_draft_say(d, WEIR_ROLE_SYSTEM, wr_import_content(in, d, content, NULL),
                     WR_SESSION_NO_TIME);
    else if (is_chat || is_type(m.type, "human", "HumanMessage"))
        wr_draft_say(d, WEIR_ROLE_USER, wr_import_content(in, d, content, NULL),
                     WR_SESSION_NO_TIME);
    else
        wr_import_note(in, WR_IMPORT_ROLE_UNKNOWN);
}

static weir_status read_langchain_log(struct wr_importer *in)
{
    struct wr_draft draft;
    wr_node message;
    wr_import_begin_draft(in, &draft);
    if (!in->is_lines)
        wr_import_walk_list(in, list_of(wr_import_root(in)));
    while (wr_import_next(in, &message))
        read_langchain_message(in, &draft, message);
    wr_import_end_draft(in, &draft);
    return in->status;
}

const struct wr_import_format wr_import_langchain = {"langchain", is_message, claims_langchain,
                                                     read_langchain_log, WEIR_DIALECT_CHAT};
