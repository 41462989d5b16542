/* JSON, JSON a line, and YAML: the shape, samples, and what does not fit in.
 *
 * The lines are a tree (json_tree.h). A line's rank is how far it is from what must be seen: the
 * keys of the first levels, the first element of an array, the elements that carry a signal, a word
 * that matters or other keys than the rest, then the last and the second one. Lines are kept by
 * rank; of all other elements first what names them (ids, titles, paths, states), then all of them
 * from the front, whole as long as they fit. A line is kept only
 * where the line it stands in is, and what opens is closed where the budget allows, so that no part
 * of one record is seen in another.
 *
 * Forms: a line of JSON that is very long is written unit by unit (json_tree.h), condensed by these
 * same rules; its gap lines count parts of that line. Other lines are cut in the middle to
 * one width for all, with the names of what is left out (json_tree.h). */
#include "condense/keep.h"

#include <stdbool.h>
#include <string.h>

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"
#include "base/words.h"
#include "condense/focus.h"
#include "condense/json_tree.h"
#include "condense/volatile.h"

enum {
    EXPAND_BYTES_MIN = 1000, /* of a line that is written unit by unit */
    EXPAND_BUDGET_MIN = 600, /* for each such line */
    EXPAND_SHARES_MAX = 8,   /* more of them than this do not have less */
    WIDTH_MIN = 160,         /* no line is cut to less */
    WIDTH_MAX = 8000,
    WIDTH_SPARE = 80,  /* nor one that is hardly longer */
    TEXT_PERCENT = 75, /* of the budget, which long texts may have before all else */
    MEMBERS_MAX = 40,  /* an object with more is read as a table: its members as elements */
    ROOTS_MAX = 12,    /* outermost lines that are all of the shape */
    OUTLIERS_MAX = 8,  /* of one array */
    OUTLIER_SIBLINGS_MIN = 4,
    NAMES_MAX = 4,   /* members that name an element */
    STEP_LITTLE = 6, /* to lines that tell little */
    RANK_MAX = 100,
    RANK_REST = RANK_MAX + 1, /* the elements between the samples, and all inside them */
};

struct vote {
    uint64_t shape; /* that most elements have */
    uint32_t lead, same, outliers;
};

struct json {
    struct wr_keep keep;
    struct wr_tree tree;
    struct wr_focus focus;
    struct vote *votes; /* one a node, and one for the outermost; of their children */
    uint8_t *ranks;
    bool *is_cut;    /* to the width of all */
    bool *is_wanted; /* carries a signal or a word that matters, or something in it does */
};

/* ---- what stands out ---- */

static struct vote *vote_of(struct json *json, uint32_t line)
{
    uint32_t parent = json->tree.nodes[line].parent;
    return &json->votes[parent == WR_TREE_NONE ? json->tree.count : parent];
}

static bool is_record(const struct wr_tree_node *node)
{
    return node->is_element && !node->is_closing && node->shape;
}

/* The only shape that can be that of most: each other one takes a vote away from it. */
static void find_leads(struct json *json)
{
    for (uint32_t line = 0; line < json->tree.count; line++) {
        const struct wr_tree_node *node = &json->tree.nodes[line];
        if (!is_record(node))
            continue;
        struct vote *vote = vote_of(json, line);
        if (!vote->lead)
            vote->shape = node->shape;
        if (vote->shape == node->shape)
            vote->lead++;
        else
            vote->lead--;
    }
}

static void count_same(struct json *json)
{
    for (uint32_t line = 0; line < json->tree.count; line++)
        if (is_record(&json->tree.nodes[line]))
            vote_of(json, line)->same += vote_of(json, line)->shape == json->tree.nodes[line].shape;
}

/* An element with other keys than three in five of its siblings have. */
static bool is_outlier(struct json *json, uint32_t line)
{
    const struct wr_tree_node *node = &json->tree.nodes[line];
    uint32_t siblings = wr_tree_siblings(&json->tree, line);
    struct vote *vote = vote_of(json, line);
    return is_record(node) && siblings >= OUTLIER_SIBLINGS_MIN && vote->shape != node->shape &&
           (uint64_t)vote->same * 5 >= (uint64_t)siblings * 3 && vote->outliers++ < OUTLIERS_MAX;
}

static void want(struct json *json, uint32_t line)
{
    while (line != WR_TREE_NONE && !json->is_wanted[line]) {
        json->is_wanted[line] = true;
        line = json->tree.nodes[line].parent;
    }
}

