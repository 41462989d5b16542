/* shell_lex.h -- a command line cut into words, operators and redirections, as a POSIX shell or
 * bash would cut it, without expanding or running anything.
 *
 * 1. A word's text has its quotes and escapes removed. What the shell would expand (`$x`, `$(..)`,
 *    globs, braces) stays as written and makes the word not literal.
 * 2. One pass, no recursion: substitutions are skipped with an explicit stack of at most
 *    WR_SHELL_GROUPS_MAX; no more than WR_SHELL_TOKENS_MAX tokens are made.
 * 3. Any bytes are accepted. What bash would refuse (an open quote) sets `incomplete`.
 */
#ifndef WR_TRANSCRIPT_SHELL_LEX_H
#define WR_TRANSCRIPT_SHELL_LEX_H

#include <stdbool.h>

#include "base/arena.h"

enum wr_shell_token_kind {
    WR_SHELL_WORD,
    WR_SHELL_REDIRECT,
    WR_SHELL_PIPE,     /* | |& */
    WR_SHELL_AND,      /* && */
    WR_SHELL_OR,       /* || */
    WR_SHELL_END,      /* ; & newline */
    WR_SHELL_CASE_END, /* ;; ;& ;;& */
    WR_SHELL_OPEN,     /* ( */
    WR_SHELL_CLOSE,    /* ) */
};

enum wr_shell_redirect {
    WR_SHELL_IN,       /* <  : `text` is the file */
    WR_SHELL_OUT,      /* > >| &> : the file */
    WR_SHELL_APPEND,   /* >> &>> */
    WR_SHELL_HEREDOC,  /* << <<- : `text` is the body */
    WR_SHELL_HERETEXT, /* <<< : the text */
    WR_SHELL_DUP,      /* >&1 <&0 2>&1 */
};

/* Small: a command line may have many. */
struct wr_shell_token {
    weir_span text;
    uint8_t kind;     /* enum wr_shell_token_kind */
    uint8_t redirect; /* enum wr_shell_redirect */
    bool literal;     /* of a word or a redirection's target: nothing in it is expanded */
    bool quoted;      /* some of it was quoted: never a keyword */
    bool is_written;  /* WR_SHELL_IN spelled <>: the file is opened for writing too */
    int16_t fd;       /* that is redirected; -1 for both output streams (`&>`) */
};

struct wr_shell_tokens {
    struct wr_shell_token *items;
    size_t count;
    bool incomplete;
    bool is_bash; /* it has what other shells read otherwise: $'..', $"..", $[..], ((..)) */
};

/* Tokens are in `arena`; their texts there or in `text`, which must outlive them. */
WEIR_MUST_USE weir_status wr_shell_lex(struct wr_shell_tokens *tokens, struct wr_arena *arena,
                                       weir_span text);

#endif
