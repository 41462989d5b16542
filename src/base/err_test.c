#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdint.h>
#include <string.h>

static void a_failure_says_what_and_where(void **state)
{
    struct weir_err err = {0};
    (void)state;

    assert_int_equal(wr_fail(&err, WEIR_SYNTAX, 17, "found %s %d", "line", 3), WEIR_SYNTAX);
    assert_int_equal(err.code, WEIR_SYNTAX);
    assert_int_equal(err.at_byte, 17);
    assert_string_equal(err.text, "found line 3");
}

static void nobody_has_to_listen(void **state)
{
    (void)state;
    assert_int_equal(wr_fail(NULL, WEIR_IO, 0, "%d", 1), WEIR_IO);
}

static void long_text_is_cut_at_its_cap(void **state)
{
    struct weir_err err;
    char name[500];
    (void)state;

    memset(name, 'x', sizeof(name));
    (void)wr_fail(&err, WEIR_LIMIT, 0, "%.*s", (int)sizeof(name), name);
    assert_int_equal(strlen(err.text), WEIR_ERR_TEXT_BYTES - 1);
}

static void every_status_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int a = WEIR_OK; a <= WEIR_IO; a++) {
        assert_string_not_equal(weir_status_text((weir_status)a), "unknown status");
        for (int b = WEIR_OK; b < a; b++)
            assert_string_not_equal(weir_status_text((weir_status)a),
                                    weir_status_text((weir_status)b));
    }
    assert_int_equal(WEIR_OK, 0);
    assert_string_equal(weir_status_text((weir_status)99), "unknown status");
}

/* ==== options ==== */

/* The same options in three versions. */
struct first {
    size_t struct_bytes;
    const char *word;
};

struct second {
    size_t struct_bytes;
    const char *word;
    uint32_t number;
    uint32_t later;
};

struct third {
    size_t struct_bytes;
    const char *word;
    uint32_t number;
    uint32_t later;
    const char *last;
};

/* As the second version of the library reads them. */
static weir_status read_second(struct second *own, const void *given, struct weir_err *err)
{
    return wr_options_read(own, sizeof(*own), offsetof(struct second, number), given, err);
}

static void older_options_have_defaults_for_the_rest(void **state)
{
    struct second own;
    (void)state;

    /* Behind the first version's struct lies what is not its own. */
    struct {
        struct first options;
        uint32_t beyond[2];
    } old = {{sizeof(struct first), "old"}, {77, 88}};
    assert_int_equal(read_second(&own, &old, NULL), WEIR_OK);
    assert_string_equal(own.word, "old");
    assert_int_equal(own.number, 0);
    assert_int_equal(own.later, 0);
    assert_int_equal(own.struct_bytes, sizeof(own));
    /* A size that was not set is the first version's, not this one's. */
    old.options.struct_bytes = 0;
    assert_int_equal(read_second(&own, &old, NULL), WEIR_OK);
    assert_string_equal(own.word, "old");
    assert_int_equal(own.number, 0);
}

static void options_of_this_version_come_whole(void **state)
{
    struct second own, given = {sizeof(given), "now", 5, 6};
    (void)state;

    assert_int_equal(read_second(&own, &given, NULL), WEIR_OK);
    assert_memory_equal(&own, &given, sizeof(own));
    assert_int_equal(read_second(&own, NULL, NULL), WEIR_OK);
    assert_null(own.word);
    assert_int_equal(own.number, 0);
}

static void newer_options_are_taken_where_they_ask_for_nothing_new(void **state)
{
    struct third given = {sizeof(given), "new", 5, 6, NULL};
    struct weir_err err = {0};
    struct second own;
    (void)state;

    assert_int_equal(read_second(&own, &given, &err), WEIR_OK);
    assert_int_equal(own.later, 6);
    given.last = "something";
    assert_int_equal(read_second(&own, &given, &err), WEIR_INVALID);
    assert_non_null(strstr(err.text, "does not have"));
}

static void a_size_that_cannot_be_is_refused(void **state)
{
    struct second own, given = {.struct_bytes = 3};
    struct weir_err err = {0};
    (void)state;

    assert_int_equal(read_second(&own, &given, &err), WEIR_INVALID);
    assert_non_null(strstr(err.text, "struct_bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_says_what_and_where),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(long_text_is_cut_at_its_cap),
        cmocka_unit_test(every_status_has_a_text_of_its_own),
        cmocka_unit_test(older_options_have_defaults_for_the_rest),
        cmocka_unit_test(options_of_this_version_come_whole),
        cmocka_unit_test(newer_options_are_taken_where_they_ask_for_nothing_new),
        cmocka_unit_test(a_size_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
