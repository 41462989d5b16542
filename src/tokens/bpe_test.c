/* Ids of both encodings, as npm tiktoken 1.0.22 gives them; the frozen vectors come from
 * tests/oracle_tokens/freeze.js. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/span.h"
#include "tokens/bpe.h"
#include "tokens/bpe_table.h"

enum {
    ARENA_BYTES_MAX = 64 * 1024 * 1024,
    IDS_MAX = 12,
    LINE_BYTES_MAX = 4096,
    LONG_BYTES = 50000
};

static struct wr_bpe *encodings[WR_BPE_ENCODINGS_COUNT];
static struct wr_bpe_scratch *scratches[WR_BPE_ENCODINGS_COUNT];
static struct wr_arena arena;

static int set_up(void **state)
{
    (void)state;
    wr_arena_init(&arena, ARENA_BYTES_MAX);
    for (int i = 0; i < WR_BPE_ENCODINGS_COUNT; i++)
        if (wr_bpe_new(&encodings[i], (enum wr_bpe_encoding)i, NULL) ||
            wr_bpe_scratch_new(&scratches[i], encodings[i]))
            return 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < WR_BPE_ENCODINGS_COUNT; i++) {
        wr_bpe_scratch_free(scratches[i]);
        wr_bpe_free(encodings[i]);
    }
    wr_arena_release(&arena);
    return 0;
}

static struct wr_bpe_ids encode(int encoding, weir_span text)
{
    struct wr_bpe_ids ids;
    size_t tokens;
    assert_int_equal(wr_bpe_encode(scratches[encoding], &arena, text, &ids), WEIR_OK);
    assert_int_equal(wr_bpe_count(scratches[encoding], text, &tokens), WEIR_OK);
    assert_int_equal(tokens, ids.count);
    return ids;
}

static const struct {
    const char *behaviour, *text;
    uint32_t ids[WR_BPE_ENCODINGS_COUNT][IDS_MAX]; /* up to the first 0 */
} cases[] = {
    {"a piece that is a token is that token", "hello world", {{24912, 2375}, {15339, 1917}}},
    {"a contraction ends a word, or is a piece",
     "It's 12345!\n",
     {{15834, 220, 7633, 2548, 4175}, {2181, 596, 220, 4513, 1774, 4999}}},
    {"the text of a special token is plain text",
     "<|endoftext|>",
     {{27, 91, 419, 1440, 919, 91, 29}, {27, 91, 8862, 728, 428, 91, 29}}},
    {"characters of three bytes", "\xE4\xB8\xAD\xE6\x96\x87", {{10667}, {16325, 17161}}},
    {"U+FEFF is no white space, U+0085 is",
     "\xEF\xBB\xBFx\xC2\x85y",
     {{5574, 87, 126, 227, 88}, {3305, 87, 126, 227, 88}}},
    {"the last of several spaces belongs to the word", "  x", {{220, 1215}, {220, 865}}},
    {"line ends end a piece of white space", "a\n\n b", {{64, 279, 287}, {64, 271, 293}}},
    {"a word ends after its last caseless letter if no lower case follows",
     "AB\xE4\xB8\xAD"
     "CD",
     {{2912, 1404, 8257}, {1905, 16325, 6620}}},
    {"a mark in front of capitals stands alone",
     "\xCC\x81"
     "AB",
     {{13430, 2912}, {54939, 1905}}},
};

static void ids_are_those_of_the_original(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        for (int encoding = 0; encoding < WR_BPE_ENCODINGS_COUNT; encoding++) {
            struct wr_bpe_ids got = encode(encoding, wr_span_of(cases[i].text));
            const uint32_t *want = cases[i].ids[encoding];
            bool same = true;
            for (size_t n = 0; n < IDS_MAX; n++)
                same = same && (n < got.count ? got.ids[n] : 0) == want[n];
            if (!same)
                fail_msg("%s (encoding %d)", cases[i].behaviour, encoding);
        }
    }
}

