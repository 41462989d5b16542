#include "proxy/counts.h"

#include "tests/test_service.h"

#define NOT_HERE TEST_WHOLE("404 Not Found", "{}")
#define PS       TEST_WHOLE("200 OK", "{\"models\":[{\"name\":\"qwen3\",\"context_length\":4096}]}")
#define PROPS    TEST_WHOLE("200 OK", "{\"default_generation_settings\":{\"n_ctx\":8192}}")
#define LMSTUDIO \
    TEST_WHOLE("200 OK", "{\"data\":[{\"id\":\"qwen3\",\"loaded_context_length\":7000}]}")
#define VLLM TEST_WHOLE("200 OK", "{\"data\":[{\"id\":\"qwen3\",\"max_model_len\":6000}]}")
#define TGI  TEST_WHOLE("200 OK", "{\"max_total_tokens\":5000}")

enum { SAYS_MAX = 5 };

static struct wr_loaded_windows *start(struct test_service *s)
{
    struct wr_loaded_windows_options options = {&s->loop, s->service.fetcher};
    struct wr_loaded_windows *windows = wr_loaded_windows_new(&options);
    assert_non_null(windows);
    return windows;
}

static void end(struct test_service *s, struct wr_loaded_windows *windows)
{
    wr_loaded_windows_close(windows);
    wr_loaded_windows_close(windows); /* twice is once */
    test_service_free(s);
    wr_loaded_windows_free(windows);
}

static uint32_t find(struct test_service *s, struct wr_loaded_windows *windows, const char *model)
{
    return wr_loaded_windows_find(windows, s->config->upstreams[0].base_url, wr_span_of(model));
}

static void servers_are_asked_in_turn_until_one_tells(void **state)
{
    static const struct {
        const char *behaviour, *says[SAYS_MAX], *last_path;
        uint32_t tokens;
        size_t asked_count;
    } cases[] = {
        {"Ollama", {PS}, "GET /api/ps HTTP", 4096, 1},
        {"llama.cpp", {NOT_HERE, PROPS}, "GET /props HTTP", 8192, 2},
        {"LM Studio", {NOT_HERE, NOT_HERE, LMSTUDIO}, "GET /api/v0/models HTTP", 7000, 3},
        {"vLLM", {NOT_HERE, NOT_HERE, NOT_HERE, VLLM}, "GET /v1/models HTTP", 6000, 4},
        {"TGI", {NOT_HERE, NOT_HERE, NOT_HERE, NOT_HERE, TGI}, "GET /info HTTP", 5000, 5},
        {"nobody tells",
         {NOT_HERE, NOT_HERE, NOT_HERE, NOT_HERE, NOT_HERE},
         "GET /info HTTP",
         0,
         5},
        {"an answer of another kind is none", {TGI, PROPS}, "GET /props HTTP", 8192, 2},
        {"nor is one that is an error",
         {TEST_WHOLE("500 No", "{\"models\":[{\"name\":\"qwen3\",\"context_length\":4096}]}"),
          PROPS},
         "GET /props HTTP",
         8192,
         2},
        {"one that breaks off is there all the same",
         {"HTTP/1.1 200 OK\r\nconnection: close\r\nContent-Length: 99\r\n\r\n{", PROPS},
         "GET /props HTTP",
         8192,
         2},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_service *s = test_service_new(TEST_NO_STORE);
        struct wr_loaded_windows *windows = start(s);
        for (size_t n = 0; n < SAYS_MAX && cases[i].says[n]; n++)
            test_upstream_says(s, cases[i].says[n]);
        assert_int_equal(find(s, windows, "qwen3"), 0);
        wr_loaded_windows_ask(windows, &s->config->upstreams[0], "qwen3");
        test_until(s, s->asked_count == cases[i].asked_count &&
                          (!cases[i].tokens || find(s, windows, "qwen3")));
        if (find(s, windows, "qwen3") != cases[i].tokens ||
            !test_has(&s->asked[s->asked_count - 1], cases[i].last_path))
            fail_msg("%s: %u", cases[i].behaviour, find(s, windows, "qwen3"));
        assert_int_equal(find(s, windows, "other"), 0);
        assert_int_equal(find(s, windows, ""), 0);
        end(s, windows);
    }
}

