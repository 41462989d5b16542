/* Recognises that a provider refused a request as too long, and reads the sizes it names.
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
#include "models/overflow.h"

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

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
