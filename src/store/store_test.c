/* What every store promises, asked of each implementation. */
#include "weir/store_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"
#include "tests/test_postgres.h"

#define LOCAL WR_LIT("local")
#define OTHER WR_LIT("other")

struct fixture {
    struct weir_store *store;
    struct wr_test_dir dir;
    bool is_on_disk;
};

static int open_memory(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    *state = fixture;
    return fixture ? (int)weir_store_new_memory(0, &fixture->store) : -1;
}

static int open_disk(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    *state = fixture;
    if (!fixture)
        return -1;
    fixture->is_on_disk = true;
    fixture->dir = wr_test_dir_new();
    return (int)weir_store_open(fixture->dir.path, NULL, &fixture->store, NULL, NULL);
}

static int open_postgres(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const char *url = wr_test_postgres();
    struct weir_gc_report report;
    if (!(*state = fixture) || !url || weir_store_open(url, NULL, &fixture->store, NULL, NULL))
        return url ? -1 : 0;
    return (int)weir_store_purge_all(fixture->store, &report, NULL);
}

static int close_store(void **state)
{
    struct fixture *fixture = *state;
    weir_store_close(fixture->store);
    if (fixture->is_on_disk)
        wr_test_dir_remove(&fixture->dir);
    free(fixture);
    return 0;
}

static struct weir_store *store_of(void **state)
{
    if (!((struct fixture *)*state)->store)
        skip();
    return ((struct fixture *)*state)->store;
}

static weir_hash hash_of(int number)
{
    weir_hash hash;
    memset(&hash, number, sizeof(hash));
    return hash;
}

/* ---- short ways to say things ---- */

