/* Writes the two blocks that the document of `guarded-mid` fixes line by line.
 *
 * A result is read once into what is known of it: its call, its text, whether it is a read, the
 * lines that a read shows. The writers below then go down the document's list of lines; a line
 * whose value is not known is left out. The document names its own tools (process_start, read_file
 * with tags around the content); results of other agents have the same facts in the handles that
 * src/transcript found, and get the same lines.
 *
 * This is not one table of names and values: half of the lines depend on another line being there,
 * or are a sentence of the document. */
#include "policy/loop_summary.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "policy/stage.h"

/* A token is seldom more than this many bytes: a longer text is over a budget without counting. */
enum { TOKEN_BYTES_MAX = 64 };
enum { TOKEN_CHARS = 4, PREVIEW_CHARS_MIN = 64 };
enum { PURPOSE_CHARS_MAX = 240 };
enum { PREVIEW_HEAD_PARTS = 4 }; /* a preview with an end: one part of four is its beginning */

static const weir_span nothing = {"", 0};

/* One result and what is known of it. */
struct result {
    struct wr_call call;
    weir_span text;
    weir_span content; /* of a read: the lines; else empty */
    bool is_tagged;    /* the content stood between <content> and </content> */
    bool is_read, has_failed;
    bool is_outdated; /* a read of a file that was changed since */
};

/* ---- reading ---- */

static bool find_content(weir_span text, weir_span *before, weir_span *content)
{
    const weir_span open = WR_LIT("<content>"), close = WR_LIT("</content>");
    size_t from = wr_span_find(text, open, 0), to = SIZE_MAX;

    if (from == SIZE_MAX)
        return false;
    /* The last closing tag ends it: what was read may hold such a tag itself. */
    for (size_t at = from; (at = wr_span_find(text, close, at)) != SIZE_MAX; at++)
        to = at;
    if (to == SIZE_MAX)
        return false;
    *before = wr_span_cut(text, 0, from);
    *content = wr_span_cut(text, from + open.len, to);
    return true;
}

