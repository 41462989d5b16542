/* fold.h -- a policy run over a transcript, turn by turn.
 *
 * 1. It is a pure fold: the same transcript, policy and facts give the same forms, in any process.
 * The state after turn n is a function of turns 0 to n alone, so the next request begins with it.
 * 2. A segment gets its form when it arrives. Later its form changes only in a step: declared, with
 * a reason, at one turn. Everything a request repeats from the one before has the same bytes unless
 *    a step was declared for it (law L3).
 * 3. A form that does not save WR_FOLD_GAIN_TOKENS_MIN is not taken; one without a way back is not
 * taken (law L2), but in the last resort, which leaves a handle to the operator. A text that came
 * with a marker of ours is left as it is.
 * 4. Where signed thinking binds the prefix a step is taken only when the newest input is the
 * user's own, and the thinking before it goes with it, from the start (law L4). The one exception
 * is a prompt that would be refused for its length: see wr_fold_may_step().
 * 5. A fold may go on from the state of an earlier one over the same turns (wr_fold_state). It then
 * gives the same forms as from the start; only time differs.
 */
#ifndef WR_POLICY_FOLD_H
#define WR_POLICY_FOLD_H

#include "base/hash.h"
#include "policy/form.h"
#include "policy/marker.h"
#include "policy/odds.h"
#include "policy/orders.h"
#include "policy/policy.h"

#define WR_STEP_MAP(X)                  \
    X(LOOP_COMPLETED, "loop completed") \
    X(WINDOW, "window")                 \
    X(PRESSURE, "pressure")             \
    X(COLD, "cold")                     \
    X(MODEL, "model")                   \
    X(TOOLS, "tools")                   \
    X(PAYS, "pays")                     \
    X(POLICY, "policy")                 \
    X(STORE, "store")                   \
    X(LATE_RESULT, "late result")       \
    X(ASKED, "asked")                   \
    X(PINNED, "pinned")                 \
    X(UNDONE, "undone")                 \
    X(BACK, "back")

enum wr_step_reason {
#define X(name, text) WR_STEP_##name,
    WR_STEP_MAP(X)
#undef X
};

/* Tokens of a text, as the session's model counts them. */
typedef uint64_t wr_count_fn(void *user, weir_span text);

/* What the answer takes of the window, from a turn on. */
enum wr_answer_room {
    WR_ANSWER_AS_BEFORE, /* in the first turn: as the input says */
    WR_ANSWER_DEFAULT,   /* the request does not say: a share of the window */
    WR_ANSWER_NAMED,
};

/* What the session's marks say about a turn and the transcript does not. */
struct wr_fold_turn {
    bool is_whole;          /* what came with it was sent as it came */
    bool is_late;           /* time was up: its segments from `late_from` on were sent as they came,
                             * and no step was begun unless the window was full */
    uint32_t late_from;     /* counted within the turn */
    bool is_cold;           /* the cache had expired: a step costs nothing */
    bool is_switched;       /* another policy sent what stands before: thinking that was signed over
                             * it goes */
    uint64_t window_tokens; /* from here on; 0: as before */
    enum wr_answer_room answer;
    uint64_t answer_tokens; /* of WR_ANSWER_NAMED */
    uint32_t factor_bp;     /* as of struct wr_fold_input, from here on; 0: as before */
    weir_span orders;       /* what was said before this turn came, a line each; empty: nothing */
};

/* When to stop (law L6). The time is the caller's: a fold has no clock. */
struct wr_fold_deadline {
    uint64_t (*now_us)(void *user); /* NULL: there is all the time in the world */
    void *user;
    uint64_t started_us;  /* when the request's projection began */
    uint64_t new_us_max;  /* for what is new: past it the rest of it stays whole */
    uint64_t all_us_max;  /* for everything: past it the fold fails with WEIR_LIMIT */
    uint32_t known_turns; /* turns before this one were sent before: they keep their forms */
};

/* What tokens cost, in hundredths of the price of plain input. All 0: not known. */
struct wr_fold_prices {
    uint32_t write_pct, read_pct, output_pct;
    uint64_t tier_tokens; /* above it everything is dearer; 0: there is no such */
};

