#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "models/calibrate.h"

enum { SAMPLES_MAX = 12 };

static const struct {
    const char *behaviour;
    uint32_t usage[SAMPLES_MAX]; /* of requests we counted as 10,000; 0 ends */
    uint32_t samples, factor_bp;
} cases[] = {
    {"nothing known", {0}, 0, 10000},
    {"two samples are not enough", {12000, 12000}, 2, 10000},
    {"three are", {12000, 11000, 13000}, 3, 12000},
    {"one wild sample moves nothing", {12000, 19900, 12100, 11900, 12000}, 5, 12000},
    {"of two middle ones the higher", {11000, 11500, 12000, 12500}, 4, 12000},
    {"a ratio above 2 is of something else", {12000, 12000, 12000, 20001}, 3, 12000},
    {"so is one below a half", {12000, 4999, 12000, 12000}, 3, 12000},
    {"twice as many", {20000, 20000, 20000}, 3, 20000},
    {"half as many", {5000, 5000, 5000}, 3, 5000},
    {"only the last nine count",
     {10000, 10000, 10000, 10000, 20000, 20000, 20000, 20000, 20000, 20000, 20000, 20000},
     9,
     20000},
};

static void learns(void **state)
{
    static struct wr_calibration calibration;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        uint32_t samples;
        wr_calibration_init(&calibration);
        for (size_t k = 0; k < SAMPLES_MAX && cases[i].usage[k]; k++)
            (void)wr_calibration_add(&calibration, WR_LIT("m"), 10000, cases[i].usage[k]);
        uint32_t factor_bp = wr_calibration_factor_bp(&calibration, WR_LIT("m"), &samples);
        if (factor_bp != cases[i].factor_bp || samples != cases[i].samples)
            fail_msg("%s: %u of %u", cases[i].behaviour, factor_bp, samples);
    }
}

static void keeps_models_apart(void **state)
{
    static struct wr_calibration calibration;
    (void)state;
    wr_calibration_init(&calibration);
    for (int i = 0; i < 3; i++) {
        assert_true(wr_calibration_add(&calibration, WR_LIT("a"), 1000, 1500));
        assert_true(wr_calibration_add(&calibration, WR_LIT("b"), 1000, 800));
    }
    assert_int_equal(wr_calibration_factor_bp(&calibration, WR_LIT("a"), NULL), 15000);
    assert_int_equal(wr_calibration_factor_bp(&calibration, WR_LIT("b"), NULL), 8000);
    assert_int_equal(wr_calibration_factor_bp(&calibration, WR_LIT("c"), NULL), 10000);
    assert_false(wr_calibration_add(&calibration, WR_LIT("a"), 511, 511));
    assert_false(wr_calibration_add(&calibration, WR_LIT(""), 1000, 1000));
    assert_false(wr_calibration_add(&calibration, WR_LIT("a"), 1000, UINT64_MAX));
}

static void forgets_the_oldest(void **state)
{
    static struct wr_calibration calibration;
    char id[3] = "a0";
    (void)state;
    wr_calibration_init(&calibration);
    for (int i = 0; i <= WR_CALIBRATION_MODELS_MAX; i++) {
        id[0] = (char)('a' + i / 8);
        id[1] = (char)('0' + i % 8);
        assert_true(wr_calibration_add(&calibration, wr_span_of(id), 1000, 1000));
        /* The first model is used again just before the table is full, so the second is the oldest.
         */
        if (i == WR_CALIBRATION_MODELS_MAX - 1)
            assert_true(wr_calibration_add(&calibration, WR_LIT("a0"), 1000, 1000));
    }
    uint32_t samples;
    assert_int_equal(calibration.entries_count, WR_CALIBRATION_MODELS_MAX);
    (void)wr_calibration_factor_bp(&calibration, WR_LIT("a0"), &samples);
    assert_int_equal(samples, 2);
    (void)wr_calibration_factor_bp(&calibration, WR_LIT("a1"), &samples);
    assert_int_equal(samples, 0);
}

