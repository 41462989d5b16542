#include "policy/history.h"

#include "tests/test_transcript.h"
#include "base/span.h"

static void histories(void **state)
{
    static const struct {
        const char *behaviour, *body, *expected;
    } cases[] = {
        {"words, a call and its result, each under its own heading",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"make it\\nfaster\"},"
         "{\"role\":\"assistant\",\"content\":\"I look.\",\"tool_calls\":[{\"id\":\"c1\",\"type\":"
         "\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":\"{\\\"command\\\":"
         "\\\"make\\\"}\"}}]},"
         "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"12 ms\"}]}",
         "## user\n\nmake it\nfaster\n\n## assistant\n\nI look.\n\n## assistant calls Bash (c1)\n\n"
         "```\n{\"command\":\"make\"}\n```\n\n## result of Bash (c1)\n\n```\n12 ms\n```\n"},
        {"a fence is longer than any in what it holds",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"tool\",\"tool_call_id\":"
         "\"c1\","
         "\"content\":\"a\\n````\\nb\\n\"}]}",
         "## user\n\nx\n\n## result of a tool (c1)\n\n`````\na\n````\nb\n`````\n"},
        {"arguments that are an object stay as they were written",
         "{\"max_tokens\":1,\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_"
         "use\",\"id\":"
         "\"t\",\"name\":\"Read\",\"input\":{ \"file_path\" : \"a\" "
         "}}]},{\"role\":\"user\",\"content\":[{"
         "\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"text\"}]}]}",
         "## assistant calls Read (t)\n\n```\n{ \"file_path\" : \"a\" }\n```\n\n"
         "## result of Read (t)\n\n```\ntext\n```\n"},
        {"an image is there as it came",
         "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see\"},{"
         "\"type\":"
         "\"image_url\",\"image_url\":{\"url\":\"data:x\"}}]}]}",
         "## user\n\nsee\n\n## user, image\n\n```\n{\"type\":\"image_url\",\"image_url\":{\"url\":"
         "\"data:x\"}}\n```\n"},
        {"a result with an image in it is there as it came",
         "{\"max_tokens\":1,\"messages\":[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_"
         "use\",\"id\":"
         "\"t\",\"name\":\"Read\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_"
         "result\","
         "\"tool_use_id\":\"t\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":"
         "\"image\","
         "\"source\":{}}]}]}]}",
         "## assistant calls Read (t)\n\n```\n{}\n```\n\n## result of Read (t)\n\n```\n[{\"type\":"
         "\"text\",\"text\":\"a\"},{\"type\":\"image\",\"source\":{}}]\n```\n"},
        {"a result without content is there as it came",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"tool\",\"tool_call_id\":"
         "\"c1\"}]}",
         "## user\n\nx\n\n## result of a tool (c1)\n\n```\n"
         "{\"role\":\"tool\",\"tool_call_id\":\"c1\"}\n```\n"},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_transcript test;
        struct wr_buf out;
        uint32_t segments[16];
        test_transcript_open(&test, wr_span_of(cases[i].body));
        for (uint32_t n = 0; n < test.transcript.segments_count; n++)
            segments[n] = n;
        wr_buf_init(&out, 1 << 20);
        assert_int_equal(wr_history_write(&out, &test.arena, &test.transcript, segments,
                                          test.transcript.segments_count),
                         WEIR_OK);
        test_text_is(cases[i].behaviour, wr_buf_view(&out), cases[i].expected);
        wr_buf_release(&out);
        test_transcript_close(&test);
    }
}

static void a_full_buffer_is_a_failure(void **state)
{
    struct test_transcript test;
    struct wr_buf out;
    uint32_t segment = 0;
    (void)state;
    test_transcript_open(&test,
                         WR_LIT("{\"messages\":[{\"role\":\"user\",\"content\":\"0123456789\"}]}"));
    wr_buf_init(&out, 12);
    assert_int_equal(wr_history_write(&out, &test.arena, &test.transcript, &segment, 1),
                     WEIR_LIMIT);
    wr_buf_release(&out);
    test_transcript_close(&test);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories),
        cmocka_unit_test(a_full_buffer_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
