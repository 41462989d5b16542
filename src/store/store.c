/* What every store has in common, whoever implements it.
 *
 * Everybody above calls these functions, and they call the operations of the store at hand
 * (weir/store_host.h): the one seam between Weir and where it keeps things. So the checks are here
 * and not in each implementation: arguments on the way in (names, sizes, counts, an empty tenant),
 * SHA-256 of what is put, and on the way back again, because law L2 promises the text itself and
 * not what some store takes for it. A host that tells a tenant what another one stored is kept from
 * doing so here as well (law L7). */
#include "store/store.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "store/pg.h"
#include "store/sqlite.h"
#include "weir/store_host.h"

_Static_assert((int)WEIR_HASH_BYTES == (int)WR_SHA256_BYTES, "a hash is a SHA-256");

weir_handle weir_hash_handle(const weir_hash *hash)
{
    weir_handle handle;
    memcpy(handle.bytes, hash->bytes, WEIR_HANDLE_BYTES);
    return handle;
}

const char *weir_miss_text(weir_miss miss)
{
    switch (miss) {
#define X(name, text)      \
    case WEIR_MISS_##name: \
        return text;
        WEIR_MISS_MAP(X)
#undef X
    }
    return "unknown";
}

const char *weir_trouble_text(weir_trouble trouble)
{
    switch (trouble) {
#define X(name, text)         \
    case WEIR_TROUBLE_##name: \
        return text;
        WEIR_TROUBLE_MAP(X)
#undef X
    }
    return "unknown";
}

const char *weir_mark_kind_name(weir_mark_kind kind)
{
    static const char *const names[] = WR_NAMES_OF(WEIR_MARK_KIND_MAP);
    return (size_t)kind < WEIR_MARK_KINDS_COUNT ? names[kind] : "unknown";
}

weir_trouble weir_store_trouble(const struct weir_store *store)
{
    return store->trouble;
}

uint64_t weir_store_hash_failures(const struct weir_store *store)
{
    return store->hash_failures_count;
}

uint64_t weir_store_replacements(const struct weir_store *store)
{
    return store->replaced_count;
}

/* ---- arguments ---- */

static weir_status check_name(weir_span name, const char *what, struct weir_err *err)
{
    if (!name.len)
        return wr_fail(err, WEIR_INVALID, 0, "the %s has no name", what);
    if (name.len > WR_STORE_NAME_BYTES_MAX)
        return wr_fail(err, WEIR_LIMIT, 0, "the name of the %s has %zu bytes, %d at most", what,
                       name.len, (int)WR_STORE_NAME_BYTES_MAX);
    if (memchr(name.ptr, '\0', name.len))
        return wr_fail(err, WEIR_INVALID, 0, "a NUL byte in the name of the %s", what);
    return WEIR_OK;
}

/* A caller that knows of no tenants names none, here as in every other call. */
static weir_span tenant_or_default(weir_span tenant)
{
    return tenant.len ? tenant : WR_LIT(WEIR_TENANT_DEFAULT);
}

static weir_status check_who(weir_span tenant, weir_span session, struct weir_err *err)
{
    weir_status status = check_name(tenant, "tenant", err);
    return status ? status : check_name(session, "session", err);
}

static weir_status check_bytes(weir_span bytes, size_t bytes_max, const char *what,
                               struct weir_err *err)
{
    if (bytes.len <= bytes_max)
        return WEIR_OK;
    return wr_fail(err, WEIR_LIMIT, 0, "%s of %zu bytes, %zu at most", what, bytes.len, bytes_max);
}

static weir_status check_count(size_t count, const char *what, struct weir_err *err)
{
    if (count <= WR_STORE_BATCH_COUNT_MAX)
        return WEIR_OK;
    return wr_fail(err, WEIR_LIMIT, 0, "%zu %s in one commit, %d at most", count, what,
                   (int)WR_STORE_BATCH_COUNT_MAX);
}

