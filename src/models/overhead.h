/* overhead.h -- tokens of a request that are in nobody's text: framing of messages, tools and
 * files.
 *
 * A total is: texts counted, plus wr_overhead_tokens(), plus images (models/image.h), plus files.
 * The constants are the providers' published ones where there are any, else a little above what was
 * seen: too low is the costly side.
 */
#ifndef WR_MODELS_OVERHEAD_H
#define WR_MODELS_OVERHEAD_H

#include <stdbool.h>

#include "weir/span.h"

enum wr_overhead_dialect {
    WR_OVERHEAD_CHAT,
    WR_OVERHEAD_RESPONSES,
    WR_OVERHEAD_MESSAGES,
    WR_OVERHEAD_GEMINI,
};

struct wr_overhead {  /* tokens */
    uint32_t request; /* once */
    uint32_t message; /* each message or item */
    uint32_t call;    /* each tool call or result, beside its message: ids and names */
    uint32_t tools;   /* once, when there are tools */
    uint32_t tool;    /* each tool, beside its schema's text */
};

struct wr_overhead_counts {
    uint32_t messages, calls, tools;
};

struct wr_overhead wr_overhead_of(enum wr_overhead_dialect dialect);
uint64_t wr_overhead_tokens(enum wr_overhead_dialect dialect,
                            const struct wr_overhead_counts *counts);

enum wr_file_kind { WR_FILE_PDF, WR_FILE_AUDIO, WR_FILE_OTHER };

/* A file that is not text, by its size in bytes (decoded; 0: only a reference). A rough figure:
 * count it with low confidence. Files of text are counted as text. */
uint64_t wr_file_tokens(enum wr_file_kind kind, uint64_t file_bytes);

enum wr_file_kind wr_file_kind_of(weir_span media_type);

#endif
