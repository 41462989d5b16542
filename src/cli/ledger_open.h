/* ledger_open.h -- what the commands that read the ledger share: opening it, models, money. */
#ifndef WR_CLI_LEDGER_OPEN_H
#define WR_CLI_LEDGER_OPEN_H

#include "cli/cmd.h"
#include "models/registry.h"
#include "store/ledger.h"

/* The ledger of the store in `dir` (NULL: the user's own), which must be there. NULL: said. */
struct wr_ledger *wr_cli_ledger(const char *command, const char *dir);

/* The registry, with the user's overrides laid over it where `config` names a file. NULL: said. */
struct wr_models *wr_cli_models(const char *command, const char *config);

/* Appends "$1.23", with as many decimals as say something; a negative one begins with '-'. */
void wr_cli_put_money(struct wr_buf *out, int64_t micro_usd);

/* Appends "3 min", "2 h", "5 days": how long ago that was. */
void wr_cli_put_ago(struct wr_buf *out, int64_t time_ms);

/* A moment: seconds since 1970, or how long ago, as "90m", "24h", "7d". False: said. */
bool wr_cli_since(const char *command, const char *text, int64_t *since_ms);

#endif
