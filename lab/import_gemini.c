/* Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-TIME-ID.json, and .jsonl since 2026.
 *
 * A document has sessionId, projectHash, messages; a message has id, timestamp, type (user, gemini,
 * info, ...), content, and of the model toolCalls with their results. In the newer form a line is
 * the head, a message (written again whenever it changed), {"$rewindTo":id} or {"$set":{...}}; $set
 * with messages is what compression left of the history.
 */
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "lab/import_reader.h"

/* A line that counts: the newest writing of a message, or a list that replaced the history. */
struct record {
    weir_span line;
    uint32_t id; /* of a message, its number among `ids` */
};

struct gemini {
    struct wr_importer *in;
    struct wr_draft draft;
    struct wr_names ids; /* of messages; the record of each, as far as it is still there */
    struct record *records;
    uint32_t records_count, records_cap;
};

static bool is_message(wr_node value)
{
    wr_node type = wr_node_get(value, "type");
    return wr_node_has(value, "id", WR_JSON_STRING) &&
           wr_node_get(value, "content").id != WR_JSON_NONE &&
           (wr_node_text_is(type, "user") || wr_node_text_is(type, "gemini") ||
            wr_node_text_is(type, "info") || wr_node_text_is(type, "error") ||
            wr_node_text_is(type, "warning"));
}

static bool is_head(wr_node value)
{
    return wr_node_has(value, "sessionId", WR_JSON_STRING) &&
           wr_node_has(value, "projectHash", WR_JSON_STRING);
}

static bool claims_gemini_line(wr_node line)
{
    return is_head(line) || is_message(line) || wr_node_has(line, "$set", WR_JSON_OBJECT) ||
           wr_node_has(line, "$rewindTo", WR_JSON_STRING);
}

static bool claims_gemini(wr_node document)
{
    return is_head(document) && wr_node_has(document, "messages", WR_JSON_ARRAY);
}

/* ---- messages ---- */

/* The text of a result: the model is given {output} or {error}, or another object. */
static weir_span result_text(struct gemini *g, wr_node part)
{
    wr_node response = wr_node_get(wr_node_get(part, "functionResponse"), "response");
    wr_node text = wr_node_get(response, "output");
    if (response.id == WR_JSON_NONE)
        return wr_import_content(g->in, &g->draft, part, NULL);
    if (!wr_node_is(text, WR_JSON_STRING))
        text = wr_node_get(response, "error");
    if (wr_node_is(text, WR_JSON_STRING))
        return wr_node_inner(text);
    return wr_draft_escape(&g->draft, wr_json_raw(response.doc, response.id));
}

static void read_gemini_call(struct gemini *g, uint32_t output, wr_node call)
{
    wr_node result = wr_node_get(call, "result"), first = wr_node_first(result);
    int64_t time_ms = wr_node_time(wr_node_get(call, "timestamp"));
    uint32_t made = wr_draft_call(&g->draft, output, wr_node_text(g->in, wr_node_get(call, "id")),
                                  wr_node_text(g->in, wr_node_get(call, "name")),
                                  wr_import_arguments(&g->draft, wr_node_get(call, "args")));
    if (made == WR_DRAFT_NONE)
        return;
    if (first.id != WR_JSON_NONE)
        wr_draft_result_of(&g->draft, made, result_text(g, first), time_ms);
    else if (wr_node_is(result, WR_JSON_STRING))
        wr_draft_result_of(&g->draft, made, wr_node_inner(result), time_ms);
    else if (wr_node_is(result, WR_JSON_OBJECT))
        wr_draft_result_of(&g->draft, made, result_text(g, result), time_ms);
}

static void read_gemini_message(struct gemini *g, wr_node message)
{
    wr_node type = wr_node_get(message, "type");
    int64_t time_ms = wr_node_time(wr_node_get(message, "timestamp"));
    bool is_user = wr_node_text_is(type, "user");
    if (!is_user && !wr_node_text_is(type, "gemini")) {
        wr_import_note(g->in, WR_IMPORT_ENTRY_OTHER);
        return;
    }
    weir_span text = wr_import_content(g->in, &g->draft, wr_node_get(message, "content"), NULL);
    if (is_user) {
        wr_draft_say(&g->draft, WEIR_ROLE_USER, text, time_ms);
        return;
    }
    uint32_t output = wr_draft_answer(&g->draft, text, time_ms);
    wr_draft_model(&g->draft, wr_node_text(g->in, wr_node_get(message, "model")));
    WR_NODE_EACH(call, wr_node_get(message, "toolCalls"))
        read_gemini_call(g, output, call);
}

