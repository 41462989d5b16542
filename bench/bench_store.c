/* The store at the job it has: a batch of 8 originals of 2 KB a request. The yardstick is SQLite
 * alone, in the same run on the same disk: 8 rows of 2 KB a transaction, no hash, no compression.
 */
#include <stdio.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/span.h"
#include "bench/clock.h"
#include "store/store.h"
#include "tests/test_dir.h"
#include "weir/store.h"

enum { ROWS = 8, ROW_BYTES = 2048, TRANSACTIONS = 1000, ROUNDS = 3, LARGE_BYTES = 8 << 20 };

/* Text like a log: words from a small set, numbers that change. */
static void fill_text(struct wr_buf *text, size_t bytes, uint32_t seed)
{
    static const char *const words[] = {
        "src/engine/apply.c", "error:",     "warning:", "test passed", "expected", "found",
        "in function",        "connection", "retry"};
    wr_buf_reset(text);
    while (text->len < bytes) {
        seed = seed * 1664525u + 1013904223u;
        wr_buf_printf(text, "%s:%u: %s %x\n", words[(seed >> 8) % 9], (seed >> 12) % 900,
                      words[(seed >> 16) % 9], seed >> 20);
    }
    text->len = bytes;
}

struct job {
    struct weir_store *store;
    sqlite3 *plain;
    struct wr_buf texts; /* every row of a round */
    uint32_t seed;       /* rounds write different texts */
    weir_durability durability;
    uint32_t transactions;
};

static weir_span row_of(const struct job *job, size_t index)
{
    return (weir_span){job->texts.bytes + index * ROW_BYTES, ROW_BYTES};
}

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "bench_store: %s failed\n", what);
    exit(1);
}

static void commit_all(struct job *job)
{
    for (uint32_t t = 0; t < job->transactions; t++) {
        struct weir_artifact artifacts[ROWS];
        struct weir_batch batch = {.tenant = WR_LIT("local"),
                                   .session = WR_LIT("bench"),
                                   .used_ms = t,
                                   .durability = job->durability,
                                   .artifacts = artifacts,
                                   .artifacts_count = ROWS};
        for (size_t i = 0; i < ROWS; i++)
            artifacts[i] = (struct weir_artifact){.text = row_of(job, t * ROWS + i)};
        need(!weir_store_commit(job->store, &batch, NULL), "commit");
    }
}

static void insert_all(struct job *job)
{
    sqlite3_stmt *insert;
    need(!sqlite3_prepare_v2(job->plain, "INSERT INTO t VALUES(?1, ?2)", -1, &insert, NULL),
         "prepare");
    for (uint32_t t = 0; t < job->transactions; t++) {
        need(!sqlite3_exec(job->plain, "BEGIN IMMEDIATE", NULL, NULL, NULL), "begin");
        for (size_t i = 0; i < ROWS; i++) {
            weir_span row = row_of(job, t * ROWS + i);
            wr_hash128 key = wr_hash128_of(row);
            (void)sqlite3_bind_blob(insert, 1, &key, sizeof(key), SQLITE_STATIC);
            (void)sqlite3_bind_blob(insert, 2, row.ptr, (int)row.len, SQLITE_STATIC);
            need(sqlite3_step(insert) == SQLITE_DONE, "insert");
            (void)sqlite3_reset(insert);
        }
        need(!sqlite3_exec(job->plain, "COMMIT", NULL, NULL, NULL), "commit");
    }
    (void)sqlite3_finalize(insert);
}

/* The best of a few rounds; every round's texts are new, made outside the time taken. */
static double best_rate(struct job *job, void (*run)(struct job *job))
{
    double best_s = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        fill_text(&job->texts, (size_t)job->transactions * ROWS * ROW_BYTES, ++job->seed);
        double start_s = bench_now_s();
        run(job);
        double took_s = bench_now_s() - start_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    return job->transactions / best_s;
}

