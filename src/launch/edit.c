/* Settings in the files of agents (edit.h).
 *
 * JSON is edited by splices (json/splice.h) into the user's own bytes. A file with comments is read
 * from a copy in which they are blanks (wr_own_parse), so what is found there stands at the same
 * bytes in the original. Where keys are missing on the way to a value, the objects for them come in
 * one piece; to take a setting out, the outermost object that holds nothing else goes with it.
 * TOML is edited by lines: only keys before the first table, which is all that is needed. Strings
 * and lists that go over several lines are stepped over on the way.
 */
#include "launch/edit.h"

#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/splice.h"
#include "launch/own_settings.h"

/* ---- JSON ---- */

struct place {
    struct wr_json doc;
    wr_json_id objects[WR_EDIT_KEYS_MAX]; /* those that there are, from the outermost */
    size_t depth;                         /* how many */
    wr_json_id value;                     /* NONE: it is not there */
};

static bool is_list_end(const struct wr_edit *edit, size_t depth)
{
    return edit->keys[depth] && !strcmp(edit->keys[depth], "[]");
}

/* A value without the white space between its parts. */
static weir_span minified(struct wr_arena *arena, weir_span json)
{
    char *out = wr_arena_alloc(arena, json.len + 1);
    bool in_text = false;
    size_t bytes = 0;

    for (size_t i = 0; out && i < json.len; i++) {
        char c = json.ptr[i];
        if (in_text && c == '\\' && i + 1 < json.len)
            out[bytes++] = json.ptr[i++];
        else if (c == '"')
            in_text = !in_text;
        c = json.ptr[i];
        if (in_text || !strchr(" \t\r\n", c))
            out[bytes++] = c;
    }
    return (weir_span){out, out ? bytes : 0};
}

static bool is_same_value(struct wr_arena *arena, weir_span a, const char *b)
{
    return wr_span_eq(minified(arena, a), minified(arena, wr_span_of(b)));
}

static wr_json_id find_element(const struct wr_json *doc, struct wr_arena *arena, wr_json_id list,
                               const char *value)
{
    WR_JSON_EACH(at, doc, list)
        if (is_same_value(arena, wr_json_raw(doc, at), value))
            return at;
    return WR_JSON_NONE;
}

static weir_status find_place(const struct wr_edit *edit, struct wr_arena *arena, weir_span text,
                              struct place *place, struct weir_err *err)
{
    weir_status status = wr_own_parse(&place->doc, arena, text, err);
    wr_json_id at = 0;

    if (status)
        return status;
    place->doc.text = text; /* with its comments: they stand at the same bytes */
    place->depth = 0;
    place->value = WR_JSON_NONE;
    for (size_t i = 0; edit->keys[i]; i++) {
        bool is_list = is_list_end(edit, i);
        if (!wr_json_is(&place->doc, at, is_list ? WR_JSON_ARRAY : WR_JSON_OBJECT))
            return wr_fail(err, WEIR_INVALID, place->doc.nodes[at].start, "%s is no %s",
                           i ? edit->keys[i - 1] : "the file", is_list ? "list" : "object");
        place->objects[place->depth++] = at;
        at = is_list ? find_element(&place->doc, arena, at, edit->value)
                     : wr_json_find(&place->doc, at, edit->keys[i]);
        if (at == WR_JSON_NONE)
            return WEIR_OK;
    }
    place->value = at;
    return WEIR_OK;
}

/* What is put into the innermost object that there is: `"key":{"key":value}`. */
static void write_missing(const struct wr_edit *edit, size_t depth, struct wr_buf *out)
{
    size_t closing = 0;

    for (size_t i = depth; edit->keys[i]; i++) {
        bool is_list = is_list_end(edit, i);
        if (i > depth)
            wr_buf_byte(out, is_list ? '[' : '{');
        if (!is_list)
            wr_buf_printf(out, "\"%s\": ", edit->keys[i]);
        closing += i > depth;
    }
    wr_buf_text(out, edit->value);
    for (size_t i = 0; i < closing; i++)
        wr_buf_byte(out, !i && is_list_end(edit, depth + closing) ? ']' : '}');
}

static weir_status apply(struct wr_splice *splice, struct wr_arena *arena, weir_span *after,
                         struct weir_err *err)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_INSTALL_FILE_BYTES_MAX);
    weir_status status = wr_splice_apply(splice, &out, err);
    *after = wr_arena_copy(arena, wr_buf_view(&out));
    wr_buf_release(&out);
    return status ? status : after->ptr ? WEIR_OK : WEIR_NOMEM;
}

