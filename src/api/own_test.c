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

#define DETAIL(n) "{\"type\":\"reasoning.text\",\"signature\":\"s" n "\"}"

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

#define USER_U "{\"role\":\"user\",\"content\":\"u\"}"

#define ITEMS(items) "{\"model\":\"g\",\"input\":[" USER_U "," items "]}"

#define RESPONSE(items) "{\"id\":\"x\",\"status\":\"completed\",\"output\":[" items "]}"

#define REASON(id) "{\"type\":\"reasoning\",\"id\":\"" id "\",\"encrypted_content\":\"e-" id "\"}"

#define MESSAGE(id, text)                                                          \
    "{\"type\":\"message\",\"id\":\"" id "\",\"role\":\"assistant\",\"content\":[" \
    "{\"type\":\"output_text\",\"text\":\"" text "\"}]}"
#define FUNCTION(call, name)                                                \
    "{\"type\":\"function_call\",\"call_id\":\"" call "\",\"name\":\"" name \
    "\",\"arguments\":\"{}\"}"
#define OWN_ITEM(call) FUNCTION(call, "weir_recall")
#define OUTPUT(call, text) \
    "{\"type\":\"function_call_output\",\"call_id\":\"" call "\",\"output\":\"" text "\"}"

#define G_USER                    "{\"role\":\"user\",\"parts\":[{\"text\":\"u\"}]}"
#define CONTENTS(list)            "{\"contents\":[" G_USER "," list "]}"
#define MODEL(parts)              "{\"role\":\"model\",\"parts\":[" parts "]}"
#define GIVEN(parts)              "{\"role\":\"user\",\"parts\":[" parts "]}"
#define G_TEXT(text)              "{\"text\":\"" text "\"}"
#define G_NEXT                    "," GIVEN(G_TEXT("v"))
#define THOUGHT(text)             "{\"text\":\"" text "\",\"thought\":true}"
#define G_SIGNED(text, signature) "{\"text\":\"" text "\",\"thoughtSignature\":\"" signature "\"}"
#define G_CALL(name, n)                                                             \
    "{\"functionCall\":{\"name\":\"" name "\",\"args\":{\"a\":" n ",\"b\":\"x\"}}," \
    "\"thoughtSignature\":\"s" n "\"}"
#define G_OWN(n) G_CALL("weir_recall", n)
#define G_RESULT(name, key, text) \
    "{\"functionResponse\":{\"name\":\"" name "\",\"response\":{\"" key "\":\"" text "\"}}}"
