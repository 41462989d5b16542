/* Which part of a prompt the provider should have read from its cache, and why it did
 * not.
 *
 * Before the answer two prompts of a conversation are compared, which gives the cause that there
 * would be. With the answer comes how much was read: only a shortfall beyond what caches do by
 * themselves (they keep steps of tokens, and leave the last blocks out) is called a bust.
 */
#include "quality/bust.h"

#include "base/span.h"
#include "models/cache.h"

/* A shortfall below these is how caches count: they keep steps, and leave the last blocks out. */
enum { TOLERANCE_SHARE = 20, TOLERANCE_TOKENS = 128, MS_A_SECOND = 1000 };

/* ---- before the answer ---- */

static bool is_past(int64_t ttl_ms, int64_t pause_ms)
{
    return ttl_ms && pause_ms > ttl_ms;
}

static void name_pause(struct wr_bust_check *check, int64_t pause_ms)
{
    (void)snprintf(check->place, sizeof(check->place), "a pause of %lld s",
                   (long long)(pause_ms / MS_A_SECOND));
}

/* Where they part; a prompt that ends early parts where the other goes on. */
static const struct wr_prompt_block *block_at(const struct wr_bust_sent *last,
                                              const struct wr_bust_sent *now, uint32_t at)
{
    return at < now->prompt->blocks_count ? &now->prompt->blocks[at] : &last->prompt->blocks[at];
}

static void blame_change(struct wr_bust_check *check, const struct wr_bust_sent *last,
                         const struct wr_bust_sent *now, uint32_t at)
{
    const struct wr_prompt_block *block = block_at(last, now, at);
    char place[WR_PROMPT_PLACE_BYTES];
    bool came_so = wr_prompt_common_original(last->prompt, now->prompt) <= at;

    wr_prompt_place(block, place);
    (void)snprintf(check->place, sizeof(check->place), "%s", place);
    check->cause = WR_BUST_HOST;
    if (came_so && block->kind == WEIR_KIND_TOOLS)
        check->cause = WR_BUST_MODEL;
    if (came_so)
        return;
    check->cause = WR_BUST_WEIR;
    const char *reason =
        now->step_reason || !check->is_back ? now->step_reason : wr_step_reason_text(WR_STEP_BACK);
    if (reason)
        (void)snprintf(check->place, sizeof(check->place), "%s: %.20s", place, reason);
}

struct wr_bust_check wr_bust_compare(const struct wr_bust_sent *last,
                                     const struct wr_bust_sent *now)
{
    struct wr_bust_check check = {.is_known = last->cached_tokens > 0, .cause = WR_BUST_PROVIDER};
    uint32_t common = wr_prompt_common_sent(last->prompt, now->prompt);

    check.is_back = last->is_other && last->model == now->model &&
                    common < wr_prompt_common_original(last->prompt, now->prompt);
    if (!check.is_known)
        return check;
    check.cached_tokens = (uint64_t)last->cached_tokens;
    if (last->model != now->model) {
        check.cause = WR_BUST_MODEL;
        (void)snprintf(check.place, sizeof(check.place), "model");
    } else if (is_past(last->ttl_ms, now->at_ms - last->at_ms)) {
        check.cause = WR_BUST_EXPIRED;
        name_pause(&check, now->at_ms - last->at_ms);
    } else if (common < last->prompt->blocks_count) {
        blame_change(&check, last, now, common);
    } else if (last->prompt->parameters != now->prompt->parameters) {
        check.cause = WR_BUST_HOST;
        (void)snprintf(check.place, sizeof(check.place), "parameters");
    }
    return check;
}

/* ---- where the provider holds the history ---- */

void wr_bust_chain_of(const struct wr_bust_sent *sent, struct wr_bust_chain *chain)
{
    const struct wr_prompt *p = sent->prompt;

    *chain = (struct wr_bust_chain){.model = sent->model,
                                    .parameters = p->parameters,
                                    .at_ms = sent->at_ms,
                                    .ttl_ms = sent->ttl_ms,
                                    .cached_tokens = sent->cached_tokens};
    for (uint32_t i = 0; i < p->blocks_count; i++) {
        const struct wr_prompt_block *b = &p->blocks[i];
        uint64_t *hash = b->kind == WEIR_KIND_TOOLS ? &chain->tools : &chain->instructions;
        if (!b->message)
            *hash = *hash * 31 + b->sent;
    }
}

