#include "proxy/admit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "base/clock.h"
#include "base/span.h"
#include "tests/test_dir.h"

enum { LIMIT = 100 };

struct fixture {
    struct wr_test_dir dir;
    uv_loop_t loop;
    struct wr_gate *gate;
    sqlite3 *lock; /* of somebody else, who may hold the store */
    int done_count;
};

static void on_done(struct wr_gate_job *job)
{
    struct fixture *f = job->user;
    f->done_count++;
}

static struct fixture *set_up(void)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct wr_ledger *ledger;
    char path[4096];

    assert_non_null(f);
    f->dir = wr_test_dir_new();
    assert_int_equal(wr_ledger_open(f->dir.path, NULL, &ledger, NULL, NULL), WEIR_OK);
    wr_ledger_close(ledger);
    (void)snprintf(path, sizeof(path), "%s/store.db", f->dir.path);
    assert_int_equal(sqlite3_open(path, &f->lock), SQLITE_OK);
    (void)sqlite3_busy_timeout(f->lock, 60 * 1000);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    f->gate = wr_gate_new(&f->loop, f->dir.path);
    assert_non_null(f->gate);
    return f;
}

static void tear_down(struct fixture *f)
{
    wr_gate_close(f->gate);
    (void)uv_run(&f->loop, UV_RUN_DEFAULT);
    wr_gate_free(f->gate);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    assert_int_equal(sqlite3_close(f->lock), SQLITE_OK);
    wr_test_dir_remove(&f->dir);
    free(f);
}

static void hold(struct fixture *f, const char *word)
{
    assert_int_equal(sqlite3_exec(f->lock, word, NULL, NULL, NULL), SQLITE_OK);
}

/* Anna's, who has LIMIT micro-dollars a month. */
static struct wr_gate_job job_of(struct fixture *f, unsigned char number, int64_t micro_usd)
{
    struct wr_gate_job job = {.done = on_done, .user = f, .request = {.scopes_count = 1}};

    job.request.ticket[0] = number;
    job.request.now_ms = wr_clock_ms();
    job.request.scopes[0].name = WR_LIT("user:anna");
    for (int p = 0; p < WR_SPEND_PERIODS; p++)
        for (int k = 0; k < WR_SPEND_KINDS; k++)
            job.request.scopes[0].limits[p][k] = WR_SPEND_NO_LIMIT;
    job.request.scopes[0].limits[WR_SPEND_MONTH][WR_SPEND_MONEY] = LIMIT;
    job.request.most[WR_SPEND_REQUESTS] = 1;
    job.request.most[WR_SPEND_MONEY] = micro_usd;
    return job;
}

static void wait_for(struct fixture *f, int done_count)
{
    while (f->done_count < done_count)
        (void)uv_run(&f->loop, UV_RUN_ONCE);
}

/* The store is somebody else's while all three come, so that they wait beside each other. */
static void test_what_a_cost_sets_free_is_there_for_the_next(void **state)
{
    struct fixture *f = set_up();
    struct wr_gate_job first = job_of(f, 1, LIMIT), small = job_of(f, 2, 0),
                       next = job_of(f, 3, LIMIT / 2);

    (void)state;
    assert_true(wr_gate_ask(f->gate, &first));
    wait_for(f, 1);
    assert_false(first.verdict.is_refused);
    hold(f, "BEGIN IMMEDIATE");
    assert_true(wr_gate_ask(f->gate, &small));
    assert_true(wr_gate_settle(f->gate, first.request.ticket, 1, 1));
    assert_true(wr_gate_ask(f->gate, &next));
    hold(f, "ROLLBACK");
    wait_for(f, 3);
    assert_int_equal(next.status, WEIR_OK);
    assert_false(next.verdict.is_refused);
    assert_int_equal(next.verdict.spent[0][WR_SPEND_MONTH].used[WR_SPEND_MONEY], 1 + LIMIT / 2);
    tear_down(f);
}

/* A job behind the cost fails too, and that is heard: by then the cost has failed once. */
static void test_a_cost_that_cannot_be_told_is_told_again(void **state)
{
    struct fixture *f = set_up();
    struct wr_gate_job first = job_of(f, 1, LIMIT), failed = job_of(f, 2, 0), next;

    (void)state;
    assert_true(wr_gate_ask(f->gate, &first));
    wait_for(f, 1);
    hold(f, "BEGIN IMMEDIATE");
    assert_true(wr_gate_settle(f->gate, first.request.ticket, 1, 1));
    assert_true(wr_gate_ask(f->gate, &failed));
    wait_for(f, 2);
    assert_int_not_equal(failed.status, WEIR_OK);
    hold(f, "ROLLBACK");
    for (unsigned char number = 3;; number++) { /* what it sets free is there sooner or later */
        next = job_of(f, number, LIMIT / 2);
        assert_true(wr_gate_ask(f->gate, &next));
        wait_for(f, number);
        assert_int_equal(next.status, WEIR_OK);
        if (!next.verdict.is_refused)
            break;
        assert_true(number < UINT8_MAX);
        (void)usleep(100 * 1000);
    }
    tear_down(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_cost_sets_free_is_there_for_the_next),
        cmocka_unit_test(test_a_cost_that_cannot_be_told_is_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