static weir_status make_json(const struct wr_edit *edit, struct wr_arena *arena, weir_span text,
                             weir_span *after, bool *is_there, struct weir_err *err)
{
    struct wr_splice splice;
    struct wr_buf missing;
    struct place place;

    if (!wr_span_trim(text).len)
        text = WR_LIT("{}\n");
    weir_status status = find_place(edit, arena, text, &place, err);
    if (status)
        return status;
    if (place.value != WR_JSON_NONE) {
        *is_there = edit->is_optional ||
                    is_same_value(arena, wr_json_raw(&place.doc, place.value), edit->value);
        return *is_there ? WEIR_OK
                         : wr_fail(err, WEIR_INVALID, place.doc.nodes[place.value].start,
                                   "%s has a value of yours already", edit->keys[place.depth - 1]);
    }
    wr_buf_init(&missing, WR_INSTALL_FILE_BYTES_MAX);
    write_missing(edit, place.depth - 1, &missing);
    wr_splice_init(&splice, &place.doc, arena);
    wr_splice_insert(&splice, place.objects[place.depth - 1], WR_JSON_NONE, wr_buf_view(&missing));
    status = apply(&splice, arena, after, err);
    wr_buf_release(&missing);
    return status;
}

static wr_json_id key_of(const struct wr_json *doc, wr_json_id object, const char *name)
{
    WR_JSON_EACH(at, doc, object)
        if (wr_json_text_is(doc, at, name))
            return at;
    return WR_JSON_NONE;
}

static weir_status undo_json(const struct wr_edit *edit, struct wr_arena *arena, weir_span text,
                             weir_span *after, struct weir_err *err)
{
    struct wr_splice splice;
    struct place place;

    if (!wr_span_trim(text).len)
        return wr_fail(err, WEIR_NOTFOUND, 0, "%s is not there any more", edit->keys[0]);
    weir_status status = find_place(edit, arena, text, &place, err);
    if (status)
        return status;
    if (place.value == WR_JSON_NONE)
        return wr_fail(err, WEIR_NOTFOUND, 0, "%s is not there any more", edit->keys[0]);
    if (!is_same_value(arena, wr_json_raw(&place.doc, place.value), edit->value))
        return wr_fail(err, WEIR_INVALID, 0, "%s is not as it was put there", edit->keys[0]);
    size_t depth = place.depth - 1;
    while (depth && wr_json_count(&place.doc, place.objects[depth]) == 1)
        depth--;
    wr_json_id child = is_list_end(edit, depth)
                           ? place.value
                           : key_of(&place.doc, place.objects[depth], edit->keys[depth]);
    wr_splice_init(&splice, &place.doc, arena);
    wr_splice_remove(&splice, place.objects[depth], child);
    return apply(&splice, arena, after, err);
}

/* ---- TOML ---- */

/* A mark that some editors put in front of UTF-8. */
static size_t mark_bytes(weir_span text)
{
    return wr_span_starts(text, WR_LIT("\xEF\xBB\xBF")) ? 3 : 0;
}

/* Behind the string that begins at `at`; one of a single line ends with it at the latest. */
static size_t skip_toml_string(weir_span text, size_t at)
{
    char quote = text.ptr[at];
    weir_span three = quote == '"' ? WR_LIT("\"\"\"") : WR_LIT("'''");
    bool is_long = wr_span_starts(wr_span_from(text, at), three);

    for (at += is_long ? 3 : 1; at < text.len; at++) {
        char c = text.ptr[at];
        if (c == '\\' && quote == '"')
            at++;
        else if (!is_long && (c == quote || c == '\n'))
            return at + (c == quote);
        else if (is_long && wr_span_starts(wr_span_from(text, at), three))
            return at + 3;
    }
    return text.len;
}

/* Behind the line end of the statement that begins at `at`: a list may go on for many lines. */
static size_t skip_statement(weir_span text, size_t at)
{
    size_t depth = 0;

    while (at < text.len) {
        char c = text.ptr[at];
        if (c == '"' || c == '\'') {
            at = skip_toml_string(text, at);
            continue;
        }
        if (c == '#') {
            const char *end = memchr(text.ptr + at, '\n', text.len - at);
            at = end ? (size_t)(end - text.ptr) : text.len;
            continue;
        }
        depth += c == '[' || c == '{';
        depth -= depth && (c == ']' || c == '}');
        at++;
        if (c == '\n' && !depth)
            break;
    }
    return at;
}

/* `name = ...`, "name" = ... or 'name' = ... */
static bool is_key(weir_span words, const char *name)
{
    char quote = words.len && (*words.ptr == '"' || *words.ptr == '\'') ? *words.ptr : '\0';
    weir_span rest = wr_span_from(words, quote ? 1 : 0);

    if (!wr_span_starts(rest, wr_span_of(name)))
        return false;
    rest = wr_span_from(rest, strlen(name));
    if (quote && (!rest.len || *rest.ptr != quote))
        return false;
    return wr_span_starts(wr_span_trim(wr_span_from(rest, quote ? 1 : 0)), WR_LIT("="));
}

