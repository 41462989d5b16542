#include "api/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/listing.h"

#define ASK "{'role':'user','content':'go'}"

static void a_path_names_the_dialect(void **state)
{
    static const struct {
        const char *path, *dialect;
    } rows[] = {
        {"/v1/chat/completions", "chat"},
        {"/openai/deployments/gpt/chat/completions?api-version=2026-01-01", "chat"},
        {"/v1/responses", "responses"},
        {"/backend-api/codex/responses", "responses"},
        {"/v1/responses/compact", "responses"},
        {"/v1/responses/input_tokens", "responses"},
        {"/v1/messages", "messages"},
        {"/v1/messages?beta=true", "messages"},
        {"/v1/messages/", "messages"},
        {"/v1/messages#part", "messages"},
        {"/anthropic/v1/messages/count_tokens?beta=true", "messages"},
        {"/v1/messages/batches", NULL},
        {"/v1/threads/thread_1/messages", NULL},
        {"/v1/models", NULL},
        {"/v1/embeddings", NULL},
        {"/v1/completions", NULL},
        {"/v1/responses/resp_1/input_items", NULL},
        {"/xmessages", NULL},
        {"/models?next=/v1/messages", NULL},
        {"", NULL},
        {"///", NULL},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        const struct wr_api *api = wr_api_by_path(wr_span_of(rows[i].path), NULL);
        const char *got = api ? api->name : "none";
        const char *expected = rows[i].dialect ? rows[i].dialect : "none";
        if (strcmp(got, expected))
            fail_msg("%s is %s, should be %s", rows[i].path, got, expected);
    }
}

static const struct {
    const char *behaviour, *body, *dialect;
} shapes[] = {
    {"input tells Responses", "{'input':'go'}", "responses"},
    {"so does a list of items", "{'model':'m','input':[]}", "responses"},
    {"input outweighs keys of another API", "{'input':'go','system':'s','stop_sequences':[]}",
     "responses"},
    {"a continuation needs no input", "{'previous_response_id':'resp_1'}", "responses"},
    {"a stored prompt needs no input", "{'prompt':{'id':'pmpt_1'}}", "responses"},
    {"messages outweigh input", "{'input':'go','messages':[" ASK "]}", "chat"},
    {"plain messages read the same in both and are taken for Chat", "{'messages':[" ASK "]}",
     "chat"},
    {"no messages at all are taken for Chat", "{'messages':[]}", "chat"},
    {"a system key tells Messages", "{'system':'s','messages':[" ASK "]}", "messages"},
    {"a version key tells Messages",
     "{'anthropic_version':'bedrock-2023-05-31','messages':[" ASK "]}", "messages"},
    {"a thread tells Messages", "{'thread':{'type':'create'},'messages':[" ASK "]}", "messages"},
    {"an effort tells Chat", "{'reasoning_effort':'low','messages':[" ASK "]}", "chat"},
    {"a tool's schema tells Messages, wherever it stands",
     "{'tools':[{'type':'web_search_20250305','name':'w'},{'name':'f','input_schema':{}}],'"
     "messages':[" ASK "]}",
     "messages"},
    {"a tool's function tells Chat",
     "{'tools':[{'type':'function','function':{'name':'f'}}],'system':'s','thinking':{},"
     "'messages':[" ASK "]}",
     "chat"},
    {"a result's role tells Chat",
     "{'messages':[" ASK ",{'role':'tool','tool_call_id':'a','content':'b'}]}", "chat"},
    {"calls beside the content tell Chat",
     "{'messages':[" ASK ",{'role':'assistant','tool_calls':[]}]}", "chat"},
    {"a developer tells Chat", "{'messages':[{'role':'developer','content':'d'}]}", "chat"},
    {"an image by url tells Chat",
     "{'max_tokens':1,'messages':[{'role':'user','content':[{'type':'text','text':'a','cache_"
     "control':{}},"
     "{'type':'image_url','image_url':{'url':'u'}}]}]}",
     "chat"},
    {"a call among the blocks tells Messages",
     "{'messages':[" ASK ",{'role':'assistant','content':[{'type':'tool_use','id':'a'}]}]}",
     "messages"},
    {"a result among the blocks tells Messages",
     "{'messages':[{'role':'user','content':[{'type':'text','text':'a'},{'type':'tool_result'}]}]}",
     "messages"},
    {"thinking tells Messages",
     "{'messages':[" ASK ",{'role':'assistant','content':[{'type':'thinking'}]}]}", "messages"},
    {"words in a text tell nothing",
     "{'messages':[{'role':'user','content':'{\\u0022tool_use\\u0022:1}'}]}", "chat"},
    {"escaped keys are keys", "{'\\u006dessages':[" ASK "],'syst\\u0065m':'s'}", "messages"},
};

