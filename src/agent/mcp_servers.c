/* The MCP servers of an agent.
 *
 *   new    all programs are started, then each is asked in turn: they get ready side by side
 *   call   a server that is gone is started again, once; then the tool is called
 *   free   every program is ended
 *
 * Names of tools are part of every prompt, so they stay as they were when the agent began: what a
 * server changes later (tools/list_changed) is not looked at. A name that no API would take (64
 * letters, digits, _ and -) is rewritten; of two that come out the same the first stays.
 */
#include "agent/mcp_servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mcp_link.h"
#include "base/ascii.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "base/yaml.h"
#include "mcp/client.h"
#include "proxy/references.h"

/* ---- settings ----
 *
 * Reads `mcp_servers` of --config. ${NAME} is resolved in the document's nodes, as in weir.yaml
 * (proxy/references.h): a key of a server stands in the environment and not in the file. What is
 * wrong is said with line and column, and no server is started then.
 */

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

/* ---- servers at work ---- */

enum { TOOL_NAME_BYTES_MAX = 64, SHOWN_CHARS_MAX = 80 };

struct server {
    struct wr_mcp_link link;
    const struct wr_mcp_setting *setting;
    uint64_t last_id;
    size_t tools_count;
    bool is_ready; /* the handshake is done */
    char why[400]; /* it is not; a character of somebody else's words has four bytes at most */
};

struct tool {
    struct weir_tool shown;
    weir_span name; /* the server's own */
    struct server *server;
    bool is_allowed;
};

struct wr_mcp_servers {
    struct wr_mcp_servers_options o;
    struct wr_arena arena; /* texts of the tools */
    struct server servers[WR_AGENT_MCP_SERVERS_MAX];
    size_t count;
    struct tool tools[WR_AGENT_MCP_TOOLS_MAX];
    size_t tools_count;
    struct server *listing; /* whose tools are being read */
};

/* ---- asking ---- */

struct question {
    struct wr_buf text;
    struct wr_arena arena;
    struct wr_mcp_said_message said;
    uint64_t id;
};

static void begin_question(struct server *s, struct question *q)
{
    *q = (struct question){.id = ++s->last_id};
    wr_buf_init(&q->text, WR_AGENT_MCP_BYTES_MAX);
    wr_arena_init(&q->arena, WR_AGENT_TOOL_BYTES_MAX);
    wr_buf_init(&q->said.reply, 1);
}

static void end_question(struct question *q)
{
    wr_buf_release(&q->text);
    wr_buf_release(&q->said.reply);
    wr_arena_release(&q->arena);
}

/* A server's own words, on one line and cut between characters. */
static void tell_words(struct server *s, const char *what, weir_span words)
{
    struct wr_buf line;

    wr_buf_init(&line, sizeof(s->why));
    wr_text_one_line_max(&line, wr_text_head(words, SHOWN_CHARS_MAX), SHOWN_CHARS_MAX);
    (void)snprintf(s->why, sizeof(s->why), "%s%.*s", what, (int)line.len,
                   line.len ? line.bytes : "");
    wr_buf_release(&line);
}

/* False: there is no result, and `why` of the server says what came instead. */
static bool ask_server(struct server *s, struct question *q, uint64_t timeout_s)
{
    if (wr_buf_status(&q->text) ||
        !wr_mcp_link_ask(&s->link, wr_buf_view(&q->text), q->id, timeout_s)) {
        (void)snprintf(s->why, sizeof(s->why), "%s",
                       s->link.why[0] ? s->link.why : "the message is too long");
        return false;
    }
    wr_buf_release(&q->said.reply);
    if (wr_mcp_read(&q->said, &q->arena, wr_buf_view(&s->link.answer), q->id) == WR_MCP_SAID_RESULT)
        return true;
    tell_words(s, "it refused: ", q->said.text);
    return false;
}

