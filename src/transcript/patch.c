#include "transcript/patch.h"

#include "base/span.h"

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
