/* Definitions in texts that are no programs: headings, sections, keys, tags, selectors, targets.
 */
#include "condense/definition.h"

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
    weir_span tag = wr_long_name_at(text, 1);
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
    size_t end = brace ? (size_t)(brace - text.ptr) : wr_long_name_at(text, 1).len + 1;
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
