/* The Node addon: engines, stores and sessions as handles, and calls as promises.
 *
 * A call is made of strings and one buffer. It is copied out of JavaScript, carried out on one of
 * libuv's threads while the event loop goes on, and its promise is resolved with what the library
 * said: {status, json, bytes}. lib/index.cjs makes errors and objects of that, so that this file
 * knows no method.
 *
 * The buffer is copied too, because a caller can write to it while a thread reads, or hand its
 * memory to a worker; to hold a reference prevents neither. The copy's memory stays with the handle
 * for the next call, so that its pages are not asked of the system each time.
 *
 * What the library gives back becomes the memory of a buffer, freed when V8 collects that. Some MB
 * of it are freed at once then, and malloc would give them back to the system, to take them from it
 * again page by page in the next calls: half of what a call with a large answer cost. So it is told
 * to keep some (keep_freed_memory).
 *
 *     call() ──▶ queued ──▶ run_work (a thread) ──▶ end_work (JavaScript's thread) ──▶ promise
 *
 * The library's objects are used by one thread at a time, so a handle has a mutex. Everything else
 * of a handle belongs to JavaScript's thread: `is_closed`, and `uses_count`, which says how many
 * calls are under way. A handle that is closed takes no new calls, and is freed with the last one.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAPI_VERSION 8
#include <node_api.h>

#include "weir/weir.h"

enum handle_kind { HANDLE_ENGINE, HANDLE_STORE, HANDLE_SESSION };

struct handle {
    enum handle_kind kind;
    void *object; /* of the library's; NULL: freed, or not open yet */
    pthread_mutex_t mutex;
    struct handle *store; /* of a session: borrowed by it, so held */
    char *spare;          /* the copy of an earlier call's buffer, for the next one; or NULL */
    size_t spare_bytes;
    size_t uses_count; /* calls under way, sessions that hold it, JavaScript itself */
    bool is_closed;
};

enum {
    METHOD_BYTES_MAX = 32,
    SPARE_BYTES_MAX = 4 * 1024 * 1024, /* that a handle keeps */
    KEPT_BYTES_MAX = 8 * 1024 * 1024,  /* malloc keeps up to twice that of what is freed */
};

struct work {
    napi_async_work task;
    napi_deferred deferred;
    struct handle *handle, *store;
    bool opens; /* a session is to be opened in `handle` */
    char method[METHOD_BYTES_MAX];
    char *json;
    size_t json_bytes;
    char *bytes; /* a copy of the buffer, with room for `room_bytes`; NULL: there was none */
    size_t bytes_count, room_bytes;
    struct weir_called called;
    weir_status status;
};

/* ---- handles ---- */

/* Nobody is inside it. Closing a session writes to its store, which others may be inside. */
static void free_object(struct handle *handle)
{
    if (handle->store)
        pthread_mutex_lock(&handle->store->mutex);
    if (handle->kind == HANDLE_ENGINE)
        weir_engine_free(handle->object);
    else if (handle->kind == HANDLE_STORE)
        weir_store_close(handle->object);
    else
        weir_session_close(handle->object);
    if (handle->store)
        pthread_mutex_unlock(&handle->store->mutex);
    handle->object = NULL;
}

static void drop_handle(struct handle *handle)
{
    if (!handle || --handle->uses_count)
        return;
    free_object(handle);
    drop_handle(handle->store);
    free(handle->spare);
    pthread_mutex_destroy(&handle->mutex);
    free(handle);
}

/* Frees what is closed as soon as nobody is inside it: JavaScript's own use is one. */
static void free_if_idle(struct handle *handle)
{
    if (handle->is_closed && handle->uses_count == 1)
        free_object(handle);
}

static struct handle *new_handle(enum handle_kind kind)
{
    struct handle *handle = calloc(1, sizeof(*handle));
    if (handle && pthread_mutex_init(&handle->mutex, NULL)) {
        free(handle);
        handle = NULL;
    }
    if (handle) {
        handle->kind = kind;
        handle->uses_count = 1;
    }
    return handle;
}

static void finalize_handle(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    drop_handle(data);
}

static napi_value wrap_handle(napi_env env, struct handle *handle)
{
    napi_value value;
    if (napi_create_external(env, handle, finalize_handle, NULL, &value) != napi_ok) {
        drop_handle(handle);
        return NULL;
    }
    return value;
}

static struct handle *read_handle(napi_env env, napi_value value)
{
    napi_valuetype type;
    void *data = NULL;
    if (napi_typeof(env, value, &type) == napi_ok && type == napi_external)
        (void)napi_get_value_external(env, value, &data);
    return data;
}

