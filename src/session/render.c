/* What a request says, in the order it says it (a view), and the lines of a request out of it:
 * which of the provider's own items go back, what a result without a word says, where the cache
 * markers stand. How a line looks is the API's. */
#include "session/render.h"

#include <stdio.h>

#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "policy/stage.h"
#include "session/images.h"

/* ---- view ---- */

struct builder {
    struct wr_view *view;
    const struct wr_thread *thread;
    uint32_t *waiting; /* words, by number, until a turn begins */
    uint32_t waiting_count;
};

static struct wr_say *add_say(struct builder *b, enum wr_say_kind kind, weir_span text)
{
    struct wr_say *say = &b->view->says[b->view->says_count++];
    *say = (struct wr_say){.kind = kind, .text = text, .message = UINT32_MAX};
    return say;
}

static void add_message(struct builder *b, enum wr_say_kind kind, uint32_t number)
{
    const struct wr_message *message = &b->thread->messages[number];
    struct wr_say *say = add_say(b, kind, message->event.text);
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
        add_say(b, WR_SAY_NOTICE, text)->tokens = t->count(t->user, text);
    }
    if (t->summary.len)
        add_say(b, WR_SAY_TEXT, t->summary)->tokens = t->summary_tokens;
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

/* ---- the body of a request ---- */

struct renderer {
    const struct wr_render *r;
    struct wr_body body;
    struct wr_arena arena;
    uint32_t marked[2]; /* says that end with a cache marker */
};

/* ---- answers ---- */

/* Whether the provider's own items go back: to the same model, over the same API. */
static bool has_items(const struct renderer *a, const struct wr_event *event)
{
    return event->items_count && event->dialect == a->r->dialect &&
           wr_span_eq(event->model, a->r->model);
}

/* The items that can go back. */
static void list_items(struct renderer *a, const struct wr_event *event, struct wr_line *line)
{
    const struct wr_api *api = a->body.api;
    weir_span *items = WR_ARENA_ARRAY(&a->arena, weir_span, event->items_count);

    if (!items) {
        a->body.w.out->status = wr_arena_status(&a->arena);
        return;
    }
    line->items = items;
    for (uint32_t i = 0; i < event->items_count; i++)
        if (!api->drops_item ||
            !api->drops_item(&a->body, event->items[i], event->seq < a->r->binds_after))
            items[line->items_count++] = event->items[i];
}

/* False: it says nothing. */
static bool answer_line(struct renderer *a, const struct wr_event *event, struct wr_line *line)
{
    *line = (struct wr_line){.kind = WR_LINE_ANSWER};
    if (has_items(a, event)) {
        list_items(a, event, line);
        return line->items_count;
    }
    if (!wr_text_is_blank(event->text))
        line->text = event->text;
    line->calls = event->calls;
    line->calls_count = event->calls_count;
    return line->text.len || line->calls_count;
}

/* ---- says ---- */

static struct wr_line result_line(const struct wr_say *say)
{
    return (struct wr_line){.kind = WR_LINE_RESULT,
                            .text = wr_text_is_blank(say->text) ? WR_LIT("(no output)") : say->text,
                            .call_id = say->event->call_id,
                            .is_error = say->event->is_error};
}

static void say_of_images(struct renderer *a, struct wr_line *line, weir_span said)
{
    struct wr_buf text;

    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&text, line->text);
    wr_buf_append(&text, said);
    weir_status status = wr_text_keep(&a->arena, &text, &line->text);
    if (status && !a->body.w.out->status)
        a->body.w.out->status = status;
}

/* Words whose images are gone say so: the model would look for them in vain. */
static void add_images(struct renderer *a, const struct wr_event *event, struct wr_line *line)
{
    char said[100];
    uint32_t missing = 0;

    if (!event || !event->images.len || !a->r->dir || event->seq <= a->r->blind_seq)
        return;
    if (event->seq <= a->r->crowded_seq) {
        say_of_images(a, line, WR_LIT("\n[the images are left out: newer ones take their room]"));
        return;
    }
    weir_status status = wr_images_load(a->r->dir, event->images, &a->arena, line, &missing);
    if (status && !a->body.w.out->status)
        a->body.w.out->status = status;
    (void)snprintf(said, sizeof(said), "\n[%u of the images are gone from the session's folder]",
                   missing);
    if (missing)
        say_of_images(a, line, wr_span_of(said));
}

/* The ends of the newest user message and of the one before: the provider has written up to the
 * second and reads it there. */
static void find_marked(struct renderer *a)
{
    const struct wr_view *view = a->r->view;
    uint32_t found = 0;

    a->marked[0] = a->marked[1] = UINT32_MAX;
    for (uint32_t i = view->says_count; i-- > 0 && found < 2 && a->r->has_markers;) {
        bool is_last = i + 1 == view->says_count || !wr_say_is_user(&view->says[i + 1]);
        if (is_last && wr_say_is_user(&view->says[i]))
            a->marked[found++] = i;
    }
}

static void write_says(struct renderer *a)
{
    const struct wr_view *view = a->r->view;

    for (uint32_t i = 0; i < view->says_count; i++) {
        const struct wr_say *say = &view->says[i];
        struct wr_line line = {.kind = WR_LINE_WORDS, .text = say->text};
        if (say->kind == WR_SAY_ANSWER && !answer_line(a, say->event, &line))
            continue;
        if (say->kind == WR_SAY_NOTICE)
            line.kind = WR_LINE_NOTICE;
        else if (say->kind == WR_SAY_RESULT)
            line = result_line(say);
        else if (say->kind == WR_SAY_TEXT)
            add_images(a, say->event, &line);
        wr_body_line(&a->body, &line);
        if (i == a->marked[0] || i == a->marked[1])
            wr_body_mark(&a->body);
    }
}

void wr_render_write(const struct wr_render *r, struct wr_buf *out)
{
    struct renderer a = {.r = r};
    struct wr_body_head head = {.model = r->model,
                                .output_tokens_max = r->output_tokens_max,
                                .has_markers = r->has_markers,
                                .extra = r->extra,
                                .tools = r->tools,
                                .tools_count = r->tools_count,
                                .prompts = r->prompt.len ? &r->prompt : NULL,
                                .prompts_count = r->prompt.len ? 1 : 0};

    wr_arena_init(&a.arena, WR_ARENA_BYTES_MAX);
    wr_body_init(&a.body, wr_api_of(r->dialect), out);
    a.body.joins = true;
    a.body.alternates = r->alternates;
    find_marked(&a);
    wr_body_begin(&a.body, &head);
    write_says(&a);
    wr_body_end(&a.body);
    wr_body_release(&a.body);
    wr_arena_release(&a.arena);
}
