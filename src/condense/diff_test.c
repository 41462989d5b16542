#include "base/ascii.h"
#include "tests/condense_rows.h"

#define MARK "\xe2\x80\xa6"
#define HEAD(path)                       \
    "diff --git a/" path " b/" path "\n" \
    "index 8189eb14..b1ee0ef9 100644\n"  \
    "--- a/" path "\n"                   \
    "+++ b/" path "\n"
#define SHORT_HEAD(path) "diff --git a/" path " b/" path "\nindex " MARK "\n---\n+++\n"
#define SAME                                             \
    " \tif (request->is_done && !request->has_failed)\n" \
    " \t\treturn request->answer;\n"                     \
    " \trequest->attempts_count++;\n"

#define FILLER                                               \
    "+one line of the hunk, rather long, that says little\n" \
    "+another line of the hunk, rather long, that says little\n"

static const struct form_case ROWS[] = {
    {"what fits is not touched", HEAD("a.c") "@@ -1 +1 @@\n-a\n+b\n", 1000, NULL, NULL,
     HEAD("a.c") "@@ -1 +1 @@\n-a\n+b\n"},
    {"changed lines come before the lines around them",
     HEAD("src/proxy/answer.c") "@@ -1,7 +1,7 @@ answer\n" SAME "-\twait_ms(request->delay_ms);\n"
                                "+\twait_ms(request->delay_ms + jitter_ms);\n" SAME,
     250, NULL, NULL,
     SHORT_HEAD("src/proxy/answer.c") "@@ -1,7 +1,7 @@ answer\n"
                                      "[... 3 lines left out: 6-8]\n"
                                      "-\twait_ms(request->delay_ms);\n"
                                      "+\twait_ms(request->delay_ms + jitter_ms);\n"
                                      "[... 3 lines left out: 11-13]\n"},
    {"every header stays, whatever the budget",
     HEAD("src/proxy/answer.c") "@@ -1,6 +1,6 @@ one\n" SAME SAME "@@ -90,3 +90,3 @@ two\n" SAME, 1,
     NULL, NULL,
     SHORT_HEAD("src/proxy/answer.c") "@@ -1,6 +1,6 @@ one\n"
                                      "[... 6 lines left out: 6-11]\n"
                                      "@@ -90,3 +90,3 @@ two\n"
                                      "[... 3 lines left out: 13-15]\n"},
    {"no hunk starves the others",
     HEAD("a.c") "@@ -1,1 +1,6 @@\n"
                 "+first line of the first hunk, rather long\n"
                 "+second line of the first hunk, rather long\n"
                 "+third line of the first hunk, rather long\n"
                 "+fourth line of the first hunk, rather long\n"
                 "@@ -90,1 +95,4 @@\n"
                 "+first line of the second hunk, rather long\n"
                 "+second line of the second hunk, rather long\n"
                 "+third line of the second hunk, rather long\n",
     345, NULL, NULL,
     SHORT_HEAD("a.c") "@@ -1,1 +1,6 @@\n"
                       "+first line of the first hunk, rather long\n"
                       "+second line of the first hunk, rather long\n"
                       "[... 2 lines left out: 8-9]\n"
                       "@@ -90,1 +95,4 @@\n"
                       "+first line of the second hunk, rather long\n"
                       "+second line of the second hunk, rather long\n"
                       "[... 1 line left out: 13]\n"},
    {"a changed line with a word that matters stays",
     HEAD("a.c") "@@ -1,1 +1,9 @@\n" FILLER FILLER
                 "+int retry_budget = read_retry_budget(configuration);\n" FILLER FILLER,
     320, NULL, "retry_budget",
     SHORT_HEAD("a.c") "@@ -1,1 +1,9 @@\n"
                       "+one line of the hunk, rather long, that says little\n"
                       "+another line of the hunk, rather long, that says little\n"
                       "[... 2 lines left out: 8-9]\n"
                       "+int retry_budget = read_retry_budget(configuration);\n"
                       "[... 4 lines left out: 11-14]\n"},
    {"names that differ stay: new, renamed and binary files",
     "diff --git a/new.c b/new.c\nnew file mode 100644\nindex 0000000..b1ee0ef\n--- /dev/null\n"
     "+++ b/new.c\n@@ -0,0 +1,3 @@\n"
     "+one line of a new file that is long enough\n"
     "+another line of a new file that is long enough\n"
     "+a third line of a new file that is long enough\n"
     "diff --git a/old.c b/moved.c\nsimilarity index 97%\nrename from old.c\nrename to moved.c\n"
     "diff --git a/logo.png b/logo.png\nindex 3164df7..5c1a875 100644\n"
     "Binary files a/logo.png and b/logo.png differ\n",
     10, NULL, NULL,
     "diff --git a/new.c b/new.c\nnew file mode 100644\nindex 0000000..b1ee0ef\n--- /dev/null\n"
     "+++ b/new.c\n@@ -0,0 +1,3 @@\n"
     "[... 3 lines left out: 7-9]\n"
     "diff --git a/old.c b/moved.c\nsimilarity index 97%\nrename from old.c\nrename to moved.c\n"
     "diff --git a/logo.png b/logo.png\nindex 3164df7..5c1a875 100644\n"
     "Binary files a/logo.png and b/logo.png differ\n"},
    {"a combined diff has a sign for each parent",
     "diff --cc a.c\nindex 1..2,3..4\n--- a/a.c\n+++ b/a.c\n@@@ -1,3 -1,3 +1,4 @@@\n"
     "  an unchanged line that is long enough to be left out\n"
     "  another unchanged line that is long enough to be left out\n"
     " +a line from one side\n"
     "++a line of the merge\n"
     "  an unchanged line that is long enough to be left out\n",
     240, NULL, NULL,
     "diff --cc a.c\nindex 1..2,3..4\n--- a/a.c\n+++ b/a.c\n@@@ -1,3 -1,3 +1,4 @@@\n"
     "[... 2 lines left out: 6-7]\n"
     " +a line from one side\n"
     "++a line of the merge\n"
     "[... 1 line left out: 10]\n"},
    {"files that tools write come last",
     HEAD("package-lock.json") "@@ -1,2 +1,3 @@\n"
                               "+      \"integrity\": \"sha512-abcdefghijklmnopqrstuvwxyz\",\n"
                               "+      \"resolved\": \"abcdefghijklmnopqrstuvwxyz\",\n" HEAD(
                                   "a.c") "@@ -1,1 +1,2 @@\n"
                                          "+int a_new_variable_with_a_long_name = 1;\n"
                                          "+int another_new_variable_with_a_long_name = 2;\n",
     300, NULL, NULL,
     SHORT_HEAD(
         "package-lock.json") "@@ -1,2 +1,3 @@\n"
                              "[... 2 lines left out: 6-7]\n" SHORT_HEAD(
                                  "a.c") "@@ -1,1 +1,2 @@\n"
                                         "+int a_new_variable_with_a_long_name = 1;\n"
                                         "+int another_new_variable_with_a_long_name = 2;\n"},
};

static void diffs_are_condensed(void **state)
{
    (void)state;
    form_case_rows(ROWS, WR_COUNT_OF(ROWS), wr_condense_diff, WR_OUTPUT_DIFF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(diffs_are_condensed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
