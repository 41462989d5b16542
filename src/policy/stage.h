/* stage.h -- the stages, and the texts they write. Private to src/policy but for the pure
 * functions, which tests and other policies call on their own.
 *
 * A stage is its pure functions (text in, text out), the functions that run it in a fold, and its
 * definition: name, what it does, parameters with their defaults. Stages that act at the same time
 * are in one file: stage_arrive.c, stage_older.c, stage_history.c, stage_fit.c; those that weigh
 * in worth.c. */
#ifndef WR_POLICY_STAGE_H
#define WR_POLICY_STAGE_H

#include "condense/output_kind.h"
#include "policy/fold.h"
#include "transcript/transcript.h"

extern const struct wr_stage_def wr_stage_cap;
extern const struct wr_stage_def wr_stage_evict;
extern const struct wr_stage_def wr_stage_condense;
extern const struct wr_stage_def wr_stage_lossless;
extern const struct wr_stage_def wr_stage_numbers;
extern const struct wr_stage_def wr_stage_select;
extern const struct wr_stage_def wr_stage_weigh;
extern const struct wr_stage_def wr_stage_deepen;
extern const struct wr_stage_def wr_stage_reference;
extern const struct wr_stage_def wr_stage_mask;
extern const struct wr_stage_def wr_stage_clear;
extern const struct wr_stage_def wr_stage_fold_loops;
extern const struct wr_stage_def wr_stage_summarise_active;
extern const struct wr_stage_def wr_stage_summary;
extern const struct wr_stage_def wr_stage_fill;
extern const struct wr_stage_def wr_stage_drop_groups;
extern const struct wr_stage_def wr_stage_prune_arguments;
extern const struct wr_stage_def wr_stage_rehydrate;
extern const struct wr_stage_def wr_stage_fit;

/* For stages whose first two parameters are a share of the window, in basis points, and a size for
 * where the window is not known. */
uint64_t wr_stage_at_share(const struct wr_stage *stage, const struct wr_stage_room *room,
                           uint32_t *share_bp);

/* The same size for a fold, but never above the room that it has. */
uint64_t wr_stage_trigger(const struct wr_fold *fold, const struct wr_stage *stage);

/* ---- cap ---- */

enum wr_cap_keep { WR_CAP_HEAD, WR_CAP_TAIL, WR_CAP_BOTH };
enum { WR_CAP_MAX_TOKENS, WR_CAP_KEEP }; /* parameters */

/* The text cut to about `tokens_max` tokens of four bytes, at character boundaries, with the
 * document's indicator. A text that is not longer comes back as it is (and *is_cut false). */
void wr_cap_text(struct wr_buf *out, weir_span text, uint64_t tokens_max, enum wr_cap_keep keep,
                 bool *is_cut);

/* ---- mask ---- */

enum { WR_MASK_KEEP_FIRST, WR_MASK_KEEP_LAST, WR_MASK_BATCH };

/* ---- clear ---- */

enum { WR_CLEAR_AT_BP, WR_CLEAR_TRIGGER_TOKENS, WR_CLEAR_KEEP, WR_CLEAR_OLDER_TURNS };

/* ---- evict ---- */

enum { WR_EVICT_OVER_TOKENS, WR_EVICT_HEAD_LINES, WR_EVICT_TAIL_LINES, WR_EVICT_LINE_CHARS };

/* ---- the rest ---- */

