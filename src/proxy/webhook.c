#include "proxy/webhook.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"

/* The request in it; empty where there is nothing to project. */
static weir_status find_asked(struct wr_json *doc, struct wr_arena *arena, weir_span body,
                              weir_span *asked, struct weir_err *err)
{
    *asked = (weir_span){NULL, 0};
    weir_status status = wr_json_parse(doc, arena, body, NULL, err);
    if (status)
        return status;
    wr_json_id request = wr_json_find(doc, 0, "request");
    if (!wr_json_is(doc, request, WR_JSON_OBJECT))
        return wr_fail(err, WEIR_INVALID, 0, "'request' is the request, with its body in 'json'");
    wr_json_id json = wr_json_find(doc, request, "json");
    wr_json_id event = wr_json_find(doc, 0, "eventType");
    if (wr_json_is(doc, json, WR_JSON_OBJECT) &&
        (event == WR_JSON_NONE || wr_json_text_is(doc, event, "beforeRequestHook")))
        *asked = wr_json_raw(doc, json);
    return WEIR_OK;
}

/* False: it goes as it came. On success `*request` owns what `projected` points to. */
static bool project_webhook(const struct wr_compress *how, weir_span asked,
                            struct weir_request **request, struct weir_projected *projected)
{
    struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;

    options.policy_default = how->policy;
    options.store = how->store;
    options.tenant = how->tenant;
    options.session = how->session;
    options.now_ms = how->now_ms;
    return !weir_engine_request(how->engine, asked, NULL, request, NULL) &&
           !weir_engine_project(how->engine, *request, &options, projected, NULL) &&
           projected->is_changed;
}

weir_status wr_webhook_answer(const struct wr_compress *how, weir_span body, struct wr_buf *answer,
                              struct weir_err *err)
{
    struct weir_request *request = NULL;
    struct weir_projected projected;
    struct wr_json_writer w;
    struct wr_arena arena;
    struct wr_json doc;
    weir_span asked;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = find_asked(&doc, &arena, body, &asked, err);
    if (!status) {
        wr_json_write_init(&w, answer);
        wr_json_write_object(&w);
        wr_json_member_bool(&w, "verdict", true);
        if (asked.len && !how->is_bypassed && project_webhook(how, asked, &request, &projected)) {
            wr_json_write_key(&w, "transformedData");
            wr_json_write_object(&w);
            wr_json_write_key(&w, "request");
            wr_json_write_object(&w);
            wr_json_write_key(&w, "json");
            wr_json_write_raw(&w, projected.body);
            wr_json_write_object_end(&w);
            wr_json_write_object_end(&w);
        }
        wr_json_write_object_end(&w);
        status = wr_buf_status(answer);
    }
    weir_request_free(request);
    wr_arena_release(&arena);
    return status;
}
