/* scan.c -- see scan.h. The scalar scanner says what is right; the one with vectors only has to be
 * right where there is nothing to report.
 */
#include "json/scan.h"

#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/ascii.h"
#include "base/text.h"

/* ---- byte by byte ---- */

/* Bytes of the escape at `at`, which is a backslash; 0 where it is none. */
static size_t escape_bytes(weir_span text, size_t at)
{
    if (text.len - at < 2)
        return 0;
    switch (text.ptr[at + 1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        break;
    default:
        return 0;
    }
    if (text.len - at < 6)
        return 0;
    for (size_t i = 2; i < 6; i++)
        if (!wr_is_hex(text.ptr[at + i]))
            return 0;
    return 6;
}

static void stop_scan(struct wr_scan *scan, size_t at, enum wr_scan_end end)
{
    scan->at = at;
    scan->end = end;
}

void wr_scan_scalar(struct wr_scan *scan, weir_span text, size_t from)
{
    size_t at = from;

    scan->escaped = false;
    scan->ascii = true;
    while (at < text.len) {
        unsigned char c = (unsigned char)text.ptr[at];
        size_t bytes = 1;
        uint32_t code;

        if (c == '"') {
            stop_scan(scan, at, WR_SCAN_QUOTE);
            return;
        }
        if (c < 0x20) {
            stop_scan(scan, at, WR_SCAN_CONTROL);
            return;
        }
        if (c == '\\') {
            scan->escaped = true;
            bytes = escape_bytes(text, at);
        } else if (c >= 0x80) {
            scan->ascii = false;
            bytes = wr_utf8_decode((weir_span){text.ptr + at, text.len - at}, false, &code);
        }
        if (!bytes) {
            stop_scan(scan, at, c == '\\' ? WR_SCAN_BAD_ESCAPE : WR_SCAN_BAD_UTF8);
            return;
        }
        at += bytes;
    }
    stop_scan(scan, text.len, WR_SCAN_OPEN);
}

size_t wr_copy_plain_scalar(char *out, weir_span text)
{
    const char *backslash = text.len ? memchr(text.ptr, '\\', text.len) : NULL;
    size_t plain = backslash ? (size_t)(backslash - text.ptr) : text.len;
    if (plain)
        memcpy(out, text.ptr, plain);
    return plain;
}

#if defined(__x86_64__)

/* ---- 64 bytes at a time ----
 *
 * Each block becomes bit masks, bit i for byte i.
 *
 * These questions are asked about each block, in this order:
 *   1. which bytes are backslashes, and which bytes they escape (escaped_bytes)
 *   2. where the first quote is that is not escaped: only what stands before it counts
 *   3. whether a control byte or a wrong escape stands there (block_is_bad)
 *   4. whether the bytes above 0x7F are UTF-8 (mask_broken); all-ASCII blocks skip this
 *
 * As soon as a block holds an error before its closing quote, the scalar scanner is run from the
 * last place known to be a character boundary. So one place decides what is wrong and where, and
 * both scanners agree.
 */

#define AVX2 __attribute__((target("avx2,bmi")))

enum { BLOCK_BYTES = 64 };

struct block {
    __m256i low, high;
};

AVX2 static inline struct block block_load(const char *bytes)
{
    return (struct block){_mm256_loadu_si256((const __m256i *)(const void *)bytes),
                          _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32))};
}

AVX2 static inline uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(low) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 static inline uint64_t mask_eq(const struct block *b, char byte)
{
    __m256i wanted = _mm256_set1_epi8(byte);
    return mask_of(_mm256_cmpeq_epi8(b->low, wanted), _mm256_cmpeq_epi8(b->high, wanted));
}

AVX2 static inline uint64_t mask_control(const struct block *b)
{
    __m256i last = _mm256_set1_epi8(0x1F);
    return mask_of(_mm256_cmpeq_epi8(_mm256_min_epu8(b->low, last), b->low),
                   _mm256_cmpeq_epi8(_mm256_min_epu8(b->high, last), b->high));
}

/* Bytes that may follow a backslash. A byte belongs to the set when the class of its high nibble
 * and the classes of its low nibble share a bit: 1 for 2x, 2 for 5x, 4 for 6x, 8 for 7x. */
