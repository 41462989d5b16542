/* Plain lists of messages: one a line, a JSON array, or a request body with `messages`.
 *
 * Messages are those of Chat Completions; content may also be Anthropic's blocks (tool_use,
 * tool_result). Outputs in a row that have the same id are one, written a block at a time. Times
 * are taken from timestamp, created_at or created where a message has them.
 */
#include "base/span.h"
#include "lab/import_reader.h"

static bool is_role(wr_node role)
{
    static const char *const roles[] = {"system",    "developer", "user",
                                        "assistant", "tool",      "function"};
    for (size_t i = 0; i < WR_COUNT_OF(roles); i++)
        if (wr_node_text_is(role, roles[i]))
            return true;
    return false;
}

bool wr_import_is_chat(wr_node message)
{
    return is_role(wr_node_get(message, "role")) &&
           (wr_node_get(message, "content").id != WR_JSON_NONE ||
            wr_node_has(message, "tool_calls", WR_JSON_ARRAY));
}

static int64_t time_of(wr_node message)
{
    static const char *const keys[] = {"timestamp", "created_at", "created", "time"};
    int64_t time_ms = WR_SESSION_NO_TIME;
    for (size_t i = 0; i < WR_COUNT_OF(keys) && time_ms == WR_SESSION_NO_TIME; i++)
        time_ms = wr_node_time(wr_node_get(message, keys[i]));
    return time_ms;
}

static void read_chat_call(struct wr_importer *in, struct wr_draft *d, uint32_t output,
                           wr_node call)
{
    wr_node function = wr_node_get(call, "function");
    wr_node arguments;
    if (function.id == WR_JSON_NONE)
        function = wr_node_get(call, "custom");
    if (function.id == WR_JSON_NONE)
        function = call;
    arguments = wr_node_get(function, "arguments");
    if (arguments.id == WR_JSON_NONE)
        arguments = wr_node_get(function, "input");
    wr_draft_call(d, output, wr_node_text(in, wr_node_get(call, "id")),
                  wr_node_text(in, wr_node_get(function, "name")),
                  wr_import_arguments(d, arguments));
}

static void read_chat_block(struct wr_importer *in, struct wr_draft *d, uint32_t output,
                            wr_node block)
{
    wr_node type = wr_node_get(block, "type"), text = wr_node_get(block, "text");
    if (wr_node_is(text, WR_JSON_STRING))
        wr_draft_append(d, output, wr_node_inner(text));
    else if (wr_node_is(block, WR_JSON_STRING))
        wr_draft_append(d, output, wr_node_inner(block));
    else if (wr_node_text_is(type, "tool_use"))
        read_chat_call(in, d, output, block);
    else if (wr_node_text_is(type, "refusal"))
        wr_draft_append(d, output, wr_node_inner(wr_node_get(block, "refusal")));
    else if (wr_import_is_thinking(block))
        wr_draft_think(d, output);
    else if (!wr_node_text_is(type, "thinking") && !wr_node_text_is(type, "reasoning"))
        wr_import_note(in, WR_IMPORT_BLOCK_UNKNOWN);
}

/* The draft's message of an output, which an earlier message of the same id may have begun. */
static uint32_t output_message(struct wr_importer *in, struct wr_draft *d, wr_node message,
                               int64_t time_ms)
{
    weir_span id = wr_node_text(in, wr_node_get(message, "id"));
    uint32_t last = wr_draft_last_answer(d);
    bool goes_on = id.len && last != WR_DRAFT_NONE && wr_span_eq(id, d->output_id);
    d->output_id = id;
    return goes_on ? last : wr_draft_answer(d, WR_LIT(""), time_ms);
}

static void read_chat_output(struct wr_importer *in, struct wr_draft *d, wr_node message,
                             int64_t time_ms)
{
    wr_node content = wr_node_get(message, "content");
    wr_node legacy = wr_node_get(message, "function_call");
    uint32_t output = output_message(in, d, message, time_ms);
    wr_draft_append(d, output, wr_node_inner(content));
    wr_draft_model(d, wr_node_text(in, wr_node_get(message, "model")));
    WR_NODE_EACH(block, content)
        read_chat_block(in, d, output, block);
    WR_NODE_EACH(call, wr_node_get(message, "tool_calls"))
        read_chat_call(in, d, output, call);
    if (wr_node_is(legacy, WR_JSON_OBJECT))
        wr_draft_call(d, output, WR_LIT(""), wr_node_text(in, wr_node_get(legacy, "name")),
                      wr_import_arguments(d, wr_node_get(legacy, "arguments")));
}

