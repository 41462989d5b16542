#include "policy/marker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/test_transcript.h"
#include "base/span.h"

static const struct {
    const char *behaviour, *body, *recall, *names;
} cases[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_transcript test;
        struct wr_ways ways;
        struct wr_buf names;
        test_transcript_open(&test, wr_span_of(cases[i].body));
        assert_int_equal(wr_ways_read(&ways, &test.arena, &test.transcript), WEIR_OK);
        test_text_is(cases[i].behaviour, ways.recall, cases[i].recall);
        wr_buf_init(&names, 1000);
        for (uint32_t n = 0; n < ways.tools_count; n++) {
            wr_buf_append(&names, ways.tools[n]);
            wr_buf_byte(&names, ' ');
        }
        test_text_is(cases[i].behaviour, wr_buf_view(&names), cases[i].names);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_tools_a_request_offers_are_found),
                                       cmocka_unit_test(own_tools_are_weighed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
