/* Puts a system prompt together from sections: an agent's files, its memory, the moment of the run.
 *
 * Sections that change from run to run (the clock, the directory) are kept apart from the others,
 * so that the part before them stays the same and the provider's cache holds. Where the whole is
 * over its budget, sections that need not stay give way from the end, each to a line that says
 * where to read it. */
#include "session/prompt.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/calendar.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"
#include "base/text.h"
#include "base/yaml.h"
#include "models/registry.h"
#include "policy/meter.h"
#include "session/disk.h"
#include "store/store.h"

/* ---- pieces ---- */

/* A blank or '=' in a name would be taken for the end of it. */
static void add_piece(struct wr_buf *out, weir_span name, uint64_t hash)
{
    if (out->len)
        wr_buf_byte(out, ' ');
    for (size_t i = 0; i < name.len; i++)
        wr_buf_byte(out,
                    (unsigned char)name.ptr[i] <= ' ' || name.ptr[i] == '=' ? '_' : name.ptr[i]);
    wr_buf_printf(out, "=%016llx", (unsigned long long)hash);
}

void wr_pieces_of_tools(struct wr_buf *out, const struct weir_tool *tools, size_t tools_count)
{
    for (size_t i = 0; i < tools_count; i++)
        add_piece(out, tools[i].name,
                  wr_hash64_seeded(tools[i].schema, wr_hash64(tools[i].description)));
}

void wr_pieces_of_prompt(struct wr_buf *out, const struct weir_prompt *prompt)
{
    for (size_t i = 0; i < weir_prompt_sections(prompt); i++) {
        const struct weir_section *section = weir_prompt_section(prompt, i);
        if (!section->is_volatile && !section->is_field)
            add_piece(out, wr_span_of(section->name),
                      wr_hash64_seeded(section->text, section->is_left_out));
    }
}

static bool next_piece(weir_span *rest, weir_span *piece)
{
    size_t end = wr_span_find(*rest, WR_LIT(" "), 0);
    if (!rest->len)
        return false;
    *piece = wr_span_cut(*rest, 0, end == SIZE_MAX ? rest->len : end);
    *rest = wr_span_cut(*rest, end == SIZE_MAX ? rest->len : end + 1, rest->len);
    return true;
}

static weir_span name_of(weir_span piece)
{
    size_t end = wr_span_find(piece, WR_LIT("="), 0);
    return wr_span_cut(piece, 0, end == SIZE_MAX ? piece.len : end);
}

/* The piece of that name; empty: there is none. */
static weir_span find_piece(weir_span pieces, weir_span name)
{
    weir_span piece;
    while (next_piece(&pieces, &piece))
        if (wr_span_eq(name_of(piece), name))
            return piece;
    return (weir_span){"", 0};
}

static void tell_piece(struct wr_buf *out, size_t begin, char sign, weir_span name)
{
    if (out->len > begin)
        wr_buf_byte(out, ' ');
    wr_buf_byte(out, sign);
    wr_buf_append(out, name);
}

void wr_pieces_diff(struct wr_buf *out, weir_span before, weir_span now)
{
    size_t begin = out->len;
    weir_span rest = now, piece;

    if (wr_span_eq(before, now))
        return;
    while (next_piece(&rest, &piece)) {
        weir_span old = find_piece(before, name_of(piece));
        if (!wr_span_eq(old, piece))
            tell_piece(out, begin, old.len ? '~' : '+', name_of(piece));
    }
    rest = before;
    while (next_piece(&rest, &piece))
        if (!find_piece(now, name_of(piece)).len)
            tell_piece(out, begin, '-', name_of(piece));
    if (out->len == begin)
        wr_buf_text(out, "their order");
}

/* ---- the prompt ---- */

static const char *const phase_names[] = WR_NAMES_OF(WEIR_PHASE_MAP);

const char *weir_phase_name(weir_phase phase)
{
    return phase_names[phase];
}

weir_status weir_prompt_new(struct weir_prompt **prompt)
{
    *prompt = calloc(1, sizeof(**prompt));
    if (!*prompt)
        return WEIR_NOMEM;
    wr_arena_init(&(*prompt)->arena, WR_ARENA_BYTES_MAX);
    return WEIR_OK;
}

