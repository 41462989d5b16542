#include "agent/chat.h"
#include "base/span.h"
#include "tests/test_agent.h"

struct bench {
    struct test_agent session;
    struct wr_agent agent;
    struct wr_screen screen;
    struct wr_keyboard keyboard;
    struct wr_undo undo;
    struct wr_chat chat;
    char *bytes;
    size_t len;
    char asked[64]; /* the model whose window was asked for */
};

static uint32_t window_of(void *user, const char *model)
{
    struct bench *b = user;
    (void)snprintf(b->asked, sizeof(b->asked), "%s", model);
    return 8000;
}

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    test_agent_init(&b->session);
    test_agent_open(&b->session, "model: {name: gpt-5}\n");
    b->keyboard.terminal = -1;
    wr_screen_init(&b->screen, open_memstream(&b->bytes, &b->len), false, &b->keyboard);
    assert_non_null(b->screen.out);
    b->agent = (struct wr_agent){
        .session = b->session.session, .name = "main", .toolbox = {.root = b->session.root}};
    b->chat = (struct wr_chat){.agent = &b->agent,
                               .screen = &b->screen,
                               .undo = &b->undo,
                               .sessions_dir = b->session.root};
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    (void)fclose(b->screen.out);
    wr_screen_release(&b->screen);
    wr_undo_release(&b->undo);
    test_agent_release(&b->session);
    free(b->bytes);
    free(b);
    return 0;
}

static enum wr_chat_next command(struct bench *b, const char *line)
{
    (void)fflush(b->screen.out);
    (void)fseek(b->screen.out, 0, SEEK_SET);
    enum wr_chat_next next = wr_chat_command(&b->chat, wr_span_of(line));
    (void)fflush(b->screen.out);
    return next;
}

static void expect(struct bench *b, const char *text)
{
    assert_has((weir_span){b->bytes, b->len}, text);
}

static const struct {
    const char *line;
    enum wr_chat_next next;
    const char *shown; /* NULL: anything */
} rows[] = {
    {"say it", WR_CHAT_SAY, NULL},
    {"a/b is no command", WR_CHAT_SAY, NULL},
    {"/home/me/a.png what is it?", WR_CHAT_SAY, NULL},
    {"/help", WR_CHAT_DONE, "/undo [force]"},
    {"/context", WR_CHAT_DONE, "tokens"},
    {"/compact", WR_CHAT_DONE, "nothing would be gained"},
    {"/tools", WR_CHAT_DONE, "read_file"},
    {"/allowed", WR_CHAT_DONE, "nothing is allowed for good"},
    {"/allowed forget 1", WR_CHAT_DONE, "which one?"},
    {"/allowed nothing", WR_CHAT_DONE, "/allowed forget all"},
    {"/skills", WR_CHAT_DONE, "there are no skills"},
    {"/memory", WR_CHAT_DONE, "there are no notes"},
    {"/sessions", WR_CHAT_DONE, "main  (this one)"},
    {"/resume", WR_CHAT_DONE, "which session?"},
    {"/resume nosuch", WR_CHAT_DONE, "which session?"},
    {"/resume ../main", WR_CHAT_DONE, "which session?"},
    {"/resume main", WR_CHAT_DONE, "that is this one"},
    {"/resume 1", WR_CHAT_DONE, "that is this one"},
    {"/resume 2", WR_CHAT_DONE, "which session?"},
    {"/undo", WR_CHAT_DONE, "nothing was changed in this run"},
    {"/undo all", WR_CHAT_DONE, "/undo, or /undo force, or /undo step"},
    {"/undo step", WR_CHAT_DONE, "this session has no store"},
    {"/plan", WR_CHAT_DONE, "no request has left"},
    {"/pin a.c", WR_CHAT_DONE, "this session has no store"},
    {"/unpin a.c", WR_CHAT_DONE, "this session has no store"},
    {"/why", WR_CHAT_DONE, "/why PATH or HANDLE"},
    {"/why a.c", WR_CHAT_DONE, "nothing of that name"},
    {"/steer", WR_CHAT_WORK, NULL},
    {"/steer  mind the gate", WR_CHAT_WORK, NULL},
    {"/nonsense", WR_CHAT_DONE, "there is no such command"},
    {"/", WR_CHAT_DONE, "there is no such command"},
    {"/quit", WR_CHAT_QUIT, NULL},
    {"/exit", WR_CHAT_QUIT, NULL},
};