/* Whether a line before the first table sets `name`; *at: where it begins. */
static bool find_line(weir_span text, const char *name, size_t *at, weir_span *found)
{
    for (*at = mark_bytes(text); *at < text.len; *at = skip_statement(text, *at)) {
        weir_span rest = wr_span_from(text, *at);
        (void)wr_span_line(&rest, found);
        weir_span words = wr_span_trim(*found);
        if (wr_span_starts(words, WR_LIT("[")))
            return false;
        if (is_key(words, name))
            return true;
    }
    return false;
}

static weir_status make_line(const struct wr_edit *edit, struct wr_arena *arena, weir_span text,
                             weir_span *after, bool *is_there, struct weir_err *err)
{
    const char *names[] = {edit->name, edit->rival};
    struct wr_buf out;
    weir_span line;
    size_t at;

    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (names[i] && find_line(text, names[i], &at, &line)) {
            *is_there = !i && wr_span_ends(wr_span_trim(line), wr_span_of(edit->value));
            return *is_there ? WEIR_OK
                             : wr_fail(err, WEIR_INVALID, at, "%s has a value of yours already",
                                       names[i]);
        }
    at = mark_bytes(text);
    wr_buf_init(&out, WR_INSTALL_FILE_BYTES_MAX);
    wr_buf_append(&out, wr_span_cut(text, 0, at));
    wr_buf_printf(&out, "%s = %s\n", edit->name, edit->value);
    wr_buf_append(&out, wr_span_from(text, at));
    *after = wr_arena_copy(arena, wr_buf_view(&out));
    weir_status status = wr_buf_status(&out);
    wr_buf_release(&out);
    return status ? status : after->ptr ? WEIR_OK : WEIR_NOMEM;
}

static weir_status undo_line(const struct wr_edit *edit, struct wr_arena *arena, weir_span text,
                             weir_span *after, struct weir_err *err)
{
    struct wr_buf out;
    weir_span line;
    size_t at;

    if (!find_line(text, edit->name, &at, &line))
        return wr_fail(err, WEIR_NOTFOUND, 0, "%s is not there any more", edit->name);
    if (!wr_span_ends(wr_span_trim(line), wr_span_of(edit->value)))
        return wr_fail(err, WEIR_INVALID, 0, "%s is not as it was put there", edit->name);
    size_t end = at + line.len;
    if (end < text.len && text.ptr[end] == '\r')
        end++;
    if (end < text.len && text.ptr[end] == '\n')
        end++;
    wr_buf_init(&out, WR_INSTALL_FILE_BYTES_MAX);
    wr_buf_append(&out, wr_span_cut(text, 0, at));
    wr_buf_append(&out, wr_span_from(text, end));
    *after = wr_arena_copy(arena, wr_buf_view(&out));
    weir_status status = wr_buf_status(&out);
    wr_buf_release(&out);
    return status ? status : after->ptr ? WEIR_OK : WEIR_NOMEM;
}

/* ---- both ---- */

weir_status wr_edit_make(const struct wr_edit *edit, struct wr_arena *arena, weir_span text,
                         weir_span *after, bool *is_there, struct weir_err *err)
{
    *after = text;
    *is_there = false;
    return (edit->keys[0] ? make_json : make_line)(edit, arena, text, after, is_there, err);
}

weir_status wr_edit_undo(const struct wr_edit *edit, struct wr_arena *arena, weir_span text,
                         weir_span *after, struct weir_err *err)
{
    *after = text;
    return (edit->keys[0] ? undo_json : undo_line)(edit, arena, text, after, err);
}

/* ---- showing ---- */

static void show_lines(struct wr_buf *out, char sign, weir_span text)
{
    weir_span line;

    while (wr_span_line(&text, &line)) {
        wr_buf_byte(out, sign);
        wr_buf_append(out, line);
        wr_buf_byte(out, '\n');
    }
}

/* Settings are added at few places: what both have at the start and the end is left out, but for a
 * line each. */
void wr_edit_show(struct wr_buf *out, weir_span before, weir_span after)
{
    size_t front = 0, back = 0, least = before.len < after.len ? before.len : after.len;

    for (size_t i = 0; i < least && before.ptr[i] == after.ptr[i]; i++)
        if (before.ptr[i] == '\n')
            front = i + 1;
    while (back < least - front &&
           before.ptr[before.len - 1 - back] == after.ptr[after.len - 1 - back])
        back++;
    while (back && before.ptr[before.len - back - 1 + (before.len == back)] != '\n')
        back--;
    if (front) {
        size_t line = front - 1;
        while (line && before.ptr[line - 1] != '\n')
            line--;
        show_lines(out, ' ', wr_span_cut(before, line, front));
    }
    show_lines(out, '-', wr_span_cut(before, front, before.len - back));
    show_lines(out, '+', wr_span_cut(after, front, after.len - back));
    weir_span rest = wr_span_from(before, before.len - back), line;
    if (wr_span_line(&rest, &line))
        show_lines(out, ' ', line);
}
