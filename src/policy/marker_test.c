#include "policy/marker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_transcript.h"

/* ---- line ---- */

static void a_marker_that_is_written_is_found(void **state)
{
    struct wr_marker marker = {.way = {.kind = WR_WAY_RECALL, .tool = WR_LIT("weir_recall")},
                               .lines = 3,
                               .tokens = 40,
                               .what = "left out"};
    struct wr_handle found;
    struct wr_buf out;
    (void)state;

    wr_buf_init(&out, 1000);
    assert_int_equal(wr_handle_of(WR_LIT("abc"), &marker.handle), WEIR_OK);
    assert_string_equal(marker.handle.text, "wr_ba7816bf8f01cfea4141");
    wr_buf_text(&out, "head\n");
    wr_marker_write(&out, &marker);
    assert_true(
        wr_span_is(wr_buf_view(&out),
                   "head\n[weir wr_ba7816bf8f01cfea4141: 3 lines, ~40 tokens left out; weir_recall "
                   "{\"handle\":\"wr_ba7816bf8f01cfea4141\"}]"));
    assert_true(wr_marker_find(wr_buf_view(&out), &found));
    assert_string_equal(found.text, marker.handle.text);
    wr_buf_release(&out);
}

static const struct {
    const char *behaviour, *text;
    bool is_marker;
} line_cases[] = {
    {"plain text is none", "hello", false},
    {"it may stand on any line", "a\n[weir wr_0123456789abcdef0123: x]\nb", true},
    {"it begins its line", "a [weir wr_0123456789abcdef0123: x]", false},
    {"its handle has twenty digits", "[weir wr_0123456789abcdef012: x]", false},
    {"of lower case", "[weir wr_0123456789ABCDEF0123: x]", false},
    {"and a colon behind", "[weir wr_0123456789abcdef0123 x]", false},
    {"it ends its line with a bracket", "[weir wr_0123456789abcdef0123: x] y", false},
    {"a second one is found behind a broken first",
     "[weir wr_1: x]\n[weir wr_0123456789abcdef0123: x]", true},
};

static void only_well_formed_markers_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(line_cases); i++)
        if (wr_marker_find(wr_span_of(line_cases[i].text), NULL) != line_cases[i].is_marker)
            fail_msg("%s", line_cases[i].behaviour);
}

static void a_read_way_says_that_it_gives_the_file_as_it_is(void **state)
{
    struct wr_marker marker = {.way = {.kind = WR_WAY_READ,
                                       .tool = WR_LIT("Read"),
                                       .path = WR_LIT("a\"b.c"),
                                       .start_line = 1,
                                       .end_line = 20},
                               .tokens = 7,
                               .what = "left out"};
    struct wr_buf out;
    (void)state;
    wr_buf_init(&out, 1000);
    assert_int_equal(wr_handle_of(WR_LIT("abc"), &marker.handle), WEIR_OK);
    wr_marker_write(&out, &marker);
    assert_true(
        wr_span_find(
            wr_buf_view(&out),
            WR_LIT("Read {\"path\":\"a\\\"b.c\",\"lines\":\"1-20\"} shows the file as it is now]"),
            0) != SIZE_MAX);
    wr_buf_release(&out);
}

