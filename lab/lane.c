/* One policy plays one session. For each request of the log:
 *
 *   extend_body    the messages that are new go behind the conversation of this lane
 *   begin_sent     the engine (or a rival) makes of it what would be sent, which is read again from
 *                  its bytes: cost and evidence are of what is sent, not of what the engine says
 *   judge          is what the recorded answer used at hand, a recall away, or lost?
 *   pay            the prompt meets the cache of the provider (models/cache.h)
 *   add_recalls    if a recall is needed it happens: a call and its lines join the conversation,
 *                  and the request is sent and paid for again
 *
 * Conversations are Chat's in every lane, whatever the agent spoke, so that framing costs the same
 * for all. Chat carries no cache markers: they are put on the blocks where agents put them
 * (money.c), and mark_step() adds the one that the engine would add before a step. */
#include "lab/lane.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "lab/recall.h"

enum { RECALL_CALL_TOKENS = 60, TRACE_CAP_FIRST = 256 };

/* Stands for thinking whose text is not known. It is a message of its own, so that it can leave. */
static const char thinking[] = "{\"role\":\"assistant\",\"content\":null,\"thinking_blocks\":["
                               "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"-\"}]},";

weir_status wr_lane_init(struct wr_lane *lane, const struct wr_lane_setup *setup)
{
    *lane = (struct wr_lane){.setup = *setup};
    lane->result.is_cost_known = true;
    lane->result.times_stride = 1;
    wr_arena_init(&lane->arena, WR_ARENA_BYTES_MAX);
    lane->gone.arena = &lane->arena;
    wr_buf_init(&lane->body, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&lane->posted, WR_OUTPUT_BYTES_MAX);
    weir_status status = weir_store_new_memory(WR_SIMULATE_STORE_BYTES_MAX, &lane->store);
    if (!status)
        status = wr_cache_init(&lane->cache, &lane->arena, setup->model, NULL);
    if (setup->baseline)
        wr_baseline_init(&lane->baseline, &lane->arena, setup->baseline, wr_meter_count,
                         setup->meter);
    return status;
}

void wr_lane_release(struct wr_lane *lane)
{
    weir_store_close(lane->store);
    wr_buf_release(&lane->body);
    wr_buf_release(&lane->posted);
    wr_arena_release(&lane->arena);
    free(lane->trace.hashes);
    free(lane->trace.is_known);
    free(lane->trace.ends);
}

/* ---- the conversation ---- */

static struct wr_session_request request_in(const struct wr_lane *lane, weir_dialect dialect)
{
    return (struct wr_session_request){.dialect = dialect,
                                       .model = lane->setup.model_name,
                                       .with_tools = lane->setup.without_recall
                                                         ? WR_SESSION_TOOLS_WITHOUT_RECALL
                                                         : WR_SESSION_TOOLS};
}

static weir_status begin_body(struct wr_lane *lane, const struct wr_session *session)
{
    struct wr_session_request request = request_in(lane, WR_SESSION_DIALECT);
    wr_buf_reset(&lane->body);
    lane->head_bytes = lane->body.len = wr_session_write(session, &request, &lane->body);
    lane->messages_count = 0;
    return lane->body.status;
}

/* Where the host compacted, the conversation begins anew, and what was recalled is gone with it. */
static weir_status extend_body(struct wr_lane *lane, const struct wr_lane_request *r)
{
    uint32_t count = wr_session_view_count(r->view);
    lane->is_extended = lane->head_bytes && r->view->shared_count >= lane->messages_count;
    if (!lane->is_extended) {
        weir_status status = begin_body(lane, r->session);
        if (status)
            return status;
    }
    for (uint32_t i = lane->messages_count; i < count; i++) {
        if (lane->body.len > lane->head_bytes)
            wr_buf_byte(&lane->body, ',');
        if (lane->setup.with_thinking && wr_session_view_thinks(r->view, i))
            wr_buf_text(&lane->body, thinking);
        wr_buf_append(&lane->body, wr_json_raw(wr_session_view_message(r->view, i), 0));
    }
    lane->messages_count = count;
    return lane->body.status;
}

