/* definition.h -- whether one line defines something, by the rules of a family of languages.
 *
 * A rule sees one line, without number, indentation and white space at its end, and where it
 * stands. It never sees blank lines or lines of comments.
 */
#ifndef WR_CONDENSE_DEFINITION_H
#define WR_CONDENSE_DEFINITION_H

#include <stdbool.h>

#include "weir/span.h"

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

/* A word that begins a definition. */
struct wr_definition_word {
    weir_span word;
    enum wr_definition_kind kind;
    unsigned flags;
};

enum {
    WR_WORD_OUTSIDE = 1,    /* not inside a function */
    WR_WORD_AT_MARGIN = 2,  /* not indented */
    WR_WORD_ALONE = 4,      /* needs no name: the word is it */
    WR_WORD_QUOTED = 8,     /* the name is a text in quotes, as of tests */
    WR_WORD_BEFORE_SET = 16 /* the name is followed by '=' */
};

/* `words` is the language's table; it ends with an empty word. */
typedef bool wr_definition_rule(const struct wr_definition_line *line,
                                const struct wr_definition_word *words,
                                struct wr_definition *found);

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

#endif
