/* The words for modes and for recall, as weir.yaml, options and headers have them. */
#include "base/span.h"
#include "proxy/config.h"

static const char *const mode_names[] = {
#define X(name, text) [WR_MODE_##name] = text,
    WR_MODE_MAP(X)
#undef X
};

enum { MODES_COUNT = WR_COUNT_OF(mode_names) };

const char *wr_mode_name(enum wr_mode mode)
{
    return mode_names[mode];
}

static bool takes_percent(enum wr_mode mode)
{
    return mode == WR_MODE_CANARY || mode == WR_MODE_HOLDOUT;
}

static bool parse_percent(weir_span text, uint32_t *percent)
{
    uint64_t number;
    if (text.len && text.ptr[text.len - 1] == '%')
        text.len--;
    if (!wr_span_u64(wr_span_trim(text), &number) || number > 100)
        return false;
    *percent = (uint32_t)number;
    return true;
}

bool wr_mode_parse(weir_span text, enum wr_mode *mode, uint32_t *percent)
{
    for (size_t i = 0; i < MODES_COUNT; i++) {
        weir_span name = wr_span_of(mode_names[i]);
        if (!wr_span_starts(text, name))
            continue;
        weir_span rest = wr_span_trim(wr_span_cut(text, name.len, text.len));
        *mode = (enum wr_mode)i;
        if (!takes_percent(*mode))
            return !rest.len;
        return text.len > name.len && text.ptr[name.len] == ' ' && parse_percent(rest, percent);
    }
    return false;
}

bool wr_recall_parse(weir_span text, enum wr_recall *recall)
{
    static const char *const names[] = {
#define X(name, text) text,
        WR_RECALL_MAP(X)
#undef X
    };
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_span_is(text, names[i])) {
            *recall = (enum wr_recall)i;
            return true;
        }
    return false;
}
