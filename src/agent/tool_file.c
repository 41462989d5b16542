/* The tools read_file, write and edit, and reading and replacing files whole.
 *
 * Changing a file goes through these steps, each of which may end it with a result that says why:
 *
 *   the path leads below the working directory, after all links and .. are followed
 *   the old content can be read (what cannot be read could not be put back)
 *   before_change: undo.c keeps the old content
 *   the new content is written beside the file and renamed over it
 *
 * Renaming means that whoever reads the file meanwhile sees it old or new, never half. Results end
 * in a sha256, so that the model can tell whether a file is still the one that it read.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/toolbox.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "base/text.h"

/* ---- files, whole ---- */

static const char *read_file_whole(int fd, struct wr_buf *into)
{
    char chunk[64 * 1024];
    ssize_t bytes;

    while ((bytes = read(fd, chunk, sizeof(chunk))) > 0 && !wr_buf_status(into))
        wr_buf_append(into, (weir_span){chunk, (size_t)bytes});
    if (bytes < 0)
        return strerror(errno);
    return wr_buf_status(into) ? "the file is too long to be read whole" : NULL;
}

const char *wr_file_read(const char *path, struct wr_buf *into)
{
    /* A pipe without a writer must not hold us up. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    const char *why;

    if (fd < 0)
        return strerror(errno);
    if (fstat(fd, &info))
        why = strerror(errno);
    else if (S_ISDIR(info.st_mode))
        why = "is a directory";
    else
        why = S_ISREG(info.st_mode) ? read_file_whole(fd, into) : "is no regular file";
    (void)close(fd);
    return why;
}

const char *wr_file_replace(const char *path, weir_span content)
{
    char target[PATH_MAX], temporary[PATH_MAX + 16];
    struct stat info;
    mode_t mask = umask(0);
    mode_t mode = 0666 & ~mask;

    (void)umask(mask);
    if (!realpath(path, target))
        (void)snprintf(target, sizeof(target), "%s", path);
    else if (!stat(target, &info))
        mode = info.st_mode & 07777;
    (void)snprintf(temporary, sizeof(temporary), "%s.weir-XXXXXX", target);
    int fd = mkstemp(temporary);
    if (fd < 0)
        return strerror(errno);
    const char *why = wr_os_write_all(fd, content) ? NULL : strerror(errno);
    if (!why && (fchmod(fd, mode) || fsync(fd)))
        why = strerror(errno);
    if (close(fd) && !why)
        why = strerror(errno);
    if (!why && rename(temporary, target))
        why = strerror(errno);
    if (why)
        (void)unlink(temporary);
    return why;
}

/* ---- reading ---- */

static void put_sha256(struct wr_buf *out, weir_span content)
{
    unsigned char digest[WR_SHA256_BYTES];

    if (wr_sha256(content, digest))
        return;
    wr_buf_text(out, "sha256 ");
    for (size_t i = 0; i < sizeof(digest); i++)
        wr_buf_printf(out, "%02x", digest[i]);
}

/* Whole lines from `offset` on; the first is 1. */
static uint64_t put_lines(struct wr_buf *out, weir_span content, uint64_t offset, uint64_t limit)
{
    weir_span line;
    uint64_t given = 0;

    for (uint64_t at = 1; given < limit && wr_span_line(&content, &line); at++) {
        if (at < offset)
            continue;
        if (given && out->len + line.len + 1 > WR_AGENT_READ_BYTES_MAX)
            break;
        weir_span shown = wr_text_head(line, WR_AGENT_READ_BYTES_MAX / 4);
        wr_buf_append(out, shown);
        if (shown.len < line.len)
            wr_buf_printf(out, " [... %zu more bytes of this line]", line.len - shown.len);
        wr_buf_byte(out, '\n');
        given++;
    }
    return given;
}

static void show_lines(struct wr_tool_output *output, weir_span content, uint64_t offset,
                       uint64_t limit)
{
    uint64_t total = wr_span_lines(content);

    if (offset > total && total) {
        wr_tool_fail(output, "the file has %llu lines; offset %llu is behind its end",
                     (unsigned long long)total, (unsigned long long)offset);
        return;
    }
    uint64_t given = put_lines(&output->text, content, offset, limit);
    uint64_t last = offset + given - 1;
    wr_buf_printf(&output->text, "[lines %llu-%llu of %llu",
                  (unsigned long long)(given ? offset : 0), (unsigned long long)(given ? last : 0),
                  (unsigned long long)total);
    if (last < total)
        wr_buf_printf(&output->text, "; next offset %llu", (unsigned long long)last + 1);
    wr_buf_text(&output->text, "; ");
    put_sha256(&output->text, content);
    wr_buf_byte(&output->text, ']');
}

void wr_tool_read_file(const struct wr_toolbox *box, struct wr_tool_args *args,
                       struct wr_tool_output *output)
{
    weir_span name;
    uint64_t offset = 1, limit = WR_AGENT_READ_LINES;
    struct wr_buf content;

    if (!wr_tool_args_text(args, "path", &name) ||
        !wr_tool_args_may_number(args, "offset", &offset) ||
        !wr_tool_args_may_number(args, "limit", &limit))
        return;
    const char *path = wr_tool_path(args, box, name);
    if (!path)
        return;
    wr_buf_init(&content, WR_AGENT_FILE_BYTES_MAX);
    const char *why = wr_file_read(path, &content);
    if (why)
        wr_tool_fail(output, "%.*s: %s", (int)name.len, name.ptr, why);
    else if (wr_utf8_check(wr_buf_view(&content), false) < content.len)
        wr_tool_fail(output, "%.*s is not a text (%zu bytes)", (int)name.len, name.ptr,
                     content.len);
    else
        show_lines(output, wr_buf_view(&content), offset ? offset : 1,
                   limit ? limit : WR_AGENT_READ_LINES);
    wr_buf_release(&content);
}

/* ---- changing ---- */

/* Finds how much of a path exists: all of it, or the nearest folder above. False: a link leads
 * nowhere, or `..` follows a name that does not exist. */
static bool find_present(const char *path, char present[PATH_MAX])
{
    struct stat info;

    if (snprintf(present, PATH_MAX, "%s", path) >= PATH_MAX)
        return false;
    while (lstat(present, &info)) {
        char *slash = strrchr(present, '/');
        if (!slash || !strcmp(slash, "/..") || !strcmp(slash, "/."))
            return false;
        slash[slash == present] = '\0';
    }
    return !stat(present, &info);
}

/* Where a path really leads; the file, and folders above it, need not be there yet. */
static bool is_below(const char *dir, const char *path)
{
    char present[PATH_MAX], real[PATH_MAX], root[PATH_MAX];

    if (!realpath(dir, root) || !find_present(path, present) || !realpath(present, real))
        return false;
    size_t bytes = strlen(root);
    return !strncmp(real, root, bytes) && (real[bytes] == '/' || !real[bytes] || bytes == 1);
}

bool wr_tool_is_below(const struct wr_toolbox *box, struct wr_arena *arena, weir_span path,
                      const char *dir)
{
    bool is_absolute = path.ptr[0] == '/';
    size_t bytes = path.len + strlen(box->root) + 2;
    char *whole = wr_arena_alloc(arena, bytes);

    if (!whole || memchr(path.ptr, '\0', path.len))
        return false;
    (void)snprintf(whole, bytes, "%s%s%.*s", is_absolute ? "" : box->root, is_absolute ? "" : "/",
                   (int)path.len, path.ptr);
    return is_below(dir, whole);
}

/* Folders that are missing are made; the path leads below the working directory. */
static void make_folders(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        (void)mkdir(path, 0777);
        *at = '/';
    }
}

