/* The words that matter, found in a text in one pass over it: words are put in a small table by
 * their hash, and each word of the text is looked up there. Lines that hold one are then kept in
 * order of how rare it is.
 */
#include "condense/focus.h"

#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/words.h"

_Static_assert(WR_FOCUS_WORDS_MAX * 4 <= WR_FOCUS_SLOTS, "the table stays mostly empty");

static void read_letters(struct wr_focus *focus)
{
    for (unsigned i = 0; i < 256; i++)
        if (i >= 0x80 || wr_is_word((char)i))
            focus->letters[i] = (uint8_t)wr_lower((char)i);
}

/* Takes the next run of letters off `rest`. */
static bool next_word(const struct wr_focus *focus, weir_span *rest, weir_span *word,
                      uint32_t *hash)
{
    if (!rest->len)
        return false;
    const char *at = rest->ptr, *end = rest->ptr + rest->len;
    while (at < end && !focus->letters[(unsigned char)*at])
        at++;
    const char *first = at;
    uint32_t h = 2166136261u;
    for (uint8_t letter; at < end && (letter = focus->letters[(unsigned char)*at]) != 0; at++)
        h = (h ^ letter) * 16777619u;
    *word = (weir_span){first, (size_t)(at - first)};
    *rest = (weir_span){at, (size_t)(end - at)};
    *hash = h;
    return word->len > 0;
}

/* The word's slot: the one that holds it, or the free one where it would go. */
static uint32_t slot_of(const struct wr_focus *focus, weir_span word, uint32_t hash)
{
    uint32_t slot = (hash ^ hash >> 15) % WR_FOCUS_SLOTS;
    while (focus->slots[slot]) {
        const struct wr_focus_word *held = &focus->words[focus->slots[slot] - 1];
        if (held->hash == hash && wr_same_any_case(held->text, word))
            break;
        slot = (slot + 1) % WR_FOCUS_SLOTS;
    }
    return slot;
}

/* ---- reading the words ---- */

static bool says_nothing(weir_span word)
{
    static struct wr_words words = WR_WORDS(
        "this|that|with|from|have|what|when|where|which|will|would|should|could|there|their|then|"
        "than|them|these|they|into|also|about|only|some|such|here|just|like|make|need|does|done|"
        "each|been|were|your|look|check|file|files|code|line|lines|function|class|return|import|"
        "const|static|public|private|string|number|void|true|false|null|none|self|async|await|"
        "export|default|else|type|name|value|data|path|read|grep|http|https|users|home|test|tests|"
        "error|main|index|first|next|know|after|before|because|using|used|uses|more|over|please|"
        "want|work|find|command|pattern|content|output|let|the|and|for");
    return wr_words_has_folded(&words, word);
}

static bool has_letter(weir_span word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!wr_is_digit(word.ptr[i]))
            return true;
    return false;
}

static void add_words(struct wr_focus *focus, weir_span rest, bool is_asked)
{
    weir_span word;
    uint32_t hash;
    size_t least = is_asked ? WR_FOCUS_WORD_BYTES_MIN - 1 : WR_FOCUS_WORD_BYTES_MIN;
    while (focus->count < WR_FOCUS_WORDS_MAX && next_word(focus, &rest, &word, &hash)) {
        if (word.len < least || !has_letter(word) || says_nothing(word))
            continue;
        uint32_t slot = slot_of(focus, word, hash);
        if (focus->slots[slot])
            continue;
        focus->words[focus->count] =
            (struct wr_focus_word){.text = word, .hash = hash, .is_asked = is_asked};
        focus->slots[slot] = (uint16_t)++focus->count;
    }
}

weir_status wr_focus_init(struct wr_focus *focus, struct wr_arena *arena,
                          const struct wr_condense_input *input)
{
    *focus =
        (struct wr_focus){.words = WR_ARENA_ARRAY(arena, struct wr_focus_word, WR_FOCUS_WORDS_MAX)};
    if (!focus->words)
        return wr_arena_status(arena);
    read_letters(focus);
    add_words(focus, input->query, true);
    add_words(focus, input->focus, false);
    return WEIR_OK;
}

/* ---- finding them ---- */

static void note_line(struct wr_focus_word *word, uint32_t line)
{
    if (word->found_end > line)
        return;
    word->found_end = line + 1;
    word->found_count++;
    if (word->lines_count < WR_FOCUS_WORD_LINES_MAX)
        word->lines[word->lines_count++] = line;
}

