/* admit.c -- a request is let in by the budgets of its user and team, and settled when it is over.
 *
 *   FREE     no budget is for it
 *   DUE ──wr_admit_hold──▶ ASKING ──on_verdict──▶ GIVEN ──wr_admit_settle──▶ (told what it cost)
 *                             └──────on_verdict──▶ FREE: refused, or nobody could count it
 *
 * It is asked for as the request is about to leave for the first time: then the model, the prompt
 * and the longest answer are known, so the most that it can cost is. What it did cost is added up
 * over all the times that the provider was asked for it (own_legs.c). Where the provider does not
 * say what it counted, an answer that came costs what we count, and so does a request that left
 * whole and whose answer nobody waited for, or that never came: the provider has it, and writes.
 */
#include "proxy/admit.h"

#include <openssl/rand.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/calendar.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "engine/engine.h"
#include "models/registry.h"
#include "proxy/exchange_inside.h"
#include "proxy/pages.h"
#include "proxy/users.h"
#include "store/store.h"

enum {
    BYTES_PER_TOKEN_MIN = 3, /* of a prompt that was not read: rather too many tokens */
    ANSWER_BYTES_PER_TOKEN = 4,
    EVENT_BYTES = 300,            /* of a streamed event, around its words: rather too many */
    OUTPUT_TOKENS_UNKNOWN = 8192, /* of a model whose longest answer is not known */
    RETRY_HELD_S = 5,             /* where requests under way hold what is left */
    RETRY_SHORT_S = 60,           /* longer than that no client should wait by itself */
    LOST_TOKENS_PER_S = 100,      /* that a model writes for nobody */
};

void wr_admit_begin(struct wr_exchange *ex)
{
    struct wr_admission *a = &ex->admission;
    int64_t limits[WR_SPEND_SCOPES_MAX][WR_SPEND_PERIODS][WR_SPEND_KINDS];
    const struct wr_user *user = ex->entry.user;

    if (!user || !ex->route.is_answer)
        return;
    if (!wr_budgets_limits(&ex->config->budgets, user, false, limits) &&
        !wr_budgets_limits(&ex->config->budgets, user, true, limits))
        return;
    a->state = WR_ADMIT_DUE;
}

/* ---- the most that it can cost ---- */

/* What a request asks for, as far as it is known. */
struct asked {
    const struct wr_model *model; /* NULL: it does not say, or nobody can read it */
    uint64_t output_tokens;       /* of an answer; 0: it does not say */
    uint32_t answers;             /* 0: it does not say */
    bool is_background;
};

static const struct wr_model *find_model(const struct wr_exchange *ex, weir_span name)
{
    if (!name.len || !ex->service->models)
        return NULL;
    return wr_models_lookup(ex->service->models, name).model;
}

/* The thread is not done with it, or did not take it: it is read here, for these alone. */
static struct asked read_asked(const struct wr_exchange *ex)
{
    struct weir_request_options options = WEIR_REQUEST_OPTIONS_INIT;
    struct weir_request *request;
    struct asked asked = {.model = NULL};

    if (!ex->route.api)
        return asked;
    options.dialect = ex->route.api->name;
    options.path = ex->path.len ? ex->path.bytes : NULL;
    if (weir_request_new(wr_buf_view(&ex->body), &options, &request, NULL))
        return asked;
    asked.model = find_model(ex, weir_request_model(request));
    asked.output_tokens = request->transcript.answer_tokens_max;
    asked.answers = request->transcript.answers_count;
    asked.is_background = request->transcript.is_background;
    weir_request_free(request);
    return asked;
}

static struct asked asked_of(const struct wr_exchange *ex)
{
    const struct wr_record *r = &ex->record;

    if (!wr_exchange_is_task_ready(ex))
        return read_asked(ex);
    return (struct asked){find_model(ex, wr_span_of(r->model)), r->asked_tokens, r->asked_answers,
                          r->is_background};
}

static uint64_t prompt_tokens(const struct wr_exchange *ex)
{
    const struct wr_record *r = &ex->record;
    bool is_read = wr_exchange_is_task_ready(ex) && r->deed != WR_DEED_PASSED;
    uint64_t tokens = is_read ? wr_record_prompt_tokens(r) : 0;

    if (!tokens)
        return ex->body.len / BYTES_PER_TOKEN_MIN;
    return r->budget.factor_bp ? tokens * r->budget.factor_bp / 10000 : tokens;
}

