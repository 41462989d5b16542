/* The journal: reading it line by line, repairing its end, appending to it.
 *
 *   open ─▶ the front that a checkpoint names: only the lines it wants ─▶ the rest: every line
 *              └─ the front is another one: forget, and read all of it from the start
 *
 * A file that nobody has written to since the checkpoint (same inode, size and times) is not even
 * hashed: the wanted lines are read at their places, so that opening costs what the session still
 * holds and not what it ever held. Where any of that does not hold the file is read whole; the
 * checkpoint can cost time, never truth. A write that fails half way is cut off again, and where
 * even that fails the journal takes no more events until it is opened anew. */
#include "session/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/os.h"
#include "base/span.h"
#include "session/disk.h"
#include "store/store.h"

enum { FILE_MODE = 0600, PIECE_BYTES = 64 * 1024 };

/* ---- lines ---- */

void wr_journal_scan_init(struct wr_journal_scan *scan, wr_journal_fn *fn, void *user)
{
    *scan = (struct wr_journal_scan){.line = 1, .fn = fn, .user = user};
    wr_arena_init(&scan->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&scan->rest, WR_JOURNAL_LINE_BYTES_MAX);
}

void wr_journal_scan_release(struct wr_journal_scan *scan)
{
    wr_buf_release(&scan->rest);
    wr_arena_release(&scan->arena);
}

static weir_status fail_damaged(struct wr_journal_scan *scan, const struct weir_err *what,
                                struct weir_err *err)
{
    scan->is_damaged = true;
    return wr_fail(err, WEIR_SYNTAX, scan->byte + what->at_byte,
                   WR_JOURNAL_FILE ": line %llu, byte %llu: %.120s; what stands before can be read",
                   (unsigned long long)scan->line, (unsigned long long)(scan->byte + what->at_byte),
                   what->text);
}

static weir_status is_other(struct wr_journal_scan *scan)
{
    scan->is_other = true;
    return WEIR_INVALID;
}

static bool is_wanted(const struct wr_journal_scan *scan)
{
    return scan->wanted_next < scan->skim->wanted_count &&
           scan->skim->wanted[scan->wanted_next].seq == scan->line;
}

static bool stands_at(struct wr_event *event, const struct wr_journal_scan *scan, weir_span line)
{
    const struct wr_place *place = &scan->skim->wanted[scan->wanted_next - 1];
    event->line_at = scan->byte;
    event->line_bytes = line.len;
    return place->at == scan->byte && place->bytes == line.len;
}

static weir_status take_wanted(struct wr_journal_scan *scan, weir_span line)
{
    struct wr_event event;

    scan->wanted_next++;
    wr_arena_reset(&scan->arena);
    weir_status status = wr_event_read(&event, &scan->arena, line, NULL);
    if (status == WEIR_NOMEM)
        return status;
    if (status || event.seq != scan->line || !stands_at(&event, scan, line))
        return is_other(scan);
    status = scan->skim->fn(scan->user, &event, line);
    return status == WEIR_INVALID ? is_other(scan) : status;
}

/* A line of the front: a line an event, so its number is the event's. */
static weir_status skim_line(struct wr_journal_scan *scan, weir_span line)
{
    const struct wr_journal_skim *skim = scan->skim;
    uint64_t end = scan->byte + line.len + 1;

    scan->seq = scan->line;
    scan->events_count++;
    weir_status status = is_wanted(scan) ? take_wanted(scan, line) : WEIR_OK;
    if (status)
        return status;
    if (end < skim->bytes)
        return WEIR_OK;
    if (end > skim->bytes || scan->seq != skim->seq || scan->wanted_next < skim->wanted_count ||
        scan->hash.low != skim->hash.low || scan->hash.high != skim->hash.high)
        return is_other(scan);
    scan->skim = NULL;
    return WEIR_OK;
}