struct wr_fold_input {
    const struct wr_transcript *transcript; /* borrowed */
    const struct wr_fold_turn *turns;       /* of each turn; NULL: nothing was decided */
    struct wr_fold_prices prices;
    struct wr_text_memo *memo;  /* of texts that stages make; NULL: none */
    uint64_t memo_seed;         /* tells apart whom the texts belong to (law L7) */
    const struct wr_odds *odds; /* NULL: stages that weigh do nothing */
    const uint64_t *tokens;     /* of each segment as it came */
    const struct wr_policy *policy;
    const struct wr_ways *ways;
    uint64_t window_tokens;    /* 0: not known. It and the reserve are in the provider's tokens, */
    uint32_t factor_bp;        /* of which it counts so many for 10000 of ours; 0: 10000 */
    uint64_t reserve_tokens;   /* for the answer, until a turn says otherwise */
    bool is_reserve_named;     /* by the request, which is refused where there is less room */
    uint64_t base_tokens;      /* framing of the request itself */
    const uint32_t *overheads; /* framing that comes with each segment; NULL: none is counted */
    uint32_t message_overhead_tokens; /* framing of a message that is put in */
    bool binds_thinking;  /* the model checks that what stands before thinking is unchanged */
    bool keeps_originals; /* there is a store: the operator can resolve any handle */
    wr_count_fn *count;
    void *user;
    const bool *is_marked; /* of each segment that the fold does not go on from: whether it came
                            * with a marker of ours; NULL: whatever looks like one is one */
    bool alternates;       /* the server wants user and model to take turns (engine/run.h) */
    const char *tools;     /* whose results may change, as weir_project_options says; NULL: all */
    bool places_markers;   /* the request may get one more cache marker (engine/cache_marker.h) */
    struct wr_fold_deadline deadline;
    const struct wr_fold_state *from; /* goes on from here where it fits; NULL: from the start */
};

/* A string inside a call's arguments that was taken out. */
struct wr_fold_member {
    wr_json_id node; /* in the arguments read as a document of their own */
    weir_span text;  /* what stands there now: ends with the marker of the original */
    weir_span original;
    struct wr_handle handle;
};

/* Why a form was worth it: in hundredths of a token of plain input. */
struct wr_fold_value {
    uint64_t saves, costs; /* until the session ends, and what recalls are expected to cost */
    uint32_t next_miss_bp; /* the odds that the very next action misses something */
    uint32_t ever_miss_bp; /* and that any later one does */
    uint32_t turns_left;
    uint64_t utility; /* points, of a candidate that was chosen among others */
    bool is_weighed;
};

struct wr_fold_segment {
    enum wr_form form;
    struct wr_fold_value value;
    weir_span text;                       /* what it says now, unless EXACT or DROPPED */
    uint64_t tokens;                      /* of its form now */
    struct wr_handle handle;              /* of PRUNED: its first member's */
    const struct wr_fold_member *members; /* of PRUNED; `text` then is all of the arguments */
    uint32_t members_count;
    uint32_t refers_to;  /* of a reference; WR_SEGMENT_NONE otherwise */
    const char *reason;  /* the stage that gave the form */
    uint8_t output_kind; /* enum wr_output_kind plus one, once somebody asked; 0: nobody did */
    uint8_t odds_class;  /* enum wr_odds_class plus one, likewise */
    bool has_arrived;
    bool is_offloaded;   /* dropped into what an insert stands for */
    bool is_stored;      /* its original is in the session's store since an earlier request */
    uint32_t insert;     /* of what is offloaded: the first insert that stood for it */
    bool is_pinned;      /* a reference without recall points at it: it stays */
    uint32_t kept_by;    /* the pin of the user's that keeps it whole, from 1; 0: none */
    uint32_t noted_at;   /* the turn at which its form before was noted for an undo, plus one */
    uint32_t same;       /* the newest exact segment of the same text, of the first of that text */
    bool is_reread;      /* of a file whose earlier read was shortened */
    bool is_marked;      /* came with a marker in it: it stays */
    bool needs_operator; /* no tool brings its original back: a last resort took it */

