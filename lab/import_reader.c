/* What readers of formats share: entries of a log one after the other, values by key, content that
 * is a text or a list of blocks, whole documents and lines. A value that is wrong is as good as
 * absent, since logs of old versions lack much; what is left out is counted (import.h). */
#include "lab/import_reader.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- times ---- */

enum { MS_OF_SECOND = 1000, SECONDS_OF_DAY = 24 * 60 * 60 };

/* Numbers from here on are milliseconds: as seconds they would be the year 5138. */
#define FIRST_MS INT64_C(100000000000)

struct scan {
    weir_span rest;
    bool ok;
};

static void skip_bytes(struct scan *s, const char *any_of)
{
    s->ok = s->ok && s->rest.len && strchr(any_of, s->rest.ptr[0]) && s->rest.ptr[0];
    if (s->ok)
        s->rest = wr_span_cut(s->rest, 1, s->rest.len);
}

static int64_t digits(struct scan *s, size_t count, int64_t max)
{
    int64_t number = 0;
    for (size_t i = 0; i < count && s->ok; i++) {
        s->ok = i < s->rest.len && wr_is_digit(s->rest.ptr[i]);
        if (s->ok)
            number = number * 10 + (s->rest.ptr[i] - '0');
    }
    s->ok = s->ok && number <= max;
    if (s->ok)
        s->rest = wr_span_cut(s->rest, count, s->rest.len);
    return number;
}

