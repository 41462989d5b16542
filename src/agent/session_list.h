/* session_list.h -- the sessions of a folder, the newest first, known by their first words. */
#ifndef WR_AGENT_SESSION_LIST_H
#define WR_AGENT_SESSION_LIST_H

#include <stdbool.h>
#include <time.h>

#include "base/buf.h"

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

#endif
