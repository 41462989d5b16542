/* request.h -- one request body: read it, walk its segments, change some, write it again.
 *
 * Ownership is one rule: what a call gives belongs to the object it was asked of and lives until
 * that object is freed; what you hand in is borrowed for the call, except the body given to
 * weir_request_new(), which must stay where it is until weir_request_free().
 *
 * A request is not thread-safe; different requests may be used by different threads at once.
 *
 *     struct weir_request *req;
 *     struct weir_err err;
 *     if (weir_request_new(body, NULL, &req, &err))
 *         ...err.text says what is wrong at byte err.at_byte...
 *     weir_request_edit(req, 7, text, &err);
 *     weir_request_write(req, &out, NULL, &err);    out lives as long as req
 *     weir_request_free(req);
 */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H

#include "weir/segment.h"

WEIR_BEGIN_DECLS

#define WEIR_NONE UINT32_MAX

struct weir_request; /* opaque */

struct weir_request_options {
    size_t struct_bytes; /* sizeof, by WEIR_REQUEST_OPTIONS_INIT; see weir/api.h */
    const char *dialect; /* "chat", "responses" or "messages"; NULL: found by path, else by shape */
    const char *path;    /* of the HTTP request, such as "/v1/messages"; NULL: not known */
};
#define WEIR_REQUEST_OPTIONS_INIT WEIR_OPTIONS_INIT(struct weir_request_options)

/* How the result of a tool call can be named and found again. Empty spans and -1 mean "not known".
 */
struct weir_handles {
    const char *effect; /* "read", "search", "run", ...; NULL where there are no handles at all */
    weir_span path, query, command, process_id, cursor, mode, spill_path;
    int64_t start_line, end_line; /* from 1; negative from the end; 0 not known */
    int64_t offset, limit, next_offset, total_lines;
    bool has_exit_code;
    int exit_code;
    const char *truncated; /* "none", "head", "tail", "middle", "somewhere" */
};

/* A view of a segment; everything it points at belongs to the request. */
struct weir_segment {
    uint32_t index, turn;
    uint32_t loop; /* WEIR_NONE before the first user message */
    uint32_t
        group;     /* its group's first segment, or WEIR_NONE; a group leaves whole or not at all */
    uint32_t pair; /* of a call its result, of a result its call; or WEIR_NONE */
    weir_role role;
    weir_kind kind;
    weir_class class_;
    const char *why;    /* why it has this class */
    uint32_t why_other; /* the segment that `why` speaks of, or WEIR_NONE */
    weir_span tool, call_id;
    weir_range span; /* of the body: between the quotes of a single string, else the whole value */
    const weir_range *parts; /* its editable strings, each between its quotes */
    uint32_t parts_count;
    bool is_error, is_steering, is_superseded;
    const char *stale; /* "no", "maybe" or "yes": whether a later call changed the file it shows */
    struct weir_handles handles;
};

/* What became of the edits when the request was written. */
struct weir_write_report {
    uint32_t rolled_back_count; /* edits that validation took back */
    bool is_fallback;           /* the structure would have been wrong: all were taken back */
    uint32_t first_segment;     /* the first that failed, or WEIR_NONE */
    const char *first_reason;   /* NULL: nothing failed */
};

/* Reads `body`. Failure: WEIR_SYNTAX (not JSON), WEIR_INVALID (not a request), WEIR_LIMIT,
 * WEIR_NOMEM; `err` may be NULL. `options` may be NULL. */
WEIR_API WEIR_MUST_USE weir_status weir_request_new(weir_span body,
                                                    const struct weir_request_options *options,
                                                    struct weir_request **request,
                                                    struct weir_err *err);
WEIR_API void weir_request_free(struct weir_request *request); /* NULL is fine */

WEIR_API weir_dialect weir_request_dialect(const struct weir_request *request);
WEIR_API weir_span weir_request_model(const struct weir_request *request);
WEIR_API uint32_t weir_request_turns(const struct weir_request *request);
WEIR_API uint32_t weir_request_loops(const struct weir_request *request);
WEIR_API uint32_t weir_request_segments(const struct weir_request *request);

/* The server holds the history and this body has only what is new. */
WEIR_API bool weir_request_is_delta(const struct weir_request *request);

/* Fills `view` with segment `index`; WEIR_NOTFOUND past the last. */
WEIR_API WEIR_MUST_USE weir_status weir_request_segment(const struct weir_request *request,
                                                        uint32_t index, struct weir_segment *view);

/* The segment's text, unescaped; its parts joined by '\n'. Of a value that is no string, its JSON.
 */
WEIR_API WEIR_MUST_USE weir_status weir_request_text(struct weir_request *request, uint32_t index,
                                                     weir_span *text);

/* Edits are collected here and carried out by weir_request_write(). WEIR_INVALID where the segment
 * may not be edited so. Dropping a call, a result or a model output drops its whole group. */
WEIR_API WEIR_MUST_USE weir_status weir_request_edit(struct weir_request *request, uint32_t index,
                                                     weir_span text, struct weir_err *err);
WEIR_API WEIR_MUST_USE weir_status weir_request_drop(struct weir_request *request, uint32_t index,
                                                     struct weir_err *err);

/* Applies the edits, validates the result, and gives the body to send: the one that came in, byte
 * for byte, where no edit stands. `report` may be NULL. */
WEIR_API WEIR_MUST_USE weir_status weir_request_write(struct weir_request *request, weir_span *body,
                                                      struct weir_write_report *report,
                                                      struct weir_err *err);

WEIR_END_DECLS

#endif
