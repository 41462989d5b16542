/* `weir learn`: what was learnt from sessions that went badly, and forgetting it. */
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"
#include "policy/policy.h"
#include "quality/learning.h"

struct learn_options {
    const char *store;
    bool as_json, resets;
};

#define VALUES struct learn_options

static const struct wr_option options[] = {
    {"json", WR_FLAG(as_json), "one JSON object"},
    {"reset", WR_FLAG(resets),
     "forgets the samples of BUCKET, named as it is listed; of all without one"},
    WR_ROW_STORE(store),
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
    wr_json_member_text(w, "bucket", bucket->name);
#define X(dimension) wr_json_member_text(w, #dimension, wr_bucket_value(bucket->name, #dimension));
    WR_DIMENSION_MAP(X)
#undef X
    wr_json_member_i64(w, "samples", (int64_t)bucket->samples_count);
    wr_json_member_i64(w, "bad", (int64_t)bucket->bad_count);
    wr_json_member_bool(w, "is_bad", wr_bucket_is_bad(bucket));
    wr_json_member_word(w, "policy_instead",
                        wr_bucket_is_bad(bucket)
                            ? wr_policy_tighter(wr_bucket_value(bucket->name, "policy"))
                            : NULL);
    if (wr_bucket_is_blind(bucket->name))
        wr_json_member_i64(w, "blind_odds_percent", (int64_t)wr_blind_odds_pct(bucket));
    wr_json_write_object_end(w);
}

static void put_line(struct wr_buf *out, const struct wr_bucket *bucket)
{
    const char *tighter = wr_policy_tighter(wr_bucket_value(bucket->name, "policy"));
    char odds[16];

    (void)snprintf(odds, sizeof(odds), "odds %u%%", wr_blind_odds_pct(bucket));
    if (wr_bucket_is_blind(bucket->name))
        tighter = odds;
    else if (!wr_bucket_is_bad(bucket) || !tighter)
        tighter = "-";
    wr_buf_printf(out, "%7s  %5s  %-10s  ", WR_GROUPED(bucket->samples_count),
                  WR_GROUPED(bucket->bad_count), tighter);
    wr_text_excerpt(out, bucket->name, WR_QUALITY_BUCKET_BYTES_MAX);
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

static int list_buckets(struct wr_ledger *ledger, bool as_json)
{
    struct listing l = {.as_json = as_json};
    struct weir_err err = {0};

    wr_buf_init(&l.out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&l.json, &l.out);
    if (as_json) {
        wr_json_write_object(&l.json);
        wr_json_member_array(&l.json, "buckets");
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
    if (!status)
        return as_json ? wr_cli_end(&l.out, WR_EXIT_OK) : wr_cli_end_fitted(&l.out, WR_EXIT_OK);
    wr_buf_release(&l.out);
    return wr_cli_fail_status(status, &err);
}

struct search {
    weir_span name;
    bool is_found;
    size_t count;
};

static weir_status find_bucket(void *user, weir_span name, uint64_t samples, uint64_t bad)
{
    struct search *search = user;
    (void)samples;
    (void)bad;
    search->count++;
    search->is_found |= wr_span_eq(search->name, name);
    return WEIR_OK;
}

static int reset_bucket(struct wr_ledger *ledger, const char *bucket)
{
    struct search search = {.name = wr_span_of(bucket), .is_found = !bucket[0]};
    struct weir_err err = {0};

    weir_status status =
        wr_ledger_buckets(ledger, WR_LIT(""), WR_LEARNING_WINDOW, find_bucket, &search, &err);
    if (!status && !search.is_found)
        return wr_cli_fail("there is no bucket '%s'; `weir learn` lists them", bucket);
    if (!status)
        status = wr_ledger_forget(ledger, search.name, &err);
    if (status)
        return wr_cli_fail("%s", err.text);
    if (bucket[0])
        printf("forgotten: %s\n", bucket);
    else
        printf("all %zu buckets are forgotten\n", search.count);
    return WR_EXIT_OK;
}

static int run_learn(void *values, const struct wr_words *words)
{
    const struct learn_options *o = values;

    if (words->count && !o->resets)
        return wr_cli_fail("'%s' is too much; a bucket goes with --reset, in quotes",
                           words->items[0]);
    struct wr_ledger *ledger = wr_cli_ledger(o->store);
    if (!ledger)
        return WR_EXIT_USAGE;
    int code = o->resets ? reset_bucket(ledger, words->count ? words->items[0] : "")
                         : list_buckets(ledger, o->as_json);
    wr_ledger_close(ledger);
    return code;
}

const struct wr_command wr_cmd_learn = {
    .name = "learn",
    .purpose = "what was learnt from sessions that went badly; forgets it",
    .usage = "[--json] [--store DIR]\n--reset [BUCKET] [--store DIR]",
    .about =
        "Sessions whose prompts were changed are samples of their bucket: route, model, "
        "policy, provider, window, length, task and transform. A bucket of at least two "
        "samples, half of them bad, gives new sessions that match it a policy that takes out "
        "less. The newest 8 samples count, and one in four of those sessions is a trial that "
        "keeps its policy: once most go well, so do the rest. Edits of what a model could not "
        "see raise the odds of the next one, in the buckets \"odds=blind\", and so keep more of "
        "the files that are read (docs/quality.md). `learning: off` in weir.yaml turns all of it "
        "off.",
    WR_OPTIONS(options),
    .words_max = 1,
    .example = "weir learn\nweir learn --reset 'route=messages model=claude-opus-5 policy=auto'",
    .run = run_learn,
};