static weir_status check_counts(const struct weir_batch *batch, struct weir_err *err)
{
    weir_status status = check_count(batch->artifacts_count, "artifacts", err);
    if (!status)
        status = check_count(batch->marks_count, "marks", err);
    return status ? status : check_count(batch->pins_count, "pins", err);
}

static weir_status check_marks(const struct weir_batch *batch, struct weir_err *err)
{
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < batch->marks_count && !status; i++) {
        if ((size_t)batch->marks[i].kind >= WEIR_MARK_KINDS_COUNT)
            return wr_fail(err, WEIR_INVALID, 0, "there is no mark of kind %d",
                           (int)batch->marks[i].kind);
        status = check_bytes(batch->marks[i].value, WR_STORE_MARK_BYTES_MAX, "a mark", err);
    }
    return status;
}

static weir_status check_pins(const struct weir_batch *batch, struct weir_err *err)
{
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < batch->pins_count && !status; i++) {
        status = check_name(batch->pins[i].model, "model", err);
        if (!status)
            status = check_bytes(batch->pins[i].value, WR_STORE_PIN_BYTES_MAX, "a pin", err);
    }
    return status;
}

static weir_status hash_artifacts(struct weir_batch *batch, struct weir_err *err)
{
    for (size_t i = 0; i < batch->artifacts_count; i++) {
        struct weir_artifact *artifact = &batch->artifacts[i];
        weir_status status =
            check_bytes(artifact->text, WR_STORE_ARTIFACT_BYTES_MAX, "an artifact", err);
        if (!status && wr_sha256(artifact->text, artifact->hash.bytes))
            status = wr_fail(err, WEIR_NOMEM, 0, "no memory to hash an artifact");
        if (status)
            return status;
        artifact->collides = false;
    }
    return WEIR_OK;
}

/* ---- the calls ---- */

weir_status weir_store_commit(struct weir_store *store, struct weir_batch *batch,
                              struct weir_err *err)
{
    struct weir_batch whose = *batch; /* its artifacts are the caller's, and filled in there */
    whose.tenant = tenant_or_default(batch->tenant);
    weir_status status = check_who(whose.tenant, whose.session, err);
    if (!status)
        status = check_counts(batch, err);
    if (!status)
        status = check_marks(batch, err);
    if (!status)
        status = check_pins(batch, err);
    if (!status)
        status = hash_artifacts(batch, err);
    store->trouble = WEIR_TROUBLE_NONE;
    return status ? status : store->ops->commit(store, &whose, err);
}

/* The text may come from a host's store, so its handle is checked too, not only its hash. */
static weir_status verify_artifact(const struct weir_artifact *artifact, weir_handle handle,
                                   weir_miss *miss, struct weir_err *err)
{
    unsigned char digest[WR_SHA256_BYTES];
    if (wr_sha256(artifact->text, digest))
        return wr_fail(err, WEIR_NOMEM, 0, "no memory to verify an artifact");
    if (!memcmp(digest, artifact->hash.bytes, sizeof(digest)) &&
        !memcmp(digest, handle.bytes, sizeof(handle.bytes)))
        return WEIR_OK;
    *miss = WEIR_MISS_CORRUPT;
    return WEIR_NOTFOUND;
}

weir_status weir_store_get(struct weir_store *store, const struct weir_lookup *lookup,
                           struct weir_artifact *artifact, weir_miss *miss, struct weir_err *err)
{
    weir_miss why = WEIR_MISS_NONE;
    struct weir_lookup whose = *lookup;
    whose.tenant = tenant_or_default(lookup->tenant);
    weir_status status = check_name(whose.tenant, "tenant", err);

