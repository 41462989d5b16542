#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transcript/path.h"

#include "base/limits.h"
#include "base/span.h"

static void joining_normalises(void **state)
{
    (void)state;
    static const struct {
        const char *dir, *path, *want;
    } cases[] = {
        {"", "a/b", "a/b"},
        {"", "./a", "a"},
        {"", "a//b/", "a/b"},
        {"", "a/../b", "b"},
        {"", "../b", "../b"},
        {"", "../../b", "../../b"},
        {"", "a/../../b", "../b"},
        {"", "/a/./b", "/a/b"},
        {"", "/../a", "/a"},
        {"", "/", "/"},
        {"", ".", "."},
        {"", "a/..", "."},
        {"/w", "a", "/w/a"},
        {"/w", "/b", "/b"},
        {"/w", "../b", "/b"},
        {"/w/x", ".", "/w/x"},
        {"/w/x", "", "/w/x"},
        {"/w/", "a", "/w/a"},
        {"w", "../a", "a"},
        {"w", "../../a", "../a"},
        {"/w", "~/a", "~/a"},
        {"~/w", "a", "~/w/a"},
        {"~", "../a", "~/../a"},
        {"/", "a", "/a"},
        {"/w", "..", "/"},
        {"/w", "C:/x/y.c", "C:/x/y.c"},
    };
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        weir_span got = wr_path_join(&arena, wr_span_of(cases[i].dir), wr_span_of(cases[i].path));
        if (!wr_span_is(got, cases[i].want))
            print_message("'%s' + '%s': %.*s\n", cases[i].dir, cases[i].path, (int)got.len,
                          got.ptr);
        assert_true(wr_span_is(got, cases[i].want));
        wr_arena_release(&arena);
    }
}

static void comparing_knows_what_it_cannot_know(void **state)
{
    (void)state;
    static const struct {
        const char *behaviour, *a, *b, *cwd;
        enum wr_path_relation want;
    } cases[] = {
        {"the same text", "a/b.c", "a/b.c", "", WR_PATH_SAME},
        {"dots and slashes do not count", "./a//b.c", "a/x/../b.c", "", WR_PATH_SAME},
        {"other names", "a/b.c", "a/c.c", "", WR_PATH_DIFFERENT},
        {"relative seen from the directory", "b.c", "/w/b.c", "/w", WR_PATH_SAME},
        {"up from the directory", "../b.c", "/b.c", "/w", WR_PATH_SAME},
        {"relative elsewhere", "b.c", "/v/b.c", "/w", WR_PATH_DIFFERENT},
        {"relative with no directory known", "src/b.c", "/w/src/b.c", "", WR_PATH_MAYBE},
        {"names that only end alike", "rc/b.c", "/w/src/b.c", "", WR_PATH_DIFFERENT},
        {"two relative ones of other depth", "b.c", "src/b.c", "", WR_PATH_MAYBE},
        {"absolute ones of other depth", "/b.c", "/src/b.c", "", WR_PATH_DIFFERENT},
        {"home may be anywhere", "~/a.c", "/home/me/a.c", "", WR_PATH_MAYBE},
        {"home and another file", "~/a.c", "/home/me/b.c", "", WR_PATH_DIFFERENT},
        {"home twice", "~/x/../a.c", "~/a.c", "", WR_PATH_SAME},
        {"above the directory twice", "../a", "../a", "", WR_PATH_SAME},
        {"above the directory, another depth", "../../a", "../a", "", WR_PATH_MAYBE},
        {"above it on one side only", "../a", "b/a", "", WR_PATH_DIFFERENT},
    };
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (int swap = 0; swap < 2; swap++) {
            weir_span a = wr_span_of(swap ? cases[i].b : cases[i].a),
                      b = wr_span_of(swap ? cases[i].a : cases[i].b);
            enum wr_path_relation got = wr_path_compare(a, b, wr_span_of(cases[i].cwd));
            if (got != cases[i].want)
                print_message("%s (swapped: %d): %d\n", cases[i].behaviour, swap, (int)got);
            assert_int_equal(got, cases[i].want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joining_normalises),
        cmocka_unit_test(comparing_knows_what_it_cannot_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
