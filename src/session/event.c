#include "session/event.h"

#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/write.h"

static const char *const kind_names[] = {
#define X(name, text) text,
    WR_EVENT_KIND_MAP(X)
#undef X
};

const char *wr_event_kind_name(enum wr_event_kind kind)
{
    return kind_names[kind];
}

/* ---- texts that are not UTF-8 ---- */

static void append_repaired(struct wr_buf *out, weir_span text)
{
    while (text.len) {
        size_t good = wr_utf8_check(text, false);
        wr_buf_append(out, wr_span_cut(text, 0, good));
        if (good == text.len)
            return;
        wr_buf_text(out, "\xEF\xBF\xBD");
        text = wr_span_cut(text, good + 1, text.len);
    }
}

static void append_hex(struct wr_buf *out, weir_span bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.len; i++) {
        wr_buf_byte(out, digits[(unsigned char)bytes.ptr[i] >> 4]);
        wr_buf_byte(out, digits[(unsigned char)bytes.ptr[i] & 15]);
    }
}

weir_status wr_event_set_text(struct wr_event *event, struct wr_arena *arena, weir_span text)
{
    struct wr_buf shown, hex;

    event->text = text.len ? text : WR_LIT("");
    if (wr_utf8_check(text, false) == text.len)
        return WEIR_OK;
    wr_buf_init(&shown, WR_JOURNAL_LINE_BYTES_MAX);
    wr_buf_init(&hex, WR_JOURNAL_LINE_BYTES_MAX);
    append_repaired(&shown, text);
    append_hex(&hex, text);
    weir_status status = wr_text_keep(arena, &shown, &event->text);
    weir_status hex_status = wr_text_keep(arena, &hex, &event->hex);
    return status ? status : hex_status;
}

/* ---- writing ---- */

static void write_span(struct wr_json_writer *w, const char *key, weir_span text)
{
    if (!text.len)
        return;
    wr_json_write_key(w, key);
    wr_json_write_text(w, text);
}

static void write_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    if (!number)
        return;
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)number);
}

static void write_calls(struct wr_json_writer *w, const struct wr_event *event)
{
    if (!event->calls_count)
        return;
    wr_json_write_key(w, "calls");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < event->calls_count; i++) {
        wr_json_write_object(w);
        write_span(w, "id", event->calls[i].id);
        write_span(w, "name", event->calls[i].name);
        write_span(w, "arguments", event->calls[i].arguments);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
}

/* Whether a reader gives the very bytes back that stand in the line. */
static bool is_plain_object(weir_span json)
{
    return json.len && json.ptr[0] == '{' && json.ptr[json.len - 1] == '}' &&
           !memchr(json.ptr, '\n', json.len) && !memchr(json.ptr, '\r', json.len);
}

static void write_items(struct wr_json_writer *w, const struct wr_event *event)
{
    if (!event->items_count)
        return;
    write_span(w, "api", wr_span_of(weir_dialect_name(event->dialect)));
    wr_json_write_key(w, "items");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < event->items_count; i++)
        if (is_plain_object(event->items[i]))
            wr_json_write_raw(w, event->items[i]);
        else
            wr_json_write_text(w, event->items[i]);
    wr_json_write_array_end(w);
}

static void write_compaction(struct wr_json_writer *w, const struct wr_event *event)
{
    write_number(w, event->kind == WR_EVENT_IMPORTANCE ? "of" : "before", event->of);
    write_number(w, "summary", event->summary);
    if (event->drops_words) {
        wr_json_write_key(w, "drops_words");
        wr_json_write_bool(w, true);
    }
    if (!event->kept_count)
        return;
    wr_json_write_key(w, "kept");
    wr_json_write_array(w);
    for (uint32_t i = 0; i < event->kept_count; i++)
        wr_json_write_i64(w, (int64_t)event->kept[i]);
    wr_json_write_array_end(w);
}

static const char *number_key(enum wr_event_kind kind)
{
    if (kind == WR_EVENT_IMPORTANCE)
        return "score";
    return kind == WR_EVENT_MODEL ? "window" : "omitted";
}

static void write_usage(struct wr_json_writer *w, const struct wr_event *event)
{
    write_number(w, "input", event->usage.input_tokens);
    write_number(w, "cache_read", event->usage.cache_read_tokens);
    write_number(w, "cache_write", event->usage.cache_write_tokens);
    write_number(w, "output", event->usage.output_tokens);
    write_number(w, "cost_micro_usd", event->cost_micro_usd);
    if (event->is_unpriced) {
        wr_json_write_key(w, "unpriced");
        wr_json_write_bool(w, true);
    }
    write_number(w, "turns", event->turns);
    write_number(w, "tool_calls", event->tool_calls);
}

