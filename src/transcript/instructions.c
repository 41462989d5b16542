#include "transcript/instructions.h"

#include "base/span.h"

/* The last name of a path. */
static const char *const names[] = {
    "AGENTS.md",
    "AGENTS.override.md",
    "AGENT.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "QWEN.md",
    "SKILL.md",
    "CONVENTIONS.md",
    "WARP.md",
    ".cursorrules",
    ".clinerules",
    ".windsurfrules",
    ".roorules",
    ".goosehints",
    ".rules",
    ".augment-guidelines",
};

/* Names that only count in a certain directory. */
static const struct {
    const char *name, *dir;
} places[] = {{"guidelines.md", ".junie"}, {"copilot-instructions.md", ".github"}};

/* Everything below these counts. */
static const char *const dirs[] = {
    ".cursor/rules/",        ".claude/rules/",  ".clinerules/",
    ".windsurf/rules/",      ".roo/rules/",     ".continue/rules/",
    ".github/instructions/", ".kiro/steering/", ".amazonq/rules/",
};

static size_t last_slash(weir_span path)
{
    size_t at = path.len;
    while (at && path.ptr[at - 1] != '/' && path.ptr[at - 1] != '\\')
        at--;
    return at;
}

static bool stands_in_dir(weir_span path, size_t name_at, const char *dir)
{
    weir_span before = wr_span_cut(path, 0, name_at ? name_at - 1 : 0);
    return wr_span_is(wr_span_from(before, last_slash(before)), dir);
}

static bool is_below_dir(weir_span path, const char *dir)
{
    size_t at = wr_span_find(path, wr_span_of(dir), 0);
    return at != SIZE_MAX && (!at || path.ptr[at - 1] == '/');
}

bool wr_path_is_instructions(weir_span path)
{
    size_t name_at = last_slash(path);
    weir_span name = wr_span_from(path, name_at);

    for (size_t i = 0; i < WR_COUNT_OF(places); i++)
        if (wr_span_is(name, places[i].name))
            return stands_in_dir(path, name_at, places[i].dir);
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_span_is(name, names[i]))
            return true;
    for (size_t i = 0; i < WR_COUNT_OF(dirs); i++)
        if (is_below_dir(path, dirs[i]))
            return true;
    return false;
}

bool wr_tool_shows_instructions(const struct wr_tool_handles *handles)
{
    if (handles->kind == WR_EFFECT_SKILL)
        return true;
    for (size_t i = 0; i < handles->effects_count; i++) {
        const struct wr_effect *e = &handles->effects[i];
        if (e->kind == WR_EFFECT_READ && !e->filtered && !e->rev.len &&
            wr_path_is_instructions(e->path))
            return true;
    }
    return false;
}
