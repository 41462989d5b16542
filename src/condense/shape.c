#include "condense/shape.h"

#include "base/ascii.h"
#include "base/hash.h"

enum { LINE_BYTES_MAX = 512 }; /* what is behind them does not make another shape */

/* Bytes of one word, so that "2024-03-04T05:06:07.1Z", "10.0.0.1:80" and "a_12.c" are one each. */
enum { OTHER, BLANK, LETTER, DIGIT };

static const unsigned char classes[256] = {
    [' '] = BLANK,  ['\t'] = BLANK, ['\r'] = BLANK, ['_'] = LETTER, ['-'] = LETTER, ['.'] = LETTER,
    ['+'] = LETTER, ['0'] = DIGIT,  ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,  ['4'] = DIGIT,
    ['5'] = DIGIT,  ['6'] = DIGIT,  ['7'] = DIGIT,  ['8'] = DIGIT,  ['9'] = DIGIT,  ['A'] = LETTER,
    ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER,
    ['H'] = LETTER, ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER,
    ['N'] = LETTER, ['O'] = LETTER, ['P'] = LETTER, ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER,
    ['T'] = LETTER, ['U'] = LETTER, ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER,
    ['Z'] = LETTER, ['a'] = LETTER, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER,
    ['f'] = LETTER, ['g'] = LETTER, ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER,
    ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER, ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER,
    ['r'] = LETTER, ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER, ['w'] = LETTER,
    ['x'] = LETTER, ['y'] = LETTER, ['z'] = LETTER,
};

static uint64_t mix(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

/* Adds the word at `*at`; '#' stands for one with digits, and 'w' for any where `words` is false.
 */
static uint64_t mix_word(uint64_t hash, weir_span line, size_t *at, bool words)
{
    uint64_t with = hash;
    bool digits = false;
    size_t i = *at;
    for (; i < line.len; i++) {
        unsigned char class = classes[(unsigned char)line.ptr[i]];
        if (class < LETTER)
            break;
        digits |= class == DIGIT;
        with = mix(with, (unsigned char)line.ptr[i]);
    }
    *at = i;
    if (digits)
        return mix(hash, words ? '#' : 'w');
    return words ? with : mix(hash, 'w');
}

/* In an outline a path is a word: its parts come and go. */
static bool joins_words(unsigned char byte)
{
    return byte == '/' || byte == ':' || byte >= 0x80;
}

static uint64_t shape_of(weir_span line, bool is_outline)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    bool words = true, joined = false; /* `joined`: a word of an outline goes on */
    if (line.len > LINE_BYTES_MAX)
        line.len = LINE_BYTES_MAX;
    for (size_t i = 0; i < line.len;) {
        unsigned char byte = (unsigned char)line.ptr[i], class = classes[byte];
        if (class >= LETTER) {
            bool is_word = wr_is_alpha(line.ptr[i]);
            uint64_t with = mix_word(hash, line, &i, words);
            hash = joined ? hash : with;
            joined = is_outline && !words;
            words &= !(is_outline && is_word);
        } else if (class == BLANK) {
            hash = mix(hash, ' ');
            joined = false;
            while (i < line.len && classes[(unsigned char)line.ptr[i]] == BLANK)
                i++;
        } else {
            bool joins = is_outline && !words && joins_words(byte);
            hash = joins ? hash : mix(hash, byte);
            joined &= joins;
            i++;
        }
    }
    return hash;
}

uint64_t wr_shape_of(weir_span line)
{
    return shape_of(line, false);
}

uint64_t wr_shape_outline_of(weir_span line)
{
    return shape_of(line, true);
}

static uint32_t place_of(const struct wr_shapes *shapes, const struct wr_index *index,
                         uint64_t hash)
{
    uint32_t at = wr_index_first(index, hash), item;
    while ((item = wr_index_item(index, at)) != WR_INDEX_NONE && shapes->shapes[item].hash != hash)
        at = wr_index_next(index, at, hash);
    return at;
}

static void add_line(struct wr_shapes *shapes, struct wr_index *index, uint32_t line, uint64_t hash)
{
    uint32_t at = place_of(shapes, index, hash), item = wr_index_item(index, at);
    if (item == WR_INDEX_NONE) {
        item = shapes->count++;
        wr_index_put(index, at, hash, item);
        shapes->shapes[item] = (struct wr_shape){hash, 0, line, line};
    }
    shapes->shapes[item].lines_count++;
    shapes->shapes[item].last_line = line;
    shapes->of_line[line] = item;
}

weir_status wr_shapes_find(struct wr_shapes *shapes, const struct wr_keep *keep)
{
    struct wr_index index;
    *shapes = (struct wr_shapes){
        .shapes = WR_ARENA_ARRAY(keep->arena, struct wr_shape, keep->lines_count),
        .of_line = WR_ARENA_ARRAY(keep->arena, uint32_t, keep->lines_count),
    };
    weir_status status = wr_index_init(&index, keep->arena, keep->lines_count);
    if (status || !shapes->shapes || !shapes->of_line)
        return wr_arena_status(keep->arena);
    for (uint32_t line = 0; line < keep->lines_count; line++)
        add_line(shapes, &index, line, wr_shape_of(wr_keep_line(keep, line)));
    return WEIR_OK;
}
