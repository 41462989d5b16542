/* The record of a request: how it begins, what a run did, what usage and prices add to it, how it
 * is settled, and the report.
 *
 * Most of it is there already when a run is over: the fold knows each segment's form, tokens and
 * worth, the plan which of the changes validation took back. It is brought into one place here,
 * once, for all who tell of a request. What the prompt consists of is the sum of the tokens that
 * the engine measured, by kind of segment, so it adds up to the very totals that the policy went
 * by. */
#include "engine/record.h"

#include <string.h>

#include "base/span.h"
#include "engine/record_row.h"
#include "engine/run.h"
#include "json/write.h"
#include "models/registry.h"
#include "policy/budget.h"
#include "policy/stage.h"

/* ---- from the beginning to the end ---- */

const char *wr_bust_name(enum wr_bust bust)
{
    static const char *const names[] = WR_NAMES_OF(WR_BUST_MAP);
    return names[bust];
}

void wr_record_init(struct wr_record *record)
{
    *record = (struct wr_record){.hash_failures_count = -1, .micro_usd = -1};
    wr_seen_usage_init(&record->usage);
}

void wr_record_forget(struct wr_record *record)
{
    struct wr_record was = *record;

    wr_record_init(record);
    record->time_ms = was.time_ms;
    record->api = was.api;
    record->asks_model = was.asks_model;
    record->upstream = was.upstream;
    record->base_url = was.base_url;
    record->path = was.path;
    record->tenant = was.tenant;
    record->user = was.user;
    record->team = was.team;
    record->agent = was.agent;
    record->run = was.run;
    record->provider = was.provider;
    record->trace = was.trace;
    record->spend = was.spend;
    record->place = was.place;
    record->place_url = was.place_url;
    record->left_place = was.left_place;
    record->left_reason = was.left_reason;
    record->places_tried = was.places_tried;
    record->received_bytes = was.received_bytes;
    record->sent_bytes = was.sent_bytes;
    record->retries_count = was.retries_count;
    record->retry_reason = was.retry_reason;
    record->own_lost = was.own_lost; /* what the first try said of the request before */
    record->own_step = was.own_step;
}

void wr_record_settle(struct wr_record *record)
{
    bool is_late = record->deed == WR_DEED_LATE;

    if (!is_late && record->deed != WR_DEED_UNWAITED)
        return;
    if (is_late)
        record->held_back = WR_LIT(WR_DEADLINE_HARD);
    else if (record->is_changed)
        record->held_back = WR_LIT("nobody waited for the projection");
    if (record->is_changed)
        record->has_projection = false;
    record->is_changed = record->is_step = false;
    record->step_reason = (weir_span){NULL, 0};
    record->tokens_after = record->tokens_before;
    memcpy(record->made_tokens, record->came_tokens, sizeof(record->made_tokens));
}

