#include "api/own.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/lawful.h"
#include "tests/test_join.h"

/* What the model did, and what the client makes of it in its next request. */
struct put_case {
    const char *behaviour;
    weir_dialect dialect;
    const char *legs[TEST_LEGS_MAX + 1]; /* whole answers */
    const char *request;
    const char *view; /* NULL: the answer is not found again */
    uint32_t left_out;
};

#define CHAT(messages) \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"u\"}," messages "]}"
#define NEXT ",{\"role\":\"user\",\"content\":\"v\"}"
#define CHAT_CALL(id, name)                                                   \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name \
    "\",\"arguments\":\"{}\"}}"
#define CHAT_LEG(content, rest, word)                                                           \
    "{\"id\":\"x\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":" content rest \
    "},\"finish_reason\":\"" word "\"}]}"
#define CHAT_OWN(content, id) \
    CHAT_LEG(content, ",\"tool_calls\":[" CHAT_CALL(id, "weir_recall") "]", "tool_calls")
#define CHAT_PUT(content, id, n)                                                  \
    "{\"role\":\"assistant\",\"content\":" content ",\"tool_calls\":[" CHAT_CALL( \
        id, "weir_recall") "]},{\"role\":\"tool\",\"tool_call_id\":\"" id         \
                           "\",\"content\":\"found " n "\"}"
#define CHAT_RESULT(id) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"r\"}"

#define NOW "{\"role\":\"assistant\",\"content\":\"Now\",\"tool_calls\":["

#define BODY(messages)                                                                     \
    "{\"model\":\"c\",\"max_tokens\":9,\"system\":\"s\",\"messages\":[{\"role\":\"user\"," \
    "\"content\":\"u\"}," messages "]}"
#define SAYS(blocks) "{\"role\":\"assistant\",\"content\":[" blocks "]}"
#define USER(blocks) "{\"role\":\"user\",\"content\":[" blocks "]}"
#define BLOCK(text)  "{\"type\":\"text\",\"text\":\"" text "\"}"
#define THINKS(text) \
    "{\"type\":\"thinking\",\"thinking\":\"" text "\",\"signature\":\"sig-" text "\"}"
#define USES(id, name) \
    "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":{}}"
#define OWN(id) USES(id, "weir_recall")
#define GIVES(id, text) \
    "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":\"" text "\"}"
#define LEG(blocks, word) \
    "{\"id\":\"x\",\"type\":\"message\",\"content\":[" blocks "],\"stop_reason\":\"" word "\"}"

#define ITEMS(items)    "{\"model\":\"g\",\"input\":[{\"role\":\"user\",\"content\":\"u\"}," items "]}"
#define RESPONSE(items) "{\"id\":\"x\",\"status\":\"completed\",\"output\":[" items "]}"
#define REASON(id)      "{\"type\":\"reasoning\",\"id\":\"" id "\",\"encrypted_content\":\"e-" id "\"}"
#define MESSAGE(id, text)                                                          \
    "{\"type\":\"message\",\"id\":\"" id "\",\"role\":\"assistant\",\"content\":[" \
    "{\"type\":\"output_text\",\"text\":\"" text "\"}]}"
#define FUNCTION(call, name)                                                \
    "{\"type\":\"function_call\",\"call_id\":\"" call "\",\"name\":\"" name \
    "\",\"arguments\":\"{}\"}"
#define OWN_ITEM(call) FUNCTION(call, "weir_recall")
#define OUTPUT(call, text) \
    "{\"type\":\"function_call_output\",\"call_id\":\"" call "\",\"output\":\"" text "\"}"