    *artifact = (struct weir_artifact){.text = {NULL, 0}};
    store->trouble = WEIR_TROUBLE_NONE;
    if (!status)
        status = store->ops->get(store, &whose, artifact, &why, err);
    if (!status)
        status = verify_artifact(artifact, lookup->handle, &why, err);
    /* A host that tells too much is kept from doing so here. */
    if (why == WEIR_MISS_OTHER_TENANT && !lookup->is_operator)
        why = WEIR_MISS_NEVER_STORED;
    if (status)
        *artifact = (struct weir_artifact){.text = {NULL, 0}};
    if (status == WEIR_NOTFOUND) {
        char handle[WEIR_HANDLE_TEXT_BYTES + 1];
        weir_handle_format(lookup->handle, handle);
        (void)wr_fail(err, WEIR_NOTFOUND, 0, "%s: %s", handle, weir_miss_text(why));
    }
    store->hash_failures_count += why == WEIR_MISS_CORRUPT;
    if (miss)
        *miss = why;
    return status;
}

/* Functions that a host may leave out; one that was built with an older header does not know them.
 */
#define HAS_FUNCTION(store, name)                                                \
    ((!(store)->ops->struct_bytes ||                                             \
      (store)->ops->struct_bytes >=                                              \
          offsetof(struct weir_store_ops, name) + sizeof((store)->ops->name)) && \
     (store)->ops->name)

/* For a store that cannot say it at once: whatever comes back whole is there. */
static weir_status has_by_get(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                              size_t hashes_count, bool *is_there, struct weir_err *err)
{
    for (size_t i = 0; i < hashes_count; i++) {
        struct weir_lookup lookup = {.tenant = tenant, .handle = weir_hash_handle(&hashes[i])};
        struct weir_artifact artifact;
        weir_status status = weir_store_get(store, &lookup, &artifact, NULL, err);
        if (status && status != WEIR_NOTFOUND)
            return status;
        is_there[i] = !status && !memcmp(&artifact.hash, &hashes[i], sizeof(hashes[i]));
    }
    return WEIR_OK;
}

weir_status weir_store_has(struct weir_store *store, weir_span tenant, const weir_hash *hashes,
                           size_t hashes_count, bool *is_there, struct weir_err *err)
{
    tenant = tenant_or_default(tenant);
    weir_status status = check_name(tenant, "tenant", err);

    for (size_t i = 0; i < hashes_count; i++)
        is_there[i] = false;
    store->trouble = WEIR_TROUBLE_NONE;
    if (status || !hashes_count)
        return status;
    status = HAS_FUNCTION(store, has)
                 ? store->ops->has(store, tenant, hashes, hashes_count, is_there, err)
                 : has_by_get(store, tenant, hashes, hashes_count, is_there, err);
    for (size_t i = 0; i < hashes_count && status; i++)
        is_there[i] = false;
    return status;
}

weir_status weir_store_begin(struct weir_store *store, weir_span tenant, weir_span session,
                             struct weir_err *err)
{
    tenant = tenant_or_default(tenant);
    weir_status status = session.len ? check_who(tenant, session, err) : WEIR_OK;
    if (session.len) /* the end of what was begun leaves why it failed */
        store->trouble = WEIR_TROUBLE_NONE;
    if (status || !HAS_FUNCTION(store, begin))
        return status;
    return store->ops->begin(store, tenant, session, err);
}

weir_status weir_store_marks(struct weir_store *store, weir_span tenant, const weir_hash *keys,
                             size_t keys_count, weir_mark_fn *found, void *user,
                             struct weir_err *err)
{
    tenant = tenant_or_default(tenant);
    weir_status status = check_name(tenant, "tenant", err);
    store->trouble = WEIR_TROUBLE_NONE;
    return status ? status : store->ops->marks(store, tenant, keys, keys_count, found, user, err);
}

weir_status weir_store_pin(struct weir_store *store, weir_span tenant, weir_span session,
                           struct weir_pin *pin, struct weir_err *err)
{
    tenant = tenant_or_default(tenant);
    weir_status status = check_who(tenant, session, err);
    if (!status)
        status = check_name(pin->model, "model", err);
    store->trouble = WEIR_TROUBLE_NONE;
    return status ? status : store->ops->pin(store, tenant, session, pin, err);
}

