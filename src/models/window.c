/* How much a model takes: which window holds for a request, and what corrects it.
 *
 *   window.h      the order: configured, loaded, registry, family, largest accepted, fallback
 *   loaded.h      what a server of local models says that it has loaded
 *   overflow.h    what a refusal for length says of the true window
 */

#include "models/window.h"

#include "base/ascii.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "models/registry.h"

static struct wr_window from_registry(const struct wr_window_evidence *evidence)
{
    const struct wr_model_match *match = evidence->match;
    if (!match || !match->window_tokens)
        return (struct wr_window){0};
    /* A family's window is a guess about a name; a larger request that was accepted is a fact. */
    if (match->rule == WR_RULE_FAMILY && !match->model->is_window_set &&
        evidence->observed_tokens > match->window_tokens)
        return (struct wr_window){.tokens = evidence->observed_tokens,
                                  .source = WR_WINDOW_OBSERVED};
    return (struct wr_window){.tokens = match->window_tokens,
                              .source = match->model->is_window_set     ? WR_WINDOW_CONFIG
                                        : match->rule == WR_RULE_FAMILY ? WR_WINDOW_FAMILY
                                                                        : WR_WINDOW_REGISTRY};
}

static struct wr_window from_source(const struct wr_window_evidence *evidence)
{
    if (evidence->configured_tokens)
        return (struct wr_window){.tokens = evidence->configured_tokens,
                                  .source = WR_WINDOW_CONFIG};
    bool is_set = evidence->match && evidence->match->model->is_window_set;
    if (evidence->loaded_tokens && !is_set)
        return (struct wr_window){.tokens = evidence->loaded_tokens, .source = WR_WINDOW_LOADED};
    struct wr_window listed = from_registry(evidence);
    if (listed.tokens)
        return listed;
    /* What was accepted is a lower bound of the window; below the fallback it says nothing new. */
    uint32_t fallback = evidence->fallback_tokens ? evidence->fallback_tokens : WR_FALLBACK_TOKENS;
    if (evidence->observed_tokens > fallback)
        return (struct wr_window){.tokens = evidence->observed_tokens,
                                  .source = WR_WINDOW_OBSERVED};
    return (struct wr_window){.tokens = fallback, .source = WR_WINDOW_FALLBACK};
}

/* The input limit belongs to the model's own context. It says nothing about a size that a server
 * has loaded, or that was configured for this use. */
static uint32_t input_limit(const struct wr_window_evidence *evidence,
                            const struct wr_window *window)
{
    bool is_models = window->source != WR_WINDOW_LOADED && !evidence->configured_tokens;
    return evidence->match && is_models ? evidence->match->model->input_tokens_max : 0;
}

struct wr_window wr_window_select(const struct wr_window_evidence *evidence)
{
    struct wr_window window = from_source(evidence);
    uint32_t limit = input_limit(evidence, &window);

    window.context_tokens = window.tokens;
    if (limit && limit < window.tokens)
        window.tokens = limit;
    if (evidence->overflow_tokens && evidence->overflow_tokens < window.tokens)
        window.tokens = window.context_tokens = evidence->overflow_tokens;
    return window;
}

const char *wr_window_source_find(weir_span text)
{
    for (int i = WR_WINDOW_CONFIG; i <= WR_WINDOW_FALLBACK; i++)
        if (wr_span_is(text, wr_window_source_text((enum wr_window_source)i)))
            return wr_window_source_text((enum wr_window_source)i);
    return NULL;
}

const char *wr_window_source_text(enum wr_window_source source)
{
    switch (source) {
    case WR_WINDOW_CONFIG:
        return "configuration";
    case WR_WINDOW_LOADED:
        return "loaded";
    case WR_WINDOW_REGISTRY:
        return "registry";
    case WR_WINDOW_FAMILY:
        return "family";
    case WR_WINDOW_OBSERVED:
        return "observed";
    case WR_WINDOW_FALLBACK:
        return "fallback";
    }
    return "unknown";
}

struct wr_reserve wr_window_reserve(const struct wr_reserve_input *input)
{
    const struct wr_model *model = input->model;
    uint64_t window = input->window_tokens, asked = input->asked_tokens, apart = 0;

