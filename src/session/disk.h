/* disk.h -- the few things a session does with files, with errors that name the file.
 *
 * No room left is WEIR_LIMIT, a file that is not there WEIR_NOTFOUND, the rest WEIR_IO.
 */
#ifndef WR_SESSION_DISK_H
#define WR_SESSION_DISK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"

/* DIR/NAME in `path`, which has room for WR_SESSION_PATH_BYTES_MAX. WEIR_LIMIT when it is longer.
 */
WEIR_MUST_USE weir_status wr_disk_join(char *path, const char *dir, const char *name,
                                       struct weir_err *err);

/* Makes a directory (0700) and those above it. */
WEIR_MUST_USE weir_status wr_disk_make_dir(const char *path, struct weir_err *err);

/* Appends the whole file to `into`. */
WEIR_MUST_USE weir_status wr_disk_read(const char *path, struct wr_buf *into, struct weir_err *err);

/* The same from `byte` on. */
WEIR_MUST_USE weir_status wr_disk_read_from(const char *path, uint64_t byte, struct wr_buf *into,
                                            struct weir_err *err);

/* Writes all of `bytes`, or leaves the file as long as it was: `*end` is where it ends, before and
 * after. */
WEIR_MUST_USE weir_status wr_disk_append(int fd, uint64_t *end, weir_span bytes, const char *path,
                                         struct weir_err *err);

/* The file is the old one or the new one (0600), whenever the process ends. */
WEIR_MUST_USE weir_status wr_disk_replace(const char *path, weir_span bytes, struct weir_err *err);

/* A file that is written piece by piece and takes the place of another when it is whole. */
struct wr_draft {
    int fd;                               /* -1: none */
    uint64_t begin_bytes, end_bytes;      /* begin: of what was there, where it is appended to */
    bool is_in_place;                     /* appended to: the file itself grows */
    char path[WR_SESSION_PATH_BYTES_MAX]; /* where it goes */
};
WEIR_MUST_USE weir_status wr_draft_open(struct wr_draft *draft, const char *path,
                                        struct weir_err *err);
/* For what comes behind the `bytes` of a file. WEIR_NOTFOUND: it has not just these any more. Taken
 * back it is as long as before. */
WEIR_MUST_USE weir_status wr_draft_extend(struct wr_draft *draft, const char *path, uint64_t bytes,
                                          struct weir_err *err);
WEIR_MUST_USE weir_status wr_disk_draft_append(struct wr_draft *draft, weir_span bytes,
                                               struct weir_err *err);
WEIR_MUST_USE weir_status wr_disk_draft_take(struct wr_draft *draft, struct weir_err *err);
void wr_disk_draft_drop(struct wr_draft *draft);

/* What could be left in a name that becomes part of a path: letters, digits, '-', '_', '.', not
 * beginning with '.'. */
bool wr_disk_name_is_good(weir_span name);

#endif