static uint64_t or_zero(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

/* The lifetime that a request gets without asking for one. */
static uint64_t *default_write(struct wr_usage *usage, const struct wr_model *model)
{
    return model->cache && model->cache->mode == WR_CACHE_BREAKPOINT
               ? &usage->cache_write_30m_tokens
               : &usage->cache_write_5m_tokens;
}

struct wr_usage wr_record_usage(const struct wr_record *record, const struct wr_model *model)
{
    const struct wr_seen_usage *said = &record->usage;
    /* 12 hours have no published price: they are charged as the lifetime beside them. */
    struct wr_usage usage = {
        .input_tokens = or_zero(said->input_tokens),
        .cache_read_tokens = or_zero(said->cache_read_tokens),
        .cache_write_5m_tokens = or_zero(said->cache_write_5m_tokens),
        .cache_write_1h_tokens = or_zero(said->cache_write_1h_tokens),
        .cache_write_30m_tokens =
            or_zero(said->cache_write_30m_tokens > 0 ? said->cache_write_30m_tokens
                                                     : said->cache_write_12h_tokens),
        .output_tokens = or_zero(said->output_tokens),
    };
    uint64_t told =
        usage.cache_write_5m_tokens + usage.cache_write_1h_tokens + usage.cache_write_30m_tokens;
    uint64_t written = or_zero(said->cache_write_tokens);

    if (written > told)
        *default_write(&usage, model) += written - told;
    /* Messages counts input without the cache, the others with it. */
    uint64_t cached = usage.cache_read_tokens + (written > told ? written : told);
    if (!(record->api && record->api->counts_cached_apart))
        usage.input_tokens -= cached < usage.input_tokens ? cached : usage.input_tokens;
    return usage;
}

void wr_record_price(struct wr_record *record, const struct wr_models *models)
{
    weir_span name = record->model[0] ? wr_span_of(record->model) : record->answer_model;

    if (!record->is_usage_known || !name.len || !models)
        return;
    const struct wr_model *model = wr_models_lookup(models, name).model;
    struct wr_usage usage = wr_record_usage(record, model);
    struct wr_cost cost = wr_cost(model, &usage);
    record->micro_usd = cost.known ? (int64_t)cost.micro_usd : -1;
}

const char *wr_category_name(enum wr_category category)
{
    static const char *const names[] = WR_NAMES_OF(WR_CATEGORY_MAP);
    return names[category];
}

/* ==== report ====
 *
 * The engine's part of a record as JSON: its edits, and why each was made (wr_record_report).
 */

/* ---- edits ---- */

/* A long session has thousands of edits: they are put together from constants, without a look at
 * each key. Words and handles are ours and need no escapes. */
static void add_digits(struct wr_buf *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    wr_buf_append(out, (weir_span){digits + at, sizeof(digits) - at});
}

static void add_figure(struct wr_buf *out, weir_span key, uint64_t number)
{
    wr_buf_append(out, key);
    add_digits(out, number);
}

static void add_word(struct wr_buf *out, weir_span key, const char *word)
{
    wr_buf_append(out, key);
    if (!word) {
        wr_buf_append(out, WR_LIT("null"));
        return;
    }
    wr_buf_byte(out, '"');
    wr_buf_append(out, wr_span_of(word));
    wr_buf_byte(out, '"');
}

/* The arithmetic, in whole tokens of plain input. */
static void add_worth(struct wr_buf *out, const struct wr_fold_value *value)
{
    add_figure(out, WR_LIT(",\"value\":{\"saves_tokens\":"), value->saves / 100);
    add_figure(out, WR_LIT(",\"costs_tokens\":"), value->costs / 100);
    add_figure(out, WR_LIT(",\"next_miss_basis_points\":"), value->next_miss_bp);
    add_figure(out, WR_LIT(",\"ever_miss_basis_points\":"), value->ever_miss_bp);
    add_figure(out, WR_LIT(",\"turns_left\":"), value->turns_left);
    if (value->utility)
        add_figure(out, WR_LIT(",\"utility_points\":"), value->utility);
    wr_buf_byte(out, '}');
}

static void write_edit(struct wr_json_writer *w, struct wr_buf *edit,
                       const struct wr_record_change *change)
{
    wr_buf_reset(edit);
    add_figure(edit, WR_LIT("{\"i\":"), change->segment);
    add_word(edit, WR_LIT(",\"form\":"), wr_form_name(change->form));
    add_word(edit, WR_LIT(",\"class\":"), weir_class_name(change->class_));
    add_word(edit, WR_LIT(",\"kind\":"), weir_kind_name(change->kind));
    add_word(edit, WR_LIT(",\"handle\":"), change->handle);
    if (change->form == WR_FORM_DROPPED)
        add_word(edit, WR_LIT(",\"in\":"), change->in);
    if (change->way)
        add_word(edit, WR_LIT(",\"way\":"), change->way);
    add_figure(edit, WR_LIT(",\"tokens_before\":"), change->tokens_before);
    add_figure(edit, WR_LIT(",\"tokens_after\":"), change->tokens_after);
    add_word(edit, WR_LIT(",\"reason\":"), change->reason);
    wr_buf_append(edit, change->is_rolled_back ? WR_LIT(",\"rolled_back\":true")
                                               : WR_LIT(",\"rolled_back\":false"));
    if (change->worth)
        add_worth(edit, change->worth);
    wr_buf_byte(edit, '}');
    wr_json_write_newline(w);
    wr_json_write_raw(w, wr_buf_view(edit));
}

static void write_edits(struct wr_json_writer *w, const struct wr_record *record)
{
    struct wr_buf edit;

    wr_buf_init(&edit, WR_OUTPUT_BYTES_MAX);
    wr_json_write_key(w, "edits");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < record->changes_count; i++)
        write_edit(w, &edit, &record->changes[i]);
    wr_json_write_array_end(w);
    if (wr_buf_status(&edit) && !w->out->status)
        w->out->status = edit.status;
    wr_buf_release(&edit);
}

