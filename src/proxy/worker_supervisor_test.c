/* A supervisor in a process of its own, with workers that only say that they have begun. */
#include "proxy/worker.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/span.h"

enum { WORKERS = 2, NOTE = 77 };

/* What a worker says. */
struct word {
    pid_t pid;
    uint32_t index;
    char said; /* 'b': it has begun; 'h': it was told of a hangup */
};

/* What the second worker does each time it is started; then it serves. */
enum deed { SERVES, CANNOT_BEGIN, ENDS };

struct world {
    pid_t pid; /* the supervisor's */
    int words[2], complaints[2];
    struct wr_metrics *metrics;
    struct wr_crash_table *crashes;
    const enum deed *deeds;
    size_t deeds_count;
    _Atomic size_t *starts_count; /* of the second worker; shared */
    bool tells_begun;             /* the first says that it serves, and the second begins then */
    const char *terminal;         /* which the supervisor gets; NULL: none */
};

static struct world *here; /* for the signal's handler */
static uint32_t own_index;

static void say(char what)
{
    struct word word = {.pid = getpid(), .index = own_index, .said = what};
    if (write(here->words[1], &word, sizeof(word)) != sizeof(word))
        _exit(9);
}

static void on_hangup(int number)
{
    (void)number;
    say('h');
}

static int work(void *user, uint32_t index)
{
    struct world *w = user;
    int note;

    here = w;
    own_index = index;
    if (index == 1) {
        while (w->tells_begun && !atomic_load(&w->metrics->has_begun))
            (void)sched_yield();
        size_t start = atomic_fetch_add(w->starts_count, 1);
        enum deed deed = start < w->deeds_count ? w->deeds[start] : SERVES;
        if (deed != SERVES)
            return deed == CANNOT_BEGIN ? WR_WORKER_CANNOT_BEGIN : 5;
        (void)wr_crash_enter(w->crashes, getpid(), NOTE, &note);
    }
    (void)signal(SIGHUP, on_hangup);
    if (w->tells_begun && index == 0)
        atomic_store(&w->metrics->has_begun, true);
    say('b');
    for (;;)
        (void)pause();
}

static void start_world(struct world *w, const enum deed *deeds, size_t deeds_count)
{
    *w = (struct world){.tells_begun = w->tells_begun,
                        .terminal = w->terminal,
                        .metrics = wr_metrics_new(),
                        .crashes = wr_crash_table_new(),
                        .deeds = deeds,
                        .deeds_count = deeds_count};
    w->starts_count = mmap(NULL, sizeof(*w->starts_count), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(w->starts_count != MAP_FAILED && w->metrics && w->crashes);
    assert_int_equal(pipe(w->words), 0);
    assert_int_equal(pipe(w->complaints), 0);
    w->pid = fork();
    assert_true(w->pid >= 0);
    if (!w->pid) {
        struct wr_supervisor_options options = {.workers_count = WORKERS,
                                                .crashes = w->crashes,
                                                .metrics = w->metrics,
                                                .run = work,
                                                .user = w};
        if (w->terminal && (setsid() < 0 || open(w->terminal, O_RDWR) < 0))
            _exit(9);
        (void)dup2(w->complaints[1], STDERR_FILENO);
        _exit(wr_supervisor_run(&options));
    }
    (void)close(w->words[1]);
    (void)close(w->complaints[1]);
}

/* The next word; waits for it. */
static struct word hear(struct world *w)
{
    struct word word = {0};
    ssize_t got;

    while ((got = read(w->words[0], &word, sizeof(word))) < 0 && errno == EINTR)
        ;
    assert_int_equal(got, sizeof(word));
    return word;
}

/* Both have begun, in any order. */
static void hear_both(struct world *w, pid_t pids[WORKERS])
{
    pids[0] = pids[1] = 0;
    for (size_t i = 0; i < WORKERS; i++) {
        struct word word = hear(w);
        assert_int_equal(word.said, 'b');
        assert_true(word.index < WORKERS);
        assert_int_equal(pids[word.index], 0);
        pids[word.index] = word.pid;
    }
}

/* Its exit status, once all who could say something are gone. */
static int end_world(struct world *w, char *complaints, size_t bytes_max)
{
    struct word word;
    int status;
    size_t len = 0;
    ssize_t got;

    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    assert_int_equal(read(w->words[0], &word, sizeof(word)), 0); /* no worker is left */
    while ((got = read(w->complaints[0], complaints + len, bytes_max - 1 - len)) > 0)
        len += (size_t)got;
    complaints[len] = '\0';
    (void)close(w->words[0]);
    (void)close(w->complaints[0]);
    (void)munmap(w->starts_count, sizeof(*w->starts_count));
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void who_is_told_to_stop_ends_all_workers(void **state)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(numbers); i++) {
        struct world w = {.pid = 0};
        pid_t pids[WORKERS];
        char complaints[1024];
        start_world(&w, NULL, 0);
        hear_both(&w, pids);
        assert_int_equal(kill(w.pid, numbers[i]), 0);
        assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
        assert_string_equal(complaints, "");
        assert_int_equal(atomic_load(&w.metrics->worker_restarts), 0);
    }
}