static void find_in_line(struct wr_focus *focus, weir_span rest, uint32_t line)
{
    weir_span word;
    uint32_t hash;
    while (next_word(focus, &rest, &word, &hash)) {
        uint16_t found = focus->slots[slot_of(focus, word, hash)];
        if (found)
            note_line(&focus->words[found - 1], line);
    }
}

static bool tells_little(const struct wr_focus_word *word, uint32_t lines_count)
{
    uint32_t most = lines_count / 8 > 8 ? lines_count / 8 : 8;
    return !word->found_count || (!word->is_asked && word->found_count > most);
}

static bool is_worthier(const struct wr_focus_word *a, const struct wr_focus_word *b)
{
    return a->is_asked != b->is_asked ? a->is_asked : a->found_count < b->found_count;
}

/* Drops what was not found and sorts the rest, keeping the order of equals. The count is small. */
static void sort_words(struct wr_focus *focus, uint32_t lines_count)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < focus->count; i++) {
        struct wr_focus_word word = focus->words[i];
        if (tells_little(&word, lines_count))
            continue;
        uint32_t at = count++;
        for (; at && is_worthier(&word, &focus->words[at - 1]); at--)
            focus->words[at] = focus->words[at - 1];
        focus->words[at] = word;
    }
    focus->count = count;
}

weir_status wr_focus_find(struct wr_focus *focus, const struct wr_keep *keep)
{
    uint32_t *lines =
        WR_ARENA_ARRAY(keep->arena, uint32_t, (size_t)focus->count * WR_FOCUS_WORD_LINES_MAX);
    if (!lines)
        return wr_arena_status(keep->arena);
    for (uint32_t i = 0; i < focus->count; i++)
        focus->words[i].lines = lines + (size_t)i * WR_FOCUS_WORD_LINES_MAX;
    for (uint32_t line = 0; focus->count && line < keep->lines_count; line++)
        find_in_line(focus, wr_keep_line(keep, line), line);
    sort_words(focus, keep->lines_count);
    memset(focus->slots, 0, sizeof(focus->slots));
    for (uint32_t i = 0; i < focus->count; i++)
        focus->slots[slot_of(focus, focus->words[i].text, focus->words[i].hash)] =
            (uint16_t)(i + 1);
    return WEIR_OK;
}

/* ---- using them ---- */

static void keep_around(struct wr_keep *keep, uint32_t line, uint32_t around)
{
    if (!wr_keep_one(keep, line))
        return;
    for (uint32_t d = 1; d <= around && d <= line; d++)
        (void)wr_keep_one(keep, line - d);
    for (uint32_t d = 1; d <= around && d < keep->lines_count - line; d++)
        (void)wr_keep_one(keep, line + d);
}

static void keep_word(const struct wr_focus_word *word, struct wr_keep *keep, uint32_t around)
{
    for (uint32_t i = 0; i < word->lines_count; i++)
        keep_around(keep, word->lines[i], around);
}

void wr_focus_keep(const struct wr_focus *focus, struct wr_keep *keep, uint32_t around,
                   size_t bytes_max)
{
    size_t budget = keep->bytes_budget;
    if (keep->bytes_used < budget && bytes_max < budget - keep->bytes_used)
        keep->bytes_budget = keep->bytes_used + bytes_max;
    for (uint32_t i = 0; i < focus->count; i++)
        keep_word(&focus->words[i], keep, around);
    keep->bytes_budget = budget;
}

void wr_focus_keep_asked(const struct wr_focus *focus, struct wr_keep *keep, uint32_t around)
{
    for (uint32_t i = 0; i < focus->count && focus->words[i].is_asked; i++)
        keep_word(&focus->words[i], keep, around);
}

uint32_t wr_focus_weigh(const struct wr_focus *focus, weir_span text)
{
    weir_span word;
    uint32_t hash, weight = 0;
    while (focus->count && next_word(focus, &text, &word, &hash)) {
        uint16_t found = focus->slots[slot_of(focus, word, hash)];
        if (found)
            weight += focus->words[found - 1].is_asked ? WR_FOCUS_ASKED : 1;
    }
    return weight;
}

bool wr_focus_names(const struct wr_focus *focus, weir_span text)
{
    weir_span word;
    uint32_t hash;
    while (focus->count && next_word(focus, &text, &word, &hash))
        if (focus->slots[slot_of(focus, word, hash)])
            return true;
    return false;
}
