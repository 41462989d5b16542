/* A session while a log is read. Messages, calls and results are kept in lists with numbers for
 * links, and nothing is written before the end, because a result may come hours
 * behind its call, twice, or not at all.
 *
 * A result finds its call by id among the calls that are still open, the newest first: agents
 * reuse ids, and some logs have none, where the oldest open call of the newest message takes it. */
#include "lab/import_draft.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- numbered texts ---- */

enum { NAMES_CAP_FIRST = 64 };

static uint32_t find_name(const struct wr_names *names, weir_span text, uint64_t hash, uint32_t *at)
{
    uint32_t item;
    for (*at = wr_index_first(&names->index, hash);
         (item = wr_index_item(&names->index, *at)) != WR_INDEX_NONE;
         *at = wr_index_next(&names->index, *at, hash))
        if (wr_span_eq(names->items[item], text))
            return item;
    return WR_NAMES_NONE;
}

/* An index cannot grow, so a larger one is made of what is there. */
static bool grow(struct wr_names *names, struct wr_arena *arena)
{
    uint32_t cap = names->cap, values_cap = cap, at;
    if (!WR_ARENA_ROOM(arena, names->items, names->count, cap, NAMES_CAP_FIRST) ||
        !WR_ARENA_ROOM(arena, names->values, names->count, values_cap, NAMES_CAP_FIRST) ||
        wr_index_init(&names->index, arena, cap))
        return false;
    names->cap = cap;
    for (uint32_t i = 0; i < names->count; i++) {
        uint64_t hash = wr_hash64(names->items[i]);
        (void)find_name(names, names->items[i], hash, &at);
        wr_index_put(&names->index, at, hash, i);
    }
    return true;
}

uint32_t wr_names_add(struct wr_names *names, struct wr_arena *arena, weir_span text, bool *is_new)
{
    uint64_t hash = wr_hash64(text);
    uint32_t at;
    *is_new = false;
    if (names->count == names->cap && !grow(names, arena))
        return WR_NAMES_NONE;
    uint32_t item = find_name(names, text, hash, &at);
    if (item != WR_NAMES_NONE)
        return item;
    *is_new = true;
    names->items[names->count] = text;
    names->values[names->count] = 0;
    wr_index_put(&names->index, at, hash, names->count);
    return names->count++;
}

uint32_t wr_names_find(const struct wr_names *names, weir_span text)
{
    uint32_t at;
    return names->cap ? find_name(names, text, wr_hash64(text), &at) : WR_NAMES_NONE;
}

/* ---- import draft ---- */

enum { LIST_CAP_FIRST = 64, DRAFT_MODELS_MAX = 64 };

void wr_draft_init(struct wr_draft *draft, struct wr_arena *arena, uint64_t *notes)
{
    *draft = (struct wr_draft){.arena = arena, .notes = notes};
}

static void fail_draft(struct wr_draft *d, weir_status status)
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
        fail_draft(d, wr_arena_status(d->arena));
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
        fail_draft(d, d->arena->status);
    if (is_new || d->status)
        return id;
    id = make_id(d);
    if (!id.ptr || wr_names_add(&d->used_ids, d->arena, id, &is_new) == WR_NAMES_NONE)
        fail_draft(d, d->arena->status);
    d->notes[WR_IMPORT_CALL_RENAMED]++;
    return id;
}

