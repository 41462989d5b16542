/* `weir recall` and `weir store` as a user meets them: what they print, and how they end. */
#include "cli/cmd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <fcntl.h>

#include "base/span.h"
#include "tests/test_file.h"
#include "tests/test_dir.h"
#include "weir/store.h"

#define TEXT "one\ntwo error\nthree\nfour\nfive"

enum { WORDS_MAX = 16, OUTPUT_BYTES_MAX = 1 << 20 };

static struct wr_test_dir dir; /* of the store; made by each test */
static char handle_text[WEIR_HANDLE_TEXT_BYTES + 1];

static int make_store(void **state)
{
    struct weir_artifact artifact = {.text = WR_LIT(TEXT)};
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = WR_LIT("work"),
                               .used_ms = 1000,
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    struct weir_store *store;
    (void)state;

    dir = wr_test_dir_new();
    if (weir_store_open(dir.path, NULL, &store, NULL, NULL))
        return -1;
    weir_status status = weir_store_commit(store, &batch, NULL);
    weir_handle_format(weir_hash_handle(&artifact.hash), handle_text);
    weir_store_close(store);
    return (int)status;
}

static int remove_store(void **state)
{
    (void)state;
    wr_test_dir_remove(&dir);
    return 0;
}

/* Turns `stream` into a file and back. */
static int divert(FILE *stream, int fd, const char *path)
{
    int kept = dup(fd), file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(kept >= 0 && file >= 0);
    (void)fflush(stream);
    assert_true(dup2(file, fd) >= 0);
    (void)close(file);
    return kept;
}

static void restore(FILE *stream, int fd, int kept)
{
    (void)fflush(stream);
    assert_true(dup2(kept, fd) >= 0);
    (void)close(kept);
}

struct outcome {
    int code;
    struct wr_buf out, err;
};

/* Runs a command line; DIR and HANDLE stand for the store and the handle in it. */
static struct outcome run(const char *line)
{
    char words[512], out_path[2 * WR_TEST_PATH_BYTES], err_path[2 * WR_TEST_PATH_BYTES];
    char weir[] = "weir", *argv[WORDS_MAX + 2] = {weir}, *save = NULL;
    struct outcome outcome;
    int argc = 1;

    (void)snprintf(words, sizeof(words), "%s", line);
    (void)snprintf(out_path, sizeof(out_path), "%s/out", dir.path);
    (void)snprintf(err_path, sizeof(err_path), "%s/err", dir.path);
    for (char *word = strtok_r(words, " ", &save); word && argc < WORDS_MAX;
         word = strtok_r(NULL, " ", &save))
        argv[argc++] = !strcmp(word, "DIR")      ? dir.path
                       : !strcmp(word, "HANDLE") ? handle_text
                                                 : word;
    argv[argc] = NULL;
    int kept_out = divert(stdout, 1, out_path), kept_err = divert(stderr, 2, err_path);
    outcome.code = wr_cli_main(argc, argv);
    restore(stderr, 2, kept_err);
    restore(stdout, 1, kept_out);
    wr_buf_init(&outcome.out, OUTPUT_BYTES_MAX);
    wr_buf_init(&outcome.err, OUTPUT_BYTES_MAX);
    assert_true(wr_test_file(out_path, &outcome.out) && wr_test_file(err_path, &outcome.err));
    return outcome;
}

