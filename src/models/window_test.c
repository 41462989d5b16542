#include "models/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stddef.h>

#include "base/span.h"

static const struct {
    const char *behaviour, *model; /* NULL: the request names none */
    struct wr_window_evidence evidence;
    uint32_t tokens;
    enum wr_window_source source;
} cases[] = {
    {"the configuration wins over everything",
     "gpt-5.4",
     {.configured_tokens = 50000, .loaded_tokens = 8192, .observed_tokens = 90000},
     50000,
     WR_WINDOW_CONFIG},
    {"a loaded size wins over the registry",
     "qwen3.7-plus",
     {.loaded_tokens = 32768},
     32768,
     WR_WINDOW_LOADED},
    {"the registry wins over what was observed",
     "o3",
     {.observed_tokens = 400000},
     200000,
     WR_WINDOW_REGISTRY},
    {"a form of an id is the registry's", "openai/o3-2025-04-16", {0}, 200000, WR_WINDOW_REGISTRY},
    {"a name may ask for its window", "claude-sonnet-4-5[1m]", {0}, 1000000, WR_WINDOW_REGISTRY},
    {"a prompt may have the input limit, not the context",
     "gpt-5",
     {0},
     272000,
     WR_WINDOW_REGISTRY},
    {"what was said of this use has no other limit",
     "gpt-5",
     {.configured_tokens = 300000},
     300000,
     WR_WINDOW_CONFIG},
    {"a family's default says so", "claude-9", {0}, 200000, WR_WINDOW_FAMILY},
    {"more was accepted than the family's default",
     "claude-9",
     {.observed_tokens = 300000},
     300000,
     WR_WINDOW_OBSERVED},
    {"less was accepted: that says nothing",
     "claude-9",
     {.observed_tokens = 3000},
     200000,
     WR_WINDOW_FAMILY},
    {"an unknown model with something observed",
     "mine",
     {.observed_tokens = 70000},
     70000,
     WR_WINDOW_OBSERVED},
    {"an unknown model: Weir's fallback", "mine", {0}, 32000, WR_WINDOW_FALLBACK},
    {"a small request observed does not lower it",
     "mine",
     {.observed_tokens = 900},
     32000,
     WR_WINDOW_FALLBACK},
    {"a policy's own fallback",
     "mine",
     {.fallback_tokens = WR_FALLBACK_LAYERS_TOKENS},
     128000,
     WR_WINDOW_FALLBACK},
    {"no model at all", NULL, {0}, 32000, WR_WINDOW_FALLBACK},
    {"an overflow error caps the registry",
     "o3",
     {.overflow_tokens = 128000},
     128000,
     WR_WINDOW_REGISTRY},
    {"and the configuration",
     "o3",
     {.configured_tokens = 500000, .overflow_tokens = 200000},
     200000,
     WR_WINDOW_CONFIG},
    {"but never raises", "o3", {.overflow_tokens = 900000}, 200000, WR_WINDOW_REGISTRY},
};

static void windows(void **state)
{
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_window_evidence evidence = cases[i].evidence;
        struct wr_model_match match;
        if (cases[i].model) {
            match = wr_models_lookup(models, wr_span_of(cases[i].model));
            evidence.match = &match;
        }
        struct wr_window window = wr_window_select(&evidence);
        if (window.tokens != cases[i].tokens || window.source != cases[i].source)
            fail_msg("%s: %u from %s", cases[i].behaviour, window.tokens,
                     wr_window_source_text(window.source));
    }
    wr_models_free(models);
}

static const struct {
    const char *behaviour, *model;
    uint64_t asked_tokens;
    uint32_t window_tokens, tokens;
    bool is_named;
} reserves[] = {
    {"nothing is said: a twentieth", "o3", 0, 200000, 10000, false},
    {"as much as was asked", "o3", 8000, 200000, 8000, true},
    {"the output limit caps it", "o3", 150000, 200000, 100000, true},
    {"between input limit and context it takes nothing", "gpt-5", 128000, 272000, 0, true},
    {"of a smaller window it takes all that was asked", "gpt-5", 10000, 100000, 10000, true},
    {"an unknown model has no limit", "mine", 8000, 16000, 8000, true},
    {"a quarter is left", "mine", 15000, 16000, 12000, true},
    {"nobody means all of it", "mine", 16000, 16000, 800, false},
};

static void answers_take_what_they_may(void **state)
{
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(reserves); i++) {
        struct wr_model_match match = wr_models_lookup(models, wr_span_of(reserves[i].model));
        struct wr_reserve_input input = {reserves[i].asked_tokens, reserves[i].window_tokens,
                                         match.model};
        struct wr_reserve reserve = wr_window_reserve(&input);
        if (reserve.tokens != reserves[i].tokens || reserve.is_named != reserves[i].is_named)
            fail_msg("%s: %u", reserves[i].behaviour, reserve.tokens);
    }
    wr_models_free(models);
}

