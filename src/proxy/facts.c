#include "proxy/facts.h"

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

enum { WORD_BYTES_MAX = 160, LIST_BYTES_MAX = 1024 };

/* Those have places of their own in the line. */
static bool is_known(weir_span name, bool is_shadow)
{
    static const char *const names[] = {"tokens_before", "tokens_after", "held_back", "step"};
    static const char *const sizes[] = {"body_bytes_before", "body_bytes_after", "body_bytes_saved",
                                        "rewrite_ratio_percent"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (wr_span_is(name, names[i]) || (!is_shadow && wr_span_is(name, sizes[i])))
            return true;
    return false;
}

/* A list of words or a few numbers by name. */
static bool is_flat(const struct wr_json *doc, wr_json_id container)
{
    if (wr_json_raw(doc, container).len > LIST_BYTES_MAX)
        return false;
    for (wr_json_id at = wr_json_first(doc, container); at != WR_JSON_NONE;
         at = wr_json_next(doc, container, at)) {
        wr_json_id value = doc->nodes[at].is_key ? wr_json_value(at) : at;
        if (wr_json_is(doc, value, WR_JSON_ARRAY) || wr_json_is(doc, value, WR_JSON_OBJECT))
            return false;
    }
    return true;
}

static bool is_figure(const struct wr_json *doc, wr_json_id value)
{
    switch (wr_json_kind(doc, value)) {
    case WR_JSON_ARRAY:
    case WR_JSON_OBJECT:
        return is_flat(doc, value);
    case WR_JSON_STRING:
        return wr_json_raw(doc, value).len <= WORD_BYTES_MAX;
    default:
        return true;
    }
}

/* The members of interest stand before the lists, and the lists may be long: what is behind the
 * first list is not read. */
static weir_span front(weir_span report, struct wr_buf *closed)
{
    size_t at = wr_span_find(report, WR_LIT(",\"inserts\":["), 0);
    size_t edits = wr_span_find(report, WR_LIT(",\"edits\":["), 0);
    if (edits < at)
        at = edits;
    if (at == SIZE_MAX)
        return report;
    wr_buf_append(closed, wr_span_cut(report, 0, at));
    wr_buf_byte(closed, '}');
    return wr_buf_view(closed);
}

void wr_facts_from_report(weir_span report, const char *prefix, struct wr_buf *out)
{
    struct wr_arena arena;
    struct wr_buf closed;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&closed, WR_OUTPUT_BYTES_MAX);
    if (report.len && !wr_json_parse(&doc, &arena, front(report, &closed), NULL, NULL)) {
        for (wr_json_id key = wr_json_first(&doc, 0); key != WR_JSON_NONE;
             key = wr_json_next(&doc, 0, key)) {
            weir_span name = wr_json_inner(&doc, key);
            if (is_known(name, prefix[0] != '\0') || !is_figure(&doc, wr_json_value(key)))
                continue;
            wr_buf_printf(out, ",\"%s%.*s\":", prefix, (int)name.len, name.ptr);
            wr_buf_append(out, wr_json_raw(&doc, wr_json_value(key)));
        }
    }
    wr_buf_release(&closed);
    wr_arena_release(&arena);
}
