/* Chat Completions and Ollama: exchanges of the proxy's own recall, put back into requests. */
#include "api/own_api.h"
#include "base/span.h"
#include "base/text.h"

bool wr_own_chat_may_join(const struct wr_json *doc)
{
    int64_t answers = 1;

    (void)wr_json_i64(doc, wr_json_find(doc, 0, "n"), &answers);
    return answers == 1 && wr_json_find(doc, 0, "functions") == WR_JSON_NONE;
}

bool wr_own_chat_is_hosted(const struct wr_json *doc, wr_json_id tool)
{
    return !wr_json_is(doc, wr_json_find(doc, tool, "function"), WR_JSON_OBJECT) &&
           !wr_json_is(doc, wr_json_find(doc, tool, "custom"), WR_JSON_OBJECT);
}

/* Members in which servers say what a model thought, as a text. */
static const char *const thoughts[] = {"reasoning_content", "reasoning", "thinking"};

static bool is_model(const struct wr_json *doc, wr_json_id message)
{
    return wr_json_text_is(doc, wr_json_find(doc, message, "role"), "assistant");
}

static void read_element(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text)
{
    wr_json_id content = wr_json_find(doc, element, "content");

    (void)front;
    if (!is_model(doc, element))
        return;
    if (wr_json_is(doc, content, WR_JSON_STRING))
        wr_buf_append(text, wr_own_text(e, doc, content));
    else if (wr_json_is(doc, content, WR_JSON_ARRAY))
        for (wr_json_id part = wr_json_first(doc, content); part != WR_JSON_NONE;
             part = wr_json_next(doc, content, part))
            if (wr_json_text_is(doc, wr_json_find(doc, part, "type"), "text"))
                wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, part, "text")));
}

static void read_thought(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text)
{
    (void)front;
    if (is_model(doc, element))
        wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, element, thoughts[0])));
}

static void read_other_thought(struct wr_own_edits *e, const struct wr_json *doc,
                               wr_json_id element, struct wr_own_front *front, struct wr_buf *text)
{
    (void)front;
    if (is_model(doc, element))
        wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, element, thoughts[1])));
}

static void read_thinking(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                          struct wr_own_front *front, struct wr_buf *text)
{
    (void)front;
    if (is_model(doc, element))
        wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, element, thoughts[2])));
}

/* What a model thought in earlier legs stands in their messages. A client that sends it back
 * otherwise keeps what it sends. */
static void cut_thoughts(struct wr_own_edits *e, wr_json_id message)
{
    static wr_own_element_fn *const readers[] = {read_thought, read_other_thought, read_thinking};

    for (size_t i = 0; i < WR_COUNT_OF(readers); i++) {
        wr_json_id member = wr_json_find(e->t->doc, message, thoughts[i]);
        struct wr_own_front front;
        weir_span rest;
        if (!wr_json_is(e->t->doc, member, WR_JSON_STRING) ||
            !wr_own_read_front(e, readers[i], &front) || wr_own_front_is_over(&front))
            continue;
        enum wr_own_match match =
            wr_own_match_text(&front, wr_own_text(e, e->t->doc, member), &rest);
        if (match == WR_OWN_NO_MATCH)
            continue;
        if (match == WR_OWN_ALL || wr_text_is_blank(rest))
            wr_own_remove(e, message, member - 1);
        else
            wr_own_set_text(e, member, rest);
    }
}

/* The same in lists, whose parts may be signed. */
static const char *const thought_lists[] = {"reasoning_details", "thinking_blocks"};

static void read_marks(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                       struct wr_own_front *front, const char *key)
{
    wr_json_id list = is_model(doc, element) ? wr_json_find(doc, element, key) : WR_JSON_NONE;

    if (!wr_json_is(doc, list, WR_JSON_ARRAY))
        return;
    for (wr_json_id part = wr_json_first(doc, list); part != WR_JSON_NONE;
         part = wr_json_next(doc, list, part))
        wr_own_add_mark(e, front, wr_own_mark(doc, part, e->arena));
}

static void read_details(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text)
{
    (void)text;
    read_marks(e, doc, element, front, thought_lists[0]);
}

static void read_blocks(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                        struct wr_own_front *front, struct wr_buf *text)
{
    (void)text;
    read_marks(e, doc, element, front, thought_lists[1]);
}

