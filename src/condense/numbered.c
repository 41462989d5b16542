#include "condense/numbered.h"

#include "base/ascii.h"

enum { DETECT_LINES_MAX = 64, DIGITS_MAX = 9 };

/* Bytes of blanks, an "L" and a number; 0 where there is no number. */
static size_t read_number(weir_span line, uint64_t *number)
{
    size_t at = 0;
    while (at < line.len && line.ptr[at] == ' ')
        at++;
    if (at < line.len && line.ptr[at] == 'L')
        at++;
    size_t first = at;
    *number = 0;
    while (at < line.len && at - first <= DIGITS_MAX && wr_is_digit(line.ptr[at]))
        *number = *number * 10 + (uint64_t)(line.ptr[at++] - '0');
    return at == first || at - first > DIGITS_MAX ? 0 : at;
}

/* The longer ones first: what begins with another must come before it. */
static weir_span separator_at(weir_span behind)
{
    static const char *const separators[] = {"→", "\t", " | ", "|", ": ", ":"};
    for (size_t i = 0; i < WR_COUNT_OF(separators); i++)
        if (wr_span_starts(behind, wr_span_of(separators[i])))
            return wr_span_of(separators[i]);
    return (weir_span){NULL, 0};
}

struct wr_numbered wr_numbered_detect(weir_span text)
{
    uint64_t before = 0, number;
    weir_span line, separator_before = {NULL, 0};
    for (unsigned i = 0; i < DETECT_LINES_MAX && wr_span_line(&text, &line); i++) {
        size_t digits_end = read_number(line, &number);
        weir_span separator = {NULL, 0};
        if (digits_end)
            separator = separator_at(wr_span_from(line, digits_end));
        if (separator.len && separator_before.len && number == before + 1 &&
            separator.ptr[0] == separator_before.ptr[0])
            return (struct wr_numbered){separator.len < separator_before.len ? separator
                                                                             : separator_before};
        before = number;
        separator_before = separator;
    }
    return (struct wr_numbered){{NULL, 0}};
}

size_t wr_numbered_skip(const struct wr_numbered *numbered, weir_span line, uint64_t *number)
{
    uint64_t unused;
    if (!numbered->separator.len)
        return 0;
    size_t digits_end = read_number(line, number ? number : &unused);
    if (!digits_end)
        return 0;
    weir_span behind = wr_span_from(line, digits_end);
    if (wr_span_starts(behind, numbered->separator))
        return digits_end + numbered->separator.len;
    /* The blank behind a number is often lost where the line is empty. */
    weir_span bare = wr_span_trim(numbered->separator);
    return bare.len && wr_span_eq(wr_span_trim(behind), bare) ? line.len : 0;
}
