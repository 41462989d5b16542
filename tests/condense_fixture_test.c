/* Outputs of commands and what another condenser promises of each
 * (../shared/fixtures/prodex-command-output.jsonl): what must still be said, what must be gone, and
 * that no signal is lost. Its kinds are mapped to ours, its limits in lines to a budget of as large
 * a share of the text. What must be gone is left out before all else, so half of that must do.
 *
 * Aside stay strings of its own format:
 * 1. Summaries, counts and headings that it writes itself ("pcs: ...", "records=61", "src/lib.rs (2
 *    matches):"). They are known by not standing in the input; nothing that was printed is let off.
 * 2. Of a command that succeeded it writes nothing but such a summary, so that not even the last
 *    lines stay. Here the end of an output always stays, and what stands in it is not asked to be
 *    gone.
 */
#include "condense/condense.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "tests/condense_check.h"
#include "condense/volatile.h"
#include "json/json.h"

static const char fixture[] = "../shared/fixtures/prodex-command-output.jsonl";

enum {
    END_LINES = 3, /* that stay whatever was printed */
    GAPS = 2,      /* behind the head and before the tail */
};

struct counts {
    unsigned cases, held, strings, aside, wrong;
};

struct fixture_case {
    const struct wr_json *doc;
    struct wr_arena *arena;
    weir_span name, text, plain; /* without escapes */
    wr_json_id options, expect;
    struct counts *counts;
};

static weir_span text_of(const struct fixture_case *c, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(c->doc, object, key);
    return wr_json_is(c->doc, id, WR_JSON_STRING) ? wr_json_text(c->doc, c->arena, id)
                                                  : (weir_span){"", 0};
}

static void complain(struct fixture_case *c, const char *what, weir_span text)
{
    print_error("%.*s: %s \"%.*s\"\n", (int)c->name.len, c->name.ptr, what, (int)text.len,
                text.ptr);
    c->counts->wrong++;
}

/* ---- from its words to ours ---- */

static enum wr_output_kind kind_of(const struct fixture_case *c)
{
    static const struct {
        const char *name;
        enum wr_output_kind kind;
    } kinds[] = {{"Search", WR_OUTPUT_SEARCH},
                 {"GitDiff", WR_OUTPUT_DIFF},
                 {"FileList", WR_OUTPUT_LIST},
                 {"LogStream", WR_OUTPUT_LOG},
                 {"Plain", WR_OUTPUT_PROCESS}};
    weir_span detected = text_of(c, c->expect, "detected_kind");
    for (size_t i = 0; i < WR_COUNT_OF(kinds); i++)
        if (wr_span_is(detected, kinds[i].name))
            return kinds[i].kind;
    const struct wr_output_hint hint = {WR_ORIGIN_RUN, text_of(c, c->options, "command"), {"", 0}};
    return wr_output_kind(&hint, c->text);
}

static size_t budget_of(const struct fixture_case *c)
{
    int64_t lines_max = 0;
    weir_span rest = c->text, line;
    size_t lines = 0;
    while (wr_span_line(&rest, &line))
        lines++;
    (void)wr_json_i64(c->doc, wr_json_find(c->doc, c->options, "max_lines"), &lines_max);
    if (lines_max <= 0 || lines <= (size_t)lines_max)
        return c->text.len;
    /* Its limits do not count the lines that say what was left out. */
    return c->text.len * (size_t)lines_max / lines + GAPS * WR_KEEP_GAP_BYTES;
}

/* Some cases are about what the user asked for, without saying what that was: the names that must
 * be there. */
static weir_span focus_of(const struct fixture_case *c)
{
    wr_json_id list = wr_json_find(c->doc, c->expect, "must_contain");
    bool is_asked = wr_span_find(c->name, WR_LIT("intent"), 0) != SIZE_MAX;
    return is_asked && list != WR_JSON_NONE ? wr_json_raw(c->doc, list) : (weir_span){"", 0};
}

/* ---- what it promises ---- */

static void check_contained(struct fixture_case *c, weir_span condensed)
{
    wr_json_id list = wr_json_find(c->doc, c->expect, "must_contain");
    if (list == WR_JSON_NONE)
        return;
    for (wr_json_id id = wr_json_first(c->doc, list); id != WR_JSON_NONE;
         id = wr_json_next(c->doc, list, id)) {
        weir_span text = wr_json_text(c->doc, c->arena, id);
        bool is_own = wr_span_find(c->plain, text, 0) == SIZE_MAX;
        c->counts->strings++;
        c->counts->aside += is_own;
        if (!is_own && wr_span_find(condensed, text, 0) == SIZE_MAX)
            complain(c, "does not say", text);
    }
}

static weir_span last_lines(weir_span text)
{
    size_t at = text.len, lines = 0;
    while (at && lines <= END_LINES)
        lines += text.ptr[--at] == '\n';
    return wr_span_cut(text, at, text.len);
}

static void check_gone(struct fixture_case *c, weir_span condensed)
{
    wr_json_id list = wr_json_find(c->doc, c->expect, "must_not_contain");
    if (list == WR_JSON_NONE)
        return;
    for (wr_json_id id = wr_json_first(c->doc, list); id != WR_JSON_NONE;
         id = wr_json_next(c->doc, list, id)) {
        weir_span text = wr_json_text(c->doc, c->arena, id);
        bool is_own = wr_span_find(last_lines(c->text), text, 0) != SIZE_MAX;
        c->counts->strings++;
        c->counts->aside += is_own;
        if (!is_own && wr_span_find(condensed, text, 0) != SIZE_MAX)
            complain(c, "still says", text);
    }
}

