/* Orders: what somebody says about a session while it runs, read and written as lines; and what a
 * fold does with them.
 *
 * The words are tables, so that reading and writing cannot drift apart. A line that is not one of
 * them is refused and not guessed at: it may come from a person's hand. */
#include "policy/orders.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "policy/fold_inside.h"
#include "policy/policy.h"
#include "transcript/tool.h"

/* ---- as lines ---- */

static const char *const order_names[] = WR_NAMES_OF(WR_ORDER_MAP);

static const char *const pin_names[] = WR_NAMES_OF(WR_PIN_MAP);

const char *wr_pin_name(enum wr_pin_kind kind)
{
    return pin_names[kind];
}

/* The number of the word that `*text` begins with, which is cut off; `count`: none. */
static size_t take_word(weir_span *text, const char *const *words, size_t count)
{
    size_t space = wr_span_find(*text, WR_LIT(" "), 0), i = 0;
    weir_span word = wr_span_cut(*text, 0, space < text->len ? space : text->len);

    while (i < count && !wr_span_is(word, words[i]))
        i++;
    *text = wr_span_cut(*text, word.len + (word.len < text->len), text->len);
    return i;
}

/* No line's end, no other control byte: an order is a line, and is shown on terminals. */
static bool is_plain_line(weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7F)
            return false;
    return text.len <= WR_ORDER_BYTES_MAX;
}

static bool read_odds(weir_span text, struct wr_order *order)
{
    uint64_t pct;

    if (!wr_span_u64(text, &pct) || !pct || pct > WR_ODDS_LEARNED_PCT_MAX)
        return false;
    order->odds_pct = (uint32_t)pct;
    return true;
}

/* A handle has no space: what is behind one is the path. */
static bool read_pin(weir_span text, struct wr_order *order)
{
    size_t pin = take_word(&text, pin_names, WR_PINS_COUNT);
    size_t space = pin == WR_PIN_HANDLE ? wr_span_find(text, WR_LIT(" "), 0) : SIZE_MAX;

    order->pin = (enum wr_pin_kind)pin;
    order->name = wr_span_cut(text, 0, space < text.len ? space : text.len);
    if (space < text.len)
        order->of = wr_span_from(text, space + 1);
    return pin < WR_PINS_COUNT && order->name.len;
}

bool wr_order_read(weir_span line, struct wr_order *order)
{
    if (!is_plain_line(line))
        return false;
    size_t kind = take_word(&line, order_names, WR_ORDERS_COUNT);
    *order = (struct wr_order){.kind = (enum wr_order_kind)kind, .name = {"", 0}, .of = {"", 0}};
    if (kind == WR_ORDER_PIN || kind == WR_ORDER_UNPIN)
        return read_pin(line, order);
    if (kind == WR_ORDER_ODDS)
        return read_odds(line, order);
    return kind < WR_ORDERS_COUNT && !line.len;
}

void wr_order_write(struct wr_buf *out, const struct wr_order *order)
{
    wr_buf_text(out, order_names[order->kind]);
    if (order->kind == WR_ORDER_ODDS)
        wr_buf_printf(out, " %u", order->odds_pct);
    if (order->kind != WR_ORDER_PIN && order->kind != WR_ORDER_UNPIN)
        return;
    wr_buf_printf(out, " %s ", pin_names[order->pin]);
    wr_buf_append(out, order->name);
    if (order->of.len) {
        wr_buf_byte(out, ' ');
        wr_buf_append(out, order->of);
    }
}

bool wr_order_is_same_pin(const struct wr_order *a, const struct wr_order *b)
{
    return a->pin == b->pin && wr_span_eq(a->name, b->name);
}

/* ---- what is meant ---- */

