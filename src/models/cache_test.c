#include "models/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

/* Prices: 10 USD a million for input, so a token is 10 micro-dollars; reads at a tenth, writes at
 * 1.25 and 2 times, output at five times. */
static const struct wr_cache_rule explicit_rule = {.mode = WR_CACHE_EXPLICIT,
                                                   .ttl_s = 300,
                                                   .ttl_long_s = 3600,
                                                   .breakpoints_max = 4,
                                                   .lookback_blocks = 20};
static const struct wr_cache_rule breakpoint_rule = {.mode = WR_CACHE_BREAKPOINT,
                                                     .ttl_s = 1800,
                                                     .ttl_long_s = 43200,
                                                     .breakpoints_max = 4,
                                                     .keys_max = 80};
static const struct wr_cache_rule prefix_rule = {
    .mode = WR_CACHE_PREFIX, .ttl_s = 300, .ttl_long_s = 86400, .step_tokens = 128};
static const struct wr_cache_rule unpublished_rule = {.mode = WR_CACHE_PREFIX};
static const struct wr_cache_rule none_rule = {.mode = WR_CACHE_NONE};

static struct wr_model model_of(const struct wr_cache_rule *rule)
{
    return (struct wr_model){.prices = {.input = 10000000,
                                        .cache_read = 1000000,
                                        .cache_write = WR_PRICE_UNSET,
                                        .cache_write_5m = 12500000,
                                        .cache_write_1h = 20000000,
                                        .cache_write_30m = 12500000,
                                        .output = 50000000},
                             .min_cacheable_tokens = 1024,
                             .cache = rule};
}

/* One block a word: a letter that names its content, its tokens, then `!` for a short marker, `*`
 * for a long one. Capital letters are instructions, T the tools, `<` before it the model's output.
 */
static uint32_t read_blocks(const char *words, struct wr_cache_block *blocks)
{
    uint32_t count = 0;
    for (const char *c = words; *c; count++) {
        struct wr_cache_block *b = &blocks[count];
        bool is_output = *c == '<';
        c += is_output;
        *b = (struct wr_cache_block){.hash = (uint64_t)*c};
        b->part = is_output               ? WR_BLOCK_OUTPUT
                  : *c == 'T'             ? WR_BLOCK_TOOLS
                  : *c >= 'A' && *c < 'T' ? WR_BLOCK_SYSTEM
                                          : WR_BLOCK_INPUT;
        for (c++; *c >= '0' && *c <= '9'; c++)
            b->tokens = b->tokens * 10 + (uint32_t)(*c - '0');
        b->mark = *c == '!' ? WR_MARK_SHORT : *c == '*' ? WR_MARK_LONG : WR_MARK_NONE;
        c += *c == '!' || *c == '*';
        c += *c == ' ';
    }
    return count;
}

struct sent { /* a request, and what must come of it */
    const char *blocks;
    int64_t at_s;
    uint64_t read, written, uncached;
    uint64_t micro_usd;
};

enum { SENT_MAX = 5, BLOCKS_MAX = 512 };

