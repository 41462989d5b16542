/* The metrics of a process, added up.
 *
 * Two of the histograms and their buckets are the gen_ai conventions' own (token.usage,
 * operation.duration, time_to_first_chunk); what they have no name for begins with `weir.`. Money
 * is summed in whole micro-dollars and divided when it is written.
 */
#include "otel/meter.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/span.h"
#include "otel/span.h"

enum {
    BUCKETS = 14,
    PROVIDER_BYTES = 32,
    ERROR_BYTES = 48,
    US_PER_S = 1000000,
    DECIMALS = 6,
    CUMULATIVE = 2, /* AGGREGATION_TEMPORALITY_CUMULATIVE */
};

/* The conventions' bounds: of tokens, and of microseconds. */
static const uint64_t token_bounds[BUCKETS] = {
    1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};
static const uint64_t time_bounds[BUCKETS] = {10000,    20000,    40000,    80000,   160000,
                                              320000,   640000,   1280000,  2560000, 5120000,
                                              10240000, 20480000, 40960000, 81920000};

struct histogram {
    uint64_t counts[BUCKETS + 1]; /* the last: all above */
    uint64_t count, sum;
};

/* Sums, and which attribute tells those of one metric apart. */
#define SUM_MAP(X)                                                                       \
    X(cost_micro_usd, "weir.cost", "{USD}", NULL, NULL)                                  \
    X(received_tokens, "weir.prompt.tokens", "{token}", "weir.prompt.state", "received") \
    X(sent_tokens, "weir.prompt.tokens", "{token}", "weir.prompt.state", "sent")         \
    X(cache_read_tokens, "weir.cache.tokens", "{token}", "weir.cache.kind", "read")      \
    X(cache_write_tokens, "weir.cache.tokens", "{token}", "weir.cache.kind", "write")    \
    X(cache_bust_tokens, "weir.cache.tokens", "{token}", "weir.cache.kind", "bust")      \
    X(changed_requests, "weir.requests.changed", "{request}", NULL, NULL)                \
    X(steps, "weir.steps", "{step}", NULL, NULL)

struct series {
    uint64_t hash;
    const char *operation;
    char provider[PROVIDER_BYTES], model[WR_RECORD_MODEL_BYTES], error[ERROR_BYTES];
    bool is_overflow;
    struct histogram input, output, duration, first_chunk, added;
#define X(name, metric, unit, key, value) uint64_t name;
    SUM_MAP(X)
#undef X
};

struct wr_otel_meter {
    int64_t started_ms;
    size_t count;
    struct series series[WR_OTEL_SERIES_MAX];
};

struct wr_otel_meter *wr_otel_meter_new(int64_t started_ms)
{
    struct wr_otel_meter *meter = calloc(1, sizeof(*meter));
    if (meter)
        meter->started_ms = started_ms;
    return meter;
}

void wr_otel_meter_free(struct wr_otel_meter *meter)
{
    free(meter);
}

bool wr_otel_meter_is_empty(const struct wr_otel_meter *meter)
{
    return !meter->count;
}

/* ---- counting ---- */

static void copy_word(char *into, size_t bytes, weir_span word)
{
    (void)snprintf(into, bytes, "%.*s", (int)word.len, word.len ? word.ptr : "");
}

static struct series *find_series(struct wr_otel_meter *meter, const struct wr_record *r)
{
    weir_span error = wr_otel_error(r);
    uint64_t hash = wr_hash64(wr_span_of(wr_otel_operation(r)));

    hash = wr_hash64_seeded(r->provider, hash);
    hash = wr_hash64_seeded(wr_span_of(r->model), hash);
    hash = wr_hash64_seeded(error, hash);
    for (size_t i = 0; i < meter->count; i++)
        if (meter->series[i].hash == hash)
            return &meter->series[i];
    if (meter->count == WR_OTEL_SERIES_MAX)
        return &meter->series[WR_OTEL_SERIES_MAX - 1];
    struct series *s = &meter->series[meter->count++];
    s->hash = hash;
    s->is_overflow = meter->count == WR_OTEL_SERIES_MAX;
    s->operation = wr_otel_operation(r);
    copy_word(s->provider, sizeof(s->provider), r->provider);
    copy_word(s->model, sizeof(s->model), wr_span_of(r->model));
    copy_word(s->error, sizeof(s->error), error);
    return s;
}

