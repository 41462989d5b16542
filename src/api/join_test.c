#include "api/join.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/test_join.h"

struct join_case {
    const char *behaviour;
    weir_dialect dialect;
    const char *legs[TEST_LEGS_MAX + 1];
    const char *said;
    const char *shown;
    const char *elements; /* NULL: not looked at */
};

#define DATA(json) "data: " json "\n\n"
#define DONE       "data: [DONE]\n\n"

/* Chat. */
#define CHUNK(id, rest) DATA("{\"id\":\"" id "\",\"created\":1,\"model\":\"m\"," rest "}")
#define DELTA(id, delta) \
    CHUNK(id, "\"choices\":[{\"index\":0,\"delta\":{" delta "},\"finish_reason\":null}]")
#define FINISH(id, word) \
    CHUNK(id, "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" word "\"}]")
#define USAGE(id, in, out, all)                                                               \
    CHUNK(id, "\"choices\":[],\"usage\":{\"prompt_tokens\":" in ",\"completion_tokens\":" out \
              ",\"total_tokens\":" all "}")
#define ROLE(id)       DELTA(id, "\"role\":\"assistant\",\"content\":\"\"")
#define TEXT(id, text) DELTA(id, "\"content\":\"" text "\"")
#define CALL(id, index, call, name)                             \
    DELTA(id,                                                   \
          "\"tool_calls\":[{\"index\":" index ",\"id\":\"" call \
          "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":\"\"}}]")
#define ARGS(id, index, text) \
    DELTA(id, "\"tool_calls\":[{\"index\":" index ",\"function\":{\"arguments\":\"" text "\"}}]")
#define NAME(id, index, text) \
    DELTA(id, "\"tool_calls\":[{\"index\":" index ",\"function\":{\"name\":\"" text "\"}}]")
#define BARE(call, name)                                                        \
    "{\"id\":\"" call "\",\"type\":\"function\",\"function\":{\"name\":\"" name \
    "\",\"arguments\":\"{}\"}}"
#define OWN_CHAT(id, index, call) CALL(id, index, call, "weir_recall") ARGS(id, index, "{}")

#define ELEMENTS_CHAT(content, call, n)                                                         \
    "{\"role\":\"assistant\",\"content\":" content ",\"tool_calls\":[{\"id\":\"" call           \
    "\",\"type\":\"function\",\"function\":{\"name\":\"weir_recall\",\"arguments\":\"{}\"}}]}," \
    "{\"role\":\"tool\",\"tool_call_id\":\"" call "\",\"content\":\"found " n "\"}\n"

/* Messages. */
#define EVENT(name, json) "event: " name "\ndata: {\"type\":\"" name "\"," json "}\n\n"
#define START(id, in)                                                                       \
    EVENT("message_start", "\"message\":{\"id\":\"" id "\",\"model\":\"c\",\"content\":[]," \
                           "\"usage\":{\"input_tokens\":" in ",\"output_tokens\":1}}")
#define BEGIN(index, block) \
    EVENT("content_block_start", "\"index\":" index ",\"content_block\":{" block "}")
/* Ollama: a line of JSON each. */
#define O(members) \
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\"," members "},\"done\":false}\n"
#define O_DONE(members, tokens)                                                        \
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\"," members "},\"done\":true," \
    "\"done_reason\":\"stop\",\"eval_count\":" tokens "}\n"
#define O_CALL(name) "{\"function\":{\"name\":\"" name "\",\"arguments\":{\"a\":1}}}"
/* Converse: the frame's name, then what it says. */
#define C(name, members) "event: " name "\ndata: {" members "}\n\n"
#define C_START          C("messageStart", "\"role\":\"assistant\"")
#define C_DELTA(at, delta) \
    C("contentBlockDelta", "\"contentBlockIndex\":" at ",\"delta\":{" delta "}")
#define C_END(at) C("contentBlockStop", "\"contentBlockIndex\":" at)
#define C_USE(at, id, name)                                                      \
    C("contentBlockStart",                                                       \
      "\"contentBlockIndex\":" at ",\"start\":{\"toolUse\":{\"toolUseId\":\"" id \
      "\",\"name\":\"" name "\"}}")                                              \
    C_DELTA(at, "\"toolUse\":{\"input\":\"{\\\"a\\\":1}\"}") C_END(at)
#define C_STOP(word, usage) \
    C("messageStop", "\"stopReason\":\"" word "\"") C("metadata", "\"usage\":{" usage "}")
#define GROW(index, delta) \
    EVENT("content_block_delta", "\"index\":" index ",\"delta\":{\"type\":" delta "}")
#define END(index) EVENT("content_block_stop", "\"index\":" index)
#define STOP(word, usage)                                                                    \
    EVENT("message_delta", "\"delta\":{\"stop_reason\":\"" word "\"},\"usage\":{" usage "}") \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
#define SAY(index, text)                            \
    BEGIN(index, "\"type\":\"text\",\"text\":\"\"") \
    GROW(index, "\"text_delta\",\"text\":\"" text "\"") END(index)
#define THINK(index, text, signature)                                          \
    BEGIN(index, "\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"") \
    GROW(index, "\"thinking_delta\",\"thinking\":\"" text "\"")                \
    GROW(index, "\"signature_delta\",\"signature\":\"" signature "\"") END(index)
