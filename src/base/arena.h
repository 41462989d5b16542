/* arena.h -- memory that dies together: one arena a request.
 *
 * 1. What an arena gives lives until its reset or release; single pieces are never freed.
 * 2. An arena never holds more than `bytes_max`; past it, and when the system has no memory,
 *    it gives NULL and keeps the reason in wr_arena_status().
 * 3. Every piece is aligned for any type.
 */
#ifndef WR_BASE_ARENA_H
#define WR_BASE_ARENA_H

#include "weir/span.h"
#include "weir/status.h"

struct wr_arena_chunk;

struct wr_arena {
    struct wr_arena_chunk *newest; /* owned list */
    size_t bytes_held;             /* asked of the system so far */
    size_t bytes_max;
    weir_status status; /* first failure */
};

void wr_arena_init(struct wr_arena *arena, size_t bytes_max);
void wr_arena_release(struct wr_arena *arena);

/* Keeps the largest chunk, so that the next request of like size asks the system for nothing.
 * Forgives a failure. */
void wr_arena_reset(struct wr_arena *arena);

/* NULL on failure; never NULL for zero bytes otherwise. The memory is not cleared. */
void *wr_arena_alloc(struct wr_arena *arena, size_t bytes);
void *wr_arena_zalloc(struct wr_arena *arena, size_t bytes);

/* A count of items that is too large becomes a number of bytes that no arena gives. */
static inline size_t wr_arena_array_bytes(size_t count, size_t item_bytes)
{
    return count > SIZE_MAX / item_bytes ? SIZE_MAX : count * item_bytes;
}

#define WR_ARENA_ARRAY(arena, type, count) \
    ((type *)wr_arena_zalloc((arena), wr_arena_array_bytes((count), sizeof(type))))

/* Grows a piece of `bytes_old` to `bytes_new`: in place where it is the newest piece and the chunk
 * has room, else by a copy. `ptr` may be NULL with `bytes_old` 0. */
void *wr_arena_grow(struct wr_arena *arena, void *ptr, size_t bytes_old, size_t bytes_new);

/* A copy of `bytes`; ptr is NULL on failure only. */
weir_span wr_arena_copy(struct wr_arena *arena, weir_span bytes);
/* The same with a NUL behind it, for who wants a string; NULL on failure. */
char *wr_arena_string(struct wr_arena *arena, weir_span text);
WEIR_MUST_USE weir_status wr_arena_status(const struct wr_arena *arena);

#endif