static weir_status read_line(struct wr_journal_scan *scan, weir_span line, struct weir_err *err)
{
    struct weir_err what = {0};
    struct wr_event event;

    scan->hash = wr_hash128_seeded(line, scan->hash);
    if (scan->skim)
        return skim_line(scan, line);
    wr_arena_reset(&scan->arena);
    weir_status status = wr_event_read(&event, &scan->arena, line, &what);
    event.line_at = scan->byte;
    event.line_bytes = line.len;
    if (!status && event.seq != scan->seq + 1)
        status = wr_fail(&what, WEIR_INVALID, 0, "event %llu stands where %llu should",
                         (unsigned long long)event.seq, (unsigned long long)(scan->seq + 1));
    if (status == WEIR_SYNTAX || status == WEIR_INVALID)
        return fail_damaged(scan, &what, err);
    if (!status)
        status = scan->fn(scan->user, &event, line);
    if (status)
        return wr_fail(err, status, scan->byte, WR_JOURNAL_FILE ": line %llu: %s",
                       (unsigned long long)scan->line, weir_status_text(status));
    scan->seq = event.seq;
    scan->events_count++;
    return WEIR_OK;
}

weir_status wr_journal_scan_feed(struct wr_journal_scan *scan, weir_span piece,
                                 struct weir_err *err)
{
    while (piece.len) {
        const char *end = memchr(piece.ptr, '\n', piece.len);
        size_t len = end ? (size_t)(end - piece.ptr) : piece.len;
        weir_span line = wr_span_cut(piece, 0, len);

        if (!end || scan->rest.len) {
            wr_buf_append(&scan->rest, line);
            line = wr_buf_view(&scan->rest);
        }
        if (wr_buf_status(&scan->rest))
            return wr_fail(err, wr_buf_status(&scan->rest), scan->byte,
                           WR_JOURNAL_FILE ": line %llu is longer than %d bytes",
                           (unsigned long long)scan->line, WR_JOURNAL_LINE_BYTES_MAX);
        if (!end)
            return WEIR_OK;
        weir_status status = read_line(scan, line, err);
        if (status)
            return status;
        scan->byte += line.len + 1;
        scan->line++;
        wr_buf_reset(&scan->rest);
        piece = wr_span_cut(piece, len + 1, piece.len);
    }
    return WEIR_OK;
}

/* What stands behind the last line break: an event that is whole, or what a killed writer left. */
weir_status wr_journal_scan_end(struct wr_journal_scan *scan, struct weir_err *err)
{
    if (scan->skim)
        return is_other(scan);
    if (!scan->rest.len)
        return WEIR_OK;
    wr_hash128 before = scan->hash;
    weir_status status = read_line(scan, wr_buf_view(&scan->rest), err);
    if (!status) {
        scan->lacks_break = true;
        return WEIR_OK;
    }
    if (!scan->is_damaged)
        return status;
    scan->is_damaged = false;
    scan->hash = before;
    scan->torn_bytes = scan->rest.len;
    return WEIR_OK;
}

/* ---- the file ---- */

static weir_status fail_refused(const char *path, struct weir_err *err)
{
    weir_trouble trouble;
    return wr_os_error(path, &trouble, err);
}

static weir_status scan_file(int fd, struct wr_journal *journal, struct wr_journal_scan *scan,
                             struct weir_err *err)
{
    char piece[PIECE_BYTES];

    for (;;) {
        ssize_t got = read(fd, piece, sizeof(piece));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_refused(journal->path, err);
        if (got == 0)
            return wr_journal_scan_end(scan, err);
        weir_status status = wr_journal_scan_feed(scan, (weir_span){piece, (size_t)got}, err);
        if (status)
            return status;
    }
}

