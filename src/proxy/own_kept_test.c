/* What a session keeps of the proxy's own recall while its store fails, or is taken away: the
 * prompt begins as it did before, or the log says that it does not. */
#include "proxy/own_kept.h"
#include "tests/test_service.h"

#define CHAT "/v1/chat/completions"
#define FRONT                                                                                 \
    "{\"model\":\"gpt-4o\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"         \
    "\"read_file\",\"parameters\":{\"type\":\"object\"}}}],\"messages\":[{\"role\":\"user\"," \
    "\"content\":\"Good morning.\"}"
#define SAID                                                               \
    ",{\"role\":\"assistant\",\"content\":\"Found.\"},{\"role\":\"user\"," \
    "\"content\":\"Go on.\"}"
#define MORE                                                              \
    ",{\"role\":\"assistant\",\"content\":\"Well.\"},{\"role\":\"user\"," \
    "\"content\":\"And then?\"}"
#define CALLS                                                                                  \
    "{\"id\":\"a1\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0," \
    "\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"r1\","     \
    "\"type\":\"function\",\"function\":{\"name\":\"weir_recall\",\"arguments\":\"{}\"}}]},"   \
    "\"finish_reason\":\"tool_calls\"}]}"
#define WORDS(words)                                                                          \
    TEST_WHOLE("200 OK",                                                                      \
               "{\"id\":\"a2\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{" \
               "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"" words "\"},"  \
               "\"finish_reason\":\"stop\"}]}")
#define EXCHANGE "\"tool_call_id\":\"r1\""
#define TOOL     "\"weir_recall\""

/* ---- a store that fails ---- */

static void change_store(const struct test_service *s, const char *sql)
{
    char path[2 * WR_TEST_PATH_BYTES];
    sqlite3 *db;

    (void)snprintf(path, sizeof(path), "%s/store.db", s->dir.path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, TEST_PATIENCE_S * 1000);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void remove_store(const struct test_service *s)
{
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm"};

    for (size_t i = 0; i < WR_COUNT_OF(files); i++) {
        char path[2 * WR_TEST_PATH_BYTES];
        (void)snprintf(path, sizeof(path), "%s/%s", s->dir.path, files[i]);
        (void)unlink(path);
    }
}

/* ---- a session ---- */

/* The model recalls and then says "Found."; `sql` is what happens to the store before that. */
static void begin(struct test_service *s, const char *sql)
{
    test_upstream_says(s, TEST_WHOLE("200 OK", CALLS));
    test_upstream_says(s, NULL);
    struct test_client *c =
        test_client_post(s, CHAT, "x-weir-session: one\r\n", WR_LIT(FRONT "]}"));
    test_until(s, s->asked_count == 2);
    if (sql)
        change_store(s, sql);
    test_say(s, WORDS("Found."));
    test_until(s, test_is_answered(c) && test_is_told(s, 2));
    assert_int_equal(test_status(c), 200);
}

/* One request more. What leaves has our tool and the exchange, or not; its line of the log has
 * `line`. */
static void go_on(struct test_service *s, const char *behaviour, const char *body, bool has_tool,
                  bool has_exchange, const char *line)
{
    size_t told = s->service.requests_count + 1;

    test_upstream_says(s, WORDS("Well."));
    struct test_client *c = test_client_post(s, CHAT, "x-weir-session: one\r\n", wr_span_of(body));
    test_until(s, test_is_answered(c) && test_is_told(s, told));
    const char *asked = test_asked(s, s->asked_count - 1).ptr;
    if ((strstr(asked, TOOL) != NULL) != has_tool ||
        (strstr(asked, EXCHANGE) != NULL) != has_exchange)
        fail_msg("%s: %s", behaviour, asked);
    const char *last = test_log(s), *next;
    while ((next = strchr(last, '\n')) && next[1])
        last = next + 1;
    if (!strstr(last, line))
        fail_msg("%s: %s is not in %s", behaviour, line, last);
}

#define AS_BEFORE "\"step\":false,\"step_reason\":null"

static void what_cannot_be_kept_is_lost_and_declared(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    begin(s, "CREATE TRIGGER refuses BEFORE INSERT ON mark BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_non_null(strstr(test_log(s), "\"own_recalls_lost\":1"));
    change_store(s, "DROP TRIGGER refuses");
    go_on(s, "the next says that it lacks the exchange", FRONT SAID "]}", true, false,
          "\"step\":true,\"step_reason\":\"store\"");
    go_on(s, "it is out for good", FRONT SAID MORE "]}", true, false, AS_BEFORE);
    test_service_free(s);
}

