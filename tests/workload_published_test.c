/* DuckAgent publishes what its simulator makes of 1188 turns that follow fixed formulas. The same
 * turns, made here from those numbers, must cost the same to the last digit it prints. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "lab/workload.h"

#define PRICES "../shared/fixtures/duckagent-pricing/"

enum { CALLS_MAX = 4, EVENTS_MAX = 4, LONG_TURNS = 1000, LONG_SCALE = 11, OTHER_SCALE = 2 };
enum kind { READ, SEARCH, PROCESS };

/* n * step % mod: how a size varies with the turn, or with the call within it. */
struct wave {
    uint64_t base, step, mod;
};

/* `count` calls of a turn, in every turn whose number is `rest` modulo `every`. Of the size, the
 * turn's and the call's part wrap together where `joint_mod` says so. */
struct calls {
    uint32_t count, every, rest;
    enum kind kind;
    uint32_t search_every; /* of a row of reads, every such call is a search; 0: none */
    struct wave raw;       /* by turn: base + turn % mod * step */
    uint64_t turn_factor, call_factor, joint_mod; /* or base + (turn * .. + call * ..) % mod */
    struct wave excerpt, summary;                 /* by call */
    uint64_t handle, purpose, args, recover_exact, recover_detail;
};

struct event {
    uint32_t loops_back;
    enum wr_workload_need need;
    double probability;
};

struct pattern {
    const char *name;
    uint32_t turns; /* times the scale */
    struct calls calls[CALLS_MAX];
    struct wave user, answer; /* by turn */
    double later[WR_NEEDS], own[WR_NEEDS];
    struct event events[EVENTS_MAX];
};

#define NEEDS(none, conclusion, handle, detail, exact, raw) \
    {                                                       \
        none, conclusion, handle, detail, exact, raw        \
    }

