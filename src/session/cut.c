/* Chooses where a conversation is cut.
 *
 * For a summary the cut lies before an answer of the model: at least so many messages and so large
 * a share of the window stay behind it. For a budget it lies before an exchange (words of the user
 * and all that follows them): exchanges that were rated take up to a quarter of the room, the
 * newest fill the rest. Both go down to 80 % of the budget, because every cut makes the provider
 * write its cache anew, and a cut that just fits is followed by another with the next message. */
#include "session/cut.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/span.h"

/* What is kept of a budget when a cut is made. */
enum { DEPTH_PERCENT = 80, RATED_SHARE = 4 };

static uint64_t tokens_of(const struct wr_say *say)
{
    return say->tokens + say->call_tokens;
}

/* Whether a message leaves with what stands before `before`, words staying or not. */
static bool would_leave(const struct wr_message *message, const struct wr_thread *thread,
                        const struct wr_cut *cut)
{
    uint64_t seq = message->event.seq;
    if (seq >= cut->before)
        return false;
    for (uint32_t i = 0; i < cut->kept_count; i++)
        if (cut->kept[i] == seq)
            return false;
    return !wr_message_is_words(message) || (cut->drops_words && seq <= thread->turn_seq);
}

static void count_leaving(struct wr_cut *cut, const struct wr_thread *thread)
{
    cut->leaving_count = cut->leaving_tokens = 0;
    for (uint32_t i = 0; i < thread->messages_count; i++) {
        const struct wr_message *message = &thread->messages[i];
        if (!would_leave(message, thread, cut))
            continue;
        cut->leaving_count += message->event.kind != WR_EVENT_TURN;
        cut->leaving_tokens += message->tokens + message->call_tokens;
    }
}

/* ---- before an answer ---- */

static uint32_t next_answer(const struct wr_view *view, uint32_t from)
{
    while (from < view->says_count && view->says[from].kind != WR_SAY_ANSWER)
        from++;
    return from;
}

/* The last answer with `count` says from it on. */
static uint32_t answer_before_tail(const struct wr_view *view, uint32_t count)
{
    for (uint32_t i = view->says_count; i-- > 0;)
        if (view->says[i].kind == WR_SAY_ANSWER && view->says_count - i >= count)
            return i;
    return view->says_count;
}

static uint64_t tokens_from(const struct wr_view *view, uint32_t from)
{
    uint64_t tokens = 0;
    for (uint32_t i = from; i < view->says_count; i++)
        tokens += tokens_of(&view->says[i]);
    return tokens;
}

static uint64_t newest_event(const struct wr_view *view)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < view->says_count; i++)
        if (view->says[i].event && view->says[i].event->seq > last)
            last = view->says[i].event->seq;
    return last;
}

void wr_cut_for_summary(struct wr_cut *cut, const struct wr_view *view,
                        const struct wr_thread *thread, const struct wr_cut_summary *options)
{
    uint32_t at = answer_before_tail(view, options->tail_count);

    *cut = (struct wr_cut){0};
    if (options->is_signed_open) {
        cut->before = newest_event(view) + 1;
        count_leaving(cut, thread);
        return;
    }
    if (at == view->says_count)
        return;
    for (uint32_t i = at; i-- > 0 && tokens_from(view, i) <= options->tail_tokens_min;)
        if (view->says[i].kind == WR_SAY_ANSWER)
            at = i;
    for (uint32_t next = next_answer(view, at + 1);
         next < view->says_count && tokens_from(view, at) > options->tail_tokens_max;
         next = next_answer(view, at + 1))
        at = next;
    cut->before = view->says[at].event->seq;
    count_leaving(cut, thread);
    if (!cut->leaving_count)
        cut->before = 0;
}

static bool has_signed_item(const struct wr_event *event)
{
    const struct wr_api *api = wr_api_of(event->dialect);

    for (uint32_t i = 0; i < event->items_count && api->is_signed_item; i++)
        if (api->is_signed_item(event->items[i]))
            return true;
    return false;
}

