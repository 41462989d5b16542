/* lawful.h -- what a provider refuses, as a list of breaches found in a request (law L4).
 *
 * Weir does not judge the requests it is given: it promises not to make them worse. So a breach
 * counts against an edit only where the original did not have it.
 */
#ifndef WR_API_LAWFUL_H
#define WR_API_LAWFUL_H

#include "transcript/transcript.h"

#define WR_RULE_MAP(X)                                                                \
    X(CALL_UNANSWERED, "a call has no result")                                        \
    X(RESULT_ORPHAN, "a result has no call")                                          \
    X(RESULT_REPEATED, "a call has two results")                                      \
    X(RESULT_NOT_NEXT, "a result does not stand right behind its call")               \
    X(RESULT_AFTER_TEXT, "a result stands behind other content of its message")       \
    X(CALL_NOT_NEXT, "a call does not follow the user or results")                    \
    X(ANSWER_ORPHAN, "what answers a server's tool or request has nothing to answer") \
    X(LIST_EMPTY, "no message is left")                                               \
    X(FIRST_NOT_USER, "the first message is not the user's")                          \
    X(LAST_FROM_MODEL, "the last message is the model's")                             \
    X(CONTENT_EMPTY, "a message has no content")                                      \
    X(TEXT_EMPTY, "a text is empty")                                                  \
    X(MARKERS_OVER, "more cache markers than the provider takes")                     \
    X(MARKER_MISPLACED, "a cache marker stands on empty text or on reasoning")        \
    X(MARKER_ORDER, "a cache marker that lives long stands behind one that does not") \
    X(REASONING_ALONE, "reasoning is not followed by the output it led to")           \
    X(TURNS_NOT_TAKEN, "two messages of one side follow each other")                  \
    X(THINKING_NOT_FIRST, "thinking does not come first in its model output")

enum wr_rule {
#define X(name, text) WR_RULE_##name,
    WR_RULE_MAP(X)
#undef X
};

struct wr_breach {
    enum wr_rule rule;
    weir_span id; /* what tells it from others of its rule: a call id, or bytes of the request */
    uint32_t segment; /* where, or NONE */
};

struct wr_breaches {
    struct wr_breach *items;
    uint32_t count, cap;
    weir_status status; /* sticky: out of memory */
};

const char *wr_rule_text(enum wr_rule rule);

/* The cache marker of a block: its key node, or NONE. */
wr_json_id wr_find_marker(const struct wr_json *doc, wr_json_id block);

/* Whether a node is the key of a cache marker. */
bool wr_lawful_is_marker(const struct wr_json *doc, wr_json_id key);

/* How many cache markers a request has: on tools, instructions and blocks, and the one beside its
 * messages. What only looks like one, in arguments or a schema, counts too. */
uint32_t wr_lawful_markers_count(const struct wr_json *doc);

/* Whether a block has a marker's key, be it null: a second one would be one too many. */
bool wr_lawful_has_marker_key(const struct wr_json *doc, wr_json_id block);

/* Whether a segment's block has a cache marker or can be given one. Instructions, tools, and what
 * the provider signed or is not known here are not written to. */
bool wr_lawful_can_hold_marker(const struct wr_transcript *transcript,
                               const struct wr_segment *segment);

/* Whether the provider keeps what the marker (its key) asks for an hour, not minutes. */
bool wr_lawful_marker_is_long(const struct wr_json *doc, wr_json_id marker);

/* Everything in the request that its provider would refuse, as far as it can be known here. */
WEIR_MUST_USE weir_status wr_lawful_check(const struct wr_transcript *transcript,
                                          struct wr_arena *arena, struct wr_breaches *breaches);

/* A breach of `after` that `before` does not have (as often), or NULL. Sorts both. */
const struct wr_breach *wr_lawful_new_breach(struct wr_breaches *before, struct wr_breaches *after);

#endif
