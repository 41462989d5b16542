#include "agent/summary_call.h"

#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"
#include "session/answer.h"

/* Of a conversation that is longer, its newest part goes to the model; its facts are in the
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

static void put(struct wr_json_writer *w, const char *key, weir_span text)
{
    wr_json_write_key(w, key);
    wr_json_write_text(w, text);
}

static void put_number(struct wr_json_writer *w, const char *key, uint64_t number)
{
    wr_json_write_key(w, key);
    wr_json_write_i64(w, (int64_t)number);
}

static void put_question(struct wr_json_writer *w, weir_dialect dialect, weir_span question)
{
    if (dialect == WEIR_DIALECT_RESPONSES) {
        put(w, "input", question);
        return;
    }
    wr_json_write_key(w, "messages");
    wr_json_write_array(w);
    wr_json_write_object(w);
    put(w, "role", WR_LIT("user"));
    put(w, "content", question);
    wr_json_write_object_end(w);
    wr_json_write_array_end(w);
}

static void write_request(const struct wr_summary_call *call, weir_span question,
                          uint64_t tokens_max, struct wr_buf *out)
{
    static const char *const caps[] = {[WEIR_DIALECT_CHAT] = "max_completion_tokens",
                                       [WEIR_DIALECT_RESPONSES] = "max_output_tokens",
                                       [WEIR_DIALECT_MESSAGES] = "max_tokens"};
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    put(&w, "model", wr_span_of(call->model));
    put_question(&w, call->endpoint->dialect, question);
    put_number(&w, caps[call->endpoint->dialect], tokens_max);
    wr_json_write_key(&w, "stream");
    wr_json_write_bool(&w, true);
    if (call->endpoint->dialect == WEIR_DIALECT_RESPONSES) {
        wr_json_write_key(&w, "store");
        wr_json_write_bool(&w, false);
    }
    wr_json_write_object_end(&w);
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

static void note_used(const struct wr_summary_call *call, weir_span body,
                      struct weir_session_spent *spent)
{
    struct weir_answer answer = {.dialect = call->endpoint->dialect};
    struct weir_session_usage usage = {0};
    struct wr_arena arena;
    bool has_usage = false;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!wr_answer_read(&answer, &arena, answer.dialect, body, &usage, &has_usage, NULL) &&
        has_usage && spent)
        *spent = (struct weir_session_spent){.model = call->model, .usage = usage};
    wr_arena_release(&arena);
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
    if (result.asked == WR_ASKED_DONE)
        note_used(call, wr_buf_view(&result.body), task->spent);
    wr_buf_release(&result.body);
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
    wr_buf_text(question, "THE EXTRACT\n");
    wr_buf_append(question, task->extracted);
    wr_buf_text(question, "\n\nTHE CONVERSATION\n");
    if (history.len > WR_AGENT_SUMMARY_BYTES_MAX) {
        size_t from = history.len - WR_AGENT_SUMMARY_BYTES_MAX;
        while (from < history.len && ((unsigned char)history.ptr[from] & 0xC0) == 0x80)
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
