/* The line that stands for what was taken out, the ways back that it may name, and the text that
 * its handle names where whole messages left.
 *
 * A marker promises that its handle can be resolved, so its way is one that this very request's
 * tools offer (law L2): recall, however it is spelt there, or the agent's own tool for a file that
 * nothing has touched since it was read. */
#include "policy/marker.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"

/* ---- the line ---- */

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

enum { TOOLS_FIRST_COUNT = 16 };

struct adder {
    struct wr_ways *ways;
    struct wr_arena *arena;
    const struct wr_json *doc;
    uint32_t cap;
};

/* Without Weir its own tools would not be in the prompt. A deferred one is not in it either. */
static weir_status add_tool(void *user, const struct wr_offer *offer)
{
    struct adder *a = user;
    struct wr_ways *ways = a->ways;

    if (!WR_ARENA_ROOM(a->arena, ways->tools, ways->tools_count, a->cap, TOOLS_FIRST_COUNT))
        return wr_arena_status(a->arena);
    ways->tools[ways->tools_count++] = offer->name;
    if (!ways->recall.len)
        ways->recall_at = offer->segment;
    if (!ways->recall.len && wr_tool_is_recall(offer->name))
        ways->recall = offer->name;
    if (wr_tool_is_own(offer->name) && !offer->is_deferred)
        ways->own_bytes += wr_json_raw(a->doc, offer->definition).len;
    return WEIR_OK;
}

weir_status wr_ways_read(struct wr_ways *ways, struct wr_arena *arena,
                         const struct wr_transcript *transcript)
{
    struct adder adder = {.ways = ways, .arena = arena, .doc = transcript->doc};

    *ways = (struct wr_ways){.recall = {"", 0}};
    return transcript->list_tools ? transcript->list_tools(transcript, arena, add_tool, &adder)
                                  : WEIR_OK;
}

weir_span wr_ways_recall(const struct wr_ways *ways, uint32_t arrived)
{
    return ways->recall_at < arrived ? ways->recall : (weir_span){"", 0};
}

static bool offers_tool(const struct wr_ways *ways, weir_span tool)
{
    for (uint32_t i = 0; i < ways->tools_count; i++)
        if (wr_span_eq(ways->tools[i], tool))
            return true;
    return false;
}

struct wr_way wr_way_to(const struct wr_ways *ways, const struct wr_segment *segment,
                        uint32_t arrived)
{
    struct wr_way way = {.kind = WR_WAY_NONE, .tool = {"", 0}, .path = {"", 0}};
    const struct wr_tool_handles *h = segment->handles;

    weir_span recall = wr_ways_recall(ways, arrived);
    if (recall.len) {
        way.kind = WR_WAY_RECALL;
        way.tool = recall;
        return way;
    }
    bool is_file = h && h->kind == WR_EFFECT_READ && !h->is_shell && h->path.len;
    bool is_touched = segment->touched_by < arrived;
    if (!is_file || is_touched || !offers_tool(ways, segment->tool))
        return way;
    way.kind = WR_WAY_READ;
    way.tool = segment->tool;
    way.path = h->path;
    way.start_line = h->start_line;
    way.end_line = h->end_line;
    return way;
}

/* ---- segments as a text ---- */

enum { FENCE_BYTES_MIN = 3 };

static size_t longest_backtick_run(weir_span text)
{
    size_t longest = 0, at = 0;
    const char *found;

    while (at < text.len && (found = memchr(text.ptr + at, '`', text.len - at))) {
        size_t start = (size_t)(found - text.ptr);
        for (at = start; at < text.len && text.ptr[at] == '`'; at++)
            ;
        if (at - start > longest)
            longest = at - start;
    }
    return longest;
}

static void write_fence(struct wr_buf *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        wr_buf_byte(out, '`');
    wr_buf_byte(out, '\n');
}

