/* Copies and compares folders, name by name below folders that are held open, so that nothing that
 * is renamed meanwhile leads elsewhere.
 *
 * A copy shares its blocks with the original where the file system can do that. The comparison
 * walks both sides by sorted names; what is on one side alone is told whole, file by file.
 */
#include "compare/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"

enum { PATH_BYTES_MAX = 4096, BLOCK_BYTES = 256 * 1024 };

struct copying {
    dev_t to_dev; /* the copy itself, */
    ino_t to_ino; /* which is not copied into itself */
    uint64_t bytes, files_count;
    char *block;
    struct weir_err *err;
};

/* ---- copying ---- */

static weir_status fail_at(struct weir_err *err, const char *what, const char *name)
{
    return wr_fail(err, WEIR_IO, 0, "%s %s: %s", what, name, strerror(errno));
}

static bool copy_bytes(int from, int to, char *block)
{
    ssize_t got;

    if (wr_os_share_blocks(from, to))
        return true;
    while ((got = read(from, block, BLOCK_BYTES)) > 0)
        for (ssize_t at = 0, put; at < got; at += put) {
            put = write(to, block + at, (size_t)(got - at));
            if (put <= 0)
                return false;
        }
    return !got;
}

static weir_status copy_file(struct copying *c, int from, int to, const char *name,
                             const struct stat *info)
{
    int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int out = in >= 0 ? openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    const struct timespec times[] = {wr_os_time_read(info), wr_os_time_written(info)};

    c->bytes += (uint64_t)info->st_size;
    bool ok = out >= 0 && copy_bytes(in, out, c->block) && !fchmod(out, info->st_mode & 07777) &&
              !futimens(out, times);
    weir_status status = ok ? WEIR_OK : fail_at(c->err, "cannot copy", name);
    if (in >= 0)
        (void)close(in);
    if (out >= 0 && close(out) && !status)
        status = fail_at(c->err, "cannot copy", name);
    return status;
}

static weir_status copy_link(struct copying *c, int from, int to, const char *name)
{
    char target[PATH_BYTES_MAX];
    ssize_t bytes = readlinkat(from, name, target, sizeof(target) - 1);

    if (bytes < 0)
        return fail_at(c->err, "cannot copy", name);
    target[bytes] = '\0';
    return symlinkat(target, to, name) ? fail_at(c->err, "cannot copy", name) : WEIR_OK;
}

static weir_status copy_folder(struct copying *c, int from, int to, unsigned depth);

static weir_status copy_below(struct copying *c, int from, int to, const char *name,
                              const struct stat *info, unsigned depth)
{
    if (info->st_dev == c->to_dev && info->st_ino == c->to_ino)
        return WEIR_OK;
    if (mkdirat(to, name, 0700))
        return fail_at(c->err, "cannot make", name);
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    weir_status status = in >= 0 && out >= 0 ? copy_folder(c, in, out, depth + 1)
                                             : fail_at(c->err, "cannot open", name);
    if (!status && fchmod(out, info->st_mode & 07777))
        status = fail_at(c->err, "cannot copy", name);
    if (in >= 0)
        (void)close(in);
    if (out >= 0)
        (void)close(out);
    return status;
}

