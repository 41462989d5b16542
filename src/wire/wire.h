/* wire.h -- the three APIs' request bodies, read into a transcript.
 *
 * Each dialect has a file that knows its shapes and nothing else. Kinds that are not known become
 * segments of kind `other` that stay exact: both vendors add kinds monthly, and none is an error.
 * An object that repeats a key we read means different things to different readers: it too stays
 * exact.
 */
#ifndef WR_WIRE_WIRE_H
#define WR_WIRE_WIRE_H

#include "transcript/transcript.h"

struct wr_wire_options {
    const char *dialect; /* "chat", "responses", "messages"; NULL: by path, else by shape */
    const char *path;    /* of the HTTP request, or NULL */
    struct wr_memo
        *memo; /* borrowed, for this call and as long as the transcript is used; NULL: none */
    bool structure_only; /* pairs, turns, loops and groups, but no handles and no classes */
};

/* Reads the request in `doc`. WEIR_INVALID: this is not a request of any of the three APIs, and
 * `err` says what is missing. */
WEIR_MUST_USE weir_status wr_wire_read(struct wr_transcript *transcript, struct wr_arena *arena,
                                       const struct wr_json *doc,
                                       const struct wr_wire_options *options, struct weir_err *err);

/* The dialect of an HTTP path such as /v1/chat/completions; false when it is none of ours. */
bool wr_wire_by_path(const char *path, weir_dialect *dialect);

#endif
