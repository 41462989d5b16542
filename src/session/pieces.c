#include "session/pieces.h"

#include "base/hash.h"
#include "base/span.h"

/* A blank or '=' in a name would be taken for the end of it. */
static void add_piece(struct wr_buf *out, weir_span name, uint64_t hash)
{
    if (out->len)
        wr_buf_byte(out, ' ');
    for (size_t i = 0; i < name.len; i++)
        wr_buf_byte(out,
                    (unsigned char)name.ptr[i] <= ' ' || name.ptr[i] == '=' ? '_' : name.ptr[i]);
    wr_buf_printf(out, "=%016llx", (unsigned long long)hash);
}

void wr_pieces_of_tools(struct wr_buf *out, const struct weir_tool *tools, size_t tools_count)
{
    for (size_t i = 0; i < tools_count; i++)
        add_piece(out, tools[i].name,
                  wr_hash64_seeded(tools[i].schema, wr_hash64(tools[i].description)));
}

void wr_pieces_of_prompt(struct wr_buf *out, const struct weir_prompt *prompt)
{
    for (size_t i = 0; i < weir_prompt_sections(prompt); i++) {
        const struct weir_section *section = weir_prompt_section(prompt, i);
        if (!section->is_volatile && !section->is_field)
            add_piece(out, wr_span_of(section->name),
                      wr_hash64_seeded(section->text, section->is_left_out));
    }
}

static bool next(weir_span *rest, weir_span *piece)
{
    size_t end = wr_span_find(*rest, WR_LIT(" "), 0);
    if (!rest->len)
        return false;
    *piece = wr_span_cut(*rest, 0, end == SIZE_MAX ? rest->len : end);
    *rest = wr_span_cut(*rest, end == SIZE_MAX ? rest->len : end + 1, rest->len);
    return true;
}

static weir_span name_of(weir_span piece)
{
    size_t end = wr_span_find(piece, WR_LIT("="), 0);
    return wr_span_cut(piece, 0, end == SIZE_MAX ? piece.len : end);
}

/* The piece of that name; empty: there is none. */
static weir_span find(weir_span pieces, weir_span name)
{
    weir_span piece;
    while (next(&pieces, &piece))
        if (wr_span_eq(name_of(piece), name))
            return piece;
    return (weir_span){"", 0};
}

static void tell(struct wr_buf *out, size_t begin, char sign, weir_span name)
{
    if (out->len > begin)
        wr_buf_byte(out, ' ');
    wr_buf_byte(out, sign);
    wr_buf_append(out, name);
}

void wr_pieces_diff(struct wr_buf *out, weir_span before, weir_span now)
{
    size_t begin = out->len;
    weir_span rest = now, piece;

    if (wr_span_eq(before, now))
        return;
    while (next(&rest, &piece)) {
        weir_span old = find(before, name_of(piece));
        if (!wr_span_eq(old, piece))
            tell(out, begin, old.len ? '~' : '+', name_of(piece));
    }
    rest = before;
    while (next(&rest, &piece))
        if (!find(now, name_of(piece)).len)
            tell(out, begin, '-', name_of(piece));
    if (out->len == begin)
        wr_buf_text(out, "their order");
}
