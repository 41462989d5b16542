/* `weir agent` without a terminal, for scripts: text, or one JSON object a line (--json).
 *
 * The pieces of a text are put together and written as one event when something else happens,
 * because a line of JSON for every few letters is of no use to a script. Nobody can be asked for
 * consent here: without --yes every call that needs it is refused, and the model is told so.
 */
#include "agent/headless.h"

#include <unistd.h>

#include "agent/screen.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"

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
