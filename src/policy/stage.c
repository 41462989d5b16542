/* The stages by name and their rules for single tools; and what stages share: what a call says of
 * itself and which kind of output its result is, lists of results that are kept up to date, stubs,
 * what replaces messages, and when a stage acts.
 *
 * Every stage looks at results at every request. Forms only go one way, so a list drops for good
 * what has left the prompt: a request costs what the prompt holds and not what the session ever
 * held. */
#include "policy/stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "policy/budget.h"
#include "policy/summary.h"

/* ---- a call ---- */

static const weir_span nothing = {"", 0};

static weir_span arguments_of(const struct wr_transcript *t, const struct wr_segment *call,
                              struct wr_arena *arena)
{
    if (call->payload == WR_JSON_NONE)
        return nothing;
    if (wr_json_kind(t->doc, call->payload) == WR_JSON_STRING)
        return wr_json_text(t->doc, arena, call->payload);
    return wr_json_raw(t->doc, call->payload);
}

weir_span wr_call_result(const struct wr_transcript *t, uint32_t result, struct wr_arena *arena)
{
    const struct wr_segment *s = &t->segments[result];
    return s->parts_count ? wr_segment_text(t, s, arena) : nothing;
}

/* The transcript knows only the wrapper of a wrapped call, so the handles are read here. */
static weir_status read_wrapped_handles(struct wr_call *out, struct wr_arena *arena,
                                        const struct wr_transcript *t, uint32_t result)
{
    struct wr_tool_handles *handles = WR_ARENA_ARRAY(arena, struct wr_tool_handles, 1);
    if (!handles)
        return wr_arena_status(arena);
    weir_status status = wr_tool_call(handles, arena, out->capability, out->arguments, nothing);
    if (!status && result != WR_SEGMENT_NONE) {
        weir_span text = wr_call_result(t, result, arena);
        if (!text.ptr)
            return wr_arena_status(arena);
        wr_tool_result(handles, text, t->segments[result].is_error);
    }
    out->handles = handles;
    return status;
}

/* The text under the first of the names that has one; NULL ptr: no memory. */
static weir_span find_text(const struct wr_json *doc, struct wr_arena *arena,
                           const char *const *names)
{
    for (; *names; names++) {
        wr_json_id value = wr_json_find(doc, 0, *names);
        if (wr_json_is(doc, value, WR_JSON_STRING) && wr_json_inner(doc, value).len)
            return wr_json_text(doc, arena, value);
    }
    return nothing;
}

static weir_status read_object(struct wr_call *out, struct wr_arena *arena, bool is_wrapped)
{
    static const char *const purposes[] = {"purpose", "description", NULL};
    static const char *const capabilities[] = {"capability", NULL};
    struct wr_json doc;

    if (wr_json_parse(&doc, arena, out->arguments, NULL, NULL))
        return wr_arena_status(arena); /* arguments that are no JSON say nothing more */
    out->purpose = wr_span_trim(find_text(&doc, arena, purposes));
    if (is_wrapped) {
        weir_span capability = wr_span_trim(find_text(&doc, arena, capabilities));
        wr_json_id args = wr_json_find(&doc, 0, "args");
        if (capability.len)
            out->capability = capability;
        if (args != WR_JSON_NONE)
            out->arguments = wr_json_raw(&doc, args);
    }
    return wr_arena_status(arena);
}

bool wr_call_is_wrapper(weir_span tool)
{
    return wr_span_is(tool, "call_capability");
}

weir_status wr_call_read(struct wr_call *out, struct wr_arena *arena, const struct wr_transcript *t,
                         uint32_t call)
{
    *out = (struct wr_call){WR_LIT("(unknown)"), nothing, nothing, NULL};
    if (call == WR_SEGMENT_NONE)
        return WEIR_OK;
    const struct wr_segment *s = &t->segments[call];
    bool is_wrapped = wr_call_is_wrapper(s->tool);

    out->arguments = arguments_of(t, s, arena);
    if (!out->arguments.ptr)
        return wr_arena_status(arena);
    if (s->tool.len)
        out->capability = s->tool;
    out->handles = s->handles;
    weir_status status = read_object(out, arena, is_wrapped);
    if (!status && is_wrapped)
        status = read_wrapped_handles(out, arena, t, s->pair);
    if (!out->purpose.len && out->handles)
        out->purpose = wr_span_trim(out->handles->command);
    return status;
}

