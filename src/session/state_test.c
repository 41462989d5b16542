/* A session that is opened from its checkpoint is the one that its journal tells; whatever is in
 * the checkpoint. */
#include "session/state.h"

#include "base/span.h"
#include "session/disk.h"
#include "session/session.h"
#include "tests/test_agent.h"

static const char config[] = "model: {name: gpt-4o, max_input_tokens: 10000}\n"
                             "session: {policy: tiered, max_tool_iterations: 1000,\n"
                             "          limits: {turns: 0, tokens: 0, tool_calls: 0}}\n";

struct pair {
    struct test_agent agent;
    struct weir_session_host *host; /* of those that only look */
    uint64_t random;
};

static void begin(struct pair *p)
{
    *p = (struct pair){.random = 88172645463325252u};
    test_agent_init(&p->agent);
    test_agent_open(&p->agent, config);
    TEST_OK(&p->agent, weir_session_host_new(&p->host, &p->agent.err));
}

static void end(struct pair *p)
{
    weir_session_host_free(p->host);
    test_agent_release(&p->agent);
}

static uint32_t pick(struct pair *p, uint32_t count)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (uint32_t)(p->random % count);
}

static void path_of(const struct pair *p, char path[256], const char *name)
{
    (void)snprintf(path, 256, "%s/%s", p->agent.dir, name);
}

static void read_state(const struct pair *p, struct wr_buf *into)
{
    char path[256];
    path_of(p, path, WR_STATE_FILE);
    wr_buf_init(into, 1 << 24);
    assert_int_equal(wr_disk_read(path, into, NULL), WEIR_OK);
}

static void write_file(const struct pair *p, const char *name, weir_span bytes)
{
    char path[256];
    path_of(p, path, name);
    assert_int_equal(wr_disk_replace(path, bytes, NULL), WEIR_OK);
}

static void remove_state(const struct pair *p)
{
    char path[256];
    path_of(p, path, WR_STATE_FILE);
    (void)unlink(path);
}

/* ---- the whole of a session, as a text ---- */

static void put_request(struct weir_session *session, weir_dialect dialect, struct wr_buf *out)
{
    struct weir_session_want want = {.dialect = dialect, .now_ms = 1, .is_preview = true};
    struct weir_session_turn turn;
    struct weir_err err = {0};
    if (!weir_session_request(session, &want, &turn, &err))
        wr_buf_append(out, turn.body);
    else
        wr_buf_text(out, err.text);
}

/* Beside what the checkpoint itself knows of: what it forgot would be missing in both. */
static void put_thread(const struct wr_thread *t, struct wr_buf *out)
{
    const uint64_t numbers[] = {t->seq,
                                t->turn_seq,
                                t->turn_before_seq,
                                t->answer_seq,
                                t->binds_after,
                                t->cut_seq,
                                t->omitted_count,
                                t->window_tokens,
                                (uint64_t)t->run_started_ms,
                                t->used.turns,
                                t->used.tokens,
                                t->used.tool_calls,
                                t->used.cost_micro_usd,
                                t->unpriced_count,
                                t->iterations,
                                t->last_input_tokens,
                                t->is_paused,
                                t->summary_tokens,
                                t->last_summary.seq};
    for (size_t i = 0; i < WR_COUNT_OF(numbers); i++)
        wr_buf_printf(out, "%llu ", (unsigned long long)numbers[i]);
    wr_buf_append(out, t->model);
    wr_buf_append(out, t->summary);
    wr_buf_append(out, t->history_path);
    wr_buf_append(out, t->prompt_pieces);
    wr_buf_append(out, t->tools_pieces);
    wr_buf_append(out, t->last_summary.text);
}

