/* Orders for sessions over HTTP: the body becomes a request of ledger/steer.h, which the command
 * line and MCP use too, and the answer is written as JSON. */
#include "proxy/steer_page.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "json/write.h"
#include "ledger/steer.h"
#include "proxy/pages.h"
#include "proxy/rollout.h"
#include "traffic/query.h"
#include "weir/weir.h"

#define ROOT   "/weir/v1/"
#define POLICY "policy" /* of new sessions: nothing that is said of one */

struct wr_steer_page {
    struct wr_page_desk desk;
    _Atomic(const struct wr_config *) config; /* the newest; older ones live on */
    struct weir_store *store; /* both opened by the first call, under the desk's lock */
    struct wr_ledger *ledger;
};

static const struct {
    const char *path;
    enum wr_steer_verb verb, of_get; /* COUNT: there is no such method */
} paths[] = {
    {"plan", WR_STEER_NOW, WR_STEER_SHOW},        {"pin", WR_STEER_PIN, WR_STEERS_COUNT},
    {"unpin", WR_STEER_UNPIN, WR_STEERS_COUNT},   {"undo", WR_STEER_UNDO, WR_STEERS_COUNT},
    {"exact", WR_STEER_EXACT, WR_STEERS_COUNT},   {"pause", WR_STEER_PAUSE, WR_STEER_SHOW},
    {"resume", WR_STEER_RESUME, WR_STEERS_COUNT}, {POLICY, WR_STEERS_COUNT, WR_STEERS_COUNT},
};

/* The row of `paths`; their count: it is none of them. */
static size_t find_path(weir_span target)
{
    weir_span path = wr_target_path(target);
    size_t i = 0;

    if (!wr_span_starts(path, WR_LIT(ROOT)))
        return WR_COUNT_OF(paths);
    path = wr_span_from(path, sizeof(ROOT) - 1);
    while (i < WR_COUNT_OF(paths) && !wr_span_is(path, paths[i].path))
        i++;
    return i;
}

bool wr_steer_page_is(weir_span target)
{
    return find_path(target) < WR_COUNT_OF(paths);
}

/* ---- answers ---- */

static int say_error(struct wr_buf *answer, int status, const char *text)
{
    struct wr_json_writer w;

    wr_buf_reset(answer);
    wr_json_write_init(&w, answer);
    wr_json_write_object(&w);
    wr_json_write_key(&w, "error");
    wr_json_write_object(&w);
    wr_json_member_word(&w, "message", text);
    wr_json_write_object_end(&w);
    wr_json_write_object_end(&w);
    return status;
}

static int refuse_method(struct wr_page_call *call, const char *allow)
{
    call->allow = allow;
    return say_error(&call->answer, 405, "this path has another method");
}

static int status_of(weir_status status)
{
    switch (status) {
    case WEIR_NOTFOUND:
        return 404;
    case WEIR_NOMEM:
    case WEIR_IO:
        return 503;
    case WEIR_LIMIT:
        return 409;
    default:
        return 400;
    }
}

/* ---- what is asked ---- */

static weir_span query_of(weir_span target)
{
    size_t path_bytes = wr_target_path(target).len;
    return wr_span_from(target, path_bytes < target.len ? path_bytes + 1 : target.len);
}

enum { SESSION, TOOL, PATH, HANDLE, SEGMENT, NOW, CONFIRM, FIELDS_COUNT };

static const char *const field_names[FIELDS_COUNT] = {"session", "tool", "path",   "handle",
                                                      "segment", "now",  "confirm"};

static weir_span text_at(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id)
{
    weir_span text = {"", 0};
    if (wr_json_is(doc, id, WR_JSON_STRING))
        text = wr_json_text(doc, arena, id);
    return text.ptr ? text : (weir_span){"", 0};
}

