/* weir_call(): the library's main calls with JSON on both sides.
 *
 * A method reads its members by a table (call_args.h), makes the same public calls that a C program
 * would, and writes its answer as the members of an object that is already open. If something goes
 * wrong before that object is whole, the answer is written anew: the error and nothing else.
 *
 * Bodies and texts go out as strings, not as JSON inside JSON. A request must be sent byte for
 * byte, and whoever parsed it and wrote it again would send another one.
 */
#include "weir/call.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/request.h"
#include "face/call_args.h"
#include "face/face.h"
#include "json/write.h"
#include "weir/condense.h"
#include "weir/recall.h"

struct call {
    struct weir_engine *engine;
    struct weir_store *store;
    weir_span json;
    struct wr_arena arena;
    struct wr_buf out;
    struct wr_json_writer w;
    struct weir_err *err;
};

static weir_status read_args(struct call *call, const struct wr_arg *args, size_t args_count)
{
    return wr_args_read(call->json, &call->arena, args, args_count, call->err);
}

/* Ranges of lines as [[first,last],...]. */
static void put_lines(struct call *call, const char *key, const struct weir_lines *lines,
                      size_t lines_count)
{
    wr_json_write_key(&call->w, key);
    wr_json_write_array(&call->w);
    for (size_t i = 0; i < lines_count; i++) {
        wr_json_write_array(&call->w);
        wr_json_write_i64(&call->w, (int64_t)lines[i].first);
        wr_json_write_i64(&call->w, (int64_t)lines[i].last);
        wr_json_write_array_end(&call->w);
    }
    wr_json_write_array_end(&call->w);
}

/* ---- project ---- */

static void put_projected(struct call *call, const struct weir_projected *p)
{
    wr_json_member_text(&call->w, "body", p->body);
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
    wr_json_write_key(&call->w, "report");
    wr_json_write_raw(&call->w, p->report.len ? p->report : WR_LIT("null"));
}

static weir_status call_project(struct call *call)
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

    weir_status status = read_args(call, args, WR_COUNT_OF(args));
    if (!status && (window_tokens > UINT32_MAX || overflow_tokens > UINT32_MAX))
        status = wr_fail(call->err, WEIR_INVALID, 0, "a window of more than 4,294,967,295 tokens");
    if (!status && !body.ptr)
        status = wr_fail(call->err, WEIR_INVALID, 0, "'body' is the request to project");
    options.store = call->store;
    options.window_tokens = (uint32_t)window_tokens;
    options.overflow_tokens = (uint32_t)overflow_tokens;
    if (!status)
        status = weir_engine_request(call->engine, body, &how, &request, call->err);
    if (!status)
        status = weir_engine_project(call->engine, request, &options, &projected, call->err);
    if (!status)
        put_projected(call, &projected);
    weir_request_free(request);
    return status;
}

/* ---- count ---- */

static weir_status call_count(struct call *call)
{
    struct wr_meter *meter = wr_engine_meter(call->engine);
    const char *model = NULL, *encoding = NULL;
    weir_span text = {"", 0};
    const struct wr_arg args[] = {{"text", WR_ARG_TEXT, &text},
                                  {"model", WR_ARG_NAME, &model},
                                  {"encoding", WR_ARG_NAME, &encoding}};

    weir_status status = read_args(call, args, WR_COUNT_OF(args));
    if (!status)
        status = wr_face_choose(meter, wr_engine_models(call->engine), model, encoding, call->err);
    if (status)
        return status;
    wr_json_member_number(&call->w, "tokens", wr_meter_count(meter, text));
    wr_json_member_bool(&call->w, "is_exact", wr_meter_source(meter) == WR_COUNT_EXACT);
    wr_json_member_word(&call->w, "method", wr_meter_method(meter));
    return WEIR_OK;
}

/* ---- condense ---- */