    /* Results of a group that came with instructions: the newest, of the group's first segment; and
     * of such a result the one before. WR_SEGMENT_NONE: none. */
    uint32_t instructs_last, instructs_before;
};

struct wr_fold_insert {
    uint32_t before; /* a segment whose message it stands before; segments_count: at the end */
    uint32_t turn;   /* it came with this one */
    weir_role role;
    weir_span text;
    weir_span original;          /* of REHYDRATED; of others see wr_fold_insert_original() */
    uint64_t original_tokens;    /* of the segments in it, as they came */
    struct wr_history_hash hash; /* of what it stands for, so that the next may go on from it */
    uint32_t chain; /* the first of the inserts each of which replaced the one before */
    uint32_t first; /* the first segment it stands for, */
    uint32_t last;  /* and the last */
    struct wr_handle handle;
    uint64_t tokens;
    const char *stage;
    bool is_gone;        /* a later step put another in its place */
    uint32_t gone_at;    /* at this turn, plus one */
    bool is_absorbed;    /* and that one stands for its segments */
    bool is_loop;        /* a completed loop's summary */
    bool is_stored;      /* as of a segment */
    bool is_rehydrated;  /* not in place of anything: it brings an original back */
    bool needs_operator; /* as of a segment */
};

struct wr_fold_step {
    uint32_t turn;
    enum wr_step_reason reason;
    uint32_t first; /* the first segment that is not as it was sent, or has something new before it
                     */
};

/* Segments that a stage looks through at every request, ascending. What can never be of use again
 * is left out for good, so that a request costs what the prompt holds and not what it ever held. */
struct wr_fold_list {
    uint32_t *segments; /* made when first needed; a place for every segment */
    uint32_t count;
    uint32_t seen; /* segments before this one were looked at */
};

/* The room of a request, as the turns up to now had it. */
struct wr_fold_window {
    uint64_t tokens, reserve_tokens; /* in tokens as we count */
    uint64_t narrowed_tokens;        /* what overflow errors said; 0: there was none */
    enum wr_answer_room answer;      /* as the turns said last */
    uint64_t answer_tokens;
    uint32_t factor_bp;
    bool is_reserve_named; /* as of struct wr_fold_input */
};

/* Where time ran out for what is new. */
struct wr_fold_lateness {
    bool is_up;            /* it did */
    uint32_t turn, from;   /* there: as of struct wr_fold_turn */
    uint64_t count;        /* new results that stay whole for it */
    bool has_new;          /* what is new has begun to come, */
    uint64_t new_since_us; /* at this time */
};

/* Memory that stages use in turn, made when it is first needed. */
struct wr_fold_scratch {
    void *items;                 /* of one stage */
    uint32_t *lists[2];          /* a place for every segment */
    struct wr_fold_list results; /* that were not dropped */
    struct wr_fold_list large;   /* of those that came larger than any that is ever condensed */
};

/* How segments were before the changes of one turn. */
struct wr_fold_was {
    uint32_t segment;
    struct wr_fold_segment was;
};

struct wr_fold_changes {
    uint32_t turn;
    uint32_t inserts_count; /* that there were before */
    struct wr_fold_was *list;
    uint32_t count, cap;
    bool is_void; /* it cannot be taken back any more */
};

/* What was said about the session (policy/orders.h), as far as the turns have come. */
struct wr_fold_said {
    struct wr_order *pins; /* in force; a name without a pointer: not any more */
    uint32_t pins_count, pins_cap;
    bool is_undo_due, is_now_due, is_back_due; /* said, and not done yet */
    bool is_asked;                             /* of this request: the next step is to be now */
    bool lifts_pins; /* nothing else is left to take, and the prompt would be refused */
    bool is_at_request;
    uint32_t blind_pct; /* of the odds of a blind quote, that the session began with; 0: 100 */
    struct wr_fold_changes now, last; /* of this turn, and of the last step before it */
};

/* What stages that choose among candidates did, for the report. */
struct wr_fold_chosen {
    uint64_t candidates_count, count, utility;
    uint64_t rehydrated_tokens; /* what was brought back beside its form */
};

