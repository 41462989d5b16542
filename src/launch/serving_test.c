#include "launch/serving.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_dir.h"

/* ---- the lock of a server ---- */

static const struct wr_server_facts facts = {.pid = 7,
                                             .started_ms = 5,
                                             .host = "127.0.0.1",
                                             .port = 4141,
                                             .mode = "active",
                                             .policy = "auto",
                                             .upstreams = {"openai", "mine"},
                                             .upstreams_count = 2,
                                             .needs_token = true};

/* A server in a process of its own: locks are a process's. It has the lock when this returns. */
static pid_t start_holder(const char *dir)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        struct wr_lock *lock = NULL;
        int64_t holder;
        if (wr_lock_take(&lock, dir, &facts, &holder, NULL) || write(ready[1], "x", 1) != 1)
            _exit(1);
        (void)pause();
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return child;
}

static void end_holder(pid_t child)
{
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
}

static void a_server_is_found_while_it_lives(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_server_facts found;
    struct wr_arena arena;
    struct wr_lock *lock = NULL;
    int64_t holder;
    (void)state;
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    assert_int_equal(wr_lock_find(dir.path, &arena, &found), WEIR_NOTFOUND);
    pid_t child = start_holder(dir.path);
    assert_int_equal(wr_lock_find(dir.path, &arena, &found), WEIR_OK);
    assert_int_equal(found.pid, child);
    assert_int_equal(found.port, 4141);
    assert_string_equal(found.host, "127.0.0.1");
    assert_string_equal(found.policy, "auto");
    assert_int_equal(found.upstreams_count, 2);
    assert_string_equal(found.upstreams[1], "mine");
    assert_true(found.needs_token && !found.has_one_upstream);
    assert_int_equal(wr_lock_take(&lock, dir.path, &facts, &holder, NULL), WEIR_INVALID);
    assert_int_equal(holder, child);
    /* Killed, it leaves its file, which is known for what it is and taken over. */
    end_holder(child);
    assert_int_equal(wr_lock_find(dir.path, &arena, &found), WEIR_NOTFOUND);
    assert_int_equal(wr_lock_take(&lock, dir.path, &facts, &holder, NULL), WEIR_OK);
    wr_lock_release(lock);
    wr_arena_release(&arena);
    wr_test_dir_remove(&dir);
}

static void a_file_that_is_no_such_file_finds_nobody(void **state)
{
    static const char bad_port[] = "{\"address\":\"h\",\"mode\":\"m\",\"policy\":\"p\","
                                   "\"port\":70000,\"started_ms\":1}";
    const char *const texts[] = {"", "{", "{}", "[]", bad_port};
    struct wr_server_facts found;
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_arena arena;
    char path[WR_TEST_PATH_BYTES + 32];
    (void)state;
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    (void)snprintf(path, sizeof(path), "%s/" WR_LOCK_NAME, dir.path);
    for (size_t i = 0; i < WR_COUNT_OF(texts); i++) {
        pid_t child = start_holder(dir.path);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        (void)fputs(texts[i], file);
        (void)fclose(file);
        assert_int_equal(wr_lock_find(dir.path, &arena, &found), WEIR_NOTFOUND);
        end_holder(child);
    }
    wr_arena_release(&arena);
    wr_test_dir_remove(&dir);
}

static void it_goes_with_its_server(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_lock *lock = NULL;
    struct stat status;
    int64_t holder;
    char path[WR_TEST_PATH_BYTES + 32];
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/" WR_LOCK_NAME, dir.path);
    assert_int_equal(wr_lock_take(&lock, dir.path, &facts, &holder, NULL), WEIR_OK);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    wr_lock_release(lock);
    assert_int_not_equal(stat(path, &status), 0);
    wr_test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_is_found_while_it_lives),
        cmocka_unit_test(a_file_that_is_no_such_file_finds_nobody),
        cmocka_unit_test(it_goes_with_its_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
