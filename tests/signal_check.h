/* signal_check.h -- for tests: signals in a notation short enough for a table.
 *
 * "E:message | L:a.c:3:5 | X:1": a letter for the kind, then the text; in any order.
 */
#ifndef WR_TESTS_SIGNAL_CHECK_H
#define WR_TESTS_SIGNAL_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "condense/signal.h"

struct signal_case {
    const char *behaviour;
    enum wr_output_kind kind;
    const char *text, *expected;
};

static inline char signal_letter(enum wr_signal_kind kind)
{
    return "CEWXTNLSFH"[kind];
}

/* Takes the next signal off the notation. */
static inline bool signal_next(weir_span *rest, weir_span *one)
{
    if (!rest->len)
        return false;
    size_t bar = wr_span_find(*rest, WR_LIT(" | "), 0);
    size_t end = bar == SIZE_MAX ? rest->len : bar;
    *one = wr_span_cut(*rest, 0, end);
    *rest = wr_span_cut(*rest, bar == SIZE_MAX ? end : bar + 3, rest->len);
    return true;
}

static inline bool signal_is(const struct wr_signal *signal, weir_span one)
{
    return one.len > 2 && one.ptr[0] == signal_letter(signal->kind) &&
           wr_span_eq(signal->text, wr_span_cut(one, 2, one.len));
}

static inline bool signal_expects(const char *expected, const struct wr_signal *signal)
{
    weir_span rest = wr_span_of(expected), one;
    while (signal_next(&rest, &one))
        if (signal_is(signal, one))
            return true;
    return false;
}

static inline bool signal_has(const struct wr_signal_set *set, weir_span one)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (signal_is(&set->signals[i], one))
            return true;
    return false;
}

/* Prints what differs and returns how many rows do. */
static inline unsigned signal_check_row(const struct signal_case *row)
{
    struct wr_arena arena;
    struct wr_signal_set set;
    unsigned wrong = 0;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_signal_scan(&set, &arena, wr_span_of(row->text), row->kind), WEIR_OK);
    weir_span rest = wr_span_of(row->expected), one;
    while (signal_next(&rest, &one))
        if (!signal_has(&set, one)) {
            print_error("%s: missing %.*s\n", row->behaviour, (int)one.len, one.ptr);
            wrong = 1;
        }
    for (uint32_t i = 0; i < set.count; i++)
        if (!signal_expects(row->expected, &set.signals[i])) {
            print_error("%s: unexpected %c:%.*s\n", row->behaviour,
                        signal_letter(set.signals[i].kind), (int)set.signals[i].text.len,
                        set.signals[i].text.ptr);
            wrong = 1;
        }
    wr_arena_release(&arena);
    return wrong;
}

static inline void signal_check(const struct signal_case *rows, size_t count)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += signal_check_row(&rows[i]);
    if (wrong)
        fail_msg("%u of %zu rows", wrong, count);
}

#endif
