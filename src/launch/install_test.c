/* The plan and the writing of it, in a home of its own; what people type is played by
 * tests/upstream/install_cases.py. */
#include "launch/install.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/span.h"
#include "tests/test_dir.h"

static size_t told_count;

static void count_file(void *user, const char *path, enum wr_installed how, const char *copy)
{
    (void)path;
    (void)copy;
    assert_int_equal(how, *(enum wr_installed *)user);
    told_count++;
}

static void what_was_made_goes(void **state)
{
    enum wr_installed want = WR_INSTALLED_AS_IT_WAS;
    char home[4096], folder[4096];
    char *environment[] = {home, NULL};
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_install install;
    struct weir_err err = {0};
    size_t stuck_count;
    (void)state;
    (void)snprintf(home, sizeof(home), "HOME=%s/home", dir.path);
    (void)snprintf(folder, sizeof(folder), "%s/state/weir", dir.path);
    struct wr_install_options options = {.environment = environment,
                                         .weir = "/usr/bin/weir",
                                         .listen = "127.0.0.1:4141",
                                         .state = folder,
                                         .service = WR_SERVICE_LAUNCHD};
    wr_install_init(&install, &options);
    assert_false(wr_install_is_there(&install));
    assert_false(wr_install_agent_is_here(&install, "codex"));
    assert_int_equal(wr_install_plan_agent(&install, "codex", &err), WEIR_OK);
    assert_int_equal(wr_install_plan_agent(&install, "claude", &err), WEIR_OK);
    assert_int_equal(wr_install_plan_agent(&install, "aider", &err), WEIR_NOTFOUND);
    assert_int_equal(wr_install_plan_service(&install, &err), WEIR_OK);
    assert_int_equal(install.files_count, 3);
    assert_true(wr_span_has(install.files[2].after,
                            WR_LIT("<string>/usr/bin/weir</string><string>serve</string>")));
    assert_int_equal(wr_install_apply(&install, &err), WEIR_OK);
    assert_true(wr_install_is_there(&install));
    assert_true(wr_install_agent_is_here(&install, "codex"));
    told_count = 0;
    assert_int_equal(wr_install_undo(&install, true, count_file, &want, &stuck_count, &err),
                     WEIR_OK);
    assert_int_equal(wr_install_undo(&install, false, count_file, &want, &stuck_count, &err),
                     WEIR_OK);
    assert_int_equal(told_count, 6);
    assert_int_equal(install.options.service, WR_SERVICE_LAUNCHD);
    assert_int_equal(wr_install_undo(&install, false, count_file, &want, &stuck_count, &err),
                     WEIR_NOTFOUND);
    assert_int_not_equal(access(home + strlen("HOME="), F_OK), 0);
    assert_int_not_equal(access(folder, F_OK), 0);
    wr_install_release(&install);
    wr_test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_made_goes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
