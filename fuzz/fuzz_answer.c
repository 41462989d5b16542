/* A streamed answer: every way of cutting one stream yields the same pieces and the same end, and
 * the body of a whole answer is JSON.
 *
 * The first byte of an input says which API it is of, the second how it is cut. */
#include <stdint.h>
#include <stdlib.h>

#include "api/answer.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

enum { TRACE_BYTES_MAX = 64 * 1024 * 1024 };

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct wr_buf *out = user;
    wr_buf_printf(out, "%d %zu ", (int)kind, text.len);
    wr_buf_append(out, text);
}

static void check_body(weir_span body)
{
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (wr_json_parse(&doc, &arena, body, NULL, NULL) || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        abort();
    wr_arena_release(&arena);
}

static void read_all(uint8_t kind, weir_span input, size_t piece_bytes, struct wr_buf *out)
{
    struct wr_reply answer;
    struct wr_arena arena;
    weir_span body;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_answer_init(&answer, &(struct wr_answer_options){.api = wr_apis[kind % WR_APIS_COUNT],
                                                        .arena = &arena,
                                                        .keeps_all = true,
                                                        .on_piece = on_piece,
                                                        .user = out});
    while (input.len) {
        size_t bytes = input.len < piece_bytes ? input.len : piece_bytes;
        wr_answer_feed(&answer, wr_span_cut(input, 0, bytes));
        input = wr_span_cut(input, bytes, input.len);
    }
    weir_status status = wr_answer_end(&answer, &body);
    if (!status)
        check_body(body);
    wr_buf_printf(out, "\n%d %d %d ", (int)status, answer.is_finished, answer.has_error);
    wr_buf_append(out, body);
    wr_buf_append(out, wr_buf_view(&answer.refusal));
    wr_answer_release(&answer);
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
