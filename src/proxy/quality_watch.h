/* quality_watch.h -- how tasks go: the last prompt of every conversation, what the next one shows
 * beside it, and what is learnt from that (docs/quality.md). */
#ifndef WR_PROXY_QUALITY_WATCH_H
#define WR_PROXY_QUALITY_WATCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "proxy/answers.h"
#include "quality/bust.h"
#include "quality/learning.h"
#include "quality/observe.h"

/* ==== the last prompt of every conversation ====
 *
 * It is for the next one to be compared with.
 *
 * A conversation is a session's first user message under one model: helpers that run under the
 * session's name begin otherwise. Its last prompt is the last one that was answered; one that was
 * refused left nothing behind. Prompts are kept as hashes, never as text. The oldest give way when
 * there are too many (WR_QUALITY_PROMPTS_MAX, WR_QUALITY_TABLE_BLOCKS_MAX). What is not known here
 * may be brought from the notes of an earlier process. For any thread.
 */

/* What is remembered of a prompt as the bytes of a note: hashes and figures, so
 * that a server that was started since can judge the next one of its conversation. */

/* Of a very long prompt only the front is kept. */
void wr_prompt_note_encode(const struct wr_bust_sent *sent, struct wr_buf *out);

/* Blocks are in `arena`; sent->prompt is `prompt`. False: the bytes are no such note, or there is
 * no memory. */
bool wr_prompt_note_decode(struct wr_arena *arena, weir_span bytes, struct wr_prompt *prompt,
                           struct wr_bust_sent *sent);

void wr_chain_note_encode(const struct wr_bust_chain *chain, struct wr_buf *out);
bool wr_chain_note_decode(weir_span bytes, struct wr_bust_chain *chain);

struct wr_prompts;

struct wr_prompts *wr_prompts_new(void);          /* NULL: out of memory */
void wr_prompts_free(struct wr_prompts *prompts); /* NULL is fine */

struct wr_prompts_seen {
    struct wr_bust_check check;
    bool is_repeated; /* the very prompt that came before: sent again */
    uint64_t ticket;  /* by which its answer is told; 0: it could not be kept */
};

/* Whether there is a last prompt that `now` can be compared with: one that it goes on from, and not
 * one before others of the conversation that went to another node or worker. */
bool wr_prompts_knows(struct wr_prompts *prompts, uint64_t session, const struct wr_bust_sent *now);

/* `last`, which is copied, is the last prompt of its conversation, unless one is known that is as
 * long. */
void wr_prompts_restore(struct wr_prompts *prompts, uint64_t session,
                        const struct wr_bust_sent *last);

/* Compares `now` with the last prompt of its conversation. `changed`, of now->prompt->blocks_count,
 * is set for what the model saw in another form. */
struct wr_prompts_seen wr_prompts_take(struct wr_prompts *prompts, uint64_t session,
                                       const struct wr_bust_sent *now, bool *changed);

/* It was answered, and is now the last one; `cached_tokens` as in struct wr_bust_sent. It is
 * appended to `note` as above; NULL: nobody wants it. */
void wr_prompts_answered(struct wr_prompts *prompts, uint64_t ticket, int64_t cached_tokens,
                         struct wr_buf *note);

/* It was not, or not in this form. */
void wr_prompts_forget(struct wr_prompts *prompts, uint64_t ticket);

/* ==== from request to answer ====
 *
 * The request is watched on the projector's thread, where it is parsed; the answer on the loop. A
 * note goes with the request from one to the other.
 */

struct wr_watch;

struct wr_watch_options {       /* what is pointed at outlives the watch */
    const char *store_dir;      /* NULL: nothing is learnt */
    struct wr_answers *answers; /* NULL: none is known whose history the provider holds */
    struct wr_notes *notes;     /* NULL: nothing outlives the process */
};

/* NULL: out of memory. */
struct wr_watch *wr_watch_new(const struct wr_watch_options *options);
void wr_watch_free(struct wr_watch *watch); /* NULL is fine */

enum { WR_BLIND_PLACE_BYTES = 2 * WR_PROMPT_PLACE_BYTES + 64 };

/* What is known of one request. Zeroed: nothing. */
struct wr_watch_note {
    bool is_seen;    /* the request was read */
    bool is_changed; /* and its projection differs from it */
    bool is_delta;   /* the provider holds its history */
    uint64_t ticket, session;
    uint64_t first_user;
    struct wr_bust_chain chain; /* of this request, for one that goes on from its answer */
    const char *not_judged;     /* why nothing is said of its cache; NULL: it is, or may be */
    const struct wr_model *model;
    struct wr_quality quality;
    uint32_t outputs_after_edit;
    struct wr_bust_check check;
    struct wr_learner_choice choice;
    char bucket[WR_QUALITY_BUCKET_BYTES_MAX + 1], within[WR_QUALITY_BUCKET_BYTES_MAX + 1];
    char blind[WR_QUALITY_BUCKET_BYTES_MAX + 1]; /* the bucket of blind edits */
    char blind_place[WR_BLIND_PLACE_BYTES];      /* of the newest one; empty: there was none */
};

struct wr_watch_request {
    const struct wr_transcript *transcript;
    weir_span tenant, session;
    weir_span before; /* id of the answer or conversation that it goes on from; empty: none */
    const char *route, *upstream;
    int64_t now_ms;
    bool is_second_try; /* its first try was not shown to anybody */
    bool is_other;      /* it leaves otherwise than the marks of its session say */
};

/* Before it is projected: the policy that was learnt for its session, or `policy`. What it gives
 * lives as long as the note. */
const char *wr_watch_policy(struct wr_watch *watch, const struct wr_watch_request *request,
                            const char *policy, struct wr_watch_note *note);

/* When it is projected; `record` has the engine's part, with its lists. */
void wr_watch_request(struct wr_watch *watch, const struct wr_watch_request *request,
                      const struct wr_record *record, struct wr_watch_note *note);

struct wr_watch_answer {
    bool is_answered;      /* not refused, and not broken off */
    bool was_sent_changed; /* what left is the projection */
    bool was_overflow_retried;
    bool teaches; /* it is a sample of how such sessions go */
    enum wr_answer_error error;
    weir_span answer_id, conversation_id; /* empty: none, or no request can go on from it */
};

/* When its answer is over and in the record: fills in how it goes. Words point into the note. */
void wr_watch_answer(struct wr_watch *watch, const struct wr_watch_answer *answer,
                     struct wr_watch_note *note, struct wr_record *record);

#endif
