#include "condense/language.h"

#include "base/span.h"
#include "condense/letters.h"
#include "condense/numbered.h"

/* ---- words ---- */

#define TYPE(word, flags)                     \
    {                                         \
        WR_WORD(word), WR_DEFINES_TYPE, flags \
    }
#define FUNCTION(word, flags)                     \
    {                                             \
        WR_WORD(word), WR_DEFINES_FUNCTION, flags \
    }
#define VALUE(word, flags)                     \
    {                                          \
        WR_WORD(word), WR_DEFINES_VALUE, flags \
    }
#define LAST                           \
    {                                  \
        {NULL, 0}, WR_DEFINES_VALUE, 0 \
    }

enum {
    OUTSIDE = WR_WORD_OUTSIDE,
    MARGIN = WR_WORD_AT_MARGIN,
    ALONE = WR_WORD_ALONE,
    QUOTED = WR_WORD_QUOTED,
    SET = WR_WORD_BEFORE_SET,
};

typedef const struct wr_definition_word words[];

static words c_words = {TYPE("struct", OUTSIDE | ALONE), TYPE("enum", OUTSIDE | ALONE),
                        TYPE("union", OUTSIDE | ALONE), TYPE("typedef", MARGIN), LAST};
static words cpp_words = {TYPE("class", OUTSIDE),
                          TYPE("struct", OUTSIDE | ALONE),
                          TYPE("enum", OUTSIDE | ALONE),
                          TYPE("union", OUTSIDE | ALONE),
                          TYPE("namespace", OUTSIDE | ALONE),
                          TYPE("typedef", MARGIN),
                          TYPE("concept", OUTSIDE),
                          LAST};
static words java_words = {TYPE("class", OUTSIDE),     TYPE("interface", OUTSIDE),
                           TYPE("enum", OUTSIDE),      TYPE("record", OUTSIDE),
                           TYPE("namespace", OUTSIDE), TYPE("struct", OUTSIDE),
                           TYPE("delegate", OUTSIDE),  LAST};
static words dart_words = {TYPE("class", OUTSIDE),   TYPE("mixin", OUTSIDE),
                           TYPE("enum", OUTSIDE),    TYPE("extension", OUTSIDE),
                           TYPE("typedef", OUTSIDE), LAST};
static words script_words = {TYPE("class", 0),
                             FUNCTION("function", 0),
                             TYPE("interface", 0),
                             TYPE("enum", 0),
                             TYPE("namespace", 0),
                             TYPE("type", SET),
                             TYPE("describe", QUOTED),
                             FUNCTION("it", QUOTED),
                             FUNCTION("test", QUOTED),
                             TYPE("context", QUOTED),
                             TYPE("suite", QUOTED),
                             FUNCTION("beforeEach", 0),
                             FUNCTION("constructor", OUTSIDE | ALONE),
                             LAST};
static words go_words = {FUNCTION("func", OUTSIDE), TYPE("type", OUTSIDE),
                         VALUE("const", OUTSIDE | ALONE), VALUE("var", OUTSIDE | ALONE), LAST};
static words rust_words = {
    FUNCTION("fn", 0),        TYPE("struct", OUTSIDE),    TYPE("enum", OUTSIDE),
    TYPE("trait", OUTSIDE),   TYPE("impl", OUTSIDE),      TYPE("mod", OUTSIDE),
    TYPE("union", OUTSIDE),   VALUE("type", OUTSIDE),     VALUE("const", OUTSIDE),
    VALUE("static", OUTSIDE), FUNCTION("macro_rules", 0), LAST};
static words swift_words = {FUNCTION("func", 0),       TYPE("class", 0),
                            TYPE("struct", 0),         TYPE("enum", 0),
                            TYPE("protocol", 0),       TYPE("extension", 0),
                            TYPE("actor", 0),          FUNCTION("init", OUTSIDE | ALONE),
                            FUNCTION("deinit", ALONE), FUNCTION("subscript", ALONE),
                            VALUE("typealias", 0),     VALUE("let", MARGIN),
                            VALUE("var", MARGIN),      LAST};
