#include "proxy/tell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"

static long file_bytes(const char *dir, const char *name)
{
    char path[256];
    struct stat status;
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return stat(path, &status) ? -1 : (long)status.st_size;
}

static void remove_file(const char *dir, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    (void)unlink(path);
}

static void logs_are_rotated(void **state)
{
    char dir[] = "/tmp/weir-log.XXXXXX", path[256], line[4096];
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/log", dir);
    struct wr_log *log = wr_log_open(path);
    assert_non_null(log);
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    size_t lines = (size_t)WR_PROXY_LOG_BYTES_MAX / sizeof(line) * 2 + 100;
    for (size_t i = 0; i < lines; i++)
        wr_log_add(log, (weir_span){line, sizeof(line)});
    wr_log_flush(log);
    assert_int_equal(wr_log_take_lost(log), 0);
    wr_log_close(log);
    long all = file_bytes(dir, "log") + file_bytes(dir, "log.1") + file_bytes(dir, "log.2");
    assert_int_equal(all, (long)(lines * sizeof(line)));
    assert_int_equal(file_bytes(dir, "log.3"), -1);
    remove_file(dir, "log");
    remove_file(dir, "log.1");
    remove_file(dir, "log.2");
    (void)rmdir(dir);
}

/* One that is as long as it may be, without writing it. */
static void fill_log(const char *path, int64_t bytes)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(truncate(path, (off_t)bytes), 0);
}

static void the_oldest_goes(void **state)
{
    char dir[] = "/tmp/weir-log.XXXXXX", path[256], name[32];
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/log", dir);
    for (int round = 1; round <= WR_PROXY_LOG_FILES_MAX + 2; round++) {
        fill_log(path, WR_PROXY_LOG_BYTES_MAX - round);
        struct wr_log *log = wr_log_open(path);
        assert_non_null(log);
        for (int i = 0; i < round; i++)
            wr_log_add(log, WR_LIT("x"));
        wr_log_flush(log); /* as long as it may be */
        assert_int_equal(file_bytes(dir, "log"), WR_PROXY_LOG_BYTES_MAX);
        wr_log_add(log, WR_LIT("\n"));
        wr_log_flush(log); /* and longer */
        assert_int_equal(file_bytes(dir, "log"), 0);
        assert_int_equal(file_bytes(dir, "log.1"), WR_PROXY_LOG_BYTES_MAX + 1);
        wr_log_add(log, WR_LIT("new\n"));
        wr_log_close(log);
        assert_int_equal(file_bytes(dir, "log"), 4);
        for (int i = 1; i <= WR_PROXY_LOG_FILES_MAX + 2; i++) {
            bool is_there = i <= round && i <= WR_PROXY_LOG_FILES_MAX;
            (void)snprintf(name, sizeof(name), "log.%d", i);
            assert_int_equal(file_bytes(dir, name) >= 0, is_there);
        }
        remove_file(dir, "log");
    }
    for (int i = 1; i <= WR_PROXY_LOG_FILES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "log.%d", i);
        remove_file(dir, name);
    }
    assert_int_equal(rmdir(dir), 0);
}

/* Another process has done it: whoever finds the file changed under it opens the new one. */
static void two_write_one_log(void **state)
{
    char dir[] = "/tmp/weir-log.XXXXXX", path[256];
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/log", dir);
    fill_log(path, WR_PROXY_LOG_BYTES_MAX);
    struct wr_log *one = wr_log_open(path), *other = wr_log_open(path);
    wr_log_add(one, WR_LIT("one\n"));
    wr_log_flush(one);
    wr_log_add(other, WR_LIT("other\n"));
    wr_log_flush(other);
    assert_int_equal(file_bytes(dir, "log.1"), WR_PROXY_LOG_BYTES_MAX + 10);
    assert_int_equal(file_bytes(dir, "log.2"), -1);
    wr_log_add(other, WR_LIT("again\n"));
    wr_log_flush(other);
    assert_int_equal(file_bytes(dir, "log"), 6);
    wr_log_close(one);
    wr_log_close(other);
    remove_file(dir, "log");
    remove_file(dir, "log.1");
    assert_int_equal(rmdir(dir), 0);
}

/* Lines are gathered until there are enough of them; one alone may be longer than that. */
static void lines_are_gathered(void **state)
{
    static char line[33 * 1024];
    char dir[] = "/tmp/weir-log.XXXXXX", path[256];
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/log", dir);
    struct wr_log *log = wr_log_open(path);
    memset(line, 'x', sizeof(line));
    wr_log_add(log, (weir_span){line, 32 * 1024});
    assert_int_equal(file_bytes(dir, "log"), 0);
    wr_log_add(log, WR_LIT("y"));
    assert_int_equal(file_bytes(dir, "log"), 32 * 1024);
    wr_log_add(log, (weir_span){line, sizeof(line)});
    assert_int_equal(file_bytes(dir, "log"), 32 * 1024 + 1);
    wr_log_flush(log);
    assert_int_equal(file_bytes(dir, "log"), 65 * 1024 + 1);
    assert_int_equal(wr_log_take_lost(log), 0);
    wr_log_close(log);
    remove_file(dir, "log");
    assert_int_equal(rmdir(dir), 0);
}

static void a_line_that_is_too_long_is_lost_with_what_was_gathered(void **state)
{
    enum { BYTES = 2 * 1024 * 1024 };
    char *line = malloc(BYTES);
    struct wr_log *log = wr_log_open("/dev/null");
    (void)state;
    assert_non_null(line);
    memset(line, 'x', BYTES);
    wr_log_add(log, (weir_span){line, BYTES});
    assert_int_equal(wr_log_take_lost(log), 1);
    wr_log_add(log, WR_LIT("one\n"));
    wr_log_flush(log);
    assert_int_equal(wr_log_take_lost(log), 0);
    wr_log_close(log);
    free(line);
}

static void a_path_that_is_too_long_is_none(void **state)
{
    static char path[5000];
    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/%04200d", 7);
    assert_null(wr_log_open(path));
}

static void what_a_full_disk_takes_is_counted_once(void **state)
{
    struct wr_log *log = wr_log_open("/dev/full");

    (void)state;
    assert_non_null(log);
    wr_log_add(log, WR_LIT("one\n"));
    wr_log_add(log, WR_LIT("two\n"));
    assert_int_equal(wr_log_take_lost(log), 0); /* nothing was written yet */
    wr_log_flush(log);
    assert_int_equal(wr_log_take_lost(log), 2);
    assert_int_equal(wr_log_take_lost(log), 0);
    wr_log_add(log, WR_LIT("three\n"));
    assert_int_equal(wr_log_close(log), 1);
}

static void what_cannot_be_opened_is_said(void **state)
{
    (void)state;
    assert_null(wr_log_open("/nowhere/at/all/log"));
    wr_log_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_are_rotated),
        cmocka_unit_test(the_oldest_goes),
        cmocka_unit_test(two_write_one_log),
        cmocka_unit_test(lines_are_gathered),
        cmocka_unit_test(a_line_that_is_too_long_is_lost_with_what_was_gathered),
        cmocka_unit_test(a_path_that_is_too_long_is_none),
        cmocka_unit_test(what_a_full_disk_takes_is_counted_once),
        cmocka_unit_test(what_cannot_be_opened_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
