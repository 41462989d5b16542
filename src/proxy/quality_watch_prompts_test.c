#include "proxy/quality_watch.h"

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
    wr_prompts_answered(prompts, seen.ticket, 5000, NULL);

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
    wr_prompts_answered(prompts, seen.ticket, 6000, NULL);
    wr_prompts_answered(prompts, seen.ticket, 1, NULL); /* once */

    make(&m, "aBCde", 1);
    seen = take(prompts, 1, &m);
    assert_int_equal(seen.check.cached_tokens, 6000);
    assert_true(m.changed[2] && !seen.is_repeated);
    wr_prompts_free(prompts);
}

/* A letter a block: a text, (c)all or (r)esult. */
static void make_kinds(struct made *m, const char *kinds)
{
    make(m, "abcdefgh", 1);
    for (m->prompt.blocks_count = 0; kinds[m->prompt.blocks_count]; m->prompt.blocks_count++)
        m->blocks[m->prompt.blocks_count].kind =
            kinds[m->prompt.blocks_count] == 'c'   ? WEIR_KIND_TOOL_CALL
            : kinds[m->prompt.blocks_count] == 'r' ? WEIR_KIND_TOOL_RESULT
                                                   : WEIR_KIND_TEXT;
}

/* A conversation that hops: what this process saw last is not what the provider saw last. */
static void what_went_elsewhere_is_not_known(void **state)
{
    static const struct {
        const char *now;
        bool is_known;
    } rows[] = {{"tcr", true}, {"tccrr", true},  {"tcrcr", false}, {"tcrtcr", false},
                {"ttt", true}, {"ttttt", false}, {"t", true},      {"ttcr", true}};
    struct made m;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wr_prompts *prompts = wr_prompts_new();
        make_kinds(&m, "t");
        wr_prompts_answered(prompts, take(prompts, 1, &m).ticket, 5000, NULL);
        make_kinds(&m, rows[i].now);
        if (wr_prompts_knows(prompts, 1, &m.sent) != rows[i].is_known)
            fail_msg("%s", rows[i].now);
        wr_prompts_free(prompts);
    }
}

static void the_longer_of_two_is_the_last(void **state)
{
    struct wr_prompts *prompts = wr_prompts_new();
    struct made m, under_way;
    (void)state;
    make_kinds(&m, "t");
    wr_prompts_answered(prompts, take(prompts, 1, &m).ticket, 5000, NULL);
    make_kinds(&under_way, "tcr");
    uint64_t ticket = take(prompts, 1, &under_way).ticket;
    make_kinds(&m, "tcrcr");
    m.sent.cached_tokens = 7000;
    wr_prompts_restore(prompts, 1, &m.sent); /* from another node */
    make_kinds(&m, "tcrcrcr");
    assert_int_equal(take(prompts, 1, &m).check.cached_tokens, 7000);
    make_kinds(&m, "tc");
    m.sent.cached_tokens = 1;
    wr_prompts_restore(prompts, 1, &m.sent); /* older than what is known */
    make_kinds(&m, "tcrcrcr");
    assert_int_equal(take(prompts, 1, &m).check.cached_tokens, 7000);
    wr_prompts_answered(prompts, ticket, 6000, NULL); /* two others came since */
    wr_prompts_free(prompts);
}

static void conversations_are_apart(void **state)
{
    struct wr_prompts *prompts = wr_prompts_new();
    struct made m;
    (void)state;
    make(&m, "abcd", 1);
    wr_prompts_answered(prompts, take(prompts, 2, &m).ticket, 5000, NULL);
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
    wr_prompts_answered(prompts, take(prompts, 2, &m).ticket, 5000, NULL);
    for (uint64_t i = 0; i < WR_QUALITY_PROMPTS_MAX - 1; i++) {
        make(&m, "abc", 1);
        wr_prompts_answered(prompts, take(prompts, 4 + 2 * i, &m).ticket, 5000, NULL);
    }
    make(&m, "abcd", 1);
    assert_true(take(prompts, 2, &m).check.is_known); /* still here, and used now */
    make(&m, "abc", 1);
    (void)take(prompts, 1 << 20, &m); /* takes the place of the oldest: 4 */
    make(&m, "abcd", 1);
    assert_false(take(prompts, 4, &m).check.is_known);
    wr_prompts_free(prompts);
}

/* What one process noted another goes on from, as if it had seen it. */
static void a_note_stands_in_for_what_was_not_seen(void **state)
{
    struct wr_prompts *before = wr_prompts_new(), *after = wr_prompts_new();
    struct wr_prompt prompt;
    struct wr_bust_sent last;
    struct wr_arena arena;
    struct wr_buf note;
    struct made m;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&note, WR_LEDGER_NOTE_BYTES_MAX);
    make(&m, "aBc", 1);
    wr_prompts_answered(before, take(before, 2, &m).ticket, 5000, &note);
    assert_true(wr_prompt_note_decode(&arena, wr_buf_view(&note), &prompt, &last));

    assert_false(wr_prompts_knows(after, 2, &m.sent));
    wr_prompts_restore(after, 2, &last);
    assert_true(wr_prompts_knows(after, 2, &m.sent));
    assert_false(wr_prompts_knows(after, 4, &m.sent));
    assert_true(take(after, 2, &m).is_repeated); /* the client's retry of it */
    make(&m, "aBxd", 1);
    struct wr_prompts_seen seen = take(after, 2, &m);
    assert_true(seen.check.is_known && seen.check.cached_tokens == 5000);
    assert_int_equal(seen.check.cause, WR_BUST_HOST);
    assert_string_equal(seen.check.place, "message 3, text");
    assert_true(m.changed[1] && !m.changed[0]);
    wr_prompts_answered(after, seen.ticket, 6000, NULL);
    wr_prompts_restore(after, 2, &last); /* what is known is newer */
    assert_int_equal(take(after, 2, &m).check.cached_tokens, 6000);
    wr_buf_release(&note);
    wr_arena_release(&arena);
    wr_prompts_free(before);
    wr_prompts_free(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_is_compared_with_the_last_that_was_answered),
        cmocka_unit_test(what_went_elsewhere_is_not_known),
        cmocka_unit_test(the_longer_of_two_is_the_last),
        cmocka_unit_test(conversations_are_apart),
        cmocka_unit_test(the_oldest_give_way),
        cmocka_unit_test(a_note_stands_in_for_what_was_not_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
