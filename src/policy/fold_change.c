/* What a stage may ask of a fold, and what it may do to it: give a segment a form, prune a call's
 * arguments, put a message in the place of several, bring an original back.
 *
 * All of them end alike: a form that saves too little or has no way back is not taken; whatever
 * changes what was sent before is declared as this turn's one step, and takes the signed thinking
 * before it along (laws L2, L3, L4). Stages never touch the fold's segments themselves, so these
 * rules have no second place.
 *
 * What an insert stands for is written only where somebody asks: its handle needs a hash, and the
 * hash of one that replaces another goes on where that one's ended. So a long session that drops a
 * little more at every step costs what is new in each. */
#include "policy/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "policy/budget.h"
#include "policy/fold_inside.h"

enum {
    CAP_FIRST_COUNT = 16,
    GAIN_SHARE = 20,  /* of the window: what a step under pressure must free */
    STUB_TOKENS = 48, /* what a short form takes, about */
};

const char *wr_step_reason_text(enum wr_step_reason reason)
{
    static const char *const names[] = WR_NAMES_OF(WR_STEP_MAP);
    return (size_t)reason < WR_COUNT_OF(names) ? names[reason] : "unknown";
}

bool wr_fold_is_sent(const struct wr_fold *fold, uint32_t segment)
{
    return fold->transcript->segments[segment].turn < fold->turn;
}

weir_span wr_fold_text(struct wr_fold *fold, uint32_t segment)
{
    return wr_segment_text(fold->transcript, &fold->transcript->segments[segment], fold->arena);
}

static bool tool_fits(weir_span pattern, weir_span tool)
{
    if (pattern.len && pattern.ptr[pattern.len - 1] == '*')
        return wr_span_starts(tool, wr_span_cut(pattern, 0, pattern.len - 1));
    return wr_span_eq(pattern, tool);
}

/* The first word that fits decides; each begins with its sign. */
static bool may_change_results(const char *words, weir_span tool)
{
    weir_span rest = words ? wr_span_of(words) : (weir_span){"", 0};

    while (rest.len) {
        size_t space = wr_span_find(rest, WR_LIT(" "), 0);
        weir_span word = wr_span_cut(rest, 0, space < rest.len ? space : rest.len);
        if (word.len && tool_fits(wr_span_cut(word, 1, word.len), tool))
            return word.ptr[0] != '-';
        rest = wr_span_cut(rest, word.len + (word.len < rest.len), rest.len);
    }
    return true;
}

bool wr_fold_may_change(const struct wr_fold *fold, weir_span tool)
{
    return may_change_results(fold->input->tools, tool);
}

/* What came later is not known yet at this turn. */
bool wr_fold_is_instructions(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return s->kind == WEIR_KIND_TOOL_RESULT && s->handles && s->handles->is_instructions &&
           !(s->staleness == WR_STALE && s->stale_by < fold->arrived);
}

bool wr_fold_group_instructs(const struct wr_fold *fold, uint32_t group)
{
    uint32_t i = fold->segments[group].instructs_last;
    while (i != WR_SEGMENT_NONE &&
           (!wr_fold_is_instructions(fold, i) || fold->segments[i].form != WR_FORM_EXACT))
        i = fold->segments[i].instructs_before; /* a stub instructs nobody */
    return i != WR_SEGMENT_NONE;
}

/* What is put in behind the last segment belongs to the end. */
uint64_t wr_fold_tokens_from(const struct wr_fold *fold, uint32_t first, uint32_t end)
{
    uint64_t tokens = 0;

    for (uint32_t i = first; i < end; i++)
        if (fold->segments[i].form != WR_FORM_DROPPED)
            tokens += fold->segments[i].tokens + wr_fold_overhead(fold, i);
    for (uint32_t i = 0; i < fold->inserts_count; i++) {
        uint32_t before = fold->inserts[i].before;
        if (!fold->inserts[i].is_gone && before >= first && (before < end || end == fold->arrived))
            tokens += fold->inserts[i].tokens;
    }
    return tokens;
}

