/* counts.c -- what servers say of their models: how they count prompts, how long a prompt they
 * take.
 *
 * Both are known for a server and a model, by the root of its address and the name. The first comes
 * with answers, the second is asked for beside them.
 */
#include "proxy/counts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "models/window.h"
#include "net/http.h"
#include "store/ledger.h"

/* ==== how providers count ====
 *
 * The loop adds samples. Threads that project ask for the factor and, once their request has left,
 * merge memory and store. One lock covers all of it, because the work under it is short; only the
 * store has its own lock and handle.
 *
 * Several processes write the same row of a model. Each appends its new samples to those in the
 * row, in one transaction, and adopts the result, so all of them hold the same list except for
 * newer samples. If each wrote only its own list, it would lose what the others have learnt. */

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
static bool write_key(char *key, size_t key_bytes, const char *base_url, weir_span model)
{
    const char *authority = base_url ? strstr(base_url, "://") : NULL;

    if (!authority || !model.len)
        return false;
    int root_bytes = (int)(authority + 3 + strcspn(authority + 3, "/") - base_url);
    int bytes =
        snprintf(key, key_bytes, "%.*s %.*s", root_bytes, base_url, (int)model.len, model.ptr);
    return bytes > 0 && (size_t)bytes < key_bytes;
}

struct wr_known_count wr_counts_find(struct wr_counts *counts, const char *base_url,
                                     const char *model)
{
    struct wr_known_count count = {0};
    char key[KEY_BYTES_MAX];
    uint32_t samples;

    if (!counts || !write_key(key, sizeof(key), base_url, wr_span_of(model)))
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

    return counts && write_key(key, sizeof(key), base_url, wr_span_of(model)) &&
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

    if (counts && r->counted_tokens && r->is_count_used &&
        write_key(key, sizeof(key), r->base_url, wr_span_of(r->model)))
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

    if (!counts || !counts->store_dir || !write_key(key, sizeof(key), base_url, wr_span_of(model)))
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

/* ==== what local servers have loaded ====
 *
 *   ask ──▶ one path after the other, until one tells ──▶ kept for this server and model
 *            │ time is up, or nobody tells ──▶ asked again after a pause
 *
 * The servers differ in the path (models/window.h) and in nothing else that matters here, so they
 * are tried in turn, and the one that told is tried first the next time. Ollama loads a model when
 * it is first asked for an answer, so the question is put when an answer is over.
 */

enum {
    ENTRIES_MAX = 64,
    URL_BYTES_MAX = 1024,
    WINDOW_KEY_BYTES_MAX = 512,
    ASK_MS_MAX = 2000,        /* for all paths of one question */
    ASK_AGAIN_MS = 60 * 1000, /* what is known is asked again */
    UNKNOWN_MS = 30 * 1000,   /* and what is not */
};

struct entry {
    char key[WINDOW_KEY_BYTES_MAX]; /* root of the server, space, model */
    uint32_t tokens;                /* 0: it does not say */
    enum wr_model_server server;    /* that told; else where to begin */
    uint64_t asked_ms;              /* on the loop's clock */
};

struct wr_loaded_windows {
    uv_loop_t *loop;
    struct wr_fetcher *fetcher;
    uv_timer_t timer;
    pthread_mutex_t lock; /* of `entries` */
    struct entry entries[ENTRIES_MAX];
    size_t entries_count, oldest;

    /* The question that is being asked; the loop's own. */
    struct wr_fetch *fetch; /* NULL: none */
    struct entry *asked;
    const char *proxy;
    enum wr_model_server at;
    int tried_count, status;
    struct wr_buf answer;
    bool is_closed;
};

static void ask_next(struct wr_loaded_windows *w);

struct wr_loaded_windows *wr_loaded_windows_new(const struct wr_loaded_windows_options *options)
{
    struct wr_loaded_windows *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->loop = options->loop;
    w->fetcher = options->fetcher;
    w->timer.data = w;
    wr_buf_init(&w->answer, WR_SERVER_BODY_BYTES_MAX);
    if (pthread_mutex_init(&w->lock, NULL)) {
        free(w);
        return NULL;
    }
    if (uv_timer_init(w->loop, &w->timer)) {
        (void)pthread_mutex_destroy(&w->lock);
        free(w);
        return NULL;
    }
    uv_unref((uv_handle_t *)&w->timer);
    return w;
}

static void end_question(struct wr_loaded_windows *w)
{
    struct wr_fetch *fetch = w->fetch;

    w->fetch = NULL;
    w->asked = NULL;
    (void)uv_timer_stop(&w->timer);
    if (fetch)
        wr_fetch_cancel(fetch);
}

void wr_loaded_windows_close(struct wr_loaded_windows *w)
{
    if (!w || w->is_closed)
        return;
    w->is_closed = true;
    end_question(w);
    uv_close((uv_handle_t *)&w->timer, NULL);
}

void wr_loaded_windows_free(struct wr_loaded_windows *w)
{
    if (!w)
        return;
    wr_buf_release(&w->answer);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

/* ---- what is known ---- */

/* False: the server is far away, or a name too long. */
static bool write_window_key(char key[WINDOW_KEY_BYTES_MAX], const char *base_url, weir_span model)
{
    struct wr_host host;

    return wr_host_of_url(wr_span_of(base_url), &host) && wr_host_is_private(host.name) &&
           write_key(key, WINDOW_KEY_BYTES_MAX, base_url, model);
}

static struct entry *find_entry(struct wr_loaded_windows *w, const char *key)
{
    for (size_t i = 0; i < w->entries_count; i++)
        if (!strcmp(w->entries[i].key, key))
            return &w->entries[i];
    return NULL;
}

uint32_t wr_loaded_windows_find(struct wr_loaded_windows *w, const char *base_url, weir_span model)
{
    char key[WINDOW_KEY_BYTES_MAX];
    uint32_t tokens = 0;

    if (!w || !base_url || !write_window_key(key, base_url, model))
        return 0;
    (void)pthread_mutex_lock(&w->lock);
    const struct entry *entry = find_entry(w, key);
    if (entry)
        tokens = entry->tokens;
    (void)pthread_mutex_unlock(&w->lock);
    return tokens;
}

/* A full table forgets its oldest. */
static struct entry *make_entry(struct wr_loaded_windows *w, const char *key)
{
    struct entry *entry = w->entries_count < ENTRIES_MAX ? &w->entries[w->entries_count++]
                                                         : &w->entries[w->oldest++ % ENTRIES_MAX];
    *entry = (struct entry){.tokens = 0};
    (void)snprintf(entry->key, sizeof(entry->key), "%s", key);
    return entry;
}

/* ---- the question ---- */

static void on_head(void *user, const struct wr_head *head)
{
    struct wr_loaded_windows *w = user;
    w->status = head->status;
}

/* What is too long is no answer of theirs: it is not read on, and ends when the time is up. */
static bool on_data(void *user, weir_span bytes)
{
    struct wr_loaded_windows *w = user;
    if (w->answer.len + bytes.len > WR_SERVER_BODY_BYTES_MAX)
        return false;
    wr_buf_append(&w->answer, bytes);
    return true;
}

static bool take_answer(struct wr_loaded_windows *w)
{
    uint32_t window_tokens;
    const char *model = strchr(w->asked->key, ' ') + 1;

    if (w->status != 200 || wr_buf_status(&w->answer) ||
        wr_loaded_read(w->at, wr_buf_view(&w->answer), wr_span_of(model), &window_tokens))
        return false;
    (void)pthread_mutex_lock(&w->lock);
    w->asked->tokens = window_tokens;
    w->asked->server = w->at;
    (void)pthread_mutex_unlock(&w->lock);
    return true;
}

static void on_end(void *user, enum wr_fetch_result result, const char *why)
{
    struct wr_loaded_windows *w = user;
    bool is_told = result == WR_FETCH_DONE && take_answer(w);
    bool is_there = result == WR_FETCH_DONE || result == WR_FETCH_BROKEN;

    (void)why;
    w->fetch = NULL;
    if (is_told || !is_there || ++w->tried_count == WR_SERVERS_COUNT) {
        end_question(w);
        return;
    }
    w->at = (enum wr_model_server)((w->at + 1) % WR_SERVERS_COUNT);
    ask_next(w);
}

static const struct wr_fetch_events question_events = {on_head, on_data, on_end, NULL};

static void ask_next(struct wr_loaded_windows *w)
{
    char url[URL_BYTES_MAX];
    struct wr_fetch_request request = {
        .url = url, .method = WR_LIT("GET"), .proxy = w->proxy, .is_fresh = true};

    (void)snprintf(url, sizeof(url), "%.*s%s", (int)strcspn(w->asked->key, " "), w->asked->key,
                   wr_server_path(w->at));
    wr_buf_reset(&w->answer);
    w->status = 0;
    if (wr_fetch_start(&w->fetch, w->fetcher, &request, &question_events, w, NULL)) {
        w->fetch = NULL;
        end_question(w);
    }
}

static void on_time_up(uv_timer_t *timer)
{
    end_question(timer->data);
}

void wr_loaded_windows_ask(struct wr_loaded_windows *w, const struct wr_upstream *upstream,
                           const char *model)
{
    char key[WINDOW_KEY_BYTES_MAX];

    if (!w || w->is_closed || w->asked ||
        !write_window_key(key, upstream->base_url, wr_span_of(model)))
        return;
    uint64_t now_ms = uv_now(w->loop);
    (void)pthread_mutex_lock(&w->lock);
    struct entry *entry = find_entry(w, key);
    bool is_lately =
        entry && now_ms - entry->asked_ms < (uint64_t)(entry->tokens ? ASK_AGAIN_MS : UNKNOWN_MS);
    if (!entry)
        entry = make_entry(w, key);
    (void)pthread_mutex_unlock(&w->lock);
    if (is_lately)
        return;
    entry->asked_ms = now_ms;
    w->asked = entry;
    w->at = entry->server;
    w->tried_count = 0;
    w->proxy = wr_fetch_proxy(upstream->proxy, upstream->base_url);
    (void)uv_timer_start(&w->timer, on_time_up, ASK_MS_MAX, 0);
    ask_next(w);
}
