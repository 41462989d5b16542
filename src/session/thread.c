/* The thread: a fold over the events of a journal, staged before they are written and committed
 * after.
 *
 *   stage (may fail: memory) ─▶ the journal (may fail: disk) ─▶ commit (cannot fail)
 *                               └─▶ drop: as if nothing had been
 *
 * Staging makes every copy and all the room that the commit needs. A compaction copies what stays
 * into a new arena and lets the old one go, which is how memory is given back. From a checkpoint
 * the messages come with their tokens, which are costly to count (wr_thread_hold). */
#include "session/thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "session/images.h"

enum { MESSAGES_CAP_FIRST = 64 };

void wr_thread_init(struct wr_thread *thread, wr_count_fn *count, void *user)
{
    *thread = (struct wr_thread){.count = count, .user = user};
    wr_arena_init(&thread->arena, WR_THREAD_BYTES_MAX);
}

void wr_thread_release(struct wr_thread *thread)
{
    free(thread->messages);
    wr_arena_release(&thread->arena);
    thread->messages = NULL;
    thread->messages_count = 0;
}

static bool is_message(enum wr_event_kind kind)
{
    return kind == WR_EVENT_USER || kind == WR_EVENT_STEERING || kind == WR_EVENT_ASSISTANT ||
           kind == WR_EVENT_RESULT || kind == WR_EVENT_TURN;
}

static void count_tokens(const struct wr_thread *thread, struct wr_message *message)
{
    const struct wr_event *event = &message->event;

    message->tokens = message->call_tokens = 0;
    message->is_counted = !thread->counts_later;
    if (thread->counts_later)
        return;
    message->tokens = event->text.len ? thread->count(thread->user, event->text) : 0;
    message->tokens += wr_images_tokens(thread->image_rule, event->images);
    for (uint32_t i = 0; i < event->calls_count; i++)
        message->call_tokens += thread->count(thread->user, event->calls[i].arguments);
}

static weir_status make_room(struct wr_thread *thread)
{
    return WR_HEAP_ROOM(thread->messages, thread->messages_count, thread->messages_cap,
                        MESSAGES_CAP_FIRST)
               ? WEIR_OK
               : WEIR_NOMEM;
}

/* ---- compaction ---- */

static bool is_kept_by_name(const struct wr_event *event, uint64_t seq)
{
    for (uint32_t i = 0; i < event->kept_count; i++)
        if (event->kept[i] == seq)
            return true;
    return false;
}

static bool message_stays(const struct wr_thread *thread, const struct wr_event *event,
                          const struct wr_message *message)
{
    uint64_t seq = message->event.seq;
    bool waits = seq > thread->turn_seq;
    if (seq >= event->of || is_kept_by_name(event, seq))
        return true;
    return wr_message_is_words(message) && (!event->drops_words || waits);
}

static void copy_span(struct wr_arena *arena, weir_span *to, weir_span from)
{
    *to = from.len ? wr_arena_copy(arena, from) : (weir_span){"", 0};
}

static weir_status stage_compaction(struct wr_thread *thread, struct wr_staged *staged)
{
    const struct wr_event *event = &staged->event;
    bool has_summary = event->summary && event->summary == thread->last_summary.seq;

    wr_arena_init(&staged->arena, WR_THREAD_BYTES_MAX);
    staged->has_arena = true;
    staged->messages = malloc((thread->messages_count + 1) * sizeof(*staged->messages));
    if (!staged->messages)
        return WEIR_NOMEM;
    copy_span(&staged->arena, &staged->prompt, thread->prompt);
    copy_span(&staged->arena, &staged->model, thread->model);
    copy_span(&staged->arena, &staged->prompt_pieces, thread->prompt_pieces);
    copy_span(&staged->arena, &staged->tools_pieces, thread->tools_pieces);
    copy_span(&staged->arena, &staged->history_path,
              event->path.len ? event->path : thread->history_path);
    copy_span(&staged->arena, &staged->summary,
              has_summary ? thread->last_summary.text : thread->summary);
    weir_status status = wr_arena_status(&staged->arena);
    for (uint32_t i = 0; i < thread->messages_count && !status; i++) {
        const struct wr_message *from = &thread->messages[i];
        if (!message_stays(thread, event, from))
            continue;
        struct wr_message *to = &staged->messages[staged->messages_count++];
        *to = *from;
        to->is_head = from->event.seq < event->of && !is_kept_by_name(event, from->event.seq) &&
                      from->event.seq <= thread->turn_seq;
        status = wr_event_copy(&to->event, &staged->arena, &from->event);
    }
    return status;
}

