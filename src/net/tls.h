/* tls.h -- the server's side of TLS, by OpenSSL, without a socket.
 *
 * What comes from the wire goes in and what was said comes out, and the other way round, through
 * OpenSSL's memory BIOs. So it fits behind any connection, and libuv stays the only one who reads
 * and writes.
 *
 *   wire ──wr_tls_feed──▶ OpenSSL ──on_plain──▶ the parser of requests
 *   wire ◀──────── out ◀── wr_tls_seal ◀── wr_tls_buf ◀── answers
 *
 * 1. A certificate that is changed is for connections that begin afterwards; open ones keep theirs.
 * 2. What could not be agreed on is told to the client as an alert, which is in `out` and has to be
 *    sent before the end. A client that speaks plain HTTP is told so in plain HTTP.
 */
#ifndef WR_NET_TLS_H
#define WR_NET_TLS_H

#include "base/buf.h"
#include "weir/status.h"

struct wr_tls_files {
    const char *cert;      /* PEM, with the chain behind it; NULL: no TLS */
    const char *key;       /* PEM; NULL: it is in `cert` */
    const char *client_ca; /* PEM: who must have signed a client's; NULL: no client shows one */
};

struct wr_tls;
struct wr_tls_conn;

/* What is wrong with a file is in `err`, with its name. */
WEIR_MUST_USE weir_status wr_tls_new(struct wr_tls **tls, const struct wr_tls_files *files,
                                     struct weir_err *err);
void wr_tls_free(struct wr_tls *tls); /* NULL is fine; connections live on */

struct wr_tls_conn *wr_tls_conn_new(struct wr_tls *tls); /* NULL: out of memory */
void wr_tls_conn_free(struct wr_tls_conn *conn);         /* NULL is fine */

enum wr_tls_news {
    WR_TLS_OPEN,   /* go on */
    WR_TLS_ENDED,  /* the client has said that it is done */
    WR_TLS_FAILED, /* nothing more can be said but what is in `out` */
};

/* Takes bytes of the wire; calls `on_plain` for what they say; appends to `out` what the protocol
 * itself has to answer. `on_plain` says false when it wants no more. */
typedef bool wr_tls_plain_fn(void *user, weir_span plain);
enum wr_tls_news wr_tls_feed(struct wr_tls_conn *conn, weir_span wire, struct wr_buf *out,
                             wr_tls_plain_fn *on_plain, void *user);

bool wr_tls_has_begun(const struct wr_tls_conn *conn); /* both sides have agreed */

/* What is appended here is said when it is sealed. False: it cannot be. */
struct wr_buf *wr_tls_buf(struct wr_tls_conn *conn);
bool wr_tls_seal(struct wr_tls_conn *conn, struct wr_buf *out);
/* The same, and says that nothing more comes. */
bool wr_tls_end(struct wr_tls_conn *conn, struct wr_buf *out);

#endif
