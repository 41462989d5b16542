/* What agents tell their hooks, read; and answered.
 *
 * The rows of `places` were found by running the clients: what a tool's result looks like to a
 * hook, and which of its texts reaches the model as it is. Claude Code gives objects, of which it
 * makes the text for the model later: of Bash that is stdout, of Read it is the file with a number
 * before each line, counted on from the first, so that lines cannot be left out of it without
 * moving all numbers behind them. Read is therefore no row. Neither are tools that give lists of
 * names, nor any tool that is not known: its result stays whole.
 *
 * Tools of MCP servers give their content as the protocol has it: one text, or a list of one.
 */
#include "hook/event.h"

#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "json/splice.h"
#include "json/write.h"

static const struct wr_hook_agent agents[] = {
    {.name = "claude",
     .event = "PostToolUse",
     .recall = "mcp__weir__weir_recall",
     .model = "claude-sonnet-4-5",
     .taker = WR_TAKES_UPDATED,
     .bare = "mcp__",
     .lack = "what Read shows stays whole: Claude Code numbers its lines afterwards"},
    {.name = "opencode",
     .event = "tool.execute.after",
     .recall = "weir_weir_recall",
     .model = "gpt-5",
     .taker = WR_TAKES_OUTPUT,
     .bare = "",
     .lack = ""},
    {.name = "codex",
     .event = "PostToolUse",
     .recall = "mcp__weir__weir_recall",
     .model = "gpt-5",
     .taker = WR_TAKES_NOTHING,
     .lack = "it takes another result only in place of a rejected one, without the exit code"},
    {.name = "gemini",
     .event = "AfterTool",
     .recall = "mcp_weir_weir_recall",
     .model = "gemini-2.5-pro",
     .taker = WR_TAKES_NOTHING,
     .lack = "it takes another result only as an error"},
};

const struct wr_hook_agent *wr_hook_agent_at(size_t index)
{
    return index < WR_COUNT_OF(agents) ? &agents[index] : NULL;
}

const struct wr_hook_agent *wr_hook_agent_find(const char *name)
{
    for (size_t i = 0; i < WR_COUNT_OF(agents); i++)
        if (!strcmp(agents[i].name, name))
            return &agents[i];
    return NULL;
}

/* ---- where the text is ---- */

static const struct place {
    const char *tool, *member;
} places[] = {
    {"Bash", "stdout"},
    {"PowerShell", "stdout"},
    {"Grep", "content"},
    {"WebFetch", "result"},
};

/* Where one of these is said, the text is not what the model sees: it was cut and lies in a file,
 * it is the data of an image, the command goes on behind it or was broken off. */
static const char *const whole_members[] = {
    "persistedOutputPath", "isImage", "interrupted", "structuredContent",
    "backgroundTaskId",    "error",   "isError",     "is_error"};

static bool says_so(const struct wr_json *doc, wr_json_id value)
{
    if (value == WR_JSON_NONE || wr_json_is(doc, value, WR_JSON_NULL))
        return false;
    return !wr_span_is(wr_json_raw(doc, value), "false");
}

/* The one text of a list of content blocks, or a text that stands alone. NONE: there is no such. */
static wr_json_id only_text(const struct wr_json *doc, wr_json_id value)
{
    if (wr_json_is(doc, value, WR_JSON_STRING))
        return value;
    if (!wr_json_is(doc, value, WR_JSON_ARRAY) || wr_json_count(doc, value) != 1)
        return WR_JSON_NONE;
    wr_json_id block = wr_json_first(doc, value), text = wr_json_find(doc, block, "text");
    bool is_text = wr_json_text_is(doc, wr_json_find(doc, block, "type"), "text");
    return is_text && wr_json_is(doc, text, WR_JSON_STRING) ? text : WR_JSON_NONE;
}

static wr_json_id find_place(const struct wr_hook_event *event, const struct wr_hook_agent *agent)
{
    const struct wr_json *doc = &event->response;

    if (!wr_json_is(doc, 0, WR_JSON_OBJECT))
        return wr_span_starts(event->tool, wr_span_of(agent->bare)) ? only_text(doc, 0)
                                                                    : WR_JSON_NONE;
    for (size_t i = 0; i < WR_COUNT_OF(whole_members); i++)
        if (says_so(doc, wr_json_find(doc, 0, whole_members[i])))
            return WR_JSON_NONE;
    for (size_t i = 0; i < WR_COUNT_OF(places); i++)
        if (wr_span_is(event->tool, places[i].tool))
            return only_text(doc, wr_json_find(doc, 0, places[i].member));
    return WR_JSON_NONE;
}

