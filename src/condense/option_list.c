#include "condense/option_list.h"

#include <string.h>

#include "base/ascii.h"
#include "base/span.h"
#include "condense/keep.h"

enum {
    LINES_MIN = 8, /* of a text with a list */
    INDENT_MIN = 2,
    INDENT_MAX = 10,
    COLUMN_BYTES_MAX = 56,
    WORDS_BYTES_MIN = 12, /* behind the column */
};

static size_t skip_blanks(weir_span line, size_t at)
{
    while (at < line.len && wr_is_blank(line.ptr[at]))
        at++;
    return at;
}

size_t wr_option_list_column(weir_span line)
{
    size_t start = skip_blanks(line, 0), end = start;
    if (start < INDENT_MIN || start > INDENT_MAX || start == line.len ||
        !(line.ptr[start] == '-' || wr_is_word(line.ptr[start])))
        return 0;
    while (end + 1 < line.len && end - start < COLUMN_BYTES_MAX &&
           !(line.ptr[end] == ' ' && line.ptr[end + 1] == ' '))
        end++;
    size_t words = skip_blanks(line, end);
    bool has_words =
        words > end && line.len - words >= WORDS_BYTES_MIN && wr_is_alpha(line.ptr[words]);
    return has_words ? end : 0;
}

static bool has_list(const struct wr_keep *keep)
{
    uint32_t count = 0;
    for (uint32_t line = 0; line < keep->lines_count && count < LINES_MIN; line++)
        count += wr_option_list_column(wr_keep_line(keep, line)) > 0;
    return count == LINES_MIN;
}

static weir_status keep_column(struct wr_keep *keep, uint32_t line, size_t end)
{
    static const char mark[] = " \xe2\x80\xa6";
    size_t len = end + sizeof(mark) - 1;
    char *form = wr_arena_alloc(keep->arena, len);
    if (!form)
        return wr_arena_status(keep->arena);
    memcpy(form, wr_keep_line(keep, line).ptr, end);
    memcpy(form + end, mark, sizeof(mark) - 1);
    weir_status status = wr_keep_form(keep, line, (weir_span){form, len});
    if (!status)
        (void)wr_keep_one(keep, line);
    return status;
}

weir_status wr_option_list_keep(struct wr_keep *keep, uint32_t percent)
{
    weir_status status = WEIR_OK;
    if (!has_list(keep))
        return WEIR_OK;
    size_t budget = wr_choose_share(keep, percent);
    for (uint32_t line = 0; line < keep->lines_count && !status; line++) {
        if (keep->bytes_used >= keep->bytes_budget)
            break;
        size_t end = keep->is_kept[line] ? 0 : wr_option_list_column(wr_keep_line(keep, line));
        if (end)
            status = keep_column(keep, line, end);
    }
    keep->bytes_budget = budget;
    return status;
}
