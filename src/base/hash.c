/* SHA256_CTX is deprecated, but the state of OpenSSL's newer interface cannot be copied without
 * asking for memory, which can fail. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>
#include <xxhash.h>

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
