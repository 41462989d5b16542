#include "engine/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"

#define LATE "late "

enum { SENT_BYTES_MAX = 160, LATE_BYTES_MAX = 24, LIST_FIRST_COUNT = 16 };

struct held_mark {
    uint64_t tenant; /* hash */
    weir_hash key;
};

struct wr_marks_held {
    struct held_mark marks[WR_MARKS_HELD_MAX];
    uint32_t count;
};

weir_status wr_marks_held_new(struct wr_marks_held **held)
{
    *held = calloc(1, sizeof(**held));
    return *held ? WEIR_OK : WEIR_NOMEM;
}

void wr_marks_held_free(struct wr_marks_held *held)
{
    free(held);
}

/* ---- keys ---- */

static void put_number(unsigned char *out, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(number >> 8 * i);
}

/* What was decided under a policy and a window; `sent` holds under any. */
static weir_hash key_of(const struct wr_marks *marks, uint32_t turn, bool is_sent)
{
    weir_hash key = {{0}};
    put_number(key.bytes, marks->trail.turns[turn].low);
    put_number(key.bytes + 8, marks->trail.turns[turn].high);
    if (is_sent)
        return key;
    put_number(key.bytes + 16, marks->policy);
    put_number(key.bytes + 24, marks->window_tokens);
    return key;
}

/* ---- values ---- */

