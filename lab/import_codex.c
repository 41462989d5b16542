/* Codex: ~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl.
 *
 * One entry a line: timestamp, type, payload. `response_item` payloads are the items of the
 * Responses API; in logs of 2025 they stood on the line without an envelope. Items up to the next
 * result or token_count event are one model output. `compacted` holds the list that replaced the
 * history; older ones only a summary.
 */
#include "lab/import_reader.h"

#include "base/span.h"

struct codex {
    struct wr_importer *in;
    struct wr_draft draft;
    uint32_t instructions; /* the message that holds them, or NONE */
    bool is_output_open;   /* what comes next from the model belongs to its last message */
};

static const char *const call_types[] = {"function_call", "custom_tool_call", "local_shell_call",
                                         "tool_search_call"};
static const char *const output_types[] = {"function_call_output", "custom_tool_call_output",
                                           "local_shell_call_output", "tool_search_output"};
enum { TYPES = WR_COUNT_OF(call_types) };

static bool is_one_of(wr_node type, const char *const *names)
{
    for (size_t i = 0; i < TYPES; i++)
        if (wr_node_text_is(type, names[i]))
            return true;
    return false;
}

static bool is_bare_item(wr_node line)
{
    wr_node type = wr_node_get(line, "type");
    if (is_one_of(type, call_types) || is_one_of(type, output_types))
        return wr_node_has(line, "call_id", WR_JSON_STRING);
    return wr_node_text_is(type, "message") && wr_node_has(line, "role", WR_JSON_STRING) &&
           wr_node_has(line, "content", WR_JSON_ARRAY) && !wr_node_has(line, "id", WR_JSON_STRING);
}

static bool claims_codex_line(wr_node line)
{
    static const char *const types[] = {"session_meta", "response_item", "turn_context",
                                        "event_msg", "compacted"};
    wr_node type = wr_node_get(line, "type");
    if (!wr_node_has(line, "payload", WR_JSON_OBJECT))
        return is_bare_item(line);
    for (size_t i = 0; i < WR_COUNT_OF(types); i++)
        if (wr_node_text_is(type, types[i]))
            return true;
    return false;
}

/* The message that a piece of model output belongs to. */
static uint32_t output_message(struct codex *c, int64_t time_ms)
{
    uint32_t last = c->is_output_open ? wr_draft_last_answer(&c->draft) : WR_DRAFT_NONE;
    c->is_output_open = true;
    return last != WR_DRAFT_NONE ? last : wr_draft_answer(&c->draft, WR_LIT(""), time_ms);
}

static void read_codex_message(struct codex *c, wr_node item, int64_t time_ms)
{
    wr_node role = wr_node_get(item, "role");
    weir_span text = wr_import_content(c->in, &c->draft, wr_node_get(item, "content"), NULL);
    if (wr_node_text_is(role, "assistant")) {
        wr_draft_append(&c->draft, output_message(c, time_ms), text);
        return;
    }
    bool is_system = wr_node_text_is(role, "system") || wr_node_text_is(role, "developer");
    if (!is_system && !wr_node_text_is(role, "user"))
        wr_import_note(c->in, WR_IMPORT_ROLE_UNKNOWN);
    wr_draft_say(&c->draft, is_system ? WEIR_ROLE_SYSTEM : WEIR_ROLE_USER, text, time_ms);
    c->is_output_open = false;
}

static void read_codex_call(struct codex *c, wr_node item, wr_node type, int64_t time_ms)
{
    static const char *const keys[] = {"arguments", "input", "action"};
    wr_node arguments = {item.doc, WR_JSON_NONE}, name = wr_node_get(item, "name");
    for (size_t i = 0; i < 3 && arguments.id == WR_JSON_NONE; i++)
        arguments = wr_node_get(item, keys[i]);
    wr_draft_call(&c->draft, output_message(c, time_ms),
                  wr_node_text(c->in, wr_node_get(item, "call_id")),
                  wr_node_text(c->in, wr_node_is(name, WR_JSON_STRING) ? name : type),
                  wr_import_arguments(&c->draft, arguments));
}

