/* tell.c -- what happened to a request is told: to the log, the counters, the store, telemetry.
 *
 * None of them is waited for. Lines are gathered for some of the time that a disk takes; rows are
 * written by a thread of their own.
 */
#include "proxy/tell.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "engine/record_row.h"
#include "proxy/counts.h"
#include "proxy/door.h"
#include "proxy/exchange.h"
#include "proxy/exchange_inside.h"

/* ==== an exchange is over ====
 *
 * Or one leg of it: its record is completed and told to everybody. wr_exchange_tell() completes it,
 * the sinks take it; the counters are in metrics.c.
 */

/* ---- the sinks ---- */

/* What is told beside the record. */
struct told {
    weir_span report;     /* of the projection, as wr_record_report() writes it; empty: nothing was
                           * changed */
    struct wr_said *said; /* the bodies, which may be taken over; NULL: they are not kept */
};

typedef void sink_fn(struct wr_service *service, const struct wr_record *record,
                     const struct told *told);

static void tell_counts(struct wr_service *service, const struct wr_record *record,
                        const struct told *told)
{
    (void)told;
    wr_counts_take(service->counts, record);
}

static void tell_metrics(struct wr_service *service, const struct wr_record *record,
                         const struct told *told)
{
    (void)told;
    wr_metrics_count(service->metrics, record);
}

/* As a row of its session; of the run, where it has none. Rows are of requests that asked a model;
 * a run's receipt also counts what only passed. */
static void keep_row(struct wr_service *service, const struct wr_record *r, weir_span line,
                     const struct told *told)
{
    char run[sizeof("run:") + WR_RUN_DIGITS];
    struct wr_ledger_row row = {.time_ms = r->time_ms,
                                .tenant = r->tenant,
                                .session = r->session,
                                .agent = r->agent,
                                .model = wr_span_of(r->model),
                                .line = wr_span_cut(line, 0, line.len - 1),
                                .report = told->report};

    if (!service->ledger || !(r->asks_model || (r->run.len && !r->api)))
        return;
    if (!r->is_collected) {
        row.model = r->answer_model;
        (void)snprintf(run, sizeof(run), "run:%.*s", (int)r->run.len, r->run.ptr);
        row.session = r->run.len ? wr_span_of(run) : (weir_span){"", 0};
    }
    wr_ledger_writer_add(service->ledger, &row, told->said);
}

/* The line of the log is what the row holds: it is written once for both. */
static void tell_log(struct wr_service *service, const struct wr_record *record,
                     const struct told *told)
{
    wr_buf_reset(&service->line);
    wr_row_write(record, &service->line);
    if (wr_buf_status(&service->line))
        return;
    if (service->log)
        wr_log_add(service->log, wr_buf_view(&service->line));
    keep_row(service, record, wr_buf_view(&service->line), told);
}

static void tell_otel(struct wr_service *service, const struct wr_record *record,
                      const struct told *told)
{
    (void)told;
    if (wr_otel_is_on(&service->config->otel))
        wr_otel_take(service->otel, record);
}

static void tell_sinks(struct wr_service *service, const struct wr_record *record,
                       const struct told *told)
{
    static sink_fn *const sinks[] = {tell_counts, tell_metrics, tell_log, tell_otel};

    for (size_t i = 0; i < WR_COUNT_OF(sinks); i++)
        sinks[i](service, record, told);
}

/* ---- an exchange ---- */

/* How the task goes, with what the answer shows of it. */
static void watch_answer(struct wr_exchange *ex)
{
    const struct wr_reply *reply = &ex->tap.answer;
    struct wr_watch_answer answer = {
        .is_answered = ex->record.status == 200 && !reply->has_error,
        .was_sent_changed = ex->is_sent_changed,
        .was_overflow_retried = ex->record.retries_count && ex->remedy.overflow_tokens,
        .teaches = ex->config->learns,
        .error = reply->error_kind,
    };

    if (ex->task.is_continued) { /* a later request may go on from it */
        answer.answer_id = wr_buf_view(&reply->id);
        answer.conversation_id = wr_buf_view(&reply->conversation_id);
    }
    if (ex->service->watch && ex->record.is_collected && ex->route.is_answer)
        wr_watch_answer(ex->service->watch, &answer, &ex->task.note, &ex->record);
}

