#include "mcp/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"

/* Quotes are written as apostrophes. */
#define META                                                           \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'," \
    "'io.modelcontextprotocol/clientCapabilities':{}}"
#define ASK(id, method, params) \
    "{'jsonrpc':'2.0','id':" id ",'method':'" method "','params':{" params "}}"
#define FAILS(id, code) "{'jsonrpc':'2.0','id':" id ",'error':{'code':" code ",'message':"
#define INFO            "'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'weir','version':'"
#define VERSIONS        "['2026-07-28','2025-11-25','2025-06-18','2025-03-26','2024-11-05']"

enum peer { NEW, OLD }; /* nothing came before, or initialize */

static const struct {
    const char *behaviour;
    enum peer peer;
    const char *message, *begins, *holds; /* NULL: no answer */
} cases[] = {
    /* JSON-RPC */
    {"no JSON", NEW, "{'jsonrpc'", FAILS("null", "-32700"), ""},
    {"no UTF-8", NEW, "\xFF", FAILS("null", "-32700"), ""},
    {"a batch", OLD, "[" ASK("1", "ping", "") "]", FAILS("null", "-32600"), "no batches"},
    {"a number", OLD, "7", FAILS("null", "-32600"), ""},
    {"no version of JSON-RPC", OLD, "{'id':1,'method':'ping'}", FAILS("1", "-32600"), ""},
    {"another version", OLD, "{'jsonrpc':'1.0','id':1,'method':'ping'}", FAILS("1", "-32600"), ""},
    {"no method", OLD, "{'jsonrpc':'2.0','id':1}", FAILS("1", "-32600"), ""},
    {"a method that is no text", OLD, "{'jsonrpc':'2.0','id':1,'method':2}", FAILS("1", "-32600"),
     ""},
    {"two methods", OLD, "{'jsonrpc':'2.0','id':1,'method':'ping','method':'x'}",
     FAILS("1", "-32600"), "twice"},
    {"params that are a list", OLD, "{'jsonrpc':'2.0','id':1,'method':'ping','params':[]}",
     FAILS("1", "-32602"), ""},
    {"an id of null", OLD, ASK("null", "ping", ""), FAILS("null", "-32600"), "the id"},
    {"an id that is a fraction", OLD, ASK("1.5", "ping", ""), FAILS("null", "-32600"), "the id"},
    {"an id that is true", OLD, ASK("true", "ping", ""), FAILS("null", "-32600"), "the id"},
    {"an id comes back as it was spelt", OLD, ASK("'a\\u00e9\\/\\n'", "ping", ""),
     "{'jsonrpc':'2.0','id':'a\\u00e9\\/\\n','result':{}}", ""},
    {"a large one too", OLD, ASK("-123456789012345678901234567890", "ping", ""),
     "{'jsonrpc':'2.0','id':-123456789012345678901234567890,'result':{}}", ""},
    {"a notification has no answer", OLD, "{'jsonrpc':'2.0','method':'notifications/initialized'}",
     NULL, NULL},
    {"nor has one that is not known", NEW, "{'jsonrpc':'2.0','method':'x','params':[1]}", NULL,
     NULL},
    {"nor a cancellation", OLD,
     "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}", NULL, NULL},
    {"nor an answer to a question nobody asked", OLD, "{'jsonrpc':'2.0','id':1,'result':{}}", NULL,
     NULL},

    /* legacy */
    {"initialize answers the version that was asked for", NEW,
     ASK("0", "initialize", "'protocolVersion':'2025-06-18','capabilities':{}"),
     "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2025-06-18','capabilities':{'tools':{}},"
     "'serverInfo':{'name':'weir','version':'",
     "'instructions':'"},
    {"the oldest too", NEW, ASK("0", "initialize", "'protocolVersion':'2024-11-05'"),
     "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2024-11-05'", ""},
    {"an unknown one gets the newest", NEW,
     ASK("0", "initialize", "'protocolVersion':'2099-01-01'"),
     "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2025-11-25'", ""},
    {"a modern one gets the newest that has a handshake", NEW,
     ASK("0", "initialize", "'protocolVersion':'2026-07-28'"),
     "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2025-11-25'", ""},
    {"none gets the newest", NEW, ASK("0", "initialize", ""),
     "{'jsonrpc':'2.0','id':0,'result':{'protocolVersion':'2025-11-25'", ""},
    {"ping before the handshake", NEW, ASK("1", "ping", ""), "{'jsonrpc':'2.0','id':1,'result':{}}",
     ""},
    {"the tools, without hints for a cache", OLD, ASK("1", "tools/list", ""),
     "{'jsonrpc':'2.0','id':1,'result':{'tools':[{'name':'weir_recall','title':",
     "'openWorldHint':false}}]}}"},
    {"a list without params", OLD, "{'jsonrpc':'2.0','id':1,'method':'tools/list'}",
     "{'jsonrpc':'2.0','id':1,'result':{'tools':[", ""},
    {"a cursor that nobody gave", OLD, ASK("1", "tools/list", "'cursor':'x'"), FAILS("1", "-32602"),
     "cursor"},
    {"a method that is not known", OLD, ASK("1", "resources/list", ""), FAILS("1", "-32601"),
     "resources/list"},
    {"a tool that is not known", OLD, ASK("1", "tools/call", "'name':'x','arguments':{}"),
     FAILS("1", "-32602"), "Unknown tool: x"},
    {"a tool without a name", OLD, ASK("1", "tools/call", ""), FAILS("1", "-32602"), ""},
    {"arguments that are no object", OLD,
     ASK("1", "tools/call", "'name':'weir_recall','arguments':[]"), FAILS("1", "-32602"), ""},
    {"a failure of a tool is a result", OLD,
     ASK("1", "tools/call", "'name':'weir_recall','arguments':{}"),
     "{'jsonrpc':'2.0','id':1,'result':{'content':[{'type':'text','text':'The argument",
     "}],'isError':true}}"},
    {"arguments may be missing", OLD, ASK("1", "tools/call", "'name':'weir_context'"),
     "{'jsonrpc':'2.0','id':1,'result':{'content':[{'type':'text','text':'Nothing is stored",
     "'isError':false}}"},
    {"a request without a handshake and without _meta", NEW, ASK("1", "tools/list", ""),
     FAILS("1", "-32602"), "initialize"},

    /* modern */
    {"discover", NEW, ASK("'d'", "server/discover", META),
     "{'jsonrpc':'2.0','id':'d','result':{'resultType':'complete','supportedVersions':" VERSIONS
     ",'capabilities':{'tools':{}},'serverInfo':",
     "'ttlMs':86400000,'cacheScope':'public'," INFO},
    {"discover without _meta, as a probe", NEW,
     "{'jsonrpc':'2.0','id':1,'method':'server/discover'}",
     "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','supportedVersions':", INFO},
    {"the tools, with hints for a cache", NEW, ASK("1", "tools/list", META),
     "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','tools':[{'name':'weir_recall',",
     "}}],'ttlMs':86400000,'cacheScope':'public'," INFO},
    {"a modern request after a handshake", OLD, ASK("1", "tools/list", META),
     "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','tools':[", INFO},
    {"a call", NEW, ASK("1", "tools/call", "'name':'weir_context','arguments':{}," META),
     "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','content':[{'type':'text','text':'",
     "'isError':false," INFO},
    {"a call that fails", NEW, ASK("1", "tools/call", "'name':'weir_recall'," META),
     "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','content':[", "'isError':true,"},
    {"no ping any more", NEW, ASK("1", "ping", META), FAILS("1", "-32601"), "ping"},
    {"a method that is not known, modern", NEW, ASK("1", "resources/read", META),
     FAILS("1", "-32601"), ""},
    {"a tool that is not known, modern", NEW, ASK("1", "tools/call", "'name':'x'," META),
     FAILS("1", "-32602"), ""},
    {"a version that is not spoken", NEW,
     ASK("1", "tools/list",
         "'_meta':{'io.modelcontextprotocol/protocolVersion':'1900-01-01',"
         "'io.modelcontextprotocol/clientCapabilities':{}}"),
     FAILS("1", "-32022"), "'data':{'supported':" VERSIONS ",'requested':'1900-01-01'}"},
    {"a version that is no text", NEW,
     ASK("1", "tools/list", "'_meta':{'io.modelcontextprotocol/protocolVersion':1}"),
     FAILS("1", "-32602"), "protocolVersion"},
    {"no capabilities", NEW,
     ASK("1", "tools/list", "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"),
     FAILS("1", "-32602"), "clientCapabilities"},
    {"an old version in _meta is served the old way", NEW,
     ASK("1", "tools/list", "'_meta':{'io.modelcontextprotocol/protocolVersion':'2025-11-25'}"),
     "{'jsonrpc':'2.0','id':1,'result':{'tools':[", ""},
    {"other things in _meta do not make it modern", OLD,
     ASK("1", "tools/list", "'_meta':{'progressToken':1}"),
     "{'jsonrpc':'2.0','id':1,'result':{'tools':[", ""},
};

