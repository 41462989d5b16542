/* The parts of a message that differ from run to run, found at the start of each word: times,
 * durations, ids, hashes, temporary paths. Numbers are replaced only where the word before says
 * that they are such (pid, port, attempt): all others may mean something.
 */
#include "condense/volatile.h"

#include <stdbool.h>

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"
#include "base/words.h"

enum { ESCAPE = 0x1b, BELL = 0x07 };

static bool is_control(char c)
{
    return (unsigned char)c < 0x20;
}

size_t wr_volatile_escape_end(weir_span text, size_t at)
{
    size_t i = at + 1;
    if (i >= text.len || is_control(text.ptr[i]))
        return i;
    char kind = text.ptr[i++];
    if (kind == '[') {
        while (i < text.len && text.ptr[i] >= 0x20 && text.ptr[i] < 0x40)
            i++;
        return i < text.len && !is_control(text.ptr[i]) ? i + 1 : i;
    }
    if (kind != ']')
        return i;
    while (i < text.len && !is_control(text.ptr[i]))
        i++;
    if (i + 1 < text.len && text.ptr[i] == ESCAPE && text.ptr[i + 1] == '\\')
        return i + 2;
    return i < text.len && text.ptr[i] == BELL ? i + 1 : i;
}

size_t wr_volatile_strip_escapes(char *out, weir_span text)
{
    size_t written = 0;
    for (size_t i = 0; i < text.len;) {
        if (text.ptr[i] == ESCAPE)
            i = wr_volatile_escape_end(text, i);
        else
            out[written++] = text.ptr[i++];
    }
    return written;
}

static size_t digits_at(weir_span text, size_t at)
{
    size_t i = at;
    while (i < text.len && wr_is_digit(text.ptr[i]))
        i++;
    return i - at;
}

static bool byte_is(weir_span text, size_t at, char c)
{
    return at < text.len && text.ptr[at] == c;
}

static size_t skip_blanks(weir_span text, size_t at)
{
    while (at < text.len && wr_is_blank(text.ptr[at]))
        at++;
    return at;
}

static bool ends_word(weir_span text, size_t at)
{
    return at >= text.len || !wr_is_word(text.ptr[at]);
}

/* Bytes of the fraction of a second at `at`. In "12:34:56,3ms" there is none: a duration follows.
 */
static size_t fraction_at(weir_span text, size_t at)
{
    if (!byte_is(text, at, '.') && !byte_is(text, at, ','))
        return 0;
    size_t digits = digits_at(text, at + 1);
    bool whole = ends_word(text, at + 1 + digits) || text.ptr[at + 1 + digits] == 'Z';
    return digits && whole ? 1 + digits : 0;
}

/* "12:34:56", with a fraction and a zone where they follow; 0 where there is none. */
static size_t clock_at(weir_span text, size_t at)
{
    size_t hours = digits_at(text, at);
    if (hours < 1 || hours > 2 || !byte_is(text, at + hours, ':') ||
        digits_at(text, at + hours + 1) != 2)
        return 0;
    size_t i = at + hours + 3;
    if (!byte_is(text, i, ':') || digits_at(text, i + 1) != 2)
        return 0;
    i += 3;
    i += fraction_at(text, i);
    if (byte_is(text, i, 'Z'))
        return i + 1 - at;
    size_t zone = byte_is(text, i, ' ') ? i + 1 : i;
    if ((byte_is(text, zone, '+') || byte_is(text, zone, '-')) && digits_at(text, zone + 1) == 4)
        return zone + 5 - at;
    if ((byte_is(text, i, '+') || byte_is(text, i, '-')) && digits_at(text, i + 1) == 2 &&
        byte_is(text, i + 3, ':') && digits_at(text, i + 4) == 2)
        return i + 6 - at;
    return i - at;
}

