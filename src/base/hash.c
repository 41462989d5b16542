/* Hashes, the names that they give to originals (handles), an index and two memos by hash.
 *
 * SHA256_CTX is deprecated, but the state of OpenSSL's newer interface cannot be copied without
 * asking for memory, which can fail.
 *
 * Both memos may forget: a number is put over another one where the set of its key is full, a text
 * where the places it may be in are taken, and all texts go together when they have become too
 * many.
 */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "weir/handle.h"

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct wr_sha256_stream), "the state fits");

uint64_t wr_hash64(weir_span bytes)
{
    return XXH3_64bits(bytes.ptr, bytes.len);
}

uint64_t wr_hash64_seeded(weir_span bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.ptr, bytes.len, seed);
}

wr_hash128 wr_hash128_of(weir_span bytes)
{
    XXH128_hash_t hash = XXH3_128bits(bytes.ptr, bytes.len);
    return (wr_hash128){hash.low64, hash.high64};
}

wr_hash128 wr_hash128_seeded(weir_span bytes, wr_hash128 seed)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.ptr, bytes.len, seed.low);
    /* The seed has 64 bits; the other half goes in behind the hash. */
    return (wr_hash128){hash.low64 ^ seed.high, hash.high64 + seed.high * 0x9E3779B97F4A7C15u};
}

wr_hash128 wr_hash128_add(wr_hash128 hash, wr_hash128 seed)
{
    unsigned char bytes[16]; /* in one order on every machine: such hashes are kept */
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(hash.low >> 8 * i);
        bytes[8 + i] = (unsigned char)(hash.high >> 8 * i);
    }
    return wr_hash128_seeded((weir_span){(const char *)bytes, sizeof(bytes)}, seed);
}

weir_status wr_sha256(weir_span bytes, unsigned char digest[WR_SHA256_BYTES])
{
    unsigned int len = 0;
    int ok = EVP_Digest(bytes.ptr, bytes.len, digest, &len, EVP_sha256(), NULL);
    return ok == 1 && len == WR_SHA256_BYTES ? WEIR_OK : WEIR_NOMEM;
}

static SHA256_CTX context_of(const struct wr_sha256_stream *stream)
{
    SHA256_CTX context;
    memcpy(&context, stream->state, sizeof(context));
    return context;
}

void wr_sha256_begin(struct wr_sha256_stream *stream)
{
    SHA256_CTX context;
    (void)SHA256_Init(&context);
    *stream = (struct wr_sha256_stream){{0}};
    memcpy(stream->state, &context, sizeof(context));
}

void wr_sha256_add(struct wr_sha256_stream *stream, weir_span bytes)
{
    SHA256_CTX context = context_of(stream);
    (void)SHA256_Update(&context, bytes.ptr, bytes.len);
    memcpy(stream->state, &context, sizeof(context));
}

void wr_sha256_digest(const struct wr_sha256_stream *stream, unsigned char digest[WR_SHA256_BYTES])
{
    SHA256_CTX context = context_of(stream);
    (void)SHA256_Final(digest, &context);
}

/* ==== handles ==== */

#define PREFIX WR_LIT("wr_")

_Static_assert(sizeof("wr_") - 1 + 2 * WEIR_HANDLE_BYTES == WEIR_HANDLE_TEXT_BYTES,
               "the text form is the prefix and two digits a byte");

static const char hex_digits[] = "0123456789abcdef";

weir_status weir_handle_of(weir_span text, weir_handle *handle)
{
    unsigned char digest[WR_SHA256_BYTES];
    weir_status status = wr_sha256(text, digest);
    if (status == WEIR_OK)
        memcpy(handle->bytes, digest, WEIR_HANDLE_BYTES);
    return status;
}

void weir_handle_format(weir_handle handle, char text[WEIR_HANDLE_TEXT_BYTES + 1])
{
    char *at = text + PREFIX.len;
    memcpy(text, PREFIX.ptr, PREFIX.len);
    for (size_t i = 0; i < WEIR_HANDLE_BYTES; i++) {
        *at++ = hex_digits[handle.bytes[i] >> 4];
        *at++ = hex_digits[handle.bytes[i] & 15];
    }
    *at = '\0';
}

