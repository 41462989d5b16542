/* The proxy's own recall under the laws, on recorded sessions, in each API. The client has no
 * recall tool. At some places the answer of the session comes in up to three legs, with calls of
 * our tool alone or beside the session's own, with reasoning in front; the client goes on with the
 * one answer that it was shown. What is held to:
 *
 *   L1  without our definition and exchanges, and outside of the answers that were split for them,
 *       the view is the bytes that the client sent
 *   L2  every handle that leaves is in the store
 *   L3  what leaves begins with what left before, unless a step is declared; the tools never
 *       change; after a restart, with nothing remembered, the same request gives the same bytes
 *   L4  neither the view nor what is sent has a breach that the client's request does not have
 * In a fleet every request is another node's, and the legs of an answer are one's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/own_api.h"
#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "proxy/own.h"
#include "tests/fold_laws.h"
#include "tests/test_fleet.h"
#include "tests/traces.h"

enum {
    FLEET_SESSIONS_TRIED = 2,
    SESSIONS_TRIED = 10,
    REQUESTS_TRIED = 24,
    SPLITS_MAX = 64,
    LEGS_MAX = 3,
    APIS = 6
};
enum { SPLIT_ONE_OF = 3, RESTART_EVERY = 5, REQUEST_MS = 20000, RECALLED_BYTES_MAX = 24000 };

/* An answer that came in legs. */
struct split {
    uint32_t from, to;      /* the elements of the session's own request that it stands for */
    struct wr_buf shown;    /* what the client has in their place */
    struct wr_buf exchange; /* encoded */
    bool is_decided, is_left;
    size_t at, end; /* in the client's request at hand */
};

struct counts {
    const char *url;       /* of a fleet's database; NULL: there is one node */
    uint32_t requests_max; /* of a session */
    unsigned long long sessions, requests, legs, alone, beside, left, steps, changed, handles,
        again;
};

struct play {
    const struct wr_session *session;
    weir_dialect dialect;
    const char *model;
    uint32_t window_tokens, number; /* of the request */
    uint64_t random;
    int64_t now_ms;
    struct test_fleet fleet;
    struct test_node *node; /* whose turn it is */
    struct wr_arena arena;
    struct wr_session_body body;
    struct wr_buf client, last, first_leg, tools;
    struct split splits[SPLITS_MAX];
    uint32_t splits_count, left_count;
    uint32_t ids; /* of our calls, so far */
    const char *wrong;
    struct counts *counts;
};

static uint32_t roll(struct play *p, uint32_t sides)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->random >> 33) % sides;
}

static bool hold(struct play *p, bool holds, const char *wrong)
{
    if (!holds && !p->wrong)
        p->wrong = wrong;
    return holds;
}

static void read_json(struct wr_json *doc, struct wr_arena *arena, weir_span text)
{
    assert_int_equal(wr_json_parse(doc, arena, text, NULL, NULL), WEIR_OK);
}

static wr_json_id list_of(const struct play *p, const struct wr_json *doc)
{
    return wr_json_find(doc, 0, wr_api_of(p->dialect)->list_key);
}

/* ---- what the client sends ---- */

/* The session's own request, with what the client was shown in place of the split answers. */
static void write_client(struct play *p)
{
    weir_span body = wr_session_body_at(&p->body, p->number);
    struct wr_json doc;
    uint32_t element = 0;
    struct split *split = p->splits, *end = split + p->splits_count;

    assert_int_equal(wr_session_body_status(&p->body), WEIR_OK);
    read_json(&doc, &p->arena, body);
    wr_json_id list = list_of(p, &doc);
    weir_span raw = wr_json_raw(&doc, list);
    wr_buf_reset(&p->client);
    wr_buf_append(&p->client, (weir_span){body.ptr, (size_t)(raw.ptr - body.ptr) + 1});
    for (wr_json_id at = wr_json_first(&doc, list); at != WR_JSON_NONE;
         at = wr_json_next(&doc, list, at), element++) {
        if (split < end && element >= split->to)
            split++;
        bool is_split = split < end && element >= split->from;
        if (is_split && element > split->from)
            continue;
        wr_buf_text(&p->client, element ? "," : "");
        if (is_split)
            split->at = p->client.len;
        wr_buf_append(&p->client, is_split ? wr_buf_view(&split->shown) : wr_json_raw(&doc, at));
        if (is_split)
            split->end = p->client.len;
    }
    const char *behind = raw.ptr + raw.len - 1;
    wr_buf_append(&p->client, (weir_span){behind, (size_t)(body.ptr + body.len - behind)});
    assert_int_equal(wr_buf_status(&p->client), WEIR_OK);
}

