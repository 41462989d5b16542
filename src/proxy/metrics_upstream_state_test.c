#include "proxy/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

static void one_that_is_not_reached_is_down_until_it_answers(void **state)
{
    struct wr_upstream_states *states = calloc(1, sizeof(*states));
    int64_t since_ms = 0;

    (void)state;
    assert_non_null(states);
    assert_false(wr_upstream_is_down(states, "openai", &since_ms)); /* nobody asked it yet */
    for (int i = 0; i < WR_UPSTREAM_TRIES_MIN; i++) {
        assert_false(wr_upstream_is_down(states, "openai", &since_ms));
        wr_upstream_state_note(states, "openai", false, 1000 + i);
    }
    assert_true(wr_upstream_is_down(states, "openai", &since_ms));
    assert_int_equal(since_ms, 1000);
    assert_false(wr_upstream_is_down(states, "anthropic", &since_ms));
    wr_upstream_state_note(states, "openai", true, 2000);
    assert_false(wr_upstream_is_down(states, "openai", &since_ms));
    for (int i = 0; i < 1000; i++) { /* names of many configurations find no place, and no harm */
        char name[16];
        (void)snprintf(name, sizeof(name), "n%d", i);
        wr_upstream_state_note(states, name, false, 1);
    }
    assert_false(wr_upstream_is_down(states, "n999", &since_ms));
    free(states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_not_reached_is_down_until_it_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
