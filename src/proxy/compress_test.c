#include "proxy/compress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

static struct weir_engine *engine;
static struct weir_store *store;

static int open_world(void **state)
{
    (void)state;
    return weir_engine_new(&engine, NULL) || weir_store_new_memory(0, &store);
}

static int close_world(void **state)
{
    (void)state;
    weir_store_close(store);
    weir_engine_free(engine);
    return 0;
}

static struct wr_compress made(const char *tenant)
{
    return (struct wr_compress){.engine = engine,
                                .store = store,
                                .policy = "auto",
                                .tenant = wr_span_of(tenant),
                                .session = {"", 0},
                                .now_ms = 1};
}

static const struct {
    const char *behaviour, *body;
    int status;
    const char *answer; /* what it begins with */
} rows[] = {
    {"no messages", "{\"messages\":[]}", 200, "{\"messages\":[],\"tokens_before\":"},
    {"a message stays the bytes that came",
     "{\"messages\":[ { \"role\":\"user\" ,\"content\":\"caf\\u00e9\"}]}", 200,
     "{\"messages\":[ { \"role\":\"user\" ,\"content\":\"caf\\u00e9\"}],"},
    {"what is no message", "{\"messages\":[7,null]}", 200, "{\"messages\":[7,null],"},
    {"roles that nobody has", "{\"model\":5,\"messages\":[{\"role\":{}}]}", 200,
     "{\"messages\":[{\"role\":{}}],"},
    {"a member that is not known", "{\"messages\":[],\"x\":1,\"config\":{\"y\":2}}", 200, "{"},
    {"a config that is none", "{\"messages\":[],\"config\":7}", 200, "{\"messages\":[]"},
    {"no JSON", "{\"messages\":", 400, "{\"error\":{\"type\":\"invalid_request\""},
    {"no object", "[]", 400, "{\"error\":"},
    {"no list", "{\"messages\":{}}", 400, "{\"error\":"},
    {"nothing", "", 400, "{\"error\":"},
    {"a mode that is not there", "{\"messages\":[],\"config\":{\"mode\":\"x\"}}", 400,
     "{\"error\":"},
    {"a mode of null", "{\"messages\":[],\"config\":{\"mode\":null}}", 200, "{\"messages\":"},
    {"a count below zero", "{\"messages\":[],\"config\":{\"frozen_message_count\":-1}}", 400,
     "{\"error\":"},
    {"a count that is none", "{\"messages\":[],\"config\":{\"frozen_message_count\":true}}", 400,
     "{\"error\":"},
};

static void each_row_holds(void **state)
{
    struct wr_compress compress = made("local");
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_arena arena;
        struct wr_json doc;
        struct wr_buf answer;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&answer, WR_CALL_PAGE_ANSWER_BYTES_MAX);
        int status = wr_compress_answer(&compress, wr_span_of(rows[i].body), &answer);
        if (status != rows[i].status ||
            !wr_span_starts(wr_buf_view(&answer), wr_span_of(rows[i].answer)) ||
            wr_json_parse(&doc, &arena, wr_buf_view(&answer), NULL, NULL))
            fail_msg("%s: %d %.*s", rows[i].behaviour, status, (int)answer.len, answer.bytes);
        wr_arena_release(&arena);
        wr_buf_release(&answer);
    }
}

/* A long log as a tool's result, and what became of it. */
static void compress_log(const struct wr_compress *compress, struct wr_buf *answer)
{
    struct wr_buf body;

    wr_buf_init(&body, WR_CALL_PAGE_BODY_BYTES_MAX);
    wr_buf_text(&body,
                "{\"model\":\"gpt-4o\",\"config\":{\"mode\":\"ccr\"},\"messages\":[{\"role\":"
                "\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":null,"
                "\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":"
                "\"bash\",\"arguments\":\"{\\\"command\\\":\\\"cat log\\\"}\"}}]},{\"role\":"
                "\"tool\",\"tool_call_id\":\"c\",\"content\":\"");
    for (int i = 0; i < 900; i++)
        wr_buf_printf(&body, "%05d src/mod_%d.py: item %d is fine\\n", i, i % 7, i * 7919 % 1000);
    wr_buf_text(&body, "\"}]}");
    wr_buf_init(answer, WR_CALL_PAGE_ANSWER_BYTES_MAX);
    assert_int_equal(wr_compress_answer(compress, wr_buf_view(&body), answer), 200);
    wr_buf_release(&body);
}

