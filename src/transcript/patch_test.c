#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transcript/patch.h"

#include "base/buf.h"
#include "base/span.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(patches_name_their_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
