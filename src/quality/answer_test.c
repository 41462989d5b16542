#include "quality/answer.h"

#include <setjmp.h>
#include <stdarg.h>
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
    {"a rate is no matter of context", "rate_limit_exceeded", "Too many tokens a minute",
     WR_ANSWER_ERROR_NONE},
    {"an overload neither", "overloaded_error", "Overloaded", WR_ANSWER_ERROR_NONE},
    {"nothing is said", "", "", WR_ANSWER_ERROR_NONE},
};

static void errors_are_known_in_all_three_apis(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (wr_answer_error_of(wr_span_of(errors[i].code), wr_span_of(errors[i].message)) !=
            errors[i].error)
            fail_msg("%s", errors[i].behaviour);
}

static const struct {
    const char *behaviour, *finish;
    uint32_t calls;
    enum wr_answer_error error;
    bool is_completed;
} ends[] = {
    {"Chat: it stops", "stop", 0, WR_ANSWER_ERROR_NONE, true},
    {"Messages: its turn ends", "end_turn", 0, WR_ANSWER_ERROR_NONE, true},
    {"Responses: it is completed", "completed", 0, WR_ANSWER_ERROR_NONE, true},
    {"a call goes on", "completed", 1, WR_ANSWER_ERROR_NONE, false},
    {"a limit is no end", "max_tokens", 0, WR_ANSWER_ERROR_NONE, false},
    {"nor is a refusal", "refusal", 0, WR_ANSWER_ERROR_NONE, false},
    {"nor an error", "stop", 0, WR_ANSWER_ERROR_CONTEXT, false},
    {"nor silence", "", 0, WR_ANSWER_ERROR_NONE, false},
};

static void a_loop_ends_with_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct wr_quality q = {0};
        struct wr_answer_seen seen = {.error = ends[i].error,
                                      .finish = wr_span_of(ends[i].finish),
                                      .calls_count = ends[i].calls,
                                      .input_tokens = 700,
                                      .outputs_after_edit = 3};
        wr_quality_answer(&seen, &q);
        if (q.task_completed != ends[i].is_completed ||
            q.additional_turns_before_completion != (ends[i].is_completed ? 3 : 0) ||
            q.final_total_input_tokens != (ends[i].is_completed ? 700 : 0))
            fail_msg("%s", ends[i].behaviour);
    }
}

static void a_prompt_too_long_is_counted_however_it_shows(void **state)
{
    struct wr_quality q = {0};
    (void)state;
    wr_quality_answer(
        &(struct wr_answer_seen){.finish = WR_LIT("stop"), .is_overflow_retried = true}, &q);
    assert_int_equal(q.upstream_context_errors, 1);
    assert_int_equal(q.task_completed, 1);
    wr_quality_answer(&(struct wr_answer_seen){.finish = WR_LIT("model_context_window_exceeded")},
                      &q);
    assert_int_equal(q.upstream_context_errors, 2);
    /* The second try was too long as well: it is still one request that did not fit. */
    wr_quality_answer(
        &(struct wr_answer_seen){.error = WR_ANSWER_ERROR_CONTEXT, .is_overflow_retried = true},
        &q);
    assert_int_equal(q.upstream_context_errors, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_known_in_all_three_apis),
        cmocka_unit_test(a_loop_ends_with_words),
        cmocka_unit_test(a_prompt_too_long_is_counted_however_it_shows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
