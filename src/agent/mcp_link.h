/* mcp_link.h -- a connection to one MCP server: a message goes out, its answer comes back.
 *
 * A server is a program of its own, with a message a line on its standard input and output, or
 * speaks Streamable HTTP: every message is a POST, answered by JSON or by a stream of it.
 *
 * A wait ends with the answer, at its deadline, when the user interrupts, or when the server is
 * gone; it never fails the agent. A message that is none (a server that logs to its standard
 * output) is left aside, and shown where that may be the reason.
 */
#ifndef WR_AGENT_MCP_LINK_H
#define WR_AGENT_MCP_LINK_H

#include <sys/types.h>

#include "agent/client.h"
#include "agent/mcp_servers.h"
#include "agent/process.h"
#include "mcp/line_reader.h"

struct wr_mcp_link {
    const struct wr_mcp_setting *setting;
    struct wr_client *client;
    const char *root; /* where a program is started */
    wr_interrupt_fn *interrupt;
    void *interrupt_user;
    bool is_open;
    uint64_t wanted;      /* the id of the request that is waited for */
    bool has_answer;      /* `answer` is the message */
    struct wr_buf answer; /* of the server, whole */
    struct wr_buf going;  /* to the server: what is not written yet */
    char noise[160];      /* the last thing it said that was no message */
    char why[400];        /* the last wait came to nothing */
    /* of a program */
    pid_t pid;
    int in, out, errors;
    struct wr_mcp_line_reader lines;
    /* over HTTP */
    char session[256], version[32];
};

void wr_mcp_link_init(struct wr_mcp_link *link, const struct wr_mcp_setting *setting,
                      struct wr_client *client, const char *root);
void wr_mcp_link_release(struct wr_mcp_link *link);

/* False: it cannot be begun, and `why` says so. */
bool wr_mcp_link_open(struct wr_mcp_link *link);
void wr_mcp_link_close(struct wr_mcp_link *link);

/* Sends a request and waits for its answer. False: none came, and `why` says so. */
bool wr_mcp_link_ask(struct wr_mcp_link *link, weir_span message, uint64_t id, uint64_t timeout_s);

/* Sends what has no answer. */
void wr_mcp_link_tell(struct wr_mcp_link *link, weir_span message);

/* A message of the server's came, by either way. */
void wr_mcp_link_take(struct wr_mcp_link *link, weir_span text);

#endif