#define G_GIVES(text) G_RESULT("f", "output", text)
#define G_FOUR        G_CALL("f", "2") "," G_OWN("3") "," G_CALL("f", "4")
#define G_FOUND(n)    G_RESULT("weir_recall", "output", "found " n)
#define G_LEG(parts)  "{\"candidates\":[{\"content\":" MODEL(parts) ",\"finishReason\":\"STOP\"}]}"

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
    {"chat: signed thoughts in a list are cut too",
     WEIR_DIALECT_CHAT,
     {CHAT_LEG("\"A \"",
               ",\"reasoning_details\":[" DETAIL("1") "],\"tool_calls\":[" CHAT_CALL(
                   "o1", "weir_recall") "]",
               "tool_calls"),
      CHAT_LEG("\"B\"", ",\"reasoning_details\":[" DETAIL("2") "]", "stop")},
     CHAT("{\"role\":\"assistant\",\"content\":\"A B\",\"reasoning_details\":[" DETAIL(
         "1") "," DETAIL("2") "]}" NEXT),
     CHAT("{\"role\":\"assistant\",\"content\":\"A \",\"reasoning_details\":[" DETAIL(
         "1") "],\"tool_calls\":[" CHAT_CALL("o1",
                                             "weir_recall") "]},{\"role\":\"tool\","
                                                            "\"tool_call_id\":\"o1\",\"content\":"
                                                            "\"found "
                                                            "1\"},{\"role\":\"assistant\","
                                                            "\"content\":"
                                                            "\"B\",\"reasoning_details\":[" DETAIL(
                                                                "2") "]}" NEXT),
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
    {"messages: all was said in the first leg",
     WEIR_DIALECT_MESSAGES,
     {LEG(THINKS("a") "," BLOCK("It is 7.") "," OWN("o1"), "tool_use"), LEG("", "end_turn")},
     BODY(SAYS(THINKS("a") "," BLOCK("It is 7.")) NEXT),
     BODY(SAYS(THINKS("a") "," BLOCK("It is 7.") "," OWN("o1")) "," USER(GIVES("o1", "found 1"))
              NEXT),
     0},
    {"messages: calls without results do not fit",
     WEIR_DIALECT_MESSAGES,
     {LEG(OWN("o1") "," USES("c1", "f"), "tool_use")},
     BODY(SAYS(USES("c1", "f")) NEXT),
     BODY(SAYS(USES("c1", "f")) NEXT),
     1},
    {"gemini: one answer becomes the legs that it was",
     WEIR_DIALECT_GEMINI,
     {G_LEG(THOUGHT("a") "," G_TEXT("Hm. ") "," G_OWN("1")),
      G_LEG(THOUGHT("b") "," G_SIGNED("It is 7.", "s9"))},
     CONTENTS(MODEL(THOUGHT("a") "," G_TEXT("Hm. ") "," THOUGHT("b") "," G_SIGNED("It is 7.", "s9"))
                  G_NEXT),
     CONTENTS(MODEL(THOUGHT("a") "," G_TEXT("Hm. ") "," G_OWN("1")) "," GIVEN(
         G_FOUND("1")) "," MODEL(THOUGHT("b") "," G_SIGNED("It is 7.", "s9")) G_NEXT),
     0},
    {"gemini: thoughts dropped, texts as one",
     WEIR_DIALECT_GEMINI,
     {G_LEG(THOUGHT("a") "," G_TEXT("Hm. ") "," G_OWN("1")), G_LEG(G_SIGNED("It is 7.", "s9"))},
     CONTENTS(MODEL(G_TEXT("Hm. It is 7.")) G_NEXT),
     CONTENTS(MODEL(THOUGHT("a") "," G_TEXT("Hm. ") "," G_OWN("1")) "," GIVEN(
         G_FOUND("1")) "," MODEL(G_TEXT("It is 7.")) G_NEXT),
     0},
    {"gemini: every chunk of a stream is a content",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_TEXT("Let me see. ") "," G_OWN("1")), G_LEG(G_TEXT("It is 7."))},
     CONTENTS(MODEL(G_TEXT("Let me ")) "," MODEL(G_TEXT("see. ")) "," MODEL(
         G_TEXT("It is ")) "," MODEL(G_TEXT("7.")) G_NEXT),
     CONTENTS(MODEL(G_TEXT("Let me see. ") "," G_OWN("1")) "," GIVEN(G_FOUND("1")) "," MODEL(
         G_TEXT("It is ")) "," MODEL(G_TEXT("7.")) G_NEXT),
     0},
    {"gemini: an empty text that is signed goes with its leg",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_OWN("1") "," G_SIGNED("", "s7")), G_LEG(G_TEXT("7") "," G_SIGNED("", "s8"))},
     CONTENTS(MODEL(G_SIGNED("", "s7") "," G_TEXT("7") "," G_SIGNED("", "s8")) G_NEXT),
     CONTENTS(MODEL(G_OWN("1") "," G_SIGNED("", "s7")) "," GIVEN(G_FOUND("1")) "," MODEL(
         G_TEXT("7") "," G_SIGNED("", "s8")) G_NEXT),
     0},
    {"gemini: a call is known without an id, though the client spells it otherwise",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_OWN("1")), G_LEG(G_TEXT("Now") "," G_CALL("f", "2"))},
     CONTENTS(MODEL("{\"function_call\":{\"id\":\"made-up\",\"args\":{\"b\":\"\\u0078\",\"a\":2.0},"
                    "\"name\":\"f\"}}") "," GIVEN(G_RESULT("f", "output", "r"))),
     CONTENTS(MODEL(G_OWN("1")) "," GIVEN(G_FOUND("1")) "," MODEL(
         "{\"function_call\":{\"id\":\"made-up\",\"args\":{\"b\":\"\\u0078\",\"a\":2.0},\"name\":"
         "\"f\"}}") "," GIVEN(G_RESULT("f", "output", "r"))),
     0},
    {"gemini: a call of another tool is another answer",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_OWN("1")), G_LEG(G_CALL("f", "2"))},
     CONTENTS(MODEL(G_CALL("g", "2")) "," GIVEN(G_RESULT("g", "output", "r"))),
     NULL,
     0},
    {"gemini: beside the client's calls ours goes back to its place, and its result too",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_TEXT("Hm.") "," G_OWN("1") "," G_FOUR)},
     CONTENTS(MODEL(G_TEXT("Hm.") "," G_CALL("f", "2") "," G_CALL("f", "4")) "," GIVEN(
         G_GIVES("r1") "," G_GIVES("r2") "," G_TEXT("go"))),
     CONTENTS(MODEL(G_TEXT("Hm.") "," G_OWN("1") "," G_FOUR) "," GIVEN(
         G_FOUND("1") "," G_GIVES("r1") "," G_FOUND("2") "," G_GIVES("r2") "," G_TEXT("go"))),
     0},
    {"gemini: a leg that asked, then one beside calls",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_TEXT("A ") "," G_OWN("1")), G_LEG(G_TEXT("B") "," G_CALL("f", "2") "," G_OWN("3"))},
     CONTENTS(MODEL(G_TEXT("A ") "," G_TEXT("B") "," G_CALL("f", "2")) "," GIVEN(
         G_RESULT("f", "output", "r"))),
     CONTENTS(MODEL(G_TEXT("A ") "," G_OWN("1")) "," GIVEN(G_FOUND("1")) "," MODEL(
         G_TEXT("B") "," G_CALL("f", "2") "," G_OWN(
             "3")) "," GIVEN(G_RESULT("f", "output", "r") "," G_FOUND("2"))),
     0},
    {"gemini: all was said in the first leg",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_TEXT("It is 7.") "," G_OWN("1")), G_LEG("")},
     CONTENTS(MODEL(G_TEXT("It is 7.")) G_NEXT),
     CONTENTS(MODEL(G_TEXT("It is 7.") "," G_OWN("1")) "," GIVEN(G_FOUND("1")) G_NEXT),
     0},
    {"gemini: calls without results do not fit",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_OWN("1") "," G_CALL("f", "2"))},
     CONTENTS(MODEL(G_CALL("f", "2")) G_NEXT),
     CONTENTS(MODEL(G_CALL("f", "2")) G_NEXT),
     1},
    {"gemini: inside what Code Assist wraps",
     WEIR_DIALECT_GEMINI,
     {G_LEG(G_OWN("1")), G_LEG(G_TEXT("7"))},
     "{\"model\":\"m\",\"request\":" CONTENTS(MODEL(G_TEXT("7")) G_NEXT) "}",
     "{\"model\":\"m\",\"request\":" CONTENTS(
         MODEL(G_OWN("1")) "," GIVEN(G_FOUND("1")) "," MODEL(G_TEXT("7")) G_NEXT) "}",
     0},
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

