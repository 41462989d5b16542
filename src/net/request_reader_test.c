#include "net/request_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static void on_head(void *user, const struct wr_head *head)
{
    struct wr_buf *out = user;
    wr_buf_printf(out, "%.*s %.*s", (int)head->method.len, head->method.ptr, (int)head->target.len,
                  head->target.ptr);
    if (head->content_bytes >= 0)
        wr_buf_printf(out, " length=%lld", (long long)head->content_bytes);
    wr_buf_printf(out, "%s%s%s%s", head->is_chunked ? " chunked" : "",
                  head->is_upgrade ? " upgrade" : "", head->keeps_connection ? "" : " close",
                  head->expects_continue ? " continue" : "");
    for (size_t i = 0; i < head->headers_count; i++)
        if (wr_header_starts(&head->headers[i], "x"))
            wr_buf_printf(out, " %.*s=%.*s", (int)head->headers[i].name.len,
                          head->headers[i].name.ptr, (int)head->headers[i].value.len,
                          head->headers[i].value.ptr);
    wr_buf_byte(out, ':');
}

static void on_body(void *user, weir_span bytes)
{
    wr_buf_append(user, bytes);
}

static void on_end(void *user)
{
    wr_buf_byte(user, ';');
}

static const struct wr_request_events events = {on_head, on_body, on_end};

#define HOST "Host: h\r\n"