static bool may_change(const struct wr_toolbox *box, struct wr_tool_output *output,
                       const char *path)
{
    if (is_below(box->root, path))
        return true;
    wr_tool_fail(output, "%s is not below the working directory %s: nothing was changed", path,
                 box->root);
    return false;
}

/* ---- what would change ---- */

enum { DIFF_CONTEXT_LINES = 2, DIFF_LINES_MAX = 60, DIFF_COLUMNS_MAX = 200 };

static void put_diff_lines(struct wr_buf *out, char sign, weir_span text, uint64_t lines_max)
{
    weir_span line;
    uint64_t lines = 0;

    for (; lines < lines_max && wr_span_line(&text, &line); lines++) {
        wr_buf_byte(out, sign);
        weir_span shown = wr_text_head(line, DIFF_COLUMNS_MAX);
        wr_buf_append(out, shown);
        if (shown.len < line.len) /* whoever says yes must know that there is more */
            wr_buf_printf(out, " [%zu more bytes in this line]", line.len - shown.len);
        wr_buf_byte(out, '\n');
    }
    uint64_t more = wr_span_lines(text);
    if (lines == lines_max && more)
        wr_buf_printf(out, "%c[%llu more lines]\n", sign, (unsigned long long)more);
}

/* Where the line begins that lies `lines` before the one with `at`. */
static size_t line_start(weir_span text, size_t at, int lines)
{
    while (at && (text.ptr[at - 1] != '\n' || lines-- > 0))
        at--;
    return at;
}

