#include "policy/marker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

static void a_marker_that_is_written_is_found(void **state)
{
    struct wr_marker marker = {.way = {.kind = WR_WAY_RECALL, .tool = WR_LIT("weir_recall")},
                               .lines = 3,
                               .tokens = 40,
                               .what = "left out"};
    struct wr_handle found;
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, 1000);
    assert_int_equal(wr_handle_of(WR_LIT("abc"), &marker.handle), WEIR_OK);
    assert_string_equal(marker.handle.text, "wr_ba7816bf8f01cfea4141");
    wr_buf_text(&out, "head\n");
    wr_marker_write(&out, &marker);
    assert_true(
        wr_span_is(wr_buf_view(&out),
                   "head\n[weir wr_ba7816bf8f01cfea4141: 3 lines, ~40 tokens left out; weir_recall "
                   "{\"handle\":\"wr_ba7816bf8f01cfea4141\"}]"));
    assert_true(wr_marker_find(wr_buf_view(&out), &found));
    assert_string_equal(found.text, marker.handle.text);
    wr_buf_release(&out);
}

static const struct {
    const char *behaviour, *text;
    bool is_marker;
} cases[] = {
    {"plain text is none", "hello", false},
    {"it may stand on any line", "a\n[weir wr_0123456789abcdef0123: x]\nb", true},
    {"it begins its line", "a [weir wr_0123456789abcdef0123: x]", false},
    {"its handle has twenty digits", "[weir wr_0123456789abcdef012: x]", false},
    {"of lower case", "[weir wr_0123456789ABCDEF0123: x]", false},
    {"and a colon behind", "[weir wr_0123456789abcdef0123 x]", false},
    {"it ends its line with a bracket", "[weir wr_0123456789abcdef0123: x] y", false},
    {"a second one is found behind a broken first",
     "[weir wr_1: x]\n[weir wr_0123456789abcdef0123: x]", true},
};

static void only_well_formed_markers_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_marker_find(wr_span_of(cases[i].text), NULL) != cases[i].is_marker)
            fail_msg("%s", cases[i].behaviour);
}

static void a_read_way_says_that_it_gives_the_file_as_it_is(void **state)
{
    struct wr_marker marker = {.way = {.kind = WR_WAY_READ,
                                       .tool = WR_LIT("Read"),
                                       .path = WR_LIT("a\"b.c"),
                                       .start_line = 1,
                                       .end_line = 20},
                               .tokens = 7,
                               .what = "left out"};
    struct wr_buf out;
    (void)state;
    wr_buf_init(&out, 1000);
    assert_int_equal(wr_handle_of(WR_LIT("abc"), &marker.handle), WEIR_OK);
    wr_marker_write(&out, &marker);
    assert_true(
        wr_span_find(
            wr_buf_view(&out),
            WR_LIT("Read {\"path\":\"a\\\"b.c\",\"lines\":\"1-20\"} shows the file as it is now]"),
            0) != SIZE_MAX);
    wr_buf_release(&out);
}

static void only_a_known_range_is_named(void **state)
{
    static const struct {
        int64_t start_line, end_line;
        bool is_named;
    } ranges[] = {{0, 0, false}, {0, 20, false}, {-20, -1, false}, {5, 4, false}, {5, 5, true}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(ranges); i++) {
        struct wr_marker marker = {.way = {.kind = WR_WAY_READ,
                                           .tool = WR_LIT("Read"),
                                           .path = WR_LIT("a.c"),
                                           .start_line = ranges[i].start_line,
                                           .end_line = ranges[i].end_line},
                                   .what = "left out"};
        struct wr_buf out;
        wr_buf_init(&out, 1000);
        wr_marker_write(&out, &marker);
        bool is_named = wr_span_find(wr_buf_view(&out), WR_LIT("\"lines\""), 0) != SIZE_MAX;
        if (is_named != ranges[i].is_named)
            fail_msg("range %zu: %.*s", i, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_known_range_is_named),
        cmocka_unit_test(a_marker_that_is_written_is_found),
        cmocka_unit_test(only_well_formed_markers_count),
        cmocka_unit_test(a_read_way_says_that_it_gives_the_file_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
