/* Messages that a fold puts in, and what they stand for.
 *
 * What an insert stands for is written only where somebody asks: its handle needs a hash, and the
 * hash of one that replaces another goes on where that one's ended. So a long session that drops a
 * little more at every step costs what is new in each. */
#include "policy/fold_change.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"

enum { CAP_FIRST_COUNT = 16 };

static weir_status add_insert(struct wr_fold *fold, const struct wr_fold_insert *insert)
{
    if (fold->inserts_count == WR_FOLD_INSERTS_MAX)
        return WEIR_LIMIT;
    if (fold->inserts_count == fold->inserts_cap) {
        uint32_t cap = fold->inserts_cap ? fold->inserts_cap * 2 : CAP_FIRST_COUNT;
        struct wr_fold_insert *grown = wr_arena_grow(
            fold->arena, fold->inserts, fold->inserts_cap * sizeof(*grown), cap * sizeof(*grown));
        if (!grown)
            return wr_arena_status(fold->arena);
        fold->inserts = grown;
        fold->inserts_cap = cap;
    }
    fold->inserts[fold->inserts_count++] = *insert;
    fold->total_tokens += insert->tokens;
    return WEIR_OK;
}

/* ---- what it stands for ---- */

static bool stands_for(const struct wr_fold *fold, uint32_t insert, uint32_t segment)
{
    const struct wr_fold_segment *now = &fold->segments[segment];
    return now->is_offloaded && now->insert <= insert &&
           fold->inserts[now->insert].chain == fold->inserts[insert].chain;
}

/* The segments an insert stands for, in order; NULL: no memory. */
static uint32_t *list_of(const struct wr_fold *fold, uint32_t insert, uint32_t *count)
{
    const struct wr_fold_insert *in = &fold->inserts[insert];
    uint32_t *list = wr_arena_alloc(
        fold->arena, wr_arena_array_bytes((size_t)in->last - in->before + 1, sizeof(*list)));

    *count = 0;
    for (uint32_t i = in->before; list && i <= in->last; i++)
        if (stands_for(fold, insert, i))
            list[(*count)++] = i;
    return list;
}

weir_status wr_fold_insert_original(struct wr_fold *fold, uint32_t insert, weir_span *text)
{
    uint32_t count;
    struct wr_buf buf;

    if (fold->inserts[insert].is_rehydrated) {
        *text = fold->inserts[insert].original;
        return WEIR_OK;
    }
    uint32_t *list = list_of(fold, insert, &count);
    if (!list)
        return wr_arena_status(fold->arena);
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_history_write(&buf, fold->arena, fold->transcript, list, count);
    if (!status) {
        *text = wr_arena_copy(fold->arena, wr_buf_view(&buf));
        status = text->ptr ? WEIR_OK : wr_arena_status(fold->arena);
    }
    wr_buf_release(&buf);
    return status;
}

/* Both lists ascend; so does what they become. */
static weir_status merge(struct wr_fold *fold, const struct wr_fold_replacement *r, uint32_t **all,
                         uint32_t *count)
{
    uint32_t old_count, next = 0, *old = list_of(fold, r->supersedes, &old_count);

    *all = WR_ARENA_ARRAY(fold->arena, uint32_t, (size_t)old_count + r->segments_count);
    *count = 0;
    if (!old || !*all)
        return wr_arena_status(fold->arena);
    for (uint32_t i = 0; i < r->segments_count; i++) {
        while (next < old_count && old[next] < r->segments[i])
            (*all)[(*count)++] = old[next++];
        (*all)[(*count)++] = r->segments[i];
    }
    while (next < old_count)
        (*all)[(*count)++] = old[next++];
    return WEIR_OK;
}

/* What comes behind all that the superseded one stands for goes on from its hash. */
static weir_status hash_all(struct wr_fold *fold, const struct wr_fold_replacement *r,
                            struct wr_fold_insert *insert)
{
    const struct wr_fold_insert *old =
        r->supersedes == WR_INSERT_NONE ? NULL : &fold->inserts[r->supersedes];
    uint32_t *all, count;