/* "2024-01-31", "2024/01/31", "31/Jan/2024". */
static size_t date_at(weir_span text)
{
    size_t digits = digits_at(text, 0);
    if (digits == 4 && text.len >= 10 && (text.ptr[4] == '-' || text.ptr[4] == '/') &&
        digits_at(text, 5) == 2 && text.ptr[7] == text.ptr[4] && digits_at(text, 8) == 2)
        return 10;
    if (digits == 2 && text.len >= 11 && text.ptr[2] == '/' && wr_is_alpha(text.ptr[3]) &&
        wr_is_alpha(text.ptr[4]) && wr_is_alpha(text.ptr[5]) && text.ptr[6] == '/' &&
        digits_at(text, 7) == 4)
        return 11;
    return 0;
}

/* "Jan  2 12:34:56", as syslog has it. */
static size_t syslog_time_at(weir_span text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.len < 12 || !wr_is_alpha(text.ptr[0]) || !wr_is_blank(text.ptr[3]))
        return 0;
    bool known = false;
    for (size_t i = 0; i + 3 < sizeof(months) && !known; i += 3)
        known = !memcmp(months + i, text.ptr, 3);
    size_t day = skip_blanks(text, 3);
    size_t digits = known ? digits_at(text, day) : 0;
    size_t behind = skip_blanks(text, day + digits);
    if (digits < 1 || digits > 2 || behind == day + digits)
        return 0;
    size_t clock = clock_at(text, behind);
    return clock && ends_word(text, behind + clock) ? behind + clock : 0;
}

size_t wr_volatile_time(weir_span text)
{
    size_t date = date_at(text);
    if (date) {
        size_t behind = date;
        if (behind < text.len && strchr("T :_", text.ptr[behind]) && text.ptr[behind])
            behind++;
        size_t clock = clock_at(text, behind);
        if (clock && ends_word(text, behind + clock))
            return behind + clock;
        return ends_word(text, date) ? date : 0;
    }
    size_t clock = clock_at(text, 0);
    if (clock)
        return ends_word(text, clock) ? clock : 0;
    size_t digits = digits_at(text, 0);
    bool epoch = (digits == 10 || digits == 13) && text.ptr[0] == '1';
    size_t fraction = epoch && byte_is(text, digits, '.') ? digits_at(text, digits + 1) : 0;
    if (fraction && ends_word(text, digits + 1 + fraction))
        return digits + 1 + fraction;
    if (epoch && ends_word(text, digits))
        return digits;
    return syslog_time_at(text);
}

/* Bytes of the unit at `at`; `far` where a space stands before it, which single letters but "s" may
 * not have. */
static size_t unit_at(weir_span text, size_t at, bool far)
{
    static struct wr_words near_units = WR_WORDS("ns|us|µs|ms|s|m|h|d");
    static struct wr_words far_units =
        WR_WORDS("ns|us|ms|s|sec|secs|second|seconds|min|mins|minute|minutes|hour|hours|"
                 "milliseconds|days");
    weir_span rest = wr_span_from(text, at);
    size_t end = wr_span_starts(rest, WR_LIT("µ")) ? sizeof("µ") - 1 : 0;
    while (end < rest.len && wr_is_alpha(rest.ptr[end]))
        end++;
    bool ends = ends_word(rest, end) || (!far && wr_is_digit(rest.ptr[end]));
    return ends && wr_words_has(far ? &far_units : &near_units, wr_span_cut(rest, 0, end)) ? end
                                                                                           : 0;
}

static size_t number_at(weir_span text, size_t at)
{
    size_t digits = digits_at(text, at);
    if (digits && byte_is(text, at + digits, '.') && digits_at(text, at + digits + 1))
        digits += 1 + digits_at(text, at + digits + 1);
    return digits;
}

size_t wr_volatile_duration(weir_span text)
{
    size_t at = 0;
    for (;;) { /* "1h2m3.5s" */
        size_t number = number_at(text, at);
        size_t unit = number ? unit_at(text, at + number, false) : 0;
        if (!unit)
            break;
        at += number + unit;
        if (ends_word(text, at))
            return at;
    }
    size_t number = number_at(text, 0);
    size_t behind = skip_blanks(text, number);
    size_t unit = !at && number && behind > number ? unit_at(text, behind, true) : 0;
    return unit ? behind + unit : 0;
}

