/* join.h -- several answers of a model, shown to the client as one.
 *
 * The proxy may offer a recall tool of its own (docs/own-recall.md). When the model calls it, the
 * proxy asks the provider again with the result, and the client gets one answer. A leg is one
 * answer of the provider on the way to that one.
 *
 *   wr_join_new ──▶ wr_join_feed ... ──▶ wr_join_end_leg ─┬─ PLAIN ──────────────▶ wr_join_finish
 *                        ▲                                ├─ BESIDE: set_result ─▶ wr_join_finish
 *                        │                                └─ ASK: set_result, elements
 *                        └──────────── wr_join_next ◀────────┘
 *
 * 1. Until a call of ours has come, the client gets the bytes that the provider sent.
 * 2. Only a block that may be our own call is held until its name is known, and the end of an
 *    answer that has one. Everything else passes event by event.
 * 3. Every way of cutting the legs into chunks gives the client the same bytes.
 * 4. What the client has is a lawful answer of the API: ids, indexes and sequence numbers as of one
 *    answer, the id and model of the first leg, text and thinking of all, calls of its own only,
 *    the stop reason of the last leg. Its usage: outputs added up, input and cache of the last leg.
 * 5. Nothing of our tool is in it: where the provider repeats the tools of a request, ours is left
 *    out, even in an answer that passes otherwise as it came.
 * 6. Memory that runs out breaks the answer (wr_join_is_broken), in any leg.
 */
#ifndef WR_API_JOIN_H
#define WR_API_JOIN_H

#include "api/api.h"
#include "base/buf.h"
#include "base/hash.h"

#define WR_OWN_TOOL_NAME "weir_recall"

struct wr_join;

/* A call of our tool. Both live until wr_join_next() or wr_join_free(). */
struct wr_own_call {
    weir_span id;        /* as the provider gave it, unescaped */
    weir_span arguments; /* JSON text, as the model wrote it; may be wrong */
};

enum wr_join_verdict {
    WR_JOIN_PLAIN, /* the leg has no call of ours */
    WR_JOIN_ASK,   /* calls of ours alone: the model waits for their results */
    WR_JOIN_BESIDE /* calls of ours beside the client's own, which go to the client now */
};

/* NULL: out of memory, or the API has no way to join. `is_stream`: legs come as events. */
struct wr_join *wr_join_new(const struct wr_api *api, bool is_stream);
void wr_join_free(struct wr_join *join); /* NULL is fine */

/* Bytes of the leg at hand, in no coding. Appends to `out` what the client may have by now; of an
 * answer that comes whole that is nothing. */
void wr_join_feed(struct wr_join *join, weir_span bytes, struct wr_buf *out);

/* The provider has sent all of the leg; `out` is as above. A leg that broke off, is an error, or
 * cannot be read is PLAIN if it is the first (what came is what the client gets); later see
 * wr_join_is_broken(). So is one whose call of ours the output limit has cut: the call is hidden,
 * and nobody can answer it.
 */
enum wr_join_verdict wr_join_end_leg(struct wr_join *join, struct wr_buf *out);

/* A later leg is no whole answer, or there was no memory: the client must be told (wr_join_fail),
 * nothing is complete. */
bool wr_join_is_broken(const struct wr_join *join);

/* The calls of ours in the leg that has ended, in order. */
size_t wr_join_calls(const struct wr_join *join, const struct wr_own_call **calls);

/* What a call of the leg that has ended brought. The text is copied. */
void wr_join_set_result(struct wr_join *join, size_t call, weir_span text, bool is_error);

/* ASK, with all results set: what joins the request's list for the next leg, elements with commas
 * between them: the answer of this leg as the API takes it back (signed thinking and encrypted
 * items as they came), then the results. It lives until wr_join_free(). ptr NULL: no memory. */
weir_span wr_join_elements(struct wr_join *join);

/* The next leg begins. */
void wr_join_next(struct wr_join *join);

/* The end that was held, or a whole answer. After PLAIN and BESIDE. */
void wr_join_finish(struct wr_join *join, struct wr_buf *out);

/* What the API's error looks like where the answer is now: an event in a stream, else the whole of
 * an error body. Nothing that says "complete" comes after it. */
void wr_join_fail(struct wr_join *join, const char *message, struct wr_buf *out);

/* What keeps a stream alive, as the API has it; only between events. */
void wr_join_ping(const struct wr_join *join, struct wr_buf *out);

/* With a call of ours in any leg, after the last leg has ended: the exchange as later requests need
 * it (api/own.h), and a hash of what the client saw, by which it is found again. False: out of
 * memory, or there was none. */
bool wr_join_exchange(struct wr_join *join, struct wr_buf *encoded, wr_hash128 *seen);

/* The id of the answer that the client sees, and of the last leg; empty: there is none. */
weir_span wr_join_id_seen(const struct wr_join *join);
weir_span wr_join_id_last(const struct wr_join *join);

#endif
