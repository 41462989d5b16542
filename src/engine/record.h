/* record.h -- what happened to one request, typed: what the engine did to it and why, and what
 * became of it.
 *
 * The engine fills its part while it projects and hands it out beside the body; whoever sends the
 * request fills in the rest. Everything that tells of a request (the report, the line of the log,
 * the row in the store, metrics, cache busts, receipts) is a sink: a function that takes a const
 * record. Nothing in this process reads its own JSON back to learn what it did; what other
 * processes left in the store is read back into this struct by engine/record_row.h.
 *
 * 1. A record holds names, figures and constant sentences, never a word of what was said.
 * 2. Zeroed it says nothing. A word whose `ptr` is NULL is not known.
 * 3. `changes` and `inserts` live as long as the engine's request; everything else that is pointed
 *    at outlives the record.
 */
#ifndef WR_ENGINE_RECORD_H
#define WR_ENGINE_RECORD_H

#include "api/answer.h"
#include "api/api.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "models/registry.h"
#include "policy/fold.h"

struct wr_models;
struct wr_run;

/* Signs of how a task goes, read from one request and the answer to it.
 *
 * Each sign is a count of what was seen in this request or answer and not in one before, so that
 * the sum over a session's requests is the session's. They are figures, never text. The names with
 * "task_quality_" before them are those of the log. */
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

/* Kinds of content that a prompt is made of, as people ask for them. */
#define WR_CATEGORY_MAP(X)                                                     \
    X(SYSTEM, "system")             /* the instructions at the front */        \
    X(TOOLS, "tools")               /* the definitions of tools */             \
    X(INSTRUCTIONS, "instructions") /* of the developer, or that came later */ \
    X(USER, "user")                                                            \
    X(ASSISTANT, "assistant")                                                  \
    X(REASONING, "reasoning")                                                  \
    X(CALLS, "calls")                                                          \
    X(RESULTS, "results")                                                      \
    X(MEDIA, "media") /* images and files */                                   \
    X(OTHER, "other") /* framing, summaries, notices, what is not known */

enum wr_category {
#define X(name, text) WR_CATEGORY_##name,
    WR_CATEGORY_MAP(X)
#undef X
        WR_CATEGORIES_COUNT
};

const char *wr_category_name(enum wr_category category);

/* Why a request went as it came: its projection took too long. */
#define WR_DEADLINE_HARD "deadline_hard"

enum { WR_RECORD_FORMS_COUNT = WR_FORM_DROPPED + 1, WR_RECORD_MODEL_BYTES = 64 };

static inline weir_span wr_word_of(const char *word) /* NULL: not known */
{
    return word ? wr_span_of(word) : (weir_span){NULL, 0};
}

/* One segment that is not sent as it came, or was not to be. */
struct wr_record_change {
    uint32_t segment;
    enum wr_form form;
    weir_class class_;
    weir_kind kind;
    const char *handle; /* NULL: none */
    const char *in;     /* of DROPPED: the handle of the insert that stands for it; NULL: none */
    uint64_t tokens_before, tokens_after;
    const char *reason;  /* the stage; of what was rolled back: why */
    const char *way;     /* back to it, where that is no tool of the request: "operator";
                          * NULL: a tool, or nothing was taken out */
    bool is_rolled_back; /* validation took it back: it is sent as it came */
    const struct wr_fold_value *worth; /* the sum that decided; NULL: it was not weighed */
};

/* A message of Weir's own that is in the prompt. */
struct wr_record_insert {
    uint32_t before; /* the segment that it is put before */
    weir_role role;
    const char *stage, *handle;
    const char *way;                /* as of a change */
    uint64_t tokens, tokens_before; /* of it, and of what it stands for */
    uint32_t segments_count;        /* how many it stands for */
};

