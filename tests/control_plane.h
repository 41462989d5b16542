/* control_plane.h -- for tests and fuzzers: which values of a body no edit may reach, and how many
 * results it has, found without the readers that are under test.
 *
 * 1. What stands under a key of `control_keys` (at any depth below it) is control plane; `input`
 * is, but for the one that holds a Responses request's items.
 * 2. So is everything in an object whose `type` is one of `control_types`; a message is no such
 * object, whatever type it claims.
 * 3. What may be edited stands under no keys but `payload_keys`.
 * Gemini's results are objects with keys of the tool's own: there a path is all that counts.
 */
#ifndef WR_TESTS_CONTROL_PLANE_H
#define WR_TESTS_CONTROL_PLANE_H

#include <string.h>

#include "base/span.h"
#include "json/json.h"
#include "weir/segment.h"

static const char *const control_keys[] = {
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "previous_response_id",
    "previous_message_id",
    "approval_request_id",
    "conversation",
    "thread",
    "signature",
    "thought_signature",
    "encrypted_content",
    "encrypted_function_args",
    "data",
    "type",
    "role",
    "name",
    "namespace",
    "arguments",
    "input",
    "action",
    "operation",
    "cache_control",
    "prompt_cache_breakpoint",
    "prompt_cache_key",
    "metadata",
    "client_metadata",
    "tools",
    "functions",
    "tool_calls",
    "function_call",
    "custom",
    "system",
    "instructions",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "thinking",
    "thinking_blocks",
    "extra_content",
    "source",
    "image_url",
    "file",
    "input_audio",
    "audio",
    "refusal",
    "outcome",
    "status",
    "caller",
    "phase",
    "annotations",
    "citations",
    "is_error",
    "tool_name",
    "model",
    "prompt",
    "summary",
    "code",
    "results",
    "result",
};

static const char *const control_types[] = {
    "reasoning",
    "thinking",
    "redacted_thinking",
    "compaction",
    "compaction_summary",
    "context_compaction",
    "compaction_trigger",
    "item_reference",
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "computer_call_output",
    "tool_search_call",
    "tool_search_output",
    "additional_tools",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "program",
    "program_output",
    "configuration_update",
    "agent_message",
    "tool_use",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
    "mcp_tool_listing",
    "container_upload",
    "fallback",
    "tool_reference",
    "browser_state",
    "image",
    "image_url",
    "document",
    "search_result",
    "tool_addition",
    "tool_removal",
    "input_image",
    "input_file",
    "input_audio",
    "encrypted_content",
    "refusal",
};

static const char *const payload_keys[] = {"messages", "input",  "content", "text",
                                           "output",   "stdout", "stderr"};

static inline bool control_is_one_of(const struct wr_json *doc, wr_json_id text,
                                     const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wr_json_text_is(doc, text, names[i]))
            return true;
    return false;
}

#define CONTROL_IS_ONE_OF(doc, text, names) \
    control_is_one_of((doc), (text), (names), WR_COUNT_OF(names))

/* Whether any `type` the object has is one of the control plane's. */
static inline bool control_has_type(const struct wr_json *doc, wr_json_id object)
{
    for (wr_json_id key = wr_json_first(doc, object); key != WR_JSON_NONE;
         key = wr_json_next(doc, object, key))
        if (wr_json_text_is(doc, key, "type") &&
            CONTROL_IS_ONE_OF(doc, wr_json_value(key), control_types))
            return true;
    return false;
}

/* Sets `is_control[node]` for every node. */
static inline void control_plane_mark(const struct wr_json *doc, bool *is_control)
{
    wr_json_id messages = wr_json_find(doc, 0, "messages");
    wr_json_id root_key = wr_json_first(doc, 0), message = wr_json_first(doc, messages);
    uint32_t control_until = 0;

    for (wr_json_id i = 0; i < doc->nodes_count; i++) {
        bool is_root_key = i == root_key, is_message = i == message;
        if (is_root_key)
            root_key = wr_json_next(doc, 0, i);
        if (is_message)
            message = wr_json_next(doc, messages, i);
        bool is_key = doc->nodes[i].is_key;
        bool is_items = is_root_key && wr_json_text_is(doc, i, "input");
        if (is_key && !is_items && CONTROL_IS_ONE_OF(doc, i, control_keys) && i >= control_until)
            control_until = doc->nodes[wr_json_value(i)].after;
        if (wr_json_is(doc, i, WR_JSON_OBJECT) && i && !is_message && i >= control_until &&
            wr_json_find(doc, i, "stdout") == WR_JSON_NONE &&
            wr_json_find(doc, i, "stderr") == WR_JSON_NONE && control_has_type(doc, i))
            control_until = doc->nodes[i].after;
        is_control[i] = is_key || i < control_until;
    }
}

