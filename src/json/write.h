/* write.h -- a small JSON writer for what Weir itself emits.
 *
 * Commas and nesting are the writer's business; misuse (a value without a key inside an object, an
 * unbalanced end) is a wrong program and asserts. Failure is the buffer's, asked once at the end.
 * Numbers are integers or fixed decimals: no locale, no exponent.
 */
#ifndef WR_JSON_WRITE_H
#define WR_JSON_WRITE_H

#include <stdbool.h>

#include "base/buf.h"

enum { WR_JSON_WRITE_DEPTH_MAX = 32 };

struct wr_json_writer {
    struct wr_buf *out; /* borrowed */
    uint32_t depth;
    bool in_object[WR_JSON_WRITE_DEPTH_MAX];
    bool has_items[WR_JSON_WRITE_DEPTH_MAX];
    bool after_key;
    bool newline_due;
};

void wr_json_write_init(struct wr_json_writer *writer, struct wr_buf *out);
void wr_json_write_object(struct wr_json_writer *writer);
void wr_json_write_object_end(struct wr_json_writer *writer);
void wr_json_write_array(struct wr_json_writer *writer);
void wr_json_write_array_end(struct wr_json_writer *writer);
void wr_json_write_key(struct wr_json_writer *writer, const char *key);
void wr_json_write_raw_key(struct wr_json_writer *writer,
                           weir_span key); /* as it is: quotes and colon are part of it */
void wr_json_write_text(struct wr_json_writer *writer, weir_span text); /* escapes it */
void wr_json_write_i64(struct wr_json_writer *writer, int64_t number);
void wr_json_write_bool(struct wr_json_writer *writer, bool value);
void wr_json_write_null(struct wr_json_writer *writer);
void wr_json_write_raw(struct wr_json_writer *writer, weir_span json); /* a value as it is */

/* `number` with `decimals` digits after the point, at most 9. What has no such form in 18 digits,
 * or is no number, is written as null. */
void wr_json_write_fixed(struct wr_json_writer *writer, double number, int decimals);

/* A member of the open object: its key and its value in one call. */
void wr_json_member_text(struct wr_json_writer *writer, const char *key, weir_span text);
void wr_json_member_word(struct wr_json_writer *writer, const char *key,
                         const char *word); /* NULL: null */
void wr_json_member_number(struct wr_json_writer *writer, const char *key,
                           uint64_t number); /* at most INT64_MAX is written */
void wr_json_member_i64(struct wr_json_writer *writer, const char *key, int64_t number);
void wr_json_member_fixed(struct wr_json_writer *writer, const char *key, double number,
                          int decimals);
void wr_json_member_bool(struct wr_json_writer *writer, const char *key, bool value);
void wr_json_member_null(struct wr_json_writer *writer, const char *key);
void wr_json_member_raw(struct wr_json_writer *writer, const char *key, weir_span json);

/* A member that is an object or an array, which is open then. */
void wr_json_member_object(struct wr_json_writer *writer, const char *key);
void wr_json_member_array(struct wr_json_writer *writer, const char *key);

/* A line break before the next item (behind its comma) or the next end, so that long output has one
 * record a line. */
void wr_json_write_newline(struct wr_json_writer *writer);

#endif
