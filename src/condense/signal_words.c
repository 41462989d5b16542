/* What the words of a line say: how grave it is ("error: x", "[WARN] x"), what went wrong in the
 * middle of it ("no such file"), whether it heads a stack, whether it is rather a line of a
 * program.
 *
 * What is known of words is data, lists in the notation of base/words.h; the code only says how a
 * word must stand. The same words are in many lines that are no trouble ("0 failed",
 * `error_handler`, "src/errors.go"), so most of the code is about these. No line comes here that
 * the gate of signal.c has not let in.
 */
#include "condense/signal_scanner.h"
#include "condense/volatile.h"

/* -- phrases ----------------------------------------------------------------------------------- */

/* What says in the middle of a line that something went wrong, by its first letter. A phrase stands
 * between word boundaries and in any case, and is an error, unless marks behind it say otherwise:
 *
 *   !  it is critical
 *   =  in this very case
 *   ^  a word need only begin with it
 *   @  nothing else is on the line, but for a full stop
 *   $  it ends the line, behind ": "
 *   #  it may be counted: "0 failed", "no failures" and "failures=0" say nothing
 *   ~  one of `verbs` follows, or the line begins with it */
static struct wr_words phrases[26] = {
    ['a' - 'a'] = WR_WORDS("aborted!|abort trap!|addresssanitizer!|access denied|access is denied|"
                           "already in use|all warnings being treated as errors"),
    ['b' - 'a'] = WR_WORDS("bus error!|BUG:!=|broken pipe|build stopped|build error"),
    ['c' - 'a'] = WR_WORDS("CRITICAL!=|CONFLICT=|core dumped!|command not found|connection refused|"
                           "connection reset|crashloopbackoff|caused by:|could not resolve|"
                           "cannot~|can't~|could not~|couldn't~|can not~"),
    ['d' - 'a'] = WR_WORDS("double free!|deadlock!|deadline exceeded!|data race!|does not exist"),
    ['e' - 'a'] =
        WR_WORDS("ERROR=|errimagepull|evicted|enoent|eacces|econnrefused|econnreset|eaddrinuse|"
                 "eperm|etimedout|eresolve|epipe|err_pnpm_^"),
    ['f' - 'a'] = WR_WORDS("failed#|failure#|failures#|fail@|FAIL=|FATAL!="),
    ['i' - 'a'] = WR_WORDS("illegal instruction!|is a directory|imagepullbackoff"),
    ['k' - 'a'] = WR_WORDS("killed!@|killed by signal!|Killed!="),
    ['l' - 'a'] = WR_WORDS("leaksanitizer!"),
    ['m' - 'a'] =
        WR_WORDS("module not found|multiple definition of|merge conflict|missing separator"),
    ['n' - 'a'] = WR_WORDS("no space left on device!|no such|not found$|not recognized as|"
                           "not a directory|not a git repository"),
    ['o' - 'a'] =
        WR_WORDS("OOM!=|OOMKilled!=|out of memory!|oom-kill!|oom-killer!|operation not permitted"),
    ['p' - 'a'] = WR_WORDS("permission denied"),
    ['r' - 'a'] = WR_WORDS("rejected]|rejected@|remote rejected@"),
    ['s' - 'a'] =
        WR_WORDS("segmentation fault!|segfault!|stack overflow!|stack smashing detected!|"
                 "symbol(s) not found^|SIGKILL!=|SIGSEGV!=|SIGABRT!=|SIGTERM!=|syntax error"),
    ['t' - 'a'] = WR_WORDS("terminated!@|timed out!|timeout exceeded!|threadsanitizer!|"
                           "traceback (most recent"),
    ['u' - 'a'] =
        WR_WORDS("undefinedbehaviorsanitizer!|undefined reference|undefined symbol|"
                 "undefined method|undefined local variable|unresolved reference|"
                 "undefined symbols|unresolved external|unexpected token|unhandled|uncaught|"
                 "unauthorized|undefined:^|unable to~"),
};

