/* Two of them on one store are two processes: what one has learnt the other comes to know, and
 * neither undoes the other's. */
#include "proxy/counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_dir.h"

#define FAR  "https://api.example/v1"
#define NEAR "http://127.0.0.1:11434/v1"

enum { MINUTE_MS = 60 * 1000, OURS_TOKENS = 10000 };

struct fixture {
    struct wr_test_dir dir;
    struct wr_counts *a, *b;
    int64_t now_ms;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    f->a = wr_counts_new(f->dir.path);
    f->b = wr_counts_new(f->dir.path);
    f->now_ms = 1;
    assert_non_null(f->a);
    assert_non_null(f->b);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_counts_free(f->a);
    wr_counts_free(f->b);
    wr_test_dir_remove(&f->dir);
    free(f);
    return 0;
}

/* One request that leaves, and its answer. */
static void learn(struct fixture *f, struct wr_counts *counts, uint64_t theirs_tokens)
{
    assert_true(wr_counts_add(counts, FAR, "m", OURS_TOKENS, theirs_tokens));
    wr_counts_sync(counts, FAR, "m", ++f->now_ms);
}

/* What a process finds that has just begun. */
static struct wr_known_count find_stored(struct fixture *f)
{
    struct wr_counts *counts = wr_counts_new(f->dir.path);
    assert_non_null(counts);
    wr_counts_sync(counts, FAR, "m", f->now_ms);
    struct wr_known_count known = wr_counts_find(counts, FAR, "m");
    wr_counts_free(counts);
    return known;
}

static void what_another_learnt_is_read_by_one_that_learns_too(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 8; i++)
        learn(f, f->a, 15000);
    learn(f, f->b, 12000);
    assert_int_equal(wr_counts_find(f->b, FAR, "m").factor_bp, 15000);
    assert_int_equal(find_stored(f).factor_bp, 15000);
}

static void two_that_are_busy_agree_in_the_end(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 20; i++) {
        learn(f, f->a, 15000);
        learn(f, f->b, 12000);
        learn(f, f->b, 12000);
    }
    assert_int_equal(wr_counts_find(f->b, FAR, "m").factor_bp, 12000);
    f->now_ms += 2 * MINUTE_MS;
    wr_counts_sync(f->a, FAR, "m", f->now_ms);
    wr_counts_sync(f->b, FAR, "m", f->now_ms);
    assert_int_equal(wr_counts_find(f->a, FAR, "m").factor_bp, 12000);
    assert_int_equal(wr_counts_find(f->b, FAR, "m").factor_bp, 12000);
    /* Of the nine that are kept some are its own all the same. */
    for (int i = 0; i < 3; i++)
        learn(f, f->a, 15000);
    assert_int_equal(wr_counts_find(f->a, FAR, "m").factor_bp, 15000);
    assert_int_equal(find_stored(f).factor_bp, 15000);
}

static void what_was_learnt_before_the_store_was_read_is_kept(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 5; i++)
        assert_true(wr_counts_add(f->a, FAR, "m", OURS_TOKENS, 15000));
    for (int i = 0; i < 4; i++)
        learn(f, f->b, 12000);
    wr_counts_sync(f->a, FAR, "m", ++f->now_ms);
    assert_int_equal(wr_counts_find(f->a, FAR, "m").factor_bp, 15000);
    assert_int_equal(find_stored(f).factor_bp, 15000);
}

/* What the answer to a prompt of ours says of it. */
static const struct {
    const char *behaviour, *base_url;
    uint32_t loaded_tokens, theirs_tokens;
    bool is_believed;
} answers[] = {
    {"a provider that counts more", FAR, 0, 15000, true},
    {"a provider that counts less", FAR, 0, 8000, true},
    {"a count of something else", FAR, 0, 4000, false},
    {"a server near by that counts more", NEAR, 0, 15000, true},
    {"or a little less", NEAR, 0, 9100, true},
    {"less than nine tenths may be what it left of the prompt", NEAR, 0, 8900, false},
    {"nine tenths are not", NEAR, 0, 9000, true},
    {"a token less is", NEAR, 0, 8999, false},
    {"so may be what fills 95 of 100 of its window", NEAR, 10000, 9500, false},
    {"a token less does not", NEAR, 10000, 9499, true},
    {"so may be what fills its window", NEAR, 9600, 9500, false},
    {"however we count", NEAR, 16000, 15900, false},
    {"what leaves room there was not cut", NEAR, 32000, 15000, true},
};

