/* json_reference.h -- what JSON is, read off RFC 8259 one rule a function: the oracle of the
 * fuzzers.
 *
 * Slow, recursive, and without a line in common with src/json.
 */
#ifndef FUZZ_JSON_REFERENCE_H
#define FUZZ_JSON_REFERENCE_H

#include <stddef.h>

enum json_verdict { JSON_IS, JSON_IS_NOT, JSON_TOO_DEEP };

/* `*at` is where the text stops being JSON: the byte that does not belong, the first byte of an
 * escape or a character that is none, the bracket that is one too deep; `len` for a text that ends
 * too early. */
enum json_verdict json_reference(const char *text, size_t len, unsigned depth_max, size_t *at);

#endif
