/* The lines of a request out of a view: which of the provider's own items go back, what a result
 * without a word says, where the cache markers stand. How a line looks is the API's. */
#include "session/render.h"

#include <stdio.h>

#include "api/write.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "session/images.h"

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