void weir_prompt_free(struct weir_prompt *prompt)
{
    if (!prompt)
        return;
    wr_arena_release(&prompt->arena);
    free(prompt);
}

static const char *keep_text(struct weir_prompt *prompt, const char *text)
{
    return text ? wr_arena_copy(&prompt->arena, (weir_span){text, strlen(text) + 1}).ptr : NULL;
}

/* Remembers what was wrong with a file; past the cap it is forgotten. */
static weir_status prompt_note_trouble(struct weir_prompt *prompt, const char *text)
{
    if (prompt->troubles_count == WR_PROMPT_TROUBLES_MAX)
        return WEIR_OK;
    const char *kept = keep_text(prompt, text);
    if (!kept)
        return wr_arena_status(&prompt->arena);
    prompt->troubles[prompt->troubles_count++] = kept;
    return WEIR_OK;
}

const char *weir_prompt_trouble(const struct weir_prompt *prompt, size_t index)
{
    return index < prompt->troubles_count ? prompt->troubles[index] : NULL;
}

weir_status weir_prompt_add(struct weir_prompt *prompt, const struct weir_section *section,
                            struct weir_err *err)
{
    struct weir_section *added = &prompt->sections[prompt->sections_count];

    if (wr_text_is_blank(section->text))
        return WEIR_OK;
    if (prompt->sections_count == WR_PROMPT_SECTIONS_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a prompt has at most %d sections",
                       WR_PROMPT_SECTIONS_MAX);
    *added = *section;
    added->name = keep_text(prompt, section->name);
    added->source = keep_text(prompt, section->source);
    added->text = wr_arena_copy(&prompt->arena, wr_span_trim(section->text));
    added->tokens = 0;
    added->is_left_out = false;
    weir_status status = wr_arena_status(&prompt->arena);
    if (!status)
        prompt->sections_count++;
    return status;
}

/* ---- an agent's directory ---- */

static const struct file {
    const char *path;
    struct weir_section section;
} files[] = {
    {"AGENT.md",
     {.name = "identity", .phase = WEIR_PHASE_CONSTRAINT, .priority = 100, .is_sticky = true}},
    {"CONTRACT.md",
     {.name = "contract", .phase = WEIR_PHASE_CONSTRAINT, .priority = 90, .is_sticky = true}},
    {"HINTS.md", {.name = "hints", .phase = WEIR_PHASE_TASK, .priority = 80}},
    {"MEMORY.md", {.name = "memory", .phase = WEIR_PHASE_MEMORY, .priority = 50}},
};

static weir_status add_file(struct weir_prompt *prompt, const char *dir, const struct file *file,
                            struct weir_err *err)
{
    struct weir_section section = file->section;
    char path[WR_SESSION_PATH_BYTES_MAX];
    struct weir_err what = {0};
    struct wr_buf text;

    weir_status status = wr_disk_join(path, dir, file->path, err);
    if (status)
        return status;
    wr_buf_init(&text, WR_PROMPT_FILE_BYTES_MAX);
    status = wr_disk_read(path, &text, &what);
    section.text = wr_buf_view(&text);
    section.source = path;
    if (!status)
        status = weir_prompt_add(prompt, &section, err);
    else if (status == WEIR_NOTFOUND)
        status = WEIR_OK;
    else if (status != WEIR_NOMEM)
        status = prompt_note_trouble(prompt, what.text);
    wr_buf_release(&text);
    return status;
}

/* ---- the run ---- */

static void write_clock(struct wr_buf *out, int64_t now_ms)
{
    char text[WR_DATE_BYTES];

    wr_date_write(now_ms, text);
    wr_buf_printf(out, "clock: %.*sZ", (int)strlen("YYYY-MM-DDTHH:MM"), text);
}

static weir_status add_made(struct weir_prompt *prompt, struct weir_section section,
                            struct wr_buf *text, struct weir_err *err)
{
    weir_status status = wr_buf_status(text);
    section.text = wr_buf_view(text);
    if (!status)
        status = weir_prompt_add(prompt, &section, err);
    wr_buf_reset(text);
    return status;
}

