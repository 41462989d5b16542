#include "traffic/words.h"

#include "base/span.h"
#include "base/text.h"
#include "traffic/body.h"
#include "traffic/index.h"

/* Agents put their own notes into the user's messages, in tags: `<system-reminder>`,
 * `<environment_context>`. */
static bool is_note(weir_span text)
{
    return wr_span_starts(text, WR_LIT("<"));
}

/* A note without the tags that it begins with: `<objective> Review the code` is about the code. */
static weir_span inside_note(weir_span note)
{
    while (is_note(note)) {
        const char *end = memchr(note.ptr, '>', note.len);
        if (!end)
            break;
        note = wr_span_trim(wr_span_from(note, (size_t)(end - note.ptr) + 1));
    }
    return note;
}

/* What the user said before the model's first word; without such, the last note that says
 * something. */
static weir_span find_words(struct weir_request *request)
{
    weir_span note = {"", 0};

    for (uint32_t i = 0; i < weir_request_segments(request); i++) {
        struct weir_segment s;
        weir_span text;
        if (weir_request_segment(request, i, &s))
            continue;
        if (s.role == WEIR_ROLE_ASSISTANT)
            break;
        if (s.role != WEIR_ROLE_USER || s.kind != WEIR_KIND_TEXT ||
            weir_request_text(request, i, &text))
            continue;
        text = wr_span_trim(text);
        if (text.len && !is_note(text))
            return text;
        if (inside_note(text).len)
            note = inside_note(text);
    }
    return note;
}

weir_span wr_first_words(const struct wr_ledger_row *said, struct wr_arena *arena)
{
    weir_span words = {"", 0}, valid;
    struct weir_request *request;
    uint64_t replaced_count;

    if (!said->came.len || wr_body_read(said, false, &request, NULL))
        return words;
    weir_span text = find_words(request);
    if (wr_text_keep_line(arena, text, WR_TRAFFIC_WORDS_CHARS, &words) ||
        wr_valid_text(arena, words, &valid, &replaced_count))
        valid = (weir_span){"", 0};
    weir_request_free(request);
    return valid;
}
