/* What a record says of a run, held to the run itself: each change with its segment, form, reason,
 * handle and tokens, what stands for what, and the counts and sums of all of them. */
#include "engine/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "engine/run.h"
#include "tests/test_run.h"

enum { BODY_BYTES_MAX = 1 << 20, WINDOW_TOKENS = 6000, PAIRS = 6 };

#define P(stages) "policies: {p: {stages: [" stages "]}}"
#define CLEAR     P("{stage: clear, at_bp: 1000, keep: 1}")

/* What each call runs, and the number of its result's text: the last but one repeats the first. */
static const struct {
    const char *command;
    int text;
} pairs[PAIRS] = {{"git status", 0}, {"make && git log -3", 1}, {"git diff --stat", 2},
                  {"git commit", 3}, {"git status", 0},         {"ls", 5}};

static void write_result(struct wr_buf *out, int text)
{
    for (int i = 0; i < 100; i++)
        wr_buf_printf(out, "row %d/%04d: the waters here are calm\\n", text, i);
}

/* Instructions, calls with their results, and in the middle more instructions and another loop. */
static void write_body(struct wr_buf *out)
{
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_text(out, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}},"
                     "{\"type\":\"function\",\"function\":{\"name\":\"Bash\"}}],"
                     "\"messages\":[{\"role\":\"system\",\"content\":\"be brief\"},"
                     "{\"role\":\"user\",\"content\":\"go\"}");
    for (int i = 0; i < PAIRS; i++) {
        wr_buf_printf(out,
                      ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\","
                      "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":"
                      "\"{\\\"command\\\":\\\"%s\\\"}\"}}]},"
                      "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"",
                      i, pairs[i].command, i);
        write_result(out, pairs[i].text);
        wr_buf_text(out, "\"}");
        if (i == 3)
            wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":\"done\"},"
                             "{\"role\":\"system\",\"content\":\"be briefer\"},"
                             "{\"role\":\"user\",\"content\":\"and now?\"}");
    }
    wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":\"done\"},"
                     "{\"role\":\"user\",\"content\":\"thanks\"},"
                     /* has no result yet */
                     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"last\","
                     "\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":"
                     "\"{\\\"command\\\":\\\"git status\\\"}\"}}]}]}");
}

struct told {
    struct wr_buf body;
    struct test_run run;
    struct wr_record record;
};

static void open_told(struct told *t, const char *yaml)
{
    *t = (struct told){.record = {0}};
    write_body(&t->body);
    test_run_open(&t->run, wr_buf_view(&t->body), yaml, WINDOW_TOKENS);
    assert_int_equal(wr_run_record(&t->run.run, &t->record), WEIR_OK);
}

static void close_told(struct told *t)
{
    test_run_close(&t->run);
    wr_buf_release(&t->body);
}

static const char *const policies[] = {
    P(""),
    CLEAR,
    P("{stage: cap, max_tokens: 200}"),
    P("{stage: reference}"),
    P("{stage: fold_loops}"),
    P("{stage: drop_groups, margin_bp: 6000}"),
};

/* ---- each change ---- */

static const struct wr_record_insert *insert_called(const struct wr_record *r, const char *handle)
{
    for (uint32_t i = 0; i < r->inserts_count; i++)
        if (handle && !strcmp(r->inserts[i].handle, handle))
            return &r->inserts[i];
    return NULL;
}