/* ---- the rest ---- */

static void write_step(struct wr_json_writer *w, const struct wr_record *record)
{
    wr_json_write_key(w, "step");
    if (!record->is_step) {
        wr_json_write_null(w);
        return;
    }
    wr_json_write_object(w);
    wr_json_member_text(w, "reason", record->step_reason);
    wr_json_member_number(w, "turn", record->step_turn);
    wr_json_write_object_end(w);
}

static void write_inserts(struct wr_json_writer *w, const struct wr_record *record)
{
    wr_json_write_key(w, "inserts");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < record->inserts_count; i++) {
        const struct wr_record_insert *insert = &record->inserts[i];
        wr_json_write_object(w);
        wr_json_member_number(w, "before", insert->before);
        wr_json_member_word(w, "role", weir_role_name(insert->role));
        wr_json_member_word(w, "stage", insert->stage);
        wr_json_member_word(w, "handle", insert->handle);
        if (insert->way)
            wr_json_member_word(w, "way", insert->way);
        wr_json_member_number(w, "tokens", insert->tokens);
        wr_json_member_number(w, "tokens_before", insert->tokens_before);
        wr_json_member_number(w, "segments", insert->segments_count);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

/* What no client sees: the proxy's own recall tool, and what the model did with it. */
static void write_own_recall(struct wr_json_writer *w, const struct wr_record *record)
{
    if (!record->has_own_recall)
        return;
    wr_json_write_key(w, "own_recall");
    wr_json_write_object(w);
    wr_json_member_number(w, "leg", record->leg);
    wr_json_member_number(w, "recalls", record->own_recalls);
    wr_json_member_number(w, "misses", record->own_misses);
    wr_json_member_number(w, "bytes", record->own_text_bytes);
    wr_json_member_number(w, "put_back", record->own_put_back);
    wr_json_member_number(w, "left_out", record->own_left);
    wr_json_write_object_end(w);
}

void wr_record_report(const struct wr_record *record, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "policy", record->policy);
    wr_json_member_number(&w, "tokens_before", record->tokens_before);
    wr_json_member_number(&w, "tokens_after", record->tokens_after);
    write_step(&w, record);
    write_own_recall(&w, record);
    wr_row_put_figures(record, &w);
    write_inserts(&w, record);
    write_edits(&w, record);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}

/* ---- what a run did ---- */

/* ---- what stands for what ---- */

const char *wr_run_step_text(const struct wr_run_step *step)
{
    return step->is_unexplained ? "unexplained" : wr_step_reason_text(step->reason);
}

/* The inserts that are in the prompt, and what each stands for. */
struct standing {
    uint32_t *live;     /* by chain (policy/fold.h): the insert that is there now, plus one */
    uint32_t *segments; /* by insert: how many it stands for */
};

/* The insert that stands for a segment that was taken out; WR_INSERT_NONE: none does. */
static uint32_t insert_of(const struct wr_run *run, const struct standing *standing,
                          uint32_t segment)
{
    const struct wr_fold_segment *now = &run->fold.segments[segment];
    if (!standing->live || now->form != WR_FORM_DROPPED || !now->is_offloaded)
        return WR_INSERT_NONE;
    uint32_t live = standing->live[run->fold.inserts[now->insert].chain];
    return live ? live - 1 : WR_INSERT_NONE;
}

