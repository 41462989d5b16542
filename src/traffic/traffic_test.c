#include "traffic/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "tests/test_dir.h"
#include "traffic/words.h"
#include "weir/weir.h"

#define CAME                                                                                  \
    "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"<note>x</note>\"},"  \
    "{\"role\":\"user\",\"content\":\"Fix the <b>build</b>\"},"                               \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"       \
    "\"function\",\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"make " \
    "test\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"%s\"}]}"

struct fixture {
    struct wr_test_dir dir;
    struct wr_models *models;
    struct wr_ledger *ledger;
    struct wr_traffic *traffic;
    struct wr_buf body;
    struct wr_arena arena;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    assert_int_equal(wr_models_new(&f->models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_open(f->dir.path, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    f->traffic = wr_traffic_new(f->dir.path, f->models);
    assert_non_null(f->traffic);
    wr_buf_init(&f->body, WR_TRAFFIC_ANSWER_BYTES_MAX);
    wr_arena_init(&f->arena, WR_ARENA_BYTES_MAX);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_traffic_free(f->traffic);
    wr_ledger_close(f->ledger);
    wr_models_free(f->models);
    wr_test_dir_remove(&f->dir);
    wr_buf_release(&f->body);
    wr_arena_release(&f->arena);
    free(f);
    return 0;
}

static void add(struct fixture *f, const char *tenant, const char *session, int64_t time_ms,
                uint64_t tokens)
{
    char line[512], came[1024], sent[1024];
    struct wr_ledger_row row = {.time_ms = time_ms,
                                .tenant = wr_span_of(tenant),
                                .session = wr_span_of(session),
                                .agent = WR_LIT("codex"),
                                .model = WR_LIT("gpt-5"),
                                .report = WR_LIT("{\"edits\":[{\"i\":3,\"form\":\"condensed\","
                                                 "\"handle\":\"wr_00112233445566778899\","
                                                 "\"tokens_before\":900,\"tokens_after\":100,"
                                                 "\"reason\":\"condense\"}]}")};
    int bytes = snprintf(line, sizeof(line),
                         "{\"time_ms\":%lld,\"api\":\"chat\",\"path\":\"/v1/chat/completions\","
                         "\"status\":200,\"session\":\"%s\",\"model\":\"gpt-5\","
                         "\"rollout_mode\":\"active\",\"estimated_tokens_before\":%llu,"
                         "\"estimated_tokens_after\":%llu,\"changed\":true,\"policy\":\"auto\","
                         "\"usage_known\":true,\"usage_input_tokens\":1000,"
                         "\"usage_output_tokens\":10}",
                         (long long)time_ms, session, (unsigned long long)tokens,
                         (unsigned long long)tokens / 2);
    row.line = (weir_span){line, (size_t)bytes};
    bytes = snprintf(came, sizeof(came), CAME, "ok 1\\nok 2\\nFAIL 3");
    row.came = (weir_span){came, (size_t)bytes};
    bytes = snprintf(sent, sizeof(sent), CAME, "FAIL 3");
    row.sent = (weir_span){sent, (size_t)bytes};
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
}

static int ask(struct fixture *f, const char *tenant, const char *path, const char *query)
{
    struct wr_traffic_call call = {.tenant = wr_span_of(tenant),
                                   .path = wr_span_of(path),
                                   .query = wr_span_of(query),
                                   .facts = {.mode = "active", .policy = "auto"}};
    struct wr_traffic_answer answer = {.body = &f->body};

    wr_buf_reset(&f->body);
    wr_traffic_ask(f->traffic, &call, &answer);
    assert_int_equal(wr_buf_status(&f->body), WEIR_OK);
    struct wr_json doc;
    if (!strcmp(answer.type, WR_TRAFFIC_JSON)) {
        wr_arena_reset(&f->arena);
        assert_int_equal(wr_json_parse(&doc, &f->arena, wr_buf_view(&f->body), NULL, NULL),
                         WEIR_OK);
    }
    return answer.status;
}

static void assert_has(struct fixture *f, const char *text)
{
    if (!wr_span_has(wr_buf_view(&f->body), wr_span_of(text)))
        fail_msg("no %s in %.*s", text, (int)f->body.len, f->body.bytes);
}

static void assert_lacks(struct fixture *f, const char *text)
{
    assert_false(wr_span_has(wr_buf_view(&f->body), wr_span_of(text)));
}

static void sessions_are_listed_with_their_sums_and_words(void **state)
{
    struct fixture *f = *state;

    add(f, "local", "one", 1000, 2000);
    add(f, "local", "two", 2000, 4000);
    add(f, "local", "two", 3000, 6000);
    assert_int_equal(ask(f, "local", "/sessions", ""), 200);
    assert_has(f, "\"total\":2");
    assert_has(f, "\"words\":\"Fix the <b>build</b>\"");
    assert_has(f, "\"spark_came\":[4000,6000],\"spark_sent\":[2000,3000]");
    size_t two = wr_span_find(wr_buf_view(&f->body), WR_LIT("\"two\""), 0);
    assert_true(two < wr_span_find(wr_buf_view(&f->body), WR_LIT("\"one\""), 0));
    assert_int_equal(ask(f, "local", "/sessions", "q=BUILD&limit=1&offset=1"), 200);
    assert_has(f, "\"total\":2");
    assert_has(f, "\"session\":\"one\"");
    assert_lacks(f, "\"session\":\"two\"");
    assert_int_equal(ask(f, "local", "/sessions", "q=nothing+like+it"), 200);
    assert_has(f, "\"total\":0");
    assert_int_equal(ask(f, "local", "", ""), 200);
    assert_has(f, "\"requests\":3");
    assert_has(f, "\"raw_tokens\":6000");
}

static void what_is_new_and_what_has_left_is_noticed(void **state)
{
    struct fixture *f = *state;
    struct weir_gc_report report;
    struct weir_store *store;

    add(f, "local", "one", 1000, 2000);
    add(f, "local", "two", 1000, 2000);
    assert_int_equal(ask(f, "local", "/sessions", ""), 200);
    assert_has(f, "\"total\":2");
    add(f, "local", "three", 4000, 2000);
    assert_int_equal(ask(f, "local", "/sessions", ""), 200);
    assert_has(f, "\"total\":3");
    assert_int_equal(weir_store_open(f->dir.path, NULL, &store, NULL, NULL), WEIR_OK);
    assert_int_equal(weir_store_purge(store, WR_LIT("local"), WR_LIT("one"), &report, NULL),
                     WEIR_OK);
    weir_store_close(store);
    wr_traffic_free(f->traffic); /* another look at once, instead of two seconds later */
    f->traffic = wr_traffic_new(f->dir.path, f->models);
    assert_int_equal(ask(f, "local", "/sessions", ""), 200);
    assert_has(f, "\"total\":2");
}

static void a_session_has_its_requests(void **state)
{
    struct fixture *f = *state;

    add(f, "local", "one", 1000, 2000);
    assert_int_equal(ask(f, "local", "/session", "session=one"), 200);
    assert_has(f, "\"kinds\":[\"system\",\"tools\"");
    assert_has(f, "\"came\":2000,\"sent\":1000,\"changed\":true");
    assert_has(f, "\"unchanged_micro_usd\"");
    assert_int_equal(ask(f, "local", "/session", "session=none"), 404);
    assert_int_equal(ask(f, "local", "/session", ""), 404);
    assert_int_equal(ask(f, "local", "/rows", ""), 200);
    assert_has(f, "\"session\":\"one\"");
    assert_lacks(f, "\"unchanged_micro_usd\"");
}

/* As the report counts them: a recall of the proxy's own tool is seen in the request that carries
 * what it brought, and counted there. */
static void a_row_has_its_signs(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_row row = {
        .time_ms = 1000,
        .tenant = WR_LIT("local"),
        .session = WR_LIT("one"),
        .agent = WR_LIT("codex"),
        .model = WR_LIT("gpt-5"),
        .line = WR_LIT("{\"time_ms\":1000,\"api\":\"chat\",\"status\":200,\"session\":\"one\","
                       "\"model\":\"gpt-5\",\"rollout_mode\":\"active\",\"policy\":\"auto\","
                       "\"own_recall\":true,\"own_recall_leg\":1,\"own_recalls\":2,"
                       "\"own_recall_misses\":1,\"task_quality_recalls\":1,"
                       "\"task_quality_missing_artifact_requests\":1,"
                       "\"task_quality_failed_edits\":3,\"task_quality_blind_edits\":2}")};

    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
    assert_int_equal(ask(f, "local", "/session", "session=one"), 200);
    assert_has(f, "\"recalls\":1,\"misses\":1,");
    assert_has(f, "\"failed_edits\":3,\"blind_edits\":2");
    assert_int_equal(ask(f, "local", "/sessions", "sort=trouble"), 200);
    assert_has(f, "\"trouble\":3"); /* a miss and two blind edits */
}

static void a_request_is_shown_before_and_after(void **state)
{
    struct fixture *f = *state;

    add(f, "local", "one", 1000, 2000);
    assert_int_equal(ask(f, "local", "/request", "id=1"), 200);
    assert_has(f, "\"kept\":true");
    assert_has(f, "{\"i\":3,\"j\":3,\"change\":\"edited\",\"role\":\"tool\","
                  "\"kind\":\"tool_result\",\"tool\":\"bash\",\"what\":\"make test\"");
    assert_has(f, "\"says\":\"Only the lines that matter are left. 3 lines became 1.\"");
    assert_has(f, "\"handle\":\"wr_00112233445566778899\"");
    assert_int_equal(ask(f, "local", "/text", "id=1&side=came&i=3"), 200);
    assert_true(wr_span_is(wr_buf_view(&f->body), "ok 1\nok 2\nFAIL 3"));
    assert_int_equal(ask(f, "local", "/text", "id=1&side=sent&i=3"), 200);
    assert_true(wr_span_is(wr_buf_view(&f->body), "FAIL 3"));
    assert_int_equal(ask(f, "local", "/text", "id=1&side=sent&i=99"), 404);
    assert_int_equal(ask(f, "local", "/originals", "session=one"), 200);
    assert_has(f, "\"what\":\"make test\",\"tokens\":900");
    assert_int_equal(ask(f, "local", "/original", "handle=wr_00112233445566778899"), 404);
    assert_int_equal(ask(f, "local", "/original", "handle=../../etc/passwd"), 400);
    assert_int_equal(ask(f, "local", "/search", "session=one&pattern=("), 200); /* none is stored */
    assert_int_equal(ask(f, "local", "/search", "session=one"), 400);
    assert_int_equal(ask(f, "local", "/nothing", ""), 404);
}

static void a_tenant_sees_its_own_alone(void **state)
{
    struct fixture *f = *state;

    add(f, "local", "mine", 1000, 2000);
    add(f, "other", "theirs", 2000, 2000);
    assert_int_equal(ask(f, "other", "/sessions", ""), 200);
    assert_has(f, "\"total\":1");
    assert_lacks(f, "mine");
    assert_int_equal(ask(f, "other", "/request", "id=1"), 404);
    assert_int_equal(ask(f, "other", "/text", "id=1&i=3"), 404);
    assert_int_equal(ask(f, "other", "/session", "session=mine"), 404);
    assert_int_equal(ask(f, "other", "/rows", ""), 200);
    assert_lacks(f, "mine");
    assert_int_equal(ask(f, "other", "/originals", "session=mine"), 200);
    assert_lacks(f, "wr_");
}

static void sessions_have_a_user_who_can_be_asked_for(void **state)
{
    struct fixture *f = *state;

    add(f, "ada", "one", 1000, 2000);
    ask(f, "ada", "/sessions", "");
    assert_has(f, "\"user\":\"ada\"");
    ask(f, "ada", "/sessions", "user=ada");
    assert_has(f, "{\"total\":1,");
    ask(f, "ada", "/sessions", "user=bob");
    assert_has(f, "{\"total\":0,");
    ask(f, "ada", "/sessions", "q=ADA");
    assert_has(f, "{\"total\":1,");
}

static void a_session_becomes_a_log(void **state)
{
    struct fixture *f = *state;
    char model[64];

    add(f, "local", "one", 1000, 2000);
    wr_buf_reset(&f->body);
    assert_int_equal(wr_traffic_log(f->traffic, WR_LIT("local"), WR_LIT("one"), &f->body, model,
                                    sizeof(model), NULL),
                     WEIR_OK);
    assert_string_equal(model, "gpt-5");
    assert_has(f, "{\"role\":\"user\",\"content\":\"Fix the <b>build</b>\"}\n");
    assert_has(f, "\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"make "
                  "test\\\"}\"}");
    assert_has(f, "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"ok 1\\nok "
                  "2\\nFAIL 3\"}\n");
    assert_int_equal(wr_traffic_log(f->traffic, WR_LIT("other"), WR_LIT("one"), &f->body, model,
                                    sizeof(model), NULL),
                     WEIR_NOTFOUND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sessions_are_listed_with_their_sums_and_words),
        TEST(what_is_new_and_what_has_left_is_noticed),
        TEST(a_session_has_its_requests),
        TEST(a_row_has_its_signs),
        TEST(a_request_is_shown_before_and_after),
        TEST(a_tenant_sees_its_own_alone),
        TEST(sessions_have_a_user_who_can_be_asked_for),
        TEST(a_session_becomes_a_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
