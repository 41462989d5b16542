/* The policy of a request.
 *
 * A session keeps the policy of its first request: the pin, in the store. Whoever names a policy
 * with a request beats it, for that request or from then on (weir_pinning).
 *
 * A change of the policy changes what was sent before. That is a step like any other, but for
 * models that bind their signed thinking to what stands before it: there the provider refuses the
 * old thinking over the new text. Where the user speaks, the thinking goes, which a mark repeats
 * ever after. Inside an open loop it may not go, so there the change waits.
 *
 * To wait takes the policy that sent the loop so far. An edited policies file, or a release with
 * another preset, no longer has it: only its hash stands in the marks. So for such models each
 * policy that a session is sent under is kept with the session, in full, as one more pin. Where
 * that is lost too the rest of the loop goes as it came, with its thinking. */

#include "engine/projection_policy.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/steer.h"

enum { PIN_BYTES_MAX = WR_TOOLS_BYTES_MAX + 256, FULL_NAME_BYTES = 32 };

#define FULL_NAME "weir policy %016llx" /* no model has it */
#define KEPT_NAME "kept"                /* in the YAML; a preset's own is taken */

/* ---- the pin ---- */

static struct weir_pin pin_of(const struct wr_projection *p)
{
    const struct weir_project_options *o = p->options;
    struct weir_pin pin = {.model = o->model ? wr_span_of(o->model) : p->request->transcript.model};
    if (!pin.model.len)
        pin.model = WR_LIT("unknown");
    if (pin.model.len > WR_STORE_NAME_BYTES_MAX)
        pin.model.len = WR_STORE_NAME_BYTES_MAX;
    if (p->trail.turns_count)
        memcpy(pin.first_turn.bytes, &p->trail.turns[0], sizeof(p->trail.turns[0]));
    return pin;
}

/* "auto", or "auto -Read": the policy's name, and what is said of tools. */
static bool read_pinned_names(struct wr_projection *p, weir_span names)
{
    size_t space = wr_span_find(names, WR_LIT(" "), 0);
    weir_span policy = wr_span_cut(names, 0, space < names.len ? space : names.len);
    weir_span tools = wr_span_cut(names, policy.len + (policy.len < names.len), names.len);

    if (policy.len > WR_POLICY_NAME_BYTES_MAX || tools.len > WR_TOOLS_BYTES_MAX)
        return false;
    (void)snprintf(p->pinned_policy, sizeof(p->pinned_policy), "%.*s", (int)policy.len, policy.ptr);
    (void)snprintf(p->pinned_tools, sizeof(p->pinned_tools), "%.*s", (int)tools.len, tools.ptr);
    return true;
}

/* "200000:registry"; older ones have the number alone. */
static bool read_pinned_window(struct wr_projection *p, weir_span text)
{
    size_t colon = wr_span_find(text, WR_LIT(":"), 0);
    uint64_t window;

    if (!wr_span_u64(wr_span_cut(text, 0, colon < text.len ? colon : text.len), &window) ||
        window > UINT32_MAX)
        return false;
    p->pinned_window_tokens = (uint32_t)window;
    p->pinned_source =
        colon < text.len ? wr_window_source_find(wr_span_cut(text, colon + 1, text.len)) : NULL;
    if (!p->pinned_source)
        p->pinned_source = "session";
    return true;
}

/* Another store was found in the place of the one that the marks were read from. */
bool wr_projection_is_replaced(const struct wr_projection *p)
{
    return p->options->store && weir_store_replacements(p->options->store) != p->replaced_count;
}

/* The same, or another node has committed to the session since its marks were read: what that one
 * decided holds. */
bool wr_projection_is_begun_anew(const struct wr_projection *p)
{
    return wr_projection_is_replaced(p) || p->is_outrun;
}

/* What a store remembers of the session is good enough to read, because the commit compares; in the
 * last try nothing is left to chance. */
void wr_projection_begin(struct wr_projection *p, bool is_over)
{
    weir_span session = is_over || p->is_last_try ? (weir_span){"", 0} : p->session;

    if (p->options->store)
        (void)!weir_store_begin(p->options->store, p->tenant, session, NULL);
}

/* The window before those: "200000:registry auto". */
static bool read_pinned(struct wr_projection *p, weir_span value)
{
    size_t space = wr_span_find(value, WR_LIT(" "), 0);
    return space != SIZE_MAX && read_pinned_window(p, wr_span_cut(value, 0, space)) &&
           read_pinned_names(p, wr_span_cut(value, space + 1, value.len));
}

enum { ASKED_SAID, ASKED_SAID_OF_ALL, ASKED_PIN, ASKED_COUNT };

static weir_status hear_pin(void *user, size_t at, const struct weir_pin *pin)
{
    struct wr_projection *p = user;

    if (at == ASKED_PIN) {
        p->has_pin = read_pinned(p, pin->value);
        return WEIR_OK;
    }
    struct wr_order_head head = wr_order_head_of(pin->value);
    if (at == ASKED_SAID)
        p->said = head;
    p->is_exact_said |= head.is_exact;
    return WEIR_OK;
}

