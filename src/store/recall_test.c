#include "weir/recall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

#define FIVE "one\ntwo\nthree\nfour\nfive\n"

/* ---- lines ---- */

static const struct {
    const char *behaviour, *text, *ranges; /* ranges as first.byte-last; NULL: refused */
} parse_cases[] = {
    {"a range", "3-7", "3.0-7 "},
    {"one line", "3", "3.0-3 "},
    {"to the end", "3-", "3.0-E "},
    {"several", "1-2,9,12-", "1.0-2 9.0-9 12.0-E "},
    {"from inside a line", "3.17-4", "3.17-4 "},
    {"nothing", "", NULL},
    {"line 0", "0-3", NULL},
    {"byte 0", "1.0-3", NULL},
    {"backwards", "7-3", NULL},
    {"a comma too many", "1-2,", NULL},
    {"a word", "all", NULL},
    {"a negative", "-3", NULL},
    {"something behind", "1-2x", NULL},
    {"space", "1 - 2", NULL},
    {"a number too large", "99999999999999999999-", NULL},
    {"more ranges than there is room for", "1,3,5,7,9", NULL},
};

static void lines_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(parse_cases); i++) {
        struct weir_lines lines[4];
        size_t count;
        struct wr_buf got;
        weir_status status =
            weir_lines_parse(wr_span_of(parse_cases[i].text), lines, 4, &count, NULL);
        wr_buf_init(&got, 1024);
        for (size_t k = 0; k < count && !status; k++) {
            wr_buf_printf(&got, "%d.%d-", (int)lines[k].first, (int)lines[k].first_byte);
            if (lines[k].last == WEIR_LINES_END)
                wr_buf_text(&got, "E ");
            else
                wr_buf_printf(&got, "%d ", (int)lines[k].last);
        }
        if ((status != WEIR_OK) != (parse_cases[i].ranges == NULL) ||
            (!status && !wr_span_is(wr_buf_view(&got), parse_cases[i].ranges)))
            fail_msg("not so: %s: %s", parse_cases[i].behaviour, parse_cases[i].text);
        wr_buf_release(&got);
    }
}

/* ---- choosing ---- */

