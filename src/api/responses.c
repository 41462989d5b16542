/* OpenAI Responses. */
#include "api/answer.h"
#include "api/own_api.h"
#include "api/read.h"
#include "api/write.h"
#include "base/span.h"

enum field {
    F_TYPE,
    F_ROLE,
    F_CONTENT,
    F_CALL_ID,
    F_ID,
    F_NAME,
    F_NAMESPACE,
    F_ARGUMENTS,
    F_INPUT,
    F_ACTION,
    F_OPERATION,
    F_OUTPUT,
    F_STATUS,
    F_APPROVAL_REQUEST_ID,
    F_COUNT
};

static const char *const field_names[F_COUNT] = {
    "type",      "role",  "content", "call_id",   "id",     "name",   "namespace",
    "arguments", "input", "action",  "operation", "output", "status", "approval_request_id",
};

/* The item types that are calls, and where what they were called with stands. */
static const struct {
    const char *type;
    enum field payload;
    const char *tool; /* the name, where the item has none of its own */
} call_items[] = {
    {"function_call", F_ARGUMENTS, ""},
    {"custom_tool_call", F_INPUT, ""},
    {"local_shell_call", F_ACTION, "local_shell"},
    {"shell_call", F_ACTION, "shell"},
    {"apply_patch_call", F_OPERATION, "apply_patch"},
    {"computer_call", F_ACTION, "computer"},
    {"tool_search_call", F_ARGUMENTS, "tool_search"},
};

/* The item types that answer a call; whether their text may be edited. */
static const struct {
    const char *type;
    bool is_editable;
} result_items[] = {
    {"function_call_output", true},    {"custom_tool_call_output", true},
    {"local_shell_call_output", true}, {"shell_call_output", true},
    {"apply_patch_call_output", true}, {"computer_call_output", false},
    {"tool_search_output", false},
};

/* Items that stay exact, who wrote them, and the id by which they belong together. */
static const struct {
    const char *type;
    weir_kind kind;
    bool from_model;
    enum wr_link link;
    enum field id;
} exact_items[] = {
    {"reasoning", WEIR_KIND_REASONING, true, WR_LINK_NONE, 0},
    {"compaction", WEIR_KIND_COMPACTION, true, WR_LINK_NONE, 0},
    {"compaction_summary", WEIR_KIND_COMPACTION, true, WR_LINK_NONE, 0},
    {"context_compaction", WEIR_KIND_COMPACTION, true, WR_LINK_NONE, 0},
    {"compaction_trigger", WEIR_KIND_COMPACTION, false, WR_LINK_NONE, 0},
    {"additional_tools", WEIR_KIND_TOOLS, false, WR_LINK_NONE, 0},
    {"web_search_call", WEIR_KIND_OTHER, true, WR_LINK_NONE, 0},
    {"file_search_call", WEIR_KIND_OTHER, true, WR_LINK_NONE, 0},
    {"code_interpreter_call", WEIR_KIND_OTHER, true, WR_LINK_NONE, 0},
    {"image_generation_call", WEIR_KIND_OTHER, true, WR_LINK_NONE, 0},
    {"mcp_list_tools", WEIR_KIND_OTHER, true, WR_LINK_NONE, 0},
    {"mcp_approval_request", WEIR_KIND_OTHER, true, WR_LINK_ASKS, F_ID},
    {"mcp_approval_response", WEIR_KIND_OTHER, false, WR_LINK_ANSWERS, F_APPROVAL_REQUEST_ID},
    {"mcp_call", WEIR_KIND_OTHER, true, WR_LINK_ANSWERS, F_APPROVAL_REQUEST_ID},
    {"program", WEIR_KIND_OTHER, true, WR_LINK_ASKS, F_CALL_ID},
    {"program_output", WEIR_KIND_OTHER, false, WR_LINK_ANSWERS, F_CALL_ID},
    {"tool_search_call", WEIR_KIND_OTHER, true, WR_LINK_NONE, 0},
    {"tool_search_output", WEIR_KIND_OTHER, true, WR_LINK_NONE, 0},
};