static void cut_thought_lists(struct wr_own_edits *e, wr_json_id message)
{
    static wr_own_element_fn *const readers[] = {read_details, read_blocks};
    const struct wr_json *doc = e->t->doc;

    for (size_t i = 0; i < WR_COUNT_OF(readers); i++) {
        wr_json_id list = wr_json_find(doc, message, thought_lists[i]);
        struct wr_own_front front;
        size_t edits_count = e->count, cut = 0;
        if (!wr_json_is(doc, list, WR_JSON_ARRAY) || !wr_own_read_front(e, readers[i], &front))
            continue;
        wr_json_id part = wr_json_first(doc, list);
        for (; part != WR_JSON_NONE && cut < front.marks_count &&
               front.marks[cut] == wr_own_mark(doc, part, e->arena);
             part = wr_json_next(doc, list, part), cut++)
            wr_own_remove(e, list, part);
        if (part != WR_JSON_NONE || !cut)
            continue;
        e->count = edits_count; /* all of it leaves */
        wr_own_remove(e, message, list - 1);
    }
}

static enum wr_own_fate cut_content(struct wr_own_edits *e, wr_json_id content)
{
    const struct wr_json *doc = e->t->doc;
    struct wr_own_front front;
    enum wr_own_fate fate = WR_OWN_GONE;

    if (!wr_own_read_front(e, read_element, &front))
        return WR_OWN_FITS_NOT;
    bool is_list = wr_json_is(doc, content, WR_JSON_ARRAY);
    /* Some clients drop what was said beside calls. */
    if (!is_list && (!wr_json_is(doc, content, WR_JSON_STRING) || !wr_json_inner(doc, content).len))
        return WR_OWN_GONE;
    if (wr_own_front_is_over(&front))
        return WR_OWN_STAYS;
    fate = wr_own_cut_content(e, &front, content);
    return wr_own_front_is_over(&front) ? fate : WR_OWN_FITS_NOT;
}

/* ---- calls and results ---- */

static wr_json_id child_at(const struct wr_json *doc, wr_json_id list, uint32_t before)
{
    wr_json_id at = wr_json_first(doc, list);

    while (at != WR_JSON_NONE && before--)
        at = wr_json_next(doc, list, at);
    return at;
}

static bool is_result(const struct wr_json *doc, wr_json_id message)
{
    return message != WR_JSON_NONE &&
           wr_json_text_is(doc, wr_json_find(doc, message, "role"), "tool");
}

static bool put_beside(struct wr_own_edits *e, const struct wr_own_leg *beside, wr_json_id message)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id calls = wr_json_find(doc, message, "tool_calls");

    if (!wr_json_is(doc, calls, WR_JSON_ARRAY))
        return false;
    for (uint32_t i = 0; i < beside->hidden_count; i++) {
        const struct wr_own_hidden *h = &beside->hidden[i];
        wr_json_id at = wr_json_next(doc, e->t->list, message);
        for (uint32_t before = h->calls_before; before && is_result(doc, at); before--)
            at = wr_json_next(doc, e->t->list, at);
        wr_own_insert(e, calls, child_at(doc, calls, h->calls_before), h->call);
        wr_own_insert(e, e->t->list, at, h->result);
    }
    return true;
}

bool wr_own_chat_put_back(struct wr_own_edits *e)
{
    const struct wr_json *doc = e->t->doc;
    const struct wr_own_leg *beside = wr_own_beside(e);

    if (!e->answer || e->t->list == WR_JSON_NONE)
        return false;
    wr_json_id message = e->t->segments[e->answer->first].message;
    if (message == WR_JSON_NONE || e->t->segments[e->answer->last].message != message)
        return false;
    wr_json_id content = wr_json_find(doc, message, "content");
    wr_json_id calls = wr_json_find(doc, message, "tool_calls");
    bool has_calls =
        wr_json_is(doc, calls, WR_JSON_ARRAY) && wr_json_first(doc, calls) != WR_JSON_NONE;
    enum wr_own_fate fate = cut_content(e, content);
    if (fate == WR_OWN_FITS_NOT)
        return false;
    wr_own_insert_elements(e, message);
    if (fate == WR_OWN_GONE && !has_calls) {
        wr_own_remove(e, e->t->list, message);
        return !beside;
    }
    if (fate == WR_OWN_GONE && content != WR_JSON_NONE && e->exchange->legs[0].elements.len)
        wr_own_set_json(e, content, WR_LIT("null"));
    cut_thoughts(e, message);
    cut_thought_lists(e, message);
    return !beside || put_beside(e, beside, message);
}