/* Whether a string stands under payload keys only; walks down from the root. */
static inline bool control_is_payload_path(const struct wr_json *doc, wr_json_id string)
{
    wr_json_id at = 0;
    while (at != string) {
        wr_json_id child = wr_json_first(doc, at), next;
        while (child != WR_JSON_NONE && (next = wr_json_next(doc, at, child)) != WR_JSON_NONE &&
               next <= string)
            child = next;
        if (child == WR_JSON_NONE || child > string)
            return false;
        if (doc->nodes[child].is_key) {
            if (!CONTROL_IS_ONE_OF(doc, child, payload_keys))
                return false;
            child = wr_json_value(child);
        }
        at = child;
    }
    return true;
}

/* Gemini: words of a part, and whatever stands in what a result says; no keys there are ours. */
static inline bool control_is_gemini_payload(const struct wr_json *doc, wr_json_id string)
{
    static const char *const ways[][4] = {{"contents", "parts", "text", NULL},
                                          {"contents", "parts", "functionResponse", "response"},
                                          {"contents", "parts", "function_response", "response"}};
    const char *keys[4] = {NULL};
    size_t count = 0;
    for (wr_json_id at = 0; at != string && count < 4;) {
        wr_json_id child = wr_json_first(doc, at), next;
        while (child != WR_JSON_NONE && (next = wr_json_next(doc, at, child)) != WR_JSON_NONE &&
               next <= string)
            child = next;
        for (size_t i = 0; i < WR_COUNT_OF(ways) && doc->nodes[child].is_key; i++)
            if (ways[i][count] && wr_json_text_is(doc, child, ways[i][count]))
                keys[count] = ways[i][count];
        bool is_wrapper = !at && (wr_json_text_is(doc, child, "request") ||
                                  wr_json_text_is(doc, child, "generateContentRequest"));
        if (doc->nodes[child].is_key && !keys[count] && !is_wrapper)
            return false;
        count += doc->nodes[child].is_key && !is_wrapper;
        at = doc->nodes[child].is_key ? wr_json_value(child) : child;
    }
    return keys[2] && (!strcmp(keys[2], "text") || keys[3]);
}

/* Converse: words of a message, texts of a result, and whatever stands in one that is an object. */
static inline bool control_is_converse_payload(const struct wr_json *doc, wr_json_id string)
{
    static const char *const ways[][6] = {
        {"messages", "content", "text"},
        {"messages", "content", "toolResult", "content", "text"},
        {"messages", "content", "toolResult", "content", "json", "*"}};
    for (size_t i = 0; i < WR_COUNT_OF(ways); i++) {
        size_t count = 0;
        wr_json_id at = 0;
        while (at != string) {
            wr_json_id child = wr_json_first(doc, at), next;
            while (child != WR_JSON_NONE && (next = wr_json_next(doc, at, child)) != WR_JSON_NONE &&
                   next <= string)
                child = next;
            bool is_below = count < 6 && ways[i][count] && ways[i][count][0] == '*';
            if (child == WR_JSON_NONE || child > string)
                break;
            if (doc->nodes[child].is_key && !is_below &&
                (count == 6 || !ways[i][count] || !wr_json_text_is(doc, child, ways[i][count++])))
                break;
            at = doc->nodes[child].is_key ? wr_json_value(child) : child;
        }
        if (at == string && (count == 6 || !ways[i][count] || ways[i][count][0] == '*'))
            return true;
    }
    return false;
}

static inline bool control_repeats_a_key(const struct wr_json *doc, wr_json_id object)
{
    for (wr_json_id a = wr_json_first(doc, object); a != WR_JSON_NONE;
         a = wr_json_next(doc, object, a))
        for (wr_json_id b = wr_json_next(doc, object, a); b != WR_JSON_NONE;
             b = wr_json_next(doc, object, b)) {
            weir_span x = wr_json_inner(doc, a), y = wr_json_inner(doc, b);
            if (doc->nodes[a].escaped || doc->nodes[b].escaped ||
                (x.len == y.len && !memcmp(x.ptr, y.ptr, x.len)))
                return true;
        }
    return false;
}

/* Results for sure, and things that may be read as results: those that repeat a key are exact. */
struct control_results {
    uint32_t count_min, count_max;
};

static inline void control_count(const struct wr_json *doc, wr_json_id object,
                                 struct control_results *results)
{
    results->count_max++;
    results->count_min += !control_repeats_a_key(doc, object);
}

static inline void control_count_blocks(const struct wr_json *doc, wr_json_id message,
                                        struct control_results *results)
{
    static const char *const roles[] = {"user", "assistant"};
    wr_json_id content = wr_json_find(doc, message, "content");
    if (!wr_json_is(doc, content, WR_JSON_ARRAY) || control_repeats_a_key(doc, message) ||
        !CONTROL_IS_ONE_OF(doc, wr_json_find(doc, message, "role"), roles))
        return;
    for (wr_json_id block = wr_json_first(doc, content); block != WR_JSON_NONE;
         block = wr_json_next(doc, content, block))
        if (wr_json_text_is(doc, wr_json_find(doc, block, "type"), "tool_result"))
            control_count(doc, block, results);
}

