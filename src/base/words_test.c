#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/words.h"

enum question { IS, IS_FOLDED, FRONT, FRONT_FOLDED, END, HAS };

static const struct {
    const char *behaviour;
    enum question question;
    const char *text, *words;
    size_t expected; /* for IS, IS_FOLDED and HAS: whether */
} rows[] = {
    {"the first word", IS, "cat", "cat|head|tail", 1},
    {"the last word", IS, "tail", "cat|head|tail", 1},
    {"a list of one", IS, "tail", "tail", 1},
    {"a word behind one that begins alike", IS, "heading", "head|heading", 1},
    {"not the beginning of a word", IS, "hea", "cat|head|tail", 0},
    {"not more than a word", IS, "heads", "cat|head|tail", 0},
    {"not two words", IS, "cat|head", "cat|head|tail", 0},
    {"nothing is no word", IS, "", "cat|head|tail", 0},
    {"a bar is no word", IS, "|", "cat|head|tail", 0},
    {"case counts", IS, "Cat", "cat|head|tail", 0},
    {"unless folded", IS_FOLDED, "TaiL", "cat|head|tail", 1},
    {"folding is of letters only", IS_FOLDED, "@", "`", 0},
    {"words of one byte", IS, "c", "a|b|c", 1},
    {"a long list", IS, "omega", "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|omega", 1},
    {"bytes above ASCII", IS, "✗", "✓|✗", 1},
    {"length of the word in front", FRONT, "head -n 3", "cat|head|tail", 4},
    {"the first of two in front", FRONT, "heading", "head|heading", 4},
    {"the longer one where it comes first", FRONT, "heading", "heading|head", 7},
    {"no word in front", FRONT, "the head", "cat|head|tail", 0},
    {"a text shorter than the word", FRONT, "he", "cat|head|tail", 0},
    {"nothing begins with nothing", FRONT, "", "cat|head|tail", 0},
    {"case counts in front", FRONT, "Head", "cat|head|tail", 0},
    {"unless folded in front", FRONT_FOLDED, "HEADS", "cat|head|tail", 4},
    {"length of the word at the end", END, "a.rs", ".c|.rs|.go", 3},
    {"the last word at the end", END, "a.go", ".c|.rs|.go", 3},
    {"no word at the end", END, "a.gone", ".c|.rs|.go", 0},
    {"nothing ends in nothing", END, "", ".c|.rs|.go", 0},
    {"one word inside", HAS, "src/tests/a", "spec/|tests/", 1},
    {"no word inside", HAS, "src/tes/ts/a", "spec/|tests/", 0},
};

/* Asked as a list that remembers, the answer is the same, the second time too. */
static size_t answer(size_t row, struct wr_words *words)
{
    weir_span text = wr_span_of(rows[row].text);
    switch (rows[row].question) {
    case IS:
        assert_int_equal(wr_words_has(words, text), wr_is_any_of(text, words->list));
        return wr_is_any_of(text, words->list);
    case IS_FOLDED:
        assert_int_equal(wr_words_has_folded(words, text), wr_is_any_of_folded(text, words->list));
        return wr_is_any_of_folded(text, words->list);
    case FRONT:
        assert_int_equal(wr_words_front(words, text), wr_front_of(text, words->list));
        return wr_front_of(text, words->list);
    case FRONT_FOLDED:
        assert_int_equal(wr_words_front_folded(words, text), wr_front_of_folded(text, words->list));
        return wr_front_of_folded(text, words->list);
    case END:
        assert_int_equal(wr_words_end(words, text), wr_end_of(text, words->list));
        return wr_end_of(text, words->list);
    case HAS:
        return wr_has_any_of(text, words->list);
    }
    return 0;
}

static void questions_about_a_list(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wr_words words = {.list = rows[i].words};
        for (int time = 0; time < 2; time++) {
            size_t got = answer(i, &words);
            if (got == rows[i].expected)
                continue;
            print_error("%s: %zu, not %zu\n", rows[i].behaviour, got, rows[i].expected);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void words_are_taken_one_by_one(void **state)
{
    (void)state;
    static const char *const expected[] = {"a", "bc", "d e"};
    const char *list = "a|bc|d e";
    weir_span word;
    for (size_t i = 0; i < 3; i++) {
        assert_true(wr_list_next(&list, &word));
        assert_true(wr_span_is(word, expected[i]));
    }
    assert_false(wr_list_next(&list, &word));
}

/* Every place of every list up to some length, against a plain walk. */
static void seeking_finds_each_word_and_no_other(void **state)
{
    (void)state;
    static const char text[] = "ab|c|ad|eeeeeeeee|af|gA|h|ai|jjjjjjjjjjjjjjjj|ak|a";
    for (size_t len = 1; len < sizeof(text); len++) {
        weir_span words = {text, len};
        for (size_t from = 0; from < len; from++)
            for (size_t nth = 0; nth < 3; nth++) {
                size_t expected = from;
                while (expected + nth < len && ((expected && text[expected - 1] != '|') ||
                                                wr_lower(text[expected + nth]) != 'a'))
                    expected++;
                if (expected + nth >= len)
                    expected = len;
                assert_int_equal(wr_list_seek(words, from, nth, 'a'), expected);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_about_a_list),
        cmocka_unit_test(words_are_taken_one_by_one),
        cmocka_unit_test(seeking_finds_each_word_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