/* It names what a text tells by words of its own; each has a kind here: a stack stands below a
 * panic. */
static void check_counts(struct fixture_case *c, const struct wr_signal_set *set)
{
    static const struct {
        const char *name;
        enum wr_signal_kind kind;
    } rows[] = {{"errors", WR_SIGNAL_ERROR},         {"file_locations", WR_SIGNAL_LOCATION},
                {"diff_hunks", WR_SIGNAL_DIFF_HUNK}, {"test_failures", WR_SIGNAL_FAILED_TEST},
                {"exit_codes", WR_SIGNAL_EXIT},      {"stack_markers", WR_SIGNAL_CRITICAL}};
    wr_json_id counts = wr_json_find(c->doc, c->expect, "critical_signal_counts");
    for (size_t i = 0; counts != WR_JSON_NONE && i < WR_COUNT_OF(rows); i++) {
        int64_t count = 0;
        bool is_found = false;
        (void)wr_json_i64(c->doc, wr_json_find(c->doc, counts, rows[i].name), &count);
        for (uint32_t k = 0; k < set->count; k++)
            is_found |= set->signals[k].kind == rows[i].kind;
        if (is_found != (count > 0))
            complain(c, "has, or has not,", wr_span_of(rows[i].name));
    }
}

/* Whether anything failed. */
static void check_failure(struct fixture_case *c, const struct wr_signal_set *set)
{
    wr_json_id id = wr_json_find(c->doc, c->expect, "failure_suspected");
    bool is_failed = false;
    for (uint32_t i = 0; i < set->count; i++)
        is_failed |= set->signals[i].kind <= WR_SIGNAL_ERROR ||
                     set->signals[i].kind == WR_SIGNAL_FAILED_TEST ||
                     (set->signals[i].kind == WR_SIGNAL_TOTALS &&
                      wr_span_find(set->signals[i].text, WR_LIT("failed"), 0) != SIZE_MAX);
    if (id != WR_JSON_NONE && is_failed != wr_json_is(c->doc, id, WR_JSON_TRUE))
        complain(c, "is, or is not, taken for", WR_LIT("a failure"));
}

static weir_span condense(struct fixture_case *c, struct wr_condense_input *input,
                          size_t bytes_budget)
{
    struct wr_condensed out;
    input->bytes_budget = bytes_budget;
    assert_int_equal(wr_condense(&out, c->arena, input), WEIR_OK);
    const char *broken = condense_check(input, wr_condense);
    if (broken)
        complain(c, broken, (weir_span){"", 0});
    return out.text;
}

static void check_case(struct fixture_case *c)
{
    struct wr_condense_input input = {.text = c->text,
                                      .kind = kind_of(c),
                                      .command = text_of(c, c->options, "command"),
                                      .path = {"", 0},
                                      .query = {"", 0},
                                      .focus = focus_of(c)};
    struct wr_signal_set set;
    size_t bytes_budget = budget_of(c);
    check_contained(c, condense(c, &input, bytes_budget));
    check_gone(c, condense(c, &input, bytes_budget / 2));
    assert_int_equal(wr_signal_scan(&set, c->arena, c->text, input.kind), WEIR_OK);
    check_counts(c, &set);
    check_failure(c, &set);
}

static void read_case(struct counts *counts, weir_span line)
{
    struct wr_arena arena;
    struct wr_json doc;
    unsigned wrong = counts->wrong;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, line, NULL, NULL), WEIR_OK);
    struct fixture_case c = {.doc = &doc,
                             .arena = &arena,
                             .options = wr_json_find(&doc, 0, "options"),
                             .expect = wr_json_find(&doc, 0, "expect"),
                             .counts = counts};
    c.name = text_of(&c, 0, "test");
    c.text = text_of(&c, 0, "input");
    char *plain = wr_arena_alloc(&arena, c.text.len + 1);
    assert_non_null(plain);
    c.plain = (weir_span){plain, wr_volatile_strip_escapes(plain, c.text)};
    check_case(&c);
    counts->cases++;
    counts->held += counts->wrong == wrong;
    wr_arena_release(&arena);
}

static void every_case_holds(void **state)
{
    struct counts counts = {0};
    struct wr_buf text;
    weir_span line;
    (void)state;
    wr_buf_init(&text, WR_JSON_BODY_BYTES_MAX);
    if (!wr_test_file(fixture, &text)) {
        print_message("skipped: %s is not here\n", fixture);
        wr_buf_release(&text);
        skip();
    }
    weir_span rest = wr_buf_view(&text);
    while (wr_span_line(&rest, &line))
        if (line.len)
            read_case(&counts, line);
    print_message("%u of %u cases hold; %u strings, %u of them of its own format\n", counts.held,
                  counts.cases, counts.strings, counts.aside);
    wr_buf_release(&text);
    assert_int_equal(counts.wrong, 0);
    assert_true(counts.cases > 20 && counts.strings > counts.aside * 3 / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