static const struct {
    const char *behaviour, *text, *lines;
    int head, tail;
    const char *pattern;
    int context;
    const char *wanted; /* NULL: it fails with `status` */
    weir_status status;
} cases[] = {
    {"whole", FIVE, NULL, 0, 0, "", 0, FIVE, 0},
    {"whole, with no end of line", "a\nb", NULL, 0, 0, "", 0, "a\nb", 0},
    {"whole, of nothing", "", NULL, 0, 0, "", 0, "", 0},
    {"empty lines are lines", "\n\n", NULL, 2, 0, "", 0, "\n\n", 0},
    {"CRLF stays", "a\r\nb\r\n", "2", 0, 0, "", 0, "b\r\n", 0},
    {"one line", FIVE, "2", 0, 0, "", 0, "two\n", 0},
    {"a range", FIVE, "2-3", 0, 0, "", 0, "two\nthree\n", 0},
    {"to the end", FIVE, "4-", 0, 0, "", 0, "four\nfive\n", 0},
    {"past the end", FIVE, "4-99", 0, 0, "", 0, "four\nfive\n", 0},
    {"ranges apart", FIVE, "1,4-5", 0, 0, "", 0, "one\n--\nfour\nfive\n", 0},
    {"ranges in any order", FIVE, "4-5,1", 0, 0, "", 0, "one\n--\nfour\nfive\n", 0},
    {"ranges that touch or overlap are one", FIVE, "1-2,3,2-4", 0, 0, "", 0,
     "one\ntwo\nthree\nfour\n", 0},
    {"from inside a line", FIVE, "3.3-4", 0, 0, "", 0, "ree\nfour\n", 0},
    {"from behind a line's end", FIVE, "3.99-4", 0, 0, "", 0, "four\n", 0},
    {"a line that is not there", FIVE, "6", 0, 0, "", 0, NULL, WEIR_INVALID},
    {"a line of nothing", "", "1", 0, 0, "", 0, NULL, WEIR_INVALID},
    {"head", FIVE, NULL, 2, 0, "", 0, "one\ntwo\n", 0},
    {"head of more than there is", FIVE, NULL, 9, 0, "", 0, FIVE, 0},
    {"tail", FIVE, NULL, 0, 2, "", 0, "four\nfive\n", 0},
    {"tail without an end of line", "a\nb\nc", NULL, 0, 2, "", 0, "b\nc", 0},
    {"tail of more than there is", FIVE, NULL, 0, 9, "", 0, FIVE, 0},
    {"head and tail exclude each other", FIVE, NULL, 1, 1, "", 0, NULL, WEIR_INVALID},
    {"a pattern", FIVE, NULL, 0, 0, "t", 0, "2:two\n3:three\n", 0},
    {"a pattern that begins and ends a line", FIVE, NULL, 0, 0, "^f.*e$", 0, "5:five\n", 0},
    {"the end of a line of CRLF", "five\r\nsix\r\n", NULL, 0, 0, "e$", 0, "1:five\n", 0},
    {"a pattern without a match", FIVE, NULL, 0, 0, "six", 0, "", 0},
    {"lines around a match", FIVE, NULL, 0, 0, "three", 1, "2-two\n3:three\n4-four\n", 0},
    {"around matches that are near", FIVE, NULL, 0, 0, "two|four", 1,
     "1-one\n2:two\n3-three\n4:four\n5-five\n", 0},
    {"around matches that are apart", "a\nx\nb\nc\nd\nx\ne\n", NULL, 0, 0, "x", 1,
     "1-a\n2:x\n3-b\n--\n5-d\n6:x\n7-e\n", 0},
    {"a pattern within lines", FIVE, "3-4", 0, 0, "o|e", 9, "3:three\n4:four\n", 0},
    {"around a match, but not before the lines asked for", FIVE, "2-4", 0, 0, "two", 1,
     "2:two\n3-three\n", 0},
    {"a pattern within the tail", FIVE, NULL, 0, 2, "o|e", 0, "4:four\n5:five\n", 0},
    {"case by inline option", FIVE, NULL, 0, 0, "(?i)THREE", 0, "3:three\n", 0},
    {"characters, not bytes", "na\xC3\xAFve\n", NULL, 0, 0, "na.ve", 0, "1:na\xC3\xAFve\n", 0},
    {"a line that is not UTF-8 is searched too", "x\xFFy\n", NULL, 0, 0, "y", 0, "1:x\xFFy\n", 0},
    {"a pattern with groups", FIVE, NULL, 0, 0, "(t)(w)", 0, "2:two\n", 0},
    {"a wrong pattern", FIVE, NULL, 0, 0, "(", 0, NULL, WEIR_SYNTAX},
};

static weir_status run_case(size_t i, struct weir_recalled *recalled)
{
    struct weir_lines lines[8];
    struct weir_recall_options options = {.lines = lines,
                                          .head_lines = (uint64_t)cases[i].head,
                                          .tail_lines = (uint64_t)cases[i].tail,
                                          .pattern = wr_span_of(cases[i].pattern),
                                          .context_lines = (uint64_t)cases[i].context};
    if (cases[i].lines)
        assert_int_equal(
            weir_lines_parse(wr_span_of(cases[i].lines), lines, 8, &options.lines_count, NULL),
            WEIR_OK);
    return weir_recall_select(wr_span_of(cases[i].text), &options, recalled, NULL);
}

static void what_is_asked_for_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct weir_recalled recalled;
        weir_status status = run_case(i, &recalled);
        if (status != cases[i].status ||
            (cases[i].wanted && !wr_span_is(recalled.text, cases[i].wanted)))
            fail_msg("not so: %s: %s, \"%.*s\"", cases[i].behaviour, weir_status_text(status),
                     (int)recalled.text.len, recalled.text.ptr);
        assert_int_equal(recalled.next.len, 0);
        weir_recalled_release(&recalled);
    }
}

/* ---- pages ---- */

static uint64_t count_words(void *user, weir_span text)
{
    uint64_t words = 1;
    (void)user;
    for (size_t i = 0; i < text.len; i++)
        words += text.ptr[i] == ' ' || text.ptr[i] == '\n';
    return words;
}

