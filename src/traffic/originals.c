/* What was taken out of a session (originals.h).
 *
 * The handles are those of the newest report. What each was (the command, the file) is in the
 * request that the report was kept with, if that was kept.
 */
#include "traffic/originals.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"
#include "traffic/body.h"
#include "traffic/view.h"
#include "weir/recall.h"

struct original {
    weir_span handle, form, kind, tool, what;
    uint64_t tokens;
};

struct list {
    struct original *items;
    size_t count, cap;
    struct weir_request *request; /* NULL: it was not kept */
    weir_span body;
};

/* ---- the newest report ---- */

static weir_span text_of(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : (weir_span){"", 0};
}

static uint64_t number_of(const struct wr_json *doc, wr_json_id object, const char *key)
{
    int64_t number = 0;
    bool is_one = wr_json_i64(doc, wr_json_find(doc, object, key), &number);
    return is_one && number > 0 ? (uint64_t)number : 0;
}

static bool is_listed(const struct list *list, weir_span handle)
{
    for (size_t i = 0; i < list->count; i++)
        if (wr_span_eq(list->items[i].handle, handle))
            return true;
    return false;
}

static void add_original(const struct wr_originals *from, struct list *list,
                         const struct wr_json *doc, wr_json_id edit, bool is_insert)
{
    struct original o = {.handle = text_of(doc, edit, "handle"),
                         .form = is_insert ? WR_LIT("summary") : text_of(doc, edit, "form"),
                         .kind = is_insert ? WR_LIT("conversation") : text_of(doc, edit, "kind"),
                         .tokens = number_of(doc, edit, "tokens_before")};
    struct weir_segment s;

    if (!o.handle.len || is_listed(list, o.handle) ||
        !WR_ARENA_ROOM(from->arena, list->items, list->count, list->cap, 64))
        return;
    uint64_t i = number_of(doc, edit, "i");
    if (list->request && !is_insert && i < weir_request_segments(list->request) &&
        !weir_request_segment(list->request, (uint32_t)i, &s)) {
        o.tool = wr_arena_copy(from->arena, s.tool);
        o.what = wr_view_what(&s, from->arena);
    }
    list->items[list->count++] = o;
}

static void add_all(const struct wr_originals *from, struct list *list, const struct wr_json *doc,
                    const char *key)
{
    wr_json_id array = wr_json_find(doc, 0, key);
    bool is_insert = !strcmp(key, "inserts");

    if (!wr_json_is(doc, array, WR_JSON_ARRAY))
        return;
    for (wr_json_id e = wr_json_first(doc, array); e != WR_JSON_NONE;
         e = wr_json_next(doc, array, e))
        add_original(from, list, doc, e, is_insert);
}

/* What was kept with the last request, else the session's newest report alone. */
static weir_status read_list(const struct wr_originals *from, struct list *list,
                             struct weir_err *err)
{
    struct wr_ledger_which last = {
        .tenant = from->tenant, .session = from->session, .is_last = true};
    struct wr_ledger_row row;
    struct wr_json doc;

    *list = (struct list){.count = 0};
    weir_status status = wr_ledger_said(from->ledger, &last, &row, err);
    if (!status) {
        list->body = wr_arena_copy(from->arena, row.came);
        row.report = wr_arena_copy(from->arena, row.report);
        row.line = wr_arena_copy(from->arena, row.line);
        row.came = list->body;
        if (wr_arena_status(from->arena) || wr_body_read(&row, false, &list->request, NULL))
            list->request = NULL;
    }
    if (status || !row.report.len) {
        status = wr_ledger_report(from->ledger, from->tenant, from->session, &row, err);
        if (status)
            return status == WEIR_NOTFOUND ? WEIR_OK : status;
        row.report = wr_arena_copy(from->arena, row.report);
        if (list->request) { /* of another request: numbers of segments mean nothing in it */
            weir_request_free(list->request);
            list->request = NULL;
        }
    }
    status = wr_arena_status(from->arena);
    if (!status && !wr_json_parse(&doc, from->arena, row.report, NULL, NULL)) {
        add_all(from, list, &doc, "inserts");
        add_all(from, list, &doc, "edits");
    }
    return status ? status : wr_arena_status(from->arena);
}

/* ---- listing ---- */

static void put_original(struct wr_json_writer *w, const struct original *o)
{
    wr_json_member_text(w, "handle", o->handle);
    wr_json_member_text(w, "form", o->form);
    wr_json_member_text(w, "kind", o->kind);
    if (o->tool.len)
        wr_json_member_text(w, "tool", o->tool);
    if (o->what.len)
        wr_json_member_text(w, "what", o->what);
    wr_json_member_number(w, "tokens", o->tokens);
}

static bool is_recall_tool(weir_span tool)
{
    return wr_span_ends(tool, WR_LIT("weir_recall"));
}