/* Without memory for it, or where none was sent, nothing stands for anything. */
static struct standing find_standing(const struct wr_run *run)
{
    const struct wr_fold *fold = &run->fold;
    struct standing standing = {NULL, NULL};

    if (!fold->inserts_count || run->settled.is_fallback)
        return standing;
    uint32_t *live = WR_ARENA_ARRAY(fold->arena, uint32_t, fold->inserts_count);
    standing.segments = WR_ARENA_ARRAY(fold->arena, uint32_t, fold->inserts_count);
    if (!live || !standing.segments)
        return (struct standing){NULL, NULL};
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (!fold->inserts[i].is_gone)
            live[fold->inserts[i].chain] = i + 1;
    standing.live = live;
    for (uint32_t i = 0; i < run->plan.changes_count; i++) {
        uint32_t insert = insert_of(run, &standing, run->plan.changes[i].segment);
        if (insert != WR_INSERT_NONE)
            standing.segments[insert]++;
    }
    return standing;
}

/* ---- changes and inserts ---- */

static const char operator_way[] = "operator";

static const char *way_of(bool needs_operator)
{
    return needs_operator ? operator_way : NULL;
}

static struct wr_record_change change_of(const struct wr_run *run, const struct standing *standing,
                                         const struct wr_change *change)
{
    const struct wr_segment *s = &run->fold.transcript->segments[change->segment];
    const struct wr_fold_segment *now = &run->fold.segments[change->segment];
    uint64_t before = run->fold.input->tokens[change->segment];
    uint32_t insert = insert_of(run, standing, change->segment);
    bool has_handle = now->handle.text[0] && now->form != WR_FORM_DROPPED;
    bool needs_operator = insert == WR_INSERT_NONE ? has_handle && now->needs_operator
                                                   : run->fold.inserts[insert].needs_operator;

    return (struct wr_record_change){
        .segment = change->segment,
        .form = change->form,
        .class_ = s->class_,
        .kind = s->kind,
        .handle = has_handle ? now->handle.text : NULL,
        .in = insert == WR_INSERT_NONE ? NULL : run->fold.inserts[insert].handle.text,
        .way = way_of(needs_operator && !change->is_rolled_back),
        .tokens_before = before,
        .tokens_after = change->is_rolled_back ? before : now->tokens,
        .reason = change->is_rolled_back ? change->reason : now->reason,
        .is_rolled_back = change->is_rolled_back,
        .worth = now->value.is_weighed || now->value.utility ? &now->value : NULL,
    };
}

static weir_status list_changes(const struct wr_run *run, struct wr_record *record)
{
    struct wr_arena *arena = run->fold.arena;
    struct standing standing = find_standing(run);
    uint32_t inserts_count = run->settled.is_fallback ? 0 : run->fold.inserts_count;
    struct wr_record_change *changes =
        WR_ARENA_ARRAY(arena, struct wr_record_change, run->plan.changes_count);
    struct wr_record_insert *inserts =
        WR_ARENA_ARRAY(arena, struct wr_record_insert, inserts_count);

    if (!changes || !inserts)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < run->plan.changes_count; i++)
        changes[i] = change_of(run, &standing, &run->plan.changes[i]);
    for (uint32_t i = 0; i < inserts_count; i++) {
        const struct wr_fold_insert *insert = &run->fold.inserts[i];
        if (insert->is_gone)
            continue;
        inserts[record->inserts_count++] = (struct wr_record_insert){
            .before = insert->before,
            .role = insert->role,
            .stage = insert->stage,
            .handle = insert->handle.text,
            .way = way_of(insert->needs_operator),
            .tokens = insert->tokens,
            .tokens_before = insert->original_tokens,
            .segments_count = standing.segments ? standing.segments[i] : 0,
        };
    }
    for (uint32_t i = 0; i < run->plan.changes_count && !record->way.len; i++)
        record->way = changes[i].way ? wr_span_of(operator_way) : record->way;
    record->changes = changes;
    record->changes_count = run->plan.changes_count;
    record->inserts = inserts;
    return WEIR_OK;
}

