/* A C++ program that uses libweir: it links only where every header says extern "C". It reads a
 * request, projects it, and asks the other headers for a word each. */
#include <cstdio>
#include <cstring>

#include <weir/weir.h>

static const char *const body_text =
    "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":\"What is a weir?\"}]}";

static weir_status project(weir_span body, weir_err *err)
{
    weir_engine *engine = nullptr;
    weir_request *request = nullptr;
    weir_store *store = nullptr;
    weir_projected projected;
    weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;

    weir_status status = weir_engine_new(&engine, err);
    if (!status)
        status = weir_store_new_memory(0, &store);
    if (!status)
        status = weir_engine_request(engine, body, nullptr, &request, err);
    options.policy = "tiered";
    options.store = store;
    if (!status)
        status = weir_engine_project(engine, request, &options, &projected, err);
    if (!status)
        std::printf("%llu tokens\n", (unsigned long long)projected.tokens_after);
    weir_request_free(request);
    weir_store_close(store);
    weir_engine_free(engine);
    return status;
}

int main()
{
    weir_err err = {};
    weir_span body = {body_text, std::strlen(body_text)};
    weir_handle handle;
    weir_recalled recalled;
    weir_prompt *prompt = nullptr;

    weir_status status = project(body, &err);
    if (!status)
        status = weir_handle_of(body, &handle);
    if (!status)
        status = weir_recall_select(body, nullptr, &recalled, &err);
    if (!status) {
        weir_recalled_release(&recalled);
        status = weir_prompt_new(&prompt);
    }
    weir_prompt_free(prompt);
    if (status) {
        std::printf("%s: %s\n", weir_status_text(status), err.text);
        return 1;
    }
    std::printf("weir %s, %s, %s\n", weir_version(), weir_kind_name(WEIR_KIND_TEXT),
                weir_subagent_kind_at(0)->name);
    return 0;
}
