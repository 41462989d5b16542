/* A file that was read: its head and tail, the definitions it holds, what the call or the newest
 * turns name with the bodies around it; then bodies from the front while the budget lasts. Kept
 * lines are exact; only lines over WR_KEEP_LINE_BYTES_MAX lose their middle (keep.h, 5). */
#include "condense/focus.h"
#include "condense/kinds.h"
#include "condense/letters.h"
#include "condense/location.h"
#include "condense/outline.h"

#include "base/limits.h"

/* How much of the budget is spent when a step ends, in percent; each step may use what those before
 * it left. What is named comes before the outline: it is quoted next more often than anything. */
enum {
    HEAD_PERCENT = 8,
    TAIL_PERCENT = 12,
    TOP_PERCENT = 45,        /* definitions that stand in nothing */
    NAMED_PERCENT = 70,      /* bodies of what is named, lines that name it */
    INNER_PERCENT = 85,      /* definitions inside others */
    NAMED_BODY_PERCENT = 20, /* of one named definition */
};

enum { SIGNATURE_LINES_MAX = 4, AROUND_LINES = 1 };

struct file {
    struct wr_keep keep;
    struct wr_outline outline;
    struct wr_focus focus;
    size_t bytes_budget;
};

/* The file a command line reads: the last word of it that is a path. */
static weir_span path_in_command(weir_span command)
{
    weir_span path = {NULL, 0};
    for (size_t at = 0; at < command.len;) {
        size_t end = at;
        while (end < command.len && !memchr(" \t\n'\"|;&<>()", command.ptr[end], 13))
            end++;
        weir_span word = wr_span_cut(command, at, end);
        if (word.len && wr_location_is_path(word))
            path = word;
        at = end + 1;
    }
    return path;
}

static void spend_until(struct file *file, uint32_t percent)
{
    file->keep.bytes_budget = file->bytes_budget / 100 * percent;
}

/* ---- definitions ---- */

static bool closes_signature(weir_span line)
{
    weir_span text = wr_span_trim(line);
    return text.len && memchr("{;:=>", text.ptr[text.len - 1], 5) != NULL;
}

static bool opens_signature(weir_span line)
{
    weir_span text = wr_span_trim(line);
    return text.len && memchr("(,", text.ptr[text.len - 1], 2) != NULL;
}

/* The line of the definition, and the rest of a signature that goes on below it. */
static void keep_definition(struct file *file, const struct wr_outline_item *item)
{
    if (!wr_keep_one(&file->keep, item->line) || item->kind != WR_DEFINES_FUNCTION)
        return;
    uint32_t line = item->line;
    bool goes_on = opens_signature(wr_keep_line(&file->keep, line));
    for (uint32_t i = 0; goes_on && i < SIGNATURE_LINES_MAX && ++line < item->end; i++)
        goes_on =
            wr_keep_one(&file->keep, line) && !closes_signature(wr_keep_line(&file->keep, line));
}

static void keep_definitions(struct file *file, bool inner, bool values)
{
    for (uint32_t i = 0; i < file->outline.count; i++) {
        const struct wr_outline_item *item = &file->outline.items[i];
        bool is_value = item->kind == WR_DEFINES_VALUE;
        if ((item->depth > 0) == inner && is_value == values)
            keep_definition(file, item);
    }
}

/* Functions first: the body of a class that is named is mostly that of others. */
static void keep_named_bodies(struct file *file, bool functions)
{
    size_t limit = file->keep.bytes_budget;
    size_t body_bytes_max = file->bytes_budget / 100 * NAMED_BODY_PERCENT;
    for (uint32_t i = 0; i < file->outline.count; i++) {
        const struct wr_outline_item *item = &file->outline.items[i];
        if ((item->kind == WR_DEFINES_FUNCTION) != functions ||
            !wr_focus_names(&file->focus, item->name))
            continue;
        size_t most = file->keep.bytes_used + body_bytes_max;
        file->keep.bytes_budget = most < limit ? most : limit;
        (void)wr_keep_from_front(&file->keep, item->line, item->end);
    }
    file->keep.bytes_budget = limit;
}

/* ---- all ---- */

static void choose(struct file *file)
{
    struct wr_keep *keep = &file->keep;
    spend_until(file, HEAD_PERCENT);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
    spend_until(file, TAIL_PERCENT);
    (void)wr_keep_from_back(keep, 0, keep->lines_count);
    spend_until(file, TOP_PERCENT);
    keep_definitions(file, false, false);
    spend_until(file, NAMED_PERCENT);
    keep_named_bodies(file, true);
    wr_focus_keep(&file->focus, keep, AROUND_LINES, SIZE_MAX);
    keep_named_bodies(file, false);
    spend_until(file, INNER_PERCENT);
    keep_definitions(file, true, false);
    keep_definitions(file, false, true);
    spend_until(file, 100);
    (void)wr_keep_from_front(keep, 0, keep->lines_count);
}

weir_status wr_condense_file(struct wr_condensed *out, struct wr_arena *arena,
                             const struct wr_condense_input *input)
{
    struct file file = {.bytes_budget = input->bytes_budget};
    weir_span path = input->path.len ? input->path : path_in_command(input->command);
    weir_status status = wr_keep_init(&file.keep, arena, input);
    if (!status)
        status = wr_keep_shorten(&file.keep, WR_KEEP_LINE_BYTES_MAX, WR_LIT(""));
    if (!status)
        status = wr_keep_signals(&file.keep, input->kind, 0);
    if (!status)
        status = wr_outline_read(&file.outline, arena, input->text, path);
    if (!status)
        status = wr_focus_init(&file.focus, arena, input);
    if (!status)
        status = wr_focus_find(&file.focus, &file.keep);
    if (status)
        return status;
    choose(&file);
    return wr_keep_write(&file.keep, out);
}
