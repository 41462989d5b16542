/* The tools list and grep.
 *
 * Folders are walked with a list of those that are still to be read, not by recursion, so a deep
 * tree costs no stack; links are not followed, so a loop of links does no harm. What the walk
 * leaves out (.git and the like), files that hold a NUL byte, and lines on which the pattern took
 * too long are no errors: the last line of the result says how much was searched and whether there
 * is more.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "agent/toolbox.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/grep.h"

/* Folders that hold what others made: not searched unless they are asked for by name. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {".git",         ".hg",         ".svn",
                                        "node_modules", "__pycache__", ".venv"};
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

struct walk {
    struct wr_arena *arena;
    const char **folders; /* still to be read, the next last */
    size_t folders_count, folders_max;
    uint64_t files_count;
    bool is_cut;
};

static bool push_folder(struct walk *walk, const char *path)
{
    if (walk->folders_count == WR_AGENT_FOLDERS_MAX) {
        walk->is_cut = true;
        return false;
    }
    if (!WR_ARENA_ROOM(walk->arena, walk->folders, walk->folders_count, walk->folders_max, 64)) {
        walk->is_cut = true;
        return false;
    }
    walk->folders[walk->folders_count++] = path;
    return true;
}

static const char *join_path(struct wr_arena *arena, const char *folder, const char *name)
{
    size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = wr_arena_alloc(arena, bytes);
    if (path)
        (void)snprintf(path, bytes, "%s/%s", folder, name);
    return path;
}

static int by_name(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

/* The names in a folder, sorted; NULL where it cannot be read. */
static const char **read_folder(struct wr_arena *arena, const char *path, size_t *count)
{
    DIR *folder = opendir(path);
    const char **names = NULL;
    size_t max = 0;
    struct dirent *entry;

    *count = 0;
    if (!folder)
        return NULL;
    while ((entry = readdir(folder)) && *count < WR_AGENT_FOLDERS_MAX) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        weir_span name =
            wr_arena_copy(arena, (weir_span){entry->d_name, strlen(entry->d_name) + 1});
        if (!WR_ARENA_ROOM(arena, names, *count, max, 32) || !name.ptr)
            break;
        names[(*count)++] = name.ptr;
    }
    (void)closedir(folder);
    if (names)
        qsort(names, *count, sizeof(*names), by_name);
    return names ? names : wr_arena_zalloc(arena, sizeof(*names));
}

/* ---- list ---- */

static void put_entry(struct wr_buf *out, const char *path, const char *name)
{
    struct stat info;

    if (lstat(path, &info))
        return;
    wr_buf_text(out, name);
    if (S_ISDIR(info.st_mode))
        wr_buf_text(out, "/\n");
    else if (S_ISLNK(info.st_mode))
        wr_buf_text(out, " -> a link\n");
    else
        wr_buf_printf(out, " %lld\n", (long long)info.st_size);
}

void wr_tool_list(const struct wr_toolbox *box, struct wr_tool_args *args,
                  struct wr_tool_output *output)
{
    weir_span name = WR_LIT(".");
    size_t count, shown = 0;

    if (!wr_tool_args_may_text(args, "path", &name))
        return;
    const char *path = wr_tool_path(args, box, name);
    if (!path)
        return;
    const char **names = read_folder(&args->arena, path, &count);
    if (!names) {
        wr_tool_fail(output, "%.*s: %s", (int)name.len, name.ptr, strerror(errno));
        return;
    }
    for (; shown < count && output->text.len < WR_AGENT_READ_BYTES_MAX; shown++) {
        const char *entry = join_path(&args->arena, path, names[shown]);
        if (entry)
            put_entry(&output->text, entry, names[shown]);
    }
    if (shown < count)
        wr_buf_printf(&output->text, "[%zu more entries]", count - shown);
    else if (!count)
        wr_buf_text(&output->text, "[the directory is empty]");
}

/* ---- grep ---- */

enum { LINES_BETWEEN_LOOKS = 4096 };

struct search {
    struct wr_grep grep;
    const struct wr_toolbox *box;
    const char *root;
    weir_span glob;
    struct wr_tool_output *output;
    uint64_t matches_count, files_count;
    uint64_t hard_lines_count; /* on which the pattern took too long */
    bool is_full;              /* nothing more is looked for */
    bool is_interrupted;
};

static void look_for_interrupt(struct search *search)
{
    const struct wr_toolbox *box = search->box;
    if (box->interrupt && box->interrupt(box->interrupt_user))
        search->is_full = search->is_interrupted = true;
}

static const char *short_name(const struct search *search, const char *path)
{
    size_t bytes = strlen(search->root);
    return !strncmp(path, search->root, bytes) && path[bytes] == '/' ? path + bytes + 1 : path;
}