/* For a store that cannot say it at once. */
static weir_status pins_one_by_one(struct weir_store *store, weir_span tenant,
                                   const struct weir_pin_query *queries, size_t queries_count,
                                   weir_pin_fn *found, void *user, struct weir_err *err)
{
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < queries_count && !status; i++) {
        struct weir_pin pin = queries[i].pin;
        status = store->ops->pin(store, tenant, queries[i].session, &pin, err);
        if (!status)
            status = found(user, i, &pin);
        else if (status == WEIR_NOTFOUND)
            status = WEIR_OK;
    }
    return status;
}

weir_status weir_store_pins(struct weir_store *store, weir_span tenant,
                            const struct weir_pin_query *queries, size_t queries_count,
                            weir_pin_fn *found, void *user, struct weir_err *err)
{
    weir_status status = WEIR_OK;

    tenant = tenant_or_default(tenant);
    for (size_t i = 0; i < queries_count && !status; i++) {
        status = check_who(tenant, queries[i].session, err);
        if (!status)
            status = check_name(queries[i].pin.model, "model", err);
    }
    store->trouble = WEIR_TROUBLE_NONE;
    if (status)
        return status;
    return HAS_FUNCTION(store, pins)
               ? store->ops->pins(store, tenant, queries, queries_count, found, user, err)
               : pins_one_by_one(store, tenant, queries, queries_count, found, user, err);
}

weir_status weir_store_touch(struct weir_store *store, weir_span tenant, weir_span session,
                             int64_t used_ms, struct weir_err *err)
{
    tenant = tenant_or_default(tenant);
    weir_status status = check_who(tenant, session, err);
    store->trouble = WEIR_TROUBLE_NONE;
    return status ? status : store->ops->touch(store, tenant, session, used_ms, err);
}

weir_status weir_store_gc(struct weir_store *store, const struct weir_gc_options *options,
                          struct weir_gc_report *report, struct weir_err *err)
{
    struct weir_gc_options own;
    weir_status status = WR_OPTIONS_READ(&own, options, err);

    *report = (struct weir_gc_report){0};
    store->trouble = WEIR_TROUBLE_NONE;
    if (status)
        return status;
    if (own.retention_ms < 0 || own.live_ms < 0)
        return wr_fail(err, WEIR_INVALID, 0, "a time to keep sessions cannot be negative");
    return store->ops->gc(store, &own, report, err);
}

weir_status weir_store_purge(struct weir_store *store, weir_span tenant, weir_span session,
                             struct weir_gc_report *report, struct weir_err *err)
{
    tenant = tenant_or_default(tenant);
    weir_status status =
        session.len ? check_who(tenant, session, err) : check_name(tenant, "tenant", err);

    *report = (struct weir_gc_report){0};
    store->trouble = WEIR_TROUBLE_NONE;
    return status ? status : store->ops->purge(store, tenant, session, report, err);
}

weir_status weir_store_purge_all(struct weir_store *store, struct weir_gc_report *report,
                                 struct weir_err *err)
{
    *report = (struct weir_gc_report){0};
    store->trouble = WEIR_TROUBLE_NONE;
    return store->ops->purge(store, WR_LIT(""), WR_LIT(""), report, err);
}

weir_status weir_store_verify(struct weir_store *store, weir_corrupt_fn *corrupt, void *user,
                              struct weir_verify_report *report, struct weir_err *err)
{
    *report = (struct weir_verify_report){0};
    store->trouble = WEIR_TROUBLE_NONE;
    return store->ops->verify(store, corrupt, user, report, err);
}

weir_status weir_store_stats(struct weir_store *store, struct weir_store_stats *stats,
                             struct weir_err *err)
{
    *stats = (struct weir_store_stats){0};
    store->trouble = WEIR_TROUBLE_NONE;
    return store->ops->stats(store, stats, err);
}

weir_status wr_store_probe(struct weir_store *store, bool writes, struct weir_err *err)
{
    store->trouble = WEIR_TROUBLE_NONE;
    return HAS_FUNCTION(store, probe) ? store->ops->probe(store, writes, err) : WEIR_OK;
}

uint64_t wr_store_place(const struct weir_store *store)
{
    return HAS_FUNCTION(store, place) ? store->ops->place(store) : 0;
}

