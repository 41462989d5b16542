/* Answers joined, and put back into requests.
 *
 * The first byte of an input says which API and how: the bytes behind it are the legs as they come
 * (cut at 0xFF), or acts of a model from which sound legs are made. Of all:
 *   every way of cutting the legs shows the same bytes, and keeps the same exchange;
 *   an exchange with a byte changed is refused.
 * Of sound ones also:
 *   nothing of our tool is in what is shown, and that is a whole answer of the API;
 *   a client that sends this answer back is known again; the view of its request is lawful where
 *   the request was, and what went to the provider is in it byte for byte.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/answer.h"
#include "api/lawful.h"
#include "api/own.h"
#include "api/write.h"
#include "tests/test_join.h"

enum { LEG_BYTES_MAX = 1 << 20, CALLS_MAX = 32 };

/* Says which promise was broken. */
#define require(holds) require_at((holds), #holds, __LINE__)

static void require_at(bool holds, const char *what, int line)
{
    if (holds)
        return;
    (void)fprintf(stderr, "line %d: not so: %s\n", line, what);
    abort();
}

/* ---- sound legs, made of acts ---- */

struct model {
    const struct wr_api *api;
    struct wr_buf *out;
    int leg, blocks, calls, events;
    bool has_own, has_other, thinks;
    struct wr_buf items; /* of a response, as its end lists them */
};

static void say_event(struct model *m, const char *name, const char *rest)
{
    bool is_numbered = m->api->dialect == WEIR_DIALECT_RESPONSES;

    wr_buf_printf(m->out, "event: %s\ndata: {\"type\":\"%s\"", name, name);
    if (is_numbered)
        wr_buf_printf(m->out, ",\"sequence_number\":%d", m->events++);
    wr_buf_printf(m->out, ",%s}\n\n", rest);
}

static void say_chunk(struct model *m, const char *delta, const char *finish)
{
    wr_buf_printf(m->out,
                  "data: {\"id\":\"a%d\",\"created\":%d,\"choices\":[{\"index\":0,\"delta\":{%s},"
                  "\"finish_reason\":%s}]}\n\n",
                  m->leg, m->leg, delta, finish);
}

static void say_parts(struct model *m, const char *parts, const char *finish)
{
    wr_buf_printf(m->out,
                  "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[%s]}%s}],"
                  "\"usageMetadata\":{\"candidatesTokenCount\":3},\"responseId\":\"g%d\"}\n\n",
                  parts, finish, m->leg);
}

static void say_line(struct model *m, const char *message, const char *done)
{
    wr_buf_printf(m->out, "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",%s},\"done\":%s}\n",
                  message, done);
}

/* Of Converse, whose events have no type. */
static void say_named(struct model *m, const char *name, const char *members)
{
    wr_buf_printf(m->out, "event: %s\ndata: {%s}\n\n", name, members);
}

static void end_block(struct model *m)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "\"contentBlockIndex\":%d", m->blocks++);
    say_named(m, "contentBlockStop", text);
}

static void begin_leg(struct model *m)
{
    char text[128];

    m->blocks = m->calls = m->events = 0;
    m->has_own = m->has_other = m->thinks = false;
    wr_buf_reset(&m->items);
    switch (m->api->dialect) {
    case WEIR_DIALECT_CONVERSE:
        say_named(m, "messageStart", "\"role\":\"assistant\"");
        break;
    case WEIR_DIALECT_OLLAMA: /* begins with what it says */
        break;
    case WEIR_DIALECT_CHAT:
        say_chunk(m, "\"role\":\"assistant\",\"content\":\"\"", "null");
        break;
    case WEIR_DIALECT_RESPONSES:
        (void)snprintf(text, sizeof(text),
                       "\"response\":{\"id\":\"r%d\",\"tools\":[{\"type\":\"function\",\"name\":"
                       "\"weir_recall\"}]}",
                       m->leg);
        say_event(m, "response.created", text);
        break;
    case WEIR_DIALECT_MESSAGES:
        (void)snprintf(text, sizeof(text),
                       "\"message\":{\"id\":\"m%d\",\"usage\":{\"input_tokens\":%d}}", m->leg,
                       m->leg);
        say_event(m, "message_start", text);
        break;
    case WEIR_DIALECT_GEMINI: /* begins with what it says */
        break;
    }
}