static weir_status call_condense(struct call *call)
{
    struct weir_condense_options options = WEIR_CONDENSE_OPTIONS_INIT;
    struct weir_condensed condensed;
    weir_span text = {"", 0};
    uint64_t budget_bytes = 0, replaced_count;
    const struct wr_arg args[] = {{"text", WR_ARG_TEXT, &text},
                                  {"tool", WR_ARG_TEXT, &options.tool},
                                  {"command", WR_ARG_TEXT, &options.command},
                                  {"path", WR_ARG_TEXT, &options.path},
                                  {"query", WR_ARG_TEXT, &options.query},
                                  {"focus", WR_ARG_TEXT, &options.focus},
                                  {"budget_bytes", WR_ARG_COUNT, &budget_bytes}};

    weir_status status = read_args(call, args, WR_COUNT_OF(args));
    options.budget_bytes = budget_bytes;
    if (!status)
        status = weir_condense(text, &options, &condensed, call->err);
    if (status)
        return status;
    status = wr_valid_text(&call->arena, condensed.text, &text, &replaced_count);
    if (!status) {
        wr_json_member_text(&call->w, "text", text);
        wr_json_member_word(&call->w, "kind", condensed.kind);
        wr_json_member_bool(&call->w, "is_same", condensed.is_same);
        wr_json_member_number(&call->w, "lines_total", condensed.lines_total);
        put_lines(call, "lines", condensed.lines, condensed.lines_count);
    }
    weir_condensed_release(&condensed);
    return status;
}

/* ---- models ---- */

static void put_prices(struct call *call, const struct weir_model_prices *prices)
{
    wr_json_member_number(&call->w, "input_micro_usd", prices->input_micro_usd);
    wr_json_member_number(&call->w, "output_micro_usd", prices->output_micro_usd);
    wr_json_member_number(&call->w, "cache_read_micro_usd", prices->cache_read_micro_usd);
    wr_json_member_number(&call->w, "cache_write_5m_micro_usd", prices->cache_write_5m_micro_usd);
    wr_json_member_number(&call->w, "cache_write_30m_micro_usd", prices->cache_write_30m_micro_usd);
    wr_json_member_number(&call->w, "cache_write_1h_micro_usd", prices->cache_write_1h_micro_usd);
}

static void put_model(struct call *call, const struct weir_model *model)
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

static weir_status call_models(struct call *call)
{
    const struct wr_models *models = wr_engine_models(call->engine);
    struct weir_model model = WEIR_MODEL_INIT;
    weir_span name = {NULL, 0};
    const struct wr_arg args[] = {{"name", WR_ARG_TEXT, &name}};

    weir_status status = read_args(call, args, WR_COUNT_OF(args));
    if (status)
        return status;
    if (name.ptr) {
        wr_face_model(models, name, &model);
        put_model(call, &model);
        return WEIR_OK;
    }
    wr_json_write_key(&call->w, "ids");
    wr_json_write_array(&call->w);
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

static weir_status read_recall(struct call *call, struct recall_args *a, struct weir_lookup *lookup)
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

    weir_status status = read_args(call, args, WR_COUNT_OF(args));
    if (!status && !weir_handle_parse(a->handle, &lookup->handle))
        status = wr_fail(call->err, WEIR_INVALID, 0, "'handle' is wr_ and 20 hex digits");
    if (!status && a->lines.len)
        status =
            weir_lines_parse(a->lines, a->ranges, WR_RECALL_RANGES_MAX, &o->lines_count, call->err);
    if (!status && o->page_tokens_max)
        status = wr_face_choose(meter, wr_engine_models(call->engine), a->model, NULL, call->err);
    lookup->tenant = a->tenant;
    o->lines = a->ranges;
    o->page_bytes_max = a->page_bytes;
    o->count_tokens = wr_meter_count;
    o->user = meter;
    return status;
}

