/* path.h -- paths as agents write them: joined, normalised and compared by their names alone.
 *
 * Nothing is looked up: links, case folding and the user's home are not known here. `~` at the
 * front stands for a directory whose place is unknown.
 */
#ifndef WR_TRANSCRIPT_PATH_H
#define WR_TRANSCRIPT_PATH_H

#include <stdbool.h>

#include "base/arena.h"
#include "transcript/tool.h"

enum wr_path_relation {
    WR_PATH_DIFFERENT,
    WR_PATH_MAYBE, /* they may name one file; more cannot be said */
    WR_PATH_SAME,
};

/* Begins with `/`, `~`, a drive letter (`C:\`, `C:/`) or a scheme (`file://`): joining leaves it as
 * it is. */
bool wr_path_is_absolute(weir_span path);

/* `path` seen from `dir`, without `.`, empty names, and `..` where a name before it can be dropped.
 * A relative path stays relative where `dir` is empty. Borrowed from `path` where nothing had to be
 * changed, else in `arena`; NULL ptr: out of memory. The empty path is `dir`. */
weir_span wr_path_join(struct wr_arena *arena, weir_span dir, weir_span path);

/* Compares two paths. A relative path is read from `cwd` where that is given (an absolute
 * directory). Where it is empty, a relative path and another are MAYBE the same when the names of
 * the shorter are the last names of the longer, and DIFFERENT otherwise; so are `~/x` and
 * `/home/me/x`. Paths whose last WR_PATH_PARTS_MAX names agree and that have more are MAYBE the
 * same. Never allocates. */
enum wr_path_relation wr_path_compare(weir_span a, weir_span b, weir_span cwd);

/* ---- instructions ----
 *
 * Files in which people tell agents how to work. What was read from them must be
 * obeyed long afterwards, so it stays whole (law L5).
 */

/* Whether a path names a file of instructions: one of the names that agents look for, spelled as
 * they spell them (AGENTS.md, CLAUDE.md, SKILL.md, .cursor/rules/x.mdc, ...). */
bool wr_path_is_instructions(weir_span path);

/* Whether what a call shows are instructions: a skill, or such a file read as it stands. Searching
 * one, filtering it, or changing it shows none. */
bool wr_tool_shows_instructions(const struct wr_tool_handles *handles);

#endif
