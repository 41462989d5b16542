#include "policy/meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "models/lookup.h"
#include "wire/test_transcript.h"

static void use(struct wr_meter *meter, struct wr_models *models, const char *model)
{
    struct wr_model_match match = wr_models_lookup(models, wr_span_of(model));
    assert_int_equal(wr_meter_use_model(meter, match.model, NULL), WEIR_OK);
}

static void texts_are_counted_as_the_model_does(void **state)
{
    struct wr_models *models;
    struct wr_meter *meter;
    (void)state;

    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_meter_new(&meter), WEIR_OK);
    use(meter, models, "gpt-5");
    assert_int_equal(wr_meter_count(meter, WR_LIT("hello world")), 2);
    assert_int_equal(wr_meter_source(meter), WR_COUNT_EXACT);
    use(meter, models, "claude-sonnet-4-5");
    assert_int_equal(wr_meter_source(meter), WR_COUNT_ESTIMATE);
    assert_in_range(wr_meter_count(meter, WR_LIT("hello world")), 2, 6);
    wr_meter_use_estimator(meter, WR_ESTIMATOR_BYTES_4);
    assert_int_equal(wr_meter_count(meter, WR_LIT("hello world")), 2);
    assert_string_equal(wr_meter_method(meter), "estimate, bytes/4");
    wr_meter_free(meter);
    wr_models_free(models);
}

static const char body[] =
    "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],\"messages\":["
    "{\"role\":\"system\",\"content\":\"be brief\"},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hello "
    "world\"},{\"type\":\"image_url\","
    "\"image_url\":{\"url\":\"https://example.org/a.png\"}}]},"
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\","
    "\"function\":"
    "{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
    "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"hello\\nworld\"}]}";

static void every_segment_has_its_tokens_however_often_it_is_asked(void **state)
{
    struct test_transcript test;
    struct wr_models *models;
    struct wr_meter *meter;
    struct wr_measure first, again;
    (void)state;

    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_meter_new(&meter), WEIR_OK);
    test_transcript_open(&test, wr_span_of(body));
    use(meter, models, "gpt-5");
    assert_int_equal(wr_meter_measure(meter, &test.transcript, &test.arena, &first), WEIR_OK);
    assert_int_equal(wr_meter_measure(meter, &test.transcript, &test.arena, &again), WEIR_OK);
    for (uint32_t i = 0; i < test.transcript.segments_count; i++) {
        assert_true(first.segment_tokens[i] > 0);
        assert_int_equal(first.segment_tokens[i], again.segment_tokens[i]);
    }
    assert_int_equal(first.segment_tokens[test_transcript_find(&test, WEIR_KIND_TEXT, 0)], 2);
    assert_true(first.segment_tokens[test_transcript_find(&test, WEIR_KIND_IMAGE, 0)] > 50);
    assert_true(first.overhead_tokens > 0);

    /* Another model counts otherwise: nothing that was remembered may be taken for it. */
    use(meter, models, "claude-sonnet-5-5");
    assert_int_equal(wr_meter_measure(meter, &test.transcript, &test.arena, &again), WEIR_OK);
    assert_true(again.segment_tokens[1] != first.segment_tokens[1] ||
                again.segment_tokens[0] != first.segment_tokens[0]);
    test_transcript_close(&test);
    wr_meter_free(meter);
    wr_models_free(models);
}

/* Two calls with the same arguments: what is remembered of one is not the other's. */
static void the_name_of_a_call_counts(void **state)
{
#define CALLS(id, name)                                                                     \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id "\",\"type\":" \
    "\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":\"{}\"}}]},"            \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"x\"}"
    static const char calls[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}," CALLS(
        "a", "f") "," CALLS("b", "a_name_that_is_much_longer_than_the_other") "]}";
    struct test_transcript test;
    struct wr_models *models;
    struct wr_meter *meter;
    struct wr_measure measure;
    (void)state;

    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_meter_new(&meter), WEIR_OK);
    test_transcript_open(&test, wr_span_of(calls));
    use(meter, models, "gpt-5");
    assert_int_equal(wr_meter_measure(meter, &test.transcript, &test.arena, &measure), WEIR_OK);
    assert_true(measure.segment_tokens[test_transcript_find(&test, WEIR_KIND_TOOL_CALL, 1)] >
                measure.segment_tokens[test_transcript_find(&test, WEIR_KIND_TOOL_CALL, 0)]);
    test_transcript_close(&test);
    wr_meter_free(meter);
    wr_models_free(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_counted_as_the_model_does),
        cmocka_unit_test(the_name_of_a_call_counts),
        cmocka_unit_test(every_segment_has_its_tokens_however_often_it_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