static words kotlin_words = {FUNCTION("fun", 0),
                             TYPE("class", 0),
                             TYPE("interface", 0),
                             TYPE("object", 0),
                             VALUE("typealias", 0),
                             VALUE("val", MARGIN),
                             VALUE("var", MARGIN),
                             FUNCTION("constructor", OUTSIDE | ALONE),
                             FUNCTION("init", OUTSIDE | ALONE),
                             TYPE("enum", 0),
                             LAST};
static words scala_words = {FUNCTION("def", 0),   TYPE("class", 0),       TYPE("object", 0),
                            TYPE("trait", 0),     TYPE("enum", 0),        VALUE("type", OUTSIDE),
                            VALUE("val", MARGIN), TYPE("given", OUTSIDE), LAST};
static words php_words = {
    FUNCTION("function", 0), TYPE("class", 0),     TYPE("interface", 0),    TYPE("trait", 0),
    TYPE("enum", 0),         TYPE("namespace", 0), VALUE("const", OUTSIDE), LAST};
static words zig_words = {FUNCTION("fn", 0), VALUE("const", OUTSIDE), VALUE("var", OUTSIDE),
                          FUNCTION("test", QUOTED), LAST};
static words python_words = {FUNCTION("def", 0), TYPE("class", 0), LAST};
static words ruby_words = {FUNCTION("def", 0),       TYPE("class", 0),
                           TYPE("module", 0),        TYPE("describe", QUOTED),
                           TYPE("context", QUOTED),  FUNCTION("it", QUOTED),
                           FUNCTION("test", QUOTED), TYPE("namespace", 0),
                           FUNCTION("task", 0),      LAST};
static words lua_words = {FUNCTION("function", 0), LAST};
static words nim_words = {FUNCTION("proc", 0),
                          FUNCTION("func", 0),
                          FUNCTION("method", 0),
                          FUNCTION("template", 0),
                          FUNCTION("macro", 0),
                          FUNCTION("iterator", 0),
                          TYPE("type", ALONE),
                          VALUE("const", MARGIN | ALONE),
                          LAST};
static words elixir_words = {
    TYPE("defmodule", 0),     FUNCTION("def", 0),       FUNCTION("defp", 0),
    TYPE("defprotocol", 0),   FUNCTION("defmacro", 0),  TYPE("defimpl", 0),
    TYPE("describe", QUOTED), FUNCTION("test", QUOTED), LAST};
static words perl_words = {FUNCTION("sub", 0), TYPE("package", 0), LAST};
static words julia_words = {FUNCTION("function", 0),
                            TYPE("struct", 0),
                            TYPE("module", 0),
                            FUNCTION("macro", 0),
                            VALUE("const", MARGIN),
                            TYPE("mutable", 0),
                            LAST};
static words haskell_words = {TYPE("data", MARGIN),
                              TYPE("newtype", MARGIN),
                              TYPE("class", MARGIN),
                              TYPE("instance", MARGIN),
                              TYPE("module", MARGIN),
                              TYPE("type", MARGIN),
                              LAST};
static words ocaml_words = {FUNCTION("let", OUTSIDE),    TYPE("type", OUTSIDE),
                            TYPE("module", OUTSIDE),     VALUE("val", OUTSIDE),
                            VALUE("exception", OUTSIDE), LAST};
static words shell_words = {FUNCTION("function", 0), LAST};
static words proto_words = {TYPE("message", 0), TYPE("service", 0),      FUNCTION("rpc", 0),
                            TYPE("enum", 0),    TYPE("package", MARGIN), LAST};
static words graphql_words = {TYPE("type", MARGIN),
                              TYPE("input", MARGIN),
                              TYPE("enum", MARGIN),
                              TYPE("interface", MARGIN),
                              TYPE("query", MARGIN),
                              TYPE("union", MARGIN),
                              TYPE("mutation", MARGIN),
                              TYPE("scalar", MARGIN),
                              TYPE("fragment", MARGIN),
                              TYPE("model", MARGIN),
                              LAST};
static words terraform_words = {TYPE("resource", QUOTED),       TYPE("data", QUOTED),
                                TYPE("module", QUOTED),         TYPE("variable", QUOTED),
                                TYPE("output", QUOTED),         TYPE("provider", QUOTED),
                                TYPE("locals", ALONE | MARGIN), LAST};
