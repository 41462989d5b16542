/* Line numbers that tools print: finding them, passing over them, and leaving out those that can be
 * counted.
 *
 * A number is left out only where the one above it, as it is printed, says what it is to the byte;
 * numbered_test.c puts all of them back. What may be a numbered list of the file's own is not
 * touched: an edit of such a line would have to quote its number. */
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

/* Behind the separator at `digits_end`; 0 where there is none. The blank behind a number is often
 * lost where the line is empty. */
static size_t skip_separator(const struct wr_numbered *numbered, weir_span line, size_t digits_end)
{
    weir_span behind = wr_span_from(line, digits_end);
    if (wr_span_starts(behind, numbered->separator))
        return digits_end + numbered->separator.len;
    weir_span bare = wr_span_trim(numbered->separator);
    return bare.len && wr_span_eq(wr_span_trim(behind), bare) ? line.len : 0;
}

size_t wr_numbered_skip(const struct wr_numbered *numbered, weir_span line, uint64_t *number)
{
    uint64_t unused;
    if (!numbered->separator.len)
        return 0;
    size_t digits_end = read_number(line, number ? number : &unused);
    return digits_end ? skip_separator(numbered, line, digits_end) : 0;
}

/* ---- without most of them ---- */

static struct wr_number_before prefix_of(const struct wr_numbered *numbered, weir_span line)
{
    struct wr_number_before p = {.len = 0};
    size_t at = 0;

    while (at < line.len && line.ptr[at] == ' ')
        at++;
    p.blanks = at;
    if (at == line.len || !(wr_is_digit(line.ptr[at]) || line.ptr[at] == 'L'))
        return p;
    p.has_letter = line.ptr[at] == 'L';
    at += p.has_letter;
    p.has_nought = at < line.len && line.ptr[at] == '0';
    size_t digits_end = read_number(line, &p.number);
    if (!digits_end)
        return p;
    p.digits = digits_end - at;
    p.len = skip_separator(numbered, line, digits_end);
    p.separator_len = p.len - (p.len ? digits_end : 0);
    return p;
}

static size_t digits_count(uint64_t number)
{
    size_t count = 1;
    for (; number > 9; number /= 10)
        count++;
    return count;
}

/* Whether who reads `above` knows that `p` comes next: blanks or noughts fill up what there is. */
static bool follows(const struct wr_number_before *p, const struct wr_number_before *above)
{
    if (!above->len || !p->len || p->number != above->number + 1 ||
        p->has_letter != above->has_letter || p->separator_len != above->separator_len)
        return false;
    size_t digits = digits_count(p->number), width = above->blanks + above->digits;
    size_t fill = width > digits ? width - digits : 0;
    return above->has_nought ? !p->blanks && p->digits == digits + fill
                             : p->blanks == fill && p->digits == digits;
}

bool wr_numbered_by_tool(const struct wr_numbered *numbered, weir_span text)
{
    weir_span line;
    if (!numbered->separator.len || wr_span_is(numbered->separator, "→"))
        return numbered->separator.len > 0;
    while (wr_span_line(&text, &line)) {
        struct wr_number_before p = prefix_of(numbered, line);
        if (p.len && (p.blanks || p.has_nought || p.len == line.len))
            return true;
    }
    return false;
}

static void look_below(struct wr_numbered_walk *walk)
{
    walk->goes_on = wr_span_line(&walk->rest, &walk->line);
    walk->below = walk->goes_on ? prefix_of(&walk->numbered, walk->line)
                                : (struct wr_number_before){.len = 0};
}

void wr_numbered_walk_init(struct wr_numbered_walk *walk, const struct wr_numbered *numbered,
                           weir_span text, uint32_t every)
{
    *walk = (struct wr_numbered_walk){.numbered = *numbered, .rest = text, .every = every};
    look_below(walk);
}

bool wr_numbered_walk_next(struct wr_numbered_walk *walk, weir_span *line, size_t *left)
{
    struct wr_number_before above = walk->here;

    if (!walk->goes_on)
        return false;
    *line = walk->line;
    *left = 0;
    walk->here = walk->below;
    look_below(walk);
    if (walk->here.len && walk->here.number % walk->every && follows(&walk->here, &above) &&
        follows(&walk->below, &walk->here) &&
        !prefix_of(&walk->numbered, wr_span_from(*line, walk->here.len)).len)
        *left = walk->here.len;
    return true;
}

uint32_t wr_numbered_thin(struct wr_buf *out, weir_span text, uint32_t every)
{
    struct wr_numbered numbered = wr_numbered_detect(text);
    struct wr_numbered_walk walk;
    const char *copied = text.ptr, *end = text.ptr + text.len;
    weir_span line;
    uint32_t count = 0;
    size_t left;

    if (!wr_numbered_by_tool(&numbered, text))
        return 0;
    wr_numbered_walk_init(&walk, &numbered, text, every);
    while (wr_numbered_walk_next(&walk, &line, &left)) {
        if (!left)
            continue;
        wr_buf_append(out, (weir_span){copied, (size_t)(line.ptr - copied)});
        copied = line.ptr + left;
        count++;
    }
    if (count)
        wr_buf_append(out, (weir_span){copied, (size_t)(end - copied)});
    return count;
}
