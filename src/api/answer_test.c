#include "api/answer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

struct seen {
    struct wr_buf pieces;
};

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct seen *seen = user;
    wr_buf_byte(&seen->pieces, kind == WR_PIECE_TEXT ? 't' : 'k');
    wr_buf_append(&seen->pieces, text);
    wr_buf_byte(&seen->pieces, '|');
}

struct stream_case {
    const char *behaviour;
    weir_dialect dialect;
    const char *stream;
    weir_status status;
    const char *body;   /* with WEIR_OK */
    const char *pieces; /* NULL: not looked at */
};

#define EVENT(json) "data: " json "\n\n"

static const struct stream_case cases[] = {
    {"chat: text, then the end", WEIR_DIALECT_CHAT,
     EVENT("{\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}")
         EVENT("{\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}")
             EVENT("{\"choices\":[],\"usage\":{\"prompt_tokens\":7}}") EVENT("[DONE]"),
     WEIR_OK,
     "{\"model\":\"m\",\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"role\":"
     "\"assistant\",\"content\":\"Hello\"}}],\"usage\":{\"prompt_tokens\":7}}",
     "tHel|tlo|"},
    {"chat: a model's name is kept whole, be it a path with spaces", WEIR_DIALECT_CHAT,
     EVENT("{\"model\":\"/models/of a local server/that is longer than any name of a provider/"
           "q4.gguf\",\"choices\":[{\"delta\":{\"content\":\"Hi\"},"
           "\"finish_reason\":\"stop\"}]}"),
     WEIR_OK,
     "{\"model\":\"/models/of a local server/that is longer than any name of a provider/q4.gguf\","
     "\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\","
     "\"content\":\"Hi\"}}]}",
     "tHi|"},
    {"chat: two calls in pieces", WEIR_DIALECT_CHAT,
     EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{"
           "\"name\":\"f\",\"arguments\":\"{\\\"x\"}}]}}]}")
         EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{"
               "\"name\":\"g\",\"arguments\":\"{}\"}}]}}]}")
             EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
                   "\"arguments\":\"\\\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}"),
     WEIR_OK,
     "{\"choices\":[{\"finish_reason\":\"tool_calls\",\"message\":{\"role\":\"assistant\","
     "\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{"
     "\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}},{\"id\":\"b\",\"type\":\"function\","
     "\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}}]}",
     ""},
    {"chat: a stream that breaks off is no answer", WEIR_DIALECT_CHAT,
     EVENT("{\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}"), WEIR_INVALID, NULL, "tHel|"},
    {"responses: items as they came, encrypted ones too", WEIR_DIALECT_RESPONSES,
     EVENT("{\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}")
         EVENT("{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\","
               "\"encrypted_content\":\"gAAA\\/=\"}}")
             EVENT("{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\"}}")
                 EVENT("{\"type\":\"response.completed\",\"response\":{\"model\":\"m\",\"status\":"
                       "\"completed\",\"usage\":{\"input_tokens\":3}}}"),
     WEIR_OK,
     "{\"model\":\"m\",\"status\":\"completed\",\"output\":[{\"type\":\"reasoning\","
     "\"encrypted_content\":\"gAAA\\/=\"},{\"type\":\"message\"}],\"usage\":{\"input_tokens\":3}}",
     "tHi|"},
    {"responses: a failure is none", WEIR_DIALECT_RESPONSES,
     EVENT("{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"x\"}}}"),
     WEIR_INVALID, NULL, ""},
    {"messages: thinking keeps its signature, usage of both ends counts", WEIR_DIALECT_MESSAGES,
     EVENT("{\"type\":\"message_start\",\"message\":{\"model\":\"c\",\"usage\":{"
           "\"input_tokens\":5,\"output_tokens\":1}}}")
         EVENT("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
               "\"thinking\",\"thinking\":\"\"}}") EVENT("{\"type\":\"content_block_delta\","
                                                         "\"index\":0,\"delta\":{\"type\":"
                                                         "\"thinking_delta\",\"thinking\":\"hm\"}}")
             EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                   "\"signature_delta\",\"signature\":\"S1\"}}")
                 EVENT("{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":"
                       "\"redacted_thinking\",\"data\":\"zz\"}}")
                     EVENT("{\"type\":\"content_block_start\",\"index\":2,\"content_block\":{"
                           "\"type\":"
                           "\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}")
                         EVENT("{\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":"
                               "\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}")
                             EVENT("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_"
                                   "use\"},\"usage\":{"
                                   "\"output_tokens\":9}}") EVENT("{\"type\":\"message_stop\"}"),
     WEIR_OK,
     "{\"model\":\"c\",\"role\":\"assistant\",\"stop_reason\":\"tool_use\",\"content\":["
     "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"S1\"},"
     "{\"type\":\"redacted_thinking\",\"data\":\"zz\"},"
     "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"a\":1}}],"
     "\"usage\":{\"input_tokens\":5,\"output_tokens\":1,\"output_tokens\":9}}",
     "khm|"},
    {"messages: a call cut inside its arguments is no answer", WEIR_DIALECT_MESSAGES,
     EVENT("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
           "\"tool_use\",\"id\":\"t\",\"name\":\"f\"}}")
         EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"partial_json\":\"{"
               "\\\"a\"}}") EVENT("{\"type\":\"message_stop\"}"),
     WEIR_SYNTAX, NULL, NULL},
    {"messages: an error in the stream", WEIR_DIALECT_MESSAGES,
     EVENT("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"), WEIR_INVALID, NULL,
     NULL},
    {"chat: [DONE] ends it too", WEIR_DIALECT_CHAT,
     EVENT("{\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}") EVENT("[DONE]"), WEIR_OK,
     "{\"choices\":[{\"finish_reason\":\"\",\"message\":{\"role\":\"assistant\","
     "\"content\":\"Hi\"}}]}",
     "tHi|"},
    {"chat: another id is another call, whatever its number", WEIR_DIALECT_CHAT,
     EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{"
           "\"name\":\"f\",\"arguments\":\"{\"}}]}}]}")
         EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
               "\"arguments\":\"}\"}}]}}]}")
             EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\","
                   "\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]},"
                   "\"finish_reason\":\"stop\"}]}"),
     WEIR_OK,
     "{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\","
     "\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{"
     "\"name\":\"f\",\"arguments\":\"{}\"}},{\"id\":\"b\",\"type\":\"function\","
     "\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}}]}",
     ""},
    {"chat: what cannot be read is missing, so there is no answer", WEIR_DIALECT_CHAT,
     EVENT("{\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}") EVENT("{broken") EVENT("[DONE]"),
     WEIR_SYNTAX, NULL, NULL},
    {"responses: an item that is none, and items only at the end", WEIR_DIALECT_RESPONSES,
     EVENT("{\"type\":\"response.output_item.done\"}")
         EVENT("{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\","
               "\"output\":[{\"type\":\"message\"},{\"type\":\"reasoning\"}]}}"),
     WEIR_OK,
     "{\"status\":\"completed\",\"output\":[{\"type\":\"message\"},{\"type\":\"reasoning\"}]}", ""},
    {"responses: a gateway's [DONE] behind the end is nothing", WEIR_DIALECT_RESPONSES,
     EVENT("{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\","
           "\"output\":[{\"type\":\"message\"}]}}") EVENT("[DONE]"),
     WEIR_OK, "{\"status\":\"completed\",\"output\":[{\"type\":\"message\"}]}", ""},
    {"messages: nor is it there", WEIR_DIALECT_MESSAGES,
     EVENT("{\"type\":\"message_stop\"}") EVENT("[DONE]"), WEIR_OK,
     "{\"role\":\"assistant\",\"stop_reason\":\"\",\"content\":[]}", ""},
    {"messages: and it is not the end", WEIR_DIALECT_MESSAGES, EVENT("[DONE]"), WEIR_INVALID, NULL,
     NULL},
    {"gemini: pieces are one text, thoughts another; the last usage counts", WEIR_DIALECT_GEMINI,
     EVENT("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true}],"
           "\"role\":\"model\"}}],\"usageMetadata\":{\"promptTokenCount\":9},"
           "\"modelVersion\":\"m\",\"responseId\":\"r\"}")
         EVENT("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hel\"}]}}]}")
             EVENT("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"lo\"},"
                   "{\"text\":\"\",\"thoughtSignature\":\"s\"}]},\"finishReason\":\"STOP\"}],"
                   "\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":2,"
                   "\"thoughtsTokenCount\":3}}"),
     WEIR_OK,
     "{\"model\":\"m\",\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":["
     "{\"text\":\"hm\",\"thought\":true},{\"text\":\"Hello\",\"thoughtSignature\":\"s\"}]},"
     "\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9,"
     "\"candidatesTokenCount\":2,\"thoughtsTokenCount\":3}}",
     "khm|tHel|tlo|"},
    {"gemini: a call that is signed, in an answer that is wrapped", WEIR_DIALECT_GEMINI,
     EVENT("{\"response\":{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"id\":"
           "\"c\",\"name\":\"f\",\"args\":{\"a\": 1}},\"thoughtSignature\":\"s\"}]},"
           "\"finishReason\":\"STOP\"}]},\"traceId\":\"t\"}"),
     WEIR_OK,
     "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{"
     "\"id\":\"c\",\"name\":\"f\",\"args\":{\"a\": 1}},\"thoughtSignature\":\"s\"}]},"
     "\"finishReason\":\"STOP\"}]}",
     ""},
    {"gemini: a stream that breaks off is no answer", WEIR_DIALECT_GEMINI,
     EVENT("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hel\"}]}}]}"), WEIR_INVALID, NULL,
     "tHel|"},
    {"converse: words and thinking begin with their first piece, usage comes last",
     WEIR_DIALECT_CONVERSE,
     EVENT("{\"role\":\"assistant\"}") EVENT(
         "{\"contentBlockIndex\":0,\"delta\":{\"reasoningContent\":{\"text\":\"hm\"}}}")
         EVENT("{\"contentBlockIndex\":0,\"delta\":{\"reasoningContent\":{\"signature\":\"s\"}}}")
             EVENT("{\"contentBlockIndex\":0}") EVENT(
                 "{\"contentBlockIndex\":1,\"delta\":{\"text\":\"Hel\"},\"p\":\"abc\"}")
                 EVENT("{\"contentBlockIndex\":1,\"delta\":{\"text\":\"lo\"}}") EVENT(
                     "{\"contentBlockIndex\":2,\"start\":{\"toolUse\":{\"toolUseId\":\"c\","
                     "\"name\":\"f\"}}}")
                     EVENT("{\"contentBlockIndex\":2,\"delta\":{\"toolUse\":{\"input\":\"{}\"}}}")
                         EVENT("{\"stopReason\":\"tool_use\"}")
                             EVENT("{\"usage\":{\"inputTokens\":7,\"outputTokens\":2}}"),
     WEIR_OK,
     "{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":[{\"reasoningContent\":{"
     "\"reasoningText\":{\"text\":\"hm\",\"signature\":\"s\"}}},{\"text\":\"Hello\"},{\"toolUse\":{"
     "\"toolUseId\":\"c\",\"name\":\"f\",\"input\":{}}}]}},\"stopReason\":\"tool_use\",\"usage\":{"
     "\"inputTokens\":7,\"outputTokens\":2}}",
     "khm|tHel|tlo|"},
    {"converse: a part of a call that never began", WEIR_DIALECT_CONVERSE,
     EVENT("{\"contentBlockIndex\":0,\"delta\":{\"toolUse\":{\"input\":\"{}\"}}}")
         EVENT("{\"stopReason\":\"tool_use\"}"),
     WEIR_SYNTAX, NULL, NULL},
    {"converse: a stream that breaks off is no answer", WEIR_DIALECT_CONVERSE,
     EVENT("{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hel\"}}"), WEIR_INVALID, NULL, "tHel|"},
    {"ollama: lines; what is thought and said, and usage in the last", WEIR_DIALECT_OLLAMA,
     "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":"
     "\"hm\"},\"done\":false}\n"
     "{\"message\":{\"role\":\"assistant\",\"content\":\"Hel\"},\"done\":false}\r\n\n"
     "{\"message\":{\"role\":\"assistant\",\"content\":\"lo\"},\"done\":false}\n"
     "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":"
     "\"stop\",\"prompt_eval_count\":7,\"eval_count\":2}\n",
     WEIR_OK,
     "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"thinking\":\"hm\",\"content\":"
     "\"Hello\"},\"done\":true,\"done_reason\":\"stop\",\"usage\":{\"prompt_eval_count\":7,"
     "\"eval_count\":2}}",
     "khm|tHel|tlo|"},
    {"ollama: calls come whole; one without an id is given one", WEIR_DIALECT_OLLAMA,
     "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":"
     "\"f\",\"arguments\":{\"x\":1}}}]},\"done\":false}\n"
     "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
     WEIR_OK,
     "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\","
     "\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}}]},\"done\":true,\"done_reason\":"
     "\"stop\"}",
     ""},
    {"ollama: a stream that breaks off is no answer", WEIR_DIALECT_OLLAMA,
     "{\"message\":{\"content\":\"Hel\"},\"done\":false}\n", WEIR_INVALID, NULL, "tHel|"},
    {"ollama: an error in the stream", WEIR_DIALECT_OLLAMA,
     "{\"message\":{\"content\":\"Hel\"},\"done\":false}\n{\"error\":\"out of memory\"}\n",
     WEIR_INVALID, NULL, "tHel|"},
    {"gemini: an error in the stream", WEIR_DIALECT_GEMINI,
     EVENT("{\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}"),
     WEIR_INVALID, NULL, NULL},
    {"messages: a block that begins twice", WEIR_DIALECT_MESSAGES,
     EVENT("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"x\"}}")
         EVENT("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"y\"}}")
             EVENT("{\"type\":\"message_stop\"}"),
     WEIR_SYNTAX, NULL, NULL},
    {"messages: a part of what never began", WEIR_DIALECT_MESSAGES,
     EVENT("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"text\":\"x\"}}")
         EVENT("{\"type\":\"message_stop\"}"),
     WEIR_SYNTAX, NULL, NULL},
};

static void play(const struct stream_case *c, size_t chunk)
{
    struct wr_reply answer;
    struct wr_arena arena;
    struct seen seen;
    weir_span rest = wr_span_of(c->stream), body = {"", 0};

    wr_buf_init(&seen.pieces, 100000);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_answer_init(&answer, &(struct wr_answer_options){.api = wr_api_of(c->dialect),
                                                        .arena = &arena,
                                                        .keeps_all = true,
                                                        .on_piece = on_piece,
                                                        .user = &seen});
    while (rest.len) {
        size_t bytes = chunk < rest.len ? chunk : rest.len;
        wr_answer_feed(&answer, wr_span_cut(rest, 0, bytes));
        rest = wr_span_cut(rest, bytes, rest.len);
    }
    weir_status status = wr_answer_end(&answer, &body);
    if (status != c->status || (c->body && !wr_span_is(body, c->body)))
        fail_msg("%s (%zu bytes at a time): status %d\n%.*s", c->behaviour, chunk, (int)status,
                 (int)body.len, body.ptr);
    if (c->pieces && !wr_span_is(wr_buf_view(&seen.pieces), c->pieces))
        fail_msg("%s: shown %.*s", c->behaviour, (int)seen.pieces.len, seen.pieces.bytes);
    wr_answer_release(&answer);
    wr_arena_release(&arena);
    wr_buf_release(&seen.pieces);
}

static void streams_become_bodies_however_they_are_cut(void **state)
{
    static const size_t chunks[] = {1, 7, 100000};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (size_t j = 0; j < WR_COUNT_OF(chunks); j++)
            play(&cases[i], chunks[j]);
}

/* Their results need ids, and each its own. */
static void calls_without_an_id_of_their_own_get_one(void **state)
{
    static const char stream[] =
        EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":["
              "{\"index\":0,\"id\":\"\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
              "{\"index\":1,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
              "{\"index\":2,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
              "{\"index\":3,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"
              "]},\"finish_reason\":\"stop\"}]}");
    struct wr_reply s;
    struct wr_arena arena;
    weir_span body;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_answer_init(
        &s, &(struct wr_answer_options){.api = &wr_api_chat, .arena = &arena, .keeps_all = true});
    wr_answer_feed(&s, wr_span_of(stream));
    assert_int_equal(wr_answer_end(&s, &body), WEIR_OK);
    assert_int_equal(s.parts_count, 4);
    assert_true(wr_span_is(wr_buf_view(&s.parts[2].id), "a"));
    for (size_t i = 0; i < 4; i++) {
        assert_true(s.parts[i].id.len > 0);
        for (size_t j = 0; j < i; j++)
            assert_false(wr_span_eq(wr_buf_view(&s.parts[i].id), wr_buf_view(&s.parts[j].id)));
    }
    wr_answer_release(&s);
    wr_arena_release(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_without_an_id_of_their_own_get_one),
        cmocka_unit_test(streams_become_bodies_however_they_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
