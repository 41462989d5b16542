/* answers.c -- what answers say: read as they pass, kept for all workers and in the store.
 *
 * A tap reads an answer; what it read is kept where any worker finds it, and as a note for a server
 * that is started later. Others leave notes of their own in the same way (quality_watch.c).
 */
#include "proxy/answers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "proxy/tell.h"
#include "store/store.h"

/* ==== answers of the past ====
 *
 * The tool calls of past answers, in memory that all workers share, and as notes in the store.
 *
 * An answer lies in a ring of bytes, and a place says where. Both are overwritten in turn; a place
 * whose bytes were overwritten since is known by its count of all bytes ever written. There is one
 * lock: if a worker is killed while it holds it, the next one gets it, and forgets everything,
 * because what was being written may be torn. Forgetting costs little where there is a store, whose
 * notes have the answers too.
 */

/* An answer as it lies in the ring: its session, how many calls, and of each its id, name and
 * arguments; every text with its length before it. */
struct place {
    wr_hash128 key; /* of tenant and id */
    uint64_t at;    /* counts all bytes ever written, as does `end` below */
    uint32_t bytes; /* 0: free */
};

struct chain_place {
    wr_hash128 key;
    struct wr_bust_chain chain;
    bool is_used;
};

struct wr_answers {
    struct wr_os_shared_lock lock; /* its holder may be killed */
    uint64_t end;
    uint32_t next, next_chain; /* the places to give way */
    struct place places[WR_PROXY_ANSWERS_MAX];
    struct chain_place chains[WR_PROXY_ANSWERS_MAX];
    char ring[WR_PROXY_ANSWERS_BYTES_MAX];
};

struct wr_answers *wr_answers_new(void)
{
    struct wr_answers *answers = mmap(NULL, sizeof(struct wr_answers), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answers == MAP_FAILED)
        return NULL;
    if (wr_os_shared_lock_init(&answers->lock))
        return answers;
    (void)munmap(answers, sizeof(*answers));
    return NULL;
}

/* If a worker was killed while it wrote, what it wrote may be torn: everything is forgotten. */
static bool lock_answers(struct wr_answers *answers)
{
    wr_os_lock got = wr_os_shared_lock_take(&answers->lock);
    if (got == WR_OS_LOCKED_TORN) {
        memset(answers->places, 0, sizeof(answers->places));
        memset(answers->chains, 0, sizeof(answers->chains));
    }
    return got != WR_OS_LOCK_FAILED;
}

static void unlock_answers(struct wr_answers *answers)
{
    wr_os_shared_lock_give(&answers->lock);
}

static wr_hash128 answer_key(weir_span tenant, weir_span id)
{
    return wr_hash128_seeded(id, wr_hash128_of(tenant));
}

