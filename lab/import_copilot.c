/* Copilot CLI: ~/.copilot/session-state/SESSION/events.jsonl.
 *
 * One event a line: type ("user.message", "tool.execution_complete", ...), data, timestamp. What
 * the model saw of the user is data.transformedContent, of a tool data.result.content.
 */
#include "lab/import_reader.h"

#include "base/span.h"

struct copilot {
    struct wr_importer *in;
    struct wr_draft draft;
    uint32_t instructions; /* the system message, or NONE */
};

static bool claims_copilot_line(wr_node line)
{
    static const char *const prefixes[] = {"session.", "user.",   "assistant.",
                                           "tool.",    "system.", "hook."};
    weir_span type = wr_node_inner(wr_node_get(line, "type"));
    if (!wr_node_has(line, "data", WR_JSON_OBJECT))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(prefixes); i++)
        if (wr_span_starts(type, wr_span_of(prefixes[i])))
            return true;
    return false;
}

static void read_copilot_user(struct copilot *c, wr_node data, int64_t time_ms)
{
    wr_node text = wr_node_get(data, "transformedContent");
    if (!wr_node_inner(text).len)
        text = wr_node_get(data, "content");
    wr_draft_say(&c->draft, WEIR_ROLE_USER, wr_import_content(c->in, &c->draft, text, NULL),
                 time_ms);
}

static void read_copilot_output(struct copilot *c, wr_node data, int64_t time_ms)
{
    wr_node requests = wr_node_get(data, "toolRequests");
    uint32_t message =
        wr_draft_answer(&c->draft, wr_node_inner(wr_node_get(data, "content")), time_ms);
    wr_draft_model(&c->draft, wr_node_text(c->in, wr_node_get(data, "model")));
    WR_NODE_EACH(request, requests)
        wr_draft_call(&c->draft, message, wr_node_text(c->in, wr_node_get(request, "toolCallId")),
                      wr_node_text(c->in, wr_node_get(request, "name")),
                      wr_import_arguments(&c->draft, wr_node_get(request, "arguments")));
}

static void read_copilot_result(struct copilot *c, wr_node data, int64_t time_ms)
{
    wr_node result = wr_node_get(data, "result");
    if (result.id == WR_JSON_NONE || wr_node_is(result, WR_JSON_NULL))
        result = wr_node_get(data, "error");
    wr_node text = wr_node_get(result, "content");
    if (text.id == WR_JSON_NONE || wr_json_raw(text.doc, text.id).len == 2)
        text = wr_node_get(result, "message");
    if (text.id == WR_JSON_NONE)
        text = result;
    wr_draft_result(&c->draft, wr_node_text(c->in, wr_node_get(data, "toolCallId")),
                    wr_import_content(c->in, &c->draft, text, NULL), time_ms);
}

static void read_system(struct copilot *c, wr_node data, int64_t time_ms)
{
    /* It is written again at every prompt, and mostly the same: the first one stands for all. */
    if (c->instructions != WR_DRAFT_NONE)
        wr_import_note(c->in, WR_IMPORT_ENTRY_REPEATED);
    else
        c->instructions = wr_draft_say(&c->draft, WEIR_ROLE_SYSTEM,
                                       wr_node_inner(wr_node_get(data, "content")), time_ms);
}

static void read_compaction(struct copilot *c, wr_node data)
{
    weir_span summary = wr_node_inner(wr_node_get(data, "summaryContent"));
    if (wr_node_has(data, "success", WR_JSON_FALSE)) {
        wr_import_note(c->in, WR_IMPORT_ENTRY_OTHER);
        return;
    }
    if (wr_draft_compact(&c->draft) == WR_DRAFT_NONE)
        return;
    if (!summary.len)
        wr_import_note(c->in, WR_IMPORT_COMPACTION_OPAQUE);
    c->draft.is_hiding = true;
    wr_draft_keep(&c->draft, c->instructions);
    wr_draft_keep(&c->draft, wr_draft_say(&c->draft, WEIR_ROLE_USER, summary, WR_SESSION_NO_TIME));
    c->draft.is_hiding = false;
}

static void read_copilot_entry(struct copilot *c, wr_node entry)
{
    wr_node type = wr_node_get(entry, "type"), data = wr_node_get(entry, "data");
    int64_t time_ms = wr_node_time(wr_node_get(entry, "timestamp"));
    if (wr_node_has(data, "parentToolCallId", WR_JSON_STRING))
        wr_import_note(c->in, WR_IMPORT_SIDE_CHAIN);
    else if (wr_node_text_is(type, "system.message"))
        read_system(c, data, time_ms);
    else if (wr_node_text_is(type, "user.message"))
        read_copilot_user(c, data, time_ms);
    else if (wr_node_text_is(type, "assistant.message"))
        read_copilot_output(c, data, time_ms);
    else if (wr_node_text_is(type, "tool.execution_complete"))
        read_copilot_result(c, data, time_ms);
    else if (wr_node_text_is(type, "session.compaction_complete"))
        read_compaction(c, data);
    else
        wr_import_note(c->in, WR_IMPORT_ENTRY_OTHER);
}

static weir_status read_copilot_log(struct wr_importer *in)
{
    struct copilot c = {.in = in, .instructions = WR_DRAFT_NONE};
    wr_node entry;
    wr_import_begin_draft(in, &c.draft);
    while (wr_import_next(in, &entry))
        read_copilot_entry(&c, entry);
    wr_import_end_draft(in, &c.draft);
    return in->status;
}

const struct wr_import_format wr_import_copilot = {"copilot-cli", claims_copilot_line, NULL,
                                                   read_copilot_log, WEIR_DIALECT_CHAT};