static const struct put_case leaving[] = {
    {"gemini: thoughts stay, nothing tells whose they are",
     WEIR_DIALECT_GEMINI,
     {G_LEG(THOUGHT("a") "," G_TEXT("Hm. ") "," G_OWN("1")), G_LEG(THOUGHT("b") "," G_TEXT("7"))},
     CONTENTS(MODEL(THOUGHT("a") "," G_TEXT("Hm. ") "," THOUGHT("b") "," G_TEXT("7")) G_NEXT),
     CONTENTS(MODEL(THOUGHT("a") "," G_TEXT("Hm. ") "," THOUGHT("b") "," G_TEXT("7")) G_NEXT),
     0},
    {"chat: out for good, a message keeps what it thinks and says",
     WEIR_DIALECT_CHAT,
     {CHAT_LEG("\"A \"",
               ",\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"o1\",\"type\":"
               "\"function\",\"function\":{\"name\":\"weir_recall\",\"arguments\":\"{}\"}}]",
               "tool_calls"),
      CHAT_LEG("\"B\"", "", "stop")},
     CHAT("{\"role\":\"assistant\",\"content\":\"A B\",\"reasoning_content\":\"hm\"}" NEXT),
     CHAT("{\"role\":\"assistant\",\"content\":\"A B\",\"reasoning_content\":\"hm\"}" NEXT),
     0},
    {"messages: out for good, with the thinking that led to the call",
     WEIR_DIALECT_MESSAGES,
     {LEG(THINKS("a") "," BLOCK("Hm.") "," OWN("o1"), "tool_use"),
      LEG(THINKS("b") "," BLOCK("It is 7."), "end_turn")},
     BODY(SAYS(THINKS("a") "," BLOCK("Hm.") "," THINKS("b") "," BLOCK("It is 7.")) NEXT),
     BODY(SAYS(BLOCK("Hm.") "," THINKS("b") "," BLOCK("It is 7.")) NEXT),
     0},
    {"responses: out for good, with the reasoning that led to the call",
     WEIR_DIALECT_RESPONSES,
     {RESPONSE(REASON("r1") "," MESSAGE("m1", "Hm.") "," OWN_ITEM("o1")),
      RESPONSE(REASON("r2") "," MESSAGE("m2", "It is 7."))},
     ITEMS(REASON("r1") "," MESSAGE("m1", "Hm.") "," REASON("r2") "," MESSAGE("m2", "It is 7.")
               NEXT),
     ITEMS(MESSAGE("m1", "Hm.") "," REASON("r2") "," MESSAGE("m2", "It is 7.") NEXT),
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

static void check_view(const struct put_case *c, struct body *b, const struct test_joined *joined,
                       bool leaves)
{
    const struct wr_own_answer *answer = find_answer(b, joined->seen);
    struct wr_own_put put = {answer, wr_buf_view(&joined->exchange), leaves};
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
    while (!left_out && !leaves && wr_span_line(&rest, &line))
        assert_true(wr_span_has(wr_buf_view(&out), line));
    wr_arena_release(&again.arena);
    wr_buf_release(&out);
}

static void check_cases(const struct put_case *rows, size_t count, bool leaves)
{
    for (size_t i = 0; i < count; i++) {
        struct test_joined joined;
        struct body body;
        test_join_run(&joined, wr_api_of(rows[i].dialect), false, rows[i].legs, SIZE_MAX);
        if (!joined.has_exchange)
            fail_msg("%s: there is no exchange", rows[i].behaviour);
        open_body(&body, rows[i].behaviour, rows[i].dialect, wr_span_of(rows[i].request));
        check_view(&rows[i], &body, &joined, leaves);
        wr_arena_release(&body.arena);
        test_join_release(&joined);
    }
}

static void exchanges_go_back_into_the_answer(void **state)
{
    (void)state;
    check_cases(cases, WR_COUNT_OF(cases), false);
}

static void exchanges_leave_for_good(void **state)
{
    (void)state;
    check_cases(leaving, WR_COUNT_OF(leaving), true);
}

/* ---- what a request is asked ---- */

struct look_case {
    const char *behaviour;
    weir_dialect dialect;
    const char *request;
    const char *look; /* of tools, recall, may call, model turn, stream: T R C M S */
};

#define TOOL_F       "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"
#define TOOL_PLAIN   "{\"type\":\"function\",\"name\":\"f\"}"
#define ASKS(rest)   "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"}]" rest "}"
#define INPUT(rest)  "{\"input\":\"u\"" rest "}"
#define G_ASKS(rest) "{\"contents\":[" GIVEN(G_TEXT("u")) "]" rest "}"
#define DECLARED     "{\"functionDeclarations\":[{\"name\":\"f\"}]}"

static const struct look_case looks[] = {
    {"chat: a first request with tools", WEIR_DIALECT_CHAT,
     ASKS(",\"stream\":true,\"tools\":[" TOOL_F "]"), "TCS"},
    {"chat: without tools", WEIR_DIALECT_CHAT, ASKS(""), "C"},
    {"chat: an empty list of tools is none", WEIR_DIALECT_CHAT, ASKS(",\"tools\":[]"), "C"},
    {"chat: the model may not call", WEIR_DIALECT_CHAT,
     ASKS(",\"tool_choice\":\"none\",\"tools\":[" TOOL_F "]"), "T"},
    {"chat: several answers at once", WEIR_DIALECT_CHAT, ASKS(",\"n\":2,\"tools\":[" TOOL_F "]"),
     "T"},
    {"chat: one answer, said so", WEIR_DIALECT_CHAT, ASKS(",\"n\":1,\"tools\":[" TOOL_F "]"), "TC"},
    {"chat: functions from before there were tools", WEIR_DIALECT_CHAT,
     ASKS(",\"functions\":[{\"name\":\"f\"}]"), ""},
    {"chat: a recall tool of the client's", WEIR_DIALECT_CHAT,
     ASKS(
         ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"mcp__weir__weir_recall\"}}]"),
     "TRC"},
    {"chat: the model has spoken", WEIR_DIALECT_CHAT,
     "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":"
     "\"a\"},{\"role\":\"user\",\"content\":\"v\"}],\"tools\":[" TOOL_F "]}",
     "TCM"},
    {"messages: tools of the client's and of the provider's", WEIR_DIALECT_MESSAGES,
     ASKS(",\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"},{\"name\":\"f\","
          "\"input_schema\":{}}]"),
     "TC"},
    {"messages: only tools that the provider runs", WEIR_DIALECT_MESSAGES,
     ASKS(",\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}]"), "C"},
    {"messages: a tool of the provider's that the client runs", WEIR_DIALECT_MESSAGES,
     ASKS(",\"tools\":[{\"type\":\"bash_20250124\",\"name\":\"bash\"}]"), "TC"},
    {"messages: tool_choice none", WEIR_DIALECT_MESSAGES,
     ASKS(",\"tool_choice\":{\"type\":\"none\"},\"tools\":[{\"name\":\"f\"}]"), "T"},
    {"messages: a thread of the provider's", WEIR_DIALECT_MESSAGES,
     ASKS(",\"thread\":{\"type\":\"create\"},\"tools\":[{\"name\":\"f\"}]"), "T"},
    {"responses: a first request", WEIR_DIALECT_RESPONSES,
     INPUT(",\"tools\":[" TOOL_PLAIN "],\"stream\":true"), "TCS"},
    {"responses: hosted tools alone", WEIR_DIALECT_RESPONSES,
     INPUT(",\"tools\":[{\"type\":\"web_search\"},{\"type\":\"mcp\"}]"), "C"},
    {"responses: tools in an item", WEIR_DIALECT_RESPONSES,
     "{\"input\":[{\"type\":\"additional_tools\",\"tools\":[" TOOL_PLAIN "]},{\"role\":\"user\","
     "\"content\":\"u\"}]}",
     "TC"},
    {"responses: in the background", WEIR_DIALECT_RESPONSES,
     INPUT(",\"background\":true,\"tools\":[" TOOL_PLAIN "]"), "T"},
    {"responses: a conversation", WEIR_DIALECT_RESPONSES,
     INPUT(",\"conversation\":\"conv\",\"tools\":[" TOOL_PLAIN "]"), "TM"},
    {"responses: going on from an answer", WEIR_DIALECT_RESPONSES,
     INPUT(",\"previous_response_id\":\"r1\",\"tools\":[" TOOL_PLAIN "]"), "TCM"},
    {"gemini: a first request", WEIR_DIALECT_GEMINI, G_ASKS(",\"tools\":[" DECLARED "]"), "TC"},
    {"gemini: wrapped, in the other spelling", WEIR_DIALECT_GEMINI,
     "{\"request\":" G_ASKS(
         ",\"tools\":[{\"google_search\":{}},{\"function_declarations\":[{\"name\":"
         "\"f\"}]}]") "}",
     "TC"},
    {"gemini: only tools that the provider runs", WEIR_DIALECT_GEMINI,
     G_ASKS(",\"tools\":[{\"googleSearch\":{}}]"), "C"},
    {"gemini: a recall tool of the client's", WEIR_DIALECT_GEMINI,
     G_ASKS(",\"tools\":[{\"functionDeclarations\":[{\"name\":\"weir_recall\"}]}]"), "TRC"},
    {"gemini: the model may not call", WEIR_DIALECT_GEMINI,
     G_ASKS(",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"NONE\"}},\"tools\":[" DECLARED
            "]"),
     "T"},
    {"gemini: several answers at once", WEIR_DIALECT_GEMINI,
     G_ASKS(",\"generationConfig\":{\"candidateCount\":2},\"tools\":[" DECLARED "]"), "T"},
    {"gemini: a context that the provider holds", WEIR_DIALECT_GEMINI,
     G_ASKS(",\"cachedContent\":\"cachedContents/1\",\"tools\":[" DECLARED "]"), "TM"},
};

static void requests_say_whether_recall_may_be_offered(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(looks); i++) {
        struct body body;
        char said[8];
        open_body(&body, looks[i].behaviour, looks[i].dialect, wr_span_of(looks[i].request));
        struct wr_own_look look = wr_own_look_at(&body.t, &body.arena);
        (void)snprintf(said, sizeof(said), "%s%s%s%s%s", look.has_tools ? "T" : "",
                       look.has_recall ? "R" : "", look.may_call ? "C" : "",
                       look.has_model_turn ? "M" : "", look.is_stream ? "S" : "");
        if (strcmp(said, looks[i].look) != 0)
            fail_msg("%s: %s, not %s", looks[i].behaviour, said, looks[i].look);
        wr_arena_release(&body.arena);
    }
}

/* ---- what else is put into a request ---- */

struct view_case {
    const char *behaviour;
    weir_dialect dialect;
    const char *request;
    struct wr_own_view view;
    const char *out; /* NULL: WEIR_INVALID */
};

#define L(text)                \
    {                          \
        text, sizeof(text) - 1 \
    }

static const struct view_case views[] = {
    {"nothing to put in: the bytes are the client's",
     WEIR_DIALECT_CHAT,
     " {\"messages\" : [ {\"role\":\"user\",\"content\":\"u\"} ] }\n",
     {.definition = L("")},
     " {\"messages\" : [ {\"role\":\"user\",\"content\":\"u\"} ] }\n"},
    {"the definition goes behind the last tool",
     WEIR_DIALECT_CHAT,
     ASKS(",\"tools\":[{\"a\":1}, {\"a\":2} ]"),
     {.definition = L("{\"d\":1}")},
     ASKS(",\"tools\":[{\"a\":1}, {\"a\":2},{\"d\":1} ]")},
    {"but before the first that has a cache marker",
     WEIR_DIALECT_MESSAGES,
     ASKS(",\"tools\":[{\"name\":\"f\"},{\"name\":\"g\",\"cache_control\":{\"type\":"
          "\"ephemeral\"}}]"),
     {.definition = L("{\"d\":1}")},
     ASKS(",\"tools\":[{\"name\":\"f\"},{\"d\":1},{\"name\":\"g\",\"cache_control\":{\"type\":"
          "\"ephemeral\"}}]")},
    {"into tools that stand in an item",
     WEIR_DIALECT_RESPONSES,
     "{\"input\":[{\"type\":\"additional_tools\",\"tools\":[{\"name\":\"f\"}]}]}",
     {.definition = L("{\"d\":1}")},
     "{\"input\":[{\"type\":\"additional_tools\",\"tools\":[{\"name\":\"f\"},{\"d\":1}]}]}"},
    {"into the list inside of a tool, where the request is wrapped",
     WEIR_DIALECT_GEMINI,
     "{\"request\":" G_ASKS(",\"tools\":[{\"googleSearch\":{}}," DECLARED "]") "}",
     {.definition = L("{\"d\":1}"), .elements = L("{\"e\":1}")},
     "{\"request\":{\"contents\":[" GIVEN(
         G_TEXT("u")) ",{\"e\":1}],\"tools\":[{\"googleSearch\":{}},{\"functionDeclarations\":["
                      "{\"name\":\"f\"},{\"d\":1}]}]}}"},
    {"a request without tools cannot take it",
     WEIR_DIALECT_CHAT,
     ASKS(""),
     {.definition = L("{\"d\":1}")},
     NULL},
    {"elements go to the end",
     WEIR_DIALECT_CHAT,
     ASKS(",\"x\":1"),
     {.elements = L("{\"e\":1},{\"e\":2}")},
     "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"e\":1},{\"e\":2}],\"x\":1}"},
    {"words that stand alone become the list's first",
     WEIR_DIALECT_RESPONSES,
     "{\"input\":\"a\\\"b\",\"x\":1}",
     {.elements = L("{\"e\":1}")},
     "{\"input\":[{\"role\":\"user\",\"content\":\"a\\\"b\"},{\"e\":1}],\"x\":1}"},
    {"another answer to go on from",
     WEIR_DIALECT_RESPONSES,
     "{\"previous_response_id\":\"r1\",\"input\":\"r1\"}",
     {.previous_id = L("r2")},
     "{\"previous_response_id\":\"r2\",\"input\":\"r1\"}"},
    {"a request that goes on from none",
     WEIR_DIALECT_RESPONSES,
     "{\"input\":\"r1\"}",
     {.previous_id = L("r2")},
     NULL},
};

static void views_keep_the_client_s_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(views); i++) {
        const struct view_case *c = &views[i];
        struct wr_buf out;
        struct body body;
        uint32_t left_out;
        open_body(&body, c->behaviour, c->dialect, wr_span_of(c->request));
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        weir_status status = wr_own_view_write(&body.t, &body.arena, &c->view, &out, &left_out);
        if (status != (c->out ? WEIR_OK : WEIR_INVALID) ||
            !wr_span_is(wr_buf_view(&out), c->out ? c->out : ""))
            fail_msg("%s (%s):\n%.*s", c->behaviour, weir_status_text(status), (int)out.len,
                     out.len ? out.bytes : "");
        wr_buf_release(&out);
        wr_arena_release(&body.arena);
    }
}

