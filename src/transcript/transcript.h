/* transcript.h -- a request as segments in the order the model reads them.
 *
 * The dialect readers (src/api) add segments; wr_transcript_finish() then finds what follows from
 * them alone, the same way for all dialects: which result answers which call, turns, loops, groups,
 * handles, staleness, and the class of each segment.
 *
 * 1. Order is prompt order: tools, instructions, then messages or items as they come.
 * 2. `parts` are string nodes. They are the only strings of a request that may be edited, apart
 * from strings inside the arguments of calls (engine/validate.h), which are never among them. Ids,
 *    names, signatures and encrypted content are not edited at all.
 * 3. A group is one model output with calls, and the results of those calls; outputs that share a
 *    call of the provider's own tools are one group. After an edit a request has each group whole
 *    or not at all.
 * 4. What is not known here (kind `other`, no continuation) is never edited and never dropped.
 */
#ifndef WR_TRANSCRIPT_TRANSCRIPT_H
#define WR_TRANSCRIPT_TRANSCRIPT_H

#include "base/hash.h"
#include "json/json.h"
#include "transcript/path.h"
#include "transcript/tool.h"
#include "weir/segment.h"

#define WR_SEGMENT_NONE UINT32_MAX

struct wr_start;

/* What the provider's own machinery asks and answers, found by `call_id` like calls and results. */
enum wr_link { WR_LINK_NONE, WR_LINK_ASKS, WR_LINK_ANSWERS };

struct wr_segment {
    weir_role role;
    weir_kind kind;
    weir_class class_;
    const char *why;    /* of the class: a constant sentence */
    uint32_t why_other; /* the segment that `why` speaks of, or NONE */

    /* set by the dialect reader */
    bool from_model;       /* part of a model output */
    bool is_error;         /* a result that says of itself that it failed */
    bool is_opaque;        /* signed, encrypted or of a kind we do not know: exact */
    bool is_signed;        /* thinking that binds what stands before it */
    bool is_continuation;  /* opaque because it continues server state, not because it is unknown */
    bool has_exact_blocks; /* a result: images, files or references stand beside its text */
    enum wr_link link;     /* of what is neither a call nor a result */
    wr_json_id payload;    /* the value that holds it; NONE for a result without content */
    wr_json_id element;    /* what leaves when it is dropped: a message, an item, a block */
    wr_json_id array;      /* the array that holds `element`; NONE: it cannot be dropped */
    wr_json_id message;    /* the message or item it belongs to */
    wr_json_id block;      /* object that has, or can have, the cache marker; NONE: none can */
    wr_json_id marker;     /* key node of its cache marker, or NONE */
    const wr_json_id *parts;
    uint32_t parts_count;
    weir_span tool, call_id; /* unescaped; a result's tool is its call's */
    weir_span other_id;      /* a call: a second id that its result may name it by; mostly empty */

    /* set by finish */
    uint32_t turn;
    uint32_t loop;  /* NONE before the first user message */
    uint32_t group; /* index of the group's first segment, or NONE */
    uint32_t pair;  /* of a call its result, of a result its call; or NONE */
    bool is_steering;
    bool is_repeated_result;        /* a second result for one call */
    enum wr_staleness staleness;    /* of a result that shows a file */
    uint32_t stale_by;              /* the first call that made it so, or NONE */
    uint32_t touched_by;            /* the first that may have changed what it shows, or NONE */
    bool has_slack, is_slack_known; /* of a result: a lossless transform would shorten it */
    bool is_superseded;             /* a poll that a later poll of the same process replaces */
    const struct wr_tool_handles *handles; /* a call and its result share them; NULL: none */
};

/* Tokens of a request that are in no text: what the API adds around it. They are as published, or a
 * little above what was seen: too low is the costly side. */
struct wr_framing {
    uint32_t request; /* once */
    uint32_t message; /* each message or item */
    uint32_t call;    /* each tool call or result, beside its message: ids and names */
    uint32_t tools;   /* once, when there are tools */
    uint32_t tool;    /* each tool, beside its schema's text */
};

/* A tool that a request offers. */
struct wr_offer {
    weir_span name;        /* with its namespace, as the model calls it */
    wr_json_id definition; /* the whole of it */
    uint32_t segment;
    bool is_deferred; /* its definition is not in the prompt yet */
};

