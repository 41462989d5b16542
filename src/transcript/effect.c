
#include "transcript/effect.h"

#include "base/span.h"

const char *wr_effect_kind_text(enum wr_effect_kind kind)
{
    static const char *const texts[WR_EFFECT_KINDS] = {
        [WR_EFFECT_OTHER] = "other", [WR_EFFECT_READ] = "read",   [WR_EFFECT_SEARCH] = "search",
        [WR_EFFECT_LIST] = "list",   [WR_EFFECT_DIFF] = "diff",   [WR_EFFECT_EDIT] = "edit",
        [WR_EFFECT_WRITE] = "write", [WR_EFFECT_RUN] = "run",     [WR_EFFECT_POLL] = "poll",
        [WR_EFFECT_PLAN] = "plan",   [WR_EFFECT_FETCH] = "fetch", [WR_EFFECT_RECALL] = "recall",
        [WR_EFFECT_SKILL] = "skill",
    };
    return (unsigned)kind < WR_EFFECT_KINDS ? texts[kind] : "other";
}

/* ---- ranges of lines ---- */

/* Line number `n` of a piece that begins at `start` and ends at `end`, as a line of the file. */
static int64_t resolve_line(int64_t start, int64_t end, int64_t n)
{
    return n > 0 ? start + n - 1 : end + n + 1;
}

static bool same_sign(int64_t a, int64_t b)
{
    return (a > 0) == (b > 0);
}

struct wr_lines wr_lines_slice(struct wr_lines of, struct wr_lines slice)
{
    const struct wr_lines unknown = {0, 0, false};
    int64_t a = of.start, b = of.end;
    /* From a line counted from the end up to a numbered one: which comes first depends on the file.
     */
    bool upside_down = a < 0 && b > 0;
    if (!a || !b || !slice.start || !slice.end || upside_down)
        return unknown;

    struct wr_lines lines = {resolve_line(a, b, slice.start), resolve_line(a, b, slice.end),
                             of.if_long};
    /* Counting on from the last lines never leads to a numbered one, nor the other way round. */
    bool crosses = !same_sign(slice.start > 0 ? a : b, lines.start) ||
                   !same_sign(slice.end > 0 ? a : b, lines.end);
    if (!lines.start || !lines.end || crosses)
        return unknown;

    /* Clip to the piece: what lies before its start or behind its end is not there to be taken. */
    if (same_sign(lines.start, a) && lines.start < a)
        lines.start = a;
    if (same_sign(lines.end, b) && lines.end > b)
        lines.end = b;
    bool end_hidden = slice.end > 0 && a > 0 && b < -1; /* which of the two ends comes first? */
    bool empty = same_sign(lines.start, lines.end) && lines.start > lines.end;
    if (end_hidden || empty)
        return unknown;

    bool from_end = slice.start < 0 || slice.end < -1;
    lines.if_long |= slice.if_long || (b > 0 && from_end); /* the piece may end sooner */
    lines.if_long |= a > 1 && b < 0 && slice.start < 0;    /* and begin later */
    lines.if_long |=
        a < 0 && (slice.start > 1 || slice.end > 0); /* there may be fewer last lines */
    lines.if_long |= a == 1 && b < -1 && slice.start < 0;
    return lines;
}

/* ---- patches ---- */

void wr_patch_init(struct wr_patch *patch, weir_span text)
{
    *patch = (struct wr_patch){.rest = text};
}

static bool take_prefix(weir_span line, const char *prefix, weir_span *path)
{
    weir_span start = wr_span_of(prefix);
    if (!wr_span_starts(line, start))
        return false;
    *path = wr_span_trim(wr_span_from(line, start.len));
    return path->len > 0;
}

static bool read_marker(weir_span line, struct wr_patch_file *file)
{
    static const struct {
        const char *prefix;
        enum wr_effect_kind kind;
    } markers[] = {
        {"*** Update File:", WR_EFFECT_EDIT},
        {"*** Add File:", WR_EFFECT_WRITE},
        {"*** Delete File:", WR_EFFECT_WRITE},
        {"*** Move to:", WR_EFFECT_WRITE},
    };
    for (size_t i = 0; i < WR_COUNT_OF(markers); i++)
        if (take_prefix(line, markers[i].prefix, &file->path)) {
            file->kind = markers[i].kind;
            return true;
        }
    return false;
}

/* A unified diff's name: up to a tab (a date may follow), without git's `a/` or `b/`. */
static weir_span diff_name(weir_span name)
{
    const char *tab = memchr(name.ptr, '\t', name.len);
    if (tab)
        name.len = (size_t)(tab - name.ptr);
    if (wr_span_starts(name, WR_LIT("a/")) || wr_span_starts(name, WR_LIT("b/")))
        name = wr_span_from(name, 2);
    return wr_span_trim(name);
}

/* A `+++` line counts only right behind a `---` line: elsewhere it is an added line of text. */
static bool read_diff(struct wr_patch *patch, weir_span line, struct wr_patch_file *file)
{
    weir_span name;
    bool had_old = patch->has_old;
    weir_span old_path = patch->old_path;

    patch->has_old = take_prefix(line, "--- ", &name);
    if (patch->has_old)
        patch->old_path = diff_name(name);
    if (!had_old || !take_prefix(line, "+++ ", &name))
        return false;
    name = diff_name(name);
    bool removed = wr_span_is(name, "/dev/null"), made = wr_span_is(old_path, "/dev/null");
    file->kind = removed || made ? WR_EFFECT_WRITE : WR_EFFECT_EDIT;
    file->path = removed ? old_path : name;
    return !(removed && made);
}

bool wr_patch_next(struct wr_patch *patch, struct wr_patch_file *file)
{
    weir_span line;
    while (wr_span_line(&patch->rest, &line)) {
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (read_marker(line, file) || read_diff(patch, line, file))
            return true;
    }
    return false;
}
