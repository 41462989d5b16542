#include "mcp/handle_word.h"

#include <string.h>

#include "base/ascii.h"
#include "base/span.h"

enum { DIGITS = 2 * WEIR_HANDLE_BYTES, HASH_DIGITS = 64 };

static bool is_letter(char c)
{
    return wr_ascii_lower(c) >= 'a' && wr_ascii_lower(c) <= 'z';
}

static int digit_value(char c)
{
    c = wr_ascii_lower(c);
    if (wr_ascii_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `wr` before the digits is theirs, with or without a sign between; any other letter makes them
 * part of some other word. */
static bool begins_word(weir_span text, size_t at)
{
    if (at && (text.ptr[at - 1] == '_' || text.ptr[at - 1] == '-'))
        at--;
    if (!at || !is_letter(text.ptr[at - 1]))
        return true;
    return at >= 2 && wr_ascii_lower(text.ptr[at - 1]) == 'r' &&
           wr_ascii_lower(text.ptr[at - 2]) == 'w' && (at == 2 || !is_letter(text.ptr[at - 3]));
}

static bool ends_word(weir_span text, size_t at)
{
    return at == text.len || (!is_letter(text.ptr[at]) && text.ptr[at] != '_');
}

static weir_handle read_digits(const char *digits)
{
    weir_handle handle;
    for (size_t i = 0; i < WEIR_HANDLE_BYTES; i++)
        handle.bytes[i] =
            (unsigned char)(digit_value(digits[2 * i]) << 4 | digit_value(digits[2 * i + 1]));
    return handle;
}

enum wr_handle_word wr_handle_word_read(weir_span text, weir_handle *handle)
{
    enum wr_handle_word found = WR_HANDLE_WORD_NONE;
    size_t end;

    for (size_t at = 0; at < text.len; at = end + 1) {
        end = at;
        while (end < text.len && digit_value(text.ptr[end]) >= 0)
            end++;
        bool is_handle = (end - at == DIGITS || end - at == HASH_DIGITS) && begins_word(text, at) &&
                         ends_word(text, end);
        if (!is_handle)
            continue;
        weir_handle one = read_digits(text.ptr + at);
        if (found && memcmp(&one, handle, sizeof(one)) != 0)
            return WR_HANDLE_WORD_SEVERAL;
        *handle = one;
        found = WR_HANDLE_WORD_ONE;
    }
    return found;
}
