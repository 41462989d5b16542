/* Cuts a command line into words, operators and redirections, as bash would.
 *
 *   take_token      what begins here: a redirection, an operator, a line end, a comment, a word
 *   take_word       quotes and escapes are removed. What the shell would expand stays as it is
 *                   written, and makes the word not literal
 *   take_newline    bodies of heredocs begin behind the line that names them, so their tokens are
 *                   kept until then
 *
 * A substitution (`$(..)`, `${..}`, backquotes, `<(..)`) may hold anything, more substitutions and
 * heredocs included. Nobody looks inside: it is skipped by an explicit stack of what is open
 * (struct skipper), so that input cannot make us recurse.
 *
 * Unquoted words go into one scratch buffer, one after the other: removing quotes never makes a
 * text longer. A word without quotes points into the command line itself. Looking ahead (is this
 * brace expanded? does this `((` close?) ends after 256 bytes, which keeps the whole linear.
 */
#include "transcript/shell_lex.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

/* How far the end of a brace or of `((` is looked for. */
enum { LOOK_AHEAD_BYTES = 256 };

struct lexer {
    struct wr_arena *arena;
    struct wr_shell_tokens *tokens;
    size_t tokens_cap;
    weir_span text;
    size_t at;
    char *scratch; /* unquoted words, one after the other; never more bytes than the text has */
    size_t scratch_len;
    size_t heredocs[WR_SHELL_HEREDOCS_MAX]; /* tokens whose bodies begin after this line */
    bool heredocs_tabs[WR_SHELL_HEREDOCS_MAX];
    size_t heredocs_count;
    struct wr_shell_token nowhere; /* takes what has no room; never read: the status ends it */
    weir_status status;
};

static bool is_blank(char c)
{
    return wr_is_blank(c) || c == '\r';
}

static bool ends_word(char c)
{
    return is_blank(c) || c == '\n' || c == '|' || c == '&' || c == ';' || c == '(' || c == ')' ||
           c == '<' || c == '>';
}

static char byte_at(weir_span text, size_t at)
{
    return at < text.len ? text.ptr[at] : '\0';
}

static size_t find_byte(weir_span text, size_t from, char c)
{
    const char *at = from < text.len ? memchr(text.ptr + from, c, text.len - from) : NULL;
    return at ? (size_t)(at - text.ptr) : text.len;
}

/* --- heredocs --- */

/* Whether `line` is the delimiter written as `raw`, whose quotes do not count. */
static bool is_delimiter(weir_span line, weir_span raw, bool strip_tabs)
{
    size_t at = 0;
    while (strip_tabs && at < line.len && line.ptr[at] == '\t')
        at++;
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.ptr[i];
        if (c == '\'' || c == '"' || c == '\\')
            continue;
        if (at >= line.len || line.ptr[at++] != c)
            return false;
    }
    return at == line.len;
}

/* Reads the delimiter that follows `<<` or `<<-` at `at`; `at` moves behind it. */
static weir_span take_delimiter(weir_span text, size_t *at)
{
    while (is_blank(byte_at(text, *at)) && *at < text.len)
        ++*at;
    size_t start = *at;
    while (*at < text.len && !ends_word(text.ptr[*at])) {
        char c = text.ptr[*at];
        if (c == '\'' || c == '"')
            *at = find_byte(text, *at + 1, c);
        if (*at < text.len)
            ++*at;
    }
    return wr_span_cut(text, start, *at);
}

/* The body of a heredoc that begins at `at`, which moves behind the delimiter's line. */
static weir_span take_body(weir_span text, size_t *at, weir_span delimiter, bool strip_tabs)
{
    size_t start = *at;
    while (*at < text.len) {
        size_t line = *at, end = find_byte(text, line, '\n');
        *at = end < text.len ? end + 1 : end;
        if (is_delimiter(wr_span_cut(text, line, end), delimiter, strip_tabs))
            return wr_span_cut(text, start, line);
    }
    return wr_span_from(text, start);
}

