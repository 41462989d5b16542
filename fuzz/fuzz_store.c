/* Oracle: the store, in a file and in memory, does what a plain model of it does
 * (store_model.h), call by call, and what was put comes back: get(put(x)) = x. The input is a
 * program of small calls. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "fuzz/store_model.h"
#include "tests/test_dir.h"
#include "weir/recall.h"

enum { CALLS_MAX = 64, TEXT_BYTES_MAX = 512 };

struct input {
    const uint8_t *bytes;
    size_t len;
};

struct pair {
    struct weir_store *store, *model;
    struct wr_buf text; /* what the texts of a call are made in */
};

static uint8_t take(struct input *input)
{
    if (!input->len)
        return 0;
    input->len--;
    return *input->bytes++;
}

/* Times that are further apart than those between which a store does not write them again. */
static int64_t take_ms(struct input *input)
{
    return (int64_t)take(input) * WR_STORE_TOUCH_MS;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* ---- arguments: few different ones, so that calls meet ---- */

static weir_span tenant_of(uint8_t byte)
{
    return byte & 1 ? WR_LIT("local") : WR_LIT("other");
}

static weir_span session_of(uint8_t byte)
{
    static const char *const names[] = {"a", "b", "c", "a longer name"};
    return wr_span_of(names[byte / 2 % 4]);
}

static weir_hash key_of(uint8_t byte)
{
    weir_hash key;
    memset(&key, byte % 8, sizeof(key));
    return key;
}

static weir_span value_of(uint8_t byte)
{
    return wr_span_cut(WR_LIT("value"), 0, byte % 6);
}

/* Short texts repeat often; longer ones are long enough to be compressed. */
static weir_span text_of(struct input *input, char text[TEXT_BYTES_MAX])
{
    uint8_t shape = take(input);
    size_t len = shape % 4 ? shape % 8 : (size_t)(shape * 2);
    char fill = (char)take(input);
    for (size_t i = 0; i < len; i++)
        text[i] = shape & 16 ? (char)(fill + (int)(i * i)) : fill;
    return (weir_span){text, len};
}

/* ---- calls ---- */

static void compare_texts(struct pair *pair, weir_span tenant, weir_handle handle)
{
    for (int is_operator = 0; is_operator < 2; is_operator++) {
        struct weir_lookup lookup = {tenant, handle, is_operator};
        struct weir_artifact a, b;
        weir_miss miss_a, miss_b;
        weir_status status_a = weir_store_get(pair->store, &lookup, &a, &miss_a, NULL);
        weir_status status_b = weir_store_get(pair->model, &lookup, &b, &miss_b, NULL);
        check(status_a == status_b && miss_a == miss_b && wr_span_eq(a.text, b.text));
        check(status_a == WEIR_OK || status_a == WEIR_NOTFOUND);
        check(miss_a != WEIR_MISS_CORRUPT);
    }
}

static void compare_presence(struct pair *pair, weir_span tenant, const weir_hash *hash)
{
    struct weir_lookup lookup = {tenant, weir_hash_handle(hash), false};
    struct weir_artifact found;
    bool in_store, in_model;
    check(!weir_store_has(pair->store, tenant, hash, 1, &in_store, NULL));
    check(!weir_store_has(pair->model, tenant, hash, 1, &in_model, NULL));
    check(in_store == in_model);
    check(in_store == !weir_store_get(pair->store, &lookup, &found, NULL, NULL));
}

static void call_commit(struct pair *pair, struct input *input)
{
    char texts[2][TEXT_BYTES_MAX];
    struct weir_artifact for_store[2], for_model[2];
    struct weir_mark marks[2];
    struct weir_pin pins[2];
    uint8_t who = take(input), counts = take(input);
    struct weir_batch batch = {.tenant = tenant_of(who), .session = session_of(who)};

    batch.used_ms = take_ms(input);
    batch.artifacts_count = counts % 3;
    batch.marks_count = counts / 4 % 3;
    batch.pins_count = counts / 16 % 3;
    for (size_t i = 0; i < batch.artifacts_count; i++)
        for_store[i] = for_model[i] = (struct weir_artifact){.text = text_of(input, texts[i])};
    for (size_t i = 0; i < batch.marks_count; i++) {
        uint8_t kind = take(input), key = take(input);
        marks[i] = (struct weir_mark){key_of(key), (weir_mark_kind)(kind % 4), value_of(key / 8),
                                      kind & 128};
    }
    for (size_t i = 0; i < batch.pins_count; i++) {
        uint8_t model = take(input), key = take(input);
        pins[i] = (struct weir_pin){model & 1 ? WR_LIT("m") : WR_LIT("n"), key_of(key),
                                    value_of(key / 8), model & 128};
    }
    batch.marks = marks;
    batch.pins = pins;
    batch.artifacts = for_store;
    weir_status status = weir_store_commit(pair->store, &batch, NULL);
    batch.artifacts = for_model;
    check(weir_store_commit(pair->model, &batch, NULL) == status);
    check(weir_store_trouble(pair->store) == weir_store_trouble(pair->model));
    for (size_t i = 0; i < batch.artifacts_count; i++) {
        struct weir_lookup lookup = {batch.tenant, weir_hash_handle(&for_store[i].hash), false};
        struct weir_artifact found;
        compare_texts(pair, batch.tenant, lookup.handle);
        compare_presence(pair, batch.tenant, &for_store[i].hash);
        if (!status)
            check(!weir_store_get(pair->store, &lookup, &found, NULL, NULL) &&
                  wr_span_eq(found.text, for_store[i].text));
    }
}

static void call_get(struct pair *pair, struct input *input)
{
    char text[TEXT_BYTES_MAX];
    weir_span tenant = tenant_of(take(input));
    weir_handle handle;
    check(!weir_handle_of(text_of(input, text), &handle));
    compare_texts(pair, tenant, handle);
}

static weir_status list_mark(void *user, size_t key_index, const struct weir_mark *mark)
{
    wr_buf_printf(user, "%zu %d %.*s;", key_index, (int)mark->kind, (int)mark->value.len,
                  mark->value.ptr);
    return WEIR_OK;
}

static void call_marks(struct pair *pair, struct input *input)
{
    weir_span tenant = tenant_of(take(input));
    weir_hash keys[3] = {key_of(take(input)), key_of(take(input)), key_of(take(input))};
    struct wr_buf a, b;
    wr_buf_init(&a, 4096);
    wr_buf_init(&b, 4096);
    check(!weir_store_marks(pair->store, tenant, keys, 3, list_mark, &a, NULL));
    check(!weir_store_marks(pair->model, tenant, keys, 3, list_mark, &b, NULL));
    check(wr_span_eq(wr_buf_view(&a), wr_buf_view(&b)));
    wr_buf_release(&a);
    wr_buf_release(&b);
}

static void call_pin(struct pair *pair, struct input *input)
{
    uint8_t who = take(input), key = take(input);
    struct weir_pin a = {.model = who & 64 ? WR_LIT("m") : WR_LIT("n"), .first_turn = key_of(key)};
    struct weir_pin b = a;
    weir_status status = weir_store_pin(pair->store, tenant_of(who), session_of(who), &a, NULL);
    check(weir_store_pin(pair->model, tenant_of(who), session_of(who), &b, NULL) == status);
    check(wr_span_eq(a.value, b.value));
}

static void call_touch(struct pair *pair, struct input *input)
{
    uint8_t who = take(input);
    int64_t used_ms = take_ms(input);
    check(!weir_store_touch(pair->store, tenant_of(who), session_of(who), used_ms, NULL));
    check(!weir_store_touch(pair->model, tenant_of(who), session_of(who), used_ms, NULL));
}

static void check_reports(const struct weir_gc_report *a, const struct weir_gc_report *b)
{
    check(a->sessions_count == b->sessions_count && a->artifacts_count == b->artifacts_count);
    check(a->marks_count == b->marks_count && a->pins_count == b->pins_count);
    check(a->is_over == b->is_over);
}

/* They differ in what a text takes, so the cap is one that hardly anything is under. */
static void call_gc(struct pair *pair, struct input *input)
{
    struct weir_gc_options options = {.now_ms = take_ms(input), .retention_ms = take_ms(input)};
    struct weir_gc_report a, b;
    uint8_t live = take(input);
    options.live_ms = (int64_t)live * WR_STORE_TOUCH_MS;
    options.stored_bytes_max = live & 1;
    check(!weir_store_gc(pair->store, &options, &a, NULL));
    check(!weir_store_gc(pair->model, &options, &b, NULL));
    check_reports(&a, &b);
}

static void call_purge(struct pair *pair, struct input *input)
{
    uint8_t who = take(input);
    struct weir_gc_report a, b;
    bool is_all = !(who & 192);
    weir_span session = who & 128 ? session_of(who) : WR_LIT("");
    weir_status status = is_all ? weir_store_purge_all(pair->store, &a, NULL)
                                : weir_store_purge(pair->store, tenant_of(who), session, &a, NULL);
    check((is_all ? weir_store_purge_all(pair->model, &b, NULL)
                  : weir_store_purge(pair->model, tenant_of(who), session, &b, NULL)) == status);
    check_reports(&a, &b);
}

/* Pages of a text, put together, are the text. */
static void call_recall(struct pair *pair, struct input *input)
{
    struct weir_lines lines = {1, 0, WEIR_LINES_END};
    struct weir_recall_options options = {.lines = &lines, .page_bytes_max = 500};
    weir_span text = {(const char *)input->bytes, input->len};
    struct wr_buf all;
    size_t count = 1;

    (void)pair;
    if (!text.len)
        return;
    wr_buf_init(&all, 1 << 20);
    options.page_bytes_max += take(input);
    options.lines_count = 1;
    while (count) {
        struct weir_recalled page;
        check(!weir_recall_select(text, &options, &page, NULL));
        check(page.text.len <= options.page_bytes_max && page.content_bytes);
        wr_buf_append(&all, wr_span_cut(page.text, 0, page.content_bytes));
        if (!page.next.len)
            count = 0;
        else
            check(!weir_lines_parse(page.next, &lines, 1, &count, NULL));
        weir_recalled_release(&page);
    }
    check(wr_span_eq(wr_buf_view(&all), text));
    wr_buf_release(&all);
}

static void check_stats(struct pair *pair)
{
    struct weir_store_stats a, b;
    struct weir_verify_report report;
    check(!weir_store_stats(pair->store, &a, NULL) && !weir_store_stats(pair->model, &b, NULL));
    check(a.tenants_count == b.tenants_count && a.sessions_count == b.sessions_count);
    check(a.artifacts_count == b.artifacts_count && a.text_bytes == b.text_bytes);
    check(a.marks_count == b.marks_count && a.pins_count == b.pins_count);
    check(a.expired_count == b.expired_count);
    check(a.oldest_used_ms == b.oldest_used_ms && a.newest_used_ms == b.newest_used_ms);
    check(!weir_store_verify(pair->store, NULL, NULL, &report, NULL));
    check(!report.corrupt_count && !report.has_damage);
    check(report.artifacts_count == a.artifacts_count && report.text_bytes == a.text_bytes);
}

typedef void call_fn(struct pair *pair, struct input *input);

static call_fn *const calls[] = {call_commit, call_commit, call_commit, call_get,   call_marks,
                                 call_pin,    call_touch,  call_gc,     call_purge, call_recall};

static struct wr_test_dir dir;

static void remove_dir(void)
{
    wr_test_dir_remove(&dir);
}

/* Making them anew for every input would be all that is measured: they are emptied. */
static void open_stores(struct weir_store **disk, struct weir_store **memory)
{
    struct weir_gc_report report;
    if (!*disk) {
        dir = wr_test_dir_fast();
        (void)atexit(remove_dir);
        check(!weir_store_open(dir.path, NULL, disk, NULL, NULL));
        check(!weir_store_new_memory(0, memory));
    }
    check(!weir_store_purge_all(*disk, &report, NULL));
    check(!weir_store_purge_all(*memory, &report, NULL));
}

static void run_program(struct weir_store *store, struct input input)
{
    struct pair pair = {.store = store, .model = model_new()};

    for (int i = 0; i < CALLS_MAX && input.len; i++)
        calls[take(&input) % WR_COUNT_OF(calls)](&pair, &input);
    check_stats(&pair);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct weir_store *disk, *memory;
    struct input input = {bytes, len};

    open_stores(&disk, &memory);
    run_program(disk, input);
    run_program(memory, input);
    return 0;
}
