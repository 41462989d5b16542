/* Both halves of steering a session: what users say of it, on its way to the next request; and what
 * they are told of it, what that request would change and for how much. */
#include "engine/steer.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/projection.h"
#include "json/write.h"
#include "models/registry.h"
#include "policy/policy.h"
#include "transcript/tool.h"

/* ---- what is said ---- */

/* A session's orders, as pins of its own in the store.
 *
 *   model "weir orders"             "12 exact": how many there are, and whether it goes as it comes
 *   model "weir order", number      "pin tool Read"
 *
 * No model has such names. A separate table was rejected: every kind of store, also those of hosts,
 * would need it. Pins already belong to their session, are deleted with it and are compared when
 * they are written, so a number that somebody else has just used is a conflict, not a loss. */

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

/* ---- what would become of it ---- */

/* What would become of a session's prompt, and for how much.
 *
 * Three folds are imagined (wr_fold_imagine()) and compared with the one that was sent. Of each the
 * first segment that differs says what is written into the provider's cache again: all that was
 * sent from there on, which would have been read otherwise. */

enum {
    NAME_CHARS_MAX = 100,
    CALL_TOKENS = 100 /* of an answer that asks for an original */
};

struct teller {
    struct wr_projection *p;
    const struct wr_fold *fold; /* that was sent */
    struct wr_json_writer w;
    uint64_t factor_bp; /* of the provider's tokens for ours */
};

/* ---- prices ---- */

static uint64_t as_provider_counts(const struct teller *t, uint64_t tokens)
{
    return t->factor_bp ? (tokens * t->factor_bp + 5000) / 10000 : tokens;
}

static uint64_t cost_of(const struct teller *t, const struct wr_usage *usage)
{
    return wr_cost(t->p->match.model, usage).micro_usd;
}

/* The cache is written as the model's rule has it, plain input where writing costs nothing more. */
static uint64_t cost_of_writing(const struct teller *t, uint64_t tokens)
{
    const struct wr_cache_rule *rule = t->p->match.model->cache;
    struct wr_usage usage = {0};

    if (rule && rule->mode == WR_CACHE_BREAKPOINT)
        usage.cache_write_30m_tokens = tokens;
    else if (rule && rule->mode == WR_CACHE_EXPLICIT)
        usage.cache_write_5m_tokens = tokens;
    else
        usage.input_tokens = tokens;
    return cost_of(t, &usage);
}

static uint64_t cost_of_reading(const struct teller *t, uint64_t tokens)
{
    return cost_of(t, &(struct wr_usage){.cache_read_tokens = tokens});
}

/* One more request: the prompt is read once more, and what comes back is written. */
static uint64_t cost_of_recalling(const struct teller *t, uint64_t tokens)
{
    return cost_of_reading(t, as_provider_counts(t, t->fold->total_tokens)) +
           cost_of_writing(t, as_provider_counts(t, tokens)) +
           cost_of(t, &(struct wr_usage){.output_tokens = CALL_TOKENS});
}

static bool is_priced(const struct teller *t)
{
    return wr_cost(t->p->match.model, &(struct wr_usage){.input_tokens = 1}).known;
}

/* What the provider had in its cache from this segment on: whole steps of it, where it counts so.
 */
static uint64_t lost_from(const struct teller *t, uint32_t first)
{
    const struct wr_cache_rule *rule = t->p->match.model->cache;
    uint64_t step = rule && rule->step_tokens ? rule->step_tokens : 1;
    uint64_t behind = wr_fold_tokens_from(t->fold, first, t->fold->arrived);
    uint64_t all = as_provider_counts(t, t->fold->total_tokens);
    uint64_t kept =
        as_provider_counts(t, t->fold->total_tokens > behind ? t->fold->total_tokens - behind : 0);

    return behind ? (all - all % step) - (kept - kept % step) : 0;
}

/* What is written again that would have been read, and what one request more or less costs from
 * then on. `then` is the prompt as it would be; NULL: as it came. */
