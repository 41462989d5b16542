#include "base/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

static weir_status skip_member(void *user, yaml_node_t *key, yaml_node_t *value)
{
    (void)key;
    (void)value;
    ++*(int *)user;
    return WEIR_OK;
}

static const struct {
    const char *behaviour, *text;
    weir_status expected;
    const char *said; /* how the error begins */
    size_t at_byte;
} cases[] = {
    {"nothing is a document without a root", "", WEIR_OK, "", 0},
    {"a comment is too", "# nothing\n", WEIR_OK, "", 0},
    {"pairs are read", "a: 1\nb: {c: d}\n", WEIR_OK, "", 0},
    {"a mark of the encoding is passed over",
     "\xEF\xBB\xBF"
     "a: 1\n",
     WEIR_OK, "", 0},
    {"a list is no pairs", "- a\n- b\n", WEIR_INVALID, "line 1, column 1: `name: value`", 0},
    {"a name may not be there twice", "a: 1\n\xC3\xA9: 2\na: 3\n", WEIR_INVALID,
     "line 3, column 1: 'a' is here twice", 11},
    {"a name is no list", "? [a]\n: 1\n", WEIR_INVALID, "line 1, column 3: a name is wanted", 2},
    {"five are more than four", "{a: 1, b: 2, c: 3, d: 4, e: 5}", WEIR_LIMIT,
     "line 1, column 1: 5 entries: there may be at most 4", 0},
    {"what is no YAML is said where", "a: 1\nb: [2\n", WEIR_SYNTAX, "line 3, column 1: ", 11},
    {"bytes that are no UTF-8 are", "a: 1\nb: \xFF\n", WEIR_SYNTAX, "line 2, column 4: ", 8},
    {"a second document is one too many", "a: 1\n---\nb: 2\n", WEIR_INVALID,
     "line 3, column 1: a second document", 9},
    {"an alias without an anchor is refused", "a: *b\n", WEIR_SYNTAX, "line 1, column 4: ", 3},
};

static void documents_are_read_and_failures_have_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct weir_err err = {0};
        struct wr_yaml yaml;
        int members = 0;
        weir_status status = wr_yaml_open(&yaml, wr_span_of(cases[i].text), &err);
        if (!status) {
            yaml_node_t *root = wr_yaml_root(&yaml);
            if (root)
                status = wr_yaml_each(&yaml, root, 4, skip_member, &members);
            wr_yaml_close(&yaml);
        }
        if (status != cases[i].expected || err.at_byte != cases[i].at_byte ||
            !wr_span_starts(wr_span_of(err.text), wr_span_of(cases[i].said)))
            fail_msg("%s: status %d, byte %zu, %s", cases[i].behaviour, (int)status, err.at_byte,
                     err.text);
        if (status)
            assert_int_equal(members, 0);
    }
}

/* Nothing here is timed; without the limit the deep ones take minutes. */
static void too_much_is_refused_where_it_begins(void **state)
{
    static const struct {
        const char *behaviour, *piece;
        uint32_t count;
        weir_status expected;
        const char *said;
    } rows[] = {
        {"as deep as may be", "[", WR_YAML_DEPTH_MAX, WEIR_SYNTAX, "line 2, column 1: "},
        {"one deeper", "[", WR_YAML_DEPTH_MAX + 1, WEIR_LIMIT, "line 1, column 65: this is nested"},
        {"as deep as a file is long", "[", 1000000, WEIR_LIMIT,
         "line 1, column 65: this is nested"},
        {"pairs", "{a: ", 100000, WEIR_LIMIT, "line 1, column 257: this is nested"},
        {"lists by lines", "- ", 100000, WEIR_LIMIT, "line 1, column 129: this is nested"},
        {"many of them", "- a\n", WR_YAML_EVENTS_MAX, WEIR_LIMIT,
         "line 262142, column 3: there is"},
        {"not so many", "- a\n", WR_YAML_EVENTS_MAX / 2, WEIR_OK, ""},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_err err = {0};
        struct wr_yaml yaml;
        struct wr_buf text;
        wr_buf_init(&text, 1 << 24);
        for (uint32_t n = 0; n < rows[i].count; n++)
            wr_buf_text(&text, rows[i].piece);
        weir_status status = wr_yaml_open(&yaml, wr_buf_view(&text), &err);
        if (!status)
            wr_yaml_close(&yaml);
        if (status != rows[i].expected ||
            !wr_span_starts(wr_span_of(err.text), wr_span_of(rows[i].said)))
            fail_msg("%s: status %d, %s", rows[i].behaviour, (int)status, err.text);
        wr_buf_release(&text);
    }
}

static void members_are_found_by_name(void **state)
{
    struct wr_yaml yaml;
    (void)state;
    assert_int_equal(wr_yaml_open(&yaml, WR_LIT("a: [1]\nb: two\n"), NULL), WEIR_OK);
    yaml_node_t *root = wr_yaml_root(&yaml);
    assert_true(wr_span_is(wr_yaml_text(wr_yaml_find(&yaml, root, "b")), "two"));
    assert_int_equal(wr_yaml_text(wr_yaml_find(&yaml, root, "a")).len, 0);
    assert_null(wr_yaml_find(&yaml, root, "c"));
    assert_null(wr_yaml_find(&yaml, wr_yaml_find(&yaml, root, "a"), "b"));
    wr_yaml_close(&yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_read_and_failures_have_their_place),
        cmocka_unit_test(too_much_is_refused_where_it_begins),
        cmocka_unit_test(members_are_found_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
