/* pretoken.h -- cutting text into the pieces that byte pair merging never crosses.
 *
 * One scanner a regular expression, written by hand; each has its expression above it. They look at
 * text from left to right and never behind the place they start at, so a piece depends on the text
 * from its start on, and only so far as the scanner looked.
 */
#ifndef WR_TOKENS_PRETOKEN_H
#define WR_TOKENS_PRETOKEN_H

#include <stdbool.h>
#include <stddef.h>
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

/* ---- many at once ----
 *
 * Where pieces of a text end, for the window of bytes that begins at `at` with a piece. The first
 * `len` of them, at least one, are text; all may be read. Bit i of the answer: a piece ends before
 * byte i. Only cuts that nothing behind the window could move are told, and none behind a byte that
 * is not ASCII: after the last of them the text goes on with a piece that a scanner has to cut.
 * Bit 0 is never set.
 */
enum { WR_PRETOKEN_WINDOW_BYTES = 64 };

typedef uint64_t wr_pretoken_many_fn(const uint8_t *at, unsigned len);

/* What cuts as the scanner does on this machine; NULL: nothing. */
wr_pretoken_many_fn *wr_pretoken_many_of(wr_pretoken_fn *scanner);

/* ---- unicode class ----
 *
 * What a pre-tokenizer asks of the character at a place in UTF-8 text.
 *
 * Categories are those of Unicode 16.0, the version of npm tiktoken 1.0.22.
 *
 * Bytes that are not UTF-8 have an answer too: a surrogate in its three-byte form (WTF-8) is one
 * character, any other wrong byte is one character by itself, and both are of no class, as U+FFFD
 * is. So such text is cut where the same text with U+FFFD in its place would be cut, and every byte
 * of it is counted.
 */

/* data/unicode_classes.bin, made by tools/make-unicode-classes. */
extern const unsigned char wr_unicode_classes[];

/* ORDER UNICODE_CLASS: tools/make-unicode-classes writes these bits. */
enum {
    WR_CLASS_UPPER = 1,    /* Lu, Lt */
    WR_CLASS_LOWER = 2,    /* Ll */
    WR_CLASS_CASELESS = 4, /* Lm, Lo */
    WR_CLASS_MARK = 8,     /* M */
    WR_CLASS_NUMBER = 16,  /* N */
    WR_CLASS_SPACE = 32,   /* White_Space, line ends included */
    WR_CLASS_NEWLINE = 64, /* CR, LF */
    WR_CLASS_LETTER = WR_CLASS_UPPER | WR_CLASS_LOWER | WR_CLASS_CASELESS,
};

enum { WR_CLASS_BLOCK_SHIFT = 7, WR_CLASS_BLOCKS = 0x110000 >> WR_CLASS_BLOCK_SHIFT };

struct wr_char {
    unsigned bits;  /* WR_CLASS_* */
    unsigned bytes; /* 1 to 4 */
};

static inline unsigned wr_class_of(uint32_t code_point)
{
    const unsigned char *blocks = wr_unicode_classes + WR_CLASS_BLOCKS;
    size_t block = wr_unicode_classes[code_point >> WR_CLASS_BLOCK_SHIFT];
    return blocks[(block << WR_CLASS_BLOCK_SHIFT) +
                  (code_point & ((1u << WR_CLASS_BLOCK_SHIFT) - 1))];
}

/* The character at `at`, which is not ASCII. */
struct wr_char wr_char_wide(const uint8_t *at, const uint8_t *end);

/* The character at `at`; at < end. */
static inline struct wr_char wr_char_at(const uint8_t *at, const uint8_t *end)
{
    /* The table begins with the number of the block of ASCII, which is block 0. */
    if (*at < 0x80)
        return (struct wr_char){wr_unicode_classes[WR_CLASS_BLOCKS + *at], 1};
    return wr_char_wide(at, end);
}

#endif
