#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static struct wr_arena arena;

static int open_arena(void **state)
{
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    wr_arena_release(&arena);
    return 0;
}

static struct wr_json read_doc(const char *text)
{
    struct wr_json doc;
    struct weir_err err;
    if (wr_json_parse(&doc, &arena, wr_span_of(text), NULL, &err))
        fail_msg("%s: %s", text, err.text);
    return doc;
}

static void assert_raw(const struct wr_json *doc, wr_json_id id, const char *raw)
{
    assert_int_not_equal(id, WR_JSON_NONE);
    if (!wr_span_is(wr_json_raw(doc, id), raw))
        fail_msg("found %.*s where %s should be", (int)wr_json_raw(doc, id).len,
                 wr_json_raw(doc, id).ptr, raw);
}

static void values_keep_their_bytes(void **state)
{
    struct wr_json doc = read_doc(" { \"a\" : 1.50 , \"a\\u0062\":[ \"\\/\" , { } ] } ");
    static const char *const raw[] = {"{ \"a\" : 1.50 , \"a\\u0062\":[ \"\\/\" , { } ] }",
                                      "\"a\"",
                                      "1.50",
                                      "\"a\\u0062\"",
                                      "[ \"\\/\" , { } ]",
                                      "\"\\/\"",
                                      "{ }"};
    (void)state;

    assert_int_equal(doc.nodes_count, WR_COUNT_OF(raw));
    for (uint32_t i = 0; i < doc.nodes_count; i++)
        assert_raw(&doc, i, raw[i]);
    assert_true(wr_span_is(wr_json_inner(&doc, 3), "a\\u0062"));
}

static void strings_say_what_they_hold(void **state)
{
    struct wr_json doc = read_doc(
        "{\"plain\":\"a\",\"\\u006b\":\"\xC3\xA9\",\"both\":\"\xC3\xA9\\n\",\"none\":\"\"}");
    static const struct {
        bool is_key, escaped, ascii;
    } expected[] = {{false, false, false}, {true, false, true},   {false, false, true},
                    {true, true, true},    {false, false, false}, {true, false, true},
                    {false, true, false},  {true, false, true},   {false, false, true}};
    (void)state;

    assert_int_equal(doc.nodes_count, WR_COUNT_OF(expected));
    for (uint32_t i = 0; i < doc.nodes_count; i++) {
        assert_int_equal(doc.nodes[i].is_key, expected[i].is_key);
        assert_int_equal(doc.nodes[i].escaped, expected[i].escaped);
        assert_int_equal(doc.nodes[i].ascii, expected[i].ascii);
    }
}

static void walking_an_array(void **state)
{
    struct wr_json doc = read_doc("[1,[2,[3]],{\"a\":[4]},\"5\",[]]");
    static const char *const raw[] = {"1", "[2,[3]]", "{\"a\":[4]}", "\"5\"", "[]"};
    size_t count = 0;
    (void)state;

    for (wr_json_id id = wr_json_first(&doc, 0); id != WR_JSON_NONE; id = wr_json_next(&doc, 0, id))
        assert_raw(&doc, id, raw[count++]);
    assert_int_equal(count, WR_COUNT_OF(raw));
    assert_int_equal(wr_json_count(&doc, 0), WR_COUNT_OF(raw));
}

static void walking_an_object(void **state)
{
    struct wr_json doc = read_doc("{\"a\":[1,{\"x\":2}],\"b\":{},\"c\":\"d\"}");
    static const char *const raw[][2] = {
        {"\"a\"", "[1,{\"x\":2}]"}, {"\"b\"", "{}"}, {"\"c\"", "\"d\""}};
    size_t count = 0;
    (void)state;

    for (wr_json_id key = wr_json_first(&doc, 0); key != WR_JSON_NONE;
         key = wr_json_next(&doc, 0, key)) {
        assert_raw(&doc, key, raw[count][0]);
        assert_raw(&doc, wr_json_value(key), raw[count++][1]);
    }
    assert_int_equal(count, WR_COUNT_OF(raw));
    assert_int_equal(wr_json_count(&doc, 0), WR_COUNT_OF(raw));
}

static void what_is_empty_has_no_first(void **state)
{
    struct wr_json doc = read_doc("[[],{},1,\"a\"]");
    (void)state;

    for (wr_json_id id = 1; id <= 4; id++) {
        assert_int_equal(wr_json_first(&doc, id), WR_JSON_NONE);
        assert_int_equal(wr_json_count(&doc, id), 0);
    }
    assert_int_equal(wr_json_first(&doc, WR_JSON_NONE), WR_JSON_NONE);
    assert_int_equal(wr_json_count(&doc, WR_JSON_NONE), 0);
}

