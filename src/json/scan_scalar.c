#include "json/scan.h"

#include <string.h>

#include "base/ascii.h"
#include "base/text.h"

/* Bytes of the escape at `at`, which is a backslash; 0 where it is none. */
static size_t escape_bytes(weir_span text, size_t at)
{
    if (text.len - at < 2)
        return 0;
    switch (text.ptr[at + 1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        break;
    default:
        return 0;
    }
    if (text.len - at < 6)
        return 0;
    for (size_t i = 2; i < 6; i++)
        if (!wr_is_hex(text.ptr[at + i]))
            return 0;
    return 6;
}

static void stop_scan(struct wr_scan *scan, size_t at, enum wr_scan_end end)
{
    scan->at = at;
    scan->end = end;
}

void wr_scan_scalar(struct wr_scan *scan, weir_span text, size_t from)
{
    size_t at = from;

    scan->escaped = false;
    scan->ascii = true;
    while (at < text.len) {
        unsigned char c = (unsigned char)text.ptr[at];
        size_t bytes = 1;
        uint32_t code;

        if (c == '"') {
            stop_scan(scan, at, WR_SCAN_QUOTE);
            return;
        }
        if (c < 0x20) {
            stop_scan(scan, at, WR_SCAN_CONTROL);
            return;
        }
        if (c == '\\') {
            scan->escaped = true;
            bytes = escape_bytes(text, at);
        } else if (c >= 0x80) {
            scan->ascii = false;
            bytes = wr_utf8_decode((weir_span){text.ptr + at, text.len - at}, false, &code);
        }
        if (!bytes) {
            stop_scan(scan, at, c == '\\' ? WR_SCAN_BAD_ESCAPE : WR_SCAN_BAD_UTF8);
            return;
        }
        at += bytes;
    }
    stop_scan(scan, text.len, WR_SCAN_OPEN);
}

size_t wr_copy_plain_scalar(char *out, weir_span text)
{
    const char *backslash = text.len ? memchr(text.ptr, '\\', text.len) : NULL;
    size_t plain = backslash ? (size_t)(backslash - text.ptr) : text.len;
    if (plain)
        memcpy(out, text.ptr, plain);
    return plain;
}
