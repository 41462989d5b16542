/* lane.h -- a recorded session run under one policy, request by request, through the real engine,
 * with what each request costs at the provider and what its answer finds.
 *
 * 1. Where an answer uses what is only a recall away, the recall happens: the model's call is paid
 *    for with the whole prompt, the lines come back, and both stay in this lane's conversation.
 * 2. A lane has its own conversation, store and cache; lanes of a session share nothing else than
 *    the recorded messages.
 * 3. Thinking that a request holds bars steps (law L4) and is not paid for: a log does not say what
 *    it took. So a policy that takes no step costs the same with it and without.
 * 4. A rival's lane is posted in the API that the session's agent speaks, and paid for and judged
 * by what came out of it: where that is the Messages API, by the cache markers it has. Its steps
 * are the requests that changed what was sent before where the agent had not; what it asks on its
 * own account is paid.
 */
#ifndef WR_LAB_LANE_H
#define WR_LAB_LANE_H

#include "policy/meter.h"
#include "lab/baseline.h"
#include "lab/money.h"
#include "lab/evidence_tally.h"
#include "lab/misses.h"
#include "lab/rival.h"
#include "lab/session.h"
#include "weir/engine.h"

enum { WR_LANE_REASONS_MAX = 12, WR_LANE_TIMES_MAX = 4096 };

struct wr_lane_reason {
    const char *text; /* a constant */
    uint64_t count;
};

struct wr_lane_result {
    uint64_t requests; /* recalls included */
    uint64_t cost_micro_usd;
    bool is_cost_known;
    uint64_t pico_usd[WR_MONEY_KINDS]; /* the cost by what it was paid for */
    uint64_t prompt_tokens, read_tokens, written_tokens, output_tokens;
    uint64_t saved_tokens; /* that the engine took out, summed over the requests */
    struct wr_evidence_tally evidence;
    uint64_t recalls, recalled_tokens;
    uint64_t steps;
    uint64_t steps_tokens, steps_micro_usd; /* read before, written again because of a step */
    struct wr_lane_reason reasons[WR_LANE_REASONS_MAX];
    uint64_t over_window, over_tier, over_60, over_80, over_85;
    uint64_t prefix_violations, validation_failures;
    uint32_t times_us[WR_LANE_TIMES_MAX]; /* of rewrites, every `times_stride`-th */
    uint32_t times_count, times_stride, times_seen;
};

struct wr_lane_setup {
    const char *policy;                     /* of the engine; NULL: a baseline */
    const struct wr_baseline_def *baseline; /* or NULL */
    const struct wr_rival *rival;           /* or NULL: it makes the bodies */
    const struct wr_model *model;
    const char *model_name;
    uint32_t window_tokens;
    bool without_recall;
    bool places_markers; /* as the engine does for this policy on requests that carry markers */
    bool with_thinking;  /* requests hold the signed thinking that the session says there was */
    struct weir_engine *engine; /* shared by the lanes of one thread */
    struct wr_meter *meter;     /* likewise; counts as the model does */
    struct wr_misses *misses;   /* or NULL: what was shown and missed is noted there too */
    uint32_t misses_lane;       /* its place in them */
};

/* What was sent last, to see where the next request departs from it. */
struct wr_lane_trace {
    uint64_t *hashes; /* of its blocks; owned */
    uint32_t count, cap;
    bool *is_known; /* by block of the newest: it was in the one before; owned */
    uint32_t known_cap;
    uint32_t *ends; /* where requests ended that it extends; owned */
    uint32_t ends_count, ends_cap;
};

struct wr_lane {
    struct wr_lane_setup setup;
    struct wr_arena arena; /* the cache's and the baseline's */
    struct weir_store *store;
    struct wr_cache cache;
    struct wr_baseline baseline;
    struct wr_buf body;   /* the conversation so far, without its end, as a Chat request */
    struct wr_buf posted; /* to a rival: the same in the API of the session's agent */
    size_t head_bytes;    /* of the body, before the first message; 0: not begun */
    uint32_t messages_count;
    bool is_extended;      /* the newest request holds all of the one before */
    uint64_t again_tokens; /* of the request at hand: behind the first change of a warm step */
    struct wr_lane_trace trace;
    struct wr_evidence_gone gone; /* words of the user */
    struct wr_lane_result result;
};

/* One request of the session, with what all lanes share of it. */
struct wr_lane_request {
    const struct wr_session *session;
    const struct wr_session_view *view;
    const struct wr_transcript *original;
    const struct wr_measure *measure; /* of the original */
    const uint8_t *kinds;             /* of its segments (lab/money.h) */
    const struct wr_evidence *evidence;
    const struct wr_evidence_at *at;
    const struct wr_evidence_items *found;
    int64_t now_ms;
    uint64_t output_tokens;
};

WEIR_MUST_USE weir_status wr_lane_init(struct wr_lane *lane, const struct wr_lane_setup *setup);
void wr_lane_release(struct wr_lane *lane);

/* Sends the next request of the session. */
WEIR_MUST_USE weir_status wr_lane_send(struct wr_lane *lane, const struct wr_lane_request *request);

/* Pays for a prompt that was made elsewhere (lab/floor.h); `kinds` are its blocks'. */
WEIR_MUST_USE weir_status wr_lane_pay(struct wr_lane *lane, const struct wr_cache_prompt *prompt,
                                      const uint8_t *kinds, int64_t now_ms);

/* Adds what one lane found to what others did. */
void wr_lane_result_add(struct wr_lane_result *sum, const struct wr_lane_result *result);

/* The share `percent` of rewrites took at most this long. */
uint32_t wr_lane_result_time_us(const struct wr_lane_result *result, uint32_t percent);

#endif
