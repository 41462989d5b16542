/* The rules by which a text is cut into what may be quoted: runs, paths, identifiers and lines. A
 * word that anybody may write by chance ("error", "index") must not count, or an answer would seem
 * to use what it only happens to share: so a word needs a digit, a capital or an underscore
 * inside, or a certain length and quotes around it. docs/evidence.md has examples. */
#include "lab/evidence_words.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

/* ---- which segments hold a string ---- */

enum { CAP_FIRST = 4096 };

weir_status wr_evidence_index_init(struct wr_evidence_index *index, struct wr_arena *arena)
{
    *index = (struct wr_evidence_index){.arena = arena, .strings_cap = CAP_FIRST};
    index->strings = WR_ARENA_ARRAY(arena, struct wr_evidence_string, CAP_FIRST);
    return index->strings ? WEIR_OK : wr_arena_status(arena);
}

static uint64_t hash_of(weir_span text)
{
    uint64_t hash = wr_hash64(text);
    return hash + !hash;
}

static struct wr_evidence_string *place_of(const struct wr_evidence_index *index, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (index->strings_cap - 1);
    while (index->strings[at].hash && index->strings[at].hash != hash)
        at = (at + 1) & (index->strings_cap - 1);
    return &index->strings[at];
}

static weir_status grow_strings(struct wr_evidence_index *index)
{
    struct wr_evidence_string *old = index->strings;
    uint32_t old_cap = index->strings_cap;
    if (old_cap >= WR_EVIDENCE_STRINGS_MAX)
        return WEIR_LIMIT;
    struct wr_evidence_string *grown =
        WR_ARENA_ARRAY(index->arena, struct wr_evidence_string, old_cap * 2);
    if (!grown)
        return wr_arena_status(index->arena);
    index->strings = grown;
    index->strings_cap = old_cap * 2;
    for (uint32_t i = 0; i < old_cap; i++)
        if (old[i].hash)
            *place_of(index, old[i].hash) = old[i];
    return WEIR_OK;
}

static weir_status add_posting(struct wr_evidence_index *index, struct wr_evidence_string *string,
                               uint32_t segment)
{
    if (index->postings_count == WR_EVIDENCE_STRINGS_MAX)
        return WEIR_LIMIT;
    if (!WR_ARENA_ROOM(index->arena, index->postings, index->postings_count, index->postings_cap,
                       CAP_FIRST))
        return wr_arena_status(index->arena);
    index->postings[index->postings_count] =
        (struct wr_evidence_posting){.segment = segment, .older = string->posting};
    string->posting = index->postings_count++;
    string->last = segment;
    return WEIR_OK;
}

weir_status wr_evidence_index_add(struct wr_evidence_index *index, weir_span text, uint32_t segment,
                                  uint32_t line, bool is_result)
{
    weir_status status = WEIR_OK;
    if (index->strings_count >= index->strings_cap / 2)
        status = grow_strings(index);
    if (status)
        return status;
    uint64_t hash = hash_of(text);
    struct wr_evidence_string *string = place_of(index, hash);
    if (!string->hash) {
        *string = (struct wr_evidence_string){.hash = hash,
                                              .last = WR_EVIDENCE_NONE,
                                              .said = WR_EVIDENCE_NONE,
                                              .result = WR_EVIDENCE_NONE,
                                              .posting = WR_EVIDENCE_NONE};
        index->strings_count++;
    }
    if (string->last != segment)
        status = add_posting(index, string, segment);
    if (!is_result && string->said != segment) {
        string->said = segment;
        string->said_line = line;
    }
    if (is_result && string->result != segment) {
        string->result = segment;
        string->line = line;
    }
    return status;
}

struct wr_evidence_string *wr_evidence_index_find(const struct wr_evidence_index *index,
                                                  weir_span text)
{
    struct wr_evidence_string *found = place_of(index, hash_of(text));
    return found->hash ? found : NULL;
}

/* ---- what may be quoted ---- */

static bool is_run(char c)
{
    return wr_is_word(c) || c == '-' || c == '.' || c == '/' || c == '~' || c == '@' || c == '+';
}

/* Ends of sentences, options' dashes and the sign of a diff are not part of a name; `./` in front
 * of one is not either, for the same file is often written without it. */