/* ---- a result ---- */

enum wr_output_origin wr_output_origin_of(enum wr_effect_kind effect)
{
    static const enum wr_output_origin origins[WR_EFFECT_KINDS] = {
        [WR_EFFECT_OTHER] = WR_ORIGIN_UNKNOWN, [WR_EFFECT_READ] = WR_ORIGIN_READ,
        [WR_EFFECT_SEARCH] = WR_ORIGIN_SEARCH, [WR_EFFECT_LIST] = WR_ORIGIN_LIST,
        [WR_EFFECT_DIFF] = WR_ORIGIN_DIFF,     [WR_EFFECT_EDIT] = WR_ORIGIN_CHANGE,
        [WR_EFFECT_WRITE] = WR_ORIGIN_CHANGE,  [WR_EFFECT_RUN] = WR_ORIGIN_RUN,
        [WR_EFFECT_POLL] = WR_ORIGIN_RUN,      [WR_EFFECT_PLAN] = WR_ORIGIN_TELL,
        [WR_EFFECT_FETCH] = WR_ORIGIN_FETCH,   [WR_EFFECT_RECALL] = WR_ORIGIN_TELL,
        [WR_EFFECT_SKILL] = WR_ORIGIN_TELL,
    };
    return origins[effect];
}

enum wr_output_kind wr_output_kind_of(const struct wr_segment *result, weir_span text)
{
    const struct wr_tool_handles *h = result->handles;
    struct wr_output_hint hint = {.command = {"", 0}, .path = {"", 0}};
    if (h)
        hint = (struct wr_output_hint){wr_output_origin_of(h->kind), h->command, h->path};
    return wr_output_kind(&hint, text);
}

/* ---- lists and stubs ---- */

enum { STUB_NAME_CHARS_MAX = 160 };

/* Forms only go one way, so what is dropped leaves the list. */
static bool is_result(const struct wr_fold *fold, uint32_t segment)
{
    return fold->transcript->segments[segment].kind == WEIR_KIND_TOOL_RESULT &&
           fold->segments[segment].form != WR_FORM_DROPPED;
}

static bool is_large(const struct wr_fold *fold, uint32_t segment)
{
    enum wr_form form = fold->segments[segment].form;
    return fold->input->tokens[segment] > WR_CONDENSE_TOKENS_MIN && is_result(fold, segment) &&
           (wr_form_says_all(form) || form == WR_FORM_CONDENSED);
}

/* Brings a list up to date: `belongs` says what may be in it, and never says yes again behind a no.
 */
static void update_list(struct wr_fold *fold, struct wr_fold_list *list,
                        bool (*belongs)(const struct wr_fold *fold, uint32_t segment))
{
    uint32_t kept = 0;
    if (!list->segments)
        list->segments = WR_ARENA_ARRAY(fold->arena, uint32_t, fold->transcript->segments_count);
    if (!list->segments)
        return;
    for (uint32_t i = 0; i < list->count; i++)
        if (belongs(fold, list->segments[i]))
            list->segments[kept++] = list->segments[i];
    for (; list->seen < fold->arrived; list->seen++)
        if (belongs(fold, list->seen))
            list->segments[kept++] = list->seen;
    list->count = kept;
}

uint32_t wr_stage_results(struct wr_fold *fold, uint32_t *results)
{
    update_list(fold, &fold->scratch.results, is_result);
    if (fold->scratch.results.count)
        memcpy(results, fold->scratch.results.segments,
               fold->scratch.results.count * sizeof(*results));
    return fold->scratch.results.count;
}

const struct wr_fold_list *wr_stage_large(struct wr_fold *fold)
{
    update_list(fold, &fold->scratch.large, is_large);
    return fold->scratch.large.segments ? &fold->scratch.large : NULL;
}

