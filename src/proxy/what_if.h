/* what_if.h -- a session under other policies, played by `weir simulate` in a process of its own.
 *
 *   POST /weir/v1/traffic/whatif {"session": S}    begins; the answer is the job
 *   GET  /weir/v1/traffic/whatif                   how far the last job of this tenant is
 *
 * The laboratory is no part of the proxy, and what takes seconds of processor is not for the
 * process that serves: each policy is one child with the lowest priority, one after the other. What
 * it reads is the newest prompt of the session as it came, in a file of the store's folder that is
 * removed. One job at a time.
 */
#ifndef WR_PROXY_WHAT_IF_H
#define WR_PROXY_WHAT_IF_H

#include <uv.h>

#include "base/buf.h"
#include "proxy/door.h"

struct wr_what_if;

/* `store_dir` is borrowed. NULL: out of memory. */
struct wr_what_if *wr_what_if_new(uv_loop_t *loop, const char *store_dir);
void wr_what_if_close(struct wr_what_if *what_if); /* ends the child; NULL is fine */
void wr_what_if_free(struct wr_what_if *what_if);  /* when the loop has ended; NULL is fine */

enum { WR_WHAT_IF_BYTES = 1024 };

struct wr_what_if_job {
    const char *tenant;
    char session[WR_WHAT_IF_BYTES], model[WR_WHAT_IF_BYTES]; /* priced as that model */
    char path[WR_WHAT_IF_BYTES];                             /* of the log */
};

/* On any thread: puts the log into a file that only this user can read. */
WEIR_MUST_USE weir_status wr_what_if_log(const struct wr_what_if *what_if, weir_span log,
                                         char path[WR_WHAT_IF_BYTES], struct weir_err *err);

/* On the loop: plays the log, and removes it. WEIR_LIMIT: another is being played. */
WEIR_MUST_USE weir_status wr_what_if_begin(struct wr_what_if *what_if,
                                           const struct wr_what_if_job *job, struct weir_err *err);

/* On the loop: the job of this tenant as JSON. */
void wr_what_if_write(const struct wr_what_if *what_if, const char *tenant, struct wr_buf *out);

#endif
