/* Oracles: what was read, written and neither is what was sent; where nothing is said to have been
 * changed, the cost is what it would have been; a line that is refused adds nothing. */
#include "ledger/tally.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "engine/record_row.h"

static void check(bool holds)
{
    if (!holds)
        abort();
}

static const struct wr_models *models(void)
{
    static struct wr_models *made;
    if (!made && wr_models_new(&made, NULL, NULL))
        abort();
    return made;
}

static bool has(weir_span text, const char *word)
{
    return wr_span_find(text, wr_span_of(word), 0) != SIZE_MAX;
}

/* A backslash may spell any of them. */
static bool may_change(weir_span text)
{
    return has(text, "changed") || has(text, "recall_only") || has(text, "delta") ||
           has(text, "\\");
}

static void check_sums(const struct wr_tally *t)
{
    check(t->input_tokens + t->cache_read_tokens + t->cache_write_tokens == t->sent_tokens);
    check(t->estimated_count <= t->requests_count && t->unpriced_count <= t->requests_count);
    check(t->first_ms <= t->last_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"claude-opus-5", "gpt-5", "gpt-5.6", "no such model"};
    weir_span rest = {(const char *)data, size}, all = rest, line;
    struct wr_tallier *tallier = wr_tallier_new(models());
    struct wr_tally tally = {0}, *tallies[] = {&tally};
    struct wr_ledger_row row = {.time_ms = 1000, .tenant = WR_LIT("local"), .session = WR_LIT("s")};
    struct wr_record record;
    struct wr_arena arena;

    check(tallier != NULL);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    while (wr_span_line(&rest, &line)) {
        struct wr_tally before = tally;
        row.line = line;
        row.model = wr_span_of(names[size % 4]);
        row.time_ms += (int64_t)(line.len % 7) * 100 * 1000;
        weir_status status = wr_row_parse(line, &arena, &record);
        if (!status)
            status = wr_tallier_add(tallier, &row, &record, tallies, 1);
        check(!status || status == WEIR_SYNTAX);
        check(!status || !memcmp(&before, &tally, sizeof(tally)));
        check_sums(&tally);
    }
    if (!may_change(all))
        check(tally.micro_usd == tally.unchanged_micro_usd);
    wr_arena_release(&arena);
    wr_tallier_free(tallier);
    return 0;
}