/* ---- staging ---- */

weir_status wr_thread_stage(struct wr_thread *thread, const struct wr_event *event,
                            struct wr_staged *staged)
{
    bool is_lasting = is_message(event->kind) || event->kind == WR_EVENT_PROMPT ||
                      event->kind == WR_EVENT_TOOLS || event->kind == WR_EVENT_MODEL ||
                      event->kind == WR_EVENT_SUMMARY;
    weir_status status = WEIR_OK;

    *staged = (struct wr_staged){.event = *event};
    if (is_lasting)
        status = wr_event_copy(&staged->event, &thread->arena, event);
    if (status) {
        thread->arena.status = WEIR_OK; /* what it holds is whole */
        return status;
    }
    if (event->kind == WR_EVENT_COMPACTION)
        status = stage_compaction(thread, staged);
    if (is_message(event->kind)) {
        staged->message.event = staged->event;
        count_tokens(thread, &staged->message);
        status = make_room(thread);
    }
    if (status)
        wr_thread_drop(staged);
    return status;
}

void wr_thread_drop(struct wr_staged *staged)
{
    free(staged->messages);
    if (staged->has_arena)
        wr_arena_release(&staged->arena);
    *staged = (struct wr_staged){0};
}

/* ---- committing ---- */

static struct wr_place place_of(const struct wr_event *event)
{
    return (struct wr_place){event->seq, event->line_at, event->line_bytes};
}

static void take_compaction(struct wr_thread *thread, struct wr_staged *staged)
{
    wr_arena_release(&thread->arena);
    free(thread->messages);
    thread->arena = staged->arena;
    thread->messages = staged->messages;
    thread->messages_cap = thread->messages_count + 1;
    thread->messages_count = staged->messages_count;
    thread->prompt = staged->prompt;
    thread->model = staged->model;
    thread->prompt_pieces = staged->prompt_pieces;
    thread->tools_pieces = staged->tools_pieces;
    thread->summary = staged->summary;
    if (staged->event.summary && staged->event.summary == thread->last_summary.seq)
        thread->summary_place = place_of(&thread->last_summary);
    thread->summary_tokens = thread->summary.len ? thread->count(thread->user, thread->summary) : 0;
    if (staged->event.number)
        thread->omitted_count = staged->event.number;
    thread->history_path = staged->history_path;
    thread->binds_after = thread->cut_seq = staged->event.seq;
    thread->last_summary = (struct wr_event){0};
    staged->messages = NULL;
    staged->has_arena = false;
}

static bool has_result(const struct wr_thread *thread, uint32_t from, weir_span id)
{
    for (uint32_t i = from; i < thread->messages_count; i++)
        if (thread->messages[i].event.kind == WR_EVENT_RESULT &&
            wr_span_eq(thread->messages[i].event.call_id, id))
            return true;
    return false;
}

static void find_pending(struct wr_thread *thread)
{
    uint32_t at = thread->messages_count;

    thread->pending_count = 0;
    while (at > 0 && thread->messages[at - 1].event.kind != WR_EVENT_ASSISTANT)
        at--;
    if (!at)
        return;
    const struct wr_event *answer = &thread->messages[at - 1].event;
    for (uint32_t i = 0; i < answer->calls_count; i++)
        if (!has_result(thread, at, answer->calls[i].id))
            thread->pending[thread->pending_count++] = answer->calls[i];
}

/* ---- what was used ---- */

static uint64_t span_ms(int64_t from_ms, int64_t to_ms)
{
    return to_ms > from_ms ? (uint64_t)(to_ms - from_ms) : 0; /* clocks are set back, too */
}

struct wr_run_used wr_thread_run_used(const struct wr_thread *thread, int64_t now_ms)
{
    struct wr_run_used used = thread->used;
    used.elapsed_ms = span_ms(thread->run_started_ms, now_ms);
    return used;
}

struct wr_run_used wr_thread_all_used(const struct wr_thread *thread, int64_t now_ms)
{
    struct wr_run_used used = thread->all_used;
    used.elapsed_ms += span_ms(thread->run_started_ms, now_ms);
    return used;
}

static void begin_run(struct wr_thread *thread, int64_t at_ms)
{
    thread->all_used.elapsed_ms += span_ms(thread->run_started_ms, thread->run_worked_ms);
    thread->used = (struct wr_run_used){0};
    thread->unpriced_count = 0;
    thread->run_started_ms = at_ms;
    thread->run_worked_ms = at_ms;
}

