/* The table of the APIs, and what is asked of all of them: by name, by path, by upstream.
 *
 * Everything here walks the table and the lists that each API brings, in the table's order, and
 * takes the first that fits. So a new API is a row here and a file of its own; nobody else learns
 * of it.
 */
#include "api/api.h"

#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"
#include "api/clouds.h"
#include "api/read.h"

const struct wr_api *const wr_apis[WR_APIS_COUNT] = {
    [WEIR_DIALECT_CHAT] = &wr_api_chat,         [WEIR_DIALECT_RESPONSES] = &wr_api_responses,
    [WEIR_DIALECT_MESSAGES] = &wr_api_messages, [WEIR_DIALECT_GEMINI] = &wr_api_gemini,
    [WEIR_DIALECT_OLLAMA] = &wr_api_ollama,     [WEIR_DIALECT_CONVERSE] = &wr_api_converse,
};

const struct wr_api *wr_api_of(weir_dialect dialect)
{
    return wr_apis[dialect];
}

const struct wr_api *wr_api_named(weir_span name)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++)
        if (wr_span_is(name, wr_apis[i]->name))
            return wr_apis[i];
    return NULL;
}

const char *wr_api_name(const struct wr_api *api)
{
    return api ? api->name : "other";
}

void wr_api_write_error(const struct wr_api *api, struct wr_json_writer *writer, int status,
                        const char *message)
{
    (api ? api : &wr_api_chat)->write_error(writer, status, message);
}

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
    {"options", WEIR_DIALECT_OLLAMA},
    {"keep_alive", WEIR_DIALECT_OLLAMA},
    {"think", WEIR_DIALECT_OLLAMA},
    {"inferenceConfig", WEIR_DIALECT_CONVERSE},
    {"toolConfig", WEIR_DIALECT_CONVERSE},
    {"additionalModelRequestFields", WEIR_DIALECT_CONVERSE},
};

const struct wr_api *wr_api_by_path(weir_span path, const struct wr_api_path **row)
{
    weir_span model;
    const struct wr_cloud_path *cloud = wr_cloud_path_of(path, &model);

    if (cloud && row)
        *row = &cloud->row;
    if (cloud)
        return cloud->api;
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '?' || path.ptr[i] == '#')
            path.len = i;
    while (wr_span_ends(path, WR_LIT("/")))
        path.len--;
    if (wr_span_find(path, WR_LIT("/threads/"), 0) != SIZE_MAX)
        return NULL; /* messages of another API, one at a time */
    for (size_t i = 0; i < WR_APIS_COUNT; i++)
        for (size_t k = 0; k < wr_apis[i]->paths_count; k++) {
            if (!wr_span_ends(path, wr_span_of(wr_apis[i]->paths[k].end)))
                continue;
            if (row)
                *row = &wr_apis[i]->paths[k];
            return wr_apis[i];
        }
    return NULL;
}

/* Where the id begins; SIZE_MAX: the path names no answer of the API. */
static size_t find_answer_id(const struct wr_api *api, weir_span path)
{
    weir_span part = wr_span_of(api->answer_part ? api->answer_part : "");
    size_t at = part.len ? wr_span_find(path, part, 0) : SIZE_MAX;

    return at == SIZE_MAX ? at : at + part.len;
}

const struct wr_api *wr_api_of_answers(weir_span path)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++)
        if (find_answer_id(wr_apis[i], path) != SIZE_MAX)
            return wr_apis[i];
    return NULL;
}

weir_span wr_api_answer_id(weir_span path)
{
    const struct wr_api *api = wr_api_of_answers(path);
    size_t at = api ? find_answer_id(api, path) : path.len, end = at;

    while (end < path.len && !strchr("/?#", path.ptr[end]))
        end++;
    return wr_span_cut(path, at, end);
}

const char *wr_api_upstream_of(weir_span path)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++)
        for (const struct wr_api_front *f = wr_apis[i]->fronts; f && f->front; f++) {
            size_t bytes = strlen(f->front);
            if (wr_span_starts(path, wr_span_of(f->front)) &&
                (path.len == bytes || memchr("/:?", path.ptr[bytes], 3)))
                return f->upstream;
        }
    return NULL;
}

