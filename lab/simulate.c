/* Sessions under many policies. A request of the session is read, measured and searched for
 * evidence once; then every lane (lane.h) sends it under its own policy. What a lane may be:
 *
 *   a policy of the engine     those of data/baselines.yaml among them
 *   a model of another system  baseline.h
 *   a rival                    a real proxy behind a port
 *   a clairvoyant              the floor itself, or the lower one that also leaves out the model's
 *                              own words: they need the whole session and are run at its end
 *
 * Where the model binds signed thinking, each lane has a twin whose requests hold none, since
 * thinking bars steps: the difference is what it costs a policy. A log without time stamps is
 * played a second a request, so nothing expires; the report says so. */
#include "lab/simulate.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/embed.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "lab/floor.h"
#include "models/registry.h"
#include "policy/policy.h"

/* A log without time stamps has no pauses. */
enum { STEP_MS = 1000, FIRST_MS = 1000000, WINDOW_TOKENS_UNKNOWN = 200000 };

/* Longer than any cache lives. */
enum { PAUSE_MS = 25 * 60 * 60 * 1000 };

struct wr_simulator {
    struct wr_simulate_options options;
    struct weir_engine *engine;
    struct weir_engine *baselines; /* of those that are policies; NULL: `engine` knows them */
    struct wr_models *models;
    struct wr_meter *meter;
    struct wr_memo *memo;
    struct wr_arena misses_arena;
    struct wr_misses misses;
};

WR_EMBED(wr_baselines_data, "data/baselines.yaml");

static bool is_rival(const struct wr_simulate_options *o, uint32_t lane)
{
    return o->rival && !strcmp(o->policies[lane], o->rival->name);
}

/* The floor that everything is compared with, and the one that may take the model's words too. */
enum floor_kind { FLOOR, FLOOR_ALL, FLOORS };

/* Which of the floors a lane is; FLOORS: none. */
static enum floor_kind floor_of(const struct wr_simulate_options *o, uint32_t lane)
{
    if (!strcmp(o->policies[lane], WR_BASELINE_CLAIRVOYANT))
        return FLOOR;
    return strcmp(o->policies[lane], WR_BASELINE_CLAIRVOYANT_ALL) ? FLOORS : FLOOR_ALL;
}

/* A name in a report means one thing. */
static weir_status check_meanings(const struct wr_simulate_options *o,
                                  const struct wr_policies *policies, struct weir_err *err)
{
    for (uint32_t i = 0; i < wr_policies_count(policies); i++) {
        const char *name = wr_policies_at(policies, i)->name;
        if (wr_baseline_find(wr_span_of(name)))
            return wr_fail(err, WEIR_INVALID, 0,
                           "a baseline is called '%.60s' too: give your policy another name", name);
    }
    weir_span name = o->rival ? wr_span_of(o->rival->name) : (weir_span){"", 0};
    if (o->rival && (wr_baseline_find(name) || wr_policies_find(policies, name)))
        return wr_fail(err, WEIR_INVALID, 0,
                       "a policy or baseline is called '%.60s': give the rival another name",
                       o->rival->name);
    return WEIR_OK;
}

static weir_status fail_name(const struct wr_policies *policies, weir_span name,
                             struct weir_err *err)
{
    struct wr_near near = wr_near_to(name);

    for (uint32_t i = 0; i < wr_policies_count(policies); i++)
        wr_near_offer(&near, wr_policies_at(policies, i)->name, "");
    return wr_fail(err, WEIR_NOTFOUND, 0,
                   "no policy or baseline is called '%.*s'%s `weir policies` lists them",
                   (int)(name.len < 60 ? name.len : 60), name.ptr, near.text);
}