static weir_status copy_entry(struct copying *c, int from, int to, const char *name, unsigned depth)
{
    struct stat info;

    if (fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? WEIR_OK : fail_at(c->err, "cannot look at", name);
    if (++c->files_count > WR_COMPARE_FILES_MAX ||
        c->bytes > (uint64_t)WR_COMPARE_TREE_MIB_MAX * 1024 * 1024 || depth > WR_COMPARE_DEPTH_MAX)
        return wr_fail(c->err, WEIR_LIMIT, 0,
                       "the folder is too large to copy for each run (%d files, %d MiB)",
                       WR_COMPARE_FILES_MAX, WR_COMPARE_TREE_MIB_MAX);
    if (S_ISDIR(info.st_mode))
        return copy_below(c, from, to, name, &info, depth);
    if (S_ISREG(info.st_mode))
        return copy_file(c, from, to, name, &info);
    return S_ISLNK(info.st_mode) ? copy_link(c, from, to, name) : WEIR_OK;
}

static bool is_dot(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

static weir_status copy_folder(struct copying *c, int from, int to, unsigned depth)
{
    int fd = dup(from);
    DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
    weir_status status = WEIR_OK;

    if (!listing) {
        status = fail_at(c->err, "cannot list", "a folder");
        if (fd >= 0)
            (void)close(fd);
        return status;
    }
    for (struct dirent *entry; !status && (entry = readdir(listing));)
        if (!is_dot(entry->d_name))
            status = copy_entry(c, from, to, entry->d_name, depth);
    (void)closedir(listing);
    return status;
}

weir_status wr_tree_copy(const char *from, const char *to, struct weir_err *err)
{
    struct copying c = {.err = err};
    struct stat info, made;
    weir_status status = WEIR_OK;

    if (stat(from, &info) || mkdir(to, 0700) || stat(to, &made))
        return fail_at(err, "cannot copy", from);
    c.to_dev = made.st_dev;
    c.to_ino = made.st_ino;
    c.block = malloc(BLOCK_BYTES);
    int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int out = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!c.block)
        status = wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    else if (in < 0 || out < 0)
        status = fail_at(err, "cannot copy", from);
    else
        status = copy_folder(&c, in, out, 0);
    if (!status && fchmod(out, (info.st_mode & 07777) | S_IRWXU))
        status = fail_at(err, "cannot copy", from);
    if (in >= 0)
        (void)close(in);
    if (out >= 0)
        (void)close(out);
    free(c.block);
    return status;
}

/* ---- comparing ---- */

struct comparing {
    wr_tree_fn *each;
    void *user;
    char path[PATH_BYTES_MAX]; /* below the folder */
    char *block;
};

static uint64_t hash_link(int folder, const char *name)
{
    char target[PATH_BYTES_MAX];
    ssize_t bytes = readlinkat(folder, name, target, sizeof(target));
    return wr_hash64((weir_span){target, bytes > 0 ? (size_t)bytes : 0}) | 1;
}

static uint64_t hash_content(struct comparing *c, int folder, const char *name)
{
    uint64_t hash = 1;
    ssize_t got;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return hash_link(folder, name);
    while ((got = read(fd, c->block, BLOCK_BYTES)) > 0)
        hash = wr_hash64_seeded((weir_span){c->block, (size_t)got}, hash);
    (void)close(fd);
    return hash | 1;
}

static int order_of_names(const void *a, const void *b)
{
    return strcoll(*(char *const *)a, *(char *const *)b);
}

/* Names of a folder, sorted, each to be freed; those that memory lasts for. */
static size_t list_names(int folder, char ***names)
{
    size_t count = 0, room = 0;
    const struct dirent *entry;
    int fd = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    *names = NULL;
    while (dir && (entry = readdir(dir))) {
        if (count == room) {
            char **more = realloc(*names, (room = room ? room * 2 : 64) * sizeof(*more));
            if (!more)
                break;
            *names = more;
        }
        (*names)[count] = strdup(entry->d_name);
        count += (*names)[count] != NULL;
    }
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    if (count)
        qsort(*names, count, sizeof(**names), order_of_names);
    return count;
}

static int open_folder(int at, const char *name)
{
    return at < 0 ? -1 : openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void compare_folders(struct comparing *c, int before, int after, unsigned depth);

static bool is_same_file(struct comparing *c, int before, const struct stat *a, int after,
                         const struct stat *b, const char *name)
{
    if ((a->st_mode & S_IFMT) != (b->st_mode & S_IFMT) || a->st_size != b->st_size)
        return false;
    struct timespec left = wr_os_time_written(a), right = wr_os_time_written(b);
    if (S_ISREG(a->st_mode) && left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec)
        return true;
    return hash_content(c, before, name) == hash_content(c, after, name);
}

static bool look_at(int folder, const char *name, struct stat *info)
{
    return folder >= 0 && !fstatat(folder, name, info, AT_SYMLINK_NOFOLLOW) &&
           (S_ISREG(info->st_mode) || S_ISLNK(info->st_mode) || S_ISDIR(info->st_mode));
}

/* One name that is on at least one side; a folder is told by the files in it. */
static void compare_entry(struct comparing *c, int before, int after, const char *name,
                          unsigned depth)
{
    size_t len = strlen(c->path);
    struct stat a, b;
    bool has_a = look_at(before, name, &a), has_b = look_at(after, name, &b);
    bool is_dir_a = has_a && S_ISDIR(a.st_mode), is_dir_b = has_b && S_ISDIR(b.st_mode);

    if (len + strlen(name) + 2 > sizeof(c->path) || depth > WR_COMPARE_DEPTH_MAX ||
        !strcmp(name, ".git"))
        return;
    (void)snprintf(c->path + len, sizeof(c->path) - len, "%s%s", len ? "/" : "", name);
    if (is_dir_a || is_dir_b) {
        int from = is_dir_a ? open_folder(before, name) : -1;
        int to = is_dir_b ? open_folder(after, name) : -1;
        compare_folders(c, from, to, depth + 1);
        if (from >= 0)
            (void)close(from);
        if (to >= 0)
            (void)close(to);
    }
    bool file_a = has_a && !is_dir_a, file_b = has_b && !is_dir_b;
    if (file_a && !file_b)
        c->each(c->user, WR_TREE_REMOVED, c->path, 0);
    else if (file_b && !file_a)
        c->each(c->user, WR_TREE_ADDED, c->path, hash_content(c, after, name));
    else if (file_a && !is_same_file(c, before, &a, after, &b, name))
        c->each(c->user, WR_TREE_CHANGED, c->path, hash_content(c, after, name));
    c->path[len] = '\0';
}

static void compare_folders(struct comparing *c, int before, int after, unsigned depth)
{
    char **left, **right;
    size_t left_count = list_names(before, &left), right_count = list_names(after, &right);

    for (size_t i = 0, k = 0; i < left_count || k < right_count;) {
        int order = i >= left_count ? 1 : k >= right_count ? -1 : strcoll(left[i], right[k]);
        const char *name = order <= 0 ? left[i] : right[k];
        if (!is_dot(name))
            compare_entry(c, before, after, name, depth);
        i += order <= 0;
        k += order >= 0;
    }
    for (size_t i = 0; i < left_count; i++)
        free(left[i]);
    for (size_t k = 0; k < right_count; k++)
        free(right[k]);
    free(left);
    free(right);
}

weir_status wr_tree_compare(const char *before, const char *after, wr_tree_fn *each, void *user,
                            struct weir_err *err)
{
    struct comparing c = {.each = each, .user = user, .block = malloc(BLOCK_BYTES)};
    int from = open(before, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int to = open(after, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    weir_status status = WEIR_OK;

    if (!c.block)
        status = wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    else if (from < 0 || to < 0)
        status = fail_at(err, "cannot open", from < 0 ? before : after);
    else
        compare_folders(&c, from, to, 0);
    if (from >= 0)
        (void)close(from);
    if (to >= 0)
        (void)close(to);
    free(c.block);
    return status;
}
