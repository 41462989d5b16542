#include "store/grep.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/err.h"
#include "base/limits.h"

/* A line that is not UTF-8 is matched all the same; \C could split a character, so it is refused.
 */
static const uint32_t compile_options =
    PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;

static weir_status compile(struct wr_grep *grep, weir_span pattern, struct weir_err *err)
{
    unsigned char text[WEIR_ERR_TEXT_BYTES / 2];
    PCRE2_SIZE at_byte = 0;
    int code = 0;

    grep->code = pcre2_compile((PCRE2_SPTR)(pattern.len ? pattern.ptr : ""), pattern.len,
                               compile_options, &code, &at_byte, NULL);
    if (grep->code)
        return WEIR_OK;
    if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the pattern");
    (void)pcre2_get_error_message(code, text, sizeof(text));
    return wr_fail(err, WEIR_SYNTAX, at_byte, "the pattern is wrong at byte %zu: %s",
                   (size_t)at_byte, (const char *)text);
}

static uint32_t share_of(uint64_t lines_count)
{
    uint64_t steps = WR_RECALL_STEPS_MAX / (lines_count ? lines_count : 1);
    if (steps < WR_RECALL_LINE_STEPS_MIN)
        return WR_RECALL_LINE_STEPS_MIN;
    return steps > WR_RECALL_LINE_STEPS_MAX ? WR_RECALL_LINE_STEPS_MAX : (uint32_t)steps;
}

weir_status wr_grep_init(struct wr_grep *grep, weir_span pattern, uint64_t lines_count,
                         struct weir_err *err)
{
    *grep = (struct wr_grep){NULL, NULL, NULL};
    if (pattern.len > WR_RECALL_PATTERN_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "the pattern has %zu bytes, %d at most", pattern.len,
                       (int)WR_RECALL_PATTERN_BYTES_MAX);
    weir_status status = compile(grep, pattern, err);
    if (status)
        return status;
    grep->match = pcre2_match_data_create(1, NULL);
    grep->context = pcre2_match_context_create(NULL);
    if (!grep->match || !grep->context)
        return wr_fail(err, WEIR_NOMEM, 0, "no memory for the pattern");
    (void)pcre2_set_match_limit(grep->context, share_of(lines_count));
    (void)pcre2_set_heap_limit(grep->context, WR_RECALL_MATCH_BYTES_MAX / 1024); /* in KiB */
    return WEIR_OK;
}

void wr_grep_release(struct wr_grep *grep)
{
    pcre2_match_data_free(grep->match);
    pcre2_match_context_free(grep->context);
    pcre2_code_free(grep->code);
    *grep = (struct wr_grep){NULL, NULL, NULL};
}

weir_status wr_grep_line(struct wr_grep *grep, weir_span line, bool *matches)
{
    int code = pcre2_match(grep->code, (PCRE2_SPTR)(line.len ? line.ptr : ""), line.len, 0, 0,
                           grep->match, grep->context);
    *matches = code >= 0;
    if (code >= 0 || code == PCRE2_ERROR_NOMATCH)
        return WEIR_OK;
    return code == PCRE2_ERROR_NOMEMORY ? WEIR_NOMEM : WEIR_LIMIT;
}