AVX2 static inline __m256i escape_class(__m256i bytes)
{
    const __m256i by_low = _mm256_setr_epi8(0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1, /**/
                                            0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1);
    const __m256i by_high = _mm256_setr_epi8(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, /**/
                                             0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
    __m256i both =
        _mm256_and_si256(_mm256_shuffle_epi8(by_low, bytes), _mm256_shuffle_epi8(by_high, high));
    return _mm256_cmpeq_epi8(both, _mm256_setzero_si256()); /* set: not an escape */
}

/* The bytes that a backslash makes part of an escape: those behind a run of backslashes of odd
 * length. A run that begins at an even place has odd length when it ends at an odd one, and the
 * other way round; adding its first bit to a run carries to the place behind it. `*carry` is 1 when
 * the block before ended in such a run, so that byte 0 is spoken for. */
AVX2 static inline uint64_t escaped_bytes(uint64_t backslashes, uint64_t *carry)
{
    const uint64_t even = 0x5555555555555555u;
    uint64_t first_escaped = *carry;
    uint64_t runs = backslashes & ~first_escaped;
    uint64_t starts = runs & ~(runs << 1);
    uint64_t behind_even = (runs + (starts & even)) & ~runs;
    unsigned long long sum;

    *carry = __builtin_uaddll_overflow(runs, starts & ~even, &sum);
    uint64_t behind_odd = sum & ~runs;
    return (behind_even & ~even) | (behind_odd & even) | first_escaped;
}

/* Bytes n places to the left, across the lane border and from the register before. */
#define SHIFTED(now, lanes_before, n) _mm256_alignr_epi8((now), (lanes_before), 16 - (n))

/* Every way in which two neighbouring bytes can break UTF-8 is a bit; a pair is broken in a way
 * when the three nibble tables agree on it. Third and fourth bytes are checked by distance to their
 * lead. */
enum {
    TOO_SHORT = 1 << 0, /* lead or ASCII where a tail must come */
    TOO_LONG = 1 << 1,  /* tail behind ASCII */
    OVERLONG_3 = 1 << 2,
    TOO_LARGE = 1 << 3,
    SURROGATE = 1 << 4,
    OVERLONG_2 = 1 << 5,
    TOO_LARGE_OR_OVERLONG_4 = 1 << 6,
    TWO_TAILS = 1 << 7, /* right only behind a three- or four-byte lead */
    ANY_LOW = TOO_SHORT | TOO_LONG | TWO_TAILS,
};

#define TWICE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)

AVX2 static inline __m256i broken_pairs(__m256i bytes, __m256i before_1)
{
    const __m256i first_high =
        TWICE(TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
              (char)TWO_TAILS, (char)TWO_TAILS, (char)TWO_TAILS, (char)TWO_TAILS,
              TOO_SHORT | OVERLONG_2, TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE,
              TOO_SHORT | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4);
    const __m256i first_low =
        TWICE((char)(ANY_LOW | OVERLONG_2 | OVERLONG_3 | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | OVERLONG_2), (char)ANY_LOW, (char)ANY_LOW,
              (char)(ANY_LOW | TOO_LARGE), (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4 | SURROGATE),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
              (char)(ANY_LOW | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4));
    const __m256i second_high = TWICE(
        TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
        (char)(TOO_LONG | OVERLONG_2 | TWO_TAILS | OVERLONG_3 | TOO_LARGE_OR_OVERLONG_4),
        (char)(TOO_LONG | OVERLONG_2 | TWO_TAILS | OVERLONG_3 | TOO_LARGE),
        (char)(TOO_LONG | OVERLONG_2 | TWO_TAILS | SURROGATE | TOO_LARGE),
        (char)(TOO_LONG | OVERLONG_2 | TWO_TAILS | SURROGATE | TOO_LARGE), TOO_SHORT, TOO_SHORT,
        TOO_SHORT, TOO_SHORT);
    const __m256i nibble = _mm256_set1_epi8(0x0F);

    __m256i a =
        _mm256_shuffle_epi8(first_high, _mm256_and_si256(_mm256_srli_epi16(before_1, 4), nibble));
    __m256i b = _mm256_shuffle_epi8(first_low, _mm256_and_si256(before_1, nibble));
    __m256i c =
        _mm256_shuffle_epi8(second_high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble));
    return _mm256_and_si256(_mm256_and_si256(a, b), c);
}

/* Bit set: the byte is where the sequence before it, or its own, turns out not to be UTF-8. */
AVX2 static inline __m256i broken_bytes(__m256i bytes, __m256i before)
{
    __m256i lanes_before = _mm256_permute2x128_si256(before, bytes, 0x21);
    __m256i before_1 = SHIFTED(bytes, lanes_before, 1);
    __m256i before_2 = SHIFTED(bytes, lanes_before, 2);
    __m256i before_3 = SHIFTED(bytes, lanes_before, 3);
    __m256i third = _mm256_subs_epu8(before_2, _mm256_set1_epi8((char)(0xE0 - 0x80)));
    __m256i fourth = _mm256_subs_epu8(before_3, _mm256_set1_epi8((char)(0xF0 - 0x80)));
    __m256i must_be_tail =
        _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    __m256i broken = _mm256_xor_si256(broken_pairs(bytes, before_1), must_be_tail);
    return _mm256_cmpeq_epi8(broken, _mm256_setzero_si256()); /* set: fine */
}

