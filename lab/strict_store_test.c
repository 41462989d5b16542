#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "lab/strict_store.h"

static const weir_span text = {"what was taken out", 18};

static weir_status put(struct weir_store *store)
{
    struct weir_artifact artifact = {.text = text};
    struct weir_batch batch = {.tenant = WR_LIT("local"),
                               .session = WR_LIT("s"),
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

static weir_miss miss_of(struct weir_store *store)
{
    struct weir_lookup lookup = {.tenant = WR_LIT("local")};
    struct weir_artifact artifact;
    weir_miss miss = WEIR_MISS_NONE;

    assert_int_equal(weir_handle_of(text, &lookup.handle), WEIR_OK);
    weir_status status = weir_store_get(store, &lookup, &artifact, &miss, NULL);
    assert_int_equal(!status, miss == WEIR_MISS_NONE);
    if (!status)
        assert_true(wr_span_eq(artifact.text, text));
    return miss;
}

static const struct {
    const char *behaviour;
    enum wr_case_trouble trouble;
    weir_miss miss;
    weir_status put_again;
} rows[] = {
    {"a sound store gives back", WR_CASE_SOUND, WEIR_MISS_NONE, WEIR_OK},
    {"what is missing expired", WR_CASE_MISSING, WEIR_MISS_EXPIRED, WEIR_OK},
    {"what has other bytes is noticed", WR_CASE_CORRUPT, WEIR_MISS_CORRUPT, WEIR_OK},
    {"a locked store still reads", WR_CASE_LOCKED, WEIR_MISS_NONE, WEIR_IO},
};

static void test_damage(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct weir_store *store;
        assert_int_equal(wr_strict_store_new(&store), WEIR_OK);
        assert_int_equal(miss_of(store), WEIR_MISS_NEVER_STORED);
        assert_int_equal(put(store), WEIR_OK);
        wr_strict_store_damage(store, rows[i].trouble);
        if (miss_of(store) != rows[i].miss)
            fail_msg("%s", rows[i].behaviour);
        if (put(store) != rows[i].put_again)
            fail_msg("%s: written again", rows[i].behaviour);
        if (miss_of(store) != WEIR_MISS_NONE)
            fail_msg("%s: what is written again is sound", rows[i].behaviour);
        weir_store_close(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