/* '*' matches any bytes, also none. Takes linear time, except for going back to the last star. */
static bool fits_pattern(weir_span pattern, weir_span text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, from = 0;

    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.len && pattern.ptr[p] == text.ptr[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

bool wr_pin_fits_tool(weir_span pattern, weir_span tool)
{
    weir_span last = wr_tool_last_part(tool);

    return tool.len && (fits_pattern(pattern, tool) || (last.len && fits_pattern(pattern, last)));
}

/* A path may be named from the project's folder on, and be absolute in a call. */
bool wr_pin_fits_path(weir_span pattern, weir_span path)
{
    while (wr_span_starts(pattern, WR_LIT("./")))
        pattern = wr_span_from(pattern, 2);
    if (!path.len || !pattern.len)
        return false;
    if (fits_pattern(pattern, path))
        return true;
    for (size_t at = 0; (at = wr_span_find(path, WR_LIT("/"), at)) != SIZE_MAX; at++)
        if (fits_pattern(pattern, wr_span_from(path, at + 1)))
            return true;
    return false;
}

/* Whether a segment is of the pin's tool, or shows or writes its file. Handles are for the fold. */
static bool pin_fits(const struct wr_order *pin, const struct wr_segment *s)
{
    const struct wr_tool_handles *h = s->handles;

    if (s->kind != WEIR_KIND_TOOL_CALL && s->kind != WEIR_KIND_TOOL_RESULT)
        return false;
    if (pin->pin == WR_PIN_TOOL)
        return wr_pin_fits_tool(pin->name, s->tool);
    if (pin->pin != WR_PIN_PATH || !h)
        return false;
    if (wr_pin_fits_path(pin->name, h->path))
        return true;
    for (size_t i = 0; i < h->effects_count; i++)
        if (wr_pin_fits_path(pin->name, h->effects[i].path))
            return true;
    return false;
}

/* ---- in a fold ---- */

/* What the user says about a session, in a fold: pins, and the last step taken back.
 *
 *   hear          as a turn begins: pins are put up or taken down, the rest becomes due
 *   keep          as a segment arrives: one that is pinned is given no form
 *   obey_before   at a request, where a step may be taken: the undo; stages are told of `now`
 *   obey_after    behind the stages: what is pinned and was taken out comes back
 *
 * A pin by itself changes nothing that was sent: it costs nothing. What it brings back comes with
 * the next step, which writes the prompt anew anyway, with an expired cache, or at once where
 * `back` was said. Bound thinking bars all of it until the user speaks (wr_fold_may_step()); what
 * is due stays due until then.
 *
 * To undo a step, how every segment was before the changes of a turn is noted while they are made,
 * and kept until the next step. Signed thinking that left does not come back: it was signed over a
 * prompt that is not sent any more. What would not fit the window is not brought back. */

enum { CAP_FIRST_COUNT = 8 };

bool wr_fold_is_held(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_segment *now = &fold->segments[segment];
    return now->is_pinned || (now->kept_by && !fold->said.lifts_pins);
}

bool wr_fold_is_asked(const struct wr_fold *fold)
{
    return fold->said.is_asked;
}

bool wr_fold_is_due(const struct wr_fold *fold)
{
    return fold->said.is_undo_due || fold->said.is_now_due || fold->said.is_back_due;
}

/* Stages leave out for good what can never be of use to them again; what comes back can. A fold
 * that goes on from an earlier one begins these lists anew too, and must find the same. */
static void forget_lists(struct wr_fold *fold)
{
    fold->scratch.items = NULL;
    fold->scratch.results.count = fold->scratch.results.seen = 0;
    fold->scratch.large.count = fold->scratch.large.seen = 0;
}

/* ---- pins ---- */

static bool has_handle(const struct wr_fold_segment *now, weir_span handle)
{
    for (uint32_t i = 0; i < now->members_count; i++)
        if (wr_span_is(handle, now->members[i].handle.text))
            return true;
    return now->handle.text[0] && wr_span_is(handle, now->handle.text);
}

/* Whether the segment's own text has this handle. Of one that has a form that is known; else it is
 * hashed, which only sessions with such a pin pay for. */
static weir_status is_text_of(struct wr_fold *fold, uint32_t segment, weir_span handle, bool *is_it)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    struct wr_handle own;

    *is_it = has_handle(&fold->segments[segment], handle);
    if (*is_it || !s->parts_count || s->is_opaque || fold->segments[segment].handle.text[0])
        return WEIR_OK;
    weir_span text = wr_fold_text(fold, segment);
    weir_status status = text.ptr ? wr_handle_of(text, &own) : wr_arena_status(fold->arena);
    *is_it = !status && wr_span_is(handle, own.text);
    return status;
}

weir_status wr_fold_keep(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_said *said = &fold->said;
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < said->pins_count && !fold->segments[segment].kept_by && !status; i++) {
        bool is_it = false;
        if (!said->pins[i].name.ptr)
            continue;
        if (said->pins[i].pin == WR_PIN_HANDLE)
            status = is_text_of(fold, segment, said->pins[i].name, &is_it);
        else
            is_it = pin_fits(&said->pins[i], &fold->transcript->segments[segment]);
        if (is_it)
            fold->segments[segment].kept_by = i + 1;
    }
    return status;
}