/* ---- the laws of a view ---- */

/* Takes `ours`, which stands there once, out of `text`, with the comma that came with it. */
static bool take_out(struct wr_buf *text, weir_span ours)
{
    weir_span all = wr_buf_view(text);
    size_t at = wr_span_find(all, ours, 0);

    if (at == SIZE_MAX || wr_span_find(all, ours, at + 1) != SIZE_MAX)
        return false;
    size_t end = at + ours.len;
    if (end < all.len && all.ptr[end] == ',')
        end++;
    else if (at && all.ptr[at - 1] == ',')
        at--;
    memmove(text->bytes + at, text->bytes + end, all.len - end);
    text->len -= end - at;
    return true;
}

static bool take_exchange_out(struct play *p, struct wr_buf *text, const struct split *split)
{
    struct wr_own_exchange exchange;

    assert_int_equal(wr_own_decode(p->dialect, wr_buf_view(&split->exchange), &p->arena, &exchange),
                     WEIR_OK);
    bool ok = true;
    for (uint32_t i = 0; i < exchange.legs_count; i++) {
        const struct wr_own_leg *leg = &exchange.legs[i];
        if (leg->elements.len)
            ok &= take_out(text, leg->elements);
        for (uint32_t h = 0; h < leg->hidden_count; h++)
            ok &= take_out(text, leg->hidden[h].result) && take_out(text, leg->hidden[h].call);
    }
    return ok;
}

/* What the client sent outside of the split answers, piece by piece, in order, and nothing else. */
static bool is_the_clients(const struct play *p, weir_span rest)
{
    weir_span client = wr_buf_view(&p->client);
    size_t from = 0, at = 0;

    for (uint32_t i = 0; i <= p->splits_count; i++) {
        size_t to = i < p->splits_count ? p->splits[i].at : client.len;
        weir_span piece = wr_span_cut(client, from, to);
        size_t found = i < p->splits_count || !i
                           ? wr_span_find(rest, piece, at)
                           : (rest.len >= piece.len ? rest.len - piece.len : SIZE_MAX);
        if (found == SIZE_MAX || found < at || (!i && found) ||
            !wr_span_eq(wr_span_cut(rest, found, found + piece.len), piece))
            return false;
        /* What is left of a split answer is at most what the client has of it, and what spelling a
         * string anew may take. */
        if (i && found - at > 2 * (p->splits[i - 1].end - p->splits[i - 1].at))
            return false;
        at = found + piece.len;
        from = i < p->splits_count ? p->splits[i].end : to;
    }
    return at == rest.len;
}

static void check_exact(struct play *p, weir_span view)
{
    struct wr_buf rest, definition;

    wr_buf_init(&rest, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&definition, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&rest, view);
    wr_own_definition(wr_api_of(p->dialect), &definition);
    hold(p, take_out(&rest, wr_buf_view(&definition)), "L1: the definition is not there once");
    for (uint32_t i = 0; i < p->splits_count; i++)
        if (!p->splits[i].is_left)
            hold(p, take_exchange_out(p, &rest, &p->splits[i]),
                 "L1, L3: an exchange is not there once, byte for byte");
    hold(p, is_the_clients(p, wr_buf_view(&rest)), "L1: bytes of the client's are changed");
    wr_buf_release(&definition);
    wr_buf_release(&rest);
}

static void check_lawful(struct play *p, weir_span before, weir_span after)
{
    const char *breach = fold_laws_breach(before, after, p->dialect, &p->arena);

    hold(p, !breach, breach);
}

/* ---- the laws of what is sent ---- */

