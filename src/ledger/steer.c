/* What may be said of a session, and what is known of it to say it about. */
#include "ledger/steer.h"

#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "ledger/context.h"
#include "weir/handle.h"

/* ---- reading ---- */

static weir_status find_steering(struct wr_ledger *ledger, weir_span tenant, weir_span word,
                                 struct wr_arena *arena, struct wr_steering *steering,
                                 struct weir_err *err)
{
    struct wr_ledger_session found;
    weir_status status = wr_session_find(ledger, tenant, word, arena, &found, err);

    *steering = (struct wr_steering){.arena = arena, .tenant = tenant, .pins = {"", 0}};
    if (status)
        return status;
    steering->tenant = found.tenant;
    steering->session = found.session;
    return WEIR_OK;
}

void wr_steering_read_plan(struct wr_ledger *ledger, struct wr_steering *s)
{
    unsigned char key[WR_LEDGER_KEY_BYTES];
    weir_span data;

    wr_plan_key(s->session, key);
    if (!ledger || wr_ledger_note(ledger, s->tenant, key, &data, NULL))
        return;
    data = wr_arena_copy(s->arena, data);
    s->has_plan = data.ptr && !wr_json_parse(&s->plan, s->arena, data, NULL, NULL) &&
                  wr_json_is(&s->plan, 0, WR_JSON_OBJECT);
}

static weir_status read_said(struct weir_store *store, struct wr_steering *s)
{
    struct wr_order_head every;
    struct wr_buf pins;
    weir_status status =
        s->session.len ? wr_order_head_read(store, s->tenant, s->session, &s->said) : WEIR_OK;

    if (!status)
        status = wr_order_head_read(store, s->tenant, WR_LIT(WR_ORDER_EVERY_SESSION), &every);
    if (status)
        return status;
    s->is_all_exact = every.is_exact;
    wr_buf_init(&pins, WR_STORE_MARK_BYTES_MAX);
    if (s->session.len)
        status = wr_order_pins(store, s->tenant, s->session, s->said.count, s->arena, &pins);
    if (!status)
        s->pins = wr_arena_copy(s->arena, wr_buf_view(&pins));
    wr_buf_release(&pins);
    return status || s->pins.ptr ? status : wr_arena_status(s->arena);
}

static weir_status read_steering(struct wr_ledger *ledger, struct weir_store *store,
                                 struct wr_steering *steering, struct weir_err *err)
{
    weir_status status = read_said(store, steering);

    if (status)
        return wr_fail(err, status, 0, "%s", weir_status_text(status));
    wr_steering_read_plan(ledger, steering);
    return WEIR_OK;
}

static bool number_in(const struct wr_json *doc, wr_json_id object, const char *name,
                      int64_t *number)
{
    wr_json_id id = object == WR_JSON_NONE ? WR_JSON_NONE : wr_json_find(doc, object, name);
    return id != WR_JSON_NONE && wr_json_i64(doc, id, number);
}

uint64_t wr_steering_heard(const struct wr_steering *s)
{
    int64_t heard = 0;
    if (s->has_plan)
        (void)number_in(&s->plan, 0, "orders_heard", &heard);
    return heard > 0 ? (uint64_t)heard : 0;
}

static bool is_true(const struct wr_steering *s, const char *name)
{
    return s->has_plan && wr_json_is(&s->plan, wr_json_find(&s->plan, 0, name), WR_JSON_TRUE);
}

enum wr_steer_wait wr_steering_waits(const struct wr_steering *s)
{
    if (is_true(s, "pending"))
        return WR_WAIT_USER;
    if (!s->session.len || wr_steering_heard(s) >= s->said.count)
        return WR_WAIT_NOT;
    return is_true(s, "bound") ? WR_WAIT_USER : WR_WAIT_REQUEST;
}

/* ---- what is meant ---- */

