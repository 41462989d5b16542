/* form_check.h -- for tests: whether the form of a line is made of that line alone, blanks aside.
 */
#ifndef WR_CONDENSE_FORM_CHECK_H
#define WR_CONDENSE_FORM_CHECK_H

#include "base/buf.h"
#include "base/span.h"
#include "condense/condense.h"
#include "condense/gap.h"

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

#endif
