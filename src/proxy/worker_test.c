/* A worker in a process of its own; the test is its client, and tells it by signals. */
#include "proxy/worker.h"

#include "tests/test_server.h"

#include <sched.h>

#include "base/err.h"
#include "base/span.h"
#include "tests/test_dir.h"

enum { ANSWER_BYTES_MAX = 16384, RELOADS = 1023 + 255 /* wrong ones are not kept */ };

struct world {
    pid_t pid;
    int listener, port, complaints[2];
    struct wr_test_dir dir;
    struct wr_metrics *metrics;
    char upstream[64];
    int reloads_count, reloads[2]; /* a byte comes for each */
};

static void must(int failure)
{
    if (failure)
        _exit(9);
}

static struct wr_config *make_config(struct world *w, const char *mode)
{
    char path[2 * WR_TEST_PATH_BYTES];
    struct wr_config *config = wr_config_new();

    (void)snprintf(path, sizeof(path), "%s/log", w->dir.path);
    must(!config);
    config->threads = 1;
    must((int)wr_config_set_mode(config, mode, NULL));
    must((int)wr_config_set_upstream(config, w->upstream, NULL));
    must((int)wr_config_set_text(config, &config->store_dir, w->dir.path, NULL));
    must((int)wr_config_set_text(config, &config->log_path, path, NULL));
    return config;
}

/* First shadow, then meter and shadow by turns; each fifth is wrong. */
static struct wr_config *reload(void *user)
{
    struct world *w = user;
    int n = w->reloads_count++;
    must(write(w->reloads[1], "r", 1) != 1);
    return n % 5 == 4 ? NULL : make_config(w, n % 2 ? "meter" : "shadow");
}

static void run_worker(struct world *w, const char *policies)
{
    struct weir_err err = {0};
    struct wr_worker_options options = {.config = make_config(w, "active"),
                                        .listener = w->listener,
                                        .metrics = w->metrics,
                                        .crashes = wr_crash_table_new(),
                                        .answers = wr_answers_new(),
                                        .index = 3,
                                        .policies = wr_span_of(policies),
                                        .reload = reload,
                                        .user = w};
    (void)dup2(w->complaints[1], STDERR_FILENO);
    weir_status status = wr_worker_run(&options, &err);
    if (status)
        fprintf(stderr, "cannot: %s\n", err.text);
    _exit(status ? 1 : 0); /* what a second signal has cut off is left to the end of the process */
}

static void make_world(struct world *w, int upstream_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t at_bytes = sizeof(at);

    *w = (struct world){.dir = wr_test_dir_fast(), .metrics = wr_metrics_new()};
    (void)snprintf(w->upstream, sizeof(w->upstream), "http://127.0.0.1:%d/v1", upstream_port);
    w->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(w->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(w->listener, 16), 0);
    assert_int_equal(getsockname(w->listener, (struct sockaddr *)&at, &at_bytes), 0);
    w->port = ntohs(at.sin_port);
    assert_int_equal(pipe(w->complaints), 0);
    assert_int_equal(pipe(w->reloads), 0);
}

static void run_world(struct world *w, const char *policies)
{
    (void)fflush(NULL);
    w->pid = fork();
    assert_true(w->pid >= 0);
    if (!w->pid)
        run_worker(w, policies);
    (void)close(w->listener);
    (void)close(w->complaints[1]);
}

static void start_world(struct world *w, int upstream_port, const char *policies)
{
    make_world(w, upstream_port);
    run_world(w, policies);
}

/* Its exit status; waits for its end. */
static int end_world(struct world *w, char *complaints, size_t bytes_max)
{
    size_t len = 0;
    ssize_t got;
    int status;

    while ((got = read(w->complaints[0], complaints + len, bytes_max - 1 - len)) > 0)
        len += (size_t)got;
    complaints[len] = '\0';
    (void)close(w->complaints[0]);
    (void)close(w->reloads[0]);
    (void)close(w->reloads[1]);
    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    wr_test_dir_remove(&w->dir);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int connect_to(const struct world *w)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)w->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

