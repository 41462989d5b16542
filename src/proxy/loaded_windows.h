/* loaded_windows.h -- what local servers have loaded their models with, asked beside the requests.
 *
 * 1. No request waits for it: a session's first one may go under what the registry says, and a
 *    later one under what its server says.
 * 2. Only upstreams on this machine or in a private network are asked, one question at a time, with
 *    a short time for all of it. What was learnt is kept, and asked for again while it is used:
 *    a server may be started anew with another size.
 * 3. The loop asks; threads that project read.
 */
#ifndef WR_PROXY_LOADED_WINDOWS_H
#define WR_PROXY_LOADED_WINDOWS_H

#include "net/fetch.h"
#include "proxy/config.h"

struct wr_loaded_windows;

struct wr_loaded_windows_options {
    uv_loop_t *loop;
    struct wr_fetcher *fetcher; /* borrowed; closed after this */
};

struct wr_loaded_windows *wr_loaded_windows_new(
    const struct wr_loaded_windows_options *options);            /* NULL: no memory */
void wr_loaded_windows_close(struct wr_loaded_windows *windows); /* NULL is fine, here and below */
void wr_loaded_windows_free(struct wr_loaded_windows *windows);  /* once the loop has run again */

/* Asks in the background, unless it was asked lately, the upstream is far away or one is being
 * asked now. On the loop. */
void wr_loaded_windows_ask(struct wr_loaded_windows *windows, const struct wr_upstream *upstream,
                           const char *model);

/* Tokens; 0: nobody has said. On any thread. */
uint32_t wr_loaded_windows_find(struct wr_loaded_windows *windows, const char *base_url,
                                weir_span model);

#endif