/* WR_JSON_NONE: there is no plan, or it has no such part. */
static wr_json_id pieces_of(const struct wr_steering *s, const char *part)
{
    wr_json_id object = s->has_plan ? wr_json_find(&s->plan, 0, part) : WR_JSON_NONE;
    wr_json_id pieces = s->has_plan && wr_json_is(&s->plan, object, WR_JSON_OBJECT)
                            ? wr_json_find(&s->plan, object, "pieces")
                            : WR_JSON_NONE;

    return pieces != WR_JSON_NONE && wr_json_is(&s->plan, pieces, WR_JSON_ARRAY) ? pieces
                                                                                 : WR_JSON_NONE;
}

/* A piece by its number: its handle, and the path that it is listed with. Of what a summary stands
 * for there is the path alone. */
static bool find_in(const struct wr_steering *s, wr_json_id pieces, uint64_t segment,
                    struct wr_order *order)
{
    const struct wr_json *doc = &s->plan;
    int64_t number;

    for (wr_json_id i = wr_json_first(doc, pieces); i != WR_JSON_NONE;
         i = wr_json_next(doc, pieces, i)) {
        wr_json_id handle = wr_json_find(doc, i, "handle"), path = wr_json_find(doc, i, "path");
        weir_span name = {"", 0};
        if (!number_in(doc, i, "segment", &number) || number < 0 || (uint64_t)number != segment)
            continue;
        if (wr_json_is(doc, path, WR_JSON_STRING))
            name = wr_json_text(doc, s->arena, path);
        bool has_handle = wr_json_is(doc, handle, WR_JSON_STRING);
        if (!name.ptr || (!has_handle && !name.len))
            continue;
        order->pin = has_handle ? WR_PIN_HANDLE : WR_PIN_PATH;
        order->name = has_handle ? wr_json_inner(doc, handle) : name;
        order->of = has_handle ? name : (weir_span){"", 0};
        return true;
    }
    return false;
}

static bool find_piece(const struct wr_steering *s, const char *part, uint64_t segment,
                       struct wr_order *order)
{
    const struct wr_json *doc = &s->plan;
    wr_json_id pieces = pieces_of(s, part);

    if (pieces == WR_JSON_NONE)
        return false;
    if (find_in(s, pieces, segment, order))
        return true;
    for (wr_json_id i = wr_json_first(doc, pieces); i != WR_JSON_NONE;
         i = wr_json_next(doc, pieces, i)) {
        wr_json_id holds = wr_json_find(doc, i, "holds");
        if (wr_json_is(doc, holds, WR_JSON_ARRAY) && find_in(s, holds, segment, order))
            return true;
    }
    return false;
}

static weir_status name_piece(const struct wr_steering *s, uint64_t segment, struct wr_order *order,
                              struct weir_err *err)
{
    if (find_piece(s, "out", segment, order) || find_piece(s, "next", segment, order))
        return WEIR_OK;
    return wr_fail(
        err, WEIR_NOTFOUND, 0,
        "nothing is known of segment %llu: `weir plan` lists what was taken out and what "
        "would be",
        (unsigned long long)segment);
}

static weir_status name_target(const struct wr_steering *s, weir_span word, struct wr_order *order,
                               struct weir_err *err)
{
    weir_handle handle;
    uint64_t segment;
    weir_span number = wr_span_starts(word, WR_LIT("#")) ? wr_span_from(word, 1) : word;

    if (wr_span_u64(number, &segment))
        return name_piece(s, segment, order, err);
    order->pin = weir_handle_parse(word, &handle) ? WR_PIN_HANDLE : WR_PIN_PATH;
    order->name = word;
    return word.len ? WEIR_OK : wr_fail(err, WEIR_INVALID, 0, "name what to pin");
}

/* ---- saying ---- */

static weir_status say(struct weir_store *store, struct wr_steering *s,
                       const struct wr_order *orders, size_t count, int64_t now_ms,
                       struct weir_err *err)
{
    struct wr_order_said said = {.tenant = s->tenant,
                                 .session =
                                     s->session.len ? s->session : WR_LIT(WR_ORDER_EVERY_SESSION),
                                 .orders = orders,
                                 .orders_count = count,
                                 .now_ms = now_ms};
    struct wr_order_head head;
    weir_status status = wr_order_say(store, &said, &head, err);

