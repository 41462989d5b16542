/* Whole sessions, scripted: tools, steering, another model, subagents, refusals, kills. Every
 * request of every turn is made in all three APIs and held to the laws: lawful, user and model in
 * turns, within the window, the beginning of the next one; and the journal has every word at the
 * end. */
#include "tests/test_agent.h"

#include <fcntl.h>

#include "base/limits.h"
#include "api/lawful.h"
#include "tests/fold_laws.h"
#include "tests/traces.h"
#include "api/api.h"
#include "base/span.h"

enum { TURNS = 60, TEXTS_MAX = 1024, DIALECTS = 5, WINDOW_TOKENS = 24000, CALLS_MAX = 3 };

struct script {
    const char *behaviour;
    const char *policy;
    weir_dialect dialect; /* that the model answers in, with items of its own */
    uint32_t seed;
    bool has_items, steers, switches, spawns, overflows, kills;
};

static const struct script scripts[] = {
    {"nothing is left out", "exact", WEIR_DIALECT_MESSAGES, 11, true, true, true, true, false,
     true},
    {"tools only", "tiered", WEIR_DIALECT_CHAT, 1, false, false, false, false, false, false},
    {"signed thinking goes back as it came", "tiered", WEIR_DIALECT_MESSAGES, 2, true, false, false,
     false, false, false},
    {"encrypted reasoning goes back as it came", "compress", WEIR_DIALECT_RESPONSES, 3, true, false,
     false, false, false, false},
    {"words that arrive during a turn wait for the next", "auto", WEIR_DIALECT_MESSAGES, 4, true,
     true, false, false, false, false},
    {"another model on the same thread", "compress", WEIR_DIALECT_CHAT, 5, true, false, true, false,
     false, false},
    {"subagents", "layers", WEIR_DIALECT_RESPONSES, 6, true, false, false, true, false, false},
    {"the provider refuses what is too long", "tiered", WEIR_DIALECT_CHAT, 7, false, false, false,
     false, true, false},
    {"killed and opened again", "layers", WEIR_DIALECT_MESSAGES, 8, false, true, false, false,
     false, true},
    {"everything at once", "tiered", WEIR_DIALECT_MESSAGES, 9, true, true, true, true, true, true},
    {"calls without ids of the provider's", "lean", WEIR_DIALECT_OLLAMA, 11, true, true, true, true,
     true, true},
    {"turns that must be taken", "auto", WEIR_DIALECT_CONVERSE, 12, true, true, true, true, true,
     true},
    {"signed calls go back as they came", "auto", WEIR_DIALECT_GEMINI, 5, true, true, true, true,
     true, true},
    {"everything at once, with auto", "auto", WEIR_DIALECT_RESPONSES, 10, true, true, true, true,
     true, true},
};

struct play {
    struct test_agent agent;
    const struct script *script;
    char config[512];
    uint64_t random;
    char *texts[TEXTS_MAX]; /* everything that was said, in order */
    size_t texts_count;
    struct wr_buf before[DIALECTS];
    bool is_broken_off; /* the next request need not begin with the last one */
    bool was_answered;
    uint32_t turn, call;
    uint64_t changed_count, compacted_count, over_count;
};

static uint32_t roll(struct play *p, uint32_t sides)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->random >> 33) % sides;
}

static const char *keep_text(struct play *p, char *text)
{
    assert_true(p->texts_count < TEXTS_MAX);
    p->texts[p->texts_count++] = text;
    return text;
}

static char *make_text(struct play *p, const char *what, uint32_t lines)
{
    struct wr_buf buf;
    wr_buf_init(&buf, 1 << 20);
    wr_buf_printf(&buf, "%s %u of turn %u", what, roll(p, 100000), p->turn);
    for (uint32_t i = 0; i < lines; i++)
        wr_buf_printf(&buf, "\nsrc/file_%u.c:%u: the %u sluices of gate %u hold level %u",
                      roll(p, 40), i + 1, roll(p, 900), roll(p, 90), roll(p, 9000));
    wr_buf_byte(&buf, 0);
    assert_int_equal(wr_buf_status(&buf), WEIR_OK);
    return buf.bytes;
}

/* ---- tools ---- */

