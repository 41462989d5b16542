/* test_dir.h -- for tests: a directory of their own, removed with what is in it. */
#ifndef WR_TESTS_TEST_DIR_H
#define WR_TESTS_TEST_DIR_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WR_TEST_PATH_BYTES = 512 };

struct wr_test_dir {
    char path[WR_TEST_PATH_BYTES];
};

static inline struct wr_test_dir wr_test_dir_in(const char *parent)
{
    struct wr_test_dir dir;
    (void)snprintf(dir.path, sizeof(dir.path), "%s/weir-test-XXXXXX", parent);
    if (!mkdtemp(dir.path)) {
        perror("mkdtemp");
        exit(2);
    }
    return dir;
}

static inline struct wr_test_dir wr_test_dir_new(void)
{
    const char *parent = getenv("TMPDIR");
    return wr_test_dir_in(parent && *parent ? parent : "/tmp");
}

/* One in memory where the system has that: for what is killed, not cut off from its power. */
static inline struct wr_test_dir wr_test_dir_fast(void)
{
    return access("/dev/shm", W_OK) ? wr_test_dir_new() : wr_test_dir_in("/dev/shm");
}

/* Of the files in it; tests make no directories below. */
static inline void wr_test_dir_remove(const struct wr_test_dir *dir)
{
    DIR *listing = opendir(dir->path);
    struct dirent *entry;
    while (listing && (entry = readdir(listing)) != NULL) {
        char path[2 * WR_TEST_PATH_BYTES];
        (void)snprintf(path, sizeof(path), "%s/%s", dir->path, entry->d_name);
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            (void)unlink(path);
    }
    if (listing)
        (void)closedir(listing);
    (void)rmdir(dir->path);
}

#endif