static void read_replacement(struct gemini *g, wr_node messages)
{
    uint32_t first = g->draft.messages_count + 1;
    if (wr_draft_compact(&g->draft) == WR_DRAFT_NONE)
        return;
    g->draft.is_hiding = true;
    WR_NODE_EACH(message, messages)
        read_gemini_message(g, message);
    g->draft.is_hiding = false;
    for (uint32_t i = first; i < g->draft.messages_count; i++)
        wr_draft_keep(&g->draft, i);
}

/* ---- lines ---- */

static void add_record(struct gemini *g, weir_span line, uint32_t id)
{
    if (!WR_ARENA_ROOM(&g->in->scratch, g->records, g->records_count, g->records_cap, 64)) {
        g->in->status = g->in->scratch.status;
        return;
    }
    g->records[g->records_count++] = (struct record){line, id};
}

/* The record of an id, or NONE: what was rewound is no longer there. */
static uint32_t record_of(const struct gemini *g, uint32_t id)
{
    uint32_t record = id == WR_NAMES_NONE ? WR_NAMES_NONE : g->ids.values[id];
    bool is_there = record < g->records_count && g->records[record].id == id;
    return is_there ? record : WR_NAMES_NONE;
}

/* A message that was there already takes the place it had. */
static void note_message(struct gemini *g, wr_node entry, weir_span line)
{
    bool is_new;
    uint32_t id = wr_names_add(&g->ids, &g->in->scratch,
                               wr_node_text(g->in, wr_node_get(entry, "id")), &is_new);
    uint32_t record = record_of(g, id);
    if (id == WR_NAMES_NONE) {
        g->in->status = g->in->scratch.status;
    } else if (record != WR_NAMES_NONE) {
        g->records[record].line = line;
    } else {
        g->ids.values[id] = g->records_count;
        add_record(g, line, id);
    }
}

static void rewind_to(struct gemini *g, weir_span id)
{
    uint32_t record = record_of(g, wr_names_find(&g->ids, id));
    g->records_count = record == WR_NAMES_NONE ? 0 : record;
}

static void read_gemini_lines(struct gemini *g)
{
    wr_node entry;
    while (wr_import_next(g->in, &entry)) {
        wr_node to = wr_node_get(entry, "$rewindTo");
        wr_node set = wr_node_get(wr_node_get(entry, "$set"), "messages");
        if (wr_node_is(to, WR_JSON_STRING))
            rewind_to(g, wr_node_text(g->in, to));
        else if (wr_node_first(set).id != WR_JSON_NONE)
            add_record(g, entry.doc->text, WR_NAMES_NONE);
        else if (is_message(entry))
            note_message(g, entry, entry.doc->text);
        else
            wr_import_note(g->in, WR_IMPORT_ENTRY_OTHER);
    }
    for (uint32_t i = 0; i < g->records_count && !g->in->status; i++) {
        wr_arena_reset(&g->in->line);
        g->in->status = wr_json_parse(&g->in->doc, &g->in->line, g->records[i].line, NULL, NULL);
        if (g->in->status)
            return;
        wr_node root = wr_import_root(g->in), set = wr_node_get(root, "$set");
        if (wr_node_is(set, WR_JSON_OBJECT))
            read_replacement(g, wr_node_get(set, "messages"));
        else
            read_gemini_message(g, root);
    }
}

static weir_status read_gemini_log(struct wr_importer *in)
{
    struct gemini g = {.in = in};
    wr_import_begin_draft(in, &g.draft);
    if (in->is_lines)
        read_gemini_lines(&g);
    else
        WR_NODE_EACH(message, wr_node_get(wr_import_root(in), "messages"))
            read_gemini_message(&g, message);
    wr_import_end_draft(in, &g.draft);
    return in->status;
}

const struct wr_import_format wr_import_gemini = {"gemini-cli", claims_gemini_line, claims_gemini,
                                                  read_gemini_log, WEIR_DIALECT_CHAT};

/* ---- its stream of events ----
 *
 * Gemini CLI: what `gemini --output-format stream-json` prints.
 *
 * One event a line: init (session_id, model), message (role, content; delta: a piece of the text),
 * tool_use (tool_name, tool_id, parameters), tool_result (tool_id, status, output or error), error,
 * result. Everything between two results is one model output. `output` is what the terminal shows;
 * for most tools the model is given the same, for some it is given more.
 */

struct stream {
    struct wr_importer *in;
    struct wr_draft draft;
    struct wr_buf text; /* pieces of one text so far, as they stand in the log */
    uint32_t output;    /* the model output that goes on, or NONE */
    int64_t time_ms;    /* of the newest event of the model */
};

