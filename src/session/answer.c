#include "session/answer.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"

struct finder {
    struct wr_arena *arena;
    struct weir_err *err;
    struct wr_json doc; /* the item at hand */
    struct wr_buf text;
    struct weir_call *calls;
    size_t calls_count;
    weir_status status;
};

static void fail(struct finder *f, weir_status status, const char *what)
{
    if (!f->status)
        f->status = wr_fail(f->err, status, 0, "%s", what);
}

static weir_span text_of(struct finder *f, wr_json_id id)
{
    weir_span none = {"", 0};
    if (!wr_json_is(&f->doc, id, WR_JSON_STRING))
        return none;
    weir_span text = wr_json_text(&f->doc, f->arena, id);
    if (text.ptr)
        return text;
    fail(f, wr_arena_status(f->arena), "no memory to read an answer");
    return none;
}

static void add_text(struct finder *f, wr_json_id id)
{
    weir_span text = text_of(f, id);
    if (text.len && f->text.len)
        wr_buf_byte(&f->text, '\n');
    wr_buf_append(&f->text, text);
}

static void add_call(struct finder *f, wr_json_id id, wr_json_id name, weir_span arguments)
{
    if (f->calls_count == WR_JOURNAL_CALLS_MAX) {
        fail(f, WEIR_LIMIT, "an answer has more calls than a session takes");
        return;
    }
    struct weir_call call = {text_of(f, id), text_of(f, name), arguments};
    if (!call.id.len || !call.name.len)
        fail(f, WEIR_INVALID, "a call of the answer has no id or no name");
    f->calls[f->calls_count++] = call;
}

static bool is_type(const struct finder *f, wr_json_id object, const char *type)
{
    return wr_json_text_is(&f->doc, wr_json_find(&f->doc, object, "type"), type);
}

/* ---- one item ---- */

static void find_block(struct finder *f)
{
    wr_json_id input = wr_json_find(&f->doc, 0, "input");
    if (is_type(f, 0, "text"))
        add_text(f, wr_json_find(&f->doc, 0, "text"));
    if (is_type(f, 0, "tool_use"))
        add_call(f, wr_json_find(&f->doc, 0, "id"), wr_json_find(&f->doc, 0, "name"),
                 input == WR_JSON_NONE ? WR_LIT("{}") : wr_json_raw(&f->doc, input));
}

static void find_output(struct finder *f)
{
    wr_json_id content = wr_json_find(&f->doc, 0, "content");
    if (is_type(f, 0, "message"))
        for (wr_json_id part = wr_json_first(&f->doc, content); part != WR_JSON_NONE;
             part = wr_json_next(&f->doc, content, part))
            if (is_type(f, part, "output_text"))
                add_text(f, wr_json_find(&f->doc, part, "text"));
    if (is_type(f, 0, "function_call"))
        add_call(f, wr_json_find(&f->doc, 0, "call_id"), wr_json_find(&f->doc, 0, "name"),
                 text_of(f, wr_json_find(&f->doc, 0, "arguments")));
}

static void find_message(struct finder *f)
{
    wr_json_id calls = wr_json_find(&f->doc, 0, "tool_calls");
    add_text(f, wr_json_find(&f->doc, 0, "content"));
    if (!wr_json_is(&f->doc, calls, WR_JSON_ARRAY))
        return;
    for (wr_json_id call = wr_json_first(&f->doc, calls); call != WR_JSON_NONE;
         call = wr_json_next(&f->doc, calls, call)) {
        wr_json_id function = wr_json_find(&f->doc, call, "function");
        add_call(f, wr_json_find(&f->doc, call, "id"), wr_json_find(&f->doc, function, "name"),
                 text_of(f, wr_json_find(&f->doc, function, "arguments")));
    }
}

static void find_in(struct finder *f, weir_dialect dialect, weir_span item)
{
    weir_status status = wr_json_parse(&f->doc, f->arena, item, NULL, f->err);
    if (status && !f->status)
        f->status = status;
    if (f->status)
        return;
    if (!wr_json_is(&f->doc, 0, WR_JSON_OBJECT))
        fail(f, WEIR_INVALID, "an item of the answer is no object");
    else if (dialect == WEIR_DIALECT_MESSAGES)
        find_block(f);
    else if (dialect == WEIR_DIALECT_RESPONSES)
        find_output(f);
    else
        find_message(f);
}

static bool same_calls(const struct weir_answer *answer, const struct finder *f)
{
    if (answer->calls_count != f->calls_count)
        return false;
    for (size_t i = 0; i < f->calls_count; i++)
        if (!wr_span_eq(answer->calls[i].id, f->calls[i].id) ||
            !wr_span_eq(answer->calls[i].name, f->calls[i].name))
            return false;
    return true;
}

weir_status wr_answer_complete(struct weir_answer *answer, struct wr_arena *arena,
                               struct weir_err *err)
{
    struct finder f = {.arena = arena, .err = err};