weir_status weir_prompt_add_runtime(struct weir_prompt *prompt, const struct weir_runtime *runtime,
                                    struct weir_err *err)
{
    const struct weir_section environment = {
        .name = "environment", .phase = WEIR_PHASE_CONSTRAINT, .priority = 80, .is_sticky = true};
    const struct weir_section clock = {.name = "clock",
                                       .phase = WEIR_PHASE_CONSTRAINT,
                                       .priority = 70,
                                       .is_sticky = true,
                                       .is_volatile = true};
    const struct weir_section footprint = {.name = "footprint",
                                           .phase = WEIR_PHASE_TASK,
                                           .priority = 90,
                                           .is_sticky = true,
                                           .is_volatile = true};
    struct wr_buf text;

    wr_buf_init(&text, WR_PROMPT_FILE_BYTES_MAX);
    if (runtime->os)
        wr_buf_printf(&text, "os: %s\n", runtime->os);
    if (runtime->shell)
        wr_buf_printf(&text, "shell: %s\n", runtime->shell);
    if (runtime->cwd)
        wr_buf_printf(&text, "working directory: %s\n", runtime->cwd);
    weir_status status = add_made(prompt, environment, &text, err);
    if (!status && runtime->now_ms > 0) {
        write_clock(&text, runtime->now_ms);
        status = add_made(prompt, clock, &text, err);
    }
    if (!status && runtime->footprint.len) {
        wr_buf_text(&text, "recent actions:\n");
        wr_buf_append(&text, runtime->footprint);
        status = add_made(prompt, footprint, &text, err);
    }
    wr_buf_release(&text);
    return status;
}

/* ---- putting it together ---- */

/* Stable: what was added first comes first among equals. */
static void sort_sections(struct weir_prompt *prompt)
{
    for (size_t i = 1; i < prompt->sections_count; i++) {
        struct weir_section moved = prompt->sections[i];
        size_t at = i;
        for (; at > 0; at--) {
            const struct weir_section *before = &prompt->sections[at - 1];
            if (before->phase < moved.phase ||
                (before->phase == moved.phase && before->priority >= moved.priority))
                break;
            prompt->sections[at] = *before;
        }
        prompt->sections[at] = moved;
    }
}

static uint64_t total_tokens(const struct weir_prompt *prompt)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < prompt->sections_count; i++)
        tokens += prompt->sections[i].tokens;
    return tokens;
}

static weir_status leave_out(struct weir_prompt *prompt, struct weir_section *section,
                             struct wr_meter *meter)
{
    struct wr_buf notice;

    wr_buf_init(&notice, WR_PROMPT_FILE_BYTES_MAX);
    wr_buf_printf(&notice, "[%s left out: ~%llu tokens", section->name,
                  (unsigned long long)section->tokens);
    if (section->source)
        wr_buf_printf(&notice, "; read %s", section->source);
    wr_buf_text(&notice, "]");
    weir_status status = wr_text_keep(&prompt->arena, &notice, &section->text);
    section->is_left_out = true;
    section->tokens = status ? 0 : wr_meter_count(meter, section->text);
    return status;
}

static weir_status leave_out_optional(struct weir_prompt *prompt, struct wr_meter *meter,
                                      uint64_t tokens_max)
{
    weir_status status = WEIR_OK;
    for (size_t i = prompt->sections_count;
         i-- > 0 && !status && total_tokens(prompt) > tokens_max;) {
        struct weir_section *section = &prompt->sections[i];
        if (!section->is_sticky && !section->is_field && !section->is_left_out)
            status = leave_out(prompt, section, meter);
    }
    return status;
}

static weir_status join_sections(struct weir_prompt *prompt, bool is_volatile, weir_span *text)
{
    struct wr_buf joined;

    wr_buf_init(&joined, WR_OUTPUT_BYTES_MAX);
    for (size_t i = 0; i < prompt->sections_count; i++) {
        const struct weir_section *section = &prompt->sections[i];
        if (section->is_field || section->is_volatile != is_volatile)
            continue;
        if (joined.len)
            wr_buf_text(&joined, is_volatile ? "\n" : "\n\n");
        else if (is_volatile)
            wr_buf_text(&joined, "<context>\n");
        wr_buf_append(&joined, section->text);
    }
    if (joined.len && is_volatile)
        wr_buf_text(&joined, "\n</context>");
    return wr_text_keep(&prompt->arena, &joined, text);
}

weir_status weir_prompt_build(struct weir_prompt *prompt, const char *model, uint64_t tokens_max,
                              struct weir_err *err)
{
    struct wr_models *models = NULL;
    struct wr_meter *meter = NULL;
    weir_status status = wr_models_new(&models, NULL, err);