struct wr_bust_check wr_bust_compare_chain(const struct wr_bust_chain *last,
                                           const struct wr_bust_chain *now)
{
    struct wr_bust_check check = {.is_known = last->cached_tokens > 0, .cause = WR_BUST_PROVIDER};
    const struct {
        bool is_other;
        enum wr_bust cause;
        const char *place;
    } rows[] = {{last->model != now->model, WR_BUST_MODEL, "model"},
                {is_past(last->ttl_ms, now->at_ms - last->at_ms), WR_BUST_EXPIRED, NULL},
                {last->tools != now->tools, WR_BUST_MODEL, "tools"},
                {last->instructions != now->instructions, WR_BUST_HOST, "system"},
                {last->parameters != now->parameters, WR_BUST_HOST, "parameters"}};
    size_t i = 0;

    if (!check.is_known)
        return check;
    check.cached_tokens = (uint64_t)last->cached_tokens;
    while (i < WR_COUNT_OF(rows) && !rows[i].is_other)
        i++;
    if (i == WR_COUNT_OF(rows))
        return check;
    check.cause = rows[i].cause;
    if (rows[i].place)
        (void)snprintf(check.place, sizeof(check.place), "%s", rows[i].place);
    else
        name_pause(&check, now->at_ms - last->at_ms);
    return check;
}

/* ---- with the answer ---- */

struct wr_bust_result wr_bust_judge(const struct wr_bust_check *check,
                                    const struct wr_bust_usage *usage, const struct wr_model *model)
{
    uint32_t step = model->cache && model->cache->step_tokens ? model->cache->step_tokens : 1;
    struct wr_bust_result result = {0};

    if (!check->is_known || !usage->is_known || check->cached_tokens < model->min_cacheable_tokens)
        return result;
    result.expected_tokens = check->cached_tokens - check->cached_tokens % step;
    uint64_t tolerance = result.expected_tokens / TOLERANCE_SHARE;
    if (tolerance < TOLERANCE_TOKENS)
        tolerance = TOLERANCE_TOKENS;
    if (tolerance < 2 * (uint64_t)step)
        tolerance = 2 * (uint64_t)step;
    if (usage->read_tokens + tolerance < result.expected_tokens)
        result.lost_tokens = result.expected_tokens - usage->read_tokens;
    return result;
}

/* Where the provider keeps only what it was told to, its own figures say how much that was. */
int64_t wr_bust_cached(const struct wr_bust_usage *usage, const struct wr_model *model)
{
    enum wr_cache_mode mode = model->cache ? model->cache->mode : WR_CACHE_NONE;
    uint64_t known = usage->read_tokens + usage->written_tokens;

    if (!usage->is_known || mode == WR_CACHE_NONE)
        return -1;
    if (mode == WR_CACHE_EXPLICIT || (mode == WR_CACHE_BREAKPOINT && usage->written_tokens))
        return (int64_t)known;
    return (int64_t)usage->prompt_tokens;
}

int64_t wr_bust_ttl_ms(const struct wr_prompt *prompt, const struct wr_model *model)
{
    const struct wr_cache_rule *rule = model->cache;

    if (!rule)
        return 0;
    uint32_t ttl_s = rule->ttl_s ? rule->ttl_s : (uint32_t)WR_CACHE_UNPUBLISHED_TTL_S;
    if (prompt->has_long_marker && rule->ttl_long_s)
        ttl_s = rule->ttl_long_s;
    return (int64_t)ttl_s * MS_A_SECOND;
}

enum wr_bust wr_bust_cause_of(weir_span reason, enum wr_bust cause)
{
    if (cause != WR_BUST_PROVIDER || !reason.len)
        return cause;
    if (wr_span_starts(reason, WR_LIT("model")) || wr_span_starts(reason, WR_LIT("tools")))
        return WR_BUST_MODEL;
    return wr_span_find(reason, WR_LIT("changed"), 0) != SIZE_MAX ? WR_BUST_HOST : cause;
}
