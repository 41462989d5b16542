#include "proxy/store_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/span.h"
#include "proxy/metrics.h"
#include "tests/test_dir.h"
#include "tests/test_file.h"

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

/* ---- the stores of a thread ---- */

static void what_was_decided_has_its_store(void **state)
{
    static const struct {
        enum wr_action action;
        enum wr_turn_of_mode turn;
        bool is_on_disk, is_shadow;
    } rows[] = {{WR_ACTION_PASS, WR_MODE_STAYS, false, false},
                {WR_ACTION_MEASURE, WR_MODE_STAYS, false, false},
                {WR_ACTION_MEASURE, WR_MODE_TURNS_WHOLE, true, false},
                {WR_ACTION_MEASURE, WR_MODE_TURNS_PROJECTED, false, false},
                {WR_ACTION_SHADOW, WR_MODE_STAYS, false, true},
                {WR_ACTION_SHADOW, WR_MODE_TURNS_WHOLE, true, false},
                {WR_ACTION_PROJECT, WR_MODE_STAYS, true, false}};
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_thread_stores stores = {.dir = dir.path, .metrics = wr_metrics_new()};
    (void)state;
    wr_thread_stores_open(&stores);
    struct weir_store *opened = stores.store;
    assert_non_null(opened);
    wr_thread_stores_open(&stores);
    assert_ptr_equal(stores.store, opened);
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_decision decision = {.action = rows[i].action, .turn = rows[i].turn};
        struct weir_store *store = wr_thread_stores_for(&stores, &decision);
        assert_int_equal(store == stores.store, rows[i].is_on_disk);
        assert_int_equal(store && store == stores.shadow, rows[i].is_shadow);
        assert_int_equal(store == NULL, !rows[i].is_on_disk && !rows[i].is_shadow);
    }
    wr_thread_stores_empty_shadow(&stores);
    assert_non_null(stores.shadow); /* it was not full */
    wr_thread_stores_close(&stores);
    assert_null(stores.store);
    assert_null(stores.shadow);
    wr_thread_stores_empty_shadow(&stores);
    stores.dir = NULL;
    wr_thread_stores_open(&stores);
    assert_null(stores.store);
    wr_test_dir_remove(&dir);
}

static void a_store_that_fails_is_told_of(void **state)
{
    struct wr_thread_stores stores = {.dir = "/dev/null/nowhere", .metrics = wr_metrics_new()};
    struct ear ear;
    (void)state;
    listen_to_stderr(&ear);
    wr_thread_stores_open(&stores);
    assert_non_null(strstr(what_was_said(&ear), "nothing new is shortened"));
    assert_null(stores.store);
    assert_true(wr_store_state_trouble(stores.metrics) != WEIR_TROUBLE_NONE);
    assert_false(wr_store_state_has_store(stores.metrics));
    wr_thread_stores_close(&stores);
}

static void a_shadow_that_is_full_begins_anew(void **state)
{
    struct wr_thread_stores stores = {.metrics = wr_metrics_new()};
    static char text[1 << 20];
    struct weir_artifact artifact = {.text = {text, sizeof(text)}};
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = WR_LIT("s"),
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + wr_hash64(wr_span_cut(artifact.text, 0, i & 7)) % 26 + i % 3);
    assert_int_equal(weir_store_new_memory(4096, &stores.shadow), WEIR_OK);
    assert_int_not_equal(weir_store_commit(stores.shadow, &batch, NULL), WEIR_OK);
    assert_int_equal(weir_store_trouble(stores.shadow), WEIR_TROUBLE_FULL);
    wr_thread_stores_empty_shadow(&stores);
    assert_null(stores.shadow);
}

/* ---- what is kept of a projection ---- */

static void what_shadow_decides_is_kept_in_files(void **state)
{
    static const char *const ends[] = {"came.json", "made.json", "report.json"};
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_record record;
    size_t counts[WR_COUNT_OF(ends)] = {0};
    (void)state;
    wr_record_init(&record);
    record.tenant = WR_LIT("local");
    record.session = WR_LIT("s");
    (void)snprintf(record.model, sizeof(record.model), "gpt-5");
    wr_shadow_keep(dir.path, &record, WR_LIT("{\"old\":1}"), WR_LIT("{}"));
    wr_shadow_keep(dir.path, &record, WR_LIT("{\"came\":1}"), WR_LIT("{\"made\":1}"));
    DIR *files = opendir(dir.path);
    assert_non_null(files);
    for (struct dirent *at; (at = readdir(files));)
        for (size_t i = 0; i < WR_COUNT_OF(ends); i++) {
            weir_span name = wr_span_of(at->d_name);
            char path[WR_TEST_PATH_BYTES + 300];
            struct stat status;
            struct wr_buf text;
            if (!wr_span_ends(name, wr_span_of(ends[i])))
                continue;
            counts[i]++;
            assert_int_equal(name.len, 16 + 1 + strlen(ends[i]));
            (void)snprintf(path, sizeof(path), "%s/%s", dir.path, at->d_name);
            assert_int_equal(stat(path, &status), 0);
            assert_int_equal(status.st_mode & 0777, 0600);
            wr_buf_init(&text, 65536);
            assert_true(wr_test_file(path, &text));
            if (i == 0)
                assert_true(wr_span_is(wr_buf_view(&text), "{\"came\":1}"));
            if (i == 1)
                assert_true(wr_span_is(wr_buf_view(&text), "{\"made\":1}"));
            if (i == 2)
                assert_true(wr_span_starts(wr_buf_view(&text), WR_LIT("{\"policy\":")));
            wr_buf_release(&text);
        }
    (void)closedir(files);
    for (size_t i = 0; i < WR_COUNT_OF(ends); i++)
        assert_int_equal(counts[i], 1);
    wr_shadow_keep("/dev/null/nowhere", &record, WR_LIT("{}"), WR_LIT("{}")); /* is no failure */
    wr_test_dir_remove(&dir);
}

static void a_tool_that_was_imagined_did_not_come(void **state)
{
    static const struct {
        uint64_t before, tools, own, before_left, tools_left;
    } rows[] = {{100, 50, 20, 80, 30}, {100, 20, 20, 80, 0}, {100, 19, 20, 100, 19},
                {20, 20, 20, 20, 20},  {21, 20, 20, 1, 0},   {100, 50, 0, 100, 50}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_record record = {.tokens_before = rows[i].before,
                                   .own_tools_tokens = rows[i].own};
        record.came_tokens[WR_CATEGORY_TOOLS] = rows[i].tools;
        wr_shadow_forget_tool(&record);
        assert_int_equal(record.tokens_before, rows[i].before_left);
        assert_int_equal(record.came_tokens[WR_CATEGORY_TOOLS], rows[i].tools_left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_decided_has_its_store),
        cmocka_unit_test(a_store_that_fails_is_told_of),
        cmocka_unit_test(a_shadow_that_is_full_begins_anew),
        cmocka_unit_test(what_shadow_decides_is_kept_in_files),
        cmocka_unit_test(a_tool_that_was_imagined_did_not_come),
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
