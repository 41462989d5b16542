/* Bytes that grow, and arrays that grow. Both double, so that appending costs the same however long
 * the whole becomes.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { BUF_CAP_FIRST_BYTES = 256 };

bool wr_buf_grow(struct wr_buf *buf, size_t need)
{
    WR_ASSERT(buf->len <= buf->cap);
    if (buf->status)
        return false;
    if (need <= buf->cap - buf->len)
        return true;
    if (need > buf->cap_max - buf->len) {
        buf->status = WEIR_LIMIT;
        return false;
    }

    size_t cap = buf->cap ? buf->cap : BUF_CAP_FIRST_BYTES;
    while (cap - buf->len < need)
        cap = cap > buf->cap_max / 2 ? buf->cap_max : cap * 2;
    if (cap > buf->cap_max)
        cap = buf->cap_max;

    /* One byte more for the NUL of vsnprintf, which is not content. */
    char *bytes = realloc(buf->bytes, cap + 1);
    if (!bytes) {
        buf->status = WEIR_NOMEM;
        return false;
    }
    buf->bytes = bytes;
    buf->cap = cap;
    return true;
}

void wr_buf_init(struct wr_buf *buf, size_t cap_max)
{
    *buf = (struct wr_buf){.cap_max = cap_max < SIZE_MAX ? cap_max : SIZE_MAX - 1};
}

void wr_buf_reserve(struct wr_buf *buf, size_t bytes)
{
    (void)wr_buf_grow(buf, bytes);
}

bool wr_buf_try_reserve(struct wr_buf *buf, size_t bytes)
{
    weir_status before = buf->status;
    bool ok = wr_buf_grow(buf, bytes);
    buf->status = before;
    return ok;
}

void wr_buf_text(struct wr_buf *buf, const char *text)
{
    wr_buf_append(buf, (weir_span){text, strlen(text)});
}

void wr_buf_printf(struct wr_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    WR_ASSERT(need >= 0);
    if (need > 0 && wr_buf_grow(buf, (size_t)need)) {
        (void)vsnprintf(buf->bytes + buf->len, (size_t)need + 1, format, again);
        buf->len += (size_t)need;
    }
    va_end(again);
}

void wr_buf_reset(struct wr_buf *buf)
{
    buf->len = 0;
}

void wr_buf_release(struct wr_buf *buf)
{
    free(buf->bytes);
    *buf = (struct wr_buf){0};
}

weir_span wr_buf_view(const struct wr_buf *buf)
{
    return (weir_span){buf->bytes, buf->len};
}

weir_status wr_buf_status(const struct wr_buf *buf)
{
    return buf->status;
}

/* ==== arrays ==== */

/* The macros hand over places whose types only the caller knows: the pointer is a T *, the cap a
 * uint32_t or a size_t. They are read and written as bytes, which is defined for any type. */

static size_t read_cap(const struct wr_vec_room *room)
{
    uint32_t narrow;
    uint64_t wide;
    WR_ASSERT(room->cap_bytes == sizeof(narrow) || room->cap_bytes == sizeof(wide));
    if (room->cap_bytes == sizeof(narrow)) {
        memcpy(&narrow, room->cap, sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, room->cap, sizeof(wide));
    return (size_t)wide;
}

/* Twice what there was until `index` is below it; 0 where that is no number the owner can keep. */
static size_t next_cap(const struct wr_vec_room *room)
{
    size_t cap = read_cap(room), cap_max = room->cap_bytes == 4 ? UINT32_MAX : SIZE_MAX;
    WR_ASSERT(room->cap_first > 0);
    do {
        if (cap > cap_max / 2)
            return 0;
        cap = cap ? cap * 2 : room->cap_first;
    } while (cap <= room->index);
    return cap;
}

static void *read_items(const struct wr_vec_room *room)
{
    void *items;
    memcpy(&items, room->items, sizeof(items));
    return items;
}

static bool set_items(const struct wr_vec_room *room, void *items, size_t cap)
{
    uint32_t narrow = (uint32_t)cap;
    uint64_t wide = cap;
    if (!items)
        return false;
    memcpy(room->items, &items, sizeof(items));
    memcpy(room->cap, room->cap_bytes == sizeof(wide) ? (void *)&wide : &narrow, room->cap_bytes);
    return true;
}

bool wr_vec_room_arena(struct wr_arena *arena, const struct wr_vec_room *room)
{
    size_t cap = next_cap(room);
    size_t bytes = cap ? wr_arena_array_bytes(cap, room->item_bytes) : SIZE_MAX;
    return set_items(
        room, wr_arena_grow(arena, read_items(room), read_cap(room) * room->item_bytes, bytes),
        cap);
}

bool wr_vec_room_heap(const struct wr_vec_room *room)
{
    size_t cap = next_cap(room);
    if (!cap || cap > SIZE_MAX / room->item_bytes)
        return false;
    return set_items(room, realloc(read_items(room), cap * room->item_bytes), cap);
}

/* How many of the items from the first on are in order. */
static size_t in_order(const char *items, size_t count, size_t item_bytes,
                       int (*compare)(const void *a, const void *b))
{
    size_t at = 1;
    while (at < count && compare(items + (at - 1) * item_bytes, items + at * item_bytes) <= 0)
        at++;
    return at < count ? at : count;
}

void wr_sort(void *items, size_t count, size_t item_bytes,
             int (*compare)(const void *a, const void *b))
{
    enum { REST_BYTES_MAX = 8 * 1024 };
    char *all = items, rest[REST_BYTES_MAX];
    size_t end = in_order(all, count, item_bytes, compare), rest_count = count - end;

    if (!rest_count)
        return;
    if (rest_count * item_bytes > sizeof(rest) || rest_count > end) {
        qsort(all, count, item_bytes, compare);
        return;
    }
    memcpy(rest, all + end * item_bytes, rest_count * item_bytes);
    qsort(rest, rest_count, item_bytes, compare);
    /* From the last on: what is greater moves up by as many as are still to come before it. */
    for (size_t i = rest_count; i-- > 0;) {
        const char *item = rest + i * item_bytes;
        size_t low = 0, high = end;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (compare(all + middle * item_bytes, item) <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        memmove(all + (low + i + 1) * item_bytes, all + low * item_bytes, (end - low) * item_bytes);
        memcpy(all + (low + i) * item_bytes, item, item_bytes);
        end = low;
    }
}
