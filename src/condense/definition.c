#include "condense/definition.h"

#include "condense/definition_read.h"

weir_span wr_long_name_at(weir_span text, size_t at)
{
    size_t end = at;
    while (end < text.len) {
        char c = text.ptr[end];
        bool joins = (c == '.' || c == ':' || c == '-') && end > at && end + 1 < text.len &&
                     (wr_is_name(text.ptr[end + 1]) || (c == ':' && text.ptr[end + 1] == ':'));
        if (!wr_is_name(c) && !joins)
            break;
        end++;
    }
    if (end > at && end < text.len && (text.ptr[end] == '?' || text.ptr[end] == '!'))
        end++;
    return wr_span_cut(text, at, end);
}

/* Offset behind the bracket that closes the one at `at`; the end where none does. */
static size_t skip_brackets(weir_span text, size_t at, char open, char close)
{
    unsigned depth = 0;
    for (; at < text.len; at++) {
        depth += text.ptr[at] == open;
        if (text.ptr[at] == close && !--depth)
            return at + 1;
    }
    return at;
}

static bool is_modifier(weir_span word)
{
    static const weir_span words[] = {
        WR_WORD("export"),      WR_WORD("default"),     WR_WORD("declare"),
        WR_WORD("async"),       WR_WORD("static"),      WR_WORD("public"),
        WR_WORD("private"),     WR_WORD("protected"),   WR_WORD("internal"),
        WR_WORD("abstract"),    WR_WORD("final"),       WR_WORD("override"),
        WR_WORD("virtual"),     WR_WORD("inline"),      WR_WORD("extern"),
        WR_WORD("unsafe"),      WR_WORD("open"),        WR_WORD("sealed"),
        WR_WORD("data"),        WR_WORD("suspend"),     WR_WORD("operator"),
        WR_WORD("partial"),     WR_WORD("readonly"),    WR_WORD("pub"),
        WR_WORD("local"),       WR_WORD("native"),      WR_WORD("synchronized"),
        WR_WORD("fileprivate"), WR_WORD("mutating"),    WR_WORD("indirect"),
        WR_WORD("lateinit"),    WR_WORD("external"),    WR_WORD("infix"),
        WR_WORD("tailrec"),     WR_WORD("implicit"),    WR_WORD("lazy"),
        WR_WORD("case"),        WR_WORD("companion"),   WR_WORD("inner"),
        WR_WORD("value"),       WR_WORD("annotation"),  WR_WORD("required"),
        WR_WORD("convenience"), WR_WORD("nonisolated"), WR_WORD("global"),
        WR_WORD("expect"),      WR_WORD("actual"),      WR_WORD("base"),
        WR_WORD("mixin"),       WR_WORD("ref"),         WR_WORD("file")};
    return wr_same_as_any(word, words, WR_COUNT_OF(words));
}

size_t wr_skip_modifiers(weir_span text, size_t at)
{
    for (;;) {
        bool annotates = at < text.len && text.ptr[at] == '@';
        weir_span word = annotates ? wr_long_name_at(text, at + 1) : wr_word_at(text, at);
        size_t end = wr_offset_behind(text, word);
        if (!word.len || (!annotates && !is_modifier(word)))
            return at;
        if (end < text.len && text.ptr[end] == '(')
            end = skip_brackets(text, end, '(', ')');
        size_t next = wr_skip_blanks(text, end);
        if (next == end) /* the word is the name, or all there is */
            return at;
        at = next;
    }
}

bool wr_is_statement_word(weir_span word)
{
    static const weir_span words[] = {
        WR_WORD("if"),     WR_WORD("else"),    WR_WORD("for"),      WR_WORD("while"),
        WR_WORD("do"),     WR_WORD("switch"),  WR_WORD("case"),     WR_WORD("return"),
        WR_WORD("goto"),   WR_WORD("break"),   WR_WORD("continue"), WR_WORD("throw"),
        WR_WORD("try"),    WR_WORD("catch"),   WR_WORD("finally"),  WR_WORD("new"),
        WR_WORD("delete"), WR_WORD("await"),   WR_WORD("yield"),    WR_WORD("using"),
        WR_WORD("sizeof"), WR_WORD("assert"),  WR_WORD("import"),   WR_WORD("package"),
        WR_WORD("with"),   WR_WORD("foreach"), WR_WORD("lock"),     WR_WORD("typeof"),
        WR_WORD("super"),  WR_WORD("this"),    WR_WORD("default"),  WR_WORD("elif"),
        WR_WORD("unless"), WR_WORD("until"),   WR_WORD("and"),      WR_WORD("or"),
        WR_WORD("not"),    WR_WORD("in"),      WR_WORD("is"),       WR_WORD("when"),
        WR_WORD("match"),  WR_WORD("loop"),    WR_WORD("from"),     WR_WORD("echo"),
        WR_WORD("print"),  WR_WORD("raise"),   WR_WORD("except"),   WR_WORD("defer"),
        WR_WORD("go"),     WR_WORD("select"),  WR_WORD("as")};
    return wr_same_as_any(word, words, WR_COUNT_OF(words));
}