static void say_item(struct model *m, const char *item)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "\"output_index\":%d,\"item\":%s", m->blocks, item);
    say_event(m, "response.output_item.added", text);
    say_event(m, "response.output_item.done", text);
    wr_buf_printf(&m->items, "%s%s", m->items.len ? "," : "", item);
    m->thinks = !strncmp(item, "{\"type\":\"reasoning\"", 19);
    m->blocks++;
}

static void say_block(struct model *m, const char *block, const char *delta)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "\"index\":%d,\"content_block\":{%s}", m->blocks, block);
    say_event(m, "content_block_start", text);
    (void)snprintf(text, sizeof(text), "\"index\":%d,\"delta\":{%s}", m->blocks, delta);
    say_event(m, "content_block_delta", text);
    (void)snprintf(text, sizeof(text), "\"index\":%d", m->blocks++);
    say_event(m, "content_block_stop", text);
}

static void act_text(struct model *m, unsigned kind)
{
    static const char *const texts[] = {"Let me see. ", "7", "\\n\\n", "a\\\"b \\u00e9 "};
    const char *words = texts[kind % 4];
    char text[256];

    switch (m->api->dialect) {
    case WEIR_DIALECT_CONVERSE:
        (void)snprintf(text, sizeof(text), "\"contentBlockIndex\":%d,\"delta\":{\"text\":\"%s%d\"}",
                       m->blocks, words, m->blocks);
        say_named(m, "contentBlockDelta", text);
        end_block(m);
        break;
    case WEIR_DIALECT_OLLAMA:
        (void)snprintf(text, sizeof(text), "\"content\":\"%s%d\"", words, m->blocks++);
        say_line(m, text, "false");
        break;
    case WEIR_DIALECT_CHAT:
        (void)snprintf(text, sizeof(text), "\"content\":\"%s\"", words);
        say_chunk(m, text, "null");
        break;
    case WEIR_DIALECT_RESPONSES:
        (void)snprintf(text, sizeof(text),
                       "{\"type\":\"message\",\"id\":\"msg%d_%d\",\"role\":\"assistant\","
                       "\"content\":[{\"type\":\"output_text\",\"text\":\"%s%d\"}]}",
                       m->leg, m->blocks, words, m->blocks);
        say_item(m, text);
        break;
    case WEIR_DIALECT_MESSAGES:
        (void)snprintf(text, sizeof(text), "\"type\":\"text_delta\",\"text\":\"%s%d\"", words,
                       m->blocks);
        say_block(m, "\"type\":\"text\",\"text\":\"\"", text);
        break;
    case WEIR_DIALECT_GEMINI:
        (void)snprintf(text, sizeof(text), "{\"text\":\"%s%d\"%s}", words, m->blocks++,
                       kind & 4 ? ",\"thoughtSignature\":\"s\"" : "");
        say_parts(m, text, "");
        break;
    }
}

static void act_thinking(struct model *m)
{
    char text[256];

    switch (m->api->dialect) {
    case WEIR_DIALECT_CONVERSE:
        if (m->blocks) /* it comes first */
            break;
        say_named(m, "contentBlockDelta",
                  "\"contentBlockIndex\":0,\"delta\":{\"reasoningContent\":{\"text\":\"hm\"}}");
        (void)snprintf(text, sizeof(text),
                       "\"contentBlockIndex\":0,\"delta\":{\"reasoningContent\":{\"signature\":"
                       "\"s%d\"}}",
                       m->leg);
        say_named(m, "contentBlockDelta", text);
        end_block(m);
        break;
    case WEIR_DIALECT_OLLAMA:
        say_line(m, "\"content\":\"\",\"thinking\":\"hm\"", "false");
        break;
    case WEIR_DIALECT_CHAT:
        say_chunk(m, "\"reasoning_content\":\"hm\"", "null");
        break;
    case WEIR_DIALECT_RESPONSES:
        (void)snprintf(text, sizeof(text),
                       "{\"type\":\"reasoning\",\"id\":\"rs%d_%d\",\"encrypted_content\":\"e\"}",
                       m->leg, m->blocks);
        say_item(m, text);
        break;
    case WEIR_DIALECT_MESSAGES:
        if (m->blocks) /* it comes first */
            break;
        (void)snprintf(text, sizeof(text),
                       "\"type\":\"thinking\",\"thinking\":\"h\",\"signature\":\"s%d\"", m->leg);
        say_block(m, text, "\"type\":\"thinking_delta\",\"thinking\":\"m\"");
        break;
    case WEIR_DIALECT_GEMINI:
        say_parts(m, "{\"text\":\"hm\",\"thought\":true}", "");
        break;
    }
}

