/* Any method with any bytes: the answer is JSON that a strict reader takes, it is an error just
 * where the status is one, and what is not projected is answered alike when asked again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"
#include "weir/call.h"

static void check(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_json(const char *answer, weir_status status)
{
    struct wr_arena arena;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    check(!wr_json_parse(&doc, &arena, wr_span_of(answer), NULL, NULL));
    check((wr_json_find(&doc, 0, "error") != WR_JSON_NONE) == (status != WEIR_OK));
    wr_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const methods[] = {"count", "condense", "models", "recall", "project", "?"};
    enum { METHODS = WR_COUNT_OF(methods), PROJECT = 4 };
    static struct weir_engine *engine;
    struct weir_store *store;
    char *answer, *again;

    if (!size)
        return 0;
    if (!engine)
        check(!weir_engine_new(&engine, NULL));
    check(!weir_store_new_memory(0, &store));
    size_t method = data[0] % METHODS;
    const char *json = (const char *)data + 1;
    weir_status status = weir_call(engine, store, methods[method], json, size - 1, &answer, NULL);
    check(answer != NULL);
    check_json(answer, status);
    check(weir_call(engine, store, methods[method], json, size - 1, &again, NULL) == status);
    check(method == PROJECT || !strcmp(answer, again));
    weir_call_free(answer);
    weir_call_free(again);
    weir_store_close(store);
    return 0;
}
