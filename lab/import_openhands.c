/* OpenHands: trajectories (an array of events), and evaluation output (a record with `history` on
 * each line).
 *
 * Two generations of events. V0: {id, source, action, args} and {cause, observation, content,
 * extras}. V1 (the SDK): {id, kind: ActionEvent | ObservationEvent | MessageEvent | ...}. Actions
 * of one model response are one model output. A condensation names the events that were forgotten.
 */
#include "base/limits.h"
#include "base/span.h"
#include "lab/import_reader.h"

struct openhands {
    struct wr_importer *in;
    struct wr_draft draft;
    struct wr_names events; /* ids; the draft's message of each, from 1 */
    struct wr_names calls;  /* ids of V0 actions; the draft's call of each */
    weir_span response;     /* the model response of the newest action */
    uint32_t output;        /* and its message */
};

static bool is_event(wr_node value)
{
    weir_span kind = wr_node_inner(wr_node_get(value, "kind"));
    if (kind.len)
        return wr_node_has(value, "source", WR_JSON_STRING) &&
               (wr_span_ends(kind, WR_LIT("Event")) || wr_span_is(kind, "Condensation") ||
                wr_span_ends(kind, WR_LIT("Observation")));
    return wr_node_has(value, "source", WR_JSON_STRING) &&
           (wr_node_has(value, "action", WR_JSON_STRING) ||
            wr_node_has(value, "observation", WR_JSON_STRING)) &&
           wr_node_get(value, "id").id != WR_JSON_NONE;
}

/* `history` may hold pairs of an action and its observation. */
static bool is_history(wr_node list)
{
    wr_node first = wr_node_first(list);
    return is_event(wr_node_is(first, WR_JSON_ARRAY) ? wr_node_first(first) : first);
}

static bool claims_openhands_line(wr_node line)
{
    return is_event(line) || is_history(wr_node_get(line, "history"));
}

static bool claims_openhands(wr_node document)
{
    return is_history(document) || is_history(wr_node_get(document, "history"));
}

/* ---- results ---- */

/* What a command printed, as the model is shown it: with where it ran and how it ended. */
static weir_span command_text(struct openhands *o, weir_span content, wr_node metadata)
{
    wr_node code = wr_node_get(metadata, "exit_code");
    weir_span folder = wr_node_inner(wr_node_get(metadata, "working_dir"));
    weir_span python = wr_node_inner(wr_node_get(metadata, "py_interpreter_path"));
    struct wr_buf text;
    wr_buf_init(&text, WR_JSON_BODY_BYTES_MAX);
    wr_buf_append(&text, wr_node_inner(wr_node_get(metadata, "prefix")));
    wr_buf_append(&text, content);
    wr_buf_append(&text, wr_node_inner(wr_node_get(metadata, "suffix")));
    if (folder.len) {
        wr_buf_text(&text, "\\n[Current working directory: ");
        wr_buf_append(&text, folder);
        wr_buf_text(&text, "]");
    }
    if (python.len) {
        wr_buf_text(&text, "\\n[Python interpreter: ");
        wr_buf_append(&text, python);
        wr_buf_text(&text, "]");
    }
    if (wr_node_is(code, WR_JSON_NUMBER) && !wr_span_is(wr_json_raw(code.doc, code.id), "-1")) {
        wr_buf_text(&text, "\\n[Command finished with exit code ");
        wr_buf_append(&text, wr_json_raw(code.doc, code.id));
        wr_buf_text(&text, "]");
    }
    return wr_draft_take(&o->draft, &text);
}

static weir_span observed(struct openhands *o, wr_node content, wr_node metadata)
{
    weir_span text = wr_import_content(o->in, &o->draft, content, NULL);
    return wr_node_is(metadata, WR_JSON_OBJECT) ? command_text(o, text, metadata) : text;
}

/* ---- what both generations have ---- */

static void note_event(struct openhands *o, wr_node event, uint32_t message)
{
    weir_span id = wr_node_name(o->in, wr_node_get(event, "id"));
    bool is_new;
    if (!id.len || message == WR_DRAFT_NONE)
        return;
    uint32_t item = wr_names_add(&o->events, &o->in->scratch, id, &is_new);
    if (item == WR_NAMES_NONE)
        o->in->status = o->in->scratch.status;
    else
        o->events.values[item] = message + 1;
}

