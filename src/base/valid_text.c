#include "base/valid_text.h"

#include "base/buf.h"
#include "base/span.h"
#include "base/text.h"
#include "base/utf8.h"

static const char replacement[] = "\xEF\xBF\xBD";

/* A surrogate is three bytes and one character. */
static size_t invalid_bytes(weir_span rest)
{
    uint32_t code;
    size_t bytes = wr_utf8_decode(rest, true, &code);
    return bytes ? bytes : 1;
}

weir_status wr_valid_text(struct wr_arena *arena, weir_span text, weir_span *valid,
                          uint64_t *replaced_count)
{
    struct wr_buf out;
    size_t at = wr_utf8_check(text, false);

    *replaced_count = 0;
    *valid = text;
    if (at == text.len)
        return WEIR_OK;
    wr_buf_init(&out, arena->bytes_max);
    for (size_t from = 0; from < text.len;) {
        wr_buf_append(&out, wr_span_cut(text, from, at));
        from = at;
        if (at < text.len) {
            wr_buf_text(&out, replacement);
            ++*replaced_count;
            from += invalid_bytes(wr_span_cut(text, at, text.len));
        }
        weir_span rest = wr_span_cut(text, from, text.len);
        at = from + wr_utf8_check(rest, false);
    }
    return wr_text_keep(arena, &out, valid);
}
