/* condense_rows.h -- for tests: tables of what a condenser makes of a text. With each row all
 * promises of condense.h are checked, too (condense_check.h).
 *
 * A kept_case says which lines stay. In its text, a line "*20 step @ took ~ms" stands for 20 lines,
 * with two other letters for '@' and another number for '~' in each. What is kept is written as
 * "1-4 9", lines counted from 1, or "all".
 *
 * A form_case says the result itself. Each form of a line must be made of that line alone, blanks
 * aside.
 */
#ifndef WR_TESTS_CONDENSE_ROWS_H
#define WR_TESTS_CONDENSE_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "tests/condense_check.h"

/* -- which lines are kept ---------------------------------------------------------------------- */

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

/* -- the form itself --------------------------------------------------------------------------- */

#define FORM_MARK "\xe2\x80\xa6"

/* Bytes of the mark of a cut at the front of `text`, which has no blanks: "[… 12 bytes left out
 * …]", "…"; else 0. */
static inline size_t form_mark_bytes(weir_span text)
{
    if (wr_span_starts(text, WR_LIT("[" FORM_MARK))) {
        size_t end = wr_span_find(text, WR_LIT("leftout" FORM_MARK "]"), 0);
        if (end != SIZE_MAX)
            return end + sizeof("leftout" FORM_MARK "]") - 1;
    }
    return wr_span_starts(text, WR_LIT(FORM_MARK)) ? sizeof(FORM_MARK) - 1 : 0;
}

/* Whether the pieces of one line of a form, between its marks, stand in `*rest` in this order. */
static inline bool form_takes_line(weir_span *rest, weir_span form)
{
    for (size_t at = 0; at < form.len;) {
        size_t mark = form_mark_bytes(wr_span_cut(form, at, form.len)), end = at;
        if (mark) {
            at += mark;
            continue;
        }
        while (end < form.len && !form_mark_bytes(wr_span_cut(form, end, form.len)))
            end++;
        weir_span piece = wr_span_cut(form, at, end);
        size_t found = wr_span_find(*rest, piece, 0);
        if (found == SIZE_MAX)
            return false;
        *rest = wr_span_cut(*rest, found + piece.len, rest->len);
        at = end;
    }
    return true;
}

static inline void form_without_blanks(struct wr_buf *out, weir_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != ' ' && text.ptr[i] != '\t')
            wr_buf_byte(out, text.ptr[i]);
}

/* The lines of a form, gap lines aside, one behind the other. */
static inline void form_join(struct wr_buf *out, weir_span form)
{
    weir_span part;
    while (wr_span_line(&form, &part))
        if (!wr_gap_is(part)) {
            form_without_blanks(out, part);
            wr_buf_text(out, FORM_MARK);
        }
}

static inline bool form_is_of_line(weir_span form, weir_span line)
{
    struct wr_buf joined, plain;
    wr_buf_init(&joined, 4 * form.len + 64);
    wr_buf_init(&plain, line.len + 1);
    form_join(&joined, form);
    form_without_blanks(&plain, line);
    weir_span rest = wr_buf_view(&plain);
    bool is = !joined.status && !plain.status && form_takes_line(&rest, wr_buf_view(&joined));
    wr_buf_release(&joined);
    wr_buf_release(&plain);
    return is;
}

/* Whether every form of the result is made of its own line. */
static inline bool forms_are_of_lines(const struct wr_condensed *out, weir_span text)
{
    weir_span line;
    for (uint32_t i = 0; out->forms && wr_span_line(&text, &line); i++)
        if (out->forms[i].ptr && !form_is_of_line(out->forms[i], line))
            return false;
    return true;
}

struct form_case {
    const char *behaviour;
    const char *text;
    size_t bytes_budget;
    const char *query, *focus; /* NULL: none */
    const char *expected;
};

static inline weir_span form_case_words(const char *words)
{
    return words ? wr_span_of(words) : (weir_span){"", 0};
}

/* Prints what differs and returns how many rows do. */
static inline unsigned form_case_row(const struct form_case *row, wr_condense_fn *condense,
                                     enum wr_output_kind kind)
{
    struct wr_arena arena;
    struct wr_condensed out;
    struct wr_condense_input input = {.text = wr_span_of(row->text),
                                      .kind = kind,
                                      .query = form_case_words(row->query),
                                      .focus = form_case_words(row->focus),
                                      .bytes_budget = row->bytes_budget};
    const char *broken = condense_check(&input, condense);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(condense(&out, &arena, &input), WEIR_OK);
    if (!broken && !forms_are_of_lines(&out, input.text))
        broken = "a form is made of its own line";
    if (!broken && !wr_span_is(out.text, row->expected))
        broken = "the result is what the row says";
    if (broken)
        print_error("%s: broken: %s\n--- expected\n%s--- result\n%.*s---\n", row->behaviour, broken,
                    row->expected, (int)out.text.len, out.text.ptr);
    wr_arena_release(&arena);
    return broken != NULL;
}

static inline void form_case_rows(const struct form_case *rows, size_t count,
                                  wr_condense_fn *condense, enum wr_output_kind kind)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += form_case_row(&rows[i], condense, kind);
    if (wrong)
        fail_msg("%u of %zu rows", wrong, count);
}

#endif
