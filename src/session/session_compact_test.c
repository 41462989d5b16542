#include "tests/test_agent.h"

#include <sys/stat.h>

#include "base/span.h"
#include "session/disk.h"

static const char tiered[] =
    "model: {name: gpt-4o, max_input_tokens: 16000, max_output_tokens: 500}\n"
    "session: {policy: tiered, max_tool_iterations: 1000}\n";

/* A loop of `count` calls with results of about `lines` lines; edits and failures among them. */
static void work(struct test_agent *agent, int from, int count, int lines)
{
    for (int i = from; i < from + count; i++) {
        struct wr_buf text;
        char id[32], arguments[128];
        (void)snprintf(id, sizeof(id), "c%d", i);
        (void)test_agent_request(agent, WEIR_DIALECT_CHAT);
        if (i % 3 == 2)
            (void)snprintf(
                arguments, sizeof(arguments),
                "{\"file_path\":\"/src/f%d.c\",\"old_string\":\"a\",\"new_string\":\"b\"}", i);
        else
            (void)snprintf(arguments, sizeof(arguments), "{\"command\":\"make step%d\"}", i);
        test_agent_call(agent, id, i % 3 == 2 ? "Edit" : "Bash", arguments);
        wr_buf_init(&text, 1 << 20);
        for (int line = 0; line < lines; line++)
            wr_buf_printf(&text, "result %d line %d: the gate holds the level of the river\n", i,
                          line);
        wr_buf_byte(&text, 0);
        test_agent_result(agent, id, text.bytes);
        wr_buf_release(&text);
    }
}

static void begin(struct test_agent *agent, const char *yaml)
{
    const struct weir_tool tools[] = {{WR_LIT("Bash"), WR_LIT(""), WR_LIT("")},
                                      {WR_LIT("Edit"), WR_LIT(""), WR_LIT("")}};
    test_agent_init(agent);
    test_agent_open(agent, yaml);
    TEST_OK(agent, weir_session_set_tools(agent->session, tools, 2, &agent->err));
}

static void read_below(const struct test_agent *agent, const char *name, struct wr_buf *into)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", agent->dir, name);
    wr_buf_init(into, 1 << 24);
    assert_int_equal(wr_disk_read(path, into, NULL), WEIR_OK);
}

/* ---- summaries ---- */