    if (answer->items_count > WR_JOURNAL_ITEMS_MAX || answer->calls_count > WR_JOURNAL_CALLS_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "an answer has at most %d items and %d calls",
                       WR_JOURNAL_ITEMS_MAX, WR_JOURNAL_CALLS_MAX);
    if (!answer->items_count)
        return WEIR_OK;
    wr_buf_init(&f.text, WR_JOURNAL_LINE_BYTES_MAX);
    f.calls = WR_ARENA_ARRAY(arena, struct weir_call, WR_JOURNAL_CALLS_MAX);
    if (!f.calls)
        f.status = wr_arena_status(arena);
    for (size_t i = 0; i < answer->items_count && !f.status; i++)
        find_in(&f, answer->dialect, answer->items[i]);
    if (!f.status && answer->calls_count && !same_calls(answer, &f))
        fail(&f, WEIR_INVALID, "the calls of the answer are not those of its items");
    if (!f.status)
        f.status = wr_buf_status(&f.text);
    if (!f.status) {
        answer->calls = f.calls;
        answer->calls_count = f.calls_count;
        if (!answer->text.len)
            answer->text = wr_arena_copy(arena, wr_buf_view(&f.text));
        f.status = wr_arena_status(arena);
    }
    wr_buf_release(&f.text);
    return f.status;
}

/* ---- a whole body ---- */

static uint64_t number_at(const struct wr_json *doc, wr_json_id object, const char *key)
{
    int64_t number;
    wr_json_id id = wr_json_find(doc, object, key);
    return id != WR_JSON_NONE && wr_json_i64(doc, id, &number) && number > 0 ? (uint64_t)number : 0;
}

static void read_usage(const struct wr_json *doc, weir_dialect dialect,
                       struct weir_session_usage *usage, bool *has_usage)
{
    wr_json_id id = wr_json_find(doc, 0, "usage");
    bool is_chat = dialect == WEIR_DIALECT_CHAT;

    *usage = (struct weir_session_usage){0};
    *has_usage = wr_json_is(doc, id, WR_JSON_OBJECT);
    usage->input_tokens = number_at(doc, id, is_chat ? "prompt_tokens" : "input_tokens");
    usage->output_tokens = number_at(doc, id, is_chat ? "completion_tokens" : "output_tokens");
    if (dialect == WEIR_DIALECT_MESSAGES) {
        usage->cache_read_tokens = number_at(doc, id, "cache_read_input_tokens");
        usage->cache_write_tokens = number_at(doc, id, "cache_creation_input_tokens");
        return;
    }
    /* Totals here: what was cached is part of the input. */
    wr_json_id details =
        wr_json_find(doc, id, is_chat ? "prompt_tokens_details" : "input_tokens_details");
    usage->cache_read_tokens = number_at(doc, details, "cached_tokens");
    usage->cache_write_tokens = number_at(doc, details, "cache_write_tokens");
    uint64_t cached = usage->cache_read_tokens + usage->cache_write_tokens;
    usage->input_tokens = usage->input_tokens > cached ? usage->input_tokens - cached : 0;
}

static weir_status list_items(struct weir_answer *answer, struct wr_arena *arena,
                              const struct wr_json *doc, wr_json_id list)
{
    uint32_t count = wr_json_count(doc, list), i = 0;
    weir_span *items = WR_ARENA_ARRAY(arena, weir_span, count);
    if (!items)
        return wr_arena_status(arena);
    for (wr_json_id item = wr_json_first(doc, list); item != WR_JSON_NONE;
         item = wr_json_next(doc, list, item))
        items[i++] = wr_json_raw(doc, item);
    answer->items = items;
    answer->items_count = count;
    return WEIR_OK;
}

static weir_status take_message(struct weir_answer *answer, struct wr_arena *arena,
                                const struct wr_json *doc, wr_json_id message)
{
    weir_span *item = WR_ARENA_ARRAY(arena, weir_span, 1);
    if (!item)
        return wr_arena_status(arena);
    *item = wr_json_raw(doc, message);
    answer->items = item;
    answer->items_count = 1;
    return WEIR_OK;
}

weir_status wr_answer_read(struct weir_answer *answer, struct wr_arena *arena, weir_dialect dialect,
                           weir_span body, struct weir_session_usage *usage, bool *has_usage,
                           struct weir_err *err)
{
    struct wr_json *doc = WR_ARENA_ARRAY(arena, struct wr_json, 1);

    *answer = (struct weir_answer){.dialect = dialect};
    if (!doc)
        return wr_arena_status(arena);
    weir_status status = wr_json_parse(doc, arena, body, NULL, err);
    if (status)
        return status;
    read_usage(doc, dialect, usage, has_usage);
    wr_json_id choice = wr_json_first(doc, wr_json_find(doc, 0, "choices"));
    wr_json_id message = wr_json_find(doc, choice, "message");
    wr_json_id list = wr_json_find(doc, 0, dialect == WEIR_DIALECT_MESSAGES ? "content" : "output");
    if (dialect == WEIR_DIALECT_CHAT && wr_json_is(doc, message, WR_JSON_OBJECT))
        status = take_message(answer, arena, doc, message);
    else if (dialect != WEIR_DIALECT_CHAT && wr_json_is(doc, list, WR_JSON_ARRAY))
        status = list_items(answer, arena, doc, list);
    else
        return wr_fail(err, WEIR_INVALID, 0, "this is no answer of the %s API",
                       weir_dialect_name(dialect));
    return status ? status : wr_answer_complete(answer, arena, err);
}
