/* condense_check.h -- for tests and the fuzzer: what condense.h promises, checked on one input.
 *
 * condense_check() gives NULL, or the promise that was broken. */
#ifndef WR_TESTS_CONDENSE_CHECK_H
#define WR_TESTS_CONDENSE_CHECK_H

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "condense/keep.h"
#include "condense/note.h"

/* The lines of a text, found without the code that is checked. */
struct condense_lines {
    weir_span text;
    size_t *starts; /* and the text's length behind the last */
    uint32_t count;
    const struct wr_lossless_text *cleaned; /* where the text is not as it came; else NULL */
};

/* The number that a line of the text, or the end of it, has in the text as it came. */
static inline uint32_t condense_origin(const struct condense_lines *lines, uint32_t line)
{
    return lines->cleaned ? lines->cleaned->origins[line] : line;
}

static inline bool condense_lines_read(struct condense_lines *lines, struct wr_arena *arena,
                                       weir_span text)
{
    *lines = (struct condense_lines){.text = text};
    lines->starts = WR_ARENA_ARRAY(arena, size_t, text.len + 2);
    if (!lines->starts)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!i || text.ptr[i - 1] == '\n')
            lines->starts[lines->count++] = i;
    lines->starts[lines->count] = text.len;
    return true;
}

static inline bool condense_is_cut(const struct wr_condensed *out, uint32_t line)
{
    for (uint32_t i = 0; i < out->cut_count; i++)
        if (out->cut_lines[i] == line)
            return true;
    return false;
}

/* A kept line as the result says it is written. */
static inline void condense_write_line(struct wr_buf *buf, const struct condense_lines *lines,
                                       const struct wr_condensed *out, uint32_t line)
{
    weir_span text = wr_span_cut(lines->text, lines->starts[line], lines->starts[line + 1]);
    uint32_t origin = condense_origin(lines, line);
    if (!out->cut_count || !condense_is_cut(out, origin)) {
        wr_buf_append(buf, text);
        return;
    }
    bool has_end = text.len && text.ptr[text.len - 1] == '\n';
    text.len -= has_end;
    if (out->forms && out->forms[origin].ptr)
        wr_buf_append(buf, out->forms[origin]);
    else
        wr_keep_cut(buf, text, &out->cut);
    if (has_end)
        wr_buf_byte(buf, '\n');
}

/* The result, written anew from the ranges it gives. False where these are no ranges of the text,
 * or begin or end inside what was taken out of it. */
static inline bool condense_rebuild(struct wr_buf *buf, const struct condense_lines *lines,
                                    const struct wr_condensed *out, uint64_t first_number)
{
    uint32_t behind = 0, line = 0;
    for (uint32_t i = 0; i < out->kept_count; i++) {
        struct wr_line_range run = out->kept[i];
        if (run.first >= run.end || run.end > out->lines_total || run.first < behind + (i > 0))
            return false;
        if (run.first > behind)
            wr_gap_write(buf, first_number + behind, run.first - behind);
        while (line < lines->count && condense_origin(lines, line) < run.first)
            line++;
        if (condense_origin(lines, line) != run.first)
            return false;
        for (; line < lines->count && condense_origin(lines, line) < run.end; line++)
            condense_write_line(buf, lines, out, line);
        if (condense_origin(lines, line) != run.end)
            return false;
        behind = run.end;
    }
    if (out->lines_total > behind)
        wr_gap_write(buf, first_number + behind, out->lines_total - behind);
    return !wr_buf_status(buf);
}

/* Checks `kept` against the text, or against what wr_lossless() made of it. */
static inline const char *condense_check_ranges(const struct wr_condense_input *input,
                                                struct wr_arena *arena, bool is_cleaned,
                                                const struct wr_condensed *out)
{
    struct condense_lines lines, plain;
    struct wr_lossless_text cleaned = {.text = input->text, .is_same = true};
    struct wr_buf buf;
    if (is_cleaned && !out->is_same && wr_lossless(&cleaned, arena, input->text, input->kind))
        return "cleaning does not fail";
    if (!condense_lines_read(&lines, arena, cleaned.text) ||
        !condense_lines_read(&plain, arena, input->text))
        return "no memory for the check";
    if (out->lines_total != plain.count)
        return "the text has as many lines as the result says";
    if (cleaned.lines_moved)
        return out->lines_moved && !out->kept_count ? NULL : "moved lines have no numbers";
    lines.cleaned = cleaned.is_same ? NULL : &cleaned;
    wr_buf_init(&buf, 4 * input->text.len + 4096);
    bool valid = condense_rebuild(&buf, &lines, out, input->first_number ? input->first_number : 1);
    bool same = wr_span_eq(wr_buf_view(&buf), out->text);
    wr_buf_release(&buf);
    if (!valid)
        return "kept ranges are ascending, apart and within the text";
    return same ? NULL : "the kept lines, with gap lines between them, are the result";
}

static inline bool condense_same_signals(struct wr_arena *arena, weir_span a, weir_span b,
                                         enum wr_output_kind kind)
{
    struct wr_signal_set left, right;
    return !wr_signal_scan(&left, arena, a, kind) && !wr_signal_scan(&right, arena, b, kind) &&
           wr_signal_set_equal(&left, &right, NULL);
}

static inline const char *condense_check_in(const struct wr_condense_input *input,
                                            wr_condense_fn *condense, struct wr_arena *arena)
{
    struct wr_condensed out, again, twice;
    if (condense(&out, arena, input) || condense(&again, arena, input))
        return "condensing does not fail";
    if (out.text.len > input->text.len)
        return "the result is never longer than the text";
    if (out.is_same && !wr_span_eq(out.text, input->text))
        return "where nothing was left out, the result is the text";
    if (!wr_span_eq(out.text, again.text))
        return "the same input gives the same bytes";
    if (!condense_same_signals(arena, input->text, out.text, input->kind))
        return "the signals of the result are those of the text";
    const char *broken = condense_check_ranges(input, arena, condense == wr_condense, &out);
    if (broken)
        return broken;
    struct wr_condense_input second = *input;
    second.text = out.text;
    if (condense(&twice, arena, &second))
        return "condensing what was condensed does not fail";
    return condense_same_signals(arena, input->text, twice.text, input->kind)
               ? NULL
               : "condensing what was condensed keeps the signals";
}

static inline const char *condense_check(const struct wr_condense_input *input,
                                         wr_condense_fn *condense)
{
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    const char *broken = condense_check_in(input, condense, &arena);
    wr_arena_release(&arena);
    return broken;
}

#endif
