/* grants.h -- what the user has answered with "always", and whether a call is covered by it.
 *
 * 1. An answer holds for what was asked and for nothing else: a tool that changes or reads files
 *    for that tool, a command for the programs that it runs.
 * 2. A command whose programs cannot be told from its text (substitutions, shells, wrappers,
 *    assignments), or that writes files by itself (`>`), is granted as it stands, word for word.
 * 3. Nothing outlives the process; what was granted can be listed and taken back.
 */
#ifndef WR_AGENT_GRANTS_H
#define WR_AGENT_GRANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { WR_GRANTS_MAX = 64, WR_GRANT_BYTES_MAX = 240, WR_GRANT_PROGRAMS_MAX = 8 };

/* Each is a text for people: "edit", "commands of make", "the command: ls > a". */
struct wr_grants {
    char texts[WR_GRANTS_MAX][WR_GRANT_BYTES_MAX];
    size_t count;
};

/* What "always" would grant for a call. */
struct wr_grant_wish {
    char texts[WR_GRANT_PROGRAMS_MAX][WR_GRANT_BYTES_MAX];
    size_t count; /* 0: it cannot be granted for good (a command that is too long) */
};

/* `command` is empty for tools that are no command. */
void wr_grant_wish_of(struct wr_grant_wish *wish, weir_span tool, weir_span command);

bool wr_grants_cover(const struct wr_grants *grants, const struct wr_grant_wish *wish);

/* False: the list is full, and nothing was added. */
bool wr_grants_add(struct wr_grants *grants, const struct wr_grant_wish *wish);

/* One a line, numbered from 1. */
void wr_grants_list(const struct wr_grants *grants, struct wr_buf *out);

/* False: there is no such number. */
bool wr_grants_revoke(struct wr_grants *grants, size_t number);

#endif