/* --- substitutions --- */

/* What is open while a substitution is skipped: the character that closes it, and 'A' for the
 * parentheses of arithmetic, in which `<<` and `#` are only operators. */
struct skipper {
    weir_span text;
    size_t at;
    char open[WR_SHELL_GROUPS_MAX];
    int depth;
    weir_span delimiters[WR_SHELL_HEREDOCS_MAX];
    bool delimiters_tabs[WR_SHELL_HEREDOCS_MAX];
    size_t delimiters_count;
    bool failed;
};

static void skip_push(struct skipper *skip, char close, size_t bytes)
{
    if (skip->depth == WR_SHELL_GROUPS_MAX) {
        skip->failed = true;
        return;
    }
    skip->open[skip->depth++] = close;
    skip->at += bytes;
}

/* Opens a substitution if one begins here. */
static bool skip_opens(struct skipper *skip)
{
    char c = byte_at(skip->text, skip->at), next = byte_at(skip->text, skip->at + 1);
    if (c == '$' && next == '(' && byte_at(skip->text, skip->at + 2) == '(') {
        skip_push(skip, 'A', 2); /* its second parenthesis is opened by the next step */
        return true;
    }
    if ((c == '$' || c == '<' || c == '>') && next == '(') {
        skip_push(skip, ')', 2);
        return true;
    }
    if (c == '$' && next == '{') {
        skip_push(skip, '}', 2);
        return true;
    }
    return false;
}

static void skip_heredoc_begins(struct skipper *skip)
{
    bool tabs = byte_at(skip->text, skip->at + 2) == '-';
    skip->at += tabs ? 3 : 2;
    weir_span delimiter = take_delimiter(skip->text, &skip->at);
    if (skip->delimiters_count == WR_SHELL_HEREDOCS_MAX) {
        skip->failed = true;
        return;
    }
    skip->delimiters_tabs[skip->delimiters_count] = tabs;
    skip->delimiters[skip->delimiters_count++] = delimiter;
}

static void skip_newline(struct skipper *skip)
{
    skip->at++;
    for (size_t i = 0; i < skip->delimiters_count; i++)
        take_body(skip->text, &skip->at, skip->delimiters[i], skip->delimiters_tabs[i]);
    skip->delimiters_count = 0;
}

static void skip_in_quotes(struct skipper *skip)
{
    char c = skip->text.ptr[skip->at];
    if (c == '\\') {
        skip->at += 2;
    } else if (c == '"') {
        skip->depth--;
        skip->at++;
    } else if (c == '`') {
        skip_push(skip, '`', 1);
    } else if (!skip_opens(skip)) {
        skip->at++;
    }
}

static void skip_in_arithmetic(struct skipper *skip)
{
    char c = skip->text.ptr[skip->at];
    if (c == '(') {
        skip_push(skip, 'A', 1);
    } else if (c == ')') {
        skip->depth--;
        skip->at++;
    } else if (!skip_opens(skip)) {
        skip->at++;
    }
}

static bool skip_is_comment(const struct skipper *skip)
{
    char before = skip->at ? skip->text.ptr[skip->at - 1] : ' ';
    return skip->text.ptr[skip->at] == '#' && (is_blank(before) || before == '\n' || before == ';');
}

static void skip_in_commands(struct skipper *skip, char close)
{
    weir_span text = skip->text;
    char c = text.ptr[skip->at];
    if (c == '\\') {
        skip->at += 2;
    } else if (c == close) {
        skip->depth--;
        skip->at++;
    } else if (c == '\'') {
        skip->at = find_byte(text, skip->at + 1, '\'') + 1;
    } else if (c == '"' || c == '`') {
        skip_push(skip, c, 1);
    } else if (close == ')' && c == '<' && byte_at(text, skip->at + 1) == '<') {
        if (byte_at(text, skip->at + 2) == '<')
            skip->at += 3;
        else
            skip_heredoc_begins(skip);
    } else if (skip_opens(skip)) {
        return;
    } else if (c == '(' && close == ')') {
        skip_push(skip, ')', 1);
    } else if (c == '\n') {
        skip_newline(skip);
    } else if (close == ')' && skip_is_comment(skip)) {
        skip->at = find_byte(text, skip->at, '\n');
    } else {
        skip->at++;
    }
}