/* ---- reading ---- */

enum { SESSION, TOOL, INPUT, RESPONSE, MODEL, AGENT_ID, AGENT_TYPE, FAILED, KEYS_COUNT };

static const char *const keys[KEYS_COUNT] = {"session_id",    "tool_name", "tool_input",
                                             "tool_response", "model",     "agent_id",
                                             "agent_type",    "failed"};

static weir_span text_of(const struct wr_json *doc, struct wr_arena *arena, wr_json_id value)
{
    return wr_json_is(doc, value, WR_JSON_STRING) ? wr_json_text(doc, arena, value)
                                                  : (weir_span){"", 0};
}

/* Law L2: which tools a subagent has, or a main agent that is one of the user's own making, is not
 * told, so nobody knows whether the way back is among them. */
static const char *why_whole(const struct wr_json *doc, const wr_json_id values[KEYS_COUNT])
{
    if (says_so(doc, values[AGENT_ID]) || says_so(doc, values[AGENT_TYPE]))
        return "which tools a subagent has is not told";
    if (says_so(doc, values[FAILED]))
        return "the call failed";
    return NULL;
}

static weir_status read_response(struct wr_hook_event *event, struct wr_arena *arena,
                                 const struct wr_hook_agent *agent, weir_span response,
                                 struct weir_err *err)
{
    weir_status status = wr_json_parse(&event->response, arena, response, NULL, err);
    if (status)
        return status;
    event->place = find_place(event, agent);
    if (event->place == WR_JSON_NONE) {
        event->whole = "it is no text that the model sees as it is";
        return WEIR_OK;
    }
    event->text = wr_json_text(&event->response, arena, event->place);
    return event->text.ptr ? WEIR_OK : wr_arena_status(arena);
}

weir_status wr_hook_event_read(struct wr_hook_event *event, struct wr_arena *arena,
                               const struct wr_hook_agent *agent, weir_span json,
                               struct weir_err *err)
{
    wr_json_id values[KEYS_COUNT];
    struct wr_json doc;

    *event = (struct wr_hook_event){.place = WR_JSON_NONE, .text = {"", 0}};
    weir_status status = wr_json_parse(&doc, arena, json, NULL, err);
    if (status)
        return status;
    if (!wr_json_pick(&doc, 0, keys, KEYS_COUNT, values))
        return wr_fail(err, WEIR_INVALID, 0, "a member of the event is there twice");
    if (!wr_json_is(&doc, values[TOOL], WR_JSON_STRING) || values[RESPONSE] == WR_JSON_NONE ||
        !wr_json_is(&doc, values[INPUT], WR_JSON_OBJECT))
        return wr_fail(err, WEIR_INVALID, 0,
                       "the event of a hook has tool_name, tool_input and tool_response");
    event->session = text_of(&doc, arena, values[SESSION]);
    event->tool = text_of(&doc, arena, values[TOOL]);
    event->model = text_of(&doc, arena, values[MODEL]);
    event->input = wr_json_raw(&doc, values[INPUT]);
    event->whole = agent->taker == WR_TAKES_NOTHING ? agent->lack : why_whole(&doc, values);
    if (event->whole)
        return WEIR_OK;
    return read_response(event, arena, agent, wr_json_raw(&doc, values[RESPONSE]), err);
}

/* ---- answering ---- */

weir_status wr_hook_event_answer(const struct wr_hook_event *event, struct wr_arena *arena,
                                 const struct wr_hook_agent *agent, weir_span text,
                                 struct wr_buf *out, struct weir_err *err)
{
    struct wr_splice splice;
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    if (agent->taker == WR_TAKES_OUTPUT) {
        wr_json_member_text(&w, "output", text);
    } else {
        struct wr_buf response;
        wr_splice_init(&splice, &event->response, arena);
        wr_splice_set_text(&splice, event->place, text);
        wr_buf_init(&response, event->response.text.len + 6 * text.len + 64);
        weir_status status = wr_splice_apply(&splice, &response, err);
        if (!status) {
            wr_json_member_object(&w, "hookSpecificOutput");
            wr_json_member_word(&w, "hookEventName", agent->event);
            wr_json_member_raw(&w, "updatedToolOutput", wr_buf_view(&response));
            wr_json_write_object_end(&w);
        }
        wr_buf_release(&response);
        if (status)
            return status;
    }
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
    return wr_buf_status(out);
}
