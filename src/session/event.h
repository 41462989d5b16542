/* event.h -- one thing that happened in a session: a line of its journal.
 *
 *   {"seq":7,"at_ms":1763218000000,"kind":"result","call_id":"c1","name":"Bash","text":"ok\n"}
 *
 * 1. A line is one JSON object without a line break in it; reading what was written gives the same
 *    event, byte for byte in every text and item.
 * 2. A text that is not UTF-8 is kept with U+FFFD for what is not, and whole, in hex, beside it.
 * 3. An item that has line breaks between its values is written as a string; it comes back the
 * same.
 * 4. A kind that is not known is read as `other`: a newer Weir wrote it, and it changes nothing.
 */
#ifndef WR_SESSION_EVENT_H
#define WR_SESSION_EVENT_H

#include "json/json.h"
#include "weir/session.h"

#define WR_EVENT_KIND_MAP(X)                                                              \
    X(OTHER, "other")                                                                     \
    X(USER, "user")             /* text, images */                                        \
    X(STEERING, "steering")     /* text, images */                                        \
    X(ASSISTANT, "assistant")   /* text, calls, model; api and items */                   \
    X(RESULT, "result")         /* text, call_id, name, is_error */                       \
    X(TURN, "turn")             /* a request left; text: what it said of the moment */    \
    X(PROMPT, "prompt")         /* text: the system prompt from now on; pieces */         \
    X(TOOLS, "tools")           /* pieces: the tools from now on */                       \
    X(MODEL, "model")           /* model, window */                                       \
    X(SUMMARY, "summary")       /* text, path, by; before */                              \
    X(COMPACTION, "compaction") /* why, before, summary, omitted, drops_words, kept */    \
    X(NOTE, "note")             /* text */                                                \
    X(USAGE, "usage")           /* model, input, cache_read, cache_write, output, cost */ \
    X(SPENT, "spent")           /* as usage, by others for this run: why; turns, calls */ \
    X(IMPORTANCE, "importance") /* of, score */                                           \
    X(RUN, "run")               /* limits count anew */                                   \
    X(PAUSE, "pause")                                                                     \
    X(RESUME, "resume")                                                                   \
    X(BEGUN, "begun") /* call_id: it is being carried out */                              \
    X(SENT, "sent")   /* what the request consists of as it leaves */

enum wr_event_kind {
#define X(name, text) WR_EVENT_##name,
    WR_EVENT_KIND_MAP(X)
#undef X
        WR_EVENT_KINDS_COUNT
};

/* Where in its journal an event stands. */
struct wr_place {
    uint64_t seq;       /* 0: nowhere */
    uint64_t at, bytes; /* of its line, without the break */
};

/* Tokens of a request as it leaves, by what they are. */
struct wr_sent {
    uint64_t system_tokens; /* with framing, which is nobody's words */
    uint64_t tools_tokens, user_tokens, assistant_tokens, calls_tokens, results_tokens;
    uint64_t usable_tokens; /* the window less what the answer may take */
};

struct wr_event {
    uint64_t seq;
    uint64_t line_at, line_bytes; /* filled in by the journal; no part of the line */
    int64_t at_ms;
    enum wr_event_kind kind;
    weir_span text;
    weir_span hex; /* of a text that was not UTF-8; empty otherwise */
    weir_span model;
    const struct weir_call *calls;
    uint32_t calls_count;
    weir_dialect dialect; /* of the items */
    const weir_span *items;
    uint32_t items_count;
    weir_span call_id, name;
    bool is_error;
    uint64_t of;      /* importance: an event; summary and compaction: events before it leave */
    uint64_t number;  /* importance: the score; model: the window; compaction: omitted in all */
    uint64_t summary; /* compaction: the event that has it; 0: none */
    bool drops_words; /* compaction: the user's too */
    const uint64_t *kept;
    uint32_t kept_count;
    weir_span images;    /* of words: which ones, see images.h */
    weir_span path, why; /* why: also `by` of a summary */
    weir_span pieces;    /* prompt and tools: what it is made of, see prompt.h */
    struct weir_session_usage usage;
    uint64_t cost_micro_usd;
    bool is_unpriced;           /* usage and spent: the model has no price that is known */
    uint64_t turns, tool_calls; /* spent */
    struct wr_sent sent;
};

const char *wr_event_kind_name(enum wr_event_kind kind);

/* Appends the event's line, '\n' included. Failure is the buffer's: WEIR_INVALID for an id, a name
 * or an item that is not UTF-8. */
void wr_event_write(struct wr_buf *out, const struct wr_event *event);

/* Reads a line without its '\n'. Everything is in `arena` or borrowed from `line`. WEIR_SYNTAX: it
 * is no JSON; WEIR_INVALID: it is no event. `err` has the byte in the line. */
WEIR_MUST_USE weir_status wr_event_read(struct wr_event *event, struct wr_arena *arena,
                                        weir_span line, struct weir_err *err);

/* A copy whose every part is in `arena`. */
WEIR_MUST_USE weir_status wr_event_copy(struct wr_event *to, struct wr_arena *arena,
                                        const struct wr_event *from);

/* Sets text, and hex where it is not UTF-8. Borrowed, or in `arena`. */
WEIR_MUST_USE weir_status wr_event_set_text(struct wr_event *event, struct wr_arena *arena,
                                            weir_span text);

#endif
