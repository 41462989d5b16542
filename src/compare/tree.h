/* tree.h -- a folder of files: a fresh copy of it, and what differs from it afterwards. */
#ifndef WR_COMPARE_TREE_H
#define WR_COMPARE_TREE_H

#include <stdint.h>

#include "weir/status.h"
#include "weir/span.h"

/* Copies folders, files (with their rights and times) and links below `from` to `to`, which must
 * not exist; what is none of these is left out, and so is `to` itself where it is below `from`.
 * WEIR_LIMIT: it is larger than limits.h allows. */
WEIR_MUST_USE weir_status wr_tree_copy(const char *from, const char *to, struct weir_err *err);

enum wr_tree_change { WR_TREE_ADDED, WR_TREE_REMOVED, WR_TREE_CHANGED };

/* `path` is below the folder; `content` a hash of what the file holds now, 0 where it is gone. */
typedef void wr_tree_fn(void *user, enum wr_tree_change change, const char *path, uint64_t content);

/* Calls `each` for every file and link of `after` that is not as in `before`, of which it was a
 * copy, and for those that are gone, in the order of their names. Folders named .git are not looked
 * into. A file of the same size and time of change is the same one. */
WEIR_MUST_USE weir_status wr_tree_compare(const char *before, const char *after, wr_tree_fn *each,
                                          void *user, struct weir_err *err);

#endif
