/* Bytes for no reader: base64, hexadecimal digits, binary, text without line ends.
 *
 * Lines over the share below lose their middle (keep.h, 5), and the mark says what was cut: its
 * coding, and what it holds where the first bytes tell ("base64 of a PNG image"). Of many lines the
 * first and the last stay. No more is kept than lets one recognise it, whatever the budget, unless
 * it is text that can be read. */
#include "base/ascii.h"
#include "condense/keep.h"

#include "base/limits.h"

enum {
    LOOK_BYTES_MAX = 4096,
    CODED_LINE_BYTES_MAX = 320, /* of a line of base64, hexadecimal digits or binary */
    CODED_BYTES_MAX = 1024,     /* of all lines */
    MINIFIED_LINE_PERCENT = 40, /* of the budget, on one line of text */
};

enum coding { MINIFIED, BASE64, HEX, BINARY };

/* ---- what it is ---- */

static enum coding coding_of(weir_span text)
{
    size_t hex = 0, base64 = 0, control = 0, spaces = 0;
    size_t count = text.len < LOOK_BYTES_MAX ? text.len : LOOK_BYTES_MAX;
    for (size_t i = 0; i < count; i++) {
        char c = text.ptr[i];
        bool is_space = wr_is_blank(c) || c == '\n' || c == '\r';
        spaces += is_space;
        hex += wr_is_hex(c);
        base64 += wr_is_word(c) || memchr("+/=-", c, 4) != NULL;
        control += (unsigned char)c < 0x20 && !is_space && c != 0x1b;
    }
    size_t letters = count - spaces;
    if (control * 50 > count)
        return BINARY;
    if (letters && hex * 100 >= letters * 97)
        return HEX;
    return letters && base64 * 100 >= letters * 98 && spaces * 20 < count ? BASE64 : MINIFIED;
}

/* The longest run of letters near the front: behind "data:image/png;base64," and the like. */
static weir_span payload_of(weir_span text)
{
    weir_span head = wr_span_cut(text, 0, text.len < 256 ? text.len : 256);
    size_t mark = wr_span_find(head, WR_LIT(";base64,"), 0);
    return mark == SIZE_MAX ? wr_span_trim(text) : wr_span_from(text, mark + 8);
}

static weir_span what_is(weir_span text, enum coding coding)
{
    static const struct {
        const char *front, *what;
    } known[] = {
        {"iVBORw0KGgo", "base64, a PNG image"},
        {"/9j/", "base64, a JPEG image"},
        {"R0lGOD", "base64, a GIF image"},
        {"UklGR", "base64, a RIFF file"},
        {"JVBERi0", "base64, a PDF file"},
        {"UEsDB", "base64, a ZIP file"},
        {"H4sI", "base64, gzip"},
        {"AGFzbQ", "base64, WebAssembly"},
        {"\x7f"
         "ELF",
         "binary, an ELF file"},
        {"\x89PNG", "binary, a PNG image"},
        {"PK\x03\x04", "binary, a ZIP file"},
        {"%PDF", "binary, a PDF file"},
        {"SQLite format", "binary, an SQLite file"},
    };
    static const char *const codings[] = {[MINIFIED] = "text",
                                          [BASE64] = "base64",
                                          [HEX] = "hexadecimal digits",
                                          [BINARY] = "binary"};
    weir_span payload = payload_of(text);
    for (size_t i = 0; i < WR_COUNT_OF(known); i++)
        if (wr_span_starts(payload, wr_span_of(known[i].front)))
            return wr_span_of(known[i].what);
    return wr_span_of(codings[coding]);
}

/* ---- all ---- */

weir_status wr_condense_blob(struct wr_condensed *out, struct wr_arena *arena,
                             const struct wr_condense_input *input)
{
    struct wr_keep keep;
    enum coding coding = coding_of(input->text);
    weir_span what = what_is(input->text, coding);
    size_t line_bytes_max = coding == MINIFIED ? input->bytes_budget / 100 * MINIFIED_LINE_PERCENT
                                               : CODED_LINE_BYTES_MAX;
    weir_status status = wr_keep_init(&keep, arena, input);
    if (!status)
        status = wr_keep_shorten(&keep, line_bytes_max, what);
    if (!status)
        status = wr_keep_signals(&keep, input->kind, 0);
    if (status)
        return status;
    if (coding != MINIFIED && keep.bytes_budget > keep.bytes_used + CODED_BYTES_MAX)
        keep.bytes_budget = keep.bytes_used + CODED_BYTES_MAX;
    wr_keep_ends(&keep, 50);
    return wr_keep_write(&keep, out);
}
