#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "weir/handle.h"

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

/* ==== handles ==== */

#define HANDLE_OF_ABC "wr_ba7816bf8f01cfea4141" /* SHA-256 of "abc" begins so */

static const struct {
    const char *behaviour, *text;
    bool is_handle;
} parse_cases[] = {
    {"prefix and 20 digits are a handle", HANDLE_OF_ABC, true},
    {"one digit less is none", "wr_ba7816bf8f01cfea414", false},
    {"one digit more is none", HANDLE_OF_ABC "0", false},
    {"upper-case digits are not ours", "wr_BA7816BF8F01CFEA4141", false},
    {"a letter past f is no digit", "wr_ga7816bf8f01cfea4141", false},
    {"the prefix is lower-case", "WR_ba7816bf8f01cfea4141", false},
    {"space is not ignored", " wr_ba7816bf8f01cfea414", false},
    {"nothing is no handle", "", false},
};

static void parses(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(parse_cases); i++) {
        weir_handle handle;
        if (weir_handle_parse(wr_span_of(parse_cases[i].text), &handle) != parse_cases[i].is_handle)
            fail_msg("not so: %s: %s", parse_cases[i].behaviour, parse_cases[i].text);
    }
}

static void a_handle_is_the_front_of_the_hash(void **state)
{
    char text[WEIR_HANDLE_TEXT_BYTES + 1];
    weir_handle handle, again;
    (void)state;

    assert_int_equal(weir_handle_of(WR_LIT("abc"), &handle), WEIR_OK);
    weir_handle_format(handle, text);
    assert_string_equal(text, HANDLE_OF_ABC);
    assert_true(weir_handle_parse(wr_span_of(text), &again));
    assert_memory_equal(&handle, &again, sizeof(handle));
}

static const struct {
    const char *behaviour, *text;
    int at[3]; /* of the handles found, -1 after the last */
} find_cases[] = {
    {"alone", HANDLE_OF_ABC, {0, -1}},
    {"in quotes and brackets", "x \"" HANDLE_OF_ABC "\" [" HANDLE_OF_ABC "]", {3, 29, -1}},
    {"at the end of a sentence", "see " HANDLE_OF_ABC ".", {4, -1}},
    {"not inside a longer word", "xwr_ba7816bf8f01cfea4141", {-1}},
    {"not with more digits behind", HANDLE_OF_ABC "00", {-1}},
    {"not with '_' around", "_" HANDLE_OF_ABC " " HANDLE_OF_ABC "_", {-1}},
    {"a cut one is none", "wr_ba7816bf8f01cfea41", {-1}},
    {"after a false start", "wr_wr_ " HANDLE_OF_ABC, {7, -1}},
    {"in nothing", "", {-1}},
};

static void finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(find_cases); i++) {
        weir_span text = wr_span_of(find_cases[i].text);
        size_t from = 0;
        for (const int *at = find_cases[i].at;; at++) {
            weir_handle handle;
            size_t found = weir_handle_find(text, from, &handle);
            if (found != (*at < 0 ? SIZE_MAX : (size_t)*at))
                fail_msg("not so: %s: found at %zu", find_cases[i].behaviour, found);
            if (found == SIZE_MAX)
                break;
            from = found + WEIR_HANDLE_TEXT_BYTES;
        }
    }
}

/* ==== an index ==== */

static uint32_t find(const struct wr_index *index, const uint64_t *keys, uint64_t key, uint32_t *at)
{
    uint64_t hash = wr_hash64((weir_span){(const char *)&key, sizeof(key)});
    uint32_t item;
    for (*at = wr_index_first(index, hash); (item = wr_index_item(index, *at)) != WR_INDEX_NONE;
         *at = wr_index_next(index, *at, hash))
        if (keys[item] == key)
            return item;
    return WR_INDEX_NONE;
}

