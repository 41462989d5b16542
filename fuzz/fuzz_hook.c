/* Events of hooks: what was read of one is what the answer changes, and all that it changes.
 *
 * The first byte says which agent. Where an event's text may be changed, the answer with another
 * text is read again as an event: its text must be that one, and with the first text put back the
 * response must read as it did. Of an event that stays whole there is no text. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/span.h"
#include "hook/hook.h"
#include "json/write.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What the agent would have in the place of tool_response. */
static weir_span new_response(struct wr_arena *arena, const struct wr_hook_event *event,
                              const struct wr_hook_agent *agent, weir_span text)
{
    struct wr_json doc;
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    require(!wr_hook_event_answer(event, arena, agent, text, &out, NULL));
    weir_span answer = wr_arena_copy(arena, wr_buf_view(&out));
    wr_buf_release(&out);
    require(!wr_json_parse(&doc, arena, answer, NULL, NULL));
    wr_json_id updated =
        agent->taker == WR_TAKES_OUTPUT
            ? wr_json_find(&doc, 0, "output")
            : wr_json_find(&doc, wr_json_find(&doc, 0, "hookSpecificOutput"), "updatedToolOutput");
    require(updated != WR_JSON_NONE);
    return wr_json_raw(&doc, updated);
}

static weir_span event_of(struct wr_arena *arena, weir_span tool, weir_span response)
{
    struct wr_json_writer w;
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&w, &out);
    wr_json_write_object(&w);
    wr_json_member_text(&w, "tool_name", tool);
    wr_json_write_key(&w, "tool_input");
    wr_json_write_object(&w);
    wr_json_write_object_end(&w);
    wr_json_write_key(&w, "tool_response");
    wr_json_write_raw(&w, response);
    wr_json_write_object_end(&w);
    require(!out.status);
    weir_span json = wr_arena_copy(arena, wr_buf_view(&out));
    wr_buf_release(&out);
    return json;
}

static void check_event(struct wr_arena *arena, const struct wr_hook_agent *agent, weir_span json)
{
    const weir_span texts[] = {WR_LIT("another \"text\"\n\x01"), WR_LIT("")};
    struct wr_hook_event event, next;
    struct weir_err err = {0};

    if (wr_hook_event_read(&event, arena, agent, json, &err)) {
        require(memchr(err.text, '\n', sizeof(err.text)) == NULL);
        return;
    }
    require((event.whole == NULL) == (event.place != WR_JSON_NONE));
    require(!event.whole || !event.text.len);
    if (event.whole)
        return;
    require(agent->taker != WR_TAKES_NOTHING);
    for (size_t i = 0; i < WR_COUNT_OF(texts); i++) {
        weir_span changed = new_response(arena, &event, agent, texts[i]);
        require(
            !wr_hook_event_read(&next, arena, agent, event_of(arena, event.tool, changed), NULL));
        require(!next.whole && wr_span_eq(next.text, texts[i]));
        weir_span back = new_response(arena, &next, agent, event.text);
        require(!wr_hook_event_read(&next, arena, agent, event_of(arena, event.tool, back), NULL));
        require(!next.whole && wr_span_eq(next.text, event.text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_arena arena;
    size_t agents_count = 0;

    if (!size)
        return 0;
    while (wr_hook_agent_at(agents_count))
        agents_count++;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    check_event(&arena, wr_hook_agent_at(data[0] % agents_count),
                (weir_span){(const char *)data + 1, size - 1});
    wr_arena_release(&arena);
    return 0;
}
