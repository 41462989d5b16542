/* raw_json.h -- a small JSON reader for raw_facts.c, which may not share the library's.
 *
 * It trusts its input: logs that the library's reader accepts. What it returns by `char *` is
 * malloc'ed; without memory it aborts. */
#ifndef TESTS_RAW_JSON_H
#define TESTS_RAW_JSON_H

#include <stddef.h>

void *raw_must(void *memory);
char *raw_copy(const char *text, size_t len);

const char *raw_skip_space(const char *at);
const char *raw_skip_value(const char *at); /* past the value that begins at `at` */

/* The value of `key` in the object at `object`, or NULL. */
const char *raw_member(const char *object, const char *key);

/* The string at `at`, unescaped; "" when there is none. */
char *raw_string(const char *at);

#endif