static void older_turns_become_a_summary_with_their_text_in_a_file_first(void **state)
{
    struct weir_compacted compacted;
    struct test_agent agent;
    struct wr_buf history, journal, before;
    (void)state;
    begin(&agent, tiered);
    test_agent_say(&agent, "make the gate hold");
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    test_agent_answer(&agent, "Which one?");
    test_agent_say(&agent, "the upper gate"); /* neither the first words nor the newest */
    work(&agent, 0, 4, 30);
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    test_agent_answer(&agent, "It holds.");
    test_agent_say(&agent, "now the lower one");
    work(&agent, 4, 4, 30);
    (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
    read_below(&agent, "events.jsonl", &before);
    TEST_OK(&agent, weir_session_compact(agent.session, "manual", 5, &compacted, &agent.err));
    assert_true(compacted.is_taken);
    assert_true(compacted.tokens_after < compacted.tokens_before);
    read_below(&agent, "conversation_history/main.md", &history);
    assert_has(wr_buf_view(&history), "result 0 line 29");
    assert_has(wr_buf_view(&history), "make the gate hold");
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has(body, "[CONVERSATION SUMMARY]");
    assert_has(body, "/src/f2.c");
    assert_has(body, "conversation_history/main.md");
    assert_has(body, "the upper gate"); /* words of the user stay */
    assert_has(body, "\\n\\nnow the lower one\"},{\"role\":\"assistant\"");
    assert_has_not(body, "result 0 line 29");
    assert_has(body, "result 7 line 29"); /* the newest stays verbatim */
    /* Nothing of the journal was changed. */
    read_below(&agent, "events.jsonl", &journal);
    assert_true(journal.len > before.len);
    assert_memory_equal(journal.bytes, before.bytes, before.len);
    wr_buf_release(&before);
    wr_buf_release(&journal);
    wr_buf_release(&history);
    test_agent_close(&agent);
    test_agent_open(&agent, tiered);
    assert_has(test_agent_request(&agent, WEIR_DIALECT_CHAT), "[CONVERSATION SUMMARY]");
    test_agent_release(&agent);
}

static void a_second_summary_is_made_of_what_happened(void **state)
{
    struct weir_compacted compacted;
    struct test_agent agent;
    (void)state;
    begin(&agent, tiered);
    test_agent_say(&agent, "go");
    work(&agent, 0, 8, 30);
    TEST_OK(&agent, weir_session_compact(agent.session, "manual", 5, &compacted, &agent.err));
    assert_true(compacted.is_taken);
    work(&agent, 8, 9, 30);
    TEST_OK(&agent, weir_session_compact(agent.session, "manual", 6, &compacted, &agent.err));
    assert_true(compacted.is_taken);
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has(body, "/src/f2.c"); /* of the first one */
    assert_has(body, "/src/f11.c");
    size_t first = wr_span_find(body, WR_LIT("[CONVERSATION SUMMARY]"), 0);
    assert_int_equal(wr_span_find(body, WR_LIT("[CONVERSATION SUMMARY]"), first + 1), SIZE_MAX);
    test_agent_release(&agent);
}

static void nothing_to_gain_is_not_taken(void **state)
{
    struct weir_compacted compacted;
    struct test_agent agent;
    (void)state;
    begin(&agent, tiered);
    test_agent_say(&agent, "go");
    TEST_OK(&agent, weir_session_compact(agent.session, "manual", 5, &compacted, &agent.err));
    assert_false(compacted.is_taken);
    work(&agent, 0, 4, 1);
    uint64_t last = weir_session_last_event(agent.session);
    TEST_OK(&agent, weir_session_compact(agent.session, "manual", 5, &compacted, &agent.err));
    assert_false(compacted.is_taken);
    assert_int_equal(weir_session_last_event(agent.session), last);
    test_agent_release(&agent);
}

static void past_85_percent_tiered_summarises_by_itself(void **state)
{
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
    struct weir_session_turn turn;
    struct test_agent agent;
    struct wr_buf trace;
    bool was_compacted = false;
    (void)state;
    begin(&agent, tiered);
    test_agent_say(&agent, "go");
    for (int i = 0; i < 14; i++) {
        work(&agent, i, 1, 100); /* no recall among the tools: nothing can be cleared */
        want.now_ms = ++agent.now_ms;
        TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
        was_compacted = was_compacted || turn.is_compacted;
        assert_true(turn.tokens_after <= turn.window_tokens * 85 / 100);
    }
    assert_true(was_compacted);
    read_below(&agent, "trace.jsonl", &trace);
    assert_has(wr_buf_view(&trace),
               "\"kind\":\"context_compaction\",\"why\":\"window\",\"by\":\"extraction\"");
    wr_buf_release(&trace);
    test_agent_release(&agent);
}

static void compress_keeps_everything_up_to_its_threshold(void **state)
{
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
    struct weir_session_turn turn = {0};
    struct test_agent agent;
    uint64_t whole_tokens = 0;
    (void)state;
    begin(&agent, "model: {name: gpt-4o, max_input_tokens: 16000, max_output_tokens: 500}\n"
                  "session: {policy: compress, max_tool_iterations: 1000}\n");
    test_agent_say(&agent, "go");
    for (int i = 0; i < 40 && !turn.is_compacted; i++) {
        work(&agent, i, 1, 30);
        want.now_ms = ++agent.now_ms;
        TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
        if (turn.is_compacted)
            break;
        assert_has(turn.body, "result 0 line 29"); /* no rolling window */
        assert_false(turn.is_changed);
        whole_tokens = turn.tokens_after;
    }
    assert_true(turn.is_compacted);
    assert_true(whole_tokens <= turn.window_tokens * 80 / 100);
    assert_true(whole_tokens > turn.window_tokens * 70 / 100); /* and not long before it */
    test_agent_release(&agent);
}

static void no_room_for_the_history_leaves_everything_as_it_was(void **state)
{
    struct weir_compacted compacted;
    struct test_agent agent;
    char path[256];
    (void)state;
    begin(&agent, tiered);
    test_agent_say(&agent, "go");
    work(&agent, 0, 8, 30);
    (void)snprintf(path, sizeof(path), "%s/conversation_history", agent.dir);
    assert_int_equal(wr_disk_replace(path, WR_LIT("in the way"), NULL), WEIR_OK);
    uint64_t last = weir_session_last_event(agent.session);
    assert_int_not_equal(weir_session_compact(agent.session, "manual", 5, &compacted, &agent.err),
                         WEIR_OK);
    assert_has(wr_span_of(agent.err.text), "conversation_history");
    assert_int_equal(weir_session_last_event(agent.session), last);
    assert_has(test_agent_request(&agent, WEIR_DIALECT_CHAT), "result 0 line 29");
    test_agent_release(&agent);
}

/* ---- a model's summary ---- */

struct writer {
    const char *text;
    weir_status status;
    int calls;
    const char *second; /* the text when it is asked again; NULL: the same */
};

static weir_status write_summary(void *user, const struct weir_summary_task *task, weir_span *text)
{
    struct writer *writer = user;
    writer->calls++;
    assert_true(task->tokens_max == 4000 && task->timeout_ms == 60000);
    assert_has(task->history, "result 0 line 0");
    assert_has(task->extracted, "[CONVERSATION SUMMARY]");
    assert_int_equal(task->refused != NULL, writer->calls > 1);
    *text = wr_span_of(task->refused && writer->second ? writer->second : writer->text);
    return writer->status;
}

static void assert_journal_has(const struct test_agent *agent, const char *text)
{
    char path[4200], bytes[1 << 16];
    (void)snprintf(path, sizeof(path), "%s/events.jsonl", agent->dir);
    FILE *file = fopen(path, "rb");
    size_t len;
    bool is_found = false;
    assert_non_null(file);
    while (!is_found && fgets(bytes, sizeof(bytes), file)) {
        len = strlen(bytes);
        is_found = wr_span_has((weir_span){bytes, len}, wr_span_of(text));
    }
    (void)fclose(file);
    if (!is_found)
        fail_msg("the journal has not: %s", text);
}

#define ENOUGH                                                                                  \
    "The user asked for a look at all sources and we went through them one after the other. "   \
    "Changed /src/f2.c only, since the others were fine as they stood; the tests were not run " \
    "yet, which is what comes next, and then the notes are to be written."

static const struct {
    const char *behaviour, *text;
    weir_status status;
    const char *fell_back;
    int calls;
    const char *why; /* in the journal */
} summaries[] = {
    {"one with all the facts is taken", ENOUGH, WEIR_OK, NULL, 1, "\"why\":\"model\""},
    {"one that leaves out a changed file is not",
     "All is well, and there is nothing that anybody would have to know about it, for it is well: "
     "the sources were looked at, one after the other, and they are what they were before. The "
     "tests come next, and then the notes.",
     WEIR_OK, "it leaves out facts", 2,
     "\"why\":\"extracted; the model's was not taken: it leaves out facts\""},
    {"three words are not", "Changed /src/f2.c only.", WEIR_OK, "it says too little", 2,
     "it says too little"},
    {"an empty one is not", "  ", WEIR_OK, "it is empty", 2, "it is empty"},
    {"a model that fails is not asked again", "", WEIR_IO, "the model gave none", 1,
     "the model gave none"},
    {"one that is too long", NULL, WEIR_OK, "it is too long", 2, "it is too long"},
};

static void a_models_summary_is_checked_and_falls_back(void **state)
{
    struct wr_buf huge;
    (void)state;
    wr_buf_init(&huge, 1 << 20);
    wr_buf_text(&huge, "/src/f2.c ");
    for (int i = 0; i < 9000; i++)
        wr_buf_text(&huge, "word ");
    wr_buf_byte(&huge, 0);
    for (size_t i = 0; i < WR_COUNT_OF(summaries); i++) {
        struct writer writer = {summaries[i].text ? summaries[i].text : huge.bytes,
                                summaries[i].status, 0, NULL};
        struct weir_compacted compacted;
        struct test_agent agent;
        print_message("%s\n", summaries[i].behaviour);
        begin(&agent, tiered);
        weir_session_set_summary(agent.session, write_summary, &writer);
        test_agent_say(&agent, "go");
        work(&agent, 0, 8, 30);
        TEST_OK(&agent, weir_session_compact(agent.session, "manual", 5, &compacted, &agent.err));
        assert_true(compacted.is_taken);
        assert_int_equal(writer.calls, summaries[i].calls);
        assert_journal_has(&agent, summaries[i].why);
        weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
        assert_has(body, "/src/f2.c");
        assert_has(body, "full_history: ");
        if (summaries[i].fell_back) {
            assert_string_equal(compacted.fell_back, summaries[i].fell_back);
            assert_has(body, "[CONVERSATION SUMMARY]");
        } else {
            assert_true(compacted.is_by_model);
            assert_has(body, "Changed /src/f2.c only");
        }
        test_agent_release(&agent);
    }
    wr_buf_release(&huge);
}

static void a_second_try_may_be_better(void **state)
{
    struct writer writer = {"Changed it.", WEIR_OK, 0, ENOUGH};
    struct weir_compacted compacted;
    struct test_agent agent;
    (void)state;
    begin(&agent, tiered);
    weir_session_set_summary(agent.session, write_summary, &writer);
    test_agent_say(&agent, "go");
    work(&agent, 0, 8, 30);
    TEST_OK(&agent, weir_session_compact(agent.session, "manual", 5, &compacted, &agent.err));
    assert_true(compacted.is_by_model);
    assert_null(compacted.fell_back);
    assert_int_equal(writer.calls, 2);
    assert_journal_has(&agent, "\"why\":\"model, asked again\"");
    test_agent_release(&agent);
}

/* ---- overflow ---- */

static void a_refusal_shrinks_the_window_and_is_never_a_loop(void **state)
{
    static const char error[] =
        "{\"error\":{\"message\":\"This model's maximum context length is 6000 tokens. However, "
        "your messages resulted in 9000 tokens\",\"code\":\"context_length_exceeded\"}}";
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, tiered);
    test_agent_say(&agent, "go");
    work(&agent, 0, 9, 40);
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_true(turn.tokens_after > 6000);
    assert_false(weir_session_refused(agent.session, WR_LIT("{\"error\":\"rate limit\"}"), 1));
    assert_true(weir_session_refused(agent.session, wr_span_of(error), 1));
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_true(turn.is_compacted);
    assert_int_equal(turn.window_tokens, 6000);
    assert_true(turn.tokens_after <= 6000);
    assert_true(weir_session_refused(agent.session, wr_span_of(error), 1));
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_true(weir_session_refused(agent.session, wr_span_of(error), 1));
    assert_int_equal(weir_session_request(agent.session, &want, &turn, &agent.err), WEIR_LIMIT);
    assert_has(wr_span_of(agent.err.text), "3 times in a row");
    test_agent_close(&agent);
    test_agent_open(&agent, tiered); /* what the window is was written down */
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_int_equal(turn.window_tokens, 6000);
    test_agent_release(&agent);
}

