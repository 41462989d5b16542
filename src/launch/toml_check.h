/* toml_check.h -- whether a text looks like TOML, and the few facts of Codex's that matter here.
 *
 * It is tolerant: what is refused is no TOML for certain (a line that is neither a section nor a
 * key with a value, a text or list that does not end). What it lets pass may still be wrong.
 */
#ifndef WR_LAUNCH_TOML_CHECK_H
#define WR_LAUNCH_TOML_CHECK_H

#include <stdbool.h>

#include "weir/span.h"

struct wr_toml_facts {
    size_t wrong_line;  /* from 1; 0: none */
    weir_span provider; /* of model_provider; empty: none, or one that is built in */
    bool has_provider;  /* there is a section for it */
    bool has_mcp_weir;  /* mcp_servers.weir is there */
};

void wr_toml_check(weir_span text, struct wr_toml_facts *facts);

#endif
