/* The folder of one run: made, filled, and taken away again with all that is in it.
 *
 * A lock on owner.lock inside says that the run is alive. The same file lists the names that Weir
 * has put into the folder. There are two ways of taking a folder away:
 *
 *   the run ends            everything in it goes, also what the agent wrote there
 *   a run that was killed   only what owner.lock lists goes; a folder that holds more stays
 *
 * The second is careful because it acts on folders that some other process made, in a place where
 * anybody may write. Both open each folder first and work below its descriptor, never by path, so
 * that a link that is put there meanwhile leads nowhere.
 */
#include "launch/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"

#define FRONT     "weir-run-"
#define LOCK_NAME "owner.lock" /* a line for each file of ours beside it */

enum { NAME_BYTES_MAX = 80, LIST_BYTES_MAX = 4096 };

const char *wr_run_dir_parent(void)
{
    const char *parent = getenv("TMPDIR");
    return parent && parent[0] == '/' ? parent : "/tmp";
}

/* ---- one run's ---- */

bool wr_run_dir_make(struct wr_run_dir *dir, const char *parent)
{
    char path[WR_RUN_DIR_BYTES + NAME_BYTES_MAX];
    int bytes = snprintf(dir->path, sizeof(dir->path), "%s/" FRONT "XXXXXX", parent);

    dir->lock = -1;
    if (bytes < 0 || (size_t)bytes >= sizeof(dir->path) || !mkdtemp(dir->path)) {
        dir->path[0] = '\0';
        return false;
    }
    (void)snprintf(path, sizeof(path), "%s/" LOCK_NAME, dir->path);
    dir->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (dir->lock >= 0 && !flock(dir->lock, LOCK_EX | LOCK_NB))
        return true;
    wr_run_dir_remove(dir);
    return false;
}

bool wr_run_dir_expect(struct wr_run_dir *dir, const char *name)
{
    char line[NAME_BYTES_MAX + 2];
    int bytes = snprintf(line, sizeof(line), "%s\n", name);

    return bytes > 1 && (size_t)bytes < sizeof(line) && !strchr(name, '/') &&
           write(dir->lock, line, (size_t)bytes) == bytes;
}

