/* metrics.c -- counters of all workers, and Prometheus' text of them.
 *
 * A sink of the record. The counters are in memory that the supervisor shares with its workers,
 * each an atomic of its own that is added to without order: a scrape may see one request half
 * counted, and never a wrong sum in the end. Labels are few and fixed, and
 * those that are names have a cap, so the page cannot grow.
 */
#include "proxy/metrics.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "base/span.h"
#include "mcp/server.h"
#include "proxy/store_state.h"
#include "weir/weir.h"

/* ---- shares ---- */

/* Traffic by user, team, model, upstream and agent.
 *
 * A place is found by a hash of its names. Who finds a free one takes it by writing 1 into its
 * state, then the names, then 2. Another process that comes in between waits a little: should the
 * first have died there, it counts under "other", for two places of the same names would be two
 * series of the same labels, which Prometheus refuses.
 */

enum { FREE, TAKEN, READY, LOOKS_MAX = 16, WAITS_MAX = 1000 };

struct names {
#define X(name) char name[WR_SHARE_NAME_BYTES];
    WR_SHARE_LABEL_MAP(X)
#undef X
};

/* A label's value in quotes: what would need an escape, or is no ASCII, becomes '_'. */
static void keep_name(char into[WR_SHARE_NAME_BYTES], weir_span name)
{
    size_t bytes = name.len < WR_SHARE_NAME_BYTES - 1 ? name.len : WR_SHARE_NAME_BYTES - 1;

    for (size_t i = 0; i < bytes; i++) {
        char c = name.ptr[i];
        into[i] = c <= ' ' || c > '~' || c == '"' || c == '\\' ? '_' : c;
    }
}

static void names_of(const struct wr_record *r, struct names *names)
{
    *names = (struct names){.user = ""};
    keep_name(names->user, r->user);
    keep_name(names->team, r->team);
    keep_name(names->model, r->model[0] ? wr_span_of(r->model) : r->answer_model);
    keep_name(names->upstream, r->upstream);
    keep_name(names->agent, r->agent);
}

static bool is_same(const struct wr_share *share, const struct names *names)
{
#define X(name)                           \
    if (strcmp(share->name, names->name)) \
        return false;
    WR_SHARE_LABEL_MAP(X)
#undef X
    return true;
}

static bool take(struct wr_share *share, const struct names *names)
{
    unsigned expected = FREE;

    if (!atomic_compare_exchange_strong(&share->state, &expected, TAKEN))
        return false;
#define X(name) memcpy(share->name, names->name, WR_SHARE_NAME_BYTES);
    WR_SHARE_LABEL_MAP(X)
#undef X
    atomic_store_explicit(&share->state, READY, memory_order_release);
    return true;
}

static bool is_ready(struct wr_share *share)
{
    for (int i = 0; i < WAITS_MAX; i++) {
        if (atomic_load_explicit(&share->state, memory_order_acquire) == READY)
            return true;
        (void)sched_yield();
    }
    return false;
}

static struct wr_share *other_of(struct wr_shares *shares)
{
    struct wr_share *last = &shares->items[WR_PROXY_SHARES_MAX - 1];
    struct names names = {.user = "other"};

    if (atomic_load(&last->state) == FREE)
        (void)take(last, &names);
    return last;
}

static struct wr_share *share_of(struct wr_shares *shares, const struct names *names)
{
    uint64_t at = wr_hash64((weir_span){(const char *)names, sizeof(*names)});

    for (size_t i = 0; i < LOOKS_MAX; i++) {
        struct wr_share *share = &shares->items[(at + i) % (WR_PROXY_SHARES_MAX - 1)];
        if (atomic_load_explicit(&share->state, memory_order_acquire) == FREE && take(share, names))
            return share;
        if (!is_ready(share))
            break;
        if (is_same(share, names))
            return share;
    }
    return other_of(shares);
}

static void count_up(_Atomic uint64_t *counter, uint64_t number)
{
    atomic_fetch_add_explicit(counter, number, memory_order_relaxed);
}