/* One question to the store: most sessions have the pin and no orders, and to look for what is not
 * there three times over cost a small request more than to project it. */
void wr_projection_read_pins(struct wr_projection *p)
{
    const struct weir_pin_query queries[ASKED_COUNT] = {
        [ASKED_SAID] = {p->session, wr_order_head_pin()},
        [ASKED_SAID_OF_ALL] = {WR_LIT(WR_ORDER_EVERY_SESSION), wr_order_head_pin()},
        [ASKED_PIN] = {p->session, pin_of(p)},
    };
    size_t count = p->request->transcript.is_delta ? ASKED_PIN : ASKED_COUNT;

    p->said = (struct wr_order_head){.count = 0};
    p->is_exact_said = false;
    if (p->options->store && p->trail.turns_count)
        (void)!weir_store_pins(p->options->store, p->tenant, queries, count, hear_pin, p, NULL);
}

/* Whether the session keeps the policy that its pin names. One that is said now goes into the pin
 * even where it has to wait: so it is still asked for when the user speaks, by whichever process.
 */
static bool keeps_policy(const struct wr_projection *p)
{
    return p->has_pin && p->options->pinning != WEIR_PIN_POLICY;
}

static weir_status write_pin(const struct wr_projection *p, struct weir_pin *pin)
{
    struct wr_arena *arena = &p->request->arena;
    char *value = wr_arena_alloc(arena, PIN_BYTES_MAX);
    if (!value)
        return wr_arena_status(arena);
    const char *policy = keeps_policy(p) ? p->pinned_policy : p->asked->name;
    *pin = pin_of(p);
    (void)snprintf(value, PIN_BYTES_MAX, "%llu:%s %.*s%s%.*s",
                   (unsigned long long)p->input.window_tokens, p->window_source,
                   (int)WR_POLICY_NAME_BYTES_MAX, policy, p->input.tools[0] ? " " : "",
                   (int)WR_TOOLS_BYTES_MAX, p->input.tools);
    pin->value = wr_span_of(value);
    pin->replaces = p->has_pin;
    return WEIR_OK;
}

static bool is_to_pin(const struct wr_projection *p)
{
    if (!p->has_pin)
        return p->options->pinning != WEIR_PIN_NOTHING;
    return p->is_repinned || (!keeps_policy(p) && strcmp(p->pinned_policy, p->asked->name) != 0);
}

/* ---- the policy in full ---- */

/* Only where it may have to be in force once more, and not again where the last request had it. */
static bool is_to_keep(const struct wr_projection *p)
{
    const struct wr_sent *last = &p->marks.last;
    return p->input.binds_thinking && p->input.policy->stages_count &&
           !(last->is_known && last->policy == p->marks.policy &&
             last->model == p->marks.trail.model);
}

/* Its name, a line's end, and its YAML; empty: that is longer than a pin may be. */
static weir_status write_full(const struct wr_projection *p, struct weir_pin *pin)
{
    struct wr_arena *arena = &p->request->arena;
    char *name = wr_arena_alloc(arena, FULL_NAME_BYTES);
    struct wr_buf text;

    if (!name)
        return wr_arena_status(arena);
    (void)snprintf(name, FULL_NAME_BYTES, FULL_NAME, (unsigned long long)p->marks.policy);
    wr_buf_init(&text, WR_STORE_PIN_BYTES_MAX);
    wr_buf_printf(&text, "%s\n", p->input.policy->name);
    wr_policy_yaml_begin(&text);
    wr_policy_yaml_write(&text, p->input.policy, KEPT_NAME);
    weir_span value = wr_buf_status(&text) ? WR_LIT("") : wr_buf_view(&text);
    *pin = (struct weir_pin){
        .model = wr_span_of(name), .value = wr_arena_copy(arena, value), .replaces = true};
    wr_buf_release(&text);
    return pin->value.ptr ? WEIR_OK : wr_arena_status(arena);
}

static const struct wr_policy *find_kept(struct wr_projection *p, uint64_t hash)
{
    struct wr_arena *arena = &p->request->arena;
    char model[FULL_NAME_BYTES];
    (void)snprintf(model, sizeof(model), FULL_NAME, (unsigned long long)hash);
    struct weir_pin pin = {.model = wr_span_of(model)};

    if (weir_store_pin(p->options->store, p->tenant, p->session, &pin, NULL))
        return NULL;
    size_t end = wr_span_find(pin.value, WR_LIT("\n"), 0);
    if (end == SIZE_MAX ||
        wr_policies_new(&p->kept_policies, wr_span_cut(pin.value, end + 1, pin.value.len), NULL))
        return NULL;
    const struct wr_policy *found = wr_policies_find(p->kept_policies, WR_LIT(KEPT_NAME));
    struct wr_policy *kept = wr_arena_alloc(arena, sizeof(*kept));
    char *name = wr_arena_alloc(arena, end + 1);
    /* A stage that has learnt another parameter since is another stage. */
    if (!found || !kept || !name || wr_policy_hash(found) != hash)
        return NULL;
    (void)snprintf(name, end + 1, "%.*s", (int)end, pin.value.ptr);
    *kept = *found;
    kept->name = name;
    return kept;
}