static const struct {
    const char *behaviour;
    const struct wr_cache_rule *rule;
    struct wr_cache_options options;
    struct sent sent[SENT_MAX]; /* until one without blocks */
} cases[] = {
    /* 3000 * 12.5 = 37500; 3000 * 1 + 1000 * 12.5 = 15500 */
    {"a marker writes, and the next request reads up to it",
     &explicit_rule,
     {0},
     {{"A2000! b1000!", 0, 0, 3000, 0, 37500},
      {"A2000! b1000 <c500 d500!", 60, 3000, 1000, 0, 15500}}},
    /* 2000 * 12.5 + 1000 * 10 = 35000; 2000 * 1 + 1000 * 10 = 12000 */
    {"behind the last marker input is plain",
     &explicit_rule,
     {0},
     {{"A2000! b1000", 0, 0, 2000, 1000, 35000}, {"A2000! b1000", 1, 2000, 0, 1000, 12000}}},
    {"without a marker nothing is cached",
     &explicit_rule,
     {0},
     {{"A2000 b1000", 0, 0, 0, 3000, 30000}, {"A2000 b1000", 1, 0, 0, 3000, 30000}}},
    {"after five minutes it is gone",
     &explicit_rule,
     {0},
     {{"A2000! b1000!", 0, 0, 3000, 0, 37500}, {"A2000! b1000!", 300, 0, 3000, 0, 37500}}},
    {"a hit keeps it alive for another five minutes",
     &explicit_rule,
     {0},
     {{"A2000!", 0, 0, 2000, 0, 25000},
      {"A2000!", 299, 2000, 0, 0, 2000},
      {"A2000!", 598, 2000, 0, 0, 2000}}},
    /* 2000 * 20 + 1000 * 12.5 = 52500; after 10 minutes 2000 * 1 + 1000 * 12.5 = 14500 */
    {"an hour is paid for twice, and lasts",
     &explicit_rule,
     {0},
     {{"A2000* b1000!", 0, 0, 3000, 0, 52500}, {"A2000* b1000!", 600, 2000, 1000, 0, 14500}}},
    /* an edit at b: back to the instructions' marker; 2000 * 1 + 1900 * 12.5 = 25750 */
    {"an edit falls back to the marker before it",
     &explicit_rule,
     {0},
     {{"A2000! b1000 c1000!", 0, 0, 4000, 0, 50000},
      {"A2000! x900 c1000!", 1, 2000, 1900, 0, 25750}}},
    {"below the minimum nothing is written",
     &explicit_rule,
     {0},
     {{"A1023!", 0, 0, 0, 1023, 10230}, {"A1023!", 1, 0, 0, 1023, 10230}}},
    {"the minimum itself is enough",
     &explicit_rule,
     {0},
     {{"A1024!", 0, 0, 1024, 0, 12800}, {"A1024!", 1, 1024, 0, 0, 1024}}},
    {"moving a marker changes no key",
     &explicit_rule,
     {0},
     {{"A2000! b1000!", 0, 0, 3000, 0, 37500}, {"A2000 b1000!", 1, 3000, 0, 0, 3000}}},
    /* nineteen blocks behind: b is 20 blocks from the end, its own marker is the 20th looked at */
    {"a key nineteen blocks before a marker is found",
     &explicit_rule,
     {0},
     {{"b2000!", 0, 0, 2000, 0, 25000},
      {"b2000 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1 m1 n1 o1 p1 q1 r1 s1 t1 u1!", 1, 2000, 19, 0, 2238}}},
    {"a key twenty blocks before a marker is not",
     &explicit_rule,
     {0},
     {{"b2000!", 0, 0, 2000, 0, 25000},
      {"b2000 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1 m1 n1 o1 p1 q1 r1 s1 t1 u1 v1!", 1, 0, 2020, 0,
       25250}}},
    {"a marker in between bridges it",
     &explicit_rule,
     {0},
     {{"b2000!", 0, 0, 2000, 0, 25000},
      {"b2000 c1 d1 e1 f1 g1! h1 i1 j1 k1 l1 m1 n1 o1 p1 q1 r1 s1 t1 u1 v1!", 1, 2000, 20, 0,
       2250}}},
    /* the implicit breakpoint stands at the newest input; 3000 * 12.5, then 3000 + 1000 * 12.5 */
    {"breakpoint: a loop that only grows reads all of the last request",
     &breakpoint_rule,
     {0},
     {{"A2000 b1000", 0, 0, 3000, 0, 37500},
      {"A2000 b1000 <c500 d500", 1000, 3000, 1000, 0, 15500}}},
    {"breakpoint: another last message finds nothing, long as the shared part is",
     &breakpoint_rule,
     {0},
     {{"A2000 b1000", 0, 0, 3000, 0, 37500}, {"A2000 x1000", 1, 0, 3000, 0, 37500}}},
    {"breakpoint: unless a marker was written there",
     &breakpoint_rule,
     {0},
     {{"A2000! b1000", 0, 0, 3000, 0, 37500}, {"A2000! x1000", 1, 2000, 1000, 0, 14500}}},
    {"breakpoint: of four markers only the latest three are written",
     &breakpoint_rule,
     {0},
     {{"A1100! b100! c100! d100! e100", 0, 0, 1500, 0, 18750},
      {"A1100! x100", 1, 0, 1200, 0, 15000},
      {"A1100! b100! y100", 2, 1200, 100, 0, 2450}}},
    {"breakpoint: a marker is found from any distance",
     &breakpoint_rule,
     {0},
     {{"b2000", 0, 0, 2000, 0, 25000},
      {"b2000 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1 m1 n1 o1 p1 q1 r1 s1 t1 u1 v1", 1, 2000, 20, 0, 2250}}},
    {"breakpoint: explicit only, and none: no caching at all",
     &breakpoint_rule,
     {.explicit_only = true},
     {{"A2000 b1000", 0, 0, 0, 3000, 30000}, {"A2000 b1000", 1, 0, 0, 3000, 30000}}},
    {"breakpoint: thirty minutes",
     &breakpoint_rule,
     {0},
     {{"b2000", 0, 0, 2000, 0, 25000}, {"b2000", 1800, 0, 2000, 0, 25000}}},
    {"breakpoint: twelve hours when asked for",
     &breakpoint_rule,
     {.use_long_ttl = true},
     {{"b2000", 0, 0, 2000, 0, 25000}, {"b2000", 43199, 2000, 0, 0, 2000}}},
    /* 1500 rounds down to 11 * 128 = 1408; 1408 * 1 + 392 * 10 = 5328 */
    {"prefix: the longest prefix in steps of 128, writing is free",
     &prefix_rule,
     {0},
     {{"A1000 b500", 0, 0, 0, 1500, 15000}, {"A1000 b500 c300", 1, 1408, 0, 392, 5328}}},
    {"prefix: an edit costs only what comes behind it",
     &prefix_rule,
     {0},
     {{"A1280 b1280 c1280", 0, 0, 0, 3840, 38400}, {"A1280 b1280 x1280", 1, 2560, 0, 1280, 15360}}},
    {"prefix: a hit of the minimum itself",
     &prefix_rule,
     {0},
     {{"A1030", 0, 0, 0, 1030, 10300}, {"A1030 b500", 1, 1024, 0, 506, 6084}}},
    {"prefix: five minutes",
     &prefix_rule,
     {0},
     {{"A1280", 0, 0, 0, 1280, 12800}, {"A1280", 300, 0, 0, 1280, 12800}}},
    {"prefix: a lifetime that is not published is an hour",
     &unpublished_rule,
     {0},
     {{"A2000", 0, 0, 0, 2000, 20000},
      {"A2000", 3599, 2000, 0, 0, 2000},
      {"A2000", 7199, 0, 0, 2000, 20000}}},
    {"a model without a cache pays the input price",
     &none_rule,
     {0},
     {{"A2000! b1000!", 0, 0, 0, 3000, 30000}, {"A2000! b1000!", 1, 0, 0, 3000, 30000}}},
};

