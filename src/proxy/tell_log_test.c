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
    wr_log_close(log);
}

static void what_cannot_be_opened_is_said(void **state)
{
    (void)state;
    assert_null(wr_log_open("/nowhere/at/all/log"));
    wr_log_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(logs_are_rotated),
                                       cmocka_unit_test(what_a_full_disk_takes_is_counted_once),
                                       cmocka_unit_test(what_cannot_be_opened_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
