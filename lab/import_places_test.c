#include "lab/import_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_are_below_the_home_or_what_a_variable_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