static words docker_words = {TYPE("FROM", MARGIN), VALUE("ENTRYPOINT", MARGIN | ALONE),
                             VALUE("CMD", MARGIN | ALONE), VALUE("EXPOSE", MARGIN | ALONE), LAST};
static words make_words = {FUNCTION("define", MARGIN), LAST};
static words any_words = {
    TYPE("class", 0),         FUNCTION("def", 0),        FUNCTION("function", 0),
    FUNCTION("func", 0),      FUNCTION("fn", 0),         FUNCTION("fun", 0),
    FUNCTION("sub", MARGIN),  TYPE("interface", 0),      TYPE("enum", OUTSIDE),
    TYPE("struct", OUTSIDE),  TYPE("trait", OUTSIDE),    TYPE("impl", OUTSIDE),
    TYPE("module", MARGIN),   TYPE("namespace", 0),      TYPE("type", MARGIN),
    TYPE("object", MARGIN),   FUNCTION("proc", 0),       VALUE("const", MARGIN | SET),
    TYPE("protocol", MARGIN), TYPE("extension", MARGIN), LAST};

/* ---- languages ---- */

enum {
    SLASH = WR_LANGUAGE_SLASH,
    HASH = WR_LANGUAGE_HASH,
    DASH = WR_LANGUAGE_DASH,
    SEMI = WR_LANGUAGE_SEMI,
    TAG = WR_LANGUAGE_TAG,
    QUOTES = WR_LANGUAGE_QUOTES,
    FENCE = WR_LANGUAGE_FENCE,
    HEADINGS = WR_LANGUAGE_HEADINGS,
};

enum { LANGUAGE_ANY = 0 };

static const struct wr_language languages[] = {
    {"any", "", wr_defines_any, any_words, SLASH},
    {"c", " .c ", wr_defines_c, c_words, SLASH},
    {"c++", " .h .cc .cpp .cxx .hpp .hh .hxx .cu .ino .m .mm .ipp ", wr_defines_c, cpp_words,
     SLASH},
    {"java", " .java .groovy .gradle ", wr_defines_c, java_words, SLASH},
    {"c#", " .cs ", wr_defines_c, java_words, SLASH},
    {"dart", " .dart ", wr_defines_c, dart_words, SLASH},
    {"javascript", " .js .jsx .mjs .cjs ", wr_defines_script, script_words, SLASH},
    {"typescript", " .ts .tsx .mts .cts ", wr_defines_script, script_words, SLASH},
    {"component", " .vue .svelte .astro ", wr_defines_component, script_words, SLASH | TAG},
    {"go", " .go ", wr_defines_by_word, go_words, SLASH},
    {"rust", " .rs ", wr_defines_by_word, rust_words, SLASH},
    {"swift", " .swift ", wr_defines_by_word, swift_words, SLASH},
    {"kotlin", " .kt .kts ", wr_defines_by_word, kotlin_words, SLASH},
    {"scala", " .scala .sc ", wr_defines_by_word, scala_words, SLASH},
    {"php", " .php ", wr_defines_by_word, php_words, SLASH},
    {"zig", " .zig ", wr_defines_by_word, zig_words, SLASH},
    {"python", " .py .pyi .pyx .bzl .star ", wr_defines_python, python_words, HASH | QUOTES},
    {"ruby", " .rb .rake .gemspec rakefile gemfile ", wr_defines_by_word, ruby_words, HASH},
    {"lua", " .lua ", wr_defines_by_word, lua_words, DASH},
    {"nim", " .nim .nims ", wr_defines_by_word, nim_words, HASH},
    {"elixir", " .ex .exs ", wr_defines_by_word, elixir_words, HASH | QUOTES},
    {"perl", " .pl .pm .t ", wr_defines_by_word, perl_words, HASH},
    {"julia", " .jl ", wr_defines_by_word, julia_words, HASH | QUOTES},
    {"haskell", " .hs ", wr_defines_haskell, haskell_words, DASH},
    {"ocaml", " .ml .mli .fs .fsx ", wr_defines_by_word, ocaml_words, SLASH},
    {"lisp", " .clj .cljs .cljc .lisp .el .scm .rkt ", wr_defines_lisp, NULL, SEMI},
    {"shell", " .sh .bash .zsh .ksh .bats .bashrc .zshrc .profile ", wr_defines_shell, shell_words,
     HASH},
    {"sql", " .sql .psql .ddl ", wr_defines_sql, NULL, DASH | SLASH},
    {"markdown", " .md .mdx .markdown .rst .adoc ", wr_defines_heading, NULL, FENCE | HEADINGS},
    {"ini", " .ini .cfg .conf .toml .editorconfig .gitconfig .service ", wr_defines_section, NULL,
     HASH | SEMI | HEADINGS},
    {"yaml", " .yaml .yml ", wr_defines_key, NULL, HASH},
    {"json", " .json .jsonc .json5 .ipynb ", wr_defines_json_key, NULL, SLASH},
    {"html", " .html .htm .xml .svg .xhtml .xaml .csproj .plist ", wr_defines_tag, NULL, TAG},
    {"css", " .css .scss .sass .less ", wr_defines_selector, NULL, SLASH},
    {"make", " .mk .mak makefile gnumakefile justfile ", wr_defines_target, make_words, HASH},
    {"proto", " .proto ", wr_defines_by_word, proto_words, SLASH},
    {"graphql", " .graphql .gql .prisma ", wr_defines_by_word, graphql_words, HASH | QUOTES},
    {"terraform", " .tf .tfvars .hcl ", wr_defines_by_word, terraform_words, HASH | SLASH},
    {"docker", " .dockerfile dockerfile containerfile ", wr_defines_by_word, docker_words, HASH},
};

