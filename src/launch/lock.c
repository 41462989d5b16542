/* The file serve.lock, by which `weir run` finds the server of a store.
 *
 * Taking it: open, lock, and then look whether the path still names the file that was locked.
 * Whoever held it before may have removed it between our opening and our locking, and a lock on a
 * file without a name is found by nobody; then it is tried again.
 *
 * The lock is fcntl's and not flock's, because it belongs to one process. The workers of a server
 * that was killed inherit its descriptors and may live on for a while; with flock they would hold
 * the lock of a server that is gone. fcntl also tells who holds a lock, so finding needs no trust
 * in the pid that stands in the file.
 */
#include "launch/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

enum { PATH_BYTES_MAX = 4096, TRIES_MAX = 8 };

struct wr_lock {
    char path[PATH_BYTES_MAX];
    int fd;
};

static bool make_path(char path[PATH_BYTES_MAX], const char *dir)
{
    int bytes = snprintf(path, PATH_BYTES_MAX, "%s/" WR_LOCK_NAME, dir);
    return bytes > 0 && bytes < PATH_BYTES_MAX;
}

/* ---- what the file says ---- */

static void write_facts(struct wr_buf *out, const struct wr_server_facts *facts)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_i64(&w, "pid", facts->pid);
    wr_json_member_word(&w, "address", facts->host);
    wr_json_member_i64(&w, "port", facts->port);
    wr_json_member_word(&w, "mode", facts->mode);
    wr_json_member_word(&w, "policy", facts->policy);
    wr_json_member_i64(&w, "started_ms", facts->started_ms);
    wr_json_member_bool(&w, "one_upstream", facts->has_one_upstream);
    wr_json_member_bool(&w, "needs_token", facts->needs_token);
    wr_json_write_key(&w, "upstreams");
    wr_json_write_array(&w);
    for (size_t i = 0; i < facts->upstreams_count; i++)
        wr_json_write_text(&w, wr_span_of(facts->upstreams[i]));
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

static const char *copy_json_text(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id)
{
    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return NULL;
    weir_span text = wr_json_text(doc, arena, id);
    char *copy = text.ptr ? wr_arena_alloc(arena, text.len + 1) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

static bool read_facts(weir_span text, struct wr_arena *arena, struct wr_server_facts *facts)
{
    struct wr_json doc;
    int64_t port = 0;

    if (wr_json_parse(&doc, arena, text, NULL, NULL))
        return false;
    facts->host = copy_json_text(&doc, arena, wr_json_find(&doc, 0, "address"));
    facts->mode = copy_json_text(&doc, arena, wr_json_find(&doc, 0, "mode"));
    facts->policy = copy_json_text(&doc, arena, wr_json_find(&doc, 0, "policy"));
    facts->has_one_upstream = wr_json_is(&doc, wr_json_find(&doc, 0, "one_upstream"), WR_JSON_TRUE);
    facts->needs_token = wr_json_is(&doc, wr_json_find(&doc, 0, "needs_token"), WR_JSON_TRUE);
    wr_json_id list = wr_json_find(&doc, 0, "upstreams"), at = wr_json_first(&doc, list);
    for (; at != WR_JSON_NONE && facts->upstreams_count < WR_PROXY_UPSTREAMS_MAX;
         at = wr_json_next(&doc, list, at)) {
        const char *name = copy_json_text(&doc, arena, at);
        if (name)
            facts->upstreams[facts->upstreams_count++] = name;
    }
    bool ok = wr_json_i64(&doc, wr_json_find(&doc, 0, "port"), &port) && port > 0 &&
              port <= UINT16_MAX &&
              wr_json_i64(&doc, wr_json_find(&doc, 0, "started_ms"), &facts->started_ms);
    facts->port = (uint32_t)port;
    return ok && facts->host && facts->mode && facts->policy;
}

/* ---- the lock ---- */

/* A lock of fcntl belongs to one process: workers that a killed server left do not hold it. */
static bool set_lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return !fcntl(fd, F_SETLK, &whole);
}

/* 0: nobody. */
static int64_t holder_of(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_GETLK, &whole) || whole.l_type == F_UNLCK ? 0 : whole.l_pid;
}

/* Whether the path still names the file that was opened: its owner may have taken it away between
 * our opening and our locking it. */
static bool is_still_there(const struct wr_lock *lock)
{
    struct stat ours, there;
    return !fstat(lock->fd, &ours) && !stat(lock->path, &there) && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static weir_status lock_file(struct wr_lock *lock, int64_t *holder, struct weir_err *err)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock->fd < 0)
            return wr_fail(err, WEIR_IO, 0, "%s: %s", lock->path, strerror(errno));
        bool is_ours = set_lock(lock->fd);
        if (is_ours && is_still_there(lock))
            return WEIR_OK;
        *holder = is_ours ? 0 : holder_of(lock->fd);
        (void)close(lock->fd);
        lock->fd = -1;
        if (*holder)
            return wr_fail(err, WEIR_INVALID, 0, "process %lld holds it", (long long)*holder);
    }
    return wr_fail(err, WEIR_IO, 0, "%s: it cannot be locked", lock->path);
}

weir_status wr_lock_take(struct wr_lock **lock, const char *dir,
                         const struct wr_server_facts *facts, int64_t *holder, struct weir_err *err)
{
    struct wr_lock *l = calloc(1, sizeof(*l));
    struct wr_buf text;
    weir_status status = WEIR_NOMEM;

    wr_buf_init(&text, WR_LAUNCH_LOCK_BYTES_MAX);
    *holder = 0;
    if (!l)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    l->fd = -1;
    write_facts(&text, facts);
    status = wr_buf_status(&text);
    if (!status && !make_path(l->path, dir))
        status = wr_fail(err, WEIR_LIMIT, 0, "the path of the store is too long");
    if (!status)
        status = lock_file(l, holder, err);
    if (!status &&
        (ftruncate(l->fd, 0) || pwrite(l->fd, text.bytes, text.len, 0) != (ssize_t)text.len))
        status = wr_fail(err, WEIR_IO, 0, "%s: %s", l->path, strerror(errno));
    wr_buf_release(&text);
    if (status)
        wr_lock_release(l);
    else
        *lock = l;
    return status;
}

void wr_lock_release(struct wr_lock *lock)
{
    if (!lock)
        return;
    if (lock->fd >= 0) {
        (void)unlink(lock->path);
        (void)close(lock->fd);
    }
    free(lock);
}

weir_status wr_lock_find(const char *dir, struct wr_arena *arena, struct wr_server_facts *facts)
{
    char path[PATH_BYTES_MAX];
    char *text = wr_arena_alloc(arena, WR_LAUNCH_LOCK_BYTES_MAX);

    *facts = (struct wr_server_facts){0};
    if (!text)
        return WEIR_NOMEM;
    int fd = make_path(path, dir) ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return WEIR_NOTFOUND;
    facts->pid = holder_of(fd);
    ssize_t bytes = facts->pid ? pread(fd, text, WR_LAUNCH_LOCK_BYTES_MAX, 0) : -1;
    (void)close(fd);
    if (bytes <= 0 || !read_facts((weir_span){text, (size_t)bytes}, arena, facts))
        return WEIR_NOTFOUND;
    return WEIR_OK;
}