const struct wr_api_upstream *wr_api_upstream_at(size_t index)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++)
        for (const struct wr_api_upstream *u = wr_apis[i]->upstreams; u && u->name; u++)
            if (!index--)
                return u;
    return NULL;
}

bool wr_api_has_upstream(weir_span name)
{
    for (size_t i = 0; wr_api_upstream_at(i); i++)
        if (wr_span_is(name, wr_api_upstream_at(i)->name))
            return true;
    return false;
}

/* APIs of one provider have the same variables: the first that has upstreams stands for them. */
static const char *find_variable(size_t index, size_t older, size_t newer, const char **upstream)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        const char *const names[] = {*(const char *const *)((const char *)wr_apis[i] + older),
                                     *(const char *const *)((const char *)wr_apis[i] + newer)};
        for (size_t k = 0; wr_apis[i]->upstreams && k < WR_COUNT_OF(names); k++) {
            if (!names[k] || index--)
                continue;
            *upstream = wr_apis[i]->upstreams->name;
            return names[k];
        }
    }
    return NULL;
}

const char *wr_api_key_variable(size_t index)
{
    const char *upstream;
    return find_variable(index, offsetof(struct wr_api, key_variable),
                         offsetof(struct wr_api, other_key_variable), &upstream);
}

const char *wr_api_url_variable(size_t index, const char **upstream)
{
    return find_variable(index, offsetof(struct wr_api, older_url_variable),
                         offsetof(struct wr_api, url_variable), upstream);
}

/* Where the members of a request are: some wrap it in another object. */
wr_json_id wr_api_root_of(const struct wr_json *doc, const struct wr_api *api)
{
    if (!api->wrapper_keys || wr_json_find(doc, 0, api->list_key) != WR_JSON_NONE)
        return 0;
    for (const char *const *key = api->wrapper_keys; *key; key++) {
        wr_json_id inner = wr_json_find(doc, 0, *key);
        if (wr_json_find(doc, inner, api->list_key) != WR_JSON_NONE)
            return inner;
    }
    return 0;
}

wr_json_id wr_api_root(const struct wr_transcript *transcript)
{
    return wr_api_root_of(transcript->doc, wr_api_of(transcript->dialect));
}

