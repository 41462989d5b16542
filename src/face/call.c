/* weir_call(): the library's main calls with JSON on both sides.
 *
 * A method reads its members by a table (call_frame.h), makes the same public calls that a C
 * program would, and writes its answer as the members of an object that is already open
 * (call_frame.h).
 *
 * Bodies and texts go out as strings, not as JSON inside JSON. A request must be sent byte for
 * byte, and whoever parsed it and wrote it again would send another one.
 */
#include "weir/call.h"

#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/engine.h"
#include "face/call_frame.h"
#include "face/face.h"
#include "face/inspection.h"
#include "json/write.h"
#include "transcript/recall_words.h"
#include "weir/condense.h"
#include "weir/recall.h"

/* Ranges of lines as [[first,last],...]. */
static void put_lines(struct wr_call *call, const char *key, const struct weir_lines *lines,
                      size_t lines_count)
{
    wr_json_member_array(&call->w, key);
    for (size_t i = 0; i < lines_count; i++) {
        wr_json_write_array(&call->w);
        wr_json_write_i64(&call->w, (int64_t)lines[i].first);
        wr_json_write_i64(&call->w, (int64_t)lines[i].last);
        wr_json_write_array_end(&call->w);
    }
    wr_json_write_array_end(&call->w);
}

/* ---- project ---- */

static weir_status put_projected(struct wr_call *call, const struct weir_projected *p)
{
    uint64_t replaced_count; /* none: a body that was read is UTF-8 */
    weir_status status = wr_call_put_text(call, "body", p->body, !p->is_changed, &replaced_count);

    wr_json_member_bool(&call->w, "is_changed", p->is_changed);
    wr_json_member_bool(&call->w, "is_step", p->is_step);
    wr_json_member_bool(&call->w, "is_known", p->is_known);
    wr_json_member_bool(&call->w, "is_pending", p->is_pending);
    wr_json_member_word(&call->w, "step_reason", p->step_reason);
    wr_json_member_word(&call->w, "held_back", p->held_back);
    wr_json_member_number(&call->w, "tokens_before", p->tokens_before);
    wr_json_member_number(&call->w, "tokens_after", p->tokens_after);
    wr_json_member_word(&call->w, "store_trouble",
                        p->store_trouble ? weir_trouble_text(p->store_trouble) : NULL);
    wr_json_member_raw(&call->w, "report", p->report.len ? p->report : WR_LIT("null"));
    return status;
}

static weir_status call_project(struct wr_call *call)
{
    struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;
    struct weir_request_options how = WEIR_REQUEST_OPTIONS_INIT;
    weir_span body = {NULL, 0};
    uint64_t window_tokens = 0, overflow_tokens = 0;
    const struct wr_arg args[] = {{"body", WR_ARG_OBJECT, &body},
                                  {"dialect", WR_ARG_NAME, &how.dialect},
                                  {"path", WR_ARG_NAME, &how.path},
                                  {"policy", WR_ARG_NAME, &options.policy},
                                  {"policy_default", WR_ARG_NAME, &options.policy_default},
                                  {"model", WR_ARG_NAME, &options.model},
                                  {"window_tokens", WR_ARG_COUNT, &window_tokens},
                                  {"overflow_tokens", WR_ARG_COUNT, &overflow_tokens},
                                  {"tenant", WR_ARG_TEXT, &options.tenant},
                                  {"session", WR_ARG_TEXT, &options.session},
                                  {"now_ms", WR_ARG_TIME, &options.now_ms},
                                  {"tools", WR_ARG_NAME, &options.tools},
                                  {"attaches", WR_ARG_BOOL, &options.attaches},
                                  {"alternates", WR_ARG_BOOL, &options.alternates}};
    struct weir_projected projected;
    struct weir_request *request = NULL;

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = wr_call_find_text(call, "body", &body);
    if (!status && (window_tokens > UINT32_MAX || overflow_tokens > UINT32_MAX))
        status = wr_fail(&call->err, WEIR_INVALID, 0, "a window of more than 4,294,967,295 tokens");
    if (!status && !body.ptr)
        status = wr_fail(&call->err, WEIR_INVALID, 0, "'body' is the request to project");
    options.store = call->store;
    options.window_tokens = (uint32_t)window_tokens;
    options.overflow_tokens = (uint32_t)overflow_tokens;
    if (!status)
        status = weir_engine_request(call->engine, body, &how, &request, &call->err);
    if (!status)
        status = weir_engine_project(call->engine, request, &options, &projected, &call->err);
    if (!status)
        status = put_projected(call, &projected);
    weir_request_free(request);
    return status;
}