static void what_is_kept_is_put_back(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    begin(s, NULL);
    assert_null(strstr(test_log(s), "own_recalls_lost"));
    go_on(s, "it is put back", FRONT SAID "]}", true, true, AS_BEFORE);
    s = test_service_again(s, "");
    go_on(s, "by another process too", FRONT SAID MORE "]}", true, true, AS_BEFORE);
    test_service_free(s);
}

static void what_cannot_be_looked_up_goes_as_it_came(void **state)
{
    static const struct {
        const char *behaviour, *away, *back;
        bool is_another; /* process, which remembers nothing */
    } cases[] = {
        {"marks cannot be read", "ALTER TABLE mark RENAME TO away",
         "ALTER TABLE away RENAME TO mark", false},
        {"pins cannot be read", "ALTER TABLE pin RENAME TO away", "ALTER TABLE away RENAME TO pin",
         true},
        {"the text cannot be read", "ALTER TABLE artifact RENAME TO away",
         "ALTER TABLE away RENAME TO artifact", false},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new("");
        begin(s, NULL);
        if (cases[i].is_another)
            s = test_service_again(s, "");
        change_store(s, cases[i].away);
        go_on(s, cases[i].behaviour, FRONT SAID "]}", false, false,
              "\"not_read\":\"own_recall_not_found\"");
        assert_true(wr_span_is(test_asked(s, s->asked_count - 1), FRONT SAID "]}"));
        change_store(s, cases[i].back);
        go_on(s, cases[i].behaviour, FRONT SAID MORE "]}", true, true,
              "\"step\":true,\"step_reason\":\"back\"");
        go_on(s, cases[i].behaviour, FRONT SAID MORE MORE "]}", true, true, AS_BEFORE);
        test_service_free(s);
    }
}

/* By the process that knows it, for those that do not. */
static void a_store_that_was_lost_gets_the_session_again(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    begin(s, NULL);
    go_on(s, "it is remembered", FRONT SAID "]}", true, true, AS_BEFORE);
    remove_store(s);
    go_on(s, "and put back from memory", FRONT SAID MORE "]}", true, true, AS_BEFORE);
    s = test_service_again(s, "");
    go_on(s, "another finds it in the new store", FRONT SAID MORE MORE "]}", true, true, AS_BEFORE);
    test_service_free(s);
}

/* Who knows nothing of it goes on without, and that holds for those who would know. */
static void the_first_to_go_on_decides(void **state)
{
    struct test_service *first = test_service_new("");
    (void)state;
    begin(first, NULL);
    go_on(first, "it is remembered", FRONT SAID "]}", true, true, AS_BEFORE);
    remove_store(first);
    struct test_service *second = test_service_in(first->dir, "", NULL, NULL);
    second->keeps_dir = true;
    go_on(second, "the other has nothing to put back", FRONT SAID MORE "]}", false, false,
          AS_BEFORE);
    remove_store(first);
    go_on(second, "nor in a store that comes after that", FRONT SAID MORE MORE "]}", false, false,
          AS_BEFORE);
    go_on(first, "nor has this one now", FRONT SAID MORE MORE MORE "]}", false, false, "\"step\":");
    test_service_free(second);
    test_service_free(first);
}

/* One that knows less than another goes on first: the other drops what only it remembers, and the
 * log says so. */
