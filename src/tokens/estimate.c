#include "tokens/estimate.h"

#include <string.h>

#include "base/span.h"
#include "tokens/estimate_runs.h"
#include "tokens/estimate_weights.h"

_Static_assert(sizeof(wr_estimate_weights) / sizeof(wr_estimate_weights[0]) ==
                   WR_ESTIMATE_FEATURES_COUNT,
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

/* Sixteen bytes at once, in the vectors that gcc and clang have for every machine. A comparison
 * gives 0xFF where it holds, which is -1: subtracting it counts. */
enum { LANES = 16, BEHIND = 8, FLUSH_BLOCKS = 255 };
typedef uint8_t lanes __attribute__((vector_size(LANES)));

static lanes load(const uint8_t *at)
{
    lanes block;
    memcpy(&block, at, sizeof block);
    return block;
}

static lanes all(uint8_t byte)
{
    return (lanes){byte, byte, byte, byte, byte, byte, byte, byte,
                   byte, byte, byte, byte, byte, byte, byte, byte};
}

/* Bytes from `low` up to `low + span - 1`. */
static lanes within(lanes bytes, uint8_t low, uint8_t span)
{
    return (lanes)(bytes - all(low) < all(span));
}

static lanes is_letter(lanes bytes)
{
    return within(bytes | all(0x20), 'a', 26);
}

static lanes is_vowel(lanes bytes)
{
    lanes small = bytes | all(0x20);
    return (lanes)(small == all('a')) | (lanes)(small == all('e')) | (lanes)(small == all('i')) |
           (lanes)(small == all('o')) | (lanes)(small == all('u'));
}

/* Adds the features of the 16 bytes at `at` to `sums`; the BEHIND bytes before are readable. */
static inline void count_block(const uint8_t *at, lanes *sums)
{
    lanes now = load(at), before = load(at - 1);
    lanes letter = is_letter(now), letter_before = is_letter(before);
    lanes digit = within(now, '0', 10), digit_before = within(before, '0', 10);
    lanes capital = within(now, 'A', 26), small_before = within(before, 'a', 26);
    lanes space = (lanes)(now == all(' ')) | (lanes)(now == all('\t'));
    lanes space_before = (lanes)(before == all(' ')) | (lanes)(before == all('\t'));
    lanes line = (lanes)(now == all('\n'));
    lanes symbol = within(now, 0x21, 0x5E) & ~letter & ~digit;
    lanes symbol_before = within(before, 0x21, 0x5E) & ~letter_before & ~digit_before;
    lanes third = load(at - 2), third_letter = is_letter(third);
    lanes vowel = is_vowel(now) | is_vowel(before) | is_vowel(third);
    /* Letters at -1, -2 and -4 stand for an unbroken run, near enough. */
    lanes far = letter & letter_before & third_letter & is_letter(load(at - 4));
    lanes farther = far & is_letter(load(at - 6)) & is_letter(load(at - 8));

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
    lanes now = load(at);
    sums[WR_ESTIMATE_LEAD_2] -= within(now, 0xC0, 0x20);
    sums[WR_ESTIMATE_LEAD_E2] -= within(now, 0xE0, 3);
    sums[WR_ESTIMATE_LEAD_E3] -= (lanes)(now == all(0xE3));
    sums[WR_ESTIMATE_LEAD_HAN] -= within(now, 0xE4, 6);
    sums[WR_ESTIMATE_LEAD_HANGUL] -= within(now, 0xEA, 6);
    sums[WR_ESTIMATE_LEAD_4] -= (lanes)(now >= all(0xF0));
}

static bool is_ascii(const uint8_t *at)
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
        if (!is_ascii(at))
            count_block_wide(at, sums);
    }
    for (int i = 0; i < WR_ESTIMATE_FEATURES_COUNT; i++)
        for (int lane = 0; lane < LANES; lane++)
            features->counts[i] += sums[i][lane];
}

/* The ends of a text, which lack neighbours to read: copied to where they have zeroes. */
static void count_end(const uint8_t *start, const uint8_t *at, size_t len,
                      struct wr_estimate_features *features)
{
    uint8_t padded[BEHIND + LANES] = {0};
    size_t behind = at - start > BEHIND ? BEHIND : (size_t)(at - start);
    memcpy(padded + BEHIND - behind, at - behind, behind + len);
    count_blocks(padded + BEHIND, 1, features);
}

/* The bytes of `len` that belong to no other feature, nor go on a character of several bytes. */
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

static size_t fitted(weir_span text)
{
    struct wr_estimate_features features;
    int64_t sum = 0;

    wr_estimate_features(text, &features);
    for (int i = 0; i < WR_ESTIMATE_FEATURES_COUNT; i++)
        sum += (int64_t)features.counts[i] * wr_estimate_weights[i];
    size_t tokens = sum > 0 ? (size_t)((sum + 32768) / 65536) : 0;
    /* What no text of the fit was like must not come out absurd. */
    size_t least = (text.len + 63) / 64;
    return tokens < least ? least : tokens > text.len ? text.len : tokens;
}

size_t wr_estimate_tokens(enum wr_estimator estimator, weir_span text)
{
    switch (estimator) {
    case WR_ESTIMATOR_BYTES_4:
        return text.len / 4;
    case WR_ESTIMATOR_RUNS:
        return wr_estimate_runs(text);
    case WR_ESTIMATOR_FITTED:
    case WR_ESTIMATORS_COUNT:
        break;
    }
    return fitted(text);
}
