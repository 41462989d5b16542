#include "quality/bust.h"

#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/test_transcript.h"
#include "base/span.h"

static const char body[] =
    "{\"model\":\"claude-opus-5\",\"max_tokens\":9,\"tools\":[{\"name\":\"Read\"}],"
    "\"system\":\"You mend.\",\"messages\":["
    "{\"role\":\"user\",\"content\":\"go\"},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Read\","
    "\"input\":{\"file_path\":\"a\"}}]},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":"
    "\"one two three\",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}]}]}";

/* The same with its marker gone, and one message more. */
static const char longer[] =
    "{\"model\":\"claude-opus-5\",\"max_tokens\":9,\"tools\":[{\"name\":\"Read\"}],"
    "\"system\":\"You mend.\",\"messages\":["
    "{\"role\":\"user\",\"content\":\"go\"},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Read\","
    "\"input\":{\"file_path\":\"a\"}}]},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":"
    "\"one two three\"}]},{\"role\":\"assistant\",\"content\":\"Done.\"}],"
    "\"tool_choice\":{\"type\":\"auto\"}}";

struct opened {
    struct test_transcript test;
    struct wr_prompt prompt;
};

static void open_prompt(struct opened *o, const char *text, const struct wr_record *record)
{
    test_transcript_open(&o->test, wr_span_of(text));
    assert_int_equal(wr_prompt_read(&o->prompt, &o->test.arena, &o->test.transcript, record),
                     WEIR_OK);
}

static void blocks_have_places_and_markers_are_none_of_it(void **state)
{
    static const char *const places[] = {"tools", "system", "message 1, text",
                                         "message 2, tool call", "message 3, tool result"};
    struct opened a, b;
    char place[WR_PROMPT_PLACE_BYTES];
    (void)state;
    open_prompt(&a, body, NULL);
    open_prompt(&b, longer, NULL);
    assert_int_equal(a.prompt.blocks_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        wr_prompt_place(&a.prompt.blocks[i], place);
        assert_string_equal(place, places[i]);
    }
    assert_true(a.prompt.has_marker && a.prompt.has_long_marker);
    assert_false(b.prompt.has_marker);
    assert_int_equal(wr_prompt_common_original(&a.prompt, &b.prompt), 5);
    assert_int_equal(wr_prompt_common_sent(&a.prompt, &b.prompt), 5);
    assert_int_equal(wr_prompt_common_messages(&a.prompt, &b.prompt), 3);
    assert_int_equal(wr_prompt_messages(&b.prompt), 4);
    assert_true(a.prompt.first_user && a.prompt.first_user == b.prompt.first_user);
    assert_true(a.prompt.parameters != b.prompt.parameters);
    test_transcript_close(&a.test);
    test_transcript_close(&b.test);
}

static struct wr_record_change change_to(enum wr_form form)
{
    return (struct wr_record_change){
        .segment = 4, .form = form, .handle = "wr_1", .tokens_before = 100, .tokens_after = 40};
}

static void changes_are_in_what_was_sent(void **state)
{
    const struct wr_record_change capped = change_to(WR_FORM_CAPPED),
                                  cleared = change_to(WR_FORM_CLEARED);
    const struct wr_record_insert insert = {.before = 3, .handle = "wr_2", .tokens = 9};
    const struct wr_record cap = {.changes = &capped, .changes_count = 1},
                           clear = {.changes = &cleared, .changes_count = 1},
                           both = {.changes = &capped,
                                   .changes_count = 1,
                                   .inserts = &insert,
                                   .inserts_count = 1};
    struct opened raw, cut, same, other, put_in;
    (void)state;
    open_prompt(&raw, body, NULL);
    open_prompt(&cut, body, &cap);
    open_prompt(&same, longer, &cap);
    open_prompt(&other, body, &clear);
    open_prompt(&put_in, body, &both);
    assert_int_equal(wr_prompt_common_original(&raw.prompt, &cut.prompt), 5);
    assert_int_equal(wr_prompt_common_sent(&raw.prompt, &cut.prompt), 4);
    assert_int_equal(wr_prompt_common_sent(&cut.prompt, &same.prompt), 5);
    assert_int_equal(wr_prompt_common_sent(&cut.prompt, &other.prompt), 4);
    assert_int_equal(wr_prompt_common_sent(&cut.prompt, &put_in.prompt), 3);
    assert_int_equal(cut.prompt.changed_count, 1);
    assert_int_equal(put_in.prompt.changed_count, 2);
    assert_string_equal(cut.prompt.form, "capped");
    assert_null(raw.prompt.form);
    assert_true(cut.prompt.weight < raw.prompt.weight);
    test_transcript_close(&raw.test);
    test_transcript_close(&cut.test);
    test_transcript_close(&same.test);
    test_transcript_close(&other.test);
    test_transcript_close(&put_in.test);
}

static void what_was_taken_back_or_is_not_there_changes_nothing(void **state)
{
    struct wr_record_change changes[] = {change_to(WR_FORM_CAPPED), change_to(WR_FORM_CAPPED)};
    const struct wr_record record = {.changes = changes, .changes_count = 2};
    struct opened raw, o;
    (void)state;
    changes[0].is_rolled_back = true;
    changes[1].segment = 99;
    open_prompt(&raw, body, NULL);
    open_prompt(&o, body, &record);
    assert_int_equal(wr_prompt_common_sent(&raw.prompt, &o.prompt), 5);
    assert_int_equal(o.prompt.changed_count, 0);
    test_transcript_close(&o.test);
    test_transcript_close(&raw.test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_places_and_markers_are_none_of_it),
        cmocka_unit_test(changes_are_in_what_was_sent),
        cmocka_unit_test(what_was_taken_back_or_is_not_there_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