/* NULL: it was read. */
static const char *read_body(weir_span body, struct wr_arena *arena, struct wr_steer_request *r)
{
    wr_json_id f[FIELDS_COUNT];
    struct wr_json doc;

    if (!wr_span_trim(body).len)
        body = WR_LIT("{}");
    if (wr_json_parse(&doc, arena, body, NULL, NULL) || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return "the body is no JSON object";
    (void)wr_json_pick(&doc, 0, field_names, FIELDS_COUNT, f);
    r->session = text_at(&doc, arena, f[SESSION]);
    r->tool = text_at(&doc, arena, f[TOOL]);
    r->path = text_at(&doc, arena, f[PATH]);
    r->handle = text_at(&doc, arena, f[HANDLE]);
    if (wr_json_is(&doc, f[SEGMENT], WR_JSON_NUMBER))
        r->word = wr_arena_copy(arena, wr_json_raw(&doc, f[SEGMENT]));
    r->brings_back = wr_json_is(&doc, f[NOW], WR_JSON_TRUE);
    r->is_confirmed = wr_json_is(&doc, f[CONFIRM], WR_JSON_TRUE);
    return NULL;
}

static bool open_books(struct wr_steer_page *page)
{
    struct weir_store_options how = {.must_exist = true};
    const struct wr_config *config = page->config;

    if (!page->store && weir_store_open(config->store_dir, &how, &page->store, NULL, NULL))
        page->store = NULL;
    if (!page->ledger && wr_ledger_open(config->store_dir, &how, &page->ledger, NULL, NULL))
        page->ledger = NULL;
    return page->store && page->ledger;
}

/* ---- the policy of new sessions ---- */

static void write_policy(struct wr_steer_page *page, weir_span tenant, struct wr_buf *answer)
{
    const struct wr_config *config = page->config;
    weir_span wanted = wr_wanted_policy(page->store, tenant);
    bool is_wanted = wanted.len && wr_config_has_policy(config, wanted) && !config->is_policy_said;
    size_t rules_count = 0;
    struct wr_json_writer w;

    for (size_t i = 0; i < config->rules_count; i++)
        rules_count += config->rules[i].policy != NULL;
    wr_json_write_init(&w, answer);
    wr_json_write_object(&w);
    wr_json_member_text(&w, "policy", is_wanted ? wanted : wr_span_of(config->policy));
    wr_json_member_word(&w, "configured", config->policy);
    wr_json_member_bool(&w, "is_wanted", is_wanted);
    wr_json_member_bool(&w, "is_typed", config->is_policy_said);
    wr_json_member_number(&w, "rules", rules_count);
    wr_json_write_object_end(&w);
}

/* 0: it is wanted from now on. */
static int want_policy(struct wr_steer_page *page, struct wr_page_call *call,
                       struct wr_arena *arena)
{
    const struct wr_config *config = page->config;
    struct weir_err err = {0};
    struct wr_json doc;
    char text[256];

    if (wr_json_parse(&doc, arena, wr_buf_view(&call->body), NULL, NULL) ||
        !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return say_error(&call->answer, 400, "the body is no JSON object");
    wr_json_id id = wr_json_find(&doc, 0, POLICY);
    weir_span name = text_at(&doc, arena, id);
    if (!name.len && !wr_json_is(&doc, id, WR_JSON_NULL))
        return say_error(&call->answer, 400, "name a policy, or null for the configured one");
    if (config->is_policy_said) {
        (void)snprintf(text, sizeof(text),
                       "this server was started with --policy %s, which new sessions get; start it "
                       "without that first",
                       config->policy);
        return say_error(&call->answer, 409, text);
    }
    const struct wr_policy *policy =
        name.len && config->policies ? wr_policies_find(config->policies, name) : NULL;
    if (name.len && !policy) {
        (void)snprintf(text, sizeof(text), "no policy is called that; there are %s",
                       config->policy_names ? config->policy_names : "none");
        return say_error(&call->answer, 400, text);
    }
    weir_status status =
        wr_want_policy(page->store, wr_span_of(call->tenant),
                       policy ? wr_span_of(policy->name) : name, wr_clock_ms(), &err);
    return status ? say_error(&call->answer, status_of(status),
                              err.text[0] ? err.text : weir_status_text(status))
                  : 0;
}

static int answer_policy(struct wr_steer_page *page, struct wr_page_call *call,
                         struct wr_arena *arena)
{
    bool is_get = wr_span_is(call->method, "GET");

    if (!is_get && !wr_span_is(call->method, "POST"))
        return refuse_method(call, "GET, POST");
    if (!open_books(page))
        return say_error(&call->answer, 503, "the store cannot be opened");
    int wrong = is_get ? 0 : want_policy(page, call, arena);
    if (wrong)
        return wrong;
    write_policy(page, wr_span_of(call->tenant), &call->answer);
    return 200;
}

static int answer(struct wr_steer_page *page, struct wr_page_call *call, struct wr_arena *arena)
{
    size_t row = find_path(call->target);
    bool is_get = wr_span_is(call->method, "GET");
    struct wr_steer_request r = {.verb = is_get ? paths[row].of_get : paths[row].verb,
                                 .tenant = wr_span_of(call->tenant),
                                 .now_ms = wr_clock_ms()};
    struct wr_json_writer w;
    struct weir_err err = {0};
    struct wr_steered d;

    if (!strcmp(paths[row].path, POLICY))
        return answer_policy(page, call, arena);
    if (r.verb == WR_STEERS_COUNT || !(is_get || wr_span_is(call->method, "POST")))
        return refuse_method(call, paths[row].of_get == WR_STEERS_COUNT ? "POST" : "GET, POST");
    if (!open_books(page))
        return say_error(&call->answer, 503, "the store cannot be opened");
    const char *wrong = is_get ? NULL : read_body(wr_buf_view(&call->body), arena, &r);
    if (wrong)
        return say_error(&call->answer, 400, wrong);
    if (is_get)
        r.session = wr_query_text(query_of(call->target), "session", arena);
    r.is_of_all = !r.session.len;
    (void)snprintf(call->subject, sizeof(call->subject), "%.*s", (int)r.session.len,
                   r.session.len ? r.session.ptr : "");
    if (r.is_of_all && !strcmp(paths[row].path, "plan"))
        return say_error(&call->answer, 400, "name a session");
    weir_status status = wr_steer(page->ledger, page->store, &r, arena, &d, &err);
    if (status)
        return say_error(&call->answer, status_of(status),
                         err.text[0] ? err.text : weir_status_text(status));
    call->has_changed_nothing = !d.is_said;
    wr_json_write_init(&w, &call->answer);
    wr_steered_write(&d, &w);
    return 200;
}

/* On a thread. */
static void answer_call(struct wr_page_call *call)
{
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    call->status = answer(call->desk->user, call, &arena);
    wr_arena_release(&arena);
}

/* ---- on the server ---- */

struct wr_steer_page *wr_steer_page_new(uv_loop_t *loop, const struct wr_config *config)
{
    struct wr_steer_page *page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    *page = (struct wr_steer_page){.desk = {.calls_max = WR_STEER_CALLS_MAX,
                                            .body_bytes_max = WR_STEER_BODY_BYTES_MAX,
                                            .answer_bytes_max = WR_SIDECAR_ANSWER_BYTES_MAX,
                                            .work = answer_call,
                                            .user = page}};
    page->config = config;
    if (wr_page_desk_init(&page->desk, loop))
        return page;
    free(page);
    return NULL;
}

void wr_steer_page_audit(struct wr_steer_page *page, struct wr_audit *audit)
{
    page->desk.audit = audit;
    page->desk.audit_name = "steer";
}

void wr_steer_page_free(struct wr_steer_page *page)
{
    if (!page)
        return;
    wr_page_desk_release(&page->desk);
    weir_store_close(page->store);
    wr_ledger_close(page->ledger);
    free(page);
}

void *wr_steer_page_begin(struct wr_steer_page *page, const struct wr_config *config,
                          struct wr_conn *conn, const struct wr_head *head,
                          const struct wr_entry *entry)
{
    page->config = config;
    if (!config->store_dir) {
        wr_page_error(conn, NULL, 503, "there is no store to keep that in");
        return NULL;
    }
    return wr_page_call_begin(&page->desk, conn, head, entry);
}
