/* What an agent's run has come to, from the rows that the server left in the store.
 *
 * Rows from a day before are read too, though not counted: the prices of a request depend on what
 * the provider's cache held before it.
 */
#include "launch/receipt.h"

#include "base/span.h"
#include "base/text.h"
#include "engine/record_row.h"
#include "json/write.h"

enum { DAY_MS = 24 * 60 * 60 * 1000, MICRO = 1000 * 1000 };

struct reading {
    struct wr_receipt *receipt;
    struct wr_tallier *tallier;
    struct wr_arena arena; /* of a row */
    int64_t since_ms;
};

/* ---- reading ---- */

static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct reading *r = user;
    struct wr_tally *tallies[] = {&r->receipt->tally};
    struct wr_record record;
    weir_status status = wr_row_parse(row->line, &r->arena, &record);

    if (status)
        return status == WEIR_SYNTAX ? WEIR_OK : status; /* one damaged row spoils no sum */
    bool is_ours = row->time_ms >= r->since_ms && wr_span_is(record.run, r->receipt->run);
    return wr_tallier_add(r->tallier, row, &record, tallies, is_ours ? 1 : 0);
}

weir_status wr_receipt_read(struct wr_receipt *receipt, const char *store, int64_t since_ms,
                            struct weir_err *err)
{
    struct wr_ledger_filter filter = {.since_ms = since_ms - DAY_MS};
    struct reading r = {.receipt = receipt, .since_ms = since_ms};
    struct weir_store_options options = {.must_exist = true};
    struct wr_ledger *ledger = NULL;
    struct wr_models *models = NULL;

