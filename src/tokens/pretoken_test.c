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

/* ---- many at once ---- */

static const struct {
    const char *name;
    wr_pretoken_fn *scan;
} scanners[] = {
    {"o200k", wr_pretoken_o200k}, {"cl100k", wr_pretoken_cl100k}, {"qwen2", wr_pretoken_qwen2}};

/* Whatever stands behind the window, the scanner ends a piece at each cut, and at no other place
 * before the last. */
static void check_cuts(size_t which, const uint8_t *window, unsigned len, uint64_t cuts)
{
    static const char tails[][8] = {"",    "a",  "A", "s",   "'s",   "'",        "1",
                                    " ",   "\t", "/", "\n/", "\n\n", "!",        "\xCC\x81",
                                    "  x", " !", "l", "ve",  "t\n",  "\xC5\xBF", "\xE4\xB8\xAD"};
    for (size_t tail = 0; tail < WR_COUNT_OF(tails); tail++) {
        uint8_t text[WR_PRETOKEN_WINDOW_BYTES + 8];
        const uint8_t *at = text, *end = text + len + strlen(tails[tail]);
        memcpy(text, window, len);
        memcpy(text + len, tails[tail], (size_t)(end - text) - len);
        for (uint64_t left = cuts; left; left &= left - 1) {
            at = scanners[which].scan(at, end).end;
            if (at != text + __builtin_ctzll(left))
                fail_msg("%s, cuts %llx of '%.*s', with '%s': one at %d, not at %d",
                         scanners[which].name, (unsigned long long)cuts, (int)len,
                         (const char *)window, tails[tail], (int)(at - text),
                         __builtin_ctzll(left));
        }
    }
}

static void check_window(const uint8_t *bytes, unsigned len)
{
    uint8_t window[WR_PRETOKEN_WINDOW_BYTES];
    for (size_t which = 0; which < WR_COUNT_OF(scanners); which++) {
        wr_pretoken_many_fn *cut = wr_pretoken_many_of(scanners[which].scan);
        memset(window, which & 1 ? 'x' : ' ', sizeof(window)); /* it is no text and tells nothing */
        memcpy(window, bytes, len);
        uint64_t cuts = cut(window, len);
        assert_false(cuts & 1);
        check_cuts(which, window, len, cuts);
    }
}

static const uint8_t letters[] = "aBs'tl1/ \t\n!\r-9\xC3\xA9";

/* Every window of five bytes; longer ones at random. */
static void pieces_are_cut_at_once_where_one_by_one(void **state)
{
    enum { SHORT = 5, LETTERS = 14, RANDOM_COUNT = 40 * 1000 };
    uint64_t dice = 88172645463325252u;
    uint8_t bytes[WR_PRETOKEN_WINDOW_BYTES];
    (void)state;
    if (!wr_pretoken_many_of(wr_pretoken_o200k))
        skip();
    for (uint32_t number = 0; number < 537824; number++) { /* LETTERS to the power of SHORT */
        for (uint32_t i = 0, rest = number; i < SHORT; i++, rest /= LETTERS)
            bytes[i] = letters[rest % LETTERS];
        check_window(bytes, SHORT);
    }
    for (uint32_t round = 0; round < RANDOM_COUNT; round++) {
        unsigned len = 1 + round % sizeof(bytes), first = 0, last = 0;
        for (unsigned i = 0; i < len; i++) {
            dice = dice ^ dice << 13;
            dice = dice ^ dice >> 7;
            dice = dice ^ dice << 17;
            /* Now and then a byte of its own, else one of a part of the list, so that runs are
             * common. */
            if (i % 16 == 0) {
                first = (unsigned)(dice >> 40) % 14;
                last = 1 + (unsigned)(dice >> 50) % 17;
            }
            bytes[i] = dice % 97 ? letters[(first + (dice >> 20) % last) % (sizeof(letters) - 1)]
                                 : (uint8_t)(dice >> 32);
        }
        check_window(bytes, len);
    }
}

static const struct {
    const char *behaviour;
    size_t which;
    const char *text, *pieces; /* what is left open is in the last */
} windows[] = {
    {"words and symbols", 0, "if (a.b == 12345) {\n    getHTTPServer();\n}\n",
     "if| (|a|.b| ==| |123|45|)| {\n|   | get|HTTPServer|();\n|}\n"},
    {"empty lines with blanks", 0, "a\n  \n\t\n   b c", "a|\n  \n\t\n|  | b| c"},
    {"blanks at the end stay open", 0, "a b  ", "a| b|  "},
    {"slashes behind line ends", 0, "x;\n//y ;\n\n/\n/ z", "x|;\n//|y| ;\n\n/\n/| z"},
    {"the same without them", 1, "x;\n//y ;\n\n/\n/ z", "x|;\n|//|y| ;\n\n|/\n|/| z"},
    {"an apostrophe ends it", 0, "a b c's d", "a| b| c's d"},
    {"an apostrophe in front of no letter", 0, "a' b", "a|'| b"},
    {"a piece of its own", 1, "a b c's d", "a| b| c|'s d"},
    {"digits one by one", 2, "a123 45 b", "a|1|2|3| |4|5| b"},
    {"up to a character of two bytes", 0, "a b \xC3\xA9", "a| b| \xC3\xA9"},
    {"nothing of ASCII", 0, "\xC3\xA9 b", "\xC3\xA9 b"},
    {"one word", 0, "word", "word"},
};

static void as_much_is_cut_as_is_sure(void **state)
{
    (void)state;
    if (!wr_pretoken_many_of(wr_pretoken_o200k))
        skip();
    for (size_t i = 0; i < WR_COUNT_OF(windows); i++) {
        uint8_t window[WR_PRETOKEN_WINDOW_BYTES] = {0};
        size_t len = strlen(windows[i].text);
        struct wr_buf got;
        memcpy(window, windows[i].text, len);
        uint64_t cuts = wr_pretoken_many_of(scanners[windows[i].which].scan)(window, (unsigned)len);
        wr_buf_init(&got, 1024);
        for (size_t at = 0; at < len; at++) {
            if (cuts >> at & 1)
                wr_buf_byte(&got, '|');
            wr_buf_byte(&got, windows[i].text[at]);
        }
        if (!wr_span_is(wr_buf_view(&got), windows[i].pieces))
            fail_msg("%s: got %.*s", windows[i].behaviour, (int)got.len, got.bytes);
        wr_buf_release(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut_into_pieces),
        cmocka_unit_test(a_piece_is_closed_only_when_no_text_can_change_it),
        cmocka_unit_test(characters_have_their_class),
        cmocka_unit_test(pieces_are_cut_at_once_where_one_by_one),
        cmocka_unit_test(as_much_is_cut_as_is_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
