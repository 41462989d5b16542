/* import.h -- sessions out of the logs that agents write.
 *
 * 1. A log is known by its content, never by its name; gzip is undone first.
 * 2. What a tool said reaches the session byte for byte as the model saw it. Reasoning is left out,
 *    an image becomes one line that says so.
 * 3. Requests are lawful: every call is answered right behind it, once, and every result has its
 *    call. A call whose result the log lacks gets the answer its host would have sent; a result
 *    without a call is left out. Ids that are missing or used twice are replaced.
 * 4. Nothing is left out in silence: every kind of thing is counted in `notes`.
 *
 * Formats, and what each becomes: docs/importers.md.
 */
#ifndef WR_LAB_IMPORT_H
#define WR_LAB_IMPORT_H

#include "lab/session.h"

#define WR_IMPORT_NOTE_MAP(X)                                                       \
    X(LINE_BROKEN, "lines that are no JSON object")                                 \
    X(LINE_LONG, "lines over the limit")                                            \
    X(LINE_FOREIGN, "lines of another agent's log")                                 \
    X(SIDE_CHAIN, "entries of a side chain")                                        \
    X(ENTRY_REPEATED, "entries that were there already")                            \
    X(ENTRY_OTHER, "entries that are no message")                                   \
    X(ROLE_UNKNOWN, "messages of an unknown role")                                  \
    X(BLOCK_UNKNOWN, "blocks of an unknown kind")                                   \
    X(MEDIA_OMITTED, "images and files, each replaced by a line")                   \
    X(SERVER_TOOL, "calls of the provider's own tools")                             \
    X(RESULT_ORPHAN, "results without a call")                                      \
    X(RESULT_MISSING, "calls without a result, answered as the host would")         \
    X(CALL_RENAMED, "calls whose id was missing or used twice")                     \
    X(COMPACTION_OPAQUE, "compactions whose summary the log does not hold as text") \
    X(COMPACTION_LOST, "compactions over the limit")                                \
    X(ANSWER_ABORTED, "answers that broke off, which the agent never sent again")   \
    X(ANSWER_UNASKED, "answers with nothing before them")                           \
    X(SESSION_EMPTY, "sessions without a request")

enum wr_import_note {
#define X(name, text) WR_IMPORT_##name,
    WR_IMPORT_NOTE_MAP(X)
#undef X
        WR_IMPORT_NOTES
};

struct wr_import {
    const char *agent; /* a constant: "claude-code", "codex", ... */
    weir_span folder;  /* that its agent worked in, as the log says first; empty: it does not */
    struct wr_session *sessions;
    uint32_t sessions_count; /* each has a request */
    uint64_t notes[WR_IMPORT_NOTES];
    uint64_t first_lines[WR_IMPORT_NOTES]; /* of the log, from 1; 0: not known */
};

/* "lines that are no JSON object": for counts of `note`. */
const char *wr_import_note_text(enum wr_import_note note);

/* Reads one file's bytes, which are borrowed for the call only; sessions live in `arena`.
 * WEIR_INVALID: no agent's log. WEIR_SYNTAX: it breaks off or is not JSON, with the byte.
 * WEIR_NOTFOUND: a log in which nothing was asked of a model. WEIR_LIMIT: too large, or WEIR_NOMEM.
 * `import` is filled on success, and its notes also with WEIR_NOTFOUND. */
WEIR_MUST_USE weir_status wr_import_read(struct wr_import *import, struct wr_arena *arena,
                                         weir_span bytes, struct weir_err *err);

/* ---- what was wrong with logs ----
 *
 * Much of a log is no part of any request and is left out in order (side chains, entries that are
 * no message); that is counted in `notes` and no trouble. Lines that cannot be
 * read, roles nobody knows and results without a call are.
 */

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