/* ---- words that begin a definition ---- */

static const struct wr_definition_word *find_word(const struct wr_definition_word *words,
                                                  weir_span word)
{
    for (; words->word.len; words++)
        if (words->word.len == word.len && words->word.ptr[0] == word.ptr[0] &&
            wr_span_eq(words->word, word))
            return words;
    return NULL;
}

static bool is_allowed(const struct wr_definition_word *word, const struct wr_definition_line *line)
{
    if ((word->flags & WR_WORD_AT_MARGIN) && line->indent)
        return false;
    return !(word->flags & WR_WORD_OUTSIDE) || line->place != WR_PLACE_IN_FUNCTION;
}

/* The text between quotes that begins at `at`, behind a bracket or not. */
static weir_span quoted_at(weir_span text, size_t at)
{
    at = wr_skip_blanks(text, at);
    if (at < text.len && text.ptr[at] == '(')
        at = wr_skip_blanks(text, at + 1);
    if (at >= text.len || !memchr("\"'`", text.ptr[at], 3))
        return (weir_span){NULL, 0};
    size_t end = at + 1;
    while (end < text.len && text.ptr[end] != text.ptr[at])
        end++;
    return wr_span_cut(text, at + 1, end);
}

/* Behind what may stand between the word and the name: a receiver, parameters of a type, a '*'. */
static size_t skip_to_name(weir_span text, size_t at)
{
    at = wr_skip_blanks(text, at);
    if (at < text.len && text.ptr[at] == '(')
        at = wr_skip_blanks(text, skip_brackets(text, at, '(', ')'));
    if (at < text.len && text.ptr[at] == '<')
        at = wr_skip_blanks(text, skip_brackets(text, at, '<', '>'));
    while (at < text.len && memchr("*&!`'", text.ptr[at], 5))
        at++;
    return wr_skip_blanks(text, at);
}

static bool name_by_word(weir_span text, weir_span word, const struct wr_definition_word *known,
                         weir_span *name)
{
    size_t behind = wr_offset_behind(text, word);
    if (known->flags & WR_WORD_QUOTED) {
        *name = quoted_at(text, behind);
        return name->len > 0;
    }
    size_t at = skip_to_name(text, behind);
    if (at > behind && at < text.len && !wr_is_digit(text.ptr[at]))
        *name = wr_long_name_at(text, at);
    if (!name->len && (known->flags & WR_WORD_ALONE)) {
        *name = word;
        return true;
    }
    if (!name->len || !(known->flags & WR_WORD_BEFORE_SET))
        return name->len > 0;
    return memchr(text.ptr, '=', text.len) != NULL;
}

/* "const fn f", "enum class E": the last of the words says what it is. */
static const struct wr_definition_word *last_word(const struct wr_definition_word *words,
                                                  weir_span text, weir_span *word)
{
    const struct wr_definition_word *known = find_word(words, *word);
    while (known) {
        size_t at = wr_skip_blanks(text, wr_offset_behind(text, *word));
        weir_span next = wr_word_at(text, wr_skip_modifiers(text, at));
        const struct wr_definition_word *better = next.len ? find_word(words, next) : NULL;
        if (!better || (better->flags & WR_WORD_QUOTED))
            break;
        known = better;
        *word = next;
    }
    return known;
}

bool wr_defines_by_word(const struct wr_definition_line *line,
                        const struct wr_definition_word *words, struct wr_definition *found)
{
    weir_span text = line->text;
    weir_span word = wr_word_at(text, 0);
    if (!word.len || !find_word(words, word))
        word = wr_word_at(text, wr_skip_modifiers(text, 0));
    if (!word.len)
        return false;
    const struct wr_definition_word *known = last_word(words, text, &word);
    if (!known || !is_allowed(known, line))
        return false;
    found->kind = known->kind;
    return name_by_word(text, word, known, &found->name);
}