/* The calls of the recall tool that the newest prompt holds, and whether they brought something. */
static void put_recalls(struct wr_json_writer *w, struct weir_request *request)
{
    char text[WEIR_HANDLE_TEXT_BYTES + 1];
    struct weir_segment s, result;
    weir_handle handle;
    weir_span words;

    for (uint32_t i = 0; request && i < weir_request_segments(request); i++) {
        if (weir_request_segment(request, i, &s) || s.kind != WEIR_KIND_TOOL_CALL ||
            !is_recall_tool(s.tool) || weir_request_text(request, i, &words) ||
            weir_handle_find(words, 0, &handle) == SIZE_MAX)
            continue;
        weir_handle_format(handle, text);
        wr_json_write_newline(w);
        wr_json_write_object(w);
        wr_json_member_word(w, "handle", text);
        wr_json_member_number(w, "turn", s.turn);
        bool has_result = s.pair != WEIR_NONE && !weir_request_segment(request, s.pair, &result);
        wr_json_member_bool(w, "answered", has_result && !result.is_error);
        wr_json_write_object_end(w);
    }
}

weir_status wr_originals_list(const struct wr_originals *from, struct wr_json_writer *w,
                              struct weir_err *err)
{
    struct list list;
    weir_status status = read_list(from, &list, err);

    wr_json_write_key(w, "originals");
    wr_json_write_array(w);
    for (size_t i = 0; i < list.count && !status; i++) {
        wr_json_write_newline(w);
        wr_json_write_object(w);
        put_original(w, &list.items[i]);
        wr_json_write_object_end(w);
    }
    wr_json_write_array_end(w);
    wr_json_write_key(w, "recalls");
    wr_json_write_array(w);
    put_recalls(w, list.request);
    wr_json_write_array_end(w);
    weir_request_free(list.request);
    return status;
}

/* ---- searching ---- */

struct search {
    const struct wr_originals *from;
    struct wr_json_writer *w;
    weir_span pattern;
    uint64_t hits_count, matches_count;
};

static weir_span plain_pattern(weir_span text, struct wr_arena *arena)
{
    struct wr_buf pattern;
    weir_span kept = {"", 0};

    wr_buf_init(&pattern, WR_RECALL_PATTERN_BYTES_MAX);
    wr_buf_text(&pattern, "(?i)");
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("\\^$.[]|()?*+{}", text.ptr[i]) && text.ptr[i])
            wr_buf_byte(&pattern, '\\');
        wr_buf_byte(&pattern, text.ptr[i]);
    }
    return wr_text_keep(arena, &pattern, &kept) ? (weir_span){"", 0} : kept;
}

/* Lines are "12:text", as grep -n has them. */
static void put_hit(struct search *s, const struct original *o, weir_span line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    weir_span words = {"", 0}, valid = {"", 0};
    uint64_t number, replaced_count;

    if (!colon || !wr_span_u64(wr_span_cut(line, 0, (size_t)(colon - line.ptr)), &number))
        return;
    weir_span text = wr_span_from(line, (size_t)(colon - line.ptr) + 1);
    if (wr_text_keep_line(s->from->arena, wr_text_head(text, 400), 300, &words) ||
        wr_valid_text(s->from->arena, words, &valid, &replaced_count))
        return;
    wr_json_write_newline(s->w);
    wr_json_write_object(s->w);
    put_original(s->w, o);
    wr_json_member_number(s->w, "line", number);
    wr_json_member_text(s->w, "text", valid);
    wr_json_write_object_end(s->w);
    s->hits_count++;
}

static weir_status search_one(struct search *s, const struct original *o, struct weir_err *err)
{
    struct weir_lookup lookup = {.tenant = s->from->tenant};
    struct weir_recall_options options = WEIR_RECALL_OPTIONS_INIT;
    struct weir_recalled found = {.owned = NULL};
    weir_miss miss;

    if (!weir_handle_parse(o->handle, &lookup.handle))
        return WEIR_OK;
    options.pattern = s->pattern;
    weir_status status = weir_recall(s->from->store, &lookup, &options, &found, &miss, err);
    if (status == WEIR_NOTFOUND)
        return WEIR_OK;
    if (!status) {
        weir_span rest = found.text, line;
        s->matches_count += found.matches_count;
        while (s->hits_count < WR_TRAFFIC_HITS_MAX && wr_span_line(&rest, &line))
            put_hit(s, o, line);
        weir_recalled_release(&found);
    }
    return status;
}

weir_status wr_originals_search(const struct wr_originals *from, weir_span pattern, bool is_plain,
                                struct wr_json_writer *w, struct weir_err *err)
{
    struct search s = {
        .from = from, .w = w, .pattern = is_plain ? plain_pattern(pattern, from->arena) : pattern};
    struct list list;
    weir_status status = read_list(from, &list, err);

    if (!status && !s.pattern.len)
        status = wr_fail(err, WEIR_SYNTAX, 0, "there is nothing to look for");
    wr_json_write_key(w, "hits");
    wr_json_write_array(w);
    for (size_t i = 0; i < list.count && !status; i++)
        status = search_one(&s, &list.items[i], err);
    wr_json_write_array_end(w);
    wr_json_member_number(w, "matches", s.matches_count);
    wr_json_member_number(w, "searched", list.count);
    weir_request_free(list.request);
    return status;
}
