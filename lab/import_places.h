/* import_places.h -- where agents keep their logs on this machine.
 *
 * A place is below a folder that the agent's own variable names, else below the user's home. Only
 * agents whose logs are read (docs/importers.md) have a row; those that write a log when asked have
 * none, since it may be anywhere.
 */
#ifndef WR_LAB_IMPORT_PLACES_H
#define WR_LAB_IMPORT_PLACES_H

#include "base/arena.h"

struct wr_import_place {
    const char *agent;    /* a constant, as in struct wr_import */
    const char *variable; /* names the agent's folder; NULL: none does */
    const char *folder;   /* below the home, where the variable is not set */
    const char *logs;     /* below the agent's folder */
};

const struct wr_import_place *wr_import_places(size_t *count);

/* The path of a place, in `arena`: NULL where neither a variable nor a home is known, or without
 * memory. `home` may be NULL. Whether there is anything is for the caller to see. */
char *wr_import_place_path(const struct wr_import_place *place, const char *home,
                           struct wr_arena *arena);

#endif
