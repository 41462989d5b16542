/* mcp_record.h -- one call of /mcp as a line of the log: docs/telemetry.md has its fields.
 *
 * It holds sizes, times and words of ours; never what was asked or answered.
 */
#ifndef WR_PROXY_MCP_RECORD_H
#define WR_PROXY_MCP_RECORD_H

#include "mcp/server.h"

struct wr_mcp_record {
    uint64_t number;
    int64_t started_ms;
    uint64_t total_us;
    weir_span tenant, run; /* run: empty: none */
    const char *agent;
    int status; /* 0: the client was gone */
    uint64_t request_bytes, answer_bytes;
    const struct wr_mcp_answer *told;
};

/* Appends one line, LF included. */
void wr_mcp_record_write(const struct wr_mcp_record *record, struct wr_buf *out);

/* "done", "missed" (the recall brought nothing back) or "refused" (the call was wrong). */
const char *wr_mcp_result_name(const struct wr_mcp_answer *answer);

#endif