static void put_session(struct weir_session *session, struct wr_buf *out)
{
    struct wr_state state = {.name = session->name,
                             .model = session->model,
                             .policy = session->settings.policy,
                             .window_tokens = wr_live_window(session),
                             .messages_max = wr_live_messages_max(session),
                             .journal = &session->journal,
                             .thread = &session->thread};
    const struct weir_call *calls;
    struct weir_session_context context;

    wr_state_write(out, &state, true);
    weir_session_context(session, &context);
    wr_buf_printf(out, "%llu %llu\n", (unsigned long long)context.total_tokens,
                  (unsigned long long)context.system_tokens);
    for (size_t i = 0, count = weir_session_pending(session, &calls); i < count; i++)
        wr_buf_append(out, calls[i].id);
    put_thread(&session->thread, out);
    for (int d = WEIR_DIALECT_CHAT; d <= WEIR_DIALECT_CONVERSE; d++)
        put_request(session, (weir_dialect)d, out);
}

/* Opens for reading and tells all; `why` is why the checkpoint was left aside. */
static weir_status look(struct pair *p, struct wr_buf *out, struct weir_session_opened *opened)
{
    struct weir_session_options options = {.dir = p->agent.dir,
                                           .config = wr_span_of(config),
                                           .host = p->host,
                                           .is_read_only = true,
                                           .now_ms = 1};
    struct weir_session *session;
    struct weir_err err = {0};

    wr_buf_init(out, 1 << 28);
    weir_status status = weir_session_open(&options, &session, &err);
    if (status) {
        wr_buf_text(out, err.text);
        return status;
    }
    *opened = *weir_session_opened(session);
    put_session(session, out);
    weir_session_close(session);
    return WEIR_OK;
}

static void assert_same(const struct wr_buf *a, const struct wr_buf *b, const char *when, size_t n)
{
    if (wr_span_eq(wr_buf_view(a), wr_buf_view(b)))
        return;
    size_t at = 0;
    while (at < a->len && at < b->len && a->bytes[at] == b->bytes[at])
        at++;
    size_t from = at > 200 ? at - 200 : 0;
    fail_msg("%s %zu: not the same at byte %zu:\n%.*s\n---\n%.*s", when, n, at,
             (int)(a->len - from > 400 ? 400 : a->len - from), a->bytes + from,
             (int)(b->len - from > 400 ? 400 : b->len - from), b->bytes + from);
}

/* With the checkpoint that is there, and from the journal alone. */
static void assert_checkpoint_is_right(struct pair *p, const char *when, size_t n)
{
    struct weir_session_opened with = {0}, without = {0};
    struct wr_buf a, b, state;

    read_state(p, &state);
    assert_int_equal(look(p, &a, &with), WEIR_OK);
    remove_state(p);
    assert_int_equal(look(p, &b, &without), WEIR_OK);
    write_file(p, WR_STATE_FILE, wr_buf_view(&state));
    if (with.checkpoint)
        fail_msg("%s %zu: the checkpoint was left aside: %s", when, n, with.checkpoint);
    assert_string_equal(without.checkpoint, "there is none");
    assert_int_equal(with.events_count, without.events_count);
    assert_true(with.replayed_count <= with.events_count);
    assert_int_equal(without.replayed_count, without.events_count);
    assert_same(&a, &b, when, n);
    wr_buf_release(&state);
    wr_buf_release(&a);
    wr_buf_release(&b);
}

/* ---- a session in which everything happens ---- */

static void answer(struct pair *p, uint32_t calls_count)
{
    struct weir_call calls[3];
    char ids[3][32];
    const weir_span thinking =
        WR_LIT("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s\"}");
    for (uint32_t i = 0; i < calls_count; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "call_%u_%u", pick(p, 1 << 30), i);
        calls[i] = (struct weir_call){wr_span_of(ids[i]), WR_LIT("Bash"), WR_LIT("{\"c\":\"ls\"}")};
    }
    struct weir_answer said = {.text = WR_LIT("I look at the river and the stone"),
                               .calls = calls,
                               .calls_count = calls_count};
    if (!calls_count && pick(p, 2)) {
        said.dialect = WEIR_DIALECT_MESSAGES;
        said.items = &thinking;
        said.items_count = 1;
    }
    if (weir_session_answer(p->agent.session, &said, ++p->agent.now_ms, NULL))
        return;
}