typedef weir_status wr_offer_fn(void *user, const struct wr_offer *offer);

struct wr_transcript {
    weir_dialect dialect;
    const struct wr_json *doc; /* borrowed */
    struct wr_arena *arena;    /* borrowed */
    struct wr_memo *memo;      /* borrowed; NULL: everything is found out anew */
    struct wr_segment *segments;
    uint32_t segments_count, segments_cap;
    weir_span *texts;   /* of segments, unescaped, as far as they were asked for */
    wr_hash128 *hashes; /* the same of wr_segment_body_hash(); both zero: not asked for */
    uint32_t turns_count, loops_count;
    weir_span model;            /* unescaped; empty when the request names none */
    uint64_t answer_tokens_max; /* what the request lets the answer take; 0: it does not say */
    uint32_t answers_count;     /* so many are asked for at once; 0: it does not say */
    bool is_background;         /* the provider answers later, and is asked for that by an id */
    uint32_t loads_tokens; /* the window that the server is told to load the model with; 0: none */
    bool is_delta;         /* the server holds the history; only new items are here */
    wr_json_id list;     /* the array of messages or items; NONE when input is a string or absent */
    bool binds_prefix;   /* holds signed thinking */
    bool drops_thinking; /* it tells the provider to drop thinking that does not fit what stands
                          * before it any more, instead of refusing the request */
    bool pairs_anywhere; /* a result may stand before its call */
    struct wr_framing framing; /* what the API adds to the texts */
    /* Tells `on_offer` of each tool of the request, in order; names are in `arena`. NULL: there are
     * none. A function, so that only who wants to know pays for it. */
    weir_status (*list_tools)(const struct wr_transcript *transcript, struct wr_arena *arena,
                              wr_offer_fn *on_offer, void *user);
    const struct wr_start *start;      /* what is known of how the body begins; borrowed while it
                                        * is read (below). NULL: nothing */
    uint32_t taken_first, taken_count; /* segments that were taken over from it */
};

void wr_transcript_init(struct wr_transcript *transcript, struct wr_arena *arena,
                        const struct wr_json *doc, weir_dialect dialect);

/* Appends a copy of `segment`. WEIR_LIMIT past WR_SEGMENTS_MAX. */
WEIR_MUST_USE weir_status wr_transcript_add(struct wr_transcript *transcript,
                                            const struct wr_segment *segment);

WEIR_MUST_USE weir_status wr_transcript_finish(struct wr_transcript *transcript);

/* The same without handles and classes, which cost most of the time: for a request that is only to
 * be compared with another. */
WEIR_MUST_USE weir_status wr_transcript_finish_structure(struct wr_transcript *transcript);

/* Fills in the tool and the handles of a result whose call is not in the request. A result whose
 * call is there stays as it is. */
WEIR_MUST_USE weir_status wr_transcript_know_call(struct wr_transcript *transcript, uint32_t result,
                                                  weir_span tool, weir_span arguments);

/* Where a segment's bytes are: between the quotes of a single string, else the whole value. */
weir_range wr_segment_range(const struct wr_transcript *transcript,
                            const struct wr_segment *segment);

/* Whether a result says that its call failed, by itself or by the handles of the call. */
bool wr_result_has_failed(const struct wr_segment *result, const struct wr_tool_handles *handles);

/* The segment's text, unescaped, its parts joined by '\n' where there are several. Borrowed from
 * the body, or in `arena`; where that is the transcript's own, it is made once and kept. NULL ptr:
 * no memory. */
weir_span wr_segment_text(const struct wr_transcript *transcript, const struct wr_segment *segment,
                          struct wr_arena *arena);

/* A hash of a segment's bytes as they stand in the body: of its parts, or of its payload where it
 * has none. Made once, and used as the key wherever something is remembered about a text. */
wr_hash128 wr_segment_body_hash(const struct wr_transcript *transcript,
                                const struct wr_segment *segment);

/* The hash of what a segment says, to whom and of which call; cache markers are no part of it. */
uint64_t wr_segment_hash(const struct wr_transcript *transcript, const struct wr_segment *segment);

/* Whether some segment from `end` on answers a call before `end` that had an answer already or was
 * the provider's own. Then a group that was whole before `end` is no longer whole. */
