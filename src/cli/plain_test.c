#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/plain.h"

static void our_signs_are_ascii_and_all_else_stays(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"18,098 → 8,729 tokens", "18,098 -> 8,729 tokens"},
        {"a ██ b", "a ## b"},
        {"cut…", "cut..."},
        {"what a user wrote: Müller, 東京", "what a user wrote: Müller, 東京"},
        {"half a sign: \xe2\x86", "half a sign: \xe2\x86"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wr_buf out;
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        wr_plain_text(wr_span_of(rows[i].text), &out);
        if (!wr_span_is(wr_buf_view(&out), rows[i].expected))
            fail_msg("%s: %.*s", rows[i].text, (int)out.len, out.len ? out.bytes : "");
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(our_signs_are_ascii_and_all_else_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
