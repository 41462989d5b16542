#include "base/ascii.h"

#include <stdio.h>

#include "base/span.h"

#define D WR_ASCII_DIGIT
#define L WR_ASCII_LOWER
#define U WR_ASCII_UPPER
#define X (WR_ASCII_A_TO_F | WR_ASCII_LOWER)
#define Y (WR_ASCII_A_TO_F | WR_ASCII_UPPER)

/* clang-format off */
const unsigned char wr_ascii_classes[256] = {
    ['\t'] = WR_ASCII_BLANK,
    ['\n'] = WR_ASCII_LINE,
    ['\v'] = WR_ASCII_FEED,
    ['\f'] = WR_ASCII_FEED,
    ['\r'] = WR_ASCII_LINE,
    [' '] = WR_ASCII_BLANK,
    ['_'] = WR_ASCII_UNDERSCORE,
    ['0'] = D, D, D, D, D, D, D, D, D, D,
    ['A'] = Y, Y, Y, Y, Y, Y, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U,
    ['a'] = X, X, X, X, X, X, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
};
/* clang-format on */

#undef D
#undef L
#undef U
#undef X
#undef Y

/* ==== did you mean ==== */

enum { DISTANCE_LETTERS_MAX = 64 };

uint32_t wr_near_distance(weir_span a, weir_span b)
{
    uint32_t row[DISTANCE_LETTERS_MAX + 1];
    if (a.len > DISTANCE_LETTERS_MAX)
        a.len = DISTANCE_LETTERS_MAX;
    if (b.len > DISTANCE_LETTERS_MAX)
        b.len = DISTANCE_LETTERS_MAX;
    for (uint32_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= a.len; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b.len; j++) {
            uint32_t best = diagonal + (wr_lower(a.ptr[i - 1]) != wr_lower(b.ptr[j - 1]));
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b.len];
}

struct wr_near wr_near_to(weir_span typed)
{
    /* One more than the distance that is near: half of a short word would fit anything. */
    return (struct wr_near){.typed = typed,
                            .distance = typed.len < 3   ? 1
                                        : typed.len < 5 ? 2
                                                        : 3,
                            .text = ";"};
}

/* Two letters that changed places are the commonest slip, and two changes to an edit distance. */
static bool is_swap(weir_span a, weir_span b)
{
    size_t at = 0;

    if (a.len != b.len)
        return false;
    while (at < a.len && a.ptr[at] == b.ptr[at])
        at++;
    if (at + 1 >= a.len || a.ptr[at] != b.ptr[at + 1] || a.ptr[at + 1] != b.ptr[at])
        return false;
    return wr_span_eq(wr_span_from(a, at + 2), wr_span_from(b, at + 2));
}

void wr_near_offer(void *user, const char *word, const char *what)
{
    struct wr_near *near = user;
    weir_span offered = wr_span_of(word);
    uint32_t distance = wr_near_distance(near->typed, offered);

    (void)what;
    if (distance > 1 && (is_swap(near->typed, offered) ||
                         (near->typed.len > 1 && wr_span_starts(offered, near->typed))))
        distance = 1; /* or that is how the word begins */
    if (distance >= near->distance || word[0] == ':')
        return;
    near->distance = distance;
    (void)snprintf(near->text, sizeof(near->text), "; did you mean %.64s?", word);
}

bool wr_near_is_found(const struct wr_near *near)
{
    return near->text[1] != '\0';
}

const char *wr_near_end(const struct wr_near *near)
{
    return wr_near_is_found(near) ? near->text : "";
}
