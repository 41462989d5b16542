#include "traffic/rows.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/record_row.h"
#include "models/registry.h"

weir_status wr_traffic_rows_init(struct wr_traffic_rows *rows, const struct wr_models *models,
                                 struct wr_json_writer *writer)
{
    *rows = (struct wr_traffic_rows){
        .models = models, .tallier = wr_tallier_new(models), .writer = writer};
    wr_arena_init(&rows->arena, WR_ARENA_BYTES_MAX);
    return rows->tallier ? WEIR_OK : WEIR_NOMEM;
}

void wr_traffic_rows_release(struct wr_traffic_rows *rows)
{
    wr_tallier_free(rows->tallier);
    wr_arena_release(&rows->arena);
}

static void put_some(struct wr_json_writer *w, const char *key, uint64_t number)
{
    if (number)
        wr_json_member_number(w, key, number);
}

static void put_word(struct wr_json_writer *w, const char *key, weir_span word)
{
    if (word.len)
        wr_json_member_text(w, key, word);
}

/* What the prompt consists of, as it was sent, in the order of WR_CATEGORY_MAP. */
static void put_kinds(struct wr_json_writer *w, const struct wr_record *r)
{
    const uint64_t *tokens = wr_record_sent_tokens(r);

    wr_json_write_key(w, "kinds");
    wr_json_write_array(w);
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        wr_json_write_i64(w, (int64_t)tokens[i]);
    wr_json_write_array_end(w);
}

static void put_usage(struct wr_json_writer *w, const struct wr_record *r,
                      const struct wr_model *model)
{
    struct wr_usage usage = wr_record_usage(r, model);

    wr_json_member_bool(w, "usage_known", r->is_usage_known);
    if (!r->is_usage_known)
        return;
    wr_json_member_number(w, "fresh", usage.input_tokens);
    wr_json_member_number(w, "read", usage.cache_read_tokens);
    wr_json_member_number(w, "written",
                          usage.cache_write_5m_tokens + usage.cache_write_1h_tokens +
                              usage.cache_write_30m_tokens);
    wr_json_member_number(w, "output", usage.output_tokens);
}

static void put_signs(struct wr_json_writer *w, const struct wr_record *r)
{
    if (wr_record_was_step(r)) {
        wr_json_member_text(w, "step", r->step_reason.len ? r->step_reason : WR_LIT("unknown"));
    }
    if (r->is_bust) {
        wr_json_member_word(w, "bust", wr_bust_name(r->bust));
        wr_json_member_number(w, "lost", r->cache_lost_tokens);
        put_word(w, "place", r->bust_place);
    }
    /* Those of the proxy's own tool are among them: they are seen in the request that carries what
     * they brought, as any other. */
    put_some(w, "recalls", r->quality.recalls);
    put_some(w, "misses", r->quality.missing_artifact_requests);
    put_some(w, "rereads", r->quality.model_reread_requests);
    put_some(w, "broke_after", r->quality.test_or_build_failed_after_rewrite);
    put_some(w, "failed_edits", r->quality.failed_edits);
    put_some(w, "blind_edits", r->quality.blind_edits);
    put_some(w, "placeholders", r->quality.placeholders_written);
    put_some(w, "leg", r->leg);
    put_word(w, "held", r->held_back);
    put_word(w, "over_window", r->over_window);
    put_word(w, "not_read", r->not_read);
    if (r->is_pending)
        wr_json_member_bool(w, "pending", true);
    if (wr_record_is_shadow(r)) {
        wr_json_member_bool(w, "shadow", true);
        wr_json_member_number(w, "would_send", r->tokens_after);
    }
}

static void put_row(struct wr_traffic_rows *rows, const struct wr_ledger_row *row,
                    const struct wr_record *r, const struct wr_tally *one)
{
    struct wr_json_writer *w = rows->writer;

    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_i64(w, "id", row->id);
    wr_json_member_i64(w, "time_ms", row->time_ms);
    if (rows->names_session)
        wr_json_member_text(w, "session", row->session);
    if (r->user.len)
        wr_json_member_text(w, "user", r->user);
    wr_json_member_text(w, "agent", row->agent);
    wr_json_member_text(w, "model", row->model);
    put_word(w, "policy", wr_span_of(r->policy));
    put_word(w, "mode", r->mode);
    wr_json_member_number(w, "status", r->status);
    wr_json_member_text(w, "end", r->end);
    if (r->spend.len)
        wr_json_member_text(w, "budget", r->spend);
    wr_json_member_number(w, "came", r->tokens_before);
    wr_json_member_number(w, "sent", wr_record_prompt_tokens(r));
    wr_json_member_bool(w, "changed", wr_record_was_changed(r));
    wr_json_member_number(w, "window", r->budget.window_tokens);
    put_kinds(w, r);
    put_usage(w, r, wr_models_lookup(rows->models, row->model).model);
    wr_json_member_bool(w, "priced", !one->unpriced_count);
    wr_json_member_bool(w, "estimated", one->estimated_count);
    wr_json_member_number(w, "micro_usd", one->micro_usd);
    if (!rows->names_session) { /* else what came before a row is not known */
        wr_json_member_number(w, "unchanged_micro_usd", one->unchanged_micro_usd);
        put_some(w, "step_micro_usd", one->steps_micro_usd);
    }
    put_signs(w, r);
    wr_json_member_number(w, "added_us", r->added_us);
    wr_json_member_number(w, "total_us", r->total_us);
    wr_json_write_object_end(w);
}

weir_status wr_traffic_rows_add(void *user, const struct wr_ledger_row *row)
{
    struct wr_traffic_rows *rows = user;
    struct wr_tally one = {0}, *tallies[] = {&one};
    struct wr_record record;
    weir_status status = wr_row_parse(row->line, &rows->arena, &record);

    if (status)
        return status == WEIR_SYNTAX ? WEIR_OK : status;
    status = wr_tallier_add(rows->tallier, row, &record, tallies, 1);
    if (status || !record.api || record.is_hook)
        return status;
    put_row(rows, row, &record, &one);
    rows->count++;
    return wr_buf_status(rows->writer->out);
}
