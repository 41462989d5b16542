/* Writes JSON into a buffer, one item at a time, and puts the commas where they belong.
 *
 * before_item() is the heart of it. It stands before every value and every key, and asserts that a
 * key comes where a key is wanted and a value where a value is wanted, so a wrong sequence of calls
 * stops the program at the wrong call rather than giving bad JSON. Failures of memory or size are
 * the buffer's: it keeps the first one, and the caller asks once at the end.
 *
 * Numbers are written without printf() or with integers only: printf() takes most of its time for
 * other things where a report has thousands of numbers, and a locale could choose the decimal
 * point.
 */
#include "json/write.h"

#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "json/json.h"

void wr_json_write_init(struct wr_json_writer *writer, struct wr_buf *out)
{
    *writer = (struct wr_json_writer){.out = out};
}

static void write_newline(struct wr_json_writer *w)
{
    if (w->newline_due)
        wr_buf_byte(w->out, '\n');
    w->newline_due = false;
}

/* What must stand between the last item and this one. */
static void before_item(struct wr_json_writer *w, bool is_key)
{
    if (!w->depth)
        return;
    uint32_t level = w->depth - 1;
    if (w->after_key) {
        WR_ASSERT(!is_key);
        w->after_key = false;
        return;
    }
    WR_ASSERT(w->in_object[level] == is_key);
    if (w->has_items[level])
        wr_buf_byte(w->out, ',');
    w->has_items[level] = true;
    write_newline(w);
}

static void open_level(struct wr_json_writer *w, bool is_object)
{
    WR_ASSERT(w->depth < WR_JSON_WRITE_DEPTH_MAX);
    before_item(w, false);
    wr_buf_byte(w->out, is_object ? '{' : '[');
    w->in_object[w->depth] = is_object;
    w->has_items[w->depth] = false;
    w->depth++;
}

static void close_level(struct wr_json_writer *w, bool is_object)
{
    WR_ASSERT(w->depth > 0 && w->in_object[w->depth - 1] == is_object && !w->after_key);
    w->depth--;
    write_newline(w);
    wr_buf_byte(w->out, is_object ? '}' : ']');
}

void wr_json_write_object(struct wr_json_writer *writer)
{
    open_level(writer, true);
}

void wr_json_write_object_end(struct wr_json_writer *writer)
{
    close_level(writer, true);
}

void wr_json_write_array(struct wr_json_writer *writer)
{
    open_level(writer, false);
}

void wr_json_write_array_end(struct wr_json_writer *writer)
{
    close_level(writer, false);
}

static void append_quoted(struct wr_buf *out, weir_span text)
{
    wr_buf_byte(out, '"');
    wr_json_escape(out, text);
    wr_buf_byte(out, '"');
}

void wr_json_write_key(struct wr_json_writer *writer, const char *key)
{
    before_item(writer, true);
    append_quoted(writer->out, (weir_span){key, strlen(key)});
    wr_buf_byte(writer->out, ':');
    writer->after_key = true;
}

void wr_json_write_raw_key(struct wr_json_writer *writer, weir_span key)
{
    before_item(writer, true);
    wr_buf_append(writer->out, key);
    writer->after_key = true;
}

void wr_json_write_text(struct wr_json_writer *writer, weir_span text)
{
    before_item(writer, false);
    append_quoted(writer->out, text);
}

void wr_json_write_i64(struct wr_json_writer *writer, int64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    before_item(writer, false);
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        digits[--at] = '-';
    wr_buf_append(writer->out, (weir_span){digits + at, sizeof(digits) - at});
}

void wr_json_write_bool(struct wr_json_writer *writer, bool value)
{
    before_item(writer, false);
    wr_buf_text(writer->out, value ? "true" : "false");
}

void wr_json_write_null(struct wr_json_writer *writer)
{
    before_item(writer, false);
    wr_buf_text(writer->out, "null");
}

void wr_json_write_raw(struct wr_json_writer *writer, weir_span json)
{
    before_item(writer, false);
    wr_buf_append(writer->out, json);
}