static weir_status put_text(struct weir_store *store, weir_span tenant, const char *session,
                            const char *text, int64_t used_ms)
{
    struct weir_artifact artifact = {.text = wr_span_of(text)};
    struct weir_batch batch = {.tenant = tenant,
                               .session = wr_span_of(session),
                               .used_ms = used_ms,
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

static weir_status put_mark(struct weir_store *store, const char *session, int key,
                            weir_mark_kind kind, const char *value, bool replaces)
{
    struct weir_mark mark = {hash_of(key), kind, wr_span_of(value), replaces};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = wr_span_of(session), .marks = &mark, .marks_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

static weir_status put_pin(struct weir_store *store, const char *session, const char *model,
                           int first_turn, const char *value, bool replaces)
{
    struct weir_pin pin = {wr_span_of(model), hash_of(first_turn), wr_span_of(value), replaces};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = wr_span_of(session), .pins = &pin, .pins_count = 1};
    return weir_store_commit(store, &batch, NULL);
}

static weir_status get(struct weir_store *store, weir_span tenant, const char *text,
                       bool is_operator, weir_span *found, weir_miss *miss)
{
    struct weir_lookup lookup = {.tenant = tenant, .is_operator = is_operator};
    struct weir_artifact artifact;
    assert_int_equal(weir_handle_of(wr_span_of(text), &lookup.handle), WEIR_OK);
    weir_status status = weir_store_get(store, &lookup, &artifact, miss, NULL);
    *found = artifact.text;
    return status;
}

static void assert_there(struct weir_store *store, weir_span tenant, const char *text)
{
    weir_miss miss;
    weir_span found;
    assert_int_equal(get(store, tenant, text, false, &found, &miss), WEIR_OK);
    assert_int_equal(miss, WEIR_MISS_NONE);
    assert_true(wr_span_is(found, text));
}

static void assert_miss(struct weir_store *store, weir_span tenant, const char *text,
                        weir_miss wanted)
{
    weir_miss miss;
    weir_span found;
    assert_int_equal(get(store, tenant, text, true, &found, &miss), WEIR_NOTFOUND);
    assert_int_equal(miss, wanted);
    assert_int_equal(found.len, 0);
}

static weir_status list_mark(void *user, size_t key_index, const struct weir_mark *mark)
{
    wr_buf_printf(user, "%zu %s=%.*s;", key_index, weir_mark_kind_name(mark->kind),
                  (int)mark->value.len, mark->value.ptr);
    return WEIR_OK;
}

static void assert_marks(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                         size_t keys_count, const char *wanted)
{
    struct wr_buf list;
    wr_buf_init(&list, 4096);
    assert_int_equal(weir_store_marks(store, tenant, keys, keys_count, list_mark, &list, NULL),
                     WEIR_OK);
    if (!wr_span_is(wr_buf_view(&list), wanted))
        fail_msg("marks are \"%.*s\", should be \"%s\"", (int)list.len, list.bytes, wanted);
    wr_buf_release(&list);
}

static void assert_pin(struct weir_store *store, const char *session, const char *model,
                       int first_turn, const char *wanted)
{
    struct weir_pin pin = {.model = wr_span_of(model), .first_turn = hash_of(first_turn)};
    weir_status status = weir_store_pin(store, LOCAL, wr_span_of(session), &pin, NULL);
    assert_int_equal(status, wanted ? WEIR_OK : WEIR_NOTFOUND);
    if (wanted)
        assert_true(wr_span_is(pin.value, wanted));
}

static struct weir_store_stats stats_of(struct weir_store *store)
{
    struct weir_store_stats stats;
    assert_int_equal(weir_store_stats(store, &stats, NULL), WEIR_OK);
    return stats;
}

/* ---- artifacts ---- */

static void a_text_comes_back_by_its_handle(void **state)
{
    struct weir_store *store = store_of(state);
    struct wr_buf large;

    assert_int_equal(put_text(store, LOCAL, "s", "one\ntwo\n", 1), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "s", "", 1), WEIR_OK);
    wr_buf_init(&large, 1 << 22);
    for (int i = 0; i < 60000; i++)
        wr_buf_printf(&large, "line %d\n", i);
    wr_buf_byte(&large, '\0');
    assert_int_equal(put_text(store, LOCAL, "s", large.bytes, 1), WEIR_OK);
    assert_there(store, LOCAL, "one\ntwo\n");
    assert_there(store, LOCAL, "");
    assert_there(store, LOCAL, large.bytes);
    assert_miss(store, LOCAL, "three", WEIR_MISS_NEVER_STORED);
    wr_buf_release(&large);
}

static void a_miss_names_the_handle_and_why(void **state)
{
    struct weir_store *store = store_of(state);
    struct weir_lookup lookup = {.tenant = LOCAL};
    struct weir_artifact found;
    struct weir_err err = {0};

    assert_int_equal(weir_handle_of(WR_LIT("abc"), &lookup.handle), WEIR_OK);
    assert_int_equal(weir_store_get(store, &lookup, &found, NULL, &err), WEIR_NOTFOUND);
    assert_string_equal(err.text, "wr_ba7816bf8f01cfea4141: never stored");
}

static void any_bytes_come_back(void **state)
{
    struct weir_store *store = store_of(state);
    char bytes[1024];
    struct weir_artifact artifact = {.text = {bytes, sizeof(bytes)}}, found;
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    struct weir_lookup lookup = {LOCAL, weir_hash_handle(&artifact.hash), false};
    assert_int_equal(weir_store_get(store, &lookup, &found, NULL, NULL), WEIR_OK);
    assert_true(wr_span_eq(found.text, artifact.text));
    assert_memory_equal(&found.hash, &artifact.hash, sizeof(found.hash));
}

static void a_text_is_stored_once(void **state)
{
    struct weir_store *store = store_of(state);
    assert_int_equal(put_text(store, LOCAL, "a", "same", 1000), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "a", "same", 2000), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "b", "same", 3000), WEIR_OK);
    assert_int_equal(stats_of(store).artifacts_count, 1);
    assert_int_equal(stats_of(store).sessions_count, 2);
    assert_int_equal(stats_of(store).text_bytes, 4);
    assert_int_equal(stats_of(store).newest_used_ms, 3000);
    assert_int_equal(stats_of(store).oldest_used_ms, 2000);
}

static void nobody_gets_what_another_tenant_stored(void **state)
{
    struct weir_store *store = store_of(state);
    weir_miss miss;
    weir_span found;

    assert_int_equal(put_text(store, LOCAL, "s", "mine", 1), WEIR_OK);
    assert_int_equal(put_text(store, OTHER, "s", "theirs", 1), WEIR_OK);
    assert_there(store, LOCAL, "mine");
    assert_there(store, OTHER, "theirs");
    /* A tenant is not even told that it is there; an operator is. */
    assert_int_equal(get(store, LOCAL, "theirs", false, &found, &miss), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_NEVER_STORED);
    assert_int_equal(found.len, 0);
    assert_miss(store, LOCAL, "theirs", WEIR_MISS_OTHER_TENANT);
    assert_miss(store, WR_LIT("nobody"), "theirs", WEIR_MISS_OTHER_TENANT);
    assert_int_equal(put_text(store, LOCAL, "s", "theirs", 1), WEIR_OK);
    assert_there(store, LOCAL, "theirs");
    assert_int_equal(stats_of(store).artifacts_count, 3);
}