/* ---- what the engine makes of it ---- */

/* A request on its way, and read again as it was sent. */
struct sent {
    struct weir_request *request;
    struct weir_projected projected;
    struct wr_rival_arrived arrived; /* of a rival */
    weir_dialect dialect;            /* of what was sent */
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_measure measure;
    struct wr_cache_block *blocks;
    uint8_t *kinds; /* by block */
    uint32_t blocks_count;
};

/* Keeps every n-th time, so that any number of them fits. */
static void note_time(struct wr_lane_result *result, uint64_t us)
{
    if (result->times_seen++ % result->times_stride)
        return;
    if (result->times_count == WR_LANE_TIMES_MAX) {
        for (uint32_t i = 0; i < WR_LANE_TIMES_MAX / 2; i++)
            result->times_us[i] = result->times_us[2 * i];
        result->times_count = WR_LANE_TIMES_MAX / 2;
        result->times_stride *= 2;
    }
    result->times_us[result->times_count++] = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static void count_reason(struct wr_lane_result *result, const char *text, uint64_t count)
{
    for (int i = 0; i < WR_LANE_REASONS_MAX; i++) {
        struct wr_lane_reason *reason = &result->reasons[i];
        if (reason->text && strcmp(reason->text, text) != 0)
            continue;
        reason->text = text;
        reason->count += count;
        return;
    }
}

/* What a cold cache has forgotten is written anyway: a step costs nothing then. */
static void note_projected(struct wr_lane *lane, const struct weir_projected *p,
                           const struct wr_record *record)
{
    struct wr_lane_result *result = &lane->result;

    result->validation_failures += p->held_back != NULL;
    lane->again_tokens = 0;
    if (!p->is_step)
        return;
    if (strcmp(p->step_reason, "cold") != 0)
        lane->again_tokens = record->step_rewrites_tokens;
    result->steps++;
    result->prefix_violations += !strcmp(p->step_reason, "unexplained");
    count_reason(result, p->step_reason, 1);
}

static weir_status send_to_engine(struct wr_lane *lane, int64_t now_ms, struct sent *sent)
{
    struct weir_project_options options = {.policy = lane->setup.policy,
                                           .model = lane->setup.model_name,
                                           .window_tokens = lane->setup.window_tokens,
                                           .store = lane->store,
                                           .session = WR_LIT("replayed"),
                                           .now_ms = now_ms};
    struct weir_request_options reading = {.dialect = "chat"};
    struct wr_record record = {0};
    weir_status status = weir_engine_request(lane->setup.engine, wr_buf_view(&lane->body), &reading,
                                             &sent->request, NULL);
    if (!status)
        status = wr_engine_project(lane->setup.engine, sent->request, &options, &record,
                                   &sent->projected, NULL);
    if (!status)
        note_projected(lane, &sent->projected, &record);
    return status;
}

/* Writes the conversation as it stands, recalls and all, as its agent would post it. */
static weir_status write_posted(struct wr_lane *lane, const struct wr_session *session,
                                struct wr_arena *arena)
{
    struct wr_session_request request = request_in(lane, session->api);
    struct wr_session now = {.tools = session->tools, .tools_count = session->tools_count};
    struct wr_json doc;

    weir_status status = wr_json_parse(&doc, arena, wr_buf_view(&lane->body), NULL, NULL);
    wr_json_id list = status ? WR_JSON_NONE : wr_json_find(&doc, 0, "messages");
    uint32_t count = status ? 0 : wr_json_count(&doc, list);
    now.messages = WR_ARENA_ARRAY(arena, struct wr_json, count);
    if (!status && !now.messages)
        status = wr_arena_status(arena);
    for (wr_json_id id = status ? WR_JSON_NONE : wr_json_first(&doc, list);
         id != WR_JSON_NONE && !status; id = wr_json_next(&doc, list, id))
        status = wr_json_parse(&now.messages[now.messages_count++], arena, wr_json_raw(&doc, id),
                               NULL, NULL);
    request.messages_count = now.messages_count;
    wr_buf_reset(&lane->posted);
    if (!status)
        wr_session_write_posted(&now, &request, &lane->posted);
    return status ? status : lane->posted.status;
}

static weir_status send_to_rival(struct wr_lane *lane, const struct wr_lane_request *r,
                                 struct sent *sent)
{
    const struct wr_rival *rival = lane->setup.rival;
    struct wr_rival_request request = {.dialect = r->session->api,
                                       .body = wr_buf_view(&lane->body),
                                       .answer = r->view->answer,
                                       .is_first = !lane->result.requests};
    weir_status status = WEIR_OK;
    if (request.dialect != WR_SESSION_DIALECT) {
        status = write_posted(lane, r->session, &sent->arena);
        request.body = wr_buf_view(&lane->posted);
    }
    if (!status)
        status = rival->send(rival->user, &request, &sent->arrived);
    if (status)
        return status;
    sent->projected.body = sent->arrived.bodies[sent->arrived.own];
    sent->dialect = sent->arrived.dialects[sent->arrived.own];
    sent->projected.tokens_before = r->measure->total_tokens;
    return WEIR_OK;
}

static weir_status project_lane(struct wr_lane *lane, const struct wr_lane_request *r,
                                struct sent *sent)
{
    uint64_t begun_us = wr_clock_steady_us();
    weir_status status =
        lane->setup.rival ? send_to_rival(lane, r, sent) : send_to_engine(lane, r->now_ms, sent);
    note_time(&lane->result, wr_clock_steady_us() - begun_us);
    return status;
}

static weir_status make_blocks(const struct wr_transcript *t, const struct wr_measure *measure,
                               struct wr_arena *arena, struct wr_cache_block **blocks)
{
    *blocks = WR_ARENA_ARRAY(arena, struct wr_cache_block, t->segments_count);
    if (!*blocks)
        return wr_arena_status(arena);
    wr_cache_blocks(t, measure->segment_tokens, measure->segment_overheads, *blocks);
    /* Requests of the other APIs carry none: there they are where agents would place them. */
    if (!wr_api_of(t->dialect)->marker_key)
        wr_cache_mark_like_agents(*blocks, t->segments_count, WR_MARK_SHORT);
    return WEIR_OK;
}

static void leave_thinking_out(struct sent *sent)
{
    const struct wr_transcript *t = &sent->transcript;
    sent->blocks_count = 0;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        if (t->segments[i].is_signed)
            continue;
        sent->kinds[sent->blocks_count] = sent->kinds[i];
        sent->blocks[sent->blocks_count++] = sent->blocks[i];
    }
}

