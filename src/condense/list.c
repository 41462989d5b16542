/* A listing: names of files, one a line, with sizes or without, as a tree or as paths.
 *
 * Kept: what the call or the newest turns name, headings and totals, directories, one entry of each
 * directory of a list of paths, the shallow ones first and what was fetched or built last, then
 * from both ends. The gap lines say how many entries of each were left out. */
#include "base/ascii.h"
#include "condense/focus.h"
#include "condense/keep.h"

#include "base/limits.h"
#include "base/words.h"

enum { ENDS_PERCENT = 10, NAMED_PERCENT = 50, SHAPE_PERCENT = 75, DEPTH_MAX = 16 };

struct list {
    struct wr_keep keep;
    struct wr_focus focus;
    size_t bytes_budget;
    uint8_t *depths; /* of each line: how worthy of being kept as shape; DEPTH_NONE: not at all */
};

enum { DEPTH_NONE = UINT8_MAX };

/* ---- the shape of a listing ---- */

static bool is_branch(char c)
{
    /* Blanks, '|', '`', '-' and the bytes of the lines that trees are drawn with. */
    return wr_is_blank(c) || memchr("|`-+\\", c, 5) || (unsigned char)c >= 0x80;
}

/* Bytes before the name in a tree that was drawn. */
static size_t branch_bytes(weir_span line)
{
    size_t at = 0;
    while (at < line.len && is_branch(line.ptr[at]))
        at++;
    return at < line.len ? at : 0;
}

static unsigned clamp_depth(size_t depth)
{
    return depth < DEPTH_MAX ? (unsigned)depth : DEPTH_MAX;
}

/* "src/condense:" above the names of ls -R, "total 48" above those of ls -l, and the last line of
 * tree. */
static bool is_heading(weir_span line)
{
    if (line.ptr[line.len - 1] == ':' && !wr_is_blank(line.ptr[0]))
        return true;
    return wr_span_starts(line, WR_LIT("total ")) || wr_span_starts(line, WR_LIT("Found ")) ||
           (wr_is_digit(line.ptr[0]) && wr_span_has(line, WR_LIT(" director")));
}

static bool is_directory(weir_span line)
{
    return line.ptr[line.len - 1] == '/' ||
           (line.len > 10 && line.ptr[0] == 'd' && memchr("r-", line.ptr[1], 2) &&
            memchr("w-", line.ptr[2], 2));
}

static weir_span directory_of(weir_span path)
{
    size_t end = path.len;
    while (end && path.ptr[end - 1] != '/')
        end--;
    return wr_span_cut(path, 0, end);
}

static size_t count_slashes(weir_span path)
{
    size_t count = 0;
    for (size_t i = 0; i < path.len; i++)
        count += path.ptr[i] == '/';
    return count;
}

/* What was fetched or built stands in such directories; it is seldom what is sought. */
static bool is_made(weir_span path)
{
    static const char names[] =
        "node_modules/|.git/|__pycache__/|.venv/|site-packages/|dist/|target/|.cache/";
    return wr_has_any_of(path, names);
}

/* What holds the next lines: the next one is indented further. */
static bool holds_next(weir_span line, weir_span next)
{
    return next.len && branch_bytes(next) > branch_bytes(line);
}

static unsigned depth_of(weir_span before, weir_span line, weir_span next)
{
    size_t branches = branch_bytes(line);
    if (is_heading(line))
        return clamp_depth(count_slashes(line));
    if (branches || holds_next(line, next))
        return is_directory(line) || holds_next(line, next) ? clamp_depth(branches / 4)
                                                            : DEPTH_NONE;
    if (is_directory(line))
        return clamp_depth(count_slashes(line));
    weir_span directory = directory_of(line);
    bool is_first = directory.len && !wr_span_eq(directory, directory_of(before));
    if (!is_first)
        return DEPTH_NONE;
    return is_made(line) ? (unsigned)DEPTH_MAX : clamp_depth(count_slashes(line));
}

static weir_span entry_at(const struct list *list, uint32_t line)
{
    if (line >= list->keep.lines_count)
        return (weir_span){NULL, 0};
    weir_span text = wr_keep_line(&list->keep, line);
    while (text.len && memchr(" \t\r", text.ptr[text.len - 1], 3))
        text.len--;
    return text;
}

static weir_status read_depths(struct list *list)
{
    list->depths = WR_ARENA_ARRAY(list->keep.arena, uint8_t, list->keep.lines_count);
    if (!list->depths)
        return wr_arena_status(list->keep.arena);
    weir_span before = {NULL, 0}, entry = entry_at(list, 0);
    for (uint32_t line = 0; line < list->keep.lines_count; line++) {
        weir_span next = entry_at(list, line + 1);
        list->depths[line] =
            entry.len ? (uint8_t)depth_of(before, entry, next) : (uint8_t)DEPTH_NONE;
        before = entry;
        entry = next;
    }
    return WEIR_OK;
}

/* ---- all ---- */

static void choose_list(struct list *list)
{
    struct wr_keep *keep = &list->keep;
    wr_keep_spend_until(keep, list->bytes_budget, ENDS_PERCENT);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
    wr_keep_spend_until(keep, list->bytes_budget, ENDS_PERCENT * 2);
    (void)wr_keep_from_back(keep, 0, keep->lines_count);
    wr_keep_spend_until(keep, list->bytes_budget, NAMED_PERCENT);
    wr_focus_keep(&list->focus, keep, 0, SIZE_MAX);
    wr_keep_spend_until(keep, list->bytes_budget, SHAPE_PERCENT);
    for (unsigned depth = 0; depth <= DEPTH_MAX; depth++)
        for (uint32_t line = 0; line < keep->lines_count; line++)
            if (list->depths[line] == depth && !wr_keep_one(keep, line))
                break;
    wr_keep_spend_until(keep, list->bytes_budget, 100);
    wr_keep_ends(keep, 60);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
}

weir_status wr_condense_list(struct wr_condensed *out, struct wr_arena *arena,
                             const struct wr_condense_input *input)
{
    struct list list = {.bytes_budget = input->bytes_budget};
    weir_status status = wr_keep_init(&list.keep, arena, input);
    if (!status)
        status = wr_keep_shorten(&list.keep, WR_KEEP_LINE_BYTES_MAX, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(&list.keep, input->kind, 0);
    if (!status)
        status = wr_focus_init(&list.focus, arena, input);
    if (!status)
        status = wr_focus_find(&list.focus, &list.keep);
    if (!status)
        status = read_depths(&list);
    if (status)
        return status;
    choose_list(&list);
    return wr_keep_write(&list.keep, out);
}
