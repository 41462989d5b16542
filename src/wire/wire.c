#include "wire/wire.h"

#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "wire/read.h"

static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT, WEIR_DIALECT_RESPONSES,
                                        WEIR_DIALECT_MESSAGES};

enum { DIALECTS_COUNT = sizeof(dialects) / sizeof(dialects[0]) };

/* Top-level keys that only one of the APIs has. */
static const struct {
    const char *key;
    weir_dialect dialect;
} telling_keys[] = {
    {"input", WEIR_DIALECT_RESPONSES},
    {"previous_response_id", WEIR_DIALECT_RESPONSES},
    {"conversation", WEIR_DIALECT_RESPONSES},
    {"instructions", WEIR_DIALECT_RESPONSES},
    {"system", WEIR_DIALECT_MESSAGES},
    {"anthropic_version", WEIR_DIALECT_MESSAGES},
    {"thinking", WEIR_DIALECT_MESSAGES},
    {"stop_sequences", WEIR_DIALECT_MESSAGES},
    {"thread", WEIR_DIALECT_MESSAGES},
    {"max_completion_tokens", WEIR_DIALECT_CHAT},
    {"stream_options", WEIR_DIALECT_CHAT},
    {"reasoning_effort", WEIR_DIALECT_CHAT},
    {"response_format", WEIR_DIALECT_CHAT},
    {"functions", WEIR_DIALECT_CHAT},
    {"n", WEIR_DIALECT_CHAT},
    {"frequency_penalty", WEIR_DIALECT_CHAT},
};

bool wr_wire_by_path(const char *path, weir_dialect *dialect)
{
    static const struct {
        const char *end;
        weir_dialect dialect;
    } ends[] = {
        {"/chat/completions", WEIR_DIALECT_CHAT},
        {"/responses", WEIR_DIALECT_RESPONSES},
        {"/responses/compact", WEIR_DIALECT_RESPONSES},
        {"/responses/input_tokens", WEIR_DIALECT_RESPONSES},
        {"/messages", WEIR_DIALECT_MESSAGES},
        {"/messages/count_tokens", WEIR_DIALECT_MESSAGES},
    };
    weir_span rest = {path, strcspn(path, "?#")};
    while (wr_span_ends(rest, WR_LIT("/")))
        rest.len--;
    if (wr_span_find(rest, WR_LIT("/threads/"), 0) != SIZE_MAX)
        return false; /* messages of another API, one at a time */
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (!wr_span_ends(rest, wr_span_of(ends[i].end)))
            continue;
        *dialect = ends[i].dialect;
        return true;
    }
    return false;
}

/* Messages that only Chat has: a role for results, calls beside the content. */
static bool message_is_chat(const struct wr_json *doc, wr_json_id message)
{
    static const char *const names[] = {"role", "tool_calls", "tool_call_id", "function_call"};
    wr_json_id values[4];
    (void)wr_json_pick(doc, message, names, 4, values);
    return values[1] != WR_JSON_NONE || values[2] != WR_JSON_NONE || values[3] != WR_JSON_NONE ||
           wr_json_text_is(doc, values[0], "tool") ||
           wr_json_text_is(doc, values[0], "developer") ||
           wr_json_text_is(doc, values[0], "function");
}

/* Blocks that only one of the two APIs has. */
static const struct {
    const char *type;
    weir_dialect dialect;
} telling_blocks[] = {
    {"tool_use", WEIR_DIALECT_MESSAGES},
    {"tool_result", WEIR_DIALECT_MESSAGES},
    {"thinking", WEIR_DIALECT_MESSAGES},
    {"redacted_thinking", WEIR_DIALECT_MESSAGES},
    {"server_tool_use", WEIR_DIALECT_MESSAGES},
    {"compaction", WEIR_DIALECT_MESSAGES},
    {"search_result", WEIR_DIALECT_MESSAGES},
    {"image", WEIR_DIALECT_MESSAGES},
    {"document", WEIR_DIALECT_MESSAGES},
    {"image_url", WEIR_DIALECT_CHAT},
    {"input_audio", WEIR_DIALECT_CHAT},
    {"file", WEIR_DIALECT_CHAT},
    {"refusal", WEIR_DIALECT_CHAT},
};

