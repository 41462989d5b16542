/* record_quality.h -- signs of how a task goes, read from one request and the answer to it.
 *
 * Each sign is a count of what was seen in this request or answer and not in one before, so that
 * the sum over a session's requests is the session's. They are figures, never text. The names with
 * "task_quality_" before them are those of the log.
 */
#ifndef WR_ENGINE_RECORD_QUALITY_H
#define WR_ENGINE_RECORD_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

#define WR_QUALITY_MAP(X)                                                                     \
    X(upstream_context_errors, "the provider said that the prompt is too long")               \
    X(previous_response_not_found, "the provider does not know the answer that is named")     \
    X(invalid_tool_call_continuation, "the provider refused a call without its result, or "   \
                                      "a result without its call")                            \
    X(missing_artifact_requests, "a recall that brought nothing back")                        \
    X(repeated_tool_call_count, "a call like one before, with nothing changed between")       \
    X(model_reread_requests, "a read of a file whose earlier read had been taken out")        \
    X(corrective_user_messages, "the user said that it is wrong, or to do it again")          \
    X(test_or_build_failed_after_rewrite, "a test or build that passed before and fails now") \
    X(test_or_build_failed, "the same in any prompt, also one that nobody has changed")       \
    X(failed_edits, "an edit whose old text is not in the file")                              \
    X(blind_edits, "of those, one whose file the model had last seen shortened")              \
    X(placeholders_written, "our own placeholder in what the model wrote into a file")        \
    X(task_completed, "an answer that ends the loop")                                         \
    X(additional_turns_before_completion, "model outputs of a loop after its first edit")     \
    X(final_total_input_tokens, "input of the answer that ended the loop")                    \
    X(recalls, "recalls that brought something back")

struct wr_quality {
#define X(name, text) uint64_t name;
    WR_QUALITY_MAP(X)
#undef X
    bool is_recall_only; /* the request brings results of recalls and nothing else */
};

#endif
