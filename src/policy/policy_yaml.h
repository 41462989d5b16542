/* policy_yaml.h -- policies that users write, in YAML (docs/policies.md).
 *
 *   policies:
 *     mine:
 *       what: cap everything, but let skills be
 *       like: layers                      # values a stage below leaves out are those of `layers`
 *       stages:
 *         - {stage: cap, max_tokens: 4000, keep: both, tools: {Bash: {max_tokens: 2000}, Skill:
 * exact}}
 *
 * 1. What is listed is what runs, in that order. `like` alone takes the other policy's stages.
 * 2. All of a text is right, or nothing of it is loaded and the error names line and column.
 * 3. A set of policies does not change; it may be used by many threads at once.
 */
#ifndef WR_POLICY_POLICY_YAML_H
#define WR_POLICY_POLICY_YAML_H

#include "base/buf.h"
#include "policy/policy.h"

struct wr_policies;

/* The presets, and what `yaml` (may be empty) adds to them. Nothing of `yaml` is kept. WEIR_SYNTAX:
 * it is no YAML; WEIR_INVALID: it says something else than policies; WEIR_LIMIT: too much of it. */
WEIR_MUST_USE weir_status wr_policies_new(struct wr_policies **policies, weir_span yaml,
                                          struct weir_err *err);
/* The same for data/policies.yaml itself, which may also say `ladder: [NAME, ...]`, of policies
 * above it. The build reads it so; who uses presets has them already (presets.h). */
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
