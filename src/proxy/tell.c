/* tell.c -- an exchange is over, or one leg of it: its record is completed and told to everybody.
 *
 * wr_exchange_tell() completes it, the sinks take it: the log's lines in log.c, the counters in
 * metrics.c, the ledger's rows in ledger_writer.c.
 */
#include "proxy/tell.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/span.h"
#include "engine/record_row.h"
#include "proxy/counts.h"
#include "proxy/door.h"
#include "proxy/exchange.h"
#include "proxy/exchange_inside.h"
#include "proxy/log.h"

/* How the task goes, with what the answer shows of it. */
static void watch_answer(struct wr_exchange *ex)
{
    const struct wr_reply *reply = &ex->tap.answer;
    struct wr_watch_answer answer = {
        .is_answered = ex->record.status == 200 && !reply->has_error,
        .was_sent_changed = ex->is_sent_changed,
        .was_overflow_retried = ex->record.retries_count && ex->remedy.overflow_tokens,
        .teaches = ex->config->learns,
        .error = reply->error_kind,
    };

    if (ex->task.is_continued) { /* a later request may go on from it */
        answer.answer_id = wr_buf_view(&reply->id);
        answer.conversation_id = wr_buf_view(&reply->conversation_id);
    }
    if (ex->service->watch && ex->record.is_collected && ex->route.is_answer)
        wr_watch_answer(ex->service->watch, &answer, &ex->task.note, &ex->record);
}

/* The bodies change hands where nobody needs them any more: this was the last that is told. */
static void lend_bodies(struct wr_exchange *ex, struct wr_said *said)
{
    *said = (struct wr_said){.coding = ex->task.coding};
    if (!ex->record.asks_model || !ex->record.is_collected || ex->own.count ||
        !wr_config_keeps_transcripts(ex->config))
        return;
    bool is_over = ex->state == WR_EXCHANGE_OVER;
    struct wr_buf *bodies[] = {&ex->body, ex->is_sent_changed ? &ex->task.out : NULL};
    struct wr_buf *kept[] = {&said->came, &said->sent};
    for (size_t i = 0; i < WR_COUNT_OF(bodies); i++) {
        if (!bodies[i])
            continue;
        if (is_over) {
            *kept[i] = *bodies[i];
            wr_buf_init(bodies[i], bodies[i]->cap_max);
        } else {
            wr_buf_init(kept[i], bodies[i]->cap_max);
            wr_buf_append(kept[i], wr_buf_view(bodies[i]));
        }
    }
}

void wr_exchange_tell(struct wr_exchange *ex)
{
    struct wr_service *service = ex->service;
    struct wr_record *r = &ex->record;
    struct wr_said said;

    r->number = ++service->requests_count;
    r->total_us = wr_clock_steady_us() - ex->started_us;
    r->added_us = ex->sent_us > ex->body_ended_us ? ex->sent_us - ex->body_ended_us : 0;
    r->first_byte_us = ex->first_byte_us ? ex->first_byte_us - ex->sent_us : 0;
    r->is_collected = ex->task_state != WR_TASK_NONE;
    if (!r->bytes_before)
        r->bytes_before = r->received_bytes;
    if (!r->end.ptr)
        r->end = WR_LIT("done");
    wr_tap_tell(&ex->tap, r);
    wr_record_price(r, service->models);
    wr_admit_count(ex);
    wr_record_settle(r);
    watch_answer(ex);
    wr_counts_judge(r);
    if (r->is_collected && r->asks_model) /* what has answered is loaded by now */
        wr_loaded_windows_ask(service->loaded, ex->route.upstream, r->model);
    bool is_reported = r->is_changed && !wr_buf_status(&ex->task.report);
    lend_bodies(ex, &said);
    wr_sinks_tell(service, r,
                  &(struct wr_told){.report = is_reported ? wr_buf_view(&ex->task.report)
                                                          : (weir_span){"", 0},
                                    .said = &said});
    wr_buf_release(&said.came);
    wr_buf_release(&said.sent);
}

/* ---- the sinks ---- */

typedef void sink_fn(struct wr_service *service, const struct wr_record *record,
                     const struct wr_told *told);

static void tell_counts(struct wr_service *service, const struct wr_record *record,
                        const struct wr_told *told)
{
    (void)told;
    wr_counts_take(service->counts, record);
}

static void tell_metrics(struct wr_service *service, const struct wr_record *record,
                         const struct wr_told *told)
{
    (void)told;
    wr_metrics_count(service->metrics, record);
}

/* As a row of its session; of the run, where it has none. Rows are of requests that asked a model;
 * a run's receipt also counts what only passed. */
static void keep_row(struct wr_service *service, const struct wr_record *r, weir_span line,
                     const struct wr_told *told)
{
    char run[sizeof("run:") + WR_RUN_DIGITS];
    struct wr_ledger_row row = {.time_ms = r->time_ms,
                                .tenant = r->tenant,
                                .session = r->session,
                                .agent = r->agent,
                                .model = wr_span_of(r->model),
                                .line = wr_span_cut(line, 0, line.len - 1),
                                .report = told->report};

    if (!service->ledger || !(r->asks_model || (r->run.len && !r->api)))
        return;
    if (!r->is_collected) {
        row.model = r->answer_model;
        (void)snprintf(run, sizeof(run), "run:%.*s", (int)r->run.len, r->run.ptr);
        row.session = r->run.len ? wr_span_of(run) : (weir_span){"", 0};
    }
    wr_ledger_writer_add(service->ledger, &row, told->said);
}

/* The line of the log is what the row holds: it is written once for both. */
static void tell_log(struct wr_service *service, const struct wr_record *record,
                     const struct wr_told *told)
{
    wr_buf_reset(&service->line);
    wr_row_write(record, &service->line);
    if (wr_buf_status(&service->line))
        return;
    if (service->log)
        wr_log_add(service->log, wr_buf_view(&service->line));
    keep_row(service, record, wr_buf_view(&service->line), told);
}

static void tell_otel(struct wr_service *service, const struct wr_record *record,
                      const struct wr_told *told)
{
    (void)told;
    if (wr_otel_is_on(&service->config->otel))
        wr_otel_take(service->otel, record);
}

void wr_sinks_tell(struct wr_service *service, const struct wr_record *record,
                   const struct wr_told *told)
{
    static sink_fn *const sinks[] = {tell_counts, tell_metrics, tell_log, tell_otel};

    for (size_t i = 0; i < WR_COUNT_OF(sinks); i++)
        sinks[i](service, record, told);
}