static weir_status read_part(struct wr_transcript *t, const struct wr_place *place,
                             wr_json_id parts, wr_json_id part)
{
    static const char *const names[] = {"type", "text", "refusal"};
    static const char *const text_types[] = {"input_text", "output_text", "text"};
    const struct wr_json *doc = t->doc;
    wr_json_id values[3];

    if (!wr_json_pick(doc, part, names, 3, values))
        return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
    for (size_t i = 0; i < WR_COUNT_OF(text_types); i++)
        if (wr_json_text_is(doc, values[0], text_types[i]))
            return wr_add_text_block(t, place, parts, part, values[1]);
    if (wr_json_text_is(doc, values[0], "refusal"))
        return wr_add_refusal(t, place, parts, part, values[2]);
    if (wr_json_text_is(doc, values[0], "input_image"))
        return wr_add_exact_block(t, place, WEIR_KIND_IMAGE, parts, part, false);
    if (wr_json_text_is(doc, values[0], "input_file") ||
        wr_json_text_is(doc, values[0], "input_audio"))
        return wr_add_exact_block(t, place, WEIR_KIND_FILE, parts, part, false);
    return wr_add_exact_block(t, place, WEIR_KIND_OTHER, parts, part, false);
}

/* `namespace` and `name` are one tool to the model. */
static weir_span tool_name(struct wr_transcript *t, const wr_json_id fields[F_COUNT],
                           const char *otherwise, weir_status *status)
{
    weir_span name = wr_text_or_empty(t, fields[F_NAME], status);
    weir_span space = wr_text_or_empty(t, fields[F_NAMESPACE], status);
    if (*status)
        return name;
    if (!name.len)
        return wr_span_of(otherwise);
    weir_span joined = wr_tool_join(t->arena, space, name);
    if (!joined.ptr)
        *status = wr_arena_status(t->arena);
    return joined;
}

static weir_status read_responses_call(struct wr_transcript *t, const struct wr_place *place,
                                       const wr_json_id fields[F_COUNT], size_t row)
{
    wr_json_id payload = fields[call_items[row].payload];
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_CALL,
                                              payload != WR_JSON_NONE ? payload : place->message);
    weir_status status = WEIR_OK;
    segment.role = WEIR_ROLE_ASSISTANT;
    segment.from_model = true;
    segment.tool = tool_name(t, fields, call_items[row].tool, &status);
    segment.call_id = wr_text_or_empty(t, fields[F_CALL_ID], &status);
    segment.other_id = wr_text_or_empty(t, fields[F_ID], &status);
    if (!segment.call_id.len)
        segment.call_id = segment.other_id;
    /* Only the result of a local shell may name its call by the item's id. */
    if (!wr_json_text_is(t->doc, fields[F_TYPE], "local_shell_call"))
        segment.other_id = (weir_span){"", 0};
    return status ? status : wr_transcript_add(t, &segment);
}

/* Whether a command of a shell ended otherwise than with exit code 0. */
static bool outcome_failed(const struct wr_json *doc, wr_json_id outcome)
{
    int64_t code;
    bool has_code = wr_json_i64(doc, wr_json_find(doc, outcome, "exit_code"), &code);
    return (has_code && code) ||
           wr_json_text_is(doc, wr_json_find(doc, outcome, "type"), "timeout");
}

/* shell_call_output: an array of {stdout, stderr, outcome}; the two streams are its text. */
static weir_status set_stream_parts(struct wr_transcript *t, struct wr_segment *segment,
                                    wr_json_id output)
{
    static const char *const names[] = {"stdout", "stderr", "outcome"};
    const struct wr_json *doc = t->doc;
    wr_json_id *parts =
        WR_ARENA_ARRAY(t->arena, wr_json_id, 2 * (size_t)wr_json_count(doc, output));
    uint32_t count = 0;

    if (!parts)
        return wr_arena_status(t->arena);
    for (wr_json_id entry = wr_json_first(doc, output); entry != WR_JSON_NONE;
         entry = wr_json_next(doc, output, entry)) {
        wr_json_id values[3];
        if (!wr_json_pick(doc, entry, names, 3, values))
            continue;
        segment->is_error |= outcome_failed(doc, values[2]);
        /* In the order of the text: whoever walks the parts walks the body. */
        bool is_swapped = values[1] < values[0];
        for (size_t i = 0; i < 2; i++) {
            wr_json_id value = values[is_swapped ? 1 - i : i];
            if (wr_json_is(doc, value, WR_JSON_STRING) && wr_json_inner(doc, value).len)
                parts[count++] = value;
        }
    }
    segment->payload = output;
    segment->parts = parts;
    segment->parts_count = count;
    return WEIR_OK;
}