static void add_used(struct wr_thread *thread, const struct wr_run_used *more)
{
    struct wr_run_used *const sums[] = {&thread->used, &thread->all_used};
    for (size_t i = 0; i < WR_COUNT_OF(sums); i++) {
        sums[i]->turns += more->turns;
        sums[i]->tokens += more->tokens;
        sums[i]->tool_calls += more->tool_calls;
        sums[i]->cost_micro_usd += more->cost_micro_usd;
    }
}

static void take_usage(struct wr_thread *thread, const struct wr_event *event)
{
    uint64_t input = event->usage.input_tokens + event->usage.cache_read_tokens +
                     event->usage.cache_write_tokens;
    add_used(thread, &(struct wr_run_used){.turns = event->turns,
                                           .tokens = input + event->usage.output_tokens,
                                           .tool_calls = event->tool_calls,
                                           .cost_micro_usd = event->cost_micro_usd});
    thread->unpriced_count += event->is_unpriced;
    if (event->kind == WR_EVENT_USAGE)
        thread->last_input_tokens = input;
}

/* A signature of the provider binds everything before it, including the tools and the prompt. */
static void take_front(struct wr_thread *thread, const struct wr_event *event)
{
    bool is_tools = event->kind == WR_EVENT_TOOLS;

    if (is_tools ? thread->tools_place.seq : thread->prompt.len)
        thread->binds_after = event->seq;
    if (is_tools) {
        thread->tools_pieces = event->pieces;
        thread->tools_place = place_of(event);
        return;
    }
    thread->prompt = event->text;
    thread->prompt_pieces = event->pieces;
    thread->prompt_place = place_of(event);
    thread->prompt_tokens = thread->count(thread->user, event->text);
}

static void take_importance(struct wr_thread *thread, const struct wr_event *event)
{
    struct wr_message *message = wr_thread_find(thread, event->of);
    if (message)
        message->score = (uint32_t)event->number;
}

static void take_turn(struct wr_thread *thread, uint64_t seq)
{
    thread->turn_before_seq = thread->turn_seq;
    thread->turn_seq = seq;
    add_used(thread, &(struct wr_run_used){.turns = 1});
}

/* Whoever asks for something more is given the limits of a run for it; otherwise a session that
 * reached one would be dead for good. */
static void take_words(struct wr_thread *thread, const struct wr_event *event)
{
    thread->iterations = 0;
    begin_run(thread, event->at_ms);
}

static void take_answer(struct wr_thread *thread, const struct wr_event *event)
{
    thread->answer_seq = event->seq;
    add_used(thread, &(struct wr_run_used){.tool_calls = event->calls_count});
    thread->iterations = event->calls_count ? thread->iterations + 1 : 0;
}

static void take_other(struct wr_thread *thread, const struct wr_event *event)
{
    switch (event->kind) {
    case WR_EVENT_PROMPT:
    case WR_EVENT_TOOLS:
        take_front(thread, event);
        break;
    case WR_EVENT_MODEL:
        thread->model = event->model;
        thread->window_tokens = event->number;
        break;
    case WR_EVENT_SUMMARY:
        thread->last_summary = *event;
        break;
    case WR_EVENT_USAGE:
    case WR_EVENT_SPENT:
        take_usage(thread, event);
        break;
    case WR_EVENT_IMPORTANCE:
        take_importance(thread, event);
        break;
    case WR_EVENT_RUN:
        begin_run(thread, event->at_ms);
        break;
    case WR_EVENT_BEGUN:
        thread->begun = wr_hash128_of(event->call_id);
        break;
    case WR_EVENT_SENT:
        thread->sent = event->sent;
        thread->sent_seq = event->seq;
        break;
    case WR_EVENT_PAUSE:
    case WR_EVENT_RESUME:
        thread->is_paused = event->kind == WR_EVENT_PAUSE;
        break;
    default:
        break;
    }
}

static void put_place(struct wr_event *event, const struct wr_event *written)
{
    event->seq = written->seq;
    event->line_at = written->line_at;
    event->line_bytes = written->line_bytes;
}

