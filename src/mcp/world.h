/* world.h -- what the tools look at: the store, which a server may be writing, and a meter.
 *
 * The store is opened when it is first needed and again when it does not know a handle: a server
 * may have made it, or made it anew, since. Used by one thread at a time.
 */
#ifndef WR_MCP_WORLD_H
#define WR_MCP_WORLD_H

#include "models/registry.h"
#include "policy/meter.h"
#include "weir/recall.h"

struct wr_mcp_world {
    const char *store_dir;    /* borrowed; NULL: there is none */
    struct weir_store *store; /* owned; NULL: not open */
    struct wr_meter *meter;   /* owned; NULL: not needed yet */
    struct wr_models *models; /* the same */
};

void wr_mcp_world_init(struct wr_mcp_world *world, const char *store_dir);
void wr_mcp_world_release(struct wr_mcp_world *world);

/* The store, opened if it is not; NULL: `err` and `trouble` say why not. */
struct weir_store *wr_mcp_world_store(struct wr_mcp_world *world, weir_trouble *trouble,
                                      struct weir_err *err);

/* The text behind a handle; it lives until the next call. */
WEIR_MUST_USE weir_status wr_mcp_world_get(struct wr_mcp_world *world,
                                           const struct weir_lookup *lookup, weir_span *text,
                                           weir_miss *miss, weir_trouble *trouble,
                                           struct weir_err *err);

/* What is known of models; NULL: out of memory. */
const struct wr_models *wr_mcp_world_models(struct wr_mcp_world *world);

/* Tokens of `text` as o200k_base has them; a weir_tokens_fn with the world as `user`. */
uint64_t wr_mcp_world_count(void *world, weir_span text);

#endif