/* Every lifetime of the cache has a price of its own to write it. */
static struct wr_cost dearest(const struct wr_model *model, uint64_t input, uint64_t output)
{
    struct wr_usage ways[] = {{.input_tokens = input, .output_tokens = output},
                              {.cache_write_5m_tokens = input, .output_tokens = output},
                              {.cache_write_1h_tokens = input, .output_tokens = output}};
    struct wr_cost most = {.micro_usd = 0};

    for (size_t i = 0; i < WR_COUNT_OF(ways); i++) {
        struct wr_cost cost = wr_cost(model, &ways[i]);
        if (cost.micro_usd >= most.micro_usd)
            most = cost;
    }
    return most;
}

/* Of all models that have a price, for a request that does not say which it asks. */
static struct wr_cost dearest_of_all(const struct wr_models *models, uint64_t input,
                                     uint64_t output)
{
    struct wr_cost most = {.known = true};

    for (uint32_t i = 0; models && i < wr_models_count(models); i++) {
        struct wr_cost cost = dearest(wr_models_at(models, i), input, output);
        if (cost.known && cost.micro_usd > most.micro_usd)
            most = cost;
    }
    return most;
}

static bool limits_money(const struct wr_spend_request *request)
{
    bool is_limited = false;

    for (size_t s = 0; s < request->scopes_count; s++)
        for (int p = 0; p < WR_SPEND_PERIODS; p++)
            is_limited |= request->scopes[s].limits[p][WR_SPEND_MONEY] != WR_SPEND_NO_LIMIT;
    return is_limited;
}

/* No request names so large a number that it cannot be counted: what the store does not take would
 * pass uncounted. */
static uint64_t all_answers(uint64_t tokens, uint32_t answers)
{
    uint64_t most = tokens < WR_MODEL_TOKENS_MAX ? tokens : WR_MODEL_TOKENS_MAX;

    most *= answers > 1 ? answers : 1;
    return most < WR_MODEL_TOKENS_MAX ? most : WR_MODEL_TOKENS_MAX;
}

/* False: money is limited, and the model has no price. */
static bool find_most(struct wr_exchange *ex, struct wr_spend_request *request)
{
    struct asked asked = asked_of(ex);
    uint64_t input = prompt_tokens(ex), output = asked.output_tokens;

    if (!output && asked.model)
        output = asked.model->output_tokens_max;
    if (!output)
        output = OUTPUT_TOKENS_UNKNOWN;
    output = all_answers(output, asked.answers);
    ex->admission.output_tokens = output;
    ex->admission.is_background = asked.is_background;
    request->most[WR_SPEND_REQUESTS] = 1;
    request->most[WR_SPEND_TOKENS] = (int64_t)(input + output);
    struct wr_cost cost = asked.model ? dearest(asked.model, input, output)
                                      : dearest_of_all(ex->service->models, input, output);
    request->most[WR_SPEND_MONEY] = (int64_t)cost.micro_usd;
    return cost.known || !limits_money(request);
}

static void name_scopes(struct wr_exchange *ex, struct wr_spend_request *request)
{
    struct wr_admission *a = &ex->admission;
    const struct wr_user *user = ex->entry.user;
    int64_t limits[WR_SPEND_SCOPES_MAX][WR_SPEND_PERIODS][WR_SPEND_KINDS];

    (void)wr_budgets_limits(&ex->config->budgets, user, false, limits);
    (void)snprintf(a->names[0], sizeof(a->names[0]), "user:%s", user->name);
    (void)snprintf(a->names[1], sizeof(a->names[1]), "team:%s", user->team);
    request->scopes_count = user->team[0] ? 2 : 1;
    for (size_t i = 0; i < request->scopes_count; i++) {
        request->scopes[i].name = wr_span_of(a->names[i]);
        memcpy(request->scopes[i].limits, limits[i], sizeof(limits[i]));
    }
}

/* ---- what is said of it ---- */

