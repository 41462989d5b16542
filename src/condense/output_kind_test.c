#include "condense/output_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/buf.h"

/* ---- kind ---- */

#define RECORD     "{\"id\":1,\"name\":\"a\"},"
#define RECORDS_10 RECORD RECORD RECORD RECORD RECORD RECORD RECORD RECORD RECORD RECORD
#define RECORDS_70 RECORDS_10 RECORDS_10 RECORDS_10 RECORDS_10 RECORDS_10 RECORDS_10 RECORDS_10
#define LONG_JSON  "[" RECORDS_70 "{\"id\":2}]"
#define LINES_10   "1,\n2,\n3,\n4,\n5,\n6,\n7,\n8,\n9,\n10,\n"
#define LINES_80   LINES_10 LINES_10 LINES_10 LINES_10 LINES_10 LINES_10 LINES_10 LINES_10

static void a_command_tells(void **state)
{
    static const struct {
        const char *command;
        enum wr_output_kind kind;
    } rows[] = {
        {"cat src/a.c", WR_OUTPUT_FILE},
        {"sed -n '1,20p' a.c", WR_OUTPUT_FILE},
        {"cd /x && sed -n '1,20p' a.c", WR_OUTPUT_FILE},
        {"nl -ba a.c | sed -n '1,20p'", WR_OUTPUT_FILE},
        {"cat a.c | grep -n foo", WR_OUTPUT_FILE},
        {"sed -i s/a/b/ a.c", WR_OUTPUT_PROCESS},
        {"tail -100 app.log", WR_OUTPUT_LOG},
        {"cat out/results.csv", WR_OUTPUT_LOG},
        {"head -50 events.jsonl", WR_OUTPUT_LOG},
        {"cat nohup.out", WR_OUTPUT_LOG},
        {"git show HEAD:src/a.c", WR_OUTPUT_FILE},
        {"git show HEAD", WR_OUTPUT_DIFF},
        {"git -C /x diff -- a.c", WR_OUTPUT_DIFF},
        {"git diff --stat", WR_OUTPUT_LIST},
        {"git log --oneline", WR_OUTPUT_PROCESS},
        {"git log -p -3", WR_OUTPUT_DIFF},
        {"git status", WR_OUTPUT_PROCESS},
        {"gh pr diff 12", WR_OUTPUT_DIFF},
        {"rg -n 'error|failed' src", WR_OUTPUT_SEARCH},
        {"grep -rn \"a;b\" . 2>/dev/null | head -20", WR_OUTPUT_SEARCH},
        {"rg -l foo", WR_OUTPUT_LIST},
        {"find . -name '*.c' | xargs grep -n foo", WR_OUTPUT_SEARCH},
        {"find . -name x -exec cat {} +", WR_OUTPUT_PROCESS},
        {"ls -la && find . -type f | head", WR_OUTPUT_LIST},
        {"make -j4 2>&1 | tail -50", WR_OUTPUT_PROCESS},
        {"make | grep error", WR_OUTPUT_PROCESS},
        {"make test", WR_OUTPUT_TEST},
        {"pytest -x tests 2>&1 | tail -5", WR_OUTPUT_TEST},
        {"python -m pytest -q", WR_OUTPUT_TEST},
        {"FOO=1 timeout 60 cargo test --lib", WR_OUTPUT_TEST},
        {"cargo check", WR_OUTPUT_PROCESS},
        {"npm run test:unit", WR_OUTPUT_TEST},
        {"npx vitest run", WR_OUTPUT_TEST},
        {"docker compose logs web", WR_OUTPUT_LOG},
        {"journalctl -u x", WR_OUTPUT_LOG},
        {"bash -lc 'cat a.c'", WR_OUTPUT_FILE},
        {"bash -lc 'cat a.c' && make", WR_OUTPUT_PROCESS},
        {"cat a.c; make", WR_OUTPUT_PROCESS},
        {"cat a.c && rg -n x", WR_OUTPUT_PROCESS},
        {"cat > a.sh <<'EOF'\nls\nEOF", WR_OUTPUT_PROCESS},
        {"echo hi", WR_OUTPUT_PROCESS},
        {"", WR_OUTPUT_PROCESS},
        {"'unclosed", WR_OUTPUT_PROCESS},
    };
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        enum wr_output_kind kind = wr_output_kind_of_command(wr_span_of(rows[i].command));
        if (kind != rows[i].kind) {
            print_error("%s: %s, not %s\n", rows[i].command, wr_output_kind_text(kind),
                        wr_output_kind_text(rows[i].kind));
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void a_text_tells(void **state)
{
    static const struct {
        const char *behaviour, *text;
        enum wr_output_kind kind;
    } rows[] = {
        {"an object", "{\"a\": 1}\n", WR_OUTPUT_JSON},
        {"an array", " [1, 2]\n", WR_OUTPUT_JSON},
        {"an object behind a tool's header", "Exit code: 0\nWall time: 1 s\nOutput:\n{\"a\":1}\n",
         WR_OUTPUT_JSON},
        {"braces are not enough", "{foo}\n", WR_OUTPUT_PROCESS},
        {"a level in brackets is no array", "[ERROR] x [y]\n", WR_OUTPUT_PROCESS},
        {"a diff", "diff --git a/x b/x\n", WR_OUTPUT_DIFF},
        {"a log", "2024-01-02 03:04:05 a\n2024-01-02 03:04:06 b\n2024-01-02 03:04:07 c\n",
         WR_OUTPUT_LOG},
        {"tests", "=== RUN   TestX\n", WR_OUTPUT_TEST},
        {"text", "hello world\n", WR_OUTPUT_PROCESS},
        {"nothing", "", WR_OUTPUT_PROCESS},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_output_kind_sniff(wr_span_of(rows[i].text)) != rows[i].kind)
            fail_msg("%s", rows[i].behaviour);
    char blob[400];
    memset(blob, 'A', sizeof(blob));
    assert_int_equal(wr_output_kind_sniff((weir_span){blob, sizeof(blob)}), WR_OUTPUT_BLOB);
    assert_int_equal(wr_output_kind_sniff(WR_LIT("a\0b")), WR_OUTPUT_BLOB);
}

static void the_tool_comes_first(void **state)
{
    static const struct {
        const char *behaviour;
        struct wr_output_hint hint;
        const char *text;
        enum wr_output_kind kind;
    } rows[] = {
        {"a read is a file",
         {WR_ORIGIN_READ, {"", 0}, {"a.json", 6}},
         "{\"error\":1}",
         WR_OUTPUT_FILE},
        {"a read of JSON on one long line is JSON",
         {WR_ORIGIN_READ, {"", 0}, {"a.json", 6}},
         LONG_JSON "\n",
         WR_OUTPUT_JSON},
        {"also of one that was cut off",
         {WR_ORIGIN_READ, {"", 0}, {"a.jsonl", 7}},
         "[" RECORDS_70 "{\"id\":1",
         WR_OUTPUT_JSON},
        {"on lines of ordinary length it is a file",
         {WR_ORIGIN_READ, {"", 0}, {"a.json", 6}},
         "[\n" LINES_80 "1\n]\n",
         WR_OUTPUT_FILE},
        {"what is said of a change is never JSON",
         {WR_ORIGIN_CHANGE, {"", 0}, {"a.json", 6}},
         LONG_JSON,
         WR_OUTPUT_FILE},
        {"a read of a log is a log", {WR_ORIGIN_READ, {"", 0}, {"a.log", 5}}, "x", WR_OUTPUT_LOG},
        {"a read of a table is one", {WR_ORIGIN_READ, {"", 0}, {"a.csv", 5}}, "x", WR_OUTPUT_LOG},
        {"a search is a search", {WR_ORIGIN_SEARCH, {"", 0}, {"", 0}}, "{}", WR_OUTPUT_SEARCH},
        {"a fetch is prose", {WR_ORIGIN_FETCH, {"", 0}, {"", 0}}, "words", WR_OUTPUT_PROSE},
        {"or JSON", {WR_ORIGIN_FETCH, {"", 0}, {"", 0}}, "{}", WR_OUTPUT_JSON},
        {"a command that prints JSON",
         {WR_ORIGIN_RUN, {"curl x", 6}, {"", 0}},
         "{}",
         WR_OUTPUT_JSON},
        {"a command that prints a file is believed",
         {WR_ORIGIN_RUN, {"cat x", 5}, {"", 0}},
         "{}",
         WR_OUTPUT_FILE},
        {"a command's text does not make it a blob",
         {WR_ORIGIN_RUN, {"./x", 3}, {"", 0}},
         "diff --git a b",
         WR_OUTPUT_PROCESS},
        {"JSON behind a tool's header is JSON",
         {WR_ORIGIN_FETCH, {"", 0}, {"", 0}},
         "Wall time: 1 seconds\nOutput:\n{\"a\":1}",
         WR_OUTPUT_JSON},
        {"JSON that is cut off is JSON",
         {WR_ORIGIN_RUN, {"x | head -c 60", 14}, {"", 0}},
         "[{\"id\": 1, \"name\": \"one\", \"size\": 7}, {\"id\": 2, \"na",
         WR_OUTPUT_JSON},
        {"but not with a complaint behind it",
         {WR_ORIGIN_RUN, {"x", 1}, {"", 0}},
         "[{\"id\": 1, \"name\": \"one\", \"size\": 7},\nerror: no such item\n",
         WR_OUTPUT_PROCESS},
        {"nor where it has no keys",
         {WR_ORIGIN_RUN, {"x", 1}, {"", 0}},
         "[\"a\" is done]\n\"b\" goes on",
         WR_OUTPUT_PROCESS},
        {"a file of another revision is a file",
         {WR_ORIGIN_DIFF, {"git show HEAD~3:src/a.c", 23}, {"", 0}},
         "int a;",
         WR_OUTPUT_FILE},
        {"the files of a diff are a list",
         {WR_ORIGIN_DIFF, {"git diff --stat", 15}, {"", 0}},
         " a.c | 2 +-",
         WR_OUTPUT_LIST},
        {"a diff is a diff", {WR_ORIGIN_DIFF, {"git diff HEAD", 13}, {"", 0}}, "", WR_OUTPUT_DIFF},
        {"an edit says little", {WR_ORIGIN_CHANGE, {"", 0}, {"", 0}}, "done", WR_OUTPUT_FILE},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_output_kind(&rows[i].hint, wr_span_of(rows[i].text)) != rows[i].kind)
            fail_msg("%s", rows[i].behaviour);
}

/* ---- data ---- */

enum { ROWS = 40 };

static const char prose[] = "Here is what the parts of it do, and why.\n"
                            "First read the chapter on errors.\n"
                            "Then build it; see below.\n"
                            "An error of the parser is told with its line.\n";
static const char source[] = "int main(void)\n{\n    if (failed())\n        return error(12);\n}\n";

/* `row` ROWS times, '~' for the number of each. */
static const struct {
    const char *behaviour, *path, *front, *row;
    enum wr_output_kind kind;
} rows[] = {
    {"a table by its name", "r.csv", "", "x", WR_OUTPUT_LOG},
    {"records by their name", "e.jsonl", "", "{}", WR_OUTPUT_LOG},
    {"what nohup wrote", "nohup.out", "", "x", WR_OUTPUT_LOG},
    {"text of rows that are alike", "b.txt", "", "step ~ finished in ~s\n", WR_OUTPUT_LOG},
    {"text with numbers before its lines", "b.txt", "", "  ~\tstep ~ finished in ~s\n",
     WR_OUTPUT_LOG},
    {"text that may be anybody's", "b.txt", "", prose, WR_OUTPUT_PROCESS},
    {"a page that is a table", "r.md", "| job | state |\n|---|---|\n", "| job~ | ok |\n",
     WR_OUTPUT_LOG},
    {"a page", "r.md", "", prose, WR_OUTPUT_FILE},
    {"a page with a small table", "r.md", "| job | state |\n|---|---|\n| a | ok |\n", prose,
     WR_OUTPUT_FILE},
    {"a report of tests", "t.xml", "<?xml version=\"1.0\"?>\n<testsuite tests=\"40\">\n",
     "  <testcase name=\"t~\"/>\n", WR_OUTPUT_LOG},
    {"other XML", "pom.xml", "<project>\n", "  <module>m~</module>\n", WR_OUTPUT_FILE},
    {"lines with times, whatever the name", "x.json", "", "2026-01-02T03:04:05 INFO served ~\n",
     WR_OUTPUT_LOG},
    {"lines with times behind numbers", "x", "", "~\t2026-01-02T03:04:05 INFO served ~\n",
     WR_OUTPUT_LOG},
    {"source", "a.c", "", source, WR_OUTPUT_FILE},
    {"source of lines alike", "table.c", "", "    {~, \"error\"},\n", WR_OUTPUT_FILE},
    {"numbered source of lines alike", "table.c", "", "~\tint f~(void);\n", WR_OUTPUT_FILE},
    {"a build file that is called text", "lib/CMakeLists.txt", "", "add(x~)\n", WR_OUTPUT_FILE},
    {"no name", "", "", source, WR_OUTPUT_FILE},
};

static void files_are_told_by_name_and_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_buf text;
        wr_buf_init(&text, 1 << 20);
        wr_buf_text(&text, rows[i].front);
        for (int n = 1; n <= ROWS; n++)
            for (const char *c = rows[i].row; *c; c++) {
                if (*c == '~')
                    wr_buf_printf(&text, "%d", n);
                else
                    wr_buf_byte(&text, *c);
            }
        enum wr_output_kind kind =
            wr_output_kind_of_file(wr_span_of(rows[i].path), wr_buf_view(&text));
        if (kind != rows[i].kind)
            fail_msg("%s: %s", rows[i].behaviour, wr_output_kind_text(kind));
        wr_buf_release(&text);
    }
}

static void nothing_is_a_file(void **state)
{
    (void)state;
    assert_int_equal(wr_output_kind_of_file(WR_LIT("a.c"), WR_LIT("")), WR_OUTPUT_FILE);
    assert_int_equal(wr_output_kind_of_file(WR_LIT(""), WR_LIT("\n\n")), WR_OUTPUT_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_tells),      cmocka_unit_test(a_text_tells),
        cmocka_unit_test(the_tool_comes_first), cmocka_unit_test(files_are_told_by_name_and_rows),
        cmocka_unit_test(nothing_is_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
