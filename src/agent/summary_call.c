#include "agent/summary_call.h"

#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/utf8.h"

/* Only the newest part of a longer conversation goes to the model; the facts of the rest are in the
 * extract. */
enum { BYTES_A_TOKEN = 4 };

static const char instructions[] =
    "Summarise the conversation below for the agent that will go on with it. Keep what was asked, "
    "what was decided and why, files and their state, what failed with its exact message, and what "
    "is to be done next. Keep every path, name and number that the extract names. Write plain "
    "text, no preamble.\n\n";

void wr_summary_call_init(struct wr_summary_call *call)
{
    *call = (struct wr_summary_call){.model = NULL};
    wr_buf_init(&call->text, WR_AGENT_ANSWER_BYTES_MAX);
}

void wr_summary_call_release(struct wr_summary_call *call)
{
    wr_buf_release(&call->text);
}

/* ---- the request ---- */

static void write_request(const struct wr_summary_call *call, weir_span question,
                          uint64_t tokens_max, struct wr_buf *out)
{
    struct wr_body_head head = {.model = wr_span_of(call->model),
                                .output_tokens_max = tokens_max,
                                .is_for_provider = true,
                                .extra = WR_LIT("\"stream\":true")};
    struct wr_line line = {.kind = WR_LINE_WORDS, .text = question};
    struct wr_body body;

    wr_body_init(&body, call->endpoint->api, out);
    wr_body_begin(&body, &head);
    wr_body_line(&body, &line);
    wr_body_end(&body);
    wr_body_release(&body);
}

/* ---- asking, for so long ---- */

static void on_piece(void *user, enum wr_piece kind, weir_span text)
{
    struct wr_summary_call *call = user;
    if (kind == WR_PIECE_TEXT)
        wr_buf_append(&call->text, text);
}

static void on_late(uv_timer_t *timer)
{
    wr_client_interrupt(timer->data);
}

static void on_closed(uv_handle_t *handle)
{
    handle->data = NULL;
}

static enum wr_asked ask_within(struct wr_summary_call *call, weir_span body,
                                const struct weir_summary_task *task)
{
    struct wr_ask ask = {.endpoint = call->endpoint,
                         .session = call->session,
                         .body = body,
                         .on_piece = on_piece,
                         .user = call};
    struct wr_asked_result result;
    uv_timer_t timer;

    (void)uv_timer_init(&call->client->loop, &timer);
    timer.data = call->client;
    if (task->timeout_ms > 0)
        (void)uv_timer_start(&timer, on_late, (uint64_t)task->timeout_ms, 0);
    wr_client_ask(call->client, &ask, &result);
    if (result.asked == WR_ASKED_DONE && result.has_usage && task->spent)
        *task->spent = (struct weir_session_spent){.model = call->model, .usage = result.usage};
    wr_asked_release(&result);
    uv_close((uv_handle_t *)&timer, on_closed);
    while (timer.data)
        (void)uv_run(&call->client->loop, UV_RUN_ONCE);
    return result.asked;
}

/* Whether asking could cost more than the task allows. A model without a price is asked. */
static bool is_too_dear(const struct wr_summary_call *call, const struct weir_summary_task *task,
                        size_t question_bytes)
{
    struct weir_session_usage usage = {.input_tokens = question_bytes / BYTES_A_TOKEN,
                                       .output_tokens = task->tokens_max};
    uint64_t micro_usd;

    return call->live && task->cost_micro_usd_max &&
           weir_session_price(call->live, call->model, &usage, &micro_usd) &&
           micro_usd > task->cost_micro_usd_max;
}

static void write_question(struct wr_buf *question, const struct weir_summary_task *task)
{
    weir_span history = task->history;

    wr_buf_text(question, instructions);
    if (task->refused)
        wr_buf_printf(question,
                      "You were asked before, and what you wrote was not taken: %s. Name every "
                      "changed file, every open error and every open item of the extract.\n\n",
                      task->refused);
    wr_buf_text(question, "THE EXTRACT\n");
    wr_buf_append(question, task->extracted);
    wr_buf_text(question, "\n\nTHE CONVERSATION\n");
    if (history.len > WR_AGENT_SUMMARY_BYTES_MAX) {
        size_t from = history.len - WR_AGENT_SUMMARY_BYTES_MAX;
        while (from < history.len && wr_utf8_is_tail(history.ptr[from]))
            from++;
        wr_buf_printf(question, "[... its first %zu bytes are left out: the extract has them]\n",
                      from);
        history = wr_span_cut(history, from, history.len);
    }
    wr_buf_append(question, history);
}

weir_status wr_summary_call(void *user, const struct weir_summary_task *task, weir_span *text)
{
    struct wr_summary_call *call = user;
    struct wr_buf question, body;

    wr_buf_reset(&call->text);
    wr_buf_init(&question, WR_AGENT_FILE_BYTES_MAX);
    wr_buf_init(&body, WR_AGENT_FILE_BYTES_MAX * 2);
    write_question(&question, task);
    write_request(call, wr_buf_view(&question), task->tokens_max, &body);
    weir_status status = wr_buf_status(&question) || wr_buf_status(&body) ? WEIR_IO : WEIR_OK;
    if (!status && is_too_dear(call, task, question.len))
        status = WEIR_LIMIT;
    if (!status && ask_within(call, wr_buf_view(&body), task) != WR_ASKED_DONE)
        status = WEIR_IO;
    wr_buf_release(&question);
    wr_buf_release(&body);
    *text = wr_buf_view(&call->text);
    return status ? status : wr_buf_status(&call->text);
}
