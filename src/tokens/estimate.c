/* Guesses the tokens of a text whose tokenizer is not public, at more than 1 GB/s.
 *
 * The fitted estimate counts features of the bytes, such as letters, letters that begin a word,
 * capitals after small letters, digits, symbols, the first bytes of wide characters, and adds them
 * up with the weights of estimate_weights.h. Everything is whole numbers, so that every machine
 * gives the same answer.
 *
 * The text is read in blocks of 16 bytes with the vectors that gcc and clang have for every
 * machine. A feature of a byte looks at up to eight bytes before it (BEHIND), so a block is read
 * again at an offset. The two ends of a text have no such neighbours; they are copied to a place
 * where they have zeroes. The sums are in single bytes, so they are emptied every 255 blocks.
 */
#include "tokens/estimate.h"

#include <string.h>

#include "base/span.h"
#include "base/text.h"
#include "tokens/estimate_weights.h"

_Static_assert(WR_COUNT_OF(wr_estimate_weights) == WR_ESTIMATE_FEATURES_COUNT,
               "one weight a feature");

static const char *const estimator_names[] = {
#define ESTIMATOR_NAME(name, text) text,
    WR_ESTIMATOR_MAP(ESTIMATOR_NAME)
#undef ESTIMATOR_NAME
};

const char *wr_estimator_name(enum wr_estimator estimator)
{
    return estimator_names[estimator];
}

bool wr_estimator_find(weir_span name, enum wr_estimator *estimator)
{
    for (int i = 0; i < WR_ESTIMATORS_COUNT; i++) {
        if (wr_span_is(name, estimator_names[i])) {
            *estimator = (enum wr_estimator)i;
            return true;
        }
    }
    return false;
}

/* ---- the fitted estimate ---- */

/* Sixteen bytes at once, in the vectors that gcc and clang have for every machine. A comparison
 * gives 0xFF where it holds, which is -1: subtracting it counts. */
enum { LANES = 16, BEHIND = 8, FLUSH_BLOCKS = 255 };
typedef uint8_t lanes __attribute__((vector_size(LANES)));

static lanes load_lanes(const uint8_t *at)
{
    lanes block;
    memcpy(&block, at, sizeof block);
    return block;
}

static lanes all_lanes(uint8_t byte)
{
    return (lanes){byte, byte, byte, byte, byte, byte, byte, byte,
                   byte, byte, byte, byte, byte, byte, byte, byte};
}

/* Bytes from `low` up to `low + span - 1`. */
static lanes lanes_within(lanes bytes, uint8_t low, uint8_t span)
{
    return (lanes)(bytes - all_lanes(low) < all_lanes(span));
}

static lanes letter_lanes(lanes bytes)
{
    return lanes_within(bytes | all_lanes(0x20), 'a', 26);
}

static lanes vowel_lanes(lanes bytes)
{
    lanes small = bytes | all_lanes(0x20);
    return (lanes)(small == all_lanes('a')) | (lanes)(small == all_lanes('e')) |
           (lanes)(small == all_lanes('i')) | (lanes)(small == all_lanes('o')) |
           (lanes)(small == all_lanes('u'));
}