/* "cannot open", "could not find", "unable to start": with any other verb they are prose. */
static const char verbs[] =
    "open|find|access|read|write|create|load|resolve|connect|import|parse|allocate|execute|stat|"
    "remove|locate|start|fetch|compile|bind|lock|delete|exec|run|assign|convert|install|determine|"
    "get|update|apply|mount|move|copy|rename|borrow|detect|download|build|pull|push|checkout|"
    "change|spawn|stat:|infer|use|call|set|destructure|overwrite|unpack|link|decode";

static bool is_joint(char c)
{
    return wr_is_word(c) || c == '/' || c == '.' || c == '-' || c == '\\' || c == '$' || c == '@';
}

static bool begins_word(weir_span text, size_t at)
{
    return !at || !is_joint(text.ptr[at - 1]);
}

/* "errors.go", "error-prone", "error_handler", "failed()" go on; "failed." ends. */
static bool ends_word(weir_span text, size_t at)
{
    if (at >= text.len)
        return true;
    char c = text.ptr[at], next = at + 1 < text.len ? text.ptr[at + 1] : 0;
    if (wr_is_word(c) || c == '(')
        return false;
    return !is_joint(c) || !wr_is_word(next);
}

/* The word, or number, that ends before `at`. */
static weir_span word_before(weir_span text, size_t at)
{
    while (at && wr_is_blank(text.ptr[at - 1]))
        at--;
    size_t start = at;
    while (start && is_joint(text.ptr[start - 1]))
        start--;
    return wr_span_cut(text, start, at);
}

/* "0 failed", "no failures", "on failure", "failures: 0", "failed=false": nothing went wrong. */
static bool is_denied(weir_span text, size_t at, size_t end)
{
    weir_span rest = wr_span_from(text, end);
    if (wr_is_any_of_folded(word_before(text, at), "0|no|not|without|never|zero|if|when|on|any"))
        return true;
    if (!rest.len || (rest.ptr[0] != ':' && rest.ptr[0] != '='))
        return false;
    weir_span value = wr_span_trim(wr_span_from(rest, 1));
    bool zero = value.len && value.ptr[0] == '0' && ends_word(value, 1);
    return zero || wr_front_of_folded(value, "false|none|null|nil");
}

/* Behind a negation that ends at `end`. */
static bool stands_negation(weir_span text, size_t at, size_t end)
{
    if (text.len < end + 3 || text.ptr[end] != ' ')
        return false;
    weir_span behind = wr_span_from(text, end + 1), verb;
    if (wr_starts_folded(behind, WR_LIT("be ")) && at)
        return false;
    for (const char *list = verbs; wr_list_next(&list, &verb);)
        if (wr_starts_folded(behind, verb) && ends_word(behind, verb.len))
            return true;
    return !at; /* what begins with it is a message whatever the verb */
}

/* Whether `phrase`, without its marks, stands at `at` as `mark` asks. */
static bool stands(weir_span text, size_t at, weir_span phrase, char mark)
{
    weir_span rest = wr_span_from(text, at);
    size_t len = phrase.len;
    if (mark == '=' ? !wr_span_starts(rest, phrase) : !wr_starts_folded(rest, phrase))
        return false;
    switch (mark) {
    case '^':
        return true;
    case '@':
        return !at && (rest.len == len || (rest.len == len + 1 && rest.ptr[len] == '.'));
    case '$':
        return rest.len == len && wr_span_ends(wr_span_cut(text, 0, at), WR_LIT(": "));
    case '#':
        return ends_word(rest, len) && !is_denied(text, at, at + len);
    case '~':
        return stands_negation(text, at, at + len);
    default:
        return ends_word(rest, len) || !wr_is_word(phrase.ptr[len - 1]);
    }
}

static bool find_phrase(weir_span text, size_t at, enum wr_signal_kind *kind)
{
    struct wr_words *of_letter = &phrases[wr_lower(text.ptr[at]) - 'a'];
    const char *list = of_letter->list;
    if (!list || !wr_words_may_begin(of_letter, wr_span_from(text, at)))
        return false;
    weir_span words = wr_span_of(list);
    for (size_t word = 0;; word++) {
        word = wr_list_seek(words, word, 1, text.ptr[at + 1]);
        if (word == words.len)
            return false;
        const char *next = list + word;
        weir_span phrase;
        (void)wr_list_next(&next, &phrase);
        bool grave = false;
        char mark = 0;
        for (char c; memchr("!=^@$#~", c = phrase.ptr[phrase.len - 1], 7); phrase.len--) {
            grave |= c == '!';
            mark = c == '!' ? mark : c;
        }
        if (stands(text, at, phrase, mark)) {
            *kind = grave ? WR_SIGNAL_CRITICAL : WR_SIGNAL_ERROR;
            return true;
        }
    }
}