/* ==== what a server has loaded ==== */

#define OLLAMA                                                                             \
    "{\"models\":[{\"name\":\"qwen3:8b\",\"model\":\"qwen3:8b\",\"size_vram\":5137025024," \
    "\"context_length\":4096},{\"name\":\"gemma4:latest\",\"model\":\"gemma4:latest\","    \
    "\"context_length\":131072}]}"
#define LLAMACPP                                                                 \
    "{\"default_generation_settings\":{\"id\":0,\"n_ctx\":65536,\"params\":{}}," \
    "\"total_slots\":4,\"model_path\":\"/models/a.gguf\"}"
#define VLLM                                                                             \
    "{\"object\":\"list\",\"data\":[{\"id\":\"meta-llama/Llama-3.1-8B\",\"root\":\"r\"," \
    "\"max_model_len\":32768},{\"id\":\"lora\",\"max_model_len\":null}]}"

static const struct {
    const char *behaviour;
    enum wr_model_server server;
    const char *body, *model;
    weir_status status;
    uint32_t window_tokens;
} loaded_cases[] = {
    {"Ollama tells the size it loaded", WR_SERVER_OLLAMA, OLLAMA, "qwen3:8b", WEIR_OK, 4096},
    {"Ollama's :latest may be left out", WR_SERVER_OLLAMA, OLLAMA, "gemma4", WEIR_OK, 131072},
    {"a model that is not loaded", WR_SERVER_OLLAMA, OLLAMA, "llama3", WEIR_NOTFOUND, 0},
    {"nothing is loaded", WR_SERVER_OLLAMA, "{\"models\":[]}", "x", WEIR_NOTFOUND, 0},
    {"llama.cpp tells one slot's share", WR_SERVER_LLAMACPP, LLAMACPP, "any", WEIR_OK, 65536},
    {"older llama.cpp", WR_SERVER_LLAMACPP, "{\"n_ctx\":2048}", "any", WEIR_OK, 2048},
    {"llama.cpp without it", WR_SERVER_LLAMACPP, "{}", "any", WEIR_NOTFOUND, 0},
    {"vLLM by id, letter case aside", WR_SERVER_VLLM, VLLM, "meta-llama/llama-3.1-8b", WEIR_OK,
     32768},
    {"vLLM that does not say", WR_SERVER_VLLM, VLLM, "lora", WEIR_NOTFOUND, 0},
    {"LM Studio: loaded, not the most there could be", WR_SERVER_LMSTUDIO,
     "{\"data\":[{\"id\":\"m\",\"max_context_length\":131072,\"loaded_context_length\":4096}]}",
     "m", WEIR_OK, 4096},
    {"LM Studio: not loaded", WR_SERVER_LMSTUDIO,
     "{\"data\":[{\"id\":\"m\",\"max_context_length\":131072}]}", "m", WEIR_NOTFOUND, 0},
    {"TGI serves one model", WR_SERVER_TGI,
     "{\"model_id\":\"org/zephyr\",\"max_input_tokens\":4095,\"max_total_tokens\":4096}", "tgi",
     WEIR_OK, 4096},
    {"another model's window is not ours", WR_SERVER_OLLAMA,
     "{\"models\":[{\"name\":\"qwen3-coder\",\"context_length\":4096}]}", "qwen3", WEIR_NOTFOUND,
     0},
    {"a negative size is no size", WR_SERVER_LLAMACPP, "{\"n_ctx\":-1}", "a", WEIR_NOTFOUND, 0},
    {"an array where an object was wanted", WR_SERVER_VLLM, "[1]", "a", WEIR_NOTFOUND, 0},
    {"not JSON", WR_SERVER_VLLM, "<html>", "a", WEIR_SYNTAX, 0},
};

static void answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(loaded_cases); i++) {
        uint32_t window_tokens;
        weir_status status =
            wr_loaded_read(loaded_cases[i].server, wr_span_of(loaded_cases[i].body),
                           wr_span_of(loaded_cases[i].model), &window_tokens);
        if (status != loaded_cases[i].status || window_tokens != loaded_cases[i].window_tokens)
            fail_msg("%s: %s, %u", loaded_cases[i].behaviour, weir_status_text(status),
                     window_tokens);
    }
}

