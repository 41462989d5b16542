/* Paths as agents write them: joined, normalised, and compared by their names alone.
 *
 * Nothing is looked up in a file system, so comparing has three answers. Two paths are SAME or
 * DIFFERENT where their names say so; they are MAYBE the same where that hangs on a directory that
 * is not known: a relative path without a working directory, or one that begins with `~`.
 *
 * wr_path_compare() walks both paths from their last names to their first, with `.` and `..`
 * applied on the way, without writing them out. From the end, because most comparisons are of
 * different files and end at the first name.
 */

#include "transcript/path.h"

#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

static bool is_separator(char c)
{
    return c == '/';
}

bool wr_path_is_absolute(weir_span path)
{
    if (!path.len)
        return false;
    if (path.ptr[0] == '/' || path.ptr[0] == '~')
        return true;
    if (path.len > 2 && wr_is_alpha(path.ptr[0]) && path.ptr[1] == ':' &&
        (path.ptr[2] == '/' || path.ptr[2] == '\\'))
        return true;
    return memchr(path.ptr, ':', path.len) && wr_span_has(path, WR_LIT("://"));
}

/* Whether the path has no empty name, no `.` and no `..`, and does not end in a slash. */
static bool is_normal_path(weir_span path)
{
    size_t name = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && !is_separator(path.ptr[i]))
            continue;
        weir_span part = wr_span_cut(path, name, i);
        bool leading_slash = i == 0 && path.len > 1;
        if ((!part.len && !leading_slash) || wr_span_is(part, ".") || wr_span_is(part, ".."))
            return false;
        name = i + 1;
    }
    return true;
}

struct builder {
    char *bytes;
    size_t len;
    size_t root; /* bytes that `..` may not take away */
};

static void add_name(struct builder *out, weir_span name)
{
    bool joins = out->len && !is_separator(out->bytes[out->len - 1]);
    if (joins)
        out->bytes[out->len++] = '/';
    memcpy(out->bytes + out->len, name.ptr, name.len);
    out->len += name.len;
}

/* Drops the last name; false where there is none, or it is itself `..`. */
static bool drop_name(struct builder *out)
{
    size_t at = out->len;
    while (at > out->root && !is_separator(out->bytes[at - 1]))
        at--;
    weir_span last = {out->bytes + at, out->len - at};
    if (!last.len || wr_span_is(last, "..") || wr_span_is(last, "~"))
        return false;
    out->len = at > out->root && is_separator(out->bytes[at - 1]) ? at - 1 : at;
    return true;
}

static void add_path(struct builder *out, weir_span path)
{
    size_t name = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && !is_separator(path.ptr[i]))
            continue;
        weir_span part = wr_span_cut(path, name, i);
        name = i + 1;
        if (!part.len || wr_span_is(part, "."))
            continue;
        if (!wr_span_is(part, ".."))
            add_name(out, part);
        else if (!drop_name(out) && !out->root)
            add_name(out, part); /* above where we are: still a name */
    }
}

weir_span wr_path_join(struct wr_arena *arena, weir_span dir, weir_span path)
{
    if (wr_path_is_absolute(path))
        dir = (weir_span){"", 0};
    if (!dir.len && (!path.len || is_normal_path(path)))
        return path;
    if (!path.len && is_normal_path(dir))
        return dir;

    struct builder out = {.bytes = wr_arena_alloc(arena, dir.len + path.len + 2)};
    if (!out.bytes)
        return (weir_span){NULL, 0};
    weir_span front = dir.len ? dir : path;
    if (front.len && front.ptr[0] == '/') {
        out.bytes[out.len++] = '/';
        out.root = 1;
    }
    add_path(&out, dir);
    add_path(&out, path);
    if (!out.len)
        out.bytes[out.len++] = '.';
    return (weir_span){out.bytes, out.len};
}

/* Walks the names of `dir`/`path` from the last to the first, with `..` already applied. */
struct names {
    weir_span parts[2]; /* dir, path */
    int part;           /* which one the walk is in */
    size_t end;         /* of what is left of it */
    size_t skip;        /* names that a `..` to their right takes away */
    bool rooted;        /* begins with a slash */
    bool home;          /* begins with `~` */
};

static struct names names_of(weir_span path, weir_span cwd)
{
    struct names walk = {.part = 1};
    if (!wr_path_is_absolute(path))
        walk.parts[0] = cwd;
    walk.parts[1] = path;
    walk.end = path.len;
    weir_span front = walk.parts[0].len ? walk.parts[0] : path;
    walk.rooted = front.len && wr_path_is_absolute(front);
    walk.home = front.len && front.ptr[0] == '~';
    return walk;
}

/* The next name to the left as it is written; empty at the front. */
static weir_span take_written_name(struct names *walk)
{
    for (;;) {
        weir_span text = walk->parts[walk->part];
        while (walk->end && is_separator(text.ptr[walk->end - 1]))
            walk->end--;
        if (walk->end) {
            size_t to = walk->end;
            while (walk->end && !is_separator(text.ptr[walk->end - 1]))
                walk->end--;
            return wr_span_cut(text, walk->end, to);
        }
        if (!walk->part)
            return (weir_span){"", 0};
        walk->part = 0;
        walk->end = walk->parts[0].len;
    }
}

static weir_span take_name(struct names *walk)
{
    for (;;) {
        weir_span name = take_written_name(walk);
        if (!name.len) {
            if (!walk->skip || walk->rooted)
                return name;
            walk->skip--;
            return WR_LIT("..");
        }
        if (wr_span_is(name, "."))
            continue;
        if (wr_span_is(name, "..")) {
            walk->skip++;
            continue;
        }
        if (!walk->skip)
            return name;
        walk->skip--;
    }
}

/* What to say when the names of one path have run out. */
static enum wr_path_relation relation_at_end(const struct names *shorter, bool other_ended,
                                             const struct names *other)
{
    if (other_ended)
        return shorter->rooted == other->rooted && shorter->home == other->home ? WR_PATH_SAME
                                                                                : WR_PATH_MAYBE;
    return shorter->rooted ? WR_PATH_DIFFERENT : WR_PATH_MAYBE;
}

enum wr_path_relation wr_path_compare(weir_span a, weir_span b, weir_span cwd)
{
    if (wr_span_eq(a, b))
        return WR_PATH_SAME;
    struct names left = names_of(a, cwd), right = names_of(b, cwd);

    for (int i = 0; i < WR_PATH_PARTS_MAX; i++) {
        weir_span x = take_name(&left), y = take_name(&right);
        if (left.home && wr_span_is(x, "~"))
            return right.home && wr_span_is(y, "~") ? WR_PATH_SAME
                   : y.len && !right.home           ? WR_PATH_MAYBE
                                                    : WR_PATH_DIFFERENT;
        if (right.home && wr_span_is(y, "~"))
            return x.len ? WR_PATH_MAYBE : WR_PATH_DIFFERENT;
        if (!x.len)
            return relation_at_end(&left, !y.len, &right);
        if (!y.len)
            return relation_at_end(&right, false, &left);
        if (!wr_span_eq(x, y))
            return WR_PATH_DIFFERENT;
    }
    return WR_PATH_MAYBE;
}

/* ==== instructions ==== */

/* The last name of a path. */
static const char *const instruction_files[] = {
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
    for (size_t i = 0; i < WR_COUNT_OF(instruction_files); i++)
        if (wr_span_is(name, instruction_files[i]))
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
