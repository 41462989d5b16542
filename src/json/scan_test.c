/* The vector scanner against the scalar one, and the scalar one against a table. */
#include "json/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

enum { TEXT_BYTES_MAX = 512, LEN_MAX = 200, RANDOM_COUNT = 200 * 1000 };

static const struct {
    const char *behaviour, *text;
    size_t from, at;
    enum wr_scan_end end;
    bool escaped, ascii;
} cases[] = {
    {"the closing quote ends it", "abc\"def", 0, 3, WR_SCAN_QUOTE, false, true},
    {"an empty string ends at once", "\"", 0, 0, WR_SCAN_QUOTE, false, true},
    {"a scan may begin anywhere", "\"abc\"", 1, 4, WR_SCAN_QUOTE, false, true},
    {"an escaped quote does not end it", "a\\\"b\"", 0, 4, WR_SCAN_QUOTE, true, true},
    {"an escaped backslash escapes nothing", "a\\\\\"b\"", 0, 3, WR_SCAN_QUOTE, true, true},
    {"bytes above 0x7F are told", "\xC3\xA9\"", 0, 2, WR_SCAN_QUOTE, false, false},
    {"what stands behind the end is not looked at", "a\"\xFF\\q\n", 0, 1, WR_SCAN_QUOTE, false,
     true},
    {"a control byte", "ab\n\"", 0, 2, WR_SCAN_CONTROL, false, true},
    {"a bad escape is named by its backslash", "ab\\q\"", 0, 2, WR_SCAN_BAD_ESCAPE, true, true},
    {"digits of an escape are checked", "\\u12x4\"", 0, 0, WR_SCAN_BAD_ESCAPE, true, true},
    {"bad UTF-8 is named by its first byte", "ab\xE2\x82\"", 0, 2, WR_SCAN_BAD_UTF8, false, false},
    {"the first fault wins", "\x01\\q\xFF\"", 0, 0, WR_SCAN_CONTROL, false, true},
    {"an escape before a control byte", "\\q\x01\"", 0, 0, WR_SCAN_BAD_ESCAPE, true, true},
    {"an open string", "abc", 0, 3, WR_SCAN_OPEN, false, true},
    {"nothing at all", "", 0, 0, WR_SCAN_OPEN, false, true},
    {"an escape cut by the end", "ab\\", 0, 2, WR_SCAN_BAD_ESCAPE, true, true},
    {"a character cut by the end", "ab\xE2\x82", 0, 2, WR_SCAN_BAD_UTF8, false, false},
};

static bool same(const struct wr_scan *a, const struct wr_scan *b)
{
    if (a->at != b->at || a->end != b->end)
        return false;
    return a->end != WR_SCAN_QUOTE || (a->escaped == b->escaped && a->ascii == b->ascii);
}

static void the_scalar_scanner_does_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span text = {cases[i].text, strlen(cases[i].text)};
        struct wr_scan expected = {cases[i].at, cases[i].end, cases[i].escaped, cases[i].ascii},
                       got;
        wr_scan_scalar(&got, text, cases[i].from);
        if (!same(&got, &expected))
            fail_msg("%s: ends at %zu by %d", cases[i].behaviour, got.at, (int)got.end);
    }
}

/* Both end at the end of memory of their own, so that a step too far is seen. */
static void check_copy(wr_copy_plain_fn *copy, const char *bytes, size_t len, size_t plain)
{
    char *text = test_malloc(len), *out = test_malloc(len);
    if (len)
        memcpy(text, bytes, len);
    size_t got = copy(out, (weir_span){text, len});
    if (got != plain || (plain && memcmp(out, bytes, plain) != 0))
        fail_msg("%zu bytes, a backslash at %zu: %zu were copied", len, plain, got);
    test_free(text);
    test_free(out);
}

static void text_is_copied_up_to_a_backslash(wr_copy_plain_fn *copy)
{
    enum { COPY_BYTES_MAX = 100 };
    for (size_t len = 0; len <= COPY_BYTES_MAX; len++) {
        for (size_t at = 0; at <= len; at++) {
            char text[COPY_BYTES_MAX + 1];
            for (size_t i = 0; i < len; i++)
                text[i] = (char)('a' + i % 23);
            if (at < len)
                text[at] = text[len - 1] = '\\';
            check_copy(copy, text, len, at);
        }
    }
}

