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
#include "base/span.h"
#include "base/words.h"
#include "session/disk.h"

enum { STAT_BYTES = 1024, TRIES_MAX = 8, FILE_MODE = 0600 };

static const char folder[] = "mcp";

/* ---- who started us ---- */

/* The name of a process and its parent, of /proc/PID/stat: "7 (a name) S 3 ...". The name may hold
 * anything, so the last ')' ends it. False: it is not told. */
static bool read_process(long pid, char name[STAT_BYTES], long *parent)
{
    char path[64], text[STAT_BYTES];

    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        (void)close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    const char *start = strchr(text, '('), *end = strrchr(text, ')');
    if (!start || !end || end < start || strlen(end) < strlen(") S 1"))
        return false;
    (void)snprintf(name, STAT_BYTES, "%.*s", (int)(end - start - 1), start + 1);
    *parent = strtol(end + strlen(") S "), NULL, 10);
    return true;
}

/* The agent: the first process above us that is no shell. 0: there is none. Where the system does
 * not tell, it is the one right above us. */
static long find_agent(void)
{
    char name[STAT_BYTES];
    long pid = getppid(), parent = 0;

    for (int i = 0; i < WR_HOOK_PARENTS_MAX && pid > 1; i++) {
        if (!read_process(pid, name, &parent) ||
            !wr_is_any_of(wr_span_of(name), "sh|bash|dash|zsh|ksh|fish|ash|busybox|env|timeout"))
            return pid;
        pid = parent;
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
