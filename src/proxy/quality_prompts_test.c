#include "proxy/quality_prompts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"

enum { BLOCKS_MAX = 8 };

struct made {
    struct wr_prompt_block blocks[BLOCKS_MAX];
    struct wr_prompt prompt;
    struct wr_bust_sent sent;
    bool changed[BLOCKS_MAX];
};

/* A letter a block; an upper case one was sent in another form. All are messages. */
static void make(struct made *m, const char *letters, uint64_t model)
{
    *m = (struct made){.prompt = {.blocks = m->blocks, .first_user = 7}};
    for (; *letters; letters++)
        m->blocks[m->prompt.blocks_count++] =
            (struct wr_prompt_block){.original = (uint64_t)(*letters | 32),
                                     .sent = (uint64_t)*letters,
                                     .message = m->prompt.blocks_count};
    m->sent = (struct wr_bust_sent){.prompt = &m->prompt, .model = model};
}

static struct wr_prompts_seen take(struct wr_prompts *prompts, uint64_t session, struct made *m)
{
    return wr_prompts_take(prompts, session, &m->sent, m->changed);
}

static void the_next_is_compared_with_the_last_that_was_answered(void **state)
{
    struct wr_prompts *prompts = wr_prompts_new();
    struct made m;
    (void)state;
    make(&m, "aBc", 1);
    struct wr_prompts_seen seen = take(prompts, 1, &m);
    assert_true(seen.ticket && !seen.check.is_known && !seen.is_repeated);
    wr_prompts_answered(prompts, seen.ticket, 5000);

    make(&m, "aBcd", 1); /* refused: it leaves nothing behind */
    seen = take(prompts, 1, &m);
    assert_true(seen.check.is_known && seen.check.cached_tokens == 5000);
    assert_true(!m.changed[0] && m.changed[1] && !m.changed[2] && !m.changed[3]);
    wr_prompts_forget(prompts, seen.ticket);

    make(&m, "aBCd", 1); /* and is tried in another form */
    seen = take(prompts, 1, &m);
    assert_true(seen.is_repeated && seen.check.is_known);
    assert_int_equal(seen.check.cause, WR_BUST_WEIR);
    assert_true(m.changed[1] && !m.changed[2]);
    wr_prompts_answered(prompts, seen.ticket, 6000);
    wr_prompts_answered(prompts, seen.ticket, 1); /* once */

    make(&m, "aBCde", 1);
    seen = take(prompts, 1, &m);
    assert_int_equal(seen.check.cached_tokens, 6000);
    assert_true(m.changed[2] && !seen.is_repeated);
    wr_prompts_free(prompts);
}

static void conversations_are_apart(void **state)
{
    struct wr_prompts *prompts = wr_prompts_new();
    struct made m;
    (void)state;
    make(&m, "abcd", 1);
    wr_prompts_answered(prompts, take(prompts, 2, &m).ticket, 5000);
    make(&m, "abcde", 1);
    assert_false(take(prompts, 4, &m).check.is_known); /* another session */
    m.prompt.first_user = 9;
    assert_false(take(prompts, 2, &m).check.is_known); /* a helper that begins otherwise */
    make(&m, "a", 2);
    assert_false(take(prompts, 2, &m).check.is_known); /* a helper that says the same once */
    make(&m, "abcde", 3);                              /* another model that goes on */
    struct wr_prompts_seen seen = take(prompts, 2, &m);
    assert_true(seen.check.is_known);
    assert_int_equal(seen.check.cause, WR_BUST_MODEL);
    wr_prompts_free(prompts);
}

static void the_oldest_give_way(void **state)
{
    struct wr_prompts *prompts = wr_prompts_new();
    struct made m;
    (void)state;
    make(&m, "abc", 1);
    wr_prompts_answered(prompts, take(prompts, 2, &m).ticket, 5000);
    for (uint64_t i = 0; i < WR_QUALITY_PROMPTS_MAX - 1; i++) {
        make(&m, "abc", 1);
        wr_prompts_answered(prompts, take(prompts, 4 + 2 * i, &m).ticket, 5000);
    }
    make(&m, "abcd", 1);
    assert_true(take(prompts, 2, &m).check.is_known); /* still here, and used now */
    make(&m, "abc", 1);
    (void)take(prompts, 1 << 20, &m); /* takes the place of the oldest: 4 */
    make(&m, "abcd", 1);
    assert_false(take(prompts, 4, &m).check.is_known);
    wr_prompts_free(prompts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_is_compared_with_the_last_that_was_answered),
        cmocka_unit_test(conversations_are_apart),
        cmocka_unit_test(the_oldest_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