static weir_status read_sent(struct wr_lane *lane, const struct wr_lane_request *r, weir_span body,
                             struct sent *sent)
{
    struct wr_api_options options = {.dialect = weir_dialect_name(sent->dialect),
                                     .structure_only = true};
    weir_status status = wr_json_parse(&sent->doc, &sent->arena, body, NULL, NULL);
    if (!status)
        status = wr_api_read(&sent->transcript, &sent->arena, &sent->doc, &options, NULL);
    if (!status) {
        /* Framing is counted as in every other lane, whose requests are Chat's: an API has its own,
         * and a rival is not dearer for speaking its agent's. */
        struct wr_transcript framed = sent->transcript;
        framed.framing = wr_api_of(WR_SESSION_DIALECT)->framing;
        status = wr_meter_measure(lane->setup.meter, &framed, &sent->arena, &sent->measure);
    }
    if (!status)
        status = make_blocks(&sent->transcript, &sent->measure, &sent->arena, &sent->blocks);
    if (status)
        return status;
    sent->kinds = WR_ARENA_ARRAY(&sent->arena, uint8_t, sent->transcript.segments_count);
    if (!sent->kinds)
        return wr_arena_status(&sent->arena);
    wr_money_kinds_sent(r->original, r->kinds, &sent->transcript, sent->kinds);
    leave_thinking_out(sent);
    return WEIR_OK;
}