    if (model && model->output_tokens_max && asked > model->output_tokens_max)
        asked = model->output_tokens_max;
    if (model && model->input_tokens_max == window && model->window_tokens > window)
        apart = model->window_tokens - window;
    if (!asked || asked >= window + apart)
        return (struct wr_reserve){false, (uint32_t)(window / WR_RESERVE_SHARE)};
    asked = asked > apart ? asked - apart : 0;
    if (asked > window / 4 * 3)
        asked = window / 4 * 3;
    return (struct wr_reserve){true, (uint32_t)asked};
}

/* ==== loaded ==== */

static bool read_positive(const struct wr_json *doc, wr_json_id id, uint32_t *tokens)
{
    int64_t number;
    if (id == WR_JSON_NONE || !wr_json_i64(doc, id, &number) || number <= 0 ||
        number > WR_MODEL_TOKENS_MAX)
        return false;
    *tokens = (uint32_t)number;
    return true;
}

/* Ollama calls "llama3.1" and "llama3.1:latest" the same. */
static bool same_model(weir_span listed, weir_span wanted)
{
    const weir_span latest = WR_LIT(":latest");
    if (wr_span_ends(listed, latest))
        listed.len -= latest.len;
    if (wr_span_ends(wanted, latest))
        wanted.len -= latest.len;
    return wr_same_any_case(listed, wanted);
}

static bool is_named(const struct wr_json *doc, struct wr_arena *arena, wr_json_id entry,
                     const char *key, weir_span model)
{
    wr_json_id id = wr_json_find(doc, entry, key);
    if (!wr_json_is(doc, id, WR_JSON_STRING))
        return false;
    weir_span name = wr_json_text(doc, arena, id);
    return name.ptr && same_model(name, model);
}

static bool find_listed(const struct wr_json *doc, struct wr_arena *arena, const char *list_key,
                        const char *const name_keys[2], const char *tokens_key, weir_span model,
                        uint32_t *tokens)
{
    wr_json_id list = wr_json_find(doc, 0, list_key);
    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return false;
    for (wr_json_id entry = wr_json_first(doc, list); entry != WR_JSON_NONE;
         entry = wr_json_next(doc, list, entry)) {
        if (!is_named(doc, arena, entry, name_keys[0], model) &&
            !is_named(doc, arena, entry, name_keys[1], model))
            continue;
        return read_positive(doc, wr_json_find(doc, entry, tokens_key), tokens);
    }
    return false;
}

static bool find_window(enum wr_model_server server, const struct wr_json *doc,
                        struct wr_arena *arena, weir_span model, uint32_t *tokens)
{
    static const char *const ollama_names[2] = {"name", "model"};
    static const char *const vllm_names[2] = {"id", "root"};

    switch (server) {
    case WR_SERVER_OLLAMA:
        return find_listed(doc, arena, "models", ollama_names, "context_length", model, tokens);
    case WR_SERVER_VLLM:
        return find_listed(doc, arena, "data", vllm_names, "max_model_len", model, tokens);
    case WR_SERVER_LMSTUDIO:
        return find_listed(doc, arena, "data", vllm_names, "loaded_context_length", model, tokens);
    case WR_SERVER_TGI:
        return read_positive(doc, wr_json_find(doc, 0, "max_total_tokens"), tokens);
    case WR_SERVERS_COUNT:
        return false;
    case WR_SERVER_LLAMACPP: {
        wr_json_id settings = wr_json_find(doc, 0, "default_generation_settings");
        return read_positive(doc, wr_json_find(doc, settings, "n_ctx"), tokens) ||
               read_positive(doc, wr_json_find(doc, 0, "n_ctx"), tokens);
    }
    }
    return false;
}

const char *wr_server_path(enum wr_model_server server)
{
    static const char *const paths[WR_SERVERS_COUNT] = {[WR_SERVER_OLLAMA] = "/api/ps",
                                                        [WR_SERVER_LLAMACPP] = "/props",
                                                        [WR_SERVER_LMSTUDIO] = "/api/v0/models",
                                                        [WR_SERVER_VLLM] = "/v1/models",
                                                        [WR_SERVER_TGI] = "/info"};
    return server < WR_SERVERS_COUNT ? paths[server] : "";
}

weir_status wr_loaded_read(enum wr_model_server server, weir_span body, weir_span model,
                           uint32_t *window_tokens)
{
    struct wr_arena arena;
    struct wr_json doc;

    *window_tokens = 0;
    if (body.len > WR_SERVER_BODY_BYTES_MAX)
        return WEIR_LIMIT;
    wr_arena_init(&arena, 32 * (size_t)WR_SERVER_BODY_BYTES_MAX);
    weir_status status = wr_json_parse(&doc, &arena, body, NULL, NULL);
    if (!status && !find_window(server, &doc, &arena, model, window_tokens))
        status = WEIR_NOTFOUND;
    wr_arena_release(&arena);
    return status;
}

