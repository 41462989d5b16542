/* Words are written in the order of their worth, each with the lines (from 1) that hold it. */
#include "condense/focus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/limits.h"

static const struct {
    const char *behaviour, *query, *focus, *text, *expected;
} cases[] = {
    {"rare words come first", "", "alpha beta1", "alpha\nalpha beta1\nx\n", "beta1:2 alpha:1,2 "},
    {"what was sought comes before the rest", "alpha\\(", "beta1", "alpha\nalpha beta1\n",
     "alpha:1,2 beta1:2 "},
    {"case does not matter", "", "loadUser", "LOADUSER(1)\n", "loadUser:1 "},
    {"parts of words are other words", "", "user", "users\nsuper_user\nuser.id\n", "user:3 "},
    {"a line counts once", "", "alpha", "alpha alpha alpha\n", "alpha:1 "},
    {"short words, numbers and words of every text are left out", "", "id 12345 this return value",
     "id 12345 this return value\n", ""},
    {"what was sought may be short", "key", "", "key\n", "key:1 "},
    {"words on most lines tell nothing", "", "alpha beta1",
     "alpha\nalpha\nalpha\nalpha\nalpha\nalpha\nalpha\nalpha\nalpha beta1\n", "beta1:9 "},
    {"words beyond ASCII are words", "", "größe", "die größe\n", "größe:1 "},
    {"nothing sought, nothing found", "", "", "alpha\n", ""},
};

static void write_words(struct wr_buf *out, const struct wr_focus *focus)
{
    for (uint32_t i = 0; i < focus->count; i++) {
        const struct wr_focus_word *word = &focus->words[i];
        wr_buf_append(out, word->text);
        for (uint32_t k = 0; k < word->lines_count; k++)
            wr_buf_printf(out, k ? ",%u" : ":%u", word->lines[k] + 1);
        wr_buf_byte(out, ' ');
    }
}

static void words_are_found_by_worth(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        struct wr_keep keep;
        struct wr_focus focus;
        struct wr_buf got;
        struct wr_condense_input input = {.text = wr_span_of(cases[i].text),
                                          .query = wr_span_of(cases[i].query),
                                          .focus = wr_span_of(cases[i].focus)};
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&got, 4096);
        assert_int_equal(wr_keep_init(&keep, &arena, &input), WEIR_OK);
        assert_int_equal(wr_focus_init(&focus, &arena, &input), WEIR_OK);
        assert_int_equal(wr_focus_find(&focus, &keep), WEIR_OK);
        write_words(&got, &focus);
        if (!wr_span_is(wr_buf_view(&got), cases[i].expected))
            fail_msg("%s: \"%.*s\"", cases[i].behaviour, (int)got.len, got.bytes ? got.bytes : "");
        wr_buf_release(&got);
        wr_arena_release(&arena);
    }
}

static void lines_are_weighed(void **state)
{
    struct wr_arena arena;
    struct wr_focus focus;
    struct wr_condense_input input = {.query = WR_LIT("alpha"), .focus = WR_LIT("beta1 gamma")};
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_focus_init(&focus, &arena, &input), WEIR_OK);
    assert_int_equal(wr_focus_weigh(&focus, WR_LIT("delta")), 0);
    assert_int_equal(wr_focus_weigh(&focus, WR_LIT("beta1(gamma)")), 2);
    assert_int_equal(wr_focus_weigh(&focus, WR_LIT("Alpha")), WR_FOCUS_ASKED);
    assert_true(wr_focus_names(&focus, WR_LIT("app::beta1")));
    assert_false(wr_focus_names(&focus, WR_LIT("app::beta2")));
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_found_by_worth),
        cmocka_unit_test(lines_are_weighed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