static void put_amount(struct wr_buf *out, enum wr_spend_kind kind, int64_t amount)
{
    static const char *const units[WR_SPEND_KINDS] = {" requests", " tokens", " USD"};

    if (kind == WR_SPEND_MONEY)
        wr_buf_printf(out, "%lld.%06lld", (long long)(amount / 1000000),
                      (long long)(amount % 1000000));
    else
        wr_buf_printf(out, "%lld", (long long)amount);
    wr_buf_text(out, units[kind]);
}

/* "user:anna day 4.100000 USD of 5.000000 USD". */
static void put_state(struct wr_buf *out, const char *scope, enum wr_spend_period period,
                      enum wr_spend_kind kind, int64_t used, int64_t limit)
{
    wr_buf_printf(out, "%s %s ", scope, wr_spend_period_name(period));
    put_amount(out, kind, used);
    wr_buf_text(out, " of ");
    put_amount(out, kind, limit);
}

static void keep_note(struct wr_admission *a, struct wr_buf *text)
{
    wr_buf_byte(text, '\0');
    if (!wr_buf_status(text))
        (void)snprintf(a->note, sizeof(a->note), "%s", text->bytes);
}

/* The first budget that warns and is passed. */
static void find_warning(struct wr_exchange *ex)
{
    struct wr_admission *a = &ex->admission;
    int64_t limits[WR_SPEND_SCOPES_MAX][WR_SPEND_PERIODS][WR_SPEND_KINDS];
    struct wr_buf text;

    if (!wr_budgets_limits(&ex->config->budgets, ex->entry.user, true, limits))
        return;
    wr_buf_init(&text, WR_NET_HEAD_BYTES_MAX);
    for (size_t s = 0; s < a->job.request.scopes_count && !text.len; s++)
        for (int p = WR_SPEND_PERIODS - 1; p >= 0 && !text.len; p--)
            for (int k = 0; k < WR_SPEND_KINDS && !text.len; k++) {
                int64_t used = a->job.verdict.spent[s][p].used[k];
                if (used <= limits[s][p][k])
                    continue;
                wr_buf_text(&text, "over: ");
                put_state(&text, a->names[s], (enum wr_spend_period)p, (enum wr_spend_kind)k, used,
                          limits[s][p][k]);
            }
    if (text.len) {
        keep_note(a, &text);
        ex->record.spend = wr_span_of(a->note);
        atomic_fetch_add(&ex->service->metrics->budget_warnings, 1);
    }
    wr_buf_release(&text);
}

/* ---- refusing ---- */

/* An answer of ours, in the API's shape, with when to come again; 0: that would not help. */
static void refuse(struct wr_exchange *ex, int status, const char *why, int64_t retry_s)
{
    struct wr_conn *conn = ex->conn;

    ex->admission.state = WR_ADMIT_FREE;
    ex->record.end = WR_LIT("budget");
    ex->record.status = (uint64_t)status;
    ex->state = WR_EXCHANGE_OVER;
    ex->conn = NULL;
    atomic_fetch_add(&ex->service->metrics->budget_refusals, 1);
    wr_page_refusal(conn, ex->route.api,
                    &(struct wr_page_refusal){.status = status,
                                              .why = why,
                                              .note = ex->admission.note,
                                              .retry_s = retry_s,
                                              .is_soon = retry_s <= RETRY_SHORT_S});
    wr_exchange_free_if_over(ex);
}