/* ---- the budget ---- */

/* What was done, in the words of the budget's modes. A text of which nothing is left but a marker
 * is a reference to its original. */
static enum wr_budget_mode mode_of(const struct wr_run *run, uint32_t inserts_count)
{
    uint32_t refs_count = 0, shortened_count = inserts_count;

    for (uint32_t i = 0; i < run->plan.changes_count; i++) {
        const struct wr_change *change = &run->plan.changes[i];
        if (change->is_rolled_back)
            continue;
        switch (change->form) {
        case WR_FORM_EXACT:
        case WR_FORM_EDITED:
        case WR_FORM_TIDIED:
            break;
        case WR_FORM_REFERENCE:
        case WR_FORM_MASKED:
        case WR_FORM_CLEARED:
        case WR_FORM_DROPPED:
            refs_count++;
            break;
        case WR_FORM_CAPPED:
        case WR_FORM_CONDENSED:
        case WR_FORM_FOLDED:
        case WR_FORM_EVICTED:
        case WR_FORM_SUMMARISED:
        case WR_FORM_PRUNED:
            shortened_count++;
            break;
        }
    }
    if (shortened_count)
        return WR_MODE_ARTIFACT_CONDENSED;
    if (refs_count)
        return WR_MODE_MINIMAL_REFS_ONLY;
    return run->settled.body.ptr == run->fold.transcript->doc->text.ptr ? WR_MODE_EXACT_PASS_THROUGH
                                                                        : WR_MODE_LARGE_LOSSLESS;
}

/* The room that the prompt had as it came. */
static unsigned reasons_of(const struct wr_run *run, const struct wr_pressure_input *sent)
{
    struct wr_pressure_input came = *sent;
    came.used_tokens = run->tokens_before;
    struct wr_pressure p = wr_pressure(&came);
    return wr_budget_plan(&p).reasons;
}

/* In the provider's tokens, unless an overflow error said less in ours. */
static uint64_t said_window(const struct wr_fold *fold)
{
    uint64_t said = fold->input->window_tokens, narrowed = fold->window.narrowed_tokens;
    return narrowed && narrowed == fold->window.tokens ? narrowed : said;
}

static void fill_budget(const struct wr_run *run, struct wr_record *record)
{
    struct wr_pressure_input input = {.window_known = run->fold.window.tokens > 0,
                                      .window_tokens = run->fold.window.tokens,
                                      .reserve_tokens = run->fold.window.reserve_tokens,
                                      .used_tokens = run->tokens_after,
                                      .used_source = WR_COUNT_ESTIMATE};
    struct wr_pressure p = wr_pressure(&input);
    bool has_factor = run->fold.window.factor_bp && run->fold.window.factor_bp != 10000;

    record->budget = (struct wr_record_budget){
        .window_tokens = said_window(&run->fold),
        .window_source = wr_word_of(run->window_source),
        .factor_bp = has_factor ? run->fold.window.factor_bp : 0,
        .used_tokens = run->tokens_after,
        .pressure_bp = p.basis_points,
        .band = wr_word_of(wr_band_text(p.band)),
        .usable_tokens = p.usable_tokens,
        .available_tokens = p.available_tokens,
        .floor_tokens = p.floor_tokens,
        .confidence = wr_word_of(wr_confidence_text(p.confidence)),
        .mode = wr_word_of(wr_budget_mode_text(mode_of(run, record->inserts_count))),
        .reasons = reasons_of(run, &input),
    };
}

/* ---- what was done to how many ---- */

/* Whoever condensed it has asked for its kind, and need not read the text again. */
static bool is_blob(const struct wr_run *run, uint32_t segment)
{
    uint8_t known = run->fold.segments[segment].output_kind;
    if (known)
        return known - 1 == WR_OUTPUT_BLOB;
    const struct wr_segment *s = &run->fold.transcript->segments[segment];
    weir_span text = wr_segment_text(run->fold.transcript, s, run->fold.arena);
    return text.ptr && wr_output_kind_of(s, text) == WR_OUTPUT_BLOB;
}

