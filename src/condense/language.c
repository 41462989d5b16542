/* Which language a file is in, and the words that begin a definition in it.
 *
 * All that is known of a language is a row of `languages`: its suffixes, the rule that reads a
 * line, the words it knows, how comments begin. To add one, add a row; most need no rule of their
 * own. A parser for each would be more exact and was not wanted: parts of files and files that do
 * not compile must be read, too, and at the speed of reading them (tests/outline_oracle measures
 * what that costs against tree-sitter).
 */
#include "condense/definition.h"

#include "condense/numbered.h"

/* ---- words ---- */

/* Words that begin a type, a function, a value. Marks behind a word:
 *   <  not inside a function
 *   ^  not indented
 *   .  needs no name: the word is it
 *   '  the name is a text in quotes, as of tests
 *   =  the name is followed by '=' */
#define WORDS(types, functions, values)                                                       \
    {                                                                                         \
        {                                                                                     \
            [WR_DEFINES_TYPE] = {.list = types}, [WR_DEFINES_FUNCTION] = {.list = functions}, \
            [WR_DEFINES_VALUE] = {.list = values},                                            \
        }                                                                                     \
    }

static struct wr_definition_words c_words = WORDS("struct<.|enum<.|union<.|typedef^", "", "");
static struct wr_definition_words cpp_words =
    WORDS("class<|struct<.|enum<.|union<.|namespace<.|typedef^|concept<", "", "");
static struct wr_definition_words java_words =
    WORDS("class<|interface<|enum<|record<|namespace<|struct<|delegate<", "", "");
static struct wr_definition_words dart_words =
    WORDS("class<|mixin<|enum<|extension<|typedef<", "", "");
static struct wr_definition_words script_words =
    WORDS("class|interface|enum|namespace|type=|describe'|context'|suite'",
          "function|it'|test'|beforeEach|constructor<.", "");
static struct wr_definition_words go_words = WORDS("type<", "func<", "const<.|var<.");
static struct wr_definition_words rust_words =
    WORDS("struct<|enum<|trait<|impl<|mod<|union<", "fn|macro_rules", "type<|const<|static<");
static struct wr_definition_words swift_words =
    WORDS("class|struct|enum|protocol|extension|actor", "func|init<.|deinit.|subscript.",
          "typealias|let^|var^");
static struct wr_definition_words kotlin_words =
    WORDS("class|interface|object|enum", "fun|constructor<.|init<.", "typealias|val^|var^");
static struct wr_definition_words scala_words =
    WORDS("class|object|trait|enum|given<", "def", "type<|val^");
static struct wr_definition_words php_words =
    WORDS("class|interface|trait|enum|namespace", "function", "const<");
static struct wr_definition_words zig_words = WORDS("", "fn|test'", "const<|var<");
static struct wr_definition_words python_words = WORDS("class", "def", "");
static struct wr_definition_words ruby_words =
    WORDS("class|module|describe'|context'|namespace", "def|it'|test'|task", "");
static struct wr_definition_words lua_words = WORDS("", "function", "");
static struct wr_definition_words nim_words =
    WORDS("type.", "proc|func|method|template|macro|iterator", "const^.");
static struct wr_definition_words elixir_words =
    WORDS("defmodule|defprotocol|defimpl|describe'", "def|defp|defmacro|test'", "");
static struct wr_definition_words perl_words = WORDS("package", "sub", "");
static struct wr_definition_words julia_words =
    WORDS("struct|module|mutable", "function|macro", "const^");
static struct wr_definition_words haskell_words =
    WORDS("data^|newtype^|class^|instance^|module^|type^", "", "");
static struct wr_definition_words ocaml_words = WORDS("type<|module<", "let<", "val<|exception<");
static struct wr_definition_words shell_words = WORDS("", "function", "");
static struct wr_definition_words proto_words = WORDS("message|service|enum|package^", "rpc", "");
static struct wr_definition_words graphql_words =
    WORDS("type^|input^|enum^|interface^|query^|union^|mutation^|scalar^|fragment^|model^", "", "");
static struct wr_definition_words terraform_words =
    WORDS("resource'|data'|module'|variable'|output'|provider'|locals.^", "", "");
