#include "lab/recall.h"

#include <stdio.h>

#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"
#include "lab/evidence.h"

enum { LINES_BEFORE = 10, LINES_BEHIND = 30, RECALLED_BYTES_MAX = 32 * 1024 };

struct call_texts {
    char id[48], arguments[WEIR_HANDLE_TEXT_BYTES + 32];
};

weir_status wr_recall_write(struct wr_buf *out, size_t *call_bytes, struct wr_arena *arena,
                            weir_dialect dialect, uint64_t number, const struct wr_recall *recalls,
                            uint32_t count)
{
    struct weir_call *calls = WR_ARENA_ARRAY(arena, struct weir_call, count);
    struct call_texts *texts = WR_ARENA_ARRAY(arena, struct call_texts, count);
    struct wr_line answer = {.kind = WR_LINE_ANSWER, .calls = calls, .calls_count = count};
    size_t begin = out->len;
    struct wr_body body;

    if (!calls || !texts)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < count; i++) {
        char name[WEIR_HANDLE_TEXT_BYTES + 1];
        weir_handle_format(recalls[i].handle, name);
        (void)snprintf(texts[i].id, sizeof(texts[i].id), "recall_%llu_%u",
                       (unsigned long long)number, i);
        (void)snprintf(texts[i].arguments, sizeof(texts[i].arguments), "{\"handle\":\"%s\"}", name);
        calls[i] = (struct weir_call){wr_span_of(texts[i].id), WR_LIT("weir_recall"),
                                      wr_span_of(texts[i].arguments)};
    }
    wr_body_init(&body, wr_api_of(dialect), out);
    wr_body_list(&body);
    wr_body_line(&body, &answer);
    wr_body_close(&body);
    *call_bytes = out->len - begin;
    for (uint32_t i = 0; i < count; i++) {
        struct wr_line result = {.kind = WR_LINE_RESULT,
                                 .call_id = wr_span_of(texts[i].id),
                                 .text = recalls[i].result.len ? recalls[i].result
                                                               : WR_LIT("(nothing)")};
        wr_body_line(&body, &result);
    }
    wr_body_list_end(&body);
    wr_body_release(&body);
    if (!out->status) { /* the list's own brackets: it goes on one that is there */
        out->bytes[begin] = ',';
        out->len--;
    }
    return out->status;
}

/* ---- what is asked for ---- */

struct seeking {
    weir_span text;
    uint32_t lines_count;
    bool *is_shown; /* by line */
    struct wr_arena scratch;
};

struct found {
    uint32_t count, last, shown; /* lines that hold it, the last of them, those that are shown */
};

static struct found find_string(struct seeking *s, weir_span string)
{
    weir_span rest = s->text, line;
    struct found found = {0};
    for (uint32_t n = 0; wr_span_line(&rest, &line); n++) {
        wr_arena_reset(&s->scratch);
        if (!wr_evidence_holds(line, string, &s->scratch))
            continue;
        found.count++;
        found.last = n;
        found.shown += s->is_shown[n];
    }
    return found;
}

static void show_line(struct seeking *s, uint32_t line)
{
    uint32_t first = line > LINES_BEFORE ? line - LINES_BEFORE : 0;
    for (uint32_t n = first; n < line + LINES_BEHIND && n < s->lines_count; n++)
        s->is_shown[n] = true;
}

/* What stands on one line alone says where to look; then come those that stand on several. */
static void show_each(struct seeking *s, const weir_span *strings, uint32_t count)
{
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < count; i++) {
            struct found found = find_string(s, strings[i]);
            if (found.count && !found.shown && (found.count == 1) == (pass == 0))
                show_line(s, found.last);
        }
}

weir_status wr_recall_lines(struct wr_buf *out, struct wr_arena *arena, weir_span text,
                            const weir_span *strings, uint32_t count)
{
    struct seeking s = {.text = text, .lines_count = (uint32_t)wr_span_lines(text)};
    weir_span rest = text, line;

    s.is_shown = WR_ARENA_ARRAY(arena, bool, (size_t)s.lines_count + 1);
    if (!s.is_shown)
        return wr_arena_status(arena);
    wr_arena_init(&s.scratch, WR_ARENA_BYTES_MAX);
    show_each(&s, strings, count);
    wr_arena_release(&s.scratch);
    for (uint32_t n = 0; wr_span_line(&rest, &line) && out->len < RECALLED_BYTES_MAX; n++) {
        if (!s.is_shown[n])
            continue;
        wr_buf_append(out, line);
        wr_buf_byte(out, '\n');
    }
    return out->status;
}
