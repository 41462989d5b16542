#include "agent/watch.h"

#include <time.h>

#include "agent/screen.h"
#include "agent/toolbox.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "session/follow.h"

enum { NAP_MS = 100, IDLE_NAPS_MAX = 20, LINE_CHARS_MAX = 100 };

static void put_line(const struct wr_watch *w, const char *sign, weir_span text)
{
    (void)fputs(sign, w->out);
    wr_plain_text_put(w->out, wr_span_trim(text));
    (void)fputc('\n', w->out);
}

static void put_short(const struct wr_watch *w, const char *sign, weir_span text)
{
    struct wr_buf line;

    wr_buf_init(&line, WR_AGENT_READ_BYTES_MAX);
    wr_text_one_line_max(&line, text, LINE_CHARS_MAX);
    put_line(w, sign, wr_buf_status(&line) ? (weir_span){"", 0} : wr_buf_view(&line));
    wr_buf_release(&line);
}

static void put_calls(const struct wr_watch *w, const struct wr_event *event)
{
    struct wr_buf line;

    wr_buf_init(&line, WR_AGENT_READ_BYTES_MAX);
    for (uint32_t i = 0; i < event->calls_count; i++) {
        struct wr_tool_call_text text = {event->calls[i].name, event->calls[i].arguments};
        wr_buf_reset(&line);
        wr_toolbox_describe(&text, &line);
        put_short(w, "● ", wr_buf_view(&line));
    }
    wr_buf_release(&line);
}

static void put_text_of(const struct wr_watch *w, const struct wr_event *event)
{
    switch (event->kind) {
    case WR_EVENT_USER:
    case WR_EVENT_STEERING:
        put_line(w, "> ", event->text);
        break;
    case WR_EVENT_ASSISTANT:
        if (wr_span_trim(event->text).len)
            put_line(w, "", event->text);
        put_calls(w, event);
        break;
    case WR_EVENT_RESULT:
        put_short(w, event->is_error ? "  failed: " : "  ", event->text);
        break;
    case WR_EVENT_MODEL:
        put_line(w, "model: ", event->model);
        break;
    case WR_EVENT_COMPACTION:
        put_line(w, "older turns left the prompt: ", event->why);
        break;
    case WR_EVENT_NOTE:
        put_line(w, "note: ", event->text);
        break;
    default:
        break;
    }
}

static weir_status show_event(void *user, const struct wr_event *event, weir_span line)
{
    const struct wr_watch *w = user;

    if (w->is_json) {
        (void)fwrite(line.ptr, 1, line.len, w->out);
        (void)fputc('\n', w->out);
    } else {
        put_text_of(w, event);
    }
    return ferror(w->out) ? WEIR_IO : WEIR_OK;
}

weir_status wr_watch_session(const struct wr_watch *watch, const char *dir, struct weir_err *err)
{
    struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    struct wr_watch own = *watch;
    struct wr_follow follow;
    pid_t pid;

    weir_status status = wr_follow_open(&follow, dir, show_event, &own, err);
    if (status)
        return status;
    for (int idle = 0; !status && idle < IDLE_NAPS_MAX; idle++) {
        uint64_t before = follow.scan.seq;
        bool is_held = wr_journal_is_held(dir, &pid); /* first: what is written before it ends */
        status = wr_follow_read(&follow, err);
        (void)fflush(own.out);
        if (is_held || follow.scan.seq != before)
            idle = 0;
        if (!status)
            (void)nanosleep(&nap, NULL);
    }
    wr_follow_close(&follow);
    return status;
}
