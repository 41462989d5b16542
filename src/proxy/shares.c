/* shares.c -- traffic by user, team, model, upstream and agent.
 *
 * A place is found by a hash of its names. Who finds a free one takes it by writing 1 into its
 * state, then the names, then 2. Another process that comes in between waits a little: should the
 * first have died there, it counts under "other", for two places of the same names would be two
 * series of the same labels, which Prometheus refuses.
 */
#include "proxy/shares.h"

#include <sched.h>
#include <string.h>

#include "base/hash.h"
#include "base/span.h"

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

/* ---- writing ---- */

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

static void write_requests(const struct wr_share *s, const char *name, struct wr_buf *out)
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
        {"traffic_requests_total", "requests to models, by who asked whom", write_requests},
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
