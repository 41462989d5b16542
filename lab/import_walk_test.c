#include "lab/import_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

/* ---- import places ---- */

static const struct wr_import_place *place_of(const char *agent)
{
    size_t count;
    const struct wr_import_place *places = wr_import_places(&count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp(places[i].agent, agent))
            return &places[i];
    fail_msg("%s has no place", agent);
    return NULL;
}

static void logs_are_below_the_home_or_what_a_variable_names(void **state)
{
    static const struct {
        const char *agent, *home, *variable, *value, *path;
    } cases[] = {
        {"claude-code", "/h", NULL, NULL, "/h/.claude/projects"},
        {"claude-code", "/h", "CLAUDE_CONFIG_DIR", "/c", "/c/projects"},
        {"claude-code", "/h", "CLAUDE_CONFIG_DIR", "", "/h/.claude/projects"},
        {"codex", NULL, "CODEX_HOME", "/x", "/x/sessions"},
        {"codex", NULL, NULL, NULL, NULL},
        {"codex", "", NULL, NULL, NULL},
        {"gemini-cli", "/h", NULL, NULL, "/h/.gemini/tmp"},
    };
    struct wr_arena arena;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)unsetenv("CLAUDE_CONFIG_DIR");
        (void)unsetenv("CODEX_HOME");
        if (cases[i].variable)
            assert_int_equal(setenv(cases[i].variable, cases[i].value, 1), 0);
        const char *path = wr_import_place_path(place_of(cases[i].agent), cases[i].home, &arena);
        if (!cases[i].path != !path || (path && strcmp(path, cases[i].path)))
            fail_msg("case %zu: %s", i, path ? path : "none");
    }
    wr_arena_release(&arena);
}

/* ---- import walk ---- */

enum { PATH_BYTES = 512 };

static const char session[] =
    "{\"role\":\"user\",\"content\":\"go\"}\n{\"role\":\"assistant\",\"content\":\"yes\"}\n";

/* What lies below the folder that is walked, in the order of a walk. */
static const struct {
    const char *name, *text; /* NULL: a folder; "->": a symbolic link to ".." */
    enum wr_import_file_state state;
    weir_status read; /* when it is read */
} tree[] = {
    {"a", NULL, WR_IMPORT_FILE_FOUND, WEIR_OK},
    {"a/broken.json", "{\"messages\":[", WR_IMPORT_FILE_FOUND, WEIR_SYNTAX},
    {"a/log", session, WR_IMPORT_FILE_FOUND, WEIR_OK},
    {"a/up", "->", WR_IMPORT_FILE_LINK, WEIR_IO},
    {"b.txt", "hello", WR_IMPORT_FILE_FOUND, WEIR_INVALID},
    {"c.jsonl", session, WR_IMPORT_FILE_FOUND, WEIR_OK},
    {"d.jsonl", "{\"role\":\"user\",\"content\":\"go\"}\n", WR_IMPORT_FILE_FOUND, WEIR_NOTFOUND},
};
enum { TREE = WR_COUNT_OF(tree) };

struct seen {
    char root[64];
    uint32_t next;       /* of `tree` */
    uint32_t stop_after; /* 0: never */
};

static void path_of(const struct seen *seen, uint32_t i, char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s/%s", seen->root, tree[i].name);
}

static void make_tree(struct seen *seen)
{
    char path[PATH_BYTES];
    *seen = (struct seen){.root = "/tmp/weir_walk_XXXXXX"};
    assert_non_null(mkdtemp(seen->root));
    for (uint32_t i = 0; i < TREE; i++) {
        path_of(seen, i, path);
        if (!tree[i].text) {
            assert_int_equal(mkdir(path, 0700), 0);
        } else if (!strcmp(tree[i].text, "->")) {
            assert_int_equal(symlink("..", path), 0);
        } else {
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            assert_int_equal(fputs(tree[i].text, file) >= 0, 1);
            assert_int_equal(fclose(file), 0);
        }
    }
}

static void remove_tree(const struct seen *seen)
{
    char path[PATH_BYTES];
    for (uint32_t i = TREE; i-- > 0;) {
        path_of(seen, i, path);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(seen->root), 0);
}

static void check_reading(const char *path, weir_status expected)
{
    struct wr_import import;
    struct weir_err err = {0};
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (wr_import_file_read(&import, &arena, path, &err) != expected)
        fail_msg("%s: %s", path, err.text);
    if (expected)
        assert_true(err.text[0]);
    else
        assert_int_equal(import.sessions_count, 1);
    wr_arena_release(&arena);
}

static weir_status on_file(void *user, const char *name, enum wr_import_file_state state)
{
    struct seen *seen = user;
    char path[PATH_BYTES];
    while (seen->next < TREE && !tree[seen->next].text)
        seen->next++;
    assert_true(seen->next < TREE);
    path_of(seen, seen->next, path);
    assert_string_equal(name, path);
    if (state != tree[seen->next].state)
        fail_msg("%s: %s", path, wr_import_file_state_text(state));
    check_reading(path, tree[seen->next].read);
    seen->next++;
    return seen->next == seen->stop_after ? WEIR_IO : WEIR_OK;
}

static void every_file_is_reported_in_order(void **state)
{
    struct seen seen;
    (void)state;
    make_tree(&seen);
    assert_int_equal(wr_import_list(seen.root, on_file, &seen, NULL), WEIR_OK);
    assert_int_equal(seen.next, TREE);
    remove_tree(&seen);
}

static void a_failure_of_the_callback_stops_the_walk(void **state)
{
    struct seen seen;
    (void)state;
    make_tree(&seen);
    seen.stop_after = 2;
    assert_int_equal(wr_import_list(seen.root, on_file, &seen, NULL), WEIR_IO);
    assert_int_equal(seen.next, 2);
    remove_tree(&seen);
}

static weir_status count_file(void *user, const char *path, enum wr_import_file_state state)
{
    (void)path;
    assert_int_equal(state, WR_IMPORT_FILE_FOUND);
    ++*(uint32_t *)user;
    return WEIR_OK;
}

static void a_path_may_be_one_file_or_nothing(void **state)
{
    struct seen seen;
    struct weir_err err = {0};
    char path[PATH_BYTES];
    uint32_t count = 0;
    (void)state;
    make_tree(&seen);
    path_of(&seen, 2, path);
    assert_int_equal(wr_import_list(path, count_file, &count, NULL), WEIR_OK);
    assert_int_equal(count, 1);
    (void)snprintf(path, sizeof(path), "%s/none", seen.root);
    assert_int_equal(wr_import_list(path, count_file, &count, &err), WEIR_NOTFOUND);
    assert_true(err.text[0]);
    remove_tree(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_are_below_the_home_or_what_a_variable_names),
        cmocka_unit_test(every_file_is_reported_in_order),
        cmocka_unit_test(a_failure_of_the_callback_stops_the_walk),
        cmocka_unit_test(a_path_may_be_one_file_or_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
