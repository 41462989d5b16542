#include "proxy/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *report, *prefix, *facts;
} cases[] = {
    {"figures and words are taken", "{\"n\":7,\"word\":\"low\",\"is\":true,\"no\":null}", "",
     ",\"n\":7,\"word\":\"low\",\"is\":true,\"no\":null"},
    {"under another name in shadow", "{\"n\":7}", "shadow_", ",\"shadow_n\":7"},
    {"short lists and tables too", "{\"why\":[\"a\",\"b\"],\"by\":{\"x\":1}}", "",
     ",\"why\":[\"a\",\"b\"],\"by\":{\"x\":1}"},
    {"nested ones are not", "{\"deep\":[[1]],\"more\":{\"x\":{}},\"n\":1}", "", ",\"n\":1"},
    {"nor what has a place of its own",
     "{\"tokens_before\":1,\"tokens_after\":1,\"step\":{\"a\":1},\"held_back\":\"x\","
     "\"body_bytes_before\":3,\"body_bytes_after\":3,\"body_bytes_saved\":3,"
     "\"rewrite_ratio_percent\":4,\"n\":1}",
     "", ",\"n\":1"},
    {"a shadow's sizes have no other place", "{\"body_bytes_after\":3}", "shadow_",
     ",\"shadow_body_bytes_after\":3"},
    {"what is behind the lists is not read", "{\"n\":1,\"edits\":[{\"i\":1}],\"m\":2}", "",
     ",\"n\":1"},
    {"nor from the first list on", "{\"n\":1,\"inserts\":[],\"edits\":[]}", "", ",\"n\":1"},
    {"a report that is none", "{\"n\":", "", ""},
    {"nothing", "", "", ""},
};

static void reports_become_members(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 4096);
        wr_facts_from_report(wr_span_of(cases[i].report), cases[i].prefix, &out);
        if (!wr_span_is(wr_buf_view(&out), cases[i].facts))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)out.len, out.len ? out.bytes : "");
        wr_buf_release(&out);
    }
}

static void what_is_long_is_not_taken(void **state)
{
    struct wr_buf report, out;
    (void)state;

    wr_buf_init(&report, 64 * 1024);
    wr_buf_init(&out, 64 * 1024);
    wr_buf_text(&report, "{\"list\":[");
    for (int i = 0; i < 1000; i++)
        wr_buf_printf(&report, "%s%d", i ? "," : "", i);
    wr_buf_text(&report, "],\"word\":\"");
    for (int i = 0; i < 1000; i++)
        wr_buf_byte(&report, 'x');
    wr_buf_text(&report, "\",\"n\":1}");
    wr_facts_from_report(wr_buf_view(&report), "", &out);
    assert_true(wr_span_is(wr_buf_view(&out), ",\"n\":1"));
    wr_buf_release(&report);
    wr_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reports_become_members),
                                       cmocka_unit_test(what_is_long_is_not_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