static void what_the_first_did_not_know_is_gone_for_all(void **state)
{
    struct test_service *first = test_service_new("");
    (void)state;
    begin(first, NULL);
    go_on(first, "it is remembered", FRONT SAID "]}", true, true, AS_BEFORE);
    struct test_service *second = test_service_in(first->dir, "", NULL, NULL);
    second->keeps_dir = true;
    go_on(second, "and found by another", FRONT SAID MORE "]}", true, true, AS_BEFORE);
    remove_store(first);
    go_on(second, "who puts it into the next store", FRONT SAID MORE MORE "]}", true, true,
          AS_BEFORE);
    change_store(first, "DELETE FROM mark");
    go_on(first, "which the first goes by", FRONT SAID MORE MORE MORE "]}", true, false,
          "\"own_recalls_lost\":1");
    test_service_free(second);
    test_service_free(first);
}

/* ---- workers of one server ---- */

#define STEP_STORE "\"step\":true,\"step_reason\":\"store\""
#define STEP_BACK  "\"step\":true,\"step_reason\":\"back\""

static void the_tool_that_another_worker_cannot_know_of_is_declared(void **state)
{
    struct test_service *first = test_service_new("");
    (void)state;
    begin(first, NULL);
    go_on(first, "it is remembered", FRONT SAID "]}", true, true, AS_BEFORE);
    remove_store(first);
    struct test_service *second = test_service_beside(first);
    go_on(second, "the other has nothing to put back", FRONT SAID MORE "]}", false, false,
          STEP_STORE);
    go_on(second, "and stays without", FRONT SAID MORE MORE "]}", false, false, AS_BEFORE);
    go_on(first, "as the first does now", FRONT SAID MORE MORE MORE "]}", false, false, AS_BEFORE);
    test_service_free(second);
    test_service_free(first);
}

/* A store that loses marks while it stays the same one: one worker has looked them up before. */
static void exchanges_that_one_worker_knows_alone_come_and_go_declared(void **state)
{
    struct test_service *first = test_service_new("");
    (void)state;
    begin(first, NULL);
    go_on(first, "it is remembered", FRONT SAID "]}", true, true, AS_BEFORE);
    struct test_service *second = test_service_beside(first);
    change_store(first, "DELETE FROM mark");
    go_on(second, "the other cannot find it", FRONT SAID MORE "]}", true, false,
          "\"own_recalls_lost\":1");
    assert_non_null(strstr(test_log(second), STEP_STORE));
    go_on(first, "the first has it still", FRONT SAID MORE MORE "]}", true, true, STEP_BACK);
    go_on(first, "and keeps it", FRONT SAID MORE MORE MORE "]}", true, true, AS_BEFORE);
    go_on(first, "one that is sent again is none", FRONT SAID MORE MORE MORE "]}", true, true,
          AS_BEFORE);
    test_service_free(second);
    test_service_free(first);
}

/* ---- what a thread remembers ---- */

#define SESSION(n) WR_LIT("session " n)

static const weir_span tenant = {"t", 1};
static const wr_hash128 some_pin = {1, 2};

static void a_session_is_found_again_by_tenant_and_name(void **state)
{
    struct wr_own_memos *memos = wr_own_memos_new(1024);
    (void)state;

    assert_non_null(memos);
    struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    wr_own_memo_define(memo, some_pin, WR_LIT("{}"));
    assert_true(wr_own_memo_add(
        memo,
        &(struct wr_own_found){.answer = 3, .is_left = true, .exchange = WR_LIT("exchange")}));
    assert_int_equal(memo->bytes, 10);

    memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_true(wr_span_eq(memo->definition, WR_LIT("{}")));
    assert_int_equal(memo->found_count, 1);
    assert_int_equal(memo->found[0].answer, 3);
    assert_true(memo->found[0].is_left);
    assert_true(wr_span_eq(memo->found[0].exchange, WR_LIT("exchange")));
    memo = wr_own_memo_of(memos, WR_LIT("u"), SESSION("1"));
    assert_int_equal(memo->found_count, 0);
    assert_int_equal(memo->definition.len, 0);
    wr_own_memos_free(memos);
}

