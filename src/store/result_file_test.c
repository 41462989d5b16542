#include "store/result_file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "tests/test_dir.h"

#define FOLDER "large_tool_results"

/* ---- short ways to say things ---- */

static struct wr_test_dir dir; /* made for each test */

static int make_dir(void **state)
{
    (void)state;
    dir = wr_test_dir_new();
    return 0;
}

static void path_of(const char *below, char path[2 * WR_TEST_PATH_BYTES])
{
    (void)snprintf(path, 2 * WR_TEST_PATH_BYTES, "%s/%s", dir.path, below);
}

static int remove_dir(void **state)
{
    struct wr_test_dir inner = {""};
    (void)state;
    (void)snprintf(inner.path, sizeof(inner.path), "%.400s/" FOLDER, dir.path);
    wr_test_dir_remove(&inner);
    wr_test_dir_remove(&dir);
    return 0;
}

static weir_status put(const char *id, const char *text)
{
    weir_trouble trouble;
    struct weir_err err = {0};
    weir_status status =
        wr_result_file_write(dir.path, wr_span_of(id), wr_span_of(text), &trouble, &err);
    assert_int_equal(status != WEIR_OK, err.text[0] != '\0');
    return status;
}

static void assert_text(const char *below, const char *wanted)
{
    char path[2 * WR_TEST_PATH_BYTES];
    struct wr_buf text;
    path_of(below, path);
    wr_buf_init(&text, 1 << 20);
    assert_true(wr_test_file(path, &text));
    assert_true(wr_span_is(wr_buf_view(&text), wanted));
    wr_buf_release(&text);
}

static struct stat stat_of(const char *below)
{
    char path[2 * WR_TEST_PATH_BYTES];
    struct stat found;
    path_of(below, path);
    assert_int_equal(lstat(path, &found), 0);
    return found;
}

static size_t entries_in(const char *below)
{
    char path[2 * WR_TEST_PATH_BYTES];
    size_t count = 0;
    path_of(below, path);
    DIR *listing = opendir(path);
    assert_non_null(listing);
    while (readdir(listing))
        count++;
    (void)closedir(listing);
    return count - 2;
}

/* ---- tests ---- */

static void ids_are_names_and_never_paths(void **state)
{
    static const struct {
        const char *id;
        bool is_good;
    } rows[] = {
        {"wr_0123456789abcdef0123", true},
        {"toolu_01A09q90qw90lq917835lq9", true},
        {"call_abc-DEF.1", true},
        {"_", true},
        {"", false},
        {".", false},
        {"..", false},
        {".hidden", false},
        {"-rf", false},
        {"a/b", false},
        {"../a", false},
        {"/etc/passwd", false},
        {"a\\b", false},
        {"a b", false},
        {"a\nb", false},
        {"caf\xC3\xA9", false},
        {"a:b", false},
        {"~", false},
    };
    char longest[WR_RESULT_ID_BYTES_MAX + 2];
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        if (wr_result_id_is_good(wr_span_of(rows[i].id)) != rows[i].is_good)
            fail_msg("'%s' is judged wrong", rows[i].id);
        assert_int_equal(put(rows[i].id, "x"), rows[i].is_good ? WEIR_OK : WEIR_INVALID);
    }
    assert_int_equal(entries_in(""), 1);
    assert_int_equal(entries_in(FOLDER), 4);
    assert_false(wr_result_id_is_good((weir_span){"a\0b", 3}));
    memset(longest, 'a', sizeof(longest));
    assert_true(wr_result_id_is_good((weir_span){longest, WR_RESULT_ID_BYTES_MAX}));
    assert_false(wr_result_id_is_good((weir_span){longest, WR_RESULT_ID_BYTES_MAX + 1}));
}

static void a_file_is_written_once_for_its_owner(void **state)
{
    mode_t old_mask = umask(0);
    (void)state;

    assert_int_equal(put("call_1", "the text\n"), WEIR_OK);
    (void)umask(old_mask);
    assert_text(FOLDER "/call_1", "the text\n");
    assert_int_equal(stat_of(FOLDER).st_mode & 0777, 0700);
    struct stat first = stat_of(FOLDER "/call_1");
    assert_int_equal(first.st_mode & 0777, 0600);
    /* The same again leaves the file as it is; another text, or another mode, replaces it. */
    assert_int_equal(put("call_1", "the text\n"), WEIR_OK);
    assert_true(stat_of(FOLDER "/call_1").st_ino == first.st_ino);
    assert_int_equal(put("call_1", "the TEXT\n"), WEIR_OK);
    assert_text(FOLDER "/call_1", "the TEXT\n");
    assert_int_equal(put("call_1", ""), WEIR_OK);
    assert_text(FOLDER "/call_1", "");
    assert_int_equal(entries_in(FOLDER), 1);
}