static bool as_expected(const struct sent *want, const struct wr_cache_usage *got)
{
    return got->read_tokens == want->read && got->written_tokens == want->written &&
           got->uncached_tokens == want->uncached && got->cost.known &&
           got->cost.micro_usd == want->micro_usd;
}

static void requests_cost_what_was_worked_out_by_hand(void **state)
{
    struct wr_cache_block blocks[BLOCKS_MAX];
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_model model = model_of(cases[i].rule);
        struct wr_arena arena;
        struct wr_cache cache;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_cache_init(&cache, &arena, &model, &cases[i].options), WEIR_OK);
        for (int n = 0; n < SENT_MAX && cases[i].sent[n].blocks; n++) {
            const struct sent *want = &cases[i].sent[n];
            struct wr_cache_prompt prompt = {.seed = 1, .blocks = blocks};
            struct wr_cache_usage got;
            prompt.blocks_count = read_blocks(want->blocks, blocks);
            assert_int_equal(wr_cache_request(&cache, &prompt, want->at_s * 1000, &got), WEIR_OK);
            if (as_expected(want, &got))
                continue;
            printf(
                "FAILED: %s: request %d: read %llu written %llu plain %llu, %llu micro-dollars\n",
                cases[i].behaviour, n, (unsigned long long)got.read_tokens,
                (unsigned long long)got.written_tokens, (unsigned long long)got.uncached_tokens,
                (unsigned long long)got.cost.micro_usd);
            failed++;
        }
        wr_arena_release(&arena);
    }
    assert_int_equal(failed, 0);
}

