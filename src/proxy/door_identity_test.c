#include "proxy/door.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

static struct wr_session_name in_run(const char *body, const char *before, const char *run)
{
    struct wr_session_name name = {.len = 0};
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_span_of(body), NULL, NULL), WEIR_OK);
    wr_identity_from_body(&doc, &arena, wr_span_of(before), wr_span_of(run), &name);
    wr_arena_release(&arena);
    return name;
}

static struct wr_session_name goes_on(const char *body, const char *before)
{
    return in_run(body, before, "");
}

static struct wr_session_name from_body(const char *body)
{
    return goes_on(body, "");
}

static void assert_name(const struct wr_session_name *name, const char *expected)
{
    if (!wr_span_is(wr_session_span(name), expected))
        fail_msg("%.*s, should be %s", (int)name->len, name->text, expected);
}

static void headers_name_a_session(void **state)
{
    static const struct {
        const char *headers[4], *expected;
    } cases[] = {{{"thread-id", "t", "session-id", "s"}, "codex:t"},
                 {{"session-id", "s"}, "codex:s"},
                 {{"session_id", "s"}, "codex:s"},
                 {{"X-Claude-Code-Session-Id", "c"}, "claude:c"},
                 {{"x-claude-code-agent-id", "a", "x-claude-code-session-id", "c"}, "claude:c/a"},
                 {{"authorization", "Bearer k"}, ""},
                 {{"x-api-key", "k", "session-id", ""}, ""}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_head head = {.headers_count = 0};
        struct wr_session_name name;
        for (size_t n = 0; n < 4 && cases[i].headers[n]; n += 2)
            head.headers[head.headers_count++] = (struct wr_header){
                wr_span_of(cases[i].headers[n]), wr_span_of(cases[i].headers[n + 1])};
        wr_identity_from_head(&head, &name);
        assert_name(&name, cases[i].expected);
    }
}

static void a_body_names_a_session(void **state)
{
    (void)state;
    struct wr_session_name name = from_body("{\"prompt_cache_key\":\"k\",\"input\":\"x\"}");
    assert_name(&name, "key:k");
    name = from_body("{\"metadata\":{\"user_id\":\"user_1_account_2_session_3f\"}}");
    assert_name(&name, "claude:3f");
    name = from_body("{\"metadata\":{\"user_id\":\"{\\\"session_id\\\":\\\"9a\\\"}\"}}");
    assert_name(&name, "claude:9a");
    name = goes_on("{\"previous_response_id\":\"r\",\"input\":[]}", "hash:1");
    assert_name(&name, "hash:1");
    name = goes_on("{\"previous_response_id\":\"r\",\"prompt_cache_key\":\"k\"}", "hash:1");
    assert_name(&name, "key:k");
}

static void later_turns_have_the_same_name(void **state)
{
    static const char *const same[] = {
        "{\"model\":\"m\",\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
        "{\"model\":\"m\",\"system\":[{\"type\":\"text\",\"text\":\"s\",\"cache_control\":{}}],"
        "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]},"
        "{\"role\":\"assistant\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"}]}"};
    static const char *const others[] = {
        "{\"model\":\"n\",\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
        "{\"model\":\"m\",\"system\":\"t\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
        "{\"model\":\"m\",\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}"};
    (void)state;
    struct wr_session_name first = from_body(same[0]), second = from_body(same[1]);
    assert_true(wr_span_eq(wr_session_span(&first), wr_session_span(&second)));
    for (size_t i = 0; i < 3; i++) {
        second = from_body(others[i]);
        assert_false(wr_span_eq(wr_session_span(&first), wr_session_span(&second)));
    }
    first = from_body("{\"input\":\"a\"}");
    second = from_body("{\"input\":[{\"role\":\"user\",\"content\":[{\"text\":\"a\"}]},"
                       "{\"type\":\"reasoning\"}]}");
    assert_true(wr_span_eq(wr_session_span(&first), wr_session_span(&second)));
}

/* What has no name of its own is another session in another run; what has one is the same. */
static void a_run_is_a_world_of_its_own(void **state)
{
    static const char body[] = "{\"model\":\"m\",\"input\":\"a\"}";
    static const char named[] = "{\"prompt_cache_key\":\"k\",\"input\":\"a\"}";
    (void)state;
    struct wr_session_name none = from_body(body), one = in_run(body, "", "00c0ffee00c0ffee");
    struct wr_session_name other = in_run(body, "", "00c0ffee00c0ffef");
    assert_false(wr_span_eq(wr_session_span(&none), wr_session_span(&one)));
    assert_false(wr_span_eq(wr_session_span(&one), wr_session_span(&other)));
    assert_true(wr_span_starts(wr_session_span(&one), wr_session_span(&none)));
    other = in_run(body, "", "00c0ffee00c0ffee");
    assert_true(wr_span_eq(wr_session_span(&one), wr_session_span(&other)));
    one = in_run(named, "", "00c0ffee00c0ffee");
    assert_name(&one, "key:k");
    one = in_run(body, "hash:1/other", "00c0ffee00c0ffee");
    assert_name(&one, "hash:1/other");
}

static void a_long_name_is_hashed(void **state)
{
    char value[2000];
    struct wr_head head = {.headers_count = 1};
    struct wr_session_name name;
    (void)state;
    memset(value, 'x', sizeof(value));
    head.headers[0] = (struct wr_header){WR_LIT("session-id"), {value, sizeof(value)}};
    wr_identity_from_head(&head, &name);
    assert_true(name.len < 64);
    assert_true(wr_span_starts(wr_session_span(&name), WR_LIT("codex:#")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_name_a_session), cmocka_unit_test(a_body_names_a_session),
        cmocka_unit_test(later_turns_have_the_same_name),
        cmocka_unit_test(a_run_is_a_world_of_its_own), cmocka_unit_test(a_long_name_is_hashed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
