/* join_api.h -- what join.c and the files of the APIs share when answers are joined. Private to
 * src/api.
 *
 * An event goes through join_event() of the API, which does one of four things with it: shows it as
 * it came (wr_join_show with no edits), shows it with other numbers, hides it, or holds it, because
 * it may be the end of the answer (wr_join_hold) or may be our call (wr_join_queue). What is held
 * comes again at the end of the last leg, with `is_ending` set.
 *
 * When a leg has ended it is read from its bytes (read_leg) into parts, in the order of the model.
 */
#ifndef WR_API_JOIN_API_H
#define WR_API_JOIN_API_H

#include "api/answer.h"
#include "api/events.h"
#include "api/join.h"
#include "json/splice.h"
#include "json/write.h"

enum wr_leg_kind { WR_LEG_TEXT, WR_LEG_CALL, WR_LEG_OWN, WR_LEG_OTHER };

struct wr_leg_part {
    enum wr_leg_kind kind;
    weir_span json; /* a block, an item or a call as it goes back; else see the API's file */
    weir_span text; /* what a text says; of a call of ours what it is called with */
    weir_span id;   /* of a call, unescaped; of the client's the bytes of its mark, if it has one */
    bool is_dropped; /* it cannot go back: the API would refuse it */
};

struct wr_leg {
    weir_span bytes; /* of one that came whole */
    weir_span id;    /* of the answer */
    struct wr_leg_part *parts;
    size_t parts_count, parts_cap;
    struct wr_own_call *calls;
    struct wr_leg_part **own; /* the parts that they are */
    weir_span *results;       /* of them, as elements, blocks or items of a request */
    size_t calls_count;
    weir_span elements;
    struct wr_seen_usage usage;
    char finish[32];
    bool is_finished; /* it said that it is complete */
    bool has_error;
    bool lists_items; /* the event that ends it repeats what came before */
    enum wr_join_verdict verdict;
};

struct wr_join_event {
    weir_span raw; /* its bytes as they came */
    weir_span name, data;
    const struct wr_json *doc; /* NULL: the data is no JSON object */
};

/* A block, item or call of the leg at hand: its number there, and the one that the client knows. */
struct wr_join_number {
    int64_t from, to; /* to -1: it is hidden */
    weir_span id;     /* of a hidden item; else empty */
};

enum wr_join_form {
    WR_JOIN_FORM_UNKNOWN, /* nothing but white space has come */
    WR_JOIN_FORM_EVENTS,
    WR_JOIN_FORM_WHOLE,
    WR_JOIN_FORM_DEAF /* too long to be read: it passes */
};

struct wr_join {
    const struct wr_api *api;
    bool is_stream;
    enum wr_join_form form;  /* of the leg at hand */
    struct wr_arena kept;    /* lives as long as the join */
    struct wr_arena scratch; /* of one event */
    struct wr_buf *out;      /* of the call at hand */
    struct wr_sse sse;
    struct wr_buf block; /* an event that is not complete yet */
    size_t line_bytes;   /* of its last line */
    bool after_cr;
    weir_span raw; /* the event at hand */
    bool has_event;
    struct wr_buf bytes;       /* of the leg */
    struct wr_buf held, queue; /* events */
    bool is_ending;            /* the events are those that were held */
    bool is_replaying;         /* and those of the queue: what they are is known */
    bool has_shown;            /* a byte has gone to the client */

    struct wr_leg *legs;
    size_t legs_count, legs_cap; /* those that have begun */

    bool has_hidden;                /* the leg at hand has a call of ours */
    bool has_error;                 /* and an error */
    struct wr_join_number *numbers; /* of the leg at hand */
    size_t numbers_count, numbers_cap;
    int64_t number_next; /* of what is shown, in all legs */
    int64_t sequence_next;
    bool has_role;
    weir_span id, model, created; /* of the first leg, as they are spelt; empty: not said */
    void *calls;                  /* chat.c's, of the leg at hand; in `kept` */

    weir_status status;
    bool is_broken;
};

struct wr_own_edits;  /* api/own_api.h */
struct wr_own_stored; /* api/own.h */

/* What an API brings. */
struct wr_joiner {
    void (*join_event)(struct wr_join *join, const struct wr_join_event *event);
    /* `leg->bytes` has a whole answer, else join->bytes the events. */
    void (*read_leg)(struct wr_join *join, struct wr_leg *leg);
    /* The body of the last leg with all that the legs before it have shown. */
    void (*edit_whole)(struct wr_join *join, struct wr_splice *splice, const struct wr_json *doc);
    /* What goes back of a leg, then the results: elements of the request's list. */
    void (*write_elements)(const struct wr_leg *leg, struct wr_buf *out);
    void (*write_result)(struct wr_json_writer *writer, const struct wr_own_call *call,
                         weir_span text, bool is_error);
    /* An error as an event: what stands around the object that the API says it with; or, where
     * that is not all of it, a function. */
    const char *error_front, *error_back;
    void (*write_error)(struct wr_join *join, const char *message, struct wr_buf *out);
    const char *ping;
    const char *const *call_words; /* why an answer ended whose calls are whole; NULL at the end */

