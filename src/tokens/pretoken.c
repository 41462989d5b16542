/* Cuts a text into pieces before it becomes tokens, as the patterns of the encodings do.
 *
 * The patterns are written out as code, a function for each encoding, because they run over
 * every byte. unicode_class.h has the classes of characters.
 */

#include "tokens/pretoken.h"

#include <stdbool.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/embed.h"
#include "tokens/bpe_table.h"

/* ---- eight bytes at once ----
 *
 * Most words are letters of ASCII, and a loop that looks at them one by one ends where the
 * processor does not expect it, once a word. So the length of a run is found in eight bytes at
 * once: a bit of arithmetic without a branch. */

enum { FOLD_CASE = 'a' - 'A' };

static inline uint64_t each_byte(uint8_t byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

/* How many of eight bytes are 'a' to 'z' before the first that is not; upper case too where `fold`
 * is FOLD_CASE. */
static inline unsigned letters_in_eight(const uint8_t *at, uint8_t fold)
{
    uint64_t bytes = wr_bpe_load8(at), low = (bytes | each_byte(fold)) & each_byte(0x7F);
    uint64_t is_letter = (low + each_byte(0x80 - 'a')) & ~(low + each_byte(0x7F - 'z')) & ~bytes;
    uint64_t is_other = ~is_letter & each_byte(0x80);
    return is_other ? (unsigned)__builtin_ctzll(is_other) / 8 : 8;
}

static inline const uint8_t *skip_letters(const uint8_t *at, const uint8_t *end, uint8_t fold)
{
    unsigned count = 8;
    while (count == 8 && end - at >= 8)
        at += count = letters_in_eight(at, fold);
    return at;
}

struct space_run {
    const uint8_t *end;
    const uint8_t *last;        /* the start of its last character */
    const uint8_t *newline_end; /* past its last line end, or NULL */
};

static struct space_run scan_space(const uint8_t *at, const uint8_t *end)
{
    struct space_run run = {at, at, NULL};

    while (run.end < end) {
        struct wr_char c = wr_char_at(run.end, end);
        if (!(c.bits & WR_CLASS_SPACE))
            break;
        run.last = run.end;
        run.end += c.bytes;
        if (c.bits & WR_CLASS_NEWLINE)
            run.newline_end = run.end;
    }
    return run;
}

/* \s+(?!\S)|\s+ : all of the run at the end of the text; else its last character is left to stand
 * in front of what follows, unless there is no other. */
static struct wr_piece space_piece(const uint8_t *at, const uint8_t *end,
                                   const struct space_run *run)
{
    if (run->end == end || run->last == at)
        return (struct wr_piece){run->end, run->end};
    return (struct wr_piece){run->last, run->end};
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ at white space. */
static struct wr_piece spaces(const uint8_t *at, const uint8_t *end)
{
    struct space_run run = scan_space(at, end);
    if (run.newline_end)
        return (struct wr_piece){run.newline_end, run.end};
    return space_piece(at, end, &run);
}

/* \s+(?!\S)|\s+ at white space. */
static struct wr_piece any_spaces(const uint8_t *at, const uint8_t *end)
{
    struct space_run run = scan_space(at, end);
    return space_piece(at, end, &run);
}

/* \p{N}{1,digits_max} at a number. */
static struct wr_piece number(const uint8_t *at, const uint8_t *end, int digits_max)
{
    for (int digits = 0; digits < digits_max && at < end; digits++) {
        struct wr_char c = wr_char_at(at, end);
        if (!(c.bits & WR_CLASS_NUMBER))
            break;
        at += c.bytes;
    }
    return (struct wr_piece){at, at};
}

/* The end of (?i:'s|'t|'re|'ve|'m|'ll|'d) at `at`, or `at` where there is none. */
static const uint8_t *contraction(const uint8_t *at, const uint8_t *end)
{
    size_t left = (size_t)(end - at);
    if (left < 2 || at[0] != '\'')
        return at;

    unsigned first = at[1] | 0x20u, second = left > 2 ? at[2] | 0x20u : 0;
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return at + 2;
    if (second == 'e' && (first == 'r' || first == 'v'))
        return at + 3;
    if (second == 'l' && first == 'l')
        return at + 3;
    /* U+017F, the long s, is an s where case does not matter. */
    if (left > 2 && at[1] == 0xC5 && at[2] == 0xBF)
        return at + 3;
    return at;
}

struct wr_piece wr_pretoken_none(const uint8_t *at, const uint8_t *end)
{
    (void)at;
    return (struct wr_piece){end, end};
}

/* ==== pretoken gpt2 ====
 *
 * The pieces of GPT-2 (r50k_base, p50k_base) and of HuggingFace's ByteLevel:
 *
 *   's|'t|'re|'ve|'m|'ll|'d      lower case only
 *    ?\p{L}+
 *    ?\p{N}+
 *    ?[^\s\p{L}\p{N}]+
 *   \s+(?!\S) | \s+
 */

enum { NOT_SYMBOL = WR_CLASS_SPACE | WR_CLASS_LETTER | WR_CLASS_NUMBER };

static const uint8_t *lower_contraction(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *past = contraction(at, end);
    for (const uint8_t *byte = at + 1; byte < past; byte++)
        if (*byte < 'a' || *byte > 'z')
            return at;
    return past;
}

/* The run of characters of the class that the one at `at` has. */
static struct wr_piece run(const uint8_t *at, const uint8_t *end, unsigned kind)
{
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (kind ? !(c.bits & kind) : (c.bits & NOT_SYMBOL))
            break;
        at += c.bytes;
    }
    return (struct wr_piece){at, at};
}

static unsigned kind_of(unsigned bits)
{
    return bits & WR_CLASS_LETTER ? WR_CLASS_LETTER : bits & NOT_SYMBOL;
}

struct wr_piece wr_pretoken_gpt2(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *contraction_end = lower_contraction(at, end);
    if (contraction_end != at)
        return (struct wr_piece){contraction_end, contraction_end};

    unsigned bits = wr_char_at(at, end).bits;
    if (!(bits & WR_CLASS_SPACE))
        return run(at, end, kind_of(bits));
    if (*at == ' ' && at + 1 < end) {
        unsigned next = wr_char_at(at + 1, end).bits;
        if (!(next & WR_CLASS_SPACE))
            return run(at + 1, end, kind_of(next));
    }
    return any_spaces(at, end);
}

/* ==== pretoken cl100k ====
 *
 * The pieces of cl100k_base:
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)
 *   [^\r\n\p{L}\p{N}]?\p{L}+
 *   \p{N}{1,3}
 *    ?[^\s\p{L}\p{N}]+[\r\n]*
 *   \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * Qwen2 differs in one place: \p{N} takes one digit.
 */

static struct wr_piece letters(const uint8_t *at, const uint8_t *end)
{
    at = skip_letters(at, end, FOLD_CASE);
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (!(c.bits & WR_CLASS_LETTER))
            break;
        at += c.bytes;
    }
    return (struct wr_piece){at, at};
}

