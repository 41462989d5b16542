/* complete.h -- what Tab puts in: the name of a command behind '/', of a file behind '@', of a
 * session behind "/resume ". */
#ifndef WR_AGENT_COMPLETE_H
#define WR_AGENT_COMPLETE_H

#include "agent/editor.h"

struct wr_completer {
    const char *root;                      /* where files are looked for */
    const char *sessions_dir;              /* NULL: sessions are not named */
    const char *(*command)(size_t number); /* their names; NULL behind the last */
};

/* A wr_complete_fn; the user is the completer. */
void wr_line_complete(void *user, weir_span text, size_t cursor, struct wr_choices *choices);

#endif
