/* import_draft.h -- a session while it is read: messages in the order of the log, then in order.
 *
 * Logs give results late, several times or never, and one model output in several entries. A draft
 * takes them as they come; wr_draft_finish() puts every result behind its call, answers what was
 * not answered, and writes the messages. Private to the importers.
 *
 * 1. Content and arguments are given as the inside of a JSON string, escapes and all, so that what
 *    is only carried over is never rewritten; ids and names are plain text. All are borrowed until
 *    finish.
 * 2. A draft fails once and for all: `status` is asked at the end.
 */
#ifndef WR_LAB_IMPORT_DRAFT_H
#define WR_LAB_IMPORT_DRAFT_H

#include <stdbool.h>

#include "base/hash.h"
#include "lab/import.h"

/* ---- numbered texts ----
 *
 * Borrowed texts, numbers without gaps, constant time. Private to the importers.
 */

#define WR_NAMES_NONE UINT32_MAX

struct wr_names {
    weir_span *items;
    uint32_t *values; /* what the caller knows of each; 0 at first */
    uint32_t count, cap;
    struct wr_index index;
};

/* The number of `text`, which is new where `*is_new` says so. NONE: no memory. */
uint32_t wr_names_add(struct wr_names *names, struct wr_arena *arena, weir_span text, bool *is_new);

/* The number of `text`, or NONE. */
uint32_t wr_names_find(const struct wr_names *names, weir_span text);

/* ---- import draft ---- */

#define WR_DRAFT_NONE UINT32_MAX

struct wr_draft_part {
    weir_span text;
    uint32_t next;
};

struct wr_draft_message {
    weir_role role; /* NONE: a compaction stands here */
    bool is_hidden; /* only part of what a compaction left */
    bool thinks;    /* signed thinking came before it */
    bool is_hosts;  /* an output that the host wrote: no model was asked for it */
    int64_t time_ms;
    uint32_t first_part, last_part; /* its texts, joined by line breaks */
    uint32_t first_call, last_call;
    uint32_t compaction;
};

struct wr_draft_call {
    weir_span id; /* as it will be written */
    weir_span name, arguments, result;
    bool is_answered;
    int64_t result_ms;
    uint32_t message, next; /* next call of its message */
    uint32_t same_id;       /* next call that the log gave the same id */
    uint32_t cleared_by;    /* the first compaction that cleared its result, or NONE */
};

/* Calls that the log gave one id, in the order they were made. */
struct wr_draft_queue {
    uint32_t head, tail; /* those before `head` are answered */
    uint32_t newest;     /* in the newest output that has the id: those before it are answered */
};

struct wr_draft_compaction {
    uint32_t kept_first, kept_count; /* of `kept`; results follow their calls */
    uint32_t message;                /* where it stands */
};

struct wr_draft_model {
    weir_span name;
    uint32_t count;
};

struct wr_draft {
    struct wr_arena *arena; /* borrowed: until finish */
    uint64_t *notes;        /* borrowed */
    weir_status status;     /* sticky */
    const char *missing;    /* what the host answers in place of a result; NULL: our own words */
    struct wr_draft_message *messages;
    struct wr_draft_part *parts;
    struct wr_draft_call *calls;
    struct wr_draft_queue *queues; /* one for each of `log_ids` */
    struct wr_draft_compaction *compactions;
    uint32_t *kept;
    struct wr_draft_model *models;
    uint32_t messages_count, messages_cap, parts_count, parts_cap, calls_count, calls_cap;
    uint32_t queues_count, queues_cap;
    uint32_t compactions_count, compactions_cap, kept_count, kept_cap, models_count, models_cap;
    uint32_t oldest_open;     /* before it all calls are answered */
    uint32_t newest_call;     /* the first call of the newest output that has calls */
    weir_span output_id;      /* of the newest model output, where its format has one */
    uint32_t made_ids;        /* the number in the newest id that was made here */
    bool is_hiding;           /* new messages are only part of what a compaction left */
    struct wr_names log_ids;  /* ids of calls as the log has them */
    struct wr_names used_ids; /* and as they will be written */
};

void wr_draft_init(struct wr_draft *draft, struct wr_arena *arena, uint64_t *notes);

/* A message of the system or the user. Nothing where `content` is empty. Returns its number. */
uint32_t wr_draft_say(struct wr_draft *draft, weir_role role, weir_span content, int64_t time_ms);

/* A model output. One that stays without text and calls is left out. */
uint32_t wr_draft_answer(struct wr_draft *draft, weir_span content, int64_t time_ms);

/* Signed thinking stood before a model output; nothing of it is kept. */
void wr_draft_think(struct wr_draft *draft, uint32_t message);

/* More text of a message, behind a line break. */
void wr_draft_append(struct wr_draft *draft, uint32_t message, weir_span content);

/* A call in a model output. An empty id is one the log does not give. Returns the call's number. */
uint32_t wr_draft_call(struct wr_draft *draft, uint32_t message, weir_span id, weir_span name,
                       weir_span arguments);

/* The host, not a model, wrote this output: no request led to it. */
void wr_draft_by_host(struct wr_draft *draft, uint32_t message);

/* A result of an open call of that id, of any where `id` is empty. Where several are open (ids that
 * are missing, redacted alike or used again) it is the first of the newest output that has one: an
 * older call that never got a result takes no other's. Where that has none it is the oldest. */
void wr_draft_result(struct wr_draft *draft, weir_span id, weir_span content, int64_t time_ms);
void wr_draft_result_of(struct wr_draft *draft, uint32_t call, weir_span content, int64_t time_ms);
bool wr_draft_has_open(struct wr_draft *draft);

/* The number of the newest message, NONE where there is none or it is no model output. */
uint32_t wr_draft_last_answer(const struct wr_draft *draft);

/* One more answer by this model. */
void wr_draft_model(struct wr_draft *draft, weir_span name);

/* The host compacted here; what it left is said next with wr_draft_keep(). Returns the number of
 * the compaction; NONE: there are too many, and this one is not seen. */
uint32_t wr_draft_compact(struct wr_draft *draft);

/* Keeps a message, with the results of its calls, in the newest compaction. */
void wr_draft_keep(struct wr_draft *draft, uint32_t message);

/* Walks what a request would have had just before the newest compaction: from `*at` 0 until NONE.
 */
uint32_t wr_draft_view_next(const struct wr_draft *draft, uint32_t *at);

/* Keeps all of that. */
void wr_draft_keep_all(struct wr_draft *draft);

/* From the newest compaction on, the call's result is the mark that hosts leave. */
void wr_draft_clear(struct wr_draft *draft, uint32_t call);

/* A call by the id that the log gave it, the newest one, open or not; NONE where there is none. */
uint32_t wr_draft_find_call(const struct wr_draft *draft, weir_span id);

/* Plain text as the inside of a JSON string. */
weir_span wr_draft_escape(struct wr_draft *draft, weir_span text);

/* What a buffer holds, as it is or escaped; the buffer is released, and its failure the draft's. */
weir_span wr_draft_take(struct wr_draft *draft, struct wr_buf *buf);
weir_span wr_draft_take_escaped(struct wr_draft *draft, struct wr_buf *buf);

/* Writes the session. WEIR_NOTFOUND where it has no request. */
WEIR_MUST_USE weir_status wr_draft_finish(struct wr_draft *draft, struct wr_arena *arena,
                                          struct wr_session *session);

#endif
