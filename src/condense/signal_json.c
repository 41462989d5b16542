/* Errors in JSON, read line by line and not as a document: what a client cut off, or a condensed
 * form, is no document any more, but its lines still say `"error": "..."`. Which keys and values
 * say so is data, the lists below.
 */
#include "condense/json_tree.h"
#include "condense/signal_scanner.h"

static const char *const ERROR_KEYS[] = {
    "error",
    "errors",
    "err",
    "errormessage",
    "errormsg",
    "errmsg",
    "errordescription",
    "exception",
    "failure",
    "failuremessage",
    "failurereason",
    "lasterror",
    "fatal",
    "traceback",
    "errorinfo",
    NULL,
};
static const char *const STATE_KEYS[] = {"status", "state",   "conclusion",
                                         "result", "outcome", NULL};
static const char *const LEVEL_KEYS[] = {"level", "severity", "lvl", "loglevel", "levelname", NULL};
static const char *const CODE_KEYS[] = {"status", "statuscode", "httpstatus", "httpcode", NULL};
static const char *const EXIT_KEYS[] = {"exitcode", "returncode", "exitstatus", NULL};
static const char *const SUCCESS_KEYS[] = {"success", "ok", "passed", "succeeded", NULL};
static const char *const MESSAGE_KEYS[] = {"message", "msg",  "detail", "reason", "details",
                                           "title",   "type", "code",   NULL};
static const char *const TEXT_KEYS[] = {"message", "msg", NULL};
static const char *const BAD_VALUES[] = {
    "failed",  "failure", "error",    "err",    "fatal",     "critical",       "crit", "panic",
    "failing", "errored", "timedout", "severe", "emergency", "startupfailure", NULL,
};
static const char *const WARNING_VALUES[] = {"warn", "warning", NULL};
static const char *const NO_ERROR_VALUES[] = {"none", "null", "ok",      "false",
                                              "0",    "nil",  "success", NULL};

struct member {
    weir_span key;   /* between its quotes; empty for a string that is no key */
    weir_span value; /* a string's inside, or the token as it stands */
    bool is_string;
    size_t end;
};

/* Equal but for case and the signs that join words. */
static bool same_name(weir_span text, const char *lower)
{
    size_t at = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '_' || c == '-' || c == ' ' || c == '.')
            continue;
        if (!lower[at] || wr_lower(c) != lower[at])
            return false;
        at++;
    }
    return !lower[at] && at;
}

/* Most names differ in the first letter already. */
static bool is_one_of(weir_span text, const char *const *names)
{
    size_t at = 0;
    while (at < text.len && !wr_is_alpha(text.ptr[at]) && !wr_is_digit(text.ptr[at]))
        at++;
    char first = at < text.len ? wr_lower(text.ptr[at]) : 0;
    for (; *names; names++)
        if (**names == first && same_name(text, *names))
            return true;
    return false;
}

static weir_span token_at(weir_span text, size_t at)
{
    size_t end = at;
    if (end < text.len && (text.ptr[end] == '{' || text.ptr[end] == '['))
        return wr_span_cut(text, at, at + 1);
    while (end < text.len && !memchr(",}] \t\r", text.ptr[end], 6))
        end++;
    return wr_span_cut(text, at, end);
}

/* The string at or after `at`, with its value where it is a key. */
static bool next_member(weir_span text, size_t at, struct member *member)
{
    const char *quote = at < text.len ? memchr(text.ptr + at, '"', text.len - at) : NULL;
    if (!quote)
        return false;
    size_t start = (size_t)(quote - text.ptr) + 1, end = wr_json_string_end(text, start);
    weir_span string = wr_span_cut(text, start, end);
    size_t behind = wr_json_skip_blanks(text, end < text.len ? end + 1 : end);
    *member = (struct member){{"", 0}, string, true, behind};
    if (behind >= text.len || text.ptr[behind] != ':')
        return true;
    member->key = string;
    size_t value = wr_json_skip_blanks(text, behind + 1);
    member->is_string = value < text.len && text.ptr[value] == '"';
    if (member->is_string) {
        end = wr_json_string_end(text, value + 1);
        member->value = wr_span_cut(text, value + 1, end);
        member->end = end < text.len ? end + 1 : end;
    } else {
        member->value = token_at(text, value);
        member->end = value + member->value.len;
    }
    return true;
}