    receipt->tally = (struct wr_tally){0};
    wr_arena_init(&r.arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    weir_status status = wr_models_new(&models, NULL, err);
    if (!status && !(r.tallier = wr_tallier_new(models)))
        status = WEIR_NOMEM;
    if (!status)
        status = wr_ledger_open(store, &options, &ledger, NULL, err);
    if (!status)
        status = wr_ledger_each(ledger, &filter, on_row, &r, err);
    wr_ledger_close(ledger);
    wr_tallier_free(r.tallier);
    wr_models_free(models);
    wr_arena_release(&r.arena);
    return status;
}

/* ---- for people ---- */

/* "1 request", "2 requests". */
static void put_count(struct wr_buf *out, uint64_t count, const char *one, const char *many)
{
    wr_buf_printf(out, "%s %s", WR_GROUPED(count), count == 1 ? one : many);
}

static void put_money(struct wr_buf *out, uint64_t micro_usd)
{
    unsigned long long rounded =
        (micro_usd + 50) / 100; /* to the nearest, as `weir report` has it */

    if (micro_usd < MICRO / 100)
        wr_buf_printf(out, "$0.%06llu", (unsigned long long)micro_usd);
    else
        wr_buf_printf(out, "$%llu.%04llu", rounded / 10000, rounded % 10000);
}

static void print_requests(const struct wr_tally *t, struct wr_buf *out)
{
    put_count(out, t->requests_count, "request", "requests");
    if (t->failed_count)
        wr_buf_printf(out, ", %s without a good answer", WR_GROUPED(t->failed_count));
    if (t->shadow_count == t->requests_count)
        wr_buf_text(out, ", in shadow: all were sent as they came\n");
    else if (!t->changed_count)
        wr_buf_text(out, ". Nothing was changed: all were sent as they came\n");
    else
        wr_buf_printf(out, ", %s changed; prompt tokens %s -> %s\n", WR_GROUPED(t->changed_count),
                      WR_GROUPED(t->raw_tokens), WR_GROUPED(t->sent_tokens));
}

/* Tokens alone: what a cache that never saw these prompts would have cost is not known. */
static void print_shadow(const struct wr_tally *t, const char *prefix, struct wr_buf *out)
{
    uint64_t raw = t->shadow_prompt_tokens, would = t->shadow_would_send_tokens;

    if (!raw)
        return;
    wr_buf_printf(out, "%sshadow: their prompts, %s tokens by estimate, would have been %s", prefix,
                  WR_GROUPED(raw), WR_GROUPED(would));
    if (would <= raw)
        wr_buf_printf(out, " (%llu %% less)", (unsigned long long)((raw - would) * 100 / raw));
    wr_buf_text(out, "; nothing of it was saved\n");
}

/* What was saved, or lost. Of prompts that would have been refused there is nothing to compare
 * with: the session would have ended there, or begun anew. */
static void print_difference(const struct wr_tally *t, struct wr_buf *out)
{
    uint64_t real = t->micro_usd, raw = t->unchanged_micro_usd;
    bool is_dearer = raw < real;

    if (t->refused_count) {
        wr_buf_text(out, "; ");
        put_count(out, t->refused_count, "request fits", "requests fit");
        wr_buf_text(out, " now and would have been refused unchanged");
    }
    if (t->refused_count && is_dearer)
        return;
    wr_buf_text(out, "; unchanged it would have been ");
    put_money(out, raw);
    wr_buf_text(out, is_dearer ? ": DEARER by " : ": saved ");
    put_money(out, is_dearer ? real - raw : raw - real);
    if (raw)
        wr_buf_printf(out, " (%llu %%)",
                      (unsigned long long)((is_dearer ? real - raw : raw - real) * 100 / raw));
    if (is_dearer && !t->changed_count)
        wr_buf_text(out, ", by what Weir's own tools take in the prompt");
}

static void print_money(const struct wr_tally *t, struct wr_buf *out)
{
    if (t->unpriced_count == t->requests_count) {
        wr_buf_text(out, "what it cost is not known: no price is known of its models\n");
        return;
    }
    put_money(out, t->micro_usd);
    wr_buf_text(out, " at cache prices");
    if (t->changed_count || t->unchanged_micro_usd < t->micro_usd)
        print_difference(t, out);
    if (t->estimated_count) {
        wr_buf_text(out, "; ");
        put_count(out, t->estimated_count, "request is", "requests are");
        wr_buf_text(out, " estimated");
    }
    if (t->unpriced_count)
        wr_buf_printf(out, "; %s of models without known prices are in no sum",
                      WR_GROUPED(t->unpriced_count));
    wr_buf_byte(out, '\n');
}

/* Our own steps are planned, and paid for in the sum above; what others broke is a loss. */
static void print_recalls_and_busts(const struct wr_tally *t, struct wr_buf *out)
{
    const char *before = "; cache lost by others: ";

    put_count(out, t->quality.recalls, "recall", "recalls");
    wr_buf_printf(out, ", %s missed", WR_GROUPED(t->quality.missing_artifact_requests));
    if (t->busts[WR_BUST_WEIR]) {
        wr_buf_text(out, "; ");
        put_count(out, t->busts[WR_BUST_WEIR], "planned rewrite", "planned rewrites");
        wr_buf_text(out, " of the cache (");
        put_count(out, t->bust_tokens[WR_BUST_WEIR], "token", "tokens");
        if (t->steps_micro_usd) {
            wr_buf_text(out, ", ");
            put_money(out, t->steps_micro_usd);
        }
        wr_buf_text(out, ", in the sum)");
    }
    for (int i = 0; i < WR_BUSTS_COUNT; i++) {
        if (!t->busts[i] || i == WR_BUST_WEIR)
            continue;
        wr_buf_printf(out, "%s%s %s (", before, wr_bust_name((enum wr_bust)i),
                      WR_GROUPED(t->busts[i]));
        put_count(out, t->bust_tokens[i], "token)", "tokens)");
        before = ", ";
    }
    wr_buf_byte(out, '\n');
}

void wr_receipt_print(const struct wr_receipt *receipt, const char *prefix, struct wr_buf *out)
{
    const struct wr_tally *t = &receipt->tally;

    if (!t->requests_count && !receipt->tally.passed_count) {
        wr_buf_printf(out,
                      "%sno request came through Weir; if it asked a model, it did so elsewhere\n",
                      prefix);
        return;
    }
    if (t->requests_count) {
        wr_buf_text(out, prefix);
        print_requests(t, out);
        print_shadow(t, prefix, out);
        wr_buf_text(out, prefix);
        print_money(t, out);
        wr_buf_text(out, prefix);
        print_recalls_and_busts(t, out);
    }
    if (!receipt->tally.passed_count)
        return;
    wr_buf_text(out, prefix);
    put_count(out, receipt->tally.passed_count, "request", "requests");
    wr_buf_text(out, " passed through unread, ");
    put_count(out, receipt->tally.passed_bytes, "byte", "bytes");
    wr_buf_text(out, " both ways\n");
}

/* ---- for programs ---- */

void wr_receipt_write(const struct wr_receipt *receipt, int exit_status, struct wr_buf *out)
{
    const struct wr_tally *t = &receipt->tally;
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "run", receipt->run);
    wr_json_member_word(&w, "agent", receipt->agent);
    wr_json_member_i64(&w, "exit_status", exit_status);
    wr_tally_write_sums(t, &w);
    wr_json_member_number(&w, "recalls", t->quality.recalls);
    wr_json_member_number(&w, "recalls_missed", t->quality.missing_artifact_requests);
    wr_tally_write_busts(&w, "cache_busts", t->busts);
    wr_tally_write_busts(&w, "cache_bust_tokens", t->bust_tokens);
    wr_json_member_number(&w, "passed_requests", receipt->tally.passed_count);
    wr_json_member_number(&w, "passed_bytes", receipt->tally.passed_bytes);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}