/* The word that ends at the ':' at `colon`, letters joined to its front or not: "TypeError:". */
static bool ends_trouble(weir_span text, size_t colon, enum wr_signal_kind *kind)
{
    static const char words[] = "error|exception|fatal|panic|errors";
    weir_span word;
    for (const char *list = words; wr_list_next(&list, &word);) {
        if (colon < word.len || !wr_same_folded(wr_span_cut(text, colon - word.len, colon), word))
            continue;
        size_t start = colon - word.len;
        char before = start ? text.ptr[start - 1] : ' ';
        /* "SomeError:" joins by its capital; "some_error:" and "stderr:" are names of values. */
        bool joined = wr_is_alpha(before) && wr_is_upper(text.ptr[start]);
        if ((wr_is_word(before) && !joined) || before == '/' || before == '-' || before == '"')
            return false;
        *kind = word.ptr[0] == 'p' ? WR_SIGNAL_CRITICAL : WR_SIGNAL_ERROR;
        return !is_denied(text, start, colon);
    }
    return false;
}

/* `"GET / HTTP/1.1" 500`, "HTTP/1.1 404", "HTTP 500", "status code 404", "status=502". */
static bool says_http_error(weir_span text, size_t digits)
{
    static struct wr_words fronts = WR_WORDS(
        "HTTP/1.1\" |HTTP/1.0\" |HTTP/2.0\" |HTTP/2\" |HTTP/1.1 |HTTP/2 |HTTP |status code |"
        "status code: |status=|status: |status |status_code=");
    char c = text.ptr[digits];
    if ((c != '4' && c != '5') || digits + 3 > text.len || !wr_is_digit(text.ptr[digits + 1]) ||
        !wr_is_digit(text.ptr[digits + 2]) || !ends_word(text, digits + 3))
        return false;
    weir_span before = wr_span_cut(text, 0, digits);
    return wr_words_end(&fronts, before);
}

/* Looks at what begins at `at`. */
static bool found_at(weir_span text, size_t at, enum wr_signal_kind *kind)
{
    char c = text.ptr[at];
    *kind = WR_SIGNAL_ERROR;
    if (wr_is_digit(c))
        return (!at || !wr_is_word(text.ptr[at - 1])) && says_http_error(text, at);
    if (c == ':')
        return (at + 1 == text.len || wr_is_blank(text.ptr[at + 1])) &&
               ends_trouble(text, at, kind);
    return wr_is_alpha(c) && begins_word(text, at) && find_phrase(text, at, kind);
}

struct wr_signal_words wr_signal_words_find(weir_span text)
{
    struct wr_signal_words words = {false, WR_SIGNAL_ERROR};
    enum wr_signal_kind kind;
    for (size_t i = 0; i < text.len && (!words.found || words.kind != WR_SIGNAL_CRITICAL); i++)
        if (found_at(text, i, &kind))
            words = (struct wr_signal_words){true, kind};
    words.found |= wr_front_of(text, "*** [|*** No rule") ||
                   (wr_span_starts(text, WR_LIT("make")) && wr_span_has(text, WR_LIT(": *** ")));
    return words;
}

/* -- exceptions -------------------------------------------------------------------------------- */

static bool ends_as_exception(weir_span name)
{
    static struct wr_words ends = WR_WORDS("Error|Exception|Interrupt|Exit|Failure|Fault|Warning");
    size_t end = wr_words_end(&ends, name);
    return end && name.len > end; /* "Error: x" and "Warning: x" are levels, not names */
}

