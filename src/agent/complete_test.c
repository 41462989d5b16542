#include "agent/complete.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/span.h"

static void make_file(const char *dir, const char *name)
{
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    (void)close(file);
}

static void make_journal(const char *dir, const char *words)
{
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/events.jsonl", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file, "{\"seq\":1,\"at_ms\":1,\"kind\":\"user\",\"text\":\"%s\"}\n", words);
    assert_int_equal(fclose(file), 0);
}

static const struct {
    const char *behaviour, *text, *names; /* joined by '|' */
} rows[] = {
    {"files behind an @", "see @R", "@README"},
    {"folders end in a slash", "@s", "@src/"},
    {"within a folder", "@src/", "@src/events.jsonl|@src/main.c|@src/map.c"},
    {"hidden files only by their dot", "@.", "@.hidden"},
    {"nothing fits", "@zzz", ""},
    {"a word without an @ is no file", "R", ""},
    {"sessions behind /resume", "/resume s", "src"},
    {"known by what was said", "/resume parser", "src"},
    {"a folder that is none is not among them", "/resume R", ""},
};

static void names_are_found(void **state)
{
    char dir[] = "/tmp/weir-complete-XXXXXX", command[100], folder[100];
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(folder, sizeof(folder), "%s/src", dir);
    assert_int_equal(mkdir(folder, 0700), 0);
    make_file(dir, "README");
    make_file(dir, ".hidden");
    make_file(folder, "main.c");
    make_file(folder, "map.c");
    make_journal(folder, "Mend the parser.");
    struct wr_completer completer = {.root = dir, .sessions_dir = dir};
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_choices choices = {.count = 0};
        struct wr_buf names;
        wr_buf_init(&choices.names, 10000);
        wr_buf_init(&choices.labels, 10000);
        wr_buf_init(&names, 10000);
        wr_line_complete(&completer, wr_span_of(rows[i].text), strlen(rows[i].text), &choices);
        for (size_t n = 0; n < choices.count; n++) {
            wr_buf_text(&names, n ? "|" : "");
            wr_buf_append(&names, wr_choices_at(&choices, n));
        }
        if (!wr_span_is(wr_buf_view(&names), rows[i].names))
            fail_msg("%s: '%.*s'", rows[i].behaviour, (int)names.len, names.bytes);
        wr_buf_release(&names);
        wr_buf_release(&choices.names);
        wr_buf_release(&choices.labels);
    }
    (void)snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