/* The bodies change hands where nobody needs them any more: this was the last that is told. */
static void lend_bodies(struct wr_exchange *ex, struct wr_said *said)
{
    *said = (struct wr_said){.coding = ex->task.coding};
    if (!ex->record.asks_model || !ex->record.is_collected || ex->own.count ||
        !wr_config_keeps_transcripts(ex->config))
        return;
    bool is_over = ex->state == WR_EXCHANGE_OVER;
    struct wr_buf *bodies[] = {&ex->body, ex->is_sent_changed ? &ex->task.out : NULL};
    struct wr_buf *kept[] = {&said->came, &said->sent};
    for (size_t i = 0; i < WR_COUNT_OF(bodies); i++) {
        if (!bodies[i])
            continue;
        if (is_over) {
            *kept[i] = *bodies[i];
            wr_buf_init(bodies[i], bodies[i]->cap_max);
        } else {
            wr_buf_init(kept[i], bodies[i]->cap_max);
            wr_buf_append(kept[i], wr_buf_view(bodies[i]));
        }
    }
}

void wr_exchange_tell(struct wr_exchange *ex)
{
    struct wr_service *service = ex->service;
    struct wr_record *r = &ex->record;
    struct wr_said said;

    r->number = ++service->requests_count;
    r->total_us = wr_clock_steady_us() - ex->started_us;
    r->added_us = ex->sent_us > ex->body_ended_us ? ex->sent_us - ex->body_ended_us : 0;
    r->first_byte_us = ex->first_byte_us ? ex->first_byte_us - ex->sent_us : 0;
    r->is_collected = ex->task_state != WR_TASK_NONE;
    if (!r->bytes_before)
        r->bytes_before = r->received_bytes;
    if (!r->end.ptr)
        r->end = WR_LIT("done");
    wr_tap_tell(&ex->tap, r);
    wr_record_price(r, service->models);
    wr_admit_count(ex);
    wr_record_settle(r);
    watch_answer(ex);
    wr_counts_judge(r);
    if (r->is_collected && r->asks_model) /* what has answered is loaded by now */
        wr_loaded_windows_ask(service->loaded, ex->route.upstream, r->model);
    bool is_reported = r->is_changed && !wr_buf_status(&ex->task.report);
    lend_bodies(ex, &said);
    tell_sinks(
        service, r,
        &(struct told){.report = is_reported ? wr_buf_view(&ex->task.report) : (weir_span){"", 0},
                       .said = &said});
    wr_buf_release(&said.came);
    wr_buf_release(&said.sent);
}

/* ==== the lines of the log ==== */

enum { GATHERED_BYTES = 32 * 1024, GATHERED_BYTES_MAX = 1024 * 1024, PATH_BYTES_MAX = 4096 };

struct wr_log {
    char path[PATH_BYTES_MAX];
    int fd; /* -1: could not be opened again */
    uint64_t file_bytes;
    uint64_t lost_count, gathered_count;
    struct wr_buf gathered;
};

static bool open_log(struct wr_log *log)
{
    struct stat status;
    log->fd = open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log->fd < 0 || fstat(log->fd, &status))
        return false;
    log->file_bytes = (uint64_t)status.st_size;
    return true;
}

struct wr_log *wr_log_open(const char *path)
{
    struct wr_log *log = calloc(1, sizeof(*log));
    if (!log)
        return NULL;
    wr_buf_init(&log->gathered, GATHERED_BYTES_MAX);
    int bytes = snprintf(log->path, sizeof(log->path), "%s", path);
    if (bytes < 0 || (size_t)bytes + sizeof(".99") >= sizeof(log->path) || !open_log(log)) {
        free(log);
        return NULL;
    }
    return log;
}

