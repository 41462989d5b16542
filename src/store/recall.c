/* Some lines of a text, a page at a time.
 *
 *   want_ranges    which ranges of lines are wanted: those named, the head, the tail, or all
 *   search_text    with a pattern: the lines that match, and then the ranges around them
 *   put_lines      one walk over the text that writes these ranges, until the page is full
 *   hand_over      a last line says how to ask for the next page, in the same words
 *
 * A page has a cap in bytes, in tokens, or both. Room for the last line is set aside first, so that
 * whatever is cut, the way to go on is always there. Tokens are counted line by line, which adds up
 * to no less than the count of the whole: a page never goes past its cap.
 *
 * A page always shows something. Where not even its first line fits, that line is cut between
 * two characters, and the next page begins at that byte (`12.4001-`): a file of one huge line can
 * be read to its end too.
 */
#include "weir/recall.h"

#include "base/arena.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "store/grep.h"

#define SEPARATOR WR_LIT("--\n")

enum {
    FOOTER_BYTES = 160, /* the line at the end of a page, without its ranges */
    FOOTER_TOKENS = 48,
    RANGE_BYTES = 48, /* each of its ranges */
    RANGE_TOKENS = 24,
};

/* ---- ranges ---- */

static bool read_line_number(weir_span *rest, uint64_t *number)
{
    size_t digits = 0;
    while (digits < rest->len && wr_is_digit(rest->ptr[digits]))
        digits++;
    bool ok = wr_span_u64(wr_span_cut(*rest, 0, digits), number) && *number > 0;
    *rest = wr_span_cut(*rest, digits, rest->len);
    return ok;
}

static bool skip_byte(weir_span *rest, char byte)
{
    if (!rest->len || rest->ptr[0] != byte)
        return false;
    *rest = wr_span_cut(*rest, 1, rest->len);
    return true;
}

static bool read_range(weir_span *rest, struct weir_lines *range)
{
    *range = (struct weir_lines){.first = 0};
    if (!read_line_number(rest, &range->first))
        return false;
    if (skip_byte(rest, '.') && !read_line_number(rest, &range->first_byte))
        return false;
    range->last = range->first;
    if (!skip_byte(rest, '-'))
        return true;
    range->last = WEIR_LINES_END;
    if (!rest->len || rest->ptr[0] == ',')
        return true;
    return read_line_number(rest, &range->last) && range->last >= range->first;
}

weir_status weir_lines_parse(weir_span text, struct weir_lines *lines, size_t lines_max,
                             size_t *lines_count, struct weir_err *err)
{
    weir_span rest = text;
    *lines_count = 0;
    do {
        size_t at_byte = text.len - rest.len;
        if (*lines_count == lines_max)
            return wr_fail(err, WEIR_LIMIT, at_byte, "more than %zu ranges of lines", lines_max);
        if (!read_range(&rest, &lines[*lines_count]))
            return wr_fail(err, WEIR_SYNTAX, at_byte,
                           "lines are A-B, A- or A, counted from 1, several with commas");
        ++*lines_count;
    } while (skip_byte(&rest, ','));
    if (rest.len)
        return wr_fail(err, WEIR_SYNTAX, text.len - rest.len,
                       "lines are A-B, A- or A, counted from 1, several with commas");
    return WEIR_OK;
}

struct ranges {
    struct weir_lines *items;
    size_t count, cap;
};

/* Adds lines that come after all that are there; what touches the last range becomes part of it.
 * False without memory. */
static bool add_range(struct wr_arena *arena, struct ranges *ranges, struct weir_lines range)
{
    struct weir_lines *last = ranges->count ? &ranges->items[ranges->count - 1] : NULL;
    if (last && range.first <= last->last + 1 && !range.first_byte) {
        if (range.last > last->last)
            last->last = range.last;
        return true;
    }
    if (!WR_ARENA_ROOM(arena, ranges->items, ranges->count, ranges->cap, 16))
        return false;
    ranges->items[ranges->count++] = range;
    return true;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct weir_lines *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->first_byte > y->first_byte) - (x->first_byte < y->first_byte);
}

static uint64_t count_lines(weir_span text)
{
    uint64_t count = 0;
    weir_span line;
    while (wr_span_line(&text, &line))
        count++;
    return count;
}

