#include "agent/chat_steer.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/steer.h"

/* ---- what is said of the session ---- */

static bool has_store(const struct wr_chat *chat, struct wr_buf *out)
{
    if (!chat->store)
        wr_buf_text(out, "this session has no store: nothing is taken out of it\n");
    return chat->store;
}

static bool say_order(struct wr_chat *chat, const struct wr_order *order, struct wr_buf *out)
{
    struct wr_order_said said = {.tenant = chat->agent->toolbox.tenant,
                                 .session = wr_span_of(chat->agent->name),
                                 .orders = order,
                                 .orders_count = 1,
                                 .now_ms = wr_clock_ms()};
    struct wr_order_head head;
    struct weir_err err = {0};

    weir_status status = wr_order_say(chat->store, &said, &head, &err);
    if (status)
        wr_buf_printf(out, "not done: %s\n", err.text[0] ? err.text : weir_status_text(status));
    return !status;
}

static void list_pins(struct wr_chat *chat, struct wr_buf *out)
{
    weir_span tenant = chat->agent->toolbox.tenant, session = wr_span_of(chat->agent->name);
    struct wr_order_head head;
    struct wr_arena arena;
    struct wr_buf pins;
    weir_span line;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&pins, WR_AGENT_FILE_BYTES_MAX);
    bool is_known = !wr_order_head_read(chat->store, tenant, session, &head) &&
                    !wr_order_pins(chat->store, tenant, session, head.count, &arena, &pins);
    weir_span rest = wr_buf_view(&pins);
    if (!is_known)
        wr_buf_text(out, "what is pinned cannot be read from the store\n");
    else if (!rest.len)
        wr_buf_text(out, "nothing is pinned; /pin PATH keeps a file's text in the prompt\n");
    while (is_known && wr_span_line(&rest, &line)) {
        wr_buf_text(out, "pinned: ");
        wr_buf_append(out, wr_span_starts(line, WR_LIT("pin ")) ? wr_span_from(line, 4) : line);
        wr_buf_byte(out, '\n');
    }
    wr_buf_release(&pins);
    wr_arena_release(&arena);
}

void wr_chat_pin(struct wr_chat *chat, weir_span what, bool is_pin, struct wr_buf *out)
{
    struct wr_order order = {
        .kind = is_pin ? WR_ORDER_PIN : WR_ORDER_UNPIN, .pin = WR_PIN_PATH, .name = what};

    if (!has_store(chat, out))
        return;
    if (!what.len) {
        list_pins(chat, out);
        return;
    }
    if (wr_span_starts(what, WR_LIT("tool "))) {
        order.pin = WR_PIN_TOOL;
        order.name = wr_span_trim(wr_span_from(what, 5));
    } else if (wr_span_starts(what, WR_LIT("wr_"))) {
        order.pin = WR_PIN_HANDLE;
    } else if (wr_span_starts(what, WR_LIT("@"))) { /* as Tab completes it */
        order.name = wr_span_from(what, 1);
    }
    if (say_order(chat, &order, out))
        wr_buf_printf(out,
                      is_pin ? "%.*s stays whole; what is out comes back with the next step\n"
                             : "%.*s may be taken out again\n",
                      (int)order.name.len, order.name.ptr);
}

void wr_chat_undo_step(struct wr_chat *chat, struct wr_buf *out)
{
    struct wr_order order = {.kind = WR_ORDER_UNDO};

    if (has_store(chat, out) && say_order(chat, &order, out))
        wr_buf_text(out, "what the last step took is in the next request again; the provider's "
                         "cache is written anew from there\n");
}

/* ---- what is out ---- */

static void put_next(struct wr_buf *out, const char *what, uint64_t at, uint64_t used)
{
    if (!at)
        return;
    wr_buf_printf(out, "next: at %s tokens %s", WR_GROUPED(at), what);
    if (at > used)
        wr_buf_printf(out, " (%s to go)\n", WR_GROUPED(at - used));
    else
        wr_buf_text(out, " (with the next request)\n");
}

void wr_chat_plan(struct wr_chat *chat, struct wr_buf *out)
{
    weir_span left = weir_session_left_out(chat->agent->session);
    struct weir_session_context context;

    weir_session_context(chat->agent->session, &context);
    if (left.len)
        wr_buf_text(out, "out of the last request, in tokens:\n");
    else
        wr_buf_text(out, context.is_sent ? "nothing is out of the last request\n"
                                         : "no request has left since the session was opened\n");
    wr_buf_append(out, left);
    if (context.messages_omitted)
        wr_buf_printf(out, "%s older messages are in the summary or left out\n",
                      WR_GROUPED(context.messages_omitted));
    put_next(out, "older results are cleared", context.clear_at_tokens, context.total_tokens);
    put_next(out, "older turns are summarised", context.summarise_at_tokens, context.total_tokens);
    if (chat->store)
        list_pins(chat, out);
}

void wr_chat_why(struct wr_chat *chat, weir_span what, struct wr_buf *out)
{
    weir_span rest = weir_session_left_out(chat->agent->session), line;
    size_t begin = out->len;

    if (!what.len) {
        wr_buf_text(out, "/why PATH or HANDLE, of something that /plan lists\n");
        return;
    }
    while (wr_span_line(&rest, &line))
        if (wr_span_has(line, what)) {
            wr_buf_append(out, line);
            wr_buf_byte(out, '\n');
        }
    if (out->len == begin)
        wr_buf_printf(out, "nothing of that name is out of the last request\n");
    else
        wr_buf_text(out, "the word behind the tokens is what became of it, the one in brackets the "
                         "stage that did it (docs/policies.md)\n/pin keeps it, weir_recall brings "
                         "it back by its handle, /undo step takes the last step back\n");
}