static bool is_http_error(weir_span value)
{
    return value.len == 3 && (value.ptr[0] == '4' || value.ptr[0] == '5') &&
           wr_is_digit(value.ptr[1]) && wr_is_digit(value.ptr[2]);
}

static bool is_container(weir_span value)
{
    return value.len == 1 && (value.ptr[0] == '{' || value.ptr[0] == '[');
}

static void add_named(struct wr_signal_scanner *scanner, const struct member *member)
{
    /* Key and value lie side by side in the text, the quotes and the colon between them. */
    const char *end = member->value.ptr + member->value.len;
    wr_signal_add(scanner, WR_SIGNAL_ERROR,
                  (weir_span){member->key.ptr, (size_t)(end - member->key.ptr)});
}

/* What a record says of itself as a whole, wherever in it that stands. */
struct record {
    bool error, warning;
    bool failed;             /* an event of `go test -json`: */
    weir_span package, test; /* of what failed */
};

static struct record judge(weir_span text)
{
    struct record record = {.error = false};
    struct member member;
    for (size_t at = 0; next_member(text, at, &member); at = member.end) {
        if (!member.key.len || !member.is_string)
            continue;
        if (wr_span_is(member.key, "Action"))
            record.failed = wr_span_is(member.value, "fail");
        else if (wr_span_is(member.key, "Package"))
            record.package = member.value;
        else if (wr_span_is(member.key, "Test"))
            record.test = member.value;
        if (!is_one_of(member.key, LEVEL_KEYS))
            continue;
        record.error |= is_one_of(member.value, BAD_VALUES);
        record.warning |= is_one_of(member.value, WARNING_VALUES);
    }
    return record;
}

/* {"Action":"fail","Package":"a.b/c","Test":"TestX"}: "a.b/c TestX". */
static void add_failed_test(struct wr_signal_scanner *scanner, const struct record *record)
{
    char name[WR_SIGNAL_TEXT_BYTES_MAX];
    weir_span package = record->package, test = record->test;
    if (!record->failed || !package.len || package.len + test.len + 1 > sizeof(name))
        return;
    memcpy(name, package.ptr, package.len);
    size_t len = package.len;
    if (test.len) {
        name[len] = ' ';
        memcpy(name + len + 1, test.ptr, test.len);
        len += 1 + test.len;
    }
    wr_signal_add_exact(scanner, WR_SIGNAL_FAILED_TEST, (weir_span){name, len});
}

/* Whether an error's object opens here and goes on in the next lines. */
static bool add_error_member(struct wr_signal_scanner *scanner, const struct member *member,
                             bool *inside)
{
    if (is_container(member->value)) {
        *inside = true;
        return true;
    }
    if (is_one_of(member->value, NO_ERROR_VALUES) || !member->value.len)
        return false;
    if (member->is_string)
        wr_signal_add(scanner, WR_SIGNAL_ERROR, member->value);
    else
        add_named(scanner, member);
    return false;
}

