/* How providers count, for each server and model.
 *
 * The loop adds samples. Threads that project ask for the factor and, once their request has left,
 * merge memory and store. One lock covers all of it, because the work under it is short; only the
 * store has its own lock and handle.
 *
 * Several processes write the same row of a model. Each appends its new samples to those in the
 * row, in one transaction, and adopts the result, so all of them hold the same list except for
 * newer samples. If each wrote only its own list, it would lose what the others have learnt. */
#include "proxy/counts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "models/window.h"
#include "net/host.h"
#include "store/ledger.h"

enum {
    AGAIN_MS = 60 * 1000, /* after which the store is read again */
    KEY_BYTES_MAX = WR_MODEL_NAME_BYTES_MAX + 1,
};

struct known {
    char key[KEY_BYTES_MAX];
    uint32_t accepted_tokens;
    int64_t read_ms;        /* 0: never */
    uint64_t unsaved_count; /* so many of the newest samples are not in the store */
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

static struct known *find_known(struct wr_counts *counts, const char *key)
{
    for (uint32_t i = 0; i < counts->known_count; i++)
        if (!strcmp(counts->known[i].key, key))
            return &counts->known[i];
    return NULL;
}

/* A full table forgets its oldest; the store still knows it. */
static struct known *need_known(struct wr_counts *counts, const char *key)
{
    struct known *known = find_known(counts, key);

