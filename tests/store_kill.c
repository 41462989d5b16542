#include "tests/store_kill.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/span.h"
#include "store/sqlite.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

enum {
    BATCH_ARTIFACTS = 3,
    BATCH_PARTS = BATCH_ARTIFACTS + WEIR_MARK_KINDS_COUNT + 1, /* texts, marks, a pin */
    CHILD_BATCHES = 12,
    OPERATIONS_MAX = 1500, /* of the child's life, where it may be killed */
    TEXT_BYTES_MAX = 8000,
    CHECK_EVERY = 4, /* in between, the next child finds the store as the last one left it */
};

enum way { BEFORE, AFTER, MIDDLE, WAYS };

/* ---- a VFS that kills ---- */

/* In the child only, which has one thread and one store. */
static struct {
    uint32_t left; /* operations until the end; 0: never */
    enum way way;
    sqlite3_vfs *system;
} killer;

struct kill_file {
    sqlite3_file base;
    sqlite3_file *real; /* directly behind this struct */
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct kill_file *)file)->real;
}

static bool is_last(void)
{
    return killer.left && --killer.left == 0;
}

static void die(void)
{
    (void)raise(SIGKILL);
}

/* `call` is one operation; the process may end before or after it. */
#define KILL_AROUND(call)                \
    do {                                 \
        bool last = is_last();           \
        if (last && killer.way != AFTER) \
            die();                       \
        int code = (call);               \
        if (last)                        \
            die();                       \
        return code;                     \
    } while (0)

static int kill_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    bool last = is_last();
    if (last && killer.way == MIDDLE)
        (void)real_of(file)->pMethods->xWrite(real_of(file), bytes, len / 2, at);
    if (last && killer.way != AFTER)
        die();
    int code = real_of(file)->pMethods->xWrite(real_of(file), bytes, len, at);
    if (last)
        die();
    return code;
}

static int kill_sync(sqlite3_file *file, int flags)
{
    KILL_AROUND(real_of(file)->pMethods->xSync(real_of(file), flags));
}

static int kill_truncate(sqlite3_file *file, sqlite3_int64 len)
{
    KILL_AROUND(real_of(file)->pMethods->xTruncate(real_of(file), len));
}

/* The log's locks bracket every commit and checkpoint. */
static int kill_shm_lock(sqlite3_file *file, int at, int count, int flags)
{
    KILL_AROUND(real_of(file)->pMethods->xShmLock(real_of(file), at, count, flags));
}

static int kill_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    (void)vfs;
    KILL_AROUND(killer.system->xDelete(killer.system, name, sync_dir));
}

static int pass_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int pass_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
    return real_of(file)->pMethods->xRead(real_of(file), bytes, len, at);
}

static int pass_size(sqlite3_file *file, sqlite3_int64 *len)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), len);
}

static int pass_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int pass_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int pass_check_lock(sqlite3_file *file, int *is_reserved)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_reserved);
}

static int pass_control(sqlite3_file *file, int what, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), what, argument);
}

static int pass_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int pass_device(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int pass_shm_map(sqlite3_file *file, int page, int len, int extend, void volatile **at)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, len, extend, at);
}

static void pass_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int pass_shm_unmap(sqlite3_file *file, int is_deleted)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), is_deleted);
}

static const sqlite3_io_methods kill_methods = {
    .iVersion = 2,
    .xClose = pass_close,
    .xRead = pass_read,
    .xWrite = kill_write,
    .xTruncate = kill_truncate,
    .xSync = kill_sync,
    .xFileSize = pass_size,
    .xLock = pass_lock,
    .xUnlock = pass_unlock,
    .xCheckReservedLock = pass_check_lock,
    .xFileControl = pass_control,
    .xSectorSize = pass_sector,
    .xDeviceCharacteristics = pass_device,
    .xShmMap = pass_shm_map,
    .xShmLock = kill_shm_lock,
    .xShmBarrier = pass_shm_barrier,
    .xShmUnmap = pass_shm_unmap,
};