weir_status wr_projection_write_pins(const struct wr_projection *p,
                                     struct weir_pin pins[WR_PROJECTION_PINS_MAX], size_t *count)
{
    weir_status status = WEIR_OK;

    *count = 0;
    if (is_to_keep(p)) {
        status = write_full(p, &pins[0]);
        *count = !status && pins[0].value.len;
    }
    if (!status && is_to_pin(p))
        status = write_pin(p, &pins[(*count)++]);
    return status;
}

static const struct wr_policy *policy_without_stages(const struct wr_policies *policies)
{
    for (uint32_t i = 0; i < wr_policies_count(policies); i++)
        if (!wr_policies_at(policies, i)->stages_count)
            return wr_policies_at(policies, i);
    return NULL;
}

weir_status wr_projection_find_policy(struct wr_projection *p, struct weir_err *err)
{
    const struct weir_project_options *o = p->options;
    const char *name = o->policy;

    p->input.tools = p->has_pin ? p->pinned_tools : o->tools ? o->tools : "";
    if (!name && p->has_pin && wr_policies_find(p->policies, wr_span_of(p->pinned_policy)))
        name = p->pinned_policy;
    if (!name)
        name = o->policy_default ? o->policy_default : "exact";
    p->input.policy = p->asked = wr_policies_find(p->policies, wr_span_of(name));
    if (p->asked && p->is_exact_said && policy_without_stages(p->policies))
        p->input.policy = policy_without_stages(p->policies); /* its own stays pinned */
    if (p->asked)
        return WEIR_OK;
    return wr_fail(err, WEIR_NOTFOUND, 0, "no policy is called '%.60s'; `weir policies` lists them",
                   name);
}

/* ---- another policy than the last request's ---- */

bool wr_holds_signed_thinking(const struct wr_transcript *t)
{
    for (uint32_t i = 0; i < t->segments_count; i++)
        if (t->segments[i].is_signed)
            return true;
    return false;
}

/* Whether the newest turn is the user's own: it brings no result. */
static bool is_users_turn(const struct wr_projection *p)
{
    const struct wr_transcript *t = &p->request->transcript;
    uint32_t newest = p->trail.turns_count - 1;
    for (uint32_t i = t->segments_count; i-- > 0 && t->segments[i].turn == newest;)
        if (t->segments[i].kind == WEIR_KIND_TOOL_RESULT)
            return false;
    return true;
}

static const struct wr_policy *policy_by_hash(const struct wr_policies *policies, uint64_t hash)
{
    for (uint32_t i = 0; i < wr_policies_count(policies); i++)
        if (wr_policy_hash(wr_policies_at(policies, i)) == hash)
            return wr_policies_at(policies, i);
    return NULL;
}

/* The policy of that name as it was before the file was read again; NULL: nobody has it any more.
 */
static const struct wr_policy *older_of(const struct wr_projection *p, uint64_t hash)
{
    for (size_t i = 0; p->older && i < WR_POLICIES_OLDER_MAX && p->older[i]; i++) {
        const struct wr_policy *found = wr_policies_find(p->older[i], wr_span_of(p->asked->name));
        if (found && wr_policy_hash(found) == hash)
            return found;
    }
    return NULL;
}

enum wr_policy_change wr_projection_change_of_policy(struct wr_projection *p,
                                                     const struct wr_policy **last)
{
    const struct wr_sent *sent = &p->marks.last;

    if (!sent->is_known || sent->policy == p->marks.policy)
        return WR_CHANGE_FREE;
    /* Who says a policy now, or `exact`, gets that: only what nobody has chosen otherwise is kept.
     */
    *last = p->options->policy || p->input.policy != p->asked ? NULL : older_of(p, sent->policy);
    if (*last)
        return WR_CHANGE_KEEPS;
    if (!p->input.binds_thinking || !wr_holds_signed_thinking(&p->request->transcript))
        return WR_CHANGE_FREE;
    if (is_users_turn(p))
        return WR_CHANGE_UNSIGNS;
    *last = policy_by_hash(p->policies, sent->policy);
    if (!*last)
        *last = find_kept(p, sent->policy);
    if (!*last)
        *last = policy_without_stages(p->policies);
    WR_ASSERT(*last);
    return WR_CHANGE_WAITS;
}

/* ==== projection orders ====
 *
 * What was said of a session is heard by its next request.
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
 * reach (law L3). The words stand in the session's pin, for another policy or window.
 */

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
