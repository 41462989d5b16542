/* head.h -- the head of an HTTP message: its first line and its headers, as they came.
 *
 * Names and values point into the bytes they were read from. Nothing is folded, merged or sorted:
 * what is forwarded keeps its order, its case and its repetitions.
 */
#ifndef WR_NET_HEAD_H
#define WR_NET_HEAD_H

#include <stdbool.h>

#include "base/limits.h"
#include "weir/span.h"

struct wr_header {
    weir_span name, value;
};

struct wr_head {
    weir_span method, target; /* of a request */
    int status;               /* of an answer */
    int minor_version;        /* of HTTP/1 */
    struct wr_header headers[WR_NET_HEADERS_MAX];
    size_t headers_count;
    int64_t content_bytes; /* what Content-Length says; -1: it says nothing */
    bool is_chunked;
    bool is_upgrade;       /* it asks for another protocol */
    bool keeps_connection; /* another request may follow on this connection */
    bool expects_continue; /* the body comes when a 100 was sent */
};

/* The value of the first header of that name, in any case; an empty span with a NULL ptr: none. */
weir_span wr_head_find(const struct wr_head *head, const char *name);
size_t wr_head_count(const struct wr_head *head, const char *name);

bool wr_header_is(const struct wr_header *header, const char *name);
bool wr_header_starts(const struct wr_header *header, const char *prefix); /* its name does */

/* Whether a list of words such as that of Connection holds `word`, in any case. */
bool wr_header_lists(weir_span value, weir_span word);

/* A header that belongs to this connection only (RFC 9110, 7.6.1) or to its framing, which is made
 * anew: it is not forwarded. */
bool wr_head_is_hop(const struct wr_head *head, const struct wr_header *header);

/* The part of a request's target before its query. */
weir_span wr_target_path(weir_span target);

/* The head of an upstream's answer. `lines` is the status line and the headers, up to the empty
 * line; the head points into it. False: it is no head, or has too many headers. The words behind
 * the status are in `target`. */
bool wr_answer_head_read(weir_span lines, struct wr_head *head);

/* The usual words behind a status; "Unknown" for one that is not in the list. */
const char *wr_reason(int status);

#endif