/* A hash with the same front is made up, behind the back of weir_store_commit(). */
static void another_text_with_the_same_handle_is_refused(void **state)
{
    struct weir_store *store = store_of(state);
    struct weir_artifact artifacts[2] = {{.text = WR_LIT("first")}, {.text = WR_LIT("second")}};
    struct weir_mark mark = {hash_of(1), WEIR_MARK_STEP, WR_LIT("x"), false};
    struct weir_batch batch = {.tenant = LOCAL,
                               .session = WR_LIT("s"),
                               .artifacts = artifacts,
                               .artifacts_count = 1,
                               .marks = &mark,
                               .marks_count = 1};

    assert_int_equal(put_text(store, LOCAL, "s", "first", 1), WEIR_OK);
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    artifacts[1].hash = artifacts[0].hash;
    artifacts[1].hash.bytes[WEIR_HASH_BYTES - 1] ^= 1;
    mark.key = hash_of(2);
    batch.artifacts_count = 2;
    assert_int_equal(store->ops->commit(store, &batch, NULL), WEIR_INVALID);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_COLLISION);
    assert_false(artifacts[0].collides);
    assert_true(artifacts[1].collides);
    assert_marks(store, LOCAL, &mark.key, 1, "");
    assert_there(store, LOCAL, "first");
    /* Another tenant's handles are not in the way. */
    batch.tenant = OTHER;
    batch.artifacts = &artifacts[1];
    batch.artifacts_count = 1;
    assert_int_equal(store->ops->commit(store, &batch, NULL), WEIR_OK);
}

struct corrupt {
    size_t count;
    weir_handle handle;
};

static void note_corrupt(void *user, weir_span tenant, weir_handle handle)
{
    struct corrupt *corrupt = user;
    corrupt->count++;
    corrupt->handle = handle;
    assert_true(wr_span_eq(tenant, LOCAL));
}

static void what_does_not_fit_its_hash_is_corrupt(void **state)
{
    struct corrupt corrupt = {0};
    struct weir_store *store = store_of(state);
    struct weir_artifact artifact = {.text = WR_LIT("forged"), .hash = hash_of(7)}, found;
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .artifacts = &artifact, .artifacts_count = 1};
    struct weir_verify_report report;
    weir_miss miss;

    assert_int_equal(store->ops->commit(store, &batch, NULL), WEIR_OK);
    struct weir_lookup lookup = {LOCAL, weir_hash_handle(&artifact.hash), false};
    assert_int_equal(weir_store_get(store, &lookup, &found, &miss, NULL), WEIR_NOTFOUND);
    assert_int_equal(miss, WEIR_MISS_CORRUPT);
    assert_int_equal(found.text.len, 0);
    assert_int_equal(weir_store_verify(store, note_corrupt, &corrupt, &report, NULL), WEIR_OK);
    assert_int_equal(corrupt.count, 1);
    assert_memory_equal(&corrupt.handle, &lookup.handle, sizeof(corrupt.handle));
    assert_int_equal(report.artifacts_count, 1);
    assert_int_equal(report.corrupt_count, 1);
    assert_false(report.has_damage);
}

static void assert_has(struct weir_store *store, weir_span tenant, const char *wanted)
{
    static const char *const texts[] = {"one", "two", "never stored", "theirs", ""};
    enum { TEXTS = WR_COUNT_OF(texts) };
    weir_hash hashes[TEXTS];
    bool is_there[TEXTS];
    char got[TEXTS + 1] = "";

    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(wr_sha256(wr_span_of(texts[i]), hashes[i].bytes), WEIR_OK);
    memset(is_there, 1, sizeof(is_there));
    assert_int_equal(weir_store_has(store, tenant, hashes, TEXTS, is_there, NULL), WEIR_OK);
    for (size_t i = 0; i < TEXTS; i++)
        got[i] = is_there[i] ? 'y' : 'n';
    assert_string_equal(got, wanted);
}

static void what_is_stored_is_said_of_many_at_once(void **state)
{
    struct weir_store *store = store_of(state);
    struct weir_store_ops without = *store->ops;
    const struct weir_store_ops *ops = store->ops;
    weir_hash hash;
    bool is_there = true;

    assert_has(store, LOCAL, "nnnnn");
    assert_int_equal(put_text(store, LOCAL, "s", "one", 1), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "s", "two", 1), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "s", "", 1), WEIR_OK);
    assert_int_equal(put_text(store, OTHER, "s", "theirs", 1), WEIR_OK);
    assert_has(store, LOCAL, "yynny");
    assert_has(store, OTHER, "nnnyn");
    /* A host's store may have no such function. */
    without.has = NULL;
    store->ops = &without;
    assert_has(store, LOCAL, "yynny");
    store->ops = ops;

    /* All 256 bits count. */
    assert_int_equal(wr_sha256(WR_LIT("one"), hash.bytes), WEIR_OK);
    hash.bytes[WEIR_HASH_BYTES - 1] ^= 1;
    assert_int_equal(weir_store_has(store, LOCAL, &hash, 1, &is_there, NULL), WEIR_OK);
    assert_false(is_there);
}

