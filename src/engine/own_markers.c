#include "engine/own_markers.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

struct asking {
    const struct wr_own_markers *own;
    uint32_t turn;
    bool is_read;       /* what the marks say of this turn, which is asked for where it matters */
    size_t known_bytes; /* of `text` */
    struct wr_buf text; /* handles of this turn that are text: those of the marks, then new ones */
    bool is_in_doubt;   /* the store did not answer */
};

static bool is_text(struct asking *a, weir_span handle)
{
    if (!a->is_read && a->own->marks)
        wr_buf_append(&a->text, wr_marks_look_alikes(a->own->marks, a->turn));
    if (!a->is_read)
        a->known_bytes = a->text.len;
    a->is_read = true;
    return wr_span_find(wr_buf_view(&a->text), handle, 0) != SIZE_MAX;
}

static void put_down(struct asking *a, weir_span handle)
{
    if (a->text.len + handle.len + 1 > WR_STORE_MARK_BYTES_MAX)
        return; /* the store answers for the rest */
    wr_buf_append(&a->text, handle);
    wr_buf_byte(&a->text, ' ');
}

static bool is_ours(void *user, weir_handle handle)
{
    struct asking *a = user;
    struct weir_lookup lookup = {.tenant = a->own->tenant, .handle = handle};
    struct weir_artifact artifact;
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    weir_miss miss;

    weir_handle_format(handle, name);
    if (is_text(a, wr_span_of(name)))
        return false;
    weir_status status = weir_store_get(a->own->store, &lookup, &artifact, &miss, NULL);
    if (!status || miss == WEIR_MISS_EXPIRED || miss == WEIR_MISS_CORRUPT)
        return true;
    a->is_in_doubt |= status != WEIR_NOTFOUND;
    if (status == WEIR_NOTFOUND)
        put_down(a, wr_span_of(name));
    return status != WEIR_NOTFOUND;
}

static void begin_turn(struct asking *a, uint32_t turn)
{
    a->turn = turn;
    a->is_read = false;
    a->known_bytes = 0;
    wr_buf_reset(&a->text);
}

static weir_status end_turn(struct asking *a, struct wr_arena *arena)
{
    if (a->text.status || !a->own->marks || a->text.len == a->known_bytes)
        return a->text.status;
    weir_span handles = wr_arena_copy(arena, wr_buf_view(&a->text));
    return handles.ptr ? wr_marks_set_look_alikes(a->own->marks, a->turn, handles)
                       : wr_arena_status(arena);
}

/* What the store could not say about the newest turn it may say at the next request. */
static weir_status keep_newest_whole(struct wr_marks *marks)
{
    uint32_t newest = marks->trail.turns_count - 1;
    if (marks->turns[newest].is_whole || marks->turns[newest].is_late)
        return WEIR_OK;
    marks->turns[newest].is_whole = true;
    return wr_marks_add(marks, WEIR_MARK_KEPT_WHOLE, newest, (weir_span){"", 0});
}

weir_status wr_own_markers_find(const struct wr_own_markers *own, struct wr_arena *arena,
                                bool *is_marked)
{
    const struct wr_transcript *t = own->transcript;
    struct asking a = {.own = own, .turn = WR_SEGMENT_NONE};
    weir_status status = WEIR_OK;

    wr_buf_init(&a.text, WR_STORE_MARK_BYTES_MAX);
    for (uint32_t i = own->first_segment; i < t->segments_count && !status; i++) {
        if (t->segments[i].turn != a.turn) {
            status = end_turn(&a, arena);
            begin_turn(&a, t->segments[i].turn);
        }
        is_marked[i] = wr_segment_holds_marker(t, i, is_ours, &a);
    }
    if (!status)
        status = end_turn(&a, arena);
    wr_buf_release(&a.text);
    if (status || !a.is_in_doubt || !own->marks)
        return status;
    return keep_newest_whole(own->marks);
}