/* Says that `call` is one more that the log calls `id`. */
static void note_id(struct wr_draft *d, weir_span id, uint32_t call)
{
    bool is_new;
    uint32_t item = wr_names_add(&d->log_ids, d->arena, id, &is_new);
    if (item == WR_NAMES_NONE) {
        fail_draft(d, d->arena->status);
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

static uint32_t draft_find_open(struct wr_draft *d, weir_span id)
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
    wr_draft_result_of(d, draft_find_open(d, id), content, time_ms);
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
        fail_draft(d, buf->status);
    else
        copy = wr_arena_copy(d->arena, wr_buf_view(buf));
    if (!buf->status && !copy.ptr)
        fail_draft(d, d->arena->status);
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
        fail_draft(d, buf->status);
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

/* ---- in order ----
 *
 * From a draft to a session whose requests are lawful: every message is written as Chat's, each
 * call followed by its result, and what has none by the sentence its host would have sent. First
 * the messages of the log, then those that only compactions hold, all into one text, which is
 * parsed when it is whole.
 */

/* What stands for a result that the host cleared, and for one that the log does not have. */
static const char cleared_text[] = "[Old tool result content cleared]";
static const char missing_text[] = "[the log holds no result of this call]";

/* A message as it was written. */
struct doc {
    size_t start, end;
    int64_t time_ms;
    bool thinks;
};

/* Documents are numbered as they are written: first the messages of the log, which are the
 * session's, then what only compactions hold. */
struct finish {
    struct wr_draft *draft;
    struct wr_arena *arena; /* where the session lives */
    struct wr_session *session;
    struct wr_buf text;
    struct doc *docs;
    uint32_t docs_count;
    uint32_t *of_message, *of_result, *of_cleared; /* documents, or NONE */
    uint32_t last_answer;                          /* a message of the draft, or NONE */
    bool has_content;                              /* a request now would say something */
};

static bool is_empty(const struct wr_draft_message *m)
{
    return m->first_part == WR_DRAFT_NONE && m->first_call == WR_DRAFT_NONE;
}

static void write_name(struct finish *f, const char *key, weir_span name)
{
    wr_buf_text(&f->text, key);
    wr_json_escape(&f->text, name);
    wr_buf_byte(&f->text, '"');
}

static uint32_t end_doc(struct finish *f, size_t start, int64_t time_ms)
{
    f->docs[f->docs_count] = (struct doc){start, f->text.len, time_ms, false};
    return f->docs_count++;
}

static void write_calls(struct finish *f, const struct wr_draft_message *m)
{
    const struct wr_draft *d = f->draft;
    wr_buf_text(&f->text, ",\"tool_calls\":[");
    for (uint32_t c = m->first_call; c != WR_DRAFT_NONE; c = d->calls[c].next) {
        if (c != m->first_call)
            wr_buf_byte(&f->text, ',');
        write_name(f, "{\"id\":\"", d->calls[c].id);
        write_name(f, ",\"type\":\"function\",\"function\":{\"name\":\"", d->calls[c].name);
        wr_buf_text(&f->text, ",\"arguments\":\"");
        wr_buf_append(&f->text, d->calls[c].arguments);
        wr_buf_text(&f->text, "\"}}");
    }
    wr_buf_byte(&f->text, ']');
}

static void write_message(struct finish *f, uint32_t message)
{
    const struct wr_draft *d = f->draft;
    const struct wr_draft_message *m = &d->messages[message];
    size_t start = f->text.len;

    wr_buf_printf(&f->text, "{\"role\":\"%s\",\"content\":\"", weir_role_name(m->role));
    for (uint32_t p = m->first_part; p != WR_DRAFT_NONE; p = d->parts[p].next) {
        if (p != m->first_part)
            wr_buf_text(&f->text, "\\n");
        wr_buf_append(&f->text, d->parts[p].text);
    }
    wr_buf_byte(&f->text, '"');
    if (m->first_call != WR_DRAFT_NONE)
        write_calls(f, m);
    wr_buf_byte(&f->text, '}');
    f->of_message[message] = end_doc(f, start, m->time_ms);
    f->docs[f->of_message[message]].thinks = m->thinks;
    f->session->has_thinking |= m->thinks;
}

static uint32_t write_finish_result(struct finish *f, const struct wr_draft_call *call,
                                    weir_span content)
{
    size_t start = f->text.len;
    write_name(f, "{\"role\":\"tool\",\"tool_call_id\":\"", call->id);
    write_name(f, ",\"name\":\"", call->name);
    wr_buf_text(&f->text, ",\"content\":\"");
    wr_buf_append(&f->text, content);
    wr_buf_text(&f->text, "\"}");
    return end_doc(f, start, call->result_ms);
}

/* The results of a message's calls, in their order. Nothing is made up for the last answer's: no
 * request holds them. */
static void write_results(struct finish *f, uint32_t message)
{
    const struct wr_draft *d = f->draft;
    const char *missing = d->missing ? d->missing : missing_text;
    for (uint32_t c = d->messages[message].first_call; c != WR_DRAFT_NONE; c = d->calls[c].next) {
        const struct wr_draft_call *call = &d->calls[c];
        if (!call->is_answered && message == f->last_answer)
            continue;
        d->notes[WR_IMPORT_RESULT_MISSING] += !call->is_answered;
        f->of_result[c] =
            write_finish_result(f, call, call->is_answered ? call->result : wr_span_of(missing));
    }
}

/* ---- the messages of the log ---- */

static void write_finish_answer(struct finish *f, uint32_t message)
{
    struct wr_session *s = f->session;
    if (f->draft->messages[message].is_hosts)
        ; /* nobody was asked */
    else if (f->has_content)
        s->requests[s->requests_count++] = f->docs_count;
    else
        f->draft->notes[WR_IMPORT_ANSWER_UNASKED]++;
    write_message(f, message);
    write_results(f, message);
    f->has_content = true;
}

static void place_compaction(struct finish *f, uint32_t number)
{
    const struct wr_draft *d = f->draft;
    const struct wr_draft_compaction *c = &d->compactions[number];
    f->session->compactions[f->session->compactions_count++].at = f->docs_count;
    f->has_content = false;
    for (uint32_t i = 0; i < c->kept_count && !f->has_content; i++) {
        const struct wr_draft_message *m = &d->messages[d->kept[c->kept_first + i]];
        f->has_content = m->role != WEIR_ROLE_SYSTEM && !is_empty(m);
    }
}

static void write_log(struct finish *f)
{
    struct wr_draft *d = f->draft;
    for (uint32_t i = 0; i < d->messages_count; i++) {
        const struct wr_draft_message *m = &d->messages[i];
        if (m->role == WEIR_ROLE_NONE) {
            place_compaction(f, m->compaction);
        } else if (m->is_hidden || is_empty(m)) {
            continue;
        } else if (m->role == WEIR_ROLE_ASSISTANT) {
            write_finish_answer(f, i);
        } else {
            write_message(f, i);
            f->has_content |= m->role != WEIR_ROLE_SYSTEM;
        }
    }
    f->session->messages_count = f->docs_count;
}

/* ---- what compactions left ---- */

static bool is_cleared(const struct wr_draft_call *call, uint32_t compaction)
{
    return call->is_answered && call->cleared_by <= compaction;
}

/* Writes what the log's messages do not have: messages of its own, and cleared results. */
static uint32_t write_kept(struct finish *f, uint32_t compaction, uint32_t message)
{
    const struct wr_draft *d = f->draft;
    const struct wr_draft_message *m = &d->messages[message];
    uint32_t count = 1;

    if (is_empty(m))
        return 0;
    if (f->of_message[message] == WR_DRAFT_NONE) {
        write_message(f, message);
        write_results(f, message);
    }
    for (uint32_t c = m->first_call; c != WR_DRAFT_NONE; c = d->calls[c].next) {
        count += f->of_result[c] != WR_DRAFT_NONE;
        if (is_cleared(&d->calls[c], compaction) && f->of_cleared[c] == WR_DRAFT_NONE)
            f->of_cleared[c] = write_finish_result(f, &d->calls[c], wr_span_of(cleared_text));
    }
    return count;
}

static void write_compactions(struct finish *f)
{
    const struct wr_draft *d = f->draft;
    for (uint32_t k = 0; k < d->compactions_count; k++) {
        const struct wr_draft_compaction *c = &d->compactions[k];
        for (uint32_t i = 0; i < c->kept_count; i++)
            f->session->compactions[k].kept_count += write_kept(f, k, d->kept[c->kept_first + i]);
    }
}

static void list_kept(const struct finish *f, const struct wr_json *docs, uint32_t compaction,
                      uint32_t message, struct wr_session_compaction *out)
{
    const struct wr_draft *d = f->draft;
    if (is_empty(&d->messages[message]))
        return;
    out->kept_thinks[out->kept_count] = d->messages[message].thinks;
    out->kept[out->kept_count++] = docs[f->of_message[message]];
    for (uint32_t c = d->messages[message].first_call; c != WR_DRAFT_NONE; c = d->calls[c].next) {
        if (f->of_result[c] == WR_DRAFT_NONE)
            continue;
        bool cleared = is_cleared(&d->calls[c], compaction);
        out->kept[out->kept_count++] = docs[cleared ? f->of_cleared[c] : f->of_result[c]];
    }
}

static weir_status list_compactions(struct finish *f, const struct wr_json *docs)
{
    const struct wr_draft *d = f->draft;
    for (uint32_t k = 0; k < d->compactions_count; k++) {
        const struct wr_draft_compaction *c = &d->compactions[k];
        struct wr_session_compaction *out = &f->session->compactions[k];
        out->kept = WR_ARENA_ARRAY(f->arena, struct wr_json, out->kept_count);
        out->kept_thinks = WR_ARENA_ARRAY(f->arena, bool, out->kept_count);
        if (!out->kept || !out->kept_thinks)
            return wr_arena_status(f->arena);
        out->kept_count = 0;
        for (uint32_t i = 0; i < c->kept_count; i++)
            list_kept(f, docs, k, d->kept[c->kept_first + i], out);
    }
    return WEIR_OK;
}

/* ---- the session ---- */

static weir_status copy_name(struct finish *f, weir_span name, weir_span *copy)
{
    *copy = wr_arena_copy(f->arena, name);
    return copy->ptr ? WEIR_OK : wr_arena_status(f->arena);
}

static weir_status name_model(struct finish *f)
{
    const struct wr_draft *d = f->draft;
    const struct wr_draft_model *most = NULL;
    for (uint32_t i = 0; i < d->models_count; i++)
        if (!most || d->models[i].count > most->count)
            most = &d->models[i];
    f->session->models_count = d->models_count;
    return most ? copy_name(f, most->name, &f->session->model) : WEIR_OK;
}

/* Reads what was written; the nodes and the one text of all messages live with the session. */
static weir_status read_docs(struct finish *f)
{
    struct wr_session *s = f->session;
    weir_span text = wr_arena_copy(f->arena, wr_buf_view(&f->text));
    struct wr_json *docs = WR_ARENA_ARRAY(f->arena, struct wr_json, f->docs_count);
    weir_status status = text.ptr && docs ? WEIR_OK : wr_arena_status(f->arena);

    for (uint32_t i = 0; i < f->docs_count && !status; i++) {
        weir_span one = wr_span_cut(text, f->docs[i].start, f->docs[i].end);
        status = wr_json_parse(&docs[i], f->arena, one, NULL, NULL);
        if (!status)
            status = wr_session_note_tools(s, &docs[i]);
    }
    if (status)
        return status;
    s->messages = docs;
    for (uint32_t i = 0; i < s->messages_count; i++) {
        s->thinks[i] = f->docs[i].thinks;
        s->times_ms[i] = f->docs[i].time_ms;
        s->has_times |= f->docs[i].time_ms != WR_SESSION_NO_TIME;
    }
    return list_compactions(f, docs);
}

static uint32_t *none_array(struct wr_arena *arena, uint32_t count)
{
    uint32_t *array = WR_ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t i = 0; array && i < count; i++)
        array[i] = WR_DRAFT_NONE;
    return array;
}

static weir_status make_room(struct finish *f)
{
    struct wr_draft *d = f->draft;
    struct wr_session *s = f->session;
    /* A result can be written twice: as it came, and cleared. */
    f->docs = WR_ARENA_ARRAY(d->arena, struct doc, d->messages_count + 2 * (size_t)d->calls_count);
    f->of_message = none_array(d->arena, d->messages_count);
    f->of_result = none_array(d->arena, d->calls_count);
    f->of_cleared = none_array(d->arena, d->calls_count);
    if (!f->docs || !f->of_message || !f->of_result || !f->of_cleared)
        return wr_arena_status(d->arena);
    s->requests = WR_ARENA_ARRAY(f->arena, uint32_t, d->messages_count);
    s->times_ms = WR_ARENA_ARRAY(f->arena, int64_t, d->messages_count + (size_t)d->calls_count);
    s->thinks = WR_ARENA_ARRAY(f->arena, bool, d->messages_count + (size_t)d->calls_count);
    s->compactions = WR_ARENA_ARRAY(f->arena, struct wr_session_compaction, d->compactions_count);
    return s->requests && s->times_ms && s->thinks && s->compactions ? WEIR_OK
                                                                     : wr_arena_status(f->arena);
}

static void find_last_answer(struct finish *f)
{
    const struct wr_draft *d = f->draft;
    f->last_answer = WR_DRAFT_NONE;
    for (uint32_t i = 0; i < d->messages_count; i++) {
        const struct wr_draft_message *m = &d->messages[i];
        if (m->role == WEIR_ROLE_ASSISTANT && !m->is_hidden && !is_empty(m))
            f->last_answer = i;
    }
}

weir_status wr_draft_finish(struct wr_draft *draft, struct wr_arena *arena,
                            struct wr_session *session)
{
    struct finish f = {.draft = draft, .arena = arena, .session = session};
    *session = (struct wr_session){.arena = arena};
    if (draft->status)
        return draft->status;
    weir_status status = make_room(&f);
    if (status)
        return status;
    wr_buf_init(&f.text, WR_ARENA_BYTES_MAX);
    find_last_answer(&f);
    write_log(&f);
    if (!session->requests_count) {
        draft->notes[WR_IMPORT_SESSION_EMPTY]++;
        status = WEIR_NOTFOUND;
    }
    if (!status) {
        write_compactions(&f);
        status = wr_buf_status(&f.text);
    }
    if (!status)
        status = read_docs(&f);
    if (!status)
        status = name_model(&f);
    wr_buf_release(&f.text);
    return status;
}
