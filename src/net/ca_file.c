#include "net/ca_file.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/span.h"

const char *wr_ca_file_choose(const char *built_in, const char *said,
                              bool (*can_read)(const char *path))
{
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Alpine */
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL */
        "/etc/pki/tls/certs/ca-bundle.crt",                  /* older ones */
        "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
        "/etc/ssl/cert.pem",                                 /* Alpine, macOS, the BSDs */
        "/usr/local/share/certs/ca-root-nss.crt",            /* FreeBSD */
    };

    if (built_in && can_read(built_in))
        return NULL;
    if (said && *said)
        return said;
    for (size_t i = 0; i < WR_COUNT_OF(places); i++)
        if (can_read(places[i]))
            return places[i];
    return NULL;
}

static bool can_read(const char *path)
{
    return !access(path, R_OK);
}

const char *wr_ca_file_find(void)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    const char *built_in = curl->cainfo ? curl->cainfo : curl->capath;

    return wr_ca_file_choose(built_in, getenv("SSL_CERT_FILE"), can_read);
}
