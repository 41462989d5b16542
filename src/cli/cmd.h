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
#include "cli/options.h"
#include "json/write.h"
#include "weir/weir.h"

enum { WR_EXIT_OK = 0, WR_EXIT_CHECK = 1, WR_EXIT_USAGE = 2 };

/* Each is in the file of its name; commands.c has them in the order of `weir --help`. */
extern const struct wr_command wr_cmd_agent, wr_cmd_compare, wr_cmd_completion, wr_cmd_condense,
    wr_cmd_context, wr_cmd_count, wr_cmd_diff, wr_cmd_doctor, wr_cmd_exact, wr_cmd_hook,
    wr_cmd_inspect, wr_cmd_install, wr_cmd_uninstall, wr_cmd_learn, wr_cmd_mcp, wr_cmd_models,
    wr_cmd_pause, wr_cmd_pin, wr_cmd_plan, wr_cmd_policies, wr_cmd_project, wr_cmd_prompt,
    wr_cmd_recall, wr_cmd_replay, wr_cmd_report, wr_cmd_resume, wr_cmd_rules, wr_cmd_run,
    wr_cmd_serve, wr_cmd_sessions, wr_cmd_simulate, wr_cmd_store, wr_cmd_token, wr_cmd_top,
    wr_cmd_try, wr_cmd_undo, wr_cmd_unpin, wr_cmd_why;

extern const struct wr_command *const wr_commands[]; /* ends with NULL */

/* All that main() does: argv[1] is a command. */
int wr_cli_main(int argc, char **argv);

/* ---- what goes wrong ---- */

/* The command whose name begins each message on stderr; "": none. Borrowed. */
void wr_cli_use_name(const char *command);

/* "weir COMMAND: ..." on stderr; returns WR_EXIT_USAGE so that a command can end with it. */
int wr_cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What `err` says, or where it says nothing what `status` does. */
int wr_cli_fail_status(weir_status status, const struct weir_err *err);

/* What is wrong with a file or with something else: a text that begins with "line " is about the
 * file at `path`, which may be NULL. */
int wr_cli_fail_in(const char *path, const char *text);

/* A failure at a byte of a file: adds byte, line and column, and what to do. */
int wr_cli_fail_at(const char *path, weir_span text, const struct weir_err *err,
                   const char *advice);

/* ---- input and output ---- */

/* Reads a file, or stdin for "-", whole. False: said on stderr. */
bool wr_cli_read(const char *path, struct wr_buf *into);

/* Writes all of `bytes` to stdout, or to a file. False (and said) when that fails. */
bool wr_cli_write(weir_span bytes);
bool wr_cli_write_file(const char *path, weir_span bytes);

/* Checks before long work that the file can be written afterwards, and says so if not. True: it
 * can, or is NULL. */
bool wr_cli_can_write(const char *path);

/* The end of a command: writes `out` to stdout and releases it. Returns `code`, or WR_EXIT_USAGE,
 * with a message, if the buffer has failed or cannot be written. */
int wr_cli_end(struct wr_buf *out, int code);

/* Reads and parses a request; NULL: said on stderr. `body` must outlive it. */
struct weir_request *wr_cli_request(const char *path, const char *dialect, struct wr_buf *body);

/* ---- looks ---- */

/* Whether stdout is a terminal that shows colours (NO_COLOR is obeyed). */
bool wr_cli_colours(void);

/* Where stdout leads, while it is held (cli/plain.h): what is asked whether it is a terminal. */
extern int wr_cli_screen;

/* How wide a line on stdout may be: COLUMNS, else the terminal's, else 80. */
uint32_t wr_cli_columns(void);

/* The same, but where nobody says (a pipe, no COLUMNS) as wide as can be: nothing is cut there. */
uint32_t wr_cli_columns_told(void);

/* wr_cli_end() for what a person reads: lines that are too wide are wrapped. Where nobody says how
 * wide (a pipe, no COLUMNS) they stay, so that a script finds them whole. */
int wr_cli_end_fitted(struct wr_buf *out, int code);

/* A path says most at its end: whole names from there on, as many as fit, or all of it. */
weir_span wr_cli_end_of_path(weir_span path, size_t bytes_max);

#endif
