/* client.h -- asking a model: one request, its streamed answer, and what became of it.
 *
 * The client runs a loop of its own while it waits; whoever watches the keyboard puts a watcher on
 * that loop. What a provider is too busy for is asked again, a few times, later each time.
 */
#ifndef WR_AGENT_CLIENT_H
#define WR_AGENT_CLIENT_H

#include <uv.h>

#include "agent/endpoint.h"
#include "api/answer.h"
#include "net/fetch.h"

enum wr_asked {
    WR_ASKED_DONE,        /* `body` is the answer */
    WR_ASKED_REFUSED,     /* `status` and `body` are what the provider said */
    WR_ASKED_BROKEN,      /* the answer began and did not end */
    WR_ASKED_UNREACHABLE, /* `why` */
    WR_ASKED_INTERRUPTED,
};

enum { WR_CLIENT_SIGNALS = 3 };

struct wr_client {
    uv_loop_t loop;
    struct wr_fetcher *fetcher;
    bool is_interrupted; /* set by wr_client_interrupt(), taken back by the next asking */
    bool has_ended;      /* a signal told the program to end; everything is interrupted */
    bool ends_at_interrupt;
    uv_signal_t signals[WR_CLIENT_SIGNALS];
    size_t signals_count; /* that are watched */
};

struct wr_ask {
    const struct wr_endpoint *endpoint;
    const char *session;
    weir_span body;
    wr_piece_fn *on_piece;                                          /* may be NULL */
    void (*on_wait)(void *user, const char *why, uint64_t seconds); /* may be NULL */
    void *user;
};

struct wr_asked_result {
    enum wr_asked asked;
    int status;
    bool is_stream;     /* its pieces were shown as they came */
    char type[80];      /* content-type */
    struct wr_buf body; /* released by the caller, with the text */
    struct wr_buf text; /* what an answer says */
    struct weir_session_usage usage;
    bool has_usage;
    char why[256];
};

WEIR_MUST_USE weir_status wr_client_init(struct wr_client *client, const char *ca_file,
                                         struct weir_err *err);
void wr_client_release(struct wr_client *client);

void wr_client_ask(struct wr_client *client, const struct wr_ask *ask,
                   struct wr_asked_result *result);
void wr_asked_release(struct wr_asked_result *result);

/* A plain request with a short answer: what a server says of itself. False: no good answer, or
 * nothing came for ten seconds. */
bool wr_client_get(struct wr_client *client, const char *url, struct wr_buf *body);

/* How large a window a local server has really loaded a model with, in tokens; 0: it does not say.
 * What such a server says a model could have is not what it was loaded with, and it cuts a prompt
 * over the loaded window without a word. models/window.h knows whom to ask and reads the answers.
 * A server that hangs is asked once. */
uint32_t wr_local_window(struct wr_client *client, const struct wr_endpoint *endpoint,
                         const char *model);

/* Ends what is being asked; for a watcher on the loop. */
void wr_client_interrupt(struct wr_client *client);

/* SIGTERM and SIGHUP no longer kill the program: they end what it does, so that commands are ended
 * and the terminal is put back. So does SIGINT where `ends_at_interrupt`; else it only interrupts.
 * What was ignored stays ignored. */
void wr_client_watch_signals(struct wr_client *client, bool ends_at_interrupt);

/* Whether such a signal has come. Not from within the loop. */
bool wr_client_has_ended(struct wr_client *client);

/* False: interrupted. */
bool wr_client_sleep(struct wr_client *client, uint64_t seconds);

#endif
