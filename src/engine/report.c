#include "engine/report.h"

#include "base/limits.h"
#include "base/span.h"
#include "engine/over_window.h"
#include "json/write.h"
#include "models/calibrate.h"
#include "policy/budget.h"
#include "policy/output.h"

/* ---- words and numbers ---- */

static void write_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)number);
}

static void write_word(struct wr_json_writer *w, const char *key, const char *word)
{
    wr_json_write_key(w, key);
    if (word)
        wr_json_write_text(w, wr_span_of(word));
    else
        wr_json_write_null(w);
}

/* ---- what stands for what ---- */

/* The inserts that are in the prompt, and what each stands for. */
struct standing {
    uint32_t *live;     /* by chain (policy/fold.h): the insert that is there now */
    uint32_t *segments; /* by insert: how many it stands for */
};

/* The insert that stands for a segment that was taken out; WR_INSERT_NONE: none does. */
static uint32_t insert_of(const struct wr_run *run, const struct standing *standing,
                          uint32_t segment)
{
    const struct wr_fold_segment *now = &run->fold.segments[segment];
    if (!standing->live || now->form != WR_FORM_DROPPED || !now->is_offloaded)
        return WR_INSERT_NONE;
    return standing->live[run->fold.inserts[now->insert].chain];
}

/* Without memory for it, or where none was sent, nothing stands for anything. */
static struct standing find_standing(const struct wr_run *run)
{
    const struct wr_fold *fold = &run->fold;
    struct standing standing = {NULL, NULL};

    if (!fold->inserts_count || run->projection.is_fallback)
        return standing;
    uint32_t *live = WR_ARENA_ARRAY(fold->arena, uint32_t, fold->inserts_count);
    standing.segments = WR_ARENA_ARRAY(fold->arena, uint32_t, fold->inserts_count);
    if (!live || !standing.segments)
        return (struct standing){NULL, NULL};
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        live[i] = WR_INSERT_NONE;
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        if (!fold->inserts[i].is_gone)
            live[fold->inserts[i].chain] = i;
    standing.live = live;
    for (uint32_t i = 0; i < run->plan.changes_count; i++) {
        uint32_t insert = insert_of(run, &standing, run->plan.changes[i].segment);
        if (insert != WR_INSERT_NONE)
            standing.segments[insert]++;
    }
    return standing;
}

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

static void add_number(struct wr_buf *out, weir_span key, uint64_t number)
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
static void add_value(struct wr_buf *out, const struct wr_fold_value *value)
{
    add_number(out, WR_LIT(",\"value\":{\"saves_tokens\":"), value->saves / 100);
    add_number(out, WR_LIT(",\"costs_tokens\":"), value->costs / 100);
    add_number(out, WR_LIT(",\"next_miss_basis_points\":"), value->next_miss_bp);
    add_number(out, WR_LIT(",\"ever_miss_basis_points\":"), value->ever_miss_bp);
    add_number(out, WR_LIT(",\"turns_left\":"), value->turns_left);
    if (value->utility)
        add_number(out, WR_LIT(",\"utility_points\":"), value->utility);
    wr_buf_byte(out, '}');
}