/* What the server that is asked by this path says. */
static uint32_t read_window(const char *path, const char *answer, const char *model)
{
    uint32_t window_tokens = 0;
    for (int i = 0; i < WR_SERVERS_COUNT; i++)
        if (!strcmp(path, wr_server_path((enum wr_model_server)i)))
            (void)!wr_loaded_read((enum wr_model_server)i, wr_span_of(answer), wr_span_of(model),
                                  &window_tokens);
    return window_tokens;
}

static void the_loaded_window_is_read_from_each_server(void **state)
{
    static const struct {
        const char *behaviour, *path, *answer, *model;
        uint32_t window;
    } windows[] = {
        {"Ollama says what it has loaded", "/api/ps",
         "{\"models\":[{\"name\":\"a:7b\",\"context_length\":9},"
         "{\"name\":\"qwen3:latest\",\"context_length\":4096}]}",
         "qwen3", 4096},
        {"a model that is not loaded", "/api/ps", "{\"models\":[]}", "qwen3", 0},
        {"another model's window is not ours", "/api/ps",
         "{\"models\":[{\"name\":\"qwen3-coder\",\"context_length\":4096}]}", "qwen3", 0},
        {"llama.cpp", "/props", "{\"default_generation_settings\":{\"n_ctx\":8192}}", "x", 8192},
        {"LM Studio: loaded, not the most there could be", "/api/v0/models",
         "{\"data\":[{\"id\":\"m\",\"max_context_length\":131072,\"loaded_context_length\":4096}]}",
         "m", 4096},
        {"LM Studio: not loaded", "/api/v0/models",
         "{\"data\":[{\"id\":\"m\",\"max_context_length\":131072}]}", "m", 0},
        {"vLLM", "/v1/models", "{\"data\":[{\"id\":\"m\",\"max_model_len\":32768}]}", "m", 32768},
        {"a number that is none", "/props", "{\"default_generation_settings\":{\"n_ctx\":-1}}", "x",
         0},
        {"what is no JSON", "/props", "<html>", "x", 0},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(windows); i++) {
        uint32_t window = read_window(windows[i].path, windows[i].answer, windows[i].model);
        if (window != windows[i].window)
            fail_msg("%s: %u, not %u", windows[i].behaviour, window, windows[i].window);
    }
}

/* ==== what a refusal says ==== */

static const struct {
    const char *behaviour, *text;
    const char *provider; /* NULL: not an overflow */
    uint32_t window_tokens, used_tokens;
} overflow_cases[] = {
    {"Anthropic", "prompt is too long: 208310 tokens > 200000 maximum", "anthropic", 200000,
     208310},
    {"Anthropic's whole body",
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is "
     "too "
     "long: 208310 tokens > 200000 maximum\"},\"request_id\":\"req_1\"}",
     "anthropic", 200000, 208310},
    {"a writer that escapes >", "prompt is too long: 208310 tokens \\u003e 200000 maximum",
     "anthropic", 200000, 208310},
    {"Anthropic, without numbers", "Prompt is too long", "anthropic", 0, 0},
    {"Anthropic, older, with back quotes",
     "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input",
     "anthropic", 200000, 188240},
    {"OpenAI chat",
     "This model's maximum context length is 128000 tokens. However, your messages resulted in "
     "131072 tokens.",
     "openai", 128000, 131072},
    {"OpenAI chat with an answer's room",
     "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (8000 "
     "in "
     "the messages, 1100 in the completion).",
     "openai", 8192, 8000},
    {"a sum without its parts is no count of the prompt",
     "This endpoint's maximum context length is 128,000 tokens. However, you requested "
     "about 140,000 tokens",
     "openai", 128000, 0},
    {"OpenRouter, which names the parts in other words",
     "This endpoint's maximum context length is 131072 tokens. However, you requested about 143581 "
     "tokens (133581 of text input, 10000 in the output). Please reduce the length of either one, "
     "or use the \"middle-out\" transform to compress your prompt automatically.",
     "openai", 131072, 133581},
    {"and tools beside the text",
     "This endpoint's maximum context length is 131072 tokens. However, you requested about "
     "143,981 "
     "tokens (133,581 of text input, 400 of tool input, 10,000 in the output).",
     "openai", 131072, 133981},
    {"functions are a part of the prompt",
     "This model's maximum context length is 8192 tokens. However, you requested 9400 tokens (8000 "
     "in the messages, 300 in the functions, and 1100 in the completion).",
     "openai", 8192, 8300},
    {"an older form",
     "This model's maximum context length is 4097 tokens, however you requested "
     "4400 tokens (3400 in your prompt; 1000 for the completion).",
     "openai", 4097, 3400},
    {"parts without the prompt's",
     "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens (9100 "
     "in the completion).",
     "openai", 8192, 0},
    {"OpenAI Responses", "Your input exceeds the context window of this model. Please adjust",
     "openai", 0, 0},
    {"OpenAI's code alone", "{\"error\":{\"code\":\"context_length_exceeded\"}}", "openai", 0, 0},
    {"OpenAI's advice alone", "Please reduce the length of the messages or completion.", "openai",
     0, 0},
    {"Gemini",
     "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
     "gemini", 1048575, 1196265},
    {"Gemini without the first number",
     "The input token count exceeds the maximum number of tokens allowed 1048576", "gemini",
     1048576, 0},
    {"Bedrock", "ValidationException: Input is too long for requested model.", "bedrock", 0, 0},
    {"xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
     "xai", 131072, 537812},
    {"Copilot", "prompt token count of 130455 exceeds the limit of 128000", "copilot", 128000,
     130455},
    {"llama.cpp, older", "the request exceeds the available context size, try increasing it",
     "llama.cpp", 0, 0},
    {"llama.cpp", "request (9000 tokens) exceeds the available context size (8192 tokens)",
     "llama.cpp", 8192, 9000},
    {"of a sum the prompt's part",
     "This model's maximum context length is 16000 tokens. However, you requested 19059 tokens "
     "(11059 in the messages, 8000 in the completion). Please reduce the length.",
     "openai", 16000, 11059},
    {"llama.cpp's fields",
     "{\"error\":{\"message\":\"the request exceeds the available context size, try increasing "
     "it\","
     "\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9000,\"n_ctx\":8192}}",
     "llama.cpp", 8192, 9000},
    {"a window nobody can believe is not taken",
     "maximum context length is 5 tokens. However, your messages resulted in 9000 tokens", "openai",
     0, 9000},
    {"a number too large is not taken",
     "prompt is too long: 1 tokens > 99999999999999999999 maximum", "anthropic", 0, 0},
    {"a rate limit is not an overflow", "Rate limit reached: 30000 tokens per minute", NULL, 0, 0},
    {"nor is an output cap", "max_tokens: 200000 > 64000, which is the maximum", NULL, 0, 0},
    {"nothing", "", NULL, 0, 0},
};

