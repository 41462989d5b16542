/* correction_words.h -- the words that corrections are known by, language by language.
 *
 * All are in lower case and with straight apostrophes. The lists are short: each entry means that
 * something is wrong, hardly ever anything else, where it stands.
 */
#ifndef WR_QUALITY_CORRECTION_WORDS_H
#define WR_QUALITY_CORRECTION_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct wr_correction_words {
    const char *language;
    bool has_spaces;              /* between words: then an entry ends where a word does */
    const char *const *openings;  /* how a message begins */
    const char *const *verdicts;  /* the same, where a mark or nothing follows */
    const char *const *sentences; /* anywhere in the front of a message */
};

extern const struct wr_correction_words wr_correction_words[];
extern const size_t wr_correction_words_count;

#endif
