/* endpoint.h -- where a model is asked: which API, which address, with which key. */
#ifndef WR_AGENT_ENDPOINT_H
#define WR_AGENT_ENDPOINT_H

#include "api/api.h"
#include "base/buf.h"
#include "net/head.h"

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

#endif