static void act_chat_call(struct model *m, const char *name, unsigned kind)
{
    size_t cut = kind % (strlen(name) + 1);
    char text[256];

    (void)snprintf(text, sizeof(text),
                   "\"tool_calls\":[{\"index\":%d,\"id\":\"c%d_%d\",\"type\":\"function\","
                   "\"function\":{\"name\":\"%.*s\",\"arguments\":\"\"}}]",
                   m->calls, m->leg, m->calls, (int)cut, name);
    say_chunk(m, text, "null");
    if (cut < strlen(name)) {
        (void)snprintf(text, sizeof(text),
                       "\"tool_calls\":[{\"index\":%d,\"function\":{\"name\":\"%s\"}}]", m->calls,
                       name + cut);
        say_chunk(m, text, "null");
    }
    (void)snprintf(text, sizeof(text),
                   "\"tool_calls\":[{\"index\":%d,\"function\":{\"arguments\":\"{}\"}}]", m->calls);
    say_chunk(m, text, "null");
}

static void act_call(struct model *m, bool is_own, unsigned kind)
{
    static const char *const names[] = {"f", "weir", "w", "weir_recaller"};
    const char *name = is_own ? "weir_recall" : names[kind % 4];
    char text[256], id[64];

    if (m->calls == CALLS_MAX)
        return;
    m->has_own |= is_own;
    m->has_other |= !is_own;
    switch (m->api->dialect) {
    case WEIR_DIALECT_CONVERSE:
        (void)snprintf(text, sizeof(text),
                       "\"contentBlockIndex\":%d,\"start\":{\"toolUse\":{\"toolUseId\":\"c%d_%d\","
                       "\"name\":\"%s\"}}",
                       m->blocks, m->leg, m->calls, name);
        say_named(m, "contentBlockStart", text);
        (void)snprintf(text, sizeof(text),
                       "\"contentBlockIndex\":%d,\"delta\":{\"toolUse\":{\"input\":\"{}\"}}",
                       m->blocks);
        say_named(m, "contentBlockDelta", text);
        end_block(m);
        break;
    case WEIR_DIALECT_OLLAMA:
        (void)snprintf(id, sizeof(id), "\"id\":\"x%d_%d\",", m->leg, m->calls);
        (void)snprintf(text, sizeof(text),
                       "\"content\":\"\",\"tool_calls\":[{%s\"function\":{\"name\":\"%s\","
                       "\"arguments\":{\"n\":\"%d\"}}}]",
                       kind & 4 ? id : "", name, m->calls);
        say_line(m, text, "false");
        break;
    case WEIR_DIALECT_CHAT:
        act_chat_call(m, name, is_own ? kind : (unsigned)strlen(name));
        break;
    case WEIR_DIALECT_RESPONSES:
        (void)snprintf(text, sizeof(text),
                       "{\"type\":\"function_call\",\"id\":\"fc%d_%d\",\"call_id\":\"c%d_%d\","
                       "\"name\":\"%s\",\"arguments\":\"{}\"}",
                       m->leg, m->calls, m->leg, m->calls, name);
        say_item(m, text);
        break;
    case WEIR_DIALECT_MESSAGES:
        (void)snprintf(text, sizeof(text),
                       "\"type\":\"tool_use\",\"id\":\"c%d_%d\",\"name\":\"%s\",\"input\":{}",
                       m->leg, m->calls, name);
        say_block(m, text, "\"type\":\"input_json_delta\",\"partial_json\":\"{}\"");
        break;
    case WEIR_DIALECT_GEMINI:
        (void)snprintf(id, sizeof(id), "\"id\":\"x%d_%d\",", m->leg, m->calls);
        (void)snprintf(text, sizeof(text),
                       "{\"functionCall\":{%s\"name\":\"%s\",\"args\":{\"n\":\"%d\"}}}",
                       kind & 4 ? id : "", name, m->calls);
        say_parts(m, text, kind & 8 && is_own ? ",\"finishReason\":\"STOP\"" : "");
        break;
    }
    m->calls++;
}

