/* images.h -- pictures that belong to words of the user: kept once, by their hash.
 *
 *   SESSION/images/HASH.png                         the bytes, as they came
 *   "images":"HASH.png:640x480 HASH.jpeg:0x0"       of an event: which ones; 0x0: size not known
 *
 * 1. What a picture is, its first bytes say, never the name of its file.
 * 2. A file is there, synced, before the event that names it; the same picture is kept once.
 * 3. A request has the very bytes that were kept: a file whose hash is another counts as missing.
 */
#ifndef WR_SESSION_IMAGES_H
#define WR_SESSION_IMAGES_H

#include "api/write.h"
#include "base/arena.h"
#include "base/buf.h"
#include "models/image.h"

/* "png", "jpeg", "gif" or "webp"; NULL: it is none of these. */
const char *wr_images_type(weir_span bytes);

/* Keeps a picture below `dir` and appends how an event names it to `names`. WEIR_INVALID: it is no
 * picture; WEIR_LIMIT: it is too large. */
WEIR_MUST_USE weir_status wr_images_keep(const char *dir, weir_span bytes, struct wr_buf *names,
                                         struct wr_image_size *size, struct weir_err *err);

/* The bytes of their files, as far as those are there. */
uint64_t wr_images_bytes(const char *dir, weir_span names);

/* What they all count by a model's rule. */
uint64_t wr_images_tokens(const struct wr_image_rule *rule, weir_span names);

/* Those of an event in `arena`, for its line. `*missing_count`: files that are gone or are not what
 * they were. */
WEIR_MUST_USE weir_status wr_images_load(const char *dir, weir_span names, struct wr_arena *arena,
                                         struct wr_line *line, uint32_t *missing_count);

#endif