static void name_numbered(const struct wr_log *log, int number, char name[PATH_BYTES_MAX + 16])
{
    if (number)
        (void)snprintf(name, PATH_BYTES_MAX + 16, "%s.%d", log->path, number);
    else
        (void)snprintf(name, PATH_BYTES_MAX + 16, "%s", log->path);
}

/* Several processes may write one log: whoever finds that the file has changed under it just opens
 * the new one. */
static void rotate_files(struct wr_log *log)
{
    char from[PATH_BYTES_MAX + 16], to[PATH_BYTES_MAX + 16];
    struct stat ours, there;
    bool is_ours = !fstat(log->fd, &ours) && !stat(log->path, &there) &&
                   ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;

    for (int i = WR_PROXY_LOG_FILES_MAX - 1; is_ours && i >= 0; i--) {
        name_numbered(log, i, from);
        name_numbered(log, i + 1, to);
        (void)rename(from, to);
    }
    (void)close(log->fd);
    (void)open_log(log);
}

void wr_log_flush(struct wr_log *log)
{
    size_t at = 0;

    if (log->fd < 0)
        (void)open_log(log);
    while (log->fd >= 0 && at < log->gathered.len) {
        ssize_t written = write(log->fd, log->gathered.bytes + at, log->gathered.len - at);
        if (written <= 0)
            break;
        at += (size_t)written;
    }
    log->file_bytes += at;
    if (at < log->gathered.len)
        log->lost_count += log->gathered_count;
    log->gathered_count = 0;
    wr_buf_reset(&log->gathered);
    if (log->fd >= 0 && log->file_bytes > WR_PROXY_LOG_BYTES_MAX)
        rotate_files(log);
}

void wr_log_add(struct wr_log *log, weir_span line)
{
    if (log->gathered.len + line.len > GATHERED_BYTES)
        wr_log_flush(log);
    wr_buf_append(&log->gathered, line);
    log->gathered_count++;
    if (!wr_buf_status(&log->gathered))
        return;
    log->lost_count += log->gathered_count;
    log->gathered_count = 0;
    wr_buf_release(&log->gathered);
    wr_buf_init(&log->gathered, GATHERED_BYTES_MAX);
}

uint64_t wr_log_take_lost(struct wr_log *log)
{
    uint64_t count = log->lost_count;

    log->lost_count = 0;
    return count;
}

uint64_t wr_log_close(struct wr_log *log)
{
    if (!log)
        return 0;
    wr_log_flush(log);
    uint64_t lost_count = log->lost_count;
    if (log->fd >= 0)
        (void)close(log->fd);
    wr_buf_release(&log->gathered);
    free(log);
    return lost_count;
}

/* ==== rows and notes into the store ====
 *
 *   any thread: copy ──▶ queue ──▶ the writer's thread: take a group ──▶ one transaction
 *
 * Groups, because a transaction for each request would cost a flush of the disk each. The thread
 * waits a moment after the first row for others, unless a note is urgent: the calls of an answer
 * may be needed by the very next request, which may come to another worker.
 *
 * If the store is locked, or a database away, the group is tried again while others queue up; for
 * any other trouble it is counted as lost. When the server ends it is tried once more and then
 * given up, so that stopping never hangs.
 */

struct item {
    struct item *next;
    size_t bytes;
    struct wr_said said; /* of a row; owned */
    bool is_note;
    union { /* its texts follow it in the same allocation */
        struct wr_ledger_row row;
        struct wr_ledger_note note;
    };
};

struct wr_ledger_writer {
    const char *store_dir;
    struct wr_metrics *metrics;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct item *first, *last; /* waiting */
    size_t count, bytes;       /* of those, and of the group that is being written */
    size_t said_bytes;         /* of the bodies among them */
    bool stops, is_urgent;
    /* Below: the thread's own. */
    struct wr_ledger *ledger; /* NULL: not open */
    bool gives_up;            /* the end has come and the store does not take anything */
};

