#include "tests/condense_rows.h"

#include "base/ascii.h"
#include "condense/search_line.h"

#define MARK "\xe2\x80\xa6"

static const struct form_case ROWS[] = {
    {"what fits is not touched", "src/a.c:12:int size;\n", 1000, "size", NULL,
     "src/a.c:12:int size;\n"},
    {"lines of one file stand below its path",
     "src/transcript/segment.c:12:struct segment *segment_new(struct arena *arena);\n"
     "src/transcript/segment.c:40:    struct segment *segment = segment_new(arena);\n"
     "src/transcript/turn.c:7:#include \"transcript/segment.h\"\n",
     190, "segment_new", NULL,
     "src/transcript/segment.c\n"
     "12:struct segment *segment_new(struct arena *arena);\n"
     "40:    struct segment *segment = segment_new(arena);\n"
     "src/transcript/turn.c:7:#include \"transcript/segment.h\"\n"},
    {"every place stays, the text is cut around what was sought",
     "docs/plan.md:77:A long paragraph about checkpoints that goes on and on until at last it "
     "names "
     "the worktree that holds them, and then goes on about other things for a while longer.\n"
     "docs/plan.md:80:A short one.\n",
     150, "worktree", NULL,
     "docs/plan.md\n"
     "77:" MARK
     " until at last it names the worktree that holds them, and then goes on about other "
     "things for a while longer.\n"
     "80:A short one.\n"},
    {"without room for all texts, each file has its first",
     "pkg/alpha.go:10:func (s *Store) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "pkg/alpha.go:20:    return s.commit(ctx, opts, time.Now(), s.config.Defaults, nil)\n"
     "pkg/alpha.go:30:    if err := s.Commit(ctx, CommitOptions{Message: message}); err != nil {\n"
     "pkg/beta.go:11:func (s *Other) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "pkg/beta.go:21:    return s.commit(ctx, opts, time.Now(), s.config.Defaults, nil)\n"
     "pkg/beta.go:31:    if err := s.Commit(ctx, CommitOptions{Message: message}); err != nil {\n",
     235, NULL, NULL,
     "pkg/alpha.go\n"
     "10:func (s *Store) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "20:" MARK "\n"
     "30:" MARK "\n"
     "pkg/beta.go\n"
     "11:func (s *Other) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "21:" MARK "\n"
     "31:" MARK "\n"},
    {"without room for all texts, what is left goes to the second of the first files",
     "pkg/alpha.go:10:func (s *Store) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "pkg/alpha.go:20:    return s.commit(ctx, opts, time.Now(), s.config.Defaults, nil)\n"
     "pkg/alpha.go:30:    if err := s.Commit(ctx, CommitOptions{Message: message}); err != nil {\n"
     "pkg/beta.go:11:func (s *Other) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "pkg/beta.go:21:    return s.commit(ctx, opts, time.Now(), s.config.Defaults, nil)\n"
     "pkg/beta.go:31:    if err := s.Commit(ctx, CommitOptions{Message: message}); err != nil {\n",
     310, NULL, NULL,
     "pkg/alpha.go\n"
     "10:func (s *Store) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "20:    return s.commit(ctx, opts, time.Now(), s.config.Defaults, nil)\n"
     "30:" MARK "\n"
     "pkg/beta.go\n"
     "11:func (s *Other) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "21:" MARK "\n"
     "31:" MARK "\n"},
    {"a line with a word that matters keeps its text",
     "pkg/alpha.go:10:func (s *Store) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "pkg/alpha.go:20:    return s.commit(ctx, opts, time.Now(), s.config.RetryBudget, nil)\n"
     "pkg/alpha.go:30:    if err := s.Commit(ctx, CommitOptions{Message: message}); err != nil {\n",
     210, NULL, "RetryBudget",
     "pkg/alpha.go\n"
     "10:func (s *Store) Commit(ctx context.Context, opts CommitOptions) error {\n"
     "20:    return s.commit(ctx, opts, time.Now(), s.config.RetryBudget, nil)\n"
     "30:" MARK "\n"},
    {"context goes first, and comes back without its path where there is room",
     "lib/reader.py-10-import os\n"
     "lib/reader.py-11-import a_module_with_a_long_name_that_takes_room\n"
     "lib/reader.py:12:def read(path):\n"
     "lib/reader.py-13-    with open(path) as file:\n"
     "lib/reader.py-14-        return a_function_with_a_long_name(file.read(), path)\n"
     "--\n"
     "lib/reader.py-39-    # more of it, and still more of it, to the end of it\n"
     "lib/reader.py:40:read(name)\n",
     190, "read", NULL,
     "lib/reader.py\n"
     "10-import os\n"
     "11-import a_module_with_a_long_name_that_takes_room\n"
     "12:def read(path):\n"
     "[... 4 lines left out: 4-7]\n"
     "40:read(name)\n"},
    {"without room for any of it, context is a gap",
     "lib/reader.py-11-import a_module_with_a_long_name_that_takes_room\n"
     "lib/reader.py:12:def read(path):\n"
     "lib/reader.py-13-    with open(path) as file: # a comment that takes room, too\n"
     "--\n"
     "lib/reader.py:40:read(name)\n",
     120, "read", NULL,
     "[... 1 line left out: 1]\n"
     "lib/reader.py\n"
     "12:def read(path):\n"
     "[... 2 lines left out: 3-4]\n"
     "40:read(name)\n"},
    {"rows below headings are cut where they stand",
     "Found 2 matches\n"
     "/home/user/project/src/config.ts:\n"
     "  Line 12: export const configuration = readConfigurationFrom(process.env.CONFIG_PATH, "
     "defaultConfiguration, { strict: true, watch: false });\n"
     "  Line 99: configuration\n",
     185, "configuration", NULL,
     "Found 2 matches\n"
     "/home/user/project/src/config.ts:\n"
     "  Line 12:export const configuration = readConfigurationFrom(process.env.CONF " MARK "\n"
     "  Line 99: configuration\n"},
    {"without numbers a line below one of the same file has a colon for its path",
     "packages/core/src/types.ts:export type Aggregator =\n"
     "packages/core/src/types.ts:  readonly aggregator: Aggregator;\n"
     "packages/core/src/parser.ts:const raw = evaluator.aggregator;\n",
     160, "aggregator", NULL,
     "packages/core/src/types.ts:export type Aggregator =\n"
     ":  readonly aggregator: Aggregator;\n"
     "packages/core/src/parser.ts:const raw = evaluator.aggregator;\n"},
    {"a search in a revision has the revision in its headings",
     "main:src/a.c:12:int first_value_of_all;\n"
     "main:src/a.c:13:int second_value_of_all;\n",
     80, "value", NULL,
     "main:src/a.c\n"
     "12:int first_value_of_all;\n"
     "13:int second_value_of_all;\n"},
    {"what the client cut out is still said",
     "src/a.c:12:int first; /* a comment that is long enough to be cut by any rule, and then " MARK
     "6109 tokens truncated" MARK "rd.c:14:int second;\n"
     "src/b.c:15:int third; /* a comment that is long enough to be cut by any rule that is */\n",
     60, "int", NULL,
     "src/a.c:12:int first; /* a comment that is long enough to be cut by any rule, and then " MARK
     "6109 tokens truncated" MARK "rd.c:14:int second;\n"
     "src/b.c:15:" MARK "\n"},
};

