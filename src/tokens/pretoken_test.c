/* Where each scanner cuts. Pieces are shown with '|' between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"
#include "tokens/pretoken.h"

static const struct {
    const char *behaviour;
    wr_pretoken_fn *scan;
    const char *text, *pieces;
} cases[] = {
    {"a word takes one character before it", wr_pretoken_o200k, "a b.c\td", "a| b|.c|\td"},
    {"capitals begin a new word", wr_pretoken_o200k, "getHTTPServer", "get|HTTPServer"},
    {"a contraction stays with its word", wr_pretoken_o200k, "it's HE'LL'x", "it's| HE'LL|'x"},
    {"the long s contracts too", wr_pretoken_o200k,
     "a'\xC5\xBF"
     "b",
     "a'\xC5\xBF|b"},
    {"three digits a piece", wr_pretoken_o200k, "1234567", "123|456|7"},
    {"symbols take line ends and slashes", wr_pretoken_o200k, "!?\n/\nx", "!?\n/\n|x"},
    {"a space goes with symbols", wr_pretoken_o200k, "a == b", "a| ==| b"},
    {"no space goes with a digit", wr_pretoken_o200k, "a 1", "a| |1"},
    {"white space up to its last line end", wr_pretoken_o200k, "a \n \n  b", "a| \n \n| | b"},
    {"white space at the end is one piece", wr_pretoken_o200k, "a   ", "a|   "},
    {"a tab is no space before symbols", wr_pretoken_o200k, "\t!", "\t|!"},
    {"one letter may be both head and tail", wr_pretoken_o200k,
     "A\xE4\xB8\xAD"
     "B",
     "A\xE4\xB8\xAD|B"},
    {"a mark among symbols is one", wr_pretoken_o200k, "!!\xCC\x81", "!!\xCC\x81"},
    {"a contraction is a piece", wr_pretoken_cl100k, "it's 'sa", "it|'s| '|sa"},
    {"letters are one word", wr_pretoken_cl100k, "getHTTP x", "getHTTP| x"},
    {"a mark does not go on a word", wr_pretoken_cl100k,
     "e\xCC\x81"
     "a",
     "e|\xCC\x81"
     "a"},
    {"a slash after a line end is a new piece", wr_pretoken_cl100k, "!\n/", "!\n|/"},
    {"one digit a piece", wr_pretoken_qwen2, "12 3", "1|2| |3"},
    {"any number of digits, with a space", wr_pretoken_gpt2, "a 1234", "a| 1234"},
    {"only lower case contracts", wr_pretoken_gpt2, "a's A'S", "a|'s| A|'|S"},
    {"line ends are like other space", wr_pretoken_gpt2, "a\n\n b", "a|\n\n| b"},
    {"all of it", wr_pretoken_none, "a b\nc", "a b\nc"},
};

static void text_is_cut_into_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        const uint8_t *at = (const uint8_t *)cases[i].text, *end = at + strlen(cases[i].text);
        struct wr_buf got;
        wr_buf_init(&got, 1024);
        while (at < end) {
            struct wr_piece piece = cases[i].scan(at, end);
            if (got.len)
                wr_buf_byte(&got, '|');
            wr_buf_append(&got, (weir_span){(const char *)at, (size_t)(piece.end - at)});
            at = piece.end;
        }
        if (!wr_span_is(wr_buf_view(&got), cases[i].pieces))
            fail_msg("%s: got %.*s", cases[i].behaviour, (int)got.len, got.bytes);
        wr_buf_release(&got);
    }
}

static void a_piece_is_closed_only_when_no_text_can_change_it(void **state)
{
    static const char tails[][6] = {"",   "a", "A", "'s",       "1",           " ",
                                    "\n", "!", "/", "\xCC\x81", "\xE4\xB8\xAD"};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        size_t len = strlen(cases[i].text);
        for (size_t tail = 0; tail < WR_COUNT_OF(tails); tail++) {
            uint8_t text[64];
            memcpy(text, cases[i].text, len);
            memcpy(text + len, tails[tail], strlen(tails[tail]));
            for (size_t at = 0; at < len; at++) {
                struct wr_piece before = cases[i].scan(text + at, text + len);
                struct wr_piece after = cases[i].scan(text + at, text + len + strlen(tails[tail]));
                if (!wr_piece_is_open(before, text + len) && before.end != after.end)
                    fail_msg("%s, byte %zu, with %s", cases[i].behaviour, at, tails[tail]);
            }
        }
    }
}

static const struct {
    const char *behaviour, *text;
    unsigned bits, bytes;
} characters[] = {
    {"a title case letter counts as upper case", "\xC7\x85", WR_CLASS_UPPER, 2},
    {"a letter new in Unicode 16 is known", "\xF0\x90\xB5\x90", WR_CLASS_UPPER, 4},
    {"U+0085 is white space and no line end", "\xC2\x85", WR_CLASS_SPACE, 2},
    {"U+FEFF is of no class", "\xEF\xBB\xBF", 0, 3},
    {"a surrogate is one character", "\xED\xA0\x80", 0, 3},
    {"a lone lead byte is one character", "\xE4", 0, 1},
    {"an overlong form is not read as one", "\xC1\x81", 0, 1},
    {"nothing is above U+10FFFF", "\xF4\x90\x80\x80", 0, 1},
    {"U+10FFFF is a character", "\xF4\x8F\xBF\xBF", 0, 4},
};

static void characters_have_their_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(characters); i++) {
        const uint8_t *at = (const uint8_t *)characters[i].text;
        struct wr_char c = wr_char_at(at, at + strlen(characters[i].text));
        if (c.bits != characters[i].bits || c.bytes != characters[i].bytes)
            fail_msg("%s: %u, %u bytes", characters[i].behaviour, c.bits, c.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut_into_pieces),
        cmocka_unit_test(a_piece_is_closed_only_when_no_text_can_change_it),
        cmocka_unit_test(characters_have_their_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
