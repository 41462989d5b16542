/* Originals as files, for an agent that reads files but has no recall tool (result_file.h).
 *
 * A file is written beside its name and renamed, so that it is there whole or not at all, also
 * after kill -9; it is a copy of what the store holds, so nothing is synced. Folder and file are
 * opened without following links, below a directory that the caller has chosen: an agent that can
 * write there must not make us write elsewhere. */
#include "store/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/os.h"
#include "store/store.h"
#include "weir/store_host.h"

enum { FOLDER_MODE = 0700, FILE_MODE = 0600, NAME_TRIES = 100, PIECE_BYTES = 16 * 1024 };

/* ---- names ---- */

bool wr_result_id_is_good(weir_span id)
{
    if (!id.len || id.len > WR_RESULT_ID_BYTES_MAX || !wr_is_word(id.ptr[0]))
        return false;
    for (size_t i = 1; i < id.len; i++)
        if (!wr_is_word(id.ptr[i]) && id.ptr[i] != '-' && id.ptr[i] != '.')
            return false;
    return true;
}

/* ---- the folder ---- */

/* -1 on failure. Neither the folder nor a file in it is reached through a link. */
static int open_folder(const char *dir)
{
    int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder = -1;
    if (root < 0)
        return -1;
    if (!mkdirat(root, WR_RESULT_FOLDER, FOLDER_MODE) || errno == EEXIST)
        folder = openat(root, WR_RESULT_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int code = errno;
    (void)close(root);
    errno = code;
    return folder;
}

/* ---- a file that is there ---- */

static ssize_t read_piece(int fd, char *piece, size_t piece_bytes)
{
    ssize_t got;
    do
        got = read(fd, piece, piece_bytes);
    while (got < 0 && errno == EINTR);
    return got;
}

static bool has_text(int fd, weir_span text)
{
    char piece[PIECE_BYTES];
    size_t at = 0;
    ssize_t got;
    while ((got = read_piece(fd, piece, sizeof(piece))) > 0) {
        if ((size_t)got > text.len - at || memcmp(piece, text.ptr + at, (size_t)got) != 0)
            return false;
        at += (size_t)got;
    }
    return got == 0 && at == text.len;
}

/* A file that others may read is not taken for ours; nor is anything that is not a file, which is
 * why opening may not wait. */
static bool is_there(int folder, const char *name, weir_span text)
{
    struct stat found;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_same = !fstat(fd, &found) && S_ISREG(found.st_mode) &&
                   (found.st_mode & 0777) == FILE_MODE && (uint64_t)found.st_size == text.len &&
                   has_text(fd, text);
    (void)close(fd);
    return is_same;
}

/* ---- a new file ---- */

struct draft {
    int fd;
    char name[64];
};

/* A name that is free: one may be left over from a process that was killed. */
static bool open_draft(int folder, struct draft *draft)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        (void)snprintf(draft->name, sizeof(draft->name), ".new-%ld-%d", (long)getpid(), i);
        draft->fd = openat(folder, draft->name,
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
        if (draft->fd >= 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool replace(int folder, const char *name, weir_span text)
{
    struct draft draft;
    if (!open_draft(folder, &draft))
        return false;
    bool ok = wr_os_write_all(draft.fd, text);
    int code = errno;
    if (close(draft.fd) && ok) {
        ok = false;
        code = errno;
    }
    if (ok && renameat(folder, draft.name, folder, name)) {
        ok = false;
        code = errno;
    }
    if (!ok)
        (void)unlinkat(folder, draft.name, 0);
    errno = code;
    return ok;
}

/* ---- the calls ---- */

weir_status wr_result_file_write(const char *dir, weir_span id, weir_span text,
                                 weir_trouble *trouble, struct weir_err *err)
{
    char name[WR_RESULT_ID_BYTES_MAX + 1];
    weir_status status = WEIR_OK;

    *trouble = WEIR_TROUBLE_NONE;
    if (!wr_result_id_is_good(id))
        return wr_fail(err, WEIR_INVALID, 0, "an id that cannot be the name of a file");
    memcpy(name, id.ptr, id.len);
    name[id.len] = '\0';
    int folder = open_folder(dir);
    if (folder < 0)
        return wr_os_error("cannot make or open " WR_RESULT_FOLDER, trouble, err);
    if (!is_there(folder, name, text) && !replace(folder, name, text))
        status = wr_os_error("cannot write the result's file", trouble, err);
    (void)close(folder);
    return status;
}

weir_status wr_result_file_recall(struct weir_store *store, const struct weir_lookup *lookup,
                                  const char *dir, weir_miss *miss, struct weir_err *err)
{
    char id[WEIR_HANDLE_TEXT_BYTES + 1];
    struct weir_artifact artifact;
    weir_status status = weir_store_get(store, lookup, &artifact, miss, err);
    if (status)
        return status;
    weir_handle_format(lookup->handle, id);
    return wr_result_file_write(dir, (weir_span){id, WEIR_HANDLE_TEXT_BYTES}, artifact.text,
                                &store->trouble, err);
}
