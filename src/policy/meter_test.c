#include "policy/meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "models/registry.h"
#include "tests/test_transcript.h"

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

/* ---- what is not text ---- */

#define PNG   "iVBORw0KGgoAAAANSUhEUgAAAlgAAAEsCAIAAAAAAAAAAAAAAA==" /* 600 x 300 */
#define FORTY "forty bytes are ten tokens, as one sees."
#define SIXTY "sixty bytes that nobody can read are ten tokens of a model.."
#define SAYS(role, blocks) \
    "{\"max_tokens\":9,\"messages\":[{\"role\":\"" role "\",\"content\":[" blocks "]}]}"
#define SOURCE(type, media, data) \
    "{\"type\":\"" type "\",\"media_type\":\"" media "\",\"data\":\"" data "\"}"
#define IMAGE_URL(more)                                                                     \
    "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":" \
    "{\"url\":\"data:image/png;base64," PNG "\"" more "}}]}]}"
#define INPUT(items) "{\"input\":[" items "]}"

/* Texts are four bytes a token here; the image rule is a tile of 512 for 170 and 85 beside. */
static const struct {
    const char *behaviour, *body;
    bool has_rule;
    weir_kind kind;
    uint64_t tokens;
} kinds[] = {
    {"an image whose rule nobody knows", IMAGE_URL(""), false, WEIR_KIND_IMAGE, 1600},
    {"one of two tiles", IMAGE_URL(""), true, WEIR_KIND_IMAGE, 425},
    {"one that the model sees from afar", IMAGE_URL(",\"detail\":\"low\""), true, WEIR_KIND_IMAGE,
     85},
    {"one that it sees closely", IMAGE_URL(",\"detail\":\"high\""), true, WEIR_KIND_IMAGE, 425},
    {"the data is the longest string of a block",
     SAYS("user", "{\"type\":\"image\",\"source\":" SOURCE("base64", "image/png", PNG) "}"), true,
     WEIR_KIND_IMAGE, 425},
    {"a file of text is text",
     SAYS("user", "{\"type\":\"document\",\"source\":" SOURCE("text", "text/plain", FORTY) "}"),
     false, WEIR_KIND_FILE, 10},
    {"another by its bytes: three for four of base64",
     SAYS("user",
          "{\"type\":\"document\",\"source\":" SOURCE("base64", "application/x", FORTY) "}"),
     false, WEIR_KIND_FILE, 30 / 4 + 1},
    {"of thinking its text counts, not its signature",
     SAYS("assistant",
          "{\"type\":\"thinking\",\"thinking\":\"" FORTY "\",\"signature\":\"" SIXTY "\"}"),
     false, WEIR_KIND_REASONING, 10},
    {"where it is encrypted six bytes are a token",
     SAYS("assistant", "{\"type\":\"redacted_thinking\",\"data\":\"" SIXTY "\"}"), false,
     WEIR_KIND_REASONING, 10},
    {"where it is both, both",
     INPUT("{\"type\":\"reasoning\",\"id\":\"rs_0123456789abcdef\",\"summary\":[{\"type\":"
           "\"summary_text\",\"text\":\"" FORTY "\"}],\"encrypted_content\":\"" SIXTY "\"}"),
     false, WEIR_KIND_REASONING, 20},
    {"reasoning that is a string",
     "{\"messages\":[{\"role\":\"assistant\",\"content\":\"x\","
     "\"reasoning_content\":\"" FORTY "\"}]}",
     false, WEIR_KIND_REASONING, 10},
    {"a call has its name and its arguments",
     INPUT("{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"eightbyt\",\"arguments\":"
           "\"{\\\"a\\\":12}\"}"),
     false, WEIR_KIND_TOOL_CALL, 4},
    {"a result has its text and its images",
     SAYS("user", "{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":[{\"type\":\"text\","
                  "\"text\":\"" FORTY
                  "\"},{\"type\":\"image\",\"source\":" SOURCE("base64", "image/png", PNG) "}]}"),
     false, WEIR_KIND_TOOL_RESULT, 1610},
    {"and none where it is text",
     SAYS("user", "{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"" FORTY "\"}"),
     false, WEIR_KIND_TOOL_RESULT, 10},
};

static void every_kind_is_counted_by_its_rule(void **state)
{
    static const struct wr_image_rule tile = {.kind = WR_IMAGE_TILE,
                                              .unknown_tokens = 1,
                                              .low_tokens = 85,
                                              .base_tokens = 85,
                                              .tile_tokens = 170,
                                              .tile_px = 512,
                                              .fit_px = 2048,
                                              .short_px = 768};
    static const struct wr_model model = {.tokenizer = WR_TOKENIZER_ESTIMATE, .image = &tile};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(kinds); i++) {
        struct test_transcript test;
        struct wr_meter *meter;
        struct wr_measure measure;
        assert_int_equal(wr_meter_new(&meter), WEIR_OK);
        if (kinds[i].has_rule)
            assert_int_equal(wr_meter_use_model(meter, &model, NULL), WEIR_OK);
        wr_meter_use_estimator(meter, WR_ESTIMATOR_BYTES_4);
        test_transcript_open(&test, wr_span_of(kinds[i].body));
        assert_int_equal(wr_meter_measure(meter, &test.transcript, &test.arena, &measure), WEIR_OK);
        uint64_t tokens = measure.segment_tokens[test_transcript_find(&test, kinds[i].kind, 0)];
        if (tokens != kinds[i].tokens)
            fail_msg("%s: %llu", kinds[i].behaviour, (unsigned long long)tokens);
        test_transcript_close(&test);
        wr_meter_free(meter);
    }
}

/* Each message once, each call and result, the list of tools and each of them. */
static void framing_is_counted_where_it_arrives(void **state)
{
    static const char talk[] =
        "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}},{\"type\":\"function\","
        "\"function\":{\"name\":\"g\"}}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"one\"},{\"type\":\"text\",\"text\":\"two\"}]},{\"role\":\"assistant\","
        "\"content\":\"yes\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":"
        "{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\","
        "\"content\":\"x\"}]}";
    struct test_transcript test;
    struct wr_meter *meter;
    struct wr_measure measure;
    uint64_t sum = 0;
    (void)state;

    assert_int_equal(wr_meter_new(&meter), WEIR_OK);
    test_transcript_open(&test, wr_span_of(talk));
    struct wr_transcript *t = &test.transcript;
    t->framing =
        (struct wr_framing){.request = 1, .message = 10, .call = 100, .tools = 1000, .tool = 10000};
    assert_int_equal(wr_meter_measure(meter, t, &test.arena, &measure), WEIR_OK);
    assert_int_equal(measure.overhead_tokens, 1 + 3 * 10 + 2 * 100 + 1000 + 2 * 10000);
    assert_int_equal(measure.base_tokens, 1);
    assert_int_equal(measure.message_overhead_tokens, 10);
    for (uint32_t i = 0; i < t->segments_count; i++)
        sum += measure.segment_tokens[i];
    assert_int_equal(measure.total_tokens, sum + measure.overhead_tokens);
    uint32_t first = test_transcript_find(&test, WEIR_KIND_TEXT, 0);
    assert_int_equal(measure.segment_overheads[first], 10);
    assert_int_equal(measure.segment_overheads[first + 1], 0);
    test_transcript_close(&test);
    wr_meter_free(meter);
}

static void an_estimate_is_scaled_by_the_models_factor(void **state)
{
    struct wr_model model = {.tokenizer = WR_TOKENIZER_ESTIMATE};
    const weir_span text = WR_LIT(FORTY);
    struct wr_meter *meter;
    (void)state;

    assert_int_equal(wr_meter_new(&meter), WEIR_OK);
    uint64_t plain = wr_estimate_tokens(WR_ESTIMATOR_FITTED, text);
    assert_int_equal(wr_meter_use_model(meter, &model, NULL), WEIR_OK);
    assert_int_equal(wr_meter_count(meter, text), plain);
    assert_string_equal(wr_meter_method(meter), "fitted estimate");
    model.factor_bp = 10001;
    assert_int_equal(wr_meter_use_model(meter, &model, NULL), WEIR_OK);
    assert_int_equal(wr_meter_count(meter, text), plain + 1);
    model.factor_bp = 20000;
    assert_int_equal(wr_meter_use_model(meter, &model, NULL), WEIR_OK);
    assert_int_equal(wr_meter_count(meter, text), plain * 2);
    assert_null(wr_meter_scratch(meter));
    assert_int_equal(wr_meter_use_encoding(meter, WR_BPE_CL100K_BASE, NULL), WEIR_OK);
    assert_string_equal(wr_meter_method(meter), "exact, cl100k_base");
    assert_non_null(wr_meter_scratch(meter));
    assert_int_equal(wr_meter_use_encoding(meter, WR_BPE_O200K_BASE, NULL), WEIR_OK);
    assert_string_equal(wr_meter_method(meter), "exact, o200k_base");
    wr_meter_use_estimator(meter, WR_ESTIMATOR_RUNS);
    assert_string_equal(wr_meter_method(meter), "estimate, runs");
    assert_int_equal(wr_meter_count(meter, text), wr_estimate_tokens(WR_ESTIMATOR_RUNS, text));
    wr_meter_free(meter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_counted_as_the_model_does),
        cmocka_unit_test(the_name_of_a_call_counts),
        cmocka_unit_test(every_kind_is_counted_by_its_rule),
        cmocka_unit_test(framing_is_counted_where_it_arrives),
        cmocka_unit_test(an_estimate_is_scaled_by_the_models_factor),
        cmocka_unit_test(every_segment_has_its_tokens_however_often_it_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
