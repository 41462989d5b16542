/* hash.h -- content hashes: XXH3 for tables in memory, SHA-256 for what is kept. */
#ifndef WR_BASE_HASH_H
#define WR_BASE_HASH_H

#include "weir/span.h"
#include "weir/status.h"

uint64_t wr_hash64(weir_span bytes);

/* Chains: the hash of `bytes` behind something whose hash is `seed`. */
uint64_t wr_hash64_seeded(weir_span bytes, uint64_t seed);

typedef struct wr_hash128 {
    uint64_t low, high;
} wr_hash128;

wr_hash128 wr_hash128_of(weir_span bytes);

/* Chains, as wr_hash64_seeded(). */
wr_hash128 wr_hash128_seeded(weir_span bytes, wr_hash128 seed);

/* The same for something whose hash is known. */
wr_hash128 wr_hash128_add(wr_hash128 hash, wr_hash128 seed);

enum { WR_SHA256_BYTES = 32, WR_SHA256_HEX_BYTES = 64 };

/* WEIR_NOMEM when the crypto library cannot get memory. */
WEIR_MUST_USE weir_status wr_sha256(weir_span bytes, unsigned char digest[WR_SHA256_BYTES]);

/* The same for a text that comes piece by piece. It may be copied; the copies are independent. */
struct wr_sha256_stream {
    uint64_t state[16]; /* private */
};

void wr_sha256_begin(struct wr_sha256_stream *stream);
void wr_sha256_add(struct wr_sha256_stream *stream, weir_span bytes);
/* The digest of all that was added so far. More may be added afterwards. */
void wr_sha256_digest(const struct wr_sha256_stream *stream, unsigned char digest[WR_SHA256_BYTES]);

#endif
