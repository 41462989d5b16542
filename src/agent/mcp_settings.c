/* Reads `mcp_servers` of --config. ${NAME} is resolved in the document's nodes, as in weir.yaml
 * (proxy/references.h): a key of a server stands in the environment and not in the file. What is
 * wrong is said with line and column, and no server is started then. */
#include "agent/mcp_settings.h"

#include <string.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/span.h"
#include "base/yaml.h"
#include "proxy/references.h"

enum { NAME_BYTES_MAX = 32, WORDS_MAX = 64 };

struct reader {
    struct wr_mcp_settings *settings;
    struct wr_mcp_setting *server;
    struct wr_yaml *yaml;
};

static weir_status copy_text(struct reader *r, const yaml_node_t *node, const char **text)
{
    weir_span value = wr_yaml_text(node);

    if (!wr_yaml_is_scalar(node) || memchr(value.len ? value.ptr : "", 0, value.len))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "a text belongs here");
    char *copy = wr_arena_alloc(&r->settings->arena, value.len + 1);
    if (!copy)
        return WEIR_NOMEM;
    if (value.len)
        memcpy(copy, value.ptr, value.len);
    copy[value.len] = '\0';
    *text = copy;
    return WEIR_OK;
}

/* A list of texts, or one, behind the `first` of them that are there. */
static weir_status copy_words(struct reader *r, const yaml_node_t *node, size_t first,
                              const char ***words)
{
    bool is_list = node->type == YAML_SEQUENCE_NODE;
    size_t count =
        !is_list ? 1 : (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    weir_status status = WEIR_OK;

    if (count + first > WORDS_MAX)
        return wr_yaml_fail(r->yaml, node, WEIR_LIMIT, "at most %d words", WORDS_MAX);
    const char **all = WR_ARENA_ARRAY(&r->settings->arena, const char *, first + count + 1);
    if (!all)
        return WEIR_NOMEM;
    for (size_t i = 0; i < first; i++)
        all[i] = (*words)[i];
    for (size_t i = 0; i < count && !status; i++) {
        const yaml_node_t *item =
            is_list ? yaml_document_get_node(&r->yaml->doc, node->data.sequence.items.start[i])
                    : node;
        status = copy_text(r, item, &all[first + i]);
    }
    all[first + count] = NULL;
    *words = all;
    return status;
}

static weir_status read_pair(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    struct wr_mcp_pair *pair = &r->server->pairs[r->server->pairs_count++];
    weir_status status = copy_text(r, key, &pair->name);

    return status ? status : copy_text(r, value, &pair->value);
}

static weir_status read_args(struct reader *r, const yaml_node_t *value)
{
    size_t first = 0;

    while (r->server->words && r->server->words[first])
        first++;
    if (!first)
        return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "args stands behind command");
    return copy_words(r, value, first, &r->server->words);
}

static weir_status read_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "command"))
        return copy_words(r, value, 0, &r->server->words);
    if (wr_span_is(name, "args"))
        return read_args(r, value);
    if (wr_span_is(name, "url"))
        return copy_text(r, value, &r->server->url);
    if (wr_span_is(name, "env") || wr_span_is(name, "headers"))
        return wr_yaml_each(r->yaml, value, WR_AGENT_MCP_PAIRS_MAX, read_pair, r);
    if (wr_span_is(name, "allow"))
        return copy_words(r, value, 0, &r->server->allowed);
    if (!wr_span_is(name, "timeout_seconds"))
        return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                            "'%.*s' is nothing that a server of tools can be told: command, args, "
                            "env, url, headers, allow, timeout_seconds",
                            (int)(name.len < 60 ? name.len : 60), name.ptr);
    if (wr_yaml_is_scalar(value) && wr_span_u64(wr_yaml_text(value), &r->server->timeout_s) &&
        r->server->timeout_s >= 1 && r->server->timeout_s <= WR_AGENT_MCP_CALL_S_MAX)
        return WEIR_OK;
    return wr_yaml_fail(r->yaml, value, WEIR_INVALID, "timeout_seconds is from 1 to %d",
                        WR_AGENT_MCP_CALL_S_MAX);
}

/* The name is part of the names of its tools. */
static bool is_name(weir_span name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!wr_is_alnum(name.ptr[i]) && name.ptr[i] != '-' && name.ptr[i] != '_')
            return false;
    return name.len && name.len <= NAME_BYTES_MAX;
}

static weir_status read_server(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reader *r = user;

    r->server = &r->settings->servers[r->settings->count];
    r->server->timeout_s = WR_AGENT_MCP_CALL_S;
    if (!is_name(wr_yaml_text(key)))
        return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                            "a server's name has letters, digits, - and _, %d at most",
                            NAME_BYTES_MAX);
    weir_status status = copy_text(r, key, &r->server->name);
    if (!status)
        status = wr_yaml_each(r->yaml, value, 8, read_member, r);
    if (!status && !r->server->words == !r->server->url)
        status =
            wr_yaml_fail(r->yaml, key, WEIR_INVALID, "a server of tools has a command or a url");
    r->settings->count += !status;
    return status;
}

weir_status wr_mcp_settings_read(struct wr_mcp_settings *settings, weir_span yaml,
                                 struct weir_err *err)
{
    struct wr_yaml doc;

    *settings = (struct wr_mcp_settings){.count = 0};
    wr_arena_init(&settings->arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_yaml_open(&doc, yaml, err);
    if (status)
        return status;
    yaml_node_t *root = wr_yaml_root(&doc);
    yaml_node_t *servers = root ? wr_yaml_find(&doc, root, "mcp_servers") : NULL;
    struct reader reader = {settings, NULL, &doc};
    if (servers) {
        settings->servers =
            WR_ARENA_ARRAY(&settings->arena, struct wr_mcp_setting, WR_AGENT_MCP_SERVERS_MAX);
        if (settings->servers)
            memset(settings->servers, 0, WR_AGENT_MCP_SERVERS_MAX * sizeof(*settings->servers));
        status = settings->servers ? wr_references_resolve(&doc) : WEIR_NOMEM;
        if (!status)
            status = wr_yaml_each(&doc, servers, WR_AGENT_MCP_SERVERS_MAX, read_server, &reader);
    }
    wr_yaml_close(&doc);
    return status;
}

void wr_mcp_settings_release(struct wr_mcp_settings *settings)
{
    wr_arena_release(&settings->arena);
}
