#include "replay/lane_recall.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"

enum { LINES_BEFORE = 10, LINES_BEHIND = 30, BYTES_MAX = 32 * 1024, ID_BYTES_MAX = 48 };

bool wr_lane_original(void *user, weir_handle handle, weir_span *text)
{
    struct wr_lane_originals *o = user;
    const struct wr_rival *rival = o->lane->setup.rival;
    struct weir_lookup lookup = {.tenant = WR_LIT("local"), .handle = handle};
    struct weir_artifact artifact;
    if (rival)
        return rival->original && rival->original(rival->user, handle, o->arena, text);
    if (weir_store_get(o->lane->store, &lookup, &artifact, NULL, NULL))
        return false;
    *text = wr_arena_copy(o->arena, artifact.text);
    return text->ptr != NULL;
}

static bool is_on_line(const struct wr_lane_wants *wants, weir_handle handle, weir_span line,
                       struct wr_arena *scratch)
{
    for (uint32_t i = 0; i < wants->found->count; i++) {
        const struct wr_evidence_item *item = &wants->found->items[i];
        if (!item->is_repeated && wants->judged[i].verdict == WR_EVIDENCE_RECALLABLE &&
            !memcmp(&wants->judged[i].handle, &handle, sizeof(handle)) &&
            wr_evidence_holds(line, item->text, scratch))
            return true;
    }
    return false;
}

static weir_status write_lines(struct wr_buf *out, struct wr_arena *arena,
                               const struct wr_lane_wants *wants, weir_handle handle,
                               weir_span text)
{
    bool *is_wanted = WR_ARENA_ARRAY(arena, bool, (uint32_t)wr_span_lines(text) + LINES_BEHIND + 1);
    weir_span rest = text, line;
    struct wr_arena scratch;

    if (!is_wanted)
        return wr_arena_status(arena);
    wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
    for (uint32_t n = 0; wr_span_line(&rest, &line); n++) {
        wr_arena_reset(&scratch);
        if (!is_on_line(wants, handle, line, &scratch))
            continue;
        for (uint32_t k = n > LINES_BEFORE ? n - LINES_BEFORE : 0; k < n + LINES_BEHIND; k++)
            is_wanted[k] = true;
    }
    wr_arena_release(&scratch);
    rest = text;
    for (uint32_t n = 0; wr_span_line(&rest, &line) && out->len < BYTES_MAX; n++) {
        if (!is_wanted[n])
            continue;
        wr_buf_append(out, line);
        wr_buf_byte(out, '\n');
    }
    return out->status;
}

static void write_member(struct wr_json_writer *w, const char *key, weir_span text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, text);
}

static void write_call(struct wr_json_writer *w, const char *id, weir_handle handle)
{
    char name[WEIR_HANDLE_TEXT_BYTES + 1], arguments[WEIR_HANDLE_TEXT_BYTES + 32];
    weir_handle_format(handle, name);
    (void)snprintf(arguments, sizeof(arguments), "{\"handle\":\"%s\"}", name);
    wr_json_write_object(w);
    write_member(w, "id", wr_span_of(id));
    write_member(w, "type", WR_LIT("function"));
    wr_json_write_key(w, "function");
    wr_json_write_object(w);
    write_member(w, "name", WR_LIT("weir_recall"));
    write_member(w, "arguments", wr_span_of(arguments));
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

static void write_id(const struct wr_lane *lane, uint32_t i, char id[ID_BYTES_MAX])
{
    (void)snprintf(id, ID_BYTES_MAX, "recall_%llu_%u", (unsigned long long)lane->result.recalls, i);
}

static void add_calls(struct wr_lane *lane, const struct wr_lane_wants *wants)
{
    struct wr_json_writer w;
    char id[ID_BYTES_MAX];

    wr_buf_byte(&lane->body, ',');
    wr_json_write_init(&w, &lane->body);
    wr_json_write_object(&w);
    write_member(&w, "role", WR_LIT("assistant"));
    wr_json_write_key(&w, "content");
    wr_json_write_null(&w);
    wr_json_write_key(&w, "tool_calls");
    wr_json_write_array(&w);
    for (uint32_t i = 0; i < wants->handles_count; i++) {
        write_id(lane, i, id);
        write_call(&w, id, wants->handles[i]);
    }
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
}

static void add_result(struct wr_lane *lane, uint32_t i, weir_span text)
{
    struct wr_json_writer w;
    char id[ID_BYTES_MAX];

    write_id(lane, i, id);
    wr_buf_byte(&lane->body, ',');
    wr_json_write_init(&w, &lane->body);
    wr_json_write_object(&w);
    write_member(&w, "role", WR_LIT("tool"));
    write_member(&w, "tool_call_id", wr_span_of(id));
    write_member(&w, "content", text.len ? text : WR_LIT("(nothing)"));
    wr_json_write_object_end(&w);
    lane->result.recalled_tokens += wr_meter_count(lane->setup.meter, text);
}

weir_status wr_lane_add_recalls(struct wr_lane *lane, struct wr_arena *arena,
                                const struct wr_lane_wants *wants)
{
    struct wr_lane_originals originals = {lane, arena};
    struct wr_buf lines;
    weir_status status = WEIR_OK;

    add_calls(lane, wants);
    wr_buf_init(&lines, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < wants->handles_count && !status; i++) {
        weir_span text;
        wr_buf_reset(&lines);
        if (wr_lane_original(&originals, wants->handles[i], &text))
            status = write_lines(&lines, arena, wants, wants->handles[i], text);
        add_result(lane, i, wr_buf_view(&lines));
    }
    wr_buf_release(&lines);
    lane->result.recalls += wants->handles_count;
    return status ? status : lane->body.status;
}
