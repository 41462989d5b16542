/* import_trouble.h -- what was wrong with logs: files left out, and what was left out of others.
 *
 * Much of a log is no part of any request and is left out in order (side chains, entries that are
 * no message); that is counted in `notes` (lab/import.h) and no trouble. Lines that cannot be
 * read, roles nobody knows and results without a call are.
 */
#ifndef WR_LAB_IMPORT_TROUBLE_H
#define WR_LAB_IMPORT_TROUBLE_H

#include "lab/import.h"

struct wr_json_writer;

struct wr_import_trouble { /* of one file */
    char *path, *why;      /* owned */
    bool is_left_out;      /* all of it; else only what `why` says */
    uint64_t notes[WR_IMPORT_NOTES];
};

struct wr_import_troubles {
    struct wr_import_trouble *items; /* owned */
    size_t count, cap;
    weir_status status; /* sticky: one could not be kept */
};

/* Whether notes say that something of a log could not be used. */
bool wr_import_is_troubled(const struct wr_import *import);

/* What could not be used, on one line: "results without a call: 2; ...". */
void wr_import_trouble_text(const struct wr_import *import, struct wr_buf *out);

/* Keeps one file's. `import` may be NULL. */
void wr_import_troubles_add(struct wr_import_troubles *troubles, const char *path, const char *why,
                            bool is_left_out, const struct wr_import *import);
void wr_import_troubles_free(struct wr_import_troubles *troubles);

/* The member "troubles" of an object that is open: a list, sorted by path. */
void wr_import_troubles_json(struct wr_import_troubles *troubles, struct wr_json_writer *writer);

#endif
