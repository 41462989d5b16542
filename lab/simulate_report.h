/* simulate_report.h -- the results of many sessions: pooled, by agent, by session.
 *
 * The rows are sorted when written, so the order in which sessions end does not show.
 */
#ifndef WR_LAB_SIMULATE_REPORT_H
#define WR_LAB_SIMULATE_REPORT_H

#include "base/buf.h"
#include "lab/simulate.h"

enum { WR_REPORT_AGENTS_MAX = 32 };

struct wr_simulate_cell { /* one session under one policy */
    uint64_t cost_micro_usd, prompt_tokens;
    uint64_t requests; /* recalls included */
    uint64_t first_sight_supported, first_sight_count;
    uint64_t answers, answers_blind, user_tokens_gone; /* lab/evidence_tally.h */
    uint64_t lost, recalls, steps;
};

struct wr_simulate_row { /* one session */
    char *path, *agent;  /* owned */
    uint32_t number;     /* among the sessions of its file */
    uint32_t requests_count;
    bool has_times;
    uint64_t floor_micro_usd, floor_tokens;
    struct wr_simulate_cell *cells; /* by policy; owned */
};

/* How the prompt grew in the session with the most tokens under the first policy. */
struct wr_simulate_life {
    char *path; /* owned; NULL: no session yet */
    uint64_t prompt_tokens;
    uint32_t requests_count, points_count;
    uint32_t *points; /* by policy, points_count each; owned */
};

struct wr_simulate_agent {
    const char *name; /* of its first row */
    uint32_t sessions_count;
    uint64_t floor_micro_usd;
    struct wr_lane_result *lanes;    /* by policy; owned */
    struct wr_lane_result *unbarred; /* the same without thinking (lab/simulate.h); owned */
};

struct wr_simulate_report {
    struct wr_simulate_options options; /* borrowed texts */
    struct wr_simulate_row *rows;
    uint32_t sessions_count, rows_cap;
    uint32_t without_times_count;
    uint32_t repriced_count;   /* sessions under the fallback model */
    int64_t first_ms, last_ms; /* of all requests; the first is later where there are no times */
    bool binds_thinking;       /* a session's model does */
    struct wr_simulate_agent pooled;
    struct wr_simulate_agent agents[WR_REPORT_AGENTS_MAX];
    uint32_t agents_count;
    struct wr_simulate_life longest;
};

/* All policies, baselines and the floor's companions, in the order of a report. */
const char *const *wr_simulate_all(uint32_t *count);

WEIR_MUST_USE weir_status wr_simulate_report_new(struct wr_simulate_report **report,
                                                 const struct wr_simulate_options *options);
void wr_simulate_report_free(struct wr_simulate_report *report); /* NULL is fine */

WEIR_MUST_USE weir_status wr_simulate_report_add(struct wr_simulate_report *report,
                                                 const struct wr_session *session, const char *path,
                                                 const struct wr_simulated *simulated);

/* `columns`: how wide its tables may be. */
void wr_simulate_report_table(struct wr_simulate_report *report, uint32_t columns,
                              struct wr_buf *out);

/* ---- for other forms of the report ---- */

struct wr_json_writer;

/* The members of the JSON report, into an object that is open. */
void wr_simulate_report_members(struct wr_simulate_report *report, struct wr_json_writer *writer);

/* The member `unbarred` of a policy, what it would be if no request had held thinking, since steps
 * are barred where one does; nothing where no model binds it. */
void wr_simulate_report_unbarred(const struct wr_simulate_report *report,
                                 const struct wr_simulate_agent *agent, uint32_t policy,
                                 struct wr_json_writer *writer);

/* Sorts the rows by path; to be asked before they are written. */
void wr_simulate_report_sort(struct wr_simulate_report *report);

/* How many policies have a row: the first ones, all but those that are hidden. */
uint32_t wr_simulate_report_shown(const struct wr_simulate_report *report);

/* The policy whose cost ratios are against: `exact` or `raw`; UINT32_MAX: none was run. It may be
 * one that is hidden. */
uint32_t wr_simulate_report_base(const struct wr_simulate_report *report);

/* Sessions that a policy made dearer than the base by more than two in a hundred. */
uint32_t wr_simulate_report_dearer(const struct wr_simulate_report *report, uint32_t policy);

/* The policies' numbers, the cheapest first; `order` has room for all. */
void wr_simulate_report_rank(const struct wr_simulate_report *report,
                             const struct wr_simulate_agent *agent, uint32_t *order);

/* Cost of a policy against the base; -1 without a base. */
double wr_simulate_report_ratio(const struct wr_simulate_report *report,
                                const struct wr_simulate_agent *agent, uint32_t policy);

double wr_simulate_share(uint64_t part, uint64_t whole); /* 0 of nothing is 1 */

/* Shares of the requests with evidence: blind quotes, and those without any of it at hand. */
double wr_simulate_blind(const struct wr_evidence_tally *evidence);
uint64_t wr_simulate_evidence_total(const uint64_t verdicts[WR_EVIDENCE_VERDICTS]);

#endif
