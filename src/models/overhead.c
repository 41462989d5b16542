#include "models/overhead.h"

#include "base/span.h"

enum {
    PDF_PAGE_TOKENS = 3000, /* text and picture of a page, the upper end of what is published */
    PDF_PAGE_BYTES = 50000, /* a page of a mixed document */
    AUDIO_SECOND_TOKENS = 32,
    AUDIO_SECOND_BYTES =
        16000,               /* 128 kbit/s; speech is often less, so this is low at worst by half */
    REFERENCE_TOKENS = 2000, /* a file that is only named */
};

struct wr_overhead wr_overhead_of(enum wr_overhead_dialect dialect)
{
    static const struct wr_overhead table[] = {
        [WR_OVERHEAD_CHAT] = {.request = 3, .message = 4, .call = 8, .tools = 12, .tool = 8},
        [WR_OVERHEAD_RESPONSES] = {.request = 3, .message = 4, .call = 8, .tools = 12, .tool = 8},
        /* With tools Anthropic puts a prompt of its own in front: 346 tokens. */
        [WR_OVERHEAD_MESSAGES] = {.request = 4, .message = 4, .call = 24, .tools = 346, .tool = 16},
        [WR_OVERHEAD_GEMINI] = {.request = 2, .message = 4, .call = 8, .tools = 8, .tool = 8},
    };
    return table[dialect];
}

uint64_t wr_overhead_tokens(enum wr_overhead_dialect dialect,
                            const struct wr_overhead_counts *counts)
{
    struct wr_overhead each = wr_overhead_of(dialect);
    return each.request + (uint64_t)each.message * counts->messages +
           (uint64_t)each.call * counts->calls + (counts->tools ? each.tools : 0) +
           (uint64_t)each.tool * counts->tools;
}

uint64_t wr_file_tokens(enum wr_file_kind kind, uint64_t file_bytes)
{
    if (!file_bytes)
        return REFERENCE_TOKENS;
    switch (kind) {
    case WR_FILE_PDF:
        return (file_bytes / PDF_PAGE_BYTES + 1) * PDF_PAGE_TOKENS;
    case WR_FILE_AUDIO:
        return (file_bytes / AUDIO_SECOND_BYTES + 1) * AUDIO_SECOND_TOKENS;
    case WR_FILE_OTHER:
        break;
    }
    return file_bytes / 4 + 1;
}

enum wr_file_kind wr_file_kind_of(weir_span media_type)
{
    if (wr_span_starts(media_type, WR_LIT("application/pdf")))
        return WR_FILE_PDF;
    if (wr_span_starts(media_type, WR_LIT("audio/")))
        return WR_FILE_AUDIO;
    return WR_FILE_OTHER;
}
