/* evidence.h -- what an answer used of earlier results, and whether a projected prompt still had
 * it.
 *
 * For each answer of a recorded session: the paths, identifiers, lines and quoted words in it that
 * stand in an earlier result and that neither the user nor the model had said since (docs/
 * evidence.md has every rule). In a projected prompt each of them is
 *
 *   supported    its text is there
 *   recallable   it is not, but a handle that is there leads to an original that holds it
 *   lost         neither
 *
 * 1. Extraction looks at the recorded session alone, so its items are the same for every policy.
 * 2. It is incremental: a request costs its new segments and one answer.
 * 3. Segments are numbered through the session. A request that does not extend the one before (the
 *    host compacted, the user went back) begins a new range of numbers, and only what it holds
 *    counts as seen.
 *
 *     wr_evidence_init(&evidence, &arena);
 *     for each request:
 *         wr_evidence_note(&evidence, &transcript, &at);
 *         wr_evidence_find(&evidence, &at, answer, &arena, &found);
 *         for each policy:
 *             wr_evidence_view_read(&view, &arena, &transcript, &projected);
 *             wr_evidence_judge(&evidence, &at, &found, &view, &ways, judged);
 *             wr_evidence_count(&tally, &found, judged);  (lab/evidence_tally.h)
 *     wr_evidence_release(&evidence);
 */
#ifndef WR_LAB_EVIDENCE_H
#define WR_LAB_EVIDENCE_H

#include "lab/evidence_words.h"
#include "transcript/transcript.h"
#include "weir/handle.h"

enum wr_evidence_kind {
    WR_EVIDENCE_PATH,
    WR_EVIDENCE_IDENTIFIER,
    WR_EVIDENCE_LINE,
    WR_EVIDENCE_QUOTED,
};

enum wr_evidence_verdict {
    WR_EVIDENCE_SUPPORTED,
    WR_EVIDENCE_RECALLABLE,
    WR_EVIDENCE_LOST,
    WR_EVIDENCE_VERDICTS
};

const char *wr_evidence_kind_text(enum wr_evidence_kind kind);
const char *wr_evidence_verdict_text(enum wr_evidence_verdict verdict);

/* A request's place in the numbering: its segment i has the number base + i. */
struct wr_evidence_at {
    uint32_t base;
    uint32_t segments_count;
    uint32_t last_output; /* number of the newest segment that is the model's, or NONE */
};

struct wr_evidence_item {
    weir_span text; /* as it stands in the answer and in the source */
    enum wr_evidence_kind kind;
    uint32_t source;     /* number of the newest result that holds it */
    uint32_t line;       /* of the source, from 0 */
    uint32_t age;        /* answers that were given since the source came */
    bool is_first_sight; /* the source came since the answer before */
    bool is_repeated;    /* the user or the model said it since, or in the very call: not counted */
    bool is_users;       /* no result has it, the user said it; then it is_repeated as well */
    bool is_own;     /* the model said it last; then it is_repeated, and `source` is its words */
    bool is_written; /* of its own: it wrote that into a file */
};

/* A line of a segment: of a call, of all strings of its arguments one after the other. */
struct wr_evidence_place {
    uint32_t number, line;
};

struct wr_evidence_items {
    struct wr_evidence_item *items;
    uint32_t count, cap;
    struct wr_evidence_place *said; /* what the answer took from the model's own earlier words */
    uint32_t said_count, said_cap;
};

struct wr_evidence_source; /* a segment that was noted */

struct wr_evidence { /* private; visible only so that callers can hold one */
    struct wr_arena *arena;
    struct wr_arena scratch;
    struct wr_evidence_index index;
    struct wr_evidence_source *sources;
    uint32_t sources_count, sources_cap;
    uint32_t base;
    uint32_t answers_count;
};

/* `arena` is borrowed until release. */
WEIR_MUST_USE weir_status wr_evidence_init(struct wr_evidence *evidence, struct wr_arena *arena);
void wr_evidence_release(struct wr_evidence *evidence);

