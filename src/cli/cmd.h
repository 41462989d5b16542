/* cmd.h -- the commands of `weir`, and what they share with the user.
 *
 * Exit 0: done. Exit 1: a check failed. Exit 2: the call or its input is wrong, which is said in
 * one line on stderr (what, where, what to do) with nothing on stdout.
 */
#ifndef WR_CLI_CMD_H
#define WR_CLI_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "weir/weir.h"

enum { WR_EXIT_OK = 0, WR_EXIT_CHECK = 1, WR_EXIT_USAGE = 2 };

/* Each gets its own name as argv[0]. */
int wr_cmd_inspect(int argc, char **argv);
int wr_cmd_project(int argc, char **argv);
int wr_cmd_diff(int argc, char **argv);
int wr_cmd_models(int argc, char **argv);
int wr_cmd_count(int argc, char **argv);
int wr_cmd_policies(int argc, char **argv);
int wr_cmd_prompt(int argc, char **argv);
int wr_cmd_why(int argc, char **argv);
int wr_cmd_condense(int argc, char **argv);
int wr_cmd_recall(int argc, char **argv);
int wr_cmd_store(int argc, char **argv);
int wr_cmd_sessions(int argc, char **argv);
int wr_cmd_context(int argc, char **argv);
int wr_cmd_report(int argc, char **argv);
int wr_cmd_learn(int argc, char **argv);
int wr_cmd_serve(int argc, char **argv);
int wr_cmd_run(int argc, char **argv);
int wr_cmd_doctor(int argc, char **argv);
int wr_cmd_completion(int argc, char **argv);
int wr_cmd_mcp(int argc, char **argv);
int wr_cmd_agent(int argc, char **argv);
int wr_cmd_simulate(int argc, char **argv);
int wr_cmd_replay(int argc, char **argv);

/* ---- options ---- */

enum wr_opt_kind { WR_OPT_FLAG, WR_OPT_TEXT, WR_OPT_LIST };

enum { WR_OPT_LIST_MAX = 64 };

struct wr_opt_list {
    const char *items[WR_OPT_LIST_MAX];
    size_t count;
};

struct wr_opt {
    const char *name; /* without the dashes */
    enum wr_opt_kind kind;
    void *value; /* bool *, const char **, struct wr_opt_list * */
};

/* Reads `--name`, `--name VALUE` and `--name=VALUE` anywhere on the line, up to `--`. What is not
 * an option goes to `rest`. `--help` prints `help` and sets `*done`. False: wrong, said on stderr.
 */
bool wr_opt_parse(int argc, char **argv, const struct wr_opt *options, size_t options_count,
                  const char *help, struct wr_opt_list *rest, bool *done);

/* What is not an option, of which there may be any number; in the place of argv. */
struct wr_opt_words {
    char **items;
    size_t count;
};

/* The same for commands that take more words than a list holds; argv is written to. */
bool wr_opt_parse_words(int argc, char **argv, const struct wr_opt *options, size_t options_count,
                        const char *help, struct wr_opt_words *words, bool *done);

/* ---- completion ---- */

/* Asks for candidates instead of doing the command's work (cmd_completion.c says how). */
#define WR_COMPLETE "--complete"

/* Prints a candidate where it fits what was typed. */
void wr_complete_word(const char *word, const char *what, const char *typed);
void wr_complete_option(const char *command, const struct wr_opt *options, size_t options_count,
                        const char *before, const char *typed);

/* ---- input and output ---- */

/* Reads a file, or stdin for "-", whole. False: said on stderr. */
bool wr_cli_read(const char *command, const char *path, struct wr_buf *into);

/* Writes all of `bytes` to stdout. False (and said) when that fails. */
bool wr_cli_write(const char *command, weir_span bytes);

/* "weir COMMAND: ..." on stderr; returns WR_EXIT_USAGE so that a command can end with it. */
int wr_cli_fail(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a failure at a byte of a file: adds byte, line and column, and what to do. */
int wr_cli_fail_at(const char *command, const char *path, weir_span text,
                   const struct weir_err *err, const char *advice);

/* Reads and parses a request; NULL: said on stderr. `body` must outlive it. */
struct weir_request *wr_cli_request(const char *command, const char *path, const char *dialect,
                                    struct wr_buf *body);

/* ---- looks ---- */

/* Whether stdout is a terminal that shows colours (NO_COLOR is obeyed). */
bool wr_cli_colours(void);

/* A number with thousands separated, in one of a few static buffers: good until the fourth call
 * after. */
const char *wr_cli_number(uint64_t number);

/* One line of at most `width` columns that shows how `text` begins; control bytes become spaces. */
void wr_cli_excerpt(struct wr_buf *out, weir_span text, size_t width);

#endif