static void put(int fd, const char *words)
{
    assert_int_equal(write(fd, words, strlen(words)), strlen(words));
}

/* All that comes, to the end of the connection. */
static void get(int fd, char answer[ANSWER_BYTES_MAX])
{
    size_t len = 0;
    ssize_t got;
    while ((got = read(fd, answer + len, ANSWER_BYTES_MAX - 1 - len)) > 0)
        len += (size_t)got;
    answer[len] = '\0';
    (void)close(fd);
}

static void ask(const struct world *w, const char *request, char answer[ANSWER_BYTES_MAX])
{
    int fd = connect_to(w);
    put(fd, request);
    get(fd, answer);
}

static const char health[] = "GET /weir/v1/health HTTP/1.1\r\nHost: localhost\r\n"
                             "Connection: close\r\n\r\n";
static const char chat[] =
    "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
    "Connection: close\r\nContent-Length: 61\r\n\r\n"
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello.\"}]}";

static void check_mode(const struct world *w, const char *mode)
{
    char answer[ANSWER_BYTES_MAX], words[64];
    (void)snprintf(words, sizeof(words), "\"mode\":\"%s\"", mode);
    ask(w, health, answer);
    if (!strstr(answer, words))
        fail_msg("not %s: %s", mode, answer);
}

static bool is_in_file(const struct world *w, const char *name, const char *words)
{
    static char bytes[1 << 16];
    char path[2 * WR_TEST_PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s", w->dir.path, name);
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(bytes, 1, sizeof(bytes) - 1, file) : 0;
    bytes[len] = '\0';
    if (file)
        (void)fclose(file);
    return strstr(bytes, words);
}

static void it_serves_until_it_is_told_to_stop(void **state)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    static const char *const answers[] = {TEST_CHAT("hello")};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(numbers); i++) {
        struct test_server upstream = test_server_start(answers, 1);
        struct world w;
        char answer[ANSWER_BYTES_MAX], complaints[1024];
        start_world(&w, upstream.port, "");
        ask(&w, chat, answer);
        assert_non_null(strstr(answer, "HTTP/1.1 200 OK"));
        assert_non_null(strstr(answer, "data: [DONE]"));
        while (!is_in_file(&w, "log", "\"answer_finished\":true")) /* it is written by and by */
            (void)sched_yield();
        assert_true(is_in_file(&w, "log", "\"usage_input_tokens\":100,"));
        assert_int_equal(atomic_load(&w.metrics->exchanges[3]), 0);
        assert_int_equal(atomic_load(&w.metrics->requests_read), 1);
        ask(&w, health, answer);
        assert_non_null(strstr(answer, "\"requests\":1}"));
        assert_int_equal(kill(w.pid, numbers[i]), 0);
        assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
        assert_int_equal(atomic_load(&w.metrics->ledger_rows), 1);
        test_server_stop(&upstream);
    }
}

static void tell_reload(const struct world *w)
{
    atomic_fetch_add(&w->metrics->reloads_told, 1);
    assert_int_equal(kill(w->pid, SIGHUP), 0);
}

static void a_hangup_has_its_configuration_read_again(void **state)
{
    struct world w;
    char complaints[4096];
    (void)state;
    start_world(&w, 9, "");
    check_mode(&w, "active");
    const char *mode = "active";
    for (int n = 0; n < RELOADS; n++) {
        char byte;
        tell_reload(&w);
        assert_int_equal(read(w.reloads[0], &byte, 1), 1);
        mode = n % 5 == 4 ? mode : n % 2 ? "meter" : "shadow"; /* a wrong one leaves what was */
        check_mode(&w, mode);
    }
    tell_reload(&w); /* once too often */
    check_mode(&w, mode);
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
    assert_non_null(strstr(complaints, "weir.yaml was read too often; restart"));
}

