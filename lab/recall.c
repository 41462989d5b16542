#include "lab/recall.h"

#include <stdio.h>

#include "api/write.h"
#include "base/span.h"

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
