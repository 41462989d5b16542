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

/* ---- out of date ----
 *
 * Which results are out of date because a later call changed the file they show, and
 * which polls of a process a later poll replaces.
 *
 * 1. A read, or a search of one named file, is STALE when a later call writes that very path. It
 *    is MAYBE stale when a later call may have: it writes a directory the file is in, a path that
 *    may be the same, a path that is not literal, or files it does not name (`git checkout
 *    main`). An absolute and a relative path may be the same where one ends in the other and
 *    `cwd` is not known; two relative ones are the same where they are equal.
 * 2. Searches of directories and listings are never stale: they say what was so at the time.
 * 3. What a version control system shows of another version is never stale.
 * 4. Writes count in the order they happen, also within one command line: `sed -i .. f && cat f`
 *    shows the new text.
 * 5. A program that was run may have written anything; that is not counted.
 */

enum wr_staleness { WR_FRESH, WR_MAYBE_STALE, WR_STALE };

struct wr_stale {
    enum wr_staleness staleness;
    bool is_superseded; /* a poll: a later one of the same process exists */
    uint32_t by; /* index of the first call that made it so or replaces it; UINT32_MAX: none */
    uint32_t touched_by; /* of the first that may have changed what it shows, however surely */
};

/* `handles[i]` are those of the i-th call (NULL: no call); `stale[i]` is filled. `cwd` as in
 * path.h, may be empty. Time grows with the bytes of the paths; memory for the tables is in
 * `arena`. */
WEIR_MUST_USE weir_status wr_stale_mark(struct wr_stale *stale, struct wr_arena *arena,
                                        const struct wr_tool_handles *const *handles, size_t count,
                                        weir_span cwd);

#endif
