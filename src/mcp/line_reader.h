/* line_reader.h -- messages from a stream of bytes: one a line.
 *
 * 1. Every way of cutting one stream into chunks yields the same lines.
 * 2. A line longer than the cap is left out, and told as such once, when its end comes.
 * 3. Blank lines are no messages. What the stream ends in without a line end is one.
 */
#ifndef WR_MCP_LINE_READER_H
#define WR_MCP_LINE_READER_H

#include <stdbool.h>

#include "base/buf.h"

/* A line without its end; `is_too_long`: one that was left out. The span dies with the call. */
typedef void wr_mcp_line_fn(void *user, weir_span line, bool is_too_long);

struct wr_mcp_line_reader { /* private; visible only so that callers can hold one */
    struct wr_buf part;     /* of a line whose end has not come */
    size_t line_bytes_max;
    bool skips; /* the line at hand is too long */
    wr_mcp_line_fn *on_line;
    void *user;
};

void wr_mcp_line_reader_init(struct wr_mcp_line_reader *reader, size_t line_bytes_max,
                             wr_mcp_line_fn *on_line, void *user);
void wr_mcp_line_reader_feed(struct wr_mcp_line_reader *reader, weir_span bytes);
void wr_mcp_line_reader_end(struct wr_mcp_line_reader *reader); /* the stream has ended */
void wr_mcp_line_reader_release(struct wr_mcp_line_reader *reader);

#endif