bool wr_fold_group_is_kept(const struct wr_fold *fold, uint32_t group)
{
    if (!fold->said.pins_count || fold->said.lifts_pins)
        return false;
    for (uint32_t i = group; i < fold->group_end[group] && i < fold->arrived; i++)
        if (fold->transcript->segments[i].group == group && fold->segments[i].kept_by)
            return true;
    return false;
}

uint32_t wr_fold_led_by(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_segment *segments = fold->transcript->segments;
    uint32_t i = segment;

    if (segments[i].role != WEIR_ROLE_USER || segments[i].group != WR_SEGMENT_NONE)
        return WR_SEGMENT_NONE;
    while (i < fold->arrived && !segments[i].from_model)
        i++;
    return i < fold->arrived ? segments[i].group : WR_SEGMENT_NONE;
}

bool wr_fold_group_stays(const struct wr_fold *fold, uint32_t group)
{
    return wr_fold_group_instructs(fold, group) || wr_fold_group_is_kept(fold, group);
}

bool wr_fold_is_plain(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_fold_segment *now = &fold->segments[segment];

    if (s->kind != WEIR_KIND_TOOL_RESULT || !s->parts_count || !now->has_arrived ||
        !wr_form_says_all(now->form))
        return false;
    if (fold->transcript->is_delta && s->pair == WR_SEGMENT_NONE && !s->handles)
        return false; /* nobody here knows what was called */
    /* Classes speak of a request's newest turn; a fold has a newest turn of its own at every
     * request. */
    if (s->is_opaque || ((wr_result_has_failed(s, s->handles) || now->is_reread) &&
                         !wr_fold_is_sent(fold, segment)))
        return false;
    if (s->handles && (s->handles->kind == WR_EFFECT_RECALL || s->handles->kind == WR_EFFECT_PLAN))
        return false;
    if (wr_fold_is_instructions(fold, segment))
        return false;
    return !wr_fold_is_held(fold, segment) && !now->is_marked &&
           !wr_stage_exempts(stage, s->tool) && wr_fold_may_change(fold, s->tool);
}

weir_span wr_fold_recall(const struct wr_fold *fold)
{
    return wr_ways_recall(fold->input->ways, fold->arrived);
}

bool wr_fold_says_it(const struct wr_fold *fold, uint32_t segment)
{
    enum wr_form form = fold->segments[segment].form;
    return wr_fold_recall(fold).len ? wr_form_says_all(form) : form == WR_FORM_EXACT;
}

bool wr_fold_has_way(const struct wr_fold *fold)
{
    return wr_fold_recall(fold).len || (fold->is_last_resort && fold->input->keeps_originals);
}

/* In the last resort what no tool brings back is the operator's to bring back. */
static struct wr_way fold_way(const struct wr_fold *fold, uint32_t segment)
{
    struct wr_way way =
        wr_way_to(fold->input->ways, &fold->transcript->segments[segment], fold->arrived);

    if (way.kind == WR_WAY_NONE && wr_fold_has_way(fold))
        way.kind = WR_WAY_OPERATOR;
    return way;
}

bool wr_fold_is_open(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    return wr_fold_is_plain(fold, stage, segment) && fold_way(fold, segment).kind != WR_WAY_NONE;
}

uint64_t wr_fold_threshold(const struct wr_fold *fold, uint64_t basis_points)
{
    uint64_t window = fold->window.tokens, reserve = fold->window.reserve_tokens;
    if (!window)
        return UINT64_MAX;
    uint64_t room = reserve < window ? window - reserve : 1;
    return room / 10000 * basis_points + room % 10000 * basis_points / 10000;
}

uint64_t wr_fold_room(const struct wr_fold *fold)
{
    uint64_t window = fold->window.tokens, reserve = fold->window.reserve_tokens;
    if (!window)
        return UINT64_MAX;
    return fold->window.is_reserve_named && reserve < window ? window - reserve : window;
}

