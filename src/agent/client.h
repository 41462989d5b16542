/* client.h -- asking a model: one request, its streamed answer, and what became of it.
 *
 * The client runs a loop of its own while it waits; whoever watches the keyboard puts a watcher on
 * that loop. What a provider is too busy for is asked again, a few times, later each time.
 */
#ifndef WR_AGENT_CLIENT_H
#define WR_AGENT_CLIENT_H

#include <uv.h>

#include "api/answer.h"
#include "api/api.h"
#include "base/buf.h"
#include "net/fetch.h"
#include "net/http.h"
#include "weir/session.h"

/* ---- where a model is asked: which API, which address, with which key ---- */

struct wr_endpoint {
    const struct wr_api *api;
    char base_url[2048]; /* no '/' at its end */
    const char *key;     /* borrowed; NULL: none, as local servers want it */
    bool is_local;       /* on this machine or in a private network */
};

/* What the command line says; NULL: nothing. */
struct wr_endpoint_options {
    const char *api;      /* "chat", ... */
    const char *base_url; /* "http://127.0.0.1:11434", with /v1 or without */
    const char *model;    /* some speak one API, unless told */
};

typedef const char *wr_getenv_fn(const char *name);

/* The variables of all APIs (OPENAI_BASE_URL, OPENAI_API_KEY, ...) are asked for with `get`.
 * WEIR_INVALID: `err` says what is missing and how to give it. */
WEIR_MUST_USE weir_status wr_endpoint_find(struct wr_endpoint *endpoint,
                                           const struct wr_endpoint_options *options,
                                           wr_getenv_fn *get, struct weir_err *err);

/* Appends the address to post `body` to, and a NUL. */
void wr_endpoint_url(const struct wr_endpoint *endpoint, weir_span body, struct wr_buf *url);

enum { WR_ENDPOINT_HEADERS_MAX = 8 };

/* Fills in the headers of a request and returns how many. They point into `text`, which must
 * outlive them. */
size_t wr_endpoint_headers(const struct wr_endpoint *endpoint, const char *session,
                           struct wr_buf *text, struct wr_header headers[WR_ENDPOINT_HEADERS_MAX]);

/* ---- client ---- */

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

/* ---- a summary, asked for ----
 *
 * The session decides whether the text is good enough (weir/session.h); here it is only asked for,
 * within the time, the tokens and the money that the task allows. What it used is told, also where
 * nothing came of it.
 */

struct wr_summary_call {
    struct wr_client *client;
    const struct wr_endpoint *endpoint;
    const char *model, *session;
    const struct weir_session *live; /* knows prices; NULL: the money is not looked at */
    struct wr_buf text;              /* of the last one */
};

void wr_summary_call_init(struct wr_summary_call *call);
void wr_summary_call_release(struct wr_summary_call *call);

weir_summary_fn wr_summary_call; /* the user is a wr_summary_call */

#endif
