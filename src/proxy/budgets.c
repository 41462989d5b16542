/* `budgets:` of weir.yaml. */
#include "proxy/budgets.h"

#include "base/err.h"
#include "base/span.h"

enum { MEMBERS_MAX = 16 };

struct reading {
    struct wr_budgets *budgets;
    struct wr_arena *arena;
    struct wr_yaml *yaml;
    struct wr_budget *at;
    bool has_period, has_limit;
};

bool wr_money_parse(weir_span text, int64_t *micro_usd)
{
    enum { PLACES = 6 };
    const char *dot = text.len ? memchr(text.ptr, '.', text.len) : NULL;
    size_t whole_bytes = dot ? (size_t)(dot - text.ptr) : text.len;
    weir_span decimals = wr_span_from(text, dot ? whole_bytes + 1 : text.len);
    uint64_t whole, part = 0;

    if (!wr_span_u64(wr_span_cut(text, 0, whole_bytes), &whole) || whole > 1000 * 1000 * 1000)
        return false;
    if (dot && (!decimals.len || decimals.len > PLACES || !wr_span_u64(decimals, &part)))
        return false;
    for (size_t i = decimals.len; i < PLACES; i++)
        part *= 10;
    *micro_usd = (int64_t)(whole * 1000000 + part);
    return true;
}

static weir_status read_name(struct reading *r, yaml_node_t *node, bool is_team)
{
    weir_span name = wr_yaml_text(node);

    if (r->at->name)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "a budget is for a user or for a team");
    if (!wr_span_is(name, "*") && !wr_user_name_is(name))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "the name of a user or team is wanted here, or \"*\" for each");
    const char *copy = wr_arena_string(r->arena, name);
    if (!copy)
        return WEIR_NOMEM;
    r->at->name = copy;
    r->at->is_team = is_team;
    return WEIR_OK;
}

static weir_status read_period(struct reading *r, yaml_node_t *node)
{
    for (int i = 0; i < WR_SPEND_PERIODS; i++)
        if (wr_span_is(wr_yaml_text(node), wr_spend_period_name((enum wr_spend_period)i))) {
            r->at->period = (enum wr_spend_period)i;
            r->has_period = true;
            return WEIR_OK;
        }
    return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "per is minute, day or month");
}

static weir_status read_limit(struct reading *r, yaml_node_t *node, enum wr_spend_kind kind)
{
    weir_span text = wr_yaml_text(node);
    uint64_t number;

    r->has_limit = true;
    if (kind == WR_SPEND_MONEY)
        return wr_money_parse(text, &r->at->limits[kind])
                   ? WEIR_OK
                   : wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                                  "an amount in USD is wanted here, such as 12.50");
    if (!wr_span_u64(text, &number) || number > INT64_MAX / 4)
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "a number is wanted here");
    r->at->limits[kind] = (int64_t)number;
    return WEIR_OK;
}

static weir_status read_action(struct reading *r, yaml_node_t *node)
{
    r->at->warns = wr_span_is(wr_yaml_text(node), "warn");
    if (r->at->warns || wr_span_is(wr_yaml_text(node), "refuse"))
        return WEIR_OK;
    return wr_yaml_fail(r->yaml, node, WEIR_INVALID, "action is refuse or warn");
}

static weir_status on_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    struct reading *r = user;
    weir_span name = wr_yaml_text(key);

    if (wr_span_is(name, "user") || wr_span_is(name, "team"))
        return read_name(r, value, wr_span_is(name, "team"));
    if (wr_span_is(name, "per"))
        return read_period(r, value);
    if (wr_span_is(name, "action"))
        return read_action(r, value);
    if (wr_span_is(name, "usd"))
        return read_limit(r, value, WR_SPEND_MONEY);
    if (wr_span_is(name, "tokens"))
        return read_limit(r, value, WR_SPEND_TOKENS);
    if (wr_span_is(name, "requests"))
        return read_limit(r, value, WR_SPEND_REQUESTS);
    return wr_yaml_fail(r->yaml, key, WEIR_INVALID,
                        "a budget has user or team, per, usd, tokens, requests and action, not "
                        "'%.*s'",
                        (int)name.len, name.ptr);
}

