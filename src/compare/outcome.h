/* outcome.h -- what came of the runs of a comparison, and what differs between its two arms. */
#ifndef WR_COMPARE_OUTCOME_H
#define WR_COMPARE_OUTCOME_H

#include "base/arena.h"
#include "base/buf.h"
#include "compare/stats.h"

enum wr_arm_name { WR_ARM_DIRECT, WR_ARM_WEIR, WR_ARMS_COUNT };

/* Figures of one run. Plain data: it is handed from the process that ran it as it is. */
struct wr_trial {
    enum wr_arm_name arm;
    uint32_t task;
    bool is_measured; /* its requests came through Weir and were counted */
    int exit_status;  /* the agent's, as a shell has it */
    int check_status; /* of the check; -1: there is none */
    uint64_t requests_count, changed_count, failed_count;
    uint64_t prompt_tokens, cache_read_tokens, output_tokens;
    uint64_t micro_usd;
    bool is_priced;
    uint64_t agent_ms;
    uint64_t recalls_count;
    uint64_t files_count; /* changed, made or removed */
};

/* A file that a run changed. */
struct wr_trial_file {
    uint32_t trial;
    const char *path;
    uint64_t content; /* 0: it is gone */
};

struct wr_outcome {
    const char *const *tasks; /* their names; one without a name is "" */
    uint32_t tasks_count;
    bool has_check;
    uint64_t seed;
    const char *policy, *agent; /* how it was called, in one line */
    bool is_recorded;           /* the arms are any two lists of runs from a store */
    struct wr_trial *trials;
    size_t trials_count, trials_cap;
    struct wr_trial_file *files;
    size_t files_count, files_cap;
    struct wr_arena arena; /* owns the lists and their paths */
};

void wr_outcome_init(struct wr_outcome *outcome);
void wr_outcome_release(struct wr_outcome *outcome);

WEIR_MUST_USE weir_status wr_outcome_add(struct wr_outcome *outcome, const struct wr_trial *trial);
WEIR_MUST_USE weir_status wr_outcome_add_file(struct wr_outcome *outcome, const char *path,
                                              uint64_t content); /* of the last trial */

/* What is compared. Of several tasks figures are compared in pairs, task by task. */
struct wr_yardstick {
    const char *name, *words, *unit; /* of JSON, of the table; "$", "s", "" */
    double (*value)(const struct wr_trial *trial);
};

extern const struct wr_yardstick wr_yardsticks[]; /* ends with a NULL name */

struct wr_contrast wr_outcome_contrast(const struct wr_outcome *outcome,
                                       const struct wr_yardstick *measure);

/* Runs whose check passed, over all tasks. */
struct wr_contrast wr_outcome_checks(const struct wr_outcome *outcome);

void wr_outcome_print(const struct wr_outcome *outcome, struct wr_buf *out);
void wr_outcome_write(const struct wr_outcome *outcome, struct wr_buf *out); /* JSON, a line */

#endif