static void ask(struct pair *p)
{
    struct weir_session_want want = {.dialect = (weir_dialect)(WEIR_DIALECT_CHAT + (int)pick(p, 3)),
                                     .now_ms = ++p->agent.now_ms,
                                     .context = WR_LIT("it is noon")};
    struct weir_session_turn turn;
    if (!weir_session_request(p->agent.session, &want, &turn, NULL))
        answer(p, pick(p, 4));
}

static void give_results(struct pair *p)
{
    const struct weir_call *calls;
    char text[3000];
    (void)memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < sizeof(text); i += 7)
        text[i] = i % 5 ? ' ' : '\n';
    while (weir_session_pending(p->agent.session, &calls) && pick(p, 8))
        TEST_OK(&p->agent, weir_session_result(p->agent.session, calls[0].id,
                                               (weir_span){text, 1 + pick(p, sizeof(text) - 1)},
                                               pick(p, 5) == 0, ++p->agent.now_ms, &p->agent.err));
}

static void change_front(struct pair *p)
{
    static const weir_span prompts[] = {{"You keep the weir.", 18}, {"You keep the mill.", 18}};
    struct weir_tool tools[] = {{WR_LIT("Bash"), WR_LIT("runs"), WR_LIT("{}")},
                                {WR_LIT("read_file"), WR_LIT("reads"), WR_LIT("{}")}};
    if (pick(p, 2))
        TEST_OK(&p->agent, weir_session_set_prompt(p->agent.session, prompts[pick(p, 2)],
                                                   ++p->agent.now_ms, &p->agent.err));
    else
        TEST_OK(&p->agent,
                weir_session_set_tools(p->agent.session, tools, 1 + pick(p, 2), &p->agent.err));
}

static void change_run(struct pair *p)
{
    struct weir_session *s = p->agent.session;
    struct weir_session_usage usage = {pick(p, 100), pick(p, 100), 3, 4};
    struct weir_session_spent spent = {.by = "summary", .usage = usage, .turns = 2};
    static const char *const models[] = {"gpt-4o", "claude-sonnet-5-5", "nobody-knows-it"};
    int64_t now_ms = ++p->agent.now_ms;

    switch (pick(p, 8)) {
    case 0:
        TEST_OK(&p->agent, weir_session_switch_model(s, models[pick(p, 3)], pick(p, 2) * 9000,
                                                     now_ms, &p->agent.err));
        break;
    case 1:
        TEST_OK(&p->agent, weir_session_start_run(s, now_ms, &p->agent.err));
        break;
    case 2:
        TEST_OK(&p->agent, weir_session_disconnect(s, now_ms, &p->agent.err));
        break;
    case 3:
        TEST_OK(&p->agent, weir_session_add_spent(s, &spent, now_ms, &p->agent.err));
        break;
    case 4:
        TEST_OK(&p->agent, weir_session_note(s, WR_LIT("n \xC3\xA9"), now_ms, &p->agent.err));
        break;
    default:
        TEST_OK(&p->agent, weir_session_add_usage(s, &usage, now_ms, &p->agent.err));
        TEST_OK(&p->agent, weir_session_resume(s, now_ms, &p->agent.err));
    }
}

static void step(struct pair *p, size_t n)
{
    struct weir_compacted compacted;
    char words[64];

    (void)snprintf(words, sizeof(words), "words %zu of the user \xE2\x9C\x93", n);
    switch (pick(p, 12)) {
    case 0:
    case 1:
        test_agent_say(&p->agent, words);
        break;
    case 2:
        TEST_OK(&p->agent, weir_session_steer(p->agent.session, wr_span_of(words),
                                              ++p->agent.now_ms, &p->agent.err));
        break;
    case 3:
        change_front(p);
        break;
    case 4:
        change_run(p);
        break;
    case 5:
        if (weir_session_rate(p->agent.session, 1 + pick(p, (uint32_t)n + 1), pick(p, 101), 1,
                              NULL))
            break;
        break;
    case 6:
        if (n % 3 == 0)
            TEST_OK(&p->agent, weir_session_compact(p->agent.session, "asked", ++p->agent.now_ms,
                                                    &compacted, &p->agent.err));
        break;
    case 7:
    case 8:
        give_results(p);
        break;
    default:
        ask(p);
    }
}

