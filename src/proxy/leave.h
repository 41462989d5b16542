/* leave.h -- how a request left, and a refusal of it. What an exchange does with both is declared
 * in exchange_inside.h.
 */
#ifndef WR_PROXY_LEAVE_H
#define WR_PROXY_LEAVE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "engine/record.h"
#include "net/http.h"
#include "proxy/rollout.h"

/* ==== how it left ====
 *
 * Requests that left otherwise than the marks of their session say.
 *
 * A projection is compared with the mark of what was sent before, and a step is declared where they
 * differ (engine/marks.h). Some requests leave otherwise: as they came, because the store could not
 * be read or the projection took too long; with their new turn whole, because nothing could be
 * written; or not at all, though a step was marked. The next request goes by the marks again, and
 * then changes what the provider was sent, with nothing to compare with. So it is noted here how
 * such a one left, for the next of its conversation (session, model and first turn, as for pins),
 * which declares that.
 *
 *   leaves as the marks say ── note(): cleared ──▶ nothing to declare
 *   leaves otherwise ── note(), add_reason() ──▶ the next declares what it changes ──▶ cleared
 *
 * The table is in memory that all workers share (metrics.h): the next request may come to another
 * one, and a worker that dies leaves it behind. It ends with the server; another node of a fleet
 * knows by the note of the last prompt, where that has come (quality_watch.h). Each entry is one
 * word, so nobody holds a lock when he is killed. Where it is full an older entry gives way, and
 * with it the declaration, not the request.
 */

struct wr_departures {
    _Atomic uint64_t entries[WR_PROXY_DEPARTURES_MAX]; /* 0: free */
    _Atomic uint64_t own[WR_PROXY_DEPARTURES_MAX];     /* of the proxy's own recall; 0: free */
};

enum { WR_DEPARTURE_TURNS_MAX = 4095 }; /* `to`: not known, all but those that come */

/* How a request left. Zeroed: as the marks of its session say. */
struct wr_departure {
    bool is_other;
    bool is_viewed;    /* with the proxy's own recall in it */
    uint32_t from, to; /* the turns that left whole, whatever the marks say; from > to: none */
    unsigned reason;   /* 1 + enum wr_step_reason: the next is a step in any case; 0: it may be none
                        */
};

/* As it came, with `turns_count` turns; 0: nobody has counted them. */
struct wr_departure wr_departure_whole(uint32_t turns_count);

/* How a request leaves that was projected, or was to be. `is_kept`: its marks are in the store. */
struct wr_departure wr_departure_of(const struct wr_record *record,
                                    const struct wr_transcript *transcript, bool is_viewed,
                                    bool is_kept);

/* The record's request has left so. */
void wr_departures_note(struct wr_departures *departures, const struct wr_record *record,
                        const struct wr_departure *departure);

/* The record's request has left as it came, and could not even be read: of which conversation of
 * its session it is, nobody knows. The next of any declares what it changes. */
void wr_departures_note_unread(struct wr_departures *departures, const struct wr_record *record);

/* What comes next of its conversation is a step for this reason, the word of a record. */
void wr_departures_add_reason(struct wr_departures *departures, const struct wr_record *record,
                              weir_span reason);

/* Of a request that is a step because the one before left otherwise at another node, as that one
 * noted (quality_watch.h). */
void wr_departures_declare(struct wr_record *record, const struct wr_transcript *transcript);

/* ---- what the proxy's own recall adds ----
 *
 * The tool and the exchanges that are put back come from the store, or from what one process
 * remembers where the store was taken away. The next request may find less, or more than the one
 * before had: so each one that has the tool notes what it left with, as far as the answers go that
 * the next has too. A conversation that goes on from an earlier answer is compared with what left
 * there, if that is still noted. */

enum { WR_OWN_EXTENTS_MAX = 4 };

/* Up to one of the client's answers. */
struct wr_own_extent {
    uint64_t answers, puts; /* hashes: of those answers, and of what is put back before their end */
    uint32_t puts_count;    /* exchanges that are put back */
};

struct wr_own_added {
    bool is_known;       /* false: nothing to compare, and nothing to note */
    uint64_t definition; /* hash; 0: there is no tool */
    struct wr_own_extent extents[WR_OWN_EXTENTS_MAX]; /* of all answers, and of fewer each */
    uint32_t extents_count;
};

/* The record's request has left with that. */
void wr_departures_note_own(struct wr_departures *departures, const struct wr_record *record,
                            const struct wr_own_added *added);

/* Before the record's request leaves: what the one before had and this one has not is in the record
 * as lost, and where they differ it is a step, whatever the reason is. `lost_count` are known to be
 * lost without that. */
void wr_departures_compare_own(struct wr_departures *departures, struct wr_record *record,
                               const struct wr_own_added *added, uint32_t lost_count);

/* How the record's request leaves, and, in the record, that what it changes had left otherwise, if
 * that is so. */
struct wr_departure wr_departures_tell(struct wr_departures *departures, struct wr_record *record,
                                       const struct wr_transcript *transcript, bool is_viewed,
                                       bool is_kept);

/* ==== a refusal that is looked at ====
 *
 * Two refusals have a remedy, each tried once and only before a byte was shown: signed thinking
 * that is "bound to a different conversation" (the request goes in its other form, and the session
 * with it), and a prompt that is too long (a step is forced).
 */

struct wr_refusal { /* zeroed: nothing is held */
    bool is_held;
    struct wr_head *head; /* owned; points into `text` */
    struct wr_buf text, body;
};

/* What was refused. */
struct wr_refused {
    weir_span body;         /* as it was sent */
    bool was_changed;       /* what was sent is not what came */
    bool may_project;       /* what came is all here, and may be changed */
    bool was_projected;     /* by the engine, whether or not that changed it */
    uint64_t tokens_sent;   /* where it was */
    uint32_t answer_tokens; /* that it let its answer take; 0: it did not say */
};

struct wr_remedy {
    const char *reason; /* NULL: there is none */
    enum wr_bound bind; /* the form to send instead */
    uint32_t overflow_tokens;
    uint32_t counted_tokens; /* of the prompt, by the provider; 0: it does not say */
    wr_hash128 refused;      /* of the body */
};

/* Holds a copy of the head. False: it cannot be held, show it. */
bool wr_refusal_begin(struct wr_refusal *refusal, const struct wr_head *head);

/* False: it is too long to be a refusal; nothing of `bytes` was taken. */
bool wr_refusal_add(struct wr_refusal *refusal, weir_span bytes);

struct wr_remedy wr_refusal_judge(const struct wr_refusal *refusal,
                                  const struct wr_refused *refused);

/* Whether `body` is what the remedy asks for, and not what was refused: the same bytes would be
 * refused again. `is_changed`: it is not what came. */
bool wr_remedy_fits(const struct wr_remedy *remedy, weir_span body, bool is_changed);
void wr_refusal_release(struct wr_refusal *refusal);

#endif