static void results_are_condensed(void **state)
{
    (void)state;
    form_case_rows(ROWS, WR_COUNT_OF(ROWS), wr_condense_search, WR_OUTPUT_SEARCH);
}

struct line_case {
    const char *behaviour, *line;
    enum wr_search_line_kind kind;
    const char *path, *number, *text;
};

static const struct line_case LINES[] = {
    {"a match", "src/a.c:12:int x", WR_SEARCH_MATCH, "src/a.c", "12", "int x"},
    {"a match on a drive", "C:\\a\\b.c:12:int x", WR_SEARCH_MATCH, "C:\\a\\b.c", "12", "int x"},
    {"a match of a revision", "v1.2:a/b.c:12:x", WR_SEARCH_MATCH, "v1.2:a/b.c", "12", "x"},
    {"a row", "12:int x", WR_SEARCH_ROW, "", "12", "int x"},
    {"a row with a word", "  Line 12: int x", WR_SEARCH_ROW, "", "12", " int x"},
    {"a row with a letter", "L12: int x", WR_SEARCH_ROW, "", "12", " int x"},
    {"a heading", "src/a.c", WR_SEARCH_HEADING, "src/a.c", "", ""},
    {"a heading with a colon", "src/a.c:", WR_SEARCH_HEADING, "src/a.c", "", ""},
    {"a heading of a revision", "main:src/a.c", WR_SEARCH_HEADING, "main:src/a.c", "", ""},
    {"a match without number", "src/a.c:int x", WR_SEARCH_FILE_MATCH, "src/a.c", "", "int x"},
    {"context", "src/a.c-12-int x", WR_SEARCH_OTHER, "", "", "src/a.c-12-int x"},
};

static void lines_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(LINES); i++) {
        weir_span line = wr_span_of(LINES[i].line);
        struct wr_search_line read = wr_search_line_read(line);
        if (read.kind != LINES[i].kind || !wr_span_is(read.path, LINES[i].path) ||
            !wr_span_is(read.number, LINES[i].number) ||
            !wr_span_is(wr_span_from(line, read.text_at), LINES[i].text))
            fail_msg("%s", LINES[i].behaviour);
    }
}

static void words_of_a_pattern(void **state)
{
    (void)state;
    struct wr_search_query query;
    wr_search_query_init(&query, WR_LIT("\\bfunc\\s+(Test|no)_?Commit[A-Z]*"));
    assert_int_equal(query.count, 3); /* func, Test, _ with Commit; "no" is too short */
    assert_int_equal(wr_search_query_find(&query, WR_LIT("a FUNCtion")), 2);
    assert_int_equal(wr_search_query_find(&query, WR_LIT("nothing")), SIZE_MAX);
}

/* Thousands of places: all of them are still there, and time is linear. */
static void many_places(void **state)
{
    (void)state;
    struct wr_buf buf;
    wr_buf_init(&buf, 16 * 1024 * 1024);
    for (unsigned i = 0; i < 20000; i++)
        wr_buf_printf(&buf, "src/file_%u.c:%u:    some text that was found %u times\n", i / 50, i,
                      i);
    struct wr_condense_input input = {
        .text = wr_buf_view(&buf), .kind = WR_OUTPUT_SEARCH, .bytes_budget = buf.len / 4};
    assert_null(condense_check(&input, wr_condense_search));
    wr_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_condensed),
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(words_of_a_pattern),
        cmocka_unit_test(many_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