bool weir_handle_parse(weir_span text, weir_handle *handle)
{
    if (text.len != WEIR_HANDLE_TEXT_BYTES || !wr_span_starts(text, PREFIX))
        return false;
    for (size_t i = 0; i < WEIR_HANDLE_BYTES; i++) {
        char high = text.ptr[PREFIX.len + 2 * i], low = text.ptr[PREFIX.len + 2 * i + 1];
        if (!wr_is_lower_hex(high) || !wr_is_lower_hex(low)) /* Weir writes no others */
            return false;
        handle->bytes[i] = (unsigned char)(wr_hex_value(high) << 4 | wr_hex_value(low));
    }
    return true;
}

size_t weir_handle_find(weir_span text, size_t from, weir_handle *handle)
{
    for (size_t at = from; (at = wr_span_find(text, PREFIX, at)) != SIZE_MAX; at++) {
        size_t end = at + WEIR_HANDLE_TEXT_BYTES;
        if (end > text.len)
            return SIZE_MAX;
        bool stands_alone = (at == 0 || !wr_is_word(text.ptr[at - 1])) &&
                            (end == text.len || !wr_is_word(text.ptr[end]));
        if (stands_alone && weir_handle_parse(wr_span_cut(text, at, end), handle))
            return at;
    }
    return SIZE_MAX;
}

/* ==== an index ==== */

