/* http.h -- what parts of HTTP messages say: heads, hosts, content codings. */
#ifndef WR_NET_HTTP_H
#define WR_NET_HTTP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "weir/span.h"
#include "weir/status.h"

/* ==== heads ==== */

/* The head of an HTTP message: its first line and its headers, as they came.
 *
 * Names and values point into the bytes they were read from. Nothing is folded, merged or sorted:
 * what is forwarded keeps its order, its case and its repetitions.
 */

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

/* ==== hosts ==== */

/* HOST[:PORT], read strictly, and what kind of host it is.
 *
 * One reader for every address: `listen`, a base URL, the headers Host and Origin. A text that is
 * not wholly an address is none, so that a name which only begins like loopback
 * ("[::1].evil.example", "127.0.0.1:80:evil") is not taken for it. No name is looked up.
 */

enum { WR_PORT_MAX = 65535, WR_PORT_NONE = -1 };

struct wr_host {
    weir_span name; /* an IPv6 address without its brackets; points into what was read */
    int port;       /* WR_PORT_NONE: none is said */
};

/* "HOST", "HOST:PORT", "[IPv6]", "[IPv6]:PORT". False: it is none of them. */
bool wr_host_parse(weir_span text, struct wr_host *host);

/* The HOST[:PORT] of "SCHEME://HOST[:PORT][/...]", read as above. */
bool wr_host_of_url(weir_span url, struct wr_host *host);

/* Two names of one host, as far as letters tell: case and a dot at the end do not count. */
bool wr_host_is_same(weir_span a, weir_span b);

/* Whether it is the host `parent` or a name below it ("a.localhost" of "localhost"). */
bool wr_host_is_below(weir_span name, const char *parent);

/* "localhost" and the names below it (RFC 6761: they are never asked of the world), 127/8 written
 * in full, also as IPv6 writes it (::ffff:127.0.0.1), ::1. */
bool wr_host_is_loopback(weir_span name);

/* On this machine or in a private network, as far as its name alone tells: loopback in any
 * spelling ("127.1" too), RFC 1918, link-local, unique local, the unspecified address. */
bool wr_host_is_private(weir_span name);

/* ==== content codings ==== */

/* Content codings undone as the bytes come: gzip, deflate, br, zstd.
 *
 * Every way of cutting one stream into chunks yields the same bytes. What comes out is bounded: a
 * small body that unpacks to a huge one fails with WEIR_LIMIT.
 */

enum wr_coding {
    WR_CODING_IDENTITY,
    WR_CODING_GZIP,
    WR_CODING_DEFLATE,
    WR_CODING_BR,
    WR_CODING_ZSTD,
    WR_CODING_UNKNOWN
};

/* The value of a Content-Encoding. Several codings one over the other are UNKNOWN. */
enum wr_coding wr_coding_of(weir_span value);

/* `bytes` die with the call. A failure stops the feed and is returned by it. */
typedef weir_status wr_decode_fn(void *user, weir_span bytes);

struct wr_decoder;

/* NULL: out of memory, or the coding is UNKNOWN. */
struct wr_decoder *wr_decoder_new(enum wr_coding coding, size_t bytes_max, wr_decode_fn *sink,
                                  void *user);
void wr_decoder_free(struct wr_decoder *decoder); /* NULL is fine */

/* WEIR_SYNTAX: not what the coding says. After a failure: free only. */
WEIR_MUST_USE weir_status wr_decoder_feed(struct wr_decoder *decoder, weir_span bytes);

/* Whether what was fed ends where the coding says that it ends. */
bool wr_decoder_is_complete(const struct wr_decoder *decoder);

/* The whole of `coded`, at most as much as `out` takes. False: it is not, or has no end, or there
 * is no memory. */
bool wr_decode_whole(enum wr_coding coding, weir_span coded, struct wr_buf *out);

#endif