static void signed_thinking_of_a_running_loop_leaves_with_it(void **state)
{
    static const char yaml[] = "model: {name: claude-sonnet-4-5, max_input_tokens: 16000}\n"
                               "session: {policy: tiered, max_tool_iterations: 1000}\n";
    struct weir_compacted compacted;
    struct test_agent agent;
    (void)state;
    begin(&agent, yaml);
    test_agent_say(&agent, "go");
    work(&agent, 0, 8, 30);
    for (int i = 8; i < 12; i++) {
        char body[512], id[16];
        (void)test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
        (void)snprintf(id, sizeof(id), "t%d", i);
        (void)snprintf(
            body, sizeof(body),
            "{\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"s%d\"},"
            "{\"type\":\"tool_use\",\"id\":\"t%d\",\"name\":\"Bash\",\"input\":{}}]}",
            i, i);
        TEST_OK(&agent, weir_session_answer_body(agent.session, WEIR_DIALECT_MESSAGES,
                                                 wr_span_of(body), 5, &agent.err));
        test_agent_result(&agent, id, "what the last call gave");
    }
    weir_span before = test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    assert_has(before, "\"signature\":\"s8\"");
    TEST_OK(&agent, weir_session_compact(agent.session, "manual", 5, &compacted, &agent.err));
    assert_true(compacted.is_taken);
    /* No call and no signature is left to be refused; the words and the newest result are. */
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    assert_has_not(body, "signature");
    assert_has_not(body, "tool_use");
    assert_has(body, "go");
    assert_has(body, "latest_result:\\nwhat the last call gave");
    test_agent_answer(&agent, "done");
    test_agent_say(&agent, "next");
    assert_has(test_agent_request(&agent, WEIR_DIALECT_MESSAGES), "done");
    test_agent_release(&agent);
}