static void an_original_comes_back_to_its_tenant(void **state)
{
    struct wr_compress compress = made("a"), other = made("b");
    struct wr_buf answer, original;
    (void)state;
    compress_log(&compress, &answer);
    size_t at = wr_span_find(wr_buf_view(&answer), WR_LIT("\"ccr_hashes\":[\""), 0);
    assert_int_not_equal(at, SIZE_MAX);
    weir_span hash = wr_span_cut(wr_buf_view(&answer), at + 15, at + 35);
    wr_buf_init(&original, WR_CALL_PAGE_ANSWER_BYTES_MAX);
    assert_int_equal(wr_retrieve_answer(&compress, hash, &original), 200);
    assert_int_not_equal(
        wr_span_find(wr_buf_view(&original), WR_LIT("00450 src/mod_2.py: item"), 0), SIZE_MAX);
    assert_int_equal(wr_retrieve_answer(&other, hash, &original), 404);
    assert_int_equal(wr_retrieve_answer(&compress, wr_span_cut(hash, 0, 19), &original), 404);
    assert_int_equal(wr_retrieve_answer(&compress, WR_LIT("ABCDEFABCDEFABCDEFAB"), &original), 404);
    wr_buf_release(&original);
    wr_buf_release(&answer);
}

static void without_a_store_nothing_leaves(void **state)
{
    struct wr_compress compress = made("local");
    struct wr_buf answer;
    (void)state;
    compress.store = NULL;
    compress_log(&compress, &answer);
    assert_int_not_equal(wr_span_find(wr_buf_view(&answer), WR_LIT("00450 src/"), 0), SIZE_MAX);
    assert_int_not_equal(wr_span_find(wr_buf_view(&answer), WR_LIT("\"ccr_hashes\":[]"), 0),
                         SIZE_MAX);
    assert_int_equal(wr_retrieve_answer(&compress, WR_LIT("0123456789abcdef0123"), &answer), 404);
    wr_buf_release(&answer);
}

/* A long log, in quotes. */
static void put_log(struct wr_buf *body)
{
    wr_buf_byte(body, '"');
    for (int i = 0; i < 900; i++)
        wr_buf_printf(body, "%05d src/mod_%d.py: item %d is fine\\n", i, i % 7, i * 7919 % 1000);
    wr_buf_byte(body, '"');
}

/* What is asked, "LOG" in it the log; whether the answer has all of it. */
static bool keeps_log(const struct wr_compress *compress, const char *words, struct wr_buf *answer)
{
    const char *log = strstr(words, "LOG");
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_buf body;

    wr_buf_init(&body, WR_CALL_PAGE_BODY_BYTES_MAX);
    wr_buf_append(&body, (weir_span){words, (size_t)(log - words)});
    put_log(&body);
    wr_buf_text(&body, log + 3);
    wr_buf_init(answer, WR_CALL_PAGE_ANSWER_BYTES_MAX);
    assert_int_equal(wr_compress_answer(compress, wr_buf_view(&body), answer), 200);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(answer), NULL, NULL), WEIR_OK);
    wr_arena_release(&arena);
    wr_buf_release(&body);
    return wr_span_find(wr_buf_view(answer), WR_LIT("00450 src/"), 0) != SIZE_MAX;
}

