/* SHA256_CTX is deprecated, but the state of OpenSSL's newer interface cannot be copied without
 * asking for memory, which can fail. */

#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>
#include <xxhash.h>

#include "base/ascii.h"
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
