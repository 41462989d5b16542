#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_says_what_and_where),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(long_text_is_cut_at_its_cap),
        cmocka_unit_test(every_status_has_a_text_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
