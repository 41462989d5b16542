/* mcp_settings.h -- servers of tools, as --config names them.
 *
 *   mcp_servers:
 *     weir: {command: [weir, mcp], env: {WEIR_TOKEN: "${WEIR_TOKEN}"}}
 *     docs: {url: "https://example.org/mcp", headers: {authorization: "Bearer ${DOCS_KEY}"},
 *            timeout_seconds: 30, allow: [search]}
 */
#ifndef WR_AGENT_MCP_SETTINGS_H
#define WR_AGENT_MCP_SETTINGS_H

#include "base/arena.h"
#include "base/limits.h"
#include "weir/span.h"
#include "weir/status.h"

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

#endif
