/* presets.h -- the presets of data/policies.yaml, as a constant table.
 *
 * tools/presets-table.c writes it when Weir is built (build/src/policy/presets.c), with the reader
 * that reads users' policies, so that a preset is there without an engine, memory or a failure.
 */
#ifndef WR_POLICY_PRESETS_H
#define WR_POLICY_PRESETS_H

#include "policy/policy.h"

extern const struct wr_policy wr_presets[];
extern const uint32_t wr_presets_count;

/* Names of presets, from what takes out most to what takes out nothing; NULL behind the last. */
extern const char *const wr_presets_ladder[];

#endif
