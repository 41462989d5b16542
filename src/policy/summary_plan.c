/* Plans: lists that a tool replaces whole (TodoWrite, update_plan), or builds item by item
 * (TaskCreate, TaskUpdate). */
#include "policy/summary_facts.h"

#include "base/span.h"
#include "base/text.h"
#include "policy/call.h"

struct plan {
    struct wr_facts *facts;
    struct wr_arena *arena;
    weir_span ids[WR_FACT_ITEMS_MAX]; /* of items made one by one */
};

static enum wr_fact_progress progress_of(const struct wr_json *doc, wr_json_id status)
{
    static const char *const done[] = {"completed", "done", "complete", "cancelled", "deleted"};
    static const char *const active[] = {"in_progress", "in-progress", "active"};
    for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++)
        if (wr_json_text_is(doc, status, done[i]))
            return WR_FACT_DONE;
    for (size_t i = 0; i < sizeof(active) / sizeof(active[0]); i++)
        if (wr_json_text_is(doc, status, active[i]))
            return WR_FACT_ACTIVE;
    return WR_FACT_PENDING;
}

static weir_status add_item(struct plan *plan, const struct wr_json *doc, wr_json_id text,
                            wr_json_id progress)
{
    struct wr_facts *facts = plan->facts;
    struct wr_buf buf;
    weir_span raw = wr_json_text(doc, plan->arena, text);

    if (!raw.ptr)
        return wr_arena_status(plan->arena);
    if (facts->items_count == WR_FACT_ITEMS_MAX)
        return WEIR_OK;
    struct wr_fact_item *item = &facts->items[facts->items_count];
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_text_one_line_max(&buf, raw, WR_FACT_LINE_CHARS_MAX);
    weir_status status = wr_text_keep(plan->arena, &buf, &item->text);
    if (status || !item->text.len)
        return status;
    item->progress = progress_of(doc, progress);
    plan->ids[facts->items_count++] = (weir_span){"", 0};
    return WEIR_OK;
}

/* What an item is called: the first of these that is a text. */
static wr_json_id text_of_item(const struct wr_json *doc, wr_json_id item)
{
    static const char *const names[] = {"content", "step",        "subject", "title",
                                        "text",    "description", "task"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        wr_json_id value = wr_json_find(doc, item, names[i]);
        if (wr_json_is(doc, value, WR_JSON_STRING))
            return value;
    }
    return WR_JSON_NONE;
}

/* A list in the arguments replaces the plan. */
static wr_json_id list_of(const struct wr_json *doc)
{
    static const char *const names[] = {"todos", "plan", "items", "tasks", "todoList"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        wr_json_id value = wr_json_find(doc, 0, names[i]);
        if (wr_json_is(doc, value, WR_JSON_ARRAY))
            return value;
    }
    return WR_JSON_NONE;
}

static weir_status replace_plan(struct plan *plan, const struct wr_json *doc, wr_json_id list)
{
    weir_status status = WEIR_OK;
    plan->facts->items_count = 0;
    for (wr_json_id item = wr_json_first(doc, list); item != WR_JSON_NONE && !status;
         item = wr_json_next(doc, list, item)) {
        wr_json_id text = text_of_item(doc, item);
        if (text != WR_JSON_NONE)
            status = add_item(plan, doc, text, wr_json_find(doc, item, "status"));
    }
    return status;
}

/* "Task #7 created": the digits behind the first '#'. */
static weir_span id_in_result(weir_span text)
{
    size_t from = wr_span_find(text, WR_LIT("#"), 0), to;
    if (from == SIZE_MAX)
        return (weir_span){"", 0};
    for (to = ++from; to < text.len && text.ptr[to] >= '0' && text.ptr[to] <= '9'; to++)
        ;
    return wr_span_cut(text, from, to);
}

static weir_status create_item(struct plan *plan, const struct wr_json *doc, wr_json_id subject,
                               weir_span result)
{
    uint32_t at = plan->facts->items_count;
    weir_status status = add_item(plan, doc, subject, WR_JSON_NONE);
    if (!status && plan->facts->items_count > at)
        plan->ids[at] = id_in_result(result);
    return status;
}

static weir_status update_item(struct plan *plan, const struct wr_json *doc, wr_json_id id)
{
    wr_json_id progress = wr_json_find(doc, 0, "status");
    if (!wr_json_is(doc, id, WR_JSON_STRING) || !wr_json_is(doc, progress, WR_JSON_STRING))
        return WEIR_OK;
    weir_span wanted = wr_json_text(doc, plan->arena, id);
    if (!wanted.ptr)
        return wr_arena_status(plan->arena);
    for (uint32_t i = 0; i < plan->facts->items_count && wanted.len; i++)
        if (wr_span_eq(plan->ids[i], wanted))
            plan->facts->items[i].progress = progress_of(doc, progress);
    return WEIR_OK;
}

static weir_status read_call(struct plan *plan, const struct wr_facts_range *range, uint32_t call)
{
    uint32_t result = range->transcript->segments[call].pair;
    weir_span text = {"", 0};
    struct wr_call about;
    struct wr_json doc;

    weir_status status = wr_call_read(&about, plan->arena, range->transcript, call);
    if (status || !about.handles || about.handles->kind != WR_EFFECT_PLAN)
        return status;
    if (wr_json_parse(&doc, plan->arena, about.arguments, NULL, NULL))
        return wr_arena_status(plan->arena);
    if (result != WR_SEGMENT_NONE && wr_facts_include(range, result))
        text = wr_call_result(range->transcript, result, plan->arena);
    if (!text.ptr)
        return wr_arena_status(plan->arena);

    wr_json_id list = list_of(&doc), subject = wr_json_find(&doc, 0, "subject");
    wr_json_id id = wr_json_find(&doc, 0, "taskId");
    if (list != WR_JSON_NONE)
        return replace_plan(plan, &doc, list);
    if (id != WR_JSON_NONE)
        return update_item(plan, &doc, id);
    return wr_json_is(&doc, subject, WR_JSON_STRING) ? create_item(plan, &doc, subject, text)
                                                     : WEIR_OK;
}

weir_status wr_facts_read_plan(struct wr_facts *facts, struct wr_arena *arena,
                               const struct wr_facts_range *range)
{
    struct plan plan = {.facts = facts, .arena = arena};
    weir_status status = WEIR_OK;

    facts->items = WR_ARENA_ARRAY(arena, struct wr_fact_item, WR_FACT_ITEMS_MAX);
    if (!facts->items)
        return wr_arena_status(arena);
    for (uint32_t i = range->first_segment; i < range->end_segment && !status; i++) {
        const struct wr_segment *s = &range->transcript->segments[i];
        bool is_plan = s->handles && s->handles->kind == WR_EFFECT_PLAN;
        if (s->kind == WEIR_KIND_TOOL_CALL && is_plan && wr_facts_include(range, i))
            status = read_call(&plan, range, i);
    }
    return status;
}
