/* log_files.h -- the files below the paths that a user named, for commands that read logs. */
#ifndef WR_CLI_LOG_FILES_H
#define WR_CLI_LOG_FILES_H

#include "cli/cmd.h"

struct wr_log_files {
    const char *command; /* for what is said on stderr */
    bool shows_all;      /* every file that is left out is named, not only the first few */
    char **items;        /* owned */
    size_t count, cap;
    size_t left_out_count;
};

/* Lists every file at or below the paths. False: said on stderr (nothing there, no files). To be
 * freed in any case. */
bool wr_log_files_list(struct wr_log_files *files, const struct wr_opt_words *paths);
void wr_log_files_free(struct wr_log_files *files);

/* A file was left out: says so, of the first few or of all. Not for several threads at once. */
void wr_log_files_left_out(struct wr_log_files *files, const char *path, const char *why);

/* How many more were left out than were named, and how to see them. Behind the last file. */
void wr_log_files_end(const struct wr_log_files *files);

#endif