    insert->last = r->segments[r->segments_count - 1];
    if (old && old->last > insert->last)
        insert->last = old->last;
    if (old && r->segments[0] < old->last) {
        weir_status status = merge(fold, r, &all, &count);
        return status
                   ? status
                   : wr_history_hash_add(&insert->hash, fold->arena, fold->transcript, all, count);
    }
    if (old)
        insert->hash = old->hash;
    return wr_history_hash_add(&insert->hash, fold->arena, fold->transcript, r->segments,
                               r->segments_count);
}

static void set_handle(struct wr_fold_insert *insert)
{
    unsigned char digest[WR_SHA256_BYTES];
    weir_handle handle;

    wr_sha256_digest(&insert->hash.stream, digest);
    memcpy(handle.bytes, digest, sizeof(handle.bytes));
    weir_handle_format(handle, insert->handle.text);
}

/* ---- in place of segments ---- */

static uint64_t tokens_of(const struct wr_fold *fold, const struct wr_fold_replacement *r)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < r->segments_count; i++)
        tokens += fold->segments[r->segments[i]].tokens;
    if (r->supersedes != WR_INSERT_NONE)
        tokens += fold->inserts[r->supersedes].tokens;
    for (uint32_t i = 0; i < r->absorbs_count; i++)
        tokens += fold->inserts[r->absorbs[i]].tokens;
    return tokens;
}

/* Of what an insert stands for, and of what the one before it stood for: counting the text of all
 * of it at every step would take longer with each. */
static uint64_t original_tokens(const struct wr_fold *fold, const struct wr_fold_replacement *r)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < r->segments_count; i++)
        tokens += fold->input->tokens[r->segments[i]];
    if (r->supersedes != WR_INSERT_NONE)
        tokens += fold->inserts[r->supersedes].original_tokens;
    return tokens;
}

static weir_status make_insert(struct wr_fold *fold, const struct wr_fold_replacement *r,
                               struct wr_fold_insert *insert)
{
    struct wr_marker marker = {.way = {.kind = WR_WAY_RECALL, .tool = wr_fold_recall(fold)},
                               .what = "left out"};

    *insert = (struct wr_fold_insert){.before = r->before,
                                      .turn = fold->turn,
                                      .role = r->role,
                                      .is_loop = r->is_loop,
                                      .chain = r->supersedes == WR_INSERT_NONE
                                                   ? fold->inserts_count
                                                   : fold->inserts[r->supersedes].chain,
                                      .stage = fold->stage};
    insert->original_tokens = marker.tokens = original_tokens(fold, r);
    weir_status status = hash_all(fold, r, insert);
    if (status)
        return status;
    set_handle(insert);
    marker.handle = insert->handle;
    status = wr_fold_text_with_marker(fold, r->text, &marker, &insert->text);
    if (!status)
        insert->tokens = fold->input->count(fold->input->user, insert->text) +
                         fold->input->message_overhead_tokens;
    return status;
}