/* ---- by name ---- */

enum { SUFFIX_BYTES_MAX = 24 };

/* " .py " of "a/b.PY", " makefile " of "Makefile": as the table spells it. */
static weir_span spell_suffix(weir_span path, char spelled[SUFFIX_BYTES_MAX])
{
    size_t start = path.len, dot = path.len;
    while (start && path.ptr[start - 1] != '/' && path.ptr[start - 1] != '\\')
        if (path.ptr[--start] == '.' && dot == path.len)
            dot = start;
    weir_span suffix = wr_span_cut(path, dot < path.len ? dot : start, path.len);
    if (!suffix.len || suffix.len + 2 > SUFFIX_BYTES_MAX)
        return (weir_span){NULL, 0};
    size_t len = 0;
    spelled[len++] = ' ';
    for (size_t i = 0; i < suffix.len; i++)
        spelled[len++] = wr_fold(suffix.ptr[i]);
    spelled[len++] = ' ';
    return (weir_span){spelled, len};
}

static const struct wr_language *language_by_suffix(weir_span path)
{
    char spelled[SUFFIX_BYTES_MAX];
    weir_span suffix = spell_suffix(path, spelled);
    for (size_t i = 0; suffix.len && i < WR_COUNT_OF(languages); i++)
        if (wr_span_find(wr_span_of(languages[i].suffixes), suffix, 0) != SIZE_MAX)
            return &languages[i];
    return NULL;
}

/* ---- by a look at the text ---- */

enum { LOOK_LINES_MAX = 200, SIGNS_MIN = 2 };

/* What a line in this language begins with and hardly one in another does. */
struct sign {
    weir_span front;
    const char *suffix; /* of the language */
};

