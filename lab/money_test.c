/* What requests are paid for, by hand. The prices are, in pico-dollars a token: input 4, read 1,
 * written 5, output 20. */
#include "lab/money.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- cache blocks ---- */

/* Prices: 10 USD a million for input, writes at 1.25 and 2 times; each row says what a read costs.
 */
static const struct wr_cache_rule explicit_rule = {.mode = WR_CACHE_EXPLICIT,
                                                   .ttl_s = 300,
                                                   .ttl_long_s = 3600,
                                                   .breakpoints_max = 4,
                                                   .lookback_blocks = 20};

/* facts: editing history at depth k pays iff N + 1 > (w - r) / r * S / D. With S = D = 1000 behind
 * the instructions' marker: the first N at which the edited history is cheaper in sum. */
static uint32_t turns_until_an_edit_pays(uint32_t read_price, bool is_long, uint32_t suffix)
{
    enum { TURNS = 200 };
    struct wr_cache_block blocks[2][TURNS + 4];
    struct wr_model model = {.prices = {.input = 10000000,
                                        .cache_read = read_price,
                                        .cache_write = WR_PRICE_UNSET,
                                        .cache_write_5m = 12500000,
                                        .cache_write_1h = 20000000,
                                        .output = 50000000},
                             .min_cacheable_tokens = 1024,
                             .cache = &explicit_rule};
    uint64_t sum[2] = {0, 0};
    struct wr_arena arena;
    struct wr_cache caches[2];
    uint32_t pays = UINT32_MAX;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (int edited = 0; edited < 2; edited++) {
        assert_int_equal(wr_cache_init(&caches[edited], &arena, &model, NULL), WEIR_OK);
        blocks[edited][0] = (struct wr_cache_block){1, 2000, WR_BLOCK_SYSTEM, WR_MARK_NONE};
        blocks[edited][1] = (struct wr_cache_block){2, 1000, WR_BLOCK_INPUT, WR_MARK_NONE};
        blocks[edited][2] = (struct wr_cache_block){3, suffix, WR_BLOCK_INPUT, WR_MARK_NONE};
    }
    for (uint32_t turn = 0; turn < TURNS && pays == UINT32_MAX; turn++) {
        for (int edited = 0; edited < 2; edited++) {
            struct wr_cache_usage usage;
            struct wr_cache_prompt prompt = {.blocks = blocks[edited], .blocks_count = turn + 3};
            if (turn)
                blocks[edited][turn + 2] =
                    (struct wr_cache_block){100 + turn, 10, WR_BLOCK_INPUT, WR_MARK_NONE};
            if (turn == 1 && edited)
                blocks[1][1] = (struct wr_cache_block){4, 0, WR_BLOCK_INPUT, WR_MARK_NONE};
            wr_cache_mark_like_agents(blocks[edited], turn + 3,
                                      is_long ? WR_MARK_LONG : WR_MARK_SHORT);
            assert_int_equal(wr_cache_request(&caches[edited], &prompt, 0, &usage), WEIR_OK);
            sum[edited] += usage.cost.micro_usd;
        }
        if (turn && sum[1] < sum[0])
            pays = turn - 1; /* turn 1 is the edit itself: N = 0 */
    }
    wr_arena_release(&arena);
    return pays;
}

