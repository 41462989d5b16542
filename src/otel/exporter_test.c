/* What the receiver gets and how it is asked again is tests/upstream/otel_cases.py's to try. */
#include "otel/exporter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

struct world {
    uv_loop_t loop;
    struct wr_fetcher *fetcher;
    struct wr_otel_settings settings;
    struct wr_otel *otel;
    _Atomic uint64_t spans, dropped, failed;
};

static void begin(struct world *w)
{
    struct wr_fetcher_options fetcher = {0};
    struct wr_otel_options options = {.loop = &w->loop,
                                      .settings = &w->settings,
                                      .models_yaml = {"", 0},
                                      .spans_count = &w->spans,
                                      .dropped_count = &w->dropped,
                                      .failed_count = &w->failed};

    assert_int_equal(uv_loop_init(&w->loop), 0);
    assert_int_equal(wr_fetcher_new(&w->fetcher, &w->loop, &fetcher, NULL), WEIR_OK);
    wr_otel_settings_init(&w->settings);
    w->settings.traces_url = "http://127.0.0.1:1/v1/traces"; /* nobody listens there */
    options.fetcher = w->fetcher;
    assert_int_equal(wr_otel_new(&w->otel, &options, NULL), WEIR_OK);
}

static void end(struct world *w)
{
    wr_otel_close(w->otel);
    wr_fetcher_close(w->fetcher);
    (void)uv_run(&w->loop, UV_RUN_DEFAULT);
    wr_otel_free(w->otel);
    wr_fetcher_free(w->fetcher);
    assert_int_equal(uv_loop_close(&w->loop), 0);
}

static void take(struct world *w, bool asks_model, bool is_unsampled)
{
    struct wr_record r;
    struct wr_head head = {.status = 0};

    wr_record_init(&r);
    r.asks_model = asks_model;
    wr_otel_begin(w->otel, &head, &r.trace);
    assert_int_equal(strlen(r.trace.trace_id), 32);
    r.trace.is_unsampled = is_unsampled;
    wr_otel_take(w->otel, &r);
}

static void a_full_queue_drops_and_counts(void **state)
{
    struct world w = {.spans = 0};

    (void)state;
    begin(&w);
    for (int i = 0; i < WR_OTEL_SPANS_MAX; i++)
        take(&w, true, false);
    take(&w, false, false); /* asks no model */
    take(&w, true, true);   /* of a trace that nobody records */
    assert_int_equal(atomic_load(&w.dropped), 0);
    take(&w, true, false);
    assert_int_equal(atomic_load(&w.dropped), 1);
    end(&w);
    assert_int_equal(atomic_load(&w.dropped), WR_OTEL_SPANS_MAX + 1);
}

static void a_receiver_that_is_away_is_counted_and_ends(void **state)
{
    struct world w = {.spans = 0};

    (void)state;
    begin(&w);
    take(&w, true, false);
    wr_otel_drain(w.otel);
    assert_false(wr_otel_is_idle(w.otel));
    while (!wr_otel_is_idle(w.otel))
        (void)uv_run(&w.loop, UV_RUN_ONCE);
    assert_int_equal(atomic_load(&w.failed), 1);
    assert_int_equal(atomic_load(&w.dropped), 0); /* it would be sent again */
    end(&w);
    assert_int_equal(atomic_load(&w.dropped), 1);
}

static void nothing_is_taken_where_nothing_is_sent(void **state)
{
    struct world w = {.spans = 0};
    struct wr_otel_settings off;
    struct wr_record r;

    (void)state;
    begin(&w);
    wr_otel_settings_init(&off);
    wr_otel_set(w.otel, &off);
    wr_record_init(&r);
    r.asks_model = true;
    wr_otel_begin(w.otel, &(struct wr_head){.status = 0}, &r.trace);
    assert_string_equal(r.trace.trace_id, "");
    wr_otel_take(w.otel, &r);
    wr_otel_drain(w.otel);
    assert_true(wr_otel_is_idle(w.otel));
    end(&w);
    assert_int_equal(atomic_load(&w.dropped), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue_drops_and_counts),
        cmocka_unit_test(a_receiver_that_is_away_is_counted_and_ends),
        cmocka_unit_test(nothing_is_taken_where_nothing_is_sent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
