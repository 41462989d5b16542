#include "cli/log_files.h"

#include <stdlib.h>
#include <string.h>

#include "replay/import_walk.h"

enum { NAMED_MAX = 5, FIRST_COUNT = 64 };

static weir_status add_file(void *user, const struct wr_import_file *file)
{
    struct wr_log_files *files = user;
    if (file->state != WR_IMPORT_FILE_FOUND) {
        wr_log_files_left_out(files, file->path, wr_import_file_state_text(file->state));
        return WEIR_OK;
    }
    if (files->count == files->cap) {
        size_t cap = files->cap ? files->cap * 2 : FIRST_COUNT;
        char **grown = realloc(files->items, cap * sizeof(*grown));
        if (!grown)
            return WEIR_NOMEM;
        files->items = grown;
        files->cap = cap;
    }
    char *path = strdup(file->path);
    if (!path)
        return WEIR_NOMEM;
    files->items[files->count++] = path;
    return WEIR_OK;
}

bool wr_log_files_list(struct wr_log_files *files, const struct wr_opt_words *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct weir_err err = {0};
        weir_status status = wr_import_list(paths->items[i], add_file, files, &err);
        if (status) {
            wr_cli_fail(files->command, "%s: %s", paths->items[i],
                        status == WEIR_NOTFOUND ? "there is nothing there"
                        : err.text[0]           ? err.text
                                                : weir_status_text(status));
            return false;
        }
    }
    if (!files->count)
        wr_cli_fail(files->command, "no files to read");
    return files->count > 0;
}

void wr_log_files_free(struct wr_log_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i]);
    free(files->items);
}

void wr_log_files_left_out(struct wr_log_files *files, const char *path, const char *why)
{
    if (files->left_out_count++ < NAMED_MAX || files->shows_all)
        fprintf(stderr, "weir %s: %s: skipped: %s\n", files->command, path, why);
}

void wr_log_files_end(const struct wr_log_files *files)
{
    if (files->left_out_count > NAMED_MAX && !files->shows_all)
        fprintf(stderr, "weir %s: %zu more files were skipped; --skipped names them all\n",
                files->command, files->left_out_count - NAMED_MAX);
}