static void count_change(struct wr_record_counters *c, const struct wr_run *run,
                         const struct wr_change *change)
{
    if (change->is_rolled_back)
        return;
    c->by_form[change->form]++;
    c->repeat_tool_output_refs += change->form == WR_FORM_REFERENCE;
    if (change->form != WR_FORM_CONDENSED)
        return;
    c->tool_outputs_condensed++;
    c->blob_outputs_condensed += is_blob(run, change->segment);
}

static void count_duplicate(struct wr_record_counters *c, const struct wr_transcript *t, uint32_t i)
{
    const struct wr_segment *s = &t->segments[i];
    if (s->class_ != WEIR_CLASS_DROPPABLE_DUPLICATE)
        return;
    c->duplicate_texts++;
    c->cross_turn_duplicate_texts +=
        s->why_other != WR_SEGMENT_NONE && t->segments[s->why_other].turn != s->turn;
}

/* Instructions that came after the first turn: what was static has changed. Never edited. */
static bool is_static_delta(const struct wr_segment *s)
{
    bool is_instruction = s->role == WEIR_ROLE_SYSTEM || s->role == WEIR_ROLE_DEVELOPER;
    return is_instruction && s->turn > 0 && s->kind != WEIR_KIND_TOOLS;
}

/* What says in which state the repository is: branch, status, log. */
static bool is_repository_fact(const struct wr_segment *s)
{
    static const char *const words[] = {"status", "branch", "log", "rev-parse", "diff --stat"};
    const weir_span front = WR_LIT("git ");

    if (s->kind != WEIR_KIND_TOOL_RESULT || !s->handles)
        return false;
    weir_span command = s->handles->command;
    for (size_t at = 0; (at = wr_span_find(command, front, at)) != SIZE_MAX; at += front.len) {
        weir_span rest = wr_span_cut(command, at + front.len, command.len);
        for (size_t i = 0; i < WR_COUNT_OF(words); i++)
            if (wr_span_starts(rest, wr_span_of(words[i])))
                return true;
    }
    return false;
}

static void fill_counters(const struct wr_run *run, struct wr_record_counters *c)
{
    const struct wr_fold *fold = &run->fold;

    for (uint32_t i = 0; i < run->plan.changes_count; i++)
        count_change(c, run, &run->plan.changes[i]);
    for (uint32_t i = 0; i < fold->transcript->segments_count; i++) {
        count_duplicate(c, fold->transcript, i);
        c->static_context_deltas += is_static_delta(&fold->transcript->segments[i]);
        c->repo_state_facts += is_repository_fact(&fold->transcript->segments[i]);
    }
    for (uint32_t i = 0; i < fold->inserts_count && !run->settled.is_fallback; i++)
        c->rehydrated_refs += fold->inserts[i].is_rehydrated && !fold->inserts[i].is_gone;
    c->rehydration_token_cost = c->rehydrated_refs ? fold->chosen.rehydrated_tokens : 0;
    c->artifacts_stored = run->originals_count;
    c->candidate_count = fold->chosen.candidates_count;
    c->selected_candidate_count = fold->chosen.count;
    c->rejected_candidate_count = fold->chosen.candidates_count - fold->chosen.count;
    c->selected_candidate_utility_points = fold->chosen.utility;
    c->segment_rollback_count = run->settled.rolled_back_count;
    c->full_request_fallback_count = run->settled.is_fallback;
    c->late_segments = fold->late.count;
}

/* ---- what the prompt consists of ---- */

static enum wr_category category_of_text(const struct wr_segment *s)
{
    switch (s->role) {
    case WEIR_ROLE_SYSTEM:
        return s->turn ? WR_CATEGORY_INSTRUCTIONS : WR_CATEGORY_SYSTEM;
    case WEIR_ROLE_DEVELOPER:
        return WR_CATEGORY_INSTRUCTIONS;
    case WEIR_ROLE_USER:
        return WR_CATEGORY_USER;
    case WEIR_ROLE_ASSISTANT:
        return WR_CATEGORY_ASSISTANT;
    default:
        return WR_CATEGORY_OTHER;
    }
}

