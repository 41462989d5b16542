#include "agent/undo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/file_bytes.h"
#include "base/limits.h"

static void free_entry(struct wr_undo *undo, struct wr_undo_entry *entry)
{
    undo->bytes -= entry->bytes;
    free(entry->path);
    free(entry->content);
}

void wr_undo_release(struct wr_undo *undo)
{
    for (size_t i = 0; i < undo->count; i++)
        free_entry(undo, &undo->entries[i]);
    free(undo->entries);
    *undo = (struct wr_undo){.entries = NULL};
}

void wr_undo_next_turn(struct wr_undo *undo)
{
    undo->turn++;
}

static void forget_oldest(struct wr_undo *undo)
{
    free_entry(undo, &undo->entries[0]);
    undo->count--;
    memmove(undo->entries, undo->entries + 1, undo->count * sizeof(*undo->entries));
}

/* What cannot be kept cannot be taken back; the change goes on. */
void wr_undo_keep(void *user, const char *path, bool exists, weir_span content)
{
    struct wr_undo *undo = user;
    struct wr_undo_entry entry = {.bytes = exists ? content.len : 0, .turn = undo->turn};

    while (undo->count && undo->bytes + entry.bytes > WR_AGENT_UNDO_BYTES_MAX)
        forget_oldest(undo);
    struct wr_undo_entry *grown =
        realloc(undo->entries, (undo->count + 1) * sizeof(*undo->entries));
    if (!grown)
        return;
    undo->entries = grown;
    entry.path = strdup(path);
    entry.content = exists ? malloc(content.len + 1) : NULL;
    if (!entry.path || (exists && !entry.content)) {
        free(entry.path);
        free(entry.content);
        return;
    }
    if (exists && content.len)
        memcpy(entry.content, content.ptr, content.len);
    undo->bytes += entry.bytes;
    undo->entries[undo->count++] = entry;
}

static void put_back(const struct wr_undo_entry *entry, struct wr_buf *told)
{
    const char *why = NULL;

    if (entry->content)
        why = wr_file_replace(entry->path, (weir_span){entry->content, entry->bytes});
    else if (unlink(entry->path))
        why = strerror(errno);
    wr_buf_printf(told, "%s %s%s%s\n",
                  why              ? "not put back:"
                  : entry->content ? "put back:"
                                   : "removed:",
                  entry->path, why ? ": " : "", why ? why : "");
}

size_t wr_undo_last(struct wr_undo *undo, struct wr_buf *told)
{
    size_t files = 0;

    if (!undo->count)
        return 0;
    uint64_t turn = undo->entries[undo->count - 1].turn;
    while (undo->count && undo->entries[undo->count - 1].turn == turn) {
        struct wr_undo_entry *entry = &undo->entries[--undo->count];
        put_back(entry, told);
        free_entry(undo, entry);
        files++;
    }
    return files;
}
