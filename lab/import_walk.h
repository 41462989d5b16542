/* import_walk.h -- every log below a path, one after the other.
 *
 * Folders are gone into in the order of their names, so a walk is the same each time. Symbolic
 * links are followed for what was named, not for what is found below it. Every file is reported:
 * read, or left out and why.
 */
#ifndef WR_LAB_IMPORT_WALK_H
#define WR_LAB_IMPORT_WALK_H

#include "base/arena.h"
#include "lab/import.h"

/* ---- where agents keep their logs on this machine ----
 *
 * A place is below a folder that the agent's own variable names, else below the user's home. Only
 * agents whose logs are read (docs/importers.md) have a row; those that write a log when asked have
 * none, since it may be anywhere.
 */

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

/* ---- import walk ---- */

#define WR_IMPORT_FILE_MAP(X)                                              \
    X(FOUND, "not read yet")                                               \
    X(TOO_LARGE, "larger than the limit")                                  \
    X(UNREADABLE, "cannot be read")                                        \
    X(TOO_DEEP, "too many folders inside one another, or too long a path") \
    X(LINK, "a symbolic link, not followed: name it to have it read")      \
    X(SPECIAL, "neither a file nor a folder")

enum wr_import_file_state {
#define X(name, text) WR_IMPORT_FILE_##name,
    WR_IMPORT_FILE_MAP(X)
#undef X
        WR_IMPORT_FILE_STATES
};

const char *wr_import_file_state_text(enum wr_import_file_state state);

/* `path` is borrowed. A failure stops the walk. */
typedef weir_status wr_import_file_fn(void *user, const char *path,
                                      enum wr_import_file_state state);

/* Calls `on_file` for each file at or below `path`, without reading it. WEIR_NOTFOUND: there is
 * nothing at `path`. WEIR_NOMEM, WEIR_LIMIT (more files than WR_IMPORT_FILES_MAX), or what
 * `on_file` returned. */
WEIR_MUST_USE weir_status wr_import_list(const char *path, wr_import_file_fn *on_file, void *user,
                                         struct weir_err *err);

/* One file, which may be a pipe or a device: sessions live in `arena`. */
WEIR_MUST_USE weir_status wr_import_file_read(struct wr_import *import, struct wr_arena *arena,
                                              const char *path, struct weir_err *err);

#endif
