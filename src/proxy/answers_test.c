#include "proxy/answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/span.h"

static void keep(struct wr_answers *answers, const char *id, const char *conversation,
                 weir_span arguments)
{
    struct wr_reply calls;
    wr_answer_init(&calls, &(struct wr_answer_options){.api = NULL});
    wr_buf_text(&calls.id, id);
    wr_buf_text(&calls.conversation_id, conversation);
    wr_answer_add_call(&calls, WR_LIT("call_1"), WR_LIT("read_file"), arguments);
    wr_answer_add_call(&calls, WR_LIT("call_2"), WR_LIT("ls"), WR_LIT(""));
    wr_answers_keep(answers, WR_LIT("a"), WR_LIT("weir:s"), &calls);
    wr_answer_release(&calls);
}

static bool finds(struct wr_answers *answers, const char *tenant, const char *id,
                  const char *arguments)
{
    struct wr_arena arena;
    struct wr_known_answer known;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    bool is_found = wr_answers_find(answers, &arena, wr_span_of(tenant), wr_span_of(id), &known);
    if (is_found) {
        assert_int_equal(known.calls_count, 2);
        assert_true(wr_span_is(known.session, "weir:s"));
        assert_true(wr_span_is(known.calls[0].id, "call_1"));
        assert_true(wr_span_is(known.calls[0].name, "read_file"));
        assert_true(wr_span_is(known.calls[0].arguments, arguments));
        assert_true(wr_span_is(known.calls[1].name, "ls"));
        assert_int_equal(known.calls[1].arguments.len, 0);
    }
    wr_arena_release(&arena);
    return is_found;
}

static void calls_are_found_by_their_answer(void **state)
{
    struct wr_answers *answers = wr_answers_new();
    (void)state;
    assert_non_null(answers);
    assert_false(finds(answers, "a", "resp_1", ""));
    keep(answers, "resp_1", "", WR_LIT("{\"path\":\"x\"}"));
    assert_true(finds(answers, "a", "resp_1", "{\"path\":\"x\"}"));
    assert_false(finds(answers, "b", "resp_1", "")); /* another tenant */
    assert_false(finds(answers, "a", "resp_2", ""));
    assert_false(finds(answers, "a", "", ""));
    keep(answers, "", "", WR_LIT("{}")); /* it cannot be asked for */
    assert_false(finds(answers, "a", "", ""));
    assert_false(finds(NULL, "a", "resp_1", ""));
}

static void a_conversation_has_its_newest_answer(void **state)
{
    struct wr_answers *answers = wr_answers_new();
    (void)state;
    keep(answers, "resp_1", "conv", WR_LIT("1"));
    keep(answers, "resp_2", "conv", WR_LIT("2"));
    assert_true(finds(answers, "a", "conv", "2"));
    assert_true(finds(answers, "a", "resp_1", "1"));
}

static void the_oldest_give_way(void **state)
{
    struct wr_answers *answers = wr_answers_new();
    char id[32];
    (void)state;
    for (int i = 0; i < WR_PROXY_ANSWERS_MAX + 10; i++) {
        (void)snprintf(id, sizeof(id), "resp_%d", i);
        keep(answers, id, "", wr_span_of(id));
    }
    assert_false(finds(answers, "a", "resp_9", ""));
    assert_true(finds(answers, "a", "resp_10", "resp_10"));
    assert_true(finds(answers, "a", id, id));
}

/* Long ones fill the bytes before they fill the places, and go round the ring's end. */
static void bytes_have_a_cap_too(void **state)
{
    struct wr_answers *answers = wr_answers_new();
    enum { LONG = WR_PROXY_CALL_BYTES_MAX - 77, COUNT = WR_PROXY_ANSWERS_BYTES_MAX / LONG + 50 };
    char *text = malloc(LONG + 1), id[32];
    int found = 0;
    (void)state;
    assert_non_null(text);
    for (int i = 0; i < COUNT; i++) {
        memset(text, 'a' + i % 26, LONG);
        text[LONG] = '\0';
        (void)snprintf(id, sizeof(id), "resp_%d", i);
        keep(answers, id, "", (weir_span){text, LONG});
        assert_true(finds(answers, "a", id, text));
    }
    for (int i = 0; i < COUNT; i++) {
        memset(text, 'a' + i % 26, LONG);
        (void)snprintf(id, sizeof(id), "resp_%d", i);
        found += finds(answers, "a", id, text); /* none is found that was written over */
    }
    assert_true(found > COUNT / 2 && found < COUNT);
    free(text);
}

