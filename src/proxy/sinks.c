#include "proxy/sinks.h"

#include <stdio.h>

#include "proxy/counts.h"
#include "proxy/door.h"
#include "proxy/exchange.h"
#include "record/row.h"

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
    wr_otel_take(service->otel, record);
}

void wr_sinks_tell(struct wr_service *service, const struct wr_record *record,
                   const struct wr_told *told)
{
    static sink_fn *const sinks[] = {tell_counts, tell_metrics, tell_log, tell_otel};

    for (size_t i = 0; i < WR_COUNT_OF(sinks); i++)
        sinks[i](service, record, told);
}