static wr_json_id find_list(const struct wr_json *doc, const struct wr_api *api)
{
    return wr_json_find(doc, wr_api_root_of(doc, api), api->list_key);
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

/* Messages that only Ollama has: objects that tools are called with, results that name theirs. */
static bool is_ollama(const struct wr_json *doc, wr_json_id calls, wr_json_id tool_name,
                      wr_json_id images)
{
    wr_json_id call =
        wr_json_is(doc, calls, WR_JSON_ARRAY) ? wr_json_first(doc, calls) : WR_JSON_NONE;
    wr_json_id arguments = wr_json_find(doc, wr_json_find(doc, call, "function"), "arguments");
    return wr_json_is(doc, arguments, WR_JSON_OBJECT) ||
           wr_json_is(doc, tool_name, WR_JSON_STRING) || wr_json_is(doc, images, WR_JSON_ARRAY);
}

/* Messages that only Converse has: blocks without a type. */
static bool is_converse(const struct wr_json *doc, wr_json_id content)
{
    static const char *const names[] = {"type", "text", "toolUse", "toolResult"};
    wr_json_id values[4];
    wr_json_id block =
        wr_json_is(doc, content, WR_JSON_ARRAY) ? wr_json_first(doc, content) : WR_JSON_NONE;

    if (!wr_json_is(doc, block, WR_JSON_OBJECT))
        return false;
    (void)wr_json_pick(doc, block, names, 4, values);
    return values[0] == WR_JSON_NONE && (wr_json_is(doc, values[1], WR_JSON_STRING) ||
                                         values[2] != WR_JSON_NONE || values[3] != WR_JSON_NONE);
}

static bool message_tells(const struct wr_json *doc, wr_json_id message, weir_dialect *dialect)
{
    static const char *const names[] = {"content", "tool_calls", "tool_name", "images"};
    wr_json_id values[4];

    (void)wr_json_pick(doc, message, names, 4, values);
    if (is_ollama(doc, values[1], values[2], values[3]))
        *dialect = WEIR_DIALECT_OLLAMA;
    else if (is_converse(doc, values[0]))
        *dialect = WEIR_DIALECT_CONVERSE;
    else
        return false;
    return true;
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
        for (size_t i = 0; i < WR_COUNT_OF(telling_blocks); i++) {
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
    if (by_keys == WEIR_DIALECT_OLLAMA || by_keys == WEIR_DIALECT_CONVERSE)
        return by_keys;
    for (wr_json_id m = wr_json_first(doc, messages); m != WR_JSON_NONE;
         m = wr_json_next(doc, messages, m))
        if (message_tells(doc, m, &told))
            return told;
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
    int votes[WR_APIS_COUNT] = {0};
    weir_dialect by_keys = WEIR_DIALECT_CHAT;

    for (size_t i = 0; i < WR_COUNT_OF(telling_keys); i++)
        if (wr_json_find(doc, 0, telling_keys[i].key) != WR_JSON_NONE)
            votes[telling_keys[i].dialect]++;
    for (int i = 0; i < WR_APIS_COUNT; i++)
        if (votes[i] > votes[by_keys])
            by_keys = (weir_dialect)i;

    wr_json_id messages = wr_json_find(doc, 0, "messages");
    if (wr_json_is(doc, messages, WR_JSON_ARRAY)) {
        *dialect = messages_or_chat(doc, messages, by_keys);
        return WEIR_OK;
    }
    if (wr_json_is(doc, find_list(doc, &wr_api_gemini), WR_JSON_ARRAY)) {
        *dialect = WEIR_DIALECT_GEMINI;
        return WEIR_OK;
    }
    wr_json_id input = wr_json_find(doc, 0, "input");
    bool has_input = wr_json_is(doc, input, WR_JSON_ARRAY) ||
                     wr_json_is(doc, input, WR_JSON_STRING) ||
                     wr_json_is(doc, wr_json_find(doc, 0, "prompt"), WR_JSON_OBJECT);
    if (!has_input && by_keys != WEIR_DIALECT_RESPONSES)
        return wr_fail(
            err, WEIR_INVALID, doc->nodes[0].start,
            "no `messages` list, no `input` and no `contents`: this is not a Chat Completions, "
            "Responses, Messages, Gemini, Ollama or Converse request");
    *dialect = WEIR_DIALECT_RESPONSES;
    return WEIR_OK;
}

/* Whether the body lacks what tells that it is of the path's API. */
static bool lacks_mark(const struct wr_json *doc, weir_span path)
{
    weir_span model;
    const struct wr_cloud_path *cloud = wr_cloud_path_of(path, &model);
    return cloud && cloud->needs && wr_json_find(doc, 0, cloud->needs) == WR_JSON_NONE;
}

static weir_status pick_dialect(const struct wr_json *doc, const struct wr_api_options *options,
                                weir_dialect *dialect, struct weir_err *err)
{
    const char *name = options ? options->dialect : NULL;

    const struct wr_api *api = name ? wr_api_named(wr_span_of(name)) : NULL;
    if (name && !api)
        return wr_fail(err, WEIR_INVALID, 0, "no dialect is called '%.40s': use " WR_API_NAMES,
                       name);
    if (!api && options && options->path)
        api = wr_api_by_path(wr_span_of(options->path), NULL);
    if (api && !name && lacks_mark(doc, wr_span_of(options->path)))
        return wr_fail(err, WEIR_INVALID, doc->nodes[0].start,
                       "this path has bodies of several APIs, and this one is not known");
    if (!api)
        return by_shape(doc, dialect, err);
    *dialect = api->dialect;
    return WEIR_OK;
}

/* A list of the right kind where the dialect needs one. */
static weir_status check_list(const struct wr_json *doc, weir_dialect dialect, struct weir_err *err)
{
    const char *name = wr_api_of(dialect)->list_key;
    wr_json_id list = find_list(doc, wr_api_of(dialect));
    bool is_array = wr_json_is(doc, list, WR_JSON_ARRAY);

    bool may_lack = wr_api_of(dialect)->may_lack_list;
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
        "messages",     "input",        "tools",   "functions",
        "system",       "instructions", "thread",  "previous_response_id",
        "conversation", "contents",     "request", "toolConfig"};
    wr_json_id values[WR_COUNT_OF(names)], root = wr_api_root(transcript);
    if (wr_json_pick(transcript->doc, 0, names, WR_COUNT_OF(names), values) &&
        (!root || wr_json_pick(transcript->doc, root, names, WR_COUNT_OF(names), values)))
        return;
    transcript->list = WR_JSON_NONE;
    transcript->taken_count = 0; /* hashes are of other parts than are left */
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

    for (size_t i = 0; i < WR_COUNT_OF(keys); i++) {
        wr_json_id id = wr_json_find(doc, 0, keys[i]);
        if (id != WR_JSON_NONE && wr_json_i64(doc, id, &tokens) && tokens > 0)
            return (uint64_t)tokens;
    }
    return 0;
}

/* Only accounts that have the feature may say so: others are refused for it. */
static bool read_drops_thinking(const struct wr_json *doc)
{
    wr_json_id binding = wr_json_find(doc, wr_json_find(doc, 0, "thinking"), "block_binding");
    return wr_json_text_is(doc, wr_json_find(doc, binding, "prefix_mismatch_behavior"),
                           "drop_block");
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* What a path names, in the arena, with "%3A" as the ':' it stands for. */
static weir_span name_in_path(const struct wr_api *api, weir_span path, struct wr_arena *arena)
{
    weir_span model;

    if (!wr_cloud_path_of(path, &model) && api->model_of_path)
        model = api->model_of_path(path);
    char *name = wr_arena_alloc(arena, model.len + 1);
    size_t bytes = 0;
    for (size_t i = 0; name && i < model.len; i++) {
        bool is_code = model.ptr[i] == '%' && i + 2 < model.len && hex_of(model.ptr[i + 1]) >= 0 &&
                       hex_of(model.ptr[i + 2]) >= 0;
        char c = model.ptr[i];
        if (is_code)
            c = (char)(hex_of(model.ptr[i + 1]) << 4 | hex_of(model.ptr[i + 2]));
        name[bytes++] = c;
        i += is_code ? 2 : 0;
    }
    return name ? (weir_span){name, bytes} : (weir_span){"", 0};
}

/* As the body says, or the path of the HTTP request. What stands before the name says only that it
 * is one. */
static weir_status read_model(struct wr_transcript *t, const struct wr_api_options *options)
{
    const struct wr_api *api = wr_api_of(t->dialect);
    weir_status status = WEIR_OK;
    weir_span model = wr_text_or_empty(t, wr_json_find(t->doc, 0, "model"), &status);

    if (!model.len && wr_api_root(t))
        model = wr_text_or_empty(t, wr_json_find(t->doc, wr_api_root(t), "model"), &status);
    if (!model.len && options && options->path) {
        model = name_in_path(api, wr_span_of(options->path), t->arena);
        status = wr_arena_status(t->arena);
    }
    if (!status && api->model_front && wr_span_starts(model, wr_span_of(api->model_front)))
        model = wr_span_cut(model, strlen(api->model_front), model.len);
    t->model = model;
    return status;
}

weir_status wr_api_read(struct wr_transcript *transcript, struct wr_arena *arena,
                        const struct wr_json *doc, const struct wr_api_options *options,
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
    transcript->start = options ? options->start : NULL;
    status = read_model(transcript, options);
    transcript->answer_tokens_max = read_answer_max(doc);
    transcript->is_background = wr_json_is(doc, wr_json_find(doc, 0, "background"), WR_JSON_TRUE);
    wr_read_answers(transcript, wr_json_find(doc, 0, "n"));
    transcript->drops_thinking = read_drops_thinking(doc);
    transcript->framing = wr_api_of(dialect)->framing;
    transcript->list_tools = wr_api_of(dialect)->list_tools;
    if (!status)
        status = wr_api_of(dialect)->read_request(transcript);
    if (!status) {
        keep_exact_where_repeated(transcript);
        status = options && options->structure_only ? wr_transcript_finish_structure(transcript)
                                                    : wr_transcript_finish(transcript);
    }
    return status ? wr_fail(err, status, 0, "%s", weir_status_text(status)) : WEIR_OK;
}

/* ---- what a request is known by ---- */

/* Chains the texts of a message's content: a string, or parts with a `text`. Cache markers and the
 * like, which come and go, are not part of it. */
static wr_hash128 hash_content(const struct wr_json *doc, wr_json_id content, wr_hash128 seed)
{
    if (wr_json_is(doc, content, WR_JSON_STRING))
        return wr_hash128_seeded(wr_json_inner(doc, content), seed);
    if (wr_json_is(doc, content, WR_JSON_OBJECT)) /* instructions that are a message */
        content = wr_json_find(doc, content, "parts");
    if (!wr_json_is(doc, content, WR_JSON_ARRAY))
        return seed;
    for (wr_json_id at = wr_json_first(doc, content); at != WR_JSON_NONE;
         at = wr_json_next(doc, content, at)) {
        wr_json_id text = wr_json_find(doc, at, "text");
        if (wr_json_is(doc, text, WR_JSON_STRING))
            seed = wr_hash128_seeded(wr_json_inner(doc, text), seed);
    }
    return seed;
}

/* Instructions among the messages, then the first message of the user. */
static wr_hash128 hash_list(const struct wr_json *doc, wr_json_id list, const struct wr_api *api,
                            wr_hash128 seed)
{
    if (wr_json_is(doc, list, WR_JSON_STRING))
        return hash_content(doc, list, seed);
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return seed;
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at)) {
        wr_json_id role = wr_json_find(doc, at, "role");
        bool is_user =
            wr_json_text_is(doc, role, "user") || (role == WR_JSON_NONE && api->may_lack_role);
        if (is_user || wr_json_text_is(doc, role, "system") ||
            wr_json_text_is(doc, role, "developer"))
            seed = hash_content(doc, wr_json_find(doc, at, api->content_key), seed);
        if (is_user)
            break;
    }
    return seed;
}