/* Where the line ends, its break included, that lies `lines` behind the one with `at`. */
static size_t line_end(weir_span text, size_t at, int lines)
{
    while (at < text.len && (text.ptr[at++] != '\n' || lines-- > 0))
        ;
    return at;
}

/* From the first byte that differs to the last, in whole lines, with a little around it. One hunk:
 * an edit is one place, mostly, and this is to be looked at, not applied. */
static void put_diff(struct wr_buf *out, weir_span before, weir_span after)
{
    size_t shorter = before.len < after.len ? before.len : after.len, front = 0, back = 0;

    while (front < shorter && before.ptr[front] == after.ptr[front])
        front++;
    front = line_start(before, front, 0);
    while (back < shorter - front &&
           before.ptr[before.len - 1 - back] == after.ptr[after.len - 1 - back])
        back++;
    /* The part that is the same at the end begins with a line of its own in both. */
    while (back && before.len - back > front && before.ptr[before.len - back - 1] != '\n')
        back--;
    while (back && after.len - back > front && after.ptr[after.len - back - 1] != '\n')
        back--;
    size_t from = line_start(before, front, DIFF_CONTEXT_LINES);
    size_t to = back ? line_end(before, before.len - back, DIFF_CONTEXT_LINES - 1) : before.len;
    wr_buf_printf(out, "@@ line %llu @@\n",
                  (unsigned long long)wr_span_lines(wr_span_cut(before, 0, front)) + 1);
    put_diff_lines(out, ' ', wr_span_cut(before, from, front), DIFF_LINES_MAX);
    put_diff_lines(out, '-', wr_span_cut(before, front, before.len - back), DIFF_LINES_MAX);
    put_diff_lines(out, '+', wr_span_cut(after, front, after.len - back), DIFF_LINES_MAX);
    put_diff_lines(out, ' ', wr_span_cut(before, before.len - back, to), DIFF_LINES_MAX);
}

static bool change_file(const struct wr_toolbox *box, struct wr_tool_output *output,
                        const char *path, const struct wr_buf *before, weir_span content)
{
    if (!may_change(box, output, path))
        return false;
    if (box->preview) {
        put_diff(box->preview, before ? wr_buf_view(before) : (weir_span){"", 0}, content);
        return true;
    }
    struct wr_change what = {.path = path,
                             .exists = before,
                             .before = before ? wr_buf_view(before) : (weir_span){"", 0},
                             .after = content};
    if (box->before_change)
        box->before_change(box->before_change_user, &what);
    const char *why = wr_file_replace(path, content);
    if (why)
        wr_tool_fail(output, "%s: %s: nothing was changed", path, why);
    return !why;
}

void wr_tool_write(const struct wr_toolbox *box, struct wr_tool_args *args,
                   struct wr_tool_output *output)
{
    weir_span name, content;
    struct wr_buf before;