static void write_edit(struct wr_json_writer *w, struct wr_buf *edit, const struct wr_run *run,
                       const struct standing *standing, const struct wr_change *change)
{
    const struct wr_segment *s = &run->fold.transcript->segments[change->segment];
    const struct wr_fold_segment *now = &run->fold.segments[change->segment];
    uint64_t before = run->fold.input->tokens[change->segment];

    wr_buf_reset(edit);
    add_number(edit, WR_LIT("{\"i\":"), change->segment);
    add_word(edit, WR_LIT(",\"form\":"), wr_form_name(change->form));
    add_word(edit, WR_LIT(",\"class\":"), weir_class_name(s->class_));
    add_word(edit, WR_LIT(",\"kind\":"), weir_kind_name(s->kind));
    add_word(edit, WR_LIT(",\"handle\":"),
             now->handle.text[0] && now->form != WR_FORM_DROPPED ? now->handle.text : NULL);
    if (change->form == WR_FORM_DROPPED) {
        uint32_t insert = insert_of(run, standing, change->segment);
        add_word(edit, WR_LIT(",\"in\":"),
                 insert == WR_INSERT_NONE ? NULL : run->fold.inserts[insert].handle.text);
    }
    add_number(edit, WR_LIT(",\"tokens_before\":"), before);
    add_number(edit, WR_LIT(",\"tokens_after\":"), change->is_rolled_back ? before : now->tokens);
    add_word(edit, WR_LIT(",\"reason\":"), change->is_rolled_back ? change->reason : now->reason);
    wr_buf_append(edit, change->is_rolled_back ? WR_LIT(",\"rolled_back\":true")
                                               : WR_LIT(",\"rolled_back\":false"));
    if (now->value.is_weighed || now->value.utility)
        add_value(edit, &now->value);
    wr_buf_byte(edit, '}');
    wr_json_write_newline(w);
    wr_json_write_raw(w, wr_buf_view(edit));
}

static void write_edits(struct wr_json_writer *w, const struct wr_run *run,
                        const struct standing *standing)
{
    struct wr_buf edit;

    wr_buf_init(&edit, WR_OUTPUT_BYTES_MAX);
    wr_json_write_key(w, "edits");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < run->plan.changes_count; i++)
        write_edit(w, &edit, run, standing, &run->plan.changes[i]);
    wr_json_write_array_end(w);
    if (wr_buf_status(&edit) && !w->out->status)
        w->out->status = edit.status;
    wr_buf_release(&edit);
}

const char *wr_run_step_text(const struct wr_run_step *step)
{
    return step->is_unexplained ? "unexplained" : wr_step_reason_text(step->reason);
}

static void write_step(struct wr_json_writer *w, const struct wr_run *run)
{
    wr_json_write_key(w, "step");
    if (!run->step.is_taken) {
        wr_json_write_null(w);
        return;
    }
    wr_json_write_object(w);
    write_word(w, "reason", wr_run_step_text(&run->step));
    write_number(w, "turn", run->fold.turn);
    wr_json_write_object_end(w);
}

/* What was done, in the words of the budget's modes. A text of which nothing is left but a marker
 * is a reference to its original. */
static enum wr_budget_mode mode_of(const struct wr_run *run)
{
    uint32_t refs_count = 0, shortened_count = 0;

    for (uint32_t i = 0; i < run->fold.inserts_count && !run->projection.is_fallback; i++)
        shortened_count += !run->fold.inserts[i].is_gone;