static weir_status read_budget(struct reading *r, yaml_node_t *node)
{
    r->at = &r->budgets->items[r->budgets->count++];
    *r->at = (struct wr_budget){.line = (uint32_t)node->start_mark.line + 1};
    for (int i = 0; i < WR_SPEND_KINDS; i++)
        r->at->limits[i] = WR_SPEND_NO_LIMIT;
    r->has_period = r->has_limit = false;
    weir_status status = wr_yaml_each(r->yaml, node, MEMBERS_MAX, on_member, r);
    if (!status && (!r->at->name || !r->has_period || !r->has_limit))
        return wr_yaml_fail(r->yaml, node, WEIR_INVALID,
                            "a budget has user or team, per, and one of usd, tokens, requests");
    return status;
}

weir_status wr_budgets_read(struct wr_budgets *budgets, struct wr_arena *arena,
                            struct wr_yaml *yaml, yaml_node_t *value)
{
    struct reading r = {.budgets = budgets, .arena = arena, .yaml = yaml};
    weir_status status = WEIR_OK;

    if (value->type != YAML_SEQUENCE_NODE)
        return wr_yaml_fail(yaml, value, WEIR_INVALID, "a list of budgets is wanted here");
    size_t count = (size_t)(value->data.sequence.items.top - value->data.sequence.items.start);
    if (count > WR_PROXY_BUDGETS_MAX)
        return wr_yaml_fail(yaml, value, WEIR_LIMIT, "%d budgets at most", WR_PROXY_BUDGETS_MAX);
    budgets->items = WR_ARENA_ARRAY(arena, struct wr_budget, count + 1);
    budgets->count = 0;
    if (!budgets->items)
        return WEIR_NOMEM;
    for (size_t i = 0; i < count && !status; i++)
        status = read_budget(
            &r, yaml_document_get_node(&yaml->doc, value->data.sequence.items.start[i]));
    return status;
}

weir_status wr_budgets_read_action(struct wr_budgets *budgets, struct wr_yaml *yaml,
                                   yaml_node_t *value)
{
    budgets->refuses_uncounted = wr_span_is(wr_yaml_text(value), "refuse");
    if (budgets->refuses_uncounted || wr_span_is(wr_yaml_text(value), "pass"))
        return WEIR_OK;
    return wr_yaml_fail(yaml, value, WEIR_INVALID,
                        "budgets_without_store is pass or refuse: what happens to requests while "
                        "the store cannot count them");
}

weir_status wr_budgets_check(const struct wr_budgets *budgets, const struct wr_users *users,
                             struct weir_err *err)
{
    for (size_t i = 0; i < budgets->count; i++) {
        const struct wr_budget *b = &budgets->items[i];
        weir_span name = wr_span_of(b->name);
        bool is_there = wr_span_is(name, "*") || (b->is_team ? wr_users_has_team(users, name)
                                                             : wr_users_named(users, name) != NULL);
        if (!is_there)
            return wr_fail(err, WEIR_INVALID, 0, "line %u, column 1: no %s is called '%s'", b->line,
                           b->is_team ? "team" : "user", b->name);
    }
    return WEIR_OK;
}

bool wr_budgets_limits(const struct wr_budgets *budgets, const struct wr_user *user, bool warns,
                       int64_t limits[WR_SPEND_SCOPES_MAX][WR_SPEND_PERIODS][WR_SPEND_KINDS])
{
    bool has_any = false;

    for (int s = 0; s < WR_SPEND_SCOPES_MAX; s++)
        for (int p = 0; p < WR_SPEND_PERIODS; p++)
            for (int k = 0; k < WR_SPEND_KINDS; k++)
                limits[s][p][k] = WR_SPEND_NO_LIMIT;
    for (size_t i = 0; i < budgets->count; i++) {
        const struct wr_budget *b = &budgets->items[i];
        const char *name = b->is_team ? user->team : user->name;
        if (b->warns != warns || !name[0] || (strcmp(b->name, "*") && strcmp(b->name, name)))
            continue;
        int64_t *limit = limits[b->is_team][b->period];
        for (int k = 0; k < WR_SPEND_KINDS; k++)
            if (b->limits[k] < limit[k])
                limit[k] = b->limits[k];
        has_any = true;
    }
    return has_any;
}