/* Moves behind the substitution that begins at `*at`. False where it never ends. */
static bool skip_substitution(weir_span text, size_t *at)
{
    struct skipper skip = {.text = text, .at = *at};
    if (text.ptr[*at] == '`')
        skip_push(&skip, '`', 1);
    else
        skip_opens(&skip);
    while (skip.depth && !skip.failed && skip.at < text.len) {
        char close = skip.open[skip.depth - 1];
        if (close == '"')
            skip_in_quotes(&skip);
        else if (close == 'A')
            skip_in_arithmetic(&skip);
        else
            skip_in_commands(&skip, close);
    }
    bool closed = !skip.depth && !skip.failed && skip.at <= text.len;
    *at = closed ? skip.at : text.len;
    return closed;
}

/* --- words --- */

static void put_byte(struct lexer *lex, char c)
{
    lex->scratch[lex->scratch_len++] = c;
}

static void put_raw(struct lexer *lex, size_t from, size_t to)
{
    memcpy(lex->scratch + lex->scratch_len, lex->text.ptr + from, to - from);
    lex->scratch_len += to - from;
}

/* At a `$` or backquote that may begin an expansion; copies it as it is written. */
static void take_dollar(struct lexer *lex, struct wr_shell_token *word)
{
    size_t from = lex->at;
    char c = lex->text.ptr[from], next = byte_at(lex->text, from + 1);

    if (c == '`' || next == '(' || next == '{') {
        word->literal = false;
        if (!skip_substitution(lex->text, &lex->at))
            lex->tokens->incomplete = true;
    } else if (wr_is_word(next)) {
        word->literal = false;
        lex->at++;
        while (wr_is_word(byte_at(lex->text, lex->at)) && lex->at < lex->text.len)
            lex->at++;
    } else if (next && memchr("@*#?-$!", next, 7)) {
        word->literal = false;
        lex->at += 2;
    } else {
        lex->tokens->is_bash |= next == '[';
        lex->at++; /* a dollar sign that stands for itself */
    }
    put_raw(lex, from, lex->at);
}

static void take_double_quoted(struct lexer *lex, struct wr_shell_token *word)
{
    weir_span text = lex->text;
    lex->at++;
    while (lex->at < text.len && text.ptr[lex->at] != '"') {
        char c = text.ptr[lex->at], next = byte_at(text, lex->at + 1);
        if (c == '\\' && lex->at + 1 < text.len && memchr("$`\"\\", next, 4)) {
            put_byte(lex, next);
            lex->at += 2;
        } else if (c == '\\' && next == '\n') {
            lex->at += 2;
        } else if (c == '$' || c == '`') {
            take_dollar(lex, word);
        } else {
            put_byte(lex, c);
            lex->at++;
        }
    }
    if (lex->at == text.len)
        lex->tokens->incomplete = true;
    else
        lex->at++;
}

static void take_single_quoted(struct lexer *lex)
{
    size_t end = find_byte(lex->text, lex->at + 1, '\'');
    put_raw(lex, lex->at + 1, end);
    if (end == lex->text.len)
        lex->tokens->incomplete = true;
    lex->at = end < lex->text.len ? end + 1 : end;
}

