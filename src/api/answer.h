/* answer.h -- a model's answer of any API, read as it comes: as a stream of events or whole.
 *
 * One reader for everybody: the proxy, which only looks on (usage, id, calls), and whoever wants
 * all of it (weir agent, a session).
 *
 * 1. Every way of cutting one stream into chunks gives the same answer.
 * 2. For one that looks on nothing is an error: what cannot be read or is too long is left out.
 *    With `keeps_all` it is: half a command must not run.
 * 3. Thinking and its signature, encrypted items and whatever else a provider wants back are kept
 *    as they came.
 *
 *    wr_answer_init ─┬─▶ wr_answer_feed ... ─▶ wr_answer_end      a stream, and the body it makes
 *                    ├─▶ wr_answer_whole ─┬─▶ wr_answer_said      a body, and what it says
 *                    └─▶ wr_answer_item ──┘                       items of one that was kept
 */
#ifndef WR_API_ANSWER_H
#define WR_API_ANSWER_H

#include <stdbool.h>

#include "api/api.h"
#include "api/events.h"
#include "json/json.h"
#include "json/write.h"
#include "weir/session.h"

/* ---- usage ----
 *
 * What a provider says that a request used, in the words of all three APIs.
 *
 * A field that was not said is -1, never 0: absent usage is unknown. Of a stream that says it twice
 * the later figures stand.
 */

#define WR_USAGE_MAP(X)       \
    X(input_tokens)           \
    X(output_tokens)          \
    X(total_tokens)           \
    X(cache_read_tokens)      \
    X(cache_write_tokens)     \
    X(cache_write_5m_tokens)  \
    X(cache_write_30m_tokens) \
    X(cache_write_1h_tokens)  \
    X(cache_write_12h_tokens) \
    X(reasoning_tokens)

struct wr_seen_usage {
#define X(name) int64_t name;
    WR_USAGE_MAP(X)
#undef X
};

void wr_seen_usage_init(struct wr_seen_usage *usage);
bool wr_seen_usage_is_known(const struct wr_seen_usage *usage);

/* Takes over what the object `id` says; what is no object says nothing. */
void wr_seen_usage_read(struct wr_seen_usage *usage, const struct wr_json *doc, wr_json_id id);

/* With what was not said as 0, and the input without what came from the cache or went there. */
struct weir_session_usage wr_seen_usage_split(const struct wr_seen_usage *usage,
                                              bool counts_cached_apart);

/* ---- errors ----
 *
 * What a provider's error is about, as far as it concerns what was sent.
 */

#define WR_ANSWER_ERROR_MAP(X)                                           \
    X(NONE)                                                              \
    X(CONTEXT)      /* the prompt is too long */                         \
    X(PREVIOUS)     /* the answer that the request names is not known */ \
    X(CONTINUATION) /* a call without its result, or the other way round */

enum wr_answer_error {
#define X(name) WR_ANSWER_ERROR_##name,
    WR_ANSWER_ERROR_MAP(X)
#undef X
};

/* By the words of all APIs; either may be empty. */
enum wr_answer_error wr_answer_error_of(weir_span code, weir_span message);

/* Whether a refusal says that signed thinking stands behind another prompt than it was made for. */
bool wr_error_is_unbound(weir_span text);

/* The words with which a model says that it is done; a limit, a refusal and a pause are not. */
bool wr_finish_is_end(weir_span word);

/* What an error's body says to people; empty: nothing. */
weir_span wr_error_message(const struct wr_json *doc, struct wr_arena *arena);

/* ---- the answer ---- */

enum wr_piece { WR_PIECE_TEXT, WR_PIECE_THINKING };

/* Of a stream, shown while it comes, in order. */
typedef void wr_piece_fn(void *user, enum wr_piece kind, weir_span text);

enum wr_part_kind { WR_PART_CALL, WR_PART_TEXT, WR_PART_THINKING, WR_PART_OTHER };

struct wr_part {
    enum wr_part_kind kind;
    int64_t index;           /* where the stream says that its pieces belong; -1: it came whole */
    struct wr_buf id, name;  /* of a call */
    struct wr_buf text;      /* of a call what it is called with, as the model wrote it */
    struct wr_buf signature; /* of thinking */
    struct wr_buf raw;       /* as it began, or as it is */
    bool is_cut;             /* its text was too long for one that looks on: it is empty */
};

