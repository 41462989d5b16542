/* undo.h -- what files held before the agent changed them, so that the last turn's changes can be
 * taken back. Of this run only, and within a cap. Of a file that a turn changes more than once the
 * first content is kept, for that is what it is put back to.
 *
 * A file that is no longer as the agent left it holds somebody else's work: it is not put back
 * unless that is asked for. */
#ifndef WR_AGENT_UNDO_H
#define WR_AGENT_UNDO_H

#include "agent/toolbox.h"
#include "base/hash.h"

struct wr_undo_entry {
    char *path, *content; /* owned; content NULL: the file was not there */
    size_t bytes;
    unsigned char after[WR_SHA256_BYTES];   /* of what the agent wrote last */
    unsigned char between[WR_SHA256_BYTES]; /* of what it found then: writing may have failed */
    uint64_t turn;
};

struct wr_undo {
    struct wr_undo_entry *entries;
    size_t count;
    size_t bytes;
    uint64_t turn;
    uint64_t forgotten_turn; /* the newest of which something is no longer kept */
    bool has_forgotten;
};

void wr_undo_release(struct wr_undo *undo);

/* Changes from here on belong to another turn. */
void wr_undo_next_turn(struct wr_undo *undo);

wr_before_change_fn wr_undo_keep; /* the user is a wr_undo */

enum wr_undone {
    WR_UNDO_NONE,    /* there is nothing to take back */
    WR_UNDO_DONE,    /* also where some could not be put back: that is told */
    WR_UNDO_REFUSED, /* nothing was put back: files are not as the agent left them */
};

/* Puts back what the last turn that changed something changed; a line a file goes to `told`. */
enum wr_undone wr_undo_last(struct wr_undo *undo, bool is_forced, struct wr_buf *told);

#endif