void wr_event_write(struct wr_buf *out, const struct wr_event *event)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "seq");
    wr_json_write_i64(&w, (int64_t)event->seq);
    wr_json_write_key(&w, "at_ms");
    wr_json_write_i64(&w, event->at_ms);
    write_span(&w, "kind", wr_span_of(wr_event_kind_name(event->kind)));
    write_span(&w, "call_id", event->call_id);
    write_span(&w, "name", event->name);
    if (event->is_error) {
        wr_json_write_key(&w, "is_error");
        wr_json_write_bool(&w, true);
    }
    write_span(&w, "model", event->model);
    write_span(&w, "why", event->why);
    write_span(&w, "path", event->path);
    write_span(&w, "pieces", event->pieces);
    write_compaction(&w, event);
    write_number(&w, number_key(event->kind), event->number);
    write_usage(&w, event);
    write_span(&w, "text", event->text);
    write_span(&w, "hex", event->hex);
    write_calls(&w, event);
    write_items(&w, event);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

/* ---- reading ---- */

enum field {
    F_SEQ,
    F_AT,
    F_KIND,
    F_TEXT,
    F_HEX,
    F_MODEL,
    F_CALLS,
    F_API,
    F_ITEMS,
    F_CALL_ID,
    F_NAME,
    F_IS_ERROR,
    F_OF,
    F_BEFORE,
    F_SCORE,
    F_WINDOW,
    F_OMITTED,
    F_SUMMARY,
    F_DROPS,
    F_KEPT,
    F_PATH,
    F_WHY,
    F_INPUT,
    F_CACHE_READ,
    F_CACHE_WRITE,
    F_OUTPUT,
    F_COST,
    F_PIECES,
    F_UNPRICED,
    F_TURNS,
    F_TOOL_CALLS,
    F_COUNT
};

static const char *const field_names[F_COUNT] = {
    "seq",         "at_ms",  "kind",           "text",    "hex",      "model",
    "calls",       "api",    "items",          "call_id", "name",     "is_error",
    "of",          "before", "score",          "window",  "omitted",  "summary",
    "drops_words", "kept",   "path",           "why",     "input",    "cache_read",
    "cache_write", "output", "cost_micro_usd", "pieces",  "unpriced", "turns",
    "tool_calls"};

struct reader {
    struct wr_json doc;
    struct wr_arena *arena;
    wr_json_id fields[F_COUNT];
    struct weir_err *err;
    weir_status status;
};

static void wrong(struct reader *r, wr_json_id id, const char *what)
{
    if (!r->status)
        r->status = wr_fail(r->err, WEIR_INVALID, id == WR_JSON_NONE ? 0 : r->doc.nodes[id].start,
                            "this is no event of a session: %s", what);
}

static weir_span text_of(struct reader *r, wr_json_id id, const char *what)
{
    weir_span text = {"", 0};
    if (id == WR_JSON_NONE)
        return text;
    if (!wr_json_is(&r->doc, id, WR_JSON_STRING)) {
        wrong(r, id, what);
        return text;
    }
    text = wr_json_text(&r->doc, r->arena, id);
    if (!text.ptr) {
        if (!r->status)
            r->status = wr_arena_status(r->arena);
        return (weir_span){"", 0};
    }
    return text;
}

static weir_span text_at(struct reader *r, enum field field)
{
    return text_of(r, r->fields[field], field_names[field]);
}

static uint64_t number_at(struct reader *r, enum field field)
{
    int64_t number = 0;
    wr_json_id id = r->fields[field];
    if (id != WR_JSON_NONE && (!wr_json_i64(&r->doc, id, &number) || number < 0))
        wrong(r, id, field_names[field]);
    return number < 0 ? 0 : (uint64_t)number;
}

static bool flag_at(const struct reader *r, enum field field)
{
    return wr_json_is(&r->doc, r->fields[field], WR_JSON_TRUE);
}

static uint32_t array_at(struct reader *r, enum field field, uint32_t count_max)
{
    wr_json_id id = r->fields[field];
    if (id == WR_JSON_NONE)
        return 0;
    if (!wr_json_is(&r->doc, id, WR_JSON_ARRAY) || wr_json_count(&r->doc, id) > count_max) {
        wrong(r, id, field_names[field]);
        return 0;
    }
    return wr_json_count(&r->doc, id);
}