/* Projects the conversation as it stands and reads what would be sent. To be ended in any case. */
static weir_status begin_sent(struct wr_lane *lane, const struct wr_lane_request *r,
                              struct sent *sent)
{
    *sent = (struct sent){0};
    wr_arena_init(&sent->arena, WR_ARENA_BYTES_MAX);
    wr_buf_text(&lane->body, "]}");
    weir_status status = lane->body.status ? lane->body.status : project_lane(lane, r, sent);
    if (!status)
        status = read_sent(lane, r, sent->projected.body, sent);
    if (!status && lane->setup.rival)
        sent->projected.tokens_after = sent->measure.total_tokens;
    return status;
}

static void end_sent(struct wr_lane *lane, struct sent *sent)
{
    weir_request_free(sent->request);
    wr_arena_release(&sent->arena);
    lane->body.len -= 2; /* the conversation goes on */
}

/* ---- the marker before a step ---- */

/* Blocks keep their order, so each is sought behind the one that was found last. */
static bool note_known(struct wr_lane_trace *t, const struct wr_cache_block *blocks, uint32_t count,
                       uint32_t same)
{
    uint32_t cursor = same;
    if (!WR_HEAP_ROOM(t->is_known, count, t->known_cap, TRACE_CAP_FIRST))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = cursor;
        while (i >= same && at < t->count && t->hashes[at] != blocks[i].hash)
            at++;
        t->is_known[i] = i < same || at < t->count;
        cursor = i >= same && at < t->count ? at + 1 : cursor;
    }
    return true;
}

static uint32_t count_same(const struct wr_lane_trace *t, const struct wr_cache_block *blocks,
                           uint32_t count)
{
    uint32_t same = 0;
    while (same < count && same < t->count && blocks[same].hash == t->hashes[same])
        same++;
    return same;
}

/* Takes a request's blocks as what was sent last. */
static weir_status note_trace(struct wr_lane_trace *t, const struct wr_cache_block *blocks,
                              uint32_t count)
{
    uint32_t same = count_same(t, blocks, count);
    while (t->ends_count && t->ends[t->ends_count - 1] > same)
        t->ends_count--;
    if (!note_known(t, blocks, count, same) ||
        !WR_HEAP_ROOM(t->hashes, count, t->cap, TRACE_CAP_FIRST) ||
        !WR_HEAP_ROOM(t->ends, t->ends_count, t->ends_cap, TRACE_CAP_FIRST))
        return WEIR_NOMEM;
    for (uint32_t i = same; i < count; i++)
        t->hashes[i] = blocks[i].hash;
    t->count = count;
    t->ends[t->ends_count++] = count;
    return WEIR_OK;
}

/* Sessions are run as Chat requests, which carry no markers; blocks get them as agents place them.
 * The engine adds one on requests that do carry them (engine/cache_marker.h, its second rule): at
 * the newest end of an earlier request before the first block that has changed. */
static void mark_step(struct wr_lane *lane, struct wr_cache_block *blocks, uint32_t count)
{
    const struct wr_lane_trace *t = &lane->trace;
    uint32_t same = count_same(t, blocks, count), ends = t->ends_count;

    if (lane->setup.rival && lane->is_extended && same < t->count) {
        lane->result.steps++;
        count_reason(&lane->result, "rewritten", 1);
    }
    while (ends && t->ends[ends - 1] > same)
        ends--;
    if (lane->setup.places_markers && same < t->count && ends && lane->setup.model->cache &&
        lane->setup.model->cache->mode == WR_CACHE_EXPLICIT &&
        blocks[t->ends[ends - 1] - 1].mark == WR_MARK_NONE)
        blocks[t->ends[ends - 1] - 1].mark = WR_MARK_SHORT;
}