static bool blocks_tell(const struct wr_json *doc, wr_json_id message, weir_dialect *dialect)
{
    wr_json_id content = wr_json_find(doc, message, "content");
    if (!wr_json_is(doc, content, WR_JSON_ARRAY))
        return false;
    for (wr_json_id block = wr_json_first(doc, content); block != WR_JSON_NONE;
         block = wr_json_next(doc, content, block)) {
        wr_json_id type = wr_json_find(doc, block, "type");
        for (size_t i = 0; i < sizeof(telling_blocks) / sizeof(telling_blocks[0]); i++) {
            if (!wr_json_text_is(doc, type, telling_blocks[i].type))
                continue;
            *dialect = telling_blocks[i].dialect;
            return true;
        }
    }
    return false;
}

/* A tool has its schema under one name in Messages, inside `function` or `custom` in Chat. */
static bool tools_tell(const struct wr_json *doc, weir_dialect *dialect)
{
    static const char *const names[] = {"input_schema", "function", "custom"};
    wr_json_id tools = wr_json_find(doc, 0, "tools");
    if (!wr_json_is(doc, tools, WR_JSON_ARRAY))
        return false;
    for (wr_json_id tool = wr_json_first(doc, tools); tool != WR_JSON_NONE;
         tool = wr_json_next(doc, tools, tool)) {
        wr_json_id values[3];
        (void)wr_json_pick(doc, tool, names, 3, values);
        bool is_chat = wr_json_is(doc, values[1], WR_JSON_OBJECT) ||
                       wr_json_is(doc, values[2], WR_JSON_OBJECT);
        if (!is_chat && values[0] == WR_JSON_NONE)
            continue;
        *dialect = is_chat ? WEIR_DIALECT_CHAT : WEIR_DIALECT_MESSAGES;
        return true;
    }
    return false;
}

/* What the messages say themselves, then what the keys beside them say. A request that says
 * neither reads the same in both dialects. */
static weir_dialect messages_or_chat(const struct wr_json *doc, wr_json_id messages,
                                     weir_dialect by_keys)
{
    weir_dialect told;
    if (tools_tell(doc, &told))
        return told;
    for (wr_json_id m = wr_json_first(doc, messages); m != WR_JSON_NONE;
         m = wr_json_next(doc, messages, m)) {
        if (message_is_chat(doc, m))
            return WEIR_DIALECT_CHAT;
        if (blocks_tell(doc, m, &told))
            return told;
    }
    return by_keys == WEIR_DIALECT_MESSAGES ? WEIR_DIALECT_MESSAGES : WEIR_DIALECT_CHAT;
}

static weir_status by_shape(const struct wr_json *doc, weir_dialect *dialect, struct weir_err *err)
{
    int votes[DIALECTS_COUNT] = {0};
    weir_dialect by_keys = WEIR_DIALECT_CHAT;

    for (size_t i = 0; i < sizeof(telling_keys) / sizeof(telling_keys[0]); i++)
        if (wr_json_find(doc, 0, telling_keys[i].key) != WR_JSON_NONE)
            votes[telling_keys[i].dialect]++;
    for (size_t i = 0; i < DIALECTS_COUNT; i++)
        if (votes[dialects[i]] > votes[by_keys])
            by_keys = dialects[i];

    wr_json_id messages = wr_json_find(doc, 0, "messages");
    if (wr_json_is(doc, messages, WR_JSON_ARRAY)) {
        *dialect = messages_or_chat(doc, messages, by_keys);
        return WEIR_OK;
    }
    wr_json_id input = wr_json_find(doc, 0, "input");
    bool has_input = wr_json_is(doc, input, WR_JSON_ARRAY) ||
                     wr_json_is(doc, input, WR_JSON_STRING) ||
                     wr_json_is(doc, wr_json_find(doc, 0, "prompt"), WR_JSON_OBJECT);
    if (!has_input && by_keys != WEIR_DIALECT_RESPONSES)
        return wr_fail(
            err, WEIR_INVALID, doc->nodes[0].start,
            "no `messages` list and no `input`: this is not a Chat Completions, Responses or "
            "Messages request");
    *dialect = WEIR_DIALECT_RESPONSES;
    return WEIR_OK;
}