static void find_wanted(struct json *json)
{
    const struct wr_signal_set *set = json->keep.signals;
    for (uint32_t i = 0; i < set->lines_count; i++)
        if (set->lines[i] < json->tree.count)
            want(json, set->lines[i]);
    for (uint32_t line = 0; json->focus.count && line < json->tree.count; line++)
        if (wr_focus_names(&json->focus, wr_keep_line(&json->keep, line)))
            want(json, line);
}

/* ---- ranks ---- */

/* A member whose value is a time, a number or a truth: seldom what is sought, unless it is named.
 */
static bool is_plain_value(weir_span key, weir_span text)
{
    static struct wr_words values = WR_WORDS(": true|:true|: false|:false");
    if (wr_words_end(&values, text))
        return true;
    weir_span value = wr_span_from(text, (size_t)(key.ptr + key.len - text.ptr));
    while (value.len && memchr("\": ", value.ptr[0], 3))
        value = wr_span_from(value, 1);
    return wr_volatile_time(value) > 0;
}

/* Links an answer gives to itself, ids for machines, and members without a value. */
static bool tells_little(weir_span line)
{
    static struct wr_words keys = WR_WORDS("_url|node_id|gravatar_id|etag|_links");
    static struct wr_words values = WR_WORDS(": null|:null|: \"\"|:\"\"|: []|:[]");
    weir_span key = wr_tree_key(line), text = wr_span_trim(line);
    text.len -= text.len && text.ptr[text.len - 1] == ',';
    if (!key.len)
        return false;
    return (wr_words_end(&keys, key) && !wr_span_is(key, "html_url")) ||
           wr_words_end(&values, text) || is_plain_value(key, text);
}

static uint32_t step_of(struct json *json, uint32_t line)
{
    const struct wr_tree_node *node = &json->tree.nodes[line];
    uint32_t siblings = wr_tree_siblings(&json->tree, line);
    uint32_t few = node->parent == WR_TREE_NONE ? ROOTS_MAX : node->is_element ? 0 : MEMBERS_MAX;
    if (json->is_wanted[line])
        return 1;
    if (tells_little(wr_keep_line(&json->keep, line)))
        return STEP_LITTLE;
    if (siblings <= few || node->index == 0 || is_outlier(json, line))
        return 1;
    if (node->index + 1 == siblings)
        return 2;
    return node->index == 1 ? 3 : RANK_REST;
}

static void find_ranks(struct json *json)
{
    for (uint32_t line = 0; line < json->tree.count; line++) {
        const struct wr_tree_node *node = &json->tree.nodes[line];
        uint32_t above = node->parent == WR_TREE_NONE ? 0 : json->ranks[node->parent];
        uint32_t rank = above;
        if (!node->is_closing && above < RANK_REST) {
            uint32_t step = step_of(json, line);
            rank = step == RANK_REST ? RANK_REST : above + step;
            if (step < RANK_REST && rank > RANK_MAX)
                rank = RANK_MAX;
        }
        json->ranks[line] = (uint8_t)rank;
    }
}

/* ---- widths ---- */

/* Lines by how long they are. */
struct lengths {
    uint32_t counts[WIDTH_MAX + 1]; /* the last: of that and more */
    size_t total;
};

static void add_length(struct lengths *lengths, size_t len)
{
    lengths->counts[len < WIDTH_MAX ? len : WIDTH_MAX]++;
    lengths->total++;
}

/* The largest width for which all these lines, cut to it, fit. */
static size_t width_for(const struct lengths *lengths, size_t room)
{
    size_t longer = lengths->total, whole = 0, width = WIDTH_MIN;
    for (size_t next = 0; next <= WIDTH_MAX; next++) {
        whole += (size_t)lengths->counts[next] * next;
        longer -= lengths->counts[next];
        if (whole + longer * next > room)
            break;
        width = next > width ? next : width;
    }
    return width;
}

static size_t left_of(size_t budget, size_t used)
{
    return budget > used ? budget - used : 0;
}

static weir_status cut_line(struct json *json, uint32_t line, size_t width)
{
    struct wr_buf buf;
    wr_buf_init(&buf, width + 1);
    wr_names_cut_write(&buf, wr_keep_line(&json->keep, line), width);
    weir_status status = wr_buf_status(&buf);
    weir_span form = {NULL, 0};
    if (!status) {
        form = wr_arena_copy(json->keep.arena, wr_buf_view(&buf));
        status =
            form.ptr ? wr_keep_form(&json->keep, line, form) : wr_arena_status(json->keep.arena);
    }
    wr_buf_release(&buf);
    return status;
}