static void text_is_borrowed_or_unescaped(void **state)
{
    struct wr_json doc = read_doc("[\"plain\",\"a\\nb\",\"\",\"\\ud83d\\ude00\"]");
    (void)state;

    weir_span plain = wr_json_text(&doc, &arena, 1);
    assert_ptr_equal(plain.ptr, doc.text.ptr + 2);
    assert_true(wr_span_is(plain, "plain"));
    assert_true(wr_span_is(wr_json_text(&doc, &arena, 2), "a\nb"));
    assert_true(wr_span_is(wr_json_text(&doc, &arena, 3), ""));
    assert_non_null(wr_json_text(&doc, &arena, 3).ptr);
    assert_true(wr_span_is(wr_json_text(&doc, &arena, 4), "\xF0\x9F\x98\x80"));

    struct wr_arena none;
    wr_arena_init(&none, 0);
    assert_null(wr_json_text(&doc, &none, 2).ptr);
    assert_int_equal(wr_arena_status(&none), WEIR_LIMIT);
    assert_non_null(wr_json_text(&doc, &none, 1).ptr);
    wr_arena_release(&none);
}

static void text_is_compared_unescaped(void **state)
{
    static const struct {
        const char *behaviour, *json, *text;
        bool is;
    } cases[] = {
        {"the same", "\"abc\"", "abc", true},
        {"a letter less", "\"ab\"", "abc", false},
        {"a letter more", "\"abcd\"", "abc", false},
        {"another letter at the end", "\"abd\"", "abc", false},
        {"escaped", "\"\\u0061bc\"", "abc", true},
        {"escaped at the end", "\"ab\\u0063\"", "abc", true},
        {"escaped, a letter less", "\"\\u0061b\"", "abc", false},
        {"escaped, a letter more", "\"\\u0061bcd\"", "abc", false},
        {"a wide letter escaped", "\"\\u00e9\"", "\xC3\xA9", true},
        {"a wide letter escaped, another one meant", "\"\\u00e8\"", "\xC3\xA9", false},
        {"a pair", "\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80", true},
        {"nothing", "\"\"", "", true},
        {"something is not nothing", "\"a\"", "", false},
        {"nothing is not something", "\"\"", "a", false},
        {"a NUL ends no text", "\"a\\u0000\"", "a", false},
        {"a NUL alone is not nothing", "\"\\u0000\"", "", false},
        {"a number is no text", "1", "1", false},
        {"a word is no text", "null", "null", false},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_json doc = read_doc(cases[i].json);
        if (wr_json_text_is(&doc, 0, cases[i].text) != cases[i].is)
            fail_msg("%s", cases[i].behaviour);
    }
    struct wr_json doc = read_doc("1");
    assert_false(wr_json_text_is(&doc, WR_JSON_NONE, "a"));
    assert_false(wr_json_is(&doc, WR_JSON_NONE, WR_JSON_NULL));
}

static void find_takes_the_last_of_equal_keys(void **state)
{
    struct wr_json doc =
        read_doc("{\"a\":1,\"b\":{\"a\":2,\"z\":3},\"\\u0061\":4,\"\":5,\"ab\":6}");
    (void)state;

    assert_raw(&doc, wr_json_find(&doc, 0, "a"), "4");
    assert_raw(&doc, wr_json_find(&doc, wr_json_find(&doc, 0, "b"), "a"), "2");
    assert_raw(&doc, wr_json_find(&doc, 0, ""), "5");
    assert_raw(&doc, wr_json_find(&doc, 0, "ab"), "6");
    assert_int_equal(wr_json_find(&doc, 0, "z"), WR_JSON_NONE);
    assert_int_equal(wr_json_find(&doc, 0, "abc"), WR_JSON_NONE);
    assert_int_equal(wr_json_find(&doc, WR_JSON_NONE, "a"), WR_JSON_NONE);
    assert_int_equal(wr_json_find(&doc, 2, "a"), WR_JSON_NONE);

    doc = read_doc("[\"a\",1]");
    assert_int_equal(wr_json_find(&doc, 0, "a"), WR_JSON_NONE);
    doc = read_doc("{}");
    assert_int_equal(wr_json_find(&doc, 0, "a"), WR_JSON_NONE);
}