/* How full the window is with what the projection sends. */
struct wr_record_budget {
    uint64_t window_tokens;
    weir_span window_source;
    uint64_t factor_bp; /* what the provider counts for 10,000 of ours; 0: as we do */
    uint64_t used_tokens;
    uint64_t pressure_bp;
    weir_span band;
    uint64_t usable_tokens;    /* the window less the room for the answer */
    uint64_t available_tokens; /* of that, free */
    uint64_t floor_tokens;
    weir_span confidence, mode;
    uint64_t reasons; /* enum wr_budget_reason bits, of the prompt as it came */
};

/* What was done to how many, under their names in the report and in the row. */
#define WR_RECORD_COUNTER_MAP(X)  \
    X(artifacts_stored)           \
    X(tool_outputs_condensed)     \
    X(blob_outputs_condensed)     \
    X(duplicate_texts)            \
    X(cross_turn_duplicate_texts) \
    X(repeat_tool_output_refs)    \
    X(rehydrated_refs)            \
    X(rehydration_token_cost)     \
    X(static_context_deltas)      \
    X(repo_state_facts)

#define WR_RECORD_CANDIDATE_MAP(X)       \
    X(candidate_count)                   \
    X(selected_candidate_count)          \
    X(rejected_candidate_count)          \
    X(selected_candidate_utility_points) \
    X(segment_rollback_count)            \
    X(full_request_fallback_count)       \
    X(late_segments)

struct wr_record_counters {
#define X(name) uint64_t name;
    WR_RECORD_COUNTER_MAP(X)
    uint64_t by_form[WR_RECORD_FORMS_COUNT]; /* segments that are sent in each form */
    WR_RECORD_CANDIDATE_MAP(X)
#undef X
};

/* Who is to blame for a prefix that was not read from the provider's cache. */
#define WR_BUST_MAP(X)                                           \
    X(HOST, "host")         /* the agent changed what it sent */ \
    X(WEIR, "weir")         /* a step */                         \
    X(MODEL, "model")       /* another model or other tools */   \
    X(EXPIRED, "expired")   /* the pause was too long */         \
    X(PROVIDER, "provider") /* nothing had changed */            \
    X(MOVED, "moved")       /* another place of the upstream was asked: its own had failed */

enum wr_bust {
#define X(name, text) WR_BUST_##name,
    WR_BUST_MAP(X)
#undef X
        WR_BUSTS_COUNT
};

const char *wr_bust_name(enum wr_bust bust);

/* Where a request stands in a trace (W3C Trace Context): ids in lower-case hex, "" where there is
 * none. */
struct wr_record_trace {
    char trace_id[32 + 1];
    char parent_id[16 + 1]; /* the span that the client sent it in */
    bool is_unsampled;      /* the client says that nobody records this trace */
};

/* What was done with a request. */
enum wr_deed {
    WR_DEED_PASSED,   /* it went as it came, unread; `not_read` says why */
    WR_DEED_MEASURED, /* read and counted, and sent as it came */
    WR_DEED_SHADOWED, /* the same, with a projection that was not sent */
    WR_DEED_PROJECTED,
    WR_DEED_LATE,    /* its projection came too late: the request had left as it came */
    WR_DEED_UNWAITED /* whoever sent it was gone before its projection came */
};

struct wr_record {
    /* ---- who asked whom ---- */
    uint64_t number;          /* counts the requests of this process */
    int64_t time_ms;          /* when it came, since 1970 */
    const struct wr_api *api; /* NULL: the path is none of an API's */
    bool asks_model;          /* its answer is a model's, with usage and calls */
    bool is_hook;             /* no request: one result that an agent's hook brought (docs/hook.md);
                               * the tokens are its own */
    weir_span upstream, path, tenant, agent, run, session;
    weir_span user, team;  /* of the access token; empty: it has no name, or no team */
    const char *base_url;  /* of the upstream */
    const char *place_url; /* of the place of it that was asked; NULL: it has one */
    weir_span provider;    /* who that is, as OpenTelemetry calls it; "openai" */
    uint64_t first_turn;   /* hash: with session and model it says which conversation it is of */
    char model[WR_RECORD_MODEL_BYTES];
    struct wr_record_trace trace;

