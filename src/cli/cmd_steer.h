/* cmd_steer.h -- what the commands that say something of a session share. */
#ifndef WR_CLI_CMD_STEER_H
#define WR_CLI_CMD_STEER_H

#include "ledger/steer.h"

enum wr_cli_show { WR_SHOW_DEED, WR_SHOW_PLAN, WR_SHOW_JSON };

/* Says it, or shows what there is (WR_STEER_SHOW), asking about the price where there is one.
 * Returns the exit status. */
int wr_cli_steer(const char *store_dir, struct wr_steer_request *request, enum wr_cli_show show);

/* Prints the plan of a session (cmd_plan.c); returns the exit status. */
int wr_cli_print_plan(const struct wr_steering *steering, struct wr_arena *arena);

#endif
