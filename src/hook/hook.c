/* A result on its way through the engine, alone.
 *
 * What a proxy sees and a hook does not is the rest of the prompt. Two things of it matter on
 * arrival. Whether a file was read before and shortened: the ledger has a note for each such file
 * of the session. And whether the same text stands elsewhere in the prompt: nobody here can know
 * (the agent may have compacted it away), so no reference is made.
 *
 * The request is written in the first API there is; none of them decides otherwise than another.
 * Agents have their prompts cached, which the projection is told: without that a saved token would
 * be thought dearer than it is, and too much would be taken out.
 *
 * Tried and given up: to read the agent's own transcript for the whole prompt. It costs more than
 * the rest together in a long session, its format is the agent's affair, and it is written late.
 */
#include "hook/hook.h"

#include <string.h>

#include "api/write.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "engine/record_row.h"
#include "policy/marker.h"
#include "store/ledger.h"

static const char shortened[] = "shortened", whole[] = "whole"; /* what a note says */

struct hooking {
    const struct wr_hook *hook;
    struct wr_hooked *hooked;
    struct weir_err *err;
    struct wr_arena arena;
    struct wr_hook_event event;
    struct wr_buf body, line, session;
    struct weir_engine *engine;
    struct weir_request *request; /* this call and its result */
    struct weir_request *after;   /* the same, projected */
    struct weir_store *store;
    struct wr_ledger *ledger;
    struct wr_record record;
    weir_span path; /* of the file that the result shows; empty: of none */
};

/* What other processes take of a busy machine is no work of ours. */
static uint64_t clock_us(void *user)
{
    (void)user;
    return wr_clock_thread_us();
}

/* ---- the request ---- */

static weir_span model_of(const struct hooking *h)
{
    if (h->hook->model)
        return wr_span_of(h->hook->model);
    return h->event.model.len ? h->event.model : wr_span_of(h->hook->agent->model);
}

static weir_status write_request(struct hooking *h)
{
    const struct weir_tool recall = {.name = wr_span_of(h->hook->recall)};
    const struct weir_call call = {WR_LIT("call_1"), h->event.tool, h->event.input};
    const struct wr_body_head head = {
        .model = model_of(h), .tools = &recall, .tools_count = 1, .has_tools = true};
    const struct wr_line lines[] = {
        {.kind = WR_LINE_WORDS, .text = WR_LIT("What does the tool say?")},
        {.kind = WR_LINE_ANSWER, .calls = &call, .calls_count = 1},
        {.kind = WR_LINE_RESULT, .text = h->event.text, .call_id = call.id}};
    struct wr_body body;

    wr_body_init(&body, wr_apis[0], &h->body);
    wr_body_begin(&body, &head);
    for (size_t i = 0; i < WR_COUNT_OF(lines); i++)
        wr_body_line(&body, &lines[i]);
    wr_body_end(&body);
    wr_body_release(&body);
    return wr_buf_status(&h->body);
}

/* NULL: it has none, which cannot be. */
static const struct wr_segment *result_of(const struct weir_request *request)
{
    const struct wr_transcript *t = &request->transcript;
    for (uint32_t i = t->segments_count; i > 0; i--)
        if (t->segments[i - 1].kind == WEIR_KIND_TOOL_RESULT)
            return &t->segments[i - 1];
    return NULL;
}

static weir_status read_request(struct hooking *h)
{
    struct weir_request_options how = WEIR_REQUEST_OPTIONS_INIT;

    how.dialect = wr_apis[0]->name;
    weir_status status = weir_engine_new(&h->engine, h->err);
    if (!status)
        status = weir_engine_request(h->engine, wr_buf_view(&h->body), &how, &h->request, h->err);
    if (status)
        return status;
    const struct wr_segment *result = result_of(h->request);
    const struct wr_tool_handles *handles = result ? result->handles : NULL;
    if (handles && handles->kind == WR_EFFECT_READ)
        h->path = handles->path;
    return WEIR_OK;
}

/* ---- the session ---- */

