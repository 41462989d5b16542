/* call.h -- what a tool call says of itself: which capability, what for, with which arguments.
 *
 * The capability is the tool's name; of a call to `call_capability` it is the one named in the
 * arguments, and `args` there are the arguments. The purpose is what the call gives as its
 * `purpose` or `description`, else the command line it runs; it may be empty.
 */
#ifndef WR_POLICY_CALL_H
#define WR_POLICY_CALL_H

#include "transcript/transcript.h"

struct wr_call {
    weir_span capability; /* "(unknown)" for a result whose call is not there */
    weir_span purpose;
    weir_span arguments;                   /* JSON, or the bare text of a custom tool */
    const struct wr_tool_handles *handles; /* NULL: none */
};

/* Reads the call at segment `call`; WR_SEGMENT_NONE is allowed. Spans are in `arena` or in the
 * body. */
WEIR_MUST_USE weir_status wr_call_read(struct wr_call *out, struct wr_arena *arena,
                                       const struct wr_transcript *transcript, uint32_t call);

/* Whether a call of this tool is a call of another, named in its arguments. */
bool wr_call_is_wrapper(weir_span tool);

/* The text of a result; empty where it has none that can be read. NULL ptr: no memory. */
weir_span wr_call_result(const struct wr_transcript *transcript, uint32_t result,
                         struct wr_arena *arena);

#endif
