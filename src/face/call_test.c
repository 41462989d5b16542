#include "weir/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

struct world {
    struct weir_engine *engine;
    struct weir_store *store;
};

static int open_world(void **state)
{
    static struct world world;
    *state = &world;
    return weir_engine_new(&world.engine, NULL) || weir_store_new_memory(0, &world.store);
}

static int close_world(void **state)
{
    struct world *w = *state;
    weir_store_close(w->store);
    weir_engine_free(w->engine);
    return 0;
}

static const struct {
    const char *behaviour, *method, *json;
    weir_status status;
    const char *answer; /* what it begins with */
} rows[] = {
    {"a count", "count", "{\"text\":\"What is a weir?\"}", WEIR_OK,
     "{\"tokens\":6,\"is_exact\":true,\"method\":\"exact, o200k_base\"}"},
    {"a count by a model", "count", "{\"text\":\"x\",\"model\":\"gpt-4\",\"encoding\":null}",
     WEIR_OK, "{\"tokens\":1,\"is_exact\":true,\"method\":\"exact, cl100k_base\"}"},
    {"an escaped text", "count", "{\"text\":\"\\u0061\\n\"}", WEIR_OK, "{\"tokens\":2"},
    {"no arguments", "count", "", WEIR_OK, "{\"tokens\":0"},
    {"an encoding that is not there", "count", "{\"encoding\":\"x\"}", WEIR_NOTFOUND,
     "{\"error\":{\"status\":\"WEIR_NOTFOUND\",\"text\":\"no encoding is called 'x'"},
    {"a method that is not there", "cuont", "{}", WEIR_NOTFOUND,
     "{\"error\":{\"status\":\"WEIR_NOTFOUND\",\"text\":\"no method is called 'cuont'"},
    {"a member that is not there", "count", "{\"txet\":\"x\"}", WEIR_INVALID,
     "{\"error\":{\"status\":\"WEIR_INVALID\",\"text\":\"there is no member 'txet' "
     "here\",\"at_byte\":1}}"},
    {"a member's name that is cut within a letter", "count",
     "{\"xééééééééééééééééééééééééééééééééééééééé\":1}", WEIR_INVALID,
     "{\"error\":{\"status\":\"WEIR_INVALID\",\"text\":\"there is no member 'xé"},
    {"a member of another kind", "count", "{\"text\":7}", WEIR_INVALID,
     "{\"error\":{\"status\":\"WEIR_INVALID\",\"text\":\"'text' is to be a "
     "string\",\"at_byte\":8}}"},
    {"a name with a NUL", "count", "{\"model\":\"a\\u0000b\"}", WEIR_INVALID, "{\"error\":"},
    {"a negative count", "condense", "{\"budget_bytes\":-1}", WEIR_INVALID, "{\"error\":"},
    {"what is no JSON", "count", "{\"text\":", WEIR_SYNTAX,
     "{\"error\":{\"status\":\"WEIR_SYNTAX\""},
    {"what is no object", "count", "[]", WEIR_INVALID, "{\"error\":"},
    {"a text too short to condense", "condense", "{\"text\":\"one\\ntwo\\n\"}", WEIR_OK,
     "{\"text\":\"one\\ntwo\\n\",\"kind\":"},
    {"a model", "models", "{\"name\":\"gpt-4.1-2025-04-14\"}", WEIR_OK,
     "{\"id\":\"gpt-4.1\",\"provider\":\"openai\",\"rule\":\"form\",\"window_tokens\":1047576,"},
    {"a model that nobody knows", "models", "{\"name\":\"x\"}", WEIR_OK, "{\"id\":\"unknown\""},
    {"all models", "models", "{}", WEIR_OK, "{\"ids\":[\""},
    {"a projection of nothing", "project", "{}", WEIR_INVALID, "{\"error\":"},
    {"a projection of no request", "project", "{\"body\":{}}", WEIR_INVALID, "{\"error\":"},
    {"a policy that is not there", "project",
     "{\"policy\":\"x\",\"body\":{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\","
     "\"content\":\"hi\"}]}}",
     WEIR_NOTFOUND, "{\"error\":{\"status\":\"WEIR_NOTFOUND\""},
    {"a body comes back byte for byte, as a string", "project",
     "{\"body\": {\"model\":\"gpt-4o\", \"n\":1.0e0,\"messages\":[{\"role\":\"user\","
     "\"content\":\"hi\"}]} }",
     WEIR_OK,
     "{\"body\":\"{\\\"model\\\":\\\"gpt-4o\\\", "
     "\\\"n\\\":1.0e0,\\\"messages\\\":[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"hi\\\"}]}\","
     "\"is_changed\":false,"},
    {"what a request consists of", "inspect",
     "{\"body\":{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}}",
     WEIR_OK, "{\"dialect\":\"chat\",\"model\":\"gpt-4o\",\"delta\":false,\"turns\":1,"},
    {"an inspection of nothing", "inspect", "{}", WEIR_INVALID, "{\"error\":"},
    {"the recall tool", "recall_tool", "{}", WEIR_OK,
     "{\"name\":\"weir_recall\",\"description\":\""},
    {"a handle that is none", "recall", "{\"handle\":\"x\"}", WEIR_INVALID, "{\"error\":"},
    {"a handle of nothing", "recall", "{\"handle\":\"wr_0123456789abcdef0123\"}", WEIR_NOTFOUND,
     "{\"error\":{\"status\":\"WEIR_NOTFOUND\",\"text\":\"wr_0123456789abcdef0123: never stored"},
};

