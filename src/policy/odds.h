/* odds.h -- how often a shortened result turns out to have been too short, by class and size.
 *
 * The numbers are constants of data/odds.tsv, which has a version: nothing is learned while a
 * session runs (law L3).
 */
#ifndef WR_POLICY_ODDS_H
#define WR_POLICY_ODDS_H

#include "base/arena.h"
#include "condense/output_kind.h"
#include "transcript/transcript.h"
#include "weir/status.h"

enum { WR_ODDS_CUTS_COUNT = 4, WR_ODDS_ROWS_MAX = 96 };

/* What a result is, as far as it tells how much of it will be used again. */
#define WR_ODDS_CLASS_MAP(X)                                                \
    X(FILE, "file")                                                         \
    X(PART, "part")     /* of a file, from a line in the middle of it on */ \
    X(TARGET, "target") /* a file that will probably be edited: below */    \
    X(SPOT, "spot")     /* a part of such a file */                         \
    X(SEARCH, "search")                                                     \
    X(TEST, "test")                                                         \
    X(DIFF, "diff")                                                         \
    X(PROCESS, "process")                                                   \
    X(POLL, "poll")   /* more of what a process printed */                  \
    X(EDIT, "edit")   /* what an edit says of the place it changed */       \
    X(AGENT, "agent") /* the report of another agent */                     \
    X(JSON, "json")                                                         \
    X(LIST, "list")                                                         \
    X(OTHER, "other")

enum wr_odds_class {
#define X(name, text) WR_ODDS_##name,
    WR_ODDS_CLASS_MAP(X)
#undef X
        WR_ODDS_CLASSES
};

extern const uint32_t wr_odds_cuts[WR_ODDS_CUTS_COUNT]; /* tokens, rising */

struct wr_odds_row {
    enum wr_odds_class class;
    uint64_t tokens_max; /* 0: any size */
    uint32_t next_pct[WR_ODDS_CUTS_COUNT], ever_pct[WR_ODDS_CUTS_COUNT];
    uint32_t far_pct;
    uint32_t lack_pct[WR_ODDS_CUTS_COUNT];  /* strings that the next action misses, not results */
    uint32_t blind_pct[WR_ODDS_CUTS_COUNT]; /* a whole line is quoted later and missing */
};

struct wr_odds {
    uint32_t version;
    uint32_t turns_left, turns_left_min, recall_tokens, call_tokens, prompt_tokens;
    struct wr_odds_row rows[WR_ODDS_ROWS_MAX];
    uint32_t rows_count;
};

/* Reads a table. WEIR_INVALID: err->at_byte is the line that is wrong. */
WEIR_MUST_USE weir_status wr_odds_read(struct wr_odds *odds, weir_span table, struct weir_err *err);

weir_span wr_odds_embedded(void); /* data/odds.tsv */

/* Whether a result shows a file that was changed before it came, or that the user or the model had
 * named by then: such a file is quoted, line by line, twice as often as others. Later segments do
 * not matter (law L3). */
bool wr_odds_is_target(const struct wr_transcript *transcript, uint32_t result);

enum wr_odds_class wr_odds_class_of(const struct wr_segment *result, enum wr_output_kind kind,
                                    bool is_target);
const char *wr_odds_class_text(enum wr_odds_class class_);

/* The row for a result of this class and size; never NULL for a table that was read. */
const struct wr_odds_row *wr_odds_find(const struct wr_odds *odds, enum wr_odds_class class,
                                       uint64_t tokens);

/* The odds of a row for a result of `tokens` at any cut, in basis points: between two cuts on the
 * line between them, behind the last on the line to nothing where all of it is kept. (Measured at
 * 4,000 to 8,000 tokens of reads of 5,000 to 20,000: within 8 points.) */
uint32_t wr_odds_next_bp(const struct wr_odds_row *row, uint64_t tokens, uint64_t cut_tokens);
uint32_t wr_odds_ever_bp(const struct wr_odds_row *row, uint64_t tokens, uint64_t cut_tokens);
uint32_t wr_odds_lack_bp(const struct wr_odds_row *row, uint64_t tokens, uint64_t cut_tokens);
uint32_t wr_odds_blind_bp(const struct wr_odds_row *row, uint64_t tokens, uint64_t cut_tokens);

#endif
