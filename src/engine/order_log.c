/* A session's orders, as pins of its own in the store.
 *
 *   model "weir orders"             "12 exact": how many there are, and whether it goes as it comes
 *   model "weir order", number      "pin tool Read"
 *
 * No model has such names. A separate table was rejected: every kind of store, also those of hosts,
 * would need it. Pins already belong to their session, are deleted with it and are compared when
 * they are written, so a number that somebody else has just used is a conflict, not a loss. */
#include "engine/order_log.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

#define HEAD_MODEL  "weir orders"
#define ORDER_MODEL "weir order"
#define EXACT       " exact"

enum { TRIES_MAX = 16, HEAD_BYTES_MAX = 32, BATCH_MAX = 4 };

static struct weir_pin pin_of_order(uint64_t number)
{
    struct weir_pin pin = {.model = WR_LIT(ORDER_MODEL)};
    for (int i = 0; i < 8; i++)
        pin.first_turn.bytes[i] = (unsigned char)(number >> 8 * i);
    return pin;
}

struct weir_pin wr_order_head_pin(void)
{
    return (struct weir_pin){.model = WR_LIT(HEAD_MODEL)};
}

struct wr_order_head wr_order_head_of(weir_span value)
{
    struct wr_order_head head = {.is_exact = wr_span_ends(value, WR_LIT(EXACT))};
    size_t space = wr_span_find(value, WR_LIT(" "), 0);

    if (!wr_span_u64(wr_span_cut(value, 0, space < value.len ? space : value.len), &head.count))
        head.count = 0;
    return head;
}

weir_status wr_order_head_read(struct weir_store *store, weir_span tenant, weir_span session,
                               struct wr_order_head *head)
{
    struct weir_pin pin = wr_order_head_pin();
    weir_status status = weir_store_pin(store, tenant, session, &pin, NULL);

    *head = status ? (struct wr_order_head){.count = 0} : wr_order_head_of(pin.value);
    return status == WEIR_NOTFOUND ? WEIR_OK : status;
}

weir_status wr_order_at(struct weir_store *store, weir_span tenant, weir_span session,
                        uint64_t number, struct wr_arena *arena, weir_span *text)
{
    struct weir_pin pin = pin_of_order(number);
    weir_status status = weir_store_pin(store, tenant, session, &pin, NULL);

    if (status)
        return status;
    *text = wr_arena_copy(arena, pin.value);
    return text->ptr ? WEIR_OK : wr_arena_status(arena);
}

/* ---- the pins that are in force ---- */

static void apply_order(struct wr_order *pins, uint32_t *count, const struct wr_order *order)
{
    uint32_t i = 0;

    if (order->kind != WR_ORDER_PIN && order->kind != WR_ORDER_UNPIN)
        return;
    while (i < *count && !wr_order_is_same_pin(&pins[i], order))
        i++;
    if (order->kind == WR_ORDER_PIN && i == *count && *count < WR_ORDER_PINS_MAX)
        pins[(*count)++] = *order;
    if (order->kind == WR_ORDER_UNPIN && i < *count) {
        memmove(&pins[i], &pins[i + 1], (*count - i - 1) * sizeof(*pins));
        (*count)--;
    }
}

weir_status wr_order_pins(struct weir_store *store, weir_span tenant, weir_span session,
                          uint64_t count, struct wr_arena *arena, struct wr_buf *out)
{
    struct wr_order *pins = WR_ARENA_ARRAY(arena, struct wr_order, WR_ORDER_PINS_MAX);
    uint32_t pins_count = 0;
    struct wr_order order;
    weir_span text;

    if (!pins)
        return wr_arena_status(arena);
    for (uint64_t i = 1; i <= count; i++) {
        weir_status status = wr_order_at(store, tenant, session, i, arena, &text);
        if (status && status != WEIR_NOTFOUND)
            return status;
        if (!status && wr_order_read(text, &order))
            apply_order(pins, &pins_count, &order);
    }
    for (uint32_t i = 0; i < pins_count; i++) {
        wr_order_write(out, &pins[i]);
        wr_buf_byte(out, '\n');
    }
    return wr_buf_status(out);
}

/* ---- saying ---- */

static bool wants_exact(const struct wr_order_said *said, bool is_exact)
{
    for (size_t i = 0; i < said->orders_count; i++)
        if (said->orders[i].kind == WR_ORDER_EXACT || said->orders[i].kind == WR_ORDER_RESUME)
            is_exact = said->orders[i].kind == WR_ORDER_EXACT;
    return is_exact;
}

