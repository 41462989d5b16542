#include "mcp/line_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

enum { LINE_BYTES_MAX = 8 };

static void note(void *user, weir_span line, bool is_too_long)
{
    struct wr_buf *told = user;
    if (is_too_long)
        wr_buf_text(told, "<too long>");
    wr_buf_append(told, line);
    wr_buf_byte(told, '|');
}

static const struct {
    const char *behaviour, *input, *told;
} cases[] = {
    {"nothing", "", ""},
    {"one line", "abc\n", "abc|"},
    {"several", "a\nbc\nd\n", "a|bc|d|"},
    {"a line end is not needed at the end", "a\nbc", "a|bc|"},
    {"blank lines are no messages", "\n \t\r\na\n\n", "a|"},
    {"a CR is white space of JSON", "a\r\n", "a\r|"},
    {"as long as may be", "12345678\n", "12345678|"},
    {"one byte longer is left out", "123456789\nab\n", "<too long>|ab|"},
    {"much longer, and told once", "1234567890123456789012345\nab\n", "<too long>|ab|"},
    {"too long at the end", "ab\n1234567890", "ab|<too long>|"},
};

/* Invariant 1: in pieces of every size. */
static void lines_come_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span input = wr_span_of(cases[i].input);
        for (size_t piece = 1; piece <= input.len + 1; piece++) {
            struct wr_mcp_line_reader reader;
            struct wr_buf told;
            wr_buf_init(&told, 1000);
            wr_mcp_line_reader_init(&reader, LINE_BYTES_MAX, note, &told);
            for (size_t at = 0; at < input.len; at += piece)
                wr_mcp_line_reader_feed(
                    &reader,
                    wr_span_cut(input, at, at + piece < input.len ? at + piece : input.len));
            wr_mcp_line_reader_end(&reader);
            if (!wr_span_is(wr_buf_view(&told), cases[i].told))
                fail_msg("%s, in pieces of %zu: %.*s", cases[i].behaviour, piece, (int)told.len,
                         told.bytes);
            wr_mcp_line_reader_release(&reader);
            wr_buf_release(&told);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_come_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