static void count_one(struct histogram *h, const uint64_t *bounds, uint64_t value)
{
    size_t i = 0;
    while (i < BUCKETS && value > bounds[i])
        i++;
    h->counts[i]++;
    h->count++;
    h->sum += value;
}

static uint64_t or_zero(int64_t tokens)
{
    return tokens > 0 ? (uint64_t)tokens : 0;
}

void wr_otel_meter_take(struct wr_otel_meter *meter, const struct wr_record *r,
                        const struct wr_cost *cost)
{
    struct series *s = find_series(meter, r);

    count_one(&s->duration, time_bounds, r->total_us);
    if (r->is_usage_known && r->usage.input_tokens >= 0)
        count_one(&s->input, token_bounds, wr_otel_input_tokens(r));
    if (r->is_usage_known && r->usage.output_tokens >= 0)
        count_one(&s->output, token_bounds, (uint64_t)r->usage.output_tokens);
    if (r->first_byte_us && r->answer_events)
        count_one(&s->first_chunk, time_bounds, r->first_byte_us);
    if (r->is_collected)
        count_one(&s->added, time_bounds, r->added_us);
    s->cost_micro_usd += cost->known ? cost->micro_usd : 0;
    s->received_tokens += r->tokens_before;
    s->sent_tokens += wr_record_prompt_tokens(r);
    s->cache_read_tokens += or_zero(r->usage.cache_read_tokens);
    s->cache_write_tokens += or_zero(r->usage.cache_write_tokens);
    s->cache_bust_tokens += r->cache_lost_tokens;
    s->changed_requests += wr_record_was_changed(r);
    s->steps += wr_record_was_step(r);
}

/* ---- writing ---- */

struct writing {
    const struct wr_otel_meter *meter;
    struct wr_json_writer *w;
    char started[24], now[24]; /* nanoseconds, as text */
};

static void write_count(struct wr_json_writer *w, const char *key, uint64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
    wr_json_member_word(w, key, digits);
}

/* The members that every point has; the point stays open. */
static void begin_point(const struct writing *o, const struct series *s, const char *key,
                        const char *value)
{
    struct wr_json_writer *w = o->w;

    wr_json_write_object(w);
    wr_json_member_array(w, "attributes");
    if (s->is_overflow) {
        wr_otel_flag(w, "otel.metric.overflow", true);
    } else {
        wr_otel_text(w, "gen_ai.operation.name", wr_span_of(s->operation));
        wr_otel_text(w, "gen_ai.provider.name", wr_span_of(s->provider));
        wr_otel_text(w, "gen_ai.request.model", wr_span_of(s->model));
        wr_otel_text(w, "error.type", wr_span_of(s->error));
    }
    if (key)
        wr_otel_text(w, key, wr_span_of(value));
    wr_json_write_array_end(w);
    wr_json_member_word(w, "startTimeUnixNano", o->started);
    wr_json_member_word(w, "timeUnixNano", o->now);
}

static void begin_metric(const struct writing *o, const char *name, const char *unit,
                         const char *kind)
{
    wr_json_write_object(o->w);
    wr_json_member_word(o->w, "name", name);
    wr_json_member_word(o->w, "unit", unit);
    wr_json_member_object(o->w, kind);
    wr_json_member_number(o->w, "aggregationTemporality", CUMULATIVE);
    wr_json_member_array(o->w, "dataPoints");
}

static void write_number(struct wr_json_writer *w, uint64_t number, bool is_time)
{
    if (is_time)
        wr_json_write_fixed(w, (double)number / US_PER_S, DECIMALS);
    else
        wr_json_write_i64(w, (int64_t)number);
}