static void comes_back_as_written(void **state)
{
    static struct wr_calibration calibration, back;
    struct wr_buf first, second;
    (void)state;
    wr_buf_init(&first, WR_CALIBRATION_TEXT_BYTES_MAX);
    wr_buf_init(&second, WR_CALIBRATION_TEXT_BYTES_MAX);
    wr_calibration_init(&calibration);
    for (uint64_t i = 0; i < 20; i++) {
        (void)wr_calibration_add(&calibration, WR_LIT("claude-opus-5-5"), 10000, 11000 + i);
        (void)wr_calibration_add(&calibration, WR_LIT("we\"ird"), 10000, 9000 + i);
    }
    wr_calibration_write(&calibration, &first);
    assert_int_equal(wr_calibration_read(&back, wr_buf_view(&first), NULL), WEIR_OK);
    wr_calibration_write(&back, &second);
    assert_true(wr_span_eq(wr_buf_view(&first), wr_buf_view(&second)));
    assert_int_equal(wr_calibration_factor_bp(&back, WR_LIT("we\"ird"), NULL), 9015);
    wr_buf_release(&first);
    wr_buf_release(&second);
}

static const struct {
    const char *behaviour, *text;
    weir_status status;
} bad[] = {
    {"an empty state is fine", "{\"schema\":1,\"models\":[]}", WEIR_OK},
    {"not JSON", "{", WEIR_SYNTAX},
    {"another schema", "{\"schema\":2,\"models\":[]}", WEIR_INVALID},
    {"no models", "{\"schema\":1}", WEIR_INVALID},
    {"an entry without an id", "{\"schema\":1,\"models\":[{\"ratios_bp\":[]}]}", WEIR_INVALID},
    {"a ratio out of bounds", "{\"schema\":1,\"models\":[{\"id\":\"a\",\"ratios_bp\":[50000]}]}",
     WEIR_INVALID},
    {"a ratio that is a fraction", "{\"schema\":1,\"models\":[{\"id\":\"a\",\"ratios_bp\":[1.5]}]}",
     WEIR_INVALID},
    {"too many ratios",
     "{\"schema\":1,\"models\":[{\"id\":\"a\",\"ratios_bp\":[9000,9000,9000,9000,9000,9000,9000,"
     "9000,"
     "9000,9000]}]}",
     WEIR_INVALID},
    {"a model twice",
     "{\"schema\":1,\"models\":[{\"id\":\"a\",\"ratios_bp\":[]},{\"id\":\"a\",\"ratios_bp\":[]}]}",
     WEIR_INVALID},
};

static void refuses(void **state)
{
    static struct wr_calibration calibration;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(bad); i++) {
        weir_status status = wr_calibration_read(&calibration, wr_span_of(bad[i].text), NULL);
        if (status != bad[i].status || calibration.entries_count)
            fail_msg("%s: %s", bad[i].behaviour, weir_status_text(status));
    }
}

static void confidence(void **state)
{
    (void)state;
    assert_int_equal(wr_confidence_of(WR_COUNT_EXACT, true), WR_CONFIDENCE_HIGH);
    assert_int_equal(wr_confidence_of(WR_COUNT_OBSERVED, true), WR_CONFIDENCE_HIGH);
    assert_int_equal(wr_confidence_of(WR_COUNT_ESTIMATE, true), WR_CONFIDENCE_MEDIUM);
    assert_int_equal(wr_confidence_of(WR_COUNT_UNKNOWN, true), WR_CONFIDENCE_LOW);
    assert_int_equal(wr_confidence_of(WR_COUNT_EXACT, false), WR_CONFIDENCE_LOW);
    assert_string_equal(wr_confidence_text(WR_CONFIDENCE_MEDIUM), "medium");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns),
        cmocka_unit_test(keeps_models_apart),
        cmocka_unit_test(forgets_the_oldest),
        cmocka_unit_test(comes_back_as_written),
        cmocka_unit_test(refuses),
        cmocka_unit_test(confidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
