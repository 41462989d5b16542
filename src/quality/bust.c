/* Which part of a prompt the provider should have read from its cache, and why it did
 * not.
 *
 * Before the answer two prompts of a conversation are compared, which gives the cause that there
 * would be. With the answer comes how much was read: only a shortfall beyond what caches do by
 * themselves (they keep steps of tokens, and leave the last blocks out) is called a bust.
 */
#include "quality/bust.h"

#include "api/api.h"
#include "api/lawful.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "models/cache.h"

/* A prompt as rows of hashes, and where two of them part.
 *
 * Each segment is a block with two hashes: of its text as it came, and of what was sent for it,
 * which is the first one mixed with form, handle and size where the record has a change of it.
 * Messages of our own are mixed into the block that they stand before. So one comparison tells what
 * the host changed from what we changed, without a word of the text.
 */

/* ---- as it came ---- */

static bool is_head(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOLS || s->kind == WEIR_KIND_SYSTEM;
}

static bool is_first_user(const struct wr_prompt *p, const struct wr_segment *s)
{
    return !p->first_user && s->role == WEIR_ROLE_USER && s->kind == WEIR_KIND_TEXT;
}

static void see_marker(struct wr_prompt *p, const struct wr_transcript *t, wr_json_id marker)
{
    if (marker == WR_JSON_NONE)
        return;
    p->has_marker = true;
    p->has_long_marker |= wr_lawful_marker_is_long(t->doc, marker);
}

static void read_blocks(struct wr_prompt *p, const struct wr_transcript *t)
{
    wr_json_id message = WR_JSON_NONE;
    uint32_t number = 0;

    p->parameters = wr_api_hash_parameters(t->doc);
    see_marker(p, t, wr_find_marker(t->doc, 0));
    for (uint32_t i = 0; i < p->blocks_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        struct wr_prompt_block *b = &p->blocks[i];
        weir_range range = wr_segment_range(t, s);
        number += !is_head(s) && s->message != message;
        message = s->message;
        b->original = b->sent = wr_segment_hash(t, s);
        b->weight = (uint32_t)(range.end - range.start) + 1;
        b->message = is_head(s) ? 0 : number;
        b->kind = (uint8_t)s->kind;
        if (is_first_user(p, s))
            p->first_user = b->original | 1;
        see_marker(p, t, s->marker);
    }
}

/* ---- as it was sent ---- */

static uint64_t hash_number(uint64_t number, uint64_t seed)
{
    return wr_hash64_seeded((weir_span){(const char *)&number, sizeof(number)}, seed);
}

static uint64_t hash_handle(const char *handle, uint64_t seed)
{
    return handle ? wr_hash64_seeded(wr_span_of(handle), seed) : seed;
}

static void take_change(struct wr_prompt *p, const struct wr_record_change *change,
                        uint32_t forms[WR_RECORD_FORMS_COUNT])
{
    if (change->segment >= p->blocks_count || change->is_rolled_back)
        return;
    struct wr_prompt_block *b = &p->blocks[change->segment];
    b->sent = hash_number((uint64_t)change->form, b->sent);
    b->sent = hash_handle(change->handle, b->sent);
    b->sent = hash_number(change->tokens_after, b->sent);
    if (change->tokens_after < change->tokens_before)
        b->weight = (uint32_t)((uint64_t)b->weight * change->tokens_after / change->tokens_before);
    p->changed_count++;
    forms[change->form]++;
}

/* A message that was put in changes the hash of the segment that it is put before. */
static void take_insert(struct wr_prompt *p, const struct wr_record_insert *insert)
{
    p->changed_count++;
    if (insert->before >= p->blocks_count)
        return;
    uint64_t *sent = &p->blocks[insert->before].sent;
    *sent = hash_handle(insert->handle, hash_number((uint64_t)insert->role, *sent));
    *sent = hash_number(insert->tokens, hash_number(insert->segments_count, *sent));
}

static void read_changes(struct wr_prompt *p, const struct wr_record *record)
{
    uint32_t forms[WR_RECORD_FORMS_COUNT] = {0}, most = 0;

    for (uint32_t i = 0; i < record->inserts_count; i++)
        take_insert(p, &record->inserts[i]);
    for (uint32_t i = 0; i < record->changes_count; i++)
        take_change(p, &record->changes[i], forms);
    for (uint32_t f = 0; f < WR_RECORD_FORMS_COUNT; f++)
        if (forms[f] > most) {
            most = forms[f];
            p->form = wr_form_name((enum wr_form)f);
        }
}

weir_status wr_prompt_read(struct wr_prompt *prompt, struct wr_arena *arena,
                           const struct wr_transcript *transcript, const struct wr_record *record)
{
    uint32_t count = transcript->segments_count;

    *prompt = (struct wr_prompt){.blocks_count =
                                     count < WR_QUALITY_BLOCKS_MAX ? count : WR_QUALITY_BLOCKS_MAX};
    prompt->blocks = WR_ARENA_ARRAY(arena, struct wr_prompt_block, prompt->blocks_count);
    if (!prompt->blocks)
        return wr_arena_status(arena);
    read_blocks(prompt, transcript);
    if (record)
        read_changes(prompt, record);
    for (uint32_t i = 0; i < prompt->blocks_count; i++)
        prompt->weight += prompt->blocks[i].weight;
    return WEIR_OK;
}

/* ---- comparing ---- */

static uint32_t shorter_count(const struct wr_prompt *a, const struct wr_prompt *b)
{
    return a->blocks_count < b->blocks_count ? a->blocks_count : b->blocks_count;
}

uint32_t wr_prompt_common_original(const struct wr_prompt *a, const struct wr_prompt *b)
{
    uint32_t i = 0, count = shorter_count(a, b);
    while (i < count && a->blocks[i].original == b->blocks[i].original)
        i++;
    return i;
}

uint32_t wr_prompt_common_sent(const struct wr_prompt *a, const struct wr_prompt *b)
{
    uint32_t i = 0, count = shorter_count(a, b);
    while (i < count && a->blocks[i].sent == b->blocks[i].sent)
        i++;
    return i;
}

static uint32_t first_message(const struct wr_prompt *p)
{
    uint32_t i = 0;
    while (i < p->blocks_count && !p->blocks[i].message)
        i++;
    return i;
}

uint32_t wr_prompt_messages(const struct wr_prompt *prompt)
{
    return prompt->blocks_count - first_message(prompt);
}

uint32_t wr_prompt_common_messages(const struct wr_prompt *a, const struct wr_prompt *b)
{
    uint32_t i = first_message(a), k = first_message(b), count = 0;
    while (i < a->blocks_count && k < b->blocks_count &&
           a->blocks[i++].original == b->blocks[k++].original)
        count++;
    return count;
}

void wr_prompt_place(const struct wr_prompt_block *block, char text[WR_PROMPT_PLACE_BYTES])
{
    char kind[WR_PROMPT_PLACE_BYTES];

    (void)snprintf(kind, sizeof(kind), "%s", weir_kind_name((weir_kind)block->kind));
    for (char *at = kind; *at; at++)
        if (*at == '_')
            *at = ' ';
    if (block->message)
        (void)snprintf(text, WR_PROMPT_PLACE_BYTES, "message %u, %.24s", block->message, kind);
    else
        (void)snprintf(text, WR_PROMPT_PLACE_BYTES, "%.40s", kind);
}

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
