/* definition.h -- the language of a file, and whether a line of it defines something.
 *
 * A rule sees one line, without number, indentation and white space at its end, and where it
 * stands. It never sees blank lines or lines of comments.
 */
#ifndef WR_CONDENSE_DEFINITION_H
#define WR_CONDENSE_DEFINITION_H

#include "base/ascii.h"
#include "base/words.h"

enum wr_definition_kind {
    WR_DEFINES_TYPE,     /* what holds others: a class, a module, a heading */
    WR_DEFINES_FUNCTION, /* what is run: a function, a rule, a test */
    WR_DEFINES_VALUE,    /* the rest: constants, variables, prototypes */
};

/* Where a line stands. */
enum wr_definition_place {
    WR_PLACE_TOP,
    WR_PLACE_IN_TYPE,
    WR_PLACE_IN_VALUE,
    WR_PLACE_IN_FUNCTION,
};

struct wr_definition_line {
    weir_span text; /* never empty */
    uint32_t indent;
    enum wr_definition_place place;
    weir_span holder; /* the name of what it stands in */
};

struct wr_definition {
    enum wr_definition_kind kind;
    weir_span name;
    uint32_t level; /* how deep it stands where not the indentation says it: headings */
};

/* Words that begin a definition, by its kind, with marks behind each word (language.c). */
struct wr_definition_words {
    struct wr_words of_kind[WR_DEFINES_VALUE + 1];
};

/* `words` are the language's, where it has any. */
typedef bool wr_definition_rule(const struct wr_definition_line *line,
                                struct wr_definition_words *words, struct wr_definition *found);

wr_definition_rule wr_defines_by_word;   /* the words of the table alone */
wr_definition_rule wr_defines_c;         /* C, C++, Java, C#: words, and "type name(" */
wr_definition_rule wr_defines_script;    /* JavaScript, TypeScript */
wr_definition_rule wr_defines_component; /* pages with scripts in them */
wr_definition_rule wr_defines_python;    /* words, and constants at the margin */
wr_definition_rule wr_defines_shell;
wr_definition_rule wr_defines_lisp;
wr_definition_rule wr_defines_haskell;
wr_definition_rule wr_defines_sql;
wr_definition_rule wr_defines_heading; /* Markdown */
wr_definition_rule wr_defines_section; /* INI, TOML */
wr_definition_rule wr_defines_key;     /* YAML */
wr_definition_rule wr_defines_json_key;
wr_definition_rule wr_defines_tag;      /* HTML, XML */
wr_definition_rule wr_defines_selector; /* CSS */
wr_definition_rule wr_defines_target;   /* Makefiles */
wr_definition_rule wr_defines_any;      /* what most languages share */

/* ---- languages ---- */

enum wr_language_traits {
    /* How comments and long texts begin; what stands in them is no definition. */
    WR_LANGUAGE_SLASH = 1,   /* "//", and blocks */
    WR_LANGUAGE_HASH = 2,    /* "#" */
    WR_LANGUAGE_DASH = 4,    /* "--" */
    WR_LANGUAGE_SEMI = 8,    /* ";" */
    WR_LANGUAGE_TAG = 16,    /* "<!--" */
    WR_LANGUAGE_QUOTES = 32, /* texts in three quotes */
    WR_LANGUAGE_FENCE = 64,  /* blocks between "```" lines */
    /* What stands in what: */
    WR_LANGUAGE_HEADINGS = 128, /* only another definition ends one */
};

struct wr_language {
    const char *name;
    const char *suffixes; /* or whole names; a list as in base/words.h */
    wr_definition_rule *rule;
    struct wr_definition_words *words; /* NULL: none */
    unsigned traits;                   /* WR_LANGUAGE_* */
};

/* By the suffix or the name of the path, else by the text, of which a bounded part is looked at.
 * Never NULL. */
const struct wr_language *wr_language_of(weir_span path, weir_span text);

/* ---- reading the words of a line; for the definition_*.c files ---- */

static inline bool wr_is_name(char c)
{
    return wr_is_word(c) || c == '$' || (unsigned char)c >= 0x80;
}

static inline size_t wr_skip_blanks(weir_span text, size_t at)
{
    while (at < text.len && wr_is_blank(text.ptr[at]))
        at++;
    return at;
}

/* The letters, digits and '_' at `at`; may be empty. */
static inline weir_span wr_word_at(weir_span text, size_t at)
{
    size_t end = at;
    while (end < text.len && wr_is_name(text.ptr[end]))
        end++;
    return wr_span_cut(text, at, end);
}

static inline size_t wr_offset_behind(weir_span text, weir_span part)
{
    return (size_t)(part.ptr - text.ptr) + part.len;
}

static inline char wr_last_of(weir_span text)
{
    return text.ptr[text.len - 1];
}

#endif
