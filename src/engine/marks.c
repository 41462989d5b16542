/* What is read, and when:
 *
 *   the fold of the last request is remembered   read_new: the marks of the newest turns
 *   it is not, or another node went on from it   read_all: the marks of all turns
 *   the store that it was committed to is gone   restore: what is remembered, for the new store
 *   the session has sent none of these turns     copy_kin: who sent them last, and its marks
 *
 * Each line is one lookup in the store (the last one two), and a session comes to the last line
 * once: its first commit holds the copies.
 *
 * The session is hashed into the key, where a column of its own would have changed the interface
 * that hosts implement and every store there is. */
#include "engine/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

#define LATE   "late "
#define CACHED "cached"
#define EXACT  "exact"

enum {
    SENT_BYTES_MAX = 160,
    SESSION_BYTES_MAX = 40,
    LATE_BYTES_MAX = 24,
    WINDOW_BYTES_MAX = 24,
    WORDS_BYTES_MAX = 36, /* behind the numbers of `sent` */
    LIST_FIRST_COUNT = 16
};

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

static const wr_hash128 nobody = {0, 0}; /* whose keys are the turns alone */

static bool is_same_hash(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* `sent` and `session` hold under any policy and window. */
static weir_hash key_of_any(const struct wr_marks *marks, wr_hash128 whose, uint32_t turn)
{
    weir_hash key = {{0}};
    wr_hash128 chain = marks->trail.turns[turn];
    if (!is_same_hash(whose, nobody))
        chain = wr_hash128_add(chain, whose);
    put_number(key.bytes, chain.low);
    put_number(key.bytes + 8, chain.high);
    return key;
}

/* What was decided under a policy and a window. */
static weir_hash key_of(const struct wr_marks *marks, wr_hash128 whose, uint32_t turn)
{
    weir_hash key = key_of_any(marks, whose, turn);
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
        if (!wr_is_lower_hex(c))
            return false;
        *number = *number << 4 | (uint64_t)wr_hex_value(c);
    }
    *text = wr_span_cut(*text, 17, text->len);
    return true;
}

/* 16 digits and a space. printf() would take most of the time of a mark. */
static char *put_hex(char *out, uint64_t number)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        *out++ = "0123456789abcdef"[number >> shift & 15];
    *out++ = ' ';
    return out;
}

static void write_sent(char out[SENT_BYTES_MAX], const struct wr_sent *sent)
{
    const uint64_t fields[] = {(uint64_t)sent->at_ms, sent->model,         sent->head,
                               sent->policy,          sent->window_tokens, sent->forms.low,
                               sent->forms.high};
    for (size_t i = 0; i < WR_COUNT_OF(fields); i++)
        out = put_hex(out, fields[i]);
    (void)snprintf(out, WORDS_BYTES_MAX, "%s", sent->is_cached ? CACHED : "");
    out += strlen(out);
    if (sent->orders || sent->is_exact)
        (void)snprintf(out, WORDS_BYTES_MAX - sizeof(CACHED), " %llu%s",
                       (unsigned long long)sent->orders, sent->is_exact ? " " EXACT : "");
}

/* "cached 12 exact": each of the three may be missing, the last two only together. */
static void read_words(weir_span words, struct wr_sent *sent)
{
    size_t space = wr_span_find(words, WR_LIT(" "), 0);
    weir_span first = wr_span_cut(words, 0, space < words.len ? space : words.len);

    sent->is_cached = wr_span_is(first, CACHED);
    if (space == SIZE_MAX)
        return;
    words = wr_span_from(words, space + 1);
    space = wr_span_find(words, WR_LIT(" "), 0);
    if (!wr_span_u64(wr_span_cut(words, 0, space < words.len ? space : words.len), &sent->orders))
        sent->orders = 0;
    sent->is_exact = space != SIZE_MAX && wr_span_is(wr_span_from(words, space + 1), EXACT);
}

