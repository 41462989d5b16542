#include "api/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static void show(void *user, const struct wr_sse_event *event)
{
    struct wr_buf *out = user;
    wr_buf_printf(out, "[%.*s|%.*s%s]", (int)event->name.len, event->name.ptr, (int)event->data.len,
                  event->data.ptr, event->is_cut ? "|cut" : "");
}

static const struct {
    const char *behaviour, *input, *expected;
} cases[] = {
    {"an event ends at an empty line", "data: a\n\ndata: b\n\n", "[|a][|b]"},
    {"lines of data are joined", "data: a\ndata: b\n\n", "[|a\nb]"},
    {"an event may have a name", "event: x\ndata: a\n\n", "[x|a]"},
    {"a name lasts for one event", "event: x\ndata: a\n\ndata: b\n\n", "[x|a][|b]"},
    {"CR LF ends a line", "data: a\r\ndata: b\r\n\r\n", "[|a\nb]"},
    {"CR alone ends a line", "data: a\rdata: b\r\r", "[|a\nb]"},
    {"a comment is no event", ": ping\n\ndata: a\n\n", "[|a]"},
    {"only one space is taken off", "data:  a\n\n", "[| a]"},
    {"a space is not needed", "data:a\n\n", "[|a]"},
    {"an empty line of data is an event", "data:\n\n", "[|]"},
    {"a field without a colon is empty", "data\n\n", "[|]"},
    {"a name without data is no event", "event: x\n\ndata: a\n\n", "[|a]"},
    {"other fields are left out", "id: 7\nretry: 3\ndata: a\n\n", "[|a]"},
    {"an event that is cut off is none", "data: a\n\ndata: b\n", "[|a]"},
    {"a byte order mark is skipped",
     "\xEF\xBB\xBF"
     "data: a\n\n",
     "[|a]"},
    {"data that is too long is left out", "event: x\ndata: 12345678901234567890\n\ndata: a\n\n",
     "[x||cut][|a]"},
    {"so are lines that are too long together", "data: 1234567890\ndata: 1234567890\n\ndata: a\n\n",
     "[||cut][|a]"},
    {"a line without end does not grow",
     "data: 1234567890123456789012345678901234567890123456789012345678901234567890\n\ndata: a\n\n",
     "[||cut][|a]"},
};

static void feed_in_pieces(const char *input, size_t piece, struct wr_buf *out)
{
    enum { DATA_BYTES_MAX = 16 };
    weir_span rest = wr_span_of(input);
    struct wr_sse sse;

    wr_sse_init(&sse, DATA_BYTES_MAX, show, out);
    while (rest.len) {
        size_t bytes = rest.len < piece ? rest.len : piece;
        wr_sse_feed(&sse, wr_span_cut(rest, 0, bytes));
        rest = wr_span_cut(rest, bytes, rest.len);
    }
    wr_sse_release(&sse);
}

static void every_cut_gives_the_same_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (size_t piece = 1; piece <= 90; piece++) {
            struct wr_buf out;
            wr_buf_init(&out, 4096);
            feed_in_pieces(cases[i].input, piece, &out);
            if (!wr_span_is(wr_buf_view(&out), cases[i].expected))
                fail_msg("%s (pieces of %zu): %.*s", cases[i].behaviour, piece, (int)out.len,
                         out.bytes);
            wr_buf_release(&out);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cut_gives_the_same_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