static int kill_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *flags_out)
{
    struct kill_file *opened = (struct kill_file *)file;
    (void)vfs;
    opened->real = (sqlite3_file *)(opened + 1);
    opened->base.pMethods = NULL;
    int code = killer.system->xOpen(killer.system, name, opened->real, flags, flags_out);
    if (opened->real->pMethods)
        opened->base.pMethods = &kill_methods;
    return code;
}

static void install_killer(uint32_t operations, enum way way)
{
    static sqlite3_vfs vfs;
    killer.left = operations;
    killer.way = way;
    killer.system = sqlite3_vfs_find(NULL);
    vfs = *killer.system;
    vfs.zName = "weir-kill";
    vfs.szOsFile += (int)sizeof(struct kill_file);
    vfs.xOpen = kill_open;
    vfs.xDelete = kill_delete;
    if (sqlite3_vfs_register(&vfs, 0))
        _exit(9);
}

/* ---- what is written ---- */

static weir_span text_of(uint32_t batch, uint32_t index, char text[TEXT_BYTES_MAX])
{
    uint32_t noise = batch * BATCH_ARTIFACTS + index;
    size_t len = 20 + (size_t)noise * 2654435761u % (TEXT_BYTES_MAX - 20);
    int head = snprintf(text, TEXT_BYTES_MAX, "batch %u, text %u\n", batch, index);
    for (size_t i = (size_t)head; i < len; i++) {
        noise = noise * 1664525u + 1013904223u;
        text[i] = index ? (char)('a' + (noise >> 24) % 16) : (char)(noise >> 24);
    }
    return (weir_span){text, len};
}

static weir_hash key_of(uint32_t batch)
{
    weir_hash key = {{0}};
    memcpy(key.bytes, &batch, sizeof(batch));
    return key;
}

/* A key that no batch has: its mark says which batch of the session was the newest. */
static weir_hash newest_key(uint32_t batch)
{
    return key_of(UINT32_MAX - batch % 2);
}

static weir_span session_of(uint32_t batch)
{
    return batch % 2 ? WR_LIT("odd") : WR_LIT("even");
}

enum { VALUE_BYTES_MAX = 200 };

/* Of different sizes, so that pages of marks fill and split too. */
static weir_span value_of(uint32_t batch, weir_mark_kind kind, char value[VALUE_BYTES_MAX])
{
    int len = snprintf(value, VALUE_BYTES_MAX, "%s %u %*s", weir_mark_kind_name(kind), batch,
                       (int)(batch * 7 % 150), "");
    return (weir_span){value, (size_t)len};
}

static weir_status put_batch(struct weir_store *store, uint32_t batch)
{
    static char texts[BATCH_ARTIFACTS][TEXT_BYTES_MAX];
    char values[WEIR_MARK_KINDS_COUNT][VALUE_BYTES_MAX], number[16];
    struct weir_artifact artifacts[BATCH_ARTIFACTS];
    struct weir_mark marks[WEIR_MARK_KINDS_COUNT + 1];
    struct weir_pin pin = {WR_LIT("model"), key_of(batch), WR_LIT("auto"), false};
    struct weir_batch request = {
        .tenant = LOCAL,
        .session = session_of(batch),
        .used_ms = batch,
        .durability = batch % 5 ? WEIR_DURABLE_NORMAL : WEIR_DURABLE_FULL,
        .artifacts = artifacts,
        .artifacts_count = BATCH_ARTIFACTS,
        .marks = marks,
        .marks_count = WEIR_MARK_KINDS_COUNT + 1,
        .pins = &pin,
        .pins_count = 1,
    };
    for (size_t i = 0; i < WEIR_MARK_KINDS_COUNT; i++)
        marks[i] = (struct weir_mark){key_of(batch), (weir_mark_kind)i,
                                      value_of(batch, (weir_mark_kind)i, values[i]), false};
    (void)snprintf(number, sizeof(number), "%u", batch);
    marks[WEIR_MARK_KINDS_COUNT] =
        (struct weir_mark){newest_key(batch), WEIR_MARK_WINDOW, wr_span_of(number), true};
    for (uint32_t i = 0; i < BATCH_ARTIFACTS; i++)
        artifacts[i] = (struct weir_artifact){.text = text_of(batch, i, texts[i])};
    return weir_store_commit(store, &request, NULL);
}