    if (!status)
        status = wr_meter_new(&meter);
    if (!status)
        status = wr_meter_use_model(
            meter, wr_models_lookup(models, wr_span_of(model ? model : "")).model, err);
    sort_sections(prompt);
    for (size_t i = 0; i < prompt->sections_count && !status; i++)
        prompt->sections[i].tokens = wr_meter_count(meter, prompt->sections[i].text);
    if (!status && tokens_max)
        status = leave_out_optional(prompt, meter, tokens_max);
    if (!status)
        status = join_sections(prompt, false, &prompt->system);
    if (!status)
        status = join_sections(prompt, true, &prompt->context);
    wr_meter_free(meter);
    wr_models_free(models);
    return status;
}

size_t weir_prompt_sections(const struct weir_prompt *prompt)
{
    return prompt->sections_count;
}

const struct weir_section *weir_prompt_section(const struct weir_prompt *prompt, size_t index)
{
    return index < prompt->sections_count ? &prompt->sections[index] : NULL;
}

weir_span weir_prompt_system(const struct weir_prompt *prompt)
{
    return prompt->system;
}

weir_span weir_prompt_context(const struct weir_prompt *prompt)
{
    return prompt->context;
}

/* ---- skills and notes ----
 *
 * Skills and notes: an index in the prompt, the texts when they are asked for.
 */

/* ---- front matter ---- */

static bool find_front(weir_span text, weir_span *front)
{
    weir_span rest = text, line;
    if (!wr_span_line(&rest, &line) || !wr_span_is(wr_span_trim(line), "---"))
        return false;
    const char *start = rest.ptr;
    while (wr_span_line(&rest, &line))
        if (wr_span_is(wr_span_trim(line), "---")) {
            *front = (weir_span){start, (size_t)(line.ptr - start)};
            return true;
        }
    return false;
}

static weir_status one_line(struct wr_yaml *yaml, const char *key, struct wr_arena *arena,
                            weir_span *line, struct weir_err *err)
{
    const yaml_node_t *root = wr_yaml_root(yaml);
    const yaml_node_t *node = root ? wr_yaml_find(yaml, root, key) : NULL;
    struct wr_buf text;

    if (!node || !wr_yaml_is_scalar(node) || wr_text_is_blank(wr_yaml_text(node)))
        return wr_fail(err, WEIR_INVALID, 0, "its front matter has no %s", key);
    wr_buf_init(&text, WR_PROMPT_FILE_BYTES_MAX);
    wr_text_one_line_max(&text, wr_yaml_text(node), WR_PROMPT_LINE_CHARS_MAX);
    return wr_text_keep(arena, &text, line);
}

weir_status wr_skill_front(weir_span text, struct wr_arena *arena, weir_span *name,
                           weir_span *description, struct weir_err *err)
{
    struct wr_yaml yaml;
    weir_span front;

    if (!find_front(text, &front))
        return wr_fail(err, WEIR_INVALID, 0,
                       "it does not begin with front matter between two lines `---`");
    weir_status status = wr_yaml_open(&yaml, front, err);
    if (status)
        return status;
    status = one_line(&yaml, "name", arena, name, err);
    if (!status)
        status = one_line(&yaml, "description", arena, description, err);
    wr_yaml_close(&yaml);
    return status;
}

/* ---- the folder ---- */

struct names {
    char items[WR_PROMPT_SKILLS_MAX][WR_SESSION_NAME_BYTES_MAX + 1];
    size_t count;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Names of entries that may be looked at; `suffix` is cut off. None where there is no folder. */
static void list_names(struct names *names, const char *folder, const char *suffix)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;

    names->count = 0;
    while (listing && (entry = readdir(listing)) && names->count < WR_PROMPT_SKILLS_MAX) {
        weir_span name = wr_span_of(entry->d_name);
        if (!wr_disk_name_is_good(name) || !wr_span_ends(name, wr_span_of(suffix)))
            continue;
        name.len -= strlen(suffix);
        memcpy(names->items[names->count], name.ptr, name.len);
        names->items[names->count++][name.len] = 0;
    }
    if (listing)
        (void)closedir(listing);
    qsort(names->items, names->count, sizeof(names->items[0]), by_name);
}

