/* engine.h -- the inside of the public engine and its requests, for those who build on them. */
#ifndef WR_ENGINE_ENGINE_H
#define WR_ENGINE_ENGINE_H

#include "engine/plan.h"
#include "weir/weir.h"

struct wr_odds;
struct wr_policies;
struct wr_projection;
struct wr_record;

/* A body that was written. It lives as long as its request, whatever is written after it. */
struct wr_written {
    struct wr_written *older;
    struct wr_buf body;
};

struct weir_request {
    struct wr_arena arena; /* owns everything below */
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_plan plan;
    weir_range *ranges; /* of all parts, segment after segment */
    uint32_t *ranges_start;
    struct weir_engine *engine;       /* whose memo its handles are in; NULL: they are its own */
    struct wr_written *written;       /* owned list; the items are in the arena */
    struct wr_projection *projection; /* of the engine that projected it; NULL: none did */
};

/* An empty buffer for a body, which lives as long as the request; NULL when out of memory. */
struct wr_buf *wr_request_output(struct weir_request *request);

/* Moves the buffer that holds `body`, which was written, out of the request: from now on it is the
 * caller's. False: the request has no such, and nothing was moved. */
bool wr_request_take_output(struct weir_request *request, weir_span body, struct wr_buf *out);

/* What an engine counts with and what it knows of models; both live as long as the engine, the
 * models until weir_engine_load_models(). Whoever uses the meter says first how it is to count. */
struct wr_meter *wr_engine_meter(struct weir_engine *engine);
const struct wr_models *wr_engine_models(const struct weir_engine *engine);

/* Whether it holds signed thinking, and its model binds that to what stands before. */
bool wr_engine_binds(const struct weir_engine *engine, const struct weir_request *request);

/* Whether an exchange of the proxy's own recall, of so many bytes, is cheaper left out of this
 * request and all that follow (policy/worth.h). Where thinking is bound to it, it stays. */
bool wr_engine_leaves(const struct weir_engine *engine, const struct weir_request *request,
                      size_t exchange_bytes);

/* As weir_engine_project(), and fills in the engine's part of `record`, which was zeroed, instead
 * of writing the report. Its lists live as long as the request. */
WEIR_MUST_USE weir_status wr_engine_project(struct weir_engine *engine,
                                            struct weir_request *request,
                                            const struct weir_project_options *options,
                                            struct wr_record *record,
                                            struct weir_projected *projected, struct weir_err *err);

/* What would become of the session that this request, which was projected, belongs to: as of
 * engine/steer.h. For when the request has left. */
WEIR_MUST_USE weir_status wr_engine_foretell(struct weir_request *request, struct wr_buf *out);

/* Replaces the policies that were loaded; they are the engine's from now on. */
void wr_engine_take_policies(struct weir_engine *engine, struct wr_policies *policies);

/* The same for a text that was read again, `number` being how often it was read before; what is not
 * newer than the engine's changes nothing, nor does what there is no memory for. What was loaded
 * before stays: a session keeps the policy that it was last sent under, as that was then, until
 * WR_POLICIES_OLDER_MAX others came. */
void wr_engine_renew_policies(struct weir_engine *engine, uint32_t number, weir_span yaml);

/* Other odds than those of data/odds.tsv, before the first request; copied. For the laboratory. */
void wr_engine_use_odds(struct weir_engine *engine, const struct wr_odds *odds);

#endif
