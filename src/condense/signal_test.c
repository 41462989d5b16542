#include "condense/signal.h"

#include <stdlib.h>

#include "base/buf.h"
#include "tests/signal_check.h"

static const struct signal_case search_results_rows[] = {
    {"path and line", WR_OUTPUT_SEARCH, "src/a.c:12:int error;\nsrc/a.c:20:  x\n",
     "L:src/a.c:12 | L:src/a.c:20"},
    {"the text found is no error", WR_OUTPUT_SEARCH, "a.py:3:raise ValueError('failed')\n",
     "L:a.py:3"},
    {"a column is text", WR_OUTPUT_SEARCH, "a.c:3:7:x\n", "L:a.c:3"},
    {"below a heading", WR_OUTPUT_SEARCH, "src/a.c\n12:x\n20:y\n\nsrc/b.c\n12:z\n",
     "L:src/a.c:12 | L:src/a.c:20 | L:src/b.c:12"},
    {"lines around a match are none", WR_OUTPUT_SEARCH, "src/a.c-11-x\nsrc/a.c:12:y\n--\n",
     "L:src/a.c:12"},
    {"heading with a colon, rows with a word", WR_OUTPUT_SEARCH,
     "Found 1 matches\n/a/b.c:\n  Line 12: x\n", "L:/a/b.c:12"},
    {"heading with a word, rows with a letter", WR_OUTPUT_SEARCH, "File: a/b.c\nL12: x\n---\n",
     "L:a/b.c:12"},
    {"without numbers", WR_OUTPUT_SEARCH, "src/a.c:int x;\n", "L:src/a.c"},
    {"one file, numbers only", WR_OUTPUT_SEARCH, "12:x\n", "L::12"},
    {"what the tool says of itself", WR_OUTPUT_SEARCH,
     "rg: x: No such file or directory (os error 2)\n",
     "E:rg: x: No such file or directory (os error 2)"},
    {"its exit code", WR_OUTPUT_SEARCH, "Exit code 2\nrg: regex parse error:\n",
     "X:2 | E:rg: regex parse error:"},
};

static void search_results(void **state)
{
    (void)state;
    signal_check(search_results_rows, WR_COUNT_OF(search_results_rows));
}

static const struct signal_case diffs_rows[] = {
    {"git", WR_OUTPUT_DIFF,
     "diff --git a/src/a.c b/src/a.c\nindex 1..2 100644\n--- a/src/a.c\n+++ b/src/a.c\n@@ -1,3 "
     "+1,4 @@ int f(void)\n x\n+error: y\n-z\n",
     "F:src/a.c | H:src/a.c -1,3 +1,4"},
    {"plain", WR_OUTPUT_DIFF, "--- a.c\t2024-01-01\n+++ b.c\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n",
     "F:b.c | H:b.c -1 +1"},
    {"hunks belong to their file", WR_OUTPUT_DIFF,
     "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n@@ -1 +1 @@\n-a\n+b\n",
     "F:x | H:x -1 +1 | F:y | H:y -1 +1"},
    {"combined", WR_OUTPUT_DIFF,
     "diff --cc a.c\nindex 1,2..3\n--- a/a.c\n+++ b/a.c\n@@@ -1,2 -1,2 +1,3 @@@\n++x\n",
     "F:a.c | H:a.c -1,2 -1,2 +1,3"},
    {"renamed", WR_OUTPUT_DIFF,
     "diff --git a/old.c b/new.c\nsimilarity index 100%\nrename from old.c\nrename to new.c\n",
     "F:new.c"},
    {"removed", WR_OUTPUT_DIFF, "--- a/x.c\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
     "F:x.c | H:x.c -1,2 +0,0"},
    {"a removed line that looks like a header", WR_OUTPUT_DIFF,
     "diff --git a/x b/x\n@@ -1 +1 @@\n--- old comment\n+new\n", "F:x | H:x -1 +1"},
    {"binary", WR_OUTPUT_DIFF, "Binary files a/x.png and b/x.png differ\n",
     "F:Binary files a/x.png and b/x.png differ"},
    {"patch of an agent", WR_OUTPUT_DIFF,
     "*** Begin Patch\n*** Update File: src/a.c\n@@\n-x\n+y\n*** End Patch\n", "F:src/a.c"},
    {"a blank line of the file that lost its space", WR_OUTPUT_DIFF,
     "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n\n+b\n@@ -9 +9 @@\n", "F:x | H:x -1 +1 | H:x -9 +9"},
    {"errors in the text are none", WR_OUTPUT_DIFF, " error: a\n+FAILED b\n-panic: c\n", ""},
    {"what git says of itself", WR_OUTPUT_DIFF, "fatal: bad revision 'x'\n", "E:bad revision 'x'"},
    {"inside other output", WR_OUTPUT_PROCESS,
     "diff --git a/x b/x\n@@ -1 +1 @@\n-error: a\n+error: b\nerror: c\n", "F:x | H:x -1 +1 | E:c"},
};

