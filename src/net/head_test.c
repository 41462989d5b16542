#include "net/head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const char lines[] = "HTTP/1.1 207 Multi Status\r\nContent-Type: a\r\nX-Hop: 1\r\n"
                            "Connection: close, x-hop\r\nTransfer-Encoding: chunked\r\nX-A:\r\n"
                            "content-length: 12\r\nX-Weir-Mode: y\r\n\r\n";

static void an_answer_is_read(void **state)
{
    struct wr_head head;
    (void)state;
    assert_true(wr_answer_head_read(wr_span_of(lines), &head));
    assert_int_equal(head.status, 207);
    assert_true(wr_span_is(head.target, "Multi Status"));
    assert_int_equal(head.content_bytes, -1); /* chunks say where it ends, not a length */
    assert_true(wr_span_is(wr_head_find(&head, "CONTENT-TYPE"), "a"));
    assert_null(wr_head_find(&head, "x-b").ptr);
    assert_int_equal(wr_head_find(&head, "x-a").len, 0);
    assert_int_equal(head.headers_count, 7);
    assert_true(
        wr_answer_head_read(WR_LIT("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n"), &head));
    assert_int_equal(head.content_bytes, 12);
}

static void hops_are_known(void **state)
{
    static const bool expected[] = {false, true, true, true, false, false, false};
    struct wr_head head;
    (void)state;
    assert_true(wr_answer_head_read(wr_span_of(lines), &head));
    for (size_t i = 0; i < head.headers_count; i++)
        if (wr_head_is_hop(&head, &head.headers[i]) != expected[i])
            fail_msg("%.*s", (int)head.headers[i].name.len, head.headers[i].name.ptr);
    assert_true(wr_header_starts(&head.headers[6], "x-weir-"));
}

static void what_is_no_head_is_refused(void **state)
{
    static const char *const cases[] = {"", "HTTP/1.1", "HTTP/1.1 2", "ICY 200 OK\r\n\r\n",
                                        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"};
    struct wr_head head;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_answer_head_read(wr_span_of(cases[i]), &head))
            fail_msg("'%s'", cases[i]);
    assert_true(wr_answer_head_read(WR_LIT("HTTP/2 200\r\n\r\n"), &head));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_answer_is_read),
                                       cmocka_unit_test(hops_are_known),
                                       cmocka_unit_test(what_is_no_head_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
