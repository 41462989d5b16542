/* Files of a session: read whole, appended to, replaced.
 *
 * A file is replaced through a draft beside it that is written, synced and renamed, so that a
 * reader and a killed process find the old file or the new one. An append that fails half way is
 * taken back by cutting the file to where it ended before. Files are for their owner alone. */
#include "session/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "store/store.h"

enum { DIR_MODE = 0700, FILE_MODE = 0600, PIECE_BYTES = 64 * 1024 };

static weir_status fail_refused(const char *path, struct weir_err *err)
{
    weir_trouble trouble;
    char what[WEIR_ERR_TEXT_BYTES];

    if (errno == ENOENT)
        return wr_fail(err, WEIR_NOTFOUND, 0, "%s: there is no such file", path);
    (void)snprintf(what, sizeof(what), "%.160s", path);
    return wr_os_error(what, &trouble, err);
}

weir_status wr_disk_join(char *path, const char *dir, const char *name, struct weir_err *err)
{
    int len = snprintf(path, WR_SESSION_PATH_BYTES_MAX, "%s/%s", dir, name);
    if (len > 0 && len < WR_SESSION_PATH_BYTES_MAX)
        return WEIR_OK;
    return wr_fail(err, WEIR_LIMIT, 0, "%.80s...: a path has at most %d bytes", dir,
                   WR_SESSION_PATH_BYTES_MAX - 1);
}

weir_status wr_disk_make_dir(const char *path, struct weir_err *err)
{
    char part[WR_SESSION_PATH_BYTES_MAX];
    struct stat found;
    size_t len = strlen(path);

    if (len >= sizeof(part))
        return wr_fail(err, WEIR_LIMIT, 0, "%.80s...: the path is too long", path);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, DIR_MODE) && errno != EEXIST && stat(part, &found))
            return fail_refused(part, err);
    }
    if (stat(path, &found) || !S_ISDIR(found.st_mode))
        return wr_fail(err, WEIR_IO, 0, "%.160s is not a directory", path);
    return WEIR_OK;
}

weir_status wr_disk_read_from(const char *path, uint64_t byte, struct wr_buf *into,
                              struct weir_err *err)
{
    char piece[PIECE_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    weir_status status = WEIR_OK;

    if (fd < 0)
        return fail_refused(path, err);
    if (byte && lseek(fd, (off_t)byte, SEEK_SET) < 0)
        status = fail_refused(path, err);
    while (!status) {
        ssize_t got = read(fd, piece, sizeof(piece));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = fail_refused(path, err);
        if (got <= 0)
            break;
        wr_buf_append(into, (weir_span){piece, (size_t)got});
        if (wr_buf_status(into))
            break;
    }
    (void)close(fd);
    if (!status && wr_buf_status(into))
        status = wr_fail(err, wr_buf_status(into), 0, "%.160s: larger than %zu bytes", path,
                         into->cap_max);
    return status;
}

weir_status wr_disk_read(const char *path, struct wr_buf *into, struct weir_err *err)
{
    return wr_disk_read_from(path, 0, into, err);
}

weir_status wr_disk_append(int fd, uint64_t *end, weir_span bytes, const char *path,
                           struct weir_err *err)
{
    if (wr_os_write_all(fd, bytes)) {
        *end += bytes.len;
        return WEIR_OK;
    }
    weir_status status = fail_refused(path, err);
    /* Half a line would be taken for a writer that was killed, and be put aside at the next open:
     * it may stay where even this fails. */
    if (ftruncate(fd, (off_t)*end))
        return status;
    return status;
}

enum { DRAFT_PATH_BYTES_MAX = WR_SESSION_PATH_BYTES_MAX + 8 };

static void name_draft(const struct wr_draft *draft, char name[DRAFT_PATH_BYTES_MAX])
{
    (void)snprintf(name, DRAFT_PATH_BYTES_MAX, "%s.new", draft->path);
}

weir_status wr_draft_open(struct wr_draft *draft, const char *path, struct weir_err *err)
{
    char name[DRAFT_PATH_BYTES_MAX];
    int len = snprintf(draft->path, sizeof(draft->path), "%s", path);

    draft->fd = -1;
    draft->begin_bytes = draft->end_bytes = 0;
    draft->is_in_place = false;
    if (len < 0 || (size_t)len >= sizeof(draft->path))
        return wr_fail(err, WEIR_LIMIT, 0, "%.80s...: the path is too long", path);
    name_draft(draft, name);
    draft->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    return draft->fd < 0 ? fail_refused(name, err) : WEIR_OK;
}

weir_status wr_draft_extend(struct wr_draft *draft, const char *path, uint64_t bytes,
                            struct weir_err *err)
{
    struct stat info;
    int len = snprintf(draft->path, sizeof(draft->path), "%s", path);

    draft->fd = -1;
    draft->begin_bytes = draft->end_bytes = bytes;
    draft->is_in_place = true;
    if (len < 0 || (size_t)len >= sizeof(draft->path))
        return wr_fail(err, WEIR_LIMIT, 0, "%.80s...: the path is too long", path);
    draft->fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    if (draft->fd < 0)
        return fail_refused(path, err);
    if (!fstat(draft->fd, &info) && S_ISREG(info.st_mode) && (uint64_t)info.st_size == bytes)
        return WEIR_OK;
    (void)close(draft->fd);
    draft->fd = -1;
    return wr_fail(err, WEIR_NOTFOUND, 0, "%.160s: it is another file", path);
}

weir_status wr_disk_draft_append(struct wr_draft *draft, weir_span bytes, struct weir_err *err)
{
    return wr_disk_append(draft->fd, &draft->end_bytes, bytes, draft->path, err);
}

weir_status wr_disk_draft_take(struct wr_draft *draft, struct weir_err *err)
{
    char name[DRAFT_PATH_BYTES_MAX];
    weir_status status = WEIR_OK;

    name_draft(draft, name);
    if (wr_os_sync(draft->fd))
        status = fail_refused(draft->path, err);
    if (close(draft->fd) && !status)
        status = fail_refused(draft->path, err);
    draft->fd = -1;
    if (draft->is_in_place)
        return status;
    if (!status && rename(name, draft->path))
        status = fail_refused(draft->path, err);
    if (status)
        (void)unlink(name);
    return status;
}

void wr_disk_draft_drop(struct wr_draft *draft)
{
    char name[DRAFT_PATH_BYTES_MAX];

    if (draft->fd < 0)
        return;
    if (draft->is_in_place) /* where this fails it is too long, and nobody appends to it again */
        (void)!ftruncate(draft->fd, (off_t)draft->begin_bytes);
    (void)close(draft->fd);
    draft->fd = -1;
    name_draft(draft, name);
    if (!draft->is_in_place)
        (void)unlink(name);
}

weir_status wr_disk_replace(const char *path, weir_span bytes, struct weir_err *err)
{
    struct wr_draft draft;
    weir_status status = wr_draft_open(&draft, path, err);

    if (status)
        return status;
    status = wr_disk_draft_append(&draft, bytes, err);
    if (!status)
        return wr_disk_draft_take(&draft, err);
    wr_disk_draft_drop(&draft);
    return status;
}

bool wr_disk_name_is_good(weir_span name)
{
    if (!name.len || name.len > WR_SESSION_NAME_BYTES_MAX || name.ptr[0] == '.')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!wr_is_word(c) && c != '-' && c != '.')
            return false;
    }
    return true;
}