static void what_the_provider_refuses_is_refused(void **state)
{
    static const struct {
        const char *behaviour, *blocks;
    } refused[] = {{"a fifth marker", "a1000! b1! c1! d1! e1!"},
                   {"an hour behind five minutes", "a2000! b1*"}};
    struct wr_cache_block blocks[BLOCKS_MAX];
    struct wr_model model = model_of(&explicit_rule);
    struct wr_cache_usage usage;
    struct wr_arena arena;
    struct wr_cache cache;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_cache_init(&cache, &arena, &model, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(refused); i++) {
        struct wr_cache_prompt prompt = {.blocks = blocks,
                                         .blocks_count = read_blocks(refused[i].blocks, blocks)};
        if (wr_cache_request(&cache, &prompt, 0, &usage) != WEIR_INVALID)
            fail_msg("%s is taken", refused[i].behaviour);
    }
    wr_arena_release(&arena);
}

/* 272,001 tokens in all, cached part included, are in the tier; all of the request is repriced. */
static void a_tier_reprices_the_whole_request(void **state)
{
    struct wr_model model = model_of(&breakpoint_rule);
    struct wr_cache_block blocks[2] = {{1, 272000, WR_BLOCK_INPUT, WR_MARK_NONE},
                                       {2, 1, WR_BLOCK_INPUT, WR_MARK_NONE}};
    struct wr_cache_prompt prompt = {.blocks = blocks, .blocks_count = 1, .output_tokens = 100};
    struct wr_cache_usage usage;
    struct wr_arena arena;
    struct wr_cache cache;
    (void)state;
    model.tiers_count = 1;
    model.tiers[0].above_tokens = 272000;
    model.tiers[0].prices = model.prices;
    model.tiers[0].prices.input = 20000000;
    model.tiers[0].prices.cache_read = 2000000;
    model.tiers[0].prices.cache_write_30m = 25000000;
    model.tiers[0].prices.output = 75000000;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_cache_init(&cache, &arena, &model, NULL), WEIR_OK);
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(usage.cost.micro_usd, 3400000 + 5000); /* 272000 * 12.5 + 100 * 50 */
    prompt.blocks_count = 2;
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(usage.cost.tier, 1);
    assert_int_equal(usage.cost.micro_usd, 544000 + 25 + 7500); /* 272000 * 2 + 25 + 100 * 75 */
    wr_arena_release(&arena);
}

/* Of many conversations that share nothing, only the 80 keys used last are considered. */
static void only_the_latest_keys_are_considered(void **state)
{
    struct wr_model model = model_of(&breakpoint_rule);
    struct wr_cache_block block = {0, 2000, WR_BLOCK_INPUT, WR_MARK_NONE};
    struct wr_cache_prompt prompt = {.blocks = &block, .blocks_count = 1};
    struct wr_cache_usage usage;
    struct wr_arena arena;
    struct wr_cache cache;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_cache_init(&cache, &arena, &model, NULL), WEIR_OK);
    for (block.hash = 1; block.hash <= 81; block.hash++)
        assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    block.hash = 2; /* the 80th from the end */
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(usage.read_tokens, 2000);
    block.hash = 1; /* the 81st */
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(usage.read_tokens, 0);
    wr_arena_release(&arena);
}

