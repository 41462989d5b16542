/* `weir learn`: what was learnt from sessions that went badly, and forgetting it. */
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/ledger_open.h"
#include "json/write.h"
#include "policy/policy.h"
#include "quality/learning.h"

static const char help[] =
    "usage: weir learn [--json] [--store DIR]\n"
    "       weir learn --reset [BUCKET] [--store DIR]\n"
    "\n"
    "Sessions whose prompts were changed are samples of their bucket: route, model, policy,\n"
    "provider, window, length, task and transform. A bucket of at least two samples, half of them\n"
    "bad, gives new sessions that match it a policy that takes out less. The newest 8 samples "
    "count,\n"
    "and one in four of those sessions is a trial that keeps its policy: once most go well, so do\n"
    "the rest (docs/quality.md). `learning: off` in weir.yaml turns all of it off.\n"
    "\n"
    "  --json         one JSON object\n"
    "  --reset        forgets the samples of BUCKET, named as it is listed; of all without one\n"
    "  --store DIR    the store of `weir serve`; unless told, the user's own\n"
    "\n"
    "example: weir learn --reset 'route=messages model=claude-opus-5 policy=auto'\n";

struct learn_options {
    const char *store;
    bool as_json, resets;
};

struct listing {
    struct wr_buf out;
    struct wr_json_writer json;
    bool as_json;
    size_t count;
};

static void put_json(struct wr_json_writer *w, const struct wr_bucket *bucket)
{
    wr_json_write_newline(w);
    wr_json_write_object(w);
    wr_json_write_key(w, "bucket");
    wr_json_write_text(w, bucket->name);
#define X(dimension)                  \
    wr_json_write_key(w, #dimension); \
    wr_json_write_text(w, wr_bucket_value(bucket->name, #dimension));
    WR_DIMENSION_MAP(X)
#undef X
    wr_json_write_key(w, "samples");
    wr_json_write_i64(w, (int64_t)bucket->samples_count);
    wr_json_write_key(w, "bad");
    wr_json_write_i64(w, (int64_t)bucket->bad_count);
    wr_json_write_key(w, "is_bad");
    wr_json_write_bool(w, wr_bucket_is_bad(bucket));
    wr_json_write_key(w, "policy_instead");
    const char *tighter = wr_policy_tighter(wr_bucket_value(bucket->name, "policy"));
    if (wr_bucket_is_bad(bucket) && tighter)
        wr_json_write_text(w, wr_span_of(tighter));
    else
        wr_json_write_null(w);
    wr_json_write_object_end(w);
}

static void put_line(struct wr_buf *out, const struct wr_bucket *bucket)
{
    const char *tighter = wr_policy_tighter(wr_bucket_value(bucket->name, "policy"));

    wr_buf_printf(out, "%7s  %5s  %-10s  ", wr_cli_number(bucket->samples_count),
                  wr_cli_number(bucket->bad_count),
                  wr_bucket_is_bad(bucket) && tighter ? tighter : "-");
    wr_cli_excerpt(out, bucket->name, WR_QUALITY_BUCKET_BYTES_MAX);
    wr_buf_byte(out, '\n');
}

static weir_status on_bucket(void *user, weir_span name, uint64_t samples, uint64_t bad)
{
    struct listing *l = user;
    struct wr_bucket bucket = {name, samples, bad};

    if (!l->as_json && !l->count)
        wr_buf_printf(&l->out, "%7s  %5s  %-10s  %s\n", "samples", "bad", "instead", "bucket");
    l->count++;
    if (l->as_json)
        put_json(&l->json, &bucket);
    else
        put_line(&l->out, &bucket);
    return wr_buf_status(&l->out);
}

static int list(struct wr_ledger *ledger, bool as_json)
{
    struct listing l = {.as_json = as_json};
    struct weir_err err = {0};
    int code = WR_EXIT_OK;

    wr_buf_init(&l.out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&l.json, &l.out);
    if (as_json) {
        wr_json_write_object(&l.json);
        wr_json_write_key(&l.json, "buckets");
        wr_json_write_array(&l.json);
    }
    weir_status status =
        wr_ledger_buckets(ledger, WR_LIT(""), WR_LEARNING_WINDOW, on_bucket, &l, &err);
    if (as_json) {
        wr_json_write_array_end(&l.json);
        wr_json_write_object_end(&l.json);
        wr_buf_byte(&l.out, '\n');
    } else if (!l.count) {
        wr_buf_text(&l.out, "nothing was learnt yet\n");
    }
    if (status || wr_buf_status(&l.out))
        code = wr_cli_fail("learn", "%s", err.text[0] ? err.text : weir_status_text(status));
    else if (!wr_cli_write("learn", wr_buf_view(&l.out)))
        code = WR_EXIT_USAGE;
    wr_buf_release(&l.out);
    return code;
}

struct search {
    weir_span name;
    bool is_found;
    size_t count;
};

static weir_status find(void *user, weir_span name, uint64_t samples, uint64_t bad)
{
    struct search *search = user;
    (void)samples;
    (void)bad;
    search->count++;
    search->is_found |= wr_span_eq(search->name, name);
    return WEIR_OK;
}

static int reset(struct wr_ledger *ledger, const char *bucket)
{
    struct search search = {.name = wr_span_of(bucket), .is_found = !bucket[0]};
    struct weir_err err = {0};

    weir_status status =
        wr_ledger_buckets(ledger, WR_LIT(""), WR_LEARNING_WINDOW, find, &search, &err);
    if (!status && !search.is_found)
        return wr_cli_fail("learn", "there is no bucket '%s'; `weir learn` lists them", bucket);
    if (!status)
        status = wr_ledger_forget(ledger, search.name, &err);
    if (status)
        return wr_cli_fail("learn", "%s", err.text);
    if (bucket[0])
        printf("forgotten: %s\n", bucket);
    else
        printf("all %zu buckets are forgotten\n", search.count);
    return WR_EXIT_OK;
}

int wr_cmd_learn(int argc, char **argv)
{
    struct learn_options o = {.as_json = false};
    const struct wr_opt options[] = {{"store", WR_OPT_TEXT, &o.store},
                                     {"reset", WR_OPT_FLAG, &o.resets},
                                     {"json", WR_OPT_FLAG, &o.as_json}};
    struct wr_opt_list rest = {.count = 0};
    bool done;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &rest,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (rest.count > (o.resets ? 1 : 0))
        return wr_cli_fail("learn", "'%s' is too much; a bucket goes with --reset, in quotes",
                           rest.items[rest.count - 1]);
    struct wr_ledger *ledger = wr_cli_ledger("learn", o.store);
    if (!ledger)
        return WR_EXIT_USAGE;
    int code = o.resets ? reset(ledger, rest.count ? rest.items[0] : "") : list(ledger, o.as_json);
    wr_ledger_close(ledger);
    return code;
}
