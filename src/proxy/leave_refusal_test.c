#include "proxy/leave.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static struct wr_remedy judge(const char *text, bool was_changed, bool may_project)
{
    struct wr_refusal refusal;
    struct wr_head head = {.status = 400, .headers_count = 1};
    struct wr_refused refused = {.body = WR_LIT("the body"),
                                 .was_changed = was_changed,
                                 .may_project = may_project,
                                 .was_projected = true,
                                 .tokens_sent = 5000};

    head.headers[0] = (struct wr_header){WR_LIT("request-id"), WR_LIT("r")};
    assert_true(wr_refusal_begin(&refusal, &head));
    assert_true(wr_refusal_add(&refusal, wr_span_of(text)));
    assert_true(wr_span_is(wr_head_find(refusal.head, "Request-Id"), "r"));
    struct wr_remedy remedy = wr_refusal_judge(&refusal, &refused);
    wr_refusal_release(&refusal);
    return remedy;
}

static void refusals_with_a_remedy_are_known(void **state)
{
    static const char bound[] =
        "{\"error\":{\"message\":\"messages.5.content.0: Invalid `signature` "
        "in `thinking` block. The block is bound to a different "
        "conversation.\"}}";
    (void)state;
    struct wr_remedy remedy = judge(bound, true, true);
    assert_string_equal(remedy.reason, "thinking_bound");
    assert_int_equal(remedy.bind, WR_BOUND_RAW);
    assert_true(wr_remedy_fits(&remedy, WR_LIT("another body"), false));
    assert_false(wr_remedy_fits(&remedy, WR_LIT("another body"), true));
    remedy = judge(bound, false, true);
    assert_string_equal(remedy.reason, "thinking_bound");
    assert_int_equal(remedy.bind, WR_BOUND_PROJECTED);
    assert_null(judge(bound, false, false).reason); /* it is to be exact: there is no other */
    remedy = judge("{\"error\":{\"message\":\"prompt is too long: 5000 tokens > 4000 maximum\"}}",
                   false, true);
    assert_string_equal(remedy.reason, "context_overflow");
    assert_int_equal(remedy.overflow_tokens, 4000);
    assert_true(wr_remedy_fits(&remedy, WR_LIT("another body"), true));
    assert_false(wr_remedy_fits(&remedy, WR_LIT("the body"), false));
    assert_null(judge("{\"error\":{\"message\":\"no such tool\"}}", true, true).reason);
    assert_null(judge("", true, true).reason);
}

static void a_long_answer_is_no_refusal(void **state)
{
    static char text[WR_NET_QUEUED_BYTES_MAX];
    struct wr_refusal refusal;
    struct wr_head head = {.status = 400};
    (void)state;
    memset(text, 'x', sizeof(text));
    assert_true(wr_refusal_begin(&refusal, &head));
    assert_true(wr_refusal_add(&refusal, (weir_span){text, sizeof(text)}));
    assert_false(wr_refusal_add(&refusal, WR_LIT("x")));
    wr_refusal_release(&refusal);
    assert_false(refusal.is_held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refusals_with_a_remedy_are_known),
                                       cmocka_unit_test(a_long_answer_is_no_refusal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