/* A name of its own: what a proxy remembers of the same session is about whole prompts. */
static weir_status name_session(struct hooking *h)
{
    wr_buf_printf(&h->session, "hook-%s-", h->hook->agent->name);
    size_t bytes = h->event.session.len;
    if (bytes > WR_HOOK_SESSION_BYTES_MAX)
        bytes = WR_HOOK_SESSION_BYTES_MAX;
    wr_buf_append(&h->session, wr_span_cut(h->event.session, 0, bytes));
    for (size_t i = 0; !h->session.status && i < h->session.len; i++)
        if (!h->session.bytes[i])
            h->session.bytes[i] = '?';
    return wr_buf_status(&h->session);
}

static void note_key(const struct hooking *h, unsigned char key[WR_LEDGER_KEY_BYTES])
{
    wr_hash128 hash = wr_hash128_seeded(h->path, wr_hash128_of(wr_buf_view(&h->session)));

    memcpy(key, &hash.low, sizeof(hash.low));
    memcpy(key + sizeof(hash.low), &hash.high, sizeof(hash.high));
}

/* Whether the newest read of this file in this session was shortened. */
static weir_status look_for_read(struct hooking *h, bool *was_shortened)
{
    unsigned char key[WR_LEDGER_KEY_BYTES];
    weir_span said;

    *was_shortened = false;
    if (!h->path.len)
        return WEIR_OK;
    note_key(h, key);
    weir_status status = wr_ledger_note(h->ledger, WR_LIT(WEIR_TENANT_DEFAULT), key, &said, h->err);
    if (status == WEIR_NOTFOUND)
        return WEIR_OK;
    *was_shortened = !status && wr_span_is(said, shortened);
    return status;
}

static void fill_record(struct hooking *h, struct wr_record *r)
{
    wr_record_init(r);
    r->time_ms = h->hook->now_ms;
    r->is_hook = r->is_collected = r->is_changed = true;
    r->deed = WR_DEED_PROJECTED;
    r->tenant = WR_LIT(WEIR_TENANT_DEFAULT);
    r->agent = wr_span_of(h->hook->agent->name);
    r->session = wr_buf_view(&h->session);
    r->end = WR_LIT("done");
    r->tokens_before = h->hooked->tokens_before;
    r->tokens_after = h->hooked->tokens_after;
    r->received_bytes = r->bytes_before = h->event.text.len;
    weir_span model = model_of(h);
    (void)snprintf(r->model, sizeof(r->model), "%.*s", (int)model.len, model.ptr);
}

/* The row that the report counts (`is_row`), and what a later read of the file must know. */
static weir_status keep_row(struct hooking *h, weir_span after, bool is_row, const char *note)
{
    struct wr_record record;
    struct wr_ledger_note notes[1] = {{.tenant = WR_LIT(WEIR_TENANT_DEFAULT),
                                       .session = wr_buf_view(&h->session),
                                       .time_ms = h->hook->now_ms,
                                       .data = wr_span_of(note)}};
    struct wr_ledger_row row = {.time_ms = h->hook->now_ms,
                                .tenant = WR_LIT(WEIR_TENANT_DEFAULT),
                                .session = wr_buf_view(&h->session),
                                .agent = wr_span_of(h->hook->agent->name),
                                .model = model_of(h)};

    fill_record(h, &record);
    record.sent_bytes = record.bytes_after = after.len;
    wr_row_write(&record, &h->line);
    if (wr_buf_status(&h->line))
        return wr_buf_status(&h->line);
    row.line = wr_span_cut(wr_buf_view(&h->line), 0, h->line.len - 1);
    note_key(h, notes[0].key);
    return wr_ledger_keep(h->ledger, &row, is_row, notes, h->path.len ? 1 : 0, h->err);
}

/* ---- the projection ---- */

static weir_status project_result(struct hooking *h, struct weir_projected *projected)
{
    struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;

    options.policy = h->hook->policy;
    options.pinning = WEIR_PIN_NOTHING;
    options.store = h->store;
    options.session = wr_buf_view(&h->session);
    options.now_ms = h->hook->now_ms;
    options.clock_us = clock_us;
    options.deadline_ms = options.deadline_hard_ms = h->hook->patience_ms / 2;
    options.reads_cache = true;
    return wr_engine_project(h->engine, h->request, &options, &h->record, projected, h->err);
}

