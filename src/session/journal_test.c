#include "session/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "session/disk.h"
#include "tests/test_agent.h"

static const char config[] = "model: {name: gpt-5}\n";

static void path_in(char path[256], const struct test_agent *agent, const char *name)
{
    (void)snprintf(path, 256, "%s/%s", agent->dir, name);
}

static void read_file(const struct test_agent *agent, const char *name, struct wr_buf *into)
{
    char path[256];
    path_in(path, agent, name);
    wr_buf_init(into, 1 << 24);
    assert_int_equal(wr_disk_read(path, into, NULL), WEIR_OK);
}

static void write_file(const struct test_agent *agent, const char *name, weir_span bytes)
{
    char path[256];
    path_in(path, agent, name);
    assert_int_equal(wr_disk_replace(path, bytes, NULL), WEIR_OK);
}

static void make_session(struct test_agent *agent)
{
    test_agent_init(agent);
    test_agent_open(agent, config);
    test_agent_say(agent, "first é \"words\"");
    (void)test_agent_request(agent, WEIR_DIALECT_CHAT);
    test_agent_call(agent, "c1", "Bash", "{\"command\":\"ls\"}");
    test_agent_result(agent, "c1", "a\nb\n");
    (void)test_agent_request(agent, WEIR_DIALECT_CHAT);
    test_agent_answer(agent, "done");
    test_agent_close(agent);
}

/* ---- a journal that ends anywhere ---- */

struct counting {
    uint64_t events;
};

static weir_status count_event(void *user, const struct weir_event *event)
{
    struct counting *counting = user;
    assert_int_equal(event->seq, ++counting->events);
    return WEIR_OK;
}

static uint64_t count_whole_lines(weir_span text, size_t upto)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < upto; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

static weir_status ignore(void *user, const struct wr_event *event, weir_span line)
{
    (void)user;
    (void)event;
    (void)line;
    return WEIR_OK;
}

/* Opens, appends one event, and closes. */
static void open_and_append(struct test_agent *agent, struct weir_session_opened *opened)
{
    struct wr_event event = {.kind = WR_EVENT_NOTE, .text = WR_LIT("after")};
    struct wr_journal_options options = {0};
    struct wr_journal journal;

    TEST_OK(agent,
            wr_journal_open(&journal, agent->dir, &options, ignore, NULL, opened, &agent->err));
    TEST_OK(agent, wr_journal_append(&journal, &event, &agent->err));
    struct stat found;
    assert_int_equal(fstat(journal.fd, &found), 0);
    assert_int_equal(journal.end_bytes, found.st_size);
    wr_journal_close(&journal);
}

static void a_journal_cut_at_any_byte_opens_with_every_whole_event(void **state)
{
    struct test_agent agent;
    struct wr_buf whole, torn;
    char path[256];
    (void)state;
    make_session(&agent);
    read_file(&agent, "events.jsonl", &whole);
    path_in(path, &agent, WR_JOURNAL_TORN);
    for (size_t upto = 0; upto <= whole.len; upto++) {
        weir_span front = wr_span_cut(wr_buf_view(&whole), 0, upto);
        uint64_t lines = count_whole_lines(front, upto);
        bool lacks_break = upto < whole.len && whole.bytes[upto] == '\n' && upto;
        size_t last = upto;
        while (last > 0 && front.ptr[last - 1] != '\n')
            last--;
        struct weir_session_opened opened = {0};
        struct counting counting = {0};

        (void)unlink(path);
        write_file(&agent, "events.jsonl", front);
        open_and_append(&agent, &opened);
        assert_int_equal(opened.events_count, lines + lacks_break);
        assert_int_equal(opened.torn_bytes, lacks_break ? 0 : upto - last);
        /* What was torn is kept, and what is there can be read to the end. */
        if (opened.torn_bytes) {
            read_file(&agent, WR_JOURNAL_TORN, &torn);
            assert_int_equal(torn.len, opened.torn_bytes + 1);
            assert_memory_equal(torn.bytes, front.ptr + last, opened.torn_bytes);
            wr_buf_release(&torn);
        }
        TEST_OK(&agent, weir_journal_read(agent.dir, count_event, &counting, &agent.err));
        assert_int_equal(counting.events, lines + lacks_break + 1);
    }
    wr_buf_release(&whole);
    test_agent_release(&agent);
}

static wr_hash128 hash_of_journal(struct test_agent *agent)
{
    struct weir_session_opened opened = {0};
    struct wr_journal_options options = {.is_read_only = true};
    struct wr_journal journal;

    TEST_OK(agent,
            wr_journal_open(&journal, agent->dir, &options, ignore, NULL, &opened, &agent->err));
    wr_hash128 hash = journal.hash;
    wr_journal_close(&journal);
    return hash;
}