static void end_leg(struct model *m)
{
    bool calls = m->has_own || m->has_other;

    switch (m->api->dialect) {
    case WEIR_DIALECT_CONVERSE:
        say_named(m, "messageStop",
                  calls ? "\"stopReason\":\"tool_use\"" : "\"stopReason\":\"end_turn\"");
        say_named(m, "metadata", "\"usage\":{\"outputTokens\":3,\"totalTokens\":9}");
        break;
    case WEIR_DIALECT_OLLAMA:
        say_line(m, "\"content\":\"\"",
                 "true,\"done_reason\":\"stop\",\"prompt_eval_count\":5,\"eval_count\":3");
        break;
    case WEIR_DIALECT_CHAT:
        say_chunk(m, "", calls ? "\"tool_calls\"" : "\"stop\"");
        wr_buf_printf(m->out,
                      "data: {\"id\":\"a%d\",\"choices\":[],\"usage\":{\"completion_tokens\":3}}"
                      "\n\ndata: [DONE]\n\n",
                      m->leg);
        break;
    case WEIR_DIALECT_RESPONSES:
        wr_buf_printf(m->out,
                      "event: response.completed\ndata: {\"type\":\"response.completed\","
                      "\"sequence_number\":%d,\"response\":{\"id\":\"r%d\",\"status\":"
                      "\"completed\",\"output\":[%.*s],\"usage\":{\"output_tokens\":3}}}\n\n",
                      m->events, m->leg, (int)m->items.len, m->items.len ? m->items.bytes : "");
        break;
    case WEIR_DIALECT_MESSAGES:
        wr_buf_printf(m->out,
                      "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
                      "\"stop_reason\":\"%s\"},\"usage\":{\"output_tokens\":3}}\n\n"
                      "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
                      calls ? "tool_use" : "end_turn");
        break;
    case WEIR_DIALECT_GEMINI:
        say_parts(m, "{\"text\":\"\"}", ",\"finishReason\":\"STOP\"");
        break;
    }
}

/* Whether the model goes on. */
static bool make_leg(struct model *m, const uint8_t **data, const uint8_t *end)
{
    begin_leg(m);
    for (bool is_over = false; *data < end && !is_over; ++*data) {
        unsigned kind = **data >> 3;
        switch (**data & 7) {
        case 0:
        case 1:
            act_text(m, kind);
            break;
        case 2:
            act_thinking(m);
            break;
        case 3:
            act_call(m, true, kind);
            break;
        case 4:
            act_call(m, false, kind);
            break;
        case 5:
            wr_buf_text(m->out, m->api->streams_lines ? "\r\n" : ": ping\r\n\r\n");
            break;
        default:
            is_over = true;
            break;
        }
    }
    if (m->thinks)
        act_text(m, 1); /* reasoning leads to something */
    end_leg(m);
    wr_buf_byte(m->out, '\0');
    return m->has_own && !m->has_other;
}

/* ---- a client that sends the answer back ---- */

struct body {
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript t;
    struct wr_breaches breaches;
};

static void open_body(struct body *b, const struct wr_api *api, weir_span text)
{
    struct wr_api_options options = {.dialect = api->name};

    wr_arena_init(&b->arena, WR_ARENA_BYTES_MAX);
    require(!wr_json_parse(&b->doc, &b->arena, text, NULL, NULL));
    require(!wr_api_read(&b->t, &b->arena, &b->doc, &options, NULL));
    require(!wr_lawful_check(&b->t, &b->arena, &b->breaches));
}

static void write_request(const struct wr_api *api, const struct wr_reply *answer, bool has_words,
                          struct wr_buf *out)
{
    struct wr_body_head head = {.model = WR_LIT("m")};
    struct wr_line said = {
        .kind = WR_LINE_ANSWER, .items = answer->items, .items_count = answer->items_count};
    struct wr_body body;

    wr_body_init(&body, api, out);
    wr_body_begin(&body, &head);
    wr_body_line(&body, &(struct wr_line){.kind = WR_LINE_WORDS, .text = WR_LIT("u")});
    wr_body_close(&body);
    wr_body_line(&body, &said);
    for (size_t i = 0; i < answer->parts_count; i++)
        if (answer->parts[i].kind == WR_PART_CALL)
            wr_body_line(&body, &(struct wr_line){.kind = WR_LINE_RESULT,
                                                  .text = WR_LIT("r"),
                                                  .call_id = wr_buf_view(&answer->parts[i].id)});
    if (has_words)
        wr_body_line(&body, &(struct wr_line){.kind = WR_LINE_WORDS, .text = WR_LIT("v")});
    wr_body_end(&body);
    wr_body_release(&body);
}

