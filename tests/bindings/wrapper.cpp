/* The C++ header: what it gives, what it throws, and that everything is freed (under ASan). */
#include "weir/weir.hpp"

#include <cstdio>
#include <cstdlib>

static int failures;

static void ok(const char *behaviour, bool is_so)
{
    if (!is_so) {
        std::fprintf(stderr, "not so: %s\n", behaviour);
        failures++;
    }
}

static std::string talk(int results)
{
    std::string body = R"({"model":"gpt-4o","tools":[{"type":"function","function":)"
                       R"({"name":"weir_recall"}}],"messages":[{"role":"user","content":"go"})";
    for (int i = 0; i < results; i++) {
        std::string id = "call_" + std::to_string(i), text;
        for (int n = 0; n < 200; n++)
            text += "  line " + std::to_string(n) + " of " + std::to_string(i) + "\\n";
        body += R"(,{"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
                R"(","type":"function","function":{"name":"run_query","arguments":"{}"}}]})";
        body += R"(,{"role":"tool","tool_call_id":")" + id + R"(","content":")" + text + "\"}";
    }
    return body + "]}";
}

static void projections()
{
    weir::Engine engine;
    weir::Store store = weir::Store::in_memory();
    const std::string small = R"({"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]})";
    weir::Projected same = engine.project(small);
    ok("what is not changed is the memory that came", same.body().data() == small.data());

    weir::ProjectOptions options;
    options.store = &store;
    options.policy = "tiered";
    options.window_tokens = 16000;
    const std::string large = talk(8);
    weir::Projected changed = engine.project(large, options);
    weir::Projected moved = std::move(changed);
    ok("a large one is smaller",
       moved.is_changed() && moved.tokens_after() < moved.tokens_before());
    std::string handle = weir::find_handle(moved.body());
    ok("a text without a handle", weir::find_handle("wr_buf_init") == "");
    weir::RecallOptions first;
    first.head_lines = 1;
    ok("what was taken out comes back",
       weir::recall(store, handle, first).text == "  line 0 of 0\n");
    weir::RecallOptions some;
    some.lines = "2-3";
    ok("by lines", weir::recall(store, handle, some).lines_count == 2);
    ok("a call by JSON",
       engine.call("count", R"({"text":"What is a weir?"})").rfind(R"({"tokens":6)", 0) == 0);
}

template <typename F> static weir_status thrown(F call)
{
    try {
        call();
    } catch (const weir::Error &error) {
        return error.status();
    }
    return WEIR_OK;
}

static void errors()
{
    weir::Engine engine;
    weir::Store store = weir::Store::in_memory();
    std::size_t at_byte = 0;
    try {
        engine.project(R"({"model":"gpt-4o" "x"})");
    } catch (const weir::Error &error) {
        at_byte = error.at_byte();
    }
    ok("an error has its place", at_byte == 18);
    weir::ProjectOptions options;
    options.policy = "nobody";
    ok("no such policy",
       thrown([&] {
           engine.project(R"({"model":"m","messages":[{"role":"user","content":"x"}]})", options);
       }) == WEIR_NOTFOUND);
    ok("nothing stored",
       thrown([&] { weir::recall(store, "wr_00000000000000000000"); }) == WEIR_NOTFOUND);
    ok("no such encoding", thrown([] { weir::Counter("", "nobody"); }) == WEIR_NOTFOUND);
    ok("no such method", thrown([&] { engine.call("nobody", "{}"); }) == WEIR_NOTFOUND);
}

static void sessions(const std::string &dir)
{
    weir::Session session(R"({"name":"s","dir":")" + dir + R"(","model":"gpt-5","now_ms":1})");
    session.call("say", "{}", "What is in a.txt?");
    ok("the next request has the words",
       session.call("request", R"({"dialect":"chat"})").text.find("a.txt") != std::string::npos);
    ok("an answer in an API that is not there",
       thrown([&] { session.call("answer", R"({"dialect":"nobody"})", "{}"); }) == WEIR_INVALID);
}

int main(int, char **argv)
{
    projections();
    errors();
    sessions(argv[1]);
    ok("tokens", weir::Counter("gpt-5").count("What is a weir?") == 6);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
