#include "weir/store_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

enum { ASKED_COUNT = 3, TOLD_BYTES = 64 };

struct fixture {
    struct wr_test_dir dir;
    struct weir_store *store;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    assert_int_equal(weir_store_open(f->dir.path, NULL, &f->store, NULL, NULL), WEIR_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    weir_store_close(f->store);
    wr_test_dir_remove(&f->dir);
    free(f);
    return 0;
}

static void put_pin(struct weir_store *store, const char *session, const char *value)
{
    struct weir_pin pin = {.model = WR_LIT("m"), .value = wr_span_of(value)};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = wr_span_of(session), .pins = &pin, .pins_count = 1};
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
}

struct told {
    char text[TOLD_BYTES];
    size_t len, stops_at;
};

static weir_status hear(void *user, size_t at, const struct weir_pin *pin)
{
    struct told *told = user;
    int len = snprintf(told->text + told->len, sizeof(told->text) - told->len, "%zu=%.*s ", at,
                       (int)pin->value.len, pin->value.ptr);
    told->len += (size_t)len;
    return at == told->stops_at ? WEIR_LIMIT : WEIR_OK;
}

static weir_status ask(struct weir_store *store, struct told *told)
{
    const struct weir_pin_query queries[ASKED_COUNT] = {
        {WR_LIT("a"), {.model = WR_LIT("m")}},
        {WR_LIT("b"), {.model = WR_LIT("m")}},
        {WR_LIT("c"), {.model = WR_LIT("m")}},
    };
    told->len = 0;
    told->text[0] = '\0';
    return weir_store_pins(store, LOCAL, queries, ASKED_COUNT, hear, told, NULL);
}

/* A host's store may have no function for several at once. */
static void those_that_there_are_are_told_in_order(void **state)
{
    struct weir_store *store = ((struct fixture *)*state)->store;
    struct weir_store_ops without = *store->ops;
    const struct weir_store_ops *ways[] = {store->ops, &without}, *ops = store->ops;

    without.pins = NULL;
    for (size_t i = 0; i < 2; i++) {
        struct told told = {.stops_at = ASKED_COUNT};
        store->ops = ways[i];
        assert_int_equal(ask(store, &told), WEIR_OK);
        assert_string_equal(told.text, i ? "0=one 2=three " : "");
        if (!i) {
            put_pin(store, "c", "three");
            put_pin(store, "a", "one");
        }
        assert_int_equal(ask(store, &told), WEIR_OK);
        assert_string_equal(told.text, "0=one 2=three ");
        told.stops_at = 0;
        assert_int_equal(ask(store, &told), WEIR_LIMIT);
        assert_string_equal(told.text, "0=one ");
    }
    store->ops = ops;
}

/* Nothing stays open behind a search: what another process commits is seen by the next. */
static void each_search_sees_what_is_there_then(void **state)
{
    struct fixture *f = *state;
    struct told told = {.stops_at = ASKED_COUNT};
    struct weir_store *other;

    assert_int_equal(weir_store_open(f->dir.path, NULL, &other, NULL, NULL), WEIR_OK);
    put_pin(f->store, "a", "one");
    assert_int_equal(ask(f->store, &told), WEIR_OK);
    put_pin(other, "b", "two");
    assert_int_equal(ask(f->store, &told), WEIR_OK);
    assert_string_equal(told.text, "0=one 1=two ");
    weir_store_close(other);
}

/* The directory is another by now: a search that finds nothing looks, and says so. */
static void a_search_without_a_find_looks_for_its_files(void **state)
{
    struct fixture *f = *state;
    struct told told = {.stops_at = ASKED_COUNT};
    struct weir_store *other;
    char path[sizeof(f->dir.path) + 16];

    static const char *const names[] = {"store.db", "store.db-wal", "store.db-shm"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", f->dir.path, names[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(weir_store_open(f->dir.path, NULL, &other, NULL, NULL), WEIR_OK);
    put_pin(other, "b", "two");
    assert_int_equal(ask(f->store, &told), WEIR_OK);
    assert_string_equal(told.text, "1=two ");
    assert_int_equal(weir_store_replacements(f->store), 1);
    weir_store_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(those_that_there_are_are_told_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_search_sees_what_is_there_then, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_search_without_a_find_looks_for_its_files, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