/* ---- what it costs ---- */

static void note_fill(struct wr_lane *lane, uint64_t tokens)
{
    uint64_t window = lane->setup.window_tokens, tier = 0;
    struct wr_lane_result *r = &lane->result;
    if (lane->setup.model->tiers_count)
        tier = lane->setup.model->tiers[0].above_tokens;
    r->over_window += window && tokens > window;
    r->over_tier += tier && tokens > tier;
    r->over_60 += window && tokens * 10 > window * 6;
    r->over_80 += window && tokens * 10 > window * 8;
    r->over_85 += window && tokens * 20 > window * 17;
}

/* What the request would have cost less, had all that was sent before been read from the cache. */
static void note_step(struct wr_lane *lane, const struct wr_cache_usage *usage)
{
    uint64_t again = lane->again_tokens, paid = usage->uncached_tokens + usage->written_tokens;
    struct wr_usage without = usage->usage;
    uint64_t *const parts[] = {&without.cache_write_5m_tokens, &without.cache_write_1h_tokens,
                               &without.cache_write_30m_tokens, &without.input_tokens};

    lane->again_tokens = 0;
    if (again > paid)
        again = paid;
    without.cache_read_tokens += again;
    lane->result.steps_tokens += again;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && again; i++) {
        uint64_t part = *parts[i] < again ? *parts[i] : again;
        *parts[i] -= part;
        again -= part;
    }
    uint64_t less = wr_cost(lane->setup.model, &without).micro_usd;
    if (usage->cost.micro_usd > less)
        lane->result.steps_micro_usd += usage->cost.micro_usd - less;
}

/* How a request came about, and what it holds. */
struct bill {
    const uint8_t *kinds;
    const bool *is_known;
    bool asks, follows_recall;
};

static weir_status pay_prompt(struct wr_lane *lane, const struct wr_cache_prompt *prompt,
                              const struct bill *bill, int64_t now_ms)
{
    struct wr_lane_result *r = &lane->result;
    struct wr_cache_usage usage;
    weir_status status = wr_cache_request(&lane->cache, prompt, now_ms, &usage);
    if (status)
        return status;
    uint64_t tokens = usage.uncached_tokens + usage.written_tokens + usage.read_tokens;
    r->requests++;
    r->cost_micro_usd += usage.cost.micro_usd;
    r->is_cost_known &= usage.cost.known;
    r->prompt_tokens += tokens;
    r->read_tokens += usage.read_tokens;
    r->written_tokens += usage.written_tokens;
    r->output_tokens += prompt->output_tokens;
    if (lane->again_tokens)
        note_step(lane, &usage);
    note_fill(lane, tokens);
    if (usage.cost.known)
        wr_money_add(r->pico_usd,
                     &(struct wr_money_request){.model = lane->setup.model,
                                                .prompt = prompt,
                                                .kinds = bill->kinds,
                                                .is_known = bill->is_known,
                                                .asks = bill->asks,
                                                .follows_recall = bill->follows_recall},
                     &usage);
    return WEIR_OK;
}

static weir_status pay(struct wr_lane *lane, const struct wr_cache_prompt *prompt, struct bill bill,
                       int64_t now_ms)
{
    weir_status status = note_trace(&lane->trace, prompt->blocks, prompt->blocks_count);
    bill.is_known = lane->trace.is_known;
    return status ? status : pay_prompt(lane, prompt, &bill, now_ms);
}

weir_status wr_lane_pay(struct wr_lane *lane, const struct wr_cache_prompt *prompt,
                        const uint8_t *kinds, int64_t now_ms)
{
    return pay(lane, prompt, (struct bill){.kinds = kinds}, now_ms);
}

