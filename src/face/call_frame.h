/* call_frame.h -- one call with JSON on both sides, whatever its method does.
 *
 *     struct wr_call call = {.engine = engine, .json = {json, json_bytes}};
 *     wr_call_begin(&call);
 *     status = ...wr_call_args(), the work, wr_json_member_...(&call.w)...
 *     return wr_call_end(&call, status, &answer, err);
 *
 * Between begin and end a method writes the members of an object that is already open. If something
 * goes wrong before that object is whole, the answer is written anew: the error and nothing else.
 */
#ifndef WR_FACE_CALL_FRAME_H
#define WR_FACE_CALL_FRAME_H

#include "json/json.h"
#include "json/write.h"
#include "weir/call.h"

/* ---- the members of a JSON object, read into variables by a table ---- */

enum wr_arg_kind {
    WR_ARG_TEXT,   /* weir_span */
    WR_ARG_NAME,   /* const char *, without a NUL in it */
    WR_ARG_COUNT,  /* uint64_t, a whole number from 0 */
    WR_ARG_TIME,   /* int64_t */
    WR_ARG_BOOL,   /* bool */
    WR_ARG_ARRAY,  /* weir_span: an array's own bytes */
    WR_ARG_OBJECT, /* weir_span: an object's own bytes, or the text of a string */
};

struct wr_arg {
    const char *name;
    enum wr_arg_kind kind;
    void *target; /* left as it is where the member is not there, or null */
};

/* Texts are in `arena` or part of `json`. WEIR_SYNTAX, WEIR_INVALID (no object, a member that is
 * not in the table or of another kind; `err` names it; the last of a repeated one stands),
 * WEIR_LIMIT, WEIR_NOMEM. */
WEIR_MUST_USE weir_status wr_args_read(weir_span json, struct wr_arena *arena,
                                       const struct wr_arg *args, size_t args_count,
                                       struct weir_err *err);

/* ---- call frame ---- */

struct wr_call {
    struct weir_engine *engine;   /* of weir_call() */
    struct weir_store *store;     /* NULL: there is none */
    struct weir_session *session; /* of weir_session_call() */
    weir_span json;
    weir_span beside;           /* the text that was given beside `json`; NULL: none was */
    struct weir_called *called; /* where the answer's text goes; NULL: it is a member */
    struct wr_arena arena;
    struct wr_buf out;
    struct wr_json_writer w;
    struct weir_err err;
};

void wr_call_begin(struct wr_call *call);

WEIR_MUST_USE weir_status wr_call_args(struct wr_call *call, const struct wr_arg *args,
                                       size_t args_count);

/* The text that the method works on: the one beside the JSON, or that of the member. */
WEIR_MUST_USE weir_status wr_call_find_text(struct wr_call *call, const char *member,
                                            weir_span *text);

/* The text of the answer: beside its JSON where that is wanted, and then the memory that came in
 * where it is the same. What is not UTF-8 stays so there; in a member it is U+FFFD, and
 * `*replaced_count` (may be NULL) says how often. */
WEIR_MUST_USE weir_status wr_call_put_text(struct wr_call *call, const char *member, weir_span text,
                                           bool is_same, uint64_t *replaced_count);

/* Ends the answer, which is the error where `status` is one, and gives what became of it. */
WEIR_MUST_USE weir_status wr_call_end(struct wr_call *call, weir_status status, char **answered,
                                      struct weir_err *err);
WEIR_MUST_USE weir_status wr_call_end_beside(struct wr_call *call, weir_status status,
                                             struct weir_err *err);

#endif