enum { WR_CONDENSE_RUN_OVER, WR_CONDENSE_RUN_TO, WR_CONDENSE_READ_OVER, WR_CONDENSE_READ_TO };
enum { WR_LOSSLESS_OVER };
enum { WR_NUMBERS_OVER, WR_NUMBERS_EVERY };
enum { WR_SELECT_GAIN_TOKENS, WR_SELECT_GAIN_BP, WR_SELECT_OLDER_TO };
enum {
    WR_WEIGH_OVER,
    WR_WEIGH_FIRST_SIGHT_BP,
    WR_WEIGH_MARGIN_PCT,
    WR_WEIGH_MISS_TOKENS,
    WR_WEIGH_QUOTE_TOKENS
};
enum {
    WR_DEEPEN_KEEP_TURNS,
    WR_DEEPEN_OVER,
    WR_DEEPEN_GAIN_BP,
    WR_DEEPEN_AT_BP,
    WR_DEEPEN_TO_BP,
    WR_DEEPEN_QUIET_TURNS,
    WR_DEEPEN_MARGIN_PCT,
    WR_DEEPEN_EVIDENCE_TOKENS,
    WR_DEEPEN_SUMMARY_TOKENS,
    WR_DEEPEN_QUOTE_TOKENS
};
enum { WR_REFERENCE_MIN_TOKENS };
enum { WR_LOOPS_EVIDENCE_TOKENS, WR_LOOPS_PREVIEW_TOKENS };
enum { WR_ACTIVE_EVIDENCE_TOKENS, WR_ACTIVE_PREVIEW_TOKENS };
enum {
    WR_SUMMARY_AT_BP,
    WR_SUMMARY_TRIGGER_TOKENS,
    WR_SUMMARY_HEAD,
    WR_SUMMARY_TAIL,
    WR_SUMMARY_MAX_TOKENS
};
enum { WR_FILL_HISTORY_TOKENS };
enum {
    WR_PRUNE_AT_BP,
    WR_PRUNE_TRIGGER_TOKENS,
    WR_PRUNE_OLDER_TURNS,
    WR_PRUNE_MIN_TOKENS,
    WR_PRUNE_NEW_OVER
};
enum { WR_REHYDRATE_MAX_TOKENS };

/* How what steps leave in a prompt begins; a prompt that has it came in again (fold.c). */
#define WR_STUB_FRONT      "[older result"
#define WR_ANSWER_FRONT    "[older answer"
#define WR_WORDS_FRONT     "[older message of the user"
#define WR_LOOP_FRONT      "[COMPLETED AGENT LOOP SUMMARY]"
#define WR_SUMMARY_FRONT   "[CONVERSATION SUMMARY]"
#define WR_TRUNCATED_FRONT "[conversation truncated"
#define WR_OPEN_LOOP_LINE \
    "[RESULTS OF THE NEWEST CALLS] (the calls themselves were taken out; go on from here)"
#define WR_OMITTED_NOTICE "[older calls and their results omitted]"

/* "[conversation truncated — N older messages omitted]" */
void wr_fill_notice(struct wr_buf *out, uint64_t messages_count);

/* The results that have arrived and were not dropped, oldest first; returns how many: none without
 * memory, which the arena then says. `results` has room for all that arrived. */
uint32_t wr_stage_results(struct wr_fold *fold, uint32_t *results);

/* Those of them that came with more than WR_CONDENSE_TOKENS_MIN and are exact or condensed; lives
 * until the next call. NULL: no memory. */
const struct wr_fold_list *wr_stage_large(struct wr_fold *fold);

/* The kind of a result's text, found once. */
WEIR_MUST_USE weir_status wr_stage_kind(struct wr_fold *fold, uint32_t segment,
                                        enum wr_output_kind *kind);

/* The odds of a result by its class, found once, and size. */
WEIR_MUST_USE weir_status wr_stage_odds(struct wr_fold *fold, uint32_t segment,
                                        const struct wr_odds_row **row);

/* Of so many lines of what this result shows of a file one keeps the number that a tool printed;
 * 0: all do. */
uint32_t wr_stage_number_every(const struct wr_fold *fold, uint32_t segment);

/* Whether a text would hold a condenser, which asks no clock, far past any deadline. */
bool wr_stage_is_too_long(weir_span text);

/* Gives a result its condensed form of about `to_tokens`; one that is too long for that its head
 * and tail. */
WEIR_MUST_USE weir_status wr_stage_condense_to(struct wr_fold *fold, uint32_t segment,
                                               enum wr_output_kind kind, uint64_t to_tokens);

/* Whether a segment of a group lets its loop fold. */
bool wr_stage_may_fold(const struct wr_fold *fold, uint32_t segment);