static void add_member(struct wr_signal_scanner *scanner, const struct member *member,
                       struct record record, bool inside)
{
    if (is_one_of(member->key, EXIT_KEYS) && member->value.len &&
        wr_is_digit(member->value.ptr[member->value.len - 1]))
        wr_signal_add_exact(scanner, WR_SIGNAL_EXIT, member->value);
    else if (member->is_string && is_one_of(member->key, STATE_KEYS) &&
             is_one_of(member->value, BAD_VALUES))
        add_named(scanner, member);
    else if (is_one_of(member->key, CODE_KEYS) && is_http_error(member->value))
        add_named(scanner, member);
    else if (is_one_of(member->key, SUCCESS_KEYS) && !member->is_string &&
             wr_span_is(member->value, "false"))
        add_named(scanner, member);
    else if (inside && is_one_of(member->key, MESSAGE_KEYS) && !is_container(member->value) &&
             !wr_span_is(member->value, "null"))
        wr_signal_add(scanner, WR_SIGNAL_ERROR, member->value);
    else if (record.error && is_one_of(member->key, TEXT_KEYS) && member->is_string)
        wr_signal_add(scanner, WR_SIGNAL_ERROR, member->value);
    else if (record.warning && is_one_of(member->key, TEXT_KEYS) && member->is_string)
        wr_signal_add(scanner, WR_SIGNAL_WARNING, member->value);
    else if (member->is_string && is_one_of(member->key, LEVEL_KEYS) &&
             is_one_of(member->value, BAD_VALUES))
        add_named(scanner, member);
}

/* One record of a line. `inside`: it stands in the object of an error. Returns whether such an
 * object was opened in it. */
static bool scan_record(struct wr_signal_scanner *scanner, weir_span text, bool inside)
{
    struct record record = judge(text);
    struct member member;
    bool opened = false;
    bool in_list = inside && text.ptr[0] == '"'; /* strings of "errors": [...] */
    add_failed_test(scanner, &record);
    for (size_t at = 0; next_member(text, at, &member); at = member.end) {
        if (!member.key.len) {
            if (in_list)
                wr_signal_add(scanner, WR_SIGNAL_ERROR, member.value);
            continue;
        }
        in_list = false;
        if (is_one_of(member.key, ERROR_KEYS)) {
            opened |= add_error_member(scanner, &member, &inside);
            in_list = wr_span_is(member.value, "[");
        } else {
            add_member(scanner, &member, record, inside);
        }
    }
    return opened;
}

/* End of the record that begins at `at`: behind the '}' of "},{", or the end of the line. */
static size_t record_end(weir_span text, size_t at)
{
    for (; at < text.len; at++) {
        if (text.ptr[at] == '"')
            at = wr_json_string_end(text, at + 1);
        else if (text.ptr[at] == '}' && at + 1 < text.len && text.ptr[at + 1] == ',' &&
                 wr_json_skip_blanks(text, at + 2) < text.len &&
                 text.ptr[wr_json_skip_blanks(text, at + 2)] == '{')
            return at + 1;
    }
    return text.len;
}

static bool looks_like_json(weir_span text)
{
    char second = text.len > 1 ? text.ptr[1] : 0;
    switch (text.ptr[0]) {
    case '{':
        return !second || memchr("\"} ", second, 3);
    case '[':
        return !second || memchr("\"{[", second, 3);
    case '}':
    case ']':
        return !second || memchr(",]}", second, 3);
    case '"': {
        size_t end = wr_json_string_end(text, 1);
        size_t behind = wr_json_skip_blanks(text, end < text.len ? end + 1 : end);
        return behind == text.len || text.ptr[behind] == ':' || text.ptr[behind] == ',';
    }
    default:
        return false;
    }
}

static bool ends_open(weir_span text)
{
    char last = text.ptr[text.len - 1];
    return last == '{' || last == '[';
}

bool wr_signal_json(struct wr_signal_scanner *scanner, weir_span line)
{
    weir_span text = wr_span_trim(line);
    size_t indent = (size_t)(text.ptr - line.ptr);
    if (!looks_like_json(text))
        return false;
    bool inside = wr_signal_ask_context(scanner) == WR_CONTEXT_JSON;
    if (inside && indent <= scanner->context_indent) {
        wr_signal_reset_context(scanner);
        inside = false;
    }
    bool opened = false;
    for (size_t at = 0; at < text.len;) {
        size_t end = record_end(text, at);
        opened = scan_record(scanner, wr_span_cut(text, at, end), inside);
        at = end;
    }
    if (opened && ends_open(text)) {
        wr_signal_set_context(scanner, WR_CONTEXT_JSON, (weir_span){"", 0});
        scanner->context_indent = indent;
    }
    return true;
}