static void diffs(void **state)
{
    (void)state;
    signal_check(diffs_rows, WR_COUNT_OF(diffs_rows));
}

static const struct signal_case json_rows[] = {
    {"an error that is a text", WR_OUTPUT_JSON, "{\"error\": \"not found\"}\n", "E:not found"},
    {"an error that is an object", WR_OUTPUT_JSON,
     "{\"error\":{\"message\":\"bad key\",\"type\":\"auth\",\"code\":401}}\n",
     "E:bad key | E:auth | E:401"},
    {"the same over lines", WR_OUTPUT_JSON,
     "{\n  \"error\": {\n    \"message\": \"bad key\"\n  },\n  \"message\": \"hello\"\n}\n",
     "E:bad key"},
    {"a list of errors", WR_OUTPUT_JSON, "{\"errors\": [\"a\", \"b\"], \"tags\": [\"c\"]}\n",
     "E:a | E:b"},
    {"a list of errors over lines", WR_OUTPUT_JSON,
     "{\n  \"errors\": [\n    \"a\"\n  ],\n  \"tags\": [\n    \"c\"\n  ]\n}\n", "E:a"},
    {"no error", WR_OUTPUT_JSON,
     "{\"error\": null, \"errors\": [], \"err\": \"\", \"status\": \"ok\"}\n", ""},
    {"a state", WR_OUTPUT_JSON, "{\"status\":\"failed\"}\n", "E:status\":\"failed"},
    {"a status of HTTP", WR_OUTPUT_JSON, "{\"statusCode\": 404}\n{\"status\": 200}\n",
     "E:statusCode\": 404"},
    {"an exit code", WR_OUTPUT_JSON, "{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}\n", "X:0"},
    {"no success", WR_OUTPUT_JSON, "{\"success\": false}\n", "E:success\": false"},
    {"a text that speaks of errors", WR_OUTPUT_JSON, "{\"title\": \"error: x failed\"}\n", ""},
    {"records of one line are apart", WR_OUTPUT_JSON,
     "[{\"level\":\"error\",\"msg\":\"a\"},{\"level\":\"info\",\"msg\":\"b\"}]\n",
     "E:a | E:level\":\"error"},
    {"in what a command printed", WR_OUTPUT_PROCESS, "{\n  \"error\": \"quota\"\n}\n", "E:quota"},
    {"cut off", WR_OUTPUT_JSON, "{\"error\": \"qu", "E:qu"},
};

static void json(void **state)
{
    (void)state;
    signal_check(json_rows, WR_COUNT_OF(json_rows));
}

static const struct signal_case other_kinds_rows[] = {
    {"a file has no signals of its own", WR_OUTPUT_FILE,
     "error: x\nFAILED y\na.c:1:2: error: z\npanic: w\nexit code 3\n", ""},
    {"the header before it has", WR_OUTPUT_FILE,
     "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nerror: "
     "x\nexit code 3\n",
     "X:0"},
    {"that it could not be read", WR_OUTPUT_FILE, "cat: x: No such file or directory\n",
     "E:cat: x: No such file or directory"},
    {"that the tool refused", WR_OUTPUT_FILE,
     "<tool_use_error>File does not exist.</tool_use_error>\n",
     "E:File does not exist.</tool_use_error>"},
    {"that a patch did not fit", WR_OUTPUT_FILE,
     "apply_patch verification failed: Failed to find expected lines in a.c:\nint a;\n",
     "E:apply_patch verification failed: Failed to find expected lines in a.c:"},
    {"that an edit was taken back", WR_OUTPUT_FILE,
     "Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n- E999\n",
     "E:Your proposed edit has introduced new syntax error(s)."},
    {"that nothing was replaced", WR_OUTPUT_FILE,
     "No replacement was performed, old_str `a` did not appear verbatim in /b.\n",
     "E:No replacement was performed, old_str `a` did not appear verbatim in /b."},
    {"that the user refused", WR_OUTPUT_PROCESS,
     "The user doesn't want to proceed with this tool use. The tool use was rejected.\n",
     "E:The user doesn't want to proceed with this tool use. The tool use was rejected."},
    {"that it was not allowed", WR_OUTPUT_LIST,
     "Permission to use Bash with command ls has been denied.\n",
     "E:Permission to use Bash with command ls has been denied."},
    {"a file that speaks of permissions", WR_OUTPUT_FILE, "Permission to use this is given.\n", ""},
    {"a list", WR_OUTPUT_LIST, "errors.go\nfailed/\nERROR\n", ""},
    {"a list that failed", WR_OUTPUT_LIST, "ls: cannot access 'x': No such file or directory\n",
     "E:ls: cannot access 'x': No such file or directory"},
    {"prose", WR_OUTPUT_PROSE, "An error: nobody saw it coming. It failed.\n", ""},
    {"a blob", WR_OUTPUT_BLOB, "ZXJyb3I6IGZhaWxlZA==\n", ""},
};