/* The message of an action: that of the one before it where the same response gave both. */
static uint32_t output_of(struct openhands *o, weir_span response, int64_t time_ms)
{
    if (!response.len || !wr_span_eq(response, o->response))
        o->output = wr_draft_answer(&o->draft, WR_LIT(""), time_ms);
    o->response = response;
    return o->output;
}

struct forgotten {
    bool *is_forgotten; /* of each message of the draft */
    uint32_t count;
};

static void forget(struct openhands *o, struct forgotten *f, weir_span id)
{
    uint32_t item = wr_names_find(&o->events, id);
    uint32_t message = item == WR_NAMES_NONE ? 0 : o->events.values[item];
    if (message && message <= f->count)
        f->is_forgotten[message - 1] = true;
}

/* Ids of V0 are numbers, and a range of them may be forgotten. */
static void forget_range(struct openhands *o, struct forgotten *f, wr_node from, wr_node to)
{
    int64_t low, high;
    uint64_t id;
    if (!wr_json_i64(from.doc, from.id, &low) || !wr_json_i64(to.doc, to.id, &high) || low < 0)
        return;
    for (uint32_t i = 0; i < o->events.count; i++)
        if (wr_span_u64(o->events.items[i], &id) && id >= (uint64_t)low && high >= 0 &&
            id <= (uint64_t)high)
            forget(o, f, o->events.items[i]);
}

static void keep_rest(struct openhands *o, const struct forgotten *f, weir_span summary)
{
    uint32_t message, at = 0;
    bool is_told = !summary.len;
    o->draft.is_hiding = true;
    while ((message = wr_draft_view_next(&o->draft, &at)) != WR_DRAFT_NONE) {
        bool is_gone = message < f->count && f->is_forgotten[message];
        if (is_gone && !is_told) {
            wr_draft_keep(&o->draft,
                          wr_draft_say(&o->draft, WEIR_ROLE_USER, summary, WR_SESSION_NO_TIME));
            is_told = true;
        }
        if (!is_gone)
            wr_draft_keep(&o->draft, message);
    }
    o->draft.is_hiding = false;
}

static void read_condensation(struct openhands *o, wr_node fields)
{
    struct forgotten f = {.count = o->draft.messages_count};
    f.is_forgotten = WR_ARENA_ARRAY(&o->in->scratch, bool, f.count);
    if (!f.is_forgotten) {
        o->in->status = o->in->scratch.status;
        return;
    }
    if (wr_draft_compact(&o->draft) == WR_DRAFT_NONE)
        return;
    WR_NODE_EACH(id, wr_node_get(fields, "forgotten_event_ids"))
        forget(o, &f, wr_node_name(o->in, id));
    forget_range(o, &f, wr_node_get(fields, "forgotten_events_start_id"),
                 wr_node_get(fields, "forgotten_events_end_id"));
    keep_rest(o, &f, wr_node_inner(wr_node_get(fields, "summary")));
    o->response = WR_LIT("");
}

/* ---- V0 ---- */

/* The arguments as the model wrote them are in the response; those of the action are richer. */
static wr_node written_arguments(wr_node metadata)
{
    wr_node choices = wr_node_get(wr_node_get(metadata, "model_response"), "choices");
    wr_node calls = wr_node_get(wr_node_get(wr_node_first(choices), "message"), "tool_calls");
    weir_span id = wr_node_inner(wr_node_get(metadata, "tool_call_id"));
    WR_NODE_EACH(call, calls)
        if (wr_span_eq(wr_node_inner(wr_node_get(call, "id")), id))
            return wr_node_get(wr_node_get(call, "function"), "arguments");
    return (wr_node){metadata.doc, WR_JSON_NONE};
}

static void read_v0_call(struct openhands *o, wr_node event, int64_t time_ms)
{
    wr_node metadata = wr_node_get(event, "tool_call_metadata"), args = wr_node_get(event, "args");
    wr_node name = wr_node_get(metadata, "function_name"), arguments = written_arguments(metadata);
    wr_node response = wr_node_get(wr_node_get(metadata, "model_response"), "id");
    uint32_t output = output_of(o, wr_node_text(o->in, response), time_ms);
    bool is_new;
    if (!wr_node_is(name, WR_JSON_STRING))
        name = wr_node_get(event, "action");
    wr_draft_append(&o->draft, output, wr_node_inner(wr_node_get(args, "thought")));
    uint32_t call = wr_draft_call(
        &o->draft, output, wr_node_text(o->in, wr_node_get(metadata, "tool_call_id")),
        wr_node_text(o->in, name),
        wr_import_arguments(&o->draft, arguments.id == WR_JSON_NONE ? args : arguments));
    uint32_t item = wr_names_add(&o->calls, &o->in->scratch,
                                 wr_node_name(o->in, wr_node_get(event, "id")), &is_new);
    if (item == WR_NAMES_NONE)
        o->in->status = o->in->scratch.status;
    else
        o->calls.values[item] = call;
    note_event(o, event, output);
}

