/* kinds.h -- the condensers, one a kind of output. Private to src/condense: wr_condense() chooses.
 */
#ifndef WR_CONDENSE_KINDS_H
#define WR_CONDENSE_KINDS_H

#include "condense/condense.h"

typedef weir_status wr_condense_fn(struct wr_condensed *out, struct wr_arena *arena,
                                   const struct wr_condense_input *input);

wr_condense_fn wr_condense_file;    /* source files: head, outline, what was named */
wr_condense_fn wr_condense_process; /* what a command printed */
wr_condense_fn wr_condense_log;
wr_condense_fn wr_condense_test;
wr_condense_fn wr_condense_search;
wr_condense_fn wr_condense_diff;
wr_condense_fn wr_condense_json;
wr_condense_fn wr_condense_list;
wr_condense_fn wr_condense_blob;
wr_condense_fn wr_condense_prose;

#endif