/* The torn bytes are in a file of their own before they leave this one. */
static weir_status put_aside(struct wr_journal *journal, const char *dir, weir_span torn,
                             struct weir_err *err)
{
    char path[WR_SESSION_PATH_BYTES_MAX];
    uint64_t end = 0;
    struct stat found;
    weir_status status = wr_disk_join(path, dir, WR_JOURNAL_TORN, err);
    if (status)
        return status;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd < 0 || fstat(fd, &found)) {
        status = fail_refused(journal->path, err);
    } else {
        end = (uint64_t)found.st_size;
        status = wr_disk_append(fd, &end, torn, path, err);
        if (!status)
            status = wr_disk_append(fd, &end, WR_LIT("\n"), path, err);
    }
    if (fd >= 0)
        (void)close(fd);
    if (!status && ftruncate(journal->fd, (off_t)journal->end_bytes))
        status = fail_refused(journal->path, err);
    return status;
}

static weir_status repair_end(struct wr_journal *journal, const char *dir,
                              const struct wr_journal_scan *scan, struct weir_err *err)
{
    journal->end_bytes = scan->byte;
    if (scan->torn_bytes)
        return put_aside(journal, dir, wr_buf_view(&scan->rest), err);
    if (!scan->lacks_break)
        return WEIR_OK;
    journal->end_bytes += scan->rest.len;
    return wr_disk_append(journal->fd, &journal->end_bytes, WR_LIT("\n"), journal->path, err);
}

/* ---- who has it ----
 *
 * Who has a session open is asked of the system and not written into a file: a file would be wrong
 * after kill -9, and whoever opens a session for each call (the sidecar) would pay for it each
 * time. /proc/locks has inode and process of every lock; the numbers of devices there are not those
 * that stat() gives on every file system, so the process's own open files decide.
 */

enum { LOCK_LINE_BYTES_MAX = 256 };

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

static weir_status fail_held(const struct wr_journal *journal, struct weir_err *err)
{
    char who[32] = "";
    pid_t owner;

    (void)find_holder(journal->fd, &owner);
    if (owner)
        (void)snprintf(who, sizeof(who), " (%d)", (int)owner);
    return wr_fail(err, WEIR_IO, 0, "%.160s: another process has this session open%s",
                   journal->path, who);
}

