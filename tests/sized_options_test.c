/* Programs that were compiled with other headers: of every struct of options the library reads what
 * struct_bytes says is there, and not a byte more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_dir.h"
#include "weir/store_host.h"
#include "weir/weir.h"

static const char chat[] =
    "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";

/* An older program's struct ends before `member`. */
#define ENDS_BEFORE(type, member) offsetof(type, member)

static void request_options(void **state)
{
    struct weir_request_options options = WEIR_REQUEST_OPTIONS_INIT;
    struct weir_request *request;
    (void)state;

    options.dialect = "no such dialect";
    assert_int_not_equal(weir_request_new(wr_span_of(chat), &options, &request, NULL), WEIR_OK);
    options.struct_bytes = ENDS_BEFORE(struct weir_request_options, dialect);
    assert_int_equal(weir_request_new(wr_span_of(chat), &options, &request, NULL), WEIR_OK);
    weir_request_free(request);
}

static void project_options(void **state)
{
    struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;
    struct weir_projected projected;
    struct weir_request *request;
    struct weir_engine *engine;
    (void)state;

    assert_int_equal(weir_engine_new(&engine, NULL), WEIR_OK);
    assert_int_equal(weir_engine_request(engine, wr_span_of(chat), NULL, &request, NULL), WEIR_OK);
    options.policy = "no such policy";
    assert_int_equal(weir_engine_project(engine, request, &options, &projected, NULL),
                     WEIR_NOTFOUND);
    options.struct_bytes = ENDS_BEFORE(struct weir_project_options, policy);
    assert_int_equal(weir_engine_project(engine, request, &options, &projected, NULL), WEIR_OK);
    weir_request_free(request);
    weir_engine_free(engine);
}

static void recall_options(void **state)
{
    struct weir_recall_options options = WEIR_RECALL_OPTIONS_INIT;
    struct weir_recalled recalled;
    (void)state;

    options.head_lines = 1;
    options.pattern = WR_LIT("(");
    assert_int_equal(weir_recall_select(WR_LIT("a\nb\n"), &options, &recalled, NULL), WEIR_SYNTAX);
    options.struct_bytes = ENDS_BEFORE(struct weir_recall_options, pattern);
    assert_int_equal(weir_recall_select(WR_LIT("a\nb\n"), &options, &recalled, NULL), WEIR_OK);
    assert_true(wr_span_is(recalled.text, "a\n"));
    weir_recalled_release(&recalled);
    assert_int_equal(weir_recall_select(WR_LIT("a\n"), NULL, &recalled, NULL), WEIR_OK);
    weir_recalled_release(&recalled);
}

static void store_options(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;
    struct weir_gc_options gc = WEIR_GC_OPTIONS_INIT;
    struct weir_gc_report report;
    struct weir_store *store;
    (void)state;

    options.must_exist = true;
    assert_int_equal(weir_store_open(dir.path, &options, &store, NULL, NULL), WEIR_NOTFOUND);
    options.struct_bytes = ENDS_BEFORE(struct weir_store_options, must_exist);
    assert_int_equal(weir_store_open(dir.path, &options, &store, NULL, NULL), WEIR_OK);
    gc.live_ms = -1;
    assert_int_equal(weir_store_gc(store, &gc, &report, NULL), WEIR_INVALID);
    gc.struct_bytes = ENDS_BEFORE(struct weir_gc_options, live_ms);
    assert_int_equal(weir_store_gc(store, &gc, &report, NULL), WEIR_OK);
    weir_store_close(store);
    wr_test_dir_remove(&dir);
}

static void session_options(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    struct weir_session_options options = WEIR_SESSION_OPTIONS_INIT;
    struct weir_session_want want = WEIR_SESSION_WANT_INIT;
    struct weir_session_turn turn;
    struct weir_session *session;
    (void)state;

    options.dir = dir.path;
    options.model = "gpt-4o";
    options.must_exist = true;
    assert_int_equal(weir_session_open(&options, &session, NULL), WEIR_NOTFOUND);
    options.struct_bytes = ENDS_BEFORE(struct weir_session_options, must_exist);
    assert_int_equal(weir_session_open(&options, &session, NULL), WEIR_OK);
    assert_int_equal(weir_session_say(session, WR_LIT("hello"), 1, NULL), WEIR_OK);
    want.now_ms = 2;
    want.extra = WR_LIT("this is not JSON");
    assert_int_not_equal(weir_session_request(session, &want, &turn, NULL), WEIR_OK);
    want.struct_bytes = ENDS_BEFORE(struct weir_session_want, extra);
    assert_int_equal(weir_session_request(session, &want, &turn, NULL), WEIR_OK);
    weir_session_close(session);
    wr_test_dir_remove(&dir);
}

static weir_status get_nothing(struct weir_store *store, const struct weir_lookup *lookup,
                               struct weir_artifact *artifact, weir_miss *miss,
                               struct weir_err *err)
{
    (void)store, (void)lookup, (void)artifact, (void)err;
    *miss = WEIR_MISS_NEVER_STORED;
    return WEIR_NOTFOUND;
}

static weir_status has_never(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                             size_t hashes_count, bool *is_there, struct weir_err *err)
{
    (void)store, (void)tenant, (void)hashes, (void)hashes_count, (void)is_there, (void)err;
    return WEIR_IO;
}

/* A host's table of functions is sized too. */
static void store_functions(void **state)
{
    struct weir_store_ops ops = {.struct_bytes = sizeof(ops), .get = get_nothing, .has = has_never};
    struct weir_store store = {.ops = &ops};
    weir_hash hash = {{0}};
    bool is_there = true;
    (void)state;

    assert_int_equal(weir_store_has(&store, WR_LIT(""), &hash, 1, &is_there, NULL), WEIR_IO);
    ops.struct_bytes = ENDS_BEFORE(struct weir_store_ops, has);
    assert_int_equal(weir_store_has(&store, WR_LIT(""), &hash, 1, &is_there, NULL), WEIR_OK);
    assert_false(is_there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_options), cmocka_unit_test(project_options),
        cmocka_unit_test(recall_options),  cmocka_unit_test(store_options),
        cmocka_unit_test(session_options), cmocka_unit_test(store_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