bool wr_stage_is_too_long(weir_span text)
{
    uint32_t lines = 0;
    if (text.len > WR_CONDENSE_BYTES_MAX)
        return true;
    if (text.len <= WR_CONDENSE_LINES_MAX) /* every line has a byte */
        return false;
    for (const char *at = text.ptr, *end = at + text.len;
         lines <= WR_CONDENSE_LINES_MAX && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines > WR_CONDENSE_LINES_MAX;
}

weir_status wr_stage_kind(struct wr_fold *fold, uint32_t segment, enum wr_output_kind *kind)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    if (!now->output_kind) {
        weir_span text = wr_fold_text(fold, segment);
        if (!text.ptr)
            return wr_arena_status(fold->arena);
        now->output_kind =
            (uint8_t)(wr_output_kind_of(&fold->transcript->segments[segment], text) + 1);
    }
    *kind = (enum wr_output_kind)(now->output_kind - 1);
    return WEIR_OK;
}

weir_status wr_stage_odds(struct wr_fold *fold, uint32_t segment, const struct wr_odds_row **row)
{
    struct wr_fold_segment *now = &fold->segments[segment];
    const struct wr_segment *s = &fold->transcript->segments[segment];
    enum wr_output_kind kind;
    weir_status status = wr_stage_kind(fold, segment, &kind);
    if (status)
        return status;
    if (!now->odds_class)
        now->odds_class =
            (uint8_t)(wr_odds_class_of(s, kind, wr_odds_is_target(fold->transcript, segment)) + 1);
    *row = wr_odds_find(fold->input->odds, (enum wr_odds_class)(now->odds_class - 1),
                        fold->input->tokens[segment]);
    return WEIR_OK;
}

weir_status wr_stage_stub(struct wr_fold *fold, uint32_t segment, const char *front,
                          enum wr_step_reason reason)
{
    struct wr_fold_form form = {
        .form = WR_FORM_CLEARED, .refers_to = WR_SEGMENT_NONE, .reason = reason};
    const struct wr_segment *s = &fold->transcript->segments[segment];
    const struct wr_tool_handles *h = s->handles;
    weir_span name = h && h->path.len ? h->path : h && h->command.len ? h->command : s->tool;
    struct wr_buf buf;

    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&buf, front);
    wr_text_one_line_max(&buf, name, STUB_NAME_CHARS_MAX);
    wr_buf_text(&buf, "]");
    weir_status status = wr_text_keep(fold->arena, &buf, &form.text);
    return status ? status : wr_fold_give(fold, segment, &form);
}

/* Groups taken together are in the order of their first segments; the store and a summary want the
 * order of the conversation. */
void wr_stage_omit(struct wr_fold *fold, uint32_t *segments, uint32_t count,
                   struct wr_fold_replacement *r)
{
    if (count)
        qsort(segments, count, sizeof(*segments), wr_by_number);
    r->segments = segments;
    r->segments_count = count;
    r->before = count ? segments[0] : fold->arrived;
    r->supersedes = wr_fold_own_insert(fold);
    if (r->supersedes != WR_INSERT_NONE && fold->inserts[r->supersedes].before < r->before)
        r->before = fold->inserts[r->supersedes].before;
}

weir_status wr_stage_summarise(struct wr_fold *fold, const struct wr_stage_past *past,
                               weir_span *text)
{
    struct wr_summary_input input = {
        .tokens_max = past->tokens_max, .count = fold->input->count, .user = fold->input->user};
    struct wr_arena scratch; /* facts are many, and only the summary of them stays */
    weir_status status = WEIR_NOMEM;

    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    bool *is_told = WR_ARENA_ARRAY(&scratch, bool, past->end);
    if (is_told) {
        for (uint32_t i = past->first; i < past->end; i++)
            is_told[i] = fold->transcript->segments[i].role == WEIR_ROLE_USER ||
                         i >= past->all_from || past->is_told(fold, i);
        for (uint32_t i = 0; i < past->also_count; i++)
            is_told[past->also[i]] = true;
        input.range = (struct wr_facts_range){fold->transcript, past->first, past->end, is_told};
        status = wr_summary_build(&input, &scratch, text);
    }
    if (!status) {
        *text = wr_arena_copy(fold->arena, *text);
        status = text->ptr ? WEIR_OK : wr_arena_status(fold->arena);
    }
    wr_arena_release(&scratch);
    return status;
}