    if (!wr_tool_args_text(args, "path", &name) || !wr_tool_args_text(args, "content", &content))
        return;
    const char *path = wr_tool_path(args, box, name);
    if (!path)
        return;
    if (!may_change(box, output, path))
        return;
    if (!box->preview)
        make_folders((char *)(uintptr_t)path);
    wr_buf_init(&before, WR_AGENT_FILE_BYTES_MAX);
    bool existed = !access(path, F_OK);
    const char *why = existed ? wr_file_read(path, &before) : NULL;
    if (why) { /* what cannot be read could not be put back */
        wr_tool_fail(output, "%.*s: %s: nothing was changed", (int)name.len, name.ptr, why);
    } else if (change_file(box, output, path, existed ? &before : NULL, content)) {
        wr_buf_printf(&output->text, "%s %.*s, %zu bytes, ", existed ? "Replaced" : "Wrote",
                      (int)name.len, name.ptr, content.len);
        put_sha256(&output->text, content);
    }
    wr_buf_release(&before);
}

static size_t count_places(weir_span content, weir_span old)
{
    size_t places = 0;
    for (size_t at = 0; (at = wr_span_find(content, old, at)) != SIZE_MAX; at += old.len)
        places++;
    return places;
}

static void replace_places(struct wr_buf *out, weir_span content, weir_span old, weir_span new)
{
    size_t from = 0, at;
    while ((at = wr_span_find(content, old, from)) != SIZE_MAX) {
        wr_buf_append(out, wr_span_cut(content, from, at));
        wr_buf_append(out, new);
        from = at + old.len;
    }
    wr_buf_append(out, wr_span_cut(content, from, content.len));
}

struct edit {
    weir_span name, old, new;
    bool is_all;
};

static void apply_edit(const struct wr_toolbox *box, const struct edit *edit, const char *path,
                       const struct wr_buf *before, struct wr_tool_output *output)
{
    weir_span content = wr_buf_view(before);
    size_t places = count_places(content, edit->old);
    struct wr_buf after;

    if (!places || (places > 1 && !edit->is_all)) {
        wr_tool_fail(output,
                     places ? "old_text occurs %zu times in %.*s: give more of the text around it, "
                              "or replace_all"
                            : "old_text occurs %zu times in %.*s: read the file again and copy it "
                              "exactly",
                     places, (int)edit->name.len, edit->name.ptr);
        return;
    }
    wr_buf_init(&after, WR_AGENT_FILE_BYTES_MAX);
    replace_places(&after, content, edit->old, edit->new);
    if (wr_buf_status(&after)) {
        wr_tool_fail(output, "the file would be longer than %d bytes", WR_AGENT_FILE_BYTES_MAX);
    } else if (change_file(box, output, path, before, wr_buf_view(&after))) {
        size_t first = wr_span_find(content, edit->old, 0);
        wr_buf_printf(&output->text, "Edited %.*s: %zu place%s, the first on line %llu, ",
                      (int)edit->name.len, edit->name.ptr, places, places == 1 ? "" : "s",
                      (unsigned long long)wr_span_lines(wr_span_cut(content, 0, first + 1)));
        put_sha256(&output->text, wr_buf_view(&after));
    }
    wr_buf_release(&after);
}

void wr_tool_edit(const struct wr_toolbox *box, struct wr_tool_args *args,
                  struct wr_tool_output *output)
{
    struct edit edit = {.is_all = false};
    struct wr_buf before;

    if (!wr_tool_args_text(args, "path", &edit.name) ||
        !wr_tool_args_text(args, "old_text", &edit.old) ||
        !wr_tool_args_text(args, "new_text", &edit.new) ||
        !wr_tool_args_may_bool(args, "replace_all", &edit.is_all))
        return;
    const char *path = wr_tool_path(args, box, edit.name);
    if (!path)
        return;
    if (!edit.old.len) {
        wr_tool_fail(output, "old_text is empty: use write for a new file");
        return;
    }
    wr_buf_init(&before, WR_AGENT_FILE_BYTES_MAX);
    const char *why = wr_file_read(path, &before);
    if (why)
        wr_tool_fail(output, "%.*s: %s", (int)edit.name.len, edit.name.ptr, why);
    else
        apply_edit(box, &edit, path, &before, output);
    wr_buf_release(&before);
}
