/* What was said of a session is heard by its next request.
 *
 * How many orders were heard stands in the mark `sent` of the newest request that this one extends:
 * so a conversation that was rewound hears again what it heard on the turns that are gone, and the
 * side calls of an agent under the same session's name hear all of it too.
 *
 * Marks hold for one policy and window. Where these have changed since, the pins in force are all
 * heard again, in one mark; what was asked for once (undo, now, back) is not.
 *
 * What rules and learning have in store for a session is heard with its first request, as if it had
 * been said: from then on it is a mark too, which a fork copies and a change of weir.yaml does not
 * reach (law L3). The words stand in the session's pin, for another policy or window. */
#include "engine/projection_orders.h"

#include "base/limits.h"
#include "base/span.h"
#include "engine/order_log.h"

void wr_projection_read_orders(struct wr_projection *p)
{
    struct weir_store *store = p->options->store;
    struct wr_order_head every;

    p->said = (struct wr_order_head){.count = 0};
    p->is_exact_said = false;
    if (!store || !p->trail.turns_count)
        return;
    if (wr_order_head_read(store, p->tenant, p->session, &p->said))
        p->said = (struct wr_order_head){.count = 0};
    if (wr_order_head_read(store, p->tenant, WR_LIT(WR_ORDER_EVERY_SESSION), &every))
        every.is_exact = false;
    p->is_exact_said = p->said.is_exact || every.is_exact;
}

static bool is_once(const struct wr_order *order)
{
    return order->kind == WR_ORDER_UNDO || order->kind == WR_ORDER_NOW ||
           order->kind == WR_ORDER_BACK;
}

/* Appends the orders behind number `heard`: all of them, or only those that are asked for once. */
static weir_status list_orders(struct wr_projection *p, uint64_t heard, bool is_once_only,
                               struct wr_buf *out)
{
    struct wr_arena *arena = &p->request->arena;
    struct wr_order order;
    weir_span text;

    for (uint64_t i = heard + 1; i <= p->said.count; i++) {
        weir_status status = wr_order_at(p->options->store, p->tenant, p->session, i, arena, &text);
        if (status && status != WEIR_NOTFOUND)
            return status;
        if (status || !wr_order_read(text, &order) || order.kind == WR_ORDER_EXACT ||
            order.kind == WR_ORDER_RESUME || (is_once_only && !is_once(&order)))
            continue;
        wr_buf_append(out, text);
        wr_buf_byte(out, '\n');
    }
    return wr_buf_status(out);
}

/* A word of weir_project_options.tools as an order; false: it is not one. For a tool the first word
 * that fits decides: after a word that allows changes, a later word may not mean what a pin means.
 */
static bool order_of_word(weir_span word, bool *has_plus, struct wr_order *order)
{
    uint64_t pct;

    *has_plus |= wr_span_starts(word, WR_LIT("+"));
    *order = (struct wr_order){.kind = WR_ORDER_PIN};
    if (wr_span_starts(word, WR_LIT(WR_WORD_PATH))) {
        order->pin = WR_PIN_PATH;
        order->name = wr_span_from(word, sizeof(WR_WORD_PATH) - 1);
    } else if (wr_span_starts(word, WR_LIT(WR_WORD_BLIND)) &&
               wr_span_u64(wr_span_from(word, sizeof(WR_WORD_BLIND) - 1), &pct)) {
        order->kind = WR_ORDER_ODDS;
        order->odds_pct = (uint32_t)pct;
        return pct && pct <= WR_ODDS_LEARNED_PCT_MAX;
    } else if (wr_span_starts(word, WR_LIT("-")) && !*has_plus) {
        order->pin = WR_PIN_TOOL;
        order->name = wr_span_from(word, 1);
    }
    return order->name.len > 0;
}

/* What the session begins with. */
static void list_words(const struct wr_projection *p, struct wr_buf *out)
{
    weir_span rest = wr_span_of(p->input.tools);
    struct wr_order order;
    bool has_plus = false;

    while (rest.len) {
        size_t space = wr_span_find(rest, WR_LIT(" "), 0);
        weir_span word = wr_span_cut(rest, 0, space < rest.len ? space : rest.len);
        rest = wr_span_cut(rest, word.len + (word.len < rest.len), rest.len);
        if (!word.len || !order_of_word(word, &has_plus, &order))
            continue;
        wr_order_write(out, &order);
        wr_buf_byte(out, '\n');
    }
}

/* Whether what the last request heard is still heard. It is the one that this one extends, as it
 * was found before attach() took it for unknown. */
static bool hears_on(const struct wr_projection *p)
{
    const struct wr_sent *last = &p->extends;
    return last->is_known && last->policy == p->marks.policy &&
           last->window_tokens == p->marks.window_tokens && !p->is_back;
}

static weir_status write_orders(struct wr_projection *p, struct wr_buf *out)
{
    const struct wr_sent *last = &p->extends;

    if (!hears_on(p) || !p->has_pin)
        list_words(p, out);
    if (hears_on(p))
        return list_orders(p, last->orders, false, out);
    weir_status status = wr_order_pins(p->options->store, p->tenant, p->session, p->said.count,
                                       &p->request->arena, out);
    return status ? status : list_orders(p, last->is_known ? last->orders : 0, true, out);
}

static weir_status hear(struct wr_projection *p, weir_span orders)
{
    uint32_t newest = p->trail.turns_count - 1;

    if (!orders.len)
        return WEIR_OK;
    if (p->has_marks)
        return wr_marks_add_orders(&p->marks, newest, orders);
    /* What the provider holds has no marks: the pins are told with each request, the odds are not
     * its own. */
    struct wr_fold_turn *turns =
        WR_ARENA_ARRAY(&p->request->arena, struct wr_fold_turn, p->trail.turns_count);
    if (!turns)
        return wr_arena_status(&p->request->arena);
    turns[0].orders = wr_arena_copy(&p->request->arena, orders);
    p->input.turns = turns;
    return turns[0].orders.ptr ? WEIR_OK : wr_arena_status(&p->request->arena);
}

weir_status wr_projection_hear_orders(struct wr_projection *p)
{
    struct wr_buf orders;

    p->marks.is_exact = p->is_exact_said && !p->is_pending;
    p->marks.orders = p->said.count;
    bool has_words = p->input.tools[0] && p->input.policy->stages_count;
    bool is_new = has_words && !p->has_pin; /* though it goes on from another session's turns */
    if ((!p->said.count && !has_words) ||
        (hears_on(p) && p->extends.orders >= p->said.count && !is_new))
        return WEIR_OK;
    wr_buf_init(&orders, WR_STORE_MARK_BYTES_MAX / 2);
    weir_status status = write_orders(p, &orders);
    if (!status)
        status = hear(p, wr_buf_view(&orders));
    wr_buf_release(&orders);
    return status == WEIR_NOMEM ? status : WEIR_OK; /* what cannot be read is heard later */
}