/* ---- the run's budget ---- */

static void compression_is_tried_before_the_run_is_aborted(void **state)
{
    static const char yaml[] = "model: {name: gpt-4o, max_input_tokens: 16000}\n"
                               "session: {policy: compress, limits: {tokens: 20000}}\n";
    struct weir_session_usage usage = {.input_tokens = 13000};
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, yaml);
    test_agent_say(&agent, "go");
    work(&agent, 0, 8, 60);
    TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 5, &agent.err));
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_true(
        turn.is_compacted); /* 7,000 tokens are left: 80 % of that is less than the prompt */
    TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 5, &agent.err));
    assert_int_equal(weir_session_request(agent.session, &want, &turn, &agent.err), WEIR_LIMIT);
    assert_has(wr_span_of(agent.err.text), "limit of tokens");
    test_agent_release(&agent);
}

/* A refusal without numbers, told to another process than the one that sent the request. */
static void what_was_refused_is_known_after_a_restart(void **state)
{
    static const char yaml[] = "model: {name: gpt-4o, max_input_tokens: 100000}\n";
    static const char error[] = "{\"error\":{\"code\":\"context_length_exceeded\"}}";
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
    struct weir_session_turn turn;
    struct test_agent agent;
    (void)state;
    begin(&agent, yaml);
    test_agent_say(&agent, "go");
    work(&agent, 0, 9, 40);
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    uint64_t sent = turn.tokens_after;
    test_agent_close(&agent);
    test_agent_open(&agent, yaml);
    assert_true(weir_session_refused(agent.session, wr_span_of(error), 1));
    test_agent_close(&agent);
    test_agent_open(&agent, yaml);
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_int_equal(turn.window_tokens, sent * 9 / 10);
    assert_true(turn.tokens_after <= turn.window_tokens);
    test_agent_release(&agent);
}