/* ---- count ---- */

static weir_status call_count(struct wr_call *call)
{
    struct wr_meter *meter = wr_engine_meter(call->engine);
    const char *model = NULL, *encoding = NULL;
    weir_span text = {NULL, 0};
    const struct wr_arg args[] = {{"text", WR_ARG_TEXT, &text},
                                  {"model", WR_ARG_NAME, &model},
                                  {"encoding", WR_ARG_NAME, &encoding}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = wr_call_find_text(call, "text", &text);
    if (!status)
        status = wr_face_choose(meter, wr_engine_models(call->engine), model, encoding, &call->err);
    if (status)
        return status;
    wr_json_member_number(&call->w, "tokens", wr_meter_count(meter, text));
    wr_json_member_bool(&call->w, "is_exact", wr_meter_source(meter) == WR_COUNT_EXACT);
    wr_json_member_word(&call->w, "method", wr_meter_method(meter));
    return WEIR_OK;
}

/* ---- condense ---- */

static weir_status call_condense(struct wr_call *call)
{
    struct weir_condense_options options = WEIR_CONDENSE_OPTIONS_INIT;
    struct weir_condensed condensed;
    weir_span text = {NULL, 0};
    uint64_t budget_bytes = 0, replaced_count;
    const struct wr_arg args[] = {{"text", WR_ARG_TEXT, &text},
                                  {"tool", WR_ARG_TEXT, &options.tool},
                                  {"command", WR_ARG_TEXT, &options.command},
                                  {"path", WR_ARG_TEXT, &options.path},
                                  {"query", WR_ARG_TEXT, &options.query},
                                  {"focus", WR_ARG_TEXT, &options.focus},
                                  {"budget_bytes", WR_ARG_COUNT, &budget_bytes}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    options.budget_bytes = budget_bytes;
    if (!status)
        status = wr_call_find_text(call, "text", &text);
    if (!status)
        status = weir_condense(text, &options, &condensed, &call->err);
    if (status)
        return status;
    status = wr_call_put_text(call, "text", condensed.text, condensed.is_same, &replaced_count);
    if (!status) {
        wr_json_member_word(&call->w, "kind", condensed.kind);
        wr_json_member_bool(&call->w, "is_same", condensed.is_same);
        wr_json_member_number(&call->w, "lines_total", condensed.lines_total);
        put_lines(call, "lines", condensed.lines, condensed.lines_count);
    }
    weir_condensed_release(&condensed);
    return status;
}

/* ---- models ---- */

static void put_prices(struct wr_call *call, const struct weir_model_prices *prices)
{
    wr_json_member_number(&call->w, "input_micro_usd", prices->input_micro_usd);
    wr_json_member_number(&call->w, "output_micro_usd", prices->output_micro_usd);
    wr_json_member_number(&call->w, "cache_read_micro_usd", prices->cache_read_micro_usd);
    wr_json_member_number(&call->w, "cache_write_5m_micro_usd", prices->cache_write_5m_micro_usd);
    wr_json_member_number(&call->w, "cache_write_30m_micro_usd", prices->cache_write_30m_micro_usd);
    wr_json_member_number(&call->w, "cache_write_1h_micro_usd", prices->cache_write_1h_micro_usd);
}

static void put_model(struct wr_call *call, const struct weir_model *model)
{
    wr_json_member_text(&call->w, "id", model->id);
    wr_json_member_text(&call->w, "provider", model->provider);
    wr_json_member_word(&call->w, "rule", model->rule);
    wr_json_member_number(&call->w, "window_tokens", model->window_tokens);
    wr_json_member_number(&call->w, "input_tokens_max", model->input_tokens_max);
    wr_json_member_number(&call->w, "output_tokens_max", model->output_tokens_max);
    wr_json_write_key(&call->w, "prices");
    if (model->is_priced) {
        wr_json_write_object(&call->w);
        put_prices(call, &model->prices);
        wr_json_write_object_end(&call->w);
    } else {
        wr_json_write_null(&call->w);
    }
    wr_json_member_number(&call->w, "tier_above_tokens", model->tier_above_tokens);
    wr_json_member_word(&call->w, "cache", model->cache);
    wr_json_member_number(&call->w, "cache_ttl_s", model->cache_ttl_s);
    wr_json_member_number(&call->w, "cache_ttl_long_s", model->cache_ttl_long_s);
    wr_json_member_number(&call->w, "cache_breakpoints_max", model->cache_breakpoints_max);
    wr_json_member_number(&call->w, "cache_tokens_min", model->cache_tokens_min);
    wr_json_member_word(&call->w, "tokenizer", model->tokenizer);
    wr_json_member_bool(&call->w, "binds_thinking", model->binds_thinking);
    wr_json_member_text(&call->w, "note", model->note);
}

static weir_status call_models(struct wr_call *call)
{
    const struct wr_models *models = wr_engine_models(call->engine);
    struct weir_model model = WEIR_MODEL_INIT;
    weir_span name = {NULL, 0};
    const struct wr_arg args[] = {{"name", WR_ARG_TEXT, &name}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (status)
        return status;
    if (name.ptr) {
        wr_face_model(models, name, &model);
        put_model(call, &model);
        return WEIR_OK;
    }
    wr_json_member_array(&call->w, "ids");
    for (uint32_t i = 0; i < wr_models_count(models); i++)
        wr_json_write_text(&call->w, wr_models_at(models, i)->id);
    wr_json_write_array_end(&call->w);
    return WEIR_OK;
}

/* ---- recall ---- */

struct recall_args {
    weir_span handle, tenant, lines;
    uint64_t page_bytes;
    const char *model; /* that counts page_tokens */
    struct weir_recall_options options;
    struct weir_lines ranges[WR_RECALL_RANGES_MAX];
};

static weir_status read_recall(struct wr_call *call, struct recall_args *a,
                               struct weir_lookup *lookup)
{
    struct weir_recall_options *o = &a->options;
    const struct wr_arg args[] = {{"handle", WR_ARG_TEXT, &a->handle},
                                  {"tenant", WR_ARG_TEXT, &a->tenant},
                                  {"lines", WR_ARG_TEXT, &a->lines},
                                  {"head_lines", WR_ARG_COUNT, &o->head_lines},
                                  {"tail_lines", WR_ARG_COUNT, &o->tail_lines},
                                  {"pattern", WR_ARG_TEXT, &o->pattern},
                                  {"context_lines", WR_ARG_COUNT, &o->context_lines},
                                  {"page_bytes", WR_ARG_COUNT, &a->page_bytes},
                                  {"page_tokens", WR_ARG_COUNT, &o->page_tokens_max},
                                  {"model", WR_ARG_NAME, &a->model}};
    struct wr_meter *meter = wr_engine_meter(call->engine);

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status && !weir_handle_parse(a->handle, &lookup->handle))
        status = wr_fail(&call->err, WEIR_INVALID, 0, "'handle' is wr_ and 20 hex digits");
    if (!status && a->lines.len)
        status = weir_lines_parse(a->lines, a->ranges, WR_RECALL_RANGES_MAX, &o->lines_count,
                                  &call->err);
    if (!status && o->page_tokens_max)
        status = wr_face_choose(meter, wr_engine_models(call->engine), a->model, NULL, &call->err);
    lookup->tenant = a->tenant;
    o->lines = a->ranges;
    o->page_bytes_max = a->page_bytes;
    o->count_tokens = wr_meter_count;
    o->user = meter;
    return status;
}

static weir_status call_recall(struct wr_call *call)
{
    struct recall_args *a = wr_arena_zalloc(&call->arena, sizeof(*a));
    struct weir_lookup lookup = {.tenant = {NULL, 0}};
    struct weir_recalled recalled;
    uint64_t replaced_count;

    if (!a)
        return wr_arena_status(&call->arena);
    a->options.struct_bytes = sizeof(a->options);
    weir_status status = read_recall(call, a, &lookup);
    if (!status && !call->store)
        status = wr_fail(&call->err, WEIR_INVALID, 0, "there is no store to recall from");
    if (!status)
        status = weir_recall(call->store, &lookup, &a->options, &recalled, NULL, &call->err);
    if (status)
        return status;
    status = wr_call_put_text(call, "text", recalled.text, false, &replaced_count);
    if (!status) {
        wr_json_member_text(&call->w, "next", recalled.next);
        wr_json_member_number(&call->w, "lines_total", recalled.lines_total);
        wr_json_member_number(&call->w, "lines_count", recalled.lines_count);
        wr_json_member_number(&call->w, "matches_count", recalled.matches_count);
        wr_json_member_number(&call->w, "replaced_bytes",
                              replaced_count); /* shown as U+FFFD: not UTF-8 */
    }
    weir_recalled_release(&recalled);
    return status;
}

/* ---- what the recall tool is to a model ---- */

static weir_status call_recall_tool(struct wr_call *call)
{
    weir_status status = wr_call_args(call, NULL, 0);
    if (status)
        return status;
    wr_json_member_word(&call->w, "name", WR_RECALL_NAME);
    wr_json_member_word(&call->w, "description", WR_RECALL_DESCRIPTION);
    wr_json_member_raw(&call->w, "schema", WR_LIT(WR_RECALL_SCHEMA));
    wr_json_member_number(&call->w, "page_tokens", WR_RECALL_PAGE_TOKENS_MAX);
    return WEIR_OK;
}

/* ---- inspect ---- */

static weir_status call_inspect(struct wr_call *call)
{
    struct wr_meter *meter = wr_engine_meter(call->engine);
    struct weir_request_options how = WEIR_REQUEST_OPTIONS_INIT;
    struct weir_request *request = NULL;
    const char *model = NULL;
    weir_span body = {NULL, 0};
    const struct wr_arg args[] = {{"body", WR_ARG_OBJECT, &body},
                                  {"dialect", WR_ARG_NAME, &how.dialect},
                                  {"path", WR_ARG_NAME, &how.path},
                                  {"model", WR_ARG_NAME, &model}};

    weir_status status = wr_call_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = wr_call_find_text(call, "body", &body);
    if (!status && !body.ptr)
        status = wr_fail(&call->err, WEIR_INVALID, 0, "'body' is the request to inspect");
    if (!status)
        status = weir_engine_request(call->engine, body, &how, &request, &call->err);
    if (!status) {
        weir_span named = weir_request_model(request);
        char *copy = wr_arena_zalloc(&call->arena, named.len + 1);
        if (copy && named.len)
            memcpy(copy, named.ptr, named.len);
        status = copy ? wr_face_choose(meter, wr_engine_models(call->engine), model ? model : copy,
                                       NULL, &call->err)
                      : wr_arena_status(&call->arena);
    }
    if (!status)
        status = wr_inspection_members(&call->w, request, meter, body.len);
    weir_request_free(request);
    return status;
}

/* ---- the call ---- */

static const struct method {
    const char *name;
    weir_status (*answer)(struct wr_call *call);
} methods[] = {
    {"project", call_project},         {"count", call_count},   {"condense", call_condense},
    {"models", call_models},           {"recall", call_recall}, {"inspect", call_inspect},
    {"recall_tool", call_recall_tool},
};

static weir_status find_method(const char *name, const struct method **method, struct weir_err *err)
{
    for (size_t i = 0; i < WR_COUNT_OF(methods); i++) {
        *method = &methods[i];
        if (!strcmp(name, methods[i].name))
            return WEIR_OK;
    }
    return wr_fail(err, WEIR_NOTFOUND, 0,
                   "no method is called '%.60s'; there are project, count, condense, models, "
                   "recall, inspect, recall_tool",
                   name);
}

static weir_status answer_method(struct wr_call *call, const char *name)
{
    const struct method *method;
    weir_status status = find_method(name, &method, &call->err);
    return status ? status : method->answer(call);
}

weir_status weir_call(struct weir_engine *engine, struct weir_store *store, const char *method,
                      const char *json, size_t json_bytes, char **answered, struct weir_err *err)
{
    struct wr_call call = {.engine = engine, .store = store, .json = {json, json_bytes}};

    wr_call_begin(&call);
    return wr_call_end(&call, answer_method(&call, method), answered, err);
}

weir_status weir_call_bytes(struct weir_engine *engine, struct weir_store *store,
                            const char *method, const char *json, size_t json_bytes,
                            const char *bytes, size_t bytes_count, struct weir_called *called,
                            struct weir_err *err)
{
    struct wr_call call = {.engine = engine,
                           .store = store,
                           .json = {json, json_bytes},
                           .beside = {bytes, bytes_count},
                           .called = called};

    wr_call_begin(&call);
    return wr_call_end_beside(&call, answer_method(&call, method), err);
}
