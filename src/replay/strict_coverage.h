/* strict_coverage.h -- which of the hard cases a corpus really holds, seen in its requests.
 *
 * Labels count for nothing: a file that says "large diff" covers large diffs only if there is one.
 */
#ifndef WR_REPLAY_STRICT_COVERAGE_H
#define WR_REPLAY_STRICT_COVERAGE_H

#include "replay/strict_check.h"

#define WR_COVER_MAP(X)                                                                    \
    X(CONTINUATION, "continuation_30_turns")   /* one case of 30 requests or more */       \
    X(REPEATED_BUILD, "repeated_build_output") /* what a command printed, printed again */ \
    X(COMPILER_ERROR, "compiler_errors")       /* an error with a place */                 \
    X(RUNTIME_ERROR, "runtime_errors")         /* the frame of a stack */                  \
    X(LARGE_DIFF, "large_diffs")                                                           \
    X(NAVIGATION, "repository_navigation")     /* three searches and listings */           \
    X(REFACTORING, "multi_file_refactoring")   /* three files changed */                   \
    X(INSTRUCTIONS, "changing_instructions")   /* between two requests of a case */        \
    X(MISSING_ARTIFACT, "missing_artifacts")   /* a handle that led nowhere */             \
    X(CORRUPT_ARTIFACT, "corrupted_artifacts") /* one whose text had other bytes */        \
    X(DUPLICATE_CALLS, "duplicate_tool_calls") /* the same tool and arguments */           \
    X(BINARY_NOISE, "noisy_binary_output")                                                 \
    X(FAILURE_RECOVERY, "failure_recovery") /* a command that failed, then did not */      \
    X(WINDOW_16K, "window_16k")                                                            \
    X(WINDOW_32K, "window_32k")                                                            \
    X(WINDOW_128K, "window_128k")                                                          \
    X(WINDOW_200K, "window_200k")

enum wr_cover {
#define X(name, text) WR_COVER_##name,
    WR_COVER_MAP(X)
#undef X
        WR_COVERS
};

#define WR_COVER_BIT(name) (UINT32_C(1) << WR_COVER_##name)

const char *wr_cover_text(enum wr_cover cover);

/* What the case shows before anything is run: its turns and its window. */
uint32_t wr_cover_case(const struct wr_case *c);

/* What one request as it came shows. Fails only for lack of memory. */
WEIR_MUST_USE weir_status wr_cover_request(const struct wr_strict_body *in, struct wr_arena *arena,
                                           uint32_t *covered);

/* A hash of all that instructs the model: it differs where the instructions changed. */
uint64_t wr_cover_instructions(const struct wr_strict_body *in, struct wr_arena *arena);

#endif
