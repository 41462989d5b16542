/* Events as lines of JSON, and back.
 *
 * One table lists the members of a line in the order they stand in it; writing, reading and copying
 * walk it. (They were three lists once, and a member that was new had to be put into each.) A
 * member that is zero, empty or false is left out, so a line is as short as what it tells. Three
 * names share a place in struct wr_event because no kind has two of them: score, window, omitted.
 *
 * A text that is no UTF-8 cannot stand in JSON: it is shown with U+FFFD for what is wrong, and
 * `hex` has its bytes. */
#include "session/event.h"

#include <stddef.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"

static const char *const kind_names[] = WR_NAMES_OF(WR_EVENT_KIND_MAP);

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

/* ---- the members of a line ---- */

enum shape { SEQ, AT_MS, KIND, TEXT, NUMBER, FLAG, KEPT, CALLS, API, ITEMS };

#define AT(field)  offsetof(struct wr_event, field)
#define ONLY(kind) (1U << WR_EVENT_##kind)
#define ANY        UINT32_MAX

static const struct member {
    const char *name;
    enum shape shape;
    size_t at;
    uint32_t kinds; /* that have it: a bit each */
} members[] = {
    {"seq", SEQ, 0, ANY},
    {"at_ms", AT_MS, 0, ANY},
    {"kind", KIND, 0, ANY},
    {"call_id", TEXT, AT(call_id), ANY},
    {"name", TEXT, AT(name), ANY},
    {"is_error", FLAG, AT(is_error), ANY},
    {"model", TEXT, AT(model), ANY},
    {"why", TEXT, AT(why), ANY},
    {"path", TEXT, AT(path), ANY},
    {"pieces", TEXT, AT(pieces), ANY},
    {"of", NUMBER, AT(of), ONLY(IMPORTANCE)},
    {"before", NUMBER, AT(of), ~ONLY(IMPORTANCE)},
    {"summary", NUMBER, AT(summary), ANY},
    {"drops_words", FLAG, AT(drops_words), ANY},
    {"kept", KEPT, 0, ANY},
    {"score", NUMBER, AT(number), ONLY(IMPORTANCE)},
    {"window", NUMBER, AT(number), ONLY(MODEL)},
    {"omitted", NUMBER, AT(number), ~(ONLY(IMPORTANCE) | ONLY(MODEL))},
    {"input", NUMBER, AT(usage.input_tokens), ANY},
    {"cache_read", NUMBER, AT(usage.cache_read_tokens), ANY},
    {"cache_write", NUMBER, AT(usage.cache_write_tokens), ANY},
    {"output", NUMBER, AT(usage.output_tokens), ANY},
    {"cost_micro_usd", NUMBER, AT(cost_micro_usd), ANY},
    {"unpriced", FLAG, AT(is_unpriced), ANY},
    {"turns", NUMBER, AT(turns), ANY},
    {"tool_calls", NUMBER, AT(tool_calls), ANY},
    {"system_tokens", NUMBER, AT(sent.system_tokens), ANY},
    {"tools_tokens", NUMBER, AT(sent.tools_tokens), ANY},
    {"user_tokens", NUMBER, AT(sent.user_tokens), ANY},
    {"assistant_tokens", NUMBER, AT(sent.assistant_tokens), ANY},
    {"calls_tokens", NUMBER, AT(sent.calls_tokens), ANY},
    {"results_tokens", NUMBER, AT(sent.results_tokens), ANY},
    {"usable_tokens", NUMBER, AT(sent.usable_tokens), ANY},
    {"text", TEXT, AT(text), ANY},
    {"hex", TEXT, AT(hex), ANY},
    {"images", TEXT, AT(images), ANY},
    {"calls", CALLS, 0, ANY},
    {"api", API, 0, ANY},
    {"items", ITEMS, 0, ANY},
};

enum { MEMBERS_COUNT = WR_COUNT_OF(members) };
_Static_assert(WR_EVENT_KINDS_COUNT <= 32, "a bit a kind");