static const struct {
    const char *behaviour, *line;
    int code;
    const char *out; /* all of it; NULL: not looked at */
    const char *err; /* part of it */
} cases[] = {
    {"the whole text", "recall HANDLE --store DIR", 0, TEXT, ""},
    {"lines", "recall HANDLE --store DIR --lines 2-3", 0, "two error\nthree\n", ""},
    {"lines apart", "recall HANDLE --store DIR --lines 1,4-", 0, "one\n--\nfour\nfive", ""},
    {"head", "recall --head 1 --store DIR HANDLE", 0, "one\n", ""},
    {"tail", "recall --tail=1 --store DIR HANDLE", 0, "five", ""},
    {"grep", "recall HANDLE --store DIR --grep e.r", 0, "2:two error\n", ""},
    {"grep with context", "recall HANDLE --store DIR --grep err --context 1", 0,
     "1-one\n2:two error\n3-three\n", ""},
    {"grep within lines", "recall HANDLE --store DIR --grep o --lines 3-", 0, "4:four\n", ""},
    {"no match is a failed check", "recall HANDLE --store DIR --grep six", 1, "", "no line of 5"},
    {"a handle that was never stored", "recall wr_00000000000000000000 --store DIR", 1, "",
     "never stored"},
    {"another tenant's", "recall HANDLE --tenant x --store DIR", 1, "", "another tenant"},
    {"no handle at all", "recall --store DIR", 2, "", "one handle is wanted"},
    {"not a handle", "recall wr_123 --store DIR", 2, "", "is no handle"},
    {"lines that are none", "recall HANDLE --store DIR --lines x", 2, "", "at byte 0"},
    {"lines past the end", "recall HANDLE --store DIR --lines 9", 2, "", "the text has 5"},
    {"head of no lines", "recall HANDLE --store DIR --head 0", 2, "", "a number from 1"},
    {"head and tail", "recall HANDLE --store DIR --head 1 --tail 1", 2, "", "exclude each other"},
    {"context alone", "recall HANDLE --store DIR --context 1", 2, "", "--grep"},
    {"a wrong pattern", "recall HANDLE --store DIR --grep (", 2, "", "wrong at byte"},
    {"a store that is not there", "recall HANDLE --store /nowhere/at/all", 2, "", "no store.db"},
    {"an option that is not there", "recall HANDLE --line 1", 2, "", "no option"},
    {"stats", "store stats --store DIR", 0, NULL, ""},
    {"verify", "store verify --store DIR --json", 0,
     "{\"artifacts\":1,\"text_bytes\":29,\"corrupt\":0,\"damaged\":0}\n", ""},
    {"purge of nothing named", "store purge --store DIR", 2, "", "--session S or --all"},
    {"purge of both", "store purge --all --session x --store DIR", 2, "", "--session S or --all"},
    {"purge of a session that is not there", "store purge --session x --store DIR", 2, "",
     "no session 'x'"},
    {"all without purge", "store gc --all --store DIR", 2, "", "go with purge"},
    {"a number that is none", "store gc --days many --store DIR", 2, "", "--days wants a number"},
    {"an unknown action", "store clean --store DIR", 2, "", "verify, gc, stats, purge"},
    {"gc keeps what is in use", "store gc --live-hours 999999999 --store DIR --json", 0,
     "{\"sessions\":0,\"artifacts\":0,\"stored_bytes\":0,\"marks\":0,\"pins\":0,\"requests\":0}\n",
     ""},
    {"gc takes what is old", "store gc --store DIR --json", 0,
     "{\"sessions\":1,\"artifacts\":1,\"stored_bytes\":29,\"marks\":0,\"pins\":0,\"requests\":0}\n",
     ""},
    {"what was collected has expired", "recall HANDLE --store DIR", 1, "", "expired"},
    {"purge of all", "store purge --all --store DIR --json", 0,
     "{\"sessions\":0,\"artifacts\":0,\"stored_bytes\":0,\"marks\":0,\"pins\":0,\"requests\":0}\n",
     ""},
    {"what was purged was never there", "recall HANDLE --store DIR", 1, "", "never stored"},
};

static void commands_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct outcome outcome = run(cases[i].line);
        weir_span out = wr_buf_view(&outcome.out), err = wr_buf_view(&outcome.err);
        bool is_error_one_line =
            !err.len || (err.ptr[err.len - 1] == '\n' && !memchr(err.ptr, '\n', err.len - 1));
        if (outcome.code != cases[i].code || !is_error_one_line ||
            (cases[i].out && !wr_span_is(out, cases[i].out)) ||
            wr_span_find(err, wr_span_of(cases[i].err), 0) == SIZE_MAX)
            fail_msg("not so: %s: exit %d\nstdout: %.*s\nstderr: %.*s", cases[i].behaviour,
                     outcome.code, (int)out.len, out.len ? out.ptr : "", (int)err.len,
                     err.len ? err.ptr : "");
        wr_buf_release(&outcome.out);
        wr_buf_release(&outcome.err);
    }
}

static void the_default_store_is_where_xdg_says(void **state)
{
    struct outcome outcome;
    (void)state;

    assert_int_equal(setenv("XDG_DATA_HOME", "/nowhere/data", 1), 0);
    outcome = run("store stats");
    assert_int_equal(outcome.code, 2);
    assert_true(wr_span_find(wr_buf_view(&outcome.err), WR_LIT("/nowhere/data/weir:"), 0) !=
                SIZE_MAX);
    wr_buf_release(&outcome.out);
    wr_buf_release(&outcome.err);
    assert_int_equal(unsetenv("XDG_DATA_HOME"), 0);
    assert_int_equal(setenv("HOME", "/nowhere/home", 1), 0);
    outcome = run("store stats");
    assert_true(wr_span_find(wr_buf_view(&outcome.err), WR_LIT("/nowhere/home/.local/share/weir:"),
                             0) != SIZE_MAX);
    wr_buf_release(&outcome.out);
    wr_buf_release(&outcome.err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commands_answer, make_store, remove_store),
        cmocka_unit_test_setup_teardown(the_default_store_is_where_xdg_says, make_store,
                                        remove_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