static void set_tools(struct play *p)
{
    const struct weir_tool tools[] = {{WR_LIT("Bash"), WR_LIT("runs a command"), WR_LIT("")},
                                      {WR_LIT("Read"), WR_LIT("reads a file"), WR_LIT("")},
                                      {WR_LIT("weir_recall"),
                                       WR_LIT("brings back what was left out"),
                                       WR_LIT("{\"type\":\"object\",\"properties\":{\"handle\":"
                                              "{\"type\":\"string\"}}}")}};
    TEST_OK(&p->agent, weir_session_set_tools(p->agent.session, tools, 3, &p->agent.err));
}

/* ---- the laws ---- */

static void check_lawful(struct play *p, weir_span body, weir_dialect dialect)
{
    struct wr_api_options options = {.dialect = weir_dialect_name(dialect)};
    struct wr_breaches breaches = {0};
    struct wr_transcript t;
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, body, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&t, &arena, &doc, &options, NULL), WEIR_OK);
    assert_int_equal(wr_lawful_check(&t, &arena, &breaches), WEIR_OK);
    if (breaches.count)
        fail_msg("%s, turn %u, %s: %s: %.*s", p->script->behaviour, p->turn,
                 weir_dialect_name(dialect), wr_rule_text(breaches.items[0].rule), 400, body.ptr);
    wr_arena_release(&arena);
}

/* User and model take turns; results belong to the user, and what is neither stands beside. */
static void check_turns(struct play *p, weir_span body, weir_dialect dialect)
{
    struct wr_arena arena;
    struct wr_json doc;
    int last = 0; /* 1: words of the user, 2: the model's, 3: a result */

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, body, NULL, NULL), WEIR_OK);
    wr_json_id list = wr_json_find(&doc, 0, wr_api_of(dialect)->list_key);
    for (wr_json_id m = wr_json_first(&doc, list); m != WR_JSON_NONE;
         m = wr_json_next(&doc, list, m)) {
        wr_json_id role = wr_json_find(&doc, m, "role");
        int now = wr_json_text_is(&doc, role, "user")        ? 1
                  : wr_json_text_is(&doc, role, "assistant") ? 2
                  : wr_json_text_is(&doc, role, "model")     ? 2
                  : wr_json_text_is(&doc, role, "system")    ? 0
                                                             : 3;
        bool repeats = now == last && (now == 1 || (now == 2 && dialect != WEIR_DIALECT_RESPONSES));
        if (repeats)
            fail_msg("%s, turn %u, %s: two messages of one role in a row", p->script->behaviour,
                     p->turn, weir_dialect_name(dialect));
        last = now;
    }
    assert_int_not_equal(last, 2);
    wr_arena_release(&arena);
}

static void check_extends(struct play *p, weir_span body, weir_dialect dialect)
{
    struct wr_arena arena;
    if (!p->before[dialect].len || p->is_broken_off)
        return;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (!fold_laws_extends(wr_buf_view(&p->before[dialect]), body, dialect, &arena))
        fail_msg("%s, turn %u, %s: the request does not begin with the one before",
                 p->script->behaviour, p->turn, weir_dialect_name(dialect));
    wr_arena_release(&arena);
}

static void request_in(struct play *p, weir_dialect dialect)
{
    struct weir_session_want want = {.dialect = dialect,
                                     .now_ms = ++p->agent.now_ms,
                                     .context = WR_LIT("<context>\nclock: noon\n</context>")};
    struct weir_session_turn turn;

    TEST_OK(&p->agent, weir_session_request(p->agent.session, &want, &turn, &p->agent.err));
    check_lawful(p, turn.body, dialect);
    /* A policy may put a message of its own between two of the user's. */
    if (!turn.is_changed)
        check_turns(p, turn.body, dialect);
    if (turn.is_compacted) /* the other APIs' requests are new from here on, too */
        for (int d = 0; d < DIALECTS; d++)
            wr_buf_reset(&p->before[d]);
    if (!turn.is_step)
        check_extends(p, turn.body, dialect);
    p->changed_count += turn.is_changed;
    p->compacted_count += turn.is_compacted;
    p->over_count += turn.tokens_after > turn.window_tokens;
    wr_buf_reset(&p->before[dialect]);
    wr_buf_append(&p->before[dialect], turn.body);
    assert_int_equal(wr_buf_status(&p->before[dialect]), WEIR_OK);
}