static weir_span trim_run(weir_span run)
{
    while (run.len && (run.ptr[run.len - 1] == '.' || run.ptr[run.len - 1] == '-' ||
                       run.ptr[run.len - 1] == '+' || run.ptr[run.len - 1] == '/' ||
                       run.ptr[run.len - 1] == '@' || run.ptr[run.len - 1] == '~'))
        run.len--;
    while (run.len) {
        bool is_sign = run.ptr[0] == '-' || run.ptr[0] == '+' || run.ptr[0] == '@';
        bool is_here = run.len > 1 && run.ptr[0] == '.' && run.ptr[1] == '/';
        bool is_double = run.len > 1 && run.ptr[0] == '/' && run.ptr[1] == '/';
        bool is_dots = run.len > 1 && run.ptr[0] == '.' && run.ptr[1] == '.';
        if (!is_sign && !is_here && !is_double && !is_dots)
            break;
        run = wr_span_cut(run, is_here ? 2 : 1, run.len);
    }
    return run;
}

bool wr_run_next(weir_span text, size_t *at, weir_span *run)
{
    size_t i = *at;
    for (;;) {
        while (i < text.len && !is_run(text.ptr[i]))
            i++;
        size_t start = i;
        while (i < text.len && is_run(text.ptr[i]))
            i++;
        *at = i;
        if (start == i)
            return false;
        *run = trim_run(wr_span_cut(text, start, i));
        if (run->len)
            return true;
    }
}

static weir_span last_name(weir_span path)
{
    size_t from = path.len;
    while (from > 0 && path.ptr[from - 1] != '/')
        from--;
    return wr_span_cut(path, from, path.len);
}

static bool has_known_ending(weir_span name)
{
    static const char *const endings[] = {
        "c",    "h",     "cc",   "cpp",  "hpp",  "py",     "js",    "ts",    "tsx", "jsx",  "mjs",
        "cjs",  "go",    "rs",   "java", "kt",   "rb",     "php",   "swift", "md",  "json", "jsonl",
        "yaml", "yml",   "toml", "sh",   "txt",  "html",   "css",   "scss",  "sql", "xml",  "csv",
        "log",  "cfg",   "ini",  "lock", "vue",  "svelte", "proto", "tf",    "mk",  "rst",  "ipynb",
        "tsv",  "patch", "diff", "env",  "conf", "lua",    "pl",    "cs",    "m",   "ex",   "zig"};
    size_t dot = name.len;
    while (dot > 0 && name.ptr[dot - 1] != '.')
        dot--;
    if (dot < 2)
        return false;
    weir_span ending = wr_span_cut(name, dot, name.len);
    for (size_t i = 0; i < WR_COUNT_OF(endings); i++)
        if (wr_span_is(ending, endings[i]))
            return true;
    return false;
}

bool wr_run_is_path(weir_span run)
{
    size_t slashes = 0, letters = 0;
    if (run.len < WR_EVIDENCE_PATH_CHARS_MIN)
        return false;
    for (size_t i = 0; i < run.len; i++) {
        slashes += run.ptr[i] == '/';
        letters += wr_is_alpha(run.ptr[i]);
    }
    bool is_plain = letters + slashes == run.len;
    if (!letters)
        return false;
    if (has_known_ending(last_name(run)))
        return true;
    /* "and/or", "1/2" and "/help" are no paths; a/b/c, /usr/lib and src/base-2 are. */
    return slashes >= 2 || (slashes && !is_plain);
}

bool wr_run_path_shorten(weir_span *path)
{
    size_t at = 0;
    while (at < path->len && path->ptr[at] != '/')
        at++;
    if (at + 1 >= path->len)
        return false;
    *path = wr_span_cut(*path, at + 1, path->len);
    return true;
}

bool wr_run_is_common_name(weir_span name)
{
    static const char *const names[] = {
        "README.md",      "package.json", "package-lock.json", "tsconfig.json", "index.ts",
        "index.js",       "index.tsx",    "index.html",        "index.md",      "main.c",
        "main.go",        "main.py",      "main.rs",           "main.ts",       "mod.rs",
        "lib.rs",         "__init__.py",  "setup.py",          "conftest.py",   "Cargo.toml",
        "pyproject.toml", "go.mod",       "Makefile",          "LICENSE",       "CHANGELOG.md",
        "SKILL.md",       "AGENTS.md",    "CLAUDE.md",         "config.json",   "config.yaml",
        "types.ts",       "utils.py",     "utils.ts",          "settings.json", "test.py"};
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_span_is(name, names[i]))
            return true;
    return false;
}

bool wr_run_word(weir_span run, size_t *at, weir_span *word)
{
    size_t i = *at;
    while (i < run.len && !wr_is_word(run.ptr[i]))
        i++;
    size_t start = i;
    while (i < run.len && wr_is_word(run.ptr[i]))
        i++;
    *at = i;
    *word = wr_span_cut(run, start, i);
    return i > start;
}

