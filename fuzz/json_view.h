/* json_view.h -- what Weir's reader understood of a text, in a form that another reader can be
 * asked for too.
 *
 * A value is a letter: n t f, [ ] { } around what is inside, then `i` and an integer, `u` and an
 * integer above INT64_MAX, `d` and a double as %a, `s` or `k` and the length, a colon and the bytes
 * of a string or key. Readable from C and C++, so free of the project's own headers.
 */
#ifndef FUZZ_JSON_VIEW_H
#define FUZZ_JSON_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_view {
    bool is_json;
    bool is_too_deep;           /* deeper than Weir reads: whether it is JSON is not known */
    bool has_lone_surrogate;    /* an escape that is half a character */
    bool has_number_past_range; /* an integer beyond 64 bits, or a number beyond a double */
    char *text;                 /* owned; NULL where it is no JSON */
    size_t len;
};

void json_view_init(struct json_view *view, const char *text, size_t len);
void json_view_release(struct json_view *view);

#ifdef __cplusplus
}
#endif

#endif
