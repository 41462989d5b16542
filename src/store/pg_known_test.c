/* What a node knows of a session needs no server: each mark is found by its key and kind, and each
 * original once. */
#include "store/pg_known.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/span.h"

enum { KEYS = 300 }; /* so many that places of a table collide */

static const weir_mark_kind kinds[] = {WEIR_MARK_STEP, WEIR_MARK_SENT};

static weir_hash key_of(uint32_t number)
{
    weir_hash key = {.bytes = {0}};
    memcpy(key.bytes, &number, sizeof(number));
    return key;
}

static weir_span value_of(char *text, size_t bytes, uint32_t number, size_t kind, int round)
{
    (void)snprintf(text, bytes, "%u %zu %d", (unsigned)number, kind, round);
    return wr_span_of(text);
}

static void each_mark_is_found_by_its_key_and_kind(void **state)
{
    struct wr_pg_known known = {.uses_count = 0};
    struct wr_pg_session *session = wr_pg_known_make(&known, 7);
    char text[64];
    (void)state;
    assert_non_null(session);
    for (int round = 0; round < 2; round++) /* the second time each takes another value */
        for (uint32_t i = 0; i < KEYS; i++)
            for (size_t k = 0; k < WR_COUNT_OF(kinds); k++) {
                struct weir_mark mark = {.key = key_of(i),
                                         .kind = kinds[k],
                                         .value = value_of(text, sizeof(text), i, k, round)};
                wr_pg_session_mark(session, &mark);
            }
    assert_int_equal(session->marks_count, KEYS * WR_COUNT_OF(kinds));
    for (uint32_t i = 0; i < KEYS; i++)
        for (size_t k = 0; k < WR_COUNT_OF(kinds); k++) {
            weir_hash key = key_of(i);
            const weir_span *found = wr_pg_session_find_mark(session, &key, kinds[k]);
            assert_non_null(found);
            assert_true(wr_span_eq(*found, value_of(text, sizeof(text), i, k, 1)));
        }
    weir_hash other = key_of(KEYS);
    assert_null(wr_pg_session_find_mark(session, &other, kinds[0]));
    wr_pg_known_release(&known);
}

static void each_original_is_known_once(void **state)
{
    struct wr_pg_known known = {.uses_count = 0};
    struct wr_pg_session *session = wr_pg_known_make(&known, 7);
    (void)state;
    assert_non_null(session);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < KEYS; i++) {
            weir_hash hash = key_of(i % 2 ? i : i << 16);
            assert_int_equal(wr_pg_session_has(session, &hash), round);
            wr_pg_session_original(session, &hash);
        }
    assert_int_equal(session->originals_count, KEYS);
    wr_pg_known_release(&known);
}

static void the_session_used_longest_ago_gives_way(void **state)
{
    struct wr_pg_known known = {.uses_count = 0};
    (void)state;
    for (uint64_t name = 1; name <= WR_PG_KNOWN_COUNT; name++)
        assert_non_null(wr_pg_known_make(&known, name));
    assert_non_null(wr_pg_known_find(&known, 1));
    assert_non_null(wr_pg_known_make(&known, WR_PG_KNOWN_COUNT + 1));
    assert_null(wr_pg_known_find(&known, 2));
    assert_non_null(wr_pg_known_find(&known, 1));
    assert_non_null(wr_pg_known_find(&known, 3));
    wr_pg_known_forget(&known, 3);
    assert_null(wr_pg_known_find(&known, 3));
    wr_pg_known_release(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mark_is_found_by_its_key_and_kind),
        cmocka_unit_test(each_original_is_known_once),
        cmocka_unit_test(the_session_used_longest_ago_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
