#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/span.h"
#include "models/window.h"

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
    uint32_t memory_tokens_max;
    weir_status status;
    uint32_t window_tokens;
    bool capped;
} cases[] = {
    {"Ollama tells the size it loaded", WR_SERVER_OLLAMA, OLLAMA, "qwen3:8b", 0, WEIR_OK, 4096,
     false},
    {"Ollama's :latest may be left out", WR_SERVER_OLLAMA, OLLAMA, "gemma4", 0, WEIR_OK, 131072,
     false},
    {"a model that is not loaded", WR_SERVER_OLLAMA, OLLAMA, "llama3", 0, WEIR_NOTFOUND, 0, false},
    {"nothing is loaded", WR_SERVER_OLLAMA, "{\"models\":[]}", "x", 0, WEIR_NOTFOUND, 0, false},
    {"the memory budget caps it", WR_SERVER_OLLAMA, OLLAMA, "gemma4", 32768, WEIR_OK, 32768, true},
    {"a larger memory budget does not raise it", WR_SERVER_OLLAMA, OLLAMA, "qwen3:8b", 32768,
     WEIR_OK, 4096, false},
    {"llama.cpp tells one slot's share", WR_SERVER_LLAMACPP, LLAMACPP, "any", 0, WEIR_OK, 65536,
     false},
    {"older llama.cpp", WR_SERVER_LLAMACPP, "{\"n_ctx\":2048}", "any", 0, WEIR_OK, 2048, false},
    {"llama.cpp without it", WR_SERVER_LLAMACPP, "{}", "any", 0, WEIR_NOTFOUND, 0, false},
    {"vLLM by id, letter case aside", WR_SERVER_VLLM, VLLM, "meta-llama/llama-3.1-8b", 0, WEIR_OK,
     32768, false},
    {"vLLM that does not say", WR_SERVER_VLLM, VLLM, "lora", 0, WEIR_NOTFOUND, 0, false},
    {"LM Studio: loaded, not the most there could be", WR_SERVER_LMSTUDIO,
     "{\"data\":[{\"id\":\"m\",\"max_context_length\":131072,\"loaded_context_length\":4096}]}",
     "m", 0, WEIR_OK, 4096, false},
    {"LM Studio: not loaded", WR_SERVER_LMSTUDIO,
     "{\"data\":[{\"id\":\"m\",\"max_context_length\":131072}]}", "m", 0, WEIR_NOTFOUND, 0, false},
    {"TGI serves one model", WR_SERVER_TGI,
     "{\"model_id\":\"org/zephyr\",\"max_input_tokens\":4095,\"max_total_tokens\":4096}", "tgi", 0,
     WEIR_OK, 4096, false},
    {"another model's window is not ours", WR_SERVER_OLLAMA,
     "{\"models\":[{\"name\":\"qwen3-coder\",\"context_length\":4096}]}", "qwen3", 0, WEIR_NOTFOUND,
     0, false},
    {"a negative size is no size", WR_SERVER_LLAMACPP, "{\"n_ctx\":-1}", "a", 0, WEIR_NOTFOUND, 0,
     false},
    {"an array where an object was wanted", WR_SERVER_VLLM, "[1]", "a", 0, WEIR_NOTFOUND, 0, false},
    {"not JSON", WR_SERVER_VLLM, "<html>", "a", 0, WEIR_SYNTAX, 0, false},
};

static void answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_loaded loaded;
        weir_status status =
            wr_loaded_read(cases[i].server, wr_span_of(cases[i].body), wr_span_of(cases[i].model),
                           cases[i].memory_tokens_max, &loaded, NULL);
        if (status != cases[i].status || loaded.window_tokens != cases[i].window_tokens ||
            loaded.capped != cases[i].capped)
            fail_msg("%s: %s, %u", cases[i].behaviour, weir_status_text(status),
                     loaded.window_tokens);
    }
}

/* What the server that is asked by this path says. */
static uint32_t read_window(const char *path, const char *answer, const char *model)
{
    struct wr_loaded loaded = {0};
    for (int i = 0; i < WR_SERVERS_COUNT; i++)
        if (!strcmp(path, wr_server_path((enum wr_model_server)i)))
            (void)!wr_loaded_read((enum wr_model_server)i, wr_span_of(answer), wr_span_of(model), 0,
                                  &loaded, NULL);
    return loaded.window_tokens;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers), cmocka_unit_test(the_loaded_window_is_read_from_each_server)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
