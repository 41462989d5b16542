/* Files below a path in the order of their names, with a stack of its own instead of recursion, so
 * that a deep tree ends at a limit and not at the end of the C stack. A file that cannot be read
 * is reported with the reason, and the walk goes on. */
#include "lab/import_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- import places ---- */

static const struct wr_import_place places[] = {
    {"claude-code", "CLAUDE_CONFIG_DIR", ".claude", "projects"},
    {"codex", "CODEX_HOME", ".codex", "sessions"},
    {"copilot-cli", NULL, ".copilot", "session-state"},
    {"gemini-cli", NULL, ".gemini", "tmp"},
    {"pi", "PI_CODING_AGENT_DIR", ".pi/agent", "sessions"},
};

const struct wr_import_place *wr_import_places(size_t *count)
{
    *count = sizeof(places) / sizeof(places[0]);
    return places;
}

static const char *set_variable(const char *name)
{
    const char *value = name ? getenv(name) : NULL;
    return value && value[0] ? value : NULL;
}

char *wr_import_place_path(const struct wr_import_place *place, const char *home,
                           struct wr_arena *arena)
{
    const char *own = set_variable(place->variable);
    if (!own && (!home || !home[0]))
        return NULL;
    size_t bytes = strlen(own ? own : home) + strlen(place->folder) + strlen(place->logs) + 3;
    char *path = wr_arena_alloc(arena, bytes);
    if (path && own)
        (void)snprintf(path, bytes, "%s/%s", own, place->logs);
    else if (path)
        (void)snprintf(path, bytes, "%s/%s/%s", home, place->folder, place->logs);
    return path;
}

/* ---- import walk ---- */

enum { READ_BYTES = 256 * 1024 };

struct path {
    char *text; /* NUL-terminated */
    uint32_t depth;
};

/* Folders and files still to come: a stack, so that depth needs no recursion. */
struct walk {
    wr_import_file_fn *on_file;
    void *user;
    struct path *paths;
    uint32_t paths_count, paths_cap;
    uint32_t files_count;
    weir_status status; /* sticky */
};

const char *wr_import_file_state_text(enum wr_import_file_state state)
{
    static const char *const texts[WR_IMPORT_FILE_STATES] = WR_NAMES_OF(WR_IMPORT_FILE_MAP);
    return texts[state];
}

/* ---- one file ---- */

static weir_status read_descriptor(int fd, struct wr_buf *bytes, struct weir_err *err)
{
    ssize_t got;
    do {
        wr_buf_reserve(bytes, READ_BYTES);
        if (bytes->status)
            return wr_fail(err, bytes->status, bytes->len, "a log has at most %d bytes",
                           (int)WR_IMPORT_FILE_BYTES_MAX);
        got = read(fd, bytes->bytes + bytes->len, READ_BYTES);
        if (got > 0)
            bytes->len += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    return got < 0 ? wr_fail(err, WEIR_IO, 0, "%s", strerror(errno)) : WEIR_OK;
}

weir_status wr_import_file_read(struct wr_import *import, struct wr_arena *arena, const char *path,
                                struct weir_err *err)
{
    struct wr_buf bytes;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *import = (struct wr_import){0};
    if (fd < 0)
        return wr_fail(err, WEIR_IO, 0, "%s", strerror(errno));
    wr_buf_init(&bytes, WR_IMPORT_FILE_BYTES_MAX + READ_BYTES);
    weir_status status = read_descriptor(fd, &bytes, err);
    (void)close(fd);
    if (!status)
        status = wr_import_read(import, arena, wr_buf_view(&bytes), err);
    wr_buf_release(&bytes);
    return status;
}

/* ---- folders ---- */

static void report(struct walk *w, const char *path, enum wr_import_file_state state)
{
    w->files_count++;
    if (!w->status)
        w->status = w->on_file(w->user, path, state);
}

/* Remembers a path, `folder`/`name` or `folder` alone where `name` is NULL. */
static void push(struct walk *w, const char *folder, const char *name, uint32_t depth)
{
    size_t bytes = strlen(folder) + (name ? strlen(name) + 1 : 0) + 1;
    if (w->paths_count == WR_IMPORT_FILES_MAX) {
        w->status = WEIR_LIMIT;
        return;
    }
    if (!WR_HEAP_ROOM(w->paths, w->paths_count, w->paths_cap, 64)) {
        w->status = WEIR_NOMEM;
        return;
    }
    char *text = malloc(bytes);
    if (!text) {
        w->status = WEIR_NOMEM;
        return;
    }
    (void)snprintf(text, bytes, "%s%s%s", folder, name ? "/" : "", name ? name : "");
    w->paths[w->paths_count++] = (struct path){text, depth};
}

static int by_name_backwards(const void *a, const void *b)
{
    return strcmp(((const struct path *)b)->text, ((const struct path *)a)->text);
}

/* Puts what a folder holds on the stack, the first name on top. */
static void open_folder(struct walk *w, const char *path, uint32_t depth)
{
    uint32_t first = w->paths_count;
    struct dirent *entry;
    DIR *folder = opendir(path);
    if (!folder) {
        report(w, path, WR_IMPORT_FILE_UNREADABLE);
        return;
    }
    while (!w->status && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            push(w, path, entry->d_name, depth + 1);
    (void)closedir(folder);
    if (w->paths_count > first)
        qsort(w->paths + first, w->paths_count - first, sizeof(w->paths[0]), by_name_backwards);
}

static void visit(struct walk *w, const struct path *path)
{
    struct stat about;
    bool is_named = !path->depth;
    int failed = is_named ? stat(path->text, &about) : lstat(path->text, &about);
    if (failed)
        report(w, path->text, WR_IMPORT_FILE_UNREADABLE);
    else if (path->depth > WR_IMPORT_DEPTH_MAX || strlen(path->text) > WR_IMPORT_PATH_BYTES_MAX)
        report(w, path->text, WR_IMPORT_FILE_TOO_DEEP);
    else if (S_ISDIR(about.st_mode))
        open_folder(w, path->text, path->depth);
    else if (S_ISLNK(about.st_mode))
        report(w, path->text, WR_IMPORT_FILE_LINK);
    else if (!S_ISREG(about.st_mode) && !is_named)
        report(w, path->text, WR_IMPORT_FILE_SPECIAL);
    else if (about.st_size > WR_IMPORT_FILE_BYTES_MAX)
        report(w, path->text, WR_IMPORT_FILE_TOO_LARGE);
    else
        report(w, path->text, WR_IMPORT_FILE_FOUND);
}

weir_status wr_import_list(const char *path, wr_import_file_fn *on_file, void *user,
                           struct weir_err *err)
{
    struct walk w = {.on_file = on_file, .user = user};
    struct stat about;

    if (stat(path, &about))
        return wr_fail(err, errno == ENOENT ? WEIR_NOTFOUND : WEIR_IO, 0, "%s", strerror(errno));
    push(&w, path, NULL, 0);
    while (w.paths_count) {
        struct path next = w.paths[--w.paths_count];
        if (!w.status && w.files_count > WR_IMPORT_FILES_MAX)
            w.status = WEIR_LIMIT;
        if (!w.status)
            visit(&w, &next);
        free(next.text);
    }
    free(w.paths);
    return w.status ? wr_fail(err, w.status, 0, "%s", weir_status_text(w.status)) : WEIR_OK;
}