uint64_t wr_fold_trigger(const struct wr_fold *fold, uint64_t basis_points)
{
    uint64_t share = wr_share_tokens(fold->window.tokens, (uint32_t)basis_points);
    uint64_t room = wr_fold_room(fold);
    return share < room ? share : room;
}

uint64_t wr_fold_gain(const struct wr_fold *fold, uint32_t segment)
{
    uint64_t tokens = fold->segments[segment].tokens;
    return tokens > STUB_TOKENS + WR_FOLD_GAIN_TOKENS_MIN ? tokens - STUB_TOKENS : 0;
}

uint64_t wr_fold_gain_min(const struct wr_fold *fold)
{
    if (wr_fold_is_asked(fold))
        return 1;
    return fold->window.tokens / GAIN_SHARE;
}

void wr_fold_note_change(struct wr_fold *fold, uint32_t segment)
{
    if (segment < fold->changed_first)
        fold->changed_first = segment;
}

weir_status wr_fold_declare_step(struct wr_fold *fold, enum wr_step_reason reason)
{
    if (wr_fold_is_asked(fold))
        reason = WR_STEP_ASKED;
    if (reason == WR_STEP_COLD)
        fold->cold_turn = fold->turn;
    if (fold->steps_count && fold->steps[fold->steps_count - 1].turn == fold->turn) {
        fold->steps[fold->steps_count - 1].first = fold->changed_first;
        return WEIR_OK;
    }
    if (!WR_ARENA_ROOM(fold->arena, fold->steps, fold->steps_count, fold->steps_cap,
                       CAP_FIRST_COUNT))
        return wr_arena_status(fold->arena);
    fold->steps[fold->steps_count++] =
        (struct wr_fold_step){fold->turn, reason, fold->changed_first};
    return WEIR_OK;
}

void wr_fold_set_tokens(struct wr_fold *fold, struct wr_fold_segment *now, uint64_t tokens)
{
    fold->total_tokens = fold->total_tokens - now->tokens + tokens;
    now->tokens = tokens;
    if (wr_fold_is_sent(fold, (uint32_t)(now - fold->segments)))
        wr_fold_note_change(fold, (uint32_t)(now - fold->segments));
}

static void drop_segment(struct wr_fold *fold, uint32_t segment, const char *reason)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    (void)!wr_fold_note_was(fold, segment); /* the arena remembers that it was full */
    now->form = WR_FORM_DROPPED;
    now->reason = reason;
    wr_fold_set_tokens(fold, now, 0);
    fold->total_tokens -= wr_fold_overhead(fold, segment);
}

/* A step removes the signed thinking before it, from the start: what it was signed over has
 * changed. */
void wr_fold_drop_thinking(struct wr_fold *fold)
{
    uint32_t end = fold->arrived;

    if (!fold->input->binds_thinking)
        return;
    /* Calls whose results have just come are refused without their thinking. Where a step is taken
     * there at all the provider drops it, as the request tells it to. */
    if (wr_fold_open_first(fold) < end)
        end = wr_fold_new_first(fold);
    for (uint32_t i = 0; i < end; i++) {
        struct wr_fold_segment *now = &fold->segments[i];
        if (!fold->transcript->segments[i].is_signed || now->form == WR_FORM_DROPPED ||
            !wr_fold_is_sent(fold, i))
            continue;
        drop_segment(fold, i, "thinking");
    }
}

weir_status wr_fold_with_marker(struct wr_fold *fold, weir_span first,
                                const struct wr_marker *marker, weir_span *text)
{
    struct wr_buf buf;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&buf, first);
    if (first.len)
        wr_buf_byte(&buf, '\n');
    wr_marker_write(&buf, marker);
    return wr_text_keep(fold->arena, &buf, text);
}

