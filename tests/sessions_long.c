/* Every request of every session, in all five dialects: the core's laws. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/limits.h"
#include "tests/core_laws.h"
#include "tests/traces.h"

static bool request_holds(const struct wr_session *session, uint32_t n, weir_dialect dialect,
                          struct core_laws_counts *counts)
{
    struct wr_session_request request = {dialect, session->requests[n], "gpt-5", true};
    struct wr_buf body;
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_session_write(session, &request, &body);
    bool ok = core_laws_hold(wr_buf_view(&body), dialect, counts);
    wr_buf_release(&body);
    return ok;
}

static void laws_hold_on_every_recorded_request(void **state)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT,     WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES, WEIR_DIALECT_GEMINI,
                                            WEIR_DIALECT_OLLAMA,   WEIR_DIALECT_CONVERSE};
    struct traces traces;
    struct core_laws_counts counts = {0};
    bool ok = true;
    (void)state;

    traces_open(&traces);
    for (size_t i = 0; i < traces.count; i++) {
        struct wr_arena arena;
        struct wr_buf text;
        struct wr_session session;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        traces_read(&traces, i, &text, &arena, &session);
        for (uint32_t n = 0; n < session.requests_count && ok; n++)
            ok = request_holds(&session, n, dialects[(n + i) % 5], &counts);
        if (!ok)
            printf("  in %s\n", traces.paths[i]);
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
    printf("note: %llu requests, %llu segments, %llu edits, %llu drops, %llu bytes\n",
           (unsigned long long)counts.requests, (unsigned long long)counts.segments,
           (unsigned long long)counts.edits, (unsigned long long)counts.drops,
           (unsigned long long)counts.bytes);
    traces_close(&traces);
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws_hold_on_every_recorded_request)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
