/* prune_arguments: past a share of the window, long strings in the arguments of old calls that
 * wrote or edited files become a marker. What was written is in the file by then; what was meant to
 * be replaced is not there any more.
 *
 * Only values that are strings change: names, numbers, keys and everything short stay, and the
 * arguments stay JSON. A call beside signed thinking is left alone: the signature speaks for both.
 *
 * A very large new call may lose them at once, as it is first sent again: it was output, so it is
 * new input then, and no step is needed. Presets prune only such: a model that sees many pruned
 * calls may take that for the way such calls are written. */
#include "policy/stage.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/splice.h"

/* The first file a call changed; NULL: it changed none, or a command line did. */
static const struct wr_effect *first_write(const struct wr_segment *s)
{
    size_t at = 0;
    return s->handles && !s->handles->is_shell ? wr_tool_next_write(s->handles, &at) : NULL;
}

static bool is_beside_thinking(const struct wr_fold *fold, uint32_t segment)
{
    const struct wr_transcript *t = fold->transcript;
    uint32_t group = t->segments[segment].group;
    if (group == WR_SEGMENT_NONE)
        return true; /* nothing is known of what it stands beside */
    for (uint32_t i = group; i < fold->group_end[group]; i++)
        if (t->segments[i].group == group && t->segments[i].is_signed)
            return true;
    return false;
}

static bool is_old(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];
    return s->turn + (uint32_t)wr_stage_param(stage, s->tool, WR_PRUNE_OLDER_TURNS) < fold->turn;
}

static bool is_prunable(const struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment)
{
    const struct wr_segment *s = &fold->transcript->segments[segment];

    if (s->kind != WEIR_KIND_TOOL_CALL || fold->segments[segment].form != WR_FORM_EXACT ||
        !wr_fold_gain(fold, segment))
        return false;
    if (s->is_opaque || s->payload == WR_JSON_NONE || s->pair == WR_SEGMENT_NONE ||
        s->pair >= fold->arrived || fold->segments[segment].is_marked)
        return false;
    /* A result that came as a marker does not say any more whether the call failed. */
    return !fold->segments[s->pair].is_marked && first_write(s) &&
           !wr_stage_exempts(stage, s->tool) && !is_beside_thinking(fold, segment);
}

/* Arguments of one call on their way to being shorter. */
struct pruner {
    struct wr_fold *fold;
    const struct wr_segment *call;
    struct wr_json doc;
    struct wr_fold_member *members;
    uint32_t members_count;
    uint32_t kept_count; /* strings that stay */
};

static weir_status add_member(struct pruner *p, wr_json_id node, uint64_t min_tokens)
{
    const struct wr_fold_input *input = p->fold->input;
    weir_span text = wr_json_text(&p->doc, p->fold->arena, node);
    if (!text.ptr)
        return wr_arena_status(p->fold->arena);
    if (input->count(input->user, text) < min_tokens) {
        p->kept_count++;
        return WEIR_OK;
    }
    p->members[p->members_count] = (struct wr_fold_member){.node = node, .original = text};
    return wr_handle_of(text, &p->members[p->members_count++].handle);
}

static weir_status find_members(struct pruner *p, uint64_t min_tokens)
{
    uint32_t strings = 0;
    weir_status status = WEIR_OK;

    for (wr_json_id i = 0; i < p->doc.nodes_count; i++)
        strings += p->doc.nodes[i].kind == WR_JSON_STRING && !p->doc.nodes[i].is_key;
    p->members = WR_ARENA_ARRAY(p->fold->arena, struct wr_fold_member, strings);
    if (!p->members)
        return wr_arena_status(p->fold->arena);
    for (wr_json_id i = 0; i < p->doc.nodes_count && !status; i++)
        if (p->doc.nodes[i].kind == WR_JSON_STRING && !p->doc.nodes[i].is_key)
            status = add_member(p, i, min_tokens);
    return status;
}

/* The note names the file where nothing else in the arguments does. */
static weir_status write_note(const struct pruner *p, struct wr_fold_member *member)
{
    const struct wr_fold_input *input = p->fold->input;
    struct wr_marker marker = {
        .handle = member->handle,
        .way = {.kind = WR_WAY_RECALL, .tool = wr_ways_recall(input->ways, UINT32_MAX)},
        .tokens = input->count(input->user, member->original),
        .what = "left out"};
    uint64_t lines = wr_span_lines(member->original);
    struct wr_buf buf;

    marker.lines = lines > 1 ? lines : 0;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    if (!p->kept_count && first_write(p->call)->path.len) {
        wr_buf_append(&buf, first_write(p->call)->path);
        wr_buf_byte(&buf, '\n');
    }
    wr_marker_write(&buf, &marker);
    return wr_text_keep(p->fold->arena, &buf, &member->text);
}

static weir_status write_arguments(struct pruner *p, weir_span *arguments)
{
    struct wr_splice splice;
    struct wr_buf buf;
    uint32_t kept = 0;

    wr_splice_init(&splice, &p->doc, p->fold->arena);
    for (uint32_t i = 0; i < p->members_count; i++) {
        weir_status status = write_note(p, &p->members[i]);
        if (status)
            return status;
        if (p->members[i].text.len >= p->members[i].original.len)
            continue;
        p->members[kept] = p->members[i];
        wr_splice_set_text(&splice, p->members[kept].node, p->members[kept].text);
        kept++;
    }
    p->members_count = kept;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_splice_apply(&splice, &buf, NULL);
    if (status)
        wr_buf_release(&buf);
    return status ? status : wr_text_keep(p->fold->arena, &buf, arguments);
}

