#include "engine/record_row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "policy/budget.h"

/* A request with something in every part of its record. */
static void fill(struct wr_record *r, enum wr_deed deed)
{
    wr_record_init(r);
    r->number = 7;
    r->time_ms = 1700000000000;
    r->api = &wr_api_messages;
    r->upstream = WR_LIT("anthropic");
    r->path = WR_LIT("/v1/messages");
    r->tenant = WR_LIT("local");
    r->agent = WR_LIT("codex");
    r->run = WR_LIT("1a2b");
    r->session = WR_LIT("codex:1");
    r->status = 200;
    r->end = WR_LIT("done");
    r->received_bytes = 1000;
    r->bytes_before = 4000;
    r->bytes_after = 1500;
    r->sent_bytes = 2000;
    r->answer_bytes = 300;
    r->added_us = 11;
    r->first_byte_us = 12;
    r->total_us = 13;
    r->project_us = 14;
    r->retries_count = 1;
    r->retry_reason = WR_LIT("window");
    r->is_collected = true;
    r->mode = WR_LIT("canary");
    r->mode_reason = WR_LIT("taken");
    r->has_bucket = true;
    r->bucket = 3;
    r->bucket_percent = 10;
    (void)snprintf(r->model, sizeof(r->model), "claude-opus-5");
    r->deed = deed;
    r->not_read = deed == WR_DEED_PASSED ? WR_LIT("too_large") : r->not_read;
    r->is_answer_read = true;
    r->is_usage_known = true;
    r->usage.input_tokens = 900;
    r->usage.cache_read_tokens = 0;
    r->answer_calls = 2;
    r->answer_model = WR_LIT("claude-opus-5-1");
    r->quality.recalls = 2;
    r->quality.is_recall_only = true;
    r->cache_expected_tokens = 700;
    r->cache_lost_tokens = 600;
    r->is_bust = true;
    r->bust = WR_BUST_EXPIRED;
    r->bust_place = WR_LIT("a pause of 400 s");
    r->count_ratio_bp = 12000;
    r->is_count_judged = true;
    r->learned_policy = WR_LIT("exact");
    r->is_trial = true;
    if (deed == WR_DEED_PASSED)
        return;
    r->has_projection = true;
    (void)snprintf(r->policy, sizeof(r->policy), "auto");
    r->is_changed = r->is_step = r->is_delta = true;
    r->step_reason = WR_LIT("cold");
    r->tokens_before = 1000;
    r->tokens_after = 400;
    r->budget = (struct wr_record_budget){.window_tokens = 200000,
                                          .window_source = WR_LIT("registry"),
                                          .factor_bp = 11000,
                                          .usable_tokens = 180000,
                                          .band = WR_LIT("low"),
                                          .reasons = WR_REASON_PLENTY_OF_BUDGET};
    r->counters.artifacts_stored = 5;
    r->counters.by_form[WR_FORM_CONDENSED] = 4;
    r->counters.late_segments = 1;
    r->over_window = WR_LIT("the policy takes nothing out");
    r->way = WR_LIT("operator");
    r->came_tokens[WR_CATEGORY_RESULTS] = 800;
    r->came_tokens[WR_CATEGORY_USER] = 200;
    r->made_tokens[WR_CATEGORY_RESULTS] = 200;
    r->made_tokens[WR_CATEGORY_USER] = 200;
    r->hash_failures_count = deed == WR_DEED_PROJECTED ? 0 : -1;
}

struct row {
    struct wr_arena arena;
    struct wr_buf line;
    struct wr_json doc;
};

static weir_span write_row(struct row *row, const struct wr_record *record)
{
    wr_arena_init(&row->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&row->line, 1 << 20);
    wr_row_write(record, &row->line);
    assert_int_equal(wr_buf_status(&row->line), WEIR_OK);
    assert_int_equal(wr_json_parse(&row->doc, &row->arena, wr_buf_view(&row->line), NULL, NULL),
                     WEIR_OK);
    return wr_buf_view(&row->line);
}

static void free_row(struct row *row)
{
    wr_buf_release(&row->line);
    wr_arena_release(&row->arena);
}

static bool has(weir_span line, const char *member)
{
    return wr_span_find(line, wr_span_of(member), 0) != SIZE_MAX;
}

