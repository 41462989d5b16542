#include "condense/location.h"
#include "condense/signal_scanner.h"

static const weir_span NOTHING = {"", 0};

static size_t digits_end(weir_span text, size_t at)
{
    while (at < text.len && wr_is_digit(text.ptr[at]))
        at++;
    return at;
}

/* The ':' of "path:12:" or, at the end of the line, "path:12"; SIZE_MAX where there is none. */
static size_t find_numbered_colon(weir_span line)
{
    for (size_t i = 1; i < line.len; i++) {
        const char *colon = memchr(line.ptr + i, ':', line.len - i);
        if (!colon)
            break;
        i = (size_t)(colon - line.ptr);
        size_t end = digits_end(line, i + 1);
        if (end > i + 1 && (end == line.len || line.ptr[end] == ':'))
            return i;
        if (i + 1 < line.len && line.ptr[i + 1] != '\\' && line.ptr[i + 1] != '/')
            break; /* what comes before the first colon is the path, but for a drive's */
    }
    return SIZE_MAX;
}

/* "12:text", "  Line 12: text", "L12: text": the number of a match below a heading. */
static weir_span row_number(weir_span line)
{
    weir_span text = wr_span_trim(line);
    size_t at = wr_span_starts(text, WR_LIT("Line "))                            ? 5
                : text.len > 1 && text.ptr[0] == 'L' && wr_is_digit(text.ptr[1]) ? 1
                                                                                 : 0;
    size_t end = digits_end(text, at);
    bool match = end > at && end < text.len && text.ptr[end] == ':';
    return match ? wr_span_cut(text, at, end) : NOTHING;
}

/* "path", "path:", "File: path" alone on a line; empty where it is none of them. */
static weir_span heading_path(weir_span line)
{
    weir_span text = wr_span_trim(line);
    if (text.ptr != line.ptr)
        return NOTHING;
    if (wr_span_starts(text, WR_LIT("File: ")))
        return wr_span_cut(text, 6, text.len);
    if (text.ptr[text.len - 1] == ':')
        text.len--;
    return wr_location_is_path(text) ? text : NOTHING;
}

/* "path:text", as a search without numbers gives. */
static void add_file_match(struct wr_signal_scanner *scanner, weir_span line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    weir_span path = {line.ptr, colon ? (size_t)(colon - line.ptr) : 0};
    if (path.len && wr_location_is_path(path))
        wr_signal_add_place(scanner, path, NOTHING, NOTHING);
}

void wr_signal_search(struct wr_signal_scanner *scanner, weir_span line)
{
    weir_span heading = heading_path(line), row = row_number(line);
    if (wr_signal_complaint(scanner, line))
        return;
    if (row.len) {
        bool below = wr_signal_ask_context(scanner) == WR_CONTEXT_PATH;
        wr_signal_add_place(scanner, below ? scanner->context_path : NOTHING, row, NOTHING);
        return;
    }
    size_t colon = find_numbered_colon(line);
    if (colon != SIZE_MAX) {
        weir_span number = wr_span_cut(line, colon + 1, digits_end(line, colon + 1));
        wr_signal_add_place(scanner, wr_span_cut(line, 0, colon), number, NOTHING);
    } else if (heading.len) {
        wr_signal_set_context(scanner, WR_CONTEXT_PATH, heading);
    } else {
        add_file_match(scanner, line);
    }
}