static void check_put(const struct wr_api *api, struct body *b, const struct test_joined *joined)
{
    const struct wr_own_answer *answers;
    uint32_t count, left_out;
    struct body again;
    struct wr_buf out;

    require(!wr_own_answers(&b->t, &b->arena, &answers, &count));
    if (!count) /* it said nothing at all */
        return;
    require(count == 1 && answers[0].seen.low == joined->seen.low &&
            answers[0].seen.high == joined->seen.high);
    struct wr_own_put put = {.answer = &answers[0], .exchange = wr_buf_view(&joined->exchange)};
    struct wr_own_view view = {.puts = &put, .puts_count = 1};
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    require(!wr_own_view_write(&b->t, &b->arena, &view, &out, &left_out));
    /* An answer of which nothing but earlier legs is left would bring two of the user together. */
    require(!left_out || api->must_alternate);
    if (left_out) {
        wr_buf_release(&out);
        return;
    }
    open_body(&again, api, wr_buf_view(&out));
    require(!wr_lawful_new_breach(&b->breaches, &again.breaches));
    weir_span rest = wr_buf_view(&joined->elements), line;
    while (wr_span_line(&rest, &line))
        require(wr_span_has(wr_buf_view(&out), line));
    wr_arena_release(&again.arena);
    wr_buf_release(&out);
}

static void check_shown(const struct wr_api *api, const struct test_joined *joined)
{
    struct wr_arena arena, whole_arena;
    struct wr_reply reply, whole;
    struct wr_buf request;
    struct body body;
    weir_span text;

    require(!wr_span_has(wr_buf_view(&joined->shown), WR_LIT("\"weir_recall\"")));
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_arena_init(&whole_arena, WR_ARENA_BYTES_MAX);
    wr_answer_init(&reply,
                   &(struct wr_answer_options){.api = api, .arena = &arena, .keeps_all = true});
    wr_answer_init(
        &whole, &(struct wr_answer_options){.api = api, .arena = &whole_arena, .keeps_all = true});
    wr_answer_feed(&reply, wr_buf_view(&joined->shown));
    require(!wr_answer_end(&reply, &text));
    require(!wr_answer_whole(&whole, text, NULL));
    wr_buf_init(&request, WR_OUTPUT_BYTES_MAX);
    bool has_calls = false;
    for (size_t i = 0; i < whole.parts_count; i++)
        has_calls |= whole.parts[i].kind == WR_PART_CALL;
    write_request(api, &whole, !has_calls, &request);
    open_body(&body, api, wr_buf_view(&request));
    if (joined->has_exchange)
        check_put(api, &body, joined);
    wr_arena_release(&body.arena);
    wr_buf_release(&request);
    wr_answer_release(&whole);
    wr_answer_release(&reply);
    wr_arena_release(&whole_arena);
    wr_arena_release(&arena);
}

