/* Two legs of an answer joined, the answer sent back, and the exchange put into it. */
#include "tests/torture/torture.h"

#include "api/join.h"
#include "api/own.h"
#include "base/limits.h"
#include "base/span.h"

struct join_job {
    const struct wr_api *api;
    const char *legs[2];
    const char *request; /* the client's next */
};

#define CHUNK(delta, finish)                                                            \
    "data: {\"id\":\"a\",\"choices\":[{\"delta\":{" delta "},\"finish_reason\":" finish \
    "}],\"usage\":{\"completion_tokens\":2}}\n\n"
#define EVENT(type, rest) "data: {\"type\":\"" type "\",\"sequence_number\":1," rest "}\n\n"

#define CANDIDATE(id, parts, why)                                                  \
    "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]}" why \
    "}],\"usageMetadata\":{\"candidatesTokenCount\":2},\"responseId\":\"" id "\"}"
#define PARTS(id, parts, why) "data: " CANDIDATE(id, parts, why) "\n\n"
#define OWN_PART              "{\"functionCall\":{\"name\":\"weir_recall\",\"args\":{}}}"
#define CONTENTS(said, next)                                                                       \
    "{\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\"}]}],\"contents\":[{\"role\":\"user\"," \
    "\"parts\":[{\"text\":\"u\"}]},{\"role\":\"model\",\"parts\":[" said                           \
    "]},{\"role\":\"user\",\"parts\":[" next "]}]}"

