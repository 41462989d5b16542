#include "tokens/estimate_runs.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

enum kind { LETTERS, DIGITS, SPACE, LINE_END, BRACKET, OTHER };

enum {
    LETTERS_A_TOKEN = 4,
    DIGITS_A_TOKEN = 3,
    BRACKETS_A_TOKEN = 4,
    LINE_ENDS_A_TOKEN = 8,
    BYTES_A_TOKEN = 4,
};

static bool is_wide_space(uint32_t code)
{
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

static enum kind kind_of(uint32_t code)
{
    if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_' || code == '-')
        return LETTERS;
    if (code >= '0' && code <= '9')
        return DIGITS;
    if (code == '\n')
        return LINE_END;
    if (code == ' ' || (code >= '\t' && code <= '\r') || is_wide_space(code))
        return SPACE;
    if (code && code < 0x80 && strchr("{}[]:,\"'`()<>", (int)code))
        return BRACKET;
    return OTHER;
}

static size_t begun(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

static size_t run_tokens(enum kind kind, size_t chars)
{
    return begun(chars, kind == DIGITS ? DIGITS_A_TOKEN : LETTERS_A_TOKEN);
}

size_t wr_estimate_runs(weir_span text)
{
    size_t tokens = 0, brackets = 0, line_ends = 0, run_chars = 0;
    enum kind run = OTHER;
    size_t by_bytes = begun(text.len, BYTES_A_TOKEN);

    for (size_t at = 0; at < text.len;) {
        uint32_t code;
        size_t bytes = wr_utf8_decode((weir_span){text.ptr + at, text.len - at}, false, &code);
        if (!bytes)
            return by_bytes;
        enum kind kind = kind_of(code);
        if (kind != run) {
            tokens += run_tokens(run, run_chars);
            run_chars = 0;
            run = kind;
        }
        run_chars += kind == LETTERS || kind == DIGITS;
        brackets += kind == BRACKET;
        line_ends += kind == LINE_END;
        tokens += kind == OTHER;
        at += bytes;
    }
    tokens += run_tokens(run, run_chars);
    tokens += begun(brackets, BRACKETS_A_TOKEN) + begun(line_ends, LINE_ENDS_A_TOKEN);
    return tokens > by_bytes / 2 ? tokens : by_bytes / 2;
}