static void check_handles(struct play *p, weir_span sent)
{
    struct weir_lookup lookup = {.tenant = WR_LIT("")};
    struct weir_artifact original;

    for (size_t at = 0; (at = weir_handle_find(sent, at, &lookup.handle)) != SIZE_MAX;
         at += WEIR_HANDLE_TEXT_BYTES) {
        weir_span text = wr_span_cut(sent, at, at + WEIR_HANDLE_TEXT_BYTES);
        if (wr_span_find(wr_buf_view(&p->client), text, 0) != SIZE_MAX)
            continue; /* a look-alike of the session's */
        p->counts->handles++;
        hold(p, !weir_store_get(p->node->store, &lookup, &original, NULL, NULL),
             "L2: a handle leads nowhere");
    }
}

static void check_tools(struct play *p, weir_span sent)
{
    struct wr_json doc;

    read_json(&doc, &p->arena, sent);
    const char *key = p->dialect == WEIR_DIALECT_CONVERSE ? "toolConfig" : "tools";
    weir_span tools = wr_json_raw(&doc, wr_json_find(&doc, 0, key));
    wr_buf_append(&p->tools, p->tools.len ? (weir_span){"", 0} : tools);
    hold(p, wr_span_eq(tools, wr_buf_view(&p->tools)), "L3: the tools have changed");
}

static void check_sent(struct play *p, weir_span view, const struct weir_projected *sent)
{
    if (p->last.len && !sent->is_step)
        hold(p, fold_laws_extends(wr_buf_view(&p->last), sent->body, p->dialect, &p->arena),
             "L3: it does not begin with what was sent before");
    hold(p, !sent->is_step || strcmp(sent->step_reason, "unexplained") != 0,
         "L3: a step that nothing explains");
    check_lawful(p, view, sent->body);
    check_handles(p, sent->body);
    check_tools(p, sent->body);
    p->counts->steps += sent->is_step;
    p->counts->changed += sent->is_changed;
}

/* ---- a request ---- */

static struct wr_own_input input_of(struct play *p)
{
    return (struct wr_own_input){.engine = p->node->engine,
                                 .store = p->node->store,
                                 .arena = &p->arena,
                                 .tenant = WR_LIT("local"),
                                 .session = WR_LIT("s"),
                                 .recall = WR_RECALL_AUTO,
                                 .may_begin = true,
                                 .is_answer = true,
                                 .now_ms = p->now_ms};
}

/* The request lives as long as what is sent. */
static struct weir_request *project(struct play *p, struct weir_request *request,
                                    struct weir_projected *sent)
{
    struct weir_project_options options = {.policy = "auto",
                                           .window_tokens = p->window_tokens,
                                           .store = p->node->store,
                                           .session = WR_LIT("s"),
                                           .now_ms = p->now_ms};
    assert_int_equal(weir_engine_project(p->node->engine, request, &options, sent, NULL), WEIR_OK);
    return request;
}

static struct weir_request *offer(struct play *p, struct wr_own_part *part)
{
    struct wr_own_input input = input_of(p);
    struct weir_request *request;

    assert_int_equal(
        weir_engine_request(p->node->engine, wr_buf_view(&p->client), NULL, &request, NULL),
        WEIR_OK);
    wr_own_offer(p->node->own, &input, &request, part);
    return request;
}

static void remember_sent(struct wr_buf *where, weir_span sent)
{
    wr_buf_reset(where);
    wr_buf_append(where, sent);
    assert_int_equal(wr_buf_status(where), WEIR_OK);
}

/* With nothing remembered, on the same store: another process, or another node. */
static void check_restart(struct play *p, weir_span view, weir_span sent)
{
    struct wr_own_part part;
    struct weir_projected again;

    wr_own_free(p->node->own);
    weir_engine_free(p->node->engine);
    assert_int_equal(weir_engine_new(&p->node->engine, NULL), WEIR_OK);
    p->node->own = wr_own_new(NULL);
    assert_non_null(p->node->own);
    struct weir_request *request = project(p, offer(p, &part), &again);
    hold(p, wr_span_eq(wr_buf_view(&part.view), view), "L3: another view after a restart");
    hold(p, wr_span_eq(again.body, sent), "L3: other bytes after a restart");
    weir_request_free(request);
    wr_own_release(&part);
    p->counts->again++;
}

