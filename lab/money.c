/* What prompts were paid for: a request as the blocks that a provider's cache counts, and the price
 * of each block.
 *
 * Blocks are what the model of the cache (models/cache.h) compares from request to request, so a
 * block is known by a hash of what was sent and not by its place. Every request is split by the
 * same rules for every policy; only then do two lanes' sums say which of them paid for what.
 */
#include "lab/money.h"

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "policy/marker.h"

/* ---- cache blocks ---- */

static enum wr_block_part part_of(const struct wr_segment *segment)
{
    if (segment->kind == WEIR_KIND_TOOLS)
        return WR_BLOCK_TOOLS;
    if (segment->from_model)
        return WR_BLOCK_OUTPUT;
    bool is_system = segment->role == WEIR_ROLE_SYSTEM || segment->role == WEIR_ROLE_DEVELOPER;
    return is_system || segment->kind == WEIR_KIND_SYSTEM ? WR_BLOCK_SYSTEM : WR_BLOCK_INPUT;
}

static uint32_t capped(uint64_t tokens)
{
    return tokens < WR_MODEL_TOKENS_MAX ? (uint32_t)tokens : WR_MODEL_TOKENS_MAX;
}

static enum wr_block_mark mark_of(const struct wr_transcript *t, const struct wr_segment *segment)
{
    if (segment->marker == WR_JSON_NONE)
        return WR_MARK_NONE;
    wr_json_id ttl = wr_json_find(t->doc, wr_json_value(segment->marker), "ttl");
    return wr_json_text_is(t->doc, ttl, "1h") ? WR_MARK_LONG : WR_MARK_SHORT;
}

void wr_cache_blocks(const struct wr_transcript *transcript, const uint64_t *tokens,
                     const uint32_t *overheads, struct wr_cache_block *blocks)
{
    for (uint32_t i = 0; i < transcript->segments_count; i++) {
        const struct wr_segment *segment = &transcript->segments[i];
        blocks[i] = (struct wr_cache_block){
            .hash = wr_segment_hash(transcript, segment),
            .tokens = capped(tokens[i] + (overheads ? overheads[i] : 0)),
            .part = part_of(segment),
            .mark = mark_of(transcript, segment),
        };
    }
}

struct wr_cache_block wr_cache_block_of(const struct wr_cache_block *original, weir_span text,
                                        uint64_t tokens)
{
    struct wr_cache_block block = *original;
    block.hash = wr_hash64_seeded(text, original->hash);
    block.tokens = capped(tokens);
    return block;
}

void wr_cache_mark_like_agents(struct wr_cache_block *blocks, uint32_t blocks_count,
                               enum wr_block_mark mark)
{
    for (uint32_t i = 0; i < blocks_count; i++) {
        bool is_last = i + 1 == blocks_count;
        /* Instructions may also come late, as messages: only those at the front get a marker. */
        bool ends_part = !is_last && blocks[i].part < WR_BLOCK_INPUT &&
                         blocks[i + 1].part > blocks[i].part &&
                         (!i || blocks[i].part >= blocks[i - 1].part);
        blocks[i].mark = is_last || ends_part ? mark : WR_MARK_NONE;
    }
    for (uint32_t i = 0, found = 0; i + 1 < blocks_count; i++)
        if (blocks[i].mark != WR_MARK_NONE && ++found > 2)
            blocks[i].mark = WR_MARK_NONE;
}

/* ---- money ---- */

const char *wr_money_text(enum wr_money kind)
{
    static const char *const texts[] = WR_NAMES_OF(WR_MONEY_MAP);
    return texts[kind];
}

/* ---- what a segment is ---- */

static enum wr_money result_kind(const struct wr_tool_handles *h)
{
    static const uint8_t kinds[WR_EFFECT_KINDS] = {
        [WR_EFFECT_OTHER] = WR_MONEY_RESULTS,   [WR_EFFECT_READ] = WR_MONEY_READS,
        [WR_EFFECT_SEARCH] = WR_MONEY_SEARCHES, [WR_EFFECT_LIST] = WR_MONEY_SEARCHES,
        [WR_EFFECT_DIFF] = WR_MONEY_RESULTS,    [WR_EFFECT_EDIT] = WR_MONEY_EDITS,
        [WR_EFFECT_WRITE] = WR_MONEY_EDITS,     [WR_EFFECT_RUN] = WR_MONEY_RUNS,
        [WR_EFFECT_POLL] = WR_MONEY_RUNS,       [WR_EFFECT_PLAN] = WR_MONEY_RESULTS,
        [WR_EFFECT_FETCH] = WR_MONEY_RESULTS,   [WR_EFFECT_RECALL] = WR_MONEY_RECALLED,
        [WR_EFFECT_SKILL] = WR_MONEY_RESULTS};
    return h ? (enum wr_money)kinds[h->kind] : WR_MONEY_RESULTS;
}