static uint64_t hash_of(const struct wr_bpe_ids *ids)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < ids->count; i++)
        for (int byte = 0; byte < 4; byte++)
            hash = (hash ^ (ids->ids[i] >> (8 * byte) & 255)) * UINT64_C(0x100000001b3);
    return hash;
}

/* Undoes \xHH in place. */
static weir_span unescape(char *text)
{
    char *out = text;
    for (const char *at = text; *at && *at != '\n'; out++) {
        if (*at == '\\') {
            char digits[3] = {at[2], at[3], 0};
            *out = (char)strtol(digits, NULL, 16);
            at += 4;
        } else {
            *out = *at++;
        }
    }
    return (weir_span){text, (size_t)(out - text)};
}

static void check_vector(char *line)
{
    char *at = line;
    size_t counts[WR_BPE_ENCODINGS_COUNT];
    uint64_t hashes[WR_BPE_ENCODINGS_COUNT];
    for (int i = 0; i < WR_BPE_ENCODINGS_COUNT; i++) {
        counts[i] = strtoul(at, &at, 10);
        hashes[i] = strtoull(at, &at, 16);
    }
    weir_span text = unescape(at + 1);
    for (int i = 0; i < WR_BPE_ENCODINGS_COUNT; i++) {
        struct wr_bpe_ids ids = encode(i, text);
        if (ids.count != counts[i] || hash_of(&ids) != hashes[i])
            fail_msg("encoding %d: want %zu tokens, got %zu of: %.*s", i, counts[i], ids.count,
                     (int)text.len, text.ptr);
    }
}

static void frozen_vectors_hold(void **state)
{
    FILE *file = fopen("tests/data/tokens_vectors.txt", "r");
    char line[LINE_BYTES_MAX];
    size_t lines = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        wr_arena_reset(&arena);
        check_vector(line);
        lines++;
    }
    fclose(file);
    assert_true(lines > 1000);
}

static const struct {
    const char *behaviour;
    weir_span text;
} any_bytes[] = {
    {"no text at all", {NULL, 0}},
    {"a NUL", {"a\0b", 3}},
    {"bytes that are never UTF-8", {"\xFF\xFE\xC0\xC1 abc \xF8", 10}},
    {"a surrogate in three bytes", {"x\xED\xA0\x80y\xED\xBF\xBF", 8}},
    {"a character that is cut off", {"abc \xE4\xB8", 6}},
    {"an overlong form", {"\xC0\xAF\xE0\x80\xAF", 5}},
    {"a code point above the last", {"\xF4\x90\x80\x80", 4}},
};

static void any_bytes_come_back_from_their_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(any_bytes); i++) {
        for (int encoding = 0; encoding < WR_BPE_ENCODINGS_COUNT; encoding++) {
            struct wr_bpe_ids ids = encode(encoding, any_bytes[i].text);
            weir_span back;
            assert_int_equal(wr_bpe_decode(encodings[encoding], &arena, &ids, &back, NULL),
                             WEIR_OK);
            if (!wr_span_eq(back, any_bytes[i].text))
                fail_msg("%s", any_bytes[i].behaviour);
        }
    }
}

static void a_wrong_byte_is_cut_where_a_replacement_character_is(void **state)
{
    struct wr_bpe_ids whole = encode(0, WR_LIT("ab\xED\xA0\x80"
                                               "cd 1\xED\xA0\x80"));
    (void)state;
    /* The surrogate and "cd" are one piece, as U+FFFD and "cd" are: four pieces in all, the second
     * of bytes that no token holds together. */
    size_t apart = encode(0, WR_LIT("ab")).count +
                   encode(0, WR_LIT("\xED\xA0\x80"
                                    "cd"))
                       .count +
                   encode(0, WR_LIT(" ")).count + encode(0, WR_LIT("1")).count +
                   encode(0, WR_LIT("\xED\xA0\x80")).count;
    assert_int_equal(whole.count, apart);
}

