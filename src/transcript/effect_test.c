#include "transcript/effect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"

/* ---- lines ---- */

/* Every slice of every range is compared with what cutting a real file of many lengths leaves. */

static const int64_t numbers[] = {1, 2, 3, 5, 8, 12, -1, -2, -3, -6, -10};
enum { NUMBERS = WR_COUNT_OF(numbers), LONG_LINES = 400 };

struct cut {
    int64_t first, last; /* lines of the file; last < first: none */
};

/* What a program prints of the lines in `of`. */
static struct cut cut_lines(struct cut of, struct wr_lines lines)
{
    int64_t count = of.last - of.first + 1;
    int64_t start = lines.start > 0 ? lines.start : count + 1 + lines.start;
    int64_t end = lines.end > 0 ? lines.end : count + 1 + lines.end;
    start = start < 1 ? 1 : start;
    end = end > count ? count : end;
    if (count < 1 || start > end)
        return (struct cut){1, 0};
    return (struct cut){of.first + start - 1, of.first + end - 1};
}

static bool same_cut(struct cut a, struct cut b)
{
    bool none_a = a.last < a.first, none_b = b.last < b.first;
    return none_a || none_b ? none_a == none_b : a.first == b.first && a.last == b.last;
}

static void check(struct wr_lines of, struct wr_lines slice)
{
    struct wr_lines got = wr_lines_slice(of, slice);
    if (!got.start)
        return;
    for (int64_t n = got.if_long ? LONG_LINES : 0; n <= LONG_LINES; n = n < 30 ? n + 1 : n + 370) {
        struct cut file = {1, n};
        struct cut want = cut_lines(cut_lines(file, of), slice), is = cut_lines(file, got);
        if (!same_cut(want, is))
            print_message("%lld..%lld of %lld..%lld of %lld lines: %lld..%lld is lines %lld to "
                          "%lld, not %lld to %lld\n",
                          (long long)slice.start, (long long)slice.end, (long long)of.start,
                          (long long)of.end, (long long)n, (long long)got.start, (long long)got.end,
                          (long long)is.first, (long long)is.last, (long long)want.first,
                          (long long)want.last);
        assert_true(same_cut(want, is));
    }
}

static void slices_agree_with_cutting_a_file(void **state)
{
    (void)state;
    for (int a = 0; a < NUMBERS; a++)
        for (int b = 0; b < NUMBERS; b++)
            for (int f = 0; f < NUMBERS; f++)
                for (int t = 0; t < NUMBERS; t++)
                    check((struct wr_lines){numbers[a], numbers[b], false},
                          (struct wr_lines){numbers[f], numbers[t], false});
}

static void what_can_be_told_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *behaviour;
        struct wr_lines of, slice, want;
    } cases[] = {
        {"the first lines of a middle part", {40, 80, false}, {1, 5, false}, {40, 44, false}},
        {"the last lines of a part that ends by number",
         {1, 200, false},
         {-20, -1, false},
         {181, 200, true}},
        {"from a line on, of the first lines",
         {1, 300, false},
         {250, -1, false},
         {250, 300, false}},
        {"last lines of last lines", {-50, -1, false}, {-5, -1, false}, {-5, -1, false}},
        {"first lines of last lines", {-50, -1, false}, {1, 5, false}, {-50, -46, true}},
        {"all but the last of all", {1, -1, false}, {1, -2, false}, {1, -2, false}},
        {"more than there is", {10, 20, false}, {1, 100, false}, {10, 20, false}},
        {"nothing", {10, 20, false}, {15, 30, false}, {0, 0, false}},
        {"of what is not known", {0, 0, false}, {1, 5, false}, {0, 0, false}},
        {"a count that is not known", {1, -1, false}, {1, 0, false}, {0, 0, false}},
    };
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_lines got = wr_lines_slice(cases[i].of, cases[i].slice);
        bool right = got.start == cases[i].want.start && got.end == cases[i].want.end &&
                     got.if_long == cases[i].want.if_long;
        if (!right)
            print_message("%s: got %lld..%lld%s\n", cases[i].behaviour, (long long)got.start,
                          (long long)got.end, got.if_long ? "~" : "");
        assert_true(right);
    }
}

/* ---- patch ---- */

static const struct {
    const char *behaviour, *patch, *want; /* e edit, w write, each with its path */
} cases[] = {
    {"no patch", "hello\nworld", ""},
    {"every marker",
     "*** Begin Patch\n*** Update File: a.c\n@@\n-x\n+y\n*** Add File: b/c d.c\n+z\n*** Delete "
     "File: e.c\n",
     "e a.c;w b/c d.c;w e.c;"},
    {"a file that moves comes twice", "*** Update File: a.c\n*** Move to: b.c\n", "e a.c;w b.c;"},
    {"line ends of Windows", "*** Update File: a.c\r\n@@\r\n", "e a.c;"},
    {"a marker inside a line is text", "+*** Update File: a.c\n *** Update File: b.c\n", ""},
    {"a unified diff", "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n",
     "e x.c;"},
    {"no prefixes, with dates", "--- x.c\t2026-01-01\n+++ x.c\t2026-01-02\n@@ -1 +1 @@\n",
     "e x.c;"},
    {"a new file", "--- /dev/null\n+++ b/x.c\n@@ -0,0 +1 @@\n+a\n", "w x.c;"},
    {"a removed file", "--- a/x.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "w x.c;"},
    {"an added line of pluses is no file", "--- a/x.c\n+++ b/x.c\n@@ -1 +2 @@\n a\n+++ b\n",
     "e x.c;"},
    {"nothing behind the marker", "*** Update File:\n*** Update File:   \n", ""},
};

static void patches_name_their_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_buf got;
        struct wr_patch patch;
        struct wr_patch_file file;
        wr_buf_init(&got, 1 << 16);
        wr_patch_init(&patch, wr_span_of(cases[i].patch));
        while (wr_patch_next(&patch, &file))
            wr_buf_printf(&got, "%c %.*s;", file.kind == WR_EFFECT_EDIT ? 'e' : 'w',
                          (int)file.path.len, file.path.ptr);
        if (!wr_span_is(wr_buf_view(&got), cases[i].want))
            print_message("%s: %.*s\n", cases[i].behaviour, (int)got.len, got.bytes);
        assert_true(wr_span_is(wr_buf_view(&got), cases[i].want));
        wr_buf_release(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_agree_with_cutting_a_file),
        cmocka_unit_test(what_can_be_told_is_told),
        cmocka_unit_test(patches_name_their_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
