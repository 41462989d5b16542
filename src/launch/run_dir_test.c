#include "launch/run_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"

static bool is_there(const char *dir, const char *name)
{
    char path[2 * WR_RUN_DIR_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return !access(path, F_OK);
}

/* A run with two files that ends without a word; its folder's path is in `path`. */
static void be_killed(const char *parent, char path[WR_RUN_DIR_BYTES], pid_t *agent)
{
    struct wr_run_dir dir;

    assert_true(wr_run_dir_make(&dir, parent));
    assert_true(wr_run_dir_write(&dir, "settings.json", WR_LIT("a token")));
    assert_true(wr_run_dir_expect(&dir, "serve.stderr"));
    (void)snprintf(path, WR_RUN_DIR_BYTES, "%s", dir.path);
    if (agent && !(*agent = fork())) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not wait for it */
        for (;;)
            (void)pause();
    }
    (void)close(dir.lock); /* as the end of a process does */
}

static void a_folder_leaves_with_its_files(void **state)
{
    struct wr_test_dir parent = wr_test_dir_new();
    struct wr_run_dir dir;
    struct stat status;
    char path[WR_RUN_DIR_BYTES];
    (void)state;
    assert_true(wr_run_dir_make(&dir, parent.path));
    (void)snprintf(path, sizeof(path), "%s", dir.path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_true(wr_run_dir_write(&dir, "settings.json", WR_LIT("{}")));
    assert_false(wr_run_dir_write(&dir, "../settings.json", WR_LIT("{}")));
    assert_true(is_there(path, "settings.json"));
    assert_int_equal(wr_run_dirs_stale(parent.path, true), 0); /* it is alive */
    assert_true(is_there(path, "settings.json"));
    wr_run_dir_remove(&dir);
    assert_false(is_there(path, ""));
    wr_test_dir_remove(&parent);
}

/* Makes PATH/NAME, a folder where `text` is NULL. */
static void put(const char *path, const char *name, const char *text)
{
    char whole[2 * WR_RUN_DIR_BYTES];
    (void)snprintf(whole, sizeof(whole), "%s/%s", path, name);
    if (!text) {
        assert_int_equal(mkdir(whole, 0700), 0);
        return;
    }
    FILE *file = fopen(whole, "we");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void what_the_agent_put_there_leaves_too(void **state)
{
    struct wr_test_dir parent = wr_test_dir_new();
    struct wr_run_dir dir;
    char path[WR_RUN_DIR_BYTES], link[2 * WR_RUN_DIR_BYTES], kept[WR_RUN_DIR_BYTES];
    (void)state;
    put(parent.path, "kept", NULL);
    (void)snprintf(kept, sizeof(kept), "%s/kept", parent.path);
    put(kept, "precious", "x");
    assert_true(wr_run_dir_make(&dir, parent.path));
    (void)snprintf(path, sizeof(path), "%s", dir.path);
    put(path, "log", "x");
    put(path, "a", NULL);
    put(path, "a/b", NULL);
    put(path, "a/b/c", "x");
    put(path, "a/d", NULL);
    put(path, "a/d/e", NULL);
    put(path, "z", NULL);
    put(path, "z/y", "x");
    (void)snprintf(link, sizeof(link), "%s/a/b/out", path);
    assert_int_equal(symlink(kept, link), 0);
    (void)snprintf(link, sizeof(link), "%s/out", path);
    assert_int_equal(symlink("../kept", link), 0);
    wr_run_dir_remove(&dir);
    assert_false(is_there(path, ""));
    assert_true(is_there(kept, "precious")); /* a link leaves, not what it leads to */
    (void)snprintf(link, sizeof(link), "%s/precious", kept);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(kept), 0);
    wr_test_dir_remove(&parent);
}

/* Whatever cannot be taken away keeps nothing else there. */
static void what_lies_too_deep_keeps_nothing_else(void **state)
{
    struct wr_test_dir parent = wr_test_dir_new();
    struct wr_run_dir dir;
    char path[WR_RUN_DIR_BYTES], deep[2 * WR_LAUNCH_RUN_DEPTH_MAX + 16] = "d";
    (void)state;
    assert_true(wr_run_dir_make(&dir, parent.path));
    (void)snprintf(path, sizeof(path), "%s", dir.path);
    for (size_t i = 0; i < WR_LAUNCH_RUN_DEPTH_MAX + 2; i++) {
        put(path, deep, NULL);
        (void)snprintf(deep + strlen(deep), 3, "/d");
    }
    for (char name[] = "a", file[] = "a/f"; name[0] <= 'h'; name[0]++, file[0]++) {
        if (name[0] == 'd')
            continue;
        put(path, name, NULL);
        put(path, file, "x");
    }
    wr_run_dir_remove(&dir);
    assert_true(is_there(path, "d"));
    for (char name[] = "a"; name[0] <= 'h'; name[0]++)
        assert_true(name[0] == 'd' || !is_there(path, name));
    while (strlen(deep) > 1) { /* by hand */
        char whole[4 * WR_RUN_DIR_BYTES];
        deep[strlen(deep) - 2] = '\0';
        (void)snprintf(whole, sizeof(whole), "%s/%s", path, deep);
        assert_int_equal(rmdir(whole), 0);
    }
    assert_int_equal(rmdir(path), 0);
    wr_test_dir_remove(&parent);
}

static void what_a_killed_run_left_is_taken_away(void **state)
{
    struct wr_test_dir parent = wr_test_dir_new();
    char path[WR_RUN_DIR_BYTES];
    (void)state;
    be_killed(parent.path, path, NULL);
    assert_int_equal(wr_run_dirs_stale(parent.path, false), 1);
    assert_true(is_there(path, "settings.json")); /* looking changes nothing */
    assert_int_equal(wr_run_dirs_stale(parent.path, true), 1);
    assert_false(is_there(path, ""));
    assert_int_equal(wr_run_dirs_stale(parent.path, true), 0);
    wr_test_dir_remove(&parent);
}

static void an_agent_that_lives_on_keeps_it(void **state)
{
    struct wr_test_dir parent = wr_test_dir_new();
    char path[WR_RUN_DIR_BYTES];
    pid_t agent = 0;
    (void)state;
    be_killed(parent.path, path, &agent);
    assert_int_equal(wr_run_dirs_stale(parent.path, true), 0);
    assert_true(is_there(path, "settings.json"));
    assert_int_equal(kill(agent, SIGKILL), 0);
    assert_int_equal(waitpid(agent, NULL, 0), agent);
    assert_int_equal(wr_run_dirs_stale(parent.path, true), 1);
    assert_false(is_there(path, ""));
    wr_test_dir_remove(&parent);
}

/* What is not ours, or was put there by somebody else, stays. */
static void nothing_else_is_touched(void **state)
{
    struct wr_test_dir parent = wr_test_dir_new();
    char path[WR_RUN_DIR_BYTES], other[2 * WR_RUN_DIR_BYTES];
    (void)state;
    (void)snprintf(other, sizeof(other), "%s/weir-run-nolock", parent.path);
    assert_int_equal(mkdir(other, 0700), 0);
    (void)snprintf(other, sizeof(other), "%s/weir-run-link", parent.path);
    assert_int_equal(symlink("/etc", other), 0);
    assert_int_equal(wr_run_dirs_stale(parent.path, true), 0);
    be_killed(parent.path, path, NULL);
    (void)snprintf(other, sizeof(other), "%s/mine.txt", path);
    int fd = open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(wr_run_dirs_stale(parent.path, true), 1);
    assert_false(is_there(path, "settings.json"));
    assert_true(is_there(path, "mine.txt"));
    (void)unlink(other);
    (void)rmdir(path);
    (void)snprintf(other, sizeof(other), "%s/weir-run-nolock", parent.path);
    assert_int_equal(rmdir(other), 0);
    (void)snprintf(other, sizeof(other), "%s/weir-run-link", parent.path);
    assert_int_equal(unlink(other), 0);
    wr_test_dir_remove(&parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_folder_leaves_with_its_files),
                                       cmocka_unit_test(what_the_agent_put_there_leaves_too),
                                       cmocka_unit_test(what_lies_too_deep_keeps_nothing_else),
                                       cmocka_unit_test(what_a_killed_run_left_is_taken_away),
                                       cmocka_unit_test(an_agent_that_lives_on_keeps_it),
                                       cmocka_unit_test(nothing_else_is_touched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