static const struct pattern patterns[] = {
    {"code development",
     24,
     {{6,
       1,
       0,
       READ,
       0,
       {7200, 0, 0},
       997,
       1699,
       10800,
       {1100, 260, 3},
       {260, 0, 0},
       88,
       20,
       56,
       1800,
       900},
      {1, 1, 0, SEARCH, 0, {4800, 1250, 5}, 0, 0, 0, {900, 0, 0}, {320, 0, 0}, 96, 20, 64, 0, 700},
      {1,
       1,
       0,
       PROCESS,
       0,
       {9500, 3200, 6},
       0,
       0,
       0,
       {1000, 0, 0},
       {520, 0, 0},
       120,
       20,
       64,
       0,
       1200},
      {1,
       3,
       2,
       PROCESS,
       0,
       {24000, 8000, 4},
       0,
       0,
       0,
       {1400, 0, 0},
       {620, 0, 0},
       140,
       20,
       64,
       0,
       1800}},
     {120, 32, 4},
     {620, 110, 5},
     NEEDS(.12, .23, .06, .22, .37, .08),
     NEEDS(.1, .18, 0, .17, .5, .05),
     {{1, WR_NEED_EXACT, .18},
      {3, WR_NEED_DETAIL, .12},
      {6, WR_NEED_EXACT, .12},
      {10, WR_NEED_RAW, .08}}},
    {"many calls a turn",
     8,
     {{28,
       1,
       0,
       READ,
       4,
       {4200, 0, 0},
       379,
       821,
       9600,
       {900, 140, 5},
       {220, 40, 4},
       80,
       18,
       48,
       1200,
       850}},
     {160, 40, 3},
     {940, 160, 4},
     NEEDS(.18, .18, .05, .24, .35, .1),
     NEEDS(.08, .16, 0, .18, .5, .08),
     {{1, WR_NEED_EXACT, .24}, {2, WR_NEED_DETAIL, .16}, {3, WR_NEED_RAW, .12}}},
    {"process logs",
     48,
     {{1,
       1,
       0,
       PROCESS,
       0,
       {22000, 7500, 8},
       0,
       0,
       0,
       {1200, 0, 0},
       {580, 0, 0},
       140,
       20,
       64,
       0,
       2400},
      {1, 1, 0, SEARCH, 0, {3500, 900, 6}, 0, 0, 0, {760, 0, 0}, {260, 0, 0}, 88, 20, 64, 0, 650},
      {1,
       4,
       0,
       READ,
       0,
       {8500, 1800, 5},
       0,
       0,
       0,
       {1150, 0, 0},
       {280, 0, 0},
       88,
       20,
       64,
       1300,
       800}},
     {90, 18, 5},
     {420, 70, 6},
     NEEDS(.16, .27, .22, .3, 0, .07),
     NEEDS(.12, .26, .12, .42, 0, .08),
     {{1, WR_NEED_DETAIL, .26}, {8, WR_NEED_DETAIL, .1}, {12, WR_NEED_RAW, .06}}},
    {"refactoring",
     18,
     {{10,
       1,
       0,
       READ,
       0,
       {6400, 0, 0},
       541,
       1171,
       12500,
       {1050, 220, 4},
       {250, 0, 0},
       92,
       20,
       64,
       1600,
       900},
      {1,
       1,
       0,
       PROCESS,
       0,
       {12000, 4000, 5},
       0,
       0,
       0,
       {1050, 0, 0},
       {520, 0, 0},
       120,
       20,
       64,
       0,
       1500},
      {1,
       1,
       0,
       PROCESS,
       0,
       {15000, 3600, 7},
       0,
       0,
       0,
       {1150, 0, 0},
       {560, 0, 0},
       120,
       20,
       64,
       0,
       1600}},
     {150, 35, 4},
     {820, 130, 5},
     NEEDS(.1, .22, .08, .2, .4, .09),
     NEEDS(.08, .14, 0, .16, .56, .06),
     {{1, WR_NEED_EXACT, .22},
      {4, WR_NEED_DETAIL, .12},
      {7, WR_NEED_EXACT, .14},
      {9, WR_NEED_RAW, .08}}},
    {"chat and small reads",
     36,
     {{1, 5, 0, READ, 0, {2400, 700, 4}, 0, 0, 0, {700, 0, 0}, {180, 0, 0}, 70, 20, 64, 800, 500},
      {1, 5, 3, READ, 0, {2400, 700, 4}, 0, 0, 0, {700, 0, 0}, {180, 0, 0}, 70, 20, 64, 800, 500}},
     {80, 24, 5},
     {460, 120, 4},
     NEEDS(.42, .28, 0, .12, .18, .03),
     NEEDS(1, 0, 0, 0, 0, 0),
     {{2, WR_NEED_EXACT, .08}, {5, WR_NEED_DETAIL, .06}}},
    {"files read again",
     20,
     {{3,
       1,
       0,
       READ,
       0,
       {5600, 0, 0},
       719,
       977,
       5400,
       {1300, 220, 3},
       {240, 0, 0},
       84,
       20,
       64,
       1600,
       900}},
     {130, 30, 4},
     {620, 130, 3},
     NEEDS(.16, .18, 0, .16, .5, .12),
     NEEDS(.08, .14, 0, .18, .52, .08),
     {{1, WR_NEED_EXACT, .32}, {4, WR_NEED_EXACT, .24}, {7, WR_NEED_RAW, .10}}},
    {"logs asked again",
     30,
     {{1,
       1,
       0,
       PROCESS,
       0,
       {14000, 5500, 9},
       0,
       0,
       0,
       {1000, 0, 0},
       {520, 0, 0},
       150,
       20,
       64,
       0,
       2100},
      {1, 1, 0, SEARCH, 0, {2800, 900, 4}, 0, 0, 0, {700, 0, 0}, {260, 0, 0}, 90, 20, 64, 0, 700}},
     {90, 16, 6},
     {420, 80, 5},
     NEEDS(.16, .28, .18, .34, 0, .05),
     NEEDS(.12, .30, .16, .36, 0, .06),
     {{1, WR_NEED_DETAIL, .28}, {6, WR_NEED_DETAIL, .14}, {10, WR_NEED_RAW, .05}}},
    {"very wide turns",
     8,
     {{36,
       1,
       0,
       READ,
       3,
       {3800, 0, 0},
       487,
       613,
       7800,
       {780, 120, 4},
       {220, 40, 3},
       82,
       18,
       44,
       1100,
       760}},
     {180, 30, 4},
     {980, 160, 3},
     NEEDS(.14, .18, .05, .22, .41, .08),
     NEEDS(.08, .18, 0, .20, .48, .06),
     {{1, WR_NEED_EXACT, .26}, {2, WR_NEED_DETAIL, .18}, {3, WR_NEED_RAW, .08}}},
};
enum { LONG_PATTERNS = 4, PATTERNS = WR_COUNT_OF(patterns) };