static weir_status open_file(struct wr_journal *journal, const struct wr_journal_options *options,
                             struct weir_err *err)
{
    int flags = options->is_read_only ? O_RDONLY : O_RDWR | O_APPEND;
    if (!options->must_exist && !options->is_read_only)
        flags |= O_CREAT;
    journal->fd = open(journal->path, flags | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (journal->fd < 0 && errno == ENOENT)
        return wr_fail(err, WEIR_NOTFOUND, 0, "%.160s: there is no such session", journal->path);
    if (journal->fd < 0)
        return fail_refused(journal->path, err);
    if (!options->is_read_only && flock(journal->fd, LOCK_EX | LOCK_NB))
        return fail_held(journal, err);
    return WEIR_OK;
}

static uint64_t nanoseconds(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool look_at(int fd, struct wr_journal_stamp *stamp, uint64_t *bytes)
{
    struct stat found;
    if (fd < 0 || fstat(fd, &found))
        return false;
    *stamp =
        (struct wr_journal_stamp){(uint64_t)found.st_ino, nanoseconds(wr_os_time_written(&found)),
                                  nanoseconds(wr_os_time_changed(&found))};
    *bytes = (uint64_t)found.st_size;
    return true;
}

bool wr_journal_stamp_of(const struct wr_journal *journal, struct wr_journal_stamp *stamp)
{
    uint64_t bytes;
    return look_at(journal->fd, stamp, &bytes);
}

static bool is_untouched(int fd, const struct wr_journal_skim *skim)
{
    struct wr_journal_stamp now;
    uint64_t bytes;
    return look_at(fd, &now, &bytes) && bytes == skim->bytes && now.inode == skim->stamp.inode &&
           now.written_ns == skim->stamp.written_ns && now.changed_ns == skim->stamp.changed_ns;
}

static bool read_at(int fd, const struct wr_place *place, struct wr_buf *line)
{
    char piece[PIECE_BYTES];

    wr_buf_reset(line);
    while (line->len < place->bytes && !wr_buf_status(line)) {
        uint64_t want = place->bytes - line->len;
        ssize_t got = pread(fd, piece, want < sizeof(piece) ? (size_t)want : sizeof(piece),
                            (off_t)(place->at + line->len));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        wr_buf_append(line, (weir_span){piece, (size_t)got});
    }
    return !wr_buf_status(line);
}

/* The wanted lines alone, of a file that is as it was when they were noted. */
static weir_status skim_places(int fd, struct wr_journal_scan *scan)
{
    const struct wr_journal_skim *skim = scan->skim;
    weir_status status = WEIR_OK;

    while (!status && scan->wanted_next < skim->wanted_count) {
        const struct wr_place *place = &skim->wanted[scan->wanted_next];
        if (place->at + place->bytes >= skim->bytes || !read_at(fd, place, &scan->rest))
            return is_other(scan);
        scan->line = place->seq;
        scan->byte = place->at;
        status = take_wanted(scan, wr_buf_view(&scan->rest));
    }
    wr_buf_reset(&scan->rest);
    scan->byte = skim->bytes;
    scan->seq = scan->events_count = skim->seq;
    scan->line = skim->seq + 1;
    scan->hash = skim->hash;
    scan->skim = NULL;
    return status;
}

/* Reads the file from its beginning where its front is not the one that the checkpoint knew. */
static weir_status read_all(struct wr_journal *journal, struct wr_journal_scan *scan,
                            const struct wr_journal_skim *skim, struct weir_err *err)
{
    weir_status status = WEIR_OK;

    scan->skim = skim && skim->bytes ? skim : NULL;
    bool is_all = scan->skim && is_untouched(journal->fd, skim);
    if (is_all)
        status = skim_places(journal->fd, scan);
    else
        status = scan_file(journal->fd, journal, scan, err);
    if (!scan->is_other)
        return status;
    wr_journal_fn *fn = scan->fn;
    void *user = scan->user;
    skim->forget(user);
    wr_journal_scan_release(scan);
    wr_journal_scan_init(scan, fn, user);
    if (lseek(journal->fd, 0, SEEK_SET) < 0)
        return fail_refused(journal->path, err);
    return scan_file(journal->fd, journal, scan, err);
}

static void tell_opened(struct weir_session_opened *opened, const struct wr_journal_scan *scan)
{
    opened->events_count = scan->events_count;
    opened->torn_bytes = scan->torn_bytes;
    opened->damage_line = scan->is_damaged ? scan->line : 0;
    opened->damage_byte = scan->is_damaged ? scan->byte : 0;
}

weir_status wr_journal_open(struct wr_journal *journal, const char *dir,
                            const struct wr_journal_options *options, wr_journal_fn *fn, void *user,
                            struct weir_session_opened *opened, struct weir_err *err)
{
    struct wr_journal_scan scan;

    *journal = (struct wr_journal){.fd = -1, .syncs_all = options->syncs_all, .is_synced = true};
    wr_buf_init(&journal->line, WR_JOURNAL_LINE_BYTES_MAX);
    weir_status status = wr_disk_join(journal->path, dir, WR_JOURNAL_FILE, err);
    if (!status)
        status = open_file(journal, options, err);
    wr_journal_scan_init(&scan, fn, user);
    if (!status)
        status = read_all(journal, &scan, options->skim, err);
    journal->seq = scan.seq;
    journal->hash = scan.hash;
    tell_opened(opened, &scan);
    if (options->is_read_only && scan.is_damaged)
        status = WEIR_OK;
    if (!status && !options->is_read_only)
        status = repair_end(journal, dir, &scan, err);
    wr_journal_scan_release(&scan);
    if (status || options->is_read_only) {
        if (journal->fd >= 0)
            (void)close(journal->fd);
        journal->fd = -1;
    }
    if (status)
        wr_buf_release(&journal->line);
    return status;
}

void wr_journal_close(struct wr_journal *journal)
{
    if (journal->fd >= 0) {
        if (!journal->is_synced)
            (void)wr_os_sync(journal->fd);
        (void)close(journal->fd);
    }
    journal->fd = -1;
    wr_buf_release(&journal->line);
}

/* A file that is longer than what was written whole ends in half an event: the next one would make
 * that damage. Opening the session again repairs it. */
static void check_end(struct wr_journal *journal)
{
    struct stat found;
    journal->is_broken =
        fstat(journal->fd, &found) || (uint64_t)found.st_size != journal->end_bytes;
}

static weir_status write_line(struct wr_journal *journal, struct weir_err *err)
{
    uint64_t end_bytes = journal->end_bytes;
    weir_status status = wr_disk_append(journal->fd, &journal->end_bytes,
                                        wr_buf_view(&journal->line), journal->path, err);
    if (!status) {
        journal->is_synced = false;
        status = journal->syncs_all ? wr_journal_sync(journal, err) : WEIR_OK;
    }
    if (!status)
        return WEIR_OK;
    if (journal->end_bytes != end_bytes && !ftruncate(journal->fd, (off_t)end_bytes))
        journal->end_bytes = end_bytes;
    check_end(journal);
    return status;
}

weir_status wr_journal_append(struct wr_journal *journal, struct wr_event *event,
                              struct weir_err *err)
{
    if (journal->fd < 0)
        return wr_fail(err, WEIR_INVALID, 0, "the session is open for reading only");
    if (journal->is_broken)
        return wr_fail(err, WEIR_IO, 0, "%.120s ends in half an event: open the session again",
                       journal->path);
    event->seq = journal->seq + 1;
    wr_buf_release(&journal->line);
    wr_buf_init(&journal->line, WR_JOURNAL_LINE_BYTES_MAX);
    wr_event_write(&journal->line, event);
    weir_status status = wr_buf_status(&journal->line);
    if (status)
        return wr_fail(err, status, 0, "an event of kind %s cannot be written: %s",
                       wr_event_kind_name(event->kind), weir_status_text(status));
    status = write_line(journal, err);
    if (status)
        return status;
    weir_span line = wr_buf_view(&journal->line);
    journal->seq = event->seq;
    event->line_at = journal->end_bytes - line.len;
    event->line_bytes = line.len - 1;
    journal->hash = wr_hash128_seeded(wr_span_cut(line, 0, line.len - 1), journal->hash);
    return WEIR_OK;
}

weir_status wr_journal_sync(struct wr_journal *journal, struct weir_err *err)
{
    if (journal->is_synced || journal->fd < 0)
        return WEIR_OK;
    if (wr_os_sync(journal->fd))
        return fail_refused(journal->path, err);
    journal->is_synced = true;
    return WEIR_OK;
}

/* ---- for everybody ---- */

struct public_reader {
    weir_event_fn *fn;
    void *user;
};

static weir_status give_event(void *user, const struct wr_event *event, weir_span line)
{
    const struct public_reader *reader = user;
    struct weir_event given = {.seq = event->seq,
                               .at_ms = event->at_ms,
                               .kind = wr_event_kind_name(event->kind),
                               .text = event->text,
                               .json = line};
    return reader->fn(reader->user, &given);
}

weir_status weir_journal_read(const char *dir, weir_event_fn *fn, void *user, struct weir_err *err)
{
    struct public_reader reader = {fn, user};
    struct wr_journal_options options = {.is_read_only = true};
    struct weir_session_opened opened = {0};
    struct weir_err what = {0};
    struct wr_journal journal;

    weir_status status =
        wr_journal_open(&journal, dir, &options, give_event, &reader, &opened, &what);
    if (!status)
        wr_journal_close(&journal);
    if (!status && opened.damage_line)
        status = what.code;
    if (status && err)
        *err = what;
    return status;
}

/* ---- following a journal that another process writes ---- */

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
        return fail_refused(follow->path, err);
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
            return fail_refused(follow->path, err);
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