static weir_status read_responses_result(struct wr_transcript *t, const struct wr_place *place,
                                         const wr_json_id fields[F_COUNT], size_t row)
{
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_TOOL_RESULT, place->message);
    wr_json_id output = fields[F_OUTPUT];
    weir_status status = WEIR_OK;

    segment.role = WEIR_ROLE_TOOL;
    segment.from_model = false;
    segment.is_error = wr_json_text_is(t->doc, fields[F_STATUS], "failed");
    segment.call_id = wr_text_or_empty(t, fields[F_CALL_ID], &status);
    if (!segment.call_id.len && wr_json_text_is(t->doc, fields[F_TYPE], "local_shell_call_output"))
        segment.call_id = wr_text_or_empty(t, fields[F_ID], &status);
    if (status)
        return status;
    if (!result_items[row].is_editable)
        segment.is_opaque = true;
    else if (wr_json_text_is(t->doc, fields[F_TYPE], "shell_call_output") &&
             wr_json_is(t->doc, output, WR_JSON_ARRAY))
        status = set_stream_parts(t, &segment, output);
    else
        status = wr_set_result_parts(t, &segment, output, "input_text");
    return status ? status : wr_transcript_add(t, &segment);
}

/* Every other type. One that comes right behind a model output may be part of it and stays with it;
 * one with a call id belongs to whatever else has that id. */
static weir_status read_other(struct wr_transcript *t, const struct wr_place *place,
                              const wr_json_id fields[F_COUNT])
{
    const struct wr_json *doc = t->doc;
    const struct wr_segment *before =
        t->segments_count ? &t->segments[t->segments_count - 1] : NULL;
    struct wr_segment segment = wr_segment_at(place, WEIR_KIND_OTHER, place->message);
    bool is_agents = wr_json_text_is(doc, fields[F_TYPE], "agent_message");
    weir_status status = WEIR_OK;

    segment.array = WR_JSON_NONE;
    segment.is_opaque = true;
    segment.is_continuation = is_agents || wr_json_text_is(doc, fields[F_TYPE], "item_reference") ||
                              wr_json_text_is(doc, fields[F_TYPE], "configuration_update");
    if (is_agents) /* another agent's words are work to do, like the user's */
        segment.role = WEIR_ROLE_USER;
    else if (place->role == WEIR_ROLE_NONE && !segment.is_continuation)
        segment.from_model = before && before->from_model;
    segment.call_id = wr_text_or_empty(t, fields[F_CALL_ID], &status);
    if (segment.call_id.len && wr_json_is(doc, fields[F_TYPE], WR_JSON_STRING)) {
        bool is_output = wr_span_ends(wr_json_inner(doc, fields[F_TYPE]), WR_LIT("_output"));
        segment.link = is_output ? WR_LINK_ANSWERS : WR_LINK_ASKS;
    }
    return status ? status : wr_transcript_add(t, &segment);
}

static weir_status read_exact(struct wr_transcript *t, const struct wr_place *place,
                              const wr_json_id fields[F_COUNT], size_t row)
{
    struct wr_segment segment = wr_segment_at(place, exact_items[row].kind, place->message);
    weir_status status = WEIR_OK;
    segment.is_opaque = true;
    segment.from_model = exact_items[row].from_model;
    segment.role = segment.from_model ? WEIR_ROLE_ASSISTANT : WEIR_ROLE_NONE;
    segment.is_continuation = segment.kind != WEIR_KIND_TOOLS;
    segment.link = exact_items[row].link;
    if (segment.link != WR_LINK_NONE) {
        segment.call_id = wr_text_or_empty(t, fields[exact_items[row].id], &status);
        segment.tool = wr_text_or_empty(t, fields[F_NAME], &status);
    }
    return status ? status : wr_transcript_add(t, &segment);
}

/* The search for tools that the provider runs itself has no call id: both halves are model output.
 */