static void calls_are_answered_in_json(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_err err = {0};
        char *answer;
        weir_status status = weir_call(w->engine, w->store, rows[i].method, rows[i].json,
                                       strlen(rows[i].json), &answer, &err);
        if (status != rows[i].status || !answer ||
            strncmp(answer, rows[i].answer, strlen(rows[i].answer)) != 0)
            fail_msg("%s: status %d, %s", rows[i].behaviour, (int)status, answer);
        assert_int_equal(err.code, status);
        assert_int_equal(status != WEIR_OK, !strncmp(answer, "{\"error\":", 9));
        weir_call_free(answer);
    }
}

/* ---- what is taken out comes back ---- */

enum { RESULTS = 8, RESULT_LINES = 200 };

static void write_talk(struct wr_json_writer *w)
{
    char id[32];

    wr_json_write_raw(w, WR_LIT("{\"role\":\"user\",\"content\":\"go on\"}"));
    for (int i = 0; i < RESULTS; i++) {
        struct wr_buf text;
        wr_buf_init(&text, 1 << 20);
        for (int n = 0; n < RESULT_LINES; n++)
            wr_buf_printf(&text, "  line %d of the file, number %d\n", n, i);
        (void)snprintf(id, sizeof(id), "call_%d", i);
        wr_json_write_object(w);
        wr_json_member_text(w, "role", WR_LIT("assistant"));
        wr_json_member_array(w, "tool_calls");
        wr_json_write_object(w);
        wr_json_member_word(w, "id", id);
        wr_json_member_text(w, "type", WR_LIT("function"));
        wr_json_write_key(w, "function");
        wr_json_write_raw(
            w, WR_LIT("{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"cat\\\"}\"}"));
        wr_json_write_object_end(w);
        wr_json_write_array_end(w);
        wr_json_write_object_end(w);
        wr_json_write_object(w);
        wr_json_member_text(w, "role", WR_LIT("tool"));
        wr_json_member_word(w, "tool_call_id", id);
        wr_json_member_text(w, "content", wr_buf_view(&text));
        wr_json_write_object_end(w);
        wr_buf_release(&text);
    }
}

static void write_project(struct wr_buf *out)
{
    struct wr_json_writer w;
    wr_buf_init(out, 1 << 22);
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_text(&w, "policy", WR_LIT("tiered"));
    wr_json_member_i64(&w, "window_tokens", 16000);
    wr_json_member_object(&w, "body");
    wr_json_member_text(&w, "model", WR_LIT("gpt-4o"));
    wr_json_write_key(&w, "tools");
    wr_json_write_raw(&w,
                      WR_LIT("[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}]"));
    wr_json_member_array(&w, "messages");
    write_talk(&w);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
}

static void what_a_projection_takes_out_is_recalled(void **state)
{
    struct world *w = *state;
    char name[WEIR_HANDLE_TEXT_BYTES + 1], json[200];
    struct wr_buf call;
    weir_handle handle;
    char *answer;

    write_project(&call);
    assert_int_equal(weir_call(w->engine, w->store, "project", call.bytes, call.len, &answer, NULL),
                     WEIR_OK);
    assert_non_null(strstr(answer, "\"is_changed\":true"));
    assert_true(weir_handle_find(wr_span_of(answer), 0, &handle) != SIZE_MAX);
    weir_handle_format(handle, name);
    weir_call_free(answer);
    int len = snprintf(json, sizeof(json), "{\"handle\":\"%s\",\"head_lines\":1}", name);
    assert_int_equal(weir_call(w->engine, w->store, "recall", json, (size_t)len, &answer, NULL),
                     WEIR_OK);
    assert_non_null(strstr(answer, "{\"text\":\"  line 0 of the file, number "));
    assert_non_null(strstr(answer, "\"lines_total\":200,\"lines_count\":1,"));
    weir_call_free(answer);
    /* In pages, by tokens. */
    len = snprintf(json, sizeof(json), "{\"handle\":\"%s\",\"page_tokens\":200}", name);
    assert_int_equal(weir_call(w->engine, w->store, "recall", json, (size_t)len, &answer, NULL),
                     WEIR_OK);
    assert_null(strstr(answer, "\"next\":\"\""));
    weir_call_free(answer);
    /* Without a store nothing comes back, and nothing is taken out. */
    assert_int_equal(weir_call(w->engine, NULL, "recall", json, (size_t)len, &answer, NULL),
                     WEIR_INVALID);
    weir_call_free(answer);
    wr_buf_release(&call);
    weir_call_free(NULL);
}

