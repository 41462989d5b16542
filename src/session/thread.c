#include "session/thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/span.h"

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

static void measure(const struct wr_thread *thread, struct wr_message *message)
{
    const struct wr_event *event = &message->event;

    message->tokens = event->text.len ? thread->count(thread->user, event->text) : 0;
    message->call_tokens = 0;
    for (uint32_t i = 0; i < event->calls_count; i++)
        message->call_tokens += thread->count(thread->user, event->calls[i].arguments);
}

static weir_status make_room(struct wr_thread *thread)
{
    if (thread->messages_count < thread->messages_cap)
        return WEIR_OK;
    uint32_t cap = thread->messages_cap ? thread->messages_cap * 2 : MESSAGES_CAP_FIRST;
    struct wr_message *messages = realloc(thread->messages, cap * sizeof(*messages));
    if (!messages)
        return WEIR_NOMEM;
    thread->messages = messages;
    thread->messages_cap = cap;
    return WEIR_OK;
}

/* ---- compaction ---- */

static bool is_kept_by_name(const struct wr_event *event, uint64_t seq)
{
    for (uint32_t i = 0; i < event->kept_count; i++)
        if (event->kept[i] == seq)
            return true;
    return false;
}

static bool stays(const struct wr_thread *thread, const struct wr_event *event,
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
    copy_span(&staged->arena, &staged->history_path,
              event->path.len ? event->path : thread->history_path);
    copy_span(&staged->arena, &staged->summary,
              has_summary ? thread->last_summary.text : thread->summary);
    weir_status status = wr_arena_status(&staged->arena);
    for (uint32_t i = 0; i < thread->messages_count && !status; i++) {
        const struct wr_message *from = &thread->messages[i];
        if (!stays(thread, event, from))
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
                      event->kind == WR_EVENT_MODEL || event->kind == WR_EVENT_SUMMARY;
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
        measure(thread, &staged->message);
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
    thread->summary = staged->summary;
    thread->summary_tokens = thread->summary.len ? thread->count(thread->user, thread->summary) : 0;
    if (staged->event.number)
        thread->omitted_count = staged->event.number;
    thread->history_path = staged->history_path;
    thread->binds_after = staged->event.seq;
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

static void take_usage(struct wr_thread *thread, const struct wr_event *event)
{
    uint64_t input = event->usage.input_tokens + event->usage.cache_read_tokens +
                     event->usage.cache_write_tokens;
    thread->used.tokens += input + event->usage.output_tokens;
    thread->used.cost_micro_usd += event->cost_micro_usd;
    thread->last_input_tokens = input;
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
}

static void take_answer(struct wr_thread *thread, const struct wr_event *event)
{
    thread->answer_seq = event->seq;
    thread->used.tool_calls += event->calls_count;
    thread->iterations = event->calls_count ? thread->iterations + 1 : 0;
}

static void take_other(struct wr_thread *thread, const struct wr_event *event)
{
    switch (event->kind) {
    case WR_EVENT_PROMPT:
        if (thread->prompt.len)
            thread->binds_after = event->seq;
        thread->prompt = event->text;
        thread->prompt_tokens = thread->count(thread->user, event->text);
        break;
    case WR_EVENT_MODEL:
        thread->model = event->model;
        thread->window_tokens = event->number;
        break;
    case WR_EVENT_SUMMARY:
        thread->last_summary = *event;
        break;
    case WR_EVENT_USAGE:
        take_usage(thread, event);
        break;
    case WR_EVENT_IMPORTANCE:
        take_importance(thread, event);
        break;
    case WR_EVENT_RUN:
        thread->used = (struct wr_run_used){0};
        thread->run_started_ms = event->at_ms;
        break;
    case WR_EVENT_PAUSE:
    case WR_EVENT_RESUME:
        thread->is_paused = event->kind == WR_EVENT_PAUSE;
        break;
    default:
        break;
    }
}

void wr_thread_commit(struct wr_thread *thread, struct wr_staged *staged, uint64_t seq)
{
    enum wr_event_kind kind = staged->event.kind;

    staged->event.seq = staged->message.event.seq = seq;
    thread->seq = seq;
    if (is_message(kind))
        thread->messages[thread->messages_count++] = staged->message;
    if (kind == WR_EVENT_COMPACTION)
        take_compaction(thread, staged);
    else if (kind == WR_EVENT_TURN)
        take_turn(thread, seq);
    else if (kind == WR_EVENT_USER)
        thread->iterations = 0;
    else if (kind == WR_EVENT_ASSISTANT)
        take_answer(thread, &staged->event);
    else
        take_other(thread, &staged->event);
    thread->used.turns += kind == WR_EVENT_TURN;
    if (kind == WR_EVENT_ASSISTANT || kind == WR_EVENT_RESULT || kind == WR_EVENT_COMPACTION)
        find_pending(thread);
}

void wr_thread_recount(struct wr_thread *thread)
{
    for (uint32_t i = 0; i < thread->messages_count; i++)
        measure(thread, &thread->messages[i]);
    thread->prompt_tokens = thread->prompt.len ? thread->count(thread->user, thread->prompt) : 0;
    thread->summary_tokens = thread->summary.len ? thread->count(thread->user, thread->summary) : 0;
}

/* ---- questions ---- */

uint64_t wr_thread_count(const struct wr_thread *thread)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < thread->messages_count; i++)
        count += thread->messages[i].event.kind != WR_EVENT_TURN;
    return count;
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
