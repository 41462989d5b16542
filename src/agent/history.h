/* history.h -- the lines that were said before, for Up and Ctrl+R; kept in a file between runs.
 *
 * One entry a line of the file, line breaks and backslashes in it as \n and \\. The file is for
 * comfort: where it cannot be read or written the lines of this run are all there is.
 */
#ifndef WR_AGENT_HISTORY_H
#define WR_AGENT_HISTORY_H

#include "base/buf.h"

struct wr_history {
    struct wr_buf *entries; /* the oldest first */
    size_t count, cap;
    char *path; /* NULL: nothing is kept */
};

/* Reads the newest entries of the file; `path` may be NULL. */
void wr_history_open(struct wr_history *history, const char *path);
void wr_history_release(struct wr_history *history);

/* A line that is like the one before it, or too long, is not kept. */
void wr_history_add(struct wr_history *history, weir_span line);

weir_span wr_history_at(const struct wr_history *history, size_t index);

/* The newest entry before `before` that has `wanted`; SIZE_MAX: none. */
size_t wr_history_find(const struct wr_history *history, weir_span wanted, size_t before);

#endif
