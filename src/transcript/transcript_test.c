#include "transcript/transcript.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "weir/segment.h"

/* ---- segments ---- */

struct made {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
};

static void make(struct made *made, const char *json)
{
    wr_arena_init(&made->arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&made->doc, &made->arena, wr_span_of(json), NULL, NULL),
                     WEIR_OK);
    wr_transcript_init(&made->transcript, &made->arena, &made->doc, WEIR_DIALECT_CHAT);
}

static void a_range_is_between_quotes_or_the_whole_value(void **state)
{
    static const struct {
        const char *json;
        wr_json_id payload;
        uint32_t start, end;
    } rows[] = {
        {" \"ab\" ", 0, 2, 4},   {"\"\"", 0, 1, 1},  {"[\"ab\"]", 0, 0, 6}, {"[\"ab\"]", 1, 2, 4},
        {" {\"a\":1}", 0, 1, 8}, {" null", 0, 1, 5}, {"[12]", 1, 1, 3},     {"\"\\n\"", 0, 1, 3},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct made made;
        make(&made, rows[i].json);
        struct wr_segment s = {.payload = rows[i].payload};
        weir_range range = wr_segment_range(&made.transcript, &s);
        assert_int_equal(range.start, rows[i].start);
        assert_int_equal(range.end, rows[i].end);
        wr_arena_release(&made.arena);
    }
}

static void a_text_is_unescaped_and_its_parts_joined(void **state)
{
    static const wr_json_id parts[] = {2, 3, 4};
    static const struct {
        const char *behaviour, *json;
        wr_json_id payload;
        uint32_t parts_count;
        const char *expected;
    } rows[] = {
        {"one part", "[\"x\",\"a\\nb\"]", 0, 1, "a\nb"},
        {"parts are joined by a line end", "[\"x\",\"a\\t\",\"\",\"b\"]", 0, 3, "a\t\n\nb"},
        {"without parts, a string", "[\"x\\u0041\"]", 1, 0, "xA"},
        {"without parts, any other value as it stands", "[ {\"a\": \"\\n\"} ]", 1, 0,
         "{\"a\": \"\\n\"}"},
        {"an empty part", "[\"x\",\"\"]", 0, 1, ""},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct made made;
        make(&made, rows[i].json);
        struct wr_segment s = {
            .payload = rows[i].payload, .parts = parts, .parts_count = rows[i].parts_count};
        weir_span text = wr_segment_text(&made.transcript, &s, &made.arena);
        assert_non_null(text.ptr);
        if (!wr_span_is(text, rows[i].expected))
            fail_msg("%s: got %.*s", rows[i].behaviour, (int)text.len, text.ptr);
        assert_int_equal(wr_segment_is_editable(&s), rows[i].parts_count > 0);
        wr_arena_release(&made.arena);
    }
}

static void a_text_without_memory_is_null(void **state)
{
    static const wr_json_id parts[] = {1, 2};
    struct made made;
    struct wr_arena none;
    (void)state;

    make(&made, "[\"a\",\"b\"]");
    wr_arena_init(&none, 0);
    struct wr_segment s = {.parts = parts, .parts_count = 2};
    assert_null(wr_segment_text(&made.transcript, &s, &none).ptr);
    assert_int_equal(wr_arena_status(&none), WEIR_LIMIT);
    wr_arena_release(&none);
    wr_arena_release(&made.arena);
}

static void what_is_added_is_a_copy_without_links(void **state)
{
    struct made made;
    struct wr_segment s = {
        .kind = WEIR_KIND_IMAGE, .pair = 5, .group = 5, .loop = 5, .why_other = 5};
    (void)state;

    make(&made, "[]");
    for (uint32_t i = 0; i < 1000; i++) {
        s.turn = i;
        assert_int_equal(wr_transcript_add(&made.transcript, &s), WEIR_OK);
    }
    assert_int_equal(made.transcript.segments_count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        const struct wr_segment *added = &made.transcript.segments[i];
        assert_int_equal(added->kind, WEIR_KIND_IMAGE);
        assert_int_equal(added->turn, i);
        assert_int_equal(added->pair, WR_SEGMENT_NONE);
        assert_int_equal(added->group, WR_SEGMENT_NONE);
        assert_int_equal(added->loop, WR_SEGMENT_NONE);
        assert_int_equal(added->why_other, WR_SEGMENT_NONE);
    }
    wr_arena_release(&made.arena);
}

static void there_are_not_more_segments_than_the_cap(void **state)
{
    struct made made;
    struct wr_segment s = {.kind = WEIR_KIND_TEXT};
    (void)state;

    make(&made, "[]");
    made.transcript.segments_count = made.transcript.segments_cap = WR_SEGMENTS_MAX;
    assert_int_equal(wr_transcript_add(&made.transcript, &s), WEIR_LIMIT);
    wr_arena_release(&made.arena);
}

