/* torture.h -- runs small cases with the n-th request for memory refused, for every n.
 *
 * 1. A case does one job of the library from nothing, gives back all that it took, and tells what
 *    came out with torture_tell(), and only when the job succeeded.
 * 2. What counts as a request: malloc and its kin, and every piece asked of an arena (an arena asks
 *    the system so seldom that its users would hardly be tested).
 * 3. A case with a refusal in it fails with WEIR_NOMEM and tells nothing. Where its row says that
 *    it may recover, it may also succeed; then it tells the very same as without the refusal.
 * 4. Every n is tried twice: that one request refused, and that one with all that follow.
 */
#ifndef TORTURE_TORTURE_H
#define TORTURE_TORTURE_H

#include <stdbool.h>

#include "weir/span.h"
#include "weir/status.h"

typedef weir_status torture_fn(void);

struct torture_case {
    const char *behaviour; /* a sentence, printed when it does not hold */
    torture_fn *run;
    bool may_recover;
};

/* In cases.c; ends with an empty row. */
extern const struct torture_case torture_cases[];

/* In session.c: two requests through the engine, with marks. */
weir_status torture_session(void);

/* In journal.c: a journal read, cut, and written as requests. */
weir_status torture_journal(void);
weir_status torture_prompt(void);

/* In kept.c: a session on the disk, opened, compacted and opened again. */
weir_status torture_kept(void);

/* In join.c: legs of an answer joined, and put back into a request. */
weir_status torture_join(void);

/* In frames.c: an AWS event stream turned into events and back. */
weir_status torture_frames(void);

/* Adds to what the case tells. More than the harness can keep fails the case. */
void torture_tell(weir_span bytes);

#endif
