#include "models/model.h"

const char *wr_cache_mode_text(enum wr_cache_mode mode)
{
    switch (mode) {
    case WR_CACHE_NONE:
        return "none";
    case WR_CACHE_EXPLICIT:
        return "explicit";
    case WR_CACHE_BREAKPOINT:
        return "breakpoint";
    case WR_CACHE_PREFIX:
        return "prefix";
    }
    return "unknown";
}

const char *wr_tokenizer_text(enum wr_tokenizer tokenizer)
{
    switch (tokenizer) {
    case WR_TOKENIZER_ESTIMATE:
        return "estimate";
    case WR_TOKENIZER_O200K:
        return "o200k_base";
    case WR_TOKENIZER_CL100K:
        return "cl100k_base";
    }
    return "unknown";
}
