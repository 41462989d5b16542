/* Any request: | tokens_max, end of the range | body |. A body that is no request is put into one
 * as the arguments of a call and as its result.
 *
 * Oracle: a summary is made, within its cap, valid UTF-8, the same when made again, and every line
 * of it is one of the summary's own or begins as an item; the blocks of results and loops and the
 * history are made, and the same again. */
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"
#include "policy/loop_summary.h"
#include "policy/marker.h"
#include "policy/summary.h"

#define CHECK(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void broken(const char *condition, int line)
{
    fprintf(stderr, "line %d: %s does not hold\n", line, condition);
    abort();
}

static uint64_t count(void *user, weir_span text)
{
    (void)user;
    return (text.len + 3) / 4;
}

static void write_result(struct wr_json_writer *w, weir_span text)
{
    wr_json_write_object(w);
    wr_json_write_key(w, "role");
    wr_json_write_text(w, WR_LIT("tool"));
    wr_json_write_key(w, "tool_call_id");
    wr_json_write_text(w, WR_LIT("c"));
    wr_json_write_key(w, "content");
    wr_json_write_text(w, text);
    wr_json_write_object_end(w);
}

/* The front of the text is what a shell was told, the rest what it said. */
static void write_body(struct wr_buf *out, weir_span text)
{
    size_t half = text.len / 2;
    struct wr_json_writer w;
    struct wr_buf call;

    wr_buf_init(&call, 1 << 20);
    wr_json_write_init(&w, &call);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "command");
    wr_json_write_text(&w, wr_span_cut(text, 0, half));
    wr_json_write_object_end(&w);

    wr_buf_text(out, "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\","
                     "\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\","
                     "\"function\":{\"name\":\"Bash\",\"arguments\":\"");
    wr_json_escape(out, wr_buf_view(&call));
    wr_buf_text(out, "\"}}]},");
    wr_json_write_init(&w, out);
    write_result(&w, wr_span_cut(text, half, text.len));
    wr_buf_text(out, "]}");
    if (call.status)
        out->status = call.status;
    wr_buf_release(&call);
}

static void check_lines(weir_span text)
{
    weir_span line;
    for (size_t n = 0; wr_span_line(&text, &line); n++)
        CHECK(n < 2 || wr_span_starts(line, WR_LIT("- ")) || wr_span_ends(line, WR_LIT(":")));
}

static void check_summary(const struct wr_transcript *t, struct wr_arena *arena,
                          uint64_t tokens_max, uint32_t end)
{
    struct wr_summary_input input = {{t, 0, end, NULL}, tokens_max, count, NULL};
    weir_span text, again;

    if (wr_summary_build(&input, arena, &text) || wr_summary_build(&input, arena, &again))
        return; /* out of memory */
    CHECK(wr_span_eq(text, again));
    CHECK(!text.len || count(NULL, text) <= tokens_max);
    CHECK(wr_utf8_check(text, false) == text.len);
    check_lines(text);
}

static void check_blocks(const struct wr_transcript *t, struct wr_arena *arena, uint64_t tokens)
{
    struct wr_loop_options options = {tokens, tokens, count, NULL, t->segments_count};
    uint32_t *all = WR_ARENA_ARRAY(arena, uint32_t, t->segments_count);
    weir_span text, again;
    struct wr_buf history;

    CHECK(all);
    for (uint32_t i = 0; i < t->segments_count; i++)
        all[i] = i;
    if (!wr_completed_loop_summary(t, arena, all, t->segments_count, &options, &text) &&
        !wr_completed_loop_summary(t, arena, all, t->segments_count, &options, &again))
        CHECK(wr_span_eq(text, again));
    wr_buf_init(&history, WR_OUTPUT_BYTES_MAX);
    CHECK(!wr_history_write(&history, arena, t, all, t->segments_count));
    wr_buf_release(&history);
}

static bool check_body(weir_span body, uint64_t tokens, uint32_t end)
{
    struct wr_api_options options = {0};
    struct wr_transcript transcript;
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, 256 * 1024 * 1024);
    bool is_request = !wr_json_parse(&doc, &arena, body, NULL, NULL) &&
                      !wr_api_read(&transcript, &arena, &doc, &options, NULL);
    if (is_request) {
        if (end > transcript.segments_count)
            end = transcript.segments_count;
        check_summary(&transcript, &arena, tokens, end);
        check_summary(&transcript, &arena, 100000, transcript.segments_count);
        check_blocks(&transcript, &arena, tokens);
    }
    wr_arena_release(&arena);
    return is_request;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_buf made;
    if (size < 2)
        return 0;
    weir_span body = {(const char *)data + 2, size - 2};
    uint64_t tokens = (uint64_t)data[0] * 4;
    if (check_body(body, tokens, data[1]) || wr_utf8_check(body, false) != body.len)
        return 0;
    wr_buf_init(&made, 1 << 24);
    write_body(&made, body);
    CHECK(wr_buf_status(&made) != WEIR_OK || check_body(wr_buf_view(&made), tokens, data[1]));
    wr_buf_release(&made);
    return 0;
}