/* ---- when a stage acts ---- */

uint64_t wr_stage_at_share(const struct wr_stage *stage, const struct wr_stage_room *room,
                           uint32_t *share_bp)
{
    if (!room->window_tokens)
        return (uint64_t)stage->params[1];
    *share_bp = (uint32_t)stage->params[0];
    return wr_share_tokens(room->window_tokens, *share_bp);
}

uint64_t wr_stage_trigger(const struct wr_fold *fold, const struct wr_stage *stage)
{
    if (wr_fold_is_asked(fold))
        return 0;
    return fold->window.tokens ? wr_fold_trigger(fold, (uint64_t)stage->params[0])
                               : (uint64_t)stage->params[1];
}

struct wr_stage_when wr_stage_when(const struct wr_stage *stage, const struct wr_stage_room *room)
{
    struct wr_stage_when when = {.words = stage->def->acts};

    if (stage->def->acts_at)
        when.at_tokens = stage->def->acts_at(stage, room, &when.share_bp);
    if (!when.at_tokens && !when.words)
        when.words = "when the window is full";
    return when;
}

/* ---- all of them ---- */

static const struct wr_stage_def *const stage_defs[] = {
    &wr_stage_cap,
    &wr_stage_evict,
    &wr_stage_reference,
    &wr_stage_mask,
    &wr_stage_clear,
    &wr_stage_fold_loops,
    &wr_stage_summarise_active,
    &wr_stage_summary,
    &wr_stage_fill,
    &wr_stage_drop_groups,
    &wr_stage_prune_arguments,
    &wr_stage_rehydrate,
    &wr_stage_condense,
    &wr_stage_lossless,
    &wr_stage_numbers,
    &wr_stage_select,
    &wr_stage_weigh,
    &wr_stage_deepen,
    &wr_stage_fit,
};

uint32_t wr_stage_def_count(void)
{
    return WR_COUNT_OF(stage_defs);
}

const struct wr_stage_def *wr_stage_def_at(uint32_t index)
{
    return index < wr_stage_def_count() ? stage_defs[index] : NULL;
}

const struct wr_stage_def *wr_stage_def_find(weir_span name)
{
    for (size_t i = 0; i < WR_COUNT_OF(stage_defs); i++)
        if (wr_span_is(name, stage_defs[i]->name))
            return stage_defs[i];
    return NULL;
}

/* ---- rules for tools ---- */

/* A single '_' is part of too many names. */
weir_span wr_tool_last_part(weir_span name)
{
    for (size_t i = name.len; i > 0; i--) {
        char c = name.ptr[i - 1];
        bool is_double = c == '_' && i > 1 && name.ptr[i - 2] == '_';
        if (c == '.' || c == '/' || is_double)
            return wr_span_cut(name, i, name.len);
    }
    return name;
}

const struct wr_tool_rule *wr_stage_rule(const struct wr_stage *stage, weir_span tool)
{
    const struct wr_tool_rule *found = NULL;
    weir_span last = wr_tool_last_part(tool);

    for (uint32_t i = 0; i < stage->tools_count; i++) {
        if (wr_span_is(tool, stage->tools[i].tool))
            return &stage->tools[i];
        if (!found && last.len && wr_span_is(last, stage->tools[i].tool))
            found = &stage->tools[i];
    }
    return found;
}

bool wr_stage_exempts(const struct wr_stage *stage, weir_span tool)
{
    const struct wr_tool_rule *rule = wr_stage_rule(stage, tool);
    return rule && rule->is_exact;
}

int64_t wr_stage_param(const struct wr_stage *stage, weir_span tool, uint32_t index)
{
    const struct wr_tool_rule *rule = wr_stage_rule(stage, tool);
    return rule && rule->set >> index & 1 ? rule->params[index] : stage->params[index];
}
