#include "weir/handle.h"

#include "base/ascii.h"
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

bool weir_handle_parse(weir_span text, weir_handle *handle)
{
    if (text.len != WEIR_HANDLE_TEXT_BYTES || !wr_span_starts(text, PREFIX))
        return false;
    for (size_t i = 0; i < WEIR_HANDLE_BYTES; i++) {
        char high = text.ptr[PREFIX.len + 2 * i], low = text.ptr[PREFIX.len + 2 * i + 1];
        if (!wr_is_lower_hex(high) || !wr_is_lower_hex(low)) /* Weir writes no others */
            return false;
        handle->bytes[i] = (unsigned char)(wr_hex_value(high) << 4 | wr_hex_value(low));
    }
    return true;
}

size_t weir_handle_find(weir_span text, size_t from, weir_handle *handle)
{
    for (size_t at = from; (at = wr_span_find(text, PREFIX, at)) != SIZE_MAX; at++) {
        size_t end = at + WEIR_HANDLE_TEXT_BYTES;
        if (end > text.len)
            return SIZE_MAX;
        bool stands_alone = (at == 0 || !wr_is_word(text.ptr[at - 1])) &&
                            (end == text.len || !wr_is_word(text.ptr[end]));
        if (stands_alone && weir_handle_parse(wr_span_cut(text, at, end), handle))
            return at;
    }
    return SIZE_MAX;
}
