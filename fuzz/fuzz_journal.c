/* A journal of any bytes: whatever is in it, every way of cutting it into pieces gives the same
 * events and the same end, and every event that is read is the same when it is written and read
 * again. */
#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "session/journal.h"

struct outcome {
    uint64_t hash;
    uint64_t events_count, torn_bytes, line;
    bool is_damaged, lacks_break;
    weir_status status;
};

static void check_round_trip(const struct wr_event *event)
{
    struct wr_event again;
    struct wr_arena arena;
    struct wr_buf first, second;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&first, WR_JOURNAL_LINE_BYTES_MAX);
    wr_buf_init(&second, WR_JOURNAL_LINE_BYTES_MAX);
    wr_event_write(&first, event);
    if (!wr_buf_status(&first)) {
        weir_span line = wr_span_cut(wr_buf_view(&first), 0, first.len - 1);
        WR_ASSERT(!memchr(line.ptr, '\n', line.len));
        WR_ASSERT(!wr_event_read(&again, &arena, line, NULL));
        WR_ASSERT(wr_span_eq(again.text, event->text));
        WR_ASSERT(again.items_count == event->items_count);
        for (uint32_t i = 0; i < again.items_count; i++)
            WR_ASSERT(wr_span_eq(again.items[i], event->items[i]));
        wr_event_write(&second, &again);
        WR_ASSERT(wr_span_eq(wr_buf_view(&first), wr_buf_view(&second)));
    }
    wr_buf_release(&second);
    wr_buf_release(&first);
    wr_arena_release(&arena);
}

static weir_status take(void *user, const struct wr_event *event, weir_span line)
{
    struct outcome *outcome = user;
    outcome->hash = wr_hash64_seeded(line, outcome->hash + event->seq);
    if (event->kind != WR_EVENT_OTHER)
        check_round_trip(event);
    return WEIR_OK;
}

static struct outcome scan(weir_span text, size_t piece_bytes)
{
    struct outcome outcome = {0};
    struct wr_journal_scan s;

    wr_journal_scan_init(&s, take, &outcome);
    for (size_t at = 0; at < text.len && !outcome.status; at += piece_bytes) {
        size_t end = text.len - at < piece_bytes ? text.len : at + piece_bytes;
        outcome.status = wr_journal_scan_feed(&s, wr_span_cut(text, at, end), NULL);
    }
    if (!outcome.status)
        outcome.status = wr_journal_scan_end(&s, NULL);
    outcome.events_count = s.events_count;
    outcome.torn_bytes = s.torn_bytes;
    outcome.line = s.line;
    outcome.is_damaged = s.is_damaged;
    outcome.lacks_break = s.lacks_break;
    wr_journal_scan_release(&s);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir_span text = {(const char *)data, size};
    struct outcome whole = scan(text, size + 1), pieces = scan(text, 1 + size % 7);

    WR_ASSERT(whole.hash == pieces.hash);
    WR_ASSERT(whole.events_count == pieces.events_count);
    WR_ASSERT(whole.torn_bytes == pieces.torn_bytes);
    WR_ASSERT(whole.line == pieces.line);
    WR_ASSERT(whole.is_damaged == pieces.is_damaged);
    WR_ASSERT(whole.lacks_break == pieces.lacks_break);
    WR_ASSERT(whole.status == pieces.status);
    /* What is torn is behind the last line break, and nothing else is lost without an error. */
    WR_ASSERT(whole.status == WEIR_OK || whole.is_damaged || whole.status != WEIR_SYNTAX);
    return 0;
}
