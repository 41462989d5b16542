/* A result on its way through the engine, alone.
 *
 * What a proxy sees and a hook does not is the rest of the prompt. Two things of it matter on
 * arrival. Whether a file was read before and shortened: the ledger has a note for each such file
 * of the session. And whether the same text stands elsewhere in the prompt: nobody here can know
 * (the agent may have compacted it away), so no reference is made.
 *
 * The request is written in the first API there is; none of them decides otherwise than another.
 * Agents have their prompts cached, which the projection is told: without that a saved token would
 * be thought dearer than it is, and too much would be taken out.
 *
 * Tried and given up: to read the agent's own transcript for the whole prompt. It costs more than
 * the rest together in a long session, its format is the agent's affair, and it is written late.
 */
#include "hook/hook.h"

#include <string.h>

#include "api/write.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "engine/record_row.h"
#include "json/splice.h"
#include "json/write.h"
#include "policy/marker.h"
#include "store/ledger.h"

/* ---- event ----
 *
 * What agents tell their hooks, read; and answered.
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

/* ---- the answer ---- */

static const char shortened[] = "shortened", whole[] = "whole"; /* what a note says */

struct hooking {
    const struct wr_hook *hook;
    struct wr_hooked *hooked;
    struct weir_err *err;
    struct wr_arena arena;
    struct wr_hook_event event;
    struct wr_buf body, line, session;
    struct weir_engine *engine;
    struct weir_request *request; /* this call and its result */
    struct weir_request *after;   /* the same, projected */
    struct weir_store *store;
    struct wr_ledger *ledger;
    struct wr_record record;
    weir_span path; /* of the file that the result shows; empty: of none */
};

/* What other processes take of a busy machine is no work of ours. */
static uint64_t clock_us(void *user)
{
    (void)user;
    return wr_clock_thread_us();
}

/* ---- the request ---- */

static weir_span model_of(const struct hooking *h)
{
    if (h->hook->model)
        return wr_span_of(h->hook->model);
    return h->event.model.len ? h->event.model : wr_span_of(h->hook->agent->model);
}

static weir_status write_request(struct hooking *h)
{
    const struct weir_tool recall = {.name = wr_span_of(h->hook->recall)};
    const struct weir_call call = {WR_LIT("call_1"), h->event.tool, h->event.input};
    const struct wr_body_head head = {
        .model = model_of(h), .tools = &recall, .tools_count = 1, .has_tools = true};
    const struct wr_line lines[] = {
        {.kind = WR_LINE_WORDS, .text = WR_LIT("What does the tool say?")},
        {.kind = WR_LINE_ANSWER, .calls = &call, .calls_count = 1},
        {.kind = WR_LINE_RESULT, .text = h->event.text, .call_id = call.id}};
    struct wr_body body;

    wr_body_init(&body, wr_apis[0], &h->body);
    wr_body_begin(&body, &head);
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++)
        wr_body_line(&body, &lines[i]);
    wr_body_end(&body);
    wr_body_release(&body);
    return wr_buf_status(&h->body);
}

/* NULL: it has none, which cannot be. */
static const struct wr_segment *result_of(const struct weir_request *request)
{
    const struct wr_transcript *t = &request->transcript;
    for (uint32_t i = t->segments_count; i > 0; i--)
        if (t->segments[i - 1].kind == WEIR_KIND_TOOL_RESULT)
            return &t->segments[i - 1];
    return NULL;
}

static weir_status read_request(struct hooking *h)
{
    struct weir_request_options how = WEIR_REQUEST_OPTIONS_INIT;

    how.dialect = wr_apis[0]->name;
    weir_status status = weir_engine_new(&h->engine, h->err);
    if (!status)
        status = weir_engine_request(h->engine, wr_buf_view(&h->body), &how, &h->request, h->err);
    if (status)
        return status;
    const struct wr_segment *result = result_of(h->request);
    const struct wr_tool_handles *handles = result ? result->handles : NULL;
    if (handles && handles->kind == WR_EFFECT_READ)
        h->path = handles->path;
    return WEIR_OK;
}

/* ---- the session ---- */

