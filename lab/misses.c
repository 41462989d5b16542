/* A table of results: how often each was used, at first sight and later, and under which policies
 * it was missing then. Results are numbered through the session, and a result that comes again
 * after the host compacted is the same row. The rows are what odds are fitted from (tools/fit-
 * odds). */
#include "lab/misses.h"

#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "lab/simulate_csv.h"
#include "policy/stage.h"

enum { CAP_FIRST = 256 };
#define NO_ROW UINT32_MAX

void wr_misses_init(struct wr_misses *misses, struct wr_arena *arena, uint32_t lanes_count)
{
    *misses = (struct wr_misses){.arena = arena, .lanes_count = lanes_count};
}

/* ---- the results ---- */

static weir_status make_room(struct wr_misses *m)
{
    uint32_t old = m->results_cap, cap = old;
    size_t missed_bytes = m->lanes_count * sizeof(*m->missed);
    if (!WR_ARENA_ROOM(m->arena, m->results, m->results_count, cap, CAP_FIRST))
        return wr_arena_status(m->arena);
    if (cap == old)
        return WEIR_OK;
    void *missed = wr_arena_grow(m->arena, m->missed, old * missed_bytes, cap * missed_bytes);
    if (!missed)
        return wr_arena_status(m->arena);
    m->missed = missed;
    m->results_cap = cap;
    return WEIR_OK;
}

static weir_status number_row(struct wr_misses *m, uint32_t number, uint32_t row)
{
    if (!WR_ARENA_ROOM(m->arena, m->rows, number, m->rows_cap, CAP_FIRST))
        return wr_arena_status(m->arena);
    while (m->rows_count < number)
        m->rows[m->rows_count++] = NO_ROW;
    m->rows[m->rows_count++] = row;
    return WEIR_OK;
}

static uint32_t find_row(const struct wr_misses *m, wr_hash128 hash)
{
    for (uint32_t i = m->results_count; i-- > 0;)
        if (!memcmp(&m->results[i].hash, &hash, sizeof(hash)))
            return i;
    return NO_ROW;
}

static weir_status add_result(struct wr_misses *m, const struct wr_transcript *t, uint32_t segment,
                              uint64_t tokens, wr_hash128 hash)
{
    const struct wr_segment *s = &t->segments[segment];
    weir_status status = make_room(m);
    weir_span text = wr_segment_text(t, s, t->arena);
    char *tool = wr_arena_alloc(m->arena, s->tool.len + 1);
    if (status || !text.ptr || !tool)
        return status ? status : text.ptr ? wr_arena_status(m->arena) : wr_arena_status(t->arena);
    if (s->tool.len)
        memcpy(tool, s->tool.ptr, s->tool.len);
    tool[s->tool.len] = 0;
    bool is_read = s->handles && s->handles->kind == WR_EFFECT_READ;
    enum wr_output_kind kind = wr_output_kind_of(s, text);
    memset(&m->missed[(size_t)m->results_count * m->lanes_count], 0,
           m->lanes_count * sizeof(*m->missed));
    m->results[m->results_count++] =
        (struct wr_miss_result){.kind = kind,
                                .class = wr_odds_class_of(s, kind, wr_odds_is_target(t, segment)),
                                .effect = s->handles ? s->handles->kind : WR_EFFECT_OTHER,
                                .tool = tool,
                                .start_line = is_read ? s->handles->start_line : 0,
                                .turn = m->turn,
                                .tokens = tokens,
                                .hash = hash};
    return WEIR_OK;
}

static weir_status note_segment(struct wr_misses *m, const struct wr_transcript *t,
                                const struct wr_measure *measure, const struct wr_evidence_at *at,
                                uint32_t i)
{
    const struct wr_segment *s = &t->segments[i];
    if (s->kind != WEIR_KIND_TOOL_RESULT || s->payload == WR_JSON_NONE)
        return number_row(m, at->base + i, NO_ROW);
    wr_hash128 hash = wr_hash128_seeded(s->call_id, wr_segment_body_hash(t, s));
    /* Only in a new range of numbers can something come that was there before. */
    uint32_t row = at->base ? find_row(m, hash) : NO_ROW;
    weir_status status = WEIR_OK;
    if (row == NO_ROW) {
        row = m->results_count;
        status = add_result(m, t, i, measure->segment_tokens[i], hash);
    }
    return status ? status : number_row(m, at->base + i, row);
}

static uint32_t row_of(const struct wr_misses *m, uint32_t number)
{
    return number < m->rows_count ? m->rows[number] : NO_ROW;
}