static bool is_hosted_search(const struct wr_json *doc, const wr_json_id fields[F_COUNT])
{
    return !wr_json_is(doc, fields[F_CALL_ID], WR_JSON_STRING) &&
           (wr_json_text_is(doc, fields[F_TYPE], "tool_search_call") ||
            wr_json_text_is(doc, fields[F_TYPE], "tool_search_output"));
}

static weir_status read_typed(struct wr_transcript *t, const struct wr_place *place,
                              const wr_json_id fields[F_COUNT])
{
    const struct wr_json *doc = t->doc;
    bool is_hosted = is_hosted_search(doc, fields);

    for (size_t i = 0; i < WR_COUNT_OF(call_items) && !is_hosted; i++)
        if (wr_json_text_is(doc, fields[F_TYPE], call_items[i].type))
            return read_responses_call(t, place, fields, i);
    for (size_t i = 0; i < WR_COUNT_OF(result_items) && !is_hosted; i++)
        if (wr_json_text_is(doc, fields[F_TYPE], result_items[i].type))
            return read_responses_result(t, place, fields, i);
    for (size_t i = 0; i < WR_COUNT_OF(exact_items); i++)
        if (wr_json_text_is(doc, fields[F_TYPE], exact_items[i].type))
            return read_exact(t, place, fields, i);
    return read_other(t, place, fields);
}

static weir_status read_responses_item(struct wr_transcript *t, wr_json_id list, wr_json_id item)
{
    const struct wr_json *doc = t->doc;
    wr_json_id fields[F_COUNT];
    bool unique = wr_json_pick(doc, item, field_names, F_COUNT, fields);
    struct wr_place place = {item, list, wr_role_of(doc, fields[F_ROLE])};
    wr_json_id type = fields[F_TYPE];

    if (!unique)
        return wr_add_opaque(t, &place, WEIR_KIND_OTHER, item, false);
    bool is_message = type == WR_JSON_NONE ? fields[F_ROLE] != WR_JSON_NONE
                                           : wr_json_text_is(doc, type, "message");
    if (is_message && place.role != WEIR_ROLE_NONE && place.role != WEIR_ROLE_TOOL)
        return wr_add_content(t, &place, fields[F_CONTENT], read_part);
    return read_typed(t, &place, fields);
}

static bool is_set(const struct wr_json *doc, wr_json_id id)
{
    return id != WR_JSON_NONE && wr_json_kind(doc, id) != WR_JSON_NULL;
}

static weir_status read_input(struct wr_transcript *t, wr_json_id input)
{
    const struct wr_json *doc = t->doc;
    weir_status status = WEIR_OK;

    if (wr_json_is(doc, input, WR_JSON_STRING)) {
        struct wr_place place = {WR_JSON_NONE, WR_JSON_NONE, WEIR_ROLE_USER};
        return wr_add_content(t, &place, input, read_part);
    }
    if (!wr_json_is(doc, input, WR_JSON_ARRAY))
        return WEIR_OK;
    t->list = input;
    for (wr_json_id item = wr_first_unread(t, &status); !status && item != WR_JSON_NONE;
         item = wr_json_next(doc, input, item))
        status = read_responses_item(t, input, item);
    return status;
}

static weir_status read_instructions(struct wr_transcript *t, wr_json_id instructions)
{
    struct wr_place place = {WR_JSON_NONE, WR_JSON_NONE, WEIR_ROLE_SYSTEM};
    return wr_add_content(t, &place, instructions, read_part);
}

static weir_status read_responses_request(struct wr_transcript *transcript)
{
    static const char *const names[] = {"input", "tools", "instructions", "previous_response_id",
                                        "conversation"};
    const struct wr_json *doc = transcript->doc;
    wr_json_id top[5];
    (void)wr_json_pick(doc, 0, names, 5, top);

    transcript->pairs_anywhere = true;
    transcript->is_delta = is_set(doc, top[3]) || is_set(doc, top[4]);
    weir_status status = wr_add_whole(transcript, WEIR_KIND_TOOLS, WEIR_ROLE_NONE, top[1]);
    if (!status)
        status = read_instructions(transcript, top[2]);
    return status ? status : read_input(transcript, top[0]);
}

static weir_span plain_text_at(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : (weir_span){"", 0};
}