static size_t hex_at(weir_span text, size_t at, bool *digit, bool *letter)
{
    size_t i = at;
    for (; i < text.len && wr_is_hex(text.ptr[i]); i++) {
        *digit |= wr_is_digit(text.ptr[i]);
        *letter |= wr_is_alpha(text.ptr[i]);
    }
    return i - at;
}

static size_t uuid_at(weir_span text)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    bool digit = false, letter = false;
    size_t at = 0;
    for (size_t i = 0; i < WR_COUNT_OF(groups); i++) {
        if (hex_at(text, at, &digit, &letter) != groups[i])
            return 0;
        at += groups[i];
        if (i + 1 < WR_COUNT_OF(groups) && !byte_is(text, at++, '-'))
            return 0;
    }
    return ends_word(text, at) ? at : 0;
}

enum { HASH_BYTES_MIN = 7 };

static size_t hash_at(weir_span text)
{
    bool digit = false, letter = false;
    size_t uuid = uuid_at(text);
    if (uuid)
        return uuid;
    size_t len = hex_at(text, 0, &digit, &letter);
    return len >= HASH_BYTES_MIN && digit && letter && ends_word(text, len) ? len : 0;
}

static size_t address_at(weir_span text)
{
    bool digit = false, letter = false;
    if (text.len < 3 || text.ptr[0] != '0' || wr_lower(text.ptr[1]) != 'x')
        return 0;
    size_t len = hex_at(text, 2, &digit, &letter);
    return len && ends_word(text, 2 + len) ? 2 + len : 0;
}

/* -- what the text before a number says about it ----------------------------------------------- */

/* The word that ends before `at`, over blanks and at most two of "=:#(-". */
static weir_span word_before(weir_span text, size_t at)
{
    size_t end = at;
    int signs = 0;
    while (end &&
           (wr_is_blank(text.ptr[end - 1]) || (memchr("=:#(-", text.ptr[end - 1], 5) && signs < 2)))
        signs += !wr_is_blank(text.ptr[--end]);
    size_t start = end;
    while (start && wr_is_alpha(text.ptr[start - 1]))
        start--;
    return wr_span_cut(text, start, end);
}

static bool counts_things(weir_span word)
{
    static struct wr_words words = WR_WORDS(
        "pid|tid|thread|attempt|retry|retries|seq|request|req|conn|worker|goroutine|connection|"
        "job|process|iteration|task|uptime|try|id|ppid|elapsed");
    return wr_words_has_folded(&words, word);
}

/* Either number of "[12/340]". */
static bool is_progress(weir_span text, size_t at, size_t end)
{
    if (at && text.ptr[at - 1] == '[' && byte_is(text, end, '/'))
        return byte_is(text, end + 1 + digits_at(text, end + 1), ']');
    if (!at || text.ptr[at - 1] != '/' || !byte_is(text, end, ']'))
        return false;
    size_t i = at - 1;
    while (i && wr_is_digit(text.ptr[i - 1]))
        i--;
    return i && i < at - 1 && text.ptr[i - 1] == '[';
}

/* "name[123]", "[12/340]", "#12", "45%", a port the system chose. */
static bool is_counter(weir_span text, size_t at, size_t digits)
{
    char before = at ? text.ptr[at - 1] : 0;
    size_t end = at + digits;
    uint64_t number;
    if (byte_is(text, end, '%') || before == '#')
        return true;
    if (before == '[' && byte_is(text, end, ']') && at > 1 && wr_is_word(text.ptr[at - 2]))
        return true;
    if (is_progress(text, at, end))
        return true;
    if (before == ':' && wr_span_u64(wr_span_cut(text, at, end), &number) && number >= 32768 &&
        number <= 65535)
        return true;
    return counts_things(word_before(text, at));
}

/* -- writing ----------------------------------------------------------------------------------- */

struct writer {
    char *out;
    size_t len, max;
};