/* What the projection says in the place of the result. Empty: the result is as it was, or names no
 * way back. */
static weir_status read_projected(struct hooking *h, const struct weir_projected *projected,
                                  weir_span *text)
{
    struct weir_request_options how = WEIR_REQUEST_OPTIONS_INIT;

    *text = (weir_span){"", 0};
    if (!projected->is_changed || h->record.changes_count != 1)
        return WEIR_OK;
    how.dialect = wr_apis[0]->name;
    weir_status status = weir_engine_request(h->engine, projected->body, &how, &h->after, h->err);
    const struct wr_segment *result = status ? NULL : result_of(h->after);
    if (!result)
        return status;
    *text = wr_segment_text(&h->after->transcript, result, &h->arena);
    if (!text->ptr)
        return wr_arena_status(&h->arena);
    bool has_way = wr_marker_find(*text, NULL) &&
                   wr_span_find(*text, wr_span_of(h->hook->recall), 0) != SIZE_MAX;
    if (!has_way || text->len >= h->event.text.len)
        text->len = 0;
    h->hooked->tokens_before = h->record.changes[0].tokens_before;
    h->hooked->tokens_after = h->record.changes[0].tokens_after;
    return WEIR_OK;
}

static weir_status open_store(struct hooking *h)
{
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;

    options.busy_ms_max = h->hook->patience_ms / 5;
    weir_status status = weir_store_open(h->hook->store, &options, &h->store, NULL, h->err);
    if (!status)
        status = wr_ledger_open(h->hook->store, &options, &h->ledger, NULL, h->err);
    return status;
}

static weir_status condense_result(struct hooking *h, struct wr_buf *out)
{
    struct weir_projected projected = {.is_changed = false};
    bool was_shortened = false;
    weir_span text = {"", 0};

    weir_status status = name_session(h);
    if (!status)
        status = open_store(h);
    if (!status)
        status = look_for_read(h, &was_shortened);
    if (!status && was_shortened) {
        h->hooked->whole = "the file is read again: its last reading was shortened";
        return keep_row(h, h->event.text, false, whole);
    }
    if (!status)
        status = project_result(h, &projected);
    if (!status)
        status = read_projected(h, &projected, &text);
    if (!status && !text.len) {
        h->hooked->whole = "the policy leaves it as it is";
        return WEIR_OK;
    }
    if (!status)
        status = keep_row(h, text, true, shortened);
    if (!status)
        status = wr_hook_event_answer(&h->event, &h->arena, h->hook->agent, text, out, h->err);
    return status;
}

/* ---- all of it ---- */

static void hooking_release(struct hooking *h)
{
    weir_request_free(h->after);
    weir_request_free(h->request);
    weir_engine_free(h->engine);
    wr_ledger_close(h->ledger);
    weir_store_close(h->store);
    wr_buf_release(&h->session);
    wr_buf_release(&h->line);
    wr_buf_release(&h->body);
    wr_arena_release(&h->arena);
}

weir_status wr_hook_answer(const struct wr_hook *hook, weir_span event, struct wr_buf *out,
                           struct wr_hooked *hooked, struct weir_err *err)
{
    struct hooking h = {.hook = hook, .hooked = hooked, .err = err, .path = {"", 0}};

    *hooked = (struct wr_hooked){.whole = NULL};
    wr_arena_init(&h.arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&h.body, WR_JSON_BODY_BYTES_MAX);
    wr_buf_init(&h.line, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&h.session, WR_PROXY_SESSION_BYTES_MAX);
    weir_status status = wr_hook_event_read(&h.event, &h.arena, hook->agent, event, err);
    if (!status && h.event.whole)
        hooked->whole = h.event.whole;
    else if (!status && h.event.text.len < WR_HOOK_BYTES_MIN)
        hooked->whole = "it is short";
    else if (!status && !hook->recall)
        hooked->whole = "the agent has no weir_recall on this store, so nothing would come back";
    else if (!status) {
        status = write_request(&h);
        if (!status)
            status = read_request(&h);
        if (!status)
            status = condense_result(&h, out);
    }
    hooking_release(&h);
    return status;
}
