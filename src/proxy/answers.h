/* answers.h -- what answers say: read as they pass, kept for all workers and in the store. */
#ifndef WR_PROXY_ANSWERS_H
#define WR_PROXY_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/answer.h"
#include "base/arena.h"
#include "base/buf.h"
#include "engine/record.h"
#include "net/http.h"
#include "quality/bust.h"
#include "weir/engine.h"

/* ==== notes in the store ====
 *
 * What this process leaves in the store for a later one: the calls of answers, what prompts were
 * like, what an answer left in the provider's cache.
 *
 * Whoever does not know something, because the server was started since or another worker saw it,
 * asks here. Notes are kept by the ledger's thread; finding one reads the store. For any thread.
 *
 * The bytes of a note are numbers, little-endian, and texts with their length before them. Bytes
 * that are read may be damaged: past their end every number is 0 and every text is empty, and
 * `is_short` says so.
 */

struct wr_notes;
struct wr_ledger_writer;

enum wr_note_kind { WR_NOTE_ANSWER = 1, WR_NOTE_CHAIN, WR_NOTE_PROMPT };

struct wr_note_name {
    enum wr_note_kind kind;
    weir_span tenant;
    weir_span id; /* an answer's, say */
};

/* `store_dir` and `writer` are borrowed. NULL: out of memory. */
struct wr_notes *wr_notes_new(const char *store_dir, struct wr_ledger_writer *writer);
void wr_notes_free(struct wr_notes *notes); /* NULL is fine */

/* The note of that name is `data` from now on, and leaves with `session`. An answer's are kept at
 * once: the next request may need them. `notes` may be NULL. */
void wr_notes_keep(struct wr_notes *notes, const struct wr_note_name *name, weir_span session,
                   weir_span data, int64_t now_ms);

/* The same for a note whose key is made elsewhere (WR_LEDGER_KEY_BYTES). */
void wr_notes_keep_as(struct wr_notes *notes, const unsigned char *key, weir_span tenant,
                      weir_span session, weir_span data, int64_t now_ms);

/* Appends what is kept; false: nothing is, or it cannot be read. `notes` may be NULL. */
bool wr_notes_find(struct wr_notes *notes, const struct wr_note_name *name, struct wr_buf *data);

/* The same for a note that somebody must have kept, or is about to: where the store is shared, the
 * node that gave an answer may be writing it while another is asked to go on from it. Waits for it
 * there, WR_PROXY_NOTE_WAIT_MS at most, unless WR_PROXY_NOTE_WAITERS_MAX wait already. Not for a
 * loop's thread. */
bool wr_notes_await(struct wr_notes *notes, const struct wr_note_name *name, struct wr_buf *data);

void wr_note_put(struct wr_buf *out, uint64_t number, size_t bytes); /* 1 to 8 */
void wr_note_put_text(struct wr_buf *out, weir_span text);

struct wr_note_reader {
    weir_span rest;
    bool is_short;
};

uint64_t wr_note_take(struct wr_note_reader *reader, size_t bytes);
weir_span wr_note_take_text(struct wr_note_reader *reader); /* points into what is read */

/* ==== an answer as it passes ====
 *
 * An answer read along while it passes: its usage, its id, its tool calls.
 *
 * A tap is given the bytes after they were sent on. It never holds one back, never changes one, and
 * what it cannot read it leaves: a failure is the end of the tap, not of the answer.
 */

struct wr_tap {
    enum { WR_TAP_OFF, WR_TAP_STREAM, WR_TAP_FRAMES, WR_TAP_WHOLE } kind;
    struct wr_decoder *decoder;
    struct wr_buf whole;
    struct wr_reply answer; /* its arena is NULL: there was none yet */
};

/* A zeroed tap is off and may be released. `api` NULL: the answer is none of a model's. The arena
 * is emptied for each event. */
void wr_tap_init(struct wr_tap *tap, const struct wr_api *api, const struct wr_head *answer,
                 struct wr_arena *arena);
void wr_tap_feed(struct wr_tap *tap, weir_span bytes);
void wr_tap_end(struct wr_tap *tap);                                  /* reads what came whole */
void wr_tap_tell(const struct wr_tap *tap, struct wr_record *record); /* words point into the tap */
void wr_tap_release(struct wr_tap *tap);

/* ==== answers of the past ====
 *
 * The tool calls of past answers by the answers' ids, for all threads and all workers.
 *
 * A host whose provider holds the history sends results without the calls they answer; whoever
 * reads such a request finds the calls here, and the session that the answer belonged to.
 *
 * The memory is shared by the supervisor and its workers, so it does not matter which of them heard
 * the answer, and a worker that dies takes nothing with it. It is a ring: the oldest give way. What
 * it does not have may be among the notes of an earlier server (wr_notes_find()); what is not there
 * either is not known, and its results stay whole.
 */

struct wr_answers;

struct wr_known_answer {
    weir_span session;
    const struct weir_known_call *calls;
    size_t calls_count;
};

/* NULL: there is no memory to share. It lives until the process ends, and after that in those it
 * has forked. */
struct wr_answers *wr_answers_new(void);

/* Keeps a copy. What has no id is not kept; one without calls is, for its session. */
void wr_answers_keep(struct wr_answers *answers, weir_span tenant, weir_span session,
                     const struct wr_reply *answer);

/* By the id of an answer, or of a conversation: then its newest answer. What is found is copied
 * into `arena`. False: it is not known, or another tenant's. */
bool wr_answers_find(struct wr_answers *answers, struct wr_arena *arena, weir_span tenant,
                     weir_span id, struct wr_known_answer *known);

/* What the answer left in the provider's cache, for the next request that goes on from it. A newer
 * one replaces an older one of the same id. */
void wr_answers_keep_chain(struct wr_answers *answers, weir_span tenant, weir_span id,
                           const struct wr_bust_chain *chain);
bool wr_answers_find_chain(struct wr_answers *answers, weir_span tenant, weir_span id,
                           struct wr_bust_chain *chain);

/* An answer as bytes. `has_arguments`: with what its calls say; it is content. */
void wr_answer_encode(weir_span session, const struct wr_reply *answer, bool has_arguments,
                      struct wr_buf *out);
/* What is found points into `bytes`, and its list is in `arena`. False: they are damaged, or there
 * is no memory. */
bool wr_answer_decode(struct wr_arena *arena, weir_span bytes, struct wr_known_answer *known);

/* ---- answers in the store, for a server that was started since ---- */

/* Keeps an answer under its id and its conversation's. `has_arguments`: with the arguments of its
 * calls, which is for sessions whose originals are in the store anyway; they are left out if they
 * are too long for a note. `notes` may be NULL. */
void wr_answer_note_keep(struct wr_notes *notes, weir_span tenant, weir_span session,
                         const struct wr_reply *answer, bool has_arguments, int64_t now_ms);

/* As wr_answers_find(). `waits`: for another node that may be writing it (wr_notes_await()). */
bool wr_answer_note_find(struct wr_notes *notes, struct wr_arena *arena, weir_span tenant,
                         weir_span id, bool waits, struct wr_known_answer *known);

#endif
