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

#include "face/call_args.h"
#include "json/write.h"
#include "weir/call.h"

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