static void bench_transactions(struct job *job)
{
    job->transactions = TRANSACTIONS;
    double plain = best_rate(job, insert_all);
    double normal = best_rate(job, commit_all);
    struct weir_store_stats stats;
    need(!weir_store_stats(job->store, &stats, NULL), "stats");
    job->durability = WEIR_DURABLE_FULL;
    job->transactions = TRANSACTIONS / 10;
    double full = best_rate(job, commit_all);
    printf("transactions/s of %d x %d bytes\n", (int)ROWS, (int)ROW_BYTES);
    printf("  SQLite alone (WAL, NORMAL)      %8.0f\n", plain);
    printf("  the store, NORMAL               %8.0f  %.2f x SQLite alone, %.2f ms each\n", normal,
           normal / plain, 1000 / normal);
    printf("  the store, FULL                 %8.0f  %.2f x, %.2f ms each\n", full, full / plain,
           1000 / full);
    printf("  bytes stored per byte of text   %8.2f\n",
           (double)stats.stored_bytes / (double)stats.text_bytes);
}

/* A request of a long session: all it rests on is stored already. What is left of the time is the
 * hash of every text. */
static void bench_again(struct job *job)
{
    enum { AGAIN_ROWS = 100, AGAIN_ROUNDS = 300 };
    static struct weir_artifact artifacts[AGAIN_ROWS];
    static weir_hash hashes[AGAIN_ROWS];
    bool is_there[AGAIN_ROWS];
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = WR_LIT("bench"),
                               .artifacts = artifacts,
                               .artifacts_count = AGAIN_ROWS};

    for (size_t i = 0; i < AGAIN_ROWS; i++)
        artifacts[i] = (struct weir_artifact){.text = row_of(job, i)};
    double start_s = bench_now_s();
    for (size_t i = 0; i < AGAIN_ROWS; i++)
        need(!wr_sha256(artifacts[i].text, hashes[i].bytes), "hash");
    double hash_s = bench_now_s() - start_s;
    need(!weir_store_commit(job->store, &batch, NULL), "commit");
    start_s = bench_now_s();
    for (int i = 0; i < AGAIN_ROUNDS; i++)
        need(!weir_store_commit(job->store, &batch, NULL), "commit");
    double commit_s = (bench_now_s() - start_s) / AGAIN_ROUNDS;
    start_s = bench_now_s();
    for (int i = 0; i < AGAIN_ROUNDS; i++)
        need(!weir_store_has(job->store, batch.tenant, hashes, AGAIN_ROWS, is_there, NULL), "has");
    printf(
        "%d artifacts of %d bytes that are stored: commit %.0f us (%.0f us SHA-256), has %.0f us\n",
        (int)AGAIN_ROWS, (int)ROW_BYTES, commit_s * 1e6, hash_s * 1e6,
        (bench_now_s() - start_s) * 1e6 / AGAIN_ROUNDS);
}

static void bench_reads(struct job *job)
{
    enum { READS = 2000 };
    weir_handle handles[ROWS];
    struct weir_artifact found;
    for (size_t i = 0; i < ROWS; i++)
        need(!weir_handle_of(row_of(job, i), &handles[i]), "hash");
    double start_s = bench_now_s();
    for (int i = 0; i < READS; i++) {
        struct weir_lookup lookup = {WR_LIT("local"), handles[i % ROWS], false};
        need(!weir_store_get(job->store, &lookup, &found, NULL, NULL), "get");
    }
    printf("verified reads/s of %d bytes      %8.0f\n", (int)ROW_BYTES,
           READS / (bench_now_s() - start_s));
}

static weir_status count_mark(void *user, size_t key_index, const struct weir_mark *mark)
{
    (void)key_index;
    (void)mark;
    ++*(size_t *)user;
    return WEIR_OK;
}

static weir_hash turn_of(uint32_t session, uint32_t turn)
{
    uint32_t numbers[2] = {session, turn};
    weir_hash hash;
    need(!wr_sha256((weir_span){(const char *)numbers, sizeof(numbers)}, hash.bytes), "hash");
    return hash;
}

/* A store with many sessions; in each, one turn in eight has a mark. */
static void fill_marks(struct job *job, uint32_t sessions, uint32_t turns)
{
    enum { MARKS_MAX = 64 };
    for (uint32_t s = 0; s < sessions; s++) {
        struct weir_mark marks[MARKS_MAX];
        char name[32];
        struct weir_batch batch = {.tenant = WR_LIT("local"), .marks = marks};
        for (uint32_t t = 0; t < turns && batch.marks_count < MARKS_MAX; t += 8)
            marks[batch.marks_count++] =
                (struct weir_mark){turn_of(s, t), WEIR_MARK_STEP, WR_LIT("pressure"), false};
        (void)snprintf(name, sizeof(name), "session %u", s);
        batch.session = wr_span_of(name);
        need(!weir_store_commit(job->store, &batch, NULL), "commit");
    }
}