static void another_process_finds_them(void **state)
{
    struct wr_answers *answers = wr_answers_new();
    int status;
    (void)state;
    pid_t pid = fork();
    if (!pid) {
        keep(answers, "resp_1", "", WR_LIT("{}"));
        (void)raise(SIGKILL); /* what it kept stays */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(finds(answers, "a", "resp_1", "{}"));
}

/* What an answer left in the cache goes with its id, the newest of that id. */
static void a_chain_is_found_by_its_answer(void **state)
{
    struct wr_answers *answers = wr_answers_new();
    struct wr_bust_chain chain = {.cached_tokens = 7}, found = {.cached_tokens = 0};
    char id[32];
    (void)state;
    assert_false(wr_answers_find_chain(answers, WR_LIT("a"), WR_LIT("resp_1"), &found));
    wr_answers_keep_chain(answers, WR_LIT("a"), WR_LIT("resp_1"), &chain);
    wr_answers_keep_chain(answers, WR_LIT("a"), WR_LIT(""), &chain);
    wr_answers_keep_chain(NULL, WR_LIT("a"), WR_LIT("resp_1"), &chain);
    assert_true(wr_answers_find_chain(answers, WR_LIT("a"), WR_LIT("resp_1"), &found));
    assert_int_equal(found.cached_tokens, 7);
    assert_false(wr_answers_find_chain(answers, WR_LIT("b"), WR_LIT("resp_1"), &found));
    assert_false(wr_answers_find_chain(answers, WR_LIT("a"), WR_LIT(""), &found));
    assert_false(wr_answers_find_chain(NULL, WR_LIT("a"), WR_LIT("resp_1"), &found));
    chain.cached_tokens = 8;
    wr_answers_keep_chain(answers, WR_LIT("a"), WR_LIT("resp_1"), &chain);
    assert_true(wr_answers_find_chain(answers, WR_LIT("a"), WR_LIT("resp_1"), &found));
    assert_int_equal(found.cached_tokens, 8);
    for (int i = 0; i < WR_PROXY_ANSWERS_MAX - 1; i++) { /* the oldest give way */
        (void)snprintf(id, sizeof(id), "other_%d", i);
        assert_true(wr_answers_find_chain(answers, WR_LIT("a"), WR_LIT("resp_1"), &found));
        wr_answers_keep_chain(answers, WR_LIT("a"), wr_span_of(id), &chain);
    }
    wr_answers_keep_chain(answers, WR_LIT("a"), WR_LIT("last"), &chain);
    assert_false(wr_answers_find_chain(answers, WR_LIT("a"), WR_LIT("resp_1"), &found));
    assert_true(wr_answers_find_chain(answers, WR_LIT("a"), WR_LIT("last"), &found));
}

static void a_damaged_answer_is_none(void **state)
{
    struct wr_known_answer known;
    struct wr_arena arena;
    struct wr_reply calls;
    struct wr_buf bytes;
    (void)state;
    wr_answer_init(&calls, &(struct wr_answer_options){.api = NULL});
    wr_answer_add_call(&calls, WR_LIT("call_1"), WR_LIT("read_file"), WR_LIT("{}"));
    wr_buf_init(&bytes, 1024);
    wr_answer_encode(WR_LIT("s"), &calls, true, &bytes);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    for (size_t len = 0; len < bytes.len; len++)
        assert_false(wr_answer_decode(&arena, wr_span_cut(wr_buf_view(&bytes), 0, len), &known));
    assert_true(wr_answer_decode(&arena, wr_buf_view(&bytes), &known));
    assert_true(wr_span_is(known.calls[0].arguments, "{}"));
    wr_buf_reset(&bytes);
    wr_answer_encode(WR_LIT("s"), &calls, false, &bytes);
    assert_true(wr_answer_decode(&arena, wr_buf_view(&bytes), &known));
    assert_int_equal(known.calls[0].arguments.len, 0);
    assert_true(wr_span_is(known.calls[0].name, "read_file"));
    wr_arena_release(&arena);
    wr_buf_release(&bytes);
    wr_answer_release(&calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_chain_is_found_by_its_answer),
                                       cmocka_unit_test(a_damaged_answer_is_none),
                                       cmocka_unit_test(calls_are_found_by_their_answer),
                                       cmocka_unit_test(a_conversation_has_its_newest_answer),
                                       cmocka_unit_test(the_oldest_give_way),
                                       cmocka_unit_test(bytes_have_a_cap_too),
                                       cmocka_unit_test(another_process_finds_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
