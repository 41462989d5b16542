/* own.h -- the proxy's own recall in requests: the tool offered, its exchanges put back.
 *
 * A client without a recall tool is given one by the proxy (docs/own-recall.md). What the client
 * sends lacks its definition and the exchanges in which the model used it. The view of a request is
 * what a client would have sent that has the tool: made here by splicing, so that outside of what
 * is put in every byte is the client's (law L1). All else works on the view.
 */
#ifndef WR_API_OWN_H
#define WR_API_OWN_H

#include "api/api.h"
#include "base/buf.h"
#include "base/hash.h"

/* The definition of our tool in the shape of the API, as a session that begins now gets it. A
 * session keeps, byte for byte, the one it began with, so it is handed in below. */
void wr_own_definition(const struct wr_api *api, struct wr_buf *out);

/* What of a request decides whether the proxy's own recall may be offered. */
struct wr_own_look {
    bool has_tools;      /* a list of tools with at least one the client runs */
    bool has_recall;     /* a recall tool of the client's is among them, */
    bool is_name_taken;  /* and it is called what ours is: two of one name are refused */
    bool may_join;       /* calls could be answered: one answer (no n > 1), no background, no
                          * conversation, and the API has a way to join answers; */
    bool may_call;       /* and the model may call: no tool_choice none */
    bool has_model_turn; /* the model has said something already, here or at the provider */
    bool is_stream;      /* the answer comes as events */
};
struct wr_own_look wr_own_look_at(const struct wr_transcript *transcript, struct wr_arena *arena);

/* An answer of the model in the client's history, behind which an exchange may be missing. */
struct wr_own_answer {
    uint32_t turn;   /* of its segments */
    wr_hash128 seen; /* as wr_join_exchange() gives it: by the ids of its calls; without calls by
                      * its text, white space aside: clients trim it, and join its parts */
    uint32_t first, last; /* its segments */
};
/* All of them, in order, in `arena`. */
WEIR_MUST_USE weir_status wr_own_answers(const struct wr_transcript *transcript,
                                         struct wr_arena *arena,
                                         const struct wr_own_answer **answers, uint32_t *count);

/* An exchange to be put back into an answer. */
struct wr_own_put {
    /* NULL: the answer that the request goes on from, which the provider holds. Only results of
     * calls beside the client's are put in then. */
    const struct wr_own_answer *answer;
    weir_span exchange; /* as wr_join_exchange() encoded it */
    /* It is left out for good: nothing is put in, and the reasoning of its legs, which led to calls
     * that are not there, leaves the answer. Not for one with calls beside the client's. */
    bool leaves;
};

/* Whether an exchange may be left out for good. */
bool wr_own_may_leave(weir_dialect dialect, weir_span exchange, struct wr_arena *arena);

struct wr_own_view {
    weir_span definition;          /* of our tool; empty: the tools stay as they are */
    const struct wr_own_put *puts; /* in the order of their answers */
    size_t puts_count;
    weir_span previous_id; /* of the answer that the request goes on from, in place of the one it
                            * names; empty: that one */
    weir_span elements;    /* to join the end of the list (wr_join_elements); empty: none */
};

/* Writes the request of `transcript` with all of that to `out`. The definition goes before the
 * first tool that has a cache marker, else behind the last. An exchange that does not fit its
 * answer (its parts are not those that the client was shown) is left out and counted in
 * `*left_out`. WEIR_INVALID: the body cannot take it, nothing is written. */
WEIR_MUST_USE weir_status wr_own_view_write(const struct wr_transcript *transcript,
                                            struct wr_arena *arena, const struct wr_own_view *view,
                                            struct wr_buf *out, uint32_t *left_out);

/* An answer that the provider keeps, and that a client asks for by the id it knows. */
struct wr_own_stored {
    weir_span id;       /* that the client knows */
    weir_span exchange; /* that it hides; empty: not known */
    struct wr_arena *arena;
};

/* Writes `body` (the answer, its input items, the word that it is deleted) as the client was shown
 * that answer: under its id, without our tool, our calls and their results, with what earlier legs
 * said. WEIR_INVALID: it is nothing of that, and goes on as it came. */
WEIR_MUST_USE weir_status wr_own_show_stored(const struct wr_api *api, weir_span body,
                                             const struct wr_own_stored *stored,
                                             struct wr_buf *out);

#endif
