#include "mcp/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *text;
    enum wr_mcp_said said;
    const char *shown; /* the error's text, or the reply */
} rows[] = {
    {"a result", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", WR_MCP_SAID_RESULT, ""},
    {"of another request", "{\"id\":8,\"result\":{}}", WR_MCP_SAID_OTHER, ""},
    {"an id that is a string is not ours", "{\"id\":\"7\",\"result\":{}}", WR_MCP_SAID_OTHER, ""},
    {"an error", "{\"id\":7,\"error\":{\"code\":1,\"message\":\"no\"}}", WR_MCP_SAID_ERROR, "no"},
    {"an error without words", "{\"id\":7,\"error\":3}", WR_MCP_SAID_ERROR, "no reason is given"},
    {"a notification", "{\"method\":\"notifications/message\"}", WR_MCP_SAID_OTHER, ""},
    {"a ping", "{\"id\":\"a\",\"method\":\"ping\"}", WR_MCP_SAID_REQUEST,
     "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}"},
    {"a wish", "{\"id\":7,\"method\":\"roots/list\"}", WR_MCP_SAID_REQUEST,
     "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,\"message\":\"Method not "
     "found\"}}"},
    {"no JSON", "Listening ...", WR_MCP_SAID_NOTHING, ""},
    {"no object", "[1]", WR_MCP_SAID_NOTHING, ""},
    {"a member twice", "{\"id\":7,\"id\":8,\"result\":{}}", WR_MCP_SAID_NOTHING, ""},
};

static void messages_are_told_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_mcp_said_message m;
        struct wr_arena arena;
        wr_arena_init(&arena, 1 << 20);
        enum wr_mcp_said said = wr_mcp_read(&m, &arena, wr_span_of(rows[i].text), 7);
        weir_span shown = m.reply.len ? wr_buf_view(&m.reply) : m.text;
        if (said != rows[i].said || !wr_span_is(shown, rows[i].shown))
            fail_msg("%s: %d, %.*s", rows[i].behaviour, (int)said, (int)shown.len, shown.ptr);
        wr_buf_release(&m.reply);
        wr_arena_release(&arena);
    }
}

static const struct {
    const char *behaviour, *result, *text;
    bool is_error;
} contents[] = {
    {"texts, a line each", "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"text\":\"b\"}]}",
     "a\nb", false},
    {"a failure", "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"isError\":true}", "x", true},
    {"data alone", "{\"structuredContent\":{\"n\":1}}", "{\"n\":1}", false},
    {"text of a resource", "{\"content\":[{\"type\":\"resource\",\"resource\":{\"text\":\"r\"}}]}",
     "r", false},
    {"a picture",
     "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"QUJD\"}]}",
     "[image, image/png, 3 bytes: not shown]", false},
    {"nonsense", "{\"content\":[1,null,\"x\",{}]}",
     "[something: not shown]\n[something: not shown]\n[something: not shown]\n[something: not "
     "shown]",
     false},
    {"nothing", "{}", "", false},
};

static void contents_become_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(contents); i++) {
        struct wr_mcp_said_message m;
        struct wr_arena arena;
        struct wr_buf text, out;
        wr_arena_init(&arena, 1 << 20);
        wr_buf_init(&text, 10000);
        wr_buf_init(&out, 10000);
        wr_buf_printf(&text, "{\"id\":1,\"result\":%s}", contents[i].result);
        assert_int_equal(wr_mcp_read(&m, &arena, wr_buf_view(&text), 1), WR_MCP_SAID_RESULT);
        bool is_error = wr_mcp_read_content(&m, &arena, &out);
        if (is_error != contents[i].is_error || !wr_span_is(wr_buf_view(&out), contents[i].text))
            fail_msg("%s: %.*s", contents[i].behaviour, (int)out.len, out.len ? out.bytes : "");
        wr_buf_release(&m.reply);
        wr_buf_release(&text);
        wr_buf_release(&out);
        wr_arena_release(&arena);
    }
}

static bool count_tool(void *user, const struct wr_mcp_listed_tool *tool)
{
    size_t *count = user;
    *count += tool->name.len;
    if (tool->schema.len && !wr_span_is(tool->name, "whole"))
        fail_msg("the schema of '%.*s' is none that an API takes", (int)tool->name.len,
                 tool->name.ptr);
    return true;
}

static void a_list_of_tools_is_read_as_far_as_it_is_one(void **state)
{
    static const char text[] =
        "{\"id\":1,\"result\":{\"tools\":[{\"name\":\"ab\"},{\"name\":5},7,{\"name\":\"c\","
        "\"inputSchema\":[]},{\"name\":\"d\",\"inputSchema\":{\"type\":\"array\"}},{\"name\":\"e\","
        "\"inputSchema\":{}},{\"name\":\"whole\",\"inputSchema\":{\"type\":\"object\"}}],"
        "\"nextCursor\":\"n\"}}";
    struct wr_mcp_said_message m;
    struct wr_arena arena;
    weir_span cursor;
    size_t count = 0;
    (void)state;
    wr_arena_init(&arena, 1 << 20);
    assert_int_equal(wr_mcp_read(&m, &arena, wr_span_of(text), 1), WR_MCP_SAID_RESULT);
    assert_true(wr_mcp_read_tools(&m, &arena, count_tool, &count, &cursor));
    assert_int_equal(count, 10);
    assert_true(wr_span_is(cursor, "n"));
    wr_buf_release(&m.reply);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_told_apart),
        cmocka_unit_test(contents_become_text),
        cmocka_unit_test(a_list_of_tools_is_read_as_far_as_it_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
