/* What was said before: the lines of the prompt, in a file of their own, and the sessions.
 *
 * Several agents may add to one file: an entry is one write at its end, and only who opens it when
 * it has grown far over what is read writes it anew. The sessions need no list: a folder with a
 * journal is one, so a session that somebody deletes or copies is gone or there.
 */
#include "agent/history.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "weir/session.h"

/* ---- session list ---- */

enum { FIRST_WORDS_CHARS = 60 };

static bool find_journal(const char *sessions_dir, const char *name, struct stat *info)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s/events.jsonl", sessions_dir, name);
    return name[0] != '.' && !strchr(name, '/') && !stat(path, info);
}

bool wr_session_is_there(const char *sessions_dir, const char *name)
{
    struct stat info;
    return find_journal(sessions_dir, name, &info);
}

static int newest_first(const void *a, const void *b)
{
    const struct wr_listed_session *left = a, *right = b;

    if (left->changed_s != right->changed_s)
        return left->changed_s < right->changed_s ? 1 : -1;
    return strcmp(left->name, right->name);
}

struct wr_listed_session *wr_sessions_list(const char *sessions_dir, size_t *count)
{
    struct dirent **names;
    int found = scandir(sessions_dir, &names, NULL, alphasort);
    struct wr_listed_session *list = found > 0 ? calloc((size_t)found, sizeof(*list)) : NULL;
    struct stat info;

    *count = 0;
    for (int i = 0; i < found; i++) {
        if (list && find_journal(sessions_dir, names[i]->d_name, &info)) {
            (void)snprintf(list[*count].name, sizeof(list->name), "%s", names[i]->d_name);
            list[(*count)++].changed_s = info.st_mtime;
        }
        free(names[i]);
    }
    if (found >= 0)
        free(names);
    if (*count)
        qsort(list, *count, sizeof(*list), newest_first);
    return list;
}

/* A failure stops the walk: the first words are enough. */
static weir_status take_first_words(void *user, const struct weir_event *event)
{
    if (strcmp(event->kind, "user"))
        return WEIR_OK;
    wr_text_one_line_max(user, event->text, FIRST_WORDS_CHARS);
    return WEIR_LIMIT;
}

void wr_session_first_words(const char *sessions_dir, const char *name, struct wr_buf *out)
{
    struct weir_err err = {0};
    char path[4096];
    size_t begin = out->len;

    (void)snprintf(path, sizeof(path), "%s/%s", sessions_dir, name);
    weir_status status = weir_journal_read(path, take_first_words, out, &err);
    if (out->len == begin)
        wr_buf_text(out, status ? "(damaged)" : "(nothing was said)");
}

/* ---- history ---- */

static void put_entry(struct wr_buf *out, weir_span line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '\n' || line.ptr[i] == '\\')
            wr_buf_byte(out, '\\');
        wr_buf_byte(out, line.ptr[i] == '\n' ? 'n' : line.ptr[i]);
    }
    wr_buf_byte(out, '\n');
}

static void read_entry(struct wr_buf *out, weir_span line)
{
    for (size_t i = 0; i < line.len; i++) {
        bool is_escape = line.ptr[i] == '\\' && i + 1 < line.len;
        i += is_escape;
        wr_buf_byte(out, is_escape && line.ptr[i] == 'n' ? '\n' : line.ptr[i]);
    }
}

static void drop_oldest(struct wr_history *h)
{
    wr_buf_release(&h->entries[0]);
    memmove(h->entries, h->entries + 1, --h->count * sizeof(*h->entries));
}

static void keep_line(struct wr_history *h, weir_span line, bool is_escaped)
{
    if (h->count == WR_AGENT_HISTORY_LINES_MAX)
        drop_oldest(h);
    if (!WR_HEAP_ROOM(h->entries, h->count, h->cap, 64))
        return;
    struct wr_buf *entry = &h->entries[h->count];
    wr_buf_init(entry, WR_AGENT_HISTORY_LINE_BYTES_MAX);
    if (is_escaped)
        read_entry(entry, line);
    else
        wr_buf_append(entry, line);
    if (wr_buf_status(entry))
        wr_buf_release(entry);
    else
        h->count++;
}

static void read_file(struct wr_history *h, const char *path, struct wr_buf *text)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes;
    char part[4096];

    while (file >= 0 && (bytes = read(file, part, sizeof(part))) > 0)
        wr_buf_append(text, (weir_span){part, (size_t)bytes});
    if (file >= 0)
        (void)close(file);
    weir_span rest = wr_buf_view(text), line;
    while (!wr_buf_status(text) && wr_span_line(&rest, &line))
        if (line.len)
            keep_line(h, line, true);
}

/* A file that has grown far over what is read is written anew, with what was read. */
static void shrink_file(const struct wr_history *h, struct wr_buf *text)
{
    wr_buf_reset(text);
    for (size_t i = 0; i < h->count; i++)
        put_entry(text, wr_buf_view(&h->entries[i]));
    int file = wr_buf_status(text) ? -1 : open(h->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!write(file, text->bytes, text->len);
    (void)close(file);
}

void wr_history_open(struct wr_history *h, const char *path)
{
    struct wr_buf text;

    *h = (struct wr_history){.path = path ? strdup(path) : NULL};
    if (!h->path)
        return;
    wr_buf_init(&text, WR_AGENT_HISTORY_BYTES_MAX);
    read_file(h, path, &text);
    if (text.len > WR_AGENT_HISTORY_BYTES_MAX / 2)
        shrink_file(h, &text);
    wr_buf_release(&text);
}

void wr_history_release(struct wr_history *h)
{
    for (size_t i = 0; i < h->count; i++)
        wr_buf_release(&h->entries[i]);
    free(h->entries);
    free(h->path);
    *h = (struct wr_history){.path = NULL};
}

void wr_history_add(struct wr_history *h, weir_span line)
{
    struct wr_buf text;

    bool is_again = h->count && wr_span_eq(wr_history_at(h, h->count - 1), line);
    if (!line.len || line.len > WR_AGENT_HISTORY_LINE_BYTES_MAX || is_again)
        return;
    keep_line(h, line, false);
    int file = h->path ? open(h->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        return;
    wr_buf_init(&text, 2 * WR_AGENT_HISTORY_LINE_BYTES_MAX + 1);
    put_entry(&text, line);
    if (!wr_buf_status(&text))
        (void)!write(file, text.bytes, text.len); /* one write: two agents do not mix lines */
    wr_buf_release(&text);
    (void)close(file);
}

weir_span wr_history_at(const struct wr_history *h, size_t index)
{
    return wr_buf_view(&h->entries[index]);
}

size_t wr_history_find(const struct wr_history *h, weir_span wanted, size_t before)
{
    for (size_t i = before < h->count ? before : h->count; i-- > 0;)
        if (wr_span_has(wr_history_at(h, i), wanted))
            return i;
    return SIZE_MAX;
}