static weir_status check_names(const struct wr_simulate_options *o, struct weir_err *err)
{
    struct wr_policies *policies = NULL;

    if (o->policies_count > WR_SIMULATE_LANES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "%u policies are too many: at most %d at once",
                       o->policies_count, (int)WR_SIMULATE_LANES_MAX);
    weir_status status = wr_policies_new(&policies, o->policies_yaml, err);
    if (!status)
        status = check_meanings(o, policies, err);
    for (uint32_t i = 0; i < o->policies_count && !status; i++) {
        weir_span name = wr_span_of(o->policies[i]);
        if (!is_rival(o, i) && !wr_baseline_find(name) && !wr_policies_find(policies, name))
            status = fail_name(policies, name, err);
    }
    wr_policies_free(policies);
    return status;
}

static weir_status new_engine(struct weir_engine **engine, weir_span yaml, struct weir_err *err)
{
    weir_status status = weir_engine_new(engine, err);
    return status ? status : weir_engine_load_policies(*engine, yaml, err);
}

/* A user's policies take the place of those loaded before them, so baselines then have an engine
 * of their own. */
static weir_status make_engines(struct wr_simulator *s, struct weir_err *err)
{
    weir_span own = s->options.policies_yaml;
    weir_status status =
        new_engine(&s->engine, own.len ? own : WR_EMBEDDED(wr_baselines_data), err);
    if (!status && own.len)
        status = new_engine(&s->baselines, WR_EMBEDDED(wr_baselines_data), err);
    if (!status && s->options.odds)
        wr_engine_use_odds(s->engine, s->options.odds);
    return status;
}

weir_status wr_simulator_new(struct wr_simulator **simulator,
                             const struct wr_simulate_options *options, struct weir_err *err)
{
    *simulator = NULL;
    weir_status status = check_names(options, err);
    if (status)
        return status;
    struct wr_simulator *s = calloc(1, sizeof(*s));
    if (!s)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    s->options = *options;
    wr_arena_init(&s->misses_arena, WR_ARENA_BYTES_MAX);
    status = make_engines(s, err);
    if (!status)
        status = wr_models_new(&s->models, NULL, err);
    if (!status)
        status = wr_meter_new(&s->meter);
    if (!status)
        status = wr_memo_new(&s->memo, WR_MEMO_BYTES_MAX);
    if (status) {
        wr_simulator_free(s);
        return status;
    }
    *simulator = s;
    return WEIR_OK;
}

void wr_simulator_free(struct wr_simulator *s)
{
    if (!s)
        return;
    wr_arena_release(&s->misses_arena);
    wr_memo_free(s->memo);
    wr_meter_free(s->meter);
    wr_models_free(s->models);
    weir_engine_free(s->baselines);
    weir_engine_free(s->engine);
    free(s);
}

const struct wr_misses *wr_simulator_misses(const struct wr_simulator *s)
{
    return &s->misses;
}

/* ---- one session ---- */

struct run {
    struct wr_simulator *simulator;
    const struct wr_session *session;
    const struct wr_model *model;
    uint32_t window_tokens;
    char model_name[WR_STORE_NAME_BYTES_MAX + 1];
    struct wr_lane *lanes;
    struct wr_lane **twins; /* of some lanes: the same without thinking; NULL: none */
    struct wr_arena arena;  /* evidence and floor */
    struct wr_evidence evidence;
    struct wr_floor floors[FLOORS];
    struct wr_lane floor_lanes[FLOORS]; /* the clairvoyants', whether they are asked for or not */
    struct wr_evidence_at *ats;
    uint8_t *kinds; /* by the segments' numbers, for the floors */
    uint32_t kinds_count, kinds_cap;
    int64_t *times_ms;
    int64_t paused_ms; /* by pauses that were put in */
    uint64_t *outputs;
    struct wr_session_body body;
    struct wr_simulated *out;
};

