#include "agent/local_window.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/span.h"
#include "models/loaded.h"

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
    } cases[] = {
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t window = read_window(cases[i].path, cases[i].answer, cases[i].model);
        if (window != cases[i].window)
            fail_msg("%s: %u, not %u", cases[i].behaviour, window, cases[i].window);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loaded_window_is_read_from_each_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