/* Half of the budget is for the elements between the samples, where there are any. But what was
 * written for people (the body of an issue) tells more than the numbers around it. */
static size_t width_of_all(const struct json *json)
{
    const struct wr_keep *keep = &json->keep;
    struct lengths lengths = {.total = 0}, texts = {.total = 0};
    bool rest = false;
    for (uint32_t line = 0; line < json->tree.count; line++) {
        weir_span text = wr_keep_line(keep, line);
        rest |= json->ranks[line] == RANK_REST;
        if (json->ranks[line] == RANK_REST || keep->is_kept[line] || tells_little(text))
            continue;
        add_length(&lengths, text.len);
        if (text.len > WIDTH_MIN)
            add_length(&texts, text.len);
    }
    size_t budget = rest ? keep->bytes_budget / 2 : keep->bytes_budget;
    size_t width = width_for(&lengths, left_of(budget, keep->bytes_used + lengths.total));
    size_t wide = width_for(&texts, keep->bytes_budget * TEXT_PERCENT / 100);
    return width > wide ? width : wide;
}

static weir_status cut_lines(struct json *json)
{
    struct wr_keep *keep = &json->keep;
    size_t width = width_of_all(json);
    weir_status status = WEIR_OK;
    for (uint32_t line = 0; line < json->tree.count && !status; line++)
        if (!keep->is_kept[line] && !wr_keep_has_form(keep, line) &&
            wr_keep_line(keep, line).len > width + WIDTH_SPARE) {
            status = cut_line(json, line, width);
            json->is_cut[line] = true;
        }
    return status;
}

/* What is left at the end goes to the lines that were cut. */
static weir_status widen_lines(struct json *json)
{
    struct wr_keep *keep = &json->keep;
    struct lengths lengths = {.total = 0};
    size_t bytes = 0;
    for (uint32_t line = 0; line < json->tree.count; line++)
        if (keep->is_kept[line] && json->is_cut[line]) {
            add_length(&lengths, wr_keep_line(keep, line).len);
            bytes += keep->forms[line].len;
        }
    size_t width = width_for(&lengths, left_of(keep->bytes_budget + bytes, keep->bytes_used));
    weir_status status = WEIR_OK;
    for (uint32_t line = 0; line < json->tree.count && !status; line++)
        if (keep->is_kept[line] && json->is_cut[line] && keep->forms[line].len < width)
            status = cut_line(json, line, width);
    return status;
}

/* ---- what is kept ---- */

/* What carries a signal is seen in the records it stands in. */
static void keep_around_signals(struct json *json)
{
    const struct wr_signal_set *set = json->keep.signals;
    for (uint32_t i = 0; i < set->lines_count; i++) {
        if (set->lines[i] >= json->tree.count)
            continue;
        uint32_t line = json->tree.nodes[set->lines[i]].parent;
        while (line != WR_TREE_NONE && !json->keep.is_kept[line]) {
            wr_keep_must(&json->keep, line);
            if (json->tree.nodes[line].close != WR_TREE_NONE)
                wr_keep_must(&json->keep, json->tree.nodes[line].close);
            line = json->tree.nodes[line].parent;
        }
    }
}

/* A line and what closes it, both or none, where the line it stands in is kept. */
static bool keep_node(struct json *json, uint32_t line)
{
    const struct wr_tree_node *node = &json->tree.nodes[line];
    struct wr_keep *keep = &json->keep;
    size_t used = keep->bytes_used;
    if (keep->is_kept[line] || node->is_closing ||
        (node->parent != WR_TREE_NONE && !keep->is_kept[node->parent]))
        return true;
    if (!wr_keep_one(keep, line))
        return false;
    if (node->close == WR_TREE_NONE || wr_keep_one(keep, node->close))
        return true;
    keep->is_kept[line] = false;
    keep->bytes_used = used;
    return false;
}

static weir_status keep_ranked(struct json *json)
{
    uint32_t starts[RANK_REST + 2] = {0};
    uint32_t *order = WR_ARENA_ARRAY(json->keep.arena, uint32_t, json->tree.count);
    if (!order)
        return wr_arena_status(json->keep.arena);
    for (uint32_t line = 0; line < json->tree.count; line++)
        starts[json->ranks[line] + 1]++;
    for (uint32_t rank = 0; rank <= RANK_REST; rank++)
        starts[rank + 1] += starts[rank];
    uint32_t ranked = starts[RANK_REST];
    for (uint32_t line = 0; line < json->tree.count; line++)
        order[starts[json->ranks[line]]++] = line;
    for (uint32_t i = 0; i < ranked; i++)
        (void)keep_node(json, order[i]);
    return WEIR_OK;
}