/* The exchange of the last answer is decided by the request that follows. One that is out leaves
 * what its first leg had sent. */
static void note_left(struct play *p, const struct wr_own_part *part)
{
    struct split *newest = p->splits_count ? &p->splits[p->splits_count - 1] : NULL;

    if (!newest || newest->is_decided)
        return;
    newest->is_decided = true;
    newest->is_left = part->left_count > p->left_count;
    p->left_count = part->left_count;
    p->counts->left += newest->is_left;
    if (newest->is_left)
        remember_sent(&p->last, wr_buf_view(&p->first_leg));
}

/* ---- an answer in legs ---- */

static weir_span text_of_answer(struct play *p, const struct wr_json *answer)
{
    wr_json_id content = wr_json_find(answer, 0, "content");
    return wr_json_is(answer, content, WR_JSON_STRING) ? wr_json_text(answer, &p->arena, content)
                                                       : (weir_span){"", 0};
}

static weir_span calls_of_answer(const struct wr_json *answer)
{
    wr_json_id calls = wr_json_find(answer, 0, "tool_calls");
    if (!wr_json_is(answer, calls, WR_JSON_ARRAY))
        return (weir_span){"", 0};
    weir_span raw = wr_json_raw(answer, calls);
    return wr_span_cut(raw, 1, raw.len - 1);
}

/* What was taken out of the request that was sent, else a handle that is nowhere. */
static void write_own_call(struct play *p, struct wr_buf *out, weir_span sent)
{
    weir_handle handle;
    size_t at = weir_handle_find(sent, sent.len ? roll(p, (uint32_t)sent.len) : 0, &handle);
    uint32_t id = ++p->ids;

    wr_buf_printf(out,
                  "{\"id\":\"weir%u\",\"type\":\"function\",\"function\":{\"name\":\"weir_recall\","
                  "\"arguments\":\"{\\\"n\\\":%u,\\\"handle\\\":\\\"%.*s\\\"}\"}}",
                  id, id, WEIR_HANDLE_TEXT_BYTES, at == SIZE_MAX ? "none" : sent.ptr + at);
}

/* The parts of an answer that messages of recorded sessions are without. */
static void add_reasoning(struct play *p, weir_span leg, struct wr_buf *out)
{
    static const char *const places[] = {"\"role\":\"assistant\"", "\"output\":[",
                                         "\"content\":[",          "\"parts\":[",
                                         "\"role\":\"assistant\"", "\"content\":["};
    size_t which = (size_t)p->dialect;
    uint32_t id = ++p->ids;
    size_t at = wr_span_find(leg, wr_span_of(places[which]), 0);

    assert_true(at != SIZE_MAX);
    at += strlen(places[which]);
    wr_buf_append(out, wr_span_cut(leg, 0, at));
    bool is_member = which == WEIR_DIALECT_CHAT || which == WEIR_DIALECT_OLLAMA;
    if (is_member)
        wr_buf_printf(out, ",\"%s\":\"hm %u\"", which ? "thinking" : "reasoning_content", id);
    else if (which == 1)
        wr_buf_printf(out,
                      "{\"type\":\"reasoning\",\"id\":\"rs_%u\",\"summary\":[],"
                      "\"encrypted_content\":\"gAAA%u==\"}",
                      id, id);
    else if (which == WEIR_DIALECT_GEMINI)
        wr_buf_printf(out, "{\"text\":\"hm %u\",\"thought\":true}", id);
    else if (which == WEIR_DIALECT_CONVERSE)
        wr_buf_printf(out, "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"hm %u\"}}}", id);
    else
        wr_buf_printf(out, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s+%u/==\"}",
                      id);
    weir_span rest = wr_span_from(leg, at);
    wr_buf_text(out, !is_member && rest.len && rest.ptr[0] != ']' ? "," : "");
    wr_buf_append(out, rest);
}

struct script {
    uint32_t legs_count;
    bool is_beside, reasons;
    weir_span text, calls;
};

static size_t cut_at(weir_span text, size_t at)
{
    while (at < text.len && ((unsigned char)text.ptr[at] & 0xC0) == 0x80)
        at++;
    return at < text.len ? at : text.len;
}

