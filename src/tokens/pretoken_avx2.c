/* Where pieces of ASCII end, for 64 bytes at once: each class of characters becomes a bit mask, bit
 * i for byte i, and the expressions of pretoken.c become arithmetic on such masks.
 *
 * Looked at one after the other, pieces cost a wrongly foretold branch or two each, and they are
 * four bytes long on average. Here no branch hangs on the text but for what is rare.
 *
 * The window begins where a piece begins, so nothing before it matters. What follows it is not
 * known, and may be a character that is not ASCII; so a cut is only told if nothing that follows
 * could move it:
 *   white space at the end of the window is left alone, all of it (what follows says how it is cut)
 *   so is all from an apostrophe on that may begin a contraction, which are rare
 * pretoken.c then cuts the piece that is left open, and a new window begins behind it.
 *
 * A mask shifted up by one (after()) has the bits of the bytes behind those of a class.
 */
#include "tokens/pretoken.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi")))

enum { WINDOW_BITS = WR_PRETOKEN_WINDOW_BYTES };

struct classes {
    uint64_t upper, lower, letter, digit;
    uint64_t space;    /* white space, line ends included */
    uint64_t line_end; /* CR, LF */
    uint64_t blank;    /* ' ' alone */
    uint64_t symbol;   /* all else of ASCII */
    uint64_t slash, apostrophe;
    uint64_t known; /* the bytes before the first that is not ASCII */
};

/* What the encodings differ in. */
struct rules {
    bool splits_case;    /* a capital behind a small letter begins a word */
    bool slashes;        /* symbols take slashes behind their line ends */
    bool suffix;         /* a contraction ends the word before it, else it is a piece */
    unsigned digits_max; /* 1 or 3 */
};

AVX2 static inline uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(low) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 static inline __m256i is_in(__m256i bytes, char first, char last)
{
    return _mm256_and_si256(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8((char)(first - 1))),
                            _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(last + 1)), bytes));
}

AVX2 static inline uint64_t mask_in(__m256i low, __m256i high, char first, char last)
{
    return mask_of(is_in(low, first, last), is_in(high, first, last));
}

AVX2 static inline uint64_t mask_eq(__m256i low, __m256i high, char byte)
{
    __m256i wanted = _mm256_set1_epi8(byte);
    return mask_of(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
}

/* The classes of the bytes before the first that is not ASCII, of at most `len`. */
AVX2 static inline struct classes classify(const uint8_t *at, unsigned len)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32));
    __m256i fold = _mm256_set1_epi8('a' - 'A');
    uint64_t known = UINT64_MAX >> (WINDOW_BITS - len);
    uint64_t wide = mask_of(low, high) & known;
    struct classes c;

    if (wide)
        known = (wide & -wide) - 1;
    c.known = known;
    c.letter = known & mask_in(_mm256_or_si256(low, fold), _mm256_or_si256(high, fold), 'a', 'z');
    uint64_t small = mask_of(_mm256_slli_epi16(low, 2), _mm256_slli_epi16(high, 2));
    c.lower = c.letter & small;
    c.upper = c.letter & ~small;
    c.digit = known & mask_in(low, high, '0', '9');
    c.blank = known & mask_eq(low, high, ' ');
    c.line_end = known & (mask_eq(low, high, '\n') | mask_eq(low, high, '\r'));
    c.space = c.blank | (known & mask_in(low, high, '\t', '\r'));
    c.symbol = known & ~(c.letter | c.digit | c.space);
    c.slash = known & mask_eq(low, high, '/');
    c.apostrophe = known & mask_eq(low, high, '\'');
    return c;
}

static inline uint64_t after(uint64_t mask)
{
    return mask << 1;
}

/* The bits of `runs` from each bit of `starts` to the end of its run; the starts are among the
 * runs. Adding the first start of a run clears it and carries to the bit behind it; others of the
 * same run then only set themselves. */
