#include "condense/signal_level.h"

#include "condense/letters.h"
#include "condense/signal_words.h"
#include "condense/volatile.h"

static weir_span behind(weir_span text, size_t prefix)
{
    return wr_span_trim(wr_span_cut(text, prefix, text.len));
}

enum grade { NOTE, WARNING, ERROR, CRITICAL };

/* `loose`: a space behind the word is enough, whatever its case. */
struct level_word {
    weir_span word;
    enum grade grade;
    bool loose;
};

static const struct level_word *find_level(weir_span word)
{
    static const struct level_word levels[] = {
        {WR_WORD("error"), ERROR, true},     {WR_WORD("err"), ERROR, false},
        {WR_WORD("fatal"), CRITICAL, false}, {WR_WORD("critical"), CRITICAL, false},
        {WR_WORD("crit"), CRITICAL, false},  {WR_WORD("severe"), ERROR, false},
        {WR_WORD("panic"), CRITICAL, false}, {WR_WORD("emerg"), CRITICAL, false},
        {WR_WORD("alert"), CRITICAL, false}, {WR_WORD("warning"), WARNING, true},
        {WR_WORD("warn"), WARNING, false},   {WR_WORD("wrn"), WARNING, false},
        {WR_WORD("note"), NOTE, false},      {WR_WORD("help"), NOTE, false},
        {WR_WORD("info"), NOTE, false},      {WR_WORD("remark"), NOTE, false},
        {WR_WORD("hint"), NOTE, false},      {WR_WORD("debug"), NOTE, false},
        {WR_WORD("trace"), NOTE, false},     {WR_WORD("emergency"), CRITICAL, false},
        {WR_WORD("failure"), ERROR, false},
    };
    for (size_t i = 0; i < WR_COUNT_OF(levels); i++)
        if (wr_same_folded(word, levels[i].word))
            return &levels[i];
    return NULL;
}

static bool is_caps(weir_span word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!wr_is_upper(word.ptr[i]))
            return false;
    return word.len > 0;
}

/* "error handling", "warning messages": the word begins a phrase about errors. */
static bool begins_phrase(weir_span rest)
{
    static const weir_span words[] = {
        WR_WORD("handling"),  WR_WORD("handler"),  WR_WORD("handlers"), WR_WORD("message"),
        WR_WORD("messages"),  WR_WORD("codes"),    WR_WORD("boundary"), WR_WORD("boundaries"),
        WR_WORD("reporting"), WR_WORD("rate"),     WR_WORD("rates"),    WR_WORD("logs"),
        WR_WORD("types"),     WR_WORD("recovery"), WR_WORD("state"),    WR_WORD("states"),
        WR_WORD("path"),      WR_WORD("paths"),    WR_WORD("cases"),    WR_WORD("case"),
        WR_WORD("and"),       WR_WORD("or"),       WR_WORD("is"),       WR_WORD("are"),
        WR_WORD("if"),        WR_WORD("when"),     WR_WORD("wrapping"), WR_WORD("checks"),
        WR_WORD("checking"),  WR_WORD("tracking"), WR_WORD("class"),    WR_WORD("classes"),
        WR_WORD("response"),  WR_WORD("page"),     WR_WORD("pages"),    WR_WORD("log"),
        WR_WORD("logging"),   WR_WORD("type"),     WR_WORD("output"),   WR_WORD("="),
        WR_WORD("as"),        WR_WORD("count"),    WR_WORD("counts"),   WR_WORD("budget"),
        WR_WORD("text"),      WR_WORD("strings"),  WR_WORD("field"),    WR_WORD("for")};
    weir_span text = wr_span_trim(rest);
    size_t end = 0;
    while (end < text.len && (wr_is_alpha(text.ptr[end]) || text.ptr[end] == '='))
        end++;
    weir_span word = wr_span_cut(text, 0, end);
    /* "Error response from daemon" is the one such phrase that is an error. */
    if (wr_starts_folded(text, WR_LIT("response from")))
        return false;
    return !text.len || wr_same_as_any_folded(word, words, WR_COUNT_OF(words));
}

/* "0", "none", "null", "nil", "<nil>", "false": that there was no error. */
static bool says_none(weir_span message)
{
    static const weir_span values[] = {
        WR_WORD("0"),         WR_WORD("none"), WR_WORD("null"), WR_WORD("nil"),   WR_WORD("<nil>"),
        WR_WORD("false"),     WR_WORD("\"\""), WR_WORD("no"),   WR_WORD("none."), WR_WORD("null,"),
        WR_WORD("undefined"), WR_WORD("''"),   WR_WORD("[]"),   WR_WORD("{}")};
    return wr_same_as_any_folded(message, values, WR_COUNT_OF(values));
}

