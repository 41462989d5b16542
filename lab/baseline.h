/* baseline.h -- how other systems shorten a session: models of them, to compare with.
 *
 * A baseline says what each segment of a request reads in its prompt. These are our models of what
 * others do, from what they publish (docs/evidence.md); they know no handles, so what they take out
 * and an answer uses is lost. Those that a policy of ours can express (`policy`, data/
 * baselines.yaml) are run by the engine like any policy, and have nothing here but their name; nor
 * has the clairvoyant, which needs the whole session (lab/floor.h).
 */
#ifndef WR_LAB_BASELINE_H
#define WR_LAB_BASELINE_H

#include "policy/fold.h"
#include "lab/money.h"
#include "lab/evidence.h"

#define WR_BASELINE_CLAIRVOYANT     "clairvoyant"
#define WR_BASELINE_CLAIRVOYANT_ALL "clairvoyant-all"

struct wr_baseline;

typedef weir_status wr_baseline_fn(struct wr_baseline *baseline,
                                   const struct wr_transcript *original);

struct wr_baseline_def {
    const char *name;
    const char *what;
    const char *policy;      /* NULL: modelled here by `request` */
    wr_baseline_fn *request; /* NULL too: the clairvoyant */
};

uint32_t wr_baseline_count(void);
const struct wr_baseline_def *wr_baseline_at(uint32_t index);
const struct wr_baseline_def *wr_baseline_find(weir_span name); /* NULL: there is none */

struct wr_baseline { /* one session under one baseline; private but for reading */
    const struct wr_baseline_def *def;
    struct wr_arena *arena;
    wr_count_fn *count;
    void *user;
    struct wr_shown *shown; /* of the segments so far */
    uint64_t *tokens;       /* that they take now, framing not included */
    uint32_t segments_count, segments_cap;
    uint32_t base; /* as of struct wr_evidence_at */
    uint64_t total_tokens;
};

/* `arena` is borrowed for as long as the baseline is used. */
void wr_baseline_init(struct wr_baseline *baseline, struct wr_arena *arena,
                      const struct wr_baseline_def *def, wr_count_fn *count, void *user);

/* Gives the next request of the session its form. `tokens` of each segment as it came; `view` lives
 * until the next request. Only for baselines without a policy. */
WEIR_MUST_USE weir_status wr_baseline_request(struct wr_baseline *baseline,
                                              const struct wr_transcript *original,
                                              const struct wr_evidence_at *at,
                                              const uint64_t *tokens,
                                              struct wr_evidence_view *view);

/* Puts the request's forms into its blocks, which are the original's until then. */
void wr_baseline_blocks(const struct wr_baseline *baseline, const uint32_t *overheads,
                        struct wr_cache_block *blocks);

#endif
