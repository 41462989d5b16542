#include "launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

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

/* ---- the agent as a child ---- */

enum { WAIT_S = 60 };

/* What wr_child_run() gives in a process that got SIGCHLD as `inherited`; -1: it never came back.
 */
static int run_in_child(void (*inherited)(int), const char *script)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        char *argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
        struct wr_plan plan = {.argv = argv};
        (void)signal(SIGCHLD, inherited);
        (void)alarm(WAIT_S);
        wr_child_prepare();
        _exit(wr_child_run("/bin/sh", &plan));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void status_is_the_childs(void **state)
{
    static const struct {
        const char *behaviour;
        void (*inherited)(int);
        const char *script;
        int status;
    } cases[] = {
        {"its exit status", SIG_DFL, "exit 3", 3},
        {"128 and the signal that ended it", SIG_DFL, "kill -9 $$", 128 + 9},
        {"also where whoever started us ignores the ends of children", SIG_IGN, "exit 3", 3},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        int status = run_in_child(cases[i].inherited, cases[i].script);
        if (status != cases[i].status)
            fail_msg("%s: %d, wanted %d", cases[i].behaviour, status, cases[i].status);
    }
}

static void what_cannot_be_run_says_why(void **state)
{
    struct wr_arena arena;
    (void)state;
    wr_arena_init(&arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    assert_non_null(wr_child_find(&arena, "sh"));
    errno = 0;
    assert_null(wr_child_find(&arena, "/tmp")); /* a folder may be entered, not run */
    assert_int_equal(errno, EACCES);
    assert_null(wr_child_find(&arena, "/no/such/program"));
    assert_int_equal(errno, ENOENT);
    assert_null(wr_child_find(&arena, "no-such-program"));
    assert_int_equal(errno, ENOENT);
    wr_arena_release(&arena);
}

/* ---- the receipt ---- */

enum { BEGAN_MS = 1000000000 };

static struct wr_ledger_row row_of(int64_t time_ms, const char *line)
{
    return (struct wr_ledger_row){.time_ms = time_ms,
                                  .tenant = WR_LIT("local"),
                                  .session = WR_LIT("s"),
                                  .agent = WR_LIT("codex"),
                                  .model = WR_LIT("gpt-5"),
                                  .line = wr_span_of(line)};
}

static void fill(const char *dir, const struct wr_ledger_row *rows, size_t count)
{
    struct wr_ledger *ledger = NULL;
    assert_int_equal(wr_ledger_open(dir, NULL, &ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_add(ledger, rows, count, NULL), WEIR_OK);
    wr_ledger_close(ledger);
}

#define PASSED(run, more)                                                                          \
    "{\"api\":\"other\",\"path\":null,\"run\":\"" run "\",\"status\":200,\"answer_bytes\":23" more \
    "}"

#define LINE(run, more)                                                                     \
    "{\"api\":\"responses\",\"path\":\"/v1/responses\",\"run\":\"" run "\",\"status\":200," \
    "\"usage_known\":true," more "}"

static void only_rows_of_the_run_count(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_receipt receipt = {.run = "00000000000000aa", .agent = "codex"};
    const struct wr_ledger_row rows[] = {
        row_of(BEGAN_MS + 1,
               LINE("00000000000000aa", "\"usage_input_tokens\":1000,\"usage_output_tokens\":10,"
                                        "\"task_quality_recalls\":2,"
                                        "\"task_quality_missing_artifact_requests\":1,"
                                        "\"cache_bust_cause\":\"host\",\"cache_bust_tokens\":7")),
        row_of(BEGAN_MS + 2, LINE("00000000000000bb", "\"usage_input_tokens\":500")),
        row_of(BEGAN_MS + 3,
               LINE("00000000000000aa", "\"usage_input_tokens\":2000,\"usage_output_tokens\":20,"
                                        "\"changed\":true,\"estimated_tokens_before\":3000,"
                                        "\"estimated_tokens_after\":2000")),
        row_of(BEGAN_MS - 1, LINE("00000000000000aa", "\"usage_input_tokens\":9")),
        row_of(BEGAN_MS + 4, PASSED("00000000000000aa", ",\"body_bytes_received\":100")),
        row_of(BEGAN_MS + 4, PASSED("00000000000000bb", "")),
    };
    struct wr_buf text;
    (void)state;
    fill(dir.path, rows, WR_COUNT_OF(rows));
    assert_int_equal(wr_receipt_read(&receipt, dir.path, BEGAN_MS, NULL), WEIR_OK);
    assert_int_equal(receipt.tally.requests_count, 2);
    assert_int_equal(receipt.tally.changed_count, 1);
    assert_int_equal(receipt.tally.sent_tokens, 3000);
    assert_int_equal(receipt.tally.raw_tokens, 4000);
    assert_int_equal(receipt.tally.passed_count, 1);
    assert_int_equal(receipt.tally.passed_bytes, 123);
    wr_buf_init(&text, 64 * 1024);
    wr_receipt_print(&receipt, "> ", &text);
    wr_buf_byte(&text, '\0');
    assert_non_null(strstr(text.bytes, "> 2 requests, 1 changed; prompt tokens 4,000 -> 3,000\n"));
    assert_non_null(
        strstr(text.bytes, "> 2 recalls, 1 missed; cache lost by others: host 1 (7 tokens)\n"));
    assert_non_null(strstr(text.bytes, "> 1 request passed through unread, 123 bytes both ways\n"));
    wr_buf_reset(&text);
    wr_receipt_write(&receipt, 3, &text);
    wr_buf_byte(&text, '\0');
    assert_non_null(strstr(text.bytes, "\"exit_status\":3,\"requests\":2,\"changed\":1,"));
    assert_non_null(strstr(text.bytes, "\"recalls\":2,\"recalls_missed\":1,"));
    wr_buf_release(&text);
    wr_test_dir_remove(&dir);
}

static void what_it_says(void **state)
{
    static const struct {
        const char *behaviour;
        struct wr_receipt receipt;
        const char *text;
    } cases[] = {
        {"nothing came",
         {.run = ""},
         "no request came through Weir; if it asked a model, it did so elsewhere\n"},
        {"nothing was changed",
         {.tally = {.requests_count = 1, .micro_usd = 12345, .unchanged_micro_usd = 12345}},
         "1 request. Nothing was changed: all were sent as they came\n"
         "$0.0123 at cache prices\n0 recalls, 0 missed\n"},
        {"shadow changes nothing",
         {.tally =
              {.requests_count = 2, .shadow_count = 2, .micro_usd = 70, .unchanged_micro_usd = 70}},
         "2 requests, in shadow: all were sent as they came\n"
         "$0.000070 at cache prices\n0 recalls, 0 missed\n"},
        {"what shadow would have done is its own line, and no saving",
         {.tally = {.requests_count = 2,
                    .shadow_count = 2,
                    .shadow_prompt_tokens = 12000,
                    .shadow_would_send_tokens = 3000,
                    .micro_usd = 98650,
                    .unchanged_micro_usd = 98650}},
         "2 requests, in shadow: all were sent as they came\n"
         "shadow: their prompts, 12,000 tokens by estimate, would have been 3,000 (75 % less); "
         "nothing of it was saved\n"
         "$0.0987 at cache prices\n0 recalls, 0 missed\n"},
        {"money is rounded, over a dollar too",
         {.tally = {.requests_count = 1, .micro_usd = 1999960, .unchanged_micro_usd = 1999960}},
         "1 request. Nothing was changed: all were sent as they came\n"
         "$2.0000 at cache prices\n0 recalls, 0 missed\n"},
        {"no sum where no price is known",
         {.tally = {.requests_count = 2,
                    .changed_count = 1,
                    .raw_tokens = 10,
                    .sent_tokens = 9,
                    .unpriced_count = 2}},
         "2 requests, 1 changed; prompt tokens 10 -> 9\n"
         "what it cost is not known: no price is known of its models\n0 recalls, 0 missed\n"},
        {"it was dearer",
         {.tally = {.requests_count = 3,
                    .changed_count = 2,
                    .failed_count = 1,
                    .raw_tokens = 10,
                    .sent_tokens = 9,
                    .micro_usd = 3000000,
                    .unchanged_micro_usd = 2000000,
                    .estimated_count = 1,
                    .unpriced_count = 2,
                    .busts = {[WR_BUST_WEIR] = 1, [WR_BUST_EXPIRED] = 2},
                    .bust_tokens = {[WR_BUST_WEIR] = 1234, [WR_BUST_EXPIRED] = 1}}},
         "3 requests, 1 without a good answer, 2 changed; prompt tokens 10 -> 9\n"
         "$3.0000 at cache prices; unchanged it would have been $2.0000: DEARER by $1.0000 (50 %); "
         "1 "
         "request is estimated; 2 of models without known prices are in no sum\n"
         "0 recalls, 0 missed; 1 planned rewrite of the cache (1,234 tokens, in the sum); cache "
         "lost by "
         "others: expired 2 (1 token)\n"},
        {"planned rewrites have their price",
         {.tally = {.requests_count = 3,
                    .changed_count = 2,
                    .raw_tokens = 10,
                    .sent_tokens = 9,
                    .micro_usd = 1000000,
                    .unchanged_micro_usd = 2000000,
                    .steps_micro_usd = 20000,
                    .busts = {[WR_BUST_WEIR] = 2},
                    .bust_tokens = {[WR_BUST_WEIR] = 5000}}},
         "3 requests, 2 changed; prompt tokens 10 -> 9\n"
         "$1.0000 at cache prices; unchanged it would have been $2.0000: saved $1.0000 (50 %)\n"
         "0 recalls, 0 missed; 2 planned rewrites of the cache (5,000 tokens, $0.0200, in the "
         "sum)\n"},
        {"what could not have been sent unchanged has nothing to be dearer than",
         {.tally = {.requests_count = 3,
                    .changed_count = 2,
                    .raw_tokens = 10,
                    .sent_tokens = 9,
                    .micro_usd = 3000000,
                    .unchanged_micro_usd = 2000000,
                    .refused_count = 1}},
         "3 requests, 2 changed; prompt tokens 10 -> 9\n"
         "$3.0000 at cache prices; 1 request fits now and would have been refused unchanged\n"
         "0 recalls, 0 missed\n"},
        {"our own tools can make it dearer without a change",
         {.tally = {.requests_count = 1, .micro_usd = 30000, .unchanged_micro_usd = 20000}},
         "1 request. Nothing was changed: all were sent as they came\n"
         "$0.0300 at cache prices; unchanged it would have been $0.0200: DEARER by $0.0100 "
         "(50 %), by what Weir's own tools take in the prompt\n0 recalls, 0 missed\n"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_buf text;
        wr_buf_init(&text, 64 * 1024);
        wr_receipt_print(&cases[i].receipt, "", &text);
        wr_buf_byte(&text, '\0');
        if (strcmp(text.bytes, cases[i].text))
            fail_msg("%s: %s", cases[i].behaviour, text.bytes);
        wr_buf_release(&text);
    }
}

static void without_a_store_there_is_none(void **state)
{
    struct wr_receipt receipt = {.run = "x", .agent = "codex"};
    struct weir_err err = {0};
    (void)state;
    assert_int_not_equal(wr_receipt_read(&receipt, "/nowhere/at/all", 0, &err), WEIR_OK);
    assert_true(err.text[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_leaves_with_its_files),
        cmocka_unit_test(what_the_agent_put_there_leaves_too),
        cmocka_unit_test(what_lies_too_deep_keeps_nothing_else),
        cmocka_unit_test(what_a_killed_run_left_is_taken_away),
        cmocka_unit_test(an_agent_that_lives_on_keeps_it),
        cmocka_unit_test(nothing_else_is_touched),
        cmocka_unit_test(status_is_the_childs),
        cmocka_unit_test(what_cannot_be_run_says_why),
        cmocka_unit_test(only_rows_of_the_run_count),
        cmocka_unit_test(what_it_says),
        cmocka_unit_test(without_a_store_there_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