/* Adds the features of the 16 bytes at `at` to `sums`; the BEHIND bytes before are readable. */
static inline void count_block(const uint8_t *at, lanes *sums)
{
    lanes now = load_lanes(at), before = load_lanes(at - 1);
    lanes letter = letter_lanes(now), letter_before = letter_lanes(before);
    lanes digit = lanes_within(now, '0', 10), digit_before = lanes_within(before, '0', 10);
    lanes capital = lanes_within(now, 'A', 26), small_before = lanes_within(before, 'a', 26);
    lanes space = (lanes)(now == all_lanes(' ')) | (lanes)(now == all_lanes('\t'));
    lanes space_before = (lanes)(before == all_lanes(' ')) | (lanes)(before == all_lanes('\t'));
    lanes line = (lanes)(now == all_lanes('\n'));
    lanes symbol = lanes_within(now, 0x21, 0x5E) & ~letter & ~digit;
    lanes symbol_before = lanes_within(before, 0x21, 0x5E) & ~letter_before & ~digit_before;
    lanes third = load_lanes(at - 2), third_letter = letter_lanes(third);
    lanes vowel = vowel_lanes(now) | vowel_lanes(before) | vowel_lanes(third);
    /* Letters at -1, -2 and -4 stand for an unbroken run, near enough. */
    lanes far = letter & letter_before & third_letter & letter_lanes(load_lanes(at - 4));
    lanes farther = far & letter_lanes(load_lanes(at - 6)) & letter_lanes(load_lanes(at - 8));

    sums[WR_ESTIMATE_LETTER] -= letter;
    sums[WR_ESTIMATE_WORD] -= letter & ~letter_before;
    sums[WR_ESTIMATE_GLUED] -= letter & symbol_before;
    sums[WR_ESTIMATE_LONG] -= far;
    sums[WR_ESTIMATE_LONGER] -= farther;
    sums[WR_ESTIMATE_CLUSTER] -= letter & letter_before & third_letter & ~vowel;
    sums[WR_ESTIMATE_CAPITAL] -= capital;
    sums[WR_ESTIMATE_CAMEL] -= capital & small_before;
    sums[WR_ESTIMATE_DIGIT] -= digit;
    sums[WR_ESTIMATE_NUMBER] -= digit & ~digit_before;
    sums[WR_ESTIMATE_MIXED] -= letter & digit_before;
    sums[WR_ESTIMATE_SYMBOL] -= symbol;
    sums[WR_ESTIMATE_SYMBOLS] -= symbol & ~symbol_before;
    sums[WR_ESTIMATE_REPEATED] -= symbol & (lanes)(now == before);
    sums[WR_ESTIMATE_SPACE] -= space;
    sums[WR_ESTIMATE_SPACES] -= space & ~space_before;
    sums[WR_ESTIMATE_LINE] -= line;
}

/* The same for what only text beyond ASCII has. */
static inline void count_block_wide(const uint8_t *at, lanes *sums)
{
    lanes now = load_lanes(at);
    sums[WR_ESTIMATE_LEAD_2] -= lanes_within(now, 0xC0, 0x20);
    sums[WR_ESTIMATE_LEAD_E2] -= lanes_within(now, 0xE0, 3);
    sums[WR_ESTIMATE_LEAD_E3] -= (lanes)(now == all_lanes(0xE3));
    sums[WR_ESTIMATE_LEAD_HAN] -= lanes_within(now, 0xE4, 6);
    sums[WR_ESTIMATE_LEAD_HANGUL] -= lanes_within(now, 0xEA, 6);
    sums[WR_ESTIMATE_LEAD_4] -= (lanes)(now >= all_lanes(0xF0));
}

static bool is_ascii_block(const uint8_t *at)
{
    uint64_t words[2];
    memcpy(words, at, sizeof words);
    return !((words[0] | words[1]) & UINT64_C(0x8080808080808080));
}

/* Up to FLUSH_BLOCKS blocks, so that no lane of a sum runs over. */
static void count_blocks(const uint8_t *at, size_t blocks, struct wr_estimate_features *features)
{
    lanes sums[WR_ESTIMATE_FEATURES_COUNT] = {{0}};
    for (size_t i = 0; i < blocks; i++, at += LANES) {
        count_block(at, sums);
        if (!is_ascii_block(at))
            count_block_wide(at, sums);
    }
    for (int i = 0; i < WR_ESTIMATE_FEATURES_COUNT; i++)
        for (int lane = 0; lane < LANES; lane++)
            features->counts[i] += sums[i][lane];
}

/* Counts a block at an end of the text, from a copy with zeroes around it. */
static void count_end(const uint8_t *start, const uint8_t *at, size_t len,
                      struct wr_estimate_features *features)
{
    uint8_t padded[BEHIND + LANES] = {0};
    size_t behind = at - start > BEHIND ? BEHIND : (size_t)(at - start);
    memcpy(padded + BEHIND - behind, at - behind, behind + len);
    count_blocks(padded + BEHIND, 1, features);
}

/* Bytes of `len` that belong to no other feature and to no character of several bytes. */
static uint64_t rest_bytes(const struct wr_estimate_features *features, uint64_t len)
{
    const uint64_t *counts = features->counts;
    uint64_t known = counts[WR_ESTIMATE_LETTER] + counts[WR_ESTIMATE_DIGIT] +
                     counts[WR_ESTIMATE_SYMBOL] + counts[WR_ESTIMATE_SPACE] +
                     counts[WR_ESTIMATE_LINE];
    known += 2 * counts[WR_ESTIMATE_LEAD_2] + 4 * counts[WR_ESTIMATE_LEAD_4];
    for (int i = WR_ESTIMATE_LEAD_E2; i <= WR_ESTIMATE_LEAD_HANGUL; i++)
        known += 3 * counts[i];
    return len > known ? len - known : 0;
}

