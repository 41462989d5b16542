/* log_files.h -- the files below the paths that a user named, for commands that read logs.
 *
 * What is wrong with them is said on stderr, of the first few or of all, and kept for a report. Not
 * for several threads at once.
 */
#ifndef WR_CLI_LOG_FILES_H
#define WR_CLI_LOG_FILES_H

#include "cli/cmd.h"
#include "lab/import.h"

struct wr_log_files {
    bool shows_all; /* every file with a trouble is named, not only the first few */
    bool is_quiet;  /* they are read once more: all was said */
    char **items;   /* owned */
    size_t count, cap;
    size_t left_out_count, partial_count;
    struct wr_import_troubles troubles;
};

/* Lists every file at or below the paths. False: said on stderr (nothing there, no files). To be
 * freed in any case. */
bool wr_log_files_list(struct wr_log_files *files, const struct wr_words *paths);
void wr_log_files_free(struct wr_log_files *files);

/* A file was left out: says so, with what its notes add. `import` may be NULL. */
void wr_log_files_left_out(struct wr_log_files *files, const char *path, const char *why,
                           const struct wr_import *import);

/* A file was read: says what of it could not be used, if anything. */
void wr_log_files_were_read(struct wr_log_files *files, const char *path,
                            const struct wr_import *import);

/* How many more there were than were named, and how to see them. Behind the last file. */
void wr_log_files_end(const struct wr_log_files *files);

/* One line on stderr of agents that are used here and keep their sessions where they cannot be
 * read: opencode, in a database of its own. */
void wr_log_files_tell_elsewhere(void);

#endif
