/* Which requests become rows of the ledger, of which session, and with what they said. */
#include "proxy/tell.h"
#include "store/ledger.h"
#include "tests/test_service.h"

#define CHAT "/v1/chat/completions"
#define GOOD TEST_WHOLE("200 OK", "{\"model\":\"gpt-5-2026\",\"choices\":[]}")
#define RUN  "0123456789abcdef"

struct seen {
    size_t count;
    char session[64], model[64], agent[64], line[4096];
};

static weir_status see(void *user, const struct wr_ledger_row *row)
{
    struct seen *seen = user;
    const struct {
        char *text;
        size_t bytes;
        weir_span from;
    } texts[] = {{seen->session, sizeof(seen->session), row->session},
                 {seen->model, sizeof(seen->model), row->model},
                 {seen->agent, sizeof(seen->agent), row->agent},
                 {seen->line, sizeof(seen->line), row->line}};

    seen->count++;
    for (size_t i = 0; i < WR_COUNT_OF(texts); i++)
        (void)snprintf(texts[i].text, texts[i].bytes, "%.*s", (int)texts[i].from.len,
                       texts[i].from.len ? texts[i].from.ptr : "");
    return WEIR_OK;
}

/* The rows that are in the store when the server has ended; the last of them. */
static struct seen rows_of(struct test_service *s)
{
    struct wr_ledger_filter all = {0};
    struct seen seen = {.count = 0};
    struct wr_ledger *ledger;

    wr_ledger_writer_free(s->service.ledger);
    s->service.ledger = NULL;
    assert_int_equal(wr_ledger_open(s->config->store_dir, NULL, &ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_each(ledger, &all, see, &seen, NULL), WEIR_OK);
    wr_ledger_close(ledger);
    return seen;
}

static void a_request_is_a_row_of_its_session(void **state)
{
    static const struct {
        const char *behaviour, *yaml, *method, *path, *headers, *body;
        size_t rows;
        const char *session, *model;
    } rows[] = {
        {"what asks a model", "", "POST", CHAT, "x-weir-session: s\r\nUser-Agent: codex/1\r\n",
         "{\"model\":\"gpt-5\",\"messages\":[]}", 1, "weir:s", "gpt-5"},
        {"unread, as its answer says", "mode: off\n", "POST", CHAT,
         "x-weir-session: s\r\nUser-Agent: codex/1\r\n", "{\"model\":\"gpt-5\",\"messages\":[]}", 1,
         "", "gpt-5-2026"},
        {"unread, in a run", "mode: off\n", "POST", "/r/" RUN CHAT, "User-Agent: codex/1\r\n",
         "{\"model\":\"gpt-5\",\"messages\":[]}", 1, "run:" RUN, "gpt-5-2026"},
        {"what only passes in a run", "", "GET", "/r/" RUN "/v1/models", "User-Agent: codex/1\r\n",
         "", 1, "run:" RUN, ""},
        {"what only passes", "", "GET", "/v1/models", "User-Agent: codex/1\r\n", "", 0, "", ""},
        {"what only counts", "", "POST", "/v1/messages/count_tokens", "User-Agent: codex/1\r\n",
         "{\"model\":\"claude-sonnet-5\",\"messages\":[]}", 0, "", ""},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = test_service_new(rows[i].yaml);
        struct test_call call = {rows[i].behaviour,
                                 rows[i].method,
                                 rows[i].path,
                                 rows[i].headers,
                                 rows[i].body,
                                 200,
                                 NULL,
                                 NULL};
        test_upstream_says(s, GOOD);
        test_calls(s, &call, 1);
        test_until(s, test_is_told(s, 1));
        struct seen seen = rows_of(s);
        if (seen.count != rows[i].rows || strcmp(seen.session, rows[i].session) != 0 ||
            strcmp(seen.model, rows[i].model) != 0)
            fail_msg("%s: %zu '%s' '%s'", rows[i].behaviour, seen.count, seen.session, seen.model);
        if (seen.count) { /* what the log has, without its end of line */
            const char *log = test_log(s);
            assert_string_equal(seen.agent, "codex");
            assert_int_equal(strlen(seen.line) + 1, strlen(log));
            assert_int_equal(strncmp(log, seen.line, strlen(seen.line)), 0);
        }
        test_service_free(s);
    }
}

/* As it came, and as it was sent where that is something else. */
static void what_it_said_is_kept_where_that_is_wanted(void **state)
{
    static const struct {
        const char *yaml;
        size_t results;
        bool is_kept, is_sent_changed;
    } rows[] = {{"", 3, true, true},
                {"", 0, true, false},
                {"keep: originals\n", 3, false, false},
                {"mode: off\n", 3, false, false}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_service *s = test_service_new(rows[i].yaml);
        struct wr_ledger_which which = {.tenant = WR_LIT("local"), .session = WR_LIT("weir:s")};
        struct wr_ledger_row row;
        struct wr_ledger *ledger;
        struct wr_buf body;
        test_chat(&body, "gpt-5", rows[i].results, 100);
        test_upstream_says(s, GOOD);
        struct test_client *c =
            test_client_post(s, CHAT, "x-weir-session: s\r\n", wr_buf_view(&body));
        test_until(s, test_is_told(s, 1) && test_is_answered(c));
        (void)rows_of(s);
        assert_int_equal(wr_ledger_open(s->config->store_dir, NULL, &ledger, NULL, NULL), WEIR_OK);
        weir_status status = wr_ledger_said(ledger, &which, &row, NULL);
        assert_int_equal(!status && row.came.len, rows[i].is_kept);
        if (rows[i].is_kept) {
            assert_true(wr_span_eq(row.came, wr_buf_view(&body)));
            assert_int_equal(row.sent.len > 0, rows[i].is_sent_changed);
            assert_true(!row.sent.len || wr_span_eq(row.sent, test_asked(s, 0)));
        }
        wr_ledger_close(ledger);
        wr_buf_release(&body);
        test_service_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_a_row_of_its_session),
        cmocka_unit_test(what_it_said_is_kept_where_that_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
