#include "policy/fold_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "policy/fold_change.h"

struct wr_fold_state {
    struct wr_arena arena; /* owns everything below */
    struct wr_fold fold;   /* its numbers and arrays; what belonged to the request is NULL */
    struct wr_fold_turn *turns;
    wr_hash128 shape;
};

/* ---- what must be the same ---- */

/* A result that comes later may answer an older call: that is then another request. */
static uint32_t within(uint32_t segment, uint32_t end)
{
    return segment < end ? segment : WR_SEGMENT_NONE;
}

static wr_hash128 shape_of(const struct wr_fold_input *input, uint32_t end)
{
    enum { ROWS = 64, COLUMNS = 8 };
    uint32_t rows[ROWS * COLUMNS];
    wr_hash128 shape = {end, input->base_tokens};
    const struct wr_segment *segments = input->transcript->segments;

    for (uint32_t i = 0, filled = 0; i < end; i++) {
        const struct wr_segment *s = &segments[i];
        bool is_first = i == 0 || segments[i - 1].message != s->message;
        uint32_t *row = rows + (size_t)filled * COLUMNS;
        row[0] = s->turn;
        row[1] = s->loop;
        row[2] = s->group;
        row[3] = within(s->pair, end);
        row[4] = (uint32_t)input->tokens[i];
        row[5] = (uint32_t)(input->tokens[i] >> 32);
        row[6] = input->overheads ? input->overheads[i] : 0;
        row[7] = (uint32_t)s->kind << 16 | (uint32_t)s->role << 8 | (uint32_t)is_first << 7 |
                 (uint32_t)s->is_signed << 6 | (uint32_t)s->is_opaque << 5 |
                 (uint32_t)s->is_error << 4 | (uint32_t)s->from_model << 3 |
                 (uint32_t)(s->array == WR_JSON_NONE) << 2;
        if (++filled == ROWS || i + 1 == end) {
            shape = wr_hash128_seeded(
                (weir_span){(const char *)rows, filled * COLUMNS * sizeof(uint32_t)}, shape);
            filled = 0;
        }
    }
    return shape;
}

bool wr_fold_state_fits(const struct wr_fold_state *state, const struct wr_fold_input *input)
{
    const struct wr_transcript *t = input->transcript;
    uint32_t end = state->fold.arrived;

    if (end > t->segments_count || (end < t->segments_count && !t->segments[end].from_model) ||
        wr_transcript_has_late_answer(t, end))
        return false;
    wr_hash128 shape = shape_of(input, end);
    return shape.low == state->shape.low && shape.high == state->shape.high;
}

/* ---- copies ---- */

static void *copy(struct wr_fold_state *state, const void *items, size_t count, size_t item_bytes)
{
    weir_span kept =
        wr_arena_copy(&state->arena, (weir_span){items, wr_arena_array_bytes(count, item_bytes)});
    return (void *)(uintptr_t)kept.ptr;
}

static void copy_text(struct wr_fold_state *state, weir_span *text)
{
    *text = wr_arena_copy(&state->arena, *text);
}

static void copy_members(struct wr_fold_state *state, struct wr_fold_segment *now)
{
    struct wr_fold_member *members =
        copy(state, now->members, now->members_count, sizeof(*members));
    for (uint32_t i = 0; members && i < now->members_count; i++) {
        copy_text(state, &members[i].text);
        copy_text(state, &members[i].original);
    }
    now->members = members;
}

/* What an exact or a dropped segment said in between is of no use to anybody. */
static void copy_segments(struct wr_fold_state *state)
{
    struct wr_fold *fold = &state->fold;

    fold->segments = copy(state, fold->segments, fold->arrived, sizeof(*fold->segments));
    for (uint32_t i = 0; fold->segments && i < fold->arrived; i++) {
        struct wr_fold_segment *now = &fold->segments[i];
        if (now->form == WR_FORM_EXACT || now->form == WR_FORM_DROPPED)
            now->text = (weir_span){"", 0};
        else
            copy_text(state, &now->text);
        if (now->members_count)
            copy_members(state, now);
    }
}

