#include "weir/handle.h"

#include "base/hash.h"
#include "base/span.h"

#define PREFIX WR_LIT("wr_")

_Static_assert(sizeof("wr_") - 1 + 2 * WEIR_HANDLE_BYTES == WEIR_HANDLE_TEXT_BYTES,
               "the text form is the prefix and two digits a byte");

static const char hex_digits[] = "0123456789abcdef";

weir_status weir_handle_of(weir_span text, weir_handle *handle)
{
    unsigned char digest[WR_SHA256_BYTES];
    weir_status status = wr_sha256(text, digest);
    if (status == WEIR_OK)
        memcpy(handle->bytes, digest, WEIR_HANDLE_BYTES);
    return status;
}

void weir_handle_format(weir_handle handle, char text[WEIR_HANDLE_TEXT_BYTES + 1])
{
    char *at = text + PREFIX.len;
    memcpy(text, PREFIX.ptr, PREFIX.len);
    for (size_t i = 0; i < WEIR_HANDLE_BYTES; i++) {
        *at++ = hex_digits[handle.bytes[i] >> 4];
        *at++ = hex_digits[handle.bytes[i] & 15];
    }
    *at = '\0';
}

/* Upper-case digits are not ours: what Weir writes is lower-case. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool weir_handle_parse(weir_span text, weir_handle *handle)
{
    if (text.len != WEIR_HANDLE_TEXT_BYTES || !wr_span_starts(text, PREFIX))
        return false;
    for (size_t i = 0; i < WEIR_HANDLE_BYTES; i++) {
        int high = digit_value(text.ptr[PREFIX.len + 2 * i]);
        int low = digit_value(text.ptr[PREFIX.len + 2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        handle->bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t weir_handle_find(weir_span text, size_t from, weir_handle *handle)
{
    for (size_t at = from; (at = wr_span_find(text, PREFIX, at)) != SIZE_MAX; at++) {
        size_t end = at + WEIR_HANDLE_TEXT_BYTES;
        if (end > text.len)
            return SIZE_MAX;
        bool stands_alone =
            (at == 0 || !is_word(text.ptr[at - 1])) && (end == text.len || !is_word(text.ptr[end]));
        if (stands_alone && weir_handle_parse(wr_span_cut(text, at, end), handle))
            return at;
    }
    return SIZE_MAX;
}