void wr_shares_count(struct wr_shares *shares, const struct wr_record *r)
{
    struct names names;

    names_of(r, &names);
    struct wr_share *share = share_of(shares, &names);
    const int64_t tokens[WR_SHARE_KINDS] = {
        [WR_SHARE_INPUT] = r->usage.input_tokens,
        [WR_SHARE_OUTPUT] = r->usage.output_tokens,
        [WR_SHARE_READ] = r->usage.cache_read_tokens,
        [WR_SHARE_WRITE] = r->usage.cache_write_tokens,
    };
    count_up(&share->requests, 1);
    count_up(&share->failed, r->status >= 400 || !r->status);
    count_up(&share->unpriced, r->is_usage_known && r->micro_usd < 0);
    count_up(&share->micro_usd, r->micro_usd > 0 ? (uint64_t)r->micro_usd : 0);
    for (size_t i = 0; i < WR_SHARE_KINDS; i++)
        count_up(&share->tokens[i], tokens[i] > 0 ? (uint64_t)tokens[i] : 0);
}

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void write_labels(const struct wr_share *share, const char *name, struct wr_buf *out)
{
    const char *between = "";

    wr_buf_printf(out, "weir_%s{", name);
#define X(label)                                                      \
    wr_buf_printf(out, "%s" #label "=\"%s\"", between, share->label); \
    between = ",";
    WR_SHARE_LABEL_MAP(X)
#undef X
}

static void write_money(uint64_t micro_usd, struct wr_buf *out)
{
    wr_buf_printf(out, "} %llu.%06llu\n", (unsigned long long)(micro_usd / 1000000),
                  (unsigned long long)(micro_usd % 1000000));
}

typedef void write_fn(const struct wr_share *share, const char *name, struct wr_buf *out);

static void write_share_requests(const struct wr_share *s, const char *name, struct wr_buf *out)
{
    write_labels(s, name, out);
    wr_buf_printf(out, "} %llu\n", (unsigned long long)read_counter(&s->requests));
}

static void write_failed(const struct wr_share *s, const char *name, struct wr_buf *out)
{
    write_labels(s, name, out);
    wr_buf_printf(out, "} %llu\n", (unsigned long long)read_counter(&s->failed));
}

static void write_cost(const struct wr_share *s, const char *name, struct wr_buf *out)
{
    write_labels(s, name, out);
    write_money(read_counter(&s->micro_usd), out);
}

static void write_unpriced(const struct wr_share *s, const char *name, struct wr_buf *out)
{
    if (!read_counter(&s->unpriced))
        return;
    write_labels(s, name, out);
    wr_buf_printf(out, "} %llu\n", (unsigned long long)read_counter(&s->unpriced));
}

static void write_tokens(const struct wr_share *s, const char *name, struct wr_buf *out)
{
    static const char *const kinds[WR_SHARE_KINDS] = {"input", "output", "cache_read",
                                                      "cache_write"};
    for (size_t i = 0; i < WR_SHARE_KINDS; i++) {
        write_labels(s, name, out);
        wr_buf_printf(out, ",kind=\"%s\"} %llu\n", kinds[i],
                      (unsigned long long)read_counter(&s->tokens[i]));
    }
}

void wr_shares_write(const struct wr_shares *shares, struct wr_buf *out)
{
    static const struct {
        const char *name, *help;
        write_fn *write;
    } series[] = {
        {"traffic_requests_total", "requests to models, by who asked whom", write_share_requests},
        {"traffic_failed_total", "of those, that had an error for an answer, or none",
         write_failed},
        {"traffic_tokens_total",
         "tokens as providers reported them; input holds the cached ones as the API counts them",
         write_tokens},
        {"traffic_cost_usd_total", "what their usage costs, cached tokens at cache prices",
         write_cost},
        {"traffic_unpriced_total", "answers of models that have no price: they are in no cost",
         write_unpriced},
    };
    for (size_t i = 0; i < WR_COUNT_OF(series); i++) {
        wr_buf_printf(out, "# HELP weir_%s %s\n# TYPE weir_%s counter\n", series[i].name,
                      series[i].help, series[i].name);
        for (size_t at = 0; at < WR_PROXY_SHARES_MAX; at++)
            if (atomic_load_explicit(&shares->items[at].state, memory_order_acquire) == READY)
                series[i].write(&shares->items[at], series[i].name, out);
    }
}

/* ---- upstreams ---- */

/* NULL: all places are taken, by names that are no longer configured. */
static struct wr_upstream_state *state_of(struct wr_upstream_states *states, const char *name)
{
    uint64_t hash = wr_hash64(wr_span_of(name)) | 1;

    for (size_t i = 0; i < WR_COUNT_OF(states->items); i++) {
        uint64_t expected = 0;
        if (atomic_load(&states->items[i].name) == hash ||
            atomic_compare_exchange_strong(&states->items[i].name, &expected, hash) ||
            expected == hash)
            return &states->items[i];
    }
    return NULL;
}

void wr_upstream_state_note(struct wr_upstream_states *states, const char *name, bool is_reached,
                            int64_t now_ms)
{
    struct wr_upstream_state *state = state_of(states, name);

    if (state && is_reached)
        atomic_store(&state->failures, 0);
    else if (state && !atomic_fetch_add(&state->failures, 1))
        atomic_store(&state->since_ms, now_ms);
}

static const struct wr_upstream_state *find_state(const struct wr_upstream_states *states,
                                                  const char *name)
{
    uint64_t hash = wr_hash64(wr_span_of(name)) | 1;

    for (size_t i = 0; i < WR_COUNT_OF(states->items); i++)
        if (atomic_load(&states->items[i].name) == hash)
            return &states->items[i];
    return NULL;
}

bool wr_upstream_is_down(const struct wr_upstream_states *states, const char *name,
                         int64_t *since_ms)
{
    const struct wr_upstream_state *state = find_state(states, name);

    *since_ms = state ? atomic_load(&state->since_ms) : 0;
    return state && atomic_load(&state->failures) >= WR_UPSTREAM_TRIES_MIN;
}

bool wr_upstream_is_known(const struct wr_upstream_states *states, const char *name)
{
    return find_state(states, name) != NULL;
}

static const uint64_t bucket_us[WR_METRICS_BUCKETS] = {
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 1000000, 10000000, 60000000};

struct wr_metrics *wr_metrics_new(void)
{
    void *memory = mmap(NULL, sizeof(struct wr_metrics), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void count_time(struct wr_histogram *histogram, uint64_t us)
{
    size_t i = 0;
    while (i < WR_METRICS_BUCKETS && us > bucket_us[i])
        i++;
    count_up(&histogram->buckets[i], 1);
    count_up(&histogram->sum_us, us);
}

static void count_projection(struct wr_metrics *m, const struct wr_record *r)
{
    count_up(&m->deadline_hard,
             wr_span_is(r->not_read, WR_DEADLINE_HARD) || r->deed == WR_DEED_LATE);
    count_up(r->deed == WR_DEED_PASSED ? &m->requests_unread : &m->requests_read, 1);
    if (r->deed == WR_DEED_SHADOWED) {
        count_up(&m->shadow_tokens_before, r->tokens_before);
        count_up(&m->shadow_tokens_after, r->tokens_after);
        count_up(&m->shadow_changed, r->is_changed);
    } else if (r->deed >= WR_DEED_PROJECTED) {
        count_up(&m->tokens_before, r->tokens_before);
        count_up(&m->tokens_after, r->tokens_after);
        count_up(&m->requests_changed, r->is_changed);
        count_up(&m->requests_held_back, r->held_back.ptr != NULL);
        count_up(&m->steps, r->is_step);
    }
}

static void count_busts(struct wr_metrics *m, const struct wr_record *r)
{
    count_up(&m->cache_judged, r->cache_expected_tokens > 0);
    count_up(&m->cache_expected_tokens, r->cache_expected_tokens);
    if (!r->is_bust)
        return;
    count_up(&m->busts[r->bust], 1);
    count_up(&m->bust_tokens[r->bust], r->cache_lost_tokens);
}

static void count_usage(struct wr_metrics *m, const struct wr_seen_usage *usage)
{
    const struct {
        _Atomic uint64_t *counter;
        int64_t tokens;
    } fields[] = {{&m->usage_input_tokens, usage->input_tokens},
                  {&m->usage_output_tokens, usage->output_tokens},
                  {&m->usage_cache_read_tokens, usage->cache_read_tokens},
                  {&m->usage_cache_write_tokens, usage->cache_write_tokens}};

    if (!wr_seen_usage_is_known(usage))
        count_up(&m->usage_unknown, 1);
    for (size_t i = 0; i < WR_COUNT_OF(fields); i++)
        if (fields[i].tokens > 0)
            count_up(fields[i].counter, (uint64_t)fields[i].tokens);
}

void wr_metrics_count(struct wr_metrics *m, const struct wr_record *r)
{
    size_t class_ = r->status >= 100 && r->status < 600 ? (size_t)r->status / 100 : 0;

    count_up(&m->requests[r->api ? r->api->dialect + 1 : 0][class_], 1);
    count_up(&m->request_bytes, r->received_bytes);
    count_up(&m->sent_bytes, r->sent_bytes);
    count_up(&m->answer_bytes, r->answer_bytes);
    count_up(&m->own_recalls, r->own_recalls);
    count_up(&m->own_recall_misses, r->own_misses);
    count_up(&m->failed_edits, r->quality.failed_edits);
    count_up(&m->blind_edits, r->quality.blind_edits);
    count_up(&m->own_legs, r->leg > 0);
    count_up(&m->retries, r->retries_count);
    count_up(&m->clients_gone, wr_span_is(r->end, "client_gone"));
    count_up(&m->upstream_moves, r->left_place.len > 0);
    count_up(&m->upstream_failures, wr_span_starts(r->end, WR_LIT("upstream")));
    if (r->is_collected) {
        count_projection(m, r);
        count_busts(m, r);
        count_time(&m->added, r->added_us);
    }
    if (r->asks_model)
        wr_shares_count(&m->shares, r);
    if (r->asks_model && class_ == 2)
        count_usage(m, &r->usage);
    if (r->first_byte_us)
        count_time(&m->first_byte, r->first_byte_us);
    count_time(&m->total, r->total_us);
}

static const char *const mcp_tools[WR_METRICS_TOOLS] = {"weir_recall", "weir_context",
                                                        "weir_steer"};
static const char *const mcp_results[WR_METRICS_RESULTS] = {"done", "missed", "refused"};

static size_t index_of(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

void wr_metrics_count_mcp(struct wr_metrics *m, const struct wr_mcp_answer *answer)
{
    size_t tool = answer->tool ? index_of(mcp_tools, WR_METRICS_TOOLS, answer->tool)
                               : (size_t)WR_METRICS_TOOLS;
    size_t result = index_of(mcp_results, WR_METRICS_RESULTS, wr_mcp_result_name(answer));

    count_up(&m->mcp_requests, 1);
    if (tool < WR_METRICS_TOOLS && result < WR_METRICS_RESULTS)
        count_up(&m->mcp_calls[tool][result], 1);
    count_up(&m->mcp_misses[answer->miss], answer->miss != WR_MCP_MISS_NONE);
}

/* ---- writing ---- */

static void write_head(struct wr_buf *out, const char *name, const char *kind, const char *help)
{
    wr_buf_printf(out, "# HELP weir_%s %s\n# TYPE weir_%s %s\n", name, help, name, kind);
}

static void write_seconds(struct wr_buf *out, uint64_t us)
{
    wr_buf_printf(out, "%llu.%06llu", (unsigned long long)(us / 1000000),
                  (unsigned long long)(us % 1000000));
}

static void write_histogram(struct wr_buf *out, const struct wr_histogram *histogram,
                            const char *name, const char *help)
{
    uint64_t count = 0;

    write_head(out, name, "histogram", help);
    for (size_t i = 0; i <= WR_METRICS_BUCKETS; i++) {
        count += read_counter(&histogram->buckets[i]);
        wr_buf_printf(out, "weir_%s_bucket{le=\"", name);
        if (i < WR_METRICS_BUCKETS)
            write_seconds(out, bucket_us[i]);
        else
            wr_buf_text(out, "+Inf");
        wr_buf_printf(out, "\"} %llu\n", (unsigned long long)count);
    }
    wr_buf_printf(out, "weir_%s_sum ", name);
    write_seconds(out, read_counter(&histogram->sum_us));
    wr_buf_printf(out, "\nweir_%s_count %llu\n", name, (unsigned long long)count);
}

static void write_requests(struct wr_buf *out, const struct wr_metrics *m)
{
    static const char *const classes[WR_METRICS_CLASSES] = {"none", "1xx", "2xx",
                                                            "3xx",  "4xx", "5xx"};
    write_head(out, "requests_total", "counter", "requests by API and status");
    for (size_t api = 0; api < WR_METRICS_APIS; api++)
        for (size_t i = 0; i < WR_METRICS_CLASSES; i++)
            if (read_counter(&m->requests[api][i]))
                wr_buf_printf(out, "weir_requests_total{api=\"%s\",status=\"%s\"} %llu\n",
                              wr_api_name(api ? wr_apis[api - 1] : NULL), classes[i],
                              (unsigned long long)read_counter(&m->requests[api][i]));
}

static void write_one(struct wr_buf *out, const char *name, const char *key, const char *value,
                      const _Atomic uint64_t *counter)
{
    wr_buf_printf(out, "weir_%s{%s=\"%s\"} %llu\n", name, key, value,
                  (unsigned long long)read_counter(counter));
}

/* All of them, also those that have not happened yet: a rate needs its first 0. */
static void write_busts(struct wr_buf *out, const struct wr_metrics *m)
{
    write_head(out, "cache_busts_total", "counter",
               "answers that read far less from a cache than was expected, by who caused it");
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        write_one(out, "cache_busts_total", "cause", wr_bust_name((enum wr_bust)i), &m->busts[i]);
    write_head(out, "cache_bust_tokens_total", "counter",
               "tokens that were expected to be read from a cache and were not");
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        write_one(out, "cache_bust_tokens_total", "cause", wr_bust_name((enum wr_bust)i),
                  &m->bust_tokens[i]);
}

static void write_mcp(struct wr_buf *out, const struct wr_metrics *m)
{
    write_head(out, "mcp_calls_total", "counter", "calls of tools at /mcp, by tool and result");
    for (size_t tool = 0; tool < WR_METRICS_TOOLS; tool++)
        for (size_t i = 0; i < WR_METRICS_RESULTS; i++)
            wr_buf_printf(out, "weir_mcp_calls_total{tool=\"%s\",result=\"%s\"} %llu\n",
                          mcp_tools[tool], mcp_results[i],
                          (unsigned long long)read_counter(&m->mcp_calls[tool][i]));
    write_head(out, "mcp_misses_total", "counter",
               "recalls at /mcp that brought nothing back, by reason");
    for (int i = WR_MCP_MISS_NONE + 1; i < WR_MCP_MISSES_COUNT; i++)
        write_one(out, "mcp_misses_total", "reason", wr_mcp_miss_name((enum wr_mcp_miss)i),
                  &m->mcp_misses[i]);
}

int64_t wr_metrics_open(const struct wr_metrics *m)
{
    int64_t count = 0;
    for (size_t i = 0; i < WR_METRICS_WORKERS_MAX; i++)
        count += atomic_load_explicit(&m->exchanges[i], memory_order_relaxed);
    return count;
}

void wr_metrics_write(const struct wr_metrics *m, struct wr_buf *out)
{
    write_head(out, "build_info", "gauge", "1; the version is in its label");
    wr_buf_printf(out, "weir_build_info{version=\"%s\"} 1\n", weir_version());
    write_requests(out, m);
#define X(name, help)                                 \
    write_head(out, #name "_total", "counter", help); \
    wr_buf_printf(out, "weir_" #name "_total %llu\n", (unsigned long long)read_counter(&m->name));
    WR_COUNTER_MAP(X)
#undef X
    write_busts(out, m);
    write_mcp(out, m);
    write_head(out, "exchanges", "gauge", "requests that are open now");
    wr_buf_printf(out, "weir_exchanges %lld\n", (long long)wr_metrics_open(m));
    write_head(out, "store_ok", "gauge", "1: originals can be kept; 0: nothing new is shortened");
    wr_buf_printf(out, "weir_store_ok %d\n",
                  wr_store_state_has_store(m) && !wr_store_state_trouble(m));
    wr_shares_write(&m->shares, out);
    write_histogram(out, &m->added, "added_seconds",
                    "from the end of a request's body to its leaving, where it was read");
    write_histogram(out, &m->first_byte, "first_byte_seconds",
                    "from a request's leaving to the first byte of its answer");
    write_histogram(out, &m->total, "total_seconds", "of a whole request");
}