static void other_kinds(void **state)
{
    (void)state;
    signal_check(other_kinds_rows, WR_COUNT_OF(other_kinds_rows));
}

/* -- sets -------------------------------------------------------------------------------------- */

struct scanned {
    struct wr_arena arena;
    struct wr_signal_set set;
};

static void scan(struct scanned *scanned, const char *text)
{
    wr_arena_init(&scanned->arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(
        wr_signal_scan(&scanned->set, &scanned->arena, wr_span_of(text), WR_OUTPUT_PROCESS),
        WEIR_OK);
}

static void a_difference_is_named(void **state)
{
    struct scanned a, b;
    struct wr_signal_difference difference;
    (void)state;
    scan(&a, "error: x\nerror: y\nerror: y\nexit code 1\n");
    scan(&b, "error: y\nexit code 1\nexit code 2\n");
    assert_false(wr_signal_set_equal(&a.set, &b.set, &difference));
    assert_true(wr_span_is(difference.missing->text, "x"));
    assert_int_equal(difference.missing->kind, WR_SIGNAL_ERROR);
    assert_true(wr_span_is(difference.added->text, "2"));
    assert_true(wr_signal_set_equal(&a.set, &a.set, &difference));
    assert_null(difference.missing);
    assert_null(difference.added);
    wr_arena_release(&a.arena);
    wr_arena_release(&b.arena);
}

static void how_often_does_not_count(void **state)
{
    struct scanned a, b;
    (void)state;
    scan(&a, "error: x\nerror: x\nerror: x\n");
    scan(&b, "error: x\n");
    assert_true(wr_signal_set_equal(&a.set, &b.set, NULL));
    assert_int_equal(a.set.count, 1);
    assert_int_equal(a.set.lines_count, 1);
    wr_arena_release(&a.arena);
    wr_arena_release(&b.arena);
}

static void lines_are_listed(void **state)
{
    struct scanned a;
    (void)state;
    scan(&a, "a\nthread 'm' panicked at a.rs:1:2:\nboom\nb\n/r/a.ts\nc\n  1:2  error  x\n");
    static const uint32_t expected[] = {1, 2, 4, 6};
    assert_int_equal(a.set.lines_count, 4);
    assert_memory_equal(a.set.lines, expected, sizeof(expected));
    assert_true(wr_signal_set_has_line(&a.set, 4));
    assert_false(wr_signal_set_has_line(&a.set, 5));
    assert_false(wr_signal_set_has_line(&a.set, 7));
    assert_int_equal(a.set.signals[0].first_line, 1);
    assert_int_equal(a.set.signals[0].end_line, 3);
    wr_arena_release(&a.arena);
}

static void many_signals(void **state)
{
    struct wr_buf text;
    struct scanned a;
    (void)state;
    wr_buf_init(&text, 1 << 24);
    for (int i = 0; i < 5000; i++)
        wr_buf_printf(&text, "error: value %d is odd\n", i);
    wr_buf_byte(&text, 0);
    scan(&a, text.bytes);
    assert_int_equal(a.set.count, 5000);
    assert_int_equal(a.set.lines_count, 5000);
    for (uint32_t i = 0; i < a.set.count; i++)
        assert_ptr_equal(wr_signal_set_find(&a.set, WR_SIGNAL_ERROR, a.set.signals[i].text),
                         &a.set.signals[i]);
    assert_null(wr_signal_set_find(&a.set, WR_SIGNAL_WARNING, a.set.signals[0].text));
    wr_arena_release(&a.arena);
    wr_buf_release(&text);
}

static void no_memory_is_said(void **state)
{
    struct wr_arena arena;
    struct wr_signal_set set;
    (void)state;
    wr_arena_init(&arena, 16);
    assert_int_not_equal(wr_signal_scan(&set, &arena, WR_LIT("error: x"), WR_OUTPUT_PROCESS),
                         WEIR_OK);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_results),
        cmocka_unit_test(diffs),
        cmocka_unit_test(json),
        cmocka_unit_test(other_kinds),
        cmocka_unit_test(a_difference_is_named),
        cmocka_unit_test(how_often_does_not_count),
        cmocka_unit_test(lines_are_listed),
        cmocka_unit_test(many_signals),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