static void request(struct play *p)
{
    for (int d = 0; d < DIALECTS; d++)
        request_in(p, (weir_dialect)d);
    p->is_broken_off = false;
}

/* ---- the model ---- */

static void write_item(struct wr_buf *out, const struct play *p, const char *text, uint32_t calls)
{
    switch (p->script->dialect) {
    case WEIR_DIALECT_MESSAGES:
        wr_buf_printf(out,
                      "{\"content\":[{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":"
                      "\"sig+%u/==\"},{\"type\":\"text\", \"text\":\"%s\"}",
                      p->turn, text);
        for (uint32_t i = 0; i < calls; i++)
            wr_buf_printf(out,
                          ",{\"type\":\"tool_use\",\"id\":\"toolu_%u\",\"name\":\"Bash\",\"input\":"
                          "{\"command\":\"./step %u\"}}",
                          p->call + i, p->call + i);
        wr_buf_text(out, "],\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}");
        break;
    case WEIR_DIALECT_RESPONSES:
        wr_buf_printf(out,
                      "{\"output\":[{\"type\":\"reasoning\",\"id\":\"rs_%u\",\"summary\":[],"
                      "\"encrypted_content\":\"gAAA%u==\"},{\"type\":\"message\",\"role\":"
                      "\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"%s\"}]}",
                      p->turn, p->turn, text);
        for (uint32_t i = 0; i < calls; i++)
            wr_buf_printf(out,
                          ",{\"type\":\"function_call\",\"call_id\":\"call_%u\",\"name\":\"Bash\","
                          "\"arguments\":\"{\\\"command\\\":\\\"./step %u\\\"}\"}",
                          p->call + i, p->call + i);
        wr_buf_text(out, "]}");
        break;
    case WEIR_DIALECT_GEMINI:
        wr_buf_printf(out,
                      "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":["
                      "{\"text\":\"hm %u\",\"thought\":true},{\"text\":\"%s\"}",
                      p->turn, text);
        for (uint32_t i = 0; i < calls; i++)
            wr_buf_printf(out,
                          ",{\"functionCall\":{\"id\":\"call_%u\",\"name\":\"Bash\",\"args\":"
                          "{\"command\":\"./step %u\"}}%s}",
                          p->call + i, p->call + i, i ? "" : ",\"thoughtSignature\":\"sig+/==\"");
        wr_buf_text(out, "]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{"
                         "\"promptTokenCount\":10,\"candidatesTokenCount\":5}}");
        break;
    case WEIR_DIALECT_CONVERSE:
        wr_buf_printf(
            out,
            "{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":[{\"reasoningContent\":"
            "{\"reasoningText\":{\"text\":\"hm %u\",\"signature\":\"sig%u\"}}},{\"text\":\"%s\"}",
            p->turn, p->turn, text);
        for (uint32_t i = 0; i < calls; i++)
            wr_buf_printf(out,
                          ",{\"toolUse\":{\"toolUseId\":\"call_%u\",\"name\":\"Bash\",\"input\":{"
                          "\"command\":\"./step %u\"}}}",
                          p->call + i, p->call + i);
        wr_buf_printf(
            out, "]}},\"stopReason\":\"%s\",\"usage\":{\"inputTokens\":10,\"outputTokens\":5}}",
            calls ? "tool_use" : "end_turn");
        break;
    case WEIR_DIALECT_OLLAMA:
        wr_buf_printf(out,
                      "{\"message\":{\"role\":\"assistant\",\"content\":\"%s\",\"thinking\":\"hm "
                      "%u\"",
                      text, p->turn);
        for (uint32_t i = 0; i < calls; i++)
            wr_buf_printf(out,
                          "%s{\"id\":\"call_%u\",\"function\":{\"name\":\"Bash\",\"arguments\":{"
                          "\"command\":\"./step %u\"}}}",
                          i ? "," : ",\"tool_calls\":[", p->call + i, p->call + i);
        wr_buf_printf(out, "%s},\"done\":true,\"prompt_eval_count\":10,\"eval_count\":5}",
                      calls ? "]" : "");
        break;
    case WEIR_DIALECT_CHAT:
        wr_buf_printf(out,
                      "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"%s\","
                      "\"reasoning_content\":\"hm %u\"",
                      text, p->turn);
        for (uint32_t i = 0; i < calls; i++)
            wr_buf_printf(out,
                          "%s{\"id\":\"call_%u\",\"type\":\"function\",\"function\":{\"name\":"
                          "\"Bash\",\"arguments\":\"{\\\"command\\\":\\\"./step %u\\\"}\"}}",
                          i ? "," : ",\"tool_calls\":[", p->call + i, p->call + i);
        wr_buf_printf(out, "%s}}]}", calls ? "]" : "");
        break;
    }
}

static void answer(struct play *p, uint32_t calls)
{
    const char *text = keep_text(p, make_text(p, "thought", 0));
    struct weir_call list[CALLS_MAX];
    char ids[CALLS_MAX][32];
    struct wr_buf body;

    if (p->script->has_items) {
        wr_buf_init(&body, 1 << 20);
        write_item(&body, p, text, calls);
        TEST_OK(&p->agent,
                weir_session_answer_body(p->agent.session, p->script->dialect, wr_buf_view(&body),
                                         ++p->agent.now_ms, &p->agent.err));
        wr_buf_release(&body);
    } else {
        struct weir_answer plain = {.text = wr_span_of(text), .calls = list, .calls_count = calls};
        for (uint32_t i = 0; i < calls; i++) {
            (void)snprintf(ids[i], sizeof(ids[i]), "call.%u", p->call + i); /* not for Messages */
            list[i] = (struct weir_call){wr_span_of(ids[i]), WR_LIT("Bash"),
                                         i % 2 ? WR_LIT("{\"command\":\"make\"}") : WR_LIT("")};
        }
        TEST_OK(&p->agent,
                weir_session_answer(p->agent.session, &plain, ++p->agent.now_ms, &p->agent.err));
    }
    p->call += calls;
}

/* ---- what happens ---- */

static void reopen(struct play *p)
{
    char path[256];
    int fd;

    if (!p->script->kills || roll(p, 3))
        return;
    test_agent_close(&p->agent);
    (void)snprintf(path, sizeof(path), "%s/events.jsonl", p->agent.dir);
    fd = open(path, O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\"seq\":999,\"kind\":\"us", 21), 21);
    (void)close(fd);
    test_agent_open(&p->agent, p->config);
    assert_int_equal(weir_session_opened(p->agent.session)->torn_bytes, 21);
    set_tools(p);
}

static void steer(struct play *p)
{
    if (!p->script->steers || roll(p, 3))
        return;
    const char *text = keep_text(p, make_text(p, "steering", 0));
    TEST_OK(&p->agent, weir_session_steer(p->agent.session, wr_span_of(text), ++p->agent.now_ms,
                                          &p->agent.err));
}

static void spawn(struct play *p, weir_span call_id)
{
    const struct weir_subagent_kind *kind = weir_subagent_kind_find("explore");
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT, .now_ms = p->agent.now_ms};
    struct weir_answer said = {0};
    struct weir_session *child;
    struct weir_session_turn turn;
    char *text = make_text(p, "found", 3);

    TEST_OK(&p->agent, weir_session_spawn(p->agent.session, kind, call_id, WR_LIT("find the gate"),
                                          p->agent.now_ms, &child, &p->agent.err));
    TEST_OK(&p->agent, weir_session_request(child, &want, &turn, &p->agent.err));
    check_lawful(p, turn.body, WEIR_DIALECT_CHAT);
    said.text = wr_span_of(keep_text(p, text));
    TEST_OK(&p->agent, weir_session_answer(child, &said, p->agent.now_ms, &p->agent.err));
    TEST_OK(&p->agent, weir_session_join(p->agent.session, child, p->agent.now_ms, &p->agent.err));
}

static void results(struct play *p)
{
    const struct weir_call *calls;
    while (weir_session_pending(p->agent.session, &calls) > 0) {
        weir_span id = calls[0].id;
        char copy[64];
        (void)snprintf(copy, sizeof(copy), "%.*s", (int)id.len, id.ptr);
        steer(p);
        reopen(p);
        if (p->script->spawns && !roll(p, 4)) {
            spawn(p, wr_span_of(copy));
            continue;
        }
        test_agent_result(&p->agent, copy, keep_text(p, make_text(p, "result", 5 + roll(p, 120))));
    }
}

static void refuse(struct play *p)
{
    if (!p->script->overflows || roll(p, 20))
        return;
    assert_true(weir_session_refused(
        p->agent.session,
        WR_LIT("{\"error\":{\"message\":\"prompt is too long: 30000 tokens > 22000 maximum\"}}"),
        ++p->agent.now_ms));
    p->is_broken_off = true;
    request(p);
}

static void switch_model(struct play *p)
{
    static const char *const models[] = {"claude-sonnet-4-5", "gpt-5"};
    if (!p->script->switches || roll(p, 8))
        return;
    TEST_OK(&p->agent, weir_session_switch_model(p->agent.session, models[roll(p, 2)],
                                                 WINDOW_TOKENS, ++p->agent.now_ms, &p->agent.err));
    p->is_broken_off = true;
}

static void take_turn(struct play *p)
{
    switch_model(p);
    reopen(p);
    request(p);
    refuse(p);
    steer(p); /* while the model writes */
    uint32_t calls = roll(p, 4);
    answer(p, calls);
    results(p);
    if (!calls)
        test_agent_say(&p->agent, keep_text(p, make_text(p, "words", roll(p, 4))));
}

/* ---- the journal ---- */

struct reading {
    const struct play *play;
    size_t at;
};

static weir_status read_event(void *user, const struct weir_event *event)
{
    struct reading *r = user;
    bool is_said = !strcmp(event->kind, "user") || !strcmp(event->kind, "steering") ||
                   !strcmp(event->kind, "assistant") || !strcmp(event->kind, "result");
    if (!is_said)
        return WEIR_OK;
    assert_true(r->at < r->play->texts_count);
    const char *said = r->play->texts[r->at++];
    if (!wr_span_is(event->text, said))
        fail_msg("event %llu says '%.*s', not '%.80s'", (unsigned long long)event->seq, 80,
                 event->text.ptr, said);
    return WEIR_OK;
}

static void check_journal(struct play *p)
{
    struct reading reading = {.play = p};
    TEST_OK(&p->agent, weir_journal_read(p->agent.dir, read_event, &reading, &p->agent.err));
    assert_int_equal(reading.at, p->texts_count);
}

static void play_script(const struct script *script)
{
    struct play p = {.script = script, .random = script->seed};

    test_agent_init(&p.agent);
    for (int d = 0; d < DIALECTS; d++)
        wr_buf_init(&p.before[d], 1 << 24);
    (void)snprintf(
        p.config, sizeof(p.config),
        "model: {name: claude-sonnet-4-5, max_input_tokens: %d, max_output_tokens: 1000}\n"
        "session: {policy: %s, max_tool_iterations: 1000, limits: {turns: 0, tokens: 0, "
        "tool_calls: 0, cost_usd: 0, minutes: 0}}\n",
        WINDOW_TOKENS, script->policy);
    test_agent_open(&p.agent, p.config);
    set_tools(&p);
    TEST_OK(&p.agent, weir_session_set_prompt(p.agent.session, WR_LIT("You keep the weir."), 1,
                                              &p.agent.err));
    test_agent_say(&p.agent, keep_text(&p, make_text(&p, "words", 2)));
    uint32_t turns = traces_setting("WEIR_TURNS", TURNS);
    for (p.turn = 0; p.turn < turns; p.turn++)
        take_turn(&p);
    check_journal(&p);
    printf("%s: %llu requests changed, %llu compactions, %llu over the window\n", script->behaviour,
           (unsigned long long)p.changed_count, (unsigned long long)p.compacted_count,
           (unsigned long long)p.over_count);
    bool is_exact = !strcmp(script->policy, "exact");
    assert_true(p.over_count == 0 || is_exact);
    assert_true(p.changed_count + p.compacted_count > 0 || is_exact);
    for (size_t i = 0; i < p.texts_count; i++)
        free(p.texts[i]);
    for (int d = 0; d < DIALECTS; d++)
        wr_buf_release(&p.before[d]);
    test_agent_release(&p.agent);
}

static void every_script_holds_the_laws(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(scripts); i++)
        play_script(&scripts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_script_holds_the_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
