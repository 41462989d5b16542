#include "condense/prose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/condense_rows.h"

/* ---- prose ---- */

#define PARAGRAPH                                                      \
    "*4 The words of this paragraph say little that is new, part @.\n" \
    "\n"

static const struct kept_case rows[] = {
    {"what fits stays", "One line.\n", 1000, "all", NULL},
    {"headings stay, and head and tail",
     "# Title\n"
     "\n" PARAGRAPH PARAGRAPH "## Install\n" PARAGRAPH PARAGRAPH PARAGRAPH "Usage\n"
     "-----\n" PARAGRAPH PARAGRAPH "## See also\n" PARAGRAPH PARAGRAPH,
     700, "1-8 13-14 29-30 41 49-51", NULL},
    {"the paragraph that is named stays",
     "# Title\n"
     "\n" PARAGRAPH PARAGRAPH "The cache expires after five minutes.\n"
     "\n" PARAGRAPH PARAGRAPH PARAGRAPH PARAGRAPH,
     520, "1-7 13-14 32-34", "when does the cache expires"},
    {"the head of a list stays with its first items",
     "# Title\n"
     "\n" PARAGRAPH PARAGRAPH PARAGRAPH "REQUIREMENTS\n"
     "\n"
     "- a compiler\n"
     "- a shell\n"
     "\n" PARAGRAPH PARAGRAPH PARAGRAPH,
     560, "1-7 18-22 35-37", NULL},
};

static void keeps_lines_by_worth(void **state)
{
    (void)state;
    kept_cases_check(rows, WR_COUNT_OF(rows), WR_OUTPUT_PROSE, wr_condense_prose);
}

/* Pages often have a paragraph in a line. */
static void long_lines_keep_their_ends(void **state)
{
    struct wr_arena arena;
    struct wr_condensed out;
    struct wr_buf text;
    (void)state;
    wr_buf_init(&text, 1 << 20);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (unsigned i = 0; i < 20; i++) {
        wr_buf_printf(&text, "Paragraph %u begins.", i);
        for (unsigned k = 0; k < 160; k++)
            wr_buf_text(&text, " It goes on and on.");
        wr_buf_printf(&text, " Paragraph %u ends.\n\n", i);
    }
    struct wr_condense_input input = {
        .text = wr_buf_view(&text), .kind = WR_OUTPUT_PROSE, .bytes_budget = text.len / 8};
    assert_int_equal(wr_condense_prose(&out, &arena, &input), WEIR_OK);
    assert_true(out.text.len <= input.bytes_budget);
    assert_true(out.cut_count > 2);
    assert_true(wr_span_starts(out.text, WR_LIT("Paragraph 0 begins.")));
    assert_true(wr_span_has(out.text, WR_LIT("Paragraph 0 ends.")));
    assert_null(condense_check(&input, wr_condense_prose));
    wr_arena_release(&arena);
    wr_buf_release(&text);
}

/* What a search of the web gives: one line of links, then words. */
static void links_stay_whole(void **state)
{
    struct wr_arena arena;
    struct wr_condensed out;
    struct wr_buf text;
    (void)state;
    wr_buf_init(&text, 1 << 20);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_text(&text, "Web search results for query: \"weirs\"\n\nLinks: [");
    for (unsigned i = 0; i < 10; i++)
        wr_buf_printf(&text,
                      "%s{\"title\":\"A page with a rather long title, and what it says of weirs "
                      "and of dams, number %u\",\"url\":\"https://example.org/page/%u\"}",
                      i ? "," : "", i, i);
    wr_buf_text(&text, "]\n\n");
    for (unsigned i = 0; i < 30; i++)
        wr_buf_printf(&text, "Words about weirs that nobody will quote, number %u.\n", i);
    struct wr_condense_input input = {
        .text = wr_buf_view(&text), .kind = WR_OUTPUT_PROSE, .bytes_budget = text.len / 2};
    assert_int_equal(wr_condense_prose(&out, &arena, &input), WEIR_OK);
    assert_true(out.text.len <= input.bytes_budget);
    assert_true(wr_span_has(out.text, WR_LIT("Web search results")));
    assert_true(wr_span_has(out.text, WR_LIT("\"https://example.org/page/0\"")));
    assert_true(wr_span_has(out.text, WR_LIT("\"https://example.org/page/6")));
    assert_null(condense_check(&input, wr_condense_prose));
    wr_arena_release(&arena);
    wr_buf_release(&text);
}

/* ---- blocks ---- */

/* A text of lines of 50 bytes; a letter a line says what is known of it: a digit is its worth, 's'
 * before one begins a block, '_' is blank. */

enum { LINE_BYTES = 50 };

