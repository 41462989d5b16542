#include "agent/paste.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"

static const char begin[] = "[pasted text #";

/* Terminals send line ends as CR. */
static void append_lines(struct wr_buf *out, weir_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool is_crlf = text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n';
        if (!is_crlf)
            wr_buf_byte(out, text.ptr[i] == '\r' ? '\n' : text.ptr[i]);
    }
}

static void name_paste(const struct wr_pastes *pastes, size_t i, char name[80])
{
    (void)snprintf(name, 80, "%s%zu: %llu lines]", begin, i + 1,
                   (unsigned long long)wr_span_lines(wr_buf_view(&pastes->texts[i])));
}

bool wr_paste_take(struct wr_buf *text, size_t *end_bytes, weir_span character)
{
    static const char end[] = "\x1b[201~";

    wr_buf_append(text, character);
    for (size_t i = 0; i < character.len; i++) {
        if (character.ptr[i] != end[*end_bytes])
            *end_bytes = 0;
        *end_bytes += character.ptr[i] == end[*end_bytes];
    }
    if (*end_bytes < strlen(end))
        return false;
    if (!wr_buf_status(text))
        text->len -= strlen(end);
    return true;
}

void wr_pastes_add(struct wr_pastes *pastes, weir_span text, struct wr_buf *shown)
{
    char name[80];

    if (pastes->count == WR_PASTES_MAX) {
        wr_buf_text(shown, "[too many were pasted]");
        return;
    }
    struct wr_buf *kept = &pastes->texts[pastes->count];
    wr_buf_init(kept, WR_AGENT_FILE_BYTES_MAX);
    append_lines(kept, text);
    if (wr_buf_status(kept)) {
        wr_buf_release(kept);
        wr_buf_text(shown, WR_PASTE_TOO_LONG);
    } else if (wr_span_lines(wr_buf_view(kept)) < 2 && kept->len <= WR_AGENT_PASTE_BYTES_SHOWN) {
        wr_buf_append(shown, wr_span_trim(wr_buf_view(kept)));
        wr_buf_release(kept);
    } else {
        name_paste(pastes, pastes->count++, name);
        wr_buf_text(shown, name);
    }
}

/* The index of the paste whose word is at `at`, or SIZE_MAX. `*bytes` is the length of that word.
 */
static size_t find_at(const struct wr_pastes *pastes, weir_span line, size_t at, size_t *bytes)
{
    char name[80];

    for (size_t i = 0; i < pastes->count; i++) {
        name_paste(pastes, i, name);
        *bytes = strlen(name);
        if (wr_span_starts(wr_span_cut(line, at, line.len), wr_span_of(name)))
            return i;
    }
    return SIZE_MAX;
}

void wr_pastes_expand(const struct wr_pastes *pastes, weir_span line, struct wr_buf *out)
{
    for (size_t at = 0; at < line.len;) {
        size_t bytes = 1;
        size_t found = line.ptr[at] == begin[0] ? find_at(pastes, line, at, &bytes) : SIZE_MAX;
        if (found == SIZE_MAX)
            wr_buf_byte(out, line.ptr[at++]);
        else
            wr_buf_append(out, wr_buf_view(&pastes->texts[found]));
        at += found == SIZE_MAX ? 0 : bytes;
    }
}

void wr_pastes_clear(struct wr_pastes *pastes)
{
    for (size_t i = 0; i < pastes->count; i++)
        wr_buf_release(&pastes->texts[i]);
    pastes->count = 0;
}