static struct wr_definition_words docker_words = WORDS("FROM^", "", "ENTRYPOINT^.|CMD^.|EXPOSE^.");
static struct wr_definition_words make_words = WORDS("", "define^", "");
static struct wr_definition_words any_words =
    WORDS("class|interface|enum<|struct<|trait<|impl<|module^|namespace|type^|object^|protocol^|"
          "extension^",
          "def|function|func|fn|fun|sub^|proc", "const^=");

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
    {"any", "", wr_defines_any, &any_words, SLASH},
    {"c", ".c", wr_defines_c, &c_words, SLASH},
    {"c++", ".h|.cc|.cpp|.cxx|.hpp|.hh|.hxx|.cu|.ino|.m|.mm|.ipp", wr_defines_c, &cpp_words, SLASH},
    {"java", ".java|.groovy|.gradle", wr_defines_c, &java_words, SLASH},
    {"c#", ".cs", wr_defines_c, &java_words, SLASH},
    {"dart", ".dart", wr_defines_c, &dart_words, SLASH},
    {"javascript", ".js|.jsx|.mjs|.cjs", wr_defines_script, &script_words, SLASH},
    {"typescript", ".ts|.tsx|.mts|.cts", wr_defines_script, &script_words, SLASH},
    {"component", ".vue|.svelte|.astro", wr_defines_component, &script_words, SLASH | TAG},
    {"go", ".go", wr_defines_by_word, &go_words, SLASH},
    {"rust", ".rs", wr_defines_by_word, &rust_words, SLASH},
    {"swift", ".swift", wr_defines_by_word, &swift_words, SLASH},
    {"kotlin", ".kt|.kts", wr_defines_by_word, &kotlin_words, SLASH},
    {"scala", ".scala|.sc", wr_defines_by_word, &scala_words, SLASH},
    {"php", ".php", wr_defines_by_word, &php_words, SLASH},
    {"zig", ".zig", wr_defines_by_word, &zig_words, SLASH},
    {"python", ".py|.pyi|.pyx|.bzl|.star", wr_defines_python, &python_words, HASH | QUOTES},
    {"ruby", ".rb|.rake|.gemspec|rakefile|gemfile", wr_defines_by_word, &ruby_words, HASH},
    {"lua", ".lua", wr_defines_by_word, &lua_words, DASH},
    {"nim", ".nim|.nims", wr_defines_by_word, &nim_words, HASH},
    {"elixir", ".ex|.exs", wr_defines_by_word, &elixir_words, HASH | QUOTES},
    {"perl", ".pl|.pm|.t", wr_defines_by_word, &perl_words, HASH},
    {"julia", ".jl", wr_defines_by_word, &julia_words, HASH | QUOTES},
    {"haskell", ".hs", wr_defines_haskell, &haskell_words, DASH},
    {"ocaml", ".ml|.mli|.fs|.fsx", wr_defines_by_word, &ocaml_words, SLASH},
    {"lisp", ".clj|.cljs|.cljc|.lisp|.el|.scm|.rkt", wr_defines_lisp, NULL, SEMI},
    {"shell", ".sh|.bash|.zsh|.ksh|.bats|.bashrc|.zshrc|.profile", wr_defines_shell, &shell_words,
     HASH},
    {"sql", ".sql|.psql|.ddl", wr_defines_sql, NULL, DASH | SLASH},
    {"markdown", ".md|.mdx|.markdown|.rst|.adoc", wr_defines_heading, NULL, FENCE | HEADINGS},
    {"ini", ".ini|.cfg|.conf|.toml|.editorconfig|.gitconfig|.service", wr_defines_section, NULL,
     HASH | SEMI | HEADINGS},
    {"yaml", ".yaml|.yml", wr_defines_key, NULL, HASH},
    {"json", ".json|.jsonc|.json5|.ipynb", wr_defines_json_key, NULL, SLASH},
    {"html", ".html|.htm|.xml|.svg|.xhtml|.xaml|.csproj|.plist", wr_defines_tag, NULL, TAG},
    {"css", ".css|.scss|.sass|.less", wr_defines_selector, NULL, SLASH},
    {"make", ".mk|.mak|makefile|gnumakefile|justfile", wr_defines_target, &make_words, HASH},
    {"proto", ".proto", wr_defines_by_word, &proto_words, SLASH},
    {"graphql", ".graphql|.gql|.prisma", wr_defines_by_word, &graphql_words, HASH | QUOTES},
    {"terraform", ".tf|.tfvars|.hcl", wr_defines_by_word, &terraform_words, HASH | SLASH},
    {"docker", ".dockerfile|dockerfile|containerfile", wr_defines_by_word, &docker_words, HASH},
};