static void write_histogram(const struct writing *o, const struct series *s,
                            const struct histogram *h, bool is_time, const char *type)
{
    struct wr_json_writer *w = o->w;
    const uint64_t *bounds = is_time ? time_bounds : token_bounds;

    if (!h->count)
        return;
    begin_point(o, s, type ? "gen_ai.token.type" : NULL, type);
    write_count(w, "count", h->count);
    wr_json_write_key(w, "sum");
    write_number(w, h->sum, is_time);
    wr_json_member_array(w, "bucketCounts");
    for (size_t i = 0; i <= BUCKETS; i++) {
        char digits[24];
        (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)h->counts[i]);
        wr_json_write_text(w, wr_span_of(digits));
    }
    wr_json_write_array_end(w);
    wr_json_member_array(w, "explicitBounds");
    for (size_t i = 0; i < BUCKETS; i++)
        write_number(w, bounds[i], is_time);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

static void end_metric(const struct writing *o)
{
    wr_json_write_array_end(o->w);
    wr_json_write_object_end(o->w);
    wr_json_write_object_end(o->w);
}

static void write_histograms(const struct writing *o)
{
    const struct {
        const char *name, *unit;
        bool is_time;
        const char *type;
        size_t offset;
    } rows[] = {
        {"gen_ai.client.token.usage", "{token}", false, "input", offsetof(struct series, input)},
        {"gen_ai.client.token.usage", "{token}", false, "output", offsetof(struct series, output)},
        {"gen_ai.client.operation.duration", "s", true, NULL, offsetof(struct series, duration)},
        {"gen_ai.client.operation.time_to_first_chunk", "s", true, NULL,
         offsetof(struct series, first_chunk)},
        {"weir.request.added", "s", true, NULL, offsetof(struct series, added)},
    };

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        if (!i || strcmp(rows[i].name, rows[i - 1].name) != 0)
            begin_metric(o, rows[i].name, rows[i].unit, "histogram");
        for (size_t k = 0; k < o->meter->count; k++) {
            const struct series *s = &o->meter->series[k];
            write_histogram(o, s, (const struct histogram *)((const char *)s + rows[i].offset),
                            rows[i].is_time, rows[i].type);
        }
        if (i + 1 == WR_COUNT_OF(rows) || strcmp(rows[i].name, rows[i + 1].name) != 0)
            end_metric(o);
    }
}

static void write_sums(const struct writing *o)
{
    static const struct {
        const char *name, *unit, *key, *value;
        size_t offset;
    } rows[] = {
#define X(member, metric, unit, key, value) \
    {metric, unit, key, value, offsetof(struct series, member)},
        SUM_MAP(X)
#undef X
    };

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        bool is_money = rows[i].offset == offsetof(struct series, cost_micro_usd);
        if (!i || strcmp(rows[i].name, rows[i - 1].name) != 0)
            begin_metric(o, rows[i].name, rows[i].unit, "sum");
        for (size_t k = 0; k < o->meter->count; k++) {
            const struct series *s = &o->meter->series[k];
            uint64_t number;
            memcpy(&number, (const char *)s + rows[i].offset, sizeof(number));
            begin_point(o, s, rows[i].key, rows[i].value);
            if (is_money)
                wr_json_member_fixed(o->w, "asDouble", (double)number / US_PER_S, DECIMALS);
            else
                write_count(o->w, "asInt", number);
            wr_json_write_object_end(o->w);
        }
        if (i + 1 < WR_COUNT_OF(rows) && !strcmp(rows[i].name, rows[i + 1].name))
            continue;
        wr_json_write_array_end(o->w);
        wr_json_member_bool(o->w, "isMonotonic", true);
        wr_json_write_object_end(o->w);
        wr_json_write_object_end(o->w);
    }
}

void wr_otel_meter_write(const struct wr_otel_meter *meter, int64_t now_ms,
                         struct wr_json_writer *writer)
{
    struct writing o = {.meter = meter, .w = writer};

    (void)snprintf(o.started, sizeof(o.started), "%lld000000", (long long)meter->started_ms);
    (void)snprintf(o.now, sizeof(o.now), "%lld000000", (long long)now_ms);
    write_histograms(&o);
    write_sums(&o);
}
