/* A session while a log is read. Messages, calls and results are kept in lists with numbers for
 * links, and nothing is written before the end (import_finish.c), because a result may come hours
 * behind its call, twice, or not at all.
 *
 * A result finds its call by id among the calls that are still open, the newest first: agents
 * reuse ids, and some logs have none, where the oldest open call of the newest message takes it. */
#include "lab/import_draft.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

enum { LIST_CAP_FIRST = 64, DRAFT_MODELS_MAX = 64 };

void wr_draft_init(struct wr_draft *draft, struct wr_arena *arena, uint64_t *notes)
{
    *draft = (struct wr_draft){.arena = arena, .notes = notes};
}

static void fail(struct wr_draft *d, weir_status status)
{
    if (!d->status)
        d->status = status;
}

/* Appends an item to `d->list`, and is its number; NONE once the draft has failed. */
#define APPEND(d, list, ...)                                                             \
    ((d)->status || !has_room(d, WR_ARENA_ROOM((d)->arena, (d)->list, (d)->list##_count, \
                                               (d)->list##_cap, LIST_CAP_FIRST))         \
         ? WR_DRAFT_NONE                                                                 \
         : ((d)->list[(d)->list##_count] = (__VA_ARGS__), (d)->list##_count++))

static bool has_room(struct wr_draft *d, bool is_there)
{
    if (!is_there)
        fail(d, wr_arena_status(d->arena));
    return is_there;
}

/* ---- ids ---- */

static weir_span make_id(struct wr_draft *d)
{
    char text[16];
    weir_span id;
    if (d->made_ids < d->calls_count)
        d->made_ids = d->calls_count;
    do {
        int len = snprintf(text, sizeof(text), "call%u", ++d->made_ids);
        id = (weir_span){text, (size_t)len};
    } while (wr_names_find(&d->used_ids, id) != WR_NAMES_NONE);
    return wr_arena_copy(d->arena, id);
}

/* The id that a call will have: the log's, unless that is missing or taken. */
static weir_span choose_id(struct wr_draft *d, weir_span id)
{
    bool is_new = false;
    if (id.len && wr_names_add(&d->used_ids, d->arena, id, &is_new) == WR_NAMES_NONE)
        fail(d, d->arena->status);
    if (is_new || d->status)
        return id;
    id = make_id(d);
    if (!id.ptr || wr_names_add(&d->used_ids, d->arena, id, &is_new) == WR_NAMES_NONE)
        fail(d, d->arena->status);
    d->notes[WR_IMPORT_CALL_RENAMED]++;
    return id;
}

/* Says that `call` is one more that the log calls `id`. */
static void note_id(struct wr_draft *d, weir_span id, uint32_t call)
{
    bool is_new;
    uint32_t item = wr_names_add(&d->log_ids, d->arena, id, &is_new);
    if (item == WR_NAMES_NONE) {
        fail(d, d->arena->status);
    } else if (is_new) {
        (void)APPEND(d, queues, (struct wr_draft_queue){call, call, call});
    } else {
        struct wr_draft_queue *queue = &d->queues[item];
        if (d->calls[queue->tail].message != d->calls[call].message)
            queue->newest = call;
        d->calls[queue->tail].same_id = call;
        queue->tail = call;
    }
}

/* ---- messages ---- */

static uint32_t add_draft_message(struct wr_draft *d, weir_role role, int64_t time_ms)
{
    return APPEND(d, messages,
                  (struct wr_draft_message){.role = role,
                                            .is_hidden = d->is_hiding,
                                            .time_ms = time_ms,
                                            .first_part = WR_DRAFT_NONE,
                                            .last_part = WR_DRAFT_NONE,
                                            .first_call = WR_DRAFT_NONE,
                                            .last_call = WR_DRAFT_NONE});
}

void wr_draft_think(struct wr_draft *d, uint32_t message)
{
    if (message != WR_DRAFT_NONE)
        d->messages[message].thinks = true;
}

void wr_draft_by_host(struct wr_draft *d, uint32_t message)
{
    if (message != WR_DRAFT_NONE)
        d->messages[message].is_hosts = true;
}

void wr_draft_append(struct wr_draft *d, uint32_t message, weir_span content)
{
    if (message == WR_DRAFT_NONE || !content.len)
        return;
    uint32_t part = APPEND(d, parts, (struct wr_draft_part){content, WR_DRAFT_NONE});
    struct wr_draft_message *m = &d->messages[message];
    if (part == WR_DRAFT_NONE)
        return;
    if (m->last_part == WR_DRAFT_NONE)
        m->first_part = part;
    else
        d->parts[m->last_part].next = part;
    m->last_part = part;
}

uint32_t wr_draft_say(struct wr_draft *d, weir_role role, weir_span content, int64_t time_ms)
{
    if (!content.len)
        return WR_DRAFT_NONE;
    uint32_t message = add_draft_message(d, role, time_ms);
    wr_draft_append(d, message, content);
    return message;
}

uint32_t wr_draft_answer(struct wr_draft *d, weir_span content, int64_t time_ms)
{
    uint32_t message = add_draft_message(d, WEIR_ROLE_ASSISTANT, time_ms);
    wr_draft_append(d, message, content);
    return message;
}

uint32_t wr_draft_last_answer(const struct wr_draft *d)
{
    uint32_t last = d->messages_count - 1;
    if (d->status || !d->messages_count || d->messages[last].role != WEIR_ROLE_ASSISTANT)
        return WR_DRAFT_NONE;
    return d->messages[last].is_hidden == d->is_hiding ? last : WR_DRAFT_NONE;
}

uint32_t wr_draft_call(struct wr_draft *d, uint32_t message, weir_span id, weir_span name,
                       weir_span arguments)
{
    if (message == WR_DRAFT_NONE || d->status)
        return WR_DRAFT_NONE;
    weir_span new_id = choose_id(d, id);
    uint32_t call = APPEND(d, calls,
                           (struct wr_draft_call){.id = new_id,
                                                  .name = name.len ? name : WR_LIT("tool"),
                                                  .arguments = arguments,
                                                  .result_ms = WR_SESSION_NO_TIME,
                                                  .message = message,
                                                  .next = WR_DRAFT_NONE,
                                                  .same_id = WR_DRAFT_NONE,
                                                  .cleared_by = WR_DRAFT_NONE});
    if (call == WR_DRAFT_NONE)
        return call;
    struct wr_draft_message *m = &d->messages[message];
    if (m->last_call == WR_DRAFT_NONE)
        m->first_call = d->newest_call = call;
    else
        d->calls[m->last_call].next = call;
    m->last_call = call;
    note_id(d, id, call);
    return call;
}

bool wr_draft_has_open(struct wr_draft *d)
{
    while (d->oldest_open < d->calls_count && d->calls[d->oldest_open].is_answered)
        d->oldest_open++;
    return d->oldest_open < d->calls_count;
}

/* Moves `*at` past answered calls of one id; false where no open one is left. */
static bool skip_answered(const struct wr_draft *d, uint32_t *at)
{
    while (d->calls[*at].is_answered && d->calls[*at].same_id != WR_DRAFT_NONE)
        *at = d->calls[*at].same_id;
    return !d->calls[*at].is_answered;
}

uint32_t wr_draft_find_open(struct wr_draft *d, weir_span id)
{
    if (d->status || !wr_draft_has_open(d))
        return WR_DRAFT_NONE;
    if (!id.len) {
        while (d->newest_call != WR_DRAFT_NONE && d->calls[d->newest_call].is_answered)
            d->newest_call = d->calls[d->newest_call].next;
        return d->newest_call == WR_DRAFT_NONE ? d->oldest_open : d->newest_call;
    }
    uint32_t item = wr_names_find(&d->log_ids, id);
    if (item == WR_NAMES_NONE)
        return WR_DRAFT_NONE;
    struct wr_draft_queue *queue = &d->queues[item];
    if (skip_answered(d, &queue->newest))
        return queue->newest;
    return skip_answered(d, &queue->head) ? queue->head : WR_DRAFT_NONE;
}

uint32_t wr_draft_find_call(const struct wr_draft *d, weir_span id)
{
    uint32_t item = d->status ? WR_NAMES_NONE : wr_names_find(&d->log_ids, id);
    return item == WR_NAMES_NONE ? WR_DRAFT_NONE : d->queues[item].tail;
}

void wr_draft_result_of(struct wr_draft *d, uint32_t call, weir_span content, int64_t time_ms)
{
    if (d->status)
        return;
    if (call == WR_DRAFT_NONE || d->calls[call].is_answered) {
        d->notes[WR_IMPORT_RESULT_ORPHAN]++;
        return;
    }
    d->calls[call].is_answered = true;
    d->calls[call].result = content;
    d->calls[call].result_ms = time_ms;
}

void wr_draft_result(struct wr_draft *d, weir_span id, weir_span content, int64_t time_ms)
{
    wr_draft_result_of(d, wr_draft_find_open(d, id), content, time_ms);
}

void wr_draft_model(struct wr_draft *d, weir_span name)
{
    if (!name.len || d->status)
        return;
    for (uint32_t i = 0; i < d->models_count; i++)
        if (wr_span_eq(d->models[i].name, name)) {
            d->models[i].count++;
            return;
        }
    if (d->models_count < DRAFT_MODELS_MAX)
        (void)APPEND(d, models, (struct wr_draft_model){name, 1});
}

weir_span wr_draft_take(struct wr_draft *d, struct wr_buf *buf)
{
    weir_span copy = {0};
    if (buf->status)
        fail(d, buf->status);
    else
        copy = wr_arena_copy(d->arena, wr_buf_view(buf));
    if (!buf->status && !copy.ptr)
        fail(d, d->arena->status);
    wr_buf_release(buf);
    return copy.ptr ? copy : WR_LIT("");
}

weir_span wr_draft_escape(struct wr_draft *d, weir_span text)
{
    struct wr_buf out;
    wr_buf_init(&out, WR_ARENA_BYTES_MAX);
    wr_json_escape(&out, text);
    return wr_draft_take(d, &out);
}

weir_span wr_draft_take_escaped(struct wr_draft *d, struct wr_buf *buf)
{
    if (buf->status)
        fail(d, buf->status);
    weir_span text = buf->status ? WR_LIT("") : wr_draft_escape(d, wr_buf_view(buf));
    wr_buf_release(buf);
    return text;
}

/* ---- compactions ---- */

uint32_t wr_draft_compact(struct wr_draft *d)
{
    if (d->compactions_count == WR_SESSION_COMPACTIONS_MAX) {
        d->notes[WR_IMPORT_COMPACTION_LOST]++;
        return WR_DRAFT_NONE;
    }
    uint32_t message = add_draft_message(d, WEIR_ROLE_NONE, WR_SESSION_NO_TIME);
    uint32_t compaction =
        APPEND(d, compactions, (struct wr_draft_compaction){d->kept_count, 0, message});
    if (compaction == WR_DRAFT_NONE)
        return compaction;
    d->messages[message].compaction = compaction;
    d->messages[message].is_hidden = false;
    return compaction;
}

void wr_draft_keep(struct wr_draft *d, uint32_t message)
{
    if (message == WR_DRAFT_NONE || d->status || !d->compactions_count)
        return;
    if (APPEND(d, kept, message) != WR_DRAFT_NONE)
        d->compactions[d->compactions_count - 1].kept_count++;
}

uint32_t wr_draft_view_next(const struct wr_draft *d, uint32_t *at)
{
    uint32_t newest = d->compactions_count - 1, from = 0;
    if (d->status || !d->compactions_count)
        return WR_DRAFT_NONE;
    if (newest) {
        const struct wr_draft_compaction *before = &d->compactions[newest - 1];
        if (*at < before->kept_count)
            return d->kept[before->kept_first + (*at)++];
        from = before->message + 1 - before->kept_count;
    }
    while (from + *at < d->compactions[newest].message) {
        uint32_t message = from + (*at)++;
        if (!d->messages[message].is_hidden)
            return message;
    }
    return WR_DRAFT_NONE;
}

void wr_draft_keep_all(struct wr_draft *d)
{
    uint32_t message, at = 0;
    while ((message = wr_draft_view_next(d, &at)) != WR_DRAFT_NONE)
        wr_draft_keep(d, message);
}

void wr_draft_clear(struct wr_draft *d, uint32_t call)
{
    if (call == WR_DRAFT_NONE || d->status || !d->compactions_count)
        return;
    if (d->calls[call].cleared_by == WR_DRAFT_NONE)
        d->calls[call].cleared_by = d->compactions_count - 1;
}