void wr_thread_commit(struct wr_thread *thread, struct wr_staged *staged,
                      const struct wr_event *written)
{
    enum wr_event_kind kind = staged->event.kind;
    uint64_t seq = written->seq;

    put_place(&staged->event, written);
    put_place(&staged->message.event, written);
    thread->seq = seq;
    if (is_message(kind))
        thread->messages[thread->messages_count++] = staged->message;
    if (kind == WR_EVENT_COMPACTION)
        take_compaction(thread, staged);
    else if (kind == WR_EVENT_TURN)
        take_turn(thread, seq);
    else if (kind == WR_EVENT_USER)
        take_words(thread, &staged->event);
    else if (kind == WR_EVENT_ASSISTANT)
        take_answer(thread, &staged->event);
    else
        take_other(thread, &staged->event);
    if (kind == WR_EVENT_RESULT)
        thread->begun = (wr_hash128){0};
    if (kind == WR_EVENT_TURN || kind == WR_EVENT_ASSISTANT || kind == WR_EVENT_RESULT)
        thread->run_worked_ms = staged->event.at_ms;
    if (kind == WR_EVENT_ASSISTANT || kind == WR_EVENT_RESULT || kind == WR_EVENT_COMPACTION)
        find_pending(thread);
}

void wr_thread_recount(struct wr_thread *thread, bool all)
{
    for (uint32_t i = 0; i < thread->messages_count; i++)
        if (all || !thread->messages[i].is_counted)
            count_tokens(thread, &thread->messages[i]);
    thread->prompt_tokens = thread->prompt.len ? thread->count(thread->user, thread->prompt) : 0;
    thread->summary_tokens = thread->summary.len ? thread->count(thread->user, thread->summary) : 0;
}

/* ---- from a checkpoint ---- */

static bool hold_text(struct wr_thread *thread, const struct wr_event *event)
{
    if (event->seq == thread->prompt_place.seq && event->kind == WR_EVENT_PROMPT) {
        thread->prompt = event->text;
        thread->prompt_pieces = event->pieces;
    } else if (event->seq == thread->tools_place.seq && event->kind == WR_EVENT_TOOLS) {
        thread->tools_pieces = event->pieces;
    } else if (event->kind == WR_EVENT_SUMMARY && event->seq == thread->summary_place.seq) {
        thread->summary = event->text;
    } else if (event->kind == WR_EVENT_SUMMARY && event->seq == thread->last_summary.seq) {
        thread->last_summary = *event;
    } else {
        return false;
    }
    return true;
}

weir_status wr_thread_hold(struct wr_thread *thread, const struct wr_event *event,
                           const struct wr_held *held)
{
    struct wr_message message = {0};
    weir_status status = wr_event_copy(&message.event, &thread->arena, event);

    if (!held)
        return status ? status : hold_text(thread, &message.event) ? WEIR_OK : WEIR_INVALID;
    if (!status && !is_message(event->kind))
        status = WEIR_INVALID;
    if (!status)
        status = make_room(thread);
    if (status)
        return status;
    message.tokens = held->tokens;
    message.call_tokens = held->call_tokens;
    message.score = held->score;
    message.is_head = held->is_head;
    message.is_counted = true;
    thread->messages[thread->messages_count++] = message;
    if (event->kind == WR_EVENT_ASSISTANT || event->kind == WR_EVENT_RESULT)
        find_pending(thread);
    return WEIR_OK;
}

/* ---- questions ---- */

uint64_t wr_thread_count(const struct wr_thread *thread)
{
    uint64_t count = 0;
    bool has_head = false;
    for (uint32_t i = 0; i < thread->messages_count; i++) {
        has_head |= thread->messages[i].is_head;
        count += thread->messages[i].event.kind != WR_EVENT_TURN && !thread->messages[i].is_head;
    }
    return count + has_head;
}

bool wr_thread_has_words(const struct wr_thread *thread)
{
    for (uint32_t i = thread->messages_count; i-- > 0;) {
        const struct wr_message *message = &thread->messages[i];
        if (message->event.seq <= thread->turn_seq)
            break;
        if (wr_message_is_words(message))
            return true;
    }
    return false;
}

bool wr_thread_has_news(const struct wr_thread *thread)
{
    for (uint32_t i = thread->messages_count; i-- > 0;) {
        const struct wr_message *message = &thread->messages[i];
        if (message->event.kind == WR_EVENT_ASSISTANT)
            return wr_thread_has_words(thread);
        if (message->event.kind == WR_EVENT_RESULT || wr_message_is_words(message))
            return true;
    }
    return thread->summary.len > 0;
}

bool wr_thread_needs_turn(const struct wr_thread *thread)
{
    return !thread->messages_count ||
           thread->messages[thread->messages_count - 1].event.kind != WR_EVENT_TURN;
}

struct wr_message *wr_thread_find(struct wr_thread *thread, uint64_t seq)
{
    for (uint32_t i = thread->messages_count; i-- > 0;)
        if (thread->messages[i].event.seq == seq)
            return &thread->messages[i];
    return NULL;
}
