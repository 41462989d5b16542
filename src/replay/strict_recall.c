#include "replay/strict_recall.h"

#include "base/span.h"
#include "json/write.h"
#include "weir/recall.h"

enum { LINES_BEFORE = 10, LINES_BEHIND = 30, ID_BYTES = 48 };

static struct weir_lookup lookup_of(weir_handle handle)
{
    return (struct weir_lookup){.tenant = WR_LIT("local"), .handle = handle};
}

/* ---- what is wanted ---- */

static bool holds(struct weir_store *store, weir_handle handle, weir_span text)
{
    struct weir_lookup lookup = lookup_of(handle);
    struct weir_artifact artifact;
    return !weir_store_get(store, &lookup, &artifact, NULL, NULL) &&
           wr_span_find(artifact.text, text, 0) != SIZE_MAX;
}

weir_status wr_strict_find_wants(struct wr_strict_wants *wants, struct wr_arena *arena,
                                 const struct wr_case_texts *required, weir_span words,
                                 const struct wr_strict_handles *handles, struct weir_store *store)
{
    *wants = (struct wr_strict_wants){.count = 0};
    wants->items = WR_ARENA_ARRAY(arena, struct wr_strict_want, required->count);
    if (!wants->items)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < required->count; i++) {
        weir_span text = required->items[i];
        uint32_t k = 0;
        if (wr_span_find(words, text, 0) != SIZE_MAX)
            continue;
        while (k < handles->count && !holds(store, handles->items[k], text))
            k++;
        if (k < handles->count)
            wants->items[wants->count++] = (struct wr_strict_want){handles->items[k], text};
        else if (!wants->lost.len)
            wants->lost = text;
    }
    return WEIR_OK;
}

/* ---- the lines ---- */

static uint64_t line_of(weir_span text, size_t at)
{
    uint64_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += text.ptr[i] == '\n';
    return line;
}

static weir_status recall(struct weir_store *store, const struct wr_strict_want *want,
                          struct weir_recalled *recalled)
{
    struct weir_lookup lookup = lookup_of(want->handle);
    struct weir_artifact artifact;
    weir_status status = weir_store_get(store, &lookup, &artifact, NULL, NULL);
    if (status)
        return status;
    uint64_t lines = line_of(artifact.text, artifact.text.len);
    uint64_t line = line_of(artifact.text, wr_span_find(artifact.text, want->text, 0));
    struct weir_lines range = {.first = line > LINES_BEFORE ? line - LINES_BEFORE : 1,
                               .last = line + LINES_BEHIND < lines ? line + LINES_BEHIND
                                                                   : WEIR_LINES_END};
    struct weir_recall_options options = {.lines = &range, .lines_count = 1};
    return weir_recall(store, &lookup, &options, recalled, NULL, NULL);
}

/* ---- the messages ---- */

static void write_member(struct wr_json_writer *w, const char *key, const char *text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, wr_span_of(text));
}

static void write_handle(struct wr_buf *out, weir_handle handle)
{
    char text[WEIR_HANDLE_TEXT_BYTES + 1];
    weir_handle_format(handle, text);
    wr_buf_printf(out, "{\"handle\":\"%s\"}", text);
}

static void write_call(struct wr_json_writer *w, const struct wr_strict_want *want, const char *id,
                       weir_dialect dialect)
{
    struct wr_buf arguments;
    wr_buf_init(&arguments, 1024);
    write_handle(&arguments, want->handle);
    wr_json_write_object(w);
    if (dialect == WEIR_DIALECT_CHAT) {
        write_member(w, "id", id);
        write_member(w, "type", "function");
        wr_json_write_key(w, "function");
        wr_json_write_object(w);
    } else {
        write_member(w, "type", dialect == WEIR_DIALECT_MESSAGES ? "tool_use" : "function_call");
        write_member(w, dialect == WEIR_DIALECT_MESSAGES ? "id" : "call_id", id);
    }
    write_member(w, "name", "weir_recall");
    wr_json_write_key(w, dialect == WEIR_DIALECT_MESSAGES ? "input" : "arguments");
    if (dialect == WEIR_DIALECT_MESSAGES)
        wr_json_write_raw(w, wr_buf_view(&arguments));
    else
        wr_json_write_text(w, wr_buf_view(&arguments));
    if (dialect == WEIR_DIALECT_CHAT)
        wr_json_write_object_end(w);
    wr_json_write_object_end(w);
    wr_buf_release(&arguments);
}

