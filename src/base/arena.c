/* An arena is a list of chunks, the newest first, and pieces are cut off the newest chunk.
 *
 * A piece that does not fit gets a new chunk: WR_ARENA_CHUNK_BYTES, or as much as the piece needs
 * where that is more, or only as much as it needs where the arena's cap leaves no room for a whole
 * chunk. A chunk that its first piece fills is put behind the newest one, so that one large piece
 * does not waste what is left of the chunk that small pieces are being cut from.
 *
 * Growing the piece that was cut last moves the end of its chunk and copies nothing; that is why
 * the JSON reader and the growing lists of base/buf.h can double their arrays cheaply. Any other
 * piece is copied, and the old copy stays until the reset.
 *
 * The first failure is kept, and the arena goes on: a later, smaller piece may still fit. Whoever
 * gets NULL asks wr_arena_status() for the reason.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

enum { ALIGN_BYTES = alignof(max_align_t) };

struct wr_arena_chunk {
    struct wr_arena_chunk *older;
    size_t used, cap; /* of bytes[] */
    alignas(max_align_t) char bytes[];
};

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
}

static void *fail(struct wr_arena *arena, weir_status status)
{
    if (!arena->status)
        arena->status = status;
    return NULL;
}

/* A chunk that its first piece fills goes behind the newest one; see the top of this file. */
static void link_chunk(struct wr_arena *arena, struct wr_arena_chunk *chunk, bool is_full)
{
    struct wr_arena_chunk **place =
        is_full && arena->newest ? &arena->newest->older : &arena->newest;
    chunk->older = *place;
    *place = chunk;
}

static struct wr_arena_chunk *add_chunk(struct wr_arena *arena, size_t need)
{
    size_t cap = need > WR_ARENA_CHUNK_BYTES ? need : WR_ARENA_CHUNK_BYTES;
    size_t room = arena->bytes_max - arena->bytes_held;
    size_t bytes = sizeof(struct wr_arena_chunk) + cap;

    if (bytes > room)
        bytes = sizeof(struct wr_arena_chunk) + need;
    if (bytes > room)
        return fail(arena, WEIR_LIMIT);

    struct wr_arena_chunk *chunk = malloc(bytes);
    if (!chunk)
        return fail(arena, WEIR_NOMEM);
    chunk->used = 0;
    chunk->cap = bytes - sizeof(struct wr_arena_chunk);
    link_chunk(arena, chunk, chunk->cap == need);
    arena->bytes_held += bytes;
    return chunk;
}

/* Whether `bytes` can be rounded up and given a header without wrapping round. */
static bool is_askable(const struct wr_arena *arena, size_t bytes)
{
    return bytes <= arena->bytes_max &&
           bytes < SIZE_MAX - ALIGN_BYTES - sizeof(struct wr_arena_chunk);
}

void wr_arena_init(struct wr_arena *arena, size_t bytes_max)
{
    *arena = (struct wr_arena){.bytes_max = bytes_max};
}

static void free_chunks(struct wr_arena_chunk *chunk)
{
    while (chunk) {
        struct wr_arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

void wr_arena_release(struct wr_arena *arena)
{
    free_chunks(arena->newest);
    *arena = (struct wr_arena){0};
}

void wr_arena_reset(struct wr_arena *arena)
{
    struct wr_arena_chunk *largest = arena->newest;
    for (struct wr_arena_chunk *c = largest; c; c = c->older)
        if (c->cap > largest->cap)
            largest = c;

    while (arena->newest) {
        struct wr_arena_chunk *c = arena->newest;
        arena->newest = c->older;
        if (c != largest)
            free(c);
    }
    arena->bytes_held = 0;
    if (largest) {
        largest->older = NULL;
        largest->used = 0;
        arena->newest = largest;
        arena->bytes_held = sizeof(*largest) + largest->cap;
    }
    arena->status = WEIR_OK;
}

void *wr_arena_alloc(struct wr_arena *arena, size_t bytes)
{
    if (!is_askable(arena, bytes))
        return fail(arena, WEIR_LIMIT);

    size_t need = round_up(bytes ? bytes : 1);
    struct wr_arena_chunk *chunk = arena->newest;
    if (!chunk || chunk->cap - chunk->used < need)
        chunk = add_chunk(arena, need);
    if (!chunk)
        return NULL;
    void *ptr = chunk->bytes + chunk->used;
    chunk->used += need;
    return ptr;
}

void *wr_arena_zalloc(struct wr_arena *arena, size_t bytes)
{
    void *ptr = wr_arena_alloc(arena, bytes);
    return ptr ? memset(ptr, 0, bytes) : NULL;
}

void *wr_arena_grow(struct wr_arena *arena, void *ptr, size_t bytes_old, size_t bytes_new)
{
    struct wr_arena_chunk *chunk = arena->newest;
    size_t old = round_up(bytes_old ? bytes_old : 1);

    if (!is_askable(arena, bytes_new))
        return fail(arena, WEIR_LIMIT);
    if (ptr && chunk && chunk->used >= old && (char *)ptr == chunk->bytes + chunk->used - old) {
        size_t need = round_up(bytes_new ? bytes_new : 1);
        if (need <= chunk->cap - (chunk->used - old)) {
            chunk->used = chunk->used - old + need;
            return ptr;
        }
    }
    void *moved = wr_arena_alloc(arena, bytes_new);
    if (moved && bytes_old)
        memcpy(moved, ptr, bytes_old < bytes_new ? bytes_old : bytes_new);
    return moved;
}

weir_span wr_arena_copy(struct wr_arena *arena, weir_span bytes)
{
    char *copy = wr_arena_alloc(arena, bytes.len);
    if (!copy)
        return (weir_span){NULL, 0};
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    return (weir_span){copy, bytes.len};
}

char *wr_arena_string(struct wr_arena *arena, weir_span text)
{
    char *copy = wr_arena_alloc(arena, text.len + 1);

    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

weir_status wr_arena_status(const struct wr_arena *arena)
{
    return arena->status;
}
