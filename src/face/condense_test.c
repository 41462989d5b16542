#include "weir/condense.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/span.h"

enum { LINES = 400 };

/* What a build prints, with one error in it. */
static void write_build(struct wr_buf *out)
{
    wr_buf_init(out, 1 << 20);
    for (int i = 0; i < LINES; i++)
        wr_buf_printf(out,
                      i == 250 ? "src/gate.c:17:5: error: 'sill' undeclared\n"
                               : "  compiling part number %d of the gate\n",
                      i);
}

static bool has(weir_span text, const char *word)
{
    return wr_span_find(text, wr_span_of(word), 0) != SIZE_MAX;
}

static void an_output_keeps_its_error_within_the_budget(void **state)
{
    struct weir_condense_options options = WEIR_CONDENSE_OPTIONS_INIT;
    struct weir_condensed condensed, again;
    struct wr_buf text;
    (void)state;

    write_build(&text);
    options.command = WR_LIT("make");
    options.budget_bytes = 1000;
    assert_int_equal(weir_condense(wr_buf_view(&text), &options, &condensed, NULL), WEIR_OK);
    assert_false(condensed.is_same);
    assert_true(condensed.text.len <= 1100);
    assert_true(has(condensed.text, "src/gate.c:17:5: error: 'sill' undeclared"));
    assert_int_equal(condensed.lines_total, LINES);
    bool holds_error = false;
    for (size_t i = 0; i < condensed.lines_count; i++) {
        assert_true(condensed.lines[i].first <= condensed.lines[i].last);
        holds_error |= condensed.lines[i].first <= 251 && condensed.lines[i].last >= 251;
    }
    assert_true(holds_error);
    assert_int_equal(weir_condense(wr_buf_view(&text), &options, &again, NULL), WEIR_OK);
    assert_true(wr_span_eq(condensed.text, again.text));
    weir_condensed_release(&again);
    weir_condensed_release(&condensed);
    wr_buf_release(&text);
}

static void a_short_text_stays_as_it_is(void **state)
{
    struct weir_condensed condensed;
    (void)state;

    assert_int_equal(weir_condense(WR_LIT("one\ntwo\n"), NULL, &condensed, NULL), WEIR_OK);
    assert_true(condensed.is_same);
    assert_true(wr_span_is(condensed.text, "one\ntwo\n"));
    weir_condensed_release(&condensed);
    assert_int_equal(weir_condense(WR_LIT(""), NULL, &condensed, NULL), WEIR_OK);
    assert_int_equal(condensed.text.len, 0);
    weir_condensed_release(&condensed);
    weir_condensed_release(&condensed);
}

static void the_call_says_what_kind_it_is(void **state)
{
    struct weir_condense_options options = WEIR_CONDENSE_OPTIONS_INIT;
    struct weir_condensed condensed;
    struct wr_buf text;
    (void)state;

    write_build(&text);
    options.path = WR_LIT("src/gate.c");
    assert_int_equal(weir_condense(wr_buf_view(&text), &options, &condensed, NULL), WEIR_OK);
    assert_string_equal(condensed.kind, "file");
    weir_condensed_release(&condensed);
    options.struct_bytes = offsetof(struct weir_condense_options, path);
    assert_int_equal(weir_condense(wr_buf_view(&text), &options, &condensed, NULL), WEIR_OK);
    assert_string_not_equal(condensed.kind, "file");
    weir_condensed_release(&condensed);
    wr_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_keeps_its_error_within_the_budget),
        cmocka_unit_test(a_short_text_stays_as_it_is),
        cmocka_unit_test(the_call_says_what_kind_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
