/* evidence_words.h -- what in a text may be quoted later: names, paths and lines.
 *
 * A run is the longest stretch of letters, digits and `_ - . / ~ @ +`. It may be a path; the words
 * in it are stretches of letters, digits and `_`. docs/evidence.md has the rules with examples.
 */
#ifndef WR_LAB_EVIDENCE_WORDS_H
#define WR_LAB_EVIDENCE_WORDS_H

#include <stdbool.h>

#include "base/arena.h"
#include "weir/span.h"

/* ---- which segments hold a string ----
 *
 * Segments are added in the order in which they came; numbers only rise. Hashes of 64 bits stand
 * for the strings: two strings of one hash in one session are not told apart.
 */

#define WR_EVIDENCE_NONE UINT32_MAX

struct wr_evidence_string {
    uint64_t hash;      /* 0: a free place */
    uint32_t last;      /* the newest segment that holds it */
    uint32_t said;      /* the newest that is no result, or NONE */
    uint32_t said_line; /* of that segment, from 0: the first that holds it */
    uint32_t result;    /* the newest result that holds it, or NONE */
    uint32_t line;      /* of that result, from 0: the first that holds it */
    uint32_t posting;   /* the newest of its postings */
    uint32_t seen;      /* the answer it was last found in */
};

struct wr_evidence_posting {
    uint32_t segment;
    uint32_t older; /* or NONE */
};

struct wr_evidence_index {
    struct wr_arena *arena; /* borrowed */
    struct wr_evidence_string *strings;
    uint32_t strings_count, strings_cap;
    struct wr_evidence_posting *postings;
    uint32_t postings_count, postings_cap;
};

WEIR_MUST_USE weir_status wr_evidence_index_init(struct wr_evidence_index *index,
                                                 struct wr_arena *arena);

/* WEIR_LIMIT past WR_EVIDENCE_STRINGS_MAX. */
WEIR_MUST_USE weir_status wr_evidence_index_add(struct wr_evidence_index *index, weir_span text,
                                                uint32_t segment, uint32_t line, bool is_result);

/* NULL: no segment holds it. Lives until the next add. */
struct wr_evidence_string *wr_evidence_index_find(const struct wr_evidence_index *index,
                                                  weir_span text);

/* ---- what may be quoted ---- */

enum {
    WR_EVIDENCE_LINE_CHARS_MIN = 16,      /* a shorter line says too little of where it is from */
    WR_EVIDENCE_LINE_LETTERS_MIN = 8,     /* of them letters or digits: rulers are no lines */
    WR_EVIDENCE_IDENTIFIER_CHARS_MIN = 8, /* shorter names are found by chance */
    WR_EVIDENCE_WORD_CHARS_MIN = 5,       /* of a name that stands in quotes */
    WR_EVIDENCE_PATH_CHARS_MIN = 5,
    WR_EVIDENCE_CORES_MAX = 4,
};

/* The next run of `text` at or after `*at`, without the punctuation around it. */
bool wr_run_next(weir_span text, size_t *at, weir_span *run);

/* Whether a run names a file or folder: with a slash in it, or ending as source files do. */
bool wr_run_is_path(weir_span run);

/* Takes the first name off a path; false where only one is left. */
bool wr_run_path_shorten(weir_span *path);

/* Whether the last name of a path is one that every project has (README.md, index.ts, ...). */
bool wr_run_is_common_name(weir_span name);

/* The next word of a run at or after `*at`. */
bool wr_run_word(weir_span run, size_t *at, weir_span *word);

/* Whether a word was made by a programmer: long enough, with `_`, a digit or a capital inside. */
bool wr_word_is_identifier(weir_span word);

/* Whether a word counts where it stands in quotes: a shorter name, or a long word of any kind. */
bool wr_word_is_quotable(weir_span word);

/* The whole run as a name with hyphens: better-sqlite3, fix-openai-codex-target. */
bool wr_run_is_hyphenated(weir_span run);

/* What a line says without what a tool put before it: as it is, behind a line number, behind
 * `path:12:`, behind the sign of a diff. Each is trimmed and long enough. Returns how many. */
uint32_t wr_line_cores(weir_span line, weir_span cores[WR_EVIDENCE_CORES_MAX]);

#endif