static void the_scalar_copy_ends_at_a_backslash(void **state)
{
    (void)state;
    text_is_copied_up_to_a_backslash(wr_copy_plain_scalar);
}

#if defined(__x86_64__)

static void the_vector_copy_ends_at_a_backslash(void **state)
{
    (void)state;
    text_is_copied_up_to_a_backslash(wr_copy_plain_avx2);
}

/* Texts are put at the end of this memory, so that a read past the text is a read past the memory.
 */
static char *arena_end;

static void compare(const char *bytes, size_t len, size_t from, const char *behaviour)
{
    struct wr_scan expected, got;
    char *own = arena_end - len;

    if (len)
        memcpy(own, bytes, len);
    wr_scan_scalar(&expected, (weir_span){own, len}, from);
    wr_scan_avx2(&got, (weir_span){own, len}, from);
    if (same(&expected, &got))
        return;
    for (size_t i = 0; i < len; i++)
        fprintf(stderr, "%02X ", (unsigned char)own[i]);
    fail_msg("%s (%zu bytes from %zu): scalar ends at %zu by %d, avx2 at %zu by %d", behaviour, len,
             from, expected.at, (int)expected.end, got.at, (int)got.end);
}

static void every_special_byte_at_every_place(void **state)
{
    static const char *const specials[] = {
        "\"",
        "\\",
        "\\\"",
        "\\\\",
        "\\n\"",
        "\\q",
        "\x1F",
        "\x7F",
        "\\u12ab",
        "\\u12ag",
        "\\u123\"",
        "\xC3\xA9",
        "\xC3",
        "\x80",
        "\xE2\x82\xAC",
        "\xE2\x82",
        "\xE0\x80\x80",
        "\xF0\x9F\x98\x80",
        "\xF0\x9F",
        "\xED\xA0\x80",
        "\xF4\x90\x80\x80",
        "\xFF",
        "\xC0\xAF",
        "\\ud83d\\ude00",
        "\\u",
        "\\u123",
        "\\/",
        "\\\xC3\xA9",
        "\xC3\"",
        "\xE2\x82\"",
        "\xF0\x9F\x98\"",
        "\xF0\x80\x80\x80",
    };
    (void)state;

    for (size_t s = 0; s < WR_COUNT_OF(specials); s++) {
        size_t special_len = strlen(specials[s]);
        for (size_t len = special_len; len <= LEN_MAX; len++) {
            char text[LEN_MAX + 1];
            for (size_t at = 0; at + special_len <= len; at++) {
                memset(text, 'x', sizeof(text));
                memcpy(text + at, specials[s], special_len);
                compare(text, len, 0, specials[s]);
                text[len] = '"';
                compare(text, len + 1, 0, specials[s]);
            }
        }
    }
    for (size_t len = 0; len <= LEN_MAX; len++) {
        char text[LEN_MAX];
        memset(text, 'x', sizeof(text));
        compare(text, len, 0, "nothing special");
    }
}

static void every_byte_behind_a_backslash(void **state)
{
    char text[140];
    (void)state;

    for (unsigned byte = 0; byte < 256; byte++) {
        for (size_t at = 0; at < 130; at++) {
            memset(text, 'a', sizeof(text)); /* hexadecimal, so that \u is whole */
            text[sizeof(text) - 1] = '"';
            text[at] = '\\';
            text[at + 1] = (char)byte;
            compare(text, sizeof(text), 0, "a byte behind a backslash");
        }
    }
}

/* Whether a quote ends the string depends on the length of the run of backslashes before it. */
static void runs_of_backslashes_across_blocks(void **state)
{
    (void)state;
    for (size_t start = 0; start < 140; start++) {
        for (size_t run = 1; run <= 150; run++) {
            char text[TEXT_BYTES_MAX];
            memset(text, 'x', sizeof(text));
            memset(text + start, '\\', run);
            text[start + run] = '"';
            text[start + run + 3] = '"';
            compare(text, start + run + 4, 0, "a run of backslashes before a quote");
            text[start + run] = 'n';
            compare(text, start + run + 4, 0, "a run of backslashes before n");
            text[start + run] = '"';
            for (size_t from = 0; from < 4 && from <= start + run; from++)
                compare(text, start + run + 4, from, "a scan that begins later");
        }
    }
}