static void an_unknown_id_has_no_text(void **state)
{
    uint32_t ids[] = {1, 2, 199998};
    struct wr_bpe_ids list = {ids, 3};
    struct weir_err err;
    weir_span text;
    (void)state;
    assert_int_equal(wr_bpe_decode(encodings[0], &arena, &list, &text, &err), WEIR_INVALID);
    assert_int_equal(err.at_byte, 2);
    assert_string_equal(err.text, "there is no token 199998");
    assert_null(wr_bpe_token_text(encodings[0], UINT32_MAX).ptr);
}

static size_t count_of(int encoding, weir_span text)
{
    size_t tokens;
    assert_int_equal(wr_bpe_count(scratches[encoding], text, &tokens), WEIR_OK);
    return tokens;
}

static void what_stands_before_a_mark_is_counted_for_good(void **state)
{
    weir_span text = WR_LIT("It is what it i's  \n  NOT\xE4\xB8\xAD"
                            "ABCDef, 1234567 he'll");
    (void)state;
    for (int encoding = 0; encoding < WR_BPE_ENCODINGS_COUNT; encoding++) {
        struct wr_bpe_mark mark = {0, 0};
        for (size_t len = 0; len <= text.len; len++) {
            weir_span part = wr_span_cut(text, 0, len);
            assert_int_equal(wr_bpe_mark_move(scratches[encoding], part, &mark), WEIR_OK);
            assert_int_equal(count_of(encoding, wr_span_cut(text, 0, mark.bytes)), mark.tokens);
            size_t rest = count_of(encoding, wr_span_cut(text, mark.bytes, text.len));
            assert_int_equal(mark.tokens + rest, count_of(encoding, text));
        }
        assert_true(mark.bytes > text.len / 2);
    }
}

static void a_long_run_keeps_its_count(void **state)
{
    static const struct {
        const char *unit;
        size_t tokens; /* of LONG_BYTES / strlen(unit) of them */
    } runs[] = {{"a", 6250}, {" ", 392}, {"\n", 3125}, {"ab", 12500}, {"\xF0\x9F\x98\x80", 12500}};
    char *text = test_malloc(LONG_BYTES);
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(runs); i++) {
        size_t unit = strlen(runs[i].unit), tokens;
        for (size_t at = 0; at + unit <= LONG_BYTES; at += unit)
            memcpy(text + at, runs[i].unit, unit);
        assert_int_equal(wr_bpe_count(scratches[0], (weir_span){text, LONG_BYTES}, &tokens),
                         WEIR_OK);
        assert_int_equal(tokens, runs[i].tokens);
    }
    test_free(text);
}

static void encodings_are_found_by_name(void **state)
{
    enum wr_bpe_encoding encoding;
    (void)state;
    assert_true(wr_bpe_encoding_find(WR_LIT("cl100k_base"), &encoding));
    assert_int_equal(encoding, WR_BPE_CL100K_BASE);
    assert_false(wr_bpe_encoding_find(WR_LIT("cl100k"), &encoding));
    assert_int_equal(wr_bpe_tokens_count(encodings[WR_BPE_O200K_BASE]), 199998);
    assert_int_equal(wr_bpe_tokens_count(encodings[WR_BPE_CL100K_BASE]), 100256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_those_of_the_original),
        cmocka_unit_test(frozen_vectors_hold),
        cmocka_unit_test(any_bytes_come_back_from_their_ids),
        cmocka_unit_test(a_wrong_byte_is_cut_where_a_replacement_character_is),
        cmocka_unit_test(an_unknown_id_has_no_text),
        cmocka_unit_test(what_stands_before_a_mark_is_counted_for_good),
        cmocka_unit_test(a_long_run_keeps_its_count),
        cmocka_unit_test(encodings_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