static void a_shape_names_the_dialect(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(shapes); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, shapes[i].body, NULL, "/somewhere/else");
        const char *got = r.status ? r.err.text : weir_dialect_name(r.transcript.dialect);
        if (strcmp(got, shapes[i].dialect))
            fail_msg("%s: got %s", shapes[i].behaviour, got);
        wr_listing_release(&r);
    }
}

/* An explicit dialect wins over the path, the path over the shape. */
static void what_is_said_first_wins(void **state)
{
    static const struct {
        const char *body, *dialect, *path, *expected;
    } rows[] = {
        {"{'system':'s','messages':[" ASK "]}", NULL, "/v1/chat/completions", "chat"},
        {"{'messages':[{'role':'tool','content':'a'}]}", NULL, "/v1/messages", "messages"},
        {"{'messages':[" ASK "]}", "messages", "/v1/chat/completions", "messages"},
        {"{'input':'x','messages':[" ASK "]}", "responses", "/v1/messages", "responses"},
        {"{'model':'m'}", "responses", NULL, "responses"},
        {"{'input':null}", "responses", NULL, "responses"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, rows[i].body, rows[i].dialect, rows[i].path);
        assert_int_equal(r.status, WEIR_OK);
        assert_string_equal(weir_dialect_name(r.transcript.dialect), rows[i].expected);
        wr_listing_release(&r);
    }
}

static void a_request_says_what_its_answer_may_take(void **state)
{
    static const struct {
        const char *body;
        uint64_t tokens;
    } rows[] = {
        {"{'messages':[" ASK "]}", 0},
        {"{'max_tokens':8000,'messages':[" ASK "]}", 8000},
        {"{'max_completion_tokens':9000,'max_tokens':10,'messages':[" ASK "]}", 9000},
        {"{'max_output_tokens':700,'input':'x'}", 700},
        {"{'max_output_tokens':null,'input':'x'}", 0},
        {"{'max_tokens':-1,'messages':[" ASK "]}", 0},
        {"{'max_tokens':'many','messages':[" ASK "]}", 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, rows[i].body, NULL, NULL);
        assert_int_equal(r.status, WEIR_OK);
        assert_int_equal(r.transcript.answer_tokens_max, rows[i].tokens);
        wr_listing_release(&r);
    }
}

static const struct {
    const char *behaviour, *body, *dialect;
    size_t at_byte;
    const char *says;
} refused[] = {
    {"a list is no request", " [" ASK "]", NULL, 1, "JSON object"},
    {"nor is a string", "'go'", "chat", 0, "JSON object"},
    {"nor is null", "null", "responses", 0, "JSON object"},
    {"an object of another API", "  {'inputs':[],'prompt':'p'}", NULL, 2, "`messages`"},
    {"contents that are no list", "{'contents':{'a':1}}", "gemini", 12, "`contents` must be"},
    {"messages that are no list", "{'messages':'go'}", NULL, 0, "`messages`"},
    {"messages that are no list, by name", "{'messages':{'a':1}}", "chat", 12,
     "`messages` must be an array"},
    {"no messages, by name", "{'input':'go'}", "messages", 0,
     "`messages` must be an array in a messages request"},
    {"input that is neither", "{'input':{'a':1}}", "responses", 9, "`input` must be"},
    {"a dialect that is none", "{'messages':[]}", "hermes", 0, "'hermes'"},
    {"a dialect of any length", "{'messages':[]}",
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaa",
     0, "chat, responses, messages, gemini, ollama or converse"},
};