static struct wr_cache_prompt prompt_of(const struct sent *sent, uint64_t output_tokens)
{
    return (struct wr_cache_prompt){
        .blocks = sent->blocks, .blocks_count = sent->blocks_count, .output_tokens = output_tokens};
}

/* What a rival asked on its own account: summaries, side questions. */
static weir_status pay_sides(struct wr_lane *lane, const struct wr_lane_request *r,
                             const struct wr_rival_arrived *arrived)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < arrived->count && !status; i++) {
        struct sent side = {.dialect = arrived->dialects[i]};
        if (i == arrived->own)
            continue;
        wr_arena_init(&side.arena, WR_ARENA_BYTES_MAX);
        status = read_sent(lane, r, arrived->bodies[i], &side);
        struct wr_cache_prompt prompt =
            prompt_of(&side, wr_meter_count(lane->setup.meter, lane->setup.rival->side_answer));
        if (!status)
            status = pay_prompt(lane, &prompt, &(struct bill){.kinds = side.kinds}, r->now_ms);
        wr_arena_release(&side.arena);
    }
    return status;
}

/* ---- recalls ---- */

/* What an answer needs and does not see. */
struct wants {
    const struct wr_evidence_items *found;
    struct wr_evidence_judged *judged;
    weir_handle *handles; /* to be recalled */
    uint32_t handles_count;
};

struct originals {
    struct wr_lane *lane;
    struct wr_arena *arena;
};

/* A wr_original_fn over a lane's store; `user` is a struct originals. */
static bool find_original(void *user, weir_handle handle, weir_span *text)
{
    struct originals *o = user;
    const struct wr_rival *rival = o->lane->setup.rival;
    struct weir_lookup lookup = {.tenant = WR_LIT("local"), .handle = handle};
    struct weir_artifact artifact;
    if (rival)
        return rival->original && rival->original(rival->user, handle, o->arena, text);
    if (weir_store_get(o->lane->store, &lookup, &artifact, NULL, NULL))
        return false;
    *text = wr_arena_copy(o->arena, artifact.text);
    return text->ptr != NULL;
}

/* What is wanted of one original. */
static weir_status write_lines(struct wr_buf *out, struct wr_arena *arena,
                               const struct wants *wants, weir_handle handle, weir_span text)
{
    weir_span *strings = WR_ARENA_ARRAY(arena, weir_span, wants->found->count);
    uint32_t count = 0;
    if (!strings)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < wants->found->count; i++) {
        const struct wr_evidence_item *item = &wants->found->items[i];
        if (wr_evidence_is_needed(item) && wants->judged[i].verdict == WR_EVIDENCE_RECALLABLE &&
            !memcmp(&wants->judged[i].handle, &handle, sizeof(handle)))
            strings[count++] = item->text;
    }
    return wr_recall_lines(out, arena, text, strings, count);
}

/* Appends one message of the model's with all the calls, and their results, to the conversation:
 * the lines around each thing wanted. */
static weir_status add_recalls(struct wr_lane *lane, struct wr_arena *arena,
                               const struct wants *wants)
{
    struct originals originals = {lane, arena};
    struct wr_recall *recalls = WR_ARENA_ARRAY(arena, struct wr_recall, wants->handles_count);
    size_t call_bytes;
    struct wr_buf lines;
    weir_status status = recalls ? WEIR_OK : wr_arena_status(arena);

    wr_buf_init(&lines, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < wants->handles_count && !status; i++) {
        weir_span text;
        wr_buf_reset(&lines);
        if (find_original(&originals, wants->handles[i], &text))
            status = write_lines(&lines, arena, wants, wants->handles[i], text);
        recalls[i] =
            (struct wr_recall){wants->handles[i], wr_arena_copy(arena, wr_buf_view(&lines))};
        lane->result.recalled_tokens += wr_meter_count(lane->setup.meter, recalls[i].result);
    }
    wr_buf_release(&lines);
    if (status || arena->status)
        return status ? status : arena->status;
    status = wr_recall_write(&lane->body, &call_bytes, arena, WR_SESSION_DIALECT,
                             lane->result.recalls, recalls, wants->handles_count);
    lane->result.recalls += wants->handles_count;
    return status;
}