static struct wr_lane_setup setup_of(const struct run *r, uint32_t lane)
{
    struct wr_simulator *s = r->simulator;
    const struct wr_simulate_options *o = &s->options;
    const struct wr_baseline_def *baseline = wr_baseline_find(wr_span_of(o->policies[lane]));
    struct wr_lane_setup setup = {.policy = o->policies[lane],
                                  .baseline = baseline,
                                  .model = r->model,
                                  .model_name = r->model_name,
                                  .window_tokens = r->window_tokens,
                                  .without_recall = o->without_recall,
                                  .places_markers = !baseline && o->places_markers,
                                  .engine = baseline && s->baselines ? s->baselines : s->engine,
                                  .meter = s->meter,
                                  .misses = o->with_misses ? &s->misses : NULL,
                                  .misses_lane = lane};
    if (baseline)
        setup.policy = baseline->policy;
    if (is_rival(o, lane)) {
        setup.rival = o->rival;
        setup.policy = NULL;
        /* Where an API has markers it has placed its own. */
        setup.places_markers = o->places_markers && !wr_api_of(r->session->api)->marker_key;
    }
    setup.with_thinking = setup.policy && r->model->preserved_thinking && r->session->has_thinking;
    return setup;
}

static weir_status open_floors(struct run *r)
{
    struct wr_lane_setup setup = {
        .model = r->model, .model_name = r->model_name, .window_tokens = r->window_tokens};
    weir_status status = WEIR_OK;
    for (int i = 0; i < FLOORS && !status; i++) {
        wr_floor_init(&r->floors[i], &r->arena, wr_meter_count, r->simulator->meter,
                      i == FLOOR_ALL);
        status = wr_lane_init(&r->floor_lanes[i], &setup);
    }
    return status;
}

/* A lane whose steps thinking may bar has a twin without it. */
static weir_status open_lanes(struct run *r)
{
    uint32_t count = r->simulator->options.policies_count;
    r->lanes = calloc(count, sizeof(*r->lanes));
    r->twins = calloc(count, sizeof(*r->twins));
    if (!r->lanes || !r->twins)
        return WEIR_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct wr_lane_setup setup = setup_of(r, i);
        weir_status status = wr_lane_init(&r->lanes[i], &setup);
        if (!status && setup.with_thinking && !setup.baseline && strcmp(setup.policy, "exact")) {
            setup.with_thinking = false;
            setup.misses = NULL;
            r->twins[i] = malloc(sizeof(*r->twins[i]));
            status = r->twins[i] ? wr_lane_init(r->twins[i], &setup) : WEIR_NOMEM;
        }
        if (status)
            return status;
    }
    return WEIR_OK;
}

static void choose_model(struct run *r, const struct wr_simulator *s, weir_span logged)
{
    const char *fallback = s->options.fallback_model;
    weir_span name = s->options.model ? wr_span_of(s->options.model) : logged;

    r->model = wr_models_lookup(s->models, name).model;
    if (r->model->prices.input == WR_PRICE_UNSET && fallback) {
        name = wr_span_of(fallback);
        r->model = wr_models_lookup(s->models, name).model;
        r->out->is_repriced = true;
    }
    if (name.len > WR_STORE_NAME_BYTES_MAX)
        name.len = WR_STORE_NAME_BYTES_MAX;
    memcpy(r->model_name, name.ptr ? name.ptr : "", name.len);
    r->window_tokens = s->options.window_tokens  ? s->options.window_tokens
                       : r->model->window_tokens ? r->model->window_tokens
                                                 : WINDOW_TOKENS_UNKNOWN;
}

