/* Spans and metrics on their way to a receiver.
 *
 * JSON and not Protobuf (docs/decisions/011-otlp-json.md). Both kinds leave by the fetcher that
 * also asks the providers: no thread, no second TLS. A timer looks each second whether something is
 * due: an export, another try, an answer that is late. Metrics are sums from the start on, so an
 * export of them that fails is not sent again: the next one says all. Spans are kept until they
 * arrive or were tried WR_OTEL_TRIES_MAX times; what comes meanwhile waits in the queue, and what
 * the queue has no room for is counted as dropped.
 */
#include "otel/exporter.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/os.h"
#include "base/span.h"
#include "json/json.h"
#include "models/registry.h"
#include "otel/meter.h"
#include "otel/span.h"
#include "weir/weir.h"

enum { TICK_MS = 1000, BACKOFF_MS = 1000, SPAN_BYTES_MAX = 64 * 1024, ID_DIGITS = 16 };

/* One batch: empty, waiting for its time, or on its way (`fetch`). */
struct send {
    struct wr_otel *otel;
    struct wr_fetch *fetch; /* NULL: not on its way */
    struct wr_buf body;     /* empty: there is none */
    struct wr_buf answer;
    uint32_t spans_count; /* 0: of metrics */
    uint32_t tries_count;
    uint64_t due_ms, late_ms; /* on the loop's clock */
    int status;
    uint64_t retry_ms; /* that the receiver asks for; 0: it does not say */
};

struct wr_otel {
    struct wr_otel_options options;
    const struct wr_otel_settings *settings;
    struct wr_models *models; /* NULL until something is sent */
    struct wr_otel_meter *meter;
    uv_timer_t tick;
    struct wr_buf spans; /* that wait, with commas between */
    struct wr_buf one;
    uint32_t spans_count;
    struct send traces, metrics;
    uint64_t next_ms;  /* the next export */
    uint64_t drain_ms; /* not 0: it is to end, by then */
    char instance[2 * ID_DIGITS + 1];
    bool is_closed;
};

static uint64_t now_ms(const struct wr_otel *otel)
{
    return uv_now(otel->options.loop);
}

static void count_up(_Atomic uint64_t *counter, uint64_t number)
{
    if (counter)
        atomic_fetch_add_explicit(counter, number, memory_order_relaxed);
}

