#include "lab/evidence_words.h"

#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"

/* Runs as `path`, `hyphenated-name` or the words in them: p(path) h(name) i(identifier) w(word). */
static const struct {
    const char *behaviour, *text, *expected;
} runs[] = {
    {"a path with a slash and an ending", "see src/base/arena.c.", "p(src/base/arena.c)"},
    {"a name with an ending is a path", "open span_test.c now", "p(span_test.c)"},
    {"folders are paths from three names on", "in a/bb/ccc", "p(a/bb/ccc)"},
    {"a leading ./ is no part of it", "./tools/lint.sh", "p(tools/lint.sh)"},
    {"alternatives are no paths", "and/or read/write", ""},
    {"a slash command is no path", "type /compact", ""},
    {"a folder with a digit is one", "lib/v2", "p(lib/v2)"},
    {"with an underscore", "call wr_arena_alloc(x)", "i(wr_arena_alloc)"},
    {"with a capital inside", "new ArenaChunk();", "i(ArenaChunk)"},
    {"a hash", "commit 9fceb02d0ae5", "i(9fceb02d0ae5)"},
    {"words of prose are none", "everything considered Reasonable COMPLETE", ""},
    {"short names are none", "x_y foo_bar", ""},
    {"numbers are none", "123456789012", ""},
    {"names with hyphens", "better-sqlite3 fix-openai-codex up-to-date",
     "h(better-sqlite3)h(fix-openai-codex)"},
};

static void describe_run(weir_span run, struct wr_buf *out)
{
    weir_span word;
    size_t at = 0;
    if (wr_run_is_path(run) || wr_run_is_hyphenated(run)) {
        wr_buf_printf(out, "%c(%.*s)", wr_run_is_path(run) ? 'p' : 'h', (int)run.len, run.ptr);
        return;
    }
    while (wr_run_word(run, &at, &word))
        if (wr_word_is_identifier(word))
            wr_buf_printf(out, "i(%.*s)", (int)word.len, word.ptr);
}

static void runs_are_told_apart(void **state)
{
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(runs); i++) {
        struct wr_buf out;
        weir_span text = wr_span_of(runs[i].text), run;
        size_t at = 0;
        wr_buf_init(&out, 4096);
        while (wr_run_next(text, &at, &run))
            describe_run(run, &out);
        if (!wr_span_is(wr_buf_view(&out), runs[i].expected)) {
            printf("FAILED: %s: %.*s\n", runs[i].behaviour, (int)out.len, out.bytes);
            failed++;
        }
        wr_buf_release(&out);
    }
    assert_int_equal(failed, 0);
}

static const struct {
    const char *behaviour, *line, *expected; /* cores, each in [] */
} lines[] = {
    {"a line is trimmed", "   return wr_arena_status(arena);", "[return wr_arena_status(arena);]"},
    {"a short one is none", "   return arena;", ""},
    {"a ruler is none", "--------------------------", ""},
    {"behind a number and an arrow", "    12→int wr_run_next(void);",
     "[12→int wr_run_next(void);][int wr_run_next(void);]"},
    {"behind a number and a tab", "12\tint wr_run_next(void);",
     "[12\tint wr_run_next(void);][int wr_run_next(void);]"},
    {"behind a place", "src/a/b.c:12:int wr_run_next(void);",
     "[src/a/b.c:12:int wr_run_next(void);][int wr_run_next(void);]"},
    {"behind a place of the lines around a match", "src/a/b.c-12-int wr_run_next(void);",
     "[src/a/b.c-12-int wr_run_next(void);][int wr_run_next(void);]"},
    {"behind the sign of a diff", "-  int wr_run_next(void);",
     "[-  int wr_run_next(void);][int wr_run_next(void);]"},
};

static void lines_lose_what_tools_put_before_them(void **state)
{
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++) {
        weir_span cores[WR_EVIDENCE_CORES_MAX];
        struct wr_buf out;
        wr_buf_init(&out, 4096);
        uint32_t count = wr_line_cores(wr_span_of(lines[i].line), cores);
        for (uint32_t n = 0; n < count; n++)
            wr_buf_printf(&out, "[%.*s]", (int)cores[n].len, cores[n].ptr);
        if (!wr_span_is(wr_buf_view(&out), lines[i].expected)) {
            printf("FAILED: %s: %.*s\n", lines[i].behaviour, (int)out.len, out.bytes);
            failed++;
        }
        wr_buf_release(&out);
    }
    assert_int_equal(failed, 0);
}

static void a_path_is_shortened_from_its_front(void **state)
{
    weir_span path = wr_span_of("/repo/src/a.c");
    (void)state;
    assert_true(wr_run_path_shorten(&path));
    assert_true(wr_span_is(path, "repo/src/a.c"));
    assert_true(wr_run_path_shorten(&path) && wr_run_path_shorten(&path));
    assert_true(wr_span_is(path, "a.c"));
    assert_false(wr_run_path_shorten(&path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_told_apart),
        cmocka_unit_test(lines_lose_what_tools_put_before_them),
        cmocka_unit_test(a_path_is_shortened_from_its_front),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
