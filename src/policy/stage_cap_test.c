#include "policy/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "json/json.h"

static void assert_capped(const char *behaviour, weir_span text, uint64_t tokens_max,
                          enum wr_cap_keep keep, weir_span expected)
{
    struct wr_buf out;
    bool is_cut;
    wr_buf_init(&out, 1 << 20);
    wr_cap_text(&out, text, tokens_max, keep, &is_cut);
    if (!wr_span_eq(wr_buf_view(&out), expected))
        fail_msg("%s: got %.*s", behaviour, (int)out.len, out.bytes);
    wr_buf_release(&out);
}

static const struct {
    const char *behaviour, *text;
    uint64_t tokens_max;
    enum wr_cap_keep keep;
    const char *expected;
} cases[] = {
    {"a text that fits stays", "abcdefgh", 2, WR_CAP_HEAD, "abcdefgh"},
    {"a few bytes over a whole token still fit", "abcdefghijk", 2, WR_CAP_HEAD, "abcdefghijk"},
    {"the head stays, the indicator behind it", "abcdefghijkl", 2, WR_CAP_HEAD,
     "abcdefgh\n\n[truncated: kept first ~2 of ~3 tokens (head)]"},
    {"the tail stays, the indicator before it", "abcdefghijkl", 2, WR_CAP_TAIL,
     "[truncated: kept last ~2 of ~3 tokens (tail)]\n\nefghijkl"},
    {"half of each stays, the indicator between", "abcdefghijkl", 2, WR_CAP_BOTH,
     "abcd\n\n[truncated: kept first+last ~2 of ~3 tokens (both)]\n\nijkl"},
    {"no character is cut in two at the head", "aaaaaaaéaaaa", 2, WR_CAP_HEAD,
     "aaaaaaa\n\n[truncated: kept first ~2 of ~3 tokens (head)]"},
    {"no character is cut in two at the tail", "aaaaéaaaaaaa", 2, WR_CAP_TAIL,
     "[truncated: kept last ~2 of ~3 tokens (tail)]\n\naaaaaaa"},
};

static void texts_are_cut_as_the_document_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        assert_capped(cases[i].behaviour, wr_span_of(cases[i].text), cases[i].tokens_max,
                      cases[i].keep, wr_span_of(cases[i].expected));
}

static enum wr_cap_keep keep_of(const struct wr_json *doc, wr_json_id word)
{
    if (wr_json_text_is(doc, word, "tail"))
        return WR_CAP_TAIL;
    return wr_json_text_is(doc, word, "both") ? WR_CAP_BOTH : WR_CAP_HEAD;
}

static void golden_cases_pass(void **state)
{
    static const char *const names[] = {"text", "max_tokens", "strategy", "expected"};
    struct wr_buf file;
    struct wr_arena arena;
    struct wr_json doc;
    size_t checked = 0;
    (void)state;

    wr_buf_init(&file, 1 << 20);
    if (!wr_test_file("../shared/fixtures/duragent.json", &file)) {
        wr_buf_release(&file);
        skip();
    }
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&file), NULL, NULL), WEIR_OK);
    wr_json_id list = wr_json_find(&doc, 0, "truncate");
    for (wr_json_id c = wr_json_first(&doc, list); c != WR_JSON_NONE;
         c = wr_json_next(&doc, list, c)) {
        wr_json_id values[4];
        int64_t tokens_max;
        assert_true(wr_json_pick(&doc, c, names, 4, values));
        assert_true(wr_json_i64(&doc, values[1], &tokens_max));
        assert_capped("golden", wr_json_text(&doc, &arena, values[0]), (uint64_t)tokens_max,
                      keep_of(&doc, values[2]), wr_json_text(&doc, &arena, values[3]));
        checked++;
    }
    assert_true(checked > 10);
    wr_arena_release(&arena);
    wr_buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_cut_as_the_document_says),
                                       cmocka_unit_test(golden_cases_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