static weir_status keep_arrived(struct wr_fold *fold)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < fold->arrived && !status; i++)
        status = wr_fold_keep(fold, i);
    return status;
}

/* The handle of a message of ours: what it stands for is meant. */
static void keep_members(struct wr_fold *fold, uint32_t pin)
{
    for (uint32_t i = 0; i < fold->inserts_count; i++) {
        const struct wr_fold_insert *insert = &fold->inserts[i];
        if (insert->is_gone || insert->is_rehydrated ||
            !wr_span_is(fold->said.pins[pin].name, insert->handle.text))
            continue;
        for (uint32_t k = insert->first; k <= insert->last; k++)
            if (wr_fold_stands_for(fold, i, k) && !fold->segments[k].kept_by)
                fold->segments[k].kept_by = pin + 1;
    }
}

static uint32_t find_pin(const struct wr_fold_said *said, const struct wr_order *order)
{
    uint32_t i = 0;
    while (i < said->pins_count &&
           !(said->pins[i].name.ptr && wr_order_is_same_pin(&said->pins[i], order)))
        i++;
    return i;
}

/* A pin keeps its number, which segments name. */
static weir_status put_up_pin(struct wr_fold *fold, const struct wr_order *order)
{
    struct wr_fold_said *said = &fold->said;

    if (find_pin(said, order) < said->pins_count)
        return WEIR_OK;
    if (said->pins_count == WR_ORDER_PINS_MAX ||
        !WR_ARENA_ROOM(fold->arena, said->pins, said->pins_count, said->pins_cap, CAP_FIRST_COUNT))
        return wr_arena_status(fold->arena);
    said->pins[said->pins_count] = *order;
    said->pins[said->pins_count++].of = (weir_span){"", 0}; /* for people */
    if (order->pin == WR_PIN_HANDLE)
        keep_members(fold, said->pins_count - 1);
    return keep_arrived(fold);
}

static weir_status take_down_pin(struct wr_fold *fold, const struct wr_order *order)
{
    struct wr_fold_said *said = &fold->said;
    uint32_t pin = find_pin(said, order);

    if (pin == said->pins_count)
        return WEIR_OK;
    said->pins[pin].name = (weir_span){NULL, 0};
    for (uint32_t i = 0; i < fold->arrived; i++)
        if (fold->segments[i].kept_by == pin + 1)
            fold->segments[i].kept_by = 0;
    forget_lists(fold);
    return keep_arrived(fold);
}

/* ---- a turn begins ---- */

static weir_status hear_order(struct wr_fold *fold, const struct wr_order *order)
{
    switch (order->kind) {
    case WR_ORDER_PIN:
        return put_up_pin(fold, order);
    case WR_ORDER_UNPIN:
        return take_down_pin(fold, order);
    case WR_ORDER_BACK:
        fold->said.is_back_due = true;
        break;
    case WR_ORDER_UNDO:
        fold->said.is_undo_due = true;
        break;
    case WR_ORDER_NOW:
        fold->said.is_now_due = true;
        break;
    case WR_ORDER_ODDS:
        fold->said.blind_pct = order->odds_pct;
        break;
    case WR_ORDER_EXACT:
    case WR_ORDER_RESUME:
    case WR_ORDERS_COUNT:
        break;
    }
    return WEIR_OK;
}

/* The changes of a turn stay until the next step: one that took something. */
static void turn_changes_over(struct wr_fold *fold)
{
    struct wr_fold_said *said = &fold->said;
    const struct wr_fold_step *step =
        fold->steps_count ? &fold->steps[fold->steps_count - 1] : NULL;

    if (step && step->turn == said->now.turn && (said->now.count || said->now.is_void)) {
        said->last = said->now;
        said->last.is_void |= step->reason == WR_STEP_UNDONE || step->reason == WR_STEP_PINNED;
    }
    said->now = (struct wr_fold_changes){.turn = fold->turn, .inserts_count = fold->inserts_count};
}

