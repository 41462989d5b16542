/* What requests are paid for, by hand. The prices are, in pico-dollars a token: input 4, read 1,
 * written 5, output 20. */
#include "lab/money.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_pays_for_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
