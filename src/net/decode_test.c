#include "net/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/span.h"

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
        cmocka_unit_test(every_coding_comes_back_whole), cmocka_unit_test(bombs_are_bounded),
        cmocka_unit_test(what_is_cut_or_wrong_is_seen), cmocka_unit_test(names_of_codings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
