/* A request as a span of a trace.
 *
 * The tables below are the whole of what a span says: a name, and the member of the record. What
 * the provider did not say is left out, never 0.
 */
#include "otel/span.h"

#include "base/span.h"
#include "base/text.h"
#include "net/http.h"

enum { COST_DECIMALS = 6, US_PER_S = 1000000, CLIENT_KIND = 3, STATUS_ERROR = 2 };

/* ---- attributes ---- */

static void begin_attribute(struct wr_json_writer *w, const char *key)
{
    wr_json_write_object(w);
    wr_json_member_word(w, "key", key);
    wr_json_member_object(w, "value");
}

static void end_attribute(struct wr_json_writer *w)
{
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

/* Half a surrogate pair is a JSON text to us and none to most receivers, who would refuse the
 * whole batch for it. */
static bool is_sayable(weir_span text)
{
    return text.len && wr_utf8_check(text, false) == text.len;
}

void wr_otel_text(struct wr_json_writer *w, const char *key, weir_span text)
{
    if (!is_sayable(text))
        return;
    begin_attribute(w, key);
    wr_json_member_text(w, "stringValue", text);
    end_attribute(w);
}

/* OTLP writes whole numbers of 64 bits as text. */
static void otel_number(struct wr_json_writer *w, const char *key, int64_t number)
{
    char digits[24];

    begin_attribute(w, key);
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
    wr_json_member_word(w, "intValue", digits);
    end_attribute(w);
}

static void otel_fixed(struct wr_json_writer *w, const char *key, double number, int decimals)
{
    begin_attribute(w, key);
    wr_json_member_fixed(w, "doubleValue", number, decimals);
    end_attribute(w);
}

void wr_otel_flag(struct wr_json_writer *w, const char *key, bool value)
{
    begin_attribute(w, key);
    wr_json_member_bool(w, "boolValue", value);
    end_attribute(w);
}

/* ---- the parent ---- */

static bool is_hex(weir_span text)
{
    bool is_some = false;

    for (size_t i = 0; i < text.len; i++) {
        if (!text.ptr[i] || !strchr("0123456789abcdef", text.ptr[i]))
            return false;
        is_some = is_some || text.ptr[i] != '0';
    }
    return is_some;
}

bool wr_otel_parent_read(weir_span header, struct wr_record_trace *trace)
{
    enum { TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, BYTES = 55 };

    *trace = (struct wr_record_trace){.is_unsampled = false};
    /* A later version may be longer, and is read as this one. */
    if (header.len < BYTES || wr_span_starts(header, WR_LIT("ff")) ||
        (wr_span_starts(header, WR_LIT("00")) && header.len > BYTES) ||
        (header.len > BYTES && header.ptr[BYTES] != '-') || header.ptr[2] != '-' ||
        header.ptr[PARENT_AT - 1] != '-' || header.ptr[FLAGS_AT - 1] != '-')
        return false;
    weir_span trace_id = wr_span_cut(header, TRACE_AT, PARENT_AT - 1);
    weir_span parent_id = wr_span_cut(header, PARENT_AT, FLAGS_AT - 1);
    weir_span flags = wr_span_cut(header, FLAGS_AT, BYTES);
    const char *low = strchr("0123456789abcdef", flags.ptr[1]);
    if (!is_hex(trace_id) || !is_hex(parent_id) || !low || !*low ||
        !strchr("0123456789abcdef", flags.ptr[0]))
        return false;
    memcpy(trace->trace_id, trace_id.ptr, trace_id.len);
    memcpy(trace->parent_id, parent_id.ptr, parent_id.len);
    trace->is_unsampled = !((low - "0123456789abcdef") & 1);
    return true;
}

/* ---- the span ---- */

const char *wr_otel_operation(const struct wr_record *record)
{
    return record->api && record->api->semconv_operation ? record->api->semconv_operation : "chat";
}

weir_span wr_otel_error(const struct wr_record *r)
{
    static const char *const classes[] = {"400", "401", "403", "404", "408", "413", "422",
                                          "429", "500", "502", "503", "504", "529"};
    bool is_done = wr_span_is(r->end, "done");

    if (is_done && r->status && r->status < 400 && !r->answer_error.len)
        return (weir_span){"", 0};
    if (!is_done)
        return r->end.len ? r->end : WR_LIT("_OTHER");
    if (r->answer_error.len)
        return r->answer_error;
    for (size_t i = 0; i < WR_COUNT_OF(classes); i++)
        if (r->status == (uint64_t)(classes[i][0] - '0') * 100 +
                             (uint64_t)(classes[i][1] - '0') * 10 + (uint64_t)(classes[i][2] - '0'))
            return wr_span_of(classes[i]);
    return WR_LIT("_OTHER");
}

uint64_t wr_otel_input_tokens(const struct wr_record *r)
{
    uint64_t input = r->usage.input_tokens > 0 ? (uint64_t)r->usage.input_tokens : 0;

    if (!r->api || !r->api->counts_cached_apart)
        return input;
    input += r->usage.cache_read_tokens > 0 ? (uint64_t)r->usage.cache_read_tokens : 0;
    return input + (r->usage.cache_write_tokens > 0 ? (uint64_t)r->usage.cache_write_tokens : 0);
}

static void write_usage(const struct wr_record *r, const struct wr_cost *cost,
                        struct wr_json_writer *w)
{
    const struct {
        const char *key;
        int64_t tokens;
    } fields[] = {{"gen_ai.usage.output_tokens", r->usage.output_tokens},
                  {"gen_ai.usage.cache_read.input_tokens", r->usage.cache_read_tokens},
                  {"gen_ai.usage.cache_creation.input_tokens", r->usage.cache_write_tokens},
                  {"gen_ai.usage.reasoning.output_tokens", r->usage.reasoning_tokens}};

    if (!r->is_usage_known)
        return;
    if (r->usage.input_tokens >= 0)
        otel_number(w, "gen_ai.usage.input_tokens", (int64_t)wr_otel_input_tokens(r));
    for (size_t i = 0; i < WR_COUNT_OF(fields); i++)
        if (fields[i].tokens >= 0)
            otel_number(w, fields[i].key, fields[i].tokens);
    if (cost->known)
        otel_fixed(w, "weir.cost.usd", (double)cost->micro_usd / US_PER_S, COST_DECIMALS);
}

static void write_server(const struct wr_record *r, struct wr_json_writer *w)
{
    const char *url = r->place_url ? r->place_url : r->base_url;
    struct wr_host host;

    if (!url || !wr_host_of_url(wr_span_of(url), &host))
        return;
    wr_otel_text(w, "server.address", host.name);
    if (host.port != WR_PORT_NONE)
        otel_number(w, "server.port", host.port);
    else
        otel_number(w, "server.port", wr_span_starts(wr_span_of(url), WR_LIT("https:")) ? 443 : 80);
}

/* The conventions have a list here, for answers with several choices. */
static void write_finish(weir_span reason, struct wr_json_writer *w)
{
    if (!is_sayable(reason))
        return;
    begin_attribute(w, "gen_ai.response.finish_reasons");
    wr_json_member_object(w, "arrayValue");
    wr_json_member_array(w, "values");
    wr_json_write_object(w);
    wr_json_member_text(w, "stringValue", reason);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
    end_attribute(w);
}

static void write_call(const struct wr_record *r, struct wr_json_writer *w)
{
    wr_otel_text(w, "gen_ai.operation.name", wr_span_of(wr_otel_operation(r)));
    wr_otel_text(w, "gen_ai.provider.name", r->provider);
    wr_otel_text(w, "gen_ai.request.model", wr_span_of(r->model));
    wr_otel_text(w, "gen_ai.response.model", r->answer_model);
    wr_otel_text(w, "gen_ai.conversation.id", r->session);
    if (r->answer_tokens)
        otel_number(w, "gen_ai.request.max_tokens", (int64_t)r->answer_tokens);
    write_finish(r->answer_finish, w);
    write_server(r, w);
    if (r->status)
        otel_number(w, "http.response.status_code", (int64_t)r->status);
    wr_otel_text(w, "error.type", wr_otel_error(r));
}

static void write_own_words(const struct wr_record *r, struct wr_json_writer *w)
{
    const struct {
        const char *key;
        weir_span word;
    } words[] = {{"weir.upstream", r->upstream},
                 {"weir.tenant", r->tenant},
                 {"weir.agent", r->agent},
                 {"weir.run", r->run},
                 {"weir.policy", wr_span_of(r->policy)},
                 {"weir.mode", r->mode},
                 {"weir.mode.reason", r->mode_reason},
                 {"weir.not_read", r->not_read},
                 {"weir.step.reason", r->step_reason},
                 {"weir.held_back", r->held_back},
                 {"weir.retry.reason", r->retry_reason},
                 {"weir.upstream.place", r->place},
                 {"weir.upstream.left", r->left_place},
                 {"weir.upstream.left.reason", r->left_reason},
                 {"weir.cache.bust.cause",
                  r->is_bust ? wr_span_of(wr_bust_name(r->bust)) : (weir_span){"", 0}}};

    for (size_t i = 0; i < WR_COUNT_OF(words); i++)
        wr_otel_text(w, words[i].key, words[i].word);
}

static void write_own_numbers(const struct wr_record *r, struct wr_json_writer *w)
{
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {{"weir.prompt.received_tokens", r->tokens_before},
                   {"weir.prompt.sent_tokens", wr_record_prompt_tokens(r)},
                   {"weir.window.tokens", r->budget.window_tokens},
                   {"weir.cache.expected_tokens", r->cache_expected_tokens},
                   {"weir.cache.bust.tokens", r->cache_lost_tokens},
                   {"weir.own_recalls", r->own_recalls},
                   {"weir.leg", r->leg},
                   {"weir.retries", r->retries_count},
                   {"weir.answer.calls", r->answer_calls}};

    for (size_t i = 0; i < WR_COUNT_OF(numbers); i++)
        if (numbers[i].number)
            otel_number(w, numbers[i].key, (int64_t)numbers[i].number);
    if (r->is_collected)
        otel_fixed(w, "weir.added_seconds", (double)r->added_us / US_PER_S, COST_DECIMALS);
    if (r->first_byte_us)
        otel_fixed(w, "weir.first_byte_seconds", (double)r->first_byte_us / US_PER_S,
                   COST_DECIMALS);
    wr_otel_flag(w, "weir.changed", wr_record_was_changed(r));
    wr_otel_flag(w, "weir.step", wr_record_was_step(r));
}

static void write_head(const struct wr_record *r, const char *span_id, struct wr_json_writer *w)
{
    char text[WR_RECORD_MODEL_BYTES + 64];
    uint64_t began_us = (uint64_t)r->time_ms * 1000;

    wr_json_member_word(w, "traceId", r->trace.trace_id);
    wr_json_member_word(w, "spanId", span_id);
    if (r->trace.parent_id[0])
        wr_json_member_word(w, "parentSpanId", r->trace.parent_id);
    bool is_named = is_sayable(wr_span_of(r->model));
    (void)snprintf(text, sizeof(text), "%s%s%s", wr_otel_operation(r), is_named ? " " : "",
                   is_named ? r->model : "");
    wr_json_member_word(w, "name", text);
    wr_json_member_number(w, "kind", CLIENT_KIND);
    (void)snprintf(text, sizeof(text), "%llu000", (unsigned long long)began_us);
    wr_json_member_word(w, "startTimeUnixNano", text);
    (void)snprintf(text, sizeof(text), "%llu000", (unsigned long long)(began_us + r->total_us));
    wr_json_member_word(w, "endTimeUnixNano", text);
}

void wr_otel_span_write(const struct wr_record *record, const char *span_id,
                        const struct wr_cost *cost, struct wr_buf *out)
{
    struct wr_json_writer writer, *w = &writer;

    wr_json_write_init(w, out);
    wr_json_write_object(w);
    write_head(record, span_id, w);
    wr_json_member_array(w, "attributes");
    write_call(record, w);
    write_usage(record, cost, w);
    write_own_words(record, w);
    write_own_numbers(record, w);
    wr_json_write_array_end(w);
    wr_json_member_object(w, "status");
    if (wr_otel_error(record).len)
        wr_json_member_number(w, "code", STATUS_ERROR);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}