static const struct put_case cases[] = {
    {"chat: one answer becomes the legs that it was",
     WEIR_DIALECT_CHAT,
     {CHAT_OWN("\"Let me see. \"", "o1"), CHAT_LEG("\"It is 7.\"", "", "stop")},
     CHAT("{\"role\":\"assistant\",\"content\":\"Let me see. It is 7.\"}" NEXT),
     CHAT(CHAT_PUT("\"Let me see. \"", "o1", "1") ",{\"role\":\"assistant\",\"content\":"
                                                  "\"It is 7.\"}" NEXT),
     0},
    {"chat: in parts, and trimmed",
     WEIR_DIALECT_CHAT,
     {CHAT_OWN("\"\\n Let me see. \"", "o1"), CHAT_LEG("\"It is 7.\\n\"", "", "stop")},
     CHAT("{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
          "\"Let me see. It is 7.\"}]}" NEXT),
     CHAT(CHAT_PUT("\"\\n Let me see. \"", "o1",
                   "1") ",{\"role\":\"assistant\",\"content\":[{\"type\":"
                        "\"text\",\"text\":\"It is 7.\"}]}" NEXT),
     0},
    {"chat: three legs, and an answer that calls",
     WEIR_DIALECT_CHAT,
     {CHAT_OWN("null", "o1"), CHAT_OWN("\"Hm. \"", "o2"),
      CHAT_LEG("\"Now\"", ",\"tool_calls\":[" CHAT_CALL("c1", "f") "]", "tool_calls")},
     CHAT("{\"role\":\"assistant\",\"content\":\"Hm. Now\",\"tool_calls\":[" CHAT_CALL(
         "c1", "f") "]}," CHAT_RESULT("c1")),
     CHAT(CHAT_PUT("null", "o1", "1") "," CHAT_PUT(
         "\"Hm. \"", "o2", "2") ",{\"role\":\"assistant\",\"content\":\"Now\",\"tool_calls\":"
                                "[" CHAT_CALL("c1", "f") "]}," CHAT_RESULT("c1")),
     0},
    {"chat: a client that drops what is said beside calls",
     WEIR_DIALECT_CHAT,
     {CHAT_OWN("\"Hm. \"", "o1"),
      CHAT_LEG("\"Now\"", ",\"tool_calls\":[" CHAT_CALL("c1", "f") "]", "tool_calls")},
     CHAT("{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" CHAT_CALL(
         "c1", "f") "]}," CHAT_RESULT("c1")),
     CHAT(CHAT_PUT("\"Hm. \"", "o1",
                   "1") ",{\"role\":\"assistant\",\"content\":null,"
                        "\"tool_calls\":[" CHAT_CALL("c1", "f") "]}," CHAT_RESULT("c1")),
     0},
    {"chat: all was said in the first leg",
     WEIR_DIALECT_CHAT,
     {CHAT_OWN("\"It is 7.\"", "o1"), CHAT_LEG("\"\"", "", "stop")},
     CHAT("{\"role\":\"assistant\",\"content\":\"It is 7.\"}" NEXT),
     CHAT(CHAT_PUT("\"It is 7.\"", "o1", "1") NEXT),
     0},
    {"chat: reasoning that the client sends back is cut too",
     WEIR_DIALECT_CHAT,
     {CHAT_LEG("\"A \"",
               ",\"reasoning_content\":\"r1 \",\"tool_calls\":[" CHAT_CALL("o1", "weir_recall") "]",
               "tool_calls"),
      CHAT_LEG("\"B\"", ",\"reasoning_content\":\"r2\"", "stop")},
     CHAT("{\"role\":\"assistant\",\"content\":\"A B\",\"reasoning_content\":\"r1 r2\"}" NEXT),
     CHAT("{\"role\":\"assistant\",\"content\":\"A \",\"reasoning_content\":\"r1 \","
          "\"tool_calls\":[" CHAT_CALL("o1",
                                       "weir_recall") "]},{\"role\":\"tool\","
                                                      "\"tool_call_id\":\"o1\",\"content\":\"found "
                                                      "1\"},{\"role\":\"assistant\",\"content\":"
                                                      "\"B\",\"reasoning_content\":\"r2\"}" NEXT),
     0},
    {"chat: beside the client's calls ours goes back to its place, and its result too",
     WEIR_DIALECT_CHAT,
     {CHAT_LEG("\"Now\"",
               ",\"tool_calls\":[" CHAT_CALL("c1", "f") "," CHAT_CALL(
                   "o1", "weir_recall") "," CHAT_CALL("c2", "g") "]",
               "tool_calls")},
     CHAT(NOW CHAT_CALL("c1", "f") "," CHAT_CALL("c2", "g") "]}," CHAT_RESULT("c1") "," CHAT_RESULT(
         "c2")),
     CHAT(NOW CHAT_CALL("c1", "f") "," CHAT_CALL("o1", "weir_recall") "," CHAT_CALL(
         "c2", "g") "]}," CHAT_RESULT("c1") ",{\"role\":\"tool\",\"tool_"
                                            "call_id\":\"o1\","
                                            "\"content\":\"found "
                                            "1\"}," CHAT_RESULT("c2")),
     0},
    {"chat: an answer that the client has split does not fit",
     WEIR_DIALECT_CHAT,
     {CHAT_OWN("\"A \"", "o1"), CHAT_LEG("\"B\"", "", "stop")},
     CHAT("{\"role\":\"assistant\",\"content\":\"A\"},{\"role\":\"assistant\",\"content\":"
          "\"B\"}" NEXT),
     CHAT("{\"role\":\"assistant\",\"content\":\"A\"},{\"role\":\"assistant\",\"content\":"
          "\"B\"}" NEXT),
     1},
    {"chat: an answer that the client has edited is not found again",
     WEIR_DIALECT_CHAT,
     {CHAT_OWN("\"A \"", "o1"), CHAT_LEG("\"B\"", "", "stop")},
     CHAT("{\"role\":\"assistant\",\"content\":\"A C\"}" NEXT),
     NULL,
     0},
    {"messages: one answer becomes the legs that it was",
     WEIR_DIALECT_MESSAGES,
     {LEG(THINKS("a") "," BLOCK("Hm.") "," OWN("o1"), "tool_use"),
      LEG(THINKS("b") "," BLOCK("It is 7."), "end_turn")},
     BODY(SAYS(THINKS("a") "," BLOCK("Hm.") "," THINKS("b") "," BLOCK("It is 7.")) NEXT),
     BODY(SAYS(THINKS("a") "," BLOCK("Hm.") "," OWN("o1")) "," USER(
         GIVES("o1", "found 1")) "," SAYS(THINKS("b") "," BLOCK("It is 7.")) NEXT),
     0},
    {"messages: thinking dropped, texts joined in a string",
     WEIR_DIALECT_MESSAGES,
     {LEG(THINKS("a") "," BLOCK("Hm.") "," OWN("o1"), "tool_use"),
      LEG(THINKS("b") "," BLOCK("It is 7."), "end_turn")},
     BODY("{\"role\":\"assistant\",\"content\":\"Hm.It is 7.\"}" NEXT),
     BODY(SAYS(THINKS("a") "," BLOCK("Hm.") "," OWN("o1")) "," USER(
         GIVES("o1", "found 1")) ",{\"role\":\"assistant\",\"content\":\"It is 7.\"}" NEXT),
     0},
    {"messages: thinking dropped, blocks kept",
     WEIR_DIALECT_MESSAGES,
     {LEG(THINKS("a") "," BLOCK("Hm.") "," OWN("o1"), "tool_use"),
      LEG(THINKS("b") "," BLOCK("Now.") "," USES("c1", "f"), "tool_use")},
     BODY(SAYS(BLOCK("Hm.") "," BLOCK("Now.") "," USES("c1", "f")) "," USER(GIVES("c1", "r"))),
     BODY(SAYS(THINKS("a") "," BLOCK("Hm.") "," OWN("o1")) "," USER(GIVES(
         "o1", "found 1")) "," SAYS(BLOCK("Now.") "," USES("c1", "f")) "," USER(GIVES("c1", "r"))),
     0},
    {"messages: beside the client's calls",
     WEIR_DIALECT_MESSAGES,
     {LEG(THINKS("a") "," BLOCK("Hm.") "," OWN("o1") "," USES("c1", "f") "," OWN("o2"),
          "tool_use")},
     BODY(SAYS(THINKS("a") "," BLOCK("Hm.") "," USES("c1", "f")) "," USER(
         GIVES("c1", "r") "," BLOCK("go"))),
     BODY(SAYS(THINKS("a") "," BLOCK("Hm.") "," OWN("o1") "," USES("c1", "f") "," OWN(
         "o2")) "," USER(GIVES("o1",
                               "found 1") "," GIVES("c1",
                                                    "r") "," GIVES("o2",
                                                                   "found 2") "," BLOCK("g"
                                                                                        "o"))),
     0},
    {"messages: a leg that asked, then one beside calls",
     WEIR_DIALECT_MESSAGES,
     {LEG(THINKS("a") "," OWN("o1"), "tool_use"),
      LEG(THINKS("b") "," USES("c1", "f") "," OWN("o2"), "tool_use")},
     BODY(SAYS(THINKS("a") "," THINKS("b") "," USES("c1", "f")) "," USER(GIVES("c1", "r"))),
     BODY(SAYS(THINKS("a") "," OWN("o1")) "," USER(GIVES("o1", "found 1")) "," SAYS(
         THINKS("b") "," USES("c1", "f") "," OWN(
             "o2")) "," USER(GIVES("c1", "r") "," GIVES("o2", "found 2"))),
     0},
    {"messages: calls without results do not fit",
     WEIR_DIALECT_MESSAGES,
     {LEG(OWN("o1") "," USES("c1", "f"), "tool_use")},
     BODY(SAYS(USES("c1", "f")) NEXT),
     BODY(SAYS(USES("c1", "f")) NEXT),
     1},
    {"responses: one answer becomes the legs that it was",
     WEIR_DIALECT_RESPONSES,
     {RESPONSE(REASON("r1") "," MESSAGE("m1", "Hm.") "," OWN_ITEM("o1")),
      RESPONSE(REASON("r2") "," MESSAGE("m2", "It is 7."))},
     ITEMS(REASON("r1") "," MESSAGE("m1", "Hm.") "," REASON("r2") "," MESSAGE("m2", "It is 7.")
               NEXT),
     ITEMS(REASON("r1") "," MESSAGE("m1", "Hm.") "," OWN_ITEM("o1") "," OUTPUT(
         "o1", "found 1") "," REASON("r2") "," MESSAGE("m2", "It is 7.") NEXT),
     0},
    {"responses: reasoning dropped, texts as one",
     WEIR_DIALECT_RESPONSES,
     {RESPONSE(REASON("r1") "," MESSAGE("m1", "Hm.") "," OWN_ITEM("o1")),
      RESPONSE(REASON("r2") "," MESSAGE("m2", "It is 7."))},
     ITEMS("{\"role\":\"assistant\",\"content\":\"Hm.\\nIt is 7.\"}" NEXT),
     ITEMS(REASON("r1") "," MESSAGE("m1", "Hm.") "," OWN_ITEM("o1") "," OUTPUT(
         "o1", "found 1") ",{\"role\":\"assistant\",\"content\":\"\\nIt is 7.\"}" NEXT),
     0},
    {"responses: beside the client's calls",
     WEIR_DIALECT_RESPONSES,
     {RESPONSE(REASON("r1") "," FUNCTION("c1", "f") "," OWN_ITEM("o1") "," FUNCTION("c2", "g"))},
     ITEMS(REASON("r1") "," FUNCTION("c1", "f") "," FUNCTION("c2", "g") "," OUTPUT(
         "c1", "r") "," OUTPUT("c2", "r")),
     ITEMS(REASON("r1") "," FUNCTION("c1", "f") "," OWN_ITEM("o1") "," FUNCTION(
         "c2", "g") "," OUTPUT("c1", "r") "," OUTPUT("o1", "found 1") "," OUTPUT("c2", "r")),
     0},
    {"responses: beside, and last",
     WEIR_DIALECT_RESPONSES,
     {RESPONSE(FUNCTION("c1", "f") "," OWN_ITEM("o1"))},
     ITEMS(FUNCTION("c1", "f") "," OUTPUT("c1", "r") NEXT),
     ITEMS(FUNCTION("c1", "f") "," OWN_ITEM("o1") "," OUTPUT("c1", "r") "," OUTPUT("o1", "found 1")
               NEXT),
     0},
    {"responses: only a call of the second leg comes back",
     WEIR_DIALECT_RESPONSES,
     {RESPONSE(REASON("r1") "," MESSAGE("m1", "Hm.") "," OWN_ITEM("o1")),
      RESPONSE(FUNCTION("c1", "f"))},
     ITEMS(FUNCTION("c1", "f") "," OUTPUT("c1", "r")),
     ITEMS(REASON("r1") "," MESSAGE("m1", "Hm.") "," OWN_ITEM("o1") "," OUTPUT(
         "o1", "found 1") "," FUNCTION("c1", "f") "," OUTPUT("c1", "r")),
     0},
};