static const struct sign signs[] = {
    {WR_WORD("#include "), ".c"},
    {WR_WORD("#define "), ".c"},
    {WR_WORD("#ifndef "), ".c"},
    {WR_WORD("typedef "), ".c"},
    {WR_WORD("static int "), ".c"},
    {WR_WORD("using namespace "), ".cpp"},
    {WR_WORD("template <"), ".cpp"},
    {WR_WORD("template<"), ".cpp"},
    {WR_WORD("namespace "), ".cpp"},
    {WR_WORD("import java"), ".java"},
    {WR_WORD("public class "), ".java"},
    {WR_WORD("@Override"), ".java"},
    {WR_WORD("using System"), ".cs"},
    {WR_WORD("import {"), ".ts"},
    {WR_WORD("import type "), ".ts"},
    {WR_WORD("export "), ".ts"},
    {WR_WORD("const "), ".ts"},
    {WR_WORD("function "), ".ts"},
    {WR_WORD("interface "), ".ts"},
    {WR_WORD("describe("), ".ts"},
    {WR_WORD("func "), ".go"},
    {WR_WORD("package "), ".go"},
    {WR_WORD("type "), ".go"},
    {WR_WORD("fn "), ".rs"},
    {WR_WORD("pub "), ".rs"},
    {WR_WORD("impl "), ".rs"},
    {WR_WORD("impl<"), ".rs"},
    {WR_WORD("use "), ".rs"},
    {WR_WORD("#["), ".rs"},
    {WR_WORD("mod "), ".rs"},
    {WR_WORD("fun "), ".kt"},
    {WR_WORD("data class "), ".kt"},
    {WR_WORD("import Foundation"), ".swift"},
    {WR_WORD("extension "), ".swift"},
    {WR_WORD("def "), ".py"},
    {WR_WORD("from "), ".py"},
    {WR_WORD("import "), ".py"},
    {WR_WORD("async def "), ".py"},
    {WR_WORD("elif "), ".py"},
    {WR_WORD("require '"), ".rb"},
    {WR_WORD("module "), ".rb"},
    {WR_WORD("attr_"), ".rb"},
    {WR_WORD("local function "), ".lua"},
    {WR_WORD("local "), ".lua"},
    {WR_WORD("defmodule "), ".ex"},
    {WR_WORD("CREATE TABLE"), ".sql"},
    {WR_WORD("CREATE INDEX"), ".sql"},
    {WR_WORD("ALTER TABLE"), ".sql"},
    {WR_WORD("INSERT INTO"), ".sql"},
    {WR_WORD("# "), ".md"},
    {WR_WORD("## "), ".md"},
    {WR_WORD("### "), ".md"},
    {WR_WORD("set -e"), ".sh"},
    {WR_WORD("echo "), ".sh"},
    {WR_WORD("<?php"), ".php"},
    {WR_WORD("<!DOCTYPE"), ".html"},
    {WR_WORD("<html"), ".html"},
    {WR_WORD("<div"), ".html"},
    {WR_WORD("FROM "), ".dockerfile"},
    {WR_WORD("RUN "), ".dockerfile"},
    {WR_WORD("resource \""), ".tf"},
    {WR_WORD("variable \""), ".tf"},
};

static const struct wr_language *language_by_shebang(weir_span line)
{
    static const struct sign programs[] = {{WR_WORD("python"), ".py"}, {WR_WORD("node"), ".js"},
                                           {WR_WORD("ruby"), ".rb"},   {WR_WORD("perl"), ".pl"},
                                           {WR_WORD("lua"), ".lua"},   {WR_WORD("sh"), ".sh"}};
    for (size_t i = 0; i < WR_COUNT_OF(programs); i++)
        if (wr_span_find(line, programs[i].front, 0) != SIZE_MAX)
            return language_by_suffix(wr_span_of(programs[i].suffix));
    return NULL;
}

static void count_signs(weir_span line, uint32_t counts[WR_COUNT_OF(languages)])
{
    for (size_t i = 0; i < WR_COUNT_OF(signs); i++)
        if (signs[i].front.ptr[0] == line.ptr[0] && wr_span_starts(line, signs[i].front))
            counts[language_by_suffix(wr_span_of(signs[i].suffix)) - languages]++;
}

static const struct wr_language *language_by_text(weir_span text)
{
    uint32_t counts[WR_COUNT_OF(languages)] = {0};
    struct wr_numbered numbered = wr_numbered_detect(text);
    weir_span line;
    for (unsigned i = 0; i < LOOK_LINES_MAX && wr_span_line(&text, &line); i++) {
        line = wr_span_cut(line, wr_numbered_skip(&numbered, line, NULL), line.len);
        if (wr_span_starts(line, WR_LIT("#!")) && language_by_shebang(line))
            return language_by_shebang(line);
        if (line.len)
            count_signs(line, counts);
    }
    size_t best = LANGUAGE_ANY;
    for (size_t i = 0; i < WR_COUNT_OF(languages); i++)
        if (counts[i] >= SIGNS_MIN && counts[i] > counts[best])
            best = i;
    return &languages[best];
}

const struct wr_language *wr_language_of(weir_span path, weir_span text)
{
    const struct wr_language *language = language_by_suffix(path);
    return language ? language : language_by_text(text);
}
