/* ca_file.h -- the certificates that this machine trusts, where the TLS library was built
 * elsewhere.
 *
 * A distribution's libcurl knows where its certificates are. One that a portable program brings
 * along knows nothing, so the places of the usual systems are looked at.
 */
#ifndef WR_NET_CA_FILE_H
#define WR_NET_CA_FILE_H

#include <stdbool.h>

/* NULL: libcurl knows itself, or there is none. A constant, or what SSL_CERT_FILE says. */
const char *wr_ca_file_find(void);

/* The choice, for the tests: of `built_in` (libcurl's, NULL: none), `said` (SSL_CERT_FILE, NULL:
 * not set), and the usual places. */
const char *wr_ca_file_choose(const char *built_in, const char *said,
                              bool (*can_read)(const char *path));

#endif
