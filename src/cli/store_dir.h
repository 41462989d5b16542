/* store_dir.h -- where the user's store is, and opening it with errors said the user's way. */
#ifndef WR_CLI_STORE_DIR_H
#define WR_CLI_STORE_DIR_H

#include "cli/cmd.h"
#include "weir/store.h"

/* The tenant of everything that comes over loopback. */
#define WR_CLI_TENANT WEIR_TENANT_DEFAULT

/* Opens the store in `dir`; NULL: in $XDG_DATA_HOME/weir, or ~/.local/share/weir. NULL where that
 * fails, which is said on stderr. */
struct weir_store *wr_cli_store(const char *command, const char *dir,
                                const struct weir_store_options *options);

/* What to do about it, to be said behind the error: empty, or beginning with "; ". */
const char *wr_cli_store_advice(weir_trouble trouble);

/* Where the store is unless told, with a NUL. False: nowhere, which is said on stderr. */
bool wr_cli_store_path(const char *command, struct wr_buf *path);

#endif
