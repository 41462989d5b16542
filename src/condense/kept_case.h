/* kept_case.h -- for tests: which lines a condenser keeps, in a notation short enough for a table.
 *
 * In a text, a line "*20 step @ took ~ms" stands for 20 lines, with two other letters for '@' and
 * another number for '~' in each. What is kept is written as "1-4 9", lines counted from 1, or
 * "all". With each row all promises of condense.h are checked, too.
 */
#ifndef WR_CONDENSE_KEPT_CASE_H
#define WR_CONDENSE_KEPT_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "condense/condense_check.h"
#include "condense/letters.h"

struct kept_case {
    const char *behaviour, *text;
    size_t bytes_budget;
    const char *kept;
    const char *focus; /* may be NULL */
};

static inline void kept_write_line(struct wr_buf *buf, weir_span line, unsigned number)
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '@')
            wr_buf_printf(buf, "%c%c", 'a' + (int)(number / 26 % 26), 'a' + (int)(number % 26));
        else if (line.ptr[i] == '~')
            wr_buf_printf(buf, "%u", number + 1);
        else
            wr_buf_byte(buf, line.ptr[i]);
    }
    wr_buf_byte(buf, '\n');
}

/* The text that the notation stands for. */
static inline void kept_write_text(struct wr_buf *buf, const char *notation)
{
    weir_span rest = wr_span_of(notation), line;
    while (wr_span_line(&rest, &line)) {
        uint64_t count = 1;
        size_t space = wr_span_find(line, WR_LIT(" "), 0);
        if (space == SIZE_MAX || line.ptr[0] != '*' ||
            !wr_span_u64(wr_span_cut(line, 1, space), &count)) {
            wr_buf_append(buf, line);
            wr_buf_byte(buf, '\n');
            continue;
        }
        for (unsigned number = 0; number < count; number++)
            kept_write_line(buf, wr_span_cut(line, space + 1, line.len), number);
    }
}

static inline void kept_write_ranges(struct wr_buf *buf, const struct wr_condensed *out)
{
    if (out->is_same)
        wr_buf_text(buf, "all");
    for (uint32_t i = 0; i < out->kept_count && !out->is_same; i++) {
        struct wr_line_range run = out->kept[i];
        wr_buf_printf(buf, i ? " %u" : "%u", run.first + 1);
        if (run.end - run.first > 1)
            wr_buf_printf(buf, "-%u", run.end);
    }
}

/* Prints what is wrong and returns how many rows are. */
static inline unsigned kept_case_check(const struct kept_case *row, enum wr_output_kind kind,
                                       wr_condense_fn *condense)
{
    struct wr_arena arena;
    struct wr_buf text, kept;
    struct wr_condensed out;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 1 << 20);
    wr_buf_init(&kept, 1 << 16);
    kept_write_text(&text, row->text);
    struct wr_condense_input input = {.text = wr_buf_view(&text),
                                      .kind = kind,
                                      .query = {"", 0},
                                      .focus = wr_span_of(row->focus ? row->focus : ""),
                                      .bytes_budget = row->bytes_budget};
    assert_int_equal(condense(&out, &arena, &input), WEIR_OK);
    kept_write_ranges(&kept, &out);
    const char *broken = condense_check(&input, condense);
    bool as_said = wr_span_is(wr_buf_view(&kept), row->kept);
    if (broken)
        print_error("%s: broken: %s\n", row->behaviour, broken);
    if (!as_said)
        print_error("%s: kept \"%.*s\" of %u lines, not \"%s\":\n%.*s", row->behaviour,
                    (int)kept.len, kept.bytes ? kept.bytes : "", out.lines_total, row->kept,
                    (int)out.text.len, out.text.ptr);
    wr_buf_release(&kept);
    wr_buf_release(&text);
    wr_arena_release(&arena);
    return broken || !as_said;
}

static inline void kept_cases_check(const struct kept_case *rows, size_t count,
                                    enum wr_output_kind kind, wr_condense_fn *condense)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += kept_case_check(&rows[i], kind, condense);
    if (wrong)
        fail_msg("%u of %zu rows", wrong, count);
}

#endif