static weir_status path_of(char *path, const char *dir, const char *format, const char *name,
                           struct weir_err *err)
{
    char tail[WR_SESSION_NAME_BYTES_MAX + 32];
    (void)snprintf(tail, sizeof(tail), format[0] == 's' ? "skills/%s/SKILL.md" : "memory/%s.md",
                   name);
    return wr_disk_join(path, dir, tail, err);
}

static weir_status add_skill(struct weir_prompt *prompt, const char *dir, const char *folder,
                             struct wr_buf *index)
{
    char path[WR_SESSION_PATH_BYTES_MAX], said[WEIR_ERR_TEXT_BYTES + WR_SESSION_NAME_BYTES_MAX];
    weir_span name, description;
    struct weir_err what = {0};
    struct wr_buf text;

    wr_buf_init(&text, WR_PROMPT_FILE_BYTES_MAX);
    weir_status status = path_of(path, dir, "s", folder, &what);
    if (!status)
        status = wr_disk_read(path, &text, &what);
    if (!status)
        status = wr_skill_front(wr_buf_view(&text), &prompt->arena, &name, &description, &what);
    if (!status) {
        wr_buf_text(index, "- ");
        wr_buf_append(index, name);
        wr_buf_text(index, ": ");
        wr_buf_append(index, description);
        wr_buf_byte(index, '\n');
    } else if (status != WEIR_NOMEM) {
        (void)snprintf(said, sizeof(said), "skill %s: %s", folder, what.text);
        status = prompt_note_trouble(prompt, said);
    }
    wr_buf_release(&text);
    return status;
}

/* Adds the index of DIR/skills: `- NAME: DESCRIPTION`, by name. */
static weir_status skills_add(struct weir_prompt *prompt, const char *dir, struct weir_err *err)
{
    static const char first[] = "Skills (read one by its name before you use it):\n";
    struct weir_section section = {.name = "skills", .phase = WEIR_PHASE_TASK, .priority = 50};
    char folder[WR_SESSION_PATH_BYTES_MAX];
    struct wr_buf index;

    weir_status status = wr_disk_join(folder, dir, "skills", err);
    if (status)
        return status;
    struct names *names = malloc(sizeof(*names));
    if (!names)
        return WEIR_NOMEM;
    wr_buf_init(&index, WR_PROMPT_FILE_BYTES_MAX);
    wr_buf_text(&index, first);
    list_names(names, folder, "");
    for (size_t i = 0; i < names->count && !status; i++)
        status = add_skill(prompt, dir, names->items[i], &index);
    free(names);
    if (!status)
        status = wr_buf_status(&index);
    section.text = wr_buf_view(&index);
    section.source = folder;
    if (!status && index.len > strlen(first))
        status = weir_prompt_add(prompt, &section, err);
    wr_buf_release(&index);
    return status;
}

/* ---- one text ---- */

/* "there is no note 'x'; there are a, b": what to ask for instead. */
static weir_status missing(const char *dir, const char *what, const char *name,
                           struct weir_err *err)
{
    bool is_skill = what[0] == 's';
    char folder[WR_SESSION_PATH_BYTES_MAX], list[128] = "none";
    struct names *names = malloc(sizeof(*names));
    size_t len = 0;

    if (!names)
        return WEIR_NOMEM;
    names->count = 0;
    if (!wr_disk_join(folder, dir, is_skill ? "skills" : "memory", NULL))
        list_names(names, folder, is_skill ? "" : ".md");
    for (size_t i = 0; i < names->count && len < sizeof(list) - 1; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
                                names->items[i]);
    free(names);
    return wr_fail(err, WEIR_NOTFOUND, 0, "there is no %s '%.60s'; there are: %s", what, name,
                   list);
}

static weir_status read_text(const char *dir, const char *what, const char *name, weir_span *text,
                             struct weir_err *err)
{
    char path[WR_SESSION_PATH_BYTES_MAX];
    struct wr_buf buf;

