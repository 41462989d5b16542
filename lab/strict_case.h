/* strict_case.h -- cases of a strict replay: requests, and what must be true of what is sent.
 *
 * A file is `{"scenarios":[...]}`; docs/replay.md has every field. A case is a list of turns. A
 * turn is a whole request body, or the messages (items) that the last one has grown by.
 */
#ifndef WR_LAB_STRICT_CASE_H
#define WR_LAB_STRICT_CASE_H

#include "json/json.h"
#include "transcript/transcript.h"
#include "weir/handle.h"

enum wr_case_mode {
    WR_CASE_ACTIVE,
    WR_CASE_SHADOW, /* decided, and the request sent as it came */
    WR_CASE_EXACT,
};

enum wr_case_outcome { WR_CASE_ANY, WR_CASE_REWRITE, WR_CASE_PASS_THROUGH };

/* What has become of the store before a turn. */
enum wr_case_trouble {
    WR_CASE_SOUND,
    WR_CASE_MISSING, /* what was stored so far is gone */
    WR_CASE_CORRUPT, /* what was stored so far has other bytes */
    WR_CASE_LOCKED,  /* nothing can be written in this turn */
};

struct wr_case_texts {
    weir_span *items;
    uint32_t count;
};

struct wr_case_turn {
    wr_json_id request;              /* a whole body; NONE: the last one, grown by `append` */
    wr_json_id append;               /* an array, or NONE */
    struct wr_case_texts required;   /* in what is sent, or one recall away */
    struct wr_case_texts kept;       /* in what is sent, word for word */
    struct wr_case_texts pointers;   /* JSON pointers to values that stay the same bytes */
    struct wr_case_texts unresolved; /* handles in the request that lead nowhere and stay in it */
    struct wr_case_texts resolved; /* handles that, where a form carried them, lead to their text */
    enum wr_case_outcome outcome;
    enum wr_case_trouble trouble;
    bool restarts; /* the process was started anew before this turn */
    uint64_t pause_ms;
};

struct wr_case {
    const struct wr_json *doc;
    weir_span id;
    const char *dialect; /* a constant; NULL: by shape */
    bool is_foreign;     /* of a path that is none of the three APIs': never read */
    enum wr_case_mode mode;
    uint32_t window_tokens; /* 0: the model's */
    struct wr_case_turn *turns;
    uint32_t turns_count;
};

struct wr_cases {
    struct wr_json doc;
    struct wr_case *items;
    uint32_t count;
};

/* Reads a file's text, which is borrowed for as long as the cases are used; all else is in `arena`.
 * WEIR_SYNTAX: not JSON. WEIR_INVALID: no file of cases, or one is wrong; with the byte. */
WEIR_MUST_USE weir_status wr_cases_read(struct wr_cases *cases, struct wr_arena *arena,
                                        weir_span text, struct weir_err *err);

/* The value that a JSON pointer (RFC 6901) leads to, or NONE. */
wr_json_id wr_json_pointer(const struct wr_json *doc, struct wr_arena *arena, weir_span pointer);

/* ---- what was sent, read again and held against what came in ----
 *
 * Nothing here asks the engine what it did: both bodies are read from their bytes.
 */

struct wr_strict_body {
    struct wr_json doc;
    struct wr_transcript transcript;
    weir_span words; /* the texts of all segments, unescaped, each on lines of its own */
};

struct wr_strict_handles {
    weir_handle *items; /* distinct, as they come */
    uint32_t count;
};

/* Reads `bytes`, which are borrowed. Any failure but WEIR_NOMEM: the provider could not read it. */
WEIR_MUST_USE weir_status wr_strict_body_read(struct wr_strict_body *body, struct wr_arena *arena,
                                              weir_span bytes, const char *dialect,
                                              struct wr_memo *memo);

/* Whether all members of the body but its messages (items) have the same keys, order and bytes. */
bool wr_strict_same_root(const struct wr_strict_body *in, const struct wr_strict_body *out);

/* Whether the value at `pointer` has the same bytes in both. */
bool wr_strict_same_value(const struct wr_strict_body *in, const struct wr_strict_body *out,
                          struct wr_arena *arena, weir_span pointer);

/* Whether the calls and results that are left have the ids, the order and the partners they had. */
bool wr_strict_same_calls(const struct wr_strict_body *in, const struct wr_strict_body *out);

/* Whether the tools that the request offers have one that recalls. */
bool wr_strict_offers_recall(const struct wr_strict_body *body);

WEIR_MUST_USE weir_status wr_strict_handles(struct wr_strict_handles *handles,
                                            struct wr_arena *arena, weir_span words);

/* The segment of `body` that answers call `call_id`; NULL: there is none. */
const struct wr_segment *wr_strict_result_of(const struct wr_strict_body *body, weir_span call_id);

/* ---- signals ---- */

struct wr_strict_signals {
    uint64_t count; /* errors, exit codes and failed tests in results that were changed */
    uint64_t kept;
    weir_span lost; /* the first that was not kept; empty: none */
};

/* Adds what became of the signals of `result`, a segment of `in` whose text is another in `out`.
 * `is_recallable`: its form promises a way back instead of its signals, and the way is there. */
WEIR_MUST_USE weir_status wr_strict_count_signals(
    struct wr_strict_signals *signals, struct wr_arena *arena, const struct wr_strict_body *in,
    const struct wr_strict_body *out, const struct wr_segment *result, bool is_recallable);

/* ---- coverage: which of the hard cases a corpus really holds, seen in its requests ----
 *
 * Labels count for nothing: a file that says "large diff" covers large diffs only if there is one.
 */

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