static void every_item_put_is_found_and_no_other(void **state)
{
    enum { COUNT = 5000 };
    static uint64_t keys[COUNT];
    struct wr_arena arena;
    struct wr_index index;
    uint32_t at;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_index_init(&index, &arena, COUNT), WEIR_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = (uint64_t)i * 7919;
        assert_int_equal(find(&index, keys, keys[i], &at), WR_INDEX_NONE);
        wr_index_put(&index, at, wr_hash64((weir_span){(const char *)&keys[i], sizeof(keys[i])}),
                     i);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(find(&index, keys, keys[i], &at), i);
        assert_int_equal(find(&index, keys, keys[i] + 1, &at), WR_INDEX_NONE);
    }
    wr_arena_release(&arena);
}

static void items_of_one_hash_are_told_apart_by_the_caller(void **state)
{
    struct wr_arena arena;
    struct wr_index index;
    uint32_t seen = 0;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_index_init(&index, &arena, 3), WEIR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t at = wr_index_first(&index, 42);
        while (wr_index_item(&index, at) != WR_INDEX_NONE)
            at = wr_index_next(&index, at, 42);
        wr_index_put(&index, at, 42, i);
    }
    for (uint32_t at = wr_index_first(&index, 42); wr_index_item(&index, at) != WR_INDEX_NONE;
         at = wr_index_next(&index, at, 42))
        seen |= 1u << wr_index_item(&index, at);
    assert_int_equal(seen, 7);
    wr_arena_release(&arena);
}

/* ==== numbers, remembered ==== */

static wr_hash128 key_of(uint64_t number)
{
    return wr_hash128_seeded((weir_span){(const char *)&number, sizeof(number)},
                             (wr_hash128){number, 1});
}

static void what_was_put_in_is_found_while_it_grows(void **state)
{
    enum { COUNT = 5000 };
    struct wr_hash_memo memo;
    uint64_t value;
    (void)state;

    assert_int_equal(wr_hash_memo_init(&memo, 1 << 16), WEIR_OK);
    uint32_t sets_first = memo.sets_count;
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_false(wr_hash_memo_find(&memo, key_of(i), &value));
        wr_hash_memo_put(&memo, key_of(i), i * 7);
    }
    assert_true(memo.sets_count > sets_first);
    assert_true(memo.sets_count * WR_HASH_MEMO_SET < 8 * COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_true(wr_hash_memo_find(&memo, key_of(i), &value));
        assert_int_equal(value, i * 7);
    }
    wr_hash_memo_release(&memo);
}

static void a_full_memo_takes_the_new_and_keeps_most_of_the_old(void **state)
{
    struct wr_hash_memo memo;
    uint64_t value, found_count = 0;
    (void)state;

    assert_int_equal(wr_hash_memo_init(&memo, WR_HASH_MEMO_SET), WEIR_OK);
    for (uint64_t i = 0; i <= WR_HASH_MEMO_SET; i++) {
        wr_hash_memo_put(&memo, key_of(i), i);
        assert_true(wr_hash_memo_find(&memo, key_of(i), &value));
        assert_int_equal(value, i);
    }
    assert_int_equal(memo.sets_count, 1);
    for (uint64_t i = 0; i <= WR_HASH_MEMO_SET; i++)
        found_count += wr_hash_memo_find(&memo, key_of(i), &value);
    assert_int_equal(found_count, WR_HASH_MEMO_SET);
    wr_hash_memo_release(&memo);
}

static void a_cleared_memo_has_nothing_and_takes_more(void **state)
{
    struct wr_hash_memo memo;
    uint64_t value;
    (void)state;

    assert_int_equal(wr_hash_memo_init(&memo, 1000), WEIR_OK);
    wr_hash_memo_put(&memo, key_of(1), 1);
    wr_hash_memo_clear(&memo);
    assert_false(wr_hash_memo_find(&memo, key_of(1), &value));
    assert_false(wr_hash_memo_find(&memo, (wr_hash128){0, 0}, &value));
    wr_hash_memo_put(&memo, key_of(1), 2);
    assert_true(wr_hash_memo_find(&memo, key_of(1), &value));
    assert_int_equal(value, 2);
    wr_hash_memo_release(&memo);
}