static void check_change(const struct told *t, const struct wr_record_change *c)
{
    const struct wr_fold *fold = &t->run.run.fold;
    const struct wr_segment *s = &fold->transcript->segments[c->segment];

    assert_int_equal(c->form, fold->segments[c->segment].form);
    assert_int_equal(c->kind, s->kind);
    assert_int_equal(c->class_, s->class_);
    assert_int_equal(c->tokens_before, t->run.input.tokens[c->segment]);
    assert_int_equal(c->tokens_after, fold->segments[c->segment].tokens);
    assert_true(c->tokens_after < c->tokens_before);
    assert_string_equal(c->reason, fold->input->policy->stages[0].def->name);
    assert_false(c->is_rolled_back);
    assert_null(c->way); /* recall is */
    assert_int_equal(c->form == WR_FORM_DROPPED, !c->handle);
    assert_int_equal(c->form == WR_FORM_DROPPED, insert_called(&t->record, c->in) != NULL);
    if (c->handle) /* it is in what leaves, and only there */
        assert_true(wr_span_has(t->run.run.settled.body, wr_span_of(c->handle)));
}

static void each_change_is_told_as_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(policies); i++) {
        struct told t;
        open_told(&t, policies[i]);
        assert_int_equal(t.record.changes_count > 0, i > 0);
        assert_int_equal(t.record.changes_count, t.run.run.plan.changes_count);
        for (uint32_t k = 0; k < t.record.changes_count; k++)
            check_change(&t, &t.record.changes[k]);
        close_told(&t);
    }
}

static void each_change_is_in_the_report(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(policies); i++) {
        struct told t;
        struct wr_buf report, edit;
        open_told(&t, policies[i]);
        wr_buf_init(&report, BODY_BYTES_MAX);
        wr_buf_init(&edit, BODY_BYTES_MAX);
        wr_record_report(&t.record, &report);
        for (uint32_t k = 0; k < t.record.changes_count; k++) {
            const struct wr_record_change *c = &t.record.changes[k];
            const char *quote = c->handle ? "\"" : "";
            bool is_in = c->form == WR_FORM_DROPPED;
            wr_buf_reset(&edit);
            wr_buf_printf(&edit,
                          "\n{\"i\":%u,\"form\":\"%s\",\"class\":\"%s\",\"kind\":\"%s\","
                          "\"handle\":%s%s%s%s%s%s,\"tokens_before\":%llu,\"tokens_after\":%llu,"
                          "\"reason\":\"%s\",\"rolled_back\":false",
                          c->segment, wr_form_name(c->form), weir_class_name(c->class_),
                          weir_kind_name(c->kind), quote, c->handle ? c->handle : "null", quote,
                          is_in ? ",\"in\":\"" : "", is_in ? c->in : "", is_in ? "\"" : "",
                          (unsigned long long)c->tokens_before, (unsigned long long)c->tokens_after,
                          c->reason);
            if (!wr_span_has(wr_buf_view(&report), wr_buf_view(&edit)))
                fail_msg("%.*s is not in %.*s", (int)edit.len, edit.bytes, (int)report.len,
                         report.bytes);
        }
        wr_buf_release(&edit);
        wr_buf_release(&report);
        close_told(&t);
    }
}

/* A message of ours stands for as many segments as name it. */
static void each_insert_counts_what_it_stands_for(void **state)
{
    uint32_t inserts = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(policies); i++) {
        struct told t;
        open_told(&t, policies[i]);
        for (uint32_t k = 0; k < t.record.inserts_count; k++, inserts++) {
            const struct wr_record_insert *insert = &t.record.inserts[k];
            uint32_t count = 0;
            uint64_t tokens = 0;
            for (uint32_t c = 0; c < t.record.changes_count; c++)
                if (t.record.changes[c].in && !strcmp(t.record.changes[c].in, insert->handle)) {
                    count++;
                    tokens += t.record.changes[c].tokens_before;
                }
            assert_true(count > 1);
            assert_int_equal(insert->segments_count, count);
            assert_true(insert->tokens_before >= tokens && insert->tokens < insert->tokens_before);
            assert_string_equal(insert->stage, t.run.input.policy->stages[0].def->name);
            assert_null(insert->way);
        }
        close_told(&t);
    }
    assert_true(inserts >= 3); /* two loops that are done, and a notice */
}

/* ---- counts and sums ---- */

