#include "tests/condense_rows.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_lines_by_worth),
        cmocka_unit_test(long_lines_keep_their_ends),
        cmocka_unit_test(links_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
