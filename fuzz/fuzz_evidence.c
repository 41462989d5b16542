/* Oracles: an item's text stands in the answer and in the line of the result that it names; a
 * prompt that is whole supports every item, and one without its texts has lost them all. */
#include "lab/evidence.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"

enum { TEXT_BYTES_MAX = 1 << 16 };

static void write_message(struct wr_json_writer *w, const char *role, weir_span text, bool calls)
{
    wr_json_write_object(w);
    wr_json_write_key(w, "role");
    wr_json_write_text(w, wr_span_of(role));
    if (wr_span_is(wr_span_of(role), "tool")) {
        wr_json_write_key(w, "tool_call_id");
        wr_json_write_text(w, WR_LIT("c"));
    }
    wr_json_write_key(w, "content");
    wr_json_write_text(w, calls ? WR_LIT("") : text);
    if (calls) {
        wr_json_write_key(w, "tool_calls");
        wr_json_write_raw(w, WR_LIT("[{\"id\":\"c\",\"type\":\"function\",\"function\":"
                                    "{\"name\":\"run\",\"arguments\":\"{}\"}}]"));
    }
    wr_json_write_object_end(w);
}

static void must(bool holds, const char *what, weir_span text)
{
    if (holds)
        return;
    fprintf(stderr, "%s: %.*s\n", what, (int)text.len, text.ptr);
    abort();
}

static bool is_json(weir_span text)
{
    text = wr_span_trim(text);
    return text.len && (text.ptr[0] == '{' || text.ptr[0] == '[');
}

static void check_item(const struct wr_evidence_item *item, weir_span result, weir_span answer)
{
    weir_span rest = result, line = {0};
    for (uint32_t n = 0; n <= item->line; n++)
        must(wr_span_line(&rest, &line), "the result has no such line", item->text);
    must(wr_span_find(answer, item->text, 0) != SIZE_MAX, "not in the answer", item->text);
    must(wr_span_find(line, item->text, 0) != SIZE_MAX || is_json(result), "not in its line",
         item->text);
}

static void judge_all(const struct wr_evidence *evidence, const struct wr_evidence_at *at,
                      const struct wr_evidence_items *found, bool is_whole, struct wr_arena *arena)
{
    struct wr_shown *shown = WR_ARENA_ARRAY(arena, struct wr_shown, at->segments_count);
    struct wr_evidence_judged *judged =
        WR_ARENA_ARRAY(arena, struct wr_evidence_judged, found->count);
    struct wr_evidence_view view = {.segments = shown, .segments_count = at->segments_count};
    for (uint32_t i = 0; i < at->segments_count; i++)
        shown[i] = (struct wr_shown){.is_whole = is_whole, .text = WR_LIT("-")};
    wr_evidence_judge(evidence, at, found, &view, NULL, judged);
    for (uint32_t i = 0; i < found->count; i++)
        must(judged[i].verdict == (is_whole ? WR_EVIDENCE_SUPPORTED : WR_EVIDENCE_LOST),
             is_whole ? "whole, and not supported" : "gone, and not lost", found->items[i].text);
}

static void run(weir_span user, weir_span result, weir_span said, struct wr_arena *arena)
{
    struct wr_api_options options = {.dialect = "chat", .structure_only = true};
    struct wr_evidence evidence;
    struct wr_evidence_items found;
    struct wr_evidence_at at;
    struct wr_transcript t;
    struct wr_json doc, answer;
    struct wr_json_writer w;
    struct wr_buf body, reply;

    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&reply, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&w, &body);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "messages");
    wr_json_write_array(&w);
    write_message(&w, "user", user, false);
    write_message(&w, "assistant", said, true);
    write_message(&w, "tool", result, false);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    wr_json_write_init(&w, &reply);
    write_message(&w, "assistant", said, false);
    must(!wr_json_parse(&doc, arena, wr_buf_view(&body), NULL, NULL) &&
             !wr_json_parse(&answer, arena, wr_buf_view(&reply), NULL, NULL) &&
             !wr_api_read(&t, arena, &doc, &options, NULL),
         "not read", user);
    must(!wr_evidence_init(&evidence, arena) && !wr_evidence_note(&evidence, &t, &at) &&
             !wr_evidence_find(&evidence, &at, &answer, arena, &found),
         "failed", user);
    for (uint32_t i = 0; i < found.count; i++)
        check_item(&found.items[i], found.items[i].is_users ? user : result, said);
    judge_all(&evidence, &at, &found, true, arena);
    judge_all(&evidence, &at, &found, false, arena);
    wr_evidence_release(&evidence);
    wr_buf_release(&body);
    wr_buf_release(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Three texts, divided by bytes 0: the user's, a result, the answer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir_span texts[3] = {{0}}, all = {(const char *)data, size};
    struct wr_arena arena;
    size_t from = 0;
    if (!size || size > TEXT_BYTES_MAX || wr_utf8_check(all, false) != size)
        return 0;
    for (int i = 0; i < 3; i++) {
        const char *end = i < 2 && from < size ? memchr(data + from, 0, size - from) : NULL;
        size_t to = end ? (size_t)(end - all.ptr) : size;
        texts[i] = wr_span_cut(all, from, to);
        from = to < size ? to + 1 : size;
    }
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    run(texts[0], texts[1], texts[2], &arena);
    wr_arena_release(&arena);
    return 0;
}
