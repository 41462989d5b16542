/* Which file is meant: paths as agents write them, joined, normalised and compared by their names
 * alone; files of instructions; and which results are out of date because a later call changed the
 * file that they show. */
#include "transcript/path.h"

#include <string.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- paths ---- */

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

/* ---- out of date ---- */

/* Which results are out of date, found in one walk over the calls from the last to the first.
 *
 * Going backwards, every later write is in a table already when a read is met, and the nearest
 * later write is the one found. A path stands in the table under two sorts of keys:
 *
 *   WHOLE    the normalised path
 *   ENDING   every run of its last names, up to WR_STALE_PARTS_MAX: a relative path and an absolute
 *            one may be the same file where one is an ending of the other
 *
 * Process ids have a key space of their own (PROCESS), for polls that a later poll replaces. A call
 * that may have written anything (a command line that could not be read to its end, `git checkout
 * main`) is not in the table: it is the one number `tree_call`, and makes every earlier read MAYBE
 * stale.
 *
 * A read looks up itself and the directories it is in. The time grows with the bytes of the paths
 * and not with the square of the calls.
 */

enum key_space { WHOLE, ENDING, PROCESS };

struct item {
    weir_span key;
    enum key_space space;
    uint32_t call;
    bool is_live; /* PROCESS: a later poll of the same run exists */
};

struct marker {
    struct wr_arena *arena;
    struct wr_index index;
    struct item *items;
    uint32_t items_count, items_max;
    weir_span cwd;
    uint32_t tree_call; /* nearest later call that may have written anything; UINT32_MAX: none */
    bool has_writes;    /* some path stands in the table */
};

static bool is_same_key(const struct item *item, enum key_space space, weir_span key)
{
    return item->space == space && wr_span_eq(item->key, key);
}

static uint64_t hash_key(enum key_space space, weir_span key)
{
    return wr_hash64_seeded(key, (uint64_t)space + 1);
}

static struct item *find_key(struct marker *marker, enum key_space space, weir_span key)
{
    uint64_t hash = hash_key(space, key);
    uint32_t at = wr_index_first(&marker->index, hash), number;
    while ((number = wr_index_item(&marker->index, at)) != WR_INDEX_NONE) {
        if (is_same_key(&marker->items[number], space, key))
            return &marker->items[number];
        at = wr_index_next(&marker->index, at, hash);
    }
    return NULL;
}

/* The item of a key, made where there is none. */
static struct item *get_key(struct marker *marker, enum key_space space, weir_span key)
{
    uint64_t hash = hash_key(space, key);
    uint32_t at = wr_index_first(&marker->index, hash), number;
    while ((number = wr_index_item(&marker->index, at)) != WR_INDEX_NONE) {
        if (is_same_key(&marker->items[number], space, key))
            return &marker->items[number];
        at = wr_index_next(&marker->index, at, hash);
    }
    struct item *item = &marker->items[marker->items_count];
    *item = (struct item){.key = key, .space = space};
    wr_index_put(&marker->index, at, hash, marker->items_count++);
    return item;
}

/* --- parts of paths --- */

/* Moves `*end` to the end of the directory that holds path[0, *end); false at the front. */
static bool go_up(weir_span path, size_t *end)
{
    size_t at = *end;
    while (at && path.ptr[at - 1] != '/')
        at--;
    if (at <= 1)
        return false;
    *end = at - 1;
    return true;
}

/* The part of path[0, end) from its `names`-th last name on; empty where it has fewer names, or
 * exactly as many and does not begin with a root (it would be all of it). */
static weir_span last_names(weir_span path, size_t end, int names)
{
    size_t at = end;
    for (int i = 0; i < names; i++) {
        if (!at)
            return (weir_span){"", 0};
        if (i)
            at--; /* the slash */
        while (at && path.ptr[at - 1] != '/')
            at--;
    }
    return wr_span_cut(path, at, at < end ? end : at);
}

