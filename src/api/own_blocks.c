/* Exchanges put back into requests whose messages are lists of blocks: Anthropic Messages and
 * Bedrock's Converse. Both have a user and a model that take turns, calls among the model's blocks
 * and results among the user's; they differ in how a block says what it is:
 *
 *   {"type": "tool_use", "id": ...}        Messages
 *   {"toolUse": {"toolUseId": ...}}        Converse
 */
#include "api/own_api.h"
#include "base/span.h"
#include "base/text.h"

enum block_kind { ANY_BLOCK, TEXT_BLOCK, CALL_BLOCK, RESULT_BLOCK, MARK_BLOCK };

/* A block with a `type` is one of Messages. */
static bool is_block(const struct wr_json *doc, wr_json_id block, enum block_kind kind)
{
    static const char *const types[] = {[ANY_BLOCK] = "",
                                        [TEXT_BLOCK] = "text",
                                        [CALL_BLOCK] = "tool_use",
                                        [RESULT_BLOCK] = "tool_result",
                                        [MARK_BLOCK] = ""};
    static const char *const keys[] = {[ANY_BLOCK] = "",
                                       [TEXT_BLOCK] = "text",
                                       [CALL_BLOCK] = "toolUse",
                                       [RESULT_BLOCK] = "toolResult",
                                       [MARK_BLOCK] = "cachePoint"};
    wr_json_id type = wr_json_find(doc, block, "type");

    return type != WR_JSON_NONE ? wr_json_text_is(doc, type, types[kind])
                                : wr_json_find(doc, block, keys[kind]) != WR_JSON_NONE;
}

static void read_element(struct wr_own_edits *e, const struct wr_json *doc, wr_json_id element,
                         struct wr_own_front *front, struct wr_buf *text)
{
    wr_json_id content = wr_json_find(doc, element, "content");

    if (!wr_json_text_is(doc, wr_json_find(doc, element, "role"), "assistant"))
        return;
    for (wr_json_id block = wr_json_first(doc, content); block != WR_JSON_NONE;
         block = wr_json_next(doc, content, block)) {
        if (is_block(doc, block, TEXT_BLOCK))
            wr_buf_append(text, wr_own_text(e, doc, wr_json_find(doc, block, "text")));
        else if (!is_block(doc, block, CALL_BLOCK))
            wr_own_add_mark(e, front, wr_own_mark(doc, block, e->arena));
    }
}

/* Whether a block stands in an earlier leg: then it leaves, or a part of it. */
static bool cut_block(struct wr_own_edits *e, struct wr_own_front *front, wr_json_id content,
                      wr_json_id block, bool *fits)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id text = wr_json_find(doc, block, "text");
    weir_span said, rest;

    if (is_block(doc, block, CALL_BLOCK))
        return false;
    if (is_block(doc, block, MARK_BLOCK)) { /* it may not be all that is left of a message */
        wr_own_remove(e, content, block);
        return true;
    }
    if (!is_block(doc, block, TEXT_BLOCK)) {
        bool is_known = wr_own_has_mark(front, wr_own_mark(doc, block, e->arena));
        if (is_known)
            wr_own_remove(e, content, block);
        else if (front->has_begun && !wr_own_front_is_over(front))
            *fits = false;
        return is_known;
    }
    said = wr_own_text(e, doc, text);
    if (wr_own_front_is_over(front))
        return false;
    switch (wr_own_match_text(front, said, &rest)) {
    case WR_OWN_NO_MATCH:
        *fits = false;
        return false;
    case WR_OWN_ALL:
        wr_own_remove(e, content, block);
        return true;
    case WR_OWN_CUT:
        break;
    }
    if (wr_text_is_blank(rest))
        wr_own_remove(e, content, block);
    else
        wr_own_set_text(e, text, rest);
    return wr_text_is_blank(rest);
}

static bool has_text(const struct wr_json *doc, wr_json_id content)
{
    for (wr_json_id block = wr_json_first(doc, content); block != WR_JSON_NONE;
         block = wr_json_next(doc, content, block))
        if (is_block(doc, block, TEXT_BLOCK))
            return true;
    return false;
}

/* Cuts off what earlier legs have. `*first` is the first block that stays, `*count` how many do. */
static bool cut_blocks(struct wr_own_edits *e, wr_json_id content, wr_json_id *first,
                       uint32_t *count)
{
    const struct wr_json *doc = e->t->doc;
    struct wr_own_front front;
    bool fits = wr_own_read_front(e, read_element, &front);

    *first = wr_json_first(doc, content);
    while (*first != WR_JSON_NONE && fits && cut_block(e, &front, content, *first, &fits))
        *first = wr_json_next(doc, content, *first);
    *count = 0;
    for (wr_json_id at = *first; at != WR_JSON_NONE; at = wr_json_next(doc, content, at))
        ++*count;
    /* Some clients drop what was said beside calls. */
    return fits && (wr_own_front_is_over(&front) || !has_text(doc, content));
}

