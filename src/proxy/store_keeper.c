#include "proxy/store_keeper.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "weir/store.h"

enum { ROUND_S = 24 * 3600, END_S_MAX = 2, CLOCK_S_MIN = 1735689600 /* the year 2025 */ };

static const int64_t day_ms = 24LL * 3600 * 1000;

struct wr_store_keeper {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stops;
    char *dir;
    uint32_t keep_days;
    uint64_t max_bytes;
};

static struct timespec now(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_REALTIME, &time);
    return time;
}

static void tell(const struct wr_store_keeper *k, const struct weir_gc_report *report)
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
static void collect(struct wr_store_keeper *k)
{
    struct weir_store_options options = {.must_exist = true};
    struct timespec time = now();
    struct weir_gc_options gc = {.now_ms = (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000,
                                 .retention_ms = (int64_t)k->keep_days * day_ms,
                                 .live_ms = day_ms,
                                 .stored_bytes_max = k->max_bytes};
    struct weir_gc_report report = {0};
    struct weir_store *store = NULL;
    weir_trouble trouble;

    if (time.tv_sec < CLOCK_S_MIN || weir_store_open(k->dir, &options, &store, &trouble, NULL))
        return;
    if (!weir_store_gc(store, &gc, &report, NULL))
        tell(k, &report);
    weir_store_close(store);
}

static void *work(void *user)
{
    struct wr_store_keeper *k = user;
    bool stops = false;

    while (!stops) {
        collect(k);
        struct timespec until = now();
        until.tv_sec += ROUND_S;
        (void)pthread_mutex_lock(&k->lock);
        while (!k->stops && !pthread_cond_timedwait(&k->wake, &k->lock, &until))
            ;
        stops = k->stops;
        (void)pthread_mutex_unlock(&k->lock);
    }
    return NULL;
}

struct wr_store_keeper *wr_store_keeper_new(const struct wr_config *config)
{
    if (!config->store_dir || (!config->keep_days && !config->store_bytes_max))
        return NULL;
    struct wr_store_keeper *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->keep_days = config->keep_days;
    k->max_bytes = config->store_bytes_max;
    k->dir = strdup(config->store_dir);
    (void)pthread_mutex_init(&k->lock, NULL);
    (void)pthread_cond_init(&k->wake, NULL);
    if (k->dir && !pthread_create(&k->thread, NULL, work, k))
        return k;
    free(k->dir);
    free(k);
    return NULL;
}

void wr_store_keeper_free(struct wr_store_keeper *keeper)
{
    struct timespec until = now();

    if (!keeper)
        return;
    (void)pthread_mutex_lock(&keeper->lock);
    keeper->stops = true;
    (void)pthread_cond_signal(&keeper->wake);
    (void)pthread_mutex_unlock(&keeper->lock);
    until.tv_sec += END_S_MAX;
    if (pthread_timedjoin_np(keeper->thread, NULL, &until))
        return; /* it still uses all of this, and ends with the process */
    (void)pthread_mutex_destroy(&keeper->lock);
    (void)pthread_cond_destroy(&keeper->wake);
    free(keeper->dir);
    free(keeper);
}