static weir_span without_home(weir_span path)
{
    return wr_span_starts(path, WR_LIT("~/")) ? wr_span_from(path, 2) : path;
}

static bool is_rooted(weir_span path)
{
    return wr_path_is_absolute(path) && path.ptr[0] != '~';
}

/* --- writes --- */

static void add_written_path(struct marker *marker, weir_span path, uint32_t call)
{
    marker->has_writes = true;
    get_key(marker, WHOLE, path)->call = call;
    if (!is_rooted(path)) {
        get_key(marker, WHOLE, without_home(path))->call = call;
        return;
    }
    for (int names = 1; names <= WR_STALE_PARTS_MAX; names++) {
        weir_span part = last_names(path, path.len, names);
        if (!part.len)
            break;
        get_key(marker, ENDING, part)->call = call;
    }
}

/* --- reads --- */

struct verdict {
    enum wr_staleness staleness;
    uint32_t by, touched_by;
};

static void judge_item(struct verdict *verdict, enum wr_staleness staleness,
                       const struct item *item)
{
    if (!item)
        return;
    if (item->call < verdict->touched_by)
        verdict->touched_by = item->call;
    if (staleness > verdict->staleness ||
        (staleness == verdict->staleness && item->call < verdict->by)) {
        verdict->staleness = staleness;
        verdict->by = item->call;
    }
}

/* The path itself, or a directory it is in, ending at `end`. */
static void judge_part(struct marker *marker, struct verdict *verdict, weir_span path, size_t end)
{
    weir_span part = wr_span_cut(path, 0, end);
    bool itself = end == path.len;
    judge_item(verdict, itself ? WR_STALE : WR_MAYBE_STALE, find_key(marker, WHOLE, part));
    if (!is_rooted(path)) {
        judge_item(verdict, WR_MAYBE_STALE, find_key(marker, ENDING, without_home(part)));
        return;
    }
    for (int names = 1; names <= WR_STALE_PARTS_MAX; names++) {
        weir_span relative = last_names(path, end, names);
        if (!relative.len)
            return;
        judge_item(verdict, WR_MAYBE_STALE, find_key(marker, WHOLE, relative));
    }
}

static struct verdict judge_read(struct marker *marker, weir_span path)
{
    struct verdict verdict = {WR_FRESH, UINT32_MAX, UINT32_MAX};
    size_t end = path.len;
    int parts = 0;
    do
        judge_part(marker, &verdict, path, end);
    while (++parts < WR_STALE_PARTS_MAX && go_up(path, &end));
    if (!wr_path_is_absolute(path))
        judge_item(&verdict, WR_MAYBE_STALE, find_key(marker, WHOLE, WR_LIT(".")));
    return verdict;
}

/* --- the walk --- */

/* Whether a search names a file, not a directory: then its last name has a dot inside. */
static bool names_file(weir_span path)
{
    weir_span name = last_names(path, path.len, 1);
    return name.len > 1 && memchr(name.ptr + 1, '.', name.len - 1);
}

static bool can_be_stale(const struct wr_effect *effect)
{
    if (effect->rev.len || !effect->literal || !effect->path.len)
        return false;
    return effect->kind == WR_EFFECT_READ ||
           (effect->kind == WR_EFFECT_SEARCH && names_file(effect->path));
}

