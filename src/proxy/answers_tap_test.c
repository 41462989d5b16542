#include "proxy/answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

/* What a tap has read, in one line. */
static void show(const struct wr_tap *tap, struct wr_buf *out)
{
    wr_buf_printf(
        out, "%.*s in=%lld out=%lld read=%lld write=%lld", (int)tap->answer.id.len,
        tap->answer.id.len ? tap->answer.id.bytes : "", (long long)tap->answer.usage.input_tokens,
        (long long)tap->answer.usage.output_tokens, (long long)tap->answer.usage.cache_read_tokens,
        (long long)tap->answer.usage.cache_write_tokens);
    for (size_t i = 0; i < tap->answer.parts_count; i++) {
        const struct wr_part *call = &tap->answer.parts[i];
        wr_buf_printf(out, " %.*s:%.*s(%.*s%s)", (int)call->id.len,
                      call->id.len ? call->id.bytes : "", (int)call->name.len,
                      call->name.len ? call->name.bytes : "", (int)call->text.len,
                      call->text.len ? call->text.bytes : "", call->is_cut ? "cut" : "");
    }
    if (tap->answer.has_error)
        wr_buf_printf(out, " error=%s", tap->answer.error);
    wr_buf_text(out, tap->answer.is_finished ? " finished" : "");
}