/* A checkpoint names the bytes by it: what is torn off again is not among them. */
static void a_torn_line_is_not_in_the_hash(void **state)
{
    struct test_agent agent;
    struct wr_buf whole;
    (void)state;
    make_session(&agent);
    wr_hash128 before = hash_of_journal(&agent);
    read_file(&agent, "events.jsonl", &whole);
    wr_buf_text(&whole, "{\"seq\":99,\"at_ms");
    write_file(&agent, "events.jsonl", wr_buf_view(&whole));
    wr_hash128 after = hash_of_journal(&agent);
    assert_true(before.low == after.low && before.high == after.high);
    wr_buf_release(&whole);
    test_agent_release(&agent);
}

/* ---- damage ---- */

static const struct {
    const char *behaviour;
    const char *middle; /* stands in place of line 3 */
    const char *says;
} damages[] = {
    {"no JSON", "{\"seq\":3,\"kind\":!}", "line 3, byte"},
    {"an event is missing", NULL, "event 4 stands where 3 should"},
    {"an event twice", "{\"seq\":2,\"at_ms\":0,\"kind\":\"note\"}",
     "event 2 stands where 3 should"},
    {"half a line with its end", "{\"seq\":3,\"at", "line 3, byte"},
    {"an empty line", "", "line 3, byte"},
};

static size_t line_start(weir_span text, uint64_t line)
{
    size_t at = 0;
    for (uint64_t n = 1; n < line; n++)
        at = wr_span_find(text, WR_LIT("\n"), at) + 1;
    return at;
}

static void damage_in_the_middle_is_named_and_what_stands_before_can_be_read(void **state)
{
    struct test_agent agent;
    struct wr_buf whole, now;
    (void)state;
    make_session(&agent);
    read_file(&agent, "events.jsonl", &whole);
    weir_span text = wr_buf_view(&whole);
    for (size_t i = 0; i < WR_COUNT_OF(damages); i++) {
        struct weir_session_options options = {
            .dir = agent.dir, .config = wr_span_of(config), .is_read_only = true};
        struct counting counting = {0};
        struct wr_buf damaged;
        print_message("%s\n", damages[i].behaviour);
        wr_buf_init(&damaged, 1 << 20);
        wr_buf_append(&damaged, wr_span_cut(text, 0, line_start(text, 3)));
        if (damages[i].middle) {
            wr_buf_text(&damaged, damages[i].middle);
            wr_buf_byte(&damaged, '\n');
        }
        wr_buf_append(&damaged, wr_span_cut(text, line_start(text, 4), text.len));
        write_file(&agent, "events.jsonl", wr_buf_view(&damaged));

        assert_int_equal(test_agent_try_open(&agent, config), WEIR_SYNTAX);
        assert_has(wr_span_of(agent.err.text), damages[i].says);
        assert_has(wr_span_of(agent.err.text), "events.jsonl: line 3, byte");
        assert_true(agent.err.at_byte >= line_start(text, 3));
        read_file(&agent, "events.jsonl", &now);
        assert_true(wr_span_eq(wr_buf_view(&now), wr_buf_view(&damaged))); /* nothing touched */
        wr_buf_release(&now);

        assert_int_equal(weir_journal_read(agent.dir, count_event, &counting, &agent.err),
                         WEIR_SYNTAX);
        assert_int_equal(counting.events, 2);
        TEST_OK(&agent, weir_session_open(&options, &agent.session, &agent.err));
        assert_int_equal(weir_session_opened(agent.session)->damage_line, 3);
        assert_int_equal(weir_session_opened(agent.session)->damage_byte, line_start(text, 3));
        assert_int_equal(weir_session_say(agent.session, WR_LIT("x"), 1, &agent.err), WEIR_INVALID);
        test_agent_close(&agent);
        wr_buf_release(&damaged);
    }
    wr_buf_release(&whole);
    test_agent_release(&agent);
}

/* ---- killed ---- */

/* Says numbered words and tells through the pipe after each; until it is killed. */
static void say_until_killed(struct test_agent *agent, int tell)
{
    struct weir_session_options options = {.dir = agent->dir, .config = wr_span_of(config)};
    struct weir_session *session;
    if (weir_session_open(&options, &session, NULL))
        _exit(3);
    for (uint32_t i = 0; i < 100000; i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "word %u", i);
        if (weir_session_steer(session, wr_span_of(text), 0, NULL) || write(tell, &i, 4) != 4)
            _exit(4);
    }
    _exit(5);
}

struct words {
    uint32_t count;
};