static uint64_t at(const struct wave *wave, uint64_t n)
{
    return wave->base + (wave->mod ? n % wave->mod * wave->step : 0);
}

static struct wr_workload_call call_of(const struct calls *c, uint64_t turn, uint64_t k)
{
    bool is_search =
        c->kind == SEARCH || (c->search_every && k % c->search_every == c->search_every - 1);
    bool is_read = c->kind == READ && !is_search;
    struct wr_workload_call call = {.purpose_tokens = c->purpose,
                                    .args_tokens = c->args,
                                    .raw_tokens = at(&c->raw, turn),
                                    .excerpt_tokens = at(&c->excerpt, k),
                                    .summary_tokens = at(&c->summary, k),
                                    .handle_tokens = c->handle,
                                    .is_read = is_read,
                                    .is_process = c->kind == PROCESS,
                                    .is_working = is_read,
                                    .is_reference = !is_read};
    if (c->joint_mod)
        call.raw_tokens += (turn * c->turn_factor + k * c->call_factor) % c->joint_mod;
    call.recovery_tokens[WR_NEED_EXACT] = c->recover_exact;
    call.recovery_tokens[WR_NEED_DETAIL] = c->recover_detail;
    return call;
}

static void set_needs(double *to, const double *from)
{
    double sum = 0;
    for (int i = 0; i < WR_NEEDS; i++)
        sum += from[i];
    for (int i = 0; i < WR_NEEDS; i++)
        to[i] = from[i] / sum;
}

static void make_turn(struct wr_workload_loop *loop, struct wr_arena *arena,
                      const struct pattern *p, uint32_t turn)
{
    static const double talk[] = NEEDS(.55, .45, 0, 0, 0, 0);
    *loop = (struct wr_workload_loop){.user_tokens = at(&p->user, turn),
                                      .answer_tokens = at(&p->answer, turn)};
    loop->calls = WR_ARENA_ARRAY(arena, struct wr_workload_call, 64);
    loop->events = WR_ARENA_ARRAY(arena, struct wr_workload_event, EVENTS_MAX);
    assert_non_null(loop->calls);
    assert_non_null(loop->events);
    for (int i = 0; i < CALLS_MAX && p->calls[i].count; i++)
        for (uint32_t k = 0; k < p->calls[i].count && turn % p->calls[i].every == p->calls[i].rest;
             k++)
            loop->calls[loop->calls_count++] = call_of(&p->calls[i], turn, k);
    for (int i = 0; i < EVENTS_MAX && p->events[i].loops_back; i++)
        if (turn >= p->events[i].loops_back)
            loop->events[loop->events_count++] =
                (struct wr_workload_event){.loops_back = p->events[i].loops_back,
                                           .need = p->events[i].need,
                                           .probability = p->events[i].probability,
                                           .recovery_tokens = UINT64_MAX};
    set_needs(loop->later, loop->calls_count ? p->later : talk);
    set_needs(loop->own, p->own);
}

