#include "agent/local_window.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/span.h"
#include "models/loaded.h"

uint32_t wr_local_window(struct wr_client *client, const struct wr_endpoint *endpoint,
                         const char *model)
{
    const char *host = strstr(endpoint->base_url, "://");
    const char *slash = host ? strchr(host + 3, '/') : NULL;
    int root_bytes = slash ? (int)(slash - endpoint->base_url) : (int)strlen(endpoint->base_url);
    struct wr_loaded loaded = {0};

    for (int i = 0; i < WR_SERVERS_COUNT; i++) {
        char url[sizeof(endpoint->base_url) + 64];
        struct wr_buf answer;
        (void)snprintf(url, sizeof(url), "%.*s%s", root_bytes, endpoint->base_url,
                       wr_server_path((enum wr_model_server)i));
        wr_buf_init(&answer, WR_SERVER_BODY_BYTES_MAX);
        bool is_told = wr_client_get(client, url, &answer) &&
                       !wr_loaded_read((enum wr_model_server)i, wr_buf_view(&answer),
                                       wr_span_of(model), 0, &loaded, NULL);
        wr_buf_release(&answer);
        if (is_told)
            return loaded.window_tokens;
    }
    return 0;
}
