#include "proxy/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_dir.h"
#include "tests/test_file.h"

static void an_act_is_a_line(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_user anna = {"anna", "search"};
    char path[WR_TEST_PATH_BYTES + 32];
    struct wr_buf text;

    (void)state;
    wr_buf_init(&text, 65536);
    (void)snprintf(path, sizeof(path), "%s/audit.jsonl", dir.path);
    struct wr_audit *audit = wr_audit_open(path), *other = wr_audit_open(path);
    assert_non_null(audit);
    wr_audit_note(audit, &(struct wr_act){.act = "steer.pin",
                                          .user = &anna,
                                          .tenant = "user-anna",
                                          .subject = "weir:\"s\"",
                                          .status = 200});
    wr_audit_note(other, &(struct wr_act){.act = "reload", .is_refused = true});
    wr_audit_note(NULL, &(struct wr_act){.act = "nobody is told"});
    wr_audit_close(audit);
    wr_audit_close(other);
    assert_true(wr_test_file(path, &text));
    wr_buf_byte(&text, '\0');
    assert_non_null(strstr(text.bytes, "\"act\":\"steer.pin\""));
    assert_non_null(strstr(text.bytes,
                           "\"user\":\"anna\",\"team\":\"search\",\"tenant\":\"user-anna\","
                           "\"session\":\"weir:\\\"s\\\"\",\"status\":200,\"done\":true}\n"));
    assert_non_null(strstr(text.bytes, "\"tenant\":\"operator\",\"done\":false}\n"));
    wr_buf_release(&text);
    wr_test_dir_remove(&dir);
}

/* How often `word` is in the file. */
static size_t count_in(const char *path, const char *word)
{
    struct wr_buf text;
    size_t count = 0, at = 0;

    wr_buf_init(&text, 65536);
    assert_true(wr_test_file(path, &text));
    while ((at = wr_span_find(wr_buf_view(&text), wr_span_of(word), at)) != SIZE_MAX) {
        count++;
        at++;
    }
    wr_buf_release(&text);
    return count;
}

/* Anybody can be refused as often as he likes. */
static void what_is_done_often_is_a_line_now_and_then(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    char path[WR_TEST_PATH_BYTES + 32];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/audit.jsonl", dir.path);
    struct wr_audit *audit = wr_audit_open(path);
    assert_non_null(audit);
    for (int i = 0; i < 1000; i++) {
        wr_audit_note_often(audit, &(struct wr_act){.act = "metrics", .status = 401});
        wr_audit_note_often(audit, &(struct wr_act){.act = "login", .status = 401});
    }
    wr_audit_note_often(audit, &(struct wr_act){.act = "metrics"});
    assert_int_equal(count_in(path, "\"act\":\"metrics\""), 2); /* a refusal, and one that read */
    assert_int_equal(count_in(path, "\"act\":\"login\""), 1);
    assert_int_equal(count_in(path, "times"), 0);
    wr_audit_close(audit);
    assert_int_equal(count_in(path, "\"status\":401,\"times\":999,\"done\":false}\n"), 2);
    assert_int_equal(count_in(path, "\n"), 5);
    wr_test_dir_remove(&dir);
}

static void a_file_that_cannot_be_written_is_none(void **state)
{
    (void)state;
    assert_null(wr_audit_open("/no/such/folder/audit.jsonl"));
}

static void a_line_that_cannot_be_written_is_counted(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct wr_act act = {.act = "reload"};
    char path[WR_TEST_PATH_BYTES + 32];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/audit.jsonl", dir.path);
    struct wr_audit *full = wr_audit_open("/dev/full"), *audit = wr_audit_open(path);
    assert_non_null(full);
    assert_non_null(audit);
    wr_audit_note(full, &act);
    wr_audit_note(full, &act);
    wr_audit_note(audit, &act);
    assert_int_equal(wr_audit_take_lost(full), 2);
    assert_int_equal(wr_audit_take_lost(full), 0);
    assert_int_equal(wr_audit_take_lost(audit), 0);
    wr_audit_note(full, &act);
    wr_audit_note_often(full, &act); /* the first is a line, */
    wr_audit_note_often(full, &act); /* others wait for the end */
    assert_int_equal(wr_audit_close(full), 3);
    assert_int_equal(wr_audit_close(audit), 0);
    wr_test_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_act_is_a_line),
        cmocka_unit_test(what_is_done_often_is_a_line_now_and_then),
        cmocka_unit_test(a_file_that_cannot_be_written_is_none),
        cmocka_unit_test(a_line_that_cannot_be_written_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
