/* own.h -- the proxy's own recall, on the thread that projects (docs/own-recall.md).
 *
 * A session whose first request offers tools but none that recalls is given one. From then on the
 * thread works on the request's view (api/own.h): what a client with the tool would have sent. What
 * the model asks for is read from the store here, and each exchange is kept there before the client
 * has the end of the answer that hides it.
 *
 * 1. Whether a session has it, and the definition's bytes, is a pin of the session, its model and
 *    its first turn: the tools never change in mid-session.
 * 2. An exchange is a mark, found by its session, the turns before it and the answer that the
 *    client sends back. No match, nothing is put back.
 * 3. What cannot be read is no failure of the request: it goes as it came, and that is told (law
 *    L6). What cannot be kept is lost, and the next request says so.
 */
#ifndef WR_PROXY_OWN_H
#define WR_PROXY_OWN_H

#include "api/join.h"
#include "api/own.h"
#include "proxy/config.h"
#include "proxy/leave.h"
#include "weir/weir.h"

/* What a request has of it. Zeroed: nothing; released by wr_own_release(). */
struct wr_own_part {
    bool is_offered; /* what leaves has our tool, and its answer may call it */
    bool is_viewed;  /* what leaves is the view, with our tool or without */
    bool is_stream;  /* that answer comes as events */
    bool has_begun;  /* the session begins with it: this is its first request */
    weir_hash first_turn;
    struct wr_buf view;
    wr_hash128 before;                /* the client's turns up to the answer */
    uint32_t put_count, misfit_count; /* exchanges put back, and those that did not fit */
    uint32_t left_count;              /* exchanges that are out for good */
    uint32_t lost_count;              /* exchanges that are gone from the store since */
    struct wr_own_added added;
    bool is_unkept;         /* it leaves with, or without, our tool as this process alone knows */
    uint32_t recalls_count; /* of this answer so far */
};

void wr_own_release(struct wr_own_part *part);

/* What our tool did. */
struct wr_own_recalls {
    uint64_t calls_count, missed_count; /* that brought nothing back */
    uint64_t text_bytes;                /* of what was brought back */
};

/* A thread's: what it knows of sessions, and its look into the store. */
struct wr_own;

struct wr_own *wr_own_new(const char *store_dir); /* NULL: out of memory */
void wr_own_free(struct wr_own *own);             /* NULL is fine */

struct wr_own_input {
    struct weir_engine *engine;
    struct weir_store *store; /* NULL: there is no own recall */
    struct wr_arena *arena;
    weir_span tenant, session;
    const char *path; /* of the HTTP request */
    enum wr_recall recall;
    bool may_begin; /* a session that begins may be given it: something may be taken out */
    bool is_answer; /* a model answers; where tokens are counted nothing is kept */
    int64_t now_ms;
};

/* Makes the view of `*request` where the session has an own recall, or begins to, and puts the view
 * in its place; else leaves both as they are. False: what the client's history lacks cannot be
 * found out or put back now, and the request has to go as it came. */
bool wr_own_offer(struct wr_own *own, const struct wr_own_input *input,
                  struct weir_request **request, struct wr_own_part *part);

/* Once the request is projected, and before an exchange is kept: a store that took the place of
 * another meanwhile gets what this thread remembers of the session. `model` is the request's. */
void wr_own_settle(struct wr_own *own, const struct wr_own_input *input, weir_span model,
                   struct wr_own_part *part);

/* Writes a request that is not to be changed, but goes on from an answer of several legs: from the
 * last of them. False: it does not, and nothing is written. */
bool wr_own_chain(const struct wr_own_input *input, const struct weir_request *request,
                  struct wr_buf *out);

/* Answers the calls of the leg that has ended. */
struct wr_own_recalls wr_own_answer(struct wr_own *own, weir_span tenant, struct wr_join *join,
                                    struct wr_own_part *part);

/* The view gets what the leg brought: the next request. False: it cannot be made. */
bool wr_own_extend(const struct wr_own_input *input, struct wr_join *join,
                   struct wr_own_part *part);

/* Keeps the exchange for later requests, and by which id the provider knows an answer that the
 * client knows by another. False: it could not be. */
bool wr_own_keep(const struct wr_own_input *input, struct wr_join *join,
                 const struct wr_own_part *part);

/* The first request went out without our tool after all (it waited too long): so does every later
 * one, for the tools do not change in mid-session. `model` is the request's. */
void wr_own_forget(const struct wr_own_input *input, weir_span model,
                   const struct wr_own_part *part);

/* The id under which the provider has the answer that the client calls `id`, in the arena; empty:
 * that same one. */
weir_span wr_own_id(const struct wr_own_input *input, weir_span id);

/* The same, with the exchange that the answer hides; both are appended, as far as there are any. */
void wr_own_find_stored(const struct wr_own_input *input, weir_span id, struct wr_buf *last_id,
                        struct wr_buf *exchange);

#endif
