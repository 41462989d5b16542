/* weir.hpp -- libweir for C++17: objects that free themselves, and exceptions.
 *
 *     weir::Engine engine;
 *     weir::Store store = weir::Store::in_memory();
 *     weir::ProjectOptions options;
 *     options.store = &store;
 *     options.policy = "lean";
 *     send(engine.project(body, options).body());
 *
 * A header over the C interface, which it does not hide: get() gives the C object. Objects can be
 * moved, not copied. What is borrowed in C is borrowed here: a body must outlive its Projected, a
 * store the engine's calls and its sessions. One thread at a time for each object.
 */
#ifndef WEIR_WEIR_HPP
#define WEIR_WEIR_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/weir.h"

namespace weir
{

/* A call that failed: what() says why, at_byte() where in the input. */
class Error : public std::runtime_error
{
  public:
    Error(weir_status status, const weir_err &err)
        : std::runtime_error(err.text[0] ? err.text : weir_status_text(status)), status_(status),
          at_byte_(err.at_byte)
    {
    }
    weir_status status() const noexcept
    {
        return status_;
    }
    std::size_t at_byte() const noexcept
    {
        return at_byte_;
    }

  private:
    weir_status status_;
    std::size_t at_byte_;
};

namespace detail
{

inline weir_span span_of(std::string_view text) noexcept
{
    return weir_span{text.data(), text.size()};
}

inline std::string_view view_of(weir_span span) noexcept
{
    return std::string_view(span.ptr ? span.ptr : "", span.len);
}

inline void check(weir_status status, const weir_err &err)
{
    if (status != WEIR_OK)
        throw Error(status, err);
}

template <typename T, void (*free)(T *)> struct Free {
    void operator()(T *object) const noexcept
    {
        free(object);
    }
};

template <typename T, void (*free)(T *)> using Owned = std::unique_ptr<T, Free<T, free>>;

/* NULL where it was not said. */
inline const char *name_of(const std::string &name) noexcept
{
    return name.empty() ? nullptr : name.c_str();
}

} // namespace detail

/* Where originals and marks are kept. */
class Store
{
  public:
    static Store in_memory(std::size_t bytes_max = 0)
    {
        weir_store *store = nullptr;
        detail::check(weir_store_new_memory(bytes_max, &store), weir_err{});
        return Store(store);
    }
    explicit Store(const std::string &dir, bool must_exist = false)
    {
        weir_store_options options = WEIR_STORE_OPTIONS_INIT;
        weir_store *store = nullptr;
        weir_err err{};
        options.must_exist = must_exist;
        detail::check(weir_store_open(dir.c_str(), &options, &store, nullptr, &err), err);
        store_.reset(store);
    }
    weir_store *get() const noexcept
    {
        return store_.get();
    }

  private:
    explicit Store(weir_store *store) : store_(store)
    {
    }
    detail::Owned<weir_store, weir_store_close> store_;
};

/* What is not set is as in struct weir_project_options. */
struct ProjectOptions {
    const Store *store = nullptr;
    std::string policy, policy_default, model, session, tenant, dialect, path, tools;
    std::uint32_t window_tokens = 0, overflow_tokens = 0;
    std::int64_t now_ms = 0;
    bool attaches = false, alternates = false;
};

/* A request after a policy. body() lives as long as this and the body that was given. */
class Projected
{
  public:
    std::string_view body() const noexcept
    {
        return detail::view_of(projected_.body);
    }
    std::string_view report() const noexcept
    {
        return detail::view_of(projected_.report);
    }
    bool is_changed() const noexcept
    {
        return projected_.is_changed;
    }
    bool is_step() const noexcept
    {
        return projected_.is_step;
    }
    std::uint64_t tokens_before() const noexcept
    {
        return projected_.tokens_before;
    }
    std::uint64_t tokens_after() const noexcept
    {
        return projected_.tokens_after;
    }
    const weir_projected &get() const noexcept
    {
        return projected_;
    }

  private:
    friend class Engine;
    detail::Owned<weir_request, weir_request_free> request_;
    weir_projected projected_{};
};

/* Knows models and counts tokens; made once and kept. */
class Engine
{
  public:
    Engine()
    {
        weir_engine *engine = nullptr;
        weir_err err{};
        detail::check(weir_engine_new(&engine, &err), err);
        engine_.reset(engine);
    }
    void load_policies(std::string_view yaml)
    {
        weir_err err{};
        detail::check(weir_engine_load_policies(get(), detail::span_of(yaml), &err), err);
    }
    void load_models(std::string_view yaml)
    {
        weir_err err{};
        detail::check(weir_engine_load_models(get(), detail::span_of(yaml), &err), err);
    }
    Projected project(std::string_view body, const ProjectOptions &given = {})
    {
        weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;
        weir_request_options how = WEIR_REQUEST_OPTIONS_INIT;
        weir_request *request = nullptr;
        Projected result;
        weir_err err{};

        how.dialect = detail::name_of(given.dialect);
        how.path = detail::name_of(given.path);
        options.policy = detail::name_of(given.policy);
        options.policy_default = detail::name_of(given.policy_default);
        options.model = detail::name_of(given.model);
        options.tools = detail::name_of(given.tools);
        options.session = detail::span_of(given.session);
        options.tenant = detail::span_of(given.tenant);
        options.store = given.store ? given.store->get() : nullptr;
        options.window_tokens = given.window_tokens;
        options.overflow_tokens = given.overflow_tokens;
        options.now_ms = given.now_ms;
        options.attaches = given.attaches;
        options.alternates = given.alternates;
        detail::check(weir_engine_request(get(), detail::span_of(body), &how, &request, &err), err);
        result.request_.reset(request);
        detail::check(weir_engine_project(get(), request, &options, &result.projected_, &err), err);
        return result;
    }
    /* weir_call(): any method, JSON in and JSON out (docs/embed.md). */
    std::string call(const std::string &method, std::string_view json, const Store *store = nullptr)
    {
        char *answer = nullptr;
        weir_err err{};
        weir_status status = weir_call(get(), store ? store->get() : nullptr, method.c_str(),
                                       json.data(), json.size(), &answer, &err);
        std::unique_ptr<char, detail::Free<char, weir_call_free>> owned(answer);
        detail::check(status, err);
        return std::string(answer);
    }
    weir_engine *get() const noexcept
    {
        return engine_.get();
    }

