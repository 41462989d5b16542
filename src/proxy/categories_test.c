#include "proxy/categories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"

static const char body[] =
    "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read\","
    "\"description\":\"reads a file of the project and gives it back with line numbers\","
    "\"parameters\":{\"type\":\"object\"}}}],\"messages\":["
    "{\"role\":\"system\",\"content\":\"You are an agent who works in a repository of C code.\"},"
    "{\"role\":\"user\",\"content\":\"Please read the file that has the parser in it.\"},"
    "{\"role\":\"assistant\",\"content\":\"I will.\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
    "\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"a.c\\\"}\"}}]},"
    "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"int main(void) { return 0; } and a "
    "good many more words than all of the rest has, so that results are the largest part of what "
    "is sent here, whatever the estimate says of the other parts of this small prompt.\"}]}";

static int64_t tokens_of(const struct wr_buf *facts, const char *name)
{
    char key[64];
    (void)snprintf(key, sizeof(key), "\"context_%s_tokens\":", name);
    size_t at = wr_span_find(wr_buf_view(facts), wr_span_of(key), 0);
    return at == SIZE_MAX ? 0 : strtoll(facts->bytes + at + strlen(key), NULL, 10);
}

static int64_t sum_of(const struct wr_buf *facts)
{
    int64_t sum = 0;
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        sum += tokens_of(facts, wr_category_name((enum wr_category)i));
    return sum;
}

/* Weighed and remembered, it is the same: so it is asked for three times. */
static void append(const struct weir_projected *projected, bool is_sent, struct wr_buf *facts)
{
    struct weir_request *request;
    struct wr_text_memo *memo;
    wr_buf_init(facts, 4096);
    assert_int_equal(weir_request_new(wr_span_of(body), NULL, &request, NULL), WEIR_OK);
    assert_int_equal(wr_text_memo_new(&memo, 1024 * 1024), WEIR_OK);
    wr_categories_append(request, wr_span_of(body), projected, is_sent, NULL, facts);
    for (int i = 0; i < 2; i++) {
        struct wr_buf again;
        wr_buf_init(&again, 4096);
        wr_categories_append(request, wr_span_of(body), projected, is_sent, memo, &again);
        assert_true(wr_span_eq(wr_buf_view(&again), wr_buf_view(facts)));
        wr_buf_release(&again);
    }
    wr_text_memo_free(memo);
    wr_buf_byte(facts, '\0');
    facts->len--;
    weir_request_free(request);
}

static void the_sum_is_the_engines(void **state)
{
    struct weir_projected projected = {.tokens_before = 1000, .tokens_after = 1000};
    struct wr_buf facts;
    (void)state;

    append(&projected, true, &facts);
    assert_int_equal(sum_of(&facts), 1000);
    assert_true(tokens_of(&facts, "results") > tokens_of(&facts, "system"));
    assert_true(tokens_of(&facts, "system") > 0);
    assert_true(tokens_of(&facts, "tools") > 0);
    assert_true(tokens_of(&facts, "user") > 0);
    assert_true(tokens_of(&facts, "assistant") > 0);
    assert_true(tokens_of(&facts, "calls") > 0);
    assert_int_equal(tokens_of(&facts, "reasoning"), 0);
    wr_buf_release(&facts);
}

static void what_an_edit_took_is_taken_from_its_kind(void **state)
{
    struct weir_projected projected = {.tokens_before = 1000,
                                       .tokens_after = 800,
                                       .is_changed = true,
                                       .report =
                                           WR_LIT("{\"edits\":[{\"i\":5,\"tokens_before\":250,"
                                                  "\"tokens_after\":50}]}")};
    struct wr_buf whole, cut;
    (void)state;

    append(&projected, false, &whole);
    append(&projected, true, &cut);
    assert_int_equal(sum_of(&whole), 1000);
    assert_int_equal(sum_of(&cut), 800);
    assert_int_equal(tokens_of(&whole, "results") - tokens_of(&cut, "results"), 200);
    assert_int_equal(tokens_of(&whole, "system"), tokens_of(&cut, "system"));
    wr_buf_release(&whole);
    wr_buf_release(&cut);
}

/* An image of 40,000 letters is not read as letters. */
static void an_image_is_not_the_text_it_is_sent_as(void **state)
{
    struct weir_projected projected = {.tokens_before = 2000, .tokens_after = 2000};
    struct weir_request *request;
    struct wr_buf image, facts;
    (void)state;

    wr_buf_init(&image, 64 * 1024);
    wr_buf_init(&facts, 4096);
    wr_buf_text(&image, "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":["
                        "{\"type\":\"text\",\"text\":\"");
    for (int i = 0; i < 1600; i++)
        wr_buf_text(&image, "word ");
    wr_buf_text(&image, "\"},{\"type\":\"image_url\",\"image_url\":{\"url\":"
                        "\"data:image/png;base64,");
    for (int i = 0; i < 10000; i++)
        wr_buf_text(&image, "iVBO");
    wr_buf_text(&image, "\"}}]}]}");
    assert_int_equal(weir_request_new(wr_buf_view(&image), NULL, &request, NULL), WEIR_OK);
    wr_categories_append(request, wr_buf_view(&image), &projected, true, NULL, &facts);
    wr_buf_byte(&facts, '\0');
    facts.len--;
    assert_int_equal(sum_of(&facts), 2000);
    assert_true(tokens_of(&facts, "media") > 500 && tokens_of(&facts, "media") < 1500);
    assert_true(tokens_of(&facts, "user") > 500);
    weir_request_free(request);
    wr_buf_release(&image);
    wr_buf_release(&facts);
}

static void a_report_that_is_wrong_breaks_nothing(void **state)
{
    static const char *const reports[] = {
        "",
        "{",
        "{\"edits\":7}",
        "{\"edits\":[{\"i\":-1,\"tokens_before\":9}]}",
        "{\"edits\":[{\"i\":5,\"tokens_before\":900000,\"tokens_after\":-5}]}",
        "{\"edits\":[{\"i\":99999999999,\"tokens_before\":\"x\"},null,[]]}"};
    (void)state;
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
        struct weir_projected projected = {.tokens_before = 1000,
                                           .tokens_after = 500,
                                           .is_changed = true,
                                           .report = wr_span_of(reports[i])};
        struct wr_buf facts;
        append(&projected, true, &facts);
        assert_true(sum_of(&facts) <= 500 && sum_of(&facts) > 480);
        wr_buf_release(&facts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_is_the_engines),
        cmocka_unit_test(what_an_edit_took_is_taken_from_its_kind),
        cmocka_unit_test(an_image_is_not_the_text_it_is_sent_as),
        cmocka_unit_test(a_report_that_is_wrong_breaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
