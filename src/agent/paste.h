/* paste.h -- text that was pasted at the prompt: shown by a word, said whole.
 *
 * A terminal puts ESC[200~ and ESC[201~ around what is pasted. Several lines stand in the line that
 * is edited as "[pasted text #1: 40 lines]"; when the line is finished the text takes its place.
 */
#ifndef WR_AGENT_PASTE_H
#define WR_AGENT_PASTE_H

#include <stdbool.h>

#include "base/buf.h"

#define WR_PASTE_TOO_LONG "[what was pasted is too long]"

enum { WR_PASTES_MAX = 32 };

struct wr_pastes {
    struct wr_buf texts[WR_PASTES_MAX];
    size_t count;
};

/* Appends a character of what is being pasted. True: it ends the paste, and the mark of the end is
 * not in the text; that is found also where the text is full. `*end_bytes`, 0 at the beginning, are
 * those of the mark that were seen. */
bool wr_paste_take(struct wr_buf *text, size_t *end_bytes, weir_span character);

/* Appends to `shown` what the line shows for it: a text of one line is shown as it is. If there are
 * too many pastes, or this one is too long, a word says so. */
void wr_pastes_add(struct wr_pastes *pastes, weir_span text, struct wr_buf *shown);

/* Appends the line with the texts in their places. */
void wr_pastes_expand(const struct wr_pastes *pastes, weir_span line, struct wr_buf *out);

/* Forgets them: the line is finished or given up. */
void wr_pastes_clear(struct wr_pastes *pastes);

#endif