static enum wr_category category_of(const struct wr_segment *s)
{
    switch (s->kind) {
    case WEIR_KIND_TEXT:
    case WEIR_KIND_SYSTEM:
        return category_of_text(s);
    case WEIR_KIND_TOOLS:
        return WR_CATEGORY_TOOLS;
    case WEIR_KIND_TOOL_CALL:
        return WR_CATEGORY_CALLS;
    case WEIR_KIND_TOOL_RESULT:
        return WR_CATEGORY_RESULTS;
    case WEIR_KIND_REASONING:
        return WR_CATEGORY_REASONING;
    case WEIR_KIND_IMAGE:
    case WEIR_KIND_FILE:
        return WR_CATEGORY_MEDIA;
    default:
        return WR_CATEGORY_OTHER;
    }
}

/* What no segment has: framing, and messages of our own. */
static uint64_t rest_of(uint64_t total, uint64_t sum)
{
    return total > sum ? total - sum : 0;
}

static void fill_categories(const struct wr_run *run, struct wr_record *record)
{
    const struct wr_fold_input *input = run->fold.input;
    uint64_t *came = record->came_tokens, *made = record->made_tokens;
    uint64_t came_sum = 0, made_sum = 0;

    for (uint32_t i = 0; i < input->transcript->segments_count; i++) {
        enum wr_category category = category_of(&input->transcript->segments[i]);
        came[category] += input->tokens[i];
        came_sum += input->tokens[i];
        made[category] += input->tokens[i];
        made_sum += input->tokens[i];
    }
    for (uint32_t i = 0; i < record->changes_count; i++) {
        const struct wr_record_change *c = &record->changes[i];
        made[category_of(&input->transcript->segments[c->segment])] +=
            c->tokens_after - c->tokens_before;
        made_sum += c->tokens_after - c->tokens_before;
    }
    came[WR_CATEGORY_OTHER] += rest_of(record->tokens_before, came_sum);
    made[WR_CATEGORY_OTHER] += rest_of(record->tokens_after, made_sum);
}

/* What Weir's own tools take of the prompt: their share of the definitions. */
static uint64_t own_tools_tokens(const struct wr_run *run)
{
    const struct wr_ways *ways = run->fold.input->ways;
    const struct wr_transcript *t = run->fold.transcript;

    if (!ways || !ways->own_bytes || ways->recall_at >= t->segments_count)
        return 0;
    weir_range range = wr_segment_range(t, &t->segments[ways->recall_at]);
    uint64_t bytes = range.end - range.start, tokens = run->fold.input->tokens[ways->recall_at];
    return ways->own_bytes < bytes ? tokens * ways->own_bytes / bytes : tokens;
}

weir_status wr_run_record(const struct wr_run *run, struct wr_record *record)
{
    weir_status status = list_changes(run, record);
    if (status)
        return status;
    (void)snprintf(record->policy, sizeof(record->policy), "%s", run->fold.input->policy->name);
    record->has_projection = true;
    record->is_delta = run->fold.transcript->is_delta;
    record->is_step = run->step.is_taken;
    if (run->step.is_taken) {
        record->step_reason = wr_span_of(wr_run_step_text(&run->step));
        record->step_turn = run->fold.turn;
        record->step_rewrites_tokens = run->step.rewrites_tokens;
    }
    record->tokens_before = run->tokens_before;
    record->tokens_after = run->tokens_after;
    record->bytes_before = run->fold.transcript->doc->text.len;
    record->bytes_after = run->settled.body.len;
    record->is_changed = run->settled.body.ptr != run->fold.transcript->doc->text.ptr;
    record->over_window = wr_word_of(wr_over_window(run));
    record->own_tools_tokens = own_tools_tokens(run);
    record->steps_count = run->fold.steps_count;
    record->blind_odds_pct = run->fold.said.blind_pct;
    fill_budget(run, record);
    fill_counters(run, &record->counters);
    fill_categories(run, record);
    return WEIR_OK;
}
