/* plain.h -- what commands print for people, in ASCII where the locale is. */
#ifndef WR_CLI_PLAIN_H
#define WR_CLI_PLAIN_H

#include <stdio.h>

#include "base/buf.h"

struct wr_plain {
    FILE *held; /* what is printed meanwhile; NULL: it leaves as it is */
    int screen; /* where stdout was */
};

/* From here to the end stdout is held, where the command is for people and the locale C. */
void wr_plain_begin(struct wr_plain *plain, const char *command, char **argv);

/* Returns `code`, or that of an output that failed. */
int wr_plain_end(struct wr_plain *plain, int code);

/* The text with our signs in ASCII; all else as it is. */
void wr_plain_text(weir_span text, struct wr_buf *out);

#endif