static void refuse_over(struct wr_exchange *ex)
{
    struct wr_admission *a = &ex->admission;
    const struct wr_spend_verdict *v = &a->job.verdict;
    const struct wr_spend_request *request = &a->job.request;
    int64_t now_ms = request->now_ms, end_ms = wr_spend_end_ms(v->period, now_ms);
    int64_t retry_s = v->is_held ? RETRY_HELD_S : (end_ms - now_ms + 999) / 1000;
    int64_t used = v->spent[v->scope][v->period].used[v->kind];
    char free_at[WR_DATE_BYTES];
    struct wr_buf text;

    wr_date_write(end_ms, free_at);
    wr_buf_init(&text, WR_NET_HEAD_BYTES_MAX);
    wr_buf_text(&text, "refused: ");
    put_state(&text, a->names[v->scope], v->period, v->kind, used,
              request->scopes[v->scope].limits[v->period][v->kind]);
    keep_note(a, &text);
    ex->record.spend = wr_span_of(a->note);
    wr_buf_reset(&text);
    wr_buf_text(&text, "the budget is used up: ");
    put_state(&text, a->names[v->scope], v->period, v->kind, used,
              request->scopes[v->scope].limits[v->period][v->kind]);
    wr_buf_text(&text, ", and this request may take ");
    put_amount(&text, v->kind, request->most[v->kind]);
    wr_buf_text(&text, v->is_held ? "; requests under way hold the rest, try again in a moment"
                                  : "; it is free again at ");
    wr_buf_text(&text, v->is_held ? "" : free_at);
    wr_buf_byte(&text, '\0');
    refuse(ex, 429, wr_buf_status(&text) ? "the budget is used up" : text.bytes, retry_s);
    wr_buf_release(&text);
}

/* Nobody could count it: the store is away. */
static void go_uncounted(struct wr_exchange *ex)
{
    ex->admission.state = WR_ADMIT_FREE;
    atomic_fetch_add(&ex->service->metrics->budget_uncounted, 1);
    if (ex->config->budgets.refuses_uncounted) {
        refuse(ex, 503,
               "the store cannot count this request for its budget, and weir.yaml says "
               "`budgets_without_store: refuse`",
               RETRY_HELD_S);
        return;
    }
    ex->record.spend = WR_LIT("not counted: the store could not be asked");
    wr_exchange_send(ex);
}

/* ---- asking ---- */

static void on_verdict(struct wr_gate_job *job)
{
    struct wr_exchange *ex = job->user;
    struct wr_admission *a = &ex->admission;
    bool is_in = !job->status && !job->verdict.is_refused;

    a->state = is_in ? WR_ADMIT_GIVEN : WR_ADMIT_FREE;
    if (!ex->conn) /* who asked is gone meanwhile: it costs nothing */
        wr_exchange_free_if_over(ex);
    else if (job->status)
        go_uncounted(ex);
    else if (job->verdict.is_refused)
        refuse_over(ex);
    else {
        find_warning(ex);
        wr_exchange_send(ex);
    }
}

bool wr_admit_hold(struct wr_exchange *ex)
{
    struct wr_admission *a = &ex->admission;

    if (a->state != WR_ADMIT_DUE)
        return false;
    if (!ex->service->gate) { /* there was no memory for it, or no thread */
        go_uncounted(ex);
        return true;
    }
    a->job = (struct wr_gate_job){.done = on_verdict, .user = ex};
    a->job.request.now_ms = wr_clock_ms();
    name_scopes(ex, &a->job.request);
    a->state = WR_ADMIT_ASKING;
    ex->state = WR_EXCHANGE_ADMITTING;
    if (!find_most(ex, &a->job.request)) {
        refuse(ex, 403,
               "this model has no price, so a budget in USD cannot count it: whoever runs this "
               "Weir gives it one under `models` of weir.yaml (docs/models.md)",
               0);
        return true;
    }
    /* Whoever could make it pass uncounted by asking often enough would have no budget. */
    if (RAND_bytes(a->job.request.ticket, WR_SPEND_TICKET_BYTES) != 1 ||
        !wr_gate_ask(ex->service->gate, &a->job))
        refuse(ex, 503, "too many requests wait to be counted for their budgets", RETRY_HELD_S);
    return true;
}

/* ---- the end ---- */

/* What an answer has brought, where its provider did not say so, or not to the end: an event is a
 * token at least, and what surrounds the words in each is not the model's. */
static uint64_t seen_output_tokens(const struct wr_record *r)
{
    uint64_t around_bytes = r->answer_events * EVENT_BYTES;
    uint64_t words_bytes = r->answer_bytes > around_bytes ? r->answer_bytes - around_bytes : 0;
    uint64_t tokens = words_bytes / ANSWER_BYTES_PER_TOKEN;

    return tokens > r->answer_events ? tokens : r->answer_events;
}

void wr_admit_note_lost(struct wr_exchange *ex)
{
    ex->admission.lost_count++;
    ex->admission.lost_us += wr_clock_steady_us() - ex->sent_us;
}