static bool take_hex(weir_span *text, uint64_t *number)
{
    *number = 0;
    if (text->len < 17)
        return false;
    for (size_t i = 0; i < 16; i++) {
        char c = text->ptr[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
        *number = *number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *text = wr_span_cut(*text, 17, text->len);
    return true;
}

static void write_sent(char out[SENT_BYTES_MAX], const struct wr_sent *sent)
{
    const uint64_t fields[] = {(uint64_t)sent->at_ms, sent->model,         sent->head,
                               sent->policy,          sent->window_tokens, sent->forms.low,
                               sent->forms.high};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        (void)snprintf(out + 17 * i, 18, "%016llx ", (unsigned long long)fields[i]);
}

static bool read_sent(weir_span value, struct wr_sent *sent)
{
    uint64_t at_ms;
    bool ok = take_hex(&value, &at_ms) && take_hex(&value, &sent->model) &&
              take_hex(&value, &sent->head) && take_hex(&value, &sent->policy) &&
              take_hex(&value, &sent->window_tokens) && take_hex(&value, &sent->forms.low) &&
              take_hex(&value, &sent->forms.high);
    sent->at_ms = (int64_t)at_ms;
    return ok;
}

/* ---- the list ---- */

static weir_status add(struct wr_marks *marks, const struct weir_mark *mark)
{
    if (marks->list_count == marks->list_cap) {
        uint32_t cap = marks->list_cap ? marks->list_cap * 2 : LIST_FIRST_COUNT;
        struct weir_mark *grown = wr_arena_grow(
            marks->arena, marks->list, marks->list_cap * sizeof(*grown), cap * sizeof(*grown));
        if (!grown)
            return wr_arena_status(marks->arena);
        marks->list = grown;
        marks->list_cap = cap;
    }
    marks->list[marks->list_count++] = *mark;
    return WEIR_OK;
}

/* Two processes may be told of one turn at once: what was said last holds. */
static bool is_replaced(weir_mark_kind kind)
{
    return kind == WEIR_MARK_WINDOW || kind == WEIR_MARK_ANSWER;
}

weir_status wr_marks_add(struct wr_marks *marks, weir_mark_kind kind, uint32_t turn,
                         weir_span value)
{
    struct weir_mark mark = {.key = key_of(marks, turn, false),
                             .kind = kind,
                             .value = value,
                             .replaces = is_replaced(kind)};
    return add(marks, &mark);
}

weir_status wr_marks_add_sent(struct wr_marks *marks, int64_t at_ms, wr_hash128 forms,
                              struct wr_sent *sent)
{
    *sent = (struct wr_sent){.is_known = true,
                             .turn = marks->trail.turns_count - 1,
                             .at_ms = at_ms,
                             .model = marks->trail.model,
                             .head = marks->trail.head,
                             .policy = marks->policy,
                             .window_tokens = marks->window_tokens,
                             .forms = forms};
    char *text = wr_arena_alloc(marks->arena, SENT_BYTES_MAX);
    if (!text)
        return wr_arena_status(marks->arena);
    write_sent(text, sent);
    struct weir_mark mark = {.key = key_of(marks, marks->trail.turns_count - 1, true),
                             .kind = WEIR_MARK_SENT,
                             .value = wr_span_of(text),
                             .replaces = true};
    return add(marks, &mark);
}

/* ---- reading ---- */

struct reading {
    struct wr_marks *marks;
    uint32_t first;     /* the turn of the first key */
    uint32_t sent_from; /* keys from here on are those of `sent`, newest turn first */
};

static weir_status copy(struct wr_marks *marks, const struct weir_mark *found)
{
    struct weir_mark mark = *found;
    mark.replaces = is_replaced(mark.kind);
    mark.value = wr_arena_copy(marks->arena, found->value);
    return mark.value.ptr ? add(marks, &mark) : wr_arena_status(marks->arena);
}

/* "late 3": from its fourth segment on; nothing: all of it. */
static void read_kept(struct wr_fold_turn *turn, weir_span value)
{
    uint64_t from;
    turn->is_late = wr_span_starts(value, WR_LIT(LATE)) &&
                    wr_span_u64(wr_span_cut(value, sizeof(LATE) - 1, value.len), &from) &&
                    from < UINT32_MAX;
    turn->is_whole = !turn->is_late;
    turn->late_from = turn->is_late ? (uint32_t)from : 0;
}

weir_status wr_marks_add_late(struct wr_marks *marks, uint32_t turn, uint32_t from)
{
    char *value = wr_arena_alloc(marks->arena, LATE_BYTES_MAX);
    if (!value)
        return wr_arena_status(marks->arena);
    (void)snprintf(value, LATE_BYTES_MAX, LATE "%u", (unsigned)from);
    marks->turns[turn].is_late = true;
    marks->turns[turn].late_from = from;
    struct weir_mark mark = {.key = key_of(marks, turn, false),
                             .kind = WEIR_MARK_KEPT_WHOLE,
                             .value = wr_span_of(value),
                             .replaces = true};
    return add(marks, &mark);
}

/* "8000": the request named them; nothing: it did not. */
static void read_answer(struct wr_fold_turn *turn, weir_span value)
{
    turn->answer = wr_span_u64(value, &turn->answer_tokens) ? WR_ANSWER_NAMED : WR_ANSWER_DEFAULT;
}

weir_status wr_marks_add_answer(struct wr_marks *marks, uint32_t turn, bool is_named,
                                uint64_t tokens)
{
    char *value = wr_arena_alloc(marks->arena, LATE_BYTES_MAX);
    if (!value)
        return wr_arena_status(marks->arena);
    value[0] = '\0';
    if (is_named)
        (void)snprintf(value, LATE_BYTES_MAX, "%llu", (unsigned long long)tokens);
    read_answer(&marks->turns[turn], wr_span_of(value));
    return wr_marks_add(marks, WEIR_MARK_ANSWER, turn, wr_span_of(value));
}

static weir_status take_mark(struct wr_marks *marks, uint32_t turn, const struct weir_mark *mark)
{
    uint64_t number;
    switch (mark->kind) {
    case WEIR_MARK_STEP:
        marks->turns[turn].is_cold = true;
        break;
    case WEIR_MARK_KEPT_WHOLE:
        read_kept(&marks->turns[turn], mark->value);
        break;
    case WEIR_MARK_ATTACHED:
        for (uint32_t i = 0; i <= turn; i++)
            marks->turns[i].is_whole = true;
        break;
    case WEIR_MARK_WINDOW:
        if (wr_span_u64(mark->value, &number))
            marks->turns[turn].window_tokens = number;
        break;
    case WEIR_MARK_ANSWER:
        read_answer(&marks->turns[turn], mark->value);
        break;
    case WEIR_MARK_SENT:
    case WEIR_MARK_KINDS_COUNT:
        return WEIR_OK;
    }
    return copy(marks, mark);
}

static weir_status found(void *user, size_t key_index, const struct weir_mark *mark)
{
    struct reading *reading = user;
    struct wr_marks *marks = reading->marks;

    if (key_index < reading->sent_from)
        return take_mark(marks, reading->first + (uint32_t)key_index, mark);
    if (mark->kind != WEIR_MARK_SENT || marks->last.is_known)
        return WEIR_OK;
    marks->last.is_known = read_sent(mark->value, &marks->last);
    marks->last.turn = marks->trail.turns_count - 1 - (uint32_t)(key_index - reading->sent_from);
    return WEIR_OK;
}

static bool is_held(const struct wr_marks_held *held, uint64_t tenant, const weir_hash *key)
{
    for (uint32_t i = 0; held && i < held->count; i++)
        if (held->marks[i].tenant == tenant && !memcmp(&held->marks[i].key, key, sizeof(*key)))
            return true;
    return false;
}

/* Reads the marks of the turns from `first` on, and which was sent last of the newest `sent`. */
static weir_status read_from(struct wr_marks *marks, const struct wr_marks_input *input,
                             uint32_t first, uint32_t sent)
{
    uint32_t turns = marks->trail.turns_count, count = turns - first;
    weir_hash *keys = WR_ARENA_ARRAY(marks->arena, weir_hash, (size_t)count + sent);
    struct reading reading = {marks, first, count};
    uint64_t tenant = wr_hash64(input->tenant);

    if (!keys)
        return wr_arena_status(marks->arena);
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = key_of(marks, first + i, false);
        if (is_held(input->held, tenant, &keys[i]))
            marks->turns[first + i].is_whole = true;
    }
    for (uint32_t i = 0; i < sent; i++)
        keys[count + i] = key_of(marks, turns - 1 - i, true);
    return weir_store_marks(input->store, input->tenant, keys, (size_t)count + sent, found,
                            &reading, NULL);
}

static bool is_same_sent(const struct wr_sent *a, const struct wr_sent *b)
{
    return a->is_known && b->is_known && a->turn == b->turn && a->at_ms == b->at_ms &&
           a->model == b->model && a->head == b->head && a->policy == b->policy &&
           a->window_tokens == b->window_tokens && a->forms.low == b->forms.low &&
           a->forms.high == b->forms.high;
}

/* Where the last request that was sent is still the one that is remembered, nobody has written a
 * mark of its turns since. */
static weir_status read_new(struct wr_marks *marks, const struct wr_marks_input *input)
{
    uint32_t known = input->known_turns_count, turns = marks->trail.turns_count;

    if (!input->known_turns || known > turns || turns - known >= WR_MARKS_LOOK_BACK_TURNS ||
        (input->held && input->held->count))
        return WEIR_OK;
    weir_status status = read_from(marks, input, known, turns - known + 1);
    marks->is_remembered = !status && is_same_sent(&marks->last, input->known_sent);
    if (marks->is_remembered)
        memcpy(marks->turns, input->known_turns, known * sizeof(*marks->turns));
    return status;
}

static weir_status read_all(struct wr_marks *marks, const struct wr_marks_input *input)
{
    uint32_t turns = marks->trail.turns_count;

    marks->last = (struct wr_sent){0};
    marks->list_count = 0;
    memset(marks->turns, 0, turns * sizeof(*marks->turns));
    return read_from(marks, input, 0,
                     turns < WR_MARKS_LOOK_BACK_TURNS ? turns : WR_MARKS_LOOK_BACK_TURNS);
}

weir_status wr_marks_read(struct wr_marks *marks, struct wr_arena *arena,
                          const struct wr_marks_input *input)
{
    *marks = (struct wr_marks){.arena = arena,
                               .trail = *input->trail,
                               .policy = wr_policy_hash(input->policy),
                               .window_tokens = input->window_tokens};
    marks->turns = WR_ARENA_ARRAY(arena, struct wr_fold_turn, marks->trail.turns_count);
    if (!marks->turns)
        return wr_arena_status(arena);
    if (!marks->trail.turns_count || !input->store)
        return WEIR_OK;
    weir_status status = read_new(marks, input);
    return status || marks->is_remembered ? status : read_all(marks, input);
}

/* ---- what the store would not take ---- */

void wr_marks_hold(struct wr_marks_held *held, weir_span tenant, const struct wr_marks *marks)
{
    struct held_mark mark = {wr_hash64(tenant), key_of(marks, marks->trail.turns_count - 1, false)};

    if (is_held(held, mark.tenant, &mark.key))
        return;
    if (held->count == WR_MARKS_HELD_MAX) {
        /* The oldest is forgotten: its session may lose its cached prefix, which is then reported.
         */
        memmove(held->marks, held->marks + 1, (WR_MARKS_HELD_MAX - 1) * sizeof(*held->marks));
        held->count--;
    }
    held->marks[held->count++] = mark;
}

weir_status wr_marks_add_held(struct wr_marks *marks, const struct wr_marks_held *held,
                              weir_span tenant)
{
    uint64_t hash = wr_hash64(tenant);
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < held->count && !status; i++) {
        struct weir_mark mark = {.key = held->marks[i].key,
                                 .kind = WEIR_MARK_KEPT_WHOLE,
                                 .value = {"", 0},
                                 .replaces = true};
        if (held->marks[i].tenant == hash)
            status = add(marks, &mark);
    }
    return status;
}

void wr_marks_release_held(struct wr_marks_held *held, weir_span tenant)
{
    uint64_t hash = wr_hash64(tenant);
    uint32_t left = 0;
    for (uint32_t i = 0; i < held->count; i++)
        if (held->marks[i].tenant != hash)
            held->marks[left++] = held->marks[i];
    held->count = left;
}
