/* server.h -- an HTTP/1 server on a libuv loop: connections, framing, back-pressure, timeouts.
 *
 * One exchange at a time on a connection: a request comes in pieces, an answer goes out in pieces,
 * then the next request is read. Requests that were sent ahead wait in a buffer with a cap.
 *
 *   take_conn ──▶ WAITING ──feed_reader: the first byte──▶ HEAD
 *                    ▲                                      │ on_head: begin()
 *                    │ on_turn:                             ├──it has a body──▶ BODY
 *                    │ next_request                         │                     │ on_body_end
 *                    │                                      └──it has none────▶ WHOLE
 *                    └────────── ANSWERED ◀──wr_conn_end: another may follow──────┘
 *
 *   HEAD, BODY, WHOLE ──wr_conn_end: none may follow; refuse_message; wr_conn_abort──▶ LAST
 *         BODY, WHOLE ──wr_conn_abort: only a reset can show that it was cut──▶ CUT
 *           take_conn ──turn_away: too many are open──▶ LAST
 *
 *   LAST ──settle_out: all is gone──▶ LINGERING ──lose_conn: the client closes or is late──▶ CLOSED
 *   CUT ──settle_out: all is gone──▶ CLOSED
 *
 *   From any state to CLOSED: lose_conn (the client left or is too slow, a write failed). From
 *   WAITING also wr_server_drain. The queue of what is written has states of its own, and so has
 *   the parser (net/outflow.h, net/request_reader.c).
 *
 * 1. A handler is never called after its `gone`, nor after the answer has ended, nor from inside
 *    one of the calls below that answer.
 * 2. What is written in one turn of the loop leaves in one write, at the end of that turn.
 * 3. A connection is freed by the loop, never inside one of its own calls.
 */
#ifndef WR_NET_SERVER_H
#define WR_NET_SERVER_H

#include <uv.h>

#include "net/http.h"
#include "weir/status.h"

struct wr_server;
struct wr_conn;

/* In the order in which a connection passes them: answers are written before ANSWERED, requests are
 * read before LAST. */
enum wr_conn_state {
    WR_CONN_WAITING,   /* for a request; nothing of it has come */
    WR_CONN_HEAD,      /* its head comes in */
    WR_CONN_BODY,      /* its body comes in; the answer may begin */
    WR_CONN_WHOLE,     /* all of it has come; what the client sends now was sent ahead */
    WR_CONN_ANSWERED,  /* the next request is looked at when the turn of the loop ends */
    WR_CONN_LAST,      /* the last answer is on its way out; nothing more is read */
    WR_CONN_CUT,       /* the same, but it has no end, and only a reset can show that */
    WR_CONN_LINGERING, /* our side is closed; what the client still sends is thrown away */
    WR_CONN_CLOSED,    /* by us; the loop frees it */
};

/* `conn` lives until `gone` was called or the answer ended. */
struct wr_server_handler {
    /* The head of a request, valid until its answer ends. Returns what the other calls get as
     * `exchange`. */
    void *(*begin)(void *user, struct wr_conn *conn, const struct wr_head *head);
    void (*body)(void *exchange, weir_span bytes);
    void (*body_end)(void *exchange);
    void (*room)(void *exchange); /* wr_conn_has_room() said no: now there is room again */
    void (*gone)(void *exchange); /* the client left, or was too slow */
    /* A message that was refused before it became an exchange. */
    void (*refused)(void *user, int status);
    /* Gives a place for the next bytes of a body, at most *bytes_max of them. `body` then gets them
     * at that place, so they need not be copied. NULL: anywhere. May be left out. */
    char *(*body_place)(void *exchange, size_t *bytes_max);
};

/* What a client may take; WR_NET_..._MAX in base/limits.h says what each is. */
struct wr_server_limits {
    uint32_t connections_max;
    uint32_t head_ms_max, body_idle_ms_max, keep_ms_max, write_idle_ms_max;
};

extern const struct wr_server_limits wr_server_limits_default;

struct wr_server_options {
    int listener; /* a listening socket; it stays the caller's */
    struct wr_server_limits limits;
};

WEIR_MUST_USE weir_status wr_server_new(struct wr_server **server, uv_loop_t *loop,
                                        const struct wr_server_options *options,
                                        const struct wr_server_handler *handler, void *user,
                                        struct weir_err *err);

/* Connections that begin from now on speak TLS, or are plain (NULL). Takes `tls`. */
struct wr_tls;
void wr_server_set_tls(struct wr_server *server, struct wr_tls *tls);

/* Accepts no more, closes connections that wait for a request, and the others behind their answer.
 */
void wr_server_drain(struct wr_server *server);
size_t wr_server_connections(const struct wr_server *server);

/* Closes everything at once. The loop must run until it has nothing left, then comes free. */
void wr_server_close(struct wr_server *server);
void wr_server_free(struct wr_server *server);

/* ---- answering ---- */

struct wr_answer {
    int status;
    weir_span reason; /* empty: the usual one */
    const struct wr_header *headers;
    size_t headers_count;
    int64_t content_bytes; /* -1: not known, the body is chunked or ends with the connection.
                            * What is written as the body of a HEAD, 204 or 304 goes nowhere. */
};

/* Called within `begin`: sends the other calls of this exchange to `handler`, with what `begin`
 * returns. */
void wr_conn_hand_over(struct wr_conn *conn, const struct wr_server_handler *handler);

/* Whether the answer to the request at hand has begun. */
bool wr_conn_has_begun(const struct wr_conn *conn);

void wr_conn_begin(struct wr_conn *conn, const struct wr_answer *answer);
void wr_conn_write(struct wr_conn *conn, weir_span bytes);
void wr_conn_end(struct wr_conn *conn);

/* The answer cannot be finished: what came of it goes out, then the connection is cut, so that the
 * client sees it. No `gone`. */
void wr_conn_abort(struct wr_conn *conn);

/* All of a small answer. */
void wr_conn_reply(struct wr_conn *conn, int status, const char *content_type, weir_span body);

/* Whether more may be written. Where it is false, the handler's `room` tells when to go on. */
bool wr_conn_has_room(struct wr_conn *conn);

/* Reads no more of the body until resumed. */
void wr_conn_pause(struct wr_conn *conn);
void wr_conn_resume(struct wr_conn *conn);

/* ---- room ---- */

/* How many exchanges the process may hold open by its limit of descriptors. Each exchange needs
 * two: for the client and for the upstream. WR_NET_FDS_KEPT are left for all else. At most
 * `wanted`, at least one. */
uint32_t wr_fd_room_exchanges(uint32_t wanted);

/* The same with the limit that is given; UINT64_MAX: none. */
uint32_t wr_fd_room_of(uint64_t fds_max, uint32_t wanted);

#endif