    if (known)
        return known;
    known = counts->known_count < WR_CALIBRATION_MODELS_MAX
                ? &counts->known[counts->known_count++]
                : &counts->known[counts->oldest++ % WR_CALIBRATION_MODELS_MAX];
    *known = (struct known){.read_ms = 0};
    (void)snprintf(known->key, sizeof(known->key), "%s", key);
    return known;
}

/* "https://api.example gpt-5": the root of the server, a space, the model. False: one of them is
 * not known, or both are too long, and nothing is learnt. */
static bool write_key(char key[KEY_BYTES_MAX], const char *base_url, const char *model)
{
    const char *authority = base_url ? strstr(base_url, "://") : NULL;

    if (!authority || !model[0])
        return false;
    int root_bytes = (int)(authority + 3 + strcspn(authority + 3, "/") - base_url);
    int bytes = snprintf(key, KEY_BYTES_MAX, "%.*s %s", root_bytes, base_url, model);
    return bytes > 0 && bytes < KEY_BYTES_MAX;
}

struct wr_known_count wr_counts_find(struct wr_counts *counts, const char *base_url,
                                     const char *model)
{
    struct wr_known_count count = {0};
    char key[KEY_BYTES_MAX];
    uint32_t samples;

    if (!counts || !write_key(key, base_url, model))
        return count;
    (void)pthread_mutex_lock(&counts->lock);
    uint32_t factor_bp = wr_calibration_factor_bp(&counts->calibration, wr_span_of(key), &samples);
    const struct known *known = find_known(counts, key);
    if (samples >= WR_CALIBRATION_SAMPLES_MIN)
        count.factor_bp = factor_bp;
    if (known)
        count.accepted_tokens = known->accepted_tokens;
    (void)pthread_mutex_unlock(&counts->lock);
    return count;
}

/* `accepted_tokens`: the provider took the prompt; 0: it did not. */
static bool add_sample(struct wr_counts *counts, const char *key, uint64_t ours_tokens,
                       uint64_t theirs_tokens, uint64_t accepted_tokens)
{
    if (!theirs_tokens)
        return false;
    (void)pthread_mutex_lock(&counts->lock);
    bool is_taken =
        wr_calibration_add(&counts->calibration, wr_span_of(key), ours_tokens, theirs_tokens);
    if (is_taken) {
        struct known *known = need_known(counts, key);
        known->unsaved_count++;
        if (accepted_tokens > known->accepted_tokens && accepted_tokens <= WR_MODEL_TOKENS_MAX)
            known->accepted_tokens = (uint32_t)accepted_tokens;
    }
    (void)pthread_mutex_unlock(&counts->lock);
    return is_taken;
}

bool wr_counts_add(struct wr_counts *counts, const char *base_url, const char *model,
                   uint64_t ours_tokens, uint64_t theirs_tokens)
{
    char key[KEY_BYTES_MAX];

    return counts && write_key(key, base_url, model) &&
           add_sample(counts, key, ours_tokens, theirs_tokens, 0);
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
static bool is_cut_count(const struct wr_record *r, uint64_t ours_tokens, uint64_t theirs_tokens)
{
    struct wr_host host;

    if (!r->base_url || !wr_host_of_url(wr_span_of(r->base_url), &host) ||
        !wr_host_is_private(host.name))
        return false;
    return theirs_tokens * 100 < ours_tokens * WR_NEAR_COUNT_PCT_MIN ||
           (r->loaded_tokens && theirs_tokens * 100 >= r->loaded_tokens * WR_NEAR_LOADED_PCT_MAX);
}

void wr_counts_judge(struct wr_record *r)
{
    const struct wr_seen_usage *usage = &r->usage;
    uint64_t ours = wr_record_prompt_tokens(r), theirs = known_tokens(usage->input_tokens);

    if (r->deed == WR_DEED_PASSED || r->is_delta || r->status != 200 || usage->input_tokens < 0)
        return;
    if (r->api && r->api->counts_cached_apart)
        theirs += known_tokens(usage->cache_read_tokens) + known_tokens(usage->cache_write_tokens);
    if (!ours || !theirs)
        return;
    r->counted_tokens = theirs;
    r->count_ratio_bp = theirs * 10000 / ours;
    r->is_count_judged = ours >= WR_CALIBRATION_TOKENS_MIN;
    r->is_count_used = wr_counts_agree(ours, theirs) && !is_cut_count(r, ours, theirs);
}

void wr_counts_take(struct wr_counts *counts, const struct wr_record *r)
{
    char key[KEY_BYTES_MAX];

    if (counts && r->counted_tokens && r->is_count_used && write_key(key, r->base_url, r->model))
        (void)!add_sample(counts, key, wr_record_prompt_tokens(r), r->counted_tokens,
                          r->counted_tokens);
}

/* ---- the store ---- */

static bool open_ledger(struct wr_counts *counts)
{
    return counts->ledger || !wr_ledger_open(counts->store_dir, NULL, &counts->ledger, NULL, NULL);
}

/* A model as memory and store have it, while the two are brought together. */
struct meeting {
    struct wr_calibration_entry learnt; /* in memory */
    uint64_t unsaved_count;
    uint32_t accepted_tokens; /* the larger of the two, in the end */
    int64_t now_ms;
    struct wr_calibration one; /* what the store shall have, or has */
    struct wr_buf data;
};

/* Reads what the store has into `one`; empty if it has nothing, or nothing that can be read. */
static void take_stored(struct meeting *meeting, const struct wr_ledger_calibration *stored)
{
    wr_calibration_init(&meeting->one);
    if (!stored)
        return;
    if (wr_calibration_read(&meeting->one, stored->data, NULL) || meeting->one.entries_count != 1)
        wr_calibration_init(&meeting->one);
    if (stored->accepted_tokens > meeting->accepted_tokens &&
        stored->accepted_tokens <= WR_MODEL_TOKENS_MAX)
        meeting->accepted_tokens = (uint32_t)stored->accepted_tokens;
}

/* A sample has no time of its own: those that the store has are taken for older. A store that has
 * none is told everything. */
static weir_status merge_stored(void *user, const struct wr_ledger_calibration *stored,
                                struct wr_ledger_calibration *changed)
{
    struct meeting *meeting = user;
    uint64_t count = meeting->unsaved_count;

    take_stored(meeting, stored);
    if (meeting->one.entries_count)
        wr_calibration_append(&meeting->one.entries[0], &meeting->learnt,
                              count < UINT32_MAX ? (uint32_t)count : UINT32_MAX);
    else
        wr_calibration_put(&meeting->one, &meeting->learnt);
    wr_calibration_write(&meeting->one, &meeting->data);
    *changed = (struct wr_ledger_calibration){.time_ms = meeting->now_ms,
                                              .accepted_tokens = meeting->accepted_tokens,
                                              .data = wr_buf_view(&meeting->data)};
    return wr_buf_status(&meeting->data);
}

/* Takes over what is in the store now, and adds what was learnt meanwhile after it. */
static void take_over(struct wr_counts *counts, const char *key, const struct meeting *meeting)
{
    struct known *known = need_known(counts, key);
    const struct wr_calibration_entry *learnt =
        wr_calibration_find(&counts->calibration, wr_span_of(key));

    known->unsaved_count -= known->unsaved_count < meeting->unsaved_count ? known->unsaved_count
                                                                          : meeting->unsaved_count;
    if (meeting->accepted_tokens > known->accepted_tokens)
        known->accepted_tokens = meeting->accepted_tokens;
    if (!meeting->one.entries_count)
        return;
    struct wr_calibration_entry entry = meeting->one.entries[0];
    if (learnt && known->unsaved_count)
        wr_calibration_append(&entry, learnt,
                              known->unsaved_count < UINT32_MAX ? (uint32_t)known->unsaved_count
                                                                : UINT32_MAX);
    wr_calibration_put(&counts->calibration, &entry);
}

/* Under store_lock. What cannot be written is tried again after the next request. */
static bool meet_store(struct wr_counts *counts, const char *key, struct meeting *meeting)
{
    struct wr_ledger_calibration row;

    if (!open_ledger(counts))
        return false;
    if (meeting->unsaved_count)
        return !wr_ledger_calibrate(counts->ledger, wr_span_of(key), merge_stored, meeting, NULL);
    if (wr_ledger_calibration(counts->ledger, wr_span_of(key), &row, NULL))
        return false;
    take_stored(meeting, &row);
    return true;
}

/* Under lock. False: memory and store have met lately, and nothing was learnt since. */
static bool is_due(struct wr_counts *counts, const char *key, int64_t now_ms)
{
    const struct known *known = need_known(counts, key);
    return known->unsaved_count || !known->read_ms || now_ms - known->read_ms > AGAIN_MS;
}

/* Under lock. */
static void begin_meeting(struct wr_counts *counts, const char *key, struct meeting *meeting)
{
    struct known *known = need_known(counts, key);
    const struct wr_calibration_entry *entry =
        wr_calibration_find(&counts->calibration, wr_span_of(key));

    if (entry)
        meeting->learnt = *entry;
    else /* a full table has forgotten it */
        known->unsaved_count = 0;
    meeting->accepted_tokens = known->accepted_tokens;
    meeting->unsaved_count = known->unsaved_count;
    known->read_ms = meeting->now_ms ? meeting->now_ms : 1;
}

void wr_counts_sync(struct wr_counts *counts, const char *base_url, const char *model,
                    int64_t now_ms)
{
    char key[KEY_BYTES_MAX];

    if (!counts || !counts->store_dir || !write_key(key, base_url, model))
        return;
    (void)pthread_mutex_lock(&counts->lock);
    bool shall_meet = is_due(counts, key, now_ms);
    (void)pthread_mutex_unlock(&counts->lock);
    struct meeting *meeting = shall_meet ? calloc(1, sizeof(*meeting)) : NULL;
    if (!meeting)
        return;
    meeting->now_ms = now_ms;
    wr_buf_init(&meeting->data, WR_LEDGER_NOTE_BYTES_MAX);
    /* What is not saved is looked up under the store's lock, so that two threads do not write it
     * twice. */
    (void)pthread_mutex_lock(&counts->store_lock);
    (void)pthread_mutex_lock(&counts->lock);
    shall_meet = is_due(counts, key, now_ms);
    if (shall_meet)
        begin_meeting(counts, key, meeting);
    (void)pthread_mutex_unlock(&counts->lock);
    if (shall_meet && meet_store(counts, key, meeting)) {
        (void)pthread_mutex_lock(&counts->lock);
        take_over(counts, key, meeting);
        (void)pthread_mutex_unlock(&counts->lock);
    }
    (void)pthread_mutex_unlock(&counts->store_lock);
    wr_buf_release(&meeting->data);
    free(meeting);
}
