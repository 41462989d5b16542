/* How the store is, the thread that looks after it, and what threads that project do with it.
 *
 *   any thread that projects     seen(), failed(), well(): what its last use of the store showed
 *   the keeper, each second      is the store still at its path; if it was in trouble, can it be
 *                                written again
 *   the keeper, once a day       old sessions out, as `weir store gc` does
 *
 * The state itself is in the metrics, in memory that all workers share, so that trouble is told
 * once and not by each of them. Requests alone cannot find out that trouble is over: while the
 * server is not ready, a load balancer sends none. That is why there is a keeper.
 *
 * The keeper ends with the server. Where it is busy for longer than END_S_MAX, nobody waits for it
 * and its memory is left to the end of the process: it still uses it.
 */
#include "proxy/store_state.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "engine/engine.h"
#include "proxy/metrics.h"
#include "store/store.h"

enum {
    ROUND_S = 24 * 3600,
    LOOK_S = 1,
    END_S_MAX = 2,
    CLOCK_S_MIN = 1735689600 /* the year 2025 */
};

static const int64_t day_ms = 24LL * 3600 * 1000;

struct wr_store_keeper {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stops, has_ended;
    char *dir;
    uint32_t keep_days;
    uint64_t max_bytes;
    struct wr_metrics *metrics;
    struct weir_store *store; /* the thread's; NULL: it cannot be opened */
    uint64_t place;
};

/* ---- the state ---- */

void wr_store_state_begin(struct wr_metrics *metrics, const struct weir_store *store)
{
    atomic_store(&metrics->store_place, wr_store_place(store));
}

void wr_store_state_seen(struct wr_metrics *metrics, const char *dir,
                         const struct weir_store *store, uint64_t *place)
{
    uint64_t now = wr_store_place(store);

    if (*place == now)
        return;
    *place = now;
    if (atomic_exchange(&metrics->store_place, now) == now)
        return;
    char shown[WR_WHERE_SHOWN_BYTES];
    fprintf(stderr,
            "weir serve: files of the store in %s were removed or replaced while it was in use;"
            " another store.db is in use now. Sessions that go on put their originals back; handles"
            " of others may not be found\n",
            wr_where_shown(dir, shown));
}

static bool is_trouble(weir_trouble trouble)
{
    switch (trouble) {
    case WEIR_TROUBLE_NONE:
    case WEIR_TROUBLE_LOCKED:
    case WEIR_TROUBLE_COLLISION:
    case WEIR_TROUBLE_CONFLICT:
    case WEIR_TROUBLE_REPLACED:
    case WEIR_TROUBLE_OUTRUN:
        return false;
    default:
        return true;
    }
}

void wr_store_state_failed(struct wr_metrics *metrics, const char *dir, weir_trouble trouble)
{
    if (!is_trouble(trouble) || atomic_exchange(&metrics->store_trouble, (uint64_t)trouble))
        return;
    char shown[WR_WHERE_SHOWN_BYTES];
    fprintf(stderr,
            "weir serve: store %s: %s. Until it can be written again nothing new is shortened;"
            " what was shortened stays so while its original can be read\n",
            wr_where_shown(dir, shown), weir_trouble_text(trouble));
}

void wr_store_state_well(struct wr_metrics *metrics, const char *dir)
{
    char shown[WR_WHERE_SHOWN_BYTES];
    if (atomic_exchange(&metrics->store_trouble, 0))
        fprintf(stderr, "weir serve: store %s is written again\n", wr_where_shown(dir, shown));
}

weir_trouble wr_store_state_trouble(const struct wr_metrics *metrics)
{
    return (weir_trouble)atomic_load(&metrics->store_trouble);
}

bool wr_store_state_has_store(const struct wr_metrics *metrics)
{
    return atomic_load(&metrics->store_place);
}

/* ---- the keeper ---- */

static void tell_collected(const struct wr_store_keeper *k, const struct weir_gc_report *report)
{
    if (report->sessions_count)
        fprintf(stderr,
                "weir serve: %llu sessions that were not used for long were taken out of the store,"
                " %llu MB\n",
                (unsigned long long)report->sessions_count,
                (unsigned long long)(report->stored_bytes / 1000000));
    if (report->is_over)
        fprintf(stderr,
                "weir serve: the store holds more than its max_bytes (%llu): all of it was used "
                "within a day\n",
                (unsigned long long)k->max_bytes);
}