static void write_price(struct teller *t, uint32_t first, const struct wr_fold *then)
{
    uint64_t before = t->fold->total_tokens, lost = lost_from(t, first);
    uint64_t after = then ? then->total_tokens : t->p->run.tokens_before;
    bool is_more = after > before;
    uint64_t difference = as_provider_counts(t, is_more ? after - before : before - after);
    uint64_t left =
        then ? as_provider_counts(t, wr_fold_tokens_from(then, first, then->arrived)) : lost;
    uint64_t again = is_more || left > lost ? lost : left;
    uint64_t written = is_more ? lost + difference : again;

    wr_json_member_number(&t->w, "tokens_before", before);
    wr_json_member_number(&t->w, "tokens_after", after);
    wr_json_member_number(&t->w, "rewrites_tokens", again);
    if (!is_priced(t))
        return;
    int64_t a_request = (int64_t)cost_of_reading(t, difference);
    int64_t once = (int64_t)cost_of_writing(t, written) - (int64_t)cost_of_reading(t, lost);
    wr_json_member_i64(&t->w, "cost_micro_usd",
                       (int64_t)cost_of_writing(t, again) - (int64_t)cost_of_reading(t, again));
    wr_json_member_i64(&t->w, "once_micro_usd", once);
    wr_json_member_i64(&t->w, "a_request_micro_usd", is_more ? a_request : -a_request);
    if (!is_more && a_request)
        wr_json_member_i64(&t->w, "pays_back_requests",
                           once > 0 ? (once + a_request - 1) / a_request : 0);
}

/* ---- pieces ---- */

static void write_name(struct teller *t, const struct wr_segment *s)
{
    const struct wr_tool_handles *h = s->handles;
    weir_span name = !h             ? (weir_span){"", 0}
                     : h->path.len  ? h->path
                     : h->query.len ? h->query
                                    : h->command;
    struct wr_buf line;

    if (s->tool.len)
        wr_json_member_text(&t->w, "tool", s->tool);
    if (!name.len)
        return;
    wr_buf_init(&line, 4 * NAME_CHARS_MAX + 16);
    wr_text_one_line_max(&line, name, NAME_CHARS_MAX);
    wr_json_member_text(&t->w, h->path.len ? "path" : "name", wr_buf_view(&line));
    wr_buf_release(&line);
}

/* What it takes to have a piece back that is out now. */
static void write_way_back(struct teller *t, uint32_t first, uint64_t tokens, uint64_t left)
{
    uint64_t again = lost_from(t, first);
    uint64_t more = tokens > left ? as_provider_counts(t, tokens - left) : 0;

    wr_json_member_number(&t->w, "rewrites_tokens", again);
    if (!is_priced(t))
        return;
    int64_t cost = (int64_t)cost_of_writing(t, again) - (int64_t)cost_of_reading(t, again);
    wr_json_member_i64(&t->w, "cost_micro_usd", cost);
    wr_json_member_i64(&t->w, "once_micro_usd", cost + (int64_t)cost_of_writing(t, more));
    wr_json_member_number(&t->w, "a_request_micro_usd", cost_of_reading(t, more));
    wr_json_member_number(&t->w, "recall_micro_usd", cost_of_recalling(t, tokens));
}

/* The newest piece that names the same path, which may be this one. */
static uint32_t last_use_of(const struct wr_transcript *transcript, uint32_t segment)
{
    const struct wr_segment *s = &transcript->segments[segment];

    if (!s->handles || !s->handles->path.len)
        return segment;
    for (uint32_t i = transcript->segments_count; --i > segment;) {
        const struct wr_tool_handles *h = transcript->segments[i].handles;
        if (h && wr_span_eq(h->path, s->handles->path))
            return i;
    }
    return segment;
}

/* Answers of the model since then. */
static void write_age(struct teller *t, uint32_t segment)
{
    const struct wr_transcript *transcript = t->fold->transcript;
    uint32_t use = last_use_of(transcript, segment), turn = transcript->segments[use].turn;
    uint64_t answers = 0;

    for (uint32_t i = use + 1; i < transcript->segments_count; i++) {
        const struct wr_segment *s = &transcript->segments[i];
        answers += s->from_model && s->turn != turn;
        turn = s->from_model ? s->turn : turn;
    }
    wr_json_member_number(&t->w, "unused_answers", answers);
}