void wr_estimate_features(weir_span text, struct wr_estimate_features *features)
{
    const uint8_t *start = (const uint8_t *)text.ptr, *at = start;
    size_t left = text.len;

    memset(features, 0, sizeof *features);
    while (left) {
        if (at == start || left < LANES) {
            size_t len = left < LANES ? left : LANES;
            count_end(start, at, len, features);
            at += len;
            left -= len;
            continue;
        }
        size_t blocks = left / LANES < FLUSH_BLOCKS ? left / LANES : FLUSH_BLOCKS;
        count_blocks(at, blocks, features);
        at += blocks * LANES;
        left -= blocks * LANES;
    }
    features->counts[WR_ESTIMATE_REST] = rest_bytes(features, text.len);
}

static size_t estimate_fitted(weir_span text)
{
    struct wr_estimate_features features;
    int64_t sum = 0;

    wr_estimate_features(text, &features);
    for (int i = 0; i < WR_ESTIMATE_FEATURES_COUNT; i++)
        sum += (int64_t)features.counts[i] * wr_estimate_weights[i];
    size_t tokens = sum > 0 ? (size_t)((sum + 32768) / 65536) : 0;
    /* A text unlike all those of the fit must not come out absurd. */
    size_t least = (text.len + 63) / 64;
    return tokens < least ? least : tokens > text.len ? text.len : tokens;
}

/* ---- by runs of letters and digits, as the document of the `smart` preset defines it ---- */

enum run_kind { LETTERS, DIGITS, SPACE, LINE_END, BRACKET, OTHER };

enum {
    LETTERS_A_TOKEN = 4,
    DIGITS_A_TOKEN = 3,
    BRACKETS_A_TOKEN = 4,
    LINE_ENDS_A_TOKEN = 8,
    BYTES_A_TOKEN = 4,
};

static bool is_wide_space(uint32_t code)
{
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

static enum run_kind run_kind_of(uint32_t code)
{
    if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_' || code == '-')
        return LETTERS;
    if (code >= '0' && code <= '9')
        return DIGITS;
    if (code == '\n')
        return LINE_END;
    if (code == ' ' || (code >= '\t' && code <= '\r') || is_wide_space(code))
        return SPACE;
    if (code && code < 0x80 && strchr("{}[]:,\"'`()<>", (int)code))
        return BRACKET;
    return OTHER;
}

static size_t groups_begun(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

static size_t run_tokens(enum run_kind kind, size_t chars)
{
    return groups_begun(chars, kind == DIGITS ? DIGITS_A_TOKEN : LETTERS_A_TOKEN);
}

/* Text that is not UTF-8 counts one token for each four bytes begun. */
static size_t estimate_runs(weir_span text)
{
    size_t tokens = 0, brackets = 0, line_ends = 0, run_chars = 0;
    enum run_kind run = OTHER;
    size_t by_bytes = groups_begun(text.len, BYTES_A_TOKEN);

    for (size_t at = 0; at < text.len;) {
        uint32_t code;
        size_t bytes = wr_utf8_decode((weir_span){text.ptr + at, text.len - at}, false, &code);
        if (!bytes)
            return by_bytes;
        enum run_kind kind = run_kind_of(code);
        if (kind != run) {
            tokens += run_tokens(run, run_chars);
            run_chars = 0;
            run = kind;
        }
        run_chars += kind == LETTERS || kind == DIGITS;
        brackets += kind == BRACKET;
        line_ends += kind == LINE_END;
        tokens += kind == OTHER;
        at += bytes;
    }
    tokens += run_tokens(run, run_chars);
    tokens += groups_begun(brackets, BRACKETS_A_TOKEN) + groups_begun(line_ends, LINE_ENDS_A_TOKEN);
    return tokens > by_bytes / 2 ? tokens : by_bytes / 2;
}

/* ---- any of them ---- */

size_t wr_estimate_tokens(enum wr_estimator estimator, weir_span text)
{
    switch (estimator) {
    case WR_ESTIMATOR_BYTES_4:
        return text.len / 4;
    case WR_ESTIMATOR_RUNS:
        return estimate_runs(text);
    case WR_ESTIMATOR_FITTED:
    case WR_ESTIMATORS_COUNT:
        break;
    }
    return estimate_fitted(text);
}