bool wr_cut_is_signed_open(const struct wr_view *view, weir_span model)
{
    if (!view->says_count || view->says[view->says_count - 1].kind != WR_SAY_RESULT)
        return false;
    for (uint32_t i = view->says_count; i-- > 0;) {
        const struct wr_say *say = &view->says[i];
        if (say->kind == WR_SAY_TEXT && say->event && say->event->kind == WR_EVENT_USER)
            return false;
        if (say->kind == WR_SAY_ANSWER && wr_span_eq(say->event->model, model) &&
            has_signed_item(say->event))
            return true;
    }
    return false;
}

/* ---- before an exchange ---- */

struct exchange {
    uint32_t first, end; /* says */
    uint64_t tokens;
    uint64_t count;
    uint32_t score;
    bool is_kept, is_tried;
};

/* What stands before the conversation: a notice, a summary, words that were carried over. */
static bool is_front(const struct wr_say *say, const struct wr_thread *thread)
{
    return say->message == UINT32_MAX || thread->messages[say->message].is_head;
}

static bool begins_exchange(const struct wr_view *view, const struct wr_thread *thread, uint32_t i)
{
    const struct wr_say *say = &view->says[i];
    if (say->kind != WR_SAY_TEXT || !say->event || say->event->kind != WR_EVENT_USER)
        return false;
    return i == 0 || view->says[i - 1].kind == WR_SAY_ANSWER ||
           is_front(&view->says[i - 1], thread);
}

/* Words that stay whatever is cut are no part of an exchange. */
static uint32_t list_exchanges(struct exchange *list, const struct wr_view *view,
                               const struct wr_thread *thread, bool drops_words)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->says_count; i++) {
        const struct wr_say *say = &view->says[i];
        bool is_fixed = !drops_words && is_front(say, thread);
        if (!is_fixed && begins_exchange(view, thread, i))
            list[count++] = (struct exchange){.first = i};
        if (!count || is_fixed)
            continue;
        struct exchange *e = &list[count - 1];
        e->end = i + 1;
        e->tokens += tokens_of(say);
        e->count++;
        if (say->message != UINT32_MAX && thread->messages[say->message].score > e->score)
            e->score = thread->messages[say->message].score;
    }
    return count;
}

struct room {
    uint64_t tokens, messages; /* left */
};

static bool take_exchange(struct room *room, const struct exchange *e)
{
    if (e->tokens > room->tokens || e->count > room->messages)
        return false;
    room->tokens -= e->tokens;
    room->messages -= e->count;
    return true;
}

/* Rated exchanges of the first `count`, the highest first, of equals the newest, into the room. */
static void keep_rated(struct exchange *list, uint32_t count, struct room *room)
{
    for (uint32_t i = 0; i < count; i++)
        list[i].is_tried = list[i].is_kept || !list[i].score;
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++)
            if (!list[i].is_tried && (best == UINT32_MAX || list[i].score >= list[best].score))
                best = i;
        if (best == UINT32_MAX)
            return;
        list[best].is_tried = true;
        list[best].is_kept = take_exchange(room, &list[best]);
    }
}

/* A share of the room is for what was rated, wherever it stands; then the newest fill it. */
static uint32_t keep_exchanges(struct exchange *list, uint32_t history_count, struct room *room)
{
    struct room share = {room->tokens / RATED_SHARE, room->messages / RATED_SHARE}, left = share;
    uint32_t boundary = history_count;

    keep_rated(list, history_count, &left);
    room->tokens -= share.tokens - left.tokens;
    room->messages -= share.messages - left.messages;
    while (boundary > 0 && (list[boundary - 1].is_kept || take_exchange(room, &list[boundary - 1])))
        boundary--;
    keep_rated(list, boundary, room);
    return boundary;
}

/* The first event of an exchange: of its words and of the turn that took them. */
static uint64_t first_event(const struct wr_view *view, const struct exchange *e)
{
    uint64_t seq = UINT64_MAX;
    for (uint32_t i = e->first; i < e->end; i++)
        if (view->says[i].event && view->says[i].event->seq < seq)
            seq = view->says[i].event->seq;
    return seq;
}

static uint64_t last_event(const struct wr_view *view, const struct exchange *e)
{
    uint64_t seq = 0;
    for (uint32_t i = e->first; i < e->end; i++)
        if (view->says[i].event && view->says[i].event->seq > seq)
            seq = view->says[i].event->seq;
    return seq;
}

