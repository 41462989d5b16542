#include "launch/edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

#define JSON_EDIT(...)                          \
    {                                           \
        .keys = {__VA_ARGS__}, .value = "\"v\"" \
    }

static const struct {
    const char *behaviour;
    struct wr_edit edit;
    const char *before, *after; /* NULL: refused */
} rows[] = {
    {"nothing becomes an object", JSON_EDIT("a", "b"), "", "{\"a\": {\"b\": \"v\"}}\n"},
    {"an object gets a member", JSON_EDIT("a", "b"), "{\"x\":1}",
     "{\"x\":1,\"a\": {\"b\": \"v\"}}"},
    {"so does an inner one", JSON_EDIT("a", "b"), "{ \"a\" : { } }", "{ \"a\" : {\"b\": \"v\" } }"},
    {"comments stay", JSON_EDIT("b"), "{\"x\":1 // y\n}", "{\"x\":1,\"b\": \"v\" // y\n}"},
    {"a list gets an element", JSON_EDIT("l", "[]"), "{\"l\":[1]}", "{\"l\":[1,\"v\"]}"},
    {"a list is made", JSON_EDIT("a", "l", "[]"), "{}", "{\"a\": {\"l\": [\"v\"]}}"},
    {"a value of the user's stays", JSON_EDIT("a"), "{\"a\":1}", NULL},
    {"so does a shape", JSON_EDIT("a", "b"), "{\"a\":[]}", NULL},
    {"no JSON", JSON_EDIT("a"), "{\"a\"", NULL},
    {"no object", JSON_EDIT("a"), "[]", NULL},
    {"an optional one that is there",
     {.keys = {"a"}, .value = "2", .is_optional = true},
     "{\"a\":1}",
     "{\"a\":1}"},
    {"one that is there already", JSON_EDIT("a"), "{\"a\" :\"v\"}", "{\"a\" :\"v\"}"},
    {"a line comes first",
     {.name = "n", .value = "\"v\""},
     "# c\n[t]\nn = 1\n",
     "n = \"v\"\n# c\n[t]\nn = 1\n"},
    {"a line that is there already", {.name = "n", .value = "\"v\""}, "n=\"v\"\n", "n=\"v\"\n"},
    {"a line of the user's", {.name = "n", .value = "\"v\""}, "  n = 7\n", NULL},
    {"a quoted name is the same", {.name = "n", .value = "\"v\""}, "# [c]\n\"n\" = 7\n", NULL},
    {"in plain quotes too", {.name = "n", .value = "\"v\""}, "'n'=7\n", NULL},
    {"behind a list of lists",
     {.name = "n", .value = "\"v\""},
     "a = [ # ]\n[\"]\"],\n]\nn = 7\n",
     NULL},
    {"behind a long string",
     {.name = "n", .value = "\"v\""},
     "a = \"\"\"\n[t]\nm = 1 \\\"\"\"\"\nn = 7\n",
     NULL},
    {"in a long string it is none",
     {.name = "n", .value = "\"v\""},
     "a = '''\nn = 7\n\\'''\n[t]\n",
     "n = \"v\"\na = '''\nn = 7\n\\'''\n[t]\n"},
    {"a string that does not end ends with its line",
     {.name = "n", .value = "\"v\""},
     "a = \"b\nn = 7\n",
     NULL},
    {"behind the mark of UTF-8",
     {.name = "n", .value = "\"v\""},
     "\xEF\xBB\xBFm = 1\n",
     "\xEF\xBB\xBFn = \"v\"\nm = 1\n"},
    {"a rival", {.name = "n", .value = "\"v\"", .rival = "m"}, "m = 7\n", NULL},
    {"a longer name is another",
     {.name = "n", .value = "\"v\""},
     "nn = 7\n",
     "n = \"v\"\nnn = 7\n"},
};

static void each_row_holds_and_is_undone(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        weir_span before = wr_span_of(rows[i].before), after, undone;
        struct weir_err err = {0};
        struct wr_arena arena;
        bool is_there;

        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        weir_status status = wr_edit_make(&rows[i].edit, &arena, before, &after, &is_there, &err);
        if (!status != (rows[i].after != NULL))
            fail_msg("%s: %d %s", rows[i].behaviour, (int)status, err.text);
        if (!status && !wr_span_is(after, rows[i].after))
            fail_msg("%s: %.*s", rows[i].behaviour, (int)after.len, after.ptr);
        /* Taken out of what it made, it leaves what was there (`{}` for nothing). */
        if (!status && !is_there && before.len) {
            assert_int_equal(wr_edit_undo(&rows[i].edit, &arena, after, &undone, &err), WEIR_OK);
            bool was_empty_inside = i == 2;
            if (!was_empty_inside && !wr_span_eq(undone, before))
                fail_msg("%s: undone: %.*s", rows[i].behaviour, (int)undone.len, undone.ptr);
        }
        wr_arena_release(&arena);
    }
}

static void what_was_written_anew_is_found(void **state)
{
    const struct wr_edit edit = {.keys = {"a", "w"}, .value = "{\"c\": [1, \"x y\"]}"};
    struct wr_arena arena;
    weir_span undone;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_edit_undo(&edit, &arena,
                                  WR_LIT("{\n \"a\": {\n  \"w\": {\n   \"c\": [\n1,\n\"x y\"]\n  "
                                         "},\n  \"u\": 2\n }\n}"),
                                  &undone, NULL),
                     WEIR_OK);
    assert_true(wr_span_is(undone, "{\n \"a\": {\n  \"u\": 2\n }\n}"));
    assert_int_equal(
        wr_edit_undo(&edit, &arena, WR_LIT("{\"a\":{\"w\":{\"c\":[1,\"xy\"]}}}"), &undone, NULL),
        WEIR_INVALID);
    assert_int_equal(wr_edit_undo(&edit, &arena, WR_LIT("{}"), &undone, NULL), WEIR_NOTFOUND);
    assert_int_equal(wr_edit_undo(&edit, &arena, WR_LIT("\n"), &undone, NULL), WEIR_NOTFOUND);
    wr_arena_release(&arena);
}

static void a_change_is_shown(void **state)
{
    static const struct {
        const char *before, *after, *shown;
    } changes[] = {
        {"", "a\nb\n", "+a\n+b\n"},
        {"a\nb\nc\nd\n", "a\nb\nx\nc\nd\n", " b\n+x\n c\n"},
        {"a\nb\nc\n", "a\nB\nc\n", " a\n-b\n+B\n c\n"},
        {"{}", "{\"a\":1}", "-{}\n+{\"a\":1}\n"},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(changes); i++) {
        struct wr_buf out;
        wr_buf_init(&out, 4096);
        wr_edit_show(&out, wr_span_of(changes[i].before), wr_span_of(changes[i].after));
        if (!wr_span_is(wr_buf_view(&out), changes[i].shown))
            fail_msg("%zu: %.*s", i, (int)out.len, out.bytes);
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_holds_and_is_undone),
                                       cmocka_unit_test(what_was_written_anew_is_found),
                                       cmocka_unit_test(a_change_is_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
