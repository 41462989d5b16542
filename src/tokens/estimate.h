/* estimate.h -- how many tokens a text has, where its tokenizer is not public.
 *
 * The fitted estimate is a weighted sum of how often kinds of bytes occur and begin, in whole
 * numbers, so that it is the same everywhere. The weights (estimate_weights.h) were fitted by
 * tools/fit-estimate to exact o200k_base counts; bench/estimate_error prints the error by class of
 * text.
 */
#ifndef WR_TOKENS_ESTIMATE_H
#define WR_TOKENS_ESTIMATE_H

#include <stdbool.h>

#include "weir/span.h"

#define WR_ESTIMATOR_MAP(X) \
    X(FITTED, "fitted")     \
    X(BYTES_4, "bytes/4")   \
    X(RUNS, "runs")

enum wr_estimator {
#define WR_ESTIMATOR_ENUM(name, text) WR_ESTIMATOR_##name,
    WR_ESTIMATOR_MAP(WR_ESTIMATOR_ENUM)
#undef WR_ESTIMATOR_ENUM
        WR_ESTIMATORS_COUNT
};

const char *wr_estimator_name(enum wr_estimator estimator);
bool wr_estimator_find(weir_span name, enum wr_estimator *estimator);

/* The fitted estimate is never 0 for a text that is not empty, and never more than its bytes. The
 * other two are as the documents of their policies define them: `bytes/4` rounds down; `runs`
 * counts one token for each four letters or three digits begun, a quarter for brackets, quotes and
 * the like, an eighth for line ends and one for any other character, but at least half of bytes/4
 * rounded up. */
size_t wr_estimate_tokens(enum wr_estimator estimator, weir_span text);

/* What the fitted estimate counts. ORDER ESTIMATE_FEATURES: estimate_weights.h has one weight each.
 */
enum wr_estimate_feature {
    WR_ESTIMATE_LETTER,
    WR_ESTIMATE_WORD,    /* a letter after something else */
    WR_ESTIMATE_GLUED,   /* a letter after a symbol */
    WR_ESTIMATE_LONG,    /* a letter after four others */
    WR_ESTIMATE_LONGER,  /* a letter after eight others */
    WR_ESTIMATE_CLUSTER, /* a consonant after two others: names and codes rather than words */
    WR_ESTIMATE_CAPITAL,
    WR_ESTIMATE_CAMEL, /* a capital after a small letter */
    WR_ESTIMATE_DIGIT,
    WR_ESTIMATE_NUMBER,   /* a digit after something else */
    WR_ESTIMATE_MIXED,    /* a letter after a digit */
    WR_ESTIMATE_SYMBOL,   /* ASCII that is none of the others */
    WR_ESTIMATE_SYMBOLS,  /* a symbol after something else */
    WR_ESTIMATE_REPEATED, /* a symbol after the same one */
    WR_ESTIMATE_SPACE,    /* space or tab */
    WR_ESTIMATE_SPACES,   /* a space or tab after something else */
    WR_ESTIMATE_LINE,     /* a line end */
    WR_ESTIMATE_LEAD_2,   /* the first byte of a character of two bytes */
    WR_ESTIMATE_LEAD_E2,  /* of three bytes, below U+3000: Indic, Thai, punctuation */
    WR_ESTIMATE_LEAD_E3,  /* kana and the punctuation of Chinese and Japanese */
    WR_ESTIMATE_LEAD_HAN,
    WR_ESTIMATE_LEAD_HANGUL, /* and what follows it */
    WR_ESTIMATE_LEAD_4,      /* of four bytes */
    WR_ESTIMATE_REST,        /* control bytes, and what is not UTF-8 */
    WR_ESTIMATE_FEATURES_COUNT
};

struct wr_estimate_features {
    uint64_t counts[WR_ESTIMATE_FEATURES_COUNT];
};

void wr_estimate_features(weir_span text, struct wr_estimate_features *features);

#endif
