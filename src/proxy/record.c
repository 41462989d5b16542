#include "proxy/record.h"

#include "base/span.h"
#include "json/write.h"
#include "models/calibrate.h"
#include "models/overflow.h"
#include "net/host.h"
#include "proxy/door.h"
#include "proxy/ledger_writer.h"

static void put_text(struct wr_json_writer *w, const char *key, const char *text)
{
    wr_json_write_key(w, key);
    if (text)
        wr_json_write_text(w, wr_span_of(text));
    else
        wr_json_write_null(w);
}

static void put_span(struct wr_json_writer *w, const char *key, weir_span text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, text);
}

static void put_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)number);
}

static void put_bool(struct wr_json_writer *w, const char *key, bool value)
{
    wr_json_write_key(w, key);
    wr_json_write_bool(w, value);
}

static uint64_t percent_of(uint64_t part, uint64_t whole)
{
    return whole ? part * 100 / whole : 100;
}

static void put_rollout(struct wr_json_writer *w, const struct wr_decision *d)
{
    put_text(w, "rollout_mode", wr_mode_name(d->mode));
    put_text(w, "rollout_reason", d->reason);
    if (d->mode == WR_MODE_CANARY || d->mode == WR_MODE_HOLDOUT) {
        put_number(w, "rollout_canary_bucket", d->bucket);
        put_number(w, "rollout_canary_percent", d->percent);
    }
}

/* Shadow figures have names of their own, so that nobody adds them to real ones. */
static void put_shadow(struct wr_json_writer *w, const struct wr_task *job)
{
    put_bool(w, "shadow_changed", job->would_change);
    put_number(w, "shadow_estimated_tokens_after", job->tokens_after);
    put_text(w, "shadow_held_back", job->held_back);
    put_bool(w, "shadow_step", job->is_step);
    put_text(w, "shadow_step_reason", job->step_reason);
}

static void put_projected(struct wr_json_writer *w, const struct wr_task *job)
{
    put_number(w, "estimated_tokens_after", job->tokens_after);
    put_bool(w, "changed", job->is_changed);
    put_bool(w, "step", job->is_step);
    put_text(w, "step_reason", job->step_reason);
    put_text(w, "held_back", job->held_back);
    put_bool(w, "pending", job->is_pending);
}

static void put_job(struct wr_json_writer *w, const struct wr_task *job)
{
    put_span(w, "session", wr_session_span(&job->session));
    put_text(w, "model", job->model);
    put_number(w, "project_us", job->took_us);
    put_text(w, "not_read", job->why);
    if (job->decision.reason)
        put_rollout(w, &job->decision);
    if (!job->is_read)
        return;
    put_number(w, "estimated_tokens_before", job->tokens_before);
    if (wr_decision_is_shadow(&job->decision))
        put_shadow(w, job);
    else
        put_projected(w, job);
}

static void put_sizes(struct wr_json_writer *w, const struct wr_record *r)
{
    uint64_t before = r->job && r->job->decoded_bytes ? r->job->decoded_bytes : r->request_bytes;

    put_number(w, "body_bytes_received", r->request_bytes);
    put_number(w, "body_bytes_before", before);
    put_number(w, "body_bytes_after", r->sent_bytes);
    put_number(w, "body_bytes_saved", before > r->sent_bytes ? before - r->sent_bytes : 0);
    put_number(w, "rewrite_ratio_percent", percent_of(r->sent_bytes, before));
    put_number(w, "answer_bytes", r->answer_bytes);
}