/* ==== overflow ====
 *
 * Recognises that a provider refused a request as too long, and reads the sizes it names.
 *
 * Providers have no common error code for it, so the texts themselves are the table: a sign that
 * the text must hold, and the words behind which the window and the prompt's size stand. The text
 * is made plain first, so that letter case, back quotes and JSON's escape of '>' do not matter.
 *
 * A number counts only if it is believable as a window. Some texts say how much was asked for in
 * parts, of the prompt and of the answer; then the parts of the prompt are added up (read_parts).
 *
 * wr_overflow_cap() turns what was said into a window to believe from now on. The provider counts
 * with its own tokenizer, so the window is scaled by how its count of the prompt compares with
 * ours.
 */

/* A wording, and behind which words of it the two numbers stand. */
struct wording {
    const char *provider;
    const char *sign;
    const char *window_after;
    const char *used_after;
    bool has_parts; /* of what was requested: the prompt's, and the answer's */
};

/* Wordings with numbers come first: some bodies hold two signs, and we want the one that says
 * more. */
static const struct wording wordings[] = {
    {"anthropic", "prompt is too long", " > ", "prompt is too long", false},
    {"anthropic", "input length and max_tokens exceed context limit", " > ", "exceed context limit",
     false},
    {"openai", "maximum context length is", "maximum context length is", "resulted in", true},
    {"gemini", "input token count", "number of tokens allowed", "input token count", false},
    {"xai", "maximum prompt length is", "maximum prompt length is", "request contains", false},
    {"copilot", "prompt token count of", "exceeds the limit of", "prompt token count of", false},
    {"llama.cpp", "exceeds the available context size", "available context size", "request ",
     false},
    {"openai", "exceeds the context window of this model", NULL, NULL, false},
    {"openai", "context_length_exceeded", NULL, NULL, false},
    {"openai", "reduce the length of the messages", NULL, NULL, false},
    {"bedrock", "input is too long for requested model", NULL, NULL, false},
    {"anthropic", "model_context_window_exceeded", NULL, NULL, false},
};

/* How much may stand between the words and their number: " (", ": ", " about ". */
enum { GAP_BYTES_MAX = 8 };

/* The number right behind `from`, thousands separated or not; 0 where there is none. */
static uint64_t read_number_near(weir_span text, size_t from)
{
    uint64_t n = 0;
    size_t at = from;
    while (at < text.len && at - from < GAP_BYTES_MAX && !wr_is_digit(text.ptr[at]))
        at++;
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        bool separator =
            (c == ',' || c == '_') && at + 1 < text.len && wr_is_digit(text.ptr[at + 1]) && n;
        if (separator)
            continue;
        if (!wr_is_digit(c))
            break;
        n = n * 10 + (uint64_t)(c - '0');
        if (n > WR_MODEL_TOKENS_MAX)
            return 0;
    }
    return n;
}

static uint32_t believable_tokens(uint64_t tokens)
{
    return tokens >= WR_WINDOW_TOKENS_MIN && tokens <= WR_MODEL_TOKENS_MAX ? (uint32_t)tokens : 0;
}

static uint32_t tokens_behind(weir_span text, size_t from)
{
    return believable_tokens(read_number_near(text, from));
}

static uint32_t tokens_after_words(weir_span text, size_t from, const char *words)
{
    if (!words)
        return 0;
    weir_span needle = wr_span_of(words);
    size_t at = wr_span_find(text, needle, from);
    return at == SIZE_MAX ? 0 : tokens_behind(text, at + needle.len);
}

/* "tokens (5000 in the messages, 300 in the functions, 4000 in the completion)": all but the
 * answer, whose part is named by one of two words. Where no part of the prompt is named
 * the number stays. */