struct recall {
    weir_span text;
    const struct weir_recall_options *options;
    struct wr_arena arena;
    struct ranges wanted; /* what was asked for */
    struct ranges shown;  /* what is written: the same, or what is around the matches */
    uint64_t *matches;    /* numbers of the lines that match */
    size_t matches_cap;
    struct wr_buf out, next;
    struct weir_recalled *recalled;
    struct weir_err *err;
};

static weir_status fail_recall_memory(struct recall *recall)
{
    return wr_fail(recall->err, wr_arena_status(&recall->arena), 0, "no memory for the recall");
}

/* Sorted, merged, and cut at the end of the text. */
static weir_status want_named_lines(struct recall *recall)
{
    const struct weir_recall_options *o = recall->options;
    uint64_t total = recall->recalled->lines_total;
    struct weir_lines sorted[WR_RECALL_RANGES_MAX];

    if (o->lines_count > WR_RECALL_RANGES_MAX)
        return wr_fail(recall->err, WEIR_LIMIT, 0, "%zu ranges of lines, %d at most",
                       o->lines_count, (int)WR_RECALL_RANGES_MAX);
    memcpy(sorted, o->lines, o->lines_count * sizeof(sorted[0]));
    qsort(sorted, o->lines_count, sizeof(sorted[0]), compare_ranges);
    for (size_t i = 0; i < o->lines_count; i++) {
        if (!sorted[i].first || sorted[i].last < sorted[i].first)
            return wr_fail(recall->err, WEIR_INVALID, 0, "a range of lines that holds none");
        if (sorted[i].first > total)
            return wr_fail(recall->err, WEIR_INVALID, 0,
                           "line %llu was asked for and the text has %llu",
                           (unsigned long long)sorted[i].first, (unsigned long long)total);
        if (sorted[i].last > total)
            sorted[i].last = total;
        if (!add_range(&recall->arena, &recall->wanted, sorted[i]))
            return fail_recall_memory(recall);
    }
    return WEIR_OK;
}

static weir_status want_ranges(struct recall *recall)
{
    const struct weir_recall_options *o = recall->options;
    uint64_t total = recall->recalled->lines_total;
    struct weir_lines range = {.first = 1, .last = total};

    if ((o->lines_count != 0) + (o->head_lines != 0) + (o->tail_lines != 0) > 1)
        return wr_fail(recall->err, WEIR_INVALID, 0, "lines, head and tail exclude each other");
    if (o->lines_count)
        return want_named_lines(recall);
    if (o->head_lines && o->head_lines < total)
        range.last = o->head_lines;
    if (o->tail_lines && o->tail_lines < total)
        range.first = total - o->tail_lines + 1;
    if (total && !add_range(&recall->arena, &recall->wanted, range))
        return fail_recall_memory(recall);
    return WEIR_OK;
}

/* ---- a walk over lines ---- */

/* The lines of ranges, one after the other. */
struct walk {
    weir_span rest; /* of the text, after the line */
    const struct ranges *ranges;
    size_t range_index;  /* of the line */
    uint64_t number;     /* of the line; 0 before the first */
    uint64_t first_byte; /* where in it the span begins, from 1 */
    weir_span line;      /* with its end */
};

static bool step_line(struct walk *walk)
{
    const char *start = walk->rest.ptr;
    weir_span line;
    if (!wr_span_line(&walk->rest, &line))
        return false;
    walk->number++;
    walk->first_byte = 1;
    bool has_end = walk->rest.ptr ? walk->rest.ptr > start + line.len : false;
    walk->line = (weir_span){start, line.len + (has_end ? 1 : 0)};
    return true;
}

static bool next_line(struct walk *walk)
{
    while (walk->range_index < walk->ranges->count &&
           walk->number >= walk->ranges->items[walk->range_index].last)
        walk->range_index++;
    if (walk->range_index == walk->ranges->count)
        return false;
    const struct weir_lines *range = &walk->ranges->items[walk->range_index];
    do {
        if (!step_line(walk))
            return false;
    } while (walk->number < range->first);
    if (walk->number == range->first && range->first_byte > 1) {
        uint64_t skip =
            range->first_byte - 1 < walk->line.len ? range->first_byte - 1 : walk->line.len;
        walk->line = wr_span_cut(walk->line, (size_t)skip, walk->line.len);
        walk->first_byte = skip + 1;
    }
    return true;
}