static const struct {
    const char *behaviour, *input, *expected;
} cases[] = {
    {"a request without a body", "GET /a?b=c HTTP/1.1\r\n" HOST "\r\n", "GET /a?b=c:;"},
    {"a body of a known length", "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello",
     "POST / length=5:hello;"},
    {"a chunked body",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
     "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n",
     "POST / chunked:hello world;"},
    {"trailers go nowhere",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"
     "1\r\na\r\n0\r\nX-T: y\r\n\r\n",
     "POST / chunked:a;"},
    {"two requests on one connection",
     "GET /a HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.1\r\n" HOST "\r\n", "GET /a:;GET /b:;"},
    {"an empty line before a request", "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "GET /:;"},
    {"headers keep their order, case and repetitions",
     "GET / HTTP/1.1\r\n" HOST "X-B: 1\r\nx-a:  2 \r\nX-B:\r\n\r\n", "GET / X-B=1 x-a=2 X-B=:;"},
    {"the client wants to close", "GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n",
     "GET / close:;"},
    {"HTTP/1.0 closes", "GET / HTTP/1.0\r\n\r\n", "GET / close:;"},
    {"HTTP/1.0 may keep", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /:;"},
    {"a body that waits",
     "POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 1"
     "\r\n\r\na",
     "POST / length=1 continue:a;"},
    {"an upgrade is seen",
     "GET / HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: websocket\r\n"
     "\r\n",
     "GET / upgrade close:;"},
    {"a length and chunks",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nTransfer-Encoding: "
     "chunked\r\n\r\n0\r\n\r\n",
     "400"},
    {"chunks and a length",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
     "Content-Length: 1\r\n\r\n0\r\n\r\n",
     "400"},
    {"two lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
     "400"},
    {"two lengths that agree",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1"
     "\r\n\r\na",
     "400"},
    {"a length that is none", "POST / HTTP/1.1\r\n" HOST "Content-Length: 1a\r\n\r\na", "400"},
    {"a length too large",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n"
     "\r\na",
     "400"},
    {"a coding before chunked",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n"
     "\r\n0\r\n\r\n",
     "400"},
    {"a coding of another name", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n",
     "400"},
    {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "400"},
    {"a line that ends with LF", "GET / HTTP/1.1\nHost: h\r\n\r\n", "400"},
    {"a header that ends with LF", "GET / HTTP/1.1\r\nHost: h\n\r\n", "400"},
    {"a folded header", "GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", "400"},
    {"a header folded by a tab", "GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n", "400"},
    {"a CR inside a line", "GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n", "400"},
    {"a space before the colon", "GET / HTTP/1.1\r\n" HOST "X : a\r\n\r\n", "400"},
    {"a header without a name", "GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n", "400"},
    {"two spaces in the first line", "GET  / HTTP/1.1\r\n" HOST "\r\n", "400"},
    {"a tab in the first line", "GET /\tHTTP/1.1\r\n" HOST "\r\n", "400"},
    {"no Host", "GET / HTTP/1.1\r\n\r\n", "400"},
    {"two Hosts", "GET / HTTP/1.1\r\n" HOST HOST "\r\n", "400"},
    {"a whole address", "GET http://h/ HTTP/1.1\r\n" HOST "\r\n", "400"},
    {"no path", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "400"},
    {"a version there is not", "GET / HTTP/1.9\r\n" HOST "\r\n", "400"},
    {"a method there is not", "GRAB / HTTP/1.1\r\n" HOST "\r\n", "400"},
    {"a chunk of no size", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nx\r\n",
     "POST / chunked:400"},
    {"a chunk longer than it says",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
     "1\r\nab\r\n0\r\n\r\n",
     "POST / chunked:a400"},
    {"a chunk of a huge size",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
     "fffffffffffffffff\r\n",
     "POST / chunked:400"},
};

static void feed_in_pieces(weir_span input, size_t piece, struct wr_buf *out)
{
    struct wr_request_reader *reader = wr_request_reader_new(&events, out);
    size_t at = 0, used = 0, told_bytes = 0; /* of what was told of the requests that ended */
    const char *why;

    while (at < input.len) {
        size_t to = input.len - at < piece ? input.len : at + piece;
        if (out->len > told_bytes && out->bytes[out->len - 1] == ';') {
            wr_request_reader_next(reader);
            told_bytes = out->len;
        }
        if (wr_request_reader_feed(reader, wr_span_cut(input, at, to), &used)) {
            wr_buf_printf(out, "%d", wr_request_reader_refusal(reader, &why));
            break;
        }
        at += used;
    }
    wr_request_reader_free(reader);
}

static void every_cut_gives_the_same_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (size_t piece = 1; piece <= 200; piece += piece < 20 ? 1 : 30) {
            struct wr_buf out;
            wr_buf_init(&out, 4096);
            feed_in_pieces(wr_span_of(cases[i].input), piece, &out);
            if (!wr_span_is(wr_buf_view(&out), cases[i].expected))
                fail_msg("%s (pieces of %zu): %.*s", cases[i].behaviour, piece, (int)out.len,
                         out.bytes);
            wr_buf_release(&out);
        }
}

static void heads_have_a_cap(void **state)
{
    (void)state;
    for (size_t piece = 1000; piece <= 80000; piece += 39500) {
        struct wr_buf input, out;
        wr_buf_init(&input, 200 * 1024);
        wr_buf_init(&out, 4096);
        wr_buf_text(&input, "GET / HTTP/1.1\r\n" HOST "X: ");
        while (input.len < WR_NET_HEAD_BYTES_MAX + 100)
            wr_buf_byte(&input, 'a');
        feed_in_pieces(wr_buf_view(&input), piece, &out);
        assert_true(wr_span_is(wr_buf_view(&out), "431"));
        wr_buf_reset(&input);
        wr_buf_reset(&out);
        wr_buf_text(&input, "GET / HTTP/1.1\r\n" HOST);
        for (size_t i = 0; i < WR_NET_HEADERS_MAX; i++)
            wr_buf_text(&input, "A: b\r\n");
        wr_buf_text(&input, "\r\n");
        feed_in_pieces(wr_buf_view(&input), piece, &out);
        assert_true(wr_span_is(wr_buf_view(&out), "431"));
        wr_buf_release(&input);
        wr_buf_release(&out);
    }
}

/* A body of `chunks_count` chunks with `bytes` more than they need, in one of three places. */
static void write_extra(struct wr_buf *input, char place, size_t bytes, size_t chunks_count)
{
    wr_buf_text(input, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    for (size_t i = 0; i < chunks_count; i++) {
        size_t extra = place == 't' ? 0 : bytes / chunks_count;
        for (size_t n = 0; place == '0' && n < extra; n++)
            wr_buf_byte(input, '0');
        wr_buf_text(input, place == 'e' && extra ? "1;" : "1");
        for (size_t n = 1; place == 'e' && n < extra; n++)
            wr_buf_byte(input, 'x');
        wr_buf_text(input, "\r\na\r\n");
    }
    wr_buf_text(input, place == 't' ? "0\r\nX:" : "0\r\n");
    for (size_t n = 0; place == 't' && n < bytes; n++)
        wr_buf_byte(input, n % 100 ? ' ' : 'y');
    wr_buf_text(input, place == 't' ? "\r\n\r\n" : "\r\n");
}

/* Whatever is beside the data has a cap, and every cut meets it at the same byte. */
static void what_chunks_say_beside_data_has_a_cap(void **state)
{
    static const size_t counts[] = {1, 4};
    (void)state;
    for (const char *place = "e0t"; *place; place++)
        for (size_t i = 0; i < 2; i++) {
            size_t refused_from[3] = {0};
            static const size_t pieces[] = {1, 17, 100000};
            for (size_t p = 0; p < 3; p++)
                for (size_t bytes = WR_NET_CHUNK_EXTRA_BYTES_MAX - 64;
                     bytes < WR_NET_CHUNK_EXTRA_BYTES_MAX + 256; bytes += 4) {
                    struct wr_buf input, out;
                    wr_buf_init(&input, 200 * 1024);
                    wr_buf_init(&out, 4096);
                    write_extra(&input, *place, bytes, counts[i]);
                    feed_in_pieces(wr_buf_view(&input), pieces[p], &out);
                    bool is_refused = wr_span_find(wr_buf_view(&out), WR_LIT("431"), 0) != SIZE_MAX;
                    if (is_refused && !refused_from[p])
                        refused_from[p] = bytes;
                    assert_int_equal(is_refused, refused_from[p] != 0);
                    wr_buf_release(&input);
                    wr_buf_release(&out);
                }
            assert_true(refused_from[0] > 0);
            assert_int_equal(refused_from[0], refused_from[1]);
            assert_int_equal(refused_from[0], refused_from[2]);
        }
}

static void many_small_chunks_are_fine(void **state)
{
    struct wr_buf input, out;
    (void)state;
    wr_buf_init(&input, 1024 * 1024);
    wr_buf_init(&out, 1024 * 1024);
    write_extra(&input, 'e', 0, 100000);
    feed_in_pieces(wr_buf_view(&input), 1000, &out);
    assert_int_equal(out.len, strlen("POST / chunked:;") + 100000);
    wr_buf_release(&input);
    wr_buf_release(&out);
}

static void a_nul_is_refused(void **state)
{
    static const char input[] = "GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n";
    struct wr_buf out;
    (void)state;
    wr_buf_init(&out, 4096);
    feed_in_pieces((weir_span){input, sizeof(input) - 1}, 7, &out);
    assert_true(wr_span_is(wr_buf_view(&out), "400"));
    wr_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_gives_the_same_requests), cmocka_unit_test(heads_have_a_cap),
        cmocka_unit_test(what_chunks_say_beside_data_has_a_cap),
        cmocka_unit_test(many_small_chunks_are_fine), cmocka_unit_test(a_nul_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