/* Where nobody knows which model it was, it costs the most that it could. */
static void add_cost(struct wr_exchange *ex, const struct wr_model *model,
                     const struct wr_usage *usage)
{
    struct wr_admission *a = &ex->admission;

    a->tokens += (int64_t)(wr_usage_input_total(usage) + usage->output_tokens);
    a->micro_usd +=
        model ? (int64_t)wr_cost(model, usage).micro_usd : a->job.request.most[WR_SPEND_MONEY];
}

static void count_lost(struct wr_exchange *ex, const struct wr_model *model)
{
    struct wr_admission *a = &ex->admission;
    uint64_t written = a->lost_us * LOST_TOKENS_PER_S / 1000000;
    uint64_t most = a->output_tokens * a->lost_count;
    struct wr_usage usage = {.input_tokens = prompt_tokens(ex) * a->lost_count,
                             .output_tokens = written < most ? written : most};

    if (a->lost_count)
        add_cost(ex, model, &usage);
    a->lost_count = a->lost_us = 0;
}

void wr_admit_count(struct wr_exchange *ex)
{
    const struct wr_record *r = &ex->record;
    bool is_answered = r->status >= 200 && r->status < 300;

    if (ex->admission.state != WR_ADMIT_GIVEN)
        return;
    const struct wr_model *model =
        find_model(ex, r->model[0] ? wr_span_of(r->model) : r->answer_model);
    count_lost(ex, model);
    if (!r->is_usage_known && !is_answered)
        return;
    if (!r->is_usage_known && ex->admission.is_background) { /* nobody here sees what it takes */
        ex->admission.tokens += ex->admission.job.request.most[WR_SPEND_TOKENS];
        ex->admission.micro_usd += ex->admission.job.request.most[WR_SPEND_MONEY];
        return;
    }
    struct wr_usage usage = {.input_tokens = prompt_tokens(ex),
                             .output_tokens = seen_output_tokens(r)};
    uint64_t seen = usage.output_tokens;
    if (r->is_usage_known && model)
        usage = wr_record_usage(r, model);
    if (!wr_span_is(r->end, "done") && usage.output_tokens < seen)
        usage.output_tokens = seen; /* of a client that left, the beginning says 1 */
    add_cost(ex, model, &usage);
}

void wr_admit_settle(struct wr_exchange *ex)
{
    struct wr_admission *a = &ex->admission;

    if (a->state != WR_ADMIT_GIVEN)
        return;
    a->state = WR_ADMIT_FREE;
    (void)wr_gate_settle(ex->service->gate, a->job.request.ticket, a->tokens, a->micro_usd);
}

/* ==== the threads that ask the store ====
 *
 *   wr_gate_ask, wr_gate_settle ──▶ queue ──▶ a thread: reserve, settle ──▶ done ──▶ the loop
 *
 * A file has one writer at a time, so one thread is enough for it; a database takes the commits of
 * several in one write of its disk. Once a minute one of the threads ends what requests hold whose
 * process died (wr_ledger_expire()).
 */

enum { THREADS_FILE = 1, THREADS_DATABASE = 4, EXPIRE_MS = 60 * 1000, AGAIN_MS = 500 };

/* What waits: a job of somebody's, or a cost, which is ours to free. They are taken in the order
 * that they came in: what a cost sets free may be what the next job asks for, and costs that wait
 * until there is no job would wait for as long as there is much to do. */
struct cost {
    unsigned char ticket[WR_SPEND_TICKET_BYTES];
    int64_t tokens, micro_usd;
    uint64_t number;
    int64_t since_ms, due_ms; /* when it came, and when it is tried (again) */
    struct cost *next;
};

struct wr_gate {
    const char *store_dir;
    uv_async_t wake;
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_t threads[THREADS_DATABASE];
    int threads_count;
    struct wr_gate_job *jobs, **jobs_end; /* the oldest first */
    struct cost *costs, **costs_end;
    size_t jobs_count;
    uint64_t number; /* of what came last */
    struct wr_gate_job *done, **done_end;
    bool is_ending, is_closed;
    int64_t expire_due_ms;
};

/* ---- on a thread ---- */

