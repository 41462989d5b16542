/* Jobs whose child is this program itself: called with `simulate` it answers as the simulator does,
 * in the way that the log's first word asks for. */
#include "proxy/what_if.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"

/* ---- the child ---- */

static const char *value_of(int count, char **words, const char *name)
{
    for (int i = 1; i + 1 < count; i++)
        if (!strcmp(words[i], name))
            return words[i + 1];
    return "";
}

static int play_simulator(int count, char **words)
{
    char log[16] = "";
    FILE *file = fopen(words[count - 1], "r");

    if (!file || !fgets(log, sizeof(log), file))
        return 3;
    (void)fclose(file);
    if (!strcmp(log, "fail"))
        return 2;
    if (!strcmp(log, "wait"))
        (void)pause();
    if (!strcmp(log, "mute"))
        return 0;
    printf("{\"policies\":[{\"policy\":\"%s\",\"cost_usd\":%s,\"prompt_tokens\":700,\"recalls\":3,"
           "\"steps\":2,\"evidence\":{\"blind_quotes_requests\":4}}],\"model\":\"%s\"}\n",
           value_of(count, words, "--policy"),
           strcmp(value_of(count, words, "--model"), "gpt-5") ? "0.25" : "0.5",
           value_of(count, words, "--model"));
    return 0;
}

/* ---- jobs ---- */

struct world {
    uv_loop_t loop;
    struct wr_test_dir dir;
    struct wr_what_if *what_if;
    struct wr_buf out;
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->dir = wr_test_dir_new();
    w->what_if = wr_what_if_new(&w->loop, w->dir.path);
    assert_non_null(w->what_if);
    wr_buf_init(&w->out, WR_TRAFFIC_ANSWER_BYTES_MAX);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    wr_what_if_close(w->what_if);
    (void)uv_run(&w->loop, UV_RUN_DEFAULT);
    wr_what_if_free(w->what_if);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    wr_buf_release(&w->out);
    wr_test_dir_remove(&w->dir);
    free(w);
    return 0;
}

static weir_status begin(struct world *w, const char *log, struct wr_what_if_job *job)
{
    *job = (struct wr_what_if_job){.tenant = "ada", .session = "one", .model = "gpt-5"};
    assert_int_equal(wr_what_if_log(w->what_if, wr_span_of(log), job->path, NULL), WEIR_OK);
    assert_int_equal(access(job->path, F_OK), 0);
    return wr_what_if_begin(w->what_if, job, NULL);
}

static void assert_says(struct world *w, const char *tenant, const char *words)
{
    wr_buf_reset(&w->out);
    wr_what_if_write(w->what_if, tenant, &w->out);
    if (!wr_span_has(wr_buf_view(&w->out), wr_span_of(words)))
        fail_msg("no %s in %.*s", words, (int)w->out.len, w->out.bytes);
}

static void all_policies_are_played(void **state)
{
    struct world *w = *state;
    struct wr_what_if_job job;

    assert_says(w, "ada", "{\"session\":\"\",\"is_done\":true,\"done\":0,\"total\":4");
    assert_int_equal(begin(w, "good", &job), WEIR_OK);
    assert_says(w, "ada", "{\"session\":\"one\",\"is_done\":false,\"done\":0,\"total\":4");
    (void)uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_says(w, "ada", "\"is_done\":true,\"done\":4,\"total\":4,\"error\":null");
    assert_says(w, "ada",
                "{\"policy\":\"exact\",\"micro_usd\":500000,\"sent_tokens\":700,"
                "\"blind\":4,\"recalls\":3,\"steps\":2}");
    assert_says(w, "ada", "{\"policy\":\"lean\",\"micro_usd\":500000");
    assert_int_not_equal(access(job.path, F_OK), 0); /* what was said is not left lying about */
    assert_says(w, "bob", "{\"session\":\"\",\"is_done\":true,\"done\":0");
    assert_int_equal(begin(w, "good", &job), WEIR_OK); /* and another */
    (void)uv_run(&w->loop, UV_RUN_DEFAULT);
}

static void what_cannot_be_played_is_said(void **state)
{
    static const char *const logs[] = {"fail", "mute"};
    struct world *w = *state;
    struct wr_what_if_job job;

    for (size_t i = 0; i < WR_COUNT_OF(logs); i++) {
        assert_int_equal(begin(w, logs[i], &job), WEIR_OK);
        (void)uv_run(&w->loop, UV_RUN_DEFAULT);
        assert_says(w, "ada",
                    "\"is_done\":true,\"done\":0,\"total\":4,\"error\":\"the session "
                    "could not be played");
        assert_int_not_equal(access(job.path, F_OK), 0);
    }
}

static void one_job_at_a_time_and_none_outlives_the_server(void **state)
{
    struct world *w = *state;
    struct wr_what_if_job first, second;

    assert_int_equal(begin(w, "wait", &first), WEIR_OK);
    assert_int_equal(begin(w, "good", &second), WEIR_LIMIT);
    assert_int_not_equal(access(second.path, F_OK), 0);
    wr_what_if_close(w->what_if);
    (void)uv_run(&w->loop, UV_RUN_DEFAULT); /* comes back: the child was ended */
    assert_says(w, "ada", "\"error\":\"the server ended\"");
    assert_int_not_equal(access(first.path, F_OK), 0);
    assert_int_equal(begin(w, "good", &second), WEIR_LIMIT);
}

int main(int count, char **words)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(all_policies_are_played),
        TEST(what_cannot_be_played_is_said),
        TEST(one_job_at_a_time_and_none_outlives_the_server),
    };
    if (count > 1 && !strcmp(words[1], "simulate"))
        return play_simulator(count, words);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