void wr_history_fence(struct wr_buf *out, weir_span text)
{
    size_t run = longest_backtick_run(text);
    size_t fence = run < FENCE_BYTES_MIN ? FENCE_BYTES_MIN : run + 1;
    write_fence(out, fence);
    wr_buf_append(out, text);
    if (!wr_span_ends(text, WR_LIT("\n")))
        wr_buf_byte(out, '\n');
    write_fence(out, fence);
}

static void write_heading(struct wr_buf *out, const struct wr_segment *s, bool is_first)
{
    const char *verb = s->kind == WEIR_KIND_TOOL_CALL ? "assistant calls " : "result of ";

    wr_buf_text(out, is_first ? "## " : "\n## ");
    if (s->kind == WEIR_KIND_TOOL_CALL || s->kind == WEIR_KIND_TOOL_RESULT) {
        wr_buf_text(out, verb);
        wr_text_one_line(out, s->tool.len ? s->tool : WR_LIT("a tool"));
        if (s->call_id.len) {
            wr_buf_text(out, " (");
            wr_text_one_line(out, s->call_id);
            wr_buf_byte(out, ')');
        }
    } else {
        wr_buf_text(out, weir_role_name(s->role));
        if (s->kind != WEIR_KIND_TEXT)
            wr_buf_printf(out, ", %s", weir_kind_name(s->kind));
    }
    wr_buf_text(out, "\n\n");
}

static bool is_prose(const struct wr_segment *s)
{
    bool is_words = s->kind == WEIR_KIND_TEXT || s->kind == WEIR_KIND_SYSTEM;
    return is_words && s->parts_count;
}

/* A result with images beside its text is whole only as the JSON it came as. */
static weir_span exact_text(const struct wr_transcript *t, const struct wr_segment *s,
                            struct wr_arena *arena)
{
    bool is_call = s->kind == WEIR_KIND_TOOL_CALL;
    if (s->payload == WR_JSON_NONE)
        return (weir_span){"", 0};
    if ((is_call || s->parts_count) && !s->has_exact_blocks)
        return wr_segment_text(t, s, arena);
    return wr_json_raw(t->doc, s->payload);
}

static weir_status write_segment(struct wr_buf *out, struct wr_arena *arena,
                                 const struct wr_transcript *t, const struct wr_segment *s,
                                 bool is_first)
{
    weir_span text = exact_text(t, s, arena);
    if (!text.ptr)
        return wr_arena_status(arena);
    write_heading(out, s, is_first);
    if (!is_prose(s)) {
        wr_history_fence(out, text);
        return wr_buf_status(out);
    }
    wr_buf_append(out, text);
    if (!wr_span_ends(text, WR_LIT("\n")))
        wr_buf_byte(out, '\n');
    return wr_buf_status(out);
}

weir_status wr_history_write(struct wr_buf *out, struct wr_arena *arena,
                             const struct wr_transcript *t, const uint32_t *segments,
                             uint32_t segments_count)
{
    weir_status status = WEIR_OK;
    for (uint32_t i = 0; i < segments_count && !status; i++)
        status = write_segment(out, arena, t, &t->segments[segments[i]], !out->len);
    return status ? status : wr_buf_status(out);
}

weir_status wr_history_hash_add(struct wr_history_hash *hash, struct wr_arena *arena,
                                const struct wr_transcript *t, const uint32_t *segments,
                                uint32_t segments_count)
{
    weir_status status = WEIR_OK;
    struct wr_buf piece;

    if (!hash->is_begun)
        wr_sha256_begin(&hash->stream);
    wr_buf_init(&piece, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < segments_count && !status; i++) {
        wr_buf_reset(&piece);
        status = write_segment(&piece, arena, t, &t->segments[segments[i]], !hash->is_begun);
        wr_sha256_add(&hash->stream, wr_buf_view(&piece));
        hash->is_begun = true;
    }
    wr_buf_release(&piece);
    return status;
}
