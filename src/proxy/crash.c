#include "proxy/crash.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "base/span.h"

enum { NOTES_MAX = 256, SUSPECTS_MAX = 256, BLAMES_MAX = 2, NO_NOTE = -1 };

/* Written by one worker each (its pid says whose it is), read by the supervisor when that is dead.
 */
struct note {
    _Atomic int32_t pid; /* 0: free */
    _Atomic uint64_t body_hash;
};

struct suspect {
    _Atomic uint64_t body_hash; /* 0: free */
    _Atomic uint32_t blames_count;
};

struct wr_crash_table {
    struct note notes[NOTES_MAX];
    struct suspect suspects[SUSPECTS_MAX];
    _Atomic uint32_t next; /* the suspect to give way where all are taken */
};

struct wr_crash_table *wr_crash_table_new(void)
{
    void *memory = mmap(NULL, sizeof(struct wr_crash_table), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool is_blamed(struct wr_crash_table *table, uint64_t body_hash)
{
    for (size_t i = 0; i < SUSPECTS_MAX; i++)
        if (atomic_load(&table->suspects[i].body_hash) == body_hash)
            return atomic_load(&table->suspects[i].blames_count) >= BLAMES_MAX;
    return false;
}

bool wr_crash_enter(struct wr_crash_table *table, pid_t pid, uint64_t body_hash, int *note)
{
    *note = NO_NOTE;
    if (!table)
        return true;
    body_hash |= 1; /* 0 is a free place */
    if (is_blamed(table, body_hash))
        return false;
    for (int i = 0; i < NOTES_MAX && *note == NO_NOTE; i++) {
        int32_t nobody = 0;
        if (atomic_compare_exchange_strong(&table->notes[i].pid, &nobody, (int32_t)pid)) {
            atomic_store(&table->notes[i].body_hash, body_hash);
            *note = i;
        }
    }
    return true;
}

void wr_crash_leave(struct wr_crash_table *table, int note)
{
    if (!table || note == NO_NOTE)
        return;
    atomic_store(&table->notes[note].body_hash, 0);
    atomic_store(&table->notes[note].pid, 0);
}

static void suspect_body(struct wr_crash_table *table, uint64_t body_hash)
{
    struct suspect *place = NULL;
    for (size_t i = 0; i < SUSPECTS_MAX; i++) {
        uint64_t hash = atomic_load(&table->suspects[i].body_hash);
        if (hash == body_hash) {
            atomic_fetch_add(&table->suspects[i].blames_count, 1);
            return;
        }
        if (!hash && !place)
            place = &table->suspects[i];
    }
    if (!place)
        place = &table->suspects[atomic_fetch_add(&table->next, 1) % SUSPECTS_MAX];
    atomic_store(&place->blames_count, 1);
    atomic_store(&place->body_hash, body_hash);
}

int wr_crash_blame(struct wr_crash_table *table, pid_t pid)
{
    int count = 0;
    for (size_t i = 0; table && i < NOTES_MAX; i++) {
        if (atomic_load(&table->notes[i].pid) != (int32_t)pid)
            continue;
        uint64_t body_hash = atomic_exchange(&table->notes[i].body_hash, 0);
        if (body_hash) {
            suspect_body(table, body_hash);
            count++;
        }
        atomic_store(&table->notes[i].pid, 0);
    }
    return count;
}

uint64_t wr_crash_hash(weir_span body)
{
    enum { ENDS_BYTES = 16 * 1024 };
    size_t part = body.len < ENDS_BYTES ? body.len : ENDS_BYTES;
    uint64_t front = wr_hash64_seeded(wr_span_cut(body, 0, part), body.len);
    return wr_hash64_seeded(wr_span_cut(body, body.len - part, body.len), front);
}
