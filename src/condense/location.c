/* Places in files, read by hand and not by patterns: this is asked of every word of a diagnostic
 * that may be a path, and a path is what looks like one (an extension, a slash, a well-known name)
 * and is followed by a number.
 */
#include "condense/location.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/words.h"

enum { PATH_BYTES_MAX = 512, EXTENSION_BYTES_MAX = 12 };

/* Any byte above ASCII may be part of a name. */
static bool in_path(char c)
{
    if (wr_is_word(c) || (unsigned char)c >= 0x80)
        return true;
    switch (c) {
    case '.':
    case '/':
    case '-':
    case '+':
    case '@':
    case '~':
    case '$':
    case '%':
    case '#':
    case '[':
    case ']':
    case '\\':
    case '{':
    case '}':
    case '=':
    case ',':
        return true;
    default:
        return false;
    }
}

static bool is_bare_name(weir_span path)
{
    static struct wr_words names = WR_WORDS("Makefile|makefile|GNUmakefile|Dockerfile|Jenkinsfile|"
                                            "Rakefile|Gemfile|<stdin>|<anonymous>");
    return wr_words_has(&names, path);
}

/* A dot, then letters and digits with a letter among them, to the end. */
static bool has_extension(weir_span path)
{
    size_t i = path.len;
    bool letter = false;
    while (i && wr_is_word(path.ptr[i - 1]))
        letter |= wr_is_alpha(path.ptr[--i]);
    size_t len = path.len - i;
    return letter && i > 1 && path.ptr[i - 1] == '.' && len <= EXTENSION_BYTES_MAX &&
           (wr_is_word(path.ptr[i - 2]) || memchr("]-)}", path.ptr[i - 2], 4));
}

static bool has_slash(weir_span path)
{
    return memchr(path.ptr, '/', path.len) || memchr(path.ptr, '\\', path.len);
}

/* "example.com:443" is a place on the network. */
static bool is_host(weir_span path)
{
    static struct wr_words domains = WR_WORDS(".com|.org|.net|.io|.dev|.local|.internal");
    if (has_slash(path))
        return wr_span_starts(path, WR_LIT("//"));
    return wr_words_end(&domains, path);
}

static bool looks_like_path(weir_span path)
{
    if (!path.len || path.len > PATH_BYTES_MAX || is_host(path))
        return false;
    if (has_extension(path) || is_bare_name(path))
        return true;
    return has_slash(path) && wr_is_word(path.ptr[path.len - 1]);
}

static weir_span digits_of(weir_span text, size_t at)
{
    size_t i = at;
    while (i < text.len && wr_is_digit(text.ptr[i]) && i - at < 9)
        i++;
    return wr_span_cut(text, at, i);
}

static bool byte_is(weir_span text, size_t at, char c)
{
    return at < text.len && text.ptr[at] == c;
}

/* ":12", ":12:3", "(12,3)", "(12)" at `at`. */
static bool read_numbers(weir_span text, size_t at, struct wr_location *location)
{
    bool parens = byte_is(text, at, '(');
    if (!parens && !byte_is(text, at, ':'))
        return false;
    location->line = digits_of(text, at + 1);
    location->column = (weir_span){NULL, 0};
    location->end = at + 1 + location->line.len;
    if (!location->line.len)
        return false;
    if (byte_is(text, location->end, parens ? ',' : ':')) {
        weir_span column = digits_of(text, location->end + 1);
        if (column.len) {
            location->column = column;
            location->end += 1 + column.len;
        }
    }
    if (!parens)
        return location->end >= text.len || !wr_is_word(text.ptr[location->end]);
    if (!byte_is(text, location->end, ')'))
        return false;
    location->end++;
    return true;
}

/* End of the path that begins at `at`: at the ':' or '(' before a number. */
static size_t path_end(weir_span text, size_t at)
{
    size_t i = at;
    if (text.len - at > 8 && wr_span_starts(wr_span_from(text, at), WR_LIT("file://")))
        i += 7;
    if (i + 2 < text.len && wr_is_alpha(text.ptr[i]) && text.ptr[i + 1] == ':' &&
        (text.ptr[i + 2] == '\\' || text.ptr[i + 2] == '/'))
        i += 2; /* a drive */
    if (byte_is(text, i, '<'))
        while (i < text.len && text.ptr[i] != ':')
            i++;
    while (i < text.len && i - at <= PATH_BYTES_MAX && in_path(text.ptr[i]))
        i++;
    /* "app/(group)/page.tsx:3": a parenthesis that holds no number belongs to the path. */
    while (byte_is(text, i, '(') && i + 1 < text.len && wr_is_alpha(text.ptr[i + 1]) &&
           memchr(text.ptr + at, '/', i - at)) {
        i++;
        while (i < text.len && i - at <= PATH_BYTES_MAX &&
               (in_path(text.ptr[i]) || text.ptr[i] == ')'))
            i++;
    }
    return i;
}

bool wr_location_read(weir_span text, size_t at, struct wr_location *location)
{
    if (at >= text.len)
        return false;
    size_t end = path_end(text, at);
    location->path = wr_span_cut(text, at, end);
    return end > at && looks_like_path(location->path) && read_numbers(text, end, location);
}

bool wr_location_find(weir_span text, size_t from, struct wr_location *location)
{
    size_t i = from;
    while (i < text.len) {
        if (!in_path(text.ptr[i]) && text.ptr[i] != '<') {
            i++;
            continue;
        }
        if (wr_location_read(text, i, location))
            return true;
        size_t end = path_end(text, i);
        i = end > i ? end : i + 1;
    }
    return false;
}

bool wr_location_is_path(weir_span text)
{
    if (!text.len || text.len > PATH_BYTES_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!in_path(text.ptr[i]) && !memchr("() ", text.ptr[i], 3))
            return false;
    return (has_slash(text) || has_extension(text)) && !memchr(text.ptr, ' ', text.len) &&
           looks_like_path(text);
}
