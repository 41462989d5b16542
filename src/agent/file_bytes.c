#include "agent/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/span.h"

static const char *take(int fd, struct wr_buf *into)
{
    char chunk[64 * 1024];
    ssize_t bytes;

    while ((bytes = read(fd, chunk, sizeof(chunk))) > 0 && !wr_buf_status(into))
        wr_buf_append(into, (weir_span){chunk, (size_t)bytes});
    if (bytes < 0)
        return strerror(errno);
    return wr_buf_status(into) ? "the file is too long to be read whole" : NULL;
}

const char *wr_file_read(const char *path, struct wr_buf *into)
{
    /* A pipe without a writer must not hold us up. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    const char *why;

    if (fd < 0)
        return strerror(errno);
    if (fstat(fd, &info))
        why = strerror(errno);
    else if (S_ISDIR(info.st_mode))
        why = "is a directory";
    else
        why = S_ISREG(info.st_mode) ? take(fd, into) : "is no regular file";
    (void)close(fd);
    return why;
}

static const char *put(int fd, weir_span content)
{
    while (content.len) {
        ssize_t bytes = write(fd, content.ptr, content.len);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0)
            return strerror(errno);
        content = wr_span_cut(content, (size_t)bytes, content.len);
    }
    return NULL;
}

const char *wr_file_replace(const char *path, weir_span content)
{
    char target[PATH_MAX], temporary[PATH_MAX + 16];
    struct stat info;
    mode_t mask = umask(0);
    mode_t mode = 0666 & ~mask;

    (void)umask(mask);
    if (!realpath(path, target))
        (void)snprintf(target, sizeof(target), "%s", path);
    else if (!stat(target, &info))
        mode = info.st_mode & 07777;
    (void)snprintf(temporary, sizeof(temporary), "%s.weir-XXXXXX", target);
    int fd = mkstemp(temporary);
    if (fd < 0)
        return strerror(errno);
    const char *why = put(fd, content);
    if (!why && (fchmod(fd, mode) || fsync(fd)))
        why = strerror(errno);
    if (close(fd) && !why)
        why = strerror(errno);
    if (!why && rename(temporary, target))
        why = strerror(errno);
    if (why)
        (void)unlink(temporary);
    return why;
}