/* What a request costs less once this is taken: of what is in the prompt now, not of what came. */
static void write_saving(struct teller *t, uint64_t tokens_now, uint64_t left)
{
    if (is_priced(t))
        wr_json_member_i64(&t->w, "a_request_micro_usd",
                           tokens_now > left ? -(int64_t)cost_of_reading(
                                                   t, as_provider_counts(t, tokens_now - left))
                                             : 0);
}

/* Tokens that are in the prompt now for what a message of `then` would stand for. */
static uint64_t tokens_under(const struct wr_fold *now, const struct wr_fold *then, uint32_t insert)
{
    const struct wr_fold_insert *over = &then->inserts[insert];
    uint64_t tokens = 0;

    for (uint32_t i = over->first; i <= over->last; i++)
        if (wr_fold_stands_for(then, insert, i) && now->segments[i].form != WR_FORM_DROPPED)
            tokens += now->segments[i].tokens + wr_fold_overhead(now, i);
    for (uint32_t i = 0; i < now->inserts_count; i++)
        if (!now->inserts[i].is_gone && then->inserts[i].is_gone &&
            now->inserts[i].first >= over->first && now->inserts[i].last <= over->last)
            tokens += now->inserts[i].tokens;
    return tokens;
}

static void write_segment(struct teller *t, const struct wr_fold *as_is, uint32_t i)
{
    const struct wr_segment *s = &as_is->transcript->segments[i];
    const struct wr_fold_segment *now = &as_is->segments[i];

    wr_json_write_object(&t->w);
    wr_json_member_number(&t->w, "segment", i);
    wr_json_member_word(&t->w, "kind", weir_kind_name(s->kind));
    write_name(t, s);
    wr_json_member_word(&t->w, "form", wr_form_name(now->form));
    wr_json_member_word(&t->w, "stage", now->reason ? now->reason : "");
    if (now->handle.text[0])
        wr_json_member_word(&t->w, "handle", now->handle.text);
    wr_json_member_number(&t->w, "turn", s->turn);
    wr_json_member_number(&t->w, "tokens", as_is->input->tokens[i]);
    wr_json_member_number(&t->w, "tokens_left", now->tokens);
    if (now->kept_by)
        wr_json_member_bool(&t->w, "pinned", true);
    if (as_is == t->fold) {
        write_age(t, i);
        write_way_back(t, i, as_is->input->tokens[i], now->tokens);
    } else {
        write_saving(t, t->fold->segments[i].tokens, now->tokens);
    }
    wr_json_write_object_end(&t->w);
}

/* Results that a message stands for: each can be had back by itself. */
static void write_holds(struct teller *t, const struct wr_fold *as_is, uint32_t insert)
{
    uint32_t count = 0;

    wr_json_write_key(&t->w, "holds");
    wr_json_write_array(&t->w);
    for (uint32_t i = as_is->inserts[insert].first;
         i <= as_is->inserts[insert].last && count < WR_PLAN_HOLDS_MAX; i++) {
        const struct wr_segment *s = &as_is->transcript->segments[i];
        if (s->kind != WEIR_KIND_TOOL_RESULT || !wr_fold_stands_for(as_is, insert, i))
            continue;
        count++;
        wr_json_write_object(&t->w);
        wr_json_member_number(&t->w, "segment", i);
        write_name(t, s);
        wr_json_member_number(&t->w, "tokens", as_is->input->tokens[i]);
        if (is_priced(t)) {
            uint64_t tokens = as_provider_counts(t, as_is->input->tokens[i]);
            wr_json_member_number(&t->w, "write_micro_usd", cost_of_writing(t, tokens));
            wr_json_member_number(&t->w, "a_request_micro_usd", cost_of_reading(t, tokens));
        }
        wr_json_write_object_end(&t->w);
    }
    wr_json_write_array_end(&t->w);
}

