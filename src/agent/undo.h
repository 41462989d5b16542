/* undo.h -- what files held before the agent changed them, so that the last turn's changes can be
 * taken back. Of this run only, and within a cap. */
#ifndef WR_AGENT_UNDO_H
#define WR_AGENT_UNDO_H

#include "agent/toolbox.h"

struct wr_undo_entry {
    char *path, *content; /* owned; content NULL: the file was not there */
    size_t bytes;
    uint64_t turn;
};

struct wr_undo {
    struct wr_undo_entry *entries;
    size_t count;
    size_t bytes;
    uint64_t turn;
};

void wr_undo_release(struct wr_undo *undo);

/* Changes from here on belong to another turn. */
void wr_undo_next_turn(struct wr_undo *undo);

wr_before_change_fn wr_undo_keep; /* the user is a wr_undo */

/* Puts back what the last turn that changed something changed; a line a file goes to `told`.
 * Returns how many files. */
size_t wr_undo_last(struct wr_undo *undo, struct wr_buf *told);

#endif