static bool need_ledger(const struct wr_gate *gate, struct wr_ledger **ledger)
{
    return *ledger || !wr_ledger_open(gate->store_dir, NULL, ledger, NULL, NULL);
}

static void run_job(struct wr_gate *gate, struct wr_ledger **ledger, struct wr_gate_job *job)
{
    job->status = need_ledger(gate, ledger)
                      ? wr_ledger_reserve(*ledger, &job->request, &job->verdict, NULL)
                      : WEIR_IO;
    (void)pthread_mutex_lock(&gate->lock);
    job->next = NULL;
    *gate->done_end = job;
    gate->done_end = &job->next;
    if (!gate->is_closed)
        (void)uv_async_send(&gate->wake);
    (void)pthread_mutex_unlock(&gate->lock);
}

static void queue_cost(struct wr_gate *gate, struct cost *cost)
{
    cost->next = NULL;
    cost->number = ++gate->number;
    *gate->costs_end = cost;
    gate->costs_end = &cost->next;
}

/* A ticket is settled once, however often it is told. What the store does not take is told again,
 * behind what came meanwhile, until nobody holds the ticket any more. There are never more of these
 * than requests were let in, and a store that is away lets none in. */
static void run_cost(struct wr_gate *gate, struct wr_ledger **ledger, struct cost *cost)
{
    bool is_told = need_ledger(gate, ledger) &&
                   !wr_ledger_settle(*ledger, cost->ticket, cost->tokens, cost->micro_usd, NULL);

    (void)pthread_mutex_lock(&gate->lock);
    bool is_over = is_told || gate->is_ending || wr_clock_ms() - cost->since_ms > WR_SPEND_HOLD_MS;
    if (!is_over) {
        cost->due_ms = wr_clock_ms() + AGAIN_MS;
        queue_cost(gate, cost);
    }
    (void)pthread_mutex_unlock(&gate->lock);
    if (is_over)
        free(cost);
}

static void expire(const struct wr_gate *gate, struct wr_ledger **ledger, int64_t now_ms)
{
    if (need_ledger(gate, ledger))
        (void)!wr_ledger_expire(*ledger, now_ms - WR_SPEND_HOLD_MS,
                                now_ms - (int64_t)WR_SPEND_KEEP_DAYS * WR_DAY_MS, NULL, NULL);
}

static bool is_cost_due(const struct wr_gate *gate)
{
    return gate->costs && (gate->is_ending || wr_clock_ms() >= gate->costs->due_ms);
}

/* Waits for something to do. False: it is time to end, and nothing is left. */
static bool take(struct wr_gate *gate, struct wr_gate_job **job, struct cost **cost, bool *expires)
{
    (void)pthread_mutex_lock(&gate->lock);
    while (!gate->jobs && !is_cost_due(gate) && !gate->is_ending &&
           wr_clock_ms() < gate->expire_due_ms) {
        struct timespec until = wr_clock_steady_in_ms(gate->costs ? AGAIN_MS : EXPIRE_MS);
        (void)wr_os_steady_cond_wait(&gate->more, &gate->lock, &until);
    }
    bool is_cost = is_cost_due(gate) && (!gate->jobs || gate->costs->number < gate->jobs->number);
    *job = is_cost ? NULL : gate->jobs;
    *cost = is_cost ? gate->costs : NULL;
    if (*job && !(gate->jobs = (*job)->next))
        gate->jobs_end = &gate->jobs;
    if (*cost && !(gate->costs = (*cost)->next))
        gate->costs_end = &gate->costs;
    gate->jobs_count -= *job != NULL;
    *expires = wr_clock_ms() >= gate->expire_due_ms && !gate->is_ending;
    if (*expires)
        gate->expire_due_ms = wr_clock_ms() + EXPIRE_MS;
    bool is_over = gate->is_ending && !*job && !*cost;
    (void)pthread_mutex_unlock(&gate->lock);
    return !is_over;
}

static void *work(void *user)
{
    struct wr_gate *gate = user;
    struct wr_ledger *ledger = NULL;
    struct wr_gate_job *job;
    struct cost *cost;
    bool expires;

    while (take(gate, &job, &cost, &expires)) {
        if (job)
            run_job(gate, &ledger, job);
        if (cost)
            run_cost(gate, &ledger, cost);
        if (expires)
            expire(gate, &ledger, wr_clock_ms());
    }
    wr_ledger_close(ledger);
    return NULL;
}

