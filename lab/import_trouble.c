#include "lab/import_trouble.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"

enum { CAP_FIRST = 16, KEY_BYTES_MAX = 32 };

static const bool is_trouble[WR_IMPORT_NOTES] = {
    [WR_IMPORT_LINE_BROKEN] = true,     [WR_IMPORT_LINE_LONG] = true,
    [WR_IMPORT_LINE_FOREIGN] = true,    [WR_IMPORT_ROLE_UNKNOWN] = true,
    [WR_IMPORT_BLOCK_UNKNOWN] = true,   [WR_IMPORT_RESULT_ORPHAN] = true,
    [WR_IMPORT_COMPACTION_LOST] = true, [WR_IMPORT_ANSWER_UNASKED] = true,
};

bool wr_import_is_troubled(const struct wr_import *import)
{
    for (int i = 0; i < WR_IMPORT_NOTES; i++)
        if (is_trouble[i] && import->notes[i])
            return true;
    return false;
}

void wr_import_trouble_text(const struct wr_import *import, struct wr_buf *out)
{
    const char *between = "";
    for (int i = 0; i < WR_IMPORT_NOTES; i++) {
        unsigned long long count = import->notes[i], line = import->first_lines[i];
        if (!is_trouble[i] || !count)
            continue;
        wr_buf_printf(out, "%s%s: %llu", between, wr_import_note_text((enum wr_import_note)i),
                      count);
        if (line)
            wr_buf_printf(out, " (%sline %llu)", count > 1 ? "the first in " : "", line);
        if (i == WR_IMPORT_LINE_LONG)
            wr_buf_printf(out, ", which is %d bytes", (int)WR_IMPORT_LINE_BYTES_MAX);
        between = "; ";
    }
}

void wr_import_troubles_add(struct wr_import_troubles *t, const char *path, const char *why,
                            bool is_left_out, const struct wr_import *import)
{
    if (!WR_HEAP_ROOM(t->items, t->count, t->cap, CAP_FIRST)) {
        t->status = WEIR_NOMEM;
        return;
    }
    struct wr_import_trouble *item = &t->items[t->count++];
    *item = (struct wr_import_trouble){
        .path = strdup(path), .why = strdup(why), .is_left_out = is_left_out};
    if (!item->path || !item->why)
        t->status = WEIR_NOMEM;
    for (int i = 0; import && i < WR_IMPORT_NOTES; i++)
        item->notes[i] = import->notes[i];
}

void wr_import_troubles_free(struct wr_import_troubles *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->items[i].path);
        free(t->items[i].why);
    }
    free(t->items);
    *t = (struct wr_import_troubles){0};
}

/* ---- JSON ---- */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct wr_import_trouble *)a)->path,
                  ((const struct wr_import_trouble *)b)->path);
}

/* "line_broken": the name of the note in small letters. */
static void write_note_key(struct wr_json_writer *w, int note)
{
    static const char *const names[WR_IMPORT_NOTES] = {
#define X(name, text) #name,
        WR_IMPORT_NOTE_MAP(X)
#undef X
    };
    char key[KEY_BYTES_MAX] = {0};
    for (size_t i = 0; names[note][i] && i + 1 < sizeof(key); i++)
        key[i] = wr_lower(names[note][i]);
    wr_json_write_key(w, key);
}

static void write_trouble(struct wr_json_writer *w, const struct wr_import_trouble *item)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_member_word(w, "path", item->path);
    wr_json_member_bool(w, "left_out", item->is_left_out);
    wr_json_member_word(w, "why", item->why);
    wr_json_write_key(w, "notes");
    wr_json_write_object(w);
    for (int i = 0; i < WR_IMPORT_NOTES; i++) {
        if (!item->notes[i])
            continue;
        write_note_key(w, i);
        wr_json_write_i64(w, (int64_t)item->notes[i]);
    }
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

void wr_import_troubles_json(struct wr_import_troubles *t, struct wr_json_writer *w)
{
    wr_json_write_key(w, "troubles");
    wr_json_write_array(w);
    if (t && !t->status && t->count) {
        qsort(t->items, t->count, sizeof(*t->items), by_path);
        for (size_t i = 0; i < t->count; i++)
            write_trouble(w, &t->items[i]);
    }
    wr_json_write_array_end(w);
}
