#include "net/fd_room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"

static const struct {
    const char *behaviour;
    uint64_t fds_max;
    uint32_t wanted, expected;
} cases[] = {
    {"what is wanted, where there is room", UINT64_MAX, 8192, 8192},
    {"just enough", WR_NET_FDS_KEPT + 200, 100, 100},
    {"half of what is left", WR_NET_FDS_KEPT + 199, 100, 99},
    {"a small limit", 64, 8192, (64 - WR_NET_FDS_KEPT) / 2},
    {"one, where there is no room", WR_NET_FDS_KEPT, 8192, 1},
    {"or less than none", 3, 8192, 1},
};

static void each_exchange_has_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++)
        if (wr_fd_room_of(cases[i].fds_max, cases[i].wanted) != cases[i].expected)
            fail_msg("%s", cases[i].behaviour);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_exchange_has_two)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
