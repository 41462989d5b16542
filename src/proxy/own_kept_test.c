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

/* The text of the exchange alone is gone, and the next answer recalls too: what is lost is told by
 * the request that came, and not again by the one that goes on from it. */
static void what_is_lost_is_told_once(void **state)
{
    struct test_service *s = test_service_new("");
    (void)state;
    begin(s, NULL);
    s = test_service_again(s, "");
    change_store(s, "DELETE FROM artifact");
    test_upstream_says(s, TEST_WHOLE("200 OK", CALLS));
    test_upstream_says(s, WORDS("Well."));
    struct test_client *c =
        test_client_post(s, CHAT, "x-weir-session: one\r\n", WR_LIT(FRONT SAID "]}"));
    test_until(s, test_is_answered(c) && test_is_told(s, 2));
    const char *lost = strstr(test_log(s), "\"own_recalls_lost\":1");
    assert_non_null(lost);
    if (strstr(lost + 1, "\"own_recalls_lost\""))
        fail_msg("it is told twice: %s", test_log(s));
    test_service_free(s);
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

/* Those with exactly as many bytes as there is room for stay. */
static void a_session_that_just_fits_stays(void **state)
{
    struct wr_own_memos *memos = wr_own_memos_new(10);
    (void)state;

    struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    wr_own_memo_define(memo, some_pin, WR_LIT("{12345678}"));
    (void)wr_own_memo_of(memos, tenant, SESSION("2"));
    memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    assert_int_equal(memo->definition.len, 10);
    wr_own_memos_free(memos);
}

/* ---- what the store has ---- */

/* For one session in a store in memory. */
static struct wr_own_input input_of(struct wr_arena *arena)
{
    struct wr_own_input in = {
        .arena = arena, .tenant = tenant, .session = SESSION("1"), .now_ms = 1};

    wr_arena_init(arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(weir_store_new_memory(0, &in.store), WEIR_OK);
    return in;
}

static void expect_pin(const struct wr_own_input *in, struct weir_pin pin, const char *value)
{
    assert_int_equal(wr_own_read_pin(in, &pin), WEIR_OK);
    if (!wr_span_is(pin.value, value))
        fail_msg("%.*s is not %s", (int)pin.value.len, pin.value.ptr, value);
}

/* By the first turn the one that the conversation began with, without it the newest. */
static void a_definition_is_found_by_its_first_turn_and_without(void **state)
{
    struct wr_arena arena;
    struct wr_own_input in = input_of(&arena);
    struct weir_pin any = wr_own_pin_of(&in, WR_LIT("m")), first = any, second = any;
    (void)state;

    first.first_turn.bytes[0] = 1;
    second.first_turn.bytes[0] = 2;
    assert_int_equal(wr_own_read_pin(&in, &any), WEIR_NOTFOUND);
    any = wr_own_pin_of(&in, WR_LIT("m"));
    assert_true(wr_own_keep_definition(&in, first, WR_LIT("one"), false));
    expect_pin(&in, any, "one");
    assert_true(wr_own_keep_definition(&in, second, WR_LIT("two"), false));
    expect_pin(&in, any, "two");
    expect_pin(&in, first, "one");
    assert_false(wr_own_keep_definition(&in, first, WR_LIT("three"), false));
    assert_false(wr_own_keep_none(&in, first));
    expect_pin(&in, first, "one");
    assert_true(wr_own_keep_definition(&in, first, (weir_span){"", 0}, true));
    expect_pin(&in, first, "");
    weir_store_close(in.store);
    wr_arena_release(&arena);
}

/* Models whose names differ only behind the longest name there is are one. */
static void a_pin_is_named_by_its_model(void **state)
{
    char long_name[WR_MODEL_NAME_BYTES_MAX + 1];
    struct wr_arena arena;
    struct wr_own_input in = input_of(&arena);
    (void)state;

    (void)memset(long_name, 'a', sizeof(long_name));
    weir_span longer = {long_name, sizeof(long_name)}, longest = {long_name, sizeof(long_name) - 1};
    assert_true(wr_span_is(wr_own_pin_of(&in, WR_LIT("m")).model, "weir own recall m"));
    assert_true(wr_span_is(wr_own_pin_of(&in, (weir_span){NULL, 0}).model, "weir own recall "));
    assert_true(wr_span_eq(wr_own_pin_of(&in, longer).model, wr_own_pin_of(&in, longest).model));
    longest.len--;
    assert_false(wr_span_eq(wr_own_pin_of(&in, longer).model, wr_own_pin_of(&in, longest).model));
    weir_store_close(in.store);
    wr_arena_release(&arena);
}

static bool keep_mark(const struct wr_own_input *in, weir_hash key, weir_mark_kind kind,
                      weir_span value)
{
    struct weir_mark mark = {.key = key, .kind = kind, .value = value, .replaces = true};
    struct weir_batch batch = {
        .tenant = in->tenant, .session = in->session, .marks = &mark, .marks_count = 1};

    return !weir_store_commit(in->store, &batch, NULL);
}

/* Of marks at a key only our own, and of those only what names an original. */
static void an_exchange_is_found_by_its_mark_alone(void **state)
{
    weir_hash keys[4] = {{{1}}, {{2}}, {{3}}, {{4}}};
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    const struct wr_own_hit *hits;
    struct wr_arena arena;
    struct wr_own_input in = input_of(&arena);
    weir_handle handle;
    uint32_t count;
    (void)state;

    assert_int_equal(weir_handle_of(WR_LIT("an exchange"), &handle), WEIR_OK);
    weir_handle_format(handle, name);
    for (int kind = 0; kind < WEIR_MARK_KINDS_COUNT; kind++)
        if (kind != WEIR_MARK_OWN)
            assert_true(keep_mark(&in, keys[0], (weir_mark_kind)kind, wr_span_of(name)));
    assert_true(keep_mark(&in, keys[1], WEIR_MARK_OWN, WR_LIT("no name of an original")));
    assert_true(keep_mark(&in, keys[2], WEIR_MARK_OWN, wr_span_of(name)));
    assert_true(wr_own_keep_left(&in, keys[3], handle));
    assert_int_equal(wr_own_read_hits(&in, keys, WR_COUNT_OF(keys), &hits, &count), WEIR_OK);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(hits[i].key, 2 + i);
        assert_int_equal(hits[i].is_left, i == 1);
        assert_memory_equal(&hits[i].handle, &handle, sizeof(handle));
    }
    weir_store_close(in.store);
    wr_arena_release(&arena);
}

/* All that is remembered of a session is put into a store that has none of it. */
static void all_that_is_remembered_is_kept_in_one_commit(void **state)
{
    weir_hash keys[2] = {{{1}}, {{2}}};
    struct wr_own_memos *memos = wr_own_memos_new(1024);
    struct wr_own_memo *memo = wr_own_memo_of(memos, tenant, SESSION("1"));
    const struct wr_own_hit *hits;
    struct wr_arena arena;
    struct wr_own_input in = input_of(&arena);
    struct weir_pin any = wr_own_pin_of(&in, WR_LIT("m")), pin = any;
    uint32_t count;
    (void)state;

    pin.first_turn.bytes[0] = 1;
    wr_own_memo_define(memo, some_pin, WR_LIT("{}"));
    for (uint32_t i = 0; i < WR_COUNT_OF(keys); i++)
        assert_true(wr_own_memo_add(
            memo, &(struct wr_own_found){.answer = i,
                                         .is_left = i == 1,
                                         .key = keys[i],
                                         .exchange = i ? WR_LIT("second") : WR_LIT("first")}));
    assert_true(wr_own_keep_all(&in, pin, memo));
    expect_pin(&in, pin, "{}");
    expect_pin(&in, any, "{}");
    assert_int_equal(wr_own_read_hits(&in, keys, WR_COUNT_OF(keys), &hits, &count), WEIR_OK);
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        struct weir_lookup lookup = {.tenant = tenant, .handle = hits[i].handle};
        struct weir_artifact original;
        assert_int_equal(hits[i].is_left, i == 1);
        assert_int_equal(wr_own_read_original(&in, &lookup, &original), WEIR_OK);
        assert_true(wr_span_is(original.text, i ? "second" : "first"));
    }
    wr_own_memo_define(memo, some_pin, WR_LIT("{2}"));
    assert_false(wr_own_keep_all(&in, pin, memo)); /* it has another definition */
    expect_pin(&in, pin, "{}");
    weir_store_close(in.store);
    wr_arena_release(&arena);
    wr_own_memos_free(memos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_put_back),
        cmocka_unit_test(what_cannot_be_kept_is_lost_and_declared),
        cmocka_unit_test(what_cannot_be_looked_up_goes_as_it_came),
        cmocka_unit_test(what_is_lost_is_told_once),
        cmocka_unit_test(a_store_that_was_lost_gets_the_session_again),
        cmocka_unit_test(what_the_first_did_not_know_is_gone_for_all),
        cmocka_unit_test(the_first_to_go_on_decides),
        cmocka_unit_test(the_tool_that_another_worker_cannot_know_of_is_declared),
        cmocka_unit_test(exchanges_that_one_worker_knows_alone_come_and_go_declared),
        cmocka_unit_test(a_session_is_found_again_by_tenant_and_name),
        cmocka_unit_test(past_its_bytes_the_oldest_sessions_give_way),
        cmocka_unit_test(the_session_at_hand_stays_however_large_it_is),
        cmocka_unit_test(what_was_added_can_be_taken_back),
        cmocka_unit_test(a_session_that_just_fits_stays),
        cmocka_unit_test(a_definition_is_found_by_its_first_turn_and_without),
        cmocka_unit_test(a_pin_is_named_by_its_model),
        cmocka_unit_test(an_exchange_is_found_by_its_mark_alone),
        cmocka_unit_test(all_that_is_remembered_is_kept_in_one_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