/* Something that comes and goes, so that pages are freed and used again. */
static void churn(struct weir_store *store, uint32_t batch)
{
    char text[TEXT_BYTES_MAX];
    struct weir_artifact artifact = {.text = text_of(batch, BATCH_ARTIFACTS, text)};
    struct weir_gc_report report;
    struct weir_batch request = {.tenant = LOCAL,
                                 .session = WR_LIT("scratch"),
                                 .artifacts = &artifact,
                                 .artifacts_count = 1};
    if (batch % 3)
        return;
    (void)!weir_store_commit(store, &request, NULL);
    (void)!weir_store_purge(store, LOCAL, WR_LIT("scratch"), &report, NULL);
}

static weir_status open_store(const char *dir, const char *vfs, struct weir_store **store)
{
    struct wr_sqlite_options options = {.vfs = vfs, .checkpoint_pages = 12};
    weir_trouble trouble;
    return wr_sqlite_open(dir, &options, store, &trouble, NULL);
}

/* Ends with SIGKILL or 0; anything else is a failure of its own. */
static void live(const char *dir, uint32_t first_batch, int promises)
{
    struct weir_store *store;
    if (open_store(dir, "weir-kill", &store))
        _exit(2);
    for (uint32_t batch = first_batch; batch < first_batch + CHILD_BATCHES; batch++) {
        if (put_batch(store, batch))
            _exit(3);
        if (write(promises, &batch, sizeof(batch)) != (ssize_t)sizeof(batch))
            _exit(4);
        churn(store, batch);
    }
    weir_store_close(store);
    _exit(0);
}

/* ---- what is checked ---- */

struct run {
    struct wr_test_dir dir;
    struct store_kill_report *report;
    uint32_t seed;
    uint32_t promised; /* batches 1 to this */
    uint32_t checked;
};

static bool problem(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool problem(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!run->report->problem[0])
        (void)vsnprintf(run->report->problem, sizeof(run->report->problem), format, args);
    va_end(args);
    return false;
}

struct mark_count {
    uint32_t batch;
    int count;
};

static weir_status count_mark(void *user, size_t key_index, const struct weir_mark *mark)
{
    struct mark_count *marks = user;
    char value[VALUE_BYTES_MAX];
    (void)key_index;
    marks->count += wr_span_eq(mark->value, value_of(marks->batch, mark->kind, value));
    return WEIR_OK;
}

/* How many parts of a batch are there: its texts, its marks, its pin. A text that is there and is
 * not the one that was put counts against all. */
static int parts_of(struct weir_store *store, uint32_t batch)
{
    struct weir_pin pin = {.model = WR_LIT("model"), .first_turn = key_of(batch)};
    struct mark_count marks = {.batch = batch};
    weir_hash key = key_of(batch);
    char text[TEXT_BYTES_MAX];
    int parts = 0;

    for (uint32_t i = 0; i < BATCH_ARTIFACTS; i++) {
        struct weir_lookup lookup = {.tenant = LOCAL};
        struct weir_artifact found;
        weir_miss miss;
        weir_span wanted = text_of(batch, i, text);
        if (weir_handle_of(wanted, &lookup.handle))
            return -1;
        weir_status status = weir_store_get(store, &lookup, &found, &miss, NULL);
        if (status && miss != WEIR_MISS_NEVER_STORED)
            return -1;
        if (!status && !wr_span_eq(found.text, wanted))
            return -1;
        parts += !status;
    }
    if (weir_store_marks(store, LOCAL, &key, 1, count_mark, &marks, NULL))
        return -1;
    weir_status status = weir_store_pin(store, LOCAL, session_of(batch), &pin, NULL);
    return status && status != WEIR_NOTFOUND ? -1 : parts + marks.count + !status;
}

static weir_status read_newest(void *user, size_t key_index, const struct weir_mark *mark)
{
    uint64_t *number = user;
    (void)key_index;
    return wr_span_u64(mark->value, number) ? WEIR_OK : WEIR_SYNTAX;
}

