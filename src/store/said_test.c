#include "store/said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/span.h"
#include "tests/test_dir.h"

#define LOCAL WR_LIT("local")

struct fixture {
    struct wr_test_dir dir;
    struct wr_ledger *ledger;
    struct weir_store *store;
    struct wr_buf body;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->dir = wr_test_dir_new();
    wr_buf_init(&f->body, 64 * 1024 * 1024);
    assert_int_equal(wr_ledger_open(f->dir.path, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(weir_store_open(f->dir.path, NULL, &f->store, NULL, NULL), WEIR_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    wr_ledger_close(f->ledger);
    weir_store_close(f->store);
    wr_test_dir_remove(&f->dir);
    wr_buf_release(&f->body);
    free(f);
    return 0;
}

/* Text that does not repeat itself. */
static void grow_body(struct fixture *f, size_t bytes, uint64_t seed)
{
    while (bytes--) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        wr_buf_byte(&f->body, (char)('a' + (seed >> 59) % 26));
    }
}

/* ---- where a piece ends: the rule as said.c has it, spelled out ---- */

static uint64_t splitmix64(uint64_t number)
{
    uint64_t z = (number + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

static size_t cut_by_rule(weir_span text)
{
    for (size_t end = 2048 + 1; end <= text.len && end <= 64 * 1024; end++) {
        uint64_t hash = 0;
        for (size_t i = end - 64; i < end; i++)
            hash = hash * 2 + splitmix64((unsigned char)text.ptr[i]);
        if (hash < UINT64_C(1) << (64 - 13))
            return end;
    }
    return text.len < 64 * 1024 ? text.len : 64 * 1024;
}

/* Pieces that a store has are found again only where they would be cut as then. */
static void a_piece_ends_where_the_rule_says(void **state)
{
    struct fixture *f = *state;
    static const size_t short_bytes[] = {1, 1983, 1984, 2047, 2048, 2049, 2112};

    for (int byte = 0; byte < 256; byte++)
        wr_buf_byte(&f->body, (char)byte);
    grow_body(f, 300 * 1000, 9);
    weir_span rest = wr_buf_view(&f->body);
    for (size_t i = 0; i < WR_COUNT_OF(short_bytes); i++) {
        weir_span text = wr_span_cut(rest, 0, short_bytes[i]);
        assert_int_equal(wr_said_cut(text), cut_by_rule(text));
    }
    while (rest.len) {
        size_t bytes = wr_said_cut(rest);
        assert_int_equal(bytes, cut_by_rule(rest));
        rest = wr_span_cut(rest, bytes, rest.len);
    }
}

/* The first byte behind the least length is looked at like every other. */
static void a_piece_may_end_at_the_first_byte_looked_at(void **state)
{
    struct fixture *f = *state;
    enum { FIRST_END = 2048 + 1 };

    grow_body(f, 200 * 1000, 4);
    weir_span text = wr_buf_view(&f->body);
    size_t at = 0;
    while (at + FIRST_END < text.len &&
           cut_by_rule(wr_span_cut(text, at, at + FIRST_END + 1)) != FIRST_END)
        at++;
    assert_true(at + FIRST_END < text.len);
    assert_int_equal(wr_said_cut(wr_span_cut(text, at, text.len)), FIRST_END);
}

/* A page follows the text that nobody may read. */
static void nothing_is_read_behind_the_text(void **state)
{
    static const size_t text_bytes[] = {1, 1983, 1984, 1985, 2047, 2048, 2049, 4096};
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    (void)state;

    char *pages = mmap(NULL, 2 * page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page_bytes, page_bytes, PROT_NONE), 0);
    for (size_t i = 0; i < WR_COUNT_OF(text_bytes); i++) {
        weir_span text = {pages + page_bytes - text_bytes[i], text_bytes[i]};
        assert_int_equal(wr_said_cut(text), text.len);
    }
    assert_int_equal(munmap(pages, 2 * page_bytes), 0);
}

static void add(struct fixture *f, const char *session, int64_t time_ms, weir_span came,
                weir_span sent, const char *report)
{
    struct wr_ledger_row row = {.time_ms = time_ms,
                                .tenant = LOCAL,
                                .session = wr_span_of(session),
                                .agent = WR_LIT("codex"),
                                .model = WR_LIT("gpt-5"),
                                .line = WR_LIT("{}"),
                                .came = came,
                                .sent = sent,
                                .report = wr_span_of(report)};
    assert_int_equal(wr_ledger_add(f->ledger, &row, 1, NULL), WEIR_OK);
}

static int64_t number(struct fixture *f, const char *sql)
{
    struct wr_db *db = &wr_sqlite_of(f->store)->db;
    wr_db_start(db);
    return wr_db_number(db, sql);
}

static void a_cut_depends_on_what_is_near_alone(void **state)
{
    struct fixture *f = *state;
    grow_body(f, 300000, 1);
    weir_span text = wr_buf_view(&f->body);
    size_t cuts = 0, at = 0;

    /* Behind the first cut of the whole, the rest is cut as it was. */
    size_t first = wr_said_cut(text);
    assert_true(first >= 2048 && first <= 65536);
    for (weir_span rest = text; rest.len; rest = wr_span_cut(rest, wr_said_cut(rest), rest.len))
        cuts++;
    assert_in_range(cuts, 10, 120);
    /* A few bytes in front move the cuts and change only the first piece. */
    struct wr_buf moved;
    wr_buf_init(&moved, 1 << 20);
    wr_buf_text(&moved, "in front");
    wr_buf_append(&moved, text);
    at = wr_said_cut(wr_buf_view(&moved));
    weir_span a = wr_span_cut(text, first, text.len);
    weir_span b = wr_span_cut(wr_buf_view(&moved), at, moved.len);
    if (a.len != b.len) /* the least length of a piece may hide one cut */
        a = wr_span_cut(a, wr_said_cut(a), a.len), b = wr_span_cut(b, wr_said_cut(b), b.len);
    assert_true(a.len == b.len && wr_span_eq(a, b));
    wr_buf_release(&moved);
}

static void what_was_said_comes_back_byte_for_byte(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_row said;
    struct wr_ledger_which first = {.tenant = LOCAL, .session = WR_LIT("s")};

    grow_body(f, 100000, 7);
    add(f, "s", 1, wr_buf_view(&f->body), WR_LIT("shorter"), "{\"edits\":[]}");
    add(f, "s", 2, WR_LIT("small"), WR_LIT(""), "");
    assert_int_equal(wr_ledger_said(f->ledger, &first, &said, NULL), WEIR_OK);
    assert_true(wr_span_eq(said.came, wr_buf_view(&f->body)));
    assert_true(wr_span_is(said.sent, "shorter"));
    assert_true(wr_span_is(said.report, "{\"edits\":[]}"));
    assert_true(wr_span_is(said.session, "s") && wr_span_is(said.agent, "codex"));
    struct wr_ledger_which last = {.tenant = LOCAL, .session = WR_LIT("s"), .is_last = true};
    assert_int_equal(wr_ledger_said(f->ledger, &last, &said, NULL), WEIR_OK);
    assert_true(wr_span_is(said.came, "small"));
    assert_int_equal(said.sent.len, 0);
    struct wr_ledger_which by_id = {.tenant = LOCAL, .id = said.id};
    assert_int_equal(wr_ledger_said(f->ledger, &by_id, &said, NULL), WEIR_OK);
    assert_true(wr_span_is(said.came, "small"));
}

static void another_tenant_gets_nothing(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_row said;
    struct wr_ledger_which other = {.tenant = WR_LIT("other"), .id = 1};

    add(f, "s", 1, WR_LIT("secret"), WR_LIT(""), "");
    assert_int_equal(wr_ledger_said(f->ledger, &other, &said, NULL), WEIR_NOTFOUND);
    other = (struct wr_ledger_which){.tenant = WR_LIT("other"), .session = WR_LIT("s")};
    assert_int_equal(wr_ledger_said(f->ledger, &other, &said, NULL), WEIR_NOTFOUND);
}

/* A conversation of 60 requests costs about what its last one does. */
static void what_is_sent_again_is_kept_once(void **state)
{
    struct fixture *f = *state;

    for (int i = 1; i <= 60; i++) {
        grow_body(f, 5000, (uint64_t)i);
        add(f, "s", i, wr_buf_view(&f->body), WR_LIT(""), "");
    }
    int64_t text_bytes = number(f, "SELECT sum(text_bytes) FROM piece");
    assert_true(text_bytes < 4 * (int64_t)f->body.len); /* of 30 times as much */
    assert_true(number(f, "SELECT sum(length(lists)) FROM said") < 60 * 200);
}

/* Rows that wait for the writer come together: of several sessions, some with the same text, some
 * with none, and more than go into one transaction. */
static void many_rows_at_once_are_kept_as_each_alone(void **state)
{
    enum { ROWS_COUNT = 150 };
    struct fixture *f = *state;
    struct wr_ledger_row rows[ROWS_COUNT], said;
    char came[ROWS_COUNT][16];
    static const char *const sessions[] = {"a", "b", "c"};

    grow_body(f, 60000, 3);
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        (void)snprintf(came[i], sizeof(came[i]), "row %zu", i / 2);
        rows[i] = (struct wr_ledger_row){.time_ms = (int64_t)i + 1,
                                         .tenant = LOCAL,
                                         .session = wr_span_of(sessions[i % 3]),
                                         .line = WR_LIT("{}"),
                                         .came = i % 5 ? wr_span_of(came[i]) : WR_LIT(""),
                                         .sent = i % 7 ? WR_LIT("") : wr_buf_view(&f->body)};
    }
    assert_int_equal(wr_ledger_add(f->ledger, rows, ROWS_COUNT, NULL), WEIR_OK);
    assert_int_equal(wr_ledger_said_lost(f->ledger), 0);
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        struct wr_ledger_which by_id = {.tenant = LOCAL, .id = (int64_t)i + 1};
        assert_int_equal(wr_ledger_said(f->ledger, &by_id, &said, NULL), WEIR_OK);
        assert_true(wr_span_eq(said.came, rows[i].came));
        assert_true(wr_span_eq(said.sent, rows[i].came.len ? rows[i].sent : WR_LIT("")));
        assert_true(wr_span_eq(said.session, rows[i].session));
    }
    /* The long one is there once for each session. */
    int64_t text_bytes = number(f, "SELECT sum(text_bytes) FROM piece");
    assert_in_range(text_bytes, 3 * 60000, 3 * 60000 + ROWS_COUNT * 16);
}

static void a_row_without_bodies_has_none(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_row said;

    add(f, "s", 1, WR_LIT(""), WR_LIT(""), "");
    struct wr_ledger_which by_id = {.tenant = LOCAL, .id = 1};
    assert_int_equal(wr_ledger_said(f->ledger, &by_id, &said, NULL), WEIR_OK);
    assert_int_equal(said.came.len, 0);
    by_id = (struct wr_ledger_which){.tenant = LOCAL, .session = WR_LIT("s")};
    assert_int_equal(wr_ledger_said(f->ledger, &by_id, &said, NULL), WEIR_NOTFOUND);
}

static void it_leaves_with_its_session(void **state)
{
    struct fixture *f = *state;
    struct weir_gc_report report;

    add(f, "gone", 1, WR_LIT("one"), WR_LIT("two"), "{}");
    add(f, "stays", 2, WR_LIT("one"), WR_LIT(""), "");
    assert_int_equal(weir_store_purge(f->store, LOCAL, WR_LIT("gone"), &report, NULL), WEIR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM said"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM piece"), 1);
    struct weir_gc_options gc = WEIR_GC_OPTIONS_INIT;
    gc.now_ms = 1000;
    gc.retention_ms = 1;
    assert_int_equal(weir_store_gc(f->store, &gc, &report, NULL), WEIR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM piece"), 0);
}

static void a_damaged_piece_is_not_shown(void **state)
{
    struct fixture *f = *state;
    struct wr_ledger_row said;
    struct wr_ledger_which by_id = {.tenant = LOCAL, .id = 1}, other = {.tenant = LOCAL, .id = 2};
    struct weir_err err = {.text = ""};

    add(f, "s", 1, WR_LIT("as it was"), WR_LIT(""), "");
    wr_db_exec(&wr_sqlite_of(f->store)->db, "UPDATE piece SET data = CAST('as it isn' AS BLOB)");
    assert_int_equal(wr_ledger_said(f->ledger, &by_id, &said, &err), WEIR_INVALID);
    assert_string_equal(err.text, "what the request said is damaged in the store");
    assert_int_equal(wr_ledger_said(f->ledger, &other, &said, &err), WEIR_NOTFOUND);
    assert_string_equal(err.text, "there is no such request");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_piece_ends_where_the_rule_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_piece_may_end_at_the_first_byte_looked_at, set_up,
                                        tear_down),
        cmocka_unit_test(nothing_is_read_behind_the_text),
        cmocka_unit_test_setup_teardown(a_cut_depends_on_what_is_near_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_said_comes_back_byte_for_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_tenant_gets_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_sent_again_is_kept_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_rows_at_once_are_kept_as_each_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_row_without_bodies_has_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_leaves_with_its_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_piece_is_not_shown, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
