#include "launch/toml_check.h"

#include <string.h>

#include "base/ascii.h"
#include "base/span.h"

/* Where a line begins: in a text of several lines, in lists, or outside. */
struct place {
    char quote;  /* of a text of several lines: '"' or '\''; 0: in none */
    size_t deep; /* lists and tables that are open */
};

static bool is_triple(weir_span line, size_t at, char quote)
{
    return at + 2 < line.len && line.ptr[at] == quote && line.ptr[at + 1] == quote &&
           line.ptr[at + 2] == quote;
}

/* The byte behind a text that began before `at` and ends on this line; SIZE_MAX: it does not. */
static size_t skip_text(weir_span line, size_t at, char quote, bool is_long)
{
    for (; at < line.len; at++) {
        if (line.ptr[at] == '\\' && quote == '"')
            at++;
        else if (line.ptr[at] == quote && (!is_long || is_triple(line, at, quote)))
            return at + (is_long ? 3 : 1);
    }
    return SIZE_MAX;
}

/* Reads values from `at` on. False: a text that must end on its line does not, or a bracket closes
 * nothing. */
static bool read_values(weir_span line, size_t at, struct place *place)
{
    while (at < line.len) {
        char c = line.ptr[at];
        if (c == '#')
            return true;
        if (c == '"' || c == '\'') {
            bool is_long = is_triple(line, at, c);
            at = skip_text(line, at + (is_long ? 3 : 1), c, is_long);
            if (at == SIZE_MAX) {
                place->quote = c;
                return is_long;
            }
            continue;
        }
        if ((c == ']' || c == '}') && !place->deep--)
            return false;
        place->deep += c == '[' || c == '{';
        at++;
    }
    return true;
}

static bool is_key_byte(char c)
{
    char low = wr_ascii_lower(c);
    return wr_ascii_digit(c) || (low >= 'a' && low <= 'z') || strchr("_-. \t", c);
}

/* The byte behind the key and its '='; 0: it is none. */
static size_t key_bytes(weir_span line)
{
    for (size_t at = 0; at < line.len;) {
        char c = line.ptr[at];
        if (c == '=')
            return at && wr_span_trim(wr_span_cut(line, at + 1, line.len)).len ? at + 1 : 0;
        if (c == '"' || c == '\'')
            at = skip_text(line, at + 1, c, false);
        else if (is_key_byte(c))
            at++;
        else
            return 0;
    }
    return 0;
}

static weir_span bare(weir_span text)
{
    text = wr_span_trim(text);
    if (text.len < 2 || (text.ptr[0] != '"' && text.ptr[0] != '\''))
        return text;
    const char *end = memchr(text.ptr + 1, text.ptr[0], text.len - 1);
    return end ? wr_span_cut(text, 1, (size_t)(end - text.ptr)) : text;
}

/* "[a.b]" or "[[a]]"; the name between is `section`. */
static bool read_section(weir_span line, weir_span *section)
{
    bool is_list = line.len > 1 && line.ptr[1] == '[';
    weir_span end = is_list ? WR_LIT("]]") : WR_LIT("]");
    size_t front = is_list ? 2 : 1, at = wr_span_find(line, end, front);

    if (at == SIZE_MAX || at == front)
        return false;
    weir_span rest = wr_span_trim(wr_span_cut(line, at + end.len, line.len));
    *section = wr_span_trim(wr_span_cut(line, front, at));
    return !rest.len || rest.ptr[0] == '#';
}

static bool is_built_in(weir_span provider)
{
    static const char *const names[] = {"openai", "ollama", "lmstudio", "oss", "amazon-bedrock"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (wr_span_is(provider, names[i]))
            return true;
    return false;
}

/* The part of a dotted name behind `front`, up to the next dot; empty: it begins otherwise. */
static weir_span part_behind(weir_span name, weir_span front)
{
    if (!wr_span_starts(name, front))
        return WR_LIT("");
    weir_span rest = wr_span_cut(name, front.len, name.len);
    if (rest.len && (rest.ptr[0] == '"' || rest.ptr[0] == '\''))
        return bare(rest);
    const char *dot = rest.len ? memchr(rest.ptr, '.', rest.len) : NULL;
    return dot ? wr_span_cut(rest, 0, (size_t)(dot - rest.ptr)) : rest;
}

static void note_name(weir_span name, struct wr_toml_facts *facts, weir_span provider)
{
    weir_span known = part_behind(name, WR_LIT("model_providers."));
    facts->has_mcp_weir =
        facts->has_mcp_weir || wr_span_is(part_behind(name, WR_LIT("mcp_servers.")), "weir");
    facts->has_provider = facts->has_provider || (provider.len && wr_span_eq(known, provider));
}

/* One line that begins outside of any value. False: it is no TOML. */
static bool read_line(weir_span line, struct place *place, weir_span *section,
                      struct wr_toml_facts *facts)
{
    if (!line.len || line.ptr[0] == '#')
        return true;
    if (line.ptr[0] == '[') {
        bool ok = read_section(line, section);
        note_name(*section, facts, facts->provider);
        return ok;
    }
    size_t value_at = key_bytes(line);
    if (!value_at)
        return false;
    weir_span key = wr_span_trim(wr_span_cut(line, 0, value_at - 1));
    if (!section->len && wr_span_is(key, "model_provider"))
        facts->provider = bare(wr_span_cut(line, value_at, line.len));
    if (!section->len)
        note_name(key, facts, facts->provider);
    else if (wr_span_is(*section, "mcp_servers"))
        facts->has_mcp_weir = facts->has_mcp_weir || wr_span_is(bare(key), "weir");
    return read_values(line, value_at, place);
}

void wr_toml_check(weir_span text, struct wr_toml_facts *facts)
{
    struct place place = {.quote = 0};
    weir_span line, section = WR_LIT("");
    size_t number = 0;

    *facts = (struct wr_toml_facts){.provider = WR_LIT("")};
    while (wr_span_line(&text, &line) && !facts->wrong_line) {
        bool ok = true;
        size_t at = 0;
        number++;
        if (place.quote) {
            at = skip_text(line, 0, place.quote, true);
            if (at == SIZE_MAX)
                continue;
            place.quote = 0;
            ok = read_values(line, at, &place);
        } else if (place.deep) {
            ok = read_values(line, 0, &place);
        } else {
            ok = read_line(wr_span_trim(line), &place, &section, facts);
        }
        if (!ok)
            facts->wrong_line = number;
    }
    if (!facts->wrong_line && (place.quote || place.deep))
        facts->wrong_line = number;
    if (is_built_in(facts->provider))
        facts->provider = WR_LIT("");
}