static weir_status open_run(struct run *r, struct wr_simulator *s, const struct wr_session *session)
{
    struct wr_session_request request = {.dialect = WR_SESSION_DIALECT,
                                         .model = r->model_name,
                                         .with_tools = s->options.without_recall
                                                           ? WR_SESSION_TOOLS_WITHOUT_RECALL
                                                           : WR_SESSION_TOOLS};

    r->simulator = s;
    r->session = session;
    choose_model(r, s, session->model);
    wr_arena_init(&r->arena, WR_ARENA_BYTES_MAX);
    wr_session_body_init(&r->body, session, &request);
    r->ats = WR_ARENA_ARRAY(&r->arena, struct wr_evidence_at, session->requests_count);
    r->times_ms = WR_ARENA_ARRAY(&r->arena, int64_t, session->requests_count);
    r->outputs = WR_ARENA_ARRAY(&r->arena, uint64_t, session->requests_count);
    weir_status status = r->ats && r->times_ms && r->outputs ? WEIR_OK : wr_arena_status(&r->arena);
    if (!status)
        status = wr_meter_use_model(s->meter, r->model, NULL);
    if (!status)
        status = wr_evidence_init(&r->evidence, &r->arena);
    wr_arena_reset(&s->misses_arena);
    wr_misses_init(&s->misses, &s->misses_arena, s->options.policies_count);
    if (!status)
        status = open_floors(r);
    return status ? status : open_lanes(r);
}

static void close_run(struct run *r)
{
    for (int i = 0; i < FLOORS; i++)
        wr_lane_release(&r->floor_lanes[i]);
    for (uint32_t i = 0; r->lanes && i < r->simulator->options.policies_count; i++) {
        wr_lane_release(&r->lanes[i]);
        if (r->twins && r->twins[i])
            wr_lane_release(r->twins[i]);
        if (r->twins)
            free(r->twins[i]);
    }
    free(r->lanes);
    free(r->twins);
    wr_evidence_release(&r->evidence);
    wr_session_body_release(&r->body);
    wr_arena_release(&r->arena);
}

/* Tokens that the model wrote: its text, and the calls with their arguments. */
static uint64_t output_tokens(struct run *r, const struct wr_json *answer)
{
    return wr_meter_count(r->simulator->meter, wr_json_raw(answer, 0));
}

/* Whether a pause is put in before a request: by chance, but for one session and request always the
 * same. */
static bool is_paused(const struct run *r, uint32_t n)
{
    uint64_t seed = (uint64_t)r->session->messages_count << 32 | n;
    return n && wr_hash64_seeded(r->session->agent, seed) % 10000 < r->simulator->options.cold_bp;
}

static int64_t time_of(struct run *r, const struct wr_session_view *view, uint32_t n)
{
    r->paused_ms += is_paused(r, n) ? PAUSE_MS : 0;
    if (r->session->has_times && view->sent_ms != WR_SESSION_NO_TIME && view->sent_ms > 0)
        return view->sent_ms + r->paused_ms;
    if (n && is_paused(r, n))
        return r->times_ms[n - 1] + PAUSE_MS;
    return n ? r->times_ms[n - 1] + STEP_MS : FIRST_MS;
}

static weir_status note_floor(struct run *r, int floor, const struct wr_lane_request *request,
                              struct wr_arena *arena)
{
    const struct wr_transcript *t = request->original;
    struct wr_cache_block *blocks = WR_ARENA_ARRAY(arena, struct wr_cache_block, t->segments_count);
    if (!blocks)
        return wr_arena_status(arena);
    wr_cache_blocks(t, request->measure->segment_tokens, request->measure->segment_overheads,
                    blocks);
    for (uint32_t i = 0; i < t->segments_count; i++)
        /* less what is sent, at the end */
        r->floor_lanes[floor].result.saved_tokens += blocks[i].tokens;
    return wr_floor_note(&r->floors[floor], t, request->at, blocks,
                         request->measure->segment_overheads, request->found);
}

/* Of nothing that it leaves out is anything used: all evidence is at hand. */
static weir_status count_floor_evidence(struct run *r, int floor,
                                        const struct wr_lane_request *request,
                                        struct wr_arena *arena)
{
    const struct wr_evidence_items *found = request->found;
    struct wr_evidence_judged *judged =
        WR_ARENA_ARRAY(arena, struct wr_evidence_judged, found->count);
    if (!judged)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < found->count; i++)
        judged[i].verdict = WR_EVIDENCE_SUPPORTED;
    wr_evidence_count(&r->floor_lanes[floor].result.evidence, found, judged);
    return WEIR_OK;
}