static void the_checkpoint_is_what_the_journal_tells_at_any_moment(void **state)
{
    struct pair p;
    uint64_t cuts = 0;
    (void)state;
    begin(&p);
    for (size_t n = 0; n < 700; n++) {
        step(&p, n);
        if (n % 7 == 0)
            wr_live_save(p.agent.session, 1); /* else it lies some events back */
        if (n % 5 == 0)
            assert_checkpoint_is_right(&p, "step", n);
        if (n % 50 == 49) {
            test_agent_close(&p.agent);
            test_agent_open(&p.agent, config);
            assert_null(weir_session_opened(p.agent.session)->checkpoint);
        }
        cuts += p.agent.session->thread.cut_seq == weir_session_last_event(p.agent.session);
    }
    assert_true(cuts > 3); /* or nothing was tried */
    end(&p);
}

/* ---- wrong checkpoints ---- */

static void make_session(struct pair *p, size_t steps)
{
    begin(p);
    for (size_t n = 0; n < steps; n++)
        step(p, n);
    test_agent_close(&p->agent);
}

static void a_checkpoint_cut_or_changed_at_any_byte_changes_nothing(void **state)
{
    struct pair p;
    struct weir_session_opened opened = {0};
    struct wr_buf whole, right, got;
    (void)state;
    make_session(&p, 20);
    read_state(&p, &whole);
    assert_int_equal(look(&p, &right, &opened), WEIR_OK);
    assert_null(opened.checkpoint);
    for (size_t at = 0; at < whole.len; at++) {
        write_file(&p, WR_STATE_FILE, wr_span_cut(wr_buf_view(&whole), 0, at));
        assert_int_equal(look(&p, &got, &opened), WEIR_OK);
        assert_non_null(opened.checkpoint);
        assert_same(&right, &got, "cut at", at);
        wr_buf_release(&got);
        whole.bytes[at] ^= 1;
        write_file(&p, WR_STATE_FILE, wr_buf_view(&whole));
        assert_int_equal(look(&p, &got, &opened), WEIR_OK);
        assert_non_null(opened.checkpoint);
        assert_same(&right, &got, "changed at", at);
        wr_buf_release(&got);
        whole.bytes[at] ^= 1;
    }
    wr_buf_release(&whole);
    wr_buf_release(&right);
    end(&p);
}

