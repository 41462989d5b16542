/* recall.h -- the turn in which a model brings back what it needs: its calls of weir_recall, and
 * their results, as messages (items) of a conversation in any API. */
#ifndef WR_LAB_RECALL_H
#define WR_LAB_RECALL_H

#include "base/arena.h"
#include "base/buf.h"
#include "weir/handle.h"
#include "weir/segment.h"

struct wr_recall {
    weir_handle handle;
    weir_span result; /* what comes back; empty: "(nothing)" */
};

/* Appends `,{...},{...}` to a list that holds something already. `number` makes the ids of this
 * turn distinct. `*call_bytes` is how much of it the model wrote. */
WEIR_MUST_USE weir_status wr_recall_write(struct wr_buf *out, size_t *call_bytes,
                                          struct wr_arena *arena, weir_dialect dialect,
                                          uint64_t number, const struct wr_recall *recalls,
                                          uint32_t count);

/* Writes what a model that seeks `strings` in an original asks for: each of them once, with so many
 * lines around it as agents read of a file when they look something up. Of several lines that hold
 * a string it is one that is shown already, else the newest. */
WEIR_MUST_USE weir_status wr_recall_lines(struct wr_buf *out, struct wr_arena *arena,
                                          weir_span text, const weir_span *strings, uint32_t count);

#endif