bool wr_signal_is_exception(weir_span text)
{
    static struct wr_words fronts = WR_WORDS(
        "Caused by: |Exception in thread |Unhandled exception|Uncaught exception|Suppressed: |"
        "Traceback (most recent call last)");
    if (wr_words_front(&fronts, text))
        return true;
    size_t end = 0, last = 0;
    unsigned dots = 0;
    for (; end < text.len &&
           (wr_is_word(text.ptr[end]) || text.ptr[end] == '.' || text.ptr[end] == '$');
         end++)
        if (text.ptr[end] == '.' || text.ptr[end] == '$') {
            last = end + 1;
            dots++;
        }
    bool closed = end == text.len ||
                  (text.ptr[end] == ':' && (end + 1 == text.len || text.ptr[end + 1] == ' '));
    /* "PluginError [ERR_X]: message" of Node */
    closed |= wr_span_starts(wr_span_from(text, end), WR_LIT(" ["));
    if (!closed || last >= end || !wr_is_upper(text.ptr[last]))
        return false;
    weir_span name = wr_span_cut(text, last, end);
    if (ends_as_exception(name))
        return true;
    return dots >= 2 && wr_is_alpha(text.ptr[0]) && end + 1 < text.len; /* "a.b.Custom: message" */
}

enum wr_signal_kind wr_signal_exception_kind(weir_span text)
{
    size_t end = 0;
    while (end < text.len && (wr_is_word(text.ptr[end]) || text.ptr[end] == '.'))
        end++;
    return wr_span_ends(wr_span_cut(text, 0, end), WR_LIT("Warning")) ? WR_SIGNAL_WARNING
                                                                      : WR_SIGNAL_ERROR;
}

/* -- code -------------------------------------------------------------------------------------- */

bool wr_signal_is_code(weir_span text)
{
    static struct wr_words fronts = WR_WORDS(
        "//|/*|#include|import |return |raise |throw |def |func |fn |const |let |var |expect(|"
        "console.|if (|if err|} |\"\"\"|<!--|log.|logger.|fmt.|t.Fatal|t.Error|t.Log|assert |"
        "assert.|pub |public |private |static |async |await |self.|this.|print(|echo |else |case |"
        "elif |except |catch |class |export |with |for (|while (|it(|test(|describe(|require.|- [|"
        "* ");
    return wr_words_front(&fronts, text) || wr_end_of(text, ";|{|(|),|=>|):|&&|\\") ||
           wr_span_ends(text, WR_LIT("||"));
}

/* -- levels ------------------------------------------------------------------------------------ */

enum { NOTE = WR_SIGNAL_KINDS }; /* less than a warning */

struct level_words {
    int kind;   /* enum wr_signal_kind, or NOTE */
    bool loose; /* a space behind the word is enough, whatever its case */
    struct wr_words words;
};

static const struct level_words *find_level(weir_span word)
{
    static struct level_words levels[] = {
        {WR_SIGNAL_ERROR, true, WR_WORDS("error")},
        {WR_SIGNAL_ERROR, false, WR_WORDS("err|severe|failure")},
        {WR_SIGNAL_CRITICAL, false, WR_WORDS("fatal|critical|crit|panic|emerg|emergency|alert")},
        {WR_SIGNAL_WARNING, true, WR_WORDS("warning")},
        {WR_SIGNAL_WARNING, false, WR_WORDS("warn|wrn")},
        {NOTE, false, WR_WORDS("note|help|info|remark|hint|debug|trace")},
    };
    for (size_t i = 0; i < WR_COUNT_OF(levels); i++)
        if (wr_words_has_folded(&levels[i].words, word))
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
    static const char words[] =
        "handling|handler|handlers|message|messages|codes|boundary|boundaries|reporting|rate|"
        "rates|logs|types|recovery|state|states|path|paths|cases|case|and|or|is|are|if|when|"
        "wrapping|checks|checking|tracking|class|classes|response|page|pages|log|logging|type|"
        "output|=|as|count|counts|budget|text|strings|field|for";
    weir_span text = wr_span_trim(rest);
    size_t end = 0;
    while (end < text.len && (wr_is_alpha(text.ptr[end]) || text.ptr[end] == '='))
        end++;
    weir_span word = wr_span_cut(text, 0, end);
    /* "Error response from daemon" is the one such phrase that is an error. */
    if (wr_starts_folded(text, WR_LIT("response from")))
        return false;
    return !text.len || wr_is_any_of_folded(word, words);
}

