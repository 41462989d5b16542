#include "condense/location.h"
#include "condense/signal_scanner.h"

static bool contains(weir_span text, weir_span part)
{
    return wr_span_has(text, part);
}

/* "at f (a.js:1:2)", "at a.js:1:2", "at a.B.c(B.java:3)", "at A.B() in /x/a.cs:line 3". */
static bool is_at_frame(weir_span text)
{
    struct wr_location location;
    if (!wr_span_starts(text, WR_LIT("at ")))
        return false;
    text = wr_span_from(text, 3);
    if (contains(text, WR_LIT(":line ")) && contains(text, WR_LIT(" in ")))
        return true;
    if (text.len && text.ptr[text.len - 1] == ')') {
        return wr_location_find(text, 0, &location) || contains(text, WR_LIT("(<anonymous>)")) ||
               contains(text, WR_LIT("(native")) || contains(text, WR_LIT("(Native Method)")) ||
               contains(text, WR_LIT("(Unknown Source)"));
    }
    /* "at a.js:1:2" alone; behind "at" nothing but the place, or a name before it. */
    return wr_location_find(text, 0, &location) && location.end == text.len;
}

/* "#0 /x/a.php(12): f()", "#0 0x4f in main /x/a.c:12:3", "#3  main () at a.c:4". */
static bool is_numbered_frame(weir_span text)
{
    struct wr_location location;
    size_t i = 1;
    if (text.len < 4 || text.ptr[0] != '#' || !wr_is_digit(text.ptr[1]))
        return false;
    while (i < text.len && wr_is_digit(text.ptr[i]))
        i++;
    if (i >= text.len || text.ptr[i] != ' ')
        return false;
    weir_span rest = wr_span_trim(wr_span_from(text, i));
    return wr_span_starts(rest, WR_LIT("0x")) || wr_location_find(rest, 0, &location);
}

/* "\t/x/main.go:12 +0x1d", below the function it belongs to. */
static bool is_go_frame(weir_span line)
{
    struct wr_location location;
    if (!line.len || line.ptr[0] != '\t' || !wr_location_read(line, 1, &location))
        return false;
    weir_span behind = wr_span_from(line, location.end);
    return wr_span_ends(location.path, WR_LIT(".go")) && !location.column.len &&
           (!behind.len || wr_span_starts(behind, WR_LIT(" +0x")));
}

/* "from a.rb:5:in `f'", "(app 1.0) lib/a.ex:5: A.f/1". */
static bool is_other_frame(weir_span text)
{
    struct wr_location location;
    if (wr_span_starts(text, WR_LIT("from ")))
        return wr_location_read(text, 5, &location) &&
               wr_span_starts(wr_span_from(text, location.end), WR_LIT(":in "));
    if (!text.len || text.ptr[0] != '(')
        return false;
    size_t close = wr_span_find(text, WR_LIT(") "), 0);
    return close != SIZE_MAX && wr_location_read(text, close + 2, &location) &&
           wr_span_starts(wr_span_from(text, location.end), WR_LIT(": "));
}

/* Frames of the language itself tell nothing of the program. */
static bool is_inner(weir_span text)
{
    return contains(text, WR_LIT("/rustc/")) || contains(text, WR_LIT("/src/runtime/")) ||
           contains(text, WR_LIT("/src/testing/"));
}

static bool is_python_frame(weir_span text)
{
    return wr_span_starts(text, WR_LIT("File \"")) && contains(text, WR_LIT("\", line "));
}

bool wr_signal_frame(struct wr_signal_scanner *scanner, weir_span line)
{
    weir_span text = wr_span_trim(line);
    if (is_python_frame(text)) {
        scanner->python_frame = text;
        scanner->python_basis = wr_signal_basis_now(scanner);
        return true;
    }
    if (!is_at_frame(text) && !is_numbered_frame(text) && !is_go_frame(line) &&
        !is_other_frame(text))
        return false;
    if (!scanner->frame_wanted || is_inner(text))
        return true;
    scanner->frame_wanted = false;
    if (wr_span_starts(text, WR_LIT("at ")))
        text = wr_span_from(text, 3);
    wr_signal_add(scanner, WR_SIGNAL_FRAME, text);
    return true;
}

void wr_signal_frame_flush(struct wr_signal_scanner *scanner)
{
    /* The header that was kept for a stack's top is not what this frame rests on. */
    struct wr_signal_basis header = scanner->header;
    scanner->header = (struct wr_signal_basis){0, 0, 0, 0, WR_LINE_NONE};
    wr_signal_add_earlier(scanner, WR_SIGNAL_FRAME, scanner->python_frame, &scanner->python_basis);
    scanner->header = header;
    scanner->python_frame = (weir_span){"", 0};
}
