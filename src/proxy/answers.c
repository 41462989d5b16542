/* The tool calls of past answers, in memory that all workers share, and as notes in the store.
 *
 * An answer lies in a ring of bytes, and a place says where. Both are overwritten in turn; a place
 * whose bytes were overwritten since is known by its count of all bytes ever written. There is one
 * lock: if a worker is killed while it holds it, the next one gets it, and
 * forgets everything, because what was being written may be torn. Forgetting costs little where
 * there is a store, whose notes have the answers too.
 */
#include "proxy/answers.h"

#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/os.h"
#include "proxy/notes.h"

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