static enum wr_money kind_of(const struct wr_segment *s)
{
    size_t at = 0;
    if (s->kind == WEIR_KIND_TOOL_RESULT)
        return result_kind(s->handles);
    if (s->kind == WEIR_KIND_TOOL_CALL)
        return s->handles && wr_tool_next_write(s->handles, &at) ? WR_MONEY_WRITE_CALLS
                                                                 : WR_MONEY_CALLS;
    return s->from_model ? WR_MONEY_WORDS : WR_MONEY_USER;
}

void wr_money_kinds(const struct wr_transcript *original, uint8_t *kinds)
{
    for (uint32_t i = 0; i < original->segments_count; i++)
        kinds[i] = (uint8_t)kind_of(&original->segments[i]);
}

static bool is_tool_part(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOL_RESULT || s->kind == WEIR_KIND_TOOL_CALL;
}

/* Text with a marker is what stands for something older. */
static enum wr_money text_kind(const struct wr_transcript *t, const struct wr_segment *s)
{
    weir_handle handle;
    bool has_text = s->kind == WEIR_KIND_TEXT && s->payload != WR_JSON_NONE;
    return has_text && wr_marker_last(wr_json_raw(t->doc, s->payload), &handle) ? WR_MONEY_SUMMARIES
                                                                                : kind_of(s);
}

/* Both are in the same order, so what was found last is where the next one is sought from. */
void wr_money_kinds_sent(const struct wr_transcript *original, const uint8_t *original_kinds,
                         const struct wr_transcript *sent, uint8_t *kinds)
{
    uint32_t cursor = 0, count = original->segments_count;
    for (uint32_t i = 0; i < sent->segments_count; i++) {
        const struct wr_segment *s = &sent->segments[i];
        uint32_t at = cursor;
        if (!is_tool_part(s)) {
            kinds[i] = (uint8_t)text_kind(sent, s);
            continue;
        }
        while (at < count && (original->segments[at].kind != s->kind ||
                              !wr_span_eq(original->segments[at].call_id, s->call_id)))
            at++;
        kinds[i] = at < count ? original_kinds[at] : WR_MONEY_RECALLED;
        cursor = at < count ? at + 1 : cursor;
    }
}

/* ---- what it costs ---- */

/* What one token costs that is written, on average over the lifetimes. */
static uint64_t write_price(const struct wr_prices *p, const struct wr_cache_usage *u)
{
    uint64_t cost = u->usage.cache_write_5m_tokens * p->cache_write_5m +
                    u->usage.cache_write_1h_tokens * p->cache_write_1h +
                    u->usage.cache_write_30m_tokens * p->cache_write_30m;
    return u->written_tokens ? cost / u->written_tokens : p->input;
}

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
    uint64_t low = from > begin ? from : begin, high = to < end ? to : end;
    return high > low ? high - low : 0;
}

void wr_money_add(uint64_t pico_usd[WR_MONEY_KINDS], const struct wr_money_request *request,
                  const struct wr_cache_usage *usage)
{
    uint64_t total = usage->read_tokens + usage->written_tokens + usage->uncached_tokens;
    struct wr_prices p = wr_model_prices(request->model, total, NULL);
    uint64_t write = write_price(&p, usage), from = 0;
    uint64_t read_end = usage->read_tokens, written_end = read_end + usage->written_tokens;

    for (uint32_t i = 0; i < request->prompt->blocks_count; i++) {
        uint64_t to = from + request->prompt->blocks[i].tokens;
        uint64_t read = overlap(from, to, 0, read_end) * p.cache_read;
        uint64_t fresh = overlap(from, to, read_end, written_end) * write +
                         overlap(from, to, written_end, UINT64_MAX) * p.input;
        uint64_t as_read = overlap(from, to, read_end, UINT64_MAX) * p.cache_read;
        bool is_again = request->is_known && request->is_known[i] && fresh > as_read;
        uint8_t kind = request->kinds[i];
        pico_usd[request->follows_recall ? WR_MONEY_RECALL_REQUESTS : kind] += read;
        pico_usd[kind] += is_again ? as_read : fresh;
        pico_usd[WR_MONEY_AGAIN] += is_again ? fresh - as_read : 0;
        from = to;
    }
    pico_usd[request->asks ? WR_MONEY_RECALL_REQUESTS : WR_MONEY_OUTPUT] +=
        request->prompt->output_tokens * p.output;
}