/* The mark of a turn holds what is said before it: all pins, where the session changes its policy.
 */
static weir_status check_room(struct weir_store *store, const struct wr_order_said *said,
                              const struct wr_order_head *head, struct weir_err *err)
{
    struct wr_arena arena;
    struct wr_buf pins;

    if (head->count + said->orders_count > WR_ORDERS_SAID_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "more than %d things were said of this session",
                       WR_ORDERS_SAID_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&pins, WR_STORE_MARK_BYTES_MAX);
    weir_status status =
        wr_order_pins(store, said->tenant, said->session, head->count, &arena, &pins);
    size_t lines = 0;
    for (size_t i = 0; i < pins.len; i++)
        lines += pins.bytes[i] == '\n';
    for (size_t i = 0; i < said->orders_count && !status; i++) {
        wr_order_write(&pins, &said->orders[i]);
        wr_buf_byte(&pins, '\n');
        lines += said->orders[i].kind == WR_ORDER_PIN;
        status = wr_buf_status(&pins);
    }
    if (status == WEIR_LIMIT || (!status && lines > WR_ORDER_PINS_MAX))
        status = wr_fail(err, WEIR_LIMIT, 0, "the session has too many pins: take some down");
    wr_buf_release(&pins);
    wr_arena_release(&arena);
    return status;
}

static weir_status try_to_say(struct weir_store *store, const struct wr_order_said *said,
                              struct wr_order_head *head, weir_span *texts)
{
    struct weir_pin pins[BATCH_MAX + 1];
    struct weir_batch batch = {.tenant = said->tenant,
                               .session = said->session,
                               .used_ms = said->now_ms,
                               .durability = WEIR_DURABLE_FULL,
                               .pins = pins};
    char number[HEAD_BYTES_MAX];

    for (size_t i = 0; i < said->orders_count; i++) {
        pins[i] = pin_of_order(++head->count);
        pins[i].value = texts[i];
    }
    head->is_exact = wants_exact(said, head->is_exact);
    (void)snprintf(number, sizeof(number), "%llu%s", (unsigned long long)head->count,
                   head->is_exact ? EXACT : "");
    pins[said->orders_count] = (struct weir_pin){
        .model = WR_LIT(HEAD_MODEL), .value = wr_span_of(number), .replaces = true};
    batch.pins_count = said->orders_count + 1;
    return weir_store_commit(store, &batch, NULL);
}

static weir_status write_log(const struct wr_order_said *said, struct wr_arena *arena,
                             weir_span *texts, struct weir_err *err)
{
    struct wr_order again;

    for (size_t i = 0; i < said->orders_count; i++) {
        struct wr_buf text;
        wr_buf_init(&text, WR_ORDER_BYTES_MAX);
        wr_order_write(&text, &said->orders[i]);
        texts[i] = wr_buf_status(&text) ? WR_LIT("") : wr_arena_copy(arena, wr_buf_view(&text));
        wr_buf_release(&text);
        if (!texts[i].ptr)
            return wr_arena_status(arena);
        if (!wr_order_read(texts[i], &again))
            return wr_fail(err, WEIR_INVALID, 0, "that cannot be said of a session");
    }
    return WEIR_OK;
}

weir_status wr_order_say(struct weir_store *store, const struct wr_order_said *said,
                         struct wr_order_head *head, struct weir_err *err)
{
    weir_span texts[BATCH_MAX];
    struct wr_arena arena;

    if (!said->orders_count || said->orders_count > BATCH_MAX)
        return wr_fail(err, WEIR_INVALID, 0, "nothing was said");
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = write_log(said, &arena, texts, err);
    for (int i = 0; i < TRIES_MAX && !status; i++) {
        status = wr_order_head_read(store, said->tenant, said->session, head);
        if (!status)
            status = check_room(store, said, head, err);
        if (status)
            break;
        status = try_to_say(store, said, head, texts);
        if (status != WEIR_INVALID || weir_store_trouble(store) != WEIR_TROUBLE_CONFLICT)
            break;
        status = i + 1 < TRIES_MAX ? WEIR_OK : status;
    }
    if (status && err && !err->text[0])
        (void)!wr_fail(err, status, 0, "%s", weir_trouble_text(weir_store_trouble(store)));
    wr_arena_release(&arena);
    return status;
}
