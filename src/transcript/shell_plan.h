/* shell_plan.h -- what one simple command means: which of its words are files, and what it does to
 * them.
 *
 * Pure: a plan is made of the command's words alone. shell.c puts plans together into effects,
 * because only there the directory, the pipe and the redirections are known.
 */
#ifndef WR_TRANSCRIPT_SHELL_PLAN_H
#define WR_TRANSCRIPT_SHELL_PLAN_H

#include "base/limits.h"
#include "base/words.h"
#include "transcript/effect.h"
#include "transcript/shell_lex.h"

enum wr_shell_plan_kind {
    WR_SHELL_PLAN_NOTHING, /* echo, test, sleep: shows no file, changes none */
    WR_SHELL_PLAN_FILES,   /* `effect` on each of `files` */
    WR_SHELL_PLAN_RUN,
    WR_SHELL_PLAN_CD,     /* to files[0]; no file: somewhere unknown */
    WR_SHELL_PLAN_SCRIPT, /* `script` is a command line of its own */
    WR_SHELL_PLAN_PATCH,  /* `script` is a patch; empty: it comes from standard input */
    WR_SHELL_PLAN_EXEC, /* the words from `exec` on are a command that is given each name listed */
    WR_SHELL_PLAN_TEE,  /* passes its input on, and writes `files` */
};

struct wr_shell_plan {
    enum wr_shell_plan_kind kind;
    enum wr_effect_kind effect;
    weir_span program; /* `git show` for a git command */
    struct wr_shell_token *files;
    size_t files_count;
    struct wr_lines ranges[WR_SHELL_RANGES_MAX]; /* of a READ; none: not known */
    size_t ranges_count;
    weir_span query, rev, script;
    weir_span dir; /* the command moves here first (`git -C`); empty: it does not */
    bool dir_literal;
    const struct wr_shell_token *exec;
    size_t exec_count;
    bool exec_lists_files; /* find -exec: the names come from `files`, not from the pipe */
    bool filtered;         /* a READ shows the lines changed or chosen */
    bool from_stdin;       /* with no file it reads the pipe */
    bool here;             /* with no file it means the working directory */
    bool whole_tree;
    bool saves;     /* a RUN that writes `files` besides */
    bool from_root; /* files are named from the repository's root, not from here */
};

/* `words` begins with the program's name; at least one word. They are borrowed by the plan.
 * Wrappers such as sudo, env and timeout are looked through. */
WEIR_MUST_USE weir_status wr_shell_plan(struct wr_shell_plan *plan, struct wr_arena *arena,
                                        const struct wr_shell_token *words, size_t count);

/* --- between the shell_*.c files --- */

/* Walks options and operands as getopt does, permuted. Lists are as in base/words.h. */
struct wr_shell_args {
    const struct wr_shell_token *words;
    size_t count, at;
    const char *shorts; /* letters that take a value, in the same word or the next */
    const char *rests;  /* letters that take the rest of their word, which may be empty */
    const char *longs;  /* a list of names that take the next word where they have no `=` */
    size_t cluster;     /* place within a word of short options; 0: not inside one */
    bool operands_only;
    struct wr_arena *arena;
    weir_status status; /* of what was made in the arena */
};

struct wr_shell_arg {
    char letter;    /* a short option; '#' for digits alone (`-20`); 0: not one */
    weir_span name; /* a long option without its dashes */
    bool is_operand;
    bool has_value;
    struct wr_shell_token word; /* the operand, or the option's value */
};

bool wr_shell_next_arg(struct wr_shell_args *args, struct wr_shell_arg *arg);

/* Whether it is one of these options: letters and long names in one list, "n|lines". */
static inline bool wr_shell_is(const struct wr_shell_arg *arg, const char *options)
{
    return wr_is_any_of(arg->letter ? (weir_span){&arg->letter, 1} : arg->name, options);
}

void wr_shell_plan_file(struct wr_shell_plan *plan, struct wr_shell_token file);
void wr_shell_plan_range(struct wr_shell_plan *plan, int64_t start, int64_t end);

/* Makes it a change of the work tree at unknown places. */
void wr_shell_plan_tree(struct wr_shell_plan *plan);

/* Reads the words of a command whose row does not say all. */
typedef void wr_shell_maker(struct wr_shell_plan *plan, struct wr_shell_args *args);

enum {
    WR_SHELL_FILTERED = 1,   /* shows the lines in another shape */
    WR_SHELL_STDIN = 2,      /* reads the pipe where no file is named */
    WR_SHELL_HERE = 4,       /* means the working directory where no file is named */
    WR_SHELL_NO_FILES = 8,   /* its operands are not files */
    WR_SHELL_SKIPS = 16,     /* its first operand is no file */
    WR_SHELL_REV_FIRST = 32, /* its first operand is a version */
    WR_SHELL_GLOBS = 64,     /* it expands `*` by itself */
    WR_SHELL_TREE = 128,     /* changes the whole tree where no file is named */
    WR_SHELL_RUNS = 256,     /* is a RUN, unless its maker finds more */
    WR_SHELL_EITHER = 512,   /* `only_with` is not needed, but wins over `never_with` */
};

/* What is known of a program, or of a command of git. Its operands are files that have `effect`,
 * but for what the flags and the maker say. */
struct wr_shell_row {
    const char *names;                  /* a list */
    wr_shell_maker *make;               /* NULL: the row says all */
    int effect;                         /* enum wr_effect_kind */
    unsigned flags;                     /* WR_SHELL_* */
    const char *shorts, *rests, *longs; /* options that take a value: as in struct wr_shell_args */
    const char *only_with;              /* it does nothing to files without one of these options */
    const char *never_with; /* or with one of these: a list of options, the last one given counts */
};

void wr_shell_plan_row(struct wr_shell_plan *plan, struct wr_shell_args *args,
                       const struct wr_shell_row *row);

/* shell_slice.c: commands that print lines by number. */
wr_shell_maker wr_shell_plan_head, wr_shell_plan_tail, wr_shell_plan_sed, wr_shell_plan_awk,
    wr_shell_plan_perl, wr_shell_plan_bat;

wr_shell_maker wr_shell_plan_git; /* `git ...`; words[0] is git itself */

#endif