static bool is_answer_before(const struct wr_json *doc)
{
    return plain_text_at(doc, 0, "previous_response_id").len > 0;
}

static weir_span id_before(const struct wr_json *doc)
{
    weir_span id = plain_text_at(doc, 0, "previous_response_id");

    if (!id.len)
        id = plain_text_at(doc, 0, "conversation");
    return id.len ? id : plain_text_at(doc, wr_json_find(doc, 0, "conversation"), "id");
}

/* A host that sends its whole history each time says so by `store`. */
static bool is_continued(const struct wr_json *doc)
{
    return !wr_json_is(doc, wr_json_find(doc, 0, "store"), WR_JSON_FALSE);
}

bool wr_responses_is_call(const struct wr_json *doc, wr_json_id item)
{
    wr_json_id fields[F_COUNT];

    (void)wr_json_pick(doc, item, field_names, F_COUNT, fields);
    if (is_hosted_search(doc, fields))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(call_items); i++)
        if (wr_json_text_is(doc, fields[F_TYPE], call_items[i].type))
            return true;
    return false;
}

bool wr_responses_is_result(const struct wr_json *doc, wr_json_id item)
{
    wr_json_id type = wr_json_find(doc, item, "type");

    for (size_t i = 0; i < WR_COUNT_OF(result_items); i++)
        if (wr_json_text_is(doc, type, result_items[i].type))
            return true;
    return false;
}

/* ---- answers ---- */

static enum wr_look look_at_responses(const struct wr_sse_event *event)
{
    static const char *const telling[] = {"response.output_item.done", "response.completed",
                                          "response.failed", "response.incomplete", "error"};
    for (size_t i = 0; i < WR_COUNT_OF(telling); i++)
        if (wr_span_is(event->name, telling[i]))
            return WR_LOOK_INTO;
    return WR_LOOK_AWAY;
}

static bool is_type(const struct wr_json *doc, wr_json_id object, const char *type)
{
    return wr_json_text_is(doc, wr_json_find(doc, object, "type"), type);
}

static void read_output_texts(struct wr_reply *a, const struct wr_json *doc, wr_json_id message,
                              struct wr_part *part)
{
    wr_json_id content = wr_json_find(doc, message, "content");

    for (wr_json_id at = wr_json_first(doc, content); at != WR_JSON_NONE;
         at = wr_json_next(doc, content, at)) {
        weir_span text = wr_answer_text(a, doc, at, "text");
        if (!is_type(doc, at, "output_text") || !text.len)
            continue;
        if (part->text.len)
            wr_answer_extend(a, part, WR_LIT("\n"));
        wr_answer_extend(a, part, text);
    }
}

static void read_answer_item(struct wr_reply *a, const struct wr_json *doc, wr_json_id item)
{
    bool is_custom = is_type(doc, item, "custom_tool_call") && !a->keeps_all;
    bool is_call = is_custom || is_type(doc, item, "function_call");
    bool is_text = is_type(doc, item, "message");
    enum wr_part_kind kind = is_call ? WR_PART_CALL : is_text ? WR_PART_TEXT : WR_PART_OTHER;
    struct wr_part *part =
        wr_json_is(doc, item, WR_JSON_OBJECT) ? wr_answer_part(a, kind, -1) : NULL;

    if (!part)
        return;
    if (is_call) {
        wr_buf_append(&part->id, wr_answer_text(a, doc, item, "call_id"));
        wr_buf_append(&part->name, wr_answer_text(a, doc, item, "name"));
        wr_answer_extend(a, part, wr_answer_text(a, doc, item, is_custom ? "input" : "arguments"));
    }
    if (is_text)
        read_output_texts(a, doc, item, part);
    if (a->keeps_all)
        wr_buf_append(&part->raw, wr_json_raw(doc, item));
}