static bool shake_hands(struct server *s)
{
    struct question q;
    weir_span version = {"", 0};

    begin_question(s, &q);
    wr_mcp_write_initialize(&q.text, q.id);
    s->is_ready = ask_server(s, &q, WR_AGENT_MCP_START_S);
    if (s->is_ready && !wr_mcp_read_initialized(&q.said, &q.arena, &version)) {
        tell_words(s, "it speaks a version of MCP that is not known: ", version);
        s->is_ready = false;
    }
    if (s->is_ready) {
        (void)snprintf(s->link.version, sizeof(s->link.version), "%.*s", (int)version.len,
                       version.ptr);
        wr_buf_reset(&q.text);
        wr_mcp_write_initialized(&q.text);
        wr_mcp_link_tell(&s->link, wr_buf_view(&q.text));
    }
    end_question(&q);
    if (!s->is_ready)
        wr_mcp_link_close(&s->link);
    return s->is_ready;
}

/* ---- tools ---- */

static const struct tool *find_tool(const struct wr_mcp_servers *m, weir_span name)
{
    for (size_t i = 0; m && i < m->tools_count; i++)
        if (wr_span_eq(m->tools[i].shown.name, name))
            return &m->tools[i];
    return NULL;
}

static weir_span shown_name(struct wr_mcp_servers *m, const struct server *s, weir_span name)
{
    char text[512];

    (void)snprintf(text, sizeof(text), WR_MCP_TOOL_FRONT "%s__%.*s", s->setting->name,
                   (int)(name.len < 200 ? name.len : 200), name.ptr);
    for (char *at = text; *at; at++)
        if (!wr_is_alnum(*at) && *at != '-')
            *at = '_';
    text[TOOL_NAME_BYTES_MAX] = '\0';
    return wr_arena_copy(&m->arena, wr_span_of(text));
}

static bool is_allowed(const struct wr_mcp_setting *setting, weir_span name)
{
    for (size_t i = 0; setting->allowed && setting->allowed[i]; i++)
        if (!strcmp(setting->allowed[i], "*") || wr_span_is(name, setting->allowed[i]))
            return true;
    return false;
}

static bool take_tool(void *user, const struct wr_mcp_listed_tool *listed)
{
    struct wr_mcp_servers *m = user;
    struct tool *tool = &m->tools[m->tools_count];

    if (m->tools_count == WR_AGENT_MCP_TOOLS_MAX)
        return false;
    *tool = (struct tool){.name = wr_arena_copy(&m->arena, listed->name),
                          .server = m->listing,
                          .is_allowed = is_allowed(m->listing->setting, listed->name)};
    tool->shown = (struct weir_tool){
        .name = shown_name(m, m->listing, listed->name),
        .description = wr_arena_copy(&m->arena, listed->description),
        .schema = wr_arena_copy(
            &m->arena, listed->schema.len ? listed->schema
                                          : WR_LIT("{\"type\":\"object\",\"properties\":{}}"))};
    if (wr_arena_status(&m->arena))
        return false;
    if (!find_tool(m, tool->shown.name)) {
        m->tools_count++;
        m->listing->tools_count++;
    }
    return true;
}

static bool list_tools(struct wr_mcp_servers *m, struct server *s)
{
    struct wr_buf cursor;
    bool is_fine = true;

    m->listing = s;
    wr_buf_init(&cursor, WR_AGENT_READ_BYTES_MAX);
    for (size_t page = 0; is_fine && page < WR_AGENT_MCP_PAGES_MAX; page++) {
        struct question q;
        weir_span next = {"", 0};
        begin_question(s, &q);
        wr_mcp_write_list(&q.text, q.id, wr_buf_view(&cursor));
        is_fine = ask_server(s, &q, WR_AGENT_MCP_START_S);
        if (is_fine && !wr_mcp_read_tools(&q.said, &q.arena, take_tool, m, &next)) {
            (void)snprintf(s->why, sizeof(s->why), "its list of tools is none");
            is_fine = false;
        }
        wr_buf_reset(&cursor);
        wr_buf_append(&cursor, next);
        end_question(&q);
        if (!cursor.len)
            break;
    }
    wr_buf_release(&cursor);
    return is_fine;
}

/* ---- life ---- */

static void tell_missing(const struct wr_mcp_servers *m, const struct server *s)
{
    char text[600];

    (void)snprintf(text, sizeof(text), "the MCP server '%s' is not there: %s", s->setting->name,
                   s->why[0] ? s->why : s->link.why);
    if (m->o.notice)
        m->o.notice(m->o.notice_user, text);
}