/* A message that stands for several segments; its number is that of the first. */
static void write_insert(struct teller *t, const struct wr_fold *as_is, uint32_t i)
{
    const struct wr_fold_insert *insert = &as_is->inserts[i];

    wr_json_write_object(&t->w);
    wr_json_member_number(&t->w, "segment", insert->first);
    wr_json_member_number(&t->w, "last_segment", insert->last);
    wr_json_member_word(&t->w, "kind", "messages");
    wr_json_member_word(&t->w, "form", insert->is_loop ? "loop summarised" : "summarised");
    wr_json_member_word(&t->w, "stage", insert->stage);
    wr_json_member_word(&t->w, "handle", insert->handle.text);
    wr_json_member_number(&t->w, "tokens", insert->original_tokens);
    wr_json_member_number(&t->w, "tokens_left", insert->tokens);
    if (as_is == t->fold) {
        write_way_back(t, insert->before < insert->first ? insert->before : insert->first,
                       insert->original_tokens, insert->tokens);
        write_holds(t, as_is, i);
    } else {
        write_saving(t, tokens_under(t->fold, as_is, i), insert->tokens);
    }
    wr_json_write_object_end(&t->w);
}

static bool is_out(const struct wr_fold *as_is, uint32_t i)
{
    const struct wr_fold_segment *now = &as_is->segments[i];
    return now->form != WR_FORM_EXACT && now->form != WR_FORM_DROPPED;
}

/* What is out in `as_is`, and was not in `before` (NULL: nothing was). */
static void write_pieces(struct teller *t, const struct wr_fold *as_is,
                         const struct wr_fold *before)
{
    uint64_t count = 0;

    wr_json_write_key(&t->w, "pieces");
    wr_json_write_array(&t->w);
    for (uint32_t i = 0; i < as_is->inserts_count; i++) {
        bool was_there = before && i < before->inserts_count && !before->inserts[i].is_gone;
        if (as_is->inserts[i].is_gone || as_is->inserts[i].is_rehydrated || was_there)
            continue;
        if (count++ < WR_PLAN_PIECES_MAX)
            write_insert(t, as_is, i);
    }
    for (uint32_t i = 0; i < as_is->arrived; i++) {
        bool is_same = before && before->segments[i].form == as_is->segments[i].form &&
                       before->segments[i].tokens == as_is->segments[i].tokens;
        if (!is_out(as_is, i) || is_same)
            continue;
        if (count++ < WR_PLAN_PIECES_MAX)
            write_segment(t, as_is, i);
    }
    wr_json_write_array_end(&t->w);
    wr_json_member_number(&t->w, "pieces_count", count);
}

/* ---- the parts ---- */

static void write_out(struct teller *t)
{
    wr_json_write_key(&t->w, "out");
    wr_json_write_object(&t->w);
    wr_json_member_number(&t->w, "tokens_before", t->p->run.tokens_before);
    wr_json_member_number(&t->w, "tokens_after", t->p->run.tokens_after);
    write_pieces(t, t->fold, NULL);
    wr_json_member_number(&t->w, "pinned_count", wr_fold_kept_out(t->fold));
    wr_json_write_object_end(&t->w);
}

/* When each of the stages that look at older segments acts, as it says itself. */
static void write_when(struct teller *t)
{
    const struct wr_policy *policy = t->fold->input->policy;
    struct wr_stage_room room = {.window_tokens = t->fold->window.tokens,
                                 .usable_tokens = wr_fold_threshold(t->fold, 10000)};

    if (!room.window_tokens)
        room.usable_tokens = 0;
    wr_json_write_key(&t->w, "when");
    wr_json_write_array(&t->w);
    for (uint32_t i = 0; i < policy->stages_count; i++) {
        if (!policy->stages[i].def->request)
            continue;
        struct wr_stage_when when = wr_stage_when(&policy->stages[i], &room);
        wr_json_write_object(&t->w);
        wr_json_member_word(&t->w, "stage", policy->stages[i].def->name);
        if (when.words)
            wr_json_member_word(&t->w, "words", when.words);
        if (when.at_tokens)
            wr_json_member_number(&t->w, "at_tokens", when.at_tokens);
        wr_json_write_object_end(&t->w);
    }
    wr_json_write_array_end(&t->w);
}

