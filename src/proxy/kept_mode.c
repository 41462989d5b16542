#include "proxy/kept_mode.h"

#include "base/span.h"
#include "engine/order_log.h"

/* It is kept among the session's pins, under a name no model has. */
static struct weir_pin mode_pin(weir_span value)
{
    return (struct weir_pin){.model = WR_LIT("weir rollout mode"), .value = value};
}

static weir_span kept_mode(struct weir_store *store, weir_span tenant, weir_span session)
{
    struct weir_pin pin = mode_pin((weir_span){"", 0});

    if (weir_store_pin(store, tenant, session, &pin, NULL))
        return (weir_span){"", 0};
    return pin.value;
}

void wr_keep_mode(struct weir_store *store, weir_span tenant, weir_span session, int64_t now_ms,
                  const struct wr_decision *decision, bool replaces)
{
    char text[WR_KEPT_MODE_BYTES];
    wr_decision_mode(decision, text);
    struct weir_pin pin = mode_pin(wr_span_of(text));
    pin.replaces = replaces;
    struct weir_batch batch = {
        .tenant = tenant, .session = session, .used_ms = now_ms, .pins = &pin, .pins_count = 1};
    if (store)
        (void)!weir_store_commit(store, &batch, NULL);
}

/* ---- the policy of new sessions ---- */

#define NO_POLICY "-" /* a pin is never taken out, and never empty */

/* Among what is said of all sessions. */
static struct weir_pin policy_pin(weir_span value)
{
    return (struct weir_pin){.model = WR_LIT("weir policy of new sessions"), .value = value};
}

weir_span wr_wanted_policy(struct weir_store *store, weir_span tenant)
{
    struct weir_pin pin = policy_pin((weir_span){"", 0});

    if (!store || weir_store_pin(store, tenant, WR_LIT(WR_ORDER_EVERY_SESSION), &pin, NULL) ||
        wr_span_is(pin.value, NO_POLICY))
        return (weir_span){"", 0};
    return pin.value;
}

static weir_status commit_policy(struct weir_store *store, weir_span tenant, struct weir_pin *pin,
                                 int64_t now_ms, struct weir_err *err)
{
    struct weir_batch batch = {.tenant = tenant,
                               .session = WR_LIT(WR_ORDER_EVERY_SESSION),
                               .used_ms = now_ms,
                               .pins = pin,
                               .pins_count = 1};
    return weir_store_commit(store, &batch, err);
}

weir_status wr_want_policy(struct weir_store *store, weir_span tenant, weir_span policy,
                           int64_t now_ms, struct weir_err *err)
{
    struct weir_pin pin = policy_pin(policy.len ? policy : WR_LIT(NO_POLICY));
    pin.replaces = true;
    return commit_policy(store, tenant, &pin, now_ms, err);
}

/* ---- asking ---- */

void wr_kept_ask(struct weir_store *store, struct wr_arena *arena, struct wr_sessions *sessions,
                 int64_t now_ms, struct wr_rollout_input *input)
{
    if (!store || wr_sessions_has(sessions, input->tenant, input->session))
        return;
    input->kept = wr_arena_copy(arena, kept_mode(store, input->tenant, input->session));
    if (input->kept.len)
        return;
    input->wanted = wr_arena_copy(arena, wr_wanted_policy(store, input->tenant));
    /* What a session begins with is in use, and not collected. One that was changed meanwhile
     * stays: this is a conflict then, and nobody's loss. */
    struct weir_pin pin = policy_pin(input->wanted);
    if (input->wanted.len)
        (void)!commit_policy(store, input->tenant, &pin, now_ms, NULL);
}
