/* The library over HTTP (call_page.h). The body of a call is handed to weir_call() as it came, with
 * what the server adds as its last members: behind everything else, so that the bytes which an
 * error names are the caller's. The engine is one for all calls of this process, under the desk's
 * lock; the store is opened by the first call that needs it.
 */
#include "proxy/call_page.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "face/face.h"
#include "json/json.h"
#include "json/write.h"
#include "proxy/compress.h"
#include "proxy/pages.h"
#include "weir/call.h"
#include "weir/weir.h"

#define ROOT    "/weir/v1/"
#define WEBHOOK ROOT "webhook"

struct wr_call_page {
    struct wr_page_desk desk;
    _Atomic(const struct wr_config *) config; /* the newest; older ones live on */
    struct weir_engine *engine;
    struct weir_store *store; /* opened by the first call, under the desk's lock */
};

/* What the head of a call says that its thread needs; in the call's arena. */
struct headers {
    weir_span session; /* that a gateway named; empty: none */
    bool is_bypassed;
};

static const struct method {
    const char *name;
    bool has_tenant;
} methods[] = {
    {"project", true}, {"count", false}, {"condense", false}, {"recall", true}, {"models", false},
};

/* NULL: it is none of them. */
static const struct method *find_method(weir_span path)
{
    if (!wr_span_starts(path, WR_LIT(ROOT)))
        return NULL;
    path = wr_span_from(path, sizeof(ROOT) - 1);
    for (size_t i = 0; i < WR_COUNT_OF(methods); i++)
        if (wr_span_is(path, methods[i].name))
            return &methods[i];
    return NULL;
}

static bool is_retrieve(weir_span path)
{
    return wr_span_starts(path, WR_LIT(WR_CALL_RETRIEVE)) &&
           path.len > sizeof(WR_CALL_RETRIEVE) - 1;
}

bool wr_call_page_is(weir_span target)
{
    weir_span path = wr_target_path(target);
    return wr_span_is(path, WR_CALL_COMPRESS) || wr_span_is(path, WEBHOOK) || is_retrieve(path) ||
           find_method(path);
}

/* ---- answers ---- */

static int http_status(weir_status status)
{
    switch (status) {
    case WEIR_OK:
        return 200;
    case WEIR_NOTFOUND:
        return 404;
    case WEIR_LIMIT:
        return 413;
    case WEIR_NOMEM:
    case WEIR_IO:
        return 503;
    default:
        return 400;
    }
}

static int say_error(struct wr_buf *answer, weir_status status, const struct weir_err *err)
{
    struct wr_json_writer w;

    wr_buf_reset(answer);
    wr_json_write_init(&w, answer);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "error");
    wr_json_write_object(&w);
    wr_json_member_word(&w, "message", err->text[0] ? err->text : weir_status_text(status));
    wr_json_member_word(&w, "status", wr_face_status_name(status));
    wr_json_member_number(&w, "at_byte", err->at_byte);
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
    return http_status(status);
}

/* ---- what the server adds ---- */

static bool is_given(const struct wr_json *doc, const char *name)
{
    wr_json_id id = wr_json_find(doc, 0, name);
    return id != WR_JSON_NONE && !wr_json_is(doc, id, WR_JSON_NULL);
}

/* The body with the members of ours behind the caller's; WEIR_OK too where it is no object, for
 * weir_call() to say so. */
static weir_status add_members(const struct wr_page_call *call, const struct method *method,
                               struct wr_buf *out, struct weir_err *err)
{
    const struct wr_config *config = ((struct wr_call_page *)call->desk->user)->config;
    weir_span body = wr_buf_view(&call->body);
    bool is_project = !strcmp(method->name, "project");
    struct wr_arena arena;
    struct wr_json doc;
    weir_status status = WEIR_OK;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_span_trim(body).len)
        body = WR_LIT("{}");
    if (wr_json_parse(&doc, &arena, body, NULL, NULL) || !wr_json_is(&doc, 0, WR_JSON_OBJECT)) {
        wr_buf_append(out, body);
    } else if (wr_json_find(&doc, 0, "tenant") != WR_JSON_NONE) {
        wr_json_id id = wr_json_find(&doc, 0, "tenant");
        *err = (struct weir_err){.code = WEIR_INVALID, .at_byte = doc.nodes[id].start};
        (void)snprintf(err->text, sizeof(err->text),
                       "'tenant' cannot be said here: it is the one of your access token");
        status = WEIR_INVALID;
    } else {
        wr_buf_append(out, wr_span_cut(body, 0, doc.nodes[0].end - 1));
        wr_buf_printf(out, "%s\"tenant\":\"%s\"", wr_json_count(&doc, 0) ? "," : "", call->tenant);
        if (is_project && !is_given(&doc, "now_ms"))
            wr_buf_printf(out, ",\"now_ms\":%lld", (long long)call->started_ms);
        if (is_project && !is_given(&doc, "policy_default") && config->policy) {
            wr_buf_text(out, ",\"policy_default\":\"");
            wr_json_escape(out, wr_span_of(config->policy));
            wr_buf_byte(out, '"');
        }
        wr_buf_byte(out, '}');
    }
    wr_arena_release(&arena);
    return status ? status : wr_buf_status(out);
}

/* ---- one call, on a thread ---- */

static struct weir_store *open_store(struct wr_call_page *page)
{
    struct weir_store_options how = WEIR_STORE_OPTIONS_INIT;
    const char *dir = ((const struct wr_config *)page->config)->store_dir;