static void *room(struct reader *r, size_t count, size_t item_bytes)
{
    void *items = wr_arena_zalloc(r->arena, wr_arena_array_bytes(count, item_bytes));
    if (!items && !r->status)
        r->status = wr_arena_status(r->arena);
    return items;
}

static void read_calls(struct reader *r, struct wr_event *event)
{
    wr_json_id list = r->fields[F_CALLS];
    uint32_t count = array_at(r, F_CALLS, WR_JOURNAL_CALLS_MAX);
    struct weir_call *calls = count ? room(r, count, sizeof(*calls)) : NULL;
    uint32_t i = 0;

    if (!calls)
        return;
    for (wr_json_id call = wr_json_first(&r->doc, list); call != WR_JSON_NONE;
         call = wr_json_next(&r->doc, list, call), i++) {
        calls[i].id = text_of(r, wr_json_find(&r->doc, call, "id"), "a call's id");
        calls[i].name = text_of(r, wr_json_find(&r->doc, call, "name"), "a call's name");
        calls[i].arguments =
            text_of(r, wr_json_find(&r->doc, call, "arguments"), "a call's arguments");
    }
    event->calls = calls;
    event->calls_count = count;
}

static bool dialect_of(weir_span name, weir_dialect *dialect)
{
    for (int d = WEIR_DIALECT_CHAT; d <= WEIR_DIALECT_MESSAGES; d++)
        if (wr_span_is(name, weir_dialect_name((weir_dialect)d))) {
            *dialect = (weir_dialect)d;
            return true;
        }
    return false;
}

/* An item that was written as a string is JSON in it. */
static weir_span read_item(struct reader *r, wr_json_id item)
{
    struct wr_json doc;
    if (!wr_json_is(&r->doc, item, WR_JSON_STRING))
        return wr_json_raw(&r->doc, item);
    weir_span text = text_of(r, item, "an item");
    weir_status status = r->status ? WEIR_OK : wr_json_parse(&doc, r->arena, text, NULL, NULL);
    if (status == WEIR_NOMEM)
        r->status = status;
    else if (status)
        wrong(r, item, "an item is no JSON");
    return text;
}

static void read_items(struct reader *r, struct wr_event *event)
{
    wr_json_id list = r->fields[F_ITEMS];
    uint32_t count = array_at(r, F_ITEMS, WR_JOURNAL_ITEMS_MAX);
    weir_span *items = count ? room(r, count, sizeof(*items)) : NULL;
    uint32_t i = 0;

    if (!items)
        return;
    if (!dialect_of(text_at(r, F_API), &event->dialect))
        wrong(r, list, "items without `api`");
    for (wr_json_id item = wr_json_first(&r->doc, list); item != WR_JSON_NONE;
         item = wr_json_next(&r->doc, list, item), i++)
        items[i] = read_item(r, item);
    event->items = items;
    event->items_count = count;
}

static void read_kept(struct reader *r, struct wr_event *event)
{
    wr_json_id list = r->fields[F_KEPT];
    uint32_t count = array_at(r, F_KEPT, WR_JOURNAL_KEPT_MAX), i = 0;
    uint64_t *kept = count ? room(r, count, sizeof(*kept)) : NULL;

    if (!kept)
        return;
    for (wr_json_id id = wr_json_first(&r->doc, list); id != WR_JSON_NONE;
         id = wr_json_next(&r->doc, list, id), i++) {
        int64_t number;
        if (!wr_json_i64(&r->doc, id, &number) || number < 0)
            wrong(r, id, "kept");
        else
            kept[i] = (uint64_t)number;
    }
    event->kept = kept;
    event->kept_count = count;
}

static enum wr_event_kind kind_of(weir_span name)
{
    for (int k = 0; k < WR_EVENT_KINDS_COUNT; k++)
        if (wr_span_is(name, kind_names[k]))
            return (enum wr_event_kind)k;
    return WR_EVENT_OTHER;
}