static void let_go(struct wr_fold *fold, uint32_t insert)
{
    wr_fold_note_change(fold, fold->inserts[insert].before);
    fold->inserts[insert].is_gone = true;
    fold->total_tokens -= fold->inserts[insert].tokens;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The segments of what is absorbed are listed with the others. */
static weir_status list_absorbed(struct wr_fold *fold, struct wr_fold_replacement *r)
{
    uint32_t count = r->segments_count;
    uint32_t *all = WR_ARENA_ARRAY(fold->arena, uint32_t, fold->arrived);

    if (!all)
        return wr_arena_status(fold->arena);
    if (count)
        memcpy(all, r->segments, count * sizeof(*all));
    for (uint32_t i = 0; i < r->absorbs_count; i++) {
        uint32_t more, *list = list_of(fold, r->absorbs[i], &more);
        if (!list)
            return wr_arena_status(fold->arena);
        memcpy(all + count, list, more * sizeof(*all));
        count += more;
    }
    qsort(all, count, sizeof(*all), by_number);
    r->segments = all;
    r->segments_count = count;
    if (count && all[0] < r->before)
        r->before = all[0];
    return WEIR_OK;
}

static void take_out(struct wr_fold *fold, const struct wr_fold_replacement *r)
{
    for (uint32_t i = 0; i < r->segments_count; i++) {
        struct wr_fold_segment *now = &fold->segments[r->segments[i]];
        now->is_offloaded = true;
        now->insert = fold->inserts_count;
        now->reason = fold->stage;
        if (now->form != WR_FORM_DROPPED)
            wr_fold_drop(fold, r->segments[i], fold->stage);
    }
    wr_fold_note_change(fold, r->before);
    if (r->supersedes != WR_INSERT_NONE)
        let_go(fold, r->supersedes);
    for (uint32_t i = 0; i < r->absorbs_count; i++) {
        let_go(fold, r->absorbs[i]);
        fold->inserts[r->absorbs[i]].is_absorbed = true;
    }
}

/* Signed thinking leaves from its start: a group that stays before those that left, because it
 * shows instructions, stays without its own. */
static void drop_older_thinking(struct wr_fold *fold, const struct wr_fold_replacement *r)
{
    const struct wr_segment *segments = fold->transcript->segments;
    uint32_t last = r->segments_count;

    if (!fold->has_signed)
        return;
    while (last > 0 && !segments[r->segments[last - 1]].is_signed)
        last--;
    for (uint32_t i = 0; last && i < r->segments[last - 1]; i++)
        if (segments[i].is_signed && fold->segments[i].form != WR_FORM_DROPPED)
            wr_fold_drop(fold, i, "thinking");
}

weir_status wr_fold_replace(struct wr_fold *fold, const struct wr_fold_replacement *replacement,
                            bool *taken)
{
    struct wr_fold_replacement r = *replacement;
    struct wr_fold_insert insert;
    weir_status status = WEIR_OK;

    *taken = false;
    if (r.absorbs_count)
        status = list_absorbed(fold, &r);
    if (status || !wr_fold_recall(fold).len || !r.segments_count)
        return status;
    status = make_insert(fold, &r, &insert);
    if (status || insert.tokens >= tokens_of(fold, &r))
        return status;
    take_out(fold, &r);
    *taken = true;
    status = add_insert(fold, &insert);
    if (status)
        return status;
    drop_older_thinking(fold, &r);
    wr_fold_drop_thinking(fold);
    return wr_fold_declare_step(fold, r.reason);
}

uint32_t wr_fold_own_insert(const struct wr_fold *fold)
{
    for (uint32_t i = fold->inserts_count; i-- > 0;)
        if (fold->inserts[i].stage == fold->stage && !fold->inserts[i].is_gone)
            return i;
    return WR_INSERT_NONE;
}

/* ---- brought back ---- */

static uint32_t behind_message(const struct wr_transcript *t, uint32_t segment)
{
    uint32_t next = segment + 1;
    while (next < t->segments_count && t->segments[next].message == t->segments[segment].message)
        next++;
    return next;
}

weir_status wr_fold_rehydrate(struct wr_fold *fold, uint32_t segment,
                              const struct wr_handle *handle, weir_span text, weir_span original)
{
    struct wr_fold_insert insert = {.before = behind_message(fold->transcript, segment),
                                    .turn = fold->turn,
                                    .role = WEIR_ROLE_USER,
                                    .text = text,
                                    .original = original,
                                    .chain = fold->inserts_count,
                                    .handle = *handle,
                                    .tokens = fold->input->count(fold->input->user, text),
                                    .stage = fold->stage,
                                    .is_rehydrated = true};
    weir_status status = add_insert(fold, &insert);
    if (!status)
        fold->rehydrated_tokens += insert.tokens;
    return status;
}

static bool handles_equal(const struct wr_handle *a, const struct wr_handle *b)
{
    return !strcmp(a->text, b->text);
}

bool wr_fold_original(struct wr_fold *fold, const struct wr_handle *handle, weir_span *original)
{
    for (uint32_t i = 0; i < fold->arrived; i++) {
        const struct wr_fold_segment *now = &fold->segments[i];
        for (uint32_t m = 0; m < now->members_count; m++)
            if (handles_equal(&now->members[m].handle, handle)) {
                *original = now->members[m].original;
                return true;
            }
        if (!now->members_count && handles_equal(&now->handle, handle)) {
            *original = wr_fold_text(fold, i);
            return true;
        }
    }
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (!fold->inserts[i].is_rehydrated && !fold->inserts[i].is_absorbed &&
            handles_equal(&fold->inserts[i].handle, handle)) {
            if (wr_fold_insert_original(fold, i, original))
                *original = (weir_span){NULL, 0};
            return true;
        }
    return false;
}
