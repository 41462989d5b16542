/* gate.c -- the threads that ask the store what users and teams have used.
 *
 *   wr_gate_ask, wr_gate_settle ──▶ queue ──▶ a thread: reserve, settle ──▶ done ──▶ the loop
 *
 * A file has one writer at a time, so one thread is enough for it; a database takes the commits of
 * several in one write of its disk. Once a minute one of the threads ends what requests hold whose
 * process died (wr_ledger_expire()).
 */
#include "proxy/gate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/calendar.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "store/where.h"

enum { THREADS_FILE = 1, THREADS_DATABASE = 4, EXPIRE_MS = 60 * 1000, AGAIN_MS = 500 };

/* What waits: a job of somebody's, or a cost, which is ours to free. They are taken in the order
 * that they came in: what a cost sets free may be what the next job asks for, and costs that wait
 * until there is no job would wait for as long as there is much to do. */
struct cost {
    unsigned char ticket[WR_SPEND_TICKET_BYTES];
    int64_t tokens, micro_usd;
    uint64_t number;
    int64_t since_ms, due_ms; /* when it came, and when it is tried (again) */
    struct cost *next;
};

struct wr_gate {
    const char *store_dir;
    uv_async_t wake;
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_t threads[THREADS_DATABASE];
    int threads_count;
    struct wr_gate_job *jobs, **jobs_end; /* the oldest first */
    struct cost *costs, **costs_end;
    size_t jobs_count;
    uint64_t number; /* of what came last */
    struct wr_gate_job *done, **done_end;
    bool is_ending, is_closed;
    int64_t expire_due_ms;
};

/* ---- on a thread ---- */

static bool need_ledger(const struct wr_gate *gate, struct wr_ledger **ledger)
{
    return *ledger || !wr_ledger_open(gate->store_dir, NULL, ledger, NULL, NULL);
}

static void run_job(struct wr_gate *gate, struct wr_ledger **ledger, struct wr_gate_job *job)
{
    job->status = need_ledger(gate, ledger)
                      ? wr_ledger_reserve(*ledger, &job->request, &job->verdict, NULL)
                      : WEIR_IO;
    (void)pthread_mutex_lock(&gate->lock);
    job->next = NULL;
    *gate->done_end = job;
    gate->done_end = &job->next;
    if (!gate->is_closed)
        (void)uv_async_send(&gate->wake);
    (void)pthread_mutex_unlock(&gate->lock);
}

static void add_cost(struct wr_gate *gate, struct cost *cost)
{
    cost->next = NULL;
    cost->number = ++gate->number;
    *gate->costs_end = cost;
    gate->costs_end = &cost->next;
}

/* A ticket is settled once, however often it is told. What the store does not take is told again,
 * behind what came meanwhile, until nobody holds the ticket any more. There are never more of these
 * than requests were let in, and a store that is away lets none in. */
static void run_cost(struct wr_gate *gate, struct wr_ledger **ledger, struct cost *cost)
{
    bool is_told = need_ledger(gate, ledger) &&
                   !wr_ledger_settle(*ledger, cost->ticket, cost->tokens, cost->micro_usd, NULL);

    (void)pthread_mutex_lock(&gate->lock);
    bool is_over = is_told || gate->is_ending || wr_clock_ms() - cost->since_ms > WR_SPEND_HOLD_MS;
    if (!is_over) {
        cost->due_ms = wr_clock_ms() + AGAIN_MS;
        add_cost(gate, cost);
    }
    (void)pthread_mutex_unlock(&gate->lock);
    if (is_over)
        free(cost);
}

static void expire(const struct wr_gate *gate, struct wr_ledger **ledger, int64_t now_ms)
{
    if (need_ledger(gate, ledger))
        (void)!wr_ledger_expire(*ledger, now_ms - WR_SPEND_HOLD_MS,
                                now_ms - (int64_t)WR_SPEND_KEEP_DAYS * WR_DAY_MS, NULL, NULL);
}

static bool is_cost_due(const struct wr_gate *gate)
{
    return gate->costs && (gate->is_ending || wr_clock_ms() >= gate->costs->due_ms);
}

/* Waits for something to do. False: it is time to end, and nothing is left. */
static bool take(struct wr_gate *gate, struct wr_gate_job **job, struct cost **cost, bool *expires)
{
    (void)pthread_mutex_lock(&gate->lock);
    while (!gate->jobs && !is_cost_due(gate) && !gate->is_ending &&
           wr_clock_ms() < gate->expire_due_ms) {
        struct timespec until = wr_clock_steady_in_ms(gate->costs ? AGAIN_MS : EXPIRE_MS);
        (void)wr_os_steady_cond_wait(&gate->more, &gate->lock, &until);
    }
    bool is_cost = is_cost_due(gate) && (!gate->jobs || gate->costs->number < gate->jobs->number);
    *job = is_cost ? NULL : gate->jobs;
    *cost = is_cost ? gate->costs : NULL;
    if (*job && !(gate->jobs = (*job)->next))
        gate->jobs_end = &gate->jobs;
    if (*cost && !(gate->costs = (*cost)->next))
        gate->costs_end = &gate->costs;
    gate->jobs_count -= *job != NULL;
    *expires = wr_clock_ms() >= gate->expire_due_ms && !gate->is_ending;
    if (*expires)
        gate->expire_due_ms = wr_clock_ms() + EXPIRE_MS;
    bool is_over = gate->is_ending && !*job && !*cost;
    (void)pthread_mutex_unlock(&gate->lock);
    return !is_over;
}

