/* focus.h -- the words that matter now, and the lines of a text in which they stand.
 *
 * Words come from what the call sought and from what the newest turns name. They are identifiers:
 * letters, digits and '_', in any case, at least WR_FOCUS_WORD_BYTES_MIN long (what was sought: one
 * less); words of every text ("this", "return") and words on too many lines of it tell nothing and
 * are left out. What was sought comes first, then the rarest.
 */
#ifndef WR_CONDENSE_FOCUS_H
#define WR_CONDENSE_FOCUS_H

#include "condense/keep.h"

enum {
    WR_FOCUS_WORD_BYTES_MIN = 4,
    WR_FOCUS_WORD_LINES_MAX = 32, /* lines remembered of one word */
    WR_FOCUS_ASKED = 3,           /* what was sought weighs as much as so many other words */
    WR_FOCUS_SLOTS = 1024,        /* of the table; a power of two, a quarter full at most */
};

struct wr_focus_word {
    weir_span text;
    uint32_t hash;
    bool is_asked;        /* the call itself sought it */
    uint32_t found_count; /* lines that hold it */
    uint32_t found_end;   /* private: behind the last of them */
    uint32_t *lines;      /* the first of them, ascending */
    uint32_t lines_count;
};

struct wr_focus {
    struct wr_focus_word *words; /* after wr_focus_find(): those found, by worth */
    uint32_t count;
    uint16_t slots[WR_FOCUS_SLOTS]; /* private: word + 1, or 0 */
    uint8_t letters[256];           /* private: each byte in lower case, 0 where it is no letter */
};

/* Reads the words of the input's query and focus, WR_FOCUS_WORDS_MAX of them. */
WEIR_MUST_USE weir_status wr_focus_init(struct wr_focus *focus, struct wr_arena *arena,
                                        const struct wr_condense_input *input);

/* Seeks them in the lines. To be asked once, at most. */
WEIR_MUST_USE weir_status wr_focus_find(struct wr_focus *focus, const struct wr_keep *keep);

/* Keeps the lines found, the worthiest words first, each with `around` lines on both sides, until
 * `bytes_max` were spent on them. */
void wr_focus_keep(const struct wr_focus *focus, struct wr_keep *keep, uint32_t around,
                   size_t bytes_max);

/* The same for what was sought alone, while the budget allows. */
void wr_focus_keep_asked(const struct wr_focus *focus, struct wr_keep *keep, uint32_t around);

/* How much of the words stands in `text`: one for each, WR_FOCUS_ASKED for what was sought. */
uint32_t wr_focus_weigh(const struct wr_focus *focus, weir_span text);

/* Whether one of the words (after wr_focus_find(): of those that tell something) stands in `text`.
 */
bool wr_focus_names(const struct wr_focus *focus, weir_span text);

#endif
