/* The table of tools with their definitions, and the reading of a call's arguments.
 *
 * A definition is written out as JSON, byte for byte, and not put together from parts: it must be
 * the same in every session, or clients lose their prompt caches.
 *
 * Arguments are read leniently: a number may come as a string, and what models write for "not
 * given" (null, 0, "", false) is taken for that. But an argument that no tool has is refused with
 * the list of those there are. A model that guessed a name would otherwise never learn that it had
 * no effect.
 */
#include "mcp/tool.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/span.h"
#include "tokens/estimate.h"
#include "transcript/recall_words.h"

/* ---- world ---- */

void wr_mcp_world_init(struct wr_mcp_world *world, const char *store_dir)
{
    *world = (struct wr_mcp_world){.store_dir = store_dir};
}

void wr_mcp_world_release(struct wr_mcp_world *world)
{
    weir_store_close(world->store);
    wr_meter_free(world->meter);
    wr_models_free(world->models);
    *world = (struct wr_mcp_world){.store_dir = NULL};
}

struct weir_store *wr_mcp_world_store(struct wr_mcp_world *world, weir_trouble *trouble,
                                      struct weir_err *err)
{
    struct weir_store_options options = {.must_exist = true};

    *trouble = WEIR_TROUBLE_MISSING;
    if (!world->store && !world->store_dir)
        (void)wr_fail(err, WEIR_NOTFOUND, 0, "there is no store");
    else if (!world->store &&
             weir_store_open(world->store_dir, &options, &world->store, trouble, err))
        world->store = NULL;
    return world->store;
}

static weir_status get_from_store(struct wr_mcp_world *world, const struct weir_lookup *lookup,
                                  weir_span *text, weir_miss *miss, weir_trouble *trouble,
                                  struct weir_err *err)
{
    struct weir_artifact artifact = {.text = {"", 0}};
    struct weir_store *store = wr_mcp_world_store(world, trouble, err);

    *miss = WEIR_MISS_NONE;
    if (!store)
        return WEIR_IO;
    weir_status status = weir_store_get(store, lookup, &artifact, miss, err);
    *trouble = weir_store_trouble(store);
    *text = artifact.text;
    return status;
}

weir_status wr_mcp_world_get(struct wr_mcp_world *world, const struct weir_lookup *lookup,
                             weir_span *text, weir_miss *miss, weir_trouble *trouble,
                             struct weir_err *err)
{
    bool was_open = world->store != NULL;
    weir_status status = get_from_store(world, lookup, text, miss, trouble, err);

    if (!status || !was_open || !world->store_dir)
        return status;
    weir_store_close(world->store);
    world->store = NULL;
    return get_from_store(world, lookup, text, miss, trouble, err);
}

const struct wr_models *wr_mcp_world_models(struct wr_mcp_world *world)
{
    if (!world->models && wr_models_new(&world->models, NULL, NULL))
        world->models = NULL;
    return world->models;
}

uint64_t wr_mcp_world_count(void *user, weir_span text)
{
    struct wr_mcp_world *world = user;

    if (!world->meter && !wr_meter_new(&world->meter) &&
        wr_meter_use_encoding(world->meter, WR_BPE_O200K_BASE, NULL))
        wr_meter_use_estimator(world->meter, WR_ESTIMATOR_FITTED);
    return world->meter ? wr_meter_count(world->meter, text)
                        : wr_estimate_tokens(WR_ESTIMATOR_FITTED, text);
}

/* ---- tool ---- */

#define READS_ONLY                                                      \
    "\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":false," \
    "\"idempotentHint\":true,\"openWorldHint\":false}"

/* Claude Code keeps the tools of MCP servers back until its model searches for them. A way back
 * that a request does not offer is none (law L2), so this one asks to stand among the tools from
 * the start; clients that do not know the word ignore it. */
#define ALWAYS_LOADED "\"_meta\":{\"anthropic/alwaysLoad\":true}"

static const struct {
    const char *name;
    wr_mcp_tool_fn *call;
    const char *definition;
} tools[] = {
    {WR_RECALL_NAME, wr_mcp_recall,
     "{\"name\":\"" WR_RECALL_NAME
     "\",\"title\":\"Recall left-out text\",\"description\":\"" WR_RECALL_DESCRIPTION
     "\",\"inputSchema\":" WR_RECALL_SCHEMA "," READS_ONLY "," ALWAYS_LOADED "}"},
    {"weir_context", wr_mcp_context,
     "{\"name\":\"weir_context\",\"title\":\"What fills the context\",\"description\":"
     "\"Shows what fills the model's context window, by category, and what was left "
     "out.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
     "\"session\":{\"type\":\"string\",\"description\":\"a session's name; without one the most "
     "recent\"}},\"additionalProperties\":false}," READS_ONLY "}"},
    {"weir_steer", wr_mcp_steer,
     "{\"name\":\"weir_steer\",\"title\":\"What stays in the context\",\"description\":"
     "\"Keeps a file, a tool's results or a left-out text whole in this session's context (pin), "
     "shows what is left out and what would be next (plan), and more.\",\"inputSchema\":{"
     "\"type\":\"object\",\"properties\":{\"do\":{\"type\":\"string\",\"enum\":[\"plan\","
     "\"pin\",\"unpin\",\"undo\",\"now\",\"exact\",\"pause\",\"resume\"]},"
     "\"path\":{\"type\":\"string\"},\"tool\":{\"type\":\"string\"},"
     "\"handle\":{\"type\":\"string\"},\"session\":{\"type\":\"string\",\"description\":"
     "\"without one the most recent\"},\"confirm\":{\"type\":\"boolean\",\"description\":"
     "\"pay the price that was named\"}},\"required\":[\"do\"],"
     "\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":false,"
     "\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}}"},
};