void wr_json_write_fixed(struct wr_json_writer *writer, double number, int decimals)
{
    int64_t scale = 1;
    WR_ASSERT(decimals >= 0 && decimals <= 9);
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    double scaled = number * (double)scale;
    if (!(scaled > -1e18 && scaled < 1e18)) {
        wr_json_write_null(writer);
        return;
    }
    int64_t units = (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    int64_t magnitude = units < 0 ? -units : units;

    before_item(writer, false);
    wr_buf_printf(writer->out, "%s%lld", units < 0 ? "-" : "", (long long)(magnitude / scale));
    if (decimals)
        wr_buf_printf(writer->out, ".%0*lld", decimals, (long long)(magnitude % scale));
}

void wr_json_member_text(struct wr_json_writer *writer, const char *key, weir_span text)
{
    wr_json_write_key(writer, key);
    wr_json_write_text(writer, text);
}

void wr_json_member_word(struct wr_json_writer *writer, const char *key, const char *word)
{
    if (word)
        wr_json_member_text(writer, key, (weir_span){word, strlen(word)});
    else
        wr_json_member_null(writer, key);
}

void wr_json_member_number(struct wr_json_writer *writer, const char *key, uint64_t number)
{
    wr_json_write_key(writer, key);
    wr_json_write_i64(writer, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

void wr_json_member_i64(struct wr_json_writer *writer, const char *key, int64_t number)
{
    wr_json_write_key(writer, key);
    wr_json_write_i64(writer, number);
}

void wr_json_member_fixed(struct wr_json_writer *writer, const char *key, double number,
                          int decimals)
{
    wr_json_write_key(writer, key);
    wr_json_write_fixed(writer, number, decimals);
}

void wr_json_member_bool(struct wr_json_writer *writer, const char *key, bool value)
{
    wr_json_write_key(writer, key);
    wr_json_write_bool(writer, value);
}

void wr_json_member_null(struct wr_json_writer *writer, const char *key)
{
    wr_json_write_key(writer, key);
    wr_json_write_null(writer);
}

void wr_json_member_raw(struct wr_json_writer *writer, const char *key, weir_span json)
{
    wr_json_write_key(writer, key);
    wr_json_write_raw(writer, json);
}

void wr_json_member_object(struct wr_json_writer *writer, const char *key)
{
    wr_json_write_key(writer, key);
    wr_json_write_object(writer);
}

void wr_json_member_array(struct wr_json_writer *writer, const char *key)
{
    wr_json_write_key(writer, key);
    wr_json_write_array(writer);
}

void wr_json_write_newline(struct wr_json_writer *writer)
{
    writer->newline_due = true;
    if (!writer->depth)
        write_newline(writer);
}

/* ==== escaping ==== */

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c < 0x80;
}

/* Whether one of eight bytes is not plain. A byte behind one that is not may be taken for another
 * by the borrow of a subtraction, so this says that there is one and not which. */
static bool has_special(const char *eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
    uint64_t word;
    memcpy(&word, eight, sizeof(word));
    uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
    return (word | (word - ones * 0x20) | (quote - ones) | (backslash - ones)) & high;
}

static size_t skip_plain(weir_span text, size_t at)
{
    const size_t eight = sizeof(uint64_t);

    while (at + eight <= text.len && !has_special(text.ptr + at))
        at += eight;
    /* The rest together with plain bytes before it, which saves the loop for most short words. */
    if (at && text.len - at < eight && text.len >= eight &&
        !has_special(text.ptr + text.len - eight))
        return text.len;
    while (at < text.len && is_plain((unsigned char)text.ptr[at]))
        at++;
    return at;
}

/* The place, from `at` on, of the first character that must be escaped or is no UTF-8. */
static size_t plain_end(weir_span text, size_t at)
{
    uint32_t code;

    for (;;) {
        at = skip_plain(text, at);
        if (at == text.len || (unsigned char)text.ptr[at] < 0x80)
            return at;
        size_t bytes = wr_utf8_decode((weir_span){text.ptr + at, text.len - at}, false, &code);
        if (!bytes)
            return at;
        at += bytes;
    }
}

static void append_numbered(struct wr_buf *out, uint32_t code)
{
    static const char digits[] = "0123456789abcdef";
    const char escape[6] = {'\\',
                            'u',
                            digits[code >> 12 & 15],
                            digits[code >> 8 & 15],
                            digits[code >> 4 & 15],
                            digits[code & 15]};
    wr_buf_append(out, (weir_span){escape, sizeof(escape)});
}

static void append_ascii(struct wr_buf *out, unsigned char c)
{
    static const char letters[] = "btn\0fr"; /* for the bytes 8 to 13; 11 has none */
    char letter = c >= 0x20 ? (char)c : c >= 8 && c <= 13 ? letters[c - 8] : '\0';

    if (letter)
        wr_buf_append(out, (weir_span){(const char[]){'\\', letter}, 2});
    else
        append_numbered(out, c);
}

/* Appends the escape of the character that begins `rest`, and returns how many bytes it has; 0
 * where no character begins there. */
static size_t append_escape(struct wr_buf *out, weir_span rest)
{
    uint32_t code;
    size_t bytes = wr_utf8_decode(rest, true, &code);
    if (bytes == 1)
        append_ascii(out, (unsigned char)code);
    else if (bytes)
        append_numbered(out, code); /* a lone surrogate: all else that is wide stands for itself */
    return bytes;
}

void wr_json_escape(struct wr_buf *out, weir_span text)
{
    size_t at = 0;
    while (at < text.len) {
        size_t end = plain_end(text, at);
        wr_buf_append(out, (weir_span){text.ptr + at, end - at});
        if (end == text.len)
            return;
        size_t bytes = append_escape(out, (weir_span){text.ptr + end, text.len - end});
        if (!bytes && !out->status)
            out->status = WEIR_INVALID;
        if (!bytes)
            return;
        at = end + bytes;
    }
}
