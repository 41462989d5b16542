#include "json_reference.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

struct reference {
    const unsigned char *text;
    size_t len, at;
    unsigned depth, depth_max;
    bool too_deep;
};

static int peek(const struct reference *r)
{
    return r->at < r->len ? r->text[r->at] : -1;
}

static bool take(struct reference *r, int byte)
{
    if (peek(r) != byte)
        return false;
    r->at++;
    return true;
}

static bool take_within(struct reference *r, int low, int high)
{
    if (peek(r) < low || peek(r) > high)
        return false;
    r->at++;
    return true;
}

/* ws = *( %x20 / %x09 / %x0A / %x0D ) */
static void ws(struct reference *r)
{
    while (take(r, 0x20) || take(r, 0x09) || take(r, 0x0A) || take(r, 0x0D))
        continue;
}

static bool literal(struct reference *r, const char *word)
{
    for (; *word; word++)
        if (!take(r, *word))
            return false;
    return true;
}

static bool digits_1(struct reference *r)
{
    if (!take_within(r, '0', '9'))
        return false;
    while (take_within(r, '0', '9'))
        continue;
    return true;
}

/* number = [ minus ] int [ frac ] [ exp ] */
static bool number(struct reference *r)
{
    take(r, '-');
    if (!take(r, '0')) {
        if (!take_within(r, '1', '9'))
            return false;
        while (take_within(r, '0', '9'))
            continue;
    }
    if (take(r, '.') && !digits_1(r))
        return false;
    if (take(r, 'e') || take(r, 'E')) {
        if (!take(r, '-'))
            take(r, '+');
        return digits_1(r);
    }
    return true;
}

/* UTF8-2, UTF8-3 and UTF8-4 of RFC 3629, one row an alternative: first byte, second byte, tails. */
static bool wide_char(struct reference *r)
{
    static const unsigned char rows[][5] = {
        {0xC2, 0xDF, 0x80, 0xBF, 0}, {0xE0, 0xE0, 0xA0, 0xBF, 1}, {0xE1, 0xEC, 0x80, 0xBF, 1},
        {0xED, 0xED, 0x80, 0x9F, 1}, {0xEE, 0xEF, 0x80, 0xBF, 1}, {0xF0, 0xF0, 0x90, 0xBF, 2},
        {0xF1, 0xF3, 0x80, 0xBF, 2}, {0xF4, 0xF4, 0x80, 0x8F, 2},
    };
    size_t start = r->at;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        bool is = take_within(r, rows[i][0], rows[i][1]) && take_within(r, rows[i][2], rows[i][3]);
        for (int tail = 0; is && tail < rows[i][4]; tail++)
            is = take_within(r, 0x80, 0xBF);
        if (is)
            return true;
        r->at = start;
    }
    return false;
}

static bool hex_digit(struct reference *r)
{
    return take_within(r, '0', '9') || take_within(r, 'a', 'f') || take_within(r, 'A', 'F');
}

/* char = unescaped / escape ( ... ) */
static bool character(struct reference *r)
{
    static const char letters[] = "\"\\/bfnrt";
    size_t start = r->at;

    if (take(r, '\\')) {
        for (const char *letter = letters; *letter; letter++)
            if (take(r, *letter))
                return true;
        if (take(r, 'u') && hex_digit(r) && hex_digit(r) && hex_digit(r) && hex_digit(r))
            return true;
        r->at = start;
        return false;
    }
    return take_within(r, 0x20, 0x21) || take_within(r, 0x23, 0x5B) || take_within(r, 0x5D, 0x7F) ||
           wide_char(r);
}

static bool string(struct reference *r)
{
    if (!take(r, '"'))
        return false;
    while (peek(r) != '"')
        if (!character(r))
            return false;
    return take(r, '"');
}

static bool value(struct reference *r);

/* member = string name-separator value, the white space of the separators around it included */
static bool member(struct reference *r)
{
    ws(r);
    if (!string(r))
        return false;
    ws(r);
    return take(r, ':') && value(r);
}

/* array = begin-array [ value *( value-separator value ) ] end-array, and likewise object */
static bool container(struct reference *r, bool item(struct reference *), int end)
{
    if (r->depth == r->depth_max) {
        r->too_deep = true;
        return false;
    }
    r->depth++;
    r->at++;
    ws(r);
    if (peek(r) != end) {
        do {
            if (!item(r))
                return false;
        } while (take(r, ','));
    }
    r->depth--;
    return take(r, end);
}

/* value = false / null / true / object / array / number / string, with white space around it */
static bool value(struct reference *r)
{
    bool is;

    ws(r);
    switch (peek(r)) {
    case '{':
        is = container(r, member, '}');
        break;
    case '[':
        is = container(r, value, ']');
        break;
    case '"':
        is = string(r);
        break;
    case 'f':
        is = literal(r, "false");
        break;
    case 'n':
        is = literal(r, "null");
        break;
    case 't':
        is = literal(r, "true");
        break;
    default:
        is = number(r);
    }
    if (is)
        ws(r);
    return is;
}

enum json_verdict json_reference(const char *text, size_t len, unsigned depth_max, size_t *at)
{
    struct reference r = {.text = (const unsigned char *)text, .len = len, .depth_max = depth_max};
    bool is = value(&r) && r.at == len;

    *at = r.at;
    return r.too_deep ? JSON_TOO_DEEP : is ? JSON_IS : JSON_IS_NOT;
}