    *text = (weir_span){NULL, 0};
    if (!wr_disk_name_is_good(wr_span_of(name)))
        return wr_fail(err, WEIR_INVALID, 0, "'%.60s' is no name of a %s", name, what);
    weir_status status = path_of(path, dir, what, name, err);
    if (status)
        return status;
    wr_buf_init(&buf, WR_PROMPT_FILE_BYTES_MAX);
    status = wr_disk_read(path, &buf, err);
    if (status) {
        wr_buf_release(&buf);
        return status == WEIR_NOTFOUND ? missing(dir, what, name, err) : status;
    }
    *text = wr_buf_view(&buf); /* the buffer's memory is the caller's from here on */
    return WEIR_OK;
}

weir_status weir_skill_read(const char *dir, const char *name, weir_span *text,
                            struct weir_err *err)
{
    return read_text(dir, "skill", name, text, err);
}

weir_status weir_note_read(const char *dir, const char *name, weir_span *text, struct weir_err *err)
{
    return read_text(dir, "note", name, text, err);
}

void weir_text_free(weir_span text)
{
    free((void *)(uintptr_t)text.ptr);
}

/* ---- writing a note ---- */

/* The index with this note's line put in, or in place of the one it had. */
static void write_index(struct wr_buf *out, weir_span index, const char *name,
                        weir_span description)
{
    char head[2 * WR_SESSION_NAME_BYTES_MAX + 32];
    weir_span rest = index, line;
    bool is_done = false;

    (void)snprintf(head, sizeof(head), "- [%s](memory/%s.md):", name, name);
    for (bool is_last = false; !is_last;) {
        is_last = !wr_span_line(&rest, &line);
        bool is_ours = !is_last && wr_span_starts(line, wr_span_of(head));
        if (is_ours || (is_last && !is_done)) {
            wr_buf_text(out, head);
            wr_buf_byte(out, ' ');
            wr_text_one_line_max(out, description, WR_PROMPT_LINE_CHARS_MAX);
            wr_buf_byte(out, '\n');
            is_done = true;
        } else if (!is_last) {
            wr_buf_append(out, line);
            wr_buf_byte(out, '\n');
        }
    }
}

static weir_status replace_index(const char *dir, const char *name, weir_span description,
                                 struct weir_err *err)
{
    char path[WR_SESSION_PATH_BYTES_MAX];
    struct wr_buf old, new;

    weir_status status = wr_disk_join(path, dir, "MEMORY.md", err);
    if (status)
        return status;
    wr_buf_init(&old, WR_PROMPT_FILE_BYTES_MAX);
    wr_buf_init(&new, WR_PROMPT_FILE_BYTES_MAX);
    status = wr_disk_read(path, &old, err);
    if (status == WEIR_NOTFOUND)
        status = WEIR_OK;
    if (!status) {
        write_index(&new, wr_buf_view(&old), name, description);
        status = wr_buf_status(&new);
    }
    if (!status)
        status = wr_disk_replace(path, wr_buf_view(&new), err);
    wr_buf_release(&new);
    wr_buf_release(&old);
    return status;
}

weir_status weir_note_write(const char *dir, const char *name, weir_span description,
                            weir_span text, struct weir_err *err)
{
    char folder[WR_SESSION_PATH_BYTES_MAX], path[WR_SESSION_PATH_BYTES_MAX];
    weir_trouble trouble;

    if (!wr_disk_name_is_good(wr_span_of(name)) || wr_text_is_blank(description))
        return wr_fail(err, WEIR_INVALID, 0,
                       "a note has a name of letters, digits, '-', '_', '.', and a description");
    if (text.len > WR_PROMPT_FILE_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "a note has at most %d bytes", WR_PROMPT_FILE_BYTES_MAX);
    weir_status status = wr_disk_join(folder, dir, "memory", err);
    if (!status)
        status = wr_disk_make_dir(folder, err);
    if (!status)
        status = path_of(path, dir, "note", name, err);
    if (status)
        return status;
    /* Two sessions that write at once would each leave out the other's line. */
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX))
        status = wr_os_error(folder, &trouble, err);
    if (!status)
        status = wr_disk_replace(path, text, err);
    if (!status)
        status = replace_index(dir, name, description, err);
    if (lock >= 0)
        (void)close(lock);
    return status;
}

/* ---- a folder, whole ---- */

weir_status weir_prompt_add_dir(struct weir_prompt *prompt, const char *dir, struct weir_err *err)
{
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < WR_COUNT_OF(files) && !status; i++)
        status = add_file(prompt, dir, &files[i], err);
    return status ? status : skills_add(prompt, dir, err);
}
