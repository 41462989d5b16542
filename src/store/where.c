#include "store/where.h"

#include <string.h>

#include "base/err.h"
#include "base/os.h"
#include "base/span.h"
#include "store/pg.h"
#include "store/sqlite.h"

/* The length of `scheme` in "scheme://...", 0 where there is none. */
static size_t scheme_bytes(const char *store)
{
    size_t bytes =
        strspn(store, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return bytes && !strncmp(store + bytes, "://", 3) ? bytes : 0;
}

enum wr_where wr_where(const char *store)
{
    weir_span scheme = {store, scheme_bytes(store)};

    if (!scheme.len)
        return WR_WHERE_DIRECTORY;
    if (wr_span_is(scheme, "postgresql") || wr_span_is(scheme, "postgres"))
        return WR_WHERE_POSTGRES;
    return WR_WHERE_UNKNOWN;
}

/* Where the '@' is that ends a name and password; NULL: there is none. libpq takes all before the
 * first '/' for them, a '?' too; whoever wrote a '/' or a second '@' in a password meant one behind
 * that, and is not shown it either. */
static const char *find_sign(const char *at)
{
    const char *sign = wr_os_last_byte(at, '@', strcspn(at, "/"));
    return sign ? sign : wr_os_last_byte(at, '@', strcspn(at, "?"));
}

/* postgresql://user:password@host/..., and password=... among what follows the question mark. */
const char *wr_where_shown(const char *store, char shown[WR_WHERE_SHOWN_BYTES])
{
    static const char word[] = "password=";
    size_t scheme = scheme_bytes(store);
    const char *at = store + scheme + strlen("://"), *sign = NULL, *colon = NULL, *found;
    int before = 0, len = 0;

    if (scheme) {
        sign = find_sign(at);
        colon = sign ? memchr(at, ':', (size_t)(sign - at)) : NULL;
    }
    before = colon ? (int)(colon - store) : 0;
    len = snprintf(shown, WR_WHERE_SHOWN_BYTES, "%.*s%s", before, store, colon ? sign : store);
    while (scheme && len > 0 && (found = strstr(shown, word)) != NULL) {
        char *value = shown + (found - shown) + sizeof(word) - 1;
        size_t value_bytes = strcspn(value, "&");
        memmove(shown + (found - shown), value + value_bytes, strlen(value + value_bytes) + 1);
    }
    return shown;
}

static weir_status refuse_scheme(const char *store, weir_trouble *trouble, struct weir_err *err)
{
    if (trouble)
        *trouble = WEIR_TROUBLE_FOREIGN;
    return wr_fail(err, WEIR_INVALID, 0,
                   "a store is a directory or postgresql://...; there is no '%.*s://'",
                   (int)(scheme_bytes(store) & 0xFF), store);
}

weir_status weir_store_open(const char *dir, const struct weir_store_options *options,
                            struct weir_store **store, weir_trouble *trouble, struct weir_err *err)
{
    *store = NULL;
    switch (wr_where(dir)) {
    case WR_WHERE_POSTGRES:
        return wr_pg_open(dir, options, store, trouble, err);
    case WR_WHERE_UNKNOWN:
        return refuse_scheme(dir, trouble, err);
    case WR_WHERE_DIRECTORY:
        break;
    }
    return wr_sqlite_open_dir(dir, options, wr_sqlite_commit_pages, store, trouble, err);
}

weir_status wr_ledger_open(const char *dir, const struct weir_store_options *options,
                           struct wr_ledger **ledger, weir_trouble *trouble, struct weir_err *err)
{
    *ledger = NULL;
    switch (wr_where(dir)) {
    case WR_WHERE_POSTGRES:
        return wr_pg_ledger_open(dir, options, ledger, trouble, err);
    case WR_WHERE_UNKNOWN:
        return refuse_scheme(dir, trouble, err);
    case WR_WHERE_DIRECTORY:
        break;
    }
    return wr_sqlite_ledger_open(dir, options, ledger, trouble, err);
}
