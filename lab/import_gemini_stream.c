/* Gemini CLI: what `gemini --output-format stream-json` prints.
 *
 * One event a line: init (session_id, model), message (role, content; delta: a piece of the text),
 * tool_use (tool_name, tool_id, parameters), tool_result (tool_id, status, output or error), error,
 * result. Everything between two results is one model output. `output` is what the terminal shows;
 * for most tools the model is given the same, for some it is given more.
 */
#include "lab/import_reader.h"

#include "base/limits.h"
#include "base/span.h"

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
