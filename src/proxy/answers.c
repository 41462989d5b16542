#include "proxy/answers.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"

/* An answer as it lies in the ring: its session, how many calls, and of each its id, name and
 * arguments; every text with its length before it. */
struct place {
    wr_hash128 key; /* of tenant and id */
    uint64_t at;    /* counts all bytes ever written, as does `end` below */
    uint32_t bytes; /* 0: free */
};

struct wr_answers {
    pthread_mutex_t lock; /* robust: its holder may be killed */
    uint64_t end;
    uint32_t next; /* the place to give way */
    struct place places[WR_PROXY_ANSWERS_MAX];
    char ring[WR_PROXY_ANSWERS_BYTES_MAX];
};

static bool init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes))
        return false;
    bool ok = !pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) &&
              !pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) &&
              !pthread_mutex_init(lock, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return ok;
}

struct wr_answers *wr_answers_new(void)
{
    struct wr_answers *answers = mmap(NULL, sizeof(struct wr_answers), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answers == MAP_FAILED)
        return NULL;
    if (init_lock(&answers->lock))
        return answers;
    (void)munmap(answers, sizeof(*answers));
    return NULL;
}

/* What a worker was writing when it was killed may be torn: all of it is forgotten then. */
static bool enter(struct wr_answers *answers)
{
    int result = pthread_mutex_lock(&answers->lock);
    if (result != EOWNERDEAD)
        return !result;
    memset(answers->places, 0, sizeof(answers->places));
    return !pthread_mutex_consistent(&answers->lock);
}

static void leave(struct wr_answers *answers)
{
    (void)pthread_mutex_unlock(&answers->lock);
}

static wr_hash128 key_of(weir_span tenant, weir_span id)
{
    return wr_hash128_seeded(id, wr_hash128_of(tenant));
}

/* ---- keeping ---- */

static void put_number(char **at, size_t number)
{
    uint32_t fixed = (uint32_t)number;
    memcpy(*at, &fixed, sizeof(fixed));
    *at += sizeof(fixed);
}

static void put_text(char **at, weir_span text)
{
    put_number(at, text.len);
    if (text.len)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
}

static size_t bytes_of(weir_span session, const struct wr_calls *calls)
{
    size_t bytes = session.len + 2 * sizeof(uint32_t);
    for (size_t i = 0; i < calls->count; i++)
        bytes += calls->items[i].id.len + calls->items[i].name.len + calls->items[i].arguments.len +
                 3 * sizeof(uint32_t);
    return bytes;
}

/* Where the next `bytes` go, side by side: what is left at the ring's end is skipped. */
static char *make_room(struct wr_answers *answers, size_t bytes)
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
                     const struct wr_calls *calls)
{
    weir_span id = wr_buf_view(&calls->answer_id);
    weir_span conversation = wr_buf_view(&calls->conversation_id);
    size_t bytes = bytes_of(session, calls);

    if (!answers || !calls->count || (!id.len && !conversation.len) ||
        bytes > WR_PROXY_ANSWERS_BYTES_MAX / 4 || !enter(answers))
        return;
    char *at = make_room(answers, bytes);
    put_text(&at, session);
    put_number(&at, calls->count);
    for (size_t i = 0; i < calls->count; i++) {
        put_text(&at, wr_buf_view(&calls->items[i].id));
        put_text(&at, wr_buf_view(&calls->items[i].name));
        put_text(&at, wr_buf_view(&calls->items[i].arguments));
    }
    if (id.len)
        name_it(answers, key_of(tenant, id), bytes);
    if (conversation.len)
        name_it(answers, key_of(tenant, conversation), bytes);
    answers->end += bytes;
    leave(answers);
}

/* ---- finding ---- */

/* The newest of that key; its bytes may have been written over since. */
static const struct place *find_place(const struct wr_answers *answers, wr_hash128 key)
{
    const struct place *newest = NULL;
    for (size_t i = 0; i < WR_PROXY_ANSWERS_MAX; i++) {
        const struct place *place = &answers->places[i];
        if (place->bytes && place->key.low == key.low && place->key.high == key.high &&
            (!newest || place->at > newest->at))
            newest = place;
    }
    if (!newest || answers->end - newest->at > WR_PROXY_ANSWERS_BYTES_MAX)
        return NULL;
    return newest;
}

static weir_span take(weir_span *rest, size_t bytes)
{
    weir_span taken = {rest->ptr, bytes <= rest->len ? bytes : rest->len};
    rest->ptr += taken.len;
    rest->len -= taken.len;
    return taken;
}

static size_t take_number(weir_span *rest)
{
    uint32_t number = 0;
    weir_span bytes = take(rest, sizeof(number));
    memcpy(&number, bytes.ptr, bytes.len);
    return number;
}

static weir_span take_text(weir_span *rest)
{
    return take(rest, take_number(rest));
}

static bool read_answer(struct wr_arena *arena, weir_span rest, struct wr_known_answer *known)
{
    known->session = take_text(&rest);
    known->calls_count = take_number(&rest);
    struct weir_known_call *calls =
        WR_ARENA_ARRAY(arena, struct weir_known_call, known->calls_count);
    for (size_t i = 0; calls && i < known->calls_count; i++) {
        calls[i].id = take_text(&rest);
        calls[i].name = take_text(&rest);
        calls[i].arguments = take_text(&rest);
    }
    known->calls = calls;
    return calls;
}

bool wr_answers_find(struct wr_answers *answers, struct wr_arena *arena, weir_span tenant,
                     weir_span id, struct wr_known_answer *known)
{
    weir_span bytes = {NULL, 0};

    *known = (struct wr_known_answer){.calls_count = 0};
    if (!answers || !id.len || !enter(answers))
        return false;
    const struct place *place = find_place(answers, key_of(tenant, id));
    if (place)
        bytes =
            wr_arena_copy(arena, (weir_span){answers->ring + place->at % WR_PROXY_ANSWERS_BYTES_MAX,
                                             place->bytes});
    leave(answers);
    return bytes.ptr && read_answer(arena, bytes, known);
}