/* All but the items. */
static void read_answer_head(struct wr_reply *a, const struct wr_json *doc, wr_json_id response)
{
    wr_json_id error = wr_json_find(doc, response, "error");
    wr_json_id said = wr_json_find(doc, response, "prompt_cache_diagnostics");

    wr_answer_read_id(a, doc, response);
    wr_answer_read_error(a, doc, error, error);
    wr_answer_read_usage(a, doc, wr_json_find(doc, response, "usage"));
    wr_answer_read_finish(a, wr_answer_text(a, doc, response, "status"));
    wr_answer_read_miss(a, wr_answer_text(a, doc, wr_json_find(doc, said, "cache_miss"), "reason"));
    if (!a->conversation_id.len)
        wr_buf_append(&a->conversation_id,
                      wr_answer_text(a, doc, wr_json_find(doc, response, "conversation"), "id"));
}

/* The last event repeats all items; some servers leave its list empty, so they are kept as they
 * come. Others give them only there. */
static void end_response(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id response = wr_json_find(doc, 0, "response");
    wr_json_id output = wr_json_find(doc, response, "output");

    read_answer_head(a, doc, response);
    if (is_type(doc, 0, "response.failed") && !a->has_error) {
        a->has_error = true;
        wr_buf_text(&a->refusal, a->keeps_all ? "failed" : "");
    }
    a->is_finished = true;
    for (wr_json_id at = a->parts_count ? WR_JSON_NONE : wr_json_first(doc, output);
         at != WR_JSON_NONE; at = wr_json_next(doc, output, at))
        read_answer_item(a, doc, at);
}

static void read_responses_event(struct wr_reply *a, const struct wr_json *doc)
{
    if (is_type(doc, 0, "response.output_text.delta"))
        wr_answer_show(a, WR_PIECE_TEXT, wr_answer_text(a, doc, 0, "delta"));
    else if (is_type(doc, 0, "response.reasoning_summary_text.delta") ||
             is_type(doc, 0, "response.reasoning_text.delta"))
        wr_answer_show(a, WR_PIECE_THINKING, wr_answer_text(a, doc, 0, "delta"));
    else if (is_type(doc, 0, "response.output_item.done"))
        read_answer_item(a, doc, wr_json_find(doc, 0, "item"));
    else if (is_type(doc, 0, "error"))
        wr_answer_read_error(a, doc, 0, 0);
    else if (is_type(doc, 0, "response.completed") || is_type(doc, 0, "response.incomplete") ||
             is_type(doc, 0, "response.failed"))
        end_response(a, doc);
}

static bool read_responses_whole(struct wr_reply *a, const struct wr_json *doc)
{
    wr_json_id output = wr_json_find(doc, 0, "output");

    read_answer_head(a, doc, 0);
    if (!wr_json_is(doc, output, WR_JSON_ARRAY))
        return false;
    wr_answer_read_items(a, doc, output);
    return true;
}

static void write_responses_answer(struct wr_reply *a, struct wr_json_writer *w)
{
    wr_json_member_word(w, "status", a->finish);
    wr_json_write_key(w, "output");
    wr_json_write_array(w);
    for (size_t i = 0; i < a->parts_count; i++)
        wr_json_write_raw(w, wr_buf_view(&a->parts[i].raw));
    wr_json_write_array_end(w);
}

/* ---- writing ---- */

static void write_prompt(struct wr_body *b, const struct wr_body_head *head)
{
    if (head->prompts_count)
        wr_body_text(b, "instructions", head->prompts[0]);
}

static void write_tool(struct wr_body *b, const struct weir_tool *tool)
{
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "type", "function");
    wr_json_member_text(&b->w, "name", tool->name);
    if (tool->description.len)
        wr_json_member_text(&b->w, "description", tool->description);
    wr_body_schema(b, "parameters", tool);
    wr_json_write_object_end(&b->w);
}

static void write_text(struct wr_body *b, const char *role, const char *type, weir_span text)
{
    wr_body_open(b, role);
    wr_body_block(b, type, text);
    if (!b->joins)
        wr_body_close(b);
}

static void write_responses_image(struct wr_body *b, const struct wr_line_image *image)
{
    wr_json_write_object(&b->w);
    wr_json_member_word(&b->w, "type", "input_image");
    wr_json_member_text(&b->w, "image_url", image->url);
    wr_json_write_object_end(&b->w);
}

static void write_words(struct wr_body *b, const struct wr_line *line)
{
    wr_body_open(b, "user");
    wr_body_block(b, "input_text", line->text);
    wr_body_images(b, line);
    if (!b->joins)
        wr_body_close(b);
}

