/* listing.h -- for tests: a request's transcript as text, one line a segment.
 *
 *   ROLE KIND TURN.LOOP CLASS [TOOL][#CALL_ID] [pair N] [group N] [flags] = text
 *   ROLE KIND TURN.LOOP CLASS ...                                       | value > part > part
 *
 * `=` shows a span that is one string which may be edited; `|` any other span, and behind each `>`
 * one string of it that may be edited. A loop of `-` is none. CLASS is the first word of its name.
 * Flags: error steering repeated signed superseded   as in struct wr_segment marked    it has a
 * cache marker fixed     it cannot be dropped Bodies and listings are written with ' for ", so that
 * they can be read in C.
 */
#ifndef WR_TESTS_LISTING_H
#define WR_TESTS_LISTING_H

#include "transcript/transcript.h"

struct wr_listing_row {
    const char *behaviour; /* a sentence */
    const char *body;
    const char *expected;
};

/* A request read from a body in the quotes above. Release it whether or not the reading succeeded.
 */
struct wr_listing_request {
    struct wr_arena arena;
    struct wr_buf body;
    struct wr_json doc;
    struct wr_transcript transcript;
    struct weir_err err;
    weir_status status;
};

/* `dialect` and `path` may be NULL. */
void wr_listing_read(struct wr_listing_request *request, const char *body, const char *dialect,
                     const char *path);
void wr_listing_release(struct wr_listing_request *request);

void wr_listing_write(const struct wr_transcript *transcript, struct wr_buf *out);

/* Reads every row's body as `dialect` and fails the test, with the row's sentence, where a listing
 * is not the expected one. */
void wr_listing_check(const struct wr_listing_row *rows, size_t count, const char *dialect);

#endif
