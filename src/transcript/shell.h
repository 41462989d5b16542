/* shell.h -- what a shell command line does to files, read from its text alone.
 *
 * Nothing is run, expanded or looked up. Quotes, heredocs, pipes, lists, groups, redirections,
 * `cd`, wrappers (sudo, env, timeout) and `bash -lc '..'` are followed; a pipe composes, so
 * `nl -ba f | sed -n '10,20p'` is a read of lines 10 to 20 of f.
 *
 * 1. Effects are in the order they happen. What a pipe or a redirection hides is not among them:
 *    `cat a > b` writes b and shows nothing.
 * 2. A command that is not known is one RUN; built-ins that only speak (echo, test) are none.
 * 3. What is not certain is marked (struct wr_effect) and never guessed: variables, globs, names
 *    that come through xargs or find -exec. Such a path holds the place it comes from, where that
 *    is known.
 * 4. Time and memory grow with the text's length; every depth and count has a cap
 *    (base/limits.h).
 */
#ifndef WR_TRANSCRIPT_SHELL_H
#define WR_TRANSCRIPT_SHELL_H

#include "base/arena.h"
#include "transcript/effect.h"

struct wr_shell {
    struct wr_effect *effects;
    size_t effects_count;
    bool is_complete; /* false: syntax that bash would refuse, or a cap was reached; the effects are
                       * those found, and more may have happened */
};

/* `workdir` is where the command line starts; empty: relative paths stay relative. Effects are in
 * `arena`, their spans there or in the two texts. */
WEIR_MUST_USE weir_status wr_shell_parse(struct wr_shell *shell, struct wr_arena *arena,
                                         weir_span command, weir_span workdir);

#endif
