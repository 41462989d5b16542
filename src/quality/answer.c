#include "quality/answer.h"

#include "base/ascii.h"
#include "base/span.h"
#include "models/overflow.h"

enum { MESSAGE_BYTES_MAX = 1024 };

static weir_span lower(weir_span text, char into[MESSAGE_BYTES_MAX])
{
    size_t bytes = text.len < MESSAGE_BYTES_MAX ? text.len : MESSAGE_BYTES_MAX;
    for (size_t i = 0; i < bytes; i++)
        into[i] = wr_ascii_lower(text.ptr[i]);
    return (weir_span){into, bytes};
}

static bool holds_any(weir_span text, const char *const *words)
{
    for (; *words; words++)
        if (wr_span_find(text, wr_span_of(*words), 0) != SIZE_MAX)
            return true;
    return false;
}

/* Of Responses, Messages and Chat Completions, in this order. */
static const char *const continuations[] = {
    "no tool output found for",
    "no tool call found for",
    "without its required",
    "ids were found without `tool_result` blocks",
    "must have a corresponding `tool_result` block",
    "must have a corresponding `tool_use` block",
    "unexpected `tool_use_id`",
    "must be followed by tool messages",
    "must be a response to a preceeding message", /* spelt so by the provider */
    "must be a response to a preceding message",
    "did not have response messages",
    NULL};

static const char *const contexts[] = {"context_length_exceeded", "request_too_large", NULL};

static const char *const previous[] = {"previous_response_not_found", "thread_not_found", NULL};

enum wr_answer_error wr_answer_error_of(weir_span code, weir_span message)
{
    char small[MESSAGE_BYTES_MAX];
    struct wr_overflow overflow;
    weir_span text = lower(message, small);

    if (holds_any(code, previous) ||
        (wr_span_find(text, WR_LIT("previous response"), 0) != SIZE_MAX &&
         wr_span_find(text, WR_LIT("not found"), 0) != SIZE_MAX))
        return WR_ANSWER_ERROR_PREVIOUS;
    if (holds_any(text, continuations))
        return WR_ANSWER_ERROR_CONTINUATION;
    if (holds_any(code, contexts) || wr_overflow_read(message, &overflow))
        return WR_ANSWER_ERROR_CONTEXT;
    return WR_ANSWER_ERROR_NONE;
}

/* The words with which a model says that it is done; a limit, a refusal and a pause are not. */
static bool ends_loop(weir_span finish)
{
    return wr_span_is(finish, "stop") || wr_span_is(finish, "end_turn") ||
           wr_span_is(finish, "stop_sequence") || wr_span_is(finish, "completed");
}

void wr_quality_answer(const struct wr_answer_seen *seen, struct wr_quality *quality)
{
    /* A request that did not fit is one, in whichever ways it was told so. */
    quality->upstream_context_errors += seen->error == WR_ANSWER_ERROR_CONTEXT ||
                                        seen->is_overflow_retried ||
                                        wr_span_is(seen->finish, "model_context_window_exceeded");
    quality->previous_response_not_found += seen->error == WR_ANSWER_ERROR_PREVIOUS;
    quality->invalid_tool_call_continuation += seen->error == WR_ANSWER_ERROR_CONTINUATION;
    if (seen->error != WR_ANSWER_ERROR_NONE || seen->calls_count || !ends_loop(seen->finish))
        return;
    quality->task_completed++;
    quality->additional_turns_before_completion += seen->outputs_after_edit;
    quality->final_total_input_tokens += seen->input_tokens;
}
