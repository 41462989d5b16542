#include "net/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/span.h"

/* ==== heads ==== */

static const char lines[] = "HTTP/1.1 207 Multi Status\r\nContent-Type: a\r\nX-Hop: 1\r\n"
                            "Connection: close, x-hop\r\nTransfer-Encoding: chunked\r\nX-A:\r\n"
                            "content-length: 12\r\nX-Weir-Mode: y\r\n\r\n";

static void an_answer_is_read(void **state)
{
    struct wr_head head;
    (void)state;
    assert_true(wr_answer_head_read(wr_span_of(lines), &head));
    assert_int_equal(head.status, 207);
    assert_true(wr_span_is(head.target, "Multi Status"));
    assert_int_equal(head.content_bytes, -1); /* chunks say where it ends, not a length */
    assert_true(wr_span_is(wr_head_find(&head, "CONTENT-TYPE"), "a"));
    assert_null(wr_head_find(&head, "x-b").ptr);
    assert_int_equal(wr_head_find(&head, "x-a").len, 0);
    assert_int_equal(head.headers_count, 7);
    assert_true(
        wr_answer_head_read(WR_LIT("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n"), &head));
    assert_int_equal(head.content_bytes, 12);
}

static void hops_are_known(void **state)
{
    static const bool expected[] = {false, true, true, true, false, false, false};
    struct wr_head head;
    (void)state;
    assert_true(wr_answer_head_read(wr_span_of(lines), &head));
    for (size_t i = 0; i < head.headers_count; i++)
        if (wr_head_is_hop(&head, &head.headers[i]) != expected[i])
            fail_msg("%.*s", (int)head.headers[i].name.len, head.headers[i].name.ptr);
    assert_true(wr_header_starts(&head.headers[6], "x-weir-"));
}

static void what_is_no_head_is_refused(void **state)
{
    static const char *const cases[] = {"", "HTTP/1.1", "HTTP/1.1 2", "ICY 200 OK\r\n\r\n",
                                        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"};
    struct wr_head head;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_answer_head_read(wr_span_of(cases[i]), &head))
            fail_msg("'%s'", cases[i]);
    assert_true(wr_answer_head_read(WR_LIT("HTTP/2 200\r\n\r\n"), &head));
}

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *behaviour, *lines, *expected; /* NULL: it is not well formed */
} answer_cases[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(answer_cases); i++) {
        struct wr_head head;
        struct wr_buf out;

        wr_buf_init(&out, 4096);
        bool ok = wr_answer_head_read(wr_span_of(answer_cases[i].lines), &head);
        if (ok)
            wr_buf_printf(&out, "%d '%.*s' %lld%s", head.status, (int)head.target.len,
                          head.target.ptr, (long long)head.content_bytes,
                          head.is_chunked ? " chunked" : "");
        if (ok != (answer_cases[i].expected != NULL) ||
            (ok && !wr_span_is(wr_buf_view(&out), answer_cases[i].expected)))
            fail_msg("%s: %.*s", answer_cases[i].behaviour, (int)out.len, out.len ? out.bytes : "");
        wr_buf_release(&out);
    }
}

/* ==== hosts ==== */

