/* Which fold is found again, which is forgotten first, and what a key depends on. */
#include "engine/fold_memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "tests/test_run.h"

static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}]}";
#define POLICY "policies: {p: {stages: [{stage: mask}]}, q: {stages: [{stage: clear}]}}"

static wr_hash128 key_of(uint64_t number)
{
    return (wr_hash128){number, 7};
}

struct world {
    struct test_run r;
    struct wr_fold_memo *memo;
    struct wr_sent sent;
    weir_hash originals[3];
};

static void open_world(struct world *w)
{
    *w = (struct world){0};
    test_run_open(&w->r, wr_span_of(body), POLICY, 1000);
    assert_int_equal(wr_fold_memo_new(&w->memo), WEIR_OK);
    memset(w->originals, 'x', sizeof(w->originals));
}

static void close_world(struct world *w)
{
    wr_fold_memo_free(w->memo);
    test_run_close(&w->r);
}

static void put(struct world *w, uint64_t key, uint32_t originals_count)
{
    struct wr_fold_commit commit = {&w->sent, w->originals, originals_count, 100 + key};
    wr_fold_memo_put(w->memo, key_of(key), &commit, &w->r.run.fold);
}

static void a_fold_is_found_by_its_key(void **state)
{
    struct world w;
    (void)state;

    open_world(&w);
    put(&w, 1, 3);
    put(&w, 2, 0);
    const struct wr_folded *found = wr_fold_memo_find(w.memo, key_of(1));
    assert_non_null(found);
    assert_int_equal(found->replaced_count, 101);
    assert_int_equal(found->originals_count, 3);
    assert_memory_equal(found->originals, w.originals, sizeof(w.originals));
    assert_int_equal(wr_fold_state_segments(found->state), w.r.run.fold.arrived);
    assert_int_equal(wr_fold_memo_find(w.memo, key_of(2))->replaced_count, 102);
    assert_null(wr_fold_memo_find(w.memo, key_of(3)));
    assert_null(wr_fold_memo_find(w.memo, (wr_hash128){1, 8}));
    assert_null(wr_fold_memo_find(NULL, key_of(1)));
    wr_fold_memo_put(NULL, key_of(1), NULL, NULL);
    wr_fold_memo_clear(w.memo);
    assert_null(wr_fold_memo_find(w.memo, key_of(1)));
    close_world(&w);
}

static void a_second_one_under_a_key_takes_the_place(void **state)
{
    struct world w;
    (void)state;

    open_world(&w);
    for (uint64_t i = 0; i < WR_FOLD_MEMO_COUNT_MAX; i++)
        put(&w, i, 0);
    put(&w, 5, 2); /* forgets no other */
    for (uint64_t i = 0; i < WR_FOLD_MEMO_COUNT_MAX; i++)
        assert_int_equal(wr_fold_memo_find(w.memo, key_of(i))->originals_count, i == 5 ? 2 : 0);
    close_world(&w);
}

static void the_one_unused_longest_is_forgotten(void **state)
{
    struct world w;
    (void)state;

    open_world(&w);
    for (uint64_t i = 0; i < WR_FOLD_MEMO_COUNT_MAX; i++)
        put(&w, i, 0);
    assert_non_null(wr_fold_memo_find(w.memo, key_of(0)));
    put(&w, 1000, 0);
    assert_non_null(wr_fold_memo_find(w.memo, key_of(0)));
    assert_null(wr_fold_memo_find(w.memo, key_of(1)));
    for (uint64_t i = 2; i < WR_FOLD_MEMO_COUNT_MAX; i++)
        assert_non_null(wr_fold_memo_find(w.memo, key_of(i)));
    put(&w, 1001, 0);
    assert_null(wr_fold_memo_find(w.memo, key_of(1000)));
    close_world(&w);
}

/* ---- keys ---- */

static bool is_same(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

#define DIFFERS(member, value)                           \
    do {                                                 \
        struct wr_fold_input other = input;              \
        other.member = (value);                          \
        if (is_same(seed, wr_fold_memo_seed(&other, 1))) \
            fail_msg("%s makes no difference", #member); \
    } while (0)

static void a_seed_depends_on_all_that_a_fold_is_told(void **state)
{
    struct world w;
    (void)state;

    open_world(&w);
    const struct wr_fold_input input = w.r.input;
    wr_hash128 seed = wr_fold_memo_seed(&input, 1);
    assert_true(is_same(seed, wr_fold_memo_seed(&input, 1)));
    assert_false(is_same(seed, wr_fold_memo_seed(&input, 2)));
    DIFFERS(memo_seed, 1);
    DIFFERS(policy, wr_policies_find(w.r.policies, WR_LIT("q")));
    DIFFERS(window_tokens, 1001);
    DIFFERS(reserve_tokens, 1);
    DIFFERS(base_tokens, 1);
    DIFFERS(message_overhead_tokens, 1);
    DIFFERS(prices.write_pct, 1);
    DIFFERS(prices.read_pct, 1);
    DIFFERS(prices.output_pct, 1);
    DIFFERS(prices.tier_tokens, 1);
    DIFFERS(binds_thinking, true);
    DIFFERS(tools, "-run");
    close_world(&w);
}

static void a_key_depends_on_the_turns_before(void **state)
{
    wr_hash128 turns[2] = {{1, 2}, {3, 4}}, heads[2] = {{5, 6}, {7, 8}};
    uint32_t ends[2] = {9, 10};
    struct wr_trail trail = {.turns = turns, .heads = heads, .ends = ends};
    const wr_hash128 seed = {11, 12};
    wr_hash128 key = wr_fold_memo_key(seed, &trail, 1);
    (void)state;

    assert_false(is_same(key, wr_fold_memo_key(seed, &trail, 0)));
    assert_false(is_same(key, wr_fold_memo_key((wr_hash128){11, 13}, &trail, 1)));
    turns[0].low = heads[0].low = ends[0] = 99; /* in the chain of the later turn already */
    assert_true(is_same(key, wr_fold_memo_key(seed, &trail, 1)));
    uint64_t *parts[] = {&turns[1].low, &turns[1].high, &heads[1].low, &heads[1].high};
    for (size_t i = 0; i < WR_COUNT_OF(parts); i++) {
        *parts[i] += 100;
        assert_false(is_same(key, wr_fold_memo_key(seed, &trail, 1)));
        *parts[i] -= 100;
    }
    ends[1]++;
    assert_false(is_same(key, wr_fold_memo_key(seed, &trail, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fold_is_found_by_its_key),
        cmocka_unit_test(a_second_one_under_a_key_takes_the_place),
        cmocka_unit_test(the_one_unused_longest_is_forgotten),
        cmocka_unit_test(a_seed_depends_on_all_that_a_fold_is_told),
        cmocka_unit_test(a_key_depends_on_the_turns_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
