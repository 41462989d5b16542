/* Looking things up in a document that parse.c has read, and unescaping its strings.
 *
 * Everything here trusts the reader: a node's bytes are valid JSON, so an escape is one of the nine
 * that JSON has, and four hexadecimal digits follow each `\u`. That is why nothing here can fail
 * but for memory.
 *
 * Keys are compared as they stand in the text. Agents send the same few keys thousands of times, so
 * key_is() looks at the first letter before it calls anything, and escaped keys, which are legal
 * and rare, are compared escape by escape without unescaping them into memory.
 *
 * A key that stands in an object twice has no agreed meaning: most readers take the last one, and
 * so does wr_json_find(). wr_json_pick() tells its caller, who may refuse such an object.
 */
#include "json/json.h"

#include "base/limits.h"
#include "base/span.h"
#include "base/utf8.h"

static uint32_t hex4(const char *digits)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        uint32_t digit = (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        code = code << 4 | digit;
    }
    return code;
}

static char simple_escape(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c; /* quote, backslash, slash */
    }
}

static bool is_unicode_escape(weir_span rest)
{
    return rest.len >= 6 && rest.ptr[0] == '\\' && rest.ptr[1] == 'u';
}

/* Reads the escape at the start of `rest`; returns its bytes and puts what it means in `out`. */
static size_t read_escape(weir_span rest, char out[4], size_t *out_bytes)
{
    if (!is_unicode_escape(rest)) {
        out[0] = simple_escape(rest.ptr[1]);
        *out_bytes = 1;
        return 2;
    }
    uint32_t code = hex4(rest.ptr + 2);
    size_t used = 6;
    weir_span next = wr_span_cut(rest, 6, rest.len);
    if (code >= 0xD800 && code <= 0xDBFF && is_unicode_escape(next)) {
        uint32_t low = hex4(next.ptr + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            used = 12;
        }
    }
    *out_bytes = wr_utf8_encode(code, out);
    return used;
}

/* Unescapes into `out`, which has room: unescaping never makes text longer. */
static size_t unescape_into(char *out, weir_span inner)
{
    size_t written = 0;
    while (inner.len) {
        const char *backslash = memchr(inner.ptr, '\\', inner.len);
        size_t plain = backslash ? (size_t)(backslash - inner.ptr) : inner.len;
        memcpy(out + written, inner.ptr, plain);
        written += plain;
        inner = wr_span_cut(inner, plain, inner.len);
        if (!inner.len)
            break;
        char meaning[4];
        size_t bytes;
        size_t used = read_escape(inner, meaning, &bytes);
        memcpy(out + written, meaning, bytes);
        written += bytes;
        inner = wr_span_cut(inner, used, inner.len);
    }
    return written;
}

void wr_json_unescape(struct wr_buf *out, weir_span inner)
{
    wr_buf_reserve(out, inner.len);
    if (!out->status && inner.len)
        out->len += unescape_into(out->bytes + out->len, inner);
}

weir_span wr_json_text(const struct wr_json *doc, struct wr_arena *arena, wr_json_id id)
{
    weir_span inner = wr_json_inner(doc, id);
    if (!doc->nodes[id].escaped)
        return inner;
    char *text = wr_arena_alloc(arena, inner.len);
    if (!text)
        return (weir_span){NULL, 0};
    return (weir_span){text, unescape_into(text, inner)};
}

/* Compares without unescaping into memory; keys with escapes are rare but legal. */
static bool escaped_text_is(weir_span inner, weir_span text)
{
    while (inner.len) {
        char meaning[4] = {inner.ptr[0]};
        size_t bytes = 1;
        size_t used = inner.ptr[0] == '\\' ? read_escape(inner, meaning, &bytes) : 1;
        if (!wr_span_starts(text, (weir_span){meaning, bytes}))
            return false;
        text = wr_span_cut(text, bytes, text.len);
        inner = wr_span_cut(inner, used, inner.len);
    }
    return !text.len;
}

static bool unescaped_is(const struct wr_json *doc, wr_json_id id, weir_span text)
{
    weir_span inner = wr_json_inner(doc, id);
    return doc->nodes[id].escaped ? escaped_text_is(inner, text) : wr_span_eq(inner, text);
}

/* Most keys differ in their first letter, so that is compared before anything is called. A string
 * without escapes holds no NUL, so strncmp() cannot read past the end of `name`. */
static bool key_is(const struct wr_json *doc, wr_json_id key, const char *name)
{
    weir_span inner = wr_json_inner(doc, key);
    if (doc->nodes[key].escaped)
        return escaped_text_is(inner, wr_span_of(name));
    if (!inner.len)
        return !name[0];
    return inner.ptr[0] == name[0] && !strncmp(name, inner.ptr, inner.len) && !name[inner.len];
}

bool wr_json_text_is(const struct wr_json *doc, wr_json_id id, const char *text)
{
    return wr_json_is(doc, id, WR_JSON_STRING) && unescaped_is(doc, id, wr_span_of(text));
}

wr_json_id wr_json_find(const struct wr_json *doc, wr_json_id object, const char *key)
{
    wr_json_id value;
    (void)wr_json_pick(doc, object, &key, 1, &value);
    return value;
}

bool wr_json_pick(const struct wr_json *doc, wr_json_id object, const char *const *names,
                  size_t count, wr_json_id *values)
{
    bool unique = true;

    for (size_t i = 0; i < count; i++)
        values[i] = WR_JSON_NONE;
    if (!wr_json_is(doc, object, WR_JSON_OBJECT))
        return true;
    for (wr_json_id key = wr_json_first(doc, object); key != WR_JSON_NONE;
         key = wr_json_next(doc, object, key)) {
        for (size_t i = 0; i < count; i++) {
            if (!key_is(doc, key, names[i]))
                continue;
            unique &= values[i] == WR_JSON_NONE;
            values[i] = wr_json_value(key);
            break;
        }
    }
    return unique;
}

bool wr_json_i64(const struct wr_json *doc, wr_json_id id, int64_t *number)
{
    if (!wr_json_is(doc, id, WR_JSON_NUMBER))
        return false;
    weir_span digits = wr_json_raw(doc, id);
    bool negative = digits.ptr[0] == '-';
    uint64_t magnitude;
    if (!wr_span_u64(wr_span_cut(digits, negative, digits.len), &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    /* The smallest number has no positive counterpart to negate. */
    *number = negative && magnitude ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
    return true;
}

uint32_t wr_json_count(const struct wr_json *doc, wr_json_id container)
{
    uint32_t count = 0;
    for (wr_json_id id = wr_json_first(doc, container); id != WR_JSON_NONE;
         id = wr_json_next(doc, container, id))
        count++;
    return count;
}

void wr_json_line_column(weir_span text, size_t at_byte, size_t *line, size_t *column)
{
    size_t line_start = 0;
    *line = 1;
    if (at_byte > text.len)
        at_byte = text.len;
    for (size_t i = 0; i < at_byte; i++) {
        if (text.ptr[i] == '\n') {
            ++*line;
            line_start = i + 1;
        }
    }
    *column = at_byte - line_start + 1;
}
