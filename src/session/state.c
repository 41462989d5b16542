#include "session/state.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"

/* A JSON string is a YAML string. */
static void quoted(struct wr_buf *out, const char *key, weir_span text)
{
    wr_buf_printf(out, "%s: \"", key);
    wr_json_escape(out, text);
    wr_buf_text(out, "\"\n");
}

static void number(struct wr_buf *out, const char *key, uint64_t value)
{
    wr_buf_printf(out, "%s: %llu\n", key, (unsigned long long)value);
}

static void write_message(struct wr_buf *out, const struct wr_message *message)
{
    const struct wr_event *event = &message->event;
    weir_span front = wr_text_head(event->text, WR_STATE_TEXT_CHARS_MAX);

    wr_buf_printf(out, "  - {seq: %llu, kind: %s, tokens: %llu", (unsigned long long)event->seq,
                  wr_event_kind_name(event->kind),
                  (unsigned long long)(message->tokens + message->call_tokens));
    if (event->calls_count)
        wr_buf_printf(out, ", calls: %u", event->calls_count);
    if (message->score)
        wr_buf_printf(out, ", score: %u", message->score);
    wr_buf_text(out, ", text: \"");
    wr_json_escape(out, front);
    wr_buf_text(out, front.len < event->text.len ? " ...\"}\n" : "\"}\n");
}

static void write_messages(struct wr_buf *out, const struct wr_state *state)
{
    const struct wr_thread *t = state->thread;
    uint64_t count = wr_thread_count(t);
    uint64_t skip = count > state->messages_max ? count - state->messages_max : 0;

    wr_buf_text(out, "messages:\n");
    for (uint32_t i = 0; i < t->messages_count; i++) {
        if (t->messages[i].event.kind == WR_EVENT_TURN)
            continue;
        if (skip)
            skip--;
        else
            write_message(out, &t->messages[i]);
    }
}

void wr_state_write(struct wr_buf *out, const struct wr_state *state, bool has_messages)
{
    const struct wr_thread *t = state->thread;

    quoted(out, "session", wr_span_of(state->name));
    quoted(out, "model", wr_span_of(state->model));
    quoted(out, "policy", wr_span_of(state->policy));
    number(out, "window_tokens", state->window_tokens);
    number(out, "checkpoint_seq", t->seq);
    number(out, "journal_bytes", state->journal_bytes);
    number(out, "turns", t->used.turns);
    number(out, "tokens", t->used.tokens);
    number(out, "tool_calls", t->used.tool_calls);
    number(out, "cost_micro_usd", t->used.cost_micro_usd);
    number(out, "pending_calls", t->pending_count);
    number(out, "messages_omitted", t->omitted_count);
    number(out, "messages_max", state->messages_max);
    wr_buf_printf(out, "paused: %s\n", t->is_paused ? "true" : "false");
    if (t->history_path.len)
        quoted(out, "history", t->history_path);
    if (has_messages)
        write_messages(out, state);
}
