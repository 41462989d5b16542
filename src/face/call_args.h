/* call_args.h -- the members of a JSON object, read into variables by a table. */
#ifndef WR_FACE_CALL_ARGS_H
#define WR_FACE_CALL_ARGS_H

#include "json/json.h"

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

#endif