/* ---- writing ---- */

static void write_span(struct wr_json_writer *w, const char *key, weir_span text)
{
    if (text.len)
        wr_json_member_text(w, key, text);
}

static void write_calls(struct wr_json_writer *w, const struct wr_event *event)
{
    if (!event->calls_count)
        return;
    wr_json_member_array(w, "calls");
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
    wr_json_member_array(w, "items");
    for (uint32_t i = 0; i < event->items_count; i++)
        if (is_plain_object(event->items[i]))
            wr_json_write_raw(w, event->items[i]);
        else
            wr_json_write_text(w, event->items[i]);
    wr_json_write_array_end(w);
}

static void write_kept(struct wr_json_writer *w, const struct wr_event *event)
{
    if (!event->kept_count)
        return;
    wr_json_member_array(w, "kept");
    for (uint32_t i = 0; i < event->kept_count; i++)
        wr_json_write_i64(w, (int64_t)event->kept[i]);
    wr_json_write_array_end(w);
}

static void write_member(struct wr_json_writer *w, const struct wr_event *event,
                         const struct member *m)
{
    const char *at = (const char *)event + m->at;

    switch (m->shape) {
    case SEQ:
        wr_json_member_number(w, m->name, event->seq);
        break;
    case AT_MS:
        wr_json_member_i64(w, m->name, event->at_ms);
        break;
    case KIND:
        write_span(w, m->name, wr_span_of(wr_event_kind_name(event->kind)));
        break;
    case TEXT:
        write_span(w, m->name, *(const weir_span *)(const void *)at);
        break;
    case NUMBER:
        if (*(const uint64_t *)(const void *)at)
            wr_json_member_number(w, m->name, *(const uint64_t *)(const void *)at);
        break;
    case FLAG:
        if (*(const bool *)at)
            wr_json_member_bool(w, m->name, true);
        break;
    case KEPT:
        write_kept(w, event);
        break;
    case CALLS:
        write_calls(w, event);
        break;
    case API:
        if (event->items_count)
            write_span(w, m->name, wr_span_of(weir_dialect_name(event->dialect)));
        break;
    case ITEMS:
        write_items(w, event);
        break;
    }
}

void wr_event_write(struct wr_buf *out, const struct wr_event *event)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    for (size_t i = 0; i < MEMBERS_COUNT; i++)
        if (members[i].kinds >> event->kind & 1)
            write_member(&w, event, &members[i]);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

/* ---- reading ---- */