/* ---- marks and pins ---- */

static void marks_are_found_by_key_in_order(void **state)
{
    struct weir_store *store = store_of(state);
    weir_hash keys[4] = {hash_of(3), hash_of(9), hash_of(1), hash_of(3)};

    assert_int_equal(put_mark(store, "s", 1, WEIR_MARK_WINDOW, "8192", false), WEIR_OK);
    assert_int_equal(put_mark(store, "s", 3, WEIR_MARK_KEPT_WHOLE, "", false), WEIR_OK);
    assert_int_equal(put_mark(store, "s", 3, WEIR_MARK_STEP, "cold", false), WEIR_OK);
    assert_marks(store, LOCAL, keys, 4,
                 "0 step=cold;0 kept whole=;2 window=8192;3 step=cold;3 kept whole=;");
    assert_marks(store, LOCAL, keys, 0, "");
    assert_marks(store, OTHER, keys, 4, "");
}

static weir_status add_key_index(void *user, size_t key_index, const struct weir_mark *mark)
{
    /* Every third key has two marks; the value says which key. */
    wr_buf_printf(user, "%zu %d;", key_index, (int)mark->kind);
    assert_int_equal(mark->value.ptr[0], (char)mark->key.bytes[0]);
    return WEIR_OK;
}

static void marks_of_a_long_chain_are_all_found(void **state)
{
    enum { KEYS = 101 };
    struct weir_store *store = store_of(state);
    weir_hash keys[KEYS];
    struct wr_buf found, wanted;

    wr_buf_init(&found, 4096);
    wr_buf_init(&wanted, 4096);
    for (int i = 0; i < KEYS; i++) {
        char value[2] = {(char)(200 - i), '\0'};
        keys[i] = hash_of(200 - i);
        if (i % 3)
            continue;
        assert_int_equal(put_mark(store, "s", 200 - i, WEIR_MARK_WINDOW, value, false), WEIR_OK);
        assert_int_equal(put_mark(store, "s", 200 - i, WEIR_MARK_STEP, value, false), WEIR_OK);
    }
    for (size_t count = 0; count <= KEYS; count += 20) {
        wr_buf_reset(&found);
        wr_buf_reset(&wanted);
        for (size_t i = 0; i < count; i += 3)
            wr_buf_printf(&wanted, "%zu %d;%zu %d;", i, (int)WEIR_MARK_STEP, i,
                          (int)WEIR_MARK_WINDOW);
        assert_int_equal(weir_store_marks(store, LOCAL, keys, count, add_key_index, &found, NULL),
                         WEIR_OK);
        assert_true(wr_span_eq(wr_buf_view(&found), wr_buf_view(&wanted)));
    }
    wr_buf_release(&found);
    wr_buf_release(&wanted);
}

static weir_status stop_at_once(void *user, size_t key_index, const struct weir_mark *mark)
{
    (void)key_index;
    (void)mark;
    ++*(int *)user;
    return WEIR_LIMIT;
}

static void a_search_for_marks_can_be_stopped(void **state)
{
    struct weir_store *store = store_of(state);
    weir_hash key = hash_of(1);
    int calls = 0;
    assert_int_equal(put_mark(store, "s", 1, WEIR_MARK_STEP, "a", false), WEIR_OK);
    assert_int_equal(put_mark(store, "s", 1, WEIR_MARK_WINDOW, "b", false), WEIR_OK);
    assert_int_equal(weir_store_marks(store, LOCAL, &key, 1, stop_at_once, &calls, NULL),
                     WEIR_LIMIT);
    assert_int_equal(calls, 1);
    assert_int_equal(put_text(store, LOCAL, "s", "and the store still works", 1), WEIR_OK);
}

static void a_mark_does_not_change_unless_told(void **state)
{
    struct weir_store *store = store_of(state);
    weir_hash key = hash_of(1);

    assert_int_equal(put_mark(store, "s", 1, WEIR_MARK_STEP, "cold", false), WEIR_OK);
    assert_int_equal(put_mark(store, "t", 1, WEIR_MARK_STEP, "cold", false), WEIR_OK);
    assert_int_equal(put_mark(store, "s", 1, WEIR_MARK_STEP, "pays", false), WEIR_INVALID);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_CONFLICT);
    assert_marks(store, LOCAL, &key, 1, "0 step=cold;");
    assert_int_equal(put_mark(store, "s", 1, WEIR_MARK_STEP, "pays", true), WEIR_OK);
    assert_marks(store, LOCAL, &key, 1, "0 step=pays;");
    assert_int_equal(stats_of(store).marks_count, 1);
}

