/* words.h -- lists of words as data: one string, the words parted by '|', as in "head|tail|cat".
 *
 * A list is walked from the front, so its order decides where several words would do. No word is
 * empty or holds a '|'. The lists of the _folded functions are in lower case, and capitals of the
 * text (ASCII only, the same in every locale) do not count.
 */
#ifndef WR_BASE_WORDS_H
#define WR_BASE_WORDS_H

#include <stdatomic.h>

#include "base/ascii.h"
#include "base/span.h"

/* Called by the inline functions below, in which the compiler knows the length of a list. */
bool wr_list_same(weir_span text, weir_span words, bool folded);
size_t wr_list_front(weir_span text, weir_span words, bool folded);

/* Whether `text` is one of the words. */
static inline bool wr_is_any_of(weir_span text, const char *words)
{
    return wr_list_same(text, wr_span_of(words), false);
}

static inline bool wr_is_any_of_folded(weir_span text, const char *words)
{
    return wr_list_same(text, wr_span_of(words), true);
}

/* Length of the first word that `text` begins with; 0 where there is none. */
static inline size_t wr_front_of(weir_span text, const char *words)
{
    return wr_list_front(text, wr_span_of(words), false);
}

static inline size_t wr_front_of_folded(weir_span text, const char *words)
{
    return wr_list_front(text, wr_span_of(words), true);
}

/* Length of the first word that `text` ends in; 0 where there is none. */
size_t wr_end_of(weir_span text, const char *words);

/* Whether one of the words stands somewhere in `text`. */
bool wr_has_any_of(weir_span text, const char *words);

/* Takes the next word off the list. False when none is left. */
bool wr_list_next(const char **words, weir_span *word);

/* A list that is asked about most lines of a text. It remembers how its words begin and end and how
 * long they are, so that nearly all questions are answered without a look at it. That follows from
 * the list alone: any thread may learn it, and all write the same. */
struct wr_words {
    const char *list;
    _Atomic uint64_t fronts[4], tails[4]; /* a bit for each two first, each two last bytes */
    _Atomic uint64_t shapes[4];           /* for each first byte, last byte and length */
    _Atomic bool is_learnt;
};

#define WR_WORDS(words)  \
    {                    \
        .list = "" words \
    }

void wr_words_learn(struct wr_words *words);

static inline bool wr_words_bit(const _Atomic uint64_t *bits, unsigned bit)
{
    return atomic_load_explicit(&bits[bit / 64], memory_order_relaxed) >> bit % 64 & 1;
}

static inline unsigned wr_words_pair(char first, char second)
{
    return ((unsigned char)first * 7u + (unsigned char)second) % 256;
}

static inline unsigned wr_words_shape(char first, char last, size_t len)
{
    return ((unsigned char)first * 7u + (unsigned char)last * 3u + (unsigned)len * 53u) % 256;
}

static inline void wr_words_ask(struct wr_words *words)
{
    if (!atomic_load_explicit(&words->is_learnt, memory_order_acquire))
        wr_words_learn(words);
}

static inline bool wr_words_has(struct wr_words *words, weir_span text)
{
    wr_words_ask(words);
    return text.len &&
           wr_words_bit(words->shapes,
                        wr_words_shape(text.ptr[0], text.ptr[text.len - 1], text.len)) &&
           wr_is_any_of(text, words->list);
}

static inline bool wr_words_has_folded(struct wr_words *words, weir_span text)
{
    wr_words_ask(words);
    return text.len &&
           wr_words_bit(
               words->shapes,
               wr_words_shape(wr_lower(text.ptr[0]), wr_lower(text.ptr[text.len - 1]), text.len)) &&
           wr_is_any_of_folded(text, words->list);
}

/* False: no word begins `text`, as it is or in small letters. `text` has two bytes or more. True: a
 * word may begin it. */
static inline bool wr_words_may_begin(struct wr_words *words, weir_span text)
{
    wr_words_ask(words);
    return text.len > 1 && (wr_words_bit(words->fronts, wr_words_pair(text.ptr[0], text.ptr[1])) ||
                            wr_words_bit(words->fronts, wr_words_pair(wr_lower(text.ptr[0]),
                                                                      wr_lower(text.ptr[1]))));
}

static inline size_t wr_words_front(struct wr_words *words, weir_span text)
{
    char second = text.len > 1 ? text.ptr[1] : '\0';
    wr_words_ask(words);
    bool may = text.len && wr_words_bit(words->fronts, wr_words_pair(text.ptr[0], second));
    return may ? wr_front_of(text, words->list) : 0;
}

static inline size_t wr_words_front_folded(struct wr_words *words, weir_span text)
{
    char first = text.len ? wr_lower(text.ptr[0]) : '\0';
    char second = text.len > 1 ? wr_lower(text.ptr[1]) : '\0';
    wr_words_ask(words);
    bool may = text.len && wr_words_bit(words->fronts, wr_words_pair(first, second));
    return may ? wr_front_of_folded(text, words->list) : 0;
}

static inline size_t wr_words_end(struct wr_words *words, weir_span text)
{
    char second = text.len > 1 ? text.ptr[text.len - 2] : '\0';
    wr_words_ask(words);
    bool may =
        text.len && wr_words_bit(words->tails, wr_words_pair(text.ptr[text.len - 1], second));
    return may ? wr_end_of(text, words->list) : 0;
}

/* The place of the next word, at `from` or behind it, whose byte number `nth` is `c` (ASCII
 * capitals count as small letters); words.len where there is none. Passes over the others eight
 * bytes at a time. */
size_t wr_list_seek(weir_span words, size_t from, size_t nth, char c);

#endif