wr_hash128 wr_api_hash_beginning(const struct wr_json *doc)
{
    wr_json_id id = wr_json_find(doc, 0, "model");
    weir_span model = {"", 0};

    if (wr_json_is(doc, id, WR_JSON_STRING))
        model = wr_json_inner(doc, id);
    wr_hash128 hash = wr_hash128_of(model);
    for (size_t i = WR_APIS_COUNT; i-- > 0;) {
        wr_json_id root = wr_api_root_of(doc, wr_apis[i]);
        if (wr_apis[i]->session_key)
            hash = hash_content(doc, wr_json_find(doc, root, wr_apis[i]->session_key), hash);
        bool is_read = false; /* two may have one key */
        for (size_t k = 0; k < i && wr_apis[i]->prompt_key; k++)
            is_read |=
                wr_apis[k]->prompt_key && !strcmp(wr_apis[k]->prompt_key, wr_apis[i]->prompt_key);
        if (wr_apis[i]->prompt_key && !is_read)
            hash = hash_content(doc, wr_json_find(doc, root, wr_apis[i]->prompt_key), hash);
    }
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        const struct wr_api *api = wr_apis[i];
        bool is_read = false; /* two may have one key */
        for (size_t k = 0; k < i; k++)
            is_read |= !strcmp(wr_apis[k]->list_key, api->list_key);
        if (!is_read)
            hash = hash_list(doc, find_list(doc, api), api, hash);
    }
    return hash;
}

uint64_t wr_api_hash_parameters(const struct wr_json *doc)
{
    static const char *const names[] = {"tool_choice",
                                        "thinking",
                                        "reasoning",
                                        "reasoning_effort",
                                        "text",
                                        "response_format",
                                        "prompt_cache_key",
                                        "verbosity",
                                        "service_tier",
                                        "speed",
                                        "additionalModelRequestFields"};
    enum { COUNT = WR_COUNT_OF(names) };
    wr_json_id values[COUNT];
    uint64_t hash = 0;

    (void)wr_json_pick(doc, 0, names, COUNT, values);
    for (size_t i = 0; i < COUNT; i++)
        if (values[i] != WR_JSON_NONE)
            hash = wr_hash64_seeded(wr_json_raw(doc, values[i]), hash + i);
    return hash;
}
