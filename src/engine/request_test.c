/* Changing and writing by the public interface; request_view_test.c is about looking. */
#include "weir/weir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"
#include "engine/request.h"

enum { BYTES_MAX = 256 << 20, MANY = 100 * 1000 };

#define MODEL_AND_RESULT(blocks)                                                              \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"u\"},"                   \
    "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"n\"}}]}," \
    "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[" blocks "]}]}"
#define TEXT(t)        "{\"type\":\"text\",\"text\":\"" t "\"}"
#define BODY           MODEL_AND_RESULT(TEXT("one\\n") "," TEXT("two"))
#define BODY_EDITED(t) MODEL_AND_RESULT(TEXT(t))

static struct weir_request *read_body(weir_span body)
{
    struct weir_request *request;
    struct weir_err err = {0};
    if (weir_request_new(body, NULL, &request, &err))
        fail_msg("%s at byte %zu", err.text, err.at_byte);
    return request;
}

static const struct {
    const char *behaviour, *body, *dialect;
    weir_status status;
    const char *text;
} refused[] = {
    {"nothing is no request", "", NULL, WEIR_SYNTAX, ""},
    {"half a body is no request", "{\"messages\":[", NULL, WEIR_SYNTAX, ""},
    {"a list is no request", "[]", NULL, WEIR_INVALID, "JSON object"},
    {"an empty object is no request", "{}", NULL, WEIR_INVALID, "no `messages`"},
    {"messages must be a list", "{\"messages\":{}}", "chat", WEIR_INVALID, "must be an array"},
    {"a dialect must be one of ours", "{\"messages\":[]}", "hermes", WEIR_INVALID, "no dialect"},
};

static void wrong_bodies_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(refused); i++) {
        struct weir_request_options options = {.dialect = refused[i].dialect};
        struct weir_request *request = NULL;
        struct weir_err err = {0};
        weir_span body = wr_span_of(refused[i].body);
        weir_status status = weir_request_new(body, &options, &request, &err);
        if (status != refused[i].status || request || err.code != status ||
            !strstr(err.text, refused[i].text))
            fail_msg("not so: %s: %s", refused[i].behaviour, err.text);
        assert_int_equal(weir_request_new(body, &options, &request, NULL), status);
    }
    weir_request_free(NULL);
}

static void no_edit_gives_the_very_bytes(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    struct weir_write_report report;
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_write(request, &body, &report, NULL), WEIR_OK);
    assert_true(wr_span_is(body, BODY));
    assert_int_equal(report.rolled_back_count, 0);
    assert_int_equal(report.first_segment, WEIR_NONE);
    assert_null(report.first_reason);
    weir_request_free(request);
}

static void edits_are_copied_and_written(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    char mine[] = "short";
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_edit(request, 2, wr_span_of(mine), NULL), WEIR_OK);
    memset(mine, 'x', sizeof(mine) - 1);
    assert_int_equal(weir_request_write(request, &body, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(body, BODY_EDITED("short")));
    weir_request_free(request);
}

static void what_was_written_can_be_taken_out(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    struct wr_buf taken, nothing;
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_edit(request, 2, WR_LIT("short"), NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &body, NULL, NULL), WEIR_OK);
    assert_true(wr_request_take_output(request, body, &taken));
    assert_false(wr_request_take_output(request, body, &nothing)); /* it has gone */
    assert_false(wr_request_take_output(request, wr_span_of(BODY), &nothing));
    weir_request_free(request);
    assert_true(wr_span_is(wr_buf_view(&taken), BODY_EDITED("short")));
    wr_buf_release(&taken);
}

static void what_cannot_be_edited_is_refused(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    struct weir_err err = {0};
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_edit(request, 1, WR_LIT("x"), &err), WEIR_INVALID);
    assert_int_equal(weir_request_edit(request, 7, WR_LIT("x"), &err), WEIR_INVALID);
    assert_int_equal(weir_request_edit(request, 2, WR_LIT("ab\xFF"), &err), WEIR_INVALID);
    assert_non_null(strstr(err.text, "not UTF-8 from its byte 2 on"));
    assert_int_equal(weir_request_drop(request, 7, &err), WEIR_INVALID);
    assert_int_equal(weir_request_edit(request, 2, WR_LIT("x"), NULL), WEIR_OK);
    assert_int_equal(weir_request_drop(request, 1, NULL), WEIR_INVALID);
    assert_int_equal(weir_request_write(request, &body, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(body, BODY_EDITED("x")));
    weir_request_free(request);
}

/* A refused edit costs nothing but itself; corrected, the request can be written again. What was
 * written before lives on. */