weir_status wr_index_init(struct wr_index *index, struct wr_arena *arena, uint32_t count_max)
{
    WR_ASSERT(count_max <= UINT32_MAX / 4);
    uint32_t places = 8;
    while (places < count_max * 2)
        places *= 2;

    index->items = wr_arena_alloc(arena, places * sizeof(uint32_t));
    index->tags = wr_arena_alloc(arena, places * sizeof(uint32_t));
    if (!index->items || !index->tags)
        return wr_arena_status(arena);
    memset(index->items, 0xFF, places * sizeof(uint32_t));
    index->mask = places - 1;
    return WEIR_OK;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static uint32_t find_tag(const struct wr_index *index, uint32_t at, uint64_t hash)
{
    while (index->items[at] != WR_INDEX_NONE && index->tags[at] != tag_of(hash))
        at = (at + 1) & index->mask;
    return at;
}

uint32_t wr_index_first(const struct wr_index *index, uint64_t hash)
{
    return find_tag(index, (uint32_t)hash & index->mask, hash);
}

uint32_t wr_index_next(const struct wr_index *index, uint32_t at, uint64_t hash)
{
    return find_tag(index, (at + 1) & index->mask, hash);
}

void wr_index_put(struct wr_index *index, uint32_t at, uint64_t hash, uint32_t item)
{
    index->items[at] = item;
    index->tags[at] = tag_of(hash);
}

/* ==== numbers, remembered ==== */

enum { SETS_FIRST = 32 };

static bool same_key(wr_hash128 a, wr_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

static struct wr_hash_memo_place *set_of(const struct wr_hash_memo *memo, wr_hash128 key)
{
    return &memo->places[(key.low & (memo->sets_count - 1)) * WR_HASH_MEMO_SET];
}

static struct wr_hash_memo_place *new_places(uint32_t sets_count)
{
    return calloc(sets_count, WR_HASH_MEMO_SET * sizeof(struct wr_hash_memo_place));
}

weir_status wr_hash_memo_init(struct wr_hash_memo *memo, uint32_t count_max)
{
    uint32_t sets_max = 1;

    while (sets_max < count_max / WR_HASH_MEMO_SET)
        sets_max *= 2;
    uint32_t sets_count = sets_max < SETS_FIRST ? sets_max : SETS_FIRST;
    *memo = (struct wr_hash_memo){new_places(sets_count), sets_count, sets_max};
    return memo->places ? WEIR_OK : WEIR_NOMEM;
}

void wr_hash_memo_release(struct wr_hash_memo *memo)
{
    free(memo->places);
    *memo = (struct wr_hash_memo){.places = NULL};
}

void wr_hash_memo_clear(struct wr_hash_memo *memo)
{
    memset(memo->places, 0, memo->sets_count * WR_HASH_MEMO_SET * sizeof(*memo->places));
}

bool wr_hash_memo_find(const struct wr_hash_memo *memo, wr_hash128 key, uint64_t *value)
{
    const struct wr_hash_memo_place *set = set_of(memo, key);

    for (size_t i = 0; i < WR_HASH_MEMO_SET; i++)
        if (same_key(set[i].key, key)) {
            *value = set[i].value;
            return key.low || key.high;
        }
    return false;
}

/* False: its set is full. */
static bool add_to_set(struct wr_hash_memo *memo, wr_hash128 key, uint64_t value)
{
    struct wr_hash_memo_place *set = set_of(memo, key);

    for (size_t i = 0; i < WR_HASH_MEMO_SET; i++)
        if (!set[i].key.low && !set[i].key.high) {
            set[i] = (struct wr_hash_memo_place){key, value};
            return true;
        }
    return false;
}

/* What was in one set is in one of two from then on, so that all of it finds a place. */
static bool grow_sets(struct wr_hash_memo *memo)
{
    struct wr_hash_memo old = *memo;

    if (old.sets_count == old.sets_max)
        return false;
    memo->places = new_places(old.sets_count * 2);
    if (!memo->places) {
        *memo = old;
        return false;
    }
    memo->sets_count *= 2;
    for (size_t i = 0; i < (size_t)old.sets_count * WR_HASH_MEMO_SET; i++)
        (void)add_to_set(memo, old.places[i].key, old.places[i].value);
    wr_hash_memo_release(&old);
    return true;
}

/* In a full memo a key has one place that it takes. If the oldest had to go, one key too many would
 * push out the next one of its set whenever all are asked for in order. */
void wr_hash_memo_put(struct wr_hash_memo *memo, wr_hash128 key, uint64_t value)
{
    bool is_in = add_to_set(memo, key, value);

    while (!is_in && grow_sets(memo))
        is_in = add_to_set(memo, key, value);
    if (!is_in)
        set_of(memo, key)[key.high % WR_HASH_MEMO_SET] = (struct wr_hash_memo_place){key, value};
}

/* ==== texts, remembered ==== */

/* A key is looked for in this many places, and put over the last of them when all are taken. */
enum { PLACES_COUNT = 1 << 14, PROBES_MAX = 8 };

struct place {
    wr_hash128 key;
    weir_span text; /* in the arena; NULL ptr: free */
};

struct wr_text_memo {
    struct wr_arena arena;
    size_t bytes_max;
    struct place places[PLACES_COUNT];
};

weir_status wr_text_memo_new(struct wr_text_memo **memo, size_t bytes_max)
{
    *memo = calloc(1, sizeof(**memo));
    if (!*memo)
        return WEIR_NOMEM;
    (*memo)->bytes_max = bytes_max;
    /* Twice the cap: the cap is looked at between requests, and one request may go past it. */
    wr_arena_init(&(*memo)->arena,
                  bytes_max > WR_ARENA_BYTES_MAX / 2 ? WR_ARENA_BYTES_MAX : bytes_max * 2);
    return WEIR_OK;
}

void wr_text_memo_free(struct wr_text_memo *memo)
{
    if (!memo)
        return;
    wr_arena_release(&memo->arena);
    free(memo);
}

void wr_text_memo_begin(struct wr_text_memo *memo)
{
    if (memo->arena.bytes_held <= memo->bytes_max && !memo->arena.status)
        return;
    size_t bytes_max = memo->arena.bytes_max;
    wr_arena_release(&memo->arena);
    wr_arena_init(&memo->arena, bytes_max);
    memset(memo->places, 0, sizeof(memo->places));
}

/* The number of the place where the key is, or else where it goes. */
static size_t find_text_place(const struct wr_text_memo *memo, wr_hash128 key)
{
    size_t at = 0;
    for (size_t i = 0; i < PROBES_MAX; i++) {
        at = (key.low + i) % PLACES_COUNT;
        if (!memo->places[at].text.ptr || same_key(memo->places[at].key, key))
            break;
    }
    return at;
}

bool wr_text_memo_find(const struct wr_text_memo *memo, wr_hash128 key, weir_span *text)
{
    if (!memo)
        return false;
    const struct place *place = &memo->places[find_text_place(memo, key)];
    if (!place->text.ptr || !same_key(place->key, key))
        return false;
    *text = place->text;
    return true;
}

void wr_text_memo_put(struct wr_text_memo *memo, wr_hash128 key, weir_span text)
{
    if (!memo)
        return;
    weir_span copy = wr_arena_copy(&memo->arena, text);
    if (copy.ptr)
        memo->places[find_text_place(memo, key)] = (struct place){key, copy};
}
