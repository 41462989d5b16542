/* join_blocks.c -- own recall where messages are lists of blocks: Anthropic Messages and Converse.
 *
 * Both have a user and a model that take turns, calls among the model's blocks and results among
 * the user's; they differ in how a block says what it is:
 *
 *   {"type": "tool_use", "id": ...}        Messages
 *   {"toolUse": {"toolUseId": ...}}        Converse
 */
#include "api/join_api.h"
#include "api/own_api.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

/* ---- what of a leg goes back, and as what ---- */

weir_span wr_leg_input(struct wr_join *j, const struct wr_part *part)
{
    weir_span text = wr_buf_view(&part->text);
    struct wr_json doc;

    wr_arena_reset(&j->scratch);
    weir_status status =
        text.len ? wr_json_parse(&doc, &j->scratch, text, NULL, NULL) : WEIR_SYNTAX;
    if (status == WEIR_NOMEM)
        wr_join_fail_with(j, status);
    return !status && wr_json_is(&doc, 0, WR_JSON_OBJECT) ? text : WR_LIT("{}");
}

static weir_span block_of(struct wr_join *j, const struct wr_part *part,
                          wr_leg_block_fn *write_block)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    write_block(j, &out, part);
    wr_join_fail_with(j, wr_buf_status(&out));
    weir_span block = wr_join_keep(j, wr_buf_view(&out));
    wr_buf_release(&out);
    return block;
}

static void add_block(struct wr_join *j, struct wr_leg *leg, const struct wr_part *part,
                      weir_span json, wr_leg_block_fn *write_block)
{
    bool is_own =
        part->kind == WR_PART_CALL && wr_span_is(wr_buf_view(&part->name), WR_OWN_TOOL_NAME);
    struct wr_leg_part *added = wr_leg_add(j, leg,
                                           is_own                       ? WR_LEG_OWN
                                           : part->kind == WR_PART_CALL ? WR_LEG_CALL
                                           : part->kind == WR_PART_TEXT ? WR_LEG_TEXT
                                                                        : WR_LEG_OTHER);
    if (!added)
        return;
    added->json = json.ptr ? json : block_of(j, part, write_block);
    added->id = wr_join_keep(j, wr_buf_view(&part->id));
    added->text = wr_join_keep(j, wr_buf_view(&part->text));
    if (is_own && !added->text.len)
        added->text = WR_LIT("{}");
    added->is_dropped = part->kind == WR_PART_TEXT && wr_text_is_blank(added->text);
}

void wr_leg_read_blocks(struct wr_join *j, struct wr_leg *leg, wr_leg_block_fn *write_block)
{
    struct wr_arena arena;
    struct wr_reply reply;

    wr_leg_read_answer(j, leg, &arena, &reply);
    bool is_whole = leg->bytes.len > 0 && reply.items_count == reply.parts_count;
    for (size_t i = 0; i < reply.parts_count && !j->is_broken; i++)
        add_block(j, leg, &reply.parts[i], is_whole ? reply.items[i] : (weir_span){NULL, 0},
                  write_block);
    wr_answer_release(&reply);
    wr_arena_release(&arena);
}

void wr_leg_edit_blocks(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                        wr_json_id content)
{
    if (!wr_json_is(doc, content, WR_JSON_ARRAY))
        return;
    wr_join_insert_shown(j, splice, doc, content);
    wr_join_remove_own(splice, doc, content);
    wr_join_edit_usage(j, splice, doc, wr_json_find(doc, 0, "usage"));
}

void wr_leg_write_parts(const struct wr_leg *leg, struct wr_buf *out)
{
    const char *comma = "";

    for (size_t i = 0; i < leg->parts_count; i++) {
        if (leg->parts[i].is_dropped)
            continue;
        wr_buf_text(out, comma);
        wr_buf_append(out, leg->parts[i].json);
        comma = ",";
    }
}

void wr_leg_write_results(const struct wr_leg *leg, struct wr_buf *out)
{
    for (size_t i = 0; i < leg->calls_count; i++) {
        wr_buf_text(out, i ? "," : "");
        wr_buf_append(out, leg->results[i]);
    }
}

void wr_leg_write_blocks(const struct wr_leg *leg, struct wr_buf *out)
{
    wr_buf_text(out, "{\"role\":\"assistant\",\"content\":[");
    wr_leg_write_parts(leg, out);
    wr_buf_text(out, "]},{\"role\":\"user\",\"content\":[");
    wr_leg_write_results(leg, out);
    wr_buf_text(out, "]}");
}

/* ---- exchanges put back into requests ---- */

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