static inline uint64_t fill_runs(uint64_t runs, uint64_t starts)
{
    return (runs & ~(runs + starts)) | starts;
}

/* Line ends, and with `slashes` slashes, that symbols take with them. */
static inline uint64_t taken_by_symbols(const struct classes *c, bool slashes)
{
    uint64_t starts = c->line_end & after(c->symbol);
    if (!starts)
        return 0;
    return fill_runs(slashes ? c->line_end | c->slash : c->line_end, starts);
}

/* Takes out of `starts`, of runs of blanks behind a line end, those of runs that end at another
 * one: such lines are one piece. */
AVX2 static inline uint64_t without_empty_lines(const struct classes *c, uint64_t starts)
{
    uint64_t ends = ((c->space & ~c->line_end) + starts) & c->line_end;
    for (; ends; ends &= ends - 1) {
        uint64_t before = starts & ((ends & -ends) - 1);
        starts ^= UINT64_C(1) << (63 - __builtin_clzll(before));
    }
    return starts;
}

AVX2 static inline uint64_t space_starts(const struct classes *c, uint64_t taken)
{
    uint64_t space = c->space & ~taken, blanks = c->space & ~c->line_end;
    uint64_t first = space & ~after(space);
    uint64_t behind_lines = blanks & after(c->line_end);
    uint64_t last = blanks & ~(c->space >> 1);
    if (behind_lines)
        behind_lines = without_empty_lines(c, behind_lines);
    return first | behind_lines | last;
}

static inline uint64_t digit_starts(uint64_t digit, unsigned digits_max)
{
    if (digits_max == 1)
        return digit;
    uint64_t starts = digit & ~after(digit), four = digit & after(digit);
    four &= four << 2;
    for (uint64_t third = starts; (third = third << 3 & four) != 0;)
        starts |= third;
    return starts;
}

/* Where cuts are sure: up to the first of the spaces that the window ends with, and up to what an
 * apostrophe may belong to. */
AVX2 static inline uint64_t sure(const struct classes *c, uint64_t symbols, bool suffix)
{
    uint64_t solid = c->known & ~c->space, last = c->known ^ c->known >> 1;
    if (!solid)
        return 0;
    uint64_t sure = after(UINT64_MAX >> __builtin_clzll(solid)) & c->known;
    uint64_t ticks =
        c->apostrophe & (c->letter >> 1 | last) & (suffix ? after(c->letter) : symbols);
    if (ticks) {
        uint64_t before = (ticks & -ticks) - 1;
        sure &= suffix ? before : after(before);
    }
    return sure;
}

AVX2 static inline uint64_t cut(const uint8_t *at, unsigned len, struct rules rules)
{
    struct classes c = classify(at, len);
    uint64_t taken = taken_by_symbols(&c, rules.slashes);
    uint64_t symbol = c.symbol & ~taken;
    uint64_t symbols = symbol & ~after(symbol | c.blank);
    uint64_t blanks = c.space & ~c.line_end;
    /* One character stands in front of a word: a blank, or a symbol that is no more of a run. */
    uint64_t words = c.letter & ~after(c.letter | blanks | symbols);
    if (rules.splits_case)
        words |= c.upper & after(c.lower);
    uint64_t starts =
        words | symbols | digit_starts(c.digit, rules.digits_max) | space_starts(&c, taken);

    return starts & sure(&c, symbols, rules.suffix);
}

AVX2 uint64_t wr_pretoken_o200k_avx2(const uint8_t *at, unsigned len)
{
    return cut(at, len, (struct rules){true, true, true, 3});
}

AVX2 uint64_t wr_pretoken_cl100k_avx2(const uint8_t *at, unsigned len)
{
    return cut(at, len, (struct rules){false, false, false, 3});
}

AVX2 uint64_t wr_pretoken_qwen2_avx2(const uint8_t *at, unsigned len)
{
    return cut(at, len, (struct rules){false, false, false, 1});
}

#endif