static void count_lost_rows(struct wr_ledger_writer *w, size_t rows_count, size_t notes_count)
{
    atomic_fetch_add_explicit(&w->metrics->ledger_rows_lost, rows_count, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->metrics->ledger_notes_lost, notes_count, memory_order_relaxed);
}

/* ---- adding ---- */

static weir_span copy_behind(char **at, weir_span text)
{
    weir_span copy = {*at, text.len};
    if (text.len)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

static struct item *copy_row(const struct wr_ledger_row *row)
{
    weir_span report = row->report.len > WR_LEDGER_REPORT_BYTES_MAX ? WR_LIT("") : row->report;
    size_t bytes = sizeof(struct item) + row->tenant.len + row->session.len + row->agent.len +
                   row->model.len + row->line.len + report.len;
    struct item *item = malloc(bytes);

    if (!item)
        return NULL;
    char *at = (char *)(item + 1);
    *item = (struct item){.bytes = bytes,
                          .row = {.time_ms = row->time_ms,
                                  .tenant = copy_behind(&at, row->tenant),
                                  .session = copy_behind(&at, row->session),
                                  .agent = copy_behind(&at, row->agent),
                                  .model = copy_behind(&at, row->model),
                                  .line = copy_behind(&at, row->line),
                                  .report = copy_behind(&at, report)}};
    return item;
}

static struct item *copy_note(const struct wr_ledger_note *note)
{
    size_t bytes = sizeof(struct item) + note->tenant.len + note->session.len + note->data.len;
    struct item *item = malloc(bytes);

    if (!item)
        return NULL;
    char *at = (char *)(item + 1);
    *item = (struct item){.bytes = bytes, .is_note = true, .note = *note};
    item->note.tenant = copy_behind(&at, note->tenant);
    item->note.session = copy_behind(&at, note->session);
    item->note.data = copy_behind(&at, note->data);
    return item;
}

static void count_skipped(struct wr_ledger_writer *w, size_t count)
{
    atomic_fetch_add_explicit(&w->metrics->transcripts_skipped, count, memory_order_relaxed);
}

static size_t said_bytes(const struct wr_said *said)
{
    return said->came.len + said->sent.len;
}

static void free_item(struct item *item)
{
    if (!item->is_note) {
        wr_buf_release(&item->said.came);
        wr_buf_release(&item->said.sent);
    }
    free(item);
}

/* Its bodies wait no more. */
static void leave_said(struct wr_ledger_writer *w, const struct item *item)
{
    if (item->is_note)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->said_bytes -= said_bytes(&item->said);
    (void)pthread_mutex_unlock(&w->lock);
}

static void queue_item(struct wr_ledger_writer *w, struct item *item, bool is_urgent)
{
    bool is_kept = false, is_note = item->is_note;

    (void)pthread_mutex_lock(&w->lock);
    if (w->count < WR_PROXY_LEDGER_ROWS_MAX &&
        w->bytes + item->bytes <= WR_PROXY_LEDGER_BYTES_MAX) {
        if (w->first)
            w->last->next = item;
        else
            w->first = item;
        w->last = item;
        w->count++;
        w->bytes += item->bytes;
        is_kept = true;
        w->is_urgent |= is_urgent;
        if (w->count == 1 || w->count == WR_PROXY_LEDGER_GROUP_MAX || is_urgent)
            (void)pthread_cond_signal(&w->wake);
    }
    (void)pthread_mutex_unlock(&w->lock);
    if (is_kept)
        return;
    leave_said(w, item);
    free_item(item);
    count_lost_rows(w, !is_note, is_note);
}

/* The bodies change hands; nothing is copied on the loop. */
static void take_said(struct wr_ledger_writer *w, struct item *item, struct wr_said *said)
{
    size_t bytes = said_bytes(said);

    (void)pthread_mutex_lock(&w->lock);
    bool has_room = w->said_bytes + bytes <= WR_PROXY_SAID_BYTES_MAX;
    w->said_bytes += has_room ? bytes : 0;
    (void)pthread_mutex_unlock(&w->lock);
    if (!has_room) {
        count_skipped(w, 1);
        return;
    }
    item->said = *said;
    *said = (struct wr_said){.coding = said->coding};
}

void wr_ledger_writer_add(struct wr_ledger_writer *w, const struct wr_ledger_row *row,
                          struct wr_said *said)
{
    struct item *item = copy_row(row);

    if (!item) {
        count_lost_rows(w, 1, 0);
        return;
    }
    if (said && said->came.len)
        take_said(w, item, said);
    queue_item(w, item, false);
}

void wr_ledger_writer_note(struct wr_ledger_writer *w, const struct wr_ledger_note *note,
                           bool is_urgent)
{
    struct item *item = note->data.len <= WR_LEDGER_NOTE_BYTES_MAX ? copy_note(note) : NULL;
    if (item)
        queue_item(w, item, is_urgent);
    else
        count_lost_rows(w, 0, 1);
}

/* ---- the thread ---- */

/* With the lock: waits until there is a row, and then for a moment, or until a group is full. */
static void wait_for_rows(struct wr_ledger_writer *w)
{
    struct timespec until;

    while (!w->first && !w->stops)
        (void)pthread_cond_wait(&w->wake, &w->lock);
    until = wr_clock_steady_in_ms(WR_PROXY_LEDGER_MS);
    while (!w->stops && !w->is_urgent && w->count < WR_PROXY_LEDGER_GROUP_MAX)
        if (wr_os_steady_cond_wait(&w->wake, &w->lock, &until))
            break;
}

/* Up to a group, in the order they came; they still count as waiting. */
static size_t take_group(struct wr_ledger_writer *w, struct item *group[WR_PROXY_LEDGER_GROUP_MAX])
{
    size_t count = 0;
    while (w->first && count < WR_PROXY_LEDGER_GROUP_MAX) {
        group[count++] = w->first;
        w->first = w->first->next;
    }
    w->is_urgent = w->is_urgent && w->first;
    return count;
}

static weir_status open_ledger(struct wr_ledger_writer *w, weir_trouble *trouble)
{
    *trouble = WEIR_TROUBLE_NONE;
    return w->ledger ? WEIR_OK : wr_ledger_open(w->store_dir, NULL, &w->ledger, trouble, NULL);
}

static struct wr_ledger_row row_with_said(const struct item *item)
{
    struct wr_ledger_row row = item->row;

    row.came = wr_buf_view(&item->said.came);
    row.sent = wr_buf_view(&item->said.sent);
    return row;
}

/* A body that came in a coding is kept as the engine reads it. One that cannot be, or is too long
 * for the ledger, is not kept. */
static void decode_said(struct wr_ledger_writer *w, struct item *item)
{
    struct wr_said *said = &item->said;
    struct wr_buf plain;

    if (item->is_note || !said->came.len)
        return;
    bool is_plain = said->coding == WR_CODING_IDENTITY;
    wr_buf_init(&plain, WR_LEDGER_SAID_BYTES_MAX);
    if (!is_plain && wr_decode_whole(said->coding, wr_buf_view(&said->came), &plain)) {
        struct wr_buf coded = said->came;
        said->came = plain;
        plain = coded;
        is_plain = true;
    }
    wr_buf_release(&plain);
    said->coding = WR_CODING_IDENTITY;
    if (is_plain && said->came.len <= WR_LEDGER_SAID_BYTES_MAX &&
        said->sent.len <= WR_LEDGER_SAID_BYTES_MAX)
        return;
    wr_buf_release(&said->came);
    wr_buf_release(&said->sent);
    count_skipped(w, 1);
}

/* True: kept. `*trouble` says why not. */
static bool commit_group(struct wr_ledger_writer *w, struct item *const *group, size_t count,
                         weir_trouble *trouble)
{
    struct wr_ledger_row rows[WR_PROXY_LEDGER_GROUP_MAX];
    struct wr_ledger_note notes[WR_PROXY_LEDGER_GROUP_MAX];
    size_t rows_count = 0, notes_count = 0;

    if (open_ledger(w, trouble))
        return false;
    for (size_t i = 0; i < count; i++)
        if (group[i]->is_note)
            notes[notes_count++] = group[i]->note;
        else
            rows[rows_count++] = row_with_said(group[i]);
    uint64_t lost_before = wr_ledger_said_lost(w->ledger);
    if (!wr_ledger_keep(w->ledger, rows, rows_count, notes, notes_count, NULL)) {
        count_skipped(w, wr_ledger_said_lost(w->ledger) - lost_before);
        return true;
    }
    *trouble = wr_ledger_trouble(w->ledger);
    return false;
}

static bool is_stopping(struct wr_ledger_writer *w)
{
    (void)pthread_mutex_lock(&w->lock);
    bool stops = w->stops;
    (void)pthread_mutex_unlock(&w->lock);
    return stops;
}

/* A lock is let go, and a database comes back. */
static bool will_pass(weir_trouble trouble)
{
    return trouble == WEIR_TROUBLE_LOCKED || trouble == WEIR_TROUBLE_AWAY;
}

/* If somebody else holds the store, or a database is away, it is tried again (each try waits a
 * while itself); other rows queue up meanwhile, up to the cap. At the end it is tried once more,
 * even if a try that began before has just failed. */
static void keep_group(struct wr_ledger_writer *w, struct item *const *group, size_t count)
{
    weir_trouble trouble = WEIR_TROUBLE_NONE;
    bool is_kept = !w->gives_up && commit_group(w, group, count, &trouble);
    size_t notes_count = 0;

    for (size_t i = 0; i < count; i++)
        notes_count += group[i]->is_note;
    for (bool is_end = false; !is_kept && will_pass(trouble) && !is_end;) {
        is_end = is_stopping(w);
        is_kept = commit_group(w, group, count, &trouble);
    }
    if (is_kept)
        atomic_fetch_add_explicit(&w->metrics->ledger_rows, count - notes_count,
                                  memory_order_relaxed);
    else
        count_lost_rows(w, count - notes_count, notes_count);
    w->gives_up = !is_kept && is_stopping(w);
}

static void drop_group(struct wr_ledger_writer *w, struct item *const *group, size_t count)
{
    (void)pthread_mutex_lock(&w->lock);
    w->count -= count;
    for (size_t i = 0; i < count; i++)
        w->bytes -= group[i]->bytes;
    (void)pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < count; i++)
        free_item(group[i]);
}