static size_t bytes_of(const struct wr_keep *keep, uint32_t line)
{
    return wr_keep_has_form(keep, line) ? keep->forms[line].len + 1
                                        : keep->starts[line + 1] - keep->starts[line];
}

/* Keeps all of an element where there is room for all of it. */
static bool keep_whole(struct json *json, uint32_t line)
{
    struct wr_keep *keep = &json->keep;
    size_t bytes = WR_KEEP_GAP_BYTES;
    for (uint32_t i = line; i < json->tree.nodes[line].end; i++)
        bytes += bytes_of(keep, i);
    if (keep->bytes_used + bytes > keep->bytes_budget)
        return false;
    for (uint32_t i = line; i < json->tree.nodes[line].end; i++)
        wr_keep_must(keep, i);
    return true;
}

/* Whether one of the elements between the samples begins here, in something that is seen. */
static bool begins_rest(const struct json *json, uint32_t line)
{
    const struct wr_tree_node *node = &json->tree.nodes[line];
    if (json->ranks[line] != RANK_REST || node->is_closing)
        return false;
    return node->parent == WR_TREE_NONE ||
           (json->ranks[node->parent] < RANK_REST && json->keep.is_kept[node->parent]);
}

static bool names_record(weir_span line)
{
    static struct wr_words keys = WR_WORDS(
        "id|name|title|key|number|path|file|status|filename|slug|sha|state|ref|version|login");
    weir_span key = wr_tree_key(line);
    return wr_words_has_folded(&keys, key) ||
           (wr_span_ends(key, WR_LIT("_id")) && !tells_little(line)) ||
           wr_span_ends(key, WR_LIT("_name"));
}

/* The opening line of an element, the first members that name it, and its end. */
static bool keep_names(struct json *json, uint32_t line)
{
    const struct wr_tree_node *nodes = json->tree.nodes;
    uint32_t names = 0,
             end = nodes[line].close == WR_TREE_NONE ? nodes[line].end : nodes[line].close;
    for (uint32_t child = line + 1; child < end && names < NAMES_MAX; child = nodes[child].end) {
        if (nodes[child].children || !names_record(wr_keep_line(&json->keep, child)))
            continue;
        if (!keep_node(json, line) || !wr_keep_one(&json->keep, child))
            return false;
        names++;
    }
    return true;
}

static void keep_rest(struct json *json)
{
    bool room = true;
    for (uint32_t line = 0; room && line < json->tree.count; line++)
        if (begins_rest(json, line))
            room = keep_names(json, line);
    for (uint32_t line = 0; room && line < json->tree.count; line++)
        if (begins_rest(json, line))
            room = keep_whole(json, line);
    for (uint32_t line = 0; line < json->tree.count && keep_node(json, line);)
        line++;
}

/* ---- all together ---- */

static weir_status init(struct json *json, struct wr_arena *arena,
                        const struct wr_condense_input *input, const struct wr_units *units)
{
    weir_status status = wr_keep_init(&json->keep, arena, input);
    if (!status)
        status = wr_keep_signals(&json->keep, WR_OUTPUT_JSON, 0);
    if (!status)
        status = wr_tree_build(&json->tree, &json->keep, units ? units->indents : NULL);
    if (!status)
        status = wr_focus_init(&json->focus, arena, input);
    if (!status)
        status = wr_focus_find(&json->focus, &json->keep);
    if (status)
        return status;
    json->keep.is_parts = units != NULL;
    json->votes = WR_ARENA_ARRAY(arena, struct vote, (size_t)json->tree.count + 1);
    json->ranks = WR_ARENA_ARRAY(arena, uint8_t, json->tree.count);
    json->is_wanted = WR_ARENA_ARRAY(arena, bool, json->tree.count);
    json->is_cut = WR_ARENA_ARRAY(arena, bool, json->tree.count);
    return json->votes && json->ranks && json->is_wanted && json->is_cut ? WEIR_OK
                                                                         : wr_arena_status(arena);
}

static void rank_lines(struct json *json)
{
    find_leads(json);
    count_same(json);
    find_wanted(json);
    find_ranks(json);
}

static weir_status choose_json_output(struct json *json, struct wr_condensed *out)
{
    weir_status status = cut_lines(json);
    if (status)
        return status;
    keep_around_signals(json);
    status = keep_ranked(json);
    if (status)
        return status;
    keep_rest(json);
    status = widen_lines(json);
    return status ? status : wr_keep_write(&json->keep, out);
}

