/* Definitions that a word begins ("class X", "pub fn f"), which is most of them in most languages.
 * The rules for other shapes (definition_code.c, definition_markup.c) ask here first. What words
 * there are is the language's own list (language.c).
 */
#include "condense/definition.h"

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
    static struct wr_words words = WR_WORDS(
        "export|default|declare|async|static|public|private|protected|internal|abstract|final|"
        "override|virtual|inline|extern|unsafe|open|sealed|data|suspend|operator|partial|readonly|"
        "pub|local|native|synchronized|fileprivate|mutating|indirect|lateinit|external|infix|"
        "tailrec|implicit|lazy|case|companion|inner|value|annotation|required|convenience|"
        "nonisolated|global|expect|actual|base|mixin|ref|file");
    return wr_words_has(&words, word);
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
    static struct wr_words words = WR_WORDS(
        "if|else|for|while|do|switch|case|return|goto|break|continue|throw|try|catch|finally|new|"
        "delete|await|yield|using|sizeof|assert|import|package|with|foreach|lock|typeof|super|"
        "this|default|elif|unless|until|and|or|not|in|is|when|match|loop|from|echo|print|raise|"
        "except|defer|go|select|as");
    return wr_words_has(&words, word);
}

/* ---- words that begin a definition ---- */

struct known_word {
    enum wr_definition_kind kind;
    const char *marks; /* NULL: the language does not know the word */
};

static struct known_word find_word(struct wr_definition_words *words, weir_span word)
{
    for (int kind = 0; kind <= WR_DEFINES_VALUE; kind++) {
        weir_span list = wr_span_of(words->of_kind[kind].list);
        if (!wr_words_may_begin(&words->of_kind[kind], word))
            continue;
        for (size_t at = 0; (at = wr_list_seek(list, at, 0, word.ptr[0])) < list.len; at++)
            if (wr_span_starts(wr_span_from(list, at), word) &&
                !wr_is_name(list.ptr[at + word.len]))
                return (struct known_word){(enum wr_definition_kind)kind, list.ptr + at + word.len};
    }
    return (struct known_word){WR_DEFINES_VALUE, NULL};
}

static bool has_mark(struct known_word known, char mark)
{
    for (const char *at = known.marks; *at && *at != '|'; at++)
        if (*at == mark)
            return true;
    return false;
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

static bool name_by_word(weir_span text, weir_span word, struct known_word known, weir_span *name)
{
    size_t behind = wr_offset_behind(text, word);
    if (has_mark(known, '\'')) {
        *name = quoted_at(text, behind);
        return name->len > 0;
    }
    size_t at = skip_to_name(text, behind);
    if (at > behind && at < text.len && !wr_is_digit(text.ptr[at]))
        *name = wr_long_name_at(text, at);
    if (!name->len && has_mark(known, '.')) {
        *name = word;
        return true;
    }
    if (!name->len || !has_mark(known, '='))
        return name->len > 0;
    return memchr(text.ptr, '=', text.len) != NULL;
}

/* "const fn f", "enum class E": the last of the words says what it is. */
static struct known_word last_word(struct wr_definition_words *words, weir_span text,
                                   weir_span *word)
{
    struct known_word known = find_word(words, *word);
    while (known.marks) {
        size_t at = wr_skip_blanks(text, wr_offset_behind(text, *word));
        weir_span next = wr_word_at(text, wr_skip_modifiers(text, at));
        struct known_word better = find_word(words, next);
        if (!better.marks || has_mark(better, '\''))
            break;
        known = better;
        *word = next;
    }
    return known;
}

bool wr_defines_by_word(const struct wr_definition_line *line, struct wr_definition_words *words,
                        struct wr_definition *found)
{
    weir_span text = line->text;
    weir_span word = wr_word_at(text, 0);
    if (!find_word(words, word).marks)
        word = wr_word_at(text, wr_skip_modifiers(text, 0));
    struct known_word known = last_word(words, text, &word);
    if (!known.marks || (has_mark(known, '^') && line->indent) ||
        (has_mark(known, '<') && line->place == WR_PLACE_IN_FUNCTION))
        return false;
    found->kind = known.kind;
    return name_by_word(text, word, known, &found->name);
}
