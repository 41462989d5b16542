#include "proxy/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

enum { GATHERED_BYTES = 32 * 1024, GATHERED_BYTES_MAX = 1024 * 1024, PATH_BYTES_MAX = 4096 };

struct wr_log {
    char path[PATH_BYTES_MAX];
    int fd; /* -1: could not be opened again */
    uint64_t file_bytes;
    uint64_t lost_count, gathered_count;
    struct wr_buf gathered;
};

static bool open_file(struct wr_log *log)
{
    struct stat status;
    log->fd = open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log->fd < 0 || fstat(log->fd, &status))
        return false;
    log->file_bytes = (uint64_t)status.st_size;
    return true;
}

struct wr_log *wr_log_open(const char *path)
{
    struct wr_log *log = calloc(1, sizeof(*log));
    if (!log)
        return NULL;
    wr_buf_init(&log->gathered, GATHERED_BYTES_MAX);
    int bytes = snprintf(log->path, sizeof(log->path), "%s", path);
    if (bytes < 0 || (size_t)bytes + sizeof(".99") >= sizeof(log->path) || !open_file(log)) {
        free(log);
        return NULL;
    }
    return log;
}

static void name_numbered(const struct wr_log *log, int number, char name[PATH_BYTES_MAX + 16])
{
    if (number)
        (void)snprintf(name, PATH_BYTES_MAX + 16, "%s.%d", log->path, number);
    else
        (void)snprintf(name, PATH_BYTES_MAX + 16, "%s", log->path);
}

/* Several processes may write one log: whoever finds that the file has changed under it just opens
 * the new one. */
static void rotate_files(struct wr_log *log)
{
    char from[PATH_BYTES_MAX + 16], to[PATH_BYTES_MAX + 16];
    struct stat ours, there;
    bool is_ours = !fstat(log->fd, &ours) && !stat(log->path, &there) &&
                   ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;

    for (int i = WR_PROXY_LOG_FILES_MAX - 1; is_ours && i >= 0; i--) {
        name_numbered(log, i, from);
        name_numbered(log, i + 1, to);
        (void)rename(from, to);
    }
    (void)close(log->fd);
    (void)open_file(log);
}

void wr_log_flush(struct wr_log *log)
{
    size_t at = 0;

    if (log->fd < 0)
        (void)open_file(log);
    while (log->fd >= 0 && at < log->gathered.len) {
        ssize_t written = write(log->fd, log->gathered.bytes + at, log->gathered.len - at);
        if (written <= 0)
            break;
        at += (size_t)written;
    }
    log->file_bytes += at;
    if (at < log->gathered.len)
        log->lost_count += log->gathered_count;
    log->gathered_count = 0;
    wr_buf_reset(&log->gathered);
    if (log->fd >= 0 && log->file_bytes > WR_PROXY_LOG_BYTES_MAX)
        rotate_files(log);
}

void wr_log_add(struct wr_log *log, weir_span line)
{
    if (log->gathered.len + line.len > GATHERED_BYTES)
        wr_log_flush(log);
    wr_buf_append(&log->gathered, line);
    log->gathered_count++;
    if (!wr_buf_status(&log->gathered))
        return;
    log->lost_count += log->gathered_count;
    log->gathered_count = 0;
    wr_buf_release(&log->gathered);
    wr_buf_init(&log->gathered, GATHERED_BYTES_MAX);
}

uint64_t wr_log_take_lost(struct wr_log *log)
{
    uint64_t count = log->lost_count;

    log->lost_count = 0;
    return count;
}

void wr_log_close(struct wr_log *log)
{
    if (!log)
        return;
    wr_log_flush(log);
    if (log->fd >= 0)
        (void)close(log->fd);
    wr_buf_release(&log->gathered);
    free(log);
}