static void read_v0_action(struct openhands *o, wr_node event, wr_node action, int64_t time_ms)
{
    wr_node args = wr_node_get(event, "args"), content = wr_node_get(args, "content");
    bool is_user = wr_node_text_is(wr_node_get(event, "source"), "user");
    if (!wr_node_is(content, WR_JSON_STRING))
        content = wr_node_get(event, "message");
    weir_span text = wr_node_inner(content);
    if (wr_node_text_is(action, "system")) {
        note_event(o, event, wr_draft_say(&o->draft, WEIR_ROLE_SYSTEM, text, time_ms));
    } else if (wr_node_text_is(action, "message")) {
        o->response = WR_LIT("");
        note_event(o, event,
                   is_user ? wr_draft_say(&o->draft, WEIR_ROLE_USER, text, time_ms)
                           : wr_draft_answer(&o->draft, text, time_ms));
    } else if (wr_node_text_is(action, "condensation")) {
        read_condensation(o, args);
    } else if (is_user || wr_node_text_is(action, "recall") || wr_node_text_is(action, "null") ||
               wr_node_text_is(action, "change_agent_state") ||
               wr_node_text_is(action, "condensation_request")) {
        wr_import_note(o->in, WR_IMPORT_ENTRY_OTHER);
    } else {
        read_v0_call(o, event, time_ms);
    }
}

static void read_v0(struct openhands *o, wr_node event, int64_t time_ms)
{
    wr_node observation = wr_node_get(event, "observation"), action = wr_node_get(event, "action");
    if (wr_node_is(action, WR_JSON_STRING)) {
        read_v0_action(o, event, action, time_ms);
        return;
    }
    uint32_t item = wr_names_find(&o->calls, wr_node_name(o->in, wr_node_get(event, "cause")));
    bool is_other = wr_node_text_is(observation, "recall") ||
                    wr_node_text_is(observation, "null") ||
                    wr_node_text_is(observation, "agent_state_changed");
    if (is_other || !wr_node_is(observation, WR_JSON_STRING))
        wr_import_note(o->in, WR_IMPORT_ENTRY_OTHER);
    else
        wr_draft_result_of(&o->draft, item == WR_NAMES_NONE ? WR_DRAFT_NONE : o->calls.values[item],
                           observed(o, wr_node_get(event, "content"),
                                    wr_node_get(wr_node_get(event, "extras"), "metadata")),
                           time_ms);
}

/* ---- V1 ---- */

static void read_v1_action(struct openhands *o, wr_node event, int64_t time_ms)
{
    wr_node call = wr_node_get(event, "tool_call"), function = wr_node_get(call, "function");
    wr_node arguments = wr_node_get(call, "arguments");
    uint32_t output =
        output_of(o, wr_node_text(o->in, wr_node_get(event, "llm_response_id")), time_ms);
    if (arguments.id == WR_JSON_NONE)
        arguments = wr_node_get(function, "arguments");
    wr_draft_append(&o->draft, output,
                    wr_import_content(o->in, &o->draft, wr_node_get(event, "thought"), NULL));
    wr_draft_call(&o->draft, output, wr_node_text(o->in, wr_node_get(event, "tool_call_id")),
                  wr_node_text(o->in, wr_node_get(event, "tool_name")),
                  wr_import_arguments(&o->draft, arguments));
    note_event(o, event, output);
}

static void read_v1_result(struct openhands *o, wr_node event, wr_node kind, int64_t time_ms)
{
    wr_node observation = wr_node_get(event, "observation");
    weir_span text, id = wr_node_text(o->in, wr_node_get(event, "tool_call_id"));
    if (wr_node_text_is(kind, "AgentErrorEvent")) {
        text = wr_node_inner(wr_node_get(event, "error"));
    } else if (wr_node_text_is(kind, "UserRejectObservation")) {
        struct wr_buf buf;
        wr_buf_init(&buf, WR_JSON_BODY_BYTES_MAX);
        wr_buf_text(&buf, "Action rejected: ");
        wr_buf_append(&buf, wr_node_text(o->in, wr_node_get(event, "rejection_reason")));
        text = wr_draft_take_escaped(&o->draft, &buf);
    } else {
        wr_node content = wr_node_get(observation, "content");
        if (content.id == WR_JSON_NONE)
            content = wr_node_get(observation, "output");
        text = observed(o, content.id == WR_JSON_NONE ? observation : content,
                        wr_node_get(observation, "metadata"));
    }
    wr_draft_result(&o->draft, id, text, time_ms);
}

