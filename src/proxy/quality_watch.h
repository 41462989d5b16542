/* quality_watch.h -- how tasks go, watched from request to answer: signs of quality, cache busts,
 * and what is learnt from them (docs/quality.md).
 *
 * The request is watched on the projector's thread, where it is parsed; the answer on the loop. A
 * note goes with the request from one to the other.
 */
#ifndef WR_PROXY_QUALITY_WATCH_H
#define WR_PROXY_QUALITY_WATCH_H

#include "proxy/answers.h"
#include "proxy/quality_prompts.h"
#include "quality/learner.h"
#include "quality/observe.h"

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
