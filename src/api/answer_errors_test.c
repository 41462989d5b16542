#include "api/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *code, *message;
    enum wr_answer_error error;
} errors[] = {
    {"Messages: too long", "invalid_request_error",
     "prompt is too long: 208310 tokens > 200000 maximum", WR_ANSWER_ERROR_CONTEXT},
    {"Messages: too many bytes", "request_too_large", "Request exceeds the maximum size",
     WR_ANSWER_ERROR_CONTEXT},
    {"Chat: too long", "context_length_exceeded",
     "This model's maximum context length is 128000 tokens.", WR_ANSWER_ERROR_CONTEXT},
    {"Responses: too long", "context_length_exceeded",
     "Your input exceeds the context window of this model.", WR_ANSWER_ERROR_CONTEXT},
    {"Responses: an answer that is not known", "previous_response_not_found",
     "Previous response with id 'resp_1' not found.", WR_ANSWER_ERROR_PREVIOUS},
    {"Messages: a thread that is not known", "thread_not_found", "", WR_ANSWER_ERROR_PREVIOUS},
    {"Messages: a call without its result", "invalid_request_error",
     "messages.14: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
     WR_ANSWER_ERROR_CONTINUATION},
    {"Messages: a result without its call", "invalid_request_error",
     "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1.",
     WR_ANSWER_ERROR_CONTINUATION},
    {"Responses: a call without its result", "", "No tool output found for function call call_X.",
     WR_ANSWER_ERROR_CONTINUATION},
    {"Responses: a result without its call", "",
     "No tool call found for function call output with call_id call_X.",
     WR_ANSWER_ERROR_CONTINUATION},
    {"Responses: a call without its reasoning", "",
     "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item.",
     WR_ANSWER_ERROR_CONTINUATION},
    {"Chat: a call without its result", "",
     "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
     "'tool_call_id'.",
     WR_ANSWER_ERROR_CONTINUATION},
    {"Chat: a result without its call", "",
     "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
     WR_ANSWER_ERROR_CONTINUATION},
    {"Gemini: too long", "INVALID_ARGUMENT",
     "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
     WR_ANSWER_ERROR_CONTEXT},
    {"Gemini: calls without their results", "INVALID_ARGUMENT",
     "Please ensure that the number of function response parts is equal to the number of function "
     "call parts of the function call turn.",
     WR_ANSWER_ERROR_CONTINUATION},
    {"a rate is no matter of context", "rate_limit_exceeded", "Too many tokens a minute",
     WR_ANSWER_ERROR_NONE},
    {"an overload neither", "overloaded_error", "Overloaded", WR_ANSWER_ERROR_NONE},
    {"nothing is said", "", "", WR_ANSWER_ERROR_NONE},
};

static void errors_are_known_in_all_apis(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(errors); i++)
        if (wr_answer_error_of(wr_span_of(errors[i].code), wr_span_of(errors[i].message)) !=
            errors[i].error)
            fail_msg("%s", errors[i].behaviour);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_known_in_all_apis)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
