#include "launch/receipt.h"

#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

enum {
    DAY_MS = 24 * 60 * 60 * 1000,
    MICRO = 1000 * 1000,
    NUMBER_BYTES = 32,
    PATH_BYTES_MAX = 4096
};

struct reading {
    struct wr_receipt *receipt;
    struct wr_tallier *tallier;
    struct wr_arena arena; /* of a row */
    int64_t since_ms;
};

/* ---- reading ---- */

static uint64_t size_of(const struct wr_json *doc, const char *name)
{
    int64_t number = 0;
    return wr_json_i64(doc, wr_json_find(doc, 0, name), &number) && number > 0 ? (uint64_t)number
                                                                               : 0;
}

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

/* ---- what passed ---- */

static void read_line(struct reading *r, weir_span line)
{
    struct wr_json doc;

    wr_arena_reset(&r->arena);
    if (wr_span_find(line, wr_span_of(r->receipt->run), 0) == SIZE_MAX ||
        wr_json_parse(&doc, &r->arena, line, NULL, NULL) ||
        !wr_json_text_is(&doc, wr_json_find(&doc, 0, "run"), r->receipt->run) ||
        !wr_json_text_is(&doc, wr_json_find(&doc, 0, "api"), "other"))
        return;
    r->receipt->passed_count++;
    r->receipt->passed_bytes += size_of(&doc, "body_bytes_received");
    r->receipt->passed_bytes += size_of(&doc, "answer_bytes");
}

/* Requests that were not read are in no ledger: there is nothing in them to add up. The log has
 * them; it may have been rotated meanwhile. */
static void read_log(struct reading *r, const char *store)
{
    static const char *const names[] = {"requests.jsonl", "requests.jsonl.1"};
    char path[PATH_BYTES_MAX], *line = NULL;
    size_t line_bytes = 0;

    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", store, names[i]);
        FILE *file = fopen(path, "rbe");
        ssize_t bytes;
        while (file && (bytes = getline(&line, &line_bytes, file)) > 0)
            read_line(r, (weir_span){line, (size_t)bytes});
        if (file)
            (void)fclose(file);
    }
    free(line);
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
    receipt->passed_count = receipt->passed_bytes = 0;
    wr_arena_init(&r.arena, WR_LAUNCH_MEMORY_BYTES_MAX);
    weir_status status = wr_models_new(&models, NULL, err);
    if (!status && !(r.tallier = wr_tallier_new(models)))
        status = WEIR_NOMEM;
    if (!status)
        status = wr_ledger_open(store, &options, &ledger, NULL, err);
    if (!status)
        status = wr_ledger_each(ledger, &filter, on_row, &r, err);
    if (!status)
        read_log(&r, store);
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
    unsigned long long whole = micro_usd / MICRO, part = micro_usd % MICRO;

    if (micro_usd < MICRO / 100)
        wr_buf_printf(out, "$%llu.%06llu", whole, part);
    else
        wr_buf_printf(out, "$%llu.%04llu", whole, part / 100);
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

static void print_money(const struct wr_tally *t, struct wr_buf *out)
{
    uint64_t real = t->micro_usd, raw = t->unchanged_micro_usd;

    if (t->unpriced_count == t->requests_count) {
        wr_buf_text(out, "what it cost is not known: no price is known of its models\n");
        return;
    }
    put_money(out, real);
    wr_buf_text(out, " at cache prices");
    if (t->changed_count) {
        wr_buf_text(out, "; unchanged it had been ");
        put_money(out, raw);
        wr_buf_text(out, raw >= real ? ": saved " : ": DEARER by ");
        put_money(out, raw >= real ? raw - real : real - raw);
        if (raw)
            wr_buf_printf(
                out, " (%llu %%)",
                (unsigned long long)((raw >= real ? raw - real : real - raw) * 100 / raw));
    }
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

static void print_recalls_and_busts(const struct wr_tally *t, struct wr_buf *out)
{
    const char *before = "; cache lost: ";

    put_count(out, t->quality.recalls, "recall", "recalls");
    wr_buf_text(out, ", ");
    put_number(out, t->quality.missing_artifact_requests);
    wr_buf_text(out, " missed");
    for (int i = 0; i < WR_BUSTS_COUNT; i++) {
        if (!t->busts[i])
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

    if (!t->requests_count && !receipt->passed_count) {
        wr_buf_printf(out,
                      "%sno request came through Weir; if it asked a model, it did so elsewhere\n",
                      prefix);
        return;
    }
    if (t->requests_count) {
        wr_buf_text(out, prefix);
        print_requests(t, out);
        wr_buf_text(out, prefix);
        print_money(t, out);
        wr_buf_text(out, prefix);
        print_recalls_and_busts(t, out);
    }
    if (!receipt->passed_count)
        return;
    wr_buf_text(out, prefix);
    put_count(out, receipt->passed_count, "request", "requests");
    wr_buf_text(out, " passed through unread, ");
    put_count(out, receipt->passed_bytes, "byte", "bytes");
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
    write_number(&w, "passed_requests", receipt->passed_count);
    write_number(&w, "passed_bytes", receipt->passed_bytes);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}