static void what_was_done_is_counted_by_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(policies); i++) {
        uint64_t forms[WR_RECORD_FORMS_COUNT] = {0};
        struct told t;
        open_told(&t, policies[i]);
        const struct wr_record_counters *c = &t.record.counters;
        for (uint32_t k = 0; k < t.record.changes_count; k++)
            forms[t.record.changes[k].form]++;
        assert_memory_equal(c->by_form, forms, sizeof(forms));
        assert_int_equal(c->repeat_tool_output_refs, forms[WR_FORM_REFERENCE]);
        assert_int_equal(c->tool_outputs_condensed, forms[WR_FORM_CONDENSED]);
        assert_int_equal(c->artifacts_stored, t.run.run.originals_count);
        assert_int_equal(c->rehydrated_refs, 0); /* messages of ours are none */
        assert_int_equal(c->segment_rollback_count, 0);
        assert_int_equal(c->full_request_fallback_count, 0);
        close_told(&t);
    }
}

/* Whatever is done to it: one text comes twice, in two turns; the instructions changed once; four
 * results say in which state the repository is. */
static void what_came_is_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(policies); i++) {
        struct told t;
        open_told(&t, policies[i]);
        const struct wr_record_counters *c = &t.record.counters;
        assert_int_equal(c->duplicate_texts, 1);
        assert_int_equal(c->cross_turn_duplicate_texts, 1);
        assert_int_equal(c->static_context_deltas, 1);
        assert_int_equal(c->repo_state_facts, 4);
        close_told(&t);
    }
}

static void sizes_are_those_of_the_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(policies); i++) {
        struct told t;
        open_told(&t, policies[i]);
        const struct wr_record *r = &t.record;
        assert_string_equal(r->policy, "p");
        assert_true(r->has_projection);
        assert_false(r->is_delta);
        assert_int_equal(r->is_changed, i > 0);
        assert_int_equal(r->bytes_before, t.body.len);
        assert_int_equal(r->bytes_after, t.run.run.settled.body.len);
        assert_int_equal(r->bytes_after<r->bytes_before, i> 0);
        assert_int_equal(r->tokens_before, t.run.run.tokens_before);
        assert_int_equal(r->tokens_after, t.run.run.tokens_after);
        assert_int_equal(r->steps_count, t.run.run.fold.steps_count);
        assert_int_equal(r->is_step, t.run.run.step.is_taken);
        assert_int_equal(r->step_reason.len > 0, r->is_step);
        assert_int_equal(r->step_turn, r->is_step ? t.run.run.fold.turn : 0);
        assert_true(r->own_tools_tokens > 0);
        assert_true(r->own_tools_tokens < r->came_tokens[WR_CATEGORY_TOOLS]);
        close_told(&t);
    }
}

/* The budget is of what leaves; its reasons are of what came. */
static void the_budget_is_of_what_leaves(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(policies); i++) {
        struct told t;
        open_told(&t, policies[i]);
        const struct wr_record_budget *b = &t.record.budget;
        assert_int_equal(b->window_tokens, WINDOW_TOKENS);
        assert_int_equal(b->used_tokens, t.record.tokens_after);
        assert_int_equal(b->usable_tokens, WINDOW_TOKENS - t.run.run.fold.window.reserve_tokens);
        assert_int_equal(b->available_tokens,
                         b->usable_tokens > b->used_tokens ? b->usable_tokens - b->used_tokens : 0);
        assert_int_equal(b->pressure_bp, b->used_tokens * 10000 / b->usable_tokens);
        assert_int_equal(b->factor_bp, 0);
        close_told(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_is_told_as_it_is),
        cmocka_unit_test(each_change_is_in_the_report),
        cmocka_unit_test(each_insert_counts_what_it_stands_for),
        cmocka_unit_test(what_was_done_is_counted_by_form),
        cmocka_unit_test(what_came_is_counted),
        cmocka_unit_test(sizes_are_those_of_the_bodies),
        cmocka_unit_test(the_budget_is_of_what_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
