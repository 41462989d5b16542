#include "session/past.h"

#include "session/disk.h"
#include "session/journal.h"
#include "tests/test_agent.h"

static uint64_t count_bytes(void *user, weir_span text)
{
    (void)user;
    return text.len / 4;
}

static weir_status ignore(void *user, const struct wr_event *event, weir_span line)
{
    (void)user;
    (void)event;
    (void)line;
    return WEIR_OK;
}

struct writer {
    struct test_agent agent;
    struct wr_journal journal;
};

static void begin(struct writer *w)
{
    struct wr_journal_options options = {0};
    struct weir_session_opened opened;

    test_agent_init(&w->agent);
    TEST_OK(&w->agent, wr_disk_make_dir(w->agent.dir, &w->agent.err));
    TEST_OK(&w->agent, wr_journal_open(&w->journal, w->agent.dir, &options, ignore, NULL, &opened,
                                       &w->agent.err));
}

static void end(struct writer *w)
{
    wr_journal_close(&w->journal);
    test_agent_release(&w->agent);
}

static void put(struct writer *w, struct wr_event event)
{
    TEST_OK(&w->agent, wr_journal_append(&w->journal, &event, &w->agent.err));
}

static void call(struct writer *w, uint32_t n, const char *name, const char *arguments,
                 weir_span result)
{
    char id[32];
    (void)snprintf(id, sizeof(id), "c%u", n);
    struct weir_call calls[] = {{wr_span_of(id), wr_span_of(name), wr_span_of(arguments)}};
    put(w, (struct wr_event){.kind = WR_EVENT_TURN});
    put(w, (struct wr_event){.kind = WR_EVENT_ASSISTANT,
                             .text = WR_LIT("I decided to use the small gate because it holds."),
                             .calls = calls,
                             .calls_count = 1});
    put(w, (struct wr_event){.kind = WR_EVENT_RESULT,
                             .call_id = calls[0].id,
                             .name = calls[0].name,
                             .text = result});
}

/* Files that are read and changed again and again, a test that fails and is mended, a plan. */
static void write_past(struct writer *w, uint32_t turns)
{
    char arguments[200], result[300];
    for (uint32_t i = 0; i < turns; i++) {
        if (i % 9 == 0)
            put(w,
                (struct wr_event){.kind = WR_EVENT_USER,
                                  .text = wr_span_of(i ? "now the next part" : "mend the weir")});
        switch (i % 4) {
        case 0:
            (void)snprintf(arguments, sizeof(arguments), "{\"file_path\":\"/src/part_%u.c\"}",
                           i % 23);
            call(w, i, "Read", arguments, WR_LIT("     1\tint gate;\n     2\tint sill;\n"));
            break;
        case 1:
            (void)snprintf(arguments, sizeof(arguments),
                           "{\"file_path\":\"/src/part_%u.c\",\"old_string\":\"a\","
                           "\"new_string\":\"b\"}",
                           i % 17);
            call(w, i, "Edit", arguments, WR_LIT("done"));
            break;
        default:
            (void)snprintf(arguments, sizeof(arguments), "{\"command\":\"make test_%u\"}", i % 5);
            (void)snprintf(result, sizeof(result), "part_%u.c:7: error: the gate %u is shut\n%s",
                           i % 17, i, i % 3 ? "Exit code 2\n" : "");
            call(w, i, "Bash", arguments,
                 i % 3 ? wr_span_of(result) : WR_LIT("all 12 tests passed\n"));
        }
    }
}

static void read_past(struct writer *w, struct wr_past_options *options, struct wr_past *past,
                      weir_span *summary, struct wr_buf *history)
{
    static char path[256];
    (void)snprintf(path, sizeof(path), "%s/h.md", w->agent.dir);
    options->dir = w->agent.dir;
    options->before = w->journal.seq + 1;
    options->history_path = path;
    options->has_facts = true;
    options->count = count_bytes;
    TEST_OK(&w->agent, wr_past_open(past, options, &w->agent.err));
    TEST_OK(&w->agent, wr_past_summary(past, 100000, summary));
    wr_buf_init(history, 1 << 28);
    TEST_OK(&w->agent, wr_disk_read(path, history, &w->agent.err));
}

