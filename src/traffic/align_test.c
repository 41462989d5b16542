/* Two requests, each a row of letters: a small one is what the user says, a large one a tool's
 * result, whose number is its place among the large ones. What happened is written as a row of
 * signs: = same, ~ edited, - dropped, + inserted. */
#include "traffic/align.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

static void write_body(struct wr_buf *out, const char *letters)
{
    wr_buf_text(out, "{\"model\":\"gpt-5\",\"messages\":[");
    for (const char *c = letters; *c; c++) {
        if (*c >= 'a' && *c <= 'z')
            wr_buf_printf(out, "%s{\"role\":\"user\",\"content\":\"words %c\"}",
                          c == letters ? "" : ",", *c);
        else /* "A1": the call A with the result 1 */
            wr_buf_printf(out,
                          "%s{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
                          "\"%c\",\"type\":\"function\",\"function\":{\"name\":\"bash\","
                          "\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"%c\","
                          "\"content\":\"result %c\"}",
                          c == letters ? "" : ",", c[0], c[0], c[1]);
        if (*c < 'a')
            c++;
    }
    wr_buf_text(out, "]}");
}

static const struct {
    const char *behaviour, *before, *after, *happened;
} cases[] = {
    {"the same", "abc", "abc", "==="},
    {"one that is gone", "abc", "ac", "=-="},
    {"several that are gone", "abcde", "ae", "=---="},
    {"one that was put in", "ac", "abc", "=+="},
    {"a summary for several", "abcd", "axd", "=~-="},
    {"at the end", "ab", "abc", "==+"},
    {"all of it", "ab", "", "--"},
    {"a result in another form, by its call", "aA1b", "aA2b", "==~="},
    {"a call that left with its result", "aA1B2b", "aB2b", "=--==="},
    {"nothing", "", "", ""},
};

static void what_happened_is_seen(void **state)
{
    static const char signs[] = "=~-+";
    (void)state;
    for (size_t n = 0; n < WR_COUNT_OF(cases); n++) {
        struct wr_align_side sides[2];
        struct wr_buf bodies[2], happened;
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&happened, 4096);
        for (int i = 0; i < 2; i++) {
            struct weir_request *request;
            wr_buf_init(&bodies[i], 65536);
            write_body(&bodies[i], i ? cases[n].after : cases[n].before);
            assert_int_equal(weir_request_new(wr_buf_view(&bodies[i]), NULL, &request, NULL),
                             WEIR_OK);
            assert_int_equal(wr_align_prepare(&sides[i], wr_buf_view(&bodies[i]), request, &arena),
                             WEIR_OK);
        }
        for (uint32_t i = 0, j = 0; i < sides[0].count || j < sides[1].count;) {
            enum wr_align change = wr_align_at(&sides[0], &sides[1], i, j);
            i += change != WR_ALIGN_INSERTED;
            j += change != WR_ALIGN_DROPPED;
            wr_buf_byte(&happened, signs[change]);
        }
        if (!wr_span_is(wr_buf_view(&happened), cases[n].happened))
            fail_msg("%s: %.*s", cases[n].behaviour, (int)happened.len, happened.bytes);
        for (int i = 0; i < 2; i++) {
            weir_request_free(sides[i].request);
            wr_buf_release(&bodies[i]);
        }
        wr_buf_release(&happened);
        wr_arena_release(&arena);
    }
}

static void changes_have_names(void **state)
{
    (void)state;
    assert_string_equal(wr_align_name(WR_ALIGN_SAME), "same");
    assert_string_equal(wr_align_name(WR_ALIGN_INSERTED), "inserted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_happened_is_seen),
                                       cmocka_unit_test(changes_have_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
