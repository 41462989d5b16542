/* vec.h -- arrays that grow: the items, their count and how many there is room for (the cap).
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
#ifndef WR_BASE_VEC_H
#define WR_BASE_VEC_H

#include <stdbool.h>

#include "base/arena.h"

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

/* qsort() for items of which no two are equal, where most come in order and a few behind them do
 * not: what is in order is not sorted again. */
void wr_sort(void *items, size_t count, size_t item_bytes,
             int (*compare)(const void *a, const void *b));

#endif