static void count_item(struct wr_misses *m, const struct wr_evidence_item *item)
{
    uint32_t row = item->is_repeated ? NO_ROW : row_of(m, item->source);
    if (row == NO_ROW)
        return;
    struct wr_miss_result *result = &m->results[row];
    ++*(item->is_first_sight ? &result->next_count : &result->later_count);
    result->far_count += m->turn - result->turn > WR_MISSES_FAR_TURNS;
}

weir_status wr_misses_note(struct wr_misses *m, const struct wr_transcript *original,
                           const struct wr_measure *measure, const struct wr_evidence_at *at,
                           const struct wr_evidence_items *found)
{
    weir_status status = WEIR_OK;
    m->turn++;
    m->numbers_before = m->rows_count;
    m->results_before = m->results_count;
    for (uint32_t i = m->rows_count - at->base; i < at->segments_count && !status; i++)
        status = note_segment(m, original, measure, at, i);
    for (uint32_t i = 0; i < found->count && !status; i++)
        count_item(m, &found->items[i]);
    return status;
}

/* ---- under a policy ---- */

static struct wr_miss *miss_of(struct wr_misses *m, uint32_t row, uint32_t lane)
{
    return &m->missed[(size_t)row * m->lanes_count + lane];
}

static uint64_t shown_tokens(const struct wr_misses *m, const struct wr_misses_shown *s,
                             uint32_t row, const struct wr_shown *shown)
{
    if (shown->is_whole)
        return m->results[row].tokens;
    return shown->text.ptr ? wr_meter_count(s->meter, shown->text) : 0;
}

void wr_misses_judged(struct wr_misses *m, const struct wr_misses_shown *s)
{
    m->judged_lanes |= UINT32_C(1) << s->lane;
    for (uint32_t i = m->numbers_before - s->at->base; i < s->view->segments_count; i++) {
        uint32_t row = row_of(m, s->at->base + i);
        if (row != NO_ROW && row >= m->results_before)
            miss_of(m, row, s->lane)->shown_tokens = shown_tokens(m, s, row, &s->view->segments[i]);
    }
    for (uint32_t i = 0; i < s->found->count; i++) {
        const struct wr_evidence_item *item = &s->found->items[i];
        uint32_t row = item->is_repeated ? NO_ROW : row_of(m, item->source);
        if (row == NO_ROW || s->judged[i].verdict == WR_EVIDENCE_SUPPORTED)
            continue;
        struct wr_miss *miss = miss_of(m, row, s->lane);
        ++*(item->is_first_sight ? &miss->next_missing : &miss->later_missing);
        miss->lines_missing += item->kind == WR_EVIDENCE_LINE;
    }
}

/* ---- as CSV ---- */

void wr_misses_csv_head(struct wr_buf *out)
{
    wr_buf_text(out,
                "path,session,agent,policy,kind,effect,tool,start_line,turn,tokens,"
                "shown_tokens,next_items,next_missing,later_items,later_missing,far_items,class,"
                "lines_missing\r\n");
}

static void write_row(const struct wr_misses *m, const struct wr_misses_of *of, uint32_t row,
                      uint32_t lane, struct wr_buf *out)
{
    const struct wr_miss_result *r = &m->results[row];
    const struct wr_miss *miss = &m->missed[(size_t)row * m->lanes_count + lane];

    wr_csv_text(out, wr_span_of(of->path));
    wr_buf_printf(out, ",%u,", of->session);
    wr_csv_text(out, of->agent);
    wr_buf_byte(out, ',');
    wr_csv_text(out, wr_span_of(of->policies[lane]));
    wr_buf_printf(out, ",%s,%s,", wr_output_kind_text(r->kind), wr_effect_kind_text(r->effect));
    wr_csv_text(out, wr_span_of(r->tool));
    wr_buf_printf(out, ",%lld,%u,%llu,%llu,%u,%u,%u,%u,%u,%s,%u\r\n", (long long)r->start_line,
                  r->turn, (unsigned long long)r->tokens, (unsigned long long)miss->shown_tokens,
                  r->next_count, miss->next_missing, r->later_count, miss->later_missing,
                  r->far_count, wr_odds_class_text(r->class), miss->lines_missing);
}

void wr_misses_csv_rows(const struct wr_misses *misses, const struct wr_misses_of *of,
                        struct wr_buf *out)
{
    for (uint32_t row = 0; row < misses->results_count; row++)
        for (uint32_t lane = 0; lane < of->policies_count; lane++)
            if (misses->judged_lanes >> lane & 1)
                write_row(misses, of, row, lane, out);
}