static void read_parts(weir_span text, size_t from, uint32_t *prompt_tokens)
{
    const weir_span opening = WR_LIT("tokens (");
    size_t at = wr_span_find(text, opening, from);
    size_t end = at == SIZE_MAX ? at : wr_span_find(text, WR_LIT(")"), at);
    uint64_t tokens = 0;

    if (end == SIZE_MAX)
        return;
    for (at += opening.len; at < end;) {
        size_t next = at;
        while (next < end &&
               !((text.ptr[next] == ',' || text.ptr[next] == ';') && text.ptr[next + 1] == ' '))
            next++;
        weir_span part = wr_span_cut(text, at, next);
        if (wr_span_find(part, WR_LIT("completion"), 0) == SIZE_MAX &&
            wr_span_find(part, WR_LIT("output"), 0) == SIZE_MAX)
            tokens += read_number_near(part, 0);
        at = next + 1;
    }
    if (believable_tokens(tokens))
        *prompt_tokens = (uint32_t)tokens;
}

static void read_numbers(weir_span text, size_t at, const struct wording *wording,
                         struct wr_overflow *overflow)
{
    overflow->window_tokens = tokens_after_words(text, at, wording->window_after);
    overflow->used_tokens = tokens_after_words(text, at, wording->used_after);
    if (wording->has_parts)
        read_parts(text, at, &overflow->used_tokens);
    /* llama.cpp names the request before the sign, and repeats both numbers as fields. */
    if (wr_span_is(wr_span_of(overflow->provider), "llama.cpp")) {
        if (!overflow->used_tokens)
            overflow->used_tokens = tokens_after_words(text, 0, "request (");
        if (!overflow->used_tokens)
            overflow->used_tokens = tokens_after_words(text, 0, "\"n_prompt_tokens\"");
        if (!overflow->window_tokens)
            overflow->window_tokens = tokens_after_words(text, 0, "\"n_ctx\"");
    }
}

/* Lower case, no back quotes, and '>' as itself where a JSON writer escaped it. */
static size_t make_plain(weir_span text, char plain[WR_OVERFLOW_TEXT_BYTES_MAX])
{
    const weir_span escaped = WR_LIT("\\u003e");
    size_t len = 0;
    for (size_t i = 0; i < text.len && len < WR_OVERFLOW_TEXT_BYTES_MAX; i++) {
        char c = text.ptr[i];
        if (c == '\\' && wr_span_starts(wr_span_cut(text, i, text.len), escaped)) {
            plain[len++] = '>';
            i += escaped.len - 1;
        } else if (c != '`') {
            plain[len++] = wr_lower(c);
        }
    }
    return len;
}

bool wr_overflow_read(weir_span text, struct wr_overflow *overflow)
{
    char plain[WR_OVERFLOW_TEXT_BYTES_MAX];

    *overflow = (struct wr_overflow){0};
    weir_span body = {plain, make_plain(text, plain)};
    for (size_t i = 0; i < WR_COUNT_OF(wordings); i++) {
        size_t at = wr_span_find(body, wr_span_of(wordings[i].sign), 0);
        if (at == SIZE_MAX)
            continue;
        overflow->provider = wordings[i].provider;
        read_numbers(body, at, &wordings[i], overflow);
        return true;
    }
    return false;
}

bool wr_counts_agree(uint64_t ours_tokens, uint64_t theirs_tokens)
{
    return ours_tokens && theirs_tokens && theirs_tokens <= ours_tokens * 2 &&
           ours_tokens <= theirs_tokens * 2;
}

/* The window that was said, in tokens as we count them: what is left for a prompt, scaled. */
static uint32_t cap_as_counted(const struct wr_overflow *overflow,
                               const struct wr_overflow_sent *sent)
{
    uint64_t window = overflow->window_tokens, answer = sent->answer_tokens;

    if (!wr_counts_agree(sent->prompt_tokens, overflow->used_tokens) || answer >= window)
        return overflow->window_tokens;
    uint64_t cap = answer + (window - answer) * sent->prompt_tokens / overflow->used_tokens;
    return cap < UINT32_MAX ? (uint32_t)cap : UINT32_MAX;
}

uint32_t wr_overflow_cap(const struct wr_overflow *overflow, const struct wr_overflow_sent *sent)
{
    uint32_t window = sent->window_tokens;
    uint64_t smaller = window, prompt = sent->prompt_tokens;

    if (overflow->window_tokens) {
        smaller = cap_as_counted(overflow, sent);
    } else if (prompt && (!window || prompt + sent->answer_tokens < window)) {
        smaller = prompt * 9 / 10 + sent->answer_tokens;
    } else {
        smaller = smaller * 9 / 10;
    }
    return (uint32_t)(window && window < smaller ? window : smaller);
}