static void what_is_read_back_is_written_the_same(void **state)
{
    static const enum wr_deed deeds[] = {WR_DEED_PASSED, WR_DEED_SHADOWED, WR_DEED_PROJECTED};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(deeds); i++) {
        struct wr_record record, again;
        struct row first, second;
        fill(&record, deeds[i]);
        weir_span line = write_row(&first, &record);
        wr_row_read(&first.doc, &again);
        assert_int_equal(again.deed, deeds[i]);
        weir_span twice = write_row(&second, &again);
        if (!wr_span_eq(line, twice))
            fail_msg("%.*s\nis not\n%.*s", (int)twice.len, twice.ptr, (int)line.len, line.ptr);
        assert_int_equal(again.usage.output_tokens, -1);
        assert_int_equal(again.usage.cache_read_tokens, 0);
        assert_true(again.api == &wr_api_messages && again.bust == WR_BUST_EXPIRED);
        assert_string_equal(again.policy, record.policy);
        assert_int_equal(again.counters.by_form[WR_FORM_CONDENSED],
                         record.counters.by_form[WR_FORM_CONDENSED]);
        for (int k = 0; k < WR_CATEGORIES_COUNT; k++)
            assert_int_equal(wr_record_sent_tokens(&again)[k], wr_record_sent_tokens(&record)[k]);
        free_row(&first);
        free_row(&second);
    }
}

/* Nobody adds what would have been to what was. */
static void shadow_figures_have_names_of_their_own(void **state)
{
    static const char *const members[] = {"\"shadow_changed\":true",
                                          "\"shadow_step_reason\":\"cold\"",
                                          "\"shadow_estimated_tokens_after\":400",
                                          "\"shadow_policy\":\"auto\"",
                                          "\"shadow_body_bytes_after\":1500",
                                          "\"body_bytes_after\":2000",
                                          "\"body_bytes_saved\":2000",
                                          "\"context_results_tokens\":800"};
    struct wr_record record;
    struct row row;
    (void)state;
    fill(&record, WR_DEED_SHADOWED);
    weir_span line = write_row(&row, &record);
    for (size_t i = 0; i < WR_COUNT_OF(members); i++)
        if (!has(line, members[i]))
            fail_msg("no %s in %.*s", members[i], (int)line.len, line.ptr);
    assert_false(has(line, "\"changed\":") || has(line, ",\"policy\":"));
    free_row(&row);
}

static void what_was_not_sent_counts_for_nothing(void **state)
{
    static const struct {
        enum wr_deed deed;
        bool is_changed;
        const char *held_back;
        bool has_figures;
    } rows[] = {{WR_DEED_LATE, true, "\"held_back\":\"deadline_hard\"", false},
                {WR_DEED_LATE, false, "\"held_back\":\"deadline_hard\"", true},
                {WR_DEED_UNWAITED, true, "\"held_back\":\"nobody waited", false},
                {WR_DEED_UNWAITED, false, "\"held_back\":null", true},
                {WR_DEED_PROJECTED, true, "\"held_back\":null", true}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        bool is_sent = rows[i].deed == WR_DEED_PROJECTED;
        struct wr_record record;
        struct row row;
        fill(&record, rows[i].deed);
        record.is_changed = rows[i].is_changed;
        wr_record_settle(&record);
        weir_span line = write_row(&row, &record);
        assert_true(has(line, rows[i].held_back));
        assert_int_equal(has(line, "\"policy\":\"auto\""), rows[i].has_figures);
        assert_int_equal(has(line, "\"changed\":true"), is_sent);
        assert_int_equal(has(line, "\"step\":true"), is_sent);
        assert_int_equal(has(line, "\"estimated_tokens_after\":1000"), !is_sent);
        free_row(&row);
    }
}

static void what_is_no_such_value_is_passed_over(void **state)
{
    static const char *const lines[] = {
        "{}", "{\"status\":-1,\"usage_input_tokens\":\"x\",\"estimated_tokens_before\":2000000000}",
        "{\"policy\":7,\"cache_bust_cause\":\"nobody\",\"policy_reasons\":{},\"api\":null}",
        "{\"transformed_segment_categories\":[1],\"usage_output_tokens\":-5,\"another\":[{}]}"};
    struct wr_record none, record;
    struct wr_json doc;
    (void)state;
    wr_record_init(&none);
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++) {
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        assert_int_equal(wr_json_parse(&doc, &arena, wr_span_of(lines[i]), NULL, NULL), WEIR_OK);
        wr_row_read(&doc, &record);
        assert_true(!record.status && !record.tokens_before && !record.policy[0] &&
                    !record.is_bust && !record.budget.reasons && !record.api);
        assert_int_equal(record.usage.input_tokens, -1);
        assert_int_equal(record.usage.output_tokens, -1);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_back_is_written_the_same),
        cmocka_unit_test(shadow_figures_have_names_of_their_own),
        cmocka_unit_test(what_was_not_sent_counts_for_nothing),
        cmocka_unit_test(what_is_no_such_value_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