static bool claims_gemini_stream_line(wr_node line)
{
    wr_node type = wr_node_get(line, "type");
    if (!wr_node_has(line, "timestamp", WR_JSON_STRING))
        return false;
    if (wr_node_text_is(type, "init"))
        return wr_node_has(line, "session_id", WR_JSON_STRING) &&
               wr_node_has(line, "model", WR_JSON_STRING);
    if (wr_node_text_is(type, "message"))
        return wr_node_has(line, "role", WR_JSON_STRING) &&
               wr_node_has(line, "content", WR_JSON_STRING) &&
               wr_node_get(line, "id").id == WR_JSON_NONE;
    return (wr_node_text_is(type, "tool_use") || wr_node_text_is(type, "tool_result")) &&
           wr_node_has(line, "tool_id", WR_JSON_STRING);
}

/* The output that the model is writing. */
static uint32_t open_output(struct stream *s)
{
    if (s->output == WR_DRAFT_NONE)
        s->output = wr_draft_answer(&s->draft, WR_LIT(""), s->time_ms);
    return s->output;
}

/* The pieces have ended: they are one text. */
static void end_text(struct stream *s)
{
    if (s->text.len || s->text.status)
        wr_draft_append(&s->draft, open_output(s), wr_draft_take(&s->draft, &s->text));
    wr_buf_init(&s->text, WR_JSON_BODY_BYTES_MAX);
}

static void end_output(struct stream *s)
{
    end_text(s);
    s->output = WR_DRAFT_NONE;
}

static void read_gemini_stream_message(struct stream *s, wr_node event)
{
    wr_node role = wr_node_get(event, "role"), content = wr_node_get(event, "content");
    if (wr_node_text_is(role, "assistant")) {
        if (!wr_node_is_true(event, "delta"))
            end_text(s);
        wr_buf_append(&s->text, wr_node_inner(content));
    } else if (wr_node_text_is(role, "user")) {
        end_output(s);
        wr_draft_say(&s->draft, WEIR_ROLE_USER, wr_node_inner(content), s->time_ms);
    } else {
        wr_import_note(s->in, WR_IMPORT_ROLE_UNKNOWN);
    }
}

static void read_gemini_stream_call(struct stream *s, wr_node event)
{
    end_text(s);
    wr_draft_call(&s->draft, open_output(s), wr_node_text(s->in, wr_node_get(event, "tool_id")),
                  wr_node_text(s->in, wr_node_get(event, "tool_name")),
                  wr_import_arguments(&s->draft, wr_node_get(event, "parameters")));
}

static void read_gemini_stream_result(struct stream *s, wr_node event)
{
    wr_node output = wr_node_get(event, "output"), error = wr_node_get(event, "error");
    if (output.id == WR_JSON_NONE && error.id != WR_JSON_NONE) {
        wr_node message = wr_node_get(error, "message");
        output = wr_node_is(message, WR_JSON_STRING) ? message : error;
    }
    end_output(s);
    wr_draft_result(&s->draft, wr_node_text(s->in, wr_node_get(event, "tool_id")),
                    wr_import_content(s->in, &s->draft, output, NULL), s->time_ms);
}

static void read_gemini_stream_event(struct stream *s, wr_node event)
{
    wr_node type = wr_node_get(event, "type");
    s->time_ms = wr_node_time(wr_node_get(event, "timestamp"));
    if (wr_node_text_is(type, "init"))
        wr_draft_model(&s->draft, wr_node_text(s->in, wr_node_get(event, "model")));
    else if (wr_node_text_is(type, "message"))
        read_gemini_stream_message(s, event);
    else if (wr_node_text_is(type, "tool_use"))
        read_gemini_stream_call(s, event);
    else if (wr_node_text_is(type, "tool_result"))
        read_gemini_stream_result(s, event);
    else
        wr_import_note(s->in, WR_IMPORT_ENTRY_OTHER);
}

static weir_status read_gemini_stream_log(struct wr_importer *in)
{
    struct stream s = {.in = in, .output = WR_DRAFT_NONE, .time_ms = WR_SESSION_NO_TIME};
    wr_node event;
    wr_import_begin_draft(in, &s.draft);
    wr_buf_init(&s.text, WR_JSON_BODY_BYTES_MAX);
    while (wr_import_next(in, &event))
        read_gemini_stream_event(&s, event);
    end_output(&s);
    wr_buf_release(&s.text);
    wr_import_end_draft(in, &s.draft);
    return in->status;
}

const struct wr_import_format wr_import_gemini_stream = {
    "gemini-cli", claims_gemini_stream_line, NULL, read_gemini_stream_log, WEIR_DIALECT_CHAT};
