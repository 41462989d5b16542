#include "traffic/sentence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"
#include "policy/fold.h"
#include "policy/form.h"

static void assert_says(void (*say)(const struct wr_sentence *, struct wr_buf *),
                        const struct wr_sentence *sentence, const char *wanted)
{
    struct wr_buf out;

    wr_buf_init(&out, 4096);
    say(sentence, &out);
    if (!wr_span_is(wr_buf_view(&out), wanted))
        fail_msg("wanted %s\n got %.*s", wanted, (int)out.len, out.bytes ? out.bytes : "");
    wr_buf_release(&out);
}

static void a_change_is_a_sentence(void **state)
{
    struct wr_sentence s = {
        .form = WR_LIT("condensed"), .lines_before = 1086, .lines_after = 6, .has_worth = true};
    (void)state;

    assert_says(wr_sentence_deed, &s, "Only the lines that matter are left. 1,086 lines became 6.");
    s.saves_tokens = 700;
    s.costs_tokens = 20;
    s.turns_left = 12;
    s.ever_miss_bp = 90;
    assert_says(wr_sentence_sum, &s,
                "Saves 680 tokens over the next 12 answers; it is hardly ever asked for again.");
    s.ever_miss_bp = 7960;
    assert_says(
        wr_sentence_sum, &s,
        "Saves 680 tokens over the next 12 answers, after paying for the 80 in 100 cases in "
        "which it is asked for again.");
    s.is_rolled_back = true;
    s.reason = WR_LIT("signal");
    assert_says(wr_sentence_deed, &s,
                "Stays whole: a shorter form was tried and taken back (signal).");
    assert_says(wr_sentence_sum, &s, "");
    s = (struct wr_sentence){.form = WR_LIT("dropped"), .is_in_summary = true};
    assert_says(wr_sentence_deed, &s, "Part of a finished task: the summary stands for it.");
}

/* A form or a reason that is added must get its sentence. */
static void every_form_and_every_step_has_words(void **state)
{
    (void)state;
    for (int form = WR_FORM_EDITED; form <= WR_FORM_DROPPED; form++) {
        struct wr_sentence s = {.form = wr_span_of(wr_form_name((enum wr_form)form))};
        struct wr_buf out;
        wr_buf_init(&out, 4096);
        wr_sentence_deed(&s, &out);
        assert_false(wr_span_is(wr_buf_view(&out), "Changed."));
        wr_buf_release(&out);
    }
    for (int step = WR_STEP_LOOP_COMPLETED; step <= WR_STEP_LATE_RESULT; step++) {
        weir_span reason = wr_span_of(wr_step_reason_text((enum wr_step_reason)step));
        assert_string_not_equal(wr_sentence_step(reason), wr_sentence_step(WR_LIT("no such")));
    }
}

static void advice_depends_on_who_and_where(void **state)
{
    (void)state;
    const char *system = wr_sentence_advice(WR_LIT("host"), WR_LIT("system"));
    const char *tools = wr_sentence_advice(WR_LIT("host"), WR_LIT("tools"));
    const char *message = wr_sentence_advice(WR_LIT("host"), WR_LIT("message 12, tool result"));

    assert_string_not_equal(system, tools);
    assert_string_not_equal(system, message);
    assert_string_not_equal(wr_sentence_advice(WR_LIT("expired"), WR_LIT("a pause of 400 s")),
                            wr_sentence_advice(WR_LIT("provider"), WR_LIT("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_a_sentence),
        cmocka_unit_test(every_form_and_every_step_has_words),
        cmocka_unit_test(advice_depends_on_who_and_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