/* An id of zeros is none: where there is no randomness the clock has to do. */
static void make_id(char *id, size_t digits)
{
    unsigned char bytes[ID_DIGITS];
    size_t count = digits / 2;

    if (!wr_os_random(bytes, count)) {
        uint64_t now = wr_clock_steady_us();
        for (size_t i = 0; i < count; i++)
            bytes[i] = (unsigned char)(now >> (i % 8 * 8));
    }
    bytes[0] |= 1;
    for (size_t i = 0; i < count; i++)
        (void)snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- what is taken ---- */

void wr_otel_begin(struct wr_otel *otel, const struct wr_head *head, struct wr_record_trace *trace)
{
    if (!otel || !wr_otel_is_on(otel->settings) ||
        wr_otel_parent_read(wr_head_find(head, "traceparent"), trace))
        return;
    make_id(trace->trace_id, sizeof(trace->trace_id) - 1);
}

static struct wr_cost price_record(struct wr_otel *otel, const struct wr_record *r)
{
    struct wr_models_source source = {.overrides = otel->options.models_yaml,
                                      .overrides_shared = true};

    if (!r->is_usage_known || (!otel->models && wr_models_new(&otel->models, &source, NULL)))
        return (struct wr_cost){.known = false};
    const struct wr_model *model = wr_models_lookup(otel->models, wr_span_of(r->model)).model;
    struct wr_usage usage = wr_record_usage(r, model);

    return wr_cost(model, &usage);
}

static void queue_span(struct wr_otel *otel, const struct wr_record *r, const struct wr_cost *cost)
{
    char id[ID_DIGITS + 1];

    make_id(id, ID_DIGITS);
    wr_buf_reset(&otel->one);
    wr_otel_span_write(r, id, cost, &otel->one);
    bool has_room = otel->spans_count < WR_OTEL_SPANS_MAX &&
                    otel->spans.len + otel->one.len < WR_OTEL_BYTES_MAX / 2;
    if (wr_buf_status(&otel->one) || !has_room) {
        count_up(otel->options.dropped_count, 1);
        return;
    }
    if (otel->spans.len)
        wr_buf_byte(&otel->spans, ',');
    wr_buf_append(&otel->spans, wr_buf_view(&otel->one));
    otel->spans_count++;
    if (wr_buf_status(&otel->spans)) { /* no memory: what waited is gone with it */
        count_up(otel->options.dropped_count, otel->spans_count);
        otel->spans_count = 0;
        wr_buf_release(&otel->spans);
        wr_buf_init(&otel->spans, WR_OTEL_BYTES_MAX);
    }
}

void wr_otel_take(struct wr_otel *otel, const struct wr_record *record)
{
    if (!otel || otel->is_closed || !record->asks_model || !wr_otel_is_on(otel->settings))
        return;
    struct wr_cost cost = price_record(otel, record);
    if (otel->settings->metrics_url)
        wr_otel_meter_take(otel->meter, record, &cost);
    if (otel->settings->traces_url && record->trace.trace_id[0] && !record->trace.is_unsampled)
        queue_span(otel, record, &cost);
}

/* ---- what is sent ---- */

/* The resource, and the open list of what is in it: {"resourceSpans":[{"resource":{...},
 * "scopeSpans":[{"scope":{...},"spans":[ */
static void begin_body(struct wr_otel *otel, struct wr_json_writer *w, const char *const keys[3])
{
    const struct wr_otel_settings *s = otel->settings;

    wr_json_write_object(w);
    wr_json_member_array(w, keys[0]);
    wr_json_write_object(w);
    wr_json_member_object(w, "resource");
    wr_json_member_array(w, "attributes");
    wr_otel_text(w, "service.name", wr_span_of(s->service));
    wr_otel_text(w, "service.version", wr_span_of(weir_version()));
    wr_otel_text(w, "service.instance.id", wr_span_of(otel->instance));
    for (size_t i = 0; i < s->resource_count; i++)
        if (!wr_span_is(s->resource[i].name, "service.name"))
            wr_otel_text(w, s->resource[i].name.ptr, s->resource[i].value);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
    wr_json_member_array(w, keys[1]);
    wr_json_write_object(w);
    wr_json_member_object(w, "scope");
    wr_json_member_word(w, "name", "weir");
    wr_json_member_word(w, "version", weir_version());
    wr_json_write_object_end(w);
    wr_json_member_array(w, keys[2]);
}

static void end_body(struct wr_json_writer *w)
{
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

static void forget_body(struct send *send)
{
    wr_buf_release(&send->body);
    wr_buf_init(&send->body, WR_OTEL_BYTES_MAX);
    send->spans_count = send->tries_count = 0;
}

static void drop_batch(struct send *send, uint64_t spans_count)
{
    count_up(send->otel->options.dropped_count, spans_count);
    forget_body(send);
}

static bool is_of_metrics(const struct send *send)
{
    return send == &send->otel->metrics;
}

/* OTLP says which refusals are for now: 429, 502, 503, 504, and that nobody was there. */
static bool is_for_now(int status)
{
    return !status || status == 429 || status == 502 || status == 503 || status == 504;
}

static void judge_failure(struct send *send)
{
    struct wr_otel *otel = send->otel;
    uint64_t pause_ms = send->retry_ms;

    count_up(otel->options.failed_count, 1);
    if (is_of_metrics(send) || !is_for_now(send->status) ||
        send->tries_count >= WR_OTEL_TRIES_MAX) {
        drop_batch(send, send->spans_count);
        return;
    }
    if (!pause_ms)
        pause_ms = (uint64_t)BACKOFF_MS << (send->tries_count - 1);
    if (pause_ms > WR_OTEL_BACKOFF_MS_MAX)
        pause_ms = WR_OTEL_BACKOFF_MS_MAX;
    send->due_ms = now_ms(otel) + pause_ms;
}

/* A receiver that takes a batch may still leave out some of it, and then says how many. */
static uint64_t read_rejected(const struct send *send)
{
    static const char key[] = "\"rejectedSpans\":";
    weir_span answer = wr_buf_view(&send->answer);
    size_t at = wr_span_find(answer, wr_span_of(key), 0);
    uint64_t number = 0;

    if (at == SIZE_MAX)
        return 0;
    weir_span rest = wr_span_cut(answer, at + strlen(key), answer.len);
    while (rest.len && (rest.ptr[0] == ' ' || rest.ptr[0] == '"'))
        rest = wr_span_cut(rest, 1, rest.len);
    size_t digits = 0;
    while (digits < rest.len && rest.ptr[digits] >= '0' && rest.ptr[digits] <= '9')
        digits++;
    (void)!wr_span_u64(wr_span_cut(rest, 0, digits), &number);
    return number < send->spans_count ? number : send->spans_count;
}

static void on_head(void *user, const struct wr_head *head)
{
    struct send *send = user;
    weir_span after = wr_head_find(head, "retry-after");
    uint64_t seconds = 0;

    send->status = head->status;
    if (after.len && wr_span_u64(after, &seconds) && seconds < WR_OTEL_BACKOFF_MS_MAX)
        send->retry_ms = seconds * 1000;
}

static bool on_data(void *user, weir_span bytes)
{
    struct send *send = user;
    if (send->answer.len + bytes.len <= WR_OTEL_ANSWER_BYTES_MAX)
        wr_buf_append(&send->answer, bytes);
    return true;
}

static void on_end(void *user, enum wr_fetch_result result, const char *why)
{
    struct send *send = user;

    (void)why;
    send->fetch = NULL;
    if (result != WR_FETCH_DONE)
        send->status = 0;
    if (send->status < 200 || send->status >= 300) {
        judge_failure(send);
        return;
    }
    uint64_t rejected = read_rejected(send);
    count_up(send->otel->options.spans_count, send->spans_count - rejected);
    drop_batch(send, rejected);
}

static const struct wr_fetch_events send_events = {on_head, on_data, on_end, NULL};

static void start_send(struct send *send, const char *url)
{
    const struct wr_otel_settings *s = send->otel->settings;
    struct wr_header headers[WR_OTEL_HEADERS_MAX + 1] = {
        {WR_LIT("content-type"), WR_LIT("application/json")}};
    struct wr_fetch_request request = {.url = url,
                                       .method = WR_LIT("POST"),
                                       .headers = headers,
                                       .headers_count = 1,
                                       .has_body = true,
                                       .body = wr_buf_view(&send->body),
                                       .proxy = wr_fetch_proxy(NULL, url)};

    for (size_t i = 0; i < s->headers_count; i++)
        headers[request.headers_count++] = s->headers[i];
    send->status = 0;
    send->retry_ms = 0;
    send->tries_count++;
    send->late_ms = now_ms(send->otel) + s->timeout_ms;
    wr_buf_reset(&send->answer);
    if (wr_fetch_start(&send->fetch, send->otel->options.fetcher, &request, &send_events, send,
                       NULL)) {
        send->fetch = NULL;
        judge_failure(send);
    }
}

static void collect_spans(struct wr_otel *otel)
{
    static const char *const keys[3] = {"resourceSpans", "scopeSpans", "spans"};
    struct wr_json_writer w;

    wr_json_write_init(&w, &otel->traces.body);
    begin_body(otel, &w, keys);
    wr_buf_append(&otel->traces.body, wr_buf_view(&otel->spans));
    end_body(&w);
    otel->traces.spans_count = otel->spans_count;
    otel->spans_count = 0;
    wr_buf_reset(&otel->spans);
    if (wr_buf_status(&otel->traces.body))
        drop_batch(&otel->traces, otel->traces.spans_count);
}

static void collect_metrics(struct wr_otel *otel)
{
    static const char *const keys[3] = {"resourceMetrics", "scopeMetrics", "metrics"};
    struct wr_json_writer w;

    wr_json_write_init(&w, &otel->metrics.body);
    begin_body(otel, &w, keys);
    wr_otel_meter_write(otel->meter, wr_clock_ms(), &w);
    end_body(&w);
    if (wr_buf_status(&otel->metrics.body))
        forget_body(&otel->metrics);
}

static void cancel_late(struct send *send)
{
    struct wr_fetch *fetch = send->fetch;

    if (!fetch || now_ms(send->otel) < send->late_ms)
        return;
    send->fetch = NULL;
    wr_fetch_cancel(fetch);
    send->status = 0;
    judge_failure(send);
}

static void send_due(struct wr_otel *otel)
{
    const struct wr_otel_settings *s = otel->settings;
    bool is_time = now_ms(otel) >= otel->next_ms;
    bool is_much = otel->spans_count >= WR_OTEL_BATCH_SPANS;

    cancel_late(&otel->traces);
    cancel_late(&otel->metrics);
    if (is_time)
        otel->next_ms = now_ms(otel) + s->interval_ms;
    if (!s->traces_url && otel->traces.body.len && !otel->traces.fetch)
        drop_batch(&otel->traces, otel->traces.spans_count); /* it was switched off meanwhile */
    if (!otel->traces.body.len && otel->spans_count && (is_time || is_much || otel->drain_ms))
        collect_spans(otel);
    if (otel->traces.body.len && !otel->traces.fetch && s->traces_url &&
        now_ms(otel) >= otel->traces.due_ms)
        start_send(&otel->traces, s->traces_url);
    if (is_time && s->metrics_url && !otel->metrics.body.len &&
        !wr_otel_meter_is_empty(otel->meter)) {
        collect_metrics(otel);
        if (otel->metrics.body.len)
            start_send(&otel->metrics, s->metrics_url);
    }
}

static void on_tick(uv_timer_t *timer)
{
    send_due(timer->data);
}

/* Where nothing is sent there is nothing to look at; what waits when it is switched off is dropped
 * by the ticks that go on. */
static int start_ticking(struct wr_otel *otel)
{
    return uv_timer_start(&otel->tick, on_tick, TICK_MS, TICK_MS);
}

/* ---- life ---- */

weir_status wr_otel_new(struct wr_otel **otel, const struct wr_otel_options *options,
                        struct weir_err *err)
{
    struct wr_otel *o = *otel = calloc(1, sizeof(*o));

    if (!o)
        return wr_fail(err, WEIR_NOMEM, 0, "%s", weir_status_text(WEIR_NOMEM));
    o->options = *options;
    o->settings = options->settings;
    o->traces.otel = o->metrics.otel = o;
    o->tick.data = o;
    make_id(o->instance, sizeof(o->instance) - 1);
    wr_buf_init(&o->spans, WR_OTEL_BYTES_MAX);
    wr_buf_init(&o->one, SPAN_BYTES_MAX);
    for (struct send *send = &o->traces; send; send = send == &o->traces ? &o->metrics : NULL) {
        wr_buf_init(&send->body, WR_OTEL_BYTES_MAX);
        wr_buf_init(&send->answer, WR_OTEL_ANSWER_BYTES_MAX);
    }
    o->meter = wr_otel_meter_new(wr_clock_ms());
    weir_status status = o->meter ? WEIR_OK : WEIR_NOMEM;
    if (!status && (uv_timer_init(options->loop, &o->tick) ||
                    (wr_otel_is_on(o->settings) && start_ticking(o))))
        status = WEIR_IO;
    if (status) {
        wr_otel_meter_free(o->meter);
        free(o);
        *otel = NULL;
        return wr_fail(err, status, 0, "otel: %s", weir_status_text(status));
    }
    uv_unref((uv_handle_t *)&o->tick);
    o->next_ms = now_ms(o) + o->settings->interval_ms;
    return WEIR_OK;
}

void wr_otel_set(struct wr_otel *otel, const struct wr_otel_settings *settings)
{
    if (!otel)
        return;
    otel->settings = settings;
    if (wr_otel_is_on(settings) && !otel->is_closed)
        (void)start_ticking(otel);
    otel->next_ms = now_ms(otel) + settings->interval_ms;
}

void wr_otel_drain(struct wr_otel *otel)
{
    if (!otel || otel->is_closed)
        return;
    if (!otel->drain_ms) {
        otel->drain_ms = now_ms(otel) + WR_OTEL_DRAIN_MS_MAX;
        otel->next_ms = otel->traces.due_ms = 0;
    }
    send_due(otel);
}

bool wr_otel_is_idle(const struct wr_otel *otel)
{
    return !otel || otel->is_closed || (otel->drain_ms && now_ms(otel) >= otel->drain_ms) ||
           (!otel->spans_count && !otel->traces.fetch && !otel->metrics.fetch);
}

void wr_otel_close(struct wr_otel *otel)
{
    if (!otel || otel->is_closed)
        return;
    otel->is_closed = true;
    count_up(otel->options.dropped_count, otel->spans_count + otel->traces.spans_count);
    if (otel->traces.fetch)
        wr_fetch_cancel(otel->traces.fetch);
    if (otel->metrics.fetch)
        wr_fetch_cancel(otel->metrics.fetch);
    otel->traces.fetch = otel->metrics.fetch = NULL;
    uv_close((uv_handle_t *)&otel->tick, NULL);
}

void wr_otel_free(struct wr_otel *otel)
{
    if (!otel)
        return;
    wr_buf_release(&otel->spans);
    wr_buf_release(&otel->one);
    wr_buf_release(&otel->traces.body);
    wr_buf_release(&otel->traces.answer);
    wr_buf_release(&otel->metrics.body);
    wr_buf_release(&otel->metrics.answer);
    wr_models_free(otel->models);
    wr_otel_meter_free(otel->meter);
    free(otel);
}