static void past_its_bytes_the_oldest_sessions_give_way(void **state)
{
    enum { BYTES_EACH = 100, ROOM_FOR = 10, SESSIONS = 40 };
    struct wr_own_memos *memos = wr_own_memos_new(BYTES_EACH * ROOM_FOR);
    char text[BYTES_EACH] = "", name[32];
    uint32_t kept = 0;
    (void)state;

    for (uint32_t i = 0; i < SESSIONS; i++) {
        (void)snprintf(name, sizeof(name), "session %u", i);
        struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, wr_span_of(name));
        assert_true(wr_own_memo_add(
            memo, &(struct wr_own_found){
                      .answer = 0, .is_left = false, .exchange = (weir_span){text, sizeof(text)}}));
    }
    for (uint32_t i = SESSIONS; i > 0; i--) {
        (void)snprintf(name, sizeof(name), "session %u", i - 1);
        struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, wr_span_of(name));
        if (memo->found_count)
            assert_int_equal(kept++, SESSIONS - i); /* the newest, without a gap */
    }
    assert_in_range(kept, ROOM_FOR - 1, ROOM_FOR + 1);
    wr_own_memos_free(memos);
}

static void the_session_at_hand_stays_however_large_it_is(void **state)
{
    struct wr_own_memos *memos = wr_own_memos_new(4);
    (void)state;

    struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_true(wr_own_memo_add(
        memo, &(struct wr_own_found){
                  .answer = 0, .is_left = false, .exchange = WR_LIT("larger than all the room")}));
    memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_int_equal(memo->found_count, 1);
    (void)wr_own_memo_of(memos, tenant, SESSION("2"));
    memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_int_equal(memo->found_count, 0);
    wr_own_memos_free(memos);
}

static void what_was_added_can_be_taken_back(void **state)
{
    struct wr_own_memos *memos = wr_own_memos_new(1024);
    (void)state;

    struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_true(wr_own_memo_add(
        memo, &(struct wr_own_found){.answer = 0, .is_left = false, .exchange = WR_LIT("first")}));
    assert_true(wr_own_memo_add(
        memo, &(struct wr_own_found){.answer = 1, .is_left = false, .exchange = WR_LIT("second")}));
    wr_own_memo_shorten(memo, 1);
    assert_int_equal(memo->found_count, 1);
    assert_int_equal(memo->bytes, 5);
    wr_own_memo_define(memo, some_pin, WR_LIT("{}"));
    wr_own_memo_define(memo, some_pin, (weir_span){"", 0});
    assert_true(memo->has_none);
    assert_int_equal(memo->bytes, 5);
    wr_own_memo_forget_found(memo);
    assert_int_equal(memo->bytes, 0);
    wr_own_memos_free(memos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_put_back),
        cmocka_unit_test(what_cannot_be_kept_is_lost_and_declared),
        cmocka_unit_test(what_cannot_be_looked_up_goes_as_it_came),
        cmocka_unit_test(a_store_that_was_lost_gets_the_session_again),
        cmocka_unit_test(what_the_first_did_not_know_is_gone_for_all),
        cmocka_unit_test(the_first_to_go_on_decides),
        cmocka_unit_test(the_tool_that_another_worker_cannot_know_of_is_declared),
        cmocka_unit_test(exchanges_that_one_worker_knows_alone_come_and_go_declared),
        cmocka_unit_test(a_session_is_found_again_by_tenant_and_name),
        cmocka_unit_test(past_its_bytes_the_oldest_sessions_give_way),
        cmocka_unit_test(the_session_at_hand_stays_however_large_it_is),
        cmocka_unit_test(what_was_added_can_be_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