static void put(struct writer *w, weir_span bytes)
{
    size_t room = w->max - w->len;
    size_t taken = bytes.len < room ? bytes.len : room;
    memcpy(w->out + w->len, bytes.ptr, taken);
    w->len += taken;
}

/* The random parts of a path below a directory of temporary files; returns the bytes read. */
static size_t put_temporary(struct writer *w, weir_span rest)
{
    static const struct {
        const char *prefix;
        int parts;
    } places[] = {{"/tmp/", 1}, {"/var/folders/", 2}, {"/private/tmp/", 1}, {"/var/tmp/", 1}};
    for (size_t i = 0; i < WR_COUNT_OF(places); i++) {
        weir_span prefix = wr_span_of(places[i].prefix);
        if (!wr_span_starts(rest, prefix))
            continue;
        put(w, prefix);
        size_t at = prefix.len;
        for (int part = 0; part < places[i].parts; part++) {
            size_t start = at;
            bool random = false;
            for (; at < rest.len && (wr_is_word(rest.ptr[at]) || memchr(".-+", rest.ptr[at], 3));
                 at++)
                random |= wr_is_digit(rest.ptr[at]);
            weir_span name = wr_span_cut(rest, start, at);
            random |= wr_span_starts(name, WR_LIT("tmp"));
            put(w, random ? WR_LIT("<tmp>") : name);
            if (part + 1 < places[i].parts && byte_is(rest, at, '/')) {
                put(w, WR_LIT("/"));
                at++;
            }
        }
        return at;
    }
    return 0;
}

/* At the start of a word: writes the mark of what varies there; returns the bytes it took. */
static size_t put_varying(struct writer *w, weir_span text, size_t at)
{
    weir_span rest = wr_span_from(text, at);
    size_t taken;
    if (rest.ptr[0] == '/')
        return put_temporary(w, rest);
    if ((taken = wr_volatile_time(rest))) {
        put(w, WR_LIT("<time>"));
        return taken;
    }
    if ((taken = address_at(rest)) || (taken = hash_at(rest))) {
        put(w, WR_LIT("<hex>"));
        return taken;
    }
    if (!wr_is_digit(rest.ptr[0]))
        return 0;
    if ((taken = wr_volatile_duration(rest))) {
        put(w, WR_LIT("<time>"));
        return taken;
    }
    taken = digits_at(rest, 0);
    if (!ends_word(rest, taken) || !is_counter(text, at, taken))
        return 0;
    put(w, WR_LIT("<n>"));
    return taken;
}

static bool may_vary(weir_span text, size_t at)
{
    char c = text.ptr[at];
    if (c == '/')
        return true;
    if (at && (wr_is_word(text.ptr[at - 1]) || text.ptr[at - 1] == '.'))
        return false;
    return wr_is_hex(c) || (c >= 'A' && c <= 'S'); /* a digit, a hash, a month */
}

/* Never ends inside a character, so that what was cut can be shown. */
static size_t without_half_character(const char *out, size_t len)
{
    size_t start = len;
    while (start && len - start < 3 && wr_utf8_is_tail(out[start - 1]))
        start--;
    if (!start || (unsigned char)out[start - 1] < 0xC0)
        return len;
    unsigned char lead = (unsigned char)out[start - 1];
    size_t needs = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    return len - (start - 1) < needs ? start - 1 : len;
}

size_t wr_volatile_write(char *out, size_t out_bytes_max, weir_span text)
{
    struct writer w = {out, 0, out_bytes_max};
    text = wr_span_trim(text);
    for (size_t i = 0; i < text.len && w.len < w.max;) {
        size_t taken = may_vary(text, i) ? put_varying(&w, text, i) : 0;
        if (taken) {
            i += taken;
        } else if (wr_is_blank(text.ptr[i])) {
            put(&w, WR_LIT(" "));
            while (i < text.len && wr_is_blank(text.ptr[i]))
                i++;
        } else {
            w.out[w.len++] = text.ptr[i++];
        }
    }
    return w.len < w.max ? w.len : without_half_character(out, w.len);
}