static void a_hangup_that_was_heard_is_not_heard_twice(void **state)
{
    struct world w;
    char complaints[1024], byte;
    (void)state;
    start_world(&w, 9, "");
    check_mode(&w, "active");
    tell_reload(&w);
    assert_int_equal(read(w.reloads[0], &byte, 1), 1);
    check_mode(&w, "shadow");
    assert_int_equal(kill(w.pid, SIGHUP), 0);
    check_mode(&w, "shadow");
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
}

static const struct {
    const char *behaviour;
    bool was_reloaded, has_reloaded, is_wrong;
    const char *mode; /* NULL: it does not begin */
} late_ones[] = {
    {"nobody was told to read again", false, false, true, "active"},
    {"read again, and good", true, true, false, "shadow"},
    {"read again by nobody else yet", true, false, false, "shadow"},
    {"what was taken may have shut somebody out", true, true, true, NULL},
    {"every reading was refused", true, false, true, "active"},
};

static void who_begins_later_reads_what_was_read_since(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(late_ones); i++) {
        struct world w;
        char complaints[1024];
        make_world(&w, 9);
        atomic_store(&w.metrics->reloads_told, late_ones[i].was_reloaded);
        atomic_store(&w.metrics->has_reloaded, late_ones[i].has_reloaded);
        w.reloads_count = late_ones[i].is_wrong ? 4 : 0;
        run_world(&w, "");
        if (late_ones[i].mode) {
            check_mode(&w, late_ones[i].mode);
            assert_int_equal(kill(w.pid, SIGTERM), 0);
        }
        if (end_world(&w, complaints, sizeof(complaints)) != !late_ones[i].mode)
            fail_msg("%s: %s", late_ones[i].behaviour, complaints);
    }
}

static void who_is_told_to_stop_finishes_what_is_open(void **state)
{
    static const char *const answers[] = {""};
    struct test_server upstream = test_server_start(answers, 1);
    struct world w;
    char answer[ANSWER_BYTES_MAX], complaints[1024];
    (void)state;
    start_world(&w, upstream.port, "");
    int idle = connect_to(&w), busy = connect_to(&w);
    put(busy, chat);
    while (atomic_load(&w.metrics->exchanges[3]) != 1) /* until it is under way */
        (void)sched_yield();
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    get(idle, answer); /* who waits for nothing is let go */
    assert_string_equal(answer, "");
    test_server_stop(&upstream); /* now there is an answer: there will be none */
    get(busy, answer);
    assert_non_null(strstr(answer, "HTTP/1.1 502 "));
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
}

static void who_is_told_twice_does_not_wait(void **state)
{
    static const char *const answers[] = {""};
    struct test_server upstream = test_server_start(answers, 1);
    struct world w;
    char answer[ANSWER_BYTES_MAX], complaints[1024];
    (void)state;
    start_world(&w, upstream.port, "");
    int idle = connect_to(&w), busy = connect_to(&w);
    put(busy, chat);
    while (atomic_load(&w.metrics->exchanges[3]) != 1)
        (void)sched_yield();
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    get(idle, answer); /* it has heard the first */
    assert_int_equal(kill(w.pid, SIGTERM), 0);
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 0);
    get(busy, answer);
    assert_string_equal(answer, "");
    test_server_stop(&upstream);
}

static void what_keeps_it_from_beginning_is_said(void **state)
{
    struct world w;
    char complaints[1024];
    (void)state;
    start_world(&w, 9, "policies: 7\n");
    assert_int_equal(end_world(&w, complaints, sizeof(complaints)), 1);
    assert_non_null(strstr(complaints, "cannot: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_serves_until_it_is_told_to_stop),
        cmocka_unit_test(a_hangup_has_its_configuration_read_again),
        cmocka_unit_test(a_hangup_that_was_heard_is_not_heard_twice),
        cmocka_unit_test(who_begins_later_reads_what_was_read_since),
        cmocka_unit_test(who_is_told_to_stop_finishes_what_is_open),
        cmocka_unit_test(who_is_told_twice_does_not_wait),
        cmocka_unit_test(what_keeps_it_from_beginning_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