/* A place among blocks: before the one with that many others, or calls, before it. */
static wr_json_id block_at(const struct wr_json *doc, wr_json_id content, wr_json_id first,
                           enum block_kind kind, uint32_t before)
{
    wr_json_id last = WR_JSON_NONE;

    for (wr_json_id at = first; at != WR_JSON_NONE; at = wr_json_next(doc, content, at)) {
        bool counts = kind == ANY_BLOCK || is_block(doc, at, kind);
        if (counts && !before--)
            return at;
        if (counts)
            last = at;
    }
    return last != WR_JSON_NONE ? wr_json_next(doc, content, last) : WR_JSON_NONE;
}

static bool put_results(struct wr_own_edits *e, const struct wr_own_leg *beside, wr_json_id message)
{
    const struct wr_json *doc = e->t->doc;
    wr_json_id content =
        message == WR_JSON_NONE ? WR_JSON_NONE : wr_json_find(doc, message, "content");

    if (!wr_json_is(doc, content, WR_JSON_ARRAY) ||
        !wr_json_text_is(doc, wr_json_find(doc, message, "role"), "user") ||
        !is_block(doc, wr_json_first(doc, content), RESULT_BLOCK))
        return false;
    for (uint32_t i = 0; i < beside->hidden_count; i++)
        wr_own_insert(e, content,
                      block_at(doc, content, wr_json_first(doc, content), RESULT_BLOCK,
                               beside->hidden[i].calls_before),
                      beside->hidden[i].result);
    return true;
}

static void put_calls(struct wr_own_edits *e, const struct wr_own_leg *beside, wr_json_id content,
                      wr_json_id first, uint32_t count)
{
    bool is_same = count == beside->parts_count;

    for (uint32_t i = 0; i < beside->hidden_count; i++) {
        const struct wr_own_hidden *h = &beside->hidden[i];
        wr_json_id at = block_at(e->t->doc, content, first, is_same ? ANY_BLOCK : CALL_BLOCK,
                                 is_same ? h->parts_before : h->calls_before);
        wr_own_insert(e, content, at, h->call);
    }
}

/* A text alone has no calls. */
static bool put_into_text(struct wr_own_edits *e, wr_json_id message, wr_json_id content)
{
    struct wr_own_front front;
    weir_span rest;

    if (wr_own_beside(e) || !wr_own_read_front(e, read_element, &front))
        return false;
    if (wr_own_match_text(&front, wr_own_text(e, e->t->doc, content), &rest) == WR_OWN_NO_MATCH)
        return false;
    if (!wr_own_front_is_over(&front))
        return false;
    if (wr_text_is_blank(rest) || rest.len == 0)
        wr_own_remove(e, e->t->list, message);
    else
        wr_own_set_text(e, content, rest);
    wr_own_insert_elements(e, message);
    return true;
}

bool wr_own_blocks_put_back(struct wr_own_edits *e)
{
    const struct wr_json *doc = e->t->doc;
    const struct wr_own_leg *beside = wr_own_beside(e);
    size_t edits_count = e->count;
    wr_json_id first;
    uint32_t count;

    if (!e->answer || e->t->list == WR_JSON_NONE)
        return false; /* threads have no recall of ours */
    wr_json_id message = e->t->segments[e->answer->first].message;
    if (message == WR_JSON_NONE || e->t->segments[e->answer->last].message != message)
        return false;
    wr_json_id content = wr_json_find(doc, message, "content");
    if (wr_json_is(doc, content, WR_JSON_STRING))
        return put_into_text(e, message, content);
    if (!wr_json_is(doc, content, WR_JSON_ARRAY) || !cut_blocks(e, content, &first, &count))
        return false;
    if (!count && !beside) { /* nothing is left: the message leaves, not its blocks */
        if (wr_api_of(e->t->dialect)->must_alternate)
            return false; /* two messages of the user would stand side by side */
        e->count = edits_count;
        wr_own_remove(e, e->t->list, message);
    }
    wr_own_insert_elements(e, message);
    if (!beside)
        return true;
    put_calls(e, beside, content, first, count);
    return put_results(e, beside, wr_json_next(doc, e->t->list, message));
}
