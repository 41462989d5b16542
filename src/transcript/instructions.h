/* instructions.h -- files in which people tell agents how to work. What was read from them must be
 * obeyed long afterwards, so it stays whole (law L5). */
#ifndef WR_TRANSCRIPT_INSTRUCTIONS_H
#define WR_TRANSCRIPT_INSTRUCTIONS_H

#include "transcript/tool.h"

/* Whether a path names a file of instructions: one of the names that agents look for, spelled as
 * they spell them (AGENTS.md, CLAUDE.md, SKILL.md, .cursor/rules/x.mdc, ...). */
bool wr_path_is_instructions(weir_span path);

/* Whether what a call shows are instructions: a skill, or such a file read as it stands. Searching
 * one, filtering it, or changing it shows none. */
bool wr_tool_shows_instructions(const struct wr_tool_handles *handles);

#endif