/* The prompt of request `n` in a lane had this many tokens. */
static void note_point(struct run *r, uint32_t lane, uint64_t n, uint64_t tokens)
{
    uint32_t *point = &r->out->points[lane][n * r->out->points_count / r->session->requests_count];
    if (tokens > *point)
        *point = (uint32_t)tokens;
}

/* Sends to one lane and notes the prompt's size: where recalls made it several, their mean. */
static weir_status send_to(struct run *r, uint32_t lane, const struct wr_lane_request *request)
{
    const struct wr_lane_result *result = &r->lanes[lane].result;
    uint64_t requests = result->requests, tokens = result->prompt_tokens;
    if (floor_of(&r->simulator->options, lane) != FLOORS)
        return WEIR_OK; /* it is run when the session has ended */
    weir_status status = wr_lane_send(&r->lanes[lane], request);

    requests = result->requests - requests;
    tokens = result->prompt_tokens - tokens;
    if (requests)
        note_point(r, lane, (uint64_t)(request->at - r->ats), tokens / requests);
    return status;
}

static weir_status note_kinds(struct run *r, const struct wr_lane_request *request)
{
    uint32_t end = request->at->base + request->at->segments_count;
    for (; r->kinds_count < end; r->kinds_count++) {
        if (!WR_ARENA_ROOM(&r->arena, r->kinds, r->kinds_count, r->kinds_cap, 256))
            return wr_arena_status(&r->arena);
        r->kinds[r->kinds_count] = request->kinds[r->kinds_count - request->at->base];
    }
    return WEIR_OK;
}

static weir_status send_to_lanes(struct run *r, struct wr_lane_request *request,
                                 struct wr_arena *arena)
{
    struct wr_simulator *s = r->simulator;
    weir_status status = note_kinds(r, request);
    for (int i = 0; i < FLOORS && !status; i++) {
        status = note_floor(r, i, request, arena);
        if (!status)
            status = count_floor_evidence(r, i, request, arena);
    }
    if (!status && s->options.with_misses)
        status = wr_misses_note(&s->misses, request->original, request->measure, request->at,
                                request->found);
    for (uint32_t i = 0; i < s->options.policies_count && !status; i++)
        status = send_to(r, i, request);
    for (uint32_t i = 0; i < s->options.policies_count && !status; i++)
        status = r->twins[i] ? wr_lane_send(r->twins[i], request) : WEIR_OK;
    return status;
}

static weir_status run_request(struct run *r, uint32_t n)
{
    struct wr_api_options options = {.dialect = "chat", .memo = r->simulator->memo};
    struct wr_session_view view = wr_session_view(r->session, n);
    struct wr_transcript transcript;
    struct wr_measure measure;
    struct wr_evidence_items found = {0};
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_memo_begin(r->simulator->memo);
    r->times_ms[n] = time_of(r, &view, n);
    r->outputs[n] = output_tokens(r, view.answer);
    weir_span body = wr_session_body_at(&r->body, n);
    weir_status status = wr_session_body_status(&r->body);
    if (!status)
        status = wr_json_parse(&doc, &arena, body, NULL, NULL);
    if (!status)
        status = wr_api_read(&transcript, &arena, &doc, &options, NULL);
    if (!status)
        status = wr_meter_measure(r->simulator->meter, &transcript, &arena, &measure);
    if (!status)
        status = wr_evidence_note(&r->evidence, &transcript, &r->ats[n]);
    if (!status)
        status = wr_evidence_find(&r->evidence, &r->ats[n], view.answer, &arena, &found);
    uint8_t *kinds = WR_ARENA_ARRAY(&arena, uint8_t, status ? 0 : transcript.segments_count);
    if (!status && !kinds)
        status = wr_arena_status(&arena);
    if (!status)
        wr_money_kinds(&transcript, kinds);
    struct wr_lane_request request = {.session = r->session,
                                      .view = &view,
                                      .original = &transcript,
                                      .measure = &measure,
                                      .kinds = kinds,
                                      .evidence = &r->evidence,
                                      .at = &r->ats[n],
                                      .found = &found,
                                      .now_ms = r->times_ms[n],
                                      .output_tokens = r->outputs[n]};
    if (!status)
        status = send_to_lanes(r, &request, &arena);
    wr_arena_release(&arena);
    return status;
}

