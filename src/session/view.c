#include "session/view.h"

#include "base/span.h"
#include "base/text.h"
#include "policy/stage.h"

struct builder {
    struct wr_view *view;
    const struct wr_thread *thread;
    uint32_t *waiting; /* words, by number, until a turn begins */
    uint32_t waiting_count;
};

static struct wr_say *add(struct builder *b, enum wr_say_kind kind, weir_span text)
{
    struct wr_say *say = &b->view->says[b->view->says_count++];
    *say = (struct wr_say){.kind = kind, .text = text, .message = UINT32_MAX};
    return say;
}

static void add_message(struct builder *b, enum wr_say_kind kind, uint32_t number)
{
    const struct wr_message *message = &b->thread->messages[number];
    struct wr_say *say = add(b, kind, message->event.text);
    say->event = &message->event;
    say->tokens = message->tokens;
    say->call_tokens = message->call_tokens;
    say->message = number;
}

static bool has_head(const struct wr_thread *thread)
{
    for (uint32_t i = 0; i < thread->messages_count; i++)
        if (thread->messages[i].is_head)
            return true;
    return false;
}

static weir_status add_head(struct builder *b, struct wr_arena *arena)
{
    const struct wr_thread *t = b->thread;
    struct wr_buf notice;
    weir_span text;

    if (t->omitted_count) {
        wr_buf_init(&notice, 2 * WR_SESSION_PATH_BYTES_MAX);
        wr_fill_notice(&notice, t->omitted_count);
        if (t->history_path.len)
            wr_buf_printf(&notice, "\n[they are in %.*s%s]", (int)t->history_path.len,
                          t->history_path.ptr,
                          has_head(t) ? "; what the user said in them follows, word for word" : "");
        weir_status status = wr_text_keep(arena, &notice, &text);
        if (status)
            return status;
        add(b, WR_SAY_NOTICE, text)->tokens = t->count(t->user, text);
    }
    if (t->summary.len)
        add(b, WR_SAY_TEXT, t->summary)->tokens = t->summary_tokens;
    for (uint32_t i = 0; i < t->messages_count; i++)
        if (t->messages[i].is_head)
            add_message(b, WR_SAY_TEXT, i);
    return WEIR_OK;
}

static void deliver(struct builder *b)
{
    for (uint32_t i = 0; i < b->waiting_count; i++)
        add_message(b, WR_SAY_TEXT, b->waiting[i]);
    b->waiting_count = 0;
}

weir_status wr_view_build(struct wr_view *view, struct wr_arena *arena,
                          const struct wr_thread *thread)
{
    struct builder b = {.view = view, .thread = thread};

    *view = (struct wr_view){0};
    view->says = WR_ARENA_ARRAY(arena, struct wr_say, (size_t)thread->messages_count + 2);
    b.waiting = WR_ARENA_ARRAY(arena, uint32_t, (size_t)thread->messages_count + 1);
    if (!view->says || !b.waiting)
        return wr_arena_status(arena);
    weir_status status = add_head(&b, arena);
    for (uint32_t i = 0; i < thread->messages_count && !status; i++) {
        const struct wr_message *message = &thread->messages[i];
        if (message->is_head)
            continue;
        if (wr_message_is_words(message)) {
            b.waiting[b.waiting_count++] = i;
        } else if (message->event.kind == WR_EVENT_TURN) {
            deliver(&b);
            if (message->event.text.len)
                add_message(&b, WR_SAY_TEXT, i);
        } else {
            add_message(&b, message->event.kind == WR_EVENT_RESULT ? WR_SAY_RESULT : WR_SAY_ANSWER,
                        i);
        }
    }
    deliver(&b);
    return status;
}