static void read_numbers(struct reader *r, struct wr_event *event)
{
    event->of = number_at(r, r->fields[F_OF] == WR_JSON_NONE ? F_BEFORE : F_OF);
    event->number = number_at(r, F_OMITTED);
    if (event->kind == WR_EVENT_IMPORTANCE)
        event->number = number_at(r, F_SCORE);
    else if (event->kind == WR_EVENT_MODEL)
        event->number = number_at(r, F_WINDOW);
    event->summary = number_at(r, F_SUMMARY);
    event->usage.input_tokens = number_at(r, F_INPUT);
    event->usage.cache_read_tokens = number_at(r, F_CACHE_READ);
    event->usage.cache_write_tokens = number_at(r, F_CACHE_WRITE);
    event->usage.output_tokens = number_at(r, F_OUTPUT);
    event->cost_micro_usd = number_at(r, F_COST);
    event->turns = number_at(r, F_TURNS);
    event->tool_calls = number_at(r, F_TOOL_CALLS);
}

static void read_fields(struct reader *r, struct wr_event *event)
{
    event->seq = number_at(r, F_SEQ);
    if (!event->seq)
        wrong(r, 0, "it has no seq");
    if (r->fields[F_AT] != WR_JSON_NONE && !wr_json_i64(&r->doc, r->fields[F_AT], &event->at_ms))
        wrong(r, r->fields[F_AT], "at_ms");
    if (r->fields[F_KIND] == WR_JSON_NONE)
        wrong(r, 0, "it has no kind");
    event->kind = kind_of(text_at(r, F_KIND));
    if (event->kind == WR_EVENT_OTHER || r->status)
        return;
    event->text = text_at(r, F_TEXT);
    event->hex = text_at(r, F_HEX);
    event->model = text_at(r, F_MODEL);
    event->call_id = text_at(r, F_CALL_ID);
    event->name = text_at(r, F_NAME);
    event->path = text_at(r, F_PATH);
    event->why = text_at(r, F_WHY);
    event->pieces = text_at(r, F_PIECES);
    event->is_unpriced = flag_at(r, F_UNPRICED);
    event->is_error = flag_at(r, F_IS_ERROR);
    event->drops_words = flag_at(r, F_DROPS);
    read_numbers(r, event);
    read_calls(r, event);
    read_items(r, event);
    read_kept(r, event);
}

weir_status wr_event_read(struct wr_event *event, struct wr_arena *arena, weir_span line,
                          struct weir_err *err)
{
    struct reader r = {.arena = arena, .err = err};

    *event = (struct wr_event){.kind = WR_EVENT_OTHER};
    r.status = wr_json_parse(&r.doc, arena, line, NULL, err);
    if (r.status)
        return r.status;
    if (!wr_json_is(&r.doc, 0, WR_JSON_OBJECT))
        wrong(&r, 0, "it is not an object");
    else if (!wr_json_pick(&r.doc, 0, field_names, F_COUNT, r.fields))
        wrong(&r, 0, "a name is there twice");
    else
        read_fields(&r, event);
    return r.status;
}

/* ---- copying ---- */

static void copy_span(struct wr_arena *arena, weir_span *span)
{
    *span = span->len ? wr_arena_copy(arena, *span) : (weir_span){"", 0};
}

static void copy_calls(struct wr_event *to, struct wr_arena *arena, const struct wr_event *from)
{
    struct weir_call *calls = WR_ARENA_ARRAY(arena, struct weir_call, from->calls_count);

    for (uint32_t i = 0; calls && i < from->calls_count; i++) {
        calls[i] = from->calls[i];
        copy_span(arena, &calls[i].id);
        copy_span(arena, &calls[i].name);
        copy_span(arena, &calls[i].arguments);
    }
    to->calls = calls;
}

static void copy_items(struct wr_event *to, struct wr_arena *arena, const struct wr_event *from)
{
    weir_span *items = WR_ARENA_ARRAY(arena, weir_span, from->items_count);

    for (uint32_t i = 0; items && i < from->items_count; i++) {
        items[i] = from->items[i];
        copy_span(arena, &items[i]);
    }
    to->items = items;
}

weir_status wr_event_copy(struct wr_event *to, struct wr_arena *arena, const struct wr_event *from)
{
    weir_span *const spans[] = {&to->text, &to->hex,  &to->model, &to->call_id,
                                &to->name, &to->path, &to->why,   &to->pieces};

    *to = *from;
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
        copy_span(arena, spans[i]);
    if (from->calls_count)
        copy_calls(to, arena, from);
    if (from->items_count)
        copy_items(to, arena, from);
    if (from->kept_count) {
        uint64_t *kept = WR_ARENA_ARRAY(arena, uint64_t, from->kept_count);
        if (kept)
            memcpy(kept, from->kept, from->kept_count * sizeof(*kept));
        to->kept = kept;
    }
    return wr_arena_status(arena);
}