weir_status wr_fold_give(struct wr_fold *fold, uint32_t segment, const struct wr_fold_form *form)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    weir_span original = wr_fold_text(fold, segment), text;
    struct wr_marker marker = {.way = fold_way(fold, segment),
                               .lines = form->lines_missing,
                               .tokens = fold->input->tokens[segment],
                               .what = form->what ? form->what : "left out"};

    if (!original.ptr)
        return wr_arena_status(fold->arena);
    if (now->kept_by && wr_fold_is_held(fold, segment))
        return WEIR_OK;
    /* All that is missing is what the text is shorter by. */
    if (form->form == WR_FORM_TIDIED && form->text.len < original.len)
        marker.tokens = marker.tokens * (original.len - form->text.len) / original.len;
    if (form->refers_to != WR_SEGMENT_NONE)
        marker.way = (struct wr_way){.kind = WR_WAY_HERE, .tool = {"", 0}, .path = {"", 0}};
    /* A text that had another form before has its handle: hashing is most of what a step costs.
     * Where arguments were pruned the handle is that of one of them. */
    weir_status status = WEIR_OK;
    if (now->handle.text[0] && !now->members_count)
        marker.handle = now->handle;
    else
        status = wr_handle_of(original, &marker.handle);
    if (!status)
        status = wr_fold_with_marker(fold, form->text, &marker, &text);
    if (status)
        return status;
    uint64_t tokens = fold->input->count(fold->input->user, text);
    if (tokens + WR_FOLD_GAIN_TOKENS_MIN > now->tokens || text.len >= original.len)
        return WEIR_OK;
    status = wr_fold_note_was(fold, segment);
    if (status)
        return status;

    now->form = form->form;
    now->text = text;
    now->handle = marker.handle;
    now->refers_to = form->refers_to;
    if (form->refers_to != WR_SEGMENT_NONE)
        fold->segments[form->refers_to].is_pinned = true;
    now->reason = fold->stage;
    now->needs_operator = marker.way.kind == WR_WAY_OPERATOR;
    wr_fold_set_tokens(fold, now, tokens);
    if (!wr_fold_is_sent(fold, segment) || segment >= wr_fold_new_first(fold))
        return WEIR_OK;
    wr_fold_drop_thinking(fold);
    return wr_fold_declare_step(fold, form->reason);
}

weir_status wr_fold_prune(struct wr_fold *fold, uint32_t segment,
                          const struct wr_fold_pruning *pruning)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    uint64_t name_tokens =
        fold->input->count(fold->input->user, fold->transcript->segments[segment].tool);
    uint64_t tokens = fold->input->count(fold->input->user, pruning->arguments) + name_tokens;

    if (!pruning->members_count || tokens + WR_FOLD_GAIN_TOKENS_MIN > now->tokens ||
        (now->kept_by && wr_fold_is_held(fold, segment)))
        return WEIR_OK;
    weir_status status = wr_fold_note_was(fold, segment);
    if (status)
        return status;
    now->form = WR_FORM_PRUNED;
    now->text = pruning->arguments;
    now->members = pruning->members;
    now->members_count = pruning->members_count;
    now->handle = pruning->members[0].handle;
    now->reason = fold->stage;
    wr_fold_set_tokens(fold, now, tokens);
    if (!wr_fold_is_sent(fold, segment) || segment >= wr_fold_new_first(fold))
        return WEIR_OK;
    wr_fold_drop_thinking(fold);
    return wr_fold_declare_step(fold, pruning->reason);
}

bool wr_fold_group_may_leave(const struct wr_fold *fold, uint32_t group)
{
    const struct wr_transcript *t = fold->transcript;
    bool has_call = false;
    if (wr_fold_group_stays(fold, group))
        return false;
    for (uint32_t i = group; i < fold->group_end[group] && i < fold->arrived; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->group != group || (s->is_signed && fold->segments[i].form == WR_FORM_DROPPED))
            continue;
        bool is_call = s->kind == WEIR_KIND_TOOL_CALL;
        if (fold->segments[i].form == WR_FORM_DROPPED || fold->segments[i].is_pinned ||
            !wr_fold_is_sent(fold, i) || s->array == WR_JSON_NONE ||
            s->kind == WEIR_KIND_COMPACTION || (is_call && s->pair >= fold->arrived))
            return false; /* the result that comes later is not here yet */
        has_call |= is_call;
    }
    return has_call && fold->group_end[group] <= fold->arrived;
}