static void a_request_is_written_again(void **state)
{
    struct weir_request *request = read_body(wr_span_of(BODY));
    struct weir_write_report report;
    weir_span first, second, third;
    (void)state;

    assert_int_equal(weir_request_edit(request, 2, WR_LIT(""), NULL), WEIR_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(weir_request_write(request, &first, &report, NULL), WEIR_OK);
        assert_true(wr_span_is(first, BODY));
        assert_int_equal(report.rolled_back_count, 1);
        assert_false(report.is_fallback);
        assert_int_equal(report.first_segment, 2);
        assert_string_equal(report.first_reason, "its text became empty");
    }
    assert_int_equal(weir_request_edit(request, 2, WR_LIT("x"), NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &second, &report, NULL), WEIR_OK);
    assert_null(report.first_reason);
    assert_int_equal(weir_request_edit(request, 0, WR_LIT("another text of the user"), NULL),
                     WEIR_OK);
    assert_int_equal(weir_request_write(request, &third, NULL, NULL), WEIR_OK);
    assert_true(wr_span_is(first, BODY));
    assert_true(wr_span_is(second, BODY_EDITED("x")));
    assert_int_equal(third.len, second.len + strlen("another text of the user") - 1);
    weir_request_free(request);
}

static void a_structure_that_would_be_wrong_falls_back(void **state)
{
    static const char one[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"}]}";
    struct weir_request *request = read_body(wr_span_of(one));
    struct weir_write_report report;
    weir_span body;
    (void)state;

    assert_int_equal(weir_request_drop(request, 0, NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &body, &report, NULL), WEIR_OK);
    assert_true(report.is_fallback);
    assert_int_equal(report.rolled_back_count, 1);
    assert_int_equal(report.first_segment, WEIR_NONE);
    assert_string_equal(report.first_reason, "no message is left");
    assert_true(wr_span_is(body, one));
    weir_request_free(request);
}

/* ---- size: what grows with the square of a request would be seen here by the time it takes ----
 */

static void put_many(struct wr_buf *out, const char *first, const char *before_number,
                     const char *after_number, const char *last)
{
    wr_buf_init(out, BYTES_MAX);
    wr_buf_text(out, first);
    for (int i = 0; i < MANY; i++)
        wr_buf_printf(out, "%s%s%d%s", i ? "," : "", before_number, i, after_number);
    wr_buf_text(out, last);
    assert_int_equal(wr_buf_status(out), WEIR_OK);
}

static void many_groups_are_edited_and_dropped(void **state)
{
    struct wr_buf body;
    struct weir_write_report report;
    weir_span written;
    (void)state;

    /* Every result answers the only call that is open, so that one id does for all. */
    put_many(&body, "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},",
             "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"",
             "\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"result\"}", "]}");
    struct weir_request *request = read_body(wr_buf_view(&body));
    assert_int_equal(weir_request_segments(request), 1 + 2 * MANY);
    for (uint32_t i = 1; i < 2 * MANY; i += 4) {
        assert_int_equal(weir_request_drop(request, i, NULL), WEIR_OK);
        assert_int_equal(weir_request_edit(request, i + 3, WR_LIT("x"), NULL), WEIR_OK);
    }
    assert_int_equal(weir_request_write(request, &written, &report, NULL), WEIR_OK);
    assert_null(report.first_reason);
    struct weir_request *again = read_body(written);
    assert_int_equal(weir_request_segments(again), 1 + MANY);
    weir_request_free(again);
    weir_request_free(request);
    wr_buf_release(&body);
}

static void many_marked_blocks_are_dropped(void **state)
{
    struct wr_buf body;
    struct weir_write_report report;
    weir_span written;
    (void)state;

    put_many(&body,
             "{\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":[" TEXT("u") ",",
             "{\"type\":\"text\",\"text\":\"", "\",\"cache_control\":{}}", "]}]}");
    struct weir_request *request = read_body(wr_buf_view(&body));
    for (uint32_t i = 2; i < 2 + MANY; i++)
        assert_int_equal(weir_request_drop(request, i, NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &written, &report, NULL), WEIR_OK);
    assert_null(report.first_reason);
    assert_true(wr_span_is(written,
                           "{\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":["
                           "{\"type\":\"text\",\"text\":\"u\",\"cache_control\":{}}]}]}"));
    weir_request_free(request);
    wr_buf_release(&body);
}

static void a_result_of_many_parts_is_edited(void **state)
{
    struct wr_buf body;
    weir_span written;
    (void)state;

    put_many(
        &body,
        "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[",
        "{\"type\":\"text\",\"text\":\"", "\"}", "]}]}");
    struct weir_request *request = read_body(wr_buf_view(&body));
    assert_int_equal(weir_request_edit(request, 1, WR_LIT("x"), NULL), WEIR_OK);
    assert_int_equal(weir_request_write(request, &written, NULL, NULL), WEIR_OK);
    assert_true(wr_span_ends(written, WR_LIT("\"content\":[" TEXT("x") "]}]}")));
    weir_request_free(request);
    wr_buf_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_bodies_are_refused),
        cmocka_unit_test(no_edit_gives_the_very_bytes),
        cmocka_unit_test(edits_are_copied_and_written),
        cmocka_unit_test(what_was_written_can_be_taken_out),
        cmocka_unit_test(what_cannot_be_edited_is_refused),
        cmocka_unit_test(a_request_is_written_again),
        cmocka_unit_test(a_structure_that_would_be_wrong_falls_back),
        cmocka_unit_test(many_groups_are_edited_and_dropped),
        cmocka_unit_test(many_marked_blocks_are_dropped),
        cmocka_unit_test(a_result_of_many_parts_is_edited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