enum { TOOLS_COUNT = WR_COUNT_OF(tools) };

const char *wr_mcp_miss_name(enum wr_mcp_miss miss)
{
    static const char *const names[] = WR_NAMES_OF(WR_MCP_MISS_MAP);
    return names[miss];
}

wr_mcp_tool_fn *wr_mcp_tool_find(weir_span name, const char **known)
{
    for (size_t i = 0; i < TOOLS_COUNT; i++)
        if (wr_span_is(name, tools[i].name)) {
            *known = tools[i].name;
            return tools[i].call;
        }
    return NULL;
}

void wr_mcp_tools_write(struct wr_json_writer *writer)
{
    wr_json_write_array(writer);
    for (size_t i = 0; i < TOOLS_COUNT; i++)
        wr_json_write_raw(writer, wr_span_of(tools[i].definition));
    wr_json_write_array_end(writer);
}

void wr_mcp_call_fail(struct wr_mcp_call *call, const char *format, ...)
{
    char text[1024];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    call->is_error = true;
    wr_buf_reset(call->out);
    wr_buf_text(call->out, text);
}

/* ---- arguments ---- */

static void fail_unknown(struct wr_mcp_call *call, weir_span name, const char *const *names,
                         size_t names_count)
{
    wr_mcp_call_fail(call, "There is no argument '%.*s'. These there are:",
                     (int)(name.len < 64 ? name.len : 64), name.ptr);
    for (size_t i = 0; i < names_count; i++)
        wr_buf_printf(call->out, "%s %s", i ? "," : "", names[i]);
    wr_buf_byte(call->out, '.');
}

bool wr_mcp_call_knows(struct wr_mcp_call *call, const char *const *names, size_t names_count)
{
    const struct wr_json *doc = call->doc;
    WR_JSON_EACH(key, doc, call->arguments) {
        bool is_known = false;
        for (size_t i = 0; i < names_count && !is_known; i++)
            is_known = wr_json_text_is(doc, key, names[i]);
        if (!is_known) {
            fail_unknown(call, wr_json_inner(doc, key), names, names_count);
            return false;
        }
    }
    return true;
}

wr_json_id wr_mcp_call_argument(const struct wr_mcp_call *call, const char *name)
{
    wr_json_id value = wr_json_find(call->doc, call->arguments, name);
    int64_t number;

    if (value == WR_JSON_NONE)
        return WR_JSON_NONE;
    switch (wr_json_kind(call->doc, value)) {
    case WR_JSON_NULL:
    case WR_JSON_FALSE:
        return WR_JSON_NONE;
    case WR_JSON_NUMBER:
        return wr_json_i64(call->doc, value, &number) && !number ? WR_JSON_NONE : value;
    case WR_JSON_STRING:
        return wr_json_inner(call->doc, value).len ? value : WR_JSON_NONE;
    default:
        return value;
    }
}

bool wr_mcp_call_text(struct wr_mcp_call *call, const char *name, weir_span *text)
{
    wr_json_id value = wr_mcp_call_argument(call, name);

    *text = (weir_span){"", 0};
    if (value == WR_JSON_NONE)
        return true;
    if (wr_json_is(call->doc, value, WR_JSON_STRING))
        *text = wr_json_text(call->doc, call->arena, value);
    else if (wr_json_is(call->doc, value, WR_JSON_NUMBER))
        *text = wr_json_raw(call->doc, value);
    if (text->len)
        return true;
    wr_mcp_call_fail(call, "The argument '%s' must be a text.", name);
    return false;
}

bool wr_mcp_call_count(struct wr_mcp_call *call, const char *name, uint64_t *count)
{
    weir_span text;

    *count = 0;
    if (!wr_mcp_call_text(call, name, &text))
        return false;
    if (!text.len || wr_span_u64(wr_span_trim(text), count))
        return true;
    wr_mcp_call_fail(call, "The argument '%s' must be a number of lines, from 1.", name);
    return false;
}