/* Folds a completed loop into one summary. *taken (may be NULL) is false where it cannot, or would
 * not be smaller. `list` has room for every segment. */
struct wr_stage_loop {
    uint64_t evidence_tokens, preview_tokens;
    uint64_t summary_tokens; /* for its lists of files and calls; 0: all of them, a block each */
    enum wr_step_reason reason;
};
WEIR_MUST_USE weir_status wr_stage_fold_loop(struct wr_fold *fold,
                                             const struct wr_stage_loop *options, uint32_t loop,
                                             uint32_t *list, bool *taken);

/* Makes a result "FRONT file, command or tool]" and the marker, in a step. */
WEIR_MUST_USE weir_status wr_stage_stub(struct wr_fold *fold, uint32_t segment, const char *front,
                                        enum wr_step_reason reason);

/* What is oldest, so that a prompt fits without it: summaries of loops that are done, then groups
 * but for the newest, until `goal_tokens` are left; where that is more than `limit_tokens` the
 * conversation's summary too. Groups that `stays` says yes to are left out (NULL: none is). */
typedef bool wr_stage_stays_fn(const struct wr_fold *fold, const struct wr_stage *stage,
                               uint32_t group);
struct wr_stage_oldest {
    uint32_t *segments, *summaries; /* of groups; inserts that stand for others */
    uint32_t segments_count, summaries_count;
    uint64_t left_tokens;
    uint64_t goal_tokens, limit_tokens; /* set by the caller, as what follows */
    const struct wr_stage *stage;
    wr_stage_stays_fn *stays;
};
WEIR_MUST_USE weir_status wr_stage_oldest(struct wr_fold *fold, struct wr_stage_oldest *oldest);

/* The summary of a part of the conversation; empty where not even its first lines fit. Told are the
 * user's words, what `is_told` says yes to, those listed in `also`, and all from `all_from` on. */
struct wr_stage_past {
    uint32_t first, end;
    uint64_t tokens_max;
    bool (*is_told)(const struct wr_fold *fold, uint32_t segment);
    const uint32_t *also;
    uint32_t also_count, all_from;
};
WEIR_MUST_USE weir_status wr_stage_summarise(struct wr_fold *fold, const struct wr_stage_past *past,
                                             weir_span *text);

/* Makes `r` the replacement of the listed segments and of all that this stage took
 * out before: its place, and what it supersedes. Sorts the list. The notice is the caller's. */
void wr_stage_omit(struct wr_fold *fold, uint32_t *segments, uint32_t count,
                   struct wr_fold_replacement *r);

/* ---- a call and its result ---- */

/* What a tool call says of itself: which capability, what for, with which arguments.
 *
 * The capability is the tool's name; of a call to `call_capability` it is the one named in the
 * arguments, and `args` there are the arguments. The purpose is what the call gives as its
 * `purpose` or `description`, else the command line it runs; it may be empty. */
struct wr_call {
    weir_span capability; /* "(unknown)" for a result whose call is not there */
    weir_span purpose;
    weir_span arguments;                   /* JSON, or the bare text of a custom tool */
    const struct wr_tool_handles *handles; /* NULL: none */
};

/* Reads the call at segment `call`; WR_SEGMENT_NONE is allowed. Spans are in `arena` or in the
 * body. */
WEIR_MUST_USE weir_status wr_call_read(struct wr_call *out, struct wr_arena *arena,
                                       const struct wr_transcript *transcript, uint32_t call);

/* Whether a call of this tool is a call of another, named in its arguments. */
bool wr_call_is_wrapper(weir_span tool);

/* The text of a result; empty where it has none that can be read. NULL ptr: no memory. */
weir_span wr_call_result(const struct wr_transcript *transcript, uint32_t result,
                         struct wr_arena *arena);

/* What kind of output a result is, from what is known of its call. */
enum wr_output_origin wr_output_origin_of(enum wr_effect_kind effect);

/* `text` is the result's own, as it came. */
enum wr_output_kind wr_output_kind_of(const struct wr_segment *result, weir_span text);

#endif