static weir_span without_end(weir_span line)
{
    if (line.len && line.ptr[line.len - 1] == '\n')
        line.len--;
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* ---- matches ---- */

static uint64_t wanted_count(const struct recall *recall)
{
    uint64_t count = 0;
    for (size_t i = 0; i < recall->wanted.count; i++)
        count += recall->wanted.items[i].last - recall->wanted.items[i].first + 1;
    return count;
}

static bool add_match(struct recall *recall, uint64_t number)
{
    uint64_t count = recall->recalled->matches_count;
    if (!WR_ARENA_ROOM(&recall->arena, recall->matches, count, recall->matches_cap, 64))
        return false;
    recall->matches[count] = number;
    recall->recalled->matches_count++;
    return true;
}

static weir_status find_matches(struct recall *recall, struct wr_grep *grep)
{
    struct walk walk = {.rest = recall->text, .ranges = &recall->wanted};
    while (next_line(&walk)) {
        bool matches;
        weir_status status = wr_grep_line(grep, without_end(walk.line), &matches);
        if (status)
            return wr_fail(recall->err, status, 0,
                           "the pattern takes too long at line %llu: make it simpler",
                           (unsigned long long)walk.number);
        if (matches && !add_match(recall, walk.number))
            return fail_recall_memory(recall);
    }
    return WEIR_OK;
}

/* The lines around the matches, within the ranges asked for. */
static weir_status show_matches(struct recall *recall)
{
    uint64_t around = recall->options->context_lines;
    size_t at = 0;
    if (around > WR_RECALL_CONTEXT_LINES_MAX)
        around = WR_RECALL_CONTEXT_LINES_MAX;
    for (uint64_t i = 0; i < recall->recalled->matches_count; i++) {
        uint64_t number = recall->matches[i];
        while (recall->wanted.items[at].last < number)
            at++;
        struct weir_lines range = recall->wanted.items[at];
        if (number - range.first > around) {
            range.first = number - around;
            range.first_byte = 0;
        }
        if (range.last - number > around)
            range.last = number + around;
        if (!add_range(&recall->arena, &recall->shown, range))
            return fail_recall_memory(recall);
    }
    return WEIR_OK;
}

static weir_status search_text(struct recall *recall)
{
    struct wr_grep grep;
    weir_status status =
        wr_grep_init(&grep, recall->options->pattern, wanted_count(recall), recall->err);
    if (!status)
        status = find_matches(recall, &grep);
    if (!status)
        status = show_matches(recall);
    wr_grep_release(&grep);
    return status;
}

/* ---- writing ---- */

struct page {
    struct recall *recall;
    size_t bytes_max;
    uint64_t tokens, tokens_max;
    size_t match_index;   /* of the next match */
    bool wants_separator; /* in front of the next line */
    bool is_full;
};

static weir_status page_init(struct page *page, struct recall *recall)
{
    const struct weir_recall_options *o = recall->options;
    size_t footer_bytes = FOOTER_BYTES + RANGE_BYTES * recall->wanted.count;
    uint64_t footer_tokens = FOOTER_TOKENS + RANGE_TOKENS * (uint64_t)recall->wanted.count;

    *page = (struct page){.recall = recall, .bytes_max = SIZE_MAX, .tokens_max = UINT64_MAX};
    if (o->page_tokens_max && !o->count_tokens)
        return wr_fail(recall->err, WEIR_INVALID, 0, "a cap in tokens and nobody to count them");
    if (o->page_bytes_max && o->page_bytes_max < 2 * footer_bytes)
        return wr_fail(recall->err, WEIR_INVALID, 0, "a page of %zu bytes has no room",
                       o->page_bytes_max);
    if (o->page_tokens_max && o->page_tokens_max < 2 * footer_tokens)
        return wr_fail(recall->err, WEIR_INVALID, 0, "a page of %llu tokens has no room",
                       (unsigned long long)o->page_tokens_max);
    if (o->page_bytes_max)
        page->bytes_max = o->page_bytes_max - footer_bytes;
    if (o->page_tokens_max)
        page->tokens_max = o->page_tokens_max - footer_tokens;
    return WEIR_OK;
}

static uint64_t tokens_of(const struct page *page, weir_span text)
{
    const struct weir_recall_options *o = page->recall->options;
    return page->tokens_max == UINT64_MAX ? 0 : o->count_tokens(o->user, text);
}

/* Whether the piece still fits on the page, and how many tokens it has. */
static bool fits_page(const struct page *page, weir_span piece, uint64_t *tokens)
{
    size_t used_bytes = page->recall->out.len + (page->wants_separator ? SEPARATOR.len : 0);
    *tokens = page->wants_separator ? tokens_of(page, SEPARATOR) : 0;
    if (used_bytes > page->bytes_max || piece.len > page->bytes_max - used_bytes)
        return false;
    *tokens += tokens_of(page, piece);
    return page->tokens <= page->tokens_max && *tokens <= page->tokens_max - page->tokens;
}

static void put_piece(struct page *page, weir_span piece, uint64_t tokens)
{
    if (page->wants_separator)
        wr_buf_append(&page->recall->out, SEPARATOR);
    page->wants_separator = false;
    wr_buf_append(&page->recall->out, piece);
    page->tokens += tokens;
}

/* The longest beginning of `piece` that fits, whole characters, at least one. */
static weir_span cut_to_fit(const struct page *page, weir_span piece)
{
    size_t fits_bytes = 0, too_many = piece.len + 1;
    uint64_t ignored;
    while (too_many - fits_bytes > 1) {
        size_t middle = fits_bytes + (too_many - fits_bytes) / 2;
        if (fits_page(page, wr_span_cut(piece, 0, middle), &ignored))
            fits_bytes = middle;
        else
            too_many = middle;
    }
    size_t whole = fits_bytes;
    while (whole && whole < piece.len && wr_utf8_is_tail(piece.ptr[whole]) &&
           fits_bytes - whole < 3)
        whole--;
    if (!whole)
        whole = fits_bytes ? fits_bytes : 1;
    return wr_span_cut(piece, 0, whole);
}

static void put_range(struct wr_buf *out, const struct weir_lines *range)
{
    wr_buf_printf(out, "%s%llu", out->len ? "," : "", (unsigned long long)range->first);
    if (range->first_byte > 1)
        wr_buf_printf(out, ".%llu", (unsigned long long)range->first_byte);
    wr_buf_printf(out, "-%llu", (unsigned long long)range->last);
}

/* What is left from (line, byte) on of the ranges asked for. */
static void set_next(struct page *page, uint64_t number, uint64_t first_byte)
{
    struct recall *recall = page->recall;
    page->is_full = true;
    for (size_t i = 0; i < recall->wanted.count; i++) {
        struct weir_lines range = recall->wanted.items[i];
        if (range.last < number)
            continue;
        if (range.first <= number) {
            range.first = number;
            range.first_byte = first_byte;
        }
        put_range(&recall->next, &range);
    }
}

/* A line of the text as it is. The first line of a page is cut where it does not fit. */
static void put_plain(struct page *page, const struct walk *walk)
{
    uint64_t tokens;
    if (fits_page(page, walk->line, &tokens)) {
        put_piece(page, walk->line, tokens);
        page->recall->recalled->lines_count++;
        return;
    }
    if (page->recall->out.len) {
        set_next(page, walk->number, walk->first_byte);
        return;
    }
    weir_span part = cut_to_fit(page, walk->line);
    put_piece(page, part, 0);
    page->recall->recalled->lines_count++;
    set_next(page, walk->number, walk->first_byte + part.len);
}

/* The part of a long line that fits, and where its rest is. */
static weir_span shorten_line(struct page *page, const struct walk *walk, weir_span prefix,
                              struct wr_buf *piece)
{
    weir_span line = without_end(walk->line);
    weir_span part = cut_to_fit(page, line);
    size_t room = FOOTER_BYTES / 2;
    if (part.len > room)
        part = wr_span_cut(part, 0, part.len - room);
    wr_buf_reset(piece);
    wr_buf_append(piece, prefix);
    wr_buf_append(piece, part);
    wr_buf_printf(piece, " [%zu bytes more: lines %llu.%llu-%llu]\n", line.len - part.len,
                  (unsigned long long)walk->number,
                  (unsigned long long)(walk->first_byte + part.len),
                  (unsigned long long)walk->number);
    return wr_buf_view(piece);
}

/* A line with its number in front. */
static void put_numbered(struct page *page, const struct walk *walk, struct wr_buf *piece)
{
    struct recall *recall = page->recall;
    bool is_match = page->match_index < recall->recalled->matches_count &&
                    recall->matches[page->match_index] == walk->number;
    char number[32];
    int digits = snprintf(number, sizeof(number), "%llu%c", (unsigned long long)walk->number,
                          is_match ? ':' : '-');
    weir_span prefix = {number, (size_t)digits};
    uint64_t tokens;

    wr_buf_reset(piece);
    wr_buf_append(piece, prefix);
    wr_buf_append(piece, without_end(walk->line));
    wr_buf_byte(piece, '\n');
    if (fits_page(page, wr_buf_view(piece), &tokens)) {
        put_piece(page, wr_buf_view(piece), tokens);
    } else if (recall->out.len) {
        set_next(page, walk->number, 0);
        return;
    } else {
        weir_span shorter = shorten_line(page, walk, prefix, piece);
        put_piece(page, shorter, tokens_of(page, shorter));
    }
    page->match_index += is_match;
    recall->recalled->lines_count++;
}

static void put_lines(struct page *page)
{
    struct recall *recall = page->recall;
    bool has_pattern = recall->options->pattern.len > 0;
    struct walk walk = {.rest = recall->text,
                        .ranges = has_pattern ? &recall->shown : &recall->wanted};
    size_t range_index = 0;
    struct wr_buf piece;

    wr_buf_init(&piece, WR_STORE_ARTIFACT_BYTES_MAX + FOOTER_BYTES);
    while (!page->is_full && next_line(&walk)) {
        if (walk.range_index != range_index && recall->out.len)
            page->wants_separator = true;
        range_index = walk.range_index;
        if (has_pattern)
            put_numbered(page, &walk, &piece);
        else
            put_plain(page, &walk);
    }
    if (wr_buf_status(&piece))
        recall->out.status = wr_buf_status(&piece);
    wr_buf_release(&piece);
}

static void put_footer(struct recall *recall)
{
    weir_span next = wr_buf_view(&recall->next), text = wr_buf_view(&recall->out);
    if (!next.len)
        return;
    if (text.len && text.ptr[text.len - 1] != '\n')
        wr_buf_byte(&recall->out, '\n');
    wr_buf_printf(&recall->out, "[weir: %llu lines in all; next page: %slines %.*s]\n",
                  (unsigned long long)recall->recalled->lines_total,
                  recall->options->pattern.len ? "the same pattern, " : "", (int)next.len,
                  next.ptr);
}

/* Both texts in one piece of memory, which is the caller's from here on. */
static weir_status hand_over(struct recall *recall)
{
    recall->recalled->content_bytes = recall->out.len;
    put_footer(recall);
    size_t text_bytes = recall->out.len;
    wr_buf_append(&recall->out, wr_buf_view(&recall->next));
    weir_status status = wr_buf_status(&recall->next);
    if (!status)
        status = wr_buf_status(&recall->out);
    if (status)
        return wr_fail(recall->err, status, 0, "no memory for the recall");
    recall->recalled->text = (weir_span){recall->out.bytes, text_bytes};
    if (recall->next.len)
        recall->recalled->next = (weir_span){recall->out.bytes + text_bytes, recall->next.len};
    recall->recalled->owned = recall->out.bytes;
    recall->out.bytes = NULL;
    return WEIR_OK;
}

weir_status weir_recall_select(weir_span text, const struct weir_recall_options *options,
                               struct weir_recalled *recalled, struct weir_err *err)
{
    struct weir_recall_options own;
    struct recall recall = {.text = text, .options = &own, .recalled = recalled, .err = err};
    struct page page;

    *recalled = (struct weir_recalled){.lines_total = count_lines(text)};
    weir_status status = WR_OPTIONS_READ(&own, options, err);
    if (status)
        return status;
    wr_arena_init(&recall.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&recall.out, 2 * (size_t)WR_STORE_ARTIFACT_BYTES_MAX);
    wr_buf_init(&recall.next, RANGE_BYTES * (WR_RECALL_RANGES_MAX + 1));
    status = want_ranges(&recall);
    if (!status && recall.options->pattern.len)
        status = search_text(&recall);
    if (!status)
        status = page_init(&page, &recall);
    if (!status) {
        put_lines(&page);
        status = hand_over(&recall);
    }
    wr_buf_release(&recall.out);
    wr_buf_release(&recall.next);
    wr_arena_release(&recall.arena);
    return status;
}

weir_status weir_recall(struct weir_store *store, const struct weir_lookup *lookup,
                        const struct weir_recall_options *options, struct weir_recalled *recalled,
                        weir_miss *miss, struct weir_err *err)
{
    struct weir_artifact artifact;
    *recalled = (struct weir_recalled){.owned = NULL};
    weir_status status = weir_store_get(store, lookup, &artifact, miss, err);
    return status ? status : weir_recall_select(artifact.text, options, recalled, err);
}

void weir_recalled_release(struct weir_recalled *recalled)
{
    free(recalled->owned);
    *recalled = (struct weir_recalled){.owned = NULL};
}
