/* notes.h -- what this process leaves in the store for a later one: the calls of answers, what
 * prompts were like, what an answer left in the provider's cache.
 *
 * Whoever does not know something, because the server was started since or another worker saw it,
 * asks here. Notes are kept by the ledger's thread; finding one reads the store. For any thread.
 *
 * The bytes of a note are numbers, little-endian, and texts with their length before them. Bytes
 * that are read may be damaged: past their end every number is 0 and every text is empty, and
 * `is_short` says so.
 */
#ifndef WR_PROXY_NOTES_H
#define WR_PROXY_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

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

#endif