static void links_lead_nowhere(void **state)
{
    char from[2 * WR_TEST_PATH_BYTES], to[2 * WR_TEST_PATH_BYTES];
    weir_trouble trouble;
    (void)state;

    /* A file: the link is replaced, what it points at stays. */
    assert_int_equal(put("call_1", "mine"), WEIR_OK);
    path_of("victim", to);
    int fd = open(to, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "mine", 4), 4);
    assert_int_equal(close(fd), 0);
    path_of(FOLDER "/call_2", from);
    assert_int_equal(symlink(to, from), 0);
    assert_int_equal(put("call_2", "mine"), WEIR_OK);
    assert_true(S_ISREG(stat_of(FOLDER "/call_2").st_mode));
    assert_int_equal(put("call_2", "other"), WEIR_OK);
    assert_text("victim", "mine");
    /* The folder itself. */
    struct wr_test_dir outside = wr_test_dir_new();
    struct wr_test_dir inside = wr_test_dir_new();
    (void)snprintf(from, sizeof(from), "%s/" FOLDER, inside.path);
    assert_int_equal(symlink(outside.path, from), 0);
    assert_int_equal(
        wr_result_file_write(inside.path, WR_LIT("call_3"), WR_LIT("x"), &trouble, NULL), WEIR_IO);
    assert_int_equal(trouble, WEIR_TROUBLE_DENIED);
    wr_test_dir_remove(&inside);
    (void)snprintf(from, sizeof(from), "%s/call_3", outside.path);
    assert_int_equal(access(from, F_OK), -1);
    wr_test_dir_remove(&outside);
}

static void what_is_in_the_way_is_an_error_and_not_a_wait(void **state)
{
    char path[2 * WR_TEST_PATH_BYTES];
    weir_trouble trouble;
    (void)state;

    assert_int_equal(wr_result_file_write("/nowhere", WR_LIT("a"), WR_LIT("x"), &trouble, NULL),
                     WEIR_IO);
    assert_int_equal(trouble, WEIR_TROUBLE_DENIED);
    assert_int_equal(put("a", "x"), WEIR_OK);
    path_of(FOLDER "/pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(put("pipe", "x"), WEIR_OK);
    assert_text(FOLDER "/pipe", "x");
    path_of(FOLDER "/folder", path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(put("folder", "x"), WEIR_IO);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(entries_in(FOLDER), 2);
}

static void without_room_the_old_file_stays(void **state)
{
    struct rlimit old, small;
    char large[64 * 1024];
    weir_trouble trouble;
    (void)state;

    memset(large, 'x', sizeof(large));
    assert_int_equal(put("a", "as it was"), WEIR_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 10 * 1024;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    weir_status status = wr_result_file_write(dir.path, WR_LIT("a"),
                                              (weir_span){large, sizeof(large)}, &trouble, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, WEIR_LIMIT);
    assert_int_equal(trouble, WEIR_TROUBLE_FULL);
    assert_text(FOLDER "/a", "as it was");
    assert_int_equal(entries_in(FOLDER), 1);
}

/* In the child: nothing of the test framework. */
static _Noreturn void write_in_turn(weir_span a, weir_span b)
{
    weir_trouble trouble;
    while (!wr_result_file_write(dir.path, WR_LIT("a"), b, &trouble, NULL) &&
           !wr_result_file_write(dir.path, WR_LIT("a"), a, &trouble, NULL))
        ;
    _exit(1);
}

/* Whenever it is killed there is one of the two texts, and what it left behind is in nobody's way.
 */
static void a_killed_writer_leaves_a_whole_file(void **state)
{
    enum { KILLS = 40, TEXT_BYTES = 300 * 1024 };
    static char texts[2][TEXT_BYTES + 1];
    char path[2 * WR_TEST_PATH_BYTES];
    struct wr_buf found;
    (void)state;

    memset(texts[0], 'a', TEXT_BYTES);
    memset(texts[1], 'b', TEXT_BYTES);
    assert_int_equal(put("a", texts[0]), WEIR_OK);
    path_of(FOLDER "/a", path);
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child)
            write_in_turn(wr_span_of(texts[0]), wr_span_of(texts[1]));
        (void)usleep(1000 + (useconds_t)i * 137);
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        wr_buf_init(&found, 1 << 20);
        assert_true(wr_test_file(path, &found));
        assert_int_equal(found.len, TEXT_BYTES);
        assert_memory_equal(found.bytes, texts[found.bytes[0] == 'b'], TEXT_BYTES);
        wr_buf_release(&found);
    }
    assert_int_equal(put("a", "in the end"), WEIR_OK);
    assert_text(FOLDER "/a", "in the end");
}

static void a_stored_text_becomes_a_file_of_its_handle(void **state)
{
    struct weir_artifact artifact = {.text = WR_LIT("kept\n")};
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = WR_LIT("s"),
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    struct weir_store *store;
    char below[64] = FOLDER "/";
    weir_miss miss;
    (void)state;

    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    struct weir_lookup lookup = {.tenant = batch.tenant,
                                 .handle = weir_hash_handle(&artifact.hash)};
    assert_int_equal(wr_result_file_recall(store, &lookup, dir.path, &miss, NULL), WEIR_OK);
    assert_int_equal(wr_result_file_recall(store, &lookup, dir.path, &miss, NULL), WEIR_OK);
    weir_handle_format(lookup.handle, below + strlen(below));
    assert_text(below, "kept\n");
    lookup.tenant = WR_LIT("other");
    assert_int_equal(wr_result_file_recall(store, &lookup, dir.path, &miss, NULL), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_NEVER_STORED);
    assert_int_equal(entries_in(FOLDER), 1);
    weir_store_close(store);
}

#define IN_A_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIR(ids_are_names_and_never_paths),
        IN_A_DIR(a_file_is_written_once_for_its_owner),
        IN_A_DIR(links_lead_nowhere),
        IN_A_DIR(what_is_in_the_way_is_an_error_and_not_a_wait),
        IN_A_DIR(without_room_the_old_file_stays),
        IN_A_DIR(a_killed_writer_leaves_a_whole_file),
        IN_A_DIR(a_stored_text_becomes_a_file_of_its_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