static void put_tap(struct wr_json_writer *w, const struct wr_tap *tap)
{
    bool has_begun = tap->arena; /* else nothing has set the usage, not even to unknown */

    put_bool(w, "usage_known", has_begun && wr_seen_usage_is_known(&tap->usage));
#define X(name)                                \
    if (has_begun && tap->usage.name >= 0) {   \
        wr_json_write_key(w, "usage_" #name);  \
        wr_json_write_i64(w, tap->usage.name); \
    }
    WR_USAGE_MAP(X)
#undef X
    put_number(w, "answer_events", tap->events_count);
    put_number(w, "answer_calls", tap->calls.count);
    put_bool(w, "answer_finished", tap->is_finished);
    if (tap->model[0])
        put_text(w, "answer_model", tap->model);
    if (tap->has_error)
        put_text(w, "answer_error", tap->error);
    if (tap->finish[0])
        put_text(w, "answer_finish", tap->finish);
    if (tap->miss[0])
        put_text(w, "cache_miss_reason", tap->miss);
}

static uint64_t known_tokens(int64_t tokens)
{
    return tokens > 0 ? (uint64_t)tokens : 0;
}

/* Servers near by, Ollama before all, cut a prompt that is longer than what they have loaded, say
 * nothing of it and report the rest; some report only what they had not seen before. Such a count
 * is of less than was sent, and learnt from it would make us send more. Where their tokenizer does
 * count a tenth below ours nothing is learnt, and we go on counting too much, which is the safe
 * side. */
static bool is_cut_count(const struct wr_task *job, const struct wr_prompt_count *count)
{
    uint64_t loaded_tokens = job->loaded_tokens, theirs_tokens = count->theirs_tokens;
    struct wr_host host;

    if (!job->base_url || !wr_host_of_url(wr_span_of(job->base_url), &host) ||
        !wr_host_is_private(host.name))
        return false;
    return theirs_tokens * 100 < count->ours_tokens * WR_NEAR_COUNT_PCT_MIN ||
           (loaded_tokens && theirs_tokens * 100 >= loaded_tokens * WR_NEAR_LOADED_PCT_MAX);
}

bool wr_record_counts(const struct wr_record *r, struct wr_prompt_count *count)
{
    const struct wr_task *job = r->job;

    if (!job || !job->is_read || job->is_delta || !r->tap || !r->tap->arena || r->status != 200 ||
        r->tap->usage.input_tokens < 0)
        return false;
    const struct wr_seen_usage *usage = &r->tap->usage;
    count->ours_tokens =
        job->decision.action == WR_ACTION_PROJECT ? job->tokens_after : job->tokens_before;
    count->theirs_tokens = known_tokens(usage->input_tokens);
    if (r->api == WR_API_MESSAGES) /* which counts the cached part beside it */
        count->theirs_tokens +=
            known_tokens(usage->cache_read_tokens) + known_tokens(usage->cache_write_tokens);
    count->is_believed =
        wr_counts_agree(count->ours_tokens, count->theirs_tokens) && !is_cut_count(job, count);
    return count->ours_tokens && count->theirs_tokens;
}

/* How the provider counted the prompt. A number that is not believed is told, and not used. */
static void put_counts(struct wr_json_writer *w, const struct wr_record *r)
{
    struct wr_prompt_count count;

    if (!wr_record_counts(r, &count))
        return;
    put_number(w, "provider_count_ratio_bp", count.theirs_tokens * 10000 / count.ours_tokens);
    if (count.ours_tokens >= WR_CALIBRATION_TOKENS_MIN)
        put_bool(w, "provider_count_used", count.is_believed);
}

void wr_record_write(const struct wr_record *r, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    put_number(&w, "time_ms", (uint64_t)r->started_ms);
    put_number(&w, "request", r->number);
    put_text(&w, "api", wr_api_name(r->api));
    put_text(&w, "upstream", r->upstream);
    put_text(&w, "path", r->path);
    put_span(&w, "tenant", r->tenant);
    put_text(&w, "agent", r->agent);
    if (r->run.len)
        put_span(&w, "run", r->run);
    put_number(&w, "status", (uint64_t)r->status);
    put_text(&w, "end", r->end);
    put_sizes(&w, r);
    put_number(&w, "added_us", r->added_us);
    put_number(&w, "first_byte_us", r->first_byte_us);
    put_number(&w, "total_us", r->total_us);
    put_number(&w, "retries", r->retries_count);
    if (r->retry_reason)
        put_text(&w, "retry_reason", r->retry_reason);
    if (r->job)
        put_job(&w, r->job);
    if (r->tap && r->api != WR_API_NONE)
        put_tap(&w, r->tap);
    put_counts(&w, r);
    if (r->job)
        wr_watch_write(&r->job->note, &w);
    wr_json_write_object_end(&w);
    if (r->job && r->job->facts.len && !r->job->is_unsent && !wr_buf_status(out)) {
        out->len--; /* the brace: the engine's figures go before it */
        wr_buf_append(out, wr_buf_view(&r->job->facts));
        wr_buf_byte(out, '}');
    }
    wr_buf_byte(out, '\n');
}

void wr_record_keep(const struct wr_record *r, weir_span line, struct wr_ledger_writer *writer)
{
    char run[sizeof("run:") + WR_RUN_DIGITS];
    struct wr_ledger_row row = {.time_ms = r->started_ms,
                                .tenant = r->tenant,
                                .agent = wr_span_of(r->agent),
                                .line = wr_span_cut(line, 0, line.len - 1)};
    if (r->job) {
        row.session = wr_session_span(&r->job->session);
        row.model = wr_span_of(r->job->model);
    } else {
        row.model = wr_span_of(r->tap->model); /* as the answer says it */
        (void)snprintf(run, sizeof(run), "run:%.*s", (int)r->run.len, r->run.ptr);
        row.session = r->run.len ? wr_span_of(run) : row.session;
    }
    if (r->job && r->job->is_changed && !wr_buf_status(&r->job->report))
        row.report = wr_buf_view(&r->job->report);
    wr_ledger_writer_add(writer, &row);
}