static weir_span trim_blank_lines(weir_span text)
{
    weir_span rest = text, line;
    while (wr_span_line(&rest, &line) && wr_text_is_blank(line))
        text = rest;
    while (text.len && wr_is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static weir_status read_result(struct result *out, const struct wr_transcript *t,
                               struct wr_arena *arena, uint32_t segment)
{
    const struct wr_segment *s = &t->segments[segment];
    weir_span before;

    *out = (struct result){.content = nothing};
    weir_status status = wr_call_read(&out->call, arena, t, s->pair);
    if (status)
        return status;
    out->text = wr_call_result(t, segment, arena);
    if (!out->text.ptr)
        return wr_arena_status(arena);
    const struct wr_tool_handles *h = out->call.handles;
    out->has_failed = wr_result_has_failed(s, h);
    out->is_read = !out->has_failed && (wr_span_is(out->call.capability, "read_file") ||
                                        (h && h->kind == WR_EFFECT_READ));
    if (!out->is_read)
        return WEIR_OK;
    out->is_tagged = find_content(out->text, &before, &out->content);
    out->content = out->is_tagged ? wr_span_trim(out->content) : trim_blank_lines(out->text);
    return WEIR_OK;
}

/* ---- lines of the block ---- */

static void write_field(struct wr_buf *out, const char *name, weir_span value)
{
    if (wr_text_is_blank(value))
        return;
    wr_buf_printf(out, "%s: ", name);
    wr_text_one_line(out, value);
    wr_buf_byte(out, '\n');
}

static void write_number(struct wr_buf *out, const char *name, int64_t number)
{
    if (number >= 0)
        wr_buf_printf(out, "%s: %lld\n", name, (long long)number);
}

static bool is_over(const struct wr_loop_options *options, weir_span text, uint64_t tokens_max)
{
    return text.len / TOKEN_BYTES_MAX > tokens_max ||
           options->count(options->user, text) > tokens_max;
}

static void write_preview(struct wr_buf *out, const char *name, weir_span text, bool with_end,
                          const struct wr_loop_options *options)
{
    uint64_t chars = options->preview_tokens > UINT64_MAX / TOKEN_CHARS
                         ? UINT64_MAX
                         : options->preview_tokens * TOKEN_CHARS;
    if (chars < PREVIEW_CHARS_MIN)
        chars = PREVIEW_CHARS_MIN;

    wr_buf_printf(out, "%s: ", name);
    if (!is_over(options, text, options->preview_tokens)) {
        wr_text_one_line(out, text);
    } else if (with_end && text.len > chars) {
        uint64_t head = chars / PREVIEW_HEAD_PARTS;
        wr_text_one_line(out, wr_text_head(text, head));
        wr_buf_text(out, " ... ");
        wr_text_one_line(out, wr_text_tail(text, chars - head));
    } else {
        wr_text_one_line(out, wr_text_head(text, chars));
        wr_buf_text(out, " ...");
    }
    wr_buf_byte(out, '\n');
}

/* ---- handles ---- */

static bool is_process(weir_span capability)
{
    static const char *const names[] = {"process_start", "process_read", "process_watch"};
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_span_is(capability, names[i]))
            return true;
    return false;
}

static void write_json_value(struct wr_buf *out, const struct wr_json *doc, struct wr_arena *arena,
                             const char *name)
{
    wr_json_id value = wr_json_find(doc, 0, name);
    if (wr_json_is(doc, value, WR_JSON_STRING))
        write_field(out, name, wr_json_text(doc, arena, value));
    else if (value != WR_JSON_NONE)
        write_field(out, name, wr_json_raw(doc, value));
}

/* The document's own process tools, by their arguments' names. False: the arguments are no object.
 */
static bool write_process_handles(struct wr_buf *out, const struct wr_call *call,
                                  struct wr_arena *arena)
{
    static const char *const names[] = {"command", "cwd", "process_id", "mode", "cursor", "query"};
    struct wr_json doc;

    if (wr_json_parse(&doc, arena, call->arguments, NULL, NULL))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        write_json_value(out, &doc, arena, names[i]);
    return true;
}

static void write_call_handles(struct wr_buf *out, const struct wr_call *call,
                               struct wr_arena *arena)
{
    const struct wr_tool_handles *h = call->handles;
    if (is_process(call->capability) && write_process_handles(out, call, arena))
        return;
    if (!h)
        return;
    if (h->command.len && !wr_span_eq(wr_span_trim(h->command), call->purpose)) {
        wr_buf_text(out, "command: ");
        wr_text_one_line_max(out, h->command, PURPOSE_CHARS_MAX);
        wr_buf_byte(out, '\n');
    }
    write_field(out, "path", h->path);
    write_number(out, "requested_offset", h->offset);
    write_number(out, "requested_limit", h->limit);
    bool has_lines = h->start_line > 0 && h->end_line >= h->start_line;
    if (has_lines && h->offset < 0 && h->limit < 0)
        wr_buf_printf(out, "lines: %lld-%lld\n", (long long)h->start_line, (long long)h->end_line);
    write_field(out, "process_id", h->process_id);
    write_field(out, "mode", h->mode);
    write_field(out, "cursor", h->cursor);
    write_field(out, "query", h->query);
}

static weir_span find_tag(weir_span text, const char *tag)
{
    char open[32], close[32];
    (void)snprintf(open, sizeof(open), "<%s>", tag);
    (void)snprintf(close, sizeof(close), "</%s>", tag);
    size_t from = wr_span_find(text, wr_span_of(open), 0);
    if (from == SIZE_MAX)
        return nothing;
    from += strlen(open);
    size_t to = wr_span_find(text, wr_span_of(close), from);
    return to == SIZE_MAX ? nothing : wr_span_cut(text, from, to);
}

/* What the result says of itself in tags before its content. */
static void write_tags(struct wr_buf *out, weir_span text)
{
    static const char *const tags[] = {"path",  "sha256",    "total_lines", "offset",
                                       "limit", "truncated", "next_offset"};
    weir_span before, content;
    if (!find_content(text, &before, &content))
        return;
    for (size_t i = 0; i < WR_COUNT_OF(tags); i++)
        write_field(out, tags[i], wr_span_trim(find_tag(before, tags[i])));
}

static void write_result_handles(struct wr_buf *out, const struct result *r)
{
    const struct wr_tool_handles *h = r->call.handles;
    if (r->is_tagged) {
        write_tags(out, r->text);
        return;
    }
    if (h && h->is_running)
        wr_buf_text(out, "status: running\n");
    else if (r->has_failed)
        wr_buf_text(out, "status: failed\n");
    if (!h)
        return;
    if (h->has_exit_code)
        wr_buf_printf(out, "exit_code: %d\n", h->exit_code);
    write_number(out, "total_lines", h->total_lines);
    if (h->cut != WR_TOOL_CUT_NONE)
        wr_buf_text(out, "truncated: true\n");
    write_number(out, "next_offset", h->next_offset);
    write_field(out, "full_output", h->spill_path);
}

/* ---- one result ---- */

static void write_read(struct wr_buf *out, const struct result *r, bool is_exact,
                       const struct wr_loop_options *options)
{
    const struct wr_tool_handles *h = r->call.handles;
    if (!r->content.len)
        return;
    if (is_exact) {
        wr_buf_text(out, "exact_evidence:\n");
        wr_text_indent(out, r->content, "  ");
        return;
    }
    write_preview(out, "content_preview", r->content, false, options);
    wr_buf_text(out, "content_recovery: call ");
    wr_text_one_line(out, r->call.capability);
    wr_buf_text(out, h && h->is_shell
                         ? " with the same command and a narrower range of lines for exact lines.\n"
                         : " with the same path and a narrower offset/limit for exact lines.\n");
}

static void write_changed(struct wr_buf *out, const struct result *r)
{
    if (r->is_outdated && r->content.len)
        wr_buf_text(out, "changed_since: the file was changed after this read; reading it again "
                         "gives it as it is now.\n");
}

/* A process that answers in JSON. False: it does not. */
static bool write_process(struct wr_buf *out, const struct result *r, struct wr_arena *arena,
                          const struct wr_loop_options *options)
{
    static const char *const names[] = {"process_id", "status", "exit_code", "cursor", "truncated"};
    struct wr_json doc;

    if (wr_json_parse(&doc, arena, r->text, NULL, NULL) || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return false;
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        write_json_value(out, &doc, arena, names[i]);
    wr_json_id output = wr_json_find(&doc, 0, "output");
    if (wr_json_is(&doc, output, WR_JSON_STRING))
        write_preview(out, "output_preview", wr_json_text(&doc, arena, output), true, options);
    wr_buf_text(out, "output_recovery: call process_read with process_id plus "
                     "cursor/mode/search query for exact log chunks.\n");
    return true;
}

static bool shows_its_end(const struct result *r)
{
    const struct wr_tool_handles *h = r->call.handles;
    return r->has_failed || is_process(r->call.capability) ||
           (h && (h->is_shell || h->kind == WR_EFFECT_RUN || h->kind == WR_EFFECT_POLL));
}

static void write_result(struct wr_buf *out, const struct result *r, struct wr_arena *arena,
                         bool is_exact, const struct wr_loop_options *options)
{
    wr_buf_text(out, "[TOOL RESULT SUMMARY]\n");
    write_field(out, "capability", r->call.capability);
    if (r->call.purpose.len) {
        wr_buf_text(out, "purpose: ");
        wr_text_one_line_max(out, r->call.purpose, PURPOSE_CHARS_MAX);
        wr_buf_byte(out, '\n');
    }
    write_call_handles(out, &r->call, arena);
    if (is_process(r->call.capability) && write_process(out, r, arena, options))
        return;
    write_result_handles(out, r);
    if (!r->is_read) {
        write_preview(out, "preview", r->text, shows_its_end(r), options);
        return;
    }
    write_read(out, r, is_exact, options);
    write_changed(out, r);
}

static void drop_line_end(struct wr_buf *buf)
{
    if (buf->len && buf->bytes[buf->len - 1] == '\n')
        buf->len--;
}

static weir_status write_block(struct wr_buf *out, const struct wr_transcript *t,
                               struct wr_arena *arena, uint32_t segment, bool is_exact,
                               const struct wr_loop_options *options)
{
    struct result r;
    weir_status status = read_result(&r, t, arena, segment);
    if (status)
        return status;
    r.is_outdated = wr_loop_is_outdated(&t->segments[segment], options->arrived);
    write_result(out, &r, arena, is_exact, options);
    drop_line_end(out);
    return wr_arena_status(arena);
}

bool wr_loop_is_outdated(const struct wr_segment *result, uint32_t arrived)
{
    return result->staleness == WR_STALE && result->stale_by < arrived;
}

weir_status wr_tool_result_summary(const struct wr_transcript *t, struct wr_arena *arena,
                                   uint32_t result, bool is_exact,
                                   const struct wr_loop_options *options, weir_span *text)
{
    struct wr_buf buf;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    weir_status status = write_block(&buf, t, arena, result, is_exact, options);
    if (status) {
        wr_buf_release(&buf);
        return status;
    }
    return wr_text_keep(arena, &buf, text);
}

weir_status wr_loop_evidence(const struct wr_transcript *t, struct wr_arena *arena,
                             const uint32_t *results, uint32_t results_count,
                             const struct wr_loop_options *options, bool *is_exact)
{
    uint64_t left = options->evidence_tokens;
    for (uint32_t i = results_count; i-- > 0;) {
        struct result r;
        weir_status status = read_result(&r, t, arena, results[i]);
        if (status)
            return status;
        is_exact[i] = false;
        if (!r.is_read || !r.content.len || r.content.len / TOKEN_BYTES_MAX > left)
            continue;
        uint64_t tokens = options->count(options->user, r.content);
        is_exact[i] = tokens <= left;
        left -= is_exact[i] ? tokens : 0;
    }
    return WEIR_OK;
}

/* ---- a whole loop ---- */

struct loop {
    const struct wr_transcript *transcript;
    struct wr_arena *arena;
    const uint32_t *segments;
    uint32_t segments_count;
    uint32_t *results;
    bool *is_exact;
    uint32_t results_count;
};

static weir_status find_results(struct loop *loop)
{
    loop->results = WR_ARENA_ARRAY(loop->arena, uint32_t, loop->segments_count);
    loop->is_exact = WR_ARENA_ARRAY(loop->arena, bool, loop->segments_count);
    if (!loop->results || !loop->is_exact)
        return wr_arena_status(loop->arena);
    for (uint32_t i = 0; i < loop->segments_count; i++)
        if (loop->transcript->segments[loop->segments[i]].kind == WEIR_KIND_TOOL_RESULT)
            loop->results[loop->results_count++] = loop->segments[i];
    return WEIR_OK;
}

static weir_status write_activity(struct wr_buf *out, const struct loop *loop,
                                  const struct wr_loop_options *options)
{
    if (!loop->results_count)
        wr_buf_text(out, "none\n");
    for (uint32_t i = 0; i < loop->results_count; i++) {
        weir_span block;
        weir_status status = wr_tool_result_summary(loop->transcript, loop->arena, loop->results[i],
                                                    loop->is_exact[i], options, &block);
        if (status)
            return status;
        wr_text_indent(out, block, "- ");
    }
    return WEIR_OK;
}

static bool is_model_text(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TEXT && s->role == WEIR_ROLE_ASSISTANT && s->parts_count;
}

/* Blank lines between and inside the model's texts are left out, as the document does. */
static weir_status loop_words(struct wr_buf *out, const struct wr_transcript *t,
                              struct wr_arena *arena, const uint32_t *segments,
                              uint32_t segments_count)
{
    size_t len_before = out->len;
    for (uint32_t i = 0; i < segments_count; i++) {
        const struct wr_segment *s = &t->segments[segments[i]];
        if (!is_model_text(s))
            continue;
        weir_span rest = wr_segment_text(t, s, arena), line;
        if (!rest.ptr)
            return wr_arena_status(arena);
        while (wr_span_line(&rest, &line))
            if (!wr_text_is_blank(line))
                wr_text_indent(out, line, "  ");
    }
    if (out->len == len_before)
        wr_buf_text(out, "none\n");
    return WEIR_OK;
}

weir_status wr_completed_loop_summary(const struct wr_transcript *t, struct wr_arena *arena,
                                      const uint32_t *segments, uint32_t segments_count,
                                      const struct wr_loop_options *options, weir_span *text)
{
    struct loop loop = {t, arena, segments, segments_count, NULL, NULL, 0};
    struct wr_buf buf;

    weir_status status = find_results(&loop);
    if (!status)
        status =
            wr_loop_evidence(t, arena, loop.results, loop.results_count, options, loop.is_exact);
    if (status)
        return status;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&buf, "[COMPLETED AGENT LOOP SUMMARY]\ntool_activity:\n");
    status = write_activity(&buf, &loop, options);
    if (!status) {
        wr_buf_text(&buf, "assistant_result:\n");
        status = loop_words(&buf, t, arena, segments, segments_count);
    }
    wr_buf_text(&buf,
                "recovery_rule: use the listed path/offset/limit/next_offset or "
                "process_id/cursor/query handle to recover exact details; do not reread whole "
                "large outputs unless the user explicitly needs the whole artifact.");
    if (status) {
        wr_buf_release(&buf);
        return status;
    }
    return wr_text_keep(arena, &buf, text);
}

/* Writes a loop's summary within a budget. Names of files come first, because they are short and
 * later answers use them most often; then the calls, the newest first: with a block for their
 * result while those fit, then one line each, then only their number. The output is in the order
 * in which things happened. */

enum { LINE_CHARS_MAX = 100, FILES_SHARE = 2, BLOCKS_SHARE_PCT = 75 };

struct brief {
    const struct wr_transcript *transcript;
    struct wr_arena *arena;
    const struct wr_loop_options *options;
    uint32_t *results; /* oldest first */
    bool *is_exact;
    weir_span *told; /* what is written of each; empty: nothing */
    uint32_t results_count;
    uint64_t left; /* of the budget */
};

static uint64_t count(const struct brief *b, weir_span text)
{
    return b->options->count(b->options->user, text);
}

/* ---- files ---- */

static bool is_listed(const weir_span *paths, uint32_t paths_count, weir_span path)
{
    for (uint32_t i = 0; i < paths_count; i++)
        if (wr_span_eq(paths[i], path))
            return true;
    return false;
}

/* Adds the path of an effect of the wanted sort, unless it is there. */
static uint32_t list_effects(const struct wr_tool_handles *h, bool changed, weir_span *paths,
                             uint32_t paths_count, uint32_t paths_max)
{
    for (size_t i = 0; i < h->effects_count && paths_count < paths_max; i++) {
        const struct wr_effect *e = &h->effects[i];
        bool is_change = e->kind == WR_EFFECT_EDIT || e->kind == WR_EFFECT_WRITE;
        if ((changed ? is_change : e->kind == WR_EFFECT_READ) && e->path.len &&
            !is_listed(paths, paths_count, e->path))
            paths[paths_count++] = e->path;
    }
    return paths_count;
}

enum { FILES_MAX = 64 };

/* The files of a loop, newest first, as far as they fit in a share of what is left. */
static void write_files(struct wr_buf *out, struct brief *b, const char *name, bool changed,
                        const weir_span *but, uint32_t but_count, weir_span paths[FILES_MAX],
                        uint32_t *paths_count)
{
    uint64_t room = b->left / FILES_SHARE;
    bool is_first = true;

    *paths_count = 0;
    for (uint32_t i = b->results_count; i-- > 0 && *paths_count < FILES_MAX;) {
        const struct wr_segment *s = &b->transcript->segments[b->results[i]];
        if (s->handles && !wr_result_has_failed(s, s->handles))
            *paths_count = list_effects(s->handles, changed, paths, *paths_count, FILES_MAX);
    }
    for (uint32_t i = 0; i < *paths_count; i++) {
        uint64_t tokens = count(b, paths[i]) + 1;
        if (is_listed(but, but_count, paths[i]))
            continue;
        if (tokens > room)
            break;
        room -= tokens;
        b->left -= tokens;
        wr_buf_printf(out, is_first ? "%s: " : ", ", name);
        wr_text_one_line(out, paths[i]);
        is_first = false;
    }
    if (!is_first)
        wr_buf_byte(out, '\n');
}

/* ---- calls ---- */

static weir_status write_line(struct brief *b, uint32_t result, weir_span *line)
{
    const struct wr_segment *s = &b->transcript->segments[result];
    struct wr_call call;
    struct wr_buf out;
    weir_status status = wr_call_read(&call, b->arena, b->transcript, s->pair);
    if (status)
        return status;
    weir_span what = call.handles && call.handles->path.len    ? call.handles->path
                     : call.handles && call.handles->query.len ? call.handles->query
                                                               : call.purpose;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_text_one_line_max(&out, call.capability, LINE_CHARS_MAX);
    if (what.len) {
        wr_buf_text(&out, ": ");
        wr_text_one_line_max(&out, what, LINE_CHARS_MAX);
    }
    if (wr_result_has_failed(s, call.handles))
        wr_buf_text(&out, " (failed)");
    if (out.status) {
        wr_buf_release(&out);
        return out.status;
    }
    return wr_text_keep(b->arena, &out, line);
}

/* Takes the text for a result if it fits, leaving `reserve` of the budget. */
static bool take_text(struct brief *b, uint32_t i, weir_span text, uint64_t reserve)
{
    uint64_t tokens = count(b, text) + 1;
    if (tokens + reserve > b->left)
        return false;
    b->left -= tokens;
    b->told[i] = text;
    return true;
}

/* With its lines where it is a read that keeps them, then without. */
static weir_status tell_block(struct brief *b, uint32_t i, uint64_t reserve, bool *is_told)
{
    weir_status status = WEIR_OK;
    *is_told = false;
    for (int exact = b->is_exact[i]; exact >= 0 && !status && !*is_told; exact--) {
        weir_span text;
        status = wr_tool_result_summary(b->transcript, b->arena, b->results[i], exact > 0,
                                        b->options, &text);
        *is_told = !status && take_text(b, i, text, reserve);
    }
    return status;
}

/* Returns in *first the oldest result that is told of. */
static weir_status tell_calls(struct brief *b, uint32_t *first)
{
    uint64_t reserve = b->left * (100 - BLOCKS_SHARE_PCT) / 100;
    bool has_room = true, is_told = true;
    weir_status status = WEIR_OK;

    for (*first = b->results_count; *first > 0; --*first) {
        weir_span line;
        uint32_t i = *first - 1;
        if (has_room)
            status = tell_block(b, i, reserve, &has_room);
        if (!status && !has_room)
            status = write_line(b, b->results[i], &line);
        if (!status && !has_room)
            is_told = take_text(b, i, line, 0);
        if (status || !is_told)
            break;
    }
    return status;
}

static weir_status write_brief_activity(struct wr_buf *out, struct brief *b)
{
    uint32_t first;
    weir_status status = wr_loop_evidence(b->transcript, b->arena, b->results, b->results_count,
                                          b->options, b->is_exact);
    if (!status)
        status = tell_calls(b, &first);
    if (status)
        return status;
    wr_buf_text(out, "tool_activity:\n");
    if (!b->results_count)
        wr_buf_text(out, "none\n");
    if (first)
        wr_buf_printf(out, "- %u %scall%s behind the handle below\n", first,
                      first < b->results_count ? "earlier " : "", first == 1 ? " is" : "s are");
    for (uint32_t i = first; i < b->results_count; i++)
        wr_text_indent(out, b->told[i], "- ");
    return WEIR_OK;
}

/* ---- the whole ---- */

static weir_status find_brief_results(struct brief *b, const uint32_t *segments,
                                      uint32_t segments_count)
{
    b->results = WR_ARENA_ARRAY(b->arena, uint32_t, segments_count);
    b->is_exact = WR_ARENA_ARRAY(b->arena, bool, segments_count);
    b->told = WR_ARENA_ARRAY(b->arena, weir_span, segments_count);
    if (!b->results || !b->is_exact || !b->told)
        return wr_arena_status(b->arena);
    for (uint32_t i = 0; i < segments_count; i++)
        if (b->transcript->segments[segments[i]].kind == WEIR_KIND_TOOL_RESULT)
            b->results[b->results_count++] = segments[i];
    return WEIR_OK;
}

weir_status wr_loop_brief(const struct wr_transcript *transcript, struct wr_arena *arena,
                          const uint32_t *segments, uint32_t segments_count, uint64_t tokens,
                          const struct wr_loop_options *options, weir_span *text)
{
    struct brief b = {.transcript = transcript, .arena = arena, .options = options, .left = tokens};
    weir_span changed[FILES_MAX], read[FILES_MAX];
    uint32_t changed_count, read_count;
    struct wr_buf out;

    weir_status status = find_brief_results(&b, segments, segments_count);
    if (status)
        return status;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&out, WR_LOOP_FRONT "\n");
    write_files(&out, &b, "files_changed", true, NULL, 0, changed, &changed_count);
    write_files(&out, &b, "files_read", false, changed, changed_count, read, &read_count);
    status = write_brief_activity(&out, &b);
    if (!status) {
        wr_buf_text(&out, "assistant_result:\n");
        status = loop_words(&out, transcript, arena, segments, segments_count);
    }
    wr_buf_text(&out, "recovery_rule: the handle below holds every call and result of this work; "
                      "ask it by grep or by lines for exact details.");
    if (status) {
        wr_buf_release(&out);
        return status;
    }
    return wr_text_keep(arena, &out, text);
}
