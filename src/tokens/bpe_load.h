/* bpe_load.h -- encodings from tables that a user names: .tiktoken rank files and the
 * tokenizer.json of HuggingFace.
 *
 * Only byte pair encodings over bytes are read; anything else fails and says what it is. The
 * library does no I/O: the caller brings the file's bytes. The text of added and special tokens is
 * plain text. Both are as exact as the embedded encodings as far as the table goes; what the loader
 * cannot honour it reports in `struct wr_bpe_load_report`.
 */
#ifndef WR_TOKENS_BPE_LOAD_H
#define WR_TOKENS_BPE_LOAD_H

#include "tokens/bpe.h"

/* How text is cut into pieces before merging. */
#define WR_BPE_PATTERN_MAP(X) \
    X(CL100K, "cl100k")       \
    X(O200K, "o200k")         \
    X(QWEN2, "qwen2")         \
    X(GPT2, "gpt2")           \
    X(NONE, "none")

enum wr_bpe_pattern {
#define WR_BPE_PATTERN_ENUM(name, text) WR_BPE_PATTERN_##name,
    WR_BPE_PATTERN_MAP(WR_BPE_PATTERN_ENUM)
#undef WR_BPE_PATTERN_ENUM
        WR_BPE_PATTERNS_COUNT
};

bool wr_bpe_pattern_find(weir_span name, enum wr_bpe_pattern *pattern);

/* What was made of a tokenizer.json. Where `exact` is false, `text` says why counts may differ. */
struct wr_bpe_load_report {
    enum wr_bpe_pattern pattern;
    bool exact;
    char text[160];
};

/* A rank file: a line for each token, its bytes in base64 and its rank. The file does not say how
 * text is cut, so the caller does. Failure: WEIR_SYNTAX or WEIR_INVALID with the byte of the file,
 * WEIR_LIMIT, WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_bpe_load_tiktoken(struct wr_bpe **bpe, weir_span file,
                                               enum wr_bpe_pattern pattern, struct weir_err *err);

/* A tokenizer.json whose model is BPE over bytes. A pattern of cutting that is not known by its
 * exact expression is taken as cl100k's and reported. `report` may be NULL. Failure as above. */
WEIR_MUST_USE weir_status wr_bpe_load_json(struct wr_bpe **bpe, weir_span file,
                                           struct wr_bpe_load_report *report, struct weir_err *err);

#endif