    for (uint32_t i = 0; i < run->plan.changes_count; i++) {
        const struct wr_change *change = &run->plan.changes[i];
        if (change->is_rolled_back)
            continue;
        switch (change->form) {
        case WR_FORM_EXACT:
        case WR_FORM_EDITED:
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
    return run->projection.body.ptr == run->fold.transcript->doc->text.ptr
               ? WR_MODE_EXACT_PASS_THROUGH
               : WR_MODE_LARGE_LOSSLESS;
}

/* The room that the prompt had as it came. */
static unsigned reasons_of(const struct wr_run *run, const struct wr_pressure_input *sent)
{
    struct wr_budget_state nothing = {0};
    struct wr_pressure_input came = *sent;
    came.used_tokens = run->tokens_before;
    struct wr_pressure p = wr_pressure(&came);
    return wr_budget_plan(&p, &nothing).reasons;
}

/* In the provider's tokens, unless an overflow error said less in ours. */
static uint64_t said_window(const struct wr_fold *fold)
{
    uint64_t said = fold->input->window_tokens, narrowed = fold->narrowed_tokens;
    return narrowed && narrowed == fold->window_tokens ? narrowed : said;
}

static void write_pressure(struct wr_json_writer *w, const struct wr_run *run)
{
    struct wr_pressure_input input = {.window_known = run->fold.window_tokens > 0,
                                      .window_tokens = run->fold.window_tokens,
                                      .reserve_tokens = run->fold.reserve_tokens,
                                      .used_tokens = run->tokens_after,
                                      .used_source = WR_COUNT_ESTIMATE};
    struct wr_pressure p = wr_pressure(&input);
    write_number(w, "model_context_window_tokens", said_window(&run->fold));
    if (run->fold.factor_bp && run->fold.factor_bp != 10000)
        write_number(w, "provider_count_basis_points", run->fold.factor_bp);
    write_word(w, "model_context_window_source", run->window_source);
    write_number(w, "observed_context_tokens", run->tokens_after);
    write_number(w, "pressure_basis_points", p.basis_points);
    write_word(w, "pressure_band", wr_band_text(p.band));
    write_number(w, "effective_usable_context_tokens", p.usable_tokens);
    write_number(w, "available_tokens", p.available_tokens);
    write_number(w, "absolute_safety_floor_tokens", p.floor_tokens);
    write_word(w, "estimator_confidence", wr_confidence_text(p.confidence));
    unsigned reasons = reasons_of(run, &input);
    write_word(w, "budget_mode", wr_budget_mode_text(mode_of(run)));
    wr_json_write_key(w, "policy_reasons");
    wr_json_write_array(w);
    for (unsigned bit = 1; bit <= WR_REASON_CRITICAL_BUDGET; bit <<= 1)
        if (reasons & bit)
            wr_json_write_text(w, wr_span_of(wr_budget_reason_text((enum wr_budget_reason)bit)));
    wr_json_write_array_end(w);
}

static void write_inserts(struct wr_json_writer *w, const struct wr_run *run,
                          const struct standing *standing)
{
    wr_json_write_key(w, "inserts");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < run->fold.inserts_count && !run->projection.is_fallback; i++) {
        const struct wr_fold_insert *insert = &run->fold.inserts[i];
        if (insert->is_gone)
            continue;
        wr_json_write_object(w);
        write_number(w, "before", insert->before);
        write_word(w, "role", weir_role_name(insert->role));
        write_word(w, "stage", insert->stage);
        write_word(w, "handle", insert->handle.text);
        write_number(w, "tokens", insert->tokens);
        write_number(w, "tokens_before", insert->original_tokens);
        write_number(w, "segments", standing->segments ? standing->segments[i] : 0);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

/* ---- what was done to how many ---- */

struct counters {
    uint64_t condensed, blobs, references, duplicates, cross_turn_duplicates;
    uint64_t rehydrated, rehydrated_tokens;
    uint64_t static_deltas, repository_facts;
    uint64_t by_form[WR_REPORT_FORMS_MAX];
};

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

static void count_change(struct counters *c, const struct wr_run *run,
                         const struct wr_change *change)
{
    if (change->is_rolled_back)
        return;
    c->by_form[change->form]++;
    c->references += change->form == WR_FORM_REFERENCE;
    if (change->form != WR_FORM_CONDENSED)
        return;
    c->condensed++;
    c->blobs += is_blob(run, change->segment);
}

static void count_duplicate(struct counters *c, const struct wr_transcript *t, uint32_t i)
{
    const struct wr_segment *s = &t->segments[i];
    if (s->class_ != WEIR_CLASS_DROPPABLE_DUPLICATE)
        return;
    c->duplicates++;
    c->cross_turn_duplicates +=
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
    static const char *const fronts[] = {"git status", "git branch", "git log", "git rev-parse",
                                         "git diff --stat"};
    if (s->kind != WEIR_KIND_TOOL_RESULT || !s->handles)
        return false;
    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
        if (wr_span_find(s->handles->command, wr_span_of(fronts[i]), 0) != SIZE_MAX)
            return true;
    return false;
}

static struct counters count(const struct wr_run *run)
{
    const struct wr_fold *fold = &run->fold;
    struct counters c = {0};
    for (uint32_t i = 0; i < run->plan.changes_count; i++)
        count_change(&c, run, &run->plan.changes[i]);
    for (uint32_t i = 0; i < fold->transcript->segments_count; i++) {
        count_duplicate(&c, fold->transcript, i);
        c.static_deltas += is_static_delta(&fold->transcript->segments[i]);
        c.repository_facts += is_repository_fact(&fold->transcript->segments[i]);
    }
    for (uint32_t i = 0; i < fold->inserts_count && !run->projection.is_fallback; i++)
        c.rehydrated += fold->inserts[i].is_rehydrated && !fold->inserts[i].is_gone;
    c.rehydrated_tokens = c.rehydrated ? fold->rehydrated_tokens : 0;
    return c;
}

static void write_categories(struct wr_json_writer *w, const struct counters *c)
{
    wr_json_write_key(w, "transformed_segment_categories");
    wr_json_write_object(w);
    for (uint32_t i = 0; i < WR_REPORT_FORMS_MAX; i++)
        if (c->by_form[i])
            write_number(w, wr_form_name((enum wr_form)i), c->by_form[i]);
    wr_json_write_object_end(w);
}

static void write_counters(struct wr_json_writer *w, const struct wr_run *run)
{
    const struct wr_fold *fold = &run->fold;
    struct counters c = count(run);

    write_number(w, "artifacts_stored", run->originals_count);
    write_number(w, "tool_outputs_condensed", c.condensed);
    write_number(w, "blob_outputs_condensed", c.blobs);
    write_number(w, "duplicate_texts", c.duplicates);
    write_number(w, "cross_turn_duplicate_texts", c.cross_turn_duplicates);
    write_number(w, "repeat_tool_output_refs", c.references);
    write_number(w, "rehydrated_refs", c.rehydrated);
    write_number(w, "rehydration_token_cost", c.rehydrated_tokens);
    write_number(w, "static_context_deltas", c.static_deltas);
    write_number(w, "repo_state_facts", c.repository_facts);
    write_categories(w, &c);
    write_number(w, "candidate_count", fold->candidates_count);
    write_number(w, "selected_candidate_count", fold->selected_count);
    write_number(w, "rejected_candidate_count", fold->candidates_count - fold->selected_count);
    write_number(w, "selected_candidate_utility_points", fold->selected_utility);
    write_number(w, "segment_rollback_count", run->projection.rolled_back_count);
    write_number(w, "full_request_fallback_count", run->projection.is_fallback);
    write_number(w, "late_segments", fold->late_count);
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

static void write_sizes(struct wr_json_writer *w, const struct wr_run *run)
{
    uint64_t before = run->fold.transcript->doc->text.len, after = run->projection.body.len;
    write_number(w, "body_bytes_before", before);
    write_number(w, "body_bytes_after", after);
    write_number(w, "body_bytes_saved", before > after ? before - after : 0);
    write_number(w, "rewrite_ratio_percent", before ? after * 100 / before : 100);
}

void wr_run_report(const struct wr_run *run, const char *held_back, struct wr_buf *out)
{
    struct standing standing = find_standing(run);
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    write_word(&w, "policy", run->fold.input->policy->name);
    write_number(&w, "tokens_before", run->tokens_before);
    write_number(&w, "tokens_after", run->tokens_after);
    write_step(&w, run);
    write_pressure(&w, run);
    write_number(&w, "own_tools_tokens", own_tools_tokens(run));
    write_sizes(&w, run);
    write_number(&w, "steps", run->fold.steps_count);
    write_counters(&w, run);
    write_word(&w, "held_back", held_back);
    write_word(&w, "over_window", wr_over_window(run));
    write_inserts(&w, run, &standing);
    write_edits(&w, run, &standing);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}
