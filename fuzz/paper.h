/* paper.h -- a small terminal for the fuzzer of the dock: what stands on it, and what scrolled by.
 *
 * It knows what the dock sends and nothing else. Rows are kept for ever; the screen is the last of
 * them. Another width breaks its lines anew, as tmux, xterm and the like do, with the cursor on the
 * same character. Rows above the screen (before `top`) only change when the size does.
 */
#ifndef WR_FUZZ_PAPER_H
#define WR_FUZZ_PAPER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { PAPER_ROWS = 600, PAPER_COLUMNS = 132, PAPER_CELL_BYTES = 5 };

struct paper_cell {
    char text[PAPER_CELL_BYTES]; /* a character; empty: nothing was written */
    bool is_tail;                /* the second half of the one before */
};

struct paper_row {
    struct paper_cell cells[PAPER_COLUMNS];
    size_t count; /* cells behind these are empty */
    bool goes_on; /* in the next row: the terminal broke the line */
};

struct paper {
    struct paper_row *rows;
    size_t columns, height, top;
    size_t row, column; /* of the cursor; column == columns: the next character breaks the line */
};

void paper_init(struct paper *paper, size_t columns, size_t height);
void paper_release(struct paper *paper);
void paper_put(struct paper *paper, weir_span bytes);
void paper_resize(struct paper *paper, size_t columns, size_t height);

/* Appends what is written in columns `begin` to `end` of a row. */
void paper_read(const struct paper *paper, size_t row, size_t begin, size_t end,
                struct wr_buf *out);

bool paper_row_starts(const struct paper *paper, size_t row, weir_span text);

/* Whether so many rows more can be written. */
bool paper_has_room(const struct paper *paper, size_t rows);

#endif
