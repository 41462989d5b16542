/* The presets' laws on recorded sessions: the newest requests of eight sessions, in all three
 * dialects. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "tests/fold_laws.h"
#include "tests/traces.h"

enum { SESSIONS_TRIED = 8, REQUESTS_TRIED = 20 };

static uint32_t setting(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static bool session_holds(const struct traces *traces, size_t index, const struct wr_policy *policy,
                          struct fold_laws_counts *counts)
{
    static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT, WEIR_DIALECT_RESPONSES,
                                            WEIR_DIALECT_MESSAGES};
    static const uint64_t windows[] = {32000, 64000, 200000};
    struct wr_arena arena;
    struct wr_buf text;
    struct wr_session session;
    bool ok = true;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    traces_read(traces, index, &text, &arena, &session);
    for (size_t d = 0; d < 3; d++) {
        struct fold_laws_case c = {&session, policy, dialects[d], windows[(index + d) % 3],
                                   REQUESTS_TRIED};
        if (fold_laws_hold(&c, counts))
            continue;
        printf("  in %s\n", traces->paths[index]);
        ok = false;
    }
    wr_buf_release(&text);
    wr_arena_release(&arena);
    return ok;
}

static void print_counts(const struct wr_policy *policy, const struct fold_laws_counts *c)
{
    printf(
        "note: %-12s %5llu requests, %6llu edits, %4llu inserts, %4llu steps, tokens to %5.1f %%, "
        "%llu over the window\n",
        policy->name, (unsigned long long)c->requests, (unsigned long long)c->edits,
        (unsigned long long)c->inserts, (unsigned long long)c->steps,
        c->tokens_before ? 100.0 * (double)c->tokens_after / (double)c->tokens_before : 100.0,
        (unsigned long long)c->over_window);
}

static void laws_hold_for_every_preset(void **state)
{
    struct traces traces;
    bool ok = true;
    (void)state;

    traces_open(&traces);
    size_t wanted = setting("WEIR_SESSIONS", SESSIONS_TRIED);
    size_t step = traces.count > wanted ? traces.count / wanted : 1;
    for (uint32_t p = 0; p < wr_policy_count(); p++) {
        struct fold_laws_counts counts = {0};
        for (size_t i = 0; i < traces.count; i += step)
            ok &= session_holds(&traces, i, wr_policy_at(p), &counts);
        print_counts(wr_policy_at(p), &counts);
    }
    traces_close(&traces);
    assert_true(ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws_hold_for_every_preset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