/* NULL too where there is none. The library would take any pointer for a store's. */
static bool read_store(napi_env env, napi_value value, struct handle **store)
{
    *store = read_handle(env, value);
    return !*store || (*store)->kind == HANDLE_STORE;
}

/* ---- values ---- */

/* A copy that the caller frees; NULL where it is no string, or there is no memory. */
static char *read_string(napi_env env, napi_value value, size_t *bytes)
{
    char *text = NULL;
    if (napi_get_value_string_utf8(env, value, NULL, 0, bytes) != napi_ok)
        return NULL;
    text = malloc(*bytes + 1);
    if (text && napi_get_value_string_utf8(env, value, text, *bytes + 1, bytes) != napi_ok) {
        free(text);
        text = NULL;
    }
    return text;
}

static napi_value throw_status(napi_env env, weir_status status, const struct weir_err *err)
{
    (void)napi_throw_error(env, NULL, err && err->text[0] ? err->text : weir_status_text(status));
    return NULL;
}

/* ---- work ---- */

static void lock_store(struct work *work, bool is_locked)
{
    struct handle *store = work->store ? work->store : work->handle->store;
    if (!store)
        return;
    if (is_locked)
        pthread_mutex_lock(&store->mutex);
    else
        pthread_mutex_unlock(&store->mutex);
}

static void run_work(napi_env env, void *data)
{
    struct work *work = data;
    struct handle *handle = work->handle;
    struct weir_store *store = work->store ? work->store->object : NULL;

    (void)env;
    pthread_mutex_lock(&handle->mutex);
    lock_store(work, true);
    if (work->opens)
        work->status =
            weir_session_call_open(store, work->json, work->json_bytes,
                                   (struct weir_session **)&handle->object, &work->called, NULL);
    else if (handle->kind == HANDLE_SESSION)
        work->status = weir_session_call(handle->object, work->method, work->json, work->json_bytes,
                                         work->bytes, work->bytes_count, &work->called, NULL);
    else
        work->status =
            weir_call_bytes(handle->object, store, work->method, work->json, work->json_bytes,
                            work->bytes, work->bytes_count, &work->called, NULL);
    lock_store(work, false);
    pthread_mutex_unlock(&handle->mutex);
}

static void free_owned(napi_env env, void *data, void *owned)
{
    struct weir_called called = {.owned = owned};
    (void)env;
    (void)data;
    weir_called_release(&called);
}

/* What the library wrote becomes the buffer's memory, freed with it. Copied where that is not to be
 * had: an Electron may refuse memory that is not V8's, and what is empty needs no owner. */
static napi_status make_buffer(napi_env env, struct weir_called *called, napi_value *buffer)
{
    char *bytes = (char *)called->bytes.ptr;
    void *copy;

    if (called->bytes.len && napi_create_external_buffer(env, called->bytes.len, bytes, free_owned,
                                                         called->owned, buffer) == napi_ok) {
        called->owned = NULL;
        return napi_ok;
    }
    return napi_create_buffer_copy(env, called->bytes.len, bytes, &copy, buffer);
}

static napi_value make_result(napi_env env, struct work *work)
{
    napi_value result, status, json, bytes;

    if (napi_create_object(env, &result) != napi_ok ||
        napi_create_int32(env, (int32_t)work->status, &status) != napi_ok ||
        napi_create_string_utf8(env, work->called.json ? work->called.json : "",
                                work->called.json_bytes, &json) != napi_ok)
        return NULL;
    if (!work->called.owned)
        (void)napi_get_null(env, &bytes);
    else if (make_buffer(env, &work->called, &bytes) != napi_ok)
        return NULL;
    if (napi_set_named_property(env, result, "status", status) != napi_ok ||
        napi_set_named_property(env, result, "json", json) != napi_ok ||
        napi_set_named_property(env, result, "bytes", bytes) != napi_ok)
        return NULL;
    return result;
}

static void free_work(napi_env env, struct work *work)
{
    if (work->task)
        (void)napi_delete_async_work(env, work->task);
    weir_called_release(&work->called);
    if (work->handle && !work->handle->spare && work->room_bytes <= SPARE_BYTES_MAX) {
        work->handle->spare = work->bytes;
        work->handle->spare_bytes = work->room_bytes;
    } else {
        free(work->bytes);
    }
    free(work->json);
    free(work);
}