static void write_result(struct wr_json_writer *w, weir_span text, const char *id,
                         weir_dialect dialect)
{
    static const char *const ids[] = {"tool_call_id", "call_id", "tool_use_id"};
    wr_json_write_object(w);
    if (dialect == WEIR_DIALECT_CHAT)
        write_member(w, "role", "tool");
    else
        write_member(w, "type",
                     dialect == WEIR_DIALECT_MESSAGES ? "tool_result" : "function_call_output");
    write_member(w, ids[dialect], id);
    wr_json_write_key(w, dialect == WEIR_DIALECT_RESPONSES ? "output" : "content");
    wr_json_write_text(w, text);
    wr_json_write_object_end(w);
}

static void format_id(char id[ID_BYTES], uint64_t number, uint32_t i)
{
    (void)snprintf(id, ID_BYTES, "recall_%llu_%u", (unsigned long long)number, i);
}

/* Chat and Messages put all calls into one message of the model's. */
static void open_message(struct wr_json_writer *w, weir_dialect dialect, const char *role)
{
    if (dialect == WEIR_DIALECT_RESPONSES)
        return;
    wr_json_write_object(w);
    write_member(w, "role", role);
    wr_json_write_key(w, "content");
    if (dialect == WEIR_DIALECT_CHAT) {
        wr_json_write_null(w);
        wr_json_write_key(w, "tool_calls");
    }
    wr_json_write_array(w);
}

static void close_message(struct wr_json_writer *w, weir_dialect dialect)
{
    if (dialect == WEIR_DIALECT_RESPONSES)
        return;
    wr_json_write_array_end(w);
    wr_json_write_object_end(w);
}

static void write_calls(struct wr_json_writer *w, const struct wr_strict_wants *wants,
                        weir_dialect dialect, uint64_t number)
{
    char id[ID_BYTES];
    open_message(w, dialect, "assistant");
    for (uint32_t i = 0; i < wants->count; i++) {
        format_id(id, number, i);
        write_call(w, &wants->items[i], id, dialect);
    }
    close_message(w, dialect);
}

static weir_status write_results(struct wr_json_writer *w, const struct wr_strict_wants *wants,
                                 weir_dialect dialect, uint64_t number, struct weir_store *store)
{
    bool is_one_message = dialect == WEIR_DIALECT_MESSAGES;
    weir_status status = WEIR_OK;
    char id[ID_BYTES];

    if (is_one_message)
        open_message(w, dialect, "user");
    for (uint32_t i = 0; i < wants->count && !status; i++) {
        struct weir_recalled recalled = {.owned = NULL};
        format_id(id, number, i);
        status = recall(store, &wants->items[i], &recalled);
        if (!status)
            write_result(w, recalled.text, id, dialect);
        weir_recalled_release(&recalled);
    }
    if (is_one_message)
        close_message(w, dialect);
    return status;
}

weir_status wr_strict_write_recalls(struct wr_buf *out, size_t *call_bytes,
                                    const struct wr_strict_wants *wants, weir_dialect dialect,
                                    uint64_t number, struct weir_store *store)
{
    struct wr_json_writer w;
    size_t begin = out->len;

    /* A list that is not written from its start: the writer puts the commas between its items. */
    wr_json_write_init(&w, out);
    wr_json_write_array(&w);
    write_calls(&w, wants, dialect, number);
    *call_bytes = out->len - begin;
    weir_status status = write_results(&w, wants, dialect, number, store);
    wr_json_write_array_end(&w);
    if (status || out->status)
        return status ? status : out->status;
    out->bytes[begin] = ',';
    out->len--;
    return WEIR_OK;
}
