#include "hook/presence.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "base/words.h"
#include "session/disk.h"

enum { TRIES_MAX = 8, FILE_MODE = 0600 };

static const char folder[] = "mcp";

/* ---- who started us ---- */

/* The agent: the first process above us that is no shell. 0: there is none. Where the system does
 * not tell, it is the one right above us. */
static long find_agent(void)
{
    struct wr_os_process process;
    long pid = getppid();

    for (int i = 0; i < WR_HOOK_PARENTS_MAX && pid > 1; i++) {
        if (!wr_os_process_find(pid, &process) ||
            !wr_is_any_of(wr_span_of(process.name),
                          "sh|bash|dash|zsh|ksh|fish|ash|busybox|env|timeout"))
            return pid;
        pid = process.parent;
    }
    return 0;
}

/* ---- the sign ---- */

static bool name_sign(const char *store, long agent, char path[WR_PRESENCE_PATH_BYTES])
{
    int bytes = snprintf(path, WR_PRESENCE_PATH_BYTES, "%s/%s/%ld", store, folder, agent);
    return agent && bytes > 0 && bytes < WR_PRESENCE_PATH_BYTES;
}

/* A lock on a file that somebody has taken away meanwhile is no sign. The lock is waited for: a
 * hook that looks holds it for a moment. */
static int lock_sign(const char *path)
{
    struct stat status;

    for (int i = 0; i < TRIES_MAX; i++) {
        int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
        if (fd < 0)
            return -1;
        if (!flock(fd, LOCK_SH) && !fstat(fd, &status) && status.st_nlink)
            return fd;
        (void)close(fd);
    }
    return -1;
}

/* Takes away those that nobody holds. */
static void sweep_signs(const char *path)
{
    struct dirent *entry;
    DIR *dir = opendir(path);

    while (dir && (entry = readdir(dir))) {
        int fd = entry->d_name[0] == '.' ? -1
                                         : openat(dirfd(dir), entry->d_name,
                                                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        if (fd >= 0)
            (void)close(fd);
    }
    if (dir)
        (void)closedir(dir);
}

void wr_presence_leave(struct wr_presence *presence, const char *store)
{
    char path[WR_PRESENCE_PATH_BYTES];

    presence->fd = -1;
    if (!name_sign(store, find_agent(), presence->path))
        return;
    (void)snprintf(path, sizeof(path), "%.*s", (int)(strrchr(presence->path, '/') - presence->path),
                   presence->path);
    if (wr_disk_make_dir(path, NULL))
        return;
    sweep_signs(path);
    presence->fd = lock_sign(presence->path);
}

void wr_presence_take_back(struct wr_presence *presence)
{
    if (presence->fd < 0)
        return;
    if (!flock(presence->fd, LOCK_EX | LOCK_NB)) /* else another of this agent's lives */
        (void)unlink(presence->path);
    (void)close(presence->fd);
    presence->fd = -1;
}

bool wr_presence_find(const char *store)
{
    char path[WR_PRESENCE_PATH_BYTES];

    if (!name_sign(store, find_agent(), path))
        return false;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_held = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    (void)close(fd);
    return is_held;
}
