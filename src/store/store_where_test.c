#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "store/ledger.h"

static void an_address_is_no_directory(void **state)
{
    struct weir_store *store;
    struct wr_ledger *ledger;
    weir_trouble trouble;

    (void)state;
    assert_int_equal(weir_store_open("mysql://h/d", NULL, &store, &trouble, NULL), WEIR_INVALID);
    assert_int_equal(trouble, WEIR_TROUBLE_FOREIGN);
    assert_null(store);
    assert_int_equal(wr_ledger_open("s3://bucket", NULL, &ledger, NULL, NULL), WEIR_INVALID);
    assert_null(ledger);
    assert_int_not_equal(access("mysql:", F_OK), 0);
}

static void a_password_is_not_shown(void **state)
{
    static const char *const rows[][2] = {
        {"/var/lib/weir", "/var/lib/weir"},
        {"postgresql://h/d", "postgresql://h/d"},
        {"postgresql://u@h/d", "postgresql://u@h/d"},
        {"postgresql://u:secret@h/d?sslmode=require", "postgresql://u@h/d?sslmode=require"},
        {"postgresql://u:sec?ret@h/d", "postgresql://u@h/d"},
        {"postgresql://u:sec/ret@h/d", "postgresql://u@h/d"},
        {"postgresql://u:sec@ret@h/d", "postgresql://u@h/d"},
        {"postgresql://h:5432/d?user=a@b", "postgresql://h:5432/d?user=a@b"},
        {"postgres://h/d?password=secret&user=u", "postgres://h/d?&user=u"},
    };
    char shown[WR_WHERE_SHOWN_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(wr_where_shown(rows[i][0], shown), rows[i][1]);
    assert_int_equal(wr_where("postgresql://h/d"), WR_WHERE_POSTGRES);
    assert_int_equal(wr_where("relative/folder"), WR_WHERE_DIRECTORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_address_is_no_directory),
                                       cmocka_unit_test(a_password_is_not_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