struct wr_fold {
    const struct wr_fold_input *input; /* borrowed */
    const struct wr_transcript *transcript;
    struct wr_arena *arena;
    const char *stage; /* at work now */

    /* What has come of it */
    struct wr_fold_segment *segments;
    struct wr_fold_insert *inserts;
    uint32_t inserts_count, inserts_cap;
    struct wr_fold_step *steps;
    uint32_t steps_count, steps_cap;
    uint64_t total_tokens; /* of everything that has arrived, in its form now */
    struct wr_fold_chosen chosen;

    /* The request being folded */
    uint32_t turn;
    uint32_t turn_first;    /* the first segment of that turn */
    uint32_t arrived;       /* segments before this one have arrived */
    uint32_t resumed_count; /* segments that came with their form; 0: none */
    uint32_t changed_first; /* `first` of this turn's step, as far as it has come */
    uint32_t cold_turn;     /* the newest at which a step was taken for an expired cache */
    bool is_over;           /* as it came it would be refused for its length */
    bool is_last_resort;    /* the stage at work may take what only the operator can bring back */
    struct wr_fold_window window;
    struct wr_fold_lateness late;
    struct wr_fold_said said;

    /* What is known of the segments that have arrived */
    bool has_signed;       /* signed thinking is among them */
    bool came_stepped;     /* they hold what a step of an earlier projection left */
    uint32_t notice;       /* the newest that says that messages were taken out; WR_SEGMENT_NONE */
    struct wr_index reads; /* results that show a file, by path */
    uint32_t *group_end;   /* of a group's first segment: behind its last */

    struct wr_fold_scratch scratch;
};

const char *wr_step_reason_text(enum wr_step_reason reason);

/* Folds the whole transcript. Everything is in `arena`. */
WEIR_MUST_USE weir_status wr_fold_run(struct wr_fold *fold, struct wr_arena *arena,
                                      const struct wr_fold_input *input);

/* Whether a segment holds a marker that `is_ours` (NULL: any is). At most one is asked about of
 * each text: the last. */
typedef bool wr_marker_fn(void *user, weir_handle handle);
bool wr_segment_holds_marker(const struct wr_transcript *t, uint32_t segment, wr_marker_fn *is_ours,
                             void *user);

/* Whether time ran out in a turn that was new, and from which of its segments on. */
bool wr_fold_late_turn(const struct wr_fold *fold, uint32_t turn, uint32_t *from);

/* What an insert stands for, whole: goes to the store. */
WEIR_MUST_USE weir_status wr_fold_insert_original(struct wr_fold *fold, uint32_t insert,
                                                  weir_span *text);

/* Whether the newest request's step rests on the expired cache, and so must be marked. */
bool wr_fold_took_cold(const struct wr_fold *fold);

/* The step declared for the newest request, or NULL. */
const struct wr_fold_step *wr_fold_step_now(const struct wr_fold *fold);

/* What a fold that has run to its end would be if the next request, of which nothing is known but
 * that the user may speak in it, heard `order` before it came. `input` is a copy's place; all is in
 * the fold's arena. Nothing of the fold itself changes. */
WEIR_MUST_USE weir_status wr_fold_imagine(struct wr_fold *imagined, const struct wr_fold *fold,
                                          struct wr_fold_input *input, const char *order);

/* ---- a fold as it stood after a request, for the next request to go on from ----
 *
 * A state owns copies of all it needs: it outlives the request it was taken of. It fits a later
 * request where everything up to its end is the same: tokens, framing, and which segments are
 * turns, loops, groups and pairs. What the segments say, the policy and the facts are for the
 * caller to compare (engine/trail.h). */

struct wr_fold_state;

/* Of a fold that has run to its end. WEIR_NOMEM and WEIR_LIMIT: there is no state, which is no harm
 * but time. */
WEIR_MUST_USE weir_status wr_fold_state_new(struct wr_fold_state **state,
                                            const struct wr_fold *fold);
void wr_fold_state_free(struct wr_fold_state *state); /* NULL is fine */

size_t wr_fold_state_bytes(const struct wr_fold_state *state);
bool wr_fold_state_fits(const struct wr_fold_state *state, const struct wr_fold_input *input);

