#include "engine/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static const char body[] =
    "{\"model\":\"m\\/1\",\"messages\":[{\"role\":\"user\",\"content\":\"read it\"},"
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
    "\"function\":"
    "{\"name\":\"Read\",\"arguments\":\"{\\\"file_path\\\":\\\"/"
    "a.c\\\",\\\"offset\\\":5,\\\"limit\\\":2}\"}}]},"
    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":[{\"type\":\"text\",\"text\":\"5\\tx\"}"
    ","
    "{\"type\":\"text\",\"text\":\"6\\ty\"}]}]}";

static struct weir_request *read_body(const char *text)
{
    struct weir_request *request;
    struct weir_err err;
    if (weir_request_new(wr_span_of(text), NULL, &request, &err))
        fail_msg("%s, byte %zu", err.text, err.at_byte);
    return request;
}

static void assert_bytes(weir_range range, const char *expected)
{
    weir_span bytes = wr_span_cut(wr_span_of(body), range.start, range.end);
    if (!wr_span_is(bytes, expected))
        fail_msg("bytes %u to %u are %.*s, should be %s", range.start, range.end, (int)bytes.len,
                 bytes.ptr, expected);
}

static void a_request_tells_what_it_is(void **state)
{
    struct weir_request *r = read_body(body);
    (void)state;
    assert_int_equal(weir_request_dialect(r), WEIR_DIALECT_CHAT);
    assert_true(wr_span_is(weir_request_model(r), "m/1"));
    assert_int_equal(weir_request_turns(r), 2);
    assert_int_equal(weir_request_loops(r), 1);
    assert_int_equal(weir_request_segments(r), 3);
    assert_false(weir_request_is_delta(r));
    weir_request_free(r);
    weir_request_free(NULL);

    r = read_body("{\"previous_response_id\":\"resp_1\",\"input\":\"go\"}");
    assert_true(weir_request_is_delta(r));
    assert_int_equal(weir_request_dialect(r), WEIR_DIALECT_RESPONSES);
    weir_request_free(r);
}

static void a_view_shows_a_segment(void **state)
{
    struct weir_request *r = read_body(body);
    struct weir_segment s;
    (void)state;

    assert_int_equal(weir_request_segment(r, 0, &s), WEIR_OK);
    assert_int_equal(s.pair, WEIR_NONE);
    assert_int_equal(s.group, WEIR_NONE);
    assert_int_equal(s.why_other, WEIR_NONE);
    assert_int_equal(s.parts_count, 1);
    assert_bytes(s.span, "read it");
    assert_bytes(s.parts[0], "read it");
    assert_null(s.handles.effect);
    assert_int_equal(s.handles.offset, -1);
    assert_int_equal(s.handles.total_lines, -1);
    assert_string_equal(s.stale, "no");

    assert_int_equal(weir_request_segment(r, 1, &s), WEIR_OK);
    assert_int_equal(s.kind, WEIR_KIND_TOOL_CALL);
    assert_int_equal(s.parts_count, 0);
    assert_true(wr_span_is(s.tool, "Read") && wr_span_is(s.call_id, "c1"));
    assert_bytes(s.span, "{\\\"file_path\\\":\\\"/a.c\\\",\\\"offset\\\":5,\\\"limit\\\":2}");

    assert_int_equal(weir_request_segment(r, 2, &s), WEIR_OK);
    assert_int_equal(s.index, 2);
    assert_int_equal(s.pair, 1);
    assert_int_equal(s.group, 1);
    assert_int_equal(s.turn, 1);
    assert_int_equal(s.parts_count, 2);
    assert_bytes(s.parts[0], "5\\tx");
    assert_bytes(s.parts[1], "6\\ty");
    assert_string_equal(s.handles.effect, "read");
    assert_true(wr_span_is(s.handles.path, "/a.c"));
    assert_int_equal(s.handles.offset, 5);
    assert_int_equal(s.handles.limit, 2);
    assert_string_equal(s.handles.truncated, "none");

    assert_int_equal(weir_request_segment(r, 3, &s), WEIR_NOTFOUND);
    weir_request_free(r);
}

static void a_text_is_unescaped_and_joined(void **state)
{
    struct weir_request *r = read_body(body);
    weir_span text;
    (void)state;
    assert_int_equal(weir_request_text(r, 2, &text), WEIR_OK);
    assert_true(wr_span_is(text, "5\tx\n6\ty"));
    assert_int_equal(weir_request_text(r, 1, &text), WEIR_OK);
    assert_true(wr_span_is(text, "{\"file_path\":\"/a.c\",\"offset\":5,\"limit\":2}"));
    assert_int_equal(weir_request_text(r, 3, &text), WEIR_NOTFOUND);
    weir_request_free(r);
}