static void *work(void *user)
{
    struct wr_gate *gate = user;
    struct wr_ledger *ledger = NULL;
    struct wr_gate_job *job;
    struct cost *cost;
    bool expires;

    while (take(gate, &job, &cost, &expires)) {
        if (job)
            run_job(gate, &ledger, job);
        if (cost)
            run_cost(gate, &ledger, cost);
        if (expires)
            expire(gate, &ledger, wr_clock_ms());
    }
    wr_ledger_close(ledger);
    return NULL;
}

/* ---- on the loop ---- */

static void on_wake(uv_async_t *wake)
{
    struct wr_gate *gate = wake->data;

    (void)pthread_mutex_lock(&gate->lock);
    struct wr_gate_job *job = gate->done;
    gate->done = NULL;
    gate->done_end = &gate->done;
    (void)pthread_mutex_unlock(&gate->lock);
    while (job) {
        struct wr_gate_job *next = job->next;
        job->done(job);
        job = next;
    }
}

bool wr_gate_ask(struct wr_gate *gate, struct wr_gate_job *job)
{
    (void)pthread_mutex_lock(&gate->lock);
    bool has_room = gate->jobs_count < WR_PROXY_GATE_JOBS_MAX && !gate->is_closed;
    if (has_room) {
        job->next = NULL;
        job->number = ++gate->number;
        *gate->jobs_end = job;
        gate->jobs_end = &job->next;
        gate->jobs_count++;
        if (gate->expire_due_ms == INT64_MAX) /* who counts nothing looks after nothing */
            gate->expire_due_ms = 0;
        (void)pthread_cond_signal(&gate->more);
    }
    (void)pthread_mutex_unlock(&gate->lock);
    return has_room;
}

bool wr_gate_settle(struct wr_gate *gate, const unsigned char ticket[WR_SPEND_TICKET_BYTES],
                    int64_t tokens, int64_t micro_usd)
{
    struct cost *cost = malloc(sizeof(*cost));

    if (!cost)
        return false;
    *cost = (struct cost){.tokens = tokens, .micro_usd = micro_usd, .since_ms = wr_clock_ms()};
    memcpy(cost->ticket, ticket, WR_SPEND_TICKET_BYTES);
    (void)pthread_mutex_lock(&gate->lock);
    add_cost(gate, cost);
    (void)pthread_cond_signal(&gate->more);
    (void)pthread_mutex_unlock(&gate->lock);
    return true;
}

/* ---- life ---- */

struct wr_gate *wr_gate_new(uv_loop_t *loop, const char *store_dir)
{
    struct wr_gate *gate = calloc(1, sizeof(*gate));
    int wanted = wr_where(store_dir) == WR_WHERE_POSTGRES ? THREADS_DATABASE : THREADS_FILE;

    if (!gate)
        return NULL;
    gate->store_dir = store_dir;
    gate->expire_due_ms = INT64_MAX;
    gate->jobs_end = &gate->jobs;
    gate->costs_end = &gate->costs;
    gate->done_end = &gate->done;
    if (pthread_mutex_init(&gate->lock, NULL) || !wr_os_steady_cond_init(&gate->more) ||
        uv_async_init(loop, &gate->wake, on_wake)) {
        free(gate);
        return NULL;
    }
    gate->wake.data = gate;
    while (gate->threads_count < wanted &&
           !pthread_create(&gate->threads[gate->threads_count], NULL, work, gate))
        gate->threads_count++;
    if (gate->threads_count)
        return gate;
    wr_gate_close(gate); /* its memory is the loop's until that ends */
    return NULL;
}

void wr_gate_close(struct wr_gate *gate)
{
    if (!gate)
        return;
    (void)pthread_mutex_lock(&gate->lock);
    gate->is_closed = true;
    (void)pthread_mutex_unlock(&gate->lock);
    uv_close((uv_handle_t *)&gate->wake, NULL);
}

void wr_gate_free(struct wr_gate *gate)
{
    if (!gate)
        return;
    (void)pthread_mutex_lock(&gate->lock);
    gate->is_ending = true;
    (void)pthread_cond_broadcast(&gate->more);
    (void)pthread_mutex_unlock(&gate->lock);
    for (int i = 0; i < gate->threads_count; i++)
        (void)pthread_join(gate->threads[i], NULL);
    (void)pthread_mutex_destroy(&gate->lock);
    (void)pthread_cond_destroy(&gate->more);
    free(gate);
}