    /* ---- what became of it ---- */
    uint64_t status; /* HTTP; 0: there was no answer */
    weir_span spend; /* what its budget says: "over: user:anna day ..."; empty: nothing */
    weir_span end;   /* "done", "client_gone", "upstream_timeout", ... */
    uint64_t received_bytes, sent_bytes, answer_bytes; /* of bodies, as they were on the wire */
    uint64_t added_us, first_byte_us, total_us, project_us;
    uint64_t retries_count;
    weir_span retry_reason;
    weir_span place;       /* which place of the upstream answered; NULL: it has one */
    weir_span left_place;  /* the session was at another before: that one; NULL: it was not */
    weir_span left_reason; /* why it left that: "429", "unreachable", ...; NULL: it did not */
    uint64_t places_tried; /* of this request, that failed before one answered */
    bool is_collected;     /* its body was given to the engine */
    weir_span not_read;    /* why it was not read; NULL: it was */
    enum wr_deed deed;
    weir_span mode, mode_reason; /* of the rollout */
    bool has_bucket;             /* canary and holdout: which of 100 it is in, how many are taken */
    uint64_t bucket, bucket_percent;
    int64_t hash_failures_count; /* originals that were damaged in the store; -1: not known */

    /* ---- what the engine did ---- */
    bool has_projection; /* false: nothing of what follows but tokens_before counts */
    char policy[WR_POLICY_NAME_BYTES_MAX + 1];
    bool is_changed;  /* what it made is not what came */
    bool is_delta;    /* the provider holds the history, and the body has only what is new */
    bool is_unmarked; /* its marks could not be kept */
    bool is_pending;  /* a policy or mode that was said waits for the user's next message */
    bool is_step;     /* it does not extend what was sent before */
    weir_span step_reason;
    uint64_t step_turn;
    uint64_t step_rewrites_tokens; /* of what was sent before, as it is sent now; 0: not known */
    weir_span held_back;           /* why a change was not made */
    weir_span over_window;         /* why more than the window is sent */
    weir_span way;                 /* "operator": what is sent lacks something that no tool of
                                    * the request brings back */
    uint64_t tokens_before, tokens_after; /* of the prompt: as it came, and as projected */
    uint64_t bytes_before, bytes_after;   /* of the body, the same */
    uint64_t answer_tokens;               /* that the answer may take; 0: the request names none */
    uint64_t asked_tokens;                /* the most that the request lets its answer have; 0: it
                                           * does not say */
    uint32_t asked_answers;               /* so many at once; 0: it does not say */
    bool is_background;                   /* the answer comes later, to whoever asks by its id */
    uint64_t own_tools_tokens;            /* of the prompt, what Weir's own tools take */
    bool has_own_recall;                  /* the proxy itself offers a recall tool in it */
    uint64_t leg;            /* how often the provider was asked before for the same answer */
    uint64_t own_recalls;    /* calls of that tool in its answer, */
    uint64_t own_misses;     /* those that brought nothing back, */
    uint64_t own_put_back;   /* exchanges of earlier answers that are in it again, */
    uint64_t own_left;       /* that were left out for good, */
    uint64_t own_misfits;    /* that did not fit what the client sent, */
    uint64_t own_lost;       /* and that are gone, or of its own answer could not be kept */
    weir_span own_step;      /* why it is a step whatever the engine finds; empty: it is not */
    uint64_t own_text_bytes; /* and what the others brought */
    uint64_t steps_count;    /* of the session so far */
    uint64_t blind_odds_pct; /* of the table's, that were learnt for the session; 0: none were */
    uint64_t loaded_tokens;  /* that its server has loaded the model with; 0: not known */
    struct wr_record_budget budget;
    struct wr_record_counters counters;
    /* What the prompt consists of, as it came and as projected. The sums are tokens_before and
     * tokens_after. */
    uint64_t came_tokens[WR_CATEGORIES_COUNT], made_tokens[WR_CATEGORIES_COUNT];
    const struct wr_record_change *changes;
    const struct wr_record_insert *inserts;
    uint32_t changes_count, inserts_count;

