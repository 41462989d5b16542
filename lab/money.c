#include "lab/money.h"

#include "base/span.h"
#include "policy/marker.h"

const char *wr_money_text(enum wr_money kind)
{
    static const char *const texts[] = {
#define X(name, text) text,
        WR_MONEY_MAP(X)
#undef X
    };
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