static void a_past_in_parts_has_the_text_and_the_facts_of_the_whole(void **state)
{
    struct wr_past_options at_once = {0};
    struct wr_past whole, parts;
    struct wr_buf text, again;
    struct writer w;
    weir_span summary, other;
    (void)state;

    begin(&w);
    write_past(&w, 300);
    read_past(&w, &at_once, &whole, &summary, &text);
    assert_int_equal(whole.parts_count, 1);
    assert_true(whole.facts.files_count >= 23 && whole.facts.tasks_count >= 5);
    for (uint64_t bytes = 1; bytes < 200000; bytes = bytes * 7 + 100) {
        struct wr_past_options options = {.part_bytes = bytes};
        read_past(&w, &options, &parts, &other, &again);
        assert_true(parts.parts_count > 1 || bytes > 50000);
        size_t at = 0;
        while (at < text.len && at < again.len && text.bytes[at] == again.bytes[at])
            at++;
        if (at < text.len || at < again.len)
            fail_msg("parts of %llu bytes: at %zu: '%.60s' and not '%.60s'",
                     (unsigned long long)bytes, at, again.bytes + at, text.bytes + at);
        assert_int_equal(parts.lines_count, whole.lines_count);
        if (!wr_span_eq(summary, other))
            fail_msg("parts of %llu bytes:\n%.*s\n---- at once:\n%.*s", (unsigned long long)bytes,
                     (int)other.len, other.ptr, (int)summary.len, summary.ptr);
        wr_buf_release(&again);
        wr_past_release(&parts);
    }
    wr_buf_release(&text);
    wr_past_release(&whole);
    end(&w);
}

static void expect_same(const struct wr_past *past, const struct wr_past *whole, weir_span *texts)
{
    assert_int_equal(past->lines_count, whole->lines_count);
    assert_int_equal(past->file_bytes, texts[1].len);
    if (!wr_span_eq(texts[0], texts[1]))
        fail_msg("%.*s\n---- at once:\n%.*s", (int)texts[0].len, texts[0].ptr, (int)texts[1].len,
                 texts[1].ptr);
}

/* As a session does it, cut by cut: what came since is added, whatever of it is a call that waits.
 */
static void a_past_that_is_extended_is_the_whole_past(void **state)
{
    struct wr_past_options options = {0}, at_once = {0};
    struct wr_past past, whole;
    struct wr_buf first, text, again;
    struct writer w;
    weir_span summary, other;
    uint32_t extended = 0;
    (void)state;

    begin(&w);
    write_past(&w, 20);
    read_past(&w, &options, &past, &summary, &first);
    wr_buf_release(&first);
    for (uint32_t round = 1; round < 12; round++) {
        write_past(&w, round * 7);
        options.before = w.journal.seq + 1 - round % 3; /* some end between a call and its result */
        if (wr_past_extend(&past)) {
            extended++;
        } else {
            wr_past_release(&past);
            TEST_OK(&w.agent, wr_past_open(&past, &options, &w.agent.err));
        }
        wr_buf_init(&text, 1 << 28);
        TEST_OK(&w.agent, wr_disk_read(options.history_path, &text, &w.agent.err));
        TEST_OK(&w.agent, wr_past_summary(&past, 100000, &summary));
        at_once = options;
        TEST_OK(&w.agent, wr_past_open(&whole, &at_once, &w.agent.err));
        wr_buf_init(&again, 1 << 28);
        TEST_OK(&w.agent, wr_disk_read(options.history_path, &again, &w.agent.err));
        TEST_OK(&w.agent, wr_past_summary(&whole, 100000, &other));
        expect_same(&past, &whole, (weir_span[]){wr_buf_view(&text), wr_buf_view(&again)});
        assert_true(wr_span_eq(summary, other));
        wr_buf_release(&text);
        wr_buf_release(&again);
        wr_past_release(&whole);
    }
    assert_true(extended >= 6 && extended < 11);
    options.before = 5; /* a cut that lies before the last one */
    assert_false(wr_past_extend(&past));
    wr_past_release(&past);
    end(&w);
}

