/* simulate.h -- recorded sessions under many policies: what each costs, and what it keeps.
 *
 * A run is deterministic but for the times of rewrites. Lanes are in the order they were named; the
 * floor comes beside them (lab/floor.h).
 */
#ifndef WR_LAB_SIMULATE_H
#define WR_LAB_SIMULATE_H

#include "lab/lane.h"
#include "models/registry.h"

enum { WR_SIMULATE_LANES_MAX = 32, WR_SIMULATE_POINTS_MAX = 240 };

struct wr_simulate_options {
    const char *const *policies; /* names of policies or of baselines */
    uint32_t policies_count;
    uint32_t hidden_count;      /* of them, the last: run to be compared with, in no report */
    const char *model;          /* NULL: the one that the log names, */
    const char *fallback_model; /* or this one where no price of that is known; may be NULL */
    uint32_t window_tokens;     /* 0: the model's */
    bool without_recall;
    uint32_t cold_bp;    /* of the requests, in basis points, come after a pause past any cache */
    bool places_markers; /* the engine's marker before a step is counted (lab/lane.h) */
    bool with_misses;    /* what each result was worth is noted (lab/misses.h) */
    weir_span policies_yaml;      /* of the user's own; may be empty */
    const struct wr_odds *odds;   /* or NULL: those of data/odds.tsv */
    const struct wr_rival *rival; /* or NULL: a lane for each of `policies` that has its name */
};

struct wr_simulated {
    struct wr_lane_result lanes[WR_SIMULATE_LANES_MAX];
    /* The same as if no request had held thinking; what the model does not bind is the same. */
    struct wr_lane_result unbarred[WR_SIMULATE_LANES_MAX];
    uint64_t floor_micro_usd, floor_tokens;
    uint32_t requests_count;
    bool has_times;
    int64_t first_ms, last_ms; /* of its requests; the first is later where there are no times */
    bool is_repriced;          /* under the fallback model */
    bool binds_thinking;       /* the model signs its thinking over what stands before it */
    /* The prompt's tokens over the session's life; of a longer one each point is the largest of
     * its share of the requests. */
    uint32_t points[WR_SIMULATE_LANES_MAX][WR_SIMULATE_POINTS_MAX];
    uint32_t points_count;
};

struct wr_simulator; /* engine, meter and registry of one thread */

/* WEIR_NOTFOUND: no policy or baseline has such a name, and `err` says which. WEIR_LIMIT: more than
 * WR_SIMULATE_LANES_MAX of them. Names and YAML are borrowed until it is freed. */
WEIR_MUST_USE weir_status wr_simulator_new(struct wr_simulator **simulator,
                                           const struct wr_simulate_options *options,
                                           struct weir_err *err);
void wr_simulator_free(struct wr_simulator *simulator); /* NULL is fine */

/* Runs one session under all policies. */
WEIR_MUST_USE weir_status wr_simulate_session(struct wr_simulator *simulator,
                                              const struct wr_session *session,
                                              struct wr_simulated *out);

/* Of the session that was run last, until the next; empty without `with_misses`. */
const struct wr_misses *wr_simulator_misses(const struct wr_simulator *simulator);

#endif