static void what_is_no_request_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(refused); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, refused[i].body, refused[i].dialect, NULL);
        if (r.status != WEIR_INVALID || r.err.code != WEIR_INVALID ||
            r.err.at_byte != refused[i].at_byte || !strstr(r.err.text, refused[i].says))
            fail_msg("%s: got status %d, byte %zu, %s", refused[i].behaviour, r.status,
                     r.err.at_byte, r.err.text);
        wr_listing_release(&r);
    }
}

static void the_error_may_go_unheard(void **state)
{
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, WR_LIT("[]"), NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&transcript, &arena, &doc, NULL, NULL), WEIR_INVALID);
    wr_arena_release(&arena);
}

static void the_model_is_told(void **state)
{
    static const struct {
        const char *body, *model;
    } rows[] = {
        {"{'model':'gpt-5.1','messages':[]}", "gpt-5.1"},
        {"{'model':'a\\/b','messages':[]}", "a/b"},
        {"{'messages':[]}", ""},
        {"{'model':null,'messages':[]}", ""},
        {"{'model':7,'input':'x'}", ""},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_listing_request r;
        wr_listing_read(&r, rows[i].body, NULL, NULL);
        assert_int_equal(r.status, WEIR_OK);
        assert_true(wr_span_is(r.transcript.model, rows[i].model));
        wr_listing_release(&r);
    }
}

/* One body that both Chat and Messages can read gives the same segments in both. */
static void plain_messages_read_the_same_in_both(void **state)
{
    static const struct wr_listing_row rows[] = {
        {"texts and instructions",
         "{'messages':[{'role':'system','content':'s'}," ASK ",{'role':'assistant','content':'a'},"
         "{'role':'user','content':[{'type':'text','text':'b','cache_control':{}}]}]}",
         "system system 0.- critical | s\n"
         "user text 0.0 critical = go\n"
         "assistant text 0.0 continuation group 2 = a\n"
         "user text 1.1 critical marked = b\n"},
    };
    (void)state;
    wr_listing_check(rows, WR_COUNT_OF(rows), "chat");
    wr_listing_check(rows, WR_COUNT_OF(rows), "messages");
    wr_listing_check(rows, WR_COUNT_OF(rows), NULL);
}

/* Whoever shows or completes them has the words from here. */
static void all_names_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        assert_non_null(strstr(WR_API_NAMES, wr_apis[i]->name));
        assert_non_null(strstr(WR_API_WORDS, wr_apis[i]->name));
        assert_int_equal(wr_apis[i]->dialect, i);
        assert_string_equal(wr_apis[i]->name, weir_dialect_name((weir_dialect)i));
    }
}

static void upstreams_and_variables_are_listed_once(void **state)
{
    static const char *const urls[][2] = {
        {"OPENAI_API_BASE", "openai"},        {"OPENAI_BASE_URL", "openai"},
        {"ANTHROPIC_API_BASE", "anthropic"},  {"ANTHROPIC_BASE_URL", "anthropic"},
        {"GOOGLE_GEMINI_BASE_URL", "gemini"}, {"OLLAMA_API_BASE", "ollama"},
        {"OLLAMA_BASE_URL", "ollama"}};
    const char *upstream, *name;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(urls); i++) {
        assert_string_equal(wr_api_url_variable(i, &upstream), urls[i][0]);
        assert_string_equal(upstream, urls[i][1]);
        assert_true(wr_api_has_upstream(wr_span_of(upstream)));
    }
    assert_false(wr_api_has_upstream(WR_LIT("any")));
    assert_string_equal(wr_api_upstream_at(0)->name, "openai");
    assert_string_equal(wr_api_key_variable(0), "OPENAI_API_KEY");
    for (size_t i = 0; (name = wr_api_key_variable(i)); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(name, wr_api_key_variable(k));
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        assert_true(!wr_apis[i]->upstreams || wr_apis[i]->upstreams->name);
        assert_true(!wr_apis[i]->version_header || wr_apis[i]->upstreams);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_names_are_told),
        cmocka_unit_test(upstreams_and_variables_are_listed_once),
        cmocka_unit_test(a_path_names_the_dialect),
        cmocka_unit_test(a_shape_names_the_dialect),
        cmocka_unit_test(what_is_said_first_wins),
        cmocka_unit_test(a_request_says_what_its_answer_may_take),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(the_error_may_go_unheard),
        cmocka_unit_test(the_model_is_told),
        cmocka_unit_test(plain_messages_read_the_same_in_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