/* ---- with the text beside the JSON ---- */

static void a_text_may_stand_beside_the_json(void **state)
{
    static const char body[] =
        "{\"model\":\"gpt-4o\", \"n\":1.0e0,\"messages\":[{\"role\":\"user\","
        "\"content\":\"hi\"}]}";
    struct world *w = *state;
    struct weir_called called;
    struct weir_err err;

    assert_int_equal(weir_call_bytes(w->engine, w->store, "count", "{}", 2, "What is a weir?", 15,
                                     &called, NULL),
                     WEIR_OK);
    assert_string_equal(called.json,
                        "{\"tokens\":6,\"is_exact\":true,\"method\":\"exact, o200k_base\"}");
    assert_int_equal(called.json_bytes, strlen(called.json));
    weir_called_release(&called);
    /* A body that is not changed is the memory that came in, and no member. */
    assert_int_equal(
        weir_call_bytes(w->engine, w->store, "project", NULL, 0, body, strlen(body), &called, NULL),
        WEIR_OK);
    assert_ptr_equal(called.bytes.ptr, body);
    assert_int_equal(called.bytes.len, strlen(body));
    assert_null(called.owned);
    assert_int_equal(strncmp(called.json, "{\"is_changed\":false,", 20), 0);
    weir_called_release(&called);
    weir_called_release(&called);
    assert_int_equal(weir_call_bytes(w->engine, w->store, "count", "{\"text\":\"x\"}", 12, "y", 1,
                                     &called, &err),
                     WEIR_INVALID);
    assert_string_equal(err.text, "'text' is given twice");
    assert_null(called.bytes.ptr);
    weir_called_release(&called);
}

/* What is changed is beside the JSON too, and what is recalled is what was stored, UTF-8 or not. */
static void a_changed_body_and_what_was_stored_come_as_bytes(void **state)
{
    static const char stored[] = "one\n\xff two\n";
    struct world *w = *state;
    struct weir_called called;
    struct wr_buf call;
    char name[WEIR_HANDLE_TEXT_BYTES + 1], json[200];

    write_project(&call);
    assert_int_equal(weir_call_bytes(w->engine, w->store, "project", call.bytes, call.len, NULL, 0,
                                     &called, NULL),
                     WEIR_OK);
    assert_ptr_equal(called.bytes.ptr, called.owned);
    assert_int_equal(called.bytes.ptr[0], '{');
    assert_int_equal(called.bytes.ptr[called.bytes.len], '\0');
    assert_null(strstr(called.json, "\"body\":"));
    weir_called_release(&called);
    wr_buf_release(&call);

    struct weir_artifact artifact = {.text = {stored, strlen(stored)}};
    struct weir_batch batch = {
        .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};
    assert_int_equal(weir_store_commit(w->store, &batch, NULL), WEIR_OK);
    weir_handle_format(weir_hash_handle(&artifact.hash), name);
    int len = snprintf(json, sizeof(json), "{\"handle\":\"%s\"}", name);
    assert_int_equal(
        weir_call_bytes(w->engine, w->store, "recall", json, (size_t)len, NULL, 0, &called, NULL),
        WEIR_OK);
    assert_int_equal(called.bytes.len, strlen(stored));
    assert_memory_equal(called.bytes.ptr, stored, strlen(stored));
    assert_null(strstr(called.json, "\"text\":"));
    weir_called_release(&called);
}

/* Whatever is asked, the answer is JSON that a strict reader takes. */
static void every_answer_is_json(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_arena arena;
        struct wr_json doc;
        char *answer;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        (void)!weir_call(w->engine, w->store, rows[i].method, rows[i].json, strlen(rows[i].json),
                         &answer, NULL);
        assert_int_equal(wr_json_parse(&doc, &arena, wr_span_of(answer), NULL, NULL), WEIR_OK);
        weir_call_free(answer);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_answered_in_json),
        cmocka_unit_test(every_answer_is_json),
        cmocka_unit_test(what_a_projection_takes_out_is_recalled),
        cmocka_unit_test(a_text_may_stand_beside_the_json),
        cmocka_unit_test(a_changed_body_and_what_was_stored_come_as_bytes),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
