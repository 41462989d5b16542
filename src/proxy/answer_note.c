#include "proxy/answer_note.h"

#include "base/limits.h"

static void encode(weir_span session, const struct wr_calls *calls, bool has_arguments,
                   struct wr_buf *bytes)
{
    wr_buf_init(bytes, WR_LEDGER_NOTE_BYTES_MAX);
    wr_answer_encode(session, calls, has_arguments, bytes);
    if (!has_arguments || wr_buf_status(bytes) != WEIR_LIMIT)
        return;
    wr_buf_release(bytes);
    wr_buf_init(bytes, WR_LEDGER_NOTE_BYTES_MAX);
    wr_answer_encode(session, calls, false, bytes);
}

void wr_answer_note_keep(struct wr_notes *notes, weir_span tenant, weir_span session,
                         const struct wr_calls *calls, bool has_arguments, int64_t now_ms)
{
    const weir_span ids[] = {wr_buf_view(&calls->answer_id), wr_buf_view(&calls->conversation_id)};
    struct wr_buf bytes;

    if (!notes)
        return;
    encode(session, calls, has_arguments, &bytes);
    for (size_t i = 0; i < 2 && !wr_buf_status(&bytes); i++) {
        struct wr_note_name name = {.kind = WR_NOTE_ANSWER, .tenant = tenant, .id = ids[i]};
        wr_notes_keep(notes, &name, session, wr_buf_view(&bytes), now_ms);
    }
    wr_buf_release(&bytes);
}

bool wr_answer_note_find(struct wr_notes *notes, struct wr_arena *arena, weir_span tenant,
                         weir_span id, struct wr_known_answer *known)
{
    struct wr_note_name name = {.kind = WR_NOTE_ANSWER, .tenant = tenant, .id = id};
    struct wr_buf bytes;

    *known = (struct wr_known_answer){.calls_count = 0};
    if (!notes)
        return false;
    wr_buf_init(&bytes, WR_LEDGER_NOTE_BYTES_MAX);
    bool is_found = wr_notes_find(notes, &name, &bytes);
    weir_span copy = is_found ? wr_arena_copy(arena, wr_buf_view(&bytes)) : (weir_span){"", 0};
    wr_buf_release(&bytes);
    if (is_found && copy.ptr && wr_answer_decode(arena, copy, known))
        return true;
    *known = (struct wr_known_answer){.calls_count = 0};
    return false;
}