static bool read_sent(weir_span value, struct wr_sent *sent)
{
    uint64_t at_ms;
    bool ok = take_hex(&value, &at_ms) && take_hex(&value, &sent->model) &&
              take_hex(&value, &sent->head) && take_hex(&value, &sent->policy) &&
              take_hex(&value, &sent->window_tokens) && take_hex(&value, &sent->forms.low) &&
              take_hex(&value, &sent->forms.high);
    sent->at_ms = (int64_t)at_ms;
    if (ok)
        read_words(value, sent);
    return ok;
}

static void write_session(char out[SESSION_BYTES_MAX], wr_hash128 session)
{
    *put_hex(put_hex(out, session.low), session.high) = '\0';
}

static bool read_session(weir_span value, wr_hash128 *session)
{
    return take_hex(&value, &session->low) && take_hex(&value, &session->high);
}

/* ---- the list ---- */

static weir_status add_mark(struct wr_marks *marks, const struct weir_mark *mark)
{
    if (!WR_ARENA_ROOM(marks->arena, marks->list, marks->list_count, marks->list_cap,
                       LIST_FIRST_COUNT))
        return wr_arena_status(marks->arena);
    marks->list[marks->list_count++] = *mark;
    return WEIR_OK;
}

/* Two processes may be told of one turn at once: what was said last holds. */
static bool is_replaced(weir_mark_kind kind)
{
    return kind == WEIR_MARK_WINDOW || kind == WEIR_MARK_ANSWER || kind == WEIR_MARK_COUNT ||
           kind == WEIR_MARK_LOOK_ALIKE || kind == WEIR_MARK_ORDERS;
}

weir_status wr_marks_add(struct wr_marks *marks, weir_mark_kind kind, uint32_t turn,
                         weir_span value)
{
    struct weir_mark mark = {.key = key_of(marks, marks->session, turn),
                             .kind = kind,
                             .value = value,
                             .replaces = is_replaced(kind)};
    return add_mark(marks, &mark);
}

static weir_status add_sent(struct wr_marks *marks, const struct wr_sent *sent)
{
    uint32_t turn = sent->turn;
    char *text = wr_arena_alloc(marks->arena, SENT_BYTES_MAX);
    char *session = wr_arena_alloc(marks->arena, SESSION_BYTES_MAX);
    if (!text || !session)
        return wr_arena_status(marks->arena);
    write_sent(text, sent);
    write_session(session, marks->session);
    struct weir_mark was_sent = {.key = key_of_any(marks, marks->session, turn),
                                 .kind = WEIR_MARK_SENT,
                                 .value = wr_span_of(text),
                                 .replaces = true};
    struct weir_mark by_whom = {.key = key_of_any(marks, nobody, turn),
                                .kind = WEIR_MARK_SESSION,
                                .value = wr_span_of(session),
                                .replaces = true};
    weir_status status = add_mark(marks, &was_sent);
    return status ? status : add_mark(marks, &by_whom);
}

weir_status wr_marks_add_sent(struct wr_marks *marks, uint32_t turn, int64_t at_ms,
                              wr_hash128 forms, struct wr_sent *sent)
{
    *sent = (struct wr_sent){.is_known = true,
                             .turn = turn,
                             .at_ms = at_ms,
                             .model = marks->trail.model,
                             .head = marks->trail.head,
                             .policy = marks->policy,
                             .window_tokens = marks->window_tokens,
                             .forms = forms,
                             .is_cached = marks->is_cached,
                             .is_exact = marks->is_exact,
                             .orders = marks->orders};
    return add_sent(marks, sent);
}

/* ---- look-alikes ---- */

static bool is_same_key(const weir_hash *a, const weir_hash *b)
{
    return !memcmp(a, b, sizeof(*a));
}

weir_span wr_marks_look_alikes(const struct wr_marks *marks, uint32_t turn)
{
    weir_hash key = key_of(marks, marks->session, turn);
    for (uint32_t i = 0; i < marks->list_count; i++)
        if (marks->list[i].kind == WEIR_MARK_LOOK_ALIKE && is_same_key(&marks->list[i].key, &key))
            return marks->list[i].value;
    return (weir_span){"", 0};
}