/* It was not there when the key was pressed, so the terminal has not told it. */
static void who_is_started_behind_a_key_is_told_to_stop(void **state)
{
    int keys = posix_openpt(O_RDWR | O_NOCTTY);
    struct world w = {.pid = 0};
    pid_t pids[WORKERS];
    char complaints[4096], c;
    (void)state;

    assert_true(keys >= 0 && !grantpt(keys) && !unlockpt(keys));
    w.terminal = ptsname(keys);
    start_world(&w, NULL, 0);
    hear_both(&w, pids);
    for (int i = 0; i < 4; i++) { /* the pause before the last is 160 ms */
        assert_int_equal(kill(pids[1], SIGKILL), 0);
        while (read(w.complaints[0], &c, 1) == 1 && c != '\n')
            ;
        if (i < 3)
            pids[1] = hear(&w).pid;
    }
    assert_int_equal(write(keys, "\003", 1), 1);
    (void)alarm(60);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
    (void)alarm(0);
    (void)close(keys);
}

static void a_hangup_is_told_to_all_workers(void **state)
{
    struct world w = {.pid = 0};
    pid_t pids[WORKERS];
    char complaints[1024];
    (void)state;
    start_world(&w, NULL, 0);
    hear_both(&w, pids);
    assert_int_equal(kill(w.pid, SIGHUP), 0);
    struct word first = hear(&w), second = hear(&w);
    assert_int_equal(first.said + second.said, 2 * 'h');
    assert_int_equal(first.index + second.index, 1);
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
}

static void who_dies_is_started_anew_in_its_place(void **state)
{
    struct world w = {.pid = 0};
    pid_t pids[WORKERS];
    char complaints[1024];
    (void)state;
    start_world(&w, NULL, 0);
    hear_both(&w, pids);
    atomic_store(&w.metrics->exchanges[0], 5);
    atomic_store(&w.metrics->exchanges[1], 3);
    assert_int_equal(kill(pids[1], SIGKILL), 0);
    struct word word = hear(&w);
    assert_int_equal(word.index, 1);
    assert_true(word.pid != pids[1] && word.pid != pids[0]);
    assert_int_equal(atomic_load(&w.metrics->worker_restarts), 1);
    assert_int_equal(atomic_load(&w.metrics->exchanges[0]), 5); /* the other's are still open */
    assert_int_equal(atomic_load(&w.metrics->exchanges[1]), 0);
    assert_int_equal(kill(word.pid, SIGKILL), 0);
    assert_int_equal(hear(&w).index, 1); /* again, and again */
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
    assert_non_null(strstr(complaints, "weir serve: a worker died of signal 9, 3 requests in its "
                                       "hands, 1 of them being read; restarted\n"));
    assert_int_equal(atomic_load(&w.metrics->worker_restarts), 2);
    int note; /* what was being read both times is suspected */
    assert_false(wr_crash_enter(w.crashes, getpid(), NOTE, &note));
}

static void who_ends_by_itself_is_started_anew(void **state)
{
    static const enum deed deeds[] = {ENDS};
    struct world w = {.pid = 0};
    pid_t pids[WORKERS];
    char complaints[1024];
    (void)state;
    start_world(&w, deeds, WR_COUNT_OF(deeds));
    hear_both(&w, pids);
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
    assert_string_equal(complaints, "weir serve: a worker ended with status 5, 0 requests in its "
                                    "hands, 0 of them being read; restarted\n");
}

static void what_keeps_the_first_from_beginning_ends_all(void **state)
{
    static const enum deed deeds[] = {CANNOT_BEGIN};
    struct world w = {.pid = 0};
    char complaints[1024];
    struct word word;
    int status;
    (void)state;
    start_world(&w, deeds, WR_COUNT_OF(deeds));
    while (read(w.words[0], &word, sizeof(word)) > 0) /* until the other is told to stop */
        assert_int_equal(word.index, 0);
    status = end_world(&w, complaints, sizeof(complaints));
    assert_int_equal(status, WR_WORKER_CANNOT_BEGIN);
    assert_string_equal(complaints, "");
    assert_int_equal(atomic_load(&w.metrics->worker_restarts), 0);
}

static void what_keeps_a_later_one_from_it_is_tried_again(void **state)
{
    static const enum deed deeds[] = {ENDS, CANNOT_BEGIN};
    struct world w = {.pid = 0};
    pid_t pids[WORKERS];
    char complaints[1024];
    (void)state;
    start_world(&w, deeds, WR_COUNT_OF(deeds));
    hear_both(&w, pids);
    assert_int_equal(atomic_load(&w.metrics->worker_restarts), 2);
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
    assert_non_null(strstr(complaints, "ended with status 2"));
}

static void what_keeps_one_beside_others_from_it_is_tried_again(void **state)
{
    static const enum deed deeds[] = {CANNOT_BEGIN};
    struct world w = {.tells_begun = true};
    pid_t pids[WORKERS];
    char complaints[1024];
    (void)state;
    start_world(&w, deeds, WR_COUNT_OF(deeds));
    hear_both(&w, pids);
    assert_int_equal(atomic_load(&w.metrics->worker_restarts), 1);
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_told_to_stop_ends_all_workers),
        cmocka_unit_test(who_is_started_behind_a_key_is_told_to_stop),
        cmocka_unit_test(a_hangup_is_told_to_all_workers),
        cmocka_unit_test(who_dies_is_started_anew_in_its_place),
        cmocka_unit_test(who_ends_by_itself_is_started_anew),
        cmocka_unit_test(what_keeps_the_first_from_beginning_ends_all),
        cmocka_unit_test(what_keeps_a_later_one_from_it_is_tried_again),
        cmocka_unit_test(what_keeps_one_beside_others_from_it_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