static weir_status write_next(struct teller *t)
{
    struct wr_fold_input input;
    struct wr_fold next;
    weir_status status = wr_fold_imagine(&next, t->fold, &input, "now\n");

    if (status)
        return status;
    wr_json_write_key(&t->w, "next");
    wr_json_write_object(&t->w);
    if (wr_fold_step_now(&next)) {
        write_price(t, next.changed_first, &next);
        write_pieces(t, &next, t->fold);
    } else {
        wr_json_member_number(&t->w, "pieces_count", 0);
    }
    write_when(t);
    wr_json_write_object_end(&t->w);
    return WEIR_OK;
}

static weir_status write_undo(struct teller *t)
{
    struct wr_fold_input input;
    struct wr_fold undone;
    weir_status status = wr_fold_imagine(&undone, t->fold, &input, "undo\n");
    const struct wr_fold_step *step = status ? NULL : wr_fold_step_now(&undone);

    if (status)
        return status;
    wr_json_write_key(&t->w, "undo");
    if (!step || step->reason != WR_STEP_UNDONE) {
        wr_json_write_null(&t->w);
        return WEIR_OK;
    }
    wr_json_write_object(&t->w);
    write_price(t, undone.changed_first, &undone);
    wr_json_member_number(&t->w, "pieces_count", undone.said.last.count);
    wr_json_member_number(&t->w, "step_turn", undone.said.last.turn);
    wr_json_write_object_end(&t->w);
    return WEIR_OK;
}

/* What it would take to send everything as it came. */
static void write_exact(struct teller *t)
{
    uint32_t first = UINT32_MAX;

    for (uint32_t i = 0; i < t->fold->arrived && first == UINT32_MAX; i++)
        if (t->fold->segments[i].form != WR_FORM_EXACT)
            first = i;
    for (uint32_t i = 0; i < t->fold->inserts_count; i++)
        if (!t->fold->inserts[i].is_gone && t->fold->inserts[i].before < first)
            first = t->fold->inserts[i].before;
    wr_json_write_key(&t->w, "exact");
    wr_json_write_object(&t->w);
    write_price(t, first, NULL);
    wr_json_write_object_end(&t->w);
}

static void write_head(struct teller *t)
{
    const struct wr_projection *p = t->p;
    const struct wr_cache_rule *rule = p->match.model->cache;

    wr_json_member_i64(&t->w, "time_ms", p->options->now_ms);
    wr_json_member_text(&t->w, "model", p->request->transcript.model);
    wr_json_member_word(&t->w, "policy", p->input.policy->name);
    wr_json_member_number(&t->w, "turns", p->trail.turns_count);
    wr_json_member_number(&t->w, "orders_heard", p->marks.orders);
    wr_json_member_bool(&t->w, "pending", p->is_pending || wr_fold_is_due(t->fold));
    wr_json_member_bool(&t->w, "bound", p->input.binds_thinking && t->fold->has_signed);
    wr_json_member_number(&t->w, "window_tokens", t->fold->window.tokens);
    if (rule && rule->ttl_s)
        wr_json_member_number(&t->w, "cold_after_s", rule->ttl_s);
}

/* The texts of a fold that went on from another are still the other's. */
static bool is_all_there(const struct wr_projection *p)
{
    if (!p->from_state)
        return true;
    const struct wr_folded *from = wr_fold_memo_find(p->folds, p->from_key);
    return from && from->state == p->from_state;
}

weir_status wr_foretell(struct wr_projection *p, struct wr_buf *out)
{
    struct teller t = {.p = p, .fold = &p->run.fold, .factor_bp = p->options->factor_bp};

    if (!p->has_marks || !p->sent.is_known || p->run.settled.is_fallback || p->kept_policies ||
        !is_all_there(p))
        return WEIR_NOTFOUND;
    wr_json_write_init(&t.w, out);
    wr_json_write_object(&t.w);
    write_head(&t);
    write_out(&t);
    weir_status status = write_next(&t);
    if (!status)
        status = write_undo(&t);
    write_exact(&t);
    wr_json_write_object_end(&t.w);
    return status ? status : wr_buf_status(out);
}