static bool is_key(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* ---- as bytes ---- */

enum { COUNT_BYTES = 4, CALL_BYTES_MIN = 3 * COUNT_BYTES };

void wr_answer_encode(weir_span session, const struct wr_reply *answer, bool has_arguments,
                      struct wr_buf *out)
{
    wr_note_put_text(out, session);
    wr_note_put(out, answer->parts_count, COUNT_BYTES);
    for (size_t i = 0; i < answer->parts_count; i++) {
        wr_note_put_text(out, wr_buf_view(&answer->parts[i].id));
        wr_note_put_text(out, wr_buf_view(&answer->parts[i].name));
        wr_note_put_text(out,
                         has_arguments ? wr_buf_view(&answer->parts[i].text) : (weir_span){"", 0});
    }
}

bool wr_answer_decode(struct wr_arena *arena, weir_span bytes, struct wr_known_answer *known)
{
    struct wr_note_reader reader = {.rest = bytes};

    *known = (struct wr_known_answer){.session = wr_note_take_text(&reader)};
    size_t count = (size_t)wr_note_take(&reader, COUNT_BYTES);
    if (reader.is_short || count > reader.rest.len / CALL_BYTES_MIN)
        return false;
    struct weir_known_call *calls = WR_ARENA_ARRAY(arena, struct weir_known_call, count);
    for (size_t i = 0; calls && i < count; i++) {
        calls[i].id = wr_note_take_text(&reader);
        calls[i].name = wr_note_take_text(&reader);
        calls[i].arguments = wr_note_take_text(&reader);
    }
    known->calls = calls;
    known->calls_count = count;
    return !reader.is_short && (calls || !count);
}

/* ---- keeping ---- */

/* Where the next `bytes` go, in one piece: if they do not fit at the ring's end, that rest is
 * skipped. */
static char *make_ring_room(struct wr_answers *answers, size_t bytes)
{
    size_t at = answers->end % WR_PROXY_ANSWERS_BYTES_MAX;
    if (at + bytes > WR_PROXY_ANSWERS_BYTES_MAX) {
        answers->end += WR_PROXY_ANSWERS_BYTES_MAX - at;
        at = 0;
    }
    return answers->ring + at;
}

static void name_it(struct wr_answers *answers, wr_hash128 key, size_t bytes)
{
    answers->places[answers->next] = (struct place){key, answers->end, (uint32_t)bytes};
    answers->next = (answers->next + 1) % WR_PROXY_ANSWERS_MAX;
}

void wr_answers_keep(struct wr_answers *answers, weir_span tenant, weir_span session,
                     const struct wr_reply *answer)
{
    weir_span id = wr_buf_view(&answer->id);
    weir_span conversation = wr_buf_view(&answer->conversation_id);
    struct wr_buf text;

    if (!answers || (!id.len && !conversation.len))
        return;
    wr_buf_init(&text, WR_PROXY_ANSWERS_BYTES_MAX / 4);
    wr_answer_encode(session, answer, true, &text);
    if (!wr_buf_status(&text) && lock_answers(answers)) {
        memcpy(make_ring_room(answers, text.len), text.bytes, text.len);
        if (id.len)
            name_it(answers, answer_key(tenant, id), text.len);
        if (conversation.len)
            name_it(answers, answer_key(tenant, conversation), text.len);
        answers->end += text.len;
        unlock_answers(answers);
    }
    wr_buf_release(&text);
}

void wr_answers_keep_chain(struct wr_answers *answers, weir_span tenant, weir_span id,
                           const struct wr_bust_chain *chain)
{
    if (!answers || !id.len || !lock_answers(answers))
        return;
    wr_hash128 key = answer_key(tenant, id);
    for (size_t i = 0; i < WR_PROXY_ANSWERS_MAX; i++)
        if (is_key(answers->chains[i].key, key))
            answers->chains[i].is_used = false;
    answers->chains[answers->next_chain] = (struct chain_place){key, *chain, true};
    answers->next_chain = (answers->next_chain + 1) % WR_PROXY_ANSWERS_MAX;
    unlock_answers(answers);
}

/* ---- finding ---- */

/* The newest of that key; its bytes may have been written over since. */
static const struct place *find_place(const struct wr_answers *answers, wr_hash128 key)
{
    const struct place *newest = NULL;
    for (size_t i = 0; i < WR_PROXY_ANSWERS_MAX; i++) {
        const struct place *place = &answers->places[i];
        if (place->bytes && is_key(place->key, key) && (!newest || place->at > newest->at))
            newest = place;
    }
    if (!newest || answers->end - newest->at > WR_PROXY_ANSWERS_BYTES_MAX)
        return NULL;
    return newest;
}

bool wr_answers_find(struct wr_answers *answers, struct wr_arena *arena, weir_span tenant,
                     weir_span id, struct wr_known_answer *known)
{
    weir_span bytes = {NULL, 0};

    *known = (struct wr_known_answer){.calls_count = 0};
    if (!answers || !id.len || !lock_answers(answers))
        return false;
    const struct place *place = find_place(answers, answer_key(tenant, id));
    if (place)
        bytes =
            wr_arena_copy(arena, (weir_span){answers->ring + place->at % WR_PROXY_ANSWERS_BYTES_MAX,
                                             place->bytes});
    unlock_answers(answers);
    return bytes.ptr && wr_answer_decode(arena, bytes, known);
}

bool wr_answers_find_chain(struct wr_answers *answers, weir_span tenant, weir_span id,
                           struct wr_bust_chain *chain)
{
    bool is_found = false;

    if (!answers || !id.len || !lock_answers(answers))
        return false;
    wr_hash128 key = answer_key(tenant, id);
    for (size_t i = 0; i < WR_PROXY_ANSWERS_MAX && !is_found; i++) {
        is_found = answers->chains[i].is_used && is_key(answers->chains[i].key, key);
        if (is_found)
            *chain = answers->chains[i].chain;
    }
    unlock_answers(answers);
    return is_found;
}

/* ---- in the store ---- */

static void encode_note(weir_span session, const struct wr_reply *answer, bool has_arguments,
                        struct wr_buf *bytes)
{
    wr_buf_init(bytes, WR_LEDGER_NOTE_BYTES_MAX);
    wr_answer_encode(session, answer, has_arguments, bytes);
    if (!has_arguments || wr_buf_status(bytes) != WEIR_LIMIT)
        return;
    wr_buf_release(bytes);
    wr_buf_init(bytes, WR_LEDGER_NOTE_BYTES_MAX);
    wr_answer_encode(session, answer, false, bytes);
}

void wr_answer_note_keep(struct wr_notes *notes, weir_span tenant, weir_span session,
                         const struct wr_reply *answer, bool has_arguments, int64_t now_ms)
{
    const weir_span ids[] = {wr_buf_view(&answer->id), wr_buf_view(&answer->conversation_id)};
    struct wr_buf bytes;

    if (!notes)
        return;
    encode_note(session, answer, has_arguments, &bytes);
    for (size_t i = 0; i < 2 && !wr_buf_status(&bytes); i++) {
        struct wr_note_name name = {.kind = WR_NOTE_ANSWER, .tenant = tenant, .id = ids[i]};
        wr_notes_keep(notes, &name, session, wr_buf_view(&bytes), now_ms);
    }
    wr_buf_release(&bytes);
}

bool wr_answer_note_find(struct wr_notes *notes, struct wr_arena *arena, weir_span tenant,
                         weir_span id, bool waits, struct wr_known_answer *known)
{
    struct wr_note_name name = {.kind = WR_NOTE_ANSWER, .tenant = tenant, .id = id};
    struct wr_buf bytes;

    *known = (struct wr_known_answer){.calls_count = 0};
    if (!notes)
        return false;
    wr_buf_init(&bytes, WR_LEDGER_NOTE_BYTES_MAX);
    bool is_found =
        waits ? wr_notes_await(notes, &name, &bytes) : wr_notes_find(notes, &name, &bytes);
    weir_span copy = is_found ? wr_arena_copy(arena, wr_buf_view(&bytes)) : (weir_span){"", 0};
    wr_buf_release(&bytes);
    if (is_found && copy.ptr && wr_answer_decode(arena, copy, known))
        return true;
    *known = (struct wr_known_answer){.calls_count = 0};
    return false;
}

/* ==== notes in the store ====
 *
 * Notes are written by the ledger's thread (tell.h); finding one reads a ledger of their
 * own, under a lock. */

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

/* ==== an answer as it passes ==== */

static weir_status on_decoded(void *user, weir_span bytes)
{
    struct wr_tap *tap = user;
    if (tap->kind == WR_TAP_STREAM)
        wr_answer_feed(&tap->answer, bytes);
    else if (tap->kind == WR_TAP_FRAMES)
        wr_answer_feed_frames(&tap->answer, bytes);
    else
        wr_buf_append(&tap->whole, bytes);
    return wr_buf_status(&tap->whole);
}

void wr_tap_init(struct wr_tap *tap, const struct wr_api *api, const struct wr_head *answer,
                 struct wr_arena *arena)
{
    weir_span type = wr_head_find(answer, "content-type");
    enum wr_coding coding = wr_coding_of(wr_head_find(answer, "content-encoding"));

    *tap = (struct wr_tap){.kind = WR_TAP_OFF};
    wr_answer_init(&tap->answer, &(struct wr_answer_options){.api = api, .arena = arena});
    wr_buf_init(&tap->whole, WR_PROXY_ANSWER_BYTES_MAX);
    if (wr_answer_is_stream(api, type))
        tap->kind = WR_TAP_STREAM;
    else if (wr_span_starts(type, WR_LIT(WR_FRAMES_TYPE)))
        tap->kind = WR_TAP_FRAMES;
    else if (wr_span_starts(type, WR_LIT("application/json")))
        tap->kind = WR_TAP_WHOLE;
    if (!api || coding == WR_CODING_UNKNOWN)
        tap->kind = WR_TAP_OFF;
    if (tap->kind == WR_TAP_OFF || coding == WR_CODING_IDENTITY)
        return;
    tap->decoder = wr_decoder_new(coding, SIZE_MAX, on_decoded, tap);
    if (!tap->decoder)
        tap->kind = WR_TAP_OFF;
}

void wr_tap_feed(struct wr_tap *tap, weir_span bytes)
{
    if (tap->kind == WR_TAP_OFF)
        return;
    weir_status status =
        tap->decoder ? wr_decoder_feed(tap->decoder, bytes) : on_decoded(tap, bytes);
    if (!status)
        return;
    tap->kind = WR_TAP_OFF;
    wr_buf_release(&tap->whole);
}

void wr_tap_end(struct wr_tap *tap)
{
    if (tap->kind == WR_TAP_STREAM)
        wr_answer_end_feed(&tap->answer);
    if (tap->kind != WR_TAP_WHOLE)
        return;
    wr_arena_reset(tap->answer.arena);
    weir_status status = wr_answer_whole(&tap->answer, wr_buf_view(&tap->whole), NULL);
    if (status == WEIR_SYNTAX && tap->answer.api->streams_lines) { /* lines that are called JSON */
        wr_answer_feed(&tap->answer, wr_buf_view(&tap->whole));
        wr_answer_end_feed(&tap->answer);
    }
}

void wr_tap_tell(const struct wr_tap *tap, struct wr_record *r)
{
    const struct wr_reply *answer = &tap->answer;

    r->is_answer_read = r->api != NULL;
    if (answer->arena)
        r->usage = answer->usage;
    r->is_usage_known = wr_seen_usage_is_known(&r->usage);
    r->answer_events = answer->events_count;
    r->answer_calls = answer->parts_count;
    r->is_answer_finished = answer->is_finished;
    r->answer_model = wr_span_of(answer->model);
    if (answer->has_error)
        r->answer_error = wr_span_of(answer->error);
    r->answer_finish = wr_span_of(answer->finish);
    r->cache_miss = wr_span_of(answer->miss);
}

void wr_tap_release(struct wr_tap *tap)
{
    wr_decoder_free(tap->decoder);
    wr_buf_release(&tap->whole);
    wr_answer_release(&tap->answer);
    tap->decoder = NULL;
    tap->kind = WR_TAP_OFF;
}
