/* What local servers have loaded their models with.
 *
 *   ask ──▶ one path after the other, until one tells ──▶ kept for this server and model
 *            │ time is up, or nobody tells ──▶ asked again after a pause
 *
 * The servers differ in the path (models/window.h) and in nothing else that matters here, so they
 * are tried in turn, and the one that told is tried first the next time. Ollama loads a model when
 * it is first asked for an answer, so the question is put when an answer is over.
 */
#include "proxy/loaded_windows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "models/window.h"
#include "net/host.h"

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

/* "http://127.0.0.1:11434 qwen3". False: the server is far away, or a name too long. */
static bool write_window_key(char key[WINDOW_KEY_BYTES_MAX], const char *base_url, weir_span model)
{
    struct wr_host host;
    const char *authority = strstr(base_url, "://");

    if (!authority || !model.len || !wr_host_of_url(wr_span_of(base_url), &host) ||
        !wr_host_is_private(host.name))
        return false;
    int root_bytes = (int)(authority + 3 + strcspn(authority + 3, "/") - base_url);
    int bytes = snprintf(key, WINDOW_KEY_BYTES_MAX, "%.*s %.*s", root_bytes, base_url,
                         (int)model.len, model.ptr);
    return bytes > 0 && bytes < WINDOW_KEY_BYTES_MAX;
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
    struct wr_loaded loaded;
    const char *model = strchr(w->asked->key, ' ') + 1;

    if (w->status != 200 || wr_buf_status(&w->answer) ||
        wr_loaded_read(w->at, wr_buf_view(&w->answer), wr_span_of(model), 0, &loaded, NULL))
        return false;
    (void)pthread_mutex_lock(&w->lock);
    w->asked->tokens = loaded.window_tokens;
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
