/* Notes are written by the ledger's thread (ledger_writer.h); finding one reads a ledger of their
 * own, under a lock. */
#include "proxy/notes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/limits.h"
#include "proxy/ledger_writer.h"
#include "store/where.h"

enum { LENGTH_BYTES = 4, BITS = 8, NS_PER_MS = 1000 * 1000 };

struct wr_notes {
    struct wr_ledger_writer *writer;
    const char *store_dir;
    pthread_mutex_t lock;
    struct wr_ledger *ledger; /* NULL: not open yet */
    atomic_int waiters_count;
};

struct wr_notes *wr_notes_new(const char *store_dir, struct wr_ledger_writer *writer)
{
    struct wr_notes *notes = calloc(1, sizeof(*notes));
    if (!notes)
        return NULL;
    *notes = (struct wr_notes){.writer = writer, .store_dir = store_dir};
    if (pthread_mutex_init(&notes->lock, NULL)) {
        free(notes);
        return NULL;
    }
    return notes;
}

void wr_notes_free(struct wr_notes *notes)
{
    if (!notes)
        return;
    wr_ledger_close(notes->ledger);
    (void)pthread_mutex_destroy(&notes->lock);
    free(notes);
}

/* The tenant is no part of it: the ledger keeps tenants apart. */
static void make_key(const struct wr_note_name *name, unsigned char key[WR_LEDGER_KEY_BYTES])
{
    wr_hash128 hash = wr_hash128_seeded(name->id, (wr_hash128){.low = (uint64_t)name->kind});
    memcpy(key, &hash, WR_LEDGER_KEY_BYTES);
}

void wr_notes_keep(struct wr_notes *notes, const struct wr_note_name *name, weir_span session,
                   weir_span data, int64_t now_ms)
{
    struct wr_ledger_note note = {
        .tenant = name->tenant, .session = session, .time_ms = now_ms, .data = data};

    if (!notes || !notes->writer || !name->id.len)
        return;
    make_key(name, note.key);
    wr_ledger_writer_note(notes->writer, &note, name->kind == WR_NOTE_ANSWER);
}

void wr_notes_keep_as(struct wr_notes *notes, const unsigned char *key, weir_span tenant,
                      weir_span session, weir_span data, int64_t now_ms)
{
    struct wr_ledger_note note = {
        .tenant = tenant, .session = session, .time_ms = now_ms, .data = data};

    if (!notes || !notes->writer)
        return;
    memcpy(note.key, key, WR_LEDGER_KEY_BYTES);
    wr_ledger_writer_note(notes->writer, &note, false);
}

bool wr_notes_find(struct wr_notes *notes, const struct wr_note_name *name, struct wr_buf *data)
{
    unsigned char key[WR_LEDGER_KEY_BYTES];
    weir_span found = {"", 0};
    bool is_found = false;

    if (!notes || !name->id.len)
        return false;
    make_key(name, key);
    (void)pthread_mutex_lock(&notes->lock);
    if (notes->ledger || !wr_ledger_open(notes->store_dir, NULL, &notes->ledger, NULL, NULL))
        is_found = !wr_ledger_note(notes->ledger, name->tenant, key, &found, NULL);
    if (is_found)
        wr_buf_append(data, found);
    (void)pthread_mutex_unlock(&notes->lock);
    return is_found && !wr_buf_status(data);
}

static bool find_again(struct wr_notes *notes, const struct wr_note_name *name, struct wr_buf *data)
{
    bool is_found = false;

    for (long ms = 2, waited = 0;
         !is_found && !wr_buf_status(data) && waited < WR_PROXY_NOTE_WAIT_MS;
         waited += ms, ms *= 2) {
        struct timespec pause = {.tv_nsec = ms * NS_PER_MS};
        (void)nanosleep(&pause, NULL);
        is_found = wr_notes_find(notes, name, data);
    }
    return is_found;
}

bool wr_notes_await(struct wr_notes *notes, const struct wr_note_name *name, struct wr_buf *data)
{
    bool is_found = wr_notes_find(notes, name, data);

    if (is_found || !notes || !name->id.len || wr_where(notes->store_dir) != WR_WHERE_POSTGRES)
        return is_found;
    if (atomic_fetch_add(&notes->waiters_count, 1) < WR_PROXY_NOTE_WAITERS_MAX)
        is_found = find_again(notes, name, data);
    (void)atomic_fetch_sub(&notes->waiters_count, 1);
    return is_found;
}

/* ---- the bytes of a note ---- */

void wr_note_put(struct wr_buf *out, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        wr_buf_byte(out, (char)(unsigned char)(number >> (BITS * i)));
}

void wr_note_put_text(struct wr_buf *out, weir_span text)
{
    wr_note_put(out, text.len, LENGTH_BYTES);
    wr_buf_append(out, text);
}

static weir_span take_bytes(struct wr_note_reader *reader, size_t bytes)
{
    weir_span taken = {reader->rest.ptr, bytes};

    if (bytes > reader->rest.len || reader->is_short) {
        *reader = (struct wr_note_reader){.rest = {"", 0}, .is_short = true};
        return (weir_span){"", 0};
    }
    reader->rest.ptr += bytes;
    reader->rest.len -= bytes;
    return taken;
}

uint64_t wr_note_take(struct wr_note_reader *reader, size_t bytes)
{
    weir_span taken = take_bytes(reader, bytes);
    uint64_t number = 0;

    for (size_t i = taken.len; i-- > 0;)
        number = number << BITS | (unsigned char)taken.ptr[i];
    return number;
}

weir_span wr_note_take_text(struct wr_note_reader *reader)
{
    return take_bytes(reader, (size_t)wr_note_take(reader, LENGTH_BYTES));
}
