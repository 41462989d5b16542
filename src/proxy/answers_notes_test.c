#include "proxy/answers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <cmocka.h>

#include "base/span.h"
#include "proxy/tell.h"
#include "tests/test_postgres.h"

static void numbers_and_texts_come_back(void **state)
{
    static const struct {
        uint64_t number;
        size_t bytes;
    } numbers[] = {{0, 1},
                   {255, 1},
                   {256, 2},
                   {65535, 2},
                   {0x123456, 4},
                   {UINT64_MAX, 8},
                   {(uint64_t)1 << 63, 8}};
    struct wr_buf bytes;
    (void)state;
    wr_buf_init(&bytes, 1024);
    for (size_t i = 0; i < WR_COUNT_OF(numbers); i++)
        wr_note_put(&bytes, numbers[i].number, numbers[i].bytes);
    wr_note_put_text(&bytes, WR_LIT("hello"));
    wr_note_put_text(&bytes, WR_LIT(""));
    wr_note_put_text(&bytes, WR_LIT("end"));
    struct wr_note_reader reader = {.rest = wr_buf_view(&bytes)};
    for (size_t i = 0; i < WR_COUNT_OF(numbers); i++)
        assert_true(wr_note_take(&reader, numbers[i].bytes) == numbers[i].number);
    assert_true(wr_span_is(wr_note_take_text(&reader), "hello"));
    assert_int_equal(wr_note_take_text(&reader).len, 0);
    assert_true(wr_span_is(wr_note_take_text(&reader), "end"));
    assert_int_equal(reader.rest.len, 0);
    assert_false(reader.is_short);
    wr_buf_release(&bytes);
}

static void they_are_little_endian(void **state)
{
    struct wr_buf bytes;
    (void)state;
    wr_buf_init(&bytes, 1024);
    wr_note_put(&bytes, 0x0102, 3);
    wr_note_put_text(&bytes, WR_LIT("x"));
    assert_int_equal(bytes.len, 8);
    assert_memory_equal(bytes.bytes, "\x02\x01\x00\x01\x00\x00\x00x", 8);
    wr_buf_release(&bytes);
}

static void past_the_end_there_is_nothing(void **state)
{
    struct wr_note_reader reader = {.rest = {"\x01\x02\x03", 3}};
    (void)state;
    assert_int_equal(wr_note_take(&reader, 2), 0x0201);
    assert_false(reader.is_short);
    assert_int_equal(wr_note_take(&reader, 2), 0);
    assert_true(reader.is_short);
    assert_int_equal(wr_note_take(&reader, 1), 0); /* nor after that */
    reader = (struct wr_note_reader){.rest = {"\x09\x00\x00\x00xy", 6}};
    assert_int_equal(wr_note_take_text(&reader).len, 0);
    assert_true(reader.is_short);
}

static void a_note_is_found_by_its_kind_tenant_and_id(void **state)
{
    const struct {
        const char *behaviour;
        struct wr_note_name name;
        bool is_found;
    } cases[] = {
        {"itself", {WR_NOTE_ANSWER, WR_LIT("local"), WR_LIT("a1")}, true},
        {"another kind", {WR_NOTE_CHAIN, WR_LIT("local"), WR_LIT("a1")}, false},
        {"another tenant", {WR_NOTE_ANSWER, WR_LIT("other"), WR_LIT("a1")}, false},
        {"another id", {WR_NOTE_ANSWER, WR_LIT("local"), WR_LIT("a2")}, false},
        {"no id", {WR_NOTE_ANSWER, WR_LIT("local"), WR_LIT("")}, false},
    };
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_ledger_writer *writer = wr_ledger_writer_new(dir.path, wr_metrics_new());
    struct wr_notes *notes = wr_notes_new(dir.path, writer);
    struct wr_note_name nameless = {WR_NOTE_ANSWER, WR_LIT("local"), WR_LIT("")};
    (void)state;
    assert_non_null(notes);
    wr_notes_keep(notes, &cases[0].name, WR_LIT("s"), WR_LIT("first"), 1);
    wr_notes_keep(notes, &nameless, WR_LIT("s"), WR_LIT("nobody's"), 2);
    wr_ledger_writer_free(writer); /* what waits is committed */
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_buf data;
        wr_buf_init(&data, 1024);
        wr_buf_text(&data, "> ");
        bool is_found = wr_notes_find(notes, &cases[i].name, &data);
        if (is_found != cases[i].is_found ||
            !wr_span_is(wr_buf_view(&data), is_found ? "> first" : "> "))
            fail_msg("%s", cases[i].behaviour);
        wr_buf_release(&data);
    }
    wr_notes_free(notes);
    wr_test_dir_remove(&dir);
}

/* An answer goes by its id and its conversation's; arguments that are too long for a note do not.
 */
