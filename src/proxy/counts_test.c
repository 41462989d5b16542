/* Two of them on one store are two processes: what one has learnt the other comes to know, and
 * neither undoes the other's. */
#include "proxy/counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"
#include "store/test_dir.h"

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
    assert_true(wr_counts_add(counts, "m", OURS_TOKENS, theirs_tokens));
    wr_counts_sync(counts, "m", ++f->now_ms);
}

/* What a process finds that has just begun. */
static struct wr_known_count find_stored(struct fixture *f)
{
    struct wr_counts *counts = wr_counts_new(f->dir.path);
    assert_non_null(counts);
    wr_counts_sync(counts, "m", f->now_ms);
    struct wr_known_count known = wr_counts_find(counts, "m");
    wr_counts_free(counts);
    return known;
}

static void what_another_learnt_is_read_by_one_that_learns_too(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 8; i++)
        learn(f, f->a, 15000);
    learn(f, f->b, 12000);
    assert_int_equal(wr_counts_find(f->b, "m").factor_bp, 15000);
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
    assert_int_equal(wr_counts_find(f->b, "m").factor_bp, 12000);
    f->now_ms += 2 * MINUTE_MS;
    wr_counts_sync(f->a, "m", f->now_ms);
    wr_counts_sync(f->b, "m", f->now_ms);
    assert_int_equal(wr_counts_find(f->a, "m").factor_bp, 12000);
    assert_int_equal(wr_counts_find(f->b, "m").factor_bp, 12000);
    /* Of the nine that are kept some are its own all the same. */
    for (int i = 0; i < 3; i++)
        learn(f, f->a, 15000);
    assert_int_equal(wr_counts_find(f->a, "m").factor_bp, 15000);
    assert_int_equal(find_stored(f).factor_bp, 15000);
}

static void what_was_learnt_before_the_store_was_read_is_kept(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 5; i++)
        assert_true(wr_counts_add(f->a, "m", OURS_TOKENS, 15000));
    for (int i = 0; i < 4; i++)
        learn(f, f->b, 12000);
    wr_counts_sync(f->a, "m", ++f->now_ms);
    assert_int_equal(wr_counts_find(f->a, "m").factor_bp, 15000);
    assert_int_equal(find_stored(f).factor_bp, 15000);
}

static void accept_prompt(struct fixture *f, struct wr_counts *counts, uint64_t tokens)
{
    struct wr_arena arena;
    struct wr_tap tap = {.arena = &arena};
    struct wr_task job = {.is_read = true, .tokens_before = tokens, .model = "m"};
    struct wr_record record = {.job = &job, .tap = &tap, .status = 200, .api = WR_API_CHAT};

    tap.usage.input_tokens = (int64_t)tokens;
    wr_counts_take(counts, &record);
    wr_counts_sync(counts, "m", ++f->now_ms);
}

static void the_largest_accepted_prompt_is_not_lowered_by_another(void **state)
{
    struct fixture *f = *state;

    accept_prompt(f, f->a, 90000);
    accept_prompt(f, f->b, 1000);
    assert_int_equal(find_stored(f).accepted_tokens, 90000);
    assert_int_equal(wr_counts_find(f->b, "m").accepted_tokens, 90000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_another_learnt_is_read_by_one_that_learns_too),
        TEST(two_that_are_busy_agree_in_the_end),
        TEST(what_was_learnt_before_the_store_was_read_is_kept),
        TEST(the_largest_accepted_prompt_is_not_lowered_by_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
