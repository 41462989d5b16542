#include "agent/chat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_agent.h"

/* ---- context page ---- */

static void begin(struct test_agent *agent)
{
    static const char yaml[] = "model: {name: gpt-4o-mini, max_input_tokens: 2000}\n"
                               "session: {policy: tiered}\n";
    test_agent_init(agent);
    test_agent_open(agent, yaml);
    test_agent_say(agent, "Read the file.");
    (void)test_agent_request(agent, WEIR_DIALECT_CHAT);
    test_agent_call(agent, "c1", "read_file", "{}");
}

static void fill(struct test_agent *agent, size_t words)
{
    struct wr_buf text;
    wr_buf_init(&text, 1000000);
    for (size_t i = 0; i < words; i++)
        wr_buf_text(&text, "word ");
    wr_buf_byte(&text, '\0');
    test_agent_result(agent, "c1", text.bytes);
    wr_buf_release(&text);
}

/* How often `letter` stands in the bar. */
static size_t cells(weir_span page, char letter)
{
    size_t from = wr_span_find(page, WR_LIT("["), 0), count = 0;
    for (size_t i = from; i < page.len && page.ptr[i] != ']'; i++)
        count += page.ptr[i] == letter;
    return count;
}

static void the_page_divides_the_window(void **state)
{
    struct test_agent agent;
    struct wr_buf out;
    (void)state;

    begin(&agent);
    fill(&agent, 1000);
    wr_buf_init(&out, 100000);
    wr_context_page(agent.session, NULL, agent.now_ms, &out);
    weir_span page = wr_buf_view(&out);
    assert_has(page, " of 1900 tokens, 5");
    assert_has(page, "% (estimated)\nof a window of 2000 the rest is kept for the answer\n");
    assert_has(page, "estimated as it was sent, with what came since, ");
    assert_true(cells(page, 'R') >= 23 && cells(page, 'R') <= 29);
    assert_true(cells(page, '.') >= 20);
    assert_has(page, "R results ");
    assert_has(page, " to go)");
    assert_has(page, "  3 messages, ");
    wr_buf_release(&out);
    test_agent_release(&agent);
}

static void a_full_window_has_nothing_free_and_is_red(void **state)
{
    struct test_agent agent;
    struct wr_buf out, word;
    (void)state;

    begin(&agent);
    fill(&agent, 3000);
    wr_buf_init(&out, 100000);
    wr_buf_init(&word, 100);
    wr_context_page(agent.session, NULL, agent.now_ms, &out);
    assert_has(wr_buf_view(&out), "free             0 tokens   0.0%");
    assert_has(wr_buf_view(&out), "(reached)");
    assert_int_equal(cells(wr_buf_view(&out), '.'), 0);
    wr_context_word(agent.session, true, &word);
    assert_has(wr_buf_view(&word), "\x1b[31mctx 1");
    assert_has(wr_buf_view(&word), "%\x1b[0m");
    wr_buf_reset(&word);
    wr_context_word(agent.session, false, &word);
    assert_has_not(wr_buf_view(&word), "\x1b");
    wr_buf_release(&out);
    wr_buf_release(&word);
    test_agent_release(&agent);
}

/* ---- chat ---- */

/* ---- complete ---- */

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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_divides_the_window),
        cmocka_unit_test(a_full_window_has_nothing_free_and_is_red),
        cmocka_unit_test(names_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