/* The provider has our call; the request has only what is new. */
static void results_join_those_of_a_history_that_the_provider_holds(void **state)
{
    static const char *const legs[] = {RESPONSE(FUNCTION("c1", "f") "," OWN_ITEM("o1")), NULL};
    struct test_joined joined;
    struct body body;
    struct wr_buf out;
    uint32_t left_out;

    (void)state;
    test_join_run(&joined, &wr_api_responses, false, legs, SIZE_MAX);
    open_body(&body, "stored", WEIR_DIALECT_RESPONSES,
              WR_LIT("{\"previous_response_id\":\"r1\",\"input\":[" OUTPUT("c1", "r") NEXT "]}"));
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    struct wr_own_put put = {NULL, wr_buf_view(&joined.exchange), false};
    struct wr_own_view view = {.puts = &put, .puts_count = 1};
    assert_int_equal(wr_own_view_write(&body.t, &body.arena, &view, &out, &left_out), WEIR_OK);
    assert_int_equal(left_out, 0);
    wr_buf_byte(&out, '\0');
    assert_string_equal(out.bytes, "{\"previous_response_id\":\"r1\",\"input\":[" OUTPUT(
                                       "c1", "r") "," OUTPUT("o1", "found 1") NEXT "]}");
    wr_buf_release(&out);
    wr_arena_release(&body.arena);
    test_join_release(&joined);
}