/* Symbols, and behind them line ends; with `slash` slashes too. */
static inline struct wr_piece symbols(const uint8_t *at, const uint8_t *end, bool slash)
{
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (c.bits & NOT_SYMBOL)
            break;
        at += c.bytes;
    }
    while (at < end && (*at == '\r' || *at == '\n' || (slash && *at == '/')))
        at++;
    return (struct wr_piece){at, at};
}

static inline struct wr_piece scan(const uint8_t *at, const uint8_t *end, int digits_max)
{
    struct wr_char first = wr_char_at(at, end);

    if (first.bits & WR_CLASS_LETTER)
        return letters(at, end);
    if (first.bits & WR_CLASS_NUMBER)
        return number(at, end, digits_max);
    if (first.bits & WR_CLASS_NEWLINE)
        return spaces(at, end);
    const uint8_t *contraction_end = contraction(at, end);
    if (contraction_end != at)
        return (struct wr_piece){contraction_end, contraction_end};

    const uint8_t *next = at + first.bytes;
    unsigned bits = next < end ? wr_char_at(next, end).bits : WR_CLASS_SPACE;
    if (bits & WR_CLASS_LETTER)
        return letters(next, end);
    if (!(first.bits & NOT_SYMBOL))
        return symbols(at, end, false);
    if (*at == ' ' && !(bits & NOT_SYMBOL))
        return symbols(next, end, false);
    return spaces(at, end);
}

struct wr_piece wr_pretoken_cl100k(const uint8_t *at, const uint8_t *end)
{
    return scan(at, end, 3);
}

struct wr_piece wr_pretoken_qwen2(const uint8_t *at, const uint8_t *end)
{
    return scan(at, end, 1);
}

/* ==== pretoken o200k ====
 *
 * The pieces of o200k_base:
 *
 *   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|...)?
 *   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|...)?
 *   \p{N}{1,3}
 *    ?[^\s\p{L}\p{N}]+[\r\n/]*
 *   \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * Backtracking in the first two comes down to three cases; see word_end().
 */

enum {
    HEAD = WR_CLASS_UPPER | WR_CLASS_CASELESS | WR_CLASS_MARK,
    TAIL = WR_CLASS_LOWER | WR_CLASS_CASELESS | WR_CLASS_MARK,
    BOTH = WR_CLASS_CASELESS | WR_CLASS_MARK,
    WORD = WR_CLASS_LETTER | WR_CLASS_MARK,
    DIGITS_MAX = 3,
};

static const uint8_t *skip_tail(const uint8_t *at, const uint8_t *end)
{
    at = skip_letters(at, end, 0);
    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (!(c.bits & TAIL))
            break;
        at += c.bytes;
    }
    return at;
}