/* ---- sending ---- */

static weir_status judge_request(struct wr_lane *lane, const struct wr_lane_request *r,
                                 const struct wr_evidence_view *view, struct wr_arena *arena,
                                 struct wants *wants)
{
    struct originals originals = {lane, arena};
    struct wr_evidence_ways ways = {find_original, &originals};
    uint64_t gone_tokens;

    wants->found = r->found;
    wants->judged = WR_ARENA_ARRAY(arena, struct wr_evidence_judged, r->found->count);
    wants->handles = WR_ARENA_ARRAY(arena, weir_handle, r->found->count);
    if (!wants->judged || !wants->handles)
        return wr_arena_status(arena);
    wr_evidence_judge(r->evidence, r->at, r->found, view, &ways, wants->judged);
    wr_evidence_count(&lane->result.evidence, r->found, wants->judged);
    weir_status status = wr_evidence_user_tokens_gone(
        &lane->gone, r->original, r->at, view, wr_meter_count, lane->setup.meter, &gone_tokens);
    lane->result.evidence.user_tokens_gone += gone_tokens;
    if (lane->setup.misses)
        wr_misses_judged(lane->setup.misses,
                         &(struct wr_misses_shown){.lane = lane->setup.misses_lane,
                                                   .at = r->at,
                                                   .view = view,
                                                   .found = r->found,
                                                   .judged = wants->judged,
                                                   .meter = lane->setup.meter});
    wants->handles_count = wr_evidence_recalls(r->found, wants->judged, wants->handles);
    return status;
}

static weir_status pay_sent(struct wr_lane *lane, struct sent *sent, uint64_t output_tokens,
                            struct bill bill, int64_t now_ms)
{
    struct wr_cache_prompt prompt = prompt_of(sent, output_tokens);
    mark_step(lane, sent->blocks, sent->blocks_count);
    return pay(lane, &prompt, bill, now_ms);
}

/* The request that follows the recalls, with what they brought back. */
static weir_status send_again(struct wr_lane *lane, const struct wr_lane_request *r)
{
    struct sent sent;
    weir_status status = begin_sent(lane, r, &sent);
    if (!status)
        status = pay_sides(lane, r, &sent.arrived);
    if (!status)
        status = pay_sent(lane, &sent, r->output_tokens,
                          (struct bill){.kinds = sent.kinds, .follows_recall = true}, r->now_ms);
    end_sent(lane, &sent);
    return status;
}

static weir_status send_first(struct wr_lane *lane, const struct wr_lane_request *r,
                              struct wr_arena *arena, struct wants *wants)
{
    struct wr_evidence_view view;
    struct sent sent;
    weir_status status = begin_sent(lane, r, &sent);

    if (!status)
        status = pay_sides(lane, r, &sent.arrived);
    if (!status)
        status = wr_evidence_view_read(&view, arena, r->original, &sent.transcript);
    if (!status)
        status = judge_request(lane, r, &view, arena, wants);
    uint64_t output_tokens = wants->handles_count
                                 ? (uint64_t)wants->handles_count * RECALL_CALL_TOKENS
                                 : r->output_tokens;
    if (!status)
        status =
            pay_sent(lane, &sent, output_tokens,
                     (struct bill){.kinds = sent.kinds, .asks = wants->handles_count}, r->now_ms);
    if (!status && sent.projected.tokens_before > sent.projected.tokens_after)
        lane->result.saved_tokens += sent.projected.tokens_before - sent.projected.tokens_after;
    end_sent(lane, &sent);
    return status;
}