weir_status wr_fold_hear(struct wr_fold *fold, weir_span orders)
{
    weir_status status = WEIR_OK;
    struct wr_order order;
    weir_span line;

    turn_changes_over(fold);
    fold->said.is_asked = false;
    while (!status && wr_span_line(&orders, &line))
        if (wr_order_read(line, &order))
            status = hear_order(fold, &order);
    return status;
}

/* ---- taking back ---- */

weir_status wr_fold_note_was(struct wr_fold *fold, uint32_t segment)
{
    struct wr_fold_changes *c = &fold->said.now;
    struct wr_fold_segment *now = &fold->segments[segment];

    if (!fold->said.is_at_request || now->noted_at == fold->turn + 1)
        return WEIR_OK;
    if (!WR_ARENA_ROOM(fold->arena, c->list, c->count, c->cap, CAP_FIRST_COUNT))
        return wr_arena_status(fold->arena);
    now->noted_at = fold->turn + 1;
    c->list[c->count++] = (struct wr_fold_was){segment, *now};
    return WEIR_OK;
}

static bool was_taken_at(const struct wr_fold *fold, const struct wr_fold_changes *c, uint32_t i)
{
    return i >= c->inserts_count && fold->inserts[i].turn == c->turn &&
           !fold->inserts[i].is_rehydrated && !fold->inserts[i].is_gone;
}

static bool had_gone_at(const struct wr_fold *fold, const struct wr_fold_changes *c, uint32_t i)
{
    return i < c->inserts_count && fold->inserts[i].gone_at == c->turn + 1;
}

/* What the prompt would have if the changes were taken back. */
static uint64_t tokens_without(const struct wr_fold *fold, const struct wr_fold_changes *c)
{
    uint64_t tokens = fold->total_tokens;

    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t segment = c->list[i].segment;
        const struct wr_fold_segment *now = &fold->segments[segment], *was = &c->list[i].was;
        if (fold->transcript->segments[segment].is_signed)
            continue;
        tokens += was->tokens - now->tokens;
        if (now->form == WR_FORM_DROPPED && was->form != WR_FORM_DROPPED)
            tokens += wr_fold_overhead(fold, segment);
    }
    for (uint32_t i = 0; i < fold->inserts_count; i++) {
        if (was_taken_at(fold, c, i))
            tokens -= fold->inserts[i].tokens;
        else if (had_gone_at(fold, c, i))
            tokens += fold->inserts[i].tokens;
    }
    return tokens;
}

/* The form that a segment had; what else was found out about it since stays. */
static weir_status give_back(struct wr_fold *fold, uint32_t segment,
                             const struct wr_fold_segment *was)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    weir_status status = wr_fold_note_was(fold, segment);

    if (status)
        return status;
    if (now->form == WR_FORM_DROPPED && was->form != WR_FORM_DROPPED)
        fold->total_tokens += wr_fold_overhead(fold, segment);
    now->form = was->form;
    now->value = was->value;
    now->text = was->text;
    now->handle = was->handle;
    now->members = was->members;
    now->members_count = was->members_count;
    now->refers_to = was->refers_to;
    now->reason = was->reason;
    now->is_offloaded = was->is_offloaded;
    now->insert = was->insert;
    now->needs_operator = was->needs_operator;
    wr_fold_set_tokens(fold, now, was->tokens);
    return WEIR_OK;
}

static void exchange_inserts(struct wr_fold *fold, const struct wr_fold_changes *c)
{
    for (uint32_t i = 0; i < fold->inserts_count; i++) {
        struct wr_fold_insert *insert = &fold->inserts[i];
        if (was_taken_at(fold, c, i)) {
            wr_fold_let_go(fold, i);
            insert->is_absorbed = true; /* its segments are here again: nobody need ask it */
        } else if (had_gone_at(fold, c, i)) {
            wr_fold_note_change(fold, insert->before);
            insert->is_gone = insert->is_absorbed = false;
            insert->gone_at = 0;
            fold->total_tokens += insert->tokens;
        }
    }
}