/* Turns pages until the last, joining what they hold. */
static size_t turn_pages(weir_span text, struct weir_recall_options options, struct wr_buf *all)
{
    struct weir_lines lines[WR_RECALL_RANGES_MAX];
    char next[4096];
    size_t pages = 0;

    options.lines = lines;
    do {
        struct weir_recalled page;
        struct weir_err err = {0};
        if (weir_recall_select(text, &options, &page, &err))
            fail_msg("page %zu: %s", pages, err.text);
        assert_true(!options.page_bytes_max || page.text.len <= options.page_bytes_max);
        assert_true(!options.page_tokens_max ||
                    count_words(NULL, page.text) <= options.page_tokens_max);
        wr_buf_append(all, wr_span_cut(page.text, 0, page.content_bytes));
        assert_true(page.next.len < sizeof(next));
        (void)snprintf(next, sizeof(next), "%.*s", (int)page.next.len,
                       page.next.len ? page.next.ptr : "");
        if (next[0]) {
            assert_true(wr_span_find(page.text, wr_span_of(next), 0) != SIZE_MAX);
            assert_int_equal(weir_lines_parse(wr_span_of(next), lines, WR_RECALL_RANGES_MAX,
                                              &options.lines_count, NULL),
                             WEIR_OK);
        }
        weir_recalled_release(&page);
        assert_true(++pages < 1000);
    } while (next[0]);
    return pages;
}

static void make_text(struct wr_buf *text)
{
    wr_buf_init(text, 1 << 20);
    for (int i = 0; i < 300; i++) {
        wr_buf_printf(text, "line %d with some words\n", i);
        if (i % 100 == 50) {
            for (int k = 0; k < 700; k++)
                wr_buf_text(text, "long \xC3\xA9 ");
            wr_buf_byte(text, '\n');
        }
        if (i % 70 == 3)
            wr_buf_text(text, "\n\n");
    }
    wr_buf_text(text, "no end of line");
}

static void pages_put_together_are_the_whole(void **state)
{
    static const size_t page_bytes[] = {420, 500, 1024, 4000, 1 << 20};
    struct wr_buf text, all;
    (void)state;

    make_text(&text);
    for (size_t i = 0; i < WR_COUNT_OF(page_bytes); i++) {
        struct weir_recall_options by_bytes = {.page_bytes_max = page_bytes[i]};
        struct weir_recall_options by_words = {.page_tokens_max = page_bytes[i],
                                               .count_tokens = count_words};
        wr_buf_init(&all, 1 << 20);
        size_t pages = turn_pages(wr_buf_view(&text), by_bytes, &all);
        assert_true(wr_span_eq(wr_buf_view(&all), wr_buf_view(&text)));
        assert_true(pages >= text.len / page_bytes[i]);
        wr_buf_reset(&all);
        (void)turn_pages(wr_buf_view(&text), by_words, &all);
        assert_true(wr_span_eq(wr_buf_view(&all), wr_buf_view(&text)));
        wr_buf_release(&all);
    }
    wr_buf_release(&text);
}

/* Of a page's text only whole characters are cut off. */
static void a_page_does_not_end_inside_a_character(void **state)
{
    struct wr_buf text;
    struct weir_recall_options options = {.page_bytes_max = 600};
    struct weir_recalled page;
    (void)state;

    wr_buf_init(&text, 1 << 16);
    for (int i = 0; i < 1000; i++)
        wr_buf_text(&text, "\xE2\x82\xAC");
    assert_int_equal(weir_recall_select(wr_buf_view(&text), &options, &page, NULL), WEIR_OK);
    assert_true(page.content_bytes > 0);
    assert_int_equal(page.content_bytes % 3, 0);
    weir_recalled_release(&page);
    wr_buf_release(&text);
}

/* No character has more than three bytes behind its first: what only looks like one is cut. */
static void a_page_of_no_characters_is_nearly_full(void **state)
{
    static char plain[3000], tails[3000];
    struct weir_recall_options options = {.page_bytes_max = 600};
    struct weir_recalled page;
    (void)state;

    memset(plain, 'a', sizeof(plain));
    memset(tails, 0x80, sizeof(tails));
    assert_int_equal(weir_recall_select((weir_span){plain, sizeof(plain)}, &options, &page, NULL),
                     WEIR_OK);
    size_t full_bytes = page.content_bytes;
    weir_recalled_release(&page);
    assert_int_equal(weir_recall_select((weir_span){tails, sizeof(tails)}, &options, &page, NULL),
                     WEIR_OK);
    assert_int_equal(page.content_bytes, full_bytes - 3);
    weir_recalled_release(&page);
}

