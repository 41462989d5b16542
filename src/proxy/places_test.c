#include "proxy/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/span.h"

enum { NOW_MS = 100 * 60 * 1000, MINUTE_MS = 60 * 1000 };

static struct wr_upstream list[3] = {{.base_url = "http://a", .weight = 1},
                                     {.base_url = "http://b", .weight = 1},
                                     {.base_url = "http://c", .weight = 2}};

static struct wr_upstream make_upstream(bool is_weighted)
{
    return (struct wr_upstream){
        .name = "openai", .places = list, .places_count = 3, .is_weighted = is_weighted};
}

static size_t choose(struct wr_places *places, const struct wr_upstream *u, uint64_t session,
                     int64_t now_ms)
{
    size_t own;
    return wr_places_choose(places, u, session, 0, now_ms, &own);
}

static void a_session_stays_where_it_went(void **state)
{
    struct wr_places *places = calloc(1, sizeof(*places));
    struct wr_upstream u = make_upstream(false);
    size_t own;

    (void)state;
    assert_int_equal(choose(places, &u, 7, NOW_MS), 0);
    wr_places_rest(places, &u, 0, 0, NOW_MS);
    assert_int_equal(wr_places_choose(places, &u, 7, 0, NOW_MS, &own), 1);
    assert_int_equal(own, 0);
    wr_places_keep(places, &u, 7, 1, NOW_MS);
    int64_t later_ms = NOW_MS + WR_PROXY_REST_MS + 1;
    assert_int_equal(choose(places, &u, 7, later_ms), 1); /* though the first is back */
    assert_int_equal(choose(places, &u, 8, later_ms), 0);
    wr_places_rest(places, &u, 1, 0, later_ms);
    assert_int_equal(choose(places, &u, 7, later_ms), 0);
    wr_places_keep(places, &u, 7, 0, later_ms);
    assert_int_equal(choose(places, &u, 7, later_ms + WR_PROXY_REST_MS + 1), 0);
    wr_places_keep(places, &u, 7, 2, NOW_MS);
    assert_int_equal(choose(places, &u, 7, NOW_MS + 59 * MINUTE_MS), 2);
    assert_int_equal(choose(places, &u, 7, NOW_MS + 62 * MINUTE_MS), 0); /* its cache is gone */
    free(places);
}

static void where_all_rest_its_own_is_asked(void **state)
{
    struct wr_places *places = calloc(1, sizeof(*places));
    struct wr_upstream u = make_upstream(false);

    (void)state;
    for (size_t i = 0; i < 3; i++)
        wr_places_rest(places, &u, i, 5000, NOW_MS);
    assert_int_equal(choose(places, &u, 7, NOW_MS + 4999), 0);
    assert_int_equal(wr_places_next(places, &u, 7, 1, NOW_MS), SIZE_MAX);
    assert_int_equal(wr_places_next(places, &u, 7, 1, NOW_MS + 5001), 1);
    assert_int_equal(wr_places_next(places, &u, 7, 7, NOW_MS + 5001), SIZE_MAX);
    wr_places_rest(places, &u, 0, UINT64_C(1) << 60, NOW_MS); /* a year is too long */
    assert_int_equal(choose(places, &u, 7, NOW_MS + WR_PROXY_REST_MS_MAX + 1), 0);
    free(places);
}

static void weights_are_shares(void **state)
{
    struct wr_places *places = calloc(1, sizeof(*places));
    struct wr_upstream u = make_upstream(true);
    size_t counts[3] = {0}, moved = 0, own;

    (void)state;
    for (uint64_t session = 1; session <= 8000; session++) {
        size_t index = choose(places, &u, session * 0x9e3779b97f4a7c15u, NOW_MS);
        counts[index]++;
        /* Without one of them only its own sessions move. */
        moved +=
            wr_places_choose(places, &u, session * 0x9e3779b97f4a7c15u, 1, NOW_MS, &own) != index;
    }
    assert_in_range(counts[0], 1800, 2200);
    assert_in_range(counts[1], 1800, 2200);
    assert_in_range(counts[2], 3700, 4300);
    assert_int_equal(moved, counts[0]);
    free(places);
}

static void a_full_table_forgets_and_does_not_fail(void **state)
{
    struct wr_places *places = calloc(1, sizeof(*places));
    struct wr_upstream u = make_upstream(false);
    size_t kept = 0;

    (void)state;
    for (uint64_t session = 1; session <= 3 * WR_PROXY_PLACED_MAX; session++)
        wr_places_keep(places, &u, session, 2, NOW_MS);
    for (uint64_t session = 1; session <= 3 * WR_PROXY_PLACED_MAX; session++) {
        size_t index = choose(places, &u, session, NOW_MS);
        assert_true(index == 0 || index == 2);
        kept += index == 2;
    }
    assert_in_range(kept, WR_PROXY_PLACED_MAX / 2, WR_PROXY_PLACED_MAX + 64);
    free(places);
}

static void a_cache_is_gone_after_an_hour(void **state)
{
    struct wr_places *places = calloc(1, sizeof(*places));
    struct wr_upstream u = make_upstream(false), other = make_upstream(false);

    (void)state;
    other.name = "other";
    wr_places_keep(places, &u, 7, 2, NOW_MS);
    assert_int_equal(choose(places, &u, 7, NOW_MS + 60 * MINUTE_MS), 2);
    assert_int_equal(choose(places, &u, 7, NOW_MS + 61 * MINUTE_MS), 0);
    assert_int_equal(choose(places, &other, 7, NOW_MS), 0); /* of another upstream */
    wr_places_keep(places, &u, 7, 1, NOW_MS + 61 * MINUTE_MS);
    assert_int_equal(choose(places, &u, 7, NOW_MS + 61 * MINUTE_MS), 1);
    wr_places_keep(places, &u, 8, 0, NOW_MS); /* where it begins by itself nothing is kept */
    for (size_t i = 0, count = 0; i < WR_PROXY_PLACED_MAX; i++) {
        count += atomic_load(&places->moved[i]) != 0;
        assert_true(count <= 1);
    }
    free(places);
}

/* A place is known by its address, its key and its order: what a reload changes does not rest. */
static void what_was_changed_does_not_rest(void **state)
{
    struct wr_places *places = calloc(1, sizeof(*places));
    struct wr_upstream changed[3], u = make_upstream(false);

    (void)state;
    wr_places_rest(places, &u, 0, 0, NOW_MS);
    assert_int_equal(choose(places, &u, 7, NOW_MS), 1);
    assert_int_equal(choose(places, &u, 7, NOW_MS + WR_PROXY_REST_MS - 1), 1);
    assert_int_equal(choose(places, &u, 7, NOW_MS + WR_PROXY_REST_MS), 0);
    memcpy(changed, list, sizeof(changed));
    u.places = changed;
    changed[0].key = "k";
    assert_int_equal(choose(places, &u, 7, NOW_MS), 0);
    changed[0].key = NULL;
    assert_int_equal(choose(places, &u, 7, NOW_MS), 1);
    changed[0].base_url = "http://z";
    assert_int_equal(choose(places, &u, 7, NOW_MS), 0);
    changed[0] = list[0];
    u.name = "another";
    assert_int_equal(choose(places, &u, 7, NOW_MS), 0);
    free(places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cache_is_gone_after_an_hour),
                                       cmocka_unit_test(what_was_changed_does_not_rest),
                                       cmocka_unit_test(a_session_stays_where_it_went),
                                       cmocka_unit_test(where_all_rest_its_own_is_asked),
                                       cmocka_unit_test(weights_are_shares),
                                       cmocka_unit_test(a_full_table_forgets_and_does_not_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
