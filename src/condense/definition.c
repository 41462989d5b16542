/* Definitions that a word begins ("class X", "pub fn f"), which is most of them in most languages.
 * The rules for other shapes (below) ask here first. What words
 * there are is the language's own list (language.c).
 */
#include "condense/definition.h"

/* A name with its parts: "a::b", "M.f:g", "Foo$Bar", "empty?". */
static weir_span long_name_at(weir_span text, size_t at)
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

/* Offset behind the words that may come before a definition: "export", "pub(crate)", "@Test". */
static size_t skip_modifiers(weir_span text, size_t at)
{
    for (;;) {
        bool annotates = at < text.len && text.ptr[at] == '@';
        weir_span word = annotates ? long_name_at(text, at + 1) : wr_word_at(text, at);
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

/* Whether a statement begins with this word, which therefore defines nothing. */
static bool is_statement_word(weir_span word)
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
        *name = long_name_at(text, at);
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
        weir_span next = wr_word_at(text, skip_modifiers(text, at));
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
        word = wr_word_at(text, skip_modifiers(text, 0));
    struct known_word known = last_word(words, text, &word);
    if (!known.marks || (has_mark(known, '^') && line->indent) ||
        (has_mark(known, '<') && line->place == WR_PLACE_IN_FUNCTION))
        return false;
    found->kind = known.kind;
    return name_by_word(text, word, known, &found->name);
}

/* ---- code ---- */

/* Definitions that no word begins: C's "int f(", methods of JavaScript, constants of Python, SQL.
 * Each rule is told apart from a call or a statement by how the line ends and what it stands in;
 * where that is in doubt the line is no definition, because a false one hides the block it would
 * head.
 */

/* ---- C and its kin ---- */

/* Where a line's first '(' stands behind a name and nothing but words of types. */
struct call_shape {
    weir_span name;
    unsigned words_before; /* of the type and the like */
};

static bool is_type_sign(char c)
{
    return wr_is_blank(c) || memchr("*&<>,:~[]@?-", c, 12) != NULL;
}

/* Back over the spaces before `end` to the name that ends there; its parts joined by "::" and '~'
 * belong to it. */
static weir_span name_before(weir_span text, size_t end)
{
    while (end && wr_is_blank(text.ptr[end - 1]))
        end--;
    size_t start = end;
    while (start && (wr_is_name(text.ptr[start - 1]) || text.ptr[start - 1] == '~' ||
                     (text.ptr[start - 1] == ':' && start > 1)))
        start--;
    while (start < end && text.ptr[start] == ':')
        start++;
    return wr_span_cut(text, start, end);
}

static bool read_call_shape(weir_span text, struct call_shape *shape)
{
    size_t at = 0;
    *shape = (struct call_shape){{NULL, 0}, 0};
    while (at < text.len && text.ptr[at] != '(') {
        weir_span word = wr_word_at(text, at);
        if (!word.len && !is_type_sign(text.ptr[at]))
            return false;
        if (!at && is_statement_word(word))
            return false;
        shape->words_before += word.len > 0;
        at += word.len ? word.len : 1;
    }
    if (at == text.len)
        return false;
    shape->name = name_before(text, at);
    if (!shape->name.len || wr_is_digit(shape->name.ptr[0]))
        return false;
    /* "A::b" was counted as two words. */
    for (size_t i = 0; i + 1 < shape->name.len; i++)
        shape->words_before -=
            shape->name.ptr[i] == ':' && shape->name.ptr[i + 1] == ':' && shape->words_before > 1;
    shape->words_before--;
    return true;
}

static bool defines_function(const struct wr_definition_line *line, struct wr_definition *found)
{
    struct call_shape shape;
    size_t from = wr_span_starts(line->text, WR_LIT("extern \"C\" ")) ? 11 : 0;
    weir_span text = wr_span_from(line->text, skip_modifiers(line->text, from));
    bool modified = text.len < line->text.len;
    if (!text.len || text.ptr[0] == '@' || !read_call_shape(text, &shape) ||
        wr_span_is(shape.name, "__attribute__"))
        return false;
    char last = wr_last_of(text);
    bool opens = last == '{' || last == '}';
    bool typed = shape.words_before > 0 || wr_span_has(shape.name, WR_LIT("::"));
    bool is_builder = line->holder.len && wr_span_eq(shape.name, line->holder);
    bool goes_on = memchr(",(){}>;=", last, 8) || wr_is_name(last);
    /* At the margin a name alone may have its type on the line above. */
    bool at_margin = !line->indent && last != ';' && last != ',';
    if (!goes_on || !(typed || opens || is_builder || at_margin || (modified && last != ';')))
        return false;
    found->kind = last == ';' ? WR_DEFINES_VALUE : WR_DEFINES_FUNCTION;
    found->name = shape.name;
    return true;
}

static bool is_type_word(weir_span word)
{
    static struct wr_words words = WR_WORDS("struct|enum|union|class");
    return wr_words_has(&words, word);
}

/* "static const struct x table[] = {" at the margin. */
static bool defines_variable(const struct wr_definition_line *line, struct wr_definition *found)
{
    weir_span text = line->text;
    if (line->indent || line->place != WR_PLACE_TOP || text.ptr[0] == '@')
        return false;
    const char *set = memchr(text.ptr, '=', text.len);
    if (!set || set == text.ptr)
        return false;
    size_t end = (size_t)(set - text.ptr);
    const char *array = memchr(text.ptr, '[', end);
    found->name = name_before(text, array ? (size_t)(array - text.ptr) : end);
    found->kind = WR_DEFINES_VALUE;
    return found->name.len && found->name.ptr > text.ptr && wr_is_name(found->name.ptr[0]) &&
           !is_statement_word(wr_word_at(text, 0));
}

static bool defines_macro(weir_span text, struct wr_definition *found)
{
    size_t at = wr_skip_blanks(text, 1);
    weir_span word = wr_word_at(text, at);
    if (!wr_span_is(word, "define"))
        return false;
    found->kind = WR_DEFINES_VALUE;
    found->name = wr_word_at(text, wr_skip_blanks(text, wr_offset_behind(text, word)));
    return found->name.len > 0;
}

/* A type is defined where its body begins; "struct x *f(" and "struct x y;" define no type. */
static bool begins_body(weir_span text)
{
    size_t brace = wr_span_find(text, WR_LIT("{"), 0);
    size_t set = wr_span_find(text, WR_LIT("="), 0);
    if (brace != SIZE_MAX)
        return set == SIZE_MAX || brace < set;
    return wr_last_of(text) != ';' && set == SIZE_MAX && !wr_span_has(text, WR_LIT("("));
}

/* "typedef unsigned long word;": the last name is the new one, or that before '('. */
static bool defines_alias(weir_span text, struct wr_definition *found)
{
    size_t call = wr_span_find(text, WR_LIT("("), 0);
    bool is_function = call != SIZE_MAX;
    if ((!is_function && wr_last_of(text) != ';') || wr_span_has(text, WR_LIT("{")))
        return false;
    found->kind = WR_DEFINES_TYPE;
    found->name = name_before(text, is_function ? call : text.len - 1);
    if (is_function && call + 1 < text.len && text.ptr[call + 1] == '*')
        found->name = wr_word_at(text, call + 2);
    return found->name.len > 0;
}

bool wr_defines_c(const struct wr_definition_line *line, struct wr_definition_words *words,
                  struct wr_definition *found)
{
    weir_span text = line->text;
    if (text.ptr[0] == '#')
        return defines_macro(text, found);
    if (line->place == WR_PLACE_IN_FUNCTION || line->place == WR_PLACE_IN_VALUE)
        return false;
    weir_span word = wr_word_at(text, skip_modifiers(text, 0));
    if (wr_span_is(word, "typedef") && defines_alias(text, found))
        return true;
    if ((!is_type_word(word) || begins_body(text)) && wr_defines_by_word(line, words, found))
        return true;
    return defines_function(line, found) || defines_variable(line, found);
}

/* ---- JavaScript and TypeScript ---- */

/* Whether what begins at `at` is a function: "async (", "function", "x => ". */
static bool is_function_value(weir_span text, size_t at)
{
    weir_span rest = wr_span_from(text, wr_skip_blanks(text, at));
    if (wr_span_starts(rest, WR_LIT("function")) || wr_span_starts(rest, WR_LIT("async ")) ||
        wr_span_starts(rest, WR_LIT("async(")))
        return true;
    if (!rest.len || (rest.ptr[0] != '(' && !wr_is_name(rest.ptr[0]) && rest.ptr[0] != '<'))
        return false;
    size_t arrow = wr_span_find(rest, WR_LIT("=>"), 0);
    if (rest.ptr[0] == '(')
        return arrow != SIZE_MAX || rest.len == 1;
    weir_span word = wr_word_at(rest, 0);
    return arrow != SIZE_MAX && wr_skip_blanks(rest, word.len) == arrow;
}

/* The single '=' or, in an object, ':' that gives `text` its value; SIZE_MAX where there is none.
 */
static size_t value_at(weir_span text, size_t from, bool in_object)
{
    for (size_t at = from; at < text.len; at++) {
        char c = text.ptr[at], next = at + 1 < text.len ? text.ptr[at + 1] : 0;
        if (c == '=' && next != '=' && next != '>')
            return at + 1;
        if (in_object && c == ':')
            return at + 1;
        if (c == '(' || c == '"' || c == '\'' || c == '{')
            return SIZE_MAX;
    }
    return SIZE_MAX;
}

/* "const f = (a) => {" anywhere, "const X = 1" at the margin. */
static bool defines_const(const struct wr_definition_line *line, struct wr_definition *found)
{
    weir_span text = line->text;
    size_t first = skip_modifiers(text, 0);
    weir_span word = wr_word_at(text, first);
    if (!wr_span_is(word, "const") && !wr_span_is(word, "let") && !wr_span_is(word, "var"))
        return false;
    size_t at = wr_skip_blanks(text, wr_offset_behind(text, word));
    found->name = wr_word_at(text, at);
    /* A type may stand between the name and its value, with arrows of its own. */
    size_t set = wr_span_find(text, WR_LIT(" = "), at);
    size_t value = set == SIZE_MAX ? value_at(text, at, false) : set + 3;
    bool is_function = found->name.len && value != SIZE_MAX && is_function_value(text, value);
    found->kind = is_function ? WR_DEFINES_FUNCTION : WR_DEFINES_VALUE;
    return found->name.len && (is_function || !line->indent);
}

/* Words before a bracket that make it no method; others, such as "delete", may name one. */
static bool is_control(weir_span word)
{
    static struct wr_words words =
        WR_WORDS("if|for|while|catch|switch|return|await|new|super|throw|else|function");
    return wr_words_has(&words, word);
}

/* "name(a) {" or "name (a) {" in a class or an object, "name = (a) => {", "name: function". */
static bool defines_method(const struct wr_definition_line *line, struct wr_definition *found)
{
    weir_span text = line->text;
    size_t at = skip_modifiers(text, 0);
    while (at < text.len && (text.ptr[at] == '#' || text.ptr[at] == '*'))
        at++;
    weir_span word = wr_word_at(text, at);
    if ((wr_span_is(word, "get") || wr_span_is(word, "set")) &&
        wr_skip_blanks(text, at + 3) > at + 3)
        word = wr_word_at(text, wr_skip_blanks(text, at + 3));
    size_t behind = wr_offset_behind(text, word);
    if (!word.len || behind >= text.len || is_control(word))
        return false;
    found->name = word;
    found->kind = WR_DEFINES_FUNCTION;
    size_t value = value_at(text, behind, true);
    if (value != SIZE_MAX)
        return is_function_value(text, value) &&
               (wr_span_has(text, WR_LIT("=>")) || wr_span_has(text, WR_LIT("function")));
    size_t open = wr_skip_blanks(text, behind); /* some put a blank before the parameters */
    bool called = open < text.len && (text.ptr[open] == '(' || text.ptr[behind] == '<');
    return called && (wr_last_of(text) == '{' || wr_last_of(text) == '(') &&
           !wr_span_has(text, WR_LIT("=>"));
}

/* "exports.f = function", "A.prototype.b = () => {" at the margin. */
static bool defines_member(const struct wr_definition_line *line, struct wr_definition *found)
{
    weir_span name = long_name_at(line->text, 0);
    if (line->indent || !memchr(name.ptr, '.', name.len))
        return false;
    size_t value = value_at(line->text, name.len, false);
    if (value == SIZE_MAX)
        return false;
    bool is_function = is_function_value(line->text, value);
    found->name = name;
    found->kind = is_function ? WR_DEFINES_FUNCTION : WR_DEFINES_VALUE;
    return is_function || wr_span_is(name, "module.exports");
}

bool wr_defines_script(const struct wr_definition_line *line, struct wr_definition_words *words,
                       struct wr_definition *found)
{
    if (wr_defines_by_word(line, words, found) || defines_const(line, found) ||
        defines_member(line, found))
        return true;
    return (line->place == WR_PLACE_IN_TYPE || line->place == WR_PLACE_IN_VALUE) &&
           defines_method(line, found);
}

bool wr_defines_component(const struct wr_definition_line *line, struct wr_definition_words *words,
                          struct wr_definition *found)
{
    if (line->text.ptr[0] == '<')
        return !line->indent && wr_defines_tag(line, words, found);
    return wr_defines_script(line, words, found);
}

/* ---- others ---- */

bool wr_defines_python(const struct wr_definition_line *line, struct wr_definition_words *words,
                       struct wr_definition *found)
{
    if (wr_defines_by_word(line, words, found))
        return true;
    weir_span text = line->text, word = wr_word_at(text, 0);
    if (line->indent || !word.len)
        return false;
    found->name = word;
    found->kind = WR_DEFINES_VALUE;
    size_t at = wr_skip_blanks(text, word.len);
    bool is_set = at < text.len && (text.ptr[at] == '=' || text.ptr[at] == ':') &&
                  !wr_span_starts(wr_span_from(text, at), WR_LIT("=="));
    return (is_set && at + 1 < text.len && !is_statement_word(word)) ||
           wr_span_starts(text, WR_LIT("if __name__"));
}

bool wr_defines_shell(const struct wr_definition_line *line, struct wr_definition_words *words,
                      struct wr_definition *found)
{
    weir_span text = line->text, name = long_name_at(text, 0);
    if (wr_defines_by_word(line, words, found))
        return true;
    size_t at = wr_skip_blanks(text, name.len);
    weir_span behind = wr_span_from(text, at);
    found->name = name;
    if (name.len && wr_span_starts(behind, WR_LIT("()"))) {
        found->kind = WR_DEFINES_FUNCTION;
        return true;
    }
    found->kind = WR_DEFINES_VALUE;
    return name.len && !line->indent && wr_is_upper(name.ptr[0]) && text.len > name.len &&
           text.ptr[name.len] == '=';
}

/* "(defun name", "(defn- name", "(define (name". */
bool wr_defines_lisp(const struct wr_definition_line *line, struct wr_definition_words *words,
                     struct wr_definition *found)
{
    weir_span text = line->text;
    (void)words;
    if (!wr_span_starts(text, WR_LIT("(def")) && !wr_span_starts(text, WR_LIT("(ns ")))
        return false;
    size_t at = 0;
    while (at < text.len && !wr_is_blank(text.ptr[at]))
        at++;
    bool is_value = wr_span_is(wr_span_cut(text, 0, at), "(def");
    while (at < text.len && (wr_is_blank(text.ptr[at]) || text.ptr[at] == '('))
        at++;
    size_t end = at;
    while (end < text.len && !wr_is_blank(text.ptr[end]) && !memchr("()[]", text.ptr[end], 4))
        end++;
    found->kind = is_value ? WR_DEFINES_VALUE : WR_DEFINES_FUNCTION;
    found->name = wr_span_cut(text, at, end);
    return end > at;
}

/* A signature at the margin: "name :: Int -> Int". */
bool wr_defines_haskell(const struct wr_definition_line *line, struct wr_definition_words *words,
                        struct wr_definition *found)
{
    if (wr_defines_by_word(line, words, found))
        return true;
    weir_span name = wr_word_at(line->text, 0);
    size_t at = wr_skip_blanks(line->text, name.len);
    found->name = name;
    found->kind = WR_DEFINES_FUNCTION;
    return !line->indent && name.len && wr_span_starts(wr_span_from(line->text, at), WR_LIT("::"));
}

static weir_span next_word(weir_span text, size_t *at)
{
    *at = wr_skip_blanks(text, *at);
    weir_span word = wr_word_at(text, *at);
    *at += word.len;
    return word;
}

/* "CREATE OR REPLACE FUNCTION IF NOT EXISTS a.b (", in any case. */
bool wr_defines_sql(const struct wr_definition_line *line, struct wr_definition_words *words,
                    struct wr_definition *found)
{
    static const char verbs[] = "create|alter|drop|insert";
    static const char fillers[] =
        "or|replace|temp|temporary|unique|if|materialized|not|exists|into|table|view|index|"
        "function|procedure|trigger|type|schema|sequence|extension|only|virtual|concurrently|"
        "database|policy|role|domain|column";
    size_t at = 0, before;
    weir_span word = next_word(line->text, &at);
    (void)words;
    if (!wr_is_any_of_folded(word, verbs))
        return false;
    found->kind = wr_lower(word.ptr[0]) == 'c' ? WR_DEFINES_TYPE : WR_DEFINES_VALUE;
    do {
        before = at;
        word = next_word(line->text, &at);
    } while (wr_is_any_of_folded(word, fillers));
    before = wr_skip_blanks(line->text, before);
    while (before < line->text.len && memchr("\"`[", line->text.ptr[before], 3))
        before++;
    found->name = long_name_at(line->text, before);
    return found->name.len > 0;
}

bool wr_defines_any(const struct wr_definition_line *line, struct wr_definition_words *words,
                    struct wr_definition *found)
{
    if (line->text.ptr[0] == '#')
        return wr_span_starts(line->text, WR_LIT("#define ")) && defines_macro(line->text, found);
    if (wr_defines_by_word(line, words, found))
        return true;
    char last = wr_last_of(line->text);
    return line->place != WR_PLACE_IN_FUNCTION && (last == '{' || last == ')' || last == ',') &&
           !line->indent && defines_function(line, found);
}

/* ---- markup ---- */

/* Definitions in texts that are no programs: headings, sections, keys, tags, selectors, targets.
 */

/* "## Title". The level is what stands in what, not the indentation. */
bool wr_defines_heading(const struct wr_definition_line *line, struct wr_definition_words *words,
                        struct wr_definition *found)
{
    weir_span text = line->text;
    uint32_t level = 0;
    (void)words;
    while (level < text.len && text.ptr[level] == '#')
        level++;
    if (!level || level > 6 || level >= text.len || text.ptr[level] != ' ' || line->indent > 3)
        return false;
    found->kind = WR_DEFINES_TYPE;
    found->level = level;
    found->name = wr_span_trim(wr_span_from(text, level));
    return true;
}

/* "[name]" and "[[name]]"; a name with dots stands in the one without its last part. */
bool wr_defines_section(const struct wr_definition_line *line, struct wr_definition_words *words,
                        struct wr_definition *found)
{
    weir_span text = line->text;
    (void)words;
    if (text.ptr[0] != '[' || text.len < 3)
        return false;
    size_t at = text.ptr[1] == '[' ? 2 : 1, end = at;
    found->level = 1;
    while (end < text.len && text.ptr[end] != ']')
        found->level += text.ptr[end++] == '.';
    found->kind = WR_DEFINES_TYPE;
    found->name = wr_span_cut(text, at, end);
    return end > at && end < text.len && !memchr(text.ptr, ',', text.len);
}

/* Keys of YAML that hold others, and all at the margin. */
bool wr_defines_key(const struct wr_definition_line *line, struct wr_definition_words *words,
                    struct wr_definition *found)
{
    weir_span text = line->text;
    size_t at = 0;
    (void)words;
    if (wr_span_starts(text, WR_LIT("- ")))
        at = wr_skip_blanks(text, 2);
    if (at < text.len && memchr("\"'", text.ptr[at], 2))
        at++;
    size_t end = at;
    while (end < text.len && (wr_is_name(text.ptr[end]) || memchr("-./@ *", text.ptr[end], 6)))
        end++;
    found->name = wr_span_cut(text, at, end);
    if (end < text.len && memchr("\"'", text.ptr[end], 2))
        end++;
    if (!found->name.len || end >= text.len || text.ptr[end] != ':')
        return false;
    bool holds = end + 1 == text.len || text.ptr[end + 1] == '\r';
    bool is_named = at && (wr_span_is(found->name, "name") || wr_span_is(found->name, "id"));
    found->kind = holds ? WR_DEFINES_TYPE : WR_DEFINES_VALUE;
    return holds || is_named || !line->indent;
}

bool wr_defines_json_key(const struct wr_definition_line *line, struct wr_definition_words *words,
                         struct wr_definition *found)
{
    weir_span text = line->text;
    (void)words;
    if (text.ptr[0] != '"')
        return false;
    size_t end = 1;
    while (end < text.len && text.ptr[end] != '"')
        end++;
    if (end + 1 >= text.len || text.ptr[end + 1] != ':')
        return false;
    char last = wr_last_of(text);
    found->name = wr_span_cut(text, 1, end);
    found->kind = last == '{' || last == '[' ? WR_DEFINES_TYPE : WR_DEFINES_VALUE;
    return found->kind == WR_DEFINES_TYPE || line->indent <= 4;
}

/* The value of an attribute of a tag; empty where it has none. */
static weir_span attribute_of(weir_span text, weir_span name)
{
    size_t at = wr_span_find(text, name, 0);
    if (at == SIZE_MAX)
        return (weir_span){NULL, 0};
    size_t from = at + name.len, end = from;
    while (end < text.len && text.ptr[end] != '"')
        end++;
    return wr_span_cut(text, from, end);
}

/* Tags that give a page its shape, and those with an id. */
bool wr_defines_tag(const struct wr_definition_line *line, struct wr_definition_words *words,
                    struct wr_definition *found)
{
    static struct wr_words shaping = WR_WORDS(
        "html|head|body|main|nav|header|footer|section|article|aside|form|table|script|style|"
        "template|title|h1|h2|h3|h4|project|modules|plugin|dependencies|svelte|dialog|fieldset");
    weir_span text = line->text;
    (void)words;
    if (text.ptr[0] != '<' || text.len < 3 || !wr_is_alpha(text.ptr[1]))
        return false;
    weir_span tag = long_name_at(text, 1);
    weir_span id = attribute_of(text, WR_LIT(" id=\""));
    if (!id.len)
        id = attribute_of(text, WR_LIT(" name=\""));
    found->name = id.len ? id : tag;
    found->kind = WR_DEFINES_TYPE;
    return id.len || line->indent <= 2 || wr_words_has_folded(&shaping, tag);
}

/* Whatever opens a block. */
bool wr_defines_selector(const struct wr_definition_line *line, struct wr_definition_words *words,
                         struct wr_definition *found)
{
    weir_span text = line->text;
    const char *brace = memchr(text.ptr, '{', text.len);
    (void)words;
    if (brace == text.ptr || text.ptr[0] == '}')
        return false;
    bool is_variable = memchr("$@", text.ptr[0], 2) && memchr(text.ptr, ':', text.len);
    if (!brace && !(is_variable && !line->indent))
        return false;
    size_t end = brace ? (size_t)(brace - text.ptr) : long_name_at(text, 1).len + 1;
    found->name = wr_span_trim(wr_span_cut(text, 0, end));
    found->kind = !brace               ? WR_DEFINES_VALUE
                  : text.ptr[0] == '@' ? WR_DEFINES_TYPE
                                       : WR_DEFINES_FUNCTION;
    return true;
}

/* "target: needs" and "NAME := value" at the margin. */
bool wr_defines_target(const struct wr_definition_line *line, struct wr_definition_words *words,
                       struct wr_definition *found)
{
    weir_span text = line->text;
    if (line->indent)
        return false;
    if (wr_defines_by_word(line, words, found))
        return true;
    size_t at = 0;
    while (at < text.len && text.ptr[at] != ':' && text.ptr[at] != '=')
        at++;
    if (at == text.len || !at)
        return false;
    bool sets = text.ptr[at] == '=' || (at + 1 < text.len && memchr(":=", text.ptr[at + 1], 2));
    size_t end = at;
    while (end && memchr("?+! \t", text.ptr[end - 1], 5))
        end--;
    found->name = wr_span_cut(text, 0, end);
    found->kind = sets ? WR_DEFINES_VALUE : WR_DEFINES_FUNCTION;
    return end > 0;
}
