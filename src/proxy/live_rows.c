/* Streams of events (live_rows.h).
 *
 *   begin ──▶ list of streams ──▶ on_tick ──▶ look (thread) ──▶ on_looked: each its own tenant's
 * rows ▲                              │ └──────────────────────────────┘ while somebody listens
 *
 * A stream whose client does not read on is ended: the browser asks again with the number of the
 * last row it saw. So is one whose token has expired, and every one when weir.yaml is read again: a
 * stream has no end of its own, and would go on telling somebody who was taken out. Every 15 s
 * without a row a comment is sent, so that what is in between does not think the connection dead.
 */
#include "proxy/live_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/vec.h"
#include "json/write.h"
#include "proxy/pages.h"
#include "traffic/rows.h"
#include "traffic/traffic.h"

enum { EVENTS_BYTES_MAX = 8 * 1024 * 1024, QUIET_TICKS_MAX = 15000 / WR_TRAFFIC_POLL_MS };

struct stream {
    struct stream *next;
    struct wr_live_rows *live;
    struct wr_conn *conn; /* NULL: the client is gone; freed at the next tick */
    char tenant[WR_TENANT_BYTES];
    const struct wr_user_token
        *token;       /* that let it in, of a configuration; NULL: none that ends */
    int64_t after_id; /* -1: from what comes next on */
    uint32_t quiet_ticks;
};

/* One event that a look has found; its text is in `events`. */
struct event {
    int64_t id;
    char tenant[WR_TENANT_BYTES];
    size_t from, to;
};

struct wr_live_rows {
    uv_timer_t timer;
    bool has_timer, is_closed;
    const bool *is_draining;
    struct stream *streams;
    size_t streams_count;
    int64_t seen_id; /* the newest row of all looks; -1: there was none yet */
    /* Of a look: the thread's while `is_looking`. */
    uv_work_t work;
    bool is_looking;
    struct wr_traffic *traffic;
    const struct wr_models *models;
    int64_t after_id; /* it reads what is behind; -1: nothing, it only learns which is the newest */
    int64_t newest_id;
    struct wr_buf text;
    struct event *events;
    size_t events_count, events_cap;
};

/* ---- looking, on a thread ---- */

struct looking {
    struct wr_live_rows *live;
    struct wr_traffic_rows rows;
    struct wr_json_writer w;
};

static weir_status take_row(void *user, const struct wr_ledger_row *row)
{
    struct looking *looking = user;
    struct wr_live_rows *live = looking->live;
    struct event event = {.id = row->id, .from = live->text.len};

    if (!WR_HEAP_ROOM(live->events, live->events_count, live->events_cap, 64))
        return WEIR_NOMEM;
    (void)snprintf(event.tenant, sizeof(event.tenant), "%.*s", (int)row->tenant.len,
                   row->tenant.ptr);
    wr_json_write_init(&looking->w, &live->text);
    wr_json_write_array(&looking->w);
    event.from = live->text.len;
    weir_status status = wr_traffic_rows_add(&looking->rows, row);
    event.to = live->text.len;
    live->newest_id = row->id;
    if (!status && event.to > event.from)
        live->events[live->events_count++] = event;
    return status;
}

static void look(uv_work_t *work)
{
    struct wr_live_rows *live = work->data;
    struct looking looking = {.live = live};

    live->events_count = 0;
    live->newest_id = live->after_id;
    wr_buf_reset(&live->text);
    if (live->after_id < 0) {
        if (wr_traffic_newest(live->traffic, &live->newest_id, NULL))
            live->newest_id = -1;
        return;
    }
    if (!wr_traffic_rows_init(&looking.rows, live->models, &looking.w)) {
        looking.rows.names_session = true;
        if (wr_traffic_follow(live->traffic, live->after_id, take_row, &looking, NULL))
            looking.rows.count = 0; /* what was read is told, the rest at the next look */
    }
    wr_traffic_rows_release(&looking.rows);
}

/* ---- streams ---- */

static void end_stream(struct stream *stream)
{
    struct wr_conn *conn = stream->conn;
    stream->conn = NULL;
    if (conn)
        wr_conn_end(conn);
}

static void drop_gone(struct wr_live_rows *live)
{
    for (struct stream **at = &live->streams; *at;) {
        struct stream *stream = *at;
        if (stream->conn) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        live->streams_count--;
        free(stream);
    }
}

static void write_event(struct stream *stream, int64_t id, weir_span json)
{
    char head[64];
    weir_span line = wr_span_trim(json);

    (void)snprintf(head, sizeof(head), "id: %lld\nevent: request\ndata: ", (long long)id);
    wr_conn_write(stream->conn, wr_span_of(head));
    wr_conn_write(stream->conn, line);
    wr_conn_write(stream->conn, WR_LIT("\n\n"));
    stream->quiet_ticks = 0;
}

static void feed_stream(struct wr_live_rows *live, struct stream *stream)
{
    weir_span text = wr_buf_view(&live->text);

    /* A look may have begun further back, for somebody who has missed rows. */
    if (stream->after_id < 0)
        stream->after_id = live->seen_id < 0 ? live->newest_id : live->seen_id;
    for (size_t i = 0; i < live->events_count && stream->conn; i++) {
        const struct event *event = &live->events[i];
        if (event->id <= stream->after_id || strcmp(event->tenant, stream->tenant))
            continue;
        if (!wr_conn_has_room(stream->conn)) {
            end_stream(stream);
            return;
        }
        write_event(stream, event->id, wr_span_cut(text, event->from, event->to));
        stream->after_id = event->id;
    }
    if (stream->conn && ++stream->quiet_ticks > QUIET_TICKS_MAX) {
        wr_conn_write(stream->conn, WR_LIT(": still here\n\n"));
        stream->quiet_ticks = 0;
    }
}

