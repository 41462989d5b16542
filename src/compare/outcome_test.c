#include "compare/outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

static const struct wr_yardstick *yardstick(const char *name)
{
    for (const struct wr_yardstick *m = wr_yardsticks; m->name; m++)
        if (!strcmp(m->name, name))
            return m;
    fail_msg("no %s", name);
    return NULL;
}

static void add(struct wr_outcome *o, struct wr_trial trial)
{
    trial.is_measured = trial.requests_count > 0;
    trial.is_priced = true;
    assert_int_equal(wr_outcome_add(o, &trial), WEIR_OK);
}

static const char *printed(const struct wr_outcome *o, struct wr_buf *out)
{
    wr_buf_init(out, 1 << 20);
    wr_outcome_print(o, out);
    wr_buf_byte(out, '\0');
    assert_int_equal(wr_buf_status(out), WEIR_OK);
    return out->bytes;
}

/* Four runs each: money halves, the checks are 2 of 4 and 4 of 4, and a file that is the same. */
static void fill_one_task(struct wr_outcome *o)
{
    static const char *const tasks[] = {""};

    wr_outcome_init(o);
    o->tasks = tasks;
    o->tasks_count = 1;
    o->has_check = true;
    for (unsigned i = 0; i < 4; i++) {
        add(o, (struct wr_trial){.arm = WR_ARM_DIRECT,
                                 .check_status = i < 2,
                                 .requests_count = 10 + i,
                                 .micro_usd = 100000 + 1000 * i});
        assert_int_equal(wr_outcome_add_file(o, "a.c", 5), WEIR_OK);
        add(o, (struct wr_trial){.arm = WR_ARM_WEIR,
                                 .check_status = 0,
                                 .requests_count = 10 + i,
                                 .micro_usd = 50000 + 500 * i});
        assert_int_equal(wr_outcome_add_file(o, "a.c", i ? 5 : 7), WEIR_OK);
    }
}

static void runs_of_one_task_are_two_arms(void **state)
{
    struct wr_outcome o;
    struct wr_buf out;

    (void)state;
    fill_one_task(&o);
    struct wr_contrast money = wr_outcome_contrast(&o, yardstick("usd"));
    assert_true(money.percent > -50.1 && money.percent < -49.9);
    assert_int_equal(money.verdict, WR_VERDICT_LESS);
    assert_int_equal(wr_outcome_contrast(&o, yardstick("requests")).verdict, WR_VERDICT_UNKNOWN);
    struct wr_contrast checks = wr_outcome_checks(&o);
    assert_true(checks.first == 0.5 && checks.second == 1.0);
    assert_int_equal(checks.verdict, WR_VERDICT_UNKNOWN);
    const char *text = printed(&o, &out);
    assert_non_null(strstr(text, "2 of 4"));
    assert_non_null(strstr(text, "less with Weir"));
    assert_non_null(strstr(text, "a.c"));
    assert_non_null(strstr(text, "partly the same"));
    weir_span table = wr_span_of(strstr(text, "mean of a run")), line;
    while (wr_span_line(&table, &line) && line.len)
        if (line.len > 80)
            fail_msg("%d columns: %.*s", (int)line.len, (int)line.len, line.ptr);
    wr_buf_release(&out);
    wr_outcome_release(&o);
}

static void a_run_that_asked_nobody_is_in_no_sum(void **state)
{
    struct wr_outcome o;
    struct wr_buf out;

    (void)state;
    fill_one_task(&o);
    double before = wr_outcome_contrast(&o, yardstick("requests")).second;
    add(&o, (struct wr_trial){.arm = WR_ARM_WEIR, .exit_status = 1, .check_status = 1});
    assert_true(wr_outcome_contrast(&o, yardstick("requests")).second == before);
    const char *text = printed(&o, &out);
    assert_non_null(strstr(text, "1 runs asked no model through Weir"));
    assert_non_null(strstr(text, "the agent failed in 0 runs direct and 1 with Weir"));
    wr_buf_release(&out);
    wr_outcome_release(&o);
}

/* Tasks differ by far more than arms do: only the pairs show it. */
static void several_tasks_are_pairs(void **state)
{
    static const char *const tasks[] = {"small", "large", "huge", "tiny"};
    static const unsigned sizes[] = {100, 1000, 10000, 10};
    struct wr_outcome o;
    struct wr_buf out;

    (void)state;
    wr_outcome_init(&o);
    o.tasks = tasks;
    o.tasks_count = 4;
    for (uint32_t i = 0; i < 4; i++) {
        add(&o, (struct wr_trial){.arm = WR_ARM_DIRECT,
                                  .task = i,
                                  .check_status = 0,
                                  .requests_count = 5,
                                  .prompt_tokens = sizes[i] * 10});
        add(&o, (struct wr_trial){.arm = WR_ARM_WEIR,
                                  .task = i,
                                  .check_status = 0,
                                  .requests_count = 5,
                                  .prompt_tokens = sizes[i] * 9});
    }
    struct wr_contrast c = wr_outcome_contrast(&o, yardstick("prompt_tokens"));
    assert_true(c.percent > -10.01 && c.percent < -9.99);
    assert_int_equal(c.verdict, WR_VERDICT_LESS);
    assert_non_null(strstr(printed(&o, &out), "tiny"));
    wr_buf_release(&out);
    wr_outcome_release(&o);
}

static void one_run_each_has_no_interval(void **state)
{
    static const char *const tasks[] = {""};
    struct wr_outcome o;
    struct wr_buf out;

    (void)state;
    wr_outcome_init(&o);
    o.tasks = tasks;
    o.tasks_count = 1;
    o.is_recorded = true;
    add(&o, (struct wr_trial){.arm = WR_ARM_DIRECT, .requests_count = 5, .check_status = -1});
    add(&o, (struct wr_trial){.arm = WR_ARM_WEIR, .requests_count = 4, .check_status = -1});
    assert_non_null(strstr(printed(&o, &out), "too few to tell"));
    assert_non_null(strstr(out.bytes, "-20.0 %"));
    wr_buf_reset(&out);
    wr_outcome_write(&o, &out);
    wr_buf_byte(&out, '\0');
    assert_non_null(strstr(out.bytes, "\"verdict\":\"too_few\""));
    assert_null(strstr(out.bytes, "\"low\""));
    wr_buf_release(&out);
    wr_outcome_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_one_task_are_two_arms),
        cmocka_unit_test(a_run_that_asked_nobody_is_in_no_sum),
        cmocka_unit_test(several_tasks_are_pairs),
        cmocka_unit_test(one_run_each_has_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