static void bench_marks(struct job *job)
{
    enum { SESSIONS = 200, TURNS_MAX = 400, ROUNDS_OF_MARKS = 200 };
    static const uint32_t turns_of[] = {25, 100, TURNS_MAX};
    static weir_hash keys[SESSIONS][TURNS_MAX];

    fill_marks(job, SESSIONS, TURNS_MAX);
    for (uint32_t s = 0; s < SESSIONS; s++)
        for (uint32_t t = 0; t < TURNS_MAX; t++)
            keys[s][t] = turn_of(s, t);
    for (size_t i = 0; i < WR_COUNT_OF(turns_of); i++) {
        size_t found = 0;
        double start_s = bench_now_s();
        for (uint32_t round = 0; round < ROUNDS_OF_MARKS; round++)
            need(!weir_store_marks(job->store, WR_LIT("local"), keys[round % SESSIONS], turns_of[i],
                                   count_mark, &found, NULL),
                 "marks");
        printf("all marks of a chain of %3u turns  %7.1f us, %zu found\n", turns_of[i],
               (bench_now_s() - start_s) * 1e6 / ROUNDS_OF_MARKS, found / ROUNDS_OF_MARKS);
    }
}

struct speed {
    struct wr_packer packer;
    struct wr_buf text, packed, again;
    enum wr_codec codec;
};

static void pack_once(void *user)
{
    struct speed *speed = user;
    wr_buf_reset(&speed->packed);
    need(!wr_pack(&speed->packer, wr_buf_view(&speed->text), &speed->packed, &speed->codec),
         "pack");
}

static void unpack_once(void *user)
{
    struct speed *speed = user;
    wr_buf_reset(&speed->again);
    need(!wr_unpack(&speed->packer, wr_buf_view(&speed->packed), speed->codec, speed->text.len,
                    &speed->again),
         "unpack");
}

static void hash_once(void *user)
{
    unsigned char digest[WR_SHA256_BYTES];
    need(!wr_sha256(wr_buf_view(&((struct speed *)user)->text), digest), "hash");
}

static void bench_packing(void)
{
    struct speed speed = {.packer = {NULL, NULL}};
    wr_buf_init(&speed.text, 2 * LARGE_BYTES);
    wr_buf_init(&speed.packed, 2 * LARGE_BYTES);
    wr_buf_init(&speed.again, 2 * LARGE_BYTES);
    fill_text(&speed.text, LARGE_BYTES, 7);
    double mb = LARGE_BYTES / 1e6, pack_s = bench_best_s(pack_once, &speed, ROUNDS);
    printf("pack (zstd)      %8.0f MB/s, to %.2f of the text\n", mb / pack_s,
           (double)speed.packed.len / (double)speed.text.len);
    printf("unpack           %8.0f MB/s\n", mb / bench_best_s(unpack_once, &speed, ROUNDS));
    printf("SHA-256          %8.0f MB/s\n", mb / bench_best_s(hash_once, &speed, ROUNDS));
    wr_buf_release(&speed.text);
    wr_buf_release(&speed.packed);
    wr_buf_release(&speed.again);
    wr_packer_release(&speed.packer);
}

int main(void)
{
    struct wr_test_dir dir = wr_test_dir_new();
    char path[2 * WR_TEST_PATH_BYTES];
    struct job job = {.seed = 1};

    wr_buf_init(&job.texts, 2 * (size_t)TRANSACTIONS * ROWS * ROW_BYTES);
    (void)snprintf(path, sizeof(path), "%s/plain.db", dir.path);
    need(!weir_store_open(dir.path, NULL, &job.store, NULL, NULL), "open");
    need(!sqlite3_open(path, &job.plain), "open");
    need(!sqlite3_exec(job.plain,
                       "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                       "CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB)",
                       NULL, NULL, NULL),
         "schema");
    bench_transactions(&job);
    bench_again(&job);
    bench_reads(&job);
    bench_marks(&job);
    bench_packing();
    weir_store_close(job.store);
    (void)sqlite3_close(job.plain);
    wr_buf_release(&job.texts);
    wr_test_dir_remove(&dir);
    return 0;
}
