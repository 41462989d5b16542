/* The next request: limits, then words that wait, then the body, then the policy. */
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "json/json.h"
#include "models/window.h"
#include "policy/budget.h"
#include "policy/stage.h"
#include "session/images.h"
#include "session/prompt.h"
#include "session/render.h"

enum {
    OTHER_SUMMARY_BP = 9500, /* the policy's own stages go first */
    ALL_BP = 10000,
    SAVE_EVERY_EVENTS = 64,
    COMPACT_AGAIN_MESSAGES = 12,
};

/* ---- tools ---- */

static weir_status check_schema(struct wr_arena *arena, const struct weir_tool *tool,
                                struct weir_err *err)
{
    struct wr_json doc;
    if (!tool->name.len)
        return wr_fail(err, WEIR_INVALID, 0, "a tool has no name");
    if (!tool->schema.len)
        return WEIR_OK;
    weir_status status = wr_json_parse(&doc, arena, tool->schema, NULL, err);
    if (status == WEIR_NOMEM)
        return status;
    if (status || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return wr_fail(err, WEIR_INVALID, err ? err->at_byte : 0,
                       "the schema of the tool '%.*s' is no JSON object",
                       (int)(tool->name.len < 60 ? tool->name.len : 60), tool->name.ptr);
    return WEIR_OK;
}

static weir_status keep_pieces(struct wr_arena *arena, const struct weir_tool *tools, size_t count,
                               weir_span *pieces)
{
    struct wr_buf text;
    wr_buf_init(&text, WR_PIECES_BYTES_MAX);
    wr_pieces_of_tools(&text, tools, count);
    return wr_text_keep(arena, &text, pieces);
}

weir_status weir_session_set_tools(struct weir_session *session, const struct weir_tool *tools,
                                   size_t tools_count, struct weir_err *err)
{
    struct wr_arena arena;
    weir_status status = WEIR_OK;
    uint64_t tokens = 0;

    if (tools_count > WR_SESSION_TOOLS_COUNT_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a session has at most %d tools",
                       WR_SESSION_TOOLS_COUNT_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    struct weir_tool *copies = WR_ARENA_ARRAY(&arena, struct weir_tool, tools_count + 1);
    if (!copies)
        status = wr_arena_status(&arena);
    for (size_t i = 0; i < tools_count && !status; i++) {
        status = check_schema(&arena, &tools[i], err);
        copies[i].name = wr_arena_copy(&arena, tools[i].name);
        copies[i].description = wr_arena_copy(&arena, tools[i].description);
        copies[i].schema = wr_arena_copy(&arena, tools[i].schema);
        tokens += wr_meter_count(session->meter, tools[i].name) +
                  wr_meter_count(session->meter, tools[i].description) +
                  wr_meter_count(session->meter, tools[i].schema);
        if (!status)
            status = wr_arena_status(&arena);
    }
    weir_span pieces = {"", 0};
    if (!status)
        status = keep_pieces(&arena, copies, tools_count, &pieces);
    if (status) {
        wr_arena_release(&arena);
        return status;
    }
    session->tools_pieces = pieces;
    wr_arena_release(&session->tools_arena);
    session->tools_arena = arena;
    session->tools = copies;
    session->tools_count = tools_count;
    session->tools_tokens = tokens;
    return WEIR_OK;
}

/* ---- measures and limits ---- */

struct wr_compress_input wr_live_measure(const struct weir_session *session)
{
    const struct wr_thread *t = &session->thread;
    struct wr_compress_input input = {.system_tokens = t->prompt_tokens + session->tools_tokens,
                                      .content_tokens = t->summary_tokens,
                                      .window_tokens = wr_live_window(session),
                                      .threshold_bp = session->policy.threshold_bp};
    for (uint32_t i = 0; i < t->messages_count; i++) {
        input.content_tokens += t->messages[i].tokens;
        input.argument_tokens += t->messages[i].call_tokens;
    }
    return input;
}

/* What the limits say, of the run and of the session. */
struct verdict {
    struct wr_run_used used; /* of the run */
    bool is_compress_due;
    uint64_t room_tokens; /* a window, or what is left of the tokens where that is less */
    bool has_little_left; /* it is less */
    enum wr_run_limit run_limit, session_limit;
};

static uint64_t room_left(const struct wr_run_limits *limits, const struct wr_run_used *used,
                          uint64_t room_tokens)
{
    uint64_t left = limits->tokens_max > used->tokens ? limits->tokens_max - used->tokens : 0;
    return limits->tokens_max && left < room_tokens ? left : room_tokens;
}

static struct verdict verdict_of(const struct weir_session *session, int64_t now_ms)
{
    const struct wr_settings *settings = &session->settings;
    struct wr_compress_input prompt = wr_live_measure(session);
    struct wr_run_used run = wr_thread_run_used(&session->thread, now_ms);
    struct wr_run_used all = wr_thread_all_used(&session->thread, now_ms);
    struct wr_run_verdict of_run = wr_run_check(&settings->limits, &run, &prompt);
    struct wr_run_verdict of_session = wr_run_check(&settings->session_limits, &all, &prompt);
    uint64_t room = room_left(&settings->limits, &run, prompt.window_tokens);
    room = room_left(&settings->session_limits, &all, room);

    return (struct verdict){.used = run,
                            .is_compress_due = of_run.compress || of_session.compress,
                            .room_tokens = room,
                            .has_little_left = room < prompt.window_tokens,
                            .run_limit = of_run.limit,
                            .session_limit = of_session.limit};
}

/* The session's first: it is the one that new words do not lift. NULL: none is reached. */
static const char *limit_name(const struct verdict *verdict)
{
    static const char *const of_session[] = {[WR_RUN_LIMIT_TOKENS] = "session tokens",
                                             [WR_RUN_LIMIT_TURNS] = "session turns",
                                             [WR_RUN_LIMIT_TOOL_CALLS] = "session tool_calls",
                                             [WR_RUN_LIMIT_COST] = "session cost",
                                             [WR_RUN_LIMIT_TIME] = "session time"};

    if (verdict->session_limit != WR_RUN_LIMIT_NONE)
        return of_session[verdict->session_limit];
    return verdict->run_limit == WR_RUN_LIMIT_NONE ? NULL : wr_run_limit_text(verdict->run_limit);
}

static uint64_t iterations_max(const struct weir_session *session)
{
    if (session->kind && session->kind->tool_iterations_max)
        return session->kind->tool_iterations_max;
    return session->settings.tool_iterations_max;
}

/* Unless told, answers that call tools have the run's limit of turns and none beside it. */
static bool is_past_iterations(const struct weir_session *session)
{
    uint64_t most = iterations_max(session);
    return most && session->thread.iterations >= most;
}

void weir_session_run(struct weir_session *session, int64_t now_ms, struct weir_session_run *run)
{
    struct verdict verdict = verdict_of(session, now_ms);

    *run = (struct weir_session_run){.turns = verdict.used.turns,
                                     .tokens = verdict.used.tokens,
                                     .tool_calls = verdict.used.tool_calls,
                                     .cost_micro_usd = verdict.used.cost_micro_usd,
                                     .elapsed_ms = verdict.used.elapsed_ms,
                                     .tool_iterations = session->thread.iterations,
                                     .is_cost_known = !session->thread.unpriced_count,
                                     .is_compress_due = verdict.is_compress_due,
                                     .limit = limit_name(&verdict)};
    if (!run->limit && is_past_iterations(session))
        run->limit = "tool_iterations";
}

/* ---- what forbids a request ---- */

static weir_status check_ready(const struct weir_session *session, struct weir_err *err)
{
    const struct wr_thread *t = &session->thread;
    if (t->is_paused)
        return wr_fail(err, WEIR_INVALID, 0,
                       "the session is paused since its client went away: resume it");
    if (t->pending_count)
        return wr_fail(
            err, WEIR_INVALID, 0,
            "%u calls wait for their results, '%.*s' first: give them or abort", t->pending_count,
            (int)(t->pending[0].id.len < 60 ? t->pending[0].id.len : 60), t->pending[0].id.ptr);
    if (!wr_thread_has_news(t))
        return wr_fail(err, WEIR_INVALID, 0, "there is nothing to answer: the user has the word");
    if (!session->model[0])
        return wr_fail(err, WEIR_INVALID, 0, "no model was named: set `model: {name: ...}`");
    if (session->refusals_count > WR_SESSION_REFUSALS_MAX)
        return wr_fail(
            err, WEIR_LIMIT, 0,
            "the provider refused the request as too long %u times in a row, and nothing "
            "more can be left out",
            session->refusals_count);
    return WEIR_OK;
}

static bool may_compact_again(const struct weir_session *session)
{
    uint64_t since = 0;
    for (uint32_t i = 0; i < session->thread.messages_count; i++)
        since += session->thread.messages[i].event.seq > session->thread.binds_after;
    return !session->thread.summary.len || since >= COMPACT_AGAIN_MESSAGES;
}

/* The newest turns keep their share of what is left, not of the window: a tenth of a large window
 * may be all there is. Where even so nothing can be taken, all but the last answer leaves. */
static weir_status compact_for_budget(struct weir_session *session, uint64_t room_tokens,
                                      int64_t now_ms, struct weir_err *err)
{
    struct weir_compacted compacted;
    weir_status status =
        wr_live_compact(session, room_tokens, "run budget", now_ms, &compacted, err);

    if (!status && !compacted.is_taken)
        status = wr_live_compact(session, 0, "run budget", now_ms, &compacted, err);
    return status;
}

static weir_status check_limits(struct weir_session *session, int64_t now_ms, struct weir_err *err)
{
    struct verdict verdict = verdict_of(session, now_ms);

    /* The way out comes first, the net behind it. */
    if (verdict.is_compress_due && verdict.has_little_left && may_compact_again(session)) {
        weir_status status = compact_for_budget(session, verdict.room_tokens, now_ms, err);
        if (status)
            return status;
    }
    if (is_past_iterations(session))
        return wr_fail(err, WEIR_LIMIT, 0,
                       "max_tool_iterations: %llu answers in a row called tools; the user has the "
                       "word",
                       (unsigned long long)session->thread.iterations);
    if (verdict.session_limit != WR_RUN_LIMIT_NONE)
        return wr_fail(err, WEIR_LIMIT, 0,
                       "the run is aborted: the session's limit of %s is reached; raise `limits: "
                       "{session: ...}` or begin another session",
                       wr_run_limit_text(verdict.session_limit));
    if (verdict.run_limit != WR_RUN_LIMIT_NONE)
        return wr_fail(err, WEIR_LIMIT, 0,
                       "the run is aborted: its limit of %s is reached; the user's next words "
                       "begin another run",
                       wr_run_limit_text(verdict.run_limit));
    return WEIR_OK;
}

/* ---- the turn ---- */

static weir_status begin_turn(struct weir_session *session, const struct weir_session_want *want,
                              struct weir_err *err)
{
    struct wr_event event = {.kind = WR_EVENT_TURN, .model = wr_span_of(session->model)};
    weir_status status = WEIR_OK;

    if (!wr_thread_needs_turn(&session->thread))
        return WEIR_OK;
    wr_arena_reset(&session->scratch);
    if (wr_thread_has_words(&session->thread))
        status = wr_event_set_text(&event, &session->scratch, want->context);
    return status ? status : wr_live_record(session, &event, want->now_ms, err);
}

/* The last words whose images have to leave for those of newer ones. Providers refuse a body that
 * is too large, and then every later one. All that were there leave at once, since each such cut
 * costs the provider's cache; and it follows from the journal alone, so that a session that is
 * opened again sends the same. */
static uint64_t find_crowded(const struct weir_session *session)
{
    const struct wr_thread *t = &session->thread;
    uint64_t bytes = 0, last_seq = 0, crowded_seq = 0;

    for (uint32_t i = 0; i < t->messages_count; i++) {
        const struct wr_event *event = &t->messages[i].event;
        if (!event->images.len)
            continue;
        uint64_t more = wr_images_bytes(session->dir, event->images);
        if (bytes + more > WR_SESSION_IMAGES_BYTES_MAX) {
            crowded_seq = last_seq;
            bytes = 0;
        }
        bytes += more;
        last_seq = event->seq;
    }
    return crowded_seq;
}

static weir_status render(struct weir_session *session, const struct weir_session_want *want,
                          struct weir_err *err)
{
    struct weir_request_options options = {.dialect = weir_dialect_name(want->dialect)};
    struct wr_view view;
    struct wr_render r = {.view = &view,
                          .dialect = want->dialect,
                          .prompt = session->thread.prompt,
                          .model = wr_span_of(session->model),
                          .tools = session->tools,
                          .tools_count = session->tools_count,
                          .output_tokens_max = session->settings.output_tokens_max,
                          .binds_after = session->thread.binds_after,
                          .extra = want->extra,
                          .has_markers = !want->is_without_cache,
                          .dir = session->dir,
                          .blind_seq = session->blind_seq,
                          .crowded_seq = find_crowded(session),
                          .alternates = want->alternates};

    weir_request_free(session->request);
    session->request = NULL;
    wr_buf_release(&session->body);
    wr_buf_init(&session->body, WR_OUTPUT_BYTES_MAX);
    wr_arena_reset(&session->scratch);
    weir_status status = wr_view_build(&view, &session->scratch, &session->thread);
    if (status)
        return status;
    wr_render_write(&r, &session->body);
    status = wr_buf_status(&session->body);
    if (status)
        return wr_fail(err, status, 0, "the request cannot be written: %s",
                       weir_status_text(status));
    return weir_engine_request(session->engine, wr_buf_view(&session->body), &options,
                               &session->request, err);
}

static weir_status write_report(struct weir_session *session, const struct wr_record *record,
                                struct weir_projected *projected)
{
    wr_buf_release(&session->report);
    wr_buf_init(&session->report, WR_OUTPUT_BYTES_MAX);
    wr_record_report(record, &session->report);
    projected->report = wr_buf_view(&session->report);
    return wr_buf_status(&session->report);
}

static weir_status project(struct weir_session *session, const struct weir_session_want *want,
                           struct weir_projected *projected, struct weir_err *err)
{
    struct wr_record record = {0};
    struct weir_project_options options = {.policy = session->policy.name,
                                           .model = session->model,
                                           .window_tokens = (uint32_t)wr_live_window(session),
                                           .store = want->is_preview ? NULL : session->store,
                                           .tenant = wr_span_of(session->tenant),
                                           .session = wr_span_of(session->name),
                                           .now_ms = want->now_ms,
                                           .alternates = want->alternates,
                                           .overflow_tokens = session->overflow_tokens};
    weir_status status = render(session, want, err);
    if (status)
        return status;
    status =
        wr_engine_project(session->engine, session->request, &options, &record, projected, err);
    if (!status) {
        wr_live_note_made(session, &record);
        return write_report(session, &record, projected);
    }
    if (status != WEIR_NOMEM && status != WEIR_LIMIT)
        return status;
    projected->held_back = weir_status_text(status); /* the request goes as it is */
    return WEIR_OK;
}

uint64_t wr_live_summarise_at(const struct weir_session *session)
{
    const struct wr_session_policy *policy = &session->policy;
    struct wr_stage_room room = {.window_tokens = wr_live_window(session)};
    uint32_t bp = (uint32_t)session->settings.summary_at_bp;
    bool is_refused = session->refusals_count > 0;

    if (!bp && policy->has_summary)
        return wr_stage_when(&policy->summary, &room).at_tokens;
    if (!bp && (policy->fills_history || policy->is_idle)) /* it is small enough, or stays */
        bp = is_refused ? ALL_BP : 0;
    else if (!bp)
        bp = OTHER_SUMMARY_BP;
    return bp ? wr_share_tokens(room.window_tokens, bp) : UINT64_MAX;
}

static void trace_request(struct weir_session *session, const struct weir_session_want *want,
                          const struct weir_session_turn *turn)
{
    struct wr_trace_field fields[] = {
        {"api", 0, wr_span_of(weir_dialect_name(want->dialect))},
        {"model", 0, wr_span_of(session->model)},
        {"bytes", turn->body.len, {"", 0}},
        {"tokens_before", turn->tokens_before, {"", 0}},
        {"tokens_after", turn->tokens_after, {"", 0}},
        {"window_tokens", turn->window_tokens, {"", 0}},
        {"step", 0, wr_span_of(turn->step_reason ? turn->step_reason : "none")}};
    wr_trace_tell(&session->trace, want->now_ms, "request", fields, 7);
}

static void fill_turn(const struct weir_session *session, const struct weir_projected *projected,
                      struct weir_session_turn *turn)
{
    turn->body = projected->body;
    turn->report = projected->report;
    turn->tokens_before = projected->tokens_before;
    turn->tokens_after = projected->tokens_after;
    turn->window_tokens = wr_live_window(session);
    turn->is_changed = projected->is_changed;
    const struct wr_thread *t = &session->thread;
    bool is_later = t->turn_before_seq != 0;
    /* Something was cut since the request before, whoever asked for it; or the front is another. */
    turn->is_compacted = is_later && t->cut_seq != session->sent_cut_seq;
    bool has_other_front = is_later && t->binds_after != session->sent_binds_after;
    turn->is_step = projected->is_step || turn->is_compacted || has_other_front;
    turn->step_reason = turn->is_compacted                                        ? "compaction"
                        : has_other_front && t->tools_place.seq == t->binds_after ? "tools"
                        : has_other_front && !projected->is_step                  ? "prompt"
                                                                 : projected->step_reason;
    turn->held_back = projected->held_back;
}

/* One compaction a request, and only where the policy alone was not enough. */
static weir_status project_within(struct weir_session *session,
                                  const struct weir_session_want *want,
                                  struct weir_projected *projected, struct weir_err *err)
{
    struct weir_compacted compacted = {0};
    weir_status status = project(session, want, projected, err);

    if (status || want->is_preview || projected->tokens_after <= wr_live_summarise_at(session))
        return status;
    status = weir_session_compact(session, session->refusals_count ? "overflow" : "window",
                                  want->now_ms, &compacted, err);
    if (status || !compacted.is_taken)
        return status;
    return project(session, want, projected, err);
}

static weir_status prepare(struct weir_session *session, const struct weir_session_want *want,
                           struct weir_err *err)
{
    weir_status status = check_ready(session, err);

    if (!status)
        status = check_limits(session, want->now_ms, err);
    if (!status && wr_thread_has_words(&session->thread))
        status = wr_live_trim(session, session->policy.fills_history, want->now_ms, err);
    if (!status && (session->tools_count || session->thread.tools_place.seq))
        status = wr_live_set_front(session, WR_EVENT_TOOLS, (weir_span){"", 0},
                                   session->tools_pieces, want->now_ms, err);
    return status ? status : begin_turn(session, want, err);
}

static weir_status request_turn(struct weir_session *session, const struct weir_session_want *want,
                                struct weir_session_turn *turn, struct weir_err *err)
{
    struct weir_projected projected;
    weir_status status = WEIR_OK;

    if (!want->is_preview)
        status = prepare(session, want, err);
    if (!status)
        status = project_within(session, want, &projected, err);
    if (!status && !want->is_preview)
        status = wr_live_record_sent(session, want->now_ms, err);
    if (!status && !want->is_preview)
        status = wr_journal_sync(&session->journal, err);
    if (status)
        return status;
    fill_turn(session, &projected, turn);
    if (want->is_preview)
        return WEIR_OK;
    session->sent_tokens = projected.tokens_after;
    session->sent_answer_tokens = projected.answer_tokens;
    session->sent_binds_after = session->thread.binds_after;
    session->sent_cut_seq = session->thread.cut_seq;
    session->overflow_tokens = 0;
    trace_request(session, want, turn);
    if (session->turns_unsaved >= SAVE_EVERY_EVENTS)
        wr_live_save(session, want->now_ms);
    return WEIR_OK;
}

weir_status weir_session_request(struct weir_session *session, const struct weir_session_want *want,
                                 struct weir_session_turn *turn, struct weir_err *err)
{
    struct weir_session_want own;
    weir_status status = WR_OPTIONS_READ(&own, want, err);

    *turn = (struct weir_session_turn){0};
    return status ? status : request_turn(session, &own, turn, err);
}

bool weir_session_refused(struct weir_session *session, weir_span body, int64_t now_ms)
{
    struct wr_overflow overflow;
    struct wr_event event = {.kind = WR_EVENT_MODEL, .model = wr_span_of(session->model)};

    if (!wr_overflow_read(body, &overflow))
        return false;
    session->refusals_count++;
    struct wr_overflow_sent sent = {
        .window_tokens = (uint32_t)wr_live_window(session),
        .prompt_tokens = session->sent_tokens > UINT32_MAX ? 0 : (uint32_t)session->sent_tokens,
        .answer_tokens = session->sent_answer_tokens};
    uint32_t cap = wr_overflow_cap(&overflow, &sent);
    session->overflow_tokens = cap;
    /* The provider's own number is written down, not corrected by how far our count is off. */
    if (overflow.window_tokens) {
        sent.prompt_tokens = 0;
        cap = wr_overflow_cap(&overflow, &sent);
    }
    event.number = cap;
    /* If it cannot be written the window stays as it was, and the next refusal says it again. */
    if (cap && cap < wr_live_window(session) && wr_live_record(session, &event, now_ms, NULL))
        return true;
    return true;
}

/* Providers say it in many words, all with one of these; a request without an image never gets
 * here, so a word that is there by chance costs nothing. */
bool weir_session_refused_images(struct weir_session *session, weir_span body)
{
    static const char *const words[] = {"image", "multimodal", "vision"};
    struct wr_thread *t = &session->thread;
    bool has_images = false;

    for (uint32_t i = 0; i < t->messages_count; i++)
        has_images |= t->messages[i].event.images.len &&
                      t->messages[i].event.seq > session->blind_seq &&
                      t->messages[i].event.seq <= t->turn_seq;
    for (size_t at = 0; has_images && at < body.len; at++)
        for (size_t i = 0; i < WR_COUNT_OF(words); i++)
            if (wr_starts_folded(wr_span_from(body, at), wr_span_of(words[i]))) {
                session->blind_seq = t->turn_seq;
                return true;
            }
    return false;
}