static void read_codex_item(struct codex *c, wr_node item, int64_t time_ms)
{
    wr_node type = wr_node_get(item, "type"), output = wr_node_get(item, "output");
    if (wr_node_text_is(type, "message")) {
        read_codex_message(c, item, time_ms);
    } else if (is_one_of(type, call_types)) {
        read_codex_call(c, item, type, time_ms);
    } else if (is_one_of(type, output_types)) {
        if (output.id == WR_JSON_NONE)
            output = wr_node_get(item, "tools");
        wr_draft_result(&c->draft, wr_node_text(c->in, wr_node_get(item, "call_id")),
                        wr_import_content(c->in, &c->draft, output, NULL), time_ms);
        c->is_output_open = false;
    } else if (wr_node_text_is(type, "web_search_call")) {
        wr_import_note(c->in, WR_IMPORT_SERVER_TOOL);
    } else if (wr_node_text_is(type, "compaction")) {
        wr_import_note(c->in, WR_IMPORT_COMPACTION_OPAQUE);
    } else if (!wr_node_text_is(type, "reasoning")) {
        wr_import_note(c->in, WR_IMPORT_ENTRY_OTHER);
    }
}

/* What the user and the system said, and the summary: what Codex made of a history when it still
 * compacted by itself. */
static void keep_summary(struct codex *c, wr_node summary)
{
    uint32_t message, at = 0;
    while ((message = wr_draft_view_next(&c->draft, &at)) != WR_DRAFT_NONE)
        if (c->draft.messages[message].role != WEIR_ROLE_ASSISTANT)
            wr_draft_keep(&c->draft, message);
    if (!wr_node_inner(summary).len)
        wr_import_note(c->in, WR_IMPORT_COMPACTION_OPAQUE);
    wr_draft_keep(&c->draft, wr_draft_say(&c->draft, WEIR_ROLE_USER, wr_node_inner(summary),
                                          WR_SESSION_NO_TIME));
}

static void read_compaction(struct codex *c, wr_node payload, int64_t time_ms)
{
    wr_node history = wr_node_get(payload, "replacement_history");
    if (wr_draft_compact(&c->draft) == WR_DRAFT_NONE)
        return;
    c->is_output_open = false;
    c->draft.is_hiding = true;
    if (wr_node_is(history, WR_JSON_ARRAY)) {
        uint32_t first = c->draft.messages_count;
        WR_NODE_EACH(item, history)
            read_codex_item(c, item, time_ms);
        wr_draft_keep(&c->draft, c->instructions);
        for (uint32_t i = first; i < c->draft.messages_count; i++)
            wr_draft_keep(&c->draft, i);
    } else {
        keep_summary(c, wr_node_get(payload, "message"));
    }
    c->draft.is_hiding = false;
    c->is_output_open = false;
}

static void read_meta(struct codex *c, wr_node payload)
{
    wr_node text = wr_node_get(payload, "base_instructions");
    if (wr_node_is(text, WR_JSON_OBJECT))
        text = wr_node_get(text, "text");
    if (!wr_node_is(text, WR_JSON_STRING))
        text = wr_node_get(payload, "instructions");
    if (!c->draft.messages_count)
        c->instructions =
            wr_draft_say(&c->draft, WEIR_ROLE_SYSTEM, wr_node_inner(text), WR_SESSION_NO_TIME);
}

static void read_codex_entry(struct codex *c, wr_node entry)
{
    wr_node type = wr_node_get(entry, "type"), payload = wr_node_get(entry, "payload");
    int64_t time_ms = wr_node_time(wr_node_get(entry, "timestamp"));
    if (!wr_node_is(payload, WR_JSON_OBJECT) && is_bare_item(entry))
        read_codex_item(c, entry, time_ms);
    else if (wr_node_text_is(type, "response_item"))
        read_codex_item(c, payload, time_ms);
    else if (wr_node_text_is(type, "session_meta"))
        read_meta(c, payload);
    else if (wr_node_text_is(type, "turn_context"))
        wr_draft_model(&c->draft, wr_node_text(c->in, wr_node_get(payload, "model")));
    else if (wr_node_text_is(type, "compacted"))
        read_compaction(c, payload, time_ms);
    else if (wr_node_text_is(wr_node_get(payload, "type"), "token_count"))
        c->is_output_open = false;
    else
        wr_import_note(c->in, WR_IMPORT_ENTRY_OTHER);
}

static weir_status read_codex_log(struct wr_importer *in)
{
    struct codex c = {.in = in, .instructions = WR_DRAFT_NONE};
    wr_node entry;
    wr_import_begin_draft(in, &c.draft);
    c.draft.missing = "aborted";
    while (wr_import_next(in, &entry))
        read_codex_entry(&c, entry);
    wr_import_end_draft(in, &c.draft);
    return in->status;
}

const struct wr_import_format wr_import_codex = {"codex", claims_codex_line, NULL, read_codex_log,
                                                 WEIR_DIALECT_RESPONSES};
