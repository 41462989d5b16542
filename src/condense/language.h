/* language.h -- which language a file is in, and how its definitions are found. */
#ifndef WR_CONDENSE_LANGUAGE_H
#define WR_CONDENSE_LANGUAGE_H

#include "condense/definition.h"

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
    const char *suffixes; /* of names in lower case, a space before and behind each */
    wr_definition_rule *rule;
    const struct wr_definition_word *words; /* NULL: none */
    unsigned traits;                        /* WR_LANGUAGE_* */
};

/* By the suffix or the name of the path, else by the text, of which a bounded part is looked at.
 * Never NULL. */
const struct wr_language *wr_language_of(weir_span path, weir_span text);

#endif