/* An exchange that is not what it was is refused, whatever it says now. */
static void check_damage(const struct wr_api *api, const struct test_joined *joined, size_t at)
{
    static const char *const bodies[] = {
        "{\"messages\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":"
        "\"a\"},{\"role\":\"user\",\"content\":\"v\"}]}",
        "{\"input\":[{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"assistant\",\"content\":"
        "\"a\"},{\"role\":\"user\",\"content\":\"v\"}]}",
        "{\"contents\":[{\"parts\":[{\"text\":\"u\"}]},{\"role\":\"model\",\"parts\":[{\"text\":"
        "\"a\"}]},{\"parts\":[{\"text\":\"v\"}]}]}",
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"u\"}]},{\"role\":\"assistant\","
        "\"content\":[{\"text\":\"a\"}]},{\"role\":\"user\",\"content\":[{\"text\":\"v\"}]}]}"};
    size_t shape = api->dialect == WEIR_DIALECT_RESPONSES ? 1
                   : api == &wr_api_gemini                ? 2
                   : api == &wr_api_converse              ? 3
                                                          : 0;
    const struct wr_own_answer *answers;
    uint32_t count, left_out;
    struct wr_buf bytes, out;
    struct body body;

    wr_buf_init(&bytes, WR_OUTPUT_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_buf_append(&bytes, wr_buf_view(&joined->exchange));
    bytes.bytes[at % bytes.len] ^= (char)(1 + at % 255);
    open_body(&body, api, wr_span_of(bodies[shape]));
    require(!wr_own_answers(&body.t, &body.arena, &answers, &count) && count == 1);
    struct wr_own_put put = {.answer = answers, .exchange = wr_buf_view(&bytes)};
    struct wr_own_view view = {.puts = &put, .puts_count = 1};
    require(!wr_own_view_write(&body.t, &body.arena, &view, &out, &left_out) && left_out == 1);
    require(wr_span_eq(wr_buf_view(&out), body.doc.text));
    wr_arena_release(&body.arena);
    wr_buf_release(&bytes);
    wr_buf_release(&out);
}

/* ---- an input ---- */

static void require_same(const struct wr_buf *a, const struct wr_buf *b)
{
    require(wr_span_eq(wr_buf_view(a), wr_buf_view(b)));
}

static void check_legs(const struct wr_api *api, const char *const *legs, bool is_sound,
                       size_t piece_bytes)
{
    struct test_joined whole, cut;

    test_join_run(&whole, api, true, legs, SIZE_MAX);
    test_join_run(&cut, api, true, legs, piece_bytes);
    require_same(&whole.shown, &cut.shown);
    require_same(&whole.said, &cut.said);
    require_same(&whole.elements, &cut.elements);
    require_same(&whole.exchange, &cut.exchange);
    require(whole.is_broken == cut.is_broken && whole.has_exchange == cut.has_exchange);
    require(!is_sound || !whole.is_broken);
    if (is_sound)
        check_shown(api, &whole);
    if (whole.has_exchange)
        check_damage(api, &whole, piece_bytes * 7);
    test_join_release(&whole);
    test_join_release(&cut);
}

static void list_legs(struct wr_buf *bytes, const char *legs[TEST_LEGS_MAX + 1])
{
    char *at = bytes->bytes, *end = bytes->bytes + bytes->len;
    size_t count = 0;

    for (; at < end && count < TEST_LEGS_MAX; at += strlen(at) + 1)
        legs[count++] = at;
    legs[count] = NULL;
}

static void fuzz_acts(const struct wr_api *api, const uint8_t *data, const uint8_t *end,
                      size_t piece_bytes)
{
    const char *legs[TEST_LEGS_MAX + 1];
    struct wr_buf bytes;
    struct model m = {.api = api, .out = &bytes};

    wr_buf_init(&bytes, LEG_BYTES_MAX);
    wr_buf_init(&m.items, LEG_BYTES_MAX);
    bool goes_on = true;
    for (m.leg = 0; goes_on && m.leg < TEST_LEGS_MAX; m.leg++)
        goes_on = make_leg(&m, &data, end);
    if (!wr_buf_status(&bytes) && !wr_buf_status(&m.items) && !goes_on) {
        list_legs(&bytes, legs);
        check_legs(api, legs, true, piece_bytes);
    }
    wr_buf_release(&bytes);
    wr_buf_release(&m.items);
}

static void fuzz_bytes(const struct wr_api *api, const uint8_t *data, const uint8_t *end,
                       size_t piece_bytes)
{
    const char *legs[TEST_LEGS_MAX + 1];
    struct wr_buf bytes;

    wr_buf_init(&bytes, LEG_BYTES_MAX);
    for (; data < end; data++)
        wr_buf_byte(&bytes, *data == 0xFF ? '\0' : (char)*data);
    wr_buf_byte(&bytes, '\0');
    if (!wr_buf_status(&bytes)) {
        list_legs(&bytes, legs);
        check_legs(api, legs, false, piece_bytes);
    }
    wr_buf_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    /* The oldest four are known by two bits. */
    const struct wr_api *api =
        wr_apis[data[0] & 0x40 ? 4 + (data[0] >> 1) % 2 : (data[0] >> 1) % 4];
    size_t piece_bytes = (size_t)data[1] % 64 + 1;
    if (!api->joiner)
        return 0;
    if (data[0] & 1)
        fuzz_bytes(api, data + 2, data + size, piece_bytes);
    else
        fuzz_acts(api, data + 2, data + size, piece_bytes);
    return 0;
}