/* Whole, and of something else. */
static void a_checkpoint_of_another_journal_is_left_aside(void **state)
{
    struct pair p, other;
    struct weir_session_opened opened = {0};
    struct wr_buf mine, theirs, old, journal, right, got;
    char path[256];
    (void)state;
    make_session(&p, 60);
    assert_int_equal(look(&p, &right, &opened), WEIR_OK);
    begin(&other);
    test_agent_say(&other.agent, "something else");
    test_agent_close(&other.agent);
    read_state(&other, &theirs);
    read_state(&p, &mine);
    write_file(&p, WR_STATE_FILE, wr_buf_view(&theirs));
    assert_int_equal(look(&p, &got, &opened), WEIR_OK);
    assert_string_equal(opened.checkpoint, "the journal is not the one it was made of");
    assert_same(&right, &got, "another's", 0);
    wr_buf_release(&got);
    wr_buf_release(&right);

    /* The journal went on: what came after is replayed, no more. */
    write_file(&p, WR_STATE_FILE, wr_buf_view(&mine));
    wr_buf_init(&journal, 1 << 24);
    path_of(&p, path, WR_JOURNAL_FILE);
    assert_int_equal(wr_disk_read(path, &journal, NULL), WEIR_OK);
    test_agent_open(&p.agent, config);
    test_agent_say(&p.agent, "later words");
    test_agent_close(&p.agent);
    read_state(&p, &old);
    write_file(&p, WR_STATE_FILE, wr_buf_view(&mine));
    assert_checkpoint_is_right(&p, "an older one", 0);
    assert_int_equal(look(&p, &got, &opened), WEIR_OK);
    assert_in_range(opened.replayed_count, 1, 4);
    wr_buf_release(&got);

    /* The journal was put back: it is shorter than the checkpoint says. */
    write_file(&p, WR_JOURNAL_FILE, wr_buf_view(&journal));
    write_file(&p, WR_STATE_FILE, wr_buf_view(&old));
    assert_int_equal(look(&p, &got, &opened), WEIR_OK);
    assert_string_equal(opened.checkpoint, "the journal is not the one it was made of");
    wr_buf_release(&got);
    wr_buf_release(&old);
    wr_buf_release(&journal);
    wr_buf_release(&mine);
    wr_buf_release(&theirs);
    end(&other);
    end(&p);
}

/* What is damage without a checkpoint is damage with one: every byte is still looked at. */
static void a_journal_that_was_changed_is_seen_behind_a_checkpoint(void **state)
{
    struct pair p;
    struct weir_session_opened opened = {0};
    struct wr_buf journal, state_before, with, without;
    char path[256];
    (void)state;
    make_session(&p, 60);
    read_state(&p, &state_before);
    wr_buf_init(&journal, 1 << 24);
    path_of(&p, path, WR_JOURNAL_FILE);
    assert_int_equal(wr_disk_read(path, &journal, NULL), WEIR_OK);
    for (size_t at = 0; at < journal.len; at += 97) {
        char was = journal.bytes[at];
        journal.bytes[at] = was == '}' ? '{' : '}';
        write_file(&p, WR_JOURNAL_FILE, wr_buf_view(&journal));
        write_file(&p, WR_STATE_FILE, wr_buf_view(&state_before));
        weir_status first = look(&p, &with, &opened);
        uint64_t damage_line = opened.damage_line;
        remove_state(&p);
        assert_int_equal(look(&p, &without, &opened), first);
        assert_int_equal(opened.damage_line, damage_line);
        assert_same(&with, &without, "byte", at);
        wr_buf_release(&with);
        wr_buf_release(&without);
        journal.bytes[at] = was;
    }
    wr_buf_release(&journal);
    wr_buf_release(&state_before);
    end(&p);
}

static void counts_of_another_model_are_not_taken(void **state)
{
    struct pair p;
    struct weir_session_options options = {
        .model = "claude-sonnet-5-5", .is_read_only = true, .now_ms = 1};
    struct weir_session_context with, without;
    struct weir_session *session;
    (void)state;
    make_session(&p, 60);
    options.dir = p.agent.dir;
    options.config = wr_span_of(config);
    options.host = p.host;
    TEST_OK(&p.agent, weir_session_open(&options, &session, &p.agent.err));
    assert_null(weir_session_opened(session)->checkpoint);
    weir_session_context(session, &with);
    weir_session_close(session);
    remove_state(&p);
    TEST_OK(&p.agent, weir_session_open(&options, &session, &p.agent.err));
    weir_session_context(session, &without);
    weir_session_close(session);
    assert_int_equal(with.total_tokens, without.total_tokens);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checkpoint_is_what_the_journal_tells_at_any_moment),
        cmocka_unit_test(a_checkpoint_cut_or_changed_at_any_byte_changes_nothing),
        cmocka_unit_test(a_checkpoint_of_another_journal_is_left_aside),
        cmocka_unit_test(a_journal_that_was_changed_is_seen_behind_a_checkpoint),
        cmocka_unit_test(counts_of_another_model_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
