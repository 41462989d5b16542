/* stale.h -- which results are out of date because a later call changed the file they show, and
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
#ifndef WR_TRANSCRIPT_STALE_H
#define WR_TRANSCRIPT_STALE_H

#include "transcript/tool.h"

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
