/* Real requests: the newest request of every session, in four of five dialects each. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/core_laws.h"
#include "tests/traces.h"

static bool session_holds(const struct traces *traces, size_t index,
                          struct core_laws_counts *counts)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};
    struct wr_arena arena;
    struct wr_buf text, body;
    struct wr_session session;
    bool ok = true;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    traces_read(traces, index, &text, &arena, &session);
    for (size_t d = 0; d < WR_COUNT_OF(dialects) && ok && session.requests_count; d++) {
        if (d >= 3 && d != 3 + index % 3) /* the newest take turns */
            continue;
        struct wr_session_request request = {
            dialects[d], session.requests[session.requests_count - 1], "gpt-5", true};
        wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
        wr_session_write(&session, &request, &body);
        ok = core_laws_hold(wr_buf_view(&body), dialects[d], counts);
        if (!ok)
            printf("  in %s as %s\n", traces->paths[index], weir_dialect_name(dialects[d]));
        wr_buf_release(&body);
    }
    wr_buf_release(&text);
    wr_arena_release(&arena);
    return ok;
}

static void laws_hold_on_recorded_sessions(void **state)
{
    struct traces traces;
    struct core_laws_counts counts = {0};
    bool ok = true;
    (void)state;

    traces_open(&traces);
    size_t step = traces_step(&traces, traces_setting("WEIR_SESSIONS", TRACES_MAX));
    for (size_t i = 0; i < traces.count; i += step)
        ok &= session_holds(&traces, i, &counts);
    printf("%llu requests, %llu segments, %llu edits, %llu drops, %llu bytes\n",
           (unsigned long long)counts.requests, (unsigned long long)counts.segments,
           (unsigned long long)counts.edits, (unsigned long long)counts.drops,
           (unsigned long long)counts.bytes);
    traces_close(&traces);
    assert_true(ok);
    assert_true(counts.edits > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws_hold_on_recorded_sessions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