static const struct join_job jobs[] = {
    {&wr_api_chat,
     {CHUNK("\"role\":\"assistant\",\"content\":\"A \",\"reasoning_content\":\"r\"", "null")
          CHUNK("\"tool_calls\":[{\"index\":0,\"id\":\"o1\",\"x\":1,\"function\":{\"name\":"
                "\"weir_\"}}]",
                "null") CHUNK("\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"recall\","
                              "\"arguments\":\"{}\"}}]",
                              "null") CHUNK("", "\"tool_calls\"") "data: [DONE]\n\n",
      CHUNK("\"role\":\"assistant\",\"content\":\"B\"", "null")
          CHUNK("", "\"stop\"") "data: [DONE]\n\n"},
     "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],\"messages\":[{\"role\":"
     "\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":\"A B\","
     "\"reasoning_content\":\"r s\"},{\"role\":\"user\",\"content\":\"v\"}]}"},
    {&wr_api_responses,
     {EVENT("response.created", "\"response\":{\"id\":\"r1\"}")
          EVENT("response.output_item.added",
                "\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m1\"}")
              EVENT("response.output_item.done",
                    "\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m1\",\"content\":[{"
                    "\"type\":\"output_text\",\"text\":\"A\"}]}")
                  EVENT("response.output_item.done",
                        "\"output_index\":1,\"item\":{\"type\":\"function_call\",\"id\":\"f1\","
                        "\"call_id\":\"o1\",\"name\":\"weir_recall\",\"arguments\":\"{}\"}")
                      EVENT("response.completed",
                            "\"response\":{\"id\":\"r1\",\"status\":\"completed\",\"output\":[1]}"),
      EVENT("response.created", "\"response\":{\"id\":\"r2\"}")
          EVENT("response.output_item.done",
                "\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m2\",\"content\":[{"
                "\"type\":\"output_text\",\"text\":\"B\"}]}")
              EVENT("response.completed",
                    "\"response\":{\"id\":\"r2\",\"status\":\"completed\",\"output\":[],"
                    "\"usage\":{\"output_tokens\":2}}")},
     "{\"tools\":[{\"type\":\"function\",\"name\":\"f\"}],\"input\":[{\"role\":\"user\","
     "\"content\":\"u\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":"
     "\"A\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"B\"}]},{"
     "\"role\":\"user\",\"content\":\"v\"}]}"},
    {&wr_api_messages,
     {"{\"id\":\"m1\",\"content\":[{\"type\":\"text\",\"text\":\"A\"},{\"type\":\"tool_use\","
      "\"id\":"
      "\"o1\",\"name\":\"weir_recall\",\"input\":{}}],\"stop_reason\":\"tool_use\"}",
      "{\"id\":\"m2\",\"content\":[{\"type\":\"text\",\"text\":\"B\"}],\"stop_reason\":"
      "\"end_turn\"}"},
     "{\"tools\":[{\"name\":\"f\",\"input_schema\":{}}],\"system\":\"s\",\"max_tokens\":9,"
     "\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":[{"
     "\"type\":\"text\",\"text\":\"A\"},{\"type\":\"text\",\"text\":\"B\"}]},{\"role\":\"user\","
     "\"content\":\"v\"}]}"},
    {&wr_api_messages,
     {EVENT("message_start", "\"message\":{\"id\":\"m1\"}")
          EVENT("content_block_start", "\"index\":0,\"content_block\":{\"type\":\"thinking\","
                                       "\"thinking\":\"h\"}")
              EVENT("content_block_delta", "\"index\":0,\"delta\":{\"signature\":\"s\"}")
                  EVENT("content_block_start",
                        "\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"o1\","
                        "\"name\":\"weir_recall\"}")
                      EVENT("message_delta", "\"delta\":{\"stop_reason\":\"tool_use\"}")
                          EVENT("message_stop", "\"x\":1"),
      EVENT("message_start", "\"message\":{\"id\":\"m2\",\"usage\":{\"input_tokens\":3}}") EVENT(
          "content_block_start", "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"B\"}")
          EVENT("message_delta", "\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
                                 "\"output_tokens\":2}") EVENT("message_stop", "\"x\":1")},
     "{\"tools\":[{\"name\":\"f\",\"input_schema\":{}}],\"system\":\"s\",\"max_tokens\":9,"
     "\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":"
     "\"B\"},{\"role\":\"user\",\"content\":\"v\"}]}"},
    {&wr_api_gemini,
     {PARTS("a", "{\"text\":\"h\",\"thought\":true}", "")
          PARTS("a", "{\"text\":\"A \"}," OWN_PART, ",\"finishReason\":\"STOP\""),
      PARTS("b", "{\"text\":\"B\"}", "")
          PARTS("b", "{\"functionCall\":{\"name\":\"f\"}}", ",\"finishReason\":\"STOP\"")},
     CONTENTS("{\"text\":\"A \"},{\"text\":\"B\"},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}",
              "{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":\"r\"}}}")},
    {&wr_api_gemini,
     {"[" CANDIDATE("a", "{\"text\":\"A \"}", "") "," CANDIDATE("a", OWN_PART,
                                                                ",\"finishReason\":\"STOP\"") "]",
      "[" CANDIDATE("b", "{\"text\":\"B\"}", ",\"finishReason\":\"STOP\"") "]"},
     CONTENTS("{\"text\":\"A B\"}", "{\"text\":\"v\"}")},
    {&wr_api_converse,
     {"event: contentBlockDelta\ndata: {\"contentBlockIndex\":0,\"delta\":{\"text\":\"A\"}}\n\n"
      "event: contentBlockStart\ndata: {\"contentBlockIndex\":1,\"start\":{\"toolUse\":{"
      "\"toolUseId\":\"o1\",\"name\":\"weir_recall\"}}}\n\n"
      "event: messageStop\ndata: {\"stopReason\":\"tool_use\"}\n\n",
      "event: contentBlockDelta\ndata: {\"contentBlockIndex\":0,\"delta\":{\"text\":\"B\"}}\n\n"
      "event: messageStop\ndata: {\"stopReason\":\"end_turn\"}\n\n"
      "event: metadata\ndata: {\"usage\":{\"outputTokens\":2}}\n\n"},
     "{\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"f\",\"inputSchema\":{\"json\":{}}}}]},"
     "\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"u\"}]},{\"role\":\"assistant\","
     "\"content\":[{\"text\":\"A\"},{\"text\":\"B\"}]},{\"role\":\"user\",\"content\":[{\"text\":"
     "\"v\"}]}]}"},
    {&wr_api_ollama,
     {"{\"message\":{\"content\":\"A\"},\"done\":false}\n"
      "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"weir_recall\","
      "\"arguments\":{}}}]},\"done\":false}\n"
      "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
      "{\"message\":{\"content\":\"B\"},\"done\":false}\n"
      "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"eval_count\":2}\n"},
     "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],\"messages\":[{\"role\":"
     "\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":\"AB\"},{\"role\":\"user\","
     "\"content\":\"v\"}]}"},
};

static weir_status join_legs(const struct join_job *job, struct wr_buf *shown,
                             struct wr_buf *exchange, wr_hash128 *seen)
{
    struct wr_join *join = wr_join_new(job->api, true);
    weir_status status = join ? WEIR_OK : WEIR_NOMEM;

    for (size_t i = 0; i < 2 && !status; i++) {
        weir_span bytes = wr_span_of(job->legs[i]);
        size_t half = bytes.len / 2;
        if (i)
            wr_join_next(join);
        wr_join_feed(join, wr_span_cut(bytes, 0, half), shown);
        wr_join_feed(join, wr_span_from(bytes, half), shown);
        enum wr_join_verdict verdict = wr_join_end_leg(join, shown);
        if (verdict == WR_JOIN_ASK)
            wr_join_set_result(join, 0, WR_LIT("found"), false);
        if (wr_join_is_broken(join) || (verdict == WR_JOIN_ASK && !wr_join_elements(join).ptr))
            status = WEIR_NOMEM;
        else if ((verdict == WR_JOIN_ASK) != (i == 0))
            status = WEIR_INVALID;
    }
    if (!status)
        wr_join_finish(join, shown);
    if (!status && (wr_join_is_broken(join) || !wr_join_exchange(join, exchange, seen)))
        status = WEIR_NOMEM;
    wr_join_free(join);
    return status ? status : wr_buf_status(shown);
}

static weir_status put_back(const struct join_job *job, struct wr_arena *arena, weir_span exchange,
                            wr_hash128 seen, struct wr_buf *out)
{
    struct wr_api_options options = {.dialect = job->api->name};
    const struct wr_own_answer *answers = NULL;
    struct wr_own_view view = {.puts_count = 1, .elements = WR_LIT("{\"e\":1}")};
    struct wr_buf definition;
    struct wr_transcript t;
    struct wr_json doc;
    uint32_t count = 0, left_out = 0;

    wr_buf_init(&definition, WR_OUTPUT_BYTES_MAX);
    wr_own_definition(job->api, &definition);
    weir_status status = wr_buf_status(&definition);
    if (!status)
        status = wr_json_parse(&doc, arena, wr_span_of(job->request), NULL, NULL);
    if (!status)
        status = wr_api_read(&t, arena, &doc, &options, NULL);
    if (!status)
        status = wr_own_answers(&t, arena, &answers, &count);
    if (!status && (count != 1 || answers->seen.low != seen.low))
        status = WEIR_INVALID;
    struct wr_own_put put = {.answer = answers, .exchange = exchange};
    view.puts = &put;
    view.definition = wr_buf_view(&definition);
    if (!status)
        status = wr_own_view_write(&t, arena, &view, out, &left_out);
    if (!status && left_out)
        status = WEIR_INVALID;
    wr_buf_release(&definition);
    return status;
}

weir_status torture_join(void)
{
    struct wr_buf shown, exchange;
    weir_status status = WEIR_OK;

    wr_buf_init(&shown, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < WR_COUNT_OF(jobs) && !status; i++) {
        struct wr_arena arena;
        wr_hash128 seen;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&exchange, WR_OUTPUT_BYTES_MAX);
        status = join_legs(&jobs[i], &shown, &exchange, &seen);
        if (!status)
            status = put_back(&jobs[i], &arena, wr_buf_view(&exchange), seen, &shown);
        wr_buf_release(&exchange);
        wr_arena_release(&arena);
    }
    if (!status)
        torture_tell(wr_buf_view(&shown));
    wr_buf_release(&shown);
    return status;
}