/* `at` is a letter or a mark. The head is taken as far as it goes. What follows it is
 * - a lower case letter: the tail goes on from there;
 * - something else, and the head holds a character that could be tail as well: the last of those
 * has to be the tail, and the word ends after it;
 * - something else, and the head is upper case only: that is the word (the second expression). */
static struct wr_piece word_end(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *both_end = NULL;

    while (at < end) {
        struct wr_char c = wr_char_at(at, end);
        if (c.bits & WR_CLASS_LOWER) {
            at = skip_tail(at + c.bytes, end);
            return (struct wr_piece){at, at};
        }
        if (!(c.bits & HEAD))
            break;
        at += c.bytes;
        if (c.bits & BOTH)
            both_end = at;
    }
    return (struct wr_piece){both_end ? both_end : at, at};
}

static struct wr_piece word(const uint8_t *at, const uint8_t *end)
{
    struct wr_piece piece = word_end(at, end);
    piece.end = contraction(piece.end, end);
    if (piece.seen < piece.end)
        piece.seen = piece.end;
    return piece;
}

struct wr_piece wr_pretoken_o200k(const uint8_t *at, const uint8_t *end)
{
    struct wr_char first = wr_char_at(at, end);

    if (first.bits & WORD)
        return word(at, end);
    if (first.bits & WR_CLASS_NUMBER)
        return number(at, end, DIGITS_MAX);
    if (first.bits & WR_CLASS_NEWLINE)
        return spaces(at, end);

    const uint8_t *next = at + first.bytes;
    unsigned bits = next < end ? wr_char_at(next, end).bits : WR_CLASS_SPACE;
    if (bits & WORD)
        return word(next, end);
    if (!first.bits)
        return symbols(at, end, true);
    if (*at == ' ' && !bits)
        return symbols(next, end, true);
    return spaces(at, end);
}

/* ==== many at once ====
 *
 * Each class of characters becomes a bit mask, bit i for byte i, and the expressions above become
 * arithmetic on such masks.
 *
 * Looked at one after the other, pieces cost a wrongly foretold branch or two each, and they are
 * four bytes long on average. Here no branch hangs on the text but for what is rare.
 *
 * The window begins where a piece begins, so nothing before it matters. What follows it is not
 * known, and may be a character that is not ASCII; so a cut is only told if nothing that follows
 * could move it:
 *   white space at the end of the window is left alone, all of it (what follows says how it is cut)
 *   so is all from an apostrophe on that may begin a contraction, which are rare
 * A scanner then cuts the piece that is left open, and a new window begins behind it.
 *
 * A mask shifted up by one (after()) has the bits of the bytes behind those of a class.
 */
#if defined(__x86_64__)

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

AVX2 static uint64_t o200k_avx2(const uint8_t *at, unsigned len)
{
    return cut(at, len, (struct rules){true, true, true, 3});
}

AVX2 static uint64_t cl100k_avx2(const uint8_t *at, unsigned len)
{
    return cut(at, len, (struct rules){false, false, false, 3});
}

AVX2 static uint64_t qwen2_avx2(const uint8_t *at, unsigned len)
{
    return cut(at, len, (struct rules){false, false, false, 1});
}

#endif

wr_pretoken_many_fn *wr_pretoken_many_of(wr_pretoken_fn *scanner)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")) {
        if (scanner == wr_pretoken_o200k)
            return o200k_avx2;
        if (scanner == wr_pretoken_cl100k)
            return cl100k_avx2;
        if (scanner == wr_pretoken_qwen2)
            return qwen2_avx2;
    }
#endif
    (void)scanner;
    return NULL;
}

/* ==== unicode class ==== */

WR_EMBED(wr_unicode_classes, "data/unicode_classes.bin");

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

static struct wr_char wide_of(uint32_t code_point, uint32_t least, unsigned bytes)
{
    if (code_point < least || code_point > 0x10FFFF)
        return (struct wr_char){0, 1};
    return (struct wr_char){wr_class_of(code_point), bytes};
}

struct wr_char wr_char_wide(const uint8_t *at, const uint8_t *end)
{
    size_t left = (size_t)(end - at);
    uint32_t lead = at[0];

    if (lead >= 0xE0 && lead < 0xF0 && left >= 3 && is_continuation(at[1]) &&
        is_continuation(at[2]))
        return wide_of((lead & 0x0F) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu), 0x800, 3);
    if (lead >= 0xC0 && lead < 0xE0 && left >= 2 && is_continuation(at[1]))
        return wide_of((lead & 0x1F) << 6 | (at[1] & 0x3Fu), 0x80, 2);
    if (lead >= 0xF0 && lead < 0xF8 && left >= 4 && is_continuation(at[1]) &&
        is_continuation(at[2]) && is_continuation(at[3]))
        return wide_of((lead & 0x07) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 |
                           (at[3] & 0x3Fu),
                       0x10000, 4);
    return (struct wr_char){0, 1};
}
