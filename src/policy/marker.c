#include "policy/marker.h"

#include <string.h>

#include "base/ascii.h"
#include "base/span.h"
#include "json/json.h"

static const char opening[] = "[weir wr_";

/* The text of a marker whose handle no tool of the request can resolve. It says so, because the
 * model would look for such a tool. */
#define WR_OPERATOR_WAY "; kept, but no tool here brings it back"

weir_status wr_handle_of(weir_span original, struct wr_handle *handle)
{
    weir_handle name;
    weir_status status = weir_handle_of(original, &name);
    if (!status)
        weir_handle_format(name, handle->text);
    return status;
}

static void write_quoted(struct wr_buf *out, const char *key, weir_span text)
{
    wr_buf_printf(out, "\"%s\":\"", key);
    wr_json_escape(out, text);
    wr_buf_byte(out, '"');
}

static void write_way(struct wr_buf *out, const struct wr_marker *m)
{
    if (m->way.kind == WR_WAY_HERE)
        return;
    if (m->way.kind == WR_WAY_OPERATOR) {
        wr_buf_text(out, WR_OPERATOR_WAY);
        return;
    }
    wr_buf_text(out, "; ");
    wr_buf_append(out, m->way.tool);
    if (m->way.kind == WR_WAY_RECALL) {
        wr_buf_printf(out, " {\"handle\":\"%s\"}", m->handle.text);
        return;
    }
    wr_buf_text(out, " {");
    write_quoted(out, "path", m->way.path);
    if (m->way.start_line > 0 && m->way.end_line >= m->way.start_line)
        wr_buf_printf(out, ",\"lines\":\"%lld-%lld\"", (long long)m->way.start_line,
                      (long long)m->way.end_line);
    wr_buf_text(out, "} shows the file as it is now");
}

void wr_marker_write(struct wr_buf *out, const struct wr_marker *marker)
{
    wr_buf_printf(out, "[weir %s: ", marker->handle.text);
    if (marker->lines)
        wr_buf_printf(out, "%llu line%s, ", (unsigned long long)marker->lines,
                      marker->lines == 1 ? "" : "s");
    wr_buf_printf(out, "~%llu tokens %s", (unsigned long long)marker->tokens, marker->what);
    write_way(out, marker);
    wr_buf_byte(out, ']');
}

static bool line_is_marker(weir_span line)
{
    size_t start = sizeof(opening) - 1, end = start + WEIR_HANDLE_TEXT_BYTES - 3;
    if (!wr_span_starts(line, wr_span_of(opening)) || line.len < end + 3 ||
        line.ptr[line.len - 1] != ']')
        return false;
    for (size_t i = start; i < end; i++)
        if (!wr_is_lower_hex(line.ptr[i]))
            return false;
    return line.ptr[end] == ':' && line.ptr[end + 1] == ' ';
}

/* No character of a marker up to its colon is one that JSON escapes. */
bool wr_marker_last(weir_span raw, weir_handle *handle)
{
    const size_t front = strlen("[weir ");
    bool found = false;
    for (size_t at = 0; (at = wr_span_find(raw, wr_span_of(opening), at)) != SIZE_MAX; at++) {
        size_t end = at + front + WEIR_HANDLE_TEXT_BYTES;
        weir_handle named;
        if (end >= raw.len || raw.ptr[end] != ':' ||
            !weir_handle_parse(wr_span_cut(raw, at + front, end), &named))
            continue;
        *handle = named;
        found = true;
    }
    return found;
}

bool wr_marker_find(weir_span text, struct wr_handle *handle)
{
    size_t at = 0;
    while ((at = wr_span_find(text, wr_span_of(opening), at)) != SIZE_MAX) {
        weir_span rest = wr_span_cut(text, at, text.len), line;
        bool at_line_start = !at || text.ptr[at - 1] == '\n';
        if (at_line_start && wr_span_line(&rest, &line) && line_is_marker(line)) {
            if (handle) {
                memcpy(handle->text, line.ptr + strlen("[weir "), WEIR_HANDLE_TEXT_BYTES);
                handle->text[WEIR_HANDLE_TEXT_BYTES] = '\0';
            }
            return true;
        }
        at++;
    }
    return false;
}