static void read_chat_user(struct wr_importer *in, struct wr_draft *d, wr_node message,
                           int64_t time_ms)
{
    wr_node content = wr_node_get(message, "content");
    WR_NODE_EACH(block, content)
        if (wr_node_text_is(wr_node_get(block, "type"), "tool_result"))
            wr_draft_result(d, wr_node_text(in, wr_node_get(block, "tool_use_id")),
                            wr_import_content(in, d, wr_node_get(block, "content"), NULL), time_ms);
    wr_draft_say(d, WEIR_ROLE_USER, wr_import_content(in, d, content, "tool_result"), time_ms);
}

void wr_import_chat_message(struct wr_importer *in, struct wr_draft *d, wr_node message)
{
    wr_node role = wr_node_get(message, "role"), content = wr_node_get(message, "content");
    int64_t time_ms = time_of(message);
    if (wr_node_text_is(role, "assistant"))
        read_chat_output(in, d, message, time_ms);
    else if (wr_node_text_is(role, "tool") || wr_node_text_is(role, "function"))
        wr_draft_result(d, wr_node_text(in, wr_node_get(message, "tool_call_id")),
                        wr_import_content(in, d, content, NULL), time_ms);
    else if (wr_node_text_is(role, "user"))
        read_chat_user(in, d, message, time_ms);
    else if (wr_node_text_is(role, "system") || wr_node_text_is(role, "developer"))
        wr_draft_say(d, WEIR_ROLE_SYSTEM, wr_import_content(in, d, content, NULL), time_ms);
    else
        wr_import_note(in, WR_IMPORT_ROLE_UNKNOWN);
}

static wr_node list_of(wr_node document)
{
    return wr_node_is(document, WR_JSON_ARRAY) ? document : wr_node_get(document, "messages");
}

static bool claims_chat(wr_node document)
{
    return wr_import_is_chat(wr_node_first(list_of(document)));
}

static weir_status read_chat_log(struct wr_importer *in)
{
    struct wr_draft draft;
    wr_node root = wr_import_root(in), message;
    wr_import_begin_draft(in, &draft);
    if (!in->is_lines) {
        wr_draft_model(&draft, wr_node_text(in, wr_node_get(root, "model")));
        wr_draft_say(&draft, WEIR_ROLE_SYSTEM,
                     wr_import_content(in, &draft, wr_node_get(root, "system"), NULL),
                     WR_SESSION_NO_TIME);
        wr_import_walk_list(in, list_of(root));
    }
    while (wr_import_next(in, &message))
        wr_import_chat_message(in, &draft, message);
    wr_import_end_draft(in, &draft);
    return in->status;
}

const struct wr_import_format wr_import_chat = {"chat", wr_import_is_chat, claims_chat,
                                                read_chat_log, WEIR_DIALECT_CHAT};

/* ---- tau-bench ----
 *
 * tau-bench: a result file is an array of runs, each with `traj`, a list of chat messages.
 */

static bool claims_tau(wr_node document)
{
    wr_node run = wr_node_first(document);
    return wr_node_has(run, "traj", WR_JSON_ARRAY) && wr_node_has(run, "info", WR_JSON_OBJECT);
}

static weir_status read_tau_log(struct wr_importer *in)
{
    wr_node runs = wr_import_root(in);
    WR_NODE_EACH(run, runs) {
        struct wr_draft draft;
        wr_import_begin_draft(in, &draft);
        WR_NODE_EACH(message, wr_node_get(run, "traj"))
            wr_import_chat_message(in, &draft, message);
        wr_import_end_draft(in, &draft);
        if (in->status)
            break;
    }
    return in->status;
}

const struct wr_import_format wr_import_tau = {"tau-bench", NULL, claims_tau, read_tau_log,
                                               WEIR_DIALECT_CHAT};