/* Ours before the session's own, or behind them. */
static void write_calls(struct play *p, struct wr_buf *out, weir_span theirs, bool has_ours,
                        weir_span sent)
{
    bool is_ours_first = roll(p, 2);
    uint32_t count = has_ours ? 1 + roll(p, 2) : 0;

    if (!is_ours_first)
        wr_buf_append(out, theirs);
    for (uint32_t i = 0; i < count; i++) {
        if (i || (!is_ours_first && theirs.len))
            wr_buf_byte(out, ',');
        write_own_call(p, out, sent);
    }
    if (is_ours_first && count && theirs.len)
        wr_buf_byte(out, ',');
    if (is_ours_first)
        wr_buf_append(out, theirs);
}

/* What the provider says in leg `leg`, whole. */
static void write_leg(struct play *p, const struct script *s, uint32_t leg, weir_span sent,
                      struct wr_buf *out)
{
    bool is_last = leg + 1 == s->legs_count, has_ours = !is_last || s->is_beside;
    weir_span theirs = is_last ? s->calls : (weir_span){"", 0};
    size_t from = cut_at(s->text, s->text.len * leg / s->legs_count);
    size_t to = cut_at(s->text, s->text.len * (leg + 1) / s->legs_count);
    struct wr_json message;
    struct wr_buf text, plain;

    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&plain, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&text, "{\"role\":\"assistant\",\"content\":\"");
    wr_json_escape(&text, wr_span_cut(s->text, from, to));
    bool has_calls = has_ours || theirs.len;
    wr_buf_text(&text, has_calls ? "\",\"tool_calls\":[" : from == to ? "Done.\"" : "\"");
    write_calls(p, &text, theirs, has_ours, sent);
    wr_buf_text(&text, has_calls ? "]}" : "}");
    assert_int_equal(wr_buf_status(&text), WEIR_OK);
    read_json(&message, &p->arena, wr_arena_copy(&p->arena, wr_buf_view(&text)));
    wr_session_write_answer(&message, p->dialect, &plain);
    if (s->reasons)
        add_reasoning(p, wr_buf_view(&plain), out);
    else
        wr_buf_append(out, wr_buf_view(&plain));
    assert_int_equal(wr_buf_status(out), WEIR_OK);
    wr_buf_release(&plain);
    wr_buf_release(&text);
}

static void answer_calls(struct play *p, struct wr_join *join)
{
    const struct wr_own_call *calls;
    size_t count = wr_join_calls(join, &calls);

    for (size_t i = 0; i < count; i++) {
        struct weir_lookup lookup = {.tenant = WR_LIT("")};
        struct weir_artifact original;
        bool is_found = weir_handle_find(calls[i].arguments, 0, &lookup.handle) != SIZE_MAX &&
                        !weir_store_get(p->node->store, &lookup, &original, NULL, NULL);
        weir_span found = is_found ? original.text : WR_LIT("nothing has this handle");
        struct wr_buf text; /* as no other result, which may have no id */
        wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
        wr_buf_printf(&text, "%u: ", ++p->ids);
        wr_buf_append(&text, wr_span_cut(found, 0, cut_at(found, RECALLED_BYTES_MAX)));
        wr_join_set_result(join, i, wr_buf_view(&text), !is_found);
        wr_buf_release(&text);
    }
}

/* The client has one answer, whole; it goes into its history as the API takes it back. */
static void note_shown(struct play *p, weir_span shown, struct wr_buf *out)
{
    static const char *const outer[] = {"choices", "output", "", "candidates", "", "output"};
    static const char *const inner[] = {"message", "", "content", "content", "message", "message"};
    struct wr_json doc;

    read_json(&doc, &p->arena, shown);
    wr_json_id at = *outer[p->dialect] ? wr_json_find(&doc, 0, outer[p->dialect]) : 0;
    if (p->dialect != WEIR_DIALECT_RESPONSES && wr_json_is(&doc, at, WR_JSON_ARRAY))
        at = wr_json_first(&doc, at);
    weir_span raw =
        wr_json_raw(&doc, *inner[p->dialect] ? wr_json_find(&doc, at, inner[p->dialect]) : at);
    bool is_bare = p->dialect == WEIR_DIALECT_MESSAGES, is_list = !*inner[p->dialect];
    wr_buf_text(out, is_bare ? "{\"role\":\"assistant\",\"content\":" : "");
    wr_buf_append(out, is_list ? wr_span_cut(raw, 1, raw.len - 1) : raw);
    wr_buf_text(out, is_bare ? "}" : "");
    assert_int_equal(wr_buf_status(out), WEIR_OK);
    hold(p,
         wr_span_find(shown, WR_LIT("weir_recall"), 0) == SIZE_MAX &&
             wr_span_find(shown, WR_LIT("\"weir"), 0) == SIZE_MAX,
         "a call of ours is shown");
}