static void what_may_be_compressed_is(void **state)
{
#define CCR "\"config\":{\"mode\":\"ccr\"}"
#define CALLS                                                                              \
    "\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"bash\"," \
    "\"arguments\":\"{\\\"command\\\":\\\"cat log\\\"}\"}}]"
#define GO "{\"role\":\"user\",\"content\":\"go\"}"
    static const struct {
        const char *behaviour, *body;
        bool stays;
        const char *holds; /* NULL: nothing is asked of the rest */
    } asked[] = {
        {"a result of a call",
         "{\"model\":\"gpt-4o\"," CCR ",\"messages\":[" GO
         ",{\"role\":\"assistant\",\"content\":null," CALLS
         "},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":LOG}]}",
         false, "headroom_retrieve {\\\"hash\\\":\\\""},
        {"a result without its call",
         "{\"model\":\"gpt-4o\"," CCR ",\"messages\":[{\"role\":\"tool\",\"tool_call_id\":"
         "\"c\",\"content\":LOG}," GO "]}",
         false, "{\"role\":\"user\",\"content\":\"go\"}],"},
        {"words of the user",
         "{\"model\":\"gpt-4o\"," CCR ",\"messages\":[{\"role\":\"user\",\"content\":LOG}]}", true,
         "\"ccr_hashes\":[]"},
        {"a result that is frozen",
         "{\"model\":\"gpt-4o\",\"config\":{\"mode\":\"ccr\",\"frozen_message_count\":3},"
         "\"messages\":[" GO ",{\"role\":\"assistant\",\"content\":null," CALLS
         "},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":LOG}]}",
         true, NULL},
        {"one that is not yet",
         "{\"model\":\"gpt-4o\",\"config\":{\"mode\":\"ccr\",\"frozen_message_count\":2},"
         "\"messages\":[" GO ",{\"role\":\"assistant\",\"content\":null," CALLS
         "},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":LOG}]}",
         false, NULL},
        {"an orphan that is frozen",
         "{\"model\":\"gpt-4o\",\"config\":{\"mode\":\"ccr\",\"frozen_message_count\":1},"
         "\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":LOG}]}",
         true, NULL},
        {"the model lacks the tool",
         "{\"messages\":[" GO ",{\"role\":\"assistant\",\"content\":null," CALLS
         "},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":LOG}]}",
         true, "\"ccr_hashes\":[]"},
        {"blocks of Anthropic's",
         "{\"model\":\"gpt-4o\"," CCR ",\"messages\":[" GO ",{\"role\":\"assistant\",\"content\":"
         "[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"bash\",\"input\":{\"command\":\"cat "
         "log\"}}]},{\"role\":"
         "\"user\","
         "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":LOG}]}]}",
         false, "headroom_retrieve"},
        {"a result beside a message that has no role",
         "{\"model\":\"gpt-4o\"," CCR ",\"messages\":[" GO ",{\"content\":\"x\"},{\"role\":"
         "\"assistant\",\"content\":null," CALLS
         "},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":LOG}]}",
         true, "\"ccr_hashes\":[]"},
        {"with a session",
         "{\"model\":\"gpt-4o\",\"config\":{\"mode\":\"ccr\",\"session_id\":\"s\"},\"messages\":"
         "[" GO ",{\"role\":\"assistant\",\"content\":null," CALLS
         "},{\"role\":\"tool\",\"tool_call_id\":"
         "\"c\",\"content\":LOG}]}",
         false, "headroom_retrieve"},
    };
    struct wr_compress compress = made("rows");
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(asked); i++) {
        struct wr_buf answer;
        bool stays = keeps_log(&compress, asked[i].body, &answer);
        wr_buf_byte(&answer, '\0');
        bool is_saved = strstr(answer.bytes, "\"tokens_saved\":0,") == NULL;
        if (stays != asked[i].stays || is_saved == asked[i].stays ||
            (asked[i].holds && !strstr(answer.bytes, asked[i].holds)))
            fail_msg("%s: %.1500s", asked[i].behaviour, answer.bytes);
        wr_buf_release(&answer);
    }
#undef CCR
#undef CALLS
#undef GO
}

static void what_is_passed_by_stays(void **state)
{
    struct wr_compress compress = made("local");
    struct wr_buf answer;
    (void)state;
    compress.is_bypassed = true;
    compress_log(&compress, &answer);
    assert_int_not_equal(wr_span_find(wr_buf_view(&answer), WR_LIT("00450 src/"), 0), SIZE_MAX);
    wr_buf_release(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_be_compressed_is), cmocka_unit_test(what_is_passed_by_stays),
        cmocka_unit_test(each_row_holds), cmocka_unit_test(an_original_comes_back_to_its_tenant),
        cmocka_unit_test(without_a_store_nothing_leaves)};
    return cmocka_run_group_tests(tests, open_world, close_world);
}