/* The original of what was brought back is another's, and in the store. */
static void copy_inserts(struct wr_fold_state *state)
{
    struct wr_fold *fold = &state->fold;

    fold->inserts = copy(state, fold->inserts, fold->inserts_count, sizeof(*fold->inserts));
    for (uint32_t i = 0; fold->inserts && i < fold->inserts_count; i++) {
        if (fold->inserts[i].is_gone)
            fold->inserts[i].text = (weir_span){"", 0};
        else
            copy_text(state, &fold->inserts[i].text);
        fold->inserts[i].original = (weir_span){"", 0};
    }
    fold->inserts_cap = fold->inserts_count;
}

static void copy_turns(struct wr_fold_state *state, const struct wr_fold *fold)
{
    uint32_t count = fold->turn + 1;
    state->turns = fold->input->turns
                       ? copy(state, fold->input->turns, count, sizeof(*state->turns))
                       : WR_ARENA_ARRAY(&state->arena, struct wr_fold_turn, count);
}

weir_status wr_fold_state_new(struct wr_fold_state **state, const struct wr_fold *fold)
{
    struct wr_fold_state *s = *state = calloc(1, sizeof(*s));

    if (!s)
        return WEIR_NOMEM;
    wr_arena_init(&s->arena, WR_FOLD_STATE_BYTES_MAX);
    s->fold = *fold;
    s->shape = shape_of(fold->input, fold->arrived);
    copy_segments(s);
    copy_inserts(s);
    s->fold.steps = copy(s, fold->steps, fold->steps_count, sizeof(*fold->steps));
    s->fold.steps_cap = fold->steps_count;
    copy_turns(s, fold);
    s->fold.input = NULL;
    s->fold.transcript = NULL;
    s->fold.arena = NULL;
    weir_status status = wr_arena_status(&s->arena);
    if (status) {
        wr_fold_state_free(s);
        *state = NULL;
    }
    return status;
}

void wr_fold_state_free(struct wr_fold_state *state)
{
    if (!state)
        return;
    wr_arena_release(&state->arena);
    free(state);
}

size_t wr_fold_state_bytes(const struct wr_fold_state *state)
{
    return sizeof(*state) + state->arena.bytes_held;
}

const struct wr_fold_turn *wr_fold_state_turns(const struct wr_fold_state *state, uint32_t *count)
{
    *count = state->fold.turn + 1;
    return state->turns;
}

uint32_t wr_fold_state_segments(const struct wr_fold_state *state)
{
    return state->fold.arrived;
}

/* ---- going on ---- */

weir_status wr_fold_state_restore(const struct wr_fold_state *state, struct wr_fold *fold)
{
    struct wr_fold now = state->fold;

    memcpy(fold->segments, now.segments, now.arrived * sizeof(*now.segments));
    now.input = fold->input;
    now.transcript = fold->transcript;
    now.arena = fold->arena;
    now.segments = fold->segments;
    now.lists[0] = fold->lists[0];
    now.lists[1] = fold->lists[1];
    now.reads = fold->reads;
    now.group_end = fold->group_end;
    now.items = NULL;
    now.results = now.large = (struct wr_fold_list){0};
    now.stage = "";
    now.resumed_count = now.arrived;
    now.is_late = now.has_new = false;
    now.late_count = 0;
    now.inserts = wr_arena_alloc(fold->arena, now.inserts_count * sizeof(*now.inserts));
    now.steps = wr_arena_alloc(fold->arena, now.steps_count * sizeof(*now.steps));
    if (!now.inserts || !now.steps)
        return wr_arena_status(fold->arena);
    memcpy(now.inserts, state->fold.inserts, now.inserts_count * sizeof(*now.inserts));
    memcpy(now.steps, state->fold.steps, now.steps_count * sizeof(*now.steps));
    *fold = now;
    for (uint32_t i = 0; i < fold->arrived; i++)
        wr_fold_add_read(fold, i);
    return WEIR_OK;
}