/* ---- memo ---- */

enum { MEMO_BYTES_MAX = 1 << 20 };

static wr_hash128 key_of(uint32_t n)
{
    return wr_hash128_of((weir_span){(const char *)&n, sizeof(n)});
}

static void what_is_put_is_found_again_as_a_copy(void **state)
{
    char path[] = "src/a.c";
    struct wr_effect effect = {.kind = WR_EFFECT_READ,
                               .path = {path, 7},
                               .query = WR_LIT(""),
                               .rev = WR_LIT(""),
                               .program = WR_LIT("cat")};
    struct wr_memo_entry entry = {
        .handles = {.path = {path, 7}, .effects = &effect, .effects_count = 1}, .has_slack = true};
    struct wr_memo *memo;
    (void)state;

    assert_int_equal(wr_memo_new(&memo, MEMO_BYTES_MAX), WEIR_OK);
    assert_null(wr_memo_find(memo, key_of(1)));
    wr_memo_put(memo, key_of(1), &entry);
    memset(path, 'x', 7); /* the memo must not look at the original any more */
    const struct wr_memo_entry *found = wr_memo_find(memo, key_of(1));
    assert_non_null(found);
    assert_true(wr_span_is(found->handles.path, "src/a.c"));
    assert_true(wr_span_is(found->handles.effects[0].path, "src/a.c"));
    assert_true(wr_span_is(found->handles.effects[0].program, "cat"));
    assert_true(found->has_slack);
    assert_null(wr_memo_find(memo, key_of(2)));
    wr_memo_free(memo);
}

static void a_memo_that_has_grown_forgets_when_a_request_begins(void **state)
{
    struct wr_memo_entry entry = {.handles = {.path = WR_LIT("p")}};
    struct wr_memo *memo;
    (void)state;

    assert_int_equal(wr_memo_new(&memo, MEMO_BYTES_MAX), WEIR_OK);
    for (uint32_t n = 0; n < 20000; n++)
        wr_memo_put(memo, key_of(n), &entry);
    assert_non_null(wr_memo_find(memo, key_of(0)));
    wr_memo_begin(memo);
    assert_null(wr_memo_find(memo, key_of(0)));
    wr_memo_put(memo, key_of(0), &entry);
    wr_memo_begin(memo);
    assert_non_null(wr_memo_find(memo, key_of(0)));
    wr_memo_free(memo);
}

/* ---- names ---- */

/* The words are a contract: `weir inspect --json` prints them. */
static void names_are_what_is_documented(void **state)
{
    static const char *const dialects[] = {"chat",   "responses", "messages",
                                           "gemini", "ollama",    "converse"};
    static const char *const roles[] = {"none", "system", "developer", "user", "assistant", "tool"};
    static const char *const kinds[] = {"text", "tool_call", "tool_result", "reasoning",  "image",
                                        "file", "system",    "tools",       "compaction", "other"};
    static const char *const classes[] = {
        "protocol exact",         "continuation exact", "critical exact",     "rehydratable exact",
        "lossless transformable", "condensable",        "droppable duplicate"};
    (void)state;
    for (int i = 0; i < (int)(WR_COUNT_OF(dialects)); i++)
        assert_string_equal(weir_dialect_name((weir_dialect)i), dialects[i]);
    for (int i = 0; i < (int)(WR_COUNT_OF(roles)); i++)
        assert_string_equal(weir_role_name((weir_role)i), roles[i]);
    for (int i = 0; i < (int)(WR_COUNT_OF(kinds)); i++)
        assert_string_equal(weir_kind_name((weir_kind)i), kinds[i]);
    for (int i = 0; i < (int)(WR_COUNT_OF(classes)); i++)
        assert_string_equal(weir_class_name((weir_class)i), classes[i]);
}

static void a_number_that_is_none_of_them_has_a_name_too(void **state)
{
    (void)state;
    assert_string_equal(weir_dialect_name((weir_dialect)7), "unknown");
    assert_string_equal(weir_role_name((weir_role)7), "unknown");
    assert_string_equal(weir_kind_name((weir_kind)15), "unknown");
    assert_string_equal(weir_class_name((weir_class)7), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_between_quotes_or_the_whole_value),
        cmocka_unit_test(a_text_is_unescaped_and_its_parts_joined),
        cmocka_unit_test(a_text_without_memory_is_null),
        cmocka_unit_test(what_is_added_is_a_copy_without_links),
        cmocka_unit_test(there_are_not_more_segments_than_the_cap),
        cmocka_unit_test(what_is_put_is_found_again_as_a_copy),
        cmocka_unit_test(a_memo_that_has_grown_forgets_when_a_request_begins),
        cmocka_unit_test(names_are_what_is_documented),
        cmocka_unit_test(a_number_that_is_none_of_them_has_a_name_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