#define USE(index, call, name)                                                                   \
    BEGIN(index, "\"type\":\"tool_use\",\"id\":\"" call "\",\"name\":\"" name "\",\"input\":{}") \
    GROW(index, "\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"") END(index)
#define PING "event: ping\ndata: {\"type\":\"ping\"}\n\n"
#define OWN_BLOCK(call) \
    "{\"type\":\"tool_use\",\"id\":\"" call "\",\"name\":\"weir_recall\",\"input\":{\"a\":1}}"
#define RESULT_BLOCK(call, n) \
    "{\"type\":\"tool_result\",\"tool_use_id\":\"" call "\",\"content\":\"found " n "\"}"

/* Responses. */
#define R(name, number, rest) \
    "event: " name "\ndata: {\"type\":\"" name "\",\"sequence_number\":" number "," rest "}\n\n"
#define TOOLS_F   "{\"type\":\"function\",\"name\":\"f\"}"
#define TOOLS_OWN "{\"type\":\"function\",\"name\":\"weir_recall\"}"
#define CREATED(number, id, tools) \
    R("response.created", number,  \
      "\"response\":{\"id\":\"" id "\",\"model\":\"g\",\"tools\":[" tools "],\"output\":[]}")
#define ADDED(number, index, item) \
    R("response.output_item.added", number, "\"output_index\":" index ",\"item\":" item)
#define ITEM_DONE(number, index, item) \
    R("response.output_item.done", number, "\"output_index\":" index ",\"item\":" item)
#define WORDS(number, index, id, text)      \
    R("response.output_text.delta", number, \
      "\"item_id\":\"" id "\",\"output_index\":" index ",\"delta\":\"" text "\"")
#define INPUT(number, index, id)                        \
    R("response.function_call_arguments.delta", number, \
      "\"item_id\":\"" id "\",\"output_index\":" index ",\"delta\":\"{}\"")
#define COMPLETED(number, id, output, in, out, all)                     \
    R("response.completed", number,                                     \
      "\"response\":{\"id\":\"" id                                      \
      "\",\"model\":\"g\",\"status\":\"completed\",\"output\":[" output \
      "],\"usage\":{\"input_tokens\":" in ",\"output_tokens\":" out     \
      ",\"output_tokens_details\":{\"reasoning_tokens\":1},\"total_tokens\":" all "}}")
#define REASON(id) "{\"type\":\"reasoning\",\"id\":\"" id "\",\"encrypted_content\":\"e-" id "\"}"
#define MESSAGE(id, text)                                                                    \
    "{\"type\":\"message\",\"id\":\"" id "\",\"role\":\"assistant\",\"content\":[{\"type\":" \
    "\"output_text\",\"text\":\"" text "\"}]}"
#define FUNCTION(id, call, name)                                                              \
    "{\"type\":\"function_call\",\"id\":\"" id "\",\"call_id\":\"" call "\",\"name\":\"" name \
    "\",\"arguments\":\"{}\"}"
#define OWN_ITEM(id, call) FUNCTION(id, call, "weir_recall")
#define OUTPUT(call, n) \
    "{\"type\":\"function_call_output\",\"call_id\":\"" call "\",\"output\":\"found " n "\"}"
#define WHOLE_R(id, output, in, out)                                                          \
    "{\"id\":\"" id "\",\"object\":\"response\",\"status\":\"completed\",\"tools\":[" TOOLS_F \
    "],\"output\":[" output "],\"usage\":{\"input_tokens\":" in ",\"output_tokens\":" out "}}"
#define WHOLE_R_OWN(id, output, in, out)                                                      \
    "{\"id\":\"" id "\",\"object\":\"response\",\"status\":\"completed\",\"tools\":[" TOOLS_F \
    "," TOOLS_OWN "],\"output\":[" output "],\"usage\":{\"input_tokens\":" in                 \
    ",\"output_tokens\":" out "}}"

/* Gemini. */
#define G_USED(in, out, thought, all)                                                            \
    ",\"usageMetadata\":{\"promptTokenCount\":" in ",\"candidatesTokenCount\":" out              \
    ",\"thoughtsTokenCount\":" thought ",\"cachedContentTokenCount\":4,\"totalTokenCount\":" all \
    "}"
#define G_BODY(id, content, why, used) \
    "{\"candidates\":[{" content "\"index\":0" why "}]" used ",\"responseId\":\"" id "\"}"
#define G_PARTS(parts)          "\"content\":{\"role\":\"model\",\"parts\":[" parts "]},"
#define G_BARE                  "\"content\":{\"role\":\"model\"},"
#define G_STOP                  ",\"finishReason\":\"STOP\""
#define G(id, parts, why, used) DATA(G_BODY(id, G_PARTS(parts), why, used))
#define G_TEXT(text)            "{\"text\":\"" text "\"}"
#define G_THOUGHT(text)         "{\"text\":\"" text "\",\"thought\":true}"
#define G_CALL(name, n) \
    "{\"functionCall\":{\"name\":\"" name "\",\"args\":{}},\"thoughtSignature\":\"s" n "\"}"
#define G_CALL_ID(id, name) \
    "{\"functionCall\":{\"id\":\"" id "\",\"name\":\"" name "\",\"args\":{}}}"
#define G_OWN(n) G_CALL("weir_recall", n)
#define G_RESULT(n) \
    "{\"functionResponse\":{\"name\":\"weir_recall\",\"response\":{\"output\":\"found " n "\"}}}"
#define G_ELEMENTS(parts, results) \
    "{\"role\":\"model\",\"parts\":[" parts "]},{\"role\":\"user\",\"parts\":[" results "]}\n"
#define G_WRAP(json) "{\"response\":" json ",\"traceId\":\"t\"}"

static const struct join_case cases[] = {
    {"chat: an answer without a call of ours is the provider's bytes",
     WEIR_DIALECT_CHAT,
     {": hi\r\n\r\n" ROLE("a") TEXT("a", "Hel") "data: {\"odd\":1}\r\n\r\n" CALL("a", "0", "c", "f")
          ARGS("a", "0", "{}") FINISH("a", "tool_calls") USAGE("a", "5", "2", "7") DONE "tail"},
     "plain;",
     ": hi\r\n\r\n" ROLE("a") TEXT("a", "Hel") "data: {\"odd\":1}\r\n\r\n" CALL("a", "0", "c", "f")
         ARGS("a", "0", "{}") FINISH("a", "tool_calls") USAGE("a", "5", "2", "7") DONE "tail",
     ""},
    {"chat: two legs are one answer, with the first's id and all outputs",
     WEIR_DIALECT_CHAT,
     {ROLE("a") TEXT("a", "Let me see. ") OWN_CHAT("a", "0", "c1") FINISH("a", "tool_calls")
          USAGE("a", "10", "3", "13") DONE,
      ROLE("b") TEXT("b", "It is 7.") FINISH("b", "stop") USAGE("b", "20", "4", "24") DONE},
     "ask c1 {};plain;",
     ROLE("a") TEXT("a", "Let me see. ") TEXT("a", "It is 7.") FINISH("a", "stop")
         USAGE("a", "20", "7", "27") DONE,
     ELEMENTS_CHAT("\"Let me see. \"", "c1", "1")},
    {"chat: a name in pieces is held until it is known",
     WEIR_DIALECT_CHAT,
     {ROLE("a") CALL("a", "0", "c1", "weir_") NAME("a", "0", "recall") ARGS("a", "0", "{}")
          FINISH("a", "tool_calls") DONE,
      ROLE("b") CALL("b", "0", "c2", "weir") ARGS("b", "0", "{}") FINISH("b", "tool_calls") DONE},
     "ask c1 {};plain;",
     ROLE("a") CALL("a", "0", "c2", "weir") ARGS("a", "0", "{}") FINISH("a", "tool_calls") DONE,
     ELEMENTS_CHAT("null", "c1", "1")},
    {"chat: beside the client's calls ours is not there, and the others move up",
     WEIR_DIALECT_CHAT,
     {ROLE("a") CALL("a", "0", "c1", "f") ARGS("a", "0", "{}") OWN_CHAT("a", "1", "c2")
          CALL("a", "2", "c3", "g") ARGS("a", "2", "{}") FINISH("a", "tool_calls")
              USAGE("a", "1", "2", "3") DONE},
     "beside c2 {};",
     ROLE("a") CALL("a", "0", "c1", "f") ARGS("a", "0", "{}") CALL("a", "1", "c3", "g")
         ARGS("a", "1", "{}") FINISH("a", "tool_calls") USAGE("a", "1", "2", "3") DONE,
     ""},
    {"chat: a server that says all in one chunk",
     WEIR_DIALECT_CHAT,
     {DATA("{\"id\":\"a\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Hm\","
           "\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{"
           "\"name\":\"weir_recall\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}],"
           "\"usage\":{\"completion_tokens\":2}}"),
      DATA("{\"id\":\"b\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"7\"},"
           "\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":3}}")},
     "ask c1 {};plain;",
     DATA("{\"id\":\"a\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Hm\"},"
          "\"finish_reason\":null}],\"usage\":null}")
         DATA("{\"id\":\"a\",\"choices\":[{\"delta\":{\"content\":\"7\"},\"finish_reason\":null}],"
              "\"usage\":null}")
             DATA("{\"id\":\"a\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],"
                  "\"usage\":{\"completion_tokens\":5}}"),
     ELEMENTS_CHAT("\"Hm\"", "c1", "1")},
    {"chat: calls without numbers are told apart by their ids",
     WEIR_DIALECT_CHAT,
     {DATA("{\"id\":\"a\",\"choices\":[{\"delta\":{\"tool_calls\":[" BARE("c1", "f") "," BARE(
         "c2", "weir_recall") "]},\"finish_reason\":null}]}")
          DATA("{\"id\":\"a\",\"choices\":[{\"delta\":{\"tool_calls\":[" BARE(
              "c3", "weir_recall") "]},\"finish_reason\":\"stop\"}]}")},
     "beside c2 {} c3 {};",
     DATA("{\"id\":\"a\",\"choices\":[{\"delta\":{\"tool_calls\":[" BARE(
         "c1", "f") "]},\"finish_reason\":null}]}")
         DATA("{\"id\":\"a\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}"),
     ""},
    {"chat: whole answers",
     WEIR_DIALECT_CHAT,
     {"{\"id\":\"a\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
      "\"Hm. \",\"reasoning_content\":\"r1 \",\"refusal\":null,\"tool_calls\":[{\"id\":\"c1\","
      "\"type\":\"function\",\"function\":{\"name\":\"weir_recall\",\"arguments\":\"{}\"}}]},"
      "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,"
      "\"total_tokens\":3}}",
      "{\"id\": \"b\", \"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
      "\"7\",\"reasoning_content\":\"r2\",\"refusal\":null},\"finish_reason\":\"stop\"}],\"usage\":"
      "{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13}}\n"},
     "ask c1 {};plain;",
     "{\"id\": \"a\", \"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
     "\"Hm. 7\",\"reasoning_content\":\"r1 r2\",\"refusal\":null},\"finish_reason\":\"stop\"}],"
     "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":6,\"total_tokens\":15}}\n",
     "{\"role\":\"assistant\",\"content\":\"Hm. \",\"reasoning_content\":\"r1 \",\"tool_calls\":["
     "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"weir_recall\",\"arguments\":"
     "\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"found 1\"}\n"},
    {"chat: a second leg that is an error is no answer",
     WEIR_DIALECT_CHAT,
     {ROLE("a") OWN_CHAT("a", "0", "c1") FINISH("a", "tool_calls") DONE,
      "{\"error\":{\"message\":\"no\"}}"},
     "ask c1 {};plain;",
     ROLE("a") DATA("{\"error\":{\"type\":\"weir_error\",\"message\":\"it broke\",\"param\":null,"
                    "\"code\":\"weir\"}}"),
     NULL},
    {"chat: an error comes whole though a stream was asked for",
     WEIR_DIALECT_CHAT,
     {"{\"error\":{\"message\":\"no\"}}"},
     "plain;",
     "{\"error\":{\"message\":\"no\"}}",
     ""},
    {"gemini: an answer without a call of ours is the provider's bytes",
     WEIR_DIALECT_GEMINI,
     {": hi\r\n\r\n" G("a", G_THOUGHT("hm"), "", "") G("a", G_TEXT("Hi"), "", "")
          G("a", G_CALL("f", "1"), G_STOP, G_USED("5", "2", "1", "8")) "tail"},
     "plain;",
     ": hi\r\n\r\n" G("a", G_THOUGHT("hm"), "", "") G("a", G_TEXT("Hi"), "", "")
         G("a", G_CALL("f", "1"), G_STOP, G_USED("5", "2", "1", "8")) "tail",
     ""},
    {"gemini: two legs are one answer, with the first's id and all outputs",
     WEIR_DIALECT_GEMINI,
     {G("a", G_TEXT("Let me "), "", "") G("a", G_TEXT("see. "), "", "") G("a", G_OWN("1"), "", "")
          G("a", G_TEXT(""), G_STOP, G_USED("10", "3", "2", "15")),
      G("b", G_TEXT("It is "), "", G_USED("20", "1", "1", "22"))
          G("b", G_TEXT("7."), G_STOP, G_USED("20", "4", "1", "25"))},
     "ask  {};plain;",
     G("a", G_TEXT("Let me "), "", "") G("a", G_TEXT("see. "), "", "")
         G("a", G_TEXT("It is "), "", G_USED("20", "4", "3", "27"))
             G("a", G_TEXT("7."), G_STOP, G_USED("20", "7", "3", "30")),
     G_ELEMENTS(G_TEXT("Let me see. ") "," G_OWN("1"), G_RESULT("1"))},
    {"gemini: our call in the chunk that ends a leg, words beside it",
     WEIR_DIALECT_GEMINI,
     {G("a", G_TEXT("Hm. ") "," G_CALL_ID("x", "weir_recall"), G_STOP, G_USED("1", "2", "3", "6")),
      G("b", G_TEXT("7"), G_STOP,
        ",\"usageMetadata\":{\"promptTokenCount\":9,\"totalTokenCount\":9}")},
     "ask x {};plain;",
     G("a", G_TEXT("Hm. "), "", G_USED("1", "2", "3", "6"))
         G("a", G_TEXT("7"), G_STOP,
           ",\"usageMetadata\":{\"promptTokenCount\":9,\"totalTokenCount\":14,"
           "\"candidatesTokenCount\":2,\"thoughtsTokenCount\":3}"),
     G_ELEMENTS(G_TEXT("Hm. ") "," G_CALL_ID("x", "weir_recall"),
                "{\"functionResponse\":{\"id\":\"x\",\"name\":\"weir_recall\",\"response\":{"
                "\"output\":\"found 1\"}}}")},
    {"gemini: beside the client's calls ours is not there",
     WEIR_DIALECT_GEMINI,
     {G("a", G_CALL("f", "1") "," G_OWN("2"), "", "") G("a", G_OWN("3"), "", "")
          G("a", G_CALL("g", "4") "," G_OWN("5"), G_STOP, "")},
     "beside  {}  {}  {};",
     G("a", G_CALL("f", "1"), "", "") G("a", G_CALL("g", "4"), "", "")
         DATA(G_BODY("a", G_BARE, G_STOP, "")),
     ""},
    {"gemini: our call alone in the chunk that ends an answer with others",
     WEIR_DIALECT_GEMINI,
     {G("a", G_CALL("f", "1"), "", "") G("a", G_OWN("2"), G_STOP, "")},
     "beside  {};",
     G("a", G_CALL("f", "1"), "", "") DATA(G_BODY("a", G_BARE, G_STOP, "")),
     ""},
    {"gemini: whole answers",
     WEIR_DIALECT_GEMINI,
     {G_BODY("a", G_PARTS(G_THOUGHT("r") "," G_TEXT("Hm. ") "," G_OWN("1")), G_STOP,
             G_USED("1", "2", "3", "6")),
      G_BODY("b", G_PARTS(G_TEXT("7")), G_STOP, G_USED("9", "4", "1", "14")) "\n"},
     "ask  {};plain;",
     G_BODY("a", G_PARTS(G_THOUGHT("r") "," G_TEXT("Hm. ") "," G_TEXT("7")), G_STOP,
            G_USED("9", "6", "4", "19")) "\n",
     G_ELEMENTS(G_THOUGHT("r") "," G_TEXT("Hm. ") "," G_OWN("1"), G_RESULT("1"))},
    {"gemini: a last leg that says nothing has the words of those before",
     WEIR_DIALECT_GEMINI,
     {G_BODY("a", G_PARTS(G_TEXT("7") "," G_OWN("1")), G_STOP, ""),
      G_BODY("b", "\"content\":{},", G_STOP, "")},
     "ask  {};plain;",
     G_BODY("a", "\"content\":{\"parts\":[" G_TEXT("7") "]},", G_STOP, ""),
     NULL},
    {"gemini: answers that Code Assist wraps",
     WEIR_DIALECT_GEMINI,
     {DATA(G_WRAP(G_BODY("a", G_PARTS(G_OWN("1")), G_STOP, ""))),
      DATA(G_WRAP(G_BODY("b", G_PARTS(G_TEXT("7")), G_STOP, "")))},
     "ask  {};plain;",
     DATA(G_WRAP(G_BODY("a", G_PARTS(G_TEXT("7")), G_STOP, ""))),
     G_ELEMENTS(G_OWN("1"), G_RESULT("1"))},
    {"gemini: streams that are one list each",
     WEIR_DIALECT_GEMINI,
     {"[" G_BODY("a", G_PARTS(G_TEXT("Hm. ")), "", "") ",\r\n" G_BODY(
          "a", G_PARTS(G_OWN("1")), G_STOP, G_USED("1", "2", "3", "6")) "]",
      "[" G_BODY("b", G_PARTS(G_TEXT("It is")), "", "") ",\r\n" G_BODY(
          "b", G_PARTS(G_TEXT(" 7")), G_STOP, G_USED("9", "4", "1", "14")) "]"},
     "ask  {};plain;",
     "[" G_BODY("a", G_PARTS(G_TEXT("Hm. ")), "", "") "," G_BODY(
         "a", G_PARTS(G_TEXT("It is")), "", "") ",\r\n" G_BODY("a", G_PARTS(G_TEXT(" 7")), G_STOP,
                                                               G_USED("9", "6", "4", "19")) "]",
     G_ELEMENTS(G_TEXT("Hm. ") "," G_OWN("1"), G_RESULT("1"))},
    {"gemini: a list whose call of ours stands beside others",
     WEIR_DIALECT_GEMINI,
     {"[" G_BODY("a", G_PARTS(G_OWN("1")), "",
                 "") "," G_BODY("a", G_PARTS(G_CALL("f", "2") "," G_OWN("3")), G_STOP, "") "]"},
     "beside  {}  {};",
     "[" G_BODY("a", G_PARTS(G_CALL("f", "2")), G_STOP, "") "]",
     ""},
    {"gemini: a second leg that is an error is no answer",
     WEIR_DIALECT_GEMINI,
     {G("a", G_TEXT("Hm."), "", "") G("a", G_OWN("1"), G_STOP, ""),
      DATA("{\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}")},
     "ask  {};plain;",
     G("a", G_TEXT("Hm."), "", "")
         DATA("{\"error\":{\"code\":500,\"message\":\"it broke\",\"status\":\"INTERNAL\"}}"),
     NULL},
    {"gemini: a second leg that breaks off",
     WEIR_DIALECT_GEMINI,
     {G("a", G_OWN("1"), G_STOP, ""), G("b", G_TEXT("It"), "", "")},
     "ask  {};plain;",
     G("a", G_TEXT("It"), "", "")
         DATA("{\"error\":{\"code\":500,\"message\":\"it broke\",\"status\":\"INTERNAL\"}}"),
     NULL},
    {"ollama: an answer without a call of ours is the server's bytes",
     WEIR_DIALECT_OLLAMA,
     {O("\"content\":\"Hi\"") O("\"content\":\"\",\"tool_calls\":[" O_CALL("f") "]")
          O_DONE("\"content\":\"\"", "9")},
     "plain;",
     O("\"content\":\"Hi\"") O("\"content\":\"\",\"tool_calls\":[" O_CALL("f") "]")
         O_DONE("\"content\":\"\"", "9"),
     ""},
    {"ollama: two legs, what is thought and said",
     WEIR_DIALECT_OLLAMA,
     {O("\"content\":\"\",\"thinking\":\"hm\"") O("\"content\":\"Hi\"")
          O("\"content\":\"\",\"tool_calls\":[" O_CALL("weir_recall") "]")
              O_DONE("\"content\":\"\"", "9"),
      O("\"content\":\"7\"") O_DONE("\"content\":\"\"", "4")},
     "ask  {\"a\":1};plain;",
     O("\"content\":\"\",\"thinking\":\"hm\"") O("\"content\":\"Hi\"") O("\"content\":\"7\"")
         O_DONE("\"content\":\"\"", "13"),
     "{\"role\":\"assistant\",\"thinking\":\"hm\",\"content\":\"Hi\",\"tool_calls\":[" O_CALL(
         "weir_recall") "]},{\"role\":\"tool\",\"content\":\"found 1\",\"tool_name\":"
                        "\"weir_recall\"}\n"},
    {"ollama: a last line that says something, before another leg",
     WEIR_DIALECT_OLLAMA,
     {O_DONE("\"content\":\"Hi\",\"tool_calls\":[" O_CALL("weir_recall") "]", "9"),
      O_DONE("\"content\":\"7\"", "4")},
     "ask  {\"a\":1};plain;",
     O("\"content\":\"Hi\"") O("\"content\":\"7\"") O_DONE("\"content\":\"\"", "13"),
     "{\"role\":\"assistant\",\"content\":\"Hi\",\"tool_calls\":[" O_CALL(
         "weir_recall") "]},{\"role\":\"tool\",\"content\":\"found 1\",\"tool_name\":"
                        "\"weir_recall\"}\n"},
    {"ollama: beside the client's calls",
     WEIR_DIALECT_OLLAMA,
     {O("\"content\":\"\",\"tool_calls\":[" O_CALL("weir_recall") "," O_CALL("f") "]")
          O_DONE("\"content\":\"\"", "9")},
     "beside  {\"a\":1};",
     O("\"content\":\"\",\"tool_calls\":[" O_CALL("f") "]") O_DONE("\"content\":\"\"", "9"),
     ""},
    {"ollama: whole answers",
     WEIR_DIALECT_OLLAMA,
     {"{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hi "
      "\",\"tool_calls\":[" O_CALL(
          "weir_recall") "]},\"done\":true,\"done_reason\":\"stop\",\"eval_count\":9}",
      "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"7\"},\"done\":true,"
      "\"done_reason\":\"stop\",\"eval_count\":4}"},
     "ask  {\"a\":1};plain;",
     "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hi 7\"},\"done\":true,"
     "\"done_reason\":\"stop\",\"eval_count\":13}",
     "{\"role\":\"assistant\",\"content\":\"Hi \",\"tool_calls\":[" O_CALL(
         "weir_recall") "]},{\"role\":\"tool\",\"content\":\"found 1\",\"tool_name\":"
                        "\"weir_recall\"}\n"},
    {"ollama: a second leg that breaks off",
     WEIR_DIALECT_OLLAMA,
     {O("\"content\":\"\",\"tool_calls\":[" O_CALL("weir_recall") "]")
          O_DONE("\"content\":\"\"", "9"),
      O("\"content\":\"It\"")},
     "ask  {\"a\":1};plain;",
     O("\"content\":\"It\"") "{\"error\":\"it broke\"}\n",
     NULL},
    {"ollama: lines that end with CR LF",
     WEIR_DIALECT_OLLAMA,
     {"{\"message\":{\"content\":\"Hi\"},\"done\":false}\r\n"
      "{\"message\":{\"content\":\"\",\"tool_calls\":[" O_CALL(
          "weir_recall") "]},\r\"done\":true,\"eval_count\":9}\r\n",
      "{\"message\":{\"content\":\"7\"},\"done\":false}\r\n\r\n"
      "{\"message\":{\"content\":\"\"},\"done\":true,\"eval_count\":4}\r\n"},
     "ask  {\"a\":1};plain;",
     "{\"message\":{\"content\":\"Hi\"},\"done\":false}\r\n"
     "{\"message\":{\"content\":\"7\"},\"done\":false}\r\n\r\n"
     "{\"message\":{\"content\":\"\"},\"done\":true,\"eval_count\":13}\r\n",
     NULL},
    {"ollama: last lines that lack their end",
     WEIR_DIALECT_OLLAMA,
     {"\n" O("\"content\":\"Hi\"") "{\"message\":{\"content\":\"so\",\"tool_calls\":[" O_CALL(
          "weir_recall") "]},\"done\":true,\"eval_count\":9}",
      O("\"content\":\"7\"") "{\"message\":{\"content\":\"\"},\"done\":true,\"eval_count\":4}"},
     "ask  {\"a\":1};plain;",
     "\n" O("\"content\":\"Hi\"") "{\"message\":{\"content\":\"so\"},\"done\":false}\n" O(
         "\"content\":\"7\"") "{\"message\":{\"content\":\"\"},\"done\":true,\"eval_count\":13}\n",
     NULL},
    {"ollama: a last line without an end and without a call of ours is the server's",
     WEIR_DIALECT_OLLAMA,
     {"\n" O("\"content\":\"Hi\"") "{\"message\":{\"content\":\"\"},\"done\":true}"},
     "plain;",
     "\n" O("\"content\":\"Hi\"") "{\"message\":{\"content\":\"\"},\"done\":true}",
     ""},
    {"ollama: an error in a second leg whose last line is cut off",
     WEIR_DIALECT_OLLAMA,
     {O("\"content\":\"\",\"tool_calls\":[" O_CALL("weir_recall") "]")
          O_DONE("\"content\":\"\"", "9"),
      O("\"content\":\"It\"") "{\"error\":\"no room\"}\n{\"done\":tr"},
     "ask  {\"a\":1};plain;",
     O("\"content\":\"It\"") "{\"error\":\"it broke\"}\n",
     NULL},
    {"ollama: an error behind a call of ours is the client's",
     WEIR_DIALECT_OLLAMA,
     {O("\"content\":\"Hi\"") O("\"content\":\"\",\"tool_calls\":[" O_CALL(
         "weir_recall") "]") "{\"error\":\"no room\"}\n"},
     "plain;",
     O("\"content\":\"Hi\"") "{\"error\":\"no room\"}\n",
     ""},
    {"a stream that fails before anything was shown ends with an event",
     WEIR_DIALECT_CHAT,
     {OWN_CHAT("a", "0", "c1") FINISH("a", "tool_calls") DONE, "data: {"},
     "ask c1 {};plain;",
     DATA("{\"error\":{\"type\":\"weir_error\",\"message\":\"it broke\",\"param\":null,"
          "\"code\":\"weir\"}}"),
     NULL},
    {"converse: a call that has the number of one of ours",
     WEIR_DIALECT_CONVERSE,
     {C_START C_USE("0", "t1", "weir_recall") C_USE("0", "t2", "f")
          C_STOP("tool_use", "\"outputTokens\":9")},
     "plain;",
     C_START C_USE("0", "t2", "f") C_STOP("tool_use", "\"outputTokens\":9"),
     ""},
    {"converse: calls whose events alternate",
     WEIR_DIALECT_CONVERSE,
     {C_START C("contentBlockStart", "\"contentBlockIndex\":0,\"start\":{\"toolUse\":{"
                                     "\"toolUseId\":\"t1\",\"name\":\"weir_recall\"}}")
          C("contentBlockStart", "\"contentBlockIndex\":1,\"start\":{\"toolUse\":{"
                                 "\"toolUseId\":\"t2\",\"name\":\"f\"}}")
              C_DELTA("0", "\"toolUse\":{\"input\":\"{\\\"a\\\"\"}")
                  C_DELTA("1", "\"toolUse\":{\"input\":\"{}\"}")
                      C_DELTA("0", "\"toolUse\":{\"input\":\":1}\"}") C_END("1") C_END("0")
                          C_STOP("tool_use", "\"outputTokens\":9")},
     "beside t1 {\"a\":1};",
     C_START C("contentBlockStart", "\"contentBlockIndex\":0,\"start\":{\"toolUse\":{"
                                    "\"toolUseId\":\"t2\",\"name\":\"f\"}}")
         C_DELTA("0", "\"toolUse\":{\"input\":\"{}\"}") C_END("0")
             C_STOP("tool_use", "\"outputTokens\":9"),
     ""},
    {"converse: two legs with signed thinking",
     WEIR_DIALECT_CONVERSE,
     {C_START C_DELTA("0", "\"reasoningContent\":{\"text\":\"hm\"}")
          C_DELTA("0", "\"reasoningContent\":{\"signature\":\"s1\"}") C_END("0")
              C_DELTA("1", "\"text\":\"Hi\"") C_END("1") C_USE("2", "t1", "weir_recall")
                  C_STOP("tool_use", "\"outputTokens\":9,\"totalTokens\":14"),
      C_START C_DELTA("0", "\"text\":\"7\"") C_END("0")
          C_STOP("end_turn", "\"inputTokens\":30,\"outputTokens\":4,\"totalTokens\":34")},
     "ask t1 {\"a\":1};plain;",
     C_START C_DELTA("0", "\"reasoningContent\":{\"text\":\"hm\"}")
         C_DELTA("0", "\"reasoningContent\":{\"signature\":\"s1\"}") C_END("0")
             C_DELTA("1", "\"text\":\"Hi\"") C_END("1") C_DELTA("2", "\"text\":\"7\"") C_END("2")
                 C_STOP("end_turn", "\"inputTokens\":30,\"outputTokens\":13,\"totalTokens\":43"),
     "{\"role\":\"assistant\",\"content\":[{\"reasoningContent\":{\"reasoningText\":{\"text\":"
     "\"hm\",\"signature\":\"s1\"}}},{\"text\":\"Hi\"},{\"toolUse\":{\"toolUseId\":\"t1\","
     "\"name\":\"weir_recall\",\"input\":{\"a\":1}}}]},{\"role\":\"user\",\"content\":[{"
     "\"toolResult\":{\"toolUseId\":\"t1\",\"content\":[{\"text\":\"found 1\"}]}}]}\n"},
    {"converse: beside the client's calls",
     WEIR_DIALECT_CONVERSE,
     {C_START C_USE("0", "t1", "weir_recall") C_USE("1", "t2", "f")
          C_STOP("tool_use", "\"outputTokens\":9")},
     "beside t1 {\"a\":1};",
     C_START C_USE("0", "t2", "f") C_STOP("tool_use", "\"outputTokens\":9"),
     ""},
    {"converse: a second leg that breaks off",
     WEIR_DIALECT_CONVERSE,
     {C_START C_USE("0", "t1", "weir_recall") C_STOP("tool_use", "\"outputTokens\":9"),
      C_START C_DELTA("0", "\"text\":\"7\"")},
     "ask t1 {\"a\":1};plain;",
     C_START C_DELTA(
         "0", "\"text\":\"7\"") "event: error\ndata: {\"error\":{\"message\":\"it broke\"}}\n\n",
     NULL},
    {"messages: an answer without a call of ours is the provider's bytes",
     WEIR_DIALECT_MESSAGES,
     {START("m1", "5") PING THINK("0", "hm", "s1") SAY("1", "Hi") USE("2", "t1", "f")
          STOP("tool_use", "\"output_tokens\":9") ": x\n"},
     "plain;",
     START("m1", "5") PING THINK("0", "hm", "s1") SAY("1", "Hi") USE("2", "t1", "f")
         STOP("tool_use", "\"output_tokens\":9") ": x\n",
     ""},
    {"messages: two legs with signed thinking",
     WEIR_DIALECT_MESSAGES,
     {START("m1", "5") THINK("0", "hm", "s1") SAY("1", "Hi") USE("2", "t1", "weir_recall")
          STOP("tool_use", "\"output_tokens\":9"),
      START("m2", "30") PING THINK("0", "so", "s2") SAY("1", "7")
          STOP("end_turn", "\"output_tokens\":4")},
     "ask t1 {\"a\":1};plain;",
     START("m1", "5") THINK("0", "hm", "s1") SAY("1", "Hi") PING THINK("2", "so", "s2")
         SAY("3", "7") STOP("end_turn", "\"output_tokens\":13,\"input_tokens\":30"),
     "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
     "\"signature\":\"s1\"},{\"type\":\"text\",\"text\":\"Hi\"}," OWN_BLOCK(
         "t1") "]},"
               "{\"role\":\"user\",\"content\":[" RESULT_BLOCK("t1", "1") "]}\n"},
    {"messages: several calls of ours in two legs",
     WEIR_DIALECT_MESSAGES,
     {START("m1", "5") USE("0", "t1", "weir_recall") USE("1", "t2", "weir_recall")
          STOP("tool_use", "\"output_tokens\":9"),
      START("m2", "6") USE("0", "t3", "weir_recall") STOP("tool_use", "\"output_tokens\":1"),
      START("m3", "7") SAY("0", "7") STOP("end_turn", "\"input_tokens\":7,\"output_tokens\":4")},
     "ask t1 {\"a\":1} t2 {\"a\":1};ask t3 {\"a\":1};plain;",
     START("m1", "5") SAY("0", "7") STOP("end_turn", "\"input_tokens\":7,\"output_tokens\":14"),
     "{\"role\":\"assistant\",\"content\":[" OWN_BLOCK("t1") "," OWN_BLOCK(
         "t2") "]},"
               "{\"role\":\"user\",\"content\":[" RESULT_BLOCK("t1", "1") "," RESULT_BLOCK(
                   "t2", "2") "]}\n"
                              "{\"role\":\"assistant\",\"content\":[" OWN_BLOCK(
                                  "t3") "]},"
                                        "{\"role\":\"user\",\"content\":[" RESULT_BLOCK(
                                            "t3", "3") "]}\n"},
    {"messages: beside the client's calls",
     WEIR_DIALECT_MESSAGES,
     {START("m1", "5") SAY("0", "Hi") USE("1", "t1", "weir_recall") USE("2", "t2", "f")
          STOP("tool_use", "\"output_tokens\":9")},
     "beside t1 {\"a\":1};",
     START("m1", "5") SAY("0", "Hi") USE("1", "t2", "f") STOP("tool_use", "\"output_tokens\":9"),
     ""},
    {"messages: a call that the output limit cut is hidden, and nobody is asked",
     WEIR_DIALECT_MESSAGES,
     {START("m1", "5") SAY("0", "Hi") BEGIN("1", "\"type\":\"tool_use\",\"id\":\"t1\",\"name\":"
                                                 "\"weir_recall\",\"input\":{}")
          GROW("1", "\"input_json_delta\",\"partial_json\":\"{\\\"a\"") END("1")
              STOP("max_tokens", "\"output_tokens\":9")},
     "plain;",
     START("m1", "5") SAY("0", "Hi") STOP("max_tokens", "\"output_tokens\":9"),
     ""},
    {"messages: a second leg that breaks off",
     WEIR_DIALECT_MESSAGES,
     {START("m1", "5") SAY("0", "Hi") USE("1", "t1", "weir_recall")
          STOP("tool_use", "\"output_tokens\":9"),
      START("m2", "6") SAY("0", "7")},
     "ask t1 {\"a\":1};plain;",
     START("m1", "5") SAY("0", "Hi")
         SAY("1", "7") "event: error\ndata: "
                       "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":"
                       "\"it broke\"}}\n\n",
     NULL},
    {"messages: an error event in the second leg",
     WEIR_DIALECT_MESSAGES,
     {START("m1", "5") USE("0", "t1", "weir_recall") STOP("tool_use", "\"output_tokens\":9"),
      START("m2", "6") EVENT("error", "\"error\":{\"type\":\"overloaded_error\"}")},
     "ask t1 {\"a\":1};plain;",
     START("m1", "5") "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\","
                      "\"message\":\"it broke\"}}\n\n",
     NULL},
    {"messages: an error event in the first leg is the client's",
     WEIR_DIALECT_MESSAGES,
     {START("m1", "5") USE("0", "t1", "weir_recall")
          EVENT("error", "\"error\":{\"type\":\"overloaded_error\"}")},
     "plain;",
     START("m1", "5") EVENT("error", "\"error\":{\"type\":\"overloaded_error\"}"),
     ""},
    {"messages: whole answers",
     WEIR_DIALECT_MESSAGES,
     {"{\"id\":\"m1\",\"model\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}," OWN_BLOCK(
          "t1") "],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":1,"
                "\"output_tokens\":2}}",
      "{\"id\":\"m2\",\"model\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"7\"}],"
      "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}"},
     "ask t1 {\"a\":1};plain;",
     "{\"id\":\"m1\",\"model\":\"c\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"},{\"type\":"
     "\"text\",\"text\":\"7\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":3,"
     "\"output_tokens\":6}}",
     NULL},
    {"messages: whole, beside the client's calls",
     WEIR_DIALECT_MESSAGES,
     {"{\"id\":\"m1\",\"content\":[" OWN_BLOCK(
         "t1") ",{\"type\":\"tool_use\",\"id\":\"t2\","
               "\"name\":\"f\",\"input\":{}}],\"stop_reason\":\"tool_use\"}"},
     "beside t1 {\"a\":1};",
     "{\"id\":\"m1\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"f\",\"input\":{}"
     "}],\"stop_reason\":\"tool_use\"}",
     NULL},
    {"responses: an answer without a call of ours passes, but for our tool's definition",
     WEIR_DIALECT_RESPONSES,
     {CREATED("0", "r1", TOOLS_F "," TOOLS_OWN) ADDED("1", "0", MESSAGE("m1", ""))
          WORDS("2", "0", "m1", "Hi") ITEM_DONE("3", "0", MESSAGE("m1", "Hi"))
              COMPLETED("4", "r1", MESSAGE("m1", "Hi"), "5", "2", "7")},
     "plain;",
     CREATED("0", "r1", TOOLS_F) ADDED("1", "0", MESSAGE("m1", "")) WORDS("2", "0", "m1", "Hi")
         ITEM_DONE("3", "0", MESSAGE("m1", "Hi"))
             COMPLETED("4", "r1", MESSAGE("m1", "Hi"), "5", "2", "7"),
     ""},
    {"responses: two legs with encrypted reasoning",
     WEIR_DIALECT_RESPONSES,
     {CREATED("0", "r1", TOOLS_OWN) ADDED("1", "0", REASON("rs1"))
          ITEM_DONE("2", "0", REASON("rs1")) ADDED("3", "1", OWN_ITEM("fc1", "c1"))
              INPUT("4", "1", "fc1") ITEM_DONE("5", "1", OWN_ITEM("fc1", "c1"))
                  COMPLETED("6", "r1", REASON("rs1") "," OWN_ITEM("fc1", "c1"), "5", "2", "7"),
      CREATED("0", "r2", TOOLS_OWN) ADDED("1", "0", MESSAGE("m1", "")) WORDS("2", "0", "m1", "Hi")
          ITEM_DONE("3", "0", MESSAGE("m1", "Hi"))
              COMPLETED("4", "r2", MESSAGE("m1", "Hi"), "9", "4", "13")},
     "ask c1 {};plain;",
     CREATED("0", "r1", "") ADDED("1", "0", REASON("rs1")) ITEM_DONE("2", "0", REASON("rs1")) ADDED(
         "3", "1", MESSAGE("m1", "")) WORDS("4", "1", "m1", "Hi") ITEM_DONE("5", "1",
                                                                            MESSAGE("m1", "Hi"))
         R("response.completed", "6",
           "\"response\":{\"id\":\"r1\",\"model\":\"g\",\"status\":\"completed\","
           "\"output\":[" REASON("rs1") "," MESSAGE(
               "m1",
               "Hi") "],\"usage\":{\"input_tokens\":9,\"output_tokens\":6,"
                     "\"output_tokens_details\":{\"reasoning_tokens\":2},\"total_tokens\":15}}"),
     REASON("rs1") "," OWN_ITEM("fc1", "c1") "," OUTPUT("c1", "1") "\n"},
    {"responses: beside the client's calls, and a server that lists nothing at the end",
     WEIR_DIALECT_RESPONSES,
     {CREATED("0", "r1", "") ADDED("1", "0", OWN_ITEM("fc1", "c1")) INPUT("2", "0", "fc1")
          ITEM_DONE("3", "0", OWN_ITEM("fc1", "c1")) ADDED("4", "1", FUNCTION("fc2", "c2", "f"))
              INPUT("5", "1", "fc2") ITEM_DONE("6", "1", FUNCTION("fc2", "c2", "f"))
                  COMPLETED("7", "r1", "", "5", "2", "7")},
     "beside c1 {};",
     CREATED("0", "r1", "") ADDED("1", "0", FUNCTION("fc2", "c2", "f")) INPUT("2", "0", "fc2")
         ITEM_DONE("3", "0", FUNCTION("fc2", "c2", "f")) COMPLETED("4", "r1", "", "5", "2", "7"),
     ""},
    {"responses: a call cut by the output limit is hidden, and nobody is asked",
     WEIR_DIALECT_RESPONSES,
     {ADDED("1", "0", OWN_ITEM("fc1", "c1"))
          ITEM_DONE("2", "0",
                    "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":"
                    "\"weir_recall\",\"arguments\":\"{\\\"a\"}")
              R("response.incomplete", "3",
                "\"response\":{\"id\":\"r1\",\"status\":\"incomplete\",\"output\":[]}")},
     "plain;",
     R("response.incomplete", "0",
       "\"response\":{\"id\":\"r1\",\"status\":\"incomplete\",\"output\":[]}"),
     ""},
    {"responses: a second leg that fails",
     WEIR_DIALECT_RESPONSES,
     {CREATED("0", "r1", "") ITEM_DONE("1", "0", OWN_ITEM("fc1", "c1"))
          COMPLETED("2", "r1", "", "5", "2", "7"),
      CREATED("0", "r2", "")
          R("response.failed", "1", "\"response\":{\"id\":\"r2\",\"error\":{\"code\":\"x\"}}")},
     "ask c1 {};plain;",
     CREATED("0", "r1", "")
         R("response.failed", "1",
           "\"response\":{\"id\":\"r1\",\"object\":\"response\",\"created_at\":0,\"model\":\"g\","
           "\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":"
           "\"it broke\"},\"output\":[]}"),
     NULL},
    {"responses: whole answers",
     WEIR_DIALECT_RESPONSES,
     {WHOLE_R_OWN("r1", MESSAGE("m1", "Hm") "," OWN_ITEM("fc1", "c1"), "1", "2"),
      WHOLE_R_OWN("r2", REASON("rs2") "," MESSAGE("m2", "7"), "3", "4")},
     "ask c1 {};plain;",
     WHOLE_R("r1", MESSAGE("m1", "Hm") "," REASON("rs2") "," MESSAGE("m2", "7"), "3", "6"),
     MESSAGE("m1", "Hm") "," OWN_ITEM("fc1", "c1") "," OUTPUT("c1", "1") "\n"},
};

static void assert_text(const char *behaviour, const char *what, size_t piece, const char *expected,
                        const struct wr_buf *got)
{
    if (wr_span_is(wr_buf_view(got), expected))
        return;
    fail_msg("%s (%s, pieces of %zu):\n--- expected\n%s\n--- got\n%.*s", behaviour, what, piece,
             expected, (int)got->len, got->bytes);
}

static void legs_become_one_answer(void **state)
{
    static const size_t pieces[] = {SIZE_MAX, 1, 2, 3, 7, 64, 200};
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (size_t p = 0; p < WR_COUNT_OF(pieces); p++) {
            const struct join_case *c = &cases[i];
            bool is_stream = c->legs[0][0] != '{' || c->legs[0][strlen(c->legs[0]) - 1] == '\n';
            struct test_joined joined;
            test_join_run(&joined, wr_api_of(c->dialect), is_stream, c->legs, pieces[p]);
            assert_text(c->behaviour, "verdicts", pieces[p], c->said, &joined.said);
            assert_text(c->behaviour, "shown", pieces[p], c->shown, &joined.shown);
            if (c->elements)
                assert_text(c->behaviour, "elements", pieces[p], c->elements, &joined.elements);
            test_join_release(&joined);
        }
}

static void an_api_without_a_way_joins_nothing(void **state)
{
    struct wr_api bare = wr_api_chat;

    (void)state;
    bare.joiner = NULL;
    assert_null(wr_join_new(&bare, true));
    wr_join_free(NULL);
}

/* Pings come between events, and never into a whole answer. */
static void pings_do_not_cut_an_event(void **state)
{
    struct wr_join *join = wr_join_new(&wr_api_messages, true);
    struct wr_buf out;

    (void)state;
    assert_non_null(join);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_join_feed(join, WR_LIT("event: ping\nda"), &out);
    wr_join_ping(join, &out);
    assert_int_equal(out.len, 0);
    wr_join_feed(join, WR_LIT("ta: {\"type\":\"ping\"}\n\n"), &out);
    size_t len = out.len;
    wr_join_ping(join, &out);
    assert_true(out.len > len);
    wr_join_free(join);
    join = wr_join_new(&wr_api_messages, false);
    assert_non_null(join);
    len = out.len;
    wr_join_ping(join, &out);
    assert_int_equal(out.len, len);
    wr_join_free(join);
    wr_buf_release(&out);
}

static void ids_are_those_of_the_first_and_the_last_leg(void **state)
{
    static const char *const legs[] = {
        CREATED("0", "r1", "") ITEM_DONE("1", "0", OWN_ITEM("fc1", "c1"))
            COMPLETED("2", "r1", "", "5", "2", "7"),
        CREATED("0", "r2", "") ITEM_DONE("1", "0", MESSAGE("m1", "Hi"))
            COMPLETED("2", "r2", "", "5", "2", "7")};
    struct wr_join *join = wr_join_new(&wr_api_responses, true);
    struct wr_buf out;

    (void)state;
    assert_non_null(join);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_join_feed(join, wr_span_of(legs[0]), &out);
    assert_int_equal(wr_join_end_leg(join, &out), WR_JOIN_ASK);
    assert_true(wr_span_is(wr_join_id_last(join), "r1"));
    wr_join_set_result(join, 0, WR_LIT(""), true);
    wr_join_next(join);
    wr_join_feed(join, wr_span_of(legs[1]), &out);
    assert_int_equal(wr_join_end_leg(join, &out), WR_JOIN_PLAIN);
    assert_true(wr_span_is(wr_join_id_seen(join), "r1"));
    assert_true(wr_span_is(wr_join_id_last(join), "r2"));
    wr_join_free(join);
    wr_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_api_without_a_way_joins_nothing),
        cmocka_unit_test(pings_do_not_cut_an_event),
        cmocka_unit_test(ids_are_those_of_the_first_and_the_last_leg),
        cmocka_unit_test(legs_become_one_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