  private:
    detail::Owned<weir_engine, weir_engine_free> engine_;
};

/* Counts tokens as a model does, or by an encoding; keep it, it is some milliseconds to make. */
class Counter
{
  public:
    explicit Counter(const std::string &model = {}, const std::string &encoding = {})
    {
        weir_tokens_options options = WEIR_TOKENS_OPTIONS_INIT;
        weir_tokens *tokens = nullptr;
        weir_err err{};
        options.model = detail::name_of(model);
        options.encoding = detail::name_of(encoding);
        detail::check(weir_tokens_new(&options, &tokens, &err), err);
        tokens_.reset(tokens);
    }
    std::uint64_t count(std::string_view text) const
    {
        return weir_tokens_count(tokens_.get(), detail::span_of(text));
    }
    bool is_exact() const noexcept
    {
        return weir_tokens_is_exact(tokens_.get());
    }

  private:
    detail::Owned<weir_tokens, weir_tokens_free> tokens_;
};

struct Recalled {
    std::string text, next;
    std::uint64_t lines_total = 0, lines_count = 0, matches_count = 0;
};

struct RecallOptions {
    std::string lines, pattern, tenant; /* "1-20,50-" */
    std::uint64_t head_lines = 0, tail_lines = 0, context_lines = 0;
    std::size_t page_bytes_max = 0;
};

/* The first handle in a text; empty: there is none. */
inline std::string find_handle(std::string_view text)
{
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    weir_handle handle;
    if (weir_handle_find(detail::span_of(text), 0, &handle) == SIZE_MAX)
        return {};
    weir_handle_format(handle, name);
    return name;
}

/* What was taken out, by its handle ("wr_..."). */
inline Recalled recall(const Store &store, std::string_view handle, const RecallOptions &given = {})
{
    weir_recall_options options = WEIR_RECALL_OPTIONS_INIT;
    weir_lookup lookup{};
    weir_recalled recalled{};
    weir_err err{};
    std::vector<weir_lines> lines(64);
    weir_miss miss = WEIR_MISS_NONE;

    if (!weir_handle_parse(detail::span_of(handle), &lookup.handle))
        throw std::invalid_argument("a handle is wr_ and 20 hex digits");
    if (!given.lines.empty())
        detail::check(weir_lines_parse(detail::span_of(given.lines), lines.data(), lines.size(),
                                       &options.lines_count, &err),
                      err);
    lookup.tenant = detail::span_of(given.tenant);
    options.lines = lines.data();
    options.pattern = detail::span_of(given.pattern);
    options.head_lines = given.head_lines;
    options.tail_lines = given.tail_lines;
    options.context_lines = given.context_lines;
    options.page_bytes_max = given.page_bytes_max;
    detail::check(weir_recall(store.get(), &lookup, &options, &recalled, &miss, &err), err);
    std::unique_ptr<weir_recalled, detail::Free<weir_recalled, weir_recalled_release>> owned(
        &recalled);
    return Recalled{std::string(detail::view_of(recalled.text)),
                    std::string(detail::view_of(recalled.next)), recalled.lines_total,
                    recalled.lines_count, recalled.matches_count};
}

/* The runtime of an agent, in a directory (weir/session.h): its methods by name, JSON and a text.
 */
class Session
{
  public:
    struct Answer {
        std::string json, text;
    };
    /* `json` has the members of struct weir_session_options, `dir` among them. */
    explicit Session(std::string_view json, const Store *store = nullptr)
    {
        weir_session *session = nullptr;
        weir_called called{};
        weir_err err{};
        weir_status status = weir_session_call_open(store ? store->get() : nullptr, json.data(),
                                                    json.size(), &session, &called, &err);
        weir_called_release(&called);
        detail::check(status, err);
        session_.reset(session);
    }
    Answer call(const std::string &method, std::string_view json = "{}")
    {
        return call_with(method, json, nullptr, 0);
    }
    Answer call(const std::string &method, std::string_view json, std::string_view text)
    {
        return call_with(method, json, text.data() ? text.data() : "", text.size());
    }
    weir_session *get() const noexcept
    {
        return session_.get();
    }

  private:
    Answer call_with(const std::string &method, std::string_view json, const char *bytes,
                     std::size_t bytes_count)
    {
        weir_called called{};
        weir_err err{};
        weir_status status = weir_session_call(get(), method.c_str(), json.data(), json.size(),
                                               bytes, bytes_count, &called, &err);
        std::unique_ptr<weir_called, detail::Free<weir_called, weir_called_release>> owned(&called);
        detail::check(status, err);
        return Answer{std::string(called.json, called.json_bytes),
                      std::string(detail::view_of(called.bytes))};
    }
    detail::Owned<weir_session, weir_session_close> session_;
};

} // namespace weir

#endif