/* ---- messages that are put in ---- */

weir_status wr_fold_add_insert(struct wr_fold *fold, const struct wr_fold_insert *insert)
{
    if (fold->inserts_count == WR_FOLD_INSERTS_MAX)
        return WEIR_LIMIT;
    if (!WR_ARENA_ROOM(fold->arena, fold->inserts, fold->inserts_count, fold->inserts_cap,
                       CAP_FIRST_COUNT))
        return wr_arena_status(fold->arena);
    fold->inserts[fold->inserts_count++] = *insert;
    fold->total_tokens += insert->tokens;
    return WEIR_OK;
}

/* ---- what it stands for ---- */

bool wr_fold_stands_for(const struct wr_fold *fold, uint32_t insert, uint32_t segment)
{
    const struct wr_fold_segment *now = &fold->segments[segment];
    return now->is_offloaded && now->insert <= insert &&
           fold->inserts[now->insert].chain == fold->inserts[insert].chain;
}

/* The segments an insert stands for, in order; NULL: no memory. */
uint32_t *wr_fold_list_of(const struct wr_fold *fold, uint32_t insert, uint32_t *count)
{
    const struct wr_fold_insert *in = &fold->inserts[insert];
    uint32_t *list = wr_arena_alloc(
        fold->arena, wr_arena_array_bytes((size_t)in->last - in->first + 1, sizeof(*list)));

    *count = 0;
    for (uint32_t i = in->first; list && i <= in->last; i++)
        if (wr_fold_stands_for(fold, insert, i))
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
    uint32_t *list = wr_fold_list_of(fold, insert, &count);
    if (!list)
        return wr_arena_status(fold->arena);
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_history_write(&buf, fold->arena, fold->transcript, list, count);
    if (!status)
        return wr_text_keep(fold->arena, &buf, text);
    wr_buf_release(&buf);
    return status;
}

/* Both lists ascend; so does what they become. */
static weir_status merge(struct wr_fold *fold, const struct wr_fold_replacement *r, uint32_t **all,
                         uint32_t *count)
{
    uint32_t old_count, next = 0, *old = wr_fold_list_of(fold, r->supersedes, &old_count);

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

/* Segments that come after all of those that the superseded insert stands for are added to its
 * hash; otherwise everything is hashed again. */
static weir_status hash_all(struct wr_fold *fold, const struct wr_fold_replacement *r,
                            struct wr_fold_insert *insert)
{
    const struct wr_fold_insert *old =
        r->supersedes == WR_INSERT_NONE ? NULL : &fold->inserts[r->supersedes];
    uint32_t *all, count;

    insert->first = r->segments[0];
    insert->last = r->segments[r->segments_count - 1];
    if (old && old->first < insert->first)
        insert->first = old->first;
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

void wr_fold_set_handle(struct wr_fold_insert *insert)
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

/* Tokens of the originals, added to those of the insert before it. They are not counted anew: that
 * would take longer with every step. */
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

    if (!marker.way.tool.len)
        marker.way.kind = WR_WAY_OPERATOR;

    *insert = (struct wr_fold_insert){.before = r->before,
                                      .turn = fold->turn,
                                      .role = r->role,
                                      .is_loop = r->is_loop,
                                      .chain = r->supersedes == WR_INSERT_NONE
                                                   ? fold->inserts_count
                                                   : fold->inserts[r->supersedes].chain,
                                      .stage = fold->stage,
                                      .needs_operator = marker.way.kind == WR_WAY_OPERATOR};
    insert->original_tokens = marker.tokens = original_tokens(fold, r);
    weir_status status = hash_all(fold, r, insert);
    if (status)
        return status;
    wr_fold_set_handle(insert);
    marker.handle = insert->handle;
    status = wr_fold_with_marker(fold, r->text, &marker, &insert->text);
    if (!status)
        insert->tokens = fold->input->count(fold->input->user, insert->text) +
                         fold->input->message_overhead_tokens;
    return status;
}

void wr_fold_let_go(struct wr_fold *fold, uint32_t insert)
{
    wr_fold_note_change(fold, fold->inserts[insert].before);
    fold->inserts[insert].is_gone = true;
    fold->inserts[insert].gone_at = fold->turn + 1;
    fold->total_tokens -= fold->inserts[insert].tokens;
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
        uint32_t more, *list = wr_fold_list_of(fold, r->absorbs[i], &more);
        if (!list)
            return wr_arena_status(fold->arena);
        memcpy(all + count, list, more * sizeof(*all));
        count += more;
    }
    qsort(all, count, sizeof(*all), wr_by_number);
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
        (void)!wr_fold_note_was(fold, r->segments[i]);
        now->is_offloaded = true;
        now->insert = fold->inserts_count;
        now->reason = fold->stage;
        if (now->form != WR_FORM_DROPPED)
            drop_segment(fold, r->segments[i], fold->stage);
    }
    wr_fold_note_change(fold, r->before);
    if (r->supersedes != WR_INSERT_NONE)
        wr_fold_let_go(fold, r->supersedes);
    for (uint32_t i = 0; i < r->absorbs_count; i++) {
        wr_fold_let_go(fold, r->absorbs[i]);
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
            drop_segment(fold, i, "thinking");
}