static void every_command_does_its_own(void **state)
{
    struct bench *b = *state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        enum wr_chat_next next = command(b, rows[i].line);
        if (next != rows[i].next)
            fail_msg("%s: %d", rows[i].line, next);
        if (rows[i].shown)
            expect(b, rows[i].shown);
    }
    test_agent_say(&b->session, "now is the\ntime");
    assert_has(test_agent_request(&b->session, WEIR_DIALECT_CHAT), "mind the gate");
    (void)command(b, "/sessions");
    expect(b, "  1  main  (this one)  now is the time\n");
    (void)command(b, "/plan");
    expect(b, "nothing is out of the last request");
}

static bool cannot_open(void *user, const char *name, struct weir_err *err)
{
    (void)user;
    (void)snprintf(err->text, sizeof(err->text), "%s is held by another process", name);
    return false;
}

static void a_session_that_cannot_be_opened_is_not_resumed(void **state)
{
    struct bench *b = *state;

    b->agent.name = "other"; /* "main" is there, and is another then */
    assert_int_equal(command(b, "/resume main"), WR_CHAT_RESUME);
    b->chat.probe = cannot_open;
    assert_int_equal(command(b, "/resume main"), WR_CHAT_DONE);
    expect(b, "this session goes on: main cannot be opened: main is held by another process\n");
}

static void a_local_server_is_asked_again_for_the_window_of_another_model(void **state)
{
    struct bench *b = *state;
    struct weir_session_context context;
    assert_int_equal(command(b, "/model"), WR_CHAT_DONE);
    expect(b, "model: gpt-5, window 272000 tokens\n");
    b->chat.ask_window = window_of;
    b->chat.ask_user = b;
    assert_int_equal(command(b, "/model qwen3"), WR_CHAT_DONE);
    expect(b, "model: qwen3, window 8000 tokens\n");
    assert_string_equal(b->asked, "qwen3");
    weir_session_context(b->session.session, &context);
    assert_int_equal(context.window_tokens, 8000);
}

static void a_cost_that_is_not_known_is_said_to_be_so(void **state)
{
    struct weir_session_usage usage = {.input_tokens = 1000000};
    struct bench *b = *state;
    TEST_OK(&b->session, weir_session_add_usage(b->session.session, &usage, 1, &b->session.err));
    (void)command(b, "/context");
    expect(b, "this run: $1.25, 1000000 tokens");
    (void)command(b, "/model nobody-knows-it");
    TEST_OK(&b->session, weir_session_add_usage(b->session.session, &usage, 1, &b->session.err));
    (void)command(b, "/context");
    expect(b, "this run: cost unknown, 2000000 tokens");
}

static void undo_refuses_and_can_be_forced(void **state)
{
    struct bench *b = *state;
    char path[200];
    (void)snprintf(path, sizeof(path), "%s/note", b->session.root);
    wr_undo_keep(&b->undo, &(struct wr_change){.path = path, .after = WR_LIT("of the agent")});
    assert_null(wr_file_replace(path, WR_LIT("of the user")));
    (void)command(b, "/undo");
    expect(b, "changed since the agent wrote it: ");
    expect(b, "/undo force does it all the same");
    assert_int_equal(access(path, F_OK), 0);
    (void)command(b, "/undo force");
    expect(b, "removed: ");
    assert_int_not_equal(access(path, F_OK), 0);
    test_agent_say(&b->session, "now");
    assert_has(test_agent_request(&b->session, WEIR_DIALECT_CHAT),
               "The user took back your last changes of files");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_command_does_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_session_that_cannot_be_opened_is_not_resumed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_local_server_is_asked_again_for_the_window_of_another_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cost_that_is_not_known_is_said_to_be_so, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(undo_refuses_and_can_be_forced, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
