#include "condense/gap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/signal.h"

static const struct {
    const char *behaviour, *line;
    bool is_gap;
} rows[] = {
    {"several lines", "[... 80 lines left out: 41-120]", true},
    {"one line", "[... 1 line left out: 7]", true},
    {"with its line end", "[... 1 line left out: 7]\r\n", true},
    {"not with an indent", " [... 1 line left out: 7]", false},
    {"not with words behind it", "[... 1 line left out: 7] and more", false},
    {"not without numbers", "[... lines left out: 41-120]", false},
    {"not without the last number", "[... 80 lines left out: 41]", false},
    {"not another mark", "[... output truncated: 80 chars total]", false},
    {"not nothing", "", false},
};

static void knows_its_lines(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        if (wr_gap_is(wr_span_of(rows[i].line)) != rows[i].is_gap) {
            print_error("%s\n", rows[i].behaviour);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

static void knows_what_it_writes(void **state)
{
    struct wr_buf buf;
    (void)state;
    wr_buf_init(&buf, 1000);
    for (uint64_t count = 1; count < 4; count++) {
        wr_buf_reset(&buf);
        wr_gap_write(&buf, UINT32_MAX, count);
        assert_true(wr_gap_is(wr_buf_view(&buf)));
        wr_buf_reset(&buf);
        wr_gap_write_shown(&buf, count);
        assert_true(wr_gap_is(wr_buf_view(&buf)));
    }
    wr_buf_release(&buf);
}

/* What stands behind a gap is read in the light of what stands before it. */
static void is_passed_over_by_the_scan(void **state)
{
    struct wr_arena arena;
    struct wr_signal_set whole, gapped;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_signal_scan(&whole, &arena,
                                    WR_LIT("--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n-a\n+b\n"
                                           "@@ -7,2 +7,2 @@\n-error: c\n+d\n"),
                                    WR_OUTPUT_PROCESS),
                     WEIR_OK);
    assert_int_equal(wr_signal_scan(&gapped, &arena,
                                    WR_LIT("--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n"
                                           "[... 2 lines left out: 4-5]\n@@ -7,2 +7,2 @@\n"
                                           "[... 2 lines left out: 7-8]\n"),
                                    WR_OUTPUT_PROCESS),
                     WEIR_OK);
    assert_true(wr_signal_set_equal(&whole, &gapped, NULL));
    assert_int_equal(whole.count, 3);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_its_lines),
        cmocka_unit_test(knows_what_it_writes),
        cmocka_unit_test(is_passed_over_by_the_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