static void pins_are_by_session_model_and_first_turn(void **state)
{
    struct weir_store *store = store_of(state);

    assert_int_equal(put_pin(store, "s", "m", 1, "auto", false), WEIR_OK);
    assert_int_equal(put_pin(store, "s", "m", 2, "tiered", false), WEIR_OK);
    assert_int_equal(put_pin(store, "s", "small", 1, "exact", false), WEIR_OK);
    assert_pin(store, "s", "m", 1, "auto");
    assert_pin(store, "s", "m", 2, "tiered");
    assert_pin(store, "s", "small", 1, "exact");
    assert_pin(store, "s", "small", 2, NULL);
    assert_pin(store, "t", "m", 1, NULL);
    assert_int_equal(put_pin(store, "s", "m", 1, "layers", false), WEIR_INVALID);
    assert_pin(store, "s", "m", 1, "auto");
    assert_int_equal(put_pin(store, "s", "m", 1, "layers", true), WEIR_OK);
    assert_pin(store, "s", "m", 1, "layers");
}

static void a_batch_is_kept_whole_or_not_at_all(void **state)
{
    struct weir_store *store = store_of(state);
    struct weir_artifact artifact = {.text = WR_LIT("with the batch")};
    struct weir_mark marks[2] = {{hash_of(5), WEIR_MARK_STEP, WR_LIT("new"), false},
                                 {hash_of(1), WEIR_MARK_STEP, WR_LIT("changed"), true}};
    struct weir_pin pins[2] = {{WR_LIT("m"), hash_of(1), WR_LIT("auto"), false},
                               {WR_LIT("m"), hash_of(1), WR_LIT("other"), false}};
    struct weir_batch batch = {.tenant = OTHER,
                               .session = WR_LIT("new session"),
                               .used_ms = 99,
                               .artifacts = &artifact,
                               .artifacts_count = 1,
                               .marks = marks,
                               .marks_count = 2,
                               .pins = pins,
                               .pins_count = 2};

    assert_int_equal(put_mark(store, "s", 1, WEIR_MARK_STEP, "old", false), WEIR_OK);
    struct weir_store_stats before = stats_of(store);
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_INVALID);
    batch.tenant = LOCAL;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_INVALID);
    assert_int_equal(weir_store_trouble(store), WEIR_TROUBLE_CONFLICT);
    struct weir_store_stats after = stats_of(store);
    after.file_bytes = before.file_bytes;
    assert_memory_equal(&before, &after, sizeof(before));
    assert_marks(store, LOCAL, &marks[1].key, 1, "0 step=old;");
    assert_miss(store, LOCAL, "with the batch", WEIR_MISS_NEVER_STORED);
    batch.pins_count = 1;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    assert_marks(store, LOCAL, &marks[1].key, 1, "0 step=changed;");
    assert_there(store, LOCAL, "with the batch");
}

/* ---- what leaves ---- */

static struct weir_gc_report gc(struct weir_store *store, int64_t now_ms, int64_t retention_ms,
                                int64_t live_ms, uint64_t stored_bytes_max)
{
    struct weir_gc_options options = {.now_ms = now_ms,
                                      .retention_ms = retention_ms,
                                      .live_ms = live_ms,
                                      .stored_bytes_max = stored_bytes_max};
    struct weir_gc_report report;
    assert_int_equal(weir_store_gc(store, &options, &report, NULL), WEIR_OK);
    return report;
}

static void old_sessions_go_with_what_only_they_hold(void **state)
{
    struct weir_store *store = store_of(state);
    weir_hash keys[2] = {hash_of(1), hash_of(2)};

    assert_int_equal(put_text(store, LOCAL, "old", "only of the old", 100), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "old", "of both", 100), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "new", "of both", 900), WEIR_OK);
    assert_int_equal(put_mark(store, "old", 1, WEIR_MARK_STEP, "a", false), WEIR_OK);
    assert_int_equal(put_mark(store, "old", 2, WEIR_MARK_STEP, "b", false), WEIR_OK);
    assert_int_equal(put_mark(store, "new", 2, WEIR_MARK_STEP, "b", false), WEIR_OK);
    assert_int_equal(put_pin(store, "old", "m", 1, "auto", false), WEIR_OK);

    struct weir_gc_report report = gc(store, 1000, 500, 0, 0);
    assert_int_equal(report.sessions_count, 1);
    assert_int_equal(report.artifacts_count, 1);
    assert_int_equal(report.stored_bytes, strlen("only of the old"));
    assert_int_equal(report.marks_count, 1);
    assert_int_equal(report.pins_count, 1);
    assert_miss(store, LOCAL, "only of the old", WEIR_MISS_EXPIRED);
    assert_there(store, LOCAL, "of both");
    assert_marks(store, LOCAL, keys, 2, "1 step=b;");
    assert_pin(store, "old", "m", 1, NULL);
    /* Stored again it is back, and is not remembered as gone. */
    assert_int_equal(put_text(store, LOCAL, "new", "only of the old", 1000), WEIR_OK);
    assert_there(store, LOCAL, "only of the old");
    assert_int_equal(stats_of(store).expired_count, 0);
}