/* What was decided about the turns it covers, as of struct wr_fold_input. */
const struct wr_fold_turn *wr_fold_state_turns(const struct wr_fold_state *state, uint32_t *count);

/* How many segments it covers. */
uint32_t wr_fold_state_segments(const struct wr_fold_state *state);

/* ---- for stages ---- */

/* Whether an earlier request already had this segment. */
bool wr_fold_is_sent(const struct wr_fold *fold, uint32_t segment);

/* A result that a stage may take out: it has text, still says all, is neither recalled nor pointed
 * at, its tool is not exempt. `open` also asks for a way back. */
bool wr_fold_is_plain(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment);
bool wr_fold_is_open(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment);

/* Whether the session lets results of this tool be changed. */
bool wr_fold_may_change(const struct wr_fold *fold, weir_span tool);

/* Whether a result shows instructions that still hold: no stage changes it (law L5). A read of a
 * file that was changed since shows none. `group` asks the same of any result of a group, which
 * then stays, because a group leaves whole or not at all. */
bool wr_fold_is_instructions(const struct wr_fold *fold, uint32_t segment);
bool wr_fold_group_instructs(const struct wr_fold *fold, uint32_t group);

/* The recall tool as the request spells it, where one has been offered by now; else empty. */
weir_span wr_fold_recall(const struct wr_fold *fold);

/* Whether the segment stands for its text: it says all, and its bytes can be had. Without a recall
 * tool a referent, or a file that is read again, is the only way back to them. */
bool wr_fold_says_it(const struct wr_fold *fold, uint32_t segment);

/* Whether something that is taken out now could be had again: by the request's recall tool, or in
 * the last resort by the operator. `way` is that to a result, a file that can be read again
 * included. */
bool wr_fold_has_way(const struct wr_fold *fold);

/* The segment's own text; NULL ptr: no memory. */
weir_span wr_fold_text(struct wr_fold *fold, uint32_t segment);

/* Whether it stays as it is: a reference points at it, or the user has pinned it. `group` asks that
 * of any segment of a group, which then stays. */
bool wr_fold_is_held(const struct wr_fold *fold, uint32_t segment);
bool wr_fold_group_is_kept(const struct wr_fold *fold, uint32_t group);
bool wr_fold_group_stays(const struct wr_fold *fold, uint32_t group); /* for either reason */

/* The tokens of the prompt from one segment up to another, in the forms that they have now. */
uint64_t wr_fold_tokens_from(const struct wr_fold *fold, uint32_t first, uint32_t end);

/* Whether a message that was put in stands for this segment. */
bool wr_fold_stands_for(const struct wr_fold *fold, uint32_t insert, uint32_t segment);

/* Whether the user wants the next step now: stages that wait for a size, a pause or a better sum do
 * not wait, where a step may be taken. */
bool wr_fold_is_asked(const struct wr_fold *fold);

/* Segments that are pinned, were taken out, and come back with the next step. */
uint64_t wr_fold_kept_out(const struct wr_fold *fold);

/* Whether something that was said waits for a request at which a step may be taken. */
bool wr_fold_is_due(const struct wr_fold *fold);

/* Whether the cache had expired when this request came. */
bool wr_fold_is_cold(const struct wr_fold *fold);

/* Takes out the signed thinking that was sent: what it was signed over is no more. */
void wr_fold_drop_thinking(struct wr_fold *fold);

/* Whether a step may be taken at this request at all (invariant 4). Between a call and its result
 * bound thinking bars it, unless the prompt is over its window and
 *   - the request tells the provider to drop thinking that does not fit any more, or
 *   - no thinking stands in the calls that go on: what stands before them may lose it. */
bool wr_fold_may_step(const struct wr_fold *fold);

/* The first segment of the calls and results that go on without a word of the user's own between
 * them, newest results included; `arrived` where the newest input holds no result. */
uint32_t wr_fold_open_first(const struct wr_fold *fold);

/* The first segment that no earlier request had: the newest output of the model, and what came
 * behind it. */
uint32_t wr_fold_new_first(const struct wr_fold *fold);