static const struct {
    const char *behaviour;
    const struct wr_api *api;
    const char *type, *input, *expected;
} cases[] = {
    {"a chat stream with a call in pieces", &wr_api_chat, "text/event-stream; charset=utf-8",
     "data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
     "data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\","
     "\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\n"
     "data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
     "\"arguments\":\"{\\\"a\\\"\"}},{\"index\":1,\"id\":\"t2\",\"function\":{\"name\":\"g\","
     "\"arguments\":\"{}\"}}]}}]}\n\n"
     "data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
     "\"arguments\":\":1}\"}}]}}]}\n\n"
     "data: {\"id\":\"c1\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,"
     "\"prompt_tokens_details\":{\"cached_tokens\":4,\"cache_write_tokens\":3}}}\n\n"
     "data: [DONE]\n\n",
     "c1 in=9 out=2 read=4 write=3 t1:f({\"a\":1}) t2:g({}) finished"},
    {"usage that is not given is unknown", &wr_api_chat, "text/event-stream",
     "data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n"
     "data: [DONE]\n\n",
     "c1 in=-1 out=-1 read=-1 write=-1 finished"},
    {"a response's items and its end", &wr_api_responses, "text/event-stream",
     "event: response.created\ndata: "
     "{\"type\":\"response.created\",\"response\":{\"id\":\"r1\"}}\n\n"
     "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{"
     "\"type\":\"function_call\",\"call_id\":\"k1\",\"name\":\"f\",\"arguments\":\"{}\"}}\n\n"
     "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{"
     "\"type\":\"custom_tool_call\",\"call_id\":\"k2\",\"name\":\"p\",\"input\":\"x\\ny\"}}\n\n"
     "event: response.completed\ndata: "
     "{\"type\":\"response.completed\",\"response\":{\"id\":\"r1\","
     "\"output\":[{\"type\":\"function_call\",\"call_id\":\"k1\"}],\"usage\":{\"input_tokens\":7,"
     "\"output_tokens\":1,\"input_tokens_details\":{\"cached_tokens\":5,\"cache_write_tokens\":2}}}"
     "}"
     "\n\n",
     "r1 in=7 out=1 read=5 write=2 k1:f({}) k2:p(x\ny) finished"},
    {"a response that failed", &wr_api_responses, "text/event-stream",
     "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r1\","
     "\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"no\"}}}\n\n",
     "r1 in=-1 out=-1 read=-1 write=-1 error=context_length_exceeded finished"},
    {"a message and its last figures", &wr_api_messages, "text/event-stream",
     "event: message_start\ndata: "
     "{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"usage\":{"
     "\"input_tokens\":3,\"cache_read_input_tokens\":8,\"cache_creation_input_tokens\":4,"
     "\"output_tokens\":1}}}\n\n"
     "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,"
     "\"content_block\":{\"type\":\"tool_use\",\"id\":\"u1\",\"name\":\"f\",\"input\":{}}}\n\n"
     "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{"
     "\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"p\\\":\"}}\n\n"
     "event: ping\ndata: {\"type\":\"ping\"}\n\n"
     "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{"
     "\"type\":\"input_json_delta\",\"partial_json\":\"2}\"}}\n\n"
     "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20}}\n\n"
     "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
     "m1 in=3 out=20 read=8 write=4 u1:f({\"p\":2}) finished"},
    {"an error in a stream of messages", &wr_api_messages, "text/event-stream",
     "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
     " in=-1 out=-1 read=-1 write=-1 error=overloaded_error"},
    {"a whole message", &wr_api_messages, "application/json",
     "{\"id\":\"m1\",\"content\":[{\"type\":\"tool_use\",\"id\":\"u1\",\"name\":\"f\",\"input\":{"
     "\"a\": 1}}],\"usage\":{\"input_tokens\":3,\"output_tokens\":2}}",
     "m1 in=3 out=2 read=-1 write=-1 u1:f({\"a\": 1}) finished"},
    {"a whole chat answer", &wr_api_chat, "application/json",
     "{\"id\":\"c1\",\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"t1\",\"function\":{"
     "\"name\":\"f\",\"arguments\":\"{}\"}}]}}],\"usage\":{\"prompt_tokens\":1}}",
     "c1 in=1 out=-1 read=-1 write=-1 t1:f({}) finished"},
    {"a whole response", &wr_api_responses, "application/json",
     "{\"id\":\"r1\",\"output\":[{\"type\":\"function_call\",\"call_id\":\"k\",\"name\":\"f\","
     "\"arguments\":\"{}\"}],\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}",
     "r1 in=1 out=2 read=-1 write=-1 k:f({}) finished"},
    {"a stream of Gemini's: the last usage, thoughts counted", &wr_api_gemini, "text/event-stream",
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"usageMetadata\":{"
     "\"promptTokenCount\":1},\"responseId\":\"r1\"}\r\n\r\n"
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\","
     "\"args\":{}}}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9,"
     "\"cachedContentTokenCount\":4,\"candidatesTokenCount\":2,\"thoughtsTokenCount\":5},"
     "\"responseId\":\"r1\"}\r\n\r\n",
     "r1 in=9 out=7 read=4 write=-1 :f({}) finished"},
    {"the same as one JSON array", &wr_api_gemini, "application/json; charset=UTF-8",
     "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"responseId\":\"r1\"}\n,"
     "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\"}}]},"
     "\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":9,"
     "\"toolUsePromptTokenCount\":3,\"candidatesTokenCount\":2}}]",
     "r1 in=12 out=2 read=-1 write=-1 :f({}) finished"},
    {"and wrapped", &wr_api_gemini, "application/json",
     "{\"response\":{\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{"
     "\"promptTokenCount\":9}}}",
     " in=9 out=-1 read=-1 write=-1 finished"},
    {"an error of Gemini's", &wr_api_gemini, "application/json",
     "[{\"error\":{\"code\":400,\"message\":\"no\",\"status\":\"INVALID_ARGUMENT\"}}]",
     " in=-1 out=-1 read=-1 write=-1 error=INVALID_ARGUMENT finished"},
    {"lines of Ollama's, the last without its end", &wr_api_ollama, "application/x-ndjson",
     "{\"message\":{\"content\":\"a\"},\"done\":false}\r\n{\"message\":{\"content\":\"\"},"
     "\"done\":true,\"prompt_eval_count\":9,\"eval_count\":2}",
     " in=9 out=2 read=-1 write=-1 finished"},
    {"lines that are called JSON", &wr_api_ollama, "application/json",
     "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"content\":\"\"},"
     "\"done\":true,\"prompt_eval_count\":9,\"eval_count\":2}\n",
     " in=9 out=2 read=-1 write=-1 finished"},
    {"an error body", &wr_api_chat, "application/json",
     "{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}}",
     " in=-1 out=-1 read=-1 write=-1 error=rate_limit_exceeded finished"},
    {"what is not JSON is left", &wr_api_chat, "application/json", "<html>",
     " in=-1 out=-1 read=-1 write=-1"},
    {"odd events are left", &wr_api_messages, "text/event-stream",
     "event: message_start\ndata: [1]\n\nevent: content_block_start\ndata: {\"type\":"
     "\"content_block_start\"}\n\nevent: message_delta\ndata: {\n\n"
     "data: {\"type\":\"content_block_delta\",\"x\":\"input_json_delta\"}\n\n",
     " in=-1 out=-1 read=-1 write=-1"},
    {"other kinds are not read", &wr_api_chat, "text/html", "{\"id\":\"c1\"}",
     " in=-1 out=-1 read=-1 write=-1"},
};