static void pick_finds_all_in_one_walk(void **state)
{
    static const char *const names[] = {"role", "content", "none", "r", ""};
    wr_json_id values[WR_COUNT_OF(names)];
    struct wr_json doc = read_doc("{\"x\":0,\"content\":[{\"role\":1}],\"role\":2,\"\":3,\"x\":4}");
    (void)state;

    assert_true(wr_json_pick(&doc, 0, names, WR_COUNT_OF(names),
                             values)); /* x is repeated, and not asked for */
    assert_raw(&doc, values[0], "2");
    assert_raw(&doc, values[1], "[{\"role\":1}]");
    assert_int_equal(values[2], WR_JSON_NONE);
    assert_int_equal(values[3], WR_JSON_NONE);
    assert_raw(&doc, values[4], "3");

    doc = read_doc("{\"role\":1,\"content\":2,\"\\u0072ole\":3}");
    assert_false(wr_json_pick(&doc, 0, names, WR_COUNT_OF(names), values));
    assert_raw(&doc, values[0], "3");
    assert_raw(&doc, values[1], "2");

    assert_true(wr_json_pick(&doc, WR_JSON_NONE, names, WR_COUNT_OF(names), values));
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        assert_int_equal(values[i], WR_JSON_NONE);
}

static void integers_are_plain_and_in_range(void **state)
{
    static const struct {
        const char *behaviour, *json;
        bool ok;
        int64_t number;
    } cases[] = {
        {"zero", "0", true, 0},
        {"minus zero", "-0", true, 0},
        {"a negative number", "-42", true, -42},
        {"the largest", "9223372036854775807", true, INT64_MAX},
        {"one more", "9223372036854775808", false, 0},
        {"the smallest", "-9223372036854775808", true, INT64_MIN},
        {"one less", "-9223372036854775809", false, 0},
        {"far too large", "123456789012345678901234567890", false, 0},
        {"a fraction", "1.0", false, 0},
        {"an exponent", "1e2", false, 0},
        {"a string", "\"1\"", false, 0},
        {"a word", "true", false, 0},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_json doc = read_doc(cases[i].json);
        int64_t number = 0;
        if (wr_json_i64(&doc, 0, &number) != cases[i].ok || number != cases[i].number)
            fail_msg("%s", cases[i].behaviour);
    }
    struct wr_json doc = read_doc("1");
    int64_t number;
    assert_false(wr_json_i64(&doc, WR_JSON_NONE, &number));
}

static void lines_and_columns_count_from_one(void **state)
{
    static const struct {
        const char *text;
        size_t at, line, column;
    } cases[] = {{"", 0, 1, 1},     {"abc", 0, 1, 1},  {"abc", 2, 1, 3},    {"abc", 3, 1, 4},
                 {"a\nb", 1, 1, 2}, {"a\nb", 2, 2, 1}, {"a\n\nb", 2, 2, 1}, {"a\n\nb", 3, 3, 1},
                 {"a\n", 2, 2, 1},  {"a\nb", 99, 2, 2}};
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        size_t line, column;
        wr_json_line_column(wr_span_of(cases[i].text), cases[i].at, &line, &column);
        assert_int_equal(line, cases[i].line);
        assert_int_equal(column, cases[i].column);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

static void what_stands_under_a_key_is_read_or_nothing(void **state)
{
    struct wr_json doc = read_doc("{\"a\":\"x\\ny\",\"n\":-3,\"m\":7,\"f\":1.5,\"o\":{}}");
    (void)state;

    assert_true(wr_span_is(wr_json_find_text(&doc, &arena, 0, "a"), "x\ny"));
    assert_true(wr_span_is(wr_json_find_text(&doc, &arena, 0, "n"), ""));
    assert_true(wr_span_is(wr_json_find_text(&doc, &arena, 0, "none"), ""));
    assert_true(wr_span_is(wr_json_find_text(&doc, &arena, WR_JSON_NONE, "a"), ""));
    assert_int_equal(wr_json_find_i64(&doc, 0, "n"), -3);
    assert_int_equal(wr_json_find_i64(&doc, 0, "f"), 0);
    assert_int_equal(wr_json_find_u64(&doc, 0, "n"), 0);
    assert_int_equal(wr_json_find_u64(&doc, 0, "m"), 7);
    assert_int_equal(wr_json_find_u64(&doc, 0, "a"), 0);
    assert_int_equal(wr_json_find_u64(&doc, WR_JSON_NONE, "m"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_keep_their_bytes),
        TEST(strings_say_what_they_hold),
        TEST(walking_an_array),
        TEST(walking_an_object),
        TEST(what_is_empty_has_no_first),
        TEST(text_is_borrowed_or_unescaped),
        TEST(text_is_compared_unescaped),
        TEST(find_takes_the_last_of_equal_keys),
        TEST(pick_finds_all_in_one_walk),
        TEST(integers_are_plain_and_in_range),
        TEST(what_stands_under_a_key_is_read_or_nothing),
        TEST(lines_and_columns_count_from_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