static void only_a_known_range_is_named(void **state)
{
    static const struct {
        int64_t start_line, end_line;
        bool is_named;
    } ranges[] = {{0, 0, false}, {0, 20, false}, {-20, -1, false}, {5, 4, false}, {5, 5, true}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(ranges); i++) {
        struct wr_marker marker = {.way = {.kind = WR_WAY_READ,
                                           .tool = WR_LIT("Read"),
                                           .path = WR_LIT("a.c"),
                                           .start_line = ranges[i].start_line,
                                           .end_line = ranges[i].end_line},
                                   .what = "left out"};
        struct wr_buf out;
        wr_buf_init(&out, 1000);
        wr_marker_write(&out, &marker);
        bool is_named = wr_span_find(wr_buf_view(&out), WR_LIT("\"lines\""), 0) != SIZE_MAX;
        if (is_named != ranges[i].is_named)
            fail_msg("range %zu: %.*s", i, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

/* ---- ways ---- */

static const struct {
    const char *behaviour, *body, *recall, *names;
} ways_cases[] = {
    {"no tools, no way",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"max_completion_tokens\":1}", "", ""},
    {"chat: under function",
     "{\"messages\":[],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}]"
     "}",
     "weir_recall", "weir_recall "},
    {"chat: a custom tool",
     "{\"messages\":[],\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"patch\"}}]}", "",
     "patch "},
    {"messages: under name, as a server spells it",
     "{\"messages\":[],\"tools\":[{\"name\":\"mcp__weir__weir_recall\",\"input_schema\":{"
     "\"properties\":{\"name\":"
     "{\"type\":\"string\"}}}}]}",
     "mcp__weir__weir_recall", "mcp__weir__weir_recall "},
    {"responses: under name",
     "{\"input\":[],\"tools\":[{\"type\":\"function\",\"name\":\"weir.weir_recall\"}]}",
     "weir.weir_recall", "weir.weir_recall "},
    {"responses: in an additional_tools item",
     "{\"input\":[{\"type\":\"additional_tools\",\"tools\":[{\"type\":\"function\",\"name\":\"weir_"
     "recall\"}]}]}",
     "weir_recall", "weir_recall "},
    {"responses: deferred in an additional_tools item",
     "{\"input\":[{\"type\":\"additional_tools\",\"tools\":[{\"type\":\"function\",\"name\":\"weir_"
     "_"
     "weir_recall\",\"defer_loading\":true}]}]}",
     "weir__weir_recall", "weir__weir_recall "},
    {"Claude Code, deferred",
     "{\"messages\":[],\"tools\":[{\"name\":\"Bash\"},{\"name\":\"mcp__weir__weir_recall\",\"defer_"
     "loading\":true}]}",
     "mcp__weir__weir_recall", "Bash mcp__weir__weir_recall "},
    {"Codex: in a namespace, as a call spells it",
     "{\"input\":[],\"tools\":[{\"type\":\"namespace\",\"name\":\"mcp__weir__\",\"tools\":[{"
     "\"type\":"
     "\"function\",\"name\":\"weir_recall\",\"defer_loading\":true}]}]}",
     "mcp__weir__weir_recall", "mcp__weir__ mcp__weir__weir_recall "},
    {"Codex: a namespace without a separator at its end",
     "{\"input\":[],\"tools\":[{\"type\":\"namespace\",\"name\":\"mcp__weir\",\"tools\":[{\"type\":"
     "\"function\",\"name\":\"weir_recall\"}]}]}",
     "mcp__weir__weir_recall", "mcp__weir mcp__weir__weir_recall "},
    {"Codex: flat",
     "{\"input\":[],\"tools\":[{\"type\":\"function\",\"name\":\"weir__weir_recall\"}]}",
     "weir__weir_recall", "weir__weir_recall "},
    {"opencode, with one line between",
     "{\"messages\":[],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_weir_"
     "recall\"}}]"
     "}",
     "weir_weir_recall", "weir_weir_recall "},
    {"gemini-cli, behind a chat API",
     "{\"messages\":[],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"mcp_weir_weir_"
     "recall\"}}]}",
     "mcp_weir_weir_recall", "mcp_weir_weir_recall "},
    {"pi and OpenHands, by its own name",
     "{\"messages\":[],\"tools\":[{\"name\":\"read\"},{\"name\":\"weir_recall\"}]}", "weir_recall",
     "read weir_recall "},
    {"the first of two spellings",
     "{\"messages\":[],\"tools\":[{\"name\":\"weir_recall\"},{\"name\":\"mcp__weir__weir_recall\"}]"
     "}",
     "weir_recall", "weir_recall mcp__weir__weir_recall "},
    {"a schema that looks like it does not count",
     "{\"messages\":[],\"tools\":[{\"name\":\"other\",\"input_schema\":{\"title\":\"weir_recall\"}}"
     "]}",
     "", "other "},
};

static void the_tools_a_request_offers_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(ways_cases); i++) {
        struct test_transcript test;
        struct wr_ways ways;
        struct wr_buf names;
        test_transcript_open(&test, wr_span_of(ways_cases[i].body));
        assert_int_equal(wr_ways_read(&ways, &test.arena, &test.transcript), WEIR_OK);
        test_text_is(ways_cases[i].behaviour, ways.recall, ways_cases[i].recall);
        wr_buf_init(&names, 1000);
        for (uint32_t n = 0; n < ways.tools_count; n++) {
            wr_buf_append(&names, ways.tools[n]);
            wr_buf_byte(&names, ' ');
        }
        test_text_is(ways_cases[i].behaviour, wr_buf_view(&names), ways_cases[i].names);
        wr_buf_release(&names);
        test_transcript_close(&test);
    }
}

static void own_tools_are_weighed(void **state)
{
    static const struct {
        const char *behaviour, *body;
        size_t own_bytes;
    } rows[] = {
        {"a tool of the client is none of ours",
         "{\"messages\":[],\"tools\":[{\"name\":\"Read\"}]}", 0},
        {"both of ours",
         "{\"messages\":[],\"tools\":[{\"name\":\"weir_recall\"},{\"name\":\"Read\"},"
         "{\"name\":\"mcp__weir__weir_context\"}]}",
         sizeof("{\"name\":\"weir_recall\"}{\"name\":\"mcp__weir__weir_context\"}") - 1},
        {"one that is deferred takes no room",
         "{\"messages\":[],\"tools\":[{\"name\":\"weir_recall\",\"defer_loading\":true}]}", 0},
        {"inside a namespace",
         "{\"input\":[],\"tools\":[{\"type\":\"namespace\",\"name\":\"mcp__weir\",\"tools\":["
         "{\"type\":\"function\",\"name\":\"weir_recall\"}]}]}",
         sizeof("{\"type\":\"function\",\"name\":\"weir_recall\"}") - 1},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct test_transcript t;
        struct wr_ways ways;
        test_transcript_open(&t, wr_span_of(rows[i].body));
        assert_int_equal(wr_ways_read(&ways, &t.arena, &t.transcript), WEIR_OK);
        if (ways.own_bytes != rows[i].own_bytes)
            fail_msg("%s: %zu bytes", rows[i].behaviour, ways.own_bytes);
        test_transcript_close(&t);
    }
}

/* ---- segments ---- */

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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_known_range_is_named),
        cmocka_unit_test(a_marker_that_is_written_is_found),
        cmocka_unit_test(only_well_formed_markers_count),
        cmocka_unit_test(a_read_way_says_that_it_gives_the_file_as_it_is),
        cmocka_unit_test(the_tools_a_request_offers_are_found),
        cmocka_unit_test(own_tools_are_weighed),
        cmocka_unit_test(histories),
        cmocka_unit_test(a_full_buffer_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
