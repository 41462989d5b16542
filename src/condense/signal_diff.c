#include "condense/signal_scanner.h"

/* "a/x", "\"b/x\"", "x\t2024-01-01" -> "x". */
static weir_span bare_path(weir_span path)
{
    const char *tab = memchr(path.ptr, '\t', path.len);
    if (tab)
        path.len = (size_t)(tab - path.ptr);
    path = wr_span_trim(path);
    if (path.len > 1 && path.ptr[0] == '"' && path.ptr[path.len - 1] == '"')
        path = wr_span_cut(path, 1, path.len - 1);
    if (path.len > 2 && path.ptr[1] == '/' && memchr("abciow", path.ptr[0], 6))
        path = wr_span_from(path, 2);
    return path;
}

static void add_file(struct wr_signal_scanner *scanner, weir_span path)
{
    if (!path.len)
        return;
    wr_signal_add_exact(scanner, WR_SIGNAL_DIFF_FILE, path);
    wr_signal_set_context(scanner, WR_CONTEXT_HUNK, path);
}

/* "diff --git a/x b/y": the names are the same length unless the file was renamed. */
static weir_span git_path(weir_span names)
{
    size_t half = names.len / 2;
    if (names.len > 2 && names.ptr[half] == ' ')
        return wr_span_from(names, half + 1);
    for (size_t i = names.len; i > 3; i--)
        if (names.ptr[i - 3] == ' ' && names.ptr[i - 1] == '/')
            return wr_span_from(names, i - 2);
    return names;
}

/* The line behind the numbers may name the function; it is no part of the signal. A hunk below no
 * file gives no context: it would be one that depends on the lines above, which may be left out. */
static bool add_hunk(struct wr_signal_scanner *scanner, weir_span line)
{
    size_t marks = wr_span_starts(line, WR_LIT("@@@")) ? 3 : 2;
    if (line.len < 8 || line.ptr[marks] != ' ' || line.ptr[marks + 1] != '-')
        return false;
    size_t end = wr_span_find(line, WR_LIT(" @@"), marks);
    if (end == SIZE_MAX)
        return false;
    bool in_diff = wr_signal_ask_context(scanner) == WR_CONTEXT_HUNK;
    weir_span path = in_diff ? scanner->context_path : (weir_span){"", 0};
    wr_signal_add_hunk(scanner, path, wr_span_cut(line, marks + 1, end));
    return true;
}

/* "--- a/x" counts only with "+++ b/x" below it: alone it may be a removed line. */
static bool add_pair(struct wr_signal_scanner *scanner, weir_span line)
{
    weir_span next = wr_signal_peek(scanner);
    if (!wr_span_starts(next, WR_LIT("+++ ")))
        return false;
    weir_span path = bare_path(wr_span_from(next, 4));
    if (wr_span_is(path, "/dev/null"))
        path = bare_path(wr_span_from(line, 4));
    wr_signal_take_next(scanner);
    add_file(scanner, path);
    return true;
}

static bool add_patch_file(struct wr_signal_scanner *scanner, weir_span line)
{
    static struct wr_words fronts = WR_WORDS(
        "*** Update File: |*** Add File: |*** Delete File: |diff --cc |diff --combined |Index: ");
    size_t front = wr_words_front(&fronts, line);
    if (front)
        add_file(scanner, wr_span_trim(wr_span_from(line, front)));
    return front > 0;
}

bool wr_signal_is_diff_detail(weir_span line)
{
    static struct wr_words fronts = WR_WORDS(
        "index |old mode |new mode |new file |deleted file |similarity |dissimilarity |rename |"
        "copy |GIT binary ");
    return wr_words_front(&fronts, line) > 0;
}

bool wr_signal_diff(struct wr_signal_scanner *scanner, weir_span line)
{
    switch (line.ptr[0]) {
    case 'd':
        if (wr_span_starts(line, WR_LIT("diff --git "))) {
            add_file(scanner, bare_path(git_path(wr_span_trim(wr_span_from(line, 11)))));
            return true;
        }
        return add_patch_file(scanner, line);
    case '@':
        return wr_span_starts(line, WR_LIT("@@")) && add_hunk(scanner, line);
    case '-':
        return wr_span_starts(line, WR_LIT("--- ")) && add_pair(scanner, line);
    case 'B':
        if (!wr_span_starts(line, WR_LIT("Binary files ")) ||
            !wr_span_ends(wr_span_trim(line), WR_LIT(" differ")))
            return false;
        wr_signal_add_exact(scanner, WR_SIGNAL_DIFF_FILE, line);
        return true;
    case '*':
    case 'I':
        return add_patch_file(scanner, line);
    default:
        return false;
    }
}
