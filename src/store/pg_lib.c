#include "store/pg_lib.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/err.h"
#include "base/span.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct wr_pq functions;
static const char *failure; /* NULL: all are there */

/* A symbol is an object to dlsym() and a function to us, which ISO C does not convert. */
static bool take_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof(symbol));
    return symbol;
}

static void load(void)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        failure = "libpq.so.5 is not installed (Debian: libpq5)";
        return;
    }
#define X(name)                                             \
    if (!take_symbol(library, "PQ" #name, &functions.name)) \
        failure = "this libpq has no PQ" #name ": 14 or newer is needed";
    WR_PQ_MAP(X)
#undef X
}

const struct wr_pq *wr_pq_load(struct weir_err *err)
{
    (void)pthread_once(&once, load);
    if (!failure)
        return &functions;
    (void)wr_fail(err, WEIR_IO, 0, "%s", failure);
    return NULL;
}