struct wr_reply {
    const struct wr_api *api;
    struct wr_arena *arena; /* borrowed; emptied for each event */
    bool keeps_all;
    wr_piece_fn *on_piece;
    void *user;
    struct wr_sse sse;
    struct wr_frames frames;
    struct wr_buf opened; /* what is in a frame */
    struct wr_seen_usage usage;
    struct wr_part *parts; /* calls alone, for one that looks on */
    size_t parts_count;
    struct wr_buf id, conversation_id; /* empty: it said none */
    char model[64];                    /* the one that answered */
    char finish[32];                   /* why it ended, such as end_turn; "": it did not say */
    char miss[48];                     /* why the cache was not read, where the provider says so */
    char error[64];                    /* the provider's word for what went wrong */
    enum wr_answer_error error_kind;   /* as far as it is about what was sent */
    uint64_t events_count;
    bool is_finished; /* it said that it is complete */
    bool has_stopped; /* it said why it ended; not all say more */
    bool has_error;
    /* With `keeps_all`. */
    struct wr_buf model_name; /* `model` as it was said, however long */
    struct wr_buf usage_raw;  /* members of its usage objects; what comes later counts */
    struct wr_buf refusal;    /* what the provider said instead, as it came */
    struct wr_buf body;
    weir_span *items; /* of what came whole, pointing into it; in the arena */
    size_t items_count;
    weir_status status;
};

struct wr_answer_options {
    const struct wr_api *api;
    struct wr_arena *arena;
    bool keeps_all;
    wr_piece_fn *on_piece; /* with `keeps_all`; may be NULL */
    void *user;
};

/* Released in any case; a zeroed one may be. */
void wr_answer_init(struct wr_reply *answer, const struct wr_answer_options *options);
void wr_answer_release(struct wr_reply *answer);

/* Whether an answer of this content type is a stream to feed an answer with. */
bool wr_answer_is_stream(const struct wr_api *api, weir_span type);

void wr_answer_feed(struct wr_reply *answer, weir_span bytes);
/* The same of an AWS event stream (api/events.h); an answer is fed with one of the two. */
void wr_answer_feed_frames(struct wr_reply *answer, weir_span bytes);
/* The stream has ended. wr_answer_end() does this too. */
void wr_answer_end_feed(struct wr_reply *answer);

/* The body that the streamed answer has when it comes whole; it lives until the release. A call
 * without an id of its own is given one: its result needs it. WEIR_INVALID: it broke off, or says
 * that something went wrong. WEIR_SYNTAX, WEIR_LIMIT, WEIR_NOMEM: a part of it could not be read or
 * kept. Asked once. */
WEIR_MUST_USE weir_status wr_answer_end(struct wr_reply *answer, weir_span *body);

/* A whole body, which must outlive the answer's items. WEIR_SYNTAX, WEIR_INVALID: this is no answer
 * of the API; what there is (an error, an id) is read. */
weir_status wr_answer_whole(struct wr_reply *answer, weir_span body, struct weir_err *err);

/* One item of an answer that was kept: a content block, an output item, a message. */
WEIR_MUST_USE weir_status wr_answer_item(struct wr_reply *answer, weir_span item,
                                         struct weir_err *err);

/* Whether all that was read could be kept, with `keeps_all`: the failure, else WEIR_OK. */
WEIR_MUST_USE weir_status wr_answer_check(const struct wr_reply *answer);

/* Fills in `said`'s text and calls, copied into `arena`. WEIR_INVALID: a call has no id or no name.
 * WEIR_LIMIT: there is more than a session takes. */
WEIR_MUST_USE weir_status wr_answer_said(const struct wr_reply *answer, struct wr_arena *arena,
                                         struct weir_answer *said, struct weir_err *err);

/* A call that came whole. */
void wr_answer_add_call(struct wr_reply *answer, weir_span id, weir_span name, weir_span arguments);

/* ---- for the files of the APIs ---- */

/* Text of a member; empty where it has none. */
weir_span wr_answer_text(struct wr_reply *answer, const struct wr_json *doc, wr_json_id object,
                         const char *key);
void wr_answer_show(struct wr_reply *answer, enum wr_piece kind, weir_span text);

/* Members of a whole answer, or of its envelope. */
void wr_answer_read_id(struct wr_reply *answer, const struct wr_json *doc, wr_json_id object);
void wr_answer_read_usage(struct wr_reply *answer, const struct wr_json *doc, wr_json_id usage);
void wr_answer_read_finish(struct wr_reply *answer, weir_span word);
void wr_answer_read_miss(struct wr_reply *answer, weir_span word);
/* An object with `code` or `type`, and `message`; `refusal` is what to keep of it. */
void wr_answer_read_error(struct wr_reply *answer, const struct wr_json *doc, wr_json_id error,
                          wr_json_id refusal);

/* A new part; NULL: it is not kept. */
struct wr_part *wr_answer_part(struct wr_reply *answer, enum wr_part_kind kind, int64_t index);
/* The newest of that number; NULL: there is none. */
struct wr_part *wr_answer_find(struct wr_reply *answer, int64_t index);
void wr_answer_extend(struct wr_reply *answer, struct wr_part *part, weir_span text);
void wr_answer_fail(struct wr_reply *answer, weir_status status);
/* Notes an item of a body and reads it. */
void wr_answer_read_item(struct wr_reply *answer, const struct wr_json *doc, wr_json_id item);
void wr_answer_read_items(struct wr_reply *answer, const struct wr_json *doc, wr_json_id list);

#endif