/* Whether there is a last step that can be taken back, and fits. */
static bool fold_may_undo(const struct wr_fold *fold)
{
    const struct wr_fold_changes *c = &fold->said.last;
    return c->count && !c->is_void && tokens_without(fold, c) <= wr_fold_threshold(fold, 10000);
}

static weir_status undo(struct wr_fold *fold)
{
    struct wr_fold_changes *c = &fold->said.last;
    weir_status status = WEIR_OK;

    fold->said.is_undo_due = false;
    if (!fold_may_undo(fold))
        return WEIR_OK;
    for (uint32_t i = 0; i < c->count && !status; i++)
        if (!fold->transcript->segments[c->list[i].segment].is_signed)
            status = give_back(fold, c->list[i].segment, &c->list[i].was);
    if (status)
        return status;
    exchange_inserts(fold, c);
    c->is_void = true;
    forget_lists(fold);
    wr_fold_drop_thinking(fold);
    return wr_fold_declare_step(fold, WR_STEP_UNDONE);
}

/* ---- bringing back what is pinned ---- */

static bool fits(const struct wr_fold *fold, uint64_t more)
{
    return fold->total_tokens + more <= wr_fold_threshold(fold, 10000);
}

static weir_status make_exact(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_segment exact = {.form = WR_FORM_EXACT,
                                          .text = {"", 0},
                                          .tokens = fold->input->tokens[segment],
                                          .handle = fold->segments[segment].handle,
                                          .refers_to = WR_SEGMENT_NONE};
    return give_back(fold, segment, &exact);
}

static uint32_t standing_for(const struct wr_fold *fold, uint32_t segment)
{
    for (uint32_t i = fold->inserts_count; i-- > 0;)
        if (!fold->inserts[i].is_gone && !fold->inserts[i].is_rehydrated &&
            wr_fold_stands_for(fold, i, segment))
            return i;
    return WR_INSERT_NONE;
}

/* An insert like another, that stands for these segments alone: the same words, another marker. */
static weir_status make_smaller(struct wr_fold *fold, uint32_t insert, const uint32_t *list,
                                uint32_t count, struct wr_fold_insert *smaller)
{
    struct wr_marker marker = {.way = {.kind = WR_WAY_RECALL, .tool = wr_fold_recall(fold)},
                               .what = "left out"};
    weir_span text = fold->inserts[insert].text;
    size_t end = text.len;

    while (end > 0 && text.ptr[end - 1] != '\n')
        end--;
    if (!marker.way.tool.len)
        marker.way.kind = WR_WAY_OPERATOR;
    *smaller = fold->inserts[insert];
    smaller->turn = fold->turn;
    smaller->chain = fold->inserts_count;
    smaller->is_stored = false;
    smaller->needs_operator = marker.way.kind == WR_WAY_OPERATOR;
    smaller->hash = (struct wr_history_hash){.is_begun = false};
    smaller->first = list[0];
    smaller->last = list[count - 1];
    for (uint32_t i = 0; i < count; i++)
        marker.tokens += fold->input->tokens[list[i]];
    smaller->original_tokens = marker.tokens;
    weir_status status =
        wr_history_hash_add(&smaller->hash, fold->arena, fold->transcript, list, count);
    if (status)
        return status;
    wr_fold_set_handle(smaller);
    marker.handle = smaller->handle;
    status =
        wr_fold_with_marker(fold, wr_span_cut(text, 0, end ? end - 1 : 0), &marker, &smaller->text);
    if (!status)
        smaller->tokens = fold->input->count(fold->input->user, smaller->text) +
                          fold->input->message_overhead_tokens;
    return status;
}

static bool is_of(const struct wr_fold *fold, uint32_t segment, uint32_t other)
{
    uint32_t group = fold->transcript->segments[segment].group;
    return other == segment ||
           (group != WR_SEGMENT_NONE && (fold->transcript->segments[other].group == group ||
                                         wr_fold_led_by(fold, other) == group));
}

/* Parts what an insert stands for: what belongs to `segment` moves to the list's end. */
static uint32_t part_list(const struct wr_fold *fold, uint32_t segment, uint32_t *list,
                          uint32_t count, uint32_t *moved, uint64_t *tokens)
{
    uint32_t kept = 0, out = 0;
    *tokens = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_of(fold, segment, list[i])) {
            list[kept++] = list[i];
            continue;
        }
        moved[out++] = list[i];
        if (!fold->transcript->segments[list[i]].is_signed)
            *tokens += fold->input->tokens[list[i]] + wr_fold_overhead(fold, list[i]);
    }
    return kept;
}

