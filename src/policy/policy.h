/* policy.h -- a policy is data: an ordered list of stages with parameters.
 *
 * A stage is code with a name (policy/stage.h); what it may be told is in its definition, so
 * that the command line, YAML and the docs speak of the same parameters. The presets are in
 * data/policies.yaml.
 */
#ifndef WR_POLICY_POLICY_H
#define WR_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "weir/span.h"
#include "weir/status.h"

struct wr_fold;
struct wr_stage;

/* What a stage does with a segment that has just arrived. */
typedef weir_status wr_stage_arrive_fn(struct wr_fold *fold, const struct wr_stage *stage,
                                       uint32_t segment);

/* What a stage does once all that is new in a request has arrived: `turn` works on that, at any
 * request; `request` then works on what is older, where a step may be taken. */
typedef weir_status wr_stage_request_fn(struct wr_fold *fold, const struct wr_stage *stage);

/* The prompt's room, for whoever foretells what a stage will do. 0: not known. */
struct wr_stage_room {
    uint64_t window_tokens; /* all of it */
    uint64_t usable_tokens; /* less what the answer may take */
};

/* The size of the prompt at which a stage acts; 0: it is not bound to one, or the window is not
 * known. `share_bp` gets it as a share, in basis points, where it is one. */
typedef uint64_t wr_stage_at_fn(const struct wr_stage *stage, const struct wr_stage_room *room,
                                uint32_t *share_bp);

struct wr_param_def {
    const char *name;
    int64_t value; /* the default */
    int64_t min, max;
    const char *const
        *words; /* of a parameter whose values are words: NULL-terminated, by number */
    const char *what;
};

/* What a stage's work is for whoever could do it elsewhere (src/session/settings.h). */
enum wr_stage_work {
    WR_WORK_OTHER,
    WR_WORK_SHORTENS, /* older results become short */
    WR_WORK_HISTORY,  /* history is kept within a budget */
    WR_WORK_SUMMARY,  /* the middle becomes a summary */
};

struct wr_stage_def {
    const char *name;
    const char *what;
    wr_stage_arrive_fn *arrive;   /* NULL: nothing */
    wr_stage_request_fn *turn;    /* NULL: nothing */
    wr_stage_request_fn *request; /* NULL: nothing */
    wr_stage_request_fn *unbar;   /* before all of them, where the prompt would be refused and
                                   * thinking bars a step; NULL: nothing */
    const char *acts;        /* when it acts, beside a size: "on arrival"; NULL: by size alone */
    wr_stage_at_fn *acts_at; /* NULL: at any size */
    enum wr_stage_work work;
    bool counts_cost; /* it counts what its steps cost, so what stands before one is to be read */
    struct wr_param_def params[WR_STAGE_PARAMS_MAX];
    uint32_t params_count;
    uint32_t window_tokens; /* what its document takes a window for that nobody knows; 0: nothing */
    bool takes_tools;       /* it works on single calls or results, so tools can have rules */
    uint32_t tool_params;   /* bit i: params[i] may differ by tool */
};

/* What a stage is told of one tool: to leave it alone, or other values of some parameters. The name
 * is a tool's whole name, or the last part of one that is spelt with a server before it
 * (`mcp__fs__read_file`, `fs.read_file`, `fs/read_file`). */
struct wr_tool_rule {
    const char *tool;
    bool is_exact;
    uint32_t set; /* bit i: params[i] holds for this tool */
    int64_t params[WR_STAGE_PARAMS_MAX];
};

struct wr_stage {
    const struct wr_stage_def *def;
    int64_t params[WR_STAGE_PARAMS_MAX];
    const struct wr_tool_rule *tools; /* borrowed */
    uint32_t tools_count;
};

/* When a stage acts: at a size, at what `words` say, or at either. */
struct wr_stage_when {
    const char *words;  /* NULL: at a size alone */
    uint64_t at_tokens; /* 0: at no size */
    uint32_t share_bp;  /* the same as a share of the room or window; 0: it is none */
};

struct wr_stage_when wr_stage_when(const struct wr_stage *stage, const struct wr_stage_room *room);

struct wr_policy {
    const char *name;
    const char *alias; /* another name it is found by; NULL: none */
    const char *what;
    struct wr_stage stages[WR_POLICY_STAGES_MAX];
    uint32_t stages_count;
};

/* The preset called `name`, or NULL. */
const struct wr_policy *wr_policy_find(weir_span name);
/* The preset that takes out less than the policy `name`, by the ladder of data/policies.yaml; from
 * a policy that is not on it its last. NULL: `name` is that. */