static void end_use(struct handle *handle)
{
    if (!handle)
        return;
    bool is_last = handle->uses_count == 1; /* JavaScript has let it go meanwhile */
    drop_handle(handle);
    if (!is_last)
        free_if_idle(handle);
}

static void end_work(napi_env env, napi_status ended, void *data)
{
    struct work *work = data;
    napi_value result = ended == napi_ok ? make_result(env, work) : NULL;

    if (result) {
        (void)napi_resolve_deferred(env, work->deferred, result);
    } else {
        napi_value text, error;
        (void)napi_create_string_utf8(env, "the call was cancelled", NAPI_AUTO_LENGTH, &text);
        (void)napi_create_error(env, NULL, text, &error);
        (void)napi_reject_deferred(env, work->deferred, error);
    }
    struct handle *handle = work->handle, *store = work->store;
    free_work(env, work);
    end_use(handle);
    end_use(store);
}

/* The promise, or NULL with an exception. The handles are in use until end_work(). */
static napi_value queue_work(napi_env env, struct work *work)
{
    napi_value name, promise = NULL;

    work->handle->uses_count++;
    if (work->store)
        work->store->uses_count++;
    if (napi_create_string_utf8(env, "weir", NAPI_AUTO_LENGTH, &name) == napi_ok &&
        napi_create_promise(env, &work->deferred, &promise) == napi_ok &&
        napi_create_async_work(env, NULL, name, run_work, end_work, work, &work->task) == napi_ok &&
        napi_queue_async_work(env, work->task) == napi_ok)
        return promise;
    struct handle *handle = work->handle, *store = work->store;
    free_work(env, work);
    end_use(handle);
    end_use(store);
    (void)napi_throw_error(env, NULL, "the call could not be queued");
    return NULL;
}

static bool read_buffer(napi_env env, napi_value value, struct work *work)
{
    bool is_buffer = false;
    void *bytes = NULL;

    if (napi_is_buffer(env, value, &is_buffer) != napi_ok || !is_buffer)
        return true;
    if (napi_get_buffer_info(env, value, &bytes, &work->bytes_count) != napi_ok)
        return false;
    work->bytes = work->handle->spare;
    work->room_bytes = work->handle->spare_bytes;
    work->handle->spare = NULL;
    if (!work->bytes || work->room_bytes < work->bytes_count) {
        free(work->bytes);
        work->room_bytes = work->bytes_count;
        work->bytes = malloc(work->room_bytes + 1); /* an empty buffer is a text all the same */
    }
    if (work->bytes && work->bytes_count)
        memcpy(work->bytes, bytes, work->bytes_count);
    return work->bytes;
}

static bool is_usable(const struct handle *handle)
{
    return handle && handle->object && !handle->is_closed;
}

/* call(handle, store, method, json, bytes): of an engine, or with `store` null of a session. */
static napi_value js_call(napi_env env, napi_callback_info info)
{
    size_t count = 5, method_bytes;
    napi_value arguments[5];
    struct work *work;

    if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != 5)
        return throw_status(env, WEIR_INVALID, NULL);
    struct handle *handle = read_handle(env, arguments[0]), *store;
    if (!read_store(env, arguments[1], &store) || (handle && handle->kind == HANDLE_STORE))
        return throw_status(env, WEIR_INVALID, NULL);
    if (!is_usable(handle) || (store && !is_usable(store)) ||
        (handle->store && !is_usable(handle->store))) {
        (void)napi_throw_error(env, NULL,
                               is_usable(handle) ? "the store is closed" : "it is closed");
        return NULL;
    }
    work = calloc(1, sizeof(*work));
    if (!work)
        return throw_status(env, WEIR_NOMEM, NULL);
    work->handle = handle;
    work->store = store;
    work->json = read_string(env, arguments[3], &work->json_bytes);
    if (!work->json ||
        napi_get_value_string_utf8(env, arguments[2], work->method, sizeof(work->method),
                                   &method_bytes) != napi_ok ||
        !read_buffer(env, arguments[4], work)) {
        free_work(env, work);
        return throw_status(env, WEIR_INVALID, NULL);
    }
    return queue_work(env, work);
}