static void write_output(struct wr_body *b, const struct wr_line *line)
{
    wr_body_close(b);
    if (line->items_count) {
        wr_body_items(b, line);
        return;
    }
    if (line->text.len) {
        write_text(b, "assistant", "output_text", line->text);
        wr_body_close(b);
    }
    for (size_t i = 0; i < line->calls_count; i++) {
        wr_json_write_object(&b->w);
        wr_json_member_word(&b->w, "type", "function_call");
        wr_body_id(b, "call_id", line->calls[i].id);
        wr_body_text(b, "name", line->calls[i].name);
        wr_body_arguments(b, line->calls[i].arguments);
        wr_json_write_object_end(&b->w);
    }
}

static void write_responses_line(struct wr_body *b, const struct wr_line *line)
{
    switch (line->kind) {
    case WR_LINE_NOTICE:
        write_text(b, line->role ? line->role : "system", "input_text", line->text);
        break;
    case WR_LINE_WORDS:
        write_words(b, line);
        break;
    case WR_LINE_RESULT:
        wr_body_close(b);
        wr_json_write_object(&b->w);
        wr_json_member_word(&b->w, "type", "function_call_output");
        wr_body_id(b, "call_id", line->call_id);
        wr_body_text(b, "output", line->text);
        wr_json_write_object_end(&b->w);
        break;
    case WR_LINE_ANSWER:
        write_output(b, line);
        break;
    }
}

static void write_responses_reply(struct wr_body *b, const struct wr_line *line)
{
    wr_json_member_word(&b->w, "id", "resp_meter");
    wr_json_member_word(&b->w, "object", "response");
    wr_json_member_number(&b->w, "created_at", 0);
    wr_json_member_word(&b->w, "status", "completed");
    wr_json_write_key(&b->w, "output");
    wr_json_write_array(&b->w);
    write_output(b, line);
    wr_json_write_array_end(&b->w);
}

/* ---- the table ---- */

static const char *const overflow_codes[] = {"context_length_exceeded", NULL};
static const char *const continuation_words[] = {
    "no tool output found for", "no tool call found for", "without its required", NULL};
static const char *const end_words[] = {"completed", NULL};
static const char *const previous_codes[] = {"previous_response_not_found", NULL};
static const struct wr_api_path paths[] = {
    {"/responses", "/v1/responses", true},
    {"/responses/compact", "/v1/responses/compact", true},
    {"/responses/input_tokens", "/v1/responses/input_tokens", false},
};

const struct wr_api wr_api_responses = {
    .dialect = WEIR_DIALECT_RESPONSES,
    .name = "responses",
    .paths = paths,
    .paths_count = WR_COUNT_OF(paths),
    .answer_part = "/responses/",
    .read_request = read_responses_request,
    .list_tools = wr_list_tools,
    .list_key = "input",
    .may_lack_list = true,
    .content_key = "content",
    .prompt_key = "instructions",
    .id_before = id_before,
    .is_answer_before = is_answer_before,
    .is_continued = is_continued,
    .framing = {.request = 3, .message = 4, .call = 8, .tools = 12, .tool = 8},
    .ties_reasoning = true,
    .look = look_at_responses,
    .read_event = read_responses_event,
    .read_whole = read_responses_whole,
    .read_item = read_answer_item,
    .write_answer = write_responses_answer,
    .write_error = wr_write_openai_error,
    .write_prompt = write_prompt,
    .write_tool = write_tool,
    .write_line = write_responses_line,
    .write_image = write_responses_image,
    .write_reply = write_responses_reply,
    .output_max_key = "max_output_tokens",
    .provider_max_key = "max_output_tokens",
    .types_messages = true,
    .must_not_store = true,
    .overflow_codes = overflow_codes,
    .continuation_words = continuation_words,
    .end_words = end_words,
    .previous_codes = previous_codes,
    .url = "https://api.openai.com",
    .url_variable = "OPENAI_BASE_URL",
    .key_variable = "OPENAI_API_KEY",
    .joiner = &wr_joiner_responses,
    .model = "gpt-5.6-terra",
    .stream_members = "\"stream\":true,\"store\":false,"
                      "\"include\":[\"reasoning.encrypted_content\"]",
};