void weir_store_close(struct weir_store *store)
{
    if (store)
        store->ops->close(store);
}

/* ==== where it is ==== */

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

/* ==== what the operating system refused ==== */

static weir_trouble trouble_of(int code)
{
    switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return WEIR_TROUBLE_FULL;
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOTDIR:
    case ENOENT:
    case EISDIR:
    case ELOOP:
        return WEIR_TROUBLE_DENIED;
    default:
        return WEIR_TROUBLE_SYSTEM;
    }
}

weir_status wr_os_error(const char *what, weir_trouble *trouble, struct weir_err *err)
{
    int code = errno;
    *trouble = trouble_of(code);
    return wr_fail(err, *trouble == WEIR_TROUBLE_FULL ? WEIR_LIMIT : WEIR_IO, 0, "%s: %s", what,
                   strerror(code));
}

/* ==== how a text is kept ==== */

/* Level 1 is within a tenth of level 3 in size on code and logs, at a third more speed; below
 * PACK_BYTES_MIN a text seldom shrinks enough to be worth it. */
enum { PACK_LEVEL = 1, PACK_BYTES_MIN = 64 };

void wr_packer_release(struct wr_packer *packer)
{
    (void)ZSTD_freeCCtx(packer->compress);
    (void)ZSTD_freeDCtx(packer->decompress);
    *packer = (struct wr_packer){NULL, NULL};
}

weir_status wr_pack(struct wr_packer *packer, weir_span text, struct wr_buf *out,
                    enum wr_codec *codec)
{
    size_t room_bytes = ZSTD_compressBound(text.len);

    *codec = WR_CODEC_PLAIN;
    wr_buf_reserve(out, room_bytes);
    if (wr_buf_status(out))
        return wr_buf_status(out);
    if (!packer->compress)
        packer->compress = ZSTD_createCCtx();
    if (!packer->compress)
        return WEIR_NOMEM;
    if (text.len >= PACK_BYTES_MIN) {
        size_t packed_bytes = ZSTD_compressCCtx(packer->compress, out->bytes + out->len, room_bytes,
                                                text.ptr, text.len, PACK_LEVEL);
        if (ZSTD_isError(packed_bytes))
            return WEIR_NOMEM; /* the only way it fails with enough room */
        if (packed_bytes < text.len) {
            *codec = WR_CODEC_ZSTD;
            out->len += packed_bytes;
            return WEIR_OK;
        }
    }
    wr_buf_append(out, text);
    return wr_buf_status(out);
}

weir_status wr_unpack(struct wr_packer *packer, weir_span data, int64_t codec, uint64_t text_bytes,
                      struct wr_buf *out)
{
    if (text_bytes > WR_STORE_ARTIFACT_BYTES_MAX)
        return WEIR_SYNTAX;
    if (codec == WR_CODEC_PLAIN) {
        wr_buf_append(out, data);
        return data.len == text_bytes ? wr_buf_status(out) : WEIR_SYNTAX;
    }
    if (codec != WR_CODEC_ZSTD)
        return WEIR_SYNTAX;
    if (!packer->decompress)
        packer->decompress = ZSTD_createDCtx();
    if (!packer->decompress)
        return WEIR_NOMEM;
    wr_buf_reserve(out, (size_t)text_bytes);
    if (wr_buf_status(out))
        return wr_buf_status(out);
    size_t got_bytes = ZSTD_decompressDCtx(packer->decompress, out->bytes + out->len,
                                           (size_t)text_bytes, data.ptr, data.len);
    if (ZSTD_isError(got_bytes) || got_bytes != text_bytes)
        return WEIR_SYNTAX;
    out->len += got_bytes;
    return WEIR_OK;
}

int64_t wr_pack_checksum(weir_span data, int64_t codec, uint64_t text_bytes, weir_span hash)
{
    uint64_t seed = wr_hash64_seeded(hash, text_bytes * 4 + (uint64_t)codec);
    uint64_t sum = wr_hash64_seeded(data, seed);
    return (int64_t)(sum ? sum : 1);
}
