/* pretoken.h -- cutting text into the pieces that byte pair merging never crosses.
 *
 * One scanner a regular expression, written by hand; each has its expression above it. They look at
 * text from left to right and never behind the place they start at, so a piece depends on the text
 * from its start on, and only so far as the scanner looked.
 */
#ifndef WR_TOKENS_PRETOKEN_H
#define WR_TOKENS_PRETOKEN_H

#include <stdbool.h>
#include <stdint.h>

/* No scanner looks further than this past `seen`: the rest of a character, or a contraction. */
enum { WR_PRETOKEN_AHEAD_BYTES = 4 };

struct wr_piece {
    const uint8_t *end;  /* the piece is [at, end); never empty */
    const uint8_t *seen; /* the scan went this far, at least to `end` */
};

/* The piece that starts at `at`, in text that ends at `end`; at < end. */
typedef struct wr_piece wr_pretoken_fn(const uint8_t *at, const uint8_t *end);

wr_pretoken_fn wr_pretoken_o200k;  /* o200k_base */
wr_pretoken_fn wr_pretoken_cl100k; /* cl100k_base, Llama 3 */
wr_pretoken_fn wr_pretoken_qwen2;  /* cl100k_base with one digit a piece */
wr_pretoken_fn wr_pretoken_gpt2;   /* r50k_base, p50k_base, HuggingFace ByteLevel */
wr_pretoken_fn wr_pretoken_none;   /* the whole text is one piece */

/* Whether more text after `end` could change where `piece` ends. */
static inline bool wr_piece_is_open(struct wr_piece piece, const uint8_t *end)
{
    return end - piece.seen < WR_PRETOKEN_AHEAD_BYTES;
}

/* The parts that the scanners share. */

/* \s*[\r\n]+|\s+(?!\S)|\s+ at white space. */
struct wr_piece wr_pretoken_space(const uint8_t *at, const uint8_t *end);

/* \s+(?!\S)|\s+ at white space. */
struct wr_piece wr_pretoken_space_any(const uint8_t *at, const uint8_t *end);

/* \p{N}{1,digits_max} at a number. */
struct wr_piece wr_pretoken_number(const uint8_t *at, const uint8_t *end, int digits_max);

/* The end of (?i:'s|'t|'re|'ve|'m|'ll|'d) at `at`, or `at` where there is none. */
const uint8_t *wr_pretoken_contraction(const uint8_t *at, const uint8_t *end);

#endif