static weir_status send_floor(struct run *r, int floor, uint32_t n)
{
    struct wr_lane_result *result = &r->floor_lanes[floor].result;
    uint64_t tokens = result->prompt_tokens;
    struct wr_cache_prompt prompt = {.blocks_count = r->ats[n].segments_count,
                                     .output_tokens = r->outputs[n]};
    struct wr_cache_block *blocks = wr_floor_request(&r->floors[floor], &r->ats[n]);
    wr_cache_mark_like_agents(blocks, prompt.blocks_count, WR_MARK_SHORT);
    prompt.blocks = blocks;
    weir_status status =
        wr_lane_pay(&r->floor_lanes[floor], &prompt, r->kinds + r->ats[n].base, r->times_ms[n]);
    tokens = result->prompt_tokens - tokens;
    for (uint32_t i = 0; i < r->simulator->options.policies_count; i++)
        if ((int)floor_of(&r->simulator->options, i) == floor)
            note_point(r, i, n, tokens);
    return status;
}

static weir_status run_floor(struct run *r, int floor)
{
    struct wr_lane_result *result = &r->floor_lanes[floor].result;
    weir_status status = wr_floor_finish(&r->floors[floor]);
    for (uint32_t n = 0; n < r->session->requests_count && !status; n++)
        status = send_floor(r, floor, n);
    result->saved_tokens -=
        result->saved_tokens < result->prompt_tokens ? result->saved_tokens : result->prompt_tokens;
    return status;
}

static weir_status run_floors(struct run *r)
{
    const struct wr_lane_result *floor = &r->floor_lanes[FLOOR].result;
    weir_status status = run_floor(r, FLOOR);
    if (!status)
        status = run_floor(r, FLOOR_ALL);
    r->out->floor_micro_usd = floor->cost_micro_usd;
    r->out->floor_tokens = floor->prompt_tokens;
    return status;
}

static const struct wr_lane_result *result_of(const struct run *r, uint32_t lane, bool is_unbarred)
{
    enum floor_kind floor = floor_of(&r->simulator->options, lane);
    if (floor != FLOORS)
        return &r->floor_lanes[floor].result;
    return is_unbarred && r->twins[lane] ? &r->twins[lane]->result : &r->lanes[lane].result;
}

weir_status wr_simulate_session(struct wr_simulator *simulator, const struct wr_session *session,
                                struct wr_simulated *out)
{
    struct run r = {.out = out};
    memset(out, 0, sizeof(*out));
    out->requests_count = session->requests_count;
    out->points_count = session->requests_count < WR_SIMULATE_POINTS_MAX ? session->requests_count
                                                                         : WR_SIMULATE_POINTS_MAX;
    out->has_times = session->has_times;
    out->first_ms = INT64_MAX;
    out->last_ms = INT64_MIN;
    weir_status status = open_run(&r, simulator, session);
    out->binds_thinking = r.model->preserved_thinking;
    for (uint32_t n = 0; n < session->requests_count && !status; n++)
        status = run_request(&r, n);
    if (!status && session->has_times && session->requests_count) {
        out->first_ms = r.times_ms[0];
        out->last_ms = r.times_ms[session->requests_count - 1];
    }
    if (!status)
        status = run_floors(&r);
    for (uint32_t i = 0; i < simulator->options.policies_count && !status; i++)
        out->lanes[i] = *result_of(&r, i, false);
    for (uint32_t i = 0; i < simulator->options.policies_count && !status; i++)
        out->unbarred[i] = *result_of(&r, i, true);
    close_run(&r);
    return status;
}