static void texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(overflow_cases); i++) {
        struct wr_overflow overflow;
        bool found = wr_overflow_read(wr_span_of(overflow_cases[i].text), &overflow);
        if (found != (overflow_cases[i].provider != NULL) ||
            (found && !wr_span_is(wr_span_of(overflow.provider), overflow_cases[i].provider)) ||
            overflow.window_tokens != overflow_cases[i].window_tokens ||
            overflow.used_tokens != overflow_cases[i].used_tokens)
            fail_msg("%s: %s, window %u, used %u", overflow_cases[i].behaviour,
                     found ? overflow.provider : "none", overflow.window_tokens,
                     overflow.used_tokens);
    }
}

static const struct {
    const char *behaviour;
    uint32_t said, used;
    struct wr_overflow_sent sent;
    uint32_t cap;
} caps[] = {
    {"what the text says", 128000, 0, {200000, 150000, 0}, 128000},
    {"never more than was believed", 300000, 0, {200000, 150000, 0}, 200000},
    {"no number: nine tenths of what was refused", 0, 0, {200000, 150000, 0}, 135000},
    {"the answer is no part of that", 0, 0, {200000, 150000, 8000}, 143000},
    {"no number, a request larger than the window", 0, 0, {200000, 250000, 0}, 180000},
    {"no window known", 0, 0, {0, 100000, 0}, 90000},
    {"nothing known", 0, 0, {0, 0, 0}, 0},
    {"we count low: the window is smaller for us", 16000, 20000, {0, 15000, 0}, 12000},
    {"we count high: it is larger", 16000, 24130, {0, 45000, 0}, 29838},
    {"but not than was believed", 16000, 24130, {16000, 45000, 0}, 16000},
    {"the answer is counted by the provider alone", 16000, 10000, {0, 8000, 8000}, 14400},
    {"a count of something else says nothing", 16000, 50000, {0, 15000, 0}, 16000},
    {"nor does one far below ours", 16000, 17000, {0, 45000, 0}, 16000},
};

static void capping(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(caps); i++) {
        struct wr_overflow overflow = {
            .provider = "x", .window_tokens = caps[i].said, .used_tokens = caps[i].used};
        uint32_t cap = wr_overflow_cap(&overflow, &caps[i].sent);
        if (cap != caps[i].cap)
            fail_msg("%s: %u", caps[i].behaviour, cap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows), cmocka_unit_test(answers_take_what_they_may),
        cmocka_unit_test(answers), cmocka_unit_test(the_loaded_window_is_read_from_each_server),
        cmocka_unit_test(texts),   cmocka_unit_test(capping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