const char *wr_policy_tighter(weir_span name);

uint32_t wr_policy_count(void);
const struct wr_policy *wr_policy_at(uint32_t index);

uint32_t wr_stage_def_count(void);
const struct wr_stage_def *wr_stage_def_at(uint32_t index);
const struct wr_stage_def *wr_stage_def_find(weir_span name); /* NULL: there is none */

/* The window to assume of a model that nobody knows: what the document of a stage says, else
 * WR_FALLBACK_TOKENS. */
uint32_t wr_policy_unknown_window(const struct wr_policy *policy);

/* The rule for a tool, or NULL. One for the whole name goes before one for its last part. */
const struct wr_tool_rule *wr_stage_rule(const struct wr_stage *stage, weir_span tool);

/* What stands behind the last `__`, '.' or '/' of a tool's name: the name without its server. */
weir_span wr_tool_last_part(weir_span name);

/* Whether the stage leaves this tool alone. */
bool wr_stage_exempts(const struct wr_stage *stage, weir_span tool);

/* The value of a parameter for this tool. */
int64_t wr_stage_param(const struct wr_stage *stage, weir_span tool, uint32_t index);

/* Whether two policies do the same: the same stages, values and rules, in the same order. Their
 * names and descriptions are not compared. */
bool wr_policy_equal(const struct wr_policy *a, const struct wr_policy *b);

/* Equal for equal policies, in any process. */
uint64_t wr_policy_hash(const struct wr_policy *policy);

/* The presets of data/policies.yaml. tools/presets-table.c writes them as a constant table when
 * Weir is built (build/src/policy/presets.c), with the reader that reads users' policies, so that a
 * preset is there without an engine, memory or a failure. */
extern const struct wr_policy wr_presets[];
extern const uint32_t wr_presets_count;

/* Names of presets, from what takes out most to what takes out nothing; NULL behind the last. */
extern const char *const wr_presets_ladder[];

/* ---- policies that users write, in YAML (docs/policies.md) ---- */

/*   policies:
 *     mine:
 *       what: cap everything, but let skills be
 *       like: layers                      # values a stage below leaves out are those of `layers`
 *       stages:
 *         - {stage: cap, max_tokens: 4000, keep: both, tools: {Bash: {max_tokens: 2000}, Skill:
 * exact}}
 *
 * 1. What is listed is what runs, in that order. `like` alone takes the other policy's stages.
 * 2. All of a text is right, or nothing of it is loaded and the error names line and column.
 * 3. A set of policies does not change; it may be used by many threads at once. */
struct wr_policies;

/* The presets, and what `yaml` (may be empty) adds to them. Nothing of `yaml` is kept. WEIR_SYNTAX:
 * it is no YAML; WEIR_INVALID: it says something else than policies; WEIR_LIMIT: too much of it. */
WEIR_MUST_USE weir_status wr_policies_new(struct wr_policies **policies, weir_span yaml,
                                          struct weir_err *err);
/* The same for data/policies.yaml itself, which may also say `ladder: [NAME, ...]`, of policies
 * above it. The build reads it so; who uses presets has them already (wr_presets). */
WEIR_MUST_USE weir_status wr_policies_new_presets(struct wr_policies **policies, weir_span yaml,
                                                  struct weir_err *err);
void wr_policies_free(struct wr_policies *policies); /* NULL is fine */

/* Adds a copy; what its stages' rules for tools point at must live as long. It goes before another
 * of its name. */
WEIR_MUST_USE weir_status wr_policies_add(struct wr_policies *policies,
                                          const struct wr_policy *policy);

/* The presets come first. */
uint32_t wr_policies_count(const struct wr_policies *policies);
const struct wr_policy *wr_policies_at(const struct wr_policies *policies, uint32_t index);

/* A name of `ladder`; NULL behind the last. */
const char *wr_policies_rung(const struct wr_policies *policies, uint32_t index);

/* By name, or a preset's alias; NULL: there is none. */
const struct wr_policy *wr_policies_find(const struct wr_policies *policies, weir_span name);

/* Appends `policies:` and one entry that says all of `policy`, under `name`: what it loads back to
 * is equal. Presets need another name, because theirs are taken. */
void wr_policy_yaml_begin(struct wr_buf *out);
void wr_policy_yaml_write(struct wr_buf *out, const struct wr_policy *policy, const char *name);

#endif
