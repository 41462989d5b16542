/* credential.h -- whose credential a request carries, and who may see it.
 *
 * A key of one provider is not for another to see. Which provider a credential belongs to is known
 * by its shape: the header or the parameter it comes in, how it begins, who issued it. The table of
 * those shapes is api/clouds.c's. What has no shape of its own (a Bearer that could be
 * anybody's) goes where the path says.
 *
 * An upstream is a provider's where its address is one of that provider's hosts; its name says
 * nothing, for a gateway of the user's may stand in OpenAI's place. One with another host takes
 * every credential: the user has named that host.
 */
#ifndef WR_PROXY_CREDENTIAL_H
#define WR_PROXY_CREDENTIAL_H

#include "api/clouds.h"
#include "net/head.h"
#include "proxy/config.h"

struct wr_credential {
    const char *shown;    /* "the header api-key" */
    const char *provider; /* "azure": the name of an upstream for it, its first if it has two */
    const char *base_url; /* how the address of one looks */
};

/* Finds the first credential in a request that is not for `upstream` to see. False: there is none.
 */
bool wr_credential_find_strange(const struct wr_head *head, weir_span target,
                                const struct wr_upstream *upstream,
                                struct wr_credential *credential);

/* Whether the client has signed the request, body and all, as AWS wants it. */
bool wr_credential_is_signed(const struct wr_head *head, weir_span target);

/* The cloud at whose host an upstream is; NULL: at none that is known. */
const struct wr_cloud *wr_credential_cloud_at(const struct wr_upstream *upstream);

/* Who an upstream is, as OpenTelemetry calls it: by its host, by its name, or by the API that it is
 * asked in (NULL: in none). NULL: nobody knows. */
const char *wr_credential_provider(const struct wr_upstream *upstream, const struct wr_api *api);

/* The upstream of a cloud of the table, by name, else by host; NULL: none is configured. */
const struct wr_upstream *wr_credential_upstream(const char *name, const struct wr_config *config);

#endif
