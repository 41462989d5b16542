#include "proxy/store_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>

#include "base/clock.h"
#include "base/span.h"
#include "proxy/metrics.h"
#include "tests/test_dir.h"

/* ---- what is said on stderr ---- */

struct ear {
    int real, file;
    char words[4096];
};

static void listen_to_stderr(struct ear *ear)
{
    char path[] = "/tmp/weir-test-XXXXXX";
    ear->file = mkstemp(path);
    assert_true(ear->file >= 0);
    (void)unlink(path);
    ear->real = dup(STDERR_FILENO);
    (void)dup2(ear->file, STDERR_FILENO);
}

static const char *what_was_said(struct ear *ear)
{
    (void)fflush(stderr);
    (void)dup2(ear->real, STDERR_FILENO);
    (void)close(ear->real);
    ssize_t got = pread(ear->file, ear->words, sizeof(ear->words) - 1, 0);
    (void)close(ear->file);
    ear->words[got > 0 ? got : 0] = '\0';
    return ear->words;
}

static struct weir_store *open_store(const char *dir)
{
    struct weir_store *store;
    assert_int_equal(weir_store_open(dir, NULL, &store, NULL, NULL), WEIR_OK);
    return store;
}

/* ---- the state ---- */

static void trouble_is_told_once_and_so_is_its_end(void **state)
{
    struct wr_metrics *metrics = wr_metrics_new();
    struct ear ear;
    (void)state;
    listen_to_stderr(&ear);
    wr_store_state_well(metrics, "DIR");
    wr_store_state_failed(metrics, "DIR", WEIR_TROUBLE_FULL);
    wr_store_state_failed(metrics, "DIR", WEIR_TROUBLE_DENIED);
    bool was_told = wr_store_state_trouble(metrics) != WEIR_TROUBLE_NONE;
    wr_store_state_well(metrics, "DIR");
    wr_store_state_well(metrics, "DIR");
    const char *words = what_was_said(&ear);
    assert_true(was_told);
    assert_int_equal(wr_store_state_trouble(metrics), WEIR_TROUBLE_NONE);
    assert_string_equal(words,
                        "weir serve: store DIR: there is no room left. Until it can be written "
                        "again nothing new is shortened; what was shortened stays so while its "
                        "original can be read\nweir serve: store DIR is written again\n");
}