struct reader {
    struct wr_json doc;
    struct wr_arena *arena;
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

static uint64_t number_of(struct reader *r, wr_json_id id, const char *what)
{
    int64_t number = 0;
    if (!wr_json_i64(&r->doc, id, &number) || number < 0) {
        wrong(r, id, what);
        return 0;
    }
    return (uint64_t)number;
}

static uint32_t length_of(struct reader *r, wr_json_id list, uint32_t count_max, const char *what)
{
    if (wr_json_is(&r->doc, list, WR_JSON_ARRAY) && wr_json_count(&r->doc, list) <= count_max)
        return wr_json_count(&r->doc, list);
    wrong(r, list, what);
    return 0;
}

static void *room(struct reader *r, size_t count, size_t item_bytes)
{
    void *items = wr_arena_zalloc(r->arena, wr_arena_array_bytes(count, item_bytes));
    if (!items && !r->status)
        r->status = wr_arena_status(r->arena);
    return items;
}

static void read_calls(struct reader *r, struct wr_event *event, wr_json_id list)
{
    uint32_t count = length_of(r, list, WR_JOURNAL_CALLS_MAX, "calls");
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

static void read_items(struct reader *r, struct wr_event *event, wr_json_id list)
{
    uint32_t count = length_of(r, list, WR_JOURNAL_ITEMS_MAX, "items");
    weir_span *items = count ? room(r, count, sizeof(*items)) : NULL;
    uint32_t i = 0;

    if (!items)
        return;
    const struct wr_api *api = wr_api_named(text_of(r, wr_json_find(&r->doc, 0, "api"), "api"));
    if (api)
        event->dialect = api->dialect;
    else
        wrong(r, list, "items without `api`");
    for (wr_json_id item = wr_json_first(&r->doc, list); item != WR_JSON_NONE;
         item = wr_json_next(&r->doc, list, item), i++)
        items[i] = read_item(r, item);
    event->items = items;
    event->items_count = count;
}

static void read_kept(struct reader *r, struct wr_event *event, wr_json_id list)
{
    uint32_t count = length_of(r, list, WR_JOURNAL_KEPT_MAX, "kept"), i = 0;
    uint64_t *kept = count ? room(r, count, sizeof(*kept)) : NULL;

    if (!kept)
        return;
    for (wr_json_id id = wr_json_first(&r->doc, list); id != WR_JSON_NONE;
         id = wr_json_next(&r->doc, list, id), i++)
        kept[i] = number_of(r, id, "kept");
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

static void read_member(struct reader *r, struct wr_event *event, const struct member *m,
                        wr_json_id id)
{
    char *at = (char *)event + m->at;

    switch (m->shape) {
    case SEQ:
        event->seq = number_of(r, id, m->name);
        break;
    case AT_MS:
        if (!wr_json_i64(&r->doc, id, &event->at_ms))
            wrong(r, id, m->name);
        break;
    case KIND:
        event->kind = kind_of(text_of(r, id, m->name));
        break;
    case TEXT:
        *(weir_span *)(void *)at = text_of(r, id, m->name);
        break;
    case NUMBER:
        *(uint64_t *)(void *)at = number_of(r, id, m->name);
        break;
    case FLAG:
        *(bool *)at = wr_json_is(&r->doc, id, WR_JSON_TRUE);
        break;
    case KEPT:
        read_kept(r, event, id);
        break;
    case CALLS:
        read_calls(r, event, id);
        break;
    case API: /* with the items */
        break;
    case ITEMS:
        read_items(r, event, id);
        break;
    }
}

/* An event of an unknown kind gives its number and time, nothing else. */
static void read_members(struct reader *r, struct wr_event *event, const wr_json_id *found)
{
    for (size_t i = 0; i < MEMBERS_COUNT && !r->status; i++) {
        const struct member *m = &members[i];
        if (m->shape > KIND && event->kind == WR_EVENT_OTHER)
            return;
        if (m->shape == TEXT)
            *(weir_span *)(void *)((char *)event + m->at) = (weir_span){"", 0};
        if (found[i] != WR_JSON_NONE && m->kinds >> event->kind & 1)
            read_member(r, event, m, found[i]);
        if (m->shape == SEQ && !event->seq)
            wrong(r, 0, "it has no seq");
        if (m->shape == KIND && found[i] == WR_JSON_NONE)
            wrong(r, 0, "it has no kind");
    }
}

weir_status wr_event_read(struct wr_event *event, struct wr_arena *arena, weir_span line,
                          struct weir_err *err)
{
    struct reader r = {.arena = arena, .err = err};
    const char *names[MEMBERS_COUNT];
    wr_json_id found[MEMBERS_COUNT];

    for (size_t i = 0; i < MEMBERS_COUNT; i++)
        names[i] = members[i].name;
    *event = (struct wr_event){.kind = WR_EVENT_OTHER};
    r.status = wr_json_parse(&r.doc, arena, line, NULL, err);
    if (r.status)
        return r.status;
    if (!wr_json_is(&r.doc, 0, WR_JSON_OBJECT))
        wrong(&r, 0, "it is not an object");
    else if (!wr_json_pick(&r.doc, 0, names, MEMBERS_COUNT, found))
        wrong(&r, 0, "a name is there twice");
    else
        read_members(&r, event, found);
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
    *to = *from;
    for (size_t i = 0; i < MEMBERS_COUNT; i++)
        if (members[i].shape == TEXT)
            copy_span(arena, (weir_span *)(void *)((char *)to + members[i].at));
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
