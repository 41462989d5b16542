#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static void round_trip(weir_span text, enum wr_codec codec_wanted)
{
    struct wr_packer packer = {0};
    struct wr_buf packed, text_again;
    enum wr_codec codec;

    wr_buf_init(&packed, 1 << 24);
    wr_buf_init(&text_again, 1 << 24);
    assert_int_equal(wr_pack(&packer, text, &packed, &codec), WEIR_OK);
    assert_int_equal(codec, codec_wanted);
    assert_true(packed.len <= text.len);
    assert_int_equal(wr_unpack(&packer, wr_buf_view(&packed), codec, text.len, &text_again),
                     WEIR_OK);
    assert_true(wr_span_eq(text, wr_buf_view(&text_again)));
    wr_buf_release(&packed);
    wr_buf_release(&text_again);
    wr_packer_release(&packer);
}

static void what_is_packed_comes_back(void **state)
{
    struct wr_buf text;
    uint32_t noise = 1;
    (void)state;

    round_trip(WR_LIT(""), WR_CODEC_PLAIN);
    round_trip(WR_LIT("too short to shrink"), WR_CODEC_PLAIN);
    wr_buf_init(&text, 1 << 20);
    for (int i = 0; i < 5000; i++)
        wr_buf_printf(&text, "line %d of many that look alike\n", i);
    round_trip(wr_buf_view(&text), WR_CODEC_ZSTD);
    wr_buf_reset(&text);
    for (int i = 0; i < 100000; i++) {
        noise = noise * 1664525u + 1013904223u;
        wr_buf_byte(&text, (char)(noise >> 24));
    }
    round_trip(wr_buf_view(&text), WR_CODEC_PLAIN);
    wr_buf_release(&text);
}

/* Every byte of a packed text changed, and it cut at every place: never a crash, never more bytes.
 */
static void damage_is_no_crash(void **state)
{
    struct wr_packer packer = {0};
    struct wr_buf packed, out;
    enum wr_codec codec;
    char text[600];
    (void)state;

    memset(text, 'a', sizeof(text));
    memcpy(text + 100, "some other words", 16);
    wr_buf_init(&packed, 1 << 16);
    wr_buf_init(&out, 1 << 16);
    assert_int_equal(wr_pack(&packer, (weir_span){text, sizeof(text)}, &packed, &codec), WEIR_OK);
    assert_int_equal(codec, WR_CODEC_ZSTD);
    for (size_t i = 0; i < packed.len; i++) {
        wr_buf_reset(&out);
        (void)!wr_unpack(&packer, (weir_span){packed.bytes, i}, codec, sizeof(text), &out);
        packed.bytes[i] ^= 0x55;
        wr_buf_reset(&out);
        (void)!wr_unpack(&packer, wr_buf_view(&packed), codec, sizeof(text), &out);
        packed.bytes[i] ^= 0x55;
        assert_true(out.len <= sizeof(text));
    }
    wr_buf_reset(&out);
    weir_span good = wr_buf_view(&packed);
    assert_int_equal(wr_unpack(&packer, good, codec, sizeof(text) - 1, &out), WEIR_SYNTAX);
    assert_int_equal(wr_unpack(&packer, good, codec, sizeof(text) + 1, &out), WEIR_SYNTAX);
    assert_int_equal(wr_unpack(&packer, good, 7, sizeof(text), &out), WEIR_SYNTAX);
    assert_int_equal(wr_unpack(&packer, good, codec, UINT64_MAX, &out), WEIR_SYNTAX);
    assert_int_equal(wr_unpack(&packer, good, WR_CODEC_PLAIN, sizeof(text), &out), WEIR_SYNTAX);
    wr_buf_release(&packed);
    wr_buf_release(&out);
    wr_packer_release(&packer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_comes_back),
        cmocka_unit_test(damage_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
