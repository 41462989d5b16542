#include "proxy/sidecar_page.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "proxy/pages.h"
#include "proxy/sidecar.h"
#include "weir/session.h"

struct wr_sidecar_page {
    struct wr_page_desk desk;
    const struct wr_config *config;
    struct wr_sidecar sidecar; /* its store is opened by the first call, under the desk's lock */
};

static weir_span path_of(weir_span target)
{
    const char *query = memchr(target.ptr, '?', target.len);
    return query ? wr_span_cut(target, 0, (size_t)(query - target.ptr)) : target;
}

/* On a thread. Without a store nothing is taken out of requests, and sessions work all the same. */
static void work(struct wr_page_call *call)
{
    struct wr_sidecar_page *page = call->desk->user;
    struct wr_sidecar_call in = {.tenant = wr_span_of(call->tenant),
                                 .method = call->method,
                                 .path = path_of(call->target),
                                 .body = wr_buf_view(&call->body),
                                 .now_ms = wr_clock_ms()};

    if (!page->sidecar.store &&
        weir_store_open(page->config->store_dir, NULL, &page->sidecar.store, NULL, NULL))
        page->sidecar.store = NULL;
    if (!page->sidecar.host && weir_session_host_new(&page->sidecar.host, NULL))
        page->sidecar.host = NULL; /* each session has its own then */
    call->status = wr_sidecar_answer(&page->sidecar, &in, &call->answer);
}

struct wr_sidecar_page *wr_sidecar_page_new(uv_loop_t *loop, const struct wr_config *config)
{
    struct wr_sidecar_page *page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    *page = (struct wr_sidecar_page){.config = config,
                                     .sidecar = {.dir = config->store_dir},
                                     .desk = {.calls_max = WR_SIDECAR_CALLS_MAX,
                                              .body_bytes_max = WR_SIDECAR_BODY_BYTES_MAX,
                                              .answer_bytes_max = WR_SIDECAR_ANSWER_BYTES_MAX,
                                              .work = work,
                                              .user = page}};
    if (wr_page_desk_init(&page->desk, loop))
        return page;
    free(page);
    return NULL;
}

void wr_sidecar_page_free(struct wr_sidecar_page *page)
{
    if (!page)
        return;
    wr_page_desk_release(&page->desk);
    weir_store_close(page->sidecar.store);
    weir_session_host_free(page->sidecar.host);
    free(page);
}

bool wr_sidecar_page_is(weir_span target)
{
    return wr_sidecar_is(path_of(target));
}

void *wr_sidecar_page_begin(struct wr_sidecar_page *page, struct wr_conn *conn,
                            const struct wr_head *head, const struct wr_entry *entry)
{
    if (!page->config->store_dir) {
        wr_page_error(conn, WR_API_NONE, 503, "there is no store to keep sessions in");
        return NULL;
    }
    return wr_page_call_begin(&page->desk, conn, head, entry);
}