static weir_status pick_dialect(const struct wr_json *doc, const struct wr_wire_options *options,
                                weir_dialect *dialect, struct weir_err *err)
{
    const char *name = options ? options->dialect : NULL;

    for (size_t i = 0; name && i < DIALECTS_COUNT; i++) {
        *dialect = dialects[i];
        if (!strcmp(name, weir_dialect_name(*dialect)))
            return WEIR_OK;
    }
    if (name)
        return wr_fail(err, WEIR_INVALID, 0,
                       "no dialect is called '%.40s': use chat, responses or messages", name);
    if (options && options->path && wr_wire_by_path(options->path, dialect))
        return WEIR_OK;
    return by_shape(doc, dialect, err);
}

/* A list of the right kind where the dialect needs one. */
static weir_status check_list(const struct wr_json *doc, weir_dialect dialect, struct weir_err *err)
{
    const char *name = dialect == WEIR_DIALECT_RESPONSES ? "input" : "messages";
    wr_json_id list = wr_json_find(doc, 0, name);
    bool is_array = wr_json_is(doc, list, WR_JSON_ARRAY);

    bool may_lack = dialect == WEIR_DIALECT_RESPONSES;
    if (is_array || (may_lack && (list == WR_JSON_NONE || wr_json_is(doc, list, WR_JSON_STRING) ||
                                  wr_json_is(doc, list, WR_JSON_NULL))))
        return WEIR_OK;
    size_t at = list == WR_JSON_NONE ? doc->nodes[0].start : doc->nodes[list].start;
    return wr_fail(err, WEIR_INVALID, at, "`%s` must be an array in a %s request", name,
                   weir_dialect_name(dialect));
}

/* A request that says its payload twice means different things to different readers: all of it
 * stays exact. */
static void keep_exact_where_repeated(struct wr_transcript *transcript)
{
    static const char *const names[] = {
        "messages",    "input",        "tools",  "functions",
        "system",      "instructions", "thread", "previous_response_id",
        "conversation"};
    wr_json_id values[sizeof(names) / sizeof(names[0])];
    if (wr_json_pick(transcript->doc, 0, names, sizeof(names) / sizeof(names[0]), values))
        return;
    transcript->list = WR_JSON_NONE;
    for (uint32_t i = 0; i < transcript->segments_count; i++) {
        transcript->segments[i].parts_count = 0;
        transcript->segments[i].array = WR_JSON_NONE;
        transcript->segments[i].is_opaque = true;
    }
}

/* Each API has its own name for it; a gateway may pass two. */
static uint64_t read_answer_max(const struct wr_json *doc)
{
    static const char *const keys[] = {"max_completion_tokens", "max_output_tokens", "max_tokens"};
    int64_t tokens;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        wr_json_id id = wr_json_find(doc, 0, keys[i]);
        if (id != WR_JSON_NONE && wr_json_i64(doc, id, &tokens) && tokens > 0)
            return (uint64_t)tokens;
    }
    return 0;
}

weir_status wr_wire_read(struct wr_transcript *transcript, struct wr_arena *arena,
                         const struct wr_json *doc, const struct wr_wire_options *options,
                         struct weir_err *err)
{
    weir_dialect dialect = WEIR_DIALECT_CHAT;
    weir_status status;

    wr_transcript_init(transcript, arena, doc, dialect);
    if (!wr_json_is(doc, 0, WR_JSON_OBJECT))
        return wr_fail(err, WEIR_INVALID, doc->nodes[0].start,
                       "a request is a JSON object, this is not one");
    status = pick_dialect(doc, options, &dialect, err);
    if (!status)
        status = check_list(doc, dialect, err);
    if (status)
        return status;

    transcript->dialect = dialect;
    transcript->memo = options ? options->memo : NULL;
    transcript->model = wr_text_or_empty(transcript, wr_json_find(doc, 0, "model"), &status);
    transcript->answer_tokens_max = read_answer_max(doc);
    if (!status && dialect == WEIR_DIALECT_CHAT)
        status = wr_chat_read(transcript);
    else if (!status && dialect == WEIR_DIALECT_RESPONSES)
        status = wr_responses_read(transcript);
    else if (!status)
        status = wr_messages_read(transcript);
    if (!status) {
        keep_exact_where_repeated(transcript);
        status = options && options->structure_only ? wr_transcript_finish_structure(transcript)
                                                    : wr_transcript_finish(transcript);
    }
    return status ? wr_fail(err, status, 0, "%s", weir_status_text(status)) : WEIR_OK;
}