weir_status wr_marks_set_look_alikes(struct wr_marks *marks, uint32_t turn, weir_span handles)
{
    struct weir_mark mark = {.key = key_of(marks, marks->session, turn),
                             .kind = WEIR_MARK_LOOK_ALIKE,
                             .value = handles,
                             .replaces = true};
    for (uint32_t i = 0; i < marks->list_count; i++) {
        if (marks->list[i].kind != mark.kind || !is_same_key(&marks->list[i].key, &mark.key))
            continue;
        marks->list[i] = mark;
        return WEIR_OK;
    }
    return add_mark(marks, &mark);
}

/* ---- reading ---- */

struct reading {
    struct wr_marks *marks;
    uint32_t first;     /* the turn of the first key */
    uint32_t sent_from; /* keys from here on are those of `sent`, newest turn first */
};

/* Lists what was found, as a mark of this session. */
static weir_status list_found(struct wr_marks *marks, uint32_t turn, const struct weir_mark *found)
{
    struct weir_mark mark = *found;
    bool is_sent = mark.kind == WEIR_MARK_SENT;
    mark.replaces = is_sent || is_replaced(mark.kind);
    mark.key =
        is_sent ? key_of_any(marks, marks->session, turn) : key_of(marks, marks->session, turn);
    mark.value = wr_arena_copy(marks->arena, found->value);
    return mark.value.ptr ? add_mark(marks, &mark) : wr_arena_status(marks->arena);
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
    struct weir_mark mark = {.key = key_of(marks, marks->session, turn),
                             .kind = WEIR_MARK_KEPT_WHOLE,
                             .value = wr_span_of(value),
                             .replaces = true};
    return add_mark(marks, &mark);
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

weir_status wr_marks_add_window(struct wr_marks *marks, uint32_t turn, uint64_t window_tokens)
{
    char *value = wr_arena_alloc(marks->arena, WINDOW_BYTES_MAX);
    if (!value)
        return wr_arena_status(marks->arena);
    (void)snprintf(value, WINDOW_BYTES_MAX, "%llu", (unsigned long long)window_tokens);
    marks->turns[turn].window_tokens = window_tokens;
    return wr_marks_add(marks, WEIR_MARK_WINDOW, turn, wr_span_of(value));
}

weir_status wr_marks_add_count(struct wr_marks *marks, uint32_t turn, uint32_t factor_bp)
{
    char *value = wr_arena_alloc(marks->arena, LATE_BYTES_MAX);
    if (!value)
        return wr_arena_status(marks->arena);
    (void)snprintf(value, LATE_BYTES_MAX, "%u", (unsigned)factor_bp);
    marks->turns[turn].factor_bp = factor_bp;
    return wr_marks_add(marks, WEIR_MARK_COUNT, turn, wr_span_of(value));
}

weir_status wr_marks_add_orders(struct wr_marks *marks, uint32_t turn, weir_span orders)
{
    weir_span before = marks->turns[turn].orders;
    char *all = wr_arena_alloc(marks->arena, before.len + orders.len);

    if (!all)
        return wr_arena_status(marks->arena);
    if (before.len)
        memcpy(all, before.ptr, before.len);
    memcpy(all + before.len, orders.ptr, orders.len);
    marks->turns[turn].orders = (weir_span){all, before.len + orders.len};
    return wr_marks_add(marks, WEIR_MARK_ORDERS, turn, marks->turns[turn].orders);
}

static weir_status take_mark(struct wr_marks *marks, uint32_t turn, const struct weir_mark *mark)
{
    uint64_t number;
    switch (mark->kind) {
    case WEIR_MARK_STEP:
        marks->turns[turn].is_switched = wr_span_is(mark->value, WR_STEP_POLICY_WORD);
        marks->turns[turn].is_cold = !marks->turns[turn].is_switched;
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
    case WEIR_MARK_COUNT:
        if (wr_span_u64(mark->value, &number) && number <= UINT32_MAX)
            marks->turns[turn].factor_bp = (uint32_t)number;
        break;
    case WEIR_MARK_ANSWER:
        read_answer(&marks->turns[turn], mark->value);
        break;
    case WEIR_MARK_ORDERS: /* the mark dies when this returns */
        marks->turns[turn].orders = wr_arena_copy(marks->arena, mark->value);
        break;
    case WEIR_MARK_LOOK_ALIKE:
        break;
    case WEIR_MARK_SENT:
    case WEIR_MARK_SESSION:
    case WEIR_MARK_OWN:
    case WEIR_MARK_KINDS_COUNT:
        return WEIR_OK;
    }
    return list_found(marks, turn, mark);
}

static weir_status take_own(void *user, size_t key_index, const struct weir_mark *mark)
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

static void drop_held(struct wr_marks_held *held, uint64_t tenant, const weir_hash *key)
{
    uint32_t left = 0;

    for (uint32_t i = 0; held && i < held->count; i++)
        if (held->marks[i].tenant != tenant || memcmp(&held->marks[i].key, key, sizeof(*key)) != 0)
            held->marks[left++] = held->marks[i];
    if (held)
        held->count = left;
}

/* Turns that were sent whole while the store could not be written stay whole, unless another
 * node has sent them since: that node could not know, and its form is the one that is cached
 * now. */
static void keep_held(struct wr_marks *marks, const struct wr_marks_input *input,
                      const weir_hash *keys, uint32_t first, uint32_t count)
{
    uint64_t tenant = wr_hash64(input->tenant);

    for (uint32_t i = 0; i < count; i++) {
        if (!is_held(input->held, tenant, &keys[i]))
            continue;
        if (marks->last.is_known && first + i <= marks->last.turn)
            drop_held(input->held, tenant, &keys[i]);
        else
            marks->turns[first + i].is_whole = true;
    }
}

/* Reads the marks of the turns from `first` on, and which was sent last of the newest `sent`. */
static weir_status read_from(struct wr_marks *marks, const struct wr_marks_input *input,
                             uint32_t first, uint32_t sent)
{
    uint32_t turns = marks->trail.turns_count, count = turns - first;
    weir_hash *keys = WR_ARENA_ARRAY(marks->arena, weir_hash, (size_t)count + sent);
    struct reading reading = {marks, first, count};

    if (!keys)
        return wr_arena_status(marks->arena);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = key_of(marks, marks->session, first + i);
    for (uint32_t i = 0; i < sent; i++)
        keys[count + i] = key_of_any(marks, marks->session, turns - 1 - i);
    weir_status status = weir_store_marks(input->store, input->tenant, keys, (size_t)count + sent,
                                          take_own, &reading, NULL);
    keep_held(marks, input, keys, first, count);
    return status;
}

static bool is_same_sent(const struct wr_sent *a, const struct wr_sent *b)
{
    return a->is_known && b->is_known && a->turn == b->turn && a->at_ms == b->at_ms &&
           a->model == b->model && a->head == b->head && a->policy == b->policy &&
           a->window_tokens == b->window_tokens && a->is_cached == b->is_cached &&
           a->orders == b->orders && a->is_exact == b->is_exact && is_same_hash(a->forms, b->forms);
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

/* ---- what was lost with its store ---- */

static weir_status add_again(struct wr_marks *marks, weir_mark_kind kind, uint32_t turn,
                             weir_span value)
{
    weir_status status = wr_marks_add(marks, kind, turn, value);
    if (!status) /* whatever an older copy of the store may hold */
        marks->list[marks->list_count - 1].replaces = true;
    return status;
}

/* Writes what a remembered turn says under one kind of mark: what take_mark() would read. Every
 * kind has its case, so that a new one does not compile until somebody has decided about it here.
 */
static weir_status add_kind_again(struct wr_marks *marks, weir_mark_kind kind, uint32_t at)
{
    const struct wr_fold_turn turn = marks->turns[at];

    switch (kind) {
    case WEIR_MARK_STEP:
        if (!turn.is_cold && !turn.is_switched)
            return WEIR_OK;
        return add_again(marks, kind, at,
                         turn.is_switched ? WR_LIT(WR_STEP_POLICY_WORD)
                                          : WR_LIT(WR_STEP_COLD_WORD));
    case WEIR_MARK_KEPT_WHOLE:
        if (turn.is_whole)
            return add_again(marks, kind, at, (weir_span){"", 0});
        return turn.is_late ? wr_marks_add_late(marks, at, turn.late_from) : WEIR_OK;
    case WEIR_MARK_WINDOW:
        return turn.window_tokens ? wr_marks_add_window(marks, at, turn.window_tokens) : WEIR_OK;
    case WEIR_MARK_ANSWER:
        if (turn.answer == WR_ANSWER_AS_BEFORE)
            return WEIR_OK;
        return wr_marks_add_answer(marks, at, turn.answer == WR_ANSWER_NAMED, turn.answer_tokens);
    case WEIR_MARK_ORDERS:
        return turn.orders.len ? add_again(marks, kind, at, turn.orders) : WEIR_OK;
    case WEIR_MARK_COUNT:
        return turn.factor_bp ? wr_marks_add_count(marks, at, turn.factor_bp) : WEIR_OK;
    case WEIR_MARK_ATTACHED:   /* each of its turns is whole, and is written as that */
    case WEIR_MARK_LOOK_ALIKE: /* asked of the new store, since all is folded from the start */
    case WEIR_MARK_SENT:       /* add_sent() */
    case WEIR_MARK_SESSION:
    case WEIR_MARK_OWN: /* the proxy's, which keeps it itself */
    case WEIR_MARK_KINDS_COUNT:
        break;
    }
    return WEIR_OK;
}

static weir_status add_turn_again(struct wr_marks *marks, uint32_t at)
{
    weir_status status = WEIR_OK;

    for (int kind = 0; kind < WEIR_MARK_KINDS_COUNT && !status; kind++)
        status = add_kind_again(marks, (weir_mark_kind)kind, at);
    return status;
}

/* The store may have come from a copy and know the session's first turns. */
static weir_status restore(struct wr_marks *marks, const struct wr_marks_input *input)
{
    const struct wr_sent *sent = input->known_sent;
    uint32_t known = input->known_turns_count;
    weir_status status = WEIR_OK;

    if (!input->is_replaced || !input->known_turns || known > marks->trail.turns_count ||
        (marks->last.is_known && marks->last.turn >= sent->turn))
        return WEIR_OK;
    memcpy(marks->turns, input->known_turns, known * sizeof(*marks->turns));
    marks->last = *sent;
    for (uint32_t i = 0; i < known && !status; i++)
        status = add_turn_again(marks, i);
    return status ? status : add_sent(marks, sent);
}

/* ---- the marks of another session ---- */

struct kin {
    struct wr_marks *marks;
    uint32_t turns; /* so many keys are those of all sessions, newest turn first; then our own */
    bool is_found;
    uint32_t turn; /* the newest that it has sent */
    wr_hash128 session;
    bool is_own; /* we have sent one of these turns ourselves */
};

static weir_status take_kin(void *user, size_t key_index, const struct weir_mark *mark)
{
    struct kin *kin = user;
    uint32_t turn = kin->turns - 1 - (uint32_t)key_index;
    wr_hash128 session = nobody;

    if (key_index >= kin->turns) {
        kin->is_own = true;
        return WEIR_OK;
    }
    bool is_session = mark->kind == WEIR_MARK_SESSION && read_session(mark->value, &session);
    if (!is_session && mark->kind != WEIR_MARK_SENT)
        return WEIR_OK;
    /* Of one turn `session` comes after what a store of before had there, and is newer. */
    if (kin->is_found && (turn != kin->turn || !is_session))
        return WEIR_OK;
    kin->is_found = true;
    kin->turn = turn;
    kin->session = session;
    return WEIR_OK;
}

/* Who sent the longest beginning of this conversation last. */
static weir_status find_kin(struct wr_marks *marks, const struct wr_marks_input *input,
                            struct kin *kin)
{
    uint32_t turns = marks->trail.turns_count;
    weir_hash *keys = WR_ARENA_ARRAY(marks->arena, weir_hash, 2 * (size_t)turns);

    *kin = (struct kin){.marks = marks, .turns = turns};
    if (!keys)
        return wr_arena_status(marks->arena);
    for (uint32_t i = 0; i < turns; i++) {
        keys[i] = key_of_any(marks, nobody, turns - 1 - i);
        keys[turns + i] = key_of_any(marks, marks->session, i);
    }
    weir_status status =
        weir_store_marks(input->store, input->tenant, keys, 2 * (size_t)turns, take_kin, kin, NULL);
    kin->is_found = kin->is_found && !kin->is_own && !is_same_hash(kin->session, marks->session);
    return status;
}

static weir_status list_copy(struct wr_marks *marks, const struct wr_sent *sent)
{
    char *text = wr_arena_alloc(marks->arena, SENT_BYTES_MAX);
    if (!text)
        return wr_arena_status(marks->arena);
    write_sent(text, sent);
    struct weir_mark mark = {.key = key_of_any(marks, marks->session, sent->turn),
                             .kind = WEIR_MARK_SENT,
                             .value = wr_span_of(text),
                             .replaces = true};
    return add_mark(marks, &mark);
}

/* Keys of a turn stand in pairs: what was decided, and that it was sent. */
static weir_status take_copy(void *user, size_t key_index, const struct weir_mark *mark)
{
    struct kin *kin = user;
    struct wr_marks *marks = kin->marks;
    uint32_t turn = (uint32_t)(key_index / 2);

    if (key_index % 2 == 0)
        return take_mark(marks, turn, mark);
    if (mark->kind != WEIR_MARK_SENT)
        return WEIR_OK;
    struct wr_sent sent = {.turn = turn};
    sent.is_known = read_sent(mark->value, &sent);
    if (!sent.is_known)
        return WEIR_OK;
    sent.orders = 0; /* they are counted by session */
    if (marks->trail.turns_count - turn <= WR_MARKS_LOOK_BACK_TURNS)
        marks->last = sent;
    /* That of the newest turn is written with this request. */
    return turn + 1 < marks->trail.turns_count ? list_copy(marks, &sent) : WEIR_OK;
}

static weir_status copy_kin(struct wr_marks *marks, const struct wr_marks_input *input)
{
    struct kin kin;
    weir_status status = find_kin(marks, input, &kin);

    if (status || !kin.is_found)
        return status;
    size_t count = 2 * ((size_t)kin.turn + 1);
    weir_hash *keys = WR_ARENA_ARRAY(marks->arena, weir_hash, count);
    if (!keys)
        return wr_arena_status(marks->arena);
    for (uint32_t i = 0; i <= kin.turn; i++) {
        keys[2 * (size_t)i] = key_of(marks, kin.session, i);
        keys[2 * (size_t)i + 1] = key_of_any(marks, kin.session, i);
    }
    marks->is_copied = true;
    return weir_store_marks(input->store, input->tenant, keys, count, take_copy, &kin, NULL);
}

void wr_marks_drop_copies(struct wr_marks *marks)
{
    if (!marks->is_copied)
        return;
    marks->is_copied = false;
    marks->last = (struct wr_sent){0};
    marks->list_count = 0;
    /* Nothing was copied of the newest: it was not sent. It may be held whole. */
    memset(marks->turns, 0, (marks->trail.turns_count - 1) * sizeof(*marks->turns));
}

weir_status wr_marks_read(struct wr_marks *marks, struct wr_arena *arena,
                          const struct wr_marks_input *input)
{
    *marks = (struct wr_marks){.arena = arena,
                               .trail = *input->trail,
                               .session = wr_hash128_of(input->session),
                               .policy = wr_policy_hash(input->policy),
                               .window_tokens = input->window_tokens};
    marks->turns = WR_ARENA_ARRAY(arena, struct wr_fold_turn, marks->trail.turns_count);
    if (!marks->turns)
        return wr_arena_status(arena);
    if (!marks->trail.turns_count || !input->store)
        return WEIR_OK;
    weir_status status = read_new(marks, input);
    if (!status && !marks->is_remembered)
        status = read_all(marks, input);
    if (!status && !marks->is_remembered)
        status = restore(marks, input);
    if (status || marks->last.is_known || marks->list_count)
        return status;
    return copy_kin(marks, input);
}

/* ---- what the store would not take ---- */

void wr_marks_hold(struct wr_marks_held *held, weir_span tenant, const struct wr_marks *marks)
{
    struct held_mark mark = {wr_hash64(tenant),
                             key_of(marks, marks->session, marks->trail.turns_count - 1)};

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
            status = add_mark(marks, &mark);
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