/* With `_`, a digit or a capital inside. */
static bool is_made(weir_span word)
{
    bool has_letter = false, has_digit = false, is_joined = false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i], last = i ? word.ptr[i - 1] : 'A';
        bool is_capital = wr_is_upper(c), was_capital = wr_is_upper(last);
        has_letter |= wr_is_alpha(c);
        has_digit |= wr_is_digit(c);
        is_joined |= (is_capital && !was_capital) || (c == '_' && i && i + 1 < word.len);
    }
    return has_letter && (has_digit || is_joined);
}

bool wr_word_is_identifier(weir_span word)
{
    return word.len >= WR_EVIDENCE_IDENTIFIER_CHARS_MIN && is_made(word);
}

bool wr_word_is_quotable(weir_span word)
{
    return word.len >= WR_EVIDENCE_IDENTIFIER_CHARS_MIN ||
           (word.len >= WR_EVIDENCE_WORD_CHARS_MIN && is_made(word));
}

bool wr_run_is_hyphenated(weir_span run)
{
    enum { CHARS_MIN = 12 };
    size_t hyphens = 0, digits = 0;
    for (size_t i = 0; i < run.len; i++) {
        if (!wr_is_word(run.ptr[i]) && run.ptr[i] != '-')
            return false;
        hyphens += run.ptr[i] == '-';
        digits += wr_is_digit(run.ptr[i]);
    }
    bool has_letters = digits + hyphens < run.len;
    return run.len >= CHARS_MIN && has_letters && hyphens && (hyphens > 1 || digits);
}

/* ---- lines ---- */

static bool is_long_enough(weir_span line)
{
    size_t letters = 0;
    if (line.len < WR_EVIDENCE_LINE_CHARS_MIN)
        return false;
    for (size_t i = 0; i < line.len && letters < WR_EVIDENCE_LINE_LETTERS_MIN; i++)
        letters += wr_is_alpha(line.ptr[i]) || wr_is_digit(line.ptr[i]);
    return letters >= WR_EVIDENCE_LINE_LETTERS_MIN;
}

static size_t skip_digits(weir_span line, size_t at)
{
    while (at < line.len && wr_is_digit(line.ptr[at]))
        at++;
    return at;
}

/* "12→text", "12\ttext", "12: text", "12 | text", "L12: text", "12-text" */
static size_t skip_number(weir_span line)
{
    static const char *const separators[] = {"→", "\t", ":", " |", "|", "-", "  "};
    size_t start = line.len && line.ptr[0] == 'L', at = skip_digits(line, start);
    if (at == start)
        return 0;
    for (size_t i = 0; i < WR_COUNT_OF(separators); i++) {
        weir_span separator = wr_span_of(separators[i]);
        if (wr_span_starts(wr_span_cut(line, at, line.len), separator))
            return at + separator.len;
    }
    return 0;
}

/* "src/a.c:12:text", "src/a.c-12-text", "src/a.c:text" */
static size_t skip_location(weir_span line)
{
    size_t at = 0;
    while (at < line.len && is_run(line.ptr[at]) && line.ptr[at] != ':')
        at++;
    if (at < line.len && line.ptr[at] == ':' && wr_run_is_path(wr_span_cut(line, 0, at))) {
        size_t digits = skip_digits(line, at + 1);
        bool is_numbered = digits > at + 1 && digits < line.len && line.ptr[digits] == ':';
        return is_numbered ? digits + 1 : at + 1;
    }
    for (size_t i = 1; i + 1 < at; i++) {
        size_t digits = line.ptr[i] == '-' ? skip_digits(line, i + 1) : 0;
        if (digits > i + 1 && digits < line.len && line.ptr[digits] == '-' &&
            has_known_ending(wr_span_cut(line, 0, i)))
            return digits + 1;
    }
    return 0;
}

static uint32_t add_core(weir_span *cores, uint32_t count, weir_span core)
{
    core = wr_span_trim(core);
    if (!is_long_enough(core) || count == WR_EVIDENCE_CORES_MAX)
        return count;
    for (uint32_t i = 0; i < count; i++)
        if (wr_span_eq(cores[i], core))
            return count;
    cores[count] = core;
    return count + 1;
}

uint32_t wr_line_cores(weir_span line, weir_span cores[WR_EVIDENCE_CORES_MAX])
{
    weir_span whole = wr_span_trim(line);
    uint32_t count = add_core(cores, 0, whole);
    if (!count)
        return 0;
    size_t skip = skip_number(whole);
    if (!skip)
        skip = skip_location(whole);
    weir_span rest = wr_span_cut(whole, skip, whole.len);
    count = add_core(cores, count, rest);
    rest = wr_span_trim(rest);
    if (rest.len && (rest.ptr[0] == '+' || rest.ptr[0] == '-'))
        count = add_core(cores, count, wr_span_cut(rest, 1, rest.len));
    return count;
}