static enum wr_signal_kind kind_of(enum grade grade)
{
    return grade == CRITICAL ? WR_SIGNAL_CRITICAL
           : grade == ERROR  ? WR_SIGNAL_ERROR
                             : WR_SIGNAL_WARNING;
}

/* Where the message begins behind a level word that ends at `end`; SIZE_MAX where it is none. */
static size_t message_at(weir_span text, size_t end, bool caps, bool loose)
{
    if (end == text.len)
        return caps ? end : SIZE_MAX;
    char next = text.ptr[end];
    switch (next) {
    case ':':
        /* "error:foo" may be anything, "error::foo" is a path of modules */
        return end + 1 == text.len || wr_is_blank(text.ptr[end + 1]) ? end + 1 : SIZE_MAX;
    case '!':
    case ']':
    case '|':
        return end + 1;
    case '[':
        return caps || (end + 1 < text.len && wr_is_alpha(text.ptr[end + 1])) ? end : SIZE_MAX;
    case '(':
        return caps || loose ? end : SIZE_MAX;
    case ' ':
    case '\t':
        if (begins_phrase(wr_span_cut(text, end, text.len)) && !(caps && text.len > end + 1))
            return SIZE_MAX;
        return caps || loose ? end + 1 : SIZE_MAX;
    default:
        return SIZE_MAX;
    }
}

/* "npm ERR! x", "npm error x", "fatal error: x", "PHP Fatal error:  x", "CMake Error at x". */
static size_t skip_lead(weir_span text)
{
    static const weir_span leads[] = {
        WR_WORD("npm "),  WR_WORD("fatal "), WR_WORD("php fatal "), WR_WORD("php parse "),
        WR_WORD("php "),  WR_WORD("cmake "), WR_WORD("internal "),  WR_WORD("parse "),
        WR_WORD("yarn "), WR_WORD("pnpm "),  WR_WORD("uncaught ")};
    size_t lead = wr_front_of_folded(text, leads, WR_COUNT_OF(leads));
    weir_span rest = wr_span_cut(text, lead, text.len);
    bool level = wr_starts_folded(rest, WR_LIT("err")) || wr_starts_folded(rest, WR_LIT("warn"));
    return level ? lead : 0;
}

static size_t word_end(weir_span text, size_t at)
{
    while (at < text.len && wr_is_alpha(text.ptr[at]))
        at++;
    return at;
}

/* level=error msg="x": the words of logfmt. */
static struct wr_signal_level read_logfmt(weir_span text)
{
    struct wr_signal_level level = {false, false, WR_SIGNAL_ERROR, text};
    size_t at = wr_span_find(text, WR_LIT("level="), 0);
    size_t step = 6;
    if (at == SIZE_MAX) {
        at = wr_span_find(text, WR_LIT("lvl="), 0);
        step = 4;
    }
    if (at == SIZE_MAX || (at && wr_is_word(text.ptr[at - 1])))
        return level;
    at += step;
    at += at < text.len && text.ptr[at] == '"';
    size_t end = word_end(text, at);
    const struct level_word *word = find_level(wr_span_cut(text, at, end));
    if (!word || word->grade < WARNING)
        return level;
    level.found = true;
    level.kind = kind_of(word->grade);
    size_t message = wr_span_find(text, WR_LIT("msg="), 0);
    level.message = message == SIZE_MAX ? behind(text, end) : behind(text, message + 4);
    return level;
}

struct wr_signal_level wr_signal_level_read(weir_span text)
{
    struct wr_signal_level level = {false, false, WR_SIGNAL_ERROR, text};
    size_t start = skip_lead(text);
    start += start < text.len && (text.ptr[start] == '[' || text.ptr[start] == '<');
    size_t end = word_end(text, start);
    weir_span word = wr_span_cut(text, start, end);
    const struct level_word *known = find_level(word);
    if (!known)
        return read_logfmt(text);
    size_t at = message_at(text, end, is_caps(word), known->loose);
    if (at == SIZE_MAX)
        return read_logfmt(text);
    level.message = behind(text, at);
    while (level.message.len && memchr(":-|]", level.message.ptr[0], 4))
        level.message = behind(level.message, 1);
    if (!level.message.len)
        level.message = word;
    if (known->grade <= NOTE || says_none(level.message)) {
        level.note = true;
        return level;
    }
    level.found = true;
    /* git's and make's "fatal:" ends a command, not a service. */
    level.kind = known->grade == CRITICAL && wr_span_is(word, "fatal") ? WR_SIGNAL_ERROR
                                                                       : kind_of(known->grade);
    return level;
}

