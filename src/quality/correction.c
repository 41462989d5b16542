#include "quality/correction.h"

#include "base/ascii.h"
#include "base/span.h"

/* Of a message only its front is read: whoever corrects says so first. */
enum { FRONT_BYTES = 240 };

/* How a correction begins. What follows must not be a letter. */
static const char *const openings[] = {
    "no, that's wrong",
    "no, that is wrong",
    "no, that's not",
    "no, that is not",
    "no, you",
    "no, not",
    "no, it should",
    "no, this is wrong",
    "no, i meant",
    "no, i said",
    "no, i wanted",
    "no, i asked",
    "nope, that",
    "nope, not",
    "that's wrong",
    "that is wrong",
    "this is wrong",
    "it's wrong",
    "that's not right",
    "that's not what",
    "that's not it",
    "that's not correct",
    "that's not how",
    "that is not right",
    "that is not what",
    "that is not how",
    "that isn't right",
    "that isn't what",
    "this isn't what",
    "this is not what",
    "not like that",
    "you broke",
    "you forgot",
    "you missed",
    "you didn't",
    "you did not",
    "you removed",
    "you deleted",
    "you ignored",
    "undo that",
    "undo this",
    "undo it",
    "undo the last",
    "undo your",
    "revert that",
    "revert this",
    "revert it",
    "revert your",
    "still fails",
    "still failing",
    "still broken",
    "still wrong",
    "still not",
    "still doesn't",
    "it still fails",
    "it still doesn't",
    "it's still failing",
    "it's still broken",
    "it's still wrong",
    "it's still not",
    "it doesn't work",
    "it does not work",
    "that didn't work",
    "that did not work",
    "that doesn't work",
    "doesn't work",
    "does not work",
    "try again",
    "do it again",
    "i said",
    "i told you",
    "i already told",
    "i asked you",
    "why did you",
    "why have you",
};

/* Words that are one when nothing but a mark, or nothing, follows: "Wrong. It is ..." */
static const char *const verdicts[] = {"wrong", "incorrect", "nope", "no"};

/* What is a correction wherever it stands in the front. */
static const char *const sentences[] = {
    "not what i asked",  "not what i wanted",  "not what i meant",   "that's wrong",
    "that is wrong",     "you broke",          "still doesn't work", "still does not work",
    "still not working", "as i said before",   "like i said before", "undo that",
    "undo your",         "revert that change", "revert your change",
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
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
            continue;
        }
        into[bytes++] = wr_ascii_lower(text.ptr[i]);
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

/* "No." and "No, ..." also answer questions: of that word nothing but "No!" is a verdict. */
static bool is_verdict(weir_span front, const char *word)
{
    weir_span verdict = wr_span_of(word);
    if (!wr_span_starts(front, verdict))
        return false;
    char next = front.len > verdict.len ? front.ptr[verdict.len] : '.';
    return next == '!' || (verdict.len > 2 && (next == '.' || next == ',' || next == ':'));
}

bool wr_is_correction(weir_span message)
{
    char lower[FRONT_BYTES];
    weir_span front = front_of(message, lower);

    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
        if (is_verdict(front, verdicts[i]))
            return true;
    for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
        weir_span words = wr_span_of(openings[i]);
        if (wr_span_starts(front, words) && ends_word(front, words.len))
            return true;
    }
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
        if (holds(front, wr_span_of(sentences[i])))
            return true;
    return false;
}