static weir_status name_kept(struct wr_cut *cut, struct wr_arena *arena, const struct wr_view *view,
                             const struct wr_thread *thread, const struct exchange *list,
                             uint32_t boundary)
{
    cut->kept = WR_ARENA_ARRAY(arena, uint64_t, (size_t)thread->messages_count + 1);
    if (!cut->kept)
        return wr_arena_status(arena);
    for (uint32_t e = 0; e < boundary; e++) {
        if (!list[e].is_kept)
            continue;
        uint64_t first = first_event(view, &list[e]), last = last_event(view, &list[e]);
        for (uint32_t i = 0; i < thread->messages_count; i++) {
            uint64_t seq = thread->messages[i].event.seq;
            if (seq >= first && seq <= last && seq < cut->before &&
                cut->kept_count < WR_JOURNAL_KEPT_MAX)
                cut->kept[cut->kept_count++] = seq;
        }
    }
    return WEIR_OK;
}

/* One exchange alone is too long: what the model did first in it leaves, its words stay. */
static void cut_inside(struct wr_cut *cut, const struct wr_view *view,
                       const struct wr_thread *thread, uint64_t messages_max)
{
    uint64_t keep = messages_max * DEPTH_PERCENT / 100;
    uint32_t at = answer_before_tail(view, 1), fixed = 0;

    while (fixed < view->says_count && is_front(&view->says[fixed], thread))
        fixed++;
    if (view->says_count - fixed > keep)
        at = next_answer(view, view->says_count - (uint32_t)keep);
    if (at >= view->says_count)
        return;
    cut->before = view->says[at].event->seq;
    cut->drops_words = false;
    count_leaving(cut, thread);
    if (!cut->leaving_count)
        cut->before = 0;
}

static struct room room_of(const struct wr_cut_budget *budget)
{
    struct room room = {UINT64_MAX, UINT64_MAX};
    if (budget->history_tokens_max)
        room.tokens = budget->history_tokens_max * DEPTH_PERCENT / 100;
    if (budget->messages_max)
        room.messages = budget->messages_max * DEPTH_PERCENT / 100;
    return room;
}

static bool is_over(const struct wr_cut_budget *budget, const struct exchange *list, uint32_t count,
                    const struct wr_thread *thread)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i + 1 < count; i++)
        tokens += list[i].tokens;
    return (budget->history_tokens_max && tokens > budget->history_tokens_max) ||
           (budget->messages_max && wr_thread_count(thread) > budget->messages_max);
}

weir_status wr_cut_for_budget(struct wr_cut *cut, struct wr_arena *arena,
                              const struct wr_view *view, const struct wr_thread *thread,
                              const struct wr_cut_budget *budget)
{
    struct exchange *list = WR_ARENA_ARRAY(arena, struct exchange, (size_t)view->says_count + 1);
    struct room room = room_of(budget);

    *cut = (struct wr_cut){.drops_words = budget->drops_words};
    if (!list)
        return wr_arena_status(arena);
    uint32_t count = list_exchanges(list, view, thread, budget->drops_words);
    if (!is_over(budget, list, count, thread))
        return WEIR_OK;
    if (!count) { /* the words of the newest exchange were carried over already */
        cut_inside(cut, view, thread, budget->messages_max);
        return WEIR_OK;
    }
    uint32_t boundary = count - 1; /* the newest is no history */
    room.messages -= list[boundary].count < room.messages ? list[boundary].count : room.messages;
    room.messages -= !budget->drops_words && room.messages; /* what is carried over is one */
    boundary = keep_exchanges(list, boundary, &room);
    if (boundary) {
        cut->before = first_event(view, &list[boundary]);
        weir_status status = name_kept(cut, arena, view, thread, list, boundary);
        if (status)
            return status;
        count_leaving(cut, thread);
    }
    if (!cut->leaving_count)
        cut->before = 0;
    if (budget->messages_max &&
        wr_thread_count(thread) - cut->leaving_count > budget->messages_max) {
        cut->kept_count = 0;
        cut_inside(cut, view, thread, budget->messages_max);
    }
    return WEIR_OK;
}