AVX2 static inline uint64_t mask_broken(const struct block *b, __m256i before)
{
    return ~mask_of(broken_bytes(b->low, before), broken_bytes(b->high, b->low));
}

/* Whether each `\u` whose u is set in `places` has its four digits. */
static bool has_digits(weir_span text, size_t block_at, uint64_t places)
{
    for (; places; places &= places - 1) {
        size_t u = block_at + (size_t)__builtin_ctzll(places);
        if (text.len - u < 5)
            return false;
        for (size_t i = 1; i <= 4; i++)
            if (!wr_is_hex(text.ptr[u + i]))
                return false;
    }
    return true;
}

/* A place at or before `at` from which the scalar scanner can start anew. It must begin a character
 * and not stand inside an escape; behind a space that is certain, since no escape and no character
 * of several bytes holds one. Without a space within 256 bytes it is the start of the string. */
static size_t restart_at(weir_span text, size_t from, size_t at)
{
    size_t floor = at - from > 256 ? at - 256 : from;
    for (size_t i = at; i > floor; i--)
        if (text.ptr[i - 1] == ' ')
            return i;
    return from;
}

static void finish_scalar(struct wr_scan *scan, weir_span text, size_t restart,
                          uint64_t backslash_seen, uint64_t high_seen)
{
    wr_scan_scalar(scan, text, restart);
    scan->escaped |= backslash_seen != 0;
    scan->ascii &= high_seen == 0;
}

AVX2 static bool block_is_bad(weir_span text, size_t at, const struct block *b, uint64_t escaped,
                              uint64_t before_end)
{
    escaped &= before_end;
    if (mask_control(b) & before_end)
        return true;
    if (!escaped)
        return false;
    if (escaped & mask_of(escape_class(b->low), escape_class(b->high)))
        return true;
    uint64_t unicode = escaped & mask_eq(b, 'u');
    return unicode && !has_digits(text, at, unicode);
}

AVX2 void wr_scan_avx2(struct wr_scan *scan, weir_span text, size_t from)
{
    uint64_t carry = 0, backslash_seen = 0, high_seen = 0, high_before = 0;
    __m256i before = _mm256_setzero_si256();

    for (size_t at = from; at < text.len; at += BLOCK_BYTES) {
        char padded[BLOCK_BYTES];
        const char *bytes = text.ptr + at;
        if (text.len - at < BLOCK_BYTES) {
            /* Zeros behind the text read as control bytes, which ends the loop. */
            memset(padded, 0, sizeof(padded));
            memcpy(padded, bytes, text.len - at);
            bytes = padded;
        }
        struct block b = block_load(bytes);
        uint64_t backslashes = mask_eq(&b, '\\');
        uint64_t escaped = backslashes | carry ? escaped_bytes(backslashes, &carry) : 0;
        uint64_t quotes = mask_eq(&b, '"') & ~escaped;
        uint64_t until_end = quotes ^ (quotes - 1); /* the end itself included; all without one */
        uint64_t before_end = quotes ? until_end >> 1 : UINT64_MAX;
        uint64_t high = mask_of(b.low, b.high);
        bool bad = block_is_bad(text, at, &b, escaped, before_end);

        if (!bad && (high | high_before))
            bad = (mask_broken(&b, before) & until_end) != 0;
        backslash_seen |= backslashes & before_end;
        high_seen |= high & before_end;
        if (bad) {
            finish_scalar(scan, text, restart_at(text, from, at), backslash_seen, high_seen);
            return;
        }
        if (quotes) {
            *scan = (struct wr_scan){at + (size_t)__builtin_ctzll(quotes), WR_SCAN_QUOTE,
                                     backslash_seen != 0, high_seen == 0};
            return;
        }
        before = b.high;
        high_before = high >> 61; /* a sequence may have begun in the last three bytes */
    }
    /* The text may end inside a character or an escape, which is for the scalar scanner to say. */
    finish_scalar(scan, text, restart_at(text, from, text.len), backslash_seen, high_seen);
}

AVX2 size_t wr_copy_plain_avx2(char *out, weir_span text)
{
    const __m256i backslash = _mm256_set1_epi8('\\');
    size_t at = 0;

    for (; text.len - at >= sizeof(__m256i); at += sizeof(__m256i)) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(text.ptr + at));
        unsigned found = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, backslash));
        _mm256_storeu_si256((__m256i *)(void *)(out + at), bytes);
        if (found)
            return at + (size_t)__builtin_ctz(found);
    }
    return at + wr_copy_plain_scalar(out + at, (weir_span){text.ptr + at, text.len - at});
}

#endif