/* ---- by name ---- */

static const struct wr_language *language_by_suffix(weir_span path)
{
    size_t start = path.len, dot = path.len;
    while (start && path.ptr[start - 1] != '/' && path.ptr[start - 1] != '\\')
        if (path.ptr[--start] == '.' && dot == path.len)
            dot = start;
    weir_span suffix = wr_span_from(path, dot < path.len ? dot : start);
    for (size_t i = 0; suffix.len && i < WR_COUNT_OF(languages); i++)
        if (wr_is_any_of_folded(suffix, languages[i].suffixes))
            return &languages[i];
    return NULL;
}

/* ---- by a look at the text ---- */

enum { LOOK_LINES_MAX = 200, SIGNS_MIN = 2 };

/* What a line in this language begins with and hardly one in another does. */
static struct sign {
    const char *suffix; /* of the language */
    struct wr_words fronts;
} signs[] = {
    {".c", WR_WORDS("#include |#define |#ifndef |typedef |static int ")},
    {".cpp", WR_WORDS("using namespace |template <|template<|namespace ")},
    {".java", WR_WORDS("import java|public class |@Override")},
    {".cs", WR_WORDS("using System")},
    {".ts", WR_WORDS("import {|import type |export |const |function |interface |describe(")},
    {".go", WR_WORDS("func |package |type ")},
    {".rs", WR_WORDS("fn |pub |impl |impl<|use |#[|mod ")},
    {".kt", WR_WORDS("fun |data class ")},
    {".swift", WR_WORDS("import Foundation|extension ")},
    {".py", WR_WORDS("def |from |import |async def |elif ")},
    {".rb", WR_WORDS("require '|module |attr_")},
    {".lua", WR_WORDS("local function ")},
    {".lua", WR_WORDS("local ")},
    {".ex", WR_WORDS("defmodule ")},
    {".sql", WR_WORDS("CREATE TABLE|CREATE INDEX|ALTER TABLE|INSERT INTO")},
    {".md", WR_WORDS("# |## |### ")},
    {".sh", WR_WORDS("set -e|echo ")},
    {".php", WR_WORDS("<?php")},
    {".html", WR_WORDS("<!DOCTYPE|<html|<div")},
    {".dockerfile", WR_WORDS("FROM |RUN ")},
    {".tf", WR_WORDS("resource \"|variable \"")},
};

static const struct wr_language *language_by_shebang(weir_span line)
{
    static const char *const programs[][2] = {{"python", ".py"}, {"node", ".js"}, {"ruby", ".rb"},
                                              {"perl", ".pl"},   {"lua", ".lua"}, {"sh", ".sh"}};
    for (size_t i = 0; i < WR_COUNT_OF(programs); i++)
        if (wr_span_has(line, wr_span_of(programs[i][0])))
            return language_by_suffix(wr_span_of(programs[i][1]));
    return NULL;
}

static void count_signs(weir_span line, uint32_t counts[WR_COUNT_OF(languages)])
{
    for (size_t i = 0; i < WR_COUNT_OF(signs); i++)
        if (wr_words_front(&signs[i].fronts, line))
            counts[language_by_suffix(wr_span_of(signs[i].suffix)) - languages]++;
}

static const struct wr_language *language_by_text(weir_span text)
{
    uint32_t counts[WR_COUNT_OF(languages)] = {0};
    struct wr_numbered numbered = wr_numbered_detect(text);
    weir_span line;
    for (unsigned i = 0; i < LOOK_LINES_MAX && wr_span_line(&text, &line); i++) {
        line = wr_span_from(line, wr_numbered_skip(&numbered, line, NULL));
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