bool wr_run_dir_write(struct wr_run_dir *dir, const char *name, weir_span text)
{
    char path[WR_RUN_DIR_BYTES + NAME_BYTES_MAX];

    if (!wr_run_dir_expect(dir, name))
        return false;
    (void)snprintf(path, sizeof(path), "%s/%s", dir->path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len;
    if (fd >= 0 && close(fd))
        ok = false;
    return ok;
}

void wr_run_dir_share(const struct wr_run_dir *dir)
{
    (void)fcntl(dir->lock, F_SETFD, 0);
}

/* ---- taking away ---- */

/* Everything is done below the folder that was looked at, whatever its name means by now. */
static bool remove_listed(int folder, int lock)
{
    char list[LIST_BYTES_MAX];
    ssize_t bytes = pread(lock, list, sizeof(list), 0);
    weir_span rest = {list, bytes > 0 ? (size_t)bytes : 0}, line;

    while (wr_span_line(&rest, &line)) {
        char name[NAME_BYTES_MAX + 1];
        if (!line.len || line.len > NAME_BYTES_MAX || memchr(line.ptr, '/', line.len))
            continue;
        (void)snprintf(name, sizeof(name), "%.*s", (int)line.len, line.ptr);
        (void)unlinkat(folder, name, 0);
    }
    return !unlinkat(folder, LOCK_NAME, 0);
}

/* A folder that is being emptied. */
struct level {
    DIR *dir;
    size_t stuck_count; /* folders in it that cannot be emptied */
};

/* Removes what is in it, except folders that are not empty: `name` gets the first of those that has
 * not been tried, "" if there is none. True: nothing is left. */
static bool empty_level(const struct level *level, char name[NAME_MAX + 1])
{
    const struct dirent *entry;
    size_t full_count = 0, left_count = 0;
    int at = dirfd(level->dir);

    name[0] = '\0';
    rewinddir(level->dir);
    while ((entry = readdir(level->dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            !unlinkat(at, entry->d_name, 0) || !unlinkat(at, entry->d_name, AT_REMOVEDIR))
            continue;
        left_count++;
        if ((errno == ENOTEMPTY || errno == EEXIST) && full_count++ == level->stuck_count)
            (void)snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
    }
    return !left_count;
}

/* Opens a folder below `at`: no link, and on the same file system, for whatever else is mounted
 * there is not the run's. */
static DIR *open_below(DIR *at, const char *name)
{
    int fd = openat(dirfd(at), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat here, there;
    bool ok =
        fd >= 0 && !fstat(dirfd(at), &here) && !fstat(fd, &there) && here.st_dev == there.st_dev;
    DIR *below = ok ? fdopendir(fd) : NULL;

    if (below)
        (void)fchmod(fd,
                     S_IRWXU); /* nothing can be removed from a folder without the right to write */
    if (!below && fd >= 0)
        (void)close(fd);
    return below;
}

/* What an agent has put into its run's folder leaves with it, as deep as it goes up to a limit.
 * Every name is taken below a folder that is held open, so that no link leads out of it. */
static void empty_tree(int folder)
{
    struct level levels[WR_LAUNCH_RUN_DEPTH_MAX] = {{.dir = NULL}};
    int fd = dup(folder);
    size_t deep = 0, tries = 0;
    char name[NAME_MAX + 1];

    levels[0].dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!levels[0].dir && fd >= 0)
        (void)close(fd);
    for (deep = levels[0].dir ? 1 : 0; deep && tries < WR_LAUNCH_RUN_FOLDERS_MAX; tries++) {
        struct level *level = &levels[deep - 1];
        bool is_empty = empty_level(level, name);
        DIR *below =
            name[0] && deep < WR_LAUNCH_RUN_DEPTH_MAX ? open_below(level->dir, name) : NULL;
        if (below) {
            levels[deep++] = (struct level){.dir = below};
        } else if (name[0]) {
            level->stuck_count++;
        } else {
            (void)closedir(level->dir);
            if (--deep)
                levels[deep - 1].stuck_count += !is_empty;
        }
    }
    while (deep)
        (void)closedir(levels[--deep].dir);
}

void wr_run_dir_remove(struct wr_run_dir *dir)
{
    int folder =
        dir->path[0] ? open(dir->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

    if (folder >= 0) {
        empty_tree(folder);
        (void)close(folder);
        (void)rmdir(dir->path);
    }
    if (dir->lock >= 0)
        (void)close(dir->lock);
    dir->lock = -1;
    dir->path[0] = '\0';
}

/* A folder of this user's, that nobody else can have put things into. */
static bool is_own_folder(int folder)
{
    struct stat status;
    return !fstat(folder, &status) && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IRWXG | S_IRWXO));
}

/* The lock is free only when the run and its agent are dead. A folder without that file is just
 * being made, or is not ours. */
static bool is_stale(int parent, const char *name, bool removes)
{
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int lock = folder >= 0 && is_own_folder(folder)
                   ? openat(folder, LOCK_NAME, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
                   : -1;
    bool stale = lock >= 0 && !flock(lock, LOCK_EX | LOCK_NB);

    if (stale && removes && remove_listed(folder, lock))
        (void)unlinkat(parent, name, AT_REMOVEDIR);
    if (lock >= 0)
        (void)close(lock);
    if (folder >= 0)
        (void)close(folder);
    return stale;
}

unsigned wr_run_dirs_stale(const char *parent, bool removes)
{
    DIR *list = opendir(parent);
    const struct dirent *entry;
    unsigned count = 0, seen = 0;

    while (list && (entry = readdir(list)) && seen < WR_LAUNCH_RUN_DIRS_MAX) {
        if (strncmp(entry->d_name, FRONT, strlen(FRONT)) != 0)
            continue;
        seen++;
        count += is_stale(dirfd(list), entry->d_name, removes);
    }
    if (list)
        (void)closedir(list);
    return count;
}
