#include "agent/complete.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/session_list.h"
#include "base/ascii.h"
#include "base/limits.h"
#include "base/span.h"

static void complete_command(const struct wr_completer *c, weir_span word,
                             struct wr_choices *choices)
{
    char name[80];

    for (size_t i = 0; c->command(i); i++) {
        (void)snprintf(name, sizeof(name), "/%s", c->command(i));
        if (wr_span_starts(wr_span_of(name), word))
            wr_choices_add(choices, wr_span_of(name));
    }
}

/* Names in `dir` that begin with `begin`, each with `prefix` in front. Hidden ones only where the
 * word has the dot. */
static void complete_in(const char *dir, weir_span begin, weir_span prefix,
                        struct wr_choices *choices)
{
    struct dirent **names;
    struct wr_buf name;
    int count = scandir(dir, &names, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        weir_span found = wr_span_of(names[i]->d_name);
        bool is_hidden = found.ptr[0] == '.' && !wr_span_starts(begin, WR_LIT("."));
        if (!is_hidden && !wr_span_is(found, ".") && !wr_span_is(found, "..") &&
            wr_span_starts(found, begin)) {
            wr_buf_init(&name, 8192);
            wr_buf_append(&name, prefix);
            wr_buf_append(&name, found);
            if (names[i]->d_type == DT_DIR)
                wr_buf_byte(&name, '/');
            if (!wr_buf_status(&name))
                wr_choices_add(choices, wr_buf_view(&name));
            wr_buf_release(&name);
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* The word without its '@' is a path below the root; what stands before its last '/' stays. */
static void complete_file(const struct wr_completer *c, weir_span word, struct wr_choices *choices)
{
    char dir[4096];
    size_t slash = word.len;

    while (slash > 1 && word.ptr[slash - 1] != '/')
        slash--;
    weir_span folder = wr_span_cut(word, 1, slash);
    int bytes = snprintf(dir, sizeof(dir), "%s/%.*s", c->root, (int)folder.len, folder.ptr);
    if (bytes < 0 || (size_t)bytes >= sizeof(dir))
        return;
    complete_in(dir, wr_span_from(word, slash), wr_span_cut(word, 0, slash), choices);
}

/* By their first words, the newest first: a name is a time stamp unless somebody gave one. A word
 * that begins no name is looked for in what was said. */
static void complete_session(const struct wr_completer *c, weir_span word,
                             struct wr_choices *choices)
{
    size_t count;
    struct wr_listed_session *list = wr_sessions_list(c->sessions_dir, &count);
    struct wr_buf label;

    for (size_t i = 0; i < count && i < WR_SESSIONS_SHOWN; i++) {
        weir_span name = wr_span_of(list[i].name);
        wr_buf_init(&label, 8192);
        wr_session_first_words(c->sessions_dir, list[i].name, &label);
        bool is_wanted = wr_span_starts(name, word) || wr_span_has(wr_buf_view(&label), word);
        wr_buf_printf(&label, "  (%s)", list[i].name);
        if (is_wanted && !wr_buf_status(&label)) {
            wr_choices_add(choices, name);
            wr_choices_add_label(choices, wr_buf_view(&label));
        }
        wr_buf_release(&label);
    }
    free(list);
}

void wr_line_complete(void *user, weir_span text, size_t cursor, struct wr_choices *choices)
{
    const struct wr_completer *c = user;
    size_t begin = cursor;

    while (begin > 0 && !wr_is_space(text.ptr[begin - 1]))
        begin--;
    weir_span word = wr_span_cut(text, begin, cursor);
    choices->begin = begin;
    if (wr_span_starts(word, WR_LIT("@")))
        complete_file(c, word, choices);
    else if (begin == 0 && wr_span_starts(word, WR_LIT("/")) && c->command)
        complete_command(c, word, choices);
    else if (c->sessions_dir && wr_span_is(wr_span_cut(text, 0, begin), "/resume "))
        complete_session(c, word, choices);
}