/* A name of its own: what a proxy remembers of the same session is about whole prompts. */
static weir_status name_session(struct hooking *h)
{
    wr_buf_printf(&h->session, "hook-%s-", h->hook->agent->name);
    size_t bytes = h->event.session.len;
    if (bytes > WR_HOOK_SESSION_BYTES_MAX)
        bytes = WR_HOOK_SESSION_BYTES_MAX;
    wr_buf_append(&h->session, wr_span_cut(h->event.session, 0, bytes));
    for (size_t i = 0; !h->session.status && i < h->session.len; i++)
        if (!h->session.bytes[i])
            h->session.bytes[i] = '?';
    return wr_buf_status(&h->session);
}

static void note_key(const struct hooking *h, unsigned char key[WR_LEDGER_KEY_BYTES])
{
    wr_hash128 hash = wr_hash128_seeded(h->path, wr_hash128_of(wr_buf_view(&h->session)));

    memcpy(key, &hash.low, sizeof(hash.low));
    memcpy(key + sizeof(hash.low), &hash.high, sizeof(hash.high));
}

/* Whether the newest read of this file in this session was shortened. */
static weir_status look_for_read(struct hooking *h, bool *was_shortened)
{
    unsigned char key[WR_LEDGER_KEY_BYTES];
    weir_span said;

    *was_shortened = false;
    if (!h->path.len)
        return WEIR_OK;
    note_key(h, key);
    weir_status status = wr_ledger_note(h->ledger, WR_LIT(WEIR_TENANT_DEFAULT), key, &said, h->err);
    if (status == WEIR_NOTFOUND)
        return WEIR_OK;
    *was_shortened = !status && wr_span_is(said, shortened);
    return status;
}

static void fill_record(struct hooking *h, struct wr_record *r)
{
    wr_record_init(r);
    r->time_ms = h->hook->now_ms;
    r->is_hook = r->is_collected = r->is_changed = true;
    r->deed = WR_DEED_PROJECTED;
    r->tenant = WR_LIT(WEIR_TENANT_DEFAULT);
    r->agent = wr_span_of(h->hook->agent->name);
    r->session = wr_buf_view(&h->session);
    r->end = WR_LIT("done");
    r->tokens_before = h->hooked->tokens_before;
    r->tokens_after = h->hooked->tokens_after;
    r->received_bytes = r->bytes_before = h->event.text.len;
    weir_span model = model_of(h);
    (void)snprintf(r->model, sizeof(r->model), "%.*s", (int)model.len, model.ptr);
}

/* The row that the report counts (`is_row`), and what a later read of the file must know. */
static weir_status keep_row(struct hooking *h, weir_span after, bool is_row, const char *note)
{
    struct wr_record record;
    struct wr_ledger_note notes[1] = {{.tenant = WR_LIT(WEIR_TENANT_DEFAULT),
                                       .session = wr_buf_view(&h->session),
                                       .time_ms = h->hook->now_ms,
                                       .data = wr_span_of(note)}};
    struct wr_ledger_row row = {.time_ms = h->hook->now_ms,
                                .tenant = WR_LIT(WEIR_TENANT_DEFAULT),
                                .session = wr_buf_view(&h->session),
                                .agent = wr_span_of(h->hook->agent->name),
                                .model = model_of(h)};

    fill_record(h, &record);
    record.sent_bytes = record.bytes_after = after.len;
    wr_row_write(&record, &h->line);
    if (wr_buf_status(&h->line))
        return wr_buf_status(&h->line);
    row.line = wr_span_cut(wr_buf_view(&h->line), 0, h->line.len - 1);
    note_key(h, notes[0].key);
    return wr_ledger_keep(h->ledger, &row, is_row, notes, h->path.len ? 1 : 0, h->err);
}

/* ---- the projection ---- */

static weir_status project_result(struct hooking *h, struct weir_projected *projected)
{
    struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;

    options.policy = h->hook->policy;
    options.pinning = WEIR_PIN_NOTHING;
    options.store = h->store;
    options.session = wr_buf_view(&h->session);
    options.now_ms = h->hook->now_ms;
    options.clock_us = clock_us;
    options.deadline_ms = options.deadline_hard_ms = h->hook->patience_ms / 2;
    options.reads_cache = true;
    return wr_engine_project(h->engine, h->request, &options, &h->record, projected, h->err);
}

