#include "net/head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *behaviour, *lines, *expected; /* NULL: it is not well formed */
} cases[] = {
    {"a status and its reason", "HTTP/1.1 404 Not Found\r\n\r\n", "404 'Not Found' -1"},
    {"no reason", "HTTP/1.1 529\r\n\r\n", "529 '' -1"},
    {"HTTP/2 has none", "HTTP/2 200 \r\ncontent-length: 3\r\n\r\n", "200 '' 3"},
    {"a length", OK "Content-Length: 5\r\n\r\n", "200 'OK' 5"},
    {"chunks", OK "Transfer-Encoding: chunked\r\n\r\n", "200 'OK' -1 chunked"},
    {"chunks come before a length", OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
     "200 'OK' -1 chunked"},
    {"in any order", OK "transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n",
     "200 'OK' -1 chunked"},
    {"one length, said twice", OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", "200 'OK' 5"},
    {"two lengths", OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", NULL},
    {"two of three", OK "Content-Length: 5\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
     NULL},
    {"a list of lengths", OK "Content-Length: 5, 6\r\n\r\n", NULL},
    {"a length with a sign", OK "Content-Length: -5\r\n\r\n", NULL},
    {"a length too large", OK "Content-Length: 9999999999999999999\r\n\r\n", NULL},
    {"a length that is none", OK "Content-Length:\r\n\r\n", NULL},
    {"a line without a colon", OK "nothing\r\n\r\n", NULL},
    {"no status", "HTTP/1.1\r\n\r\n", NULL},
    {"a status that is no number", "HTTP/1.1 2x0 OK\r\n\r\n", NULL},
    {"no answer", "hello there\r\n\r\n", NULL},
    {"nothing", "", NULL},
};

static void heads_are_read_as_their_bodies_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_head head;
        struct wr_buf out;

        wr_buf_init(&out, 4096);
        bool ok = wr_answer_head_read(wr_span_of(cases[i].lines), &head);
        if (ok)
            wr_buf_printf(&out, "%d '%.*s' %lld%s", head.status, (int)head.target.len,
                          head.target.ptr, (long long)head.content_bytes,
                          head.is_chunked ? " chunked" : "");
        if (ok != (cases[i].expected != NULL) ||
            (ok && !wr_span_is(wr_buf_view(&out), cases[i].expected)))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)out.len, out.len ? out.bytes : "");
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads_are_read_as_their_bodies_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