/* The next leg's request: what it adds is checked, and its projection. */
static void ask_again(struct play *p, struct wr_join *join, struct wr_own_part *part)
{
    struct wr_own_input input = input_of(p);
    struct weir_projected sent;
    struct weir_request *request;
    struct wr_buf rest;
    weir_span elements = wr_join_elements(join);

    wr_buf_init(&rest, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&rest, wr_buf_view(&part->view));
    assert_true(wr_own_extend(&input, join, part));
    weir_span view = wr_buf_view(&part->view), before = wr_buf_view(&rest);
    size_t at = wr_span_find(view, elements, 0);
    hold(p,
         at != SIZE_MAX && view.len == before.len + elements.len + 1 &&
             wr_span_eq(wr_span_cut(view, 0, at - 1), wr_span_cut(before, 0, at - 1)) &&
             wr_span_eq(wr_span_from(view, at + elements.len), wr_span_from(before, at - 1)),
         "L1: a leg's request is not the one before and its elements");
    check_lawful(p, before, view);
    assert_int_equal(weir_engine_request(p->node->engine, view, NULL, &request, NULL), WEIR_OK);
    (void)project(p, request, &sent);
    check_sent(p, view, &sent);
    remember_sent(&p->last, sent.body);
    weir_request_free(request);
    wr_buf_release(&rest);
    wr_join_next(join);
}

/* Which elements of the session's next request the answer is. */
static bool find_elements(struct play *p, struct split *split)
{
    struct wr_json doc;
    uint32_t count = 0;

    read_json(&doc, &p->arena, wr_session_body_at(&p->body, p->number));
    split->from = wr_json_count(&doc, list_of(p, &doc));
    read_json(&doc, &p->arena, wr_session_body_at(&p->body, p->number + 1));
    wr_json_id list = list_of(p, &doc);
    for (wr_json_id at = wr_json_first(&doc, list); at != WR_JSON_NONE;
         at = wr_json_next(&doc, list, at), count++) {
        bool is_models = wr_json_text_is(&doc, wr_json_find(&doc, at, "role"), "assistant") ||
                         wr_json_text_is(&doc, wr_json_find(&doc, at, "type"), "function_call");
        if (count >= split->from && !is_models)
            break;
    }
    split->to = count;
    return split->to > split->from && split->to < wr_json_count(&doc, list);
}

static bool is_models(const struct wr_json *message)
{
    return wr_json_text_is(message, wr_json_find(message, 0, "role"), "assistant");
}

/* An answer that stands alone between what is not the model's can be told from others. */
static bool may_split(struct play *p, struct wr_session_view *now)
{
    if (p->number + 1 >= p->session->requests_count || p->splits_count == SPLITS_MAX)
        return false;
    uint32_t at = p->session->requests[p->number];
    *now = wr_session_view(p->session, p->number);
    return at && at + 1 < p->session->messages_count && !is_models(&p->session->messages[at - 1]) &&
           !is_models(&p->session->messages[at + 1]);
}

static struct script make_script(struct play *p, const struct wr_json *answer)
{
    struct script s = {
        .text = text_of_answer(p, answer), .calls = calls_of_answer(answer), .reasons = roll(p, 2)};
    s.is_beside = s.calls.len && roll(p, 2);
    s.legs_count = s.is_beside ? 1 + roll(p, LEGS_MAX) : 2 + roll(p, LEGS_MAX - 1);
    p->counts->legs += s.legs_count;
    p->counts->alone += !s.is_beside;
    p->counts->beside += s.is_beside;
    return s;
}

