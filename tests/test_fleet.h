/* test_fleet.h -- for tests of the laws: a node that is alone, with its store in memory; or a
 * fleet, whose nodes have an engine and a connection each and share one PostgreSQL, and take turns.
 */
#ifndef WR_TESTS_TEST_FLEET_H
#define WR_TESTS_TEST_FLEET_H

#include "tests/test_postgres.h"
#include "tests/traces.h"
#include "weir/weir.h"

enum { TEST_NODES_MAX = 3 };

struct test_node {
    struct weir_engine *engine;
    struct weir_store *store;
    struct wr_own *own; /* of tests that have one; theirs to make and free */
};

struct test_fleet {
    struct test_node nodes[TEST_NODES_MAX];
    size_t nodes_count, turns_count;
};

/* With `url` NULL one node. What another test left in the database is gone. */
static inline void test_fleet_open(struct test_fleet *fleet, const char *url)
{
    struct weir_gc_report report;

    *fleet = (struct test_fleet){.nodes_count = url ? TEST_NODES_MAX : 1};
    for (size_t i = 0; i < fleet->nodes_count; i++) {
        struct test_node *node = &fleet->nodes[i];
        assert_int_equal(weir_engine_new(&node->engine, NULL), WEIR_OK);
        assert_int_equal(url ? weir_store_open(url, NULL, &node->store, NULL, NULL)
                             : weir_store_new_memory(0, &node->store),
                         WEIR_OK);
    }
    if (url)
        assert_int_equal(weir_store_purge_all(fleet->nodes[0].store, &report, NULL), WEIR_OK);
}

static inline struct test_node *test_fleet_next(struct test_fleet *fleet)
{
    return &fleet->nodes[fleet->turns_count++ % fleet->nodes_count];
}

static inline void test_fleet_close(struct test_fleet *fleet)
{
    for (size_t i = 0; i < fleet->nodes_count; i++) {
        weir_store_close(fleet->nodes[i].store);
        weir_engine_free(fleet->nodes[i].engine);
    }
}

/* How much of the laws a fleet plays: little, unless it is all that is played. */
static inline uint32_t test_fleet_setting(const char *name, uint32_t few, uint32_t otherwise)
{
    return getenv("WEIR_FLEET") ? traces_setting(name, otherwise) : few;
}

/* WEIR_FLEET: only what is about a fleet (make test-fleet). */
static inline void test_fleet_filter(void)
{
    if (getenv("WEIR_FLEET"))
        cmocka_set_test_filter("*fleet*");
}

#endif
