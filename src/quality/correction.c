#include "quality/correction.h"

#include "base/ascii.h"
#include "base/span.h"
#include "quality/correction_words.h"

/* Of a message only its front is read: whoever corrects says so first. */
enum { FRONT_BYTES = 240 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

/* The second byte of a letter of Latin-1, such as the one of an E with an accent. */
static char lower_latin(unsigned char second)
{
    bool is_upper = second >= 0x80 && second <= 0x9e && second != 0x97;
    return (char)(is_upper ? second + 0x20 : second);
}

/* In lower case, with curly apostrophes made straight. */
static weir_span front_of(weir_span message, char into[FRONT_BYTES])
{
    weir_span text = wr_span_trim(message);
    size_t bytes = 0;

    for (size_t i = 0; i < text.len && bytes < FRONT_BYTES; i++) {
        if (wr_span_starts(wr_span_cut(text, i, text.len), WR_LIT("\xe2\x80\x99"))) {
            into[bytes++] = '\'';
            i += 2;
        } else if (i && text.ptr[i - 1] == '\xc3') {
            into[bytes++] = lower_latin((unsigned char)text.ptr[i]);
        } else {
            into[bytes++] = wr_ascii_lower(text.ptr[i]);
        }
    }
    return (weir_span){into, bytes};
}

static bool ends_word(weir_span front, size_t at)
{
    return at >= front.len || !is_letter(front.ptr[at]) || front.ptr[at - 1] == ' ';
}

static bool holds(weir_span front, weir_span words)
{
    for (size_t at = 0; (at = wr_span_find(front, words, at)) != SIZE_MAX; at++)
        if ((!at || !is_letter(front.ptr[at - 1])) && ends_word(front, at + words.len))
            return true;
    return false;
}

/* A mark that ends a verdict, as Latin, French, and Chinese and Japanese texts have it. */
static bool is_mark(weir_span rest)
{
    static const char *const marks[] = {"!",         ".",  ",",  ":",  "\n", " !",
                                        "\xc2\xa0!", "！", "。", "，", "、", "："};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (wr_span_starts(rest, wr_span_of(marks[i])))
            return true;
    return !rest.len;
}

/* "No." and "No, ..." also answer questions: of that word nothing but "No!" is a verdict. */
static bool is_verdict(weir_span front, const char *word)
{
    weir_span verdict = wr_span_of(word);
    if (!wr_span_starts(front, verdict))
        return false;
    weir_span rest = wr_span_cut(front, verdict.len, front.len);
    return wr_span_is(verdict, "no") ? wr_span_starts(rest, WR_LIT("!")) : is_mark(rest);
}

static bool opens(weir_span front, const char *words, bool has_spaces)
{
    weir_span opening = wr_span_of(words);
    return wr_span_starts(front, opening) && (!has_spaces || ends_word(front, opening.len));
}

static bool says(weir_span front, const struct wr_correction_words *words)
{
    for (size_t i = 0; words->verdicts[i]; i++)
        if (is_verdict(front, words->verdicts[i]))
            return true;
    for (size_t i = 0; words->openings[i]; i++)
        if (opens(front, words->openings[i], words->has_spaces))
            return true;
    for (size_t i = 0; words->sentences[i]; i++)
        if (words->has_spaces ? holds(front, wr_span_of(words->sentences[i]))
                              : wr_span_find(front, wr_span_of(words->sentences[i]), 0) != SIZE_MAX)
            return true;
    return false;
}

bool wr_is_correction(weir_span message)
{
    char lower[FRONT_BYTES];
    weir_span front = front_of(message, lower);

    for (size_t i = 0; i < wr_correction_words_count; i++)
        if (says(front, &wr_correction_words[i]))
            return true;
    return false;
}
