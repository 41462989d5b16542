/* clouds.h -- who sells the APIs: providers, clouds, gateways and servers of one's own, a row each.
 *
 * One API is spoken at many places, which differ in their paths, in whose credential they take and
 * in how their answers stream. What is known of such a place is a row of the table in clouds.c and
 * nowhere else: how it is recognised, which API, whose credential, what its stream is, where the
 * model stands. docs/clouds.md explains the table, and a test holds it to that page.
 */
#ifndef WR_API_CLOUDS_H
#define WR_API_CLOUDS_H

#include "api/api.h"

enum wr_cloud_stream {
    WR_CLOUD_EVENTS, /* text/event-stream */
    WR_CLOUD_FRAMES  /* an AWS event stream (api/events.h) */
};

/* A path that carries a conversation, where its end alone does not say so, or where it names the
 * model. `*` stands for one part or less of it, `{model}` likewise, and that is the model. */
struct wr_cloud_path {
    const char *pattern; /* of the end of a path, from a '/' on */
    const struct wr_api *api;
    struct wr_api_path row;
    enum wr_cloud_stream stream;
    const char *needs; /* a member without which the body is of another API; NULL: none */
};

struct wr_cloud {
    const char *name;  /* of its upstream in weir.yaml */
    const char *title; /* for people */
    /* Hosts that are its own: each is this host and all below it; "-x": all that end so. None: it
     * has no host of its own, or nobody knows it. */
    const char *hosts[4];
    /* How its address looks. It is the address unless told where it has no word in capitals. */
    const char *base_url;
    struct {
        const char *names; /* parted by '|'; NULL: every other */
        const char *base_url;
    } regions[3]; /* its address in them where it is another; REGION stands for the region */
    const char *fronts[8]; /* how paths begin that nobody else has */
    const char *shared[2]; /* and paths of its own that begin like the name of another upstream */
    const struct wr_cloud_path *paths; /* pattern NULL at the end; NULL: the ends of the APIs' */
    const char *key_header;            /* that a key goes in; NULL: authorization, as Bearer */
    const char *service;               /* what requests are signed for (AWS); NULL: they are not */
    const char *semconv; /* OpenTelemetry's gen_ai.provider.name of it; NULL: `name` */
};

/* Rows from 0 on; NULL: there are no more. */
const struct wr_cloud *wr_cloud_at(size_t index);
const struct wr_cloud *wr_cloud_named(weir_span name); /* NULL: none is called so */
/* The one whose paths begin so and nobody else's; NULL: none. */
const struct wr_cloud *wr_cloud_of_front(weir_span target);
/* Whether base_url is an address, and not only how one looks. */
bool wr_cloud_has_address(const struct wr_cloud *cloud);

/* Its address in a region, or under a name: `place` is what stands for the word in capitals. */
void wr_cloud_write_address(const struct wr_cloud *cloud, weir_span place, struct wr_buf *out);
/* An address with `place` for its word in capitals. */
void wr_cloud_fill_address(const char *address, weir_span place, struct wr_buf *out);

/* The row of a path such as /model/ID/invoke?x; NULL: no cloud has it. `model` is what it names, as
 * it is spelt there; empty: nothing. */
const struct wr_cloud_path *wr_cloud_path_of(weir_span path, weir_span *model);

/* ---- credentials ---- */

enum wr_credential_place {
    WR_IN_HEADER,
    WR_IN_BEARER,
    WR_IN_ISSUER, /* of a Bearer that is a JSON Web Token */
    WR_IN_QUERY,
    WR_IN_PATH /* the path itself: what comes with it is for that cloud, whatever it looks like */
};

/* A shape that one house alone has. */
struct wr_credential_shape {
    enum wr_credential_place place;
    const char *name;      /* of the header or the parameter */
    const char *begins;    /* its value, or the path; "": any value that is not empty */
    const char *clouds[3]; /* the first is asked if the path names none */
    const char *shown;
};

/* Shapes from 0 on; NULL: there are no more. */
const struct wr_credential_shape *wr_credential_shape_at(size_t index);

#endif