    /* Requests (api/own.h). */
    bool (*may_join)(const struct wr_json *doc);
    bool (*is_hosted)(const struct wr_json *doc, wr_json_id tool); /* the provider runs it */
    /* Whether the model may not call; NULL: `tool_choice` says so. */
    bool (*bars_calls)(const struct wr_json *doc);
    /* The list that a definition goes into; NULL: `tools`. */
    wr_json_id (*find_tools)(const struct wr_transcript *transcript);
    /* What tells a call of the client's from others where ids may be missing; NULL: its id does. */
    uint64_t (*mark_call)(const struct wr_json *doc, wr_json_id part, struct wr_arena *arena);
    /* Edits that put an exchange back; false: it does not fit. */
    bool (*put_back)(struct wr_own_edits *edits);
    /* Edits of a body by which the provider tells of an answer; NULL: it never does. */
    void (*show_stored)(struct wr_splice *splice, const struct wr_json *doc,
                        const struct wr_own_stored *stored);
};

extern const struct wr_joiner wr_joiner_chat, wr_joiner_responses, wr_joiner_messages,
    wr_joiner_gemini, wr_joiner_converse, wr_joiner_ollama;

/* ---- what events become ---- */

static inline bool wr_join_is_first(const struct wr_join *join)
{
    return join->legs_count == 1;
}

/* Whether the client still gets just what comes. */
static inline bool wr_join_is_plain(const struct wr_join *join)
{
    return join->legs_count == 1 && !join->has_hidden;
}

void wr_join_fail_with(struct wr_join *join, weir_status status);

/* Shows an event, with the edits of `splice` unless it is NULL. */
void wr_join_show(struct wr_join *join, const struct wr_join_event *event,
                  struct wr_splice *splice);
/* Holds it, likewise. */
void wr_join_hold(struct wr_join *join, const struct wr_join_event *event,
                  struct wr_splice *splice);
/* Until wr_join_unqueue(), which gives them to join_event() again with `is_replaying` set. The
 * event at hand is gone then. */
void wr_join_queue(struct wr_join *join, const struct wr_join_event *event);
void wr_join_unqueue(struct wr_join *join);

/* The row of a number of this leg; NULL: it has none yet. */
struct wr_join_number *wr_join_number_find(struct wr_join *join, int64_t from);
/* Gives it one. */
struct wr_join_number *wr_join_number_add(struct wr_join *join, int64_t from, bool is_hidden);
/* Replaces a number unless it is that already. */
void wr_join_set_number(struct wr_join *join, struct wr_splice *splice, wr_json_id id,
                        int64_t number);

/* Notes the ids of the first leg's envelope, and gives them to that of a later one. */
void wr_join_envelope(struct wr_join *join, struct wr_splice *splice, const struct wr_json *doc,
                      wr_json_id envelope);

/* Usage as of all legs. */
void wr_join_edit_usage(struct wr_join *join, struct wr_splice *splice, const struct wr_json *doc,
                        wr_json_id usage);

bool wr_join_is_own(const struct wr_json *doc, wr_json_id name);
weir_span wr_join_printf_i64(struct wr_join *join, int64_t number);

/* ---- legs ---- */

struct wr_leg_part *wr_leg_add(struct wr_join *join, struct wr_leg *leg, enum wr_leg_kind kind);
weir_span wr_join_keep(struct wr_join *join, weir_span bytes);

/* Parts of the legs before the last, elements of a list, that the client was shown. */
void wr_join_insert_shown(struct wr_join *join, struct wr_splice *splice, const struct wr_json *doc,
                          wr_json_id list);
/* converse.c: a block of an answer, `input` being what a call is called with. */
void wr_converse_write_part(struct wr_json_writer *writer, const struct wr_part *part,
                            weir_span input);

/* Removes calls of ours from a list of calls, blocks or items. */
void wr_join_remove_own(struct wr_splice *splice, const struct wr_json *doc, wr_json_id list);

/* join_blocks.c: a leg that is a list of blocks. `write_block` writes one as it goes back. */
typedef void wr_leg_block_fn(struct wr_join *join, struct wr_buf *out, const struct wr_part *part);
void wr_leg_read_blocks(struct wr_join *join, struct wr_leg *leg, wr_leg_block_fn *write_block);
void wr_leg_write_blocks(const struct wr_leg *leg, struct wr_buf *out);
/* A whole answer whose blocks are `content`: it shows those of all legs, and no call of ours. */
void wr_leg_edit_blocks(struct wr_join *join, struct wr_splice *splice, const struct wr_json *doc,
                        wr_json_id content);
/* The parts that go back, and what the calls were answered with; commas between them. */
void wr_leg_write_parts(const struct wr_leg *leg, struct wr_buf *out);
void wr_leg_write_results(const struct wr_leg *leg, struct wr_buf *out);
/* What a call is called with, where that is an object: the API takes nothing else. Borrowed from
 * the part. */
weir_span wr_leg_input(struct wr_join *join, const struct wr_part *part);

/* Reads a leg with answer.h and fills in all but the parts, which are then in `reply`. Both are the
 * caller's to release. */
void wr_leg_read_answer(struct wr_join *join, struct wr_leg *leg, struct wr_arena *arena,
                        struct wr_reply *reply);

#endif