static void addresses_are_read_strictly(void **state)
{
    static const struct {
        const char *text, *name; /* NULL: it is no address */
        int port;
    } cases[] = {
        {"localhost", "localhost", WR_PORT_NONE},
        {"localhost:0", "localhost", 0},
        {"a-b_c.example:65535", "a-b_c.example", 65535},
        {"[::1]", "::1", WR_PORT_NONE},
        {"[::1]:4141", "::1", 4141},
        {"[fe80::1%eth0]:1", "fe80::1%eth0", 1},
        {"", NULL, 0},
        {":80", NULL, 0},
        {"h:", NULL, 0},
        {"h:65536", NULL, 0},
        {"h:99999", NULL, 0},
        {"h:-1", NULL, 0},
        {"h:+1", NULL, 0},
        {"h:80x", NULL, 0},
        {"h: 80", NULL, 0},
        {"h:18446744073709551617", NULL, 0},
        {"127.0.0.1:4141:evil", NULL, 0},
        {"::1", NULL, 0},
        {"::1:80", NULL, 0},
        {"[::1", NULL, 0},
        {"[]", NULL, 0},
        {"[::1%]", NULL, 0},
        {"[localhost]", NULL, 0},
        {"[::1].evil.example", NULL, 0},
        {"[::1]x:1", NULL, 0},
        {"[::1]:", NULL, 0},
        {"user@h", NULL, 0},
        {"a b", NULL, 0},
        {"h/x", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_host host;
        bool ok = wr_host_parse(wr_span_of(cases[i].text), &host);
        if (ok != (cases[i].name != NULL) ||
            (ok && (!wr_span_is(host.name, cases[i].name) || host.port != cases[i].port)))
            fail_msg("'%s'", cases[i].text);
    }
}

static void the_host_of_a_url_ends_where_its_path_begins(void **state)
{
    static const struct {
        const char *url, *name;
        int port;
    } cases[] = {
        {"http://h", "h", WR_PORT_NONE},
        {"https://h:1/v1", "h", 1},
        {"http://[::1]:2?x=1", "::1", 2},
        {"http://127.0.0.1.evil.example/", "127.0.0.1.evil.example", WR_PORT_NONE},
        {"http://127.0.0.1@evil.example/", NULL, 0},
        {"vscode-webview://1a2b", "1a2b", WR_PORT_NONE},
        {"http://", NULL, 0},
        {"null", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_host host;
        bool ok = wr_host_of_url(wr_span_of(cases[i].url), &host);
        if (ok != (cases[i].name != NULL) ||
            (ok && (!wr_span_is(host.name, cases[i].name) || host.port != cases[i].port)))
            fail_msg("'%s'", cases[i].url);
    }
}

static void a_host_is_near_by_its_name(void **state)
{
    static const struct {
        const char *name;
        bool is_loopback, is_private;
    } cases[] = {
        {"localhost", true, true},
        {"LocalHost", true, true},
        {"127.0.0.1", true, true},
        {"127.255.255.254", true, true},
        {"::1", true, true},
        {"0:0:0:0:0:0:0:1", true, true},
        {"model.localhost", true, true},
        {"a.Model.LOCALHOST.", true, true},
        {"localhost.", true, true},
        {"localhost..", false, false},
        {".localhost", false, false},
        {"127.0.0.1.", true, true},
        {"127.1", false, true},
        {"0x7f000001", false, true},
        {"0.0.0.0", false, true},
        {"::", false, true},
        {"::ffff:127.0.0.1", true, true},
        {"::ffff:7f00:2", true, true},
        {"::ffff:0.0.0.0", false, true},
        {"10.1.2.3", false, true},
        {"172.16.0.1", false, true},
        {"172.31.255.255", false, true},
        {"192.168.1.1", false, true},
        {"169.254.169.254", false, true},
        {"fe80::1%eth0", false, true},
        {"fd12::1", false, true},
        {"::ffff:192.168.0.1", false, true},
        {"172.15.0.1", false, false},
        {"172.32.0.1", false, false},
        {"192.169.0.1", false, false},
        {"11.0.0.1", false, false},
        {"8.8.8.8", false, false},
        {"::ffff:8.8.8.8", false, false},
        {"2001:db8::1", false, false},
        {"127.0.0.1.evil.example", false, false},
        {"localhost.evil.example", false, false},
        {"evil-localhost", false, false},
        {"evil.xlocalhost", false, false},
        {"api.openai.com", false, false},
        {"", false, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span name = wr_span_of(cases[i].name);
        if (wr_host_is_loopback(name) != cases[i].is_loopback ||
            wr_host_is_private(name) != cases[i].is_private)
            fail_msg("'%s'", cases[i].name);
    }
}

/* ==== content codings ==== */

enum { TEXT_BYTES = 100 * 1000, PACKED_BYTES_MAX = 200 * 1000 };

/* "hello hello hello hello hello" by brotli -q 5: there is no encoder among what we link. */
static const unsigned char brotli_hello[] = {0x1b, 0x1c, 0x00, 0x00, 0x24, 0x40, 0x6a,
                                             0x10, 0x66, 0xea, 0xf0, 0x9c, 0x1e};

static char text[TEXT_BYTES], packed[PACKED_BYTES_MAX];

static void make_text(void)
{
    for (size_t i = 0; i < TEXT_BYTES; i++)
        text[i] = (char)("the quick brown fox\n"[i % 20] + (char)(i / 997 % 3));
}

static size_t pack_zlib(int window_bits)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = TEXT_BYTES;
    z.next_out = (Bytef *)packed;
    z.avail_out = PACKED_BYTES_MAX;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t bytes = PACKED_BYTES_MAX - z.avail_out;
    (void)deflateEnd(&z);
    return bytes;
}

static weir_status collect(void *user, weir_span bytes)
{
    wr_buf_append(user, bytes);
    return wr_buf_status(user);
}

static weir_status decode(enum wr_coding coding, weir_span input, size_t piece, size_t bytes_max,
                          struct wr_buf *out, bool *is_complete)
{
    struct wr_decoder *decoder = wr_decoder_new(coding, bytes_max, collect, out);
    weir_status status = WEIR_OK;

    assert_non_null(decoder);
    for (size_t at = 0; !status && at < input.len; at += piece) {
        size_t to = input.len - at < piece ? input.len : at + piece;
        status = wr_decoder_feed(decoder, wr_span_cut(input, at, to));
    }
    *is_complete = wr_decoder_is_complete(decoder);
    wr_decoder_free(decoder);
    return status;
}

static void check_all_cuts(enum wr_coding coding, weir_span input, weir_span expected)
{
    static const size_t pieces[] = {1, 7, 100, 16 * 1024, SIZE_MAX / 2};
    for (size_t i = 0; i < WR_COUNT_OF(pieces); i++) {
        struct wr_buf out;
        bool is_complete;
        wr_buf_init(&out, 1024 * 1024);
        assert_int_equal(decode(coding, input, pieces[i], 1024 * 1024, &out, &is_complete),
                         WEIR_OK);
        assert_true(is_complete);
        assert_true(wr_span_eq(wr_buf_view(&out), expected));
        wr_buf_release(&out);
    }
}

static void every_coding_comes_back_whole(void **state)
{
    (void)state;
    make_text();
    weir_span whole = {text, TEXT_BYTES};
    check_all_cuts(WR_CODING_IDENTITY, whole, whole);
    check_all_cuts(WR_CODING_GZIP, (weir_span){packed, pack_zlib(15 + 16)}, whole);
    check_all_cuts(WR_CODING_DEFLATE, (weir_span){packed, pack_zlib(15)}, whole);
    size_t bytes = ZSTD_compress(packed, PACKED_BYTES_MAX, text, TEXT_BYTES, 3);
    check_all_cuts(WR_CODING_ZSTD, (weir_span){packed, bytes}, whole);
    check_all_cuts(WR_CODING_BR, (weir_span){(const char *)brotli_hello, sizeof(brotli_hello)},
                   WR_LIT("hello hello hello hello hello"));
}

static void bombs_are_bounded(void **state)
{
    struct wr_buf out;
    bool is_complete;
    (void)state;
    make_text();
    size_t bytes = pack_zlib(15 + 16);
    wr_buf_init(&out, 1024 * 1024);
    assert_int_equal(
        decode(WR_CODING_GZIP, (weir_span){packed, bytes}, SIZE_MAX / 2, 1000, &out, &is_complete),
        WEIR_LIMIT);
    assert_true(out.len <= 1000);
    wr_buf_release(&out);
}

static void what_is_cut_or_wrong_is_seen(void **state)
{
    static const enum wr_coding codings[] = {WR_CODING_GZIP, WR_CODING_BR, WR_CODING_ZSTD};
    bool is_complete;
    (void)state;
    make_text();
    for (size_t i = 0; i < WR_COUNT_OF(codings); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 1024 * 1024);
        weir_status status = decode(codings[i], WR_LIT("\x7f this is none of them \x01\x02\x03"),
                                    100, 1024 * 1024, &out, &is_complete);
        assert_true(status || !is_complete);
        wr_buf_release(&out);
    }
    struct wr_buf out;
    wr_buf_init(&out, 1024 * 1024);
    size_t bytes = pack_zlib(15 + 16);
    assert_int_equal(decode(WR_CODING_GZIP, (weir_span){packed, bytes - 9}, 100, 1024 * 1024, &out,
                            &is_complete),
                     WEIR_OK);
    assert_false(is_complete);
    wr_buf_release(&out);
}

static void names_of_codings(void **state)
{
    static const struct {
        const char *name;
        enum wr_coding coding;
    } cases[] = {{"", WR_CODING_IDENTITY},     {"gzip", WR_CODING_GZIP},
                 {" GZIP ", WR_CODING_GZIP},   {"br", WR_CODING_BR},
                 {"zstd", WR_CODING_ZSTD},     {"gzip, br", WR_CODING_UNKNOWN},
                 {"snappy", WR_CODING_UNKNOWN}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_coding_of(wr_span_of(cases[i].name)) != cases[i].coding)
            fail_msg("%s", cases[i].name);
    assert_null(wr_decoder_new(WR_CODING_UNKNOWN, 10, collect, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_read),
        cmocka_unit_test(hops_are_known),
        cmocka_unit_test(what_is_no_head_is_refused),
        cmocka_unit_test(heads_are_read_as_their_bodies_are),
        cmocka_unit_test(addresses_are_read_strictly),
        cmocka_unit_test(the_host_of_a_url_ends_where_its_path_begins),
        cmocka_unit_test(a_host_is_near_by_its_name),
        cmocka_unit_test(every_coding_comes_back_whole),
        cmocka_unit_test(bombs_are_bounded),
        cmocka_unit_test(what_is_cut_or_wrong_is_seen),
        cmocka_unit_test(names_of_codings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