/* -- what stands before the level -------------------------------------------------------------- */

weir_span wr_signal_without_frame(weir_span text)
{
    static const weir_span marks[] = {WR_WORD("\xe2\x94\x82"),
                                      WR_WORD("\xe2\x95\xb7"),
                                      WR_WORD("\xe2\x95\xb5"),
                                      WR_WORD("| "),
                                      WR_WORD("\xe2\x9d\x8c"),
                                      WR_WORD("\xe2\x9a\xa0"),
                                      WR_WORD("\xef\xb8\x8f"),
                                      WR_WORD("\xe2\x9d\xaf"),
                                      WR_WORD("! "),
                                      WR_WORD("\xf0\x9f\x9a\xa8"),
                                      WR_WORD("> "),
                                      WR_WORD("=> "),
                                      WR_WORD("* ")};
    size_t mark;
    while ((mark = wr_front_of(text, marks, WR_COUNT_OF(marks))))
        text = behind(text, mark);
    return text;
}

enum { BRACKET_BYTES_MAX = 64, NAME_BYTES_MAX = 48, PARTS_MAX = 8 };

static bool is_level(weir_span word)
{
    const struct level_word *level = find_level(wr_span_trim(word));
    return level && level->grade > NOTE;
}

/* "[name]", "(name)", "<6>": not where it holds the level. */
static size_t bracket_end(weir_span text)
{
    char close = text.ptr[0] == '[' ? ']' : text.ptr[0] == '<' ? '>' : 0;
    size_t max = text.len < BRACKET_BYTES_MAX ? text.len : BRACKET_BYTES_MAX;
    const char *end = close ? memchr(text.ptr, close, max) : NULL;
    if (!end)
        return 0;
    size_t len = (size_t)(end - text.ptr);
    weir_span inside = wr_span_cut(text, 1, len);
    if (close == '>' && !wr_is_digit(text.ptr[1]))
        return 0; /* a tag */
    if (is_level(inside) || !inside.len || wr_signal_words_find(inside).found)
        return 0;
    return len + 1;
}

/* "prog[12]:", "host prog[12]:", and the bare names of levels that are no trouble. */
static size_t name_end(weir_span text, bool after_time)
{
    size_t i = 0;
    while (i < text.len && i < NAME_BYTES_MAX &&
           (wr_is_word(text.ptr[i]) || memchr(".-/@", text.ptr[i], 4)))
        i++;
    if (!i || i >= text.len)
        return 0;
    if (text.ptr[i] == '[') {
        size_t digits = i + 1;
        while (digits < text.len && wr_is_digit(text.ptr[digits]))
            digits++;
        if (digits > i + 1 && digits + 1 < text.len && text.ptr[digits] == ']' &&
            text.ptr[digits + 1] == ':')
            return digits + 2;
        return 0;
    }
    const struct level_word *level = find_level(wr_span_cut(text, 0, i));
    if (level)
        return level->grade == NOTE && after_time ? i : 0;
    /* Behind a time a word may be a host or a logger, if then comes a level or "prog[12]:". */
    if (!after_time || text.ptr[i] != ' ')
        return 0;
    weir_span next = behind(text, i);
    size_t end = 0;
    while (end < next.len &&
           (wr_is_word(next.ptr[end]) || next.ptr[end] == '-' || next.ptr[end] == '.'))
        end++;
    if (end < next.len && next.ptr[end] == '[')
        return i;
    weir_span word = wr_span_cut(next, 0, word_end(next, 0));
    return is_level(word) && (is_caps(word) || (word.len < next.len && next.ptr[word.len] == ':'))
               ? i
               : 0;
}

weir_span wr_signal_without_prefix(weir_span text)
{
    bool after_time = false;
    for (int part = 0; part < PARTS_MAX && text.len; part++) {
        size_t taken = wr_volatile_time(text);
        if (taken)
            after_time = true;
        else if ((taken = bracket_end(text)))
            after_time |= wr_volatile_time(wr_span_cut(text, 1, text.len)) > 0;
        else
            taken = name_end(text, after_time);
        if (!taken)
            break;
        text = behind(text, taken);
        while (text.len && memchr(",|:-", text.ptr[0], 4) && text.len > 1 &&
               (wr_is_blank(text.ptr[1]) || text.ptr[0] == ','))
            text = behind(text, 1);
    }
    return text;
}
