/* own_api.h -- what own.c, join.c and the files of the APIs share about exchanges of the proxy's
 * own recall. Private to src/api.
 *
 * An exchange, encoded:
 *
 *   "WX" version dialect legs-count  leg ...  xxh64 of all that, 8 bytes, low byte first
 *   leg that asked:    0 elements
 *   leg with others:   1 parts-count hidden-count  (calls-before parts-before call result) ...
 *
 * Numbers are LEB128, texts have their length in front. A leg without calls of ours is the last,
 * and nothing of it is kept: the client has all of it.
 */
#ifndef WR_API_OWN_API_H
#define WR_API_OWN_API_H

#include "api/join_api.h"
#include "api/own.h"

/* A call of ours beside the client's. */
struct wr_own_hidden {
    uint32_t calls_before; /* of the client's, in the same leg */
    uint32_t parts_before; /* blocks, items or calls that the client was shown, likewise */
    weir_span call, result;
};

struct wr_own_leg {
    weir_span elements;   /* of a leg that asked; empty: it had other calls */
    uint32_t parts_count; /* that the client was shown of the other kind */
    struct wr_own_hidden *hidden;
    uint32_t hidden_count;
};

struct wr_own_exchange {
    struct wr_own_leg *legs;
    uint32_t legs_count;
};

void wr_own_encode(weir_dialect dialect, const struct wr_leg *legs, size_t legs_count,
                   struct wr_buf *out);
/* WEIR_INVALID: it is damaged, or of another API. Spans point into `bytes`. */
WEIR_MUST_USE weir_status wr_own_decode(weir_dialect dialect, weir_span bytes,
                                        struct wr_arena *arena, struct wr_own_exchange *exchange);

/* The elements of a leg as a list. */
WEIR_MUST_USE weir_status wr_own_parse_elements(struct wr_arena *arena, weir_span elements,
                                                struct wr_json *doc);

wr_hash128 wr_own_seen_of_legs(const struct wr_leg *legs, size_t legs_count);

/* ---- for the files of the APIs ---- */

enum wr_own_edit_kind { WR_OWN_REMOVE, WR_OWN_INSERT, WR_OWN_TEXT, WR_OWN_JSON };

struct wr_own_edit {
    enum wr_own_edit_kind kind;
    wr_json_id container, child; /* a text or a value is the child */
    weir_span text;
};

/* Edits of a request, kept until it is known that all of an exchange fits. */
struct wr_own_edits {
    const struct wr_transcript *t;
    struct wr_arena *arena;
    const struct wr_own_answer *answer; /* NULL: the one that the request goes on from */
    const struct wr_own_exchange *exchange;
    struct wr_own_edit *items;
    size_t count, cap;
    weir_status status;
};

void wr_own_remove(struct wr_own_edits *edits, wr_json_id container, wr_json_id child);
void wr_own_insert(struct wr_own_edits *edits, wr_json_id container, wr_json_id child,
                   weir_span json);
void wr_own_set_text(struct wr_own_edits *edits, wr_json_id id, weir_span text);
void wr_own_set_json(struct wr_own_edits *edits, wr_json_id id, weir_span json);

/* What stands of the legs that asked in the answer that the client sends back. */
struct wr_own_front {
    weir_span text;  /* all that they said; what is left of it while it is being found */
    uint64_t *marks; /* of parts that are no text (wr_own_mark) */
    size_t marks_count, marks_cap;
    bool has_begun; /* some of the text was found */
};

/* Collects it with `read_element`, called for each element of each leg. False: out of memory, or an
 * exchange is no JSON. */
typedef void wr_own_element_fn(struct wr_own_edits *edits, const struct wr_json *doc,
                               wr_json_id element, struct wr_own_front *front, struct wr_buf *text);
bool wr_own_read_front(struct wr_own_edits *edits, wr_own_element_fn *read_element,
                       struct wr_own_front *front);
void wr_own_add_mark(struct wr_own_edits *edits, struct wr_own_front *front, uint64_t mark);
bool wr_own_has_mark(const struct wr_own_front *front, uint64_t mark);
/* What tells a block or an item that is no text from others: its id, signature or data. */
uint64_t wr_own_mark(const struct wr_json *doc, wr_json_id part, struct wr_arena *arena);
/* The same of a part that the client may have sent back without its id. */
uint64_t wr_own_mark_without_id(const struct wr_json *doc, wr_json_id part, struct wr_arena *arena);

/* A hash of what a value says, however it is spelt and in whatever order its members stand. Numbers
 * are no part of it: some clients write 1 as 1.0. */
uint64_t wr_own_likeness(const struct wr_json *doc, wr_json_id value, struct wr_arena *arena);

enum wr_own_match {
    WR_OWN_NO_MATCH,
    WR_OWN_ALL, /* the text is all of the front's: it leaves */
    WR_OWN_CUT  /* what follows the front's stays: `*rest` */
};
/* Looks for the front's text where `said` begins; white space aside. */
enum wr_own_match wr_own_match_text(struct wr_own_front *front, weir_span said, weir_span *rest);
bool wr_own_front_is_over(const struct wr_own_front *front);

/* What becomes of the content of a message, a string or parts. */
enum wr_own_fate {
    WR_OWN_FITS_NOT,
    WR_OWN_STAYS, /* it, or what is left of it; the edits are made */
    WR_OWN_GONE   /* all of it is the front's; no edits are made */
};
enum wr_own_fate wr_own_cut_content(struct wr_own_edits *edits, struct wr_own_front *front,
                                    wr_json_id content);
bool wr_own_is_text_part(const struct wr_json *doc, wr_json_id part);

/* Puts the elements of the legs that asked before `child`. */
void wr_own_insert_elements(struct wr_own_edits *edits, wr_json_id child);
/* The last leg, where it had other calls than ours; else NULL. */
const struct wr_own_leg *wr_own_beside(const struct wr_own_edits *edits);

/* chat.c: requests of Chat Completions, for the table in join_chat.c. */
bool wr_own_chat_may_join(const struct wr_json *doc);
bool wr_own_chat_is_hosted(const struct wr_json *doc, wr_json_id tool);
bool wr_own_chat_put_back(struct wr_own_edits *edits);

/* join_blocks.c: requests whose messages are lists of blocks (Messages, Converse). */
bool wr_own_blocks_put_back(struct wr_own_edits *edits);

/* responses.c: whether an item is a call that the client answers; whether it is such an answer. */
bool wr_responses_is_call(const struct wr_json *doc, wr_json_id item);
bool wr_responses_is_result(const struct wr_json *doc, wr_json_id item);

/* The text of a string; empty where it is none. */
weir_span wr_own_text(struct wr_own_edits *edits, const struct wr_json *doc, wr_json_id id);

#endif
