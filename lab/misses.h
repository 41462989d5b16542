/* misses.h -- every result of a session: what answers used of it, and what a policy had not shown.
 *
 * One row a result and policy, made while the session is run (lab/simulate.h). A result is known
 * by its number (lab/evidence.h); one that comes again after the host compacted keeps its row.
 *
 * 1. An item of the next answer counts at first sight, any other as later; repeated ones do not
 *    count. What was not in the projected prompt is missing, one recall away or not.
 * 2. Turns are requests of the session, so an age does not depend on what the host left out.
 * 3. A row holds no content but the tool's name.
 */
#ifndef WR_LAB_MISSES_H
#define WR_LAB_MISSES_H

#include "base/buf.h"
#include "condense/output_kind.h"
#include "policy/meter.h"
#include "policy/odds.h"
#include "lab/evidence.h"

enum { WR_MISSES_FAR_TURNS = 10 };

struct wr_miss_result { /* the same under every policy */
    enum wr_output_kind kind;
    enum wr_effect_kind effect;
    enum wr_odds_class class; /* by which its odds are found */
    const char *tool;
    int64_t start_line; /* of a read; 0: not known */
    uint32_t turn;      /* the request it came with, from 1 */
    uint64_t tokens;
    uint32_t next_count, later_count; /* items that answers used of it */
    uint32_t far_count;               /* of them, those used more than WR_MISSES_FAR_TURNS later */
    wr_hash128 hash;                  /* of its bytes and its call's id */
};

struct wr_miss {           /* one result under one policy */
    uint64_t shown_tokens; /* in the first request that held it */
    uint32_t next_missing, later_missing;
    uint32_t lines_missing; /* of them, whole lines */
};

struct wr_misses { /* one session; private but for reading */
    struct wr_arena *arena;
    uint32_t lanes_count;
    struct wr_miss_result *results;
    struct wr_miss *missed; /* lanes_count for each result */
    uint32_t results_count, results_cap;
    uint32_t *rows; /* by number: the result's, or UINT32_MAX */
    uint32_t rows_count, rows_cap;
    uint32_t numbers_before, results_before; /* how many there were before the newest request */
    uint32_t turn;
    uint32_t judged_lanes; /* bits: those that have rows */
};

/* `arena` is borrowed for as long as it is used. */
void wr_misses_init(struct wr_misses *misses, struct wr_arena *arena, uint32_t lanes_count);

/* Takes in what is new in a request as the agent sent it, and what its answer used. */
WEIR_MUST_USE weir_status wr_misses_note(struct wr_misses *misses,
                                         const struct wr_transcript *original,
                                         const struct wr_measure *measure,
                                         const struct wr_evidence_at *at,
                                         const struct wr_evidence_items *found);

/* What lane `lane` showed of the request that was noted last, and how its items were judged. */
struct wr_misses_shown {
    uint32_t lane;
    const struct wr_evidence_at *at;
    const struct wr_evidence_view *view;
    const struct wr_evidence_items *found;
    const struct wr_evidence_judged *judged;
    struct wr_meter *meter;
};
void wr_misses_judged(struct wr_misses *misses, const struct wr_misses_shown *shown);

/* ---- as CSV ---- */

struct wr_misses_of {
    const char *path;
    uint32_t session; /* number among the sessions of its file */
    weir_span agent;
    const char *const *policies;
    uint32_t policies_count; /* of the lanes, the first ones */
};

void wr_misses_csv_head(struct wr_buf *out);
void wr_misses_csv_rows(const struct wr_misses *misses, const struct wr_misses_of *of,
                        struct wr_buf *out);

#endif
