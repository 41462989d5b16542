/* shell_plan.h -- what one simple command means: which of its words are files, and what it does to
 * them.
 *
 * Pure: a plan is made of the command's words alone. shell.c puts plans together into effects,
 * because only there the directory, the pipe and the redirections are known.
 */
#ifndef WR_TRANSCRIPT_SHELL_PLAN_H
#define WR_TRANSCRIPT_SHELL_PLAN_H

#include "base/limits.h"
#include "base/span.h"
#include "transcript/effect.h"
#include "transcript/lines.h"
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

/* Walks options and operands as getopt does, permuted. */
struct wr_shell_args {
    const struct wr_shell_token *words;
    size_t count, at;
    const char *shorts; /* letters that take a value, in the same word or the next */
    const char *rests;  /* letters that take what is left of their word, be it nothing */
    const char *longs;  /* names that take the next word where they have no `=`, between spaces */
    size_t cluster;     /* place within a word of short options; 0: not inside one */
    bool operands_only;
};

struct wr_shell_arg {
    char letter;    /* a short option; '#' for digits alone (`-20`); 0: not one */
    weir_span name; /* a long option without its dashes */
    bool is_operand;
    bool has_value;
    struct wr_shell_token word; /* the operand, or the option's value */
};

bool wr_shell_next_arg(struct wr_shell_args *args, struct wr_shell_arg *arg);

static inline bool wr_shell_is_long(const struct wr_shell_arg *arg, const char *name)
{
    return arg->name.len && wr_span_is(arg->name, name);
}

/* Whether `names`, separated by spaces, holds `name`. */
bool wr_shell_in_list(const char *names, weir_span name);

/* The last name of a path. */
weir_span wr_shell_last_name(weir_span path);

void wr_shell_plan_file(struct wr_shell_plan *plan, struct wr_shell_token file);
void wr_shell_plan_range(struct wr_shell_plan *plan, int64_t start, int64_t end);

/* Commands that print lines by number. `plan->files` has room for every word. */
void wr_shell_plan_head(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_tail(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_sed(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_awk(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_perl(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_bat(struct wr_shell_plan *plan, struct wr_shell_args *args);

/* Commands that make, move or rewrite files. */
void wr_shell_plan_tee(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_dd(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_patch(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_apply_patch(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_download(struct wr_shell_plan *plan, struct wr_shell_args *args);
void wr_shell_plan_subcommand_formatter(struct wr_shell_plan *plan, struct wr_shell_args *args);
weir_status wr_shell_plan_copy(struct wr_shell_plan *plan, struct wr_arena *arena,
                               struct wr_shell_args *args);

/* False where the program is no formatter. */
bool wr_shell_plan_formatter(struct wr_shell_plan *plan, struct wr_shell_args *args);

/* `git ...`; words[0] is git itself. */
void wr_shell_plan_git(struct wr_shell_plan *plan, struct wr_shell_args *args);

#endif
