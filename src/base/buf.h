/* buf.h -- what grows: bytes with a hard cap and a sticky failure, and arrays.
 *
 * Appends of bytes return nothing: the first failure is kept, later appends do nothing,
 * and the caller asks once with wr_buf_status(). A buffer never exceeds its cap.
 */
#ifndef WR_BASE_BUF_H
#define WR_BASE_BUF_H

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

struct wr_buf {
    char *bytes; /* owned; NULL until the first append */
    size_t len;
    size_t cap;
    size_t cap_max;     /* never grows past this */
    weir_status status; /* first failure, WEIR_OK until then */
};

void wr_buf_init(struct wr_buf *buf, size_t cap_max);

/* Makes room for `bytes` more, or keeps why it cannot. */
bool wr_buf_grow(struct wr_buf *buf, size_t bytes);

/* Most appends find room: a writer of JSON makes hundreds for a line, so that is looked for here
 * and only growing is a call. */
static inline bool wr_buf_has_room(struct wr_buf *buf, size_t bytes)
{
    return (bytes <= buf->cap - buf->len && !buf->status) || wr_buf_grow(buf, bytes);
}

/* What is appended may not be part of the buffer itself. */
static inline void wr_buf_append(struct wr_buf *buf, weir_span bytes)
{
    if (!bytes.len || !wr_buf_has_room(buf, bytes.len))
        return;
    memcpy(buf->bytes + buf->len, bytes.ptr, bytes.len);
    buf->len += bytes.len;
}

static inline void wr_buf_byte(struct wr_buf *buf, char byte)
{
    if (wr_buf_has_room(buf, 1))
        buf->bytes[buf->len++] = byte;
}

void wr_buf_text(struct wr_buf *buf, const char *text);
void wr_buf_printf(struct wr_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for `bytes` more without changing the content. */
void wr_buf_reserve(struct wr_buf *buf, size_t bytes);

/* The same, but without room for them it returns false and the buffer stays usable. */
bool wr_buf_try_reserve(struct wr_buf *buf, size_t bytes);

/* Empties the buffer, keeping its memory. Does not forgive a failure. */
void wr_buf_reset(struct wr_buf *buf);
void wr_buf_release(struct wr_buf *buf);

/* The view lives until the next append, reset or release. */
weir_span wr_buf_view(const struct wr_buf *buf);
WEIR_MUST_USE weir_status wr_buf_status(const struct wr_buf *buf);

/* ==== arrays ==== */

/* The items, their count and how many there is room for (the cap):
 *
 *     if (!WR_ARENA_ROOM(arena, list->items, list->count, list->cap, ITEMS_CAP_FIRST))
 *         return wr_arena_status(arena);
 *     list->items[list->count++] = item;
 *
 * The owner keeps the three as members of its own, so a list stays a plain array to its readers.
 * A list that input can make long has a maximum of its own, which the owner asks about first:
 * what happens there (a failure, a cut, a note) differs from list to list.
 *
 * 1. Where there is room, asking costs one comparison; else the cap doubles, from `cap_first` on.
 * 2. On failure the list is as it was.
 */
struct wr_vec_room { /* private: what the macros hand over */
    void *items;     /* where the pointer to the items is */
    void *cap;       /* where the cap is, of `cap_bytes` bytes: 4 or 8 */
    size_t item_bytes, cap_bytes;
    size_t index, cap_first;
};

bool wr_vec_room_arena(struct wr_arena *arena, const struct wr_vec_room *room);
bool wr_vec_room_heap(const struct wr_vec_room *room);

#define WR_VEC_ROOM(items, index, cap, cap_first)                                          \
    (&(const struct wr_vec_room){&(items), &(cap), sizeof(*(items)), sizeof(cap), (index), \
                                 (cap_first)})

/* Whether there is room for items[index], made if need be: `items` and `cap` are changed then, and
 * are evaluated more than once. What is new is not cleared. False: wr_arena_status() says why. */
#define WR_ARENA_ROOM(arena, items, index, cap, cap_first) \
    ((index) < (cap) || wr_vec_room_arena((arena), WR_VEC_ROOM(items, index, cap, cap_first)))

/* The same for memory of the heap, freed with free(). False: there is no memory. */
#define WR_HEAP_ROOM(items, index, cap, cap_first) \
    ((index) < (cap) || wr_vec_room_heap(WR_VEC_ROOM(items, index, cap, cap_first)))

/* For qsort() of uint32_t. */
static inline int wr_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* qsort() for items of which no two are equal, where most come in order and a few behind them do
 * not: what is in order is not sorted again. */
void wr_sort(void *items, size_t count, size_t item_bytes,
             int (*compare)(const void *a, const void *b));

#endif
