/* Oracles: the result is never longer than the text; rendering it again changes nothing; a text
 * that moves no cursor is its own result; lines stay in their places unless it is said that they
 * moved; and what is shown does not depend on colours in between. */
#include "condense/terminal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

enum { TEXT_BYTES_MAX = 1 << 18 };

static void must(bool condition, const char *oracle)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", oracle);
    abort();
}

static struct wr_terminal_text render(struct wr_arena *arena, weir_span text)
{
    struct wr_terminal_text out;
    must(!wr_terminal_render(&out, arena, text), "rendering failed");
    return out;
}

static size_t count_line_ends(weir_span text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    return count;
}

static bool has_byte(weir_span text, char byte)
{
    return text.len && memchr(text.ptr, byte, text.len);
}

/* A colour before each line: the text is then never too short for its own rendering. */
static weir_span coloured(struct wr_buf *buf, weir_span text)
{
    weir_span line;
    for (int i = 0; i < 64; i++)
        wr_buf_text(buf, "\x1b[0m");
    bool ends = wr_span_ends(text, WR_LIT("\n"));
    while (wr_span_line(&text, &line)) {
        wr_buf_text(buf, "\x1b[31m");
        wr_buf_append(buf, line);
        if (text.len || ends)
            wr_buf_byte(buf, '\n');
    }
    return wr_buf_view(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    weir_span text = {(const char *)bytes, len};
    struct wr_arena arena;
    struct wr_buf buf;
    if (len > TEXT_BYTES_MAX)
        return 0;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&buf, 64 * TEXT_BYTES_MAX);

    struct wr_terminal_text out = render(&arena, text);
    must(out.text.len <= text.len, "longer than the text");
    must(out.is_same == wr_span_eq(out.text, text) || !out.is_same, "not the same");
    must(wr_span_eq(render(&arena, out.text).text, out.text), "rendering again changed it");
    if (!out.is_same) {
        must(!has_byte(out.text, 0x1b) && !has_byte(out.text, '\b'), "a control byte is left");
        if (!out.lines_moved)
            must(count_line_ends(out.text) == count_line_ends(text), "lines moved unsaid");
        struct wr_terminal_text colour = render(&arena, coloured(&buf, text));
        must(colour.is_same || wr_span_eq(colour.text, out.text), "a colour changed it");
    }
    wr_buf_release(&buf);
    wr_arena_release(&arena);
    return 0;
}
