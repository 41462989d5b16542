/* Skills and notes: an index in the prompt, the texts when they are asked for. */
#include "session/prompt.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/span.h"
#include "base/text.h"
#include "base/yaml.h"
#include "session/disk.h"
#include "store/os_error.h"

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
        status = wr_prompt_note_trouble(prompt, said);
    }
    wr_buf_release(&text);
    return status;
}

weir_status wr_skills_add(struct weir_prompt *prompt, const char *dir, struct weir_err *err)
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