/* A store that cannot be opened, or is held by another, is tried again the next day. So is any
 * while the machine has not been told the time: each session would be taken for one of that time,
 * and for a very old one when the clock is set. */
static void collect_old(struct wr_store_keeper *k)
{
    struct weir_gc_options gc = {.now_ms = wr_clock_ms(),
                                 .retention_ms = (int64_t)k->keep_days * day_ms,
                                 .live_ms = day_ms,
                                 .stored_bytes_max = k->max_bytes};
    struct weir_gc_report report = {0};

    if ((!k->keep_days && !k->max_bytes) || !k->store || gc.now_ms / 1000 < CLOCK_S_MIN)
        return;
    if (!weir_store_gc(k->store, &gc, &report, NULL))
        tell_collected(k, &report);
}

/* A store that is well is only looked at; one in trouble is written, which is what it must be able
 * to take. */
static void look_at_store(struct wr_store_keeper *k)
{
    bool was_in_trouble = wr_store_state_trouble(k->metrics);
    weir_trouble trouble = WEIR_TROUBLE_NONE;

    if (!k->store && weir_store_open(k->dir, NULL, &k->store, &trouble, NULL)) {
        k->store = NULL;
        wr_store_state_failed(k->metrics, k->dir, trouble);
        return;
    }
    if (wr_store_probe(k->store, was_in_trouble, NULL)) {
        wr_store_state_failed(k->metrics, k->dir, weir_store_trouble(k->store));
        if (was_in_trouble) { /* it may be what is open that fails, and not the store */
            weir_store_close(k->store);
            k->store = NULL;
        }
        return;
    }
    if (was_in_trouble)
        wr_store_state_well(k->metrics, k->dir);
    wr_store_state_seen(k->metrics, k->dir, k->store, &k->place);
}

static void *keep_store(void *user)
{
    struct wr_store_keeper *k = user;
    int rounds_left = 0;
    bool stops = false;

    while (!stops) {
        look_at_store(k);
        if (rounds_left-- <= 0) {
            collect_old(k);
            rounds_left = ROUND_S / LOOK_S;
        }
        struct timespec until = wr_clock_steady_in_ms(LOOK_S * 1000);
        (void)pthread_mutex_lock(&k->lock);
        while (!k->stops && !wr_os_steady_cond_wait(&k->wake, &k->lock, &until))
            ;
        stops = k->stops;
        (void)pthread_mutex_unlock(&k->lock);
    }
    weir_store_close(k->store);
    (void)pthread_mutex_lock(&k->lock);
    k->has_ended = true;
    (void)pthread_cond_signal(&k->wake);
    (void)pthread_mutex_unlock(&k->lock);
    return NULL;
}

struct wr_store_keeper *wr_store_keeper_new(const struct wr_config *config,
                                            struct wr_metrics *metrics)
{
    if (!config->store_dir)
        return NULL;
    struct wr_store_keeper *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->keep_days = config->keep_days;
    k->max_bytes = config->store_bytes_max;
    k->metrics = metrics;
    k->dir = strdup(config->store_dir);
    (void)pthread_mutex_init(&k->lock, NULL);
    if (k->dir && wr_os_steady_cond_init(&k->wake) &&
        !pthread_create(&k->thread, NULL, keep_store, k))
        return k;
    free(k->dir);
    free(k);
    return NULL;
}

void wr_store_keeper_free(struct wr_store_keeper *keeper)
{
    struct timespec until = wr_clock_steady_in_ms(END_S_MAX * 1000);

    if (!keeper)
        return;
    (void)pthread_mutex_lock(&keeper->lock);
    keeper->stops = true;
    (void)pthread_cond_signal(&keeper->wake);
    while (!keeper->has_ended && !wr_os_steady_cond_wait(&keeper->wake, &keeper->lock, &until))
        ;
    bool has_ended = keeper->has_ended;
    (void)pthread_mutex_unlock(&keeper->lock);
    if (!has_ended)
        return; /* it still uses all of this, and ends with the process */
    (void)pthread_join(keeper->thread, NULL);
    (void)pthread_mutex_destroy(&keeper->lock);
    (void)pthread_cond_destroy(&keeper->wake);
    free(keeper->dir);
    free(keeper);
}