static void a_session_in_use_never_goes(void **state)
{
    struct weir_store *store = store_of(state);
    assert_int_equal(put_text(store, LOCAL, "a", "aaaa", 100), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "b", "bbbb", 200), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "c", "cccc", 300), WEIR_OK);
    assert_int_equal(weir_store_touch(store, LOCAL, WR_LIT("a"), 1000, NULL), WEIR_OK);
    assert_int_equal(weir_store_touch(store, LOCAL, WR_LIT("a"), 50, NULL), WEIR_OK);
    assert_int_equal(weir_store_touch(store, LOCAL, WR_LIT("unknown"), 1000, NULL), WEIR_OK);

    struct weir_gc_report report = gc(store, 1000, 100, 750, 0);
    assert_int_equal(report.sessions_count, 1); /* b: c was used within live_ms */
    report = gc(store, 1000, 0, 750, 1);
    assert_int_equal(report.sessions_count, 0);
    assert_true(report.is_over);
    assert_there(store, LOCAL, "aaaa");
    assert_miss(store, LOCAL, "bbbb", WEIR_MISS_EXPIRED);
    assert_there(store, LOCAL, "cccc");
}

/* Whatever is asked for, and whoever else held them too. */
static void marks_and_pins_of_a_live_session_never_go(void **state)
{
    struct weir_store *store = store_of(state);
    weir_hash keys[3] = {hash_of(1), hash_of(2), hash_of(3)};
    struct weir_gc_report report;

    assert_int_equal(put_text(store, LOCAL, "live", "text", 990), WEIR_OK);
    assert_int_equal(put_mark(store, "live", 1, WEIR_MARK_STEP, "cold", false), WEIR_OK);
    assert_int_equal(put_mark(store, "live", 1, WEIR_MARK_ATTACHED, "4", false), WEIR_OK);
    assert_int_equal(put_mark(store, "live", 2, WEIR_MARK_WINDOW, "8192", false), WEIR_OK);
    assert_int_equal(put_pin(store, "live", "m", 1, "tiered", false), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "old", "more text", 10), WEIR_OK);
    assert_int_equal(put_mark(store, "old", 2, WEIR_MARK_WINDOW, "8192", false), WEIR_OK);
    assert_int_equal(put_mark(store, "old", 3, WEIR_MARK_KEPT_WHOLE, "", false), WEIR_OK);
    assert_int_equal(put_pin(store, "old", "m", 1, "layers", false), WEIR_OK);

    report = gc(store, 1000, 1, 100, 1);
    assert_int_equal(report.sessions_count, 1);
    assert_int_equal(report.marks_count, 1);
    assert_int_equal(report.pins_count, 1);
    assert_true(report.is_over);
    assert_marks(store, LOCAL, keys, 3, "0 step=cold;0 attached=4;1 window=8192;");
    assert_pin(store, "live", "m", 1, "tiered");
    assert_pin(store, "old", "m", 1, NULL);
    /* The same again finds nothing more, and a purge of somebody else takes nothing of it. */
    assert_int_equal(gc(store, 1000, 1, 100, 1).marks_count, 0);
    assert_int_equal(put_mark(store, "other", 1, WEIR_MARK_STEP, "cold", false), WEIR_OK);
    assert_int_equal(weir_store_purge(store, LOCAL, WR_LIT("other"), &report, NULL), WEIR_OK);
    assert_int_equal(report.marks_count, 0);
    assert_marks(store, LOCAL, keys, 3, "0 step=cold;0 attached=4;1 window=8192;");
    /* With the session its marks go too: a later one begins afresh. */
    assert_int_equal(weir_store_purge(store, LOCAL, WR_LIT("live"), &report, NULL), WEIR_OK);
    assert_int_equal(report.marks_count, 3);
    assert_marks(store, LOCAL, keys, 3, "");
}

