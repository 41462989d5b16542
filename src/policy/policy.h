/* policy.h -- a policy is data: an ordered list of stages with parameters.
 *
 * A stage is code with a name (src/policy/stage_*.c); what it may be told is in its definition, so
 * that the command line, YAML and the docs speak of the same parameters. Presets are rows of a
 * table.
 */
#ifndef WR_POLICY_POLICY_H
#define WR_POLICY_POLICY_H

#include <stdbool.h>

#include "base/limits.h"
#include "weir/span.h"
#include "weir/status.h"

struct wr_fold;
struct wr_stage;

/* What a stage does with a segment that has just arrived. */
typedef weir_status wr_stage_arrive_fn(struct wr_fold *fold, const struct wr_stage *stage,
                                       uint32_t segment);

/* What a stage does at a request, when all that is new in it has its form. */
typedef weir_status wr_stage_request_fn(struct wr_fold *fold, const struct wr_stage *stage);

struct wr_param_def {
    const char *name;
    int64_t value; /* the default */
    int64_t min, max;
    const char *const
        *words; /* of a parameter whose values are words: NULL-terminated, by number */
    const char *what;
};

struct wr_stage_def {
    const char *name;
    const char *what;
    wr_stage_arrive_fn *arrive;   /* NULL: nothing */
    wr_stage_request_fn *request; /* NULL: nothing */
    struct wr_param_def params[WR_STAGE_PARAMS_MAX];
    uint32_t params_count;
};

struct wr_stage {
    const struct wr_stage_def *def;
    int64_t params[WR_STAGE_PARAMS_MAX];
    const char *exempt[WR_STAGE_TOOLS_MAX]; /* tools whose results this stage leaves alone */
    uint32_t exempt_count;
};

struct wr_policy {
    const char *name;
    const char *what;
    struct wr_stage stages[WR_POLICY_STAGES_MAX];
    uint32_t stages_count;
};

/* The preset called `name` (or an alias of it), or NULL. */
const struct wr_policy *wr_policy_find(weir_span name);
uint32_t wr_policy_count(void);
const struct wr_policy *wr_policy_at(uint32_t index);

uint32_t wr_stage_def_count(void);
const struct wr_stage_def *wr_stage_def_at(uint32_t index);

bool wr_stage_exempts(const struct wr_stage *stage, weir_span tool);

#endif
