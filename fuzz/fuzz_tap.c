/* The tap on an answer: every way of cutting one stream yields the same usage and the same calls.
 *
 * The first byte of an input says which API it is of and whether it is a stream, the second how it
 * is cut. */
#include <stdint.h>
#include <stdlib.h>

#include "base/span.h"
#include "proxy/answers.h"

enum { TRACE_BYTES_MAX = 16 * 1024 * 1024 };

static void show(const struct wr_tap *tap, struct wr_buf *out)
{
    wr_buf_append(out, wr_buf_view(&tap->answer.id));
#define X(name) wr_buf_printf(out, " %lld", (long long)tap->answer.usage.name);
    WR_USAGE_MAP(X)
#undef X
    wr_buf_printf(out, " %llu %d %d %s %s\n", (unsigned long long)tap->answer.events_count,
                  tap->answer.is_finished, tap->answer.has_error, tap->answer.error,
                  tap->answer.model);
    for (size_t i = 0; i < tap->answer.parts_count; i++) {
        const struct wr_part *call = &tap->answer.parts[i];
        wr_buf_printf(out, "%lld %d ", (long long)call->index, call->is_cut);
        wr_buf_append(out, wr_buf_view(&call->id));
        wr_buf_append(out, wr_buf_view(&call->name));
        wr_buf_append(out, wr_buf_view(&call->text));
    }
}

static void read_all(uint8_t kind, weir_span input, size_t piece_bytes, struct wr_buf *out)
{
    struct wr_head head = {.headers_count = 1};
    struct wr_arena arena;
    struct wr_tap tap;

    head.headers[0] =
        (struct wr_header){WR_LIT("content-type"), kind & 4    ? WR_LIT("application/json")
                                                   : kind & 32 ? WR_LIT(WR_FRAMES_TYPE)
                                                   : kind & 16 ? WR_LIT("application/x-ndjson")
                                                               : WR_LIT("text/event-stream")};
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    const struct wr_api *api = kind & 32   ? &wr_api_converse
                               : kind & 16 ? &wr_api_ollama
                               : kind & 8  ? &wr_api_gemini
                               : kind % 4  ? wr_apis[kind % 4 - 1]
                                           : NULL;
    wr_tap_init(&tap, api, &head, &arena);
    while (input.len) {
        size_t bytes = input.len < piece_bytes ? input.len : piece_bytes;
        wr_tap_feed(&tap, wr_span_cut(input, 0, bytes));
        input = wr_span_cut(input, bytes, input.len);
    }
    wr_tap_end(&tap);
    show(&tap, out);
    wr_tap_release(&tap);
    wr_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_buf whole, cut;

    if (size < 3)
        return 0;
    weir_span input = {(const char *)data + 2, size - 2};
    wr_buf_init(&whole, TRACE_BYTES_MAX);
    wr_buf_init(&cut, TRACE_BYTES_MAX);
    read_all(data[0], input, SIZE_MAX, &whole);
    read_all(data[0], input, (size_t)data[1] % 64 + 1, &cut);
    if (!wr_span_eq(wr_buf_view(&whole), wr_buf_view(&cut)))
        abort();
    wr_buf_release(&whole);
    wr_buf_release(&cut);
    return 0;
}