static void characters_across_blocks(void **state)
{
    static const char *const characters[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    (void)state;

    for (size_t c = 0; c < WR_COUNT_OF(characters); c++) {
        size_t char_len = strlen(characters[c]);
        for (size_t start = 0; start < 80; start++) {
            char text[TEXT_BYTES_MAX];
            size_t len = start;
            memset(text, 'x', start);
            for (; len < 200; len += char_len)
                memcpy(text + len, characters[c], char_len);
            text[len] = '"';
            compare(text, len + 1, 0, "whole characters");
            for (size_t broken = start; broken < len; broken++) {
                char kept = text[broken];
                text[broken] = 'y';
                compare(text, len + 1, 0, "a character with a letter in it");
                text[broken] = kept;
                compare(text, broken, 0, "characters cut by the end of the text");
            }
        }
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Pieces rather than bytes, so that long valid stretches and rare faults both occur. */
static size_t random_text(char *text, uint64_t *seed)
{
    static const char *const pieces[] = {
        "plain text ",
        "0123456789abcdef0123456789abcdef",
        "\\\\",
        "\\\"",
        "\\n",
        "\\u00e9",
        "\xC3\xA9",
        "\xE2\x82\xAC",
        "\xF0\x9F\x98\x80",
        "\xE4\xB8\xAD\xE6\x96\x87",
        "\\",
        "\"",
        "\xC3",
        "\x80",
        "\x01",
        "\\u12",
    };
    size_t rare = next_random(seed) % 8 ? 10 : WR_COUNT_OF(pieces); /* most texts without a fault */
    size_t count = next_random(seed) % 40, len = 0;
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[next_random(seed) % rare];
        size_t piece_len = strlen(piece);
        if (len + piece_len + 2 > TEXT_BYTES_MAX)
            break;
        memcpy(text + len, piece, piece_len);
        len += piece_len;
    }
    if (len && next_random(seed) % 4 == 0)
        text[next_random(seed) % len] = (char)next_random(seed);
    if (next_random(seed) % 16)
        text[len++] = '"';
    return len;
}

static void random_texts(void **state)
{
    uint64_t seed = 0x9E3779B97F4A7C15u;
    (void)state;

    for (int i = 0; i < RANDOM_COUNT; i++) {
        char text[TEXT_BYTES_MAX + 8];
        size_t len = random_text(text, &seed);
        compare(text, len, len ? next_random(&seed) % 3 % len : 0, "a random text");
    }
}

static int make_memory(void **state)
{
    char *memory = malloc(TEXT_BYTES_MAX);
    *state = memory;
    arena_end = memory + TEXT_BYTES_MAX;
    return memory ? 0 : -1;
}

static int free_memory(void **state)
{
    free(*state);
    return 0;
}

#endif

int main(void)
{
    const struct CMUnitTest scalar[] = {
        cmocka_unit_test(the_scalar_scanner_does_what_it_says),
        cmocka_unit_test(the_scalar_copy_ends_at_a_backslash),
    };
    int failed = cmocka_run_group_tests(scalar, NULL, NULL);
#if defined(__x86_64__)
    const struct CMUnitTest vector[] = {
        cmocka_unit_test(every_special_byte_at_every_place),
        cmocka_unit_test(every_byte_behind_a_backslash),
        cmocka_unit_test(runs_of_backslashes_across_blocks),
        cmocka_unit_test(characters_across_blocks),
        cmocka_unit_test(random_texts),
        cmocka_unit_test(the_vector_copy_ends_at_a_backslash),
    };
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi"))
        puts("this machine has no AVX2: its scanner is not tested");
    else
        failed |= cmocka_run_group_tests(vector, make_memory, free_memory);
#endif
    return failed;
}
