/* `weir agent` without a terminal, for scripts: text, or one JSON object a line (--json).
 *
 * The pieces of a text are put together and written as one event when something else happens,
 * because a line of JSON for every few letters is of no use to a script. Nobody can be asked for
 * consent here: without --yes every call that needs it is refused, and the model is told so.
 */
#include "agent/headless.h"

#include <time.h>
#include <unistd.h>

#include "agent/screen.h"
#include "agent/toolbox.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/write.h"
#include "session/journal.h"

/* ---- watch ---- */

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

/* ---- headless ---- */

void wr_headless_init(struct wr_headless *h, FILE *out, bool is_json)
{
    *h = (struct wr_headless){.out = out, .is_json = is_json, .last = '\n'};
    h->is_terminal = isatty(fileno(out));
    wr_buf_init(&h->text, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&h->line, WR_AGENT_ANSWER_BYTES_MAX * 2);
}

void wr_headless_release(struct wr_headless *h)
{
    wr_buf_release(&h->text);
    wr_buf_release(&h->line);
}

/* ---- lines ---- */

static struct wr_json_writer begin_event(struct wr_headless *h, const char *type)
{
    struct wr_json_writer w;
    wr_buf_reset(&h->line);
    wr_json_write_init(&w, &h->line);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "type", type);
    return w;
}

static void end_event(struct wr_headless *h, struct wr_json_writer *w)
{
    wr_json_write_object_end(w);
    wr_buf_byte(&h->line, '\n');
    if (!wr_buf_status(&h->line))
        (void)fwrite(h->line.bytes, 1, h->line.len, h->out);
    (void)fflush(h->out);
}

/* What was said so far, as one line. */
static void flush_text(struct wr_headless *h)
{
    if (h->is_json && h->text.len) {
        struct wr_json_writer w = begin_event(h, "text");
        wr_json_member_text(&w, "text", wr_buf_view(&h->text));
        end_event(h, &w);
        wr_buf_reset(&h->text);
    }
    if (!h->is_json && h->last != '\n') {
        (void)fputc('\n', h->out);
        h->last = '\n';
    }
}

/* ---- the view ---- */

/* A line for people. */
static void tell_on_stderr(const char *what, weir_span text)
{
    (void)fputs(what, stderr);
    wr_plain_text_put(stderr, text);
    (void)fputc('\n', stderr);
}

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct wr_headless *h = user;

    if (kind != WR_PIECE_TEXT || !text.len)
        return;
    if (h->is_json) {
        wr_buf_append(&h->text, text);
        return;
    }
    if (h->is_terminal)
        wr_plain_text_put(h->out, text);
    else
        (void)fwrite(text.ptr, 1, text.len, h->out);
    (void)fflush(h->out);
    h->last = text.ptr[text.len - 1];
}

static void on_call(void *user, const struct weir_call *call, weir_span line)
{
    struct wr_headless *h = user;

    flush_text(h);
    if (!h->is_json) {
        tell_on_stderr("● ", line);
        return;
    }
    struct wr_json_writer w = begin_event(h, "call");
    wr_json_member_text(&w, "id", call->id);
    wr_json_member_text(&w, "name", call->name);
    wr_json_member_text(&w, "arguments", call->arguments);
    end_event(h, &w);
}

static void on_result(void *user, const struct weir_call *call, weir_span text, bool is_error)
{
    struct wr_headless *h = user;

    if (!h->is_json)
        return;
    struct wr_json_writer w = begin_event(h, "result");
    wr_json_member_text(&w, "id", call->id);
    wr_json_member_bool(&w, "is_error", is_error);
    wr_json_member_text(&w, "text", text);
    end_event(h, &w);
}

static enum wr_consent on_consent(void *user, const struct weir_call *call,
                                  const struct wr_consent_asked *asked)
{
    (void)user;
    (void)call;
    tell_on_stderr("weir agent: not allowed without --yes: ", asked->line);
    return WR_CONSENT_NO;
}

static void on_notice(void *user, const char *text)
{
    struct wr_headless *h = user;

    flush_text(h);
    if (!h->is_json) {
        tell_on_stderr("weir agent: ", wr_span_of(text));
        return;
    }
    struct wr_json_writer w = begin_event(h, "notice");
    wr_json_member_text(&w, "text", wr_span_of(text));
    end_event(h, &w);
}

static void on_turn(void *user, const struct weir_session_turn *turn)
{
    struct wr_headless *h = user;

    flush_text(h);
    if (!h->is_json)
        return;
    struct wr_json_writer w = begin_event(h, "turn");
    wr_json_member_number(&w, "tokens_before", turn->tokens_before);
    wr_json_member_number(&w, "tokens_after", turn->tokens_after);
    wr_json_member_number(&w, "window_tokens", turn->window_tokens);
    wr_json_member_bool(&w, "is_changed", turn->is_changed);
    wr_json_member_bool(&w, "is_compacted", turn->is_compacted);
    if (turn->step_reason)
        wr_json_member_text(&w, "step_reason", wr_span_of(turn->step_reason));
    end_event(h, &w);
}

static bool on_steering(void *user, struct wr_buf *line)
{
    (void)user;
    (void)line;
    return false;
}

struct wr_view wr_headless_view(struct wr_headless *headless)
{
    return (struct wr_view){.user = headless,
                            .piece = on_piece,
                            .call = on_call,
                            .result = on_result,
                            .consent = on_consent,
                            .notice = on_notice,
                            .turn = on_turn,
                            .steering = on_steering};
}

void wr_headless_end(struct wr_headless *h, struct wr_agent *agent, enum wr_worked worked)
{
    static const char *const words[] = {[WR_WORKED_DONE] = "done",
                                        [WR_WORKED_INTERRUPTED] = "interrupted",
                                        [WR_WORKED_LIMIT] = "limit",
                                        [WR_WORKED_FAILED] = "failed"};
    struct weir_session_run run;

    flush_text(h);
    if (!h->is_json)
        return;
    weir_session_run(agent->session, wr_clock_ms(), &run);
    struct wr_json_writer w = begin_event(h, "end");
    wr_json_member_text(&w, "outcome", wr_span_of(words[worked]));
    wr_json_member_text(&w, "session", wr_span_of(agent->name));
    wr_json_member_number(&w, "turns", run.turns);
    wr_json_member_number(&w, "tokens", run.tokens);
    wr_json_member_number(&w, "tool_calls", run.tool_calls);
    if (run.is_cost_known) {
        wr_json_member_number(&w, "cost_micro_usd", run.cost_micro_usd);
    } else {
        wr_json_member_null(&w, "cost_micro_usd");
    }
    if (run.limit)
        wr_json_member_text(&w, "limit", wr_span_of(run.limit));
    end_event(h, &w);
}
