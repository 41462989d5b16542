/* history.h -- the lines that were said before, for Up and Ctrl+R; kept in a file between runs.
 *
 * One entry a line of the file, line breaks and backslashes in it as \n and \\. The file is for
 * comfort: where it cannot be read or written the lines of this run are all there is.
 */
#ifndef WR_AGENT_HISTORY_H
#define WR_AGENT_HISTORY_H

#include <stdbool.h>
#include <time.h>

#include "base/buf.h"

/* ---- the sessions of a folder, the newest first, known by their first words ---- */

enum { WR_SESSIONS_SHOWN = 30 };

struct wr_listed_session {
    char name[256];
    time_t changed_s;
};

/* Whether there is a session of this name. */
bool wr_session_is_there(const char *sessions_dir, const char *name);

/* To be freed; NULL: there are none. The number of a session is its place here, from 1. */
struct wr_listed_session *wr_sessions_list(const char *sessions_dir, size_t *count);

/* Appends the first words of the user in a session, on one line. */
void wr_session_first_words(const char *sessions_dir, const char *name, struct wr_buf *out);

/* ---- history ---- */

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