static void a_file_that_is_another_is_not_extended(void **state)
{
    struct wr_past_options options = {0};
    struct wr_past past;
    struct wr_buf text;
    struct writer w;
    weir_span summary;
    (void)state;

    begin(&w);
    write_past(&w, 20);
    read_past(&w, &options, &past, &summary, &text);
    write_past(&w, 3);
    options.before = w.journal.seq + 1;
    TEST_OK(&w.agent, wr_disk_replace(options.history_path, WR_LIT("mine"), &w.agent.err));
    assert_false(wr_past_extend(&past));
    wr_buf_reset(&text);
    TEST_OK(&w.agent, wr_disk_read(options.history_path, &text, &w.agent.err));
    assert_true(wr_span_is(wr_buf_view(&text), "mine"));
    wr_buf_release(&text);
    wr_past_release(&past);
    end(&w);
}

/* More than one document can be (64 MB). */
static void a_past_of_any_size_is_summarised(void **state)
{
    enum { RESULT_BYTES = 6 << 20, RESULTS = 12 };
    struct wr_past_options options = {0};
    struct wr_past past;
    struct wr_buf text;
    struct writer w;
    weir_span summary;
    char *result = malloc(RESULT_BYTES);
    (void)state;

    assert_non_null(result);
    for (size_t i = 0; i < RESULT_BYTES; i++)
        result[i] = i % 61 ? (char)('a' + i % 23) : '\n';
    begin(&w);
    put(&w, (struct wr_event){.kind = WR_EVENT_USER, .text = WR_LIT("mend the weir")});
    for (uint32_t i = 0; i < RESULTS; i++) {
        char arguments[100];
        (void)snprintf(arguments, sizeof(arguments), "{\"file_path\":\"/src/part_%u.c\"}", i);
        call(&w, i, "Read", arguments, (weir_span){result, RESULT_BYTES});
    }
    assert_true(w.journal.end_bytes > 64u << 20);
    read_past(&w, &options, &past, &summary, &text);
    assert_true(past.parts_count > 3);
    assert_true(text.len > 64u << 20);
    TEST_OK(&w.agent, wr_past_load_newest(&past, &w.agent.err));
    assert_true(past.newest.len > 15u << 20 && past.newest.len <= WR_PAST_PART_BYTES);
    assert_true(wr_span_ends(wr_buf_view(&text), wr_buf_view(&past.newest)));
    assert_true(text.bytes[text.len - past.newest.len - 1] == '\n');
    assert_has(summary, "mend the weir");
    assert_has(summary, "/src/part_0.c");
    assert_has(summary, "/src/part_11.c");
    wr_buf_release(&text);
    wr_past_release(&past);
    end(&w);
    free(result);
}

static void a_past_that_cannot_be_read_leaves_the_file_as_it_was(void **state)
{
    struct wr_past_options options = {.before = 10, .count = count_bytes};
    struct wr_past past;
    struct wr_buf kept;
    struct writer w;
    char path[256], draft[260], journal[256];
    (void)state;

    begin(&w);
    write_past(&w, 3);
    (void)snprintf(path, sizeof(path), "%s/h.md", w.agent.dir);
    (void)snprintf(draft, sizeof(draft), "%s.new", path);
    (void)snprintf(journal, sizeof(journal), "%s/" WR_JOURNAL_FILE, w.agent.dir);
    TEST_OK(&w.agent, wr_disk_replace(path, WR_LIT("before"), &w.agent.err));
    options.dir = w.agent.dir;
    options.history_path = path;
    assert_int_equal(unlink(journal), 0);
    assert_int_equal(wr_past_open(&past, &options, &w.agent.err), WEIR_NOTFOUND);
    wr_buf_init(&kept, 100);
    TEST_OK(&w.agent, wr_disk_read(path, &kept, &w.agent.err));
    assert_true(wr_span_is(wr_buf_view(&kept), "before"));
    assert_int_not_equal(access(draft, F_OK), 0);
    wr_buf_release(&kept);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_past_in_parts_has_the_text_and_the_facts_of_the_whole),
        cmocka_unit_test(a_past_that_is_extended_is_the_whole_past),
        cmocka_unit_test(a_file_that_is_another_is_not_extended),
        cmocka_unit_test(a_past_of_any_size_is_summarised),
        cmocka_unit_test(a_past_that_cannot_be_read_leaves_the_file_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
