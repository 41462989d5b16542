/* What files held before the agent changed them, turn by turn, in memory.
 *
 * Entries are a list in the order of the changes; the last turn's are at its end. When their bytes
 * are over the cap the oldest go, and if something of a turn was forgotten, taking it back says
 * so.
 *
 * Before a file is put back it is compared by hash with what the agent wrote last, and with what
 * it found before that write (the write may have failed). If it is neither, somebody else has
 * worked on it, and nothing of the whole turn is put back unless that is asked for with `force`.
 */
#include "agent/undo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void forget_turn(struct wr_undo *undo, uint64_t turn)
{
    undo->forgotten_turn = turn;
    undo->has_forgotten = true;
}

static void forget_oldest(struct wr_undo *undo)
{
    forget_turn(undo, undo->entries[0].turn);
    free_entry(undo, &undo->entries[0]);
    undo->count--;
    memmove(undo->entries, undo->entries + 1, undo->count * sizeof(*undo->entries));
}

/* That of this turn for a file. */
static struct wr_undo_entry *find_undo(struct wr_undo *undo, const char *path)
{
    for (size_t i = undo->count; i-- > 0 && undo->entries[i].turn == undo->turn;)
        if (!strcmp(undo->entries[i].path, path))
            return &undo->entries[i];
    return NULL;
}

static bool add_entry(struct wr_undo *undo, const struct wr_change *change,
                      struct wr_undo_entry *entry)
{
    weir_span content = change->before;
    struct wr_undo_entry *grown =
        realloc(undo->entries, (undo->count + 1) * sizeof(*undo->entries));
    if (!grown)
        return false;
    undo->entries = grown;
    entry->path = strdup(change->path);
    entry->content = change->exists ? malloc(content.len + 1) : NULL;
    if (!entry->path || (change->exists && !entry->content)) {
        free(entry->path);
        free(entry->content);
        return false;
    }
    if (change->exists && content.len)
        memcpy(entry->content, content.ptr, content.len);
    undo->bytes += entry->bytes;
    undo->entries[undo->count++] = *entry;
    return true;
}

/* What cannot be kept cannot be taken back; the change goes on. */
void wr_undo_keep(void *user, const struct wr_change *change)
{
    struct wr_undo *undo = user;
    struct wr_undo_entry entry = {.bytes = change->exists ? change->before.len : 0,
                                  .turn = undo->turn};
    struct wr_undo_entry *known = find_undo(undo, change->path);

    if (wr_sha256(change->after, entry.after) || wr_sha256(change->before, entry.between)) {
        forget_turn(undo, undo->turn);
        return;
    }
    if (known) {
        memcpy(known->after, entry.after, sizeof(entry.after));
        memcpy(known->between, entry.between, sizeof(entry.between));
        return;
    }
    while (undo->count && undo->bytes + entry.bytes > WR_AGENT_UNDO_BYTES_MAX)
        forget_oldest(undo);
    if (!add_entry(undo, change, &entry))
        forget_turn(undo, undo->turn);
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

/* As the agent wrote it, or as it was before: then there is nothing to lose. */
static bool is_as_agent_left(const struct wr_undo_entry *entry)
{
    unsigned char now[WR_SHA256_BYTES];
    struct wr_buf content;
    struct stat found;

    wr_buf_init(&content, WR_AGENT_FILE_BYTES_MAX);
    bool is_there = !lstat(entry->path, &found);
    bool is_read = is_there && !wr_file_read(entry->path, &content);
    weir_span text = wr_buf_view(&content);
    bool is_after =
        is_read && !wr_sha256(text, now) &&
        (!memcmp(now, entry->after, sizeof(now)) || !memcmp(now, entry->between, sizeof(now)));
    bool is_before = entry->content ? is_read && text.len == entry->bytes &&
                                          !memcmp(text.ptr, entry->content, text.len)
                                    : !is_there;
    wr_buf_release(&content);
    return is_after || is_before;
}

static bool is_refused(const struct wr_undo *undo, struct wr_buf *told)
{
    uint64_t turn = undo->entries[undo->count - 1].turn;
    bool refused = false;

    for (size_t i = undo->count; i-- > 0 && undo->entries[i].turn == turn;) {
        if (is_as_agent_left(&undo->entries[i]))
            continue;
        wr_buf_printf(told, "changed since the agent wrote it: %s\n", undo->entries[i].path);
        refused = true;
    }
    return refused;
}

enum wr_undone wr_undo_last(struct wr_undo *undo, bool is_forced, struct wr_buf *told)
{
    if (!undo->count)
        return WR_UNDO_NONE;
    if (!is_forced && is_refused(undo, told))
        return WR_UNDO_REFUSED;
    uint64_t turn = undo->entries[undo->count - 1].turn;
    while (undo->count && undo->entries[undo->count - 1].turn == turn) {
        struct wr_undo_entry *entry = &undo->entries[--undo->count];
        put_back(entry, told);
        free_entry(undo, entry);
    }
    if (undo->has_forgotten && undo->forgotten_turn == turn)
        wr_buf_text(told, "other files of this turn are not put back: there was no room to keep "
                          "what they held\n");
    return WR_UNDO_DONE;
}