/* ---- on the loop ---- */

static void on_wake(uv_async_t *wake)
{
    struct wr_gate *gate = wake->data;

    (void)pthread_mutex_lock(&gate->lock);
    struct wr_gate_job *job = gate->done;
    gate->done = NULL;
    gate->done_end = &gate->done;
    (void)pthread_mutex_unlock(&gate->lock);
    while (job) {
        struct wr_gate_job *next = job->next;
        job->done(job);
        job = next;
    }
}

bool wr_gate_ask(struct wr_gate *gate, struct wr_gate_job *job)
{
    (void)pthread_mutex_lock(&gate->lock);
    bool has_room = gate->jobs_count < WR_PROXY_GATE_JOBS_MAX && !gate->is_closed;
    if (has_room) {
        job->next = NULL;
        job->number = ++gate->number;
        *gate->jobs_end = job;
        gate->jobs_end = &job->next;
        gate->jobs_count++;
        if (gate->expire_due_ms == INT64_MAX) /* who counts nothing looks after nothing */
            gate->expire_due_ms = 0;
        (void)pthread_cond_signal(&gate->more);
    }
    (void)pthread_mutex_unlock(&gate->lock);
    return has_room;
}

bool wr_gate_settle(struct wr_gate *gate, const unsigned char ticket[WR_SPEND_TICKET_BYTES],
                    int64_t tokens, int64_t micro_usd)
{
    struct cost *cost = malloc(sizeof(*cost));

    if (!cost)
        return false;
    *cost = (struct cost){.tokens = tokens, .micro_usd = micro_usd, .since_ms = wr_clock_ms()};
    memcpy(cost->ticket, ticket, WR_SPEND_TICKET_BYTES);
    (void)pthread_mutex_lock(&gate->lock);
    queue_cost(gate, cost);
    (void)pthread_cond_signal(&gate->more);
    (void)pthread_mutex_unlock(&gate->lock);
    return true;
}

/* ---- life ---- */

struct wr_gate *wr_gate_new(uv_loop_t *loop, const char *store_dir)
{
    struct wr_gate *gate = calloc(1, sizeof(*gate));
    int wanted = wr_where(store_dir) == WR_WHERE_POSTGRES ? THREADS_DATABASE : THREADS_FILE;

    if (!gate)
        return NULL;
    gate->store_dir = store_dir;
    gate->expire_due_ms = INT64_MAX;
    gate->jobs_end = &gate->jobs;
    gate->costs_end = &gate->costs;
    gate->done_end = &gate->done;
    if (pthread_mutex_init(&gate->lock, NULL) || !wr_os_steady_cond_init(&gate->more) ||
        uv_async_init(loop, &gate->wake, on_wake)) {
        free(gate);
        return NULL;
    }
    gate->wake.data = gate;
    while (gate->threads_count < wanted &&
           !pthread_create(&gate->threads[gate->threads_count], NULL, work, gate))
        gate->threads_count++;
    if (gate->threads_count)
        return gate;
    wr_gate_close(gate); /* its memory is the loop's until that ends */
    return NULL;
}

void wr_gate_close(struct wr_gate *gate)
{
    if (!gate)
        return;
    (void)pthread_mutex_lock(&gate->lock);
    gate->is_closed = true;
    (void)pthread_mutex_unlock(&gate->lock);
    uv_close((uv_handle_t *)&gate->wake, NULL);
}

void wr_gate_free(struct wr_gate *gate)
{
    if (!gate)
        return;
    (void)pthread_mutex_lock(&gate->lock);
    gate->is_ending = true;
    (void)pthread_cond_broadcast(&gate->more);
    (void)pthread_mutex_unlock(&gate->lock);
    for (int i = 0; i < gate->threads_count; i++)
        (void)pthread_join(gate->threads[i], NULL);
    (void)pthread_mutex_destroy(&gate->lock);
    (void)pthread_cond_destroy(&gate->more);
    free(gate);
}