/* openSession(store, json): [handle, promise]. */
static napi_value js_open_session(napi_env env, napi_callback_info info)
{
    size_t count = 2;
    napi_value arguments[2], pair, value, promise;

    if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != 2)
        return throw_status(env, WEIR_INVALID, NULL);
    struct handle *store, *handle;
    if (!read_store(env, arguments[0], &store))
        return throw_status(env, WEIR_INVALID, NULL);
    struct work *work = calloc(1, sizeof(*work));
    handle = new_handle(HANDLE_SESSION);
    if (!handle || !work || (store && !is_usable(store))) {
        drop_handle(handle);
        free(work);
        return throw_status(env, store && !is_usable(store) ? WEIR_INVALID : WEIR_NOMEM, NULL);
    }
    handle->store = store;
    if (store)
        store->uses_count++;
    work->store = store;
    work->opens = true;
    value = wrap_handle(env, handle);
    work->handle = value ? handle : NULL; /* it is freed where it could not be wrapped */
    work->json = read_string(env, arguments[1], &work->json_bytes);
    if (!value || !work->json) {
        free_work(env, work);
        return throw_status(env, WEIR_INVALID, NULL);
    }
    promise = queue_work(env, work);
    if (!promise || napi_create_array_with_length(env, 2, &pair) != napi_ok ||
        napi_set_element(env, pair, 0, value) != napi_ok ||
        napi_set_element(env, pair, 1, promise) != napi_ok)
        return NULL;
    return pair;
}

/* ---- what does not wait ---- */

/* newEngine(policies, models): texts, or null. */
static napi_value js_new_engine(napi_env env, napi_callback_info info)
{
    size_t count = 2;
    napi_value arguments[2];
    struct weir_err err = {.code = WEIR_OK};
    struct weir_engine *engine = NULL;
    struct handle *handle = new_handle(HANDLE_ENGINE);

    if (!handle || napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok) {
        drop_handle(handle);
        return throw_status(env, WEIR_NOMEM, NULL);
    }
    weir_status status = weir_engine_new(&engine, &err);
    for (size_t i = 0; i < count && !status; i++) {
        size_t bytes = 0;
        char *yaml = read_string(env, arguments[i], &bytes);
        weir_span text = {yaml, bytes};
        if (yaml)
            status = i ? weir_engine_load_models(engine, text, &err)
                       : weir_engine_load_policies(engine, text, &err);
        free(yaml);
    }
    handle->object = engine;
    if (status) {
        drop_handle(handle);
        return throw_status(env, status, &err);
    }
    return wrap_handle(env, handle);
}

/* newStore(path, mustExist): a path, or null for memory. */
static napi_value js_new_store(napi_env env, napi_callback_info info)
{
    size_t count = 2, bytes = 0;
    napi_value arguments[2];
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;
    struct weir_err err = {.code = WEIR_OK};
    struct weir_store *store = NULL;
    struct handle *handle = new_handle(HANDLE_STORE);

    if (!handle || napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok) {
        drop_handle(handle);
        return throw_status(env, WEIR_NOMEM, NULL);
    }
    (void)napi_get_value_bool(env, arguments[1], &options.must_exist);
    char *path = read_string(env, arguments[0], &bytes);
    weir_status status = path ? weir_store_open(path, &options, &store, NULL, &err)
                              : weir_store_new_memory(0, &store);
    free(path);
    handle->object = store;
    if (status) {
        drop_handle(handle);
        return throw_status(env, status, &err);
    }
    return wrap_handle(env, handle);
}

static napi_value js_close(napi_env env, napi_callback_info info)
{
    size_t count = 1;
    napi_value arguments[1];

    if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok)
        return NULL;
    struct handle *handle = read_handle(env, arguments[0]);
    if (handle) {
        handle->is_closed = true;
        free_if_idle(handle);
    }
    return NULL;
}

static napi_value js_version(napi_env env, napi_callback_info info)
{
    napi_value version = NULL;
    (void)info;
    (void)napi_create_string_utf8(env, weir_version(), NAPI_AUTO_LENGTH, &version);
    return version;
}

/* glibc takes the largest block that was freed for a size that comes and goes: smaller ones are not
 * asked of the system one by one from then on, and twice that much is kept. As after any program
 * that once had a block of that size; mallopt() would end its looking for good. */
static void keep_freed_memory(void)
{
    void *volatile block = malloc(KEPT_BYTES_MAX);
    free(block);
}

NAPI_MODULE_INIT()
{
    static const struct {
        const char *name;
        napi_callback function;
    } functions[] = {{"call", js_call},
                     {"openSession", js_open_session},
                     {"newEngine", js_new_engine},
                     {"newStore", js_new_store},
                     {"close", js_close},
                     {"version", js_version}};
    keep_freed_memory();
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        napi_value value;
        if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function,
                                 NULL, &value) != napi_ok ||
            napi_set_named_property(env, exports, functions[i].name, value) != napi_ok)
            return NULL;
    }
    return exports;
}
