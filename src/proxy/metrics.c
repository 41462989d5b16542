#include "proxy/metrics.h"

#include <sys/mman.h>

#include "base/span.h"
#include "proxy/mcp_record.h"
#include "proxy/store_state.h"

static const uint64_t bucket_us[WR_METRICS_BUCKETS] = {
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 100000, 1000000, 10000000, 60000000};

struct wr_metrics *wr_metrics_new(void)
{
    void *memory = mmap(NULL, sizeof(struct wr_metrics), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void add(_Atomic uint64_t *counter, uint64_t number)
{
    atomic_fetch_add_explicit(counter, number, memory_order_relaxed);
}

static void observe(struct wr_histogram *histogram, uint64_t us)
{
    size_t i = 0;
    while (i < WR_METRICS_BUCKETS && us > bucket_us[i])
        i++;
    add(&histogram->buckets[i], 1);
    add(&histogram->sum_us, us);
}

static bool is_late(const char *reason)
{
    return reason && !strcmp(reason, WR_DEADLINE_HARD);
}

static void count_job(struct wr_metrics *m, const struct wr_task *job)
{
    add(&m->deadline_hard, is_late(job->why) || is_late(job->held_back));
    if (!job->is_read) {
        add(&m->requests_unread, 1);
        return;
    }
    add(&m->requests_read, 1);
    if (job->decision.action == WR_ACTION_SHADOW) {
        add(&m->shadow_tokens_before, job->tokens_before);
        add(&m->shadow_tokens_after, job->tokens_after);
        add(&m->shadow_changed, job->would_change);
    } else if (job->decision.action == WR_ACTION_PROJECT) {
        add(&m->tokens_before, job->tokens_before);
        add(&m->tokens_after, job->tokens_after);
        add(&m->requests_changed, job->is_changed);
        add(&m->requests_held_back, job->held_back != NULL);
        add(&m->steps, job->is_step);
    }
}

static void count_busts(struct wr_metrics *m, const struct wr_watch_note *note)
{
    add(&m->cache_judged, note->bust.expected_tokens > 0);
    add(&m->cache_expected_tokens, note->bust.expected_tokens);
    if (!note->bust.lost_tokens)
        return;
    add(&m->busts[note->check.cause], 1);
    add(&m->bust_tokens[note->check.cause], note->bust.lost_tokens);
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
        add(&m->usage_unknown, 1);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (fields[i].tokens > 0)
            add(fields[i].counter, (uint64_t)fields[i].tokens);
}

void wr_metrics_count(struct wr_metrics *m, const struct wr_record *r)
{
    size_t class_ = r->status >= 100 && r->status < 600 ? (size_t)r->status / 100 : 0;

    add(&m->requests[r->api][class_], 1);
    add(&m->request_bytes, r->request_bytes);
    add(&m->sent_bytes, r->sent_bytes);
    add(&m->answer_bytes, r->answer_bytes);
    add(&m->retries, r->retries_count);
    add(&m->clients_gone, !strcmp(r->end, "client_gone"));
    add(&m->upstream_failures, !strncmp(r->end, "upstream", strlen("upstream")));
    if (r->job) {
        count_job(m, r->job);
        count_busts(m, &r->job->note);
    }
    if (r->tap && r->tap->kind != WR_TAP_OFF && class_ == 2)
        count_usage(m, &r->tap->usage);
    if (r->job)
        observe(&m->added, r->added_us);
    if (r->first_byte_us)
        observe(&m->first_byte, r->first_byte_us);
    observe(&m->total, r->total_us);
}

static const char *const mcp_tools[WR_METRICS_TOOLS] = {"weir_recall", "weir_context"};
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

    add(&m->mcp_requests, 1);
    if (tool < WR_METRICS_TOOLS && result < WR_METRICS_RESULTS)
        add(&m->mcp_calls[tool][result], 1);
    add(&m->mcp_misses[answer->miss], answer->miss != WR_MCP_MISS_NONE);
}

/* ---- writing ---- */

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

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
        count += load(&histogram->buckets[i]);
        wr_buf_printf(out, "weir_%s_bucket{le=\"", name);
        if (i < WR_METRICS_BUCKETS)
            write_seconds(out, bucket_us[i]);
        else
            wr_buf_text(out, "+Inf");
        wr_buf_printf(out, "\"} %llu\n", (unsigned long long)count);
    }
    wr_buf_printf(out, "weir_%s_sum ", name);
    write_seconds(out, load(&histogram->sum_us));
    wr_buf_printf(out, "\nweir_%s_count %llu\n", name, (unsigned long long)count);
}

static void write_requests(struct wr_buf *out, const struct wr_metrics *m)
{
    static const char *const classes[WR_METRICS_CLASSES] = {"none", "1xx", "2xx",
                                                            "3xx",  "4xx", "5xx"};
    write_head(out, "requests_total", "counter", "requests by API and status");
    for (size_t api = 0; api < WR_METRICS_APIS; api++)
        for (size_t i = 0; i < WR_METRICS_CLASSES; i++)
            if (load(&m->requests[api][i]))
                wr_buf_printf(out, "weir_requests_total{api=\"%s\",status=\"%s\"} %llu\n",
                              wr_api_name((enum wr_api)api), classes[i],
                              (unsigned long long)load(&m->requests[api][i]));
}

static void write_one(struct wr_buf *out, const char *name, const char *key, const char *value,
                      const _Atomic uint64_t *counter)
{
    wr_buf_printf(out, "weir_%s{%s=\"%s\"} %llu\n", name, key, value,
                  (unsigned long long)load(counter));
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
                          (unsigned long long)load(&m->mcp_calls[tool][i]));
    write_head(out, "mcp_misses_total", "counter",
               "recalls at /mcp that brought nothing back, by reason");
    for (int i = WR_MCP_MISS_NONE + 1; i < WR_MCP_MISSES_COUNT; i++)
        write_one(out, "mcp_misses_total", "reason", wr_mcp_miss_name((enum wr_mcp_miss)i),
                  &m->mcp_misses[i]);
}

static int64_t count_open(const struct wr_metrics *m)
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
    wr_buf_printf(out, "weir_" #name "_total %llu\n", (unsigned long long)load(&m->name));
    WR_COUNTER_MAP(X)
#undef X
    write_busts(out, m);
    write_mcp(out, m);
    write_head(out, "exchanges", "gauge", "requests that are open now");
    wr_buf_printf(out, "weir_exchanges %lld\n", (long long)count_open(m));
    write_head(out, "store_ok", "gauge", "1: originals can be kept; 0: nothing new is shortened");
    wr_buf_printf(out, "weir_store_ok %d\n",
                  wr_store_state_has_store(m) && !wr_store_state_trouble(m));
    write_histogram(out, &m->added, "added_seconds",
                    "from the end of a request's body to its leaving, where it was read");
    write_histogram(out, &m->first_byte, "first_byte_seconds",
                    "from a request's leaving to the first byte of its answer");
    write_histogram(out, &m->total, "total_seconds", "of a whole request");
}