static void run(size_t i, size_t piece, struct wr_buf *out)
{
    struct wr_head head = {.headers_count = 1};
    weir_span rest = wr_span_of(cases[i].input);
    struct wr_arena arena;
    struct wr_tap tap;

    head.headers[0] = (struct wr_header){WR_LIT("Content-Type"), wr_span_of(cases[i].type)};
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_tap_init(&tap, cases[i].api, &head, &arena);
    while (rest.len) {
        size_t bytes = rest.len < piece ? rest.len : piece;
        wr_tap_feed(&tap, wr_span_cut(rest, 0, bytes));
        rest = wr_span_cut(rest, bytes, rest.len);
    }
    wr_tap_end(&tap);
    show(&tap, out);
    wr_tap_release(&tap);
    wr_arena_release(&arena);
}

static void answers_are_read_however_they_are_cut(void **state)
{
    static const size_t pieces[] = {1, 2, 3, 13, 100, 1000000};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        for (size_t n = 0; n < WR_COUNT_OF(pieces); n++) {
            struct wr_buf out;
            wr_buf_init(&out, 4096);
            run(i, pieces[n], &out);
            if (!wr_span_is(wr_buf_view(&out), cases[i].expected))
                fail_msg("%s (pieces of %zu): %.*s", cases[i].behaviour, pieces[n], (int)out.len,
                         out.bytes);
            wr_buf_release(&out);
        }
}

/* Some providers say it once and send empty words behind it. */
static void the_reason_of_the_end_is_kept(void **state)
{
    static const char stream[] =
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n"
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"\"}]}\n\n"
        "data: [DONE]\n\n";
    struct wr_head head = {.headers_count = 1};
    struct wr_arena arena;
    struct wr_tap tap;
    (void)state;
    head.headers[0] = (struct wr_header){WR_LIT("Content-Type"), WR_LIT("text/event-stream")};
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_tap_init(&tap, &wr_api_chat, &head, &arena);
    wr_tap_feed(&tap, wr_span_of(stream));
    wr_tap_end(&tap);
    assert_string_equal(tap.answer.finish, "length");
    wr_tap_release(&tap);
    wr_arena_release(&arena);
}

static void calls_have_caps(void **state)
{
    struct wr_reply answer;
    char piece[1024];
    (void)state;
    memset(piece, 'x', sizeof(piece));
    wr_answer_init(&answer, &(struct wr_answer_options){.api = &wr_api_chat});
    for (int64_t i = 0; i < WR_PROXY_CALLS_MAX + 5; i++)
        (void)wr_answer_part(&answer, WR_PART_CALL, i);
    assert_int_equal(answer.parts_count, WR_PROXY_CALLS_MAX);
    for (size_t i = 0; i < WR_PROXY_CALL_BYTES_MAX / sizeof(piece) + 2; i++)
        wr_answer_extend(&answer, &answer.parts[0], (weir_span){piece, sizeof(piece)});
    assert_true(answer.parts[0].is_cut);
    assert_int_equal(answer.parts[0].text.len, 0);
    wr_answer_release(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_read_however_they_are_cut),
                                       cmocka_unit_test(the_reason_of_the_end_is_kept),
                                       cmocka_unit_test(calls_have_caps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