    if (!page->store && dir && weir_store_open(dir, &how, &page->store, NULL, NULL))
        page->store = NULL; /* the next call tries again */
    return page->store;
}

static int answer_method(struct wr_page_call *call, const struct method *method)
{
    struct wr_call_page *page = call->desk->user;
    struct weir_store *store = method->has_tenant ? open_store(page) : NULL;
    struct weir_err err = {0};
    struct wr_buf json;
    char *answer = NULL;
    weir_status status = WEIR_OK;

    wr_buf_init(&json, WR_CALL_PAGE_BODY_BYTES_MAX + WR_ARENA_CHUNK_BYTES);
    if (method->has_tenant)
        status = add_members(call, method, &json, &err);
    else
        wr_buf_append(&json, wr_buf_view(&call->body));
    weir_span text = wr_buf_view(&json);
    if (!status)
        status = weir_call(page->engine, store, method->name, text.len ? text.ptr : "", text.len,
                           &answer, &err);
    if (!status)
        wr_buf_text(&call->answer, answer);
    weir_call_free(answer);
    wr_buf_release(&json);
    return status ? say_error(&call->answer, status, &err) : 200;
}

/* What gateways call. */
static int answer_gateway(struct wr_page_call *call, const struct wr_config *config)
{
    struct wr_call_page *page = call->desk->user;
    const struct headers *headers = call->user;
    weir_span path = wr_target_path(call->target), body = wr_buf_view(&call->body);
    struct weir_err err = {0};
    struct wr_compress compress = {.engine = page->engine,
                                   .store = open_store(page),
                                   .policy = config->policy,
                                   .tenant = wr_span_of(call->tenant),
                                   .session = headers ? headers->session : (weir_span){"", 0},
                                   .now_ms = call->started_ms,
                                   .is_bypassed = headers && headers->is_bypassed};

    if (is_retrieve(path))
        return wr_retrieve_answer(&compress, wr_span_from(path, sizeof(WR_CALL_RETRIEVE) - 1),
                                  &call->answer);
    if (wr_span_is(path, WR_CALL_COMPRESS))
        return wr_compress_answer(&compress, body, &call->answer);
    weir_status status = wr_webhook_answer(&compress, body, &call->answer, &err);
    return status ? say_error(&call->answer, status, &err) : 200;
}

static void answer_call(struct wr_page_call *call)
{
    struct wr_call_page *page = call->desk->user;
    const struct method *method = find_method(wr_target_path(call->target));
    const struct wr_config *config = page->config;

    wr_engine_renew_policies(page->engine, config->policies_number, config->policies_yaml);
    call->status = method ? answer_method(call, method) : answer_gateway(call, config);
}

/* ---- life ---- */

struct wr_call_page *wr_call_page_new(uv_loop_t *loop, const struct wr_config *config,
                                      weir_span policies)
{
    struct wr_call_page *page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    *page = (struct wr_call_page){.desk = {.calls_max = WR_CALL_PAGE_CALLS_MAX,
                                           .body_bytes_max = WR_CALL_PAGE_BODY_BYTES_MAX,
                                           .answer_bytes_max = WR_CALL_PAGE_ANSWER_BYTES_MAX,
                                           .work = answer_call,
                                           .user = page}};
    page->config = config;
    weir_status status = weir_engine_new(&page->engine, NULL);
    if (!status && config->models_yaml)
        status = weir_engine_load_models(page->engine, wr_span_of(config->models_yaml), NULL);
    if (!status && policies.len)
        status = weir_engine_load_policies(page->engine, policies, NULL);
    if (!status && wr_page_desk_init(&page->desk, loop))
        return page;
    weir_engine_free(page->engine);
    free(page);
    return NULL;
}

void wr_call_page_free(struct wr_call_page *page)
{
    if (!page)
        return;
    wr_page_desk_release(&page->desk);
    weir_store_close(page->store);
    weir_engine_free(page->engine);
    free(page);
}

void *wr_call_page_begin(struct wr_call_page *page, const struct wr_config *config,
                         struct wr_conn *conn, const struct wr_head *head,
                         const struct wr_entry *entry)
{
    bool is_get = is_retrieve(wr_target_path(entry->target));
    weir_span coding = wr_head_find(head, "content-encoding");
    weir_span bypass = wr_head_find(head, "x-headroom-bypass");

    page->config = config;
    if (!wr_span_is(head->method, is_get ? "GET" : "POST")) {
        wr_page_wrong_method(conn, is_get ? "GET" : "POST",
                             is_get ? "this path is read with GET" : "POST is the method");
        return NULL;
    }
    if (coding.len && !wr_span_is(coding, "identity")) {
        wr_page_error(conn, NULL, 415, "bodies of calls are not compressed");
        return NULL;
    }
    struct wr_page_call *call = wr_page_call_begin(&page->desk, conn, head, entry);
    if (!call)
        return NULL;
    struct headers *headers = wr_arena_zalloc(&call->arena, sizeof(*headers));
    if (headers)
        *headers = (struct headers){
            .session = wr_page_call_header(call, head, "x-headroom-affinity"),
            .is_bypassed = bypass.len == 4 && !strncasecmp(bypass.ptr, "true", bypass.len)};
    if (headers && !headers->session.ptr)
        headers->session = (weir_span){"", 0};
    call->user = headers;
    return call;
}
