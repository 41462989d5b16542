#include "cli/log_files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "lab/import_walk.h"

enum { NAMED_MAX = 5, FIRST_COUNT = 64 };

static weir_status add_file(void *user, const char *name, enum wr_import_file_state state)
{
    struct wr_log_files *files = user;
    if (state != WR_IMPORT_FILE_FOUND) {
        wr_log_files_left_out(files, name, wr_import_file_state_text(state), NULL);
        return WEIR_OK;
    }
    if (!WR_HEAP_ROOM(files->items, files->count, files->cap, FIRST_COUNT))
        return WEIR_NOMEM;
    char *path = strdup(name);
    if (!path)
        return WEIR_NOMEM;
    files->items[files->count++] = path;
    return WEIR_OK;
}

bool wr_log_files_list(struct wr_log_files *files, const struct wr_words *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct weir_err err = {0};
        weir_status status = wr_import_list(paths->items[i], add_file, files, &err);
        if (status) {
            wr_cli_fail("%s: %s", paths->items[i],
                        status == WEIR_NOTFOUND
                            ? "there is nothing there; name a log, or a folder of logs"
                        : err.text[0] ? err.text
                                      : weir_status_text(status));
            return false;
        }
    }
    if (!files->count)
        wr_cli_fail("no files to read");
    return files->count > 0;
}

void wr_log_files_free(struct wr_log_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i]);
    free(files->items);
    wr_import_troubles_free(&files->troubles);
}

static void keep_reason(struct wr_log_files *files, const char *path, struct wr_buf *why,
                        bool is_left_out, const struct wr_import *import)
{
    size_t *count = is_left_out ? &files->left_out_count : &files->partial_count;
    wr_buf_byte(why, 0);
    if (why->status) {
        files->troubles.status = why->status;
        return;
    }
    wr_import_troubles_add(&files->troubles, path, why->bytes, is_left_out, import);
    if ((*count)++ < NAMED_MAX || files->shows_all)
        wr_cli_fail("%s: %s%s", path, is_left_out ? "skipped: " : "read, but for ", why->bytes);
}

void wr_log_files_left_out(struct wr_log_files *files, const char *path, const char *why,
                           const struct wr_import *import)
{
    struct wr_buf text;
    if (files->is_quiet)
        return;
    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&text, why);
    if (import && wr_import_is_troubled(import)) {
        wr_buf_text(&text, "; ");
        wr_import_trouble_text(import, &text);
    }
    keep_reason(files, path, &text, true, import);
    wr_buf_release(&text);
}

void wr_log_files_were_read(struct wr_log_files *files, const char *path,
                            const struct wr_import *import)
{
    struct wr_buf text;
    if (files->is_quiet || !wr_import_is_troubled(import))
        return;
    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    wr_import_trouble_text(import, &text);
    keep_reason(files, path, &text, false, import);
    wr_buf_release(&text);
}

static void say_more(const struct wr_log_files *files, size_t count, const char *what)
{
    if (count > NAMED_MAX && !files->shows_all)
        wr_cli_fail("%zu more files %s; --skipped names them all", count - NAMED_MAX, what);
}

void wr_log_files_end(const struct wr_log_files *files)
{
    say_more(files, files->left_out_count, "were skipped");
    say_more(files, files->partial_count, "were read in part");
}

void wr_log_files_tell_elsewhere(void)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    bool is_own = data && *data;
    char path[PATH_MAX];

    if (!is_own && !(home && *home))
        return;
    (void)snprintf(path, sizeof(path), "%s%s/opencode", is_own ? data : home,
                   is_own ? "" : "/.local/share");
    if (!access(path, R_OK))
        wr_cli_fail("opencode's own sessions are read from what it exports: "
                    "`opencode export SESSION >FILE`, then `weir simulate FILE`");
}