/* Days since 1970-01-01 of a day in the Gregorian calendar: years begin in March, so that the day
 * that is not always there is the last. */
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    int64_t era = y / 400, of_era = y % 400;
    int64_t of_year = (153 * m + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* ".123456" as milliseconds. */
static int64_t fraction_ms(struct scan *s)
{
    int64_t ms = 0, unit = 100;
    if (!s->rest.len || (s->rest.ptr[0] != '.' && s->rest.ptr[0] != ','))
        return 0;
    s->rest = wr_span_cut(s->rest, 1, s->rest.len);
    while (s->rest.len && wr_is_digit(s->rest.ptr[0])) {
        ms += (s->rest.ptr[0] - '0') * unit;
        unit /= 10;
        s->rest = wr_span_cut(s->rest, 1, s->rest.len);
    }
    return ms;
}

/* "Z", "+02:00", "-0530" or nothing, as seconds ahead of UTC. */
static int64_t zone_s(struct scan *s)
{
    if (!s->rest.len || s->rest.ptr[0] == 'Z' || s->rest.ptr[0] == 'z')
        return 0;
    int64_t sign = s->rest.ptr[0] == '-' ? -1 : 1;
    skip_bytes(s, "+-");
    int64_t hours = digits(s, 2, 23);
    if (s->rest.len && s->rest.ptr[0] == ':')
        skip_bytes(s, ":");
    return sign * (hours * 3600 + digits(s, 2, 59) * 60);
}

static int64_t iso_ms(weir_span text)
{
    struct scan s = {text, true};
    int64_t year = digits(&s, 4, 9999);
    skip_bytes(&s, "-");
    int64_t month = digits(&s, 2, 12);
    skip_bytes(&s, "-");
    int64_t day = digits(&s, 2, 31);
    skip_bytes(&s, "T t");
    int64_t hour = digits(&s, 2, 23);
    skip_bytes(&s, ":");
    int64_t minute = digits(&s, 2, 59);
    skip_bytes(&s, ":");
    int64_t second = digits(&s, 2, 60);
    if (!s.ok || !month || !day)
        return WR_SESSION_NO_TIME;
    int64_t ms = fraction_ms(&s), ahead_s = zone_s(&s);
    if (!s.ok)
        return WR_SESSION_NO_TIME;
    int64_t seconds = days_since_1970(year, month, day) * SECONDS_OF_DAY + hour * 3600 +
                      minute * 60 + second - ahead_s;
    return seconds * MS_OF_SECOND + ms;
}

/* A number with at most 15 digits before the point, and what follows it. */
static int64_t number_ms(weir_span spelling)
{
    struct scan s = {spelling, true};
    size_t count = 0;
    while (count < spelling.len && wr_is_digit(spelling.ptr[count]))
        count++;
    if (!count || count > 15)
        return WR_SESSION_NO_TIME;
    int64_t whole = digits(&s, count, INT64_MAX);
    int64_t ms = fraction_ms(&s);
    if (s.rest.len || !whole)
        return WR_SESSION_NO_TIME;
    return whole < FIRST_MS ? whole * MS_OF_SECOND + ms : whole;
}

int64_t wr_node_time(wr_node node)
{
    if (wr_node_is(node, WR_JSON_STRING))
        return iso_ms(wr_node_inner(node));
    if (wr_node_is(node, WR_JSON_NUMBER))
        return number_ms(wr_json_raw(node.doc, node.id));
    return WR_SESSION_NO_TIME;
}

/* ---- import reader ---- */

/* ---- values ---- */

weir_span wr_node_text(struct wr_importer *in, wr_node node)
{
    if (!wr_node_is(node, WR_JSON_STRING))
        return WR_LIT("");
    weir_span text = wr_json_text(node.doc, &in->scratch, node.id);
    if (text.ptr)
        return text;
    if (!in->status)
        in->status = in->scratch.status;
    return WR_LIT("");
}

weir_span wr_node_name(struct wr_importer *in, wr_node node)
{
    if (wr_node_is(node, WR_JSON_NUMBER))
        return wr_json_raw(node.doc, node.id);
    return wr_node_text(in, node);
}

/* ---- content ---- */

/* Texts of content as they are found: one alone is borrowed, several are joined. */
struct joining {
    struct wr_draft *draft;
    struct wr_buf out;
    weir_span only;
    uint32_t count;
};

static void join(struct joining *j, weir_span text)
{
    if (j->count == 1)
        wr_buf_append(&j->out, j->only);
    if (j->count)
        wr_buf_text(&j->out, "\\n");
    if (j->count)
        wr_buf_append(&j->out, text);
    j->only = text;
    j->count++;
}

static weir_span joined(struct joining *j)
{
    if (j->count > 1)
        return wr_draft_take(j->draft, &j->out);
    wr_buf_release(&j->out);
    return j->count ? j->only : WR_LIT("");
}

static bool is_media(weir_span type)
{
    return wr_span_find(type, WR_LIT("image"), 0) != SIZE_MAX || wr_span_is(type, "document") ||
           wr_span_is(type, "file") || wr_span_find(type, WR_LIT("audio"), 0) != SIZE_MAX;
}

/* A block that has no text: a line in its place, or its JSON. */
static weir_span block_line(struct wr_importer *in, struct wr_draft *draft, wr_node block)
{
    weir_span type = wr_node_text(in, wr_node_get(block, "type"));
    weir_span raw = wr_json_raw(block.doc, block.id);
    struct wr_buf line;
    wr_buf_init(&line, WR_JSON_BODY_BYTES_MAX);
    if (is_media(type)) {
        wr_import_note(in, WR_IMPORT_MEDIA_OMITTED);
        wr_buf_text(&line, "[");
        wr_buf_append(&line, type);
        wr_buf_printf(&line, " omitted, %zu bytes]", raw.len);
        return wr_draft_take_escaped(draft, &line);
    }
    if (wr_span_is(type, "tool_reference")) {
        wr_buf_text(&line, "[tool_reference ");
        wr_buf_append(&line, wr_node_text(in, wr_node_get(block, "tool_name")));
        wr_buf_text(&line, "]");
        return wr_draft_take_escaped(draft, &line);
    }
    wr_buf_release(&line);
    return wr_draft_escape(draft, raw);
}

/* One value of content. True where it holds a list to be gone into. */
static bool join_value(struct wr_importer *in, struct joining *j, wr_node value, const char *skip,
                       wr_node *inner)
{
    wr_node text = wr_node_get(value, "text");
    if (skip && wr_node_text_is(wr_node_get(value, "type"), skip))
        return false;
    if (wr_node_is(value, WR_JSON_STRING)) {
        join(j, wr_node_inner(value));
    } else if (wr_node_is(text, WR_JSON_STRING)) {
        join(j, wr_node_inner(text));
    } else if (is_media(wr_node_text(in, wr_node_get(value, "type")))) {
        join(j, block_line(in, j->draft, value));
    } else {
        *inner = wr_node_get(value, "content");
        if (wr_node_is(*inner, WR_JSON_STRING))
            join(j, wr_node_inner(*inner));
        else if (wr_node_is(*inner, WR_JSON_ARRAY))
            return true;
        else
            join(j, block_line(in, j->draft, value));
    }
    return false;
}

weir_span wr_import_content(struct wr_importer *in, struct wr_draft *draft, wr_node content,
                            const char *skip)
{
    struct joining j = {.draft = draft};
    struct {
        wr_node list, at;
    } stack[WR_IMPORT_CONTENT_DEPTH_MAX];
    size_t depth = 0;
    wr_node inner;

    if (content.id == WR_JSON_NONE || wr_node_is(content, WR_JSON_NULL))
        return WR_LIT("");
    wr_buf_init(&j.out, WR_JSON_BODY_BYTES_MAX);
    if (wr_node_is(content, WR_JSON_ARRAY)) {
        stack[depth].list = content;
        stack[depth++].at = wr_node_first(content);
    } else if (join_value(in, &j, content, skip, &inner)) {
        stack[depth].list = inner;
        stack[depth++].at = wr_node_first(inner);
    }
    while (depth) {
        wr_node value = stack[depth - 1].at;
        if (value.id == WR_JSON_NONE) {
            depth--;
            continue;
        }
        stack[depth - 1].at = wr_node_next(stack[depth - 1].list, value);
        if (!join_value(in, &j, value, skip, &inner))
            continue;
        if (depth < WR_IMPORT_CONTENT_DEPTH_MAX) {
            stack[depth].list = inner;
            stack[depth++].at = wr_node_first(inner);
        } else {
            join(&j, wr_draft_escape(draft, wr_json_raw(inner.doc, inner.id)));
        }
    }
    return joined(&j);
}

weir_span wr_import_arguments(struct wr_draft *draft, wr_node arguments)
{
    if (wr_node_is(arguments, WR_JSON_STRING))
        return wr_node_inner(arguments);
    if (arguments.id == WR_JSON_NONE || wr_node_is(arguments, WR_JSON_NULL))
        return WR_LIT("{}");
    return wr_draft_escape(draft, wr_json_raw(arguments.doc, arguments.id));
}

weir_span wr_import_command(struct wr_draft *draft, weir_span command)
{
    struct wr_buf json;
    wr_buf_init(&json, WR_ARENA_BYTES_MAX);
    wr_buf_text(&json, "{\"command\":\"");
    wr_json_escape(&json, command);
    wr_buf_text(&json, "\"}");
    return wr_draft_take_escaped(draft, &json);
}

/* ---- the log ---- */

void wr_import_begin_draft(struct wr_importer *in, struct wr_draft *draft)
{
    wr_draft_init(draft, &in->scratch, in->import->notes);
}

static weir_status add_session(struct wr_importer *in, const struct wr_session *session)
{
    struct wr_import *out = in->import;
    if (!WR_ARENA_ROOM(in->arena, out->sessions, out->sessions_count, in->sessions_cap, 1))
        return wr_arena_status(in->arena);
    out->sessions[out->sessions_count++] = *session;
    return WEIR_OK;
}

void wr_import_end_draft(struct wr_importer *in, struct wr_draft *draft)
{
    struct wr_session session;
    weir_status status = in->status ? in->status : wr_draft_finish(draft, in->arena, &session);
    if (!status) {
        session.agent = wr_span_of(in->format->agent);
        session.api = in->format->api;
        status = add_session(in, &session);
    }
    if (status && status != WEIR_NOTFOUND && !in->status)
        in->status = status;
}

static bool is_foreign(struct wr_importer *in, wr_node line)
{
    const struct wr_import_format *owner = wr_import_format_of(line);
    return owner && owner != in->format;
}

static bool next_line(struct wr_importer *in, wr_node *entry)
{
    weir_span line;
    while (!in->status && wr_span_line(&in->rest, &line)) {
        in->line_number++;
        line = wr_span_trim(line);
        if (!line.len)
            continue;
        if (line.len > WR_IMPORT_LINE_BYTES_MAX) {
            wr_import_note(in, WR_IMPORT_LINE_LONG);
            continue;
        }
        wr_arena_reset(&in->line);
        weir_status status = wr_json_parse(&in->doc, &in->line, line, NULL, NULL);
        if (status == WEIR_NOMEM)
            in->status = status;
        if (status || !wr_json_is(&in->doc, 0, WR_JSON_OBJECT)) {
            wr_import_note(in, status == WEIR_LIMIT ? WR_IMPORT_LINE_LONG : WR_IMPORT_LINE_BROKEN);
            continue;
        }
        *entry = wr_import_root(in);
        if (!is_foreign(in, *entry))
            return true;
        wr_import_note(in, WR_IMPORT_LINE_FOREIGN);
    }
    return false;
}

bool wr_import_next(struct wr_importer *in, wr_node *entry)
{
    if (in->is_lines)
        return next_line(in, entry);
    *entry = in->element;
    if (entry->id != WR_JSON_NONE)
        in->element = wr_node_next(in->list, *entry);
    return entry->id != WR_JSON_NONE && !in->status;
}

void wr_import_walk_list(struct wr_importer *in, wr_node list)
{
    in->list = list;
    in->element = wr_node_first(list);
}