/* The line that names the next page begins on its own line, with one end of line before it. */
static void the_next_page_is_named_on_a_line_of_its_own(void **state)
{
    static const struct {
        char fill, end; /* the text is lines of 100 bytes that end so */
        size_t end_bytes;
    } rows[] = {{'a', 'a', 1}, {'a', '\n', 0}};
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        static char text[3000];
        struct weir_recall_options options = {.page_bytes_max = 600};
        struct weir_recalled page;
        for (size_t at = 0; at < sizeof(text); at++)
            text[at] = at % 100 == 99 ? rows[i].end : rows[i].fill;
        assert_int_equal(weir_recall_select((weir_span){text, sizeof(text)}, &options, &page, NULL),
                         WEIR_OK);
        size_t footer = wr_span_find(page.text, WR_LIT("[weir: "), 0);
        assert_int_equal(footer, page.content_bytes + rows[i].end_bytes);
        assert_int_equal(page.text.ptr[footer - 1], '\n');
        weir_recalled_release(&page);
    }
}

static void what_is_wrong_in_lines_is_said_where_it_stands(void **state)
{
    static const struct {
        const char *text;
        weir_status status;
        size_t at_byte;
    } rows[] = {{"x", WEIR_SYNTAX, 0}, {"1-2,x", WEIR_SYNTAX, 4}, {"1,2,3", WEIR_LIMIT, 4}};
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_lines lines[2];
        struct weir_err err = {0};
        size_t count;
        assert_int_equal(weir_lines_parse(wr_span_of(rows[i].text), lines, 2, &count, &err),
                         rows[i].status);
        assert_int_equal(err.at_byte, rows[i].at_byte);
    }
}

static void matches_come_in_pages_too(void **state)
{
    struct weir_recall_options whole = {.pattern = WR_LIT("[0-9]7 ")};
    struct weir_recall_options paged = {.pattern = WR_LIT("[0-9]7 "), .page_bytes_max = 500};
    struct weir_recalled at_once;
    struct wr_buf text, all;
    (void)state;

    wr_buf_init(&text, 1 << 20);
    for (int i = 0; i < 500; i++)
        wr_buf_printf(&text, "%03d something\n", i);
    assert_int_equal(weir_recall_select(wr_buf_view(&text), &whole, &at_once, NULL), WEIR_OK);
    assert_int_equal(at_once.matches_count, 50);
    wr_buf_init(&all, 1 << 20);
    assert_true(turn_pages(wr_buf_view(&text), paged, &all) > 2);
    size_t matches = 0;
    for (size_t i = 0; i < all.len; i++)
        matches += all.bytes[i] == ':';
    assert_int_equal(matches, 50);
    weir_recalled_release(&at_once);
    wr_buf_release(&all);
    wr_buf_release(&text);
}

static void a_long_line_that_matches_is_cut_and_says_so(void **state)
{
    struct weir_recall_options options = {.pattern = WR_LIT("x$"), .page_bytes_max = 600};
    struct weir_recalled page;
    struct wr_buf text;
    (void)state;

    wr_buf_init(&text, 1 << 20);
    wr_buf_text(&text, "first\n");
    for (int i = 0; i < 5000; i++)
        wr_buf_byte(&text, 'y');
    wr_buf_text(&text, "x\nlast x\n");
    assert_int_equal(weir_recall_select(wr_buf_view(&text), &options, &page, NULL), WEIR_OK);
    assert_true(wr_span_starts(page.text, WR_LIT("2:yyy")));
    assert_true(wr_span_find(page.text, WR_LIT("bytes more: lines 2."), 0) != SIZE_MAX);
    assert_true(page.text.len <= 600);
    weir_recalled_release(&page);
    wr_buf_release(&text);
}

static void a_page_without_room_is_refused(void **state)
{
    struct weir_recall_options few_bytes = {.page_bytes_max = 10};
    struct weir_recall_options few_tokens = {.page_tokens_max = 10, .count_tokens = count_words};
    struct weir_recall_options no_count = {.page_tokens_max = 8000};
    struct weir_recalled page;
    (void)state;

    assert_int_equal(weir_recall_select(WR_LIT(FIVE), &few_bytes, &page, NULL), WEIR_INVALID);
    assert_int_equal(weir_recall_select(WR_LIT(FIVE), &few_tokens, &page, NULL), WEIR_INVALID);
    assert_int_equal(weir_recall_select(WR_LIT(FIVE), &no_count, &page, NULL), WEIR_INVALID);
}

/* ---- bounds ---- */

