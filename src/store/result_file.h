/* result_file.h -- an original as a file of its own, for an agent that can read files:
 * DIR/large_tool_results/ID.
 *
 * 1. The file is there whole or not at all, whenever the process ends. The store holds the
 * original; the file is a copy of it, so it is not synced to the disk.
 * 2. Nothing outside DIR/large_tool_results is written, whatever the id is and whatever links are
 *    there.
 */
#ifndef WR_STORE_RESULT_FILE_H
#define WR_STORE_RESULT_FILE_H

#include "weir/store.h"

#define WR_RESULT_FOLDER "large_tool_results"

enum { WR_RESULT_ID_BYTES_MAX = 128 };

/* What can be the name of such a file: letters, digits, '_', '-' and '.', beginning with a letter,
 * a digit or '_'. Handles are, and so are the ids that providers give to calls. */
bool wr_result_id_is_good(weir_span id);

/* Writes the file (0600), and the folder (0700) where it is missing; `dir` must be there. A file
 * that holds this text already is left as it is; one that holds another is replaced. WEIR_INVALID
 * for a bad id. */
WEIR_MUST_USE weir_status wr_result_file_write(const char *dir, weir_span id, weir_span text,
                                               weir_trouble *trouble, struct weir_err *err);

/* The same with a text from the store, verified; the file is named by its handle. WEIR_NOTFOUND:
 * `*miss` says why, and nothing was written. */
WEIR_MUST_USE weir_status wr_result_file_recall(struct weir_store *store,
                                                const struct weir_lookup *lookup, const char *dir,
                                                weir_miss *miss, struct weir_err *err);

#endif
