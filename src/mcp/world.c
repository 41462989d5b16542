#include "mcp/world.h"

#include "base/err.h"
#include "tokens/estimate.h"

void wr_mcp_world_init(struct wr_mcp_world *world, const char *store_dir)
{
    *world = (struct wr_mcp_world){.store_dir = store_dir};
}

void wr_mcp_world_release(struct wr_mcp_world *world)
{
    weir_store_close(world->store);
    wr_meter_free(world->meter);
    wr_models_free(world->models);
    *world = (struct wr_mcp_world){.store_dir = NULL};
}

struct weir_store *wr_mcp_world_store(struct wr_mcp_world *world, weir_trouble *trouble,
                                      struct weir_err *err)
{
    struct weir_store_options options = {.must_exist = true};

    *trouble = WEIR_TROUBLE_MISSING;
    if (!world->store && !world->store_dir)
        (void)wr_fail(err, WEIR_NOTFOUND, 0, "there is no store");
    else if (!world->store &&
             weir_store_open(world->store_dir, &options, &world->store, trouble, err))
        world->store = NULL;
    return world->store;
}

static weir_status get_from_store(struct wr_mcp_world *world, const struct weir_lookup *lookup,
                                  weir_span *text, weir_miss *miss, weir_trouble *trouble,
                                  struct weir_err *err)
{
    struct weir_artifact artifact = {.text = {"", 0}};
    struct weir_store *store = wr_mcp_world_store(world, trouble, err);

    *miss = WEIR_MISS_NONE;
    if (!store)
        return WEIR_IO;
    weir_status status = weir_store_get(store, lookup, &artifact, miss, err);
    *trouble = weir_store_trouble(store);
    *text = artifact.text;
    return status;
}

weir_status wr_mcp_world_get(struct wr_mcp_world *world, const struct weir_lookup *lookup,
                             weir_span *text, weir_miss *miss, weir_trouble *trouble,
                             struct weir_err *err)
{
    bool was_open = world->store != NULL;
    weir_status status = get_from_store(world, lookup, text, miss, trouble, err);

    if (!status || !was_open || !world->store_dir)
        return status;
    weir_store_close(world->store);
    world->store = NULL;
    return get_from_store(world, lookup, text, miss, trouble, err);
}

const struct wr_models *wr_mcp_world_models(struct wr_mcp_world *world)
{
    if (!world->models && wr_models_new(&world->models, NULL, NULL))
        world->models = NULL;
    return world->models;
}

uint64_t wr_mcp_world_count(void *user, weir_span text)
{
    struct wr_mcp_world *world = user;

    if (!world->meter && !wr_meter_new(&world->meter) &&
        wr_meter_use_encoding(world->meter, WR_BPE_O200K_BASE, NULL))
        wr_meter_use_estimator(world->meter, WR_ESTIMATOR_FITTED);
    return world->meter ? wr_meter_count(world->meter, text)
                        : wr_estimate_tokens(WR_ESTIMATOR_FITTED, text);
}
