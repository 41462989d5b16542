/* mcp_servers.h -- tools of others: the MCP servers that --config names, and their tools as ours.
 *
 * 1. A tool is called mcp__SERVER__TOOL, in letters that every API takes.
 * 2. A server that cannot be started, hangs, ends or talks nonsense is told, and costs its own
 * calls only. One that has ended is started again by the next call.
 * 3. What a server says of its own tools (that they only read) is not believed: every call asks,
 *    but for those that the setting allows.
 */
#ifndef WR_AGENT_MCP_SERVERS_H
#define WR_AGENT_MCP_SERVERS_H

#include "agent/process.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "weir/session.h"
#include "weir/span.h"
#include "weir/status.h"

/* ---- settings ----
 *
 *   mcp_servers:
 *     weir: {command: [weir, mcp], env: {WEIR_TOKEN: "${WEIR_TOKEN}"}}
 *     docs: {url: "https://example.org/mcp", headers: {authorization: "Bearer ${DOCS_KEY}"},
 *            timeout_seconds: 30, allow: [search]}
 */

struct wr_mcp_pair {
    const char *name, *value;
};

struct wr_mcp_setting {
    const char *name;
    const char **words; /* of the command, NULL at the end; NULL: it has an address */
    const char *url;    /* NULL: it has a command */
    struct wr_mcp_pair pairs[WR_AGENT_MCP_PAIRS_MAX]; /* variables, or headers */
    size_t pairs_count;
    const char **allowed; /* tools that are not asked for, NULL at the end; "*": all */
    uint64_t timeout_s;
};

struct wr_mcp_settings {
    struct wr_arena arena; /* all texts */
    struct wr_mcp_setting *servers;
    size_t count;
};

/* Reads `mcp_servers` of a configuration; all else in it is the session's. ${NAME} is a variable of
 * the environment. To be released in either case. */
WEIR_MUST_USE weir_status wr_mcp_settings_read(struct wr_mcp_settings *settings, weir_span yaml,
                                               struct weir_err *err);
void wr_mcp_settings_release(struct wr_mcp_settings *settings);

/* ---- servers at work ---- */

/* How the names of their tools begin. */
#define WR_MCP_TOOL_FRONT "mcp__"

struct wr_client;
struct wr_mcp_servers;

struct wr_mcp_servers_options {
    const struct wr_mcp_settings *settings; /* borrowed */
    struct wr_client *client;
    const char *root;
    wr_interrupt_fn *interrupt;
    void *interrupt_user;
    void (*notice)(void *user, const char *text); /* what is wrong with a server */
    void *notice_user;
};

/* Starts them and asks for their tools; NULL: out of memory. */
struct wr_mcp_servers *wr_mcp_servers_new(const struct wr_mcp_servers_options *options);
void wr_mcp_servers_free(struct wr_mcp_servers *servers); /* NULL is fine */

/* Appends their tools behind the `count` that are there; returns how many there are then. */
size_t wr_mcp_servers_tools(const struct wr_mcp_servers *servers, struct weir_tool *list,
                            size_t count, size_t count_max);

/* Whether one is called so; servers may be NULL. */
bool wr_mcp_servers_have(const struct wr_mcp_servers *servers, weir_span name);

/* Whether the setting says that it may be called without a question. */
bool wr_mcp_servers_allow(const struct wr_mcp_servers *servers, weir_span name);

/* Appends what it gave, or why it gave nothing. True: it failed. */
bool wr_mcp_servers_call(struct wr_mcp_servers *servers, weir_span name, weir_span arguments,
                         struct wr_buf *out);

/* A line a server: its name, how many tools, or what is wrong. */
void wr_mcp_servers_list(const struct wr_mcp_servers *servers, struct wr_buf *out);

#endif
