/* Odds from samples: each share leans towards that of all classes of its size (fit.h says how). */
#include "lab/fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/span.h"

enum {
    OVER_TOKENS = 300,
    LEAN = 10,    /* as if so many results of the same size had been seen in every class */
    LACK_MAX = 5, /* one result with a hundred names must not speak for its class */
    CAP_FIRST = 1024,
    BANDS_MAX = 5,
};

/* A form is about as long as it was asked to be, with its marker: a cut this near is none. */
static const double near = 1.25;

/* Up to so many tokens; 0: any size, and the end of the list. */
static const uint64_t sizes[WR_ODDS_CLASSES][BANDS_MAX] = {
    [WR_ODDS_FILE] = {1000, 2000, 5000, 10000, 0},
    [WR_ODDS_PART] = {1000, 2000, 5000, 0},
    [WR_ODDS_TARGET] = {1000, 2000, 5000, 10000, 0},
    [WR_ODDS_SPOT] = {1000, 2000, 5000, 0},
    [WR_ODDS_SEARCH] = {1000, 2000, 5000, 10000, 0},
    [WR_ODDS_TEST] = {1000, 2000, 0},
    [WR_ODDS_DIFF] = {1000, 2000, 0},
    [WR_ODDS_PROCESS] = {1000, 2000, 5000, 10000, 0},
    [WR_ODDS_POLL] = {1000, 2000, 5000, 10000, 0},
    [WR_ODDS_EDIT] = {1000, 2000, 0},
    [WR_ODDS_AGENT] = {1000, 2000, 5000, 0},
    [WR_ODDS_JSON] = {1000, 2000, 5000, 0},
    [WR_ODDS_LIST] = {1000, 0},
    [WR_ODDS_OTHER] = {1000, 0},
};

void wr_fit_release(struct wr_fit *fit)
{
    free(fit->samples);
    *fit = (struct wr_fit){0};
}

const char *const *wr_fit_policies(uint32_t *count)
{
    static const char *const names[WR_ODDS_CUTS_COUNT] = {"cut-220", "cut-500", "cut-1000",
                                                          "cut-2000"};
    *count = WR_ODDS_CUTS_COUNT;
    return names;
}

weir_span wr_fit_yaml(void)
{
#define CUT(to)                                            \
    " cut-" to ": {stages: [{stage: numbers, every: 20}, " \
    "{stage: condense, run_over: 300, run_to: " to ", read_over: 300, read_to: " to "}]}\n"
    return WR_LIT("policies:\n" CUT("220") CUT("500") CUT("1000") CUT("2000"));
#undef CUT
}

/* ---- samples ---- */

weir_status wr_fit_add(struct wr_fit *fit, const struct wr_misses *misses, uint32_t group)
{
    for (uint32_t i = 0; i < misses->results_count; i++) {
        const struct wr_miss_result *r = &misses->results[i];
        const struct wr_miss *missed = &misses->missed[(size_t)i * misses->lanes_count];
        /* What is not over 300 tokens was not cut; recalled text never is. */
        if (r->tokens <= OVER_TOKENS || r->effect == WR_EFFECT_RECALL)
            continue;
        if (!WR_HEAP_ROOM(fit->samples, fit->count, fit->cap, CAP_FIRST))
            return WEIR_NOMEM;
        struct wr_fit_sample *s = &fit->samples[fit->count++];
        *s = (struct wr_fit_sample){
            .group = group, .tokens = r->tokens, .class = r->class, .is_far = r->far_count > 0};
        for (int c = 0; c < WR_ODDS_CUTS_COUNT; c++) {
            s->next[c] = missed[c].next_missing;
            s->ever[c] = missed[c].next_missing + missed[c].later_missing > 0;
            s->blind[c] = missed[c].lines_missing > 0;
        }
    }
    return WEIR_OK;
}

/* ---- the fit ---- */

enum what { NEXT, EVER, FAR, LACK, BLIND };

static uint32_t number_of(const struct wr_fit_sample *s, enum what what, int cut)
{
    switch (what) {
    case NEXT:
        return s->next[cut] > 0;
    case EVER:
        return s->ever[cut];
    case LACK:
        return s->next[cut] < LACK_MAX ? s->next[cut] : LACK_MAX;
    case BLIND:
        return s->blind[cut];
    case FAR:
        break;
    }
    return s->is_far;
}

static uint64_t band_of(uint64_t tokens, const uint64_t *bands)
{
    while (*bands && tokens > *bands)
        bands++;
    return *bands;
}

struct fitting {
    const struct wr_fit *fit;
    uint32_t but;
    enum wr_odds_class class;
    uint64_t band;
};

static uint32_t percent(const struct fitting *f, enum what what, int cut)
{
    uint64_t of = 0, of_sum = 0, like = 0, like_sum = 0;
    for (uint32_t i = 0; i < f->fit->count; i++) {
        const struct wr_fit_sample *s = &f->fit->samples[i];
        if (s->group == f->but && f->but != WR_FIT_NO_GROUP)
            continue;
        if (band_of(s->tokens, sizes[f->class]) != f->band)
            continue;
        uint32_t number = number_of(s, what, cut);
        like++;
        like_sum += number;
        of += s->class == f->class;
        of_sum += s->class == f->class ? number : 0;
    }
    double share = like ? (double)like_sum / (double)like : 0;
    return (uint32_t)lrint(100 * ((double)of_sum + LEAN * share) / ((double)of + LEAN));
}

static void fit_cuts(const struct fitting *f, enum what what, uint32_t pct[WR_ODDS_CUTS_COUNT])
{
    for (int c = 0; c < WR_ODDS_CUTS_COUNT; c++) {
        bool is_whole = f->band && wr_odds_cuts[c] * near >= (double)f->band;
        pct[c] = is_whole ? 0 : percent(f, what, c);
    }
}

void wr_fit_odds(const struct wr_fit *fit, uint32_t but, struct wr_odds *odds)
{
    odds->rows_count = 0;
    for (int class = 0; class < WR_ODDS_CLASSES; class ++) {
        const uint64_t *bands = sizes[class];
        do {
            struct fitting f = {fit, but, (enum wr_odds_class) class, *bands};
            struct wr_odds_row *row = &odds->rows[odds->rows_count++];
            *row = (struct wr_odds_row){.class = f.class, .tokens_max = f.band};
            fit_cuts(&f, NEXT, row->next_pct);
            fit_cuts(&f, EVER, row->ever_pct);
            row->far_pct = percent(&f, FAR, 0);
            fit_cuts(&f, LACK, row->lack_pct);
            fit_cuts(&f, BLIND, row->blind_pct);
        } while (*bands++);
    }
}

static void write_percents(struct wr_buf *out, const uint32_t pct[WR_ODDS_CUTS_COUNT])
{
    for (int c = 0; c < WR_ODDS_CUTS_COUNT; c++)
        wr_buf_printf(out, "\t%u", pct[c]);
}

void wr_fit_write(const struct wr_odds *odds, struct wr_buf *out)
{
    for (uint32_t i = 0; i < odds->rows_count; i++) {
        const struct wr_odds_row *row = &odds->rows[i];
        wr_buf_printf(out, "%s\t%llu", wr_odds_class_text(row->class),
                      (unsigned long long)row->tokens_max);
        write_percents(out, row->next_pct);
        write_percents(out, row->ever_pct);
        wr_buf_printf(out, "\t%u", row->far_pct);
        write_percents(out, row->lack_pct);
        write_percents(out, row->blind_pct);
        wr_buf_byte(out, '\n');
    }
}