/* A group leaves whole, and comes back whole, but for its signed thinking. */
static weir_status take_from_insert(struct wr_fold *fold, uint32_t segment)
{
    uint32_t insert = standing_for(fold, segment), count;
    if (insert == WR_INSERT_NONE ||
        (!wr_fold_recall(fold).len && !fold->inserts[insert].needs_operator))
        return WEIR_OK;
    uint32_t *list = wr_fold_list_of(fold, insert, &count);
    uint32_t *moved = WR_ARENA_ARRAY(fold->arena, uint32_t, count);
    struct wr_fold_insert smaller;
    uint64_t tokens;

    if (!list || !moved)
        return wr_arena_status(fold->arena);
    uint32_t kept = part_list(fold, segment, list, count, moved, &tokens);
    if (!fits(fold, tokens))
        return WEIR_OK;
    weir_status status = kept ? make_smaller(fold, insert, list, kept, &smaller) : WEIR_OK;
    if (status)
        return status;
    fold->said.now.is_void = true;
    wr_fold_let_go(fold, insert);
    fold->inserts[insert].is_absorbed = true;
    for (uint32_t i = 0; i < kept; i++)
        fold->segments[list[i]].insert = fold->inserts_count;
    for (uint32_t i = 0; i < count - kept && !status; i++)
        if (!fold->transcript->segments[moved[i]].is_signed)
            status = make_exact(fold, moved[i]);
    return status || !kept ? status : wr_fold_add_insert(fold, &smaller);
}

static bool is_to_come_back(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_segment *now = &fold->segments[segment];
    return now->kept_by && now->form != WR_FORM_EXACT &&
           !fold->transcript->segments[segment].is_signed &&
           (now->form != WR_FORM_DROPPED || now->is_offloaded);
}

static weir_status bring_back_one(struct wr_fold *fold, uint32_t segment)
{
    const struct wr_fold_segment *now = &fold->segments[segment];
    uint64_t tokens = fold->input->tokens[segment];

    if (now->form == WR_FORM_DROPPED)
        return take_from_insert(fold, segment);
    if (tokens > now->tokens && !fits(fold, tokens - now->tokens))
        return WEIR_OK;
    return make_exact(fold, segment);
}

static weir_status bring_back(struct wr_fold *fold, enum wr_step_reason reason)
{
    weir_status status = WEIR_OK;
    bool any = false;

    for (uint32_t i = 0; i < fold->arrived && !status; i++) {
        if (!is_to_come_back(fold, i))
            continue;
        status = bring_back_one(fold, i);
        any |= !is_to_come_back(fold, i);
    }
    if (status || !any)
        return status;
    forget_lists(fold);
    wr_fold_drop_thinking(fold);
    return wr_fold_declare_step(fold, reason);
}

uint64_t wr_fold_kept_out(const struct wr_fold *fold)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < fold->arrived && fold->said.pins_count; i++)
        count += is_to_come_back(fold, i);
    return count;
}

/* ---- at a request ---- */

weir_status wr_fold_obey_before(struct wr_fold *fold, bool may_step)
{
    struct wr_fold_said *said = &fold->said;

    if (!may_step)
        return WEIR_OK;
    said->is_asked = said->is_now_due;
    said->is_now_due = false;
    return said->is_undo_due ? undo(fold) : WEIR_OK;
}

/* Only where it is no step of its own, or one that was asked for. */
weir_status wr_fold_obey_after(struct wr_fold *fold, bool may_step)
{
    struct wr_fold_said *said = &fold->said;
    bool is_step = wr_fold_step_now(fold) != NULL, is_cold = wr_fold_is_cold(fold);

    said->is_asked = false;
    if (!may_step || !said->pins_count || !(is_step || is_cold || said->is_back_due))
        return WEIR_OK;
    bool is_due = said->is_back_due;
    said->is_back_due = false;
    return bring_back(fold, is_cold && !is_due ? WR_STEP_COLD : WR_STEP_PINNED);
}

void wr_fold_disobey(struct wr_fold *fold)
{
    fold->said.is_undo_due = fold->said.is_now_due = fold->said.is_back_due = false;
}