/* False: something is wrong. */
static bool play_legs(struct play *p, const struct script *s, struct wr_join *join,
                      struct wr_own_part *part, struct wr_buf *shown)
{
    struct wr_buf leg;

    wr_buf_init(&leg, WR_OUTPUT_BYTES_MAX);
    remember_sent(&p->first_leg, wr_buf_view(&p->last));
    for (uint32_t i = 0; i < s->legs_count && !p->wrong; i++) {
        bool is_last = i + 1 == s->legs_count;
        enum wr_join_verdict expected = !is_last       ? WR_JOIN_ASK
                                        : s->is_beside ? WR_JOIN_BESIDE
                                                       : WR_JOIN_PLAIN;
        wr_buf_reset(&leg);
        write_leg(p, s, i, wr_buf_view(&p->last), &leg);
        wr_join_feed(join, wr_buf_view(&leg), shown);
        hold(p, wr_join_end_leg(join, shown) == expected, "a leg is taken for another kind");
        answer_calls(p, join);
        if (!is_last && !p->wrong)
            ask_again(p, join, part);
    }
    wr_buf_release(&leg);
    return !p->wrong;
}

static void answer_in_legs(struct play *p, struct wr_own_part *part)
{
    struct split *split = &p->splits[p->splits_count];
    struct wr_own_input input = input_of(p);
    struct wr_session_view now;
    struct wr_buf shown;
    wr_hash128 seen;

    if (!may_split(p, &now))
        return;
    *split = (struct split){.from = 0};
    if (!find_elements(p, split))
        return;
    struct wr_join *join = wr_join_new(wr_api_of(p->dialect), false);
    struct script script = make_script(p, now.answer);
    wr_buf_init(&shown, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&split->shown, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&split->exchange, WR_OUTPUT_BYTES_MAX);
    if (play_legs(p, &script, join, part, &shown)) {
        wr_join_finish(join, &shown);
        note_shown(p, wr_buf_view(&shown), &split->shown);
        hold(p, wr_join_exchange(join, &split->exchange, &seen) && wr_own_keep(&input, join, part),
             "an exchange is not kept");
    }
    p->splits_count++;
    wr_buf_release(&shown);
    wr_join_free(join);
}

/* ---- a session ---- */

static void take_turn(struct play *p)
{
    struct wr_own_part part;
    struct weir_projected sent;

    wr_arena_reset(&p->arena);
    p->now_ms += REQUEST_MS;
    p->node = test_fleet_next(&p->fleet);
    write_client(p);
    struct weir_request *request = offer(p, &part);
    if (!hold(p, part.is_offered, "our tool is not offered")) {
        weir_request_free(request);
        return;
    }
    note_left(p, &part);
    hold(p, !part.misfit_count, "an exchange does not fit");
    hold(p, part.put_count + part.left_count == p->splits_count, "an exchange is not found");
    weir_span view = wr_buf_view(&part.view);
    if (!p->wrong)
        check_exact(p, view);
    check_lawful(p, wr_buf_view(&p->client), view);
    (void)project(p, request, &sent);
    check_sent(p, view, &sent);
    remember_sent(&p->last, sent.body);
    weir_request_free(request);
    if (p->number % RESTART_EVERY == RESTART_EVERY - 1 && !p->wrong)
        check_restart(p, view, wr_buf_view(&p->last));
    if (!p->wrong && !roll(p, SPLIT_ONE_OF))
        answer_in_legs(p, &part);
    wr_own_release(&part);
    p->counts->requests++;
}

static void open_play(struct play *p)
{
    struct wr_session_request request = {
        .dialect = p->dialect, .model = p->model, .with_tools = WR_SESSION_TOOLS_WITHOUT_RECALL};

    test_fleet_open(&p->fleet, p->counts->url);
    for (size_t i = 0; i < p->fleet.nodes_count; i++) {
        p->fleet.nodes[i].own = wr_own_new(NULL);
        assert_non_null(p->fleet.nodes[i].own);
    }
    wr_arena_init(&p->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&p->client, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&p->last, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&p->first_leg, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&p->tools, WR_OUTPUT_BYTES_MAX);
    wr_session_body_init(&p->body, p->session, &request);
}