static void who_was_asked_lately_is_not_asked_again(void **state)
{
    struct test_service *s = test_service_new(TEST_NO_STORE);
    struct wr_loaded_windows *windows = start(s);
    (void)state;
    test_upstream_says(s, PS);
    wr_loaded_windows_ask(windows, &s->config->upstreams[0], "qwen3");
    wr_loaded_windows_ask(windows, &s->config->upstreams[0], "other"); /* one is being asked */
    test_until(s, find(s, windows, "qwen3"));
    wr_loaded_windows_ask(windows, &s->config->upstreams[0], "qwen3");
    test_upstream_says(s, PROPS);
    test_upstream_says(s, PROPS);
    wr_loaded_windows_ask(windows, &s->config->upstreams[0], "third");
    test_until(s, find(s, windows, "third"));
    assert_int_equal(find(s, windows, "third"), 8192);
    assert_int_equal(find(s, windows, "other"), 0);
    assert_int_equal(find(s, windows, "qwen3"), 4096);
    assert_int_equal(s->asked_count, 3); /* once of qwen3, at two paths of the third */
    end(s, windows);
}

static void only_servers_near_by_are_asked(void **state)
{
    static const struct wr_upstream upstreams[] = {
        {.name = "far", .base_url = "https://models.example/v1"},
        {.name = "odd", .base_url = "127.0.0.1/v1"},
    };
    struct test_service *s = test_service_new(TEST_NO_STORE);
    struct wr_loaded_windows *windows = start(s);
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(upstreams); i++) {
        wr_loaded_windows_ask(windows, &upstreams[i], "qwen3");
        assert_int_equal(wr_loaded_windows_find(windows, upstreams[i].base_url, WR_LIT("qwen3")),
                         0);
    }
    test_upstream_says(s, PS); /* nothing is under way: the next question is put at once */
    wr_loaded_windows_ask(windows, &s->config->upstreams[0], "qwen3");
    test_until(s, find(s, windows, "qwen3"));
    assert_int_equal(wr_loaded_windows_find(windows, NULL, WR_LIT("qwen3")), 0);
    assert_int_equal(wr_loaded_windows_find(NULL, upstreams[0].base_url, WR_LIT("qwen3")), 0);
    wr_loaded_windows_ask(NULL, &upstreams[0], "qwen3");
    end(s, windows);
}

static void who_is_not_there_is_asked_nothing_more(void **state)
{
    struct test_service *s = test_service_new(TEST_NO_STORE);
    struct wr_loaded_windows *windows = start(s);
    (void)state;
    struct wr_upstream nobody = {.name = "nobody", .base_url = "http://127.0.0.1:9/v1"};
    wr_loaded_windows_ask(windows, &nobody, "qwen3");
    test_upstream_says(s, PS);
    /* Until it is found out, nobody else is asked. */
    test_until(s, (wr_loaded_windows_ask(windows, &s->config->upstreams[0], "qwen3"),
                   find(s, windows, "qwen3")));
    assert_int_equal(wr_loaded_windows_find(windows, nobody.base_url, WR_LIT("qwen3")), 0);
    end(s, windows);
}

static void a_full_table_forgets_its_oldest(void **state)
{
    enum { MODELS = 65 };
    struct test_service *s = test_service_new(TEST_NO_STORE);
    struct wr_loaded_windows *windows = start(s);
    char model[16];
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        (void)snprintf(model, sizeof(model), "m%zu", i);
        wr_loaded_windows_ask(windows, &s->config->upstreams[0], model);
        test_until(s, s->asker);
        test_say(s, "HTTP/1.1 200 OK\r\nconnection: close\r\nContent-Length: 2\r\n\r\n{}");
        test_until(s, s->asker); /* the second path */
        test_say(s, "HTTP/1.1 200 OK\r\nconnection: close\r\nContent-Length: 46\r\n\r\n"
                    "{\"default_generation_settings\":{\"n_ctx\":8192}}");
        test_until(s, find(s, windows, model));
        if (i == MODELS - 2)
            assert_int_equal(find(s, windows, "m0"), 8192);
    }
    assert_int_equal(find(s, windows, "m0"), 0);
    assert_int_equal(find(s, windows, "m1"), 8192);
    end(s, windows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_are_asked_in_turn_until_one_tells),
        cmocka_unit_test(who_was_asked_lately_is_not_asked_again),
        cmocka_unit_test(only_servers_near_by_are_asked),
        cmocka_unit_test(who_is_not_there_is_asked_nothing_more),
        cmocka_unit_test(a_full_table_forgets_its_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