static void read_v1(struct openhands *o, wr_node event, wr_node kind, int64_t time_ms)
{
    wr_node message = wr_node_get(event, "llm_message"), content = wr_node_get(message, "content");
    if (wr_node_text_is(kind, "ActionEvent")) {
        read_v1_action(o, event, time_ms);
    } else if (wr_node_text_is(kind, "ObservationEvent") ||
               wr_node_text_is(kind, "AgentErrorEvent") ||
               wr_node_text_is(kind, "UserRejectObservation")) {
        read_v1_result(o, event, kind, time_ms);
    } else if (wr_node_text_is(kind, "SystemPromptEvent")) {
        content = wr_node_get(event, "system_prompt");
        note_event(o, event,
                   wr_draft_say(&o->draft, WEIR_ROLE_SYSTEM,
                                wr_import_content(o->in, &o->draft, content, NULL), time_ms));
    } else if (wr_node_text_is(kind, "MessageEvent")) {
        weir_span text = wr_import_content(o->in, &o->draft, content, NULL);
        bool is_model = wr_node_text_is(wr_node_get(message, "role"), "assistant");
        o->response = WR_LIT("");
        note_event(o, event,
                   is_model ? wr_draft_answer(&o->draft, text, time_ms)
                            : wr_draft_say(&o->draft, WEIR_ROLE_USER, text, time_ms));
    } else if (wr_node_text_is(kind, "Condensation")) {
        read_condensation(o, event);
    } else {
        wr_import_note(o->in, WR_IMPORT_ENTRY_OTHER);
    }
}

/* ---- the log ---- */

static void read_openhands_event(struct openhands *o, wr_node event)
{
    wr_node kind = wr_node_get(event, "kind");
    int64_t time_ms = wr_node_time(wr_node_get(event, "timestamp"));
    if (wr_node_is(kind, WR_JSON_STRING))
        read_v1(o, event, kind, time_ms);
    else
        read_v0(o, event, time_ms);
}

static void begin_log(struct openhands *o, struct wr_importer *in)
{
    *o = (struct openhands){.in = in, .response = WR_LIT(""), .output = WR_DRAFT_NONE};
    wr_import_begin_draft(in, &o->draft);
}

static void read_history(struct wr_importer *in, wr_node history, wr_node record)
{
    struct openhands o;
    wr_node config = wr_node_get(wr_node_get(record, "metadata"), "llm_config");
    begin_log(&o, in);
    wr_draft_model(&o.draft, wr_node_text(in, wr_node_get(config, "model")));
    WR_NODE_EACH(event, history) {
        if (!wr_node_is(event, WR_JSON_ARRAY))
            read_openhands_event(&o, event);
        WR_NODE_EACH(one, event)
            read_openhands_event(&o, one);
    }
    wr_import_end_draft(in, &o.draft);
}

static weir_status read_openhands_log(struct wr_importer *in)
{
    wr_node root = wr_import_root(in), entry, none = {root.doc, WR_JSON_NONE};
    struct openhands o;
    if (!in->is_lines) {
        bool is_record = wr_node_is(root, WR_JSON_OBJECT);
        read_history(in, is_record ? wr_node_get(root, "history") : root, is_record ? root : none);
        return in->status;
    }
    begin_log(&o, in);
    bool has_events = false;
    while (wr_import_next(in, &entry)) {
        wr_node history = wr_node_get(entry, "history");
        if (is_history(history)) {
            read_history(in, history, entry);
            continue;
        }
        read_openhands_event(&o, entry);
        has_events = true;
    }
    if (has_events)
        wr_import_end_draft(in, &o.draft);
    return in->status;
}

const struct wr_import_format wr_import_openhands = {
    "openhands", claims_openhands_line, claims_openhands, read_openhands_log, WEIR_DIALECT_CHAT};

/* ---- import openhands messages ----
 *
 * OpenHands: published runs, each a record with the `messages` that its model was sent.
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
    WR_NODE_EACH(message, messages) {
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