static weir_status read_word(void *user, const struct weir_event *event)
{
    struct words *words = user;
    char text[64];
    if (strcmp(event->kind, "steering") != 0)
        return WEIR_OK;
    (void)snprintf(text, sizeof(text), "word %u", words->count++);
    assert_true(wr_span_is(event->text, text));
    return WEIR_OK;
}

static void what_was_said_before_kill_9_is_there(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct test_agent agent;
        struct words words = {0};
        int pipes[2], status;
        uint32_t said = 0, number;
        test_agent_init(&agent);
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (!child) {
            (void)close(pipes[0]);
            say_until_killed(&agent, pipes[1]);
        }
        (void)close(pipes[1]);
        while (said < 20u + 13u * (uint32_t)round && read(pipes[0], &number, 4) == 4)
            said = number + 1;
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        while (read(pipes[0], &number, 4) == 4)
            said = number + 1;
        (void)close(pipes[0]);
        test_agent_open(&agent, config);
        TEST_OK(&agent, weir_journal_read(agent.dir, read_word, &words, &agent.err));
        assert_true(words.count >= said);
        test_agent_release(&agent);
    }
}

/* ---- no room ---- */

static void no_room_is_an_error_and_nothing_is_lost(void **state)
{
    struct test_agent agent;
    struct wr_buf before, after;
    int status;
    (void)state;
    test_agent_init(&agent);
    test_agent_open(&agent, config);
    test_agent_say(&agent, "hello");
    test_agent_close(&agent);
    read_file(&agent, "events.jsonl", &before);
    pid_t child = fork();
    if (!child) {
        struct rlimit limit = {before.len + 300, before.len + 300};
        char big[600];
        memset(big, 'x', sizeof(big));
        (void)signal(SIGXFSZ, SIG_IGN);
        test_agent_open(&agent, config);
        if (setrlimit(RLIMIT_FSIZE, &limit))
            _exit(3);
        weir_status full =
            weir_session_say(agent.session, (weir_span){big, sizeof(big)}, 2, &agent.err);
        weir_status small = weir_session_say(agent.session, WR_LIT("still here"), 3, NULL);
        bool is_said = strstr(agent.err.text, "events.jsonl") != NULL;
        _exit(full == WEIR_LIMIT && small == WEIR_OK && is_said ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    read_file(&agent, "events.jsonl", &after);
    assert_true(after.len > before.len);
    assert_memory_equal(after.bytes, before.bytes, before.len);
    assert_has(wr_buf_view(&after), "still here");
    assert_has_not(wr_buf_view(&after), "xxx");
    test_agent_open(&agent, config);
    wr_buf_release(&before);
    wr_buf_release(&after);
    test_agent_release(&agent);
}

static void a_session_is_open_for_writing_once(void **state)
{
    struct test_agent agent;
    struct weir_session *first;
    (void)state;
    test_agent_init(&agent);
    test_agent_open(&agent, config);
    first = agent.session;
    assert_int_equal(test_agent_try_open(&agent, config), WEIR_IO);
    assert_has(wr_span_of(agent.err.text), "another process has this session open");
    agent.session = first;
    test_agent_release(&agent);
}

/* ---- pieces ---- */

static weir_status sum_up(void *user, const struct wr_event *event, weir_span line)
{
    uint64_t *sum = user;
    *sum = *sum * 31 + event->seq + line.len;
    return WEIR_OK;
}

static void any_way_of_cutting_a_journal_gives_the_same_events(void **state)
{
    struct test_agent agent;
    struct wr_buf whole;
    uint64_t sums[2] = {0, 0};
    (void)state;
    make_session(&agent);
    read_file(&agent, "events.jsonl", &whole);
    for (size_t piece = 1; piece < 97; piece += 5) {
        struct wr_journal_scan scan;
        sums[1] = 0;
        wr_journal_scan_init(&scan, sum_up, &sums[piece > 1]);
        for (size_t at = 0; at < whole.len; at += piece) {
            size_t end = at + piece < whole.len ? at + piece : whole.len;
            assert_int_equal(
                wr_journal_scan_feed(&scan, wr_span_cut(wr_buf_view(&whole), at, end), NULL),
                WEIR_OK);
        }
        assert_int_equal(wr_journal_scan_end(&scan, NULL), WEIR_OK);
        assert_true(piece == 1 || sums[0] == sums[1]);
        wr_journal_scan_release(&scan);
    }
    wr_buf_release(&whole);
    test_agent_release(&agent);
}

/* ---- following a journal that another process writes ---- */

struct seen {
    uint64_t count, last_seq;
    char last[64];
};

static weir_status see(void *user, const struct wr_event *event, weir_span line)
{
    struct seen *seen = user;
    (void)line;
    seen->count++;
    seen->last_seq = event->seq;
    (void)snprintf(seen->last, sizeof(seen->last), "%.*s", (int)event->text.len, event->text.ptr);
    return WEIR_OK;
}

/* What comes is seen when it is whole: half a line is not, and one that is taken back never was. */
static void events_are_seen_as_they_come(void **state)
{
    struct test_agent agent;
    struct wr_follow follow;
    struct seen seen = {0};
    char path[256];
    (void)state;

    test_agent_init(&agent);
    assert_int_equal(wr_follow_open(&follow, agent.dir, see, &seen, &agent.err), WEIR_NOTFOUND);
    test_agent_open(&agent, "model: {name: gpt-5}\n");
    test_agent_say(&agent, "one");
    TEST_OK(&agent, wr_follow_open(&follow, agent.dir, see, &seen, &agent.err));
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_string_equal(seen.last, "one");
    uint64_t before = seen.count;
    test_agent_say(&agent, "two");
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_string_equal(seen.last, "two");
    assert_int_equal(seen.count, before + 1);
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_int_equal(seen.count, before + 1);
    test_agent_close(&agent);

    (void)snprintf(path, sizeof(path), "%s/events.jsonl", agent.dir);
    int fd = open(path, O_WRONLY | O_APPEND);
    struct stat whole;
    assert_int_equal(fstat(fd, &whole), 0);
    assert_int_equal(write(fd, "{\"seq\":9", 8), 8); /* a writer that is killed here */
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_int_equal(seen.count, before + 1);
    (void)close(fd);
    test_agent_open(&agent, "model: {name: gpt-5}\n"); /* puts it aside */
    test_agent_say(&agent, "three");
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    assert_string_equal(seen.last, "three");
    assert_int_equal(seen.last_seq, weir_session_last_event(agent.session));
    wr_follow_close(&follow);
    test_agent_release(&agent);
}

/* Nobody who keeps to the rules does that; whoever watches is told, and does not wait for ever. */
static void a_journal_that_was_cut_is_told(void **state)
{
    struct test_agent agent;
    struct wr_follow follow;
    struct seen seen = {0};
    char path[256];
    (void)state;

    test_agent_init(&agent);
    test_agent_open(&agent, "model: {name: gpt-5}\n");
    test_agent_say(&agent, "one");
    TEST_OK(&agent, wr_follow_open(&follow, agent.dir, see, &seen, &agent.err));
    TEST_OK(&agent, wr_follow_read(&follow, &agent.err));
    (void)snprintf(path, sizeof(path), "%s/events.jsonl", agent.dir);
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(wr_follow_read(&follow, &agent.err), WEIR_SYNTAX);
    assert_has(wr_span_of(agent.err.text), "shorter than what was read of it");
    assert_string_equal(seen.last, "one");
    wr_follow_close(&follow);
    test_agent_release(&agent);
}

/* The second process is told who the first one is; when that is killed the session is free. */
static void who_has_a_session_open_is_known(void **state)
{
    struct test_agent agent;
    int ready[2];
    pid_t pid;
    char byte, number[32];
    (void)state;

    test_agent_init(&agent);
    assert_false(wr_journal_is_held(agent.dir, &pid));
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        test_agent_open(&agent, "model: {name: gpt-5}\n");
        (void)!write(ready[1], "r", 1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(wr_journal_is_held(agent.dir, &pid));
    assert_int_equal(pid, child);
    assert_int_equal(test_agent_try_open(&agent, ""), WEIR_IO);
    (void)snprintf(number, sizeof(number), "session open (%d)", (int)child);
    assert_has(wr_span_of(agent.err.text), number);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(wr_journal_is_held(agent.dir, &pid));
    test_agent_open(&agent, "model: {name: gpt-5}\n");
    (void)close(ready[0]);
    (void)close(ready[1]);
    test_agent_release(&agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_journal_cut_at_any_byte_opens_with_every_whole_event),
        cmocka_unit_test(a_torn_line_is_not_in_the_hash),
        cmocka_unit_test(damage_in_the_middle_is_named_and_what_stands_before_can_be_read),
        cmocka_unit_test(what_was_said_before_kill_9_is_there),
        cmocka_unit_test(no_room_is_an_error_and_nothing_is_lost),
        cmocka_unit_test(a_session_is_open_for_writing_once),
        cmocka_unit_test(any_way_of_cutting_a_journal_gives_the_same_events),
        cmocka_unit_test(events_are_seen_as_they_come),
        cmocka_unit_test(a_journal_that_was_cut_is_told),
        cmocka_unit_test(who_has_a_session_open_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