/* A thousand turns of the first four patterns in one session, then each of the others. */
static void make_file(struct wr_workload_file *file, struct wr_arena *arena)
{
    file->count = 1 + PATTERNS - LONG_PATTERNS;
    file->workloads = WR_ARENA_ARRAY(arena, struct wr_workload, file->count);
    assert_non_null(file->workloads);
    for (uint32_t i = 0; i < PATTERNS; i++) {
        struct wr_workload *w = &file->workloads[i < LONG_PATTERNS ? 0 : i - LONG_PATTERNS + 1];
        uint32_t scale = i < LONG_PATTERNS ? LONG_SCALE : OTHER_SCALE;
        if (!w->loops)
            w->loops = WR_ARENA_ARRAY(arena, struct wr_workload_loop, 2 * LONG_TURNS);
        assert_non_null(w->loops);
        for (uint32_t turn = 0; turn < patterns[i].turns * scale; turn++)
            make_turn(&w->loops[w->loops_count++], arena, &patterns[i], turn);
    }
    file->workloads[0].loops_count = LONG_TURNS;
}

static const struct {
    const char *profile;
    double guarded_mid_usd; /* as published */
    double cheaper_percent; /* than balanced, as published */
} published[] = {{"openai-gpt-5.4", 1199.144484, 22.6},     {"openai-gpt-5.5", 2398.288967, 22.6},
                 {"openai-gpt-5.4-mini", 195.798758, 8.1},  {"kimi-k2.6", 302.727538, 14.5},
                 {"deepseek-chat", 74.952810, 0},           {"deepseek-v4-flash", 29.190571, 16.9},
                 {"deepseek-v4-pro-promo", 71.593043, 15.6}};

static double usd_of(const struct wr_workload_file *file, const struct wr_workload_prices *prices,
                     const char *policy)
{
    uint32_t k = 0;
    double usd = 0;
    while (strcmp(wr_workload_policy_name(k), policy) != 0)
        k++;
    for (uint32_t i = 0; i < file->count; i++) {
        struct wr_workload_result r;
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_workload_run(&file->workloads[i], k, prices, &arena, &r), WEIR_OK);
        assert_int_equal(r.turns_completed, file->workloads[i].loops_count);
        usd += wr_workload_usd(&r);
        wr_arena_release(&arena);
    }
    return usd;
}

static bool read_prices(struct wr_workload_prices *prices, struct wr_arena *arena,
                        const char *profile)
{
    char path[256], text[8192];
    (void)snprintf(path, sizeof(path), PRICES "%s.json", profile);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    weir_span bytes = {text, fread(text, 1, sizeof(text), file)};
    fclose(file);
    assert_int_equal(wr_workload_prices_read(prices, arena, bytes, NULL), WEIR_OK);
    prices->threshold_ratio = 0.8;
    prices->target_ratio = 0.3;
    return true;
}

static void published_figures_come_out(void **state)
{
    struct wr_workload_file file;
    struct wr_arena arena;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    make_file(&file, &arena);
    for (size_t i = 0; i < WR_COUNT_OF(published); i++) {
        struct wr_workload_prices prices;
        if (!read_prices(&prices, &arena, published[i].profile)) {
            wr_arena_release(&arena);
            print_message("skipped: " PRICES " is not there\n");
            skip();
        }
        double usd = usd_of(&file, &prices, "guarded-mid-unpinned");
        double balanced = usd_of(&file, &prices, "recoverable-balanced");
        if (fabs(usd - published[i].guarded_mid_usd) > 1e-6)
            fail_msg("%s: %.6f USD and not %.6f", published[i].profile, usd,
                     published[i].guarded_mid_usd);
        if (fabs(100 * (1 - usd / balanced) - published[i].cheaper_percent) > 0.05)
            fail_msg("%s: cheaper by %.2f %%", published[i].profile, 100 * (1 - usd / balanced));
    }
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_figures_come_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