static void a_prompt_that_was_cut_teaches_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(answers); i++) {
        struct wr_counts *counts = wr_counts_new(NULL);
        struct wr_record record = {.deed = WR_DEED_MEASURED,
                                   .tokens_before = OURS_TOKENS,
                                   .base_url = answers[i].base_url,
                                   .loaded_tokens = answers[i].loaded_tokens,
                                   .model = "m",
                                   .status = 200,
                                   .api = &wr_api_chat,
                                   .usage.input_tokens = answers[i].theirs_tokens};

        assert_non_null(counts);
        wr_counts_judge(&record);
        for (int k = 0; k < WR_CALIBRATION_SAMPLES_MIN; k++)
            wr_counts_take(counts, &record);
        struct wr_known_count known = wr_counts_find(counts, answers[i].base_url, "m");
        wr_counts_free(counts);
        if (!known.factor_bp == answers[i].is_believed ||
            !known.accepted_tokens == answers[i].is_believed)
            fail_msg("%s: factor %u, accepted %u", answers[i].behaviour, known.factor_bp,
                     known.accepted_tokens);
    }
}

/* What is a count of the prompt, and what is none. */
static void a_count_is_of_the_whole_prompt(void **state)
{
    static const struct {
        const char *behaviour;
        const struct wr_api *api;
        int64_t input, read, write;
        uint64_t status, counted, ratio_bp;
        bool is_used;
    } rows[] = {
        {"as it is said", &wr_api_chat, 12000, 9000, 500, 200, 12000, 12000, true},
        {"with what was cached apart", &wr_api_messages, 2000, 9000, 1000, 200, 12000, 12000, true},
        {"of which nothing is said", &wr_api_messages, 12000, -1, -1, 200, 12000, 12000, true},
        {"half of ours", &wr_api_chat, 5000, 0, 0, 200, 5000, 5000, true},
        {"less than half", &wr_api_chat, 4999, 0, 0, 200, 4999, 4999, false},
        {"double", &wr_api_chat, 20000, 0, 0, 200, 20000, 20000, true},
        {"more than double", &wr_api_chat, 20001, 0, 0, 200, 20001, 20001, false},
        {"of what was refused", &wr_api_chat, 12000, 0, 0, 400, 0, 0, false},
        {"nothing is said", &wr_api_chat, -1, 0, 0, 200, 0, 0, false},
        {"none", &wr_api_chat, 0, 0, 0, 200, 0, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_record record = {.deed = WR_DEED_MEASURED,
                                   .tokens_before = 10000,
                                   .base_url = "https://api.example",
                                   .model = "m",
                                   .status = rows[i].status,
                                   .api = rows[i].api};
        record.usage.input_tokens = rows[i].input;
        record.usage.cache_read_tokens = rows[i].read;
        record.usage.cache_write_tokens = rows[i].write;
        wr_counts_judge(&record);
        if (record.counted_tokens != rows[i].counted || record.count_ratio_bp != rows[i].ratio_bp ||
            record.is_count_used != rows[i].is_used)
            fail_msg("%s: %llu, %llu", rows[i].behaviour, (unsigned long long)record.counted_tokens,
                     (unsigned long long)record.count_ratio_bp);
    }
}

static void a_name_is_another_model_on_another_server(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < WR_CALIBRATION_SAMPLES_MIN; i++)
        assert_true(wr_counts_add(f->a, NEAR, "m", OURS_TOKENS, 15000));
    wr_counts_sync(f->a, NEAR, "m", ++f->now_ms);
    assert_int_equal(wr_counts_find(f->a, NEAR, "m").factor_bp, 15000);
    assert_int_equal(wr_counts_find(f->a, "http://127.0.0.1:11434", "m").factor_bp, 15000);
    assert_int_equal(wr_counts_find(f->a, FAR, "m").factor_bp, 0);
    assert_int_equal(wr_counts_find(f->a, NULL, "m").factor_bp, 0);
    assert_int_equal(find_stored(f).factor_bp, 0);
}

static void accept_prompt(struct fixture *f, struct wr_counts *counts, uint64_t tokens)
{
    struct wr_record record = {.deed = WR_DEED_MEASURED,
                               .tokens_before = tokens,
                               .base_url = FAR,
                               .model = "m",
                               .status = 200,
                               .api = &wr_api_chat,
                               .usage.input_tokens = (int64_t)tokens};

    wr_counts_judge(&record);
    wr_counts_take(counts, &record);
    wr_counts_sync(counts, FAR, "m", ++f->now_ms);
}

static void the_largest_accepted_prompt_is_not_lowered_by_another(void **state)
{
    struct fixture *f = *state;

    accept_prompt(f, f->a, 90000);
    accept_prompt(f, f->b, 1000);
    assert_int_equal(find_stored(f).accepted_tokens, 90000);
    assert_int_equal(wr_counts_find(f->b, FAR, "m").accepted_tokens, 90000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_is_of_the_whole_prompt),
        TEST(what_another_learnt_is_read_by_one_that_learns_too),
        TEST(two_that_are_busy_agree_in_the_end),
        TEST(what_was_learnt_before_the_store_was_read_is_kept),
        TEST(a_prompt_that_was_cut_teaches_nothing),
        TEST(a_name_is_another_model_on_another_server),
        TEST(the_largest_accepted_prompt_is_not_lowered_by_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