static void over_the_cap_the_least_recently_used_go(void **state)
{
    struct weir_store *store = store_of(state);
    assert_int_equal(put_text(store, LOCAL, "a", "aaaa", 100), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "b", "bbbb", 200), WEIR_OK);
    assert_int_equal(put_text(store, OTHER, "c", "cccc", 300), WEIR_OK);
    assert_int_equal(weir_store_touch(store, LOCAL, WR_LIT("a"), 400, NULL), WEIR_OK);

    struct weir_gc_report report = gc(store, 1000, 0, 0, 8);
    assert_int_equal(report.sessions_count, 1);
    assert_false(report.is_over);
    assert_miss(store, LOCAL, "bbbb", WEIR_MISS_EXPIRED);
    assert_there(store, LOCAL, "aaaa");
    assert_there(store, OTHER, "cccc");
    report = gc(store, 1000, 0, 0, 8);
    assert_int_equal(report.sessions_count, 0);
}

static void a_clock_that_jumped_keeps_nothing_for_ever(void **state)
{
    struct weir_store *store = store_of(state);
    assert_int_equal(put_text(store, LOCAL, "a", "aaaa", INT64_MAX), WEIR_OK);
    assert_int_equal(gc(store, 1000, 10, 10, 0).sessions_count, 0);
    assert_int_equal(gc(store, 1011, 10, 10, 0).sessions_count, 1);
    assert_int_equal(put_text(store, LOCAL, "b", "bbbb", INT64_MIN), WEIR_OK);
    assert_int_equal(gc(store, INT64_MIN, INT64_MAX, INT64_MAX, 1).sessions_count, 0);
}

static void purged_is_gone_without_a_trace(void **state)
{
    struct weir_store *store = store_of(state);
    struct weir_gc_report report;

    assert_int_equal(put_text(store, LOCAL, "a", "only of a", 1), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "a", "of both", 1), WEIR_OK);
    assert_int_equal(put_text(store, LOCAL, "b", "of both", 1), WEIR_OK);
    assert_int_equal(put_text(store, OTHER, "a", "theirs", 1), WEIR_OK);
    assert_int_equal(weir_store_purge(store, LOCAL, WR_LIT("none"), &report, NULL), WEIR_NOTFOUND);
    assert_int_equal(weir_store_purge(store, WR_LIT("no"), WR_LIT(""), &report, NULL),
                     WEIR_NOTFOUND);
    assert_int_equal(weir_store_purge(store, LOCAL, WR_LIT("a"), &report, NULL), WEIR_OK);
    assert_int_equal(report.sessions_count, 1);
    assert_int_equal(report.artifacts_count, 1);
    assert_miss(store, LOCAL, "only of a", WEIR_MISS_NEVER_STORED);
    assert_there(store, LOCAL, "of both");
    assert_int_equal(weir_store_purge(store, LOCAL, WR_LIT(""), &report, NULL), WEIR_OK);
    assert_miss(store, LOCAL, "of both", WEIR_MISS_NEVER_STORED);
    assert_there(store, OTHER, "theirs");
    assert_int_equal(weir_store_purge_all(store, &report, NULL), WEIR_OK);
    assert_miss(store, OTHER, "theirs", WEIR_MISS_NEVER_STORED);
    assert_int_equal(stats_of(store).tenants_count, 0);
}

/* ---- arguments ---- */

static void an_empty_tenant_is_local(void **state)
{
    struct weir_store *store = store_of(state);
    weir_span none = {NULL, 0};
    weir_hash key = hash_of(7);
    struct weir_mark mark = {key, WEIR_MARK_STEP, WR_LIT("a step"), false};
    struct weir_pin pin = {WR_LIT("m"), hash_of(1), WR_LIT("a pin"), false};
    struct weir_pin found = {WR_LIT("m"), hash_of(1), {NULL, 0}, false};
    struct weir_batch batch = {
        .session = WR_LIT("s"), .marks = &mark, .marks_count = 1, .pins = &pin, .pins_count = 1};
    struct weir_gc_report report;

    assert_int_equal(put_text(store, none, "s", "one", 1), WEIR_OK);
    assert_int_equal(put_text(store, OTHER, "s", "theirs", 1), WEIR_OK);
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    assert_there(store, none, "one");
    assert_there(store, LOCAL, "one");
    assert_miss(store, OTHER, "one", WEIR_MISS_OTHER_TENANT);
    assert_has(store, none, "ynnnn");
    assert_marks(store, none, &key, 1, "0 step=a step;");
    assert_marks(store, LOCAL, &key, 1, "0 step=a step;");
    assert_int_equal(weir_store_pin(store, none, WR_LIT("s"), &found, NULL), WEIR_OK);
    assert_true(wr_span_is(found.value, "a pin"));
    assert_int_equal(weir_store_touch(store, none, WR_LIT("s"), 500, NULL), WEIR_OK);
    assert_int_equal(stats_of(store).newest_used_ms, 500);
    /* All of "local", and not all of everybody. */
    assert_int_equal(weir_store_purge(store, none, none, &report, NULL), WEIR_OK);
    assert_miss(store, LOCAL, "one", WEIR_MISS_NEVER_STORED);
    assert_there(store, OTHER, "theirs");
}

