/* The record of a request: how it begins, what usage and prices add to it, how it is settled. */
#include "engine/record.h"

#include <string.h>

#include "engine/record_row.h"
#include "json/write.h"
#include "models/lookup.h"

const char *wr_bust_name(enum wr_bust bust)
{
    static const char *const names[] = {
#define X(name, text) text,
        WR_BUST_MAP(X)
#undef X
    };
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
    static const char *const names[] = {
#define X(name, text) text,
        WR_CATEGORY_MAP(X)
#undef X
    };
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