/* Takes in what is new in a request as the agent sent it. Nothing of the transcript is kept. After
 * a failure: release only. */
WEIR_MUST_USE weir_status wr_evidence_note(struct wr_evidence *evidence,
                                           const struct wr_transcript *original,
                                           struct wr_evidence_at *at);

/* What `answer` (a Chat Completions message) used of the request that was noted last. Items and
 * their texts are in `arena` or point into the answer. */
WEIR_MUST_USE weir_status wr_evidence_find(struct wr_evidence *evidence,
                                           const struct wr_evidence_at *at,
                                           const struct wr_json *answer, struct wr_arena *arena,
                                           struct wr_evidence_items *found);

/* ---- judging a projection ---- */

/* What a segment of the original says in the projected prompt. */
struct wr_shown {
    bool is_whole;
    weir_span text; /* where it is not whole; NULL ptr: it is gone */
};

struct wr_evidence_view {
    const struct wr_shown *segments; /* of the original, in its order */
    uint32_t segments_count;
    const weir_span *inserts; /* texts that stand for no single segment: summaries, recalls */
    uint32_t inserts_count;
};

/* Finds each segment of `original` in `projected`, by call id or by content; what is left over in
 * `projected` are inserts. Everything is in `arena` or points into the two. */
WEIR_MUST_USE weir_status wr_evidence_view_read(struct wr_evidence_view *view,
                                                struct wr_arena *arena,
                                                const struct wr_transcript *original,
                                                const struct wr_transcript *projected);

/* The view of a prompt that is the original. */
WEIR_MUST_USE weir_status wr_evidence_view_whole(struct wr_evidence_view *view,
                                                 struct wr_arena *arena, uint32_t segments_count);

/* The text that a handle brings back; false: none. */
typedef bool wr_original_fn(void *user, weir_handle handle, weir_span *text);

struct wr_evidence_ways {
    wr_original_fn *original; /* NULL: only handles of whole results are known */
    void *user;
};

struct wr_evidence_judged {
    enum wr_evidence_verdict verdict;
    weir_handle handle; /* of RECALLABLE: what is to be recalled */
};

/* `judged` has a place for every item. `ways` may be NULL. */
void wr_evidence_judge(const struct wr_evidence *evidence, const struct wr_evidence_at *at,
                       const struct wr_evidence_items *found, const struct wr_evidence_view *view,
                       const struct wr_evidence_ways *ways, struct wr_evidence_judged *judged);

/* Whether an answer cannot do without an item: one that counts, or a whole line that the model
 * wrote into a file. (A name that it had said itself, or a command, it may say again.) */
bool wr_evidence_is_needed(const struct wr_evidence_item *item);

/* The distinct handles that must be recalled for an answer, of items that are needed. `handles` has
 * a place for every item; returns how many there are. */
uint32_t wr_evidence_recalls(const struct wr_evidence_items *found,
                             const struct wr_evidence_judged *judged, weir_handle *handles);

/* Whether a text holds a string, as it stands or as JSON spells it: a result may be JSON, and what
 * a handle leads to may hold such a result as a string of its own. `scratch` is not reset. */
bool wr_evidence_holds(weir_span text, weir_span string, struct wr_arena *scratch);

/* ---- for floor.c and evidence_tally.c ---- */

/* Whether a text may be JSON with strings in it. */
bool wr_evidence_is_json(weir_span text);

typedef weir_status wr_evidence_string_fn(void *user, weir_span key, weir_span text);

/* Calls `on_string` for every string value of `json`, unescaped, with the key it stands under. What
 * is no JSON, or is none with strings in it, is one string itself. */
WEIR_MUST_USE weir_status wr_evidence_each_string(weir_span json, struct wr_arena *arena,
                                                  wr_evidence_string_fn *on_string, void *user);

/* The handle of a result's own text; false where the number is no result's. */
bool wr_evidence_handle(const struct wr_evidence *evidence, uint32_t number, weir_handle *handle);

#endif