/* ==== texts, remembered ==== */

enum { TEXTS_COUNT = 50000 };

static weir_span text_of(char out[32], uint32_t i)
{
    (void)snprintf(out, 32, "text %u", i);
    return wr_span_of(out);
}

static void what_is_found_is_what_was_put(void **state)
{
    struct wr_text_memo *memo;
    uint32_t found = 0;
    char name[32];
    weir_span text;
    (void)state;

    assert_int_equal(wr_text_memo_new(&memo, 64 * 1024 * 1024), WEIR_OK);
    for (uint32_t i = 0; i < TEXTS_COUNT; i++)
        wr_text_memo_put(memo, wr_hash128_of(text_of(name, i)), text_of(name, i));
    for (uint32_t i = 0; i < TEXTS_COUNT; i++)
        if (wr_text_memo_find(memo, wr_hash128_of(text_of(name, i)), &text)) {
            assert_true(wr_span_eq(text, text_of(name, i)));
            found++;
        }
    assert_true(found > 10000); /* more were put than there are places */
    assert_false(wr_text_memo_find(memo, wr_hash128_of(WR_LIT("never put")), &text));
    wr_text_memo_free(memo);
}

static void an_empty_text_is_found_too(void **state)
{
    struct wr_text_memo *memo;
    weir_span text = {"x", 1};
    (void)state;

    assert_int_equal(wr_text_memo_new(&memo, 1024), WEIR_OK);
    wr_text_memo_put(memo, wr_hash128_of(WR_LIT("a")), (weir_span){"", 0});
    assert_true(wr_text_memo_find(memo, wr_hash128_of(WR_LIT("a")), &text));
    assert_int_equal(text.len, 0);
    wr_text_memo_free(memo);
}

static void past_its_cap_it_forgets_between_requests_only(void **state)
{
    struct wr_text_memo *memo;
    weir_span text;
    char name[32];
    (void)state;

    assert_int_equal(wr_text_memo_new(&memo, 64 * 1024), WEIR_OK);
    for (uint32_t i = 0; i < 20000; i++)
        wr_text_memo_put(memo, wr_hash128_of(text_of(name, i)), text_of(name, i));
    assert_true(wr_text_memo_find(memo, wr_hash128_of(text_of(name, 0)), &text));
    wr_text_memo_begin(memo);
    assert_false(wr_text_memo_find(memo, wr_hash128_of(text_of(name, 0)), &text));
    wr_text_memo_put(memo, wr_hash128_of(text_of(name, 0)), text_of(name, 0));
    assert_true(wr_text_memo_find(memo, wr_hash128_of(text_of(name, 0)), &text));
    wr_text_memo_free(memo);
}

static void without_a_memo_nothing_is_found(void **state)
{
    weir_span text;
    (void)state;
    wr_text_memo_put(NULL, wr_hash128_of(WR_LIT("a")), WR_LIT("b"));
    assert_false(wr_text_memo_find(NULL, wr_hash128_of(WR_LIT("a")), &text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_is_the_published_one),
        cmocka_unit_test(hashes_tell_texts_and_seeds_apart),
        cmocka_unit_test(a_known_hash_chains_like_its_bytes),
        cmocka_unit_test(parses),
        cmocka_unit_test(a_handle_is_the_front_of_the_hash),
        cmocka_unit_test(finds),
        cmocka_unit_test(every_item_put_is_found_and_no_other),
        cmocka_unit_test(items_of_one_hash_are_told_apart_by_the_caller),
        cmocka_unit_test(what_was_put_in_is_found_while_it_grows),
        cmocka_unit_test(a_full_memo_takes_the_new_and_keeps_most_of_the_old),
        cmocka_unit_test(a_cleared_memo_has_nothing_and_takes_more),
        cmocka_unit_test(what_is_found_is_what_was_put),
        cmocka_unit_test(an_empty_text_is_found_too),
        cmocka_unit_test(past_its_cap_it_forgets_between_requests_only),
        cmocka_unit_test(without_a_memo_nothing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
