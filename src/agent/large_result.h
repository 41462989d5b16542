/* large_result.h -- a large result is also a file that the model can page with read_file.
 *
 * large_tool_results/ID.txt below the session's folder, ID being the call's. The result itself ends
 * with a line that names the file: whatever the policy makes of it later, a preview shows its end.
 */
#ifndef WR_AGENT_LARGE_RESULT_H
#define WR_AGENT_LARGE_RESULT_H

#include "base/buf.h"

/* `result` is that of a call that shows no file itself. Where it is not large, or the file cannot
 * be written, it stays as it is. */
void wr_large_result_keep(const char *session_dir, weir_span call_id, struct wr_buf *result);

#endif
