/* Runs of tests: failed tests with all that is said of each, as far as the budget reaches, the
 * nearest lines of all of them first; the end, with its totals; lists of slow and flaky tests; what
 * was sought; the beginning; what else was printed. Tests that passed are left out, and so is the
 * part of the budget they would have taken. */
#include "condense/kinds.h"

#include "condense/choose.h"
#include "condense/test_line.h"

enum {
    BLOCK_LINES_MAX = 60, /* of one failure, on each side of its signals */
    BLOCK_PERCENT = 75,   /* each of what is left then */
    LAST_LINES = 12,
    LAST_LINES_ANY = 3, /* whatever they say */
    FIRST_LINES = 8,
    ENDS_PERCENT = 40,
    EXTRA_LINES = 6, /* of a list of slow or flaky tests */
    FOCUS_PERCENT = 40,
};

struct run {
    struct wr_keep keep;
    uint8_t *kinds;   /* an enum wr_test_line for each line */
    uint8_t *borders; /* an enum wr_border */
};

static weir_status read_lines(struct run *run)
{
    struct wr_keep *keep = &run->keep;
    run->kinds = WR_ARENA_ARRAY(keep->arena, uint8_t, keep->lines_count);
    run->borders = WR_ARENA_ARRAY(keep->arena, uint8_t, keep->lines_count);
    if (!run->kinds || !run->borders)
        return wr_arena_status(keep->arena);
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        enum wr_test_line kind = wr_test_line_read(wr_keep_line(keep, line));
        run->kinds[line] = (uint8_t)kind;
        run->borders[line] = kind == WR_TEST_PASSED    ? WR_BORDER_WALL
                             : kind == WR_TEST_HEADING ? WR_BORDER_HEADING
                                                       : WR_BORDER_NONE;
    }
    return WEIR_OK;
}

static bool keep_unless_passed(struct run *run, uint32_t line)
{
    return run->kinds[line] == WR_TEST_PASSED || wr_keep_one(&run->keep, line);
}

static void keep_from_back(struct run *run, uint32_t first)
{
    for (uint32_t line = run->keep.lines_count; line > first; line--)
        if (!keep_unless_passed(run, line - 1))
            return;
}

static void keep_from_front(struct run *run, uint32_t end)
{
    for (uint32_t line = 0; line < end; line++)
        if (!keep_unless_passed(run, line))
            return;
}

static void keep_ends(struct run *run)
{
    uint32_t count = run->keep.lines_count;
    size_t budget = wr_choose_share(&run->keep, ENDS_PERCENT);
    (void)wr_keep_from_back(&run->keep, count > LAST_LINES_ANY ? count - LAST_LINES_ANY : 0, count);
    keep_from_back(run, count > LAST_LINES ? count - LAST_LINES : 0);
    keep_from_front(run, count < FIRST_LINES ? count : FIRST_LINES);
    run->keep.bytes_budget = budget;
}

static void keep_extras(struct run *run)
{
    struct wr_keep *keep = &run->keep;
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        if (run->kinds[line] != WR_TEST_EXTRA)
            continue;
        uint32_t end =
            line + EXTRA_LINES < keep->lines_count ? line + EXTRA_LINES : keep->lines_count;
        (void)wr_keep_from_front(keep, line, end);
    }
}

weir_status wr_condense_test(struct wr_condensed *out, struct wr_arena *arena,
                             const struct wr_condense_input *input)
{
    struct run run;
    struct wr_keep *keep = &run.keep;
    weir_status status = wr_choose_begin(keep, arena, input);
    if (!status)
        status = read_lines(&run);
    if (status)
        return status;
    size_t budget = wr_choose_share(keep, BLOCK_PERCENT);
    status = wr_choose_context(keep, run.borders, BLOCK_LINES_MAX, BLOCK_LINES_MAX);
    keep->bytes_budget = budget;
    if (status)
        return status;
    keep_ends(&run);
    keep_extras(&run);
    status = wr_choose_focus(keep, input, FOCUS_PERCENT);
    if (status)
        return status;
    keep_from_back(&run, 0);
    keep_from_front(&run, keep->lines_count);
    wr_keep_widen(keep);
    return wr_keep_write(keep, out);
}