/* 1150 tokens are enough to be cached, but rounded down to 1024 they are not. */
static void a_hit_below_the_minimum_after_rounding_is_none(void **state)
{
    struct wr_model model = model_of(&prefix_rule);
    struct wr_cache_block block = {1, 1150, WR_BLOCK_INPUT, WR_MARK_NONE};
    struct wr_cache_prompt prompt = {.blocks = &block, .blocks_count = 1};
    struct wr_cache_usage usage;
    struct wr_arena arena;
    struct wr_cache cache;
    (void)state;
    model.min_cacheable_tokens = 1100;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_cache_init(&cache, &arena, &model, NULL), WEIR_OK);
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(usage.read_tokens, 0);
    wr_arena_release(&arena);
}

/* What is not promised is counted by its average, and the whole prompt is counted still. */
static void a_hit_that_is_not_promised_counts_in_part(void **state)
{
    struct wr_cache_rule rule = unpublished_rule;
    struct wr_model model = model_of(&rule);
    struct wr_cache_block block = {1, 2000, WR_BLOCK_INPUT, WR_MARK_NONE};
    struct wr_cache_prompt prompt = {.blocks = &block, .blocks_count = 1};
    static const uint32_t shares[][2] = {{0, 2000}, {91, 1820}, {100, 2000}};
    struct wr_cache_usage usage;
    struct wr_arena arena;
    struct wr_cache cache;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(shares); i++) {
        rule.hit_percent = shares[i][0];
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_cache_init(&cache, &arena, &model, NULL), WEIR_OK);
        assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
        assert_int_equal(usage.read_tokens, 0);
        assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
        assert_int_equal(usage.read_tokens, shares[i][1]);
        assert_int_equal(usage.uncached_tokens, 2000 - shares[i][1]);
        wr_arena_release(&arena);
    }
}

static void a_bust_reads_nothing_and_writes_all(void **state)
{
    struct wr_model model = model_of(&explicit_rule);
    struct wr_cache_block block = {1, 2000, WR_BLOCK_INPUT, WR_MARK_SHORT};
    struct wr_cache_prompt prompt = {.blocks = &block, .blocks_count = 1};
    struct wr_cache_usage usage;
    struct wr_arena arena;
    struct wr_cache cache;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_cache_init(&cache, &arena, &model, NULL), WEIR_OK);
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    prompt.is_bust = true;
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(usage.written_tokens, 2000);
    wr_arena_release(&arena);
}

/* A hundred thousand keys: memory stays bounded and the newest are still found. */
static void the_table_forgets_the_oldest(void **state)
{
    struct wr_model model = model_of(&unpublished_rule);
    struct wr_cache_block block = {0, 2000, WR_BLOCK_INPUT, WR_MARK_NONE};
    struct wr_cache_prompt prompt = {.blocks = &block, .blocks_count = 1};
    struct wr_cache_usage usage;
    struct wr_arena arena;
    struct wr_cache cache;
    (void)state;
    wr_arena_init(&arena, (size_t)128 * 1024 * 1024);
    assert_int_equal(wr_cache_init(&cache, &arena, &model, NULL), WEIR_OK);
    for (block.hash = 1; block.hash <= 100000; block.hash++)
        assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    block.hash = 100000;
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(usage.read_tokens, 2000);
    block.hash = 1;
    assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
    assert_int_equal(usage.read_tokens, 0);
    assert_true(cache.keys_count <= WR_PROMPT_CACHE_KEYS_MAX / 2 + 1);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_cost_what_was_worked_out_by_hand),
        cmocka_unit_test(what_the_provider_refuses_is_refused),
        cmocka_unit_test(a_tier_reprices_the_whole_request),
        cmocka_unit_test(only_the_latest_keys_are_considered),
        cmocka_unit_test(a_hit_below_the_minimum_after_rounding_is_none),
        cmocka_unit_test(a_hit_that_is_not_promised_counts_in_part),
        cmocka_unit_test(a_bust_reads_nothing_and_writes_all),
        cmocka_unit_test(the_table_forgets_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