/* Blocks of Converse have one member. A result that the provider's own tool gave has a type. */
static inline void control_count_converse(const struct wr_json *doc, wr_json_id message,
                                          struct control_results *results)
{
    static const char *const roles[] = {"user", "assistant"};
    wr_json_id content = wr_json_find(doc, message, "content");
    if (!wr_json_is(doc, content, WR_JSON_ARRAY) || control_repeats_a_key(doc, message) ||
        !CONTROL_IS_ONE_OF(doc, wr_json_find(doc, message, "role"), roles))
        return;
    for (wr_json_id block = wr_json_first(doc, content); block != WR_JSON_NONE;
         block = wr_json_next(doc, content, block)) {
        wr_json_id result = wr_json_find(doc, block, "toolResult");
        if (result == WR_JSON_NONE || wr_json_count(doc, block) != 1 ||
            wr_json_find(doc, result, "type") != WR_JSON_NONE)
            continue;
        control_count(doc, result, results);
    }
}

static inline void control_count_parts(const struct wr_json *doc, wr_json_id content,
                                       struct control_results *results)
{
    wr_json_id parts = wr_json_find(doc, content, "parts");
    wr_json_id role = wr_json_find(doc, content, "role");
    bool is_sure = !control_repeats_a_key(doc, content);
    if (!wr_json_is(doc, parts, WR_JSON_ARRAY) ||
        (role != WR_JSON_NONE && !wr_json_text_is(doc, role, "user") &&
         !wr_json_text_is(doc, role, "function")))
        return;
    for (wr_json_id part = wr_json_first(doc, parts); part != WR_JSON_NONE;
         part = wr_json_next(doc, parts, part)) {
        wr_json_id given = wr_json_find(doc, part, "functionResponse");
        wr_json_id other = wr_json_find(doc, part, "function_response");
        if (given == WR_JSON_NONE && other == WR_JSON_NONE)
            continue;
        results->count_max++;
        results->count_min += is_sure && !control_repeats_a_key(doc, part) &&
                              (given == WR_JSON_NONE || other == WR_JSON_NONE) &&
                              !control_repeats_a_key(doc, given == WR_JSON_NONE ? other : given);
    }
}

static inline bool control_is_result_item(const struct wr_json *doc, wr_json_id item)
{
    static const char *const types[] = {"function_call_output",    "custom_tool_call_output",
                                        "local_shell_call_output", "shell_call_output",
                                        "apply_patch_call_output", "computer_call_output"};
    wr_json_id type = wr_json_find(doc, item, "type");
    if (wr_json_text_is(doc, type, "tool_search_output"))
        return wr_json_is(doc, wr_json_find(doc, item, "call_id"), WR_JSON_STRING);
    return CONTROL_IS_ONE_OF(doc, type, types);
}

static inline struct control_results control_count_results(const struct wr_json *doc,
                                                           weir_dialect dialect)
{
    static const char *const chat_roles[] = {"tool", "function"};
    struct control_results results = {0, 0};
    const char *name = dialect == WEIR_DIALECT_RESPONSES ? "input"
                       : dialect == WEIR_DIALECT_GEMINI  ? "contents"
                                                         : "messages";
    wr_json_id list = wr_json_find(doc, 0, name);
    if (dialect == WEIR_DIALECT_GEMINI && list == WR_JSON_NONE)
        list = wr_json_find(doc, wr_json_find(doc, 0, "request"), name);
    if (dialect == WEIR_DIALECT_GEMINI && list == WR_JSON_NONE)
        list = wr_json_find(doc, wr_json_find(doc, 0, "generateContentRequest"), name);

    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return results;
    for (wr_json_id m = wr_json_first(doc, list); m != WR_JSON_NONE;
         m = wr_json_next(doc, list, m)) {
        wr_json_id role = wr_json_find(doc, m, "role");
        if (dialect == WEIR_DIALECT_MESSAGES)
            control_count_blocks(doc, m, &results);
        else if (dialect == WEIR_DIALECT_CONVERSE)
            control_count_converse(doc, m, &results);
        else if (dialect == WEIR_DIALECT_GEMINI)
            control_count_parts(doc, m, &results);
        else if (dialect == WEIR_DIALECT_CHAT && CONTROL_IS_ONE_OF(doc, role, chat_roles))
            control_count(doc, m, &results);
        else if (dialect == WEIR_DIALECT_OLLAMA && wr_json_text_is(doc, role, "tool"))
            control_count(doc, m, &results);
        else if (dialect == WEIR_DIALECT_RESPONSES && control_is_result_item(doc, m))
            control_count(doc, m, &results);
    }
    return results;
}

#endif