/* ---- a state of its own ---- */

static void copy_changes(struct wr_fold_changes *c, struct wr_arena *arena)
{
    weir_span list =
        wr_arena_copy(arena, (weir_span){(const char *)c->list, c->count * sizeof(*c->list)});
    c->list = (struct wr_fold_was *)(uintptr_t)list.ptr;
    c->cap = c->count;
    for (uint32_t i = 0; c->list && i < c->count; i++) {
        struct wr_fold_segment *was = &c->list[i].was;
        bool has_text = was->form != WR_FORM_EXACT && was->form != WR_FORM_DROPPED;
        was->text = has_text ? wr_arena_copy(arena, was->text) : (weir_span){"", 0};
        struct wr_fold_member *members =
            WR_ARENA_ARRAY(arena, struct wr_fold_member, was->members_count);
        for (uint32_t m = 0; members && m < was->members_count; m++) {
            members[m] = was->members[m];
            members[m].text = wr_arena_copy(arena, members[m].text);
            members[m].original = wr_arena_copy(arena, members[m].original);
        }
        was->members = members;
    }
}

void wr_fold_said_copy(struct wr_fold_said *said, struct wr_arena *arena)
{
    weir_span pins = wr_arena_copy(
        arena, (weir_span){(const char *)said->pins, said->pins_count * sizeof(*said->pins)});
    said->pins = (struct wr_order *)(uintptr_t)pins.ptr;
    said->pins_cap = said->pins_count;
    for (uint32_t i = 0; said->pins && i < said->pins_count; i++)
        if (said->pins[i].name.ptr)
            said->pins[i].name = wr_arena_copy(arena, said->pins[i].name);
    copy_changes(&said->now, arena);
    copy_changes(&said->last, arena);
}

/* ---- what would be ---- */

static void *copy_of(struct wr_arena *arena, const void *items, size_t count, size_t item_bytes)
{
    weir_span copy = wr_arena_copy(arena, (weir_span){items, count * item_bytes});
    return (void *)(uintptr_t)copy.ptr;
}

static weir_status begin_imagined(struct wr_fold *im, const struct wr_fold *fold)
{
    struct wr_arena *arena = fold->arena;
    uint32_t count = fold->transcript->segments_count;

    *im = *fold;
    im->segments = copy_of(arena, fold->segments, count, sizeof(*fold->segments));
    im->inserts = copy_of(arena, fold->inserts, fold->inserts_count, sizeof(*fold->inserts));
    im->inserts_cap = fold->inserts_count;
    im->steps = copy_of(arena, fold->steps, fold->steps_count, sizeof(*fold->steps));
    im->steps_cap = fold->steps_count;
    im->said.pins = copy_of(arena, fold->said.pins, fold->said.pins_count, sizeof(*im->said.pins));
    im->said.pins_cap = fold->said.pins_count;
    im->scratch = (struct wr_fold_scratch){0};
    im->scratch.lists[0] = WR_ARENA_ARRAY(arena, uint32_t, count);
    im->scratch.lists[1] = WR_ARENA_ARRAY(arena, uint32_t, count);
    return wr_arena_status(arena);
}

weir_status wr_fold_imagine(struct wr_fold *imagined, const struct wr_fold *fold,
                            struct wr_fold_input *input, const char *order)
{
    weir_status status = begin_imagined(imagined, fold);

    if (status)
        return status;
    *input = *fold->input;
    input->turns = NULL; /* of the next turn nothing was decided */
    input->deadline = (struct wr_fold_deadline){.now_us = NULL};
    imagined->input = input;
    imagined->turn++;
    imagined->turn_first = fold->arrived;
    imagined->changed_first = UINT32_MAX;
    imagined->late = (struct wr_fold_lateness){0};
    status = wr_fold_hear(imagined, wr_span_of(order));
    if (status)
        return status;
    imagined->is_over = imagined->total_tokens > wr_fold_threshold(imagined, 10000);
    imagined->said.is_at_request = true;
    bool may_step = wr_fold_may_step(imagined);
    status = wr_fold_obey_before(imagined, may_step);
    if (!status)
        status = wr_fold_run_stages(imagined, may_step);
    return status ? status : wr_fold_obey_after(imagined, may_step);
}