bool wr_transcript_has_late_answer(const struct wr_transcript *transcript, uint32_t end);

/* Whether a segment has text that may be changed. */
static inline bool wr_segment_is_editable(const struct wr_segment *segment)
{
    return segment->parts_count > 0;
}

/* ---- memo of calls ----
 *
 * What was found out about a call and its result, remembered by their content.
 *
 * A session's next request repeats all of the last one; with a memo it costs the hash of what it
 * repeats and the work of what is new. Forgetting changes nothing but time: an entry is a pure
 * function of its key. One owner, one thread at a time. What is found lives until the next
 * wr_memo_begin().
 */

struct wr_memo;

struct wr_memo_entry {
    struct wr_tool_handles handles;
    bool has_slack; /* a lossless transform would shorten the result's first part */
};

/* Holds about `bytes_max`, and forgets everything when it has grown past that. */
WEIR_MUST_USE weir_status wr_memo_new(struct wr_memo **memo, size_t bytes_max);
void wr_memo_free(struct wr_memo *memo); /* NULL is fine */

/* A request begins: what was found for earlier ones may go now. */
void wr_memo_begin(struct wr_memo *memo);

const struct wr_memo_entry *wr_memo_find(const struct wr_memo *memo, wr_hash128 key);

/* Asks for the place of a key that will be looked for soon: the memo is larger than the caches. */
void wr_memo_expect(const struct wr_memo *memo, wr_hash128 key);

/* Keeps a deep copy. Out of memory: nothing is kept, which is no failure. */
void wr_memo_put(struct wr_memo *memo, wr_hash128 key, const struct wr_memo_entry *entry);

/* ---- beginnings ----
 *
 * How bodies began that were read before, so that the next one goes on from there.
 *
 * An agent sends its whole history each time: a body begins with the bytes of the one before it,
 * up to the last messages. What was read of them (the JSON nodes, the segments as the dialect's
 * reader made them, the hashes of their texts) is kept here, found by hashes of the bytes in blocks
 * of fixed size, and copied instead of being read again.
 *
 *   wr_starts_find()     which beginning the text has in common with an earlier one
 *   wr_json_parse()      goes on behind it (`start.json` is an option of that call)
 *   wr_start_segments()  the dialect's reader takes the known messages over and reads the others
 *   wr_starts_keep()     what was read is kept for the next one
 *
 * 1. What is taken over is what reading would have given: the same bytes, read by the same code.
 *    Forgetting all of it changes nothing but time.
 * 2. A beginning ends where an element of the list of messages ends. Only what is inside the list
 *    is taken over as segments: tools and instructions may stand behind it in the body, and are
 *    read each time.
 * 3. One owner, one thread at a time. What is taken over is copied, so a request holds nothing of
 *    this.
 */

struct wr_starts;

/* `start.json` is for the reader of JSON. */
struct wr_start {
    struct wr_json_start json;
    struct wr_known_body *body; /* owned by the starts; NULL: nothing of the text is known */
    uint32_t elements_count;    /* of the list */
};

/* Holds at most `bytes_max`; the beginning that was used least recently goes first. */
WEIR_MUST_USE weir_status wr_starts_new(struct wr_starts **starts, size_t bytes_max);
void wr_starts_free(struct wr_starts *starts); /* NULL is fine */

/* False, and `start` says nothing: it begins like none that is known, or `starts` is NULL. What is
 * found lives until the next wr_starts_keep(). */
bool wr_starts_find(struct wr_starts *starts, weir_span text, struct wr_start *start);

/* Adds the segments of the known elements of `list` to the transcript, and says which element comes
 * next: the first one where nothing is known (`start` may be NULL), NONE where all were known. */
wr_json_id wr_start_segments(const struct wr_start *start, struct wr_transcript *transcript,
                             wr_json_id list, weir_status *status);

/* Copies the hashes of segments that were taken over. */
void wr_start_hashes(const struct wr_start *start, struct wr_transcript *transcript);

/* Keeps what was read of a body whose reading went on from `start`. Out of memory or room: nothing
 * is kept, which is no failure. `starts` may be NULL. */
void wr_starts_keep(struct wr_starts *starts, const struct wr_transcript *transcript,
                    const struct wr_start *start);

#endif
