/* Any bytes as a file of cases, run the three ways.
 *
 * 1. what is refused is refused with a reason, at a byte of the file
 * 2. exact changes nothing; whatever the policy does, what it sends can be read again, with calls
 *    and results as they were, and every handle it made leads to its text
 *    where the store was not damaged
 * 3. the same file gives the same figures
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "lab/strict.h"

#define MUST(condition)   \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

enum { FILE_BYTES_MAX = 64 * 1024, TURNS_MAX = 12, CASES_MAX = 4 };

static bool is_small(const struct wr_cases *cases)
{
    for (uint32_t i = 0; i < cases->count; i++)
        for (uint32_t k = 0; k < cases->items[i].turns_count; k++)
            if (k >= TURNS_MAX || cases->items[i].turns[k].restarts)
                return false;
    return cases->count <= CASES_MAX;
}

static bool is_sound(const struct wr_case *c)
{
    for (uint32_t k = 0; k < c->turns_count; k++)
        if (c->turns[k].trouble == WR_CASE_MISSING || c->turns[k].trouble == WR_CASE_CORRUPT)
            return false;
    return true;
}

static void check_row(const struct wr_strict_row *row, const struct wr_case *c)
{
    const struct wr_strict_figures *ways = row->result.ways;
    MUST(ways[WR_STRICT_EXACT].changed == 0);
    for (int way = 0; way < WR_STRICT_WAYS; way++) {
        MUST(ways[way].corrupted == 0);
        MUST(ways[way].links_kept == ways[way].continuations);
        MUST(ways[way].unresolved_refs == 0 || !is_sound(c));
        MUST(ways[way].signals_kept == ways[way].signals);
        MUST(ways[way].is_success == !ways[way].failure[0]);
    }
}

static void run(struct wr_strict_runner *runner, const struct wr_cases *cases, struct wr_buf *out)
{
    struct wr_strict_report report;
    struct weir_err err = {0};

    wr_strict_report_init(&report, "smart");
    weir_status status = wr_strict_report_add(&report, runner, cases, &err);
    MUST(!status || status == WEIR_NOMEM || status == WEIR_LIMIT || err.text[0]);
    for (uint32_t i = 0; i < report.rows_count; i++)
        check_row(&report.rows[i], &cases->items[i]);
    MUST(!wr_strict_report_finish(&report));
    report.lines[WR_STRICT_p95_rewrite_overhead_ms] = 0; /* the one line that time decides */
    wr_strict_report_json(&report, out);
    MUST(!out->status);
    wr_strict_report_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static struct wr_strict_runner *runner;
    struct wr_buf once, again;
    struct weir_err err = {0};
    struct wr_cases cases;
    struct wr_arena arena;

    if (count > FILE_BYTES_MAX)
        return 0;
    if (!runner)
        MUST(!wr_strict_runner_new(&runner, "smart", NULL));
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&once, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&again, WR_OUTPUT_BYTES_MAX);
    weir_status status =
        wr_cases_read(&cases, &arena, (weir_span){(const char *)bytes, count}, &err);
    MUST(!status || (err.text[0] && err.at_byte <= count));
    if (!status && is_small(&cases)) {
        run(runner, &cases, &once);
        run(runner, &cases, &again);
        MUST(wr_span_eq(wr_buf_view(&once), wr_buf_view(&again)));
    }
    wr_buf_release(&once);
    wr_buf_release(&again);
    wr_arena_release(&arena);
    return 0;
}
