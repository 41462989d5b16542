/* sigv4.h -- AWS' signature of a request, version 4.
 *
 * What is signed: method, path, query, the headers given here and a hash of the body. So a request
 * whose body was changed must be signed anew, and one that somebody else has signed must leave as
 * it came.
 */
#ifndef WR_NET_SIGV4_H
#define WR_NET_SIGV4_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct wr_aws_keys {
    const char *access_key, *secret_key;
    const char *session_token; /* NULL: the keys are lasting ones */
    const char *region;
};

struct wr_aws_request {
    weir_span method;
    weir_span host;   /* as the Host header has it */
    weir_span target; /* path and query, as they are sent */
    weir_span body;
    const char *service; /* "bedrock" */
    int64_t now_ms;
};

enum { WR_AWS_DATE_BYTES = sizeof("20150830T123600Z") };

/* Writes what x-amz-date says, and appends what Authorization says. The headers that are signed are
 * Host, x-amz-date and, where there is one, x-amz-security-token. False: no memory, or a time that
 * is none. */
bool wr_aws_sign(const struct wr_aws_keys *keys, const struct wr_aws_request *request,
                 char date[WR_AWS_DATE_BYTES], struct wr_buf *authorization);

#endif