static weir_status mark_effect(struct marker *marker, struct wr_stale *stale,
                               const struct wr_effect *effect, uint32_t call)
{
    bool writes = wr_effect_writes(effect), reads = can_be_stale(effect);
    if (!writes && !reads)
        return WEIR_OK;
    bool anything = writes && (effect->whole_tree || !effect->literal || !effect->path.len ||
                               effect->path.len > WR_STALE_PATH_BYTES_MAX);
    if (anything) {
        marker->tree_call = call;
        return WEIR_OK;
    }
    struct verdict verdict = {WR_FRESH, UINT32_MAX, UINT32_MAX};
    if (writes || marker->has_writes) {
        weir_span path = wr_path_join(marker->arena, marker->cwd, effect->path);
        if (!path.ptr)
            return wr_arena_status(marker->arena);
        if (writes) {
            add_written_path(marker, path, call);
            return WEIR_OK;
        }
        if (path.len <= WR_STALE_PATH_BYTES_MAX)
            verdict = judge_read(marker, path);
    }
    if (marker->tree_call != UINT32_MAX)
        judge_item(&verdict, WR_MAYBE_STALE, &(struct item){.call = marker->tree_call});
    /* Where one call read several files, the first of them that changed makes it stale. */
    if (verdict.staleness > stale->staleness ||
        (verdict.staleness == stale->staleness && verdict.by < stale->by)) {
        stale->staleness = verdict.staleness;
        stale->by = verdict.by;
    }
    if (verdict.touched_by < stale->touched_by)
        stale->touched_by = verdict.touched_by;
    return WEIR_OK;
}

static void mark_process(struct marker *marker, struct wr_stale *stale,
                         const struct wr_tool_handles *handles, uint32_t call)
{
    if (!handles->process_id.len)
        return;
    struct item *item = get_key(marker, PROCESS, handles->process_id);
    if (handles->kind == WR_EFFECT_POLL) {
        stale->is_superseded = item->is_live;
        if (item->is_live)
            stale->by = item->call;
        item->is_live = true;
        item->call = call;
    } else if (handles->is_shell) {
        item->is_live = false; /* here the process began: earlier ones of that id are others */
    }
}

static weir_status mark_call(struct marker *marker, struct wr_stale *stale,
                             const struct wr_tool_handles *handles, uint32_t call)
{
    bool failed = handles->is_error && !handles->is_shell;
    weir_status status = WEIR_OK;
    if (handles->is_shell && !handles->is_understood)
        marker->tree_call = call; /* it may have done more than could be read */
    for (size_t i = handles->effects_count; i > 0 && !status; i--) {
        const struct wr_effect *effect = &handles->effects[i - 1];
        if (!(failed && wr_effect_writes(effect)))
            status = mark_effect(marker, stale, effect, call);
    }
    mark_process(marker, stale, handles, call);
    return status;
}

/* Keys are at most one for a process, and for a write two or those of its endings. */
static uint32_t count_keys(const struct wr_tool_handles *const *handles, size_t count)
{
    uint64_t keys = 1;
    for (size_t i = 0; i < count; i++) {
        if (!handles[i])
            continue;
        keys++;
        for (size_t k = 0; k < handles[i]->effects_count; k++)
            keys += wr_effect_writes(&handles[i]->effects[k]) ? WR_STALE_PARTS_MAX + 2 : 0;
    }
    return keys < UINT32_MAX / 4 ? (uint32_t)keys : UINT32_MAX;
}

weir_status wr_stale_mark(struct wr_stale *stale, struct wr_arena *arena,
                          const struct wr_tool_handles *const *handles, size_t count, weir_span cwd)
{
    struct marker marker = {.arena = arena,
                            .cwd = cwd,
                            .tree_call = UINT32_MAX,
                            .items_max = count_keys(handles, count)};

    if (count >= UINT32_MAX || marker.items_max == UINT32_MAX)
        return WEIR_LIMIT;
    weir_status status = wr_index_init(&marker.index, arena, marker.items_max);
    if (status)
        return status;
    marker.items = WR_ARENA_ARRAY(arena, struct item, marker.items_max);
    if (!marker.items)
        return wr_arena_status(arena);
    for (size_t i = count; i > 0 && !status; i--) {
        stale[i - 1] = (struct wr_stale){.by = UINT32_MAX, .touched_by = UINT32_MAX};
        if (handles[i - 1])
            status = mark_call(&marker, &stale[i - 1], handles[i - 1], (uint32_t)(i - 1));
    }
    return status;
}