    /* ---- the answer ---- */
    bool is_answer_read;        /* it was looked at as it passed */
    bool is_usage_known;        /* the provider said what it counted */
    struct wr_seen_usage usage; /* -1: not said */
    uint64_t answer_events, answer_calls;
    bool is_answer_finished;
    weir_span answer_model, answer_error, answer_finish, cache_miss;
    int64_t micro_usd;       /* that the usage costs, at cache prices; -1: not known */
    uint64_t counted_tokens; /* of the prompt, by the provider; 0: not known, or of a part of it */
    uint64_t count_ratio_bp; /* that, for 10,000 of ours */
    bool is_count_judged, is_count_used; /* whether it is learnt from */

    /* ---- how it goes ---- */
    struct wr_quality quality;
    weir_span cache_not_judged;             /* why nothing is said of its cache */
    uint64_t cache_expected_tokens;         /* that the provider should have had in its cache */
    uint64_t cache_lost_tokens;             /* of those, what it did not read */
    bool is_bust;                           /* then, */
    enum wr_bust bust;                      /* who broke it, */
    weir_span bust_place;                   /* and where */
    weir_span blind_place;                  /* of a blind edit: what it had to go by, no content */
    weir_span learned_policy, learned_from; /* chosen by what was learnt; from which bucket */
    bool is_trial;
};

/* Zeroed but for what is -1 when it is not known. */
void wr_record_init(struct wr_record *record);

/* What the engine did with a first try that was refused: nothing of it counts. */
void wr_record_forget(struct wr_record *record);

/* When it is over: what a projection did that was not sent is taken back (law L8). */
void wr_record_settle(struct wr_record *record);

/* The figures of the projection are of what would have been sent. */
static inline bool wr_record_is_shadow(const struct wr_record *record)
{
    return record->deed == WR_DEED_SHADOWED;
}

/* What was sent is not what came; and, it does not extend what was sent before. */
static inline bool wr_record_was_changed(const struct wr_record *record)
{
    return record->is_changed && !wr_record_is_shadow(record);
}

static inline bool wr_record_was_step(const struct wr_record *record)
{
    return record->is_step && !wr_record_is_shadow(record);
}

/* What the provider says that the request used, in disjoint kinds. `model` says how a write of
 * which the lifetime was not said is charged. */
struct wr_usage wr_record_usage(const struct wr_record *record, const struct wr_model *model);

/* Fills in what the usage costs, where the provider said it and the model has a price. `models` may
 * be NULL. */
void wr_record_price(struct wr_record *record, const struct wr_models *models);

/* The tokens of the prompt that was sent, by our count; once it is settled. */
static inline uint64_t wr_record_prompt_tokens(const struct wr_record *record)
{
    return record->deed < WR_DEED_PROJECTED ? record->tokens_before : record->tokens_after;
}

/* What the prompt that was sent consists of, by category. */
static inline const uint64_t *wr_record_sent_tokens(const struct wr_record *record)
{
    return record->deed < WR_DEED_PROJECTED ? record->came_tokens : record->made_tokens;
}

/* ---- report ----
 *
 * A sink of the record: what the engine did and why, as one JSON object
 * (docs/policies.md). It is what weir_projected.report is, and what `weir why` shows.
 */

void wr_record_report(const struct wr_record *record, struct wr_buf *out);

/* Fills in what the run knows; `record` was zeroed. Its lists are in the run's arena, for which
 * alone it can fail. */
WEIR_MUST_USE weir_status wr_run_record(const struct wr_run *run, struct wr_record *record);

#endif
