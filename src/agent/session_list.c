#include "agent/session_list.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "weir/session.h"

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