/* The mark that every batch of a session replaces has the value of its newest one. */
static bool check_newest(struct run *run, struct weir_store *store, uint32_t batch)
{
    weir_hash key = newest_key(batch);
    uint64_t newest = 0;
    if (weir_store_marks(store, LOCAL, &key, 1, read_newest, &newest, NULL))
        return problem(run, "the mark that batch %u replaced cannot be read", batch);
    return newest == batch || problem(run, "the mark that batch %u replaced says %llu", batch,
                                      (unsigned long long)newest);
}

static bool check_promises(struct run *run, uint32_t first)
{
    struct weir_store *store;
    struct weir_verify_report verdict;
    bool ok = true;

    if (open_store(run->dir.path, NULL, &store))
        return problem(run, "the store cannot be opened after %u kills", run->report->kills);
    for (uint32_t batch = first; batch <= run->promised && ok; batch++) {
        if (parts_of(store, batch) != BATCH_PARTS)
            ok = problem(run, "batch %u was promised and is not whole", batch);
        run->report->handles += BATCH_ARTIFACTS;
        run->report->marks += WEIR_MARK_KINDS_COUNT;
    }
    int unpromised = parts_of(store, run->promised + 1);
    if (ok && unpromised != 0 && unpromised != BATCH_PARTS)
        ok = problem(run, "of batch %u there are %d parts", run->promised + 1, unpromised);
    uint32_t last = run->promised + (unpromised > 0);
    for (uint32_t batch = last; batch && batch + 2 > last && ok; batch--)
        ok = check_newest(run, store, batch);
    if (weir_store_verify(store, NULL, NULL, &verdict, NULL) || verdict.corrupt_count ||
        verdict.has_damage)
        ok = problem(run, "after %u kills the store is damaged: %s", run->report->kills,
                     verdict.damage);
    weir_store_close(store);
    run->checked = run->promised;
    return ok;
}

/* ---- the run ---- */

static uint32_t next_random(struct run *run)
{
    run->seed = run->seed * 1664525u + 1013904223u;
    return run->seed >> 8;
}

/* The promises of one child, and how it ended. */
static int listen_to(struct run *run, pid_t child, int promises)
{
    uint32_t batch;
    int status;
    while (read(promises, &batch, sizeof(batch)) == (ssize_t)sizeof(batch))
        if (batch > run->promised)
            run->promised = batch;
    (void)close(promises);
    return waitpid(child, &status, 0) == child ? status : -1;
}

static bool run_child(struct run *run)
{
    uint32_t operations = 1 + next_random(run) % OPERATIONS_MAX;
    enum way way = (enum way)(next_random(run) % WAYS);
    int ends[2];

    if (pipe(ends))
        return problem(run, "no pipe");
    (void)fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return problem(run, "no process");
    if (!child) {
        (void)close(ends[0]);
        install_killer(operations, way);
        live(run->dir.path, run->promised + 1, ends[1]);
    }
    (void)close(ends[1]);
    int status = listen_to(run, child, ends[0]);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        run->report->kills++;
        run->report->kills_by_way[way]++;
        return true;
    }
    run->report->ends++;
    return status == 0 || problem(run, "the writer ended with status %d", status);
}

bool store_kill_run(uint32_t kills, uint32_t seed, struct store_kill_report *report)
{
    struct run run = {.dir = wr_test_dir_fast(), .report = report, .seed = seed};
    bool ok = true;

    *report = (struct store_kill_report){0};
    while (ok && report->kills < kills && report->ends < kills + 10) {
        ok = run_child(&run);
        if (ok && (report->kills + report->ends) % CHECK_EVERY == 0)
            ok = check_promises(&run, run.checked + 1);
    }
    if (ok)
        ok = check_promises(&run, 1);
    if (ok && report->kills < kills)
        ok = problem(&run, "only %u kills happened", report->kills);
    report->batches = run.promised;
    wr_test_dir_remove(&run.dir);
    return ok;
}