static weir_status send_projected(struct wr_lane *lane, const struct wr_lane_request *r)
{
    struct wants wants = {0};
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = send_first(lane, r, &arena, &wants);
    if (!status && wants.handles_count) {
        status = add_recalls(lane, &arena, &wants);
        if (!status)
            status = send_again(lane, r);
    }
    wr_arena_release(&arena);
    return status;
}

/* A model of another system: what it shows follows from the recorded request. */
static weir_status send_baseline(struct wr_lane *lane, const struct wr_lane_request *r)
{
    struct wr_evidence_view view;
    struct wr_cache_block *blocks = NULL;
    struct wants wants = {0};
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status =
        wr_baseline_request(&lane->baseline, r->original, r->at, r->measure->segment_tokens, &view);
    if (!status)
        status = make_blocks(r->original, r->measure, &arena, &blocks);
    if (!status) {
        wr_baseline_blocks(&lane->baseline, r->measure->segment_overheads, blocks);
        status = judge_request(lane, r, &view, &arena, &wants);
    }
    if (!status) {
        mark_step(lane, blocks, r->original->segments_count);
        struct wr_cache_prompt prompt = {.blocks = blocks,
                                         .blocks_count = r->original->segments_count,
                                         .output_tokens = r->output_tokens};
        status = pay(lane, &prompt, (struct bill){.kinds = r->kinds}, r->now_ms);
    }
    wr_arena_release(&arena);
    return status;
}

weir_status wr_lane_send(struct wr_lane *lane, const struct wr_lane_request *request)
{
    if (!lane->setup.policy && !lane->setup.rival)
        return send_baseline(lane, request);
    weir_status status = extend_body(lane, request);
    return status ? status : send_projected(lane, request);
}

/* ---- sums ---- */

void wr_lane_result_add(struct wr_lane_result *sum, const struct wr_lane_result *r)
{
    sum->requests += r->requests;
    sum->cost_micro_usd += r->cost_micro_usd;
    sum->is_cost_known &= r->is_cost_known;
    for (int i = 0; i < WR_MONEY_KINDS; i++)
        sum->pico_usd[i] += r->pico_usd[i];
    sum->prompt_tokens += r->prompt_tokens;
    sum->read_tokens += r->read_tokens;
    sum->written_tokens += r->written_tokens;
    sum->output_tokens += r->output_tokens;
    sum->saved_tokens += r->saved_tokens;
    sum->recalls += r->recalls;
    sum->recalled_tokens += r->recalled_tokens;
    sum->steps += r->steps;
    sum->steps_tokens += r->steps_tokens;
    sum->steps_micro_usd += r->steps_micro_usd;
    sum->over_window += r->over_window;
    sum->over_tier += r->over_tier;
    sum->over_60 += r->over_60;
    sum->over_80 += r->over_80;
    sum->over_85 += r->over_85;
    sum->prefix_violations += r->prefix_violations;
    sum->validation_failures += r->validation_failures;
    wr_evidence_tally_add(&sum->evidence, &r->evidence);
    for (int i = 0; i < WR_LANE_REASONS_MAX && r->reasons[i].text; i++)
        count_reason(sum, r->reasons[i].text, r->reasons[i].count);
    for (uint32_t i = 0; i < r->times_count; i++)
        note_time(sum, r->times_us[i]);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

uint32_t wr_lane_result_time_us(const struct wr_lane_result *result, uint32_t percent)
{
    uint32_t sorted[WR_LANE_TIMES_MAX];
    if (!result->times_count)
        return 0;
    memcpy(sorted, result->times_us, result->times_count * sizeof(sorted[0]));
    qsort(sorted, result->times_count, sizeof(sorted[0]), by_number);
    return sorted[(uint64_t)(result->times_count - 1) * percent / 100];
}