/* Gives a segment a form: `first_line` (a document's own words; may be empty) with the marker of
 * what is missing behind it. Not taken where it would not be smaller. A segment already sent makes
 * it a step. */
struct wr_fold_form {
    enum wr_form form;
    weir_span text;         /* without the marker */
    uint64_t lines_missing; /* 0: not said */
    const char *what;       /* for the marker; NULL: "left out" */
    uint32_t refers_to;     /* WR_SEGMENT_NONE but for references */
    enum wr_step_reason reason;
};
WEIR_MUST_USE weir_status wr_fold_give(struct wr_fold *fold, uint32_t segment,
                                       const struct wr_fold_form *form);

/* Takes the listed segments (ascending) out and puts one message in their place, before segment
 * `before`. The text ends with the marker of what it stands for: those segments as a history
 * (policy/marker.h). `supersedes` names an insert that it stands for as well, which then is gone;
 * so do those that it `absorbs`, which are summaries of other stages. Without any there is a
 * segment. All of it is one step, where any of it was sent. Not taken (and *taken false) where it
 * would not be smaller, or there is no way back. */
#define WR_INSERT_NONE UINT32_MAX

struct wr_fold_replacement {
    const uint32_t *segments;
    uint32_t segments_count;
    uint32_t before;
    uint32_t supersedes; /* WR_INSERT_NONE: none */
    const uint32_t *absorbs;
    uint32_t absorbs_count;
    bool is_loop; /* the segments are a completed loop, and the text its summary */
    weir_role role;
    weir_span text;
    enum wr_step_reason reason;
};
WEIR_MUST_USE weir_status wr_fold_replace(struct wr_fold *fold,
                                          const struct wr_fold_replacement *replacement,
                                          bool *taken);

/* Takes strings out of a call's arguments, which then are `arguments`. As of wr_fold_give(): not
 * taken where it would not be smaller, and a step. The members are borrowed from the arena. */
struct wr_fold_pruning {
    const struct wr_fold_member *members;
    uint32_t members_count;
    weir_span arguments;
    enum wr_step_reason reason;
};
WEIR_MUST_USE weir_status wr_fold_prune(struct wr_fold *fold, uint32_t segment,
                                        const struct wr_fold_pruning *pruning);

/* Puts a message of the user's behind the message of `segment`, which has just arrived: `text`,
 * which brings `original` back. No step: nothing was sent of this turn yet. */
WEIR_MUST_USE weir_status wr_fold_rehydrate(struct wr_fold *fold, uint32_t segment,
                                            const struct wr_handle *handle, weir_span text,
                                            weir_span original);

/* The original that an earlier form of this fold gave `handle` to. False: there is none here. A
 * text without a pointer: no memory. */
bool wr_fold_original(struct wr_fold *fold, const struct wr_handle *handle, weir_span *original);

static inline uint32_t wr_fold_overhead(const struct wr_fold *fold, uint32_t segment)
{
    return fold->input->overheads ? fold->input->overheads[segment] : 0;
}

/* The insert of the stage at work that still stands, or WR_INSERT_NONE. */
uint32_t wr_fold_own_insert(const struct wr_fold *fold);

/* Whether all of a group was sent, is answered, can leave, and has calls. `group` is its first
 * segment. */
bool wr_fold_group_may_leave(const struct wr_fold *fold, uint32_t group);

/* Tokens at which `basis_points` of the room for input are used; UINT64_MAX without a window. */
uint64_t wr_fold_threshold(const struct wr_fold *fold, uint64_t basis_points);

/* The most that a prompt may have: past it the provider refuses it. UINT64_MAX without a window. */
uint64_t wr_fold_room(const struct wr_fold *fold);

/* The smaller of `basis_points` of the window, as the documents count, and that room. */
uint64_t wr_fold_trigger(const struct wr_fold *fold, uint64_t basis_points);

/* What giving a segment a short form would free, roughly; 0 where it is too small to be worth it.
 */
uint64_t wr_fold_gain(const struct wr_fold *fold, uint32_t segment);

/* Below this a step under pressure is not worth the cache it costs: a twentieth of the window. */
uint64_t wr_fold_gain_min(const struct wr_fold *fold);

#endif