static void put_match(struct search *search, const char *path, uint64_t number, weir_span line)
{
    size_t shown = line.len < WR_AGENT_MATCH_BYTES_MAX ? line.len : WR_AGENT_MATCH_BYTES_MAX;

    wr_buf_printf(&search->output->text, "%s:%llu:%.*s%s\n", short_name(search, path),
                  (unsigned long long)number, (int)shown, line.ptr,
                  shown < line.len ? " [...]" : "");
    search->matches_count++;
    search->is_full = search->output->text.len > WR_AGENT_READ_BYTES_MAX;
}

static void search_file(struct search *search, const char *path)
{
    struct wr_buf content;
    uint64_t number = 0;
    weir_span line;

    wr_buf_init(&content, WR_AGENT_FILE_BYTES_MAX);
    if (!wr_file_read(path, &content) &&
        !(content.len && memchr(content.bytes, '\0', content.len < 8192 ? content.len : 8192))) {
        weir_span rest = wr_buf_view(&content);
        search->files_count++;
        while (!search->is_full && wr_span_line(&rest, &line)) {
            bool matches = false;
            if (number++ % LINES_BETWEEN_LOOKS == 0)
                look_for_interrupt(search);
            if (wr_grep_line(&search->grep, line, &matches))
                search->hard_lines_count++;
            else if (matches)
                put_match(search, path, number, line);
        }
    }
    wr_buf_release(&content);
}

static bool fits_glob(const struct search *search, const char *name)
{
    char glob[256];
    if (!search->glob.len)
        return true;
    (void)snprintf(glob, sizeof(glob), "%.*s", (int)search->glob.len, search->glob.ptr);
    return !fnmatch(glob, name, 0);
}

static void search_folder(struct search *search, struct walk *walk, const char *folder)
{
    size_t count;
    const char **names = read_folder(walk->arena, folder, &count);
    struct stat info;

    walk->is_cut = walk->is_cut || wr_arena_status(walk->arena);
    for (size_t i = 0; names && i < count && !search->is_full; i++) {
        const char *path = join_path(walk->arena, folder, names[i]);
        walk->is_cut = walk->is_cut || !path;
        if (!path || lstat(path, &info))
            continue;
        if (S_ISDIR(info.st_mode) && !is_left_out(names[i]))
            (void)push_folder(walk, path);
        else if (S_ISREG(info.st_mode) && fits_glob(search, names[i]))
            search_file(search, path);
    }
}

static void put_sum(const struct search *search, const struct walk *walk)
{
    struct wr_buf *out = &search->output->text;

    wr_buf_printf(out, "[%llu match%s in %llu files", (unsigned long long)search->matches_count,
                  search->matches_count == 1 ? "" : "es", (unsigned long long)search->files_count);
    if (search->hard_lines_count)
        wr_buf_printf(out, "; on %llu lines the pattern took too long, they are not searched",
                      (unsigned long long)search->hard_lines_count);
    if (search->is_interrupted)
        wr_buf_text(out, "; interrupted by the user");
    else if (search->is_full || walk->is_cut)
        wr_buf_text(out, "; there is more: narrow the path, the glob or the pattern");
    wr_buf_byte(out, ']');
}

static void search_all(struct search *search, struct wr_arena *arena, const char *path)
{
    struct walk walk = {.arena = arena};
    struct stat info;

    if (stat(path, &info)) {
        wr_tool_fail(search->output, "%s: %s", path, strerror(errno));
        return;
    }
    if (!S_ISDIR(info.st_mode))
        search_file(search, path);
    else
        (void)push_folder(&walk, path);
    while (walk.folders_count && !search->is_full) {
        search_folder(search, &walk, walk.folders[--walk.folders_count]);
        look_for_interrupt(search);
    }
    put_sum(search, &walk);
}

void wr_tool_grep(const struct wr_toolbox *box, struct wr_tool_args *args,
                  struct wr_tool_output *output)
{
    struct search search = {.box = box, .root = box->root, .output = output};
    weir_span pattern, name = WR_LIT(".");
    struct weir_err err = {0};

    if (!wr_tool_args_text(args, "pattern", &pattern) ||
        !wr_tool_args_may_text(args, "path", &name) ||
        !wr_tool_args_may_text(args, "glob", &search.glob))
        return;
    const char *path = wr_span_is(name, ".") ? box->root : wr_tool_path(args, box, name);
    if (!path)
        return;
    if (wr_grep_init(&search.grep, pattern, WR_AGENT_GREP_LINES, &err)) {
        wr_tool_fail(output, "pattern: %s", err.text);
        return;
    }
    search_all(&search, &args->arena, path);
    wr_grep_release(&search.grep);
}