/* The window is large and what is left of the run is not: a tenth of the window is more than the
 * whole prompt, and must not keep it from being compacted. */
static void what_is_left_of_a_run_decides_how_much_stays(void **state)
{
    static const char yaml[] = "model: {name: gpt-4o, max_input_tokens: 120000}\n"
                               "session: {policy: compress, limits: {tokens: 20000}}\n";
    struct weir_session_usage usage = {.input_tokens = 15000};
    struct weir_session_want want = {.dialect = WEIR_DIALECT_CHAT};
    struct weir_session_turn turn;
    struct weir_session_run run;
    struct test_agent agent;
    (void)state;
    begin(&agent, yaml);
    test_agent_say(&agent, "go");
    work(&agent, 0, 8, 60);
    TEST_OK(&agent, weir_session_add_usage(agent.session, &usage, 5, &agent.err));
    weir_session_run(agent.session, 5, &run);
    assert_true(run.is_compress_due);
    TEST_OK(&agent, weir_session_request(agent.session, &want, &turn, &agent.err));
    assert_true(turn.is_compacted);
    test_agent_release(&agent);
}

/* ---- history ---- */

static void exchange(struct test_agent *agent, int i, uint64_t *event)
{
    char words[1200];
    (void)snprintf(words, sizeof(words), "question %d %01000d", i, i);
    test_agent_say(agent, words);
    if (event)
        *event = weir_session_last_event(agent->session);
    (void)test_agent_request(agent, WEIR_DIALECT_CHAT);
    (void)snprintf(words, sizeof(words), "reply %d", i);
    test_agent_answer(agent, words);
}

