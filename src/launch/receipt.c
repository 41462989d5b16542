#include "launch/receipt.h"

#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

enum { DAY_MS = 24 * 60 * 60 * 1000, MICRO = 1000 * 1000, NUMBER_BYTES = 32 };

struct reading {
    struct wr_receipt *receipt;
    struct wr_tallier *tallier;
    struct wr_arena arena; /* of a row */
    int64_t since_ms;
};

/* ---- reading ---- */

static bool is_ours(struct reading *r, const struct wr_ledger_row *row)
{
    struct wr_json doc;

    wr_arena_reset(&r->arena);
    return !wr_json_parse(&doc, &r->arena, row->line, NULL, NULL) &&
           wr_json_text_is(&doc, wr_json_find(&doc, 0, "run"), r->receipt->run);
}

static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct reading *r = user;
    struct wr_tally *tallies[] = {&r->receipt->tally};
    bool ours = row->time_ms >= r->since_ms && is_ours(r, row);

    weir_status status = wr_tallier_add(r->tallier, row, tallies, ours ? 1 : 0);
    return status == WEIR_SYNTAX ? WEIR_OK : status; /* one damaged row spoils no sum */
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

static const char *grouped(uint64_t number, char text[NUMBER_BYTES])
{
    char *at = text + NUMBER_BYTES - 1;
    int digits = 0;

    *at = '\0';
    do {
        if (digits && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10);
        digits++;
    } while (number /= 10);
    return at;
}

static void put_number(struct wr_buf *out, uint64_t number)
{
    char text[NUMBER_BYTES];
    wr_buf_text(out, grouped(number, text));
}

static void put_count(struct wr_buf *out, uint64_t count, const char *one, const char *many)
{
    put_number(out, count);
    wr_buf_printf(out, " %s", count == 1 ? one : many);
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
    if (t->failed_count) {
        wr_buf_text(out, ", ");
        put_number(out, t->failed_count);
        wr_buf_text(out, " without a good answer");
    }
    if (t->shadow_count == t->requests_count)
        wr_buf_text(out, ", in shadow: all were sent as they came\n");
    else if (!t->changed_count)
        wr_buf_text(out, ". Nothing was changed: all were sent as they came\n");
    else {
        wr_buf_text(out, ", ");
        put_number(out, t->changed_count);
        wr_buf_text(out, " changed; prompt tokens ");
        put_number(out, t->raw_tokens);
        wr_buf_text(out, " -> ");
        put_number(out, t->sent_tokens);
        wr_buf_byte(out, '\n');
    }
}

/* Tokens alone: what a cache that never saw these prompts would have cost is not known. */
static void print_shadow(const struct wr_tally *t, const char *prefix, struct wr_buf *out)
{
    uint64_t raw = t->shadow_prompt_tokens, would = t->shadow_would_send_tokens;

    if (!raw)
        return;
    wr_buf_text(out, prefix);
    wr_buf_text(out, "shadow: their prompts, ");
    put_number(out, raw);
    wr_buf_text(out, " tokens by estimate, would have been ");
    put_number(out, would);
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
    if (t->unpriced_count) {
        wr_buf_text(out, "; ");
        put_number(out, t->unpriced_count);
        wr_buf_text(out, " of models without known prices are in no sum");
    }
    wr_buf_byte(out, '\n');
}

/* Our own steps are planned, and paid for in the sum above; what others broke is a loss. */
static void print_recalls_and_busts(const struct wr_tally *t, struct wr_buf *out)
{
    const char *before = "; cache lost by others: ";

    put_count(out, t->quality.recalls, "recall", "recalls");
    wr_buf_text(out, ", ");
    put_number(out, t->quality.missing_artifact_requests);
    wr_buf_text(out, " missed");
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
        wr_buf_printf(out, "%s%s ", before, wr_bust_name((enum wr_bust)i));
        put_number(out, t->busts[i]);
        wr_buf_text(out, " (");
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

static void write_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)number);
}

static void write_counts(struct wr_json_writer *w, const struct wr_tally *t)
{
    write_number(w, "requests", t->requests_count);
    write_number(w, "changed", t->changed_count);
    write_number(w, "steps", t->steps_count);
    write_number(w, "failed", t->failed_count);
    write_number(w, "shadow", t->shadow_count);
    if (t->shadow_count) {
        write_number(w, "shadow_prompt_tokens", t->shadow_prompt_tokens);
        write_number(w, "shadow_would_send_tokens", t->shadow_would_send_tokens);
    }
    write_number(w, "estimated", t->estimated_count);
    write_number(w, "unpriced", t->unpriced_count);
    write_number(w, "raw_tokens", t->raw_tokens);
    write_number(w, "sent_tokens", t->sent_tokens);
    write_number(w, "input_tokens", t->input_tokens);
    write_number(w, "cache_read_tokens", t->cache_read_tokens);
    write_number(w, "cache_write_tokens", t->cache_write_tokens);
    write_number(w, "output_tokens", t->output_tokens);
    write_number(w, "micro_usd", t->micro_usd);
    write_number(w, "unchanged_micro_usd", t->unchanged_micro_usd);
    write_number(w, "steps_micro_usd", t->steps_micro_usd);
    write_number(w, "would_be_refused", t->refused_count);
    wr_json_write_key(w, "saved_micro_usd");
    wr_json_write_i64(w, (int64_t)t->unchanged_micro_usd - (int64_t)t->micro_usd);
}

static void write_busts(struct wr_json_writer *w, const char *key, const uint64_t *numbers)
{
    wr_json_write_key(w, key);
    wr_json_write_object(w);
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        write_number(w, wr_bust_name((enum wr_bust)i), numbers[i]);
    wr_json_write_object_end(w);
}

void wr_receipt_write(const struct wr_receipt *receipt, int exit_status, struct wr_buf *out)
{
    const struct wr_tally *t = &receipt->tally;
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "run");
    wr_json_write_text(&w, wr_span_of(receipt->run));
    wr_json_write_key(&w, "agent");
    wr_json_write_text(&w, wr_span_of(receipt->agent));
    wr_json_write_key(&w, "exit_status");
    wr_json_write_i64(&w, exit_status);
    write_counts(&w, t);
    write_number(&w, "recalls", t->quality.recalls);
    write_number(&w, "recalls_missed", t->quality.missing_artifact_requests);
    write_busts(&w, "cache_busts", t->busts);
    write_busts(&w, "cache_bust_tokens", t->bust_tokens);
    write_number(&w, "passed_requests", receipt->tally.passed_count);
    write_number(&w, "passed_bytes", receipt->tally.passed_bytes);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}