static void put_utf8(struct lexer *lex, uint32_t code)
{
    if (code < 0x80) {
        put_byte(lex, (char)code);
    } else if (code < 0x800) {
        put_byte(lex, (char)(0xc0 | (code >> 6)));
        put_byte(lex, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        put_byte(lex, (char)(0xe0 | (code >> 12)));
        put_byte(lex, (char)(0x80 | ((code >> 6) & 0x3f)));
        put_byte(lex, (char)(0x80 | (code & 0x3f)));
    } else {
        put_byte(lex, (char)(0xf0 | ((code >> 18) & 0x07)));
        put_byte(lex, (char)(0x80 | ((code >> 12) & 0x3f)));
        put_byte(lex, (char)(0x80 | ((code >> 6) & 0x3f)));
        put_byte(lex, (char)(0x80 | (code & 0x3f)));
    }
}

/* The digits of \x \u \U at `lex->at`. What is put is never longer than what was written. */
static void take_code(struct lexer *lex, int digits_max, char kind)
{
    uint32_t code = 0;
    int digits = 0;
    while (digits < digits_max && wr_hex_value(byte_at(lex->text, lex->at)) >= 0) {
        code = code * 16 + (uint32_t)wr_hex_value(lex->text.ptr[lex->at++]);
        digits++;
    }
    if (!digits) {
        put_byte(lex, '\\');
        put_byte(lex, kind);
    } else if (kind == 'x') {
        put_byte(lex, (char)code);
    } else {
        put_utf8(lex, code < 0x110000 ? code : '?');
    }
}

static void take_octal(struct lexer *lex)
{
    unsigned code = 0;
    for (int i = 0; i < 3 && (byte_at(lex->text, lex->at) & ~7) == '0'; i++)
        code = code * 8 + (unsigned)(lex->text.ptr[lex->at++] - '0');
    put_byte(lex, (char)code);
}

/* One escape of $'..'; `lex->at` is at the backslash. */
static void take_ansi_escape(struct lexer *lex)
{
    static const char names[] = "abefnrtvE\\'\"?";
    static const char codes[] = "\a\b\033\f\n\r\t\v\033\\'\"?";
    char c = byte_at(lex->text, lex->at + 1);
    const char *name = c ? strchr(names, c) : NULL;

    if (c >= '0' && c <= '7') {
        lex->at++;
        take_octal(lex);
        return;
    }
    lex->at += 2;
    if (name)
        put_byte(lex, codes[name - names]);
    else if (c == 'x')
        take_code(lex, 2, c);
    else if (c == 'u')
        take_code(lex, 4, c);
    else if (c == 'U')
        take_code(lex, 8, c);
    else
        put_raw(lex, lex->at - 2, lex->at);
}

static void take_ansi_quoted(struct lexer *lex)
{
    lex->at += 2;
    while (lex->at < lex->text.len && lex->text.ptr[lex->at] != '\'') {
        if (lex->text.ptr[lex->at] == '\\' && lex->at + 1 < lex->text.len)
            take_ansi_escape(lex);
        else
            put_byte(lex, lex->text.ptr[lex->at++]);
    }
    if (lex->at == lex->text.len)
        lex->tokens->incomplete = true;
    else
        lex->at++;
}

/* An unquoted `{a,b}` or `{1..3}` is expanded; a lone `{}` is not. */
static bool is_brace_expansion(weir_span text, size_t at)
{
    bool several = false;
    for (size_t i = at + 1; i < text.len && i < at + LOOK_AHEAD_BYTES && !ends_word(text.ptr[i]);
         i++) {
        if (text.ptr[i] == '}')
            return several;
        several |= text.ptr[i] == ',' || (text.ptr[i] == '.' && byte_at(text, i + 1) == '.');
    }
    return false;
}

/* `[` begins a pattern only where its `]` is in the same word; alone it is a command. */
static bool is_bracket_pattern(weir_span text, size_t at)
{
    for (size_t i = at + 1; i < text.len && i < at + LOOK_AHEAD_BYTES && !ends_word(text.ptr[i]);
         i++)
        if (text.ptr[i] == ']')
            return true;
    return false;
}

static bool is_pattern(weir_span text, size_t at)
{
    char c = text.ptr[at];
    return c == '*' || c == '?' || (c == '[' && is_bracket_pattern(text, at)) ||
           (c == '{' && is_brace_expansion(text, at));
}

static bool is_quoting(char c, char next)
{
    return c == '\\' || c == '\'' || c == '"' || (c == '$' && (next == '\'' || next == '"'));
}

static void take_quoting(struct lexer *lex, struct wr_shell_token *word, char c, char next)
{
    word->quoted = true;
    if (c == '\'') {
        take_single_quoted(lex);
    } else if (c == '"') {
        take_double_quoted(lex, word);
    } else if (c == '$' && next == '\'') {
        lex->tokens->is_bash = true;
        take_ansi_quoted(lex);
    } else if (c == '$') {
        lex->tokens->is_bash = true;
        lex->at++; /* $"..": translated, which changes nothing we look at */
    } else if (next == '\n' || lex->at + 1 == lex->text.len) {
        lex->at = lex->at + 2 < lex->text.len ? lex->at + 2 : lex->text.len;
    } else {
        put_byte(lex, next);
        lex->at += 2;
    }
}

static void take_word(struct lexer *lex, struct wr_shell_token *word)
{
    weir_span text = lex->text;
    size_t from = lex->at, scratch_from = lex->scratch_len;

    word->literal = true;
    while (lex->at < text.len && (!ends_word(text.ptr[lex->at]) || lex->at == from)) {
        char c = text.ptr[lex->at], next = byte_at(text, lex->at + 1);
        if (is_quoting(c, next)) {
            take_quoting(lex, word, c, next);
        } else if (c == '$' || c == '`') {
            take_dollar(lex, word);
        } else if ((c == '<' || c == '>') && next == '(') {
            word->literal = false;
            if (!skip_substitution(text, &lex->at))
                lex->tokens->incomplete = true;
            put_raw(lex, from, lex->at);
        } else {
            if (is_pattern(text, lex->at))
                word->literal = false;
            put_byte(lex, c);
            lex->at++;
        }
    }
    word->text = (weir_span){lex->scratch + scratch_from, lex->scratch_len - scratch_from};
    if (!word->quoted) {
        word->text = wr_span_cut(text, from, lex->at);
        lex->scratch_len = scratch_from;
    }
}

/* --- operators --- */

static struct wr_shell_token *add_token(struct lexer *lex, enum wr_shell_token_kind kind)
{
    struct wr_shell_tokens *tokens = lex->tokens;
    if (!WR_ARENA_ROOM(lex->arena, tokens->items, tokens->count, lex->tokens_cap, 32)) {
        lex->status = wr_arena_status(lex->arena);
        return &lex->nowhere;
    }
    tokens->items[tokens->count] = (struct wr_shell_token){.kind = (uint8_t)kind};
    return &tokens->items[tokens->count++];
}

static void take_heredoc(struct lexer *lex, struct wr_shell_token *token)
{
    bool tabs = byte_at(lex->text, lex->at) == '-';
    lex->at += tabs;
    token->redirect = WR_SHELL_HEREDOC;
    token->text = take_delimiter(lex->text, &lex->at);
    if (lex->heredocs_count == WR_SHELL_HEREDOCS_MAX) {
        lex->tokens->incomplete = true;
        return;
    }
    lex->heredocs_tabs[lex->heredocs_count] = tabs;
    lex->heredocs[lex->heredocs_count++] = lex->tokens->count - 1;
}

static void take_redirect_target(struct lexer *lex, struct wr_shell_token *token)
{
    while (is_blank(byte_at(lex->text, lex->at)) && lex->at < lex->text.len)
        lex->at++;
    if (lex->at >= lex->text.len || ends_word(lex->text.ptr[lex->at])) {
        bool substitution = byte_at(lex->text, lex->at + 1) == '(' && lex->at < lex->text.len &&
                            (lex->text.ptr[lex->at] == '<' || lex->text.ptr[lex->at] == '>');
        if (!substitution) {
            lex->tokens->incomplete = true;
            return;
        }
    }
    take_word(lex, token);
}

/* How the operator at `lex->at` is spelled decides what follows it; moves behind it. */
static enum wr_shell_redirect take_redirect_operator(struct lexer *lex)
{
    static const struct {
        const char *spelling;
        enum wr_shell_redirect redirect;
    } operators[] = {
        {"<<<", WR_SHELL_HERETEXT}, {"<<", WR_SHELL_HEREDOC}, {"<&", WR_SHELL_DUP},
        {"<>", WR_SHELL_IN},        {"<", WR_SHELL_IN},       {">>", WR_SHELL_APPEND},
        {">&", WR_SHELL_DUP},       {">|", WR_SHELL_OUT},     {"&>>", WR_SHELL_APPEND},
        {"&>", WR_SHELL_OUT},       {">", WR_SHELL_OUT},
    };
    weir_span rest = wr_span_from(lex->text, lex->at);
    for (size_t i = 0; i < WR_COUNT_OF(operators); i++) {
        weir_span spelling = wr_span_of(operators[i].spelling);
        if (wr_span_starts(rest, spelling)) {
            lex->at += spelling.len;
            return operators[i].redirect;
        }
    }
    lex->at++;
    return WR_SHELL_IN;
}

static bool is_dup_target(weir_span text)
{
    uint64_t number;
    return wr_span_is(text, "-") || wr_span_u64(text, &number) ||
           (text.len > 1 && text.ptr[text.len - 1] == '-');
}

static void take_redirect(struct lexer *lex, int fd)
{
    struct wr_shell_token *token = add_token(lex, WR_SHELL_REDIRECT);
    bool both = lex->text.ptr[lex->at] == '&', output = lex->text.ptr[lex->at] == '>';
    token->is_written = wr_span_starts(wr_span_from(lex->text, lex->at), WR_LIT("<>"));
    token->redirect = (uint8_t)take_redirect_operator(lex);
    token->fd = (int16_t)(both ? -1 : fd >= 0 ? fd : output);
    if (token->redirect == WR_SHELL_HEREDOC) {
        take_heredoc(lex, token);
        return;
    }
    take_redirect_target(lex, token);
    /* `>& file` is an old spelling of `&> file`. */
    if (token->redirect == WR_SHELL_DUP && token->literal && !is_dup_target(token->text)) {
        token->redirect = WR_SHELL_OUT;
        token->fd = -1;
    }
}

/* A line that ends in `|`, `&&` or `||` goes on in the next. */
static bool line_goes_on(const struct wr_shell_tokens *tokens)
{
    unsigned last = tokens->count ? tokens->items[tokens->count - 1].kind : WR_SHELL_END;
    return last == WR_SHELL_PIPE || last == WR_SHELL_AND || last == WR_SHELL_OR;
}

static void take_newline(struct lexer *lex)
{
    if (!line_goes_on(lex->tokens))
        add_token(lex, WR_SHELL_END);
    lex->at++;
    for (size_t i = 0; i < lex->heredocs_count; i++) {
        struct wr_shell_token *token = &lex->tokens->items[lex->heredocs[i]];
        token->text = take_body(lex->text, &lex->at, token->text, lex->heredocs_tabs[i]);
    }
    lex->heredocs_count = 0;
}

/* Operators in the order in which they must be tried. */
static const struct {
    const char *spelling;
    enum wr_shell_token_kind kind;
} operators[] = {
    {"&&", WR_SHELL_AND},      {"||", WR_SHELL_OR},        {"|&", WR_SHELL_PIPE},
    {"|", WR_SHELL_PIPE},      {";;&", WR_SHELL_CASE_END}, {";;", WR_SHELL_CASE_END},
    {";&", WR_SHELL_CASE_END}, {";", WR_SHELL_END},        {"&", WR_SHELL_END},
    {"(", WR_SHELL_OPEN},      {")", WR_SHELL_CLOSE},
};

static void take_operator(struct lexer *lex)
{
    weir_span rest = wr_span_from(lex->text, lex->at);
    for (size_t i = 0; i < WR_COUNT_OF(operators); i++) {
        weir_span spelling = wr_span_of(operators[i].spelling);
        if (wr_span_starts(rest, spelling)) {
            add_token(lex, operators[i].kind);
            lex->at += spelling.len;
            return;
        }
    }
}

/* `((` where a command could begin is arithmetic, not two subshells. It leaves no token: it does
 * nothing that we look for. */
static bool take_arithmetic_command(struct lexer *lex)
{
    size_t count = lex->tokens->count, at = lex->at + 2;
    bool command = !count || (lex->tokens->items[count - 1].kind != WR_SHELL_WORD &&
                              lex->tokens->items[count - 1].kind != WR_SHELL_REDIRECT);
    bool loop = count && lex->tokens->items[count - 1].kind == WR_SHELL_WORD &&
                (wr_span_is(lex->tokens->items[count - 1].text, "for") ||
                 wr_span_is(lex->tokens->items[count - 1].text, "while") ||
                 wr_span_is(lex->tokens->items[count - 1].text, "if"));
    if (byte_at(lex->text, lex->at + 1) != '(' || (!command && !loop))
        return false;
    size_t look_end =
        lex->text.len - lex->at > LOOK_AHEAD_BYTES ? lex->at + LOOK_AHEAD_BYTES : lex->text.len;
    size_t end = wr_span_find((weir_span){lex->text.ptr, look_end}, WR_LIT("))"), at);
    if (end == SIZE_MAX)
        return false;
    lex->at = end + 2;
    lex->tokens->is_bash = true;
    return true;
}

/* A number that touches `<` or `>` is the descriptor it redirects. */
static int take_descriptor(struct lexer *lex)
{
    size_t at = lex->at;
    int fd = 0;
    while (at < lex->text.len && wr_is_digit(lex->text.ptr[at]) && at < lex->at + 4)
        fd = fd * 10 + (lex->text.ptr[at++] - '0');
    char next = byte_at(lex->text, at);
    if (at == lex->at || (next != '<' && next != '>') || byte_at(lex->text, at + 1) == '(')
        return -1;
    lex->at = at;
    return fd;
}

static void take_token(struct lexer *lex)
{
    char c = lex->text.ptr[lex->at], next = byte_at(lex->text, lex->at + 1);
    int fd = take_descriptor(lex);

    if (fd >= 0) {
        take_redirect(lex, fd);
    } else if (is_blank(c)) {
        lex->at++;
    } else if (c == '\\' && next == '\n') {
        lex->at += 2;
    } else if (c == '\n') {
        take_newline(lex);
    } else if (c == '#') {
        lex->at = find_byte(lex->text, lex->at, '\n');
    } else if ((c == '<' || c == '>') && next != '(') {
        take_redirect(lex, -1);
    } else if (c == '&' && next == '>') {
        take_redirect(lex, -1);
    } else if (c == '(' && take_arithmetic_command(lex)) {
        return;
    } else if (ends_word(c) && c != '<' && c != '>') {
        take_operator(lex);
    } else {
        /* The token is added only when the word is whole. */
        struct wr_shell_token word = {.kind = WR_SHELL_WORD};
        take_word(lex, &word);
        struct wr_shell_token *token = add_token(lex, WR_SHELL_WORD);
        *token = word;
    }
}

weir_status wr_shell_lex(struct wr_shell_tokens *tokens, struct wr_arena *arena, weir_span text)
{
    struct lexer lex = {.arena = arena, .tokens = tokens, .text = text};

    *tokens = (struct wr_shell_tokens){0};
    lex.scratch = wr_arena_alloc(arena, text.len + 4);
    if (!lex.scratch)
        return wr_arena_status(arena);
    while (lex.at < text.len && !lex.status && tokens->count < WR_SHELL_TOKENS_MAX)
        take_token(&lex);
    tokens->incomplete |= lex.at < text.len;
    return lex.status;
}