static void a_pattern_that_takes_for_ever_is_stopped(void **state)
{
    struct weir_recall_options options = {.pattern = WR_LIT("^(a+)+$")};
    struct weir_recalled recalled;
    struct weir_err err = {0};
    struct wr_buf text;
    (void)state;

    wr_buf_init(&text, 1 << 20);
    for (int i = 0; i < 20; i++)
        wr_buf_text(&text, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\n");
    assert_int_equal(weir_recall_select(wr_buf_view(&text), &options, &recalled, &err), WEIR_LIMIT);
    assert_true(wr_span_find(wr_span_of(err.text), WR_LIT("line 1"), 0) != SIZE_MAX);
    wr_buf_release(&text);
}

static void bounds_are_kept(void **state)
{
    static char long_pattern[WR_RECALL_PATTERN_BYTES_MAX + 1];
    struct weir_lines many[WR_RECALL_RANGES_MAX + 1];
    struct weir_recall_options options = {.lines = many, .lines_count = WR_RECALL_RANGES_MAX + 1};
    struct weir_recalled recalled;
    (void)state;

    for (size_t i = 0; i < WR_RECALL_RANGES_MAX + 1; i++)
        many[i] = (struct weir_lines){1, 0, 1};
    assert_int_equal(weir_recall_select(WR_LIT(FIVE), &options, &recalled, NULL), WEIR_LIMIT);
    options.lines_count = 1;
    many[0].last = 0;
    assert_int_equal(weir_recall_select(WR_LIT(FIVE), &options, &recalled, NULL), WEIR_INVALID);
    memset(long_pattern, 'a', sizeof(long_pattern));
    options = (struct weir_recall_options){.pattern = {long_pattern, sizeof(long_pattern)}};
    assert_int_equal(weir_recall_select(WR_LIT(FIVE), &options, &recalled, NULL), WEIR_LIMIT);
}

/* What a search leaves in memory is no match of the next one: the same memory is used again. */
static void lines_behind_the_last_match_are_none(void **state)
{
    struct weir_recall_options every = {.pattern = WR_LIT("o|e")};
    struct weir_recall_options first = {.pattern = WR_LIT("one"), .context_lines = 4};
    struct weir_recalled recalled;
    (void)state;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(weir_recall_select(WR_LIT(FIVE), &every, &recalled, NULL), WEIR_OK);
        assert_int_equal(recalled.matches_count, 5);
        weir_recalled_release(&recalled);
        assert_int_equal(weir_recall_select(WR_LIT(FIVE), &first, &recalled, NULL), WEIR_OK);
        assert_int_equal(recalled.matches_count, 1);
        assert_true(wr_span_is(recalled.text, "1:one\n2-two\n3-three\n4-four\n5-five\n"));
        weir_recalled_release(&recalled);
    }
}

/* ---- from a store ---- */

static void a_stored_text_is_recalled(void **state)
{
    struct weir_artifact artifact = {.text = WR_LIT(FIVE)};
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = WR_LIT("s"),
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    struct weir_recall_options options = {.tail_lines = 1};
    struct weir_recalled recalled;
    struct weir_store *store;
    weir_miss miss;
    (void)state;

    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    struct weir_lookup lookup = {WR_LIT("local"), weir_hash_handle(&artifact.hash), false};
    assert_int_equal(weir_recall(store, &lookup, &options, &recalled, &miss, NULL), WEIR_OK);
    assert_true(wr_span_is(recalled.text, "five\n"));
    assert_int_equal(recalled.lines_total, 5);
    weir_recalled_release(&recalled);
    assert_int_equal(weir_recall(store, &lookup, NULL, &recalled, &miss, NULL), WEIR_OK);
    assert_true(wr_span_is(recalled.text, FIVE));
    weir_recalled_release(&recalled);
    lookup.handle.bytes[0] ^= 1;
    assert_int_equal(weir_recall(store, &lookup, NULL, &recalled, &miss, NULL), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_NEVER_STORED);
    weir_recalled_release(&recalled);
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(what_is_asked_for_comes_back),
        cmocka_unit_test(pages_put_together_are_the_whole),
        cmocka_unit_test(a_page_does_not_end_inside_a_character),
        cmocka_unit_test(a_page_of_no_characters_is_nearly_full),
        cmocka_unit_test(the_next_page_is_named_on_a_line_of_its_own),
        cmocka_unit_test(what_is_wrong_in_lines_is_said_where_it_stands),
        cmocka_unit_test(matches_come_in_pages_too),
        cmocka_unit_test(a_long_line_that_matches_is_cut_and_says_so),
        cmocka_unit_test(a_page_without_room_is_refused),
        cmocka_unit_test(a_pattern_that_takes_for_ever_is_stopped),
        cmocka_unit_test(bounds_are_kept),
        cmocka_unit_test(lines_behind_the_last_match_are_none),
        cmocka_unit_test(a_stored_text_is_recalled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
