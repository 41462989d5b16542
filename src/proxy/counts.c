/* How providers count, for each model.
 *
 * The loop adds samples, threads that project ask for the factor and, once their request has left,
 * bring memory and store together. One lock covers all of it: what is done under it is short, but
 * for the store, which has a lock and a handle of its own. */
#include "proxy/counts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "store/ledger.h"

enum { AGAIN_MS = 60 * 1000 }; /* after which the store is read again */

struct known {
    char model[WR_MODEL_NAME_BYTES_MAX + 1];
    uint32_t accepted_tokens;
    int64_t read_ms; /* 0: never */
    bool is_dirty;   /* something was learnt that the store does not have */
};

struct wr_counts {
    pthread_mutex_t lock, store_lock;
    const char *store_dir;
    struct wr_ledger *ledger; /* NULL: not open yet; under store_lock */
    struct wr_calibration calibration;
    struct known known[WR_CALIBRATION_MODELS_MAX];
    uint32_t known_count, oldest;
};

struct wr_counts *wr_counts_new(const char *store_dir)
{
    struct wr_counts *counts = calloc(1, sizeof(*counts));

    if (!counts)
        return NULL;
    counts->store_dir = store_dir;
    wr_calibration_init(&counts->calibration);
    if (pthread_mutex_init(&counts->lock, NULL)) {
        free(counts);
        return NULL;
    }
    if (pthread_mutex_init(&counts->store_lock, NULL)) {
        (void)pthread_mutex_destroy(&counts->lock);
        free(counts);
        return NULL;
    }
    return counts;
}

void wr_counts_free(struct wr_counts *counts)
{
    if (!counts)
        return;
    wr_ledger_close(counts->ledger);
    (void)pthread_mutex_destroy(&counts->store_lock);
    (void)pthread_mutex_destroy(&counts->lock);
    free(counts);
}

static struct known *find_known(struct wr_counts *counts, const char *model)
{
    for (uint32_t i = 0; i < counts->known_count; i++)
        if (!strcmp(counts->known[i].model, model))
            return &counts->known[i];
    return NULL;
}

/* A full table forgets its oldest; the store still knows it. */
static struct known *need_known(struct wr_counts *counts, const char *model)
{
    struct known *known = find_known(counts, model);

    if (known)
        return known;
    known = counts->known_count < WR_CALIBRATION_MODELS_MAX
                ? &counts->known[counts->known_count++]
                : &counts->known[counts->oldest++ % WR_CALIBRATION_MODELS_MAX];
    *known = (struct known){.read_ms = 0};
    (void)snprintf(known->model, sizeof(known->model), "%s", model);
    return known;
}

struct wr_known_count wr_counts_find(struct wr_counts *counts, const char *model)
{
    struct wr_known_count count = {0};
    uint32_t samples;

    if (!counts)
        return count;
    (void)pthread_mutex_lock(&counts->lock);
    uint32_t factor_bp =
        wr_calibration_factor_bp(&counts->calibration, wr_span_of(model), &samples);
    const struct known *known = find_known(counts, model);
    if (samples >= WR_CALIBRATION_SAMPLES_MIN)
        count.factor_bp = factor_bp;
    if (known)
        count.accepted_tokens = known->accepted_tokens;
    (void)pthread_mutex_unlock(&counts->lock);
    return count;
}

bool wr_counts_add(struct wr_counts *counts, const char *model, uint64_t ours_tokens,
                   uint64_t theirs_tokens)
{
    if (!counts || !model[0] || strlen(model) > WR_MODEL_NAME_BYTES_MAX || !theirs_tokens)
        return false;
    (void)pthread_mutex_lock(&counts->lock);
    bool is_taken =
        wr_calibration_add(&counts->calibration, wr_span_of(model), ours_tokens, theirs_tokens);
    if (is_taken)
        need_known(counts, model)->is_dirty = true;
    (void)pthread_mutex_unlock(&counts->lock);
    return is_taken;
}

void wr_counts_take(struct wr_counts *counts, const struct wr_record *record)
{
    uint64_t ours_tokens, theirs_tokens;

    if (!counts || !wr_record_counts(record, &ours_tokens, &theirs_tokens) ||
        !wr_counts_add(counts, record->job->model, ours_tokens, theirs_tokens))
        return;
    (void)pthread_mutex_lock(&counts->lock);
    struct known *known = need_known(counts, record->job->model);
    if (theirs_tokens > known->accepted_tokens && theirs_tokens <= WR_MODEL_TOKENS_MAX)
        known->accepted_tokens = (uint32_t)theirs_tokens;
    (void)pthread_mutex_unlock(&counts->lock);
}

/* ---- the store ---- */

static bool open_ledger(struct wr_counts *counts)
{
    return counts->ledger || !wr_ledger_open(counts->store_dir, NULL, &counts->ledger, NULL, NULL);
}

/* What cannot be written is learnt again. */
static void write_model(struct wr_counts *counts, const char *model, int64_t now_ms)
{
    struct wr_calibration *one = malloc(sizeof(*one));
    struct wr_ledger_calibration row = {.model = wr_span_of(model), .time_ms = now_ms};
    struct wr_buf data;

    if (!one)
        return;
    wr_calibration_init(one);
    wr_buf_init(&data, WR_LEDGER_NOTE_BYTES_MAX);
    (void)pthread_mutex_lock(&counts->lock);
    const struct wr_calibration_entry *entry =
        wr_calibration_find(&counts->calibration, wr_span_of(model));
    if (entry)
        wr_calibration_put(one, entry);
    row.accepted_tokens = need_known(counts, model)->accepted_tokens;
    (void)pthread_mutex_unlock(&counts->lock);
    wr_calibration_write(one, &data);
    row.data = wr_buf_view(&data);
    if (entry && !wr_buf_status(&data))
        (void)!wr_ledger_calibrate(counts->ledger, &row, NULL);
    wr_buf_release(&data);
    free(one);
}

static void read_model(struct wr_counts *counts, const char *model)
{
    struct wr_calibration *one = malloc(sizeof(*one));
    struct wr_ledger_calibration row;

    if (one && !wr_ledger_calibration(counts->ledger, wr_span_of(model), &row, NULL) &&
        !wr_calibration_read(one, row.data, NULL) && one->entries_count == 1) {
        (void)pthread_mutex_lock(&counts->lock);
        struct known *known = need_known(counts, model);
        wr_calibration_put(&counts->calibration, &one->entries[0]);
        if (row.accepted_tokens > known->accepted_tokens &&
            row.accepted_tokens <= WR_MODEL_TOKENS_MAX)
            known->accepted_tokens = (uint32_t)row.accepted_tokens;
        (void)pthread_mutex_unlock(&counts->lock);
    }
    free(one);
}

void wr_counts_sync(struct wr_counts *counts, const char *model, int64_t now_ms)
{
    if (!counts || !counts->store_dir || !model[0])
        return;
    (void)pthread_mutex_lock(&counts->lock);
    struct known *known = need_known(counts, model);
    bool is_dirty = known->is_dirty;
    bool is_due = !is_dirty && (!known->read_ms || now_ms - known->read_ms > AGAIN_MS);
    known->is_dirty = false;
    if (is_due)
        known->read_ms = now_ms ? now_ms : 1;
    (void)pthread_mutex_unlock(&counts->lock);
    if (!is_dirty && !is_due)
        return;
    (void)pthread_mutex_lock(&counts->store_lock);
    if (open_ledger(counts) && is_dirty)
        write_model(counts, model, now_ms);
    else if (counts->ledger)
        read_model(counts, model);
    (void)pthread_mutex_unlock(&counts->store_lock);
}
