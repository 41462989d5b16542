/* server_inside.h -- the inside of a connection, for the files that carry it out: server.c has its
 * life and its requests, outflow.c what is answered.
 */
#ifndef WR_NET_SERVER_INSIDE_H
#define WR_NET_SERVER_INSIDE_H

#include "base/buf.h"
#include "net/outflow.h"
#include "net/request_reader.h"
#include "net/server.h"
#include "net/tls.h"

enum { WR_CONN_READ_BYTES = 64 * 1024 };

#define WR_RETRY_AFTER_S "1" /* what we have no room for now, we may have soon */

struct wr_server {
    uv_loop_t *loop; /* borrowed */
    struct wr_server_limits limits;
    uv_tcp_t listener;
    uv_timer_t tick;
    uv_prepare_t turn;
    const struct wr_server_handler *handler;
    void *user;
    struct wr_tls *tls;    /* owned, for connections that begin; NULL: they are plain */
    struct wr_conn *conns; /* owned list */
    struct wr_conn *dirty; /* those with something to write in this turn */
    size_t conns_count;
    bool is_draining;
    bool is_accept_due; /* libuv holds a connection that has no room yet, and accepts no other */
    char read_bytes[WR_CONN_READ_BYTES]; /* shared: what is read is used up before the next read */
};

/* How the client learns where the body of an answer ends. */
enum wr_framing {
    WR_FRAMING_NONE,     /* no answer has begun */
    WR_FRAMING_COUNTED,  /* its length was said */
    WR_FRAMING_CHUNKED,  /* its end is marked */
    WR_FRAMING_TO_CLOSE, /* it ends with the connection */
    WR_FRAMING_NO_BODY,  /* there is none, whatever is written */
};

struct wr_conn {
    uv_tcp_t tcp;
    struct wr_server *server;
    struct wr_conn *next, *prev; /* of server->conns */
    struct wr_conn *next_dirty;
    bool is_dirty;           /* it is in that list */
    struct wr_tls_conn *tls; /* NULL: it is plain */
    enum wr_conn_state state;
    uint64_t deadline_ms;

    /* What is read. */
    struct wr_request_reader *reader; /* NULL: the client is turned away */
    struct wr_buf ahead;              /* read but not parsed: a request sent ahead */
    const struct wr_head *head;       /* the reader's, of the request at hand; NULL: none */
    bool is_paused;                   /* the handler wants no more for now */
    void *exchange;                   /* NULL between requests, and when its answer has ended */
    const struct wr_server_handler *handler; /* of that exchange */

    /* What is written. */
    struct wr_outflow out;
    enum wr_framing framing;
    bool keeps_connection;    /* another request may follow */
    uint64_t gone_bytes_last; /* at the last tick, to see whether the client takes any */
    uv_shutdown_t shutdown;
};

/* Its requests are read. */
static inline bool wr_conn_is_open(const struct wr_conn *conn)
{
    return conn->state < WR_CONN_LAST;
}

/* The answer at hand has not ended. */
static inline bool wr_conn_is_answerable(const struct wr_conn *conn)
{
    return conn->state < WR_CONN_ANSWERED;
}

/* ---- server.c ---- */

/* What is appended here goes to the client. Call wr_conn_added() behind it: the connection is
 * looked at when the turn ends, because it may be called from inside the handler. */
struct wr_buf *wr_conn_out(struct wr_conn *conn);
void wr_conn_added(struct wr_conn *conn);

/* ---- outflow.c ---- */

/* The answer at hand has ended. Unless the state is ANSWERED nothing more is read or written. */
void wr_conn_finish(struct wr_conn *conn, enum wr_conn_state state);

#endif
