#include "condense/names_cut.h"

#include <stdbool.h>
#include <string.h>

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"

#define BETWEEN " \xe2\x80\xa6 "

enum {
    MARK_BYTES_MAX = 40, /* " [… 12345678 bytes left out …] " */
    NAME_BYTES_MIN = 6,
    NAME_BYTES_MAX = 120,
    NAMES_MAX = 64,
    NAMES_PERCENT = 40, /* of the room, at most */
    FRONT_PERCENT = 67, /* of the room the names leave */
    BETWEEN_BYTES = sizeof(BETWEEN) - 1,
};

struct name {
    weir_span text;
    size_t at;
};

struct names {
    struct name items[NAMES_MAX];
    size_t count, bytes;
};

static bool is_name_byte(char c)
{
    return wr_is_word(c) || (c && memchr("./-", c, 3));
}

/* A path, or an identifier of several words: "a/b", "a_b", "aB". Words that a dash or a full stop
 * joins are none. */
static bool is_name(weir_span word)
{
    bool letters = false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i], before = i ? word.ptr[i - 1] : 0;
        bool is_inner = i && i + 1 < word.len;
        letters |= wr_is_alpha(c);
        if (is_inner && letters && (c == '/' || c == '_') && wr_is_word(before))
            return true;
        if (wr_is_upper(c) && wr_is_alpha(before) && !wr_is_upper(before))
            return true;
    }
    return false;
}

/* Reads the next word in [*at, end); an escape ("\n") is no part of one. */
static bool next_word(weir_span line, size_t *at, size_t end, weir_span *word)
{
    while (*at < end && !is_name_byte(line.ptr[*at]))
        *at += line.ptr[*at] == '\\' ? 2 : 1;
    size_t first = *at;
    while (*at < end && is_name_byte(line.ptr[*at]))
        ++*at;
    if (first >= end)
        return false;
    *word = wr_span_cut(line, first, *at);
    while (word->len && memchr(".-/", word->ptr[word->len - 1], 3))
        word->len--;
    return true;
}

static bool is_listed(const struct names *names, weir_span text)
{
    for (size_t i = 0; i < names->count; i++)
        if (wr_span_eq(names->items[i].text, text))
            return true;
    return false;
}

static void find_names(struct names *names, weir_span line, size_t first, size_t end,
                       size_t bytes_max)
{
    weir_span word;
    names->count = names->bytes = 0;
    for (size_t at = first; names->count < NAMES_MAX && next_word(line, &at, end, &word);) {
        bool fits = word.len >= NAME_BYTES_MIN && word.len <= NAME_BYTES_MAX &&
                    names->bytes + word.len + BETWEEN_BYTES <= bytes_max;
        if (!fits || !is_name(word) || is_listed(names, word))
            continue;
        names->items[names->count++] = (struct name){word, (size_t)(word.ptr - line.ptr)};
        names->bytes += word.len + BETWEEN_BYTES;
    }
}

static size_t character_start(weir_span line, size_t at)
{
    size_t start = at;
    while (start && at - start < 3 && wr_utf8_is_tail(line.ptr[start]))
        start--;
    return wr_utf8_is_tail(line.ptr[start]) ? at : start;
}

void wr_names_cut_write(struct wr_buf *out, weir_span line, size_t bytes_max)
{
    struct names names;
    if (line.len <= bytes_max) {
        wr_buf_append(out, line);
        return;
    }
    size_t room = bytes_max - MARK_BYTES_MAX;
    size_t for_names = room * NAMES_PERCENT / 100, rest = room - for_names;
    size_t front = rest * FRONT_PERCENT / 100, tail = line.len - (rest - front);
    find_names(&names, line, front, tail, for_names);
    /* What the names leave, the front may have; those it reaches are not said again. */
    front = character_start(line, front + for_names - names.bytes);
    while (tail < line.len && wr_utf8_is_tail(line.ptr[tail]))
        tail++;
    wr_buf_append(out, wr_span_cut(line, 0, front));
    wr_buf_printf(out, " [\xe2\x80\xa6 %zu bytes left out \xe2\x80\xa6] ", tail - front);
    for (size_t i = 0; i < names.count; i++) {
        if (names.items[i].at < front)
            continue;
        wr_buf_append(out, names.items[i].text);
        wr_buf_text(out, BETWEEN);
    }
    wr_buf_append(out, wr_span_from(line, tail));
}