/* That there was no error. */
static bool says_none(weir_span message)
{
    static struct wr_words nones =
        WR_WORDS("0|none|null|nil|<nil>|false|\"\"|no|none.|null,|undefined|''|[]|{}");
    return wr_words_has_folded(&nones, message);
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
        if (begins_phrase(wr_span_from(text, end)) && !(caps && text.len > end + 1))
            return SIZE_MAX;
        return caps || loose ? end + 1 : SIZE_MAX;
    default:
        return SIZE_MAX;
    }
}

/* "npm ERR! x", "npm error x", "fatal error: x", "PHP Fatal error:  x", "CMake Error at x". */
static size_t skip_lead(weir_span text)
{
    static struct wr_words leads = WR_WORDS(
        "npm |fatal |php fatal |php parse |php |cmake |internal |parse |yarn |pnpm |uncaught ");
    size_t lead = wr_words_front_folded(&leads, text);
    return wr_front_of_folded(wr_span_from(text, lead), "err|warn") ? lead : 0;
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
    const struct level_words *word = find_level(wr_span_cut(text, at, end));
    if (!word || word->kind == NOTE)
        return level;
    level.found = true;
    level.kind = (enum wr_signal_kind)word->kind;
    size_t message = wr_span_find(text, WR_LIT("msg="), 0);
    level.message =
        message == SIZE_MAX ? wr_signal_behind(text, end) : wr_signal_behind(text, message + 4);
    return level;
}

struct wr_signal_level wr_signal_level_read(weir_span text)
{
    struct wr_signal_level level = {false, false, WR_SIGNAL_ERROR, text};
    size_t start = skip_lead(text);
    start += start < text.len && (text.ptr[start] == '[' || text.ptr[start] == '<');
    size_t end = word_end(text, start);
    weir_span word = wr_span_cut(text, start, end);
    const struct level_words *known = find_level(word);
    if (!known)
        return read_logfmt(text);
    size_t at = message_at(text, end, is_caps(word), known->loose);
    if (at == SIZE_MAX)
        return read_logfmt(text);
    level.message = wr_signal_behind(text, at);
    while (level.message.len && memchr(":-|]", level.message.ptr[0], 4))
        level.message = wr_signal_behind(level.message, 1);
    if (!level.message.len)
        level.message = word;
    if (known->kind == NOTE || says_none(level.message)) {
        level.note = true;
        return level;
    }
    level.found = true;
    /* git's and make's "fatal:" ends a command, not a service. */
    level.kind = wr_span_is(word, "fatal") ? WR_SIGNAL_ERROR : (enum wr_signal_kind)known->kind;
    return level;
}

/* -- what stands before a level -------------------------------------------------------------- */

weir_span wr_signal_without_frame(weir_span text)
{
    static struct wr_words marks = WR_WORDS("│|╷|╵|❌|⚠|\xef\xb8\x8f|❯|! |🚨|> |=> |* ");
    size_t mark;
    while ((mark = wr_span_starts(text, WR_LIT("| ")) ? 2 : wr_words_front(&marks, text)))
        text = wr_signal_behind(text, mark);
    return text;
}

enum { BRACKET_BYTES_MAX = 64, NAME_BYTES_MAX = 48, PARTS_MAX = 8 };

static bool is_level(weir_span word)
{
    const struct level_words *level = find_level(wr_span_trim(word));
    return level && level->kind != NOTE;
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
    const struct level_words *level = find_level(wr_span_cut(text, 0, i));
    if (level)
        return level->kind == NOTE && after_time ? i : 0;
    /* Behind a time a word may be a host or a logger, if then comes a level or "prog[12]:". */
    if (!after_time || text.ptr[i] != ' ')
        return 0;
    weir_span next = wr_signal_behind(text, i);
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
            after_time |= wr_volatile_time(wr_span_from(text, 1)) > 0;
        else
            taken = name_end(text, after_time);
        if (!taken)
            break;
        text = wr_signal_behind(text, taken);
        while (text.len && memchr(",|:-", text.ptr[0], 4) && text.len > 1 &&
               (wr_is_blank(text.ptr[1]) || text.ptr[0] == ','))
            text = wr_signal_behind(text, 1);
    }
    return text;
}
