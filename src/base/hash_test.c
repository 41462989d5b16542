#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"

static void sha256_is_the_published_one(void **state)
{
    /* FIPS 180-2, "abc" and the empty message. */
    static const unsigned char abc[4] = {0xba, 0x78, 0x16, 0xbf},
                               empty[4] = {0xe3, 0xb0, 0xc4, 0x42};
    unsigned char digest[WR_SHA256_BYTES];
    (void)state;
    assert_int_equal(wr_sha256(WR_LIT("abc"), digest), WEIR_OK);
    assert_memory_equal(digest, abc, 4);
    assert_int_equal(wr_sha256(WR_LIT(""), digest), WEIR_OK);
    assert_memory_equal(digest, empty, 4);
}

static void hashes_tell_texts_and_seeds_apart(void **state)
{
    wr_hash128 a = wr_hash128_of(WR_LIT("a")), b = wr_hash128_of(WR_LIT("b"));
    (void)state;
    assert_true(a.low != b.low || a.high != b.high);
    assert_true(wr_hash64(WR_LIT("a")) != wr_hash64(WR_LIT("b")));
    assert_true(wr_hash64_seeded(WR_LIT("a"), 1) != wr_hash64_seeded(WR_LIT("a"), 2));
    assert_true(wr_hash64_seeded(WR_LIT("a"), 7) == wr_hash64_seeded(WR_LIT("a"), 7));
    wr_hash128 ab = wr_hash128_seeded(WR_LIT("b"), a), ba = wr_hash128_seeded(WR_LIT("a"), b);
    assert_true(ab.low != ba.low && ab.high != ba.high);
}

static void a_known_hash_chains_like_its_bytes(void **state)
{
    static const char bytes[] = "\x08\x07\x06\x05\x04\x03\x02\x01\x18\x17\x16\x15\x14\x13\x12\x11";
    wr_hash128 known = {0x0102030405060708u, 0x1112131415161718u},
               seed = wr_hash128_of(WR_LIT("s"));
    wr_hash128 chained = wr_hash128_add(known, seed);
    wr_hash128 wanted = wr_hash128_seeded((weir_span){bytes, 16}, seed);
    (void)state;
    assert_true(chained.low == wanted.low && chained.high == wanted.high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sha256_is_the_published_one),
                                       cmocka_unit_test(hashes_tell_texts_and_seeds_apart),
                                       cmocka_unit_test(a_known_hash_chains_like_its_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
