#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "models/window.h"

static const struct {
    const char *behaviour, *text;
    const char *provider; /* NULL: not an overflow */
    uint32_t window_tokens, used_tokens;
} cases[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_overflow overflow;
        bool found = wr_overflow_read(wr_span_of(cases[i].text), &overflow);
        if (found != (cases[i].provider != NULL) ||
            (found && !wr_span_is(wr_span_of(overflow.provider), cases[i].provider)) ||
            overflow.window_tokens != cases[i].window_tokens ||
            overflow.used_tokens != cases[i].used_tokens)
            fail_msg("%s: %s, window %u, used %u", cases[i].behaviour,
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(capping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
