#include "json_view.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"

struct viewer {
    struct json_view *view;
    struct wr_json doc;
    struct wr_arena arena;
    struct wr_buf out;
};

static bool is_integer(weir_span digits)
{
    return !memchr(digits.ptr, '.', digits.len) && !memchr(digits.ptr, 'e', digits.len) &&
           !memchr(digits.ptr, 'E', digits.len);
}

static void view_number(struct viewer *v, wr_json_id id)
{
    weir_span digits = wr_json_raw(&v->doc, id);
    int64_t number;
    uint64_t large;

    if (wr_json_i64(&v->doc, id, &number)) {
        wr_buf_printf(&v->out, "i%lld", (long long)number);
    } else if (wr_span_u64(digits, &large)) {
        wr_buf_printf(&v->out, "u%llu", (unsigned long long)large);
    } else if (is_integer(digits)) {
        v->view->has_number_past_range = true;
    } else {
        char *copy = wr_arena_zalloc(&v->arena, digits.len + 1);
        WR_ASSERT(copy);
        memcpy(copy, digits.ptr, digits.len);
        double real = strtod(copy, NULL);
        v->view->has_number_past_range |= !isfinite(real);
        wr_buf_printf(&v->out, "d%a", real);
    }
}

static void view_string(struct viewer *v, wr_json_id id)
{
    weir_span text = wr_json_text(&v->doc, &v->arena, id);
    WR_ASSERT(text.ptr);
    v->view->has_lone_surrogate |= wr_utf8_check(text, false) != text.len;
    wr_buf_printf(&v->out, "%c%zu:", v->doc.nodes[id].is_key ? 'k' : 's', text.len);
    wr_buf_append(&v->out, text);
}

static void view_node(struct viewer *v, wr_json_id id)
{
    switch (wr_json_kind(&v->doc, id)) {
    case WR_JSON_NULL:
        wr_buf_byte(&v->out, 'n');
        break;
    case WR_JSON_FALSE:
        wr_buf_byte(&v->out, 'f');
        break;
    case WR_JSON_TRUE:
        wr_buf_byte(&v->out, 't');
        break;
    case WR_JSON_NUMBER:
        view_number(v, id);
        break;
    case WR_JSON_STRING:
        view_string(v, id);
        break;
    case WR_JSON_ARRAY:
        wr_buf_byte(&v->out, '[');
        break;
    case WR_JSON_OBJECT:
        wr_buf_byte(&v->out, '{');
        break;
    }
}

static void view_document(struct viewer *v)
{
    wr_json_id open[WR_JSON_DEPTH_MAX];
    uint32_t depth = 0;

    for (wr_json_id id = 0; id < v->doc.nodes_count; id++) {
        view_node(v, id);
        if (v->doc.nodes[id].kind >= WR_JSON_ARRAY)
            open[depth++] = id;
        while (depth && v->doc.nodes[open[depth - 1]].after == id + 1)
            wr_buf_byte(&v->out,
                        wr_json_kind(&v->doc, open[--depth]) == WR_JSON_OBJECT ? '}' : ']');
    }
}

void json_view_init(struct json_view *view, const char *text, size_t len)
{
    struct viewer v = {.view = view};

    *view = (struct json_view){0};
    wr_arena_init(&v.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&v.out, WR_ARENA_BYTES_MAX);
    weir_status status = wr_json_parse(&v.doc, &v.arena, (weir_span){text, len}, NULL, NULL);
    if (!status)
        view_document(&v);
    view->is_json = !status;
    view->is_too_deep = status == WEIR_LIMIT;
    WR_ASSERT(!wr_buf_status(&v.out));
    view->text = v.out.bytes; /* moved */
    view->len = v.out.len;
    wr_arena_release(&v.arena);
}

void json_view_release(struct json_view *view)
{
    free(view->text);
    *view = (struct json_view){0};
}