static char *quoted(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return copy;
}

static void check(size_t i, struct wr_mcp *mcp)
{
    struct wr_mcp_peer peer = {.has_initialized = cases[i].peer == OLD};
    char *message = quoted(cases[i].message);
    struct wr_mcp_answer answer;

    wr_mcp_answer(mcp, WR_LIT("local"), &peer, wr_span_of(message), &answer);
    if (!cases[i].begins) {
        if (answer.message.len || answer.http_status != 202)
            fail_msg("%s: an answer", cases[i].behaviour);
    } else {
        char *begins = quoted(cases[i].begins), *holds = quoted(cases[i].holds);
        if (!wr_span_starts(answer.message, wr_span_of(begins)) ||
            wr_span_find(answer.message, wr_span_of(holds), 0) == SIZE_MAX)
            fail_msg("%s: %.*s", cases[i].behaviour, (int)answer.message.len, answer.message.ptr);
        free(begins);
        free(holds);
    }
    free(message);
}

static void every_message_has_its_answer(void **state)
{
    struct wr_mcp *mcp;
    (void)state;
    assert_int_equal(wr_mcp_new(&mcp, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        check(i, mcp);
    wr_mcp_free(mcp);
}

/* ---- over HTTP ---- */

#define H(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }
#define NONE    \
    {           \
        NULL, 0 \
    }
#define V26  H("2026-07-28")
#define CALL "'name':'weir_context'," META

static const struct {
    const char *behaviour;
    struct wr_mcp_headers headers;
    const char *message;
    int http_status;
    const char *holds;
} http_cases[] = {
    {"a list", {V26, H("tools/list"), NONE}, ASK("1", "tools/list", META), 200, "'tools':["},
    {"a call",
     {V26, H("tools/call"), H("weir_context")},
     ASK("1", "tools/call", CALL),
     200,
     "'content':["},
    {"a name in base64",
     {V26, H("tools/call"), H("=?base64?d2Vpcl9jb250ZXh0?=")},
     ASK("1", "tools/call", CALL),
     200,
     "'content':["},
    {"a name in bad base64",
     {V26, H("tools/call"), H("=?base64?d2Vpcl9jb2?=")},
     ASK("1", "tools/call", CALL),
     400,
     "-32020"},
    {"no version", {NONE, H("tools/list"), NONE}, ASK("1", "tools/list", META), 400, "-32020"},
    {"another version",
     {H("2025-11-25"), H("tools/list"), NONE},
     ASK("1", "tools/list", META),
     400,
     "-32020"},
    {"no method", {V26, NONE, NONE}, ASK("1", "tools/list", META), 400, "-32020"},
    {"another method", {V26, H("tools/call"), NONE}, ASK("1", "tools/list", META), 400, "-32020"},
    {"a method in another case",
     {V26, H("Tools/List"), NONE},
     ASK("1", "tools/list", META),
     400,
     "-32020"},
    {"no name", {V26, H("tools/call"), NONE}, ASK("1", "tools/call", CALL), 400, "-32020"},
    {"another name",
     {V26, H("tools/call"), H("weir_recall")},
     ASK("1", "tools/call", CALL),
     400,
     "-32020"},
    {"an unknown method", {V26, H("x/y"), NONE}, ASK("1", "x/y", META), 404, "-32601"},
    {"an unknown version in both",
     {H("1900-01-01"), H("tools/list"), NONE},
     ASK("1", "tools/list", "'_meta':{'io.modelcontextprotocol/protocolVersion':'1900-01-01'}"),
     400,
     "-32022"},
    {"an unknown version in the header alone",
     {H("1900-01-01"), NONE, NONE},
     ASK("1", "tools/list", ""),
     400,
     "-32022"},
    {"a modern header without _meta",
     {V26, H("tools/list"), NONE},
     ASK("1", "tools/list", ""),
     400,
     "-32602"},
    {"no capabilities",
     {V26, H("tools/list"), NONE},
     ASK("1", "tools/list", "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"),
     400,
     "-32602"},
    {"an unknown tool is no matter of HTTP",
     {V26, H("tools/call"), H("x")},
     ASK("1", "tools/call", "'name':'x'," META),
     200,
     "-32602"},
    {"discover",
     {V26, H("server/discover"), NONE},
     ASK("1", "server/discover", META),
     200,
     "supportedVersions"},
    {"initialize",
     {NONE, NONE, NONE},
     ASK("1", "initialize", "'protocolVersion':'2025-11-25'"),
     200,
     "'serverInfo'"},
    {"legacy without a header", {NONE, NONE, NONE}, ASK("1", "tools/list", ""), 200, "'tools':["},
    {"legacy with one",
     {H("2025-06-18"), NONE, NONE},
     ASK("1", "tools/list", ""),
     200,
     "'tools':["},
    {"legacy: an unknown method", {H("2025-06-18"), NONE, NONE}, ASK("1", "x", ""), 200, "-32601"},
    {"no JSON", {NONE, NONE, NONE}, "{", 400, "-32700"},
    {"a notification",
     {NONE, NONE, NONE},
     "{'jsonrpc':'2.0','method':'notifications/initialized'}",
     202,
     ""},
};

static void headers_must_say_what_the_body_says(void **state)
{
    struct wr_mcp *mcp;
    (void)state;
    assert_int_equal(wr_mcp_new(&mcp, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(http_cases); i++) {
        struct wr_mcp_peer peer = {.headers = &http_cases[i].headers};
        char *message = quoted(http_cases[i].message), *holds = quoted(http_cases[i].holds);
        struct wr_mcp_answer answer;
        wr_mcp_answer(mcp, WR_LIT("local"), &peer, wr_span_of(message), &answer);
        if (answer.http_status != http_cases[i].http_status ||
            wr_span_find(answer.message, wr_span_of(holds), 0) == SIZE_MAX)
            fail_msg("%s: %d %.*s", http_cases[i].behaviour, answer.http_status,
                     (int)answer.message.len, answer.message.ptr);
        free(message);
        free(holds);
    }
    wr_mcp_free(mcp);
}

/* ---- more ---- */

static void an_id_has_a_cap(void **state)
{
    struct wr_mcp_peer peer = {.has_initialized = true};
    struct wr_mcp_answer answer;
    struct wr_buf message;
    struct wr_mcp *mcp;

    (void)state;
    assert_int_equal(wr_mcp_new(&mcp, NULL), WEIR_OK);
    for (size_t more = 0; more < 2; more++) {
        wr_buf_init(&message, 4096);
        wr_buf_text(&message, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"");
        for (size_t i = 0; i + 2 < WR_MCP_ID_BYTES_MAX + more; i++)
            wr_buf_byte(&message, 'x');
        wr_buf_text(&message, "\"}");
        wr_mcp_answer(mcp, WR_LIT("local"), &peer, wr_buf_view(&message), &answer);
        bool is_error = wr_span_find(answer.message, WR_LIT("-32600"), 0) != SIZE_MAX;
        assert_int_equal(is_error, more == 1);
        wr_buf_release(&message);
    }
    wr_mcp_free(mcp);
}

/* Tools come first in a prompt: another byte in them costs the client its whole cache. */
static void the_list_is_the_same_every_time(void **state)
{
    static const char message[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    struct wr_mcp_peer peer = {.has_initialized = true};
    struct wr_mcp_answer answer;
    struct wr_buf first;
    struct wr_json doc;
    struct wr_arena arena;
    struct wr_mcp *mcp;

    (void)state;
    assert_int_equal(wr_mcp_new(&mcp, NULL), WEIR_OK);
    wr_buf_init(&first, WR_MCP_ANSWER_BYTES_MAX);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_mcp_answer(mcp, WR_LIT("local"), &peer, wr_span_of(message), &answer);
    wr_buf_append(&first, answer.message);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&first), NULL, NULL), WEIR_OK);
    assert_int_equal(
        wr_json_count(&doc, wr_json_find(&doc, wr_json_find(&doc, 0, "result"), "tools")), 3);
    wr_mcp_answer(mcp, WR_LIT("token-x"), &peer, wr_span_of(message), &answer);
    assert_true(wr_span_eq(answer.message, wr_buf_view(&first)));
    wr_arena_release(&arena);
    wr_buf_release(&first);
    wr_mcp_free(mcp);
}

static void a_handshake_is_remembered(void **state)
{
    struct wr_mcp_peer peer = {.has_initialized = false};
    struct wr_mcp_answer answer;
    struct wr_mcp *mcp;

    (void)state;
    assert_int_equal(wr_mcp_new(&mcp, NULL), WEIR_OK);
    wr_mcp_answer(mcp, WR_LIT("local"), &peer,
                  WR_LIT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}"), &answer);
    assert_true(peer.has_initialized);
    wr_mcp_answer(mcp, WR_LIT("local"), &peer,
                  WR_LIT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"), &answer);
    assert_true(wr_span_find(answer.message, WR_LIT("\"tools\":["), 0) != SIZE_MAX);
    wr_mcp_free(mcp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_has_its_answer),
        cmocka_unit_test(headers_must_say_what_the_body_says),
        cmocka_unit_test(an_id_has_a_cap),
        cmocka_unit_test(the_list_is_the_same_every_time),
        cmocka_unit_test(a_handshake_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
