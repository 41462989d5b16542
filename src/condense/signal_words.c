#include "condense/signal_words.h"

#include "condense/letters.h"

/* How a phrase must stand to count. */
enum stance {
    WORD,    /* between word boundaries */
    FRONT,   /* a word begins with it */
    CASED,   /* between word boundaries, and in this very case */
    ALONE,   /* nothing else on the line */
    LAST,    /* at the end of the line, behind ": " */
    COUNTED, /* a word, and no "0", "no" or "without" before it, no "=0" behind it */
};

enum { BAD = WR_SIGNAL_ERROR, GRAVE = WR_SIGNAL_CRITICAL };

struct phrase {
    weir_span text; /* lower case, but for CASED */
    enum stance stance;
    int kind;
};

static const struct phrase phrases_a[] = {
    {WR_WORD("aborted"), WORD, GRAVE},
    {WR_WORD("abort trap"), WORD, GRAVE},
    {WR_WORD("addresssanitizer"), WORD, GRAVE},
    {WR_WORD("access denied"), WORD, BAD},
    {WR_WORD("access is denied"), WORD, BAD},
    {WR_WORD("already in use"), WORD, BAD},
    {WR_WORD("all warnings being treated as errors"), WORD, BAD},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_b[] = {
    {WR_WORD("bus error"), WORD, GRAVE}, {WR_WORD("BUG:"), CASED, GRAVE},
    {WR_WORD("broken pipe"), WORD, BAD}, {WR_WORD("build stopped"), WORD, BAD},
    {WR_WORD("build error"), WORD, BAD}, {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_c[] = {
    {WR_WORD("CRITICAL"), CASED, GRAVE},        {WR_WORD("CONFLICT"), CASED, BAD},
    {WR_WORD("core dumped"), WORD, GRAVE},      {WR_WORD("command not found"), WORD, BAD},
    {WR_WORD("connection refused"), WORD, BAD}, {WR_WORD("connection reset"), WORD, BAD},
    {WR_WORD("crashloopbackoff"), WORD, BAD},   {WR_WORD("caused by:"), WORD, BAD},
    {WR_WORD("could not resolve"), WORD, BAD},  {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_d[] = {
    {WR_WORD("double free"), WORD, GRAVE},       {WR_WORD("deadlock"), WORD, GRAVE},
    {WR_WORD("deadline exceeded"), WORD, GRAVE}, {WR_WORD("data race"), WORD, GRAVE},
    {WR_WORD("does not exist"), WORD, BAD},      {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_e[] = {
    {WR_WORD("ERROR"), CASED, BAD},     {WR_WORD("errimagepull"), WORD, BAD},
    {WR_WORD("evicted"), WORD, BAD},    {WR_WORD("enoent"), WORD, BAD},
    {WR_WORD("eacces"), WORD, BAD},     {WR_WORD("econnrefused"), WORD, BAD},
    {WR_WORD("econnreset"), WORD, BAD}, {WR_WORD("eaddrinuse"), WORD, BAD},
    {WR_WORD("eperm"), WORD, BAD},      {WR_WORD("etimedout"), WORD, BAD},
    {WR_WORD("eresolve"), WORD, BAD},   {WR_WORD("epipe"), WORD, BAD},
    {WR_WORD("err_pnpm_"), FRONT, BAD}, {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_f[] = {
    {WR_WORD("failed"), COUNTED, BAD},
    {WR_WORD("failure"), COUNTED, BAD},
    {WR_WORD("failures"), COUNTED, BAD},
    {WR_WORD("fail"), ALONE, BAD},
    {WR_WORD("FAIL"), CASED, BAD},
    {WR_WORD("FATAL"), CASED, GRAVE},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_i[] = {
    {WR_WORD("illegal instruction"), WORD, GRAVE},
    {WR_WORD("is a directory"), WORD, BAD},
    {WR_WORD("imagepullbackoff"), WORD, BAD},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_k[] = {
    {WR_WORD("killed"), ALONE, GRAVE},
    {WR_WORD("killed by signal"), WORD, GRAVE},
    {WR_WORD("Killed"), CASED, GRAVE},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_l[] = {
    {WR_WORD("leaksanitizer"), WORD, GRAVE},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_m[] = {
    {WR_WORD("module not found"), WORD, BAD},
    {WR_WORD("multiple definition of"), WORD, BAD},
    {WR_WORD("merge conflict"), WORD, BAD},
    {WR_WORD("missing separator"), WORD, BAD},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_n[] = {
    {WR_WORD("no space left on device"), WORD, GRAVE},
    {WR_WORD("no such file"), WORD, BAD},
    {WR_WORD("no such"), WORD, BAD},
    {WR_WORD("not found"), LAST, BAD},
    {WR_WORD("not recognized as"), WORD, BAD},
    {WR_WORD("not a directory"), WORD, BAD},
    {WR_WORD("not a git repository"), WORD, BAD},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_o[] = {
    {WR_WORD("OOM"), CASED, GRAVE},
    {WR_WORD("OOMKilled"), CASED, GRAVE},
    {WR_WORD("out of memory"), WORD, GRAVE},
    {WR_WORD("oom-kill"), WORD, GRAVE},
    {WR_WORD("oom-killer"), WORD, GRAVE},
    {WR_WORD("operation not permitted"), WORD, BAD},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_p[] = {
    {WR_WORD("permission denied"), WORD, BAD},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_r[] = {
    {WR_WORD("rejected]"), WORD, BAD},
    {WR_WORD("rejected"), ALONE, BAD},
    {WR_WORD("remote rejected"), ALONE, BAD},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_s[] = {
    {WR_WORD("segmentation fault"), WORD, GRAVE},
    {WR_WORD("segfault"), WORD, GRAVE},
    {WR_WORD("stack overflow"), WORD, GRAVE},
    {WR_WORD("stack smashing detected"), WORD, GRAVE},
    {WR_WORD("symbol(s) not found"), FRONT, BAD},
    {WR_WORD("SIGKILL"), CASED, GRAVE},
    {WR_WORD("SIGSEGV"), CASED, GRAVE},
    {WR_WORD("SIGABRT"), CASED, GRAVE},
    {WR_WORD("SIGTERM"), CASED, GRAVE},
    {WR_WORD("syntax error"), WORD, BAD},
    {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_t[] = {
    {WR_WORD("terminated"), ALONE, GRAVE},          {WR_WORD("timed out"), WORD, GRAVE},
    {WR_WORD("timeout exceeded"), WORD, GRAVE},     {WR_WORD("threadsanitizer"), WORD, GRAVE},
    {WR_WORD("traceback (most recent"), WORD, BAD}, {{NULL, 0}, WORD, BAD},
};
static const struct phrase phrases_u[] = {
    {WR_WORD("undefinedbehaviorsanitizer"), WORD, GRAVE},
    {WR_WORD("undefined reference"), WORD, BAD},
    {WR_WORD("undefined symbol"), WORD, BAD},
    {WR_WORD("undefined method"), WORD, BAD},
    {WR_WORD("undefined local variable"), WORD, BAD},
    {WR_WORD("unresolved reference"), WORD, BAD},
    {WR_WORD("undefined symbols"), WORD, BAD},
    {WR_WORD("unresolved external"), WORD, BAD},
    {WR_WORD("unexpected token"), WORD, BAD},
    {WR_WORD("unhandled"), WORD, BAD},
    {WR_WORD("uncaught"), WORD, BAD},
    {WR_WORD("unauthorized"), WORD, BAD},
    {WR_WORD("undefined:"), FRONT, BAD},
    {{NULL, 0}, WORD, BAD},
};

/* By their first letter. */
static const struct phrase *const phrases[26] = {
    ['a' - 'a'] = phrases_a, ['b' - 'a'] = phrases_b, ['c' - 'a'] = phrases_c,
    ['d' - 'a'] = phrases_d, ['e' - 'a'] = phrases_e, ['f' - 'a'] = phrases_f,
    ['i' - 'a'] = phrases_i, ['k' - 'a'] = phrases_k, ['l' - 'a'] = phrases_l,
    ['m' - 'a'] = phrases_m, ['n' - 'a'] = phrases_n, ['o' - 'a'] = phrases_o,
    ['p' - 'a'] = phrases_p, ['r' - 'a'] = phrases_r, ['s' - 'a'] = phrases_s,
    ['t' - 'a'] = phrases_t, ['u' - 'a'] = phrases_u,
};

/* "cannot open", "could not find", "unable to start": with any other verb they are prose. */
static const weir_span negations[] = {WR_WORD("cannot"),    WR_WORD("can't"),
                                      WR_WORD("could not"), WR_WORD("couldn't"),
                                      WR_WORD("unable to"), WR_WORD("can not")};
static const weir_span verbs[] = {
    WR_WORD("open"),    WR_WORD("find"),        WR_WORD("access"),    WR_WORD("read"),
    WR_WORD("write"),   WR_WORD("create"),      WR_WORD("load"),      WR_WORD("resolve"),
    WR_WORD("connect"), WR_WORD("import"),      WR_WORD("parse"),     WR_WORD("allocate"),
    WR_WORD("execute"), WR_WORD("stat"),        WR_WORD("remove"),    WR_WORD("locate"),
    WR_WORD("start"),   WR_WORD("fetch"),       WR_WORD("compile"),   WR_WORD("bind"),
    WR_WORD("lock"),    WR_WORD("delete"),      WR_WORD("exec"),      WR_WORD("run"),
    WR_WORD("assign"),  WR_WORD("convert"),     WR_WORD("install"),   WR_WORD("determine"),
    WR_WORD("get"),     WR_WORD("update"),      WR_WORD("apply"),     WR_WORD("mount"),
    WR_WORD("move"),    WR_WORD("copy"),        WR_WORD("rename"),    WR_WORD("borrow"),
    WR_WORD("detect"),  WR_WORD("download"),    WR_WORD("build"),     WR_WORD("pull"),
    WR_WORD("push"),    WR_WORD("checkout"),    WR_WORD("change"),    WR_WORD("spawn"),
    WR_WORD("stat:"),   WR_WORD("infer"),       WR_WORD("use"),       WR_WORD("call"),
    WR_WORD("set"),     WR_WORD("destructure"), WR_WORD("overwrite"), WR_WORD("unpack"),
    WR_WORD("link"),    WR_WORD("decode")};

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
    static const weir_span words[] = {
        WR_WORD("0"),    WR_WORD("no"), WR_WORD("not"),  WR_WORD("without"), WR_WORD("never"),
        WR_WORD("zero"), WR_WORD("if"), WR_WORD("when"), WR_WORD("on"),      WR_WORD("any")};
    weir_span before = word_before(text, at), rest = wr_span_cut(text, end, text.len);
    if (wr_same_as_any_folded(before, words, WR_COUNT_OF(words)))
        return true;
    if (!rest.len || (rest.ptr[0] != ':' && rest.ptr[0] != '='))
        return false;
    weir_span value = wr_span_trim(wr_span_cut(rest, 1, rest.len));
    bool zero = value.len && value.ptr[0] == '0' && ends_word(value, 1);
    return zero || wr_starts_folded(value, WR_LIT("false")) ||
           wr_starts_folded(value, WR_LIT("none")) || wr_starts_folded(value, WR_LIT("null")) ||
           wr_starts_folded(value, WR_LIT("nil"));
}

static bool stands(weir_span text, size_t at, const struct phrase *phrase)
{
    weir_span rest = wr_span_cut(text, at, text.len), sought = phrase->text;
    bool same =
        phrase->stance == CASED ? wr_span_starts(rest, sought) : wr_starts_folded(rest, sought);
    if (!same)
        return false;
    switch (phrase->stance) {
    case FRONT:
        return true;
    case ALONE:
        return rest.len == text.len && (rest.len == sought.len || (rest.len == sought.len + 1 &&
                                                                   rest.ptr[sought.len] == '.'));
    case LAST:
        return rest.len == sought.len && at > 1 && text.ptr[at - 1] == ' ' &&
               text.ptr[at - 2] == ':';
    case COUNTED:
        return ends_word(rest, sought.len) && !is_denied(text, at, at + sought.len);
    case WORD:
    case CASED:
        break;
    }
    return ends_word(rest, sought.len) || !wr_is_word(sought.ptr[sought.len - 1]);
}

/* "cannot open", "could not find", at a word's start. */
static bool stands_negation(weir_span text, size_t at)
{
    weir_span rest = wr_span_cut(text, at, text.len);
    for (size_t i = 0; i < WR_COUNT_OF(negations); i++) {
        weir_span sought = negations[i];
        if (!wr_starts_folded(rest, sought) || rest.len < sought.len + 3 ||
            rest.ptr[sought.len] != ' ')
            continue;
        weir_span behind = wr_span_cut(rest, sought.len + 1, rest.len);
        if (wr_starts_folded(behind, WR_LIT("be ")) && at)
            return false;
        for (size_t v = 0; v < WR_COUNT_OF(verbs); v++)
            if (wr_starts_folded(behind, verbs[v]) && ends_word(behind, verbs[v].len))
                return true;
        return !at; /* what begins with it is a message whatever the verb */
    }
    return false;
}

/* The word that ends at the ':' at `colon`, letters joined to its front or not: "TypeError:". */
static bool ends_trouble(weir_span text, size_t colon, int *kind)
{
    static const struct {
        weir_span word;
        int kind;
    } words[] = {{WR_WORD("error"), BAD},
                 {WR_WORD("exception"), BAD},
                 {WR_WORD("fatal"), BAD},
                 {WR_WORD("panic"), GRAVE},
                 {WR_WORD("errors"), BAD}};
    for (size_t i = 0; i < WR_COUNT_OF(words); i++) {
        weir_span word = words[i].word;
        if (colon < word.len || !wr_same_folded(wr_span_cut(text, colon - word.len, colon), word))
            continue;
        size_t start = colon - word.len;
        char before = start ? text.ptr[start - 1] : ' ';
        /* "SomeError:" joins by its capital; "some_error:" and "stderr:" are names of values. */
        bool joined = wr_is_alpha(before) && wr_is_upper(text.ptr[start]);
        if ((wr_is_word(before) && !joined) || before == '/' || before == '-' || before == '"')
            return false;
        *kind = words[i].kind;
        return !is_denied(text, start, colon);
    }
    return false;
}

/* `"GET / HTTP/1.1" 500`, "HTTP/1.1 404", "HTTP 500", "status code 404", "status=502". */
static bool says_http_error(weir_span text, size_t digits)
{
    static const weir_span fronts[] = {
        WR_WORD("HTTP/1.1\" "), WR_WORD("HTTP/1.0\" "),  WR_WORD("HTTP/2.0\" "),
        WR_WORD("HTTP/2\" "),   WR_WORD("HTTP/1.1 "),    WR_WORD("HTTP/2 "),
        WR_WORD("HTTP "),       WR_WORD("status code "), WR_WORD("status code: "),
        WR_WORD("status="),     WR_WORD("status: "),     WR_WORD("status "),
        WR_WORD("status_code=")};
    char c = text.ptr[digits];
    if ((c != '4' && c != '5') || digits + 3 > text.len || !wr_is_digit(text.ptr[digits + 1]) ||
        !wr_is_digit(text.ptr[digits + 2]) || !ends_word(text, digits + 3))
        return false;
    weir_span before = wr_span_cut(text, 0, digits);
    return wr_ends_in_any(before, fronts, WR_COUNT_OF(fronts));
}

/* Looks at what begins at `at`. */
static bool found_at(weir_span text, size_t at, struct wr_signal_words *words)
{
    char c = text.ptr[at];
    int kind = BAD;
    if (wr_is_digit(c))
        words->found = (!at || !wr_is_word(text.ptr[at - 1])) && says_http_error(text, at);
    else if (c == ':')
        words->found =
            (at + 1 == text.len || wr_is_blank(text.ptr[at + 1])) && ends_trouble(text, at, &kind);
    else if (wr_is_alpha(c) && begins_word(text, at)) {
        const struct phrase *phrase = phrases[wr_fold(c) - 'a'];
        for (; phrase && phrase->text.ptr && !words->found; phrase++) {
            words->found = stands(text, at, phrase);
            kind = phrase->kind;
        }
        if (!words->found && (wr_fold(c) == 'c' || wr_fold(c) == 'u')) {
            words->found = stands_negation(text, at);
            kind = BAD;
        }
    }
    words->kind = (enum wr_signal_kind)kind;
    return words->found;
}

struct wr_signal_words wr_signal_words_find(weir_span text)
{
    struct wr_signal_words words = {false, WR_SIGNAL_ERROR};
    for (size_t i = 0; i < text.len && (!words.found || words.kind != WR_SIGNAL_CRITICAL); i++) {
        struct wr_signal_words here = {false, WR_SIGNAL_ERROR};
        if (found_at(text, i, &here))
            words = here;
    }
    words.found |= wr_span_starts(text, WR_LIT("*** [")) ||
                   wr_span_starts(text, WR_LIT("*** No rule")) ||
                   (wr_span_starts(text, WR_LIT("make")) &&
                    wr_span_find(text, WR_LIT(": *** "), 0) != SIZE_MAX);
    return words;
}

/* -- exceptions -------------------------------------------------------------------------------- */

static bool ends_as_exception(weir_span name)
{
    static const weir_span ends[] = {WR_WORD("Error"),  WR_WORD("Exception"), WR_WORD("Interrupt"),
                                     WR_WORD("Exit"),   WR_WORD("Failure"),   WR_WORD("Fault"),
                                     WR_WORD("Warning")};
    for (size_t i = 0; i < WR_COUNT_OF(ends); i++)
        if (wr_span_ends(name, ends[i]))
            return name.len > ends[i].len || !i; /* "Warning: x" is a level, not a name */
    return false;
}

bool wr_signal_is_exception(weir_span text)
{
    static const weir_span fronts[] = {
        WR_WORD("Caused by: "),         WR_WORD("Exception in thread "),
        WR_WORD("Unhandled exception"), WR_WORD("Uncaught exception"),
        WR_WORD("Suppressed: "),        WR_WORD("Traceback (most recent call last)")};
    if (wr_front_of(text, fronts, WR_COUNT_OF(fronts)))
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
    closed |= wr_span_starts(wr_span_cut(text, end, text.len), WR_LIT(" ["));
    if (!closed || last >= end || !wr_is_upper(text.ptr[last]))
        return false;
    weir_span name = wr_span_cut(text, last, end);
    if (ends_as_exception(name) && !wr_span_is(name, "Error"))
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
    static const weir_span fronts[] = {
        WR_WORD("//"),      WR_WORD("/*"),      WR_WORD("#include"),  WR_WORD("import "),
        WR_WORD("return "), WR_WORD("raise "),  WR_WORD("throw "),    WR_WORD("def "),
        WR_WORD("func "),   WR_WORD("fn "),     WR_WORD("const "),    WR_WORD("let "),
        WR_WORD("var "),    WR_WORD("expect("), WR_WORD("console."),  WR_WORD("if ("),
        WR_WORD("if err"),  WR_WORD("} "),      WR_WORD("\"\"\""),    WR_WORD("<!--"),
        WR_WORD("log."),    WR_WORD("logger."), WR_WORD("fmt."),      WR_WORD("t.Fatal"),
        WR_WORD("t.Error"), WR_WORD("t.Log"),   WR_WORD("assert "),   WR_WORD("assert."),
        WR_WORD("pub "),    WR_WORD("public "), WR_WORD("private "),  WR_WORD("static "),
        WR_WORD("async "),  WR_WORD("await "),  WR_WORD("self."),     WR_WORD("this."),
        WR_WORD("print("),  WR_WORD("echo "),   WR_WORD("else "),     WR_WORD("case "),
        WR_WORD("elif "),   WR_WORD("except "), WR_WORD("catch "),    WR_WORD("class "),
        WR_WORD("export "), WR_WORD("with "),   WR_WORD("for ("),     WR_WORD("while ("),
        WR_WORD("it("),     WR_WORD("test("),   WR_WORD("describe("), WR_WORD("require."),
        WR_WORD("- ["),     WR_WORD("* ")};
    static const weir_span ends[] = {WR_WORD(";"),  WR_WORD("{"),  WR_WORD("("),
                                     WR_WORD("),"), WR_WORD("=>"), WR_WORD("):"),
                                     WR_WORD("||"), WR_WORD("&&"), WR_WORD("\\")};
    return wr_front_of(text, fronts, WR_COUNT_OF(fronts)) ||
           wr_ends_in_any(text, ends, WR_COUNT_OF(ends));
}
