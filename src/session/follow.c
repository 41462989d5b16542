/* Follows a journal that another process writes.
 *
 * Who has a session open is asked of the system and not written into a file: a file would be wrong
 * after kill -9, and whoever opens a session for each call (the sidecar) would pay for it each
 * time. /proc/locks has inode and process of every lock; the numbers of devices there are not those
 * that stat() gives on every file system, so the process's own open files decide. */
#include "session/follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/span.h"
#include "session/disk.h"
#include "store/os_error.h"

enum { PIECE_BYTES = 64 * 1024, LOCK_LINE_BYTES_MAX = 256 };

/* ---- who has it ---- */

static bool has_open(pid_t pid, const struct stat *file)
{
    char path[64];
    const struct dirent *entry;
    struct stat found;
    bool has_it = false;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    while (folder && !has_it && (entry = readdir(folder)))
        has_it = !fstatat(dirfd(folder), entry->d_name, &found, 0) &&
                 found.st_ino == file->st_ino && found.st_dev == file->st_dev;
    if (folder)
        (void)closedir(folder);
    return has_it;
}

/* "1: FLOCK  ADVISORY  WRITE 1234 08:02:131 0 EOF". 0: this is not its lock, or one that waits ("1:
 * -> FLOCK"); -1: it is, and the process cannot be named. */
static pid_t owner_in_line(weir_span line, uint64_t inode)
{
    weir_span word = {"", 0}, pid_word = {"", 0};
    uint64_t pid = 0, number = 0;

    for (int i = 0; i < 6; i++) {
        pid_word = word;
        size_t from = 0, to;
        while (from < line.len && line.ptr[from] == ' ')
            from++;
        for (to = from; to < line.len && line.ptr[to] != ' ';)
            to++;
        word = wr_span_cut(line, from, to);
        line = wr_span_from(line, to);
        if (i == 1 && !wr_span_is(word, "FLOCK"))
            return 0;
    }
    size_t colon = word.len;
    while (colon && word.ptr[colon - 1] != ':')
        colon--;
    if (!wr_span_u64(wr_span_from(word, colon), &number) || number != inode)
        return 0;
    return wr_span_u64(pid_word, &pid) && pid ? (pid_t)pid : -1;
}

enum holder { HOLDER_NONE, HOLDER_SOME, HOLDER_NOT_TOLD };

/* `pid` is 0 where the process is another user's or another container's. */
static enum holder find_holder(int fd, pid_t *pid)
{
    FILE *locks = fopen("/proc/locks", "re");
    char text[LOCK_LINE_BYTES_MAX];
    struct stat file;
    enum holder holder = locks ? HOLDER_NONE : HOLDER_NOT_TOLD;

    *pid = 0;
    while (locks && !*pid && !fstat(fd, &file) && fgets(text, sizeof(text), locks)) {
        pid_t owner = owner_in_line(wr_span_trim(wr_span_of(text)), (uint64_t)file.st_ino);
        if (owner)
            holder = HOLDER_SOME;
        if (owner > 0 && has_open(owner, &file))
            *pid = owner;
    }
    if (locks)
        (void)fclose(locks);
    return holder;
}

pid_t wr_journal_owner(int fd)
{
    pid_t pid;

    (void)find_holder(fd, &pid);
    return pid;
}

bool wr_journal_is_held(const char *dir, pid_t *pid)
{
    char path[WR_SESSION_PATH_BYTES_MAX];

    *pid = 0;
    if (wr_disk_join(path, dir, WR_JOURNAL_FILE, NULL))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    enum holder holder = find_holder(fd, pid);
    /* Trying the lock is the last way: a writer that comes just then would find it taken. */
    if (holder == HOLDER_NOT_TOLD && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
        holder = HOLDER_SOME;
    (void)close(fd);
    return holder == HOLDER_SOME;
}

/* ---- following ---- */

static weir_status fail_refused(const struct wr_follow *follow, struct weir_err *err)
{
    weir_trouble trouble;
    return wr_os_error(follow->path, &trouble, err);
}

weir_status wr_follow_open(struct wr_follow *follow, const char *dir, wr_journal_fn *fn, void *user,
                           struct weir_err *err)
{
    weir_status status = wr_disk_join(follow->path, dir, WR_JOURNAL_FILE, err);

    if (status)
        return status;
    follow->fd = open(follow->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (follow->fd < 0 && errno == ENOENT)
        return wr_fail(err, WEIR_NOTFOUND, 0, "%.160s: there is no such session", follow->path);
    if (follow->fd < 0)
        return fail_refused(follow, err);
    wr_journal_scan_init(&follow->scan, fn, user);
    return WEIR_OK;
}

/* A journal is only ever added to: what was read is still there. */
static weir_status check_length(const struct wr_follow *follow, struct weir_err *err)
{
    struct stat file;

    if (fstat(follow->fd, &file) || (uint64_t)file.st_size >= follow->scan.byte)
        return WEIR_OK;
    return wr_fail(err, WEIR_SYNTAX, (size_t)file.st_size,
                   "%.160s: it is shorter than what was read of it before", follow->path);
}

/* Reads from where the last whole line ended. */
weir_status wr_follow_read(struct wr_follow *follow, struct weir_err *err)
{
    uint64_t at = follow->scan.byte;
    char piece[PIECE_BYTES];

    wr_buf_reset(&follow->scan.rest);
    for (;;) {
        ssize_t got = pread(follow->fd, piece, sizeof(piece), (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_refused(follow, err);
        if (got == 0)
            return check_length(follow, err);
        weir_status status =
            wr_journal_scan_feed(&follow->scan, (weir_span){piece, (size_t)got}, err);
        if (status)
            return status;
        at += (uint64_t)got;
    }
}

void wr_follow_close(struct wr_follow *follow)
{
    (void)close(follow->fd);
    wr_journal_scan_release(&follow->scan);
}