/* What the user has pinned stays where it is, with its group. */
static weir_status leave_kept(struct wr_fold *fold, struct wr_fold_replacement *r)
{
    const struct wr_segment *segments = fold->transcript->segments;
    uint32_t *list, count = 0;

    if (!fold->said.pins_count || !r->segments_count)
        return WEIR_OK;
    list = WR_ARENA_ARRAY(fold->arena, uint32_t, r->segments_count);
    if (!list)
        return wr_arena_status(fold->arena);
    for (uint32_t i = 0; i < r->segments_count; i++) {
        uint32_t segment = r->segments[i], group = segments[segment].group;
        bool is_kept = fold->segments[segment].kept_by && wr_fold_is_held(fold, segment);
        if (group == WR_SEGMENT_NONE)
            group = wr_fold_led_by(fold, segment);
        if (!is_kept && !(group != WR_SEGMENT_NONE && wr_fold_group_is_kept(fold, group)))
            list[count++] = segment;
    }
    r->segments = list;
    r->segments_count = count;
    return WEIR_OK;
}

weir_status wr_fold_replace(struct wr_fold *fold, const struct wr_fold_replacement *replacement,
                            bool *taken)
{
    struct wr_fold_replacement r = *replacement;
    struct wr_fold_insert insert;
    weir_status status = leave_kept(fold, &r);

    *taken = false;
    if (!status && r.absorbs_count)
        status = list_absorbed(fold, &r);
    if (status || !wr_fold_has_way(fold) || !r.segments_count)
        return status;
    status = make_insert(fold, &r, &insert);
    if (status || insert.tokens >= tokens_of(fold, &r))
        return status;
    take_out(fold, &r);
    *taken = true;
    status = wr_fold_add_insert(fold, &insert);
    if (status)
        return status;
    drop_older_thinking(fold, &r);
    wr_fold_drop_thinking(fold);
    /* An insert that is gone was sent, though it may have stood right before what is new. */
    bool was_sent = r.supersedes != WR_INSERT_NONE || r.absorbs_count ||
                    fold->changed_first < wr_fold_new_first(fold);
    return was_sent ? wr_fold_declare_step(fold, r.reason) : WEIR_OK;
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
    weir_status status = wr_fold_add_insert(fold, &insert);
    if (!status)
        fold->chosen.rehydrated_tokens += insert.tokens;
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