static void an_edit_of_warm_history_pays_when_the_formula_says(void **state)
{
    static const struct {
        uint32_t read_price;
        bool is_long;
        uint32_t suffix, turns; /* turns: the least N with N + 1 > (w - r) / r * S / D */
    } rows[] = {
        {1000000, false, 1000, 11}, /* (1.25 - 0.1) / 0.1 = 11.5: N + 1 = 12 */
        {500000, false, 1000, 24},  /* 1.2 / 0.05 = 24: N + 1 = 25 */
        {250000, false, 1000, 49},  /* 1.225 / 0.025 = 49: N + 1 = 50 */
        {1000000, true, 1000, 19},  /* (2 - 0.1) / 0.1 = 19: N + 1 = 20 */
        {500000, true, 1000, 39},   /* 1.95 / 0.05 = 39: N + 1 = 40 */
        {1000000, false, 2000, 23}, /* twice as much behind: 23 */
        {1000000, false, 0, 0},     /* nothing behind it: at once */
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        assert_int_equal(
            turns_until_an_edit_pays(rows[i].read_price, rows[i].is_long, rows[i].suffix),
            rows[i].turns);
}

static struct wr_cache_block *blocks_of(struct wr_arena *arena, const char *body, uint32_t *count)
{
    static const struct wr_api_options options = {.dialect = "messages", .structure_only = true};
    static const uint64_t tokens[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint32_t overheads[8] = {10, 10, 10, 10, 10, 10, 10, 10};
    struct wr_cache_block *blocks = WR_ARENA_ARRAY(arena, struct wr_cache_block, 8);
    struct wr_transcript t;
    struct wr_json doc;
    assert_int_equal(wr_json_parse(&doc, arena, wr_span_of(body), NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&t, arena, &doc, &options, NULL), WEIR_OK);
    wr_cache_blocks(&t, tokens, overheads, blocks);
    *count = t.segments_count;
    return blocks;
}

#define BODY(system_marker, user_marker, text)                                             \
    "{\"model\":\"m\",\"max_tokens\":9,\"system\":[{\"type\":\"text\",\"text\":\"be "      \
    "brief\"" system_marker                                                                \
    "}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" text \
    "\"" user_marker "}]}]}"

static void blocks_are_segments_and_markers_are_no_content(void **state)
{
    struct wr_cache_block *marked, *plain, *other;
    struct wr_arena arena;
    uint32_t count;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    marked = blocks_of(&arena,
                       BODY(",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
                            ",\"cache_control\":{\"type\":\"ephemeral\"}", "hi"),
                       &count);
    plain = blocks_of(&arena, BODY("", "", "hi"), &count);
    other = blocks_of(&arena, BODY("", "", "ho"), &count);
    assert_int_equal(count, 2);
    assert_int_equal(marked[0].mark, WR_MARK_LONG);
    assert_int_equal(marked[1].mark, WR_MARK_SHORT);
    assert_int_equal(plain[1].mark, WR_MARK_NONE);
    assert_int_equal(plain[0].part, WR_BLOCK_SYSTEM);
    assert_int_equal(plain[1].part, WR_BLOCK_INPUT);
    assert_int_equal(plain[1].tokens, 12);
    assert_true(marked[0].hash == plain[0].hash && marked[1].hash == plain[1].hash);
    assert_true(other[0].hash == plain[0].hash && other[1].hash != plain[1].hash);
    wr_cache_mark_like_agents(plain, count, WR_MARK_SHORT);
    assert_true(plain[0].mark == WR_MARK_SHORT && plain[1].mark == WR_MARK_SHORT);
    wr_arena_release(&arena);
}

/* ---- money ---- */

static const struct wr_model model = {
    .prices = {.input = 4, .cache_read = 1, .cache_write = 5, .cache_write_5m = 5, .output = 20}};

enum { BLOCKS = 4 };
static const struct wr_cache_block blocks[BLOCKS] = {
    {.tokens = 100}, {.tokens = 50}, {.tokens = 30}, {.tokens = 20}};
static const uint8_t kinds[BLOCKS] = {WR_MONEY_USER, WR_MONEY_READS, WR_MONEY_WORDS,
                                      WR_MONEY_RECALLED};

static const struct {
    const char *behaviour;
    uint64_t read, written;
    bool is_known[BLOCKS], asks, follows_recall;
    struct {
        enum wr_money kind;
        uint64_t pico_usd;
    } sums[7]; /* those that are not 0 */
} cases[] = {
    {"plain input",
     0,
     0,
     {0},
     false,
     false,
     {{WR_MONEY_USER, 400},
      {WR_MONEY_READS, 200},
      {WR_MONEY_WORDS, 120},
      {WR_MONEY_RECALLED, 80},
      {WR_MONEY_OUTPUT, 200}}},
    {"what is read, what is written and what is neither",
     120,
     60,
     {true},
     false,
     false,
     {{WR_MONEY_USER, 100},
      {WR_MONEY_READS, 20 + 150},
      {WR_MONEY_WORDS, 150},
      {WR_MONEY_RECALLED, 80},
      {WR_MONEY_OUTPUT, 200}}},
    {"what is written again costs its read, and the rest apart",
     100,
     100,
     {true, true, true, false},
     false,
     false,
     {{WR_MONEY_USER, 100},
      {WR_MONEY_READS, 50},
      {WR_MONEY_WORDS, 30},
      {WR_MONEY_RECALLED, 100},
      {WR_MONEY_AGAIN, 200 + 120},
      {WR_MONEY_OUTPUT, 200}}},
    {"the call of a recall is the recall's",
     180,
     20,
     {true, true, true, false},
     true,
     false,
     {{WR_MONEY_USER, 100},
      {WR_MONEY_READS, 50},
      {WR_MONEY_WORDS, 30},
      {WR_MONEY_RECALLED, 100},
      {WR_MONEY_RECALL_REQUESTS, 200}}},
    {"and so is the prefix that is read again",
     180,
     20,
     {true, true, true, false},
     false,
     true,
     {{WR_MONEY_RECALLED, 100}, {WR_MONEY_RECALL_REQUESTS, 180}, {WR_MONEY_OUTPUT, 200}}},
};

static void each_pays_for_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        uint64_t sums[WR_MONEY_KINDS] = {0}, wanted[WR_MONEY_KINDS] = {0};
        struct wr_cache_prompt prompt = {
            .blocks = blocks, .blocks_count = BLOCKS, .output_tokens = 10};
        struct wr_cache_usage usage = {.read_tokens = cases[i].read,
                                       .written_tokens = cases[i].written,
                                       .uncached_tokens = 200 - cases[i].read - cases[i].written};
        usage.usage.cache_write_5m_tokens = cases[i].written;
        for (size_t k = 0; k < WR_COUNT_OF(cases[i].sums) && cases[i].sums[k].pico_usd; k++)
            wanted[cases[i].sums[k].kind] = cases[i].sums[k].pico_usd;
        wr_money_add(sums,
                     &(struct wr_money_request){.model = &model,
                                                .prompt = &prompt,
                                                .kinds = kinds,
                                                .is_known = cases[i].is_known,
                                                .asks = cases[i].asks,
                                                .follows_recall = cases[i].follows_recall},
                     &usage);
        for (int k = 0; k < WR_MONEY_KINDS; k++)
            if (sums[k] != wanted[k])
                fail_msg("%s: %s is %llu", cases[i].behaviour, wr_money_text((enum wr_money)k),
                         (unsigned long long)sums[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_of_warm_history_pays_when_the_formula_says),
        cmocka_unit_test(blocks_are_segments_and_markers_are_no_content),
        cmocka_unit_test(each_pays_for_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
