/* terminal_screen.h -- rows of characters and a cursor, for terminal.c.
 *
 * Rows are numbered from the beginning of the text and never renumbered. The newest
 * WR_TERMINAL_ROWS_MAX of them can be changed; older ones are written to the output. A row is the
 * bytes it was given until something is written over it; from then on it is cells, one a character.
 */
#ifndef WR_CONDENSE_TERMINAL_SCREEN_H
#define WR_CONDENSE_TERMINAL_SCREEN_H

#include <stdbool.h>

#include "base/arena.h"

struct wr_terminal_row {
    weir_span bytes; /* while it is not in cells */
    uint32_t *cells; /* kept for the next row in the same place */
    uint32_t count, count_max;
    bool in_cells;
};

struct wr_terminal_screen {
    struct wr_arena *arena;       /* borrowed */
    struct wr_terminal_row *rows; /* a ring: row n is at n % WR_TERMINAL_ROWS_MAX */
    uint32_t first, end;          /* the rows that can be changed */
    uint32_t row, column;         /* the cursor; it may stand behind the last row */
    uint32_t home;                /* the row that is at the top of the visible screen */
    uint32_t erased_end;          /* behind the last row that stayed when all were erased */
    bool has_home, lines_moved;
    char *out; /* rows that are final */
    size_t out_len, out_max;
    size_t work_left;   /* cells that may still be filled with blanks */
    bool is_over;       /* out_max or the work was not enough: nothing is to be believed */
    weir_status status; /* first failure */
};

/* The screen writes at most `out_max` bytes. */
WEIR_MUST_USE weir_status wr_terminal_screen_init(struct wr_terminal_screen *screen,
                                                  struct wr_arena *arena, size_t out_max);

/* At the beginning of an empty last row: what is given with _set can be the whole row. */
bool wr_terminal_screen_is_fresh(const struct wr_terminal_screen *screen);

/* Makes `bytes`, borrowed as long as the screen, the text of the last row. */
void wr_terminal_screen_set(struct wr_terminal_screen *screen, weir_span bytes);

/* Prints `bytes`, which hold no line end and no control byte that moves, at the cursor. */
void wr_terminal_screen_print(struct wr_terminal_screen *screen, weir_span bytes);
void wr_terminal_screen_newline(struct wr_terminal_screen *screen);

/* Moves the cursor; it stays on the screen. */
void wr_terminal_screen_move(struct wr_terminal_screen *screen, int64_t rows, int64_t columns);
void wr_terminal_screen_go(struct wr_terminal_screen *screen, uint32_t row, uint32_t column);

/* The first row of the visible screen, for places counted from its top. */
uint32_t wr_terminal_screen_home(struct wr_terminal_screen *screen);

/* As CSI K and J: 0 behind the cursor, 1 before it, 2 all. */
void wr_terminal_screen_erase_row(struct wr_terminal_screen *screen, uint32_t part);
void wr_terminal_screen_erase(struct wr_terminal_screen *screen, uint32_t part);

/* Writes the rows that are left. The text is `out`, of `out_len` bytes. */
void wr_terminal_screen_finish(struct wr_terminal_screen *screen);

#endif