static void an_answer_is_kept_as_a_note(void **state)
{
    static char text[WR_LEDGER_NOTE_BYTES_MAX];
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_ledger_writer *writer = wr_ledger_writer_new(dir.path, wr_metrics_new());
    struct wr_notes *notes = wr_notes_new(dir.path, writer);
    static const struct {
        const char *id, *conversation, *arguments;
        bool has_arguments;
        const char *asked, *found; /* NULL: it is not */
    } rows[] = {
        {"r1", "", "{\"a\":1}", true, "r1", "{\"a\":1}"},
        {"r2", "c2", "{}", false, "r2", ""},
        {"r3", "c3", "{\"c\":3}", true, "c3", "{\"c\":3}"},
        {"r4", "", text, true, "r4", ""},
        {"r5", "", "{}", true, "r6", NULL},
    };
    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_reply answer;
        wr_answer_init(&answer, &(struct wr_answer_options){.api = NULL});
        wr_buf_text(&answer.id, rows[i].id);
        wr_buf_text(&answer.conversation_id, rows[i].conversation);
        wr_answer_add_call(&answer, WR_LIT("call_1"), WR_LIT("f"), wr_span_of(rows[i].arguments));
        wr_answer_note_keep(notes, WR_LIT("local"), WR_LIT("s"), &answer, rows[i].has_arguments, 1);
        wr_answer_note_keep(NULL, WR_LIT("local"), WR_LIT("s"), &answer, true, 1);
        wr_answer_release(&answer);
    }
    wr_ledger_writer_free(writer);
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        for (int waits = 0; waits < 2; waits++) {
            struct wr_known_answer known;
            struct wr_arena arena;
            wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
            bool is_found = wr_answer_note_find(notes, &arena, WR_LIT("local"),
                                                wr_span_of(rows[i].asked), waits, &known);
            if (is_found != (rows[i].found != NULL) ||
                (is_found && (!wr_span_is(known.session, "s") || known.calls_count != 1 ||
                              !wr_span_is(known.calls[0].arguments, rows[i].found))))
                fail_msg("%s", rows[i].id);
            assert_int_equal(known.calls_count, is_found);
            assert_false(wr_answer_note_find(notes, &arena, WR_LIT("other"),
                                             wr_span_of(rows[i].asked), waits, &known));
            assert_false(
                wr_answer_note_find(NULL, &arena, WR_LIT("local"), WR_LIT("r1"), waits, &known));
            wr_arena_release(&arena);
        }
    wr_notes_free(notes);
    wr_test_dir_remove(&dir);
}

/* Under a key of somebody else's. */
static void a_note_may_have_a_key_of_its_own(void **state)
{
    static const unsigned char key[WR_LEDGER_KEY_BYTES] = "a key";
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_ledger_writer *writer = wr_ledger_writer_new(dir.path, wr_metrics_new());
    struct wr_notes *notes = wr_notes_new(dir.path, writer);
    struct wr_ledger *ledger;
    weir_span data;
    (void)state;
    wr_notes_keep_as(notes, key, WR_LIT("local"), WR_LIT("s"), WR_LIT("plan"), 1);
    wr_notes_keep_as(NULL, key, WR_LIT("local"), WR_LIT("s"), WR_LIT("nobody's"), 2);
    wr_ledger_writer_free(writer);
    wr_notes_free(notes);
    assert_int_equal(wr_ledger_open(dir.path, NULL, &ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_note(ledger, WR_LIT("local"), key, &data, NULL), WEIR_OK);
    assert_true(wr_span_is(data, "plan"));
    wr_ledger_close(ledger);
    wr_test_dir_remove(&dir);
}

static void without_notes_nothing_is_kept_or_found(void **state)
{
    struct wr_note_name name = {WR_NOTE_ANSWER, WR_LIT("local"), WR_LIT("a1")};
    struct wr_buf data;
    (void)state;
    wr_buf_init(&data, 1024);
    wr_notes_keep(NULL, &name, WR_LIT("s"), WR_LIT("x"), 1);
    assert_false(wr_notes_find(NULL, &name, &data));
    struct wr_notes *notes = wr_notes_new("/dev/null/x", NULL);
    wr_notes_keep(notes, &name, WR_LIT("s"), WR_LIT("x"), 1);
    assert_false(wr_notes_find(notes, &name, &data));
    wr_notes_free(notes);
    wr_notes_free(NULL);
}

/* Another node: it was slow to keep what it had answered. */
static void *keep_late(void *user)
{
    struct wr_note_name name = {WR_NOTE_ANSWER, WR_LIT("local"), WR_LIT("late")};
    const struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
    struct wr_ledger_writer *writer = wr_ledger_writer_new(user, wr_metrics_new());
    struct wr_notes *notes = wr_notes_new(user, writer);

    (void)nanosleep(&pause, NULL);
    wr_notes_keep(notes, &name, WR_LIT("s"), WR_LIT("here"), 1);
    wr_ledger_writer_free(writer);
    wr_notes_free(notes);
    return NULL;
}

static void a_note_of_another_node_is_waited_for(void **state)
{
    struct wr_note_name name = {WR_NOTE_ANSWER, WR_LIT("local"), WR_LIT("late")};
    const char *url = wr_test_postgres();
    char store[WR_TEST_URL_BYTES];
    struct wr_buf data;
    pthread_t node;
    (void)state;
    if (!url)
        skip();
    (void)snprintf(store, sizeof(store), "%s", url);
    struct wr_notes *notes = wr_notes_new(store, NULL);
    wr_buf_init(&data, 1024);
    assert_false(wr_notes_find(notes, &name, &data)); /* and the tables are made */
    assert_int_equal(pthread_create(&node, NULL, keep_late, store), 0);
    bool is_found =
        false; /* a busy machine may need several waits; without any, 20 are too short */
    for (int i = 0; i < 20 && !is_found; i++)
        is_found = wr_notes_await(notes, &name, &data);
    assert_true(is_found);
    assert_true(wr_span_is(wr_buf_view(&data), "here"));
    assert_int_equal(pthread_join(node, NULL), 0);
    wr_buf_release(&data);
    wr_notes_free(notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_texts_come_back),
        cmocka_unit_test(they_are_little_endian),
        cmocka_unit_test(past_the_end_there_is_nothing),
        cmocka_unit_test(a_note_is_found_by_its_kind_tenant_and_id),
        cmocka_unit_test(an_answer_is_kept_as_a_note),
        cmocka_unit_test(a_note_may_have_a_key_of_its_own),
        cmocka_unit_test(without_notes_nothing_is_kept_or_found),
        cmocka_unit_test(a_note_of_another_node_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
