#include "api/errors.h"

#include "api/api.h"
#include "base/ascii.h"
#include "base/span.h"
#include "models/overflow.h"

enum { MESSAGE_BYTES_MAX = 1024 };

static weir_span lower(weir_span text, char into[MESSAGE_BYTES_MAX])
{
    size_t bytes = text.len < MESSAGE_BYTES_MAX ? text.len : MESSAGE_BYTES_MAX;
    for (size_t i = 0; i < bytes; i++)
        into[i] = wr_lower(text.ptr[i]);
    return (weir_span){into, bytes};
}

static bool holds_any(weir_span text, const char *const *words)
{
    for (; *words; words++)
        if (wr_span_find(text, wr_span_of(*words), 0) != SIZE_MAX)
            return true;
    return false;
}

/* Whether an API has such a word, and `text` holds it. */
static bool is_told(weir_span text, size_t field)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++) {
        const char *const *words = *(const char *const *const *)((const char *)wr_apis[i] + field);
        if (words && holds_any(text, words))
            return true;
    }
    return false;
}

#define IS_TOLD(text, words) is_told(text, offsetof(struct wr_api, words))

enum wr_answer_error wr_answer_error_of(weir_span code, weir_span message)
{
    char small[MESSAGE_BYTES_MAX];
    struct wr_overflow overflow;
    weir_span text = lower(message, small);

    if (IS_TOLD(code, previous_codes) ||
        (wr_span_find(text, WR_LIT("previous response"), 0) != SIZE_MAX &&
         wr_span_find(text, WR_LIT("not found"), 0) != SIZE_MAX))
        return WR_ANSWER_ERROR_PREVIOUS;
    if (IS_TOLD(text, continuation_words))
        return WR_ANSWER_ERROR_CONTINUATION;
    if (IS_TOLD(code, overflow_codes) || wr_overflow_read(message, &overflow))
        return WR_ANSWER_ERROR_CONTEXT;
    return WR_ANSWER_ERROR_NONE;
}

bool wr_error_is_unbound(weir_span text)
{
    return IS_TOLD(text, unbound_words);
}

bool wr_finish_is_end(weir_span word)
{
    for (size_t i = 0; i < WR_APIS_COUNT; i++)
        for (const char *const *known = wr_apis[i]->end_words; *known; known++)
            if (wr_span_is(word, *known))
                return true;
    return false;
}

weir_span wr_error_message(const struct wr_json *doc, struct wr_arena *arena)
{
    wr_json_id root = wr_json_is(doc, 0, WR_JSON_ARRAY) ? wr_json_first(doc, 0) : 0;
    wr_json_id error = wr_json_find(doc, root, "error");
    wr_json_id message = wr_json_find(doc, error != WR_JSON_NONE ? error : root, "message");
    weir_span text = {"", 0};

    if (wr_json_is(doc, error, WR_JSON_STRING))
        message = error; /* words alone */
    if (wr_json_is(doc, message, WR_JSON_STRING))
        text = wr_json_text(doc, arena, message);
    return text.ptr ? text : (weir_span){"", 0};
}