static void *write_groups(void *user)
{
    struct wr_ledger_writer *w = user;
    struct item *group[WR_PROXY_LEDGER_GROUP_MAX];
    size_t count;

    do {
        (void)pthread_mutex_lock(&w->lock);
        wait_for_rows(w);
        count = take_group(w, group);
        (void)pthread_mutex_unlock(&w->lock);
        if (!count)
            continue;
        for (size_t i = 0; i < count; i++) {
            leave_said(w, group[i]);
            decode_said(w, group[i]);
        }
        keep_group(w, group, count);
        drop_group(w, group, count);
    } while (count || !is_stopping(w));
    wr_ledger_close(w->ledger);
    return NULL;
}

/* ---- life ---- */

struct wr_ledger_writer *wr_ledger_writer_new(const char *store_dir, struct wr_metrics *metrics)
{
    struct wr_ledger_writer *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->store_dir = store_dir;
    w->metrics = metrics;
    if (pthread_mutex_init(&w->lock, NULL) || !wr_os_steady_cond_init(&w->wake) ||
        pthread_create(&w->thread, NULL, write_groups, w)) {
        free(w);
        return NULL;
    }
    return w;
}

void wr_ledger_writer_free(struct wr_ledger_writer *w)
{
    if (!w)
        return;
    (void)pthread_mutex_lock(&w->lock);
    w->stops = true;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    (void)pthread_cond_destroy(&w->wake);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}