static weir_status call_recall(struct call *call)
{
    struct recall_args *a = wr_arena_zalloc(&call->arena, sizeof(*a));
    struct weir_lookup lookup = {.tenant = {NULL, 0}};
    struct weir_recalled recalled;
    weir_span text;
    uint64_t replaced_count;

    if (!a)
        return wr_arena_status(&call->arena);
    a->options.struct_bytes = sizeof(a->options);
    weir_status status = read_recall(call, a, &lookup);
    if (!status && !call->store)
        status = wr_fail(call->err, WEIR_INVALID, 0, "there is no store to recall from");
    if (!status)
        status = weir_recall(call->store, &lookup, &a->options, &recalled, NULL, call->err);
    if (status)
        return status;
    status = wr_valid_text(&call->arena, recalled.text, &text, &replaced_count);
    if (!status) {
        wr_json_member_text(&call->w, "text", text);
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

/* ---- the call ---- */

static const struct method {
    const char *name;
    weir_status (*answer)(struct call *call);
} methods[] = {
    {"project", call_project}, {"count", call_count},   {"condense", call_condense},
    {"models", call_models},   {"recall", call_recall},
};

static weir_status find_method(const char *name, const struct method **method, struct weir_err *err)
{
    for (size_t i = 0; i < WR_COUNT_OF(methods); i++) {
        *method = &methods[i];
        if (!strcmp(name, methods[i].name))
            return WEIR_OK;
    }
    return wr_fail(
        err, WEIR_NOTFOUND, 0,
        "no method is called '%.60s'; there are project, count, condense, models, recall", name);
}

const char *wr_face_status_name(weir_status status)
{
    static const char *const names[] = {
#define X(name, text) "WEIR_" #name,
        WEIR_STATUS_MAP(X)
#undef X
    };
    return (size_t)status < WR_COUNT_OF(names) ? names[status] : "unknown";
}

/* The whole answer anew: the error, and nothing of what was begun. */
static void write_error(struct call *call, weir_status status, const struct weir_err *err)
{
    bool is_said = err->code == status && err->text[0];
    weir_span text = wr_span_of(is_said ? err->text : weir_status_text(status));
    uint64_t replaced_count;

    /* A name that a message quotes may be cut within a letter. */
    wr_arena_reset(&call->arena);
    if (wr_valid_text(&call->arena, text, &text, &replaced_count))
        text = wr_span_of(weir_status_text(status));
    wr_buf_release(&call->out);
    wr_buf_init(&call->out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&call->w, &call->out);
    wr_json_write_object(&call->w);
    wr_json_write_key(&call->w, "error");
    wr_json_write_object(&call->w);
    wr_json_member_word(&call->w, "status", wr_face_status_name(status));
    wr_json_member_text(&call->w, "text", text);
    wr_json_member_number(&call->w, "at_byte", is_said ? err->at_byte : 0);
    wr_json_write_object_end(&call->w);
    wr_json_write_object_end(&call->w);
}

static weir_status answer_method(struct call *call, const char *name)
{
    const struct method *method;
    weir_status status = find_method(name, &method, call->err);

    wr_json_write_init(&call->w, &call->out);
    wr_json_write_object(&call->w);
    if (!status)
        status = method->answer(call);
    if (status)
        return status;
    wr_json_write_object_end(&call->w);
    return wr_buf_status(&call->out);
}

weir_status weir_call(struct weir_engine *engine, struct weir_store *store, const char *method,
                      const char *json, size_t json_bytes, char **answered, struct weir_err *err)
{
    struct weir_err own = {0};
    struct call call = {.engine = engine, .store = store, .json = {json, json_bytes}, .err = &own};

    wr_arena_init(&call.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&call.out, WR_OUTPUT_BYTES_MAX);
    weir_status status = answer_method(&call, method);
    if (status)
        write_error(&call, status, &own);
    wr_buf_byte(&call.out, '\0');
    bool is_whole = !wr_buf_status(&call.out);
    *answered = is_whole ? call.out.bytes : NULL;
    if (!is_whole) {
        wr_buf_release(&call.out);
        status = status ? status : WEIR_NOMEM;
    }
    wr_arena_release(&call.arena);
    if (status && own.code != status)
        (void)wr_fail(&own, status, 0, "%s", weir_status_text(status));
    if (err && status)
        *err = own;
    return status;
}

void weir_call_free(char *answer)
{
    free(answer);
}
