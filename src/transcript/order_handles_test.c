#include "transcript/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/listing.h"

#define Q "\\u0022"
#define READ_CHAT(id, path)                          \
    "{'role':'assistant','tool_calls':[{'id':'" id   \
    "','type':'function','function':{'name':'Read'," \
    "'arguments':'{" Q "file_path" Q ":" Q path Q "}'}}]}"
#define RESULT_CHAT(id, text) "{'role':'tool','tool_call_id':'" id "','content':'" text "'}"

/* The same read in each dialect: arguments in a string, in a string, as an object. */
static const struct {
    const char *dialect, *body;
} reads[] = {
    {"chat", "{'messages':[" READ_CHAT("c", "/a.c") "," RESULT_CHAT("c", "1\\tx") "]}"},
    {"responses",
     "{'input':[{'type':'function_call','call_id':'c','name':'Read','arguments':'{" Q "file_path" Q
     ":" Q "/a.c" Q "}'},{'type':'function_call_output','call_id':'c','output':'1\\tx'}]}"},
    {"messages",
     "{'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'c','name':'Read','input'"
     ":"
     "{'file_path':'/"
     "a.c'}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c','content':"
     "[{'type':'text','text':'1\\tx'}]}]}]}"},
};

static void a_call_and_its_result_share_their_handles(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(reads); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, reads[i].body, reads[i].dialect, NULL);
        assert_int_equal(r.status, WEIR_OK);
        const struct wr_segment *s = r.transcript.segments;
        assert_int_equal(r.transcript.segments_count, 2);
        assert_non_null(s[0].handles);
        assert_ptr_equal(s[0].handles, s[1].handles);
        assert_int_equal(s[0].handles->kind, WR_EFFECT_READ);
        if (!wr_span_is(s[0].handles->path, "/a.c"))
            fail_msg("%s: path is %.*s", reads[i].dialect, (int)s[0].handles->path.len,
                     s[0].handles->path.ptr);
        wr_listing_release(&r);
    }
}

static void what_has_no_call_has_no_handles(void **state)
{
    struct wr_listing_request r;
    (void)state;
    wr_listing_read(
        &r,
        "{'messages':[{'role':'user','content':'go'}," RESULT_CHAT("x", "orphan") "," READ_CHAT(
            "c", "/a") "," RESULT_CHAT("c", "one") "," RESULT_CHAT("c", "two") "]}",
        "chat", NULL);
    assert_int_equal(r.status, WEIR_OK);
    assert_null(r.transcript.segments[0].handles);
    assert_null(r.transcript.segments[1].handles);
    assert_non_null(r.transcript.segments[3].handles);
    assert_null(r.transcript.segments[4].handles);
    wr_listing_release(&r);
}

/* The protocol's word and the text's word both count. */
static void a_failure_is_told_to_the_handles(void **state)
{
    struct wr_listing_request r;
    (void)state;
    wr_listing_read(
        &r,
        "{'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'c','name':'Bash','"
        "input':"
        "{'command':'make'}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c',"
        "'is_error':true,'content':'Exit code 3\\nx'}]}]}",
        "messages", NULL);
    assert_int_equal(r.status, WEIR_OK);
    const struct wr_tool_handles *h = r.transcript.segments[1].handles;
    assert_true(r.transcript.segments[1].is_error && h->is_error);
    assert_true(h->has_exit_code);
    assert_int_equal(h->exit_code, 3);
    wr_listing_release(&r);
}

static void staleness_is_the_results(void **state)
{
    struct wr_listing_request r;
    (void)state;
    wr_listing_read(
        &r,
        "{'messages':[" READ_CHAT("c", "/a") "," RESULT_CHAT("c", "old") "," READ_CHAT(
            "d", "/b") "," RESULT_CHAT("d", "b") ",{'role':'assistant','tool_calls':[{'id':'e','"
                                                 "type':'function','function':"
                                                 "{'name':'Write','arguments':'{" Q "file_path" Q
                                                 ":" Q "/a" Q "," Q "content" Q ":" Q "n" Q
                                                 "}'}}]}," RESULT_CHAT("e", "written") "]}",
        "chat", NULL);
    assert_int_equal(r.status, WEIR_OK);
    static const enum wr_staleness expected[] = {WR_FRESH, WR_STALE, WR_FRESH,
                                                 WR_FRESH, WR_FRESH, WR_FRESH};
    for (uint32_t i = 0; i < WR_COUNT_OF(expected); i++)
        assert_int_equal(r.transcript.segments[i].staleness, expected[i]);
    wr_listing_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_and_its_result_share_their_handles),
        cmocka_unit_test(what_has_no_call_has_no_handles),
        cmocka_unit_test(a_failure_is_told_to_the_handles),
        cmocka_unit_test(staleness_is_the_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
