/* http.h -- one GET, waited for: is a server there, and what does it say of itself. */
#ifndef WR_LAUNCH_HTTP_H
#define WR_LAUNCH_HTTP_H

#include <stdbool.h>

#include "base/buf.h"

struct wr_http_answer {
    int status;          /* 0: there was no answer, `why` says why not */
    const char *why;     /* static */
    int64_t date_s;      /* of its Date header, since 1970; -1: it has none */
    uint32_t connect_ms; /* TCP, and TLS where it is spoken */
    bool has_connected;  /* TCP at least */
};

/* A server of ours on this machine: never by a proxy. What of the body fits goes to `body`, which
 * may be NULL. */
void wr_http_get_local(const char *url, uint32_t ms_max, struct wr_buf *body,
                       struct wr_http_answer *answer);

/* An upstream, as net/fetch.h asks it; `proxy` is what was told of it there. */
void wr_http_get(const char *url, const char *proxy, const char *ca_file, uint32_t ms_max,
                 struct wr_http_answer *answer);

#endif