static const struct {
    const char *behaviour, *lines;
    uint32_t lines_max, keeps_lines;
    const char *kept; /* '+' or '.' a line */
} cases[] = {
    {"the densest block is kept first", "11s99s11", 9, 2, "..++.."},
    {"a block ends behind a blank line", "11_99_11", 9, 3, "...+++.."},
    {"a block that does not fit is kept from its front", "11s99999s11", 9, 3, "..+++...."},
    {"a long block is cut in parts", "1199", 2, 2, "..++"},
    {"of equals the one nearer to the front", "55_55_55_55_", 9, 3, "+++........."},
    {"the front counts for a little", "55_55_55_56_", 9, 3, "+++........."},
    {"the neighbour of a dense block comes before others", "11_11_11_99_11_", 9, 6,
     "......++++++..."},
    {"what is worth nothing is left out, even where there is room", "11s00s00", 9, 9, "++...."},
};

static uint32_t read_lines(struct wr_block_line *lines, struct wr_buf *text, const char *notation)
{
    uint32_t count = 0;
    bool is_start = false;
    for (; *notation; notation++) {
        if (*notation == 's') {
            is_start = true;
            continue;
        }
        lines[count++] =
            (struct wr_block_line){.worth = (uint16_t)(*notation == '_' ? 0 : *notation - '0'),
                                   .is_start = is_start,
                                   .is_blank = *notation == '_'};
        is_start = false;
        wr_buf_printf(text, "%*s\n", LINE_BYTES - 1, "x");
    }
    return count;
}

static void blocks_are_kept_by_density(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        struct wr_keep keep;
        struct wr_buf text;
        struct wr_block_line lines[32];
        char kept[32 + 1] = {0};
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&text, 1 << 16);
        uint32_t count = read_lines(lines, &text, cases[i].lines);
        struct wr_condense_input input = {.text = wr_buf_view(&text),
                                          .bytes_budget = cases[i].keeps_lines * LINE_BYTES +
                                                          2 * WR_KEEP_GAP_BYTES};
        assert_int_equal(wr_keep_init(&keep, &arena, &input), WEIR_OK);
        assert_int_equal(keep.lines_count, count);
        assert_int_equal(wr_blocks_keep(&keep, lines, cases[i].lines_max), WEIR_OK);
        for (uint32_t line = 0; line < count; line++)
            kept[line] = keep.is_kept[line] ? '+' : '.';
        if (!wr_span_is(wr_span_of(kept), cases[i].kept))
            fail_msg("%s: %s, not %s", cases[i].behaviour, kept, cases[i].kept);
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
}

/* ---- links ---- */

#define MARK "\xe2\x80\xa6"
#define LONG "a title that goes on and on and on and on and on and on and on and on"

static const struct {
    const char *behaviour, *line;
    size_t bytes_max;
    const char *expected; /* NULL: this is no line of links */
} links_rows[] = {
    {"one link makes no such line", "see https://a.org/b for more", 100, NULL},
    {"colons and slashes are no links", "a:// b:/c ://d", 100, NULL},
    {"links stay, and short words between them", "[a](https://a.org/b) [c](https://c.org)", 100,
     "[a](https://a.org/b) [c](https://c.org)"},
    {"long words between them are shortened",
     "https://a.org/b\"},{\"title\":\"" LONG "\",\"url\":\"https://c.org\"}]", 200,
     "https://a.org/b\"},{\"title\":\"a title that goes on and on and on " MARK
     ",\"url\":\"https://c.org\"}]"},
    {"what does not fit is left out from the end", "https://a.org/b https://c.org/d", 24,
     "https://a.org/b" MARK},
    {"what is behind the last link is left out", "https://a.org/b https://c.org/d " LONG, 100,
     "https://a.org/b https://c.org/d" MARK},
};

static void shortens_what_is_between_links(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(links_rows); i++) {
        struct wr_buf buf;
        weir_span line = wr_span_of(links_rows[i].line);
        bool is_links = wr_link_line_is(line);
        wr_buf_init(&buf, 1000);
        wr_link_line_write(&buf, line, links_rows[i].bytes_max);
        weir_span got = wr_buf_view(&buf);
        bool holds = links_rows[i].expected ? is_links && wr_span_is(got, links_rows[i].expected)
                                            : !is_links;
        if (!holds || (is_links && got.len > links_rows[i].bytes_max)) {
            print_error("%s: \"%.*s\"\n", links_rows[i].behaviour, (int)got.len, got.ptr);
            wrong++;
        }
        wr_buf_release(&buf);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_lines_by_worth),
        cmocka_unit_test(long_lines_keep_their_ends),
        cmocka_unit_test(links_stay_whole),
        cmocka_unit_test(blocks_are_kept_by_density),
        cmocka_unit_test(shortens_what_is_between_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