struct body {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript t;
    struct wr_breaches breaches;
};

static void open_body(struct body *b, const char *behaviour, weir_dialect dialect, weir_span text)
{
    struct wr_api_options options = {.dialect = wr_api_of(dialect)->name};
    struct weir_err err = {0};

    wr_arena_init(&b->arena, WR_ARENA_BYTES_MAX);
    if (wr_json_parse(&b->doc, &b->arena, text, NULL, &err) ||
        wr_api_read(&b->t, &b->arena, &b->doc, &options, &err) ||
        wr_lawful_check(&b->t, &b->arena, &b->breaches))
        fail_msg("%s: %s at byte %zu of %.*s", behaviour, err.text, err.at_byte, (int)text.len,
                 text.ptr);
}

static const struct wr_own_answer *find_answer(struct body *b, wr_hash128 seen)
{
    const struct wr_own_answer *answers;
    uint32_t count;

    assert_int_equal(wr_own_answers(&b->t, &b->arena, &answers, &count), WEIR_OK);
    for (uint32_t i = 0; i < count; i++)
        if (answers[i].seen.low == seen.low && answers[i].seen.high == seen.high)
            return &answers[i];
    return NULL;
}

static void check_view(const struct put_case *c, struct body *b, const struct test_joined *joined)
{
    const struct wr_own_answer *answer = find_answer(b, joined->seen);
    struct wr_own_put put = {answer, wr_buf_view(&joined->exchange)};
    struct wr_own_view view = {.puts = &put, .puts_count = 1};
    struct body again;
    struct wr_buf out;
    uint32_t left_out;

    if (!answer != !c->view)
        fail_msg("%s: the answer is %s", c->behaviour, answer ? "found" : "not found");
    if (!answer)
        return;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    assert_int_equal(wr_own_view_write(&b->t, &b->arena, &view, &out, &left_out), WEIR_OK);
    if (!wr_span_is(wr_buf_view(&out), c->view) || left_out != c->left_out)
        fail_msg("%s (%u left out):\n--- expected\n%s\n--- got\n%.*s", c->behaviour, left_out,
                 c->view, (int)out.len, out.bytes);
    open_body(&again, c->behaviour, c->dialect, wr_buf_view(&out));
    const struct wr_breach *breach = wr_lawful_new_breach(&b->breaches, &again.breaches);
    if (breach)
        fail_msg("%s: %s", c->behaviour, wr_rule_text(breach->rule));
    /* What went to the provider is in it byte for byte. */
    weir_span rest = wr_buf_view(&joined->elements), line;
    while (!left_out && wr_span_line(&rest, &line))
        assert_true(wr_span_has(wr_buf_view(&out), line));
    wr_arena_release(&again.arena);
    wr_buf_release(&out);
}

static void exchanges_go_back_into_the_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_joined joined;
        struct body body;
        test_join_run(&joined, wr_api_of(cases[i].dialect), false, cases[i].legs, SIZE_MAX);
        if (!joined.has_exchange)
            fail_msg("%s: there is no exchange", cases[i].behaviour);
        open_body(&body, cases[i].behaviour, cases[i].dialect, wr_span_of(cases[i].request));
        check_view(&cases[i], &body, &joined);
        wr_arena_release(&body.arena);
        test_join_release(&joined);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges_go_back_into_the_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
