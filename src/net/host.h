/* host.h -- HOST[:PORT], read strictly, and what kind of host it is.
 *
 * One reader for every address: `listen`, a base URL, the headers Host and Origin. A text that is
 * not wholly an address is none, so that a name which only begins like loopback
 * ("[::1].evil.example", "127.0.0.1:80:evil") is not taken for it. No name is looked up.
 */
#ifndef WR_NET_HOST_H
#define WR_NET_HOST_H

#include <stdbool.h>

#include "weir/span.h"

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

#endif