/* ---- long lines ---- */

static bool is_long(const struct wr_keep *keep, uint32_t line)
{
    weir_span text = wr_keep_line(keep, line);
    size_t at = 0;
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
        at++;
    return text.len >= EXPAND_BYTES_MIN && (text.ptr[at] == '{' || text.ptr[at] == '[');
}

/* What each long line may have: all that the others leave, shared between them. */
static size_t budget_of_each(const struct wr_keep *keep)
{
    size_t count = 0, others = 0;
    for (uint32_t line = 0; line < keep->lines_count; line++) {
        bool is = is_long(keep, line);
        count += is;
        others += is ? 0 : wr_keep_line(keep, line).len + 1;
    }
    size_t left =
        others < keep->bytes_budget / 2 ? keep->bytes_budget - others : keep->bytes_budget / 2;
    size_t each = count ? left / (count < EXPAND_SHARES_MAX ? count : EXPAND_SHARES_MAX) : 0;
    size_t min = left < EXPAND_BUDGET_MIN ? left : EXPAND_BUDGET_MIN;
    return each > min ? each : min;
}

static weir_status expand(struct json *json, const struct wr_condense_input *input, uint32_t line,
                          size_t bytes_budget)
{
    struct wr_arena *arena = json->keep.arena;
    struct wr_units units;
    struct json inner = {.ranks = NULL};
    struct wr_condensed condensed;
    weir_span text = wr_keep_line(&json->keep, line);
    if (text.len <= bytes_budget)
        return WEIR_OK;
    weir_status status = wr_units_read(&units, arena, text);
    if (status == WEIR_SYNTAX || status == WEIR_LIMIT)
        status = wr_units_split(&units, arena, text);
    if (status)
        return status;
    struct wr_condense_input part = *input;
    part.text = units.text;
    part.bytes_budget = bytes_budget;
    status = init(&inner, arena, &part, &units);
    if (status)
        return status;
    rank_lines(&inner);
    status = choose_json_output(&inner, &condensed);
    if (status || condensed.text.len >= text.len)
        return status;
    /* Where it is all there is, it stays even if the budget is too small for its shape. */
    if (json->keep.lines_count == 1)
        wr_keep_must(&json->keep, line);
    return wr_keep_form(&json->keep, line, wr_span_trim(condensed.text));
}

static weir_status expand_long_lines(struct json *json, const struct wr_condense_input *input)
{
    size_t each = budget_of_each(&json->keep);
    weir_status status = WEIR_OK;
    for (uint32_t line = 0; line < json->keep.lines_count && !status; line++)
        if (is_long(&json->keep, line))
            status = expand(json, input, line, each);
    return status;
}

weir_status wr_condense_json(struct wr_condensed *out, struct wr_arena *arena,
                             const struct wr_condense_input *input)
{
    struct json json;
    weir_status status = init(&json, arena, input, NULL);
    if (status)
        return status;
    if (wr_keep_fits(&json.keep))
        return wr_keep_all(&json.keep, out);
    rank_lines(&json);
    status = expand_long_lines(&json, input);
    return status ? status : choose_json_output(&json, out);
}

/* ---- names that are cut ---- */

#define BETWEEN " \xe2\x80\xa6 "

enum {
    MARK_BYTES_MAX = 40, /* " [… 12345678 bytes left out …] " */
    NAME_BYTES_MIN = 6,
    NAME_BYTES_MAX = 120,
    CUT_NAMES_MAX = 64,
    NAMES_PERCENT = 40, /* of the room, at most */
    FRONT_PERCENT = 67, /* of the room the names leave */
    BETWEEN_BYTES = sizeof(BETWEEN) - 1,
};

struct name {
    weir_span text;
    size_t at;
};

struct names {
    struct name items[CUT_NAMES_MAX];
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
    for (size_t at = first; names->count < CUT_NAMES_MAX && next_word(line, &at, end, &word);) {
        bool fits = word.len >= NAME_BYTES_MIN && word.len <= NAME_BYTES_MAX &&
                    names->bytes + word.len + BETWEEN_BYTES <= bytes_max;
        if (!fits || !is_name(word) || is_listed(names, word))
            continue;
        names->items[names->count++] = (struct name){word, (size_t)(word.ptr - line.ptr)};
        names->bytes += word.len + BETWEEN_BYTES;
    }
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
    front = wr_character_start(line, front + for_names - names.bytes);
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