static void wrong_arguments_are_refused(void **state)
{
    struct weir_store *store = store_of(state);
    static char zeroes[WR_STORE_PIN_BYTES_MAX + 1];
    struct weir_mark mark = {hash_of(1), WEIR_MARK_STEP, {zeroes, 0}, false};
    struct weir_pin pin = {WR_LIT("m"), hash_of(1), {zeroes, 0}, false};
    struct weir_batch batch = {
        .tenant = LOCAL, .session = WR_LIT("s"), .marks = &mark, .marks_count = 1};
    struct weir_gc_options negative = {.retention_ms = -1};
    struct weir_gc_report report;

    mark.value.len = WR_STORE_MARK_BYTES_MAX + 1;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_LIMIT);
    mark.value.len = WR_STORE_MARK_BYTES_MAX;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    mark.kind = WEIR_MARK_KINDS_COUNT;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_INVALID);
    batch.marks_count = 0;
    batch.pins = &pin;
    batch.pins_count = 1;
    pin.value.len = WR_STORE_PIN_BYTES_MAX + 1;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_LIMIT);
    pin.value.len = WR_STORE_PIN_BYTES_MAX;
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_OK);
    batch.session = WR_LIT("");
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_INVALID);
    batch.session = (weir_span){zeroes, 1};
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_INVALID);
    batch.session = (weir_span){zeroes, WR_STORE_NAME_BYTES_MAX + 1};
    assert_int_equal(weir_store_commit(store, &batch, NULL), WEIR_LIMIT);
    assert_int_equal(weir_store_gc(store, &negative, &report, NULL), WEIR_INVALID);
}

static weir_status fail_to_say(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                               size_t hashes_count, bool *is_there, struct weir_err *err)
{
    (void)store, (void)tenant, (void)hashes, (void)err;
    memset(is_there, true, hashes_count * sizeof(*is_there));
    return WEIR_IO;
}

static void what_a_host_fails_to_say_is_not_there(void **state)
{
    static const struct weir_store_ops ops = {.struct_bytes = sizeof(ops), .has = fail_to_say};
    struct weir_store host = {.ops = &ops};
    weir_hash hashes[2] = {hash_of(1), hash_of(2)};
    bool is_there[2] = {true, true};
    (void)state;

    assert_int_equal(weir_store_has(&host, LOCAL, hashes, 2, is_there, NULL), WEIR_IO);
    assert_false(is_there[0] || is_there[1]);
}

static void names_are_said(void **state)
{
    (void)state;
    assert_string_equal(weir_mark_kind_name(WEIR_MARK_WINDOW), "window");
    assert_string_equal(weir_mark_kind_name((weir_mark_kind)99), "unknown");
    assert_string_equal(weir_miss_text(WEIR_MISS_NEVER_STORED), "never stored");
    assert_string_equal(weir_trouble_text(WEIR_TROUBLE_MISSING), "there is no store");
    weir_store_close(NULL);
}

#define ALL(test)                                                   \
    {#test " (memory)", test, open_memory, close_store, NULL},      \
        {#test " (disk)", test, open_disk, close_store, NULL},      \
    {                                                               \
#test " (postgres)", test, open_postgres, close_store, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALL(a_text_comes_back_by_its_handle),
        ALL(a_miss_names_the_handle_and_why),
        ALL(any_bytes_come_back),
        ALL(a_text_is_stored_once),
        ALL(nobody_gets_what_another_tenant_stored),
        ALL(an_empty_tenant_is_local),
        ALL(another_text_with_the_same_handle_is_refused),
        ALL(what_does_not_fit_its_hash_is_corrupt),
        ALL(what_is_stored_is_said_of_many_at_once),
        ALL(marks_are_found_by_key_in_order),
        ALL(marks_of_a_long_chain_are_all_found),
        ALL(a_search_for_marks_can_be_stopped),
        ALL(a_mark_does_not_change_unless_told),
        ALL(pins_are_by_session_model_and_first_turn),
        ALL(a_batch_is_kept_whole_or_not_at_all),
        ALL(old_sessions_go_with_what_only_they_hold),
        ALL(a_session_in_use_never_goes),
        ALL(marks_and_pins_of_a_live_session_never_go),
        ALL(over_the_cap_the_least_recently_used_go),
        ALL(a_clock_that_jumped_keeps_nothing_for_ever),
        ALL(purged_is_gone_without_a_trace),
        ALL(wrong_arguments_are_refused),
        cmocka_unit_test(what_a_host_fails_to_say_is_not_there),
        cmocka_unit_test(names_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