/* What the projection says in the place of the result. Empty: the result is as it was, or names no
 * way back. */
static weir_status read_projected(struct hooking *h, const struct weir_projected *projected,
                                  weir_span *text)
{
    struct weir_request_options how = WEIR_REQUEST_OPTIONS_INIT;

    *text = (weir_span){"", 0};
    if (!projected->is_changed || h->record.changes_count != 1)
        return WEIR_OK;
    how.dialect = wr_apis[0]->name;
    weir_status status = weir_engine_request(h->engine, projected->body, &how, &h->after, h->err);
    const struct wr_segment *result = status ? NULL : result_of(h->after);
    if (!result)
        return status;
    *text = wr_segment_text(&h->after->transcript, result, &h->arena);
    if (!text->ptr)
        return wr_arena_status(&h->arena);
    bool has_way = wr_marker_find(*text, NULL) &&
                   wr_span_find(*text, wr_span_of(h->hook->recall), 0) != SIZE_MAX;
    if (!has_way || text->len >= h->event.text.len)
        text->len = 0;
    h->hooked->tokens_before = h->record.changes[0].tokens_before;
    h->hooked->tokens_after = h->record.changes[0].tokens_after;
    return WEIR_OK;
}

static weir_status open_store(struct hooking *h)
{
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;

    options.busy_ms_max = h->hook->patience_ms / 5;
    weir_status status = weir_store_open(h->hook->store, &options, &h->store, NULL, h->err);
    if (!status)
        status = wr_ledger_open(h->hook->store, &options, &h->ledger, NULL, h->err);
    return status;
}

static weir_status condense_result(struct hooking *h, struct wr_buf *out)
{
    struct weir_projected projected = {.is_changed = false};
    bool was_shortened = false;
    weir_span text = {"", 0};

    weir_status status = name_session(h);
    if (!status)
        status = open_store(h);
    if (!status)
        status = look_for_read(h, &was_shortened);
    if (!status && was_shortened) {
        h->hooked->whole = "the file is read again: its last reading was shortened";
        return keep_row(h, h->event.text, false, whole);
    }
    if (!status)
        status = project_result(h, &projected);
    if (!status)
        status = read_projected(h, &projected, &text);
    if (!status && !text.len) {
        h->hooked->whole = "the policy leaves it as it is";
        return WEIR_OK;
    }
    if (!status)
        status = keep_row(h, text, true, shortened);
    if (!status)
        status = wr_hook_event_answer(&h->event, &h->arena, h->hook->agent, text, out, h->err);
    return status;
}

/* ---- all of it ---- */

static void hooking_release(struct hooking *h)
{
    weir_request_free(h->after);
    weir_request_free(h->request);
    weir_engine_free(h->engine);
    wr_ledger_close(h->ledger);
    weir_store_close(h->store);
    wr_buf_release(&h->session);
    wr_buf_release(&h->line);
    wr_buf_release(&h->body);
    wr_arena_release(&h->arena);
}

weir_status wr_hook_answer(const struct wr_hook *hook, weir_span event, struct wr_buf *out,
                           struct wr_hooked *hooked, struct weir_err *err)
{
    struct hooking h = {.hook = hook, .hooked = hooked, .err = err, .path = {"", 0}};

    *hooked = (struct wr_hooked){.whole = NULL};
    wr_arena_init(&h.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&h.body, WR_JSON_BODY_BYTES_MAX);
    wr_buf_init(&h.line, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&h.session, WR_PROXY_SESSION_BYTES_MAX);
    weir_status status = wr_hook_event_read(&h.event, &h.arena, hook->agent, event, err);
    if (!status && h.event.whole)
        hooked->whole = h.event.whole;
    else if (!status && h.event.text.len < WR_HOOK_BYTES_MIN)
        hooked->whole = "it is short";
    else if (!status && !hook->recall)
        hooked->whole = "the agent has no weir_recall on this store, so nothing would come back";
    else if (!status) {
        status = write_request(&h);
        if (!status)
            status = read_request(&h);
        if (!status)
            status = condense_result(&h, out);
    }
    hooking_release(&h);
    return status;
}