static void a_damaged_exchange_is_left_out(void **state)
{
    static const char *const legs[] = {CHAT_OWN("\"A \"", "o1"), CHAT_LEG("\"B\"", "", "stop"),
                                       NULL};
    struct test_joined joined;
    struct body body;

    (void)state;
    test_join_run(&joined, &wr_api_chat, false, legs, SIZE_MAX);
    open_body(&body, "damaged", WEIR_DIALECT_CHAT,
              WR_LIT(CHAT("{\"role\":\"assistant\",\"content\":\"A B\"}" NEXT)));
    const struct wr_own_answer *answer = find_answer(&body, joined.seen);
    assert_non_null(answer);
    for (size_t cut = 0; cut < joined.exchange.len; cut++)
        for (int way = 0; way < 2; way++) {
            struct wr_buf out;
            uint32_t left_out;
            weir_span bytes = wr_buf_view(&joined.exchange);
            struct wr_own_put put = {answer, way ? bytes : wr_span_cut(bytes, 0, cut), false};
            struct wr_own_view view = {.puts = &put, .puts_count = 1};
            joined.exchange.bytes[cut] ^= (char)way;
            wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
            assert_int_equal(wr_own_view_write(&body.t, &body.arena, &view, &out, &left_out),
                             WEIR_OK);
            assert_int_equal(left_out, 1);
            assert_true(wr_span_eq(wr_buf_view(&out), body.doc.text));
            wr_buf_release(&out);
            joined.exchange.bytes[cut] ^= (char)way;
        }
    wr_arena_release(&body.arena);
    test_join_release(&joined);
}

static void definitions_have_the_api_s_shape(void **state)
{
    static const char *const begins[] = {
        "{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\",\"description\":\"Brings",
        "{\"type\":\"function\",\"name\":\"weir_recall\",\"description\":\"Brings",
        "{\"name\":\"weir_recall\",\"description\":\"Brings",
        "{\"name\":\"weir_recall\",\"description\":\"Brings"};

    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(begins); i++) {
        struct wr_arena arena;
        struct wr_json doc;
        struct wr_buf out;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        wr_own_definition(wr_apis[i], &out);
        assert_true(wr_span_starts(wr_buf_view(&out), wr_span_of(begins[i])));
        assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&out), NULL, NULL), WEIR_OK);
        wr_buf_release(&out);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges_go_back_into_the_answer),
        cmocka_unit_test(exchanges_leave_for_good),
        cmocka_unit_test(requests_say_whether_recall_may_be_offered),
        cmocka_unit_test(views_keep_the_client_s_bytes),
        cmocka_unit_test(results_join_those_of_a_history_that_the_provider_holds),
        cmocka_unit_test(a_damaged_exchange_is_left_out),
        cmocka_unit_test(definitions_have_the_api_s_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
