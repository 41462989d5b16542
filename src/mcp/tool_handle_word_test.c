#include "mcp/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

#define HEX "0123456789abcdef0123"

static const struct {
    const char *behaviour, *text;
    enum wr_handle_word found;
} cases[] = {
    {"as it is written", "wr_" HEX, WR_HANDLE_WORD_ONE},
    {"in capitals", "WR_0123456789ABCDEF0123", WR_HANDLE_WORD_ONE},
    {"the digits alone", HEX, WR_HANDLE_WORD_ONE},
    {"with another sign", "wr-" HEX, WR_HANDLE_WORD_ONE},
    {"without one", "wr" HEX, WR_HANDLE_WORD_ONE},
    {"in brackets", "[wr_" HEX "]", WR_HANDLE_WORD_ONE},
    {"in white brackets", "\xE2\x9F\xA6wr_" HEX "\xE2\x9F\xA7", WR_HANDLE_WORD_ONE},
    {"in quotes and spaces", " `wr_" HEX "`, ", WR_HANDLE_WORD_ONE},
    {"as an address", "weir://wr_" HEX, WR_HANDLE_WORD_ONE},
    {"after a word", "weir wr_" HEX ":", WR_HANDLE_WORD_ONE},
    {"the whole line that names it",
     "[weir wr_" HEX ": 12 lines, ~90 tokens left out; weir_recall {\"handle\":\"wr_" HEX "\"}]",
     WR_HANDLE_WORD_ONE},
    {"the whole hash", HEX "456789abcdef0123456789abcdef0123456789abcdef", WR_HANDLE_WORD_ONE},
    {"two of them", "wr_" HEX " wr_0123456789abcdef9999", WR_HANDLE_WORD_SEVERAL},
    {"nothing", "", WR_HANDLE_WORD_NONE},
    {"too short", "wr_0123456789abcdef012", WR_HANDLE_WORD_NONE},
    {"too long", "wr_" HEX "4", WR_HANDLE_WORD_NONE},
    {"a digit that is none", "wr_0123456789abcdeg0123", WR_HANDLE_WORD_NONE},
    {"part of another word", "swr_" HEX, WR_HANDLE_WORD_NONE},
    {"another name", "toolu_" HEX, WR_HANDLE_WORD_NONE},
    {"goes on", "wr_" HEX "_2", WR_HANDLE_WORD_NONE},
};

static void a_handle_is_found_however_it_is_written(void **state)
{
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_handle handle = {{0}};
        enum wr_handle_word found = wr_handle_word_read(wr_span_of(cases[i].text), &handle);
        weir_handle_format(handle, name);
        if (found != cases[i].found)
            fail_msg("%s: %d", cases[i].behaviour, (int)found);
        if (found != WR_HANDLE_WORD_NONE && !wr_span_is(wr_span_of(name), "wr_" HEX))
            fail_msg("%s: %s", cases[i].behaviour, name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_handle_is_found_however_it_is_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