    if (!status)
        status = read_said(store, s);
    if (status && err && !err->text[0])
        return wr_fail(err, status, 0, "%s", weir_status_text(status));
    return status;
}

/* ---- as JSON ---- */

static void write_pins(const struct wr_steering *s, struct wr_json_writer *w)
{
    weir_span rest = s->pins, line;
    struct wr_order pin;

    wr_json_write_key(w, "pins");
    wr_json_write_array(w);
    while (wr_span_line(&rest, &line)) {
        if (!wr_order_read(line, &pin))
            continue;
        wr_json_write_object(w);
        wr_json_member_text(w, wr_pin_name(pin.pin), pin.name);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

static const char *const wait_words[] = {
    [WR_WAIT_NOT] = NULL, [WR_WAIT_REQUEST] = "request", [WR_WAIT_USER] = "user"};

void wr_steering_write(const struct wr_steering *s, struct wr_json_writer *w)
{
    uint64_t heard = wr_steering_heard(s);

    wr_json_write_object(w);
    if (s->session.len)
        wr_json_member_text(w, "session", s->session);
    wr_json_member_bool(w, "exact", s->said.is_exact);
    wr_json_member_bool(w, "all_paused", s->is_all_exact);
    if (s->session.len) {
        wr_json_member_number(w, "orders", s->said.count);
        wr_json_member_number(w, "orders_heard", heard < s->said.count ? heard : s->said.count);
        wr_json_member_word(w, "waits_for", wait_words[wr_steering_waits(s)]);
        write_pins(s, w);
        wr_json_write_key(w, "plan");
        if (s->has_plan)
            wr_json_write_raw(w, s->plan.text);
        else
            wr_json_write_null(w);
    }
    wr_json_write_object_end(w);
}

/* ---- prices ---- */

static struct wr_steer_price price_in(const struct wr_json *plan, wr_json_id part)
{
    struct wr_steer_price price = {0};

    if (!wr_json_is(plan, part, WR_JSON_OBJECT))
        return price;
    price.is_known = number_in(plan, part, "rewrites_tokens", &price.rewrites_tokens);
    price.has_money = number_in(plan, part, "cost_micro_usd", &price.cost_micro_usd);
    (void)number_in(plan, part, "once_micro_usd", &price.once_micro_usd);
    (void)number_in(plan, part, "a_request_micro_usd", &price.a_request_micro_usd);
    price.is_known &= price.rewrites_tokens > 0;
    return price;
}

static bool is_text(const struct wr_json *doc, wr_json_id object, const char *name, weir_span *text)
{
    wr_json_id id = wr_json_find(doc, object, name);
    *text = wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : (weir_span){"", 0};
    return text->len > 0;
}

static bool is_piece_of(const struct wr_json *doc, wr_json_id piece, const struct wr_order *pin)
{
    weir_span text;

    switch (pin->pin) {
    case WR_PIN_TOOL:
        return is_text(doc, piece, "tool", &text) && wr_pin_fits_tool(pin->name, text);
    case WR_PIN_PATH:
        return is_text(doc, piece, "path", &text) && wr_pin_fits_path(pin->name, text);
    default:
        return is_text(doc, piece, "handle", &text) && wr_span_eq(text, pin->name);
    }
}

/* What a pin that names something inside a summary brings back of it. */
static bool price_of_holds(const struct wr_json *doc, wr_json_id piece, const struct wr_order *pin,
                           struct wr_steer_price *price)
{
    wr_json_id holds = wr_json_find(doc, piece, "holds");
    int64_t a_request = 0, write = 0;
    bool any = false;

    if (!wr_json_is(doc, holds, WR_JSON_ARRAY))
        return false;
    for (wr_json_id i = wr_json_first(doc, holds); i != WR_JSON_NONE;
         i = wr_json_next(doc, holds, i)) {
        int64_t more = 0, once = 0;
        if (!is_piece_of(doc, i, pin))
            continue;
        (void)number_in(doc, i, "a_request_micro_usd", &more);
        (void)number_in(doc, i, "write_micro_usd", &once);
        a_request += more;
        write += once;
        any = true;
    }
    *price = price_in(doc, piece);
    price->a_request_micro_usd = a_request;
    price->once_micro_usd = price->cost_micro_usd + write;
    return any;
}

/* What is out and meant: all of it is written from its first piece on. */
static struct wr_steer_price price_of_pieces(const struct wr_steering *s,
                                             const struct wr_order *pin)
{
    const struct wr_json *doc = &s->plan;
    wr_json_id pieces = pieces_of(s, "out");
    struct wr_steer_price sum = {0};
    int64_t write = 0;

    if (pieces == WR_JSON_NONE)
        return sum;
    for (wr_json_id i = wr_json_first(doc, pieces); i != WR_JSON_NONE;
         i = wr_json_next(doc, pieces, i)) {
        struct wr_steer_price price = {0};
        if (is_piece_of(doc, i, pin))
            price = price_in(doc, i);
        else if (!price_of_holds(doc, i, pin, &price))
            continue;
        sum.is_known |= price.is_known;
        sum.has_money |= price.has_money;
        sum.a_request_micro_usd += price.a_request_micro_usd;
        write += price.once_micro_usd - price.cost_micro_usd;
        if (price.rewrites_tokens > sum.rewrites_tokens) {
            sum.rewrites_tokens = price.rewrites_tokens;
            sum.cost_micro_usd = price.cost_micro_usd;
        }
    }
    sum.once_micro_usd = sum.cost_micro_usd + write;
    return sum;
}

/* ---- doing ---- */

static const char *const verb_names[] = WR_NAMES_OF(WR_STEER_MAP);

const char *wr_steer_name(enum wr_steer_verb verb)
{
    return verb_names[verb];
}

static weir_status name_pin(const struct wr_steering *s, const struct wr_steer_request *r,
                            struct wr_order *order, struct weir_err *err)
{
    *order = (struct wr_order){.kind = r->verb == WR_STEER_PIN ? WR_ORDER_PIN : WR_ORDER_UNPIN};
    if ((r->tool.len > 0) + (r->path.len > 0) + (r->handle.len > 0) + (r->word.len > 0) != 1)
        return wr_fail(err, WEIR_INVALID, 0,
                       "name one thing: a path, a handle, a segment or a tool");
    order->pin = r->tool.len ? WR_PIN_TOOL : r->handle.len ? WR_PIN_HANDLE : WR_PIN_PATH;
    order->name = r->tool.len ? r->tool : r->handle.len ? r->handle : r->path;
    return r->word.len ? name_target(s, r->word, order, err) : WEIR_OK;
}

static bool is_in_force(const struct wr_steering *s, const struct wr_order *order)
{
    weir_span rest = s->pins, line;
    struct wr_order pin;

    while (wr_span_line(&rest, &line))
        if (wr_order_read(line, &pin) && wr_order_is_same_pin(&pin, order))
            return true;
    return false;
}

static weir_status do_pin(struct weir_store *store, const struct wr_steer_request *r,
                          struct wr_steered *d, struct weir_err *err)
{
    struct wr_order orders[2] = {{.kind = WR_ORDER_PIN}, {.kind = WR_ORDER_BACK}};
    weir_status status = name_pin(&d->steering, r, &orders[0], err);

    if (status)
        return status;
    bool is_there = is_in_force(&d->steering, &orders[0]);
    if (r->verb == WR_STEER_UNPIN && !is_there)
        return wr_fail(err, WEIR_NOTFOUND, 0, "there is no such pin");
    if (r->verb == WR_STEER_PIN)
        d->price = price_of_pieces(&d->steering, &orders[0]);
    bool is_back = r->brings_back && r->verb == WR_STEER_PIN && d->price.is_known;
    if (is_back && !r->is_confirmed)
        return WEIR_OK;
    if (is_there && r->verb == WR_STEER_PIN && !is_back)
        return WEIR_OK;
    d->is_said = true;
    return say(store, &d->steering, orders, is_back ? 2 : 1, r->now_ms, err);
}

/* What has a price is said when that is known to whoever says it. */
static weir_status do_priced(struct weir_store *store, const struct wr_steer_request *r,
                             const char *part, const char *nothing, enum wr_order_kind kind,
                             struct wr_steered *d, struct weir_err *err)
{
    struct wr_order order = {.kind = kind};

    if (d->steering.has_plan)
        d->price = price_in(&d->steering.plan, wr_json_find(&d->steering.plan, 0, part));
    if (!d->price.is_known && nothing)
        return wr_fail(err, WEIR_NOTFOUND, 0, "%s", nothing);
    if (d->price.is_known && !r->is_confirmed)
        return WEIR_OK;
    d->is_said = true;
    return say(store, &d->steering, &order, 1, r->now_ms, err);
}

static weir_status do_verb(struct weir_store *store, const struct wr_steer_request *r,
                           struct wr_steered *d, struct weir_err *err)
{
    const struct wr_order exact = {.kind = WR_ORDER_EXACT}, resume = {.kind = WR_ORDER_RESUME};

    switch (r->verb) {
    case WR_STEER_PIN:
    case WR_STEER_UNPIN:
        return do_pin(store, r, d, err);
    case WR_STEER_UNDO:
        return do_priced(store, r, "undo", "there is no step that could be taken back",
                         WR_ORDER_UNDO, d, err);
    case WR_STEER_NOW:
        return do_priced(store, r, "next", "there is nothing that a step would take", WR_ORDER_NOW,
                         d, err);
    case WR_STEER_EXACT:
        return do_priced(store, r, "exact", NULL, WR_ORDER_EXACT, d, err);
    case WR_STEER_PAUSE:
    case WR_STEER_RESUME:
        d->is_said = true;
        return say(store, &d->steering, r->verb == WR_STEER_PAUSE ? &exact : &resume, 1, r->now_ms,
                   err);
    case WR_STEER_SHOW:
    case WR_STEERS_COUNT:
        break;
    }
    return WEIR_OK;
}

weir_status wr_steer(struct wr_ledger *ledger, struct weir_store *store,
                     const struct wr_steer_request *r, struct wr_arena *arena,
                     struct wr_steered *steered, struct weir_err *err)
{
    bool may_be_of_all =
        r->verb == WR_STEER_PAUSE || r->verb == WR_STEER_RESUME || r->verb == WR_STEER_SHOW;
    weir_status status = WEIR_OK;

    *steered = (struct wr_steered){
        .steering = {.arena = arena, .tenant = r->tenant, .session = {"", 0}, .pins = {"", 0}}};
    if (r->is_of_all && !may_be_of_all)
        return wr_fail(err, WEIR_INVALID, 0, "name a session");
    if (!r->is_of_all)
        status = find_steering(ledger, r->tenant, r->session, arena, &steered->steering, err);
    if (!status)
        status = read_steering(ledger, store, &steered->steering, err);
    return status ? status : do_verb(store, r, steered, err);
}

void wr_steered_write(const struct wr_steered *d, struct wr_json_writer *w)
{
    wr_json_write_object(w);
    wr_json_member_bool(w, "said", d->is_said);
    wr_json_write_key(w, "price");
    if (d->price.is_known) {
        wr_json_write_object(w);
        wr_json_member_i64(w, "rewrites_tokens", d->price.rewrites_tokens);
        if (d->price.has_money) {
            wr_json_member_i64(w, "cost_micro_usd", d->price.cost_micro_usd);
            wr_json_member_i64(w, "once_micro_usd", d->price.once_micro_usd);
            wr_json_member_i64(w, "a_request_micro_usd", d->price.a_request_micro_usd);
        }
        wr_json_write_object_end(w);
    } else {
        wr_json_write_null(w);
    }
    wr_json_write_key(w, "steering");
    wr_steering_write(&d->steering, w);
    wr_json_write_object_end(w);
}