/* Arguments that are no JSON object have no members, and stay. */
static weir_status prune_one(struct wr_fold *fold, const struct wr_stage *stage, uint32_t segment,
                             struct wr_fold_pruning *pruning)
{
    struct pruner p = {.fold = fold, .call = &fold->transcript->segments[segment]};
    weir_span arguments = wr_fold_text(fold, segment);

    if (!arguments.ptr)
        return wr_arena_status(fold->arena);
    if (wr_json_parse(&p.doc, fold->arena, arguments, NULL, NULL))
        return wr_arena_status(fold->arena);
    if (wr_json_kind(&p.doc, 0) != WR_JSON_OBJECT)
        return WEIR_OK;
    weir_status status =
        find_members(&p, (uint64_t)wr_stage_param(stage, p.call->tool, WR_PRUNE_MIN_TOKENS));
    if (!status && p.members_count)
        status = write_arguments(&p, &pruning->arguments);
    pruning->members = p.members;
    pruning->members_count = p.members_count;
    return status;
}

static uint64_t gain_of(const struct wr_fold *fold, uint32_t segment,
                        const struct wr_fold_pruning *pruning)
{
    if (!pruning->members_count)
        return 0;
    uint64_t before = fold->segments[segment].tokens,
             after = fold->input->count(fold->input->user, pruning->arguments);
    return before > after ? before - after : 0;
}

/* The most that could be freed comes first: arguments are read only where it is enough. */
static uint32_t collect_for_prune_arguments(const struct wr_fold *fold,
                                            const struct wr_stage *stage, uint32_t *list)
{
    uint64_t tokens = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < fold->arrived; i++) {
        if (!is_old(fold, stage, i) || !is_prunable(fold, stage, i))
            continue;
        tokens += wr_fold_gain(fold, i);
        list[count++] = i;
    }
    return tokens < wr_fold_gain_min(fold) ? 0 : count;
}

static weir_status prune_request(struct wr_fold *fold, const struct wr_stage *stage)
{
    weir_status status = WEIR_OK;
    uint64_t gain_tokens = 0;

    if (!wr_fold_recall(fold).len || fold->total_tokens <= wr_stage_trigger(fold, stage))
        return WEIR_OK;
    uint32_t *list = fold->scratch.lists[0], count = collect_for_prune_arguments(fold, stage, list);
    struct wr_fold_pruning *prunings = WR_ARENA_ARRAY(fold->arena, struct wr_fold_pruning, count);
    if (!prunings)
        return wr_arena_status(fold->arena);
    for (uint32_t i = 0; i < count && !status; i++) {
        prunings[i].reason = WR_STEP_PRESSURE;
        status = prune_one(fold, stage, list[i], &prunings[i]);
        gain_tokens += gain_of(fold, list[i], &prunings[i]);
    }
    if (gain_tokens < wr_fold_gain_min(fold))
        return status;
    for (uint32_t i = 0; i < count && !status; i++)
        status = wr_fold_prune(fold, list[i], &prunings[i]);
    return status;
}

/* ---- as they are first sent again ---- */

static bool holds_thinking(const struct wr_fold *fold, uint32_t first)
{
    for (uint32_t i = first; i < fold->arrived; i++)
        if (fold->transcript->segments[i].is_signed)
            return true;
    return false;
}

/* What the model wrote as output is new input now, so to leave it out rewrites nothing. */
static weir_status prune_turn(struct wr_fold *fold, const struct wr_stage *stage)
{
    uint32_t first = wr_fold_new_first(fold);
    weir_status status = WEIR_OK;

    if (!stage->params[WR_PRUNE_NEW_OVER] || !wr_fold_recall(fold).len ||
        holds_thinking(fold, first))
        return WEIR_OK;
    for (uint32_t i = first; i < fold->arrived && !status; i++) {
        struct wr_fold_pruning pruning = {.reason = WR_STEP_PRESSURE};
        if (fold->segments[i].tokens <= (uint64_t)wr_stage_param(stage,
                                                                 fold->transcript->segments[i].tool,
                                                                 WR_PRUNE_NEW_OVER) ||
            !is_prunable(fold, stage, i))
            continue;
        status = prune_one(fold, stage, i, &pruning);
        if (!status)
            status = wr_fold_prune(fold, i, &pruning);
    }
    return status;
}

const struct wr_stage_def wr_stage_prune_arguments = {
    .name = "prune_arguments",
    .what = "past a share of the window, long strings in old write and edit calls become a marker",
    .turn = prune_turn,
    .request = prune_request,
    .acts_at = wr_stage_at_share,
    .params = {{"at_bp", 6000, 1, 10000, NULL, "share of the window, in basis points"},
               {"trigger_tokens", 60000, 1, 1000000000, NULL, "where the window is not known"},
               {"older_turns", 4, 1, 100000, NULL, "only calls older than this many turns"},
               {"min_tokens", 100, 64, 1000000, NULL, "shorter strings stay"},
               {"new_over", 0, 0, 10000000, NULL,
                "new calls over this many tokens at once, as they are first sent again; 0: none"}},
    .params_count = 5,
    .takes_tools = true,
    .tool_params = 1U << WR_PRUNE_OLDER_TURNS | 1U << WR_PRUNE_MIN_TOKENS | 1U << WR_PRUNE_NEW_OVER,
};