static void history_is_filled_newest_first_and_the_rest_is_a_notice(void **state)
{
    static const char yaml[] = "model: {name: gpt-4o}\n"
                               "session: {context: {max_history_tokens: 2000}}\n";
    struct test_agent agent;
    struct wr_buf history;
    uint64_t rated;
    (void)state;
    begin(&agent, yaml);
    for (int i = 0; i < 3; i++)
        exchange(&agent, i, i == 1 ? &rated : NULL);
    TEST_OK(&agent, weir_session_rate(agent.session, rated, 90, 5, &agent.err));
    for (int i = 3; i < 20; i++)
        exchange(&agent, i, NULL);
    test_agent_say(&agent, "last");
    weir_span body = test_agent_request(&agent, WEIR_DIALECT_CHAT);
    assert_has(body, "{\"role\":\"system\",\"content\":\"[conversation truncated \xE2\x80\x94 ");
    assert_has(body, "older messages omitted]\\n[they are in ");
    assert_has_not(body, "question 0 ");
    assert_has(body, "question 1 "); /* it was rated */
    assert_has(body, "reply 1\"");
    assert_has_not(body, "question 2 ");
    assert_has(body, "reply 19");
    struct weir_session_want turns = {
        .dialect = WEIR_DIALECT_CHAT, .now_ms = ++agent.now_ms, .alternates = true};
    struct weir_session_turn turn;
    TEST_OK(&agent, weir_session_request(agent.session, &turns, &turn, &agent.err));
    assert_has(turn.body, "{\"role\":\"user\",\"content\":\"[conversation truncated ");
    assert_has_not(turn.body, "{\"role\":\"system\",\"content\":\"[conversation");
    body = test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
    assert_has(body, "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"["
                     "conversation truncated");
    read_below(&agent, "conversation_history/main.md", &history);
    assert_has(wr_buf_view(&history), "question 0 ");
    wr_buf_release(&history);
    test_agent_release(&agent);
    /* No cap of its own: the window alone. */
    begin(&agent, "model: {name: gpt-4o}\nsession: {context: {max_history_tokens: 0}}\n");
    for (int i = 0; i < 20; i++)
        exchange(&agent, i, NULL);
    assert_int_equal(weir_session_last_event(agent.session), 83); /* nothing was cut */
    test_agent_say(&agent, "last");
    assert_has(test_agent_request(&agent, WEIR_DIALECT_CHAT), "question 0 ");
    test_agent_release(&agent);
}

static void the_actor_holds_no_more_messages_than_its_limit(void **state)
{
    struct weir_session_context context;
    struct test_agent agent;
    (void)state;
    begin(&agent, "model: {name: gpt-4o, max_input_tokens: 10000}\n"
                  "session: {policy: exact, limits: {turns: 0}, max_tool_iterations: 1000}\n");
    for (int i = 0; i < 120; i++) {
        test_agent_say(&agent, "q");
        (void)test_agent_request(&agent, WEIR_DIALECT_CHAT);
        test_agent_answer(&agent, "a");
        weir_session_context(agent.session, &context);
        assert_int_equal(context.messages_max, 100);
        assert_true(context.messages_count <= 100);
    }
    /* Words that were carried over are one message, and none of them is omitted. */
    assert_true(context.words_carried > 50);
    assert_int_equal(context.messages_count - 1 + context.words_carried + context.messages_omitted,
                     240);
    test_agent_close(&agent);
    test_agent_open(&agent,
                    "model: {name: gpt-4o, max_input_tokens: 10000}\nsession: {policy: exact, "
                    "limits: {turns: 0}, max_tool_iterations: 1000}\n");
    /* One exchange that is longer than the limit is cut inside; its words stay. */
    test_agent_say(&agent, "the long task");
    work(&agent, 0, 90, 1);
    weir_session_context(agent.session, &context);
    assert_true(context.messages_count <= 102);
    assert_has(test_agent_request(&agent, WEIR_DIALECT_MESSAGES), "the long task");
    test_agent_release(&agent);
}

/* Seed 003 bounds the messages an actor holds; law L5 keeps the words of the user. Both hold: what
 * the model did leaves, and what the user said is carried over as one section, in front. */
static void the_actors_bound_takes_no_words_of_the_user(void **state)
{
    static const char yaml[] = "model: {name: gpt-4o, max_input_tokens: 10000}\n"
                               "session: {policy: %s, limits: {turns: 0, tokens: 0}}\n";
    static const char *const policies[] = {"exact", "auto", "tiered", "compress", "layers"};
    (void)state;
    for (size_t row = 0; row < WR_COUNT_OF(policies); row++) {
        struct weir_session_context context = {0};
        struct test_agent agent;
        struct wr_buf history, body;
        char config[256], words[64];
        (void)snprintf(config, sizeof(config), yaml, policies[row]);
        begin(&agent, config);
        for (int i = 0; i < 130; i++) {
            (void)snprintf(words, sizeof(words), "wish number %d;", i);
            test_agent_say(&agent, words);
            (void)test_agent_request(&agent, WEIR_DIALECT_MESSAGES);
            (void)snprintf(words, sizeof(words), "reply number %d;", i);
            test_agent_answer(&agent, words);
            weir_session_context(agent.session, &context);
            assert_true(context.messages_count <= 100);
            if (i == 80) {
                test_agent_close(&agent);
                test_agent_open(&agent, config);
            }
        }
        test_agent_say(&agent, "the last wish");
        wr_buf_init(&body, 1 << 22);
        wr_buf_append(&body, test_agent_request(&agent, WEIR_DIALECT_MESSAGES));
        bool drops = !strcmp(policies[row], "layers");
        assert_has_not(wr_buf_view(&body), "reply number 3;");
        for (int i = 0; i < 130; i++) {
            (void)snprintf(words, sizeof(words), "wish number %d;", i);
            if (!drops)
                assert_has(wr_buf_view(&body), words);
        }
        if (drops)
            assert_has_not(wr_buf_view(&body), "wish number 3;");
        else
            assert_has(wr_buf_view(&body), "what the user said in them follows, word for word]");
        assert_has(wr_buf_view(&body), "older messages omitted]\\n[they are in ");
        read_below(&agent, "conversation_history/main.md", &history);
        assert_has(wr_buf_view(&history), "reply number 3;");
        wr_buf_release(&history);
        wr_buf_release(&body);
        test_agent_release(&agent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_turns_become_a_summary_with_their_text_in_a_file_first),
        cmocka_unit_test(a_second_summary_is_made_of_what_happened),
        cmocka_unit_test(nothing_to_gain_is_not_taken),
        cmocka_unit_test(past_85_percent_tiered_summarises_by_itself),
        cmocka_unit_test(compress_keeps_everything_up_to_its_threshold),
        cmocka_unit_test(no_room_for_the_history_leaves_everything_as_it_was),
        cmocka_unit_test(a_models_summary_is_checked_and_falls_back),
        cmocka_unit_test(a_second_try_may_be_better),
        cmocka_unit_test(a_refusal_shrinks_the_window_and_is_never_a_loop),
        cmocka_unit_test(signed_thinking_of_a_running_loop_leaves_with_it),
        cmocka_unit_test(compression_is_tried_before_the_run_is_aborted),
        cmocka_unit_test(what_is_left_of_a_run_decides_how_much_stays),
        cmocka_unit_test(what_was_refused_is_known_after_a_restart),
        cmocka_unit_test(history_is_filled_newest_first_and_the_rest_is_a_notice),
        cmocka_unit_test(the_actor_holds_no_more_messages_than_its_limit),
        cmocka_unit_test(the_actors_bound_takes_no_words_of_the_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