static void on_looked(uv_work_t *work, int status)
{
    struct wr_live_rows *live = work->data;

    live->is_looking = false;
    if (!status && !live->is_closed && !wr_buf_status(&live->text))
        for (struct stream *s = live->streams; s; s = s->next)
            if (s->conn)
                feed_stream(live, s);
    if (!status && live->newest_id > live->seen_id)
        live->seen_id = live->newest_id;
    if (wr_buf_status(&live->text)) { /* too much at once: what is lost here is in the store */
        wr_buf_release(&live->text);
        wr_buf_init(&live->text, EVENTS_BYTES_MAX);
    }
}

/* The oldest row that somebody has not seen. */
static int64_t first_wanted(const struct wr_live_rows *live)
{
    int64_t after_id = live->seen_id;
    for (const struct stream *s = live->streams; s; s = s->next)
        if (s->after_id >= 0 && (after_id < 0 || s->after_id < after_id))
            after_id = s->after_id;
    return after_id;
}

static void on_tick(uv_timer_t *timer)
{
    struct wr_live_rows *live = timer->data;

    for (struct stream *s = live->streams; s; s = s->next)
        if (*live->is_draining || (s->token && !wr_user_token_is_good(s->token, wr_clock_ms())))
            end_stream(s);
    drop_gone(live);
    if (live->is_looking)
        return;
    if (!live->streams) {
        (void)uv_timer_stop(timer);
        live->seen_id = -1;
        return;
    }
    live->after_id = first_wanted(live);
    live->work.data = live;
    live->is_looking = !uv_queue_work(timer->loop, &live->work, look, on_looked);
}

void wr_live_rows_end_all(struct wr_live_rows *live)
{
    for (struct stream *s = live ? live->streams : NULL; s; s = s->next)
        end_stream(s);
}

/* ---- the request ---- */

static void on_body(void *user, weir_span bytes)
{
    (void)user;
    (void)bytes;
}

static void on_body_end(void *user)
{
    const struct wr_header headers[] = {
        {WR_LIT("Content-Type"), WR_LIT("text/event-stream; charset=utf-8")},
        {WR_LIT("Cache-Control"), WR_LIT("no-store")},
        {WR_LIT("X-Accel-Buffering"), WR_LIT("no")},
        {WR_LIT("X-Content-Type-Options"), WR_LIT("nosniff")}};
    struct stream *stream = user;
    struct wr_answer answer = {.status = 200,
                               .headers = headers,
                               .headers_count = WR_COUNT_OF(headers),
                               .content_bytes = -1};

    if (!stream->conn || wr_conn_has_begun(stream->conn))
        return;
    wr_conn_begin(stream->conn, &answer);
    wr_conn_write(stream->conn, WR_LIT("retry: 1000\n\n"));
}

static void on_room(void *user)
{
    (void)user;
}

static void on_gone(void *user)
{
    struct stream *stream = user;
    stream->conn = NULL;
}

static const struct wr_server_handler stream_handler = {NULL,    on_body, on_body_end, on_room,
                                                        on_gone, NULL,    NULL};

void *wr_live_rows_begin(struct wr_live_rows *live, struct wr_conn *conn,
                         const struct wr_head *head, const struct wr_entry *entry)
{
    uint64_t last_id;
    struct stream *stream = live->streams_count < WR_TRAFFIC_STREAMS_MAX && !live->is_closed
                                ? calloc(1, sizeof(*stream))
                                : NULL;

    if (!stream) {
        wr_page_error(conn, NULL, 503, "too many pages listen");
        return NULL;
    }
    *stream = (struct stream){
        .live = live, .conn = conn, .next = live->streams, .token = entry->token, .after_id = -1};
    if (wr_span_u64(wr_head_find(head, "last-event-id"), &last_id) && last_id <= INT64_MAX)
        stream->after_id = (int64_t)last_id;
    (void)snprintf(stream->tenant, sizeof(stream->tenant), "%s", entry->tenant);
    live->streams = stream;
    live->streams_count++;
    wr_conn_hand_over(conn, &stream_handler);
    if (!uv_is_active((uv_handle_t *)&live->timer))
        (void)uv_timer_start(&live->timer, on_tick, 0, WR_TRAFFIC_POLL_MS);
    return stream;
}

/* ---- life ---- */

struct wr_live_rows *wr_live_rows_new(uv_loop_t *loop, const char *store_dir,
                                      const struct wr_models *models, const bool *is_draining)
{
    struct wr_live_rows *live = calloc(1, sizeof(*live));

    if (!live)
        return NULL;
    live->models = models;
    live->is_draining = is_draining;
    live->seen_id = -1;
    live->traffic = wr_traffic_new(store_dir, models);
    wr_buf_init(&live->text, EVENTS_BYTES_MAX);
    live->timer.data = live;
    live->has_timer = live->traffic && !uv_timer_init(loop, &live->timer);
    if (live->has_timer)
        return live;
    wr_live_rows_free(live);
    return NULL;
}

void wr_live_rows_close(struct wr_live_rows *live)
{
    if (!live || live->is_closed)
        return;
    live->is_closed = true;
    uv_close((uv_handle_t *)&live->timer, NULL);
}

void wr_live_rows_free(struct wr_live_rows *live)
{
    if (!live)
        return;
    for (struct stream *s = live->streams; s; s = s->next)
        s->conn = NULL;
    drop_gone(live);
    wr_traffic_free(live->traffic);
    wr_buf_release(&live->text);
    free(live->events);
    free(live);
}
