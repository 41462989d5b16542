#include "base/words.h"

/* wr_list_seek() looks for the '|' before a word and for one of the word's bytes at the same time,
 * eight places at once. Walking the list word by word cost a scan for signals a third of its
 * speed. */

static uint64_t eight_at(const char *bytes)
{
    uint64_t eight;
    memcpy(&eight, bytes, sizeof(eight));
    return eight;
}

static bool has_zero_byte(uint64_t eight)
{
    return ((eight - 0x0101010101010101u) & ~eight & 0x8080808080808080u) != 0;
}

static bool begins_at(weir_span words, size_t at, size_t nth, char c)
{
    return words.ptr[at - 1] == '|' && (words.ptr[at + nth] | 0x20) == c;
}

size_t wr_list_seek(weir_span words, size_t from, size_t nth, char c)
{
    size_t at = from ? from : 1;
    uint64_t bars = 0x0101010101010101u * (uint8_t)'|';
    uint64_t sought = 0x0101010101010101u * (uint8_t)(c | 0x20);
    c |= 0x20;
    if (!from && nth < words.len && (words.ptr[nth] | 0x20) == c)
        return 0;
    for (; at + nth + 8 <= words.len; at += 8) {
        uint64_t before = eight_at(words.ptr + at - 1) ^ bars;
        uint64_t here = (eight_at(words.ptr + at + nth) | 0x2020202020202020u) ^ sought;
        if (!has_zero_byte(before | here))
            continue;
        for (size_t end = at + 8; at < end; at++)
            if (begins_at(words, at, nth, c))
                return at;
        at -= 8;
    }
    for (; at + nth < words.len; at++)
        if (begins_at(words, at, nth, c))
            return at;
    return words.len;
}

/* Bytes from `at` on in which the word there and the text agree; `*ends` where all of it does. */
static size_t same_bytes(weir_span text, weir_span words, size_t at, bool folded, bool *ends)
{
    size_t same = 0;
    while (same < text.len && at + same < words.len && words.ptr[at + same] != '|' &&
           words.ptr[at + same] == (folded ? wr_lower(text.ptr[same]) : text.ptr[same]))
        same++;
    *ends = at + same == words.len || words.ptr[at + same] == '|';
    return same;
}

size_t wr_list_front(weir_span text, weir_span words, bool folded)
{
    bool ends;
    for (size_t at = 0; text.len; at++) {
        at = wr_list_seek(words, at, 0, text.ptr[0]);
        if (at == words.len)
            return 0;
        size_t same = same_bytes(text, words, at, folded, &ends);
        if (ends && same)
            return same;
    }
    return 0;
}

bool wr_list_same(weir_span text, weir_span words, bool folded)
{
    bool ends;
    for (size_t at = 0; text.len; at++) {
        at = wr_list_seek(words, at, 0, text.ptr[0]);
        if (at == words.len)
            return false;
        if (same_bytes(text, words, at, folded, &ends) == text.len && ends)
            return true;
    }
    return false;
}

static void set_bit(_Atomic uint64_t *bits, unsigned bit)
{
    atomic_fetch_or_explicit(&bits[bit / 64], (uint64_t)1 << bit % 64, memory_order_relaxed);
}

/* A word of one byte says nothing about the byte next to it: all pairs are possible. */
static void set_pair(_Atomic uint64_t *bits, char first, char second, size_t len)
{
    for (unsigned any = 0; len == 1 && any < 256; any++)
        set_bit(bits, any);
    set_bit(bits, wr_words_pair(first, second));
}

void wr_words_learn(struct wr_words *words)
{
    const char *list = words->list;
    for (weir_span word; wr_list_next(&list, &word);) {
        const char *first = word.ptr, *last = word.ptr + word.len - 1;
        set_pair(words->fronts, first[0], first[word.len > 1], word.len);
        set_pair(words->tails, last[0], word.len > 1 ? last[-1] : 0, word.len);
        set_bit(words->shapes, wr_words_shape(first[0], last[0], word.len));
    }
    atomic_store_explicit(&words->is_learnt, true, memory_order_release);
}

size_t wr_end_of(weir_span text, const char *words)
{
    size_t start = 0;
    for (size_t i = 0; text.len; i++) {
        if (words[i] && words[i] != '|')
            continue;
        if (i && words[i - 1] == text.ptr[text.len - 1] &&
            wr_span_ends(text, (weir_span){words + start, i - start}))
            return i - start;
        if (!words[i])
            return 0;
        start = i + 1;
    }
    return 0;
}

bool wr_has_any_of(weir_span text, const char *words)
{
    weir_span word;
    while (wr_list_next(&words, &word))
        if (wr_span_has(text, word))
            return true;
    return false;
}

bool wr_list_next(const char **words, weir_span *word)
{
    if (!*words || !**words)
        return false;
    const char *bar = strchr(*words, '|');
    *word = bar ? (weir_span){*words, (size_t)(bar - *words)} : wr_span_of(*words);
    *words = bar ? bar + 1 : *words + word->len;
    return true;
}