/* ==== the stores of a thread ==== */

void wr_thread_stores_open(struct wr_thread_stores *stores)
{
    weir_trouble trouble;

    if (stores->store || !stores->dir)
        return;
    if (weir_store_open(stores->dir, NULL, &stores->store, &trouble, NULL)) {
        stores->store = NULL;
        wr_store_state_failed(stores->metrics, stores->dir, trouble);
    }
}

void wr_thread_stores_close(struct wr_thread_stores *stores)
{
    weir_store_close(stores->shadow);
    weir_store_close(stores->store);
    stores->store = stores->shadow = NULL;
}

struct weir_store *wr_thread_stores_for(struct wr_thread_stores *stores,
                                        const struct wr_decision *decision)
{
    /* The last time of a session that was projected so far: the engine compares, and says whether
     * that is a step. */
    if (decision->action == WR_ACTION_PROJECT || decision->turn == WR_MODE_TURNS_WHOLE)
        return stores->store;
    if (decision->action != WR_ACTION_SHADOW)
        return NULL;
    if (!stores->shadow && weir_store_new_memory(WR_PROXY_SHADOW_BYTES_MAX, &stores->shadow))
        stores->shadow = NULL;
    return stores->shadow;
}

void wr_thread_stores_note(struct wr_thread_stores *stores, weir_trouble trouble)
{
    wr_store_state_seen(stores->metrics, stores->dir, stores->store, &stores->place);
    wr_store_state_failed(stores->metrics, stores->dir, trouble);
}

void wr_thread_stores_empty_shadow(struct wr_thread_stores *stores)
{
    if (!stores->shadow || weir_store_trouble(stores->shadow) != WEIR_TROUBLE_FULL)
        return;
    weir_store_close(stores->shadow);
    stores->shadow = NULL;
}

/* ==== what is kept of a projection ==== */

void wr_plan_keep(struct wr_notes *notes, struct weir_request *request, weir_span tenant,
                  weir_span session, int64_t now_ms)
{
    unsigned char key[WR_LEDGER_KEY_BYTES];
    struct wr_buf plan;

    if (!notes)
        return;
    wr_buf_init(&plan, WR_LEDGER_NOTE_BYTES_MAX);
    wr_plan_key(session, key);
    if (!wr_engine_foretell(request, &plan))
        wr_notes_keep_as(notes, key, tenant, session, wr_buf_view(&plan), now_ms);
    wr_buf_release(&plan);
}

enum { PATH_BYTES_MAX = 4096 };

static void replace_file(const char *dir, uint64_t name, const char *what, weir_span text)
{
    char path[PATH_BYTES_MAX], draft[PATH_BYTES_MAX + 8];
    int bytes =
        snprintf(path, sizeof(path), "%s/%016llx.%s.json", dir, (unsigned long long)name, what);

    if (bytes < 0 || (size_t)bytes >= sizeof(path))
        return;
    (void)snprintf(draft, sizeof(draft), "%s.new", path);
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    bool ok = wr_os_write_all(fd, text);
    if (close(fd) || !ok || rename(draft, path))
        (void)unlink(draft);
}

void wr_shadow_keep(const char *dir, const struct wr_record *record, weir_span came, weir_span made)
{
    uint64_t name = wr_hash64_seeded(wr_span_of(record->model),
                                     wr_hash64_seeded(record->session, wr_hash64(record->tenant)));
    struct wr_buf report;

    wr_buf_init(&report, WR_LEDGER_REPORT_BYTES_MAX);
    wr_record_report(record, &report);
    if (!wr_buf_status(&report)) {
        replace_file(dir, name, "came", came);
        replace_file(dir, name, "made", made);
        replace_file(dir, name, "report", wr_buf_view(&report));
    }
    wr_buf_release(&report);
}

void wr_shadow_forget_tool(struct wr_record *record)
{
    uint64_t tokens = record->own_tools_tokens;

    if (record->tokens_before <= tokens || record->came_tokens[WR_CATEGORY_TOOLS] < tokens)
        return;
    record->tokens_before -= tokens;
    record->came_tokens[WR_CATEGORY_TOOLS] -= tokens;
}
