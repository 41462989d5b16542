/* presence.h -- whether the agent that called us has a `weir mcp` of its own, on this very store.
 *
 * Law L2 wants a way back that the agent really has. Its settings do not tell: a server may be
 * named on its command line, be switched off, or read another store. So `weir mcp` leaves a sign
 * for as long as it lives: a locked file in its store, named after the process that started it. The
 * hook looks for the sign of the process that started the hook. Shells between them and the agent
 * are passed over. Nothing above the agent is looked at: an agent that was started by another does
 * not have the other's tools.
 */
#ifndef WR_HOOK_PRESENCE_H
#define WR_HOOK_PRESENCE_H

#include <stdbool.h>

enum { WR_PRESENCE_PATH_BYTES = 4096 };

struct wr_presence {
    char path[WR_PRESENCE_PATH_BYTES];
    int fd; /* -1: there is no sign */
};

/* Leaves the sign, and takes away those of processes that were killed. Where it cannot be left the
 * hook finds none, and leaves results whole. */
void wr_presence_leave(struct wr_presence *presence, const char *store);
void wr_presence_take_back(struct wr_presence *presence);

/* Whether the process that started this one, shells aside, has started a `weir mcp` on `store`. */
bool wr_presence_find(const char *store);

#endif