static void close_play(struct play *p)
{
    for (uint32_t i = 0; i < p->splits_count; i++) {
        wr_buf_release(&p->splits[i].shown);
        wr_buf_release(&p->splits[i].exchange);
    }
    wr_session_body_release(&p->body);
    wr_buf_release(&p->tools);
    wr_buf_release(&p->first_leg);
    wr_buf_release(&p->last);
    wr_buf_release(&p->client);
    wr_arena_release(&p->arena);
    for (size_t i = 0; i < p->fleet.nodes_count; i++)
        wr_own_free(p->fleet.nodes[i].own);
    test_fleet_close(&p->fleet);
}

static bool session_holds(void *user, struct wr_session *session, size_t number, size_t index)
{
    struct counts *counts = user;
    static const struct {
        weir_dialect dialect;
        const char *models[2];
    } apis[APIS] = {{WEIR_DIALECT_CHAT, {"gpt-5", "gpt-4o"}},
                    {WEIR_DIALECT_RESPONSES, {"gpt-5", "gpt-5"}},
                    {WEIR_DIALECT_MESSAGES, {"claude-sonnet-4-5", "claude-opus-4-5"}},
                    {WEIR_DIALECT_GEMINI, {"gemini-3.8-flash", "gemini-2.5-pro"}},
                    {WEIR_DIALECT_OLLAMA, {"qwen3", "llama3.3:70b"}},
                    {WEIR_DIALECT_CONVERSE, {"claude-sonnet-4-5", "claude-opus-4-5"}}};
    static const uint32_t windows[] = {16000, 32000, 200000};
    bool ok = true;

    (void)number;
    session->compactions_count = 0; /* a host that compacts begins another history */
    for (size_t a = 0; a < APIS && session->tools_count; a++) {
        /* The newest take turns, unless all sessions are wanted. */
        if (!getenv("WEIR_SESSIONS") && a >= 3 && a != 3 + index % 3)
            continue;
        struct play *p = calloc(1, sizeof(*p));
        assert_non_null(p);
        *p = (struct play){.session = session,
                           .dialect = apis[a].dialect,
                           .model = apis[a].models[index % 2],
                           .window_tokens = windows[(index + a) % 3],
                           .random = index * APIS + a + 1,
                           .counts = counts};
        open_play(p);
        for (; p->number < session->requests_count && p->number < counts->requests_max && !p->wrong;
             p->number++)
            take_turn(p);
        if (p->wrong)
            printf("BROKEN: %s, %s, window %u, request %u: %s\n", p->model,
                   weir_dialect_name(p->dialect), p->window_tokens, p->number, p->wrong);
        ok &= !p->wrong;
        close_play(p);
        free(p);
        counts->sessions++;
    }
    return ok;
}

static void play_sessions(struct counts c, uint32_t sessions)
{
    bool ok = traces_all_hold(sessions, session_holds, &c);

    printf("note: %llu sessions, %llu requests, %llu answers by our calls alone, %llu beside "
           "others, %llu legs, %llu exchanges left out for good, %llu changed, %llu steps, %llu "
           "handles, %llu asked again after a restart\n",
           c.sessions, c.requests, c.alone, c.beside, c.legs, c.left, c.changed, c.steps, c.handles,
           c.again);
    assert_true(ok && c.alone > 0 && c.beside > 0);
}

static void own_recall_holds_the_laws(void **state)
{
    (void)state;
    play_sessions((struct counts){.requests_max = traces_setting("WEIR_REQUESTS", REQUESTS_TRIED)},
                  traces_setting("WEIR_SESSIONS", SESSIONS_TRIED));
}

static void own_recall_holds_them_in_a_fleet(void **state)
{
    const char *url = wr_test_postgres();
    (void)state;
    if (!url)
        skip();
    play_sessions(
        (struct counts){.url = url, .requests_max = test_fleet_setting("WEIR_REQUESTS", 10, 24)},
        test_fleet_setting("WEIR_SESSIONS", 1, SESSIONS_TRIED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_recall_holds_the_laws),
                                       cmocka_unit_test(own_recall_holds_them_in_a_fleet)};
    test_fleet_filter();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
