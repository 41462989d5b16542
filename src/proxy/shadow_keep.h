/* shadow_keep.h -- what shadow decides of a session's newest request, kept for people to look at.
 *
 * Three files in a folder that the user named, with a number for each session and model:
 * N.came.json and N.made.json, which `weir diff` compares, and N.report.json, which `weir why`
 * reads. They hold what was said, so they are readable for their owner alone; without --keep-shadow
 * there are none.
 */
#ifndef WR_PROXY_SHADOW_KEEP_H
#define WR_PROXY_SHADOW_KEEP_H

#include "record/record.h"

/* Each file is replaced whole, or stays as it was: what cannot be written is no failure. */
void wr_shadow_keep(const char *dir, const struct wr_record *record, weir_span came,
                    weir_span made);

/* A recall tool that was only imagined for the decision is no part of what came. */
void wr_shadow_forget_tool(struct wr_record *record);

#endif
