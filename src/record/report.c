/* The engine's part of a record as JSON: its edits, and why each was made (report.h). */
#include "record/report.h"

#include "json/write.h"
#include "record/row.h"

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