struct wr_mcp_servers *wr_mcp_servers_new(const struct wr_mcp_servers_options *o)
{
    struct wr_mcp_servers *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->o = *o;
    wr_arena_init(&m->arena, WR_ARENA_BYTES_MAX);
    m->count = o->settings->count;
    for (size_t i = 0; i < m->count; i++) {
        struct server *s = &m->servers[i];
        s->setting = &o->settings->servers[i];
        wr_mcp_link_init(&s->link, s->setting, o->client, o->root);
        s->link.interrupt = o->interrupt;
        s->link.interrupt_user = o->interrupt_user;
        if (!wr_mcp_link_open(&s->link))
            (void)snprintf(s->why, sizeof(s->why), "%s", s->link.why);
    }
    for (size_t i = 0; i < m->count; i++) {
        struct server *s = &m->servers[i];
        if (!s->link.is_open || !shake_hands(s) || !list_tools(m, s)) {
            tell_missing(m, s);
            s->is_ready = false;
            wr_mcp_link_close(&s->link);
        }
    }
    return m;
}

void wr_mcp_servers_free(struct wr_mcp_servers *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        wr_mcp_link_release(&m->servers[i].link);
    wr_arena_release(&m->arena);
    free(m);
}

/* ---- for the toolbox ---- */

size_t wr_mcp_servers_tools(const struct wr_mcp_servers *m, struct weir_tool *list, size_t count,
                            size_t count_max)
{
    for (size_t i = 0; m && i < m->tools_count && count < count_max; i++)
        list[count++] = m->tools[i].shown;
    return count;
}

bool wr_mcp_servers_have(const struct wr_mcp_servers *m, weir_span name)
{
    return find_tool(m, name) != NULL;
}

bool wr_mcp_servers_allow(const struct wr_mcp_servers *m, weir_span name)
{
    const struct tool *tool = find_tool(m, name);
    return tool && tool->is_allowed;
}

static bool is_object(weir_span text)
{
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_AGENT_TOOL_BYTES_MAX);
    bool is_one =
        !wr_json_parse(&doc, &arena, text, NULL, NULL) && wr_json_is(&doc, 0, WR_JSON_OBJECT);
    wr_arena_release(&arena);
    return is_one;
}

static bool is_there(struct server *s)
{
    if (s->is_ready && s->link.is_open)
        return true;
    wr_mcp_link_close(&s->link);
    if (!wr_mcp_link_open(&s->link)) {
        (void)snprintf(s->why, sizeof(s->why), "%s", s->link.why);
        return false;
    }
    return shake_hands(s);
}

static bool fail_call(struct wr_buf *out, const struct server *s)
{
    wr_buf_printf(out, "Error: the MCP server '%s' did not answer this call: %s", s->setting->name,
                  s->why);
    return true;
}

bool wr_mcp_servers_call(struct wr_mcp_servers *m, weir_span name, weir_span arguments,
                         struct wr_buf *out)
{
    const struct tool *tool = find_tool(m, name);
    struct question q;
    bool has_failed;

    if (!tool || (wr_span_trim(arguments).len && !is_object(arguments))) {
        wr_buf_text(out, tool ? "Error: the arguments are no JSON object" : "Error: no such tool");
        return true;
    }
    if (!is_there(tool->server))
        return fail_call(out, tool->server);
    begin_question(tool->server, &q);
    wr_mcp_write_call(&q.text, q.id, tool->name, wr_span_trim(arguments));
    if (ask_server(tool->server, &q, tool->server->setting->timeout_s)) {
        has_failed = wr_mcp_read_content(&q.said, &q.arena, out);
    } else {
        has_failed = fail_call(out, tool->server);
        if (tool->server->link.is_open && !tool->server->link.has_answer) {
            wr_buf_reset(&q.text);
            wr_mcp_write_cancelled(&q.text, q.id);
            wr_mcp_link_tell(&tool->server->link, wr_buf_view(&q.text));
        }
    }
    end_question(&q);
    return has_failed;
}

void wr_mcp_servers_list(const struct wr_mcp_servers *m, struct wr_buf *out)
{
    for (size_t i = 0; m && i < m->count; i++) {
        const struct server *s = &m->servers[i];
        wr_buf_printf(out, "%s  %zu tools%s%s\n", s->setting->name, s->tools_count,
                      s->is_ready && s->link.is_open ? "" : "; it is not there: ",
                      s->is_ready && s->link.is_open ? "" : s->why);
    }
}