static void what_is_no_trouble_is_not_told(void **state)
{
    static const struct {
        weir_trouble trouble;
        bool is_trouble;
    } cases[] = {
        {WEIR_TROUBLE_NONE, false},     {WEIR_TROUBLE_LOCKED, false},
        {WEIR_TROUBLE_FULL, true},      {WEIR_TROUBLE_DENIED, true},
        {WEIR_TROUBLE_SYSTEM, true},    {WEIR_TROUBLE_MISSING, true},
        {WEIR_TROUBLE_CORRUPT, true},   {WEIR_TROUBLE_NEWER, true},
        {WEIR_TROUBLE_FOREIGN, true},   {WEIR_TROUBLE_COLLISION, false},
        {WEIR_TROUBLE_CONFLICT, false}, {WEIR_TROUBLE_REPLACED, false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_metrics *metrics = wr_metrics_new();
        struct ear ear;
        listen_to_stderr(&ear);
        wr_store_state_failed(metrics, "DIR", cases[i].trouble);
        bool is_told = *what_was_said(&ear);
        if (is_told != cases[i].is_trouble ||
            wr_store_state_trouble(metrics) !=
                (cases[i].is_trouble ? cases[i].trouble : WEIR_TROUBLE_NONE))
            fail_msg("%s", weir_trouble_text(cases[i].trouble));
    }
}

static void another_file_in_its_place_is_told_once(void **state)
{
    struct wr_test_dir here = wr_test_dir_new(), there = wr_test_dir_new();
    struct weir_store *first = open_store(here.path), *second = open_store(there.path);
    struct wr_metrics *metrics = wr_metrics_new();
    uint64_t mine = 0, others = 0;
    struct ear ear;
    (void)state;
    assert_false(wr_store_state_has_store(metrics));
    wr_store_state_begin(metrics, first);
    assert_true(wr_store_state_has_store(metrics));
    listen_to_stderr(&ear);
    wr_store_state_seen(metrics, "DIR", first, &mine);
    wr_store_state_seen(metrics, "DIR", first, &others);
    assert_string_equal(what_was_said(&ear), "");
    listen_to_stderr(&ear);
    wr_store_state_seen(metrics, "DIR", second, &mine);
    wr_store_state_seen(metrics, "DIR", second, &mine);
    wr_store_state_seen(metrics, "DIR", second, &others); /* told already, by the other */
    const char *words = what_was_said(&ear);
    assert_non_null(strstr(words, "files of the store in DIR were removed or replaced"));
    assert_null(strstr(strchr(words, '\n') + 1, "weir serve"));
    weir_store_close(first);
    weir_store_close(second);
    wr_test_dir_remove(&here);
    wr_test_dir_remove(&there);
}

/* ---- the keeper ---- */

static const int64_t day_ms = 24LL * 3600 * 1000;

static void use_session(struct weir_store *store, const char *name, int64_t used_ms)
{
    struct weir_artifact artifact = {.text = wr_span_of(name)};
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = wr_span_of(name),
                               .used_ms = used_ms,
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
}

static uint64_t count_sessions(struct weir_store *store)
{
    struct weir_store_stats stats;
    assert_int_equal(weir_store_stats(store, &stats, NULL), WEIR_OK);
    return stats.sessions_count;
}

/* It looks at the store when it begins: to begin and to end is one look. */
static void look_once(struct wr_config *config, struct wr_metrics *metrics)
{
    struct wr_store_keeper *keeper = wr_store_keeper_new(config, metrics);
    assert_non_null(keeper);
    wr_store_keeper_free(keeper);
}

static void old_sessions_leave(void **state)
{
    static const struct {
        const char *behaviour;
        uint32_t keep_days;
        uint64_t bytes_max;
        uint64_t sessions_left; /* of one used now, three days and thirty days ago */
        const char *words;
    } cases[] = {
        {"nobody asked for it", 0, 0, 3, ""},
        {"what is older than a week", 7, 0, 2,
         "weir serve: 1 sessions that were not used for long were taken out of the store, 0 MB\n"},
        {"what is older than two days", 2, 0, 1, "weir serve: 2 sessions"},
        {"all that may, and there is still too much", 0, 1, 1,
         "weir serve: the store holds more than its max_bytes (1): all of it was used within a "
         "day\n"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_test_dir dir = wr_test_dir_new();
        struct weir_store *store = open_store(dir.path);
        struct wr_metrics *metrics = wr_metrics_new();
        struct wr_config config = {.store_dir = dir.path,
                                   .keep_days = cases[i].keep_days,
                                   .store_bytes_max = cases[i].bytes_max};
        struct ear ear;
        wr_store_state_begin(metrics, store);
        use_session(store, "now", wr_clock_ms());
        use_session(store, "three", wr_clock_ms() - 3 * day_ms);
        use_session(store, "thirty", wr_clock_ms() - 30 * day_ms);
        listen_to_stderr(&ear);
        look_once(&config, metrics);
        const char *words = what_was_said(&ear);
        if (count_sessions(store) != cases[i].sessions_left || !strstr(words, cases[i].words) ||
            !*words != !*cases[i].words)
            fail_msg("%s: %d are left; %s", cases[i].behaviour, (int)count_sessions(store), words);
        weir_store_close(store);
        wr_test_dir_remove(&dir);
    }
}

static void who_looks_after_a_store_finds_that_trouble_is_over(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store *store = open_store(dir.path);
    struct wr_metrics *metrics = wr_metrics_new();
    struct wr_config config = {.store_dir = dir.path};
    struct ear ear;
    (void)state;
    wr_store_state_begin(metrics, store);
    atomic_store(&metrics->store_trouble, WEIR_TROUBLE_FULL);
    listen_to_stderr(&ear);
    look_once(&config, metrics);
    const char *words = what_was_said(&ear);
    assert_non_null(strstr(words, "is written again\n"));
    assert_int_equal(wr_store_state_trouble(metrics), WEIR_TROUBLE_NONE);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void a_store_that_cannot_be_opened_is_in_trouble(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_metrics *metrics = wr_metrics_new();
    char path[2 * WR_TEST_PATH_BYTES];
    struct ear ear;
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/store.db", dir.path);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "this is no store of ours, nor of SQLite", 39), 39);
    (void)close(fd);
    struct wr_config config = {.store_dir = dir.path};
    listen_to_stderr(&ear);
    look_once(&config, metrics);
    const char *words = what_was_said(&ear);
    assert_non_null(strstr(words, "nothing new is shortened"));
    assert_true(wr_store_state_trouble(metrics) != WEIR_TROUBLE_NONE);
    wr_test_dir_remove(&dir);
}

static void without_a_store_nobody_looks(void **state)
{
    struct wr_config config = {.keep_days = 7};
    (void)state;
    assert_null(wr_store_keeper_new(&config, wr_metrics_new()));
    wr_store_keeper_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_is_told_once_and_so_is_its_end),
        cmocka_unit_test(what_is_no_trouble_is_not_told),
        cmocka_unit_test(another_file_in_its_place_is_told_once),
        cmocka_unit_test(old_sessions_leave),
        cmocka_unit_test(who_looks_after_a_store_finds_that_trouble_is_over),
        cmocka_unit_test(a_store_that_cannot_be_opened_is_in_trouble),
        cmocka_unit_test(without_a_store_nobody_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