static void without_an_edit_the_bytes_are_the_same(void **state)
{
    struct weir_request *r = read_body(body);
    struct weir_write_report report;
    weir_span out;
    (void)state;
    assert_int_equal(weir_request_write(r, &out, &report, NULL), WEIR_OK);
    assert_true(wr_span_is(out, body));
    assert_int_equal(report.rolled_back_count, 0);
    assert_int_equal(report.first_segment, WEIR_NONE);
    assert_null(report.first_reason);
    weir_request_free(r);
}

static void an_edit_changes_its_segment_only(void **state)
{
    struct weir_request *r = read_body(body);
    char text[] = "say \"hi\"";
    weir_span out;
    (void)state;
    assert_int_equal(weir_request_edit(r, 2, wr_span_of(text), NULL), WEIR_OK);
    memset(text, '?', sizeof(text) - 1); /* what was handed in was borrowed for the call only */
    assert_int_equal(weir_request_write(r, &out, NULL, NULL), WEIR_OK);

    weir_span input = wr_span_of(body);
    size_t at = wr_span_find(input, WR_LIT("5\\tx"), 0);
    assert_true(wr_span_starts(out, wr_span_cut(input, 0, at)));
    assert_true(wr_span_ends(out, WR_LIT("\"text\":\"say \\\"hi\\\"\"}]}]}")));
    assert_int_equal(weir_request_write(r, &out, NULL, NULL), WEIR_OK); /* again: the same */
    assert_true(wr_span_ends(out, WR_LIT("\"text\":\"say \\\"hi\\\"\"}]}]}")));
    weir_request_free(r);
}

static void what_may_not_be_edited_is_refused(void **state)
{
    static const struct {
        uint32_t segment;
        const char *says;
    } rows[] = {{1, "no text that may be edited"}, {3, "no segment 3"}, {UINT32_MAX, "no segment"}};
    struct weir_request *r = read_body(body);
    weir_span out;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_err err;
        assert_int_equal(weir_request_edit(r, rows[i].segment, WR_LIT("x"), &err), WEIR_INVALID);
        assert_non_null(strstr(err.text, rows[i].says));
    }
    assert_int_equal(weir_request_drop(r, 3, NULL), WEIR_INVALID);
    assert_int_equal(weir_request_write(r, &out, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(out, body));
    weir_request_free(r);
}

static void dropping_a_result_drops_its_group(void **state)
{
    struct weir_request *r = read_body(body);
    weir_span out;
    (void)state;
    assert_int_equal(weir_request_drop(r, 2, NULL), WEIR_OK);
    assert_int_equal(weir_request_write(r, &out, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(
        out, "{\"model\":\"m\\/1\",\"messages\":[{\"role\":\"user\",\"content\":\"read it\"}]}"));
    weir_request_free(r);
}

static void what_cannot_be_read_is_told(void **state)
{
    static const struct {
        const char *text;
        const char *dialect;
        weir_status status;
        size_t at_byte;
    } rows[] = {
        {"{\"messages\":[}", NULL, WEIR_SYNTAX, 13},
        {"", NULL, WEIR_SYNTAX, 0},
        {"[]", NULL, WEIR_INVALID, 0},
        {"{\"messages\":[]}", "latin", WEIR_INVALID, 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_request_options options = {.dialect = rows[i].dialect};
        struct weir_request *r = (struct weir_request *)&options;
        struct weir_err err;
        assert_int_equal(weir_request_new(wr_span_of(rows[i].text), &options, &r, &err),
                         rows[i].status);
        assert_null(r);
        assert_int_equal(err.at_byte, rows[i].at_byte);
        assert_int_equal(err.code, rows[i].status);
        assert_true(err.text[0]);
        assert_int_equal(weir_request_new(wr_span_of(rows[i].text), &options, &r, NULL),
                         rows[i].status);
    }
}

static void a_path_names_the_dialect(void **state)
{
    struct weir_request_options options = {.path = "/v1/messages?beta=true"};
    struct weir_request *r;
    (void)state;
    assert_int_equal(weir_request_new(WR_LIT("{\"messages\":[]}"), &options, &r, NULL), WEIR_OK);
    assert_int_equal(weir_request_dialect(r), WEIR_DIALECT_MESSAGES);
    assert_int_equal(weir_request_segments(r), 0);
    assert_int_equal(weir_request_turns(r), 0);
    weir_request_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_tells_what_it_is),
        cmocka_unit_test(a_view_shows_a_segment),
        cmocka_unit_test(a_text_is_unescaped_and_joined),
        cmocka_unit_test(without_an_edit_the_bytes_are_the_same),
        cmocka_unit_test(an_edit_changes_its_segment_only),
        cmocka_unit_test(what_may_not_be_edited_is_refused),
        cmocka_unit_test(dropping_a_result_drops_its_group),
        cmocka_unit_test(what_cannot_be_read_is_told),
        cmocka_unit_test(a_path_names_the_dialect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
